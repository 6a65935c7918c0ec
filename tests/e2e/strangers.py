#!/usr/bin/env python3
"""What comes to a server that stands open: strangers.py MODE SERVER [SEED]

Each mode ends by itself; "N strangers" tells how many came.  They send no
faster than a busy host can read, so that what is lost is not their doing.

    udp-random   datagrams of 0 to 65507 random bytes, many of them stamped as
                 iperf's are
    udp-headers  well-formed datagrams with hostile values, cut at 0 to 76 bytes
    tcp-random   random streams, and the beginnings of headers
    tcp-headers  client headers with hostile values, cut at 0 to 60 bytes
    tcp-slow     a byte a second
    tcp-half     SYNs from addresses that never answer
    tcp-idle     1000 connections that say nothing, for three seconds
    talk         HTTP, TLS, SSH, an iperf3 cookie
    scan         connections to many ports, closed at once
"""

import itertools
import random
import socket
import struct
import sys
import time

mode, server = sys.argv[1:3]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(100000)
rng = random.Random(seed)
PORT = 5001
PACE_S = 0.0005

# edges of 8, 16, 31, 32, 63 and 64 bits
EDGES_32 = (0, 1, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
            0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
EDGES_64 = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000,
            2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1)
EXT, SEQ64, V1, V2, KEY, LEN, BB, STT = (
    0x40000000, 0x08000000, 0x80000000, 0x04000000, 0x10000000, 0x00010000,
    0x00800000, 0x00020000)


def client_header():
    """Flags that mean something, all else at an edge."""
    flags = rng.choice((0, EXT, EXT | SEQ64, V1, V1 | 1, EXT | KEY, EXT | V2,
                        EXT | SEQ64 | LEN | rng.randrange(256) << 1, BB,
                        EXT | LEN | KEY | rng.randrange(256) << 1, STT,
                        rng.getrandbits(32)))
    words = [rng.choice(EDGES_32) for _ in range(14)]
    if rng.random() < 0.5:  # as if of ours, so that all of it is believed
        words[8:10] = MARK
    return struct.pack(">15I", flags, *words)


def datagram():
    now = time.time()
    second = rng.choice((int(now), 0, 1, 0x7FFFFFFF, 0xFFFFFFFF))
    micro = rng.choice((0, 1, 999999, 999999, 1000000, 0xFFFFFFFF))
    number = rng.choice(EDGES_64)
    head = struct.pack(">III", number & 0xFFFFFFFF, second, micro)
    if rng.random() < 0.6:  # the layout with numbers of 64 bits
        head += struct.pack(">I", number >> 32)
    return head + client_header()


def udp_sockets(n):
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
               for _ in range(n)]
    for s in sockets:
        s.connect((server, PORT))
    return sockets


def udp(make, count, ports):
    sockets = itertools.cycle(udp_sockets(ports))
    for data, s in zip([make(i) for i in range(count)], sockets):
        try:
            s.send(data)
        except ConnectionRefusedError:
            sys.exit("the server is gone")
        time.sleep(PACE_S)
    return ports


def random_datagram(i):
    # mostly small: what waits to be read must stay small, too
    top = 65507 if i % 20 == 0 else 2000
    data = rng.randbytes(rng.randrange(top + 1) if i % 3 else i % 80)
    if i % 2 and len(data) >= 16:
        stamp = struct.pack(">II", int(time.time()), rng.randrange(10**6))
        data = data[:4] + stamp + data[12:]
    return data


def udp_random():
    return udp(random_datagram, 3000, 300)


def udp_headers():
    # two or three of each, so that it becomes a test
    return udp(lambda i: datagram()[:rng.choice((76, 76, 76, i % 77))], 3000,
               1200)


def connect():
    s = socket.create_connection((server, PORT), 5)
    s.settimeout(0.05)
    return s


def say(data):
    """One connection, an answer that may come, its end."""
    with connect() as s:
        try:
            s.sendall(data)
            s.recv(4096)
        except OSError:
            pass


def tcp(make, count):
    for i in range(count):
        say(make(i))
    return count


def tcp_random():
    return tcp(lambda i: rng.randbytes(rng.choice((1, 3, 4, 24, 60, 37, 5000))),
               60)


def tcp_headers():
    return tcp(lambda i: client_header()[:rng.choice((60, 60, 24, i % 61))]
               + rng.randbytes(rng.choice((0, 0, 100))), 80)


def tcp_slow():
    slow = [(connect(), rng.choice((client_header(), rng.randbytes(60), b"GET /",
                                    b"0123456789")))
            for _ in range(60)]
    for i in range(4):
        for s, data in slow:
            try:
                s.send(data[i:i + 1])
            except OSError:  # the server need not wait for it
                pass
        time.sleep(1)
    return len(slow)


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp_half():
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    to = socket.inet_aton(server)
    for i in range(600):
        # addresses of the server's own network that nobody has
        source = to[:3] + bytes((100 + i % 100,))
        head = struct.pack(">HHIIBBHHH", 1024 + i, PORT, rng.getrandbits(32), 0,
                           0x50, 2, 1024, 0, 0)
        pseudo = source + to + struct.pack(">HH", 6, len(head))
        head = head[:16] + struct.pack(">H", checksum(pseudo + head)) + head[18:]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 0, 0, 0, 64, 6, 0) + source + to
        raw.sendto(ip + head, (server, 0))
        time.sleep(PACE_S)
    return 600


def tcp_idle():
    idle = [connect() for _ in range(1000)]
    time.sleep(3)
    return len(idle)


def talk():
    for data in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"SSH-2.0-x\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
                 b"abcdefghijklmnopqrstuvwxyz234567abcd\0"):
        say(data)
    return 4


def scan():
    ports = list(range(4901, 5101))
    rng.shuffle(ports)
    for port in ports:
        with socket.socket() as s:
            s.settimeout(1)
            s.connect_ex((server, port))
    return 1


# major and minor, release and kind with the mark of one of ours
MARK = (0x00020002, 0x00011FE3)
modes = {name.replace("_", "-"): run for name, run in globals().items()
         if name.split("_")[0] in ("udp", "tcp", "talk", "scan") and callable(run)}
print(f"{mode}: seed {seed}", flush=True)
print(f"{modes[mode]()} strangers", flush=True)
