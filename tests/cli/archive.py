#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""kymo archive: one file that gives the same texts on a machine that has none of the programs; unpacking, also hostile ones."""
import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip

if os.geteuid() != 0:
    skip("all", "needs root, for chroot")
    end()
TMP = tempfile.mkdtemp(prefix="kymo-archive-")
SOURCE = """
static inline __attribute__((always_inline)) unsigned step(unsigned x) { x ^= x << 13; return x ^ (x >> 17); }
__attribute__((noinline)) unsigned hot(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < n; i++)
		x = step(x) + 1;
	return x;
}
int main(void) { volatile unsigned s = 0; for (int i = 0; i < 40; i++) s += hot(5000000 + i); return 0; }
"""
VIEWS = ["report --stdio", "report --stdio --no-children -g none --sort dso,sym,srcline", "report --stdio --header-only", "script",
         "script -F comm,tid,time,ip,sym,symoff,dso,srcline", "annotate --stdio -s hot", "collapse", "buildid-list", "evlist -v"]


def path(name):
    return f"{TMP}/{name}"


def make_root():
    """A root folder with kymo in it and nothing else: its libraries are where no recording looks for them."""
    root = path("root")
    os.makedirs(f"{root}/k", exist_ok=True)
    os.makedirs(f"{root}/tmp", exist_ok=True)
    shutil.copy(KYMO, f"{root}/k/kymo")
    loader = None
    # loaded only when it is needed
    for lib in re.findall(r"=> (/\S+libcapstone\.so\S*)", run("ldconfig -p").out):
        shutil.copy(lib, f"{root}/k/")
    for line in run(f"ldd {KYMO}").out.splitlines():
        m = re.search(r"(/\S+) \(", line)
        if m:
            shutil.copy(m[1], f"{root}/k/")
            if "ld-linux" in m[1]:
                loader = os.path.basename(m[1])
    return root, loader


ROOT, LOADER = make_root()


def elsewhere(args, file):
    """kymo in that root, with the file as its only input."""
    shutil.copy(file, f"{ROOT}/tmp/in")
    start = [f"/k/{LOADER}", "--library-path", "/k"] if LOADER else []  # a static build has none
    argv = ["chroot", ROOT, *start, "/k/kymo", *args.split(), "-i", "/tmp/in"]
    if SAN:  # the sanitizers need /proc
        os.makedirs(f"{ROOT}/proc", exist_ok=True)
        argv = ["unshare", "-m", "sh", "-c", f'mount --rbind /proc {ROOT}/proc && exec "$@"', "sh", *argv]
    return run(argv, env={"LC_ALL": "C", "HOME": "/", "DEBUGINFOD_URLS": "", "XDG_CACHE_HOME": "", "LSAN_OPTIONS": ""})


def clean(text, *names):
    """Without the input's own name, but where it stands in the recorded command line."""
    return re.sub("|".join(re.escape(n) + r"(?! --)" for n in [*names, "/tmp/in"]), "FILE", text)


def compare(what, data, views=VIEWS, options=""):
    r = kymo(f"archive -i {data} {options}", env=HOME)
    if not check(f"{what}: an archive is made", r.code == 0 and os.path.exists(data + ".kymo"), r):
        return
    for view in views:
        here = kymo(f"{view} -i {data}", env=HOME)
        there = elsewhere(view, data + ".kymo")
        check(f"{what}: {view} has something to show", here.code == 0 and len(here.out) > 40, here)
        same(f"{what}: {view} elsewhere", (there.code, clean(there.out)), (here.code, clean(here.out, data)))
        same(f"{what}: {view} elsewhere, messages", clean(there.err), clean(here.err, data))


HOME = {"LC_ALL": "C", "HOME": path("home"), "XDG_CACHE_HOME": path("home/.cache"), "DEBUGINFOD_URLS": ""}
os.makedirs(path("home"))
os.makedirs(path("bin"))
with open(path("bin/hot.c"), "w") as f:
    f.write(SOURCE)
HOT = path("bin/hot")
built = run(f"gcc -g -O2 -o {HOT} {HOT}.c")
if built.code:
    skip("all", "needs gcc")
    end()

# --- the same everywhere ---
r = kymo(f"record -q -F 2000 -g -o {path('own')} -- {HOT}", env=HOME)
check("recorded with kymo", r.code == 0, r)
compare("kymo record -g", path("own"), options="--sources")
without = elsewhere("script", path("own"))
check("without the archive the names are missing", "hot" not in re.findall(r"^\s+[0-9a-f]+ (\S+) \(", without.out, re.M), without.out[:600])
if not SAN and shutil.which("perf"):
    run(f"perf record -q -F 2000 -g -o {path('perf')} {WORK}/busy 300 threads=2", env=HOME)
    compare("perf record -g", path("perf"), VIEWS[:2] + VIEWS[3:4])
    run(f"perf record -q -F 500 --call-graph dwarf -o {path('dwarf')} {HOT}", env=HOME)
    compare("perf record --call-graph dwarf", path("dwarf"), ["report --stdio --no-children", "script"])

# --- a program and its debug file that are gone by the time it is read; stripped, with a link to the debug file ---
shutil.copy(HOT, path("bin/thin"))
run(f"objcopy --only-keep-debug {path('bin/thin')} {path('bin/thin.debug')}")
run(f"objcopy --strip-all --add-gnu-debuglink={path('bin/thin.debug')} {path('bin/thin')}")
kymo(f"record -q -F 2000 -o {path('thin.data')} -- {path('bin/thin')}", env=HOME)
compare("a stripped program with a debug file", path("thin.data"), ["report --stdio --sort sym,srcline", "annotate --stdio -s hot"], "--sources")

# --- no build-id: found by its path ---
run(f"gcc -g -O2 -Wl,--build-id=none -o {path('bin/noid')} {HOT}.c")
kymo(f"record -q -F 2000 -o {path('noid.data')} -- {path('bin/noid')}", env=HOME)
compare("a program without a build-id", path("noid.data"), ["report --stdio --sort sym,srcline", "annotate --stdio -s hot"], "--sources")

# --- code of a JIT, named by a perf map ---
kymo(f"record -q -F 2000 -o {path('jit.data')} -- {WORK}/busy 300 jit", env=HOME)
lines = kymo(f"script -F pid,ip,sym,dso -i {path('jit.data')}", env=HOME).out.splitlines()
jit = [m for m in (re.match(r"\s*(\d+)\s+([0-9a-f]+) \S+ \((/tmp/perf-\d+\.map|//anon|\[JIT\].*)\)", x) for x in lines) if m]
if jit:
    pid, addr = int(jit[0][1]), int(jit[0][2], 16) & ~0xfff
    with open(f"/tmp/perf-{pid}.map", "w") as f:
        f.write(f"{addr:x} 1000 jitted code\n")
    here = kymo(f"report --stdio --sort sym -i {path('jit.data')}", env=HOME).out
    kymo(f"archive -i {path('jit.data')}", env=HOME)
    os.unlink(f"/tmp/perf-{pid}.map")
    there = elsewhere("report --stdio --sort sym", path("jit.data.kymo")).out
    has("JIT code has its name here", here, "jitted code")
    same("and elsewhere", clean(there), clean(here, path("jit.data")))
else:
    check("JIT code was sampled", False, "\n".join(lines[:10]))

if shutil.which("node") and not SAN:
    with open(path("hot.js"), "w") as f:
        f.write("function hotInner(x) { let s = 0; for (let i = 0; i < 2000; i++) s += Math.sqrt(x * i); return s; }\n"
                "let z = 0; const end = Date.now() + 900; while (Date.now() < end) z += hotInner(z);\n")
    r = kymo(["record", "-q", "-F", "997", "-k", "mono", "-o", path("node.data"), "--", "node", "--perf-prof", "hot.js"], cwd=TMP, env=HOME)
    dumps = [x for x in os.listdir(TMP) if x.startswith("jit-")]
    if r.code == 0 and dumps:
        compare("Node.js with a jitdump", path("node.data"), ["report --stdio -g none --sort dso,sym"])
        has("its functions have names elsewhere", elsewhere("report --stdio -g none --sort sym", path("node.data.kymo")).out, "hotInner")
    else:
        skip("Node.js with a jitdump", "it wrote none")
else:
    skip("Node.js with a jitdump", "needs node")

# --- what a stranger's tool sees ---
with open(path("own"), "rb") as f:
    data = f.read()
kymo(f"archive -i {path('own')} --plain -o {path('plain')}", env=HOME)
with open(path("piped"), "wb") as f:
    subprocess.run([KYMO, "archive", "-i", path("own"), "--plain", "-o", "-"], stdout=f, env={**os.environ, **HOME}, check=False)


def members(name):
    """Files and links by name, with a sum of what is in them; their order is that in which threads met them."""
    with tarfile.open(path(name)) as t:
        return {m.name: m.linkname or hashlib.sha256(t.extractfile(m).read()).hexdigest() for m in t.getmembers()}


same("-o - writes the same to a pipe", members("piped"), members("plain"))
with open(path("piped"), "rb") as f:
    r = subprocess.run([KYMO, "report", "-i", "-", "--stdio"], stdin=f, capture_output=True, check=False)
check("an archive comes through a pipe as from a file", r.returncode == 0 and r.stdout == subprocess.run([KYMO, "report", "-i", path("piped"), "--stdio"], capture_output=True, check=False).stdout, r)
with tarfile.open(path("plain")) as t:
    names = t.getnames()
    same("any tar reads it: the recording comes first", t.extractfile(names[0]).read(), data)
    links = [m for m in t.getmembers() if m.issym()]
    check("links by build-id lead to files", links and all(os.path.normpath(os.path.join(os.path.dirname(m.name), m.linkname)) + "/elf" in names
                                                          for m in links if "[" not in m.linkname), names)
same("plain or packed, the same report", kymo(f"report --stdio -i {path('plain')}", env=HOME).out.replace(path("plain"), ""),
     kymo(f"report --stdio -i {path('own.kymo')}", env=HOME).out.replace(path("own.kymo"), ""))
if shutil.which("zstd"):
    run(f"zstd -q -f {path('plain')} -o {path('one.tar.zst')}")
    same("packed as one frame by zstd", kymo(f"script -i {path('one.tar.zst')}", env=HOME).out, kymo(f"script -i {path('plain')}", env=HOME).out)
    run(f"zstd -q -d -f {path('own.kymo')} -o {path('own.tar')}")
    check("zstd unpacks it into a tar", tarfile.is_tarfile(path("own.tar")))

# --- unpacking ---
r = kymo(f"archive --unpack {path('own.kymo')} --buildid-dir {path('cache')} -o {path('back')}", env=HOME)
with open(path("back"), "rb") as f:
    same("unpacked: the recording is the same", f.read(), data)
ident = run(f"{KYMO} buildid-list -i {HOT}").out.strip()
with open(HOT, "rb") as a, open(path(f"cache/.build-id/{ident[:2]}/{ident[2:]}/elf"), "rb") as b:
    same("and the program, under its build-id", b.read(), a.read())
r = kymo(f"archive --unpack {path('own.kymo')} --buildid-dir {path('cache')} -o {path('back')}", env=HOME)
check("a recording that is there is not written over", r.code == 1 and "is there already" in r.err, r)
os.rename(HOT, HOT + ".away")
shutil.rmtree(path("home/.cache"), ignore_errors=True)
has("names come from the cache then", kymo(f"report --stdio -i {path('back')}", env={**HOME, "PERF_BUILDID_DIR": path("cache")}).out, "hot")
if shutil.which("perf") and not SAN:
    has("perf finds them there too", run(f"perf --buildid-dir {path('cache')} report --stdio -i {path('back')}", env=HOME).out, "hot")
os.rename(HOT + ".away", HOT)
kymo(f"archive --unpack {path('own.kymo')} -d {path('whole')}", env=HOME)
check("-d takes everything", os.path.exists(path("whole/perf.data")) and os.path.isdir(path("whole/.build-id")))

# --- what perf archive packs ---
names = sorted(os.listdir(path("cache")))
for packer, letter in (("bzip2", "j"), ("gzip", "z"), ("xz", "J")):
    if not shutil.which(packer):
        skip(f"perf's archive, packed with {packer}", f"needs {packer}")
        continue
    subprocess.run(["tar", f"-c{letter}f", path("perf.tar"), "-C", path("cache"), *names], check=True)
    shutil.rmtree(path("again"), ignore_errors=True)
    r = kymo(f"archive --unpack {path('perf.tar')} --buildid-dir {path('again')}", env=HOME)
    check(f"perf's archive, packed with {packer}", r.code == 0 and os.path.exists(path(f"again/.build-id/{ident[:2]}/{ident[2:]}/elf")), r)
r = kymo(f"report -i {path('perf.tar')}", env=HOME)
check("it is no recording, and that is said", r.code == 1, r)
subprocess.run(["tar", "-cf", path("perf.tar"), "-C", path("cache"), *names], check=True)
r = kymo(f"report -i {path('perf.tar')}", env=HOME)
check("an archive without a recording", r.code == 1 and "without a recording" in r.err and "--unpack" in r.err, r)


# --- hostile ones ---
def hostile(name, *members):
    with tarfile.open(path(name), "w", format=tarfile.GNU_FORMAT) as t:
        for member, link in members:
            info = tarfile.TarInfo(member)
            if link:
                info.type, info.linkname = tarfile.SYMTYPE, link
                t.addfile(info)
            else:
                info.size = 4
                t.addfile(info, io.BytesIO(b"evil"))
    return path(name)


os.makedirs(path("outside"))
bad = hostile("bad.tar", ("../outside/a", None), (path("outside/b"), None), ("x/../../outside/c", None), ("dir", path("outside")), ("dir/d", None),
              (".build-id/ab/" + "cd" * 19, "../../../outside"), (".build-id/ab/" + "ce" * 19, path("outside")), ("good/file", None))
r = kymo(f"archive --unpack {bad} -d {path('victim')}", env=HOME)
same("nothing leads outside", os.listdir(path("outside")), [])
check("what is safe is unpacked, the rest counted", r.code == 0 and os.path.exists(path("victim/good/file")) and "left out" in r.err, r)
links = [os.readlink(os.path.join(d, f)) for d, _, fs in os.walk(path("victim")) for f in fs if os.path.islink(os.path.join(d, f))]
same("no link leads outside", [x for x in links if "outside" in x], [])
os.makedirs(path("victim2"))
os.symlink(path("outside"), path("victim2/good"))
r = kymo(f"archive --unpack {hostile('l.tar', ('good/file', None))} -d {path('victim2')}", env=HOME)
check("links that are there are not followed", r.code == 1 and not os.listdir(path("outside")), r)

# --- damaged ones ---
with open(path("own.kymo"), "rb") as f:
    packed = f.read()
for part in (10, 300, len(packed) // 2, len(packed) - 20):
    with open(path("cut"), "wb") as f:
        f.write(packed[:part])
    r = kymo(f"report --stdio -i {path('cut')}", env=HOME)
    check(f"cut to {part} bytes: read as far as it goes, or refused with a word", r.code in (0, 1) and (r.code == 0 or r.err.startswith("kymo")), r)
r = kymo(f"archive --unpack {path('own')} -d {path('never')}", env=HOME)
check("a recording is not unpacked, and that is told", r.code == 1 and "is a recording" in r.err and not os.path.exists(path("never")), r)
r = kymo(f"archive -i {path('own.kymo')}", env=HOME)
check("an archive of an archive is refused", r.code == 1 and "already" in r.err, r)
r = kymo(f"archive -i {path('nowhere')}", env=HOME)
check("a missing file is told", r.code == 1 and "cannot open" in r.err, r)
check("and nothing is left of it", not os.path.exists(path("nowhere.kymo")))

shutil.rmtree(TMP)
end()
