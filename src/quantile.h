/*
 * quantile: the normal distribution and Student's, their tails and the values
 * that cut a tail off.  Pure: plain arithmetic on libm.
 *
 * Tails are asked for rather than distribution functions, since 1 - tail loses
 * the digits that a small p value consists of.  Relative error of a tail below
 * 1e-9 for 1 <= df <= 20000, also where df is no whole number (Welch).
 */
#ifndef QUANTILE_H
#define QUANTILE_H

/* The chance of a value above x, any x. */
double quantile_normal_tail(double x);
/* The x that leaves this chance above it; 0 < tail < 1. */
double quantile_normal(double tail);

/* The same of Student's t; df >= 1. */
double quantile_t_tail(double t, double df);
double quantile_t(double tail, double df);

#endif
