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
#include <string.h>
#include <time.h>

#include "hist.h"
#include "stats.h"
#include "units.h"

#define RULE "------------------------------------------------------------"
#define EXTRA_COLUMNS 100 /* a line of extras is no longer than this */
#define KBYTE 1024
#define IP_TCP_HEADERS 40 /* bytes, IPv4 without options */
#define OPTION_BYTES 40   /* the most that TCP options take */
#define GBYTE 1073741824.0
#define MILLION 1e6
/* Bins of 2.1 and 2.2, as their receivers have them: 100 us, 10 s of them. */
#define BIN_US 100
#define BINS 100000
#define MARKS 3
#define FIRST_BOUND_NS 1024 /* the lowest of a classic distribution */
/* Beyond these the clocks are not in step, says 2.1, and shows no latency. */
#define TRIP_LOW_NS INT64_C(-10000000)
#define TRIP_HIGH_NS INT64_C(60000000000)

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
	HEAD_SUMS_UDP_RX, /* 2.1 and 2.2 with --sum-only */
	HEAD_NONE,
};

#define HEAD_START "[ ID] Interval       Transfer     Bandwidth"
#define HEAD_V21_TCP "[ ID] Interval            Transfer    Bandwidth       "
#define HEAD_V21_UDP "[ ID] Interval            Transfer     Bandwidth      "
#define HEAD_V22_TCP "[ ID] Interval        Transfer    Bandwidth       "
#define HEAD_V22_UDP "[ ID] Interval        Transfer     Bandwidth      "
#define HEAD_SUMS "[ ID] Interval     Transfer     Bandwidth       "
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
		[HEAD_SUMS_UDP_RX] = HEAD_SUMS "Lost/Total    PPS",
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
		[HEAD_SUMS_UDP_RX] =
			HEAD_SUMS "Lost/Total  Latency avg/min/max  PPS",
	},
};

/* Text that grows until it is full; what does not fit is left off. */
struct text {
	char s[320];
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

/* With --sum-only 2.1 and 2.2 tell how many streams a sum has. */
static bool numbers_sums(const struct out *o)
{
	return layout_of(o)->modern && o->style.sum_only;
}

/* 2.1 and 2.2 mark what a client receives. */
static void add_row_id(struct text *t, const struct out *o,
		       const struct record *r)
{
	bool marked = layout_of(o)->modern && !r->relayed && !r->sum &&
		      r->conn != NULL && r->conn->reverse;

	if (marked)
		add(t, r->id < 10 ? "[ *%d]" : "[*%d]", r->id);
	else if (numbers_sums(o) && r->sum)
		add(t, "[SUM-%" PRIu32 "]", r->streams);
	else
		add_id(t, r->id);
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

	add_row_id(t, o, r);
	add(t, " %4.*f-%4.*f sec", decimals, (double)r->start_ns / 1e9,
	    decimals, (double)r->end_ns / 1e9);
}

static double pps_of(const struct record *r)
{
	return units_pps(r->d.packets, r->end_ns - r->start_ns);
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
	struct text ports = { .len = 0 };

	if (b->port_last > b->port)
		add(&ports, "s %u-%u", b->port, b->port_last);
	else
		add(&ports, " %u", b->port);
	if (modern_enhanced(o))
		put(o, "Server listening on %s port%s with pid %" PRIu32 "\n",
		    protocol(b), ports.s, b->pid);
	else
		put(o, "Server listening on %s port%s\n", protocol(b), ports.s);
	if (b->bind != NULL && (!layout_of(o)->modern || o->style.enhanced))
		put(o, "Binding to local address %s\n", b->bind);
	if (b->group != NULL)
		put(o, "Joining multicast group  %s\n", b->group);
	if (b->permit_key != NULL)
		put(o, "Permit key is '%s' (timeout in %.1f seconds)\n",
		    b->permit_key, (double)b->permit_timeout_ns / 1e9);
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

static void bounce_line(struct out *o, const struct out_banner *b)
{
	struct text tail = { .len = 0 };

	if (b->burst_ns > 0)
		add(&tail, ", %" PRIu32 " times every %.2f seconds", b->bounces,
		    (double)b->burst_ns / 1e9);
	if (b->hold_us > 0)
		add(&tail, ", held for %.3f ms", (double)b->hold_us / 1e3);
	put(o,
	    "Bounceback of %" PRIu32 " byte requests, %" PRIu32
	    " byte replies%s\n",
	    b->request_bytes, b->reply_bytes, tail.s);
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
	if (b->connects)
		put(o, "TCP three-way-handshake (3WHS) only\n");
	if (b->bounces > 0)
		bounce_line(o, b);
	if (b->fq_bps > 0) {
		char rate[48];

		units_rate_text(rate, sizeof(rate), b->fq_bps / 8, 1000000000,
				'a', layout_of(o)->look);
		put(o, "fair-queue socket pacing set to %s/s\n", rate);
	}
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
	struct tm tm = { 0 };

	if (wall_ns <= 0 ||
	    (o->style.utc ? gmtime_r : localtime_r)(&sec, &tm) == NULL)
		return;
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	strftime(zone, sizeof(zone), o->style.utc ? "UTC" : "%Z", &tm);
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
	if (c->mode != NULL)
		add(&tail, " (%s)", c->mode);
	/* a client knows it when it asked */
	if ((o->style.enhanced || c->client) && c->peer_version[0] != '\0')
		add(&tail, " (peer %s)", c->peer_version);
	if ((o->style.enhanced || o->style.connects) && c->connect_ns > 0)
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
	if (numbers_sums(o) && r->udp && r->receiver && r->sum)
		return HEAD_SUMS_UDP_RX;
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
	const char *text;

	if (head == HEAD_NONE || (o->headers & 1u << head) != 0)
		return;
	o->headers |= 1u << head;
	text = head_texts[dialect][head];
	if (numbers_sums(o) && r->sum)
		put(o, "[SUM-cnt]%s\n", text + strlen("[ ID]"));
	else
		put(o, "%s\n", text);
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

	if (numbers_sums(o) && o->style.dialect == OUT_V22) {
		add(t, "  %" PRIu64 "/%" PRIu64, r->d.lost, sent);
		add_loss_percent(t, o, &r->d);
		add(t, "  -/-/-  %.0f pps", pps_of(r));
		return;
	}
	if (o->style.enhanced || numbers_sums(o)) {
		add(t, "  %" PRIu64 "/%" PRIu64 " %8.0f pps", r->d.lost, sent,
		    pps_of(r));
		return;
	}
	add(t, "   %" PRIu64 "/%" PRIu64, r->d.lost, sent);
	add_loss_percent(t, o, &r->d);
}

/* Throughput in bytes a second over delay in seconds, scaled by 1e-6. */
static void add_power(struct text *t, const struct record *r, double delay_us)
{
	double bps = units_bps(r->d.bytes, r->end_ns - r->start_ns);
	double power = delay_us > 0 ? bps / 8 / delay_us : 0;

	if (delay_us <= 0)
		add(t, "NAN");
	else if (power < 10)
		add(t, "%.6f", power);
	else
		add(t, "%.*f", power < 100 ? 2 : 0, power);
}

static double ms_of(int64_t ns)
{
	return (double)ns / 1e6;
}

/* Latency by both clocks, what is in progress (rate times latency) and the
 * power that needs it; the deviation is not kept. */
static void add_latency(struct text *t, const struct out *o,
			const struct record *r)
{
	const struct stats_delay *trip = &r->trip;
	bool known = trip->known && trip->mean_ns >= TRIP_LOW_NS &&
		     trip->mean_ns <= TRIP_HIGH_NS;
	double mean_us = known ? (double)trip->mean_ns / 1e3 : 0;
	double pps = pps_of(r);

	if (known)
		add(t, " %.3f/%.3f/%.3f/- ms", ms_of(trip->mean_ns),
		    ms_of(trip->min_ns), ms_of(trip->max_ns));
	else
		add(t, " -/-/-/- ms");
	add(t, " %.0f pps ", pps);
	if (o->style.dialect == OUT_V22)
		add(t, "-/-/- ");
	else if (mean_us > 0)
		add(t, "%" PRIu64 "/%.0f(-) pkts ", r->d.packets,
		    pps * mean_us / 1e6);
	else
		add(t, "%" PRIu64 "/-(-) pkts ", r->d.packets);
	add_power(t, r, mean_us);
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
		add(t, "/%" PRIu64 "%8.0f pps", r->d.blocked, pps_of(r));
	else
		add(t, " %8.0f pps", pps_of(r));
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
	add_power(t, r, tcp->rtt_us);
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
	const char *topic; /* what each line begins with, "": nothing */
};

static void extras_flush(struct extras *e)
{
	if (e->line.len > 0)
		put(e->o, "%s  %s\n", e->place.s, e->line.s);
	e->line.len = 0;
}

/* What follows stands on lines of its own, which begin with topic. */
static void extras_topic(struct extras *e, const char *topic)
{
	extras_flush(e);
	e->topic = topic;
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
	add(&e->line, "%s%s", e->line.len > 0 ? ", " : e->topic, pair);
}

static void extras_tcp_tx(struct extras *e, const struct record *r)
{
	const struct out_tcp *tcp = &r->tcp;

	extra(e, "writes %" PRIu64, r->d.packets);
	extra(e, "refused %" PRIu64, r->d.errors);
	if (!tcp->known)
		return;
	extra(e, "retransmits %" PRIu64, tcp->retransmits);
	if (r->sum)
		return;
	extra(e, "cwnd %" PRIu32 " KByte", tcp->cwnd_bytes / KBYTE);
	extra(e, "rtt %" PRIu32 " us (var %" PRIu32 ")", tcp->rtt_us,
	      tcp->rttvar_us);
	if (tcp->rtt_min_us > 0)
		extra(e, "rtt min %" PRIu32 " us", tcp->rtt_min_us);
	if (tcp->acked_bytes != UINT64_MAX)
		extra(e, "acked %" PRIu64 " of %" PRIu64 " bytes written",
		      tcp->acked_bytes, r->d.written);
}

static void extras_udp_tx(struct extras *e, const struct record *r)
{
	extra(e, "offered %.0f pps", pps_of(r));
	extra(e, "refused %" PRIu64, r->d.errors);
	extra(e, "blocked %" PRIu64, r->d.blocked);
}

/* In the report of a server that is not ours 0 can mean that its protocol has
 * no word for it. */
static bool zero_is_none(const struct record *r)
{
	return !r->relayed || r->own_report;
}

static void extra_count(struct extras *e, const struct record *r,
			const char *name, uint64_t count)
{
	if (count > 0 || zero_is_none(r))
		extra(e, "%s %" PRIu64, name, count);
}

/* Of an interval its own longest, of a total that of the whole test. */
static void extra_longest_gap(struct extras *e, const struct record *r)
{
	const struct stats_snap *d = &r->d;
	uint64_t gap = r->total ? d->gap_max : d->row_gap_max;
	int64_t gap_ns = r->total ? d->gap_max_ns : d->row_gap_max_ns;

	if (gap == 0)
		return;
	if (gap_ns > 0 && r->total)
		extra(e, "longest gap %" PRIu64 " (%.1f ms, began %.3f s)", gap,
		      ms_of(gap_ns), (double)d->gap_began_ns / 1e9);
	else if (gap_ns > 0)
		extra(e, "longest gap %" PRIu64 " (%.1f ms)", gap,
		      ms_of(gap_ns));
	else
		extra(e, "longest gap %" PRIu64, gap);
}

static void extras_udp_rx(struct extras *e, const struct record *r)
{
	extra(e, "%.0f pps", pps_of(r));
	extra_count(e, r, "duplicates", r->d.duplicate);
	extra_count(e, r, "late", r->d.late);
	extra_count(e, r, "too late", r->d.too_late);
	extra_count(e, r, "gaps", r->d.gaps);
	extra_longest_gap(e, r);
}

static void extras_jitter(struct extras *e, const struct record *r)
{
	bool any = r->jitter_mean_ns > 0 || r->d.jitter_max_ns > 0;

	if (!any && (r->sum || !zero_is_none(r)))
		return;
	extras_topic(e, "jitter ");
	extra(e, "mean %.3f ms", ms_of(r->jitter_mean_ns));
	extra(e, "max %.3f ms", ms_of(r->d.jitter_max_ns));
}

/* The shares of trip times are those of the delay, above their minimum. */
static void extras_delay(struct extras *e, const struct record *r)
{
	const struct stats_delay *delay = &r->delay, *trip = &r->trip;

	if (delay->known) {
		extras_topic(e, "delay above min ");
		extra(e, "p50 %.3f ms", ms_of(delay->p50_ns));
		extra(e, "p99 %.3f ms", ms_of(delay->p99_ns));
		extra(e, "p99.9 %.3f ms", ms_of(delay->p999_ns));
		extra(e, "max %.3f ms", ms_of(delay->max_ns));
	}
	if (trip->known) {
		extras_topic(e, "trip ");
		extra(e, "min %.3f ms", ms_of(trip->min_ns));
		extra(e, "mean %.3f ms", ms_of(trip->mean_ns));
		extra(e, "max %.3f ms", ms_of(trip->max_ns));
	}
}

/* All parts, also those that are 0: they were looked for. */
static void extras_causes(struct extras *e, const struct record *r)
{
	const struct out_causes *c = &r->causes;

	if (!c->known || r->d.lost == 0)
		return;
	extras_topic(e, "lost to ");
	if (c->sender_known)
		extra(e, "sender %" PRIu64, c->sender);
	extra(e, "receiver %" PRIu64, c->receiver);
	extra(e, "shared socket %" PRIu64, c->shared);
	extra(e, "%s %" PRIu64, c->sender_known ? "path" : "sender or path",
	      c->path);
}

/* "asked 500.00 Mbit/s": not "/sec", which is how a row is recognised. */
static void extra_rate(struct extras *e, const char *name, double bps)
{
	static const char *const prefixes[] = { "", "K", "M", "G", "T" };
	size_t i = 0;

	for (; bps >= 1000 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0]);
	     i++)
		bps /= 1000;
	extra(e, "%s %.2f %sbit/s", name, bps, prefixes[i]);
}

static void extras_rates(struct extras *e, const struct record *r)
{
	extras_topic(e, "rate ");
	if (r->asked_bps > 0)
		extra_rate(e, "asked", (double)r->asked_bps);
	if (r->offered_bps > 0)
		extra_rate(e, "offered", (double)r->offered_bps);
	if (r->udp && r->receiver && (r->asked_bps > 0 || r->offered_bps > 0))
		extra_rate(e, "delivered",
			   units_bps(r->d.bytes, r->end_ns - r->start_ns));
}

/* A thread that served other streams too says nothing of this one's cost. */
static void extras_cpu(struct extras *e, const struct record *r)
{
	const struct out_cpu *cpu = &r->cpu;
	double seconds = (double)(cpu->user_ns + cpu->system_ns) / 1e9;

	if (!cpu->known)
		return;
	extras_topic(e, "CPU ");
	extra(e, "user %.3f s", (double)cpu->user_ns / 1e9);
	extra(e, "system %.3f s", (double)cpu->system_ns / 1e9);
	if (cpu->shared)
		extra(e, "with other streams of its thread");
	else if (r->udp && r->d.packets > 0)
		extra(e, "%.3f s per million datagrams",
		      seconds * MILLION / (double)r->d.packets);
	else if (!r->udp && r->d.bytes > 0)
		extra(e, "%.3f s per GByte",
		      seconds * GBYTE / (double)r->d.bytes);
}

static void extras_buffer(struct extras *e, const struct record *r)
{
	const struct out_buffer *b = &r->buffer;

	if (b->granted == 0)
		return;
	extras_topic(e, "buffer ");
	if (b->asked > 0)
		extra(e, "asked %" PRIu64 " bytes", b->asked);
	extra(e, "granted %" PRIu64 " bytes", b->granted);
}

static void extras_row(struct extras *e, const struct record *r)
{
	if (r->udp && r->receiver)
		extras_udp_rx(e, r);
	else if (r->udp)
		extras_udp_tx(e, r);
	else if (!r->receiver)
		extras_tcp_tx(e, r);
	else if (!r->relayed || r->d.packets > 0)
		extra(e, "reads %" PRIu64, r->d.packets);
}

static void extras_total(struct extras *e, const struct record *r)
{
	if (r->udp && r->receiver) {
		extras_jitter(e, r);
		extras_delay(e, r);
		extras_causes(e, r);
	}
	if (!r->udp && r->relayed)
		extras_delay(e, r);
	extras_rates(e, r);
	extras_cpu(e, r);
	extras_buffer(e, r);
}

/* Round trips, with how many a second there would be without pauses, or trips
 * one way. */
static void extras_series(struct extras *e, const struct record *r)
{
	const struct stats_snap *d = &r->d;
	const struct stats_delay *all = &r->samples;
	bool trips = r->series == OUT_TRIPS;
	double mean_ns = stats_sample_mean(d);

	extras_topic(e, trips ? "trips " : "round trips ");
	extra(e, "%" PRIu64, d->samples);
	if (d->samples == 0)
		return;
	extra(e, "mean %.3f ms", mean_ns / 1e6);
	extra(e, "min %.3f ms", ms_of(d->sample_min_ns));
	extra(e, "max %.3f ms", ms_of(d->sample_max_ns));
	extra(e, "stdev %.3f ms", stats_sample_deviation(d) / 1e6);
	if (!trips)
		extra(e, "%.0f rps", mean_ns > 0 ? 1e9 / mean_ns : 0);
	if (!all->known)
		return;
	extras_topic(e, trips ? "trip " : "round trip ");
	extra(e, "p50 %.3f ms", ms_of(all->p50_ns));
	extra(e, "p99 %.3f ms", ms_of(all->p99_ns));
	extra(e, "p99.9 %.3f ms", ms_of(all->p999_ns));
}

static void extra_lines(struct out *o, const struct record *r)
{
	struct extras e = { .o = o, .topic = "" };
	bool all = o->style.enhanced && !layout_of(o)->modern;
	bool series = r->series != OUT_NO_SERIES;

	if (!all && !series)
		return;
	add_place(&e.place, o, r);
	if (series)
		extras_series(&e, r);
	if (all && r->series != OUT_ROUND_TRIPS)
		extras_row(&e, r);
	if (all && r->total)
		extras_total(&e, r);
	extras_flush(&e);
}

/* Distribution of the delay above the lowest one. */

/* The classic styles: bounds that double, so that lines stay few.  A bin of
 * hist that lies across one counts above it. */
static void doubling_bins(struct out *o, const struct record *r)
{
	struct extras e = { .o = o, .topic = "" };
	int64_t bound_ns = FIRST_BOUND_NS;
	uint64_t count = 0;
	struct hist_bin b;
	size_t at = 0;

	add_place(&e.place, o, r);
	extras_topic(&e, "delay up to ");
	while (hist_next(r->histogram, &at, &b)) {
		while (bound_ns < b.high_ns && bound_ns <= INT64_MAX / 2) {
			if (count > 0)
				extra(&e, "%.3f ms: %" PRIu64, ms_of(bound_ns),
				      count);
			bound_ns *= 2;
			count = 0;
		}
		count += b.count;
	}
	if (count > 0)
		extra(&e, "%.3f ms: %" PRIu64, ms_of(bound_ns), count);
	extras_flush(&e);
}

/* Bins of one width, numbered from 1, as 2.1 and 2.2 have them. */
struct even_bins {
	uint64_t total;
	uint64_t beyond;       /* above all bins */
	uint64_t marks[MARKS]; /* the bins that hold these parts */
};

static const double bin_marks[MARKS] = { 0.05, 0.95, 0.997 };

static uint64_t bin_number(int64_t high_ns)
{
	int64_t width_ns = BIN_US * INT64_C(1000);

	return high_ns <= width_ns ? 1
				   : (uint64_t)((high_ns - 1) / width_ns) + 1;
}

static struct even_bins even_bins_of(const struct hist *h)
{
	struct even_bins even = { .total = 0 };
	struct hist_bin b;
	uint64_t seen = 0;

	for (size_t at = 0; hist_next(h, &at, &b);)
		even.total += b.count;
	for (size_t at = 0; hist_next(h, &at, &b);) {
		uint64_t number = bin_number(b.high_ns);

		seen += b.count;
		for (size_t i = 0; i < MARKS; i++) {
			if (even.marks[i] == 0 &&
			    (double)seen >= bin_marks[i] * (double)even.total)
				even.marks[i] = number;
		}
		if (number > BINS)
			even.beyond += b.count;
	}
	return even;
}

/* One line, however many bins: so it is written piece by piece. */
static void pdf_line(struct out *o, const struct record *r)
{
	struct even_bins even = even_bins_of(r->histogram);
	struct text place = { .len = 0 };
	const char *comma = "";
	uint64_t number = 0, count = 0;
	struct hist_bin b;

	add_place(&place, o, r);
	fprintf(o->file,
		"%s %sT8(f)-PDF: bin(w=%dus):cnt(%" PRIu64 ")=", place.s,
		r->sum ? "SUM" : "", BIN_US, even.total);
	for (size_t at = 0; hist_next(r->histogram, &at, &b);) {
		if (bin_number(b.high_ns) > BINS)
			break;
		if (bin_number(b.high_ns) != number && count > 0) {
			fprintf(o->file, "%s%" PRIu64 ":%" PRIu64, comma,
				number, count);
			comma = ",";
			count = 0;
		}
		number = bin_number(b.high_ns);
		count += b.count;
	}
	if (count > 0)
		fprintf(o->file, "%s%" PRIu64 ":%" PRIu64, comma, number,
			count);
	put(o,
	    " (5.00/95.00/99.7%%=%" PRIu64 "/%" PRIu64 "/%" PRIu64
	    ",Outliers=-,obl/obu=0/%" PRIu64 ")\n",
	    even.marks[0], even.marks[1], even.marks[2], even.beyond);
}

static void histogram_lines(struct out *o, const struct record *r)
{
	if (r->histogram == NULL)
		return;
	if (layout_of(o)->modern)
		pdf_line(o, r);
	else
		doubling_bins(o, r);
}

/* Notes that a record gives rise to. */

/* What a note begins with; add_part appends to it. */
static void note_start(struct text *t, const struct record *r)
{
	add_id(t, r->id);
	add(t, " note: ");
}

/* "5 of this kind", after what is there already; nothing when it is none. */
static void add_part(struct text *t, const char **between, uint64_t count,
		     const char *what)
{
	if (count == 0)
		return;
	add(t, "%s%" PRIu64 " %s", *between, count, what);
	*between = ", ";
}

/* A host that dropped by itself is named; what only the path lost needs no
 * words. */
static void causes_note(struct out *o, const struct record *r)
{
	const struct out_causes *c = &r->causes;
	const char *rest =
		r->relayed ? "before the server" : "before this host";
	struct text t = { .len = 0 };
	const char *between = "";

	if (!c->known || r->d.lost == 0 ||
	    (c->sender == 0 && c->receiver == 0 && c->shared == 0))
		return;
	note_start(&t, r);
	add(&t, "lost %" PRIu64 ": ", r->d.lost);
	if (c->sender_known)
		add_part(&t, &between, c->sender,
			 "refused by the sender's own system");
	add_part(&t, &between, c->receiver,
		 "dropped from the receiver's full socket");
	add_part(&t, &between, c->shared,
		 "dropped from a full socket that other sessions used too");
	add_part(&t, &between, c->path, c->sender_known ? "on the path" : rest);
	put(o, "%s\n", t.s);
}

static void ledger_note(struct out *o, const struct record *r)
{
	struct text t = { .len = 0 };
	const char *between = "";

	if (r->d.too_late == 0 && r->d.duplicate == 0)
		return;
	note_start(&t, r);
	add_part(&t, &between, r->d.too_late, "came too late and stay lost");
	add_part(&t, &between, r->d.duplicate,
		 "came again and are not counted twice");
	put(o, "%s\n", t.s);
}

static void clock_note(struct out *o, const struct record *r)
{
	struct text t = { .len = 0 };

	if (r->d.clock_steps > 0) {
		note_start(&t, r);
		add(&t,
		    "the sender's clock was set %" PRIu64
		    " time%s; jitter and delay leave that out",
		    r->d.clock_steps, r->d.clock_steps == 1 ? "" : "s");
		put(o, "%s\n", t.s);
	}
	/* of its own streams the server has said so */
	if (r->relayed && r->trip.known && r->trip.min_ns < 0) {
		t.len = 0;
		note_start(&t, r);
		add(&t, "trip times below 0: the clocks of the two hosts are "
			"not in step");
		put(o, "%s\n", t.s);
	}
}

static void buffer_note(struct out *o, const struct record *r)
{
	const struct out_buffer *b = &r->buffer;
	struct text t = { .len = 0 };

	if (b->granted == 0 || b->granted >= b->asked)
		return;
	note_start(&t, r);
	add(&t,
	    "the system's limit cut the %s buffer: asked %" PRIu64
	    " bytes, granted %" PRIu64,
	    r->relayed    ? "server's receive"
	    : r->receiver ? "receive"
			  : "send",
	    b->asked, b->granted);
	put(o, "%s\n", t.s);
}

/* Before the last row of a stream: readers take what comes last. */
static void notes(struct out *o, const struct record *r)
{
	if (r->sum)
		return;
	if (r->udp && r->receiver) {
		causes_note(o, r);
		ledger_note(o, r);
		clock_note(o, r);
	}
	buffer_note(o, r);
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
	put(o, "%s  %ss  %ss/sec%s%s\n", place.s, moved, rate, tail.s,
	    r->omitted ? " (omitted)" : "");
	if (r->udp && r->receiver && r->d.late > 0)
		put(o, "%s  %" PRIu64 " datagrams received out-of-order\n",
		    place.s, r->d.late);
	extra_lines(o, r);
	histogram_lines(o, r);
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
	notes(o, r);
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
	notes(o, r);
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

static void text_connects(struct out *o, const struct out_connects *c)
{
	const struct stats_delay *t = &c->times;

	if (t->known)
		put(o,
		    "[ CT] final connect times (min/avg/max/stdev) = "
		    "%.3f/%.3f/%.3f/%.3f ms (tot/err) = %" PRIu64 "/%" PRIu64
		    "\n",
		    ms_of(t->min_ns), ms_of(t->mean_ns), ms_of(t->max_ns),
		    stats_sample_deviation(&c->d) / 1e6, t->count + c->failed,
		    c->failed);
	else
		put(o,
		    "[ CT] no connection (tot/err) = %" PRIu64 "/%" PRIu64 "\n",
		    c->failed, c->failed);
	if (t->known && o->style.enhanced)
		put(o, "[ CT] p50 %.3f ms, p99 %.3f ms, p99.9 %.3f ms\n",
		    ms_of(t->p50_ns), ms_of(t->p99_ns), ms_of(t->p999_ns));
}

/* It is on stderr. */
static void text_no_failed(struct out *o, const char *text)
{
	(void)o;
	(void)text;
}

const struct out_writer out_text = {
	.banner = text_banner,
	.connected = text_connected,
	.interval = row,
	.last = text_last,
	.server_report = text_server_report,
	.connects = text_connects,
	.note = text_note,
	.failed = text_no_failed,
};
