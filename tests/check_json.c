/*
 * check_json: the lines of out_json, read back from memory.  A small reader of
 * JSON, which shares no code with the writer, looks at each line; known lines
 * are compared whole, with ' for ".
 */
#include "out.h"

#include <check.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define MS(ms) ((int64_t)((ms)*1e6 + 0.5))
#define SEC(s) ((int64_t)((s)*1e9 + 0.5))
/* 2026-11-30 22:11:06.689012345 UTC */
#define WALL_NS INT64_C(1796076666689012345)
#define WALL "'wall_time':1796076666.689012"

/* The reader: RFC 8259, each function moves *s behind what it took. */

static bool value_ok(const unsigned char **s);

/* One character of UTF-8, judged by the number that it stands for. */
static bool character_ok(const unsigned char **s)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned c = **s;
	unsigned bytes = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : 3;

	if (c >= 0xf0)
		bytes = c < 0xf8 ? 4 : 0;
	if (c < 0x20 || bytes == 0)
		return false;

	uint32_t number = bytes == 1 ? c : c & (0xffu >> (bytes + 1));

	for (unsigned i = 1; i < bytes; i++) {
		if ((*s)[i] >> 6 != 2)
			return false;
		number = number << 6 | ((*s)[i] & 0x3f);
	}
	*s += bytes;
	return number >= lowest[bytes] && number <= 0x10ffff &&
	       (number < 0xd800 || number > 0xdfff);
}

static bool string_ok(const unsigned char **s)
{
	if (*(*s)++ != '"')
		return false;
	while (**s != '"') {
		if (**s != '\\') {
			if (!character_ok(s))
				return false;
			continue;
		}
		++*s;
		if (**s == 'u') {
			if (strspn((const char *)*s + 1, "0123456789abcdef") <
			    4)
				return false;
			*s += 4;
		} else if (**s == '\0' || !strchr("\"\\/bfnrt", **s)) {
			return false;
		}
		++*s;
	}
	++*s;
	return true;
}

static size_t digits_at(const unsigned char *s)
{
	return strspn((const char *)s, "0123456789");
}

/* As JSON has it, without exponents, which the writer does not use. */
static bool number_ok(const unsigned char **s)
{
	if (**s == '-')
		++*s;

	size_t n = digits_at(*s);

	if (n == 0 || (n > 1 && **s == '0'))
		return false;
	*s += n;
	if (**s != '.')
		return true;
	n = digits_at(++*s);
	*s += n;
	return n > 0;
}

static bool list_ok(const unsigned char **s, unsigned char end, bool named)
{
	++*s;
	if (**s == end) {
		++*s;
		return true;
	}
	for (;;) {
		if (named && (!string_ok(s) || *(*s)++ != ':'))
			return false;
		if (!value_ok(s))
			return false;
		if (**s == end) {
			++*s;
			return true;
		}
		if (*(*s)++ != ',')
			return false;
	}
}

static bool value_ok(const unsigned char **s)
{
	static const char *const words[] = { "true", "false", "null" };

	if (**s == '{')
		return list_ok(s, '}', true);
	if (**s == '[')
		return list_ok(s, ']', false);
	if (**s == '"')
		return string_ok(s);
	for (int i = 0; i < COUNT(words); i++) {
		size_t len = strlen(words[i]);

		if (strncmp((const char *)*s, words[i], len) == 0) {
			*s += len;
			return true;
		}
	}
	return number_ok(s);
}

/* Is it one object, one newline, and nothing else? */
static bool line_ok(const char *line)
{
	const unsigned char *s = (const unsigned char *)line;

	return *s == '{' && value_ok(&s) && strcmp((const char *)s, "\n") == 0;
}

struct judged {
	const char *line;
	bool ok;
};

/* The reader must be able to refuse. */
static const struct judged judged[] = {
	{ "{}\n", true },
	{ "{\"a\":[],\"b\":[1,-2.5,{\"c\":null}]}\n", true },
	{ "{\"a\":\"\\u001f\\\"\\\\\xc3\xa4\xf0\x9f\x98\x80\"}\n", true },
	{ "{}", false },
	{ "{}\n\n", false },
	{ "{}{}\n", false },
	{ "[]\n", false },
	{ "{\"a\":nan}\n", false },
	{ "{\"a\":-inf}\n", false },
	{ "{\"a\":1,5}\n", false },
	{ "{\"a\":.5}\n", false },
	{ "{\"a\":1.}\n", false },
	{ "{\"a\":01}\n", false },
	{ "{\"a\":-}\n", false },
	{ "{\"a\":}\n", false },
	{ "{\"a\":1,}\n", false },
	{ "{,\"a\":1}\n", false },
	{ "{\"a\" 1}\n", false },
	{ "{a:1}\n", false },
	{ "{\"a\":\"\t\"}\n", false },
	{ "{\"a\":\"\\x\"}\n", false },
	{ "{\"a\":\"\\u12\"}\n", false },
	{ "{\"a\":\"\x80\"}\n", false },
	{ "{\"a\":\"\xc0\xaf\"}\n", false },
	{ "{\"a\":\"\xed\xa0\x80\"}\n", false },
	{ "{\"a\":\"\xf4\x90\x80\x80\"}\n", false },
	{ "{\"a\":\"\xe2\x82\"}\n", false },
	{ "{\"a\":\"b}\n", false },
};

START_TEST(reader_tells_json_from_other_text)
{
	ck_assert_msg(line_ok(judged[_i].line) == judged[_i].ok, "%s",
		      judged[_i].line);
}
END_TEST

/* A writer and what it wrote. */
struct page {
	struct out out;
	char *text;
	size_t len;
};

static void page_open(struct page *p)
{
	*p = (struct page){ .out.writer = &out_json };
	p->out.file = open_memstream(&p->text, &p->len);
	ck_assert_ptr_nonnull(p->out.file);
}

static void page_close(struct page *p)
{
	fclose(p->out.file);
	free(p->text);
}

/* What is written up to now is this line; it must have been flushed. */
static void page_is(const struct page *p, const char *expected)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&line, &len);

	for (const char *s = expected; *s != '\0'; s++)
		fputc(*s == '\'' ? '"' : *s, f);
	fputc('\n', f);
	fclose(f);
	ck_assert_ptr_nonnull(p->text);
	ck_assert_str_eq(p->text, line);
	ck_assert(line_ok(p->text));
	free(line);
}

static void page_ends(struct page *p, const char *expected)
{
	page_is(p, expected);
	page_close(p);
}

/* Is there this part, with ' for "? */
static bool page_has(const struct page *p, const char *part)
{
	char wanted[256];
	size_t len = strlen(part);

	ck_assert_uint_lt(len, sizeof(wanted));
	for (size_t i = 0; i <= len; i++)
		wanted[i] = (char)(part[i] == '\'' ? '"' : part[i]);
	ck_assert(line_ok(p->text));
	return strstr(p->text, wanted) != NULL;
}

#define HAS(page, part) ck_assert_msg(page_has(page, part), "%s", (page)->text)
#define LACKS(page, part)                                                      \
	ck_assert_msg(!page_has(page, part), "%s", (page)->text)

/* One row as the reporter would hand it over. */
static void write_row(struct page *p, const struct record *r)
{
	if (r->relayed)
		out_json.server_report(&p->out, r);
	else if (r->total)
		out_json.last(&p->out, r);
	else
		out_json.interval(&p->out, r);
}

static void row_is(const struct record *r, const char *expected)
{
	struct page p;

	page_open(&p);
	write_row(&p, r);
	page_ends(&p, expected);
}

static const struct out_conn client_conn = {
	.id = 3,
	.client = true,
	.local = "172.16.7.1",
	.peer = "fe80::1%eth0",
	.local_port = 60193,
	.peer_port = 5001,
	.wall_ns = WALL_NS,
};

#define ENDS                                                                   \
	"'local_host':'172.16.7.1','local_port':60193,"                        \
	"'remote_host':'fe80::1%eth0','remote_port':5001"

/* start */

START_TEST(start_of_a_tcp_client)
{
	struct page p;

	page_open(&p);
	out_json.banner(&p.out, &(struct out_banner){
					.host = "server.example",
					.port = 5001,
					.len_bytes = 131072,
					.window_granted = 87040,
					.flows = 4,
					.pid = 4711,
					.cca = "cubic",
					.tos = 184,
					.nodelay = true,
					.mss = 1400,
					.amount_bytes = UINT64_MAX,
					.wall_ns = WALL_NS,
				});
	page_ends(&p,
		  "{'event':'start','version':'2.2.100'," WALL
		  ",'pid':4711,'role':'client','protocol':'TCP','port':5001,"
		  "'bind':null,'multicast_group':null,'ttl':null,'tos':184,"
		  "'blksize':131072,'sock_bufsize':null,'sndbuf_actual':87040,"
		  "'congestion':'cubic','nodelay':true,'target_mss':1400,"
		  "'duration':null,'interval':null,'host':'server.example',"
		  "'num_streams':4,'target_bitrate':null,'fq_rate':null,"
		  "'bytes':18446744073709551615,'omit':0}");
}
END_TEST

START_TEST(start_of_a_udp_client)
{
	struct page p;

	page_open(&p);
	out_json.banner(&p.out, &(struct out_banner){
					.udp = true,
					.host = "239.1.1.1",
					.port = 5002,
					.bind = "%eth0",
					.len_bytes = 1470,
					.ttl = 5,
					.window_asked = 4000000,
					.window_granted = 212992,
					.flows = 1,
					.pid = 4711,
					.gap_ns = 23520,
					.rate_bps = 500000000,
					.time_ns = SEC(10),
					.interval_ns = SEC(0.5),
					.omit_ns = SEC(2),
					.wall_ns = WALL_NS,
				});
	page_ends(&p,
		  "{'event':'start','version':'2.2.100'," WALL
		  ",'pid':4711,'role':'client','protocol':'UDP','port':5002,"
		  "'bind':'%eth0','multicast_group':null,'ttl':5,'tos':0,"
		  "'blksize':1470,'sock_bufsize':4000000,"
		  "'sndbuf_actual':212992,'duration':10,'interval':0.5,"
		  "'host':'239.1.1.1','num_streams':1,"
		  "'target_bitrate':500000000,'fq_rate':null,"
		  "'target_packets_per_second':null,'packet_gap_ms':0.02352,"
		  "'bytes':null,'omit':2}");
}
END_TEST

START_TEST(start_of_a_server)
{
	struct page p;

	page_open(&p);
	out_json.banner(&p.out, &(struct out_banner){
					.server = true,
					.udp = true,
					.port = 5001,
					.bind = "239.1.1.1",
					.group = "239.1.1.1",
					.len_bytes = 1470,
					.window_granted = 212992,
					.pid = 4711,
					.wall_ns = WALL_NS,
				});
	page_ends(&p,
		  "{'event':'start','version':'2.2.100'," WALL
		  ",'pid':4711,'role':'server','protocol':'UDP','port':5001,"
		  "'bind':'239.1.1.1','multicast_group':'239.1.1.1',"
		  "'ttl':null,'tos':0,'blksize':1470,'sock_bufsize':null,"
		  "'rcvbuf_actual':212992,'duration':null,'interval':null}");
}
END_TEST

/* connected */

START_TEST(connected_over_tcp)
{
	struct out_conn c = client_conn;
	struct page p;

	c.mss = 1448;
	c.mtu = 1500;
	c.connect_ns = 251042;
	snprintf(c.peer_version, sizeof(c.peer_version), "2.1.8");
	c.mode = "reverse";
	page_open(&p);
	out_json.connected(&p.out, &c);
	page_ends(&p, "{'event':'connected','socket':3,'protocol':'TCP',"
		      "'role':'client'," ENDS "," WALL
		      ",'tcp_mss':1448,'pmtu':1500,'connect_ms':0.251042,"
		      "'mode':'reverse','peer_version':'2.1.8'}");

	c.client = false;
	c.mode = NULL;
	c.mss = c.mtu = 0;
	c.peer_version[0] = '\0';
	page_open(&p);
	out_json.connected(&p.out, &c);
	page_ends(
		&p,
		"{'event':'connected','socket':3,'protocol':'TCP',"
		"'role':'server'," ENDS "," WALL
		",'tcp_mss':null,'pmtu':null,'mode':null,'peer_version':null}");
}
END_TEST

START_TEST(connected_over_udp)
{
	struct out_conn c = client_conn;
	struct page p;

	c.udp = true;
	page_open(&p);
	out_json.connected(&p.out, &c);
	page_ends(&p, "{'event':'connected','socket':3,'protocol':'UDP',"
		      "'role':'client'," ENDS "," WALL
		      ",'mode':null,'peer_version':null}");
}
END_TEST

/* Records; the tests change what they need. */

static struct record tcp_sent(double start, double end, uint64_t bytes)
{
	return (struct record){
		.id = 3,
		.streams = 1,
		.conn = &client_conn,
		.start_ns = SEC(start),
		.end_ns = SEC(end),
		.wall_ns = WALL_NS,
		.d.bytes = bytes,
		.d.packets = bytes / 131072,
	};
}

static struct record tcp_got(double start, double end, uint64_t bytes)
{
	struct record r = tcp_sent(start, end, bytes);

	r.receiver = true;
	return r;
}

static struct record udp_sent(double start, double end, uint64_t packets)
{
	struct record r = tcp_sent(start, end, packets * 1470);

	r.udp = true;
	r.d.packets = packets;
	return r;
}

/* 1000 numbers, 40 of them lost in 3 gaps. */
static struct record udp_got(double start, double end)
{
	struct record r = udp_sent(start, end, 960);

	r.receiver = true;
	r.d.lost = 40;
	r.d.late = 7;
	r.d.too_late = 2;
	r.d.duplicate = 5;
	r.d.gaps = 3;
	r.d.gap_max = 30;
	r.d.gap_max_ns = MS(30.5);
	r.d.gap_began_ns = SEC(1.25);
	r.d.row_gap_max = 8;
	r.d.row_gap_max_ns = MS(8);
	r.d.row_gap_began_ns = SEC(0.75);
	r.d.jitter_ns = 42000;
	r.d.jitter_max_ns = 1234567;
	r.jitter_mean_ns = 40500;
	return r;
}

static void make_total(struct record *r)
{
	r->total = true;
	r->asked_bps = 500000000;
	r->offered_bps = 499999999;
	r->cpu = (struct out_cpu){ true, true, MS(1500), MS(250) };
	r->buffer = (struct out_buffer){ 4000000, 212992 };
}

static void know_delays(struct record *r)
{
	r->delay = (struct stats_delay){
		true, 960, 0, 12345, 10000, 2000000, 3000000, MS(4.5),
	};
	/* the clocks differ */
	r->trip = (struct stats_delay){
		true, 960, -1500000, -250000, -500000, 750000, 1000000, 2125000,
	};
	r->causes = (struct out_causes){
		.known = true,
		.receiver = 25,
		.shared = 5,
		.path = 10,
	};
}

static struct record sum_of(struct record r)
{
	r.id = -1;
	r.sum = true;
	r.streams = 2;
	return r;
}

#define TCP_3 "'socket':3,'protocol':'TCP',"
#define UDP_3 "'socket':3,'protocol':'UDP',"
#define LEDGER                                                                 \
	"'packets':1000,'packets_per_second':960,'received_packets':960,"      \
	"'lost_packets':40,'lost_percent':4,'out_of_order':7,'too_late':2,"    \
	"'duplicates':5,"
#define CPU                                                                    \
	"'cpu':{'user_seconds':1.5,'system_seconds':0.25,"                     \
	"'seconds_per_gigabyte':1750,"
#define RATES "'target_bitrate':500000000,'offered_bits_per_second':499999999,"

/* interval */

START_TEST(interval_of_a_tcp_sender)
{
	struct record r = tcp_sent(1, 1.5, 1310720);

	r.d.errors = 1;
	r.tcp = (struct out_tcp){
		.known = true,
		.retransmits = 12,
		.cwnd_bytes = 66000,
		.cwnd_packets = 46,
		.inflight_bytes = 14480,
		.inflight_packets = 10,
		.rtt_us = 1234,
		.rttvar_us = 56,
		.rtt_min_us = 999,
		.acked_bytes = 1300000,
	};
	row_is(&r, "{'event':'interval'," TCP_3
		   "'sender':true,'start':1,'end':1.5,'seconds':0.5," WALL
		   ",'omitted':false,'bytes':1310720,"
		   "'bits_per_second':20971520,'write_count':10,"
		   "'write_errors':1,'written_bytes':0,'retransmits':12,'acked_"
		   "bytes':1300000,"
		   "'snd_cwnd':66000,'snd_cwnd_packets':46,'inflight':14480,"
		   "'inflight_packets':10,'rtt':1234,'rttvar':56,"
		   "'rtt_min':999}");
	r.tcp.known = false;
	row_is(&r, "{'event':'interval'," TCP_3
		   "'sender':true,'start':1,'end':1.5,'seconds':0.5," WALL
		   ",'omitted':false,'bytes':1310720,"
		   "'bits_per_second':20971520,'write_count':10,"
		   "'write_errors':1,'written_bytes':0,'retransmits':null,'"
		   "acked_bytes':null,"
		   "'snd_cwnd':null,'snd_cwnd_packets':null,'inflight':null,"
		   "'inflight_packets':null,'rtt':null,'rttvar':null,"
		   "'rtt_min':null}");
}
END_TEST

START_TEST(tcp_info_of_an_older_system_is_null_in_part)
{
	struct record r = tcp_sent(0, 1, 1310720);
	struct page p;

	r.tcp = (struct out_tcp){
		.known = true,
		.rtt_us = 1234,
		.acked_bytes = UINT64_MAX,
	};
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'acked_bytes':null");
	HAS(&p, "'rtt_min':null");
	HAS(&p, "'rtt':1234");
	page_close(&p);
}
END_TEST

START_TEST(interval_of_a_tcp_receiver)
{
	struct record r = tcp_got(0, 1, 1310720);

	r.omitted = true;
	row_is(&r, "{'event':'interval'," TCP_3
		   "'sender':false,'start':0,'end':1,'seconds':1," WALL
		   ",'omitted':true,'bytes':1310720,"
		   "'bits_per_second':10485760,'read_count':10}");
}
END_TEST

START_TEST(interval_of_a_udp_sender)
{
	struct record r = udp_sent(0, 3, 1000);

	r.d.errors = 24;
	r.d.blocked = 6;
	row_is(&r, "{'event':'interval'," UDP_3
		   "'sender':true,'start':0,'end':3,'seconds':3," WALL
		   ",'omitted':false,'bytes':1470000,"
		   "'bits_per_second':3920000,'packets':1024,"
		   "'packets_per_second':333.333333333,'write_count':1000,"
		   "'write_errors':24,'write_blocked':6,'icmp_errors':0}");
}
END_TEST

START_TEST(interval_of_a_udp_receiver)
{
	struct record r = udp_got(0, 1);

	row_is(&r, "{'event':'interval'," UDP_3
		   "'sender':false,'start':0,'end':1,'seconds':1," WALL
		   ",'omitted':false,'bytes':1411200,"
		   "'bits_per_second':11289600," LEDGER
		   "'gaps':{'count':3,'longest_packets':8,'longest_ms':8,"
		   "'longest_began':0.75},'jitter_ms':0.042,"
		   "'jitter_mean_ms':0.0405}");
}
END_TEST

/* sum */

START_TEST(sum_of_tcp_senders)
{
	struct record r = sum_of(tcp_sent(0, 1, 1310720));

	r.tcp = (struct out_tcp){ .known = true, .retransmits = 12 };
	row_is(&r, "{'event':'sum','total':false,'num_streams':2,"
		   "'protocol':'TCP','sender':true,'start':0,'end':1,"
		   "'seconds':1," WALL ",'omitted':false,'bytes':1310720,"
		   "'bits_per_second':10485760,'write_count':10,"
		   "'write_errors':0,'written_bytes':0,'retransmits':12}");
	make_total(&r);
	row_is(&r, "{'event':'sum','total':true,'num_streams':2,"
		   "'protocol':'TCP','sender':true,'start':0,'end':1,"
		   "'seconds':1," WALL ",'bytes':1310720,"
		   "'bits_per_second':10485760,'write_count':10,"
		   "'write_errors':0,'written_bytes':0,'retransmits':12," RATES
		   "'delivered_bits_per_second':10485760,"
		   "'cpu':{'user_seconds':1.5,'system_seconds':0.25,"
		   "'seconds_per_gigabyte':1335.144042969,'shared':true},"
		   "'notes':[]}");
}
END_TEST

START_TEST(sum_of_udp_receivers)
{
	struct record r = sum_of(udp_got(0, 1));

	row_is(&r, "{'event':'sum','total':false,'num_streams':2,"
		   "'protocol':'UDP','sender':false,'start':0,'end':1,"
		   "'seconds':1," WALL ",'omitted':false,'bytes':1411200,"
		   "'bits_per_second':11289600," LEDGER
		   "'gaps':{'count':3,'longest_packets':8,'longest_ms':8,"
		   "'longest_began':0.75},'jitter_ms':0.042,"
		   "'jitter_mean_ms':0.0405}");
	r.total = true;
	r.causes = (struct out_causes){ .known = true, .path = 40 };
	row_is(&r, "{'event':'sum','total':true,'num_streams':2,"
		   "'protocol':'UDP','sender':false,'start':0,'end':1,"
		   "'seconds':1," WALL ",'bytes':1411200,"
		   "'bits_per_second':11289600," LEDGER
		   "'gaps':{'count':3,'longest_packets':30,"
		   "'longest_ms':30.5,'longest_began':1.25},"
		   "'jitter_ms':0.042,'jitter_mean_ms':0.0405,"
		   "'jitter_max_ms':1.234567,"
		   "'causes':{'sender':null,'receiver':0,"
		   "'receiver_shared':0,'path':40},'clock_steps':0,"
		   "'target_bitrate':null,'offered_bits_per_second':null,"
		   "'delivered_bits_per_second':11289600,'cpu':null,"
		   "'notes':[]}");
}
END_TEST

/* end */

START_TEST(end_of_a_tcp_sender)
{
	struct record r = tcp_sent(0, 1, 1000000);

	make_total(&r);
	row_is(&r, "{'event':'end'," TCP_3 "'sender':true," ENDS
		   ",'start':0,'end':1,'seconds':1," WALL
		   ",'bytes':1000000,'bits_per_second':8000000,"
		   "'write_count':7,'write_errors':0,'written_bytes':0,'"
		   "retransmits':null,"
		   "'acked_bytes':null,'snd_cwnd':null,"
		   "'snd_cwnd_packets':null,'inflight':null,"
		   "'inflight_packets':null,'rtt':null,'rttvar':null,"
		   "'rtt_min':null," RATES
		   "'delivered_bits_per_second':8000000," CPU "'shared':true},"
		   "'sock_bufsize':4000000,'sndbuf_actual':212992,"
		   "'notes':[]}");
}
END_TEST

START_TEST(end_of_a_tcp_receiver)
{
	struct record r = tcp_got(0, 1, 1000000);

	r.total = true;
	r.buffer.granted = 131072;
	row_is(&r, "{'event':'end'," TCP_3 "'sender':false," ENDS
		   ",'start':0,'end':1,'seconds':1," WALL
		   ",'bytes':1000000,'bits_per_second':8000000,"
		   "'read_count':7,'target_bitrate':null,"
		   "'offered_bits_per_second':null,"
		   "'delivered_bits_per_second':8000000,'cpu':null,"
		   "'sock_bufsize':null,'rcvbuf_actual':131072,'notes':[]}");
}
END_TEST

START_TEST(end_of_a_udp_sender)
{
	struct record r = udp_sent(0, 1, 1000);

	make_total(&r);
	r.d.bytes = 1000000;
	r.d.errors = 24;
	r.d.icmp = 3;
	row_is(&r,
	       "{'event':'end'," UDP_3 "'sender':true," ENDS
	       ",'start':0,'end':1,'seconds':1," WALL
	       ",'bytes':1000000,'bits_per_second':8000000,"
	       "'packets':1024,'packets_per_second':1000,"
	       "'write_count':1000,'write_errors':24,'write_blocked':0,"
	       "'icmp_errors':3," RATES "'delivered_bits_per_second':null," CPU
	       "'seconds_per_million_packets':1750,'shared':true},"
	       "'sock_bufsize':4000000,'sndbuf_actual':212992,"
	       "'notes':[]}");
}
END_TEST

#define TOTAL_GAPS                                                             \
	"'gaps':{'count':3,'longest_packets':30,'longest_ms':30.5,"            \
	"'longest_began':1.25},"
#define TOTAL_JITTER                                                           \
	"'jitter_ms':0.042,'jitter_mean_ms':0.0405,'jitter_max_ms':1.234567,"
#define DELAY                                                                  \
	"'delay_ms':{'count':960,'mean':0.012345,'p50':0.01,'p99':2,"          \
	"'p99_9':3,'max':4.5},"

START_TEST(end_of_a_udp_receiver)
{
	struct record r = udp_got(0, 1);

	make_total(&r);
	know_delays(&r);
	r.d.bytes = 1000000;
	r.d.clock_steps = 1;
	r.kernel_stamps = true;
	row_is(&r,
	       "{'event':'end'," UDP_3 "'sender':false," ENDS
	       ",'start':0,'end':1,'seconds':1," WALL
	       ",'bytes':1000000,'bits_per_second':8000000," LEDGER TOTAL_GAPS
		       TOTAL_JITTER "'causes':{'sender':null,'receiver':25,"
	       "'receiver_shared':5,'path':10},'clock_steps':1,"
	       "'timestamps':'kernel'," DELAY
	       "'trip_time_ms':{'count':960,'min':-1.5,'mean':-0.25,"
	       "'p50':-0.5,'p99':0.75,'p99_9':1,'max':2.125},"
	       "'histogram':null," RATES
	       "'delivered_bits_per_second':8000000," CPU
	       "'seconds_per_million_packets':1822.916666667,"
	       "'shared':true},'sock_bufsize':4000000,"
	       "'rcvbuf_actual':212992,'notes':[]}");
}
END_TEST

/* server_report */

START_TEST(server_report_of_iperf_2_knows_little)
{
	struct record r = udp_got(0, 1);

	/* as the report fills it */
	r.d = (struct stats_snap){
		.bytes = 1000000,
		.packets = 960,
		.lost = 40,
		.late = 7,
		.jitter_ns = 42000,
	};
	r.jitter_mean_ns = 0;
	r.total = r.relayed = true;
	r.asked_bps = 500000000;
	r.offered_bps = 499999999;
	row_is(&r, "{'event':'server_report'," UDP_3
		   "'sender':false,'own_report':false," ENDS
		   ",'start':0,'end':1,'seconds':1," WALL
		   ",'bytes':1000000,'bits_per_second':8000000,"
		   "'packets':1000,'packets_per_second':960,"
		   "'received_packets':960,'lost_packets':40,"
		   "'lost_percent':4,'out_of_order':7,'too_late':null,"
		   "'duplicates':null,'gaps':null,'jitter_ms':0.042,"
		   "'jitter_mean_ms':null,'jitter_max_ms':null,"
		   "'causes':null,'clock_steps':null,"
		   "'timestamps':null,'delay_ms':null,"
		   "'trip_time_ms':null,'histogram':null," RATES
		   "'delivered_bits_per_second':8000000,'cpu':null,"
		   "'sock_bufsize':null,'rcvbuf_actual':null,'notes':[]}");
}
END_TEST

START_TEST(server_report_of_our_own_is_whole)
{
	struct record r = udp_got(0, 1);

	make_total(&r);
	know_delays(&r);
	r.d.bytes = 1000000;
	r.relayed = r.own_report = true;
	r.causes.sender_known = true;
	r.causes.sender = 4;
	r.causes.path = 6;
	row_is(&r,
	       "{'event':'server_report'," UDP_3
	       "'sender':false,'own_report':true," ENDS
	       ",'start':0,'end':1,'seconds':1," WALL
	       ",'bytes':1000000,'bits_per_second':8000000," LEDGER TOTAL_GAPS
		       TOTAL_JITTER "'causes':{'sender':4,'receiver':25,"
	       "'receiver_shared':5,'path':6},'clock_steps':0,"
	       "'timestamps':'clock'," DELAY
	       "'trip_time_ms':{'count':960,'min':-1.5,'mean':-0.25,"
	       "'p50':null,'p99':null,'p99_9':null,'max':2.125},"
	       "'histogram':null," RATES
	       "'delivered_bits_per_second':8000000," CPU
	       "'seconds_per_million_packets':1822.916666667,"
	       "'shared':true},'sock_bufsize':4000000,"
	       "'rcvbuf_actual':212992,'notes':[]}");
}
END_TEST

START_TEST(server_report_over_tcp)
{
	struct record r = tcp_got(0, 1, 1000000);

	make_total(&r);
	r.relayed = r.own_report = true;
	r.d.packets = 0;
	row_is(&r, "{'event':'server_report'," TCP_3
		   "'sender':false,'own_report':true," ENDS
		   ",'start':0,'end':1,'seconds':1," WALL
		   ",'bytes':1000000,'bits_per_second':8000000,"
		   "'read_count':null," RATES
		   "'delivered_bits_per_second':8000000," CPU "'shared':true},"
		   "'sock_bufsize':4000000,'rcvbuf_actual':212992,"
		   "'notes':[]}");
}
END_TEST

/* What is not defined. */

START_TEST(no_gap_has_no_begin)
{
	struct record r = udp_got(0, 1);
	struct page p;

	r.d.lost = r.d.gaps = r.d.row_gap_max = 0;
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'gaps':{'count':0,'longest_packets':0,'longest_ms':0,"
		"'longest_began':null}");
	page_close(&p);
}
END_TEST

START_TEST(gap_without_an_end_has_no_length)
{
	struct record r = udp_got(0, 1);
	struct page p;

	r.d.row_gap_max_ns = 0;
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'longest_packets':8,'longest_ms':null,'longest_began':0.75");
	page_close(&p);
}
END_TEST

START_TEST(nothing_in_no_time)
{
	struct record r = udp_got(2, 2);
	struct page p;

	make_total(&r);
	r.d = (struct stats_snap){ .bytes = 0 };
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'seconds':0,");
	HAS(&p, "'bits_per_second':null");
	HAS(&p, "'packets_per_second':null");
	HAS(&p, "'delivered_bits_per_second':null");
	HAS(&p, "'packets':0,");
	HAS(&p, "'lost_percent':0,");
	HAS(&p, "'jitter_mean_ms':null");
	HAS(&p, "'seconds_per_gigabyte':null");
	HAS(&p, "'seconds_per_million_packets':null");
	page_close(&p);
}
END_TEST

START_TEST(all_lost_is_100_percent)
{
	struct record r = udp_got(0, 1);
	struct page p;

	r.d.packets = 0;
	r.d.lost = UINT64_MAX;
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'packets':18446744073709551615,");
	HAS(&p, "'lost_percent':100,");
	page_close(&p);
}
END_TEST

START_TEST(one_lost_of_many_is_not_none)
{
	struct record r = udp_got(0, 1);
	struct page p;

	r.d.packets = 99999999999;
	r.d.lost = 1;
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'lost_percent':0.000000001,");
	page_close(&p);
}
END_TEST

/* Every number at its end, in every kind of row. */
static struct record extreme(unsigned kind, int64_t ns, uint64_t n)
{
	return (struct record){
		.id = ns > 0 ? INT32_MAX : INT32_MIN,
		.conn = &client_conn,
		.udp = (kind & 1) != 0,
		.receiver = (kind & 2) != 0,
		.total = (kind & 4) != 0,
		.sum = (kind & 8) != 0,
		.relayed = (kind & 22) == 22, /* a total of a receiver */
		.own_report = (kind & 32) != 0,
		.streams = (uint32_t)n,
		.end_ns = ns,
		.wall_ns = ns,
		.jitter_mean_ns = ns,
		.d = { .bytes = n,
		       .packets = n,
		       .lost = n,
		       .late = n,
		       .too_late = n,
		       .duplicate = n,
		       .gaps = n,
		       .gap_max = n,
		       .gap_began_ns = ns,
		       .gap_max_ns = ns,
		       .errors = n,
		       .blocked = n,
		       .jitter_ns = ns,
		       .jitter_max_ns = ns,
		       .row_gap_max = n,
		       .row_gap_max_ns = ns,
		       .row_gap_began_ns = ns,
		       .clock_steps = n },
		.tcp = { .known = true,
			 .retransmits = n,
			 .rtt_us = UINT32_MAX,
			 .acked_bytes = n },
		.delay = { true, n, ns, ns, ns, ns, ns, ns },
		.trip = { true, n, ns, ns, ns, ns, ns, ns },
		.causes = { true, true, n, n, n, n },
		.asked_bps = n,
		.offered_bps = n,
		.cpu = { true, true, ns, ns },
		.buffer = { n, n },
	};
}

START_TEST(extremes_are_numbers) /* _i: 6 bits of the kind of row */
{
	static const int64_t times[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	static const uint64_t counts[] = { 0, 1, UINT64_MAX };

	for (int t = 0; t < COUNT(times); t++) {
		for (int n = 0; n < COUNT(counts); n++) {
			struct record r =
				extreme((unsigned)_i, times[t], counts[n]);
			struct page p;

			page_open(&p);
			write_row(&p, &r);
			ck_assert_msg(line_ok(p.text), "%s", p.text);
			page_close(&p);
		}
	}
}
END_TEST

START_TEST(extremes_are_exact)
{
	struct record r = extreme(7, INT64_MIN, UINT64_MAX);
	struct page p;

	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'end':-9223372036.854775808,");
	HAS(&p, "'wall_time':-9223372036.854775,");
	HAS(&p, "'bytes':18446744073709551615,");
	HAS(&p, "'jitter_ms':-9223372036854.775808,");
	HAS(&p, "'bits_per_second':null");
	/* more than 64 bits hold */
	HAS(&p, "'packets':null,");
	HAS(&p, "'lost_percent':50,");
	page_close(&p);

	r = extreme(3, 1, UINT64_MAX);
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'end':0.000000001,");
	HAS(&p, "'bits_per_second':147573952589676");
	page_close(&p);
}
END_TEST

struct fixed {
	int64_t ns;
	const char *ms;
};

static const struct fixed fixed[] = {
	{ 0, "0" },
	{ 1, "0.000001" },
	{ -1, "-0.000001" },
	{ 10, "0.00001" },
	{ 999999, "0.999999" },
	{ 1000000, "1" },
	{ 1000001, "1.000001" },
	{ 1500000, "1.5" },
	{ -2500000, "-2.5" },
	{ 1234567890123456789, "1234567890123.456789" },
};

START_TEST(times_are_whole)
{
	struct record r = udp_got(0, 1);
	char expected[64];
	struct page p;

	r.d.jitter_ns = fixed[_i].ns;
	snprintf(expected, sizeof(expected), "'jitter_ms':%s,", fixed[_i].ms);
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, expected);
	page_close(&p);
}
END_TEST

struct ratio {
	uint64_t packets;
	int64_t ns;
	const char *pps;
};

static const struct ratio ratios[] = {
	{ 0, 1, "0" },
	{ 1, SEC(1), "1" },
	{ 1, SEC(3), "0.333333333" },
	{ 2, SEC(3), "0.666666667" },
	{ 1, SEC(8), "0.125" },
	{ 1, INT64_C(1000000001), "0.999999999" },
	{ 1, 1, "1000000000" },
	/* the fraction rounds up to the next whole */
	{ 10, INT64_C(10000000001), "1" },
	{ 20, INT64_C(10000000001), "2" },
	{ 1, INT64_MAX, "0" },
};

START_TEST(ratios_have_nine_digits)
{
	struct record r = udp_got(0, 1);
	char expected[64];
	struct page p;

	r.d.packets = ratios[_i].packets;
	r.end_ns = ratios[_i].ns;
	snprintf(expected, sizeof(expected), "'packets_per_second':%s,",
		 ratios[_i].pps);
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, expected);
	page_close(&p);
}
END_TEST

/* Delays that bins hold exactly, and one that is somewhere in its bin. */
START_TEST(histogram_is_a_list)
{
	static struct hist h;
	struct record r = udp_got(0, 1);
	struct page p;

	hist_init(&h);
	r.total = true;
	r.histogram = &h;
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'histogram':[],");
	page_close(&p);

	for (int i = 0; i < 900; i++)
		hist_add(&h, -5000);
	hist_add(&h, -4999);
	hist_add(&h, 1000000);
	page_open(&p);
	write_row(&p, &r);
	HAS(&p, "'histogram':[[0,0.001,900],[0.001,0.002,1],[");
	HAS(&p, ",1]],'target_bitrate'");
	page_close(&p);
}
END_TEST

/* Strings. */

struct escaped {
	const char *text;
	const char *json;
};

#define BAD "\\ufffd"

static const struct escaped escaped[] = {
	{ "", "" },
	{ "plain: 100% /x", "plain: 100% /x" },
	{ "a\"b\\c", "a\\\"b\\\\c" },
	{ "\x01\x1f \t\r\n\b\f",
	  "\\u0001\\u001f \\u0009\\u000d\\u000a\\u0008\\u000c" },
	{ "\x7f", "\\u007f" },
	{ "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf",
	  "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf" },
	{ "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80",
	  "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80" },
	{ "\x80x\xbf", BAD "x" BAD },
	{ "\xc3", BAD },                 /* cut off */
	{ "\xe2\x82", BAD BAD },         /* cut off */
	{ "\xf0\x9f\x98", BAD BAD BAD }, /* cut off */
	{ "\xc3\"", BAD "\\\"" },        /* a quote is no second byte */
	{ "\xe2\x82\n", BAD BAD "\\u000a" },
	{ "\xc0\xaf", BAD BAD },         /* overlong */
	{ "\xc1\xbf", BAD BAD },         /* overlong */
	{ "\xe0\x9f\xbf", BAD BAD BAD }, /* overlong */
	{ "\xf0\x8f\xbf\xbf", BAD BAD BAD BAD },
	{ "\xed\xa0\x80", BAD BAD BAD },         /* a surrogate */
	{ "\xf4\x90\x80\x80", BAD BAD BAD BAD }, /* above U+10FFFF */
	{ "\xf5\x80\xfe\xff", BAD BAD BAD BAD },
};

START_TEST(strings_are_escaped)
{
	char expected[256];
	struct page p;

	snprintf(expected, sizeof(expected),
		 "{\"event\":\"error\",\"error\":\"%s\"}\n", escaped[_i].json);
	page_open(&p);
	out_json.failed(&p.out, escaped[_i].text);
	ck_assert_str_eq(p.text, expected);
	ck_assert(line_ok(p.text));
	page_close(&p);
}
END_TEST

/* Bytes that lean towards what UTF-8 and JSON are made of. */
static void fill(char *text, size_t size, uint64_t *seed)
{
	static const unsigned char likely[] = {
		'"',  '\\', '\n', '{',  0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0,
		0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 'u',
	};
	size_t len = 0;

	for (; len + 1 < size; len++) {
		*seed ^= *seed << 13;
		*seed ^= *seed >> 7;
		*seed ^= *seed << 17;

		unsigned byte = (unsigned)(*seed >> 32) & 0xff;

		if ((*seed & 1) == 0)
			byte = likely[byte % sizeof(likely)];
		text[len] = (char)byte;
		if (byte == 0)
			break;
	}
	text[len] = '\0';
}

START_TEST(any_bytes_give_json)
{
	uint64_t seed = UINT64_C(88172645463325252);

	for (int i = 0; i < 4000; i++) {
		struct record r = tcp_sent(0, 1, 1);
		struct out_conn c = client_conn;
		char text[200];
		struct page p;

		fill(text, sizeof(text), &seed);
		fill(c.local, sizeof(c.local), &seed);
		fill(c.peer, sizeof(c.peer), &seed);
		fill(c.peer_version, sizeof(c.peer_version), &seed);
		r.conn = &c;
		r.total = true;
		page_open(&p);
		switch (i % 4) {
		case 0:
			out_json.failed(&p.out, text);
			break;
		case 1:
			out_json.banner(&p.out,
					&(struct out_banner){ .host = text,
							      .bind = text,
							      .group = text,
							      .cca = text });
			break;
		case 2:
			out_json.connected(&p.out, &c);
			break;
		default:
			out_json.note(&p.out, 3, text);
			out_json.last(&p.out, &r);
			break;
		}
		ck_assert_msg(line_ok(p.text), "%s", p.text);
		page_close(&p);
	}
}
END_TEST

/* A host name from argv has no bound. */
START_TEST(long_strings_stay_whole)
{
	size_t len = 1 << 20;
	char *text = malloc(len + 1);
	struct page p;

	ck_assert_ptr_nonnull(text);
	memset(text, '"', len);
	text[len] = '\0';
	page_open(&p);
	out_json.failed(&p.out, text);
	ck_assert_uint_eq(p.len, strlen("{\"event\":\"error\",\"error\":\"") +
					 2 * len + strlen("\"}\n"));
	ck_assert(line_ok(p.text));
	page_close(&p);
	free(text);
}
END_TEST

/* Notes. */

START_TEST(notes_wait_for_the_last_row)
{
	struct record r = tcp_got(0, 1, 1);
	struct page p;

	page_open(&p);
	out_json.note(&p.out, 3, "first");
	out_json.note(&p.out, 4, "of another");
	out_json.note(&p.out, 3, "second: \"x\"");
	fflush(p.out.file);
	ck_assert_str_eq(p.text, "");
	out_json.interval(&p.out, &r);
	LACKS(&p, "notes");
	ck_assert_uint_eq(p.out.n_notes, 3);
	page_close(&p);
}
END_TEST

START_TEST(notes_are_told_once_and_of_their_stream)
{
	static const struct {
		int id;
		const char *notes;
	} rows[] = {
		{ 3, "\"notes\":[\"first\",\"second: \\\"x\\\"\"]}\n" },
		{ 3, "\"notes\":[]}\n" },
		{ 4, "\"notes\":[\"of another\"]}\n" },
		{ 4, "\"notes\":[]}\n" },
	};
	struct record r = udp_got(0, 1);
	struct page p;

	page_open(&p);
	out_json.note(&p.out, 3, "first");
	out_json.note(&p.out, 4, "of another");
	out_json.note(&p.out, 3, "second: \"x\"");
	r.total = true;
	for (int i = 0; i < COUNT(rows); i++) {
		size_t before = p.len;

		r.id = rows[i].id;
		r.relayed = i % 2 == 0;
		write_row(&p, &r);
		ck_assert(line_ok(p.text + before));
		ck_assert_msg(strstr(p.text + before, rows[i].notes) != NULL,
			      "%s", p.text + before);
	}
	page_close(&p);
}
END_TEST

START_TEST(notes_about_the_test_stand_in_the_next_total)
{
	struct record r = sum_of(tcp_got(0, 1, 1));
	struct page p;

	r.total = true;
	page_open(&p);
	out_json.note(&p.out, 3, "of a stream");
	out_json.note(&p.out, -1, "of the test");
	out_json.last(&p.out, &r);
	HAS(&p, "'notes':['of the test']}");
	ck_assert_uint_eq(p.out.n_notes, 1);
	page_close(&p);

	/* there is no sum of one stream */
	r.sum = false;
	r.id = 4;
	page_open(&p);
	out_json.note(&p.out, -1, "of the test");
	out_json.last(&p.out, &r);
	HAS(&p, "'notes':['of the test']}");
	page_close(&p);
}
END_TEST

START_TEST(notes_have_a_bound)
{
	struct record r = tcp_got(0, 1, 1);
	char text[2 * OUT_NOTE_BYTES];
	struct page p;

	r.total = true;
	page_open(&p);
	for (int i = 0; i < 3 * OUT_NOTES; i++) {
		snprintf(text, sizeof(text), "%d", i);
		out_json.note(&p.out, 3, text);
	}
	out_json.last(&p.out, &r);
	HAS(&p, "'notes':['16','17','18','19','20','21','22','23']}");
	page_close(&p);

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	page_open(&p);
	out_json.note(&p.out, 3, text);
	out_json.last(&p.out, &r);
	ck_assert(line_ok(p.text));
	text[OUT_NOTE_BYTES - 1] = '\0';
	ck_assert_ptr_nonnull(strstr(p.text, text));
	page_close(&p);
}
END_TEST

/* The process around. */

/* Locales that write 1,5; there is a case even where none is installed, as
 * the lines must be the same in all. */
static const char *const comma_locales[] = {
	"C",           "de_DE.UTF-8", "de_DE",       "fr_FR.UTF-8",
	"ru_RU.UTF-8", "nl_NL.UTF-8", "pt_BR.UTF-8", "fa_IR.UTF-8",
};

START_TEST(no_locale_changes_numbers)
{
	struct record r = udp_sent(0, 3, 1000);
	struct page p;

	(void)setlocale(LC_ALL, comma_locales[_i]);
	page_open(&p);
	write_row(&p, &r);
	(void)setlocale(LC_ALL, "C");
	HAS(&p, "'packets_per_second':333.333333333,");
	HAS(&p, "'wall_time':1796076666.689012,");
	HAS(&p, "'bits_per_second':3920000,");
	page_close(&p);
}
END_TEST

#define LINES 3000

static void *fail_often(void *arg)
{
	for (int i = 0; i < LINES; i++)
		out_json.failed(arg, "\"one of many\"");
	return NULL;
}

START_TEST(threads_do_not_mix_lines)
{
	struct out out = { .writer = &out_json, .file = tmpfile() };
	struct record r = udp_got(0, 1);
	pthread_t thread;
	char *line = NULL;
	size_t size = 0;
	int lines = 0;

	ck_assert_ptr_nonnull(out.file);
	/* so that a line in two calls is long under way between them */
	setvbuf(out.file, NULL, _IONBF, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, fail_often, &out), 0);
	for (int i = 0; i < LINES; i++)
		out_json.interval(&out, &r);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	rewind(out.file);
	while (getline(&line, &size, out.file) > 0) {
		ck_assert_msg(line_ok(line), "%s", line);
		lines++;
	}
	ck_assert_int_eq(lines, 2 * LINES);
	free(line);
	fclose(out.file);
}
END_TEST

static TCase *lines_case(void)
{
	TCase *c = tcase_create("lines");

	tcase_add_loop_test(c, reader_tells_json_from_other_text, 0,
			    COUNT(judged));
	tcase_add_test(c, start_of_a_tcp_client);
	tcase_add_test(c, start_of_a_udp_client);
	tcase_add_test(c, start_of_a_server);
	tcase_add_test(c, connected_over_tcp);
	tcase_add_test(c, connected_over_udp);
	tcase_add_test(c, interval_of_a_tcp_sender);
	tcase_add_test(c, tcp_info_of_an_older_system_is_null_in_part);
	tcase_add_test(c, interval_of_a_tcp_receiver);
	tcase_add_test(c, interval_of_a_udp_sender);
	tcase_add_test(c, interval_of_a_udp_receiver);
	tcase_add_test(c, sum_of_tcp_senders);
	tcase_add_test(c, sum_of_udp_receivers);
	tcase_add_test(c, end_of_a_tcp_sender);
	tcase_add_test(c, end_of_a_tcp_receiver);
	tcase_add_test(c, end_of_a_udp_sender);
	tcase_add_test(c, end_of_a_udp_receiver);
	tcase_add_test(c, server_report_of_iperf_2_knows_little);
	tcase_add_test(c, server_report_of_our_own_is_whole);
	tcase_add_test(c, server_report_over_tcp);
	return c;
}

static TCase *values_case(void)
{
	TCase *c = tcase_create("values");

	tcase_add_test(c, no_gap_has_no_begin);
	tcase_add_test(c, gap_without_an_end_has_no_length);
	tcase_add_test(c, nothing_in_no_time);
	tcase_add_test(c, all_lost_is_100_percent);
	tcase_add_test(c, one_lost_of_many_is_not_none);
	tcase_add_loop_test(c, extremes_are_numbers, 0, 64);
	tcase_add_test(c, extremes_are_exact);
	tcase_add_loop_test(c, times_are_whole, 0, COUNT(fixed));
	tcase_add_loop_test(c, ratios_have_nine_digits, 0, COUNT(ratios));
	tcase_add_test(c, histogram_is_a_list);
	return c;
}

static TCase *texts_case(void)
{
	TCase *c = tcase_create("texts");

	tcase_add_loop_test(c, strings_are_escaped, 0, COUNT(escaped));
	tcase_add_test(c, any_bytes_give_json);
	tcase_add_test(c, long_strings_stay_whole);
	tcase_add_test(c, notes_wait_for_the_last_row);
	tcase_add_test(c, notes_are_told_once_and_of_their_stream);
	tcase_add_test(c, notes_about_the_test_stand_in_the_next_total);
	tcase_add_test(c, notes_have_a_bound);
	tcase_add_loop_test(c, no_locale_changes_numbers, 0,
			    COUNT(comma_locales));
	tcase_add_test(c, threads_do_not_mix_lines);
	return c;
}

int main(void)
{
	Suite *suite = suite_create("json");

	suite_add_tcase(suite, lines_case());
	suite_add_tcase(suite, values_case());
	suite_add_tcase(suite, texts_case());
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
