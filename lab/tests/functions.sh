# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Samples at the kernel's functions, and at an exec.

# --- the kernel's functions: the kernel refuses samples of them that may touch user memory ---
if kymo ftrace list -t 2>/dev/null | grep -qw function; then
	at=$(awk '/ __[a-z0-9]+_sys_getppid$/ { print $1; exit }' /proc/kallsyms)
	name=$(awk '/ __[a-z0-9]+_sys_getppid$/ { print $3; exit }' /proc/kallsyms)
	for how in "" "-g" "--call-graph dwarf"; do
		# shellcheck disable=SC2086
		check "record $how -e ftrace:function" kymo record -q $how -e ftrace:function --filter "ip == $name" -o fn.data known getppid=20
		like "... has the functions of its calls" "$(kymo script -i fn.data 2>/dev/null)" "ftrace:function: .*(${at%?}[0-9a-f]|getppid)" # arm64: one instruction on
	done
else
	skip "record -e ftrace:function" "there is no function tracer"
fi

# --- an exec: the new program stands at its entry ---
check "record -g at sched_process_exec" kymo record -q -a -g -e sched:sched_process_exec -o exec.data known getppid=1
like "... has the entry of the new program" "$(kymo script -i exec.data --comm known -F ip,sym,dso)" '_start.*known'
