/*
 * platform: what differs between systems.  Each system has one file that
 * offers every function; where it has nothing to offer the function returns
 * -ENOTSUP and the caller carries on without.
 */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Room for the control messages of one received or sent datagram. */
#define PLATFORM_CONTROL_BYTES 256

/* What the kernel knows of a TCP connection. */
struct platform_tcp {
	uint64_t retransmits; /* segments, since the start */
	uint64_t acked_bytes; /* since the start; UINT64_MAX: unknown */
	uint32_t cwnd_bytes;
	uint32_t cwnd_packets;
	uint32_t inflight_bytes;
	uint32_t inflight_packets;
	uint32_t rtt_us; /* smoothed */
	uint32_t rttvar_us;
	uint32_t rtt_min_us; /* lowest since the start, 0: unknown */
	uint32_t mss;        /* bytes of payload in a full segment */
	uint32_t mtu;        /* path MTU, 0: unknown */
};

int platform_tcp_info(int fd, struct platform_tcp *out);

/* Asks the kernel to stamp each arrival, and to tell the local address that
 * a datagram was sent to.  family: AF_INET or AF_INET6. */
int platform_rx_stamps(int fd);
int platform_rx_dest(int fd, int family);
/* The stamp of a received message on the wall clock, ns; 0: it has none. */
int64_t platform_stamp_ns(struct msghdr *msg);
/* Asks for the number of datagrams that the full socket dropped. */
int platform_rx_drops(int fd);
/* That number, since the socket was made and modulo 2^32, as it was when this
 * message was queued; -ENOENT: it does not say. */
int platform_drops(struct msghdr *msg, uint32_t *drops);
/* The local address that a message was sent to; -ENOENT: it does not say. */
int platform_dest(struct msghdr *msg, struct sockaddr_storage *addr);
/* Makes msg, whose msg_control points at PLATFORM_CONTROL_BYTES, leave from
 * the local address addr. */
int platform_source(struct msghdr *msg, const struct sockaddr_storage *addr);

/* Ties the socket to a network device. */
int platform_bind_device(int fd, const char *device);
/* Sets and reads the congestion control of a TCP socket. */
int platform_cca_set(int fd, const char *name);
int platform_cca_get(int fd, char *name, size_t size);
/* Keeps the bytes that were written but not yet sent below bytes. */
int platform_unsent_limit(int fd, uint32_t bytes);
/* Acknowledges at once what comes next. */
int platform_quickack(int fd);
/* Wakes who waits for the socket when so many bytes are there. */
int platform_receive_least(int fd, uint32_t bytes);
/* Lets the kernel pace a TCP socket. */
int platform_pacing_rate(int fd, uint64_t bytes_per_s);
/* Bytes written that the peer has not acknowledged yet. */
int platform_unacked(int fd, uint64_t *bytes);
/* Asks to be told of local drops and ICMP errors of a UDP socket; without it
 * Linux hides a full queue below the socket. */
int platform_tx_errors(int fd, int family);
/* Takes one error that waits for the socket: its errno when the network told it
 * of a datagram to *to, 0 when it is a local one, -EAGAIN: none waits. */
int platform_next_error(int fd, struct sockaddr_storage *to);
/* Takes what waits in the error queue.  The number of errors that came from
 * the network, *last the latest errno of these. */
unsigned platform_take_errors(int fd, int *last);
/* What a socket can hold of payload and overhead, of the size that it tells:
 * Linux tells twice of what was asked for. */
uint64_t platform_buffer_bytes(uint64_t told);
/* Bytes that nobody can foretell; at most 256. */
int platform_secret(void *buf, size_t n);
/* Processor time of the calling thread (where it can't be told: of the whole
 * process), ns. */
int platform_cpu(int64_t *user_ns, int64_t *system_ns);
/* Processor time that all programs of this host have used since it started, and
 * that other hosts on the same machine took from it; without interrupts. */
int platform_host_cpu(int64_t *busy_ns);
/* Lets the calling thread wake from sleep as exactly as the system can. */
int platform_exact_sleep(void);
/* Lets the buffer or ledger of a stream, once freed, go back to the system: a
 * server that had a thousand clients is not large for ever. */
int platform_return_memory(void);

#endif
