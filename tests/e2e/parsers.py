"""Reads our text as public scripts read that of iperf 2; called with the folder
that holds NAME.client and NAME.server.  T1 to T16 are kinds of readers: each
function says what it stands for."""

import pathlib
import re
import sys

DIR = pathlib.Path(sys.argv[1])
RUNS = ("tcp", "tcp4", "udp", "udp4", "lossy")
ENDS = ("client", "server")
ROW = re.compile(
    r"^\[ *(\d+|SUM) *\] *(\d+\.\d+) *- *(\d+\.\d+) sec +([\d.]+) ([PTGMK]?)Bytes"
    r" +([\d.]+) ([PTGMK]?)bits/sec(?: +([\d.]+) ms +(\d+)/ *(\d+) \(([\d.]+)%\))?$"
)


def text(run, end):
    return (DIR / f"{run}.{end}").read_text()


def lines(run, end):
    return text(run, end).splitlines()


def rows(run, end):
    return [m for m in map(ROW.match, lines(run, end)) if m]


def everything():
    return [(run, end) for run in RUNS for end in ENDS]


def last_rate_is_the_total():
    """T1: the last 'number, one blank, word/sec' of the whole output."""
    for run, end in everything():
        found = re.findall(r"([\d.]+ \w+/sec)", text(run, end))
        total = rows(run, end)[-1]
        assert found[-1] == f"{total[6]} {total[7]}bits/sec", (run, end, found[-1])


def every_row_is_a_row():
    """T3, T7: a row pattern finds each line that has a rate."""
    for run, end in everything():
        for line in lines(run, end):
            if "/sec" in line:
                assert ROW.match(line), (run, end, line)
    for run in ("udp", "udp4", "lossy"):
        assert all(row[8] for row in rows(run, "server")), run


def window_size():
    """T4: the size in the banner, with what was requested."""
    pattern = r"TCP window size: *([\d.]+) ([KMG]?)Byte(?: \(WARNING: *requested +([\d.]+) ([KMG]?)Byte\))?"
    found = re.search(pattern, text("tcp", "client"))
    assert found and found[3] == "64.0" and found[4] == "K", found
    assert re.search(pattern, text("tcp", "server"))


def mss_line():
    """T5: MSS with -m at both ends."""
    for end in ENDS:
        assert re.search(r"MSS size \d+ bytes \(MTU \d+ bytes", text("tcp", end)), end


def final_times_are_equal():
    """T6: rows grouped by the text of their times; the longest is the total."""
    for run in ("tcp4", "udp4"):
        groups = {}
        for row in rows(run, "client"):
            if not row[8]:
                groups.setdefault((row[2], row[3]), []).append(row[1])
        longest = max(groups, key=lambda g: float(g[1]) - float(g[0]))
        for times, ids in groups.items():
            assert len(ids) == 5 and ids.count("SUM") == 1, (run, times, ids)
        assert longest[0] == "0.0", (run, longest)


def headers_and_no_failure_words():
    """T7: the header line; no word that means a failure."""
    for run, end in everything():
        assert re.search(r"^\[ ID\] Interval +Transfer +Bandwidth", text(run, end), re.M)
        assert not re.search(r"failed|error|iperf:", text(run, end)), (run, end)


def whole_megabits():
    """T9: the last line with -f m has a number before Mbits/sec."""
    rated = [l for l in lines("tcp", "client") if "/sec" in l][-1]
    assert re.search(r"(\d+) Mbits/sec$", rated), rated


def fields_of_a_row():
    """T10: awk's fields, after '- ' became '-': transfer, unit, rate, unit."""
    for run, end in everything():
        for line in lines(run, end):
            if "/sec" not in line or "SUM" in line:
                continue
            field = line.replace("- ", "-").split()
            assert field[0] == "[" and field[3] == "sec", line
            assert float(field[4]) >= 0 and float(field[6]) >= 0, line
            assert field[5].endswith("Bytes") and field[7].endswith("bits/sec"), line


def loss_in_one_or_two_fields():
    """T11: lost/total as one field, or lost/ and total."""
    for run in ("udp", "lossy"):
        for end in ENDS:
            line = [l for l in lines(run, end) if " ms " in l][-1]
            field = line.split(" ms ")[1].split()
            lost, total = "".join(field[:-1]).split("/")
            assert 0 <= int(lost) < int(total), line


def last_line_with_bytes():
    """T12: the last line with 'Bytes', its slash a blank, split."""
    for run, end in everything():
        line = [l for l in lines(run, end) if "Bytes" in l][-1]
        field = line.replace("/", " ").split()
        assert "sec" in field and float(field[field.index("sec") + 1]) > 0, line


def decimals_by_position():
    """T13: lines with ' sec ' and '/sec'; transfer is the first number after."""
    for run, end in everything():
        for line in lines(run, end):
            if " sec " in line and "/sec" in line and "out-of-order" not in line:
                number = re.findall(r"\d+\.?\d*", line.split(" sec ")[1])
                assert len(number) in (2, 6) or line.startswith("[SUM]"), line


def sums():
    """T14: 'grep SUM | tail -1' is the sum; without it streams alone stay."""
    for run in ("tcp4", "udp4"):
        found = [l for l in lines(run, "client") if "SUM" in l]
        assert ROW.match(found[-1]) and found[-1].startswith("[SUM]"), found[-1]
        assert float(ROW.match(found[-1])[2]) == 0.0
        streams = [r for r in rows(run, "client") if r[1] != "SUM"]
        assert len({r[1] for r in streams}) == 4
    for run in ("tcp", "udp"):
        assert "SUM" not in text(run, "client") + text(run, "server")


def server_report_on_the_next_line():
    """T15: the row comes on the line after 'Server Report:'."""
    for run, count in (("udp", 1), ("udp4", 4), ("lossy", 1)):
        all_lines = lines(run, "client")
        at = [i for i, l in enumerate(all_lines) if l.endswith("Server Report:")]
        assert len(at) == count, (run, at)
        for i in at:
            assert ROW.match(all_lines[i + 1])[8], all_lines[i + 1]


def loss_percentage():
    """T16: a number before '%)', and the right one."""
    for run, end in everything():
        for found in re.findall(r"\(([^()]*)%\)", text(run, end)):
            assert re.fullmatch(r"\d+(\.\d+)?", found), found
    row = rows("lossy", "server")[-1]
    wanted = "%.2g" % (100 * int(row[9]) / int(row[10]))
    assert row[11] == wanted, (row[0], wanted)


def no_trailing_noise():
    """The last row of a stream is its total, of the whole time."""
    for run, end in everything():
        assert float(rows(run, end)[-1][2]) == 0.0, (run, end)
        assert "\r" not in text(run, end) and "\n\n" not in text(run, end)


TESTS = (
    last_rate_is_the_total,
    every_row_is_a_row,
    window_size,
    mss_line,
    final_times_are_equal,
    headers_and_no_failure_words,
    whole_megabits,
    fields_of_a_row,
    loss_in_one_or_two_fields,
    last_line_with_bytes,
    decimals_by_position,
    sums,
    server_report_on_the_next_line,
    loss_percentage,
    no_trailing_noise,
)
bad = 0
for test in TESTS:
    try:
        test()
    except (AssertionError, IndexError, ValueError, TypeError) as e:
        print(f"{test.__name__}: {test.__doc__.splitlines()[0]} {type(e).__name__}: {e}")
        bad = 1
sys.exit(bad)
