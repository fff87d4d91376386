#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Recordings with a byte changed, or cut: each is read, reported and listed, or refused with a reason.

Every byte of the first 4 KiB, every 97th after that, and two hundred cuts, of recordings of each kind.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same

DIR = tempfile.mkdtemp(prefix="kymo-damaged-")
TOOL = os.path.join(os.path.dirname(os.path.abspath(KYMO)), "tests/unit/perfflip")
KINDS = [  # name, options of record, work
    ("call chains", "-g -F 200 -e cpu-clock:u,page-faults:u", "tree=20 faults=5"),
    ("tracepoints", "-e sched:sched_switch,sched:sched_process_exit", "tree=5"),
    ("compressed", "-z -F 500", "tree=20"),
    ("copied stacks", "--call-graph dwarf,512 -F 100 -e cpu-clock:u", "tree=40"),
    ("counters", "-e '{cpu-clock,page-faults}:S' -d -W -F 500", "tree=20"),
]


def kept():
    """What kymo keeps for the next run, damaged or somebody else's: noticed, not used, made anew."""
    data, cache = f"{DIR}/kept.data", f"{DIR}/cache"
    env = {**os.environ, "XDG_CACHE_HOME": cache}
    kymo(f"record -q -o {data} --call-graph dwarf,4096 -F 500 -e cpu-clock:u -- {WORK}/calls tree=60")

    def shown():
        return run([KYMO, "script", "-i", data, "--no-debuginfod", "-F", "comm,ip,sym,srcline"], env=env)
    first = shown()
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(cache) for f in names if f.startswith(("index", "unwind-")))
    check("names and tables are kept", any("index" in os.path.basename(f) for f in files) and any("unwind" in f for f in files), files)
    if not files or not first.out:
        return
    good = {f: open(f, "rb").read() for f in files}

    def flipped(f):
        b = bytearray(good[f])
        b[len(b) // 2] ^= 1
        open(f, "wb").write(b)

    def cut(f):
        open(f, "wb").write(good[f][:len(good[f]) * 2 // 3])

    def linked(f):
        os.rename(f, f"{DIR}/elsewhere")
        os.symlink(f"{DIR}/elsewhere", f)
    ways = [("a bit flipped", flipped), ("cut", cut), ("empty", lambda f: open(f, "wb").close()), ("a link", linked),
            ("open to all", lambda f: os.chmod(f, 0o666))]
    if os.geteuid() == 0:
        ways.append(("another user's", lambda f: os.chown(f, 65534, -1)))
    for what, change in ways:
        for f in files:
            change(f)
        same(f"kept files, {what}: the same is shown", shown().out, first.out)
        bad = [f for f in files if os.path.islink(f) or os.stat(f).st_uid != os.geteuid() or os.stat(f).st_mode & 0o22 or
               ("unwind" in f and open(f, "rb").read() != good[f]) or not open(f, "rb").read()]
        check(f"kept files, {what}: they are made anew", not bad, bad)
    if os.geteuid() == 0:
        os.chown(f"{cache}/kymo", 65534, -1)
        same("another user's folder: the same is shown", shown().out, first.out)


def main():
    for name, options, work in KINDS:
        path = f"{DIR}/{name.replace(' ', '-')}.data"
        r = kymo(f"record -q -o {path} {options} -- {WORK}/calls {work}")
        if not check(f"{name}: recorded", r.code == 0 and os.path.exists(path), r.err):
            continue
        # all of it for one kind, a part for the others, which share most of their bytes' meanings
        part = [] if name == KINDS[0][0] else ["997", "11"] if SAN else ["97", "3"]
        r = run([TOOL, path, *part], timeout=280)
        check(f"{name}: an orderly end each time", r.code == 0, r.text[-3000:])
    path = f"{DIR}/call-chains.data"
    data = open(path, "rb").read()
    for what, damaged, word in (("nothing in it", b"", "is empty"), ("rubbish", b"PERFILE2" + os.urandom(300), ""),
                                ("the magic alone", data[:8], ""), ("half", data[:len(data) // 2], "")):
        open(f"{DIR}/bad.data", "wb").write(damaged)
        for command in ("report --stdio", "script", "evlist", "annotate --stdio", "diff", "buildid-list"):
            r = kymo(f"{command} {'-i' if command != 'diff' else path} {DIR}/bad.data")
            if what == "half":
                check(f"{what}: {command} shows what is there", r.code in (0, 1) and (r.out or r.err), r.err)
            else:
                check(f"{what}: {command} refuses", r.code == 1 and "bad.data" in r.err and word in r.err, r.err)
    r = kymo("report --stdio -i /dev/zero", timeout=60)
    check("what has no end is refused at once", r.code == 1 and "does not begin with PERFILE2" in r.err, r.err)
    has("half: it is told", kymo(f"report --stdio -g none -i {DIR}/bad.data").text, "cut short")
    for command in (f"flame -o {DIR}/bad.svg", f"flame -o {DIR}/bad.html", "collapse"):
        has(f"half: {command.split('.')[-1]} tells it, too", kymo(f"{command} -i {DIR}/bad.data").err, "cut short", "bytes of data are missing")


FAULTS = """
import mmap
m = mmap.mmap(-1, 4096 * 5000)
m.madvise(mmap.MADV_NOHUGEPAGE)
for _ in range(30):
    for i in range(5000):
        m[i * 4096] = 1
    m.madvise(mmap.MADV_DONTNEED)
"""


def shrinking():
    """A recording that is cut while it is read: a sentence, and no crash."""
    data = f"{DIR}/shrinks.data"
    r = run([KYMO, "record", "-q", "-e", "page-faults", "-c", "1", "-m", "8M", "-o", data, "--", sys.executable, "-c", FAULTS])
    check("many page faults are recorded", r.code == 0 and os.path.getsize(data) > 2 << 20, r)
    with subprocess.Popen([KYMO, "script", "-i", data], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        p.stdout.read(1)  # it has begun, and waits for who reads
        os.truncate(data, 8192)
        _, err = p.communicate()
    check("script: cut while it is read", p.returncode == 1 and err.decode() == f"kymo: {data} became shorter, or could not be read, "
          "while it was being read\nhint: wait until nobody writes to it any more, or read a copy of it\n", (p.returncode, err))
    r = run([KYMO, "flame", "-i", "/dev/zero", "-o", f"{DIR}/zero.svg"])
    check("flame: what has no end is refused at once", r.code == 1 and "starts with a 0" in r.err, r)


try:
    main()
    kept()
    shrinking()
finally:
    shutil.rmtree(DIR, ignore_errors=True)
end()
