#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Columns of numbers in the terminal interface: a group's events side by side, periods, modes; as in text."""
import os
import re
import tempfile

from tap import KYMO, WORK, check, end, has, run, same, skip
import term
from term import Term

HOT = os.path.abspath(f"{WORK}/hotcode")
K = os.path.abspath(KYMO)


def numbers(lines, n):
    """The first n numbers of each row with its symbol."""
    out = []
    for line in lines:
        m = re.match(r"[-+ ] +" + r"([\d.]+)%? +" * n + r".*\[[.k]\] (\S+)", line)
        if m:
            out.append((*map(float, m.groups()[:n]), m[n + 1]))
    return out


def text(data, n, *options):
    r = run([K, "report", "--stdio", "-g", "none", "-i", data, *options])
    return numbers([x for x in r.out.splitlines() if not x.startswith("#")], n)


def printed(data, folder, n, options):
    """What P writes of a report: all rows, those of numbers first."""
    with Term(f"{K} report -i {data} {options}", width=160, cwd=folder) as t:
        t.until("q quit")
        t.keys("P", "=x", "Enter")  # kymo.report.Nx
        t.until(lambda x: "lines in" in x[-2])
        path = t.lines()[-2].split(" in ")[1].split()[0]
        first = t.lines()
    with open(f"{folder}/{path}") as f:
        lines = f.read().splitlines()
    os.unlink(f"{folder}/{path}")
    return first, numbers([x for x in lines if not x.startswith("#")], n)


if not term.have:
    skip("all", "needs tmux")
    end()
with tempfile.TemporaryDirectory() as tmp:
    data = f"{tmp}/group.data"
    # the second event counts four times as often: its shares are others
    events = "cpu-clock/period=4000000/", "task-clock/period=1000000/"
    r = run([K, "record", "-q", "-e", "{" + ",".join(events) + "}", "-o", data, "--", HOT, "1500"])
    if not check("a recording of a group", r.code == 0, r):
        end()
    screen, got = printed(data, tmp, 2, "")
    has("both events are in the title", screen[0], f"of events 'anon group {{ {events[0]}, {events[1]} }}'")
    same("two shares a row", len(re.findall("Overhead", screen[1])), 2)
    check("there is no other event to go to", "event 1/" not in screen[0], screen[0])
    truth = text(data, 2)
    check("rows have two shares in text", len(truth) > 2, truth)
    same("with the shares that text has", sorted(got), sorted(truth))
    same("in order of the first", [x[0] for x in got], sorted((x[0] for x in got), reverse=True))
    screen, got = printed(data, tmp, 2, "--group-sort-idx 1")
    check("--group-sort-idx: by the second", re.search(r"Overhead +Overhead▼", screen[1]), screen[1])
    same("in its order", [x[1] for x in got], sorted((x[1] for x in got), reverse=True))
    screen, _ = printed(data, tmp, 1, "--no-group")
    check("--no-group: each its own", f"of event '{events[0]}'" in screen[0] and "event 1/2" in screen[0], screen[0])
    screen, got = printed(data, tmp, 3, "--no-group --show-total-period -n")
    has("periods and samples", screen[1], "Overhead", "Samples", "Period")
    r = run([K, "report", "--stdio", "--no-group", "-i", data, "-n", "--show-total-period"])
    truth = numbers([x for x in r.out.split("# Samples")[1].splitlines() if not x.startswith("#")], 3)
    same("as in text", sorted(got), sorted(truth))
    screen, got = printed(data, tmp, 3, "--no-group --show-cpu-utilization")
    check("shares of modes make the whole", got and all(abs(a - b - c) < 0.02 for a, b, c, _ in got), got)
    screen, _ = printed(data, tmp, 2, "--hierarchy")
    check("a tree has both, too", len(re.findall("Overhead", screen[1])) == 2 and
          re.match(r" +([\d.]+)% +([\d.]+)%  \+ \w", screen[2]), screen)
    r = run([K, "record", "-q", "-s", "-e", "cpu-clock", "-F", "999", "-o", data, "--", HOT, "500"])
    check("a recording with counters by thread", r.code == 0, r)
    counters = re.split(r"# +PID", run([K, "report", "--stdio", "-T", "-i", data]).out)[-1].splitlines()[1:]
    check("text has them", counters, counters)
    with Term(f"{K} report -T -i {data}") as t:
        check("-T: rows to walk through", t.until("i shows the counters"), t.text())
        t.keys("i")
        check("and the counters of the threads", t.until(lambda x: all(any(c.strip() in y for y in x) for c in counters)), t.text())
end()
