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

static void add_trips(struct abrun_trips *t, const struct stats_delay *d)
{
	if (!d->known)
		return;
	t->count += d->count;
	t->sum_ns += (double)d->mean_ns * (double)d->count;
	if (d->p99_ns > t->p99_ns)
		t->p99_ns = d->p99_ns;
}

void abrun_add(struct abrun *a, const struct record *r)
{
	if (r->sum || !r->total)
		return;
	a->udp = r->udp;
	if (r->series == OUT_ROUND_TRIPS)
		add_trips(&a->trips, &r->samples);
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

/* Much less of what was asked for, when that is this many datagrams. */
static bool is_short(double part, uint64_t smallest)
{
	double missing = 1 - part;

	return missing > 1 - SHORT_PART &&
	       missing * (double)smallest > SHORT_DATAGRAMS;
}

/* Only a UDP sender goes by its own clock; what TCP sends is up to the path. */
static bool fell_short(const struct abrun_end *sent)
{
	return sent->asked_bps > 0 &&
	       is_short((double)sent->offered_bps / (double)sent->asked_bps,
			sent->smallest);
}

/* What the server offered is what came and what was lost. */
static bool fell_short_back(const struct abrun *a)
{
	const struct abrun_end *e = &a->received;
	const struct units_rate *asked = &a->back_rate;
	double each = (double)(e->packets + e->lost) / e->streams;
	double offered = each * 1e9 / (double)e->ns;

	if (e->packets == 0 || e->ns <= 0)
		return false;
	if (asked->pps > 0)
		return is_short(offered / (double)asked->pps, e->smallest);
	offered *= 8 * (double)e->bytes / (double)e->packets;
	return asked->bps > 0 &&
	       is_short(offered / (double)asked->bps, e->smallest);
}

/* The end that knows what arrived; NULL: nobody does. */
static const struct abrun_end *who_knows(const struct abrun *a)
{
	if (a->sent.streams == 0)
		return &a->received;
	if (a->arrived.streams == a->sent.streams)
		return &a->arrived;
	/* a TCP sender knows what was acknowledged */
	if (!a->udp)
		return &a->sent;
	/* of some UDP tests each direction is told by who receives it */
	return !a->unreported && a->received.streams > 0 ? &a->received : NULL;
}

void abrun_finish(const struct abrun *a, struct abresult_run *run)
{
	const struct abrun_end *sent = &a->sent;
	const struct abrun_end *arrived = &a->arrived;
	const struct abrun_end *there = who_knows(a);

	if (there == NULL)
		run->marks |= ABRESULT_NO_REPORT;
	if (a->udp && (fell_short(sent) || fell_short_back(a)))
		run->marks |= ABRESULT_SHORT;
	if (there != NULL)
		set_rate(run, ABRESULT_RATE, there);
	if (there != &a->received)
		set_rate(run, ABRESULT_BACK_RATE, &a->received);
	if (there != NULL && a->udp)
		set_datagrams(run, there);
	set_cpu(run, sent->streams > 0 ? sent : &a->received,
		ABRESULT_CLIENT_GB, ABRESULT_CLIENT_MP, a->udp);
	if (arrived->streams == sent->streams)
		set_cpu(run, arrived, ABRESULT_SERVER_GB, ABRESULT_SERVER_MP,
			a->udp);
	if (!a->udp && sent->streams > 0 && sent->retransmits_known)
		abresult_set(run, ABRESULT_RETRANSMITS,
			     (double)sent->retransmits);
	if (a->trips.count > 0) {
		abresult_set(run, ABRESULT_TRIP,
			     a->trips.sum_ns / (double)a->trips.count / 1e6);
		abresult_set(run, ABRESULT_TRIP_P99,
			     (double)a->trips.p99_ns / 1e6);
	}
}
