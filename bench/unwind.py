#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks: kymo's walker beside perf's frame pointers and stack copies, on a compiler without frame pointers;
unwinding copies, naming with inlines, and reading a recording again.

    bench/unwind.py [KYMO]

Whole stacks are judged alike for all recordings: by what perf script shows of them, does the stack begin
where programs and threads do? Cost is the CPU time of recorder, kernel and program less that of the program alone.
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from lib import BUILD, KYMO, Bench, Run, have, interleave

RUNS = int(os.environ.get("BENCH_RUNS", "5"))
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


def recording():
    """cc1plus compiles a real file: bytes a sample, CPU, whole stacks."""
    src = temp / "w.cc"
    src.write_text(SOURCE)
    # the shell tells what the compiler took, so that the recorder's own part is known
    work = ["sh", "-c", f"g++ -O2 -S -o /dev/null {src}; times > {temp}/times"]
    env = {"XDG_CACHE_HOME": str(temp / "cache")}
    ways = {
        "kymo": [KYMO, "record", "-q", "-F", FREQ, "-g", "-o", temp / "kymo.data", "--", *work],
        "dwarf": ["perf", "record", "-q", "-N", "-F", FREQ, "-e", "cpu-clock", "--call-graph", "dwarf", "-o", temp / "dwarf.data", "--", *work],
        "fp": ["perf", "record", "-q", "-N", "-F", FREQ, "-e", "cpu-clock", "-g", "-o", temp / "fp.data", "--", *work],
    }
    ways = {n: [str(w) for w in argv] for n, argv in ways.items() if have(argv[0])}
    def run(argv):
        r = Run(argv, env=env)
        r.compiler = sum(int(m) * 60e3 + float(x) * 1e3 for m, x in re.findall(r"(\d+)m([\d.]+)s", (temp / "times").read_text()))
        return r
    subjects = {n: (lambda argv=argv: run(argv)) for n, argv in {"alone": work, **ways}.items()}
    got = interleave(subjects, RUNS)
    # perf 6.1 sometimes crashes at the end of a recording; such runs do not count
    got = {n: [r for r in rs if r.code == 0] or rs for n, rs in got.items()}
    alone = statistics.median(r.compiler for r in got["alone"])
    own = {n: max(statistics.median(r.cpu - r.compiler for r in got[n]), 1) for n in ways}
    inside = {n: max(statistics.median(r.compiler for r in got[n]) - alone, 0) for n in ways}
    size, share = {}, {}
    for n in ways:
        data = str(temp / f"{n}.data")
        size[n] = os.path.getsize(data) / samples(data)
        if have("perf"):
            good, every = whole(data)
            share[n] = 100 * (every - good) / max(every, 1)
    b.add("bytes a sample", "B", size, goal=1 / 20)
    b.add("CPU of recorder and kernel at 3,999 Hz", "ms", {n: own[n] + inside[n] for n in ways}, goal=1 / 5)
    b.add("of it the recorder's own", "ms", own)
    b.add("of it what the compiler took more", "ms", inside)
    if share:
        b.add("stacks of cc1plus that are not whole (goal: 1 % at most)", "%", share, digits=2)


def own_cost():
    """The recorder's own CPU time at the usual rate: with tables kept and without, beside copies that are cut and copies that
    are long enough to be whole."""
    work = ["sh", "-c", f"g++ -O2 -S -o /dev/null {temp}/w.cc; times > {temp}/times"]
    argv = {n: [str(w) for w in [*words, "-F", "999", "-o", temp / "own.data", "--", *work]] for n, words in {
        "kymo": [KYMO, "record", "-q", "-g"],
        "first": [KYMO, "record", "-q", "-g"],
        "copies": ["perf", "record", "-q", "-N", "-e", "cpu-clock", "--call-graph", "dwarf"],
        "64 KiB": ["perf", "record", "-q", "-N", "-e", "cpu-clock", "--call-graph", "dwarf,65528"]}.items() if have(words[0])}

    def run(name):
        home = temp / ("own-first" if name == "first" else "own-kept")
        if name == "first":
            shutil.rmtree(home, ignore_errors=True)
        r = Run(argv[name], env={"XDG_CACHE_HOME": str(home)})
        r.own = r.cpu - sum(int(m) * 60e3 + float(x) * 1e3 for m, x in re.findall(r"(\d+)m([\d.]+)s", (temp / "times").read_text()))
        return r
    got = interleave({n: (lambda n=n: run(n)) for n in argv}, min(RUNS, 3))
    own = {n: statistics.median(r.own for r in [x for x in rs if x.code == 0] or rs) for n, rs in got.items()}
    if "copies" in own:
        b.add("recorder's own CPU at 999 Hz, against copies", "ms", {"kymo": own["kymo"], "perf": own["copies"]}, goal=1 / 5)
        b.add("against copies long enough to be whole", "ms", {"kymo": own["kymo"], "perf": own["64 KiB"]}, goal=1 / 5)
        b.add("the first time, without kept tables", "ms", {"kymo": own["first"], "perf": own["copies"]})


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
    """A recording of three compilations with copies."""
    dwarf = str(temp / "copies.data")
    for _ in range(3):  # perf 6.1 may crash at the end
        r = Run(["perf", "record", "-q", "-N", "-F", FREQ, "-e", "cpu-clock", "--call-graph", "dwarf", "-o", dwarf, "--", "sh", "-c",
                 " ".join([f"g++ -O2 -S -o /dev/null {temp}/w.cc;"] * 3)])
        if r.code == 0:
            break
    else:
        return
    out = subprocess.run([str(BUILD / "bench/bench-unwind_offline"), dwarf, "5"], capture_output=True, text=True).stdout
    rates = [float(x) for x in re.findall(r"([\d.]+) M frames/s", out)]
    if rates:
        b.add("unwinding copies, a thousand frames (goal: 5M/s)", "us", {"kymo": 1e3 / max(rates), "limit": 200.0}, goal=1)
    env = {"XDG_CACHE_HOME": str(temp / "cache")}
    got = interleave({n: (lambda argv=argv: Run(argv, env=env)) for n, argv in {
        "kymo": [KYMO, "script", "--no-inline", "-i", dwarf, "-F", "comm,ip,sym"],
        "perf": ["perf", "script", "--no-inline", "-i", dwarf, "-F", "comm,ip,sym"]}.items() if have(argv[0])}, 3)
    for what, goal in (("cpu", 1 / 20), ("wall", 1 / 20)):
        b.add(f"script of a recording with copies, {what}", "ms",
              {n: statistics.median(getattr(r, what) for r in rs) for n, rs in got.items()}, goal=goal)


def inlines():
    """A program with debug info: names with inlines, in script; a report again."""
    subprocess.run(["g++", "-O2", "-g", "-DLOOPS=20000", "-o", temp / "big", temp / "w.cc"], check=True)
    data = str(temp / "inline.data")
    subprocess.run(["perf", "record", "-q", "-N", "-F", "1999", "-e", "cpu-clock", "--call-graph", "dwarf", "-o", data, str(temp / "big")],
                   capture_output=True)
    if not os.path.exists(data):
        return

    def cold(argv):
        shutil.rmtree(temp / "cold", ignore_errors=True)
        return Run(argv, env={"XDG_CACHE_HOME": str(temp / "cold")}, adopt=True)
    commands = {"kymo": [KYMO, "script", "--inline", "-i", data, "-F", "comm,ip,sym"]}
    if have("perf"):
        commands["perf"] = ["perf", "script", "--inline", "-i", data, "-F", "comm,ip,sym"]
    got = interleave({n: (lambda argv=argv: cold(argv)) for n, argv in commands.items()}, 3, warm=False)
    for what, goal in (("cpu", 1 / 20), ("wall", 1 / 20)):
        b.add(f"script --inline without a cache, {what}", "ms",
              {n: statistics.median(getattr(r, what) for r in rs) for n, rs in got.items()}, goal=goal)
    walked = str(temp / "walked.data")
    Run([KYMO, "record", "-q", "-F", "1999", "-g", "-o", walked, "--", str(temp / "big")])
    warm = {"XDG_CACHE_HOME": str(temp / "warm")}
    for what, path in (("copies", data), ("walked stacks", walked)):
        rep = [KYMO, "report", "--stdio", "--inline", "-g", "caller", "-s", "sym,srcline", "-i", path]
        Run(rep, env=warm)
        got = interleave({"again": lambda: Run(rep, env=warm), "first": lambda: cold(rep)}, RUNS, warm=False)
        b.add(f"report --inline of {what} again, beside the first time", "ms",
              {"kymo": statistics.median(r.wall for r in got["again"]), "first": statistics.median(r.wall for r in got["first"])},
              goal=1 / 3)


try:
    recording()
    own_cost()
    walker()
    offline()
    inlines()
finally:
    shutil.rmtree(temp, ignore_errors=True)
b.end()
