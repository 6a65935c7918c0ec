/*
 * check_options: what command lines and variables become, and what is said
 * about those that are refused.  A command line is written as one string, its
 * words parted by single blanks; "''" is an empty word.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../src/cmdline.h"
#include "../src/optcheck.h"
#include "../src/optknown.h"
#include "../src/opttable.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_WORDS 48

struct line {
	char text[1024]; /* what the words point into */
	char *words[MAX_WORDS];
	int count;
};

static void split(struct line *l, const char *text)
{
	static char program[] = "iperf";

	ck_assert_uint_lt(strlen(text), sizeof(l->text));
	snprintf(l->text, sizeof(l->text), "%s", text);
	l->words[0] = program;
	l->count = 1;
	for (char *word = strtok(l->text, " "); word;
	     word = strtok(NULL, " ")) {
		ck_assert_int_lt(l->count, MAX_WORDS - 1);
		l->words[l->count++] =
			strcmp(word, "''") == 0 ? word + 2 : word;
	}
	l->words[l->count] = NULL;
}

/* The environment of a test: "NAME=value" words, as a command line. */
static struct line variables;

static const char *variable(const char *name)
{
	size_t length = strlen(name);

	for (int i = 1; i < variables.count; i++) {
		const char *word = variables.words[i];

		if (strncmp(word, name, length) == 0 && word[length] == '=')
			return word + length + 1;
	}
	return NULL;
}

static int parse(struct options *o, struct line *l, const char *env,
		 const char *text, char *why)
{
	memset(o, 0xa5, sizeof(*o));
	split(&variables, env);
	split(l, text);
	return cmdline_parse(o, l->count, l->words, variable, why);
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

/* Every field, as " name=value" each. */
static void dump(const struct options *o, char *buf, size_t size)
{
	snprintf(buf, size,
		 " side=%d ask=%d host=%s udp=%d port=%d bps=%llu pps=%llu"
		 " rate_set=%d time=%lld time_set=%d amount=%llu interval=%lld"
		 " len=%u parallel=%u parallel_set=%d window=%u bind=%s"
		 " bind_host=%s bind_dev=%s bind_port=%d format=%c csv=%d"
		 " exclude=%u print_mss=%d mss=%u nodelay=%d tos=%d tos_set=%d"
		 " ttl=%d family=%d daemonize=%d single=%d one_off=%d cca=%s"
		 " output=%s enhanced=%d dialect=%d json=%d json_file=%s"
		 " omit=%lld histograms=%d trip_times=%d late_after=%lld"
		 " peer=%d reverse=%d full_duplex=%d dual=%d tradeoff=%d "
		 "listen=%d"
		 " no_fin=%d fq=%llu retries=%u retry=%lld retry_for=%lld"
		 " delay=%lld start=%lld sum_only=%d hide_ips=%d utc=%d"
		 " frames=%llu:%llu:%llu burst=%llu:%lld ports=%d connects=%u "
		 "near=%u load=%d:%u key=%s timeout=%lld "
		 "bb=%u:%u:%u:%lld:%lld:%d n_old=%u "
		 "file=%s stdin=%d compat=%d detect=%d "
		 "ssm=%s to_host=%s to_dev=%s"
		 " n_allow=%u max_clients=%u max_time=%lld max_rate=%llu"
		 " arms=%u arm0=%s:%s rounds=%u warmup=%u precision=%u"
		 " margin=%u confidence=%u settle=%lld arm_timeout=%lld"
		 " arm_show=%s seed=%llu seed_set=%d report=%s compare=%u"
		 " file0=%s ",
		 (int)o->side, (int)o->ask, or_dash(o->host), o->udp, o->port,
		 (unsigned long long)o->rate.bps,
		 (unsigned long long)o->rate.pps, o->rate_set,
		 (long long)o->time_ns, o->time_set,
		 (unsigned long long)o->amount_bytes, (long long)o->interval_ns,
		 o->len_bytes, o->parallel, o->parallel_set, o->window_bytes,
		 or_dash(o->bind), o->from.host, o->from.dev, o->from.port,
		 o->format, o->csv, o->exclude, o->print_mss, o->mss_bytes,
		 o->nodelay, o->tos, o->tos_set, o->ttl, o->family,
		 o->daemonize, o->single, o->one_off, or_dash(o->cca),
		 or_dash(o->output), o->enhanced, (int)o->dialect, o->json,
		 or_dash(o->json_file), (long long)o->omit_ns, o->histograms,
		 o->trip_times, (long long)o->late_after_ns,
		 (int)o->peer_version, o->reverse, o->full_duplex, o->dual,
		 o->tradeoff, o->listen_port, o->no_fin,
		 (unsigned long long)o->fq_bps, o->retries,
		 (long long)o->retry_ns, (long long)o->retry_for_ns,
		 (long long)o->delay_ns, (long long)o->start_wall_ns,
		 o->sum_only, o->hide_ips, o->utc,
		 (unsigned long long)o->frames_per_1000s,
		 (unsigned long long)o->frames_bps,
		 (unsigned long long)o->frames_stdev_bps,
		 (unsigned long long)o->burst_bytes, (long long)o->burst_ns,
		 o->ports, o->connects, o->near_ppm, (int)o->load, o->loads,
		 or_dash(o->permit_key), (long long)o->key_timeout_ns,
		 o->bounces, o->bounce_request_bytes, o->bounce_reply_bytes,
		 (long long)o->bounce_period_ns, (long long)o->bounce_hold_ns,
		 o->bounce_no_quickack, o->n_old, or_dash(o->file),
		 o->from_stdin, o->compat, o->peer_detect, or_dash(o->ssm),
		 o->to.host, o->to.dev, o->limits.n_allow, o->limits.clients,
		 (long long)o->limits.time_ns,
		 (unsigned long long)o->limits.rate_bps, o->n_arms,
		 o->n_arms > 0 ? o->arm[0].label : "-",
		 o->n_arms > 0 ? o->arm[0].command : "-", o->rounds, o->warmup,
		 o->precision_ppm, o->margin_ppm, o->confidence_ppm,
		 (long long)o->settle_ns, (long long)o->arm_timeout_ns,
		 or_dash(o->arm_show), (unsigned long long)o->seed, o->seed_set,
		 or_dash(o->report), o->n_compare,
		 or_dash(o->n_compare > 0 ? o->compare[0] : NULL));
}

/* Holds when text parses and each "name=value" of fields is in the result. */
static void expect_fields(const char *env, const char *text, const char *fields)
{
	struct options o;
	struct line l, wanted;
	char why[OPTIONS_WHY_BYTES], all[2048];

	ck_assert_msg(parse(&o, &l, env, text, why) == 0, "%s [%s]: %s", text,
		      env, why);
	dump(&o, all, sizeof(all));
	split(&wanted, fields);
	for (int i = 1; i < wanted.count; i++) {
		char field[300];

		snprintf(field, sizeof(field), " %s ", wanted.words[i]);
		ck_assert_msg(strstr(all, field), "%s [%s]: no%sin%s", text,
			      env, field, all);
	}
}

static void expect_why(const char *env, const char *text, const char *message)
{
	struct options o;
	struct line l;
	char why[OPTIONS_WHY_BYTES] = "";

	ck_assert_msg(parse(&o, &l, env, text, why) == -EINVAL,
		      "%s [%s] is taken", text, env);
	ck_assert_str_eq(why, message);
}

/* Holds when both command lines mean the same. */
static void expect_same(const char *text, const char *other)
{
	struct options o;
	struct line l;
	char why[OPTIONS_WHY_BYTES], all[2048], others[2048];

	ck_assert_msg(parse(&o, &l, "", text, why) == 0, "%s: %s", text, why);
	dump(&o, all, sizeof(all));
	ck_assert_msg(parse(&o, &l, "", other, why) == 0, "%s: %s", other, why);
	dump(&o, others, sizeof(others));
	ck_assert_msg(strcmp(all, others) == 0, "%s:%s\n%s:%s", text, all,
		      other, others);
}

static const struct {
	const char *text;
	const char *fields;
} meanings[] = {
	/* defaults of each side */
	{ "-s", "side=1 ask=0 host=- udp=0 port=5001 bps=0 pps=0 rate_set=0 "
		"time=0 time_set=0 amount=0 interval=0 len=0 parallel=0 "
		"parallel_set=0 window=0 bind=- bind_host= bind_dev= "
		"bind_port=0 format=a csv=0 exclude=0 family=0 cca=- output=- "
		"dialect=0 json=0 json_file=- omit=0 histograms=0 "
		"trip_times=0 late_after=100000000" },
	{ "-c h", "side=2 host=h udp=0 port=5001 bps=0 pps=0 rate_set=0 "
		  "time=10000000000 time_set=0 parallel=1 parallel_set=0 "
		  "format=a tos_set=0 ttl=0" },
	{ "-c h -u", "udp=1 bps=1048576 pps=0 rate_set=0" },
	{ "-s -u", "udp=1 bps=0 pps=0" },
	/* rates */
	{ "-c h -u -b 500M", "bps=500000000 pps=0 rate_set=1" },
	{ "-c h -b 500M", "udp=0 bps=500000000 rate_set=1" },
	{ "-c h -u -b 10Mi", "bps=10485760" },
	{ "-c h -u -b 2kpps", "bps=0 pps=2000 rate_set=1" },
	{ "-c h -u -b 0", "bps=0 pps=0 rate_set=1" },
	{ "-c h -b 0", "bps=0 pps=0 rate_set=1" },
	{ "-c h -b 1000000000000000", "bps=1000000000000000" },
	/* times and amounts */
	{ "-c h -t 0.01", "time=10000000 time_set=1" },
	{ "-c h -t 0", "time=0 time_set=1" },
	{ "-c h -t 0 -O 5", "time=0 omit=5000000000" },
	{ "-c h -u -n 16", "amount=16" },
	{ "-c h -t 21474836", "time=21474836000000000" },
	{ "-s -t 2.5", "time=2500000000 time_set=1" },
	{ "-c h -n 100K", "amount=102400 time_set=0" },
	{ "-c h -n 1", "amount=1" },
	{ "-c h -t 5 -n 1k", "amount=1024" },
	{ "-c h -n 1k -t 5", "amount=0 time=5000000000" },
	{ "-c h -n 1k -t 5 -n 2k", "amount=2048" },
	{ "-s -i 0", "interval=0" },
	{ "-s -i 0.005", "interval=5000000" },
	{ "-s -i 1", "interval=1000000000" },
	/* what does not count, and what counts as lost */
	{ "-c h -O 2", "omit=2000000000 time=10000000000" },
	{ "-c h -O 0.01 -t 0.02", "omit=10000000" },
	{ "-c h -O 655.35 -t 655.36", "omit=655350000000" },
	{ "-c h -O 9.99", "omit=9990000000" },
	{ "-c h -n 1K -O 20", "omit=20000000000 amount=1024" },
	{ "-c h -t 1 -O 20 -n 1K", "omit=20000000000 amount=1024" },
	{ "-s -u --late-after 1", "late_after=1000000" },
	{ "-s -u --late-after 2.5", "late_after=2500000" },
	{ "-s -u --late-after 60000", "late_after=60000000000" },
	{ "-c h -R", "reverse=1 full_duplex=0 dual=0 tradeoff=0 listen=5001" },
	{ "-c h -u -R", "udp=1 reverse=1" },
	{ "-c h", "peer=0" },
	{ "-c h -u -d --peer-version 2.0", "peer=2 dual=1" },
	{ "-c h --full-duplex -P 3", "full_duplex=1 reverse=0 parallel=3" },
	{ "-c h -d -p 6000", "dual=1 tradeoff=0 listen=6000" },
	{ "-r -L 7000 -c h", "dual=0 tradeoff=1 listen=7000 port=5001" },
	/* of these two the last one rules, as in iperf 2 */
	{ "-c h -d -r", "dual=0 tradeoff=1" },
	{ "-c h -r -d", "dual=1 tradeoff=0" },
	/* the command line is read twice, the list is not */
	{ "-s --allow 10.0.0.0/8 --allow ::1", "n_allow=2" },
	{ "-s --max-clients 3 --max-time 60",
	  "max_clients=3 max_time=60000000000" },
	{ "-s --max-rate 1g", "max_rate=1000000000" },
	{ "-s", "n_allow=0 max_clients=0 max_time=0 max_rate=0" },
	/* sizes: either case is powers of two */
	{ "-s -l 64k", "len=65536" },
	{ "-s -l 64KB", "len=65536" },
	{ "-s -l 1", "len=1" },
	{ "-s -l 16M", "len=16777216" },
	{ "-s -u -l 16", "len=16" },
	{ "-c h -l 65507 -u", "len=65507" },
	{ "-s -w 256K", "window=262144" },
	{ "-s -w 1073741823", "window=1073741823" },
	{ "-s -M 88", "mss=88 print_mss=0" },
	{ "-s -M 32767", "mss=32767" },
	/* whole numbers */
	{ "-s -p 1", "port=1" },
	{ "-s -p 65535", "port=65535" },
	{ "-s -P 1", "parallel=1 parallel_set=1" },
	{ "-c h -P 65535", "parallel=65535 parallel_set=1" },
	{ "-c h -T 1", "ttl=1" },
	{ "-c h -T 255", "ttl=255" },
	/* type of service: a byte, or the names of iperf 2.1.8 */
	{ "-c h -S 0", "tos=0 tos_set=1" },
	{ "-c h -S 255", "tos=255" },
	{ "-c h -S 0xb8", "tos=184" },
	{ "-c h -S 010", "tos=8" },
	{ "-s -S ef", "tos=184 tos_set=1" },
	{ "-s --tx-sync --tx-s --udp-trig --remove", "n_old=3" },
	{ "-s -S EF", "tos=184" },
	{ "-s -S af11", "tos=40" },
	{ "-s -S af12", "tos=48" },
	{ "-s -S af13", "tos=56" },
	{ "-s -S af21", "tos=72" },
	{ "-s -S af22", "tos=80" },
	{ "-s -S af23", "tos=88" },
	{ "-s -S af31", "tos=104" },
	{ "-s -S af32", "tos=112" },
	{ "-s -S af33", "tos=120" },
	{ "-s -S af41", "tos=136" },
	{ "-s -S af42", "tos=144" },
	{ "-s -S af43", "tos=152" },
	{ "-s -S cs0", "tos=0 tos_set=1" },
	{ "-s -S cs1", "tos=32" },
	{ "-s -S cs2", "tos=64" },
	{ "-s -S cs3", "tos=96" },
	{ "-s -S cs4", "tos=128" },
	{ "-s -S cs5", "tos=160" },
	{ "-s -S cs6", "tos=192" },
	{ "-s -S cs7", "tos=224" },
	{ "-s -S le", "tos=4" },
	{ "-s -S nqb", "tos=20" },
	{ "-s -S nqb2", "tos=180" },
	{ "-s -S ac_be", "tos=0" },
	{ "-s -S ac_bk", "tos=32" },
	{ "-s -S ac_vi", "tos=128" },
	{ "-s -S ac_vo", "tos=184" },
	{ "-s -S lowdelay", "tos=16" },
	{ "-s -S throughput", "tos=8" },
	{ "-s -S reliability", "tos=4" },
	/* letters and words */
	{ "-s -f m", "format=m" },
	{ "-s -f A", "format=A" },
	{ "-s -y C", "csv=1" },
	{ "-s -y csv", "csv=1" },
	{ "-s -x CDMSV", "exclude=31" },
	{ "-s -x c", "exclude=1" },
	{ "-s -x d", "exclude=2" },
	{ "-s -x M", "exclude=4" },
	{ "-s -x S", "exclude=8" },
	{ "-s -x v", "exclude=16" },
	{ "-s -x C -x S", "exclude=8" },
	{ "-s --output-style classic", "dialect=0" },
	{ "-s --output-style 2.0.2", "dialect=1" },
	{ "-s --output-style 2.1", "dialect=2" },
	{ "-s --output-style 2.2", "dialect=3" },
	{ "-s -Z bbr", "cca=bbr" },
	{ "-s -o f.txt", "output=f.txt" },
	/* JSON: in place of the text, or beside text or CSV */
	{ "-s --json", "json=1 json_file=- csv=0" },
	{ "-s --json-file f", "json=0 json_file=f csv=0" },
	{ "-s -y C --json-file f", "json=0 json_file=f csv=1" },
	{ "-s -o t --json-file f", "output=t json_file=f" },
	{ "-s -o t --json", "output=t json=1" },
	/* flags */
	{ "-s -u --histograms", "histograms=1 enhanced=1" },
	{ "-c h -u --histograms", "histograms=1 trip_times=0 enhanced=1" },
	{ "-c h -u --trip-times", "trip_times=1 histograms=0 enhanced=1" },
	{ "-c h -u --trip-times --histograms -y C --json-file f",
	  "trip_times=1 histograms=1 csv=1" },
	{ "-s -D", "daemonize=1 single=0 one_off=0" },
	{ "-s -1", "single=1 one_off=0" },
	{ "-s --one-off", "single=0 one_off=1" },
	{ "-s -1 --one-off", "single=1 one_off=1" },
	{ "-s -4", "family=4" },
	{ "-s -6", "family=6" },
	{ "-s -V", "family=6" },
	{ "-s -6 -V", "family=6" },
	{ "-s -m -N -e", "print_mss=1 nodelay=1 enhanced=1" },
	/* the last of an option counts */
	{ "-s -p 1 -p 2", "port=2" },
	{ "-c a -c b", "host=b" },
	/* what looks like an option is the argument where one is due */
	{ "-s -o -u", "output=-u udp=0" },
	{ "-s -u --", "udp=1" },
	/* help and version leave the rest unread */
	{ "-h", "ask=1" },
	{ "-v", "ask=2" },
	{ "--help", "ask=1" },
	{ "--version", "ask=2" },
	{ "-v -h", "ask=2" },
	{ "-hv", "ask=1" },
	{ "-hQ", "ask=1" },
	{ "-s -c h -h -p 70000 stray", "ask=1" },
	/* parts of -B */
	{ "-s -B 10.0.0.1", "bind=10.0.0.1 bind_host=10.0.0.1 bind_dev= "
			    "bind_port=0" },
	{ "-c h -B name:5002", "bind=name:5002 bind_host=name bind_port=5002" },
	{ "-s -B 224.0.0.9%eth0", "bind_host=224.0.0.9 bind_dev=eth0" },
	{ "-c h%eth0", "to_host=h to_dev=eth0 host=h%eth0" },
	{ "-c h --bounceback", "bb=10:100:100:1000000000:0:0" },
	{ "-s -p 5001-5004", "port=5001 ports=4" },
	{ "-s -p 5001-5004 -p 7", "port=7 ports=1" },
	{ "-c h -p 5001-5004", "port=5001 ports=4 parallel=4" },
	{ "-c h -p 5001-5004 -P 9", "ports=4 parallel=9" },
	{ "-c h -u --isochronous", "frames=60000:20000000:0 bps=0" },
	{ "-c h --isochronous=29.97:8M", "frames=29970:64000000:0" },
	{ "-c h --burst-size 2M", "burst=2097152:1000000000" },
	{ "-c h --burst-period 0.5", "burst=1048576:500000000" },
	{ "-c h --connect-only", "connects=4294967295" },
	{ "-c h --near-congestion", "near=500000" },
	{ "-c h --bounceback --working-load", "load=3:1" },
	{ "-c h --bounceback --working-load=up", "load=1:1" },
	{ "-c h --bounceback -l 120", "bb=10:120:120:1000000000:0:0" },
	{ "-c fe80::1%eth0", "to_host=fe80::1%eth0 to_dev=" },
	{ "-c [fd00::1]%eth0", "to_host=fd00::1 to_dev=eth0" },
	{ "-c ff02::1%eth0", "to_host=ff02::1%eth0 to_dev=" },
	{ "-s -B %eth0.7", "bind_host= bind_dev=eth0.7 bind_port=0" },
	{ "-c h -B a:1%eth0", "bind_host=a bind_dev=eth0 bind_port=1" },
	{ "-s -B ::", "bind_host=:: bind_dev=" },
	{ "-s -B ::1", "bind_host=::1" },
	{ "-s -B [::1]", "bind=[::1] bind_host=::1 bind_port=0" },
	{ "-c h -B [::1]:65535", "bind_host=::1 bind_port=65535" },
	{ "-c h -B [2001:db8::1]:5%eth0",
	  "bind_host=2001:db8::1 bind_dev=eth0 bind_port=5" },
	{ "-s -B 2001:db8::1%eth0", "bind_host=2001:db8::1 bind_dev=eth0" },
	{ "-s -B [2001:db8::1%eth0]", "bind_host=2001:db8::1 bind_dev=eth0" },
	{ "-s -B [2001:db8::1]%eth0", "bind_host=2001:db8::1 bind_dev=eth0" },
	/* a zone of an address of the link is a part of it */
	{ "-s -B fe80::1%eth0", "bind_host=fe80::1%eth0 bind_dev=" },
	{ "-c h -B [fe80::1%eth0]:7",
	  "bind_host=fe80::1%eth0 bind_dev= bind_port=7" },
	{ "-s -B ff02::9%eth0", "bind_host=ff02::9%eth0 bind_dev=" },
	{ "-c h -B name:1 -B %lo", "bind_host= bind_dev=lo bind_port=0" },
	/* experiments */
	{ "-c h", "arms=0 rounds=12 warmup=1 confidence=950000 margin=0" },
	{ "-c h --arm off=ip=1 --arm on=", "arms=2 arm0=off:ip=1" },
	{ "-c h --arm a= --arm b= --precision 0.5",
	  "precision=5000 rounds=1000" },
	{ "-c h --arm a= --arm b= --precision 1% --rounds 9", "rounds=9" },
	{ "-c h -n 1M -t 0 -n 1M --arm a= --arm b=", "arms=2" },
	{ "--compare f g h --margin 1%",
	  "side=3 compare=3 file0=f margin=10000" },
};

START_TEST(reads_what_is_asked)
{
	expect_fields("", meanings[_i].text, meanings[_i].fields);
}
END_TEST

#define ARMS "-c h --arm a= --arm b="

/* Every option, with a prefix of its long name that nothing else has. */
static const struct {
	const char *side; /* what it needs to be allowed */
	const char *letter;
	const char *names; /* main, others, prefixes */
	const char *value; /* NULL: takes none */
	const char *field;
} spellings[] = {
	{ "", "-s", "--server --se", NULL, "side=1" },
	{ "", "-c", "--client --cli", "10.0.0.1", "host=10.0.0.1" },
	{ "-c h", "-u", "--udp", NULL, "udp=1" },
	{ "-c h -u", "-b", "--bandwidth --bitrate --band --bit", "5M",
	  "bps=5000000" },
	{ "-c h", "-t", "--time --tim", "3", "time=3000000000" },
	{ "-c h", "-n", "--num --nu", "3K", "amount=3072" },
	{ "-s", "-i", "--interval --int", "2", "interval=2000000000" },
	{ "-s", "-l", "--len --le", "9", "len=9" },
	{ "-s", "-p", "--port --po", "5002", "port=5002" },
	{ "-c h", "-P", "--parallel --par", "4", "parallel=4" },
	{ "-s", "-w", "--window --wi", "4K", "window=4096" },
	{ "-s", "-B", "--bind --bin", "::1", "bind_host=::1" },
	{ "-s", "-f", "--format --fo", "k", "format=k" },
	{ "-s", "-y", "--reportstyle --reports", "C", "csv=1" },
	{ "-s", "-x", "--reportexclude --reporte", "CV", "exclude=17" },
	{ "-s", "-m", "--print_mss --pr", NULL, "print_mss=1" },
	{ "-s", "-M", "--mss --ms", "1000", "mss=1000" },
	{ "-s", "-N", "--nodelay --nod", NULL, "nodelay=1" },
	{ "-s", "-S", "--tos", "0x10", "tos=16" },
	{ "-c h", "-T", "--ttl --tt", "9", "ttl=9" },
	{ "-s", "-V", "--ipv6_domain --ipv6_domian --ipv6_", NULL, "family=6" },
	{ "-s", "-4", "--ipv4", NULL, "family=4" },
	{ "-s", "-6", "--ipv6", NULL, "family=6" },
	{ "-s", "-D", "--daemon --da", NULL, "daemonize=1" },
	{ "-s", "-1", "--singleclient --singlec", NULL, "single=1" },
	{ "-s", NULL, "--one-off --on", NULL, "one_off=1" },
	{ "-s", "-Z",
	  "--tcp-congestion --linux-congestion --tcp-cca --tcp- --lin --tc",
	  "reno", "cca=reno" },
	{ "-s", "-o", "--output", "x", "output=x" },
	{ "", "-h", "--help --he", NULL, "ask=1" },
	{ "", NULL, "--shell-completion --sh", NULL, "ask=3" },
	{ "", "-v", "--version --v", NULL, "ask=2" },
	{ "-s", "-e", "--enhanced --enhancedreports --e", NULL, "enhanced=1" },
	{ "-s", NULL, "--output-style --output-", "2.1", "dialect=2" },
	{ "-s", NULL, "--json", NULL, "json=1" },
	{ "-s", NULL, "--json-file --json-", "f", "json_file=f" },
	{ "-c h", "-O", "--omit --om", "1.5", "omit=1500000000" },
	{ "-s -u", NULL,
	  "--histograms --udp-histograms --udp-histogram --hist --udp-", NULL,
	  "histograms=1" },
	{ "-c h -u", NULL, "--trip-times --tri", NULL, "trip_times=1" },
	{ "-s -u", NULL, "--late-after --la", "30", "late_after=30000000" },
	{ "-c h", "-R", "--reverse --rev", NULL, "reverse=1" },
	{ "-c h", NULL, "--peer-version --peer-v", "2.1", "peer=1" },
	{ "-c h", NULL, "--full-duplex --full", NULL, "full_duplex=1" },
	{ "-c h", "-d", "--dualtest --dual", NULL, "dual=1" },
	{ "-c h", "-r", "--tradeoff --trade", NULL, "tradeoff=1" },
	{ "-c h -d", "-L", "--listenport --list", "77", "listen=77" },
	{ "-s", NULL, "--allow --al", "10.0.0.0/8", "n_allow=1" },
	{ "-s", NULL, "--max-clients --max-c", "9", "max_clients=9" },
	{ "-s", NULL, "--max-time --max-t", "0.5", "max_time=500000000" },
	{ "-s", NULL, "--max-rate --max-r", "10M", "max_rate=10000000" },
	{ "-c h --arm b=", NULL, "--arm", "a=echo", "arms=2" },
	{ ARMS, NULL, "--rounds --ro", "7", "rounds=7" },
	{ ARMS, NULL, "--precision --prec", "1%", "precision=10000" },
	{ ARMS, NULL, "--warmup --warm", "0", "warmup=0" },
	{ ARMS, NULL, "--settle --set", "0.5", "settle=500000000" },
	{ ARMS, NULL, "--seed --see", "12", "seed=12" },
	{ ARMS, NULL, "--arm-show --arm-s", "true", "arm_show=true" },
	{ ARMS, NULL, "--arm-timeout --arm-t", "2", "arm_timeout=2000000000" },
	{ ARMS, NULL, "--margin --mar", "0.5", "margin=5000" },
	{ ARMS, NULL, "--confidence --conf", "99", "confidence=990000" },
	{ ARMS, NULL, "--report", "f.html", "report=f.html" },
	{ "", NULL, "--compare --compar", "f", "compare=1" },
	{ "-c h -u", NULL, "--no-udp-fin --no-u", NULL, "no_fin=1" },
	{ "-s", NULL, "--permit-key", "abcd", "key=abcd" },
	{ "-s --permit-key=abcd", NULL, "--permit-key-timeout", "0",
	  "key=abcd timeout=0" },
	{ "-c h -u", NULL, "--isochronous", "30:1m,100k",
	  "frames=30000:1000000:100000" },
	{ "-c h", NULL, "--burst-size", "3K", "burst=3072:1000000000" },
	{ "-c h", NULL, "--burst-period", "0.5", "burst=1048576:500000000" },
	{ "-c h", NULL, "--connect-only", "3", "connects=3" },
	{ "-c h", NULL, "--near-congestion", "0.25", "near=250000" },
	{ "-c h --bounceback", NULL, "--working-load", "down,3", "load=2:3" },
	{ "-c h", NULL, "--bounceback", "7", "bb=7:100:100:1000000000:0:0" },
	{ "-c h --bounceback", NULL, "--bounceback-period", "0",
	  "bb=10:100:100:0:0:0" },
	{ "-c h --bounceback", NULL, "--bounceback-request", "200",
	  "bb=10:200:200:1000000000:0:0" },
	{ "-c h --bounceback", NULL, "--bounceback-reply", "1K",
	  "bb=10:100:1024:1000000000:0:0" },
	{ "-c h --bounceback", NULL, "--bounceback-hold", "5",
	  "bb=10:100:100:1000000000:5000000:0" },
	{ "-c h --bounceback", NULL, "--bounceback-no-quickack", NULL,
	  "bb=10:100:100:1000000000:0:1" },
	{ "-s -u -B 224.0.0.9", "-H", "--ssm-host --ssm", "10.0.0.1",
	  "ssm=10.0.0.1" },
	{ "-c h", NULL, "--fq-rate --fq", "10m", "fq=10000000" },
	{ "-c h", NULL, "--connect-retries", "3", "retries=3" },
	{ "-c h", NULL, "--connect-retry-timer", "0.5",
	  "retry=500000000 retry_for=10000000000" },
	{ "-c h", NULL, "--connect-retry-time", "2",
	  "retry=1000000000 retry_for=2000000000" },
	{ "-c h", NULL, "--txdelay-time --txd", "1.5", "delay=1500000000" },
	{ "-c h", NULL, "--txstart-time --txs", "1798761600.5",
	  "start=1798761600500000000" },
	{ "-s", NULL, "--tos-override --tos-", "0x10", "tos=16 tos_set=1" },
	{ "-s", "-C", "--compatibility --compat --comp", NULL, "compat=1" },
	{ "-c h", "-X", "--peer-detect --peerdetect --peer-d --peerd", NULL,
	  "detect=1" },
	{ "-c h", "-F", "--file_input --fileinput --file", "f", "file=f" },
	{ "-c h", "-I", "--stdin_input --stdin", NULL, "stdin=1" },
	{ "-s", NULL, "--dscp --ds", "ef", "tos=184 tos_set=1" },
	{ "-s", NULL, "--sum-only --su", NULL, "sum_only=1 exclude=3" },
	{ "-s", NULL, "--hide-ips --hid", NULL, "hide_ips=1" },
	{ "-s", NULL, "--utc --ut", NULL, "utc=1" },
	{ "-s", "-U", "--single_udp --single_", NULL, "n_old=0 udp=1" },
	{ "-s", "-W", "--suggest_win_size --sug", NULL, "n_old=1" },
	{ "-s", "-A", "--awdl --aw", NULL, "n_old=1" },
	{ "-s", NULL, "--NUM_REPORT_STRUCTS --NUM", "9", "n_old=1" },
};

/* "-s --port 1" or, joined, "-s --port=1" */
static void spell(char *buf, size_t size, size_t i, const char *name,
		  const char *joint)
{
	const char *value = spellings[i].value;

	snprintf(buf, size, "%s %s%s%s", spellings[i].side, name,
		 value ? joint : "", value ? value : "");
}

/* May its argument be left out?  Then it is joined when it is there. */
static bool joins_alone(const char *name)
{
	const struct opttable_row *r;

	for (size_t i = 0; (r = opttable_row(i)) != NULL; i++) {
		if (r->absent && strcmp(name + 2, r->names[0]) == 0)
			return true;
	}
	return false;
}

/* The long name in both its forms means what first means. */
static void expect_long(const char *first, size_t i, const char *name)
{
	char spelled[128];

	if (!joins_alone(name)) {
		spell(spelled, sizeof(spelled), i, name, " ");
		expect_same(first, spelled);
	}
	spell(spelled, sizeof(spelled), i, name, "=");
	expect_same(first, spelled);
}

START_TEST(takes_every_spelling)
{
	struct line names;
	char first[128], joined[128];
	const char *letter = spellings[_i].letter;

	split(&names, spellings[_i].names);
	spell(first, sizeof(first), (size_t)_i,
	      letter ? letter : names.words[1],
	      joins_alone(names.words[1]) ? "=" : " ");
	if (letter) {
		spell(joined, sizeof(joined), (size_t)_i, letter, "");
		expect_same(first, joined);
	}
	for (int n = 1; n < names.count; n++)
		expect_long(first, (size_t)_i, names.words[n]);
	expect_fields("", first, spellings[_i].field);
}
END_TEST

#define NEEDS_UDP "not for TCP: it is about datagrams and needs -u"
#define OWN_BYTES "the server has bytes of its own"
#define NO_HEADER "no header tells the server of it"
#define NOT_BACK "servers of iperf 2 do not connect back then"
#define NO_CONNECT "not for UDP: there is no connection"

static const struct {
	const char *text;
	const char *why;
} refusals[] = {
	/* numbers: read whole, with their unit and range */
	{ "-c h -b 10X", "-b: \"10X\" is not a rate: a number with k, m, g, "
			 "Ki, Mi, Gi or pps" },
	{ "-c h --band=abc", "--band: \"abc\" is not a rate: a number with k, "
			     "m, g, Ki, Mi, Gi or pps" },
	{ "-c h -b ''", "-b: \"\" is not a rate: a number with k, m, g, Ki, "
			"Mi, Gi or pps" },
	{ "-c h -b -5", "-b: \"-5\" is not a rate: a number with k, m, g, Ki, "
			"Mi, Gi or pps" },
	{ "-c h -b 2000000G", "-b: \"2000000G\" is out of range: 0 to "
			      "1000000000000000" },
	{ "-c h -u -b 1m,100k", "-b: \"1m,100k\": MEAN,STDEV is not offered" },
	{ "-s -p 70000", "-p: \"70000\" is out of range: 1 to 65535" },
	{ "-s --port 0", "--port: \"0\" is out of range: 1 to 65535" },
	{ "-s --port=-1", "--port: \"-1\" is out of range: 1 to 65535" },
	{ "-s -p 99999999999999999999",
	  "-p: \"99999999999999999999\" is out of range: 1 to 65535" },
	{ "-s -p abc", "-p: \"abc\" is not a port, or FIRST-LAST: 1 to 65535" },
	{ "-s -p 50x", "-p: \"50x\" is not a port, or FIRST-LAST: 1 to 65535" },
	{ "-s -p=5001",
	  "-p: \"=5001\" is not a port, or FIRST-LAST: 1 to 65535" },
	{ "-s --port=",
	  "--port: \"\" is not a port, or FIRST-LAST: 1 to 65535" },
	{ "-s -P 0", "-P: \"0\" is out of range: 1 to 65535" },
	{ "-s -P 65536", "-P: \"65536\" is out of range: 1 to 65535" },
	{ "-c h -T 256", "-T: \"256\" is out of range: 1 to 255" },
	{ "-c h -T 0", "-T: \"0\" is out of range: 1 to 255" },
	{ "-c h -t 0.0001", "-t: \"0.0001\" is out of range: 0, or 0.001 to "
			    "21474836 seconds" },
	{ "-c h -t 21474837", "-t: \"21474837\" is out of range: 0, or 0.001 "
			      "to 21474836 seconds" },
	{ "-c h -u -n 15", "-n: \"15\" is out of range: 16 bytes at least "
			   "with UDP" },
	{ "-c h -t 1x", "-t: \"1x\" is not a time: seconds, such as 10 or "
			"0.5" },
	{ "-c h -t nan", "-t: \"nan\" is not a time: seconds, such as 10 or "
			 "0.5" },
	{ "-s -i 0.004", "-i: \"0.004\" is out of range: 0, or 0.005 to "
			 "21474836 seconds" },
	{ "-s -i f", "-i: \"f\" is not a time: seconds, such as 10 or 0.5" },
	{ "-c h -n 0", "-n: \"0\" is out of range: 1 to 9223372036854775807" },
	{ "-c h -n abc", "-n: \"abc\" is not a size: a number of bytes with k, "
			 "m, g, Ki, Mi or Gi" },
	{ "-s -l 0", "-l: \"0\" is out of range: 1 to 16777216" },
	{ "-s -l 17M", "-l: \"17M\" is out of range: 1 to 16777216" },
	{ "-s -l 10X", "-l: \"10X\" is not a size: a number of bytes with k, "
		       "m, g, Ki, Mi or Gi" },
	{ "-s -l 15 -u", "-l: \"15\" is out of range: 16 to 65507 with UDP" },
	{ "-u -c h --len=64K", "--len: \"64K\" is out of range: 16 to 65507 "
			       "with UDP" },
	{ "-s -w 0", "-w: \"0\" is out of range: 1 to 1073741823" },
	{ "-s -w 1Gi", "-w: \"1Gi\" is out of range: 1 to 1073741823" },
	{ "-s -M 87", "-M: \"87\" is out of range: 88 to 32767" },
	{ "-c h -O 0", "-O: \"0\" is out of range: 0.01 to 655.35 seconds" },
	{ "-c h -O 0.009", "-O: \"0.009\" is out of range: 0.01 to 655.35 "
			   "seconds" },
	{ "-c h -t 999 -O 655.36", "-O: \"655.36\" is out of range: 0.01 to "
				   "655.35 seconds" },
	{ "-c h -O 0.015", "-O: \"0.015\" is not a multiple of 0.01 "
			   "seconds" },
	{ "-c h --omit 1s", "--omit: \"1s\" is not a time: seconds, such as "
			    "10 or 0.5" },
	{ "-s -u --late-after 0.999", "--late-after: \"0.999\" is out of "
				      "range: 1 to 60000 milliseconds" },
	{ "-s -u --late-after 60001", "--late-after: \"60001\" is out of "
				      "range: 1 to 60000 milliseconds" },
	{ "-s -u --late-after 100ms", "--late-after: \"100ms\" is not a time: "
				      "milliseconds, such as 100 or 2.5" },
	{ "-s --allow 10.0.0.0/33",
	  "--allow: \"10.0.0.0/33\" is not an "
	  "address or a prefix, such as 192.0.2.0/24" },
	{ "-s --allow localhost", "--allow: \"localhost\" is not an address "
				  "or a prefix, such as 192.0.2.0/24" },
	{ "-s --max-clients 0", "--max-clients: \"0\" is out of range: 1 to "
				"65535" },
	{ "-s --max-time 0", "--max-time: \"0\" is out of range: 0.001 to "
			     "21474836 seconds" },
	{ "-s --max-rate 10pps", "--max-rate: \"10pps\" is not a rate: bits a "
				 "second with k, m, g, Ki, Mi or Gi" },
	{ "-s --max-rate 999", "--max-rate: \"999\" is out of range: 1000 to "
			       "1000000000000000" },
	{ "-s -M 32768", "-M: \"32768\" is out of range: 88 to 32767" },
	{ "-s -S 256", "-S: \"256\" is out of range: 0 to 255" },
	{ "-s -S af14", "-S: \"af14\" is not a type of service: 0 to 255, or "
			"a name such as ef or af11" },
	/* letters, words and names */
	{ "-s -f z", "-f: \"z\" is not one letter of abkmgtpABKMGTP" },
	{ "-s -f kk", "-f: \"kk\" is not one letter of abkmgtpABKMGTP" },
	{ "-s -f ''", "-f: \"\" is not one letter of abkmgtpABKMGTP" },
	{ "-s -x CQ", "-x: \"CQ\" is not made of letters of CDMSV" },
	{ "-s -x ''", "-x: \"\" is not made of letters of CDMSV" },
	{ "-s -y xml", "-y: \"xml\" is not a report style: C" },
	{ "-s --output-style 2.0", "--output-style: \"2.0\" is not one of "
				   "classic|2.0.2|2.1|2.2" },
	{ "-s --output-style ''", "--output-style: \"\" is not one of "
				  "classic|2.0.2|2.1|2.2" },
	{ "-s -Z ''", "-Z: \"\" is not a name: it is empty" },
	{ "-s --json-file ''", "--json-file: \"\" is not a name: it is empty" },
	{ "-s -o ''", "-o: \"\" is not a name: it is empty" },
	{ "-c -u",
	  "-c: \"-u\" is not a host: a name or an address, or HOST%DEV" },
	{ "-c ''",
	  "-c: \"\" is not a host: a name or an address, or HOST%DEV" },
	/* what is no option, or not yet */
	{ "-s --foo", "unknown option \"--foo\"" },
	{ "-s --foo=1", "unknown option \"--foo\"" },
	{ "-s --ud_p", "unknown option \"--ud_p\"" },
	{ "-s --udpx", "unknown option \"--udpx\"" },
	{ "-s --=1", "unknown option \"--\"" },
	{ "-s -Q", "unknown option \"-Q\"" },
	{ "-suQ", "unknown option \"-Q\"" },
	{ "-s\t", "unknown option \"-?\"" },
	{ "-s stray", "stray word \"stray\"" },
	{ "-s -", "stray word \"-\"" },
	{ "-s -- -u", "stray word \"-u\"" },
	{ "-s --rounds 3", "--rounds: only for an experiment (--arm)" },
	{ "-c h --rounds 3", "--rounds: only for an experiment (--arm)" },
	{ "-c h --margin 3",
	  "--margin: only for an experiment (--arm) or --compare" },
	{ "-c h --arm a=",
	  "--arm: \"a=\" is alone: there must be two arms at least" },
	{ "-c h --arm a= --arm a=x",
	  "--arm: \"a=x\": there is an arm \"a\" already" },
	{ "-c h --arm a=1 --arm b=1 --arm c=1 --arm d=1 --arm e=1 --arm f=1 "
	  "--arm g=1 --arm h=1 --arm i=1",
	  "--arm: \"i=1\" is one too many: 8 at most" },
	{ "-c h --arm a",
	  "--arm: \"a\" is not LABEL=COMMAND, with a label of 1 to 16 of a-z "
	  "0-9 _.+-" },
	{ "-c h --arm a/b=", "--arm: \"a/b=\" is not LABEL=COMMAND, with a "
			     "label of 1 to 16 of a-z "
			     "0-9 _.+-" },
	{ "-c h --arm a= --arm b= -t 0",
	  "--arm: not together with -t 0: the tests of an experiment end by "
	  "themselves" },
	{ "-c h --arm a= --arm b= -y C", "--arm: not together with -y" },
	{ "-c h --arm a= --arm b= --rounds 1",
	  "--rounds: \"1\" is out of range: 2 to 1000" },
	{ "-c h --arm a= --arm b= --confidence 0.95",
	  "--confidence: \"0.95\" is out of range: 50 to 99.9999 %" },
	{ "-c h --arm a= --arm b= --precision 1%%",
	  "--precision: \"1%%\" is not a number of percent, such as 1, 0.5 or "
	  "95%" },
	{ "--compare f -c h", "--compare: not together with -c" },
	{ "--compare f -u", "-u: only for a test (-s or -c)" },
	{ "--compare f --rounds 3",
	  "--rounds: only for an experiment (--arm)" },
	{ "-c h --arm a= --arm b= stray", "stray word \"stray\"" },
	{ "-s --re C",
	  "option \"--re\" is ambiguous: --reverse, --reportstyle, "
	  "--reportexclude" },
	{ "-c h --ipg 0.1", "--ipg is not offered: -b Npps sets N datagrams a "
			    "second" },
	{ "-c h --tap", "--tap-dev is not offered: -B %DEV receives on that "
			"device by the system's own stack" },
	{ "-c h --l2checks=1",
	  "--l2checks is not offered: tcpdump(1) shows the "
	  "lengths of frames" },
	{ "-s --incr", "unknown option \"--incr\"" },
	{ "-s --u", "option \"--u\" is ambiguous: --udp, --utc, --histograms" },
	{ "-s --js", "option \"--js\" is ambiguous: --json, --json-file" },
	{ "-s --ipv", "option \"--ipv\" is ambiguous: --ipv4, --ipv6, "
		      "--ipv6_domain" },
	/* arguments that are missing or too much */
	{ "-s -p", "-p: needs an argument: PORT" },
	{ "-sp", "-p: needs an argument: PORT" },
	{ "-s --por", "--por: needs an argument: PORT" },
	{ "-c", "-c: needs an argument: HOST" },
	{ "-s -u --histograms=1m,100",
	  "--histograms: \"1m,100\" is too much: it takes no argument" },
	{ "-s --udp=1", "--udp: \"1\" is too much: it takes no argument" },
	/* two together */
	{ "", "nothing to do: -s waits for clients, -c HOST runs a test, -h "
	      "tells all options" },
	{ "-u", "nothing to do: -s waits for clients, -c HOST runs a test, -h "
		"tells all options" },
	{ "-s -c h", "-c: not together with -s" },
	{ "--client=h --server", "--client: not together with --server" },
	{ "-s -b 1M", "-b: only for a client (-c)" },
	{ "-s --bitrate 1M", "--bitrate: only for a client (-c)" },
	{ "-n 1M -s", "-n: only for a client (-c)" },
	{ "-s -T 3", "-T: only for a client (-c)" },
	{ "-c h -D", "-D: only for a server (-s)" },
	{ "-1 -c h", "-1: only for a server (-s)" },
	{ "-c h --one", "--one: only for a server (-s)" },
	{ "-b 100pps -c h", "-b: \"100pps\" is not for TCP: pps counts "
			    "datagrams and needs -u" },
	{ "-s -4 -6", "-4: not together with -6" },
	{ "-s -V --ipv4", "--ipv4: not together with -V" },
	{ "-s -B a:5", "-B: \"a:5\": the port of a server is -p" },
	{ "-s -O 1", "-O: only for a client (-c)" },
	{ "-s -u --trip-times", "--trip-times: only for a client (-c)" },
	{ "-c h -u --late-after 9", "--late-after: only for a server (-s)" },
	{ "-c h -O 10", "-O: \"10\" is not below the time of the test: 10 "
			"seconds" },
	{ "-O 2 -c h -t 2", "-O: \"2\" is not below the time of the test: 2 "
			    "seconds" },
	{ "-c h -n 1K -O 3 -t 2.5", "-O: \"3\" is not below the time of the "
				    "test: 2.5 seconds" },
	{ "-s --histograms", "--histograms: not for TCP: it is about "
			     "datagrams and needs -u" },
	{ "-c h -R -d", "-d: not together with -R" },
	{ "-c h -r --reverse", "-r: not together with --reverse" },
	{ "-c h --full-duplex -R", "--full-duplex: not together with -R" },
	{ "-c h -d --full-duplex", "-d: not together with --full-duplex" },
	{ "-c h -R --peer-version 2.0",
	  "-R: a server of 2.0 does not know it" },
	{ "-c h --full-duplex --peer-version 2.0",
	  "--full-duplex: a server of 2.0 does not know it" },
	{ "-c h -u --trip-times --peer-version 2.0",
	  "--trip-times: a server of 2.0 does not know it" },
	{ "-c h --peer-version 2.0.2",
	  "--peer-version: \"2.0.2\" is not one of 2.2|2.1|2.0" },
	{ "-c h -L 9", "-L: only with -d or -r" },
	{ "-c h -R -L 9", "-L: only with -d or -r" },
	{ "-s -R", "-R: only for a client (-c)" },
	{ "-s -L 9", "-L: only for a client (-c)" },
	{ "-c h --allow ::1", "--allow: only for a server (-s)" },
	{ "-c h --max-clients 1", "--max-clients: only for a server (-s)" },
	{ "-c h --max-time 1", "--max-time: only for a server (-s)" },
	{ "-c h --max-rate 1m", "--max-rate: only for a server (-s)" },
	{ "-s --late-after 9", "--late-after: not for TCP: it is about "
			       "datagrams and needs -u" },
	{ "-c h -V -4", "-4: not together with -V" },
	{ "-s -B 224.0.0.9 -H 10.0.0.1", "-H: " NEEDS_UDP },
	{ "-s -u -H 10.0.0.1", "-H: only with -B GROUP" },
	{ "-c h%a -B %b", "-B: \"%b\": -c names another device" },
	{ "-c h:1", "-c: \"h:1\" is not a host: a name or an address, or "
		    "HOST%DEV" },
	{ "-c h --bounceback-period 1",
	  "--bounceback-period: only with --bounceback" },
	{ "-c h --bounceback-request 99",
	  "--bounceback-request: only with --bounceback" },
	{ "-c h --bounceback-reply 99",
	  "--bounceback-reply: only with --bounceback" },
	{ "-c h --bounceback-hold 9",
	  "--bounceback-hold: only with --bounceback" },
	{ "-c h --bounceback-no-quickack ",
	  "--bounceback-no-quickack: only with --bounceback" },
	{ "-c h --bounceback -R",
	  "--bounceback: not together with -R: it goes both ways by itself" },
	{ "-c h --bounceback --full-duplex",
	  "--bounceback: not together with --full-duplex: it goes both ways by "
	  "itself" },
	{ "-c h --bounceback -d",
	  "--bounceback: not together with -d: it goes both ways by itself" },
	{ "-c h --bounceback -r",
	  "--bounceback: not together with -r: it goes both ways by itself" },
	{ "-c h --trip-times -R", "--trip-times: not together with -R: over "
				  "TCP it is of what the client sends" },
	{ "-c h --trip-times --full-duplex",
	  "--trip-times: not together with --full-duplex: over TCP it is of "
	  "what the client sends" },
	{ "-c h --trip-times -d", "--trip-times: not together with -d: over "
				  "TCP it is of what the client sends" },
	{ "-c h --trip-times -r", "--trip-times: not together with -r: over "
				  "TCP it is of what the client sends" },
	{ "-c h --trip-times --bounceback", "--trip-times: not together with "
					    "--bounceback: that has round "
					    "trips" },
	{ "-c h --trip-times -O 1", "--trip-times: not together with -O: its "
				    "quantiles are of the whole test" },
	{ "-c h --trip-times -F f", "-F: not together with --trip-times: its "
				    "records have bytes of their own" },
	{ "-c h --trip-times -I", "-I: not together with --trip-times: its "
				  "records have bytes of their own" },
	{ "-c h --trip-times -l 91",
	  "-l: \"91\" is out of range: 92 bytes at least with --trip-times" },
	{ "-c h --connect-only --bounceback",
	  "--connect-only: not together with --bounceback: it sends no data" },
	{ "-c h --connect-only --trip-times",
	  "--connect-only: not together with --trip-times: it sends no data" },
	{ "-c h --connect-only -R",
	  "--connect-only: not together with -R: it sends no data" },
	{ "-c h --connect-only --full-duplex",
	  "--connect-only: not together with --full-duplex: it sends no data" },
	{ "-c h --connect-only -d",
	  "--connect-only: not together with -d: it sends no data" },
	{ "-c h --connect-only -r",
	  "--connect-only: not together with -r: it sends no data" },
	{ "-c h --connect-only -n 9m",
	  "--connect-only: not together with -n: it sends no data" },
	{ "-c h --connect-only -b 9m",
	  "--connect-only: not together with -b: it sends no data" },
	{ "-c h --connect-only -l 9k",
	  "--connect-only: not together with -l: it sends no data" },
	{ "-c h --connect-only -O 1",
	  "--connect-only: not together with -O: it sends no data" },
	{ "-c h --connect-only -F f",
	  "--connect-only: not together with -F: it sends no data" },
	{ "-c h --connect-only -I",
	  "--connect-only: not together with -I: it sends no data" },
	{ "-c h --connect-only --permit-key=abcd",
	  "--connect-only: not together with --permit-key: it sends no data" },
	{ "-c h --connect-only -P 2",
	  "--connect-only: not together with -P: it sends no data" },
	{ "-c h --connect-only -X",
	  "--connect-only: not together with -X: it sends no data" },
	{ "-c h --connect-only -C",
	  "--connect-only: not together with -C: it sends no data" },
	{ "-c h --connect-only --near-congestion",
	  "--connect-only: not together with --near-congestion: it sends no "
	  "data" },
	{ "-c h --connect-only --fq-rate 9m",
	  "--connect-only: not together with --fq-rate: it sends no data" },
	{ "-c h --connect-only --txdelay-time 1",
	  "--connect-only: not together with --txdelay-time: it sends no "
	  "data" },
	{ "-c h -u --connect-only", "--connect-only: " NO_CONNECT },
	{ "-c h --connect-only -y C", "--connect-only: not together with -y: "
				      "it shows in text and in JSON alone" },
	{ "-c h --connect-only --arm a= --arm b=",
	  "--connect-only: not together with --arm: it sends no data" },
	{ "-c h --connect-only --connect-retries 1",
	  "--connect-only: not together with --connect-retries: what fails is "
	  "counted" },
	{ "-c h --connect-only --connect-retry-time 1",
	  "--connect-only: not together with --connect-retry-time: what fails "
	  "is counted" },
	{ "-c h -u --near-congestion", "--near-congestion: " NO_CONNECT },
	{ "-c h --near-congestion -b 9m",
	  "--near-congestion: not together with -b: both say when to write" },
	{ "-c h --near-congestion -R",
	  "--near-congestion: not together with -R: the server does not wait" },
	{ "-c h --near-congestion --bounceback",
	  "--near-congestion: not together with --bounceback: it waits for "
	  "replies" },
	{ "-c h --working-load", "--working-load: only with --bounceback" },
	{ "-c h --bounceback --working-load=up,65",
	  "--working-load: \"up,65\" is not up, down or bidir, or one of them "
	  "with ,1 to ,64" },
	{ "-c h --near-congestion=0",
	  "--near-congestion: \"0\" is not a part, such as 0.5: 0.001 to 100" },
	{ "-s -1 -p 1-2",
	  "-1: not together with -p: one port can count clients" },
	{ "-s --one-off -p 1-2",
	  "--one-off: not together with -p: one port can count clients" },
	{ "-c h --connect-only -p 1-2",
	  "--connect-only: not together with -p: it is about one port" },
	{ "-s -p 5001-", "-p: \"5001-\" is not a port, or FIRST-LAST: "
			 "1 to 65535" },
	{ "-s -p 5-4",
	  "-p: \"5-4\" is out of range: up to 256 ports, 1 to 65535" },
	{ "-s -p 1-257",
	  "-p: \"1-257\" is out of range: up to 256 ports, 1 to 65535" },
	{ "-s -p 65535-65536",
	  "-p: \"65535-65536\" is out of range: up to 256 ports, 1 to 65535" },
	{ "-c h --isochronous -b 9m",
	  "--isochronous: not together with -b: both say when to send" },
	{ "-c h --isochronous --near-congestion",
	  "--isochronous: not together with --near-congestion: both say when "
	  "to send" },
	{ "-c h --isochronous --bounceback",
	  "--isochronous: not together with --bounceback: that has a shape of "
	  "its own" },
	{ "-c h --isochronous --connect-only",
	  "--isochronous: not together with --connect-only: no data is sent "
	  "then" },
	{ "-c h --isochronous -R", "--isochronous: not together with -R: it "
				   "shapes what the client sends" },
	{ "-c h --isochronous --full-duplex",
	  "--isochronous: not together with --full-duplex: it shapes what the "
	  "client sends" },
	{ "-c h --isochronous -d", "--isochronous: not together with -d: it "
				   "shapes what the client sends" },
	{ "-c h --isochronous -r", "--isochronous: not together with -r: it "
				   "shapes what the client sends" },
	{ "-c h --burst-size 1M -b 9m",
	  "--burst-size: not together with -b: both say when to send" },
	{ "-c h --burst-size 1M --near-congestion",
	  "--burst-size: not together with --near-congestion: both say when to "
	  "send" },
	{ "-c h --burst-size 1M --bounceback",
	  "--burst-size: not together with --bounceback: that has a shape of "
	  "its own" },
	{ "-c h --burst-size 1M --connect-only",
	  "--burst-size: not together with --connect-only: no data is sent "
	  "then" },
	{ "-c h --burst-size 1M -R", "--burst-size: not together with -R: it "
				     "shapes what the client sends" },
	{ "-c h --burst-size 1M --full-duplex",
	  "--burst-size: not together with --full-duplex: it shapes what the "
	  "client sends" },
	{ "-c h --burst-size 1M -d", "--burst-size: not together with -d: it "
				     "shapes what the client sends" },
	{ "-c h --burst-size 1M -r", "--burst-size: not together with -r: it "
				     "shapes what the client sends" },
	{ "-c h --burst-period 1 -b 9m",
	  "--burst-period: not together with -b: both say when to send" },
	{ "-c h --burst-period 1 --near-congestion",
	  "--burst-period: not together with --near-congestion: both say when "
	  "to send" },
	{ "-c h --burst-period 1 --bounceback",
	  "--burst-period: not together with --bounceback: that has a shape of "
	  "its own" },
	{ "-c h --burst-period 1 --connect-only",
	  "--burst-period: not together with --connect-only: no data is sent "
	  "then" },
	{ "-c h --burst-period 1 -R", "--burst-period: not together with -R: "
				      "it shapes what the client sends" },
	{ "-c h --burst-period 1 --full-duplex",
	  "--burst-period: not together with --full-duplex: it shapes what the "
	  "client sends" },
	{ "-c h --burst-period 1 -d", "--burst-period: not together with -d: "
				      "it shapes what the client sends" },
	{ "-c h --burst-period 1 -r", "--burst-period: not together with -r: "
				      "it shapes what the client sends" },
	{ "-c h -u --burst-size 1M", "--burst-size: not for UDP: --isochronous "
				     "sends frames of datagrams" },
	{ "-c h --isochronous --burst-size 1M",
	  "--burst-size: not together with --isochronous: both say when to "
	  "send" },
	{ "-c h -u --burst-period 1",
	  "--burst-period: not for UDP: --isochronous sends frames of "
	  "datagrams" },
	{ "-c h --isochronous --burst-period 1",
	  "--burst-period: not together with --isochronous: both say when to "
	  "send" },
	{ "-c h -u --isochronous -n 9m",
	  "--isochronous: not together with -n: frames have a time" },
	{ "-c h --isochronous -F f",
	  "--isochronous: not together with -F: a frame has bytes of its own" },
	{ "-c h --isochronous -I",
	  "--isochronous: not together with -I: a frame has bytes of its own" },
	{ "-c h --isochronous=60",
	  "--isochronous: \"60\" is not FPS:MEAN,STDEV, such as 60:20m,2m: "
	  "0.001 to 1000 frames a second" },
	{ "-c h --isochronous=1001:1m",
	  "--isochronous: \"1001:1m\" is not FPS:MEAN,STDEV, such as "
	  "60:20m,2m: 0.001 to 1000 frames a second" },
	{ "-c h --isochronous=60:20p,1",
	  "--isochronous: \"60:20p,1\" is not FPS:MEAN,STDEV, such as "
	  "60:20m,2m: 0.001 to 1000 frames a second" },
	{ "-s -u --permit-key=abcd", "--permit-key: " NO_CONNECT },
	{ "-c h --permit-key", "--permit-key: a client has to give the KEY" },
	{ "-c h --permit-key=abcd --peer-version 2.0",
	  "--permit-key: a server of 2.0 does not know it" },
	{ "-c h --permit-key=abcd --bounceback",
	  "--permit-key: not together with --bounceback: its requests carry "
	  "none" },
	{ "-s --permit-key-timeout 3",
	  "--permit-key-timeout: only with --permit-key" },
	{ "-s --permit-key=abc",
	  "--permit-key: \"abc\" is not a key of 4 to 128 letters, digits and "
	  "signs" },
	{ "-c h --permit-key=abcd -n 99",
	  "-n: \"99\" is out of range: 210 bytes at least with --permit-key" },
	{ "-c h -u --bounceback", "--bounceback: not for UDP: it needs a "
				  "connection" },
	{ "-c h --bounceback -b 9m", "--bounceback: not together with -b: its "
				     "rate is N a period" },
	{ "-c h --bounceback -n 9m",
	  "--bounceback: not together with -n: it has a time" },
	{ "-c h --bounceback -O 1", "--bounceback: not together with -O: its "
				    "quantiles are of the whole test" },
	{ "-c h --bounceback --peer-version 2.0",
	  "--bounceback: a server of 2.0 does not know it" },
	{ "-c h --bounceback -l 99 --bounceback-request 99",
	  "-l: not together with --bounceback-request: they are the same" },
	{ "-c h --bounceback -y C", "--bounceback: not together with -y: it "
				    "shows in text, in JSON and with -e" },
	{ "-c h --bounceback -l 9", "-l: \"9\" is out of range: 64 to 16777216 "
				    "with --bounceback" },
	{ "-c h --no-udp-fin", "--no-udp-fin: " NEEDS_UDP },
	{ "-c h -u -R --no-udp-fin", "--no-udp-fin: not together with -R: the "
				     "client sends nothing" },
	{ "-c h -u --fq-rate 9m", "--fq-rate: not for UDP: -b paces datagrams, "
				  "one by one" },
	{ "-c h -R --fq-rate 9m", "--fq-rate: not together with -R: it paces "
				  "what the client sends" },
	{ "-c h -u --connect-retries 9", "--connect-retries: " NO_CONNECT },
	{ "-c h -u --connect-retry-timer 9",
	  "--connect-retry-timer: " NO_CONNECT },
	{ "-c h -u --connect-retry-time 9",
	  "--connect-retry-time: " NO_CONNECT },
	{ "-c h --connect-retry-time 9 --connect-retries 9",
	  "--connect-retry-time: not together with --connect-retries" },
	{ "-c h --txdelay-time 1 --txstart-time 1",
	  "--txdelay-time: not together with --txstart-time" },
	{ "-c h --arm a= --arm b= --txstart-time 1",
	  "--txstart-time: not together with --arm: each test would need "
	  "another" },
	{ "-c h -u --arm a= --arm b= --no-udp-fin",
	  "--no-udp-fin: not together with --arm: nobody would tell what "
	  "arrived" },
	{ "-c h -S 4 --dscp 1",
	  "-S: not together with --dscp: it is a part of it" },
	{ "-s --tos-override 1 -S 1",
	  "--tos-override: not together with -S: it is the same" },
	{ "-s --tos-override 1 --dscp 1",
	  "--tos-override: not together with --dscp: it is the same" },
	{ "-c h --tos-override 1", "--tos-override: only for a server (-s)" },
	{ "-c h --arm a= --arm b= --sum-only",
	  "--sum-only: not together with --arm" },
	{ "-c h -F f -R", "-F: not together with -R: " OWN_BYTES },
	{ "-c h -F f --full-duplex",
	  "-F: not together with --full-duplex: " OWN_BYTES },
	{ "-c h -F f -d", "-F: not together with -d: " OWN_BYTES },
	{ "-c h -F f -r", "-F: not together with -r: " OWN_BYTES },
	{ "-c h -F f --bounceback",
	  "-F: not together with --bounceback: " OWN_BYTES },
	{ "-c h -I -R", "-I: not together with -R: " OWN_BYTES },
	{ "-c h -I --full-duplex",
	  "-I: not together with --full-duplex: " OWN_BYTES },
	{ "-c h -I -d", "-I: not together with -d: " OWN_BYTES },
	{ "-c h -I -r", "-I: not together with -r: " OWN_BYTES },
	{ "-c h -I --bounceback",
	  "-I: not together with --bounceback: " OWN_BYTES },
	{ "-c h -F f -I", "-F: not together with -I" },
	{ "-c h -I -P 2", "-I: not together with -P: one stream can read it" },
	{ "-c h -I --arm a= --arm b=",
	  "-I: not together with --arm: one test can read it" },
	{ "-s -F f", "-F: only for a client (-c)" },
	{ "-c h -F ''", "-F: \"\" is not a name: it is empty" },
	{ "-c h -C -R", "-C: not together with -R: " NO_HEADER },
	{ "-c h -C --full-duplex",
	  "-C: not together with --full-duplex: " NO_HEADER },
	{ "-c h -C -d", "-C: not together with -d: " NO_HEADER },
	{ "-c h -C -r", "-C: not together with -r: " NO_HEADER },
	{ "-c h -C --bounceback",
	  "-C: not together with --bounceback: " NO_HEADER },
	{ "-c h -C -X", "-C: not together with -X: " NO_HEADER },
	{ "-c h -C --permit-key=abcd",
	  "-C: not together with --permit-key: " NO_HEADER },
	{ "-c h -u -C --trip-times",
	  "-C: not together with --trip-times: " NO_HEADER },
	{ "-c h -u -C --no-udp-fin",
	  "-C: not together with --no-udp-fin: " NO_HEADER },
	{ "-c h -u -X", "-X: " NO_CONNECT },
	{ "-c h -X --peer-version 2.0",
	  "-X: a server of 2.0 does not know it" },
	{ "-c h -X -d", "-X: not together with -d: " NOT_BACK },
	{ "-c h -X -r", "-X: not together with -r: " NOT_BACK },
	{ "-c h -X --bounceback",
	  "-X: not together with --bounceback: there is "
	  "no header to answer" },
	{ "-c h -x M --sum-only",
	  "--sum-only: not together with -x: no row is left" },
	{ "-c h --dscp 64", "--dscp: \"64\" is out of range: 0 to 63" },
	{ "-c h --dscp x", "--dscp: \"x\" is not a code point: 0 to 63, or a "
			   "name such as ef or af11" },
	{ "-c h --fq-rate 9Mb",
	  "--fq-rate: \"9Mb\" is not a rate: bits a second with k, m, g, "
	  "bytes a second with K, M, G" },
	{ "-c h --txdelay-time 5", "--txdelay-time: \"5\" is out of range: "
				   "0.001 to 4 seconds" },
	{ "-c h -r -R", "-r: not together with -R" },
	{ "-c h -r --full-duplex", "-r: not together with --full-duplex" },
	{ "-c h --arm a= --arm b= -y C", "--arm: not together with -y" },
	{ "-s --json -y C", "--json: not together with -y" },
	{ "-s --json-file f --json", "--json-file: not together with --json" },
	{ "-s -o f --json-file f", "--json-file: \"f\" is the file of -o "
				   "already" },
	{ "-s -u -y C --histograms", "--histograms: not together with -y: it "
				     "shows in text and in JSON alone" },
	{ "-c h -u -y C --trip-times", "--trip-times: not together with -y: "
				       "it shows in text and in JSON alone" },
};

START_TEST(refuses_with_the_reason)
{
	expect_why("", refusals[_i].text, refusals[_i].why);
}
END_TEST

static const char *const bad_binds[] = {
	"''",      "-u",        "a:",          "a:0",
	"a:65536", "a:x",       ":5",          "a%",
	"%",       "a%b:1",     "a%b%c",       "%sixteen_letters_",
	"[::1",    "[::1]x",    "[::1]:",      "[a]:5",
	"[]",      "1:2:3",     "::1%",        "fe80::1%",
	"::1%a/b", "[::1%a]%b", "a:123456789", "[::1]%",
};

START_TEST(refuses_what_is_no_local_address)
{
	const char *given = bad_binds[_i];
	char text[80], why[OPTIONS_WHY_BYTES];

	snprintf(text, sizeof(text), "-c h -B %s", given);
	snprintf(why, sizeof(why),
		 "-B: \"%s\" is not a local address: HOST, HOST:PORT, "
		 "HOST%%DEV or [V6]:PORT",
		 strcmp(given, "''") == 0 ? "" : given);
	expect_why("", text, why);
}
END_TEST

static const struct {
	const char *env;
	const char *text;
	const char *fields;
} environments[] = {
	{ "IPERF_SERVER=", "", "side=1" },
	{ "IPERF_CLIENT=h", "", "side=2 host=h" },
	{ "IPERF_SINGLECLIENT=0", "-s", "single=1" },
	{ "IPERF_DAEMON=", "-s", "daemonize=1" },
	{ "IPERF_BANDWIDTH=5M", "-c h", "bps=5000000 rate_set=1" },
	{ "IPERF_NUM=5K", "-c h", "amount=5120" },
	{ "IPERF_TTL=7", "-c h", "ttl=7" },
	{ "IPERF_UDP=0", "-s", "udp=1" },
	{ "IPERF_PORT=5002", "-s", "port=5002" },
	{ "IPERF_TIME=5", "-c h", "time=5000000000 time_set=1" },
	{ "IPERF_INTERVAL=1", "-s", "interval=1000000000" },
	{ "IPERF_PARALLEL=3", "-c h", "parallel=3 parallel_set=1" },
	{ "IPERF_LEN=1K", "-s", "len=1024" },
	{ "TCP_WINDOW_SIZE=64K", "-s", "window=65536" },
	{ "IPERF_BIND=::1", "-s", "bind_host=::1" },
	{ "IPERF_IPV6_DOMAIN=1", "-s", "family=6" },
	{ "IPERF_MSS=1400", "-s", "mss=1400" },
	{ "IPERF_PRINT_MSS=1", "-s", "print_mss=1" },
	{ "IPERF_NODELAY=1", "-s", "nodelay=1" },
	{ "IPERF_TOS=ef", "-s", "tos=184 tos_set=1" },
	{ "IPERF_CONGESTION_CONTROL=reno", "-s", "cca=reno" },
	{ "IPERF_FORMAT=k", "-s", "format=k" },
	{ "IPERF_ENHANCEDREPORTS=1", "-s", "enhanced=1" },
	{ "IPERF_REPORTSTYLE=C", "-s", "csv=1" },
	{ "IPERF_REPORTEXCLUDE=CS", "-s", "exclude=9" },
	/* the command line wins */
	{ "IPERF_PORT=5002", "-s -p 5003", "port=5003" },
	{ "IPERF_CLIENT=a", "-c b", "side=2 host=b" },
	{ "IPERF_SERVER=1", "-c h", "side=2 host=h" },
	{ "IPERF_CLIENT=h", "-s", "side=1 host=-" },
	{ "IPERF_TIME=5", "-c h -n 1K", "amount=1024" },
	{ "IPERF_NUM=1K", "-c h -t 5", "amount=0 time=5000000000" },
	{ "IPERF_IPV6_DOMAIN=1", "-s -4", "family=4" },
	{ "IPERF_REPORTEXCLUDE=C", "-s -x S", "exclude=8" },
	{ "IPERF_BIND=a:5", "-c h -B b", "bind=b bind_host=b bind_port=0" },
	{ "IPERF_REPORTSTYLE=C", "-s --json", "csv=0 json=1" },
	{ "IPERF_REPORTSTYLE=C", "-s --json-file f", "csv=1 json_file=f" },
	/* of two variables, as in iperf 2 */
	{ "IPERF_TIME=5 IPERF_NUM=1K", "-c h", "amount=0 time=5000000000" },
	/* those of the other side are none of ours */
	{ "IPERF_BANDWIDTH=100pps IPERF_NUM=1 IPERF_TTL=x", "-s",
	  "bps=0 pps=0 rate_set=0 amount=0 ttl=0" },
	{ "IPERF_DAEMON=1 IPERF_SINGLECLIENT=1", "-c h",
	  "daemonize=0 single=0" },
	{ "IPERF_SERVER=1 IPERF_BANDWIDTH=x", "", "side=1 rate_set=0" },
	/* what is asked comes before any variable */
	{ "IPERF_PORT=x", "-h", "ask=1" },
};

START_TEST(reads_the_environment_first)
{
	expect_fields(environments[_i].env, environments[_i].text,
		      environments[_i].fields);
}
END_TEST

static const struct {
	const char *env;
	const char *text;
	const char *why;
} bad_environments[] = {
	{ "IPERF_PORT=70000", "-s",
	  "IPERF_PORT: \"70000\" is out of range: 1 to 65535" },
	{ "IPERF_PORT=", "-s",
	  "IPERF_PORT: \"\" is not a port, or FIRST-LAST: 1 to 65535" },
	{ "TCP_WINDOW_SIZE=big", "-c h",
	  "TCP_WINDOW_SIZE: \"big\" is not a size: a number of bytes with k, "
	  "m, g, Ki, Mi or Gi" },
	{ "IPERF_LEN=8", "-s -u",
	  "IPERF_LEN: \"8\" is out of range: 16 to 65507 with UDP" },
	{ "IPERF_BANDWIDTH=9pps", "-c h",
	  "IPERF_BANDWIDTH: \"9pps\" is not for TCP: pps counts datagrams and "
	  "needs -u" },
	{ "IPERF_BIND=a:5", "-s",
	  "IPERF_BIND: \"a:5\": the port of a server is -p" },
	{ "IPERF_CLIENT=h IPERF_SERVER=1", "",
	  "IPERF_CLIENT: not together with IPERF_SERVER" },
};

START_TEST(names_the_variable_that_is_wrong)
{
	expect_why(bad_environments[_i].env, bad_environments[_i].text,
		   bad_environments[_i].why);
}
END_TEST

/* A variable is a default: what was typed rules, as if it were not there. */
static const struct {
	const char *env, *text;
	const char *fields;
} yielding[] = {
	{ "IPERF_REVERSE=1", "-c h -d", " reverse=0 dual=1 " },
	{ "IPERF_DUALTEST=1", "-c h -R", " reverse=1 dual=0 " },
	{ "IPERF_TRADEOFF=1", "-c h --full-duplex",
	  " full_duplex=1 tradeoff=0 " },
	{ "IPERF_LISTENPORT=7", "-c h", " listen=5001 " },
	{ "IPERF_IPV6_DOMAIN=1", "-c h -4", " family=4 " },
	{ "IPERF_REPORTSTYLE=C", "-c h --json", " csv=0 json=1 " },
	{ "IPERF_REPORTSTYLE=C", "-c h -u --histograms", " csv=0 " },
	{ "IPERF_REPORTSTYLE=C IPERF_REVERSE=1", "-c h --json -d",
	  " csv=0 json=1 reverse=0 dual=1 " },
};

START_TEST(a_variable_yields_to_what_was_typed)
{
	expect_fields(yielding[_i].env, yielding[_i].text, yielding[_i].fields);
}
END_TEST

/* An option's shortest name, with its dashes. */
static void written(const char *name, char *buf, size_t size)
{
	const struct opttable_row *r = opttable_name(name);

	if (r->letter)
		snprintf(buf, size, "-%c", r->letter);
	else
		snprintf(buf, size, "--%s", name);
}

static bool is_refused(const char *why)
{
	for (size_t i = 0; i < COUNT(refusals); i++) {
		if (strcmp(refusals[i].why, why) == 0)
			return true;
	}
	return false;
}

START_TEST(each_clash_is_among_the_refusals)
{
	const struct optcheck_clash *c;
	size_t rows = 0;

	for (; (c = optcheck_row(rows)) != NULL; rows++) {
		char why[OPTIONS_WHY_BYTES], option[40], other[40] = "";

		written(c->option, option, sizeof(option));
		if (c->other)
			written(c->other, other, sizeof(other));
		snprintf(why, sizeof(why), "%s: %s%s%s%s", option,
			 c->other ? "not together with " : "", other,
			 c->other && c->why ? ": " : "", c->why ? c->why : "");
		ck_assert_msg(is_refused(why), "no test of: %s", why);
	}
	ck_assert_uint_gt(rows, 0);
}
END_TEST

START_TEST(needs_no_environment)
{
	struct options o;
	struct line l;
	char why[OPTIONS_WHY_BYTES];

	split(&l, "-s -p 5003");
	ck_assert_int_eq(cmdline_parse(&o, l.count, l.words, NULL, why), 0);
	ck_assert_int_eq(o.port, 5003);
	ck_assert_str_eq(why, "");
}
END_TEST

/* What iperf 2 has had, from 2.0.2 to 2.2; more of them has the table. */
static const char *const iperf_2_names[] = {
	"NUM_REPORT_STRUCTS",
	"awdl",
	"bandwidth",
	"bind",
	"bounceback-congest",
	"client",
	"connect-retries",
	"connect-retry-time",
	"connect-retry-timer",
	"daemon",
	"dscp",
	"dualtest",
	"enhanced",
	"enhancedreports",
	"format",
	"fq-rate",
	"fq-rate-step",
	"fq-rate-step-interval",
	"full-duplex",
	"help",
	"hide-ips",
	"histograms",
	"ignore-shutdown",
	"incr-dstip",
	"incr-dstport",
	"incr-srcip",
	"incr-srcport",
	"interval",
	"ipg",
	"ipv6_domain",
	"ipv6_domian",
	"jitter-histograms",
	"l2checks",
	"len",
	"linux-congestion",
	"listenport",
	"local-only",
	"mss",
	"no-udp-fin",
	"nodelay",
	"num",
	"omit",
	"output",
	"parallel",
	"port",
	"print_mss",
	"remove",
	"reportexclude",
	"reportstyle",
	"reverse",
	"send-delay",
	"server",
	"set-rand-seed",
	"single_udp",
	"singleclient",
	"ssm-host",
	"suggest_win_size",
	"sum-dstip",
	"sum-only",
	"sync-transfer-id",
	"tap-dev",
	"tcp-cca",
	"tcp-congestion",
	"tcp-rx-window-clamp",
	"tcp-write-times",
	"test-exchange-timeout",
	"time",
	"tos",
	"tos-override",
	"tradeoff",
	"trip-time",
	"trip-times",
	"ttl",
	"tun-dev",
	"tx-sync",
	"txdelay-time",
	"txstart-time",
	"udp",
	"udp-counters-64bit",
	"udp-histogram",
	"udp-l4s",
	"udp-l4s-video",
	"udp-triggers",
	"utc",
	"vary-load",
	"version",
	"window",
	"working-load-cca",
	"compatibility",
	"file_input",
	"fileinput",
	"stdin",
	"stdin_input",
	"peer-detect",
	"peerdetect",
	"bounceback",
	"bounceback-hold",
	"bounceback-no-quickack",
	"bounceback-period",
	"bounceback-reply",
	"bounceback-request",
	"udp-histograms",
	"permit-key",
	"permit-key-timeout",
	"burst-period",
	"burst-size",
	"connect-only",
	"isochronous",
	"near-congestion",
	"working-load",
	"bounceback-txdelay",
	"no-connect-sync",
	"tcp-quickack",
	"tcp-tx-delay",
	"tcp-write-prefetch",
};

START_TEST(knows_every_name_of_iperf_2)
{
	struct options o;
	struct line l;
	char text[64], why[OPTIONS_WHY_BYTES] = "";

	snprintf(text, sizeof(text), "--%s", iperf_2_names[_i]);
	(void)parse(&o, &l, "", text, why);
	ck_assert_msg(!strstr(why, "unknown option"), "%s", why);
}
END_TEST

START_TEST(what_is_not_offered_is_in_no_other_table)
{
	const struct optknown_row *k;

	for (size_t i = 0; (k = optknown_row(i)) != NULL; i++) {
		const struct opttable_row *r;

		ck_assert_ptr_eq(optknown_name(k->name, strlen(k->name)), k);
		for (size_t at = 0; (r = opttable_row(at)) != NULL; at++)
			ck_assert_msg(opttable_names(r, k->name,
						     strlen(k->name)) != 2,
				      "--%s", k->name);
	}
}
END_TEST

/* What does nothing is named in a note, unless a variable gave it. */
static const struct {
	const char *env, *text;
	const char *name; /* NULL: it does something */
} idles[] = {
	{ "", "-c h -u -N", "nodelay" },
	{ "", "-s -u -N", "nodelay" },
	{ "", "-c h -u -M 1000", "mss" },
	{ "", "-c h -u -m", "print_mss" },
	{ "", "-c h -u --tcp-cca reno", "tcp-congestion" },
	{ "", "-c h -u --histograms", "histograms" },
	{ "", "-c h --json -f k", "format" },
	{ "", "-c h -N -M 1000 -m -Z reno -f k", NULL },
	{ "", "-c h -u -R --histograms", NULL },
	{ "", "-s -u --histograms", NULL },
	{ "IPERF_NODELAY=1", "-c h -u", NULL },
};

START_TEST(names_what_does_nothing)
{
	struct options o;
	struct line l;
	char why[OPTIONS_WHY_BYTES];

	ck_assert_int_eq(parse(&o, &l, idles[_i].env, idles[_i].text, why), 0);
	ck_assert_uint_eq(o.n_old, idles[_i].name != NULL);
	if (idles[_i].name)
		ck_assert_str_eq(o.old[0], idles[_i].name);
}
END_TEST

START_TEST(each_idle_row_is_tested)
{
	const struct optcheck_idle *row;

	for (size_t i = 0; (row = optcheck_idle_row(i)) != NULL; i++) {
		size_t at = 0;

		while (at < COUNT(idles) &&
		       (!idles[at].name ||
			strcmp(idles[at].name, row->option) != 0))
			at++;
		ck_assert_msg(at < COUNT(idles), "no test of %s", row->option);
	}
}
END_TEST

#define GROUPS 5

static const char *const groups[][GROUPS] = {
	{ "-c h", "-P 2", "-b 5M", "-u", "-l 200" },
	{ "-s", "-u", "--bind=::1%lo", "-1p 7", "--interval 1" },
	{ "-c h", "-t 3", "-y C", "-V", "-e" },
	{ "-c h", "-O 2", "-t 3", "-u --json", "--trip-times" },
};

/* Puts the groups in order number n of the 5! there are. */
static void permute(char *buf, size_t size, const char *const *group, int n)
{
	const char *left[GROUPS];

	memcpy(left, group, sizeof(left));
	buf[0] = '\0';
	for (int count = GROUPS; count > 0; count--) {
		int at = n % count;
		size_t used = strlen(buf);

		snprintf(buf + used, size - used, " %s", left[at]);
		n /= count;
		for (int i = at; i < count - 1; i++)
			left[i] = left[i + 1];
	}
}

START_TEST(means_the_same_in_any_order)
{
	char first[256], other[256];

	permute(first, sizeof(first), groups[_i], 0);
	for (int n = 1; n < 120; n++) {
		permute(other, sizeof(other), groups[_i], n);
		expect_same(first, other);
	}
}
END_TEST

START_TEST(joins_letters)
{
	expect_same("-s -u -V -p 5002", "-suVp5002");
	expect_same("-c h -u -b 5M -i 1", "-uch -b5M -i1");
}
END_TEST

START_TEST(says_one_line_that_fits)
{
	struct options o;
	char long_word[2000], port[] = "-p", feed[] = "1\n\033[2J";
	char *words[] = { feed, port, long_word, NULL };
	char why[OPTIONS_WHY_BYTES];

	memset(long_word, 'x', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	ck_assert_int_eq(cmdline_parse(&o, 3, words, NULL, why), -EINVAL);
	ck_assert_ptr_nonnull(
		strstr(why, "x\" is not a port, or FIRST-LAST: 1 to"));
	words[2] = feed;
	ck_assert_int_eq(cmdline_parse(&o, 3, words, NULL, why), -EINVAL);
	ck_assert_str_eq(why, "-p: \"1??[2J\" is not a port, or FIRST-LAST: "
			      "1 to 65535");
	long_word[0] = long_word[1] = '-';
	words[2] = long_word;
	ck_assert_int_eq(cmdline_parse(&o, 2, words + 1, NULL, why), -EINVAL);
	ck_assert_int_eq(strncmp(why, "unknown option \"--x", 19), 0);
}
END_TEST

/* What print writes, for the caller to free. */
static char *printed(void (*print)(FILE *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	print(f);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

START_TEST(usage_has_each_row_of_the_table)
{
	char *usage = printed(opttable_usage);
	const struct opttable_row *r;
	size_t rows = 0;

	for (; (r = opttable_row(rows)) != NULL; rows++) {
		char start[80];

		snprintf(start, sizeof(start), "\n  %c%c%c --%s%s%s%s ",
			 r->letter ? '-' : ' ', r->letter ? r->letter : ' ',
			 r->letter ? ',' : ' ', r->names[0],
			 !r->arg     ? ""
			 : r->absent ? "[="
				     : " ",
			 r->arg ? r->arg : "", r->absent ? "]" : "");
		const char *at = strstr(usage, start);
		ck_assert_msg(at && strstr(at, r->help), "no %s", start);
	}
	ck_assert_uint_eq(rows, COUNT(spellings));
	free(usage);
}
END_TEST

START_TEST(usage_fits_a_terminal)
{
	char *usage = printed(opttable_usage);

	for (char *l = strtok(usage, "\n"); l; l = strtok(NULL, "\n"))
		ck_assert_msg(strlen(l) <= 80, "%zu columns: %s", strlen(l), l);
	free(usage);
}
END_TEST

START_TEST(version_is_one_line_of_iperf_2)
{
	char *version = printed(options_version);

	ck_assert_str_eq(version, "iperf version 2.2.100 (1 December 2026) "
				  "pthreads\n");
	free(version);
}
END_TEST

static const struct {
	const char *text;
	int decimals;
} precisions[] = {
	{ "-c h", 1 },
	{ "-c h -i 1", 1 },
	{ "-c h -i 0.5 -t 2.5", 1 },
	{ "-c h -i 0.25", 2 },
	{ "-c h -t 0.01", 2 },
	{ "-c h -i 0.005", 4 },
	{ "-c h -i 1 -t 1.001", 4 },
	{ "-c h -i 1 -O 0.5", 1 },
	{ "-c h -i 1 -O 0.25", 2 },
	{ "-s", 1 },
	{ "-s -i 0.05", 2 },
};

START_TEST(shows_times_as_fine_as_they_are)
{
	struct options o;
	struct line l;
	char why[OPTIONS_WHY_BYTES];

	ck_assert_int_eq(parse(&o, &l, "", precisions[_i].text, why), 0);
	ck_assert_int_eq(options_decimals(&o), precisions[_i].decimals);
}
END_TEST

static Suite *options_suite(void)
{
	Suite *s = suite_create("options");
	TCase *t = tcase_create("options");

	tcase_add_loop_test(t, reads_what_is_asked, 0, COUNT(meanings));
	tcase_add_loop_test(t, takes_every_spelling, 0, COUNT(spellings));
	tcase_add_loop_test(t, refuses_with_the_reason, 0, COUNT(refusals));
	tcase_add_loop_test(t, refuses_what_is_no_local_address, 0,
			    COUNT(bad_binds));
	tcase_add_loop_test(t, reads_the_environment_first, 0,
			    COUNT(environments));
	tcase_add_loop_test(t, names_the_variable_that_is_wrong, 0,
			    COUNT(bad_environments));
	tcase_add_test(t, needs_no_environment);
	tcase_add_loop_test(t, a_variable_yields_to_what_was_typed, 0,
			    COUNT(yielding));
	tcase_add_test(t, each_clash_is_among_the_refusals);
	tcase_add_loop_test(t, knows_every_name_of_iperf_2, 0,
			    COUNT(iperf_2_names));
	tcase_add_loop_test(t, names_what_does_nothing, 0, COUNT(idles));
	tcase_add_test(t, each_idle_row_is_tested);
	tcase_add_test(t, what_is_not_offered_is_in_no_other_table);
	tcase_add_loop_test(t, means_the_same_in_any_order, 0, COUNT(groups));
	tcase_add_test(t, joins_letters);
	tcase_add_test(t, says_one_line_that_fits);
	tcase_add_test(t, usage_has_each_row_of_the_table);
	tcase_add_test(t, usage_fits_a_terminal);
	tcase_add_test(t, version_is_one_line_of_iperf_2);
	tcase_add_loop_test(t, shows_times_as_fine_as_they_are, 0,
			    COUNT(precisions));
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(options_suite());

	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
