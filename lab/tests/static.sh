# SPDX-License-Identifier: MIT
# The binary of `make static`, in a place that has none of its libraries.
# arch: x86_64
[ -x /lab/bin/kymo-static ] || skip_all "there is no build-static/kymo: make static"

mkdir libs
mount --bind libs /lib/x86_64-linux-gnu # nothing there but what is in the binary
is "the other kymo does not start without its libraries" "$(kymo version >/dev/null 2>&1; echo $?)" 127
is "system calls are counted exactly" \
	"$(kymo-static stat -x, -e syscalls:sys_enter_getppid /work/known getppid=321 2>&1 | cut -d, -f1)" 321
like "events are listed" "$(kymo-static list 'sched:*')" 'sched:sched_switch'
like "doctor looks at the machine" "$(kymo-static doctor)" 'tracepoints'
check "a recording is made" kymo-static record -q -g -o out.data /work/spin 3000000
like "and read" "$(kymo-static report --stdio -i out.data 2>&1)" 'spin'
like "user names come from /etc/passwd" "$(kymo-static stat -x, -u root -e cs -- sleep 0.1 2>&1)" ',cs,'
like "what is off is said" "$(kymo-static version --build-options)" 'libdebuginfod: . OFF'
umount /lib/x86_64-linux-gnu
