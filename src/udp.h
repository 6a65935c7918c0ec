/*
 * udp: moves datagrams and counts them.  The sending functions run on the
 * stream's own thread, the receiving ones on the thread of the socket.
 */
#ifndef UDP_H
#define UDP_H

#include "stream.h"

/* To a server that is not known to be ours the end marker goes out this often,
 * then no report will come. */
#define UDP_MARKERS 9
/* Where nothing is confirmed, a peer of ours gets so many. */
#define UDP_ENDS 5
/* So often where the network says that it can't be reached. */
#define UDP_MARKERS_UNREACHABLE 3
/* The first one is repeated after this long: iperf 2.1 and 2.2 servers
 * answer what comes sooner with an echo instead of the report. */
#define UDP_REPEAT_NS 250000000
/* To a server of ours: so often at first and in the end, and for so long. */
#define UDP_OURS_REPEAT_NS 50000000
#define UDP_OURS_REPEAT_MAX_NS 150000000
#define UDP_OURS_WAIT_NS 12000000000
/* Two refusals this far apart, or a few some datagrams apart: nobody listens.
 * (Hosts limit their refusals to a few at once and then one a second; an
 * iperf 2.1 server refuses for a moment while it opens a session.) */
#define UDP_REFUSED_NS 250000000
#define UDP_REFUSED_FEW 3
#define UDP_REFUSED_FEW_NS 20000000
/* One refusal, and nothing to send for so long: so too. */
#define UDP_REFUSED_ALONE_NS 1000000000

/* What is offered is said to be short of what was asked from here on. */
#define UDP_SHORT_PART 0.005

/* One datagram as it came. */
struct udp_arrival {
	struct sock_addr from;
	struct sockaddr_storage to; /* the local address, if has_to */
	bool has_to;
	int64_t stamp_ns; /* wall clock of the kernel, 0: none */
	bool has_drops;   /* Linux: not before the first one */
	uint32_t drops;   /* of the full socket so far, modulo 2^32 */
	size_t bytes;     /* payload, as far as the buffer took it */
};

/* Sends numbers 0 to n-1 as s->job says, from s->start_ns on.  s->numbers
 * is n; s->end_ns is when the end marker is due.  Where refusals came, the
 * end is not published before udp_finish knows more. */
void udp_send(struct stream *s);
/* Sends the end marker until the report comes: s->has_report.  Where nobody
 * was there from the start, s->no_result is set. */
void udp_finish(struct stream *s);

/*
 * How a receiver waits.  One that is woken for each datagram costs the sender
 * a wake-up each, so where many come it reads what there is and then sleeps for
 * a moment; the kernel has stamped and queued them meanwhile.
 */
struct udp_pause {
	bool may;         /* the buffer holds what comes in a moment */
	bool naps;        /* many come */
	bool due;         /* nothing is left: sleep first */
	unsigned taken;   /* since the last sleep, or since first_ns */
	unsigned few;     /* sleeps after which hardly any were there */
	int64_t first_ns; /* stamp of the first of taken */
};

/* Prepares a socket for udp_receive: stamps, addresses, a time limit.  True
 * when the system tells what the full socket drops. */
bool udp_prepare(int fd, int family, int64_t limit_ns);
/* May the receiver of this socket sleep while datagrams come? */
void udp_pause_init(struct udp_pause *p, int fd);
/* The next datagram, or a negative errno; -EAGAIN: none within the limit, or
 * none is left. */
int udp_receive(int fd, uint8_t *buf, size_t size, struct udp_arrival *a,
		struct udp_pause *p);
/* Answers a datagram, from the address that it was sent to. */
int udp_answer(int fd, const struct udp_arrival *a, const uint8_t *buf,
	       size_t bytes);

#endif
