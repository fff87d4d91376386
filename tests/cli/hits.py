#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks of tracepoints and probes (record -g): tests/work/hits.c says in each call's argument from where it
is called, so every hit is compared with the stack beside it."""
import os
import re
import subprocess
import tempfile
import time

from tap import KYMO, WORK, check, end, has, run, same, skip

HITS = os.path.abspath(f"{WORK}/hits")
WORK_PATH = os.path.abspath(WORK)
K = os.path.abspath(KYMO)
ENTER, EXIT = "syscalls:sys_enter_getpriority", "syscalls:sys_exit_getpriority"


def record(*args, **kw):
    return run([K, "record", "-o", "hits.data", *args], **kw)


def samples(fields="comm,tid,event,trace,ip,sym"):
    """(event, text of its fields, functions innermost first) of each sample."""
    out = []
    for text in run([K, "script", "-i", "hits.data", "--max-stack", "1000", "-F", fields]).out.split("\n\n"):
        lines = [x for x in text.split("\n") if x.strip()]
        m = re.match(r"\s*(.*?) +\d+ +([\w:]+): ?(.*)", lines[0]) if lines else None
        if m:
            out.append((m[2], m[3], [x.split(None, 1)[1] for x in lines[1:] if len(x.split(None, 1)) > 1]))
    return out


def steps(functions):
    """The way to the call, the innermost step first."""
    return [x for x in functions if x in ("left", "right")]


def told(text):
    m = re.search(r"who: 0x(\w+)|code(?:_\w+)?=(\w+)", text)
    return int(m[1] or m[2], 16) if m else None


def wrong(hit):
    """The stack tells of another way than the argument, as far as it goes."""
    code = told(hit[1])
    return any((x == "right") != bool(code >> (5 - i) & 1) for i, x in enumerate(steps(hit[2]))) or len(steps(hit[2])) > 6


def right(name, hits, n):
    same(f"{name}: every hit is there", len(hits), n)
    bad = [x for x in hits if wrong(x)]
    check(f"{name}: none with the stack of another", not bad, "\n".join(map(str, bad[:3])) + f"\n{len(bad)} are wrong")


def whole(name, hits):
    """A program's first calls may come before its tables."""
    cut = [x for x in hits if len(steps(x[2])) != 6 or not any(f == "_start" or f.startswith(("clone", "__clone")) for f in x[2])]
    check(f"{name}: nearly all are whole", hits and len(cut) * 10 <= len(hits), "\n".join(map(str, cut[:3])) + f"\n{len(cut)} of {len(hits)}")


def calls():
    r = record("-g", "-e", ENTER, HITS, "1", "2000", "100")
    has("it says how stacks are had", r.err, "stacks walked in the kernel:")
    hits = samples()
    right("a system call", hits, 2000)
    whole("a system call", hits)
    record("-g", "-e", f"{ENTER},{EXIT}", HITS, "4", "500", "300")
    hits = samples()
    right("four threads", [x for x in hits if x[0] == ENTER], 2000)
    whole("four threads", [x for x in hits if x[0] == ENTER])
    whole("returns of the call", [x for x in hits if x[0] == EXIT])
    record("-g", "-e", ENTER, HITS, "2", "20000")
    right("as fast as can be", samples(), 40000)
    record("-g", "-e", ENTER, "--filter", "who == 21", HITS, "2", "2000", "50")
    hits = samples()
    check("a filter: only what it lets through", hits and all(told(x[1]) == 21 for x in hits), str(hits[:2]))
    check("and with its own stacks", not any(map(wrong, hits)), str([x for x in hits if wrong(x)][:2]))
    record("-g", "-a", "-e", ENTER, "--", HITS, "2", "1000", "200")
    hits = [x for x in samples() if "leaf" in x[2]]
    whole("the whole machine", hits)
    check("and none with another's", not any(map(wrong, hits)))
    record("-g", "-e", f"cpu-clock:u,{ENTER}", HITS, "1", "20000")
    hits = samples()
    right("beside a clock", [x for x in hits if x[0] == ENTER], 20000)


def others():
    record("-g", "-e", "raw_syscalls:sys_enter", HITS, "1", "1000", "200")
    whole("a tracepoint", [x for x in samples() if "leaf" in x[2]])
    record("-g", "-a", "-e", "sched:sched_switch,sched:sched_wakeup", "--", HITS, "2", "500", "200")
    hits = [x for x in samples() if x[0] == "sched:sched_switch" and "prev_comm=hits " in x[1] and "prev_state=S" in x[1]]
    check("switches have user stacks", hits and sum(any("clone" in f or f == "_start" for f in x[2]) for x in hits) * 10 >= len(hits) * 8,
          "\n".join(map(str, hits[:3])))
    r = record("--call-graph", "fp", "-e", ENTER, HITS, "1", "10")
    check("--call-graph fp is by frame pointers", "walked" not in r.err, r.err)


def after_another():
    """Somebody else has the tracepoint already: the kernel then makes the sample before the stack is walked."""
    other = subprocess.Popen([K, "stat", "-a", "-e", f"{ENTER},raw_syscalls:sys_enter,sched:sched_switch", "sleep", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        record("-g", "-e", ENTER, HITS, "4", "500", "100")
        hits = samples()
        right("beside another session", hits, 2000)
        whole("beside another session", hits)
        record("-g", "-e", ENTER, HITS, "2", "20000")
        right("beside another session, as fast as can be", samples(), 40000)
        record("-g", "-e", "raw_syscalls:sys_enter", HITS, "1", "1000", "200")
        whole("beside another session, a tracepoint", [x for x in samples() if "leaf" in x[2]])
    finally:
        other.terminate()
        other.wait()


def probes():
    r = run([K, "probe", "-q", "-f", "-x", HITS, "-a", "hitleaf=leaf code=%di:x64"])
    if r.code:
        skip("uprobes", r.err.strip())
        return
    try:
        record("-g", "-e", "probe_hits:hitleaf", HITS, "2", "500", "100")
        right("a probe", samples(), 1000)
        whole("a probe", samples())
    finally:
        run([K, "probe", "-q", "-d", "probe_hits:hitleaf"])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    r = record("-g", "-e", "cpu-clock", f"{WORK_PATH}/busy", "100")
    if r.code or "walked" not in r.err:
        skip("stacks of tracepoints", "not even a clock's are walked here: " + r.err.strip().split("\n")[0])
    else:
        calls()
        others()
        after_another()
        probes()
    os.chdir("/")
end()
