#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where output goes: a full disk is told, a reader that has gone is no error, and a device that was named stays one."""
import os
import shutil
import stat
import subprocess
import tempfile

import shell
from tap import KYMO, SAN, WORK, check, end, kymo, skip

if os.geteuid() != 0:
    skip("all", "needs root, for devices")
    end()
TMP = tempfile.mkdtemp(prefix="kymo-outputs-")
os.chdir(TMP)
BEGIN = ["run", "-q", "-e", 'BEGIN { printf("hello\\n"); exit(); }']
TO_STDOUT = ["report --stdio", "report -j", "report -x,", "script", "evlist -v", "buildid-list", "annotate --stdio", "collapse",
             "export --to json -o -", "export --to pprof -o -", "archive -i perf.data -o -", "flame -o -", "heat --text -i perf.data", "diff perf.data perf.data", "list sw",
             "tools --source opensnoop", "ftrace report -i trace.dat", "addr2line -e /proc/self/exe 0x5000", "run -l hardware:*",
             "version", "help", "completion zsh", "--introspect"]
TO_FILE = ["record -o DEV true", "record -z -g -o DEV true", "stat -o DEV true", "stat record -o DEV true", "inject -b -i perf.data -o DEV", "archive -o DEV",
           "flame --format html -o DEV", "export --to pprof -o DEV", "export --to json -o DEV", "collapse -o DEV",
           "ftrace record -q -e sched:sched_process_exit -o DEV true", "ftrace convert -i trace.dat -o DEV", "trace -o DEV true"]

if SAN:  # which is slow to start: one of each kind
    TO_STDOUT, TO_FILE = TO_STDOUT[::5], [t for t in TO_FILE if t.split()[0] in ("inject", "archive", "ftrace")]


def device(name, minor):
    try:
        os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        with open(name, "wb", buffering=0) as f:
            try:
                f.write(b"x")
            except OSError:
                pass
        return True
    except OSError:
        return False


def run_to(path, words):
    with open(path, "wb") as f:
        return subprocess.run([KYMO, *words], stdout=f, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120)


def told(err):
    return b"No space left" in err or b"cannot write" in err


r = kymo(f"record -q -g -F 499 -o perf.data -- {WORK}/hotcode")
check("a recording", r.code == 0, r)
r = kymo("ftrace record -q -e sched:sched_process_exit -o trace.dat true")
check("a trace", r.code == 0, r)
for n, words in enumerate(("record -F 499", "stat record")):
    subprocess.run(f"{KYMO} {words} -o unread{n}.data true 2>&1 | true", shell=True, timeout=120)
    r = kymo(f"evlist -i unread{n}.data")
    check(f"{words}: nobody reads its messages, and the recording is whole", r.code == 0 and "killed" not in r.text, r)
for words in ("record -o - true", "stat record -o - true", "inject -b -i perf.data -o -", "archive -o -"):
    out, code = shell.on_terminal([KYMO, *words.split()], {}, timeout=120, raw=True)
    check(f"{words}: not on a terminal", code == 1 and b"nothing for a terminal" in out and b"PERFILE2" not in out, out[:300])
if not device("full", 7) or not device("null", 3):
    skip("devices", "none can be made here")
    shutil.rmtree(TMP)
    end()
r = kymo("record -q -e raw_syscalls:sys_enter -o calls.data true")
OVER = ["run", "-q", "-i", "calls.data", "-e", "tracepoint:raw_syscalls:sys_enter { @ = count(); }"]
for words in [t.split() for t in TO_STDOUT] + [BEGIN, OVER]:
    what = " ".join(words)[:50]
    r = run_to("full", words)
    check(f"{what}: a full disk is told", r.returncode == 1 and told(r.stderr), r)
    r = subprocess.run(["bash", "-c", '"$@" | true; exit ${PIPESTATUS[0]}', "x", KYMO, *words], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                       timeout=120)
    check(f"{what}: nobody reads it", r.returncode in (0, 141) and b"cannot" not in r.stderr, r)
for text in TO_FILE:
    for name in ("full", "null") if text.split()[0] in ("record", "ftrace") else ("full",):
        r = subprocess.run([KYMO, *text.replace("DEV", name).split()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                           timeout=120)
        kept = os.path.exists(name) and stat.S_ISCHR(os.lstat(name).st_mode)
        check(f"{text}: /dev/{name} stays a device", kept, r)
        check(f"{text}: /dev/{name} " + ("is told" if name == "full" else "is written to"),
              told(r.stderr) and r.returncode == 1 if name == "full" else r.returncode == 0, r)
        if not kept:
            if os.path.exists(name):
                os.unlink(name)
            device(name, 7 if name == "full" else 3)
os.chdir("/")
shutil.rmtree(TMP)
end()
