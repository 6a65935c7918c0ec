/*
 * relay: forwards the datagrams of one UDP client to a server and the replies
 * back, and does to single datagrams what it is told.  For tests only.
 *
 *     relay LISTENPORT DESTHOST DESTPORT [WHAT=LIST]...
 *
 *     drop=N,N      the datagrams with these numbers are lost
 *     dup=N,N       they are sent twice
 *     swap=N:D,N:D  N is sent after D more datagrams have passed
 *     delay=N:MS    N is sent MS milliseconds late
 *     replies=N     the first N replies of the server are lost
 *
 * A number is the first word of a datagram, big-endian; end markers, which are
 * negative there, pass.  Ends with SIGTERM or SIGINT.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_RULES 256
#define MAX_HELD 16
#define MAX_BYTES 65536
#define NSEC_PER_MSEC 1000000

enum action {
	DROP,
	DUP,
	SWAP,
	DELAY,
};

struct rule {
	enum action action;
	int32_t number;
	int amount; /* SWAP: datagrams; DELAY: milliseconds */
};

/* A datagram that waits for its turn. */
struct held {
	bool used;
	bool counted; /* after .passes more datagrams, else at .due_ns */
	int passes;
	int64_t due_ns;
	size_t len;
	uint8_t data[MAX_BYTES];
};

static struct rule rules[MAX_RULES];
static size_t n_rules;
static struct held held[MAX_HELD];
static int drop_replies;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "relay: %s\n", what);
	exit(1);
}

static void add_rules(enum action action, char *list)
{
	for (char *item = strtok(list, ","); item; item = strtok(NULL, ",")) {
		char *end;

		if (n_rules == MAX_RULES)
			die("too many rules");
		struct rule *r = &rules[n_rules++];

		r->action = action;
		r->number = (int32_t)strtol(item, &end, 10);
		r->amount = *end == ':' ? atoi(end + 1) : 0;
	}
}

static void parse(char *arg)
{
	static const char *const names[] = { "drop=", "dup=", "swap=",
					     "delay=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(arg, names[i], len) == 0) {
			add_rules((enum action)i, arg + len);
			return;
		}
	}
	if (strncmp(arg, "replies=", 8) != 0)
		die("what is this argument?");
	drop_replies = atoi(arg + 8);
}

static const struct rule *rule_for(int32_t number)
{
	for (size_t i = 0; number >= 0 && i < n_rules; i++)
		if (rules[i].number == number)
			return &rules[i];
	return NULL;
}

static void pass_on(int fd, const uint8_t *data, size_t len)
{
	if (send(fd, data, len, 0) < 0 && errno != ECONNREFUSED)
		perror("relay: send");
}

static void hold(const struct rule *r, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < MAX_HELD; i++) {
		struct held *h = &held[i];

		if (h->used)
			continue;
		h->used = true;
		h->counted = r->action == SWAP;
		h->passes = r->amount;
		h->due_ns = now_ns() + (int64_t)r->amount * NSEC_PER_MSEC;
		h->len = len;
		memcpy(h->data, data, len);
		return;
	}
	die("too many datagrams held");
}

/* Sends what has waited long enough; passed: a datagram has just gone by. */
static void release(int fd, bool passed)
{
	for (size_t i = 0; i < MAX_HELD; i++) {
		struct held *h = &held[i];

		if (!h->used)
			continue;
		if (h->counted && passed)
			h->passes--;
		if (h->counted ? h->passes > 0 : h->due_ns > now_ns())
			continue;
		h->used = false;
		pass_on(fd, h->data, h->len);
	}
}

static void handle(int fd, const uint8_t *data, size_t len)
{
	int32_t number = -1;

	if (len >= 4)
		number = (int32_t)((uint32_t)data[0] << 24 |
				   (uint32_t)data[1] << 16 |
				   (uint32_t)data[2] << 8 | data[3]);
	const struct rule *r = rule_for(number);

	if (r && r->action == DROP)
		return;
	if (r && r->action != DUP) {
		hold(r, data, len);
		return;
	}
	pass_on(fd, data, len);
	if (r)
		pass_on(fd, data, len);
	release(fd, true);
}

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int room = 4 << 20;

	if (fd < 0)
		die("no socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
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
	struct pollfd p[] = { { .fd = in, .events = POLLIN },
			      { .fd = out, .events = POLLIN } };

	if (poll(p, 2, 1) < 0)
		die("poll");
	release(out, false);
	if (p[0].revents & POLLIN) {
		ssize_t n = recvfrom(in, data, sizeof(data), 0,
				     (struct sockaddr *)&client, &client_len);

		if (n < 0 ||
		    connect(in, (struct sockaddr *)&client, client_len) < 0)
			die("the client's datagram");
		handle(out, data, (size_t)n);
	}
	if (p[1].revents) {
		ssize_t n = recv(out, data, sizeof(data), 0);

		if (n >= 0 && drop_replies-- <= 0)
			pass_on(in, data, (size_t)n);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		die("LISTENPORT DESTHOST DESTPORT [WHAT=LIST]...");
	for (int i = 4; i < argc; i++)
		parse(argv[i]);

	struct sockaddr_in from = address("0.0.0.0", argv[1]);
	struct sockaddr_in to = address(argv[2], argv[3]);
	int in = open_socket();
	int out = open_socket();

	if (bind(in, (struct sockaddr *)&from, sizeof(from)) < 0)
		die("the port is taken");
	if (connect(out, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("no way to the server");
	for (;;)
		forward(in, out);
}
