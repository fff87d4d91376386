#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo record beside perf: start-up, the recorder's own CPU time, events lost at full speed, size of files."""
import os
import re
import statistics
import subprocess
import tempfile

from lib import BUILD, KYMO, RUNS, Bench, Run, interleave

FLATOUT = str(BUILD / "bench/bench-flatout")
BUSY = str(BUILD / "tests/work/busy")
EVENT = "syscalls:sys_enter_getppid"
RUNS = min(RUNS, 5)
SECONDS = 5
b = Bench("record")
tmp = tempfile.TemporaryDirectory(prefix="bench-record-")


def path(name):
    return f"{tmp.name}/{name}.data"


def tools(*args, perf_also=()):
    return {"kymo": [KYMO, "record", "-q", "-o", path("kymo"), *args],
            "perf": ["perf", "record", "-q", "-o", path("perf"), *perf_also, *args]}


def events(name):
    """How many samples a file has: counted by the same program for both; perf fails on some of its own."""
    for argv in (["perf", "report", "--stats", "--stdio"], [KYMO, "report", "--stats"]):
        r = subprocess.run([*argv, "-i", path(name)], capture_output=True, text=True)
        found = re.findall(r"SAMPLE events:\s+(\d+)", r.stdout)
        if r.returncode == 0 and found:
            return int(found[0])
    return 0


def start_up():
    bare = statistics.median(Run(["true"]).wall for _ in range(20))
    r = interleave({n: (lambda argv=argv: Run([*argv, "true"])) for n, argv in
                    {**tools(), "perf --no-bpf-event": [*tools(perf_also=["--no-bpf-event"])["perf"]]}.items()}, max(RUNS, 7))
    b.add("record true, more than true", "ms", {n: statistics.median(x.wall for x in v) - bare for n, v in r.items()}, goal=0.1)
    b.add("record true, CPU", "ms", {n: statistics.median(x.cpu for x in v) for n, v in r.items()}, goal=0.5)
    b.add("record true: at most 50 ms more", "ms", {"kymo": statistics.median(x.wall for x in r["kymo"]) - bare, "goal": 50.0}, goal=1)


def sampling():
    """CPU time of the recorder alone, while two threads are busy elsewhere."""
    load = subprocess.Popen([BUSY, "100000000", "threads=2"], stdout=subprocess.DEVNULL)
    try:
        for what, kymo_opts, perf_opts in [
            ("999 Hz -a", ["-a"], ["-a"]),
            ("999 Hz -a, frame pointers", ["-a", "--call-graph", "fp"], ["-a", "-g"]),
            ("999 Hz -a -g, walked stacks beside frame pointers", ["-a", "-g"], ["-a", "-g"]),
        ]:
            def one(argv):
                return Run(argv)
            r = interleave({"kymo": lambda: one([*tools()["kymo"], "-F", "999", *kymo_opts, "--", "sleep", str(SECONDS)]),
                            "perf": lambda: one([*tools()["perf"], "-F", "999", *perf_opts, "--", "sleep", str(SECONDS)])}, RUNS, warm=True)
            b.add(f"{what}, {SECONDS} s: recorder's CPU", "ms", {n: statistics.median(x.cpu for x in v) for n, v in r.items()}, goal=1)
    finally:
        load.kill()
        load.wait()


def sizes():
    """Bytes of file for each sample of one program: nobody else's tasks are in it."""
    for what, ours, theirs in [("", [], []), (" with frame pointers", ["--call-graph", "fp"], ["-g"]), (" with frame pointers, -z", ["--call-graph", "fp", "-z"], ["-g", "-z"])]:
        def one(name, opts):
            Run([*tools()[name], "-F", "5000", *opts, "--", BUSY, "4000", "threads=2"])
            return os.path.getsize(path(name)) / max(events(name), 1)
        r = interleave({"kymo": lambda: one("kymo", ours), "perf": lambda: one("perf", theirs)}, RUNS, warm=False)
        b.add(f"samples{what}: bytes of file a sample", "B", {n: statistics.median(v) for n, v in r.items()}, goal=1)


def flat_out(name, opts, threads, rate=None):
    """The workload at full speed, or so many events a second: how many were lost (%), how many recorded a second."""
    r = Run([*tools()[name], *opts, "-e", EVENT, "--", FLATOUT, str(threads), "1500", *([str(rate)] if rate else [])], keep=True)
    made, there = int(r.out.split()[0]), events(name)
    return max(0, 100 * (made - there) / made), there / 1.5  # perf writes some twice, see twice()


def throughput():
    # name, kymo's options, perf's
    kinds = [("rings as perf's by default (512 KiB)", ["-m", "128"], ["-m", "128"]),
             ("rings of 16 MiB (kymo's default)", [], ["-m", "4096"])]
    for threads in (1, 2, 8):
        for what, ours, theirs in kinds:
            r = interleave({"kymo": lambda: flat_out("kymo", ours, threads), "perf": lambda: flat_out("perf", theirs, threads)}, RUNS, warm=False)
            b.add(f"{threads} threads flat out, {what}: lost", "%", {n: statistics.median(x[0] for x in v) for n, v in r.items()}, digits=2, goal=1)
            b.add(f"{threads} threads flat out, {what}: lost at worst", "%", {n: max(x[0] for x in v) for n, v in r.items()}, digits=2)


def highest_rate():
    """The highest rate, of steps 1.25 apart, at which two threads lose nothing in rings of 512 KiB in most runs."""
    rates = [int(100000 * 1.25 ** i) for i in range(13)]
    best = {}
    for name in ("kymo", "perf"):
        low, high = -1, len(rates)  # nothing lost at low, something at high
        while high - low > 1:
            at = (low + high) // 2
            lost = statistics.median(flat_out(name, ["-m", "128"], 2, rates[at])[0] for _ in range(3))
            low, high = (at, high) if lost <= 0 else (low, at)
        best[name] = rates[low] / 1000 if low >= 0 else 0
    # smaller is better in this table
    b.add("highest rate without loss, rings of 512 KiB: µs between events", "µs", {n: 1000 / v if v else 100 for n, v in best.items()}, goal=1, digits=2)


def tracing_cost():
    """The recorder's own CPU time for each event, and how large the file is."""
    rate = "300000"

    def one(argv, name):
        load = subprocess.Popen([FLATOUT, "1", "60000", rate], stdout=subprocess.DEVNULL)
        r = Run([*argv, "-e", EVENT, "-p", str(load.pid), "--", "sleep", "2"])
        load.kill()
        load.wait()
        n = max(events(name), 1)
        return r.cpu * 1e6 / n, os.path.getsize(path(name)) / n
    for what, ours, theirs in [("", [], ["-m", "4096"]), (" -z", ["-z"], ["-m", "4096", "-z"])]:
        r = interleave({n: (lambda n=n, o=o: one([*tools()[n], *o], n)) for n, o in (("kymo", ours), ("perf", theirs))}, RUNS)
        b.add(f"300,000 events/s{what}: recorder's CPU an event", "ns", {n: statistics.median(x[0] for x in v) for n, v in r.items()}, goal=1)
        b.add(f"300,000 events/s{what}: bytes an event", "B", {n: statistics.median(x[1] for x in v) for n, v in r.items()}, goal=1)


def twice():
    """Events that are in the file more than once, of a run at full speed."""
    found = {}
    for name, argv in tools().items():
        Run([*argv, "-m", "4096", "-e", EVENT, "--", FLATOUT, "8", "1500"])
        lines = subprocess.run([KYMO, "script", "-i", path(name), "-F", "tid,time,cpu", "--ns"], capture_output=True, text=True).stdout.splitlines()
        found[name] = len(lines) - len(set(lines))
    b.add("8 threads flat out: events written twice", "", found, digits=0)


start_up()
sampling()
sizes()
tracing_cost()
throughput()
highest_rate()
twice()
tmp.cleanup()
b.end()
