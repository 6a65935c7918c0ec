/*
 * session: who sent this datagram, and what does it mean?  The table of the
 * UDP peers of a server, and the course of one peer's test from its first
 * datagram to the report that is kept for its repeated end markers.  Pure:
 * the caller brings datagrams and times; no socket, no clock.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "block.h"
#include "stats.h"
#include "wire.h"

/* After the end marker, late datagrams are awaited this long while some are
 * missing. */
#define SESSION_SETTLE_NS STATS_LATE_AFTER_NS
/* A finished session's report is kept so long for repeated markers. */
#define SESSION_KEEP_NS 20000000000
/* One that fell silent is kept so long: its sender may come back. */
#define SESSION_SILENT_NS 600000000000
/* Number 0 this long after the end, if it is not the old one again, is that of
 * a new test even when the sender's clock was set back. */
#define SESSION_STRAY_NS 500000000
/* iperf 2.1 and 2.2 count their repeated markers on, up to so many. */
#define SESSION_MARKERS 200
/* A client of ours is greeted at each of its first datagrams and then each
 * time that they have doubled, so that it learns of us through heavy loss. */
#define SESSION_GREETINGS 24
/* A session without datagrams ends after this, or four of its gaps. */
#define SESSION_IDLE_NS 30000000000
/* Of a multicast group's sender, which is not asked for anything: it is over
 * when it is silent for so long beyond the time that it named, or four gaps. */
#define SESSION_BEYOND_NS 2000000000
/* A marker that took this much longer than the last datagram is a repeated
 * one: the first was lost. */
#define SESSION_REPEATED_NS 40000000

/* A peer's address and port; compared as a whole. */
struct session_key {
	uint8_t addr[16];
	uint32_t scope;
	uint16_t family;
	uint16_t port;
};

enum session_phase {
	SESSION_OPEN,     /* data come */
	SESSION_SETTLING, /* the marker came, some numbers are missing */
	SESSION_OVER,     /* the report is fixed */
};

/* What a datagram of a known peer is. */
enum session_verdict {
	SESSION_IGNORE, /* too short, or it comes too late to matter */
	SESSION_DATA,   /* to be counted, as number .seq of .sent_ns */
	SESSION_MARKER, /* the end; total is known now */
	SESSION_REPEAT, /* the end again: answer with the same report */
	SESSION_RENEW,  /* the first datagram of a new test */
	SESSION_RESUME, /* the test goes on after it had fallen silent */
};

/* One-way transit times, as 2.1 and 2.2 servers report them; the clocks need
 * not agree, so they may be negative. */
struct session_transit {
	int64_t min_ns;
	int64_t max_ns;
	int64_t sum_ns;
	uint64_t count;
};

struct session {
	struct session_key key;
	enum session_phase phase;
	enum wire_layout layout;
	struct wire_client client; /* of the first datagram that has room */
	bool has_client;
	bool ours;        /* the client carries our mark */
	bool plain;       /* no header is read (-C); set by the caller */
	bool group;       /* it sends to a multicast group; set by the caller */
	uint64_t greeted; /* datagrams when it was last told that we do too */
	int64_t base;     /* its first number: 0, or 1 of modern iperf 2 */

	uint64_t datagrams;    /* data datagrams seen */
	int64_t first_ns;      /* arrival of the first datagram */
	int64_t last_ns;       /* arrival of the last one that counts */
	int64_t first_sent_ns; /* the sender's stamps of these */
	int64_t last_sent_ns;  /* of the highest number */
	struct session_transit transit;

	int64_t omit_from; /* first number that counts; 0: not known */
	int64_t from_ns;   /* arrival of the first datagram that counts; 0:
			      none yet.  All count unless the client omits */

	int64_t marker_ns;        /* arrival of the first marker seen */
	int64_t marker_sent_ns;   /* its stamp */
	int64_t marker_seq;       /* its number, negative */
	int64_t end_ns;           /* the end of the test, from the rules */
	int64_t over_ns;          /* when the report was fixed */
	bool silent;              /* it ended without a marker: no report yet */
	struct stats_snap before; /* what was counted before it was silent */
	int64_t next_seq;         /* highest number seen + 1 */
	int64_t total;            /* the number behind the last; -1: unknown */

	uint64_t refused;   /* datagrams that came while it is refused */
	uint64_t bytes_in;  /* all that came from this peer */
	uint64_t bytes_out; /* all that was answered */
	uint8_t report[WIRE_REPORT_BYTES + BLOCK_RESULT_BYTES];
	size_t report_bytes; /* 0: none yet */

	void *owner;          /* the caller's own part */
	struct session *next; /* in its chain */
};

struct session_table;

struct session_table *session_table_new(void);
/* Frees the table and its sessions; their owners are the caller's. */
void session_table_free(struct session_table *t);
size_t session_count(const struct session_table *t);
/* The key of an address of family AF_INET or AF_INET6; false: another. */
bool session_key(struct session_key *key, const struct sockaddr_storage *from);
struct session *session_find(const struct session_table *t,
			     const struct session_key *key);
/* NULL: no memory.  There must be none with this key. */
struct session *session_add(struct session_table *t,
			    const struct session_key *key);
void session_drop(struct session_table *t, struct session *s);
/* Calls visit for each; it may drop the one that it is called with. */
void session_each(struct session_table *t,
		  void (*visit)(struct session *s, void *arg), void *arg);

/* Would this datagram of an unknown peer open a session? */
bool session_opens(const uint8_t *p, size_t n);
/* Begins (again) with the datagram that opens it. */
void session_begin(struct session *s, const uint8_t *p, size_t n,
		   int64_t arrival_ns);
/* A test that had fallen silent goes on with a datagram of n bytes, which is to
 * be seen again: numbers from s->next_seq on are counted anew, and its report
 * will hold both parts. */
void session_resume(struct session *s, size_t n);
/* What is this datagram, and its header?  To be asked of each one, the one
 * that opened the session included.  wall_ns is the same moment on the wall
 * clock, for the transit times. */
enum session_verdict session_see(struct session *s, const uint8_t *p, size_t n,
				 int64_t arrival_ns, int64_t wall_ns,
				 struct wire_udp *h);
/* Does this datagram lie in the time that the client leaves out (-O)?  To be
 * asked once for each datagram and marker.  The marker, which never does,
 * tells s->omit_from at the latest, unless something that counts came. */
bool session_omits(struct session *s, const uint8_t *p, size_t n,
		   const struct wire_udp *h, int64_t arrival_ns);
/* True when the time has come to fix the report: the marker came and nothing
 * is missing any more (missing: as stats_rx_missing says), or it settled long
 * enough, or the peer has been silent too long. */
bool session_done(const struct session *s, bool missing, int64_t now_ns);
/* When the test ended, on the line of the arrivals (product rules: the first
 * marker's own time; by the sender's stamps when that was lost; without a
 * marker one mean gap behind the last datagram). */
int64_t session_end_ns(const struct session *s);
/* Fixes the report from what was counted; it is over at now_ns.  beyond: what
 * only a client of ours is told, behind iperf 2's own fields; its figures of
 * iperf 2's report are filled in here. */
void session_finish(struct session *s, const struct stats_snap *counted,
		    const struct block_result *beyond, bool enhanced,
		    int64_t now_ns);
/* Writes the hello for a client of ours, which answers its datagram stamped
 * sent_ns, to p with room for BLOCK_HELLO_BYTES.  Returns its length; 0: none
 * is due, or it would be too much for what came. */
size_t session_hello(struct session *s, int64_t sent_ns, uint64_t cookie,
		     uint8_t *p);
/* The same of a refusal, in answer to a datagram of a test that is not served;
 * BLOCK_REFUSAL_BYTES. */
size_t session_refusal(struct session *s, const struct policy_refusal *r,
		       int64_t sent_ns, uint8_t *p);
/* True while one more report keeps what this peer was sent below three times
 * of what came from it. */
bool session_may_answer(const struct session *s);
/* True when a finished session has been kept long enough. */
bool session_forget(const struct session *s, int64_t now_ns);

#endif
