/*
 * units: "10M", "64KB" and "100pps" to numbers, and numbers to "1.05 GByte".
 * Pure: text in, numbers out, and back.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stddef.h>
#include <stdint.h>

/* A rate as a person asks for it: exactly one of the two is above 0, or
 * both are 0: as fast as possible. */
struct units_rate {
	uint64_t bps; /* bits a second */
	uint64_t pps; /* datagrams a second */
};

/* How many digits and which padding a value gets: spec of three generations. */
enum units_look {
	UNITS_G1,  /* 2.0.2 to 2.0.4: a blank more from 100 to 999 */
	UNITS_G1H, /* 2.0.5 to 2.0.13 */
	UNITS_G2,  /* 2.1 and 2.2 */
};

/*
 * Readers.  The whole string is consumed or refused: 0, -EINVAL when it is
 * not such a number, -ERANGE when it is one that does not fit.
 */

/* Bits a second: number (fractions allowed) with k m g K M G (powers of 10),
 * Ki Mi Gi (powers of 2), an optional "b", "bit", "bps", "bit/s" or "bits/s"
 * after it, or such a number with "pps". */
int units_rate(const char *text, struct units_rate *rate);
/* Bits a second as iperf 2 reads some options: k m g of bits, K M G of bytes;
 * all are powers of 10. */
int units_wire_rate(const char *text, uint64_t *bps);
/* Bytes: k m g K M G and Ki Mi Gi are powers of 2, an optional "B" after. */
int units_size(const char *text, uint64_t *bytes);
/* Seconds, fractions allowed, to nanoseconds; not negative. */
int units_seconds(const char *text, int64_t *ns);
/* A whole number, decimal, or with 0x or a leading 0 when any_base. */
int units_whole(const char *text, int any_base, int64_t *value);

/*
 * Writers: number, one blank, unit, as "90.2 MByte" or " 151 Mbit" (the row
 * adds "s" or "s/sec").  format is the letter of -f: k m g t p bits and K M G
 * T P bytes with a fixed unit, b B unscaled, a A adaptive.
 */
void units_bytes_text(char *buf, size_t size, uint64_t bytes, char format,
		      enum units_look look);
/* bytes moved in ns nanoseconds; ns <= 0 gives a rate of 0. */
void units_rate_text(char *buf, size_t size, uint64_t bytes, int64_t ns,
		     char format, enum units_look look);
/* Bits a second of bytes in ns, 0 when ns <= 0. */
double units_bps(uint64_t bytes, int64_t ns);
/* Packets a second, likewise. */
double units_pps(uint64_t packets, int64_t ns);

#endif
