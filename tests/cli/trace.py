#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo trace: tests/work/syscalls.c makes known calls with known arguments; each is shown as it was made."""
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip
from watch import until, waits

if os.getuid() != 0:
    skip("system calls", "loading programs needs root")
    end()
DIR = tempfile.mkdtemp(prefix="kymo-trace-")
OUT = f"{DIR}/out"
FOLDER = f"{DIR}/f"
os.mkdir(FOLDER)
PROGRAM = os.path.abspath(f"{WORK}/syscalls")
X86 = platform.machine() == "x86_64"
first = kymo(f"trace -o {OUT} true")
if first.code != 0 and ("BTF" in first.err or "refuses" in first.err or "without tracing" in first.err):
    skip("system calls", first.err.strip())
    end()


def trace(options, command="", **kw):
    """The lines of a trace as (comm, tid, text), and how kymo ended."""
    r = kymo(["trace", "-o", OUT, *options.split(), *(["--"] if command else []), *command.split()], **kw)
    found = []
    for line in open(OUT, errors="replace"):
        m = re.match(r"\s*[\d.]+ \(\s*(?:[\d.?]+ ms)?\s*\): (.*?)/(\d+) (.*)", line)
        if m:
            found.append((m[1], int(m[2]), m[3]))
    return found, r


def plain(text):
    text = re.sub(r"0x[0-9a-f]{6,}", "ADDR", text.replace(FOLDER, "DIR"))
    return re.sub(r":\[\d+\]", ":[N]", text)


def objects(options, command, **kw):
    r = kymo(["trace", "-j", "-o", OUT, *options.split(), "--", *command.split()], **kw)
    return [json.loads(line) for line in open(OUT)], r


# --- each call as it was made ---
lines, r = trace("", f"{PROGRAM} {FOLDER}")
same("the exit code is the command's", r.code, 5)
same("nothing is said besides", r.err, "")
pid = lines[0][1] if lines else 0
has("the first call is the exec that worked", lines[0][2], f'execve("{PROGRAM}", ["{PROGRAM}", "{FOLDER}"], ')
own = [plain(t).replace(str(pid), "PID") for c, tid, t in lines if tid == pid]
begin = next((i for i, t in enumerate(own) if t.startswith("chdir")), 0)
WANT = """chdir("DIR") = 0
openat(AT_FDCWD, "data", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0640) = 3<DIR/data>
write(3<DIR/data>, "tab\\t\\"q\\" \\1\\0012\\n", 12) = 12
writev(3<DIR/data>, [{iov_base="one ", iov_len=4}, {iov_base="two\\n", iov_len=4}], 2) = 8
lseek(3<DIR/data>, 4, SEEK_SET) = 4
read(3<DIR/data>, "\\"q\\" \\1\\0012\\none two\\n", 64) = 16
pread64(3<DIR/data>, "tab", 3, 0) = 3
lseek(3<DIR/data>, 0, SEEK_SET) = 0
readv(3<DIR/data>, [{iov_base="tab", iov_len=3}, {iov_base="\\t\\"q\\" \\1\\0012\\none two", iov_len=16}], 2) = 19
fcntl(3<DIR/data>, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)
fcntl(3<DIR/data>, F_SETFD, FD_CLOEXEC) = 0
fstat(3<DIR/data>, {st_mode=S_IFREG|0640, st_size=20, ...}) = 0
ftruncate(3<DIR/data>, 5) = 0
dup(3<DIR/data>) = 4<DIR/data>
close(3<DIR/data>) = 0
openat(AT_FDCWD, "missing", O_RDONLY) = -1 ENOENT (No such file or directory)
access("data", R_OK|W_OK) = 0
mkdirat(AT_FDCWD, "folder", 0755) = 0
rename("data", "folder/moved") = 0
unlinkat(AT_FDCWD, "folder/moved", 0) = 0
unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR) = 0
getcwd("DIR", 64) = LEN
readlink("/proc/self/exe", "EXE", 4) = 4
close(-1) = -1 EBADF (Bad file descriptor)
close(999) = -1 EBADF (Bad file descriptor)
mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ADDR
mprotect(ADDR, 4096, PROT_NONE) = 0
madvise(ADDR, 4096, MADV_DONTNEED) = 0
munmap(ADDR, 8192) = 0
mmap(NULL, 0, PROT_READ, MAP_SHARED, -1, 0) = -1 EBADF (Bad file descriptor)
socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 3<socket:[N]>
setsockopt(3<socket:[N]>, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
connect(3<socket:[N]>, {sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 ECONNREFUSED (Connection refused)
close(3<socket:[N]>) = 0
socket(AF_UNIX, SOCK_DGRAM, 0) = 3<socket:[N]>
bind(3<socket:[N]>, {sa_family=AF_UNIX, sun_path="sock"}, 110) = 0
unlink("sock") = 0
close(3<socket:[N]>) = 0
socketpair(AF_UNIX, SOCK_STREAM, 0, [3<socket:[N]>, 5<socket:[N]>]) = 0
sendto(3<socket:[N]>, "hello", 5, MSG_NOSIGNAL, NULL, 0) = 5
recvfrom(5<socket:[N]>, "hello", 8, MSG_DONTWAIT, NULL, NULL) = 5
sendmsg(3<socket:[N]>, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="message", iov_len=7}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, 0) = 7
shutdown(3<socket:[N]>, SHUT_WR) = 0
close(3<socket:[N]>) = 0
close(5<socket:[N]>) = 0
pipe2([3<pipe:[N]>, 5<pipe:[N]>], O_CLOEXEC) = 0
epoll_create1(EPOLL_CLOEXEC) = 6<anon_inode:[eventpoll]>
epoll_ctl(6<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 3<pipe:[N]>, {events=EPOLLIN, data=0x1234}) = 0
write(5<pipe:[N]>, "x", 1) = 1
epoll_pwait(6<anon_inode:[eventpoll]>, [{events=EPOLLIN, data=0x1234}], 4, 100, NULL, 8) = 1
ppoll([{fd=3<pipe:[N]>, events=POLLIN, revents=POLLIN}, {fd=5<pipe:[N]>, events=POLLOUT, revents=POLLOUT}], 2, NULL, NULL, 0) = 2
clock_nanosleep(CLOCK_MONOTONIC, 0, {tv_sec=0, tv_nsec=1000000}, NULL) = 0
rt_sigprocmask(SIG_BLOCK, [USR1], NULL, 8) = 0
getpid() = PID
kill(PID, 0) = 0
prlimit64(0, RLIMIT_NOFILE, NULL, {rlim_cur=N, rlim_max=N}) = 0
getppid() = N
syscall_0xf423f(0x1, 0x2, 0x3, ANY) = -1 ENOSYS (Function not implemented)
vfork() = CHILD
wait4(CHILD, [{WIFEXITED(s) && WEXITSTATUS(s) == 7}], 0, NULL) = CHILD
exit_group(5) = ?""".splitlines()
if X86:
    got = own[begin:]
    same("as many calls as were made", len(got), len(WANT))
    for g, w in zip(got, WANT):
        pattern = re.escape(w)
        for word, what in (("LEN", r"\d+"), ("EXE", ".{4}"), ("CHILD", r"\d+"), ("ANY", ".*")):
            pattern = re.sub(rf"\b{word}\b", lambda _: what, pattern)
        pattern = re.sub(r"rlim_(cur|max)=N", r"rlim_\1=[\\w*]+", pattern)
        pattern = pattern.replace(r"getppid\(\)\ =\ N", r"getppid\(\)\ =\ \d+")
        check(f"shown as it was: {w.split('(')[0]}", re.fullmatch(pattern, g), f"got:  {g}\nwant: {w}")
    child = [t for c, tid, t in lines if tid != pid]
    has("an exec that failed has its arguments", child[0],
        'execve("/bin/nothing/here", ["nothing", "at all"], 0x', "= -1 ENOENT (No such file or directory)")
    has("an exec that worked, too", child[1], 'execve("/bin/sh", ["sh", "-c", "exit 7"], 0x', ") = 0")
    check("the child's calls are followed to its end", child[-1] == "exit_group(7) = ?", child[-1])
    check("and have its new name", [c for c, tid, t in lines if tid != pid][-1] == "sh", lines[-5:])
else:
    skip("each call", "the list is x86's")

# --- which ones ---
if not SAN:  # each takes a while there, and runs the same code
    lines, r = trace("-e openat,close", f"{PROGRAM} {FOLDER}")
    same("-e: only these", {t.split("(")[0] for _, _, t in lines}, {"openat", "close"})
    lines, r = trace("-e !openat,close", f"{PROGRAM} {FOLDER}")
    names = {t.split("(")[0] for _, _, t in lines}
    check("-e !: all but these", "openat" not in names and "close" not in names and "execve" in names, names)
    lines, r = trace("-e %network", f"{PROGRAM} {FOLDER}")
    same("-e %group", {t.split("(")[0] for _, _, t in lines},
         {"socket", "setsockopt", "connect", "bind", "socketpair", "sendto", "recvfrom", "sendmsg", "shutdown"})
    lines, r = trace("-e trace=file", f"{PROGRAM} {FOLDER}")
    names = {t.split("(")[0] for _, _, t in lines}
    check("-e trace=file, as strace has it", {"openat", "execve", "rename", "getcwd"} <= names and "read" not in names, names)
    lines, r = trace("-e sock*,pipe?", f"{PROGRAM} {FOLDER}")
    same("-e with patterns", sorted({t.split("(")[0] for _, _, t in lines}), ["pipe2", "socket", "socketpair"])
    r = kymo("trace -e opnat true")
    check("a name that is none is refused, with those that are near", r.code == 1 and "openat" in r.err, r)
    r = kymo("trace -e %fiel true")
    check("so is a group", r.code == 1 and "%fiel" in r.err, r)
lines, r = trace("--failure", f"{PROGRAM} {FOLDER}")
check("--failure: only those that failed", lines and all("= -1 E" in t for _, _, t in lines), lines)
check("and all of them", sum("EBADF" in t for _, _, t in lines) == 3, lines)
lines, r = trace("--duration 1", f"{PROGRAM} {FOLDER}")
check("--duration: the sleep of a millisecond is there", any(t.startswith("clock_nanosleep") for _, _, t in lines), lines)
times = [float(m[1]) for m in re.finditer(r"\(\s*([\d.]+) ms\)", open(OUT).read())]
check("and nothing shorter", times and min(times) >= 1, times)
lines, r = trace("--max-events 3", f"{PROGRAM} {FOLDER}")
same("--max-events", len(lines), 3)
# a machine at rest makes no calls of its own for minutes: somebody has to
with subprocess.Popen(["sh", "-c", "while sleep 0.05; do :; done"]) as caller:
    r = kymo(["trace", "-a", "--max-events", "3"])
    check("-a without -o: to standard error, as strace and perf trace do", r.out == "" and len(re.findall(r"(?m)^ *\d+\.\d+ \(.*ms\): ", r.err)) == 3, r)
    r = kymo(["trace", "-a", "--max-events", "3", "-j", "-o", "-"])
    check("and with -o - to standard output", r.code == 0 and r.err == "" and len([json.loads(x) for x in r.out.splitlines()]) == 3, r)
    caller.kill()
if not SAN:
    lines, r = trace("-e write --string-limit 4", f"{PROGRAM} {FOLDER}")
    has("--string-limit", lines[0][2], '"tab\\t"..., 12) = 12')
    lines, r = trace("-e openat --names --no-paths", f"{PROGRAM} {FOLDER}")
    has("--names and --no-paths", lines[-1][2] + "\n".join(t for _, _, t in lines),
        'openat(dfd: AT_FDCWD, filename: "data", flags: O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, mode: 0640) = 3\n')
    lines, r = trace("-e fstat -v", f"{PROGRAM} {FOLDER}")
    check("-v: all fields of structs, by the kernel's types",
          any(re.search(r"\{st_dev=\d+, st_ino=\d+, .*st_size=20, .*st_blocks=\d+", t) for _, _, t in lines), lines)

    r = kymo(["trace", "--no-inherit", "-o", OUT, "sh", "-c", "/bin/true; exit 4"])
    text = open(OUT).read()
    check("--no-inherit: not the children", r.code == 4 and ": sh/" in text and ": true/" not in text, text)
    lines, r = trace("-D 100000", "true")
    check("-D: nothing before its time, and it ends with the command", r.code == 0 and not lines, lines)

# --- JSON ---
calls, r = objects("", f"{PROGRAM} {FOLDER}")
check("-j: every line is an object", calls and all(c["type"] == "call" for c in calls), calls[:3])
bad = [c for c in calls if c.get("error") == "ECONNREFUSED"]
check("with names of arguments, errors and times", len(bad) == 1 and bad[0]["call"] == "connect" and
      bad[0]["args"]["addrlen"] == "16" and bad[0]["ret"] == -111 and bad[0]["duration"] > 0, bad)

# --- sums ---
counts = {}
for c in calls:
    if c["call"] not in ("exit_group", "getrandom", "brk"):
        counts[c["call"]] = counts.get(c["call"], 0) + 1
sums, r = objects("-s", f"{PROGRAM} {FOLDER}")
same("-s: the exit code is the command's", r.code, 5)
r = kymo(["trace", "-s", "sh", "-c", "kill -9 $$"])
check("a command that was killed: its signal", r.code == 137 and "kymo: sh was ended by a signal: Killed" in r.err, r)
summed = {}
for s in sums:
    for row in s["rows"]:
        summed[row["call"]] = summed.get(row["call"], 0) + row["calls"]
same("-s counts what was shown one by one", {k: v for k, v in summed.items() if k in counts}, counts)
same("a table a process", sorted(s["comm"] for s in sums), ["sh", "syscalls"])
row = {row["call"]: row for s in sums if s["comm"] == "syscalls" for row in s["rows"]}
check("errors by name", row["close"]["errors"] == 2 and row["close"]["by_error"] == {"EBADF": 2}, row["close"])
check("times add up", all(x["min"] * x["calls"] <= x["total"] <= x["max"] * x["calls"] for x in row.values()), row)
sums, r = objects("-s --summary-mode total", f"{PROGRAM} {FOLDER}")
check("--summary-mode total: one table", len(sums) == 1 and sums[0]["id"] == 0, sums)
r = kymo(["trace", "-s", PROGRAM, FOLDER])
has("the table has perf's columns, and goes to standard error", r.err, "calls  errors", "total", "min", "avg", "max", "stddev",
    "ECONNREFUSED 1", "EBADF 2")
lines, r = trace("-S -e close", f"{PROGRAM} {FOLDER}")
text = open(OUT).read()
check("-S: both", len(lines) > 5 and "Summary of system calls" in text and re.search(r"close +\d+ +2 ", text), text)

# --- running processes, and ends ---
if X86:
    lines, r = trace("", f"{PROGRAM} {FOLDER} 32")
    narrow = [t for _, _, t in lines if t.endswith("[32-bit]")]
    same("calls by the 32-bit way in have their own names", len(narrow), 2)
    same("and arguments", narrow[0], 'open("missing32", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory) [32-bit]')
    check("and results", re.fullmatch(r"getpid\(\) = \d+ \[32-bit\]", narrow[1]), narrow)
    sums, r = objects("-s", f"{PROGRAM} {FOLDER} 32")
    check("and are summed by themselves", sorted(x["call"] for x in sums[0]["rows"] if x.get("abi") == "i386") ==
          ["getpid", "open"], sums)
lines, r = trace("", f"{PROGRAM} {FOLDER} threads")
same("threads: the exit code", r.code, 0)
ended = [t for _, _, t in lines if t.startswith("read(3<pipe:")]
check("a thread that ended in a call", len(ended) == 1 and "= ?" in ended[0], ended)
execs = [(tid, t) for _, tid, t in lines if t.startswith("execve(")]
check("an exec by another thread goes on with the process's number", len(execs) == 2 and execs[0][0] == execs[1][0], execs)
check("what comes after it, too", lines[-1][1] == execs[0][0] and lines[-1][2] == "exit_group(0) = ?", lines[-1])


def wait_for(what, limit=30):
    end_at = time.monotonic() + limit
    while time.monotonic() < end_at:
        if what():
            return True
        time.sleep(0.02)
    return False


def text_of(path):
    try:
        return open(path, errors="replace").read()
    except OSError:
        return ""


target = subprocess.Popen(["sh", "-c", "while read line; do echo got $line >/dev/null; done; sleep 1000 & wait"],
                          stdin=subprocess.PIPE)
log = f"{DIR}/live"
p = subprocess.Popen([KYMO, "trace", "-p", str(target.pid), "-o", log], stderr=subprocess.PIPE)
seen = False
for i in range(300):  # it is attached when a line that was sent shows up
    target.stdin.write(b"word\n")
    target.stdin.flush()
    if wait_for(lambda: '"/dev/null"' in text_of(log), 0.1):
        seen = True
        break
check("-p: calls of a running process are shown while it runs", seen, text_of(log))
target.stdin.close()
check("and of its children", wait_for(lambda: "nanosleep" in text_of(log) or 'execve("' in text_of(log)), text_of(log))


def sleeps():
    """Is the child in clock_nanosleep now?"""
    for child in text_of(f"/proc/{target.pid}/task/{target.pid}/children").split():
        if text_of(f"/proc/{child}/syscall").split(" ")[0] in ("230", "115"):
            return True
    return False


check("which sleeps then", wait_for(sleeps), "no child sleeps")
p.send_signal(signal.SIGINT)
try:
    err = p.communicate(timeout=60)[1].decode()
except subprocess.TimeoutExpired:
    p.kill()
    err = "time-out"
check("Ctrl-C ends it well", p.returncode == 0 and "time-out" not in err, err)
text = text_of(log)
check("calls that have not returned are shown as such", re.search(r"sleep/\d+ clock_nanosleep\(.*\) = \? <unfinished \.\.\.>", text), text)
target.send_signal(signal.SIGSTOP)
for child in text_of(f"/proc/{target.pid}/task/{target.pid}/children").split():
    os.kill(int(child), signal.SIGKILL)
target.kill()
target.wait()

p = subprocess.Popen(["sleep", "1000"])
log = f"{DIR}/live2"
wait_for(lambda: text_of(f"/proc/{p.pid}/syscall").split(" ")[0] in ("230", "115"))
q = subprocess.Popen([KYMO, "trace", "-p", str(p.pid), "-o", log], stderr=subprocess.PIPE)
check("-p: the call it sleeps in is shown at once", wait_for(lambda: re.search(
    r"\? ms\): sleep/\d+ clock_nanosleep\(CLOCK_REALTIME, 0, .*\) = \? <unfinished \.\.\.>\n", text_of(log))), text_of(log))
p.kill()
p.wait()
try:
    q.communicate(timeout=60)
except subprocess.TimeoutExpired:
    q.kill()
same("it ends with the processes it was told of", q.returncode, 0)

# --- who called ---
lines, r = trace("--call-graph -e getppid", f"{PROGRAM} {FOLDER}")
text = open(OUT).read()
if "stack walker" in r.err:
    skip("--call-graph", r.err.strip())
else:
    part = text[text.find("getppid()"):].split("ms):")[0]
    check("--call-graph: the functions on the way to the call", re.search(
        r"syscall\+0x\w+ \(.*\n\s+waiting\+0x\w+ \(.*/syscalls\)\n\s+main\+0x\w+ \(.*/syscalls\)\n", part), text[:2000])
    r = kymo(f"trace -o {OUT} --call-graph -F min --no-syscalls -e sched:sched_process_exit true")
    text = open(OUT).read()
    check("--call-graph: who was at work at another event", re.search(r"sched:sched_process_exit\(comm=true .*\n +_?_?_?exit\+0x", text), text[-1500:])
    check("--call-graph: and at a page fault", re.search(r"minfault\(.*\n +_start\+0x0 .*ld-linux", text), text[:600])
    calls, r = objects("--call-graph --max-stack 2 -e getppid", f"{PROGRAM} {FOLDER}")
    mine = [c for c in calls if c["comm"] == "syscalls"]
    check("and in JSON, no more than asked for", len(mine) == 1 and len(mine[0]["stack"]) == 2 and
          mine[0]["stack"][1].startswith("waiting+"), mine)

# --- recordings ---
r = kymo(["record", "-q", "-e", "raw_syscalls:*", "-o", f"{DIR}/r.data", "--", PROGRAM, FOLDER])
r = kymo(["trace", "-i", f"{DIR}/r.data", "-e", "setsockopt,connect,close,madvise,lseek"])
text = plain(re.sub(r"(?m)^.*?: ", "", r.out))
has("-i: calls of a recording", text, "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, ADDR, 4) = 0",
    "connect(3, ADDR, 16) = -1 ECONNREFUSED (Connection refused)", "close(-1) = -1 EBADF (Bad file descriptor)",
    "madvise(ADDR, 4096, MADV_DONTNEED) = 0", "lseek(3, 4, SEEK_SET) = 4")
r = kymo(["trace", "-i", f"{DIR}/r.data", "-s", "-j"])
rows = {row["call"]: row["calls"] for line in r.out.splitlines() for row in json.loads(line)["rows"]
        if json.loads(line)["comm"] == "syscalls"}
want = {x["call"]: x["calls"] for x in row.values()}
same("and sums of them", {k: rows.get(k) for k in want if k not in ("brk", "execve", "getrandom")},
     {k: v for k, v in want.items() if k not in ("brk", "execve", "getrandom")})
r = kymo(["record", "-q", "-e", "dummy", "-o", f"{DIR}/n.data", "true"])
r = kymo(["trace", "-i", f"{DIR}/n.data"])
check("one without calls says how to record them", r.code == 1 and "raw_syscalls" in r.err, r)

# --- other events ---
lines, r = trace("-e sched:sched_process_exec,sched:sched_process_exit", "true")
check("-e with other events: only those", [re.match(r"[\w:]+", t)[0] for _, _, t in lines] ==
      ["sched:sched_process_exec", "sched:sched_process_exit"], lines)
has("in the kernel's words", lines[0][2] if lines else "", "filename=", "/true")
lines, r = trace("-e sched:sched_process_exit,openat", "true")
names = [re.match(r"[\w:]+", t)[0] for _, _, t in lines]
check("calls and events in one order", names[-1:] == ["sched:sched_process_exit"] and "openat" in names, names)
r = kymo("trace -e sched:nothing true")
check("an event that there is not is refused", r.code == 1 and "sched:nothing" in r.err, r)
lines, r = trace("-F all --no-syscalls", "true")
check("-F: page faults", lines and all(re.match(r"(min|maj)fault\(", t) for _, _, t in lines), lines[:3])
has("with names", "\n".join(t for _, _, t in lines), "/libc.so.6) => ")

# --- what is refused, and what is lost ---
r = kymo("trace")
check("nothing to trace is refused, with what to say", r.code == 1 and "-p PID" in r.err, r)
r = kymo("trace nosuchcommand")
check("a command that there is not: the shell's code", r.code == 127 and "nosuchcommand" in r.err, r)
r = kymo("trace -p 999999999 ")
check("a process that there is not is refused", r.code == 1 and r.err, r)
r = kymo(f"trace -o {DIR}/no/such/out true")
check("an output that cannot be written is refused", r.code == 1 and "cannot write" in r.err, r)
r = kymo(["trace", "-m", "1", "-o", OUT, "sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); : </dev/null; done"])
shown = sum(1 for _ in open(OUT))
m = re.search(r"([\d,]+) events? w(?:as|ere) lost", r.err)
if m:
    check("what is lost is counted and told", int(m[1].replace(",", "")) + shown >= 9000, f"{m[1]} lost, {shown} shown")
else:
    check("nothing was lost", shown >= 9000, f"{shown} shown")
r = run(f"{KYMO} trace -o - true | head -1", shell=True)
check("-o -: standard output, and a reader that goes away ends it", r.code == 0 and "execve" in r.out and r.err == "", r)
# --- whom, when, how long ---
deep = "/".join([DIR] + ["d" * 200] * 15)
os.makedirs(deep)
code = f"import os\np = {deep + '/file'!r}\nos.close(os.open(p, os.O_CREAT | os.O_WRONLY))\nos.rename(p, p + '2')"
r = kymo(["trace", "-o", OUT, "-e", "openat,rename", sys.executable, "-c", code])
text = open(OUT).read()
check("a path of 3,000 bytes, and that of its descriptor", f'openat(AT_FDCWD, "{deep}/file", O_WRONLY|O_CREAT|O_CLOEXEC, 0777) = 3<{deep}/file>' in text, text[-9000:])
check("two of them", f'rename("{deep}/file", "{deep}/file2") = 0' in text, text[-9000:])
up = time.clock_gettime(time.CLOCK_MONOTONIC)
r = kymo(f"trace -T -o {OUT} -e getppid {PROGRAM} {FOLDER}")
when = [float(x.split()[0]) / 1000 for x in open(OUT)]
check("-T: the clock's time", when and all(up <= x <= time.clock_gettime(time.CLOCK_MONOTONIC) for x in when), when)
both = subprocess.Popen([sys.executable, "-uc", """
import os, sys, threading
go = threading.Event()
def f():
    print(threading.get_native_id(), flush=True)
    go.wait()
    for i in range(7): os.getppid()
t = threading.Thread(target=f)
t.start()
sys.stdin.readline()
for i in range(5): os.getppid()
go.set()
t.join()
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
tid = int(both.stdout.readline())


def beside(out, *options):
    """kymo trace at work beside that process, waited for until it has attached. Into a file: a pipe that nobody reads may fill."""
    p = subprocess.Popen([KYMO, "trace", "-o", out, *options, "-e", "getppid"], stderr=subprocess.PIPE, text=True)
    until(lambda: p.poll() is not None or waits(p.pid))
    return p


logs = [f"{DIR}/one", f"{DIR}/not"]
one, not_it = beside(logs[0], "-t", str(tid)), beside(logs[1], "-a", "--filter-pids", f"{both.pid}")
both.stdin.write("go\n")
both.stdin.flush()
both.wait(60)
out = []
for p, log in zip((one, not_it), logs):
    if p.poll() is None:
        p.send_signal(signal.SIGINT)
    out.append(p.communicate(timeout=60)[1] + text_of(log))
check("-t: the calls of one thread", len(re.findall(rf"/{tid} getppid\(\)", out[0])) == 7 and not re.search(rf"/{both.pid} getppid", out[0]), out[0][-1500:])
check("--filter-pids: not these", not re.search(rf"/({both.pid}|{tid}) getppid", out[1]), out[1][-1500:])
for which, word in (("min", "minfault"), ("maj", "majfault")):
    r = kymo(f"trace -F {which} --no-syscalls -o {OUT} {PROGRAM} {FOLDER}")
    kinds = set(re.findall(r"(\w+fault)\(", open(OUT).read()))
    check(f"-F {which}: only those", r.code == 5 and kinds <= {word} and (kinds or which == "maj"), f"{kinds}\n{r}")

ARGS = os.path.abspath(f"{WORK}/callargs")
r = kymo(f"trace -o {OUT} {ARGS} {FOLDER} own")
text = open(OUT).read()
for name, want in (("a timeout as it was given", r"ppoll\(\[\{fd=-1, events=POLLIN.*?\}\], 1, \{tv_sec=0, tv_nsec=3000000\}, NULL, \d+\) = 0"),
                   ("the same of select", r"p?select6?\(0, NULL, NULL, NULL, \{tv_sec=0, tv_n?u?sec=7000(000)?\}"),
                   ("what select found", r"p?select6?\(\d+, \[(\d+)\], \[(\d+)\], NULL, NULL.*\) = 1 \(out \[\2\]\)"),
                   ("descriptors in a message", r"msg_control=\[\{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=\[1\]\}\], msg_controllen=24"),
                   ("how a child ended", r"waitid\(P_PID, (\d+), \{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=\1, si_uid=\d+, si_status=7, \.\.\.\}, WEXITED, NULL\) = 0")):
    check(name, r.code == 0 and re.search(want, text), text[-3000:])

r = kymo(f"trace -e getsockname,getpeername -o {OUT} {ARGS} {FOLDER}")
text = open(OUT).read()
for name, want in (("a name's length before and after", r"getsockname\(\d+<socket:\[\d+\]>, \{sa_family=AF_UNIX\}, \[110 => 2\]\) = 0"),
                   ("a name that does not fit", r"getsockname\(\d+<.*?>, \{sa_family=AF_INET, sa_data=\"(\\0){4}\"\}, \[6 => 16\]\) = 0"),
                   ("a length that stays", r"getpeername\(\d+<socket:\[\d+\]>, 0x[0-9a-f]+, \[16\]\) = -1 ENOTCONN")):
    check(name, r.code == 0 and re.search(want, text), text)

r = kymo(["trace", "-e", "clone", "-o", OUT, "sh", "-c", "ls | cat"])
text = open(OUT).read()
check("clone: what its flags ask for, by name", re.search(r"clone\(CLONE_CHILD_CLEARTID\|CLONE_CHILD_SETTID\|SIGCHLD, NULL, child_tid=0x[0-9a-f]+\) = \d+\n", text), text)

r = kymo(["trace", "--signals", "-e", "kill", "-o", OUT, "sh", "-c", "trap : USR1; kill -USR1 $$; kill -TERM $$"])
text = open(OUT).read()
check("--signals: when they are delivered", re.search(r"kill\((\d+), SIGUSR1\) = 0\n", text) and
      re.search(r"^ *[\d.]+ \( +\): sh/\d+ --- SIGUSR1 \{si_code=SI_USER, sa_handler=0x[0-9a-f]+\} ---$", text, re.M) and
      re.search(r"--- killed: SIGKILL, or another that nobody handles ---$", text, re.M) and r.code == 143, f"{r}\n{text}")
# --- perf's words ---
p = subprocess.Popen(["sh", "-c", "while :; do cd /; sleep 0.02; done"])
lines, r = trace(f"-e chdir,getppid,exit_group --no-inherit -p {p.pid}", "sleep 0.5")
check("-p PID -- COMMAND: the process is traced while the command runs, and only it",
      r.code == 0 and lines and {x[1] for x in lines} == {p.pid} and "chdir(" in lines[0][2], (lines, r))
r = kymo(f"trace -s -p {p.pid} -- sh -c 'sleep 0.3; exit 7'")
check("its exit code is kymo's", r.code == 7 and f"({p.pid})" in r.err, r)
p.kill()
p.wait()
data = f"{DIR}/calls.data"
r = kymo(["trace", "record", "-q", "-o", data, "--", f"{WORK}/known", "getppid=23"])
got = kymo(["trace", "-i", data, "-e", "getppid"])
check("trace record, trace -i: every call", r.code == 0 and len(re.findall(r" getppid\(", got.out)) == 23, (r, got))
shutil.rmtree(DIR, ignore_errors=True)
r = kymo(["trace", "--call-graph", "dwarf", "-e", "getppid", "--max-events", "1", "-o", "-", "sh", "-c", "true"])
check("--call-graph dwarf COMMAND: the word is how, not what", "cannot run" not in r.err, r)
end()
