#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks: kymo's walker beside perf's frame pointers and stack copies, on a compiler without frame pointers;
unwinding copies, naming with inlines, and reading a recording again.

    bench/unwind.py [KYMO [PART...]]        PART: recording stacks own_cost walker offline inlines

Whole stacks are judged alike for all recordings: by what perf script shows of them, does the stack begin
where programs and threads do? Cost is CPU time: the recorder's own, and what the kernel does within the program's.
What it does in a sample's interrupt is measured there (see stacks()); as a difference of the program's times, which others'
work on the machine makes longer and shorter by more than that, it would be noise.
Takes about seven minutes; BENCH_TURNS=20 narrows the ranges that are given with the ratios of stacks().
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from lib import BUILD, KYMO, Bench, Run, have, interleave

RUNS = min(5, int(os.environ.get("BENCH_RUNS", "5")))  # five minutes, and no more
TURNS = int(os.environ.get("BENCH_TURNS", "6"))
FREQ = "3999"
SOURCE = """
#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#ifndef LOOPS
#define LOOPS 1
#endif
struct Key { int a; std::string s; bool operator<(const Key &o) const { return a < o.a || (a == o.a && s < o.s); } };
template <class T> struct Tree {
	std::map<Key, std::vector<T>> m; std::shared_ptr<Tree> next;
	void add(int k, T v) { m[Key{k, std::to_string(k)}].push_back(v); if (k % 7 == 0) next = std::make_shared<Tree>(); }
	T sum() const { T s{}; for (auto &p : m) for (auto &v : p.second) s = s + v; return s; }
};
int work(int n) {
	Tree<int> t; Tree<double> d; std::unordered_map<std::string, std::set<int>> um; std::vector<Key> q;
	for (int i = 0; i < n; i++) { t.add(i % 17, i); d.add(i, i * 0.5); um[std::to_string(i)].insert(i); q.push_back({i ^ 5, "q"}); }
	std::sort(q.begin(), q.end());
	std::regex re("([a-z]+)(7|[0-9]+)"); std::smatch m; std::string s = "abc"; int hit = std::regex_match(s, m, re);
	std::ostringstream o; o << hit << t.sum() << d.sum();
	return (int)um.size() + (int)o.str().size();
}
int main(int c, char **) { int s = 0; for (int i = 0; i < LOOPS; i++) s += work(200 + c); return s & 1; }
"""
temp = pathlib.Path(tempfile.mkdtemp(prefix="kymo-bench-unwind-"))
(temp / "w.cc").write_text(SOURCE)
b = Bench("unwind")


def whole(data):
    """Samples of user code whose stack begins where programs do, and all; by perf script."""
    out = subprocess.run(["perf", "script", "--no-inline", "-i", data, "-F", "comm,ip,sym,dso"], capture_output=True,
                         text=True, errors="replace").stdout
    good = every = 0
    for block in out.split("\n\n"):
        lines = block.strip().splitlines()
        frames = [l.strip().split(None, 1) for l in lines[1:]]
        user = [f for f in frames if len(f) == 2 and not f[0].startswith("ffff")]
        if not lines or "cc1plus" not in lines[0] or not user:
            continue
        every += 1
        # the outermost frame of a stripped program has no name: then the C library's start stands before it
        good += "_start" in user[-1][1] or "clone" in user[-1][1] or (len(user) > 1 and "__libc_start" in user[-2][1])
    return good, every


def samples(data):
    out = subprocess.run([KYMO, "report", "-i", data, "--stdio", "-g", "none", "-s", "comm"], capture_output=True, text=True).stdout
    return sum(int(float(n.replace("K", "e3").replace("M", "e6"))) for n in re.findall(r"# Samples: (\S+)", out)) or 1


def work():
    """cc1plus compiles a real file; bash tells what it took, so that the recorder's own part is known. (What sh says by `times`
    is cut to hundredths of a second, four times: that would be ten milliseconds too much for every recorder.)"""
    return ["bash", "-c", f"TIMEFORMAT='%3U %3S'; {{ time g++ -O2 -S -o /dev/null {temp}/w.cc; }} 2> {temp}/times"]


def recorders(freq, out, **ways):
    """The commands that record it, of tools that are here."""
    return {n: [str(w) for w in [*words, "-q", "-F", freq, "-o", temp / (out or f"{n}.data"), "--", *work()]]
            for n, words in ways.items() if have(words[0])}


def perf_record(*words):
    return ["perf", "record", "-N", "-e", "cpu-clock", *words]


def recorded(argv, cache):
    """own: the CPU time of the recorder; inside: that of the program, with what the kernel did in its time. perf 6.1 sometimes
    crashes at the end of a recording: the last whole one is kept as FILE.whole."""
    r = Run(argv, env={"XDG_CACHE_HOME": str(cache)})
    data = next((w for w in argv if w.endswith(".data")), "")
    if r.code == 0 and data:
        os.replace(data, f"{data}.whole")
    r.inside = sum(float(x) * 1e3 for x in (temp / "times").read_text().split()[-2:])
    r.own = r.cpu - r.inside
    return r


def medians(got, what):
    """Of the runs that did not crash."""
    return {n: statistics.median(getattr(r, what) for r in [x for x in rs if x.code == 0] or rs) for n, rs in got.items()}


def recording():
    """Bytes a sample, CPU, whole stacks."""
    ways = recorders(FREQ, None, kymo=[KYMO, "record", "-g"], dwarf=perf_record("--call-graph", "dwarf"))
    fp = recorders(FREQ, None, fp=perf_record("-g"))
    cache = temp / "cache"
    for argv in (ways["kymo"], *fp.values()):
        recorded(argv, cache)
    got = interleave({n: (lambda argv=argv: recorded(argv, cache)) for n, argv in {"alone": work(), **ways}.items()}, RUNS, warm=False)
    own, inside = medians(got, "own"), medians(got, "inside")
    start = own["alone"]  # the shell's
    size, share = {}, {}
    for n in [*ways, *fp]:
        data = str(temp / f"{n}.data.whole")
        if not os.path.exists(data):
            continue
        size[n] = os.path.getsize(data) / samples(data)
        if have("perf"):
            good, every = whole(data)
            share[n] = 100 * (every - good) / max(every, 1)
    b.add("bytes a sample", "B", size, goal=1 / 20)
    b.add("CPU of all, beyond the program's", "ms", {n: max(own[n] + inside[n] - start - inside["alone"], 1) for n in ways})
    if share:
        b.add("stacks of cc1plus that are not whole (goal: 1 % at most)", "%", share, digits=2)


# A sample of cpu-clock is taken in a timer's interrupt: how long does that take, in nanoseconds, when it hits the compiler?
INTERRUPTS = """
tracepoint:timer:hrtimer_expire_entry /args.function == kaddr("perf_swevent_hrtimer") && comm == "cc1plus"/ { @from[cpu] = nsecs; }
tracepoint:timer:hrtimer_expire_exit /@from[cpu]/ { @took = lhist(nsecs - @from[cpu], 0, 50000, 100); delete(@from[cpu]); }
"""
CUT = 0.05  # of the interrupts: the slowest, which are those the machine's own host interrupted


def interrupts(run):
    """Do run(), and say how many samples hit the compiler meanwhile and what one took the kernel on average (ns)."""
    with open(temp / "interrupts", "w+") as out:
        p = subprocess.Popen([KYMO, "run", "-f", "json", "-e", INTERRUPTS], stdout=out, stderr=subprocess.DEVNULL)
        try:
            while p.poll() is None and not os.path.getsize(out.name):  # it tells what it attached to
                time.sleep(0.05)
            r = run()
        finally:
            p.send_signal(signal.SIGINT)
            p.wait()
        out.seek(0)
        told = [json.loads(line) for line in out if '"@took"' in line]
    took = [(x["min"] + 50, x["count"]) for x in told[-1]["data"]["@took"] if x["count"]] if told else []
    r.samples = sum(n for _, n in took)
    left = keep = (1 - CUT) * r.samples
    total = 0
    for ns, n in sorted(took):
        total += ns * min(n, left)
        left -= min(n, left)
    r.interrupt = total / keep if keep else 0
    return r


def ratio_of_sums(pairs, draws=2000):
    """Of (ours, theirs) by turns: between which ratios of the sums nine of ten lie when turns are drawn anew."""
    rng = random.Random(1)
    ratios = sorted(sum(o for o, _ in d) / sum(t for _, t in d) for d in (rng.choices(pairs, k=len(pairs)) for _ in range(draws)))
    return ratios[draws // 20], ratios[-draws // 20]


def stacks():
    """What stacks cost at 3,999 Hz: the recorder's CPU, and what an interrupt takes beyond that of a sample without a stack."""
    ways = recorders(FREQ, "stacks.data", kymo=[KYMO, "record", "-g", "-e", "cpu-clock"],
                     dwarf=perf_record("--call-graph", "dwarf"), plain=perf_record())
    if len(ways) < 3:
        return
    cache = temp / "cache"
    recorded(ways["kymo"], cache)
    runs = {n: (lambda argv=argv: interrupts(lambda: recorded(argv, cache))) for n, argv in ways.items()}
    got = interleave({**runs, "alone": lambda: recorded(work(), cache)}, TURNS, warm=False)
    start = statistics.mean(r.own for r in got["alone"])  # the shell's
    turns = [t for t in ({n: got[n][i] for n in ways} for i in range(TURNS)) if all(r.samples and r.code == 0 for r in t.values())]
    if not turns:
        print("unwind: no turn of stacks() in which the samples' interrupts were seen and perf did not crash", file=sys.stderr)
        return
    plain = statistics.mean(t["plain"].interrupt for t in turns)
    kernel = {n: [max(t[n].interrupt - plain, 1) / 1e3 for t in turns] for n in ("kymo", "dwarf")}
    own = {n: [max(t[n].own - start, 1) for t in turns] for n in kernel}
    both = {n: [o + k * t[n].samples / 1e3 for o, k, t in zip(own[n], kernel[n], turns)] for n in kernel}
    for what, unit, figures, goal in (
            (f"CPU of stacks at 3,999 Hz ({len(turns)} turns): recorder, and kernel beyond samples without", "ms", both, 1 / 5),
            ("of it the recorder's", "ms", own, 1 / 5), ("of it the kernel's, a sample", "us", kernel, None)):
        b.add(what, unit, {n: statistics.mean(v) for n, v in figures.items()}, goal=goal,
              spread=ratio_of_sums(list(zip(figures["kymo"], figures["dwarf"]))))


def own_cost():
    """The same at the usual rate: with tables kept and without, beside copies that are cut and copies that are long enough
    to be whole."""
    argv = recorders("999", "own.data", **{
        "alone": ["sh"], "kymo": [KYMO, "record", "-g"], "first": [KYMO, "record", "-g"], "plain": perf_record(),
        "8 KiB": perf_record("--call-graph", "dwarf"), "64 KiB": perf_record("--call-graph", "dwarf,65528")})
    argv["alone"] = work()
    if "plain" not in argv:
        return

    def run(name):
        home = temp / ("own-first" if name == "first" else "own-kept")
        if name == "first":
            shutil.rmtree(home, ignore_errors=True)
        return recorded(argv[name], home)
    run("kymo")
    got = interleave({n: (lambda n=n: interrupts(lambda: run(n))) for n in argv}, RUNS, warm=False)
    own, interrupt, hits = medians(got, "own"), medians(got, "interrupt"), medians(got, "samples")
    cost = {n: own[n] - own["alone"] for n in argv}
    both = {n: max(cost[n] + max(interrupt[n] - interrupt["plain"], 0) * hits[n] / 1e6, 1) for n in argv}
    b.add("recorder's CPU at 999 Hz, beside copies of 8 KiB", "ms", {"kymo": cost["kymo"], "perf": cost["8 KiB"]}, goal=1 / 5)
    b.add("beside copies of 64 KiB, which are whole", "ms", {"kymo": cost["kymo"], "perf": cost["64 KiB"]}, goal=1 / 5)
    b.add("the kernel's part included", "ms", {"kymo": both["kymo"], "perf": both["64 KiB"]}, goal=1 / 5)
    b.add("the kernel's part included, beside copies of 8 KiB", "ms", {"kymo": both["kymo"], "perf": both["8 KiB"]}, goal=1 / 5)
    b.add("the first time, without kept tables", "ms", {"kymo": cost["first"], "perf": cost["8 KiB"]})


def walker():
    prog = BUILD / "bench/bench-unwind_walker"
    if not prog.exists():
        return
    out = subprocess.run([str(prog), "-F", FREQ, "-c", "100", "--", "g++", "-O2", "-S", "-o", "/dev/null", str(temp / "w.cc")],
                         capture_output=True, text=True).stdout
    m = re.search(r"(\d+) ns a run, (\d+) ns a user frame", out)
    if m:
        b.add("walker, a frame (goal: 1 us)", "us", {"kymo": int(m[2]) / 1e3, "limit": 1.0}, goal=1)


def offline():
    """perf's recording with copies, from above."""
    dwarf = str(temp / "dwarf.data.whole")
    if not os.path.exists(dwarf):
        return
    out = subprocess.run([str(BUILD / "bench/bench-unwind_offline"), dwarf, "5"], capture_output=True, text=True).stdout
    rates = [float(x) for x in re.findall(r"([\d.]+) M frames/s", out)]
    if rates:
        b.add("unwinding copies, a thousand frames (goal: 5M/s)", "us", {"kymo": 1e3 / max(rates), "limit": 200.0}, goal=1)
    env = {"XDG_CACHE_HOME": str(temp / "cache")}
    got = interleave({n: (lambda argv=argv: Run(argv, env=env)) for n, argv in {
        "kymo": [KYMO, "script", "--no-inline", "-i", dwarf, "-F", "comm,ip,sym"],
        "perf": ["perf", "script", "--no-inline", "-i", dwarf, "-F", "comm,ip,sym"]}.items() if have(argv[0])}, RUNS, warm=False)
    for what in ("cpu", "wall"):
        b.add(f"script of a recording with copies, {what}", "ms", medians(got, what), goal=1 / 20)


def inlines():
    """A program with debug info: names with inlines, in script; a report again."""
    subprocess.run(["g++", "-O2", "-g", "-DLOOPS=20000", "-o", temp / "big", temp / "w.cc"], check=True)
    data = str(temp / "inline.data")
    for _ in range(5):
        if have("perf") and Run([*perf_record("--call-graph", "dwarf"), "-q", "-F", "1999", "-o", data, str(temp / "big")]).code == 0:
            break
    else:
        return

    home = temp / "home"  # nothing is known of anything, but what perf keeps of the kernel in one of them
    perf_home = temp / "perf-home"
    for h in (home, perf_home):
        h.mkdir()

    def cold(argv, at=home):
        for _ in range(3):
            shutil.rmtree(temp / "cold", ignore_errors=True)
            r = Run(argv, env={"XDG_CACHE_HOME": str(temp / "cold"), "HOME": str(at)}, adopt=True)
            if r.code == 0:
                break
        return r
    Run(["perf", "record", "-q", "-e", "cpu-clock", "-o", str(temp / "kept.data"), "true"], env={"HOME": str(perf_home)})
    names = ["script", "--inline", "-i", data, "-F", "comm,ip,sym"]
    got = interleave({"kymo": lambda: cold([KYMO, *names]), "perf": lambda: cold(["perf", *names]),
                      "kept": lambda: cold([KYMO, *names], perf_home)}, RUNS, warm=False)
    for what in ("cpu", "wall"):
        m = medians(got, what)
        b.add(f"script --inline without a cache, {what}", "ms", {"kymo": m["kymo"], "perf": m["perf"]}, goal=1 / 20)
        b.add(f"with perf's copy of the kernel's symbols, {what}", "ms", {"kymo": m["kept"], "perf": m["perf"]}, goal=1 / 20)
    walked = str(temp / "walked.data")
    Run([KYMO, "record", "-q", "-F", "1999", "-g", "-o", walked, "--", str(temp / "big")])
    warm = {"XDG_CACHE_HOME": str(temp / "warm")}
    for what, path in (("copies", data), ("walked stacks", walked)):
        rep = [KYMO, "report", "--stdio", "--inline", "-g", "caller", "-s", "sym,srcline", "-i", path]
        Run(rep, env=warm)
        got = interleave({"again": lambda: Run(rep, env=warm), "first": lambda: cold(rep)}, RUNS, warm=False)
        for by in ("cpu", "wall"):
            m = medians(got, by)
            b.add(f"report --inline of {what} again, beside the first time, {by}", "ms", {"kymo": m["again"], "first": m["first"]},
                  goal=1 / 3)


try:
    for part in (recording, stacks, own_cost, walker, offline, inlines):
        if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]:
            part()
finally:
    shutil.rmtree(temp, ignore_errors=True)
b.end()
