#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ftrace report against trace-cmd report, byte for byte, on the same files.

The files: those that trace-cmd 3.1.6 recorded in a guest (tests/data/trace.dat: functions, graphs, stacks, several
instances, every clock, versions 6 and 7, compressed), and those that kymo records here.
Where kymo differs on purpose, the difference is in KNOWN, with its reason.
"""
import difflib
import os
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile

from tap import KYMO, SAN, check, end, run, skip

# Pairs of lines that may differ: what trace-cmd prints, what kymo prints, why.
KNOWN = [
    (r" flags=D\|P\|I$", r" flags=[MDPI|]*$", "trace-cmd takes a & (b | c) in a print format as (a & b) | c"),
    (r" page=0x[0-9a-f]+", r" page=(0x[0-9a-f]+|\(nil\))", "trace-cmd adds the address of the kernel's variable"),
]
DIR = tempfile.mkdtemp(prefix="kymo-ftrace-")
HERE = os.path.dirname(os.path.abspath(__file__))

# Options, each for the files whose name matches.
OPTIONS = [
    ("", "."), ("-l", "."), ("-t", "sched7|graph$|counter|tsc|date"), ("-R", "sched|block|syscalls|kprobe|graph|ext4|inst$"),
    ("-l -R", "sched7"), ("-r sched_switch", "sched6"), ("--cpu 0", "sched7|graph$|estack"), ("--cpu 1 -l", "graph6|block"),
    ("--ts-diff", "sched7|tsc|counter"), ("-w", "sched7|inst"), ("--stat", "sched7|sched6|graph$"), ("-E", "sched7|kprobe6"),
    ("-q", "func"), ("-N", "graph$|func$|sched7"), ("-n sched_switch", "sched7"), ("-I", "block"), ("-S", "block"),
    ("--nodate", "date"), ("--raw-ts", "tsc|sched7"), ("--align-ts", "sched7|graph$"), ("-P", "sched6"), ("-f", "sched7"),
    ("-e", "sched7"), ("-p", "sched7"), ("--uname", "sched7|sched6"), ("--version", "sched7"), ("--cpus", "sched7"),
    ("--first-event", "sched7|tsc"), ("--last-event", "sched7"), ("-O fgraph:tailprint", "graph$|graphtail"),
    ("-O fgraph:depth", "graphg"), ("-O ftrace:parent", "func"), ("-O ftrace:offset", "func$"), ("-O indent=0", "func$"),
    ("-F|sched_switch:next_pid != 0", "sched7|estack"), ('-F|sched_switch:next_comm == "sh"', "sched7|sched6"),
    ("-F|.*:common_pid > 100", "estack|graph$"), ("-v|-F|.*:common_pid > 100", "sched7|graphg"),
    ("-F|sched_switch,sched_wakeup:prio < 130 && CPU == 0", "sched7"), ('-F|.*:COMM == "sh"', "sched7|estack"),
    ('-F|sched_wakeup:comm =~ "^rcu"', "sched7"), ("--pid 1", "sched7"), ("--comm sh", "sched7|func$"), ("--boundary", "sched7"),
    ("-O indent", "func$"), ("-L", "sched7|func$"), ("-F|sched/", "sched7"), ("-F|function:ip > 0", "func$"),
    ("-v -F sched_wakeup -F sched_switch", "sched7|sched6"), ("--cpu 0 --cpu 1 --pid 15 --pid 0", "sched7"),
    ("-F|sched_switch|-v|-F|sched_switch:next_pid==0|-F|sched_switch:prev_pid==0", "sched7"),
    ("--ts2secs 3000000000", "date|sched6"), ("-O fgraph:tailprint -O fgraph:tailprint", "graph$"),
    ("-T", "sched7"), ("-T|-F|sched_switch", "sched7"), ("-T|-F|sched_switch:next_pid == 1", "sched7"), ("-T|-F|sched/sched_wa.*:pid>0x10", "sched6"),
    ("-T|-F|sched:!(pid == 2)", "sched7"), ("-T|-F|sched:next_pid == 1 && prev_pid == 2 && CPU == 0", "sched7"),
    ('-T|-F|sched:comm =~ "sh"|-v|-F|sched_switch:(next_comm == "sh" && prev_pid == 1) || CPU == 0', "sched7"), ("-T|--pid|1|-F|function:ip > 0", "sched7"),
    ("--first-event --last-event --ts2secs 3000000000", "sched7|date"), ("--first-event -t --nodate", "sched6|date"),
    ("--last-event --raw-ts", "sched7|tsc"),
]

RECORD = [
    "-e sched", "-e sched --file-version 6", "-e sched --compression none", "-e sched --compression zstd",
    "-e syscalls -F", "-e raw_syscalls -F --file-version 6", "-e sched -e irq -e timer:hrtimer_start -B one -e irq -B two -e sched",
    "-e sched -B one -e irq --file-version 6", "-C mono -e sched:sched_switch", "-C boot -e sched:sched_switch",
    "-C counter -e sched:sched_switch", "-C x86-tsc -e sched:sched_switch", "--date -e sched:sched_process_exec", "-T -e sched:sched_switch",
    "-e block -e ext4 -e jbd2", "-e kmem:kmalloc -e kmem:kfree -F", "-e sched:sched_switch -f prev_pid!=0 -m 64",
    "-e task -e signal -e exceptions -e tlb", "-b 64 -e syscalls", "-O record-tgid -e sched:sched_switch",
]


def texts(argv):
    r = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return r.returncode, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")


def is_known(a, b):
    return any(re.search(p, a) and re.search(k, b) and re.sub(p, "", a) == re.sub(k, "", b) for p, k, _ in KNOWN)


def compare(name, path, options):
    code, want, err = texts(["trace-cmd", "report", *options, "-i", path])
    if code < 0:
        skip(name, f"trace-cmd dies with signal {-code}")
        return
    want = "".join(x for x in want.splitlines(True) if not x.startswith(" 'blktrace: "))  # an event of a plugin, not of the file
    _, got, own = texts([KYMO, "ftrace", "report", *options, "-i", path])
    if want == got:
        check(name, len(want) > 5 or not want, f"both say nothing: {err}{own}")
        return
    a, b = want.splitlines(), got.splitlines()
    bad = [x for x in zip(a, b) if x[0] != x[1] and not is_known(*x)] if len(a) == len(b) else None
    detail = "\n".join(list(difflib.unified_diff(a, b, "trace-cmd", "kymo", n=0, lineterm=""))[:20]) + own
    check(name, bad == [], detail)


def words(text):
    return text.split("|") if "|" in text else text.split()


if not shutil.which("trace-cmd"):
    skip("all of it", "no trace-cmd")
    end()

with tarfile.open(f"{HERE}/../data/trace.dat/trace-cmd-3.1.tar.xz") as tar:
    tar.extractall(DIR)
FILES = sorted(f[:-4] for f in os.listdir(DIR) if f.endswith(".dat"))
for opts, which in OPTIONS:
    for f in FILES:
        if re.search(which, f) and not (SAN and which == "." and f[-1] == "6"):
            compare(f"{f}: report {opts}".strip(), f"{DIR}/{f}.dat", words(opts))

# A file of trace-cmd split does not say by itself which clock it has.
for f in "sched7", "sched6":
    texts(["trace-cmd", "split", "-i", f"{DIR}/{f}.dat", "-o", f"{DIR}/split-{f}", "-e", "20"])
    for opts in "--ts-diff", "-t --ts-diff", "":
        compare(f"{f}, split: report {opts}".strip(), f"{DIR}/split-{f}.1", opts.split())

# Cycles with how they become nanoseconds (record --tsc2nsec): that option in place of uname's. The offset in it is not heeded.
run([KYMO, "ftrace", "convert", "-q", "-i", f"{DIR}/tsc.dat", "-o", f"{DIR}/scaled.dat", "--file-version", "6"])
scaled = open(f"{DIR}/scaled.dat", "rb").read()
at = re.search(rb"\x05\0....Linux", scaled, re.S).start()
scaled = scaled[:at] + b"\x0e" + scaled[at + 1:at + 6] + struct.pack("<IIQ", 5000000, 24, 12345678) + scaled[at + 22:]
open(f"{DIR}/scaled.dat", "wb").write(scaled)
for opts in "", "-t", "--raw-ts", "--ts-diff":
    compare(f"cycles as nanoseconds: report {opts}".strip(), f"{DIR}/scaled.dat", opts.split())
seconds = float(re.search(r"\] +([0-9.]+): ", texts([KYMO, "ftrace", "report", "-i", f"{DIR}/scaled.dat"])[1])[1])
check("cycles as nanoseconds: seconds", seconds < 1000, seconds)
for how in "--file-version 7", "--file-version 6":
    r = run([KYMO, "ftrace", "convert", "-q", "-i", f"{DIR}/scaled.dat", "-o", f"{DIR}/converted.dat", *how.split()])
    want, got = (texts(["trace-cmd", "report", "-i", f"{DIR}/{x}.dat"])[1] for x in ("scaled", "converted"))
    check(f"cycles as nanoseconds: convert {how}", r.code == 0 and len(want) > 500 and want == got, (want[:300], got[:300]))

# A file written anew in the other version, or packed otherwise, says the same to trace-cmd.
for f, how in [("sched7", "--file-version 6"), ("inst6", "--compression zstd"), ("func", "--compression none"), ("graph6", "--file-version 7")]:
    r = run([KYMO, "ftrace", "convert", "-q", "-i", f"{DIR}/{f}.dat", "-o", f"{DIR}/converted.dat", *how.split()])
    want, got = (texts(["trace-cmd", "report", "-i", f"{DIR}/{x}.dat"])[1] for x in (f, "converted"))
    check(f"{f}: convert {how}", r.code == 0 and len(want) > 500 and want == got, r)

if os.geteuid() == 0 and not SAN:
    for i, opts in enumerate(RECORD):
        path = f"{DIR}/own{i}.dat"
        r = run([KYMO, "ftrace", "record", "-q", "-o", path, *opts.split(), "--", "sh", "-c",
                 "for i in 1 2 3; do cat /proc/uptime >/dev/null; done; sleep 0.02"], timeout=120)
        if not check(f"record {opts}", r.code == 0, r):
            continue
        compare(f"record {opts}: the same words", path, [])
    for verb in "hist", "mem":
        _, _, err = texts(["trace-cmd", verb, "-i", f"{DIR}/own{len(RECORD) - 1}.dat"])
        check(f"trace-cmd {verb} has nothing to complain of", err == "", err)
else:
    skip("recordings of kymo", "not root, or slow")

shutil.rmtree(DIR)
end()
