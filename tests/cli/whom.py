#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whom to watch, and how long: -p takes names, --duration is everywhere."""
import os
import re
import shutil
import subprocess
import tempfile
import time

from tap import KYMO, WORK, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-whom-")
os.environ["XDG_CACHE_HOME"] = DIR + "/cache"
os.chdir(DIR)
KYMO = os.path.realpath(KYMO) if os.path.isabs(KYMO) else KYMO
NAME, LONG = "kymowhom", "kymowhom-of-a-long-name"
for name in (NAME, LONG):
    shutil.copy(f"{WORK}/spin", name)
procs = [subprocess.Popen([f"./{n}", "1000000000000"]) for n in (NAME, NAME, LONG)]
time.sleep(0.2)


def pids(data):
    return {int(x) for x in kymo(f"script -i {data} -F pid").out.split()}


try:
    # --- by name, all of them, as pidof ---
    both = {p.pid for p in procs[:2]}
    r = kymo(f"record -q -F 499 -e cpu-clock -p {NAME} --duration 0.5 -o n.data")
    same("record -p NAME: all processes of that name", (pids("n.data"), r.code), (both, 0))
    r = kymo(f"record -q -F 499 -e cpu-clock -p {LONG} --duration 0.5 -o l.data")
    same("a name longer than the kernel keeps", (pids("l.data"), r.code), ({procs[2].pid}, 0))
    r = kymo(f"record -q -F 499 -e cpu-clock -p {LONG},{procs[0].pid} --duration 0.5 -o m.data")
    same("names and numbers", (pids("m.data"), r.code), ({procs[2].pid, procs[0].pid}, 0))
    for args in (f"stat -e task-clock --timeout 100 -p {NAME}", f"top --stdio --iterations 1 -d 1 -p {NAME}", f"flame -d 0.3 -p {NAME} -o f.html",
                 f"doctor -p {LONG}", f"run --duration 0.2 -p {LONG} -e 'BEGIN {{ }}'", f"funclatency -d 1 -p {LONG} c:malloc"):
        r = kymo(args)
        check(f"{args.split()[0]} -p NAME", r.code in (0, 1) and "called" not in r.err and "wants" not in r.err and "number" not in r.err, r)
    for args in ("record -o x.data", "stat", "top --stdio", "flame -o x.html", "doctor", "run -e 'BEGIN { }'", "trace", "opensnoop"):
        r = kymo(f"{args} -p kymowhon")
        check(f"{args.split()[0]} -p: a name that none has, and a near one", r.code and f"no process is called 'kymowhon'" in r.err and NAME in r.err, r)
    r = kymo(f"doctor -p {NAME}")
    check("one is wanted, and there are two: both are named", r.code and all(str(p) in r.err for p in both), r)
    r = kymo(["record", "-o", "x.data", "-p", "2147483647"])
    check("a number that none has", r.code == 1 and "there is no process 2147483647" in r.err, r)
finally:
    for p in procs:
        p.kill()
        p.wait()

# --- how long: everywhere, by the same word -----------------------------------------------------------------------
tools = re.findall(r"^  (\w+) ", kymo("tools").out, re.M)
check("there are tools", len(tools) > 35, tools)
lacking = [t for t in ["record", "flame", "heat", "run", *tools] if "--duration" not in kymo(f"{t} -h").out]
same("all have --duration", lacking, [])
for args in ("record -q -a -o d.data --duration 0.4", "flame -q -d 0.4 -o d.html", "runqlat -d 0.4", "biolatency --duration 0.4", "run --duration 0.4 -e 'BEGIN { }'"):
    start = time.monotonic()
    r = kymo(args, timeout=30)
    took = time.monotonic() - start
    check(f"{args}: ends by itself", r.code == 0 and 0.4 <= took < 20, (took, r))
r = kymo("record -o d.data --duration soon")
check("what is no time is refused", r.code and "--duration wants seconds, not 'soon'" in r.err, r)
start = time.monotonic()
r = kymo("record -q -o d.data --duration 0.3 -- sleep 50", timeout=40)
check("a command ends with it", r.code == 0 and time.monotonic() - start < 30, r)

os.chdir("/")
shutil.rmtree(DIR, ignore_errors=True)
end()
