#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "platform/platform.h"
#include "report.h"
#include "server_tcp.h"
#include "server_udp.h"

/* The main thread looks this often whether it shall stop. */
#define LOOK_MS 100

#define KEY_BYTES 16 /* of a key that is made up: 80 bits */

/* One of the ports, and who serves it. */
struct door {
	int fd;
	struct sock_addr address;
	struct server_tcp *tcp; /* one of the two */
	struct server_udp *udp;
};

struct server {
	const struct options *o;
	struct out *outs;
	size_t n_outs;
	const _Atomic int *stop;
	struct report *report;
	pthread_t reporter;
	atomic_bool finish; /* the reporter may end */
	struct door *doors;
	size_t n_doors; /* that are open */
	int64_t end_ns; /* of -t, INT64_MAX: for ever */
	char made_key[KEY_BYTES + 1];
	const char *key; /* --permit-key, NULL: none is needed */
};

/* --permit-key; one without an argument is made up. */
static int choose_key(struct server *v)
{
	static const char signs[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t bytes[KEY_BYTES];
	int rc;

	v->key = v->o->permit_key;
	if (v->key == NULL || v->key[0] != '\0')
		return 0;
	rc = platform_secret(bytes, sizeof(bytes));
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < KEY_BYTES; i++)
		v->made_key[i] = signs[bytes[i] % (sizeof(signs) - 1)];
	v->key = v->made_key;
	return 0;
}

static void *report_loop(void *arg)
{
	struct server *v = arg;

	for (;;) {
		int64_t due_ns = report_tick(v->report, clock_ns());

		/* asked after the tick, which may have let the last one go */
		if (atomic_load(&v->finish) && report_streams(v->report) == 0) {
			report_end(v->report);
			return NULL;
		}
		report_wait(v->report, due_ns);
	}
}

static unsigned accepted(const struct server *v)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_doors; i++)
		n += v->o->udp ? server_udp_accepted(v->doors[i].udp)
			       : server_tcp_accepted(v->doors[i].tcp);
	return n;
}

/* Does nobody want anything any more?  The UDP side refuses new tests. */
static bool all_quiet(const struct server *v)
{
	bool quiet = true;

	for (size_t i = 0; i < v->n_doors; i++) {
		if (v->o->udp)
			server_udp_refuse(v->doors[i].udp);
		quiet = quiet &&
			(v->o->udp ? server_udp_quiet(v->doors[i].udp)
				   : server_tcp_quiet(v->doors[i].tcp));
	}
	return quiet;
}

/* Has the server had its fill: -t, -P, --one-off? */
static bool had_enough(const struct server *v)
{
	unsigned limit = v->o->parallel_set ? v->o->parallel : 0;

	if (clock_ns() >= v->end_ns)
		return true;
	/* that of one port */
	if (v->o->one_off && accepted(v) > 0)
		return v->o->udp ? server_udp_quiet(v->doors[0].udp)
				 : !server_tcp_serving(v->doors[0].tcp);
	return limit > 0 && accepted(v) >= limit && all_quiet(v);
}

static void look(struct server *v)
{
	if (v->o->udp) {
		clock_sleep_until(clock_ns() + LOOK_MS * CLOCK_MS_NS / 5);
		return;
	}
	for (size_t i = 0; i < v->n_doors; i++)
		server_tcp_look(v->doors[i].tcp, LOOK_MS / (int)v->n_doors + 1);
}

/* Ends what runs; the partial reports are printed. */
static void wind_up(struct server *v)
{
	/* the reporter goes when nobody can add a stream any more */
	for (size_t i = 0; i < v->n_doors; i++) {
		if (v->doors[i].tcp != NULL)
			server_tcp_stop(v->doors[i].tcp);
		if (v->doors[i].udp != NULL)
			server_udp_stop(v->doors[i].udp);
	}
	atomic_store(&v->finish, true);
	report_poke(v->report);
	(void)pthread_join(v->reporter, NULL);
}

static void close_doors(struct server *v)
{
	for (size_t i = 0; i < v->n_doors; i++) {
		server_tcp_free(v->doors[i].tcp);
		server_udp_free(v->doors[i].udp);
		close(v->doors[i].fd);
	}
	free(v->doors);
}

static void banner(struct server *v)
{
	const struct options *o = v->o;
	struct out_banner b = {
		.server = true,
		.udp = o->udp,
		.port = o->port,
		.port_last = (uint16_t)(o->port + o->ports - 1),
		.bind = o->bind,
		.len_bytes = o->len_bytes,
		.window_asked = o->window_bytes,
		.window_granted = sock_window(v->doors[0].fd, false),
		.flows = 0,
		.pid = (uint32_t)getpid(),
		.wall_ns = clock_wall_ns(),
		.tos = o->tos,
		.nodelay = o->nodelay,
		.mss = o->mss_bytes,
	};

	if (v->key != NULL) {
		b.permit_key = v->key;
		b.permit_timeout_ns = o->key_timeout_ns;
	}
	if (sock_is_multicast(&v->doors[0].address))
		b.group = o->from.host;
	if (b.len_bytes == 0)
		b.len_bytes = o->udp ? OPTIONS_UDP_LEN : OPTIONS_TCP_LEN;
	report_banner(v->report, &b);
}

/* -B GROUP, of the sources of -H; says why it can't. */
static int join_group(const struct options *o, const struct door *d)
{
	struct sock_addr source;
	const char *why = NULL;
	int family = d->address.ss.ss_family == AF_INET6 ? 6 : 4;
	int rc = 0;

	if (o->ssm != NULL &&
	    sock_resolve(o->ssm, 0, family, true, &source, 1, &why) < 0) {
		log_error("-H: \"%s\": %s", o->ssm, why);
		rc = -ENOENT;
	}
	if (rc == 0) {
		rc = sock_join(d->fd, &d->address, o->from.dev,
			       o->ssm != NULL ? &source : NULL);
		if (rc < 0)
			log_error("-B: join \"%s\": %s", o->bind,
				  strerror(-rc));
	}
	return rc;
}

/* Can a server have this address, with these options?  Says why not. */
static bool may_bind(const struct options *o, const struct sock_addr *at)
{
	bool group = sock_is_multicast(at);

	if (group && !o->udp)
		log_error("-B: \"%s\": a multicast group needs -u", o->bind);
	else if (!group && o->ssm != NULL)
		log_error("-H: \"%s\": -B \"%s\" is no multicast group", o->ssm,
			  o->bind);
	else
		return true;
	return false;
}

/* Opens a port; says why when it can't. */
static int open_door(const struct options *o, struct door *d, uint16_t port)
{
	const char *host = o->from.host[0] != '\0' ? o->from.host : NULL;
	const char *shown = host != NULL ? host : "any address";
	int family = o->family == 0 && host == NULL ? 4 : o->family;
	const char *why = NULL;
	char what[SOCK_WHAT_BYTES];
	int rc = sock_resolve(host, port, family, o->udp, &d->address, 1, &why);

	if (rc < 0) {
		log_error("-B: \"%s\": %s", shown, why);
		return rc;
	}
	if (!may_bind(o, &d->address))
		return -EINVAL;
	d->fd = sock_open(&d->address, o, what);
	if (d->fd < 0) {
		log_error("%s: %s", what, strerror(-d->fd));
		return d->fd;
	}
	if (o->udp && o->window_bytes == 0)
		sock_raise_receive(d->fd, SOCK_RECEIVE_BYTES);
	rc = sock_listen(d->fd, &d->address, o->udp);
	if (rc < 0)
		log_error("listen on %s, %s port %u: %s", shown,
			  o->udp ? "UDP" : "TCP", (unsigned)port,
			  strerror(-rc));
	else if (sock_is_multicast(&d->address))
		rc = join_group(o, d);
	if (rc < 0)
		close(d->fd);
	return rc;
}

/* Opens all of them. */
static int open_doors(struct server *v)
{
	const struct options *o = v->o;
	int rc = 0;

	v->doors = calloc(o->ports, sizeof(*v->doors));
	if (v->doors == NULL) {
		log_error("server: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	while (v->n_doors < o->ports && rc >= 0) {
		rc = open_door(o, &v->doors[v->n_doors],
			       (uint16_t)(o->port + v->n_doors));
		v->n_doors += rc >= 0;
	}
	if (rc < 0)
		close_doors(v);
	return rc;
}

/* Goes into the background once the port is open.  Where stdout is not a
 * file of its own, what follows is lost, as with iperf 2.1. */
static int go_background(const struct server *v)
{
	pid_t pid = fork();
	int null;

	if (pid < 0)
		return -errno;
	if (pid > 0) {
		log_error("server runs in the background, process %ld",
			  (long)pid);
		_exit(0);
	}
	(void)setsid();
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -errno;
	(void)dup2(null, STDIN_FILENO);
	if (v->o->output == NULL)
		(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	return 0;
}

/* Serves a port. */
static bool serve_door(struct server *v, struct door *d)
{
	const struct options *o = v->o;

	if (o->udp) {
		d->udp = server_udp_start(d->fd, &d->address, o, v->report,
					  NULL);
		return d->udp != NULL;
	}
	d->tcp = server_tcp_new(d->fd, o, v->report);
	if (d->tcp != NULL)
		server_tcp_key(d->tcp, v->key,
			       o->key_timeout_ns > 0
				       ? clock_ns() + o->key_timeout_ns
				       : INT64_MAX);
	return d->tcp != NULL;
}

static bool begin(struct server *v)
{
	for (size_t i = 0; i < v->n_doors; i++) {
		if (!serve_door(v, &v->doors[i]))
			return false;
	}
	return true;
}

/* Starts the threads; they must come after the fork of -D. */
static int start(struct server *v)
{
	int rc;

	rc = choose_key(v);
	if (rc < 0)
		return rc;
	v->report = report_new(v->o, v->outs, v->n_outs);
	if (v->report == NULL)
		return -ENOMEM;
	banner(v);
	if (v->o->daemonize) {
		rc = go_background(v);
		if (rc < 0)
			return rc;
	}
	rc = stream_thread(&v->reporter, report_loop, v);
	if (rc < 0 || begin(v))
		return rc;
	wind_up(v);
	return -ENOMEM;
}

int server_run(const struct options *o, struct out *outs, size_t n_outs,
	       const _Atomic int *stop)
{
	struct server v = {
		.o = o, .outs = outs, .n_outs = n_outs, .stop = stop
	};
	int rc = open_doors(&v);

	if (rc < 0)
		return 1;
	rc = start(&v);
	if (rc < 0) {
		log_error("server: %s", strerror(-rc));
		close_doors(&v);
		report_free(v.report);
		return 1;
	}
	v.end_ns = o->time_ns > 0 ? clock_ns() + o->time_ns : INT64_MAX;
	while (atomic_load(stop) == 0 && !had_enough(&v))
		look(&v);
	wind_up(&v);
	close_doors(&v);
	report_free(v.report);
	log_strangers_end();
	return 0;
}
