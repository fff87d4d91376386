#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tracing programs under kymo run and bpftrace: time until attached, from Ctrl-C to the end, memory, cost an event."""
import os
import re
import signal
import statistics
import subprocess
import time

from lib import KYMO, RUNS, Bench, have, interleave

b = Bench("lang")
TOOLS = {"kymo": [KYMO, "run"], "bpftrace": ["bpftrace"]}
if not have("bpftrace"):
    del TOOLS["bpftrace"]
COUNT = "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }"
PROGRAMS = {
    "count by process": COUNT,
    "latency histogram": "tracepoint:raw_syscalls:sys_enter { @s[tid] = nsecs; } tracepoint:raw_syscalls:sys_exit /@s[tid]/ "
                         "{ @ = hist(nsecs - @s[tid]); delete(@s[tid]); }",
    "fields of a tracepoint": "tracepoint:sched:sched_switch { @[args->prev_comm] = count(); }",
    "kernel types": "tracepoint:raw_syscalls:sys_enter { @[((struct task_struct *)curtask)->real_parent->pid] = count(); }",
}


def attached(tool, prog):
    """ms from the start until the command of -c runs, which both start when all is attached."""
    def once():
        start = time.time_ns()
        p = subprocess.run([*tool, "-c", "/bin/date +%s%N", "-e", prog], capture_output=True, text=True, timeout=60)
        at = re.search(r"^(\d{19})$", p.stdout, re.M)
        return (int(at[1]) - start) / 1e6
    return once


def ending(tool, prog):
    """(ms from SIGINT to the end, MiB resident)."""
    def once():
        p = subprocess.Popen([*tool, "-e", prog], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        rss = int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{p.pid}/status").read())[1]) / 1024
        start = time.monotonic()
        p.send_signal(signal.SIGINT)
        p.wait(timeout=60)
        return (time.monotonic() - start) * 1e3, rss
    return once


def cost(tool, prog, calls=400000):
    """ns a system call of dd takes."""
    command = f"/bin/dd if=/dev/zero of=/dev/null bs=1 count={calls // 2}"
    argv = [*tool, "-c", command, "-e", prog] if tool else command.split()

    def once():
        p = subprocess.run(argv, capture_output=True, text=True, timeout=120, env={**os.environ, "LC_ALL": "C"})
        return float(re.search(r"copied, ([\d.e-]+) s", p.stdout + p.stderr)[1]) * 1e9 / calls
    return once


def median(results):
    return {name: statistics.median(v) for name, v in results.items()}


for what, prog in PROGRAMS.items():
    times = median(interleave({n: attached(t, prog) for n, t in TOOLS.items()}))
    b.add(f"until attached: {what}", "ms", times, goal=1 / 8)
    b.add(f"until attached: {what}, at most 10 ms", "ms", {"kymo": times["kymo"], "limit": 10.0}, goal=1)
ends = interleave({n: ending(t, COUNT) for n, t in TOOLS.items()}, runs=max(3, RUNS // 2), warm=False)
for what, unit, i, limit in (("from SIGINT to the end", "ms", 0, 20.0), ("resident", "MiB", 1, 8.0)):
    got = {n: statistics.median(x[i] for x in v) for n, v in ends.items()}
    b.add(what, unit, got)
    b.add(f"{what}, at most {limit:.0f} {unit}", unit, {"kymo": got["kymo"], "limit": limit}, goal=1)
for what in ("count by process", "latency histogram"):
    r = median(interleave({"bare": cost(None, ""), **{n: cost(t, PROGRAMS[what]) for n, t in TOOLS.items()}}))
    b.add(f"added a call: {what}", "ns", {n: max(v - r["bare"], 0.1) for n, v in r.items() if n != "bare"}, goal=0.5)
b.end()
