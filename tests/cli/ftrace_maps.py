#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ftrace record --proc-map: user addresses of a trace have the names of the program that ran, also of what it started and of what is gone."""
import os
import re
import shutil
import subprocess
import tempfile

from tap import KYMO, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-maps-")
APP = f"{DIR}/map ped{os.getpid()}"  # a name with a blank in it
SOURCE = """
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
static inline __attribute__((always_inline)) long raw(long n) { long r; __asm__ volatile("syscall" : "=a"(r) : "a"(n) : "rcx", "r11", "memory"); return r; }
#else
#define raw syscall
#endif
__attribute__((noinline)) int inner(int n) { int s = (int)raw(SYS_getppid); __asm__ volatile("" ::: "memory"); return s + n; }
__attribute__((noinline)) int outer(int n) { int s = inner(n); __asm__ volatile("" ::: "memory"); return s + 1; }
int main(void) { int s = 0; for (int i = 0; i < 3; i++) s += outer(i); return s & 0; }
"""

if os.geteuid() != 0 or not os.path.exists("/sys/kernel/tracing/events/syscalls/sys_enter_getppid"):
    skip("all of it", "no tracing of system calls here")
    end()
open(f"{DIR}/m.c", "w").write(SOURCE)
subprocess.run(["gcc", "-O0", "-g", "-o", APP, f"{DIR}/m.c"], check=True)
os.chdir(DIR)
WANT = [("inner", "outer", "main")] * 3
EVENT = "-O userstacktrace -e syscalls:sys_enter_getppid -F".split()


def stacks(path):
    """The three innermost functions of each event of the program."""
    out = kymo(["script", "-i", path, "-F", "comm,event,ip,sym"]).out
    own = [x for x in out.split("\n\n") if x.strip().startswith(os.path.basename(APP)[:8])]
    return [tuple(re.findall(r"^\s+[0-9a-f]+ (\w+)", x, re.M)[:3]) for x in own]


for version in "6", "7":
    r = kymo(["ftrace", "record", "-q", "--proc-map", "--file-version", version, "-o", "m.dat", *EVENT, APP])
    same(f"version {version}: records", (r.code, r.err), (0, ""))
    same(f"version {version}: functions of the program", stacks("m.dat"), WANT)
text = kymo("ftrace dump --options m.dat").out
maps = re.search(r"\[Option PROCMAPS, \d+ bytes\]\n([0-9a-f]+) ([0-9a-f]+) (.*)\n((?:[0-9a-f]+ [0-9a-f]+ .*\n)+)", text)
check("the program's mappings", maps and maps[3] == APP and len(maps[4].splitlines()) == int(maps[2], 16) and re.search(rf"^[0-9a-f]+ [0-9a-f]+ {APP} \+[0-9a-f]+$", maps[4], re.M), text)
out = kymo("ftrace report -O sym-userobj -i m.dat").out
same("report -O sym-userobj", len(re.findall(rf"<user stack trace>\n=> {APP}\[\+0x[0-9a-f]+\] \([0-9a-f]+\)\n=> {APP}\[", out)), 3)
has("report without it has addresses", kymo("ftrace report -i m.dat").out, "user_stack:", "=> 0x")
if shutil.which("trace-cmd"):
    r = run("trace-cmd report -i m.dat")
    same("trace-cmd reads it as if it were not there", (r.code, r.out), (0, kymo("ftrace report -i m.dat").out))
for how in "--file-version 6", "--compression none":
    kymo(f"ftrace convert -q -i m.dat -o c.dat {how}")
    same(f"convert {how} keeps it", stacks("c.dat"), WANT)
r = kymo(["ftrace", "record", "-q", "--proc-map", "-c", "-o", "s.dat", *EVENT, "sh", "-c", f"'{APP}'; '{APP}'; true"])
same("and what a command starts", stacks("s.dat"), WANT * 2)
kymo(["ftrace", "record", "-q", "-o", "n.dat", *EVENT, APP])
check("without it there are no names", all(x == () for x in stacks("n.dat")), stacks("n.dat"))
r = kymo("ftrace report -O sym-userobj -i n.dat")
check("and report says so", r.code == 0 and "record --proc-map" in r.err and "=> 0x" in r.out, r)

p = subprocess.Popen(["sleep", "60"])
r = kymo(f"ftrace record -q --proc-map -e syscalls:sys_enter_getppid -P {p.pid} --duration 1 -o p.dat")
p.kill()
p.wait()
has("-P: of a process that runs already", kymo("ftrace dump --options p.dat").out, "[Option PROCMAPS", f"{p.pid:x} ", "sleep +")
r = kymo("ftrace record --proc-map -e syscalls:sys_enter_getppid --duration 1 -o x.dat")
check("of nobody", r.code == 1 and "of which processes?" in r.err and "hint:" in r.err and not os.path.exists("x.dat"), r)

# --- whatever stands there ---
data = open("m.dat", "rb").read()
kymo("ftrace convert -q -i m.dat -o c.dat --file-version 6")
data = open("c.dat", "rb").read()
at = data.index(maps[4].encode()[:20])
for name, put in (("no numbers", b"zz zz"), ("only one", b"1\n2\n"), ("an end before its start", b"9 1 /x +1"), ("nothing", b"\n\n\n"), ("a huge one", b"0 ffffffffffffffff /x +ffffffffffffffffff ")):
    open("bad.dat", "wb").write(data[:at] + put + data[at + len(put):])
    r = kymo("script -i bad.dat")
    check(f"damaged: {name}", r.code == 0 and r.out.count("sys_enter_getppid") == 3, r)
shutil.rmtree(DIR)
end()
