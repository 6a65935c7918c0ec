#include "bounce.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "platform/platform.h"

/* A wait looks this often whether it is still wanted. */
#define LOOK_NS (100 * CLOCK_MS_NS)
/* A client that sends nothing for so long, or four of its gaps, has gone. */
#define IDLE_NS (60 * CLOCK_SECOND_NS)
#define NSEC_PER_USEC 1000

/* Is there time to go on?  A client is awaited as long as it may pause. */
static bool patient(const struct stream *s, int64_t until_ns)
{
	return !atomic_load_explicit(&s->stop, memory_order_relaxed) &&
	       clock_ns() < until_ns;
}

/* Writes bytes of the buffer, over and over; 0 or -errno. */
static int write_all(struct stream *s, size_t bytes, int64_t until_ns)
{
	size_t done = 0;

	while (done < bytes) {
		size_t at = done % s->buf_bytes;
		size_t want = bytes - done < s->buf_bytes - at
				      ? bytes - done
				      : s->buf_bytes - at;
		ssize_t n = send(s->fd, s->buf + at, want, MSG_NOSIGNAL);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
			 errno != EINTR)
			return -errno;
		else if (!patient(s, until_ns))
			return -ETIMEDOUT;
	}
	counter_add(&s->io.bytes, bytes);
	return 0;
}

/* Reads what is missing of bytes, of which the buffer keeps the first; how much
 * there is then: less where the peer has ended, -errno. */
static ssize_t read_all(struct stream *s, size_t have, size_t bytes,
			int64_t until_ns)
{
	while (have < bytes) {
		/* what does not fit is not looked at */
		size_t at = have < s->buf_bytes ? have : WIRE_BOUNCE_BYTES;
		size_t want = bytes - have < s->buf_bytes - at
				      ? bytes - have
				      : s->buf_bytes - at;
		ssize_t n;

		if (s->job.bounce.quickack)
			(void)platform_quickack(s->fd);
		n = recv(s->fd, s->buf + at, want, 0);
		if (n == 0)
			break;
		if (n > 0)
			have += (size_t)n;
		else if (errno != EAGAIN && errno != EWOULDBLOCK &&
			 errno != EINTR)
			return -errno;
		else if (!patient(s, until_ns))
			return -ETIMEDOUT;
	}
	return (ssize_t)have;
}

/* --- the client ----------------------------------------------------------- */

/* What came is no reply: a server of ours may have refused the test. */
static int no_reply(struct stream *s, ssize_t got)
{
	if (got < 0)
		return (int)got;
	s->answer_bytes = (size_t)got < sizeof(s->answer) ? (size_t)got
							  : sizeof(s->answer);
	memcpy(s->answer, s->buf, s->answer_bytes);
	return -ECONNRESET;
}

/* One request and its reply. */
static int bounce_once(struct stream *s, uint32_t id, int64_t until_ns)
{
	const struct stream_bounce *b = &s->job.bounce;
	struct wire_bounce m = { .bytes = b->request_bytes,
				 .reply_bytes = b->reply_bytes,
				 .id = id,
				 .hold_us = b->hold_us,
				 .quickack = b->quickack,
				 .sent_ns = clock_wall_ns() };
	int64_t sent_ns;
	ssize_t got;
	int rc;

	wire_bounce_encode(s->buf, &m);
	sent_ns = clock_ns();
	rc = write_all(s, b->request_bytes, until_ns);
	if (rc < 0)
		return rc;
	got = read_all(s, 0, b->reply_bytes, until_ns);
	if (got != (ssize_t)b->reply_bytes ||
	    wire_bounce_decode(s->buf, (size_t)got, &m) < 0)
		return no_reply(s, got);
	series_add(s->series, clock_ns() - sent_ns);
	counter_add(&s->io.bytes, (uint64_t)got);
	counter_add(&s->io.calls, 1);
	return 0;
}

/* Waits for due_ns; false: the test is over before. */
static bool await_burst(const struct stream *s, int64_t due_ns, int64_t end_ns)
{
	for (int64_t now_ns = clock_ns(); now_ns < due_ns && now_ns < end_ns;
	     now_ns = clock_ns()) {
		if (atomic_load(&s->stop))
			return false;
		if (due_ns - now_ns > LOOK_NS)
			clock_sleep_until(end_ns < now_ns + LOOK_NS
						  ? end_ns
						  : now_ns + LOOK_NS);
		else
			(void)clock_wait_until(due_ns < end_ns ? due_ns
							       : end_ns,
					       s->job.precise);
	}
	return clock_ns() < end_ns && !atomic_load(&s->stop);
}

void bounce_send(struct stream *s)
{
	const struct stream_bounce *b = &s->job.bounce;
	int64_t start_ns = atomic_load(&s->start_ns);
	int64_t end_ns =
		s->job.time_ns > 0 ? start_ns + s->job.time_ns : INT64_MAX;
	int64_t until_ns = end_ns == INT64_MAX ? INT64_MAX
					       : end_ns + BOUNCE_WAIT_NS +
							 (int64_t)b->hold_us *
								 NSEC_PER_USEC;
	struct out_cpu begun;
	int rc = 0;

	stream_cpu_begin(&begun);
	(void)sock_receive_limit(s->fd, LOOK_NS);
	(void)sock_send_limit(s->fd, LOOK_NS);
	for (uint32_t id = 1; rc == 0; id++) {
		int64_t due_ns = start_ns + (int64_t)(id - 1) * b->period_ns;

		if (!await_burst(s, due_ns, end_ns))
			break;
		stream_sample(s);
		for (uint32_t i = 0;
		     i < b->count && rc == 0 && clock_ns() < end_ns; i++)
			rc = bounce_once(s, id, until_ns);
	}
	stream_cpu_end(&s->cpu, &begun);
	stream_buffer(s, s->buffer.asked);
	if (rc == 0)
		return;
	s->unanswered = 1;
	/* a stop can fall between a request and its reply */
	if (!atomic_load(&s->stop))
		s->error = rc;
}

/* --- the server ----------------------------------------------------------- */

/* How long a client may be silent. */
struct silence {
	int64_t last_ns;
	int64_t longest_ns;
};

static int64_t limit_of(const struct silence *q)
{
	int64_t gaps_ns = 4 * q->longest_ns;

	return q->last_ns + (gaps_ns > IDLE_NS ? gaps_ns : IDLE_NS);
}

static void heard(struct silence *q, int64_t now_ns)
{
	if (now_ns - q->last_ns > q->longest_ns)
		q->longest_ns = now_ns - q->last_ns;
	q->last_ns = now_ns;
}

/* Can this be served?  Who asks for more is no client of a test. */
static bool is_sane(const struct wire_bounce *m,
		    const struct wire_bounce *first)
{
	return m->bytes == first->bytes && m->bytes <= WIRE_BOUNCE_MAX &&
	       m->reply_bytes >= WIRE_BOUNCE_BYTES - 12 &&
	       m->reply_bytes <= WIRE_BOUNCE_MAX;
}

/* Waits as the client wishes, up to a bound. */
static void hold(const struct stream *s, uint32_t hold_us)
{
	int64_t due_ns = clock_ns() + (int64_t)hold_us * NSEC_PER_USEC;
	int64_t most_ns = clock_ns() + 10 * CLOCK_SECOND_NS;

	if (due_ns > most_ns)
		due_ns = most_ns;
	for (int64_t now_ns = clock_ns();
	     now_ns < due_ns && !atomic_load(&s->stop); now_ns = clock_ns())
		clock_sleep_until(due_ns < now_ns + LOOK_NS ? due_ns
							    : now_ns + LOOK_NS);
}

/* Reads one request and replies; false: it was the last. */
static bool reply_once(struct stream *s, size_t have, struct wire_bounce *first,
		       struct silence *q)
{
	struct wire_bounce m = *first;
	ssize_t got = read_all(s, have, first->bytes, limit_of(q));
	int64_t received_ns = clock_wall_ns();
	int rc;

	if (got < (ssize_t)first->bytes) {
		if (got >= 0) /* its end, which is that of its time */
			q->last_ns = clock_ns();
		s->error = got < 0 && !atomic_load(&s->stop) ? (int)got : 0;
		return false;
	}
	heard(q, clock_ns());
	counter_add(&s->io.bytes, (uint64_t)got);
	counter_add(&s->io.calls, 1);
	if (wire_bounce_decode(s->buf, (size_t)got, &m) < 0 ||
	    !is_sane(&m, first)) {
		s->error = -EPROTO;
		return false;
	}
	if (m.hold_us > 0)
		hold(s, m.hold_us);
	wire_bounce_reply(s->buf, received_ns, clock_wall_ns());
	rc = write_all(s, m.reply_bytes, limit_of(q));
	q->last_ns = clock_ns();
	if (rc < 0 && !atomic_load(&s->stop))
		s->error = rc;
	return rc == 0;
}

void bounce_reply(struct stream *s, size_t have)
{
	struct wire_bounce first;
	struct silence q = { .last_ns = clock_ns() };
	struct out_cpu begun;

	stream_cpu_begin(&begun);
	(void)sock_receive_limit(s->fd, LOOK_NS);
	(void)sock_send_limit(s->fd, LOOK_NS);
	if (wire_bounce_decode(s->buf, have, &first) == 0 &&
	    is_sane(&first, &first)) {
		s->job.bounce.quickack = first.quickack;
		while (reply_once(s, have, &first, &q))
			have = 0;
	} else {
		s->error = -EPROTO;
	}
	if (s->error == -ETIMEDOUT)
		stream_note(s, "ended: nothing came for %.0f s",
			    (double)(clock_ns() - q.last_ns) / 1e9);
	else if (s->error == -EPROTO)
		stream_note(s, "ended: a request that can't be served");
	if (atomic_load(&s->cut))
		stream_note_cut(s);
	stream_cpu_end(&s->cpu, &begun);
	stream_buffer(s, s->buffer.asked);
	stream_ended(s, q.last_ns);
}
