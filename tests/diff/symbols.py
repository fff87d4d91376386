#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""kymo addr2line against llvm-symbolizer (names, inlines, lines) and perf script (names).

10,000 random addresses of each of several binaries, built here with other compilers and options.
What may differ is listed in DIFFERENCES, each with its reason; everything else must be equal.
"""
import collections
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile

from tap import KYMO, check, end, same, skip

N = 10000
DIFFERENCES = {
    "alias": "several names at one address: kymo takes perf's choice, llvm-symbolizer another of them",
    "clone": "the symbol says .cold, .part.0 ..., debug info has the name without it",
    "filename only": "llvm-symbolizer takes a FILE symbol of the symbol table (crtstuff.c) where there is no line",
    "folder twice": "llvm-symbolizer puts a relative compile folder before a path that begins with it",
    "label": "a hidden label without a type and size (of code in assembler), which perf leaves out, too",
    "plt": "perf 6.1 counts PLT entries in the order of .rela.plt, kymo decodes them",
    "sizeless": "perf finds nothing where its tree search misses a symbol that reaches over another",
}

CPP = r"""
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace app {
struct Key { int a; std::string s; bool operator<(const Key &o) const { return a < o.a || s < o.s; } };
template <class T> struct Tree {
	std::map<Key, std::vector<T>> m;
	std::shared_ptr<Tree> next;
	void add(int k, T v) { m[Key{k, std::to_string(k)}].push_back(v); if (k % 7 == 0) next = std::make_shared<Tree>(); }
	T sum() const { T s{}; for (auto &p : m) for (auto &v : p.second) s = s + v; return s; }
};
static inline __attribute__((always_inline)) int l5(int x) { return x * 3 + (x >> 2); }
static inline __attribute__((always_inline)) int l4(int x) { return l5(x + 1) ^ l5(x + 4); }
static inline __attribute__((always_inline)) int l3(int x) { int r = 0; for (int i = 0; i < x; i++) r += l4(i); return r; }
static inline __attribute__((always_inline)) int l2(int x) { return l3(x) + l3(x + 9); }
static inline __attribute__((always_inline)) int l1(int x) { return l2(x) * 7; }
__attribute__((noinline)) int deep(int x) { return l1(x) + 1; }
int fold(const std::vector<int> &v, std::function<int(int, int)> f) { int r = 0; for (int x : v) r = f(r, x); return r; }
}
int work(int n) {
	app::Tree<int> t; app::Tree<double> d; app::Tree<std::string> ss;
	std::vector<int> v;
	for (int i = 0; i < n; i++) { t.add(i * 3 % 17, i); d.add(i, i * 0.5); ss.add(i, "x"); v.push_back(i ^ 5); }
	std::stable_sort(v.begin(), v.end(), [](int a, int b) { return (a ^ 3) < (b ^ 3); });
	if (n > 1000000) throw std::string("much");
	return app::fold(v, [&](int a, int b) { return a * 31 + b + n; }) + app::deep(n) + (int)ss.sum().size() + t.sum() + (int)d.sum();
}
"""
MAIN = "int work(int); int other(int); int main(int c, char **) { return (work(c * 10) + other(c)) & 1; }\n"
OTHER = """
static inline int twice(int x) { return x * 2; }
static int local(int x) { int r = 0; for (int i = 0; i < x; i++) r += twice(i) ^ i; return r; }
#line 0
int no_line(int x) { return local(x) + twice(x); }
#line 100 "generated.y"
int other(int x) { return no_line(x) + local(x + 1); }
"""


def sh(cmd, cwd=None):
    r = subprocess.run(cmd, shell=True, cwd=cwd, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(f"{cmd}\n{r.stderr[-2000:]}")
    return r.stdout


def build(folder, name, compiler, flags, link=""):
    """One binary in a folder of its own, so that .dwo files do not mix."""
    d = os.path.join(folder, name)
    os.makedirs(d)
    for file, text in (("work.cc", CPP), ("main.cc", MAIN), ("other.cc", OTHER)):
        with open(os.path.join(d, file), "w") as f:
            f.write(text)
    for part in ("work", "main", "other"):
        sh(f"{compiler} -O2 {flags} -c {part}.cc -o {part}.o", d)
    sh(f"{compiler} -O2 {flags} work.o main.o other.o -o prog {link}", d)
    return os.path.join(d, "prog")


def text_addresses(path, n):
    out = sh(f"readelf -SW {path}")
    m = re.search(r"\.text\s+PROGBITS\s+(\S+) \S+ (\S+)", out)
    start, size = int(m[1], 16), int(m[2], 16)
    rnd = random.Random(11)
    if size <= n:
        return list(range(start, start + size))
    return [start + rnd.randrange(size) for _ in range(n)]


def ask_kymo(path, addrs, *options):
    with tempfile.TemporaryFile("w+") as f:
        f.write("".join(f"{a:x}\n" for a in addrs))
        f.seek(0)
        r = subprocess.run([KYMO, "addr2line", "-a", "-f", "-i", "--no-cache", "-e", path, *options], stdin=f,
                           capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr)
    blocks, lines = [], r.stdout.split("\n")[:-1]
    i = 0
    while i < len(lines):
        if lines[i].startswith("0x"):
            blocks.append([])
            i += 1
        else:
            blocks[-1].append((lines[i], lines[i + 1]))
            i += 2
    return blocks


def ask_llvm(path, addrs):
    r = subprocess.run(["llvm-symbolizer", "--no-demangle", f"--obj={path}"], capture_output=True, text=True,
                       input="".join(f"0x{a:x}\n" for a in addrs))
    blocks = []
    for block in r.stdout.strip("\n").split("\n\n"):
        lines = block.split("\n")
        blocks.append([(lines[i], ":".join(lines[i + 1].split(":")[:-1])) for i in range(0, len(lines), 2)])
    return blocks


def aliases(path):
    """Address to all names there, from both symbol tables and the debug file's."""
    at = collections.defaultdict(set)
    files = [path]
    m = re.search(r"Build ID: (\w\w)(\w+)", sh(f"readelf -n {path} 2>/dev/null"))
    if m and os.path.exists(f"/usr/lib/debug/.build-id/{m[1]}/{m[2]}.debug"):
        files.append(f"/usr/lib/debug/.build-id/{m[1]}/{m[2]}.debug")
    sets = collections.defaultdict(set)
    for f in files:
        for option in ("", "-D"):
            for line in subprocess.run(f"nm {option} --defined-only {f} 2>/dev/null", shell=True, capture_output=True,
                                       text=True).stdout.splitlines():
                addr, _, name = line.split(" ", 2)
                at[int(addr, 16)].add(name.split("@")[0])
    for names in at.values():
        for n in names:
            sets[n] |= names
    return sets


def labels(path):
    """Names of hidden labels."""
    return set(re.findall(r" 0 NOTYPE +\w+ +HIDDEN +\d+ (\S+)$", sh(f"readelf -sW {path} 2>/dev/null"), re.M))


def reason(mine, other, alias, hidden):
    """Why two answers differ, if the reason is a known one."""
    if len(mine) != len(other):
        return None
    why = set()
    for i, ((name, place), (name2, place2)) in enumerate(zip(mine, other)):
        if name != name2:
            if i != len(mine) - 1:
                return None
            base = name.split("@")[0]
            if name2 in alias.get(base, ()) or name2.split("@")[0] == base:
                why.add("alias")
            elif name == "??" and name2 in hidden:
                why.add("label")
            elif re.sub(r"\.(cold|part|isra|constprop|lto_priv)(\.\d+)*", "", base) == name2:
                why.add("clone")
            else:
                return None
        if place != place2:
            if place == "??:0" and place2.endswith(":0") and "/" not in place2:
                why.add("filename only")
            elif place2.endswith(place.removeprefix("./")) and not place.startswith("/"):
                why.add("folder twice")
            else:
                return None
    return "+".join(sorted(why))


def against_llvm(name, path, n=N):
    addrs = text_addresses(path, n)
    mine, other, alias, hidden = ask_kymo(path, addrs), ask_llvm(path, addrs), aliases(path), labels(path)
    if not same(f"{name}: an answer for each address", (len(mine), len(other)), (len(addrs), len(addrs))):
        return
    kinds, bad = collections.Counter(), []
    for a, x, y in zip(addrs, mine, other):
        why = "equal" if x == y else reason(x, y, alias, hidden)
        kinds[why] += 1
        if not why:
            bad.append(f"{a:#x}\n  kymo {x}\n  llvm {y}")
    inlined = sum(len(x) > 1 for x in mine)
    lined = sum(x[0][1] != "??:0" for x in mine)
    for why in [w for w in kinds if w]:
        assert why == "equal" or all(w in DIFFERENCES for w in why.split("+"))
    check(f"{name}: {len(addrs)} addresses as llvm-symbolizer ({inlined} inlined, {lined} with lines; "
          + ", ".join(f"{k} {v}" for k, v in kinds.most_common() if k) + ")", not bad, "\n".join(bad[:6]))
    check(f"{name}: the comparison had something to compare", lined > len(addrs) // 3 and inlined > len(addrs) // 20,
          f"{lined} lines, {inlined} inlined of {len(addrs)}")


def perf_data(path, binary, offset, size, ips, pid=4242):
    """A recording with a sample at each of the given addresses of one mapping."""
    def record(kind, body):
        return struct.pack("<IHH", kind, 2, 8 + len(body)) + body
    sample_id = struct.pack("<IIQ", pid, pid, 2)
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, 1 | 2 | 4, 0, 1 << 8 | 1 << 9 | 1 << 18 | 1 << 23).ljust(128, b"\0")
    name = binary.encode() + b"\0"
    name += b"\0" * (-len(name) % 8)
    data = record(3, struct.pack("<II", pid, pid) + b"test\0\0\0\0" + sample_id)
    data += record(10, struct.pack("<IIQQQIIQQII", pid, pid, 0x7f0000000000, size, offset, 8, 1, 77, 0, 5, 2) + name
                   + sample_id)
    data += b"".join(record(9, struct.pack("<QIIQ", ip, pid, pid, 10 + i)) for i, ip in enumerate(ips))
    with open(path, "wb") as f:
        f.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, 104, 144, 248, len(data), 0, 0) + bytes(32))
        f.write(attr + struct.pack("<QQ", 0, 0) + data)


def against_perf(name, binary, folder, n=N):
    """Names in perf's form for random addresses and for the starts of symbols."""
    m = re.search(r"LOAD\s+(\S+) (\S+) \S+ (\S+) \S+ R E", sh(f"readelf -lW {binary}"))
    offset, vaddr, size = (int(x, 16) for x in m.groups())
    rnd = random.Random(3)
    starts = set()
    for option in ("", "-D"):
        for line in subprocess.run(f"nm {option} --defined-only {binary} 2>/dev/null", shell=True, capture_output=True,
                                   text=True).stdout.splitlines():
            a = int(line.split()[0], 16)
            if vaddr <= a < vaddr + size:
                starts.add(a)
    addrs = set(rnd.sample(sorted(starts), min(len(starts), n // 2)))
    while len(addrs) < min(n, size // 2):
        addrs.add(vaddr + rnd.randrange(size))
    addrs = sorted(addrs)
    page = offset & ~0xfff
    data = os.path.join(folder, "perf.data")
    perf_data(data, binary, page, (offset - page + size + 0xfff) & ~0xfff,
              [0x7f0000000000 + (a - vaddr + offset) - page for a in addrs])
    r = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], capture_output=True, text=True,
                       env={**os.environ, "HOME": folder, "PERF_BUILDID_DIR": folder})
    theirs = [line.split(None, 1)[1].strip() for line in r.stdout.splitlines() if line.strip()]
    mine = [x[-1][0] for x in ask_kymo(binary, addrs, "-C", "--no-params")]
    if not same(f"{name}: perf script gives a name for each sample", len(theirs), len(addrs)):
        return
    kinds, bad = collections.Counter(), []
    for a, x, y in zip(addrs, mine, theirs):
        y = "??" if y == "[unknown]" else y
        why = "equal" if x == y else "plt" if "@plt" in x or "@plt" in y else "sizeless" if y == "??" else None
        kinds[why] += 1
        if not why:
            bad.append(f"{a:#x} kymo {x!r} perf {y!r}")
    check(f"{name}: {len(addrs)} names as perf script's ({', '.join(f'{k} {v}' for k, v in kinds.most_common() if k)})",
          not bad, "\n".join(bad[:10]))
    check(f"{name}: differences stay few", kinds["plt"] + kinds["sizeless"] <= len(addrs) // 20, str(kinds))


def kernel(folder):
    """Names of the kernel's own addresses in a real recording."""
    data = os.path.join(folder, "kernel.data")
    subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock", "-F", "2000", "-o", data, "--", "sh", "-c",
                    "ls -R /usr/lib /usr/share >/dev/null; dd if=/dev/zero of=/dev/null bs=512 count=500000"],
                   capture_output=True)
    r = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], capture_output=True, text=True)
    theirs = dict(x.split(None, 1) for x in r.stdout.splitlines() if x.strip().startswith("ffff") and len(x.split()) > 1)
    if len(theirs) < 50:
        return skip("kernel names", "perf recorded nothing in the kernel here")
    k = subprocess.run([KYMO, "addr2line", "-k", "-f", *theirs], capture_output=True, text=True)
    mine = dict(zip(theirs, k.stdout.splitlines()[::2]))
    # BPF programs, of other tests for instance, come and go: who asks later may find other ones, or none
    bad = [f"{ip} kymo {mine.get(ip)} perf {name}" for ip, name in theirs.items()
           if mine.get(ip, "").split(" [")[0] != name.strip() and "[bpf]" not in mine.get(ip, "") and not name.startswith("bpf_prog_")]
    check(f"kernel: {len(theirs)} addresses as perf script", not bad, "\n".join(bad[:10]))


def variants(folder):
    gcc = build(folder, "gcc5", "g++", "-gdwarf-5")
    against_llvm("gcc, no PIE, compressed sections", build(folder, "gccz", "g++", "-g -gz -no-pie -fno-pie"))
    against_llvm("gcc, LTO", build(folder, "gcclto", "g++", "-g -flto"))
    against_llvm("clang, DWARF 4, functions in sections", build(
        folder, "clang4", "clang++", "-gdwarf-4 -ffunction-sections", "-Wl,--gc-sections"))
    for version in (4, 5):
        split(folder, "clang++", version)
        split(folder, "g++", version)
        packed(folder, version)
    aranges(gcc)
    dwz(folder, gcc)
    debug_file(folder, gcc)
    return gcc


def split(folder, compiler, version):
    """Split DWARF must say what the same in one file says. (llvm-symbolizer 14 does not enter the .dwo file of a
    unit with one range.)"""
    answers = []
    for name, flag in (("whole", ""), ("split", "-gsplit-dwarf")):
        prog = build(folder, f"{name}-{compiler}-{version}", compiler, f"-gdwarf-{version} {flag}")
        addrs = text_addresses(prog, N)
        answers.append([[(n, p.replace(os.path.dirname(prog), "")) for n, p in x] for x in ask_kymo(prog, addrs)])
        if not flag:
            against_llvm(f"{compiler}, DWARF {version}", prog)
    differ = [f"{a:#x}\n  whole {x}\n  split {y}" for a, x, y in zip(addrs, *answers) if x != y]
    check(f"{compiler}, split DWARF {version}: {len(addrs)} addresses as without splitting", not differ, "\n".join(differ[:5]))


def packed(folder, version):
    """A .dwp must give what its .dwo files gave."""
    tool = shutil.which("llvm-dwp") or shutil.which("llvm-dwp-14") or shutil.which("dwp")
    if not tool:
        return skip(f"split DWARF {version} in a package", "no llvm-dwp here")
    prog = build(folder, f"dwp{version}", "clang++", f"-gdwarf-{version} -gsplit-dwarf")
    addrs = text_addresses(prog, N)
    before = ask_kymo(prog, addrs)
    sh(f"{tool} -e prog -o prog.dwp", os.path.dirname(prog))
    for f in os.listdir(os.path.dirname(prog)):
        if f.endswith(".dwo"):
            os.remove(os.path.join(os.path.dirname(prog), f))
    same(f"split DWARF {version}: the package gives what the .dwo files gave", ask_kymo(prog, addrs), before)
    os.remove(prog + ".dwp")
    after = ask_kymo(prog, addrs)
    check(f"split DWARF {version}: without them lines remain", [x[0][1] for x in after if len(x) == 1][:50]
          and sum(len(x) > 1 for x in after) == 0 and sum(x[0][1] != "??:0" for x in after) > N // 2)


def dwz(folder, prog):
    if not shutil.which("dwz"):
        return skip("dwz", "no dwz here")
    d = os.path.join(folder, "dwz")
    os.makedirs(d)
    for name in ("one", "two"):
        shutil.copy(prog, os.path.join(d, name))
    addrs = text_addresses(prog, N)
    before = ask_kymo(prog, addrs)
    sh("dwz -m shared.debug -r one two", d)
    check("dwz made a shared file", os.path.exists(os.path.join(d, "shared.debug")))
    same("dwz: the same answers through the shared file", ask_kymo(os.path.join(d, "one"), addrs), before)
    os.remove(os.path.join(d, "shared.debug"))
    after = ask_kymo(os.path.join(d, "one"), addrs)
    check("dwz: without the shared file lines remain", sum(x[0][1] != "??:0" for x in after) > len(addrs) // 2)


def aranges(prog):
    """The list of units' addresses may be missing, or leave units out."""
    d = os.path.dirname(prog)
    addrs = text_addresses(prog, N)
    before = ask_kymo(prog, addrs)
    sh(f"objcopy -R .debug_aranges {prog} none && objcopy -R .debug_aranges -R .rela.debug_aranges work.o part.o && "
       "g++ -O2 part.o main.o other.o -o some", d)
    same("without .debug_aranges: the same answers", ask_kymo(os.path.join(d, "none"), addrs), before)
    addrs = text_addresses(os.path.join(d, "some"), N)
    after = ask_kymo(os.path.join(d, "some"), addrs)
    check("with one that leaves a unit out: its lines are found", sum("work.cc" in x[-1][1] for x in after) > 100,
          str(collections.Counter(x[-1][1].split(":")[0] for x in after).most_common(5)))


def debug_file(folder, prog):
    """Stripped, with the debug info in a file named by .gnu_debuglink."""
    d = os.path.join(folder, "link")
    os.makedirs(d)
    addrs = text_addresses(prog, N)
    before = ask_kymo(prog, addrs)
    sh(f"objcopy --only-keep-debug {prog} prog.debug && cp {prog} prog && strip prog && "
       "objcopy --add-gnu-debuglink=prog.debug prog", d)
    stripped = os.path.join(d, "prog")
    same(".gnu_debuglink: the same answers", ask_kymo(stripped, addrs), before)
    with open(os.path.join(d, "prog.debug"), "ab") as f:
        f.write(b"x")
    after = ask_kymo(stripped, addrs)
    check(".gnu_debuglink with a wrong CRC is refused", all(x[0][1] == "??:0" for x in after))


def main():
    for tool in ("llvm-symbolizer", "g++", "clang++", "readelf"):
        if not shutil.which(tool):
            skip("all", f"no {tool} here")
            end()
    folder = tempfile.mkdtemp(prefix="kymo-symbols-")
    try:
        gcc = variants(folder)
        against_llvm("kymo itself", KYMO)
        for lib in ("libc.so.6", "libstdc++.so.6"):
            path = os.path.realpath(f"/lib/x86_64-linux-gnu/{lib}")
            if os.path.exists(path) and shutil.which("perf"):
                against_perf(lib, path, folder, 2 * N)
        if shutil.which("perf"):
            against_perf("gcc's program", gcc, folder)
            kernel(folder)
    finally:
        shutil.rmtree(folder)
    end()


main()
