/*
 * out_csv: records as the rows of iperf 2's "-y C".  Plain: 9 fields for TCP
 * and for a UDP sender, 14 for a UDP receiver, as 2.0.x counts them; the
 * client's address comes first on both ends, as in 2.1, except in what the
 * server reported.  With -e: the named columns of 2.2.
 *
 * Of the named columns these have no value here and stay empty, rather than
 * say 0 or -1: bin0 to bin7; readcnt, readtimeo and readerrlen of UDP; what a
 * UDP sender cannot know of losses; and whatever TCP_INFO did not tell.
 */
#include "out.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "stats.h"
#include "units.h"

#define KBYTE 1024
#define NO_BINS ",,,,,,,,"

/* Kinds of rows, bits of out.headers. */
enum head {
	HEAD_TCP_TX,
	HEAD_TCP_RX,
	HEAD_UDP_TX,
	HEAD_UDP_RX,
	HEAD_BOUNCE,
	HEADS,
};

#define HEAD_START                                                             \
	"time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,"      \
	"bytes,speed,"
#define HEAD_UDP "jitter,errors,datagrams,errpercent,outoforder,"

static const char *const head_texts[HEADS] = {
	[HEAD_TCP_TX] = HEAD_START
	"writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar",
	[HEAD_TCP_RX] =
		HEAD_START "readcnt,bin0,bin1,bin2,bin3,bin4,bin5,bin6,bin7",
	[HEAD_BOUNCE] = HEAD_START
	"bbcnt,bbavg,bbmin,bbmax,bbstdev,tcpretry,tcpcwnd,tcppcwnd,tcprtt,"
	"tcprttvar,txbytes,rxbytes,rps",
	[HEAD_UDP_TX] = HEAD_START HEAD_UDP "writecnt,writeerr,writetimeo,pps",
	[HEAD_UDP_RX] = HEAD_START HEAD_UDP "readcnt,readtimeo,readerrlen,pps",
};

static enum head head_of(const struct record *r)
{
	if (r->series == OUT_ROUND_TRIPS)
		return HEAD_BOUNCE;
	if (r->udp)
		return r->receiver ? HEAD_UDP_RX : HEAD_UDP_TX;
	return r->receiver ? HEAD_TCP_RX : HEAD_TCP_TX;
}

/*
 * The names of the columns, once a kind.  A relayed row stands under the
 * names of the UDP sender's rows above it, which have as many columns: some
 * readers expect a line of names only at the very top.
 */
static void header(struct out *o, enum head head, bool relayed)
{
	if ((o->headers & 1u << head) != 0 || (relayed && o->headers != 0))
		return;
	o->headers |= 1u << head;
	fprintf(o->file, "%s\n", head_texts[head]);
	fflush(o->file);
}

/* YYYYMMDDhhmmss in local time or UTC; with -e as 2.2: +ZZZZ: before it and
 * microseconds after. */
static void time_text(char *buf, size_t size, int64_t wall_ns,
		      const struct out_style *style)
{
	bool enhanced = style->enhanced;
	time_t sec = (time_t)(wall_ns / 1000000000);
	int us = (int)(wall_ns % 1000000000 / 1000);
	char day[64] = "";
	struct tm tm = { 0 };

	if ((style->utc ? gmtime_r : localtime_r)(&sec, &tm) != NULL)
		strftime(day, sizeof(day),
			 enhanced ? "%z:%Y%m%d%H%M%S" : "%Y%m%d%H%M%S", &tm);
	if (enhanced)
		snprintf(buf, size, "%s.%06d", day, us);
	else
		snprintf(buf, size, "%s", day);
}

/* Both ends, the one that sends first; in a server's report the server.  A sum
 * has many of a client's ports: 0. */
static void ends_text(char *buf, size_t size, const struct record *r)
{
	const struct out_conn *c = r->conn;
	bool local_first = !r->receiver;
	unsigned local_port = r->sum && c->client ? 0 : c->local_port;
	unsigned peer_port = r->sum && !c->client ? 0 : c->peer_port;

	if (local_first)
		snprintf(buf, size, "%s,%u,%s,%u", c->local, local_port,
			 c->peer, peer_port);
	else
		snprintf(buf, size, "%s,%u,%s,%u", c->peer, peer_port, c->local,
			 local_port);
}

/* One decimal as in every version of iperf 2, unless -i or -t need more:
 * "0.0-0.0" would tell rows of 10 ms apart no longer. */
static void span_text(char *buf, size_t size, const struct out *o,
		      const struct record *r)
{
	int decimals = o->style.time_decimals > 1 ? o->style.time_decimals : 1;

	snprintf(buf, size, "%.*f%c%.*f", decimals, (double)r->start_ns / 1e9,
		 o->style.enhanced ? ',' : '-', decimals,
		 (double)r->end_ns / 1e9);
}

/* Jitter, lost, total, percent and out of order: fields 10 to 14. */
static void loss_text(char *buf, size_t size, const struct stats_snap *d)
{
	uint64_t sent = stats_sent(d);
	double percent = sent > 0 ? 100.0 * (double)d->lost / (double)sent : 0;

	snprintf(buf, size, ",%.3f,%" PRIu64 ",%" PRIu64 ",%.3f,%" PRIu64,
		 (double)d->jitter_ns / 1e6, d->lost, sent, percent, d->late);
}

static void tcp_text(char *buf, size_t size, const struct record *r)
{
	const struct out_tcp *tcp = &r->tcp;

	if (!tcp->known)
		snprintf(buf, size, ",,,,,");
	else if (r->sum)
		snprintf(buf, size, ",%" PRIu64 ",,,,", tcp->retransmits);
	else
		snprintf(buf, size,
			 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
			 ",%" PRIu32,
			 tcp->retransmits, tcp->cwnd_bytes / KBYTE,
			 tcp->cwnd_packets, tcp->rtt_us, tcp->rttvar_us);
}

static void tcp_tx_text(char *buf, size_t size, const struct record *r)
{
	char tcp[96];

	tcp_text(tcp, sizeof(tcp), r);
	snprintf(buf, size, ",%" PRIu64 ",%" PRIu64 "%s", r->d.packets,
		 r->d.errors, tcp);
}

/* Round trips in ms; how many a second there would be without pauses. */
static void bounce_text(char *buf, size_t size, const struct record *r)
{
	const struct stats_snap *d = &r->d;
	double mean_ns = stats_sample_mean(d);
	uint64_t sent = d->samples * r->request_bytes;
	bool any = d->samples > 0;
	char tcp[96];

	tcp_text(tcp, sizeof(tcp), r);
	snprintf(buf, size,
		 ",%" PRIu64 ",%.6f,%.6f,%.6f,%.6f%s,%" PRIu64 ",%" PRIu64
		 ",%.0f",
		 d->samples, mean_ns / 1e6,
		 any ? (double)d->sample_min_ns / 1e6 : 0,
		 any ? (double)d->sample_max_ns / 1e6 : 0,
		 stats_sample_deviation(d) / 1e6, tcp, sent, d->bytes - sent,
		 mean_ns > 0 ? 1e9 / mean_ns : 0);
}

/* The columns of -e after speed.  A refused datagram keeps its number and
 * counts among a sender's datagrams.  2.2's writetimeo counts writes that did
 * not go through at once: our blocked. */
static void named_text(char *buf, size_t size, const struct record *r)
{
	char loss[128];
	double pps = units_pps(r->d.packets, r->end_ns - r->start_ns);

	switch (head_of(r)) {
	case HEAD_TCP_TX:
		tcp_tx_text(buf, size, r);
		break;
	case HEAD_BOUNCE:
		bounce_text(buf, size, r);
		break;
	case HEAD_TCP_RX:
		snprintf(buf, size, ",%" PRIu64 NO_BINS, r->d.packets);
		break;
	case HEAD_UDP_TX:
		snprintf(buf, size,
			 ",,,%" PRIu64 ",,,%" PRIu64 ",%" PRIu64 ",%" PRIu64
			 ",%.0f",
			 r->d.packets + r->d.errors, r->d.packets, r->d.errors,
			 r->d.blocked, pps);
		break;
	default:
		loss_text(loss, sizeof(loss), &r->d);
		snprintf(buf, size, "%s,,,,%.0f", loss, pps);
		break;
	}
}

static void csv_row(struct out *o, const struct record *r)
{
	char when[96], ends[2 * OUT_ADDR_BYTES + 32], span[64];
	char tail[256] = "";

	time_text(when, sizeof(when), r->wall_ns, &o->style);
	ends_text(ends, sizeof(ends), r);
	span_text(span, sizeof(span), o, r);
	if (o->style.enhanced) {
		header(o, head_of(r), r->relayed);
		named_text(tail, sizeof(tail), r);
	} else if (r->udp && r->receiver) {
		loss_text(tail, sizeof(tail), &r->d);
	}
	fprintf(o->file, "%s,%s,%d,%s,%" PRIu64 ",%.0f%s\n", when, ends,
		r->sum ? -1 : r->id, span, r->d.bytes,
		units_bps(r->d.bytes, r->end_ns - r->start_ns), tail);
	fflush(o->file);
}

/* Readers count fields: a TCP server's report never shows in CSV. */
static void csv_server_report(struct out *o, const struct record *r)
{
	if (r->udp)
		csv_row(o, r);
}

static void csv_no_banner(struct out *o, const struct out_banner *b)
{
	(void)o;
	(void)b;
}

static void csv_no_connected(struct out *o, const struct out_conn *c)
{
	(void)o;
	(void)c;
}

static void csv_no_connects(struct out *o, const struct out_connects *c)
{
	(void)o;
	(void)c;
}

static void csv_no_note(struct out *o, int id, const char *text)
{
	(void)o;
	(void)id;
	(void)text;
}

static void csv_no_failed(struct out *o, const char *text)
{
	(void)o;
	(void)text;
}

const struct out_writer out_csv = {
	.banner = csv_no_banner,
	.connected = csv_no_connected,
	.interval = csv_row,
	.last = csv_row,
	.server_report = csv_server_report,
	.connects = csv_no_connects,
	.note = csv_no_note,
	.failed = csv_no_failed,
};
