#include "abrun.h"

/* Offered less than this part of what was asked is too little (0.5 %), unless
 * it is a matter of two datagrams. */
#define SHORT_PART 0.995
#define SHORT_DATAGRAMS 2.0

static void add_cpu(struct abrun_end *e, const struct out_cpu *cpu)
{
	/* a thread that several streams share tells its whole time for each */
	e->cpu_known =
		(e->streams == 1 || e->cpu_known) && cpu->known && !cpu->shared;
	e->cpu_ns += cpu->user_ns + cpu->system_ns;
}

static void add_to(struct abrun_end *e, const struct record *r)
{
	int64_t ns = r->end_ns - r->start_ns;
	int64_t jitter_ns = !r->relayed || r->own_report ? r->jitter_mean_ns
							 : r->d.jitter_ns;

	e->streams++;
	e->bytes += r->d.bytes;
	e->packets += r->d.packets;
	e->lost += r->d.lost;
	e->jitter_ns += (double)jitter_ns * (double)r->d.packets;
	e->ns = ns > e->ns ? ns : e->ns;
	e->retransmits += r->tcp.retransmits;
	e->retransmits_known =
		(e->streams == 1 || e->retransmits_known) && r->tcp.known;
	e->delay_known = (e->streams == 1 || e->delay_known) && r->delay.known;
	if (r->delay.p99_ns > e->delay_ns)
		e->delay_ns = r->delay.p99_ns;
	e->asked_bps += r->asked_bps;
	e->offered_bps += r->offered_bps;
	if (e->streams == 1 || r->d.packets < e->smallest)
		e->smallest = r->d.packets;
	add_cpu(e, &r->cpu);
}

void abrun_add(struct abrun *a, const struct record *r)
{
	if (r->sum || !r->total)
		return;
	a->udp = r->udp;
	if (r->relayed)
		add_to(&a->arrived, r);
	else if (r->receiver)
		add_to(&a->received, r);
	else
		add_to(&a->sent, r);
}

static double bits_per_second(const struct abrun_end *e)
{
	return (double)e->bytes * 8e9 / (double)e->ns;
}

static void set_rate(struct abresult_run *run, enum abresult_metric metric,
		     const struct abrun_end *e)
{
	if (e->streams > 0 && e->ns > 0)
		abresult_set(run, metric, bits_per_second(e));
}

static void set_cpu(struct abresult_run *run, const struct abrun_end *e,
		    enum abresult_metric of_bytes,
		    enum abresult_metric of_packets, bool udp)
{
	double per = udp ? (double)e->packets * 1e3 : (double)e->bytes;

	if (e->streams > 0 && e->cpu_known && per > 0)
		abresult_set(run, udp ? of_packets : of_bytes,
			     (double)e->cpu_ns / per);
}

static void set_datagrams(struct abresult_run *run, const struct abrun_end *e)
{
	double packets = (double)e->packets;
	double lost = (double)e->lost;

	if (e->ns > 0)
		abresult_set(run, ABRESULT_PPS, packets * 1e9 / (double)e->ns);
	if (packets + lost > 0)
		abresult_set(run, ABRESULT_LOSS, 100 * lost / (packets + lost));
	if (packets > 0)
		abresult_set(run, ABRESULT_JITTER,
			     e->jitter_ns / packets / 1e6);
	if (e->delay_known)
		abresult_set(run, ABRESULT_DELAY, (double)e->delay_ns / 1e6);
}

/* Only a UDP sender goes by its own clock; what TCP sends is up to the path. */
static bool fell_short(const struct abrun *a)
{
	const struct abrun_end *e = &a->sent;

	if (!a->udp || e->streams == 0 || e->asked_bps == 0)
		return false;

	double missing = 1 - (double)e->offered_bps / (double)e->asked_bps;

	return missing > 1 - SHORT_PART &&
	       missing * (double)e->smallest > SHORT_DATAGRAMS;
}

void abrun_finish(const struct abrun *a, struct abresult_run *run)
{
	const struct abrun_end *sent = &a->sent;
	const struct abrun_end *arrived = &a->arrived;
	bool reported = arrived->streams == sent->streams;
	/* a TCP sender knows what was acknowledged */
	const struct abrun_end *there = reported ? arrived : sent;

	if (a->udp && !reported)
		run->marks |= ABRESULT_NO_REPORT;
	if (fell_short(a))
		run->marks |= ABRESULT_SHORT;
	if (sent->streams == 0)
		there = &a->received;
	if (!a->udp || reported)
		set_rate(run, ABRESULT_RATE, there);
	if (sent->streams > 0)
		set_rate(run, ABRESULT_BACK_RATE, &a->received);
	if (a->udp && reported)
		set_datagrams(run, there);
	set_cpu(run, sent->streams > 0 ? sent : &a->received,
		ABRESULT_CLIENT_GB, ABRESULT_CLIENT_MP, a->udp);
	if (reported)
		set_cpu(run, arrived, ABRESULT_SERVER_GB, ABRESULT_SERVER_MP,
			a->udp);
	if (!a->udp && sent->streams > 0 && sent->retransmits_known)
		abresult_set(run, ABRESULT_RETRANSMITS,
			     (double)sent->retransmits);
}
