#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo stat against a workload that knows what must be counted, and its behaviour."""
import json
import os
import re
import signal
import subprocess
import tempfile

import cgroup
from shell import on_terminal
from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip
from watch import at_work

KNOWN = f"{WORK}/known"
TP = os.path.exists("/sys/kernel/tracing/events/syscalls/sys_enter_getppid") or \
    subprocess.run([KYMO, "list", "syscalls:sys_enter_getppid"], capture_output=True).stdout.strip() != b""


def counts(text):
    """value by event name of -x, output (value,unit,event,...)."""
    out = {}
    for line in text.splitlines():
        f = line.split(",")
        if len(f) >= 7 and not line.startswith("#"):
            out[f[2]] = f[0]
    return out


def stat(args, work="", event="syscalls:sys_enter_getppid", **kw):
    r = kymo(f"stat -x, -e {event} {args} -- {work}" if work else f"stat -x, -e {event} {args}", **kw)
    return r, counts(r.err)


# --- exactness -----------------------------------------------------------------------------------------------------
PP, UM = "syscalls:sys_enter_getppid", "syscalls:sys_enter_umask"
if not TP:
    skip("system calls", "this kernel has no syscalls tracepoints, or they cannot be read")
else:
    for name, work, want in [
        ("a single process", f"{KNOWN} getppid=1234", 1234),
        ("four threads", f"{KNOWN} getppid=100 threads=4", 400),
        ("three children", f"{KNOWN} getppid=100 children=3", 300),
        ("children with threads", f"{KNOWN} getppid=10 children=3 threads=4", 120),
        ("an exec in the middle", f"{KNOWN} getppid=77 exec", 154),
    ]:
        r, c = stat("", work)
        same(f"{name}: every system call is counted", c.get(PP), str(want))
    r, c = stat("--no-inherit", f"{KNOWN} getppid=50 children=3")
    same("--no-inherit leaves children out", c.get(PP), "0")
    r, c = stat("", f"{KNOWN} getppid=5 umask=7", event=f"{PP},{UM}")
    same("two events", (c.get(PP), c.get(UM)), ("5", "7"))
    r, c = stat("", f"{KNOWN} getppid=5 umask=7", event="{" + f"{PP},{UM}" + "}")
    same("a group of them", (c.get(PP), c.get(UM)), ("5", "7"))
    r, c = stat("", f"{KNOWN} umask=9", event=f"{UM} --filter 'mask == 18'")
    same("--filter: those that match", c.get(UM), "9")
    r, c = stat("", f"{KNOWN} umask=9", event=f"{UM} --filter 'mask == 1'")
    same("--filter: those that do not", c.get(UM), "0")
    for bad, why in (("(mask == 1", "Too many '('"), ("mask == 1)", "Too few '('"), ('common_pid == "1', "Missing matching quote"), ("$mask == 1", "filter")):
        r = kymo(["stat", "-e", UM, "--filter", bad, "true"])
        check(f"--filter {bad}: what is wrong, and no errno that the kernel did not mean", r.code == 1 and why in r.err and "hint: " in r.err and
              not any(x in r.err for x in ("permitted", "No such")), r)
    r = kymo(f"stat -e {UM} --filter 'msk == 1' true")
    check("--filter: a wrong field has a caret and the nearest name",
          r.code == 1 and "\n  msk == 1\n  ^" in r.err and "did you mean mask" in r.err, r)
    r, c = stat("-r 3", f"{KNOWN} getppid=21")
    same("-r: the mean", c.get(PP), "21")
    check("-r: a deviation of 0", ",0.00%," in r.err, r.err)

    r, c = stat("-a", f"{KNOWN} getppid=4000")
    check("-a counts at least the command's", int(c.get(PP, 0)) >= 4000, r)
    r = kymo(f"stat -x, -a -A -e {PP} -- {KNOWN} getppid=4000")
    rows = [x.split(",") for x in r.err.splitlines() if x.startswith("CPU")]
    same("-A: one row a CPU", len(rows), os.cpu_count())
    check("-A: rows add up", sum(int(x[1]) for x in rows) >= 4000, r)

    def beside(how, *work):
        """A running process that works once it is counted: the exit code, and what was counted."""
        target = subprocess.Popen([KNOWN, "line=1", *work], stdin=subprocess.PIPE)
        p = subprocess.Popen([KYMO, "stat", "-x,", "-e", PP, how, str(target.pid)], stderr=subprocess.PIPE)
        at_work(p)
        target.communicate(b"\n")
        return counts(p.communicate(timeout=60)[1].decode()).get(PP), p.returncode

    same("-p: the process and the threads it starts; ends when it does", beside("-p", "getppid=333", "threads=2"), ("666", 0))
    same("-t: the thread", beside("-t", "getppid=333"), ("333", 0))

    r = kymo(f"stat -x, -I 100 -e {PP} -- {KNOWN} wait=700 getppid=99")
    rows = [x.split(",") for x in r.err.splitlines()]
    check("-I: several intervals", len(rows) >= 3, r)
    same("-I: intervals add up", sum(int(x[1]) for x in rows if x[1].isdigit()), 99)
    r = kymo(f"stat -x, -I 100 --summary -e {PP} -- {KNOWN} wait=250 getppid=99")
    same("-I --summary: the sum", [x.split(",")[1] for x in r.err.splitlines() if "summary" in x], ["99"])

try:
    group = cgroup.make("kymo-test")
except OSError as err:
    skip("-G: a cgroup", f"no cgroup can be made: {err}")
else:
    inside = ["sh", "-c", f"echo $$ > {group}/cgroup.procs; exec {KNOWN} getppid=500 wait=300"]
    name = os.path.basename(group)
    r = kymo(["stat", "-x,", "-a", "-e", f"{PP},task-clock", "-G", name, *inside])
    c = [x.split(",") for x in r.err.splitlines()]
    same("-G: what ran in the cgroup, and its name in the fourth field", [(x[0], x[3]) for x in c if x[2] == PP], [("500", name)])
    r = kymo(["stat", "-x,", "-a", "-e", f"{PP},task-clock", "--for-each-cgroup", f"{name},/", *inside])
    c = [x.split(",") for x in r.err.splitlines()]
    same("--for-each-cgroup: all events for each", [(x[2], x[3]) for x in c],
         [(PP, name), ("task-clock", name), (PP, "/"), ("task-clock", "/")])
    check("--for-each-cgroup: the root has all CPUs' time", float(c[3][0]) > 270 * os.cpu_count(), r)
    os.rmdir(group)

base = int(stat("", f"{KNOWN}", event="page-faults")[1]["page-faults"])
for n in (100, 1000):
    r, c = stat("", f"{KNOWN} faults={n}", event="page-faults")
    diff = int(c["page-faults"]) - base
    # addresses are random: a page table more or less; tests/diff/stat.py compares one run exactly
    check(f"{n} page faults more", n - 8 <= diff <= n + 8, f"{diff} more than the {base} of an idle run")
r, c = stat("", f"{KNOWN} faults=500", event="minor-faults:u,minor-faults:k,minor-faults")
u, k, both = (int(c.get(x, -1)) for x in ("minor-faults:u", "minor-faults:k", "minor-faults"))
check(":u and :k add up", u + k == both, (u, k, both))
r, c = stat("", f"{KNOWN} switches=50", event="context-switches")
check("50 voluntary context switches at least", int(c["context-switches"]) >= 50, r)

# --- behaviour -----------------------------------------------------------------------------------------------------
same("the command's exit code", kymo("stat -e cs sh -c 'exit 3'").code, 3)
r = kymo("stat -e cs sh -c 'kill -9 $$'")
same("the command's signal", r.code, 137)
has("it is named", r.err, "kymo: sh was ended by a signal: Killed")
r = kymo("stat -e cs /no/such/command")
check("a command that is not there: 127", r.code == 127 and "No such file" in r.err and "hint:" in r.err, r)
r = kymo("stat -e cs /etc/passwd")
check("a command that cannot be run: 126", r.code == 126 and "Permission denied" in r.err, r)
r = kymo("stat true")
has("the default set", r.err, "Performance counter stats for 'true'", "task-clock", "context-switches", "page-faults",
    "CPUs utilized", "seconds time elapsed", "seconds user", "seconds sys")
check("stdout stays the command's", r.out == "", r)
rows = re.findall(r"^ +([\d.,]+|<not \w+>)(?: msec)? +([a-z-]+)\b", r.err, re.M)
check("all rows of the default set, as perf has them: what cannot be counted here says so",
      [x[1] for x in rows if not x[1].startswith(("stalled", "seconds"))] == ["task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles",
                                                                     "instructions", "branches", "branch-misses"], r)
if ("<not supported>", "cycles") in rows:
    check("and kymo says why; stalled cycles, which few CPUs count, have no row",
          re.search(r"^kymo: .*: cycles", r.err, re.M) and not re.search("not supported> +stalled", r.err), r)
many = ["stat", "-e", "syscalls:sys_enter_get*", "-e", "page-faults", f"{WORK}/known", "getppid=7", "getpid=9"]
if kymo(many).code == 0:
    piped = re.findall(r"^ +(\d+) +syscalls:sys_enter_(\w+)", kymo(many).err, re.M)
    shown, code = on_terminal([KYMO, *many], env={"NO_COLOR": "1"})
    got = re.findall(r"^ +(\d+) +syscalls:sys_enter_(\w+)", shown.replace("\r", ""), re.M)
    check("a pattern's events: in a pipe all of them, by name", [x[1] for x in piped] == sorted(x[1] for x in piped) and ("0", "getpriority") in piped, piped)
    check("on a terminal those that happened, the most first",
          code == 0 and got == sorted(got, key=lambda x: (-int(x[0]), x[1])) and ("7", "getppid") in got and not [x for x in got if x[0] == "0"], shown)
    has("and how many are not shown", shown, f"{len(piped) - len(got)} events that did not happen are not shown (--all shows them)")
    shown = on_terminal([KYMO, "stat", "--all", *many[1:]], env={"NO_COLOR": "1"})[0]
    check("--all: each", len(re.findall(r"syscalls:sys_enter_", shown)) == len(piped), shown)
else:
    skip("patterns on a terminal", "no tracepoints")
r = kymo("stat -n true")
check("-n counts nothing", "seconds time elapsed" in r.err and "task-clock" not in r.err, r)
r = kymo("stat -v -e faults true")
check("-v: the raw counts", re.search(r"^faults: \d+ \d+ \d+$", r.err, re.M), r)
r = kymo("stat -j -e cs,faults true")
rows = [json.loads(x) for x in r.err.splitlines() if x.startswith("{")]
same("-j: an object a line, perf's keys in perf's order", [list(x) for x in rows],
     [["counter-value", "unit", "event", "event-runtime", "pcnt-running", "metric-value", "metric-unit"]] * 2)
r = kymo("stat -e cs -r 3 --table true")
has("-r --table", r.err, "(3 runs)", "Table of individual measurements", "Final result", "+-")
r = kymo("stat -a --per-core -e cs sleep 0.05")
check("--per-core", r.err.count("S0-D0-C") >= 1, r)
r = kymo("stat -a --per-socket -x, -e cs sleep 0.05")
check("--per-socket: key, number of CPUs, count", any(x.startswith(f"S0,{os.cpu_count()},") for x in r.err.splitlines()) or
      "S0," in r.err, r)
r = kymo("stat -a --per-node -j -e cs sleep 0.05")
check("--per-node", '"node": "N0"' in r.err, r)
r = kymo(f"stat --per-thread -p {os.getpid()} -e task-clock sleep 0.1")
check("--per-thread", r.code == 0 and "seconds time elapsed" in r.err, r)
r = kymo("stat --timeout 200 -e cs sleep 10", timeout=20)
check("--timeout stops the command", r.code == 0 and "seconds time elapsed" in r.err, r)
r = kymo("stat -I 50 --interval-count 2 -x, -e cs -a", timeout=20)
same("--interval-count", len(r.err.splitlines()), 2)
r = kymo("stat -D 100 -e task-clock -x, sleep 0.2")
same("-D: counting starts later", r.code, 0)
r = kymo("stat --no-big-num -e task-clock,faults -a sleep 0.05")
check("--no-big-num", "," not in r.err.replace("'", ""), r)
r = kymo("stat -e duration_time,user_time,system_time -x, sleep 0.1")
c = counts(r.err)
check("duration_time", 90e6 < int(c["duration_time"]) < 5e9, r)
r = kymo("stat -e '{cs,faults}' -x, --all-user true")
same("--all-user", r.code, 0)
r = kymo(["stat", "-x", "\\t", "-e", "cs", "true"])
check("-x \\t", "\tcs\t" in r.err, r)
r = kymo("stat -e cs --pre 'echo before' --post 'echo after' true")
same("--pre and --post", r.out, "before\nafter\n")

with tempfile.TemporaryDirectory() as d:
    out = f"{d}/out"
    kymo(f"stat -o {out} -e cs true")
    kymo(f"stat -o {out} --append -e faults true")
    text = open(out).read()
    has("-o and --append", text, "# started on", " cs", " faults")
    fifo, ack = f"{d}/ctl", f"{d}/ack"
    os.mkfifo(fifo)
    os.mkfifo(ack)
    if TP:
        def told(word, *options):
            """What is counted of a command that begins when the word was acknowledged."""
            p = subprocess.Popen([KYMO, "stat", "-x,", *options, "--control", f"fifo:{fifo},{ack}", "-e", PP, "--", KNOWN,
                                  "line=1", "getppid=42"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            with open(fifo, "w") as f:
                f.write(word + "\n")
            with open(ack) as f:
                same(f"--control {word}: acknowledged", f.readline(), "ack\n")
            return counts(p.communicate(b"\n", timeout=60)[1].decode()).get(PP)

        same("--control enable", told("enable", "-D", "-1"), "42")
        check("--control disable", told("disable") in ("0", "<not counted>"))

p = subprocess.Popen([KYMO, "stat", "-e", "cs", "-a"], stderr=subprocess.PIPE)
at_work(p)
p.send_signal(signal.SIGINT)
text = p.communicate(timeout=60)[1].decode()
check("Ctrl-C prints what was counted", "seconds time elapsed" in text and p.returncode == 0, (p.returncode, text))
p = subprocess.Popen([KYMO, "stat", "-e", "cs", "sleep", "100"], stderr=subprocess.PIPE)
at_work(p)
p.send_signal(signal.SIGINT)
text = p.communicate(timeout=60)[1].decode()
check("Ctrl-C ends the command too", "seconds time elapsed" in text, (p.returncode, text))

# --- every counting one-liner --------------------------------------------------------------------------------------
me = os.getpid()
for line in ["stat true", "stat -a sleep 0.1", f"stat -dp {me} sleep 0.1",
             "stat -e LLC-loads,LLC-load-misses,LLC-stores,LLC-prefetches true",
             f"stat -e 'syscalls:sys_enter_*' -p {me} sleep 0.1", "stat -e 'block:*' -a sleep 0.1",
             "stat -e minor-faults:u -e minor-faults:k -- ls /", "stat -e minor-faults -a -A -- ls /",
             "stat -e r13c -a sleep 0.1", "stat -e 'kmem:*' -e cache-references -e cache-misses true",
             "stat -e 'skb:*' -e 'net:*' -e 'sched:*' -e 'irq:*' true"]:
    if ":" in line and not TP and "faults" not in line:
        skip(line, "no tracepoints")
        continue
    r = kymo(line, timeout=120)
    check(f"kymo {line.replace(str(me), 'PID')}", r.code == 0 and "seconds time elapsed" in r.err, r)

# --- an ordinary user ----------------------------------------------------------------------------------------------
if os.geteuid() != 0:
    skip("an ordinary user", "needs root to become one")
else:
    paranoid = open("/proc/sys/kernel/perf_event_paranoid").read().strip()
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":log_path=/dev/null"} if SAN else {}
    with open("/proc/sys/kernel/perf_event_paranoid", "w") as f:
        f.write("2")
    try:
        d = tempfile.mkdtemp()
        os.chmod(d, 0o755)
        exe = f"{d}/kymo"
        subprocess.run(["cp", KYMO, exe], check=True)
        r = run([*user, exe, "stat", "-x,", "-e", "page-faults", "true"], env=env)
        check("user: counts user space", r.code == 0 and "page-faults:u" in r.err, r)
        check("user: one line says so", r.err.count("kernel.perf_event_paranoid") == 1, r)
        r = run([*user, exe, "stat", "-a", "sleep", "0.1"], env=env)
        check("user: -a is refused with the fix", r.code == 1 and "hint:" in r.err and "paranoid" in r.err, r)
        r = run([*user, exe, "stat", "-e", "sched:sched_switch", "true"], env=env)
        check("user: tracepoints are refused with the fix", r.code != 0 and "hint:" in r.err, r)
        r = run([*user, exe, "stat", "-p", "1", "-e", "cs", "sleep", "0.1"], env=env)
        check("user: another's process is refused with the fix", r.code == 1 and "hint:" in r.err, r)
        subprocess.run(["rm", "-rf", d], check=True)
    finally:
        with open("/proc/sys/kernel/perf_event_paranoid", "w") as f:
            f.write(paranoid)

# --- bad input: one line, a hint, the right code, no crash -----------------------------------------------------------
gone = subprocess.Popen(["true"])
gone.wait()
for name, line, code, part in [
    ("unknown event", "stat -e cycels true", 129, "did you mean"),
    ("bad modifier", "stat -e cycles:x true", 129, "^"),
    ("bad PMU term", "stat -e cpu/bogus=1/ true", 129, "^"),
    ("dead process", f"stat -p {gone.pid} sleep 1", 1, "there is no process"),
    ("no such name", "stat -p no-such-name sleep 1", 1, "no process is called"),
    ("no such cgroup", "stat -a -G /no/such/cgroup -e cs sleep 0.1", 1, "no cgroup"),
    ("cgroup without -a", "stat -G / -e cs true", 1, "add -a"),
    ("no such user", "stat -u nobodyatall sleep 1", 1, "no user"),
    ("no such CPU", "stat -C 4000 sleep 1", 1, "not online"),
    ("bad CPU list", "stat -C 1-x sleep 1", 1, "no list of CPUs"),
    ("nothing to watch", "stat -e cs", 1, "nothing to watch"),
    ("-a and -p", f"stat -a -p {me} sleep 1", 1, "leave one"),
    ("-x and -j", "stat -x, -j true", 1, "cannot be used together"),
    ("-A without -a", "stat -A true", 1, "add -a"),
    ("--per-thread of a command", "stat --per-thread true", 1, "--per-thread needs"),
    ("-r without a command", "stat -r 3 -a", 1, "-r needs a command"),
    ("interval count alone", "stat --interval-count 3 true", 1, "needs -I"),
    ("filter without a tracepoint", "stat -e cs --filter 'x > 1' true", 129, "must follow a tracepoint"),
    ("unknown option", "stat --repaet 3 true", 129, "did you mean --repeat"),
    ("bad number", "stat -I often true", 129, "wants a number"),
    ("output folder missing", "stat -o /no/such/dir/x -e cs true", 1, "cannot write"),
    ("control without FIFO", "stat --control fifo:/no/such/fifo -e cs true", 1, "mkfifo"),
    ("control with nonsense", "stat --control bogus -e cs true", 1, "fifo:PATH"),
    ("metrics", "stat -M IPC true", 129, "-M"),
]:
    r = kymo(line, timeout=30)
    check(f"{name}: says what and how to mend it", r.code == code and part in r.err and r.err.startswith("kymo stat:"), r)
r = run(f"{KYMO} stat -e cs -o - true >/dev/full", shell=True)
check("a full disk is told", r.code == 1 and "No space left" in r.err, r)
r = run(f"{KYMO} list 2>&1 | head -1; exit ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash", timeout=30)
check("a closed pipe is no crash", r.code in (0, 141), r)
r = kymo("stat -x, -e duration_time,user_time,system_time sleep 0.3")
wall, user, system = (int(x.split(",")[0]) for x in r.err.splitlines()[:3])
check("user_time and system_time are the command's, not the wall clock's", 0 < user + system < wall, r)
end()
