#!/usr/bin/env python3
"""The captured exchanges of iperf 2 releases, from tests/golden/wire_vectors.h,
played against our server and our client; prints what came back as NAME=VALUE.

    replay.py client HOST NAME...   plays of PLAYS, one after the other
    replay.py server SPEC...        udp,PORT,VECTOR or tcp,PORT,VECTOR,WISH,AMOUNT,
                                    each for one test"""

import pathlib
import re
import socket
import struct
import sys
import threading
import time

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "wire_vectors.h"
VECTORS = {
    name: bytes(int(b, 16) for b in re.findall(r"0x([0-9a-f]{2})", body))
    for name, body in re.findall(
        r"uint8_t (tv\d+)\[\] = \{(.*?)\};", GOLDEN.read_text(), re.S
    )
}
DIGITS = b"0123456789" * 7000
SIZE = 1470
LIMIT = 10  # seconds, for everything


def tell(who, **figures):
    words = [f"{name}={value}" for name, value in figures.items()]
    print(who, *words, "", flush=True)


def words(p, at, form=">I"):
    return struct.unpack_from(form, p, at)[0]


def patch(p, **fields):
    """A header with other values at some offsets, named by where they are."""
    p = bytearray(p)
    for name, value in fields.items():
        struct.pack_into(">I", p, int(name[2:]), value & 0xFFFFFFFF)
    return bytes(p)


def datagram(vector, number, legacy, size=SIZE):
    """One of that client: its header, with another number and time."""
    now = time.time_ns() // 1000
    p = patch(vector, at0=number, at4=now // 1000000, at8=now % 1000000)
    if not legacy:
        p = patch(p, at12=number >> 32)
        p = p.ljust(160, b"\0")
    return (p + DIGITS)[:size]


# --- a client ------------------------------------------------------------------


def udp_ledger(host, vector, legacy, numbers):
    """Sends these numbers, the last one the end marker; what the report says."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((host, 5001))
    s.settimeout(LIMIT)
    for number in numbers:
        s.send(datagram(vector, number, legacy))
        time.sleep(0.002)
    first = s.recv(4096)
    # clients of 2.2 count on when no report comes in 10 ms
    s.send(datagram(vector, numbers[-1] - (not legacy), legacy))
    again = s.recv(4096)
    at = 12 if legacy else 16
    return dict(
        flags=f"{words(first, at):08x}",
        bytes=words(first, at + 8),
        lost=words(first, at + 20),
        late=words(first, at + 24),
        total=words(first, at + 28),
        same=int(first[at:] == again[at:]),
        long=len(first),
    )


def udp_back(host, vector, legacy, report):
    """-d or -r: also takes what the server sends to a port, which is as much as
    the captured report is about, and answers with that."""
    back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    back.bind(("", 0))
    back.settimeout(LIMIT)
    at = 12 if legacy else 16
    vector = patch(vector, **{f"at{at + 8}": back.getsockname()[1]})
    vector = patch(vector, **{f"at{at + 20}": words(report, at + 8)})
    vector = patch(vector, **{f"at{at + (16 if legacy else 48)}": 4000000})
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((host, 5001))
    s.settimeout(LIMIT)
    first = 0 if legacy else 1
    for number in range(first, first + 10):
        s.send(datagram(vector, number, legacy))
        time.sleep(0.01)
    s.send(datagram(vector, -(first + 10), legacy))
    s.recv(4096)
    return received(back, legacy, report)


def udp_asks(host, vector, ms, forward):
    """-R, and --full-duplex with forward: the server sends to the same socket."""
    vector = patch(vector, at36=-(ms // 10))
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((host, 5001))
    s.settimeout(0.01)
    for number in range(1, 100):
        if forward and number > 10:
            break
        # a client that only asks has one number
        s.send(datagram(vector, number if forward else 1, False))
        try:
            s.recv(1, socket.MSG_PEEK)
            if not forward:
                break
        except TimeoutError:
            pass
    s.settimeout(LIMIT)
    if forward:
        s.send(datagram(vector, -11, False))
    return received(s, False, None)


def received(s, legacy, report):
    """What comes to a socket, up to the end marker, which report answers."""
    numbers, sizes, begun = [], set(), None
    while True:
        p, peer = s.recvfrom(4096)
        begun = begun or time.monotonic()
        number = words(p, 0, ">i")
        if number < 0:
            break
        numbers.append(number)
        sizes.add(len(p))
    took = time.monotonic() - begun
    if report:
        s.sendto(p[:12] + report[12:] if legacy else report, peer)
    first = numbers[0]
    return dict(
        first=first,
        ordered=int(numbers == list(range(first, first + len(numbers)))),
        marker=-number - first - len(numbers),
        sizes=",".join(map(str, sizes)),
        w16=f"{words(p, 16):08x}",
        kbits=round(len(numbers) * max(sizes) * 8 / took / 1000),
    )


def tcp_end(s, count):
    """Counts what comes until the peer ends."""
    while more := s.recv(1 << 16):
        count += len(more)
    return count


def tcp(host, vector, total, back=False, reads=0, slow=False):
    """Sends a header and data up to total; back: takes a connection to the port
    of -d and -r; slow: reads nothing for some time."""
    if back:
        listener = socket.socket()
        listener.bind(("", 0))
        listener.listen()
        listener.settimeout(LIMIT)
        vector = patch(vector, at8=listener.getsockname()[1])
    s = socket.socket()
    s.settimeout(LIMIT)
    if slow:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    s.connect((host, 5001))
    s.sendall(vector)
    answer = s.recv(reads, socket.MSG_WAITALL) if reads else b""
    left = total - len(vector)
    while left > 0:
        left -= s.send(DIGITS[:left])
    s.shutdown(socket.SHUT_WR)
    time.sleep(0.4 if slow else 0)
    came = 0
    if back:
        other = listener.accept()[0]
        other.settimeout(LIMIT)
        came = tcp_end(other, 0)
        other.close()
    rest = tcp_end(s, 0)
    return dict(answer=answer[:8].hex() or "-", rest=rest, back=came)


# --- a server ------------------------------------------------------------------


def header(p, at):
    """The words of a client header that follow from its options."""
    fields = {"flags": f"{words(p, at):08x}", "amount": words(p, at + 20, ">i")}
    if words(p, at) & 0x40000000:
        fields["upper"] = f"{words(p, at + 32, '>H'):04x}"
    return fields


def serve_udp(s, port, vector):
    """Answers the first end marker with a report."""
    legacy = vector in ("tv20", "tv29")
    report = VECTORS[vector]
    count, told = 0, None
    while True:
        p, peer = s.recvfrom(1 << 16)
        told = told or p
        if words(p, 0, ">i") < 0:
            break
        count += 1
    s.sendto(p[:12] + report[12:] if legacy else report, peer)
    marker = words(p, 0, ">i")
    tell(port, datagrams=count, marker=marker, **header(told, 12 if legacy else 16))


def read_header(c):
    p = c.recv(24, socket.MSG_WAITALL)
    if words(p, 0) & 0x40000000:
        p += c.recv(36, socket.MSG_WAITALL)
    return p


def serve_tcp(listener, port, ack, wish, amount):
    """One test: ack goes out behind the header; wish is what the server sends:
    "none", "same" over the connection, "now" or "after" over one of its own."""
    c, peer = listener.accept()
    c.settimeout(LIMIT)
    p = read_header(c)
    c.sendall(VECTORS.get(ack, b""))

    def send(to):
        left = int(amount)
        while left > 0:
            left -= to.send(DIGITS[:left])
        to.shutdown(socket.SHUT_WR)

    def back():
        to = socket.create_connection((peer[0], words(p, 8)))
        send(to)
        tcp_end(to, 0)

    sender = threading.Thread(target=back if wish != "same" else lambda: send(c))
    if wish in ("same", "now"):
        sender.start()
    count = tcp_end(c, len(p))
    time.sleep(0.016)
    if wish == "same":
        sender.join()
    c.close()
    if wish == "after":
        sender.start()
    if wish in ("now", "after"):
        sender.join()
    tell(port, bytes=count, long=len(p), **header(p, 0))


def serve(specs):
    threads = []
    for spec in specs:
        kind, port, *rest = spec.split(",")
        udp = kind == "udp"
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
        s.bind(("", int(port)))
        if not udp:
            s.listen()
        s.settimeout(3 * LIMIT)
        target = serve_udp if udp else serve_tcp
        threads.append(threading.Thread(target=target, args=(s, port, *rest), daemon=True))
        threads[-1].start()
    print("listening", flush=True)
    for thread in threads:
        thread.join()


v = VECTORS
PLAYS = {
    # clients of 2.0.2
    "udp-2.0": lambda host: udp_ledger(host, v["tv18"], True, [0, 1, 5, 2, 6, -7]),
    "udp-d-2.0": lambda host: udp_back(host, v["tv36"], True, v["tv20"]),
    "tcp-2.0": lambda host: tcp(host, v["tv01"], 24 + 262144),
    "tcp-d-2.0": lambda host: tcp(host, patch(v["tv06"], at20=-30), 24 + 100000, back=True),
    "tcp-r-2.0": lambda host: tcp(host, patch(v["tv09"], at20=-30), 24 + 100000, back=True),
    # clients of 2.2
    "udp-2.2": lambda host: udp_ledger(host, v["tv24"], False, [1, 2, 6, 3, 7, -8]),
    "udp-d-2.2": lambda host: udp_back(host, v["tv38"], False, v["tv26"]),
    "udp-r-2.2": lambda host: udp_back(host, v["tv39"], False, v["tv26"]),
    "udp-R-2.2": lambda host: udp_asks(host, v["tv41"], 300, False),
    "udp-fd-2.2": lambda host: udp_asks(host, v["tv46"], 300, True),
    "tcp-2.2": lambda host: tcp(host, v["tv03"], 262144, reads=28),
    "tcp-d-2.2": lambda host: tcp(host, v["tv08"], 524288, back=True, reads=28),
    "tcp-r-2.2": lambda host: tcp(host, v["tv10"], 524288, back=True, reads=28),
    "tcp-R-2.2": lambda host: tcp(host, v["tv13"], 64),
    "tcp-R-slow": lambda host: tcp(host, patch(v["tv13"], at20=40000), 64, slow=True),
    "tcp-fd-2.2": lambda host: tcp(host, patch(v["tv15"], at20=300000), 300000),
    "tcp-RX-2.2": lambda host: tcp(host, v["tv17"], 64, reads=28),
}
if sys.argv[1] == "server":
    serve(sys.argv[2:])
else:
    for name in sys.argv[3:]:
        tell(name, **PLAYS[name](sys.argv[2]))
