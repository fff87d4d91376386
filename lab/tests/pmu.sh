# shellcheck shell=sh
# arch: aarch64
# With -icount the guest has a PMU whose counts repeat.

like "the PMU is there" "$(ls /sys/bus/event_source/devices)" '^armv8_pmuv3'

first=$(pmu instructions 0 spin 1000000)
second=$(pmu instructions 0 spin 1000000)
within "two instructions per turn" "$first" 2000000 5
is "the count repeats" "$second" "$first"
longer=$(pmu instructions 0 spin 3000000)
is "a longer loop adds only its own" $((longer - first)) 4000000

# The clock of -icount shift=1: an instruction is two cycles, always.
cycles=$(pmu cycles 0 spin 1000000)
is "an instruction is two cycles" "$cycles" $((2 * first))

# QEMU raises the overflow of cycles in time, that of instructions only with the
# next timer tick: sample cycles in tests.
samples=$(pmu cycles 100000 spin 1000000)
within "cycles are sampled" "$samples" 40 5
