#!/usr/bin/env python3
"""What a capture says about one UDP test: truth.py CAPTURE [STREAM [FIRST]]

CAPTURE is a file of tcpdump with the datagrams of one direction, Ethernet, best
with --time-stamp-precision=nano.
STREAM counts the senders in it, from 1, in the order of their first datagram.
FIRST is the number that this kind of client begins with, 0 or 1; one that
begins with 1 gives its end marker the last number, so it counts.

Prints NAME=VALUE lines.  Everything is worked out afterwards from the whole
list of arrivals, by the definitions and not by the steps of a receiver:

    data            datagrams seen, with copies, without end markers
    received        numbers that came, and in time
    lost            numbers that did not
    late            received after a higher number, before given up for lost
    too_late        came, but after they were given up for lost
    duplicates      arrivals of a number that had come before
    gaps, longest   runs of lost numbers; numbers in the longest one
    jitter_ms       RFC 3550 6.4.1 after the last one received, in the order of
                    arrival; jitter_mean_ms and jitter_max_ms over all received
    delay_ms_*      above the lowest one (RFC 5481), nearest rank
    gap_ms_*        between one datagram and the next where the capture is
"""

import struct
import sys

LATE_AFTER_NS = 100_000_000
QUANTILES = (("p50", 500), ("p99", 990), ("p99_9", 999))  # per mille
MAGICS = {  # byte order, nanoseconds of one unit of the second time field
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
ETHERNET = 1
UDP = 17


def packets(path):
    """(time in ns, frame) of each whole packet; the file may still grow."""
    with open(path, "rb") as f:
        dump = f.read()
    if len(dump) < 24:
        return
    order, unit_ns = MAGICS[dump[:4]]
    if struct.unpack_from(order + "I", dump, 20)[0] != ETHERNET:
        sys.exit("not a capture of Ethernet frames")
    at = 24
    while at + 16 <= len(dump):
        seconds, part, length, _ = struct.unpack_from(order + "IIII", dump, at)
        at += 16
        if at + length > len(dump):
            return
        yield seconds * 10**9 + part * unit_ns, dump[at : at + length]
        at += length


def udp_payload(frame):
    """((source, destination), payload), or None where it is no UDP."""
    kind = struct.unpack_from(">H", frame, 12)[0]
    if kind == 0x0800 and frame[23] == UDP:
        udp = 14 + 4 * (frame[14] & 15)
        hosts = frame[26:30], frame[30:34]
    elif kind == 0x86DD and frame[20] == UDP:
        udp = 14 + 40
        hosts = frame[22:38], frame[38:54]
    else:
        return None
    ports = struct.unpack_from(">HH", frame, udp)
    return tuple(zip(hosts, ports)), frame[udp + 8 :]


class Datagram:
    """One with the 16 bytes of a header: number, sender's stamp, arrival."""

    def __init__(self, arrival_ns, payload):
        low, seconds, micros, high = struct.unpack_from(">IIII", payload)
        number = high << 32 | low
        self.number = number - 2**64 if number >= 2**63 else number
        self.sent_ns = seconds * 10**9 + micros * 1000
        self.arrival_ns = arrival_ns


def streams(path):
    """The datagrams of each sender."""
    found = {}
    for arrival_ns, frame in packets(path):
        udp = udp_payload(frame)
        if udp is None:
            continue
        ends, payload = udp
        if len(payload) >= 16:
            found.setdefault(ends, []).append(Datagram(arrival_ns, payload))
    return list(found.values())


def first_arrivals(data):
    first = {}
    for d in data:
        first.setdefault(d.number, d)
    return first


def missed_since(first):
    """When each number came to be missing: the first arrival of any higher one.
    Numbers above all that came are in no entry."""
    since = {}
    earliest_ns = None
    for number in range(max(first, default=-1), -1, -1):
        since[number] = earliest_ns
        if number in first:
            ns = first[number].arrival_ns
            earliest_ns = ns if earliest_ns is None else min(ns, earliest_ns)
    return since


def came_in_time(d, since_ns):
    return since_ns is None or d.arrival_ns < since_ns + LATE_AFTER_NS


def settled_ns(number, first, since):
    """When it was known what became of this number; None: not by itself."""
    since_ns = since.get(number)
    given_up_ns = None if since_ns is None else since_ns + LATE_AFTER_NS
    if number not in first:
        return given_up_ns
    came_ns = first[number].arrival_ns
    return came_ns if given_up_ns is None else min(came_ns, given_up_ns)


def end_of_test(numbers, data, marker_ns):
    """The report is fixed when the marker came and nothing is missing any more,
    but not later than so long after it."""
    limit_ns = marker_ns + LATE_AFTER_NS
    first = first_arrivals(d for d in data if d.arrival_ns < limit_ns)
    since = missed_since(first)
    end_ns = marker_ns
    for number in numbers:
        ns = settled_ns(number, first, since)
        end_ns = max(end_ns, limit_ns if ns is None else min(ns, limit_ns))
    return end_ns


def runs(numbers):
    """Lengths of the runs of successive numbers."""
    lengths = []
    before = None
    for number in sorted(numbers):
        if before is not None and number == before + 1:
            lengths[-1] += 1
        else:
            lengths.append(1)
        before = number
    return lengths


def ledger(stream, first_number):
    """(figures, datagrams received in the order of their arrival)"""
    markers = [d for d in stream if d.number < 0]
    data = [d for d in stream if d.number >= 0]
    figures = {"data": len(data), "markers": len(markers)}
    if not markers:
        return figures, []
    total = -markers[0].number
    if first_number == 1:
        last = Datagram.__new__(Datagram)
        last.__dict__.update(markers[0].__dict__, number=total)
        data = sorted(data + [last], key=lambda d: d.arrival_ns)
        total += 1
    numbers = range(first_number, total)
    end_ns = end_of_test(numbers, data, markers[0].arrival_ns)
    data = [d for d in data if d.arrival_ns <= end_ns]
    first = first_arrivals(data)
    since = missed_since(first)
    received = {n: d for n, d in first.items() if came_in_time(d, since[n])}
    late = [n for n, d in received.items() if since[n] and since[n] < d.arrival_ns]
    lost = [n for n in numbers if n not in received]
    lengths = runs(lost)
    figures.update(
        received=len(received),
        lost=len(lost),
        late=len(late),
        too_late=len(first) - len(received),
        duplicates=len(data) - len(first),
        gaps=len(lengths),
        longest=max(lengths, default=0),
    )
    return figures, sorted(received.values(), key=lambda d: d.arrival_ns)


def jitter(received):
    """J after each datagram, ms; 0 after the first one."""
    j, steps = 0.0, []
    before_ns = None
    for d in received:
        transit_ns = d.arrival_ns - d.sent_ns
        if before_ns is not None:
            j += (abs(transit_ns - before_ns) - j) / 16
        before_ns = transit_ns
        steps.append(j / 1e6)
    return {
        "jitter_ms": steps[-1],
        "jitter_mean_ms": sum(steps) / len(steps),
        "jitter_max_ms": max(steps),
    }


def distribution(name, values_ns):
    """Mean, quantiles by the nearest rank, largest; in ms."""
    ordered = sorted(values_ns)
    n = len(ordered)
    figures = {name + "mean": sum(ordered) / n / 1e6}
    for quantile, mille in QUANTILES:
        figures[name + quantile] = ordered[(n * mille + 999) // 1000 - 1] / 1e6
    figures[name + "max"] = ordered[-1] / 1e6
    return figures


def delay(received):
    transits = [d.arrival_ns - d.sent_ns for d in received]
    lowest = min(transits)
    return distribution("delay_ms_", [t - lowest for t in transits])


def gaps(stream):
    times = [d.arrival_ns for d in stream if d.number >= 0]
    between = [b - a for a, b in zip(times, times[1:])]
    return distribution("gap_ms_", between) if between else {}


def main(path, which=1, first_number=0):
    found = streams(path)
    if len(found) < which:
        return {"data": 0, "markers": 0}
    stream = found[which - 1]
    figures, received = ledger(stream, first_number)
    if received:
        figures.update(jitter(received))
        figures.update(delay(received))
    figures.update(gaps(stream))
    return figures


if __name__ == "__main__":
    for name, value in main(sys.argv[1], *map(int, sys.argv[2:])).items():
        print(f"{name}={value:.6f}" if isinstance(value, float) else f"{name}={value}")
