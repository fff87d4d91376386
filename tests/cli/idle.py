#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samples of the idle loop are left out of views for people, and it is said how much they were.

A machine that is tested does not rest, and some kernels keep their idle tasks from perf: so the function that a busy
program is in is given the idle loop's name, by a list of the kernel's symbols in which the two have changed names."""
import json
import os
import re
import subprocess
import tempfile

from tap import KYMO, check, end, has, kymo, run, skip

IDLE = "default_idle"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/calc/read/idle.c"), encoding="ascii") as source:
    ALL = set(re.findall(r'^\t\t"(\w+)",$', source.read(), re.M))  # a machine that rests is in others of them, too


def rows(text):
    """Share and function of each row."""
    return [(float(a), b) for a, b in re.findall(r"^ +([\d.]+)%.* \[[k.]\] (\S+)", text, re.M)]


with tempfile.TemporaryDirectory(prefix="kymo-idle-") as folder:
    data = f"{folder}/perf.data"
    busy = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=64k"], stderr=subprocess.DEVNULL)
    try:
        r = kymo(["record", "-q", "-a", "-g", "-F", "999", "-o", data, "--", "sleep", "2"])
        check("a recording of the machine", r.code == 0, r)
        flat = ["report", "-i", data, "--stdio", "--no-children", "-g", "none", "-s", "sym"]
        all_rows = rows(kymo([*flat, "--idle", "--kallsyms", "/proc/kallsyms"]).out)
        kernel = [x for x in all_rows if not x[1].startswith("0x")]
        hot = next((x[1] for x in kernel if re.search(rf" t {re.escape(x[1])}$", open("/proc/kallsyms").read(), re.M | re.I)), None)
        share = dict((b, a) for a, b in all_rows).get(hot, 0)
        if not hot or share < 1 or IDLE in dict((b, a) for a, b in all_rows):
            skip("idle", "no function of the kernel stands out here")
            end()
        names = f"{folder}/kallsyms"
        with open("/proc/kallsyms") as f, open(names, "w") as out:
            for line in f:
                word = line.split()
                if len(word) == 3 and word[2] in (hot, IDLE):
                    word[2] = IDLE if word[2] == hot else hot
                out.write(" ".join(word[:3]) + ("\t" + word[3] if len(word) > 3 else "") + "\n")
        with_names = [*flat, "--kallsyms", names]

        r = kymo(with_names)
        left = rows(r.out)
        check("the idle loop has no row", left and IDLE not in [x[1] for x in left], r)
        said = re.search(r"^# ([\d.]+)% was idle: .*--idle", r.out, re.M)
        r = kymo([*with_names, "--idle"])
        idle = sum(a for a, b in rows(r.out) if b.split(".")[0] in ALL)
        check("one line says how much it was", len(ALL) > 30 and said and abs(float(said[1]) - idle) < 0.2, (idle, said, r))
        check("--idle shows it", abs(dict((b, a) for a, b in rows(r.out)).get(IDLE, 0) - share) < 0.01 and "was idle" not in r.out, r)
        r = kymo(["report", "-i", data, "--stdio", "--no-children", "-g", "none", "-s", "comm", "--kallsyms", names])
        check("also where rows are of commands", re.search(rf"^# {said[1] if said else '?'}% was idle", r.out, re.M), r)
        total = sum(map(float, re.findall(r"^ +([\d.]+)%", r.out, re.M)))
        check("shares are of what is shown", abs(total - 100) < 1.5, (total, r))
        r = kymo([*with_names, "-S", IDLE])
        check("who asks for the function has it", IDLE in r.out, r)
        r = kymo(["report", "-i", data, "-j", "-s", "sym", "--kallsyms", names])
        check("JSON has everything", IDLE in r.out and json.loads(r.out), r)
        r = kymo([*with_names, "-t", ","])
        check("so have values for other programs", IDLE in r.out, r)
        os.symlink(os.path.abspath(KYMO), f"{folder}/perf")
        r = run([f"{folder}/perf", *with_names])
        check("by the name of perf rows are perf's", IDLE in r.out and "was idle" not in r.out, r)

        top = ["top", "--stdio", "--iterations", "1", "-d", "1", "-F", "999", "-s", "sym", "--kallsyms", names]
        r = kymo(top, timeout=60)
        check("top: no row, but a line", IDLE not in [x[1] for x in rows(r.out)] and re.search(r"^ +[\d.]+% was idle", r.out, re.M), r)
        r = kymo([*top, "--idle"], timeout=60)
        check("top --idle: a row", IDLE in [x[1] for x in rows(r.out)] and "was idle" not in r.out, r)
    finally:
        busy.kill()
        busy.wait()
    r = kymo("flame -h")
    has("flame has the option, too", r.out, "--idle")
end()
