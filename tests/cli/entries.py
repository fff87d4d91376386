#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Probes of functions that begin with endbr64 are behind it where that is the same: the program says where breakpoints are."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import KYMO, WORK, check, end, kymo, run, same, skip

W = os.path.abspath(f"{WORK}/entries")  # see tests/work/entries.c
if not os.path.exists(W):
    skip("probes behind endbr64", "this is no x86-64")
    end()
if run("id -u").out.strip() != "0" or kymo(["run", "-q", "-e", "BEGIN { exit(); }"]).code:
    skip("probes behind endbr64", "this user or kernel may not load BPF programs")
    end()
if not os.path.exists("/sys/bus/event_source/devices/uprobe/type"):
    skip("probes behind endbr64", "this kernel has no uprobes")
    end()
N = 5
SUM = int(run([W, str(N)]).out.split()[1])


def prints(name, prog, want, places):
    """want: what the program prints; places: (function, byte) of breakpoints, as the workload sees them."""
    r = kymo(["run", "-q", "-c", f"{W} {N}", "-e", prog])
    lines = [x for x in r.out.split("\n") if x]
    found = sorted(x for x in lines if re.fullmatch(r"\w+ [04]", x))
    check(name, r.code == 0 and f"sum {SUM}" in lines and [x.strip() for x in lines if x not in found and x != f"sum {SUM}"] == want and
          found == sorted(places), f"want: {want} {places}\n{r}")


ALL = "pushes loops entered enters_near far_entered enters_far jumps moves".split()
prints("behind endbr64: calls, parameters, names", f"uprobe:{W}:pushes {{ @a = sum(arg0); @n[probe, func] = count(); @u[usym(reg(\"ip\"))] = count(); }}",
       ["@a: 15", f"@n[uprobe:{W}:pushes, pushes]: 5", "@u[pushes]: 5"], ["pushes 4"])
prints("a uprobe and a uretprobe of one function, both behind it",
       f"uprobe:{W}:pushes {{ @at[tid] = arg0; }} uretprobe:{W}:pushes /@at[tid] * 2 == retval/ {{ @ = count(); delete(@at[tid]); }}",
       ["@: 5"], ["pushes 4"])
prints("and the other way round", f"uretprobe:{W}:pushes {{ @r = sum(retval); }} uprobe:{W}:pushes {{ @a = sum(arg0); }}",
       ["@a: 15", "@r: 30"], ["pushes 4"])
prints("not where others get to, or nothing is won", ", ".join(f"uprobe:{W}:{x}" for x in ALL) + " { @[func] = count(); }",
       [f"@[{x}]: {N}" for x in ALL], [f"{x} {4 if x == 'pushes' else 0}" for x in ALL if not x.startswith("enters_")] +
       ["enters_far 4", "enters_near 4"])
prints("where it is told to be", f"uprobe:{W}:pushes+0 {{ @ = count(); }}", ["@: 5"], ["pushes 0"])
# the stack is that of the beginning, and whole
stack = {}
for place in ("pushes", "pushes+0"):
    r = kymo(["run", "-q", "-c", f"{W} {N}", "-e", f"uprobe:{W}:{place} {{ @[ustack] = count(); }}"])
    stack[place] = [x.strip() for x in r.out.split("\n") if x.startswith("    ")]
check("the stack begins with the function, and goes on to the first", stack["pushes"][:1] == ["pushes+0"] and stack["pushes"][1].startswith("main+") and
      stack["pushes"][-1].startswith("_start+"), str(stack))
same("and is the one of the beginning", "\n".join(stack["pushes"]), "\n".join(stack["pushes+0"]))
r = kymo(["functime", "-x", W, "pushes", W, str(N)])
check("functime -x: both its probes", r.code == 0 and f"sum {SUM}" in r.out and f"{N} calls" in r.out and
      re.findall(r"^\w+ [04]$", r.out, re.M) == ["pushes 4"], r)

# who reads a program's file does not see the breakpoints of others
p = subprocess.Popen([KYMO, "run", "-q", "-e", f"uprobe:{W}:pushes+0, uprobe:{W}:pushes+4 {{ }} BEGIN {{ printf(\"up\\n\"); }}"],
                     stdout=subprocess.PIPE, text=True)
p.stdout.readline()
for _ in range(50):
    if "pushes 0" in run([W, "1"]).out:
        break
    time.sleep(0.1)
prints("with a breakpoint of somebody else at the beginning", f"uprobe:{W}:pushes {{ @ = count(); }}", ["@: 5"], ["pushes 0", "pushes 4"])
r = kymo(["run", "-q", "-c", "/bin/true", "-e", f"uprobe:{W}:pushes+1 {{ }}"])
check("instructions are those of the file", r.code == 1 and "begin at +0 +4 +5" in r.err, r)
p.terminate()
p.wait()
end()
