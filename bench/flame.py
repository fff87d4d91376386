#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From a recording to a picture: kymo flame beside perf script, which is only the first third of the classic way.

Two recordings of at least a million samples with call chains: `random`, in which nearly every stack is different, and `build`, a compiler at
work. Where stackcollapse-perf.pl and flamegraph.pl are installed (in PATH, or in $FLAMEGRAPH), the whole way is measured, too.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from lib import BUILD, KYMO, Bench, Run, have

SAMPLES = int(os.environ.get("BENCH_SAMPLES", "1000000"))
RATE = 20000
SECONDS = 400  # at most, for a recording
b = Bench("flame")
if not have("perf"):
    print("perf is not installed: nothing to compare with", file=sys.stderr)
    b.end()
    sys.exit(0)

SOURCE = r"""
#include <stdlib.h>
#define F(n) int f##n(int x) { int a[64]; for (int i = 0; i < 64; i++) a[i] = x * i + n; for (int i = 1; i < 63; i++) a[i] += a[i-1] ^ (a[i+1] << 3); return a[x & 63]; }
#define G(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define H(n) G(n##0) G(n##1) G(n##2) G(n##3) G(n##4) G(n##5) G(n##6) G(n##7) G(n##8) G(n##9)
H(1) H(2) H(3) H(4) H(5) H(6)
"""


def count(path):
    text = subprocess.run([KYMO, "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-s", "comm", "-n"], capture_output=True, text=True, check=False).stdout
    return sum(int(x.split()[1]) for x in text.splitlines() if x.strip() and not x.startswith("#") and len(x.split()) > 2 and x.split()[1].isdigit())


def record(path, command):
    """perf's own recording, ended by its size: on a machine that is busy otherwise it takes longer. perf 6.1 crashes at random."""
    size, n = SAMPLES * 250, 0
    for _ in range(6):
        r = subprocess.run(["perf", "record", "-q", "-F", str(RATE), "-g", "-e", "cpu-clock:u" if "random" in path else "cpu-clock", "--max-size", f"{size}B", "-o", path, "--", *command],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if r.returncode < 0:  # what it leaves perf itself cannot read
            continue
        n = count(path)
        if n >= SAMPLES:
            break
        size = int(size * 1.1 * SAMPLES / max(n, 1))
    return n


def scripts():
    folder = os.environ.get("FLAMEGRAPH", "/nowhere")
    found = [shutil.which(x) or os.path.join(folder, x) for x in ("stackcollapse-perf.pl", "flamegraph.pl")]
    return found if all(os.path.exists(x) for x in found) else None


def command_of(kind, folder):
    calls = str(BUILD / "tests/work/calls")
    if kind == "random":
        return [calls, f"random={SECONDS * 1000}", "threads=2"]
    (pathlib.Path(folder) / "x.c").write_text(SOURCE)
    return ["timeout", str(SECONDS), "sh", "-c", f"while :; do cc -O2 -c {folder}/x.c -o {folder}/1.o & cc -O2 -g -c {folder}/x.c -o {folder}/2.o; wait; done"]


folder = tempfile.mkdtemp(prefix="kymo-bench-", dir=os.environ.get("BENCH_DIR"))
try:
    for kind in ("random", "build"):
        data = os.path.join(folder, kind + ".data")
        n = record(data, command_of(kind, folder))
        size = os.path.getsize(data) / 1e6
        what = f"{kind}: {n / 1e6:.2f}M samples, {size:.0f} MB"
        svg, page = os.path.join(folder, "a.svg"), os.path.join(folder, "a.html")
        runs = b.compare(f"{what}, to SVG (perf: script alone)", {"kymo": [KYMO, "flame", "-q", "-i", data, "-o", svg], "perf": ["perf", "script", "-i", data]},
                         by=("wall", "cpu"), goal=1 / 30, runs=3)
        b.add(f"{what}, peak memory", "MiB", {name: max(r.rss for r in rs) for name, rs in runs.items()}, goal=1 / 4)
        if scripts():
            fold, draw = scripts()
            b.compare(f"{what}, to SVG, the whole way", {"kymo": [KYMO, "flame", "-q", "-i", data, "-o", svg],
                                                         "scripts": ["sh", "-c", f"perf script -i {data} 2>/dev/null | {fold} | {draw} > {folder}/b.svg"]}, goal=1 / 50, runs=1)
        r = Run([KYMO, "flame", "-i", data, "-o", page], keep=True)
        b.add(f"{what}, the page's size; {'it says what it pruned' if 'left out' in r.err else 'nothing was pruned'}", "MB",
              {"kymo": os.path.getsize(page) / 1e6, "allowed": 5.0}, goal=1)
        b.add(f"{what}, to a page", "ms", {"kymo": r.wall})
        os.unlink(data)
finally:
    shutil.rmtree(folder, ignore_errors=True)
b.end()
