#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is known to be missing in a recording is said by every command that reads it: losses, and an early end."""
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile

from tap import KYMO, WORK, check, end, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-losses-")
os.environ["XDG_CACHE_HOME"] = DIR + "/cache"
os.chdir(DIR)
KYMO = KYMO if os.path.isabs(KYMO) else os.path.join(os.environ.get("OLDPWD", "/"), KYMO)
ENTER, EXIT = "syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid"
CALLS = ["-e", ENTER, "--", f"{WORK}/known", "getppid=150000"]
EARLY = "the recording ended before it was to: "
# a trace.dat is read by all of these but the last ones
READERS = ["report --stdio", "script", "flame --format folded -o f", "collapse", "export --to csv -o e", "heat --syscall getppid -o h.html",
           "run -e 'tracepoint:syscalls:sys_enter_getppid { @ = count(); }'", "trace -s", "evlist", "buildid-list", "report --header-only", "report --tasks"]
PERF_ONLY = ["report --stats", "annotate --stdio", "archive -o a.kymo", "inject -b -o i.data"]


def limited(args, size):
    """kymo with files that cannot grow beyond size, as on a disk that is full."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return run([KYMO, *args], preexec_fn=limit)


def say_so(name, readers, wanted):
    for args in readers:
        r = kymo(f"{args} -i {name}")
        check(f"{args.split()[0]} of {name} says so", re.search(wanted, r.text), (args, r.text[-600:]))
    r = kymo(f"diff {name} {name}")
    check(f"diff of {name} says so of both", len(re.findall(wanted, r.text)) >= 2, r.text[-600:])


# --- a file that could not be written to the end --------------------------------------------------------------------
r = limited(["record", "-o", "full.data", "-e", EXIT, *CALLS], 2 << 20)
check("record: the reason", r.code and "cannot write full.data: " in r.err, r)
say_so("full.data", READERS + PERF_ONLY, EARLY + os.strerror(27))
for copy in ("i.data", "a.kymo"):
    check(f"a copy ({copy}) knows it, too", EARLY in kymo(f"report --stdio -i {copy}").text)
r = kymo(["record", "-o", "whole.data", *CALLS])
check("one that ended well does not say so", EARLY not in kymo("report --stdio -i whole.data").text and r.code == 0, r)

# --- events that there was no room for ----------------------------------------
with subprocess.Popen([KYMO, "record", "-m", "1", "-o", "lost.data", *CALLS], stderr=subprocess.PIPE, text=True) as p:
    err = p.communicate()[1]
told = re.search(r"([\d,]+) events? w(?:as|ere) lost", err)
if not told:
    skip("losses", "nothing was lost with the smallest ring")
else:
    n = int(told[1].replace(",", ""))
    head = re.search(r"Total Lost Samples: (\d+)", kymo("report --stdio -i lost.data").out)
    same("the header counts what the recorder told of", int(head[1]), n)
    say_so("lost.data", ["script", "flame --format folded -o f", "collapse", "export --to csv -o e", "annotate --stdio"],
           rf"lost:? {n}\b")
    check("report ends with it", re.search(rf"lost: {n:,}|lost: {n}\b", kymo("report --stdio -i lost.data").out))
    there = len(kymo("script -F tid -i lost.data").out.split())
    check("what is there and what is lost is all there was", 150000 <= there + n <= 150100, (there, n))
    if shutil.which("perf"):
        theirs = run("perf report --stdio -i lost.data")
        check("perf counts them as well", f"Total Lost Samples: {n}" in theirs.out, theirs.out[:300])

# --- trace.dat ----------------------------------------------------------------------------------------------------------
r = limited(["ftrace", "record", "-o", "full.dat", "-e", EXIT, *CALLS], 4 << 20)
if "wrote full.dat" not in r.text:
    skip("a trace.dat that was cut short", f"it could not be put together: {r.text.strip()[-200:]}")
else:
    check("ftrace record: the reason", "stopped too soon" in r.err, r)
    say_so("full.dat", [x for x in READERS if not x.startswith(("buildid", "run", "trace"))], EARLY + os.strerror(27))
    r = kymo("ftrace report full.dat")
    check("ftrace report says so", EARLY in r.err, r.err)

os.chdir("/")
shutil.rmtree(DIR, ignore_errors=True)
end()
