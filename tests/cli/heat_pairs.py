#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo heat from events: latencies a program knows, and pairs found again from kymo script's text."""
import collections
import os
import re
import shutil
import tempfile

import page
from tap import WORK, check, end, has, kymo, run, same, skip

tmp = tempfile.mkdtemp(prefix="kymo-heat-")
os.chdir(tmp)
os.environ["TMPDIR"] = tmp
BASE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LATENCY = os.path.join(BASE, WORK, "latency")


def unpack(name):
    """[(time, value, label, detail)], one for each point of a page; its header."""
    head, columns = page.unpack(name)
    t, out = 0, []
    for d, v, l, c, x in zip(*columns):
        t += d
        out += [(t * head["step"], v, head["labels"][l - 1] if l else None, head["details"][x - 1] if x else None)] * c
    return head, out


def check_once(ok, line):
    return ok or check("script's text has the event's fields", False, line)


def heat(*args, **kw):
    return kymo(["heat", *args], timeout=120, **kw)


r = kymo(["record", "-q", "-o", "probe.data", "-e", "sched:sched_switch", "-a", "--", "true"])
if r.code:
    skip("heat maps of events", f"tracepoints cannot be recorded here: {r.err.splitlines()[0] if r.err else ''}")
    end()

# --- a program that knows ---
r = heat("--syscall", "clock_nanosleep", "-o", "a.html", "--", LATENCY, "30")
check("--syscall records and draws", r.code == 0, r)
known = [tuple(map(int, x.split())) for x in r.out.splitlines() if re.match(r"\d+ \d+$", x)]
head, points = unpack("a.html")
same("a point for each call", len(points), len(known))
check("none less than was asked for, none more than the program measured",
      len(points) == len(known) and all(asked <= v <= measured for (asked, measured), (_, v, _, _) in zip(known, points)),
      "\n".join(map(str, zip(known, points))))
same("by process", {p[2] for p in points}, {"latency"})
check("and each tells who it was and what it returned", all(re.fullmatch(r"latency-\d+, CPU \d+, returned 0", p[3]) for p in points), points[:3])
same("the heading says what it is", head["title"], "time in clock_nanosleep")

# --- from a recording, by every way to say it ---
r = kymo(["record", "-q", "-o", "calls.data", "-e", "syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep,syscalls:sys_enter_write,"
          "syscalls:sys_exit_write", "--", LATENCY, "20"])
known = [tuple(map(int, x.split())) for x in r.out.splitlines()]
heat("--syscall", "clock_nanosleep", "-i", "calls.data", "-o", "b.html")
heat("--pair", "syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep by tid", "-i", "calls.data", "-o", "c.html")
one, other = unpack("b.html")[1], unpack("c.html")[1]
same("--pair is the same as --syscall", [p[:3] for p in other], [p[:3] for p in one])
check("pairs tell their keys", all(re.fullmatch(r"latency-(\d+), tid \1", p[3]) for p in other), other[:3])
check("a recording's latencies are the program's", len(one) == 20 and all(a <= p[1] <= m for (a, m), p in zip(known, one)), list(zip(known, one)))
r = heat("calls.data", "-o", "d.html")
labels = collections.Counter(p[2] for p in unpack("d.html")[1])
check("what a recording holds is found out: all its calls, by their names", labels["clock_nanosleep"] == 20 and labels["write"] >= 1, (r, labels))
heat("--syscall", "clock_nanosleep", "--label", "flags", "-i", "calls.data", "-o", "d.html")
same("--label names a field", {p[2] for p in unpack("d.html")[1]}, {"0"})

r = heat("--syscall", "clock_nanosleep", "-i", "calls.data", "--text")
values = sorted(p[1] for p in one)
nearest = values[max(1, -(-len(values) * 90 // 100)) - 1]
shown = re.search(r"p90 ([\d.]+) ms", r.out)
check("percentiles are values that occurred", shown and abs(float(shown[1]) - nearest / 1e6) < 0.06, (r.out, nearest))
heat("--syscall", "clock_nanosleep", "-i", "calls.data", "-o", "e.svg")
with open("e.svg", encoding="utf-8") as f:
    svg = f.read()
same("an SVG whose cells add up", sum(int(x) for x in re.findall(r"<title>(\d+): ", svg)), 20)

# --- the scheduler and disks, against pairs found in script's text ---
# Some kernels lose what happens while a CPU idles, to perf as well: two that wake each other on one CPU leave it no time for that.
TALK = "taskset -c 0 sh -c 'yes | head -c 2000000 >/dev/null'"
kymo(["record", "-q", "-o", "sched.data", "-e", "sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch,sched:sched_stat_runtime", "-a", "--", "sh", "-c", f"{LATENCY} 40; {TALK}"])
text = kymo(["script", "--ns", "-i", "sched.data", "-F", "comm,tid,time,event,trace"], timeout=120).out
since, want, runtime = {}, collections.Counter(), collections.Counter()
for line in text.splitlines():
    m = re.match(r".*?\s(\d+)\.(\d{9}):\s+sched:(\w+):\s(.*)$", line)
    now = int(m[1]) * 10**9 + int(m[2])
    if m[3].startswith("sched_wakeup"):
        since.setdefault(int((re.search(r" pid=(\d+) ", m[4]) or re.search(r":(\d+) \[", m[4]))[1]), now)
    elif m[3] == "sched_switch":
        tid = int((re.search(r" next_pid=(\d+) ", m[4]) or re.search(r"==> .*:(\d+) ", m[4]))[1])
        if tid in since:
            want[now - since.pop(tid)] += 1
    elif m[3] == "sched_stat_runtime":
        ns = re.search(r"runtime=(\d+)", m[4])
        if not check_once(ns, line):
            break
        runtime[int(ns[1])] += 1
r = heat("--sched", "-i", "sched.data", "-o", "f.html")
head, points = unpack("f.html")
check("there are wakeups", sum(want.values()) > 0, text[-2000:])
same("--sched: every latency as script's text has it", collections.Counter(p[1] for p in points), want)
check("by who was woken, with who woke it", all(p[2] and re.match(r"tid \d+, woken by .+-\d+ on CPU \d+$", p[3]) for p in points), points[:5])
r = heat("--field", "sched:sched_stat_runtime:runtime", "-i", "sched.data", "-o", "g.html")
head, points = unpack("g.html")
same("--field: every value", collections.Counter(p[1] for p in points), runtime)
same("its unit is the event's own", (head["unit"], head["what"]), ("ns", "runtime"))
r = heat("sched.data", "-o", "g.html")
same("a recording of the scheduler is drawn as such", unpack("g.html")[0]["title"], "from wakeup to running")
r = heat("--pair", "sched:sched_wakeup,sched:sched_switch by pid=next_pid", "-o", "g.html", "--", "sh", "-c", TALK)
check("--pair with a command, whose waits others end: of the whole machine", r.code == 0 and len(unpack("g.html")[1]) > 0, r)

command = f"for i in 1 2 3; do dd if=/dev/zero of={tmp}/disk bs=16k count=50 oflag=direct conv=fsync; done"
kymo(["record", "-q", "-o", "block.data", "-e", "block:block_rq_insert,block:block_rq_issue,block:block_rq_complete", "-a", "--", "sh", "-c", command])
text = kymo(["script", "--ns", "-i", "block.data", "-F", "comm,tid,time,event,trace"], timeout=120).out
events = [re.match(r".*?\s(\d+)\.(\d{9}):\s+block:block_rq_(\w+):\s(\d+,\d+) .*? (\d+) \+ (\d+) ", x) for x in text.splitlines()]
for first, option in ("issue", []), ("insert", ["-Q"]):
    since, want, again = {}, collections.Counter(), 0
    for m in filter(None, events):
        now, nothing = int(m[1]) * 10**9 + int(m[2]), m[6] == "0"  # a flush: it begins at sector 0, and ends at none
        key = (m[4], "none" if nothing and m[5] in ("0", str(2**64 - 1)) else m[5])
        if m[3] == first:
            again += key in since
            since[key] = now
        elif m[3] == "complete" and key in since and not (nothing and m[5] != str(2**64 - 1)):
            want[now - since.pop(key)] += 1
    if not want:
        skip(f"--block {' '.join(option)}", f"no {first} of a disk was seen")
        continue
    r = heat("--block", *option, "-i", "block.data", "-o", "h.html")
    head, points = unpack("h.html")
    same(f"--block {' '.join(option)}: every latency as script's text has it", collections.Counter(p[1] for p in points), want)
    if first == "issue":
        same("requests that were issued again are said, and not to be missing",
             (re.findall(r"([\d,]+) were issued again", r.err), "began again" in r.err), ([f"{again:,}"] if again else [], False))
    check("by device and direction, with sectors", all(re.match(r"\S+ (read|write|flush|discard|other)$", p[2]) for p in points) and any(" sectors at " in p[3] for p in points), points[:3])

# --- seconds ---
kymo(["record", "-q", "-g", "-F", "199", "-e", "cpu-clock", "-o", "cpu.data", "--", "sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"], timeout=60)
samples = len([x for x in kymo("script -i cpu.data -F time").out.splitlines() if x.strip()])
r = heat("--subsecond", "-i", "cpu.data", "--text")
has("--subsecond on the terminal", r.out, "a cell of 1.00 s", f"{samples} samples")
check("offsets have no percentiles", "p50" not in r.out, r.out)
r = heat("cpu.data", "-o", "i.svg")
with open("i.svg", encoding="utf-8") as f:
    svg = f.read()
same("as SVG: every sample in a cell", sum(int(x) for x in re.findall(r"<title>(\d+): ", svg)), samples)
r = heat("--subsecond", "-i", "cpu.data", "-o", "i.html")
with open("i.html", encoding="utf-8") as f:
    text = f.read()
check("as a page: a flame graph with its seconds", r.code == 0 and 'id="timeline"' in text, r)

# --- what is refused ---
for what, args, part in (
        ("an event that is not there", ["--pair", "a,b by c", "-i", "calls.data"], "sys_enter_write"),
        ("a field that is not there", ["--pair", "sys_enter_write,sys_exit_write by nothing", "-i", "calls.data"], "count"),
        ("no pair at all", ["--pair", "sys_enter_write", "-i", "calls.data"], "by dev,sector"),
        ("a field without a name", ["--field", "runtime", "-i", "sched.data"], "sched:sched_stat_runtime:runtime"),
        ("a field that is no number", ["--field", "sched:sched_switch:prev_comm", "-i", "sched.data"], "prev_pid"),
        ("an event without that field", ["--field", "sched:nothing:x", "-i", "sched.data"], "sched:sched_switch"),
        ("a call that cannot be", ["--syscall", "rm -rf", "-i", "calls.data"], "kymo list"),
        ("two pictures", ["--block", "--sched", "-i", "calls.data"], "one at a time"),
        ("a file and a command", ["--sched", "-i", "calls.data", "--", "true"], "not both"),
        ("a command without a question", ["--", "true"], "--block"),
        ("-Q alone", ["-Q", "-i", "block.data"], "--block"),
        ("text for a recording", ["--sched", "-i", "/etc/passwd"], "no recording")):
    r = heat(*args, "-o", "x.html")
    check(f"refused with a hint: {what}", r.code != 0 and part in r.err, r)
check("and nothing was written", not os.path.exists("x.html"))
check("no recording is left behind", not [x for x in os.listdir(tmp) if x.startswith("kymo-record-")])

os.chdir("/")
shutil.rmtree(tmp)
end()
