#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""ftrace dump against trace-cmd dump, byte for byte and with its exit code, on files of trace-cmd and of kymo."""
import difflib
import os
import shutil
import struct
import subprocess
import tarfile
import tempfile

from tap import KYMO, SAN, check, end, run, skip

ITEMS = ["summary", "head-page", "head-event", "ftrace-events", "systems", "events", "kallsyms", "printk", "cmd-lines", "options", "flyrecord",
         "clock", "strings", "sections", "all"]
SETS = [[], *([f"--{i}"] for i in ITEMS), ["--summary", "--systems", "--options", "--flyrecord"], ["--events", "--clock", "-v"]]
HERE = os.path.dirname(os.path.abspath(__file__))
DIR = tempfile.mkdtemp(prefix="kymo-dump-")


def dump(tool, path, options):
    r = subprocess.run([*tool, "dump", *options, "-i", path], stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return r.returncode, r.stdout.decode(errors="replace")


def compare(name, path, sets=SETS):
    for options in sets:
        code, want = dump(["trace-cmd"], path, options)
        want = want.replace("Unknown section id 23: saved tgids", "")  # which trace-cmd 3.1 does not know
        own, got = dump([KYMO, "ftrace"], path, options)
        diff = list(difflib.unified_diff(want.splitlines(), got.splitlines(), "trace-cmd", "kymo", n=0, lineterm=""))[:20]
        check(" ".join([name, *options]), got == want and own == code == 0, "\n".join([f"exit {code}, {own}", *diff]))


if not shutil.which("trace-cmd"):
    skip("all of it", "no trace-cmd")
    end()
with tarfile.open(f"{HERE}/../data/trace.dat/trace-cmd-3.1.tar.xz") as tar:
    tar.extractall(DIR)
FILES = sorted(f[:-4] for f in os.listdir(DIR) if f.endswith(".dat"))
for f in FILES:
    if not SAN or f in ("sched7", "sched6", "inst"):
        compare(f, f"{DIR}/{f}.dat", SETS if f in ("sched7", "sched6", "inst", "inst6") else [["--all"]])
for how in "--file-version 6", "--compression none", "--compression zstd":
    run([KYMO, "ftrace", "convert", "-q", "-i", f"{DIR}/inst.dat", "-o", f"{DIR}/own.dat", *how.split()])
    compare(f"kymo's, {how}:", f"{DIR}/own.dat", [[], ["--all"]])


# Options that need machines within machines to come by: behind those there are.
def option(number, data):
    return struct.pack("<HI", number, len(data)) + data


shift = struct.pack("<QII", 0x1234567890ABCDEF, 1, 2) + struct.pack("<I6q", 2, 10, 20, -5, 7, 100, -200) + struct.pack("<I3q", 1, 30, 9, 300)
rare = {
    "shift": option(12, shift), "shift with fractions": option(12, shift + struct.pack("<3q", 31, 32, 33)),
    "guest": option(13, b"vm\0" + struct.pack("<QI4I", 0xFEED, 2, 0, 4711, 1, 4712)), "cycles": option(14, struct.pack("<IIQ", 5000000, 24, 12345678)),
    "maps": option(10, b"2f 1 /bin/cat\n55e0 55f0 /bin/cat\n\0"), "hook": option(6, b"a,b/c,d\0"), "offset": option(7, b"-1000\0"), "unknown": option(99, b"abcdef"),
    "no clock but one": option(4, b""),
}
v6 = open(f"{DIR}/sched6.dat", "rb").read()
start = v6.index(b"options  \0") + 10
for name, data in rare.items():
    open(f"{DIR}/rare.dat", "wb").write(v6[:start] + data + v6[start:])
    compare(f"an option: {name}", f"{DIR}/rare.dat", [["--options"], []])
at = v6.index(b"flyrecord\0", start)
open(f"{DIR}/rare.dat", "wb").write(v6[:at] + b"latency  \0# tracer: wakeup\n")
_, got = dump([KYMO, "ftrace"], f"{DIR}/rare.dat", [])
check("the text of a latency tracer", got.endswith("\t[6 options]\n\t[Latency tracing data]\n"), got)

# What is not whole: as far as it goes, as trace-cmd does, and then a failure.
for f in "sched6", "sched7":
    data = open(f"{DIR}/{f}.dat", "rb").read()
    for part in 5, 16, 30, 300, len(data) // 2, len(data) - 8200 if f == "sched6" else len(data) - 100:
        open(f"{DIR}/cut.dat", "wb").write(data[:part])
        code, want = dump(["trace-cmd"], f"{DIR}/cut.dat", ["--summary"])
        r = run([KYMO, "ftrace", "dump", "--summary", "-i", f"{DIR}/cut.dat"])
        check(f"{f} cut at {part}", r.code == (1 if code else 0) and ("cut" in r.err) == bool(code) and (f == "sched7" or want.startswith(r.out)), (code, want, r))
        r = run([KYMO, "ftrace", "dump", "-v", f"{DIR}/cut.dat"])
        check(f"{f} cut at {part}: not whole", r.code == 1 and "cut" in r.err + r.out, r)
for path in "/etc/passwd", f"{DIR}/none":
    r = run([KYMO, "ftrace", "dump", "-v", path])
    check(f"{path} is none", r.code == 1 and path in r.err and not r.out, r)
shutil.rmtree(DIR)
end()
