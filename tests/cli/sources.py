#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command reads every format, by name and from standard input; what a format does not say is refused."""
import gzip
import json
import os
import re
import tarfile

from files import Folder
from tap import KYMO, WORK, check, end, has, kymo, run, same, skip

at = Folder("kymo-sources-")
HERE = os.path.dirname(__file__)


def rows(args, **kw):
    """Shares by function of a report, to whole per cents."""
    r = kymo(["report", "--stdio", "--no-children", "-g", "none", "--sort", "sym", *args], **kw)
    return r, {m[2]: round(float(m[1])) for m in re.finditer(r"^ +(\d+\.\d+)%  \[.\] (\S+)", r.out, re.M) if float(m[1]) >= 1}


def piped(text, command):
    return run(f"{text} | {KYMO} {command}", shell=True)


# --- texts with known figures ---
a = at.write("a.folded", "sh;main;parse 30\nsh;main;read;vfs_read_[k] 10\nsh;main 60\n")
b = at.write("b.folded", "sh;main;parse 10\nsh;main;read;vfs_read_[k] 10\nsh;main 80\n")
r, shares = rows([a])
same("report of folded text: its shares", shares, {"main": 60, "parse": 30, "vfs_read": 10})
has("the kernel's too, and how many counts", r.out, "10.00%  [k] vfs_read", "# Samples: 100")
check("no columns of nothing", "Shared Object" not in kymo(["report", "--stdio", a]).out)
r = kymo(["report", "--stdio", "--children", "-g", "none", a])
check("and those above", re.search(r"100.00% +60.00% +\[\.\] main", r.out), r.out)
same("by name or from standard input", piped(f"cat {a}", "report --stdio -g none").out, kymo(["report", "--stdio", "-g", "none", a]).out)
with open(a, "rb") as f:
    same("or a file that is that", kymo(["report", "--stdio", "-g", "none", "-"], stdin=f).out, kymo(["report", "--stdio", "-g", "none", a]).out)
points = at.write("points.txt", "".join(f"{i / 10} {i * i}\n" for i in range(50)))
r = run(["bash", "-c", f"{KYMO} heat --text -i <(cat {points})"])
check("what comes through a pipe is there for who looks at it twice", r.code == 0 and "no points" not in r.text and "max 2.40 ms" in r.text, r)
r = kymo(["diff", a, b])
check("diff of two: what changed", re.search(r"60.00% +\+20.00% +\[\.\] main", r.out) and re.search(r"30.00% +-20.00% +\[\.\] parse", r.out), r)
r = kymo(["script", "-i", a])
has("script of it", r.out, "vfs_read ([kernel.kallsyms])", "30 samples")
check("has no addresses", not re.search(r"[1-9a-f]\d* (main|parse)", r.out), r.out)
r = kymo(["export", "--to", "firefox", "-o", at.path("a.firefox.json"), a])
doc = json.loads(at.read("a.firefox.json"))
thread = doc["threads"][0]
weights = thread["samples"]["weight"] if "weight" in thread["samples"] else []
check("export for Firefox: a sample for each, with its weight", r.code == 0 and sum(weights) == 100, (r, weights))
has("its functions", json.dumps(doc), "vfs_read", "parse")
for to in ("pprof", "speedscope", "callgrind", "json", "csv", "folded"):
    r = kymo(["export", "--to", to, "-o", at.path(f"x.{to}"), a])
    check(f"export to {to}", r.code == 0 and os.path.getsize(at.path(f"x.{to}")) > 50, r)
same("folded text comes back as it was", sorted(at.read("x.folded").splitlines()), sorted(at.read("a.folded").replace("_[k]", "").splitlines()))
same("pprof too", kymo(["collapse", "--no-tidy", at.path("x.pprof")]).out.replace("_[k]", ""), kymo(["collapse", a]).out.replace("_[k]", ""))
for to in ("perfetto", "chrome"):
    r = kymo(["export", "--to", to, "-o", at.path("y"), a])
    check(f"no times for {to}: refused, with what helps", r.code == 1 and "does not say when" in r.err and "hint:" in r.err and not os.path.exists(at.path("y")), r)
r = kymo(["heat", a])
check("nor for a heat map", r.code == 1 and "it has no times" in r.err and "kymo record" in r.err, r)
for key, what in (("comm", "threads"), ("pid", "threads"), ("cpu", "CPUs"), ("time", "times")):
    r = kymo(["report", "--stdio", "-s", key, a])
    check(f"--sort {key}: refused, with what there is", r.code == 1 and f"has no {what}" in r.err and "symbol" in r.err, r)
r = kymo(["annotate", "--stdio", "-i", a])
check("nor is there code to annotate", r.code == 1 and "no addresses" in r.err and "hint:" in r.err, r)
r = kymo(["archive", "-o", at.path("a.tar"), "-i", a])
check("what works on perf.data only says so", r.code == 1 and "perf.data only" in r.err, r)
r = kymo(["run", "-q", "-i", a, "-e", "END { print(1); }"])
check("a program over it", r.code == 0 and "1" in r.out, r)
r = kymo(["flame", "--off-cpu", a, "-o", at.path("off.svg")])
check("nor what threads waited for", r.code == 1 and "hint:" in r.err, r)
r = kymo(["report", "--stdio", "-i", at.write("none", "")])
check("nothing at all is no recording", r.code == 1 and "none is empty" in r.err, r)
r = piped("printf 'no recording\\n'", "report -i -")
check("nor is a text of something else", r.code == 1 and "no recording that kymo knows" in r.err, r)
r = kymo(["report", "--stdio", "-g", "none", at.write("two.folded", "a 10 30\nb 30 10\n")])
has("two counts are two events", r.out, "of event 'before'", "of event 'after'", "75.00%  [.] b", "75.00%  [.] a")

# --- perf script's text ---
TEXT = """web  45/46 [001]  10.000100:    2000 cycles:P:
\tffffffff81000010 vfs_read+0x10 ([kernel.kallsyms])
\t          401136 main+0x16 (/usr/bin/web)

dd    51/51 [000]  10.100000:    6000 cycles:P:
\t            1234 copy+0x4 (/usr/bin/dd)
\t            1139 [unknown] (/usr/lib/libx.so.1)

"""
text = at.write("s.txt", TEXT)
r = kymo(["report", "--stdio", "-g", "none", "--no-children", text])
check("report of perf script's text: threads, files, functions",
      re.search(r"75.00%  dd +dd +\[\.\] copy", r.out) and re.search(r"25.00%  web +\[kernel.kallsyms\]  \[k\] vfs_read", r.out), r.out)
same("perf script | kymo report -i -", piped(f"cat {text}", "report --stdio -g none --no-children -i -").out, r.out)
same("by process", [x.split() for x in kymo(["report", "--stdio", "-g", "none", "--no-children", "--sort", "pid", text]).out.splitlines() if "%" in x][:2], [["75.00%", "51:dd"], ["25.00%", "46:web"]])
has("by time", kymo(["report", "--stdio", "-g", "none", "--time", "10.05,", text]).out, "100.00%")
r = kymo(["script", "-i", text])
has("script says it again", r.out, "10.000100:", "2000 cycles:P:", "1139 [unknown] (/usr/lib/libx.so.1)")
same("well enough to be read again", kymo(["collapse", "--all", at.write("s2.txt", r.out)]).out, kymo(["collapse", "--all", text]).out)
r = kymo(["export", "--to", "perfetto", "-o", at.path("s.pftrace"), text])
check("it has times", r.code == 0, r)
r = kymo(["heat", "--subsecond", text, "-o", at.path("s.html")]) if "--subsecond" in kymo(["heat", "-h"]).out else None
check("and a heat map of them", r is None or r.code == 0, r)

# --- trace.dat from standard input ---
with tarfile.open(f"{HERE}/../data/trace.dat/trace-cmd-3.1.tar.xz") as tar:
    for m in tar.getmembers():
        if m.isfile() and m.name.endswith(".dat"):
            at.write(os.path.basename(m.name), tar.extractfile(m).read())
            trace = at.path(os.path.basename(m.name))
            want = kymo(["report", "--stdio", "-i", trace]).out
            same(f"{os.path.basename(trace)} through a pipe: report", piped(f"cat {trace}", "report --stdio -").out, want)
            with open(trace, "rb") as f:
                same("as standard input", kymo(["report", "--stdio", "-i", "-"], stdin=f).out, want)
            want = kymo(["flame", "--format", "folded", "-o", "-", trace]).out
            same("flame", piped(f"cat {trace}", "flame --format folded -o - -").out, want)
left = [x for x in os.listdir("/tmp") if x.startswith("kymo-tmp-") and os.path.isfile(f"/tmp/{x}")]
check("no temporary file is left", not left, left)
r = run(f"cat {trace} | {KYMO} report -i -", shell=True, env={**os.environ, "KYMO_MAX_DISK": "4K"})
check("no more is kept than may be", r.code == 1 and "hint:" in r.err, r)

# --- one profile in four formats ---
r = kymo(["record", "-q", "-g", "-F", "999", "-e", "cpu-clock:u", "-o", at.path("r.data"), "--", os.path.join(WORK, "calls"), "tree=300", "recurse=100"])
if r.code == 0:
    data = at.path("r.data")
    want = rows(["-i", data])[1]
    kymo(["export", "--to", "pprof", "-q", "-i", data, "-o", at.path("r.pb.gz")])
    at.write("r.folded", kymo(["collapse", "--all", "--no-tidy", "-i", data]).out)
    at.write("r.txt", kymo(["script", "-i", data]).out)
    check("a profile with something in it", len(want) > 1, want)
    for name, what in (("r.pb.gz", "pprof"), ("r.folded", "folded text"), ("r.txt", "perf script's text")):
        same(f"{what} has the figures of perf.data", rows([at.path(name)])[1], want)
        r = kymo(["diff", "-s", "sym", at.path(name), data])
        changed = [x for x in re.findall(r"([+-]\d+\.\d+)%", r.out) if abs(float(x)) >= 0.05]
        check("and diff finds no change", r.code == 0 and not changed and "%" in r.out, r.out[:800])
    same("perf.data through a pipe", rows(["-"], stdin=open(data, "rb"))[1], want)
    same("and cat", piped(f"cat {data}", "report --stdio --no-children -g none --sort sym -i -").out, kymo(["report", "--stdio", "--no-children", "-g", "none", "--sort", "sym", "-i", data]).out)
    with gzip.open(at.path("r.pb.gz")) as f:
        at.write("r.pb", f.read())
    same("pprof through a pipe", piped(f"cat {at.path('r.pb')}", "report --stdio -g none").out, kymo(["report", "--stdio", "-g", "none", at.path("r.pb.gz")]).out)
    r = run(f"{KYMO} record -q -F 999 -e cpu-clock:u -o - -- {os.path.join(WORK, 'calls')} tree=50 | {KYMO} report --stdio -g none -i -", shell=True)
    check("a stream of records is read as it comes", r.code == 0 and "of event 'cpu-clock:u'" in r.out, r)

# --- several as one: perf.data and trace.dat by one clock, in the order of time ---
WHEN = ["-F", "comm,tid,time,event"]
one, two, three, other = (at.path(x) for x in ("one.data", "two.data", "three.dat", "other.dat"))
made = [kymo(["record", "-q", "-k", "mono", "-e", "sched:sched_process_exit", "-o", f, "--", "sh", "-c", "exit"]) for f in (one, two)]
made.append(kymo(["ftrace", "record", "-q", "-C", "mono", "-e", "sched:sched_process_exit", "-o", three, "sh", "-c", "exit"]))
made.append(kymo(["ftrace", "record", "-q", "-e", "sched:sched_process_exit", "-o", other, "sh", "-c", "exit"]))
if any(r.code for r in made):
    skip("several as one", made[0].err)
else:
    lines = [kymo(["script", "-i", f, *WHEN]).out.splitlines() for f in (one, two, three)]
    r = kymo(["script", "-i", one, "-i", two, "-i", three, *WHEN])
    words = lambda all: sorted(x.split() for x in all)
    same("script of three: all of their events", words(r.out.splitlines()), words(sum(lines, [])))
    times = [float(m) for m in re.findall(r" (\d+\.\d+):", r.out)]
    same("in the order of time", times, sorted(times))
    same("whichever is named first", words(kymo(["script", "-i", three, "-i", two, "-i", one, *WHEN]).out.splitlines()), words(r.out.splitlines()))
    count = lambda *files: int(re.search(r"# Samples: (\d+)", kymo(["report", "--stdio", *(x for f in files for x in ("-i", f))]).out)[1])
    same("report of three sums them", count(one, two, three), count(one) + count(two) + count(three))
    r = kymo(["flame", "-q", "-i", one, "-i", three, "-o", at.path("both.folded"), "--event-filter", "sched:sched_process_exit", "--counts"])
    check("flame of both", r.code == 0 and sum(int(x.split()[-1]) for x in at.read("both.folded").splitlines()) == count(one) + count(three), (r, at.read("both.folded"), count(one), count(three)))
    # each keeps the names of the kernel's functions that it met
    faults, calls = at.path("faults.data"), at.path("calls.data")
    for f, what in ((faults, "faults=20000"), (calls, "getppid=20000")):
        kymo(["record", "-q", "-e", "cpu-clock:k", "-F", "5000", "-o", f, "--", os.path.join(WORK, "known"), what])
    names = lambda *files: set(kymo(["script", "-F", "ip,sym", *(x for f in files for x in ("-i", f))]).out.splitlines())
    same("all names of both", names(faults, calls), names(faults) | names(calls))
    r = kymo(["script", "-i", one, "-i", other])
    check("clocks that differ are refused", r.code == 1 and "they do not say how far" in r.err and "-C mono" in r.err, r)
    r = kymo(["report", "-i", one, "-i", a])
    check("so is a text", r.code == 1 and "no events that others could be put among" in r.err, r)

at.remove()
end()
