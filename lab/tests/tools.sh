# shellcheck shell=sh
# timeout: 300
# The single-purpose tools on an older kernel with kprobes, on both architectures: each beside work whose truth is known.

[ -e /sys/kernel/btf/vmlinux ] || skip_all "no BTF"
pids=""
# start NAME ARGS...: a tool in the background, its output in NAME.out
start() {
	_name=$1
	shift
	kymo "$@" >"$_name.out" 2>"$_name.err" &
	pids="$pids $!"
	eval "pid_$_name=$!"
}
# Until all that were started wait for events (or have ended).
attached() {
	for p in $pids; do
		_n=0
		while [ -e "/proc/$p/syscall" ] && [ $_n -lt 600 ]; do
			case $(cut -d' ' -f1 "/proc/$p/syscall" 2>/dev/null) in 22 | 73 | 232 | 271 | 281) break ;; esac
			sleep 0.05
			_n=$((_n + 1))
		done
	done
}
stop() {
	for p in $pids; do kill "$p" 2>/dev/null; done
	wait
	pids=""
}

like "what can run is listed as such" "$(kymo tools filelife)" '^  filelife '
like "what cannot, with the reason" "$(kymo tools sslsnoop | tr '\n' ' ')" '^- sslsnoop .* not here: there is no file .libssl'

mkdir -p /scratch/t
dd if=/dev/zero of=/scratch/t/big bs=4k count=512 2>/dev/null
sync
start filelife filelife
start vfsstat vfsstat
start cachestat cachestat
start capable capable
start func funclatency -F 'vfs_*nlink'
start ext4 ext4slower 0
start execs execsnoop -r
start sysc syscount -c -n spin
start io iosnoop -i '*W*'
start runq runqlat
start acc tcpaccept
# Memory that runs out, in a group that has little.
g=/sys/fs/cgroup/little
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $g && echo 8000000 >$g/memory.max && start oom oomkill
attached
is "all of them are attached" "$(for p in $pids; do [ -e /proc/"$p" ] || echo gone; done)" ""

for i in 1 2 3; do echo x >/scratch/t/short$i; done
rm /scratch/t/short1 /scratch/t/short2
chown 65534 /tmp
chown 0 /tmp
for w in 1 2 3; do spin "$w" >/dev/null; done
dd if=/dev/zero of=/scratch/t/direct bs=64k count=5 oflag=direct 2>/dev/null
dd if=/dev/zero of=/scratch/t/synced bs=4k count=1 conv=fsync 2>/dev/null
sleep 1.1 # pages made dirty in the same second are taken off those that were missing
echo 3 >/proc/sys/vm/drop_caches
cat /scratch/t/big >/dev/null
cat /scratch/t/big >/dev/null
ip link set lo up 2>/dev/null
nc -l -p 7777 -e true &
sleep 0.3
echo hello | nc 127.0.0.1 7777 >/dev/null 2>&1
[ ! -e oom.out ] || sh -c "echo 0 >$g/cgroup.procs; exec awk 'BEGIN { for (i = 0; i < 4000000; i++) a[i] = i \"some text\" }'" >/dev/null 2>&1
sleep 1.2
stop
rmdir $g

is "filelife: what was made and deleted" "$(awk '/short/ { print $5 }' filelife.out | sort | tr '\n' ' ')" "short1 short2 "
sum() { awk -v c="$1" 'NR > 1 { s += $c } END { print s + 0 }' "$2"; }
check "vfsstat: writes, creations" test "$(sum 3 vfsstat.out)" -ge 8 -a "$(sum 6 vfsstat.out)" -ge 5
check "cachestat: 512 pages that were not in memory" test "$(sum 2 cachestat.out)" -ge 512
check "cachestat: and that were" test "$(sum 1 cachestat.out)" -ge 512
like "capable: chown wants CAP_CHOWN, and root has it" "$(cat capable.out)" ' chown +0 +CAP_CHOWN +yes$'
like "funclatency: two unlinks" "$(cat func.out)" '^Function = vfs_unlink'
check "funclatency: and how many" test "$(sed -n 's/^vfs_unlink: avg = .* count: //p' func.out)" -ge 2
is "ext4slower: writes with bytes" "$(awk '$4 == "W" && $5 == 65536 && $8 == "direct"' ext4.out | wc -l)" 5
is "ext4slower: a sync" "$(awk '$4 == "S" && $8 == "synced"' ext4.out | wc -l)" 1
is "execsnoop: three programs, with their arguments" "$(awk '$1 == "spin" { print $6 }' execs.out | tr '\n' ' ')" "1 2 3 "
like "syscount -c: by name" "$(cat sysc.out)" '^exit_group +3$'
check "iosnoop: five writes of 64 KiB" test "$(awk '$(NF-1) == 65536' io.out | wc -l)" -ge 5
like "runqlat" "$(cat runq.out)" '^     usecs               : count     distribution'
like "tcpaccept: who took it" "$(cat acc.out)" ' nc +[46] +(::ffff:)?127.0.0.1 .* 7777$'
is "nothing was lost or refused" "$(cat ./*.err | grep -v 'stacks* [a-z]* not kept\|events* [a-z]* missed')" ""
if [ -e oom.out ]; then
	like "oomkill: the victim by name" "$(cat oom.out)" 'OOM kill of PID [0-9]+ \("awk"\)'
else
	skip "oomkill" "no memory groups"
fi
