#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of the language end soon when they are told to, whatever they do; and do not watch kymo show what they say."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import KYMO, SAN, WORK, check, end, kymo, run, same, skip

SOON = 30  # seconds, on a machine where others work, too; without an end it is for ever

if run("id -u").out.strip() != "0" or kymo(["run", "-q", "-e", "BEGIN { exit(); }"]).code:
    skip("programs end", "this user or kernel may not load BPF programs")
    end()

DIR = tempfile.mkdtemp(prefix="kymo-end-")
ME = f"kymo{os.getpid()}"  # others may run a kymo, too
os.symlink(os.path.abspath(KYMO), f"{DIR}/{ME}")
KYMO = f"{DIR}/{ME}"


class Program:
    """One at work, and what it writes."""

    def __init__(self, prog, *more, stdout=None):
        self.out, self.err = f"{DIR}/out", f"{DIR}/err"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            self.p = subprocess.Popen([KYMO, "run", "--unsafe", *more, "-e", prog], stdout=stdout or out, stderr=err)

    def text(self):
        with open(self.out, errors="replace") as f:
            return f.read()

    def errors(self):
        with open(self.err, errors="replace") as f:
            return f.read()

    def until(self, done, seconds=30):
        limit = time.time() + seconds
        while time.time() < limit and self.p.poll() is None and not done(self):
            time.sleep(0.02)

    def told(self, sig=signal.SIGINT):
        """Its exit code, or None when it does not end."""
        self.p.send_signal(sig)
        try:
            return self.p.wait(SOON)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
            return None


def busy():
    """Makes system calls, switches and faults all the time."""
    return subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"])


def asks():
    """Makes system calls faster than anybody can print."""
    return subprocess.Popen([sys.executable, "-c", "import os\nwhile True: os.getppid()"])


END = ' END { printf("the %s\\n", "end"); }'
uprobes = os.path.exists("/sys/bus/event_source/devices/uprobe/type")
work = [busy(), asks()]
for name, prog in {
        "printf() at its own malloc()": 'uprobe:libc:malloc { printf("%d\\n", arg0); @ = count(); }',
        "printf() at every call": 't:raw_syscalls:sys_enter { printf("%s\\n", comm); @ = count(); }',
        "system() at every switch": 't:sched:sched_switch { system("true"); @ = count(); }',
        "system() at execve(), which it makes": 't:syscalls:sys_enter_execve { system("true"); @ = count(); }',
        "cat() at every call": 't:raw_syscalls:sys_enter { cat("/proc/self/status"); @ = count(); }',
        "print() of a map at every call": "t:raw_syscalls:sys_enter { @[comm] = count(); print(@); }",
        "time() at every call": 't:raw_syscalls:sys_enter { time("%H\\n"); @ = count(); }',
        "join() at execve()": "t:syscalls:sys_enter_execve { join(args.argv); @ = count(); }",
        "printf() at page faults": 'software:page-faults:1 { printf("%s\\n", comm); @ = count(); }',
        "a command that takes its time": 'interval:ms:50 { printf("go\\n"); system("sleep 1000 >/dev/null"); @ = count(); }'}.items():
    if "uprobe" in prog and not uprobes:
        skip(name, "this kernel has no uprobes")
        continue
    p = Program(prog + END)
    p.until(lambda p: len(p.text()) > 60 or "system" in prog and p.p.poll() is None and "Attaching" in p.text())
    time.sleep(0.3)
    code = p.told()
    text = p.text()
    check(f"{name}: ends, END runs and maps are shown", code == 0 and text.count("the end\n") == 1 and re.search(r"\n@.*: \d+\n+\Z", text),
          f"code {code}\n{text[-300:]}\n{p.errors()}")
    if prog.startswith("t:sched:sched_switch"):
        check("and says what was not shown", re.search(r"^kymo: \d+ messages were not shown", p.errors(), re.M), p.errors())

# --- whoever reads it is slow, or gone ---
r, w = os.pipe()
p = Program('t:raw_syscalls:sys_enter { printf("%s\\n", comm); }' + END, stdout=w)
os.close(w)
time.sleep(1)  # it is full
p.p.send_signal(signal.SIGINT)
time.sleep(0.5)
got = b""
with os.fdopen(r, "rb") as f:
    got = f.read()
same("a reader who was slow has it all, the end included", (p.p.wait(SOON), got.count(b"the end\n"), got[:9]), (0, 1, b"Attaching"))
r, w = os.pipe()
p = Program('t:raw_syscalls:sys_enter { printf("%s\\n", comm); }' + END, stdout=w)
os.close(w)
time.sleep(1)
p.p.send_signal(signal.SIGINT)
time.sleep(0.5)
check("it waits for one who does not read", p.p.poll() is None, p.p.returncode)
same("a second Ctrl-C ends it at once", p.told(), -signal.SIGINT)
os.close(r)
r, w = os.pipe()
p = Program('t:raw_syscalls:sys_enter { printf("%s\\n", comm); }' + END, stdout=w)
os.close(w)
os.close(r)
p.until(lambda p: False, SOON)
check("nobody reads it: it ends by itself", p.p.poll() is not None, "it runs on")
if p.p.poll() is None:
    p.told()

# --- other commands that print what comes: it may be more than they can print, or nobody reads it ---
others = [["trace", "-a", "-o", "-"], ["tpoint", "raw_syscalls:sys_enter"], ["ftrace", "stream", "-e", "raw_syscalls"]]
if uprobes:
    others.append(["uprobe", "p:libc:malloc"])
for args in others:
    for reads in True, False:
        r, w = os.pipe()
        with open(f"{DIR}/err", "w") as err:
            p = subprocess.Popen([KYMO, *args], stdout=w, stderr=err)
        os.close(w)
        if reads:
            reader = subprocess.Popen("wc -c", shell=True, stdin=r, stdout=subprocess.DEVNULL)
            os.close(r)
        time.sleep(1.5)
        p.send_signal(signal.SIGINT)
        if not reads and args[0] == "trace":  # it keeps what it has for the reader, and has nothing to put back
            time.sleep(1.5)
            p.send_signal(signal.SIGINT)
        try:
            code = p.wait(SOON)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            code = "none"
        with open(f"{DIR}/err") as f:
            check(f"{' '.join(args[:3])}: ends{'' if reads else ', though nobody reads it'}", code == 0 or not reads and code == -signal.SIGINT, f"{code} {f.read()}")
        if reads:
            reader.wait()
        else:
            os.close(r)

for w in work:
    w.kill()
    w.wait()

# --- a command does not keep it ---
p = Program('BEGIN { printf("go\\n"); }' + END, "-c", "sh -c 'trap \"\" TERM INT; while :; do sleep 0.1; done'")
p.until(lambda p: "go" in p.text())
time.sleep(0.3)
same("nor does a command that does not listen", (p.told(), p.text().count("the end")), (0, 1))

# --- its own doings ---
TICKS = 'interval:ms:20 { printf("%d\\n", 1); } interval:ms:500 { exit(); }'
if not uprobes:
    skip("what kymo itself does", "this kernel has no uprobes")
else:
    own = f"uprobe:libc:write {{ @[comm == \"{ME}\"] = count(); }} {TICKS}"
    r = run([KYMO, "run", "-q", "-B", "none", "-e", own])
    check("calls of kymo's own are left out", r.code == 0 and "@[1]" not in r.out and "@[true]" not in r.out, r)
    r = run([KYMO, "run", "-q", "-B", "none", "--self", "-e", own])
    check("--self: and they are seen", r.code == 0 and re.search(r"@\[(1|true)\]: \d\d", r.out), r)
    p = Program('uprobe:libc:malloc { printf("%d\\n", arg0); }')
    time.sleep(1)
    churn = subprocess.Popen([sys.executable, "-c", "while True: b'x' * 5000"])
    time.sleep(1)
    churn.kill()
    churn.wait()
    p.told()
    # (a sanitizer's malloc() is not the library's)
    check("it is said where it would have watched itself", SAN or re.search(r"^kymo: \d+ events of kymo itself were left out; --self shows them, too$", p.errors(), re.M),
          p.errors())
mine = f"t:raw_syscalls:sys_enter /comm == \"{ME}\"/ {{ @ = count(); }} {TICKS}"
r = run([KYMO, "run", "-q", "-e", mine])
check("system calls of kymo's own are left out", r.code == 0 and re.search(r"@: \d$", r.out, re.M), r)  # who took down the last program's probes makes a few
check("a few of them are not worth a word", "left out" not in r.err, r)
r = run([KYMO, "run", "-q", "--self", "-e", mine])
check("--self: and they are seen", r.code == 0 and re.search(r"@: [1-9]\d", r.out), r)
# who leaves the CPU tells who comes
r = run([KYMO, "run", "-q", "-e", f"t:sched:sched_switch {{ @[comm == \"{ME}\"] = count(); }} {TICKS}"])
check("a switch from kymo to another is seen", re.search(r"@\[(1|true)\]: [1-9]", r.out), r)
unshare = run(["unshare", "-pf", "--mount-proc", KYMO, "run", "-q", "-e", mine])
if unshare.code and "unshare" in unshare.err:
    skip("in a PID namespace", unshare.err)
else:
    check("in a container, too", unshare.code == 0 and re.search(r"@: \d$", unshare.out, re.M), unshare)

# --- written in batches ---
asker = asks()
p = Program(f't:raw_syscalls:sys_enter /pid == {asker.pid}/ {{ printf("%d\\n", pid); }}', "-q")
p.until(lambda p: len(p.text()) > 1000000)
with open(f"/proc/{p.p.pid}/io") as f:
    writes = int(re.search(r"^syscw: (\d+)", f.read(), re.M)[1])
lines = p.text().count("\n")
p.told()
asker.kill()
asker.wait()
check("many messages, few writes", lines > 1000 and writes < 20 + lines / 200, f"{lines} lines, {writes} writes")
run(["rm", "-r", DIR])
end()
