#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""kymo addr2line on files made here: symbols, inlines, where files are found, what is refused."""
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile

from tap import KYMO, check, end, has, kymo, run, same, skip
from watch import until

C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int l5(int x) { return x * 3 + rand(); }
static inline __attribute__((always_inline)) int l4(int x) { return l5(x) + 1; }
static inline __attribute__((always_inline)) int l3(int x) { return l4(x) + 1; }
static inline __attribute__((always_inline)) int l2(int x) { return l3(x) + 1; }
static inline __attribute__((always_inline)) int l1(int x) { return l2(x) + 1; }
__attribute__((noinline)) int deep(int x) { return l1(x); }
__attribute__((noinline)) int aliased(int x) { return x + 7; }
int __aliased(int) __attribute__((alias("aliased")));
int weak_alias(int) __attribute__((weak, alias("aliased")));
static int impl(int x) { return x + 9; }
static int (*resolve(void))(int) { return impl; }
int chosen(int) __attribute__((ifunc("resolve")));
extern int sizeless(int), after(int);
__asm__(".text\n.globl sizeless\n.type sizeless,@function\nsizeless: lea 1(%rdi),%eax\nret\nnop\nnop\n"
	".globl after\n.type after,@function\nafter: lea 2(%rdi),%eax\nret\n.size after,.-after\n");
int main(int argc, char **argv)
{
	volatile int x = deep(argc) + aliased(2) + chosen(3) + sizeless(4) + after(5);
	if (argc > 1)
		pause();
	return x == 77;
}
"""
folder = tempfile.mkdtemp(prefix="kymo-addr2line-")
os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
os.environ.pop("DEBUGINFOD_URLS", None)


def sh(cmd):
    r = subprocess.run(cmd, shell=True, cwd=folder, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(f"{cmd}\n{r.stderr}")
    return r.stdout


def path(name):
    return os.path.join(folder, name)


def symbols(name):
    """name -> (address, size)"""
    out = {}
    for line in sh(f"readelf -sW {name}").splitlines():
        f = line.split()
        if len(f) >= 8 and re.fullmatch(r"[0-9a-f]{16}", f[1]) and f[6] != "UND":
            out[f[7].split("@")[0]] = (int(f[1], 16), int(f[2], 0))
    return out


def ask(name, *addrs, options="-f"):
    r = kymo(["addr2line", *options.split(), "-e", path(name), *[f"{a:x}" for a in addrs]])
    return r.out.splitlines() if r.code == 0 else [f"exit {r.code}", r.err]


def names():
    at = symbols("prog")
    start, size = at["main"]
    lines = ask("prog", start, start + size - 1)
    same("function start and last byte", lines[::2], ["main", "main"])
    start, _ = at["aliased"]
    same("of aliases the global one without underscores is shown", ask("prog", start)[0], "aliased")
    start, _ = at["sizeless"]
    same("a symbol without size reaches to the next", ask("prog", start + 5)[0], "sizeless")
    start, size = at["after"]
    same("the next one", ask("prog", start + size - 1)[0], "after")
    check("an ifunc", ask("prog", at["chosen"][0])[0] in ("chosen", "resolve"))
    same("an address of nothing", ask("prog", 0xffffff)[:2], ["??", "??:0"])


def plt():
    r = sh("objdump -d --section=.plt --section=.plt.sec --section=.plt.got prog")
    entries = [(int(a, 16), n) for a, n in re.findall(r"^([0-9a-f]+) <([^>]+@plt)>:", r, re.M)]
    if not entries:
        return skip("PLT names", "the linker made no PLT")
    # objdump shows an ifunc's entry by its resolver's address, kymo by its name
    mine = ["ifunc" if n in ("chosen@plt", "resolve@plt") else n for n in ask("prog", *[a for a, _ in entries])[::2]]
    same("PLT entries are named as objdump names them", mine,
         ["ifunc" if n.startswith("*ABS*") else n for _, n in entries])


def inlines():
    start, size = symbols("prog")["deep"]
    out = kymo(["addr2line", "-f", "-i", "-s", "-e", path("prog"), *[f"{a:x}" for a in range(start, start + size)]]).out
    has("five levels of inlining, innermost first", out,
        "l5\nprog.c:5\nl4\nprog.c:6\nl3\nprog.c:7\nl2\nprog.c:8\nl1\nprog.c:9\ndeep\nprog.c:10\n")
    r = kymo(["addr2line", "-fips", "-a", "-e", path("prog"), f"{start:x}"])
    has("-p and -a", r.out, f"0x{start:016x}: ", "deep at prog.c:10")
    r = run([KYMO, "addr2line", "-fs", "-e", path("prog")], input=f"{start:x}\n\n0x{start:x}\n".encode())
    same("addresses from standard input", r.out, "deep\nprog.c:10\n" * 2)
    same("without -s the whole path", ask("prog", start, options="")[0], path("prog.c") + ":10")


def separate():
    """Stripped; debug info beside it, in a build-id folder below --symfs, and wrong ones."""
    start = symbols("prog")["deep"][0]
    sh("objcopy --only-keep-debug prog prog.debug && cp prog bare && strip bare")
    same("stripped: nothing known", ask("bare", start, options="-f --no-cache")[:2], ["??", "??:0"])
    sh("cp bare linked && objcopy --add-gnu-debuglink=prog.debug linked")
    same(".gnu_debuglink beside the file", ask("linked", start), ["deep", path("prog.c") + ":10"])
    sh("mkdir -p .debug && mv prog.debug .debug/")
    same(".gnu_debuglink in .debug", ask("linked", start, options="-f --no-cache")[0], "deep")
    sh("cp .debug/prog.debug good.debug && printf x >> .debug/prog.debug")
    same(".gnu_debuglink with a wrong CRC is refused", ask("linked", start, options="-f --no-cache")[:2], ["??", "??:0"])
    sh("rm .debug/prog.debug")
    m = re.search(r"Build ID: (\w\w)(\w+)", sh("readelf -n prog"))
    if m:
        debug = f"fs/usr/lib/debug/.build-id/{m[1]}/{m[2]}.debug"
        sh(f"mkdir -p fs{folder} {os.path.dirname(debug)} && cp bare fs{folder}/ && cp good.debug {debug}")
        options = f"-f --no-cache --symfs {path('fs')}"
        same("--symfs with a build-id folder", ask("bare", start, options=options), ["deep", path("prog.c") + ":10"])
        sh(f"objcopy --only-keep-debug other {debug}")
        same("a debug file of another build is refused", ask("bare", start, options=options)[:2], ["??", "??:0"])


def mini():
    """.gnu_debugdata, as Fedora makes it."""
    if not shutil.which("xz"):
        return skip(".gnu_debugdata", "no xz here")
    start = symbols("prog")["deep"][0]
    sh("nm prog --format=posix --defined-only | awk '$2 ~ /[Tt]/ {print $1}' >keep; "
       "objcopy -S --keep-symbols=keep good.debug mini; xz mini; cp bare packed; "
       "objcopy --add-section .gnu_debugdata=mini.xz packed")
    same(".gnu_debugdata gives names", ask("packed", start, options="-f --no-cache")[0], "deep")
    with open(path("mini.xz"), "r+b") as f:
        f.seek(40)
        f.write(b"\0\0\0\0")
    sh("cp bare packed2; objcopy --add-section .gnu_debugdata=mini.xz packed2")
    same("a damaged one gives none", ask("packed2", start, options="-f --no-cache")[:2], ["??", "??:0"])


def again():
    """The second time answers come from the cache; a damaged cache is ignored."""
    shutil.rmtree(path("cache"), ignore_errors=True)
    start, size = symbols("prog")["deep"]
    addrs = range(start, start + size)
    first = ask("prog", *addrs, options="-fi")
    indexes = [os.path.join(d, f) for d, _, files in os.walk(path("cache")) for f in files if f.startswith("index")]
    same("one index was kept", len(indexes), 1)
    stamp = os.stat(indexes[0]).st_ino
    same("the second answer is the same", ask("prog", *addrs, options="-fi"), first)
    same("and nothing new was written", os.stat(indexes[0]).st_ino, stamp)
    check("the index is this user's only", os.stat(indexes[0]).st_mode & 0o077 == 0)
    with open(indexes[0], "r+b") as f:
        f.seek(200)
        f.write(b"\xff" * 64)
    same("a damaged index is ignored", ask("prog", *addrs, options="-fi"), first)
    check("and written anew", os.stat(indexes[0]).st_ino != stamp)
    same("to the same answers", ask("prog", *addrs, options="-fi"), first)


def later_debug_file():
    """Answers made without debug info do not hide it when it comes."""
    shutil.rmtree(path("cache"), ignore_errors=True)
    start = symbols("prog")["deep"][0]
    sh("mkdir -p later && cp linked later/app && rm -f later/prog.debug")
    same("no debug file yet", ask("later/app", start)[:2], ["??", "??:0"])
    sh("cp good.debug later/prog.debug")
    same("now there is one", ask("later/app", start), ["deep", path("prog.c") + ":10"])


def later_dwo():
    """Nor do answers made while a .dwo file was missing; those made with it stay when it goes."""
    shutil.rmtree(path("cache"), ignore_errors=True)
    sh("mkdir -p split && cp prog.c split && cd split && gcc -O2 -g -gsplit-dwarf -c prog.c && gcc -o prog prog.o && mv prog.dwo away")
    start, size = symbols("split/prog")["deep"]

    def functions():
        return {x for x in ask("split/prog", *range(start, start + size), options="-fi") if "/" not in x and ":" not in x}
    same("without its .dwo file no inlined functions", functions(), {"deep"})
    sh("cd split && mv away prog.dwo")
    same("now it is there", functions(), {"deep", "l1", "l2", "l3", "l4", "l5"})
    sh("cd split && mv prog.dwo away")
    same("what was known with it is still known", functions(), {"deep", "l1", "l2", "l3", "l4", "l5"})


def ip_of(pid, part, vaddr):
    """Where an address of prog is in a process that has it mapped."""
    with open(f"/proc/{pid}/maps") as f:
        line = next((x for x in f if "r-xp" in x and part in x), None)
    if not line:
        return None
    m = re.search(r"LOAD\s+(\S+) (\S+) \S+ \S+ \S+ R E", sh("readelf -lW prog"))
    return int(line.split("-")[0], 16) + (vaddr - int(m[2], 16) + int(m[1], 16)) - int(line.split()[2], 16)


def running():
    """A process's addresses: its file is there, deleted, or replaced by another."""
    start = symbols("prog")["deep"][0]
    for what in ("there", "deleted", "replaced"):
        sh(f"cp prog live-{what}")
        p = subprocess.Popen([path(f"live-{what}"), "wait"])
        try:
            until(lambda: ip_of(p.pid, "live-", start))
            ip = ip_of(p.pid, "live-", start)
            if what != "there":
                os.remove(path(f"live-{what}"))
            if what == "replaced":
                sh("cp other live-replaced")
            if what != "there" and os.geteuid() != 0:
                skip(f"--pid, file {what}", "needs root to open /proc/PID/map_files")
            else:
                same(f"--pid, file {what}", kymo(f"addr2line --no-cache -fps --pid {p.pid} {ip:x}").out.strip(),
                     "deep at prog.c:10")
        finally:
            p.send_signal(signal.SIGKILL)
            p.wait()


def container():
    """The same path with another binary behind it in another mount namespace."""
    start = symbols("prog")["deep"][0]
    sh("mkdir -p box inside && cp other box/app && cp prog inside/app")
    cmd = f"mount --bind {path('inside')} {path('box')} && exec {path('box/app')} wait"
    if not shutil.which("unshare"):
        return skip("container", "no unshare here")
    p = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", cmd], stderr=subprocess.DEVNULL)
    try:
        until(lambda: p.poll() is not None or ip_of(p.pid, "box/app", start))
        ip = ip_of(p.pid, "box/app", start) if p.poll() is None else None
        if not ip:
            return skip("container", "cannot make a mount namespace here")
        same("the file that the process sees, not ours of that name",
             kymo(f"addr2line --no-cache -fps --pid {p.pid} {ip:x}").out.strip(), "deep at prog.c:10")
    finally:
        p.kill()
        p.wait()


def refusals():
    r = kymo("addr2line -e /no/such/file 1000")
    check("a missing file", r.code == 1 and "/no/such/file" in r.err, r)
    r = kymo(["addr2line", "-e", path("prog.c"), "1000"])
    check("not an ELF file", r.code == 1 and "not an ELF file" in r.err, r)
    r = kymo(["addr2line", "-e", path("prog"), "nonsense"])
    check("not an address", r.code == 1 and "'nonsense' is not an address" in r.err, r)
    r = kymo(["addr2line", "-e", "/dev/zero", "1000"], timeout=10)
    check("a device is not read", r.code == 1, r)
    os.mkfifo(path("fifo"))
    r = kymo(["addr2line", "-e", path("fifo"), "1000"], timeout=10)
    check("a fifo is not waited for", r.code == 1, r)


def damaged():
    """Debug sections with random damage: an end in bounded time, never a crash."""
    rnd = random.Random(9)
    with open(path("prog"), "rb") as f:
        good = f.read()
    where = [(int(o, 16), int(s, 16)) for o, s in
             re.findall(r"\.debug_\w+\s+PROGBITS\s+\S+ (\S+) (\S+)", sh("readelf -SW prog"))]
    at = symbols("prog")
    addrs = [f"{at['deep'][0] + i:x}" for i in range(0, at["deep"][1], 3)] + [f"{at['main'][0]:x}"]
    codes = set()
    for _ in range(60):
        bad = bytearray(good)
        for _ in range(rnd.choice((1, 4, 40))):
            offset, size = rnd.choice(where)
            bad[offset + rnd.randrange(size)] = rnd.randrange(256)
        with open(path("bad"), "wb") as f:
            f.write(bad)
        codes.add(kymo(["addr2line", "-fi", "--no-cache", "-e", path("bad"), *addrs], timeout=20).code)
    same("60 damaged files: exit code 0 and an end", codes, {0})
    for cut in (100, 5000, len(good) // 2, len(good) - 10):
        with open(path("cut"), "wb") as f:
            f.write(good[:cut])
        r = kymo(["addr2line", "-fi", "--no-cache", "-e", path("cut"), addrs[0]], timeout=20)
        check(f"a file cut to {cut} bytes", r.code in (0, 1), r)


def kernel():
    r = kymo("addr2line -k -f ffffffff81000000")
    if r.code:
        return has("kernel addresses are hidden, and that is said", r.err, "hides")
    with open("/proc/kallsyms") as f:
        a, _, n = next(x.split() for x in f if " T vfs_" in x and "[" not in x)
    same("-k", kymo(f"addr2line -k -f {int(a, 16) + 1:x}").out.splitlines()[0], n)


def main():
    if not shutil.which("gcc"):
        skip("all", "no gcc here")
        end()
    try:
        for name, text in (("prog.c", C), ("other.c", "int main(void) { return 3; }\n")):
            with open(path(name), "w") as f:
                f.write(text.lstrip("\n"))
        sh(f"gcc -O2 -g {path('prog.c')} -o prog && gcc -O2 -g other.c -o other")
        for test in (names, plt, inlines, separate, mini, again, later_debug_file, later_dwo, running, container, refusals,
                     damaged, kernel):
            test()
    finally:
        shutil.rmtree(folder)
    end()


main()
