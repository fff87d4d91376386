#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The terminal interface: sorting that keeps the row, bars on wide screens, and the mouse."""
# lane: any
import os
import re
import tempfile

import term
from tap import KYMO, WORK, check, end, run, skip
from term import Term

K, HOT = os.path.abspath(KYMO), os.path.abspath(f"{WORK}/hotcode")


def where(t):
    """The cursor's number and how many lines there are, from the corner."""
    m = re.search(r"([\d,]+)/([\d,]+)$", t.lines()[-2])
    return tuple(int(x.replace(",", "")) for x in m.groups()) if m else None


def at(t, n):
    return t.until(lambda lines: (re.search(r"([\d,]+)/[\d,]+$", lines[-2] if len(lines) > 1 else "") or [0, ""])[1] == str(n))


def report(data, options="", **kw):
    t = Term(f"{K} report -i {data} {options}", **kw)
    t.until("q quit")
    return t


def sorting(data):
    with report(data) as t:
        t.keys("/", "=] collatz", "Enter")
        t.until("'] collatz'")
        for key in (">", ">", "<", ">", ">", ">"):
            t.keys(key)
            t.settle()
            check(f"{key} sorts, and keeps the row", t.until(lambda x: x[-2].split()[:1] == ["collatz"], 5), t.text())


def wide(data):
    with report(data, width=150) as t:
        t.bars = True
        lines = [x for x in t.lines()[2:-2] if "%" in x]
        bars = [len(m[0]) for m in (re.search("[█▏▎▍▌▋▊▉]+$", x) for x in lines) if m]
        check("a wide screen has bars", len(bars) > 5 and bars[0] == max(bars) >= 8, t.text())
        check("as long as shares are large", bars == sorted(bars, reverse=True), bars)
        t.resize(60, 24)
        check("a narrow one has none", t.until(lambda x: len(x) == 24 and not any("█" in y for y in x)), t.text())


def symbols(lines):
    return [x.split()[-2:] for x in lines[2:-2]]


def mouse(data):
    with report(data) as t:
        check("the mouse is asked for", t.wants_mouse())
        t.mouse(0, 6, 20)
        check("a click selects", at(t, 5), t.text())
        third = t.lines()[5]
        t.mouse(65, 6, 20)
        check("the wheel scrolls, and the cursor stays", t.until(lambda x: x[2] == third, 10) and at(t, 5), t.text())
        t.mouse(65, 6, 20)
        check("until it would not be seen any more", at(t, 7), t.text())
        for _ in range(3):
            t.mouse(64, 6, 20)
        t.settle()
        t.mouse(0, 1, t.lines()[1].index("Symbol") + 2)
        check("a click on a heading sorts by it", t.until(lambda x: "▼" not in x[1] and symbols(x) == sorted(symbols(x))), t.text())
        t.mouse(0, 1, 4)
        check("and by another", t.until(lambda x: "Children▼" in x[1]), t.text())
        t.keys("/", "=] main", "Enter")
        t.until("'] main'")
        y = next(i for i, x in enumerate(t.lines()) if x.endswith("] main"))
        t.mouse(0, y, 30)
        t.mouse(0, y, 30)
        check("two clicks open the row", t.until("% outer"), t.text())
        t.keys("m")
        t.until("Annotate main")
        y = next(i for i, x in enumerate(t.lines()) if "Annotate main" in x)
        t.mouse(0, y, 40)
        check("a click chooses in the menu", t.until("H hottest"), t.text())
        t.keys("q")
        t.until("m menu")
        t.keys("M")
        check("M gives it back", t.until("the terminal's") and not t.wants_mouse(), t.text())


if not term.have:
    skip("all", "needs tmux")
    end()
with tempfile.TemporaryDirectory() as tmp:
    perf_data = f"{tmp}/perf.data"
    r = run([K, "record", "-q", "--call-graph", "fp", "-c", "500000", "-e", "cpu-clock", "-o", perf_data, "--", HOT, "3000"])
    if check("a recording", r.code == 0 and os.path.exists(perf_data), r):
        sorting(perf_data)
        wide(perf_data)
        mouse(perf_data)
end()
