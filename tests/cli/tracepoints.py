#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tracepoints as they are recorded and shown: columns, stacks at an exec, the tracer blk."""
import os
import re
import shutil
import tempfile

from tap import check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-points-")
os.environ["XDG_CACHE_HOME"] = DIR + "/cache"
os.chdir(DIR)

# --- a file of tracepoints shows what they say, also where an event was added that only tells of tasks -------------
for how in ("-a", "-a -g", "-C 0", ""):
    r = kymo(f"record -q {how} -e sched:sched_process_exec,sched:sched_process_exit -o t -- taskset -c 0 true")
    report = kymo("report -i t --stdio -g none").out
    events = kymo("evlist -i t").out.split("#")[0].split()
    if how == "-a -g":
        check("with an event that tells of tasks", any(x.startswith("dummy") for x in events), events)
    has(f"record {how}: report has the column 'Trace output'", report, "Trace output", "comm=")
r = kymo("record -q -a -e sched:sched_process_exec,cpu-clock -o t -- true")
check("not where something else was sampled, too", "Trace output" not in kymo("report -i t --stdio").out)

# --- a program that was just executed stands at its entry ----------------------------------------------------------
for how in ("-g -a", "--call-graph fp -a", "-g", "--call-graph fp"):
    r = kymo(f"record {how} -e sched:sched_process_exec -o x -- /bin/true")
    lines = kymo(["script", "-i", "x", "--comm", "true", "-F", "comm,event,ip,sym,dso"]).out.splitlines()
    frames = [x.strip() for x in lines[1:] if x.strip()]
    check(f"record {how} at sched_process_exec: the last frame is the entry of what starts the program",
          frames and re.search(r" _start \(.*/ld-linux.*\)$", frames[-1]) and "do_syscall_64" in frames[-3] + frames[-4], (lines, r.err))
    check(f"record {how}: nothing is said to be missing", "user stack" not in r.err, r.err)


# --- the tracer blk: records that no format describes ---------------------------------------------------------------
def blk():
    with open("disk", "wb") as f:
        f.truncate(1 << 20)
    r = run(["losetup", "-f", "--show", f"{DIR}/disk"])
    name = os.path.basename(r.out.strip())
    switch = f"/sys/block/{name}/trace/enable"
    tracers = kymo("ftrace list -t").out.split()
    if r.code or "blk" not in tracers or not os.access(switch, os.W_OK):
        skip("the tracer blk", f"there is no loop device to watch, or no such tracer ({r.err.strip()} {tracers})")
        return r.code == 0 and name
    try:
        with open(switch, "w") as f:
            f.write("1")
        r = kymo(["ftrace", "record", "-p", "blk", "-o", "blk.dat", "--", "dd", "if=/dev/zero", f"of=/dev/{name}", "bs=4k", "count=1", "seek=5",
                  "oflag=direct", "status=none"])
        with open(switch, "w") as f:
            f.write("0")
    except OSError as e:
        skip("the tracer blk", f"it cannot be switched on here: {e}")
        return name
    shown = kymo("script -i blk.dat").out
    check("script: the device, what happened to it, and where", re.search(r"dd .* ftrace:blktrace: 7,\d+ Q WS 40 \+ 8 \[0\]", shown), (r, shown[:800]))
    report = kymo("report -i blk.dat --stdio").out
    check("report: the same", re.search(r"%  7,\d+ C WS 40 \+ 8 \[0\]", report), report)
    text = kymo("ftrace report blk.dat").out
    check("ftrace report: in the kernel's words", re.search(r"blktrace: +7,\d+ +Q +WS 40 \+ 8 \[dd\]", text), text[:800])
    return name


if os.geteuid():
    skip("the tracer blk", "needs root")
else:
    name = blk()
    if name:
        run(["losetup", "-d", f"/dev/{name}"])

os.chdir("/")
shutil.rmtree(DIR, ignore_errors=True)
end()
