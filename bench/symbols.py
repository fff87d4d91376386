#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names, inlines and lines: kymo beside llvm-symbolizer and addr2line, in one run on one binary.

    bench/symbols.py [KYMO]

Builds a C++ program of many megabytes once (build/bench-symbols), then asks for random addresses of
its code. Medians of five interleaved runs; "each more" is the slope between 2,000 and 20,000 addresses.
"""
import os
import pathlib
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KYMO = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/kymo")
FOLDER = ROOT / "build/bench-symbols"
UNITS = 16
RUNS = 5
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


def timed(argv, data, env=None):
    """Wall and CPU seconds of one run that reads the file `data`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with open(data) as f:
        subprocess.run(argv, stdin=f, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                       env={**os.environ, **(env or {})})
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
    cache = FOLDER / "cache"
    tools = {
        "kymo, cold": ([KYMO, "addr2line", "-fi", "--no-cache", "-e", prog], None),
        "kymo, again": ([KYMO, "addr2line", "-fi", "-e", prog], {"XDG_CACHE_HOME": str(cache)}),
    }
    if shutil.which("llvm-symbolizer"):
        tools["llvm-symbolizer"] = (["llvm-symbolizer", "--no-demangle", f"--obj={prog}"], None)
    if shutil.which("addr2line"):
        tools["addr2line"] = (["addr2line", "-fi", "-e", prog], None)
    shutil.rmtree(cache, ignore_errors=True)
    for n in files:
        timed(*[tools["kymo, again"][0], files[n], tools["kymo, again"][1]])
    result = {(t, n): [] for t in tools for n in files}
    for _ in range(RUNS):
        for t, (argv, env) in tools.items():
            for n, data in files.items():
                if t == "addr2line" and n > 2000 and len(result[t, n]) > 0:
                    continue
                result[t, n].append(timed(argv, data, env))
    print(f"{prog.stat().st_size / 1e6:.0f} MB, medians of {RUNS}:")
    print(f"{'':16} {'2,000 wall':>11} {'CPU':>8} {'20,000 wall':>12} {'each more':>10}")
    for t in tools:
        small, large = ([statistics.median(x[i] for x in result[t, n]) for i in (0, 1)] for n in files)
        print(f"{t:16} {small[0] * 1e3:8.0f} ms {small[1] * 1e3:5.0f} ms {large[0] * 1e3:9.0f} ms "
              f"{(large[0] - small[0]) / 18000 * 1e6:7.1f} us")


main()
