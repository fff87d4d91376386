#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo probe --cache and %NAME: definitions kept in the build-id cache serve again without debug info, perf's and kymo's cache are
one, static probes go by pattern and without naming their program."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

from tap import KYMO, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-kept-")
NAME = f"kept{os.getpid()}"
APP, GROUP, SDT = f"{DIR}/{NAME}", f"probe_{NAME}", f"{NAME}s"
ENV = {"HOME": f"{DIR}/home", "DEBUGINFOD_URLS": "", "XDG_CACHE_HOME": f"{DIR}/cache"}
PERF = shutil.which("perf")
SOURCE = f"""
#include <stdio.h>
#ifdef STATIC
#include <sys/sdt.h>
#else
#define DTRACE_PROBE1(...)
#define DTRACE_PROBE2(...)
#endif
struct buf {{ int len; char *p; }};
__attribute__((noinline)) int work(int n, struct buf *b) {{ int s = n; for (int i = 0; i < b->len; i++) s += b->p[i]; return s; }}
int main(int c, char **v)
{{
	struct buf b = {{ 3, "abc" }};
	DTRACE_PROBE1({SDT}, start, c);
	for (int i = 0; i < 3; i++) {{ DTRACE_PROBE2({SDT}, step, i, v[0]); printf("%d\\n", work(i, &b)); }}
	DTRACE_PROBE1({SDT}, start, c + 1);
	return 0;
}}
"""


def probe(*args):
    return kymo(["probe", *args], env=ENV)


def kept(path=APP):
    return "".join(open(f).read() for f in glob.glob(f"{DIR}/home/.debug{path}/*/probes"))


def places(r):
    return re.sub(r":0x[0-9a-f]+", ":AT", r.out)


if os.geteuid() != 0 or not os.path.exists("/sys/kernel/tracing/uprobe_events"):
    skip("all of it", "probes are added by root, where there are uprobes")
    end()
os.mkdir(f"{DIR}/home")
open(f"{DIR}/t.c", "w").write(SOURCE)
subprocess.run(["gcc", "-g", "-O1", "-o", APP, f"{DIR}/t.c"], check=True)
WORK = "work n len=b->len"

# --- kept, and had again ---
same("nothing is kept at first", probe("-l", "--cache").text, "")
r = probe("-q", "--cache", "-x", APP, WORK)
same("--cache adds", (r.code, r.text), (0, ""))
probe("-q", "--cache", "-x", APP, "my=work%return $retval")
same("and keeps, with what the kernel is told", re.sub(":0x[0-9a-f]+", ":AT", kept()),
     f"#{WORK}\np:{GROUP}/work {APP}:AT n=%di:s32 len=+0(%si):s32\n#{GROUP}:my=work%return $retval\nr:{GROUP}/my__return {APP}:AT $retval:s32\n"
     if os.uname().machine == "x86_64" else re.sub(":0x[0-9a-f]+", ":AT", kept()))
listed = probe("-l", "--cache").out
check("-l --cache", re.fullmatch(rf"{APP} \([0-9a-f]+\):\n{re.escape(WORK)}\n{GROUP}:my=work%return \$retval\n", listed), listed)
has("-l --cache PATTERN", probe("-l", f"{GROUP}:m*", "--cache").out, "my=")
check("-l --cache PATTERN leaves the others out", WORK not in probe("-l", f"{GROUP}:m*", "--cache").out, "")
has("they were added, too", probe("-l", f"{GROUP}:*").out, f"{GROUP}:work ", f"{GROUP}:my__return ")
full = probe("-D", WORK, "-x", APP)
probe("-q", "-d", f"{GROUP}:*")
has("removing them keeps what is kept", probe("-l", "--cache").out, WORK, "my=")
subprocess.run(["strip", "-g", APP], check=True)
check("without debug info it cannot be found out", probe("-D", WORK, "-x", APP).code == 1, "")
same("but --cache has it", probe("--cache", "-D", WORK, "-x", APP).out, full.out)
same("and %NAME", probe("-D", "%work", "-x", APP).out, full.out)
same("%GROUP:NAME without its file", probe("-D", f"%{GROUP}:work").out, full.out)
same("a name of one's own", probe("-D", f"other:new=%work", "-x", APP).out, full.out.replace(f"{GROUP}/work", "other/new"))
same("patterns", len(probe("-D", f"%{GROUP}:*").out.splitlines()), 2)
shutil.move(APP, f"{DIR}/moved{NAME}")
same("a file that was moved", probe("-D", "%work", "-x", f"{DIR}/moved{NAME}").out, full.out.replace(f" {APP}:", f" {DIR}/moved{NAME}:"))
shutil.copy("/bin/true", APP)
r = probe("-D", f"%{GROUP}:work")
check("another file in its place is not probed", r.code == 1 and "no program of the build-id cache" in r.err and not r.out, r)
shutil.move(f"{DIR}/moved{NAME}", APP)
r = probe("-q", f"%{GROUP}:*")
out = f"{DIR}/perf.data"
record = run([KYMO, "record", "-q", "-o", out, "-e", f"{GROUP}:work", APP], env=ENV)
hits = run([KYMO, "script", "-i", out, "-F", "event,trace"], env=ENV).out
check("kept probes see what is there", r.code == 0 and re.findall(r"n=(\d+) len=(\d+)", hits) == [("0", "3"), ("1", "3"), ("2", "3")], (r, record, hits))
probe("-q", "-d", f"{GROUP}:*")

# --- the same cache for perf ---
if PERF:
    same("perf lists the same", run([PERF, "probe", "-l", "--cache"], env=ENV).out, probe("-l", "--cache").out)
    r = run([PERF, "probe", "--cache", "-x", APP, "-a", f"{GROUP}:theirs=main"], env=ENV)
    has("what perf keeps is had as well", probe("-D", "%theirs", "-x", APP).out, f"p:{GROUP}/theirs {APP}:0x")
    run([PERF, "probe", "-d", f"{GROUP}:*"], env=ENV)
    probe("--cache", "-q", "-d", "*:theirs")
else:
    skip("the same cache for perf", "no perf")
r = probe("--cache", "-d", f"{GROUP}:work")
same("-d --cache", (r.code, r.err, WORK in kept(), "my=" in kept()), (0, f"Removed cached event: {WORK}\n", False, True))
r = probe("--cache", "-d", f"{GROUP}:work")
check("-d --cache of what is not there", r.code == 1 and "no kept probe" in r.err and "hint:" in r.err, r)
r = probe("-D", "%work", "-x", APP)
check("it is gone", r.code == 1 and "no static probe work" in r.err, r)
with open(glob.glob(f"{DIR}/home/.debug{APP}/*/probes")[0], "w") as f:
    f.write(f"p:lost/lost /x:0x1\n#bad\nnonsense\np:a b\np:{GROUP}/bad /etc/passwd:0xzz\nq:{GROUP}/bad {APP}:0x1\n#\n\n#good one\np:{GROUP}/good /else:0x1139 a=%di\n")
r = probe("-D", f"%{GROUP}:*", "-x", APP)
same("lines that make no sense are left out", r.out, f"p:{GROUP}/good {APP}:0x1139 a=%di\n")

# --- static probes ---
r = run(["gcc", "-DSTATIC", "-g", "-O1", "-o", f"{APP}s", f"{DIR}/t.c"])
if r.code:
    skip("static probes", "sys/sdt.h is not installed")
else:
    have = {f"sdt_{SDT}/start": 2, f"sdt_{SDT}/step": 1}

    def found(r):
        names = re.findall(r"^p:(\S+) ", r.out, re.M)
        return {n: names.count(n) for n in names}
    for text, want in ((f"%sdt_{SDT}:start", 2), (f"%{SDT}:start", 2), ("%start", 2), (f"sdt_{SDT}:start", 2), ("%s*", 3), (f"%sdt_{SDT}:*", 3), ("%st?p", 1)):
        same(f"{text} of a program", sum(found(probe("-D", text, "-x", f"{APP}s")).values()), want)
    r = probe("-D", f"%sdt_{SDT}:*")
    check("not by name alone before the cache has it", r.code == 1 and "buildid-cache -a" in r.err, r)
    r = kymo(["buildid-cache", "-a", f"{APP}s"], env=ENV)
    same("buildid-cache -a: they go without naming the program", (r.code, found(probe("-D", f"%sdt_{SDT}:*"))), (0, have))
    has("and are listed", probe("-l", "--cache").out, f"\nsdt_{SDT}:start=start\nsdt_{SDT}:step=step\n")
    r = probe("-q", f"%sdt_{SDT}:*")
    same("all of them are added", sorted(re.findall(rf"sdt_{SDT}:\w+", probe("-l", f"sdt_{SDT}:*").out)), [f"sdt_{SDT}:start", f"sdt_{SDT}:start_1", f"sdt_{SDT}:step"])
    r = probe(f"%sdt_{SDT}:st*p")
    check("an event that is there is not added again", r.code == 1 and "already" in r.err, r)
    probe("-q", "-d", f"sdt_{SDT}:*")
    if PERF:
        own = kept(f"{APP}s")
        shutil.rmtree(f"{DIR}/home/.debug")
        run([PERF, "buildid-cache", "-a", f"{APP}s"], env=ENV)
        same("perf writes the same list of them", own, kept(f"{APP}s"))
left = [x for x in open("/sys/kernel/tracing/uprobe_events").read().splitlines() if NAME in x]
same("nothing is left", left, [])
shutil.rmtree(DIR)
end()
