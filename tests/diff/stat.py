#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo stat beside perf stat: the same workload gives the same figures in the same fields.

Known differences, each on purpose:
- perf -x prints "CPUs utilized" of a stale clock in some modes; kymo divides by the time that passed.
- perf shows rates for duration_time and its like; kymo does not: they are no rates of anything.
- perf separates thousands as the locale says, kymo always with commas (--no-big-num: none, here compared).
- tracepoints of a pattern: perf in the folder's order, kymo sorted.
"""
import json
import re
import shutil
import subprocess

from tap import KYMO, WORK, end, kymo, run, same, skip
from watch import at_work

KNOWN = f"{WORK}/known"
if not shutil.which("perf"):
    skip("perf stat", "perf is not installed")
    end()


def both(args):
    return run(f"perf {args}").err, kymo(args).err


def shape(line, sep=","):
    """A CSV line with its figures made equal: number, 'not counted' words, names stay."""
    return sep.join("N" if re.fullmatch(r"-?[\d.]+%?", f.strip()) else f.strip() for f in line.split(sep))


def rates_aside(line):
    """K/sec or M/sec depends on the run."""
    return re.sub(r"[KMG]?/sec", "/sec", line)


EXACT = ["syscalls:sys_enter_getppid", "syscalls:sys_enter_umask", "alignment-faults", "emulation-faults"]
FAULTS = ["page-faults", "minor-faults", "major-faults", "faults", "minor-faults:u", "minor-faults:k"]
work = f"{KNOWN} getppid=321 umask=12 faults=200"
for mode in ["", "-r 2", "--no-inherit", "-i"]:
    p, k = both(f"stat -x, {mode} -e {','.join(EXACT)} -- {work}")
    same(f"-x {mode}: counts and fields equal perf's", [x.split(",")[:3] for x in k.splitlines()],
         [x.split(",")[:3] for x in p.splitlines()])
    same(f"-x {mode}: the shape of every line", [shape(x) for x in k.splitlines()], [shape(x) for x in p.splitlines()])

# two runs never fault alike (addresses are random), so both watch one and the same process
for extra in ["", "threads=3", "children=3"]:
    target = subprocess.Popen([KNOWN, "line=1", "faults=200", "getppid=7", *extra.split()], stdin=subprocess.PIPE)
    line = ["stat", "-x,", "-e", ",".join(EXACT + FAULTS), "-p", str(target.pid)]
    watchers = [subprocess.Popen([tool, *line], stderr=subprocess.PIPE) for tool in ("perf", KYMO)]
    for w in watchers:
        at_work(w)
    target.communicate(b"\n")
    p, k = (w.communicate(timeout=60)[1].decode() for w in watchers)
    same(f"-p {extra}: one process seen by both", [x.split(",")[:3] for x in k.splitlines()],
         [x.split(",")[:3] for x in p.splitlines()])

for extra in ["threads=3", "children=3", "exec", "children=2 threads=2"]:
    p, k = both(f"stat -x, -e {','.join(EXACT[:2])} -- {KNOWN} getppid=50 umask=3 {extra}")
    same(f"{extra}: counts equal perf's", [x.split(",")[0] for x in k.splitlines()], [x.split(",")[0] for x in p.splitlines()])

for args in ["stat -x, -e task-clock,cs,faults true", "stat -x, -e cs true", "stat -x, -e cs,cycles,task-clock true",
             "stat -x, -a -A -e cs,faults sleep 0.05", "stat -x, -a --per-core -e cs sleep 0.05",
             "stat -x, -a --per-socket -e cs sleep 0.05", "stat -x, -a --per-die -e cs sleep 0.05",
             "stat -x, -a --per-node -e cs sleep 0.05", "stat -x, -I 60 -a -e cs,faults sleep 0.1",
             "stat -x, -r 2 -e task-clock,faults true", "stat -x: -e faults true", "stat -x, -e faults:u,faults:k true",
             "stat -x, -e '{cs,faults}' true", "stat -x, -C 0 -e cs sleep 0.05", "stat -x, -e r13c true",
             "stat -x, -e cpu-clock,task-clock true"]:
    p, k = both(args)
    sep = args[7]
    p, k = ([rates_aside(shape(x, sep)) for x in t.splitlines() if x and not x.startswith("kymo:")] for t in (p, k))
    if "-I" in args:  # the last interval is a matter of microseconds
        p, k = p[:2], k[:2]
    same(f"{args}: the shape of every line", k, p)

for args in ["stat -j -e task-clock,cs true", "stat -j -a -A -e cs sleep 0.05", "stat -j -a --per-socket -e cs sleep 0.05",
             "stat -j -r 2 -e cs true", "stat -j -I 60 -a -e cs sleep 0.1"]:
    p, k = both(args)
    p, k = ([json.loads(x) for x in t.splitlines() if x.startswith("{")] for t in (p, k))
    same(f"{args}: keys, types and names", [[(a, type(b) is str) for a, b in x.items()] for x in k[:2]],
         [[(a, type(b) is str) for a, b in x.items()] for x in p[:2]])
    same(f"{args}: events", [x["event"] for x in k[:2]], [x["event"] for x in p[:2]])


def human(text):
    """Name of each row, and whether a derived figure stands behind it."""
    return [(m[2], bool(m[3])) for m in re.finditer(
        r"^ *([\d.,]+|<not \w+>) (?:msec|ns)? *(\S+) *(#.*)?$", text, re.M) if "seconds" not in m[0]]


for args in ["stat --no-big-num -e task-clock,cs,faults,minor-faults true", "stat --no-big-num -e cs true",
             "stat --no-big-num -a -e cpu-clock,cs sleep 0.05"]:
    p, k = both(args)
    same(f"{args}: rows as people see them", human(k), human(p))


def column(text, word):
    """Where the word begins in the lines that have it."""
    return {line.rstrip().index(word) for line in text.splitlines() if word in line}


for how in ["-A", "--per-core", "--per-socket", "--per-die", "--per-node", "--per-thread", "--for-each-cgroup /"]:
    p, k = both(f"stat --no-big-num -a {how} -I 60 -e faults,cs sleep 0.1")
    same(f"{how}: the heading", *([x.rstrip() for x in t.splitlines() if x.startswith("#")][:1] for t in (k, p)))
    if how != "--per-thread":  # whose names may be too long for their column
        same(f"{how}: events stand in the same column", column(k, " faults"), column(p, " faults"))
    if "cgroup" in how:
        same(f"{how}: and cgroups", column(k, " /"), column(p, " /"))
for args in ["stat -r 3 -e task-clock,faults true", "stat -r 3 --table -e task-clock true"]:
    p, k = both(args)
    same(f"{args}: deviations stand in the same column", column(k, "+-") - column(k, "+- "), column(p, "+-") - column(p, "+- "))
same("tools' times: unit and order", [shape(x) for x in both("stat -x, -e duration_time,user_time,system_time true")[1].splitlines()],
     ["N,ns,duration_time,N,N,,", "N,ns,user_time,N,N,,", "N,ns,system_time,N,N,,"])
end()
