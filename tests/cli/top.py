#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo top: a busy function is on top, with its share; counts of tracepoints are right."""
import os
import re
import signal
import subprocess

import cgroup
from tap import KYMO, WORK, check, end, has, kymo, skip

spin = subprocess.Popen([f"{WORK}/spin", "400000000000"])
try:
    r = kymo(f"top --stdio --iterations 2 -d 1 -F 999 -p {spin.pid}", timeout=60)
    rows = re.findall(r"^ +[\d.]+%  .*$", r.out, re.M)
    check("a process: its only function has all", rows and re.search(r"(9\d|100)\.\d\d%  spin +\[\.\] spin$", rows[0]), r)
    has("the heading says what and whom", r.out, "samples/sec", f"(pid {spin.pid})")
    check("two refreshes", r.out.count("kymo top:") == 2, r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 -n -s comm,symbol -p {spin.pid}", timeout=60)
    check("-n and -s", re.search(r"% +\d+  spin +\[\.\] spin", r.out), r)
    r = kymo("top --iterations 1 -d 1 -F 999 -K", timeout=60)
    check("-K hides the kernel", "spin" in r.out and "[k]" not in r.out, r)
    r = kymo("top --iterations 1 -d 1 -e cpu-clock -c 2000000 -U -E 2", timeout=60)
    check("-U hides user space", "[.]" not in r.out, r)
    has("-c is in the heading", r.out, "[every 2000000 cpu-clock]")
    check("-E: so many rows at most", 1 <= len(re.findall(r"^ +[\d.]+%  ", r.out, re.M)) <= 2 or "nothing yet" in r.out, r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 -p {spin.pid} --fields sample,overhead,sym --symbols spin -f 2", timeout=60)
    check("--fields, --symbols, -f", re.search(r"^ +\d+ +(9\d|100)\.\d\d%  \[\.\] spin$", r.out, re.M), r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 -g -p {spin.pid}", timeout=60)
    check("and the graph is below: main, then spin", re.search(r"--main\n +spin$", r.out, re.M) or
          re.search(r"^ +\|? *main\n +\|? *spin$", r.out, re.M), r)
    check("-g: main counts what it called", re.search(r"9\d\.\d\d% +\d+\.\d\d%  spin +\[\.\] main", r.out) or
          re.search(r"100\.\d\d% +\d+\.\d\d%  spin", r.out), r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 -g --no-children --call-graph auto,flat,0.5,callee -p {spin.pid}", timeout=60)
    check("--no-children: one share; graphs as --call-graph says", re.search(r"^ +(9\d|100)\.\d\d%  spin +\[\.\] spin$", r.out, re.M) and
          re.search(r"^ +(9\d|100)\.\d\d%\n +spin\n +main$", r.out, re.M), r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 --call-graph fp,none -p {spin.pid}", timeout=60)
    check("--call-graph fp,none: no graphs", "main" in r.out and "--" not in r.out.split("(pid ")[1].split("\n", 2)[2], r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 --hierarchy -s comm,sym -p {spin.pid}", timeout=60)
    check("--hierarchy: a level below the other", re.search(r"^ +100\.00% +spin\n +(9\d|100)\.\d\d% +\[\.\] spin$", r.out, re.M), r)
    for events in ("--group -e cpu-clock,task-clock", "-e {cpu-clock,task-clock}"):
        r = kymo(f"top --iterations 1 -d 1 -F 999 {events} -p {spin.pid}", timeout=60)
        check(f"{events}: side by side", re.search(r"^ +(9\d|100)\.\d\d% +(9\d|100)\.\d\d%  spin +\[\.\] spin$", r.out, re.M), r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 --sym-annotate spin -p {spin.pid}", timeout=60)
    shares = [float(x) for x in re.findall(r"^ +([\d.]+) : +[0-9a-f]+: ", r.out, re.M)]
    check("--sym-annotate: its code, which has all samples", abs(sum(shares) - 100) < 1 and "<spin>" in r.out, r)
    r = kymo(f"top --iterations 1 -d 1 -F 999 --sym-annotate nosuch -p {spin.pid}", timeout=60)
    has("of another function it says that there are none", r.out, "no samples in a function called nosuch yet")
finally:
    spin.kill()
    spin.wait()

if os.path.exists("/sys/kernel/tracing/events/raw_syscalls"):
    p = subprocess.Popen(["sh", "-c", f"while :; do {WORK}/known getppid=20000; done"], start_new_session=True)
    try:
        r = kymo("top --iterations 1 -d 1 -e raw_syscalls:sys_enter -ns comm", timeout=60)
        check("who makes the most system calls", re.search(r"% +\d{5,}  known", r.out), r)
        has("the heading says that each is taken", r.out, "[each raw_syscalls:sys_enter]")
        r = kymo("top --iterations 1 -d 1 -e raw_syscalls:sys_enter -n -s id --comms known --percentage relative", timeout=60)
        nr = {"x86_64": 110, "aarch64": 173}.get(os.uname().machine)
        check("-s a field, --comms: nearly all are getppid()", re.search(rf"^ +(9\d|100)\.\d\d% +\d+  +{nr}\b", r.out, re.M), r)
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
else:
    skip("who makes the most system calls", "no tracepoints")

p = subprocess.Popen([KYMO, "top", "-d", "1", "-F", "99"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.readline()  # it shows something
p.send_signal(signal.SIGINT)
p.communicate(timeout=60)
check("Ctrl-C ends it well", p.returncode == 0, p.returncode)
try:
    group = cgroup.make("kymo-top")
except OSError as e:
    skip("-G: a cgroup", f"none can be made: {e}")
else:
    inside = subprocess.Popen(["sh", "-c", f"echo 0 > {group}/cgroup.procs; exec {WORK}/spin 400000000000"])
    outside = subprocess.Popen([f"{WORK}/hotcode", "1000000"])
    try:
        r = kymo(f"top --iterations 1 -d 1 -F 499 -n -s comm -G {os.path.basename(group)}", timeout=60)
        comms = re.findall(r"^ +[\d.]+% +\d+  (\S+)$", r.out, re.M)
        check("-G: what runs in the cgroup and nothing else", comms and set(comms) <= {"spin", "sh"} and "spin" in comms, r)
    finally:
        for p in inside, outside:
            p.kill()
            p.wait()
        os.rmdir(group)
for args, whom in [("-C 0", "(all, CPU 0)"), (f"-p {os.getpid()}", f"(pid {os.getpid()})"), ("-u 0", "(user 0)")]:
    r = kymo(f"top --iterations 1 -d 1 -F 99 -E 3 {args}", timeout=60)
    check(f"{args}: the heading says whose samples they are", whom in r.out, r)
for args, part in [("top foo", "takes no"), ("top -s bogus", "no sort key"), ("top -d 0", "at least one second"),
                   ("top -p 999999999", "there is no process"), ("top -e nosuch", "^"), ("top --call-graph x", "does not know"), ("top --percent-limit x", "no percentage"),
                   ("top --switch-on nosuch", "no such event"), ("top --percentage x", "relative or absolute"),
                   ("top -b", "not summed live"), ("top -j any", "record -j"), ("top -G no/such/group", "no/such/group"),
                   ("top -G / -p 1", "leave them out"), ("top --hierarchy --fields sym", "do not go together"),
                   ("top --call-graph fp,what", "what is 'what'"), ("top -s weight", "cannot sort by"), ("top --kallsyms /nosuch", "cannot open /nosuch")]:
    r = kymo(args, timeout=60)
    check(f"{args}: a clear error", r.code != 0 and part in r.err, r)
end()
