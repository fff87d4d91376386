# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# timeout: 400
# Tracers that keep the worst case as text, and those that look for noise: LAB_KERNEL=rt lab/run x86_64 --test latency
# has them all, the usual kernel blk and mmiotrace.

has_tracer() { grep -qw "$1" "$TRACEFS/available_tracers"; }
state() {
	(cd "$TRACEFS" && cat current_tracer tracing_on tracing_max_latency tracing_thresh set_event options/* 2>/dev/null; ls instances)
	ls /run/kymo 2>/dev/null
}
kymo version >/dev/null # takes away what a test that was stopped may have left
echo 1408 >"$TRACEFS/buffer_size_kb"
before=$(state)
clean() { is "$1: nothing is left" "$(state)" "$before"; }

# same NAME FILE [OPTION]: trace-cmd says the same of it.
same() {
	command -v trace-cmd >/dev/null || return
	trace-cmd report ${3:+"$3"} -i "$2" >want 2>/dev/null
	kymo ftrace report ${3:+"$3"} -i "$2" >got 2>/dev/null
	check "$1: trace-cmd report says the same" cmp want got
}

has_tracer blk || has_tracer mmiotrace || has_tracer wakeup || skip_all "none of these tracers"

for t in wakeup wakeup_rt; do
	has_tracer $t || continue
	versions="any"
	[ $t = wakeup ] && versions="any none 6"
	for v in $versions; do
		case $v in 6) v="--file-version 6" ;; *) v="--compression $v" ;; esac
		# shellcheck disable=SC2086
		check "record -p $t $v" kymo ftrace record -q -p $t -d $v -o w.dat sleep 0.5
		like "$t $v: the longest wait" "$(kymo ftrace report -i w.dat)" "^# latency: [0-9]+ us, #"
		same "$t $v" w.dat
	done
	clean "$t"
	if [ $t = wakeup ] && command -v trace-cmd >/dev/null; then
		trace-cmd record -q -p $t -d -o t.dat sleep 0.5 >/dev/null 2>&1
		like "what trace-cmd recorded of $t" "$(kymo ftrace report -i t.dat 2>&1)" "^# latency: [0-9]+ us, #"
		same "$t of trace-cmd" t.dat
		trace-cmd reset >/dev/null 2>&1
		echo 1408 >"$TRACEFS/buffer_size_kb"
		before=$(state)
	fi
done

for t in hwlat osnoise timerlat; do
	has_tracer $t || continue
	check "record -p $t" kymo ftrace record -q -p $t -o n.dat sleep 2
	out=$(kymo ftrace report -i n.dat 2>&1)
	case $t in
	hwlat) like "$t" "$out" '^cpus=' ;; # of an emulated machine nothing can be said
	osnoise) like "$t" "$out" ' osnoise: ' ;;
	timerlat) like "$t" "$out" ' timerlat: ' ;;
	esac
	same "$t" n.dat
	clean "$t"
done

if has_tracer mmiotrace; then
	check "record -p mmiotrace" kymo ftrace record -q -p mmiotrace -o m.dat sh -c 'sleep 0.2; echo 0 >/sys/bus/pci/rescan; true'
	check "it can be shown" kymo ftrace report -i m.dat
	same mmiotrace m.dat
	clean mmiotrace
fi

if has_tracer blk && [ -e /sys/block/vda/trace/enable ]; then
	check "record -p blk" kymo ftrace record -q -p blk -o b.dat sh -c \
		'echo 1 >/sys/block/vda/trace/enable; dd if=/dev/vda of=/dev/null bs=4k count=8 iflag=direct 2>/dev/null; echo 0 >/sys/block/vda/trace/enable'
	like "blk" "$(kymo ftrace report -i b.dat 2>&1)" 'blktrace: .*25[0-9],0    Q +RS? [0-9]+ . 8 .dd.'
	same "blk, as numbers" b.dat -N # with its plugin trace-cmd shows no more
	clean blk
fi
