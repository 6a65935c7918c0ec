# GNU make.  To build: a C11 compiler and make.  `make help` lists the targets.

PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
COMPDIR = $(PREFIX)/share/bash-completion/completions
CFLAGS = -O2 -g
INSTALL = install

# The user's CC, CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS stand beside ours.
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla
OUR_CFLAGS = -std=c11 -D_DEFAULT_SOURCE -pthread $(WARNINGS)
ifeq ($(WERROR),1)
OUR_CFLAGS += -Werror
endif
OUR_LDLIBS = -lm

# What differs between systems; PORTABLE=1 takes the file that needs POSIX only.
PLATFORM := posix
ifneq ($(PORTABLE),1)
ifeq ($(shell uname -s),Linux)
PLATFORM := linux
endif
endif

# One folder a kind of build, so that none disturbs another.
BUILD = build/plain
BIN = iperf

SOURCES := $(wildcard src/*.c) src/platform/$(PLATFORM).c
HEADERS := $(wildcard src/*.h src/platform/*.h)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)

# The pure rooms: every unit test is linked with these, its own room and Check,
# and with nothing else.
PURE := series records burst options opttable optvalue optcheck cmdline policy plan siphash pace stats wire units out_text out_csv out_json hist block \
	stamp session quantile abstat abplan abrobust abresult abrun abread abcsv abtext out_arms \
	out_html hide optknown completion
PURE_OBJECTS := $(filter $(PURE:%=$(BUILD)/src/%.o),$(OBJECTS))
UNITS := $(patsubst tests/%.c,%,$(wildcard tests/check_*.c))
UNIT_BINS := $(UNITS:%=$(BUILD)/tests/%)
# Rooms that a test needs besides the pure ones and its own.
NEEDS_check_report = clock log sock stream input platform/$(PLATFORM)
NEEDS_check_sock = clock log platform/$(PLATFORM)
NEEDS_check_stream = clock log sock input platform/$(PLATFORM)
NEEDS_check_server_udp = wish sock stream input platform/$(PLATFORM)
RELAY = $(BUILD)/tests/relay
FUZZ_TARGETS := $(filter-out seeds,$(patsubst tests/fuzz/%.c,%,$(sort \
	$(wildcard tests/fuzz/*.c))))
FUZZ_BINS := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/%)
FUZZ_SEEDS = $(BUILD)/tests/fuzz/seeds
NEEDS_fuzz_session = server_udp wish sock stream input platform/$(PLATFORM)
LINK_fuzz_session = -Wl,--wrap=stream_thread -Wl,--wrap=pthread_join
E2E := $(sort $(wildcard tests/e2e/[0-9]*))
LINT := $(sort $(wildcard tests/lint/[0-9]*))

COMPILE = $(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) -pthread $(CFLAGS) $(LDFLAGS)
# What the scripts below tests/ need to know.
# CK_DEFAULT_TIMEOUT: seconds that a unit test may take on a busy machine.
TEST_ENV = CK_DEFAULT_TIMEOUT=30 IPERF='$(abspath $(BIN))' RELAY='$(abspath $(RELAY))' \
	CC='$(CC)' LINT_CFLAGS='$(OUR_CFLAGS)' BUILD='$(BUILD)'

all: $(BIN)

$(BIN): $(OBJECTS)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(OBJECTS) $(OUR_LDLIBS) $(LDLIBS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

# Changed flags or another platform compile everything anew.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILE) | $(LINK) $(LDLIBS) | $(PLATFORM)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/tests/check_%.o: EXTRA_CFLAGS = -Isrc $(shell pkg-config --cflags check)

.SECONDEXPANSION:
$(BUILD)/tests/check_%: $(BUILD)/tests/check_%.o \
		$$(filter $$(OBJECTS),$$(PURE_OBJECTS) $(BUILD)/src/%.o \
		$$(patsubst %,$(BUILD)/src/%.o,$$(NEEDS_check_$$*)))
	$(LINK) -o $@ $(sort $^) $$(pkg-config --libs check) $(OUR_LDLIBS) \
		$(LDLIBS)

$(BUILD)/tests/fuzz/%.o: EXTRA_CFLAGS = -Isrc
$(FUZZ_BINS): $(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(PURE_OBJECTS) \
		$$(addsuffix .o,$$(addprefix $(BUILD)/src/,$$(NEEDS_fuzz_$$*)))
	$(LINK) -fsanitize=fuzzer $(LINK_fuzz_$*) -o $@ $^ $(OUR_LDLIBS) $(LDLIBS)
$(FUZZ_SEEDS): $(FUZZ_SEEDS).o $(PURE_OBJECTS)
	$(LINK) -o $@ $^ $(OUR_LDLIBS) $(LDLIBS)

# A tool of the tests, not under test: no sanitizer, whose signals come late.
$(RELAY): tests/relay.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(filter-out -fsanitize% -fno-sanitize%,$(COMPILE)) $(LDFLAGS) -o $@ $<

install: $(BIN)
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 755 $(BIN) $(DESTDIR)$(BINDIR)/iperf
	$(INSTALL) -m 644 man/iperf.1 $(DESTDIR)$(MANDIR)/man1/iperf.1
	$(INSTALL) -d $(DESTDIR)$(COMPDIR)
	$(INSTALL) -m 644 completion/iperf $(DESTDIR)$(COMPDIR)/iperf

# The checks build in folders of their own.  What they need is installed first
# where that can be done, in a run of make of its own: pkg-config comes from it.
CHECKED = BUILD=build/check BIN=build/check/iperf WERROR=1
ASAN = BUILD=build/asan BIN=build/asan/iperf WERROR=1 CFLAGS='-O1 -g \
	-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer'
TSAN = BUILD=build/tsan BIN=build/tsan/iperf WERROR=1 \
	CFLAGS='-O1 -g -fsanitize=thread'
# libFuzzer comes with clang.
FUZZ = BUILD=build/fuzz WERROR=1 CC=clang CFLAGS='-O1 -g \
	-fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow \
	-fno-sanitize-recover=undefined,float-cast-overflow \
	-fno-omit-frame-pointer'

check:
	@tests/deps
	@$(MAKE) --no-print-directory $(CHECKED) run-all
check-unit:
	@tests/deps
	@$(MAKE) --no-print-directory $(CHECKED) run-unit
check-e2e:
	@tests/deps
	@$(MAKE) --no-print-directory $(CHECKED) run-e2e
# A fork for each of the unit tests costs a sanitized program a fifth of a second,
# and it needs more of the CPU than others: three tests at a time.
check-asan:
	@tests/deps
	@SLOW=1 CK_FORK=no JOBS=$${JOBS:-3} $(MAKE) --no-print-directory $(ASAN) run-unit-e2e
check-tsan:
	@tests/deps
	@SLOW=1 CK_FORK=no JOBS=$${JOBS:-3} $(MAKE) --no-print-directory $(TSAN) run-unit-e2e
check-portable:
	@tests/deps
	@$(MAKE) --no-print-directory BUILD=build/portable BIN=build/portable/iperf WERROR=1 \
		PORTABLE=1 run-unit-e2e
fuzz:
	@tests/deps fuzz
	@$(MAKE) --no-print-directory $(FUZZ) run-fuzz
# Figures beside other programs; takes minutes and wants a quiet machine.
bench:
	@tests/deps
	@$(MAKE) --no-print-directory run-bench
# Servers under changing clients; SOAK_MINUTES says how long.
soak:
	@tests/deps
	@$(MAKE) --no-print-directory run-soak
# Experiments with known answers; takes EXPERIMENT_MINUTES (10) at most.
experiments:
	@tests/deps
	@$(MAKE) --no-print-directory $(CHECKED) run-experiments
lint:
	@tests/deps
	@$(TEST_ENV) tests/run $(LINT)

run-all: $(BIN) $(UNIT_BINS) $(RELAY)
	@$(TEST_ENV) tests/run $(UNIT_BINS) $(LINT) $(E2E)
run-unit: $(UNIT_BINS)
	@$(TEST_ENV) tests/run $(UNIT_BINS)
run-e2e: $(BIN) $(RELAY)
	@$(TEST_ENV) tests/run $(E2E)
run-unit-e2e: $(BIN) $(UNIT_BINS) $(RELAY)
	@$(TEST_ENV) tests/run $(UNIT_BINS) $(E2E)
run-fuzz: $(FUZZ_BINS) $(FUZZ_SEEDS)
	@$(TEST_ENV) tests/fuzz/run $(FUZZ_SEEDS) $(FUZZ_BINS)
run-experiments: $(BIN)
	@$(TEST_ENV) tests/experiments
run-bench: $(BIN)
	@$(TEST_ENV) tests/bench
run-soak: $(BIN)
	@$(TEST_ENV) tests/soak

analyze:
	@$(TEST_ENV) tests/analyze $(sort $(SOURCES) src/platform/posix.c) \
		tests/relay.c

demo: $(BIN)
	@IPERF=./$(BIN) tests/demo

clean:
	rm -rf build iperf

help:
	@echo 'all            the binary, ./iperf'
	@echo 'install        binary, man page, completion below DESTDIR, PREFIX'
	@echo 'demo           a TCP and a UDP test over loopback'
	@echo 'check          unit tests, lint and end-to-end tests'
	@echo 'check-unit     unit tests alone'
	@echo 'check-e2e      end-to-end tests alone (as root)'
	@echo 'check-asan     both under address and undefined sanitizer'
	@echo 'check-tsan     both under thread sanitizer'
	@echo 'check-portable both with the code that needs POSIX only'
	@echo 'fuzz           FUZZ_SECONDS (20) of random input to each decoder'
	@echo 'bench          gaps and throughput beside other programs (as root)'
	@echo 'soak           10 minutes of changing clients: do servers keep their size?'
	@echo 'experiments    A/B experiments with known answers (as root)'
	@echo 'analyze        gcc -fanalyzer, clang-tidy, cppcheck'
	@echo 'lint           layout, man page, headers, include direction'
	@echo 'clean          removes what was built'

FORCE:
.PHONY: all install check check-unit check-e2e check-asan check-tsan \
	check-portable fuzz bench experiments soak lint run-all run-unit \
	run-e2e run-unit-e2e run-fuzz run-bench run-experiments run-soak \
	analyze demo clean help FORCE
.SECONDARY:

-include $(OBJECTS:.o=.d) $(UNITS:%=$(BUILD)/tests/%.d) \
	$(FUZZ_BINS:=.d) $(FUZZ_SEEDS).d
