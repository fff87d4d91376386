#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording says on a terminal what it does: a line that is kept up to date, and gone at the end."""
import os
import re
import shutil
import tempfile
import time

import term
from tap import KYMO, WORK, check, end, kymo, same, skip

if not term.have:
    skip("all of it", "there is no tmux")
    end()

DIR = tempfile.mkdtemp(prefix="kymo-watching-")
CACHE = {"XDG_CACHE_HOME": DIR + "/cache"}
LINE = re.compile(r"^recording (\S+) of (.*): (\d+)( of \d+)? s(, [\d,]+ events)?(, [\d.]+ \w+)?; Ctrl-C ends it$")
BUSY = f"{WORK}/spin 1000000000000"


def seen(t, pattern, seconds=20):
    """The first line that fits, as soon as there is one."""
    until = time.monotonic() + seconds * term.SLOW
    while time.monotonic() < until:
        for line in t.lines():
            m = re.search(pattern, line)
            if m:
                return m
        time.sleep(0.1)
    return None


def gone(t):
    """After its end: the exit code, and whether any of the line is left."""
    t.until("EXIT", 120)
    lines = t.lines()
    return [x for x in lines if "Ctrl-C ends" in x], next(x for x in lines if x.startswith("EXIT"))


def endless(args, whom, counts):
    with term.Term(f"{KYMO} {args}", 100, 20, CACHE, DIR) as t:
        m = seen(t, LINE)
        check(f"{args}: what is recorded, and that Ctrl-C ends it", m and m[2] == whom, t.lines())
        later = seen(t, LINE.pattern.replace(r"(\d+)", "([2-9]|1[0-9])"))
        check(f"{args}: it goes on, {'with a count' if counts else 'with how much there is'}",
              later and (later[5] if counts else later[6]), t.lines())
        one = [x for x in t.lines() if "Ctrl-C ends" in x]
        same(f"{args}: in one line", len(one), 1)
        t.keys("C-c")
        rest, code = gone(t)
        same(f"{args}: nothing of it is left", (rest, code), ([], "EXIT 0"))


endless("record -a -e cpu-clock -F 99 -o a.data", "the whole machine", True)
endless("flame -C 0 -e cpu-clock -F 99 -o f.html", "CPU 0", True)
if os.access("/sys/kernel/tracing/events/sched", os.R_OK):
    endless("ftrace record -e sched -o t.dat", "the whole machine", False)
    endless("heat -a --syscall read -o h.html", "the whole machine", False)
else:
    skip("ftrace record, heat", "there is no tracefs")

with term.Term(f"{KYMO} record -e cpu-clock -o d.data --duration 2", 100, 20, CACHE, DIR) as t:
    m = seen(t, LINE)
    check("--duration: how long it takes", m and m[4] == " of 2", t.lines())
    same("... and it ends by itself", gone(t), ([], "EXIT 0"))

# a command has the terminal for itself
with term.Term(f"{KYMO} record -e cpu-clock -o c.data -- sh -c 'echo mine; sleep 1.2; echo more'", 100, 20, CACHE, DIR) as t:
    t.until("EXIT", 120)
    lines = t.lines()
    check("a command that is recorded: nothing but its own output", not any("recording" in x and "Ctrl-C" in x for x in lines) and
          lines.index("more") == lines.index("mine") + 1, lines)
with term.Term(f"{KYMO} record -a -e cpu-clock -o c.data -- sleep 1.2", 100, 20, CACHE, DIR) as t:
    t.until("EXIT", 120)
    check("a command that says how long: one line, which stays",
          "recording cpu-clock of the whole machine while sleep runs; Ctrl-C ends it" in t.lines(), t.lines())
with term.Term(f"{KYMO} record -q -e cpu-clock -o q.data --duration 1.5", 100, 20, CACHE, DIR) as t:
    check("-q: nothing", not seen(t, "recording", 1), t.lines())
r = kymo(f"record -e cpu-clock -o {DIR}/p.data --duration 0.6")
check("no terminal: nothing", "Ctrl-C" not in r.text, r)
# what else is said comes on lines of its own
with term.Term(f"{KYMO} record -e cpu-clock -a -o s.data --switch-output=1s --duration 3", 100, 20, CACHE, DIR) as t:
    t.until("EXIT", 120)
    check("notes meanwhile have lines of their own", sum(bool(re.match(r"kymo: wrote s\.data\.\d+$", x)) for x in t.lines()) >= 2 and
          not any("Ctrl-C" in x for x in t.lines()), t.lines())
# and on a narrow one it is cut, not wrapped
with term.Term(f"{KYMO} record -e cpu-clock -o n.data --duration 2", 30, 20, CACHE, DIR) as t:
    m = seen(t, r"^recording cpu-clock of the")
    same("a narrow terminal: one line", sum("recording" in x for x in t.lines()), 1)

shutil.rmtree(DIR, ignore_errors=True)
end()
