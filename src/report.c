#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "hide.h"

/* A stream that has not begun is looked at this often. */
#define LOOK_NS (50 * CLOCK_MS_NS)
/* A UDP receiver's last row waits so long for an end marker that was lost:
 * what is missing then belongs to it. */
#define AWAIT_END_NS CLOCK_SECOND_NS
/* A last row shorter than this part of an interval joins the one before. */
#define SHORT_PART 20
/* The streams of a test begin within so long of each other. */
#define JOIN_NS (CLOCK_SECOND_NS / 2)
/* First numbers of streams: what a descriptor was in 2.0.x, or a count. */
#define ID_CLASSIC 3
#define ID_CLASSIC_TCP_SERVER 4
#define ID_COUNTED 1
#define ID_BITS 64

/* A sum row that waits for the rows of some members. */
struct pending {
	struct pending *next;
	const struct group *group;
	uint64_t row; /* see sum_key */
	struct record record;
};

/* The streams of one test. */
struct group {
	struct group *next;
	char key[OUT_ADDR_BYTES];
	uint32_t expected;
	uint32_t joined;
	uint32_t finished;    /* members whose totals are printed or left out */
	uint32_t entries;     /* members that are still looked at */
	uint32_t ended;       /* members in the total */
	bool over;            /* the sum of its totals is printed */
	int64_t alone_ns;     /* since then no member runs, 0: one does */
	bool no_result;       /* a stream found nobody: there is no sum */
	bool receiver;        /* its streams receive */
	struct out_conn conn; /* of its first stream */
	int64_t start_ns;     /* of its first stream to begin */
	int64_t from_ns;      /* of what counts of it */
	int64_t end_ns;
	struct stats_snap total;
	struct out_tcp tcp; /* of the total */
	struct out_cpu cpu;
	uint64_t asked_bps;
	uint32_t request_bytes; /* of --bounceback, else 0 */
	enum out_series series;
};

/* A stream, as the report follows it. */
struct entry {
	struct entry *next;
	struct stream *s;
	struct group *group;
	char key[OUT_ADDR_BYTES];
	uint32_t expected;

	int64_t start_ns;          /* 0: not yet */
	uint64_t row;              /* index of the next interval row */
	bool counts;               /* what -O leaves out is printed */
	struct stats_snap printed; /* up to printed_ns */
	int64_t printed_ns;
	uint64_t printed_retransmits;
	bool held; /* a complete row that its end may still join */
	struct stats_snap held_snap;
	int64_t held_ns;
	bool finished; /* its total is printed */
	struct record total;
};

struct report {
	const struct options *o;
	struct out *outs;
	size_t n_outs;
	bool told_old; /* of options that have no effect */
	bool enhanced; /* an out shows what -e shows */
	int64_t interval_ns;
	int64_t short_ns;
	int next_id;   /* counted IDs */
	uint64_t *ids; /* classic IDs: a bit each, 1: taken */
	size_t id_words;
	struct entry *entries;
	struct group *groups;
	struct pending *sums; /* in no order: they are few */

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	bool poked;
	struct entry *added; /* not seen by a tick yet */
	unsigned streams;
};

struct report *report_new(const struct options *o, struct out *outs, size_t n)
{
	struct report *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->o = o;
	r->outs = outs;
	r->n_outs = n;
	for (size_t i = 0; i < n; i++)
		r->enhanced = r->enhanced || outs[i].style.enhanced;
	r->interval_ns = o->interval_ns;
	r->short_ns = o->interval_ns / SHORT_PART;
	r->next_id = ID_COUNTED;
	if (pthread_mutex_init(&r->lock, NULL) != 0) {
		free(r);
		return NULL;
	}
	if (clock_cond_init(&r->changed) < 0) {
		pthread_mutex_destroy(&r->lock);
		free(r);
		return NULL;
	}
	return r;
}

void report_free(struct report *r)
{
	if (r == NULL)
		return;
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r->ids);
	free(r);
}

static bool shows(const struct report *r, unsigned part)
{
	return (r->o->exclude & part) == 0;
}

static void hide(char *text, size_t size)
{
	char all[OUT_NOTE_BYTES];

	(void)snprintf(all, sizeof(all), "%s", text);
	hide_text(text, size, all, NULL);
}

/* c as it is to be shown; kept in *shown when that is something else: the names
 * in c are the movers'. */
static const struct out_conn *hide_conn(const struct report *r,
					const struct out_conn *c,
					struct out_conn *shown)
{
	if (!r->o->hide_ips || c == NULL)
		return c;
	*shown = *c;
	hide(shown->local, sizeof(shown->local));
	hide(shown->peer, sizeof(shown->peer));
	return shown;
}

/* Any of the three may be a name. */
static void hide_banner(struct out_banner *b)
{
	b->host = b->host != NULL ? HIDE_NAME : NULL;
	b->bind = b->bind != NULL ? HIDE_NAME : NULL;
	b->group = b->group != NULL ? HIDE_NAME : NULL;
}

void report_banner(struct report *r, const struct out_banner *banner)
{
	struct out_banner shown = *banner;
	const struct out_banner *b = &shown;

	if (r->o->hide_ips)
		hide_banner(&shown);
	for (size_t i = 0; shows(r, OPTIONS_NO_SETTINGS) && i < r->n_outs; i++)
		r->outs[i].writer->banner(&r->outs[i], b);
}

static void write_connected(struct report *r, const struct out_conn *conn)
{
	struct out_conn shown;
	const struct out_conn *c = hide_conn(r, conn, &shown);

	for (size_t i = 0; shows(r, OPTIONS_NO_CONNECT) && i < r->n_outs; i++)
		r->outs[i].writer->connected(&r->outs[i], c);
}

static bool counts_ids(const struct report *r)
{
	return r->o->dialect == OUT_V21 || r->o->dialect == OUT_V22;
}

void report_connected(struct report *r, const struct out_conn *c)
{
	struct out_conn shown = *c;

	shown.id = ID_CLASSIC;
	if (counts_ids(r))
		shown.id = ID_COUNTED;
	write_connected(r, &shown);
}

void report_connects(struct report *r, const struct out_connects *c)
{
	for (size_t i = 0; i < r->n_outs; i++)
		r->outs[i].writer->connects(&r->outs[i], c);
}

/* The part of the output that this row belongs to. */
static unsigned part_of(const struct record *rec)
{
	if (rec->relayed)
		return OPTIONS_NO_SERVER;
	return rec->sum ? OPTIONS_NO_SUM : OPTIONS_NO_DATA;
}

static void write_row(struct report *r, const struct record *row)
{
	struct out_conn conn;
	struct record shown = *row;
	const struct record *rec = &shown;

	shown.conn = hide_conn(r, row->conn, &conn);
	for (size_t i = 0; shows(r, part_of(rec)) && i < r->n_outs; i++) {
		struct out *out = &r->outs[i];

		if (rec->relayed)
			out->writer->server_report(out, rec);
		else if (rec->total)
			out->writer->last(out, rec);
		else
			out->writer->interval(out, rec);
	}
}

static void write_note(struct report *r, int id, const char *note)
{
	char hidden[OUT_NOTE_BYTES];
	const char *text = note;

	if (r->o->hide_ips) {
		hide_text(hidden, sizeof(hidden), note, r->o->host);
		text = hidden;
	}
	for (size_t i = 0; i < r->n_outs; i++)
		r->outs[i].writer->note(&r->outs[i], id, text);
}

/* What was given and has no effect; once, by the first stream to end. */
static void write_old(struct report *r, int id)
{
	char text[OUT_NOTE_BYTES];
	size_t used = 0;

	for (unsigned i = 0; i < r->o->n_old && used < sizeof(text); i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s--%s",
			i > 0 ? ", " : "no effect: ", r->o->old[i]);
	if (used == 0 || r->told_old)
		return;
	r->told_old = true;
	write_note(r, id, text);
}

static void write_notes(struct report *r, const struct stream *s)
{
	write_old(r, s->conn.id);
	for (size_t n = 0; n < STREAM_NOTES && s->note[n][0] != '\0'; n++)
		write_note(r, s->conn.id, s->note[n]);
}

int report_add(struct report *r, struct stream *s, const char *key,
	       uint32_t expected)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return -ENOMEM;
	e->s = s;
	e->expected = expected;
	(void)snprintf(e->key, sizeof(e->key), "%s", key);

	pthread_mutex_lock(&r->lock);
	struct entry **at = &r->added;

	while (*at != NULL)
		at = &(*at)->next;
	*at = e;
	r->streams++;
	r->poked = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	return 0;
}

void report_poke(struct report *r)
{
	pthread_mutex_lock(&r->lock);
	r->poked = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void report_wait(struct report *r, int64_t due_ns)
{
	pthread_mutex_lock(&r->lock);
	while (!r->poked) {
		if (clock_cond_wait(&r->changed, &r->lock, due_ns) != 0)
			break;
	}
	r->poked = false;
	pthread_mutex_unlock(&r->lock);
}

unsigned report_streams(struct report *r)
{
	pthread_mutex_lock(&r->lock);
	unsigned n = r->streams;
	pthread_mutex_unlock(&r->lock);
	return n;
}

/* The lowest classic ID that is free from first on; ID_CLASSIC without
 * memory. */
static int take_id(struct report *r, unsigned first)
{
	unsigned id = first;

	while (id / ID_BITS < r->id_words &&
	       (r->ids[id / ID_BITS] & UINT64_C(1) << id % ID_BITS) != 0)
		id++;
	if (id / ID_BITS >= r->id_words) {
		size_t words = r->id_words * 2 + 1;
		uint64_t *ids = realloc(r->ids, words * sizeof(*ids));

		if (ids == NULL)
			return ID_CLASSIC;
		memset(ids + r->id_words, 0,
		       (words - r->id_words) * sizeof(*ids));
		r->ids = ids;
		r->id_words = words;
	}
	r->ids[id / ID_BITS] |= UINT64_C(1) << id % ID_BITS;
	return (int)id;
}

/* The classic styles give a stream the lowest free number, as descriptors
 * did; the later ones count on. */
static int next_id(struct report *r)
{
	if (counts_ids(r))
		return r->next_id++;
	return take_id(r, r->o->side == OPTIONS_SERVER && !r->o->udp
				  ? ID_CLASSIC_TCP_SERVER
				  : ID_CLASSIC);
}

static void free_id(struct report *r, int id)
{
	size_t word = (size_t)id / ID_BITS;

	if (!counts_ids(r) && word < r->id_words)
		r->ids[word] &= ~(UINT64_C(1) << (unsigned)id % ID_BITS);
}

/* The open group of this name, or a new one; NULL: no memory. */
static struct group *join_group(struct report *r, const struct entry *e)
{
	struct group *g = r->groups;

	while (g != NULL &&
	       (g->over || g->expected != e->expected ||
		g->joined >= g->expected || strcmp(g->key, e->key) != 0))
		g = g->next;
	if (g == NULL) {
		g = calloc(1, sizeof(*g));
		if (g == NULL)
			return NULL;
		memcpy(g->key, e->key, sizeof(g->key));
		g->expected = e->expected;
		g->conn = e->s->conn;
		g->receiver = e->s->receiver;
		g->next = r->groups;
		r->groups = g;
	}
	g->joined++;
	g->entries++;
	return g;
}

static void take_added(struct report *r)
{
	pthread_mutex_lock(&r->lock);
	struct entry *added = r->added;

	r->added = NULL;
	pthread_mutex_unlock(&r->lock);

	struct entry **at = &r->entries;

	while (*at != NULL)
		at = &(*at)->next;
	while (added != NULL) {
		struct entry *e = added;

		added = e->next;
		e->next = NULL;
		e->s->conn.id = next_id(r);
		e->group = join_group(r, e);
		*at = e;
		at = &e->next;
		write_connected(r, &e->s->conn);
	}
}

static bool has_sums(const struct report *r, const struct group *g)
{
	return g != NULL && (g->expected > 1 || r->o->sum_only);
}

/* The sum row of this index, made when it does not exist; NULL: no memory. */
static struct pending *sum_of(struct report *r, const struct group *g,
			      uint64_t row)
{
	struct pending *p = r->sums;

	while (p != NULL && (p->group != g || p->row != row))
		p = p->next;
	if (p != NULL)
		return p;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->group = g;
	p->row = row;
	p->next = r->sums;
	r->sums = p;
	return p;
}

/* Where the system tells what arrived, that is what a row counts. */
static void set_acked(struct record *rec)
{
	if (rec->tcp.known && rec->tcp.acked_bytes != UINT64_MAX)
		rec->tcp.acked_bytes = rec->d.bytes;
}

static void add_to_sum(struct report *r, const struct group *g, uint64_t row,
		       const struct record *one)
{
	struct pending *p = sum_of(r, g, row);

	if (p == NULL)
		return;

	struct record *sum = &p->record;

	if (sum->streams == 0) {
		*sum = *one;
		sum->id = -1;
		sum->sum = true;
		sum->conn = &g->conn;
		sum->streams = 1;
		return;
	}
	stats_sum(&sum->d, &one->d);
	sum->jitter_mean_ns = stats_jitter_mean(&sum->d);
	sum->tcp.retransmits += one->tcp.retransmits;
	set_acked(sum);
	if (one->start_ns < sum->start_ns)
		sum->start_ns = one->start_ns;
	if (one->end_ns > sum->end_ns)
		sum->end_ns = one->end_ns;
	sum->wall_ns = one->wall_ns;
	sum->streams++;
}

static void read_tcp(const struct entry *e, struct out_tcp *out)
{
	const struct stream_tcp *tcp = &e->s->tcp;

	if (e->s->udp || e->s->receiver || counter_get(&tcp->known) == 0)
		return;
	*out = (struct out_tcp){
		.retransmits =
			counter_get(&tcp->retransmits) - e->printed_retransmits,
		.cwnd_bytes = (uint32_t)counter_get(&tcp->cwnd_bytes),
		.cwnd_packets = (uint32_t)counter_get(&tcp->cwnd_packets),
		.inflight_bytes = (uint32_t)counter_get(&tcp->inflight_bytes),
		.inflight_packets =
			(uint32_t)counter_get(&tcp->inflight_packets),
		.rtt_us = (uint32_t)counter_get(&tcp->rtt_us),
		.rttvar_us = (uint32_t)counter_get(&tcp->rttvar_us),
		.rtt_min_us = (uint32_t)counter_get(&tcp->rtt_min_us),
		.acked_bytes = counter_get(&tcp->arrived_bytes) == UINT64_MAX
				       ? UINT64_MAX
				       : 0,
		.known = true,
	};
}

static enum out_series series_of(const struct stream *s)
{
	if (s->series == NULL)
		return OUT_NO_SERIES;
	return s->receiver ? OUT_TRIPS : OUT_ROUND_TRIPS;
}

static struct record make_record(struct report *r, struct entry *e,
				 int64_t start_ns, int64_t end_ns)
{
	struct record rec = {
		.id = e->s->conn.id,
		.udp = e->s->udp,
		.receiver = e->s->receiver,
		.series = series_of(e->s),
		.request_bytes = e->s->job.bounce.request_bytes,
		.streams = 1,
		.conn = &e->s->conn,
		.start_ns = start_ns - e->start_ns,
		.end_ns = end_ns - e->start_ns,
		.wall_ns = clock_wall_ns() - (clock_ns() - end_ns),
	};

	if (r->enhanced)
		read_tcp(e, &rec.tcp);
	return rec;
}

/* Gaps began at times of the clock; rows tell them from the test's start. */
static void since_start(struct stats_snap *d, int64_t start_ns)
{
	if (d->gap_max > 0)
		d->gap_began_ns -= start_ns;
	if (d->row_gap_max > 0)
		d->row_gap_began_ns -= start_ns;
}

/* Why datagrams are missing; refused: by the sender's system, UINT64_MAX when
 * that is not known here. */
static struct out_causes make_causes(const struct stats_snap *d,
				     uint64_t refused)
{
	struct out_causes c = { .known = d->drops_told };
	uint64_t left = d->lost;

	c.sender_known = refused != UINT64_MAX;
	if (c.sender_known)
		c.sender = refused < left ? refused : left;
	left -= c.sender;
	c.receiver = d->socket_drops < left ? d->socket_drops : left;
	left -= c.receiver;
	c.shared = d->shared_drops < left ? d->shared_drops : left;
	c.path = left - c.shared;
	return c;
}

/* What totals have beyond rows. */
static void complete(const struct entry *e, struct record *rec)
{
	const struct stream *s = e->s;

	rec->total = true;
	rec->asked_bps = s->asked_bps;
	rec->cpu = s->cpu;
	rec->buffer = s->buffer;
	rec->kernel_stamps = s->kernel_stamps;
	rec->delay = s->delay;
	rec->trip = s->trip;
	rec->histogram = s->histogram;
	rec->jitter_mean_ns = stats_jitter_mean(&rec->d);
	if (s->udp && s->receiver)
		rec->causes = make_causes(&rec->d, UINT64_MAX);
	if (!s->receiver)
		rec->offered_bps = (uint64_t)units_bps(
			rec->d.bytes, rec->end_ns - rec->start_ns);
}

/* The sum row that interval number row belongs to: where -O ends, an interval
 * has two. */
static uint64_t sum_key(const struct entry *e, uint64_t row)
{
	return 2 * row + (e->counts || e->s->omit_ns == 0 ? 1 : 0);
}

/* Prints the row of interval number row, which ended at end_ns. */
static void print_row(struct report *r, struct entry *e, uint64_t row,
		      const struct stats_snap *snap, int64_t end_ns)
{
	struct record rec = make_record(r, e, e->printed_ns, end_ns);

	rec.omitted = e->s->omit_ns > 0 && !e->counts;
	stats_diff(&rec.d, snap, &e->printed);
	rec.jitter_mean_ns = stats_jitter_mean(&rec.d);
	since_start(&rec.d, e->start_ns);
	set_acked(&rec);
	e->printed = *snap;
	e->printed_ns = end_ns;
	e->printed_retransmits += rec.tcp.retransmits;
	e->row = row + 1;
	write_row(r, &rec);
	if (has_sums(r, e->group))
		add_to_sum(r, e->group, sum_key(e, row), &rec);
}

/* Is an end foreseen, in time or bytes? */
static bool foresees_end(const struct stream *s)
{
	return s->expect_ns > 0 || s->expect_bytes > 0;
}

/* How long a row waits for the end that may join it: for one that is foreseen
 * nearly until the next row is due, since on a busy host it may be known long
 * after its time. */
static int64_t hold_ns(const struct report *r, const struct entry *e)
{
	return foresees_end(e->s) ? r->interval_ns - r->short_ns : r->short_ns;
}

/* May the stream's end come so soon that it belongs to this row?  Then the
 * row waits for a moment. */
static bool end_is_near(const struct report *r, const struct entry *e,
			const struct stats_snap *snap, int64_t now_ns)
{
	const struct stream *s = e->s;

	if (s->expect_ns > 0)
		return now_ns + 2 * r->short_ns >= e->start_ns + s->expect_ns;
	if (s->expect_bytes > 0)
		return snap->bytes + (snap->bytes - e->printed.bytes) /
					     (SHORT_PART / 2) >=
		       s->expect_bytes;
	return true;
}

/* What a TCP peer has got is known to a segment, so it may seem to shrink. */
static void take_row(struct entry *e, struct stats_snap *snap)
{
	stream_cut(e->s, snap);
	if (snap->bytes < e->printed.bytes)
		snap->bytes = e->printed.bytes;
}

/* Closes the interval whose end has passed at now_ns. */
static void cut_row(struct report *r, struct entry *e, int64_t now_ns)
{
	struct stats_snap snap;
	int64_t passed = (now_ns - e->start_ns) / r->interval_ns;

	if ((uint64_t)passed <= e->row)
		return;
	take_row(e, &snap);
	if (end_is_near(r, e, &snap, now_ns)) {
		e->held = true;
		e->held_snap = snap;
		e->held_ns = now_ns;
		return;
	}
	print_row(r, e, (uint64_t)passed - 1, &snap, now_ns);
}

static uint64_t row_at(const struct report *r, const struct entry *e,
		       int64_t ns)
{
	uint64_t row = (uint64_t)((ns - e->start_ns) / r->interval_ns);

	return row > 0 ? row - 1 : 0;
}

/* Has anything been counted between the two? */
static bool moved(const struct stats_snap *a, const struct stats_snap *b)
{
	return a->bytes != b->bytes || a->written != b->written ||
	       a->packets != b->packets || a->lost != b->lost ||
	       a->duplicate != b->duplicate || a->too_late != b->too_late ||
	       a->late != b->late || a->gaps != b->gaps ||
	       a->errors != b->errors || a->blocked != b->blocked ||
	       a->icmp != b->icmp || a->socket_drops != b->socket_drops ||
	       a->shared_drops != b->shared_drops ||
	       a->clock_steps != b->clock_steps || a->samples != b->samples;
}

/* The time that -O leaves out ends at omit_end_ns: a row ends there, and what
 * is left of its interval is a row of its own, unless that is too short. */
static void print_omitted(struct report *r, struct entry *e,
			  int64_t omit_end_ns)
{
	uint64_t passed = (uint64_t)((omit_end_ns - e->start_ns + r->short_ns) /
				     r->interval_ns);

	if (e->held && omit_end_ns - e->held_ns >= r->short_ns)
		print_row(r, e, row_at(r, e, e->held_ns), &e->held_snap,
			  e->held_ns);
	e->held = false;
	if (omit_end_ns > e->printed_ns)
		print_row(r, e, passed > e->row ? passed - 1 : e->row,
			  &e->s->omit_snap, omit_end_ns);
	e->row = passed;
	e->counts = true;
}

/* Is the row that is due to wait for the end of what -O leaves out? */
static bool awaits_omit(struct report *r, struct entry *e)
{
	int64_t omit_end_ns =
		atomic_load_explicit(&e->s->omit_end_ns, memory_order_acquire);
	int64_t row_end_ns =
		e->start_ns + (int64_t)(e->row + 1) * r->interval_ns;

	if (e->s->omit_ns == 0 || e->counts)
		return false;
	if (omit_end_ns == 0)
		return row_end_ns > e->start_ns + e->s->omit_ns - r->short_ns;
	print_omitted(r, e, omit_end_ns);
	return false;
}

/* Is the row that is due the last one, and the end marker late? */
static bool awaits_end(const struct report *r, const struct entry *e,
		       int64_t now_ns)
{
	int64_t last_ns = e->start_ns + e->s->expect_ns;

	return e->s->udp && e->s->receiver && e->s->expect_ns > 0 &&
	       now_ns >= last_ns - r->short_ns &&
	       now_ns < last_ns + AWAIT_END_NS;
}

/* The rows that are still open when the stream has ended at end_ns. */
static void last_rows(struct report *r, struct entry *e, int64_t end_ns,
		      struct stats_snap *snap)
{
	if (e->held && end_ns - e->held_ns >= r->short_ns)
		print_row(r, e, row_at(r, e, e->held_ns), &e->held_snap,
			  e->held_ns);
	else if (e->held)
		stats_join_rows(snap, &e->held_snap);
	if (snap->bytes < e->printed.bytes)
		snap->bytes = e->printed.bytes;
	e->held = false;
	/* the end is a time of the data, so it may lie before the last tick */
	if (end_ns <= e->printed_ns && !moved(snap, &e->printed))
		return;
	if (end_ns - e->printed_ns < r->short_ns && e->row > 0 &&
	    !moved(snap, &e->printed))
		return;
	print_row(r, e, e->row, snap,
		  end_ns > e->printed_ns ? end_ns : e->printed_ns);
}

/* When what counts began. */
static int64_t counted_from(const struct entry *e, int64_t end_ns)
{
	int64_t omit_end_ns = atomic_load(&e->s->omit_end_ns);

	if (e->s->omit_ns == 0)
		return e->start_ns;
	return omit_end_ns != 0 ? omit_end_ns : end_ns;
}

static void add_to_total(struct entry *e, const struct stats_snap *snap,
			 int64_t from_ns, int64_t end_ns)
{
	struct group *g = e->group;

	if (g == NULL)
		return;
	if (g->ended == 0 || e->start_ns < g->start_ns)
		g->start_ns = e->start_ns;
	if (g->ended == 0 || from_ns < g->from_ns)
		g->from_ns = from_ns;
	if (g->ended == 0 || end_ns > g->end_ns)
		g->end_ns = end_ns;
	stats_sum(&g->total, snap);
	g->ended++;
}

/* What the total of the group has beyond the ledger. */
static void complete_group(struct group *g, const struct record *one)
{
	g->tcp.retransmits += one->tcp.retransmits;
	g->tcp.known = one->tcp.known;
	g->tcp.acked_bytes = one->tcp.acked_bytes;
	g->cpu.user_ns += one->cpu.user_ns;
	g->cpu.system_ns += one->cpu.system_ns;
	g->cpu.known = one->cpu.known;
	g->cpu.shared = g->cpu.shared || one->cpu.shared;
	g->asked_bps += one->asked_bps;
	g->request_bytes = one->request_bytes;
	g->series = one->series;
}

/* The stream has ended: its last row and its total. */
static void finish(struct report *r, struct entry *e, int64_t end_ns)
{
	struct stats_snap snap;

	e->finished = true;
	if (e->group != NULL)
		e->group->finished++;
	if (e->s->no_result) {
		if (e->group != NULL)
			e->group->no_result = true;
		return;
	}
	take_row(e, &snap);
	if (e->start_ns == 0)
		e->start_ns = e->printed_ns = end_ns;
	if (r->interval_ns > 0) {
		(void)awaits_omit(r, e);
		last_rows(r, e, end_ns, &snap);
	}

	struct record rec;
	int64_t from_ns = counted_from(e, end_ns);

	e->printed_retransmits = 0; /* the total has them all */
	rec = make_record(r, e, from_ns, end_ns);
	stream_counted(e->s, &snap, &rec.d);
	if (e->s->series != NULL) {
		series_delay(e->s->series, &rec.samples);
		rec.d.sample_min_ns = rec.samples.min_ns;
		rec.d.sample_max_ns = rec.samples.max_ns;
	}
	add_to_total(e, &rec.d, from_ns, end_ns);
	since_start(&rec.d, e->start_ns);
	set_acked(&rec);
	complete(e, &rec);
	e->total = rec;
	if (e->group != NULL)
		complete_group(e->group, &rec);
	write_notes(r, e->s);
	write_row(r, &rec);
}

/* Does what is due for one stream; returns when it is due again. */
static int64_t follow(struct report *r, struct entry *e, int64_t now_ns)
{
	int64_t end_ns =
		atomic_load_explicit(&e->s->end_ns, memory_order_acquire);

	if (e->start_ns == 0) {
		e->start_ns = atomic_load(&e->s->start_ns);
		e->printed_ns = e->start_ns;
	}
	if (e->finished)
		return INT64_MAX;
	if (end_ns != 0) {
		finish(r, e, end_ns);
		return INT64_MAX;
	}
	/* what is missing settles first, and the end may join the last row */
	if (e->start_ns == 0 || atomic_load(&e->s->ending))
		return now_ns + LOOK_NS;
	if (r->interval_ns == 0)
		return INT64_MAX;
	if (awaits_omit(r, e) || awaits_end(r, e, now_ns))
		return now_ns + r->short_ns;
	if (e->held && now_ns - e->held_ns >= hold_ns(r, e)) {
		print_row(r, e, row_at(r, e, e->held_ns), &e->held_snap,
			  e->held_ns);
		e->held = false;
	}
	if (!e->held)
		cut_row(r, e, now_ns);
	if (e->held)
		return e->held_ns + hold_ns(r, e);
	return e->start_ns + (int64_t)(e->row + 1) * r->interval_ns;
}

/* Have all members printed the row of this index? */
static bool row_complete(const struct report *r, const struct group *g,
			 uint64_t key)
{
	for (const struct entry *e = r->entries; e != NULL; e = e->next) {
		if (e->group == g && !e->finished && sum_key(e, e->row) <= key)
			return false;
	}
	return true;
}

/* Where the group's earliest sum row hangs; NULL: it has none. */
static struct pending **first_sum(struct report *r, const struct group *g)
{
	struct pending **first = NULL;

	for (struct pending **at = &r->sums; *at != NULL; at = &(*at)->next) {
		if ((*at)->group == g &&
		    (first == NULL || (*at)->row < (*first)->row))
			first = at;
	}
	return first;
}

static void print_sums(struct report *r, const struct group *g)
{
	for (struct pending **at = first_sum(r, g);
	     at != NULL && row_complete(r, g, (*at)->row);
	     at = first_sum(r, g)) {
		struct pending *p = *at;

		*at = p->next;
		if (!g->no_result)
			write_row(r, &p->record);
		free(p);
	}
}

static void print_total(struct report *r, struct group *g)
{
	struct record rec = {
		.id = -1,
		.sum = true,
		.udp = g->conn.udp,
		.receiver = g->receiver,
		.total = true,
		.streams = g->joined,
		.conn = &g->conn,
		.start_ns = g->from_ns - g->start_ns,
		.end_ns = g->end_ns - g->start_ns,
		.wall_ns = clock_wall_ns() - (clock_ns() - g->end_ns),
		.d = g->total,
		.tcp = g->tcp,
		.cpu = g->cpu,
		.asked_bps = g->asked_bps,
		.series = g->series,
		.request_bytes = g->request_bytes,
		.jitter_mean_ns = stats_jitter_mean(&g->total),
	};

	since_start(&rec.d, g->start_ns);
	set_acked(&rec);
	if (!rec.receiver)
		rec.offered_bps = (uint64_t)units_bps(
			rec.d.bytes, rec.end_ns - rec.start_ns);
	else if (rec.udp)
		rec.causes = make_causes(&rec.d, UINT64_MAX);

	write_row(r, &rec);
}

static void close_group(struct report *r, struct group *g)
{
	if (has_sums(r, g) && !g->no_result)
		print_total(r, g);
	g->over = true;
}

/* Of short tests the first stream can end before the last one is there: their
 * sum waits a moment.  When it is due, INT64_MAX: with the next event. */
static int64_t follow_group(struct report *r, struct group *g, int64_t now_ns)
{
	if (g->over)
		return INT64_MAX;
	if (has_sums(r, g))
		print_sums(r, g);
	if (g->finished < g->joined) {
		g->alone_ns = 0;
		return INT64_MAX;
	}
	if (g->alone_ns == 0)
		g->alone_ns = now_ns;
	if (g->joined < g->expected && now_ns < g->alone_ns + JOIN_NS)
		return g->alone_ns + JOIN_NS;
	close_group(r, g);
	return INT64_MAX;
}

/* What iperf 2's own report says; trips: the clocks are meant to agree. */
static void read_report(const struct wire_report *w, bool trips,
			struct record *rec)
{
	rec->end_ns = w->duration_ns;
	rec->d = (struct stats_snap){
		.bytes = w->bytes,
		.packets = w->total > w->lost ? w->total - w->lost : 0,
		.lost = w->lost,
		.late = w->out_of_order,
		.jitter_ns = w->jitter_ns,
	};
	rec->trip = (struct stats_delay){
		.known = trips && w->enhanced && w->transit_count > 0,
		.count = w->transit_count,
		.min_ns = w->transit_min_ns,
		.mean_ns = w->transit_mean_ns,
		.max_ns = w->transit_max_ns,
	};
}

/* What a server of ours says. */
static void read_block(const struct entry *e, struct record *rec)
{
	const struct block_result *b = &e->s->block;

	rec->own_report = true;
	rec->start_ns = b->omitted_ns;
	rec->end_ns = b->omitted_ns + b->duration_ns;
	rec->d = (struct stats_snap){
		.bytes = b->bytes,
		.packets = b->packets,
		.lost = b->lost,
		.late = b->late,
		.too_late = b->too_late,
		.duplicate = b->duplicate,
		.gaps = b->gaps,
		.gap_max = b->gap_max,
		.gap_max_ns = b->gap_max_ns,
		.gap_began_ns = b->gap_began_ns,
		.jitter_ns = b->jitter_ns,
		.jitter_max_ns = b->jitter_max_ns,
		.socket_drops = b->socket_drops,
		.shared_drops = b->shared_drops,
		.clock_steps = b->clock_steps,
		.drops_told = b->drops_known,
	};
	rec->jitter_mean_ns = b->jitter_mean_ns;
	rec->kernel_stamps = b->kernel_stamps;
	rec->delay = (struct stats_delay){
		.known = b->delay_known,
		.count = b->packets,
		.mean_ns = b->delay_mean_ns,
		.p50_ns = b->delay_p50_ns,
		.p99_ns = b->delay_p99_ns,
		.p999_ns = b->delay_p999_ns,
		.max_ns = b->delay_max_ns,
	};
	rec->trip = (struct stats_delay){
		.known = b->trip_known,
		.count = rec->udp ? b->packets : 0, /* those are reads */
		.min_ns = b->trip_min_ns,
		.mean_ns = b->trip_mean_ns,
		.max_ns = b->trip_max_ns,
	};
	rec->cpu = (struct out_cpu){
		.known = b->cpu_known,
		.shared = b->cpu_shared,
		.user_ns = b->cpu_user_ns,
		.system_ns = b->cpu_system_ns,
	};
	rec->buffer = (struct out_buffer){
		.asked = b->buffer_asked,
		.granted = b->buffer_granted,
	};
	if (rec->udp)
		rec->causes = make_causes(&rec->d, e->total.d.errors);
}

/* What the server said, as a row on the client. */
static void print_server_report(struct report *r, struct entry *e)
{
	struct record rec = {
		.id = e->s->conn.id,
		.udp = e->s->udp,
		.receiver = true,
		.relayed = true,
		.total = true,
		.streams = 1,
		.conn = &e->s->conn,
		.wall_ns = clock_wall_ns(),
		.asked_bps = e->s->asked_bps,
		.offered_bps = e->total.offered_bps,
	};

	if (e->s->has_block)
		read_block(e, &rec);
	else
		read_report(&e->s->report, r->o->trip_times, &rec);
	if (e->s->omit_ns > 0 && rec.start_ns == 0)
		write_note(r, rec.id,
			   "the server's report is of the whole test");
	write_row(r, &rec);
}

/* Lets go of streams that are closed, with the server's word about them
 * once their whole group has ended. */
static void release(struct report *r)
{
	struct entry **at = &r->entries;

	while (*at != NULL) {
		struct entry *e = *at;

		if (!e->finished || !atomic_load(&e->s->closed) ||
		    (e->s->has_report && e->group != NULL && !e->group->over)) {
			at = &e->next;
			continue;
		}
		if (e->s->has_report)
			print_server_report(r, e);
		*at = e->next;
		free_id(r, e->s->conn.id);
		if (e->group != NULL)
			e->group->entries--;
		atomic_store(&e->s->reported, true);
		free(e);
		pthread_mutex_lock(&r->lock);
		r->streams--;
		pthread_mutex_unlock(&r->lock);
	}
}

static void free_groups(struct report *r)
{
	struct group **at = &r->groups;

	while (*at != NULL) {
		struct group *g = *at;

		if (!g->over || g->entries > 0) {
			at = &g->next;
			continue;
		}
		*at = g->next;
		free(g);
	}
}

void report_end(struct report *r)
{
	for (struct group *g = r->groups; g != NULL; g = g->next) {
		if (!g->over && g->finished == g->joined)
			close_group(r, g);
	}
	free_groups(r);
}

int64_t report_tick(struct report *r, int64_t now_ns)
{
	int64_t due_ns = INT64_MAX;

	take_added(r);
	for (struct entry *e = r->entries; e != NULL; e = e->next) {
		int64_t e_due_ns = follow(r, e, now_ns);

		if (e_due_ns < due_ns)
			due_ns = e_due_ns;
	}
	for (struct group *g = r->groups; g != NULL; g = g->next) {
		int64_t g_due_ns = follow_group(r, g, now_ns);

		if (g_due_ns < due_ns)
			due_ns = g_due_ns;
	}
	release(r);
	free_groups(r);
	return due_ns;
}
