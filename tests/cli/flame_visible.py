#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""A picture of a recording keeps no stacks (calc/stacks/visible.c): each frame's total is that of the folded lines with its path."""
import collections
import html
import os
import re
import shutil
import tempfile

from tap import SAN, WORK, check, end, kymo, same, skip

tmp = tempfile.mkdtemp(prefix="kymo-visible-")
data, svg = os.path.join(tmp, "perf.data"), os.path.join(tmp, "a.svg")


def paths(folded):
    sums = collections.Counter()
    for line in folded.splitlines():
        stack, n = line.rsplit(" ", 1)
        frames = stack.split(";")
        for i in range(len(frames)):
            sums[tuple(frames[:i + 1])] += int(n)
    return sums


def drawn(path):
    """Frames of an SVG as (depth, name, total), found by their places."""
    with open(path, encoding="utf-8") as f:
        found = re.findall(r'<title>(.*?) \(([\d,]+) n[,)][^<]*</title><rect x="[\d.]+" y="([\d.]+)"', f.read())
    rows = sorted({float(y) for _, _, y in found}, reverse=True)
    return collections.Counter((rows.index(float(y)), html.unescape(name), int(n.replace(",", ""))) for name, n, y in found)


def compare(what, *record):
    r = kymo(["record", "-q", "-F", "1999", "-e", "cpu-clock", "-g", "-o", data, "--", *record], timeout=120)
    if r.code not in (0, 124):
        return skip(what, f"nothing could be recorded: {r.err[:100]}")
    for label, option in (("comm", []), ("pid", ["--pid"]), ("tid", ["--tid"])):
        sums = paths(kymo(["collapse", "-i", data, "--inline", *option]).out)
        whole = sum(n for k, n in sums.items() if len(k) == 1)
        for width in ("0.05", "3", "200"):
            r = kymo(["flame", "-i", data, "-o", svg, "--factor", "1", "--countname", "n", "-q", "--minwidth", width, "--label", label])
            got = drawn(svg)
            same(f"{what}: the whole, by {label}, from {width} pixels on", [n for d, _, n in got if d == 0], [whole])
            # of the program and of its loader: two frames in a picture, one in a line; code without a name is one a module
            clear = lambda name: name != "_start" and not name.startswith(("[", "0x"))  # noqa: E731
            all_of = collections.Counter((len(k), k[-1], n) for k, n in sums.items())
            want = [(len(k), k[-1], n) for k, n in sums.items() if n / whole * 1180 >= float(width) * 1.01 and clear(k[-1])]
            missing = [x for x in want if x not in got]
            wrong = [x for x in got if x[0] and x not in all_of and clear(x[1])]
            check("every frame as wide is drawn", not missing and len(got) > 1, missing[:5])
            check("with its true sum", not wrong, wrong[:5])
    return None


compare("different stacks all the time", os.path.join(WORK, "calls"), f"random={300 if SAN else 800}", "threads=2")
compare("many processes", "sh", "-c", "for i in 1 2 3 4 5; do ls -lR /usr/lib/python3 /etc >/dev/null; done")

# addresses that have the same functions inlined are one place: also when only the cache says how far that goes
r = kymo(["record", "-q", "-F", "9999", "-e", "cpu-clock:u", "-g", "-o", data, "--", os.path.join(WORK, "inlined")], timeout=120)
if r.code in (0, 124):
    sums = paths(kymo(["collapse", "-i", data, "--inline"]).out)
    want = {(len(k), k[-1], n) for k, n in sums.items() if k[-1].startswith(("inner", "middle", "outer", "calling", "leaf"))}
    for run in ("the first time", "again", "once more"):
        kymo(["flame", "-i", data, "-o", svg, "--factor", "1", "--countname", "n", "-q", "--minwidth", "0.05"], env={"XDG_CACHE_HOME": tmp})
        missing = [x for x in want if x not in drawn(svg) and x[2] > 0.001 * sum(n for k, n in sums.items() if len(k) == 1)]
        check(f"inlined functions have their sums, {run}", not missing and want, missing[:5])
else:
    skip("inlined functions", f"nothing could be recorded: {r.err[:100]}")
kymo(["flame", "-i", data, "-o", svg, "--collapse-recursion", "-q"])
check("recursion collapsed", os.path.getsize(svg) > 1000)

# what is compared is the same event, whatever its modifiers, or the only one there is
other, folded = os.path.join(tmp, "other.data"), os.path.join(tmp, "both.folded")
for event in ("cpu-clock:u", "task-clock"):
    kymo(["record", "-q", "-F", "999", "-e", event, "-g", "-o", other, "--", os.path.join(WORK, "calls"), "random=200"], timeout=120)
    kymo(["flame", data, other, "-o", folded, "-q"])
    with open(folded, encoding="utf-8") as f:
        sums = [sum(x) for x in zip(*(map(int, line.split()[-2:]) for line in f))]
    want = [int(re.search(r"Event count \(approx\.\): (\d+)", kymo(["report", "--stdio", "-i", x, "-g", "none"]).out)[1]) for x in (data, other)]
    same(f"cpu-clock compared with {event}", sums, want)
shutil.rmtree(tmp)
end()
