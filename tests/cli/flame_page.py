#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""The page of a recording keeps paths of functions, and not stacks (calc/stacks/paths.c): its sums are those of the folded lines and of the samples."""
import collections
import itertools
import os
import re

import page
from files import Folder
from tap import SAN, WORK, check, end, kymo, same, skip

at = Folder("kymo-page-")
data, html = at.path("perf.data"), at.path("a.html")


def paths(folded):
    sums = collections.Counter()
    for line in folded.splitlines():
        stack, n = line.rsplit(" ", 1)
        for path in itertools.accumulate(stack.split(";"), lambda a, b: a + (b,), initial=()):
            sums[path] += int(n)
    return sums


def read(path):
    """Sums of paths, of (thread, CPU), of steps of time, and functions as {name: (file, line)}."""
    head, (depth, func, node, key, time, weight) = page.unpack(path)
    text = lambda part, i: head["strings"][head["funcs"][part][i]] if head["funcs"][part][i] >= 0 else None  # noqa: E731
    places, now = [()], ()
    for up, f in zip(depth, func):
        now = now[:len(now) - up] + (text("name", f - 1),)
        places.append(now)
    sums, who, when, n, step = collections.Counter(), collections.Counter(), collections.Counter(), 0, 0
    for a, k, t, w in itertools.zip_longest(node, key, time, weight, fillvalue=0):
        n, step = n + a, step + (t >> 1 ^ -(t & 1))
        for i in range(len(places[n]) + 1):
            sums[places[n][:i]] += w
        _, _, thread, cpu = head["keys"][4 * k:4 * k + 4]
        who[(*head["threads"][thread][1:], head["cpus"][cpu])] += w
        when[step] += w
    lines = {text("name", i): (text("file", i), line) for i, line in enumerate(head["funcs"]["line"])}
    return head, sums, who, when, lines


def compare(what, *record):
    r = kymo(["record", "-q", "-F", "1999", "-e", "cpu-clock", "--sample-cpu", "-g", "-o", data, "--", *record], timeout=120)
    if r.code not in (0, 124):
        return skip(what, f"nothing could be recorded: {r.err[:100]}")
    kymo(["flame", "-q", "-i", data, "-o", html])
    head, sums, who, when, _ = read(html)
    want = paths(kymo(["collapse", "-i", data, "--inline"]).out)
    # of the program and of its loader: two frames in a picture, one in a line; code without a name is one a module
    clear = lambda path: not any(x == "_start" or x.startswith(("[", "0x")) for x in path)  # noqa: E731
    same(f"{what}: every path, and its sum", {k: n for k, n in sums.items() if clear(k)}, {k: n for k, n in want.items() if clear(k)})
    samples = re.findall(r"^ *(\d+)/(\d+) +\[(\d+)\] +([\d.]+): +(\d+)", kymo(["script", "-i", data, "-F", "pid,tid,cpu,time,period", "--ns"]).out, re.M)
    want = collections.Counter()
    for pid, tid, cpu, _, n in samples:
        want[int(pid), int(tid), int(cpu)] += int(n)
    same("of every thread and CPU", who, want)
    times = [int(time.replace(".", "")) for _, _, _, time, _ in samples]
    steps = collections.Counter((t - min(times)) // head["time"]["step"] for t in times)
    # a sample may fall into the step before or behind: times are rounded first
    late = [sum(n for s, n in steps.items() if s <= k) - sum(n for s, n in when.items() if s <= k) / int(samples[0][4]) for k in range(head["time"]["steps"])]
    near = max(steps.values()) + 1
    return check("and when", steps and all(abs(x) <= near for x in late), late[:20])


compare("different stacks all the time", os.path.join(WORK, "calls"), f"random={300 if SAN else 800}", "threads=2")
compare("many processes", "sh", "-c", "for i in 1 2 3 4 5; do ls -lR /usr/lib/python3 /etc >/dev/null; done")

# a function has the file of all of its lines, and its line only where it is one
r = kymo(["record", "-q", "-F", "9999", "-e", "cpu-clock:u", "-g", "-o", data, "--", os.path.join(WORK, "inlined")], timeout=120)
if r.code in (0, 124):
    for run in ("first", "again"):
        kymo(["flame", "-q", "-i", data, "-o", html], env={"XDG_CACHE_HOME": at.path("cache")})
        lines = read(html)[-1]
        found = {name: os.path.basename(lines.get(name, ("", 0))[0] or "") for name in ("inner_inlined", "middle_inlined", "outer_function")}
        same(f"files of functions, {run}", found, dict.fromkeys(found, "inlined.c"))
        with open(os.path.join(os.path.dirname(__file__), "../work/inlined.c"), encoding="utf-8") as f:
            line = next(i for i, x in enumerate(f, 1) if "return inner_inlined(x)" in x)
        same("and the line of the one call", lines["middle_inlined"][1], line)
else:
    skip("lines", f"nothing could be recorded: {r.err[:100]}")

# a damaged recording: samples that weigh more than can be added up
kymo(["record", "-q", "-P", "-c", "1234567", "-e", "cpu-clock:u", "-g", "-o", data, "--", os.path.join(WORK, "spin"), "900000000"], timeout=120)
with open(data, "rb") as f:
    heavy = f.read().replace((1234567).to_bytes(8, "little"), (2 ** 63 - 1).to_bytes(8, "little"))
with open(data, "wb") as f:
    f.write(heavy)
r = kymo(["flame", "-q", "--reverse", "-i", data, "-o", at.path("x.svg")])
check("weights that cannot be added are refused as that", r.code == 1 and "too large" in r.err, r)
at.remove()
end()
