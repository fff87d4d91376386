# SPDX-License-Identifier: MIT
# System calls on older kernels and on aarch64: the programs load, calls are shown as they were made.
# arch: x86_64 aarch64

kymo trace -S -o /tmp/trace.txt cat /no/such/file >/dev/null 2>&1
check "a call with its file" grep -q 'cat/[0-9]* openat(AT_FDCWD, "/no/such/file", O_RDONLY) = -1 ENOENT (No such file or directory)$' /tmp/trace.txt
check "the exec with its arguments" grep -q 'execve("[^"]*cat", \["cat", "/no/such/file"\], 0x[0-9a-f]*) = 0$' /tmp/trace.txt
check "sums with errors by name" grep -q '^ *openat .* ENOENT 1$' /tmp/trace.txt
kymo trace --call-graph -e openat,sched:sched_process_exit -F all -o /tmp/trace.txt cat /no/such/file >/dev/null 2>&1
check "who called" grep -q '^ *0x[0-9a-f]* (.*busybox)$' /tmp/trace.txt
check "other events" grep -q 'sched:sched_process_exit(comm=cat ' /tmp/trace.txt
check "page faults" grep -q 'minfault(' /tmp/trace.txt
