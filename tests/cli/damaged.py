#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings with a byte changed, or cut: each is read, reported and listed, or refused with a reason.

Every byte of the first 4 KiB, every 97th after that, and two hundred cuts, of recordings of each kind.
"""
import os
import shutil
import tempfile

from tap import KYMO, SAN, WORK, check, end, has, kymo, run

DIR = tempfile.mkdtemp(prefix="kymo-damaged-")
TOOL = os.path.join(os.path.dirname(os.path.abspath(KYMO)), "tests/unit/perfflip")
KINDS = [  # name, options of record, work
    ("call chains", "-g -F 200 -e cpu-clock:u,page-faults:u", "tree=20 faults=5"),
    ("tracepoints", "-e sched:sched_switch,sched:sched_process_exit", "tree=5"),
    ("compressed", "-z -F 500", "tree=20"),
    ("copied stacks", "--call-graph dwarf,512 -F 100 -e cpu-clock:u", "tree=40"),
    ("counters", "-e '{cpu-clock,page-faults}:S' -d -W -F 500", "tree=20"),
]


def main():
    for name, options, work in KINDS:
        path = f"{DIR}/{name.replace(' ', '-')}.data"
        r = kymo(f"record -q -o {path} {options} -- {WORK}/calls {work}")
        if not check(f"{name}: recorded", r.code == 0 and os.path.exists(path), r.err):
            continue
        # all of it for one kind, a part for the others, which share most of their bytes' meanings
        part = [] if name == KINDS[0][0] else ["997", "11"] if SAN else ["97", "3"]
        r = run([TOOL, path, *part], timeout=280)
        check(f"{name}: an orderly end each time", r.code == 0, r.text[-3000:])
    path = f"{DIR}/call-chains.data"
    data = open(path, "rb").read()
    for what, damaged, word in (("nothing in it", b"", "is empty"), ("rubbish", b"PERFILE2" + os.urandom(300), ""),
                                ("the magic alone", data[:8], ""), ("half", data[:len(data) // 2], "")):
        open(f"{DIR}/bad.data", "wb").write(damaged)
        for command in ("report --stdio", "script", "evlist", "annotate --stdio", "diff", "buildid-list"):
            r = kymo(f"{command} {'-i' if command != 'diff' else path} {DIR}/bad.data")
            if what == "half":
                check(f"{what}: {command} shows what is there", r.code in (0, 1) and (r.out or r.err), r.err)
            else:
                check(f"{what}: {command} refuses", r.code == 1 and "bad.data" in r.err and word in r.err, r.err)
    has("half: it is told", kymo(f"report --stdio -g none -i {DIR}/bad.data").text, "cut short")


try:
    main()
finally:
    shutil.rmtree(DIR, ignore_errors=True)
end()
