#include "quantile.h"

#include <assert.h>
#include <math.h>

#define PI 3.14159265358979323846
/* For df 1 to 20000 the fraction takes up to 90 steps, Newton below 80. */
#define STEPS_MAX 2000
/* Beyond it Student's t leaves no tail, and its square overflows. */
#define T_MAX 1e150

/* Denominators of the fraction never become 0. */
static double not_zero(double x)
{
	static const double tiny = 1e-300;

	return fabs(x) < tiny ? tiny : x;
}

/* Number i, from 1, of the fraction below, without its x (DLMF 8.17.22). */
static double coefficient(int i, double a, double b)
{
	int half = i / 2;
	double m = half;

	if (i % 2 != 0)
		return -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1));
	return m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m));
}

/*
 * The continued fraction of the incomplete beta function, evaluated forwards by
 * the method of Lentz (1976).  Converges fast for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double x, double a, double b)
{
	double c = 1;
	double d = 0;
	double f = 1;

	for (int i = 1; i < STEPS_MAX; i++) {
		double step = x * coefficient(i, a, b);

		d = 1 / not_zero(1 + step * d);
		c = not_zero(1 + step / c);
		f *= c * d;
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return 1 / f;
}

/* 1 / B(df/2, 1/2). */
static double inverse_beta(double df)
{
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(PI);
}

double quantile_normal_tail(double x)
{
	return erfc(x / sqrt(2)) / 2;
}

/* The tail is half of I_x(df/2, 1/2) at x = df / (df + t^2), DLMF 8.17; where
 * that converges slowly, it is 1 - I_y(1/2, df/2) at y = 1 - x. */
double quantile_t_tail(double t, double df)
{
	double square = fmin(fabs(t), T_MAX) * fmin(fabs(t), T_MAX);
	double a = df / 2;
	double x = df / (df + square);
	double y = square / (df + square);
	double front =
		exp(-a * log1p(square / df)) * sqrt(y) * inverse_beta(df);
	double upper;

	assert(df >= 1);
	if (x < (a + 1) / (a + 2.5))
		upper = front * beta_fraction(x, a, 0.5) / a / 2;
	else
		upper = (1 - 2 * front * beta_fraction(y, 0.5, a)) / 2;
	return t < 0 ? 1 - upper : upper;
}

static double normal_density(double x)
{
	return exp(-x * x / 2) / sqrt(2 * PI);
}

static double t_density(double t, double df)
{
	return inverse_beta(df) / sqrt(df) *
	       exp(-(df + 1) / 2 * log1p(t * t / df));
}

/*
 * Newton from 0 upwards: right of 0 a tail is convex, so that every step falls
 * short of the root and none passes it; rounding ends the climb.
 */
double quantile_normal(double tail)
{
	assert(tail > 0 && tail < 1);
	if (tail > 0.5)
		return -quantile_normal(1 - tail);

	double x = 0;

	for (int i = 0; i < STEPS_MAX; i++) {
		double step =
			(quantile_normal_tail(x) - tail) / normal_density(x);

		if (step <= x * 1e-15)
			break;
		x += step;
	}
	return x;
}

double quantile_t(double tail, double df)
{
	assert(tail > 0 && tail < 1);
	if (tail > 0.5)
		return -quantile_t(1 - tail, df);

	/* Student's tail is the larger one, so its root is above this one */
	double t = quantile_normal(tail);

	for (int i = 0; i < STEPS_MAX; i++) {
		double step =
			(quantile_t_tail(t, df) - tail) / t_density(t, df);

		if (step <= t * 1e-15)
			break;
		t += step;
	}
	return t;
}
