#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports of a recording with chains beside `perf script`, which every converter of others begins with.

BENCH_SECONDS (default: 8) is how long the recorded program runs, at 20,000 samples a second and CPU.
"""
import os
import shutil
import sys
import tempfile

from lib import BUILD, KYMO, Bench, Run, have

FORMATS = "folded pprof speedscope firefox perfetto chrome callgrind csv json".split()
seconds = int(os.environ.get("BENCH_SECONDS", "8"))
b = Bench("export")
folder = tempfile.mkdtemp(prefix="kymo-bench-")
data = f"{folder}/perf.data"
try:
    record = [KYMO, "record", "-q", "--call-graph", "fp", "-F", "20000", "-e", "cpu-clock", "-m", "8192", "-o", data, "--",
              f"{BUILD}/tests/work/busy", str(seconds * 1000), "threads=2"]
    if not have("perf") or Run(record).code:
        print("export: no perf, or no recording", file=sys.stderr)
        sys.exit(1)
    text = f"{folder}/script.txt"
    for to in FORMATS:
        out = f"{folder}/out.{to}"
        b.compare(f"--to {to}", {"kymo": [KYMO, "export", "-q", "--to", to, "-i", data, "-o", out],
                                 "perf": ["sh", "-c", f"exec perf script -i {data} >{text} 2>/dev/null"]},
                  by=("wall", "rss"), runs=3, goal={"folded": 0.1, "pprof": 0.1, "callgrind": 0.1, "csv": 0.4, "json": 0.5}.get(to, 0.25))
        b.add(f"--to {to}, file", "MiB", {"kymo": os.path.getsize(out) / 2**20, "perf": os.path.getsize(text) / 2**20})
        os.remove(out)
finally:
    shutil.rmtree(folder)
b.end()
