/*
 * check_out: the lines of out_text and out_csv, read back from memory.
 * Samples are lines that iperf 2.0.2, 2.0.5, 2.1.8 and 2.2 printed; records
 * are chosen so that their values give these lines.
 */
#include "out.h"

#include <check.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define SEC(s) ((int64_t)((s)*1e9 + 0.5))
#define RULE "------------------------------------------------------------\n"
#define PLAIN_HEAD "[ ID] Interval       Transfer     Bandwidth\n"
#define UDP_HEAD                                                               \
	"[ ID] Interval       Transfer     Bandwidth        Jitter   "         \
	"Lost/Total Datagrams\n"
/* 2026-11-30 22:11:06.689012345 UTC */
#define WALL_NS INT64_C(1796076666689012345)

/* A writer and what it wrote. */
struct page {
	struct out out;
	char *text;
	size_t len;
};

static void page_open(struct page *p, const struct out_writer *writer,
		      enum out_dialect dialect, bool enhanced)
{
	*p = (struct page){
		.out.writer = writer,
		.out.style = { .dialect = dialect,
			       .format = 'a',
			       .enhanced = enhanced,
			       .time_decimals = 1 },
	};
	p->out.file = open_memstream(&p->text, &p->len);
	ck_assert_ptr_nonnull(p->out.file);
}

/* What is written up to now; lines must have been flushed by the writer. */
static void page_is(struct page *p, const char *expected)
{
	ck_assert_str_eq(p->text != NULL ? p->text : "", expected);
}

static void page_close(struct page *p)
{
	fclose(p->out.file);
	free(p->text);
}

static void page_ends(struct page *p, const char *expected)
{
	page_is(p, expected);
	page_close(p);
}

static const struct out_conn seed_client = {
	.id = 3,
	.client = true,
	.local = "172.16.7.1",
	.peer = "172.16.7.2",
	.local_port = 60193,
	.peer_port = 5001,
};

static const struct out_conn seed_server = {
	.id = 3,
	.local = "172.16.7.2",
	.peer = "172.16.7.1",
	.local_port = 5001,
	.peer_port = 60193,
};

/* A record of a TCP sender; the tests change what they need. */
static struct record moved(double start, double end, uint64_t bytes)
{
	return (struct record){
		.id = 3,
		.conn = &seed_client,
		.start_ns = SEC(start),
		.end_ns = SEC(end),
		.wall_ns = WALL_NS,
		.d.bytes = bytes,
	};
}

static struct record udp_sent(double start, double end, uint64_t bytes)
{
	struct record r = moved(start, end, bytes);

	r.udp = true;
	r.d.packets = bytes / 1470;
	return r;
}

static struct record udp_got(double end, uint64_t bytes, int64_t jitter_us,
			     uint64_t lost, uint64_t sent)
{
	struct record r = moved(0, end, bytes);

	r.udp = true;
	r.receiver = true;
	r.total = true;
	r.d.jitter_ns = jitter_us * 1000;
	r.d.lost = lost;
	r.d.packets = sent - lost;
	return r;
}

static struct record sum_of(struct record r)
{
	r.id = -1;
	r.sum = true;
	r.streams = 2;
	return r;
}

/* The report of 2005: FreeBSD, 2.0.2. */

struct amount {
	double start, end;
	uint64_t bytes;
};

static const struct amount polled_tcp[] = {
	{ 0, 5, 83047219 },    { 5, 10, 80006348 },   { 10, 15, 84305510 },
	{ 15, 20, 129281163 }, { 20, 25, 132416526 }, { 25, 30, 115590194 },
	{ 30, 35, 93406633 },  { 35, 40, 80740352 },  { 40, 45, 80530636 },
	{ 45, 50, 107645836 }, { 50, 55, 134375433 }, { 55, 60, 125625276 },
};

static const char polled_tcp_text[] =
	RULE "Client connecting to 172.16.7.2, TCP port 5001\n"
	     "TCP window size: 32.5 KByte (default)\n" RULE
	     "[  3] local 172.16.7.1 port 52789 connected with 172.16.7.2 port "
	     "5001\n"
	     "[  3]  0.0- 5.0 sec  79.2 MBytes    133 Mbits/sec\n"
	     "[  3]  5.0-10.0 sec  76.3 MBytes    128 Mbits/sec\n"
	     "[  3] 10.0-15.0 sec  80.4 MBytes    135 Mbits/sec\n"
	     "[  3] 15.0-20.0 sec    123 MBytes    207 Mbits/sec\n"
	     "[  3] 20.0-25.0 sec    126 MBytes    212 Mbits/sec\n"
	     "[  3] 25.0-30.0 sec    110 MBytes    185 Mbits/sec\n"
	     "[  3] 30.0-35.0 sec  89.1 MBytes    149 Mbits/sec\n"
	     "[  3] 35.0-40.0 sec  77.0 MBytes    129 Mbits/sec\n"
	     "[  3] 40.0-45.0 sec  76.8 MBytes    129 Mbits/sec\n"
	     "[  3] 45.0-50.0 sec    103 MBytes    172 Mbits/sec\n"
	     "[  3] 50.0-55.0 sec    128 MBytes    215 Mbits/sec\n"
	     "[  3] 55.0-60.0 sec    120 MBytes    201 Mbits/sec\n"
	     "[  3]  0.0-60.0 sec  1.16 GBytes    166 Mbits/sec\n";

START_TEST(seed_tcp_client_is_reproduced)
{
	struct out_conn conn = seed_client;
	struct record total = moved(0, 60, 1245004933);
	struct page p;

	conn.local_port = 52789;
	total.total = true;
	page_open(&p, &out_text, OUT_V202, false);
	out_text.banner(&p.out,
			&(struct out_banner){ .host = "172.16.7.2",
					      .port = 5001,
					      .window_granted = 33280 });
	out_text.connected(&p.out, &conn);
	for (int i = 0; i < COUNT(polled_tcp); i++) {
		struct record r = moved(polled_tcp[i].start, polled_tcp[i].end,
					polled_tcp[i].bytes);

		out_text.interval(&p.out, &r);
	}
	out_text.last(&p.out, &total);
	page_ends(&p, polled_tcp_text);
}
END_TEST

START_TEST(seed_tcp_server_is_reproduced)
{
	struct out_conn conn = seed_server;
	struct record total = moved(0, 60, 1139896346);
	struct page p;

	conn.id = 4;
	conn.peer_port = 58672;
	total.id = 4;
	total.receiver = true;
	page_open(&p, &out_text, OUT_V202, false);
	out_text.banner(&p.out,
			&(struct out_banner){ .server = true,
					      .port = 5001,
					      .bind = "172.16.7.2",
					      .window_granted = 65536 });
	out_text.connected(&p.out, &conn);
	out_text.last(&p.out, &total);
	page_ends(&p, RULE
		  "Server listening on TCP port 5001\n"
		  "Binding to local address 172.16.7.2\n"
		  "TCP window size: 64.0 KByte (default)\n" RULE
		  "[  4] local 172.16.7.2 port 5001 connected with 172.16.7.1 "
		  "port 58672\n"
		  "[  4]  0.0-60.0 sec  1.06 GBytes    152 Mbits/sec\n");
}
END_TEST

static const struct amount unpolled_udp[] = {
	{ 0, 5, 135551715 },   { 5, 10, 135551715 },  { 10, 15, 135551715 },
	{ 15, 20, 132729027 }, { 45, 50, 135027558 },
};

static const char unpolled_udp_text[] =
	RULE "Client connecting to 172.16.7.2, UDP port 5001\n"
	     "Sending 1470 byte datagrams\n"
	     "UDP buffer size: 9.00 KByte (default)\n" RULE
	     "[  3] local 172.16.7.1 port 60193 connected with 172.16.7.2 port "
	     "5001\n"
	     "[  3]  0.0- 5.0 sec    129 MBytes    217 Mbits/sec\n"
	     "[  3]  5.0-10.0 sec    129 MBytes    217 Mbits/sec\n"
	     "[  3] 10.0-15.0 sec    129 MBytes    217 Mbits/sec\n"
	     "[  3] 15.0-20.0 sec    127 MBytes    212 Mbits/sec\n"
	     "[  3] 45.0-50.0 sec    129 MBytes    216 Mbits/sec\n"
	     "[  3]  0.0-60.0 sec  1.51 GBytes    216 Mbits/sec\n"
	     "[  3] Sent 1102470 datagrams\n"
	     "[  3] Server Report:\n"
	     "[  3]  0.0-60.0 sec    787 MBytes    110 Mbits/sec  0.042 ms "
	     "541153/1102469 (49%)\n"
	     "[  3]  0.0-60.0 sec  1 datagrams received out-of-order\n";

START_TEST(seed_udp_client_is_reproduced)
{
	struct record total = udp_sent(0, 60, UINT64_C(1102470) * 1470);
	struct record report =
		udp_got(60, UINT64_C(561316) * 1470, 42, 541153, 1102469);
	struct page p;

	total.total = true;
	report.relayed = true;
	report.d.late = 1;
	page_open(&p, &out_text, OUT_V202, false);
	out_text.banner(&p.out, &(struct out_banner){ .host = "172.16.7.2",
						      .port = 5001,
						      .udp = true,
						      .len_bytes = 1470,
						      .window_granted = 9216 });
	out_text.connected(&p.out, &seed_client);
	for (int i = 0; i < COUNT(unpolled_udp); i++) {
		struct record r =
			udp_sent(unpolled_udp[i].start, unpolled_udp[i].end,
				 unpolled_udp[i].bytes);

		out_text.interval(&p.out, &r);
	}
	out_text.last(&p.out, &total);
	out_text.server_report(&p.out, &report);
	page_ends(&p, unpolled_udp_text);
}
END_TEST

START_TEST(seed_udp_server_is_reproduced)
{
	struct record total =
		udp_got(60, UINT64_C(1360768) * 1470, 24, 40962, 1401730);
	struct page p;

	total.d.late = 1;
	page_open(&p, &out_text, OUT_V202, false);
	out_text.banner(&p.out,
			&(struct out_banner){ .server = true,
					      .udp = true,
					      .port = 5001,
					      .bind = "172.16.7.2",
					      .len_bytes = 1470,
					      .window_granted = 42080 });
	out_text.connected(&p.out, &seed_server);
	out_text.last(&p.out, &total);
	page_ends(&p, RULE
		  "Server listening on UDP port 5001\n"
		  "Binding to local address 172.16.7.2\n"
		  "Receiving 1470 byte datagrams\n"
		  "UDP buffer size: 41.1 KByte (default)\n" RULE
		  "[  3] local 172.16.7.2 port 5001 connected with 172.16.7.1 "
		  "port 60193\n"
		  "[  3]  0.0-60.0 sec  1.86 GBytes    267 Mbits/sec  0.024 ms "
		  "40962/1401730 (2.9%)\n"
		  "[  3]  0.0-60.0 sec  1 datagrams received out-of-order\n");
}
END_TEST

/* Banners. */

static const struct {
	enum out_dialect dialect;
	bool enhanced;
	struct out_banner banner;
	const char *text; /* without the rules */
} banners[] = {
	{ OUT_V202,
	  false,
	  { .host = "h",
	    .port = 5001,
	    .udp = true,
	    .len_bytes = 1470,
	    .window_asked = 102400,
	    .window_granted = 204800 },
	  "Client connecting to h, UDP port 5001\n"
	  "Sending 1470 byte datagrams\n"
	  "UDP buffer size:   200 KByte (WARNING: requested   100 KByte)\n" },
	{ OUT_CLASSIC,
	  false,
	  { .host = "h",
	    .port = 5001,
	    .bind = "10.0.0.1",
	    .window_asked = 65536,
	    .window_granted = 65536,
	    .mss = 1000 },
	  "Client connecting to h, TCP port 5001\n"
	  "Binding to local address 10.0.0.1\n"
	  "TCP window size: 64.0 KByte\n" },
	{ OUT_CLASSIC,
	  false,
	  { .server = true,
	    .port = 5001,
	    .udp = true,
	    .bind = "239.1.2.3",
	    .group = "239.1.2.3",
	    .len_bytes = 1470,
	    .window_granted = 212992 },
	  "Server listening on UDP port 5001\n"
	  "Binding to local address 239.1.2.3\n"
	  "Joining multicast group  239.1.2.3\n"
	  "Receiving 1470 byte datagrams\n"
	  "UDP buffer size:  208 KByte (default)\n" },
	{ OUT_CLASSIC,
	  false,
	  { .host = "239.1.2.3",
	    .port = 5001,
	    .udp = true,
	    .ttl = 4,
	    .gap_ns = 23520,
	    .len_bytes = 1470,
	    .window_granted = 212992 },
	  "Client connecting to 239.1.2.3, UDP port 5001\n"
	  "Sending 1470 byte datagrams\n"
	  "Setting multicast TTL to 4\n"
	  "UDP buffer size:  208 KByte (default)\n" },
	{ OUT_CLASSIC,
	  true,
	  { .host = "h",
	    .port = 5001,
	    .udp = true,
	    .gap_ns = 23520,
	    .len_bytes = 1470,
	    .window_granted = 212992 },
	  "Client connecting to h, UDP port 5001\n"
	  "Sending 1470 byte datagrams, IPG target: 23.52 us\n"
	  "UDP buffer size:  208 KByte (default)\n" },
	{ OUT_V21,
	  false,
	  { .host = "127.0.0.1",
	    .port = 5502,
	    .udp = true,
	    .gap_ns = 1121520,
	    .len_bytes = 1470,
	    .bind = "127.0.0.1",
	    .window_granted = 212992 },
	  "Client connecting to 127.0.0.1, UDP port 5502\n"
	  "Sending 1470 byte datagrams, IPG target: 1121.52 us (kalman "
	  "adjust)\n"
	  "UDP buffer size:  208 KByte (default)\n" },
	{ OUT_V21,
	  true,
	  { .host = "127.0.0.1",
	    .port = 5601,
	    .pid = 6320,
	    .flows = 1,
	    .len_bytes = 131072,
	    .window_granted = 16384 },
	  "Client connecting to 127.0.0.1, TCP port 5601 with pid 6320 (1 "
	  "flows)\n"
	  "Write buffer size: 131072 Byte\n"
	  "TOS set to 0x0 (Nagle on)\n"
	  "TCP window size: 16.0 KByte (default)\n" },
	{ OUT_V21,
	  true,
	  { .host = "127.0.0.1",
	    .port = 5603,
	    .pid = 6346,
	    .flows = 2,
	    .mss = 1000,
	    .tos = 0x10,
	    .nodelay = true,
	    .len_bytes = 131072,
	    .window_asked = 102400,
	    .window_granted = 204800 },
	  "Client connecting to 127.0.0.1, TCP port 5603 with pid 6346 (2 "
	  "flows)\n"
	  "Write buffer size: 131072 Byte\n"
	  "MSS req size 1000 bytes (per TCP_MAXSEG)\n"
	  "TOS set to 0x10 and nodelay (Nagle off)\n"
	  "TCP window size:  200 KByte (WARNING: requested  100 KByte)\n" },
	{ OUT_V21,
	  true,
	  { .host = "127.0.0.1",
	    .port = 5602,
	    .udp = true,
	    .pid = 6333,
	    .flows = 1,
	    .gap_ns = 5880000,
	    .len_bytes = 1470,
	    .window_granted = 212992 },
	  "Client connecting to 127.0.0.1, UDP port 5602 with pid 6333 (1 "
	  "flows)\n"
	  "TOS set to 0x0 (Nagle on)\n"
	  "Sending 1470 byte datagrams, IPG target: 5880.00 us (kalman "
	  "adjust)\n"
	  "UDP buffer size:  208 KByte (default)\n" },
	{ OUT_V21,
	  false,
	  { .server = true,
	    .port = 5605,
	    .udp = true,
	    .bind = "127.0.0.1",
	    .len_bytes = 1470,
	    .window_granted = 212992 },
	  "Server listening on UDP port 5605\n"
	  "UDP buffer size:  208 KByte (default)\n" },
	{ OUT_V21,
	  true,
	  { .server = true,
	    .port = 5602,
	    .udp = true,
	    .pid = 6328,
	    .bind = "127.0.0.1",
	    .len_bytes = 1470,
	    .window_granted = 212992 },
	  "Server listening on UDP port 5602 with pid 6328\n"
	  "Binding to local address 127.0.0.1\n"
	  "Read buffer size: 1.44 KByte\n"
	  "UDP buffer size:  208 KByte (default)\n" },
	{ OUT_V22,
	  true,
	  { .host = "127.0.0.1",
	    .port = 5505,
	    .pid = 26732,
	    .flows = 1,
	    .cca = "bbr",
	    .len_bytes = 131072,
	    .window_granted = 3942645 },
	  "Client connecting to 127.0.0.1, TCP port 5505 with pid 26732 (1/0 "
	  "flows/load)\n"
	  "Write buffer size: 131072 Byte\n"
	  "TCP congestion control using bbr\n"
	  "TOS defaults to 0x0 (dscp=0,ecn=0) (Nagle on)\n"
	  "TCP window size: 3.76 MByte (default)\n" },
	{ OUT_V22,
	  true,
	  { .server = true,
	    .port = 5001,
	    .udp = true,
	    .pid = 7,
	    .len_bytes = 1470,
	    .window_granted = 212992 },
	  "Server listening on UDP port 5001 with pid 7\n"
	  "Read buffer size: 1470 Byte\n"
	  "UDP buffer size:  208 KByte (default)\n" },
};

START_TEST(banner_has_the_lines_of_its_dialect)
{
	char expected[600];
	struct page p;

	page_open(&p, &out_text, banners[_i].dialect, banners[_i].enhanced);
	out_text.banner(&p.out, &banners[_i].banner);
	snprintf(expected, sizeof(expected), RULE "%s" RULE, banners[_i].text);
	page_ends(&p, expected);
}
END_TEST

/* Connection lines. */

static const struct {
	enum out_dialect dialect;
	bool enhanced;
	const char *tail;
} connections[] = {
	{ OUT_CLASSIC, false, " (peer 2.1.8)" }, /* a client knows it by -X */
	{ OUT_V202, true, " (peer 2.1.8) (ct=0.36 ms)" },
	{ OUT_CLASSIC, true, " (peer 2.1.8) (ct=0.36 ms)" },
	{ OUT_V21, false, " (peer 2.1.8)" },
	{ OUT_V21, true,
	  " (peer 2.1.8) (ct=0.36 ms) on 2026-11-30 22:11:06 (UTC)" },
	{ OUT_V22, true,
	  " (peer 2.1.8) (ct=0.36 ms) on 2026-11-30 22:11:06.689 (UTC)" },
};

START_TEST(connection_line_tells_more_with_e)
{
	struct out_conn conn = seed_client;
	char expected[200];
	struct page p;

	conn.connect_ns = 360000;
	conn.wall_ns = WALL_NS;
	strcpy(conn.peer_version, "2.1.8");
	page_open(&p, &out_text, connections[_i].dialect,
		  connections[_i].enhanced);
	out_text.connected(&p.out, &conn);
	snprintf(expected, sizeof(expected),
		 "[  3] local 172.16.7.1 port 60193 connected with 172.16.7.2 "
		 "port 5001%s\n",
		 connections[_i].tail);
	page_ends(&p, expected);
}
END_TEST

/* A server knows it of every client, and says it with -e. */
START_TEST(a_server_names_the_peers_version_with_e)
{
	struct out_conn conn = seed_client;
	struct page p;

	conn.client = false;
	strcpy(conn.peer_version, "2.1.8");
	page_open(&p, &out_text, OUT_CLASSIC, false);
	out_text.connected(&p.out, &conn);
	page_ends(&p, "[  3] local 172.16.7.1 port 60193 connected with "
		      "172.16.7.2 port 5001\n");
}
END_TEST

START_TEST(connection_line_is_silent_about_the_unknown)
{
	struct page p;

	page_open(&p, &out_text, OUT_V22, true);
	out_text.connected(&p.out, &seed_client);
	page_ends(&p, "[  3] local 172.16.7.1 port 60193 connected with "
		      "172.16.7.2 port 5001\n");
}
END_TEST

/* Rows. */

static struct record with_id(struct record r, int id)
{
	r.id = id;
	return r;
}

static struct record tcp_path(struct record r, struct out_tcp tcp,
			      uint64_t writes)
{
	r.id = 1;
	r.d.packets = writes;
	r.tcp = tcp;
	r.tcp.known = true;
	return r;
}

static void row_is(enum out_dialect dialect, bool enhanced, struct record r,
		   const char *expected)
{
	struct page p;

	page_open(&p, &out_text, dialect, enhanced);
	p.out.headers = ~0u;
	out_text.interval(&p.out, &r);
	page_ends(&p, expected);
}

START_TEST(classic_rows_have_the_shape_of_2_0_5)
{
	row_is(OUT_CLASSIC, false, with_id(moved(0, 1, 78433485), 5),
	       "[  5]  0.0- 1.0 sec  74.8 MBytes   627 Mbits/sec\n");
	row_is(OUT_CLASSIC, false, sum_of(moved(0, 1, 210500000)),
	       "[SUM]  0.0- 1.0 sec   201 MBytes  1.68 Gbits/sec\n");
	row_is(OUT_CLASSIC, false, with_id(udp_got(1, 61740, 12208, 4, 42), 4),
	       "[  4]  0.0- 1.0 sec  60.3 KBytes   494 Kbits/sec  12.208 ms "
	       "   4/   42 (9.5%)\n");
	row_is(OUT_CLASSIC, false, moved(95, 105, 0),
	       "[  3] 95.0-105.0 sec  0.00 Bytes  0.00 bits/sec\n");
}
END_TEST

START_TEST(sums_of_receivers_follow_their_dialect)
{
	struct record sum = sum_of(udp_got(1, 339 * 1470, 8, 1, 340));

	row_is(OUT_V202, false, sum,
	       "[SUM]  0.0- 1.0 sec    487 KBytes  3.99 Mbits/sec\n");
	row_is(OUT_CLASSIC, false, sum,
	       "[SUM]  0.0- 1.0 sec   487 KBytes  3.99 Mbits/sec   0.008 ms "
	       "   1/  340 (0.29%)\n");
	row_is(OUT_V21, false, sum,
	       "[SUM] 0.0000-1.0000 sec   487 KBytes  3.99 Mbits/sec   1/340 "
	       "(0.29%)\n");
	row_is(OUT_V21, true, sum,
	       "[SUM] 0.0000-1.0000 sec   487 KBytes  3.99 Mbits/sec  1/340  "
	       "    339 pps\n");
	row_is(OUT_V22, false, sum_of(udp_got(2.01, 1006950, 1, 1, 686)),
	       "[SUM] 0.00-2.01 sec   983 KBytes  4.01 Mbits/sec   1/686 "
	       "(0.15%)\n");
}
END_TEST

/* Headers and rows as 2.1.8 has them; in 2.2 no latency of sums is known. */
static const struct {
	enum out_dialect dialect;
	bool enhanced;
	bool receiver;
	const char *text;
} lone_sums[] = {
	{ OUT_CLASSIC, false, false,
	  "[ ID] Interval       Transfer     Bandwidth\n"
	  "[SUM]  0.0- 1.0 sec   487 KBytes  3.99 Mbits/sec\n" },
	{ OUT_V21, false, false,
	  "[SUM-cnt] Interval       Transfer     Bandwidth\n"
	  "[SUM-2] 0.0000-1.0000 sec   487 KBytes  3.99 Mbits/sec\n" },
	{ OUT_V21, true, false,
	  "[SUM-cnt] Interval            Transfer     Bandwidth      "
	  "Write/Err  PPS\n"
	  "[SUM-2] 0.0000-1.0000 sec   487 KBytes  3.99 Mbits/sec  339/0      "
	  "339 pps\n" },
	{ OUT_V21, false, true,
	  "[SUM-cnt] Interval     Transfer     Bandwidth       Lost/Total    "
	  "PPS\n"
	  "[SUM-2] 0.0000-1.0000 sec   487 KBytes  3.99 Mbits/sec  1/340      "
	  "339 pps\n" },
	{ OUT_V22, false, true,
	  "[SUM-cnt] Interval     Transfer     Bandwidth       Lost/Total  "
	  "Latency avg/min/max  PPS\n"
	  "[SUM-2] 0.00-1.00 sec   487 KBytes  3.99 Mbits/sec  1/340 (0.29%)  "
	  "-/-/-  339 pps\n" },
};

START_TEST(sums_alone_tell_of_how_many_streams)
{
	struct record sum = sum_of(lone_sums[_i].receiver
					   ? udp_got(1, 339 * 1470, 8, 1, 340)
					   : udp_sent(0, 1, 339 * 1470));
	struct page p;

	sum.streams = 2;
	page_open(&p, &out_text, lone_sums[_i].dialect, lone_sums[_i].enhanced);
	p.out.style.sum_only = true;
	out_text.interval(&p.out, &sum);
	page_ends(&p, lone_sums[_i].text);
}
END_TEST

START_TEST(times_of_day_are_local_or_utc)
{
	struct record r = moved(0, 1, 1250000);
	struct page p;

	ck_assert_int_eq(setenv("TZ", "XYZ-3", 1), 0);
	tzset();
	r.wall_ns = SEC(86400);
	page_open(&p, &out_csv, OUT_CLASSIC, false);
	out_csv.interval(&p.out, &r);
	p.out.style.utc = true;
	out_csv.interval(&p.out, &r);
	page_ends(&p, "19700102030000,172.16.7.1,60193,172.16.7.2,5001,3,"
		      "0.0-1.0,1250000,10000000\n"
		      "19700102000000,172.16.7.1,60193,172.16.7.2,5001,3,"
		      "0.0-1.0,1250000,10000000\n");
	unsetenv("TZ");
	tzset();
}
END_TEST

START_TEST(rows_of_2_0_2_have_the_extra_blank)
{
	row_is(OUT_V202, false, udp_got(1, 250880, 7, 0, 170),
	       "[  3]  0.0- 1.0 sec    245 KBytes  2.01 Mbits/sec  0.007 ms "
	       "   0/  170 (0%)\n");
	row_is(OUT_V202, false, with_id(udp_got(1, 248832, 8, 1, 170), 4),
	       "[  4]  0.0- 1.0 sec    243 KBytes  1.99 Mbits/sec  0.008 ms "
	       "   1/  170 (0.59%)\n");
	row_is(OUT_V202, false, sum_of(udp_got(1, 499712, 8, 1, 340)),
	       "[SUM]  0.0- 1.0 sec    488 KBytes  4.00 Mbits/sec\n");
}
END_TEST

START_TEST(modern_rows_have_the_shape_of_2_1_and_2_2)
{
	row_is(OUT_V21, false,
	       with_id(moved(0, 2.0072, UINT64_C(7634304000)), 1),
	       "[  1] 0.0000-2.0072 sec  7.11 GBytes  30.4 Gbits/sec\n");
	row_is(OUT_V21, false, with_id(udp_got(1, 252840, 2, 1, 173), 1),
	       "[  1] 0.0000-1.0000 sec   247 KBytes  2.02 Mbits/sec   0.002 "
	       "ms 1/173 (0.58%)\n");
	row_is(OUT_V22, false, with_id(moved(0, 1, UINT64_C(4209067950)), 1),
	       "[  1] 0.00-1.00 sec  3.92 GBytes  33.7 Gbits/sec\n");
	row_is(OUT_V22, false, with_id(udp_got(2.01, 502740, 1, 1, 343), 2),
	       "[  2] 0.00-2.01 sec   491 KBytes  2.00 Mbits/sec   0.001 ms "
	       "1/343 (0.29%)\n");
}
END_TEST

/* One-way delays with this mean. */
static struct record with_trip(struct record r, int64_t mean_ns)
{
	r.id = 1;
	r.trip = (struct stats_delay){ .known = true,
				       .min_ns = 1000,
				       .mean_ns = mean_ns,
				       .max_ns = 43000 };
	return r;
}

START_TEST(enhanced_2_1_rows_have_its_columns)
{
	struct out_tcp path = { .retransmits = 4,
				.cwnd_bytes = 1023 * 1024,
				.rtt_us = 49,
				.rttvar_us = 22 };
	struct record r = moved(0, 1, UINT64_C(3277586480));
	struct record reads = with_id(r, 1);

	row_is(OUT_V21, true, tcp_path(r, path, 25006),
	       "[  1] 0.0000-1.0000 sec  3.05 GBytes  26.2 Gbits/sec  25006/0 "
	       "         4     1023K/49(22) us  66889520\n");
	row_is(OUT_V21, true, sum_of(tcp_path(r, path, 28910)),
	       "[SUM] 0.0000-1.0000 sec  3.05 GBytes  26.2 Gbits/sec  28910/0 "
	       "        4\n");
	row_is(OUT_V21, true, with_id(r, 1),
	       "[  1] 0.0000-1.0000 sec  3.05 GBytes  26.2 Gbits/sec  0/0     "
	       "     -        -/-(-) us  NAN\n");
	reads.receiver = true;
	reads.d.packets = 26436;
	row_is(OUT_V21, true, reads,
	       "[  1] 0.0000-1.0000 sec  3.05 GBytes  26.2 Gbits/sec  26436\n");
	row_is(OUT_V21, true, with_id(udp_sent(0, 1, 252840), 1),
	       "[  1] 0.0000-1.0000 sec   247 KBytes  2.02 Mbits/sec  172/0   "
	       "   172 pps\n");
	row_is(OUT_V21, true, with_trip(udp_got(1, 252840, 1, 0, 172), 3000),
	       "[  1] 0.0000-1.0000 sec   247 KBytes  2.02 Mbits/sec   0.001 "
	       "ms 0/172 (0%) 0.003/0.001/0.043/- ms 172 pps 172/0(-) pkts "
	       "84280\n");
	row_is(OUT_V21, true,
	       with_trip(udp_got(1, 252840, 1, 0, 172), 20000000),
	       "[  1] 0.0000-1.0000 sec   247 KBytes  2.02 Mbits/sec   0.001 "
	       "ms 0/172 (0%) 20.000/0.001/0.043/- ms 172 pps 172/3(-) pkts "
	       "12.64\n");
	row_is(OUT_V21, true, with_id(udp_got(1, 252840, 1, 0, 172), 1),
	       "[  1] 0.0000-1.0000 sec   247 KBytes  2.02 Mbits/sec   0.001 "
	       "ms 0/172 (0%) -/-/-/- ms 172 pps 172/-(-) pkts NAN\n");
}
END_TEST

START_TEST(enhanced_2_2_rows_have_its_columns)
{
	struct out_tcp path = { .retransmits = 17,
				.inflight_bytes = 2366 * 1024,
				.inflight_packets = 37,
				.cwnd_bytes = 3453 * 1024,
				.cwnd_packets = 54,
				.rtt_us = 233,
				.rttvar_us = 246 };
	struct record r = moved(0, 1, UINT64_C(4121427956));

	row_is(OUT_V22, true, tcp_path(r, path, 31445),
	       "[  1] 0.00-1.00 sec  3.84 GBytes  33.0 Gbits/sec  31445/0     "
	       "   17     2366K(37)/3453K(54)/233(246) us  17688532\n");
	row_is(OUT_V22, true, with_id(r, 1),
	       "[  1] 0.00-1.00 sec  3.84 GBytes  33.0 Gbits/sec  0/0        "
	       " -        -(-)/-(-)/-(-) us  NAN\n");
	row_is(OUT_V22, true, with_id(udp_sent(0, 1, 251370), 1),
	       "[  1] 0.00-1.00 sec   245 KBytes  2.01 Mbits/sec  171/0/0     "
	       "171 pps\n");
	row_is(OUT_V22, true, with_id(udp_got(1, 251370, 0, 0, 171), 1),
	       "[  1] 0.00-1.00 sec   245 KBytes  2.01 Mbits/sec   0.000 ms "
	       "0/171 (0%) -/-/-/- ms 171 pps -/-/- NAN\n");
	row_is(OUT_V22, true, with_trip(udp_got(1, 251370, 0, 0, 171), 4000),
	       "[  1] 0.00-1.00 sec   245 KBytes  2.01 Mbits/sec   0.000 ms "
	       "0/171 (0%) 0.004/0.001/0.043/- ms 171 pps -/-/- 62842\n");
}
END_TEST

START_TEST(latency_of_clocks_out_of_step_is_not_shown)
{
	static const int64_t means_ns[] = { -10000001, 60000000001 };

	for (int i = 0; i < COUNT(means_ns); i++)
		row_is(OUT_V22, true,
		       with_trip(udp_got(1, 251370, 0, 0, 171), means_ns[i]),
		       "[  1] 0.00-1.00 sec   245 KBytes  2.01 Mbits/sec   "
		       "0.000 ms 0/171 (0%) -/-/-/- ms 171 pps -/-/- NAN\n");
}
END_TEST

START_TEST(omitted_rows_say_so)
{
	struct record tcp = moved(0, 1, 78433485);
	struct record udp = udp_got(1, 61740, 12208, 4, 42);

	tcp.omitted = udp.omitted = true;
	row_is(OUT_CLASSIC, false, tcp,
	       "[  3]  0.0- 1.0 sec  74.8 MBytes   627 Mbits/sec (omitted)\n");
	row_is(OUT_CLASSIC, false, udp,
	       "[  3]  0.0- 1.0 sec  60.3 KBytes   494 Kbits/sec  12.208 ms "
	       "   4/   42 (9.5%) (omitted)\n");
	row_is(OUT_V202, false, tcp,
	       "[  3]  0.0- 1.0 sec  74.8 MBytes    627 Mbits/sec (omitted)\n");
	row_is(OUT_V21, false, tcp,
	       "[  3] 0.0000-1.0000 sec  74.8 MBytes   627 Mbits/sec "
	       "(omitted)\n");
	row_is(OUT_V22, false, sum_of(tcp),
	       "[SUM] 0.00-1.00 sec  74.8 MBytes   627 Mbits/sec (omitted)\n");
}
END_TEST

static const struct {
	uint64_t bytes;
	const char *power;
} powers[] = {
	{ 1, "0.000001" }, /* 1 byte/s over 1 s */
	{ 5000000, "5.000000" },
	{ 50000000, "50.00" },
	{ 500000000, "500" },
};

START_TEST(net_power_is_rate_over_delay)
{
	struct record r = tcp_path(moved(0, 1, powers[_i].bytes),
				   (struct out_tcp){ .rtt_us = 1000000 }, 1);
	struct page p;

	page_open(&p, &out_text, OUT_V21, true);
	out_text.interval(&p.out, &r);
	const char *power = strstr(p.text, " us  ") + strlen(" us  ");
	ck_assert_int_eq(
		strncmp(power, powers[_i].power, strlen(powers[_i].power)), 0);
	ck_assert_int_eq(power[strlen(powers[_i].power)], '\n');
	page_close(&p);
}
END_TEST

START_TEST(times_have_the_decimals_they_need)
{
	struct record r = moved(0.25, 1.5, 0);
	struct page p;

	page_open(&p, &out_text, OUT_CLASSIC, false);
	p.out.headers = ~0u;
	p.out.style.time_decimals = 2;
	out_text.interval(&p.out, &r);
	p.out.style.time_decimals = 4;
	out_text.interval(&p.out, &r);
	page_ends(&p, "[  3] 0.25-1.50 sec  0.00 Bytes  0.00 bits/sec\n"
		      "[  3] 0.2500-1.5000 sec  0.00 Bytes  0.00 bits/sec\n");
}
END_TEST

START_TEST(format_letter_rules_both_values)
{
	struct record r = moved(0, 1, 1048576);
	struct page p;

	page_open(&p, &out_text, OUT_CLASSIC, false);
	p.out.headers = ~0u;
	p.out.style.format = 'k';
	out_text.interval(&p.out, &r);
	p.out.style.format = 'A';
	out_text.interval(&p.out, &r);
	page_ends(&p, "[  3]  0.0- 1.0 sec  1024 KBytes  8389 Kbits/sec\n"
		      "[  3]  0.0- 1.0 sec  1.00 MBytes  1.00 MBytes/sec\n");
}
END_TEST

static const struct {
	uint64_t lost, sent;
	const char *usual; /* classic, 2.0.2, 2.1 */
	const char *v22;
} losses[] = {
	{ 0, 1000, "(0%)", "(0%)" },
	{ 0, 0, "(0%)", "(0%)" },
	{ 29, 10000, "(0.29%)", "(0.29%)" },
	{ 40962, 1401730, "(2.9%)", "(3%)" },
	{ 11, 1000, "(1.1%)", "(1%)" },
	{ 541153, 1102469, "(49%)", "(49%)" },
	{ 994, 1000, "(99%)", "(99.40%)" },
	{ 995, 1000, "(100%)", "(99.50%)" },
	{ 1000, 1000, "(100%)", "(100.00%)" },
	{ 1, 1000000, "(0.0001%)", "(0.00%)" },
	{ 1, 10000000, "(0.000010%)", "(0.00%)" },
	{ 123, 10000000000, "(0.0000012%)", "(0.00%)" },
};

START_TEST(loss_percentage_is_plain_digits)
{
	for (int dialect = OUT_CLASSIC; dialect <= OUT_V22; dialect++) {
		struct record r =
			udp_got(1, 0, 0, losses[_i].lost, losses[_i].sent);
		const char *expected =
			dialect == OUT_V22 ? losses[_i].v22 : losses[_i].usual;
		struct page p;

		page_open(&p, &out_text, (enum out_dialect)dialect, false);
		p.out.headers = ~0u;
		out_text.interval(&p.out, &r);
		p.text[p.len - 1] = '\0';
		ck_assert_str_eq(strchr(p.text, '('), expected);
		page_close(&p);
	}
}
END_TEST

/* Header lines. */

static int count_of(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

START_TEST(headers_come_once_a_kind)
{
	struct record tcp = moved(0, 1, 0);
	struct record tx = udp_sent(0, 1, 0);
	struct record rx = udp_got(1, 0, 0, 0, 0);
	int expected = _i == OUT_V202 ? 0 : 1;
	struct page p;

	page_open(&p, &out_text, (enum out_dialect)_i, false);
	for (int n = 0; n < 2; n++) {
		out_text.interval(&p.out, &tcp);
		out_text.last(&p.out, &tx);
		out_text.interval(&p.out, &rx);
	}
	ck_assert_int_eq(count_of(p.text, PLAIN_HEAD), expected);
	ck_assert_int_eq(count_of(p.text, UDP_HEAD), expected);
	page_close(&p);
}
END_TEST

START_TEST(classic_report_row_is_the_next_line)
{
	struct record r = udp_got(2, 2506350, 20, 0, 1705);
	struct page p;

	r.relayed = true;
	page_open(&p, &out_text, OUT_CLASSIC, false);
	out_text.server_report(&p.out, &r);
	page_ends(&p, "[  3] Server Report:\n"
		      "[  3]  0.0- 2.0 sec  2.39 MBytes  10.0 Mbits/sec   "
		      "0.020 ms    0/ 1705 (0%)\n");
}
END_TEST

START_TEST(modern_report_has_its_header_between)
{
	struct record r = udp_got(2.002, 2626890, 0, 0, 1787);
	struct page p;

	r.id = 1;
	r.relayed = true;
	page_open(&p, &out_text, OUT_V21, false);
	out_text.server_report(&p.out, &r);
	page_ends(&p, "[  1] Server Report:\n" UDP_HEAD
		      "[  1] 0.0000-2.0020 sec  2.51 MBytes  10.5 Mbits/sec   "
		      "0.000 ms 0/1787 (0%)\n");
}
END_TEST

START_TEST(modern_receiver_sum_has_the_plain_header)
{
	struct record r = sum_of(udp_got(1, 0, 0, 0, 345));
	struct page p;

	page_open(&p, &out_text, OUT_V21, false);
	out_text.interval(&p.out, &r);
	page_ends(&p, PLAIN_HEAD
		  "[SUM] 0.0000-1.0000 sec  0.000 Bytes  0.000 bits/sec   "
		  "0/345 (0%)\n");
}
END_TEST

static const struct {
	enum out_dialect dialect;
	bool udp, receiver;
	const char *header;
} enhanced_headers[] = {
	{ OUT_V21, false, false,
	  "[ ID] Interval            Transfer    Bandwidth       Write/Err  "
	  "Rtry     Cwnd/RTT(var)        NetPwr" },
	{ OUT_V21, false, true,
	  "[ ID] Interval            Transfer    Bandwidth       Reads=Dist" },
	{ OUT_V21, true, false,
	  "[ ID] Interval            Transfer     Bandwidth      Write/Err  "
	  "PPS" },
	{ OUT_V21, true, true,
	  "[ ID] Interval            Transfer     Bandwidth        Jitter   "
	  "Lost/Total  Latency avg/min/max/stdev PPS  Rx/inP  NetPwr" },
	{ OUT_V22, false, false,
	  "[ ID] Interval        Transfer    Bandwidth       Write/Err  "
	  "Rtry     InF(pkts)/Cwnd(pkts)/RTT(var)        NetPwr" },
	{ OUT_V22, true, false,
	  "[ ID] Interval        Transfer     Bandwidth      Write/Err/Timeo "
	  " PPS" },
	{ OUT_V22, true, true,
	  "[ ID] Interval        Transfer     Bandwidth        Jitter   "
	  "Lost/Total  Latency avg/min/max/stdev PPS Read/Timeo/NA NetPwr" },
};

START_TEST(enhanced_headers_are_theirs)
{
	struct record r = moved(0, 1, 0);
	struct page p;

	r.udp = enhanced_headers[_i].udp;
	r.receiver = enhanced_headers[_i].receiver;
	page_open(&p, &out_text, enhanced_headers[_i].dialect, true);
	out_text.interval(&p.out, &r);
	*strchr(p.text, '\n') = '\0';
	ck_assert_str_eq(p.text, enhanced_headers[_i].header);
	page_close(&p);
}
END_TEST

/* Lines beside the rows. */

START_TEST(sent_counts_every_number_and_sums_only_in_modern)
{
	struct record r = udp_sent(0, 1, 1470 * 100);
	struct record sum = sum_of(r);
	struct page p;

	r.d.errors = 5; /* refused: their numbers are used up */
	page_open(&p, &out_text, OUT_CLASSIC, false);
	p.out.headers = ~0u;
	out_text.last(&p.out, &r);
	out_text.last(&p.out, &sum);
	page_ends(&p, "[  3]  0.0- 1.0 sec   144 KBytes  1.18 Mbits/sec\n"
		      "[  3] Sent 105 datagrams\n"
		      "[SUM]  0.0- 1.0 sec   144 KBytes  1.18 Mbits/sec\n");
	page_open(&p, &out_text, OUT_V21, false);
	p.out.headers = ~0u;
	out_text.last(&p.out, &sum);
	page_ends(&p, "[SUM] 0.0000-1.0000 sec   144 KBytes  1.18 Mbits/sec\n"
		      "[SUM-2] Sent 100 datagrams\n");
}
END_TEST

START_TEST(intervals_tell_of_datagrams_out_of_order)
{
	struct record r = udp_got(1, 252840, 6, 0, 172);
	struct page p;

	r.id = 1;
	r.d.late = 1;
	page_open(&p, &out_text, OUT_V21, false);
	p.out.headers = ~0u;
	out_text.interval(&p.out, &r);
	page_ends(
		&p,
		"[  1] 0.0000-1.0000 sec   247 KBytes  2.02 Mbits/sec   0.006 "
		"ms 0/172 (0%)\n"
		"[  1] 0.0000-1.0000 sec  1 datagrams received "
		"out-of-order\n");
}
END_TEST

static const struct {
	unsigned mss, mtu;
	const char *text;
} links[] = {
	{ 1448, 1500, "MSS size 1448 bytes (MTU 1500 bytes, ethernet)" },
	{ 1448, 0, "MSS size 1448 bytes (MTU 1500 bytes, ethernet)" },
	{ 1460, 0, "MSS size 1460 bytes (MTU 1500 bytes, ethernet)" },
	{ 536, 0, "MSS size 536 bytes (MTU 576 bytes, minimum)" },
	{ 9140, 0, "MSS size 9140 bytes (MTU 9180 bytes, ATM)" },
	{ 988, 0, "MSS size 988 bytes (MTU 1028 bytes, unknown interface)" },
	{ 32741, 65536,
	  "MSS size 32741 bytes (MTU 65536 bytes, unknown interface)" },
	{ 0, 0, "MSS and MTU are unknown" },
};

START_TEST(mss_line_names_the_link)
{
	struct out_conn conn = seed_client;
	struct record r = moved(0, 1, 0);
	struct record sum = sum_of(r);
	char expected[400];
	struct page p;

	conn.mss = links[_i].mss;
	conn.mtu = links[_i].mtu;
	r.conn = &conn;
	page_open(&p, &out_text, OUT_V202, false);
	p.out.style.mss = true;
	out_text.interval(&p.out, &r);
	out_text.last(&p.out, &r);
	out_text.last(&p.out, &sum);
	snprintf(expected, sizeof(expected),
		 "[  3]  0.0- 1.0 sec  0.00 Bytes  0.00 bits/sec\n"
		 "[  3]  0.0- 1.0 sec  0.00 Bytes  0.00 bits/sec\n"
		 "[  3] %s\n"
		 "[SUM]  0.0- 1.0 sec  0.00 Bytes  0.00 bits/sec\n",
		 links[_i].text);
	page_ends(&p, expected);
}
END_TEST

START_TEST(notes_begin_with_their_stream)
{
	struct page p;

	page_open(&p, &out_text, OUT_CLASSIC, false);
	out_text.note(&p.out, 3, "no report came");
	out_text.note(&p.out, -1, "CPU bound");
	page_ends(&p, "[  3] note: no report came\n"
		      "[SUM] note: CPU bound\n");
}
END_TEST

START_TEST(tcp_server_report_needs_e)
{
	struct record r = moved(0, 1, 1048576);
	struct page p;

	r.receiver = true;
	r.relayed = true;
	page_open(&p, &out_text, OUT_CLASSIC, false);
	out_text.server_report(&p.out, &r);
	fflush(p.out.file);
	page_ends(&p, "");
	page_open(&p, &out_text, OUT_CLASSIC, true);
	out_text.server_report(&p.out, &r);
	page_ends(&p, "[  3] Server Report:\n"
		      "[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n");
}
END_TEST

/* Notes. */

/* A total of a receiver that lost 120 of 1000. */
static struct record lossy(void)
{
	return udp_got(10, UINT64_C(880) * 1470, 12, 120, 1000);
}

/* What is printed before the total and before the server's report, in every
 * style: the lines above the row, or above "Server Report:". */
static void notes_are(struct record r, const char *expected)
{
	for (int dialect = OUT_CLASSIC; dialect <= OUT_V22; dialect++) {
		struct page p;

		page_open(&p, &out_text, (enum out_dialect)dialect, false);
		p.out.headers = ~0u;
		if (r.relayed)
			out_text.server_report(&p.out, &r);
		else
			out_text.last(&p.out, &r);
		size_t length = strlen(expected);
		ck_assert_uint_gt(p.len, length);
		const char *after = p.text + length;
		ck_assert_int_eq(
			strncmp(after,
				r.relayed ? "[  3] Server Report:\n" : "[  3] ",
				r.relayed ? 21 : 6),
			0);
		ck_assert_ptr_null(strstr(after, "note"));
		p.text[length] = '\0';
		ck_assert_str_eq(p.text, expected);
		page_close(&p);
	}
}

static struct record relayed(struct record r)
{
	r.relayed = true;
	r.own_report = true;
	return r;
}

static const struct {
	struct out_causes causes;
	const char *own;     /* on the server */
	const char *relayed; /* on the client */
} causes[] = {
	{ { .known = true,
	    .sender_known = true,
	    .sender = 5,
	    .receiver = 100,
	    .path = 15 },
	  "[  3] note: lost 120: 5 refused by the sender's own system, 100 "
	  "dropped from the receiver's full socket, 15 on the path\n",
	  "[  3] note: lost 120: 5 refused by the sender's own system, 100 "
	  "dropped from the receiver's full socket, 15 on the path\n" },
	{ { .known = true, .receiver = 105, .path = 15 },
	  "[  3] note: lost 120: 105 dropped from the receiver's full socket, "
	  "15 before this host\n",
	  "[  3] note: lost 120: 105 dropped from the receiver's full socket, "
	  "15 before the server\n" },
	{ { .known = true, .shared = 120 },
	  "[  3] note: lost 120: 120 dropped from a full socket that other "
	  "sessions used too\n",
	  "[  3] note: lost 120: 120 dropped from a full socket that other "
	  "sessions used too\n" },
	{ { .known = true, .sender_known = true, .sender = 120 },
	  "[  3] note: lost 120: 120 refused by the sender's own system\n",
	  "[  3] note: lost 120: 120 refused by the sender's own system\n" },
	/* the path alone, or nothing known: no note */
	{ { .known = true, .sender_known = true, .path = 120 }, "", "" },
	{ { .receiver = 120 }, "", "" },
};

START_TEST(notes_tell_who_dropped)
{
	struct record r = lossy();

	r.causes = causes[_i].causes;
	notes_are(r, causes[_i].own);
	notes_are(relayed(r), causes[_i].relayed);
	r.d.lost = 0;
	notes_are(r, "");
}
END_TEST

START_TEST(notes_tell_of_the_late_and_of_duplicates)
{
	struct record r = lossy();

	r.d.too_late = 3;
	notes_are(r, "[  3] note: 3 came too late and stay lost\n");
	r.d.duplicate = 2;
	notes_are(r, "[  3] note: 3 came too late and stay lost, 2 came again "
		     "and are not counted twice\n");
	r.d.too_late = 0;
	notes_are(relayed(r), "[  3] note: 2 came again and are not counted "
			      "twice\n");
}
END_TEST

START_TEST(notes_tell_of_clocks)
{
	struct record r = lossy();

	r.d.clock_steps = 1;
	notes_are(r, "[  3] note: the sender's clock was set 1 time; jitter "
		     "and delay leave that out\n");
	r.d.clock_steps = 2;
	notes_are(r, "[  3] note: the sender's clock was set 2 times; jitter "
		     "and delay leave that out\n");
	r.d.clock_steps = 0;
	r.trip = (struct stats_delay){ .known = true, .min_ns = -1 };
	notes_are(relayed(r), "[  3] note: trip times below 0: the clocks of "
			      "the two hosts are not in step\n");
	notes_are(r, "");
	r.trip.min_ns = 0;
	notes_are(relayed(r), "");
	r.trip = (struct stats_delay){ .min_ns = -1 };
	notes_are(r, "");
}
END_TEST

START_TEST(notes_tell_of_a_buffer_that_was_cut)
{
	struct record rx = lossy();
	struct record tx = moved(0, 10, 1470);

	rx.buffer = (struct out_buffer){ .asked = 409600, .granted = 212992 };
	notes_are(rx, "[  3] note: the system's limit cut the receive buffer: "
		      "asked 409600 bytes, granted 212992\n");
	notes_are(relayed(rx),
		  "[  3] note: the system's limit cut the server's receive "
		  "buffer: asked 409600 bytes, granted 212992\n");
	tx.buffer = rx.buffer;
	notes_are(tx, "[  3] note: the system's limit cut the send buffer: "
		      "asked 409600 bytes, granted 212992\n");
	tx.buffer.granted = 409600; /* all of it */
	notes_are(tx, "");
	tx.buffer.granted = 0; /* unknown */
	notes_are(tx, "");
	tx.buffer = (struct out_buffer){ .granted = 4096 }; /* not asked */
	notes_are(tx, "");
}
END_TEST

START_TEST(notes_come_with_the_total_of_a_stream_alone)
{
	struct record r = lossy();
	struct record sum = sum_of(lossy());
	struct page p;

	r.d.duplicate = sum.d.duplicate = 2;
	page_open(&p, &out_text, OUT_CLASSIC, false);
	out_text.interval(&p.out, &r);
	out_text.last(&p.out, &sum);
	ck_assert_int_eq(count_of(p.text, "note"), 0);
	out_text.last(&p.out, &r);
	ck_assert_int_eq(count_of(p.text, "note"), 1);
	page_close(&p);
}
END_TEST

START_TEST(what_went_wrong_is_on_stderr_alone)
{
	const struct out_writer *writers[] = { &out_text, &out_csv };

	for (int i = 0; i < COUNT(writers); i++) {
		struct page p;

		page_open(&p, writers[i], OUT_CLASSIC, true);
		writers[i]->failed(&p.out, "connect: refused");
		fflush(p.out.file);
		page_ends(&p, "");
	}
}
END_TEST

/* Extras of the classic styles. */

/* What a record prints after its row. */
static void extras_are(struct record r, const char *expected)
{
	struct page p;

	page_open(&p, &out_text, OUT_CLASSIC, true);
	p.out.headers = ~0u;
	out_text.interval(&p.out, &r);
	ck_assert_str_eq(strchr(p.text, '\n') + 1, expected);
	page_close(&p);
}

START_TEST(classic_extras_follow_the_row)
{
	struct record tx =
		tcp_path(moved(0, 1, 0),
			 (struct out_tcp){ .retransmits = 5,
					   .cwnd_bytes = 1047552,
					   .rtt_us = 49,
					   .rttvar_us = 22,
					   .acked_bytes = UINT64_MAX },
			 1234);
	struct record rx = moved(0, 1, 0);
	struct record unknown = moved(0, 1, 0);

	extras_are(tx, "[  1]  0.0- 1.0 sec  writes 1234, refused 0, "
		       "retransmits 5, cwnd 1023 KByte, rtt 49 us (var 22)\n");
	extras_are(sum_of(tx), "[SUM]  0.0- 1.0 sec  writes 1234, refused 0, "
			       "retransmits 5\n");
	tx.tcp.rtt_min_us = 40;
	tx.tcp.acked_bytes = 0;
	tx.d.written = 500;
	extras_are(tx, "[  1]  0.0- 1.0 sec  writes 1234, refused 0, "
		       "retransmits 5, cwnd 1023 KByte, rtt 49 us (var 22)\n"
		       "[  1]  0.0- 1.0 sec  rtt min 40 us, "
		       "acked 0 of 500 bytes written\n");
	unknown.d.packets = 8;
	extras_are(unknown, "[  3]  0.0- 1.0 sec  writes 8, refused 0\n");
	rx.receiver = true;
	rx.d.packets = 9;
	extras_are(rx, "[  3]  0.0- 1.0 sec  reads 9\n");
	extras_are(udp_sent(0, 1, 147000),
		   "[  3]  0.0- 1.0 sec  offered 100 pps, refused 0, blocked "
		   "0\n");
}
END_TEST

START_TEST(classic_extras_tell_the_ledger)
{
	struct record r = udp_got(1, 0, 0, 3, 103);

	r.d.duplicate = 1;
	r.d.too_late = 2;
	r.d.gaps = 2;
	r.d.gap_max = 2;
	r.d.gap_max_ns = 30000000;
	r.d.gap_began_ns = 214000000;
	r.total = false;
	extras_are(r, "[  3]  0.0- 1.0 sec  100 pps, duplicates 1, late 0, "
		      "too late 2, gaps 2\n");
	/* a row tells of its own longest gap */
	r.d.row_gap_max = 1;
	extras_are(r, "[  3]  0.0- 1.0 sec  100 pps, duplicates 1, late 0, "
		      "too late 2, gaps 2, longest gap 1\n");
	r.d.row_gap_max_ns = 12340000;
	extras_are(r, "[  3]  0.0- 1.0 sec  100 pps, duplicates 1, late 0, "
		      "too late 2, gaps 2, longest gap 1 (12.3 ms)\n");
	/* and the total of that of the test */
	r.total = true;
	extras_are(r, "[  3]  0.0- 1.0 sec  100 pps, duplicates 1, late 0, "
		      "too late 2, gaps 2\n"
		      "[  3]  0.0- 1.0 sec  longest gap 2 (30.0 ms, began "
		      "0.214 s)\n"
		      "[  3]  0.0- 1.0 sec  jitter mean 0.000 ms, max 0.000 "
		      "ms\n");
	/* another host's zeros may be unknown */
	r.relayed = true;
	r.d.duplicate = 0;
	extras_are(r, "[  3]  0.0- 1.0 sec  100 pps, too late 2, gaps 2, "
		      "longest gap 2 (30.0 ms, began 0.214 s)\n");
	r.own_report = true;
	r.d.gap_max = 0;
	extras_are(r, "[  3]  0.0- 1.0 sec  100 pps, duplicates 0, late 0, "
		      "too late 2, gaps 2\n"
		      "[  3]  0.0- 1.0 sec  jitter mean 0.000 ms, max 0.000 "
		      "ms\n");
}
END_TEST

/* A UDP receiver's total of which everything is known. */
static struct record all_known(void)
{
	struct record r = lossy();

	r.d.bytes = 12500000; /* 10 Mbit/s in 10 s */
	r.jitter_mean_ns = 12000;
	r.d.jitter_max_ns = 310000;
	r.delay = (struct stats_delay){ .known = true,
					.p50_ns = 21000,
					.p99_ns = 300000,
					.p999_ns = 1200000,
					.max_ns = 3400000 };
	r.trip = (struct stats_delay){ .known = true,
				       .min_ns = 100000,
				       .mean_ns = 134000,
				       .max_ns = 3500000 };
	r.causes = (struct out_causes){ .known = true,
					.sender_known = true,
					.sender = 5,
					.receiver = 100,
					.path = 15 };
	r.asked_bps = 12000000;
	r.offered_bps = 11990000;
	r.cpu = (struct out_cpu){ .known = true,
				  .user_ns = 531000000,
				  .system_ns = 2113400000 };
	r.buffer = (struct out_buffer){ .asked = 409600, .granted = 409600 };
	return r;
}

#define AT "[  3]  0.0-10.0 sec  "

static const char all_known_text[] =
	AT "88 pps, duplicates 0, late 0, too late 0, gaps 0\n" AT
	   "jitter mean 0.012 ms, max 0.310 ms\n" AT
	   "delay above min p50 0.021 ms, p99 0.300 ms, p99.9 1.200 ms, max "
	   "3.400 ms\n" AT "trip min 0.100 ms, mean 0.134 ms, max 3.500 ms\n" AT
	   "lost to sender 5, receiver 100, shared socket 0, path 15\n" AT
	   "rate asked 12.00 Mbit/s, offered 11.99 Mbit/s, delivered 10.00 "
	   "Mbit/s\n"
	/* 2.6444 s for 880 datagrams */
	AT "CPU user 0.531 s, system 2.113 s, 3005.000 s per million "
	   "datagrams\n" AT "buffer asked 409600 bytes, granted 409600 bytes\n";

START_TEST(classic_extras_of_a_total_tell_all_that_is_known)
{
	struct record r = all_known();

	extras_are(r, all_known_text);
	extras_are(relayed(r), all_known_text);
	r.total = false;
	extras_are(r, AT "88 pps, duplicates 0, late 0, too late 0, gaps 0\n");
}
END_TEST

START_TEST(classic_extras_name_what_the_sender_may_have_lost)
{
	struct record r = lossy();

	r.jitter_mean_ns = 12000;
	r.causes = (struct out_causes){ .known = true, .path = 120 };
	extras_are(r, AT "88 pps, duplicates 0, late 0, too late 0, gaps 0\n" AT
			 "jitter mean 0.012 ms, max 0.000 ms\n" AT
			 "lost to receiver 0, shared socket 0, sender or path "
			 "120\n");
}
END_TEST

START_TEST(classic_extras_say_nothing_of_the_unknown)
{
	struct record tx = udp_sent(0, 10, 1470);
	struct record report = lossy();
	struct record sum = sum_of(lossy());

	tx.total = true;
	extras_are(tx, AT "offered 0 pps, refused 0, blocked 0\n");
	report.relayed = true;
	extras_are(report, AT "88 pps\n");
	extras_are(sum, "[SUM]  0.0-10.0 sec  88 pps, duplicates 0, late 0, "
			"too late 0, gaps 0\n");
}
END_TEST

START_TEST(classic_extras_of_senders_and_of_tcp)
{
	struct record tx = udp_sent(0, 10, 2940000);
	struct record tcp = moved(0, 10, UINT64_C(1) << 31);

	tx.total = true;
	tx.asked_bps = 950;
	tx.offered_bps = UINT64_C(2500000000);
	tx.cpu = (struct out_cpu){ .known = true, .shared = true };
	tx.buffer.granted = 212992;
	extras_are(tx, AT "offered 200 pps, refused 0, blocked 0\n" AT
			  "rate asked 950.00 bit/s, offered 2.50 Gbit/s\n" AT
			  "CPU user 0.000 s, system 0.000 s, with other "
			  "streams of its thread\n" AT
			  "buffer granted 212992 bytes\n");
	tcp.total = true;
	tcp.receiver = true;
	tcp.cpu = (struct out_cpu){ .known = true,
				    .user_ns = 100000000,
				    .system_ns = 900000000 };
	tcp.d.packets = 77;
	extras_are(tcp, AT "reads 77\n" AT
			   "CPU user 0.100 s, system 0.900 s, 0.500 s per "
			   "GByte\n");
	tx.asked_bps = 1000;
	tx.offered_bps = 0;
	tx.cpu.shared = false;
	tx.d.packets = 0;
	tx.buffer.granted = 0;
	extras_are(tx, AT "offered 0 pps, refused 0, blocked 0\n" AT
			  "rate asked 1.00 Kbit/s\n" AT
			  "CPU user 0.000 s, system 0.000 s\n");
	tcp.d.packets = 0;
	extras_are(relayed(tcp), AT "CPU user 0.100 s, system 0.900 s, 0.500 s "
				    "per GByte\n");
}
END_TEST

START_TEST(classic_extras_stay_within_100_columns)
{
	struct record r =
		tcp_path(moved(86399, 86400, 0),
			 (struct out_tcp){ .retransmits = 12345678,
					   .cwnd_bytes = UINT32_MAX,
					   .rtt_us = UINT32_MAX,
					   .rttvar_us = UINT32_MAX,
					   .acked_bytes = UINT64_MAX },
			 UINT64_C(1234567890123));
	struct page p;
	int lines = 0;

	page_open(&p, &out_text, OUT_CLASSIC, true);
	p.out.style.time_decimals = 4;
	out_text.interval(&p.out, &r);
	for (const char *line = strtok(p.text, "\n"); line != NULL;
	     line = strtok(NULL, "\n")) {
		ck_assert_uint_le(strlen(line), 100);
		lines++;
	}
	ck_assert_int_eq(lines, 4); /* header, row and two of extras */
	page_close(&p);
}
END_TEST

START_TEST(classic_extras_of_large_figures_stay_within_100_columns)
{
	struct record r = all_known();
	struct stats_delay *delays[] = { &r.delay, &r.trip };
	struct page p;

	for (int i = 0; i < COUNT(delays); i++)
		*delays[i] = (struct stats_delay){ .known = true,
						   .min_ns = INT64_MIN,
						   .mean_ns = INT64_MAX,
						   .p50_ns = INT64_MAX,
						   .p99_ns = INT64_MAX,
						   .p999_ns = INT64_MAX,
						   .max_ns = INT64_MAX };
	r.d.lost = r.causes.path = r.causes.shared = UINT64_MAX / 4;
	r.d.gap_max = r.asked_bps = r.offered_bps = UINT64_MAX;
	r.d.gap_max_ns = r.d.gap_began_ns = INT64_MAX;
	r.cpu.user_ns = r.cpu.system_ns = INT64_MAX / 2;
	r.buffer = (struct out_buffer){ UINT64_MAX, UINT64_MAX };
	page_open(&p, &out_text, OUT_CLASSIC, true);
	p.out.headers = ~0u;
	p.out.style.time_decimals = 4;
	out_text.interval(&p.out, &r);
	char *line = strtok(p.text, "\n"); /* the row itself */
	while ((line = strtok(NULL, "\n")) != NULL)
		ck_assert_msg(strlen(line) <= 100, "%s", line);
	page_close(&p);
}
END_TEST

/* Histograms. */

/* 1000 delays of 0 to 12 s, none close to a bound of what is printed. */
static void some_delays(struct hist *h)
{
	static const struct {
		int64_t delay_ns;
		int times;
	} delays[] = {
		{ 0, 30 },     { 2000, 900 }, { 90000, 66 },
		{ 120000, 2 }, { 250000, 1 }, { 12000000000, 1 },
	};

	hist_init(h);
	for (int i = 0; i < COUNT(delays); i++) {
		for (int n = 0; n < delays[i].times; n++)
			hist_add(h, delays[i].delay_ns);
	}
}

static void histogram_is(enum out_dialect dialect, struct record r,
			 const char *expected)
{
	struct page p;

	page_open(&p, &out_text, dialect, false);
	p.out.headers = ~0u;
	out_text.last(&p.out, &r);
	const char *second = strchr(p.text, '\n') + 1;
	ck_assert_str_eq(second, expected);
	page_close(&p);
}

START_TEST(classic_histogram_has_bounds_that_double)
{
	struct record r = udp_got(10, UINT64_C(1000) * 1470, 12, 0, 1000);
	struct hist h;

	some_delays(&h);
	r.histogram = &h;
	histogram_is(OUT_CLASSIC, r,
		     AT "delay up to 0.001 ms: 30, 0.002 ms: 900, 0.131 ms: "
			"68, 0.262 ms: 1\n" AT "delay up to 17179.869 ms: 1\n");
}
END_TEST

START_TEST(modern_histogram_has_bins_of_100_us)
{
	struct record r = udp_got(10, UINT64_C(1000) * 1470, 12, 0, 1000);
	struct hist h;

	some_delays(&h);
	r.histogram = &h;
	histogram_is(OUT_V22, r,
		     "[  3] 0.00-10.00 sec T8(f)-PDF: bin(w=100us):cnt(1000)="
		     "1:996,2:2,3:1 (5.00/95.00/99.7%=1/1/2,Outliers=-,"
		     "obl/obu=0/1)\n");
	histogram_is(OUT_V21, sum_of(r),
		     "[SUM] 0.0000-10.0000 sec SUMT8(f)-PDF: bin(w=100us):"
		     "cnt(1000)=1:996,2:2,3:1 (5.00/95.00/99.7%=1/1/2,"
		     "Outliers=-,obl/obu=0/1)\n");
}
END_TEST

START_TEST(histogram_of_nothing_is_short)
{
	struct record r = udp_got(10, 0, 12, 0, 0);
	struct hist h;

	hist_init(&h);
	r.histogram = &h;
	histogram_is(OUT_CLASSIC, r, "");
	histogram_is(OUT_V22, r,
		     "[  3] 0.00-10.00 sec T8(f)-PDF: bin(w=100us):cnt(0)= "
		     "(5.00/95.00/99.7%=0/0/0,Outliers=-,obl/obu=0/0)\n");
}
END_TEST

/* Readers of public scripts, in our spelling of their patterns. */

#define ROW_T3                                                                 \
	"^\\[ *([0-9]+|SUM) *\\] *[0-9.]+ *- *[0-9.]+ sec +[0-9.]+ "           \
	"[PTGMK]?Bytes +[0-9.]+ [PTGMK]?bits/sec"
#define JITTER_T3 " +[0-9.]+ ms +[0-9]+/ *[0-9]+ \\([0-9.]+%\\)$"

static int matches(const char *text, const char *pattern)
{
	regmatch_t at = { .rm_so = 0 };
	regex_t re;
	int n = 0;

	ck_assert_int_eq(regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE), 0);
	for (int flags = 0; regexec(&re, text, 1, &at, flags) == 0;
	     flags = text[-1] == '\n' ? 0 : REG_NOTBOL) {
		text += at.rm_eo;
		n++;
	}
	regfree(&re);
	return n;
}

/* A UDP client of two streams with everything that a test can print. */
static void whole_udp_test(struct page *p)
{
	struct record tx = udp_sent(0, 10, 12500000);
	struct record sum = sum_of(tx);
	struct record report = relayed(all_known());
	struct hist h;

	some_delays(&h);
	tx.total = true;
	tx.buffer = (struct out_buffer){ .asked = 409600, .granted = 212992 };
	tx.asked_bps = tx.offered_bps = UINT64_C(500000000);
	tx.cpu = report.cpu;
	report.d.late = 3;
	report.d.too_late = report.d.duplicate = report.d.clock_steps = 1;
	report.d.gap_max = 2;
	report.d.gap_max_ns = 30000000;
	report.buffer = tx.buffer;
	report.trip.min_ns = -1;
	report.histogram = &h;
	out_text.connected(&p->out, &seed_client);
	out_text.interval(&p->out, &tx);
	out_text.note(&p->out, 3, "offered less than asked");
	out_text.last(&p->out, &tx);
	out_text.last(&p->out, &sum);
	out_text.server_report(&p->out, &report);
}

START_TEST(readers_find_rows_and_nothing_else)
{
	struct page p;

	page_open(&p, &out_text, OUT_CLASSIC, _i != 0);
	whole_udp_test(&p);
	/* T1: every number, one blank, word/sec */
	ck_assert_int_eq(matches(p.text, "[0-9.]+ [A-Za-z]+/sec"), 4);
	/* T3: rows, and those with jitter */
	ck_assert_int_eq(matches(p.text, ROW_T3), 4);
	ck_assert_int_eq(matches(p.text, ROW_T3 JITTER_T3), 1);
	/* T7: header, and words that mean a failure */
	ck_assert_int_eq(
		matches(p.text, "^\\[ *ID\\] +Interval +Transfer +Bandwidth$"),
		1);
	ck_assert_int_eq(matches(p.text, "failed|error|iperf:"), 0);
	/* T11: the last line with " ms " is a row with its losses */
	ck_assert_int_eq(matches(p.text, " ms "), 1);
	/* T12: only rows have "Bytes" */
	ck_assert_int_eq(matches(p.text, "Bytes"), 4);
	/* T16: "(" number "%)" */
	ck_assert_int_eq(matches(p.text, "\\([0-9.]+%\\)"), 1);
	page_close(&p);
}
END_TEST

START_TEST(readers_find_the_row_after_server_report)
{
	struct page p;

	page_open(&p, &out_text, OUT_CLASSIC, _i != 0);
	whole_udp_test(&p);
	/* T15 */
	ck_assert_int_eq(count_of(p.text, "Server Report:\n"), 1);
	const char *report = strstr(p.text, "Server Report:\n");
	ck_assert_ptr_nonnull(report);
	char *row = strchr(report, '\n') + 1;
	*strchr(row, '\n') = '\0';
	ck_assert_int_eq(matches(row, ROW_T3 JITTER_T3), 1);
	page_close(&p);
}
END_TEST

/* CSV. */

static const struct out_conn lo_client = {
	.id = 3,
	.client = true,
	.local = "127.0.0.1",
	.peer = "127.0.0.2",
	.local_port = 46262,
	.peer_port = 5508,
};

static const struct out_conn lo_server = {
	.id = 4,
	.local = "127.0.0.2",
	.peer = "127.0.0.1",
	.local_port = 5508,
	.peer_port = 46262,
};

static struct record on(struct record r, const struct out_conn *conn)
{
	r.conn = conn;
	if (!r.sum)
		r.id = conn->id;
	return r;
}

static void csv_is(bool enhanced, struct record r, const char *expected)
{
	struct page p;

	page_open(&p, &out_csv, OUT_CLASSIC, enhanced);
	if (r.relayed)
		out_csv.server_report(&p.out, &r);
	else
		out_csv.interval(&p.out, &r);
	fflush(p.out.file);
	page_ends(&p, expected);
}

START_TEST(csv_puts_the_client_first_on_both_ends)
{
	struct record r = moved(0, 1, UINT64_C(2671173632));

	csv_is(false, on(r, &lo_client),
	       "20261130221106,127.0.0.1,46262,127.0.0.2,5508,3,0.0-1.0,"
	       "2671173632,21369389056\n");
	r.receiver = true;
	csv_is(false, on(r, &lo_server),
	       "20261130221106,127.0.0.1,46262,127.0.0.2,5508,4,0.0-1.0,"
	       "2671173632,21369389056\n");
}
END_TEST

START_TEST(csv_udp_has_9_fields_sent_and_14_received)
{
	struct record report = udp_got(2, 502740, 39, 0, 342);

	csv_is(false, on(udp_sent(0, 2, 502740), &lo_client),
	       "20261130221106,127.0.0.1,46262,127.0.0.2,5508,3,0.0-2.0,"
	       "502740,2010960\n");
	csv_is(false, on(report, &lo_server),
	       "20261130221106,127.0.0.1,46262,127.0.0.2,5508,4,0.0-2.0,"
	       "502740,2010960,0.039,0,342,0.000,0\n");
	report.relayed = true;
	report.d.lost = 3;
	report.d.late = 2;
	csv_is(false, on(report, &lo_client),
	       "20261130221106,127.0.0.2,5508,127.0.0.1,46262,3,0.0-2.0,"
	       "502740,2010960,0.039,3,345,0.870,2\n");
}
END_TEST

START_TEST(csv_sums_have_id_minus_1_and_port_0)
{
	struct record r = sum_of(moved(0, 1, UINT64_C(4272005120)));
	struct record rx = sum_of(udp_got(1, 499800, 5, 0, 340));

	csv_is(false, on(r, &lo_client),
	       "20261130221106,127.0.0.1,0,127.0.0.2,5508,-1,0.0-1.0,"
	       "4272005120,34176040960\n");
	csv_is(false, on(rx, &lo_server),
	       "20261130221106,127.0.0.1,0,127.0.0.2,5508,-1,0.0-1.0,"
	       "499800,3998400,0.005,0,340,0.000,0\n");
}
END_TEST

START_TEST(csv_percentage_of_nothing_is_0)
{
	csv_is(false, on(udp_got(0, 0, 0, 0, 0), &lo_server),
	       "20261130221106,127.0.0.1,46262,127.0.0.2,5508,4,0.0-0.0,"
	       "0,0,0.000,0,0,0.000,0\n");
}
END_TEST

START_TEST(csv_has_more_decimals_where_rows_are_short)
{
	struct record r = on(moved(0.01, 0.02, 0), &lo_client);
	struct page p;

	page_open(&p, &out_csv, OUT_CLASSIC, false);
	p.out.style.time_decimals = 2;
	out_csv.interval(&p.out, &r);
	page_ends(&p, "20261130221106,127.0.0.1,46262,127.0.0.2,5508,3,"
		      "0.01-0.02,0,0\n");
}
END_TEST

START_TEST(csv_time_is_local)
{
	struct record r = on(moved(0, 1, 0), &lo_client);
	struct page p;

	setenv("TZ", "CET-1", 1);
	tzset();
	page_open(&p, &out_csv, OUT_CLASSIC, false);
	out_csv.interval(&p.out, &r);
	setenv("TZ", "UTC0", 1);
	tzset();
	page_ends(&p, "20261130231106,127.0.0.1,46262,127.0.0.2,5508,3,"
		      "0.0-1.0,0,0\n");
}
END_TEST

START_TEST(csv_is_rows_only)
{
	struct record r = on(moved(0, 1, 0), &lo_client);
	struct page p;

	r.receiver = true;
	r.relayed = true;
	page_open(&p, &out_csv, OUT_CLASSIC, true);
	out_csv.banner(&p.out, &(struct out_banner){ .host = "h" });
	out_csv.connected(&p.out, &lo_client);
	out_csv.note(&p.out, 3, "text");
	out_csv.server_report(&p.out, &r); /* of TCP: never in CSV */
	fflush(p.out.file);
	page_ends(&p, "");
}
END_TEST

#define NAMES                                                                  \
	"time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,"      \
	"bytes,speed,"
#define ENDS "+0000:20261130221106.689012,127.0.0.1,46262,127.0.0.2,5508,"

START_TEST(csv_with_e_names_the_columns_of_tcp)
{
	struct out_tcp path = { .cwnd_bytes = 1151 * 1024,
				.cwnd_packets = 18,
				.rtt_us = 218,
				.rttvar_us = 340 };
	struct record tx = tcp_path(moved(0, 1, 10092608), path, 78);
	struct record rx = moved(0, 1, 10092608);

	csv_is(true, on(tx, &lo_client),
	       NAMES "writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,"
		     "tcprttvar\n" ENDS
		     "3,0.0,1.0,10092608,80740864,78,0,0,1151,18,218,340\n");
	tx.tcp.known = false;
	csv_is(true, on(tx, &lo_client),
	       NAMES "writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,"
		     "tcprttvar\n" ENDS
		     "3,0.0,1.0,10092608,80740864,78,0,,,,,\n");
	rx.receiver = true;
	rx.d.packets = 90;
	csv_is(true, on(rx, &lo_server),
	       NAMES "readcnt,bin0,bin1,bin2,bin3,bin4,bin5,bin6,bin7\n" ENDS
		     "4,0.0,1.0,10092608,80740864,90,,,,,,,,\n");
}
END_TEST

START_TEST(csv_with_e_names_the_columns_of_udp)
{
	csv_is(true, on(udp_sent(0, 2, 502740), &lo_client),
	       NAMES "jitter,errors,datagrams,errpercent,outoforder,writecnt,"
		     "writeerr,writetimeo,pps\n" ENDS
		     "3,0.0,2.0,502740,2010960,,,342,,,342,0,0,171\n");
	csv_is(true, on(udp_got(2, 502740, 39, 0, 342), &lo_server),
	       NAMES "jitter,errors,datagrams,errpercent,outoforder,readcnt,"
		     "readtimeo,readerrlen,pps\n" ENDS
		     "4,0.0,2.0,502740,2010960,0.039,0,342,0.000,0,,,,171\n");
}
END_TEST

static int commas(const char *line)
{
	int n = 0;

	for (; *line != '\0' && *line != '\n'; line++)
		n += *line == ',';
	return n;
}

START_TEST(csv_with_e_keeps_one_width_under_its_names)
{
	struct record tx = on(udp_sent(0, 2, 502740), &lo_client);
	struct record report = on(udp_got(2, 502740, 39, 0, 342), &lo_client);
	struct page p;
	int lines = 0;

	report.relayed = true;
	page_open(&p, &out_csv, OUT_CLASSIC, true);
	out_csv.interval(&p.out, &tx);
	out_csv.last(&p.out, &tx);
	out_csv.server_report(&p.out, &report);
	ck_assert_int_eq(count_of(p.text, "time,"), 1);
	for (const char *line = p.text; *line != '\0';
	     line = strchr(line, '\n') + 1, lines++)
		ck_assert_int_eq(commas(line), 18);
	ck_assert_int_eq(lines, 4);
	page_close(&p);
}
END_TEST

static TCase *text_case(void)
{
	TCase *tc = tcase_create("text");

	tcase_add_test(tc, seed_tcp_client_is_reproduced);
	tcase_add_test(tc, seed_tcp_server_is_reproduced);
	tcase_add_test(tc, seed_udp_client_is_reproduced);
	tcase_add_test(tc, seed_udp_server_is_reproduced);
	tcase_add_loop_test(tc, banner_has_the_lines_of_its_dialect, 0,
			    COUNT(banners));
	tcase_add_test(tc, a_server_names_the_peers_version_with_e);
	tcase_add_loop_test(tc, connection_line_tells_more_with_e, 0,
			    COUNT(connections));
	tcase_add_test(tc, connection_line_is_silent_about_the_unknown);
	tcase_add_loop_test(tc, headers_come_once_a_kind, OUT_CLASSIC,
			    OUT_V22 + 1);
	tcase_add_test(tc, classic_report_row_is_the_next_line);
	tcase_add_test(tc, modern_report_has_its_header_between);
	tcase_add_test(tc, modern_receiver_sum_has_the_plain_header);
	tcase_add_loop_test(tc, enhanced_headers_are_theirs, 0,
			    COUNT(enhanced_headers));
	tcase_add_test(tc, sent_counts_every_number_and_sums_only_in_modern);
	tcase_add_test(tc, intervals_tell_of_datagrams_out_of_order);
	tcase_add_loop_test(tc, mss_line_names_the_link, 0, COUNT(links));
	tcase_add_test(tc, notes_begin_with_their_stream);
	tcase_add_loop_test(tc, notes_tell_who_dropped, 0, COUNT(causes));
	tcase_add_test(tc, notes_tell_of_the_late_and_of_duplicates);
	tcase_add_test(tc, notes_tell_of_clocks);
	tcase_add_test(tc, notes_tell_of_a_buffer_that_was_cut);
	tcase_add_test(tc, notes_come_with_the_total_of_a_stream_alone);
	tcase_add_test(tc, what_went_wrong_is_on_stderr_alone);
	tcase_add_test(tc, tcp_server_report_needs_e);
	tcase_add_test(tc, classic_extras_follow_the_row);
	tcase_add_test(tc, classic_extras_tell_the_ledger);
	tcase_add_test(tc, classic_extras_of_a_total_tell_all_that_is_known);
	tcase_add_test(tc, classic_extras_name_what_the_sender_may_have_lost);
	tcase_add_test(tc, classic_extras_say_nothing_of_the_unknown);
	tcase_add_test(tc, classic_extras_of_senders_and_of_tcp);
	tcase_add_test(tc, classic_extras_stay_within_100_columns);
	tcase_add_test(tc,
		       classic_extras_of_large_figures_stay_within_100_columns);
	tcase_add_test(tc, classic_histogram_has_bounds_that_double);
	tcase_add_test(tc, modern_histogram_has_bins_of_100_us);
	tcase_add_test(tc, histogram_of_nothing_is_short);
	tcase_add_loop_test(tc, readers_find_rows_and_nothing_else, 0, 2);
	tcase_add_loop_test(tc, readers_find_the_row_after_server_report, 0, 2);
	return tc;
}

static TCase *rows_case(void)
{
	TCase *tc = tcase_create("rows");

	tcase_add_test(tc, classic_rows_have_the_shape_of_2_0_5);
	tcase_add_test(tc, sums_of_receivers_follow_their_dialect);
	tcase_add_loop_test(tc, sums_alone_tell_of_how_many_streams, 0,
			    (int)(sizeof(lone_sums) / sizeof(lone_sums[0])));
	tcase_add_test(tc, times_of_day_are_local_or_utc);
	tcase_add_test(tc, rows_of_2_0_2_have_the_extra_blank);
	tcase_add_test(tc, modern_rows_have_the_shape_of_2_1_and_2_2);
	tcase_add_test(tc, enhanced_2_1_rows_have_its_columns);
	tcase_add_test(tc, enhanced_2_2_rows_have_its_columns);
	tcase_add_test(tc, latency_of_clocks_out_of_step_is_not_shown);
	tcase_add_test(tc, omitted_rows_say_so);
	tcase_add_loop_test(tc, net_power_is_rate_over_delay, 0, COUNT(powers));
	tcase_add_test(tc, times_have_the_decimals_they_need);
	tcase_add_test(tc, format_letter_rules_both_values);
	tcase_add_loop_test(tc, loss_percentage_is_plain_digits, 0,
			    COUNT(losses));
	return tc;
}

static TCase *csv_case(void)
{
	TCase *tc = tcase_create("csv");

	tcase_add_test(tc, csv_puts_the_client_first_on_both_ends);
	tcase_add_test(tc, csv_udp_has_9_fields_sent_and_14_received);
	tcase_add_test(tc, csv_sums_have_id_minus_1_and_port_0);
	tcase_add_test(tc, csv_percentage_of_nothing_is_0);
	tcase_add_test(tc, csv_has_more_decimals_where_rows_are_short);
	tcase_add_test(tc, csv_time_is_local);
	tcase_add_test(tc, csv_is_rows_only);
	tcase_add_test(tc, csv_with_e_names_the_columns_of_tcp);
	tcase_add_test(tc, csv_with_e_names_the_columns_of_udp);
	tcase_add_test(tc, csv_with_e_keeps_one_width_under_its_names);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("out");

	setenv("TZ", "UTC0", 1);
	tzset();
	suite_add_tcase(suite, text_case());
	suite_add_tcase(suite, rows_case());
	suite_add_tcase(suite, csv_case());
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
