#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that end lines and speak to terminals: no command lets them forge a row, or drive a terminal."""
import os
import pty
import re
import subprocess

from files import Folder
from tap import KYMO, check, end, kymo, run, skip

SOURCE = r"""
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
__attribute__((noinline)) long work(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
static void *other(void *a) { prctl(PR_SET_NAME, "t\nFORGED"); for (int i = 0; i < 20; i++) work(1000000); return a; }
int main(void)
{
	pthread_t t;
	prctl(PR_SET_NAME, "a\nFORGED\033[7m");
	pthread_create(&t, 0, other, 0);
	close(open("n\nFORGED\033[7m", O_RDONLY));
	for (int i = 0; i < 20; i++) { work(1000000); getppid(); usleep(1000); }
	pthread_join(t, 0);
	execl("/bin/true", "tr\nFORGED\033[7m", "ar\nFORGED", (char *)0);
	return 1;
}
"""
at = Folder("kymo-names-")
os.chdir(at.root)
at.write("a.c", SOURCE)
if run("gcc -O1 -g -c a.c").code or run(["objcopy", "--redefine-sym", "work=work\nFORGED", "a.o"]).code or \
        run(["gcc", "-o", "p\nFORGED", "a.o", "-lpthread"]).code:
    skip("all", "needs gcc and binutils")
    end()
P = at.path("p\nFORGED")
os.symlink(P, at.path("plain"))
if os.geteuid() != 0:
    skip("all", "needs root")
    end()


def forged(text):
    return [x for x in text.splitlines() if re.match(r"\s*FORGED", x)]


def rows(what, args, seen=True):
    """None of its lines begins with what stands behind a name's line end; and the name is there."""
    r = kymo(args)
    check(what, not forged(r.text) and (not seen or "\\nFORGED" in r.text), f"{forged(r.text)[:3]}\n{r.text[:1500]}")


check("a recording of stacks", kymo(["record", "-q", "-g", "-F", "999", "-e", "cpu-clock", "-o", "p.data", "--", P]).code == 0)
check("one of events", kymo(["record", "-q", "-e", "sched:sched_switch,sched:sched_process_exec,task:task_rename", "-o", "t.data", "--", P]).code == 0)
check("a trace", kymo(["ftrace", "record", "-q", "-o", "t.dat", "-e", "sched", P]).code == 0)
for args in ("report --stdio -i p.data", "report --stdio --no-children -s comm,dso,sym -i p.data", "report --tasks -i p.data", "report --mmaps -i p.data",
             "report -D -i p.data", "report --header-only -i p.data", "script -i p.data", "script -i t.data",
             "script --show-mmap-events --show-task-events -i p.data", "annotate --stdio -i p.data", "buildid-list -i p.data", "collapse -i p.data",
             "diff p.data p.data", "export --to csv -i t.data -o /dev/stdout", "ftrace report t.dat"):
    rows(args, args.split())
for args in (["trace", "-s", "--summary-mode", "thread"], ["trace", "-e", "sched:*"], ["trace", "-e", "openat,getppid", "--call-graph", "dwarf"], ["ftrace", "stream", "-e", "sched_switch"]):
    rows(" ".join(args), [*args, "--", P])
rows("probe -F", ["probe", "-x", P, "-F"])
rows("run -l", ["run", "-l", f"uprobe:{P}:*"])
SAYS = {"printf()": 'printf("%s x\\n", comm);', "printf() of a name alone": 'printf("%s\\n", comm);', "print()": "print(comm);", "a tuple": "print((1, comm));",
        "keys and values": "@[comm] = count(); @b = comm;", "stacks": "@[ustack, comm] = count();", "stacks as perf has them": 'printf("%s\\n", ustack(perf));'}
for what, text in SAYS.items():
    rows(f"run: {what}", ["run", "-q", "-c", at.path("plain"), "-e", f"t:syscalls:sys_enter_getppid {{ {text} }}"])
rows("run: the names of files", ["run", "-q", "-c", at.path("plain"), "-e", 't:syscalls:sys_enter_openat { printf("%s\\n", str(args.filename)); }'])
rows("run: join()", ["run", "-q", "-c", at.path("plain"), "-e", "t:syscalls:sys_enter_execve { join(args.argv); }"])
rows("run -i", ["run", "-q", "-i", "t.data", "-e", 't:sched:sched_switch { printf("%s %s\\n", comm, args.next_comm); }'])
r = kymo(["run", "-q", "-c", at.path("plain"), "-e", 't:syscalls:sys_enter_getppid { printf("%s", comm); }'])
check("run: a text that is all a program says has its lines", forged(r.out), r.out[:300])


def on_terminal(args):
    """What a terminal gets."""
    me, other = pty.openpty()
    p = subprocess.Popen([KYMO, *args], stdout=other, stderr=other, stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
    os.close(other)
    text = b""
    try:
        while part := os.read(me, 65536):
            text += part
    except OSError:
        pass
    os.close(me)
    p.wait()
    return text


OWN = "\\033[2K"
for what, text in {"printf()": f'printf("{OWN}%s x\\n", comm);', "print()": f'printf("{OWN}\\n"); print(comm);', "keys": f'printf("{OWN}\\n"); @[comm] = count();',
                   "names of files": f'printf("{OWN}%-9s|%s\\n", comm, comm);'}.items():
    got = on_terminal(["run", "-q", "-c", at.path("plain"), "-e", f"t:syscalls:sys_enter_getppid {{ {text} }}"])
    check(f"terminal: {what} of a program with escapes of its own", b"\033[2K" in got and b"\\033[7m" in got and b"\033[7m" not in got, got[:300])
for what, text in {"cat()": 'cat("evil");', "system()": 'system("cat evil");'}.items():
    at.write("evil", "x\033[7my\n")
    got = on_terminal(["run", "-q", "--unsafe", "-e", f'BEGIN {{ printf("{OWN}\\n"); {text} exit(); }}'])
    check(f"terminal: {what} of such a program", b"\033[2K" in got and b"x\\033[7my" in got, got[:300])
got = on_terminal(["run", "-q", "-i", "t.data", "-e", f't:sched:sched_switch {{ printf("{OWN}%s\\n", args.prev_comm); }}'])
check("terminal: over a recording", b"\033[2K" in got and b"\\033[7m" in got and b"\033[7m" not in got, got[:300])
got = on_terminal(["script", "-i", "t.data"])
check("terminal: script", b"\\033[7m" in got and b"\033[7m" not in got, got[:300])
at.remove()
end()
