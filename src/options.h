/*
 * options: what the command line asks for, as everyone else reads it.  Pure.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "out.h"
#include "policy.h"
#include "units.h"

#define OPTIONS_VERSION_TEXT "2.2.100"
/* 1 Pbit/s: up to there pace is exact. */
#define OPTIONS_RATE_MAX INT64_C(1000000000000000)
#define OPTIONS_TIME_NS 10000000000 /* iperf 2 default: 10 s */
#define OPTIONS_UDP_BPS 1048576     /* iperf 2 default */
#define OPTIONS_TCP_LEN 131072      /* iperf 2.0.5 default */
#define OPTIONS_UDP_LEN 1470        /* iperf 2 default, IPv4 */
#define OPTIONS_UDP_LEN_V6 1450     /* iperf 2.1 default, IPv6 */
#define OPTIONS_UDP_LEN_MIN 16
#define OPTIONS_UDP_LEN_MAX 65507
#define OPTIONS_AT_ONCE_NS 10000000
#define OPTIONS_BOUNCE_BYTES 100      /* iperf 2 default */
#define OPTIONS_BOUNCE_NS 1000000000  /* so too */
#define OPTIONS_OMIT_STEP_NS 10000000 /* of -O, as it travels */

enum options_side {
	OPTIONS_NEITHER,
	OPTIONS_SERVER,
	OPTIONS_CLIENT,
	OPTIONS_COMPARE, /* runs nothing: reads the files of experiments */
};

/* What the command line asks for instead of a test. */
enum options_ask {
	OPTIONS_RUN,
	OPTIONS_HELP,
	OPTIONS_VERSION,
	OPTIONS_COMPLETION,
};

/* What the server is taken for: it can't be told beforehand. */
enum options_peer {
	OPTIONS_PEER_2_2,
	OPTIONS_PEER_2_1,
	OPTIONS_PEER_2_0, /* up to 2.0.12: other headers */
};

/* Streams beside those of --bounceback. */
enum options_load {
	OPTIONS_NO_LOAD,
	OPTIONS_LOAD_UP,
	OPTIONS_LOAD_DOWN,
	OPTIONS_LOAD_BOTH,
};

/* Letters of -x. */
#define OPTIONS_NO_CONNECT 1u  /* C */
#define OPTIONS_NO_DATA 2u     /* D: interval rows and totals of streams */
#define OPTIONS_NO_SUM 4u      /* M */
#define OPTIONS_NO_SETTINGS 8u /* S */
#define OPTIONS_NO_SERVER 16u  /* V: the relayed server report */

/* Of experiments. */
#define OPTIONS_ARMS_MAX 8
#define OPTIONS_LABEL_BYTES 24
#define OPTIONS_ROUNDS 12
/* With --precision, which decides when it is enough. */
#define OPTIONS_ROUNDS_MOST 1000
#define OPTIONS_PPM_IN_PERCENT 10000

#define OPTIONS_PORTS_MAX 256
/* How many options that do nothing any more are told of. */
#define OPTIONS_OLD_MAX 8

struct options_arm {
	char label[OPTIONS_LABEL_BYTES];
	const char *command;
};

/* An end of a test, as -B and -c tell of it. */
struct options_place {
	char host[256]; /* "": any; else a name or an address */
	char dev[16];   /* "": any; else a device */
	uint16_t port;  /* 0: any */
};

/* Constant to everyone once parsed.  Strings point into argv or environ. */
struct options {
	enum options_side side;
	enum options_ask ask;
	const char *host;        /* -c as typed */
	struct options_place to; /* its parts, without a port */
	bool udp;
	uint16_t port;
	uint16_t ports;         /* so many from port on; 1 without a range */
	struct units_rate rate; /* -b; both 0 and rate_set: unpaced */
	bool rate_set;
	int64_t time_ns; /* -t; server: how long to serve, 0: for ever */
	bool time_set;
	uint64_t amount_bytes; /* -n; above 0 it rules, not time_ns */
	int64_t interval_ns;   /* -i, 0: totals only */
	uint32_t len_bytes;    /* -l, 0: the default of protocol and family */
	uint32_t parallel;     /* -P; server: accepted streams until it ends */
	bool parallel_set;
	uint32_t window_bytes;     /* -w, 0: the system's */
	const char *bind;          /* -B as typed, NULL: any */
	struct options_place from; /* its parts */
	const char *ssm;           /* -H, the source of a group, NULL: any */
	char format;               /* -f */
	bool csv;                  /* -y C */
	unsigned exclude;          /* -x */
	bool print_mss;            /* -m */
	uint32_t mss_bytes;        /* -M, 0: the system's */
	bool nodelay;              /* -N */
	uint8_t tos;               /* -S */
	bool tos_set;
	uint8_t ttl;        /* -T, 0: the system's; multicast 1 */
	int family;         /* 0: any, 4, 6 */
	bool daemonize;     /* -D */
	bool single;        /* -1: one client at a time */
	bool one_off;       /* --one-off: end after one client */
	const char *cca;    /* -Z, NULL: the system's */
	const char *output; /* -o, NULL: stdout */
	bool enhanced;      /* -e; also set by --histograms, --trip-times */
	enum out_dialect dialect;
	bool json;             /* in place of the text; never with csv */
	const char *json_file; /* JSON beside text or CSV, NULL: none */
	bool reverse;          /* -R: the server sends */
	bool full_duplex;      /* both do, over the same connections */
	bool dual;             /* -d: both do, the server connects back */
	bool tradeoff;         /* -r: so too, one after the other */
	enum options_peer peer_version;
	uint16_t listen_port; /* -L, of -d and -r; the port when not given */
	int64_t omit_ns;      /* -O, below time_ns; 0: everything counts */
	bool histograms;
	bool trip_times;
	const char *permit_key; /* "": made up; NULL: none is needed */
	int64_t key_timeout_ns; /* server: 0: it does not expire */
	/* --isochronous; 0 in the first: no frames */
	uint64_t frames_per_1000s;
	uint64_t frames_bps; /* of all of them */
	uint64_t frames_stdev_bps;
	uint64_t burst_bytes; /* --burst-size, 0: not given */
	int64_t burst_ns;     /* --burst-period, so too */
	uint32_t connects; /* --connect-only: so many, UINT32_MAX: by time; 0:
			      no such test */
	uint32_t near_ppm; /* --near-congestion: part of the round trip, 0: none
			    */
	enum options_load load; /* --working-load */
	uint32_t loads;         /* streams each way */
	/* --bounceback */
	uint32_t bounces; /* requests of a burst, 0: no such test */
	uint32_t bounce_request_bytes;
	uint32_t bounce_reply_bytes; /* 0: as the request */
	int64_t bounce_period_ns;    /* 0: without a pause */
	int64_t bounce_hold_ns;
	bool bounce_no_quickack;
	const char *file;     /* -F: what is sent, NULL: digits */
	bool from_stdin;      /* -I: standard input is */
	bool compat;          /* -C: no client header, at a server: none read */
	bool peer_detect;     /* -X: the server tells its version first */
	bool sum_only;        /* of rows the sums alone; exclude says so too */
	bool hide_ips;        /* addresses are not shown */
	bool utc;             /* times of day too are shown in UTC */
	bool no_fin;          /* UDP: nobody is asked for a report */
	uint64_t fq_bps;      /* --fq-rate: the kernel's pacing, 0: none */
	uint32_t retries;     /* how often a refused connect is tried again */
	int64_t retry_ns;     /* and how long after the last, 0: not given */
	int64_t retry_for_ns; /* or for how long; 0: not given */
	int64_t delay_ns;     /* --txdelay-time */
	int64_t start_wall_ns; /* --txstart-time, Unix time; 0: at once */
	const char *old[OPTIONS_OLD_MAX]; /* what was given and does nothing */
	unsigned n_old;
	struct policy_rules limits; /* server: --allow, --max-... */
	int64_t late_after_ns; /* server: when a missing datagram is lost */
	/* experiments; parts of a million stand for what is in percent */
	struct options_arm arm[OPTIONS_ARMS_MAX];
	unsigned n_arms; /* 0: a test alone */
	uint32_t rounds; /* with a precision: the most of them */
	bool rounds_set;
	uint32_t warmup;        /* rounds before these, not counted */
	uint32_t precision_ppm; /* 0: so many rounds */
	uint32_t margin_ppm;    /* 0: none */
	uint32_t confidence_ppm;
	bool confidence_set;
	int64_t settle_ns;
	int64_t arm_timeout_ns;
	const char *arm_show; /* a command, NULL: none */
	uint64_t seed;
	bool seed_set;
	const char *report; /* the page, NULL: none */
	const char *compare[OPTIONS_ARMS_MAX];
	unsigned n_compare;
};

#define OPTIONS_WHY_BYTES 512

/* "iperf version 2.2.0 (…) pthreads" */
void options_version(FILE *f);
/* Are intervals so short that what waits a moment would show? */
bool options_at_once(const struct options *o);
/* Decimals of a row's times: 1, 2 or 4, as -i, -t and -O need them. */
int options_decimals(const struct options *o);

#endif
