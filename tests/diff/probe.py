#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo probe -D, -L, -V and -l against perf probe 6.1, over builds of one program with different debug info.

Nothing is added: both only say what they would tell the kernel. Where kymo differs on purpose, BETTER says why.
"""
import os
import re
import shutil
import subprocess
import tempfile

from tap import KYMO, check, end, run, same, skip

SOURCE = os.path.abspath("tests/work/probed.c")
DIR = tempfile.mkdtemp(prefix="kymo-probe-")

BUILDS = {  # name: how it is compiled
    "O2": "gcc -g -O2",
    "O0": "gcc -g -O0",
    "dwarf4": "gcc -gdwarf-4 -O2",
    "inlined": "gcc -g -O0 -D'inline=inline __attribute__((always_inline))'",
    "nopie": "gcc -g -O1 -no-pie",
    "packed": "gcc -g -O2 -gz",
}

CASES = """
work
work n len text k
work n->id two=n->next->id text:string n->label:string
lab%return +0($retval):string
work%return
mine=work%return
work $params
work n->in.s[2]
work n->in.name:string
work n->d n->color n->big n->pin
work n->as_int n->as_char[1]
work text[0]
work n[1].id
work n->next[0].id
work x=n->id
work text:ustring
work text:x8
work text:string@user
work n->label:symbol
work+3
work:2
work:5 local
work:6 n->next
work:9
work:10
work@probed.c:5
work@probed.c
probed.c:42
work;local*twice*
work;local*
twice
work n->pin->s[1]:x16
work %di foo=%si:u8 $stack0 $comm
mine=work n
gr:mine=work n
main argc first=argv[0]:string
main argv[1]
main
wor*
lab n
lab n->label
lab:0
lab:2
0x1280
work n->in
work nope
work:400
nofunc
work n->nope
work n.id
work%foo
work+9999
""".strip().splitlines()

BETTER = {  # what kymo says where perf 6.1 cannot or is wrong
    "work n->in.flags n->in.more": ("flags=+16(%di):b3@0/8 more=+16(%di):b5@3/8", "bit fields of DWARF 5"),
    "work global_n": ("global_n=@+0x", "the kernel does not know a program's symbols: perf's @global_n is refused"),
    "work n->in.name": ("name=+26(%di):string", "an array of characters is a text"),
    "work n->in.s": ("s=+18(%di):s16[4]", "an array is shown whole"),
    "work $arg1": (" %di\n", "the kernel has $argN for its own functions only"),
    "work%return $retval": ("$retval:s32", "what a function gives back has a type"),
}


def build(name, how):
    path = f"{DIR}/{name}"
    subprocess.run(f"{how} -o {path} {SOURCE}", shell=True, check=True, cwd=DIR)
    return path


def lines(r):
    return [x for x in r.out.strip().splitlines() if x]


def definitions(name, path):
    for case in CASES:
        if case.startswith("0x") and name == "nopie":
            continue  # perf gives the kernel the address as an offset in the file, which it is not
        if case.startswith("0x"):
            case = "0x" + next(x.split()[0] for x in run(["nm", path]).out.splitlines() if x.endswith(" T lab")).lstrip("0")
        want, got = (run([*tool, "probe", "-x", path, "-D", case]) for tool in (["perf"], [KYMO]))
        # one line of source is many places; perf refuses lines that share their first address with another
        if "sharing the address" in want.err:
            check(f"{name}: {case}: kymo finds a place where perf refuses", lines(got), got)
        elif "in the middle of an instruction" in got.err:
            place = re.search(r":0x(\w+)", want.out)[1]
            check(f"{name}: {case}: no instruction begins there, and kymo says so",
                  not re.search(rf"^ +[0-9a-f]*{place}:\t", run(["objdump", "-d", "-M", "att", path]).out, re.M), got)
        else:
            same(f"{name}: {case}", sorted(lines(got)), sorted(lines(want)))
        if not lines(want) and "sharing" not in want.err:
            check(f"{name}: {case}: an error in one line and a hint", got.code != 0 and got.err, got)


def lists(name, path):
    for option in ("-V work", "-V lab", "-V main", "-V work:6"):
        want, got = (run([*tool, "probe", "-x", path, *option.split()]) for tool in (["perf"], [KYMO]))
        same(f"{name}: {option}", got.out, want.out)
    want, got = (run([*tool, "probe", "-x", path, "-L", "work"]) for tool in (["perf"], [KYMO]))
    # kymo shows no lines behind the function, and marks more lines as probe-able
    numbered = [{x for x in r.out.splitlines() if x[:8].strip()} for r in (want, got)]
    check(f"{name}: -L work: every line that perf can probe", numbered[0] - {want.out.splitlines()[0]} <= numbered[1], got.out)


def no_inlines(path):
    for case in ("twice", "work", "tw*", "wor*"):
        want, got = (run([*tool, "probe", "--no-inlines", "-x", path, "-D", case]) for tool in (["perf"], [KYMO]))
        same(f"--no-inlines: {case}", lines(got), lines(want))
    check("--no-inlines: what was left out is told", "twice is only where it was inlined" in
          run([KYMO, "probe", "--no-inlines", "-x", path, "-D", "twice"]).err, got)


def better(path):
    for case, (text, why) in BETTER.items():
        got = run([KYMO, "probe", "-x", path, "-D", case])
        check(f"{case}: {why}", text in got.out, got)


def clang():
    """perf 6.1 takes clang's code for unoptimised and does not find its files, so the truth is spelt out."""
    for how in ("-O2", "-O0"):
        path = build(f"clang{how}", f"clang -g {how}")
        entry = int(next(x.split()[0] for x in run(["nm", path]).out.splitlines() if x.endswith(" T work")), 16)
        got = run([KYMO, "probe", "-x", path, "-D", "work n->id len"])
        place = int(got.out.split()[1].split(":")[1], 16)
        check(f"clang {how}: {'at the start' if how == '-O2' else 'behind the making of the frame'}",
              place == entry if how == "-O2" else entry < place < entry + 64, got)
        check(f"clang {how}: arguments", ("id=+0(%di):s32 len=%si:x32" if how == "-O2" else "(%bp)):s32 len=-") in got.out, got)
        check(f"clang {how}: a line of a file", len(lines(run([KYMO, "probe", "-x", path, "-D", "probed.c:45"]))) > 0, got)


def separate(path):
    """Debug info in a file of its own is found by build-id and by name."""
    stripped = f"{DIR}/stripped"
    subprocess.run(f"objcopy --only-keep-debug {path} {stripped}.debug && objcopy -S --add-gnu-debuglink={stripped}.debug {path} "
                   f"{stripped}", shell=True, check=True)
    want = run([KYMO, "probe", "-x", path, "-D", "p:w=work:5 local n->id"])
    got = run([KYMO, "probe", "-x", stripped, "-D", "p:w=work:5 local n->id"])
    same("a separate debug file", got.out.replace("stripped", "O2"), want.out)
    os.remove(f"{stripped}.debug")
    r = run([KYMO, "probe", "-x", stripped, "-D", "work n"])
    check("without it: said so, with what helps", r.code != 0 and "hint:" in r.err, r)


ALIAS = """
__attribute__((noinline)) int own_name(int n, char *text) { return n + text[0]; }
int other(int n, char *text) __attribute__((alias("own_name")));
int main(int argc, char **argv) { return other(argc, argv[0]); }
"""


def alias():
    """A function that debug info knows by another name, as malloc is __libc_malloc: perf refuses its variables."""
    open(f"{DIR}/alias.c", "w").write(ALIAS)
    subprocess.run(f"gcc -g -O2 -o {DIR}/alias {DIR}/alias.c", shell=True, check=True)
    want = run([KYMO, "probe", "-x", f"{DIR}/alias", "-D", "own_name n text:string"])
    got = run([KYMO, "probe", "-x", f"{DIR}/alias", "-D", "other n text:string"])
    check("variables by a function's other name", lines(got) and got.out == want.out.replace("/own_name ", "/other "), (got, want))


KERNEL = """
struct in { int a:3, b:5; char name[8]; };
struct sock { long state; struct in in; struct sock *next; };
int counter;
__attribute__((noinline)) int tcp_sendmsg(struct sock *sk, const char *msg, unsigned long size)
{
	int copied = 0;
	while (copied < (int)size) {
		int seglen = msg[copied] + (int)sk->state;
		counter += seglen;
		copied += seglen > 0 ? seglen : 1;
	}
	return copied;
}
int caller(void) { struct sock s = { 1 }; return tcp_sendmsg(&s, "abc", 3); }
void _start(void) { caller(); }
"""


def vmlinux():
    """-k: a kernel's file with debug info, here a very small one."""
    os.makedirs(f"{DIR}/was")
    open(f"{DIR}/was/v.c", "w").write(KERNEL)
    text = "0xffffffff81000000"
    subprocess.run(f"gcc -g -O2 -ffreestanding -fno-pie -no-pie -nostdlib -static -mcmodel=kernel -Wl,-Ttext={text},--defsym=_stext={text},"
                   f"--defsym=_text={text},--defsym=_etext=0xffffffff81100000 -o {DIR}/vmlinux {DIR}/was/v.c", shell=True, check=True)
    for case in ("tcp_sendmsg", "tcp_sendmsg size", "tcp_sendmsg $params", "tcp_sendmsg:5 $vars", "v.c:10 copied", "tcp_sendmsg;counter*",
                 "tcp_sendmsg msg:string", "tcp_sendmsg sk->in.name:string", "tcp_sendmsg sk->next->next->state"):
        want, got = (run([*tool, "probe", "-k", f"{DIR}/vmlinux", "-D", case]) for tool in (["perf"], [KYMO]))
        check(f"vmlinux: {case}", lines(got) and sorted(lines(got)) == sorted(lines(want)), (got, want))
    got = run([KYMO, "probe", "-k", f"{DIR}/vmlinux", "-D", "tcp_sendmsg sk->in.b"])
    check("vmlinux: bit fields", "b=+8(%di):b5@3/32" in got.out, got)
    for option in ("-V tcp_sendmsg:5", "-V tcp_sendmsg:5 --externs", "-V tcp_sendmsg --filter s*"):
        want, got = (run([*tool, "probe", "-k", f"{DIR}/vmlinux", *option.split()]) for tool in (["perf"], [KYMO]))
        same(f"vmlinux: {option}", got.out, want.out)
    # the kernel reads "probes" (Documentation/trace/boottime-trace.rst), where perf writes "probe"; perf's returns are entries
    for case in ("tcp_sendmsg size msg:string", "mine=tcp_sendmsg $params", "tcp_sendmsg;counter*"):
        want, got = (run([*tool, "probe", "-k", f"{DIR}/vmlinux", "--bootconfig", "-D", case]) for tool in (["perf"], [KYMO]))
        same(f"--bootconfig: {case}", got.out, want.out.replace(".probe = ", ".probes = "))
    got = run([KYMO, "probe", "-k", f"{DIR}/vmlinux", "--bootconfig", "-D", "gr:back=tcp_sendmsg%return $retval"])
    same("--bootconfig: a return", got.out, "ftrace.event.kprobes.back__return.probes = 'tcp_sendmsg+0%return $retval:s32'\n")
    check("--bootconfig: the group is always kprobes", "gr is left out" in got.err, got)
    os.rename(f"{DIR}/was", f"{DIR}/moved")
    got = run([KYMO, "probe", "-k", f"{DIR}/vmlinux", "-s", f"{DIR}/moved", "-L", "tcp_sendmsg:3-5"])
    check("-s: where the source is now", "counter += seglen" in got.out, got)
    got = run([KYMO, "probe", "-k", f"{DIR}/vmlinux", "-s", f"{DIR}/moved", "-D", "tcp_sendmsg;counter*"])
    check("-s for a pattern of its lines", "p:probe/tcp_sendmsg tcp_sendmsg+" in got.out, got)


TWINS = """
volatile int counter;
static __attribute__((noinline)) int twin(int v) { counter += v; return v; }
int NAME(int v);
int NAME(int v) { return twin(v + 1) + 1; }
"""


def twins():
    """Two functions of one name: each is told by its distance from the kernel's start."""
    for name in ("one", "two"):
        first = name == "one"
        open(f"{DIR}/{name}.c", "w").write(('asm(".globl _text\\n_text:");' if first else "") + TWINS.replace("NAME", name) +
                                           ("int two(int); void _start(void) { one(two(1)); }" if first else ""))
    text = "0xffffffff81000000"
    subprocess.run(f"gcc -g -O2 -ffreestanding -fno-pie -no-pie -nostdlib -static -mcmodel=kernel -fcommon -Wl,-Ttext={text},--build-id=sha1 "
                   f"-o {DIR}/twins {DIR}/one.c {DIR}/two.c", shell=True, check=True)
    got = run([KYMO, "probe", "-k", f"{DIR}/twins", "-D", "twin v"])
    where = sorted(int(x.split()[0], 16) - int(text, 16) for x in run(["nm", f"{DIR}/twins"]).out.splitlines() if x.endswith(" t twin"))
    same("two functions of one name", sorted(lines(got)), sorted(f"p:probe/twin _text+{x} v=%di:s32" for x in where))
    got = run([KYMO, "probe", "-k", f"{DIR}/twins", "one"])
    if os.access("/sys/kernel/notes", os.R_OK):
        check("a file of another kernel is not used to add", got.code != 0 and "not the running kernel" in got.err, got)


def module(path):
    """-m FILE.ko: a file that is not linked to the end. The code is that of the program, which perf is asked for."""
    subprocess.run(["gcc", "-g", "-O2", "-c", "-o", f"{DIR}/mine.ko", SOURCE], check=True)
    symbols = {x.split()[2]: int(x.split()[0], 16) for x in run(["nm", path]).out.splitlines() if len(x.split()) == 3}

    def placed(line):
        what, place, *args = line.split()
        name = re.match(r"[a-z]+", what.split("/")[1])[0]
        return " ".join([what.replace("probe_O2/", "probe/"), f"mine:{name}+{int(place.split(':')[1], 16) - symbols[name]}", *args])
    for case in ("work", "work n len text k", "work:3", "work:6 $vars", "lab $params", "lab n->id", "lab%return", "nofunc"):
        want, got = run(["perf", "probe", "-x", path, "-D", case]), run([KYMO, "probe", "-m", f"{DIR}/mine.ko", "-D", case])
        same(f"module: {case}", sorted(lines(got)), sorted(placed(x) for x in lines(want)))
    for option in ("-V work", "-V lab", "-L lab"):
        want, got = (run([KYMO, "probe", *which, *option.split()]) for which in (["-x", path], ["-m", f"{DIR}/mine.ko"]))
        check(f"module: {option}", got.code == 0 and got.out == want.out, got)


if not shutil.which("perf"):
    skip("all", "perf is not installed")
    end()
paths = {name: build(name, how) for name, how in BUILDS.items()}
for n, p in paths.items():
    definitions(n, p)
    lists(n, p)
no_inlines(paths["inlined"])
better(paths["O2"])
clang()
separate(paths["O2"])
alias()
if os.uname().machine == "x86_64":
    vmlinux()
    twins()
    module(paths["O2"])
shutil.rmtree(DIR)
end()
