/*
 * seeds: writes what fuzz targets start from to DIR/TARGET/.  Headers are those
 * that were captured; the rest is made by the rooms that also decode it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../golden/wire_vectors.h"
#include "abresult.h"
#include "block.h"
#include "out.h"
#include "wire.h"

#define PATH_BYTES 512

static const char *dir;

/* Writes one file; head goes before the bytes. */
static void write_seed(const char *target, const char *name,
		       const uint8_t *head, size_t head_bytes, const uint8_t *p,
		       size_t n)
{
	char path[PATH_BYTES];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, target);
	if (mkdir(path, 0777) < 0 && errno != EEXIST) {
		perror(path);
		exit(1);
	}
	snprintf(path, sizeof(path), "%s/%s/%s", dir, target, name);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(head, 1, head_bytes, f) != head_bytes ||
	    fwrite(p, 1, n, f) != n || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static void write_headers(void)
{
	for (size_t i = 0; i < sizeof(golden_all) / sizeof(*golden_all); i++)
		write_seed("wire", golden_all[i].name, NULL, 0,
			   golden_all[i].bytes, golden_all[i].n);
}

static void write_blocks(void)
{
	uint8_t out[BLOCK_RESULT_BYTES];
	struct block_result r = {
		.udp = true,
		.delay_known = true,
		.trip_known = true,
		.cpu_known = true,
		.bytes = 1470000,
		.packets = 1000,
		.lost = 3,
		.late = 2,
		.gaps = 2,
		.gap_max = 2,
		.duration_ns = 10000000000,
		.jitter_ns = 20000,
		.jitter_max_ns = 300000,
		.delay_p50_ns = 1000,
		.delay_p99_ns = 2000,
		.delay_p999_ns = 3000,
		.delay_max_ns = 4000,
	};
	size_t n = block_result_encode(out, &r, 1);

	write_seed("block", "whole", NULL, 0, out, n);
	/* what stands between head and checksum: the target adds them */
	write_seed("block", "fields", NULL, 0, out + 16, n - 20);
	write_seed("block", "short", NULL, 0, out + 16, 23 * 8);
	n = block_refusal_encode(
		out, &(struct policy_refusal){ .why = POLICY_TIME, .value = 5 },
		1);
	write_seed("block", "refusal", NULL, 0, out, n);
	n = block_hello_encode(out, 1, 2);
	write_seed("block", "hello", NULL, 0, out, n);
}

/* A captured datagram as a step of the session target. */
static size_t add_step(uint8_t *at, uint8_t what, const uint8_t *p, size_t n)
{
	at[0] = what;
	at[1] = (uint8_t)n;
	at[2] = 0;
	memcpy(at + 3, p, n);
	return 3 + n;
}

/* First datagram and end marker of each generation. */
static void write_tests(void)
{
	static const struct {
		const char *name;
		const uint8_t *first, *marker;
		size_t first_bytes, marker_bytes;
	} tests[] = {
		{ "2.0.2", tv18, tv19, sizeof(tv18), sizeof(tv19) },
		{ "2.1.8", tv21, tv22, sizeof(tv21), sizeof(tv22) },
		{ "2.2", tv24, tv25, sizeof(tv24), sizeof(tv25) },
	};
	/* what, kind, number, stamp, size: ours sends four and its marker,
	 * which it repeats */
	static const uint8_t ours[] = {
		0x00, 0x68, 0x1a, 0x00, 0x00, 0xf0, 0x68, 0x1a, 0x00, 0x00,
		0xf0, 0x68, 0x1a, 0x01, 0x00, 0xf0, 0x68, 0x1a, 0x00, 0x00,
		0xf0, 0x68, 0x1a, 0x80, 0x00, 0xf0, 0x50, 0x50,
	};
	uint8_t out[1024];

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		size_t n = 1;

		out[0] = 0;
		n += add_step(out + n, 0x08, tests[i].first,
			      tests[i].first_bytes);
		n += add_step(out + n, 0x08, tests[i].marker,
			      tests[i].marker_bytes);
		n += add_step(out + n, 0x14, tests[i].marker,
			      tests[i].marker_bytes);
		write_seed("session", tests[i].name, NULL, 0, out, n);
	}
	write_seed("session", "ours", NULL, 0, ours, sizeof(ours));
}

/* Courses of a ledger: what, time; in order, with a gap, late, a row, an end.
 */
static void write_courses(void)
{
	static const uint8_t base[] = { 0 };
	static const uint8_t course[] = {
		0x00, 0x02, 0x00, 0x02, 0xc0, 0x02, 0x0a, 0x02, 0x0a,
		0x02, 0x05, 0x02, 0x00, 0x03, 0x04, 0x05, 0x07, 0x00,
	};

	write_seed("stats", "course", base, sizeof(base), course,
		   sizeof(course));
}

/* Of two rounds, as --json writes it; and rows of -y C for two arms. */
static void write_experiments(void)
{
	static const char rows[] =
		"20261130221106,1.1.1.1,4001,1.1.1.2,5001,3,0.0-1.0,900,7200\n"
		"20261130221107,1.1.1.1,4001,1.1.1.2,5001,3,0.0-2.0,900,3600,"
		"0.010,10,100,10.000,0\n"
		"20261130221108,1.1.1.1,0,1.1.1.2,5001,-1,0.0-1.0,900,7200\n";
	struct abresult r = { .setup = { .rounds = 2, .confidence = 0.95 } };
	char *text = NULL;
	size_t n = 0;
	struct out o = { .file = open_memstream(&text, &n) };
	struct out_progress p = { .rounds = 2 };

	if (o.file == NULL || abresult_add_arm(&r, "off", "a \"b\"") < 0 ||
	    abresult_add_arm(&r, "on", "") < 0)
		exit(1);
	out_json_arms.start(&o, &r);
	for (uint32_t i = 0; i < 4; i++) {
		struct abresult_run run = { .round = i / 2,
					    .arm = i % 2,
					    .counted = true };

		abresult_set(&run, ABRESULT_RATE, 1e9 / (3 + i));
		abresult_set(&run, ABRESULT_LOSS, i);
		if (abresult_add(&r, &run) < 0)
			exit(1);
		out_json_arms.run(&o, &r, &p);
	}
	out_json_arms.summary(&o, &r);
	fclose(o.file);
	write_seed("abread", "json", NULL, 0, (const uint8_t *)text, n);
	write_seed("abread", "csv", (const uint8_t *)rows, sizeof(rows) - 1,
		   (const uint8_t *)rows, sizeof(rows) - 1);
	free(text);
	abresult_free(&r);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: seeds DIR\n", stderr);
		return 1;
	}
	dir = argv[1];
	write_headers();
	write_blocks();
	write_tests();
	write_courses();
	write_experiments();
	return 0;
}
