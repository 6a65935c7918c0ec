/*
 * out_text: records as the lines of iperf 2's text report, in the four
 * dialects of out.h.  The dialect changes the layout alone, never which rows
 * exist nor what they say.  A column of 2.1 or 2.2 that no record knows shows
 * as "-".
 */
#include "out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "stats.h"
#include "units.h"

#define RULE "------------------------------------------------------------"
#define EXTRA_COLUMNS 100 /* a line of extras is no longer than this */
#define KBYTE 1024
#define IP_TCP_HEADERS 40 /* bytes, IPv4 without options */
#define OPTION_BYTES 40   /* the most that TCP options take */

struct layout {
	enum units_look look;
	int decimals; /* of the times; 0: as the style says */
	int jitter_width;
	bool modern; /* 2.1 and later */
};

static const struct layout layouts[] = {
	[OUT_CLASSIC] = { UNITS_G1H, 0, 6, false },
	[OUT_V202] = { UNITS_G1, 0, 5, false },
	[OUT_V21] = { UNITS_G2, 4, 6, true },
	[OUT_V22] = { UNITS_G2, 2, 6, true },
};

/* Kinds of header lines, bits of out.headers. */
enum head {
	HEAD_PLAIN,
	HEAD_UDP_RX,
	HEAD_E_TCP_TX, /* from here on: 2.1 and 2.2 with -e */
	HEAD_E_TCP_RX,
	HEAD_E_UDP_TX,
	HEAD_E_UDP_RX,
	HEAD_E_UDP_RX_SUM,
	HEAD_NONE,
};

#define HEAD_START "[ ID] Interval       Transfer     Bandwidth"
#define HEAD_V21_TCP "[ ID] Interval            Transfer    Bandwidth       "
#define HEAD_V21_UDP "[ ID] Interval            Transfer     Bandwidth      "
#define HEAD_V22_TCP "[ ID] Interval        Transfer    Bandwidth       "
#define HEAD_V22_UDP "[ ID] Interval        Transfer     Bandwidth      "
#define HEAD_LATENCY "  Jitter   Lost/Total  Latency avg/min/max/stdev"

static const char *const head_texts[2][HEAD_NONE] = {
	{
		[HEAD_PLAIN] = HEAD_START,
		[HEAD_UDP_RX] =
			HEAD_START "        Jitter   Lost/Total Datagrams",
		[HEAD_E_TCP_TX] = HEAD_V21_TCP
		"Write/Err  Rtry     Cwnd/RTT(var)        NetPwr",
		[HEAD_E_TCP_RX] = HEAD_V21_TCP "Reads=Dist",
		[HEAD_E_UDP_TX] = HEAD_V21_UDP "Write/Err  PPS",
		[HEAD_E_UDP_RX] =
			HEAD_V21_UDP HEAD_LATENCY " PPS  Rx/inP  NetPwr",
		[HEAD_E_UDP_RX_SUM] = HEAD_V21_UDP "Lost/Total  PPS",
	},
	{
		[HEAD_PLAIN] = HEAD_START,
		[HEAD_UDP_RX] =
			HEAD_START "        Jitter   Lost/Total Datagrams",
		[HEAD_E_TCP_TX] = HEAD_V22_TCP
		"Write/Err  Rtry     InF(pkts)/Cwnd(pkts)/RTT(var)        "
		"NetPwr",
		[HEAD_E_TCP_RX] = HEAD_V22_TCP "Reads=Dist",
		[HEAD_E_UDP_TX] = HEAD_V22_UDP "Write/Err/Timeo  PPS",
		[HEAD_E_UDP_RX] =
			HEAD_V22_UDP HEAD_LATENCY " PPS Read/Timeo/NA NetPwr",
		[HEAD_E_UDP_RX_SUM] = HEAD_V22_UDP "Lost/Total  PPS",
	},
};

/* Text that grows until it is full; what does not fit is left off. */
struct text {
	char s[256];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t,
						      const char *format, ...)
{
	size_t room = sizeof(t->s) - t->len;
	va_list args;

	va_start(args, format);
	int n = vsnprintf(t->s + t->len, room, format, args);
	va_end(args);
	if (n > 0)
		t->len += (size_t)n < room ? (size_t)n : room - 1;
}

/* One line, whole and flushed.  The caller looks at ferror later. */
__attribute__((format(printf, 2, 3))) static void put(struct out *o,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(o->file, format, args);
	va_end(args);
	fflush(o->file);
}

static const struct layout *layout_of(const struct out *o)
{
	return &layouts[o->style.dialect];
}

static bool modern_enhanced(const struct out *o)
{
	return layout_of(o)->modern && o->style.enhanced;
}

/* "[  3]", or "[SUM]" for a negative id. */
static void add_id(struct text *t, int id)
{
	if (id < 0)
		add(t, "[SUM]");
	else
		add(t, "[%3d]", id);
}

static int decimals_of(const struct out *o)
{
	int decimals = layout_of(o)->decimals;

	if (decimals == 0)
		decimals = o->style.time_decimals;
	return decimals > 0 ? decimals : 1;
}

/* What all lines of a row begin with: "[  3]  0.0- 5.0 sec". */
static void add_place(struct text *t, const struct out *o,
		      const struct record *r)
{
	int decimals = decimals_of(o);

	add_id(t, r->id);
	add(t, " %4.*f-%4.*f sec", decimals, (double)r->start_ns / 1e9,
	    decimals, (double)r->end_ns / 1e9);
}

static double packets_a_second(const struct record *r)
{
	int64_t ns = r->end_ns - r->start_ns;

	return ns > 0 ? (double)r->d.packets * 1e9 / (double)ns : 0;
}

/* Banner. */

static const char *protocol(const struct out_banner *b)
{
	return b->udp ? "UDP" : "TCP";
}

static void window_line(struct out *o, const struct out_banner *b)
{
	enum units_look look = layout_of(o)->look;
	const char *name = b->udp ? "UDP buffer size" : "TCP window size";
	char granted[48], asked[48];

	units_bytes_text(granted, sizeof(granted), b->window_granted, 'A',
			 look);
	units_bytes_text(asked, sizeof(asked), b->window_asked, 'A', look);
	if (b->window_asked == 0)
		put(o, "%s: %s (default)\n", name, granted);
	else if (b->window_asked == b->window_granted)
		put(o, "%s: %s\n", name, granted);
	else
		put(o, "%s: %s (WARNING: requested %s)\n", name, granted,
		    asked);
}

static void mss_asked_line(struct out *o, const struct out_banner *b)
{
	if (layout_of(o)->modern && !b->udp && b->mss > 0)
		put(o, "MSS req size %u bytes (per TCP_MAXSEG)\n", b->mss);
}

/* 2.1 and 2.2 add the width of their bins of read sizes; we keep none. */
static void read_buffer_line(struct out *o, const struct out_banner *b)
{
	char size[48];

	if (!modern_enhanced(o))
		return;
	if (b->udp && o->style.dialect == OUT_V22) {
		put(o, "Read buffer size: %" PRIu64 " Byte\n", b->len_bytes);
		return;
	}
	units_bytes_text(size, sizeof(size), b->len_bytes, 'A',
			 layout_of(o)->look);
	put(o, "Read buffer size: %s\n", size);
}

static void server_banner(struct out *o, const struct out_banner *b)
{
	if (modern_enhanced(o))
		put(o, "Server listening on %s port %u with pid %" PRIu32 "\n",
		    protocol(b), b->port, b->pid);
	else
		put(o, "Server listening on %s port %u\n", protocol(b),
		    b->port);
	if (b->bind != NULL && (!layout_of(o)->modern || o->style.enhanced))
		put(o, "Binding to local address %s\n", b->bind);
	if (b->group != NULL)
		put(o, "Joining multicast group  %s\n", b->group);
	read_buffer_line(o, b);
	if (b->udp && !layout_of(o)->modern)
		put(o, "Receiving %" PRIu64 " byte datagrams\n", b->len_bytes);
	mss_asked_line(o, b);
}

static void client_first_line(struct out *o, const struct out_banner *b)
{
	struct text tail = { .len = 0 };

	if (modern_enhanced(o)) {
		/* The second number of 2.2 is its streams of background
		 * load; there are none here. */
		const char *form = o->style.dialect == OUT_V22 ? "/0 flows/load"
							       : " flows";

		add(&tail, " with pid %" PRIu32 " (%" PRIu32 "%s)", b->pid,
		    b->flows, form);
	}
	put(o, "Client connecting to %s, %s port %u%s\n", b->host, protocol(b),
	    b->port, tail.s);
}

/* RFC 2474: six bits of DSCP; RFC 3168: two bits of ECN. */
static void tos_line(struct out *o, const struct out_banner *b)
{
	const char *nagle =
		b->nodelay ? " and nodelay (Nagle off)" : " (Nagle on)";

	if (o->style.dialect == OUT_V22)
		put(o, "TOS %s to 0x%x (dscp=%d,ecn=%d)%s\n",
		    b->tos == 0 ? "defaults" : "set", (unsigned)b->tos,
		    b->tos >> 2, b->tos & 3, nagle);
	else
		put(o, "TOS set to 0x%x%s\n", (unsigned)b->tos, nagle);
}

/* The lines that -e adds in 2.1 and 2.2, in the order seen in 2.1.8. */
static void client_details(struct out *o, const struct out_banner *b)
{
	if (!b->udp && o->style.enhanced)
		put(o, "Write buffer size: %" PRIu64 " Byte\n", b->len_bytes);
	mss_asked_line(o, b);
	if (!o->style.enhanced)
		return;
	if (o->style.dialect == OUT_V22 && !b->udp && b->cca != NULL)
		put(o, "TCP congestion control using %s\n", b->cca);
	tos_line(o, b);
}

static void datagrams_line(struct out *o, const struct out_banner *b)
{
	struct text tail = { .len = 0 };
	double gap_us = (double)b->gap_ns / 1000;

	if (layout_of(o)->modern)
		add(&tail, ", IPG target: %.2f us (kalman adjust)", gap_us);
	else if (o->style.enhanced && b->gap_ns > 0)
		add(&tail, ", IPG target: %.2f us", gap_us);
	put(o, "Sending %" PRIu64 " byte datagrams%s\n", b->len_bytes, tail.s);
}

static void client_banner(struct out *o, const struct out_banner *b)
{
	client_first_line(o, b);
	if (layout_of(o)->modern)
		client_details(o, b);
	else if (b->bind != NULL)
		put(o, "Binding to local address %s\n", b->bind);
	if (b->udp)
		datagrams_line(o, b);
	if (b->ttl > 0)
		put(o, "Setting multicast TTL to %d\n", b->ttl);
}

static void text_banner(struct out *o, const struct out_banner *b)
{
	put(o, RULE "\n");
	if (b->server)
		server_banner(o, b);
	else
		client_banner(o, b);
	window_line(o, b);
	put(o, RULE "\n");
}

/* Connection line. */

/* " on 2026-12-01 00:39:36 (UTC)"; 2.2 has milliseconds. */
static void add_date(struct text *t, const struct out *o, int64_t wall_ns)
{
	time_t sec = (time_t)(wall_ns / 1000000000);
	int ms = (int)(wall_ns % 1000000000 / 1000000);
	char day[32], zone[16];
	struct tm tm;

	if (wall_ns <= 0 || localtime_r(&sec, &tm) == NULL)
		return;
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%Z", &tm);
	add(t, " on %s", day);
	if (o->style.dialect == OUT_V22)
		add(t, ".%03d", ms);
	add(t, " (%s)", zone);
}

static void text_connected(struct out *o, const struct out_conn *c)
{
	struct text id = { .len = 0 };
	struct text tail = { .len = 0 };

	add_id(&id, c->id);
	if (o->style.enhanced && c->peer_version[0] != '\0')
		add(&tail, " (peer %s)", c->peer_version);
	if (o->style.enhanced && c->connect_ns > 0)
		add(&tail, " (ct=%4.2f ms)", (double)c->connect_ns / 1e6);
	if (modern_enhanced(o))
		add_date(&tail, o, c->wall_ns);
	put(o, "%s local %s port %u connected with %s port %u%s\n", id.s,
	    c->local, c->local_port, c->peer, c->peer_port, tail.s);
}

/* Header lines. */

static enum head enhanced_head(const struct record *r)
{
	if (!r->udp && r->relayed)
		return HEAD_NONE;
	if (!r->udp)
		return r->receiver ? HEAD_E_TCP_RX : HEAD_E_TCP_TX;
	if (!r->receiver)
		return HEAD_E_UDP_TX;
	return r->sum ? HEAD_E_UDP_RX_SUM : HEAD_E_UDP_RX;
}

/* Which header a row wants.  Readers of the classic form expect the row on
 * the line after "Server Report:"; 2.1 and 2.2 have the header between. */
static enum head head_of(const struct out *o, const struct record *r)
{
	bool modern = layout_of(o)->modern;

	if (o->style.dialect == OUT_V202 || (!modern && r->relayed))
		return HEAD_NONE;
	if (modern && o->style.enhanced)
		return enhanced_head(r);
	if (r->udp && r->receiver && !(modern && r->sum))
		return HEAD_UDP_RX;
	return HEAD_PLAIN;
}

static void header(struct out *o, const struct record *r)
{
	enum head head = head_of(o, r);
	int dialect = o->style.dialect == OUT_V22;

	if (head == HEAD_NONE || (o->headers & 1u << head) != 0)
		return;
	o->headers |= 1u << head;
	put(o, "%s\n", head_texts[dialect][head]);
}

/* Tails of rows. */

/*
 * Two digits as %.2g, which alone would say 1e+02 from 99.5 on and 1e-05 far
 * below: readers want "(", digits and a point, "%)".
 */
static void add_percent(struct text *t, double percent)
{
	if (percent >= 99.5) {
		add(t, "%.0f", percent);
	} else if (percent > 0 && percent < 0.0001) {
		double power_of_ten = 1e5;
		int decimals = 6;

		while (decimals < 24 && percent * power_of_ten < 1) {
			power_of_ten *= 10;
			decimals++;
		}
		add(t, "%.*f", decimals, percent);
	} else {
		add(t, "%.2g", percent);
	}
}

/* "(2.9%)" of d; 0 when nothing was sent. */
static void add_loss_percent(struct text *t, const struct out *o,
			     const struct stats_snap *d)
{
	uint64_t sent = stats_sent(d);
	double percent = sent > 0 ? 100.0 * (double)d->lost / (double)sent : 0;
	bool fine = (percent > 0 && percent < 1) || percent > 99;

	add(t, " (");
	if (o->style.dialect == OUT_V22)
		add(t, "%.*f", fine ? 2 : 0, percent);
	else
		add_percent(t, percent);
	add(t, "%%)");
}

/* 2.1.8 prints these of a sum under Write/Err; our header says Lost/Total. */
static void add_modern_sum_loss(struct text *t, const struct out *o,
				const struct record *r)
{
	uint64_t sent = stats_sent(&r->d);

	if (o->style.enhanced) {
		add(t, "  %" PRIu64 "/%" PRIu64 " %8.0f pps", r->d.lost, sent,
		    packets_a_second(r));
		return;
	}
	add(t, "   %" PRIu64 "/%" PRIu64, r->d.lost, sent);
	add_loss_percent(t, o, &r->d);
}

/* Latency, what is in progress and the power that needs it are unknown. */
static void add_latency(struct text *t, const struct out *o,
			const struct record *r)
{
	add(t, " -/-/-/- ms %.0f pps ", packets_a_second(r));
	if (o->style.dialect == OUT_V22)
		add(t, "-/-/- NAN");
	else
		add(t, "%" PRIu64 "/-(-) pkts NAN", r->d.packets);
}

static void add_udp_rx(struct text *t, const struct out *o,
		       const struct record *r)
{
	const struct layout *layout = layout_of(o);
	uint64_t sent = stats_sent(&r->d);

	if (r->sum && o->style.dialect == OUT_V202)
		return;
	if (r->sum && layout->modern) {
		add_modern_sum_loss(t, o, r);
		return;
	}
	add(t, "  %*.3f ms ", layout->jitter_width,
	    (double)r->d.jitter_ns / 1e6);
	if (layout->modern)
		add(t, "%" PRIu64 "/%" PRIu64, r->d.lost, sent);
	else
		add(t, "%4" PRIu64 "/%5" PRIu64, r->d.lost, sent);
	add_loss_percent(t, o, &r->d);
	if (modern_enhanced(o))
		add_latency(t, o, r);
}

/* 2.2's Timeo counts writes that did not go through at once: our blocked. */
static void add_udp_tx(struct text *t, const struct out *o,
		       const struct record *r)
{
	add(t, "  %" PRIu64 "/%" PRIu64, r->d.packets, r->d.errors);
	if (o->style.dialect == OUT_V22)
		add(t, "/%" PRIu64 "%8.0f pps", r->d.blocked,
		    packets_a_second(r));
	else
		add(t, " %8.0f pps", packets_a_second(r));
}

/* Throughput in bytes a second over delay in seconds, scaled by 1e-6. */
static void add_power(struct text *t, const struct record *r)
{
	double bps = units_bps(r->d.bytes, r->end_ns - r->start_ns);
	double power = r->tcp.rtt_us > 0 ? bps / 8 / r->tcp.rtt_us : 0;

	if (r->tcp.rtt_us == 0)
		add(t, "NAN");
	else if (power < 10)
		add(t, "%.6f", power);
	else
		add(t, "%.*f", power < 100 ? 2 : 0, power);
}

/* Window, round trip and power of one connection. */
static void add_tcp_path(struct text *t, const struct out *o,
			 const struct record *r)
{
	const struct out_tcp *tcp = &r->tcp;
	bool v22 = o->style.dialect == OUT_V22;

	if (!tcp->known) {
		add(t, v22 ? " %8s(-)/-(-)/-(-) us  NAN" : " %8s/-(-) us  NAN",
		    "-");
		return;
	}
	if (v22)
		add(t, " %8" PRIu32 "K(%" PRIu32 ")/%" PRIu32 "K(%" PRIu32 ")",
		    tcp->inflight_bytes / KBYTE, tcp->inflight_packets,
		    tcp->cwnd_bytes / KBYTE, tcp->cwnd_packets);
	else
		add(t, " %8" PRIu32 "K", tcp->cwnd_bytes / KBYTE);
	add(t, "/%" PRIu32 "(%" PRIu32 ") us  ", tcp->rtt_us, tcp->rttvar_us);
	add_power(t, r);
}

static void add_tcp_tx(struct text *t, const struct out *o,
		       const struct record *r)
{
	/* 2.1 sets one more blank here, but not in its sums. */
	int width = o->style.dialect == OUT_V21 && !r->sum ? 11 : 10;

	add(t, "  %" PRIu64 "/%" PRIu64, r->d.packets, r->d.errors);
	if (r->tcp.known)
		add(t, "%*" PRIu64, width, r->tcp.retransmits);
	else
		add(t, "%*s", width, "-");
	if (!r->sum)
		add_tcp_path(t, o, r);
}

static void add_tail(struct text *t, const struct out *o,
		     const struct record *r)
{
	if (r->udp && r->receiver)
		add_udp_rx(t, o, r);
	else if (!modern_enhanced(o) || r->relayed)
		return;
	else if (r->udp)
		add_udp_tx(t, o, r);
	else if (r->receiver) /* the bins after "=" are not kept */
		add(t, "  %" PRIu64, r->d.packets);
	else
		add_tcp_tx(t, o, r);
}

/* The classic styles' -e: "name value" pairs on lines after the row. */

struct extras {
	struct out *o;
	struct text place;
	struct text line;
};

static void extras_flush(struct extras *e)
{
	if (e->line.len > 0)
		put(e->o, "%s  %s\n", e->place.s, e->line.s);
	e->line.len = 0;
}

/* One more pair; a further line where this one would be too long. */
__attribute__((format(printf, 2, 3))) static void extra(struct extras *e,
							const char *format, ...)
{
	size_t blanks_and_comma = 4;
	char pair[64];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(pair, sizeof(pair), format, args);
	va_end(args);
	if (n > 0 && e->place.len + e->line.len + (size_t)n + blanks_and_comma >
			     EXTRA_COLUMNS)
		extras_flush(e);
	add(&e->line, "%s%s", e->line.len > 0 ? ", " : "", pair);
}

static void extras_tcp_tx(struct extras *e, const struct record *r)
{
	extra(e, "writes %" PRIu64, r->d.packets);
	extra(e, "refused %" PRIu64, r->d.errors);
	if (!r->tcp.known)
		return;
	extra(e, "retransmits %" PRIu64, r->tcp.retransmits);
	if (r->sum)
		return;
	extra(e, "cwnd %" PRIu32 " KByte", r->tcp.cwnd_bytes / KBYTE);
	extra(e, "rtt %" PRIu32 " us (var %" PRIu32 ")", r->tcp.rtt_us,
	      r->tcp.rttvar_us);
}

static void extras_udp_tx(struct extras *e, const struct record *r)
{
	extra(e, "offered %.0f pps", packets_a_second(r));
	extra(e, "refused %" PRIu64, r->d.errors);
	extra(e, "blocked %" PRIu64, r->d.blocked);
}

/* In a server's report 0 can mean that its protocol has no word for it. */
static void extra_count(struct extras *e, const struct record *r,
			const char *name, uint64_t count)
{
	if (count > 0 || !r->relayed)
		extra(e, "%s %" PRIu64, name, count);
}

static void extra_longest_gap(struct extras *e, const struct stats_snap *d)
{
	if (d->gap_max == 0)
		return;
	if (d->gap_max_ns > 0)
		extra(e, "longest gap %" PRIu64 " (%.1f ms)", d->gap_max,
		      (double)d->gap_max_ns / 1e6);
	else
		extra(e, "longest gap %" PRIu64, d->gap_max);
}

static void extras_udp_rx(struct extras *e, const struct record *r)
{
	extra(e, "%.0f pps", packets_a_second(r));
	extra_count(e, r, "duplicates", r->d.duplicate);
	extra_count(e, r, "late", r->d.late);
	extra_count(e, r, "too late", r->d.too_late);
	extra_count(e, r, "gaps", r->d.gaps);
	if (r->total) /* the longest up to now says nothing of an interval */
		extra_longest_gap(e, &r->d);
}

static void extra_lines(struct out *o, const struct record *r)
{
	struct extras e = { .o = o };

	if (!o->style.enhanced || layout_of(o)->modern)
		return;
	add_place(&e.place, o, r);
	if (r->udp && r->receiver)
		extras_udp_rx(&e, r);
	else if (r->udp)
		extras_udp_tx(&e, r);
	else if (!r->receiver)
		extras_tcp_tx(&e, r);
	else if (!r->relayed)
		extra(&e, "reads %" PRIu64, r->d.packets);
	extras_flush(&e);
}

/* Rows. */

static void row(struct out *o, const struct record *r)
{
	enum units_look look = layout_of(o)->look;
	struct text place = { .len = 0 };
	struct text tail = { .len = 0 };
	char moved[48], rate[48];

	header(o, r);
	add_place(&place, o, r);
	add_tail(&tail, o, r);
	units_bytes_text(moved, sizeof(moved), r->d.bytes, o->style.format,
			 look);
	units_rate_text(rate, sizeof(rate), r->d.bytes, r->end_ns - r->start_ns,
			o->style.format, look);
	put(o, "%s  %ss  %ss/sec%s\n", place.s, moved, rate, tail.s);
	if (r->udp && r->receiver && r->d.late > 0)
		put(o, "%s  %" PRIu64 " datagrams received out-of-order\n",
		    place.s, r->d.late);
	extra_lines(o, r);
}

/* Numbers given to datagrams: one that the system refused keeps its own, so
 * that this is the total of the receiver. */
static void sent_line(struct out *o, const struct record *r)
{
	struct text id = { .len = 0 };

	if (!r->udp || r->receiver || (r->sum && !layout_of(o)->modern))
		return;
	if (r->sum)
		add(&id, "[SUM-%" PRIu32 "]", r->streams);
	else
		add_id(&id, r->id);
	put(o, "%s Sent %" PRIu64 " datagrams\n", id.s,
	    r->d.packets + r->d.errors);
}

/* The link that an MSS or MTU suggests.  Names as iperf 2 has them. */
static const struct {
	unsigned mtu;
	const char *name;
} links[] = {
	{ 65280, "HIPPI" },   { 9180, "ATM" },    { 4352, "FDDI" },
	{ 1500, "ethernet" }, { 576, "minimum" },
};

static bool link_fits(unsigned link_mtu, const struct out_conn *c)
{
	if (c->mtu > 0)
		return c->mtu == link_mtu;
	return c->mss <= link_mtu - IP_TCP_HEADERS &&
	       c->mss >= link_mtu - IP_TCP_HEADERS - OPTION_BYTES;
}

/* The MTU where it is known, else what iperf 2 concludes from the MSS. */
static void mss_line(struct out *o, const struct record *r)
{
	const struct out_conn *c = r->conn;
	const char *name = "unknown interface";
	struct text id = { .len = 0 };

	if (!o->style.mss || r->udp || r->sum || layout_of(o)->modern)
		return;
	add_id(&id, r->id);
	if (c->mss == 0) {
		put(o, "%s MSS and MTU are unknown\n", id.s);
		return;
	}
	unsigned mtu = c->mtu > 0 ? c->mtu : c->mss + IP_TCP_HEADERS;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (link_fits(links[i].mtu, c)) {
			mtu = links[i].mtu;
			name = links[i].name;
		}
	}
	put(o, "%s MSS size %u bytes (MTU %u bytes, %s)\n", id.s, c->mss, mtu,
	    name);
}

static void text_last(struct out *o, const struct record *r)
{
	row(o, r);
	sent_line(o, r);
	mss_line(o, r);
}

/* No reader of iperf 2 expects a report after TCP: only with -e. */
static void text_server_report(struct out *o, const struct record *r)
{
	struct text id = { .len = 0 };

	if (!r->udp && !o->style.enhanced)
		return;
	add_id(&id, r->id);
	put(o, "%s Server Report:\n", id.s);
	row(o, r);
}

static void text_note(struct out *o, int id, const char *text)
{
	struct text start = { .len = 0 };

	add_id(&start, id);
	put(o, "%s note: %s\n", start.s, text);
}

const struct out_writer out_text = {
	.banner = text_banner,
	.connected = text_connected,
	.interval = row,
	.last = text_last,
	.server_report = text_server_report,
	.note = text_note,
};
