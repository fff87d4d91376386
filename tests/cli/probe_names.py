#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo probe, uprobe and functime with the names of C++: as they are written, with debug info and without; references are what they
refer to."""
import os
import re
import shutil
import subprocess
import tempfile

from tap import KYMO, check, end, has, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-names-")
APP = f"{DIR}/named{os.getpid()}"
GROUP = f"probe_named{os.getpid()}"
BARE = f"{APP}.bare"


def probe(path, *args):
    return run([KYMO, "probe", "-x", path, *args])


def found(path, text):
    """(event, symbols of the places) of a probe."""
    r = probe(path, "-D", text)
    lines = [x.split() for x in r.out.splitlines()]
    return sorted((x[0].split("/")[1], SYMBOLS.get(int(x[1].split(":")[1], 16), "")) for x in lines)


if not shutil.which("g++"):
    skip("all", "there is no C++ compiler")
    end()
subprocess.run(f"g++ -g -O2 -fno-ipa-sra -o {APP} tests/work/probed.cc && strip -g -o {BARE} {APP}",
               shell=True, check=True)
SYMBOLS = {int(x.split()[0], 16): x.split()[2] for x in run(["nm", APP]).out.splitlines() if len(x.split()) == 3 and x.split()[1] in "TtWw"}
RUN, OVER = "_ZN2ns3Foo3runEiRKNS_2InE", ["_ZN2ns4overEi", "_ZN2ns4overEl"]

for kind, path in (("debug info", APP), ("symbols alone", BARE)):
    for text in ("ns::Foo::run", "Foo::run", "run", "ns::Foo::r*"):
        same(f"{kind}: {text}", found(path, text), [("run", RUN)])
    same(f"{kind}: the linker's name", [x[1] for x in found(path, RUN)], [RUN])
    same(f"{kind}: all of a name", found(path, "ns::over"), [("over", x) for x in OVER])
    same(f"{kind}: one of them by its parameters", found(path, "ns::over(long)"), [("over", OVER[1])])
    same(f"{kind}: a template", found(path, "ns::Foo::add<int>"), [("add", "_ZN2ns3Foo3addIiEET_S2_")])
    same(f"{kind}: a name of two words", found(path, "Foo::add<long>"), [("add", "_ZN2ns3Foo3addIlEET_S2_")])
    same(f"{kind}: a destructor", {x[0] for x in found(path, "ns::Foo::~Foo")}, {"_Foo"})
    same(f"{kind}: a return, and a name for it", found(path, "mine=ns::Foo::run%return"), [("mine__return", RUN)])
    r = probe(path, "-D", "ns::Foo::rnu")
    check(f"{kind}: what was meant", r.code == 1 and "did you mean ns::Foo::run" in r.err, r)
    names = probe(path, "-F").out.splitlines()
    check(f"{kind}: -F shows names as they are written", {"ns::Foo::run", "ns::over", "ns::Foo::add<long>", "main"} <= set(names) and
          not [x for x in names if x.startswith("_Z") or x in ("printf", "run", "puts")], names)
    same(f"{kind}: -F with a pattern", probe(path, "-F", "ns::ov*").out, "ns::over\n")
    names = probe(path, "--no-demangle", "-F").out.splitlines()
    check(f"{kind}: --no-demangle", {RUN, *OVER} <= set(names) and "ns::over" not in names, names)
same("a line of it", [x[0] for x in found(APP, "ns::Foo::run:0")], ["run"])
has("-L", probe(APP, "-L", "ns::Foo::run:0-2").out, "<ns::Foo::run@", "      0  ", "printf")
has("-V", probe(APP, "-V", "ns::Foo::run").out, "@<ns::Foo::run+0>", "int\tk", "struct In&\tin")
check("a name is no line", "a line number must stand here" in probe(APP, "-D", "main:x").err, "")

# --- references -----------------------------------------------------------------------------------------------------
if os.geteuid() != 0 or not os.path.exists("/sys/kernel/tracing/uprobe_events"):
    skip("references", "no user-space probes here")
else:
    r = probe(APP, "-q", "-a", "refs n x=p->x moved.x list second=list[1] text=text:string", "-a", "ns::Foo::run k x=in.x again=in->x in.name")
    check("added", r.code == 0, r)
    run([KYMO, "record", "-q", "-o", f"{DIR}/d", "-e", f"{GROUP}:refs", "-e", f"{GROUP}:run", APP])
    got = run([KYMO, "script", "-i", f"{DIR}/d", "-F", "event,trace"]).out.splitlines()
    got = [re.sub(r" *\([0-9a-f]+\) ", " ", x.split(f"{GROUP}:")[1]) for x in got]
    same("removed", run([KYMO, "probe", "-q", "-d", f"{GROUP}:*"]).code, 0)
    want = []
    for i in range(3):
        want += [f'run: k={i} x=7 again=7 name="seven"', f'refs: n={40 + i} x=7 x_1=9 list={{1,2,3}} second=2 text="text"']
    same("references show what they refer to", got, want)

# --- uprobe and functime take one place -----------------------------------------------------------------------------
if os.geteuid() == 0 and os.path.exists("/sys/kernel/tracing/uprobe_events"):
    for text, name in (("p:{}:ns::Foo::run", "run"), ("p:{}:run", "run"), ("r:{}:ns::over(long)", "over"), ("p:mine {}:Foo::add<int>", "mine"),
                       ("p:{}:" + RUN, RUN)):
        r = run([KYMO, "uprobe", "-v", text.format(BARE)])
        check(f"uprobe {text}", f"name: {name}\n" in r.out, r)
    r = run([KYMO, "uprobe", "-v", f"p:{BARE}:ns::over"])
    check("uprobe: one of several must be given", r.code == 1 and "ns::over(int) or ns::over(long)" in r.err, r)
    r = run([KYMO, "uprobe", "-v", f"p:{BARE}:ns::Foo::rnu"])
    check("uprobe: what was meant", r.code == 1 and "did you mean ns::Foo::run" in r.err, r)
    same("uprobe -l", run([KYMO, "uprobe", "-l", BARE, "ns::Foo::*"]).out.split("\n")[:3], ["ns::Foo::add<int>", "ns::Foo::add<long>", "ns::Foo::run"])
    r = run([KYMO, "functime", "-x", BARE, "ns::Foo::nosuch"])
    check("functime: the file and the function are told apart", r.code == 1 and f"{BARE} has no function 'ns::Foo::nosuch'" in r.err, r)
shutil.rmtree(DIR)
end()
