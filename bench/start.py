#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long commands take when there is next to nothing to do, beside perf's."""
import os
import subprocess
import tempfile

from lib import KYMO, Bench

b = Bench("start")


def both(args, perf=None):
    return {"kymo": [KYMO, *args.split()], "perf": ["perf", *(perf or args).split()]}


with tempfile.TemporaryDirectory() as d:
    os.chdir(d)
    b.compare("true", {"kymo": ["true"], "perf": ["true"]})
    b.compare("version", both("version"))
    b.compare("record true", both("record -o out.data true"), by=("wall", "cpu"), goal=0.5)
    b.compare("record -g true", both("record -g -o out.data true"))
    b.compare("record -a -- true", both("record -a -o out.data -- true"))
    subprocess.run([KYMO, "record", "-q", "-g", "-o", "tiny.data", "ls", "/"], stdout=subprocess.DEVNULL)
    if os.path.exists("tiny.data"):
        b.compare("report of a tiny file", both("report --stdio -i tiny.data"), goal=1)
        b.compare("script of a tiny file", both("script -i tiny.data"), goal=1)
        b.compare("evlist", both("evlist -i tiny.data"), goal=1)
        b.compare("buildid-list", both("buildid-list -i tiny.data"), goal=1)
    b.compare("help", both("help"))
    b.compare("doctor", {"kymo": [KYMO, "doctor"]}, codes=(0, 1))
    b.compare("completing 'stat -e sch'", {"kymo": [KYMO, "completion", "--words", "--", "stat", "-e", "sch"]})
b.end()
