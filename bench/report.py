#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report and script beside perf's, on recordings of more than a million samples with call chains.

The samples of the first are page faults in a random call graph, so that recording them takes seconds: about 450,000
of the stacks are distinct. The second one is a compiler at work, stripped and without frame pointers, so that a
report has half a million rows of addresses. perf's default report takes half a minute and gigabytes, and is run less
often.
"""
import os
import subprocess
import sys
import tempfile

from lib import BUILD, KYMO, RUNS, Bench, compiling, have, record

SAMPLES = 1200000
COMPILER_SAMPLES = int(os.environ.get("BENCH_SAMPLES", "1000000"))
b = Bench("report")


def pair(command, path, *options):
    return {n: [p, command, "-i", path, *options] for n, p in (("kymo", KYMO), ("perf", "perf"))}


def memory(what, results, goal):
    """The peak of each, with a goal of its own."""
    b.add(f"{what}, peak memory", "MiB", {n: max(r.rss for r in rs) for n, rs in results.items()}, goal)


with tempfile.TemporaryDirectory(prefix="kymo-bench-") as folder:
    path = f"{folder}/many.data"
    # perf's own way of recording where it is there: neither side reads its own dialect
    recorder = ["perf", "record", "-q", "--no-bpf-event"] if have("perf") else [KYMO, "record", "-q", "--call-graph", "fp"]
    subprocess.run([*recorder, "-m", "4096", "-e", "page-faults:u", "-c", "1", "-g", "-o", path, str(BUILD / "bench/bench-manystacks"),
                    str(SAMPLES), "20", "3"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"{SAMPLES:,} samples, {os.path.getsize(path) >> 20} MiB", file=sys.stderr)
    flat = ("--stdio", "--no-children", "-g", "none")
    memory("--no-children -g none", b.compare("report --no-children -g none, 1.2M samples", pair("report", path, *flat), goal=0.2), None)
    memory("script", b.compare("script > /dev/null", pair("script", path), goal=0.2, runs=max(RUNS - 2, 3)), None)
    b.compare("report --no-children", pair("report", path, "--stdio", "--no-children"), runs=3)
    memory("report", b.compare("report (children, -g)", pair("report", path, "--stdio"), goal=0.05, runs=3), 0.125)
    os.unlink(path)
    if have("perf"):
        path = f"{folder}/compiler.data"
        what = f"of a compiler, {record(path, compiling(folder, 400), COMPILER_SAMPLES) / 1e6:.2f}M samples"
        memory(f"{what}, --no-children -g none", b.compare(f"report --no-children -g none {what}", pair("report", path, *flat), goal=0.2, runs=3), None)
        memory(f"report {what}", b.compare(f"report (children, -g) {what}", pair("report", path, "--stdio"), goal=0.05, runs=1), 0.125)
b.end()
