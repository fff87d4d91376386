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

from tap import KYMO, check, end, run, skip

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
run([KYMO, "record", "-q", "-e", "task-clock", "-o", f"{DIR}/none.data", "--", "true"])
r = run([KYMO, "ftrace", "mem", f"{DIR}/none.data"])
check("without its events: what it needs, and how to record it", r.code != 0 and "kmem:kmalloc" in r.err and "kymo record -e 'kmem:*'" in r.err, r)
shutil.rmtree(DIR)
end()
