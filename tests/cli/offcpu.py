#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time off the CPU: tests/work/waits.c waits for known times in known functions without frame pointers.
What is recorded is never less than what was waited, and never more than what the program itself
measured around it."""
import json
import os
import re
import subprocess
import tempfile
import time

from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip
from watch import busy_cpus

DIR = tempfile.mkdtemp(prefix="kymo-offcpu-")
os.environ["XDG_CACHE_HOME"] = DIR + "/cache"
WAITS = f"{WORK}/waits"
TRACEFS = "/sys/kernel/tracing"
NAMES = ("in_sleep", "in_futex", "in_pipe", "in_child")
MS, TIMES = 30, 3
SLACK = 2e6  # ns: timers' and clocks' grain, and what a function does besides waiting


def path(name):
    return f"{DIR}/{name}"


OUTERMOST = {"_start", "_dl_start_user", "clone3", "clone", "__clone"}  # where programs and threads begin
# Nobody else has processes of this user, whatever runs beside.
USER = 60000 + os.getpid() % 5000


def record(args, out="r.data", **kw):
    return kymo(f"record -o {path(out)} {args}", **kw)


# Some kernels do not tell of every switch, and on a busy machine a ring may run over. kymo says so then,
# and what it has is less than what was waited.
INCOMPLETE = re.compile(r"not complete|whose end this kernel did not tell|(was|were) lost|have no stack")


def complete(record_it):
    """A recording of which kymo does not say that something is missing."""
    for _ in range(8):
        r = record_it()
        if not INCOMPLETE.search(r.err):
            break
    return r


def record_all(args, out="r.data", **kw):
    return complete(lambda: record(args, out, **kw))


def samples(out="r.data", options="", event="offcpu-time"):
    """(comm, tid, time, period, [functions, innermost first]) of each sample of an event."""
    found, now = [], None
    text = kymo(f"script -i {path(out)} {options} -F comm,tid,time,event,period,ip,sym").out
    for line in text.splitlines():
        m = re.match(r"\s*(\S.*?)\s+(\d+)\s+([\d.]+):\s+(\d+)\s+(\S+):", line)
        if m:
            now = (m[1], int(m[2]), float(m[3]), int(m[4]), []) if m[5] == event else None
            if now:
                found.append(now)
        elif now and line.strip():
            now[4].append(line.split(None, 1)[1] if len(line.split()) > 1 else "?")
    return found


def sums(found):
    """ns by the function of waits.c that waited: the innermost one."""
    by = {}
    for s in found:
        for name in s[4]:
            if name in NAMES or name in ("child_sleep", "child_looks"):
                by[name] = by.get(name, 0) + s[3]
                break
    return by


def measured(text):
    return {n: int(v) for n, v in re.findall(r"^(in_\w+) (\d+)$", text, re.M)}


def right(what, by, took, names=NAMES, said=""):
    """Every function waited as long as it had to, and no longer than it took."""
    for name in names:
        least, most = MS * TIMES * 1e6 - SLACK, took.get(name, 0) + SLACK
        check(f"{what}: {name} waited {MS * TIMES} ms", least <= by.get(name, 0) <= most,
              f"{name}: {by.get(name, 0)} ns, not in {least:.0f} ... {most:.0f}\n{by}\n{said}")


probe = record(f"--off-cpu -e dummy {WAITS} 1 1", "probe.data")
if probe.code and "BPF" in probe.text:
    skip("time off the CPU", probe.err.strip().splitlines()[-1])
    end()
check("records", probe.code == 0, probe)

# One after the other: a command, its threads and children.
r = record_all(f"--off-cpu -g {WAITS} {MS} {TIMES}")
took = measured(r.out)
found = samples()
right("a command", sums(found), took)
right("its child", sums(found), {"child_sleep": took.get("in_child", 0)}, ("child_sleep",))
# of the waits that are the program's own: in its first milliseconds, which its loader waits in, tables are still being made
own = [s for s in found if s[3] > 1e6 and set(s[4]) & {*NAMES, "child_sleep", "child_looks"}]
check("stacks reach main or the thread's start", len(own) >= len(NAMES) and
      all(OUTERMOST & set(s[4]) for s in own), own)
check("kernel functions stand before the user's, without the scheduler's own",
      all(s[4][0] not in ("__schedule", "bpf_trace_run4") for s in found) and
      any("schedule" in s[4][0] for s in found), [s[4][:2] for s in found])
has("says how long it was", r.err, "off the CPU: ")
check("ordinary samples are there, too", "cpu-clock" in kymo(f"evlist -i {path('r.data')}").out or
      "cycles" in kymo(f"evlist -i {path('r.data')}").out)
check("the time from fork to exec does not count", all(s[0] != "kymo" for s in found), found)

# report: only that event, and its unit
rep = kymo(f"report -i {path('r.data')} --off-cpu --stdio -g none --children -s sym")
check("report --off-cpu shows functions", rep.code == 0 and all(n in rep.out for n in NAMES), rep)
check("and nothing else", "cpu-clock" not in rep.out and "of event 'offcpu-time'" in rep.out, rep.out)

# perf reads it
perf = run(f"perf script -i {path('r.data')} -F event,period,ip,sym")
if perf.code == 127 or "not found" in perf.text:
    skip("perf reads it", "no perf")
else:
    periods = sum(int(p) for p in re.findall(r"^\s*(\d+)\s+offcpu-time:", perf.out, re.M))
    same("perf sees the same sum", periods, sum(s[3] for s in found))
    check("and the same functions", all(n in perf.out for n in NAMES), perf.text)

# The threshold: long waits one by one, each with its time; or all summed.
r = record_all(f"--off-cpu --off-cpu-thresh 1 -e dummy {WAITS} {MS} {TIMES}", "t.data")
single = [s for s in samples("t.data") if "in_sleep" in s[4]]
check("--off-cpu-thresh: each long wait is a sample", len(single) == TIMES and
      all(s[3] >= MS * 1e6 - SLACK for s in single), single)
check("at the time it ended", all(b[2] - a[2] >= MS / 1000 - 0.002 for a, b in zip(single, single[1:])), single)
r = record_all(f"--off-cpu --off-cpu-thresh 0 -e dummy {WAITS} {MS} {TIMES} threads", "z.data")
right("all summed, in threads", sums(samples("z.data")), measured(r.out))

# A process that runs already; one that waits through the end.
p = subprocess.Popen([WAITS, str(MS), "1000"], stdout=subprocess.DEVNULL)
r = record(f"--off-cpu -e dummy -p {p.pid} -- sleep 0.5", "p.data")
by = sums(samples("p.data"))
check("-p: most of the time is waited", 0.2e9 < by.get("in_sleep", 0) < 5e9, by)
r = record(f"--off-cpu -e dummy -t {p.pid} -- sleep 0.3", "p.data")
tids = {s[1] for s in samples("p.data")}
same("-t: only that thread", tids, {p.pid})
p.kill()
p.wait()
r = record_all("--off-cpu -e dummy -- sh -c 'sleep 0.3 & sleep 0.3 & wait'", "w.data")
slept = [s for s in samples("w.data") if s[0] == "sleep"]
check("children of a shell", sum(s[3] for s in slept) >= 0.6e9 - 2 * SLACK and len({s[1] for s in slept}) == 2, f"{samples('w.data')}\n{r.err}")
r = record("--off-cpu -e dummy -i -- sh -c 'sleep 0.1 & wait'", "w.data")
check("-i: not with --no-inherit", all(s[0] != "sleep" for s in samples("w.data")), samples("w.data"))
p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
p.stdin.write(b"x\n"), p.stdin.flush(), p.stdout.readline()
b = subprocess.Popen([KYMO, "record", "--off-cpu", "-e", "dummy", "-o", path("b.data"), "-p", str(p.pid)],
                     stderr=subprocess.PIPE)
stop = time.monotonic() + 20
while not os.path.exists(path("b.data")) and time.monotonic() < stop:
    time.sleep(0.02)
time.sleep(0.2)
p.stdin.write(b"y\n"), p.stdin.flush(), p.stdout.readline()
time.sleep(0.3)
b.send_signal(2)
b.communicate(timeout=60)
p.kill(), p.wait()
waited = [s for s in samples("b.data") if s[0] == "cat"]
check("what still waits at the end has waited until then", waited and max(s[3] for s in waited) >= 0.25e9, waited)

# The whole machine, without ourselves
# with room for what all others do, too
r = record_all(f"--off-cpu --off-cpu-room 50000 -e dummy -a -- sh -c 'echo recorder $PPID; exec {WAITS} {MS} {TIMES}'", "a.data")
right("-a", sums(samples("a.data")), measured(r.out), said=r.err)
recorder = re.search(r"recorder (\d+)", r.out)  # others may record at the same time
pids = re.findall(r"^\s*(\d+)/\d+", kymo(f"script -i {path('a.data')} -F pid,tid -G").out, re.M)
check("-a: not kymo itself", recorder and pids and recorder[1] not in pids, r)

# Some CPUs: where a program is not, it does not wait
cpus = sorted(os.sched_getaffinity(0))
for cpu, there in ((cpus[0], True), (cpus[-1], False)):
    if there or len(cpus) > 1:
        r = record_all(f"--off-cpu -e dummy -C {cpu} -- taskset -c {cpus[0]} {WAITS} {MS} {TIMES}", "c.data")
        if there:
            right("-C", sums(samples("c.data")), measured(r.out))
        else:
            same("-C: nothing of other CPUs", sums(samples("c.data")), {})

# A user
p = subprocess.Popen([WAITS, str(MS), "1000"], stdout=subprocess.DEVNULL, user=USER, cwd="/")
r = record(f"--off-cpu -e dummy -u {USER} -- sleep 0.5", "u.data")
found = samples("u.data")
check("-u: what the user's processes wait", sums(found).get("in_sleep", 0) > 0.1e9, (r, found))
check("-u: and nobody else", {s[0] for s in found} <= {"waits"}, {s[0] for s in found})
p.kill(), p.wait()

# In another pid namespace numbers are those of that namespace
if run(["unshare", "-pf", "--mount-proc", "true"]).code:
    skip("another pid namespace", "unshare does not work here")
else:
    r = complete(lambda: run(["unshare", "-pf", "--mount-proc", KYMO, "record", "-o", path("ns.data"), "--off-cpu", "-e", "dummy",
                              WAITS, str(MS), str(TIMES)]))
    found = samples("ns.data")
    right("another pid namespace", sums(found), measured(r.out))
    check("with its numbers", found and all(0 < s[1] < 100 for s in found), [s[1] for s in found])

# A program's first milliseconds: its tables are not there yet, so copies of its stack are finished later
env = {"XDG_CACHE_HOME": path("cold")}
r = record_all(f"--off-cpu -e dummy -- sh -c 'for i in 1 2 3 4 5 6; do {WAITS} 1 1; done'", "first.data", env=env)
chains = [s[4] for s in samples("first.data") if s[0] == "waits" and not {"bprm_execve", "do_exit"} & set(s[4])]
cut = [c for c in chains if not OUTERMOST & set(c)]
check("stacks of a program's first milliseconds are whole", len(chains) >= 6 and not cut, cut or chains)

# A cgroup
mounts = [l.split() for l in open("/proc/mounts")]
root = next((m[1] for m in mounts if m[2] == "cgroup2"), "/sys/fs/cgroup")
group = f"{root}/kymo-offcpu-{os.getpid()}"
try:
    os.mkdir(group)
except OSError as e:
    skip("-G", f"no cgroup2: {e}")
else:
    r = record_all(f"--off-cpu -e dummy -a -G {os.path.basename(group)} -- sh -c 'echo 0 > {group}/cgroup.procs; exec {WAITS} {MS} {TIMES}'",
               "g.data")
    found = samples("g.data")
    if r.code and "cgroup2" in r.text:
        skip("-G", "not a cgroup2 hierarchy")
    else:
        right("-G", sums(found), measured(r.out))
        check("-G: nothing else", {s[0] for s in found} <= {"sh", "waits"}, {s[0] for s in found})
    os.rmdir(group)

# Who ended the waits
r = record_all(f"--wakers -v -e dummy {WAITS} {MS} {TIMES}", "k.data")
has("stacks of whoever ended waits are not counted among those that were asked for", r.err, "stacks of who ended waits")
right("--wakers", sums(samples("k.data")), measured(r.out), said=r.err)
rep = kymo(f"report -i {path('k.data')} --wakers --stdio -g folded,0,caller --no-children -s comm")
lines = rep.out.splitlines()
pipe = [l for l in lines if "in_pipe" in l]
futex = [l for l in lines if "in_futex" in l]
check("the pipe's reader was woken by its writer", pipe and all(
    re.search(r"in_pipe;.*\[woken by waits\].*;feed_pipe;", l) for l in pipe), rep.text)
check("the futex's by who woke it", futex and all(
    re.search(r"in_futex;.*\[woken by waits\].*;wake_futex;", l) for l in futex), rep.text)
check("sleepers by an interrupt", any("in_sleep" in l and "[woken by interrupt]" in l for l in lines), rep.text)
check("whose interrupted task is not shown", not any("[woken by interrupt]" in l and "main" in l.split("[woken by interrupt]")[1]
                                                     for l in lines), rep.text)

folded = kymo(f"collapse --wakers -i {path('k.data')}").out
check("collapse --wakers: the same in one line, in ns",
      re.search(r"^waits;.*;in_pipe;.*\[woken by waits\];.*;feed_pipe;.* \d{8,}$", folded, re.M), folded)

# The same from the scheduler's events
if os.path.exists(f"{TRACEFS}/events/sched/sched_switch"):
    with busy_cpus(f"{WORK}/spin"):
        # the recorder comes before all others, or it does not keep up with a busy machine
        r = record_all(f"-r 50 -m 16M -e sched:sched_switch,sched:sched_waking -g -a -- {WAITS} {MS} {TIMES}", "s.data")
    took = measured(r.out)
    rep = kymo(f"report -i {path('s.data')} --off-cpu --stdio -g none --no-children -s sym -F period,sym --comm waits")
    total = sum(int(m) for m in re.findall(r"^\s+(\d+)\s+\[", rep.out, re.M))
    # every part waits, its helper or child waits along, and joining takes nothing
    check("from sched_switch: the sum is right", 4 * MS * TIMES * 1e6 - 4 * SLACK <= total <= 3 * sum(took.values()) + SLACK,
          f"{total}\n{took}\n{rep.text}")
    rep = kymo(f"report -i {path('s.data')} --wakers --stdio -g folded,0,caller --no-children -s comm --comm waits")
    check("and wakers", "[woken by waits]" in rep.out and "[woken by interrupt]" in rep.out, rep.text)
else:
    skip("from sched_switch", "no tracefs")
r = kymo(f"report -i {path('probe.data')} --off-cpu --stdio")
check("report --off-cpu of a recording that has it", r.code == 0, r)
kymo(f"record -o {path('n.data')} -- true")
r = kymo(f"report -i {path('n.data')} --off-cpu --stdio")
check("and of one that has nothing says what to do", r.code != 0 and "--off-cpu" in r.err, r)

# Many wait at once where there is room for one
MANY = "-e dummy -- sh -c 'for i in 1 2 3 4; do for k in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05 & done; done; wait'"
r = record(f"--off-cpu --off-cpu-room 1 {MANY}", "full.data")
m = re.search(r"not complete: there was no room for ([\d,]+) waits and 0 threads \(--off-cpu-room N gives more\)", r.err)
check("no room: it is said, and what helps", r.code == 0 and m and int(m[1].replace(",", "")) > 0, r.err)
check("no room: what there was room for is there", len(samples("full.data")) > 0, r.err)
r = record(f"--off-cpu --off-cpu-room 1000 {MANY}", "full.data")
check("with room nothing is said", r.code == 0 and "not complete" not in r.err, r.err)
r = record("--off-cpu --off-cpu-room 99999999 -- true", "x.data")
check("too much room is refused", r.code != 0 and "--off-cpu-room" in r.err, r)

# Refusals
r = record("--off-cpu -k realtime -- true", "x.data")
check("another clock is refused", r.code != 0 and "MONOTONIC" in r.err, r)
r = record("--off-cpu --overwrite -- true", "x.data")
check("so is a flight recorder", r.code != 0 and "--overwrite" in r.err, r)
r = record("--off-cpu --off-cpu-thresh x -- true", "x.data")
check("and a threshold that is no number", r.code != 0, r)
subprocess.run(["rm", "-rf", DIR], check=False)
end()
