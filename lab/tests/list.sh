# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What kymo list says of each guest's PMU and probes.

all=$(kymo list)
like "software events" "$all" '^  context-switches OR cs +\[Software event\]$'
like "tracepoints" "$all" '^  sched:sched_switch +\[Tracepoint event\]$'
is "as many tracepoints as the kernel names" \
	"$(printf '%s\n' "$all" | grep '\[Tracepoint event\]' | grep -vc '  ftrace:')" \
	"$(wc -l <"$TRACEFS/available_events")"
like "fields of a tracepoint" "$(kymo list -v sched:sched_switch)" 'char prev_comm\[16\]'

if [ "$ARCH" = aarch64 ]; then
	marked=$(kymo list -v hw cache)
	unlike "cycles are counted here" "$marked" '^  cpu-cycles .*not available'
	unlike "instructions are counted here" "$marked" '^  instructions .*not available'
	like "cache-misses are not" "$marked" '^  cache-misses .*\[not available here\]'
	unlike "no line about a missing PMU" "$all" 'cannot be counted here'
	like "events of the PMU" "$all" '^  cpu_cycles OR armv8_pmuv3(_0)?/cpu_cycles/ +\[Kernel PMU event\]$'
	like "and what they mean" "$(kymo list --parse cpu_cycles:u)" 'config=0x11 .*exclude_kernel=1'
else
	like "the first line says that there is no PMU" "$(printf '%s\n' "$all" | head -1)" '^no PMU in this VM: hardware events'
	like "every hardware event is marked" "$(kymo list -v hw)" '^  cpu-cycles .*\[not available here\]'
fi

echo 'p:labprobes/open do_sys_openat2' >>"$TRACEFS/kprobe_events"
like "a probe is listed as one" "$(kymo list)" '^  labprobes:open +\[Probe event\]$'
like "and can be named" "$(kymo list --parse 'labprobes:*:k')" '^labprobes:open +\[tracepoint\]$'
echo '-:labprobes/open' >>"$TRACEFS/kprobe_events"
unlike "until it is gone" "$(kymo list probe)" 'labprobes'

like "a kernel symbol as a breakpoint" "$(kymo list --parse mem:do_exit:x)" 'bp_addr=0x[0-9a-f]{12,} bp_len=[48] bp_type=4'
refuse "a symbol that is not there" kymo list --parse mem:nosuchsymbol:w
