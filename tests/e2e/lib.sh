# lib.sh: what the end-to-end tests share.  Each test sources it and runs in
# network namespaces of its own, so several tests can run at a time and nothing
# reaches the host's network.
#
#   namespaces              a client and a server namespace joined by a veth
#                           pair; $CLIENT_IP, $SERVER_IP, $CLIENT_IP6, $SERVER_IP6
#   start_server ARGS       ours, in the server's namespace, until it listens
#   start_peer_server ARGS  Debian's iperf likewise
#   run_client ARGS         ours, in the client's namespace, to its end
#   run_peer_client ARGS    Debian's
#   start_client ARGS       ours, in the background; its pid is $client
#   serve NAME ARGS         one of several servers; NAME.out, NAME.err
#   ask NAME ARGS           one of several clients; expect_ended tells how it ended
#   stop_server             SIGINT, waits; its exit status is in $status
#   start_relay PORT RULES  in the client's namespace, to the server's port 5001
#   stop_relay              ends it; its ledger is in relay.out
#   start_capture NS DEV FILE FILTER   tcpdump; await_truth FILE reads it
#
# Files in $T: server.out, server.err, client.out, client.err.

: "${IPERF:?is the program to test}"
TESTS=$(cd "$(dirname "$0")/.." && pwd)
PEER=${PEER:-/usr/bin/iperf}
T=$(mktemp -d)
NS_C=ipt$$c
NS_S=ipt$$s
CLIENT_IP=10.77.0.1
SERVER_IP=10.77.0.2
CLIENT_IP6=fd77::1
SERVER_IP6=fd77::2
server_pid=
pids=
export LC_ALL=C TZ=UTC PATH="$PATH:/usr/sbin:/sbin"

cleanup() {
	for pid in $pids; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	ip netns del "$NS_C" 2>/dev/null
	ip netns del "$NS_S" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP PIPE

skip() {
	echo "$*"
	exit 77
}

fail() {
	echo "FAILED: $*"
	for f in "$T"/*.out "$T"/*.err; do
		[ -s "$f" ] || continue
		echo "--- ${f##*/}"
		head -c 6000 "$f"
	done
	exit 1
}

need() { # COMMAND: skip the test where it is missing
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

namespaces() {
	[ "$(id -u)" = 0 ] || skip "network namespaces need root"
	need ip
	ip netns add "$NS_C" 2>"$T/ip" || skip "no namespaces: $(cat "$T/ip")"
	ip netns add "$NS_S" || fail "second namespace"
	ip link add vc netns "$NS_C" type veth peer name vs netns "$NS_S" ||
		fail "veth pair"
	in_client ip link set lo up
	in_server ip link set lo up
	in_client ip addr add $CLIENT_IP/24 dev vc
	in_server ip addr add $SERVER_IP/24 dev vs
	in_client ip addr add $CLIENT_IP6/64 dev vc nodad
	in_server ip addr add $SERVER_IP6/64 dev vs nodad
	in_client ip link set vc up
	in_server ip link set vs up
	# no first packet may wait for a name of its neighbour
	c_mac=$(in_client cat /sys/class/net/vc/address)
	s_mac=$(in_server cat /sys/class/net/vs/address)
	in_client ip neigh replace $SERVER_IP lladdr "$s_mac" dev vc
	in_server ip neigh replace $CLIENT_IP lladdr "$c_mac" dev vs
}

in_client() {
	ip netns exec "$NS_C" "$@"
}

in_server() {
	ip netns exec "$NS_S" "$@"
}

# background NAMESPACE COMMAND...: $! is the command itself, so a signal to it
# reaches nothing else; `pids` are ended when the test is
background() {
	ns=$1
	shift
	ip netns exec "$ns" "$@" &
	pids="$pids $!"
}

# wait_until SECONDS COMMAND...: 0 once the command succeeds
wait_until() {
	tries=$(($1 * 50))
	shift
	while ! "$@"; do
		[ $tries -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.02
	done
}

# The banner is out, whole: its second line of dashes.
says_listening() {
	[ "$(grep -c '^-----' "$1" 2>/dev/null)" -ge 2 ] &&
		grep -q 'listening on' "$1"
}

# A socket of the server's namespace stands on the port.
port_bound() { # PORT
	in_server ss -Hlntu "sport = :$1" 2>/dev/null | grep -q .
}

# launch OUT ERR COMMAND...: starts a program in the server's namespace
launch() {
	out=$1 err=$2
	shift 2
	: >"$out"
	background "$NS_S" "$@" >"$out" 2>"$err"
	server_pid=$!
}

# The port among the arguments of a server, 5001 without -p.
port_of() {
	port=5001
	while [ $# -gt 0 ]; do
		case $1 in
		-p) port=$2 ;;
		-p*) port=${1#-p} ;;
		esac
		shift
	done
	echo "$port"
}

start_server() {
	launch "$T/server.out" "$T/server.err" "$IPERF" -s "$@"
	wait_until 5 port_bound "$(port_of "$@")" || fail "no server: -s $*"
	case " $* " in
	*" --json "* | *" -y "* | *" -yC "* | *" -x "* | *" -xCS "* | *" -o "*) ;;
	*) wait_until 5 says_listening "$T/server.out" ||
		fail "no banner: -s $*" ;;
	esac
}

# serve NAME ARGS: one of several servers; its pid is in $server_pid
serve() {
	served=$1
	shift
	launch "$T/$served.out" "$T/$served.err" "$IPERF" -s "$@"
	wait_until 5 port_bound "$(port_of "$@")" &&
		wait_until 5 says_listening "$T/$served.out" ||
		fail "no server: -s $*"
}

now() { # ms
	echo $(($(date +%s%N) / 1000000))
}

# note_end NAME COMMAND...: runs it; NAME.end tells its status and when it ended
note_end() {
	noted=$1
	shift
	"$@" >"$T/$noted.out" 2>"$T/$noted.err"
	echo "$? $(now)" >"$T/$noted.end.new"
	mv "$T/$noted.end.new" "$T/$noted.end"
}

# ask NAME ARGS: one of several clients, in the background
ask() {
	asked=$1
	shift
	note_end "$asked" in_client timeout 90 "$IPERF" -c $SERVER_IP "$@" &
	pids="$pids $!"
}

# expect_ended NAME STATUS FROM TO: a client of ask ended with STATUS between
# FROM and TO ms after $begun, or ends within TO ms from now
expect_ended() {
	wait_until $(($4 / 1000 + 1)) test -e "$T/$1.end" ||
		fail "$1 does not end"
	read -r got at <"$T/$1.end"
	echo "$1: status $got after $((at - begun)) ms"
	[ "$got" = "$2" ] || fail "$1: exit status $got, not $2"
	[ $((at - begun)) -ge "$3" ] && [ $((at - begun)) -le "$4" ] ||
		fail "$1: ended after $((at - begun)) ms, not $3 to $4"
}

# Debian's iperf holds its banner back in a pipe or file: the port tells.
start_peer_server() {
	need "$PEER"
	launch "$T/server.out" "$T/server.err" stdbuf -oL "$PEER" -s "$@"
	wait_until 5 port_bound "$(port_of "$@")" || fail "no peer: -s $*"
}

# stop_server [SIGNAL]: asks the server to end and waits for it, 5 s at most
stop_server() {
	kill "-${1:-INT}" "$server_pid" 2>/dev/null
	await_server 5
}

gone() { # PID: it has ended (a zombie has)
	case $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) in
	'' | Z) return 0 ;;
	esac
	return 1
}

rss_kb() { # of the server
	awk '/^VmRSS/ { print $2 }' "/proc/$server_pid/status"
}

fds() { # of the server
	ls "/proc/$server_pid/fd" | wc -l
}

# await_server SECONDS: waits for the server's own end, takes its status
await_server() {
	wait_until "$1" gone "$server_pid" || fail "the server does not end"
	wait "$server_pid"
	status=$?
}

# The peer's UDP server may be gone or mute after its test: ended for good.
kill_server() {
	kill -INT "$server_pid" 2>/dev/null
	wait_until 3 gone "$server_pid" || kill -KILL "$server_pid" 2>/dev/null
	# how it ends is its own business
	wait "$server_pid" 2>/dev/null || :
}

run_client() {
	in_client timeout 30 "$IPERF" "$@" >"$T/client.out" 2>"$T/client.err"
	status=$?
}

start_client() {
	background "$NS_C" "$IPERF" "$@" >"$T/client.out" 2>"$T/client.err"
	client=$!
}

run_peer_client() {
	need "$PEER"
	in_client timeout 30 "$PEER" "$@" >"$T/client.out" 2>"$T/client.err"
	status=$?
}

expect_status() { # N
	[ "$status" = "$1" ] || fail "exit status $status, not $1"
}

expect_equal() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}

expect_line() { # REGEX FILE
	grep -Eq -- "$1" "$2" || fail "no line like '$1' in ${2##*/}"
}

expect_no_line() { # REGEX FILE
	! grep -Eq -- "$1" "$2" || fail "a line like '$1' in ${2##*/}"
}

expect_empty() { # FILE
	[ ! -s "$1" ] || fail "${1##*/} is not empty"
}

# expect_within WHAT GOT WANTED PERCENT
expect_within() {
	awk -v g="$2" -v w="$3" -v p="$4" 'BEGIN {
		d = g - w
		if (d < 0)
			d = -d
		exit !(g != "" && d <= w * p / 100)
	}' || fail "$1: got '$2', wanted $3 within $4 %"
}

has_lines() { # N REGEX FILE
	[ "$(grep -Ec -- "$2" "$3")" -ge "$1" ]
}

# await_lines N REGEX FILE: waits until so many lines match
await_lines() {
	wait_until 5 has_lines "$@" || fail "no $1 lines like '$2' in ${3##*/}"
}

# expect_quiet: a test that went well leaves both stderrs empty
expect_quiet() {
	expect_empty "$T/client.err"
	expect_empty "$T/server.err"
}

# csv FIELD FILE [CONDITION]: that field of the last row of which the awk
# condition holds
csv() {
	awk -F, "${3:-1} { v = \$$1 } END { print v }" "$2"
}

# csv_sum FIELD FILE [CONDITION]: the field added over those rows
csv_sum() {
	awk -F, "${3:-1} { v += \$$1 } END { printf \"%.0f\\n\", v }" "$2"
}

# stats_of FILE: "lost/total jitter" of the last row that has them, blanks out
stats_of() {
	sed -nE 's|.*  +([0-9.]+) ms +([0-9]+)/ *([0-9]+) \(.*|\2/\3 \1|p' "$1" |
		tail -1
}

# sent_of FILE: N of the last "Sent N datagrams"
sent_of() {
	sed -nE 's/.*Sent ([0-9]+) datagrams.*/\1/p' "$1" | tail -1
}

# The nftables rule of the loss tests: one data datagram of N is dropped on its
# way in.  End markers have a negative number and pass.
drop_one_of() { # N PORT
	need nft
	in_server nft -f - <<-RULES || fail "nft"
		table inet t {
			counter seen { }
			counter dropped { }
			chain input {
				type filter hook input priority 0;
				udp dport $2 @th,64,1 0 counter name seen
				udp dport $2 @th,64,1 0 numgen inc mod $1 == 50 \
					counter name dropped drop
			}
		}
	RULES
}

counter() { # NAME: packets of an nftables counter
	in_server nft list counter inet t "$1" |
		awk '/packets/ { print $2 }'
}

# start_relay PORT RULES...: what leaves it crosses the wire
start_relay() {
	[ -x "$RELAY" ] || skip "the relay is not built"
	relay_port=$1
	shift
	background "$NS_C" "$RELAY" "$relay_port" $SERVER_IP 5001 "$@" \
		>"$T/relay.out" 2>"$T/relay.err"
	relay=$!
	wait_until 5 relay_stands || fail "no relay: $*"
}

relay_stands() {
	in_client ss -Hlnu "sport = :$relay_port" | grep -q .
}

stop_relay() {
	kill -TERM "$relay"
	wait "$relay" || fail "the relay"
}

# start_capture NAMESPACE DEVICE FILE FILTER...: each packet is in the file at
# once; its pid and the rest of its output stand beside it
start_capture() {
	need tcpdump
	capture_ns=$1 device=$2 dump=$3
	shift 3
	background "$capture_ns" tcpdump -i "$device" --immediate-mode -U \
		-s 128 --time-stamp-precision=nano -w "$dump" "$@" 2>"$dump.log"
	echo $! >"$dump.pid"
	wait_until 5 grep -q 'listening on' "$dump.log" ||
		skip "tcpdump does not start"
}

# stop_capture FILE: it must have seen everything
stop_capture() {
	pid=$(cat "$1.pid")
	kill -INT "$pid"
	wait "$pid"
	grep -q '^0 packets dropped by kernel' "$1.log" ||
		fail "the capture is not whole: $(cat "$1.log")"
}

# await_truth FILE STREAM [FIRST]: what the capture says of the relay's stream,
# once all that the relay sent is in it, to $T/truth
await_truth() {
	wait_until 5 truth_is_whole "$@" || fail "not all is in the capture"
}

truth_is_whole() {
	python3 "$TESTS/e2e/truth.py" "$@" >"$T/truth" || fail "truth.py"
	[ "$(figure data "$T/truth")" = "$(figure out "$T/relay.out")" ]
}

# figure NAME FILE: the value of the last NAME=VALUE
figure() {
	sed -nE "s/^(.* )?$1=([^ ]*).*/\2/p" "$2" | tail -1
}

# figures FILE NAME...: several, in one line
figures() {
	file=$1
	shift
	line=
	for name in "$@"; do
		line="$line $name=$(figure "$name" "$file")"
	done
	echo "${line# }"
}

# ledger_of FILE: what a receiver's text with -e says of its last test, as
# NAME=VALUE words
ledger_of() {
	awk '/connected with/ { late = longest = 0 }
		/ ms +[0-9]+\/ *[0-9]+ \(/ {
			match($0, / ms +[0-9]+\/ *[0-9]+ \(/)
			split(substr($0, RSTART + 3, RLENGTH - 5), n, "/")
			lost = n[1] + 0
			total = n[2] + 0
		}
		/received out-of-order/ { late = $(NF - 3) }
		/duplicates [0-9]/ {
			duplicates = after("duplicates")
			too_late = after("too late")
			gaps = after("gaps")
		}
		/longest gap [0-9]/ { longest = after("longest gap") }
		function after(name) {
			if (!match($0, name " [0-9]+"))
				return 0
			return substr($0, RSTART + length(name) + 1,
				RLENGTH - length(name) - 1)
		}
		END {
			printf "received=%d lost=%d late=%d too_late=%d ",
				total - lost, lost, late, too_late
			printf "duplicates=%d gaps=%d longest=%d\n",
				duplicates, gaps, longest
		}' "$1"
}

# json_figures FILE: the same of --json, with jitter and delay, under the names
# of truth.py; of the last test in it
json_figures() {
	python3 - "$1" <<-'PY'
		import json, sys

		row = {}
		for line in open(sys.argv[1]):
		    event = json.loads(line)
		    if event["event"] in ("end", "server_report"):
		        if event["protocol"] == "UDP" and not event["sender"]:
		            row = event
		gaps = row.get("gaps") or {}
		figures = {
		    "received": row.get("received_packets"),
		    "lost": row.get("lost_packets"),
		    "late": row.get("out_of_order"),
		    "too_late": row.get("too_late"),
		    "duplicates": row.get("duplicates"),
		    "gaps": gaps.get("count"),
		    "longest": gaps.get("longest_packets"),
		}
		for name in ("jitter_ms", "jitter_mean_ms", "jitter_max_ms"):
		    figures[name] = row.get(name)
		for name, value in (row.get("delay_ms") or {}).items():
		    figures["delay_ms_" + name] = value
		for name, value in figures.items():
		    print(f"{name}={value}")
	PY
}

# late_of FILE: datagrams that came out of order in its last test
late_of() {
	awk '/connected with/ { v = 0 }
		/received out-of-order/ { v = $(NF - 3) }
		END { print v + 0 }' "$1"
}
