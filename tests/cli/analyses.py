#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Analyses (events in, tables out): the same table of a perf.data and of a trace.dat, in every form."""
import collections
import csv
import io
import json
import os
import re
import shutil
import tempfile

import term
from tap import KYMO, check, end, run, skip

csv.field_size_limit(1 << 30)  # all stacks of a row
DIR = tempfile.mkdtemp(prefix="kymo-analyses-")


def counted(path):
    """kmem events of a recording summed up here, from script's text: by tid, (allocations, frees, bytes left, most)."""
    owner, sums = {}, collections.defaultdict(lambda: [0, 0, 0, 0])
    for line in run([KYMO, "script", "-i", path, "-F", "tid,event,trace"]).out.splitlines():
        m = re.match(r"\s*(\d+)\s+(?:kmem:)?(\w+):\s.*ptr=(?:0x)?(\w+)", line)
        if not m:
            continue
        tid, event, ptr = int(m[1]), m[2], m[3]
        if "alloc" in event:
            n = int(re.search(r"bytes_alloc=(\d+)", line)[1])
            owner[ptr] = (tid, n)
            s = sums[tid]
            s[0] += 1
            s[2] += n
            s[3] = max(s[2:])
        elif ptr in owner:
            who, n = owner.pop(ptr)
            sums[who][1] += 1
            sums[who][2] -= n
    return {k: tuple(v) for k, v in sums.items()}


def rows_of(path, *options):
    r = run([KYMO, "ftrace", "mem", "-i", path, "-j", *options])
    return r, json.loads(r.out)["kmem_tasks"]["rows"] if r.code == 0 else []


listed = json.loads(run([KYMO, "list", "analyses", "-j"]).out)["analyses"]["rows"]
names = [x["name"] for x in listed]
check("list analyses has them by name, each with its line of help and what it takes",
      names == sorted(names) and "kmem-tasks" in names and all(x["summary"] and x["record"].startswith("kymo record") and x["events"] for x in listed), listed)
check("what shows them is a command", all(run([*x["show"].replace("kymo", KYMO, 1).split()[:3], "-h"]).code == 0 for x in listed), listed)
check("--introspect has the same", json.loads(run([KYMO, "--introspect", "analyses"]).out)["analyses"]["rows"] == listed)
lines = run([KYMO, "list", "analyses"]).out.splitlines()
check("and as text", lines[0].startswith("NAME") and [x.split()[0] for x in lines[1:]] == names, lines)

work = ["sh", "-c", "for i in 1 2 3; do cat /proc/self/maps >/dev/null; done"]
if os.geteuid() != 0:
    skip("kmem by task", "not root")
    shutil.rmtree(DIR)
    end()

run([KYMO, "record", "-q", "-e", "kmem:*", "-o", f"{DIR}/p.data", "--", *work])
run([KYMO, "ftrace", "record", "-q", "-e", "kmem", "-o", f"{DIR}/t.dat", "--", *work])
for name in "p.data", "t.dat":
    want = counted(f"{DIR}/{name}")
    r, rows = rows_of(f"{DIR}/{name}")
    got = {x["tid"]: (x["allocations"], x["frees"], x["left_bytes"], x["max_bytes"]) for x in rows}
    check(f"{name}: kernel memory by task, as script's lines have it", len(want) > 1 and got == want, (r.err, got, want))
    check(f"{name}: the most first", [x["max_bytes"] for x in rows] == sorted((x["max_bytes"] for x in rows), reverse=True), rows)
    r = run([KYMO, "ftrace", "mem", f"{DIR}/{name}", "--csv"])
    as_csv = list(csv.DictReader(io.StringIO(r.out)))
    check(f"{name}: CSV has the same", [{k: str(v) for k, v in x.items()} for x in rows] == as_csv, (rows, r.out))
    r = run([KYMO, "ftrace", "mem", f"{DIR}/{name}"])
    lines = r.out.splitlines()
    check(f"{name}: text has a title, a line a task and the sums",
          len(lines) == len(rows) + 2 and lines[0].startswith("TASK") and lines[-1].startswith("total")
          and not any(x.endswith(" ") for x in lines), r)
    _, few = rows_of(f"{DIR}/{name}", "-n", "1", "-s", "-allocations")
    check(f"{name}: -n and -s", len(few) == 1 and few[0]["allocations"] == min(x["allocations"] for x in rows), few)

r = run([KYMO, "ftrace", "mem", f"{DIR}/p.data", "-s", "speed"])
check("a column that is not there is named, with those that are", r.code != 0 and "'speed'" in r.err and "max_bytes" in r.err, r)

def said(line):
    """count and name of a row of hist as text."""
    m = re.match(r" *[\d.]+% +(\d+)  (\S+)", line)
    return m and (int(m[1]), m[2])


events = "sched:sched_switch,sched:sched_wakeup,raw_syscalls:sys_enter,raw_syscalls:sys_exit"
run([KYMO, "record", "-q", "-g", "-e", events, "-o", f"{DIR}/s.data", "--", *work])
run([KYMO, "ftrace", "record", "-q", "-F", "-c", "-T", *sum((["-e", e] for e in events.split(",")), []), "-o", f"{DIR}/s.dat", "--", *work])
for name in "s.data", "s.dat":
    script = collections.Counter(m[1] for m in map(re.compile(r"\s*(?:\w+:)?(\w+):").match, run([KYMO, "script", "-i", f"{DIR}/{name}", "-F", "event", "-G"]).out.splitlines()) if m)
    rows = json.loads(run([KYMO, "ftrace", "hist", "-P", "-j", f"{DIR}/{name}"]).out)["events"]["rows"]
    check(f"{name}: hist counts what script prints", {x["event"]: x["count"] for x in rows} == dict(script), (rows, script))
    check(f"{name}: shares, and stacks that are no more than the rows", abs(sum(x["share"] for x in rows) - 1) < 1e-6
          and all(sum(s["count"] for s in x["stacks"] or []) <= x["count"] for x in rows) and any(x["stacks"] for x in rows), rows)
    text = run([KYMO, "ftrace", "hist", "-P", f"{DIR}/{name}"]).out.splitlines()
    check(f"{name}: text has the same", [said(x) for x in text if said(x)] == [(x["count"], x["event"]) for x in rows], (text, rows))
    r = run([KYMO, "ftrace", "profile", "--input", f"{DIR}/{name}", "-j"])
    p = json.loads(r.out)
    on = {x["tid"]: x["total_ns"] for x in p["spans"]["rows"] if x["event"] == "on CPU"}
    check(f"{name}: profile: a row a task, as its time on CPUs has it",
          len(on) > 1 and {x["tid"]: x["on_cpu_ns"] for x in p["tasks"]["rows"] if x["on_cpu_ns"]} == on, (r, on))
    text = run([KYMO, "ftrace", "profile", "--input", f"{DIR}/{name}"]).out
    check(f"{name}: text says the same", all(f"Event: on CPU ({x['count']}) Total: {x['total_ns']} Avg: {x['avg_ns']}" in text
                                             for x in p["spans"]["rows"] if x["event"] == "on CPU"), text)
    rows = json.loads(run([KYMO, "ftrace", "profile", "--by-comm", "--input", f"{DIR}/{name}", "-j"]).out)["tasks"]["rows"]
    check(f"{name}: --by-comm has each name once", len({x["comm"] for x in rows}) == len(rows), rows)
r = run([KYMO, "ftrace", "hist", f"{DIR}/s.data", "--csv"])
as_csv = list(csv.DictReader(io.StringIO(r.out)))
check("stacks in CSV are folded, a line each", any(re.fullmatch(r"[^ ]\S* \d+(\n\S+ \d+)*", x["stacks"]) for x in as_csv), r.out[:500])
r = run([KYMO, "ftrace", "profile", "--input", f"{DIR}/s.data", "true"])
check("--input and a command do not go together", r.code != 0 and "--input" in r.err, r)



def tui():
    """The same tables walked through."""
    rows = json.loads(run([KYMO, "ftrace", "hist", "-j", f"{DIR}/s.dat"]).out)["events"]["rows"]
    with term.Term(f"{os.path.abspath(KYMO)} ftrace hist --tui {DIR}/s.dat", 110, 14) as t:
        check("--tui: the first rows, where they are, and keys", t.until(lambda x: f"1/{len(rows)}" in x[0] and "COUNT" in x[1] and "Enter row" in x[-1]), t.text())
        check("in the order of the analysis", [int(x.split()[0]) for x in t.lines()[2:8]] == [x["count"] for x in rows[:6]], t.text())
        t.keys("<")  # the last column
        check("< sorts by the last column", t.until(lambda x: "TASK▼" in x[1]), t.text())
        t.keys("g")
        t.until(lambda x: f" 1/{len(rows)}" in x[0])
        first = [x.split()[-1] for x in t.lines()[2:8]]
        check("by name", first == sorted(x["comm"] for x in rows)[:6], (first, t.text()))
        t.keys("r")
        check("r turns it around", t.until(lambda x: "TASK▲" in x[1]), t.text())
        t.keys(">", "r")  # the first column, the smallest first
        check("> goes on, from the first again", t.until(lambda x: "COUNT▲" in x[1]), t.text())
        t.keys("g")
        check("the smallest first", t.until(lambda x: int(x[2].split()[0]) == min(r["count"] for r in rows)), t.text())
        columns = t.lines()[1]
        t.keys("\\")
        t.until("Filter")
        t.keys("=sys_enter", "Enter")
        some = [x for x in rows if x["event"] == "sys_enter"]
        check("a filter leaves its rows, and columns where they are", t.until(lambda x: f"/{len(some)}" in x[0] and "with 'sys_enter'" in x[0]) and t.lines()[1] == columns, t.text())
        t.keys("Enter")
        check("a row's page has its stacks", t.until(lambda x: any("EVENT" in y and "sys_enter" in y for y in x)) and re.search(r"[\d.]+% \(\d+\)\n\s+\w+", t.text()), t.text())
        t.keys("q", "Escape")
        check("Esc takes the filter back", t.until(lambda x: f"/{len(rows)}" in x[0]), t.text())
        t.keys("/", "=sched_wakeup", "Enter")
        check("search goes to a row", t.until("'sched_wakeup'"), t.text())
        t.keys("?")
        check("help", t.until("sort by another column"), t.text())
        t.keys("q", "q")
        check("q leaves, and the terminal is as before", t.exit_code() == "0" and t.tty_restored(), t.text())
    with term.Term(f"{os.path.abspath(KYMO)} ftrace profile --tui --input {DIR}/s.dat", 90, 12) as t:
        check("several tables", t.until("table 1/2"), t.text())
        t.keys("Tab")
        check("Tab shows the next", t.until("table 2/2") and "EVENT" in t.lines()[1], t.text())
        t.keys("}")
        check("} scrolls sideways", t.until(lambda x: "EVENT" in x[1] and "TASK" not in x[1]), t.text())
        t.keys("q")
        check("q", t.exit_code() == "0", t.text())


if term.have and "without ncurses" not in run([KYMO, "ftrace", "hist", "--tui", f"{DIR}/s.dat"]).err:
    tui()
else:
    skip("--tui", "needs tmux and ncurses")
r = run([KYMO, "ftrace", "hist", "--tui", f"{DIR}/s.dat"])
check("--tui without a terminal says so", r.code != 0 and r.err, r)
r = run([KYMO, "ftrace", "hist", "--tui", "-j", f"{DIR}/s.dat"])
check("--tui is no form of output beside others", r.code != 0 and "--tui" in r.err, r)
run([KYMO, "record", "-q", "-e", "task-clock", "-o", f"{DIR}/none.data", "--", "true"])
r = run([KYMO, "ftrace", "mem", f"{DIR}/none.data"])
check("without its events: what it needs, and how to record it", r.code != 0 and "kmem:kmalloc" in r.err and "kymo record -e 'kmem:*'" in r.err, r)
shutil.rmtree(DIR)
end()
