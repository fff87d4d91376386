#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Names in hostile files lead to devices and pipes: kymo opens none of them, not even for a moment, and never waits."""
import os
import struct

from files import Folder
from tap import check, end, kymo, run, same, skip
from trap import Trap

at = Folder("kymo-devices-")
env = {"HOME": at.root, "XDG_CACHE_HOME": at.path("cache"), "DEBUGINFOD_URLS": ""}
at.write("a.c", "int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * n; return s; }\nint main(void) { return work(3); }\n")
if run(f"gcc -g -O1 -o {at.path('a')} {at.path('a.c')}").code:
    skip("all", "needs gcc")
    end()
MAIN = run(f"nm {at.path('a')}").out.split(" T main")[0].split()[-1]


def with_section(name, section, data):
    """The program with one more section."""
    blob = at.write("section", data)
    r = run(f"objcopy --add-section {section}={blob} {at.path('a')} {at.path(name)}")
    assert r.code == 0, r
    return at.path(name)


def lines_of(program, **more):
    return kymo(f"addr2line -e {program} -i -f 0x{MAIN}", env=env, timeout=20, **more)


# --- the test itself: an opened pipe springs the trap ---
trap = Trap(at.path("pipe"))
check("the trap is set", not trap.sprung())
os.close(os.open(trap.path, os.O_RDONLY | os.O_NONBLOCK))
check("and springs when it is opened without waiting", trap.sprung())
trap.remove()

# --- .gnu_debugaltlink: any path, and a build-id ---
trap = Trap(at.path("watchdog"))
alt = with_section("alt", ".gnu_debugaltlink", trap.path.encode() + b"\0" + b"\x11" * 20)
r = lines_of(alt)
check("a program whose dwz file would be a device is read", r.code == 0 and "a.c:2" in r.out, r)
check("without opening that", not trap.sprung())
trap.remove()

# --- .gnu_debuglink: a name beside the program ---
trap = Trap(at.path("link.debug"))
run(f"objcopy --strip-all {at.path('a')} {at.path('bare')}")
blob = at.write("section", b"link.debug\0\0" + struct.pack("<I", 0x12345678))
run(f"objcopy --remove-section .note.gnu.build-id --add-section .gnu_debuglink={blob} {at.path('bare')} {at.path('link')}")
r = lines_of(at.path("link"))
same("a debug file that is a pipe: none", (r.code, trap.sprung()), (0, False))
trap.remove()

# --- the program itself ---
trap = Trap(at.path("program"))
r = lines_of(trap.path)
check("a pipe is no program, and that is said", r.code == 1 and "is not a regular file" in r.err and not trap.sprung(), r)
trap.remove()

# --- sources that debug info names: #line says which ---
trap = Trap(at.path("source.c"))
at.write("hot.c", f'# 1 "{trap.path}"\nunsigned hot(unsigned n) {{ unsigned x = n; for (unsigned i = 0; i < n; i++) x = x * 3 + i; return x; }}\n'
         "int main(void) { volatile unsigned s = 0; for (int i = 0; i < 60; i++) s += hot(5000000 + i); return 0; }\n")
run(f"gcc -g -O1 -fno-inline -o {at.path('hot')} {at.path('hot.c')}")
r = kymo(f"record -q -F 2000 -o {at.path('hot.data')} -- {at.path('hot')}", env=env)
check("a program with such a source is recorded", r.code == 0, r)
for words in ("annotate --stdio -s hot", "script -F ip,sym,srcline,srccode", "archive -q --sources -o /dev/null", "report --stdio --sort srcline"):
    r = kymo(f"{words} -i {at.path('hot.data')}", env=env, timeout=20)
    check(f"{words}: a source that is a pipe is not read", r.code == 0 and not trap.sprung(), r)
trap.remove()
at.write("split.c", "int work(int n) { return n * 3; }\nint main(void) { return work(3); }\n")
run(f"gcc -g -gsplit-dwarf -O0 -o split split.c", cwd=at.root)
for name in os.listdir(at.root):
    if name.endswith(".dwo"):
        os.unlink(at.path(name))
        trap = Trap(at.path(name))
        main = run(f"nm {at.path('split')}").out.split(" T main")[0].split()[-1]
        r = kymo(f"addr2line -e {at.path('split')} -i -f 0x{main}", env=env, timeout=20)
        check("a .dwo that is a pipe is not opened", r.code == 0 and not trap.sprung(), r)
        trap.remove()
trap = Trap(at.path("split.dwp"))
r = kymo(f"addr2line -e {at.path('split')} -i -f 0x{MAIN}", env=env, timeout=20)
check("nor a .dwp", r.code in (0, 1) and not trap.sprung(), r)
trap.remove()

# --- headers of programs of the language ---
trap = Trap(at.path("header.h"))
at.write("p.bt", f'#include "{trap.path}"\nBEGIN {{ exit(); }}\n')
r = kymo(f"run -d {at.path('p.bt')}", env=env, timeout=20)
check("a header that is a pipe is not read", r.code != "time-out" and not trap.sprung(), r)
trap.remove()

# --- parts of a recording that is a folder ---
os.mkdir(at.path("folder"))
os.rename(at.path("hot.data"), at.path("folder/data"))
r = kymo(f"report --stdio -i {at.path('folder')}", env=env)
check("a folder with a recording is read", r.code == 0 and "hot" in r.out, r)
trap = Trap(at.path("folder/data.0"))
r = kymo(f"report --stdio -i {at.path('folder')}", env=env, timeout=20)
check("a part that is a pipe is refused", r.code == 1 and "it is no regular file" in r.err and not trap.sprung(), r)
trap.remove()
os.symlink("/etc/passwd", at.path("folder/data.0"))
r = kymo(f"report --stdio -i {at.path('folder')}", env=env)
check("and one that is a link", r.code == 1 and "it is a link" in r.err, r)
at.remove()
end()
