#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""script: what it refuses and how, JSON, filters, recordings that are cut or damaged."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile

from tap import KYMO, WORK, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-script-")
FILE = f"{DIR}/perf.data"
BUSY = os.path.abspath(f"{WORK}/busy")


def refusals():
    r = kymo(f"script -i {DIR}/none")
    check("a missing file: exit 1", r.code == 1)
    has("a missing file: what to do", r.err, "cannot open", "hint:", "kymo record")
    open(f"{DIR}/empty", "w").close()
    has("an empty file", kymo(f"script -i {DIR}/empty").err, "is empty")
    has("a text", kymo("script -i /etc/passwd").err, "no recording that kymo knows", "hint:")
    r = kymo(f"script -i {FILE} -F comm,tiem")
    check("an unknown field: exit 1", r.code == 1)
    has("an unknown field: the nearest", r.err, "no such field: 'tiem'", "time")
    has("a field of hardware traces", kymo(f"script -i {FILE} -F insn").err, "not supported")
    has("mixed -F", kymo(f"script -i {FILE} -F comm,+time").err, "cannot mix")
    has("a bad time", kymo(f"script -i {FILE} --time x,y").err, "--time x,y makes no sense", "10%/2")
    has("a bad pid", kymo(f"script -i {FILE} --pid me").err, "not a list of numbers")
    has("a hardware trace", kymo(f"script -i {FILE} --itrace").err, "are not decoded", "hint:")
    for o in ("-s x.py", "-g python", "-l", "--dlfilter x.so", "--dlarg x", "--list-dlfilters"):
        has(f"{o}: what to use instead", kymo(f"script -i {FILE} {o}").err, "are not run", "kymo run -i", "kymo script -j", "kymo tools")
    has("a script's name", kymo(f"script -i {FILE} report syscall-counts").err, "script takes options only", "kymo run -i", "kymo tools")
    has("--graph-function", kymo(f"script -i {FILE} --graph-function main --call-trace").err, "are not decoded")
    for c in "annotate", "diff":
        has(f"{c} -D", kymo(f"{c} -D").err, "kymo script -D")
    has("guests", kymo(f"script -i {FILE} --guestmount /tmp").err, "record inside the guest")
    kernel = kymo("buildid-list -k")
    line = kymo("buildid-list -m").out.splitlines()[:1]
    check("buildid-list -m begins with the kernel", kernel.code != 0 or [x.split()[0] for x in line] == kernel.out.split(), line)
    has("-F help", kymo("script -F help").out, "comm", "srcline", "phys_addr")
    r = kymo(f"script -i {FILE} -F comm,cpu,weight --max-events 1")
    check("fields the samples lack are left out", r.code == 0 and "weight" in r.err and len(r.out.split()) == 1, r)
    r = kymo(f"script -i {FILE} -F raw:ip -F sw:comm --max-events 1")
    check("fields of events that are not there are left out", r.code == 0 and "no raw events" in r.err and len(r.out.split()) == 1, r)


def shown():
    lines = kymo(f"script -i {FILE} -G").out.splitlines()
    n = len(lines)
    check("there are samples", n > 5, n)
    same("--max-events", len(kymo(f"script -i {FILE} -G --max-events 3").out.splitlines()), 3)
    tenths = sum(len(kymo(f"script -i {FILE} -G --time 10%/{i}").out.splitlines()) for i in range(1, 11))
    same("the ten tenths together are all", tenths, n)
    first, last = (x.split()[2].rstrip(":") for x in (lines[0], lines[-1]))
    same("a range in seconds", len(kymo(f"script -i {FILE} -G --time {float(first) - 1},{float(last) + 1}").out.splitlines()), n)
    same("no samples before the first", kymo(f"script -i {FILE} -G --time ,{float(first) - 1}").out, "")
    leaf = kymo(f"script -i {FILE} -G -S leaf").out.splitlines()
    check("-S shows this function only", leaf and all("leaf+0x" in x for x in leaf), leaf[:3])
    same("--comm of nobody", kymo(f"script -i {FILE} --comm nobody").out, "")
    same("--comm", len(kymo(f"script -i {FILE} -G --comm busy,x").out.splitlines()), n)
    rel = kymo(f"script -i {FILE} -G --reltime -F time").out.split()
    same("--reltime begins with 0", rel[0], "0.000000:")
    deep = kymo(f"script -i {FILE} --max-stack 2").out.split("\n\n")[1].splitlines()
    check("--max-stack", len(deep) <= 3, deep)


def apart():
    """A file for each event; and what is seen between two events."""
    data = f"{DIR}/apart.data"
    kymo(f"record -q -e cpu-clock,syscalls:sys_enter_write,syscalls:sys_exit_write -o {data} dd if=/dev/zero of=/dev/null count=9 status=none")
    r = kymo(f"script --per-event-dump -i {data}")
    whole = kymo(f"script -i {data}").out
    writes = open(f"{data}.syscalls:sys_enter_write.dump").read()
    same("--per-event-dump: all samples of an event", writes.count("\n"), whole.count("syscalls:sys_enter_write:"))
    has("--per-event-dump: told", r.out, f"{data}.syscalls:sys_enter_write.dump ({writes.count(chr(10))} samples)")
    same("--per-event-dump: for the user's eyes only", os.stat(f"{data}.syscalls:sys_enter_write.dump").st_mode & 0o777, 0o600)
    same("--switch-off alone ends it", kymo(f"script -i {data} --switch-off syscalls:sys_enter_write").out,
         "".join(x for x in whole[:whole.index("syscalls:sys_enter_write:")].splitlines(True)[:-1]))
    has("--switch-on of what was not recorded", kymo(f"script -i {data} --switch-on cycles").err, "no such event", "sys_exit_write")
    has("the same of report", kymo(f"report -i {data} --switch-off cycles").err, "no such event")
    for more, n in (("", 8), ("--show-on-off-events", 9)):
        on = kymo(f"report -x , -n -s comm -i {data} --switch-on syscalls:sys_enter_write {more}").out
        has(f"report --switch-on {more}", on, f"syscalls:sys_enter_write,100.00,{n},dd", "syscalls:sys_exit_write,100.00,9,dd")


def as_json():
    out = kymo(f"script -i {FILE} -j --show-task-events --show-mmap-events").out.splitlines()
    rows = [json.loads(x) for x in out]
    samples = [r for r in rows if "event" in r]
    same("as many samples as lines", len(samples), len(kymo(f"script -i {FILE} -G").out.splitlines()))
    check("a sample's fields", all({"comm", "pid", "tid", "time", "ip", "chain"} <= set(r) for r in samples), samples[:1])
    check("functions in chains", any(f.get("sym") == "branch" for r in samples for f in r["chain"]))
    check("records", {"COMM", "MMAP2"} <= {r.get("record") for r in rows})
    check("times are in order", [r["time"] for r in samples] == sorted(r["time"] for r in samples))


def tracepoints():
    path = f"{DIR}/tp.data"
    r = run(["perf", "record", "-q", "-B", "--no-bpf-event", "-e", "sched:sched_process_exit,raw_syscalls:sys_enter", "-o", path, "true"])
    if r.code:
        skip("fields of tracepoints", "no tracepoints here: " + r.err.strip()[:60])
        return
    rows = [json.loads(x) for x in kymo(f"script -i {path} -j").out.splitlines()]
    check("fields of tracepoints", any(r["event"] == "raw_syscalls:sys_enter" and isinstance(r["fields"]["id"], int)
                                       for r in rows), rows[:2])
    check("texts in fields", any(r["fields"].get("comm") == "true" for r in rows))


def cut():
    data = open(FILE, "rb").read()
    whole = len(kymo(f"script -i {FILE} -G").out.splitlines())
    for part in (0.9, 0.5, 0.2):
        open(f"{DIR}/cut", "wb").write(data[:int(len(data) * part)])
        r = kymo(f"script -i {DIR}/cut -G")
        check(f"cut at {part:.0%}: what is there is shown, and that it was cut",
              r.code == 0 and 0 < len(r.out.splitlines()) <= whole and "cut short" in r.err, r.err)
    at, size = struct.unpack_from("<QQ", data, 40)
    broken = bytearray(data)
    p = at
    while p < at + size // 2:
        p += struct.unpack_from("<H", data, p + 6)[0]
    broken[p:p + 64] = bytes(64)
    open(f"{DIR}/broken", "wb").write(broken)
    r = kymo(f"script -i {DIR}/broken -G")
    check("64 bytes wiped out: a note, no crash", r.code == 0 and "kymo: " in r.err and r.out, r.err)


def output():
    r = run(f"{KYMO} script -i {FILE} | head -1", shell=True)
    check("a reader that goes away is no error", r.code == 0 and r.err == "", r.err)
    if os.path.exists("/dev/full"):
        r = run(f"{KYMO} script -i {FILE} >/dev/full", shell=True)
        check("a full disk is told", r.code == 1 and "cannot write" in r.err, r)
    r = run(f"cat {FILE} | {KYMO} script -G | wc -l", shell=True)
    same("without -i a pipe is read", int(r.out), len(kymo(f"script -i {FILE} -G").out.splitlines()))


def others():
    r = kymo(f"buildid-list -i {KYMO}")
    check("the build-id of a program", r.code == 0 and len(r.out.strip()) in (40, 32), r)
    same("the running kernel's", len(kymo("buildid-list -k").out.strip()), 40)
    has("evlist -g refuses others", kymo(f"evlist -i {FILE} -g -v").err, "--group")
    has("evlist", kymo(f"evlist -i {FILE} -F").out, "sample_freq=")


def inlined():
    """Plain call chains, of perf's and kymo's: return addresses lie behind the call."""
    data, prog = f"{DIR}/inlined", os.path.abspath(f"{WORK}/inlined")
    calls = r"leaf_function\n\s+\w+ calling_inlined \(inlined\)\n\s+\w+ calling_function\n\s+\w+ main\n"
    itself = r"\n\n\s+\w+ inner_inlined \(inlined\)\n\s+\w+ middle_inlined \(inlined\)\n\s+\w+ outer_function\n\s+\w+ main\n"
    for _ in range(20):
        kymo(f"record -q -g -F 1999 -e cpu-clock -o {data} {prog}")
        text = kymo(f"script -i {data} --inline -F ip,sym").out
        if "leaf_function" in text and "outer_function" in text:
            break
    check("--inline: what was inlined where a call was made", re.search(calls, text), text[:2000])
    check("--inline: and where the program itself was", re.search(itself, text), text[:2000])
    plain = kymo(f"script -i {data} --no-inline -F ip,sym").out
    same("--inline: no other frames", "".join(x for x in text.splitlines(True) if not x.endswith(" (inlined)\n")), plain)


def stacks():
    """Outer frames that the last stack had, too, are not looked up again: all is as if they were. Two processes have the same
    addresses and other files, one of them execs; stacks grow and shrink, some begin in the kernel, some are too deep, some astray."""
    rng = random.Random(5)
    records, want, time = [], [], 0
    kernel_mark, user_mark, no_mark = (struct.pack("<q", m) for m in (-128, -512, -100))

    def record(kind, misc, body):
        records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def begin(pid, file):
        record(3, 1 << 13, struct.pack("<II16s", pid, pid, b"work") + struct.pack("<IIQ", pid, pid, time))
        record(1, 2, struct.pack("<IIQQQ", pid, pid, 0x400000, 0x100000, 0) + file.encode().ljust(32, b"\0") +
               struct.pack("<IIQ", pid, pid, time))
        files[pid] = file

    files, stack = {}, {11: [], 12: []}
    for n in range(6000):
        time += 1000
        if n in (0, 3000):
            begin(11, f"/nowhere/first-{n}")
        if n == 0:
            begin(12, "/nowhere/other")
        pid = rng.choice((11, 11, 11, 12))
        frames = stack[pid] = stack[pid][rng.randrange(6):] if n % 500 else []
        for _ in range(rng.randrange(90, 260) if n % 300 == 7 else max(rng.randrange(5), 3 - len(frames))):
            frames.insert(0, 0x400000 + rng.randrange(1, 40) * 16)
        kernel, astray = n % 7 == 0, n % 11 == 0
        chain = (no_mark if astray else b"") + (kernel_mark + struct.pack("<Q", 0xffffffff81000000 + n) if kernel else b"") + user_mark
        chain += struct.pack(f"<{len(frames)}Q", *frames)
        record(9, 2, struct.pack("<QIIQQ", frames[0], pid, pid, time, len(chain) // 8) + chain)
        lines = [f"{0xffffffff81000000 + n:x} [unknown] ([unknown])"] if kernel else []
        lines += [f"{f - 0x400000:x} [unknown] ({files[pid]})" for f in frames]
        want.append([] if astray else lines[:127])  # so many are shown
    attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000, 0x1 | 0x2 | 0x4 | 0x20, 0, 1 << 18).ljust(136, b"\0")  # sample_id_all
    data = b"".join(records)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 152, 104, 152, 256, len(data), 0, 0) + bytes(32)
    open(f"{DIR}/stacks", "wb").write((head + attr + struct.pack("<QQ", 0, 0)).ljust(256, b"\0") + data)
    for how in ("", "--reltime"):  # by several threads, and alone
        text = kymo(f"script -i {DIR}/stacks -F comm,ip,sym,dso {how}").out
        got = [[line.strip() for line in x.splitlines()[1:]] for x in text.split("work ")[1:]]
        got = [[line for line in x if line] for x in got]
        same(f"stacks are whole {how}: how many", len(got), len(want))
        wrong = [i for i, (g, w) in enumerate(zip(got, want)) if g != w]
        check(f"stacks are whole {how}: each frame", not wrong, [(i, got[i], want[i]) for i in wrong[:1]])


if not shutil.which("perf"):
    skip("script", "perf is not installed")
    end()
try:
    for _ in range(20):  # perf 6.1 may crash, or record hardly a sample on a busy machine
        if subprocess.run(["perf", "record", "-q", "-B", "--no-bpf-event", "-g", "-F", "2000", "-o", FILE, BUSY, "80"],
                          capture_output=True).returncode == 0 and kymo(f"script -i {FILE} -G").out.count("\n") >= 100:
            break
    refusals()
    shown()
    apart()
    as_json()
    tracepoints()
    cut()
    output()
    others()
    inlined()
    stacks()
finally:
    shutil.rmtree(DIR, ignore_errors=True)
end()
