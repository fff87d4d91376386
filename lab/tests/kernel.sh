# shellcheck shell=sh
# The kernel has what tests of tracing rely on, so that a feature which a new
# Debian kernel drops is seen here and not as a riddle elsewhere.

available=$(cat "$TRACEFS/available_tracers")
for tracer in function function_graph blk; do
	like "tracer $tracer" "$available" "(^| )$tracer( |\$)"
done
[ "$ARCH" != x86_64 ] || like "tracer mmiotrace" "$available" mmiotrace

cd "$TRACEFS" || exit
for file in kprobe_events uprobe_events synthetic_events dynamic_events snapshot stack_trace \
	events/raw_syscalls/sys_enter/hist events/sched/sched_switch/filter; do
	check "tracefs has $file" test -e "$file"
done

echo 'p:lab/open do_sys_openat2' >>kprobe_events
check "a kprobe can be made" test -d events/lab/open
echo 1 >events/lab/open/enable
cat /proc/uptime >/dev/null
echo 0 >events/lab/open/enable
like "the kprobe fires" "$(cat trace)" 'open: .*do_sys_openat2'
echo '-:lab/open' >>kprobe_events

# shellcheck disable=SC2016
echo 'r:lab/ret do_sys_openat2 ret=$retval' >>kprobe_events
check "a kretprobe can be made" test -d events/lab/ret
echo '-:lab/ret' >>kprobe_events

echo do_sys_openat2 >set_ftrace_filter
for tracer in function function_graph; do
	echo >trace
	echo $tracer >current_tracer
	cat /proc/uptime >/dev/null
	out=$(cat trace)
	echo nop >current_tracer
	like "$tracer traces" "$out" do_sys_openat2
done
echo >set_ftrace_filter
echo >trace

echo 'hist:keys=common_pid' >events/raw_syscalls/sys_enter/trigger
check "a hist trigger counts" grep -q 'Totals' events/raw_syscalls/sys_enter/hist
echo '!hist:keys=common_pid' >events/raw_syscalls/sys_enter/trigger

check "BTF of the kernel" test -s /sys/kernel/btf/vmlinux
check "BTF of a module" test -s /sys/kernel/btf/virtio_blk
check "kallsyms shows addresses" grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* T do_sys_open' /proc/kallsyms
check "the kernel's configuration" grep -q CONFIG_KPROBES=y "/boot/config-$(uname -r)"
check "pressure stall information" test -r /proc/pressure/cpu
like "no lockdown" "$(cat /sys/kernel/security/lockdown)" '\[none\]'
