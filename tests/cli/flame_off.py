#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Flame graphs of waiting: tests/work/waits.c waits for known times in known functions, and says how long it was."""
import os
import re
import shutil
import tempfile

import page
from tap import WORK, check, end, has, kymo, same, skip
from watch import busy_cpus

tmp = tempfile.mkdtemp(prefix="kymo-flame-off-")
WAITS = os.path.join(os.path.abspath(WORK), "waits")
os.environ["XDG_CACHE_HOME"] = tmp + "/cache"


def path(name):
    return os.path.join(tmp, name)


def text(name):
    with open(path(name), encoding="utf-8") as f:
        return f.read()


def total(folded, part=""):
    return sum(int(x.rsplit(" ", 1)[1]) for x in folded.splitlines() if part in x)


r = kymo(["record", "-q", "-g", "-e", "cpu-clock", "--off-cpu", "-o", path("r.data"), "--", WAITS, "30", "3"], timeout=120)
if r.code:
    skip("flame graphs of waiting", f"record --off-cpu does not work here: {r.err.splitlines()[0] if r.err else r.code}")
    end()
known = {n: int(v) for n, v in re.findall(r"^(in_\w+) (\d+)$", r.out, re.M)}
check("the program says how long it waited", len(known) >= 3, r.out)

r = kymo(["flame", "--off-cpu", "-i", path("r.data"), "-o", path("off.folded")])
off = text("off.folded")
for name in ("in_sleep", "in_pipe"):
    check(f"{name}: as long as it was, and no longer", 85e6 <= total(off, name) <= known[name] + 2e6, (total(off, name), known))
r = kymo(["flame", "--off-cpu", "-i", path("r.data"), "-o", path("off.svg")])
svg = text("off.svg")
colors = re.findall(r"<title>in_sleep[^<]*</title><rect [^>]*fill=\"rgb\((\d+),(\d+),(\d+)\)", svg)
check("SVG: blue", colors and all(int(b) > int(r_) + 40 for r_, g, b in colors), colors)
check("in ms", re.search(r"<title>in_sleep \(\d+ ms", svg), svg[:300])
kymo(["flame", "--off-cpu", "--colors", "green", "-i", path("r.data"), "-o", path("green.svg")])
colors = re.findall(r"<title>in_sleep[^<]*</title><rect [^>]*fill=\"rgb\((\d+),(\d+),(\d+)\)", text("green.svg"))
check("another palette where it is wished", colors and all(int(g) > int(b) for _, g, b in colors), colors)

kymo(["flame", "-i", path("r.data"), "-o", path("on.folded")])
kymo(["flame", "-i", path("r.data"), "--event-filter", "cpu-clock", "-o", path("clock.folded")])
same("time on the CPU unless asked otherwise, though a wait came first", text("on.folded"), text("clock.folded"))
has("it is said how to see the other", kymo(["flame", "-i", path("r.data"), "-o", path("on.svg")]).err,
    "this is the event cpu-clock; --off-cpu shows where")
r = kymo(["flame", "-i", path("r.data"), "-o", path("both.html")])
head, _ = page.unpack(path("both.html"))
same("a page has both events, in ns", (sorted(x.split(":")[0] for x in head["events"]), head["units"]), (["cpu-clock", "offcpu-time"], ["ns", "ns"]))
check("code that waited is of a kind of its own", 6 in head["funcs"]["kind"])

r = kymo(["flame", "--wall", "-i", path("r.data"), "-o", path("wall.html")])
head, columns = page.unpack(path("wall.html"))
check("--wall: both together, thread by thread", r.code == 0 and head["view"]["wall"], r)
on = kymo(["collapse", "-i", path("r.data"), "--event-filter", "cpu-clock"]).out
r = kymo(["flame", "--wall", "-i", path("r.data"), "-o", path("wall.svg"), "--factor", "1", "--countname", "n"])
check("--wall as SVG, of all events", r.code == 0 and "wrote" in r.err and "--event-filter" not in r.err, r)
whole = int(re.search(r"<title>all \(([\d,]+) n", text("wall.svg"))[1].replace(",", ""))
same("whose sum is that of both", whole, total(on) + total(off))
check("threads are its lowest frames", re.search(r"<title>waits-\d+/\d+ \(", text("wall.svg")))

r = kymo(["record", "-q", "-e", "dummy", "--off-cpu", "--wakers", "-o", path("k.data"), "--", WAITS, "30", "3"], timeout=120)
kymo(["flame", "--off-cpu", "-i", path("k.data"), "-o", path("k-off.folded")])
kymo(["flame", "--wakers", "-i", path("k.data"), "-o", path("k.folded")])
ended = text("k.folded")
same("--wakers: as long as the waits", total(ended), total(text("k-off.folded")))
for wait, by in (("in_pipe", r"\[woken by waits\];.*;feed_pipe;"), ("in_futex", r"\[woken by waits\];.*;wake_futex;"), ("in_sleep", r"\[woken by interrupt\];")):
    lines = [x for x in ended.splitlines() if wait in x]
    long = sum(int(x.rsplit(" ", 1)[1]) for x in lines if re.search(wait + ";.*;" + by, x))
    check(f"--wakers: {wait} was ended by", long >= 0.5 * total(ended, wait) > 0, lines)
r = kymo(["flame", "--wakers", "-i", path("k.data"), "-o", path("k.svg")])
fills = {name: [tuple(map(int, c)) for c in re.findall(rf"<title>{name} [^<]*</title><rect [^>]*fill=\"rgb\((\d+),(\d+),(\d+)\)", text("k.svg"))]
         for name in ("in_pipe", "feed_pipe")}
check("--wakers: the wait is blue", fills["in_pipe"] and all(b > g + 40 for _, g, b in fills["in_pipe"]), fills)
check("--wakers: who ended it is aqua", fills["feed_pipe"] and all(abs(b - g) < 20 and g > r_ + 40 for r_, g, b in fills["feed_pipe"]), fills)
stacks = [int(re.search(r"(\d+) different stacks", x.err)[1]) for x in (r, kymo(["flame", "--wakers", "-i", path("k.data"), "-o", path("again.folded")]))]
same("as many stacks in the picture as in the text", stacks[0], stacks[1])
kymo(["flame", "--wakers", "-i", path("k.data"), "-o", path("k.html")])
head, _ = page.unpack(path("k.html"))
check("--wakers: a page tells waits and wakers apart", {6, 7} <= set(head["funcs"]["kind"]), set(head["funcs"]["kind"]))

with busy_cpus(f"{WORK}/spin"):
    kymo(["record", "-q", "-g", "-e", "sched:sched_switch,sched:sched_waking", "-a", "-o", path("s.data"), "--", WAITS, "30", "3"], timeout=120)
r = kymo(["flame", "--off-cpu", "-i", path("s.data"), "-o", path("s.folded")])
lines = "".join(x + "\n" for x in text("s.folded").splitlines() if x.startswith("waits"))
if "in_sleep" in lines:
    check("from sched_switch, too", total(lines, "in_sleep") >= 85e6, lines[:400])
    r = kymo(["flame", "--wakers", "-i", path("s.data"), "-o", path("w.svg")])
    check("and with who ended the waits", r.code == 0 and "<svg" in text("w.svg"), r)
else:
    skip("from sched_switch", "this kernel does not tell perf of switches from the idle task")

kymo(["record", "-q", "-g", "-e", "cpu-clock", "-e", "sched:sched_switch", "-o", path("both.data"), "--", WAITS, "30", "3"], timeout=120)
r = kymo(["flame", "--wall", "-i", path("both.data"), "-o", path("both.folded")])
both, waits, clock = (kymo(["flame", "-q", *args, "-i", path("both.data"), "-o", path("part.folded")]) and text("part.folded")
                      for args in (["--wall"], ["--off-cpu", "--label", "tid"], ["--event-filter", "cpu-clock", "--label", "tid"]))
check("--wall from sched_switch, too: time on the CPU and waits", r.code == 0 and total(both, "in_sleep") >= 85e6 and total(both, "warm_up") > 0, r)
same("which are the sum of both", sum(total(x, "") for x in (waits, clock)), total(both, ""))
check("nothing is said of switches that are all there", "was sampled" not in r.err, r)
head, _ = (kymo(["flame", "-q", "--wall", "-i", path("both.data"), "-o", path("both.html")]), page.unpack(path("both.html")))[1]
check("waits are of a kind of their own", {0, 6} <= set(head["funcs"]["kind"]), set(head["funcs"]["kind"]))
kymo(["record", "-q", "-g", "-F", "999", "-e", "sched:sched_switch", "-o", path("thin.data"), "--", WAITS, "30", "3"], timeout=120)
has("of sampled switches it is said that waits are missing", kymo(["flame", "--off-cpu", "-i", path("thin.data"), "-o", path("x.folded")]).err, "sched:sched_switch was sampled")
r = kymo(["flame", "--wall", "-i", path("s.data"), "-o", path("x.svg")])
check("--wall without samples on the CPU is refused with a hint", r.code == 1 and "--off-cpu" in r.err, r)
r = kymo(["flame", "--wall", "--off-cpu", "-i", path("r.data"), "-o", path("x.svg")])
check("--wall and --off-cpu exclude each other", r.code == 1 and "--wall" in r.err, r)
r = kymo(["flame", "--off-cpu", "-o", path("live.svg"), "-q", "--", WAITS, "20", "2"], timeout=120)
check("recorded and drawn at once", r.code == 0 and "in_sleep" in text("live.svg"), r)

shutil.rmtree(tmp)
end()
