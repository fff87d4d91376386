# shellcheck shell=sh
# timeout: 300
# Probes in the kernel, with parameters from its own types, and in a program; every hit with its values.

[ -e /sys/kernel/tracing/kprobe_events ] || skip_all "no kernel probes"
events() { cat /sys/kernel/tracing/kprobe_events /sys/kernel/tracing/uprobe_events; }
shown() { kymo script -i p.data -F event,trace 2>/dev/null; }

like "-V: parameters of a kernel function" "$(kymo probe -V vfs_read 2>&1)" 'size_t.count'
check "a function" kymo probe -q vfs_read
is "-l" "$(kymo probe -l)" "  probe:vfs_read       (on vfs_read)"
check "it is removed" kymo probe -q -d vfs_read
is "and gone" "$(events)" ""

# A file of a known name and size read with a known count.
printf 0123456789 >a-file-of-mine
check "parameters, fields through pointers, a text" kymo probe -q 'vfs_read count name=file->f_path.dentry->d_name.name:string ino=file->f_inode->i_ino'
kymo record -q -o p.data -e probe:vfs_read dd if=a-file-of-mine of=/dev/null bs=4 2>/dev/null
out=$(shown | grep a-file-of-mine)
is "every read was seen" "$(echo "$out" | wc -l)" 4
is "all with the count asked for" "$(echo "$out" | grep -c 'count=0x4 ')" 4
is "and with the file's number" "$(echo "$out" | sed 's/.*ino=//' | sort -u)" "$(printf '0x%x' "$(stat -c %i a-file-of-mine)")"
kymo probe -q -d 'probe:*'

check "what a function gives back has its type" kymo probe -q 'ret=vfs_read%return $retval'
kymo record -q -o p.data -e probe:ret__return dd if=a-file-of-mine of=/dev/null bs=4 2>/dev/null
is "the last four are 4, 4, 2 and 0" "$(shown | sed 's/.*arg1=//' | tail -4 | tr '\n' ' ')" "4 4 2 0 "
kymo probe -q -d 'probe:*'

check "struct members of a task" kymo probe -q 'ex=do_exit code' -f
kymo record -q -o p.data -e probe:ex sh -c 'exit 7'
like "the exit code" "$(shown)" 'code=(1792|0x700)'
kymo probe -q -d 'probe:*'

like "-nv shows what can be pasted elsewhere" "$(kymo probe -nv 'tcp_sendmsg size sk->__sk_common.skc_state' 2>&1)" \
	'p:probe/tcp_sendmsg tcp_sendmsg\+0 size=%(dx|x2):x64 skc_state=\+18\(%(di|x0)\):x8'
is "-n adds nothing" "$(events)" ""

# kept for this build of the kernel
HOME=$PWD/home PERF_BUILDID_DIR=
export HOME
unset PERF_BUILDID_DIR
mkdir -p "$HOME"
check "--cache" kymo probe -q --cache 'hot=vfs_read count'
kymo probe -q -d 'probe:*'
like "-l --cache" "$(kymo probe -l --cache)" '^probe:hot=vfs_read count$'
check "kept probes go by name" kymo probe -q '%hot'
kymo record -q -o p.data -e probe:hot dd if=a-file-of-mine of=/dev/null bs=4 2>/dev/null
is "and see the same" "$(shown | grep -c 'count=0x4$')" 4
kymo probe -q -d 'probe:*'
check "-d --cache" kymo probe -q --cache -d 'probe:hot'
refuse "it is forgotten" kymo probe -q '%hot'

# behind the place that ftrace patches
case $ARCH in aarch64) reg=x2 off=12 ;; *) reg=dx off=5 ;; esac
check "registers and memory by hand" kymo probe -q "vfs_read bytes=%$reg"
kymo record -q -o p.data -e probe:vfs_read --filter 'bytes == 4' dd if=a-file-of-mine of=/dev/null bs=4 2>/dev/null
is "a filter on an argument" "$(shown | wc -l)" 4
kymo probe -q -d 'probe:*'

check "an offset" kymo probe -q "vfs_read+$off"
kymo probe -q -d 'probe:*'
out=$(kymo probe vfs_read+1 2>&1)
like "in the middle of an instruction: the kernel's reason" "$out" 'refuses the probe'
out=$(kymo probe 'vfs_read bad=+0(%nosuchreg)' 2>&1)
like "a bad argument: the kernel's reason" "$out" 'refuses the probe'
like "with a caret" "$out" '\^'
out=$(kymo probe vfs_redd 2>&1)
like "an unknown function: what is near" "$out" 'did you mean vfs_read'
out=$(kymo probe 'vfs_read cont' 2>&1)
like "an unknown parameter: what is near" "$out" 'did you mean count'
out=$(kymo probe 'vfs_read file->f_pth' 2>&1)
like "an unknown field: what is near" "$out" 'did you mean f_path'
out=$(kymo probe 'vfs_read:3' 2>&1)
like "a line needs debug info" "$out" 'no debug info'
out=$(kymo stat -e probe:vfs_raed true 2>&1)
like "an event of a probe that was not added" "$out" 'kymo probe --add vfs_raed'
is "nothing is left" "$(events)" ""

# In a program that has its debug info: busybox has none, kymo's own work programs do.
out=$(kymo probe -x "$(command -v known)" -D main 2>&1)
like "a program's function" "$out" 'p:probe_known/main .*known:0x'
