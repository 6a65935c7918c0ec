#include "client.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounce.h"
#include "clock.h"
#include "connects.h"
#include "log.h"
#include "plan.h"
#include "platform/platform.h"
#include "report.h"
#include "server_tcp.h"
#include "server_udp.h"
#include "tcp.h"
#include "udp.h"
#include "wire.h"

/* The main thread looks this often whether it shall stop. */
#define LOOK_NS (100 * CLOCK_MS_NS)
/* So too where the server may connect. */
#define LOOK_BACK_NS (10 * CLOCK_MS_NS)
/* Who ends a command and its process group, as timeout(1) does, sends its
 * signal twice at once: that is one. */
#define SECOND_SIGNAL_NS (200 * CLOCK_MS_NS)
/* Streams begin together; a thread needs about this long to be ready. */
#define START_NS CLOCK_MS_NS
#define START_EACH_NS 30000
/* What the server sends may last so much longer than asked, and begin so much
 * later (iperf 2: 2 s, and 3 s behind the other direction). */
#define BEYOND_NS (2 * CLOCK_SECOND_NS)
#define BEGIN_NS (5 * CLOCK_SECOND_NS)
#define BACK_NS (3 * CLOCK_SECOND_NS)
/* One that ends so much sooner than asked was broken off. */
#define EARLY_NS (CLOCK_SECOND_NS / 2)
/* A server that is to send over UDP is asked so often, at first and later. */
#define ASK_NS (20 * CLOCK_MS_NS)
#define ASK_MAX_NS (100 * CLOCK_MS_NS)
/* iperf 2 default for multicast */
#define MULTICAST_TTL 1

/* A test that begins at a given time connects so much sooner. */
#define AHEAD_NS CLOCK_SECOND_NS
/* iperf 2 default: a later one is a mistake */
#define AHEAD_MAX_NS (3600 * CLOCK_SECOND_NS)

/* A stream and what its thread needs. */
struct run {
	struct stream *stream;
	struct report *report;
	pthread_mutex_t *gate;
	int64_t begin_ns;
	bool load;     /* of --working-load: it is in no sum */
	bool asks;     /* receives, and has to ask the server for it */
	bool given_up; /* its thread does nothing */
};

/* A UDP socket that the server sends to, and who receives there. */
struct inbound {
	struct server_udp *udp;
	int fd;
	bool owns_fd;
	struct stream *shares; /* sends from the socket, NULL: none does */
	bool stopped;
	bool asks;       /* the server has to be asked */
	int64_t ask_ns;  /* when next */
	int64_t step_ns; /* how long after the last */
};

struct client {
	const struct options *o;
	const _Atomic int *stop;
	struct report *report;
	struct sock_addr peers[SOCK_NAMES_MAX]; /* all its addresses */
	size_t n_peers;
	size_t at_peer;          /* which of these peer is */
	bool looked_v6;          /* they are those of IPv6 */
	struct sock_addr peer;   /* the one that it has */
	struct sock_addr source; /* with -B */
	bool has_source;
	size_t len_bytes;
	struct plan plan;
	uint32_t streams;      /* connections that we make */
	bool abandoned;        /* a second signal came */
	bool shown;            /* the banner */
	bool loading;          /* the streams of --working-load are made */
	int64_t start_ns;      /* --txstart-time, 0: at once */
	int64_t time_ns;       /* -t, 0: until the input ends */
	uint64_t amount_bytes; /* -n, or what the file has; 0: by time */
	bool short_of;         /* something ran out: fewer streams than asked */
	pthread_mutex_t gate;  /* held until all streams have their threads */
	struct run *runs;      /* without a stream from the first that is not up
				  yet */
	uint32_t n_runs;
	uint32_t made;           /* runs with those that were given up again */
	int back_fd;             /* listens with -d and -r, TCP */
	struct server_tcp *back; /* receives there */
	struct inbound *inbound; /* UDP */
	uint32_t n_inbound;
	int64_t begin_ns; /* when the streams began */
	uint8_t *request; /* to be sent to */
	size_t request_bytes;
};

/* Waits for the begin, which may be seconds away; false: it was stopped. */
static bool await_begin(const struct run *run)
{
	for (int64_t now_ns = clock_ns(); now_ns < run->begin_ns;
	     now_ns = clock_ns()) {
		if (atomic_load(&run->stream->stop))
			return false;
		clock_sleep_until(run->begin_ns - now_ns > LOOK_NS
					  ? now_ns + LOOK_NS
					  : run->begin_ns);
	}
	return true;
}

static void *run_stream(void *arg)
{
	const struct run *run = arg;
	struct stream *s = run->stream;

	pthread_mutex_lock(run->gate);
	pthread_mutex_unlock(run->gate);
	if (run->given_up)
		return NULL;
	(void)await_begin(run);
	if (s->receiver) {
		if (run->asks && !s->asked)
			tcp_ask(s);
		tcp_receive(s);
	} else if (s->udp) {
		udp_send(s);
		report_poke(run->report);
		udp_finish(s);
	} else {
		if (s->series != NULL)
			bounce_send(s);
		else
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
	if (atomic_load(c->stop) != 0)
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

/* There is room for n of the wanted streams; these go on. */
static void no_room(struct client *c, uint32_t n, uint32_t wanted,
		    const char *what, int rc)
{
	log_error("no %s for more than %u of %u streams: %s", what, (unsigned)n,
		  (unsigned)wanted, strerror(-rc));
	c->short_of = true;
}

/* A socket of this test for stream number i, bound but not connected. */
static enum client_status open_socket(struct client *c, uint32_t i,
				      const struct sock_addr *peer, int *fd)
{
	char what[SOCK_WHAT_BYTES];
	struct sock_addr source = c->source;
	int rc = sock_open(peer, c->o, what);

	if (rc == -EMFILE || rc == -ENFILE || rc == -ENOBUFS || rc == -ENOMEM) {
		no_room(c, i, c->streams, what, rc);
		return CLIENT_FAILED;
	}
	if (rc < 0)
		return local_failed(what, rc);
	*fd = rc;
	if (c->o->udp)
		(void)platform_tx_errors(*fd, peer->ss.ss_family);
	if (!c->has_source)
		return CLIENT_OK;
	if (c->o->from.port > 0)
		sock_set_port(&source, (uint16_t)(c->o->from.port + i));
	rc = sock_bind(*fd, &source, c->o->udp);
	if (rc == 0)
		return CLIENT_OK;
	log_error("-B: \"%s\": %s", c->o->bind, strerror(-rc));
	close(*fd);
	return CLIENT_FAILED;
}

/* What the server is asked to send. */
static void add_mode(const struct client *c, struct wire_client *h)
{
	const struct plan *p = &c->plan;

	if (p->reverse) {
		h->flags |= WIRE_V2 | (c->o->udp ? WIRE_UDPT : 0);
		h->upper |= p->forward ? WIRE_UPPER_FULL_DUPLEX
				       : WIRE_UPPER_REVERSE;
		/* both directions have the socket: no report finds its way */
		if (c->o->udp && p->forward)
			h->upper |= WIRE_UPPER_NO_FIN;
	}
	if (p->back == PLAN_NO_BACK)
		return;
	h->port = c->o->listen_port;
	h->flags |= WIRE_V1 | (p->back == PLAN_BACK_NOW ? WIRE_NOW : 0);
}

/* The rate stands where later versions have it in the extension. */
static void make_legacy(const struct client *c, struct wire_client *h)
{
	h->has_ext = false;
	h->flags &= WIRE_V1 | WIRE_NOW;
	if (c->o->udp)
		h->winband = h->rate_bps < INT32_MAX ? (int32_t)h->rate_bps
						     : INT32_MAX;
}

static struct wire_client make_header(const struct client *c)
{
	const struct options *o = c->o;
	bool start = o->trip_times &&
		     (!o->udp || c->len_bytes >= WIRE_UDP_START_BYTES);
	struct wire_client h = {
		.flags = wire_flags(o->udp, start),
		.threads = c->streams,
		.port = o->port,
		.buflen = (int32_t)o->len_bytes,
		.amount = wire_amount(c->time_ns, c->amount_bytes),
		.has_ext = true,
		.tos = o->tos,
		.rate_bps = o->rate.bps,
	};

	if (o->rate.pps > 0)
		h.rate_bps = o->rate.pps * 8 * c->len_bytes;
	if (o->frames_per_1000s > 0)
		h.rate_bps = o->frames_bps;
	h.omit_10ms = (uint16_t)(o->omit_ns / WIRE_TICK_NS);
	if (o->trip_times)
		h.upper |= WIRE_UPPER_TRIP_TIMES;
	if (o->no_fin)
		h.upper |= WIRE_UPPER_NO_FIN;
	if (start)
		h.start_ns = clock_wall_ns();
	if (o->peer_detect)
		h.flags |= WIRE_V2 | WIRE_ACKREQ;
	add_mode(c, &h);
	if (!o->udp)
		h.key = o->permit_key;
	wire_version(&h.version_u, &h.version_l);
	if (o->peer_version == OPTIONS_PEER_2_0)
		make_legacy(c, &h);
	return h;
}

static struct burst_shape shape_of(const struct options *o)
{
	uint64_t per = o->frames_per_1000s;

	if (o->burst_bytes > 0)
		return (struct burst_shape){
			.per_1000s = (uint64_t)(1000 * CLOCK_SECOND_NS /
						o->burst_ns),
			.mean_bytes = o->burst_bytes,
		};
	return (struct burst_shape){
		.per_1000s = per,
		.mean_bytes = per > 0 ? o->frames_bps / 8 * 1000 / per : 0,
		.stdev_bytes =
			per > 0 ? o->frames_stdev_bps / 8 * 1000 / per : 0,
	};
}

static void give_job(struct client *c, struct stream *s)
{
	const struct options *o = c->o;

	s->job = (struct stream_job){
		.time_ns = c->time_ns,
		.amount_bytes = c->amount_bytes,
		.rate = o->rate,
		.len_bytes = c->len_bytes,
		.len_asked = o->len_bytes > 0,
		.precise = clock_may_spin(c->streams),
		.multicast = sock_is_multicast(&c->peer),
		.no_fin = o->no_fin,
		.records = o->trip_times && !o->udp,
		.near_ppm = o->near_ppm,
		.plain = o->compat,
		.layout = o->peer_version == OPTIONS_PEER_2_0 ? WIRE_LEGACY
							      : WIRE_MODERN,
		.header = make_header(c),
	};
	s->job.burst = shape_of(o);
	if (s->job.burst.per_1000s > 0)
		(void)platform_secret(&s->job.seed, sizeof(s->job.seed));
	if (o->bounces > 0 && !c->loading)
		s->job.bounce = (struct stream_bounce){
			.count = o->bounces,
			.period_ns = o->bounce_period_ns,
			.hold_us = (uint32_t)(o->bounce_hold_ns / 1000),
			.request_bytes = o->bounce_request_bytes,
			.reply_bytes = o->bounce_reply_bytes,
			.quickack = !o->bounce_no_quickack,
		};
	s->omit_ns = o->omit_ns;
	s->at_once = options_at_once(o);
	s->asked_bps = s->job.header.rate_bps;
	s->expect_ns = c->amount_bytes > 0 ? 0 : c->time_ns;
	s->expect_bytes = c->amount_bytes;
	s->conn.client = true;
	if (o->udp)
		stream_buffer(s, o->window_bytes);
	else
		s->buffer.asked = o->window_bytes;
}

static bool has_input(const struct options *o)
{
	return o->file != NULL || o->from_stdin;
}

static const char *input_option(const struct options *o)
{
	return o->file != NULL ? "-F" : "-I";
}

static const char *input_name(const struct options *o)
{
	return o->file != NULL ? o->file : "standard input";
}

/* With -F and -I: opens what is sent, for a stream or just to look at it. */
static enum client_status open_input(const struct client *c, struct input **in,
				     uint64_t *left)
{
	const struct options *o = c->o;
	int rc;

	*in = input_open(o->file, c->len_bytes + WIRE_UDP_CLIENT_BYTES, left,
			 &rc);
	if (*in != NULL)
		return CLIENT_OK;
	if (rc == -ENODATA)
		log_error("%s: \"%s\" is empty: there is nothing to send",
			  input_option(o), input_name(o));
	else
		log_error("%s: \"%s\": %s", input_option(o), input_name(o),
			  strerror(-rc));
	return CLIENT_FAILED;
}

/* How long the test is: with -F and -I as long as the input, unless -t or -n
 * end it before. */
static enum client_status plan_length(struct client *c)
{
	const struct options *o = c->o;
	struct input *in;
	uint64_t left;

	c->time_ns = o->time_ns;
	c->amount_bytes = o->amount_bytes;
	if (!has_input(o))
		return CLIENT_OK;
	if (open_input(c, &in, &left) != CLIENT_OK)
		return CLIENT_FAILED;
	input_close(in);
	if (o->udp && left < WIRE_UDP_BYTES) {
		log_error("%s: \"%s\" holds %" PRIu64 " bytes: %d at least "
			  "with UDP",
			  input_option(o), input_name(o), left, WIRE_UDP_BYTES);
		return CLIENT_FAILED;
	}
	if (!o->time_set)
		c->time_ns = 0;
	if (o->amount_bytes > left ||
	    (o->amount_bytes == 0 && !o->time_set && left < UINT64_MAX))
		c->amount_bytes = left;
	return CLIENT_OK;
}

/* One direction of a connected socket. */
static struct stream *new_stream(struct client *c, int fd, bool owns_fd,
				 bool receives)
{
	/* number 0 needs room for the client header, whatever -l says */
	size_t room = c->len_bytes + WIRE_UDP_CLIENT_BYTES;
	uint64_t left;
	struct stream *s =
		stream_new(fd, owns_fd, c->o->udp, receives,
			   room > OPTIONS_TCP_LEN || c->o->udp || !receives
				   ? room
				   : OPTIONS_TCP_LEN);

	if (s != NULL && c->o->bounces > 0 && !c->loading &&
	    stream_series(s) < 0) {
		s->owns_fd = false; /* as if it had never been */
		stream_free(s);
		s = NULL;
	}
	if (s != NULL && has_input(c->o) && !receives &&
	    open_input(c, &s->input, &left) != CLIENT_OK) {
		s->owns_fd = false;
		stream_free(s);
		s = NULL;
	}
	if (s == NULL)
		return NULL;
	c->made = c->n_runs + 1;
	c->runs[c->n_runs++] = (struct run){
		.stream = s,
		.report = c->report,
		.gate = &c->gate,
		.asks = receives && !c->plan.forward,
		.load = c->loading,
	};
	give_job(c, s);
	s->job.shared = c->plan.forward && c->plan.reverse;
	if (receives) {
		s->longest_ns = s->expect_ns > 0 ? s->expect_ns + BEYOND_NS : 0;
		s->first_wait_ns = s->expect_ns + BEGIN_NS;
	}
	stream_name(s, &c->peer);
	if (c->loading)
		s->conn.mode =
			receives ? "working-load, reverse" : "working-load";
	else if (c->plan.reverse)
		s->conn.mode = receives ? "reverse" : plan_name(&c->plan);
	s->conn.reverse = receives;
	return s;
}

/* How many streams of ours a connection has: what comes over UDP has others. */
static unsigned streams_each(const struct client *c)
{
	return c->o->udp ? c->plan.forward : plan_streams(&c->plan);
}

/* What the server sends to the socket is received there. */
static enum client_status add_inbound(struct client *c, int fd, bool owns_fd,
				      bool quiet)
{
	struct inbound *in = &c->inbound[c->n_inbound];
	const struct server_udp_only only = {
		.peer = c->peer,
		.streams = c->streams,
		.quiet = quiet,
		.mode = c->plan.reverse ? "reverse" : NULL,
	};

	if (c->o->window_bytes == 0)
		sock_raise_receive(fd, SOCK_RECEIVE_BYTES);
	*in = (struct inbound){
		.fd = fd,
		.owns_fd = owns_fd,
		.asks = quiet && !c->plan.forward,
		.step_ns = ASK_NS,
		.udp = server_udp_start(fd, &c->peer, c->o, c->report, &only),
	};
	if (in->udp == NULL) {
		if (owns_fd)
			close(fd);
		return local_failed("receiver", -ENOMEM);
	}
	c->n_inbound++;
	return CLIENT_OK;
}

/* With -X: who the server is. */
static void detect(struct stream *s)
{
	tcp_detect(s);
	if (s->conn.peer_version[0] == '\0')
		stream_note(s, "the server did not tell its version");
}

/* The streams over connection number i, of which the first takes it over. */
static enum client_status add_streams(struct client *c, uint32_t i, int fd,
				      int64_t connect_ns)
{
	struct stream *s = new_stream(c, fd, true, !c->plan.forward);
	bool whole = s != NULL && (streams_each(c) == 1 ||
				   new_stream(c, fd, false, true) != NULL);

	if (whole) {
		s->conn.connect_ns = connect_ns;
		if (c->o->peer_detect)
			detect(s);
		return CLIENT_OK;
	}
	no_room(c, i, c->streams, "memory", -ENOMEM);
	if (s == NULL) {
		close(fd);
	} else {
		stream_free(s);
		c->made = --c->n_runs;
	}
	return CLIENT_FAILED;
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
		.time_ns = c->amount_bytes > 0 ? 0 : c->time_ns,
		.amount_bytes = c->amount_bytes,
		.interval_ns = o->interval_ns,
		.omit_ns = o->omit_ns,
		.fq_bps = o->fq_bps,
		.connects = o->connects > 0,
		.bounces = o->bounces,
		.request_bytes = o->bounce_request_bytes,
		.reply_bytes = o->bounce_reply_bytes,
		.hold_us = (uint32_t)(o->bounce_hold_ns / 1000),
		.burst_ns = o->bounce_period_ns,
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

static int look_up(struct client *c, int family, const char **why)
{
	int rc = sock_resolve_stop(c->o->to.host, c->o->port, family, c->o->udp,
				   c->peers, SOCK_NAMES_MAX, why, c->stop);

	c->looked_v6 = family == 6;
	if (rc > 0) {
		c->n_peers = (size_t)rc;
		c->at_peer = 0;
		c->peer = c->peers[0];
	}
	return rc < 0 ? rc : 0;
}

/* A name is looked up for IPv4 unless it has IPv6 only or -V asks for that,
 * as iperf 2 does, whose servers listen on IPv4. */
static int resolve_host(struct client *c, const char **why)
{
	int family = c->o->family;
	int rc = look_up(c, family != 0 ? family : 4, why);

	return rc == -ENOENT && family == 0 ? look_up(c, 6, why) : rc;
}

/* The next address of the server's name: those of IPv6 come last, and not where
 * -B or -4 say otherwise.  False: there is none, and the first comes again. */
static bool next_peer(struct client *c)
{
	const char *why = NULL;

	if (c->at_peer + 1 < c->n_peers) {
		c->peer = c->peers[++c->at_peer];
		return true;
	}
	if (!c->looked_v6 && c->o->family == 0 && !c->has_source &&
	    look_up(c, 6, &why) == 0) {
		c->len_bytes = length(c);
		return true;
	}
	c->peer = c->peers[0];
	c->at_peer = 0;
	return false;
}

/* Is this a failure that may be over in a moment? */
static bool may_pass(int rc)
{
	return rc == -ECONNREFUSED || rc == -ETIMEDOUT || rc == -EHOSTUNREACH ||
	       rc == -ENETUNREACH || rc == -ECONNRESET || rc == -EHOSTDOWN;
}

/* Waits until due_ns; false: the test is to stop. */
static bool wait_until(const struct client *c, int64_t due_ns)
{
	for (int64_t now_ns = clock_ns(); now_ns < due_ns;
	     now_ns = clock_ns()) {
		if (atomic_load(c->stop) != 0)
			return false;
		clock_sleep_until(due_ns - now_ns > LOOK_NS ? now_ns + LOOK_NS
							    : due_ns);
	}
	return atomic_load(c->stop) == 0;
}

/* Connects stream number i, with as many tries as are allowed; how long the
 * last one took.  A negative errno in *failed: of the last try. */
static enum client_status connect_tries(struct client *c, uint32_t i, int *fd,
					int64_t *took_ns, int *failed)
{
	const struct options *o = c->o;
	int64_t give_up_ns = clock_ns() + o->retry_for_ns;

	for (uint32_t again = o->retries;; again -= again > 0) {
		enum client_status status;

		/* of a range of ports each has its streams */
		sock_set_port(&c->peer, (uint16_t)(o->port + i % o->ports));
		status = open_socket(c, i, &c->peer, fd);

		if (status != CLIENT_OK)
			return status;
		if (i == 0 && !c->shown)
			banner(c, *fd);
		c->shown = true;

		int64_t begun_ns = clock_ns();

		*failed = sock_connect(*fd, &c->peer, o->udp, c->stop);
		*took_ns = clock_ns() - begun_ns;
		if (*failed == 0)
			return CLIENT_OK;
		close(*fd);
		/* all streams have the address that the first one found */
		if (may_pass(*failed) && i == 0 && atomic_load(c->stop) == 0 &&
		    next_peer(c)) {
			again += again > 0;
			continue;
		}
		if (!may_pass(*failed) ||
		    (again == 0 && begun_ns + o->retry_ns > give_up_ns) ||
		    !wait_until(c, begun_ns + o->retry_ns))
			return CLIENT_NO_PEER;
	}
}

static enum client_status connect_stream(struct client *c, uint32_t i)
{
	int fd = -1;
	int failed = 0;
	int64_t took_ns = 0;
	enum client_status status = connect_tries(c, i, &fd, &took_ns, &failed);

	if (failed < 0)
		return connect_failed(c, failed);
	if (status != CLIENT_OK)
		return status;
	if (c->o->udp && !c->plan.forward)
		return add_inbound(c, fd, true, true);
	status = add_streams(c, i, fd, c->o->udp ? 0 : took_ns);
	if (status != CLIENT_OK || !c->o->udp || !c->plan.reverse)
		return status;
	status = add_inbound(c, fd, false, true);
	if (status == CLIENT_OK)
		c->inbound[c->n_inbound - 1].shares =
			c->runs[c->n_runs - 1].stream;
	return status;
}

/* To a group only datagrams can go, and nothing comes back. */
static bool may_group(const struct client *c)
{
	const char *why = NULL;

	if (!c->o->udp)
		why = "needs -u";
	else if (c->plan.reverse || c->plan.back != PLAN_NO_BACK)
		why = "sends nothing back";
	else if (c->o->n_arms > 0)
		why = "reports nothing, and --arm compares what arrived";
	if (why != NULL)
		log_error("-c: \"%s\": a multicast group %s", c->o->host, why);
	return why == NULL;
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
	if (sock_is_multicast(&c->peer) && !may_group(c))
		return CLIENT_FAILED;
	c->len_bytes = length(c);
	if (o->from.host[0] == '\0' && o->from.port == 0)
		return CLIENT_OK;

	int family = c->peer.ss.ss_family == AF_INET6 ? 6 : 4;

	rc = sock_resolve_stop(o->from.host[0] != '\0' ? o->from.host : NULL,
			       o->from.port, family, o->udp, &c->source, 1,
			       &why, c->stop);
	if (rc == -EINTR)
		return CLIENT_INTERRUPTED;
	if (rc < 0) {
		log_error("-B: \"%s\": %s", o->bind, why);
		return CLIENT_FAILED;
	}
	c->has_source = true;
	return CLIENT_OK;
}

/* The last connection makes room: those of its streams that have a thread are
 * told to do nothing. */
static void give_up_last(struct client *c, uint32_t started)
{
	for (unsigned i = streams_each(c); i > 0; i--) {
		struct run *run = &c->runs[--c->n_runs];

		run->given_up = true;
		if (c->n_runs < started)
			continue;
		stream_free(run->stream);
		run->stream = NULL;
	}
	c->streams--;
}

/* Threads for as many streams as can be had, which wait at the gate. */
static void start_threads(struct client *c)
{
	uint32_t connected = c->streams;
	uint32_t started = 0;
	int rc = 0;

	while (started < c->n_runs) {
		struct run *run = &c->runs[started];
		int one = stream_start(run->stream, run_stream, run);

		if (one == 0) {
			started++;
			continue;
		}
		rc = one;
		give_up_last(c, started);
	}
	if (rc < 0)
		no_room(c, c->streams, connected, "thread", rc);
}

/* All streams begin at the same moment, once each has its thread. */
static void start_streams(struct client *c)
{
	pthread_mutex_lock(&c->gate);
	start_threads(c);

	int64_t start_ns = clock_ns() + START_NS +
			   (int64_t)c->n_runs * START_EACH_NS + c->o->delay_ns;

	if (start_ns < c->start_ns)
		start_ns = c->start_ns;

	for (uint32_t i = 0; i < c->n_runs; i++) {
		struct run *run = &c->runs[i];
		struct stream *s = run->stream;

		run->begin_ns = start_ns;
		s->job.header.threads = run->load ? 1 : c->streams;
		if (!s->receiver)
			atomic_store(&s->start_ns, start_ns);
		if (report_add(c->report, s,
			       run->load     ? "load"
			       : s->receiver ? "reverse"
					     : "",
			       run->load ? 1 : c->streams) < 0) {
			no_room(c, i, c->n_runs, "report", -ENOMEM);
			atomic_store(&s->stop, true);
		}
	}
	c->begin_ns = start_ns;
	pthread_mutex_unlock(&c->gate);
}

static void stop_inbound(struct inbound *in)
{
	if (!in->stopped)
		server_udp_stop(in->udp);
	in->stopped = true;
}

static void stop_streams(struct client *c)
{
	for (uint32_t i = 0; i < c->n_runs; i++)
		stream_stop(c->runs[i].stream);
	if (c->back != NULL)
		server_tcp_stop(c->back);
	for (uint32_t i = 0; i < c->n_inbound; i++)
		stop_inbound(&c->inbound[i]);
}

/* A second signal: no stream waits for anything any more. */
static void abandon_streams(struct client *c)
{
	c->abandoned = true;
	for (uint32_t i = 0; i < c->n_runs; i++)
		atomic_store(&c->runs[i].stream->abandon, true);
}

static bool all_closed(const struct client *c)
{
	for (uint32_t i = 0; i < c->n_runs; i++) {
		if (!atomic_load(&c->runs[i].stream->closed))
			return false;
	}
	return true;
}

/* The request to be sent to: a datagram with our header alone, and what its
 * server wants to see again. */
static void ask(const struct client *c, const struct inbound *in)
{
	struct wire_client header = make_header(c);
	struct wire_udp h = { .seq = 1, .sent_ns = clock_wall_ns() };
	uint64_t cookie = server_udp_cookie(in->udp);

	memset(c->request, 0, c->request_bytes);
	wire_udp_encode(c->request, WIRE_MODERN, &h);
	(void)wire_client_encode(c->request + WIRE_UDP_BYTES, &header);
	if (cookie != 0)
		wire_cookie_encode(c->request, cookie);
	(void)send(in->fd, c->request, c->request_bytes, MSG_NOSIGNAL);
}

/* How long what comes to one of these sockets may last, from the begin of the
 * test on; of -r the other direction comes first. */
static int64_t inbound_limit(const struct client *c)
{
	int64_t each_ns = c->o->time_ns + BEYOND_NS;

	if (c->o->amount_bytes > 0 || c->o->time_ns == 0)
		return INT64_MAX;
	return c->plan.back == PLAN_BACK_AFTER ? 2 * each_ns + BACK_NS
					       : each_ns + BACK_NS;
}

/* Is there nothing more to come? */
static bool inbound_is_over(const struct client *c, const struct inbound *in,
			    int64_t now_ns, int64_t closed_ns)
{
	unsigned wanted = c->plan.reverse ? 1 : c->streams;
	unsigned accepted = server_udp_accepted(in->udp);
	struct policy_refusal refusal;

	if (server_udp_refused(in->udp, &refusal))
		return true;
	if (accepted >= wanted && (c->plan.reverse ? server_udp_idle(in->udp)
						   : server_udp_quiet(in->udp)))
		return true;
	if (now_ns - c->begin_ns > inbound_limit(c))
		return true;
	if (accepted > 0)
		return false;
	if (c->plan.reverse)
		return now_ns - c->begin_ns > BEGIN_NS;
	return closed_ns != 0 && now_ns - closed_ns > BACK_NS;
}

/* Looks after what comes over UDP; true: something may still come. */
static bool follow_inbound(struct client *c, int64_t now_ns, int64_t closed_ns)
{
	bool more = false;

	for (uint32_t i = 0; i < c->n_inbound; i++) {
		struct inbound *in = &c->inbound[i];

		if (in->stopped)
			continue;
		if (inbound_is_over(c, in, now_ns, closed_ns)) {
			stop_inbound(in);
			continue;
		}
		more = true;
		if (in->shares != NULL)
			atomic_store(&in->shares->heard_cookie,
				     server_udp_cookie(in->udp));
		if (!in->asks || now_ns < in->ask_ns ||
		    server_udp_accepted(in->udp) > 0)
			continue;
		ask(c, in);
		in->ask_ns = now_ns + in->step_ns;
		if (in->step_ns < ASK_MAX_NS)
			in->step_ns += in->step_ns / 4;
	}
	return more;
}

/* Does the server still send, or may it yet, over connections of its own?
 * closed_ns: when the last of ours was over, 0: not yet. */
static bool back_is_due(const struct client *c, int64_t now_ns,
			int64_t closed_ns)
{
	if (c->back == NULL)
		return false;
	if (!server_tcp_quiet(c->back))
		return true;
	return server_tcp_accepted(c->back) < c->streams &&
	       (closed_ns == 0 || now_ns - closed_ns < BACK_NS);
}

/* Reports until every stream is closed. */
static void follow(struct client *c)
{
	int64_t stopped_ns = 0;
	int64_t closed_ns = 0;
	int seen = 0; /* signals */

	for (;;) {
		int64_t now_ns = clock_ns();
		int64_t due_ns = report_tick(c->report, now_ns);
		int64_t look_ns = c->back != NULL || c->n_inbound > 0
					  ? LOOK_BACK_NS
					  : LOOK_NS;
		int stops = atomic_load(c->stop);

		if (c->back != NULL && stops == 0)
			server_tcp_look(c->back, 0);
		if (closed_ns == 0 && all_closed(c))
			closed_ns = now_ns;

		bool more =
			stops == 0 && (follow_inbound(c, now_ns, closed_ns) ||
				       back_is_due(c, now_ns, closed_ns));

		if (report_streams(c->report) == 0 && !more &&
		    (stops == 0 || stopped_ns != 0))
			return;
		if (stops > 0 && stopped_ns == 0) {
			stopped_ns = now_ns;
			stop_streams(c);
		}
		if (stops > seen && now_ns - stopped_ns >= SECOND_SIGNAL_NS)
			abandon_streams(c);
		seen = stops;
		if (due_ns > now_ns + look_ns)
			due_ns = now_ns + look_ns;
		report_wait(c->report, due_ns);
	}
}

/* How the stream of a server that was asked for it ended. */
static enum client_status received_status(const struct client *c,
					  const struct stream *s)
{
	uint64_t bytes = counter_get(&s->io.bytes);
	int64_t took_ns = atomic_load(&s->end_ns) - atomic_load(&s->start_ns);

	if (s->error != 0 || bytes == 0 || bytes < c->o->amount_bytes)
		return CLIENT_PEER_GONE;
	if (s->expect_ns - took_ns > EARLY_NS &&
	    took_ns < s->expect_ns / 10 * 9)
		return CLIENT_PEER_GONE;
	return CLIENT_OK;
}

/* How a stream's test ended. */
static enum client_status stream_status(const struct client *c,
					const struct stream *s)
{
	assert(s != NULL); /* a run that is counted has one */
	if (s->refusal.why != POLICY_NONE)
		return s->refusal.running ? CLIENT_PEER_GONE : CLIENT_NO_PEER;
	if (s->receiver)
		return received_status(c, s);
	if (s->no_result || s->unreachable)
		return CLIENT_NO_PEER;
	if (s->error == -EMSGSIZE ||
	    (s->input != NULL && input_error(s->input) != 0))
		return CLIENT_FAILED;
	if (s->error != 0 || (s->unanswered > 0 && !atomic_load(&s->stop)))
		return CLIENT_PEER_GONE;
	if (s->udp && !s->has_report && !s->job.multicast && !s->job.shared &&
	    !s->job.no_fin && s->numbers > 0)
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

static void explain_refusal(const struct client *c,
			    const struct policy_refusal *r)
{
	char why[POLICY_TEXT_BYTES];

	policy_text(r, why);
	log_error("%s port %u %s the test: %s", c->o->host,
		  (unsigned)c->o->port, r->running ? "ended" : "refused", why);
}

static void explain(const struct client *c, const struct stream *s,
		    enum client_status status)
{
	const char *host = c->o->host;
	unsigned port = c->o->port;

	if (s->refusal.why != POLICY_NONE) {
		explain_refusal(c, &s->refusal);
		return;
	}
	switch (status) {
	case CLIENT_NO_PEER:
		log_error("connect to %s port %u: %s", host, port,
			  strerror(-s->error));
		break;
	case CLIENT_FAILED:
		if (s->input != NULL && input_error(s->input) != 0) {
			log_error("%s: \"%s\": %s", input_option(c->o),
				  input_name(c->o),
				  strerror(-input_error(s->input)));
			break;
		}
		log_error("-l: %zu bytes: %s", s->job.len_bytes,
			  strerror(-s->error));
		break;
	case CLIENT_PEER_GONE:
		if (s->receiver && counter_get(&s->io.bytes) == 0)
			log_error("%s port %u sent nothing: it may be too old "
				  "for %s",
				  host, port, plan_name(&c->plan));
		else if (s->series != NULL && counter_get(&s->io.calls) == 0)
			log_error("%s port %u sent no reply: it may be too old "
				  "for --bounceback",
				  host, port);
		else if (s->unanswered > 0)
			log_error("%s port %u left a request without a reply",
				  host, port);
		else if (s->error == 0)
			log_error("%s port %u ended the test early", host,
				  port);
		else
			log_error("%s port %u went away during the test: %s",
				  host, port, strerror(-s->error));
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

/* What was to come, and what became of it. */
static enum client_status inbound_verdict(const struct client *c)
{
	struct policy_refusal refusal;
	unsigned came = c->back != NULL ? server_tcp_accepted(c->back) : 0;

	for (uint32_t i = 0; i < c->n_inbound; i++) {
		if (server_udp_refused(c->inbound[i].udp, &refusal)) {
			explain_refusal(c, &refusal);
			return CLIENT_NO_PEER;
		}
		came += server_udp_accepted(c->inbound[i].udp);
	}
	if ((c->back == NULL && c->n_inbound == 0) || came >= c->streams)
		return CLIENT_OK;
	if (c->plan.back != PLAN_NO_BACK)
		log_error("%s did not connect back to port %u: %u of %u "
			  "streams came",
			  c->o->host, (unsigned)c->o->listen_port, came,
			  (unsigned)c->streams);
	else
		log_error("%s port %u sent nothing on %u of %u streams: it "
			  "may be too old for (%s), or it does not send to "
			  "this address",
			  c->o->host, (unsigned)c->o->port,
			  (unsigned)c->streams - came, (unsigned)c->streams,
			  plan_name(&c->plan));
	return CLIENT_PEER_GONE;
}

/* The worst stream decides, and is explained. */
static enum client_status verdict(const struct client *c)
{
	const struct stream *worst = NULL;
	enum client_status status = CLIENT_OK;

	for (uint32_t i = 0; i < c->n_runs; i++) {
		enum client_status one = stream_status(c, c->runs[i].stream);

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
	return status == CLIENT_OK ? inbound_verdict(c) : status;
}

/* Where the server is to connect back. */
static enum client_status open_back(struct client *c)
{
	const struct options *o = c->o;
	char what[SOCK_WHAT_BYTES];
	struct sock_addr at;
	const char *why = NULL;
	int family = c->peer.ss.ss_family == AF_INET6 ? 6 : 4;
	int rc = sock_resolve(o->from.host[0] != '\0' ? o->from.host : NULL,
			      o->listen_port, family, o->udp, &at, 1, &why);

	if (rc < 0) {
		log_error("-B: \"%s\": %s", o->bind, why);
		return CLIENT_FAILED;
	}
	c->back_fd = sock_open(&at, o, what);
	if (c->back_fd < 0)
		return local_failed(what, c->back_fd);
	rc = sock_listen(c->back_fd, &at, o->udp);
	if (rc < 0) {
		log_error("-L: listen on port %u: %s", (unsigned)o->listen_port,
			  strerror(-rc));
		return CLIENT_FAILED;
	}
	if (o->udp)
		return add_inbound(c, c->back_fd, false, false);
	c->back = server_tcp_new(c->back_fd, o, c->report);
	if (c->back == NULL)
		return local_failed("-L", -ENOMEM);
	server_tcp_only(c->back, &c->peer, c->streams,
			o->amount_bytes > 0 || o->time_ns == 0
				? 0
				: o->time_ns + BEYOND_NS);
	return CLIENT_OK;
}

/* With --txstart-time: connects shortly before it. */
static enum client_status await_start(struct client *c)
{
	int64_t left_ns = c->o->start_wall_ns - clock_wall_ns();

	if (c->o->start_wall_ns == 0)
		return CLIENT_OK;
	if (left_ns < 0 || left_ns > AHEAD_MAX_NS) {
		log_error("--txstart-time: %.6f is %.3f s %s: up to %d s ahead",
			  (double)c->o->start_wall_ns / 1e9,
			  (double)(left_ns < 0 ? -left_ns : left_ns) / 1e9,
			  left_ns < 0 ? "ago" : "ahead",
			  (int)(AHEAD_MAX_NS / CLOCK_SECOND_NS));
		return CLIENT_FAILED;
	}
	c->start_ns = clock_ns() + left_ns;
	return wait_until(c, c->start_ns - AHEAD_NS) ? CLIENT_OK
						     : CLIENT_INTERRUPTED;
}

/* The streams beside those of --bounceback: plain tests of their own. */
static enum client_status add_loads(struct client *c)
{
	const struct plan plan = c->plan;
	enum client_status status = CLIENT_OK;

	c->loading = true;
	c->plan = (struct plan){ .forward = c->o->load != OPTIONS_LOAD_DOWN,
				 .reverse = c->o->load != OPTIONS_LOAD_UP };
	for (uint32_t i = 0; i < c->o->loads && status == CLIENT_OK; i++)
		status = connect_stream(c, c->streams + i);
	c->plan = plan;
	c->loading = false;
	return status;
}

/* --connect-only */
static enum client_status connect_only(struct client *c)
{
	char what[SOCK_WHAT_BYTES];
	int fd = -1;
	int rc;
	enum client_status status = open_socket(c, 0, &c->peer, &fd);

	if (status != CLIENT_OK)
		return status;
	banner(c, fd);
	close(fd);
	rc = connects_run(c->o, &c->peer, c->has_source ? &c->source : NULL,
			  c->report, c->stop, what);
	if (rc < 0)
		return local_failed(what, rc);
	if (atomic_load(c->stop) != 0)
		return CLIENT_INTERRUPTED;
	return rc > 0 ? CLIENT_NO_PEER : CLIENT_OK;
}

static enum client_status run(struct client *c)
{
	enum client_status status = resolve(c);

	if (status == CLIENT_OK)
		status = plan_length(c);
	if (status == CLIENT_OK)
		status = await_start(c);
	if (status == CLIENT_OK && c->o->connects > 0)
		return connect_only(c);

	if (status == CLIENT_OK && c->plan.back != PLAN_NO_BACK)
		status = open_back(c);
	for (uint32_t i = 0; i < c->streams && status == CLIENT_OK; i++) {
		status = connect_stream(c, i);
		if (c->short_of && i > 0) {
			c->streams = i;
			status = CLIENT_OK;
		}
	}
	if (status == CLIENT_OK && c->o->load != OPTIONS_NO_LOAD)
		status = add_loads(c);
	if (status != CLIENT_OK)
		return status;

	start_streams(c);
	follow(c);
	report_end(c->report);
	for (uint32_t i = 0; i < c->made; i++) {
		if (c->runs[i].stream != NULL)
			stream_join(c->runs[i].stream);
	}
	status = verdict(c);
	return c->short_of ? CLIENT_FAILED : status;
}

enum client_status client_run(const struct options *o, struct out *outs,
			      size_t n_outs, const _Atomic int *stop)
{
	struct client c = {
		.o = o,
		.stop = stop,
		.plan = plan_of(o),
		.streams = o->parallel > 0 ? o->parallel : 1,
		.back_fd = -1,
		.gate = PTHREAD_MUTEX_INITIALIZER,
	};
	enum client_status status = CLIENT_FAILED;

	c.runs = calloc((size_t)c.streams * plan_streams(&c.plan) +
				2 * (size_t)o->loads,
			sizeof(*c.runs));
	c.inbound = calloc(c.streams, sizeof(*c.inbound));
	c.request_bytes = o->len_bytes > WIRE_UDP_COOKIE_BYTES
				  ? o->len_bytes
				  : OPTIONS_UDP_LEN_V6;
	c.request = malloc(c.request_bytes);
	c.report = report_new(o, outs, n_outs);
	if (c.runs == NULL || c.inbound == NULL || c.request == NULL ||
	    c.report == NULL)
		log_error("no memory for %u streams", (unsigned)c.streams);
	else
		status = run(&c);
	for (uint32_t i = 0; i < c.n_inbound; i++) {
		stop_inbound(&c.inbound[i]);
		server_udp_free(c.inbound[i].udp);
		if (c.inbound[i].owns_fd)
			close(c.inbound[i].fd);
	}
	free(c.inbound);
	free(c.request);
	server_tcp_free(c.back);
	if (c.back_fd >= 0)
		close(c.back_fd);
	/* the first of two streams owns their connection */
	for (uint32_t i = c.made; i-- > 0;)
		stream_free(c.runs[i].stream);
	free(c.runs);
	report_free(c.report);
	return status;
}
