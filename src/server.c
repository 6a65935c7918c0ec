#include "server.h"

#include <errno.h>
#include <fcntl.h>
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

struct server {
	const struct options *o;
	struct out *outs;
	size_t n_outs;
	const _Atomic int *stop;
	struct report *report;
	pthread_t reporter;
	atomic_bool finish; /* the reporter may end */
	int listen_fd;
	struct sock_addr address;
	struct server_tcp *tcp; /* one of the two */
	struct server_udp *udp;
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

/* Has the server had its fill: -t, -P, --one-off? */
static bool had_enough(const struct server *v)
{
	unsigned accepted = v->udp != NULL ? server_udp_accepted(v->udp)
					   : server_tcp_accepted(v->tcp);
	unsigned limit = v->o->parallel_set ? v->o->parallel : 0;

	if (clock_ns() >= v->end_ns)
		return true;
	if (v->o->one_off && accepted > 0)
		return v->udp != NULL ? server_udp_quiet(v->udp)
				      : !server_tcp_serving(v->tcp);
	if (limit == 0 || accepted < limit)
		return false;
	if (v->udp == NULL)
		return server_tcp_quiet(v->tcp);
	server_udp_refuse(v->udp);
	return server_udp_quiet(v->udp);
}

static void look(struct server *v)
{
	if (v->tcp != NULL)
		server_tcp_look(v->tcp, LOOK_MS);
	else
		clock_sleep_until(clock_ns() + LOOK_MS * CLOCK_MS_NS / 5);
}

/* Ends what runs; the partial reports are printed. */
static void wind_up(struct server *v)
{
	/* the reporter goes when nobody can add a stream any more */
	if (v->tcp != NULL)
		server_tcp_stop(v->tcp);
	if (v->udp != NULL)
		server_udp_stop(v->udp);
	atomic_store(&v->finish, true);
	report_poke(v->report);
	(void)pthread_join(v->reporter, NULL);
	server_tcp_free(v->tcp);
	server_udp_free(v->udp);
}

static void banner(struct server *v)
{
	const struct options *o = v->o;
	struct out_banner b = {
		.server = true,
		.udp = o->udp,
		.port = o->port,
		.bind = o->bind,
		.len_bytes = o->len_bytes,
		.window_asked = o->window_bytes,
		.window_granted = sock_window(v->listen_fd, false),
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
	if (sock_is_multicast(&v->address))
		b.group = o->from.host;
	if (b.len_bytes == 0)
		b.len_bytes = o->udp ? OPTIONS_UDP_LEN : OPTIONS_TCP_LEN;
	report_banner(v->report, &b);
}

/* -B GROUP, of the sources of -H; says why it can't. */
static int join_group(struct server *v)
{
	const struct options *o = v->o;
	struct sock_addr source;
	const char *why = NULL;
	int family = v->address.ss.ss_family == AF_INET6 ? 6 : 4;
	int rc = 0;

	if (o->ssm != NULL &&
	    sock_resolve(o->ssm, 0, family, true, &source, 1, &why) < 0) {
		log_error("-H: \"%s\": %s", o->ssm, why);
		rc = -ENOENT;
	}
	if (rc == 0) {
		rc = sock_join(v->listen_fd, &v->address, o->from.dev,
			       o->ssm != NULL ? &source : NULL);
		if (rc < 0)
			log_error("-B: join \"%s\": %s", o->bind,
				  strerror(-rc));
	}
	if (rc < 0)
		close(v->listen_fd);
	return rc;
}

/* Can a server have this address, with these options?  Says why not. */
static bool may_bind(const struct server *v)
{
	const struct options *o = v->o;
	bool group = sock_is_multicast(&v->address);

	if (group && !o->udp)
		log_error("-B: \"%s\": a multicast group needs -u", o->bind);
	else if (!group && o->ssm != NULL)
		log_error("-H: \"%s\": -B \"%s\" is no multicast group", o->ssm,
			  o->bind);
	else
		return true;
	return false;
}

/* Opens the port; says why when it can't. */
static int open_port(struct server *v)
{
	const struct options *o = v->o;
	const char *host = o->from.host[0] != '\0' ? o->from.host : NULL;
	const char *shown = host != NULL ? host : "any address";
	int family = o->family == 0 && host == NULL ? 4 : o->family;
	const char *why = NULL;
	char what[SOCK_WHAT_BYTES];
	int rc = sock_resolve(host, o->port, family, o->udp, &v->address, 1,
			      &why);

	if (rc < 0) {
		log_error("-B: \"%s\": %s", shown, why);
		return rc;
	}
	if (!may_bind(v))
		return -EINVAL;
	v->listen_fd = sock_open(&v->address, o, what);
	if (v->listen_fd < 0) {
		rc = v->listen_fd;
		log_error("%s: %s", what, strerror(-rc));
		return rc;
	}
	if (o->udp && o->window_bytes == 0)
		sock_raise_receive(v->listen_fd, SOCK_RECEIVE_BYTES);
	rc = sock_listen(v->listen_fd, &v->address, o->udp);
	if (rc == 0 && sock_is_multicast(&v->address)) {
		rc = join_group(v);
		if (rc < 0)
			return rc;
	}
	if (rc < 0) {
		log_error("listen on %s, %s port %u: %s", shown,
			  o->udp ? "UDP" : "TCP", (unsigned)o->port,
			  strerror(-rc));
		close(v->listen_fd);
	}
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

/* Serves the port. */
static bool begin(struct server *v)
{
	if (v->o->udp)
		v->udp = server_udp_start(v->listen_fd, &v->address, v->o,
					  v->report, NULL);
	else
		v->tcp = server_tcp_new(v->listen_fd, v->o, v->report);
	if (v->tcp != NULL)
		server_tcp_key(v->tcp, v->key,
			       v->o->key_timeout_ns > 0
				       ? clock_ns() + v->o->key_timeout_ns
				       : INT64_MAX);
	return v->udp != NULL || v->tcp != NULL;
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
	atomic_store(&v->finish, true);
	report_poke(v->report);
	(void)pthread_join(v->reporter, NULL);
	return -ENOMEM;
}

int server_run(const struct options *o, struct out *outs, size_t n_outs,
	       const _Atomic int *stop)
{
	struct server v = {
		.o = o, .outs = outs, .n_outs = n_outs, .stop = stop
	};
	int rc = open_port(&v);

	if (rc < 0)
		return 1;
	rc = start(&v);
	if (rc < 0) {
		log_error("server: %s", strerror(-rc));
		report_free(v.report);
		close(v.listen_fd);
		return 1;
	}
	v.end_ns = o->time_ns > 0 ? clock_ns() + o->time_ns : INT64_MAX;
	while (atomic_load(stop) == 0 && !had_enough(&v))
		look(&v);
	wind_up(&v);
	report_free(v.report);
	log_strangers_end();
	close(v.listen_fd);
	return 0;
}
