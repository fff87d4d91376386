#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Disassembly beside objdump: every instruction of large libraries has the same address and size, and
what capstone does not know (AVX-512) reads exactly as objdump writes it.

Known differences, sorted:
  fstsw, fstcw, ...  objdump joins a wait (9b) with the instruction behind it; the processor does not.
  .inst              SVE, MTE and LSE of aarch64 have no names in capstone 4; their size is known.
"""
import glob
import os
import re
import shutil
import subprocess
from collections import Counter

from tap import check, end, run, skip

DUMP = "build/tests/unit/disasmdump"
OURS = """kmovb kmovd kmovq kortestd kortestq ktestd ktestq kunpckdq kord kandd kxnorq vptestmb vptestnmb vptestmd vptestnmd
vpternlogd vpternlogq vpcmpltub vpcmpleub vpcmpnequb vpcmpneqb vpcmpnltub vpcmpnleub vprold vprord vpmadd52luq vpmadd52huq""".split()


def text_section(objdump, path):
    r = run(["readelf", "-SW", path])
    m = re.search(r"\.text\s+PROGBITS\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)", r.out)
    return int(m[1], 16), int(m[1], 16) + int(m[2], 16)


def theirs(objdump, path):
    out = {}
    text = subprocess.run([objdump, "-dw", "-j", ".text", path], capture_output=True, text=True).stdout
    for m in re.finditer(r"^ +([0-9a-f]+):\t([0-9a-f ]+?) *(?:\t(.*))?$", text, re.M):
        size = sum(len(x) // 2 for x in m[2].split())
        out[int(m[1], 16)] = size, re.sub(r"\s+", " ", (m[3] or "").split("#")[0].split("//")[0].strip())
    return out


def ours(path, start, stop):
    out = {}
    for line in run([DUMP, path, hex(start), hex(stop)], timeout=120).out.splitlines():
        addr, size, text = line.split(" ", 2)
        out[int(addr, 16)] = int(size), text.strip()
    return out


def compare(objdump, path):
    name = os.path.basename(path)
    start, stop = text_section(objdump, path)
    a, b = theirs(objdump, path), ours(path, start, stop)
    joined = [x for x, (n, t) in a.items() if b.get(x, (0, ""))[1] == "wait" and n > 1]
    wrong = [x for x in a if (x not in b or a[x][0] != b[x][0]) and x not in joined]
    check(f"{name}: the same {len(a)} addresses and sizes", len(a) > 10000 and not wrong,
          "\n".join(f"{x:x}: {a[x]} {b.get(x)}" for x in wrong[:20]))
    bad = Counter(a[x][1].split()[0] for x in a if x in b and b[x][1].startswith(("(bad)", ".inst", "(avx)"))
                  and not a[x][1].startswith(("(bad)", "udf", ".")))
    check(f"{name}: all but one in 500 instructions have a name", sum(bad.values()) <= len(a) // 500, bad)
    return a, b


for path in ("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6",
             *glob.glob("/usr/lib/x86_64-linux-gnu/libpython3.*.so.1.0")[:1]):
    if not os.path.exists(path) or not shutil.which("objdump"):
        skip(path, "not here")
        continue
    a, b = compare("objdump", path)
    if path.endswith("libc.so.6"):
        mine = [x for x in a if a[x][1].split()[:1] and a[x][1].split()[0] in OURS]
        wrong = [x for x in mine if x in b and a[x][1] != b[x][1]]
        check(f"{len(mine)} AVX-512 instructions read as objdump writes them", len(mine) > 100 and not wrong,
              "\n".join(f"{x:x}: {a[x][1]} | {b[x][1]}" for x in wrong[:20]))
arm = "/usr/aarch64-linux-gnu/lib/libc.so.6"
if os.path.exists(arm) and shutil.which("aarch64-linux-gnu-objdump"):
    compare("aarch64-linux-gnu-objdump", arm)
else:
    skip("aarch64", "needs gcc-aarch64-linux-gnu and its C library")
end()
