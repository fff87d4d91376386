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

# A workload: only events of its own processes are looked at.
LOAD = "dd if=/dev/zero of=/dev/null bs=1000 count=300 status=none"
PROGRAMS = [
    'tracepoint:syscalls:sys_exit_write /comm == "dd"/ { @[args->ret] = count(); @h = hist(args->ret); }',
    'tracepoint:syscalls:sys_enter_read /comm == "dd" && args->count == 1000/ { @calls = count(); @size = sum(args->count); }',
    'tracepoint:raw_syscalls:sys_enter /comm == "dd" && args->id < 2/ { @[args->id] = count(); }',
    'tracepoint:syscalls:sys_enter_openat /comm == "dd"/ { @[str(args->filename)] = count(); }',
    'tracepoint:syscalls:sys_enter_write /comm == "dd" && args->count == 1000/ { @s[tid] = nsecs; @n = count(); } END { clear(@s); }',
    'uprobe:libc.so.6:write /comm == "dd" && arg2 == 1000/ { @[arg2] = count(); }' if os.path.exists("/lib/x86_64-linux-gnu/libc.so.6") else None,
]
if not os.path.isdir("/sys/kernel/debug/tracing/events"):
    skip("a workload", "bpftrace looks for tracepoints in debugfs, which is not mounted")
    PROGRAMS = []
for p in filter(None, PROGRAMS if not SAN else []):
    p = p.replace("libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6")
    ours, theirs = both(p, "-c", shutil.which("dd") + LOAD[2:])

    def maps(r):
        # a name whose page is not in memory yet cannot be read in the kernel: names of this workload only
        return sorted(x for x in r.out.split("\n") if re.match(r"[@\[(]", x) and not re.match(r"@\[(\]|/(?!dev))", x))
    check(f"a workload: {p}", maps(ours) == maps(theirs) and maps(ours), f"kymo: {ours}\nbpftrace: {theirs}")
end()
