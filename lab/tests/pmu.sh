# shellcheck shell=sh
# arch: aarch64
# With -icount the guest has a PMU whose counts repeat.

like "the PMU is there" "$(ls /sys/bus/event_source/devices)" '^armv8_pmuv3'

# The count that most of five runs have: now and then one has two instructions more or less.
counts() {
	for _ in 1 2 3 4 5; do pmu "$@"; done | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1, $2 }'
}

first=$(counts instructions 0 spin 1000000)
is "the count repeats" $((${first% *} >= 3)) 1
first=${first#* }
within "two instructions per turn" "$first" 2000000 5
longer=$(counts instructions 0 spin 3000000)
is "a longer loop adds only its own" $((${longer#* } - first)) 4000000

# The clock of -icount shift=1: an instruction is two cycles, always.
cycles=$(counts cycles 0 spin 1000000)
is "an instruction is two cycles" "${cycles#* }" $((2 * first))

# QEMU raises the overflow of cycles in time, that of instructions only with the
# next timer tick: sample cycles in tests.
samples=$(pmu cycles 100000 spin 1000000)
within "cycles are sampled" "$samples" 40 5
