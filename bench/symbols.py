#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names, inlines and lines: kymo beside llvm-symbolizer and addr2line, in one run on one binary.

    bench/symbols.py [KYMO]

Builds a C++ program of many megabytes once (build/bench-symbols), then asks for random addresses of
its code. "each more" is the slope between 2,000 and 20,000 addresses. Takes a minute, and another to build.
"""
import os
import random
import re
import shutil
import statistics
import subprocess
import sys

from lib import KYMO, ROOT, Bench, Run, have, interleave

FOLDER = ROOT / "build/bench-symbols"
UNITS = 16
RUNS = int(os.environ.get("BENCH_RUNS", "5"))
b = Bench("symbols")
SOURCE = """
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace mod%(i)d {
struct Key { int a; std::string s; bool operator<(const Key &o) const { return a < o.a || s < o.s; } };
template <class T> struct Tree {
	std::map<Key, std::vector<T>> m;
	std::shared_ptr<Tree> next;
	void add(int k, T v) { m[Key{k, std::to_string(k)}].push_back(v); if (k %% 7 == 0) next = std::make_shared<Tree>(); }
	T sum() const { T s{}; for (auto &p : m) for (auto &v : p.second) s = s + v; return s; }
};
int work(int n) {
	Tree<int> t; Tree<double> d; Tree<std::string> ss; std::unordered_map<std::string, std::set<int>> um; std::deque<Key> q;
	for (int i = 0; i < n; i++) { t.add(i %% 17, i); d.add(i, i * 0.5); ss.add(i, "x"); um[std::to_string(i)].insert(i); q.push_back({i, "q"}); }
	std::sort(q.begin(), q.end());
	std::vector<int> v;
	for (auto &p : um) for (int x : p.second) v.push_back(x);
	std::stable_sort(v.begin(), v.end(), [](int a, int b) { return (a ^ %(i)d) < (b ^ %(i)d); });
	std::regex re("([a-z]+)(%(i)d|[0-9]+)"); std::smatch m; std::string s = "abc"; int hit = std::regex_match(s, m, re);
	std::ostringstream o; o << hit << t.sum() << d.sum() << ss.sum().size();
	return (int)v.size() + (int)o.str().size();
}
}
"""


def build():
    prog = FOLDER / "big"
    if prog.exists():
        return prog
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"building {UNITS} units once ...", file=sys.stderr)
    for i in range(UNITS):
        (FOLDER / f"u{i}.cc").write_text(SOURCE % {"i": i})
    calls = "".join(f"namespace mod{i} {{ int work(int); }}\n" for i in range(UNITS))
    (FOLDER / "main.cc").write_text(calls + "int main(int c, char **) { int s = 0;"
                                    + "".join(f" s += mod{i}::work(c);" for i in range(UNITS)) + " return s & 1; }\n")
    (FOLDER / "Makefile").write_text("O = $(patsubst %.cc,%.o,$(wildcard *.cc))\nbig: $(O)\n\tg++ $^ -o $@\n"
                                     "%.o: %.cc\n\tg++ -O2 -g -c $< -o $@\n")
    subprocess.run(["make", "-s", "-j2", "-C", str(FOLDER)], check=True)
    return prog


def ask(argv, data, env=None):
    with open(data) as f:
        return Run([str(w) for w in argv], env=env, stdin=f)


def main():
    prog = build()
    out = subprocess.run(["readelf", "-SW", prog], capture_output=True, text=True, check=True).stdout
    m = re.search(r"\.text\s+PROGBITS\s+(\S+) \S+ (\S+)", out)
    start, size = int(m[1], 16), int(m[2], 16)
    rnd = random.Random(1)
    files = {}
    for n in (2000, 20000):
        files[n] = FOLDER / f"addresses-{n}"
        files[n].write_text("".join(f"0x{start + rnd.randrange(size):x}\n" for _ in range(n)))
    cache = {"XDG_CACHE_HOME": str(FOLDER / "cache")}
    tools = {
        "kymo": ([KYMO, "addr2line", "-fi", "--no-cache", "-e", prog], None),
        "again": ([KYMO, "addr2line", "-fi", "-e", prog], cache),
        "llvm": (["llvm-symbolizer", "--no-demangle", f"--obj={prog}"], None),
        "GNU": (["addr2line", "-fi", "-e", prog], None),
    }
    tools = {n: t for n, t in tools.items() if have(str(t[0][0]))}
    shutil.rmtree(FOLDER / "cache", ignore_errors=True)
    for data in files.values():
        ask(tools["again"][0], data, cache)
    # addr2line is asked for the few only: it takes seconds for the many, and llvm is the peer
    got = interleave({(t, n): (lambda t=t, n=n: ask(tools[t][0], files[n], tools[t][1]))
                      for t in tools for n in files if t != "GNU" or n == 2000}, RUNS, warm=False)
    peers = [t for t in ("llvm", "GNU") if t in tools]

    def of(what, n, names):
        return {t: statistics.median(getattr(r, what) for r in got[t, n]) for t in names if (t, n) in got}
    for what in ("wall", "cpu"):
        b.add(f"2,000 addresses of {prog.stat().st_size / 1e6:.0f} MB, inlines and lines, cold, {what}", "ms", of(what, 2000, ["kymo", *peers]), goal=1)
        b.add(f"20,000 addresses, {what}", "ms", of(what, 20000, ["kymo", *peers]), goal=1)
    few, many = of("cpu", 2000, ["kymo", "llvm"]), of("cpu", 20000, ["kymo", "llvm"])
    b.add("each more", "us", {t: (many[t] - few[t]) / 18 for t in many}, goal=1)
    m = of("cpu", 2000, ["again", "kymo"])
    b.add("2,000 addresses again, beside the first time, cpu", "ms", {"kymo": m["again"], "first": m["kymo"]}, goal=1 / 3)


main()
b.end()
