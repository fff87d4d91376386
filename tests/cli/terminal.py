#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""On a terminal: names of processes, files and symbols cannot drive it, whichever command prints them."""
import os
import re
import shutil
import subprocess
import tempfile

import shell
from tap import KYMO, SAN, check, end, has, kymo, run, same, skip

TMP = tempfile.mkdtemp(prefix="kymo-terminal-")
EVIL = "e\033[2Jv\033]0;t\a\r"  # the kernel keeps 15 bytes of it
SOURCE = """
__attribute__((noinline)) unsigned hot(unsigned n) { volatile unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i; return s; }
int main(void) { return hot(20000000) == 7; }
"""
COLOR = re.compile(rb"\x1b\[(?:[0-2]|3[12346]|48;5;\d+)m")


def on_terminal(argv):
    """What the terminal gets, with its own \\r\\n undone, and the exit code."""
    out, code = shell.on_terminal(argv, {"LC_ALL": "C.UTF-8", "NO_COLOR": None}, timeout=600, raw=True)
    return code, out.replace(b"\r\n", b"\n")


def safe(what, *words, shown=rb"\\033[2J", code=0):
    got, out = on_terminal([KYMO, *words])
    bad = re.findall(rb"[\x00-\x08\x0b-\x1f\x7f]", COLOR.sub(b"", out))
    check(f"{what}: nothing drives the terminal", not bad and got == code, (got, out[:2000]))
    check(f"{what}: and it can be seen", re.search(rb"\\0?33\[2J", out) if shown else True, out[:2000])
    return out


same("an error", on_terminal([KYMO, "report", "-i", "/none/\033[2Jx"])[1].splitlines()[0][-40:],
     rb"/none/\033[2Jx: No such file or directory"[-40:])
out = on_terminal([KYMO, "report", "-i", "/none/\033[2Jx"])[1]
check("colours pass", b"\033[31mkymo report: \033[0m" in out, out)
has("in a pipe nothing is changed", kymo(["report", "-i", "/none/\033[2Jx"]).err, "/none/\033[2Jx")
safe("an event that is none", "stat", "-e", "\033[2Jx", "true", code=129)

if not all(subprocess.run(["which", p], capture_output=True).returncode == 0 for p in ("gcc", "objcopy")):
    skip("recordings", "no compiler")
    shutil.rmtree(TMP)
    end()
with open(f"{TMP}/a.c", "w") as f:
    f.write(SOURCE)
program = f"{TMP}/{EVIL}"
run(["gcc", "-O1", "-g", "-c", "a.c"], cwd=TMP)
run(["objcopy", "--redefine-sym", "hot=h\033[2Jot\033]0;x\a", "a.o", "b.o"], cwd=TMP)
r = run(["gcc", "b.o", "-o", program], cwd=TMP)
check("a program whose names are hostile", r.code == 0, r)
r = kymo(["record", "-q", "-g", "-F", "499", "-o", f"{TMP}/p.data", "--", program])
check("its recording", r.code == 0, r)
data = ["-i", f"{TMP}/p.data"]
raw = kymo(["script", *data]).out
check("a pipe has the names as they are", EVIL[:15] in raw and "h\033[2Jot" in raw, raw[:500])
for words in ("report --stdio", "report --stdio --hierarchy -g none", "report -x,", "report -j", "script", "script -D", "collapse", "buildid-list",
              "annotate --stdio", "export --to folded -o -", "export --to json -o -", "heat --text")[::3 if SAN else 1]:
    safe(words, *words.split(), *data, shown=words not in ("report -j", "export --to json -o -", "heat --text"))
safe("diff", "diff", f"{TMP}/p.data", f"{TMP}/p.data")
if os.geteuid() == 0:
    safe("stat", "stat", "-e", "task-clock", "--", program)
    safe("trace", "trace", "-s", "--", program)
    safe("run", "run", "-q", "-c", f"'{program}'", "-e", "tracepoint:sched:sched_process_exit /comm != \"kymo\"/ { @[comm] = count(); }")
    code, out = on_terminal([KYMO, "run", "-q", "-e", r'BEGIN { printf("\033[2Jown\n"); exit(); }'])
    check("a program's own words pass", b"\033[2Jown\n" in out, out)
shutil.rmtree(TMP)
end()
