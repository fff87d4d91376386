#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo stat and list beside perf: start-up, opening many tracepoints, and what counting costs each event."""
import os
import statistics

from lib import BUILD, KYMO, RUNS, Bench, Run, have, interleave

CALLCOST = str(BUILD / "bench/bench-callcost")
CALLS = "400000"
TRACING = "/sys/kernel/tracing/events/syscalls"
b = Bench("stat")


def both(*args):
    return {"kymo": [KYMO, *args], "perf": ["perf", *args]}


def overhead(what, call, *options):
    """Nanoseconds that counting adds to each call, of CPU time as the workload sees it."""
    event = f"syscalls:sys_enter_{call}"
    work = [CALLCOST, call, CALLS]
    tools = {"bare": work, **{n: [*argv, "-e", event, "--", *work] for n, argv in both("stat", *options).items() if have(argv[0])}}
    results = interleave({n: (lambda argv=argv: float(Run(argv, keep=True).out.split()[0])) for n, argv in tools.items()}, max(RUNS, 9))
    # the least of each: what else runs here can only add
    cost = {n: min(v) for n, v in results.items()}
    b.add(what, "ns", {n: v - cost["bare"] for n, v in cost.items() if n != "bare"}, goal=1, digits=0)


b.compare("stat true", both("stat", "true"), by=("wall", "cpu"), goal=0.5)
b.compare("stat -a true", both("stat", "-a", "true"), goal=0.5)
b.compare("list", both("list"), by=("wall", "cpu"), goal=0.5)
if os.path.isdir(TRACING):
    r = b.compare("stat -e 'syscalls:sys_enter_*' -a sleep 1", both("stat", "-e", "syscalls:sys_enter_*", "-a", "sleep", "1"),
                  goal=0.5, runs=3)
    for call in ("getppid", "write"):
        overhead(f"counting {call}(), added to a call", call)
    overhead("counting write() with -a, added to a call", "write", "-a")
b.end()
