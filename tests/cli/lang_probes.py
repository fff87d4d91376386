#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every kind of probe on a target that knows how often, and with what, it is hit."""
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import KYMO, WORK, check, end, kymo, run, same, skip

if run("id -u").out.strip() != "0" or kymo(["run", "-q", "-e", "BEGIN { exit(); }"]).code:
    skip("probes", "this user or kernel may not load BPF programs")
    end()

W = os.path.abspath(f"{WORK}/static")  # see tests/work/static.c


def live(prog, times, *more):
    """What a program prints about the workload, without the workload's own line and empty ones."""
    r = kymo(["run", "-q", *more, "-c", f"{W} {times}", "-e", prog])
    lines = [x for x in r.out.split("\n") if x and not re.fullmatch(r"\d+ \d+", x)]
    return r, lines


def prints(name, prog, times, want, *more):
    r, lines = live(prog, times, *more)
    check(name, r.code == 0 and lines == want, f"want: {want}\n{r}")


if not os.path.exists("/sys/bus/event_source/devices/uprobe/type"):
    skip("probes in programs", "this kernel has no uprobes")
else:
    prints("uprobe and uretprobe", f"uprobe:{W}:twice {{ @a = sum(arg0); }} uretprobe:{W}:twice {{ @r = sum(retval); }}", 5,
           ["@a: 15", "@r: 30"])
    prints("uprobe with parameters by name", f"uprobe:{W}:twice {{ @ = sum(args.n); }}", 5, ["@: 15"])
    prints("uprobe by pattern", f"uprobe:{W}:twi* {{ @[func] = count(); }}", 3, ["@[twice]: 3"])
    prints("several uprobes with one program", f"uprobe:{W}:twi*, uprobe:{W}:main {{ @[func] = count(); }}", 3, ["@[main]: 1", "@[twice]: 3"])
    MANY = f"uprobe:{W}:twi*, uprobe:{W}:main, uretprobe:{W}:twi*, uretprobe:{W}:main"
    prints("which of them it was", f"{MANY} {{ @[probe] = count(); }}", 3,
           [f"@[uprobe:{W}:main]: 1", f"@[uretprobe:{W}:main]: 1", f"@[uprobe:{W}:twice]: 3", f"@[uretprobe:{W}:twice]: 3"])
    prints("compared with names", f'{MANY} /probe != "uprobe:{W}:main"/ {{ if (probe == "uretprobe:{W}:twice") {{ @[probetype] = count(); }} else '
           "{ @other = count(); } }", 3, ["@[uretprobe]: 3", "@other: 4"])
    r = kymo(["run", "-d", "-e", f"{MANY} {{ @[probe] = count(); }}"])
    check("one program for all of a kind", r.out.count(" instructions\n") == 2, r)
    prints("which of the usdt probes it was", f"usdt:{W}:work:* {{ @[probe] = count(); }}", 2,
           [f"@[usdt:{W}:work:guarded]: 2", f"@[usdt:{W}:work:hit]: 4"])
    if tuple(int(x) for x in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 12):
        prints("one uprobe with a command: no calls of kymo's own", "uprobe:libc:close { @[comm] = count(); }", 1, [])
    prints("and at their returns", f"uretprobe:{W}:twi*, uretprobe:{W}:main {{ @[retval] = count(); }}", 2, ["@[0]: 1", "@[2]: 1", "@[4]: 1"])
    r = kymo(["run", "--dry-run", "-e", "uprobe:libc:pthread_m* { @a[func] = count(); } uretprobe:libc:pthread_m* { @r[func] = count(); }"])
    check("names of functions of any length as keys", r.code == 0, r)
    prints("of many probes some may be impossible", "uprobe:libc:pthread_sp* { @ = count(); }", 3, ["@: 0"])
    prints("usdt at two places that keep arguments differently", f'usdt:{W}:work:hit {{ printf("%d %s %d\\n", arg0, str(arg1), arg2); }}',
           2, ["1 first 7", "-1 second 8", "2 first 7", "-2 second 8"])
    prints("usdt by pattern", f"usdt:{W}:*:h?t {{ @ = count(); }}", 4, ["@: 8"])
    prints("usdt with a semaphore", f"usdt:{W}:work:guarded {{ @ = sum(arg0); }}", 4, ["@: 10"])
    r = kymo(["run", "-l", f"usdt:{W}:*"])
    same("usdt -l", r.out, f"usdt:{W}:work:hit\nusdt:{W}:work:guarded\n")
    r = kymo(["run", "-lv", f"uprobe:{W}:twice"])
    same("uprobe -lv has parameters", r.out, f"uprobe:{W}:twice\n    int64 n\n")
    r = kymo(["run", "-e", f"uprobe:{W}:twise {{ }}"])
    check("a function that is not there, and what may be meant", r.code == 1 and "did you mean twice" in r.err, r)
    prints("uaddr: a variable of the program", f'uprobe:{W}:twice {{ printf("it is %d\\n", *uaddr("watched")); }}', 2, ["it is 1", "it is 2"])
    if os.uname().machine == "x86_64":
        length = int(re.search(r" +([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", run(["objdump", "-d", "--disassemble=twice", W]).out)[2].count(" "))
        if length > 1:
            r = kymo(["run", "-e", f"uprobe:{W}:twice+1 {{ @ = count(); }}"])
            check("no probe in the middle of an instruction", r.code == 1 and "no instruction begins at twice+1" in r.err, r)
        prints("at the next instruction", f"uprobe:{W}:twice+{length} {{ @ = count(); }}", 4, ["@: 4"])
    # stacks without frame pointers, of a process that is gone when they are printed
    r, lines = live(f"uprobe:{W}:twice {{ @[ustack(2)] = count(); @s[usym(reg(\"{'ip' if os.uname().machine == 'x86_64' else 'pc'}\"))] = count(); }}", 6)
    text = [x.strip() for x in lines]
    check("a user stack", text[:4] == ["@[", "twice+0", next((x for x in text if x.startswith("main+")), "main"), "]: 6"] and
          "@s[twice]: 6" in text, r)

    # what is attached at first only copies stacks, and another program takes over: each kind of probe, and both for short and for long
    kinds = {"uprobe": f"uprobe:{W}:twice", "tracepoint": 'tracepoint:syscalls:sys_enter_write /comm == "static"/',
             "raw tracepoint": 'rawtracepoint:sys_enter /comm == "static" && (arg1 == 1 || arg1 == 64)/', "timer": 'profile:hz:999 /comm == "static"/'}
    for kind, probe in kinds.items():
        prog = f"{probe} {{ @[ustack] = count(); }}"
        r = kymo(["run", "-v", "--dry-run", "-e", prog])
        if "by unwinding tables" not in r.err:
            skip(f"stacks from the first to the last: {kind}", "no stack walker here")
            continue
        check(f"a shorter program comes first: {kind}", "copies stacks, does its work until then" in r.err, r)
        for times in (30000000,) if kind == "timer" else (1, 300):
            r = kymo(["run", "-q", "-c", f"{W} {times}", "-e", prog])
            stacks = [(s.split(), int(n)) for s, n in re.findall(r"^@\[\n(.*?)^\]: (\d+)$", r.out, re.M | re.S)]
            whole = [n for s, n in stacks if s and s[-1].startswith("_start+")]  # none yet while it is still being started
            check(f"stacks from the first to the last: {kind}, {times}", sum(whole) and (kind != "uprobe" or whole == [times]), r)

    # what the end clears stays clear, while probes that take long to be taken away are still being hit
    busy = subprocess.Popen([W, "2000000000"], stdout=subprocess.DEVNULL)
    r = kymo(["run", "-q", "-p", str(busy.pid), "-e", f"uprobe:{W}:twi*, uprobe:{W}:main {{ @ = count(); }} interval:ms:5 {{ if (@ > 100) {{ exit(); }} }} END {{ clear(@); }}"])
    busy.kill()
    busy.wait()
    check("many uprobes are stopped before the end", r.code == 0 and not r.out.strip(), r)

    # the walker's code is kept; what is damaged is made anew
    with tempfile.TemporaryDirectory() as folder:
        def walked():
            r = kymo(["run", "-v", "-q", "-c", f"{W} 3", "-e", f"uprobe:{W}:twice {{ @[ustack(2)] = count(); }}"], env={"XDG_CACHE_HOME": folder})
            kept = [os.path.join(d, f) for d, _, names in os.walk(folder) for f in names if f.startswith("walk-fn-")]
            return "twice+0" in r.out and "]: 3" in r.out, kept, r

        good, kept, r = walked()
        if "by unwinding tables" not in r.err:
            skip("the walker's code in the cache", "no stack walker here")
        else:
            check("stacks, and the walker's code is kept", good and len(kept) == 1, r)
            for name, spoil in (("as it is", lambda b: b), ("damaged", lambda b: b[:200] + bytes([b[200] ^ 1]) + b[201:]), ("cut", lambda b: b[:100]),
                                ("empty", lambda b: b"")):
                with open(kept[0], "rb") as f:
                    whole = f.read()
                with open(kept[0], "wb") as f:
                    f.write(spoil(whole))
                good, again, r = walked()
                with open(kept[0], "rb") as f:
                    check(f"the walker's code from the cache: {name}", good and again == kept and f.read() == whole, r)

symbols = run(["nm", W]).out
address = re.search(r"^([0-9a-f]+) . watched$", symbols, re.M)
r, lines = live(f"watchpoint:0x{address[1]}:8:w {{ @ = count(); }}", 5) if address else (None, None)
if r is None or "cannot attach" in r.err:
    skip("watchpoint", f"no watchpoints here: {r}")
else:
    check("watchpoint", lines == ["@: 5"], r)

prints("tracepoint with fields, and its raw form", 'tracepoint:sched:sched_process_exit /args.comm == "static"/ { @t = count(); } '
       'rawtracepoint:sched_process_exit /comm == "static"/ { @r = count(); }', 1, ["@r: 1", "@t: 1"])
prints("a system call's tracepoints", 'tracepoint:syscalls:sys_enter_write /comm == "static" && args.fd == 1/ { @[args.count] = count(); } '
       'tracepoint:syscalls:sys_exit_write /comm == "static"/ { @r = sum(args.ret); }', 3, ["@[5]: 1", "@r: 5"])
r, lines = live('software:page-faults:1 /comm == "static"/ { @ = count(); }', 1)
check("software", len(lines) == 1 and int(lines[0].split()[-1]) > 10, r)
r = kymo(["run", "-q", "-e", f'iter:task /ctx->task->pid == {os.getpid()}/ {{ printf("%s %d\\n", ctx->task->comm, ctx->task->pid); }}'])
check("iter:task", f" {os.getpid()}\n" in r.out, r)
with open("/dev/null") as null:
    r = kymo(["run", "-q", "-e", f'iter:task_file /ctx->task->pid == {os.getpid()} && ctx->fd == {null.fileno()}/ {{ printf("it\\n"); }}'])
check("iter:task_file", "it\n" in r.out, r)
r = kymo(["run", "-v", "-q", "-c", "true", "-e", "BEGIN { @a[1] = 1; } rawtracepoint:sched_switch { @b = count(); } interval:s:100 { exit(); }"])
check("-v: maps, programs, the verifier's work, how they are attached", r.code == 0 and "map @a: hash, keys of 8 and values of 8 bytes" in r.err and
      re.search(r"^program rawtracepoint:sched_switch: \d+ instructions, the verifier went through \d+.*, number \d+$", r.err, re.M) and
      "  rawtracepoint:sched_switch: as a raw tracepoint\n" in r.err and "  interval:s:100: run by a timer" in r.err, r)
r = kymo(["run", "-q", "-e", "interval:ms:5 { @++; if (@ == 4) { exit(); } }"])
check("interval", r.code == 0 and "@: 4" in r.out, r)
r = kymo(["run", "-q", "-e", "profile:ms:2 { @ = count(); } interval:ms:20 { if (@ > 3) { exit(); } }"])
check("profile", r.code == 0 and int(re.search(r"@: (\d+)", r.out)[1]) > 3, r)
r = kymo(["run", "-e", "hardware:cycles:1000000 { @ = count(); } interval:ms:1 { exit(); }"])
check("hardware, or why not", r.code == 0 or "no such counter" in r.err, r)
for kind, word in (("kprobe", "kprobes"), ("fentry", "fentry")):
    r = kymo(["run", "-q", "-c", "true", "-e", f"{kind}:vfs_read {{ @ = count(); }}"])
    check(f"{kind}, or what may serve instead", r.code == 0 or (word in r.err and "tracepoint:syscalls:sys_enter_read is near" in r.err), r)
p = subprocess.Popen([KYMO, "run", "-q", "-e", 'BEGIN { printf("go\\n"); } self:signal:SIGUSR1 { printf("got it\\n"); exit(); }'], stdout=subprocess.PIPE,
                     text=True)
first = p.stdout.readline()
p.send_signal(signal.SIGUSR1)
out, _ = p.communicate(timeout=60)
check("self:signal", first == "go\n" and "got it\n" in out and p.returncode == 0, out)
# a target that is killed, and probes that match thousands
victim = subprocess.Popen(["sleep", "1000"])
p = subprocess.Popen([KYMO, "run", "-q", "-p", str(victim.pid), "-e", 'BEGIN { printf("go\\n"); } tracepoint:sched:sched_switch { @ = count(); }'],
                     stdout=subprocess.PIPE, text=True)
p.stdout.readline()
victim.kill()
victim.wait()
out, _ = p.communicate(timeout=60)
check("-p ends with its process", p.returncode == 0, out)
# maps with an entry a thread, which the kernel keeps with the threads where it can
THREADS = f"""{sys.executable} -c 'import os, threading
def f():
    for i in range(3): os.getppid()
t = [threading.Thread(target=f) for i in range(4)]
[(x.start(), x.join()) for x in t]'"""
IN, OUT = "tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_exit_getppid"
for name, prog, want in (
        ("set, read, deleted", f"{IN} /pid == cpid/ {{ @s[tid] = 1; }} {OUT} /@s[tid]/ {{ @n = count(); delete(@s[tid]); }}", ["@n: 12"]),
        ("gone when deleted", f"{IN} /pid == cpid/ {{ @s[tid] = 7; delete(@s, tid); }} {OUT} /pid == cpid/ "
         "{ @v = sum(@s[tid]); @k = sum(has_key(@s, tid)); }", ["@k: 0", "@v: 0"]),
        ("added to, cleared at the end", f"{IN} /pid == cpid/ {{ @s[tid] += 2; @s[tid]++; if (@s[tid] == 9) {{ @nine = count(); }} "
         "if (has_key(@s, tid)) { @has = count(); } } END { clear(@s); }", ["@has: 12", "@nine: 4"]),
        ("never set", f"{IN} /pid == cpid/ {{ if (@never[tid]) {{ @never[tid] = 1; }} @n = count(); }} END {{ clear(@never); }}", ["@n: 12"]),
        ("of threads that are gone, when nothing takes it out", f"{IN} /pid == cpid/ {{ @s[tid]++; }} END {{ print(@s, 100); clear(@s); }}", None)):
    r = kymo(["run", "-q", "-c", THREADS, "-e", prog])
    lines = sorted(x for x in r.out.split("\n") if x)
    check(f"a map by thread: {name}", r.code == 0 and (lines == want if want else len(lines) == 4 and all(x.endswith(": 3") for x in lines)), r)
# a map that others fill
with tempfile.TemporaryDirectory() as fs:
    made = f"bpftool map create {fs}/set type hash key 8 value 4 entries 4 name set && bpftool map update pinned {fs}/set key hex 05 0 0 0 0 0 0 0 value hex 1 0 0 0"
    if run(f"mount -t bpf bpf {fs} && {made}", shell=True).code:
        skip("a pinned map", "no bpftool, or it may not")
    else:
        r = kymo(["run", "-q", "-e", f'BEGIN {{ printf("%d %d %d\\n", in_map("{fs}/set", 5), in_map("{fs}/set", 4), in_map("", 4)); exit(); }}'])
        check("keys of a pinned map", r.code == 0 and r.out.startswith("1 0 1\n"), r)
        r = kymo(["run", "-e", f'BEGIN {{ @ = in_map("{fs}/none", 5); exit(); }}'])
        check("one that is not there, and how to make it", r.code == 1 and "cannot open the pinned map" in r.err and "bpftool map create" in r.err, r)
    run(f"umount {fs}")
r = kymo(["run", "-p", "1", "-c", "true", "-e", "BEGIN { exit(); }"])
check("-p and -c at once are refused", r.code == 1 and "cannot both" in r.err, r)
r = kymo(["run", "-e", "profile:hz:99999999 { @ = count(); }"])
check("profile: more samples than the kernel takes, and how many it does",
      r.code == 1 and f"up to {open('/proc/sys/kernel/perf_event_max_sample_rate').read().strip()} samples a second" in r.err, r)
r = kymo(["run", "-e", "software:nosuch:1 { @ = count(); }"])
check("an event that is not there, and where to look", r.code == 1 and "kymo run -l 'software:*' lists them" in r.err, r)
# texts as long as they may be: what is looked for in them, and where
LONG = "/kymo-long/" + "ab" * 1000 + "needle" + "xy" * 300
OPEN = f"{sys.executable} -c 'try: open(\"{LONG}\")\nexcept OSError: pass'"
for what, want in (('len($p), strstr($p, "needle"), strstr($p, "needles")', [len(LONG), LONG.index("needle"), -1]),
                   ("strcontains($p, comm), strcontains($p, $p)", ["false", "true"]),
                   ("find($p, str(args.filename + 2000))", [LONG.index(LONG[2000:])]),
                   ('strmatch($p, "*abab*needle*yxy"), strmatch($p, "/kymo*needles*"), strmatch($p, "*xyx")', ["true", "false", "false"])):
    r = kymo(["run", "-q", "-c", OPEN, "-e", 'config = { max_strlen = 4096 } tracepoint:syscalls:sys_enter_openat /pid == cpid/ { $p = str(args.filename); '
              f'if (strncmp($p, "/kymo-long/", 11) == 0) {{ print(({what}, 0)); }} }}'])
    if "too complex" in r.err:  # before Linux 6.9 the verifier goes through every round
        skip(f"long texts: {what}", "this kernel's verifier cannot follow them")
    else:
        check(f"long texts: {what}", r.out.startswith(f"({', '.join(map(str, want))}, 0)\n"), r)
# a probe that is longer than the kernel takes, before and after it has added what it adds
with tempfile.TemporaryDirectory() as folder:
    for times in (1200, 1500):
        with open(f"{folder}/long.bt", "w") as f:
            f.write("tracepoint:syscalls:sys_enter_openat { $p = str(args.filename); " + "".join(
                f'if (strncmp($p, "a{i}", 3) == 0 && comm == "b{i}") {{ @x{i % 50} = count(); }} ' for i in range(times)) + "}")
        r = kymo(["run", "--dry-run", f"{folder}/long.bt"])
        check(f"a probe of {times} branches: loaded, or too long", r.code == 0 or r.code == 1 and "too long" in r.err and "fault of kymo" not in r.err, r)
# packets into a file
SEND = f"{sys.executable} -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"kymo sends this\", (\"127.0.0.1\", 9))'"
with tempfile.TemporaryDirectory() as folder:
    for length in (400, 30):
        pcap = f"{folder}/{length}.pcap"
        r = kymo(["run", "-q", "-c", SEND, "-e", f'rawtracepoint:netif_receive_skb /pid == cpid/ {{ skboutput("{pcap}", args.skb, {length}, 0); }}'])
        data = open(pcap, "rb").read() if os.path.exists(pcap) else b""
        head, packets = struct.unpack_from("<IHHIIII", data.ljust(24)), []
        at = 24
        while at + 16 <= len(data):
            n = struct.unpack_from("<I", data, at + 8)[0]
            packets.append(data[at + 16:at + 16 + n])
            at += 16 + n
        check(f"skboutput(), {length} bytes: a pcap file of raw IP", r.code == 0 and head[0] == 0xa1b23c4d and head[6] == 101 and at == len(data), (r, data))
        udp = [p for p in packets if p[:1] == b"E" and p[9] == socket.IPPROTO_UDP]
        same(f"skboutput(), {length} bytes: the packet", [(p[12:20], p[22:24], p[28:]) for p in udp],
             [(b"\x7f\0\0\1\x7f\0\0\1", b"\0\x09", b"kymo sends this"[:length - 28])])
# control groups by name
v2 = next((line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"), None)
group = f"{v2}/kymo-test-{os.getpid()}"
try:
    os.makedirs(f"{group}/inner")
    r = kymo(["run", "-q", "-e", f'BEGIN {{ printf("%s %s\\n", cgroup_path(cgroupid("{group}/inner")), cgroup_path(cgroupid("{v2}"))); @[cgroup_path(cgroupid("{group}"))] = 1; printf("%s\\n", cgroup_path(4000000000)); exit(); }}'])
    name = os.path.basename(group)
    same("cgroup_path(): its path in the hierarchy, or the number of one that is not there", [x for x in r.out.split("\n") if x],
         [f"unified:/{name}/inner unified:/", "4000000000", f"@[unified:/{name}]: 1"])
    child = subprocess.Popen(["sh", "-c", f"echo $$ >{group}/inner/cgroup.procs && exec {KYMO} run -q -e 'BEGIN {{ print(cgroup_path(cgroup)); exit(); }}'"], stdout=subprocess.PIPE, text=True)
    same("cgroup_path(cgroup): where a process is", child.communicate(timeout=60)[0].strip(), f"unified:/{name}/inner")
except (OSError, TypeError) as e:
    skip("cgroup_path()", f"no cgroup can be made: {e}")
for path in (f"{group}/inner", group):
    if os.path.isdir(path):
        os.rmdir(path)
# variables that each CPU has its own of
if any(re.search(r"^[0-9a-f]*[1-9a-f][0-9a-f]* . runqueues$", line) for line in open("/proc/kallsyms")):
    r = kymo(["run", "-q", "-e", 'BEGIN { $q = (struct rq *)percpu_kaddr("runqueues", 0); $own = (struct rq *)percpu_kaddr("runqueues"); '
              'printf("%d %d %d\\n", $q->cpu, $own->cpu == cpu, percpu_kaddr("runqueues", 100000) == 0); exit(); }'])
    check("percpu_kaddr(): the variable of a CPU, of this one, of none", r.out.startswith("0 1 1\n"), r)
else:
    r = kymo(["run", "-e", 'BEGIN { print(percpu_kaddr("runqueues")); exit(); }'])
    check("percpu_kaddr(): this kernel does not tell where", r.code == 1 and "the kernel has no symbol 'runqueues'" in r.err, r)
# a function's result, where a kernel allows to choose it
for args, prog, word in ((["--unsafe"], "tracepoint:sched:sched_switch { override(5); }", "in kprobes only"),
                         ([], "tracepoint:sched:sched_switch { override(5); }", "allow it with --unsafe"),
                         (["--unsafe"], 'BEGIN { override("x"); }', "override()")):
    r = kymo(["run", *args, "-e", prog])
    check(f"override() is refused: {word}", r.code == 1 and word in r.err, r)
r = kymo(["run", "-e", "tracepoint:*:* { @ = count(); }"])
check("probes that match thousands", r.code == 1 and "more than max_probes" in r.err, r)
r = kymo(["run", "-q", "-c", "true", "-e", "tracepoint:syscalls:sys_enter_* { @[probe] = count(); }"])
check("all system calls, with one program", r.code == 0 and "@[tracepoint:syscalls:sys_enter_execve]" in r.out, r)
end()
