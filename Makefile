# SPDX-License-Identifier: MIT
# The front door. Meson is the build; see meson.build.
BUILD ?= build
PREFIX ?= /usr/local
MESON_FLAGS ?=
export DESTDIR PERF_LINK LINKS

.PHONY: all try check test soak test-tables test-kernel-dwarf install uninstall bench lab fuzz lint static clean deps format

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null 2>&1 || scripts/deps build
	@meson setup $(BUILD) --prefix=$(PREFIX) $(MESON_FLAGS) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

deps:
	@scripts/deps build

# Everything at once on a fresh machine: packages, build, a look at this machine.
try: deps all
	@scripts/try $(BUILD)/kymo

# After every change: layers, unit, and what is near to the change, in less than a minute after the build.
check: all
	@tests/run check

test:
	@scripts/deps build test browser lab
	@tests/run

# Unwinding tables of every ELF file of this machine, row by row beside libdw's (some minutes).
test-tables: deps all
	@$(BUILD)/tests/unit/unit-ehframe_libdw /usr/lib /usr/bin

# Probes by the debug info of a real kernel: beside perf probe, and in a guest (fetches 400 MB).
test-kernel-dwarf: deps all
	@scripts/deps lab test
	@lab/kernel-dwarf

# Live views for half an hour (MINUTES=...) while programs come and go: what they need must stay level.
soak: deps all
	@scripts/deps test
	@KYMO=$(BUILD)/kymo KYMO_WORK=$(BUILD)/tests/work PYTHONPATH=tests/lib tests/soak/top.py

lab: deps
	@scripts/deps lab
	@lab/run all

bench: deps all
	@scripts/deps bench
	@bench/run $(BUILD)/kymo

fuzz:
	@scripts/deps build test
	@tests/fuzz/run

lint:
	@scripts/deps build lint
	@scripts/lint

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

static:
	@scripts/deps build
	@test -f build-static/build.ninja || meson setup build-static --buildtype=release -Dc_link_args=-s -Dstatic=true -Dtests=false >/dev/null
	@ninja -C build-static --quiet
	@build-static/kymo version --build-options
	@echo "build-static/kymo: $$(du -h build-static/kymo | cut -f1), static"

# PREFIX and DESTDIR as usual; LINKS="perf trace-cmd bpftrace" adds symlinks by which kymo acts as those tools.
install: all
	@scripts/install $(BUILD) $(PREFIX)

uninstall:
	@scripts/install --remove $(BUILD) $(PREFIX)

clean:
	rm -rf build build-*
