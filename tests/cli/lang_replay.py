#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program gives the same over a recording as live, on a workload that does the same each time."""
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import KYMO, WORK, check, end, kymo, run, skip

if run("id -u").out.strip() != "0" or kymo(["run", "-q", "-e", "BEGIN { exit(); }"]).code:
    skip("recordings and live", "this user or kernel may not load BPF programs")
    end()

LOAD = ["/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=1000", "count=200", "status=none"]
ENTER, EXIT = "tracepoint:syscalls:sys_enter_write", "tracepoint:syscalls:sys_exit_write"
READ = "tracepoint:syscalls:sys_exit_read"
DD = 'comm == "dd" && args.count == 1000'
RET = 'comm == "dd" && args.ret == 1000'
PROGRAMS = [
    f"{ENTER} /{DD}/ {{ @ = count(); }}",
    f"{ENTER} /{DD}/ {{ @[comm] = count(); }}",
    f"{ENTER} /{DD}/ {{ @[args.fd, args.count] = count(); }}",
    f"{ENTER} /{DD}/ {{ @ = sum(args.count); }}",
    f"{EXIT} /{RET}/ {{ @ = hist(args.ret); }}",
    f"{EXIT} /{RET}/ {{ @ = lhist(args.ret, 0, 2000, 100); }}",
    f"{READ} /{RET}/ {{ @ = avg(args.ret); }}",
    f"{READ} /{RET}/ {{ @ = stats(args.ret); }}",
    f"{READ} /{RET}/ {{ @a = min(args.ret); @b = max(args.ret); }}",
    f"{READ}, {EXIT} /{RET}/ {{ @[probe] = count(); }}",
    f"{ENTER} /{DD}/ {{ @n++; }}",
    f"{ENTER} /{DD}/ {{ @s[tid] = args.count; }} {EXIT} /{RET} && @s[tid]/ {{ @d = sum(@s[tid]); delete(@s[tid]); }}",
    f'{ENTER} /{DD}/ {{ @n++; if (@n % 50 == 0) {{ printf("%d %s\\n", @n, comm); }} }}',
    f'{ENTER} /{DD} && @n < 7/ {{ @n++; if (@n == 7) {{ printf("seven\\n"); exit(); }} }}',
    f"{ENTER} /{DD}/ {{ @t = (args.fd, args.count); }}",
    f"{ENTER} /{DD}/ {{ @[(args.fd, comm)] = count(); }}",
    f"{ENTER} /{DD}/ {{ $i = 0; while ($i < 3) {{ $i++; @ = count(); }} }}",
    f"{ENTER} /{DD}/ {{ for ($i : 0..4) {{ @[$i] = count(); }} }}",
    f"{READ} /{RET}/ {{ @[args.ret > 500 ? \"large\" : \"small\"] = count(); }}",
    f"{ENTER} /strncmp(comm, \"dx\", 1) == 0 && args.count == 1000 && {DD}/ {{ @ = count(); }}",
    f"{READ} /{RET}/ {{ @x = count(); }} END {{ printf(\"%d\\n\", @x); clear(@x); }}",
    f"{ENTER} /{DD}/ {{ @ = count(); if (@ == 100) {{ printf(\"hundred\\n\"); }} }}",
]

with tempfile.TemporaryDirectory() as d:
    data = os.path.join(d, "perf.data")
    names = ",".join(f"syscalls:{x}" for x in ("sys_enter_write", "sys_exit_write", "sys_exit_read"))
    r = kymo(["record", "-q", "-o", data, "-e", names, "--", *LOAD])
    if not check("the workload is recorded", r.code == 0, r):
        end()
    for p in PROGRAMS:
        live = kymo(["run", "-q", "-c", " ".join(LOAD), "-e", p])
        again = kymo(["run", "-q", "-i", data, "-e", p])
        # where the line of printf stands between maps is the same; numbers of threads are not
        check(p, live.out == again.out and re.search(r"@|\d|\w", live.out), f"live: {live}\nrecording: {again}")
    # one run, and other questions about the same events later
    kept = os.path.join(d, "kept.data")
    live = kymo(["run", "-q", "--record", kept, "-c", " ".join(LOAD), "-e", PROGRAMS[1] + " " + PROGRAMS[10]])
    again = kymo(["run", "-q", "-i", kept, "-e", PROGRAMS[1] + " " + PROGRAMS[10]])
    check("--record keeps what the program saw", "@[dd]: 200" in live.out and live.out == again.out, f"{live}\n{again}")
    other = kymo(["run", "-q", "-i", kept, "-e", PROGRAMS[3]])
    check("which answers other questions", "@: 200000" in other.out, other)
    # of the kind that the kernel asks whether perf events may have the hit; the recorder leaves out its own
    program = "tracepoint:sched:sched_switch { @[args->next_comm] = count(); @all = count(); }"
    live = kymo(["run", "-q", "--record", kept, "-c", f"sh -c '{' '.join(LOAD)}; sleep 0.1'", "-e", program])
    again = kymo(["run", "-q", "-i", kept, "-e", "tracepoint:sched:sched_switch { @all = count(); }"])
    seen = [int((re.search(r"@all: (\d+)", r.out) or [0, 0])[1]) for r in (live, again)]
    check("nor does the program hide its events from the recording", 2 * seen[1] > seen[0] > 0, f"{live}\n{again}")
    r = kymo(["run", "--record", kept, "-e", "BEGIN { exit(); }"])
    check("a program without events has nothing to record", r.code == 1 and "could be recorded" in r.err, r)
    r = kymo(["run", "--record", kept, "-e", "rawtracepoint:sched_switch { exit(); }"])
    check("nor have probes that are no events", r.code == 1 and "cannot be recorded" in r.err, r)
    r = kymo(["run", "--record", kept, "-i", kept, "-e", PROGRAMS[0]])
    check("a recording is not recorded again", r.code == 1, r)
    text = "tracepoint:syscalls:sys_enter_read { @ = count(); }"
    r = kymo(["run", "-i", data, "-e", text])
    check("what was not recorded is told", r.code == 1 and "nothing matches" in r.err and "sys_exit_read" in r.err, r)
    r = kymo(["run", "-i", data, "-e", "kprobe:vfs_read { @ = count(); }"])
    check("probes a recording cannot have", r.code == 1 and "a recording has no probes of this kind" in r.err, r)

    # Stacks and names are those that report shows: of copied stacks, of archives whose program is gone, and from before an exec.
    program = os.path.join(d, "prog")
    shutil.copy(f"{WORK}/stacks", program)  # see tests/work/stacks.c
    home = {"HOME": d, "XDG_CACHE_HOME": os.path.join(d, "cache")}
    kinds = {"walked": ["-g"], "copied": ["--call-graph", "dwarf,8192"]}
    for kind, opts in kinds.items():
        recorder = [KYMO, "record", "-q", "-o", f"{d}/{kind}", *opts, "-e", "task-clock:u", "-F", "999", program, "recurse", "60", "3"]
        if kind == "copied":  # kymo unwinds while it records; perf keeps the copies
            recorder[0] = shutil.which("perf")
        if not recorder[0]:
            skip("copied stacks", "there is no perf")
            continue
        r = run(recorder, env=home)
        packed = kymo(["archive", "-i", f"{d}/{kind}", "-o", f"{d}/{kind}.tar"], env=home)
        check(f"recorded and packed: {kind}", r.code == 0 and packed.code == 0, f"{r}\n{packed}")
    copied = kymo(["record", "-q", "-o", f"{d}/exec", "-g", "-e", "syscalls:sys_enter_execve", "-e", "task-clock:u", "-F", "999", "sh", "-c", f"exec {program} recurse 30 2"], env=home)
    os.rename(program, program + ".gone")
    shutil.rmtree(f"{d}/cache", ignore_errors=True)
    shutil.rmtree(f"{d}/.debug", ignore_errors=True)
    for kind in [k for k in kinds if os.path.exists(f"{d}/{k}.tar")]:
        text = kymo(["report", "-i", f"{d}/{kind}.tar", "--stdio", "--no-children", "--no-inline", "-s", "sym", "-g", "folded,0,callee,function,count"], env=home).out
        folded = {m[2]: int(m[1]) for m in re.finditer(r"(?m)^(\d+) (burn;\S+)$", text)}
        got = kymo(["run", "-q", "-i", f"{d}/{kind}.tar", "-e", "software:task-clock:1 { @[ustack(perf)] = count(); }"], env=home)
        mine = {}
        for stack, n in re.findall(r"(?ms)^@\[\n(.*?)^\]: (\d+)$", got.out):
            names = [re.sub(r"\+\d+$", "", line.split()[1]) for line in stack.strip().split("\n") if line]
            if names[:1] == ["burn"]:
                mine[";".join(names)] = mine.get(";".join(names), 0) + int(n)
        check(f"stacks of an archive are those of report: {kind}", mine and {k.split("@")[0]: v for k, v in mine.items()} ==
              {k.split("@")[0]: v for k, v in folded.items()}, f"{folded}\n{mine}\n{got}\n{text[:2000]}")
    os.rename(program + ".gone", program)
    got = kymo(["run", "-q", "-i", f"{d}/exec", "-e", "tracepoint:syscalls:sys_enter_execve /comm == \"sh\"/ { @[ustack] = count(); }"], env=home)
    check("a stack from before an exec has the names of then", "execve+" in got.out, f"{copied}\n{got}")
end()
