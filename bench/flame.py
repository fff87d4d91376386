#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From a recording to a picture: kymo flame beside perf script, which is only the first third of the classic way.

Three recordings of at least a million samples with call chains: `random`, in which nearly every stack is different; `build`, a compiler at
work; and `project`, in which kymo itself is built over and over: thousands of processes of many programs. Where stackcollapse-perf.pl and flamegraph.pl are installed (in PATH, or in $FLAMEGRAPH), the whole way is measured, too.
"""
import os
import shutil
import sys
import tempfile

from lib import BUILD, KYMO, ROOT, Bench, Run, compiling, have, record

SAMPLES = int(os.environ.get("BENCH_SAMPLES", "1000000"))
SECONDS = 400  # at most, for a recording
b = Bench("flame")
if not have("perf"):
    print("perf is not installed: nothing to compare with", file=sys.stderr)
    b.end()
    sys.exit(0)


def scripts():
    folder = os.environ.get("FLAMEGRAPH", "/nowhere")
    found = [shutil.which(x) or os.path.join(folder, x) for x in ("stackcollapse-perf.pl", "flamegraph.pl")]
    return found if all(os.path.exists(x) for x in found) else None


def command_of(kind, folder):
    if kind == "random":
        return [str(BUILD / "tests/work/calls"), f"random={SECONDS * 1000}", "threads=2"]
    if kind == "build":
        return compiling(folder, SECONDS)
    again = f"rm -rf {folder}/p && meson setup {folder}/p {ROOT} && ninja -C {folder}/p"
    return ["timeout", str(SECONDS), "sh", "-c", f"while {again}; do :; done"]


folder = tempfile.mkdtemp(prefix="kymo-bench-", dir=os.environ.get("BENCH_DIR"))
try:
    for kind in ("random", "build", "project"):
        data = os.path.join(folder, kind + ".data")
        n = record(data, command_of(kind, folder), SAMPLES, "cpu-clock:u" if kind == "random" else "cpu-clock")
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
        runs = b.compare(f"{what}, to a page, beside the SVG", {"kymo": [KYMO, "flame", "-q", "-i", data, "-o", page], "SVG": [KYMO, "flame", "-q", "-i", data, "-o", svg]},
                         by=("wall", "cpu"), runs=3)
        b.add(f"{what}, to a page, peak memory", "MiB", {name: max(r.rss for r in rs) for name, rs in runs.items()})
        os.unlink(data)
finally:
    shutil.rmtree(folder, ignore_errors=True)
b.end()
