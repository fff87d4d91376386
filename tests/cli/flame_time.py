#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Flame charts are in time: tests/work/phases.c does known things at known times, and says when."""
import re

import page
from files import Folder
from phases import record
from tap import check, end, has, kymo, same, skip

at = Folder("kymo-time-")


def chart(data, *options):
    """What kymo says, and the boxes of the SVG as (name, from, to), by its words and by their places."""
    r = kymo(["flame", "--flamechart", *options, "-i", at.path(data), "-o", at.path("x.svg")])
    if r.code:
        return r, [], []
    with open(at.path("x.svg"), encoding="utf-8") as f:
        text = f.read()
    said = [(n, float(a), float(a) + int(ms.replace(",", "")) / 1e3) for n, a, ms in re.findall(r"<title>(\w+) \(at ([\d.]+) s, ([\d,]+) ms", text)]
    ticks = [(float(x), float(s)) for x, s in re.findall(r'<line x1="([\d.]+)".*?>([\d.]+) s</text>', text)]
    if len(ticks) < 2:
        return r, said, []
    (x0, s0), (x1, s1) = ticks[0], ticks[-1]
    second = (x1 - x0) / (s1 - s0)
    drawn = [(n, s0 + (float(x) - x0) / second, s0 + (float(x) + float(w) - x0) / second)
             for n, x, w in re.findall(r'<title>(\w+) \([^<]*</title><rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', text)]
    return r, said, drawn


p = record(at.path("p.data"), "-e cpu-clock", ["threads"])
if not p:
    skip("flame charts in time", "the clock cannot be sampled here")
    end()
r, said, drawn = chart("p.data")
same("what ran stands when it ran, and a sleep is a gap", p.wrong(said, without=("in_pause",)), "")
same("under the axis, too", p.wrong(drawn, without=("in_pause",)), "")
threads = {}
with open(at.path("x.svg"), encoding="utf-8") as f:
    for x, y, w in re.findall(r'<title>in_third \([^<]*</title><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', f.read()):
        threads.setdefault(y, []).append((float(x), float(x) + float(w)))
over = [(y, a, b) for y, boxes in threads.items() for a, b in zip(sorted(boxes), sorted(boxes)[1:]) if b[0] < a[1] - 0.2]
check("threads that run at once have rows of their own", threads and not over, (threads, over))
r = kymo(["flame", "--flamechart", "--counts", "-i", at.path("p.data"), "-o", at.path("c.svg")])
r2, said, _ = chart("p.data", "--counts")
same("widths are times also where samples are counted", p.wrong(said, without=("in_pause",)), "")

p = record(at.path("c.data"), "-e cpu-clock -c 5000000")
_, said, drawn = chart("c.data")
same("with a sample every 5 ms", p.wrong(drawn, without=("in_pause",)), "")

p = record(at.path("w.data"), "-e cpu-clock --off-cpu --off-cpu-thresh 1")
if p:
    r, said, drawn = chart("w.data", "--wall")
    same("waits stand when they were, between what ran", p.wrong(drawn), "")
    missing = re.search(r"<?([\d.]+)% of the weight is not in the chart", r.err)  # waits below 1 ms, for others on the CPU
    check("nothing is missing that had to be told", not missing or float(missing[1]) < 1, r.err)
    p = record(at.path("s.data"), "-e cpu-clock --off-cpu")
    kymo(["record", "-q", "-e", "dummy", "--off-cpu", "-o", at.path("sum.data"), "--", "sh", "-c", "for i in 1 2 3 4; do sleep 0.01; done"])
    r = kymo(["flame", "--flamechart", "--off-cpu", "-i", at.path("sum.data"), "-o", at.path("x.svg")])
    has("of waits that were summed up it is said that they have no time", r.err, "summed up", "--off-cpu-thresh 1")
    kymo(["flame", "--off-cpu", "-i", at.path("sum.data"), "-o", at.path("x.html")])
    head, columns = page.unpack(at.path("x.html"))
    steps, at_step = [], 0
    for z in columns[4]:
        at_step += -((z + 1) // 2) if z & 1 else z // 2
        steps.append(at_step)
    check("in the page, too: not where they were handed out", head["time"]["untimed"] or -1 in steps, (head["time"], steps))
    r = kymo(["flame", "--flamechart", "--off-cpu", "-q", "-o", at.path("live.svg"), "--", "sleep", "0.3"])
    with open(at.path("live.svg"), encoding="utf-8") as f:
        waits = re.findall(r"<title>\w*nanosleep \(at ([\d.]+) s, (\d+) ms", f.read())
    # it may have to wait for a CPU, too
    check("recorded for the chart, they have it", r.code == 0 and waits and 295 <= int(waits[0][1]) <= 900, (r, waits))
else:
    skip("waits in a flame chart", "record --off-cpu does not work here")

p = record(at.path("switch.data"), "-e cpu-clock -e sched:sched_switch")
if p:
    r, said, drawn = chart("switch.data", "--wall")
    start = min((f for n, f, _ in drawn if n == "in_first"), default=0)
    waits = [(f - start, t - start) for n, f, t in drawn if n == "in_pause" and t - f > 0.1]
    check("waits from sched_switch, too", len(waits) == 1 and all(abs(a - b) < 0.02 for a, b in zip(waits[0], p.phases[2][1:])), (waits, p.phases, r))

at.write("a.folded", "a;b 1\na;c 2\na;b 1\n")
r = kymo(["flame", "--flamechart", at.path("a.folded"), "-o", at.path("a.svg")])
with open(at.path("a.svg"), encoding="utf-8") as f:
    text = f.read()
check("folded text has an order, but no axis of time", 'id="axis"' not in text and text.count("<title>b (1 samples") + text.count("<title>b (1 sample,") == 2, text[-600:])
at.remove()
end()
