/*
 * check_abcsv: rows of iperf 2 and of this program become runs: one of each
 * test, whatever the version leaves out.
 */
#include "abcsv.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define WHEN "20261130221106,"
#define NO_TIME "19700101000000,"
/* from client to server, and what is relayed */
#define THERE(port) "1.1.1.1," port ",1.1.1.2,5001,"
#define BACK(port) "1.1.1.2,5001,1.1.1.1," port ","

static struct abresult result;
static char why[ABCSV_WHY_BYTES];

static const struct {
	const char *text;
	size_t runs;   /* that count */
	double rate;   /* of the last one of these */
	double loss;   /* < 0: none */
	size_t others; /* that do not count */
	bool offered;
} files[] = {
	/* a total alone; two in a row */
	{ WHEN THERE("4001") "3,0.0-1.0,1000,8000\n", 1, 8000, -1, 0, false },
	{ WHEN THERE("4001") "3,0.0-1.0,1000,8000\n"
			     "20261130221109," THERE(
				     "4002") "3,0.0-1.0,1100,8800\n",
	  2, 8800, -1, 0, false },
	/* too short for its decimals */
	{ NO_TIME THERE("4001") "1,0.0-0.0,60,6400000\n", 1, 6400000, -1, 0,
	  false },
	/* intervals before a total */
	{ WHEN THERE("4001") "3,0.0-1.0,1000,8000\n"
			     "20261130221107," THERE(
				     "4001") "3,1.0-2.0,3000,24000\n"
					     "20261130221107," THERE(
						     "4001") "3,0.0-2.0,4000,"
							     "16000\n",
	  1, 16000, -1, 0, false },
	/* an interval that is all of the test, which may be told a bit later,
	 * or with 2.2 by its start, and of other bytes */
	{ WHEN THERE("4001") "3,0.0-1.0,1000,8000\n" WHEN THERE(
		  "4001") "3,0.0-1.0,1000,8000\r\n",
	  1, 8000, -1, 0, false },
	{ WHEN THERE("4001") "3,0.0-9.0,1000,8000\n"
			     "20261130221057," THERE(
				     "4001") "3,0.0-9.0,1010,8100\n",
	  1, 8100, -1, 0, false },
	/* tests from one port, in turn */
	{ WHEN THERE("4001") "3,0.0-4.0,1000,8000\n"
			     "20261130221111," THERE(
				     "4001") "3,0.0-4.0,1010,8100\n",
	  2, 8100, -1, 0, false },
	/* streams and their sum */
	{ WHEN THERE("4001") "3,0.0-1.0,1000,8000\n" WHEN
		  THERE("4002") "4,0.0-1.0,1000,8000\n" WHEN THERE(
			  "0") "-1,0.0-1.0,2000,16000\n",
	  1, 16000, -1, 0, false },
	/* two tests of two streams without a sum, as 2.1.8 writes them: 0.5 s
	 * and 0.8 s for 100 + 100 bytes */
	{ NO_TIME THERE("4001") "2,0.0-0.5,100,1600\n" NO_TIME THERE(
		  "4002") "1,0.0-0.8,100,1000\n" NO_TIME
		  THERE("4003") "1,0.0-0.5,100,1600\n" NO_TIME THERE(
			  "4004") "2,0.0-0.8,100,1000\n",
	  2, 2000, -1, 0, false },
	/* a server of 2.0 has other IDs as its streams overlap, and writes sums
	 * where they are of one test */
	{ WHEN BACK("4001") "4,0.0-1.0,1000,8000\n"
			    "20261130221109," BACK(
				    "4002") "5,0.0-1.0,1000,8000\n"
					    "20261130221119," BACK(
						    "4003") "4,0.0-1.0,1000,"
							    "8000\n",
	  3, 8000, -1, 0, false },
	/* IDs of a server of 2.1 never come again: times tell its tests */
	{ WHEN THERE("4001") "1,0.0-5.0,1000,1600\n"
			     "20261130221107," THERE(
				     "4002") "2,0.0-5.0,1000,1600\n"
					     "20261130221117," THERE(
						     "4003") "3,0.0-5.0,1000,"
							     "1600\n",
	  2, 1600, -1, 0, false },
	/* a sender's row and the server's */
	{ WHEN THERE("4001") "3,0.0-2.0,1000,4000\n" WHEN BACK(
		  "4001") "3,0.0-2.0,900,3600,0.010,10,100,10.000,0\n",
	  1, 3600, 10, 0, false },
	/* two streams, their sum as sent, and the server's rows */
	{ WHEN THERE("4001") "3,0.0-2.0,1000,4000\n" WHEN THERE(
		  "4002") "4,0.0-2.0,1000,4000\n" WHEN
		  THERE("0") "-1,0.0-2.0,2000,8000\n" WHEN BACK(
			  "4001") "3,0.0-2.0,900,3600,0.010,10,100,10.000,"
				  "0\n" WHEN BACK(
					  "4002") "4,0.0-2.0,800,3200,0."
						  "010,20,100,20.000,0\n",
	  1, 6800, 15, 0, false },
	/* the second test has no report */
	{ WHEN THERE("4001") "3,0.0-2.0,1000,4000\n" WHEN BACK(
		  "4001") "3,0.0-2.0,900,3600,0.010,10,100,10.000,0\n"
			  "20261130221116," THERE(
				  "4002") "3,0.0-2.0,1000,4000\n",
	  1, 3600, 10, 1, false },
	/* 2.1.8 has no row of the server; its intervals know no loss */
	{ WHEN THERE("4001") "1,0.0-1.0,980,7840,0.000,0,98,0.000,0\n" WHEN
		  THERE("4001") "1,0.0-1.0,1000,8000,0.000,0,-1,-0.000,0\n",
	  1, 8000, -1, 0, true },
	{ NO_TIME THERE("4001") "1,0.0-1.0,1000,8000,-nan,0,-1,-0.000,0\n", 1,
	  8000, -1, 0, true },
	/* with -e, of 2.2 */
	{ "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,"
	  "bytes,speed,writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,"
	  "tcprttvar\n"
	  "+0000:20261201095417.800891," THERE(
		  "4001") "3,0.0,0.5,1000,16000,9,0,7,1,1,7,7\n",
	  1, 16000, -1, 0, false },
	{ "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,"
	  "bytes,speed,jitter,errors,datagrams,errpercent,outoforder,readcnt\n"
	  "+0000:20261201095417.800891," THERE(
		  "4001") "3,0.0,0.5,1000,16000,,,100,,,9\n"
			  "+0000:20261201095417.800891," BACK(
				  "4001") "3,0.0,0.5,900,14400,0.003,10,100,10."
					  "000,0,9\n",
	  1, 14400, 10, 0, false },
};

START_TEST(takes_a_run_of_each_test)
{
	size_t runs = 0;

	result = (struct abresult){ .setup.confidence = 0.95 };
	ck_assert_msg(abcsv_read(&result, "a", files[_i].text,
				 strlen(files[_i].text), why) == 0,
		      "%s", why);
	ck_assert(result.setup.unpaired);
	ck_assert(result.setup.offered == files[_i].offered);
	for (size_t i = 0; i < result.n_runs; i++) {
		const struct abresult_run *run = &result.run[i];

		ck_assert(run->counted == (run->marks == 0));
		if (!run->counted || ++runs < files[_i].runs)
			continue;
		ck_assert_double_eq(run->value[ABRESULT_RATE], files[_i].rate);
		ck_assert(abresult_has(run, ABRESULT_LOSS) ==
			  (files[_i].loss >= 0));
		if (files[_i].loss >= 0)
			ck_assert_double_eq(run->value[ABRESULT_LOSS],
					    files[_i].loss);
	}
	ck_assert_uint_eq(runs, files[_i].runs);
	ck_assert_uint_eq(result.n_runs - runs, files[_i].others);
	abresult_free(&result);
}
END_TEST

#define NO_TELLING                                                             \
	"line 2: tests of one stream, or streams of one test? IDs, times and " \
	"sums do not tell"

START_TEST(refuses_rows_that_are_none)
{
	static const struct {
		const char *text;
		const char *why;
	} rows[] = {
		{ "", "no total of a test in it" },
		{ "hello\n", "line 1: no total of a test in it" },
		{ "1,2,3\n", "line 1: not a row of -y C" },
		{ "1,2,3,4,5,6,0.0-1.0,8,9\n", "line 1: not a row of -y C" },
		{ WHEN "2,3,4,5,6,0.0,8,9\n", "line 1: not a row of -y C" },
		{ WHEN "2,3,4,5,6,2.0-1.0,8,9\n", "line 1: not a row of -y C" },
		{ WHEN "2,3,4,5,6,0.0-1.0,x,9\n", "line 1: not a row of -y C" },
		{ WHEN "2,3,4,5,6,0.0,1.0,8\n", "line 1: not a row of -y C" },
		{ "+0000:\n", "line 1: not a row of -y C" },
		{ NO_TIME THERE("4001") "1,0.0-9.0,1000,8000\n" NO_TIME THERE(
			  "4002") "2,0.0-9.0,1000,8000\n",
		  NO_TELLING },
		{ WHEN THERE("4001") "1,0.0-1.0,1000,8000\n" WHEN THERE(
			  "4002") "2,0.0-1.0,1000,8000\n",
		  NO_TELLING },
	};

	for (int i = 0; i < COUNT(rows); i++) {
		result = (struct abresult){ .n_runs = 0 };
		ck_assert_int_eq(abcsv_read(&result, "a", rows[i].text,
					    strlen(rows[i].text), why),
				 -EINVAL);
		ck_assert_str_eq(why, rows[i].why);
		abresult_free(&result);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("abcsv");
	TCase *t = tcase_create("files");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, takes_a_run_of_each_test, 0, COUNT(files));
	tcase_add_test(t, refuses_rows_that_are_none);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
