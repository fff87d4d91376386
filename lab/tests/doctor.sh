# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What doctor finds on kernels that have nearly everything, and that it leaves nothing behind.

kymo doctor -j >all.json
field() { # ID KEY [FILE]
	sed -n "/\"id\": \"$1\"/,/}/s/.*\"$2\": \"\\(.*\\)\",*\$/\\1/p" "${3:-all.json}"
}
for id in tracefs tracepoints kprobes uprobes function function_graph hist snapshot kallsyms btf \
	bpf_kprobe bpf_uprobe bpf_tracepoint bpf_raw_tracepoint bpf_tp_btf bpf_perf_event \
	bpf_maps bpf_helpers; do
	is "$id works" "$(field $id state)" ok
done
is "this kernel has no fprobe events" "$(field fprobe state)" missing
is "it is a QEMU guest" "$(field virt value | cut -d' ' -f1)" QEMU

case $ARCH in
x86_64)
	is "fentry works" "$(field bpf_fentry state)" ok
	is "there are no counters" "$(field pmu state)" missing
	;;
aarch64)
	is "fentry loads but cannot be attached" "$(field bpf_fentry state)" missing
	like "the sum says so" "$(field bpf_programs meaning)" 'fentry not on this processor'
	is "counters that count at once" "$(field pmu value)" '7 at once'
	like "the PMU is named" "$(field pmu meaning)" armv8_pmuv3
	;;
esac
unlike "no probe is left" "$(cat "$TRACEFS/dynamic_events")" kymo_doctor

# Each of these is seen, and the fix that is shown mends it.
mended() { # ID WANT
	kymo doctor -j >broken.json
	is "$1 is seen to be $2" "$(field "$1" state broken.json)" "$2"
	sh -c "$(field "$1" fix broken.json)" >/dev/null 2>&1
	kymo doctor -j >mended.json
	is "the fix for $1 mends it" "$(field "$1" state mended.json)" ok
}
echo 0 >/proc/sys/kernel/ftrace_enabled
mended function missing
echo 0 >/proc/sys/net/core/bpf_jit_enable
mended bpf_jit limited
echo 50 >/proc/sys/kernel/perf_event_max_stack
mended max_stack limited
echo 2000 >/proc/sys/kernel/perf_event_max_sample_rate
mended sample_rate limited
echo nop >"$TRACEFS/current_tracer"
echo 0 >"$TRACEFS/tracing_on"
mended others off
echo function >"$TRACEFS/current_tracer"
mended others limited
is "the tracer is off" "$(cat "$TRACEFS/current_tracer")" nop
if grep -q debugfs /proc/mounts || mount -t debugfs nodev /sys/kernel/debug; then
	echo 0 >/sys/kernel/debug/kprobes/enabled
	mended kprobes missing
fi

# A probe that a killed doctor left goes, one of somebody else stays.
echo 'p:kymo_doctor_99999/try_p vfs_read' >>"$TRACEFS/kprobe_events"
echo 'p:lab/mine vfs_read' >>"$TRACEFS/kprobe_events"
kymo doctor >/dev/null
unlike "a dead doctor's probe is removed" "$(cat "$TRACEFS/kprobe_events")" kymo_doctor
like "other probes stay" "$(cat "$TRACEFS/kprobe_events")" lab/mine
echo '-:lab/mine' >>"$TRACEFS/kprobe_events"
