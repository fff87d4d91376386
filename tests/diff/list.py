#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo list against perf list: everything perf lists of the same classes is there, and looks the same."""
import os
import re
import tempfile
import shutil

from tap import check, end, kymo, run, same, skip

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data")


def entries(text):
    """(name, alias or '', tag) of each line."""
    found = []
    for line in text.splitlines():
        m = re.match(r"  (\S+)(?: OR (\S+))? +\[(\w[\w ]+)\]$", line)
        if m:
            found.append((m[1], m[2] or "", m[3]))
    return found


def static_probes():
    """Programs with sdt.h's notes, one probe at two places, one name in two files."""
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/s.c", "w", encoding="ascii") as f:
            f.write("#include <sys/sdt.h>\nint main(int c, char **v) { DTRACE_PROBE1(kprov, start, c);"
                    "DTRACE_PROBE2(kprov, stop, c, v); DTRACE_PROBE(kprov, stop); return 0; }\n")
        for n in "12":
            if run(["gcc", f"-O{n}", "-o", f"{d}/p{n}", f"{d}/s.c", "-Wl,--build-id"]).code:
                return skip("list sdt", "sys/sdt.h is not installed")
            run(["perf", "--buildid-dir", f"{d}/c", "buildid-cache", "--add", f"{d}/p{n}"])
            for what in ([], ["sdt"], ["sdt_kprov:st*"]):
                theirs = [x for x in entries(run(["perf", "--buildid-dir", f"{d}/c", "list", *what]).out) if x[2] == "SDT event"]
                mine = [x for x in entries(kymo(["list", *what], env={"PERF_BUILDID_DIR": f"{d}/c"}).out) if x[2] == "SDT event"]
                check(f"list {' '.join(what)}: the static probes of {n} files", theirs and theirs == mine, (theirs, mine))


def main():
    if not shutil.which("perf"):
        skip("kymo list against perf list", "perf is not installed")
        end()
    p = entries(run("perf list tracepoint").out)
    k = entries(kymo("list tracepoint").out)
    if not p:
        skip("every tracepoint", "perf lists none: is tracefs readable?")
    else:
        same("the same tracepoints", {x[0] for x in k}, {x[0] for x in p})
        same("the same order", [x[0] for x in k if x[2] == "Tracepoint event"],
             sorted(x[0] for x in k if x[2] == "Tracepoint event"))
    for what in ("sw", "pmu"):
        same(f"list {what}: the same lines", entries(kymo(["list", what]).out), entries(run(["perf", "list", what]).out) if what == "pmu" else
             [x for x in entries(run("perf list").out) if x[2] in ("Software event", "Tool event")])
    raw = [x for x in run("perf list").out.splitlines() if re.search(r"descriptor\]|breakpoint\]", x)]
    same("raw forms: the same lines", kymo("list raw").out.splitlines()[-len(raw):], raw)
    # perf hides hardware events that cannot be opened: whatever it lists must be there
    mine = {x[0] for x in entries(kymo("list hw cache").out)}
    theirs = {x[0] for x in entries(run("perf list hw").out) + entries(run("perf list cache").out)}
    check("hardware and cache names that perf lists", theirs <= mine, theirs - mine)
    for tree in ("intel", "hybrid", "arm"):
        env = {"SYSFS_PATH": os.path.join(DATA, "sysfs-" + tree)}
        # the vendor's tables that are built into perf are not of the tree; nor have all uncore PMUs these events
        theirs = [x for x in entries(run("perf list pmu", env=env).out) if "." not in x[0]]
        mine = entries(kymo("list pmu", env=env).out)
        extra = {"uncore_cbox_1/clockticks/"} if tree == "intel" else set()
        check(f"{tree}: the PMU events perf lists", set(x for x in theirs if x[0] not in extra) <= set(mine),
              set(theirs) - set(mine))
    static_probes()
    words = set(kymo("list --raw-dump").out.split())
    text = run("perf list").out.split("\nMetric")[0]
    theirs = {x[0].split("@")[0] for x in entries(text) if x[2] not in ("Raw hardware event descriptor", "Hardware breakpoint")}
    check("--raw-dump: perf's names are there", theirs and theirs <= words, sorted(theirs - words)[:20])
    for pattern in ("sched:sched_sw*", "sched_sw*", "cs", "switch", "block:*"):
        theirs = {x[0] for x in entries(run(["perf", "list", pattern]).out)}
        mine = {x[0] for x in entries(kymo(["list", pattern]).out)}
        check(f"list {pattern}: all that perf finds", theirs and theirs <= mine, theirs - mine)
    end()


main()
