#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What kymo trace adds to a system call, beside strace and perf trace.

CPU time of the tracer and of the traced program together, what a run without calls takes taken off: so neither start-up nor what
else the machine does counts. The program reads and writes single bytes (dd)."""
import os
import statistics

from lib import KYMO, Bench, Run, have, interleave

b = Bench("trace")
SUMS = {"kymo": [KYMO, "trace", "-s"], "perf": ["perf", "trace", "-s"], "strace": ["strace", "-f", "-c"]}
LINES = {"kymo": [KYMO, "trace", "-o", "/dev/null"], "perf": ["perf", "trace", "-o", "/dev/null"],
         "strace": ["strace", "-f", "-o", "/dev/null"]}
CALLS = {"bare": 2000000, "kymo": 1000000, "perf": 100000, "strace": 30000}  # each long enough to be measured
RUNS = int(os.environ.get("BENCH_RUNS", "5"))


def dd(calls):
    return ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={calls // 2}", "status=none"]


def cpu(argv):
    """perf 6.1 crashes now and then: such a run says nothing."""
    for _ in range(10):
        r = Run(argv)
        if r.code == 0:
            return r.cpu
    raise SystemExit(f"{' '.join(argv)} fails")


def cost(name, tool):
    """ns of CPU time a call."""
    def once():
        none, many = cpu([*tool, *dd(0)]), cpu([*tool, *dd(CALLS[name])])
        return (many - none) * 1e6 / CALLS[name]
    return once


def added(tools):
    tools = {n: t for n, t in tools.items() if have(t[0])}
    r = interleave({"bare": cost("bare", []), **{n: cost(n, t) for n, t in tools.items()}}, runs=RUNS)
    r = {n: statistics.median(v) for n, v in r.items()}
    return {n: max(v - r["bare"], 0.1) for n, v in r.items() if n != "bare"}


got = added(SUMS)
if "perf" in got:
    b.add("added a call: -s beside perf trace -s", "ns", {n: got[n] for n in ("kymo", "perf")}, goal=1 / 10)
if "strace" in got:
    b.add("added a call: -s beside strace -c", "ns", {n: got[n] for n in ("kymo", "strace")}, goal=1 / 20)
got = added(LINES)
for peer in ("perf", "strace"):
    if peer in got:
        b.add(f"added a call: every call in words, beside {peer}", "ns", {n: got[n] for n in ("kymo", peer)}, goal=1)
b.end()
