# SPDX-License-Identifier: MIT
"""Measuring kymo and its peers side by side, in one run on one machine.

    from lib import KYMO, Bench
    b = Bench("stat")
    b.compare("stat true", {"kymo": [KYMO, "stat", "true"], "perf": ["perf", "stat", "true"]}, goal=0.5)
    b.end()

Runs are interleaved, in turning order, after one warm-up of each; medians are compared. So what else
the machine does hits all alike: trust the ratios, not the figures.
"""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KYMO = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/kymo")
BUILD = pathlib.Path(KYMO).parent  # where meson put the programs of bench/ and tests/work/
RUNS = int(os.environ.get("BENCH_RUNS", "7"))
UNITS = {"wall": "ms", "cpu": "ms", "rss": "MiB"}


def left_behind():
    """CPU time (ms) of what a command left behind when it ended. Waits for all children there are."""
    ms = 0
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return ms
        ms += (usage.ru_utime + usage.ru_stime) * 1e3


class Run:
    """One run of a command: wall and cpu (its children's too) in ms, rss (the peak) in MiB, code, out, err."""

    def __init__(self, argv, keep=False, env=None, cwd=None, stdin=subprocess.DEVNULL, adopt=False):
        """adopt: what it starts and does not wait for (perf's addr2line) counts, too."""
        if adopt:
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        pipe = subprocess.PIPE if keep else subprocess.DEVNULL
        start = time.monotonic()
        p = subprocess.Popen(argv, stdin=stdin, stdout=pipe, stderr=pipe, cwd=cwd, env={**os.environ, **(env or {})})
        if keep:  # small outputs only: nobody reads the second pipe while the first fills
            self.out, self.err = p.stdout.read().decode(errors="replace"), p.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(p.pid, 0)
        self.wall = (time.monotonic() - start) * 1e3
        p.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.cpu = (usage.ru_utime + usage.ru_stime) * 1e3
        self.cpu += left_behind() if adopt else 0
        self.rss = usage.ru_maxrss / 1024


def interleave(subjects, runs=RUNS, warm=True):
    """Call each subject's function `runs` times, taking turns; {name: [result, ...]}."""
    results = {name: [] for name in subjects}
    names = list(subjects)
    for name in names if warm else []:
        subjects[name]()
    for i in range(runs):
        for name in names if i % 2 == 0 else reversed(names):
            results[name].append(subjects[name]())
    return results


def have(program):
    return shutil.which(program) is not None


# --- recordings ---

SOURCE = r"""
#include <stdlib.h>
#define F(n) int f##n(int x) { int a[64]; for (int i = 0; i < 64; i++) a[i] = x * i + n; for (int i = 1; i < 63; i++) a[i] += a[i-1] ^ (a[i+1] << 3); return a[x & 63]; }
#define G(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define H(n) G(n##0) G(n##1) G(n##2) G(n##3) G(n##4) G(n##5) G(n##6) G(n##7) G(n##8) G(n##9)
H(1) H(2) H(3) H(4) H(5) H(6)
"""


def compiling(folder, seconds):
    """A command that runs two compilers all the time: they are stripped, and have no frame pointers."""
    (pathlib.Path(folder) / "x.c").write_text(SOURCE)
    return ["timeout", str(seconds), "sh", "-c",
            f"while :; do cc -O2 -c {folder}/x.c -o {folder}/1.o & cc -O2 -g -c {folder}/x.c -o {folder}/2.o; wait; done"]


def count(path):
    """How many samples a recording has."""
    text = subprocess.run([KYMO, "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-s", "comm", "-n"],
                          capture_output=True, text=True, check=False).stdout
    return sum(int(x.split()[1]) for x in text.splitlines()
               if x.strip() and not x.startswith("#") and len(x.split()) > 2 and x.split()[1].isdigit())


def record(path, command, samples, event="cpu-clock", rate=20000):
    """perf's own recording, ended by its size: on a machine that is busy otherwise it takes longer. perf 6.1 crashes at random."""
    size, n = samples * 250, 0
    for _ in range(6):
        r = subprocess.run(["perf", "record", "-q", "-F", str(rate), "-g", "-e", event, "--max-size", f"{size}B", "-o", path, "--", *command],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if r.returncode < 0 and r.returncode != -signal.SIGTERM:  # what a crash leaves perf itself cannot read
            continue
        n = count(path)
        if n >= samples:
            break
        size = int(size * 1.1 * samples / max(n, 1))
    return n


class Bench:
    """The rows of one script. bench/run gathers them; a script started by hand prints its own table."""

    def __init__(self, name):
        self.name, self.rows = name, []
        self.bad = 0

    def add(self, what, unit, values, goal=None, digits=None, spread=None):
        """A row: {"kymo": value, "PEER": value, ...}, smaller is better; goal is the ratio to the first peer, spread the range
        in which that most likely is."""
        peers = [n for n in values if n != "kymo"]
        row = {"bench": self.name, "what": what, "unit": unit, "values": values, "goal": goal}
        if peers and values[peers[0]]:
            row["ratio"] = values["kymo"] / values[peers[0]]
        row["digits"], row["spread"] = digits, spread
        self.rows.append(row)
        if not os.environ.get("BENCH_ROWS") or sys.stderr.isatty():
            print(line(row), file=sys.stderr)

    def compare(self, what, commands, by=("wall",), goal=None, runs=RUNS, codes=(0,), **kw):
        """Run commands in turns and add a row for each figure in `by` (wall, cpu, rss)."""
        commands = {n: argv for n, argv in commands.items() if have(argv[0])}
        results = interleave({n: (lambda argv=argv: Run(argv, **kw)) for n, argv in commands.items()}, runs)
        for n, rs in results.items():
            wrong = [r.code for r in rs if r.code not in codes]
            if wrong:
                print(f"{self.name}: {what}: {n} failed with {wrong[0]}", file=sys.stderr)
                self.bad = 1
        for figure in by:
            self.add(what if figure == "wall" else f"{what}, {figure}", UNITS[figure],
                     {n: statistics.median(getattr(r, figure) for r in rs) for n, rs in results.items()},
                     goal if figure == "wall" else None)
        return results

    def end(self):
        path = os.environ.get("BENCH_ROWS")
        if path:
            with open(path, "a") as f:
                f.writelines(json.dumps(r) + "\n" for r in self.rows)
        elif self.rows:
            print(table(self.rows))
        sys.exit(self.bad)


def figure(v, digits=None):
    if v is None:
        return "-"
    return f"{v:,.{digits if digits is not None else 0 if abs(v) >= 100 else 1 if abs(v) >= 10 else 2}f}"


def ratio(row):
    """The ratio, and between what it most likely is."""
    text = f"{row['ratio']:.2f}" if "ratio" in row else ""
    return f"{text} ({row['spread'][0]:.2f}-{row['spread'][1]:.2f})" if text and row.get("spread") else text


def line(row):
    values = "  ".join(f"{n} {figure(v, row.get('digits'))}" for n, v in row["values"].items())
    return f"{row['bench']}: {row['what']}: {values} {row['unit']}" + (f"  ratio {ratio(row)}" if "ratio" in row else "")


def verdict(row):
    if row.get("goal") is None or "ratio" not in row:
        return ""
    met = row["ratio"] <= row["goal"]
    return f"{'met' if met else 'MISSED'} (≤ {row['goal']:g})"


def table(rows):
    """Rows of any scripts as one text table."""
    cells = [["what", "kymo", "peer", "", "unit", "ratio", "goal"]]
    for r in rows:
        peers = [n for n in r["values"] if n != "kymo"] or [""]
        for i, peer in enumerate(peers):
            cells.append([f"{r['bench']}: {r['what']}" if i == 0 else "",
                          figure(r["values"].get("kymo"), r.get("digits")) if i == 0 else "",
                          figure(r["values"].get(peer), r.get("digits")) if peer else "-", peer, r["unit"],
                          ratio(r) if i == 0 else "", verdict(r) if i == 0 else ""])
    widths = [max(len(c[i]) for c in cells) for i in range(7)]
    right = {1, 2, 5}
    return "\n".join("  ".join(c[i].rjust(w) if i in right else c[i].ljust(w) for i, w in enumerate(widths)).rstrip()
                     for c in cells)
