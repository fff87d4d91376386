#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo heat, live: as many points as a program did things, on a machine that idles and on a busy one."""
import os
import re
import signal
import subprocess
import sys
import time

import page
from files import Folder
from tap import KYMO, WORK, check, end, has, kymo, same, skip

at = Folder("kymo-heat-live-")
tmp, path, write, read = at.root, at.path, at.write, at.read
os.chdir(tmp)
os.environ["TMPDIR"] = tmp
LATENCY = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), WORK, "latency")
TRACEFS = "/sys/kernel/tracing"


def heat(*args, **kw):
    return kymo(["heat", *args], timeout=120, **kw)


def points(name):
    """[(label, detail)], one for each point of a page."""
    head, columns = page.unpack(path(name))
    out = []
    for _, _, l, c, x in zip(*columns):
        out += [(head["labels"][l - 1] if l else None, head["details"][x - 1] if x else None)] * c
    return out


if os.geteuid() or not os.access(f"{TRACEFS}/instances", os.W_OK):
    skip("live heat maps", "tracefs is not for us")
    end()

# --- disks ---
N = 40
IO = write("io.py", f"""
import mmap, os, subprocess, sys, time
at = os.open({path("")!r} + "disk" + (sys.argv + [""])[3], os.O_RDONLY | os.O_DIRECT)
room = mmap.mmap(-1, 4096)
loads = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(int(sys.argv[2]))]
for i in range({N}):
    os.preadv(at, [room], i * 4096)
    time.sleep(float(sys.argv[1]))
for x in loads:
    x.kill()
    x.wait()
print(os.getpid())
""")
try:
    fd = os.open(path("disk"), os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    os.close(fd)
    for name in "disk", "disk2":
        with open(path(name), "wb") as f:
            f.write(b"x" * 4096 * N)
            os.fsync(f.fileno())
    direct = True
    subprocess.run([sys.executable, IO, "0", "0"], stdout=subprocess.DEVNULL, check=True)  # what else it needs is in memory then
except OSError:
    direct = False


def ours(name, pid):
    """Reads of the file: of this process, and not what the file system had to look up."""
    return [x for x in points(name) if x[1] and re.match(rf"\S+-{pid}, RS? 8 sectors at \d+$", x[1])]


PAIR = ["--pair", "block:block_rq_issue,block:block_rq_complete by dev,sector"]
sectors = set()  # where the file is
for what, args, gap, load in (("on an idle machine", ["--block"], "0.004", "0"), ("on a busy machine", ["--block"], "0.001", "3")):
    r = heat(*args, "-o", "a.html", "--", sys.executable, IO, gap, load) if direct else None
    if not r or (r.code == 0 and not any(" sectors" in (x[1] or "") for x in points("a.html"))):
        skip(f"--block {what}", "no disk below this directory, or none that can be traced")
        continue
    mine = ours("a.html", r.out.strip())
    same(f"--block {what}: every read, once", len(mine), N)
    sectors = {x[1].split()[-1] for x in mine}
if direct:
    r = heat(*PAIR, "-o", "b.html", "--", sys.executable, IO, "0.004", "0")
    # by where they are: what a full device did not take is issued again by whoever comes next, another process or kblockd
    got = [x[1] for x in points("b.html") if re.search(r", dev \S+, sector \d+$", x[1]) and x[1].split()[-1] in sectors]
    if sectors:
        same("--pair: every read, once", (len(got), {x.split()[-1] for x in got}), (N, sectors))
    # of one process, whose requests others issue and interrupts end
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.readline(); sys.argv = ['', '0.002', '0']; exec(open(sys.stdin.readline().strip()).read())"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other = subprocess.Popen([sys.executable, IO, "0.002", "0", "2"], stdout=subprocess.DEVNULL)
    p = subprocess.Popen([KYMO, "heat", "--block", "-p", str(child.pid), "-o", path("c.html")], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and p.poll() is None:
        try:
            at_work = []
            for name in "events/block/block_rq_issue/enable", "tracing_on":  # in the order they are set
                with open(f"{TRACEFS}/instances/kymo-{p.pid}/{name}", encoding="ascii") as f:
                    at_work.append(f.read().strip())
            if at_work == ["1", "1"]:
                break
        except OSError:
            pass
        time.sleep(0.01)
    child.communicate(f"\n{IO}\n")
    p.wait(timeout=60)
    other.wait()
    if any(" sectors" in (x[1] or "") for x in points("c.html")):
        same("--block -p: it ends with the process, and has all of its reads", len(ours("c.html", child.pid)), N)
        same("and of nobody else", [x for x in points("c.html") if f"-{child.pid}, " not in x[1]], [])
    else:
        skip("--block -p", "no disk below this directory, or none that can be traced")
else:
    skip("--pair, --block -p", "no direct I/O here")

# --- the scheduler: whoever gives up the CPU is woken ---
# Some kernels do not show all switches from the idle task, in tracefs neither: another one leaves the CPU no time for that.
SLEEP = write("sleep.py", """
import os, resource, signal, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
busy = os.fork()
if not busy:
    os.nice(19)
    while os.getppid() != 1:
        pass
    os._exit(0)
def work():
    for i in range(30):
        time.sleep(0.002)
    print(threading.get_native_id(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw)
t = threading.Thread(target=work)
t.start()
t.join()
os.kill(busy, signal.SIGKILL)
""")
p = subprocess.Popen([KYMO, "heat", "--sched", "-o", path("d.html"), "--", sys.executable, SLEEP], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
tid, waits = map(int, p.communicate(timeout=120)[0].split())
who = [int(x[1].split(",")[0].split()[1]) for x in points("d.html")]
got = who.count(tid)
# it is woken when it is born, too, and may wait once more at its end
check("--sched: each time a thread waited", waits >= 30 and abs(got - waits - 1) <= 3, (waits, got))
check("the recorder itself is not there", p.pid not in who)

# --- system calls, of a command and of all ---
for more in [], ["-a"]:
    r = heat("--syscall", "clock_nanosleep", *more, "-o", "e.html", "--", LATENCY, "8")
    same(f"--syscall {' '.join(more)}: each call", len([x for x in points("e.html") if x[0] == "latency"]), 8)
    if not more:
        check("nothing that came before the command, or is left over", "not drawn" not in r.err and len(points("e.html")) == 8, r)
r = heat("--syscall", "read", "-o", "e.html", "--", "sh", "-c", "sh -c 'head -c 1 /dev/zero >/dev/null'; :")
check("what a command starts belongs to it, by its name", any(x[0] == "head" for x in points("e.html")), points("e.html"))
r = heat("--field", "sched:sched_stat_runtime:runtime", "-o", "f.html", "-a", "--", LATENCY, "8")
check("--field", r.code == 0 and sum(x[0] == "latency" for x in points("f.html")) >= 8, r)

# --- why nothing is there ---
r = heat("--syscall", "sethostname", "-o", "g.html", "--", "true")
has("nothing happened: how much of what was seen, and what to try", r.err, "none of syscalls:sys_enter_sethostname and none of syscalls:sys_exit_sethostname", "-a measures")
same("an empty page", points("g.html"), [])
has("which says so itself", page.unpack(path("g.html"))[0]["why"], "none of syscalls:sys_enter_sethostname")
r = heat("--pair", "syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep by flags=__syscall_nr", "-o", "g.html", "--", LATENCY, "3")
check("keys that never agree: how many there were of both", re.search(r"there were \d+ of syscalls:sys_enter_clock_nanosleep and \d+ of syscalls:sys_exit_clock_nanosleep, but none that agree in flags=__syscall_nr", r.err) and "BEGIN=END" in r.err, r)
r = heat("--syscall", "reed", "-o", "none.html", "--", "true")
check("a system call that is none", r.code == 1 and "no events of a system call 'reed'" in r.err and "did you mean read" in r.err, r)
r = heat("--field", "syscalls:sys_enter_sethostname:len", "--text", "--", "true")
has("no value", r.err, "no events syscalls:sys_enter_sethostname")

# --- ways to say it ---
r = heat("--sched", "0.2", "-o", "h.html")
check("seconds alone", r.code == 0 and os.path.exists(path("h.html")), r)
r = heat("--syscall", "write", "-o", "-", "--", "echo", "said")
check("what the command says does not get into it", r.code == 0 and r.out.startswith("<!") and "said" in r.err, r.err)
r = heat("--pair", "page-faults,page-faults by tid", "-o", "h.html", "--", "true")
has("what tracefs does not have comes from perf, and that is said", r.err, "measured through perf", "page-faults is no event of tracefs")
for what, args, part in (("samples of events", ["-F", "99", "--sched"], "--subsecond"), ("no time", ["-d", "soon", "--sched"], "-d wants seconds"),
                         ("a process that is gone", ["-p", "999999999", "--sched"], "999999999"), ("room", ["-m", "much", "--sched", "-d", "0.1"], "-m"),
                         ("a call that there is not", ["--syscall", "raed", "-d", "0.1"], "did you mean"), ("a field that there is not", ["--field", "sched:sched_stat_runtime:no", "-d", "1000"], "it has pid, runtime"),
                         ("a key that there is not", ["--pair", "sched:sched_wakeup,sched:sched_switch by no", "-d", "1000"], "no field no"), ("a file that there is not", ["--block", "nofile"], "cannot open nofile"), ("a command that there is not", ["--sched", "--", "./nothing"], "nothing")):
    r = heat(*args, "-o", "x.html")
    check(f"refused: {what}", r.code != 0 and part in r.err and not os.path.exists(path("x.html")), r)

# --- nothing is left behind ---
same("no recording", [x for x in os.listdir(tmp) if x.startswith("kymo-")], [])
for how in signal.SIGINT, signal.SIGKILL:
    p = subprocess.Popen([KYMO, "heat", "--sched", "-o", path(f"{how}.html")], stderr=subprocess.DEVNULL)
    own = f"{TRACEFS}/instances/kymo-{p.pid}"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not os.path.exists(own):
        time.sleep(0.01)
    check(f"an instance of its own ({how.name})", os.path.exists(own))
    time.sleep(0.1)
    p.send_signal(how)
    code = p.wait(timeout=60)
    if how == signal.SIGINT:
        check("Ctrl-C ends it, with a picture", code == 0 and os.path.exists(path(f"{how}.html")), code)
    else:
        kymo("version")
    check("and the instance is gone" + (" with the next command" if how == signal.SIGKILL else ""), not os.path.exists(own))
os.chdir("/")
at.remove()
end()
