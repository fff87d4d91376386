#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report --hierarchy in a real terminal (tmux): rows below rows, opened and closed, searched, filtered, zoomed, printed."""
import os
import re
import tempfile

from tap import KYMO, WORK, check, end, has, run, same, skip
import term
from term import Term

HOT = os.path.abspath(f"{WORK}/hotcode")
K = os.path.abspath(KYMO)


def rows(lines):
    """(depth, mark, percentage, text) of the rows of the tree."""
    out = []
    for line in lines:
        m = re.match(r" +([\d.]+)%  ( *)([-+ ]) (\S.*)", line)
        if m:
            out.append((len(m[2]) // 2, m[3], float(m[1]), m[4].rstrip()))
    return out


def shown(t):
    return rows(t.lines()[2:-2])


def printed(path):
    """The same of what P wrote, which has no marks."""
    out = []
    with open(path) as f:
        for line in f:
            m = re.match(r"  +([\d.]+)%  ( *)(\S.*)", line)
            if m:
                out.append((len(m[2]) // 2, float(m[1]), m[3].rstrip()))
    return out


def in_text(data, *options):
    """The same of the report as text, the truth here: it is compared with perf's elsewhere."""
    r = run([K, "report", "--hierarchy", "--stdio", "-g", "none", "-i", data, *options])
    out = []
    for line in r.out.split("\n# Samples")[1].splitlines():
        m = re.match(r"( *) +([\d.]+)% +(\S.*)", line)
        if m and not line.startswith("#"):
            out.append(((len(line) - len(line[line.index(m[2]):]) - (5 - len(m[2]))) // 3, float(m[2]), m[3].rstrip()))
    least = min(d for d, _, _ in out)
    return [(d - least, p, x) for d, p, x in out]


def tree(data, options="", **kw):
    t = Term(f"{K} report --hierarchy -i {data} {options}", **kw)
    t.until("q quit")
    return t


def opening(data):
    with tree(data) as t:
        check("24 lines of at most 80 columns", len(t.lines()) == 24 and all(len(x) <= 80 for x in t.lines()), t.text())
        has("one heading for all levels", t.lines()[1], "Overhead", "Command / File / Symbol")
        has("hints of a tree", t.lines()[-1], "Enter open", "m menu", "q quit")
        top = shown(t)
        same("at first only commands, closed", sorted((d, m, x) for d, m, _, x in top),
             [(0, "+", "helper"), (0, "+", "hotcode"), (0, "+", "worker")])
        check("heaviest first", [r[2] for r in top] == sorted((r[2] for r in top), reverse=True), top)
        check("they are everything", abs(sum(r[2] for r in top) - 100) < 0.05, top)
        for key in ("Enter", "e", "+", "Right"):
            t.keys("Home", key)
            check(f"{key} opens a row", t.until(lambda _: any(r[0] == 1 for r in shown(t))), t.text())
            check("it is marked as open", shown(t)[0][1] == "-", t.text())
            below = [r for r in shown(t) if r[0] == 1]
            check("what is below has its sum", abs(sum(r[2] for r in below) - shown(t)[0][2]) < 0.03, t.text())
            t.keys("Enter" if key == "Right" else "Left" if key == "+" else key)
            check("and closes", t.until(lambda _: [r[1] for r in shown(t)] == ["+"] * 3), t.text())
        t.keys("Home", "Right", "j", "Right", "j")
        check("levels open one by one", t.until(lambda _: any(r[0] == 2 for r in shown(t))), t.text())
        check("a symbol is named in full below", t.until(lambda x: re.match(r" \w+  /\S+", x[-2])), t.text())
        t.keys("Right")
        check("the lowest row opens its call graph", t.until(lambda x: any(re.match(r" {12,}[-+] +[\d.]+% \w", y) for y in x)), t.text())
        t.keys("Left")
        check("Left closes it", t.until(lambda x: not any(re.match(r" {12,}[-+] +[\d.]+% \w", y) for y in x)), t.text())
        t.keys("Left")
        check("Left goes to the row above", t.until(lambda x: x[-2].endswith(f" 2/{x[-2].split('/')[-1]}")), t.text())
        t.keys("Left", "Left", "Left")
        check("and closes all it goes out of", t.until(lambda _: len(shown(t)) == 3), t.text())
        t.keys("m")
        check("m is the menu", t.until("Open what is below") and "Zoom into thread" in t.text(), t.text())
        check("of a command there is no single file", "Zoom into file" not in t.text(), t.text())
        t.keys("Escape", "d")
        check("nor to zoom into", t.until("more than one file"), t.text())


def everything(data, folder):
    truth = in_text(data)
    with tree(data, "-g none", width=200, height=50, cwd=folder) as t:
        t.keys("E", "P", "Enter")
        check("P prints", t.until("lines in kymo.report.0"), t.text())
        got = printed(f"{folder}/kymo.report.0")
        same("E opened all rows of the text report", sorted(got), sorted(truth))
        same("in its order of weight", [p for _, p, _ in got], [p for _, p, _ in truth])
        t.keys("C")
        check("C closes all", t.until(lambda _: len(shown(t)) == 3), t.text())
        t.keys("E", "L", "=20", "Enter")
        t.until(lambda x: "from 20%" in x[0])
        same("L hides light rows of every level", sorted((d, p, x) for d, _, p, x in shown(t)),
             sorted(r for r in truth if r[1] >= 20))
    truth = in_text(data, "-s", "{comm,dso},sym")
    with tree(data, "-g none -s '{comm,dso},sym'", width=200, height=50, cwd=folder) as t:
        has("keys in braces share a level", t.lines()[1], "Command + File / Symbol")
        t.keys("E", "P", "Enter")
        t.until("lines in kymo.report.1")
        same("and stand beside each other", sorted((d, p) for d, p, _ in printed(f"{folder}/kymo.report.1")),
             sorted((d, p) for d, p, _ in truth))


def choosing(data):
    truth = in_text(data)
    mixers = sum(x == "[.] mixer" for _, _, x in truth)
    with tree(data, height=40) as t:
        t.keys("/", "=] mixer", "Enter")
        check("/ finds what is closed away", t.until(lambda _: any(r[3] == "[.] mixer" for r in shown(t))), t.text())
        check("with the cursor on it", t.until(lambda x: "'] mixer'" in x[-2]), t.text())
        for _ in range(mixers - 1):
            t.keys("n")
            t.settle()
        same("n goes on to the others", sum(r[3] == "[.] mixer" for r in shown(t)), mixers)
        t.keys("C", "\\", "=collatz", "Enter")
        check("\\ leaves what contains it", t.until(lambda x: "with 'collatz'" in x[0]), t.text())
        left = shown(t)
        same("with the rows above it", [(d, x) for d, _, _, x in left], [(0, "hotcode"), (1, "hotcode"), (2, "[.] collatz")])
        same("which have the sums of what is left", len({p for _, _, p, _ in left}), 1)
        t.keys("Escape", "Escape", "Escape", "Escape")
        check("Esc takes it back", t.until(lambda x: "with 'collatz'" not in x[0]), t.text())
        t.keys("C", "/", "=worker", "Enter", "t")
        check("t zooms into the thread", t.until(lambda x: "Command: worker" in x[0]), t.text())
        check("only its rows", [r[3] for r in shown(t) if r[0] == 0] == ["worker"], t.text())
        t.keys("t", "E", "/", "=kernel.kallsyms", "Enter", "d")
        check("d zooms into the file", t.until(lambda x: "File: [kernel.kallsyms]" in x[0]), t.text())
        check("of every command", all(r[3] == "[kernel.kallsyms]" for r in shown(t) if r[0] == 1), t.text())
        t.keys("d", "C", ">")
        check("> sorts by names", t.until(lambda x: "▲" in x[1]), t.text())
        same("of a level among each other", [r[3] for r in shown(t)], ["helper", "hotcode", "worker"])
        t.keys("S", "=dso,comm", "Enter")
        check("S makes other levels", t.until(lambda x: "File / Command" in x[1]), t.text())
        t.keys("Tab")
        check("Tab shows the next event", t.until(lambda x: "'task-clock'" in x[0]), t.text())
        t.tmux("resize-window", "-t", "t", "-x", "40", "-y", "10")
        check("a small window", t.until(lambda x: len(x) == 10 and all(len(y) <= 40 for y in x) and any("hotcode" in y for y in x)),
              t.text())


def part_of_names(data):
    """A word that is no option is a part of function names: here as in text."""
    with Term(f"{K} report -i {data} --no-children collatz") as t:
        t.until("q quit")
        names = [line.split("] ")[-1] for line in t.lines()[2:-2] if "%" in line]
        same("only functions with it", set(names), {"collatz"})
    with tree(data, "collatz") as t:
        t.keys("E")
        check("also in a tree", t.until("] collatz"), t.text())
        same("with no others", [x for d, _, _, x in shown(t) if d == 2], ["[.] collatz"])


if not term.have:
    skip("all", "needs tmux")
    end()
with tempfile.TemporaryDirectory() as tmp:
    data = f"{tmp}/perf.data"
    r = run([K, "record", "-q", "--call-graph", "fp", "-c", "500000", "-e", "cpu-clock", "-e", "task-clock", "-o", data, "--", HOT, "2000"])
    if not check("a recording", r.code == 0 and os.path.exists(data), r):
        end()
    opening(data)
    everything(data, tmp)
    choosing(data)
    part_of_names(data)
end()
