#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What pictures and reports say of stacks that are not whole and code that has no name: programs built to have such."""
import os
import re
import shutil

from files import Folder
from tap import WORK, check, end, has, kymo, run, skip

at = Folder("kymo-gaps-")
os.environ["XDG_CACHE_HOME"] = at.path("cache")
os.environ.pop("DEBUGINFOD_URLS", None)
KINDS = ("svg", "html", "folded")
EARLY, NAMELESS, NONE = "of the stacks end early", "in code without a name", "the recording has no stacks"


def record(options, *command):
    return kymo(["record", "-F", "999", *options.split(), "-o", at.path("r.data"), "--", *command])


def said():
    """What is said with each kind of picture."""
    return [(k, kymo(["flame", "-i", at.path("r.data"), "-o", at.path(f"x.{k}")]).err) for k in KINDS]


def reported():
    return kymo(["report", "-i", at.path("r.data"), "--stdio", "-g", "none"]).out


WORTH = 20  # one in so many is told


def shares_same(what, data):
    """The same shares from a report, every picture and collapse; folded text has what was idle, too, as a report with --idle."""
    shares_of(what, data, [], [k for k in KINDS if k != "folded"])
    return shares_of(f"{what}, idle too", data, ["--idle"], ["folded", "collapse"])


def shares_of(what, data, idle, kinds):
    """Only what is worth a line is told with pictures."""
    line = next((x for x in kymo(["report", "-i", data, "--stdio", "-g", "none", *idle]).out.splitlines() if re.match(r"# [\d,]+ samples?, lost", x)), "")
    found = {k: m.groups() for k, m in ((k, re.search(k + r": (\d+) \(([^)]+)\)", line)) for k in ("ending early", "stacks cut", "without a name")) if m}
    samples = int(re.match(r"# ([\d,]+) samples?", line)[1].replace(",", "")) if line else 0
    want = {k: v[1] for k, v in found.items() if int(v[0]) and int(v[0]) * WORTH >= samples}
    got = {}
    for kind in kinds:
        r = kymo(["collapse", "-i", data, "-o", at.path("x.txt")] if kind == "collapse" else ["flame", "-i", data, "-o", at.path(f"x.{kind}")])
        said = {"ending early": r"(\S+) of the stacks end early", "stacks cut": r"(\S+) of the stacks are cut", "without a name": r"(\S+) of the samples are in code without a name"}
        got[kind] = {k: m[1] for k, m in ((k, re.search(p, r.err)) for k, p in said.items()) if m}
    return check(f"{what}: the same shares everywhere", samples and all(v == want for v in got.values()), (line, want, got))


def work(name):
    return os.path.abspath(f"{WORK}/{name}")


for name in ("record-1.perf", "record-2.perf"):
    shares_same(f"perf's {name}", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data", name))
kymo(["record", "-q", "-F", "999", "-a", "-g", "-o", at.path("r.data"), "--", "sh", "-c", "for i in 1 2 3; do ls -lR /usr/lib/python3 /etc >/dev/null; done"])
shares_same("many processes", at.path("r.data"))
kymo(["record", "-q", "-F", "999", "-g", "-o", at.path("r.data"), "--", work("calls"), "random=300", "threads=2"])
shares_same("stacks that differ", at.path("r.data"))
record("", work("untabled"), "200")
shares_same("no stacks", at.path("r.data"))
for kind, err in said():
    check(f"{kind}, recorded without stacks: that, and what has them", NONE in err and "kymo record -g" in err and EARLY not in err, err)

for _ in range(5):  # on a busy machine tables may come late; they are kept for the next
    how = record("-g", work("framed"), "300").err
    if "100.0% reached" in how:
        break
if "reached the bottom" in how:
    if "100.0% reached" in how:
        for kind, err in said():
            check(f"{kind}, whole stacks: nothing to say", EARLY not in err and NAMELESS not in err and NONE not in err, err)
    else:
        skip("whole stacks: nothing to say", "a busy machine")
    record("-g", work("untabled"), "300")
    where = "in untabled, for want of unwinding tables: kymo doctor -p PID"
    for kind, err in said():
        has(f"{kind}, code without tables: which, and what helps", err, EARLY + ", most " + where)
    has("a report, too", reported(), "most of these stacks end " + where)
    shares_same("code without tables", at.path("r.data"))
else:
    skip("code without tables", "no stack walker here")

record("--call-graph fp", work("untabled"), "300")
where = "where code keeps no frame pointers: kymo record -g needs none"
for kind, err in said():
    has(f"{kind}, stacks by frame pointers that nobody keeps", err, EARLY + ", most " + where)
has("a report, too", reported(), "most of these stacks end " + where)

record("--call-graph fp --max-stack 1", work("framed"), "300")
for kind, err in said():
    check(f"{kind}, stacks that were cut: that, and not that they end early", "of the stacks are cut: kymo record --max-stack N" in err and EARLY not in err, err)
has("a report, too", reported(), "stacks were cut: kymo record --max-stack N")
shares_same("stacks that were cut", at.path("r.data"))
at.write("deep.c", """
static __attribute__((noinline)) unsigned down(int n, volatile unsigned *x)
{
	if (n)
		return down(n - 1, x) + 1;
	for (unsigned i = 0; i < 300000000; i++)
		*x += i;
	return *x;
}
int main(int argc, char **argv)
{
	unsigned x = 0;

	return down(argc > 1 ? 1500 : 300, &x) == 7;
}
""")
if run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", at.path("deep"), at.path("deep.c")]).code == 0:
    record("--call-graph fp", at.path("deep"))
    for kind, err in said():
        check(f"{kind}, deeper than the kernel goes unasked: cut, too", "of the stacks are cut" in err and EARLY not in err, err)
    cut = re.search(r"stacks cut: \d+ \(([\d.]+)%\)", reported())
    check("a report, too", "stacks were cut" in reported() and cut and float(cut[1]) > 80, reported())
    for what, options, more in (("deeper than was asked for", "-g --max-stack 20", []), ("deeper than the walker goes", "-g", ["deeper"])):
        helps = "1,024 frames are the most that kymo walks" if more else "--max-stack N allows for deeper ones"
        r = record(options, at.path("deep"), *more)
        if "reached the bottom" not in r.err:
            skip(f"walked, {what}", "no stack walker here")
            continue
        for kind, err in said():
            check(f"{kind}, walked, {what}: cut", "of the stacks are cut" in err and helps in err and EARLY not in err, err)
        has("a report, too", reported(), "stacks were cut: ", helps)
        has("and who recorded it", r.err, "stacks are not whole: cut", helps)
    record("--call-graph dwarf,1024", at.path("deep"))
    for kind, err in said():
        has(f"{kind}, copies that are too small: that, and what helps", err, EARLY + ", most where their copies do: kymo record -g needs none")
    has("a report, too", reported(), "most of these stacks end where their copies do")
else:
    skip("stacks deeper than the kernel goes unasked", "no compiler here")

bare = shutil.copy(work("framed"), at.path("bare"))
if run(["strip", bare]).code == 0:
    record("-g", bare, "300")
    for kind, err in said():
        has(f"{kind}, a stripped program", err, NAMELESS + ", most in bare: install its debug symbols, or set DEBUGINFOD_URLS")
        check("its stacks are not said to end early", EARLY not in err, err)
    shares_same("a stripped program", at.path("r.data"))
else:
    skip("a stripped program", "no strip here")

# one is not many
at.write("one.folded", "a;b 1\n")
for args, want in (([at.path("one.folded")], "1 count, 1 different stack"),):
    err = kymo(["flame", *args, "-o", at.path("one.svg")]).err
    check("one is said as one", want in err and "1 different stacks" not in err, err)
at.remove()
end()
