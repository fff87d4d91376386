#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same programs under bpftrace and kymo run give the same text: values, maps, histograms, JSON,
and counts of a workload that does what it says."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import KYMO, SAN, check, end, run, skip

if not shutil.which("bpftrace") or run("id -u").out.strip() != "0":
    skip("bpftrace's output", "needs bpftrace and root")
    end()
if run(["bpftrace", "-e", "BEGIN { exit(); }"], timeout=120).code != 0:
    skip("bpftrace's output", "bpftrace does not work here")
    end()

# Known differences, each with its reason; docs/lang.md tells them too.
#   pointers are printed in hexadecimal, %d and %u never cut to 32 bits, equal values of a map in the order of keys,
#   no blank lines in JSON.
BLOCKS = [
    'printf("%d %s %x\\n", 1, "a", 255); printf("%5d|%-5d|%05d|%c|%p\\n", 6, 7, 42, 65, 5);',
    'printf("%s|%8s|%-8s|%r\\n", "ab", "ab", "cd", buf("\\x01b", 2)); printf("%lld %lld\\n", -1, 1 << 40);',
    'print(5); print((1, 2)); print((1, "a", (2, 3))); print("text"); print(-5);',
    '@x = 1; @y[1, 2] = 3; @y[4, 5] = 1; @s = "abc"; @t = (1, "a");',
    '@h = hist(5); @h = hist(100); @h = hist(0); @n = hist(-1); @n = hist(2000000); @n = hist(1);',
    '@l = lhist(5, 0, 10, 2); @l = lhist(50, 0, 10, 2); @l = lhist(-50, 0, 10, 2); @m = lhist(1500, 0, 4096, 1024);',
    '@a = avg(4); @a = avg(9); @st = stats(5); @st = stats(6); @c = count(); @mn = min(3); @mn = min(-2); @mx = max(7);',
    '@a["x"] = avg(4); @a["y"] = avg(1); @a["z"] = avg(-3); @st["q"] = stats(5); @st["p"] = stats(2);',
    '@hh["a"] = hist(0); @hh["a"] = hist(4); @hh["b"] = hist(70000); print(@hh);',
    '@x[1] = 10; @x[2] = 30; @x[3] = 20; print(@x, 2); print(@x, 0, 10); print(@x, 1, 2); clear(@x);',
    '@x[1] = 5; zero(@x); @y[1] = 2; delete(@y[1]); @z = 0;',
    '@sm[5] = sum(3); @sm[1] = sum(-3); @neg[1] = -3; @neg[2] = 2; @str["k"] = "v"; @str["b"] = "w";',
    '@n[ntop(16777343)] = 1; @b[buf("a\\x01b", 3)] = 1; @pr[probe] = 1; @un[username] = 1;',
    '$i = 0; while ($i < 5) { $i++; if ($i == 2) { continue; } printf("%d ", $i); } printf("\\n"); unroll(3) { @u = count(); }',
    '$x = 5; $x += 2; $x *= 3; $x -= 1; $x /= 2; $x %= 7; $x <<= 3; $x |= 1; printf("%d\\n", $x); printf("%d %d\\n", $x++, ++$x);',
    'printf("%d %d %d\\n", 7 / 2, 7 % 3, (1 + 2) * 3); printf("%d %d\\n", 6 & 3, 6 ^ 3);',
    '$s = "hello"; if (strncmp($s, "help", 3) == 0) { printf("near\\n"); } if ($s == "hello") { printf("same\\n"); }',
    'printf("%s\\n", 1 == 1 ? "yes" : "no"); @c = (int8)300; @d = (uint16)-1;',
    '@e = sizeof(uint32); @f = sizeof(struct task_struct) > 1000;',
    '@k[ksym(kaddr("vfs_read"))] = 1; @u[usym(0x10)] = 1;',
    'print(@n); @c = count(); print(@c); clear(@c); print(@c); @s = sum(4); @m = max(3); @a = avg(2); @t = stats(5); @h = hist(3); @n = count(); '
    'zero(@s); zero(@m); zero(@a); zero(@t); zero(@h); zero(@n); print(@s); print(@h); @i = @i + 1; @i = @i + 1; printf("%hhd %hd %hhx %hx %hu %hhu %ld\\n", 300, 70000, 511, 70000, 70000, 300, -1);',
    # several in one, for a start of bpftrace takes long
    'printf("%5s|%-5s|%.2s\\n", "abcdefg", "ab", "xyz"); printf("%c%c%c\\n", 72, 105, 33); printf("a\\tb\\\\n\\"q\\"\\n"); '
    'printf("%d\\n", 0x1f + 010 + 1e3); printf("%d %d\\n", 1_000_000, 5e2); printf("%d\\n", 1 ? 2 : 3); printf("%d %d %d\\n", !1, !0, ~0); '
    'printf("%d %d %d %d\\n", 5 > 3, 5 < 3, 1 && 0, 1 || 0); printf("%d %d\\n", 1 << 3 | 1, 2 + 3 * 4 - 1); printf("%3d|%-3d|%03d\\n", 1, 2, 3);',
    '$a = 10; $b = 3; printf("%d %d %d %d %d\\n", $a + $b, $a - $b, $a * $b, $a / $b, $a % $b); printf("%d %d\\n", $a++, $a--); '
    'printf("%d %d\\n", ++$a, --$a); $i = 0; while ($i < 10) { if ($i == 5) { break; } $i++; } printf("%d\\n", $i); '
    '$n = 0; while ($n < 3) { $j = 0; while ($j < 2) { printf("%d%d ", $n, $j); $j++; } $n++; } printf("\\n"); '
    'if (0) { printf("a\\n"); } else if (1) { printf("b\\n"); } else { printf("c\\n"); }',
    '@a = 1; @a++; @a++; ++@a; @b = @a + 5; @c[1] = 2; @c[1] += 5; @c[1] *= 2; @c[1] -= 4; printf("%d %d\\n", @a, @c[1]); '
    '@x["a", 1] = 1; @x["b", 2] = 2; @y[1, "b", 3] = 3; @y[0, "zz", 5] = 4; @z[0] = 1; @z[-1] = 2; @z[-100] = 4; unroll(4) { @u += 2; }',
    '$t = (1, "two", 3); printf("%d %s %d\\n", $t.0, $t.1, $t.2); print($t); $n = (1, (2, 3)); print($n.1); print($n.1.1); '
    '@t = (1, (2, "x")); @u[1] = (5, 6); print((1, -2, "abc")); print(1 == 1);',
    '@s = sum(5); @s = sum(-7); @m = min(5); @m = min(9); @a = avg(1); @a = avg(2); @st = stats(-4); @st = stats(8); @c[0] = count(); @c[0] = count(); '
    '@c[1] = count(); @ss["a"] = sum(-5); @ss["b"] = sum(5); @mn["a"] = min(-1); @mx["z"] = max(3);',
    '@h1 = hist(1); @h1 = hist(2); @h1 = hist(3); @h1 = hist(1024); @h1 = hist(1025); @h2 = hist(0); @h3[1] = hist(10); @h3[2] = hist(100000); '
    '@h4["a"] = hist(5); @h4["b"] = hist(50); print(@h4, 1);',
    '@l1 = lhist(0, 0, 100, 10); @l1 = lhist(99, 0, 100, 10); @l1 = lhist(100, 0, 100, 10); @l1 = lhist(-1, 0, 100, 10); @l2["q"] = lhist(3, 0, 5, 1); '
    '@l2["r"] = lhist(1, 0, 5, 1); @l3 = lhist(500000, 0, 10000, 1000); @l4 = lhist(-5, -10, 10, 5); @l4 = lhist(7, -10, 10, 5);',
    '@x[1] = 1; @x[2] = 2; delete(@x[1]); print(@x); @y = 5; delete(@y); @z["a"] = 5; @z["b"] = 50; @z["c"] = 20; print(@z, 2); print(@z, 2, 10); '
    '@w[1] = 1; if (@w[1]) { printf("there\\n"); } if (@w[2]) { printf("bad\\n"); } else { printf("not there\\n"); }',
    '$s = "abc"; printf("%s %d %d\\n", $s, $s == "abc", $s != "abd"); printf("%d %d\\n", strncmp("abcd", "abxx", 2), strncmp("abcd", "abxx", 3) != 0); '
    '@s["one"] = "eins"; @s["two"] = "zwei"; printf("%s\\n", @s["one"]); printf("%rx|%rh|%r\\n", buf("abc", 3), buf("abc", 3), buf("a\\x00d", 3)); '
    'printf("%s %s\\n", ntop(0x0100007f), ntop(2, 0x0100007f));',
    'printf("%d %d %d\\n", sizeof(uint8), sizeof(int64), sizeof((int16)1)); printf("%d %d\\n", (uint8)257, (int8)200); @a = (uint8)300; @b = (int8)200; '
    '@c = (int32)-1; printf("%x %x\\n", bswap((uint16)0x1234), bswap((uint32)0x12345678)); @u = (uint64)-1; if (@u > 5) { printf("big\\n"); } '
    '@x = 9223372036854775807; @y = -9223372036854775808; printf("%lld %lld\\n", @x, @y); clear(@u);',
    'printf("%s %d %d %d\\n", probe, pid == tid, uid, gid); printf("%d %d %d\\n", nsecs > 0, elapsed >= 0, cpu < 4096); printf("%s\\n", ksym(kaddr("vfs_read"))); '
    '$t = (struct task_struct *)curtask; printf("%s %d %d\\n", $t->comm, $t->pid == tid, $t->real_parent->pid > 0); @ = $t->tgid == pid; '
    'time("%Y\\n"); printf("%s\\n", strftime("%Y", nsecs)); cat("/proc/sys/kernel/ostype"); cat("/proc/%s/kernel/ostype", "sys"); '
    'printf("%s\\n", macaddr("\\x08\\x00\\x27\\x00\\x00\\x01"));',
]


def both(prog, *args, timeout=120):
    env = {"BPFTRACE_MAX_MAP_KEYS": "4096"}
    ours = run([KYMO, "run", *args, "-e", prog], timeout=timeout, env=env)
    theirs = run(["bpftrace", *args, "-e", prog], timeout=timeout, env=env)
    return ours, theirs


def plain(text):
    """Without names, and without blank lines: bpftrace prints one for a map that is empty."""
    return [x for x in text.replace("bpftrace", "NAME").replace("kymo", "NAME").split("\n") if x]


for b in BLOCKS if not SAN else BLOCKS[:3]:
    ours, theirs = both(f"BEGIN {{ {b} exit(); }}")
    check(f"text: {b}", plain(ours.out) == plain(theirs.out), f"kymo: {ours}\nbpftrace: {theirs}")
for b in BLOCKS[2:9] if not SAN else []:
    ours, theirs = both(f"BEGIN {{ {b} exit(); }}", "-f", "json")
    lines = [[json.loads(x) for x in r.out.split("\n") if x.strip()] for r in (ours, theirs)]
    check(f"json: {b}", lines[0] == lines[1], f"kymo: {ours}\nbpftrace: {theirs}")

# What is wrong is wrong for both.
for b in ('printf("%d %d\\n", 1);', '$x = $y + 1;', '@x[1] = 1; @x["a"] = 2;', '@x = count(); @x = sum(1);') if not SAN else ():
    ours, theirs = both(f"BEGIN {{ {b} exit(); }}")
    check(f"refused: {b}", ours.code != 0 and theirs.code != 0, f"kymo: {ours}\nbpftrace: {theirs}")

# A workload: only events of its own processes are looked at.
LOAD = "dd if=/dev/zero of=/dev/null bs=1000 count=300 status=none"
PROGRAMS = [
    'tracepoint:syscalls:sys_exit_write /comm == "dd"/ { @[args->ret] = count(); @h = hist(args->ret); }',
    'tracepoint:syscalls:sys_enter_read /comm == "dd" && args->count == 1000/ { @calls = count(); @size = sum(args->count); }',
    'tracepoint:raw_syscalls:sys_enter /comm == "dd" && args->id < 2/ { @[args->id] = count(); }',
    'tracepoint:syscalls:sys_enter_openat /comm == "dd"/ { @[str(args->filename)] = count(); }',
    'tracepoint:syscalls:sys_enter_write /comm == "dd" && args->count == 1000/ { @s[tid] = nsecs; @n = count(); } END { clear(@s); }',
    # of its tutorial and reference
    'tracepoint:syscalls:sys_enter_openat /comm == "dd"/ { printf("%s %s\\n", comm, str(args->filename)); @n = count(); }',
    'tracepoint:raw_syscalls:sys_enter /comm == "dd"/ { @[comm, pid == cpid] = count(); }',
    'tracepoint:raw_syscalls:sys_exit /comm == "dd" && args->ret == 1000/ { @bytes[args->id] = sum(args->ret); @l = lhist(args->ret, 0, 2000, 200); }',
    'tracepoint:sched:sched_process_e* /pid == cpid/ { @[probe] = count(); } tracepoint:syscalls:sys_exit_read /pid == cpid && args->ret < 0/ { @bad = count(); }',
    'tracepoint:syscalls:sys_enter_read /pid == cpid && args->count == 1000/ { @start[tid] = nsecs; } '
    'tracepoint:syscalls:sys_exit_read /@start[tid]/ { @calls[comm] = count(); @slow = max(nsecs - @start[tid] > 1000000000); delete(@start[tid]); }',
    'tracepoint:syscalls:sys_enter_write /pid == cpid && args->count == 1000/ { @[args->fd, args->count] = count(); @st = stats(args->count); @av[comm] = avg(args->fd); }',
    'tracepoint:syscalls:sys_enter_exit_group /pid == cpid/ { printf("%s %d %s\\n", comm, args->error_code, probe); @t = (comm, args->error_code); }',
    'tracepoint:syscalls:sys_enter_write /pid == cpid && args->count == 1000/ { @b[buf(args->buf, 4)] = count(); @w[strncmp(comm, "ddx", 2) == 0 ? "dd" : "other", cpu < 0] = count(); }',
    'uprobe:libc.so.6:getenv, uretprobe:libc.so.6:getenv /pid == cpid/ { @[probe] = count(); }' if os.path.exists("/lib/x86_64-linux-gnu/libc.so.6") else None,
    'uprobe:libc.so.6:write /comm == "dd" && arg2 == 1000/ { @[arg2] = count(); }' if os.path.exists("/lib/x86_64-linux-gnu/libc.so.6") else None,
]
if not any(os.path.isdir(f"/sys/kernel/{d}/events") for d in ("tracing", "debug/tracing")):
    skip("a workload", "tracefs is not mounted")
    PROGRAMS = []
for p in filter(None, PROGRAMS if not SAN else []):
    p = p.replace("libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6")
    ours, theirs = both(p, "-c", shutil.which("dd") + LOAD[2:])

    def maps(r):
        # a name whose page is not in memory yet cannot be read in the kernel: names of this workload only
        return sorted(x for x in r.out.split("\n") if re.match(r"[@\[(]", x) and not re.match(r"@\[(\]|/(?!dev))", x))
    check(f"a workload: {p}", maps(ours) == maps(theirs) and maps(ours), f"kymo: {ours}\nbpftrace: {theirs}")
end()
