#include "udp.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "block.h"
#include "clock.h"
#include "pace.h"
#include "platform/platform.h"

/* A wait looks this often whether it is still wanted. */
#define LOOK_NS (100 * CLOCK_MS_NS)
#define LOOK_MS 100
/* A sender that used more of the time was held up by its CPU alone. */
#define BUSY_PART 0.9
/* A paced sender that is no further behind may catch up beyond its end: it was
 * only held up.  One that can't keep its rate ends on time. */
#define GRACE_NS (10 * CLOCK_MS_NS)
/* A receiver sleeps so long while so many come in so short a time, and no
 * longer when after each of so many sleeps there were fewer than a few. */
#define NAP_NS 100000
#define NAP_MANY 256
#define NAP_MANY_NS (5 * CLOCK_MS_NS)
#define NAP_FEW 2
#define NAP_FEW_TIMES 20
/* It holds what arrives meanwhile, at a million datagrams a second and more. */
#define NAP_BUFFER_BYTES UINT64_C(1048576)
/* Modern clients keep everything below this offset zero. */
#define ZERO_BYTES 160
/* Digits in the place of a header, so many of them, are told from one. */
#define NO_HEADER_BYTES 4

/* What a running sender keeps. */
struct sender {
	struct stream *s;
	int64_t look_ns;     /* when it looks next at what came back */
	unsigned refusals;   /* known of then */
	uint64_t refused_at; /* datagrams that had left by the last of them */
	int64_t start_ns;
	int64_t start_wall_ns;
	int64_t end_ns;      /* by time; INT64_MAX: by amount */
	uint64_t datagrams;  /* by amount; UINT64_MAX: by time */
	size_t last_bytes;   /* of the last one, by amount */
	uint64_t frame_left; /* bytes of the frame that are to be sent */
	size_t before_bytes; /* of the one before it, 0: as all others */
};

/* What the first datagram has to hold: both headers. */
static size_t header_bytes(const struct stream_job *job)
{
	if (job->plain)
		return 0;
	return wire_udp_bytes(job->layout) +
	       (job->header.has_ext ? WIRE_TCP_BYTES : WIRE_BASE_BYTES);
}

/* The size of datagram number i.  The first one always has room for the
 * client header; the last two of an amount share what is left over. */
static size_t datagram_bytes(const struct sender *t, uint64_t i)
{
	size_t len = t->s->job.len_bytes;

	if (i + 1 == t->datagrams)
		return t->last_bytes;
	if (i + 2 == t->datagrams && t->before_bytes > 0)
		return t->before_bytes;
	if (i == 0 && len < header_bytes(&t->s->job))
		return header_bytes(&t->s->job);
	if (t->frame_left > 0 && t->frame_left < len)
		return t->frame_left > WIRE_UDP_BYTES ? (size_t)t->frame_left
						      : WIRE_UDP_BYTES;
	return len;
}

/* Splits the amount into datagrams, exact to the byte, none of them shorter
 * than the 16 bytes of its own header. */
static void split_amount(struct sender *t)
{
	uint64_t amount = t->s->job.amount_bytes;
	size_t len = t->s->job.len_bytes;
	size_t header = header_bytes(&t->s->job);
	size_t first = len < header ? header : len;

	if (amount <= first) {
		t->datagrams = 1;
		t->last_bytes = (size_t)amount;
		return;
	}

	size_t rest = (size_t)((amount - first) % len);

	t->datagrams = 1 + (amount - first) / len;
	t->last_bytes = t->datagrams == 1 ? first : len;
	if (rest == 0)
		return;
	if (rest >= WIRE_UDP_BYTES) {
		t->datagrams++;
		t->last_bytes = rest;
	} else if (len >= (size_t)2 * WIRE_UDP_BYTES) {
		t->datagrams++;
		t->before_bytes = t->last_bytes - WIRE_UDP_BYTES;
		t->last_bytes = WIRE_UDP_BYTES + rest;
	} else {
		t->last_bytes += rest;
	}
}

/* The size of the next datagram when all that is left is at hand: none is
 * shorter than its own header. */
static size_t size_of_rest(size_t have, size_t want)
{
	if (have <= want)
		return have > WIRE_UDP_BYTES ? have : WIRE_UDP_BYTES;
	if (have - want >= WIRE_UDP_BYTES)
		return want;
	return want >= (size_t)2 * WIRE_UDP_BYTES ? have - WIRE_UDP_BYTES
						  : have;
}

/* Where the input's bytes stand in a datagram: behind its headers, and behind
 * the digits by which a server knows that there are none (-C). */
static size_t input_at(const struct stream_job *job)
{
	if (job->plain)
		return WIRE_UDP_BYTES + NO_HEADER_BYTES;
	return job->header.start_ns != 0 ? WIRE_UDP_START_BYTES
					 : header_bytes(job);
}

/* Puts the next bytes of the input into datagram number i, as far as no header
 * stands in their place; its size.  0: there are none, or not in time. */
static size_t take_input(struct sender *t, uint64_t i, size_t want)
{
	struct stream *s = t->s;
	size_t at = input_at(&s->job), size = want, have;
	const uint8_t *bytes;

	while (!input_fill(s->input, want + WIRE_UDP_BYTES, LOOK_MS)) {
		if (atomic_load(&s->stop) || clock_ns() >= t->end_ns)
			return 0;
	}
	bytes = input_bytes(s->input, &have);
	if (input_ended(s->input) && have <= want + WIRE_UDP_BYTES) {
		size = have > 0 ? size_of_rest(have, want) : 0;
		if (have <= size)
			t->datagrams = have > 0 ? i + 1 : i;
	}
	if (have > size)
		have = size;
	if (have > at)
		memcpy(s->buf + at, bytes + at, have - at);
	input_take(s->input, have);
	return size;
}

/* What every datagram holds: zeros where a header may stand, the client
 * header, digits behind. */
static void fill_header(struct stream *s)
{
	if (s->job.plain) {
		wire_fill(s->buf, s->buf_bytes);
		return;
	}
	if (s->job.header.has_ext)
		memset(s->buf, 0,
		       s->buf_bytes < ZERO_BYTES ? s->buf_bytes : ZERO_BYTES);
	else
		wire_fill(s->buf, s->buf_bytes);
	(void)wire_client_encode(s->buf + wire_udp_bytes(s->job.layout),
				 &s->job.header);
	if (s->cookie != 0 && s->buf_bytes >= WIRE_UDP_COOKIE_BYTES)
		wire_cookie_encode(s->buf, s->cookie);
}

static ssize_t send_along(int fd, const struct stream_way *way,
			  const uint8_t *buf, size_t bytes, int flags)
{
	union {
		struct cmsghdr align;
		char bytes[PLATFORM_CONTROL_BYTES];
	} control;
	struct sock_addr to = way->to;
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf,
			     .iov_len = bytes };
	struct msghdr msg = {
		.msg_name = &to.ss,
		.msg_namelen = to.len,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = 0,
	};

	if (!way->has_from || platform_source(&msg, &way->from) < 0) {
		msg.msg_control = NULL;
		msg.msg_controllen = 0;
	}
	return sendmsg(fd, &msg, flags);
}

/* One datagram out of the buffer. */
static ssize_t put(const struct stream *s, size_t bytes, int flags)
{
	if (s->way.given)
		return send_along(s->fd, &s->way, s->buf, bytes, flags);
	return send(s->fd, s->buf, bytes, flags);
}

/* Takes the errors that came back; how many. */
static unsigned take_errors(struct stream *s)
{
	/* those of a server's socket are of all its clients */
	unsigned n =
		s->way.given ? 0 : platform_take_errors(s->fd, &s->icmp_last);

	counter_add(&s->io.icmp, n);
	return n;
}

static bool told_of_failures(const struct stream *s)
{
	return counter_get(&s->io.icmp) > 0;
}

/* The socket is full: waits for room. */
static void wait_room(struct sender *t)
{
	struct pollfd p = { .fd = t->s->fd, .events = POLLOUT };

	counter_add(&t->s->io.blocked, 1);
	if (poll(&p, 1, LOOK_MS) > 0 && (p.revents & POLLERR) != 0)
		(void)take_errors(t->s);
}

/* An earlier datagram was refused by the other host. */
static void note_refusal(struct stream *s, int64_t now_ns)
{
	int64_t since_ns;

	if (s->refusals++ == 0)
		s->refused_ns = now_ns;
	since_ns = now_ns - s->refused_ns;
	/* a client that a server sends to may still be about to listen */
	if (s->job.wished && since_ns < UDP_REFUSED_ALONE_NS)
		return;
	if (since_ns >= UDP_REFUSED_NS ||
	    (s->refusals >= UDP_REFUSED_FEW && since_ns >= UDP_REFUSED_FEW_NS))
		s->error = -ECONNREFUSED;
}

/* Refused as soon as it began: then there is nothing to show. */
static bool refused_at_start(const struct stream *s)
{
	return s->refusals > 0 &&
	       s->refused_ns - atomic_load(&s->start_ns) < UDP_REFUSED_NS;
}

/* Its server did not begin to serve it. */
static bool turned_away(const struct stream *s)
{
	return s->refusal.why != POLICY_NONE && !s->refusal.running;
}

/* What became of a datagram. */
enum handed {
	TAKEN,     /* by the kernel */
	REFUSED,   /* by the kernel: its number counts as lost */
	ABANDONED, /* never left, and its number was not used */
};

static enum handed hand_over(struct sender *t, size_t bytes, int64_t now_ns)
{
	struct stream *s = t->s;

	while (!atomic_load_explicit(&s->stop, memory_order_relaxed) &&
	       s->error == 0) {
		if (put(s, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
			return TAKEN;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			wait_room(t);
		} else if (errno == ECONNREFUSED) {
			/* of an earlier one: this one has not left yet */
			note_refusal(s, now_ns);
			(void)take_errors(t->s);
		} else if (errno == EMSGSIZE) {
			s->error = -EMSGSIZE;
		} else if (errno != EINTR && errno != ENOBUFS &&
			   take_errors(t->s) > 0) {
			continue; /* of an earlier one too */
		} else if (errno != EINTR) {
			counter_add(&s->io.errors, 1);
			return REFUSED;
		}
	}
	return ABANDONED;
}

/* A stamp as the wire carries it: in whole microseconds. */
static int64_t stamp_of(const struct sender *t, int64_t now_ns)
{
	return (t->start_wall_ns + (now_ns - t->start_ns)) / 1000 * 1000;
}

/* Does number i begin what counts (-O)?  The other end decides by the same
 * stamps, or by what the header says from then on. */
static void see_omit(struct sender *t, uint64_t i, int64_t sent_ns,
		     int64_t now_ns)
{
	struct stream *s = t->s;

	if (atomic_load_explicit(&s->omit_end_ns, memory_order_relaxed) != 0 ||
	    sent_ns - t->s->first_sent_ns < s->omit_ns)
		return;
	s->job.header.omit_from = i < UINT32_MAX ? (uint32_t)i : 0;
	if (s->job.len_bytes >= header_bytes(&s->job))
		fill_header(s);
	stream_omit_end(s, now_ns, (int64_t)i);
}

/* Sends number i. */
static void send_number(struct sender *t, uint64_t i, int64_t now_ns)
{
	struct stream *s = t->s;
	struct wire_udp h = {
		.seq = (int64_t)i,
		.sent_ns = stamp_of(t, now_ns),
	};
	size_t bytes = datagram_bytes(t, i);
	enum handed handed;

	if (s->input != NULL && (bytes = take_input(t, i, bytes)) == 0)
		return;
	if (i == 0)
		t->s->first_sent_ns = h.sent_ns;
	if (s->omit_ns > 0)
		see_omit(t, i, h.sent_ns, now_ns);
	wire_udp_encode(s->buf, s->job.layout, &h);
	handed = hand_over(t, bytes, now_ns);
	if (handed == ABANDONED)
		return;
	if (handed == TAKEN) {
		counter_add(&s->io.bytes, bytes);
		counter_add(&s->io.calls, 1);
	}
	s->numbers = i + 1;
	/* where -l has no room for the client header, the digits that stand
	 * in its place say so */
	if (i == 0 && s->job.len_bytes < header_bytes(&s->job))
		wire_fill(s->buf, s->buf_bytes);
}

/* Is this the stamp of one of our datagrams? */
static bool is_stamp(const struct stream *s, uint64_t nonce)
{
	return nonce >= (uint64_t)s->first_sent_ns &&
	       (s->marker_sent_ns == 0 || nonce <= (uint64_t)s->marker_sent_ns);
}

/* What only a server of ours says, in answer to one of our datagrams: a hello,
 * or that it does not serve this test. */
static bool take_word(struct stream *s, const uint8_t *p, size_t n)
{
	struct policy_refusal refusal;
	uint64_t nonce;
	uint64_t cookie;

	if (block_hello_decode(p, n, &nonce, &cookie) == 0 &&
	    is_stamp(s, nonce)) {
		s->peer_is_ours = true;
		s->cookie = cookie;
		return true;
	}
	if (block_refusal_decode(p, n, &nonce, &refusal) == 0 &&
	    is_stamp(s, nonce)) {
		s->peer_is_ours = true;
		s->refusal = refusal;
		return true;
	}
	return false;
}

/* What comes before the end marker went out is no report, but it may be a word
 * of a server of ours. */
static void read_early(struct stream *s)
{
	uint8_t early[2048];
	ssize_t n;

	if (s->job.shared) {
		/* what comes is the receiver's */
		s->cookie = atomic_load(&s->heard_cookie);
		return;
	}
	while ((n = recv(s->fd, early, sizeof(early), MSG_DONTWAIT)) >= 0)
		(void)take_word(s, early, (size_t)n);
	if (errno == ECONNREFUSED)
		note_refusal(s, clock_ns());
}

/* Who sends seldom need not wait until the next one is refused, too. */
static void see_refusals(struct sender *t, int64_t now_ns)
{
	struct stream *s = t->s;

	if (s->refusals != t->refusals) {
		t->refusals = s->refusals;
		t->refused_at = s->numbers;
	}
	if (s->refusals > 0 && s->numbers == t->refused_at &&
	    now_ns - s->refused_ns > UDP_REFUSED_ALONE_NS)
		s->error = -ECONNREFUSED;
}

/* A server may say in mid-test that it goes no further. */
static void look(struct sender *t, int64_t now_ns)
{
	if (now_ns < t->look_ns)
		return;
	t->look_ns = now_ns + LOOK_NS;

	uint64_t cookie = t->s->cookie;

	read_early(t->s);
	see_refusals(t, now_ns);
	/* the server sends nothing before it has its word back */
	if (t->s->cookie != cookie &&
	    t->s->job.len_bytes >= WIRE_UDP_COOKIE_BYTES)
		fill_header(t->s);
}

static bool wanted(const struct sender *t)
{
	return !atomic_load_explicit(&t->s->stop, memory_order_relaxed) &&
	       t->s->error == 0 && t->s->refusal.why == POLICY_NONE &&
	       t->s->numbers < t->datagrams;
}

/* Waits for due_ns in steps, so that a stop is seen. */
static int64_t wait_due(struct sender *t, int64_t due_ns, bool precise)
{
	int64_t now_ns = clock_ns();

	look(t, now_ns);
	while (due_ns - now_ns > LOOK_NS) {
		if (!wanted(t))
			return now_ns;
		now_ns = clock_wait_until(now_ns + LOOK_NS, false);
		look(t, now_ns);
	}
	return clock_wait_until(due_ns, precise);
}

/* Is there room for one more datagram with its whole gap before the end?  So
 * n datagrams always span n gaps, and their rate is the one asked for. */
static bool fits(const struct sender *t, const struct pace *p)
{
	return t->end_ns == INT64_MAX || t->s->numbers == 0 ||
	       p->due_ns + p->gap_ns <= t->end_ns;
}

/* Has the time passed, and is there nothing to be made good?  However late it
 * was begun, a test has a datagram: without one there is no report. */
static bool is_over(const struct sender *t, const struct pace *p,
		    int64_t now_ns)
{
	if (t->end_ns == INT64_MAX || t->s->numbers == 0 || now_ns <= t->end_ns)
		return false;
	return t->end_ns - p->due_ns > GRACE_NS ||
	       now_ns > t->end_ns + GRACE_NS;
}

/* Returns when the end marker is due: the next place on the grid. */
static int64_t send_paced(struct sender *t)
{
	const struct stream_job *job = &t->s->job;
	bool pps = job->rate.pps > 0;
	struct pace p;

	pace_init(&p, pps ? job->rate.pps : job->rate.bps,
		  pps ? 1 : job->len_bytes * 8, t->start_ns);
	while (wanted(t) && fits(t, &p)) {
		int64_t now_ns = clock_ns();
		int64_t wait_ns = pace_wait(&p, now_ns);

		if (wait_ns > 0)
			now_ns = wait_due(t, now_ns + wait_ns,
					  job->precise &&
						  !pace_is_behind(&p, now_ns));
		else
			look(t, now_ns);
		if (!wanted(t) || is_over(t, &p, now_ns))
			break;
		send_number(t, t->s->numbers, now_ns);
		pace_sent(&p, now_ns);
	}
	return p.due_ns < t->end_ns ? p.due_ns : t->end_ns;
}

/* --isochronous: the datagrams of a frame leave one after the other when it is
 * due, or after the frame before. */
static int64_t send_frames(struct sender *t)
{
	struct stream *s = t->s;
	struct burst b;
	uint64_t late = 0;
	int64_t half_ns;

	burst_init(&b, &s->job.burst, t->start_ns, s->job.seed);
	half_ns = 500 * CLOCK_SECOND_NS / (int64_t)b.shape.per_1000s;
	while (wanted(t) && burst_due(&b) < t->end_ns) {
		int64_t now_ns = wait_due(t, burst_due(&b), s->job.precise);

		if (!wanted(t))
			break;
		late += now_ns - burst_due(&b) > half_ns;
		t->frame_left = burst_begin(&b, WIRE_UDP_BYTES);
		while (wanted(t) && t->frame_left > 0 && now_ns < t->end_ns) {
			size_t bytes = datagram_bytes(t, s->numbers);

			send_number(t, s->numbers, now_ns);
			t->frame_left -=
				bytes < t->frame_left ? bytes : t->frame_left;
			now_ns = clock_ns();
			look(t, now_ns);
		}
		t->frame_left = 0;
	}
	stream_note(s,
		    "%" PRIu64 " frames, %" PRIu64
		    " of them began more than half a period late",
		    b.number, late);
	return burst_due(&b) < t->end_ns ? burst_due(&b) : t->end_ns;
}

static int64_t send_unpaced(struct sender *t)
{
	int64_t now_ns = clock_ns();

	while (wanted(t) && (now_ns < t->end_ns || t->s->numbers == 0)) {
		send_number(t, t->s->numbers, now_ns);
		now_ns = clock_ns();
		look(t, now_ns);
	}
	return now_ns;
}

static void sender_init(struct sender *t, struct stream *s)
{
	*t = (struct sender){
		.s = s,
		.start_ns = atomic_load(&s->start_ns),
		.datagrams = UINT64_MAX,
		.end_ns = INT64_MAX,
	};
	t->start_wall_ns = clock_wall_ns() - (clock_ns() - t->start_ns);
	if (s->job.header.start_ns != 0)
		s->job.header.start_ns = t->start_wall_ns;
	if (s->job.amount_bytes > 0)
		split_amount(t);
	else if (s->job.time_ns > 0)
		t->end_ns = t->start_ns + s->job.time_ns;
}

static uint64_t asked_bps(const struct stream_job *job)
{
	return job->rate.pps > 0 ? job->rate.pps * job->len_bytes * 8
				 : job->rate.bps;
}

/* Why less was offered than asked for. */
static void note_shortfall(const struct sender *t)
{
	struct stream *s = t->s;
	int64_t took_ns = s->sent_ns - t->start_ns;
	double asked = (double)asked_bps(&s->job);
	double offered = units_bps(counter_get(&s->io.bytes), took_ns);
	double short_part = asked > 0 ? 1 - offered / asked : 0;
	uint64_t refused = counter_get(&s->io.errors);
	uint64_t blocked = counter_get(&s->io.blocked);
	double busy = (double)(s->cpu.user_ns + s->cpu.system_ns) /
		      (double)(took_ns > 0 ? took_ns : 1);

	if (short_part < UDP_SHORT_PART || atomic_load(&s->stop) ||
	    s->error != 0)
		return;
	if (refused > 0)
		stream_note(s,
			    "offered %.1f%% less than asked: the system "
			    "refused %" PRIu64 " sends",
			    100 * short_part, refused);
	else if (blocked > 0)
		stream_note(s,
			    "offered %.1f%% less than asked: the socket was "
			    "full %" PRIu64 " times",
			    100 * short_part, blocked);
	else if (s->cpu.known && busy > BUSY_PART)
		stream_note(s,
			    "offered %.1f%% less than asked: this host's CPU "
			    "is the limit",
			    100 * short_part);
	else
		stream_note(s,
			    "offered %.1f%% less than asked: this host let "
			    "the sender run too seldom (%.0f%% of the time)",
			    100 * short_part, 100 * busy);
}

void udp_send(struct stream *s)
{
	struct out_cpu begun;
	struct sender t;

	stream_cpu_begin(&begun);
	sender_init(&t, s);
	fill_header(s);

	bool paced = s->job.rate.bps > 0 || s->job.rate.pps > 0;
	bool frames = s->job.burst.per_1000s > 0;
	int64_t marker_ns = frames  ? send_frames(&t)
			    : paced ? send_paced(&t)
				    : send_unpaced(&t);

	if (wanted(&t) || s->numbers == t.datagrams)
		(void)wait_due(&t, marker_ns, s->job.precise);

	s->sent_ns = clock_ns();
	/* as the wire carries it: it tells reports of this test from others */
	s->marker_sent_ns = stamp_of(&t, s->sent_ns);
	stream_cpu_end(&s->cpu, &begun);
	(void)take_errors(s);
	if (paced)
		note_shortfall(&t);
	if (told_of_failures(s))
		stream_note(s,
			    "%" PRIu64 " ICMP messages came back, the last: %s",
			    counter_get(&s->io.icmp), strerror(s->icmp_last));
	if (!refused_at_start(s) && !turned_away(s))
		stream_ended(s, s->sent_ns);
}

/* Can this report be one of what was sent?  iperf 2 counts its own repeated
 * markers; a report of an older test from this address may be on its way. */
static bool is_of_this_test(const struct stream *s, const struct wire_report *r)
{
	uint64_t sent = s->numbers;
	uint64_t bytes =
		counter_get(&s->io.bytes) +
		UDP_MARKERS * (s->job.len_bytes + WIRE_UDP_CLIENT_BYTES);

	return r->total <= sent + UDP_MARKERS && r->lost <= r->total &&
	       r->bytes <= bytes;
}

/* A reply of n bytes; true: it is the report. */
static bool take_report(struct stream *s, const uint8_t *reply, size_t n)
{
	struct wire_report r;

	if (take_word(s, reply, n))
		return false;
	if (wire_report_decode(reply, n, &r) < 0)
		return false;
	size_t left = 0;
	const uint8_t *block =
		n > WIRE_REPORT_BYTES ? block_find(reply + WIRE_REPORT_BYTES,
						   n - WIRE_REPORT_BYTES, &left)
				      : NULL;

	s->has_block =
		block != NULL &&
		block_result_decode(block, left, (uint64_t)s->marker_sent_ns,
				    &s->block) == 0 &&
		s->block.udp;
	/* ours say of which test they speak */
	if (!s->has_block &&
	    (block != NULL || s->peer_is_ours || !is_of_this_test(s, &r)))
		return false;
	s->report = r;
	s->has_report = true;
	return true;
}

/* The next reply.  True: it is over, with the report or because nobody is
 * there. */
static bool read_reply(struct stream *s, int64_t now_ns)
{
	uint8_t reply[2048];
	ssize_t n = recv(s->fd, reply, sizeof(reply), MSG_DONTWAIT);

	/* else it is an echo, an acknowledgement, nothing yet */
	if (n > 0)
		return take_report(s, reply, (size_t)n) || turned_away(s);
	if (n < 0 && errno == ECONNREFUSED)
		note_refusal(s, now_ns);
	if (n < 0)
		(void)take_errors(s);
	return s->error != 0;
}

/* Waits until due_ns for the report, the first marker having gone out at
 * begun_ns; true: it came, or never will, or nobody wants to wait for it. */
static bool await_report(struct stream *s, int64_t due_ns, int64_t begun_ns)
{
	int64_t now_ns = clock_ns();

	while (now_ns < due_ns) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };
		int64_t left_ms =
			(due_ns - now_ns + CLOCK_MS_NS - 1) / CLOCK_MS_NS;

		if (now_ns - begun_ns >= stream_patience(s, UDP_OURS_WAIT_NS))
			return true;
		if (left_ms > LOOK_MS)
			left_ms = LOOK_MS;
		if (poll(&p, 1, (int)left_ms) > 0 && read_reply(s, now_ns))
			return true;
		now_ns = clock_ns();
	}
	return false;
}

/* Is marker number i, the first of which went out at begun_ns, still worth
 * while? */
static bool keep_asking(const struct stream *s, unsigned i, int64_t begun_ns)
{
	if (s->peer_is_ours)
		return clock_ns() - begun_ns < UDP_OURS_WAIT_NS;
	return i <
	       (told_of_failures(s) ? UDP_MARKERS_UNREACHABLE : UDP_MARKERS);
}

/* How long to wait for an answer before the next marker. */
static int64_t repeat_after(const struct stream *s, int64_t before_ns)
{
	int64_t wait_ns = before_ns + before_ns / 4;
	int64_t least_ns = s->peer_is_ours ? UDP_OURS_REPEAT_NS : UDP_REPEAT_NS;

	if (wait_ns < least_ns)
		return least_ns;
	if (s->peer_is_ours && wait_ns > UDP_OURS_REPEAT_MAX_NS)
		return UDP_OURS_REPEAT_MAX_NS;
	return wait_ns;
}

/* Where the other direction shares the socket, or with no_fin, nothing is
 * confirmed; iperf 2
 * expects one marker, and ours none that is the only one. */
static void tell_end(struct stream *s, size_t bytes)
{
	for (unsigned i = 0; i < (s->peer_is_ours ? UDP_ENDS : 1u); i++) {
		if (i > 0)
			clock_sleep_until(clock_ns() + UDP_OURS_REPEAT_NS);
		(void)put(s, bytes, MSG_NOSIGNAL);
	}
}

static void send_markers(struct stream *s)
{
	struct wire_udp h = {
		.seq = -(int64_t)s->numbers,
		.sent_ns = s->marker_sent_ns,
	};
	size_t bytes = s->job.len_bytes;
	int64_t begun_ns = clock_ns();
	int64_t wait_ns = 0;

	/* as large as number 0, which iperf 2 servers don't count while they
	 * count the marker; its header tells who we are if that was lost */
	if (bytes < header_bytes(&s->job))
		bytes = header_bytes(&s->job);
	fill_header(s);
	wire_udp_encode(s->buf, s->job.layout, &h);
	read_early(s);
	if (s->job.shared || s->job.no_fin) {
		tell_end(s, bytes);
		return;
	}
	for (unsigned i = 0; keep_asking(s, i, begun_ns); i++) {
		(void)put(s, bytes, MSG_NOSIGNAL);
		wait_ns = repeat_after(s, wait_ns);
		if (s->job.multicast ||
		    await_report(s, clock_ns() + wait_ns, begun_ns))
			return;
	}
}

void udp_finish(struct stream *s)
{
	/* minus zero is no marker, and then nothing is to be confirmed */
	if (s->error == 0 && s->numbers > 0 && !turned_away(s))
		send_markers(s);
	/* of a shared socket the other direction tells whether anybody is
	 * there; one that has ended may be closed */
	s->unreachable = told_of_failures(s) && !s->has_report &&
			 !s->peer_is_ours && !s->job.shared && s->error == 0;
	if (s->unreachable)
		s->error = -s->icmp_last;
	if (atomic_load(&s->end_ns) == 0) {
		s->no_result = turned_away(s) || (s->error == -ECONNREFUSED &&
						  refused_at_start(s));
		stream_ended(s, s->sent_ns);
	}
}

bool udp_prepare(int fd, int family, int64_t limit_ns)
{
	/* without stamps or addresses the portable path is taken */
	(void)platform_rx_stamps(fd);
	(void)platform_rx_dest(fd, family);
	(void)sock_receive_limit(fd, limit_ns);
	return platform_rx_drops(fd) == 0;
}

void udp_pause_init(struct udp_pause *p, int fd)
{
	*p = (struct udp_pause){ .may = sock_window(fd, false) >=
					NAP_BUFFER_BYTES };
}

/* None is left: the next call sleeps, until there are hardly any. */
static void nothing_left(struct udp_pause *p)
{
	p->few = p->taken < NAP_FEW ? p->few + 1 : 0;
	p->naps = p->few < NAP_FEW_TIMES;
	p->due = p->naps;
	p->taken = 0;
	p->few = p->naps ? p->few : 0;
}

/* One more came; without a stamp nobody could tell when. */
static void one_came(struct udp_pause *p, int64_t stamp_ns)
{
	p->taken++;
	if (p->naps || !p->may || stamp_ns == 0)
		return;
	if (p->taken == 1) {
		p->first_ns = stamp_ns;
	} else if (p->taken == NAP_MANY) {
		p->naps = stamp_ns - p->first_ns < NAP_MANY_NS;
		p->taken = 0;
	}
}

int udp_receive(int fd, uint8_t *buf, size_t size, struct udp_arrival *a,
		struct udp_pause *p)
{
	union {
		struct cmsghdr align;
		char bytes[PLATFORM_CONTROL_BYTES];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	struct msghdr msg = {
		.msg_name = &a->from.ss,
		.msg_namelen = sizeof(a->from.ss),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	if (p->due)
		clock_sleep_until(clock_ns() + NAP_NS);
	p->due = false;
	n = recvmsg(fd, &msg, p->naps ? MSG_DONTWAIT : 0);
	if (n < 0) {
		int error = errno;

		if (p->naps && (error == EAGAIN || error == EWOULDBLOCK))
			nothing_left(p);
		return -error;
	}
	a->from.len = msg.msg_namelen;
	a->bytes = (size_t)n;
	a->stamp_ns = platform_stamp_ns(&msg);
	a->has_to = platform_dest(&msg, &a->to) == 0;
	a->has_drops = platform_drops(&msg, &a->drops) == 0;
	one_came(p, a->stamp_ns);
	return 0;
}

int udp_answer(int fd, const struct udp_arrival *a, const uint8_t *buf,
	       size_t bytes)
{
	const struct stream_way way = { .given = true,
					.to = a->from,
					.from = a->to,
					.has_from = a->has_to };

	return send_along(fd, &way, buf, bytes, MSG_NOSIGNAL) < 0 ? -errno : 0;
}
