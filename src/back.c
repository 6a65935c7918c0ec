#include "back.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "platform/platform.h"

struct back {
	struct stream *stream;
	struct report *report;
	atomic_bool ended;
};

static void *run(void *arg)
{
	struct back *b = arg;
	struct stream *s = b->stream;

	udp_send(s);
	report_poke(b->report);
	udp_finish(s);
	atomic_store(&s->closed, true);
	atomic_store(&b->ended, true);
	report_poke(b->report);
	return NULL;
}

/* The size of its datagrams: what the client asks for, within what fits. */
static size_t length(const struct back_job *job)
{
	int32_t asked = job->header->buflen;

	if (asked >= OPTIONS_UDP_LEN_MIN && asked <= OPTIONS_UDP_LEN_MAX)
		return (size_t)asked;
	return job->from->from.ss.ss_family == AF_INET6 ? OPTIONS_UDP_LEN_V6
							: OPTIONS_UDP_LEN;
}

/* Our own header tells a client of ours who we are. */
static struct wire_client make_header(const struct back_job *job)
{
	struct wire_client h = {
		.flags = wire_flags(true, false),
		.threads = job->header->threads,
		.amount = job->header->amount,
		.has_ext = true,
		.rate_bps = job->header->rate_bps,
		.omit_10ms = job->ours ? job->header->omit_10ms : 0,
	};

	wire_version(&h.version_u, &h.version_l);
	return h;
}

static void give_job(struct stream *s, const struct back_job *job)
{
	const struct wire_client *h = job->header;

	s->job = (struct stream_job){
		.len_bytes = length(job),
		.precise = job->precise,
		.plain = !job->ours,
		.wished = !job->ours,
		.shared = !job->connects,
		.layout =
			job->layout == WIRE_LEGACY ? WIRE_LEGACY : WIRE_MODERN,
		.header = make_header(job),
	};
	/* 2.0.x has it where later versions have a window */
	if (h->has_ext)
		s->job.rate.bps = h->rate_bps;
	else if (h->winband > 0)
		s->job.rate.bps = (uint64_t)h->winband;
	if (h->amount > 0)
		s->job.amount_bytes = (uint64_t)h->amount;
	else
		s->job.time_ns = -(int64_t)h->amount * WIRE_TICK_NS;
	if (h->amount <= 0 &&
	    (s->job.time_ns == 0 || s->job.time_ns > BACK_MAX_NS))
		s->job.time_ns = BACK_MAX_NS;
	s->asked_bps = s->job.rate.bps;
	s->peer_is_ours = job->ours;
	s->omit_ns = s->job.header.omit_10ms * WIRE_TICK_NS;
	s->expect_ns = s->job.time_ns;
	s->expect_bytes = s->job.amount_bytes;
	s->conn.mode = job->mode;
	s->conn.client = job->connects;
}

/* A socket connected to the client's own port. */
static int connected(const struct back_job *job, const struct options *o)
{
	struct sock_addr to = job->from->from;
	char what[SOCK_WHAT_BYTES];
	_Atomic int no = 0;
	int fd;
	int rc;

	if (job->header->port == 0 || job->header->port > UINT16_MAX)
		return -EINVAL;
	sock_set_port(&to, (uint16_t)job->header->port);
	fd = sock_open(&to, o, what);
	if (fd < 0)
		return fd;
	(void)platform_tx_errors(fd, to.ss.ss_family);
	rc = sock_connect(fd, &to, true, &no);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Names its ends; the server's own socket is bound to any address. */
static void name(struct stream *s, const struct back_job *job)
{
	if (job->connects) {
		stream_name(s, NULL);
		return;
	}
	stream_name(s, &job->from->from);
	s->way = (struct stream_way){ .given = true,
				      .to = job->from->from,
				      .from = job->from->to,
				      .has_from = job->from->has_to };
	if (s->way.has_from) {
		struct sock_addr from = { .ss = s->way.from,
					  .len = s->way.to.len };

		sock_text(&from, s->conn.local, sizeof(s->conn.local), NULL);
	}
}

static struct stream *new_stream(const struct back_job *job,
				 const struct options *o, int *why)
{
	int fd = job->connects ? connected(job, o) : job->fd;
	struct stream *s;

	if (fd < 0) {
		*why = fd;
		return NULL;
	}
	s = stream_new(fd, job->connects, true, false,
		       length(job) + WIRE_UDP_CLIENT_BYTES);
	*why = -ENOMEM;
	if (s == NULL && job->connects)
		close(fd);
	if (s == NULL)
		return NULL;
	give_job(s, job);
	name(s, job);
	return s;
}

struct back *back_start(const struct back_job *job, const struct options *o,
			struct report *r, int *why)
{
	char key[OUT_ADDR_BYTES + 2];
	struct back *b = calloc(1, sizeof(*b));

	*why = -ENOMEM;
	if (b == NULL)
		return NULL;
	b->report = r;
	b->stream = new_stream(job, o, why);
	if (b->stream == NULL) {
		free(b);
		return NULL;
	}
	snprintf(key, sizeof(key), ">%s", b->stream->conn.peer);
	atomic_store(&b->stream->start_ns, clock_ns());
	if (report_add(r, b->stream, key, wire_streams(job->header)) < 0) {
		stream_free(b->stream);
		free(b);
		return NULL;
	}
	*why = stream_start(b->stream, run, b);
	if (*why == 0)
		return b;
	/* it is in the report: an empty one that has ended */
	b->stream->no_result = true;
	stream_ended(b->stream, clock_ns());
	atomic_store(&b->stream->closed, true);
	atomic_store(&b->ended, true);
	return b;
}

void back_stop(struct back *b)
{
	atomic_store(&b->stream->abandon, true);
	stream_stop(b->stream);
}

bool back_ended(const struct back *b)
{
	return atomic_load(&b->ended);
}

bool back_over(const struct back *b)
{
	return back_ended(b) && atomic_load(&b->stream->reported);
}

void back_join(struct back *b)
{
	stream_join(b->stream);
}

void back_free(struct back *b)
{
	stream_join(b->stream);
	stream_free(b->stream);
	free(b);
}
