#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unwinding, instruction by instruction: tests/work/frames.c is built in many ways and single-stepped;
at every instruction the chain must be what the calls and returns before it say, unwound from a copy of
the stack (sym/unwind/unwind.h) and, where the kernel allows, walked by the BPF program too.

UNWIND_ALL=1 tries every compiler with every option, which takes some minutes."""
import os
import pathlib
import re
import shutil
import struct
import sys
import tempfile

from tap import KYMO, SAN, WORK, check, end, run, skip

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEP = pathlib.Path(KYMO).parent / "tests/unit/uwstep"
SOURCE = ROOT / "tests/work/frames.c"


def no_sections(path):
    """Forget the section headers, as some packers do."""
    data = bytearray(path.read_bytes())
    struct.pack_into("<Q", data, 40, 0)
    struct.pack_into("<HHH", data, 58, 0, 0, 0)
    path.write_bytes(data)


def no_search_table(path):
    """Make .eh_frame_hdr say that it has no table: the section must be gone through."""
    data = bytearray(path.read_bytes())
    phoff, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    for i in range(n):
        kind, _, off = struct.unpack_from("<IIQ", data, phoff + i * size)
        if kind == 0x6474E550:
            data[off + 2:off + 4] = b"\xff\xff"
    path.write_bytes(data)


OPTIONS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-plt", "-O2 -static", "-O2 -static-pie", "-O2 -no-pie",
           "-O2 -fcf-protection=none -fno-pie -no-pie", "-O2 -fstack-clash-protection", "-O2 -mavx2",
           "-O2 -fuse-ld=lld", "-O2 -fuse-ld=gold", "-O2 -Wl,-z,now", "-O2 -fcf-protection=full -Wl,-z,ibtplt",
           "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -g"]
CASES = [("gcc", o, None) for o in ("-O2", "-O0", "-O2 -static", "-O2 -fcf-protection=full -Wl,-z,ibtplt")]
CASES += [("clang", o, None) for o in ("-O2", "-Os -no-pie", "-O2 -static-pie")]
CASES += [("gcc", "-O2", no_sections), ("gcc", "-O2 -static", no_sections), ("clang", "-O2", no_search_table),
          ("gcc", "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -g", None),
          ("clang", "-O2 -fuse-ld=lld", None), ("g++", "-O2 -Wl,-z,now", None)]
if SAN:
    CASES = CASES[:2] + CASES[7:8]
if os.environ.get("UNWIND_ALL"):
    CASES += [(cc, o, None) for cc in ("gcc", "clang", "g++", "clang++") for o in OPTIONS]

if os.uname().machine != "x86_64":
    skip("single steps", "only written for x86_64")
    end()
probe = run([str(STEP), "-w", "/bin/true"])
walker = [] if "no walker" in probe.text else ["-w"]
with tempfile.TemporaryDirectory(prefix="kymo-unwind-") as temp:
    for i, (cc, options, change) in enumerate(CASES):
        name = f"{cc} {options}{' ' + change.__name__ if change else ''}"
        prog = pathlib.Path(temp) / f"frames{i}"
        if not shutil.which(cc):
            skip(name, f"no {cc}")
            continue
        kind = ["-x", "c++"] if "++" in cc else []
        r = run([cc, *kind, *options.split(), "-fomit-frame-pointer", "-w", "-o", str(prog), str(SOURCE)])
        if r.code:
            skip(name, "cannot be built here: " + r.err.strip().splitlines()[-1][:100] if r.err.strip() else "no linker")
            continue
        if change:
            change(prog)
        r = run([str(STEP), *walker, str(prog)], timeout=280)
        m = re.search(r"^steps (\d+), wrong (\d+).*through signals (\d+)", r.out, re.M)
        check(f"{name}: every chain is right", r.code == 0 and m and int(m[2]) == 0, r.text)
        check(f"{name}: and it went through all of it", m and int(m[1]) > 2000 and int(m[3]) > 100, r.text)
        if walker:
            m = re.search(r"^in the kernel: steps (\d+), wrong (\d+)", r.out, re.M)
            check(f"{name}: in the kernel too", m and int(m[1]) > 2000 and int(m[2]) == 0, r.text)
        prog.unlink()
if not walker:
    skip("in the kernel", "no stack walker, or no breakpoints, here")
end()
