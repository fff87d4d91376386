#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports of 1.2 million samples with chains beside `perf script`, which every converter of others begins with.

The samples are page faults in a random call graph: about 450,000 of the stacks are distinct. BENCH_SAMPLES changes how many.
"""
import os
import subprocess
import sys
import tempfile

from lib import BUILD, KYMO, Bench, Run, have

SAMPLES = int(os.environ.get("BENCH_SAMPLES", "1200000"))
GOALS = {"csv": 1 / 3, "json": 1 / 3}
b = Bench("export")

with tempfile.TemporaryDirectory(prefix="kymo-bench-") as folder:
    path, text = f"{folder}/many.data", f"{folder}/script.txt"
    recorder = ["perf", "record", "-q", "--no-bpf-event"] if have("perf") else [KYMO, "record", "-q", "--call-graph", "fp"]
    subprocess.run([*recorder, "-m", "4096", "-e", "page-faults:u", "-c", "1", "-g", "-o", path, str(BUILD / "bench/bench-manystacks"),
                    str(SAMPLES), "20", "3"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"{SAMPLES:,} samples, {os.path.getsize(path) >> 20} MiB", file=sys.stderr)
    # once is enough for perf: it takes many times as long as all that is compared with it
    peer = Run(["sh", "-c", f"exec perf script -i {path} >{text} 2>/dev/null"]) if have("perf") else None
    for to in "folded pprof speedscope firefox perfetto chrome callgrind csv json".split():
        out = f"{folder}/out"
        runs = [Run([KYMO, "export", "-q", "--to", to, "-i", path, "-o", out]) for _ in range(3)]
        b.bad |= any(r.code for r in runs)

        def both(mine, of):
            return {"kymo": mine, **({"perf script": of} if peer else {})}
        b.add(f"--to {to}, CPU time", "ms", both(sorted(r.cpu for r in runs)[1], peer and peer.cpu), GOALS.get(to, 0.1))
        b.add(f"--to {to}, rss", "MiB", both(max(r.rss for r in runs), peer and peer.rss))
        b.add(f"--to {to}, file", "MiB", both(os.path.getsize(out) / 2**20, peer and os.path.getsize(text) / 2**20))
b.end()
