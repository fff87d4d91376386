#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""kymo collapse against `perf script`, folded here by the conventions of stackcollapse-perf.pl.

Three differences are known and meant. All other frames are the same.
- The address of a caller is where the call returns to. When the call was the last thing a function did (exit, abort), that
  is already the next function, which perf names, or none; kymo names the one that called. So callers at offset 0, or
  without a symbol, may differ.
- perf 6.1 names the entries of .plt by counting those of .rela.plt. Where some of these are for ifuncs of the file itself
  (R_*_IRELATIVE, as strlen in the C library) they have no name, which perf shows as "@plt", and stand in another order, so that
  others get a wrong one, too; entries of .plt.got and .plt.sec it does not know at all. kymo reads what an entry jumps
  through. That is accepted only where binutils agrees: the function is an ifunc of that file, or objdump
  finds an entry of that name, in one of the two sections where perf has none.
- BPF programs that came while it was recorded have names in the recording, which perf 6.1 does not use.

Where the script itself is installed (stackcollapse-perf.pl in PATH, or in $FLAMEGRAPH), it is asked, too.
"""
import collections
import os
import re
import shutil
import subprocess
import tempfile

from tap import KYMO, WORK, check, end, has, kymo, run, same, skip

if not shutil.which("perf"):
    skip("kymo collapse against perf script", "perf is not installed")
    end()

tmp = tempfile.mkdtemp(prefix="kymo-collapse-")
os.environ["HOME"] = tmp  # perf keeps copies there, and is not robust against what it finds
data = os.path.join(tmp, "perf.data")
FIELDS = "comm,pid,tid,time,period,event,ip,sym,symoff,dso"


def tidy(func, java):
    func = func.replace(";", ":")
    if not re.search(r"\.\(.*\)\.", func):  # Go's methods keep their parentheses
        at = next((m.start() for m in re.finditer(r"\(", func) if not func.startswith("(anonymous namespace)", m.start())), None)
        func = func[:at]
    func = func.replace('"', "").replace("'", "")
    return func[1:] if java and func.startswith("L") and "/" in func else func


def samples_of(text):
    """perf script's text: (comm, pid, tid, period, event, [(address, function, offset, module)], innermost first)"""
    for block in text.split("\n\n"):
        lines = [x for x in block.split("\n") if x and not x.startswith("#")]
        if not lines:
            continue
        m = re.match(r"(\S.*?)\s+(\d+)(?:/(\d+))?\s.*?:\s*(\d+)?\s+(\S+):\s*$", lines[0])
        frames = []
        for line in lines[1:]:
            f = re.match(r"\s*([0-9a-f]+)\s+(.+) \((\S*)\)$", line)
            func, _, offset = f[2].rpartition("+0x")
            frames.append((f[1], func or offset, int(offset, 16) if func else None, f[3]))
        yield m[1], m[2] if m[3] else "?", m[3] or m[2], int(m[4] or 1), m[5], frames


KNOWN = {}  # a file's PLT entries: those of .plt where perf miscounts, and those of .plt.got and .plt.sec


def is_known(perf, ours, module):
    """Is it a BPF program, or a PLT entry, that perf 6.1 cannot name?"""
    if perf.startswith("[") and re.match(r"bpf_(prog|trampoline|dispatcher)_", ours):
        return True
    if not ours.endswith("@plt") or not module.startswith("/"):
        return False
    if module not in KNOWN:
        entries = {x: {re.sub(r"@@?[^@]+(?=@plt)", "", y) for y in re.findall(r"<([^>]+@plt)>:", run(["objdump", "-d", "-j", x, module]).out)} for x in (".plt", ".plt.got", ".plt.sec")}
        ident = re.search(r"Build ID: (..)(\w+)", run(["readelf", "-n", module]).out)
        debug = f"/usr/lib/debug/.build-id/{ident[1]}/{ident[2]}.debug" if ident else ""
        symbols = run(["nm", "-D", "--defined-only", module]).out + (run(["nm", "--defined-only", debug]).out if os.path.exists(debug) else "")
        ifuncs = {x.split()[2].split("@")[0] + "@plt" for x in symbols.splitlines() if x.split()[1] == "i"}
        miscounted = any(x.startswith("*ABS*") for x in entries[".plt"])
        KNOWN[module] = entries[".plt"] | ifuncs if miscounted else set(), entries[".plt.got"] | entries[".plt.sec"]
    return ours in KNOWN[module][not perf.endswith("@plt")]


def fold(text, kernel=False, jit=False, pid=False, tid=False, addrs=False, counts=False, event=None, expand=None):
    """What stackcollapse-perf.pl makes of perf script's output, and the places in stacks that are perf's own."""
    stacks, loose = collections.Counter(), collections.defaultdict(lambda: (set(), {}))
    for comm, p, t, period, ev, frames in samples_of(text):
        event = event or ev
        if ev != event:
            continue
        names, free, plt = [], set(), {}
        for i, (pc, func, offset, module) in enumerate(frames):
            if func.startswith("("):
                continue
            if expand and expand(func, offset, module):
                names += expand(func, offset, module)
                continue
            if i and (offset == 0 or func == "[unknown]"):
                free.add(len(names))
            elif func == "[unknown]" or func.endswith("@plt"):
                plt[len(names)] = module
            if func == "[unknown]":
                func = module.rsplit("/", 1)[-1] if module != "[unknown]" else "unknown"
                func = f"[{func} <{pc}>]" if addrs else f"[{func}]"
            func = tidy(func, comm == "java")
            if kernel and (module[0] == "[" or module.endswith("vmlinux")) and "unknown" not in module:
                func += "_[k]"
            elif jit and re.search(r"/tmp/perf-\d+\.map", module):
                func += "_[j]"
            names.append(func)
        first = (comm + (f"-{p}/{t}" if tid else f"-{p}" if pid else "")).replace(" ", "_")
        key = ";".join([first, *reversed(names)])
        stacks[key] += 1 if counts else period
        loose[key][0].update(len(names) - x for x in free)
        loose[key][1].update({len(names) - x: module for x, module in plt.items()})
    return stacks, loose


def fits(stack, loose, other):
    free, plt = loose
    a, b = stack.split(";"), other.split(";")
    return len(a) == len(b) and all(x == y or i in free or i in plt and is_known(x, y, plt[i]) for i, (x, y) in enumerate(zip(a, b)))


def compare(name, got, want):
    stacks, loose = want
    lines = [x.rsplit(" ", 1) for x in got.splitlines()]
    check(f"{name}: lines are sorted, none twice", [x[0] for x in lines] == sorted({x[0] for x in lines}))
    ours = collections.Counter({k: int(n) for k, n in lines})
    same(f"{name}: the sum", sum(ours.values()), sum(stacks.values()))
    mine, theirs = ours - stacks, stacks - ours
    total, exact = sum(stacks.values()), sum((ours & stacks).values())
    for key in sorted(theirs, key=lambda k: (len(loose[k][0]), k)):
        for other in [k for k in mine if fits(key, loose[key], k)]:
            n = min(mine[other], theirs[key])
            mine[other] -= n
            theirs[key] -= n
    bad = [f"perf: {k[-400:]} {n}" for k, n in theirs.items() if n] + [f"kymo: {k[-400:]} {n}" for k, n in mine.items() if n]
    check(f"{name}: {len(stacks)} stacks and their weights", not bad, "\n".join(sorted(bad)[:12]))
    check(f"{name}: most are equal to the letter", exact * 2 > total, f"{exact} of {total}")


def from_text(name, text, **kw):
    """The text itself, read by kymo: to the letter what is folded here, as there is nothing left to look up."""
    with open(os.path.join(tmp, "script.txt"), "w") as f:
        f.write(text)
    options = [f"--{x}" for x, on in kw.items() if on is True] + (["--event-filter", kw["event"]] if "event" in kw else [])
    r = kymo(["collapse", os.path.join(tmp, "script.txt"), *options])
    want = fold(text, **kw)[0]
    got = collections.Counter({k: int(n) for k, n in (x.rsplit(" ", 1) for x in r.out.splitlines())})
    bad = [f"here: {k[-400:]} {n}" for k, n in (want - got).items()] + [f"kymo: {k[-400:]} {n}" for k, n in (got - want).items()]
    check(f"perf script's text, {name}: {len(want)} stacks and their weights", want and not bad, "\n".join([r.err, *sorted(bad)[:12]]))


def script(path):
    for _ in range(5):  # perf 6.1 crashes at random
        r = run(["perf", "script", "-i", path, "--no-inline", "-F", FIELDS], timeout=120)
        if r.code == 0:
            return r.out
    check("perf script", False, r)
    return ""


def perf_record(path, program):
    """perf's own recording; it crashes at random, also when it is about to end."""
    for _ in range(8):
        r = run(["perf", "record", "-q", "-F", "1999", "-g", "-e", "cpu-clock:u", "-o", path, program])
        if r.code == 0:
            return r
        for left in re.findall(r"/tmp/perf-\d+\.map", r.out):
            os.unlink(left)
    check("perf record", False, r)
    return r


work = os.path.join(WORK, "spin")
command = f"for i in 1 2 3; do timeout 0.3 {work}; ls -lR /usr/lib >/dev/null; done"
r = kymo(["record", "-q", "-F", "1999", "-g", "-o", data, "--", "sh", "-c", command], timeout=120)
if not os.path.exists(data):
    skip("kymo collapse against perf script", f"nothing could be recorded: {r.err[:100]}")
    end()
text = script(data)
compare("the default", kymo(["collapse", "-i", data]).out, fold(text))
compare("--kernel", kymo(["collapse", "-i", data, "--kernel"]).out, fold(text, kernel=True))
compare("--pid", kymo(["collapse", "-i", data, "--pid"]).out, fold(text, pid=True))
compare("--tid", kymo(["collapse", "-i", data, "--tid"]).out, fold(text, tid=True))
compare("--all", kymo(["collapse", "-i", data, "--all"]).out, fold(text, kernel=True, jit=True))
compare("--addrs", kymo(["collapse", "-i", data, "--addrs"]).out, fold(text, addrs=True))
compare("--counts", kymo(["collapse", "-i", data, "--counts"]).out, fold(text, counts=True))
from_text("the default", text)
from_text("--tid", text, tid=True)
from_text("--kernel --addrs", text, kernel=True, addrs=True)
from_text("--counts", text, counts=True)
# with the fields that perf writes when it is not told which; these have only the thread
r = run(f"perf script -i {data} --no-inline 2>/dev/null | {KYMO} collapse --pid", shell=True, timeout=120)
compare("perf script | kymo collapse --pid", r.out.replace("-?;", ";"), fold(text))
has("of which no process is known", r.out, "-?;")
# and kymo script's, which is the same text
ours = run(f"{KYMO} script -i {data} | {KYMO} collapse -i -", shell=True, timeout=120).out
compare("kymo script | kymo collapse -i -", ours, fold(text))

found = shutil.which("stackcollapse-perf.pl") or os.path.join(os.environ.get("FLAMEGRAPH", "/nowhere"), "stackcollapse-perf.pl")
if os.path.exists(found):
    theirs = run(f"perf script -i {data} --no-inline -F {FIELDS} 2>/dev/null | {found}", shell=True, timeout=120).out
    same("stackcollapse-perf.pl folds as this test does", theirs, "".join(f"{k} {n}\n" for k, n in sorted(fold(text)[0].items())))
else:
    skip("stackcollapse-perf.pl itself", "it is not installed")

# sums: the picture's root is the report's whole
svg = os.path.join(tmp, "a.svg")
kymo(["flame", "-i", data, "-o", svg, "--factor", "1", "--countname", "n", "-q"])
root = int(re.search(r"<title>all \(([\d,]+) n", open(svg).read())[1].replace(",", ""))
same("the picture's sum is the folded sum", root, sum(fold(text)[0].values()))
report = kymo(["report", "--stdio", "-i", data, "--no-children", "-g", "none", "-s", "comm"]).out
count = re.search(r"Event count \(approx\.\): (\d+)", report)
same("and the report's event count", int(count[1]) if count else report[:300], root)

# several events: the first that came, or the one that was named
two = os.path.join(tmp, "two.data")
kymo(["record", "-q", "-c", "1", "-e", "page-faults:u,context-switches", "-g", "-o", two, "--", "sh", "-c", "ls -l /usr/bin | sort | wc -l"], timeout=60)
both = script(two)
kinds = {s[4] for s in samples_of(both)}
check("the recording has two events", len(kinds) == 2, kinds)
r = kymo(["collapse", "-i", two])
compare("the first event", r.out, fold(both))
has("and it says which", r.err, next(s[4] for s in samples_of(both)), "--event-filter")
for kind in sorted(kinds):
    from_text(f"--event-filter {kind}", both, event=kind)
    compare(f"--event-filter {kind}", kymo(["collapse", "-i", two, "--event-filter", kind]).out, fold(both, event=kind))
r = kymo(["collapse", "-i", two, "--event-filter", "cache-misses"])
check("--event-filter of what is not there", r.code != 0 and "page-faults" in r.err, r)

# code of a compiler that runs: perf's map of names
MAPPED = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <time.h>
/* push %rbp; mov %rsp,%rbp; mov $20000000,%eax; 1: dec %eax; jnz 1b; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb8, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc8, 0x75, 0xfc, 0x5d, 0xc3 };
int main(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[64];
	FILE *f;
	memcpy(p, code, sizeof(code));
	memcpy(p + 4096, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx %zx LHot;::spin \"it's\" (II)V\n", (unsigned long)p, sizeof(code));
	fclose(f);
	for (int i = 0; i < 20; i++) {
		((void (*)(void))p)();
		((void (*)(void))(p + 4096))();
	}
	puts(name);
	return 0;
}
"""


def build(name, source, *options):
    path = os.path.join(tmp, name)
    with open(f"{path}.c", "w") as f:
        f.write(source)
    done = subprocess.run(["cc", "-g", "-fno-omit-frame-pointer", *options, "-o", path, f"{path}.c"], check=False)
    return path if done.returncode == 0 else None


jit = build("jitty", MAPPED, "-O1") if os.uname().machine == "x86_64" and shutil.which("cc") else None
if jit:
    path = os.path.join(tmp, "jit.data")
    r = perf_record(path, jit)
    text = script(path)
    compare("--jit", kymo(["collapse", "-i", path, "--jit"]).out, fold(text, jit=True))
    compare("--jit --addrs", kymo(["collapse", "-i", path, "--jit", "--addrs"]).out, fold(text, jit=True, addrs=True))
    from_text("--jit", text, jit=True)
    has("names are tidied and marked", kymo(["collapse", "-i", path, "--jit"]).out, "LHot:::spin its _[j]")
    if r.out.startswith("/tmp/perf-"):
        os.unlink(r.out.strip())
else:
    skip("--jit", "needs an x86-64 compiler")

# inlined functions, as addr2line has them
INLINED = """
#include <stdio.h>
static inline __attribute__((always_inline)) unsigned third(unsigned x) { for (int i = 0; i < 3000; i++) x = x * 1664525u + (x >> 7); return x; }
static inline __attribute__((always_inline)) unsigned second(unsigned x) { return third(x) ^ 5; }
static inline __attribute__((always_inline)) unsigned first(unsigned x) { return second(x) + 1; }
__attribute__((noinline)) unsigned outer(unsigned x) { return first(x) * 3; }
int main(void) { unsigned x = 1; for (int i = 0; i < 150000; i++) x = outer(x); printf("%u\\n", x); return 0; }
"""
inl = build("inlined", INLINED, "-O2", "-no-pie", "-fno-pie") if shutil.which("cc") and shutil.which("addr2line") else None
if inl:
    path = os.path.join(tmp, "inl.data")
    perf_record(path, inl)
    symbols = {x.split()[2]: int(x.split()[0], 16) for x in run(["nm", inl]).out.splitlines() if len(x.split()) == 3}
    known = {}

    def expand(func, offset, module):
        if module != inl or func not in symbols:
            return None
        if (func, offset) not in known:
            at = f"{symbols[func] + offset:x}"
            known[func, offset] = run(["addr2line", "-a", at, "-e", inl, "-i", "-f", "-s", "-C"]).out.splitlines()[1::2]
        return known[func, offset]

    text = script(path)
    r = kymo(["collapse", "-i", path, "--inline"]).out
    # of this program: others, as the loader, may have inlined functions that the oracle does not ask about
    stacks, loose = fold(text, expand=expand)
    compare("--inline", "".join(x + "\n" for x in r.splitlines() if ";outer" in x),
            (collections.Counter({k: n for k, n in stacks.items() if ";outer" in k}), loose))
    has("--inline shows what was inlined", r, "outer;first;second;third ")
    has("--inline --all marks it", kymo(["collapse", "-i", path, "--inline", "--all"]).out, "outer;first_[i];second_[i];third_[i] ")
    compare("without --inline", kymo(["collapse", "-i", path]).out, fold(text))
    # of all programs, also of those the oracle was not asked about: without what was inlined it is the same again
    less = collections.Counter()
    for line in kymo(["collapse", "-i", path, "--inline", "--all"]).out.splitlines():
        stack, n = line.rsplit(" ", 1)
        less[";".join(x for x in stack.split(";") if not x.endswith("_[i]"))] += int(n)
    same("--inline less the inlined functions", "".join(f"{k} {n}\n" for k, n in sorted(less.items())), kymo(["collapse", "-i", path, "--all"]).out)
else:
    skip("--inline", "needs a compiler and addr2line")

shutil.rmtree(tmp)
end()
