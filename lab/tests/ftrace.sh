# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# timeout: 600
# Tracing functions: record, the function tools, and what they leave behind.
# prio calls getpriority a known number of times, and nothing else in the guest does.

# Without a filter a graph means all functions of the kernel, which takes ten seconds in an emulated machine.
some="-l ksys_* -l vfs_* -l rw_verify_area"
case $ARCH in
x86_64) func=__x64_sys_getpriority ;;
*) func=__arm64_sys_getpriority ;;
esac
grep -q "^$func\$" "$TRACEFS/available_filter_functions" || skip_all "no $func to trace"

# Compressing what a recording says of the kernel takes an emulated processor two seconds: once or twice is enough.
plain="--compression none"

# What must be the same before and after.
state() {
	(cd "$TRACEFS" && cat current_tracer tracing_on set_ftrace_filter set_graph_function \
		max_graph_depth tracing_thresh trace_clock buffer_size_kb set_event \
		kprobe_events uprobe_events options/* 2>/dev/null; ls instances)
	ls /run/kymo 2>/dev/null
}
clean() { is "$1: nothing is left" "$(state)" "$before"; }
# The kernel enlarges its buffers when they are first used.
echo 1408 >"$TRACEFS/buffer_size_kb"
before=$(state)

check "record -p function" kymo ftrace record -q -p function -l $func -o f.dat prio 1000
out=$(kymo ftrace report -i f.dat)
is "record -p function sees every call" "$(echo "$out" | grep -c "function: *$func")" 1000
clean "record function"

check "record -p function_graph" kymo ftrace record -q -p function_graph -l $func -F -o g.dat prio 300
out=$(kymo ftrace report -i g.dat)
is "record -p function_graph -F sees every call" "$(echo "$out" | grep -c "us .*|.*$func()")" 300
clean "record function_graph"
# shellcheck disable=SC2086
kymo ftrace record -q $plain -p function_graph -g ksys_read $some --max-graph-depth 2 -F -o d.dat dd if=/proc/uptime of=/dev/null 2>/dev/null
out=$(kymo ftrace report -i d.dat)
like "max-graph-depth 2 shows ksys_read and what it calls" "$out" '\|  ksys_read\(\) \{'
unlike "and nothing deeper" "$out" '\|      [a-z]'
clean "max-graph-depth"
out=$(kymo ftrace record -p function_graph -g sys_getpriority -l sys_getpriority --max-graph-depth 1 -F -o s.dat prio 3 2>&1)
like "-g and -l by a system call's own name" "$out" "sys_getpriority is $func in this kernel"
is "trace it" "$(kymo ftrace report -i s.dat | grep -c "us .*|.*$func()")" 3
like "-g of a function that is not there" "$(kymo ftrace record -p function_graph -g vfs_raed -o s.dat true 2>&1)" 'did you mean .*vfs_read'
clean "-g by another name"
# an option of a tracer is one for all instances
check "record --func-stack" kymo ftrace record -q $plain -p function -l $func --func-stack -o fs.dat prio 2
is "a stack with each" "$(kymo ftrace report -i fs.dat | grep -c kernel_stack:)" 2
clean "--func-stack"
check "function triggers" kymo ftrace record -q $plain -p function -l $func -l "$func:stacktrace:2" -o tg.dat prio 5
out=$(kymo ftrace report -i tg.dat)
is "stacktrace:2 takes two stacks of five calls" "$(echo "$out" | grep -c kernel_stack:) $(echo "$out" | grep -c "function: *$func")" "2 5"
clean "function triggers"
# triggered TRIGGER OPTIONS: what a recording of five calls shows when one of them set it off
triggered() {
	trigger=$1
	shift
	kymo ftrace record -q $plain -p function -l $func -l "$func:$trigger" "$@" -o tg.dat prio 5 2>&1 || echo refused
	kymo ftrace report -i tg.dat
	[ "$(state)" = "$before" ] || echo "$trigger left something"
}
out=$(triggered traceoff:1)
is "traceoff:1 ends it at the first call" "$(echo "$out" | grep -c "function: *$func\|left\|refused" | sed 's/[01]/0 or 1/')" "0 or 1"
exited='prio.* sched_process_exit:'
like "enable_event: what comes after the call" "$(triggered enable_event:sched:sched_process_exit)" "$exited"
unlike "disable_event: nothing after it" "$(triggered disable_event:sched:sched_process_exit -e sched:sched_process_exit)" "$exited"
out=$(triggered traceon -l "$func:snapshot:1" -l "$func:dump:1" -l "$func:cpudump:1")
is "traceon, snapshot:1, dump:1, cpudump:1: all calls are there, and nothing is left" \
	"$(echo "$out" | grep -c "function: *$func") $(echo "$out" | grep -c 'left\|refused')" "5 0"
like "dump and cpudump: the kernel wrote to its log" "$(dmesg)" 'Dumping ftrace buffer'
out=$(kymo report -i g.dat --stdio 2>&1)
like "report reads function_graph" "$out" "$func"

if command -v trace-cmd >/dev/null; then
	for f in f g d; do
		trace-cmd report -i $f.dat >want 2>/dev/null
		kymo ftrace report -i $f.dat >got 2>/dev/null
		check "trace-cmd report says the same of $f.dat" cmp want got
	done
	for v in "--file-version 6" "--compression zstd"; do
		# shellcheck disable=SC2086
		kymo ftrace record -q $v -e sched -B one -e irq -B two -e timer:hrtimer_start -o v.dat prio 10
		trace-cmd report -i v.dat 2>/dev/null | grep -c 'one:\|two:' >want
		kymo ftrace report -i v.dat 2>/dev/null | grep -c 'one:\|two:' >got
		check "instances, $v" cmp want got
	done
	# not `trace-cmd record`, which takes half a minute here, and in a busy guest may end before it has read its buffers
	trace-cmd start -p function -l $func >/dev/null 2>&1
	prio 50
	trace-cmd stop >/dev/null 2>&1
	trace-cmd extract -o t.dat >/dev/null 2>&1
	(cd "$TRACEFS" && echo nop >current_tracer && echo >set_ftrace_filter && echo 1 >tracing_on)
	is "kymo reads what trace-cmd records" "$(kymo ftrace report -i t.dat | grep -c "$func")" 50
	before=$(state) # trace-cmd may leave something else
fi

out=$(kymo funccount "*_sys_getpriority" prio 777 2>&1)
like "funccount is exact" "$out" "^$func +777\$"
like "and says how" "$out" 'kprobes with hist triggers|function profiler'
clean "funccount"

# live FILE COUNT PATTERN CMD -- TOOL...: run CMD while the tool traces, until FILE has COUNT lines.
# The guest is slow: wait for what must come, not for a time.
live() {
	file=$1 count=$2 pattern=$3 cmd=$4
	shift 5
	kymo "$@" >"$file" 2>"$file.err" &
	pid=$!
	i=0
	while ! grep -qs Tracing "$file.err" && kill -0 $pid && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
	sh -c "$cmd"
	i=0
	while [ "$(grep -c "$pattern" "$file")" -lt "$count" ] && kill -0 $pid && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
	sleep 0.3
	kill -INT $pid
	wait $pid
}
live tr.txt 40 "$func" "prio 40" -- functrace $func
is "functrace shows every call" "$(grep -c "$func" tr.txt)" 40
clean "functrace, Ctrl-C"
case $ARCH in x86_64) deep="-m 1" ;; *) deep= ;; esac
# shellcheck disable=SC2086
live fg.txt 5 "$func()" "prio 5" -- funcgraph $deep $func
is "funcgraph shows every call" "$(grep -c "$func()" fg.txt)" 5
is "and what nobody asked for not" "$(grep -E '\|  [a-zA-Z_]' fg.txt | grep -vc "$func()")" 0
clean "funcgraph"
live fs.txt 0 "$func" "prio 5" -- funcslower $func 10000000
is "funcslower shows none that is quick" "$(grep -c "$func" fs.txt)" 0
live fs.txt 1 vfs_ "usleep 100" -- funcslower 'vfs_*' 1
like "but those that are slower" "$(cat fs.txt)" 'us .*vfs_'
clean "funcslower"

out=$(kymo functime $func prio 123 2>&1)
like "functime times every call" "$out" '^123 calls, '
like "and shows the slowest with arguments by name" "$out" "prio .* regs=0x"
case $ARCH in x86_64) how='fentry and fexit' ;; *) how='kprobe and kretprobe' ;; esac
like "and says how" "$out" "^Timing $func \($how\)"
if [ "$ARCH" = x86_64 ]; then
	out=$(kymo functime --probes $func prio 45 2>&1)
	like "functime --probes too" "$out" '^45 calls, '
	like "with the same arguments" "$out" "prio .* regs=0x"
	out=$(kymo functime -p 1 $func prio 6 2>&1)
	like "functime -p: not of others" "$out" '^no calls'
	# of calls under way when it begins, one for each CPU at most
	while prio 100; do :; done &
	busy=$!
	out=$(kymo functime -d 1 $func 2>&1)
	kill $busy
	like "functime beside a busy caller" "$out" '^[0-9]+ calls, '
	is "none is half seen" "$(echo "$out" | sed -n 's/ more of which only.*//p' | awk '$1 > 2')" ""
fi
like "functime: what was meant" "$(kymo functime vfs_raed 2>&1)" 'did you mean vfs_read'
clean "functime"

# where the registers of the program are, and its second argument among them
case $ARCH in x86_64) regs=%di second=104 ;; *) regs=%x0 second=8 ;; esac
live kp.txt 7 'mine: ' "prio 7 99" -- kprobe "p:mine $func regs=$regs"
is "kprobe shows every call" "$(grep -c 'mine: ' kp.txt)" 7
live kf.txt 3 'who=7' "prio 3 7; prio 2 8" -- kprobe "p:mine $func who=+$second($regs):u32" 'who == 7'
is "kprobe's filter picks by a known argument" "$(grep -c 'mine: .*who=7' kf.txt) $(grep -c 'mine: ' kf.txt)" "3 3"
clean "kprobe"
like "kprobe without a name: the function's" "$(kymo kprobe -v "r:$func got=\$retval" 2>&1)" '^name: __.*getpriority$'
refuse "a bad argument is refused" kymo kprobe "p:mine $func x=%nosuch"
out=$(kymo kprobe "p:mine $func x=%nosuch" 2>&1)
like "with a caret below it" "$out" '^ +\^'
clean "bad kprobe"
refuse "an unknown function" kymo functrace no_such_function_at_all
refuse "an unknown function of a trigger" kymo ftrace record -q -p function -l no_such_function:traceoff -o no.dat true
clean "unknown function"

live tp.txt 1 'sys_openat(' "cat /proc/uptime" -- tpoint syscalls:sys_enter_openat
like "tpoint" "$(cat tp.txt)" 'sys_openat\('
clean "tpoint"

kymo ftrace record -q $plain -e sched:sched_switch -R 'hist:keys=next_comm' -o h.dat prio 10
clean "hist trigger"
kymo ftrace start -q -e sched:sched_switch -R 'hist:keys=next_comm'
sleep 0.2
like "show --hist" "$(kymo ftrace show --hist sched:sched_switch)" 'Totals'
kymo ftrace snapshot -s
like "snapshot" "$(kymo ftrace snapshot)" 'sched_switch'
kymo ftrace snapshot -f
kymo ftrace reset
clean "start, hist, snapshot, reset"
# shellcheck disable=SC2086
kymo ftrace start -q -p function_graph -g ksys_read $some
dd if=/proc/uptime of=/dev/null 2>/dev/null
kymo ftrace stop
kymo ftrace restart # reading the trace is traced as well
like "start -p function_graph" "$(kymo ftrace show)" ksys_read
kymo ftrace stop
kymo ftrace extract -q -o e.dat
like "extract" "$(kymo ftrace report -i e.dat)" ksys_read
kymo ftrace reset
clean "start function_graph, extract, reset"
kymo ftrace start -q -p function -l $func -l "$func:snapshot:1"
prio 3
kymo ftrace stop
is "the snapshot that a function took has the calls before it" "$(kymo ftrace snapshot | grep -c "$func" | sed 's/[01]/0 or 1/')" "0 or 1"
is "the others went on" "$(kymo ftrace show | grep -c "$func" | sed 's/[23]/2 or 3/')" "2 or 3"
kymo ftrace reset
clean "a snapshot by a function"

# Others' settings: a probe, an event, a tracer and a filter that were there before.
echo 'p:other/op do_sys_openat2' >>"$TRACEFS/kprobe_events"
echo ksys_write >"$TRACEFS/set_ftrace_filter"
echo function >"$TRACEFS/current_tracer"
echo 1 >"$TRACEFS/events/other/op/enable"
before=$(state)
kymo ftrace record -q $plain -p function_graph -g ksys_read -F -o o.dat cat /proc/uptime >/dev/null 2>&1
clean "others' tracer, filter, event and probe"
i=0
while [ $i -lt 8 ]; do
	case $((i % 4)) in
	0) set -- ftrace record -q -e sched -o k.dat ;;
	1) set -- ftrace record -q -p function_graph -g ksys_read -e irq -o k.dat ;;
	2) set -- kprobe 'p:mine do_sys_openat2' ;;
	3) set -- funccount 'vfs_*' ;;
	esac
	kymo "$@" >/dev/null 2>&1 &
	pid=$!
	usleep $((i * 137000 % 900000 + 1000))
	kill -9 $pid
	wait $pid 2>/dev/null
	kymo version >/dev/null
	i=$((i + 1))
done
clean "after kill -9 at 8 moments, and another command"
echo nop >"$TRACEFS/current_tracer"
echo >"$TRACEFS/set_ftrace_filter"
echo 0 >"$TRACEFS/events/other/op/enable"
echo '-:other/op' >>"$TRACEFS/kprobe_events"
