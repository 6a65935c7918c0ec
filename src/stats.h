/*
 * stats: what one stream has seen.  Counters that only grow, the ledger of a
 * UDP receiver, and snapshots of them: difference and sum.  Pure: the caller
 * brings every time; nothing here reads a clock.
 */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "hist.h"

/* A missing number is settled as lost when it is still absent this long
 * after its gap was seen. */
#define STATS_LATE_AFTER_NS 100000000
/* Duplicates are told apart within this many numbers below the highest. */
#define STATS_WINDOW (1u << 17)

/* Everything a row, a total or a server report can say about a stream. */
struct stats_snap {
	uint64_t bytes;   /* payload that arrived: acknowledged where the system
			     tells it, else written; sent by UDP; received and not
			     duplicate */
	uint64_t written; /* TCP sender: bytes that the system took */
	uint64_t packets; /* sent, or unique received (UDP); TCP: calls */
	uint64_t lost;    /* settled as lost; never shrinks */
	uint64_t late;    /* came after a higher number, before settled */
	uint64_t too_late;  /* came after it was settled as lost */
	uint64_t duplicate; /* came again, within STATS_WINDOW */
	uint64_t gaps;      /* runs of lost numbers */
	uint64_t gap_max;   /* numbers in the longest run (a level) */
	/* Of that longest run, levels like it.  Began: the arrival of the
	 * number below it.  Length: until the arrival of the number above it, 0
	 * when nothing came before or after it. */
	int64_t gap_began_ns;
	int64_t gap_max_ns;
	uint64_t errors;        /* sends that the system refused */
	uint64_t blocked;       /* sends that had to wait */
	uint64_t icmp;          /* UDP sender: the network told of failures */
	int64_t jitter_ns;      /* RFC 3550 6.4.1, at the snapshot (a level) */
	int64_t jitter_max_ns;  /* the largest that it ever was (a level) */
	uint64_t jitter_sum_ns; /* of it after each datagram: over packets it
				   is the mean */
	/* The longest run of lost numbers that was settled since the snapshot
	 * before (a level of the row, not of the run). */
	uint64_t row_gap_max;
	int64_t row_gap_max_ns;
	int64_t row_gap_began_ns;
	uint64_t socket_drops; /* by the receiver's own full socket */
	uint64_t shared_drops; /* so too, while sessions shared the socket */
	bool drops_told;       /* the receiver's system tells these two */
	uint64_t clock_steps;  /* the sender's clock was set (recognised) */
	/* Of a series (room series); 0 where there is none. */
	uint64_t samples;
	int64_t sample_sum_ns; /* values may be below 0 */
	uint64_t sample_squares_us2;
	int64_t sample_min_ns; /* since the snapshot before; these two mean */
	int64_t sample_max_ns; /* something where there are samples */
};

/* Quantiles of a delay in ns. */
struct stats_delay {
	bool known;
	uint64_t count;
	int64_t min_ns; /* 0 when the delay is above the minimum */
	int64_t mean_ns;
	int64_t p50_ns;
	int64_t p99_ns;
	int64_t p999_ns;
	int64_t max_ns;
};

/* now - before for what counts; the levels are those of now. */
void stats_diff(struct stats_snap *out, const struct stats_snap *now,
		const struct stats_snap *before);
/* Adds one to sum; of a level the larger one stays. */
void stats_sum(struct stats_snap *sum, const struct stats_snap *one);
/* What row holds of its longest gap becomes that of both rows. */
void stats_join_rows(struct stats_snap *row, const struct stats_snap *other);
/* Mean and standard deviation of the samples, ns; 0 of none.  Their squares are
 * of whole microseconds. */
double stats_sample_mean(const struct stats_snap *s);
double stats_sample_deviation(const struct stats_snap *s);
/* Numbers settled or received: packets + lost. */
uint64_t stats_sent(const struct stats_snap *s);
/* Mean of the jitter over the datagrams received, ns. */
int64_t stats_jitter_mean(const struct stats_snap *s);

/* A sender, TCP or UDP, or a TCP receiver: written by its mover alone. */
struct stats_io {
	_Alignas(64) struct counter bytes;
	struct counter calls; /* datagrams, writes or reads that moved bytes */
	struct counter errors;
	struct counter blocked;
	struct counter icmp;
};

void stats_io_snap(const struct stats_io *io, struct stats_snap *out);

/* A step of the sender's clock is recognised when a higher number carries a
 * stamp this much lower, or the next number one so much higher than its
 * arrival explains. */
#define STATS_STEP_BACK_NS 1000000
#define STATS_STEP_AHEAD_NS 1000000000

/* The ledger of one UDP receiving stream: written by its mover alone, its
 * counters read by any thread. */
struct stats_rx;

/* base: the first number of this sender, 0 or 1.  NULL: no memory. */
struct stats_rx *stats_rx_new(int64_t base, int64_t late_after_ns);
void stats_rx_free(struct stats_rx *rx);
/*
 * A datagram with number seq and bytes of payload.  sent_ns is the sender's
 * stamp on any clock of its own; arrival_ns the arrival on the caller's
 * monotonic time line.  Numbers below the base are counted from then on too
 * (a base of 1 becomes 0 when number 0 turns up).
 */
void stats_rx_add(struct stats_rx *rx, int64_t seq, uint32_t bytes,
		  int64_t sent_ns, int64_t arrival_ns);
/* The first number is base after all; before anything came. */
void stats_rx_start(struct stats_rx *rx, int64_t base);
/* The same of a ledger that goes on where another one ended: what is below base
 * was received or lost there, and is too late here. */
void stats_rx_resume(struct stats_rx *rx, int64_t base);
/* The sender turns out to begin at number 0: with a base of 1, number 0 is
 * missing, and is lost at once unless it came. */
void stats_rx_from_zero(struct stats_rx *rx);
/* Settles what was missing for late_after_ns at now_ns.  To be called now
 * and then while nothing arrives; stats_rx_add does it by itself. */
void stats_rx_settle(struct stats_rx *rx, int64_t now_ns);
/* True while numbers below total (the marker's) have neither come nor been
 * settled as lost. */
bool stats_rx_missing(const struct stats_rx *rx, int64_t total);
/* The end: everything missing below total is lost now.  total < 0: no
 * marker came, the highest number + 1 holds. */
void stats_rx_end(struct stats_rx *rx, int64_t total);
void stats_rx_snap(const struct stats_rx *rx, struct stats_snap *out);
/* The same, and a row ends with it: row_gap_max is that of the time since the
 * last cut.  For one thread alone, the reporter. */
void stats_rx_cut(struct stats_rx *rx, struct stats_snap *out);
/* n datagrams were dropped from the full socket since the last call; shared:
 * other sessions used it too.  By the mover. */
void stats_rx_dropped(struct stats_rx *rx, uint64_t n, bool shared);
/* Delay above the lowest one (RFC 5481 4.2), and its distribution; valid as
 * long as rx is.  By the mover, or after its end. */
void stats_rx_delay(const struct stats_rx *rx, struct stats_delay *out);
const struct hist *stats_rx_hist(const struct stats_rx *rx);

#endif
