/*
 * relay: forwards the datagrams of one UDP client to a server and the replies
 * back, and does to single datagrams what it is told.  For tests only.
 *
 *     relay LISTENPORT DESTHOST DESTPORT [RULE]...
 *
 *     drop=SET,...         these datagrams are lost
 *     keep=SET,...         all but these are lost
 *     dup=SET:N+D,...      they are sent again N times (1 without :N), at once
 *                          or, with +D, after D more datagrams have passed
 *     swap=SET:D,...       they are sent after D more datagrams have passed
 *     delay=SET:MS,...     they are sent MS milliseconds late
 *     wave=PERIOD:MS       number i is sent (i mod PERIOD) * MS ms late
 *     drop-marker=SET,...  these end markers are lost, counted from 1
 *     replies=N            the first N replies of the server are lost
 *     reply-delay=MS       the others come MS milliseconds late
 *
 * A SET is N, A-B, or A- for all from A on; behind it, /K takes every K-th of
 * them, the first one first.  MS may have a fraction.  A number is the first
 * word of a datagram, big-endian; end markers are negative there.  To a
 * datagram is done what the first rule that names it says, and no more; what
 * no rule names passes.
 *
 * Ends with SIGTERM or SIGINT and then prints its ledger, one line of
 * NAME=COUNT.  For the datagrams: in + repeated = out + dropped + unsent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

#define MAX_RULES 256
#define MAX_BYTES 65536
#define NSEC_PER_MSEC 1000000
#define NSEC_PER_SEC 1000000000

enum action {
	DROP,
	KEEP,
	DUP,
	SWAP,
	DELAY,
	WAVE,
	DROP_MARKER,
	REPLIES,
	REPLY_DELAY,
};

struct set {
	int32_t first;
	int32_t last;
	int32_t every;
};

struct rule {
	enum action action;
	struct set set;
	int times;        /* DUP */
	int passes;       /* DUP, SWAP: datagrams that pass before */
	int32_t period;   /* WAVE */
	int64_t delay_ns; /* DELAY; WAVE: of each step */
};

/* A datagram that waits for its turn. */
struct held {
	struct held *next;
	int passes;     /* in the list `counted` */
	int64_t due_ns; /* in the lists `timed` and `replies` */
	size_t len;
	uint8_t data[];
};

static struct rule rules[MAX_RULES];
static size_t n_rules;
static struct held *counted; /* in the order of their arrival */
static struct held *timed;   /* the next one due first */
static struct held *replies; /* so too */
static int drop_replies;
static int64_t reply_delay_ns;
static bool keeps; /* a keep rule was given: others are lost */
static volatile sig_atomic_t ended;

static struct {
	unsigned long in, out, dropped, repeated, swapped, delayed;
	unsigned long markers_in, markers_dropped;
	unsigned long replies_in, replies_dropped;
	unsigned long failed; /* sends that the system refused */
} ledger;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "relay: %s\n", what);
	exit(1);
}

/* A number at *at, which moves behind it. */
static int32_t number_at(char **at)
{
	char *start = *at;
	long n = strtol(start, at, 10);

	if (*at == start || n < 0 || n > INT32_MAX)
		die("not a number");
	return (int32_t)n;
}

static int64_t ns_at(char **at)
{
	char *start = *at;
	double ms = strtod(start, at);

	if (*at == start || !(ms >= 0))
		die("not a time");
	return (int64_t)(ms * NSEC_PER_MSEC);
}

/* Steps over c if it stands there. */
static bool skip(char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static struct set set_at(char **at)
{
	struct set set = { .first = number_at(at), .every = 1 };

	set.last = set.first;
	if (skip(at, '-'))
		set.last =
			**at >= '0' && **at <= '9' ? number_at(at) : INT32_MAX;
	if (skip(at, '/'))
		set.every = number_at(at);
	if (set.every < 1)
		die("every 0th?");
	return set;
}

static void amount_at(struct rule *r, char **at)
{
	bool given = skip(at, ':');

	switch (r->action) {
	case DUP:
		r->times = given ? number_at(at) : 1;
		if (skip(at, '+'))
			r->passes = number_at(at);
		return;
	case SWAP:
		r->passes = given ? number_at(at) : 0;
		if (r->passes < 1)
			die("swapped with how many?");
		return;
	case DELAY:
	case WAVE:
		if (!given)
			die("how late?");
		r->delay_ns = ns_at(at);
		return;
	case DROP:
	case KEEP:
	case DROP_MARKER:
	case REPLIES:
	case REPLY_DELAY:
		if (given)
			die("an amount here?");
		return;
	}
}

static void rule_at(enum action action, char **at)
{
	if (n_rules == MAX_RULES)
		die("too many rules");
	struct rule *r = &rules[n_rules++];

	r->action = action;
	if (action == WAVE) {
		r->set = (struct set){ .last = INT32_MAX, .every = 1 };
		r->period = number_at(at);
		if (r->period < 1)
			die("a wave of 0?");
	} else {
		r->set = set_at(at);
	}
	keeps = keeps || action == KEEP;
	amount_at(r, at);
}

static void parse(char *arg)
{
	static const char *const names[] = {
		[DROP] = "drop=",
		[KEEP] = "keep=",
		[DUP] = "dup=",
		[SWAP] = "swap=",
		[DELAY] = "delay=",
		[WAVE] = "wave=",
		[DROP_MARKER] = "drop-marker=",
		[REPLIES] = "replies=",
		[REPLY_DELAY] = "reply-delay=",
	};
	size_t i = 0;
	size_t n = sizeof(names) / sizeof(names[0]);

	while (i < n && strncmp(arg, names[i], strlen(names[i])) != 0)
		i++;
	if (i == n)
		die("what is this rule?");

	char *at = arg + strlen(names[i]);

	if (i == REPLIES) {
		drop_replies = number_at(&at);
	} else if (i == REPLY_DELAY) {
		reply_delay_ns = ns_at(&at);
	} else {
		do
			rule_at((enum action)i, &at);
		while (skip(&at, ','));
	}
	if (*at != '\0')
		die("what stands behind this rule?");
}

static bool in_set(const struct set *set, int32_t number)
{
	return number >= set->first && number <= set->last &&
	       (number - set->first) % set->every == 0;
}

static const struct rule *rule_for(int32_t number, bool marker)
{
	for (size_t i = 0; i < n_rules; i++)
		if ((rules[i].action == DROP_MARKER) == marker &&
		    in_set(&rules[i].set, number))
			return &rules[i];
	return NULL;
}

/* What is refused counts as sent: the test sees `failed`. */
static void pass_on(int fd, const uint8_t *data, size_t len)
{
	if (send(fd, data, len, 0) < 0 && errno != ECONNREFUSED)
		ledger.failed++;
}

static struct held *new_held(const uint8_t *data, size_t len)
{
	struct held *h = malloc(sizeof(*h) + len);

	if (h == NULL)
		die("no memory");
	h->next = NULL;
	h->len = len;
	memcpy(h->data, data, len);
	return h;
}

static void hold_counted(int passes, const uint8_t *data, size_t len)
{
	struct held *h = new_held(data, len);
	struct held **at = &counted;

	while (*at != NULL)
		at = &(*at)->next;
	h->passes = passes;
	*at = h;
}

static void hold_timed(struct held **at, int64_t due_ns, const uint8_t *data,
		       size_t len)
{
	struct held *h = new_held(data, len);

	while (*at != NULL && (*at)->due_ns <= due_ns)
		at = &(*at)->next;
	h->due_ns = due_ns;
	h->next = *at;
	*at = h;
}

/* Takes the first one out of its list and sends it. */
static void send_held(int fd, struct held **at)
{
	struct held *h = *at;

	*at = h->next;
	pass_on(fd, h->data, h->len);
	free(h);
}

/* A datagram has gone by. */
static void release_counted(int fd)
{
	struct held **at = &counted;

	while (*at != NULL) {
		if (--(*at)->passes > 0) {
			at = &(*at)->next;
			continue;
		}
		ledger.out++;
		send_held(fd, at);
	}
}

static bool is_due(const struct held *h)
{
	return h != NULL && h->due_ns <= now_ns();
}

static void release_timed(int in, int out)
{
	while (is_due(timed)) {
		ledger.out++;
		send_held(out, &timed);
	}
	while (is_due(replies))
		send_held(in, &replies);
}

static void forward_marker(int fd, const uint8_t *data, size_t len)
{
	if (ledger.markers_in < INT32_MAX)
		ledger.markers_in++;
	if (rule_for((int32_t)ledger.markers_in, true)) {
		ledger.markers_dropped++;
		return;
	}
	pass_on(fd, data, len);
	release_counted(fd);
}

static void repeat(int fd, const struct rule *r, const uint8_t *data,
		   size_t len)
{
	for (int i = 0; i < r->times; i++) {
		ledger.repeated++;
		if (r->passes > 0) {
			hold_counted(r->passes, data, len);
		} else {
			ledger.out++;
			pass_on(fd, data, len);
		}
	}
}

static void forward_number(int fd, int32_t number, const uint8_t *data,
			   size_t len)
{
	const struct rule *r = rule_for(number, false);
	int64_t late_ns = 0;

	ledger.in++;
	if (r ? r->action == DROP : keeps) {
		ledger.dropped++;
		return;
	}
	if (r && r->action == SWAP) {
		ledger.swapped++;
		hold_counted(r->passes, data, len);
		return;
	}
	if (r && r->action == DELAY)
		late_ns = r->delay_ns;
	if (r && r->action == WAVE)
		late_ns = number % r->period * r->delay_ns;
	if (late_ns > 0) {
		ledger.delayed++;
		hold_timed(&timed, now_ns() + late_ns, data, len);
		return;
	}
	ledger.out++;
	pass_on(fd, data, len);
	release_counted(fd);
	/* behind that, so that its own pass does not count */
	if (r && r->action == DUP)
		repeat(fd, r, data, len);
}

static void handle(int fd, const uint8_t *data, size_t len)
{
	if (len < 4) {
		pass_on(fd, data, len);
		return;
	}

	int32_t number =
		(int32_t)((uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 |
			  (uint32_t)data[2] << 8 | data[3]);

	if (number < 0)
		forward_marker(fd, data, len);
	else
		forward_number(fd, number, data, len);
}

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int room = 4 << 20;

	if (fd < 0)
		die("no socket");
	/* beyond the system's limit where that is allowed: a relay that waits
	 * for a CPU must not lose anything by itself */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
#ifdef SO_RCVBUFFORCE
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
#endif
	return fd;
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port)) };

	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die("not an IPv4 address");
	return a;
}

static void forward(int in, int out)
{
	static uint8_t data[MAX_BYTES];
	struct sockaddr_in client;
	socklen_t client_len = sizeof(client);
	ssize_t n = recvfrom(in, data, sizeof(data), 0,
			     (struct sockaddr *)&client, &client_len);

	if (n < 0 && errno == ECONNREFUSED)
		return; /* the client has gone before its report came */
	if (n < 0 || connect(in, (struct sockaddr *)&client, client_len) < 0)
		die("the client's datagram");
	handle(out, data, (size_t)n);
}

static void forward_reply(int in, int out)
{
	static uint8_t data[MAX_BYTES];
	ssize_t n = recv(out, data, sizeof(data), 0);

	if (n < 0)
		return;
	ledger.replies_in++;
	if (drop_replies > 0) {
		drop_replies--;
		ledger.replies_dropped++;
		return;
	}
	if (reply_delay_ns > 0)
		hold_timed(&replies, now_ns() + reply_delay_ns, data,
			   (size_t)n);
	else
		pass_on(in, data, (size_t)n);
}

/* How long to wait for the next datagram that is due. */
static const struct timespec *until_due(struct timespec *t)
{
	const struct held *next = timed;

	if (next == NULL || (replies != NULL && replies->due_ns < next->due_ns))
		next = replies;
	if (next == NULL)
		return NULL;

	int64_t ns = next->due_ns - now_ns();

	if (ns < 0)
		ns = 0;
	t->tv_sec = (time_t)(ns / NSEC_PER_SEC);
	t->tv_nsec = (long)(ns % NSEC_PER_SEC);
	return t;
}

/* Signals come in only while this waits. */
static void run(int in, int out, const sigset_t *waiting)
{
	int top = in > out ? in : out;

	while (!ended) {
		struct timespec t;
		fd_set ready;

		FD_ZERO(&ready);
		FD_SET(in, &ready);
		FD_SET(out, &ready);
		if (pselect(top + 1, &ready, NULL, NULL, until_due(&t),
			    waiting) < 0) {
			if (errno != EINTR)
				die("pselect");
			continue;
		}
		release_timed(in, out);
		if (FD_ISSET(in, &ready))
			forward(in, out);
		if (FD_ISSET(out, &ready))
			forward_reply(in, out);
	}
}

static unsigned long count(const struct held *h)
{
	unsigned long n = 0;

	for (; h != NULL; h = h->next)
		n++;
	return n;
}

static void print_ledger(void)
{
	printf("in=%lu out=%lu dropped=%lu repeated=%lu swapped=%lu "
	       "delayed=%lu unsent=%lu markers_in=%lu markers_dropped=%lu "
	       "replies_in=%lu replies_dropped=%lu failed=%lu\n",
	       ledger.in, ledger.out, ledger.dropped, ledger.repeated,
	       ledger.swapped, ledger.delayed, count(counted) + count(timed),
	       ledger.markers_in, ledger.markers_dropped, ledger.replies_in,
	       ledger.replies_dropped, ledger.failed);
}

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

/* Blocks the signals that end it; what was blocked before goes to *before. */
static void catch_signals(sigset_t *before)
{
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t mine;

	sigemptyset(&mine);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGINT);
	sigprocmask(SIG_BLOCK, &mine, before);
	sigdelset(before, SIGTERM);
	sigdelset(before, SIGINT);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
}

int main(int argc, char **argv)
{
	sigset_t before;

	if (argc < 4)
		die("LISTENPORT DESTHOST DESTPORT [RULE]...");
	for (int i = 4; i < argc; i++)
		parse(argv[i]);
	catch_signals(&before);

	struct sockaddr_in from = address("0.0.0.0", argv[1]);
	struct sockaddr_in to = address(argv[2], argv[3]);
	int in = open_socket();
	int out = open_socket();

	if (bind(in, (struct sockaddr *)&from, sizeof(from)) < 0)
		die("the port is taken");
	if (connect(out, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("no way to the server");
	run(in, out, &before);
	print_ledger();
	return 0;
}
