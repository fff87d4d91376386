#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Equal input, equal bytes: several threads read a recording, and no page tells which of them was first."""
import hashlib
import os
import sys

from files import Folder
from tap import end, kymo, same, skip

at = Folder("kymo-same-")
data = at.path("perf.data")
# names that more than one process has, and several pieces of file, so that there is something to be first
# (page faults are many samples in little time)
one = "import argparse, decimal, json, unittest, xml.dom.minidom; x = [str(i) for i in range(40000)]"
r = kymo(["record", "-q", "-c", "1", "-e", "page-faults", "-g", "-o", data, "--", "sh", "-c",
          f"for i in 1 2; do {sys.executable} -c '{one}' & {sys.executable} -S -c '{one}' & done; wait"], timeout=120)
if r.code:
    skip("equal bytes", f"nothing could be recorded: {r.err[:100]}")
    at.remove()
    end()
if os.path.getsize(data) < 2 << 20:
    skip("something to be first", "the recording has one piece only")


def sums(command, name, *args):
    found = set()
    for i in range(3):
        out = at.path(f"{i}{name}")
        r = kymo([command, "-q", "-i", data, "-o", out, "--title", "x", *args], timeout=120)
        if r.code:
            return r
        with open(out, "rb") as f:
            found.add(hashlib.sha256(f.read()).hexdigest())
    return len(found)


same("a page", sums("flame", ".html"), 1)
same("a page of less", sums("flame", ".html", "--max-size", "300K", "--label", "tid"), 1)
same("an SVG", sums("flame", ".svg"), 1)
same("a flame chart", sums("flame", ".svg", "--flamechart"), 1)
same("a heat map of seconds, and its flame graph", sums("heat", ".html", "--subsecond"), 1)
at.remove()
end()
