# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# timeout: 240
# Stacks of tracepoints and probes: hits says in each call's argument from where it is called.

# Of each hit the code that was told and the way to the call, the innermost step first.
ways() {
	kymo script -i h.data -F event,trace,ip,sym 2>/dev/null | awk '
		/getpriority:|hitleaf:/ { if (code != "") print code, way; way = ""; code = $0
			sub(/.*(who: 0x|code=0x)/, "", code); sub(/[^0-9a-f].*/, "", code); next }
		$2 == "left" { way = way "l" } $2 == "right" { way = way "r" }
		END { if (code != "") print code, way }'
}
# Are they all whole and the right ones? Prints how many are.
right() {
	awk 'function hex(s, i, n) { for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
		{ n = hex($1); way = ""; for (i = 0; i < 6; i++) { way = (n % 2 ? "r" : "l") way; n = int(n / 2) }
		  if (way == $2) good++; else if (length($2) == 6) wrong++ } END { print good + 0, wrong + 0 }'
}

# or all of this would pass with copies, too
like "stacks are walked in the kernel" "$(kymo record -g -F 999 -e cpu-clock -o h.data /work/hits 1 100000 2>&1)" 'stacks walked in the kernel: '
like "those of hits, too" "$(kymo record -g -e syscalls:sys_enter_getpriority -o h.data /work/hits 2 50 5000 2>&1)" 'stacks walked in the kernel: '
rm -f h.data
check "record -g of a system call" kymo record -q -g -e syscalls:sys_enter_getpriority -o h.data /work/hits 2 50 5000
is "every hit is there" "$(ways | wc -l)" 100
set -- $(ways | right)
is "none has the stack of another" "$2" 0
check "most are whole: $1 of 100" test "$1" -ge 75
case $ARCH in
x86_64) first=%di ;;
*) first=%x0 ;;
esac
rm -f h.data
kymo probe -q -f -x /work/hits -a "hitleaf=leaf code=$first:x64"
check "record -g of a probe" kymo record -q -g -e probe_hits:hitleaf -o h.data /work/hits 1 100 5000
is "every hit of it" "$(ways | wc -l)" 100
set -- $(ways | right)
is "with its own stack" "$2" 0
check "most of them whole: $1 of 100" test "$1" -ge 70
kymo probe -q -d 'probe_hits:hitleaf'
# A function of the kernel, where a thread's user stack is walked from, too.
if [ -w "$TRACEFS/kprobe_events" ]; then
	kymo probe -q -f -a 'hitk=vfs_read'
	check "record -g of a kprobe" kymo record -q -g -e probe:hitk -o k.data dd if=/dev/zero of=/dev/null bs=1 count=200
	n=$(kymo script -i k.data 2>/dev/null | grep -c 'probe:hitk')
	check "every call: $n" test "$n" -ge 200
	like "down to the program's start" "$(kymo script -i k.data 2>/dev/null | tail -40)" 'dd|busybox'
	kymo probe -q -d 'probe:hitk'
	# Its return, where the sample may come before the stack. The call before tells whose it is.
	case $ARCH in
	x86_64) call=__x64_sys_getpriority ;;
	*) call=__arm64_sys_getpriority ;;
	esac
	kymo probe -q -f -a "hitret=$call%return"
	check "record -g of a kretprobe" kymo record -g -e "syscalls:sys_enter_getpriority,probe:hitret__return" -o r.data /work/hits 2 200 2000
	kymo script -i r.data -F tid,event,trace,ip,sym 2>/dev/null >r.txt
	returns=$(awk '
		function step(c) { if (ret) way = way c }
		function put() { if (ret) print code[tid], way; ret = 0; way = "" }
		/sys_enter_getpriority:/ { put(); tid = $1; x = $0; sub(/.*who: 0x/, "", x); sub(/[^0-9a-f].*/, "", x); code[tid] = x; next }
		/probe:hitret__return/ { put(); tid = $1; ret = 1; next }
		$2 == "left" { step("l") } $2 == "right" { step("r") }
		END { put() }' r.txt)
	is "every return is there" "$(echo "$returns" | wc -l)" 400
	set -- $(echo "$returns" | right)
	is "none has the stack of another call" "$2" 0
	check "most of them whole: $1 of 400" test "$1" -ge 300
	kymo probe -q -d probe:hitret__return
fi
