#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tracing tools beside a workload that knows what each must show (tests/lib/toolwork.py)."""
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from tap import KYMO, SAN, check, end, kymo, run, same, skip

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = tempfile.mkdtemp(prefix="kymo-tools-")
ME = f"tool{os.getpid() % 100000:05d}"  # the name of the workload's process, as the kernel has it
LIMIT = 60  # seconds for anything to happen on a busy machine


class Tool:
    """A tool at work; its output goes to a file."""
    n = 0

    def __init__(self, args):
        Tool.n += 1
        self.args, self.path = args, f"{DIR}/out{Tool.n}"
        self.code = None
        self.stopped = False
        with open(self.path, "w") as out, open(self.path + "e", "w") as err:
            self.p = subprocess.Popen([KYMO, *args], stdout=out, stderr=err)

    def errors(self):
        with open(self.path + "e", errors="replace") as f:
            return f.read()

    def text(self):
        with open(self.path, errors="replace") as f:
            return f.read()

    def ready(self):
        """Attached: it waits for events. Or it has ended."""
        until = time.time() + LIMIT
        while time.time() < until and self.p.poll() is None:
            try:
                with open(f"/proc/{self.p.pid}/syscall") as f:
                    if f.read().split()[0] in ("7", "22", "73", "232", "271", "281", "441"):  # poll, epoll
                        return True
            except (OSError, IndexError):
                pass
            time.sleep(0.01)
        return False

    def stop(self):
        """Once: a second Ctrl-C would end it before it has shown what it has."""
        if not self.stopped and self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
        self.stopped = True

    def end(self):
        self.stop()
        try:
            self.code = self.p.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
            check(f"{' '.join(self.args)}: ends after Ctrl-C", False)
        return self.text()


def beside(wanted, first, work):
    """Run tools, then the work when all are attached, and end them. Their outputs. first: those that need more than Ctrl-C."""
    tools = {k: Tool(a) for k, a in wanted.items()}
    for k, t in tools.items():
        if not t.ready():
            check(f"{' '.join(t.args)}: runs", False, t.text() + t.errors())
    got = work()
    for k, done in first.items():
        until = time.time() + LIMIT
        while time.time() < until and tools[k].p.poll() is None and not done(tools[k].text()):
            time.sleep(0.1)
    for t in tools.values():
        t.stop()
    out = {k: re.sub(r"\ATracing (exec\(\)s|open\(\)s|kill\(\)s|block I/O)( issued by PID \d+)?\. Ctrl-C to end\.\n", "", t.end()) for k, t in tools.items()}
    for k, t in tools.items():
        if t.code or "lost" in t.errors() or "full" in t.errors():
            check(f"{' '.join(t.args)}: exits well", False, f"{t.code}: {t.text()[-600:]} {t.errors()}")
    return out, got


def rows(text, word):
    return [x for x in text.splitlines() if word in x]


def total(text):
    """Of all histograms."""
    return sum(int(x) for x in re.findall(r"^ +(?:\d+|(?:\d*) -> (?:\d*)) +: (\d+) +\|", text, re.M))


if os.geteuid() != 0:
    skip("all", "needs root")
    end()

# --- the list, and each one's help, source and example ---
r = kymo("tools")
IN_C = "funccount funcgraph funcslower functime functrace kprobe reset-ftrace tpoint uprobe".split()
listed = re.findall(r"^[- ] ([\w-]+) ", r.out, re.M)
kprobes = "this kernel has no kprobes" not in r.out
refused = [n for n in re.findall(r"^- ([\w-]+) ", r.out, re.M) if n not in IN_C]
names = [n for n in listed if n not in IN_C]
same("tools: the list is in order", listed, sorted(listed))
same("tools: no line is wider than a terminal of 80 columns", [x for x in r.out.splitlines() if len(x) > 80], [])
same("tools: the function tools are among them", [n for n in IN_C if n not in listed], [])
check("tools: none fails to compile for a reason of its own", r.code == 0 and
      not [x for x in r.out.splitlines() if "not here" in x and not re.search("kprobes|function", x)], r.out)
same("and have examples, too", [n for n in IN_C if f"kymo {n}" not in kymo(f"tools --example {n}").out], [])
shutil.copy(KYMO, f"{DIR}/kymo")
os.chmod(DIR, 0o755)
r = run([f"{DIR}/kymo", "tools"], user=65534, group=65534, extra_groups=[], cwd="/", env={"HOME": "/nonexistent", "XDG_CACHE_HOME": ""})
check("tools: an ordinary user can run none, and sees why", r.code == 0 and not re.search("^  [a-z]", r.out, re.M) and
      "this user may not load programs into the kernel" in r.out, r)
os.remove(f"{DIR}/kymo")
r = kymo("tools --source tpoint")
check("but no source in the language", r.code == 1 and "part of kymo itself" in r.err, r)
WANTED = """execsnoop opensnoop killsnoop iosnoop iolatency bitesize syscount tcpretrans tcplife tcpconnect tcpaccept biolatency biosnoop
    biostacks runqlat runqlen cpudist offcputime profile funclatency vfsstat statsnoop syncsnoop cachestat filelife fileslower ext4slower
    signals hardirqs softirqs oomkill capable pidpersec threadsnoop gethostlatency bashreadline sslsnoop switches irqtime procsys""".split()
same("tools: all are there", sorted(set(WANTED) - set(names)), [])
some = names[::8] if SAN else names  # they all go the same way, and the sanitizers are slow
bad = [n for n in some if (h := kymo(f"{n} -h")).code or n not in h.out or "xamples" not in h.out or len(h.out.split("\n")[0]) > 80]
same("each has a help with examples", bad, [])
bad = [n for n in some if (h := kymo(f"tools --source {n}")).code or not h.out.startswith("// SPDX")]
same("each shows its source", bad, [])
bad = [n for n in some if f"kymo {n}" not in kymo(f"tools --example {n}").out]
same("each has an example", bad, [])
r = kymo("tools --source exesnoop")
check("a tool that is not there: what is near", r.code == 1 and "execsnoop" in r.err, r)
r = kymo(["opensnoop", "--ebpf", "-b", "128"])
check("--ebpf: the program, as it would be run", r.code == 0 and r.out.startswith("// SPDX") and "perf_rb_pages = 128;" in r.out, r)
r = kymo(["sslsnoop", "--ebpf", "--extra-lib", f"openssl:{sys.executable}"])
check("sslsnoop --extra-lib: the same probes there", f"uretprobe:libssl:SSL_read, uretprobe:{sys.executable}:SSL_read /" in r.out and
      f"has(uprobe:{sys.executable}" not in r.out, r)
for args, word in (("opensnoop -p no-such-name", "no process is called"), ("biolatency 1 2 3", "usage"), ("iosnoop -d nodisk", "no device"), ("sslsnoop --extra-lib x:/y", "no kind of library"), ("opensnoop -u nobody-here", "no user"), ("tools nosuchword", "no tool"),
                   ("iolatency x", "interval is a number"), ("bitesize -b 8,x", "--buckets is a number"), ("profile -F 0 1", "above 0"),
                   ("tcpconnect -P 1,2,3,4,5,6,7,8,9,10,11,12,13", "up to")):
    r = kymo(args)
    check(f"{args}: refused, and why, without the program", r.code == 1 and word in r.err and "getopt" not in r.err, r)
for name in refused:
    r = kymo(name)
    check(f"{name}: what the list says cannot run does not", r.code == 1 and "cannot run here" in r.err, r)

# --- all of them at once, each as it comes ---
need = {"funclatency": ["libc:getppid"]}
tools = [Tool([n, *need.get(n, [])]) for n in some if n not in refused]
same("what the list says can run does", [t.args[0] for t in tools if not t.ready()], [])
for t in tools:
    t.stop()
ended = [(t.args[0], t.end(), t.code) for t in tools]
same("and ends well", [(n, c, x[-300:]) for n, x, c in ended if c], [])
# a program that is taken out of kymo runs as it is
tools = []
for n in ("iosnoop", "runqlat", "opensnoop", "cachestat"):
    with open(f"{DIR}/{n}.bt", "w") as f:
        f.write(kymo(f"tools --source {n}").out)
    tools.append(Tool(["run", f"{DIR}/{n}.bt"]))
same("--source runs under kymo run", [t.args[1] for t in tools if not t.ready()], [])
for t in tools:
    t.end()

# --- the language they need ---
r = kymo(["run", "-q", "-e", r'''BEGIN { printf("%d%d%d%d%d%d%d", strmatch(comm, "*"), strmatch(comm, "k*"), strmatch(comm, "*mo"), strmatch(comm, "*y*o*"),
    strmatch(comm, "k?mo"), strmatch(comm, "k*mo"), strmatch(comm, "kymo")); printf("%d%d%d%d%d\n", strmatch(comm, "ky"), strmatch(comm, "*y"),
    strmatch(comm, "*q*"), strmatch(comm, "k?"), strmatch(comm, "*ymo*ymo")); exit(); }'''])
same("strmatch()", r.out.strip(), "111111100000")
r = kymo(["run", "-q", "-e", '''
#if has(tracepoint:sched:sched_switch)
BEGIN { printf("a"); }
#else
BEGIN { printf("b"); }
#endif
#if has(tracepoint:sched:nothing)
BEGIN { printf("c"); }
#endif
#if !has(struct task_struct.no_such_field)
BEGIN { printf("%s %s %s\\n", signal_name(9), cap_name(0), syscall_name(0)); exit(); }
#endif'''])
check("#if has(), names of numbers", r.out.startswith("a") and "SIGKILL CAP_CHOWN" in r.out and "b" not in r.out.split()[0], r)
r = kymo(["run", "-e", 'tracepoint:sched:sched_switch /getopt("x", false)/ { @++; } BEGIN { exit(); }'])
check("a probe that an option rules out is not attached", "Attaching 1 probe" in r.out, r)

# --- the workload ---
work = subprocess.Popen([sys.executable, f"{HERE}/../lib/toolwork.py", DIR, ME], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
start = json.loads(work.stdout.readline())
P = str(work.pid)
on_disk = start["disk"] is not None
if on_disk:
    DEV, SECTOR = start["disk"]
    DISK = os.path.basename(os.readlink(f"/sys/dev/block/{DEV.replace(',', ':')}"))
    PLACES = [(str(SECTOR + i * 128), "65536") for i in range(8)] + [(str(SECTOR + 1024 + i * 8), "4096") for i in range(4)]


def go():
    work.stdin.write("go\n")
    work.stdin.flush()
    return json.loads(work.stdout.readline())


wanted = {
    "exec": ["execsnoop", "-P", P], "exec-r": ["execsnoop", "-r", "-P", P], "exec-a": ["execsnoop", "-t", "-a", "3", "-P", P, "ech"],
    "exec-x": ["execsnoop", "-x", "-U", "-T", "-P", P], "exec-n": ["execsnoop", "-n", "^echo$", "-a", "16", "-P", P],
    "exec-q": ["execsnoop", "-q", "-a", "3", "-l", "one tw", "-P", P], "open-f": ["opensnoop", "-f", "O_CREAT,O_RDWR", "-p", P],
    "sys-e": ["syscount", "-c", "-e", "ESRCH", "-p", P], "sys-s": ["syscount", "-c", "-s", "getppid", "-p", P], "sys-Lm": ["syscount", "-cLm", "-p", P],
    "connect-d": ["tcpconnect", "-d", "-4", "-p", P], "profile-c": ["profile", "-c", "2000000", "-p", P], "profile-a": ["profile", "-fad", "-F", "499", "-p", P],
    "open": ["opensnoop", "-p", P], "open-F": ["opensnoop", "-xF", "-p", P], "open-x": ["opensnoop", "-x", "-t", "-n", ME], "open-file": ["opensnoop", "-eU", "-n", ME, "f2$"],
    "open-glob": ["opensnoop", "-T", f"{DIR}/f?"], "kill": ["killsnoop", "-n", ME], "kill-s": ["killsnoop", "-s", "-t", "-p", P],
    "kill-x": ["killsnoop", "-x", "-p", P], "signals": ["signals", "-l", "-p", P], "signals-n": ["signals", "-p", P],
    "sys-c": ["syscount", "-c", "-p", P], "sys": ["syscount", "-n", ME], "sys-v": ["syscount", "-v", "-p", P, "-t", "1"], "sys-x": ["syscount", "-cx", "-p", P],
    "sys-L": ["syscount", "-cL", "-p", P], "procsys": ["procsys", "-p", P], "stat": ["statsnoop", "-p", P], "stat-x": ["statsnoop", "-xt", "-p", P],
    "sync": ["syncsnoop"], "vfs": ["vfsstat", "-p", P], "slow": ["fileslower", "-p", P, "0"], "slow-99": ["fileslower", "-p", P, "99000"],
    "ext4": ["ext4slower", "-p", P, "0"], "ext4-j": ["ext4slower", "-j", "-p", P, "0"], "capable": ["capable", "--unique"], "capable-p": ["capable", "-p", P], "thread": ["threadsnoop"],
    "host": ["gethostlatency"], "func": ["funclatency", "-p", P, "libc:getppid"], "func-F": ["funclatency", "-uF", "-p", P, "^getpp.*"],
    "connect": ["tcpconnect", "-tLU", "-p", P], "connect-c": ["tcpconnect", "-c", "-4", "-p", P], "accept": ["tcpaccept", "-T", "-p", P],
    "accept-6": ["tcpaccept", "-6", "-p", P], "life": ["tcplife", "-w", "-p", P], "life-n": ["tcplife", "-p", P], "life-s": ["tcplife", "-s", "-4", "-p", P],
    "retrans": ["tcpretrans"], "retrans-l": ["tcpretrans", "-l"], "retrans-c": ["tcpretrans", "-cl"], "retrans-s": ["tcpretrans", "-ls"],
    "oom": ["oomkill"], "pids": ["pidpersec"], "cache": ["cachestat", "-T"],
    "runqlat": ["runqlat", "-P", "-p", P], "cpudist": ["cpudist", "-p", P], "cpudist-O": ["cpudist", "-OeP", "-p", P], "runqlen": ["runqlen"],
    "softirqs": ["softirqs", "-C"], "switches": ["switches", "-c", "-p", P], "irqtime": ["irqtime"], "profile": ["profile", "-F", "499", "-p", P],
    "profile-f": ["profile", "-f", "-F", "499", "-L", P], "off": ["offcputime", "-K", "-m", "1000", "-p", P], "off-f": ["offcputime", "-f", "-p", P],
    "off-M": ["offcputime", "-U", "-M", "1", "-m", "2", "-p", P],
}
# functions of the kernel only where it has kprobes
on_ext4 = run(["stat", "-f", "-c", "%T", DIR]).out.strip() == "ext2/ext3" and f" {os.path.realpath('/')} ext4" in open("/proc/mounts").read()
if kprobes:
    wanted["func-F"][-1] = "^vfs_rea.*"
else:
    del wanted["func-F"]
if kprobes or on_ext4:
    wanted["filelife"] = ["filelife", "-p", P]
if SAN:  # one way through each program is enough
    for k in ("exec-q", "open-f", "sys-e", "sys-s", "sys-Lm", "connect-d", "profile-c", "profile-a", "exec-r", "exec-x", "open-x", "kill-s", "kill-x", "signals-n", "capable-p", "life-n", "sys", "sys-v", "sys-x", "stat-x", "slow-99", "ext4-j", "connect-c", "accept-6", "life-s", "retrans",
              "retrans-c", "retrans-s", "cpudist-O", "off", "off-M", "profile"):
        del wanted[k]
if on_disk:
    wanted |= {"io": ["iosnoop"], "io-p": ["iosnoop", "-p", P, "-n", ME], "io-Q": ["iosnoop", "-Qts", "-d", DEV, "-i", "*W*"], "io-R": ["iosnoop", "-i", "*R*"],
               "io-other": ["iosnoop", "-d", "4095,1"], "bio": ["biosnoop", "-QP", "-d", DEV], "bio-n": ["biosnoop", "-d", DEV], "lat": ["iolatency", "-QT", "-d", DEV],
               "biolat": ["biolatency", "-F"], "biolat-D": ["biolatency", "-mDe"], "biolat-j": ["biolatency", "-j"], "bite": ["bitesize", "-d", DEV],
               "bite-b": ["bitesize", "-b", "8 16 32"], "bite-P": ["bitesize", "-P", "-d", DEV], "stacks": ["biostacks"], "hard": ["hardirqs", "-C"]}
out, known = beside(wanted, {"vfs": lambda t: sum(int(x.split()[1]) for x in t.splitlines()[1:]) >= 700,
                             "cache": lambda t: len(t.splitlines()) > 4 and sum(int(x.split()[2]) for x in t.splitlines()[2:]) >= 2048,
                             "pids": lambda t: sum(int(x) for x in re.findall(r"PIDs/sec: (\d+)", t)) >= 5}, go)
work.stdin.close()
work.wait(LIMIT)

ECHO = [f"/bin/echo one two {i} a b c d e" for i in range(3)]
same("execsnoop: every program and its arguments", [x.split(None, 4)[4] for x in rows(out["exec"], "one two")], ECHO)
if SAN:  # what each shows is checked without
    shutil.rmtree(DIR)
    end()
check("execsnoop: not what a process runs in its place", not [x for x in out["exec"].splitlines() if x.startswith("true ")], out["exec"])
same("execsnoop -r: that, too", [x.split(None, 4)[4] for x in rows(out["exec-r"], "/bin/true")], ["/bin/sh -c exec /bin/true again", "/bin/true again"])
same("execsnoop: an argument ends no line, and tells the terminal nothing", [x.split(None, 4)[4] for x in rows(out["exec"], "uname")], [r"/bin/uname -s\t\n\033[31m"])
same("execsnoop -a 3 NAME: three words each", [x.split(None, 5)[5] for x in out["exec-a"].splitlines()[1:]], [x[:19] for x in ECHO])
same("execsnoop -x: and what could not be run", [x.split()[5] for x in rows(out["exec-x"], "/nowhere/at/all")], ["-2"])
same("execsnoop -n: all the words", [x.split(None, 4)[4] for x in out["exec-n"].splitlines()[1:]], [f"{x} f g h i j" for x in ECHO])

same("execsnoop -q -l: in quotes, with a word among them", [x.split(None, 4)[4] for x in out["exec-q"].splitlines()[1:]],
     [f'"/bin/echo" "one two" "{i}"' for i in range(3)])
same("opensnoop -f: what is created or read and written", sorted(x.split()[-1] for x in rows(out["open-f"], f"{DIR}/f")), sorted([f"{DIR}/f{i}" for i in range(5)] + [f"{DIR}/f1"]))
check("opensnoop -p: every file", all(rows(out["open"], f"{DIR}/f{i}") for i in range(5)), out["open"])
same("opensnoop: one that is not there, with its error", [x.split()[2:] for x in rows(out["open"], "missing")], [["-1", "2", f"{DIR}/missing"]] * 2)
same("opensnoop -x: only that", [x.split()[-1] for x in rows(out["open-x"], DIR)], [f"{DIR}/missing"] * 2)
same("opensnoop -F: the directory of a relative name", [x.split()[-1] for x in rows(out["open-F"], "/by-")], [f"{DIR}/by-fd", "/proc/by-cwd"])
same("opensnoop FILE: names that fit", [x.split()[-1] for x in out["open-file"].splitlines()[1:]], [f"{DIR}/f2"])
check("opensnoop: its flags and user", re.match(r"0 +\d+ +\S+ +\d+ +0 [0-9a-f]{8} ", out["open-file"].splitlines()[1]), out["open-file"])
same("opensnoop 'PATTERN'", sorted({x.split()[-1] for x in out["open-glob"].splitlines()[1:]}), [f"{DIR}/f{i}" for i in range(5)])

KILLS = [["0", P, "0"]] + [["18", P, "0"]] * 4 + [["9", "4194000", "-3"]]
same("killsnoop: signals and their results", [x.split()[2:] for x in rows(out["kill"], ME)], KILLS)
same("killsnoop -s: names", [x.split()[3] for x in rows(out["kill-s"], ME)], ["0"] + ["SIGCONT"] * 4 + ["SIGKILL"])
same("killsnoop -x: what failed", [x.split()[2:] for x in rows(out["kill-x"], ME)], KILLS[-1:])
check("signals: a table on lines of its own", re.search(r"^Tracing signals.*\n\nFROM +TO +SIGNAL +COUNT\n", out["signals-n"]) and
      re.search(rf"^{ME} .* SIGCONT +4$", out["signals-n"], re.M), out["signals-n"])
same("signals: all four", len([x for x in rows(out["signals"], ME) if "SIGCONT" in x]), 4)

same("syscount -c: a hundred getppid", [x.split() for x in rows(out["sys-c"], "getppid")], [["getppid", "100"]])
same("syscount -e: with this error", [x.split() for x in out["sys-e"].splitlines()[1:]], [["SYSCALL", "COUNT"], ["kill", "1"]])
same("syscount -s: of one call", [x.split() for x in out["sys-s"].splitlines()[1:]], [["SYSCALL", "COUNT"], ["getppid", "100"]])
check("syscount -m: milliseconds", re.search(r"^SYSCALL +COUNT +AVG\(ms\) +TIME\(ms\)\n", out["sys-Lm"], re.M) and
      200 <= int(re.search(r"^\w*nanosleep +\d+ +\d+ +(\d+)$", out["sys-Lm"], re.M)[1]) < 200000, out["sys-Lm"])
check("syscount: of the process", out["sys"].splitlines()[0] == "Tracing... Ctrl-C to end." and out["sys"].splitlines()[1].split() == ["COMM", "COUNT"] and any(int(x.split()[-1]) >= 1000 for x in rows(out["sys"], ME)), out["sys"])
check("syscount -v -t 1: with its number", re.search(rf"\ATracing PID {P}. Top 1 only... Ctrl-C to end.\nPID +COMM +COUNT\n{P} +{ME} +\d+\n\Z", out["sys-v"]), out["sys-v"])
check("syscount -x: what failed", re.search(r"^kill +1$", out["sys-x"], re.M) and not rows(out["sys-x"], "getppid"), out["sys-x"])
check("syscount -L: how many, and the time in them", int(re.search(r"^\w*nanosleep +\d+ +\d+ +(\d+)$", out["sys-L"], re.M)[1]) >= 200000, out["sys-L"])
r = kymo("syscount -l")
check("syscount -l: the names", r.code == 0 and re.search(r"^ *\d+: openat$", r.out, re.M) and "Tracing" not in r.out, r)
r = kymo("syscount -c sh -c 'kill -0 $$; kill -0 $$'")
check("syscount COMMAND: of the command", re.search(r"^kill +2$", r.out, re.M), r)
check("procsys: counts, errors", re.search(rf"^{ME} +getppid +100$", out["procsys"], re.M) and re.search(rf"^{ME} +kill +No such process +1$", out["procsys"], re.M), out["procsys"])

same("statsnoop: every look", [x.split()[-1] for x in rows(out["stat"], f"{DIR}/f1")], [f"{DIR}/f1"] * 3)
same("statsnoop: no look at what is open already", [x for x in rows(out["stat"], ME) if len(x.split()) < 5], [])
same("statsnoop -x: in vain", [x.split()[2:] for x in rows(out["stat-x"], DIR)], [[ME, "-1", "2", f"{DIR}/not"]])
same("syncsnoop: the calls", [x.split()[-1] for x in rows(out["sync"], ME)], ["fsync", "fdatasync", "fsync"])
vfs = [[int(v) for v in x.split()[1:]] for x in out["vfs"].splitlines()[1:]]
check("vfsstat: reads, writes, syncs, opens, creations", sum(x[0] for x in vfs) >= 700 and sum(x[1] for x in vfs) >= 40 and
      sum(x[2] for x in vfs) in (2, 3) and sum(x[3] for x in vfs) >= 6 and sum(x[4] for x in vfs) >= 5, out["vfs"])
same("fileslower 0: each read", len([x for x in rows(out["slow"], " f1") if " R " in x]), 700)
same("fileslower 0: each write", len([x for x in rows(out["slow"], " f1") if " W " in x and x.split()[4] == "4"]), 40)
same("fileslower: only the slow ones", out["slow-99"].splitlines()[2:], [])
if on_ext4:
    f1 = [x.split() for x in rows(out["ext4"], " f1")]
    same("ext4slower 0: reads, writes, syncs", [len([x for x in f1 if x[3] == t]) for t in "RWS"], [700, 41, 2])
    check("ext4slower: opens", [x for x in f1 if x[3] == "O"], out["ext4"][:2000])
    check("ext4slower: bytes and offset", [x for x in f1 if x[3] == "W" and x[4:6] == ["4", "8"]], out["ext4"][:2000])
    check("ext4slower -j: the same with commas", re.search(rf"^\d+,{ME},{P},W,4,8192,\d+,f1$", out["ext4-j"], re.M), out["ext4-j"][:2000])
else:
    skip("ext4slower", f"{DIR} is not on ext4")

cap = [x.split()[-2:] for x in rows(out["capable"], f" {known['capabilities']} ") if "NICE" in x or "CHROOT" in x]
asked = rows(out["capable-p"], "CAP_SYS_ADMIN")
check("capable: who asks for memory is told of once", len(asked) <= 1 or not os.path.exists("/sys/kernel/tracing/events/capability"), out["capable-p"])
same("capable: has it, has it not", cap, [["CAP_SYS_NICE", "yes"], ["CAP_SYS_CHROOT", "no"]])
check("threadsnoop: three threads", len(rows(out["thread"], f" {P} ")) >= 3, out["thread"])
check("funclatency: a hundred calls", total(out["func"]) == 100 and re.search(r"^avg = \d+ nsecs, total: \d+ nsecs, count: 100$", out["func"], re.M), out["func"])
if "func-F" in out:
    check("funclatency -F: each by itself", re.search(r"^Function = vfs_read\n     usecs  ", out["func-F"], re.M) and re.search(r"^vfs_read: avg = ", out["func-F"], re.M), out["func-F"])
if "filelife" in out:
    same("filelife: the one that went", [x.split()[-1] for x in rows(out["filelife"], ME)], ["f4"])
if known["dns"]:
    host = [x.split() for x in rows(out["host"], "slow.kymo.test") if ME in x]
    check("gethostlatency: the name, and at least what the server takes", len(host) == 1 and float(host[0][3]) >= 150, out["host"])
else:
    skip("gethostlatency: a slow server", known["dns_why"])

port = str(known["connections"]["port"])
con = [x.split() for x in rows(out["connect"], f" {port}")]
same("tcpconnect: three", [(x[1], x[2], x[4], x[5], x[7], x[8]) for x in con if x[-1] == port], [("0", P, "4", "127.0.0.1", "127.0.0.1", port)] * 3)
same("tcpconnect -d: names looked up", [x.split()[-1] for x in rows(out["connect-d"], f" {port} ")], ["127.0.0.1"] * 3)
same("tcpconnect -c", [x.split() for x in out["connect-c"].splitlines()[2:3] + rows(out["connect-c"], f" {port} ")],
     [["LADDR", "RADDR", "RPORT", "CONNECTS"], ["127.0.0.1", "127.0.0.1", port, "3"]])
same("tcpaccept: three", [(x.split()[1], x.split()[4], x.split()[6]) for x in out["accept"].splitlines() if x.endswith(f" {port}")],
     [(P, "127.0.0.1", "127.0.0.1")] * 3)
if known["connections"]["port6"]:
    six = str(known["connections"]["port6"])
    same("tcpaccept -6: only IPv6", [x.split()[2:4] + x.split()[-2:] for x in out["accept-6"].splitlines()[1:]], [["6", "::1", "::1", six]])
life = [x.split() for x in out["life"].splitlines()[1:]]
same("tcplife: both ends, and how much", sorted((x[4] == port, x[6] == port, x[7], x[8]) for x in life if port in (x[4], x[6])),
     [(False, True, "4", "0")] * 3 + [(True, False, "0", "4")] * 3)
short = [x.split() for x in out["life-n"].splitlines()[1:]]
same("tcplife: the same in 80 columns", sorted((x[3] == port, x[5] == port, x[6], x[7]) for x in short if port in (x[3], x[5])),
     [(False, True, "4", "0")] * 3 + [(True, False, "0", "4")] * 3)
check("tcplife: 80 columns, with six for the time", max(len(x.rsplit(" ", 1)[0]) for x in out["life-n"].splitlines()) <= 73, out["life-n"])
check("tcplife -s: with commas", len(re.findall(rf"^{P},{ME},4,127.0.0.1,\d+,127.0.0.1,{port},4,0,[\d.]+$", out["life-s"], re.M)) == 3, out["life-s"])
again = known["retransmits"]
if again and again["n"]:
    lost = [x for x in out["retrans-l"].splitlines() if re.search(rf":{again['port']} +\w> ", x) and "ESTABLISHED" in x]
    plain = [x for x in out["retrans"].splitlines() if re.search(rf":{again['port']} +\w> ", x) and "ESTABLISHED" in x]
    again["n"] -= 1  # the kernel counts also what it could not send again, and tells nobody
    check("tcpretrans -l: as many as the kernel counts", len(lost) >= again["n"], f"{again} {out['retrans-l']}")
    same("tcpretrans: without tail loss probes", plain, [x for x in lost if " L> " not in x])
    count = re.search(rf"^127.0.0.1 +{again['port']} .* (\d+)$", out["retrans-c"], re.M)
    check("tcpretrans -c: counted", count and int(count[1]) >= again["n"], out["retrans-c"])
    check("tcpretrans -s: with stacks", re.search(r"^ => \w*tcp\w+$", out["retrans-s"], re.M), out["retrans-s"][:2000])
else:
    skip("tcpretrans", "nothing was sent again")
if known["oom"]:
    check("oomkill: the victim", re.search(rf"Triggered by PID \d+ \(.*OOM kill of PID {known['oom']}\b.*loadavg: \d", out["oom"]), out["oom"])
else:
    skip("oomkill", known["oom_why"])
check("pidpersec: at least the new ones", sum(int(x) for x in re.findall(r"^[\d:]+: PIDs/sec: (\d+)$", out["pids"], re.M)) >= 5, out["pids"])
same("cachestat: its columns", out["cache"].splitlines()[1].split(), ["TIME", "HITS", "MISSES", "DIRTIES", "RATIO", "BUFFERS_MB", "CACHE_MB"])
cached = [[float(v.strip("%")) for v in x.split()[1:]] for x in out["cache"].splitlines()[2:]]
check("cachestat: the size of the cache", all(x[5] >= 8 for x in cached), out["cache"])
check("cachestat: what was not in memory, and what was", sum(x[1] for x in cached) >= 2048 and sum(x[0] for x in cached) >= 2048, out["cache"])

check("runqlat -P: the process", re.findall(r"^pid = (.*)$", out["runqlat"], re.M) == [f"{P} {ME}"] and total(out["runqlat"]) >= 1, out["runqlat"])
check("cpudist: how long it ran", re.search(r"^     usecs +: count     distribution$", out["cpudist"], re.M) and total(out["cpudist"]) >= 10, out["cpudist"])
check("cpudist -Oe: ten sleeps of 20 ms", f"pid = {P} {ME}" in out["cpudist-O"] and
      sum(int(x) for x in re.findall(r"^ +(?:16384|32768|65536|131072) -> \d+ +: (\d+) ", out["cpudist-O"], re.M)) >= 10 and
      re.search(rf"^avg = \d+ usecs, total: \d+ usecs, count: {total(out['cpudist-O'])}$", out["cpudist-O"], re.M), out["cpudist-O"])
check("runqlen, softirqs, irqtime: show something", re.search(r"^     runqlen       : count     distribution\n        0          : \d+ +\|\**", out["runqlen"], re.M) and re.search(r"^net_rx +\d", out["softirqs"], re.M) and
      "\nsoftirq = net_rx\n     nsecs  " in out["irqtime"], out["softirqs"])
check("switches -c: by choice, at least the sleeps", int(re.search(rf"BY_CHOICE\n(?:.*\n)*?{ME} +(\d+)", out["switches"])[1]) >= 10, out["switches"])
kernel = [re.sub(r" \d+$", "", x).split(";-;")[1] for x in out["profile-a"].splitlines() if x.startswith(f"{ME};") and ";-;" in x]
check("profile -fa: functions of the kernel are marked", kernel and all(f.endswith("_[k]") for x in kernel for f in x.split(";")), out["profile-a"][-1500:])
owner = rf"^    -                {ME} \({P}\)$"
check("profile -c: by the time of CPUs", re.search(owner, out["profile-c"], re.M), out["profile-c"][-1500:])
check("profile: only this process", re.fullmatch(rf"Sampling at 499 Hertz of PID {P} by user \+ kernel stack... Hit Ctrl-C to end.\n\n(?:(?:    [^- ].*\n)*    -                {ME} \({P}\)\n        \d+\n\n)+", out["profile"]),
      out["profile"][-1500:])
check("profile -f: a line for each stack", out["profile-f"] and all(re.fullmatch(rf"{ME};.* \d+", x) for x in out["profile-f"].splitlines()), out["profile-f"][-1500:])
waited = sum(int(x) for x in re.findall(rf"{owner}\n        (\d+)$", out["off"], re.M))
check("offcputime: at least what it slept", waited >= 200000 and re.search(r"nanosleep", out["off"]), out["off"][-1500:])
check("offcputime -f: a line for each stack", re.search(rf"^{ME};.*nanosleep.* \d+$", out["off-f"], re.M), out["off-f"][-1500:])
same("offcputime -m -M: none is both", out["off-M"], f"Tracing off-CPU time (us) of PID {P} by user stack... Hit Ctrl-C to end.\n\n")

if not on_disk:
    skip("disk tools", start["why"])
else:
    def places(text, block, size):
        """Where our own writes went; a worker of the kernel may have issued some. They were made several times over."""
        found = {(x.split()[block], x.split()[size]) for x in text.splitlines()[1:]}
        return [x for x in PLACES if x in found]

    same("iosnoop: every write, where it went and how large", places(out["io"], -3, -2), PLACES)
    check("iosnoop: the device", all(f" {DEV} " in x for x in out["io"].splitlines() if x.split()[-3] == PLACES[0][0]), out["io"])
    check("iosnoop -p -n: those of the process", all(x.split()[:2] == [ME, P] for x in out["io-p"].splitlines()[1:]), out["io-p"])
    same("iosnoop -Qts -d -i: the same", places(out["io-Q"], -3, -2), PLACES)
    check("iosnoop -ts: start before end", all(float(x.split()[0]) < float(x.split()[1]) for x in out["io-Q"].splitlines()[1:]), out["io-Q"])
    same("iosnoop -i '*R*': no writes", [x for x in out["io-R"].splitlines()[1:] if "R" not in x[24:30]], [])
    same("iosnoop -d: another device has none", out["io-other"].splitlines()[1:], [])
    check("biosnoop: 80 columns", max(map(len, out["bio-n"].splitlines())) <= 80, out["bio-n"][:2000])
    same("biosnoop: the same", places(out["bio"], 5, 6), PLACES)
    check("biosnoop -QP: what lies behind the one before it, and the time in the queue",
          all(len(x.split()) == 10 and x.split()[7] in ("seq", "rand") for x in rows(out["bio"], ME)), out["bio"][:2000])
    check("iolatency: at least those", total(out["lat"]) >= 12 and re.search(r"^\n\d\d:\d\d:\d\d:\n  >=\(ms\) .. <\(ms\)   : I/O      \|Distribution {26}\|\n       0 -> 1       : \d+ ", out["lat"], re.M), out["lat"])
    check("biolatency -F: by kind", re.search(r"^flags = \w*W\w*\n     usecs               : count     distribution$", out["biolat"], re.M) and total(out["biolat"]) >= 12, out["biolat"])
    check("biolatency -mDe: by device", re.search(rf"^disk = {DISK}\n     msecs  ", out["biolat-D"], re.M) and
          re.search(rf"^avg = \d+ msecs, total: \d+ msecs, count: {total(out['biolat-D'])}$", out["biolat-D"], re.M), out["biolat-D"])
    check("biolatency -j: JSON", all(json.loads(x) for x in out["biolat-j"].splitlines()) and '"interval-end"' in out["biolat-j"], out["biolat-j"])
    table = [(x[:28], int(x[29:37])) for x in out["bite"].splitlines()[3:]]
    same("bitesize: the rows of old", [x for x, _ in table], ["              -> 0.9       :", "          1.0 -> 7.9       :", "          8.0 -> 63.9      :",
                                                              "         64.0 -> 127.9     :", "        128.0 ->           :"])
    check("bitesize: their sizes", table[3][1] >= 8 and table[1][1] >= 4, out["bite"])
    table = [x.split(" |")[0].split() for x in out["bite-b"].splitlines()[2:]]
    same("bitesize -b: a row for each bucket", [x[:-1] for x in table],
         [["Kbytes", ":", "I/O"], ["->", "7.9", ":"], ["8.0", "->", "15.9", ":"], ["16.0", "->", "31.9", ":"], ["32.0", "->", ":"]])
    check("bitesize -b: counts", int(table[-1][-1]) >= 8 and int(table[1][-1]) >= 4, out["bite-b"])
    check("bitesize -P: by process", re.search(r"^Process Name = .*\n     Kbytes  .*\n(?: .*\n)* +64 -> 127 +: [1-9]", out["bite-P"], re.M), out["bite-P"])
    check("biostacks: who asked for it", re.search(r"@usecs\[\n( +\S+\n)+", out["stacks"]), out["stacks"][:1500])
    check("hardirqs -C: something", re.match(r"Tracing hard irq events... Hit Ctrl-C to end.\n\nHARDIRQ +TOTAL_count\n\S+ +\d", out["hard"]), out["hard"])

# --- programs that others wrote: bash and openssl ---
other = {"bash": ["bashreadline"]} if run(["bash", "-c", "true"]).code == 0 else {}
try:
    made = run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{DIR}/key", "-out", f"{DIR}/cert",
                "-subj", "/CN=kymo", "-days", "2"]).code == 0
except OSError:
    made = False
if made:
    other |= {"ssl": ["sslsnoop", "-c", "openssl"], "ssl-lx": ["sslsnoop", "-lx", "--handshake"], "ssl-o": ["sslsnoop", "-o"], "ssl-H": ["sslsnoop", "-H", "-b", "6", "-c", "openssl"]}


def type_and_talk():
    if "bash" in other:
        pid, fd = pty.fork()
        if pid == 0:
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        for line in (f"echo {ME}-typed\n", "exit\n"):
            os.write(fd, line.encode())
        try:
            while os.read(fd, 4096):
                pass
        except OSError:
            pass
        os.waitpid(pid, 0)
    if not made:
        return
    server = subprocess.Popen(["openssl", "s_server", "-accept", "127.0.0.1:0", "-key", f"{DIR}/key", "-cert", f"{DIR}/cert"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    port = next(m[1] for m in (re.search(r"ACCEPT .*:(\d+)", x) for x in server.stdout) if m)
    client = subprocess.Popen(["openssl", "s_client", "-quiet", "-connect", f"127.0.0.1:{port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    client.stdin.write(f"secret {ME}\n")
    client.stdin.flush()
    for line in server.stdout:
        if "secret" in line:
            break
    server.stdin.write(f"answer {ME}\n")
    server.stdin.flush()
    client.stdout.readline()
    server.stdin.write("Q\n")  # it ends by itself, so its write has returned
    server.stdin.flush()
    try:
        server.wait(LIMIT)
    except subprocess.TimeoutExpired:
        pass
    for p in (client, server):
        p.kill()
        p.wait()


out, _ = beside(other, {}, type_and_talk)
if "bash" in out:
    same("bashreadline: what was typed", [x.split(None, 2)[2] for x in rows(out["bash"], ME)], [f"echo {ME}-typed"])
if "ssl" in out:
    check("sslsnoop: what the client wrote, and the server read", [x.split()[3] for x in rows(out["ssl"], f"secret {ME}")] in (["WRITE", "READ"], ["READ", "WRITE"]),
          out["ssl"])
    check("sslsnoop: the answer", [x.split()[3] for x in rows(out["ssl"], f"answer {ME}")] in (["WRITE", "READ"], ["READ", "WRITE"]), out["ssl"])
    same("sslsnoop -H -b: the first bytes", len(re.findall(r" 73 65 63 72 65 74$", out["ssl-H"], re.M)), 2)
    same("sslsnoop -o: not what goes through OpenSSL", rows(out["ssl-o"], ME), [])
    check("sslsnoop -lx: handshakes, times", rows(out["ssl-lx"], "HANDSHAKE") and re.search(r"\d+\.\d{3} openssl +\d+ +WRITE", out["ssl-lx"]), out["ssl-lx"])
else:
    skip("sslsnoop", "no openssl")
r = kymo("softirqs -C 1 1")
keys = re.findall(r"^(\w+) +\d+$", r.out, re.M)
check("softirqs 1 1: one output, not what came behind it", r.code == 0 and keys and len(keys) == len(set(keys)), r)
r = kymo("pidpersec 2")
check("pidpersec 2: two lines, and the end", len(re.findall(r"^\d\d:\d\d:\d\d: PIDs/sec: \d+$", r.out, re.M)) == 2, r)

# A server that closes first: its end is its own, though the connection came while another process was there.
SERVER = """import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while (c := s.accept()[0]).recv(1) == b"x":
    c.close()"""
server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
port = int(server.stdout.readline())
tool = subprocess.Popen([KYMO, "tcplife", "-s", "-L", str(port)], stdout=subprocess.PIPE, text=True)
first, line = tool.stdout.readline(), ""
deadline = time.monotonic() + LIMIT
while first and not line and time.monotonic() < deadline:  # it says what it will print before it is attached
    with socket.create_connection(("127.0.0.1", port)) as c:
        c.send(b"x")
        c.recv(1)
    if select.select([tool.stdout], [], [], 0.3)[0]:
        line = tool.stdout.readline()
with socket.create_connection(("127.0.0.1", port)) as c:
    c.send(b"y")
tool.send_signal(signal.SIGINT)
tool.communicate()
server.wait()
same("tcplife: a server that closes first", line.split(",")[0], str(server.pid))
shutil.rmtree(DIR)
end()
