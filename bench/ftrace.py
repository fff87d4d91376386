#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording a hot tracepoint costs, and how fast a large trace.dat is shown, beside perf and trace-cmd.

dd makes N writes of 4 KiB from /dev/zero to /dev/null while syscalls:sys_enter_write is recorded: through kymo's
tracefs transport (ftrace record) and its perf transport (record), through perf record, trace-cmd record where this
kernel lets it, through tracefs by hand (cat of trace_pipe, and of the raw pages, which are fewer bytes but no text), and
with events enabled in an instance that nobody reads (what the kernel itself costs). What a reader by hand loses is in
the buffer's statistics.
"""
import os
import re
import statistics
import subprocess
import tempfile

from lib import KYMO, RUNS, Bench, Run, have, interleave

WRITES = int(os.environ.get("BENCH_WRITES", "400000"))
BIG = int(os.environ.get("BENCH_BYTES", str(100 << 20)))
EVENT = "syscalls:sys_enter_write"
TRACEFS = "/sys/kernel/tracing"
b = Bench("ftrace")
DD = ["dd", "if=/dev/zero", "of=/dev/null", "bs=4k", f"count={WRITES}"]


def took(text):
    """dd's own seconds: what the command felt, without starting and ending the recorder."""
    m = re.search(r"copied, ([0-9.e-]+) s", text)
    return float(m[1]) if m else None


def lost_of(name, text):
    if name == "trace-cmd":
        return sum(int(x) for x in re.findall(r"(\d+) events lost", text))
    if name == "perf record":
        return sum(int(x) for x in re.findall(r"lost (\d+)", text))
    return sum(int(x) for x in re.findall(r"([\d,]+) events were lost", text.replace(",", "")))


def overruns(d):
    """Events that were overwritten before somebody read them."""
    return sum(int(re.search(r"^overrun: (\d+)", open(f"{d}/per_cpu/cpu{i}/stats").read(), re.M)[1]) for i in range(os.cpu_count()))


def enabled(run):
    """The event in an instance of its own while run(its folder) goes on."""
    d = f"{TRACEFS}/instances/kymo-bench"
    os.mkdir(d)
    try:
        open(f"{d}/events/syscalls/sys_enter_write/enable", "w").write("1")
        r = run(d)
        r.err += f"\n{overruns(d)} events were lost\n"
        return r
    finally:
        open(f"{d}/events/syscalls/sys_enter_write/enable", "w").write("0")
        os.rmdir(d)


def nobody():
    """The kernel alone: events into a buffer that is overwritten."""
    return enabled(lambda d: Run(DD, keep=True))


def by_cat(names):
    """What a script does: these files of the instance into others."""
    return lambda d: cat_while_dd([f"{d}/{n}" for n in names])


def cat_while_dd(paths):
    cats = [subprocess.Popen(["cat", p], stdout=open(f"cat{i}", "wb")) for i, p in enumerate(paths)]
    try:
        return Run(DD, keep=True)
    finally:
        for p in cats:
            p.kill()
            p.wait()


with tempfile.TemporaryDirectory() as d:
    os.chdir(d)
    subjects = {
        "nothing": lambda: Run(DD, keep=True),
        "kymo ftrace record": lambda: Run([KYMO, "ftrace", "record", "-e", EVENT, "-o", "k.dat", *DD], keep=True),
        "kymo record": lambda: Run([KYMO, "record", "-a", "-e", EVENT, "-o", "k.data", "--", *DD], keep=True),
        "cat trace_pipe": lambda: enabled(by_cat(["trace_pipe"])),
        "cat raw pages": lambda: enabled(by_cat([f"per_cpu/cpu{i}/trace_pipe_raw" for i in range(os.cpu_count())])),
        "the kernel alone": nobody,
    }
    if have("perf"):
        subjects["perf record"] = lambda: Run(["perf", "record", "-a", "-N", "-e", EVENT, "-o", "p.data", "--", *DD], keep=True)
    if have("trace-cmd") and subprocess.run(["trace-cmd", "record", "-q", "-e", EVENT, "-o", "t.dat", "true"], capture_output=True).returncode == 0:
        subjects["trace-cmd"] = lambda: Run(["trace-cmd", "record", "-e", EVENT, "-o", "t.dat", *DD], keep=True)
    results = interleave(subjects, max(3, RUNS // 2))
    base = statistics.median(t for t in (took(r.err) for r in results["nothing"]) if t)
    costs, lost = {}, {}
    for name, runs in results.items():
        if name == "nothing":
            continue
        times = [t for t in (took(r.out + r.err) for r in runs) if t]
        costs[name] = (statistics.median(times) - base) / WRITES * 1e9 if times else None
        lost[name] = statistics.median(lost_of(name, r.out + r.err) for r in runs)
    # beside perf: the goal is below every other recorder; what the kernel alone takes is the floor
    first = [n for n in ("perf record", "trace-cmd", "cat trace_pipe", "cat raw pages") if costs.get(n) is not None]
    order = {"kymo": costs.pop("kymo ftrace record"), **{n: costs.pop(n) for n in first}, **{n: c for n, c in costs.items() if c is not None}}
    b.add(f"cost of an event, dd of {WRITES} writes", "ns", order, goal=1)
    b.add("events lost at default settings", "", {"kymo": lost.pop("kymo ftrace record"), **{n: v for n, v in lost.items() if n != "the kernel alone"}})

    # --- a large file ---
    count = BIG // 36
    subprocess.run([KYMO, "ftrace", "record", "-q", "-b", "32768", "-e", "syscalls:sys_enter_write", "-e", "syscalls:sys_exit_write", "-o", "big.dat",
                    "--compression", "none", "dd", "if=/dev/zero", "of=/dev/null", "bs=512", f"count={count // 2}"], stderr=subprocess.DEVNULL)
    size = os.path.getsize("big.dat") >> 20
    b.compare(f"report of {size} MB", {"kymo": [KYMO, "ftrace", "report", "-q", "-i", "big.dat"],
                                       "trace-cmd": ["trace-cmd", "report", "-q", "-i", "big.dat"]}, by=("wall", "cpu", "rss"), goal=0.2, runs=3)
b.end()
