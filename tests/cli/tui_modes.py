#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Branches and memory accesses in the terminal interface: the rows that text has."""
import os
import re
import tempfile

from tap import KYMO, WORK, check, end, has, run, same, skip
import perfbranch
import term
from term import Term

HOT = os.path.abspath(f"{WORK}/hotcode")
K = os.path.abspath(KYMO)


def rows(text):
    """Share and columns of each row, blanks made one."""
    return sorted(" ".join(x.split()) for x in text.splitlines() if re.match(r" +[\d.]+%  ", x))


def both(name, data, options, folder, titles):
    truth = rows(run([K, "report", "--stdio", "-g", "none", "-i", data, *options.split()]).out)
    check(f"{name}: text has rows", len(truth) > 2, truth)
    with Term(f"{K} report -i {data} {options}", width=160, cwd=folder) as t:
        check(f"{name}: opens", t.until("q quit"), t.text())
        has(f"{name}: headings", t.lines()[1], *titles)
        t.keys("P", "Enter")
        check(f"{name}: prints", t.until(lambda x: "lines in" in x[-2]), t.text())
        path = f"{folder}/{t.lines()[-2].split(' in ')[1].split()[0]}"
        with open(path) as f:
            same(f"{name}: the same rows", rows(f.read()), truth)
        os.unlink(path)


if not term.have:
    skip("all", "needs tmux")
    end()
with tempfile.TemporaryDirectory() as tmp:
    plain, data = f"{tmp}/plain.data", f"{tmp}/branches.data"
    r = run([K, "record", "-q", "-B", "-e", "cpu-clock:u", "-F", "1999", "-o", plain, "--", HOT, "1000"])
    if not check("a recording", r.code == 0, r):
        end()
    perfbranch.add(plain, data)
    both("branches", data, "", tmp, ["Overhead", "Source Symbol", "Target Symbol"])
    both("branches by", data, "-b -s dso_from,symbol_to,mispredict", tmp, ["Source Shared Object", "Target Symbol"])
    with Term(f"{K} report -i {data}", width=120) as t:
        t.until("q quit")
        t.keys("S", "=symbol_from,cycles", "Enter")
        check("S: other keys of branches", t.until(lambda x: "Source Symbol" in x[1] and "Target" not in x[1]), t.text())
        t.keys("Enter", "0")
        t.until(lambda x: "Target" in x[1])
        t.keys("/", "=mixer", "Enter", "a")
        check("a: the code a branch led to", t.until("H hottest") and re.match(r" (mixer|collatz) ", t.lines()[0]), t.text())
    both("plain samples of it", data, "--no-branch-stack", tmp, ["Overhead", "Symbol"])
    r = run([K, "record", "-q", "-e", "page-faults:u", "-c", "1", "-d", "-o", data, "--", HOT, "300"])
    check("a recording of addresses", r.code == 0, r)
    both("memory", data, "--mem-mode -s mem,sym,dso_daddr", tmp, ["Memory access", "Symbol", "Data Object"])
end()
