#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts in perf.data: perf reads what kymo stat record writes, kymo what perf writes, and both show what was shown.

Known differences, each on purpose:
- perf 6.1 cannot report its own recordings of tracepoints (it keeps no formats); kymo reads them, and perf reads kymo's.
- perf shows rates for duration_time; kymo does not.
- kymo keeps the command's user and system time and cgroups' names; perf stat report has neither.
"""
import os
import re
import shutil
import subprocess
import tempfile

import perfswap
from tap import KYMO, WORK, check, end, has, kymo, run, same, skip
from watch import at_work

if not shutil.which("perf"):
    skip("perf stat record", "perf is not installed")
    end()
KNOWN = os.path.abspath(f"{WORK}/known")
tmp = tempfile.mkdtemp()
os.environ["LC_ALL"] = "C"


def rows(text):
    """Lines as words, without those that are known to differ."""
    keep = []
    for line in text.splitlines():
        words = line.replace(",", "").split()
        if not words or "Performance" in words or words[-1] in ("user", "sys") or line.startswith(("#", "kymo:")):
            continue
        if "_time" in line and "#" in words:
            words = words[:words.index("#")]
        keep.append(words)
    return keep


def report(tool, path, args=""):
    return rows(run([tool, "stat", "report", "-i", path, *args.split()]).err)


EVENTS = "task-clock,cs,page-faults"
CASES = {
    "a command": f"-e {EVENTS},duration_time -- true",
    "a group": "-e {cs,page-faults} -- true",
    "the machine": f"-a -e {EVENTS} -- sleep 0.05",
    "each CPU": f"-a -A -e {EVENTS} -- sleep 0.05",
    "cores": f"-a --per-core -e {EVENTS} -- sleep 0.05",
    "sockets": "-a --per-socket -e cs -- sleep 0.05",
    "nodes": "-a --per-node -e cs -- sleep 0.05",
    "intervals": "-a -I 60 -e cs,page-faults -- sleep 0.1",
    "intervals of CPUs": "-a -A -I 60 -e cs,page-faults -- sleep 0.1",
    "what cannot be counted": "-e cs,branch-load-misses:u -- true",
}
for what, args in CASES.items():
    ours, theirs = f"{tmp}/k.data", f"{tmp}/p.data"
    shown = run([KYMO, "stat", "record", "-o", ours, *args.split()])
    run(["perf", "stat", "record", "-o", theirs, *args.split()])
    k, p = report(KYMO, ours), report("perf", ours)
    same(f"{what}: kymo shows again what it showed", k, rows(shown.err))
    same(f"{what}: perf reads kymo's file", p, k)
    k, p = report(KYMO, theirs), report("perf", theirs)
    same(f"{what}: kymo reads perf's file", k, p)
    check(f"{what}: there is something to see", len(k) > 0 and shown.code == 0, shown)
    if args.startswith("-a"):
        for by in ["-A", "--per-core", "--per-socket", "--per-die", "--per-node"]:
            for path in (ours, theirs):
                same(f"{what}: {by} at report time, from {'kymo' if path == ours else 'perf'}",
                     report(KYMO, path, by), report("perf", path, by))

# a thread each
target = subprocess.Popen([KNOWN, "line=1", "threads=2", "faults=50"], stdin=subprocess.PIPE)
watch = [subprocess.Popen([tool, "stat", "record", "-o", f"{tmp}/{tool[-4:]}-t", "--per-thread", "-e", "page-faults,cs",
                           "-p", str(target.pid)], stderr=subprocess.PIPE, env={**os.environ}) for tool in ("perf", KYMO)]
for w in watch:
    at_work(w)
target.communicate(b"\n")
texts = [w.communicate(timeout=60)[1].decode() for w in watch]
for tool in ("perf", "kymo"):
    k, p = report(KYMO, f"{tmp}/{tool}-t"), report("perf", f"{tmp}/{tool}-t")
    same(f"threads of {tool}'s file", sorted(map(str, k)), sorted(map(str, p)))
same("threads: shown again", report(KYMO, f"{tmp}/kymo-t"), rows(texts[1]))

# tracepoints
args = f"-e syscalls:sys_enter_getppid,syscalls:sys_enter_umask -- {KNOWN} getppid=321 umask=12"
for tool in (KYMO, "perf"):
    run([tool, "stat", "record", "-o", f"{tmp}/tp", *args.split()])
    same(f"tracepoints: kymo reads {os.path.basename(tool)}'s", [x[:2] for x in report(KYMO, f"{tmp}/tp")][:2],
         [["321", "syscalls:sys_enter_getppid"], ["12", "syscalls:sys_enter_umask"]])
run([KYMO, "stat", "record", "-o", f"{tmp}/tp", *args.split()])
same("tracepoints: perf reads kymo's", report("perf", f"{tmp}/tp"), report(KYMO, f"{tmp}/tp"))

# streams
for tool in (KYMO, "perf"):
    stream = subprocess.run([tool, "stat", "record", "-o", "-", "-e", EVENTS, "--", "true"], capture_output=True).stdout
    k, p = (subprocess.run([t, "stat", "report", "-i", "-"], input=stream, capture_output=True).stderr.decode() for t in (KYMO, "perf"))
    same(f"a stream of {os.path.basename(tool)}'s", rows(k), rows(p))
    check("it has lines", len(rows(k)) == 4, k)
kymo(f"stat record -o {tmp}/many -e cs -a -I 1 --timeout 200")
check("many intervals", kymo(f"stat report -i {tmp}/many -x,").err.count("cs") > 20)

# what scripts read
run([KYMO, "stat", "record", "-o", f"{tmp}/x", "-a", "-A", "-e", EVENTS, "sleep", "0.05"])
k, p = (run([t, "stat", "-x,", "report", "-i", f"{tmp}/x"]).err.splitlines() for t in (KYMO, "perf"))
same("-x: the same fields", [x.split(",")[:6] for x in k], [x.split(",")[:6] for x in p])
same("-x after report", kymo(f"stat report -x, -i {tmp}/x").err.splitlines(), k)

# a machine of the other endian
perfswap.swap_file(f"{tmp}/x", f"{tmp}/x.big")
same("the other endian", kymo(f"stat report -x, -i {tmp}/x.big").err.splitlines(), k)

# words and refusals
has("record with perf's order of words", kymo(f"stat -e cs record -o {tmp}/w true").text, "cs")
has("and its report", kymo(f"stat report -i {tmp}/w").text, "cs", "seconds user")
has("-r is refused", kymo(f"stat record -r 3 -o {tmp}/w true").err, "one run", "hint:")
run([KYMO, "record", "-o", f"{tmp}/samples", "-e", "cpu-clock", "--", "true"])
r = kymo(f"stat report -i {tmp}/samples")
check("a file of samples is refused", r.code == 1 and "no counts" in r.err and "hint:" in r.err, r)
r = kymo(f"stat report -i {tmp}/nosuch")
check("no such file", r.code == 1 and "nosuch" in r.err, r)
r = kymo("stat record -o /nonexistent/x -e cs true")
check("a file that cannot be written", r.code == 1 and "/nonexistent/x" in r.err, r)
r = kymo("stat record -o /dev/full -e cs true")
check("a full disk", r.code == 1 and re.search("No space", r.err), r)
r = kymo(f"stat record -o {tmp}/w -e cs sh -c 'exit 5'")
check("the exit code is the command's", r.code == 5, r)
run([KYMO, "stat", "record", "-a", "-G", "/,/", "-e", "cs,faults", "-o", f"{tmp}/g", "sleep", "0.05"])
check("cgroups keep their names", len(re.findall(r" (?:cs|faults) +/$", kymo(f"stat report -i {tmp}/g").err, re.M)) == 2,
      kymo(f"stat report -i {tmp}/g"))
shutil.rmtree(tmp)
end()
