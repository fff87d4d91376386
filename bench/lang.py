#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tracing programs under kymo run and bpftrace: time until attached, from Ctrl-C to the end, memory, cost an event."""
import re
import signal
import statistics
import subprocess
import time

from lib import BUILD, KYMO, RUNS, Bench, have, interleave

b = Bench("lang")
TOOLS = {"kymo": [KYMO, "run"], "bpftrace": ["bpftrace"]}
if not have("bpftrace"):
    del TOOLS["bpftrace"]
CALLCOST, RAWTP = (str(BUILD / f"bench/bench-{n}") for n in ("callcost", "rawtp"))
LONGEST = 20  # s that a program is waited for after Ctrl-C
PAUSE = 0.2  # s; who attaches waits for the grace period of what was detached just before
COUNT = "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }"
PROGRAMS = {
    "count by process": COUNT,
    "latency histogram": "tracepoint:raw_syscalls:sys_enter { @s[tid] = nsecs; } tracepoint:raw_syscalls:sys_exit /@s[tid]/ "
                         "{ @ = hist(nsecs - @s[tid]); delete(@s[tid]); }",
    "fields of a tracepoint": "tracepoint:sched:sched_switch { @[args->prev_comm] = count(); }",
    "user stacks": "profile:hz:99 { @[ustack] = count(); }",
    "kernel types": "tracepoint:raw_syscalls:sys_enter { @[((struct task_struct *)curtask)->real_parent->pid] = count(); }",
}


def attached(tool, prog):
    """ms from the start until the command of -c runs, which both start when all is attached."""
    def once():
        time.sleep(PAUSE)
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
        try:
            p.wait(timeout=LONGEST)
        except subprocess.TimeoutExpired:  # bpftrace may look for names for minutes
            p.kill()
            p.wait()
        return (time.monotonic() - start) * 1e3, rss
    return once


def cost(wrap, calls=2000000, what="getppid"):
    """ns a call takes: CPU time, the quickest of many parts."""
    def once():
        p = subprocess.run([*wrap, what, str(calls)] if wrap[-1] == CALLCOST else
                           [*wrap[:-1], f"{CALLCOST} {what} {calls}", *wrap[-1]], capture_output=True, text=True, timeout=120)
        return float(re.search(r"^(\d+\.\d+)$", p.stdout, re.M)[1])
    return once


def median(results):
    return {name: statistics.median(v) for name, v in results.items()}


for what, prog in PROGRAMS.items():
    times = median(interleave({n: attached(t, prog) for n, t in TOOLS.items()}))
    b.add(f"until attached: {what}", "ms", times, goal=1 / 8)
    b.add(f"until attached: {what}, at most 10 ms", "ms", {"kymo": times["kymo"], "limit": 10.0}, goal=1)
for name in ("count by process", "user stacks"):
    ends = interleave({n: ending(t, PROGRAMS[name]) for n, t in TOOLS.items()}, runs=max(3, RUNS // 2), warm=name == "user stacks")
    for what, unit, i, limit in (("from SIGINT to the end", "ms", 0, 20.0), ("resident", "MiB", 1, 8.0)):
        got = {n: statistics.median(x[i] for x in v) for n, v in ends.items()}
        b.add(f"{what}: {name}", unit, got)
        b.add(f"{what}: {name}, at most {limit:.0f} {unit}", unit, {"kymo": got["kymo"], "limit": limit}, goal=1)
for what in ("count by process", "latency histogram"):
    subjects = {"bare": cost([CALLCOST]), **{n: cost([*t, "-c", ["-e", PROGRAMS[what]]]) for n, t in TOOLS.items()}}
    if what == "count by process":
        subjects["by hand"] = cost([RAWTP, CALLCOST])
    r = median(interleave(subjects))
    added = {n: max(v - r["bare"], 0.1) for n, v in r.items() if n != "bare"}
    b.add(f"added a call: {what}", "ns", {n: added[n] for n in TOOLS}, goal=0.5)
    if "by hand" in added:
        b.add(f"added a call: {what}, beside a program by hand", "ns", {n: added[n] for n in ("kymo", "by hand")}, goal=1.3)
for kind in ("uprobe", "uretprobe"):  # of a function that begins with endbr64
    prog = f"{kind}:{CALLCOST}:called {{ @ = count(); }}"
    r = median(interleave({"bare": cost([CALLCOST], 20000, "called"), **{n: cost([*t, "-c", ["-e", prog]], 20000, "called") for n, t in TOOLS.items()}}))
    b.add(f"added a call of a function: {kind}", "ns", {n: max(r[n] - r["bare"], 0.1) for n in TOOLS}, goal=0.5)
b.end()
