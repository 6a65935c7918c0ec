#include "tcp.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "block.h"
#include "clock.h"
#include "pace.h"
#include "platform/platform.h"

/* A blocked send looks this often whether it is still wanted. */
#define LOOK_NS (100 * CLOCK_MS_NS)
#define LOOK_MS 100
/* So many bytes decide whether a stream begins with a header. */
#define SAFE_BYTES 4
/* A receiver looks this often whether its peer is still there. */
#define IDLE_LOOK_NS CLOCK_SECOND_NS
/* The queue of unsent bytes may hold this much of the measured rate. */
#define QUEUE_NS (100 * CLOCK_MS_NS)
#define QUEUE_MIN_BYTES 4096
#define QUEUE_MAX_BYTES (1u << 30)
/* The rate is measured anew at first after this, then after each LOOK_NS. */
#define MEASURE_FIRST_NS (20 * CLOCK_MS_NS)
/* A peer that sends without end is not read without end. */
#define DRAIN_READS 256
/* A receiver of more than this is woken rarely: when so many bytes wait, or
 * after so long.  Both ends then spend less on waking up. */
#define RARE_BYTES_PER_S 125000000
#define RARE_BYTES UINT64_C(524288)
#define RARE_MS 1
/* No larger a part of its buffer waits: the rest is the window that the sender
 * has meanwhile. */
#define RARE_PART 8
/* A lowest one-way delay beyond this is one of clocks, not of a path. */
#define TRIP_MAX_NS (10 * CLOCK_SECOND_NS)
/* Below it each write waits for room first, and is small. */
#define SLOW_BYTES_PER_S 12500000
/* A paced write carries about this much time, unless -l says otherwise. */
#define PACED_NS (10 * CLOCK_MS_NS)

/* What a running sender knows of its path. */
struct flow {
	int64_t end_ns;      /* when to stop */
	int64_t measure_ns;  /* when the rate is measured again */
	int64_t measured_ns; /* when it was last */
	uint64_t then_bytes; /* how much had arrived at that time */
	uint64_t then_blocked;
	int64_t heard_ns;   /* when the peer was known to take bytes */
	size_t chunk_bytes; /* of one write */
	size_t chunk_min;   /* below a full segment it would wait for others */
	double queue_min;   /* two segments, for the same reason */
	/* of a stream of records */
	uint64_t record_bytes; /* of the one that has begun */
	uint64_t record_left;  /* of these, 0: none has */
	uint64_t burst_left;   /* bytes of the burst that are to be written */
	uint32_t records;
	uint64_t records_bytes;
	bool slow;
};

/* Bytes that the peer has, as far as the system tells; else those written. */
static uint64_t arrived(const struct stream *s)
{
	uint64_t bytes = counter_get(&s->io.bytes);
	uint64_t unacked = 0;

	if (platform_unacked(s->fd, &unacked) < 0 || unacked > bytes)
		return bytes;
	return bytes - unacked;
}

/* Reads what the peer sends, keeps the first of it; true: it has ended. */
static bool drained(struct stream *s)
{
	for (int i = 0; i < DRAIN_READS; i++) {
		uint8_t bytes[STREAM_ANSWER_BYTES];
		ssize_t n = recv(s->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		size_t room = sizeof(s->answer) - s->answer_bytes;

		if (n == 0)
			return true;
		if (n > 0) {
			size_t keep = (size_t)n < room ? (size_t)n : room;

			memcpy(s->answer + s->answer_bytes, bytes, keep);
			s->answer_bytes += keep;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return false;
		if (s->error == 0)
			s->error = -errno;
		return true;
	}
	return false;
}

/* Does the server say that it does not serve this test?  To be asked now and
 * then; most servers say nothing, or what they think of the header. */
static bool is_refused(struct stream *s)
{
	/* what comes is the other stream's, or of a client that was asked */
	if (s->job.shared || s->job.wished)
		return false;
	(void)drained(s);
	if (s->answer_bytes > 0 && s->refusal.why == POLICY_NONE)
		(void)block_refusal_find(s->answer, s->answer_bytes,
					 &s->refusal);
	return s->refusal.why != POLICY_NONE;
}

/* The peer is there when more has arrived, or when nothing waits for it;
 * false: it has been silent for too long. */
static bool hears(struct stream *s, struct flow *f, uint64_t bytes,
		  int64_t now_ns)
{
	uint64_t written = counter_get(&s->io.bytes);
	uint64_t blocked = counter_get(&s->io.blocked);

	if (bytes > f->then_bytes ||
	    (bytes == written && blocked == f->then_blocked))
		f->heard_ns = now_ns;
	f->then_blocked = blocked;
	if (now_ns - f->heard_ns < TCP_GONE_NS)
		return true;
	s->error = -ETIMEDOUT;
	s->heard_ns = f->heard_ns;
	s->unconfirmed = written - bytes;
	stream_note(s, "ended: the server took nothing for %.0f s",
		    (double)(now_ns - f->heard_ns) / 1e9);
	return false;
}

/* Adapts the queue to the rate; false: the test ends here. */
static bool measure(struct stream *s, struct flow *f, int64_t now_ns)
{
	if (is_refused(s) || s->error != 0)
		return false;
	stream_sample(s);

	uint64_t bytes = arrived(s);

	if (!hears(s, f, bytes, now_ns))
		return false;

	int64_t span_ns = now_ns - f->measured_ns;
	double rate = (double)(bytes - f->then_bytes) * 1e9 / (double)span_ns;
	double queue = rate * QUEUE_NS / 1e9;

	if (queue < f->queue_min)
		queue = f->queue_min;
	if (queue > QUEUE_MAX_BYTES)
		queue = QUEUE_MAX_BYTES;
	(void)platform_unsent_limit(s->fd, (uint32_t)queue);
	f->slow = rate < SLOW_BYTES_PER_S;
	f->chunk_bytes = s->job.len_bytes;
	if (f->slow && f->chunk_bytes > (size_t)queue / 4)
		f->chunk_bytes = (size_t)queue / 4;
	if (f->chunk_bytes < f->chunk_min)
		f->chunk_bytes = f->chunk_min;
	f->then_bytes = bytes;
	f->measured_ns = now_ns;
	f->measure_ns = now_ns + LOOK_NS;
	return true;
}

static void flow_init(struct stream *s, struct flow *f)
{
	int64_t now_ns = clock_ns();
	size_t segment = sock_mss(s->fd);
	size_t queue =
		2 * segment > QUEUE_MIN_BYTES ? 2 * segment : QUEUE_MIN_BYTES;

	*f = (struct flow){
		.end_ns = s->job.amount_bytes > 0 || s->job.time_ns == 0
				  ? INT64_MAX
				  : atomic_load(&s->start_ns) + s->job.time_ns,
		.measure_ns = now_ns + MEASURE_FIRST_NS,
		.measured_ns = now_ns,
		.heard_ns = now_ns,
		.chunk_bytes = s->job.len_bytes,
		.chunk_min =
			segment < s->job.len_bytes ? segment : s->job.len_bytes,
		.queue_min = (double)queue,
		.slow = true,
	};
	if (f->chunk_bytes > queue)
		f->chunk_bytes = queue;
	(void)platform_unsent_limit(s->fd, (uint32_t)queue);
	(void)sock_send_limit(s->fd, LOOK_NS);
	stream_sample(s);
}

/* Is the time over that -O leaves out? */
static void see_omit(struct stream *s, int64_t now_ns)
{
	if (s->omit_ns > 0 && atomic_load(&s->omit_end_ns) == 0 &&
	    now_ns - atomic_load(&s->start_ns) >= s->omit_ns)
		stream_omit_end(s, now_ns, 0);
}

/* Waits until the socket takes bytes, at most LOOK_NS and not past the end. */
static bool wait_room(const struct stream *s, int64_t left_ns)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };
	int64_t wait_ns = left_ns < LOOK_NS ? left_ns : LOOK_NS;

	return poll(&p, 1, (int)((wait_ns + CLOCK_MS_NS - 1) / CLOCK_MS_NS)) >
	       0;
}

/* Where the next bytes of a stream of records are, *want of them at most.  A
 * record is stamped when its first byte is about to be written. */
static const uint8_t *next_of_record(struct stream *s, struct flow *f,
				     size_t *want)
{
	uint64_t at;

	if (f->record_left == 0) {
		struct wire_record r = {
			.start_ns = s->job.header.start_ns,
			.sent_ns = s->job.header.start_ns + clock_ns() -
				   atomic_load(&s->start_ns),
			.id = ++f->records,
			.before = f->records_bytes,
		};

		f->record_bytes =
			f->burst_left > 0 ? f->burst_left : s->job.len_bytes;
		r.bytes = (uint32_t)f->record_bytes;
		wire_record_encode(s->buf, &r);
		f->records_bytes += f->record_bytes;
		f->record_left = f->record_bytes;
	}
	/* a header stands at the beginning of the buffer, data behind it */
	at = f->record_bytes - f->record_left;
	if (at > WIRE_RECORD_BYTES)
		at = WIRE_RECORD_BYTES;
	if (*want > f->record_left)
		*want = (size_t)f->record_left;
	if (*want > s->buf_bytes - at)
		*want = s->buf_bytes - at;
	return s->buf + at;
}

/* One write of at most want bytes; false: the peer is gone. */
static bool write_some(struct stream *s, struct flow *f, size_t want,
		       int64_t left_ns)
{
	const uint8_t *from = s->buf;
	size_t at_hand; /* of an input: want is no more */

	/* near the end a blocking send would last too long */
	bool look = f->slow || left_ns < 2 * LOOK_NS;

	if (look && !wait_room(s, left_ns)) {
		counter_add(&s->io.blocked, 1);
		return true;
	}

	if (s->job.records)
		from = next_of_record(s, f, &want);
	else if (s->input != NULL)
		from = input_bytes(s->input, &at_hand);

	ssize_t n = send(s->fd, from, want,
			 MSG_NOSIGNAL | (look ? MSG_DONTWAIT : 0));

	if (n > 0) {
		if (s->job.records)
			f->record_left -= (size_t)n;
		else if (s->input != NULL)
			input_take(s->input, (size_t)n);
		counter_add(&s->io.bytes, (uint64_t)n);
		counter_add(&s->io.calls, 1);
		return true;
	}
	if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK ||
	    errno == EINTR || errno == ENOBUFS) {
		counter_add(&s->io.blocked, 1);
		return true;
	}
	s->error = -errno;
	return false;
}

void tcp_ask(struct stream *s)
{
	uint8_t header[WIRE_CLIENT_MAX];
	size_t n = wire_client_encode(header, &s->job.header);
	ssize_t sent = send(s->fd, header, n, MSG_NOSIGNAL);

	if (sent < 0)
		s->error = -errno;
	else if ((size_t)sent < n)
		s->error = -EPIPE; /* an empty send buffer took less than it */
}

/* Are the first bytes of an answer there, or its end?  They stay unread. */
static size_t peek_answer(struct stream *s, uint8_t *bytes, size_t size,
			  int64_t end_ns)
{
	size_t have = 0;

	while (have < size && clock_ns() < end_ns && !atomic_load(&s->stop)) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };
		ssize_t n;

		if (have == 0 && poll(&p, 1, LOOK_MS) <= 0)
			continue;
		n = recv(s->fd, bytes, size, MSG_PEEK | MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		if (n > 0 && (size_t)n == have)
			clock_sleep_until(clock_ns() + CLOCK_MS_NS);
		if (n > 0)
			have = (size_t)n;
	}
	return have;
}

void tcp_detect(struct stream *s)
{
	int64_t end_ns = clock_ns() + TCP_DETECT_NS;
	uint8_t bytes[WIRE_ACK_TRIP_BYTES];
	uint32_t version_u = 0, version_l = 0;
	size_t length;

	tcp_ask(s);
	s->asked = true;
	if (s->error != 0)
		return;
	length = wire_ack_decode(bytes,
				 peek_answer(s, bytes, WIRE_ACK_BYTES, end_ns),
				 &version_u, &version_l);
	/* what is no acknowledgement is left to who reads the stream */
	if (length == 0 || peek_answer(s, bytes, length, end_ns) < length ||
	    recv(s->fd, bytes, length, 0) < 0)
		return;
	wire_version_text(s->conn.peer_version, sizeof(s->conn.peer_version),
			  version_u, version_l);
}

/* Waits until so many bytes of the input are there, or all that is left of it,
 * or the test ends; how many there are. */
static size_t await_input(struct stream *s, size_t bytes, int64_t end_ns)
{
	size_t have;

	while (!input_fill(s->input, bytes, LOOK_MS)) {
		if (atomic_load(&s->stop) || clock_ns() >= end_ns)
			return 0;
	}
	(void)input_bytes(s->input, &have);
	return have;
}

/* Input without room for a header could be taken for one: like streams without
 * input it begins with digits then. */
static void send_digits(struct stream *s)
{
	uint8_t digits[SAFE_BYTES];
	size_t n = await_input(s, SAFE_BYTES, INT64_MAX);

	if (n > SAFE_BYTES)
		n = SAFE_BYTES;
	if (s->job.amount_bytes > 0 && n > s->job.amount_bytes)
		n = (size_t)s->job.amount_bytes;
	wire_fill(digits, n);
	if (n == 0 || send(s->fd, digits, n, MSG_NOSIGNAL) != (ssize_t)n)
		return;
	counter_add(&s->io.bytes, n);
	counter_add(&s->io.calls, 1);
	input_take(s->input, n);
}

/* The client header goes first, as one write, in the place of as many bytes of
 * the input.  Where there are less it has no room, nor where -n is shorter:
 * then the stream is plain data. */
static void send_counted(struct stream *s)
{
	uint8_t header[WIRE_CLIENT_MAX];
	size_t n = wire_client_encode(header, &s->job.header);
	bool fits = s->job.amount_bytes == 0 || s->job.amount_bytes >= n;

	if (s->input != NULL)
		fits = fits && await_input(s, n, INT64_MAX) >= n;
	if (!fits && s->input != NULL)
		send_digits(s);
	if (!fits)
		return;
	if (!s->asked)
		tcp_ask(s);
	if (s->error != 0)
		return;
	if (s->input != NULL)
		input_take(s->input, n);
	counter_add(&s->io.bytes, n);
	counter_add(&s->io.calls, 1);
}

/* That of 2.0 stands before the data and is no part of them at either end. */
static void send_header(struct stream *s)
{
	if (s->job.plain)
		return;
	if (s->job.header.has_ext)
		send_counted(s);
	else
		tcp_ask(s);
}

/* How much of the amount and of the input is left to write, as far as that is
 * known; UINT64_MAX: no limit. */
static uint64_t amount_left(struct stream *s, const struct flow *f)
{
	uint64_t done = counter_get(&s->io.bytes);
	uint64_t left = UINT64_MAX;
	size_t have;

	if (s->job.amount_bytes > 0)
		left = s->job.amount_bytes > done ? s->job.amount_bytes - done
						  : 0;
	if (s->input == NULL || left == 0)
		return left;
	have = await_input(s, 1, f->end_ns);
	return have < left ? have : left;
}

static size_t smaller(size_t a, uint64_t b)
{
	return b < a ? (size_t)b : a;
}

/* --near-congestion: lets a part of the round trip pass after a write; what the
 * path holds then stays near what it can carry. */
static void wait_part(const struct stream *s, int64_t end_ns)
{
	struct platform_tcp info;
	int64_t due_ns = clock_ns();

	if (platform_tcp_info(s->fd, &info) < 0)
		return;
	due_ns += (int64_t)info.rtt_us * s->job.near_ppm / 1000;
	(void)clock_wait_until(due_ns < end_ns ? due_ns : end_ns,
			       s->job.precise);
}

static void send_unpaced(struct stream *s, struct flow *f)
{
	uint64_t left = amount_left(s, f);

	while (!atomic_load_explicit(&s->stop, memory_order_relaxed) &&
	       left > 0) {
		int64_t now_ns = clock_ns();

		if (now_ns >= f->end_ns)
			return;
		if (now_ns >= f->measure_ns && !measure(s, f, now_ns))
			return;
		see_omit(s, now_ns);
		if (!write_some(s, f, smaller(f->chunk_bytes, left),
				f->end_ns - now_ns))
			return;
		if (s->job.near_ppm > 0)
			wait_part(s, f->end_ns);
		left = amount_left(s, f);
	}
}

/* Waits for due_ns in steps, so that a stop is seen; false: stopped. */
static bool wait_due(const struct stream *s, int64_t due_ns)
{
	int64_t now_ns = clock_ns();

	while (now_ns < due_ns) {
		int64_t step_ns = now_ns + LOOK_NS;

		if (atomic_load_explicit(&s->stop, memory_order_relaxed))
			return false;
		now_ns = clock_wait_until(step_ns < due_ns ? step_ns : due_ns,
					  false);
	}
	return true;
}

/* Notes how often a burst could not begin in time. */
static void note_late(struct stream *s, const struct burst *b, uint64_t late)
{
	stream_note(s,
		    "%" PRIu64 " bursts, %" PRIu64
		    " of them began more than half a period late",
		    b->number, late);
}

/* --isochronous, --burst-size: writes each burst when it is due, or after the
 * one before. */
static void send_bursts(struct stream *s, struct flow *f)
{
	struct burst b;
	uint64_t late = 0;
	uint64_t left = amount_left(s, f);
	int64_t half_ns;
	bool gone = false;

	burst_init(&b, &s->job.burst, atomic_load(&s->start_ns), s->job.seed);
	half_ns = 500 * CLOCK_SECOND_NS / (int64_t)b.shape.per_1000s;
	while (!gone && left > 0 && burst_due(&b) < f->end_ns &&
	       wait_due(s, burst_due(&b))) {
		late += clock_ns() - burst_due(&b) > half_ns;
		f->burst_left =
			burst_begin(&b, s->job.records ? WIRE_RECORD_BYTES : 1);
		while (!gone && f->burst_left > 0 && left > 0 &&
		       !atomic_load(&s->stop)) {
			int64_t now_ns = clock_ns();
			uint64_t before = counter_get(&s->io.bytes);
			uint64_t want =
				f->burst_left < left ? f->burst_left : left;

			gone = now_ns >= f->end_ns ||
			       (now_ns >= f->measure_ns &&
				!measure(s, f, now_ns)) ||
			       !write_some(s, f, smaller(f->chunk_bytes, want),
					   f->end_ns - now_ns);
			see_omit(s, now_ns);
			f->burst_left -= counter_get(&s->io.bytes) - before;
			left = amount_left(s, f);
		}
	}
	if (left > 0 && !gone)
		(void)wait_due(s, f->end_ns);
	note_late(s, &b, late);
}

static size_t paced_chunk(const struct stream_job *job)
{
	double bytes = (double)job->rate.bps / 8e9 * PACED_NS;

	if (job->len_asked || job->records || bytes >= (double)job->len_bytes)
		return job->len_bytes;
	return bytes < 1 ? 1 : (size_t)bytes;
}

static void send_paced(struct stream *s, struct flow *f)
{
	struct pace p;
	size_t chunk = paced_chunk(&s->job);
	size_t left_of_chunk = chunk;
	uint64_t left = amount_left(s, f);

	pace_init(&p, s->job.rate.bps, chunk * 8, atomic_load(&s->start_ns));
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed) &&
	       left > 0) {
		int64_t now_ns = clock_ns();
		int64_t due_ns = now_ns + pace_wait(&p, now_ns);
		uint64_t before = counter_get(&s->io.bytes);

		if (due_ns >= f->end_ns) {
			(void)wait_due(s, f->end_ns);
			return;
		}
		if (!wait_due(s, due_ns))
			return;
		now_ns = clock_ns();
		if (now_ns >= f->measure_ns && !measure(s, f, now_ns))
			return;
		see_omit(s, now_ns);
		if (now_ns >= f->end_ns ||
		    !write_some(s, f, smaller(left_of_chunk, left),
				f->end_ns - now_ns))
			return;
		left_of_chunk -= counter_get(&s->io.bytes) - before;
		if (left_of_chunk == 0) {
			pace_sent(&p, now_ns);
			left_of_chunk = chunk;
		}
		left = amount_left(s, f);
	}
}

void tcp_send(struct stream *s)
{
	struct out_cpu begun;
	struct flow f;

	stream_cpu_begin(&begun);
	if (s->job.header.start_ns != 0)
		s->job.header.start_ns =
			clock_wall_ns() -
			(clock_ns() - atomic_load(&s->start_ns));
	send_header(s);
	if (s->error == 0) {
		flow_init(s, &f);
		if (s->job.burst.per_1000s > 0)
			send_bursts(s, &f);
		else if (s->job.rate.bps > 0)
			send_paced(s, &f);
		else
			send_unpaced(s, &f);
	}
	stream_cpu_end(&s->cpu, &begun);
	stream_buffer(s, s->buffer.asked);
}

static bool all_acknowledged(const struct stream *s, uint64_t *unacked)
{
	/* the end itself is one number, so 0 means: everything arrived */
	return platform_unacked(s->fd, unacked) == 0 && *unacked == 0;
}

static void read_answer(struct stream *s)
{
	size_t left;
	const uint8_t *p = block_find(s->answer, s->answer_bytes, &left);

	s->has_block = p != NULL &&
		       block_result_decode(p, left, TCP_NONCE, &s->block) == 0;
	s->has_report = s->has_block;
}

/* Has the peer ended?  Of a connection that another stream reads, this one is
 * over with its last acknowledgement, or at once where nobody tells of it. */
static bool peer_ended(struct stream *s, bool acked)
{
	uint64_t unacked;

	if (!s->job.shared)
		return drained(s);
	return acked || platform_unacked(s->fd, &unacked) < 0;
}

/* A peer that sends no more may still take what is on its way to it. */
static bool is_taking(const struct stream *s)
{
	uint64_t unacked = 0;

	return s->error == 0 && platform_unacked(s->fd, &unacked) == 0 &&
	       unacked > 0;
}

void tcp_finish(struct stream *s)
{
	int64_t begun_ns = clock_ns();
	int64_t now_ns = begun_ns;
	int64_t step_ns = 50000;
	int64_t acked_ns = 0;
	int64_t progress_ns = 0; /* when more was acknowledged */
	uint64_t unacked = 0;
	bool ended = s->error != 0;

	/* what came before the connection broke can still be read */
	if (ended && !s->job.shared)
		(void)drained(s);
	(void)shutdown(s->fd, SHUT_WR);
	while (!ended && now_ns - begun_ns < stream_patience(s, TCP_DRAIN_NS)) {
		uint64_t before = unacked;

		if (acked_ns == 0 && all_acknowledged(s, &unacked))
			acked_ns = now_ns;
		if (unacked != before)
			progress_ns = now_ns;
		ended = peer_ended(s, acked_ns != 0) &&
			(acked_ns != 0 || !is_taking(s));
		if (ended)
			break;
		clock_sleep_until(now_ns + step_ns);
		now_ns = clock_ns();
		if (step_ns < 2 * CLOCK_MS_NS)
			step_ns += step_ns / 4;
	}
	/* a peer that has it all may end as it likes */
	if (acked_ns != 0)
		s->error = 0;
	s->confirmed = s->error == 0 && (acked_ns != 0 || ended);
	if (!s->confirmed && unacked > 0)
		s->unconfirmed = unacked - 1; /* without the end itself */
	if (s->unconfirmed > 0)
		stream_note(s, "%" PRIu64 " bytes were not acknowledged",
			    s->unconfirmed);
	read_answer(s);
	s->no_result = is_refused(s) && !s->refusal.running;
	stream_sample(s);
	if (acked_ns == 0)
		acked_ns = ended || progress_ns == 0 ? now_ns : progress_ns;
	if (s->heard_ns != 0)
		acked_ns = s->heard_ns;
	stream_ended(s, acked_ns);
}

/* How long a receiver waits for data. */
struct patience {
	int64_t last_ns;
	int64_t longest_ns; /* gap between two reads */
};

static bool is_idle(const struct stream *s, const struct patience *p)
{
	int64_t limit_ns = p->longest_ns > TCP_IDLE_NS / 4 ? 4 * p->longest_ns
							   : TCP_IDLE_NS;

	if (s->first_wait_ns > 0 && atomic_load(&s->start_ns) == 0)
		limit_ns = s->first_wait_ns;
	return clock_ns() - p->last_ns > limit_ns;
}

/* Does it last longer than it may? */
static bool is_endless(const struct stream *s, int64_t now_ns)
{
	int64_t start_ns =
		atomic_load_explicit(&s->start_ns, memory_order_relaxed);

	return s->longest_ns > 0 && start_ns != 0 &&
	       now_ns - start_ns > s->longest_ns;
}

/* Instead of data there may be a refusal. */
static void keep_first(struct stream *s, size_t n)
{
	size_t room = sizeof(s->answer) - s->answer_bytes;
	size_t keep = n < room ? n : room;

	memcpy(s->answer + s->answer_bytes, s->buf, keep);
	s->answer_bytes += keep;
}

/* Was it nothing but a refusal? */
static bool was_refused(struct stream *s)
{
	uint64_t nonce;

	return s->conn.client && s->answer_bytes == BLOCK_REFUSAL_BYTES &&
	       counter_get(&s->io.bytes) == BLOCK_REFUSAL_BYTES &&
	       block_refusal_decode(s->answer, s->answer_bytes, &nonce,
				    &s->refusal) == 0;
}

void tcp_trips(struct stream *s, const uint8_t *p, size_t n)
{
	int64_t now_ns = clock_wall_ns();

	while (n > 0) {
		bool done;
		size_t taken = records_take(&s->records, p, n, &done);

		if (done)
			series_add(s->series, now_ns - s->records.now.sent_ns);
		p += taken;
		n -= taken;
	}
}

static void received(struct stream *s, struct patience *p, size_t n)
{
	int64_t now_ns = clock_ns();

	if (s->series != NULL)
		tcp_trips(s, s->buf, n);

	if (now_ns - p->last_ns > p->longest_ns)
		p->longest_ns = now_ns - p->last_ns;
	p->last_ns = now_ns;
	if (atomic_load_explicit(&s->start_ns, memory_order_relaxed) == 0)
		atomic_store(&s->start_ns, now_ns);
	if (s->omit_ns > 0)
		see_omit(s, now_ns);
	if (s->conn.client && s->answer_bytes < sizeof(s->answer))
		keep_first(s, n);
	counter_add(&s->io.bytes, n);
	counter_add(&s->io.calls, 1);
}

/* How a receiver waits for data. */
struct waking {
	uint32_t least;      /* so many bytes, but not for long; 1: for any */
	bool some;           /* the last read left nothing behind */
	int64_t measured_ns; /* when the rate was measured last */
	uint64_t then_bytes;
};

/* Measures the rate, and wakes up rarely where there is enough of it. */
static void see_rate(struct stream *s, struct waking *w, int64_t now_ns)
{
	uint64_t bytes = counter_get(&s->io.bytes);
	int64_t span_ns = now_ns - w->measured_ns;
	uint64_t room;
	uint32_t least = 1;

	if (s->at_once || span_ns < LOOK_NS)
		return;
	if ((double)(bytes - w->then_bytes) * 1e9 / (double)span_ns >=
	    RARE_BYTES_PER_S) {
		room = sock_window(s->fd, false) / RARE_PART;
		least = (uint32_t)(room < RARE_BYTES ? room : RARE_BYTES);
	}
	if (least != w->least && platform_receive_least(s->fd, least) == 0)
		w->least = least;
	w->measured_ns = now_ns;
	w->then_bytes = bytes;
}

/* Reads what there is; where nothing is, the next call waits. */
static ssize_t read_some(struct stream *s, struct waking *w)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	ssize_t n;

	if (w->least <= 1)
		return recv(s->fd, s->buf, s->buf_bytes, 0);
	if (!w->some)
		(void)poll(&p, 1, RARE_MS);
	n = recv(s->fd, s->buf, s->buf_bytes, MSG_DONTWAIT);
	w->some = n == (ssize_t)s->buf_bytes;
	return n;
}

/* What is odd about the trips. */
static void note_trips(struct stream *s)
{
	struct stats_delay trip;

	if (s->series == NULL)
		return;
	series_delay(s->series, &trip);
	if (trip.known && (trip.min_ns < 0 || trip.min_ns > TRIP_MAX_NS))
		stream_note(s,
			    "trip times from %.3f ms on: the clocks of the two "
			    "hosts don't agree",
			    (double)trip.min_ns / 1e6);
	if (s->records.broken)
		stream_note(s, "what came is not made of records: their trips "
			       "are known up to there");
}

void tcp_receive(struct stream *s)
{
	struct out_cpu begun;
	struct patience p = { .last_ns = clock_ns() };
	struct waking w = { .least = 1,
			    .measured_ns = p.last_ns,
			    .then_bytes = counter_get(&s->io.bytes) };

	stream_cpu_begin(&begun);
	(void)sock_receive_limit(s->fd, IDLE_LOOK_NS);
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		ssize_t n = read_some(s, &w);

		if (n > 0) {
			received(s, &p, (size_t)n);
			see_rate(s, &w, p.last_ns);
			if (!is_endless(s, p.last_ns))
				continue;
			stream_note(s, "ended: the peer went on for longer "
				       "than it was to");
			break;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			see_rate(s, &w, clock_ns());
			if (!is_idle(s, &p))
				continue;
			s->error = -ETIMEDOUT;
			stream_note(s, "ended: nothing came for %.0f s",
				    (double)(clock_ns() - p.last_ns) / 1e9);
			break;
		}
		if (n < 0)
			s->error = -errno;
		break;
	}
	s->no_result = was_refused(s);
	note_trips(s);
	if (atomic_load(&s->cut))
		stream_note_cut(s);
	stream_cpu_end(&s->cpu, &begun);
	stream_buffer(s, s->buffer.asked);
	stream_ended(s, p.last_ns);
}

void tcp_tell(struct stream *s)
{
	uint8_t bytes[BLOCK_RESULT_BYTES];
	int64_t start_ns = atomic_load(&s->start_ns);
	int64_t end_ns = atomic_load(&s->end_ns);
	int64_t from_ns = start_ns;
	struct stats_snap all;

	stream_snap(s, &all);
	stream_counted(s, &all, &all);
	if (s->omit_ns > 0)
		from_ns = atomic_load(&s->omit_end_ns);
	if (from_ns == 0)
		from_ns = end_ns;

	struct block_result b = {
		.bytes = all.bytes,
		.packets = all.packets,
		.duration_ns = end_ns - from_ns,
		.omitted_ns = from_ns - start_ns,
		.cpu_known = s->cpu.known,
		.cpu_user_ns = s->cpu.user_ns,
		.cpu_system_ns = s->cpu.system_ns,
		.buffer_asked = s->buffer.asked,
		.buffer_granted = s->buffer.granted,
	};
	struct stats_delay trip = { .known = false };

	if (s->series != NULL)
		series_delay(s->series, &trip);
	if (trip.known) {
		b.trip_known = true;
		b.trip_min_ns = trip.min_ns;
		b.trip_mean_ns = trip.mean_ns;
		b.trip_max_ns = trip.max_ns;
	}

	/* a client that is gone already needs none */
	(void)!send(s->fd, bytes, block_result_encode(bytes, &b, TCP_NONCE),
		    MSG_NOSIGNAL | MSG_DONTWAIT);
}
