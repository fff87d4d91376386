#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo record: every hit of a known workload is there, shares are right, and options do what they say."""
import collections
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip
from watch import until, waits

DIR = tempfile.mkdtemp(prefix="kymo-record-")
os.environ["XDG_CACHE_HOME"] = DIR + "/cache"
SHARES, SPIN = f"{WORK}/shares", f"{WORK}/spin"
# under a name of its own: others may run the same program while -a records
NAME = f"kn{os.getpid()}"
KNOWN = shutil.copy(f"{WORK}/known", f"{DIR}/{NAME}")
PP, UM = "syscalls:sys_enter_getppid", "syscalls:sys_enter_umask"
TRACEFS = "/sys/kernel/tracing"
ROOT = os.geteuid() == 0


def path(name="r.data"):
    return f"{DIR}/{name}"


def record(args, out="r.data", **kw):
    """kymo record -o FILE; args may be a list."""
    words = args if isinstance(args, list) else None
    if words is None:
        return kymo(f"record -o {path(out)} {args}", **kw)
    return kymo(["record", "-o", path(out), *words], **kw)


def script(out="r.data", fields="comm,pid,tid,time,event", **kw):
    return kymo(f"script -i {path(out)} -F {fields}", **kw)


def counts(out="r.data"):
    """Samples by event."""
    found = collections.Counter()
    for line in script(out, "event").out.splitlines():
        found[line.strip().rstrip(":")] += 1
    return found


def pending(pid):
    """Whether a signal waits for a process."""
    with open(f"/proc/{pid}/status") as f:
        return any(int(x.split()[1], 16) for x in f if x.startswith(("SigPnd", "ShdPnd")))


class Background:
    """A recording that runs; ready() is true when it has begun, for it answers then."""

    def __init__(self, args, out="r.data"):
        if os.path.exists(path(out)):
            os.unlink(path(out))
        ctl_read, self.ctl = os.pipe()
        self.ack, ack_write = os.pipe()
        os.set_blocking(self.ack, False)
        self.log = open(path("log"), "w+b")
        self.out = path(out)
        self.p = subprocess.Popen([KYMO, "record", "-o", path(out), "--control", f"fd:{ctl_read},{ack_write}", *args],
                                  stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, pass_fds=(ctl_read, ack_write))
        os.close(ctl_read)
        os.close(ack_write)

    def tell(self, word, seconds=60):
        os.write(self.ctl, word.encode() + b"\n")
        got = b""

        def answered():
            nonlocal got
            try:
                got += os.read(self.ack, 100)
            except BlockingIOError:
                pass
            return b"ack" in got or self.p.poll() is not None
        return until(answered, seconds) and b"ack" in got

    def ready(self):
        return self.tell("ping")

    def text(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def wait(self, seconds=60):
        try:
            code = self.p.wait(seconds)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
            code = "time-out"
        os.close(self.ctl)
        os.close(self.ack)
        return code, self.text()

    def stop(self, sig=signal.SIGINT, seconds=60):
        self.p.send_signal(sig)
        return self.wait(seconds)


def of(comm, out="r.data"):
    """How many samples have this name."""
    return sum(x.split()[0] == comm for x in script(out).out.splitlines())


def files(prefix):
    return sorted(f for f in os.listdir(DIR) if f.startswith(prefix))


# --- truth ---------------------------------------------------------------------------------------------------------
for name, args, work, want in [
    ("a single process", f"-e {PP}", "getppid=1234", 1234),
    ("four threads", f"-e {PP}", "getppid=100 threads=4", 400),
    ("three children", f"-e {PP}", "getppid=100 children=3", 300),
    ("children with threads", f"-e {PP}", "getppid=10 children=3 threads=4", 120),
    ("an exec in the middle", f"-e {PP}", "getppid=77 exec", 154),
    ("many: no ring runs full", f"-e {PP}", "getppid=100000", 100000),
    ("a period of ten", f"-e {PP} -c 10", "getppid=1000", 100),
    ("--no-inherit", f"-e {PP} --no-inherit", "getppid=50 children=3", 0),
    ("--no-inherit keeps the parent", f"-e {PP} --no-inherit", "getppid=50", 50),
    ("--per-thread", f"-e {PP} --per-thread", "getppid=50", 50),
    ("--filter that matches", f"-e {UM} --filter 'mask == 18'", "umask=9", 9),
    ("--filter that does not", f"-e {UM} --filter 'mask == 1'", "umask=9", 0),
    ("-z", f"-e {PP} -z", "getppid=5000", 5000),
    ("with call chains", f"-e {PP} -g", "getppid=2000", 2000),
    ("small rings", f"-e {PP} -m 8", "getppid=300", 300),
    ("rings emptied by three threads", f"-e {PP} --threads=3", "getppid=20000 threads=4", 80000),
    ("small ones too", f"-e {PP} --threads=2 -m 8", "getppid=300", 300),
]:
    r = record(f"{args} -- {KNOWN} {work}")
    event = UM if UM in args else PP
    same(f"{name}: every hit is recorded", (r.code, counts()[event]), (0, want))
r = record(f"-e {PP},{UM} -- {KNOWN} getppid=5 umask=7")
same("two events", (counts()[PP], counts()[UM]), (5, 7))
r = record(f"-a -e {PP} -- {KNOWN} getppid=3000")
mine = [x for x in script().out.splitlines() if x.split()[0] == NAME]
same("-a: the command's hits are all there", len(mine), 3000)
r = record(f"-C 0 -e {PP} -- taskset -c 0 {KNOWN} getppid=300")
same("-C: what ran on that CPU", sum(x.split()[0] == NAME for x in script().out.splitlines()), 300)



def beside(target, how, *more):
    """A running process that goes on with a line on its standard input: how its recording ends, and what it has."""
    p = subprocess.Popen(target, stdin=subprocess.PIPE)
    q = Background(["-e", PP, how, str(p.pid), *more])
    q.ready()
    p.communicate(b"\n")
    return q.wait()[0], counts()[PP]


same("-p: the process and the threads it starts; ends with it", beside([KNOWN, "line=1", "getppid=333", "threads=2"], "-p"), (0, 666))
same("-t: the thread; ends with it, not with the command", beside([KNOWN, "line=1", "getppid=333"], "-t", "--", "sleep", "1000"), (0, 333))
same("-p: children that outlive the process are recorded to their end",
     beside(["sh", "-c", f"read line; {KNOWN} wait=100 getppid=44 & exit 0"], "-p"), (0, 44))

r = record(f"-e {PP} -e {UM} --switch-events -- {KNOWN} getppid=3 umask=3")
same("--switch-events is no sample", (counts()[PP], counts()[UM]), (3, 3))

# --- shares --------------------------------------------------------------------------------------------------------
TURNS = 1000000000
for name, args in [("shares by time", "-F 2000 -e cpu-clock:u"), ("shares with call chains", "-F 2000 -g -e cpu-clock:u"),
                   ("shares by frame pointers", "-F 2000 --call-graph fp -e cpu-clock:u")][::2 if SAN else 1]:
    r = record(f"{args} -- {SHARES} {TURNS}")
    # the innermost function: the first line of a chain, or the only one
    got = collections.Counter(re.findall(r"cpu-clock:u:\s+[0-9a-f]+ (\w+)", script(fields="event,ip,sym").out))
    total = sum(got[x] for x in ("fifty", "thirty", "fifteen", "five"))
    # a share of p among n samples has a standard deviation of sqrt(p (1 - p) / n); 5 of them are allowed
    bad = {x: got[x] / max(total, 1) for x, p in (("fifty", .5), ("thirty", .3), ("fifteen", .15), ("five", .05))
           if abs(got[x] / max(total, 1) - p) > 5 * (p * (1 - p) / max(total, 1)) ** 0.5}
    check(f"{name}: 50, 30, 15 and 5%", total > 200 and not bad, f"{total} samples, {bad}, {got}")
for mode in ("fp", "dwarf", "auto"):
    record(f"-F 2000 --call-graph {mode} -e cpu-clock:u -- {SHARES} {TURNS // 4}")
    stacks = [re.findall(r"^\s+[0-9a-f]+ (\w+)", s, re.M) for s in script(fields="comm,ip,sym").out.split("\n\n")]
    chains = [s for s in stacks if "five" in s[:1]]
    whole = [s for s in chains if s[:4] == ["five", "fifteen", "outer", "main"]]
    if mode == "dwarf" and not whole:
        skip("--call-graph dwarf: callers", "stack copies are unwound by another part")
        continue
    check(f"--call-graph {mode}: callers as they are", len(whole) >= 0.9 * len(chains) > 0, (len(chains), chains[:3]))
INLINED = os.path.abspath(f"{WORK}/inlined")
for mode, shown in (("fp", False), ("auto", True)):
    r = kymo(f"record -F 999 --call-graph {mode} -o {DIR}/inl.data -- {INLINED}")
    if shown and "reached the bottom" not in r.err:
        skip("inlined functions in whole stacks", "no stack walker here")
        continue
    out = kymo(f"report --stdio -i {DIR}/inl.data").out
    same(f"--call-graph {mode}: report shows what was inlined", "inner_inlined (inlined)" in out, shown)
    if shown:
        check("--no-inline hides it", "(inlined)" not in kymo(f"report --stdio --no-inline -i {DIR}/inl.data").out, out)
        with open(os.path.join(os.path.dirname(__file__), "../work/inlined.c")) as f:
            loops = [f"inlined.c:{i}" for i, line in enumerate(f, 1) if "x * 6364136223846793005u" in line or "i < 20000" in line]
        out = kymo(f"report --stdio --no-children -g none -s srcline --percent-limit 10 -i {DIR}/inl.data").out
        rows = [x.split()[1] for x in out.splitlines() if x.strip() and not x.startswith("#")]
        check("source lines are those of the code, not of where it was inlined", rows and set(rows) <= set(loops), (rows, loops))
        kymo(f"inject -b -i {DIR}/inl.data -o {DIR}/inl3.data")
        has("a copy of the recording has it, too", kymo(f"report --stdio -i {DIR}/inl3.data").out, "inner_inlined (inlined)")

# --- periods -------------------------------------------------------------------------------------------------------
for args, hz, field in [("-F 5000", 5000, False), ("-F 999 -g", 999, False), ("-F 5000 -P", 5000, True)]:
    record(f"-q {args} -e cpu-clock -- {SPIN} 200000000")
    about, each = kymo(f"evlist -v -i {path()}").out, set(script(fields="period").out.split())
    same(f"{args}: a sample of a clock counts for the time between two", each, {str(10**9 // hz)})
    same(f"{args}: its period is in every sample only with -P", ("PERIOD" in about, "freq: 1" in about), (field, field))
record(f"-q -F 5000 -e cpu-clock,page-faults -- {SPIN} 200000000")
about = kymo(f"evlist -v -i {path()}").out.splitlines()
same("of what is no clock it is in each", ["PERIOD" in x for x in about[:2]], [False, True])
r = record("-e cpu-clock/freq=100000000/ true", "fast.data")
check("a frequency above what the kernel grants is refused", r.code == 1 and "does not accept" in r.err, r)

# --- nothing to see ------------------------------------------------------------------------------------------------
idle = subprocess.Popen(["sleep", "60"])
until(lambda: waits(idle.pid))
r = record(f"-g -p {idle.pid} -- sleep 0.2")
check("a process that waits all the time: why there is nothing, and what shows more", "(0 samples)" in r.err and "--off-cpu" in r.err, r)
check("-q says nothing", "--off-cpu" not in record(f"-q -g -p {idle.pid} -- sleep 0.2").err)
for option in ("-B", "-n"):
    check(f"nor is it said with {option}, which counts none", "--off-cpu" not in record(f"{option} -p {idle.pid} -- sleep 0.2").err)
check("nor is it said where others than clocks were asked for", "--off-cpu" not in record(f"-e {PP} -p {idle.pid} -- sleep 0.2").err)
idle.kill()
idle.wait()

# --- own work ------------------------------------------------------------------------------------------------------
def own_samples(args, seconds=0.4):
    q = Background(args, "own.data")
    q.ready()
    subprocess.run([KNOWN, "getppid=100", f"wait={int(seconds * 1000)}"])
    pid = q.p.pid
    q.stop()
    return sum(x.split()[1].split("/")[0] == str(pid) for x in script("own.data", "comm,pid,tid,event").out.splitlines() if len(x.split()) > 1)


if ROOT:
    same("-a: kymo itself is not in the profile", own_samples(["-a", "-F", "9999", "-g"]), 0)
    if not SAN:
        same("nor without stacks", own_samples(["-a", "-F", "9999"]), 0)
        same("nor in system calls", own_samples(["-a", "-e", "raw_syscalls:sys_enter"]), 0)
    check("unless asked for", own_samples(["-a", "--no-exclude-perf", "-e", "raw_syscalls:sys_enter"]) > 0)

# --- files ---------------------------------------------------------------------------------------------------------
record(f"-e {PP} -- {KNOWN} getppid=3")
record(f"-e {PP} -- {KNOWN} getppid=4")
same("the file before stays as .old", (counts()[PP], counts("r.data.old")[PP]), (4, 3))
same("nobody else may read it", os.stat(path()).st_mode & 0o777, 0o600)

for name, args in [("by size", "--switch-output=100K"), ("by size, compressed", "--switch-output=10K -z")]:
    r = record(["-e", PP, *args.split(), "--", "sh", "-c", f"for i in 1 2 3 4 5 6; do {KNOWN} getppid=3000 wait=300; done"], "s.data")
    parts = files("s.data.")
    check(f"--switch-output {name}: several files, nothing twice or missing",
          len(parts) > 2 and sum(of(NAME, f) for f in parts) == 18000 and not os.path.exists(path("s.data")),
          (parts, [counts(f)[PP] for f in parts], r))
    comms = {x.split()[0] for f in parts for x in script(f).out.splitlines()}
    check(f"--switch-output {name}: each knows its tasks", NAME in comms and comms <= {NAME, "sh"}, comms)
    for f in files("s.data"):
        os.unlink(path(f))
p = subprocess.Popen([SPIN, "100000000000"])
r = record(f"-F 500 -p {p.pid} --switch-output=200ms --switch-max-files 2 -- sleep 1.5", "s.data")
p.kill()
p.wait()
parts = files("s.data.")
same("--switch-max-files: the two newest", len(parts), 2)
syms = [x for x in (script(f, "ip,sym").out for f in parts) if x]  # the last one may end at once, with nothing in it
check("--switch-output by time: late files name functions by themselves", syms and all("spin" in x for x in syms), [x[:200] for x in syms])

q = Background(["-e", PP, "-a", "--switch-output"], "u.data")
check("a recording begins", q.ready(), q.text())
for n, i in enumerate((11, 22, 33)):
    run(f"{KNOWN} getppid={i}")
    q.p.send_signal(signal.SIGUSR2)
    until(lambda: len(files("u.data.")) > n)
    q.ready()
q.stop()
same("SIGUSR2: a file each time", [of(NAME, f) for f in files("u.data.")], [11, 22, 33, 0])
q = Background(["-e", PP, "-a", "--switch-output-event", UM], "v.data")
check("a recording begins", q.ready(), q.text())
run(f"{KNOWN} getppid=11")
run(f"{KNOWN} umask=1")
until(lambda: files("v.data."))
q.ready()
run(f"{KNOWN} getppid=12")
q.stop()
got = [of(NAME, f) for f in files("v.data.")]  # others may cause it as well
same("--switch-output-event: a file when it happens", (len(got) > 1, [x for x in got if x]), (True, [11, 12]))

# of ours only: whatever else the machine does would push it out of the rings
q = Background(["-e", PP, "--filter", f'COMM == "{NAME}"', "-a", "--overwrite", "-m", "16"], "o.data")
check("a flight recorder begins", q.ready(), q.text())
run(f"{KNOWN} getppid=5000")
run(f"{KNOWN} getppid=20")
q.p.send_signal(signal.SIGUSR2)
until(lambda: files("o.data."))
q.ready()
run(f"{KNOWN} getppid=7")
q.stop()
dumps = files("o.data.")
first = [x.split() for x in script(dumps[0]).out.splitlines()] if dumps else []
second = [x.split() for x in script("o.data").out.splitlines()]
check("--overwrite: the newest are kept, older ones are gone", 20 <= len(first) < 5020, len(first))
same("and the next snapshot has only what came after", sum(x[0] == NAME for x in second), 7)
check("tasks of both are known", {x[0] for x in first} | {x[0] for x in second} >= {NAME} and
      not any(x[0].startswith(":") for x in first + second), (first[:2], second[:2]))

r = record(f"-e {PP} --max-size 100K -- {KNOWN} wait=300 getppid=20000 wait=300 exec")
check("--max-size stops", os.path.getsize(path()) < 4 << 20 and "--max-size" in r.err, (os.path.getsize(path()), r))
r = record(f"--timestamp-filename -e {PP} -- {KNOWN} getppid=2", "t.data")
same("--timestamp-filename", len([f for f in os.listdir(DIR) if f.startswith("t.data.")]), 1)
record(f"-e {PP} -g -z -- {KNOWN} getppid=20000", "z.data")
record(f"-e {PP} -g -- {KNOWN} getppid=20000", "n.data")
check("-z: smaller", os.path.getsize(path("z.data")) < os.path.getsize(path("n.data")),
      (os.path.getsize(path("z.data")), os.path.getsize(path("n.data"))))

# --- a pipe --------------------------------------------------------------------------------------------------------
for args in ("", "-z", "-g"):
    r = run(f"{KYMO} record -q -o - {args} -e {PP} -- {KNOWN} getppid=1500 | {KYMO} script -i - -F comm,event", shell=True)
    lines = r.out.splitlines()
    same(f"-o - {args}: through a pipe", len([x for x in lines if PP in x]), 1500)
    check(f"-o - {args}: with names", all(NAME in x for x in lines if PP in x), lines[:3])
r = run(f"{KYMO} record -q -o - -F 2000 -- {SPIN} 200000000 | {KYMO} script -i - -F ip,sym", shell=True)
check("-o -: functions", "spin" in r.out, r.out[:300])
r = run(f"{KYMO} record -q -o - -e {PP} -- sh -c 'echo what the command prints; exec {KNOWN} getppid=9' | {KYMO} script -i - -F event", shell=True)
check("-o -: what the command prints goes elsewhere", r.out.count(PP) >= 9 and r.err.strip() == "what the command prints", r)
r = run(f"{KYMO} record -o - -e {PP} -- {KNOWN} getppid=100000 | head -c 100 >/dev/null", shell=True)
check("a reader that goes away: one clear line, no signal", "Broken pipe" in r.err and r.err.count("\n") <= 4, r)

# --- when ----------------------------------------------------------------------------------------------------------
r = record(f"-e {PP} -D 10000 -- {KNOWN} getppid=50")
same("-D: not before", counts()[PP], 0)
r = record(f"-e {PP} -D 100 -- {KNOWN} wait=1500 getppid=50")
same("-D: but afterwards", counts()[PP], 50)
r = record(f"-e {PP} -D 100-400,60000-70000 -- {KNOWN} wait=1500 getppid=50")
same("-D with ranges: not between them", counts()[PP], 0)
same("and tasks are known all the same", kymo(f"script -i {path()} --show-task-events").out.count("PERF_RECORD_COMM exec") > 0 or
     NAME in kymo(f"script -i {path()} -D").out, True)

q = Background(["-e", PP, "-a", "-D", "-1"], "c.data")
check("--control: begins", q.ready(), q.text())
run(f"{KNOWN} getppid=5")
check("enable is acknowledged", q.tell("enable"))
run(f"{KNOWN} getppid=6")
check("disable", q.tell("disable"))
run(f"{KNOWN} getppid=7")
check("an event by name", q.tell(f"enable {PP}"))
run(f"{KNOWN} getppid=8")
check("evlist", q.tell("evlist"))
check("stop", q.tell("stop"))
code, text = q.wait()
has("evlist names the events", text, PP)
same("exactly what was between the words", (code, of(NAME, "c.data")), (0, 14))
os.mkfifo(path("ctl"))
fifo = os.open(path("ctl"), os.O_RDWR)
q = subprocess.Popen([KYMO, "record", "-q", "-a", "-e", PP, "-o", path("c.data"), "--control", f"fifo:{path('ctl')}"])
os.write(fifo, b"stop\n")
same("a FIFO", q.wait(60), 0)
os.close(fifo)

# --- its end -------------------------------------------------------------------------------------------------------
for sig in (signal.SIGINT, signal.SIGTERM):
    q = Background(["-e", PP, "-a"], "e.data")
    check(f"{sig.name}: begins", q.ready(), q.text())
    run(f"{KNOWN} getppid=21")
    code, err = q.stop(sig)
    check(f"{sig.name} leaves a good file", code == 0 and "Captured" in err and of(NAME, "e.data") == 21, (code, err))
q = Background(["-e", PP, "--", "sh", "-c", f"trap '' TERM; {KNOWN} getppid=12; touch {path('done')}; exec sleep 60"], "e.data")
check("a command that will not end: begins", until(lambda: os.path.exists(path("done")), 30), q.text())
q.p.send_signal(signal.SIGINT)
time.sleep(0.1)
until(lambda: q.p.poll() is not None or (not pending(q.p.pid) and waits(q.p.pid)), 60)
kids = open(f"/proc/{q.p.pid}/task/{q.p.pid}/children").read().split()
code, err = q.stop(signal.SIGINT, 20)
check("a second signal does not wait for it", code != "time-out" and of(NAME, "e.data") == 12, (code, err))
for pid in kids:
    os.kill(int(pid), signal.SIGKILL)
same("the command's exit code", record("-e cs -- sh -c 'exit 3'").code, 3)
r = record("-e cs -- sh -c 'kill -9 $$'")
same("the command's signal", r.code, 137)
has("it is named", r.err, "kymo: sh was ended by a signal: Killed")
check("not where nobody was killed", "a signal" not in record("-e cs -- sh -c 'exit 137'").err)

p = subprocess.Popen([KNOWN, "wait=1000", "getppid=1"])
q = Background(["-e", PP, "-a", "--", "sleep", "3"], "e.data")
r = subprocess.Popen([KYMO, "record", "-q", "-o", path("h.data"), "-e", PP, "-p", f"{p.pid},{os.getpid()}", "--", "sleep", "3"])
p.wait()
os.close(q.ctl)  # the one who gives the words goes away
q.ctl = os.dup(0)
used = [os.wait4(x.pid, 0)[2] for x in (q.p, r)]
q.p.returncode = r.returncode = 0
check("neither a process that ends nor one who hangs up makes it spin",
      all(u.ru_utime + u.ru_stime < (4 if SAN else 1) for u in used), used)

# --- programs that vanish ------------------------------------------------------------------------------------------
gone = shutil.copy(SPIN, path("gone"))
p = subprocess.Popen([gone, "100000000000"])
q = Background(["-F", "999", "-p", str(p.pid)], "gone.data")
check("a recording begins", q.ready(), q.text())
os.unlink(gone)
time.sleep(0.3)
q.stop()
p.kill()
p.wait()
check("a program that was deleted meanwhile has its names", " spin" in script("gone.data", "ip,sym").out, script("gone.data", "ip,sym").out[:200])
has("for it is kept", kymo("buildid-cache -l").out, path("gone"))
os.unlink(path("gone.data"))
kymo("buildid-cache -P", env={"HOME": DIR})
has("-P forgets what was made of files, too", kymo("buildid-cache -lv", env={"HOME": DIR}).out, "own folder: 0 B")
for how in ("-g", "--call-graph dwarf,32768"):
    gone, other = shutil.copy(f"{WORK}/stacks", path("gone")), shutil.copy("/bin/true", path("other"))
    record(f"-F 999 {how} -- sh -c '{gone} recurse 400 5 | {{ read line; mv {other} {gone}; cat; }}'")
    text = script(fields="comm,ip,sym").out
    chains = [c for c in text.split("\n\n") if c.startswith("gone") and " spin" in c]
    good = [c for c in chains if c.count(" recurse") == 6 and " main" in c and "_start" in c]
    check(f"{how}: a program whose file was replaced is walked and named as what it was",
          len(chains) > 5 and len(good) >= 0.9 * len(chains), text[:1500])
kymo("buildid-cache -P", env={"HOME": DIR})
gone = shutil.copy(SPIN, path("gone"))
record(f"-N -F 999 -- {gone} 100000000")
os.unlink(gone)
check("-N: not then", "gone" not in kymo("buildid-cache -l", env={"HOME": DIR}).out and " spin" not in script(fields="ip,sym", env={"HOME": DIR}).out)

# --- survival ------------------------------------------------------------------------------------------------------
random.seed(7)
bad, seen = [], 0
load = subprocess.Popen(["sh", "-c", f"while :; do {KNOWN} getppid=200; done"], stdout=subprocess.DEVNULL)
KILLS = 6 if SAN else 20  # whoever is killed tells no sanitizer
for i in range(KILLS):
    args = [["-a", "-F", "5000", "-g"], ["-a", "-e", PP], ["-a", "-z", "-e", PP], ["-a", "-F", "3000", "--call-graph", "fp", "-e", "cpu-clock"],
            ["-a", "-e", f"{PP},sched:sched_switch", "--switch-output=100K"], ["-a", "-e", PP, "--threads=2"]][i % 6]
    q = Background(args, "k.data")
    until(lambda: os.path.exists(path("k.data")))
    if i >= KILLS // 4:  # the first ones may hit its beginning
        q.ready()
    time.sleep(random.uniform(0, 0.5))
    q.p.kill()
    q.wait()
    if not os.path.exists(path("k.data")):
        continue  # between two files, or before the first
    r = kymo(f"script -i {path('k.data')} -F comm,event")
    if r.code != 0:
        bad.append((args, r.code, r.err[:300]))
    if PP in args and r.out and not any(PP in x for x in r.out.splitlines()):
        bad.append((args, "no names of events", r.out[:200]))
    seen += len(r.out.splitlines())
load.kill()
load.wait()
same(f"kill -9 at {KILLS} random moments: every file reads", bad, [])
bad = []
for i in range(12):
    p = subprocess.Popen([KYMO, "record", "-q", "-o", path("kk.data"), "-a", "-e", "cs", "--", "sleep", "60"])
    time.sleep(random.uniform(0, 0.2 if SAN else 0.06))
    p.kill()
    p.wait()
    if os.path.exists(path("kk.data")):  # a file that is there is never without its header
        r = kymo(f"script -i {path('kk.data')}")
        if r.code != 0:
            bad.append((os.path.getsize(path("kk.data")), r.code, r.err[:300]))
        os.unlink(path("kk.data"))
same("kill -9 at the very beginning: no file, or one that reads", bad, [])
check("nothing else is left behind", not [x for x in os.listdir(DIR) if x.startswith("kk.data.")], os.listdir(DIR))
check("with what had been written", seen > 50 * KILLS, seen)

if ROOT and run(f"mkdir {path('small')} && mount -t tmpfs -o size=1m none {path('small')}", shell=True).code == 0:
    try:
        for name, args in (("full disk", []), ("full disk, written by threads", ["--threads=2"])):
            code, err = Background(["-q", *args, "-e", PP, "--", KNOWN, "getppid=100000"], "small/d.data").wait()
            check(f"{name}: a clear error", code == 1 and "No space left" in err and "hint:" in err, (code, err))
            n = counts("small/d.data")[PP]
            check(f"{name}: what fitted is there", 5000 < n < 100000, n)
            if shutil.which("perf"):
                same(f"{name}: and perf reads it too", run(f"perf script -i {path('small/d.data')} -F event").out.count(PP), n)
            os.unlink(path("small/d.data"))
    finally:
        run(f"umount {path('small')}")
else:
    skip("full disk", "needs to mount a tmpfs")

N = 500 if SAN else 2000
burst = shutil.copy(f"{WORK}/burst", f"{DIR}/bu{os.getpid()}")
r = record(f"-a -e {PP} -e cpu-clock/freq=999/ -- {burst} {N} 1000", timeout=120)
hits = [x.split() for x in script(fields="comm,event").out.splitlines() if PP in x]
mine = [x for x in hits if x[0] == os.path.basename(burst)]
check("1,000 processes a second: each is there", len(mine) == N, (len(mine), r))
# the kernel itself knows no number for a task in its last instant: -1
nameless = [x for x in script(fields="comm,event").out.splitlines() if re.match(r"\s*:\d", x)]
same("and none without a name", nameless[:3], [])

# --- bad input -----------------------------------------------------------------------------------------------------
for name, args, code, parts in [
    ("unknown event", "-e cyclse true", 129, ["cyclse", "^", "cycles"]),
    ("unknown tracepoint", "-e sched:sched_swich true", 129, ["sched_swich", "sched_switch"]),
    ("dead process", "-p 4194303", 1, ["4194303", "no process"]),
    ("no such user", "-u nobodyatall", 1, ["no user"]),
    ("bad filter", f"-e {UM} --filter 'msk == 1' true", 1, ["\n  msk == 1\n  ^", "mask"]),
    ("filter on no tracepoint", "-e cpu-clock --filter 'x == 1' true", 129, ["--filter must follow"]),
    ("a stack copy too large", "--call-graph dwarf,70000 true", 129, ["65528"]),
    ("a chain nobody knows", "--call-graph magic true", 129, ["auto, fp"]),
    ("a clock nobody knows", "-k sundial true", 129, ["sundial", "monotonic"]),
    ("a register nobody knows", "-Izx true", 129, ["zx", "there are"]),
    ("no such CPU", "-C 4095 true", 1, ["4095"]),
    ("a frequency of 0", "-F 0 true", 129, ["-F"]),
    ("too fast, strictly", "-F 100000000 --strict-freq true", 1, ["-F max"]),
    ("-p and -a", "-a -p 1", 1, ["-a watches everything"]),
    ("--per-thread and -a", "-a --per-thread true", 1, ["--per-thread"]),
    ("-G without -a", "-G foo true", 1, ["add -a"]),
    ("no such cgroup", "-a -G no/such/group true", 1, ["no/such/group"]),
    ("branches without hardware", "-b true", 1, ["cycles"]),
    ("a mistyped option", "--swich-output true", 129, ["switch-output"]),
    ("control nonsense", "--control foo true", 1, ["fifo:"]),
    ("-D backwards", "-D 20-10 true", 129, ["-D"]),
    ("--switch-output nonsense", "--switch-output=soon true", 129, ["soon"]),
    ("--switch-output on a pipe", "--switch-output=1s -o - true", 1, ["pipe"]),
]:
    words = f"record {args}" if " -o " in args else f"record -o {path('bad.data')} {args}"
    if os.path.exists(path("bad.data")):
        os.unlink(path("bad.data"))
    r = kymo(words)
    check(f"{name}: exit {code}, and says why", r.code == code and all(x in r.err for x in parts), r)
    check(f"{name}: no file is left", not os.path.exists(path("bad.data")), r)
r = record("-F 100000000 true")
check("too fast: the kernel's limit, with a note", r.code == 0 and "perf_event_max_sample_rate" in r.err, r)
r = kymo("record -o /no/such/folder/x true")
check("an output that cannot be written", r.code == 1 and "/no/such/folder/x" in r.err, r)
for name in ("r.data", "r.data.old"):
    pathlib.Path(path(name)).write_text(name)
r = record("no-such-command")
check("no such command: nothing is displaced for it", r.code == 127 and all(pathlib.Path(path(x)).read_text() == x for x in ("r.data", "r.data.old")), r)
for name in ("r.data", "r.data.old"):
    os.unlink(path(name))
r = record("/no/such/command")
check("a command that is not there: 127", r.code == 127 and "No such file" in r.err, r)
r = run(f"{KYMO} record -o - -e cs true >&-", shell=True)
check("closed stdout in pipe mode", r.code == 1 and "cannot write" in r.err, r)
r = record("-vv -e cpu-clock true")
has("-vv shows attributes", r.err, "perf_event_attr", "sample_type", "IP|TID|TIME")
r = kymo("record -I?")
check("-I? lists registers", r.code == 0 and r.out.startswith("available registers:"), r)
r = record("--dry-run true", "dry.data")
check("--dry-run does nothing", r.code == 0 and not os.path.exists(path("dry.data")), r)

PMU = any(os.path.exists(f"/sys/bus/event_source/devices/{x}") for x in ("cpu", "cpu_core"))
if not PMU:
    for e in ("cycles:pp", "cycles:u"):
        r = record(f"-e {e} -c 10000 -- {SPIN} 30000000")
        check(f"no PMU: {e} becomes cpu-clock, with one line", r.code == 0 and r.err.count("instead of") == 1 and
              "4000 times a second" in r.err and any(x.startswith("cpu-clock") for x in counts()), r)
    r = record(f"-e cycles:u,cpu-clock -- {SPIN} 30000000")
    same("no PMU: beside a clock, too", (r.code, sorted(counts())), (0, ["cpu-clock", "cpu-clock:u"]))
    # a clock tells nothing of what others count
    for e in ("L1-dcache-load-misses -c 10000", "LLC-load-misses", "instructions", "branch-misses", "r1234", "cycles,instructions", "'{cycles,branches}'"):
        for command in (f"record -o {path('none')} -e {e} -- true", f"top --stdio --iterations 1 -e {e}", f"flame --format svg -o {path('none')} -e {e} -- true"):
            r = kymo(command)
            check(f"no PMU: {command.split()[0]} -e {e} is refused with the reason", r.code == 1 and "no PMU" in r.err and "hint: " in r.err and
                  "instead" not in r.err.replace("instead of cycles", "") and not os.path.exists(path("none")), r)

# --- an ordinary user ----------------------------------------------------------------------------------------------
if ROOT and run("command -v setpriv", shell=True).code == 0 and run(f"setpriv --reuid=65534 --regid=65534 --clear-groups {KYMO} version").code == 0:
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    os.chmod(DIR, 0o755)
    os.mkdir(path("user"))
    os.chown(path("user"), 65534, 65534)
    level = open("/proc/sys/kernel/perf_event_paranoid").read().strip()
    try:
        with open("/proc/sys/kernel/perf_event_paranoid", "w") as f:
            f.write("2")
        env = {"HOME": path("user"), "XDG_CACHE_HOME": path("user/cache"),
               "LSAN_OPTIONS": os.environ.get("LSAN_OPTIONS", "")}
        r = run([*user, KYMO, "record", "-F", "1000", "-o", path("user/u.data"), SHARES, "300000000"], env=env)
        check("an ordinary user records user space, with a line that says so", r.code == 0 and "may not be seen" in r.err, r)
        syms = script("user/u.data", "ip,sym").out
        check("and has functions", "fifty" in syms, syms[:200])
        r = run([*user, KYMO, "record", "-a", "-o", path("user/u.data"), "true"], env=env)
        check("-a is refused with the way out", r.code == 1 and "hint:" in r.err and "paranoid" in r.err, r)
    finally:
        with open("/proc/sys/kernel/perf_event_paranoid", "w") as f:
            f.write(level)
else:
    skip("an ordinary user", "needs root and setpriv")

# --- the one-liners ------------------------------------------------------------------------------------------------
have = lambda e: os.path.exists(f"{TRACEFS}/events/{e.replace(':', '/')}")
p = subprocess.Popen([SPIN, "1000000000000"])
for line, seconds in [
    (f"-F 99 {SPIN} 100000000", 0),
    (f"-F 99 -p {p.pid} -g -- sleep 0.4", 0),
    ("-F 99 -ag -- sleep 0.4", 0),
    (f"-e {'L1-dcache-load-misses' if PMU else 'cycles'} -c 10000 -ag -- sleep 0.4", 0),
    ("-e cycles:k -a -- sleep 0.4", 0),
    ("-e sched:sched_process_exec -a -g -- sh -c '/bin/true; /bin/true'", 0),
    ("-e context-switches -ag -- sleep 0.4", 0),
    ("-e migrations -a -- sleep 0.4", 0),
    ("-e syscalls:sys_enter_connect -ag", 1),
    ("-e block:block_rq_insert -ag", 1),
    ("-e block:block_rq_issue -e block:block_rq_complete -a", 1),
    ("-e block:block_rq_complete --filter 'nr_sector > 200'", 1),
    ("-e block:block_rq_complete --filter 'rwbs == \"WS\"'", 1),
    ("-e block:block_rq_complete --filter 'rwbs ~ \"*W*\"'", 1),
    ("-e 'ext4:*' -a", 1),
    ("-a -e sched:sched_switch --filter 'next_comm != perf && prev_comm != perf'", 1),
][::2 if SAN else 1]:
    missing = [e for e in re.findall(r"\b(\w+:\w+)\b", line) if ":" in e and not e.startswith("cycles") and not have(e)]
    if missing:
        skip(f"record {line}", f"this kernel has no {missing[0]}")
        continue
    if seconds:
        q = Background(shlex.split(line), "l.data")
        begun = q.ready()
        subprocess.run(f"dd if=/dev/zero of={path('dd')} bs=1M count=2 conv=fsync 2>/dev/null; rm -f {path('dd')}", shell=True)
        time.sleep(seconds / 5)
        code, err = q.stop(seconds=120)
        check(f"record {line}", begun and code == 0 and "Captured" in err, (code, err))
    else:
        r = record(line, "l.data", timeout=120)
        check(f"record {line}", r.code == 0 and "Captured" in r.err, r)
    r = kymo(f"report -i {path('l.data')} --stdio -g none")
    check(f"report of it", r.code == 0, r)
p.kill()
p.wait()

# --- files of an earlier form: tests/data/record-1.perf is "kymo record true" with names of kernel functions as lines ---
old = f"{pathlib.Path(__file__).resolve().parent.parent}/data/record-1.perf"
r = kymo(f"script -i {old} -F comm,event,ip,sym,symoff")
check("an earlier form: kernel names", "cpu-clock: ffffffff8160d51d __split_vma+0xfd" in " ".join(r.out.split()), r)
r = kymo(f"report -i {old} --header-only")
check("an earlier form: what it says of itself", "# cmdline : kymo record" in r.out and "# cpudesc : AMD EPYC" in r.out, r)

# record-2.perf has them in columns, packed with the dictionary of src/store/perfdata/kallsyms_names.h, which must stay what it is
r = kymo(f"script -i {old.replace('record-1', 'record-2')} -F ip,sym")
if "zstd: [ on  ]" in kymo("version --build-options").out:
    same("names in columns", " ".join(sorted({x.split()[1] for x in r.out.splitlines() if x.strip().startswith("ffff")})),
         "__alloc_frozen_pages_noprof __do_fault __ext4_read_dirblock __filemap_get_folio __fput __handle_mm_fault __irq_exit_rcu "
         "__kmem_cache_alloc_bulk __mem_cgroup_charge __memcg_slab_post_alloc_hook __mmap_region __pcs_replace_empty_main __rcu_read_lock "
         "__schedule __split_vma __vma_start_write __x64_sys_close __x64_sys_execve __x64_sys_exit_group __x64_sys_getdents64 "
         "__x64_sys_mprotect __x64_sys_openat _install_special_mapping acct_collect alloc_empty_file alloc_pages_mpol arch_irq_work_raise "
         "asm_common_interrupt asm_exc_page_fault bio_free blk_done_softirq blk_mq_end_request blk_update_request bprm_execve call_filldir "
         "change_protection change_pte_range charge_memcg clear_page_erms common_interrupt do_anonymous_page do_execveat_common.isra.0 "
         "do_exit do_fault do_filp_open do_group_exit do_mmap do_mprotect_pkey do_sys_openat2 do_syscall_64 do_wp_page down_write dx_probe "
         "elf_load entry_SYSCALL_64_after_hwframe exc_page_fault ext4_bread ext4_getblk ext4_htree_fill_tree ext4_map_blocks ext4_readdir "
         "ext4fs_dirhash filemap_fault filemap_get_entry filemap_map_pages filldir64 finish_task_switch.isra.0 get_mem_cgroup_from_mm "
         "get_page_from_freelist get_vma_policy handle_mm_fault handle_softirqs htree_dirblock_to_tree insert_vm_struct irq_work_queue "
         "irqentry_exit_to_user_mode iterate_dir kmem_cache_alloc_noprof kmem_cache_prefill_sheaf ksys_mmap_pgoff load_elf_binary map_vdso "
         "mas_preallocate may_open memcg1_commit_charge memchr mprotect_fixup native_apic_msr_write native_write_msr path_openat "
         "perf_event_mmap perf_event_mmap_output perf_iterate_ctx perf_iterate_sb.constprop.0 perf_output_end perf_output_put_handle "
         "schedule security_file_free set_pte_range str2hashbuf_signed tlb_finish_mmu tlb_flush_mmu_tlbonly verify_dirent_name vm_area_alloc "
         "vm_area_dup vm_mmap_pgoff vma_alloc_folio_noprof vma_link vma_modify vma_modify_flags x64_sys_call xas_load")
else:
    skip("names in columns", "this kymo was built without zstd")

# --- more stacks than the walker's ring holds: the reader is woken up before it is full ---
TOUCH = "import mmap; m = mmap.mmap(-1, 30000 * 4096)\nfor i in range(30000): m[i * 4096] = 1; sum(range(150))"
r = record(["-g", "-e", "page-faults", "-c", "1", "--", "python3", "-c", TOUCH], out="pages.data")
n = counts("pages.data")["page-faults"]
check("every fault of 30,000 pages, with its stack: none is lost", r.code == 0 and n >= 30000 and "lost" not in r.err, (n, r))

# --- options of perf's: those that choose nothing here are taken, the others refused with the reason ---
for args in ("--aio", "--aio=2", "--affinity node", "--mmap-flush 1M", "--clang-path clang --clang-opt -O2", "--debuginfod", "--vmlinux x", "--buildid-mmap",
             "--timestamp-boundary", "--proc-map-timeout 5", "--num-thread-synthesize 2", "--no-kcore", "-m 16,16", "--threads=cpu", "--threads=core",
             "--threads=package", "--threads=numa", "--threads=0/0:1/0-1", "--no-threads"):
    r = record(f"-q {args} -- true")
    check(f"{args}: taken", r.code == 0 and not r.err, r)
for args, why in [("-S", "hardware traces"), ("--snapshot=e", "hardware traces"), ("--aux-sample", "hardware traces"), ("--kcore", "kymo annotate reads /proc/kcore"),
                  ("--setup-filter=pin", "needs no preparation"), ("--threads=some", "does not understand 'some'"), ("--threads=0/x", "does not understand"),
                  ("--threads=0", "1 to 256"), ("-m 16,x", "not '16,x'"), ("-D -2", "does not understand '-2'"), ("--max-size 0", "wants a size"),
                  ("-r 200", "1 to 99"), ("--max-stack -1", "cannot be negative"), ("--switch-max-files -1", "cannot be negative")]:
    r = record(f"{args} -- true")
    check(f"{args}: refused with the reason", r.code in (1, 129) and why in r.err, r)

# --- a recording of perf's that is a directory makes room like a file; any other directory stays ---
os.mkdir(path("d.data"))
pathlib.Path(path("d.data/data")).write_text("x")
r = record("-q -- true", out="d.data")
check("a directory that is a recording: kept as .old", r.code == 0 and os.path.isfile(path("d.data")) and os.path.isfile(path("d.data.old/data")), r)
os.mkdir(path("directory"))
r = record("-q -- true", out="directory")
check("another directory: refused", r.code == 1 and "Is a directory" in r.err and os.path.isdir(path("directory")), r)

run(f"rm -rf {DIR}")
end()
