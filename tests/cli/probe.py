#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo probe: events added to a program are seen exactly as often and with the values the program knows; nothing stays behind."""
import os
import re
import shutil
import signal
import subprocess
import tempfile

from tap import KYMO, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-probe-")
APP = f"{DIR}/probed{os.getpid()}"  # a name of its own: other tests may run beside this one
GROUP = f"probe_probed{os.getpid()}"
EVENTS = "/sys/kernel/tracing/uprobe_events"


def events():
    return [x for x in open(EVENTS).read().splitlines() if GROUP in x]


def probe(*args, **kw):
    return run([KYMO, "probe", *args], **kw)


def recorded(event, *more):
    data = f"{DIR}/p.data"
    r = run([KYMO, "record", "-q", "-o", data, "-e", event, *more, "--", APP, "7"])
    check(f"record {event}", r.code == 0, r)
    return run([KYMO, "script", "-i", data, "-F", "event,trace"]).out.splitlines()


def field(lines, name):
    return [m[1].strip('"') for m in (re.search(rf'\b{name}=("[^"]*"|\S+)', x) for x in lines) if m]


if os.geteuid() != 0 or not os.path.exists(EVENTS):
    skip("all", "no user-space probes here")
    end()
subprocess.run(f"gcc -g -O2 -o {APP} tests/work/probed.c && strip -g -o {APP}.bare {APP}", shell=True, check=True)

# --- adding, seeing, removing ---------------------------------------------------------------------------------------
r = probe("-x", APP, "work n->id len text:string k local_is_not_here")
check("a variable that is not there: said with a caret, nothing added", r.code == 1 and "^" in r.err and not events(), r)
r = probe("-x", APP, "work n->id n->next->id len text:string k n->in.flags n->in.more n->in.s[2] n->in.name global_n")
has("added", r.err, "Added new event:", f"{GROUP}:work", f"kymo record -e {GROUP}:work")
same("one event", len(events()), 1)
r = probe("-x", APP, "work")
check("the same name again: refused, with what helps", r.code == 1 and "-f" in r.err, r)
same("-f adds it under another name", (probe("-qfx", APP, "work").code, len(events())), (0, 2))
probe("-qd", f"{GROUP}:work_1")
got = recorded(f"{GROUP}:work")
same("every call was seen", len(got), 7)
same("len", field(got, "len"), [hex(10 + i) for i in range(7)])
same("k", field(got, "k"), [str(i) for i in range(7)])
same("a struct's member through a pointer, and through two: names are told apart",
     (set(field(got, "id")), set(field(got, "id_1"))), ({"1"}, {"2"}))
same("text", set(field(got, "text_string")), {"some text"})
same("bit fields", (set(field(got, "flags")), set(field(got, "more"))), ({"5"}, {"17"}))
same("an element of an array", set(field(got, "s")), {"-3"})
same("an array of characters", set(field(got, "name")), {"inner"})
same("a global variable", set(field(got, "global_n")), {"5"})
r = probe("-l", f"{GROUP}:*")
has("listed", r.out, f"{GROUP}:work", "on work@", "probed.c", f"in {APP}", "with id")
r = kymo(f"list {GROUP}:work")
has("kymo list knows it", r.out, f"{GROUP}:work")
r = kymo(f"stat -x, -e {GROUP}:work {APP} 5")
same("stat counts it", r.err.splitlines()[-1].split(",")[0], "5")
r = probe("-d", f"{GROUP}:*")
check("removed", r.code == 0 and "Removed event:" in r.err and not events(), r)
r = probe("-d", f"{GROUP}:work")
check("removing what is not there", r.code == 1 and "no probe" in r.err, r)

# --- returns, lines, several places ---------------------------------------------------------------------------------
probe("-qx", APP, "-a", "work%return $retval", "-a", "lab%return +0($retval):string", "-a", "line=work:5 local i", "-a", "twice")
got = recorded(f"{GROUP}:work__return")
plain = run([APP, "7"]).out.splitlines()[0::2]
same("what was given back is what was printed", field(got, "arg1"), [x.split()[-1] for x in plain])
same("a text that was given back", set(field(recorded(f"{GROUP}:lab__return"), "arg1")), {"hello"})
got = recorded(f"{GROUP}:line")
same("a line of a loop: as often as it ran", len(got), sum(range(10, 17)))
same("a local variable there", field(got, "i")[:10], [hex(i) for i in range(10)])
names = sorted(re.findall(rf"{GROUP}/(twice\w*)", "\n".join(events())))
check("an inlined function is probed at all its places", names[:2] == ["twice", "twice_1"], names)
probe("-qd", f"{GROUP}:*")

# --- asking ---------------------------------------------------------------------------------------------------------
r = probe("-nx", APP, "-v", "work n")
check("-nv shows the definition and adds nothing", "p:" in r.err and "n=%" in r.err and not events(), r)
has("-L", probe("-x", APP, "-L", "work").out, "<work@", "      5  ")
has("-V", probe("-x", APP, "-V", "work").out, "struct node*\tn", "unsigned int\tlen")
has("-F", probe("-x", APP, "-F", "w*").out, "work")
has("a library by its short name", probe("-x", "libc", "-F", "mallo*").out, "malloc")
same("-F with a pattern", probe("-x", APP, "-F", "wor?|lab").out.split(), ["lab", "work"])
same("--filter leaves out others", probe("-x", APP, "-F", "--filter", "wor?|lab").out.split(), ["lab", "work"])
first, seventh = ("%di", "+8(%sp)") if os.uname().machine == "x86_64" else ("%x0", "%x6")
has("$argN of a program's function", probe("-x", APP, "-D", "work a=$arg1 s=+0($arg1):string $arg7").out, f" a={first} s=+0({first}):string {seventh}\n")
same("--target-ns: the file as another process sees it", probe("--target-ns", str(os.getpid()), "-x", APP, "-D", "work n").out,
     probe("-x", APP, "-D", "work n").out)
has("the kernel's parameters by its own types", probe("-V", "vfs_read").out, "size_t\tcount", "struct file *\tfile")
same("... and where they are", probe("-D", "vfs_read count").out,
     "p:probe/vfs_read vfs_read+0 count=%dx:x64\n" if os.uname().machine == "x86_64" else
     "p:probe/vfs_read vfs_read+0 count=%x2:x64\n")

if os.uname().machine == "x86_64":
    same("all of them", probe("-D", "vfs_read $params").out,
         "p:probe/vfs_read vfs_read+0 file=%di:x64 buf=%si:x64 count=%dx:x64 pos=%cx:x64\n")

# --- what goes wrong ------------------------------------------------------------------------------------------------
for args, words in [
    (["-x", APP, "wrk"], ["no function wrk", "did you mean work"]),
    (["-x", APP, "work n->idd"], ["has no member idd", "did you mean id"]),
    (["-x", APP, "work n.id"], ["is a pointer", "n->id"]),
    (["-x", APP, "work:999"], ["nothing can be probed", "-L work"]),
    (["-x", APP, "work@nosuch.c"], ["no function work in a source file nosuch.c", "-L work"]),
    (["-x", APP, "wrk@probed.c"], ["no function wrk", "did you mean work"]),
    (["-x", f"{APP}.bare", "work@probed.c"], ["source files are not known", "no debug info"]),
    (["-x", APP, "work%retrun"], ["%return", "^"]),
    (["-x", APP, "work n-"], ["^"]),
    (["-x", APP, "work n[9999999999999999999999]"], ["^"]),
    (["-x", "/nonexistent/x", "work"], ["cannot find"]),
    (["-x", "/etc/passwd", "work"], ["ELF"]),
    (["-x", APP, "%nothing"], ["no static probe"]),
    (["-x", APP, "work nonsense=%zz"], ["^"]),
    (["-nx", APP, "0x1"], ["there is no code at 0x1"]),
    (["-nx", APP, "work%return $arg1"], ["known only where a function begins", "^", "$retval"]),
    (["-nx", APP, "work $arg0"], ["$arg1, $arg2", "^"]),
    (["-x", APP, "work", "-m", "ext4"], ["give one"]),
    (["--bootconfig", "-x", APP, "-D", "work"], ["probes of the kernel"]),
    (["--bootconfig", "vfs_read"], ["with -D"]),
    (["vfs_red"], ["did you mean vfs_read"]),
    (["vfs_read cnt"], ["did you mean count"]),
    ([], ["what should be probed"]),
]:
    r = probe(*args)
    check(f"{' '.join(args[-2:]).replace(APP, 'APP')}: says what and where", r.code not in (0, -signal.SIGSEGV) and
          all(w in r.err for w in words), (words, r))
# whatever the compiler made of it: not all of these bytes begin an instruction
within = [r.err for r in (probe("-nx", APP, f"work+{i}") for i in range(1, 9)) if "is in the middle of an instruction" in r.err]
check("an offset within an instruction is refused", within and all(re.search(r"begin at work\+\d+ and work\+\d+", x) for x in within), within)
for verb in ["stat", "record -o p.data", "top --stdio", "trace", "ftrace record -o p.dat", "tpoint"]:
    r = kymo([*verb.split(), *([] if verb == "tpoint" else ["-e"]), "probe:no_such_function", *([] if verb in ("tpoint", "top --stdio") else ["true"])])
    check(f"{verb}: no such probe", r.code in (1, 129) and "there is no probe 'probe:no_such_function'" in r.err and
          "kymo probe --add no_such_function" in r.err and "CPU" not in r.err, r)
probe("-qx", APP, "work")
r = kymo(["stat", "-e", f"{GROUP}:wrk", "true"])
check("one that is near, and all there are", f"did you mean {GROUP}:work?" in r.err and "kymo probe -l" in r.err, r)
has("those there are", kymo(["stat", "-e", "probe:no_such_function", "true"]).err, "kymo probe -l lists those there are: ")
probe("-qd", f"{GROUP}:*")
same("nothing of ours is left", events(), [])
shutil.rmtree(DIR)
end()
