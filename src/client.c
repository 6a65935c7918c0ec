#include "client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "platform/platform.h"
#include "report.h"
#include "tcp.h"
#include "udp.h"
#include "wire.h"

/* The main thread looks this often whether it shall stop. */
#define LOOK_NS (100 * CLOCK_MS_NS)
/* Who ends a command and its process group, as timeout(1) does, sends its
 * signal twice at once: that is one. */
#define SECOND_SIGNAL_NS (200 * CLOCK_MS_NS)
/* Streams begin together; a thread needs about this long to be ready. */
#define START_NS CLOCK_MS_NS
#define START_EACH_NS 30000
/* iperf 2 default for multicast */
#define MULTICAST_TTL 1

/* A stream and what its thread needs. */
struct run {
	struct stream *stream;
	struct report *report;
};

struct client {
	const struct options *o;
	const _Atomic int *stop;
	struct report *report;
	struct sock_addr peer;
	struct sock_addr source; /* with -B */
	bool has_source;
	size_t len_bytes;
	uint32_t streams;
	bool abandoned;   /* a second signal came */
	struct run *runs; /* as many as streams; without a stream from the
			     first that is not up yet */
};

static void *run_stream(void *arg)
{
	const struct run *run = arg;
	struct stream *s = run->stream;

	clock_sleep_until(atomic_load(&s->start_ns));
	if (s->udp) {
		udp_send(s);
		report_poke(run->report);
		udp_finish(s);
	} else {
		tcp_send(s);
		tcp_finish(s);
	}
	atomic_store(&s->closed, true);
	report_poke(run->report);
	return NULL;
}

/* Fails with a word about the host; the status of a connect that failed. */
static enum client_status connect_failed(const struct client *c, int rc)
{
	if (rc == -EINTR && atomic_load(c->stop) != 0)
		return CLIENT_INTERRUPTED;
	log_error("connect to %s port %u: %s", c->o->host, (unsigned)c->o->port,
		  strerror(-rc));
	return CLIENT_NO_PEER;
}

static enum client_status local_failed(const char *what, int rc)
{
	log_error("%s: %s", what, strerror(-rc));
	return CLIENT_FAILED;
}

/* A socket of this test for stream number i, bound but not connected. */
static enum client_status open_socket(const struct client *c, uint32_t i,
				      const struct sock_addr *peer, int *fd)
{
	char what[SOCK_WHAT_BYTES];
	struct sock_addr source = c->source;
	int rc = sock_open(peer, c->o, what);

	if (rc < 0)
		return local_failed(what, rc);
	*fd = rc;
	if (c->o->udp)
		(void)platform_tx_errors(*fd, peer->ss.ss_family);
	if (!c->has_source)
		return CLIENT_OK;
	if (c->o->bind_port > 0)
		sock_set_port(&source, (uint16_t)(c->o->bind_port + i));
	rc = sock_bind(*fd, &source, c->o->udp);
	if (rc == 0)
		return CLIENT_OK;
	log_error("-B: \"%s\": %s", c->o->bind, strerror(-rc));
	close(*fd);
	return CLIENT_FAILED;
}

static struct wire_client make_header(const struct client *c)
{
	const struct options *o = c->o;
	bool start = o->trip_times && c->len_bytes >= WIRE_UDP_START_BYTES;
	struct wire_client h = {
		.flags = wire_flags(o->udp, start),
		.threads = c->streams,
		.port = o->port,
		.buflen = (int32_t)o->len_bytes,
		.amount = wire_amount(o->time_ns, o->amount_bytes),
		.has_ext = true,
		.tos = o->tos,
		.rate_bps = o->rate.bps,
	};

	if (o->rate.pps > 0)
		h.rate_bps = o->rate.pps * 8 * c->len_bytes;
	h.omit_10ms = (uint16_t)(o->omit_ns / WIRE_TICK_NS);
	if (o->trip_times)
		h.upper |= WIRE_UPPER_TRIP_TIMES;
	if (start)
		h.start_ns = clock_wall_ns();
	wire_version(&h.version_u, &h.version_l);
	return h;
}

/* Spinning for true gaps is for fewer threads than there are CPUs. */
static bool may_spin(uint32_t streams)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 && streams < (unsigned long)cpus;
}

static void give_job(struct client *c, struct stream *s)
{
	const struct options *o = c->o;

	s->job = (struct stream_job){
		.time_ns = o->time_ns,
		.amount_bytes = o->amount_bytes,
		.rate = o->rate,
		.len_bytes = c->len_bytes,
		.len_asked = o->len_bytes > 0,
		.precise = may_spin(c->streams),
		.multicast = sock_is_multicast(&c->peer),
		.header = make_header(c),
	};
	s->omit_ns = o->omit_ns;
	s->asked_bps = s->job.header.rate_bps;
	s->expect_ns = o->amount_bytes > 0 ? 0 : o->time_ns;
	s->expect_bytes = o->amount_bytes;
	s->conn.client = true;
	if (o->udp)
		stream_buffer(s, o->window_bytes);
	else
		s->buffer.asked = o->window_bytes;
}

/* Stream number i over a connected socket, which it takes over. */
static enum client_status add_stream(struct client *c, uint32_t i, int fd,
				     int64_t connect_ns)
{
	/* number 0 needs room for the client header, whatever -l says */
	size_t room = c->len_bytes + WIRE_UDP_CLIENT_BYTES;
	struct stream *s = stream_new(fd, true, c->o->udp, false, room);

	if (s == NULL) {
		close(fd);
		return local_failed("stream", -ENOMEM);
	}
	c->runs[i] = (struct run){ .stream = s, .report = c->report };
	give_job(c, s);
	stream_name(s, &c->peer);
	s->conn.connect_ns = connect_ns;
	return CLIENT_OK;
}

static void banner(const struct client *c, int fd)
{
	const struct options *o = c->o;
	char cca[16] = "";
	struct out_banner b = {
		.udp = o->udp,
		.host = o->host,
		.port = o->port,
		.bind = o->bind,
		.len_bytes = c->len_bytes,
		.window_asked = o->window_bytes,
		.window_granted = sock_window(fd, true),
		.flows = c->streams,
		.pid = (uint32_t)getpid(),
		.wall_ns = clock_wall_ns(),
		.tos = o->tos,
		.nodelay = o->nodelay,
		.mss = o->mss_bytes,
		.rate_bps = o->rate.bps,
		.rate_pps = o->rate.pps,
		.time_ns = o->amount_bytes > 0 ? 0 : o->time_ns,
		.amount_bytes = o->amount_bytes,
		.interval_ns = o->interval_ns,
		.omit_ns = o->omit_ns,
	};

	if (sock_is_multicast(&c->peer))
		b.ttl = o->ttl > 0 ? o->ttl : MULTICAST_TTL;
	if (o->udp && o->rate.pps > 0)
		b.gap_ns = CLOCK_SECOND_NS / o->rate.pps;
	else if (o->udp && o->rate.bps > 0)
		b.gap_ns = (uint64_t)((double)c->len_bytes * 8e9 /
				      (double)o->rate.bps);
	if (!o->udp && platform_cca_get(fd, cca, sizeof(cca)) == 0)
		b.cca = cca;
	report_banner(c->report, &b);
}

/* The size of each write or datagram, by -l or by protocol and family. */
static size_t length(const struct client *c)
{
	if (c->o->len_bytes > 0)
		return c->o->len_bytes;
	if (!c->o->udp)
		return OPTIONS_TCP_LEN;
	return c->peer.ss.ss_family == AF_INET6 ? OPTIONS_UDP_LEN_V6
						: OPTIONS_UDP_LEN;
}

static enum client_status connect_stream(struct client *c, uint32_t i)
{
	int fd;
	enum client_status status = open_socket(c, i, &c->peer, &fd);

	if (status != CLIENT_OK)
		return status;
	if (i == 0)
		banner(c, fd);

	int64_t begun_ns = clock_ns();
	int rc = sock_connect(fd, &c->peer, c->o->udp, c->stop);

	if (rc < 0) {
		close(fd);
		return connect_failed(c, rc);
	}
	return add_stream(c, i, fd, c->o->udp ? 0 : clock_ns() - begun_ns);
}

/* A name is looked up for IPv4 unless it has IPv6 only or -V asks for that,
 * as iperf 2 does, whose servers listen on IPv4. */
static int resolve_host(struct client *c, const char **why)
{
	const struct options *o = c->o;
	int rc = sock_resolve_stop(o->host, o->port,
				   o->family != 0 ? o->family : 4, o->udp,
				   &c->peer, why, c->stop);

	if (rc == -ENOENT && o->family == 0)
		rc = sock_resolve_stop(o->host, o->port, 6, o->udp, &c->peer,
				       why, c->stop);
	return rc;
}

static enum client_status resolve(struct client *c)
{
	const struct options *o = c->o;
	const char *why = NULL;
	int rc = resolve_host(c, &why);

	if (rc == -EINTR)
		return CLIENT_INTERRUPTED;
	if (rc < 0) {
		log_error("-c: \"%s\": %s", o->host, why);
		return CLIENT_NO_PEER;
	}
	c->len_bytes = length(c);
	if (o->bind_host[0] == '\0' && o->bind_port == 0)
		return CLIENT_OK;

	int family = c->peer.ss.ss_family == AF_INET6 ? 6 : 4;

	rc = sock_resolve_stop(o->bind_host[0] != '\0' ? o->bind_host : NULL,
			       o->bind_port, family, o->udp, &c->source, &why,
			       c->stop);
	if (rc == -EINTR)
		return CLIENT_INTERRUPTED;
	if (rc < 0) {
		log_error("-B: \"%s\": %s", o->bind, why);
		return CLIENT_FAILED;
	}
	c->has_source = true;
	return CLIENT_OK;
}

static int start_stream(struct client *c, struct run *run, int64_t start_ns)
{
	struct stream *s = run->stream;
	int rc;

	atomic_store(&s->start_ns, start_ns);
	rc = report_add(c->report, s, "", c->streams);
	if (rc < 0)
		return rc;
	rc = stream_start(s, run_stream, run);
	if (rc < 0) {
		/* it is in the report: an empty, ended one */
		s->no_result = true;
		stream_ended(s, start_ns);
		atomic_store(&s->closed, true);
	}
	return rc;
}

/* All streams begin at the same moment, once each has its thread. */
static enum client_status start_streams(struct client *c)
{
	int64_t start_ns =
		clock_ns() + START_NS + (int64_t)c->streams * START_EACH_NS;

	for (uint32_t i = 0; i < c->streams; i++) {
		int rc = start_stream(c, &c->runs[i], start_ns);

		if (rc < 0)
			return local_failed("stream", rc);
	}
	return CLIENT_OK;
}

static void stop_streams(const struct client *c)
{
	for (uint32_t i = 0; i < c->streams; i++) {
		struct stream *s = c->runs[i].stream;

		if (s == NULL)
			return;
		s->interrupted = true;
		stream_stop(s);
	}
}

/* A second signal: no stream waits for anything any more. */
static void abandon_streams(struct client *c)
{
	c->abandoned = true;
	for (uint32_t i = 0; i < c->streams; i++)
		atomic_store(&c->runs[i].stream->abandon, true);
}

/* Reports until every stream is closed. */
static void follow(struct client *c)
{
	int64_t stopped_ns = 0;
	int seen = 0; /* signals */

	while (report_streams(c->report) > 0) {
		int64_t now_ns = clock_ns();
		int64_t due_ns = report_tick(c->report, now_ns);
		int stops = atomic_load(c->stop);

		if (stops > 0 && stopped_ns == 0) {
			stopped_ns = now_ns;
			stop_streams(c);
		}
		if (stops > seen && now_ns - stopped_ns >= SECOND_SIGNAL_NS)
			abandon_streams(c);
		seen = stops;
		if (due_ns > now_ns + LOOK_NS)
			due_ns = now_ns + LOOK_NS;
		report_wait(c->report, due_ns);
	}
}

/* How a stream's test ended. */
static enum client_status stream_status(const struct stream *s)
{
	if (s->refusal.why != POLICY_NONE)
		return s->refusal.running ? CLIENT_PEER_GONE : CLIENT_NO_PEER;
	if (s->no_result || s->unreachable)
		return CLIENT_NO_PEER;
	if (s->error == -EMSGSIZE)
		return CLIENT_FAILED;
	if (s->error != 0)
		return CLIENT_PEER_GONE;
	if (s->udp && !s->has_report && !s->job.multicast && s->numbers > 0)
		return CLIENT_NO_REPORT;
	if (!s->udp && !s->confirmed)
		return CLIENT_NO_REPORT;
	return CLIENT_OK;
}

/* 1 is the worst, then 2, 3, 4; 0 is none. */
static bool is_worse(enum client_status a, enum client_status b)
{
	return a != CLIENT_OK && (b == CLIENT_OK || a < b);
}

static void explain(const struct client *c, const struct stream *s,
		    enum client_status status)
{
	const char *host = c->o->host;
	unsigned port = c->o->port;

	if (s->refusal.why != POLICY_NONE) {
		char why[POLICY_TEXT_BYTES];

		policy_text(&s->refusal, why);
		log_error("%s port %u %s the test: %s", host, port,
			  s->refusal.running ? "ended" : "refused", why);
		return;
	}
	switch (status) {
	case CLIENT_NO_PEER:
		log_error("connect to %s port %u: %s", host, port,
			  strerror(-s->error));
		break;
	case CLIENT_FAILED:
		log_error("-l: %zu bytes: %s", s->job.len_bytes,
			  strerror(-s->error));
		break;
	case CLIENT_PEER_GONE:
		log_error("%s port %u went away during the test: %s", host,
			  port, strerror(-s->error));
		break;
	case CLIENT_NO_REPORT:
		if (s->udp)
			log_error("%s port %u sent no report: %" PRIu64
				  " datagrams sent, none confirmed",
				  host, port, s->numbers);
		else
			log_error("%s port %u did not confirm the end: %" PRIu64
				  " bytes sent, %" PRIu64 " not acknowledged",
				  host, port, counter_get(&s->io.bytes),
				  s->unconfirmed);
		break;
	case CLIENT_OK:
	case CLIENT_INTERRUPTED:
		break;
	}
}

/* The worst stream decides, and is explained. */
static enum client_status verdict(const struct client *c)
{
	const struct stream *worst = NULL;
	enum client_status status = CLIENT_OK;

	for (uint32_t i = 0; i < c->streams; i++) {
		enum client_status one = stream_status(c->runs[i].stream);

		if (is_worse(one, status)) {
			status = one;
			worst = c->runs[i].stream;
		}
	}
	/* -t 0 ends that way */
	if (c->abandoned || (atomic_load(c->stop) != 0 &&
			     (c->o->time_ns > 0 || c->o->amount_bytes > 0)))
		return CLIENT_INTERRUPTED;
	if (worst != NULL)
		explain(c, worst, status);
	return status;
}

static enum client_status run(struct client *c)
{
	enum client_status status = resolve(c);

	for (uint32_t i = 0; i < c->streams && status == CLIENT_OK; i++)
		status = connect_stream(c, i);
	if (status != CLIENT_OK)
		return status;

	enum client_status started = start_streams(c);

	if (started != CLIENT_OK)
		stop_streams(c);
	follow(c);
	for (uint32_t i = 0; i < c->streams; i++)
		stream_join(c->runs[i].stream);
	return started != CLIENT_OK ? started : verdict(c);
}

enum client_status client_run(const struct options *o, struct out *outs,
			      size_t n_outs, const _Atomic int *stop)
{
	struct client c = {
		.o = o,
		.stop = stop,
		.streams = o->parallel > 0 ? o->parallel : 1,
	};
	enum client_status status = CLIENT_FAILED;

	c.runs = calloc(c.streams, sizeof(*c.runs));
	c.report = report_new(o, outs, n_outs);
	if (c.runs == NULL || c.report == NULL)
		log_error("no memory for %u streams", (unsigned)c.streams);
	else
		status = run(&c);
	for (uint32_t i = 0; c.runs != NULL && i < c.streams; i++)
		stream_free(c.runs[i].stream);
	free(c.runs);
	report_free(c.report);
	return status;
}
