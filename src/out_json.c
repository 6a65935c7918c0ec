/*
 * out_json: records as JSON, one object on one line per event.  The man page
 * documents each field.  A field is absent only where it has no meaning for
 * that kind of row (jitter of TCP), and null where its value is not known or
 * not defined.  Numbers are made from integers, so no locale changes them and
 * no NaN gets in.
 */
#include "out.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abresult.h"
#include "hist.h"
#include "options.h"
#include "stats.h"
#include "units.h"

/* Digits after the point that make the unit of out.h the one of a name. */
enum digits {
	NS_IN_US = 3,
	NS_IN_MS = 6,
	NS_IN_S = 9,
	US_IN_S = 6,
};

/* A line on its way. */
struct line {
	FILE *file; /* into text; NULL: no memory */
	char *text;
	size_t len;
	bool comma; /* the next field stands behind another */
};

/* Fields. */

static void key(struct line *l, const char *name)
{
	fprintf(l->file, "%s\"%s\":", l->comma ? "," : "", name);
	l->comma = true;
}

static void put_null(struct line *l, const char *name)
{
	key(l, name);
	fputs("null", l->file);
}

static void put_bool(struct line *l, const char *name, bool value)
{
	key(l, name);
	fputs(value ? "true" : "false", l->file);
}

static void put_count(struct line *l, const char *name, uint64_t value)
{
	key(l, name);
	fprintf(l->file, "%" PRIu64, value);
}

static void put_count_if(struct line *l, const char *name, bool known,
			 uint64_t value)
{
	if (known)
		put_count(l, name, value);
	else
		put_null(l, name);
}

/* ".25" of 25 and two digits; nothing of 0. */
static void put_fraction(struct line *l, uint64_t part, int digits)
{
	if (part == 0)
		return;
	for (; part % 10 == 0; part /= 10)
		digits--;
	fprintf(l->file, ".%0*" PRIu64, digits, part);
}

/* value / 10^digits, all of it. */
static void number_fixed(struct line *l, int64_t value, int digits)
{
	uint64_t abs = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	uint64_t unit = 1;

	for (int i = 0; i < digits; i++)
		unit *= 10;
	fprintf(l->file, "%s%" PRIu64, value < 0 ? "-" : "", abs / unit);
	put_fraction(l, abs % unit, digits);
}

static void put_fixed(struct line *l, const char *name, int64_t value,
		      int digits)
{
	key(l, name);
	number_fixed(l, value, digits);
}

static void put_fixed_if(struct line *l, const char *name, bool known,
			 int64_t value, int digits)
{
	if (known)
		put_fixed(l, name, value, digits);
	else
		put_null(l, name);
}

/* part / whole with nine digits, null when there is no whole. */
static void put_ratio(struct line *l, const char *name, double part,
		      double whole)
{
	if (!(whole > 0)) {
		put_null(l, name);
		return;
	}

	double abs = fabs(part / whole);
	double floored = floor(abs);
	uint64_t rest = (uint64_t)((abs - floored) * 1e9 + 0.5);

	if (rest >= 1000000000) {
		floored += 1;
		rest -= 1000000000;
	}
	key(l, name);
	fprintf(l->file, "%s%.0f", part < 0 && abs > 0 ? "-" : "", floored);
	put_fraction(l, rest, 9);
}

/* How many bytes of s are one valid character of UTF-8 (RFC 3629 4), 0: none.
 * The NUL at the end stops it. */
static size_t utf8_len(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf; /* of the second byte */
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0) /* no overlong forms */
		low = 0xa0;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xed) /* no surrogates */
		high = 0x9f;
	else if (s[0] == 0xf4) /* nothing above U+10FFFF */
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return len;
}

/* A JSON string; each byte that is not UTF-8 becomes U+FFFD. */
static void string(struct line *l, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', l->file);
	while (*s != '\0') {
		size_t len = utf8_len(s);

		if (len == 0)
			fputs("\\ufffd", l->file);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(l->file, "\\u%04x", (unsigned)*s);
		else if (*s == '"' || *s == '\\')
			fprintf(l->file, "\\%c", *s);
		else
			fwrite(s, 1, len, l->file);
		s += len > 0 ? len : 1;
	}
	fputc('"', l->file);
}

/* NULL: null */
static void put_text(struct line *l, const char *name, const char *text)
{
	if (text == NULL) {
		put_null(l, name);
		return;
	}
	key(l, name);
	string(l, text);
}

static void object_begin(struct line *l, const char *name)
{
	key(l, name);
	fputc('{', l->file);
	l->comma = false;
}

static void object_end(struct line *l)
{
	fputc('}', l->file);
	l->comma = true;
}

/* Lines. */

static bool line_begin(struct line *l, const char *event)
{
	*l = (struct line){ .comma = false };
	l->file = open_memstream(&l->text, &l->len);
	if (l->file == NULL)
		return false;
	fputc('{', l->file);
	put_text(l, "event", event);
	return true;
}

/* Any thread may write to o->file, so a line leaves in one call.  Without
 * memory a reader must still see that a line is missing. */
static void line_end(struct line *l, struct out *o)
{
	bool whole = l->file != NULL;

	if (whole) {
		fputc('}', l->file);
		whole = ferror(l->file) == 0;
		whole = fclose(l->file) == 0 && whole;
	}
	if (whole)
		fprintf(o->file, "%s\n", l->text);
	else
		fprintf(o->file,
			"{\"event\":\"error\",\"error\":\"out of memory: an "
			"event is missing here\"}\n");
	fflush(o->file);
	free(l->text);
}

static void put_protocol(struct line *l, bool udp)
{
	put_text(l, "protocol", udp ? "UDP" : "TCP");
}

static void put_wall_time(struct line *l, int64_t wall_ns)
{
	put_fixed(l, "wall_time", wall_ns / 1000, US_IN_S);
}

static void put_ends(struct line *l, const struct out_conn *c)
{
	put_text(l, "local_host", c->local);
	put_count(l, "local_port", c->local_port);
	put_text(l, "remote_host", c->peer);
	put_count(l, "remote_port", c->peer_port);
}

/* start, connected, error. */

static void put_client_options(struct line *l, const struct out_banner *b)
{
	put_text(l, "host", b->host);
	put_count(l, "num_streams", b->flows);
	put_count_if(l, "target_bitrate", b->rate_bps > 0, b->rate_bps);
	put_count_if(l, "fq_rate", b->fq_bps > 0, b->fq_bps);
	if (b->udp) {
		put_count_if(l, "target_packets_per_second", b->rate_pps > 0,
			     b->rate_pps);
		put_fixed_if(l, "packet_gap_ms", b->gap_ns > 0,
			     (int64_t)b->gap_ns, NS_IN_MS);
	}
	put_count_if(l, "bytes", b->amount_bytes > 0, b->amount_bytes);
	put_fixed(l, "omit", b->omit_ns, NS_IN_S);
}

static void put_start(struct line *l, const struct out_banner *b)
{
	put_text(l, "version", OPTIONS_VERSION_TEXT);
	put_wall_time(l, b->wall_ns);
	put_count(l, "pid", b->pid);
	put_text(l, "role", b->server ? "server" : "client");
	put_protocol(l, b->udp);
	put_count(l, "port", b->port);
	put_text(l, "bind", b->bind);
	put_text(l, "multicast_group", b->group);
	put_count_if(l, "ttl", b->ttl > 0, (uint64_t)b->ttl);
	put_count(l, "tos", b->tos);
	put_count(l, "blksize", b->len_bytes);
	put_count_if(l, "sock_bufsize", b->window_asked > 0, b->window_asked);
	put_count_if(l, b->server ? "rcvbuf_actual" : "sndbuf_actual",
		     b->window_granted > 0, b->window_granted);
	if (!b->udp) {
		put_text(l, "congestion", b->cca);
		put_bool(l, "nodelay", b->nodelay);
		put_count_if(l, "target_mss", b->mss > 0, b->mss);
	}
	put_fixed_if(l, "duration", b->time_ns > 0, b->time_ns, NS_IN_S);
	put_fixed_if(l, "interval", b->interval_ns > 0, b->interval_ns,
		     NS_IN_S);
	if (!b->server)
		put_client_options(l, b);
}

static void json_banner(struct out *o, const struct out_banner *b)
{
	struct line l;

	if (line_begin(&l, "start"))
		put_start(&l, b);
	line_end(&l, o);
}

static void put_connected(struct line *l, const struct out_conn *c)
{
	key(l, "socket");
	fprintf(l->file, "%d", c->id);
	put_protocol(l, c->udp);
	put_text(l, "role", c->client ? "client" : "server");
	put_ends(l, c);
	put_wall_time(l, c->wall_ns);
	if (!c->udp) {
		put_count_if(l, "tcp_mss", c->mss > 0, c->mss);
		put_count_if(l, "pmtu", c->mtu > 0, c->mtu);
	}
	if (!c->udp && c->client)
		put_fixed_if(l, "connect_ms", c->connect_ns > 0, c->connect_ns,
			     NS_IN_MS);
	put_text(l, "mode", c->mode);
	put_text(l, "peer_version",
		 c->peer_version[0] != '\0' ? c->peer_version : NULL);
}

static void json_connected(struct out *o, const struct out_conn *c)
{
	struct line l;

	if (line_begin(&l, "connected"))
		put_connected(&l, c);
	line_end(&l, o);
}

/* By any thread, at any time: touches nothing in o but its file. */
static void json_failed(struct out *o, const char *text)
{
	struct line l;

	if (line_begin(&l, "error"))
		put_text(&l, "error", text);
	line_end(&l, o);
}

/* Rows. */

/* A server of iperf 2 tells a few figures only; the rest of its row is not
 * zero but unknown. */
static bool tells_all(const struct record *r)
{
	return !r->relayed || r->own_report;
}

static int64_t row_ns(const struct record *r)
{
	return r->end_ns - r->start_ns;
}

static void put_pps(struct line *l, const struct record *r)
{
	put_ratio(l, "packets_per_second", (double)r->d.packets * 1e9,
		  (double)row_ns(r));
}

static void put_bps(struct line *l, const char *name, const struct record *r)
{
	if (row_ns(r) <= 0) {
		put_null(l, name);
		return;
	}
	key(l, name);
	fprintf(l->file, "%.0f", units_bps(r->d.bytes, row_ns(r)));
}

/* What is common to all: who, when, how much. */
static void put_row(struct line *l, const struct record *r)
{
	if (r->sum) {
		put_bool(l, "total", r->total);
		put_count(l, "num_streams", r->streams);
	} else {
		key(l, "socket");
		fprintf(l->file, "%d", r->id);
	}
	put_protocol(l, r->udp);
	put_bool(l, "sender", !r->receiver);
	if (r->relayed)
		put_bool(l, "own_report", r->own_report);
	if (r->total && !r->sum)
		put_ends(l, r->conn);
	put_fixed(l, "start", r->start_ns, NS_IN_S);
	put_fixed(l, "end", r->end_ns, NS_IN_S);
	put_fixed(l, "seconds", row_ns(r), NS_IN_S);
	put_wall_time(l, r->wall_ns);
	if (!r->total)
		put_bool(l, "omitted", r->omitted);
	put_count(l, "bytes", r->d.bytes);
	put_bps(l, "bits_per_second", r);
}

/* Of --bounceback and of TCP's --trip-times, whose rows alone have it. */
static void put_series(struct line *l, const struct record *r)
{
	const struct stats_snap *d = &r->d;
	const struct stats_delay *all = &r->samples;
	double mean_ns = stats_sample_mean(d);
	bool any = d->samples > 0;

	object_begin(l,
		     r->series == OUT_TRIPS ? "trip_time_ms" : "round_trip_ms");
	put_count(l, "count", d->samples);
	put_fixed_if(l, "min", any, d->sample_min_ns, NS_IN_MS);
	put_fixed_if(l, "mean", any, (int64_t)mean_ns, NS_IN_MS);
	put_fixed_if(l, "max", any, d->sample_max_ns, NS_IN_MS);
	put_fixed_if(l, "stdev", any, (int64_t)stats_sample_deviation(d),
		     NS_IN_MS);
	if (r->total && !r->sum) {
		put_fixed_if(l, "p50", all->known, all->p50_ns, NS_IN_MS);
		put_fixed_if(l, "p99", all->known, all->p99_ns, NS_IN_MS);
		put_fixed_if(l, "p99_9", all->known, all->p999_ns, NS_IN_MS);
	}
	object_end(l);
	if (r->series == OUT_TRIPS)
		return;
	put_count_if(l, "responses_per_second", mean_ns > 0,
		     mean_ns > 0 ? (uint64_t)(1e9 / mean_ns + 0.5) : 0);
}

static void put_tcp_sender(struct line *l, const struct record *r)
{
	const struct out_tcp *tcp = &r->tcp;

	if (r->series != OUT_NO_SERIES)
		put_series(l, r);

	put_count(l, "write_count", r->d.packets);
	put_count(l, "write_errors", r->d.errors);
	put_count(l, "written_bytes", r->d.written);
	put_count_if(l, "retransmits", tcp->known, tcp->retransmits);
	if (r->sum) /* of several connections there is no window or RTT */
		return;
	put_count_if(l, "acked_bytes",
		     tcp->known && tcp->acked_bytes != UINT64_MAX,
		     tcp->acked_bytes);
	put_count_if(l, "snd_cwnd", tcp->known, tcp->cwnd_bytes);
	put_count_if(l, "snd_cwnd_packets", tcp->known, tcp->cwnd_packets);
	put_count_if(l, "inflight", tcp->known, tcp->inflight_bytes);
	put_count_if(l, "inflight_packets", tcp->known, tcp->inflight_packets);
	put_count_if(l, "rtt", tcp->known, tcp->rtt_us);
	put_count_if(l, "rttvar", tcp->known, tcp->rttvar_us);
	put_count_if(l, "rtt_min", tcp->known && tcp->rtt_min_us > 0,
		     tcp->rtt_min_us);
}

/* A refused datagram keeps its number, so it is one of the packets. */
static void put_udp_sender(struct line *l, const struct record *r)
{
	put_count(l, "packets", r->d.packets + r->d.errors);
	put_pps(l, r);
	put_count(l, "write_count", r->d.packets);
	put_count(l, "write_errors", r->d.errors);
	put_count(l, "write_blocked", r->d.blocked);
	put_count(l, "icmp_errors", r->d.icmp);
}

static void put_gaps(struct line *l, const struct record *r)
{
	const struct stats_snap *d = &r->d;
	uint64_t longest = r->total ? d->gap_max : d->row_gap_max;
	int64_t ns = r->total ? d->gap_max_ns : d->row_gap_max_ns;
	int64_t began_ns = r->total ? d->gap_began_ns : d->row_gap_began_ns;

	if (!tells_all(r)) {
		put_null(l, "gaps");
		return;
	}
	object_begin(l, "gaps");
	put_count(l, "count", d->gaps);
	put_count(l, "longest_packets", longest);
	put_fixed_if(l, "longest_ms", longest == 0 || ns > 0,
		     longest > 0 ? ns : 0, NS_IN_MS);
	put_fixed_if(l, "longest_began", longest > 0, began_ns, NS_IN_S);
	object_end(l);
}

static void put_ledger(struct line *l, const struct record *r)
{
	const struct stats_snap *d = &r->d;
	uint64_t sent = stats_sent(d);
	bool all = tells_all(r);

	/* what a peer claims may be beyond 64 bits */
	put_count_if(l, "packets", sent >= d->lost, sent);
	put_pps(l, r);
	put_count(l, "received_packets", d->packets);
	put_count(l, "lost_packets", d->lost);
	put_ratio(l, "lost_percent", 100.0 * (double)d->lost,
		  d->lost > 0 ? (double)d->packets + (double)d->lost : 1);
	put_count(l, "out_of_order", d->late);
	put_count_if(l, "too_late", all, d->too_late);
	put_count_if(l, "duplicates", all, d->duplicate);
	put_gaps(l, r);
}

static void put_jitter(struct line *l, const struct record *r)
{
	bool all = tells_all(r);

	put_fixed(l, "jitter_ms", r->d.jitter_ns, NS_IN_MS);
	put_fixed_if(l, "jitter_mean_ms", all && r->d.packets > 0,
		     r->jitter_mean_ns, NS_IN_MS);
	if (r->total)
		put_fixed_if(l, "jitter_max_ms", all, r->d.jitter_max_ns,
			     NS_IN_MS);
}

static void put_rates(struct line *l, const struct record *r)
{
	put_count_if(l, "target_bitrate", r->asked_bps > 0, r->asked_bps);
	put_count_if(l, "offered_bits_per_second", r->offered_bps > 0,
		     r->offered_bps);
	/* what a UDP sender offered may never have arrived */
	if (r->udp && !r->receiver)
		put_null(l, "delivered_bits_per_second");
	else
		put_bps(l, "delivered_bits_per_second", r);
}

static void put_cpu(struct line *l, const struct record *r)
{
	const struct out_cpu *cpu = &r->cpu;
	double ns = (double)cpu->user_ns + (double)cpu->system_ns;

	if (!cpu->known) {
		put_null(l, "cpu");
		return;
	}
	object_begin(l, "cpu");
	put_fixed(l, "user_seconds", cpu->user_ns, NS_IN_S);
	put_fixed(l, "system_seconds", cpu->system_ns, NS_IN_S);
	/* ns a byte are seconds a gigabyte */
	put_ratio(l, "seconds_per_gigabyte", ns, (double)r->d.bytes);
	if (r->udp)
		put_ratio(l, "seconds_per_million_packets", ns,
			  (double)r->d.packets * 1e3);
	put_bool(l, "shared", cpu->shared);
	object_end(l);
}

static void put_buffer(struct line *l, const struct record *r)
{
	const struct out_buffer *b = &r->buffer;

	put_count_if(l, "sock_bufsize", b->asked > 0, b->asked);
	put_count_if(l, r->receiver ? "rcvbuf_actual" : "sndbuf_actual",
		     b->granted > 0, b->granted);
}

static void put_causes(struct line *l, const struct out_causes *c)
{
	if (!c->known) {
		put_null(l, "causes");
		return;
	}
	object_begin(l, "causes");
	put_count_if(l, "sender", c->sender_known, c->sender);
	put_count(l, "receiver", c->receiver);
	put_count(l, "receiver_shared", c->shared);
	put_count(l, "path", c->path);
	object_end(l);
}

/* quantiles: they are among what is known; lowest: so is the minimum, else
 * it is 0 by definition. */
static void put_delay(struct line *l, const char *name,
		      const struct stats_delay *d, bool quantiles, bool lowest)
{
	if (!d->known) {
		put_null(l, name);
		return;
	}
	object_begin(l, name);
	if (d->count > 0)
		put_count(l, "count", d->count);
	if (lowest)
		put_fixed(l, "min", d->min_ns, NS_IN_MS);
	put_fixed(l, "mean", d->mean_ns, NS_IN_MS);
	put_fixed_if(l, "p50", quantiles, d->p50_ns, NS_IN_MS);
	put_fixed_if(l, "p99", quantiles, d->p99_ns, NS_IN_MS);
	put_fixed_if(l, "p99_9", quantiles, d->p999_ns, NS_IN_MS);
	put_fixed(l, "max", d->max_ns, NS_IN_MS);
	object_end(l);
}

static void put_histogram(struct line *l, const struct hist *h)
{
	struct hist_bin bin;
	size_t at = 0;
	const char *comma = "";

	if (h == NULL) {
		put_null(l, "histogram");
		return;
	}
	key(l, "histogram");
	fputc('[', l->file);
	while (hist_next(h, &at, &bin)) {
		fprintf(l->file, "%s[", comma);
		number_fixed(l, bin.low_ns, NS_IN_US);
		fputc(',', l->file);
		number_fixed(l, bin.high_ns, NS_IN_US);
		fprintf(l->file, ",%" PRIu64 "]", bin.count);
		comma = ",";
	}
	fputc(']', l->file);
}

/* Who told when the datagrams arrived; NULL: not known. */
static const char *timestamps(const struct record *r)
{
	if (!tells_all(r))
		return NULL;
	return r->kernel_stamps ? "kernel" : "clock";
}

/* What totals of UDP receivers have beyond rows. */
static void put_udp_total(struct line *l, const struct record *r)
{
	put_causes(l, &r->causes);
	put_count_if(l, "clock_steps", tells_all(r), r->d.clock_steps);
	if (r->sum) /* delays of several senders have no common zero */
		return;
	put_text(l, "timestamps", timestamps(r));
	put_delay(l, "delay_ms", &r->delay, true, false);
	/* our servers do not relay these quantiles */
	put_delay(l, "trip_time_ms", &r->trip, !r->relayed, true);
	put_histogram(l, r->histogram);
}

/* The notes about the stream that ends, and about the test. */
static void put_notes(struct line *l, struct out *o, int id)
{
	unsigned kept = 0;
	const char *comma = "";

	key(l, "notes");
	fputc('[', l->file);
	for (unsigned i = 0; i < o->n_notes; i++) {
		const struct out_note *note = &o->notes[i];

		if (note->id != id && note->id != -1) {
			o->notes[kept++] = *note;
			continue;
		}
		fputs(comma, l->file);
		string(l, note->text);
		comma = ",";
	}
	fputc(']', l->file);
	o->n_notes = kept;
}

static void put_kind(struct line *l, const struct record *r)
{
	if (r->udp && r->receiver) {
		put_ledger(l, r);
		put_jitter(l, r);
	} else if (r->udp) {
		put_udp_sender(l, r);
	} else if (r->receiver) {
		/* not every server tells it */
		if (r->series != OUT_NO_SERIES)
			put_series(l, r);
		put_count_if(l, "read_count", !r->relayed || r->d.packets > 0,
			     r->d.packets);
	} else {
		put_tcp_sender(l, r);
	}
}

static void put_total(struct line *l, const struct record *r)
{
	if (r->udp && r->receiver)
		put_udp_total(l, r);
	else if (r->relayed && r->trip.known)
		put_delay(l, "trip_time_ms", &r->trip, false, true);
	put_rates(l, r);
	put_cpu(l, r);
	if (!r->sum)
		put_buffer(l, r);
}

static void write_row(struct out *o, const struct record *r, const char *event)
{
	struct line l;

	if (line_begin(&l, event)) {
		put_row(&l, r);
		put_kind(&l, r);
		if (r->total) {
			put_total(&l, r);
			put_notes(&l, o, r->id);
		}
	}
	line_end(&l, o);
}

static void json_interval(struct out *o, const struct record *r)
{
	write_row(o, r, r->sum ? "sum" : "interval");
}

static void json_last(struct out *o, const struct record *r)
{
	write_row(o, r, r->sum ? "sum" : "end");
}

static void json_server_report(struct out *o, const struct record *r)
{
	write_row(o, r, "server_report");
}

/* Kept until the row that it explains; when there is no room the oldest,
 * whose row never came, makes it. */
static void json_connects(struct out *o, const struct out_connects *c)
{
	const struct stats_delay *t = &c->times;
	struct line l;

	if (line_begin(&l, "end")) {
		put_protocol(&l, false);
		put_count(&l, "connects", t->known ? t->count : 0);
		put_count(&l, "connect_errors", c->failed);
		put_delay(&l, "connect_ms", t, true, true);
	}
	line_end(&l, o);
}

static void json_note(struct out *o, int id, const char *text)
{
	if (o->n_notes == OUT_NOTES) {
		o->n_notes--;
		memmove(&o->notes[0], &o->notes[1],
			o->n_notes * sizeof(o->notes[0]));
	}

	struct out_note *note = &o->notes[o->n_notes++];

	note->id = id;
	(void)snprintf(note->text, sizeof(note->text), "%s", text);
}

const struct out_writer out_json = {
	.banner = json_banner,
	.connected = json_connected,
	.interval = json_interval,
	.last = json_last,
	.server_report = json_server_report,
	.connects = json_connects,
	.note = json_note,
	.failed = json_failed,
};

/* Experiments. */

/* Up to nine decimals, all that abresult_set keeps; not finite: null. */
static void put_value(struct line *l, const char *name, double value)
{
	char text[64];
	size_t len;

	if (!isfinite(value) || fabs(value) > 1e18) {
		put_null(l, name);
		return;
	}
	(void)snprintf(text, sizeof(text), "%.9f", value);
	len = strlen(text);
	while (text[len - 1] == '0')
		len--;
	if (text[len - 1] == '.')
		len--;
	text[len] = '\0';
	key(l, name);
	fputs(strcmp(text, "-0") == 0 ? "0" : text, l->file);
}

static void put_value_if(struct line *l, const char *name, bool known,
			 double value)
{
	put_value(l, name, known ? value : INFINITY);
}

/* All that a table needs besides the runs. */
static void put_setup(struct line *l, const struct abresult_setup *s)
{
	const char *comma = "";

	put_text(l, "test", s->test[0] != '\0' ? s->test : NULL);
	key(l, "arms");
	fputc('[', l->file);
	for (unsigned a = 0; a < s->n_arms; a++) {
		fprintf(l->file, "%s{", comma);
		l->comma = false;
		put_text(l, "label", s->arm[a].label);
		put_text(l, "command", s->arm[a].command);
		fputc('}', l->file);
		comma = ",";
	}
	fputc(']', l->file);
	l->comma = true;
	put_count_if(l, "rounds", s->rounds > 0, s->rounds);
	put_count(l, "warmup", s->warmup);
	put_count(l, "seed", s->seed);
	put_value(l, "confidence_percent", s->confidence * 100);
	put_value_if(l, "margin_percent", s->margin_percent > 0,
		     s->margin_percent);
	put_value_if(l, "precision_percent", s->precision_percent > 0,
		     s->precision_percent);
	put_bool(l, "paired", !s->unpaired);
	put_text(l, "primary_metric", abresult_key(ABRESULT_RATE));
}

static void json_experiment_start(struct out *o, const struct abresult *r)
{
	struct line l;

	if (line_begin(&l, "start")) {
		put_text(&l, "version", OPTIONS_VERSION_TEXT);
		put_text(&l, "role", "experiment");
		put_setup(&l, &r->setup);
	}
	line_end(&l, o);
}

static void put_marks(struct line *l, unsigned marks)
{
	const char *comma = "";

	key(l, "marks");
	fputc('[', l->file);
	for (unsigned i = 0; i < ABRESULT_MARKS; i++) {
		if ((marks >> i & 1) == 0)
			continue;
		fprintf(l->file, "%s\"%s\"", comma, abresult_mark_key(i));
		comma = ",";
	}
	fputc(']', l->file);
}

static void put_run(struct line *l, const struct abresult *r,
		    const struct abresult_run *run)
{
	put_count(l, "round", run->round + UINT64_C(1));
	put_text(l, "arm", r->setup.arm[run->arm].label);
	put_count(l, "place", run->place + UINT64_C(1));
	put_count(l, "attempt", run->attempt + UINT64_C(1));
	put_bool(l, "warmup", run->warmup);
	put_bool(l, "counted", run->counted);
	put_marks(l, run->marks);
	put_count(l, "status", (uint64_t)run->status);
	put_wall_time(l, run->wall_ns);
	put_fixed_if(l, "other_cpu_seconds", run->busy_ns >= 0, run->busy_ns,
		     NS_IN_S);
	put_text(l, "shown", run->shown);
	for (unsigned m = 0; m < ABRESULT_METRICS; m++)
		put_value_if(l, abresult_key(m), abresult_has(run, m),
			     run->value[m]);
}

static void json_experiment_run(struct out *o, const struct abresult *r,
				const struct out_progress *p)
{
	struct line l;

	(void)p;
	if (line_begin(&l, "run"))
		put_run(&l, r, &r->run[r->n_runs - 1]);
	line_end(&l, o);
}

static void put_sample(struct line *l, const char *label,
		       const struct abstat_summary *s)
{
	fputc('{', l->file);
	l->comma = false;
	put_text(l, "label", label);
	put_count(l, "n", s->n);
	put_value(l, "min", s->min);
	put_value(l, "median", s->median);
	put_value(l, "mean", s->mean);
	put_value(l, "max", s->max);
	put_value_if(l, "stddev", s->n > 1, s->stddev);
	object_end(l);
}

/* A difference with its interval; half: the half-width. */
static void put_difference(struct line *l, const struct abstat_diff *d,
			   double half)
{
	put_value(l, "difference", d->mean);
	put_value(l, "low", d->mean - half);
	put_value(l, "high", d->mean + half);
	put_value(l, "difference_percent", abstat_percent(d, d->mean));
	put_value(l, "low_percent", abstat_percent(d, d->mean - half));
	put_value(l, "high_percent", abstat_percent(d, d->mean + half));
}

static void put_versus(struct line *l, const struct abresult_setup *s,
		       const struct abresult_row *row, unsigned arm)
{
	const struct abresult_versus *v = &row->versus[arm];
	bool needs = v->verdict == ABSTAT_CANNOT_TELL && !row->steady;

	fputc('{', l->file);
	l->comma = false;
	put_text(l, "label", s->arm[arm].label);
	put_text(l, "verdict", abstat_verdict_name(v->verdict));
	put_difference(l, &v->diff, v->half);
	put_value_if(l, "p", !row->steady, v->p);
	put_value_if(l, "p_same", !row->steady && s->margin_percent > 0,
		     v->p_same);
	put_count_if(l, "rounds_needed", needs && v->needed < ABPLAN_NEVER,
		     v->needed);
	put_value(l, "detectable", v->detectable);
	object_begin(l, "welch");
	put_difference(l, &v->welch, v->welch_half);
	object_end(l);
	put_value_if(l, "hodges_lehmann", !s->unpaired, v->robust.shift);
	put_value_if(l, "signed_rank_p", !s->unpaired, v->robust.p);
	put_count_if(l, "decisive_rounds", !s->unpaired, v->robust.decisive);
	object_end(l);
}

static void put_metric(struct line *l, const struct abresult_setup *s,
		       const struct abresult_row *row)
{
	put_value(l, "interval_confidence_percent", row->level * 100);
	key(l, "samples");
	fputc('[', l->file);
	for (unsigned a = 0; a < s->n_arms; a++) {
		fputs(a > 0 ? "," : "", l->file);
		put_sample(l, s->arm[a].label, &row->arm[a].sum);
	}
	fputc(']', l->file);
	key(l, "differences");
	fputc('[', l->file);
	for (unsigned a = 1; a < s->n_arms; a++) {
		fputs(a > 1 ? "," : "", l->file);
		put_versus(l, s, row, a);
	}
	fputc(']', l->file);
}

static void put_counts(struct line *l, const struct abresult *r)
{
	unsigned all = (1u << ABRESULT_MARKS) - 1;

	put_count(l, "complete_rounds", abresult_rounds(r));
	put_bool(l, "broken_off", r->broken_off);
	put_count(l, "marked_counted", abresult_marked(r, all, true));
	put_count(l, "marked_not_counted", abresult_marked(r, all, false));
}

static void put_summary(struct line *l, const struct abresult *r,
			const struct abresult_table *t)
{
	put_setup(l, &r->setup);
	put_counts(l, r);
	put_count(l, "primary_comparisons", t->primary);
	put_count(l, "other_comparisons", t->others);
	object_begin(l, "metrics");
	for (unsigned m = 0; m < ABRESULT_METRICS; m++) {
		if (!t->row[m].known)
			continue;
		object_begin(l, abresult_key(m));
		put_metric(l, &r->setup, &t->row[m]);
		object_end(l);
	}
	object_end(l);
}

static void json_experiment_summary(struct out *o, const struct abresult *r)
{
	struct abresult_table t;
	struct line l;

	if (abresult_make(r, &t) < 0) {
		json_failed(o, "no memory for the table");
		return;
	}
	if (line_begin(&l, "summary"))
		put_summary(&l, r, &t);
	line_end(&l, o);
	abresult_unmake(&t);
}

/* What the runs and the summary do not say by themselves. */
static void json_experiment_note(struct out *o, const char *text)
{
	struct line l;

	if (line_begin(&l, "note"))
		put_text(&l, "note", text);
	line_end(&l, o);
}

const struct out_experiment out_json_arms = {
	.start = json_experiment_start,
	.run = json_experiment_run,
	.note = json_experiment_note,
	.summary = json_experiment_summary,
};
