#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""kymo annotate as text: what it shows, what its options change, and what it says when something is missing."""
import os
import re
import shutil
import subprocess
import tempfile
import time

from tap import WORK, check, end, has, kymo, run, same, skip

if not shutil.which("perf"):
    skip("all", "needs perf to record")
    end()

SOURCE = """
static inline __attribute__((always_inline)) unsigned step(unsigned x)
{
	x ^= x << 13;
	return x ^ (x >> 17);
}
__attribute__((noinline)) unsigned hot(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < n; i++)
		x = step(x) + 1;
	return x;
}
int main(void)
{
	return (int)hot(100000000) == 7;
}
"""


def percents(text):
    return [float(x) for x in re.findall(r"^\s*([\d.]+) :\s+[0-9a-f]+:", text, re.M)]


with tempfile.TemporaryDirectory() as tmp:
    source, prog, data = f"{tmp}/prog.c", f"{tmp}/prog", f"{tmp}/perf.data"
    with open(source, "w") as f:
        f.write(SOURCE)
    subprocess.run(["cc", "-g", "-O2", "-o", prog, source], check=True)
    for _ in range(5):  # perf 6.1 stumbles over BPF programs that come and go
        r = run(f"perf record -q -N --no-bpf-event -e cpu-clock -c 250000 -o {data} {prog}")
        if r.code == 0:
            break
        time.sleep(0.5)
    if not check("a recording", r.code == 0, r):
        end()
    one = kymo(f"annotate --stdio -i {data} -s hot")
    same("exits 0", one.code, 0)
    check("percentages add up to all", abs(sum(percents(one.out)) - 100) < 1, one)
    has("heading as perf's", one.out, " Percent |\tSource code & Disassembly of prog for cpu-clock",
        "percent: local period)", "<hot>:", "hot():")
    check("jumps have arrows", re.search(r"[┌└].*>? *j\w+ ", one.out), one)
    same("the symbol as an argument", kymo(f"annotate --stdio -i {data} hot").out, one.out)
    check("--no-arrows", not re.search("[┌└│]", kymo(f"annotate --stdio -i {data} -s hot --no-arrows").out))
    check("arrows in ASCII without UTF-8", kymo(f"annotate --stdio -i {data} -s hot", env={"LC_ALL": "C"}).out.isascii())

    samples = kymo(f"annotate --stdio -i {data} -s hot -n")
    has("-n has another heading", samples.out, " Samples |")
    n = int(re.search(r"\((\d+) samples", samples.out)[1])
    same("-n adds up to the samples", sum(percents(samples.out)), n)
    weights = kymo(f"annotate --stdio -i {data} -s hot --show-total-period")
    same("periods add up", sum(percents(weights.out)), n * 250000)
    glob = kymo(f"annotate --stdio -i {data} -s hot --percent-type global-period")
    check("global percentages are smaller", sum(percents(glob.out)) <= 100.01 and "global period" in glob.out, glob)
    raw = kymo(f"annotate --stdio -i {data} -s hot --asm-raw")
    check("--asm-raw shows the bytes", re.search(r": .* c3 +ret", raw.out), raw)
    if os.uname().machine == "x86_64":
        check("-M intel", re.search(r"mov +eax,", kymo(f"annotate --stdio -i {data} -s hot -M intel").out))
    has("-P shows whole paths", kymo(f"annotate --stdio -i {data} -s hot -P").out, f"Disassembly of {prog} for")
    has("-v says where from", kymo(f"annotate --stdio -i {data} -s hot -v").out, f"code from {prog}")
    has("-d chooses a file", kymo(f"annotate --stdio -q -i {data} -d prog").out, "<hot>:")
    r = kymo(f"annotate --stdio -i {data} -d nosuch.so")
    check("-d without samples is an error", r.code == 1 and "nosuch.so" in r.err, r)
    check("-C of the CPUs", kymo(f"annotate --stdio -i {data} -s hot -C 0-4095").out == one.out)

    if "prog.c" in kymo(f"addr2line -e {prog} {re.search('^ *[0-9.]+ : +([0-9a-f]+):', one.out, re.M)[1]}").out:
        has("source lines stand between", one.out, "10           for (unsigned i", "step() inlined at prog.c:11", "x ^= x << 13;")
        check("--no-source leaves them out", "for (unsigned" not in kymo(f"annotate --stdio -i {data} -s hot --no-source").out)
        lines = kymo(f"annotate --stdio -i {data} -s hot -l")
        has("-l lists the lines", lines.out, "Sorted summary for file", " prog.c:4", "// prog.c:")
        has("-l -P in full", kymo(f"annotate --stdio -i {data} -s hot -l -P").out, f"{source}:4")
        os.rename(source, f"{tmp}/moved.c")
        has("without the source file, its name and line", kymo(f"annotate --stdio -i {data} -s hot").out, "prog.c:10")
        os.makedirs(f"{tmp}/other")
        os.rename(f"{tmp}/moved.c", f"{tmp}/other/prog.c")
        strip = tmp.count("/")
        has("--prefix and --prefix-strip find it again",
            kymo(f"annotate --stdio -i {data} -s hot --prefix {tmp}/other --prefix-strip {strip}").out, "x ^= x << 13;")
    else:
        skip("source lines", "this build finds none")

    r = kymo(f"annotate --stdio -i {data} -s hott")
    check("a wrong name: the near one", r.code == 1 and "did you mean hot?" in r.err, r)
    r = kymo(f"annotate --stdio -i {data} --percent-type half")
    check("a wrong percent type", r.code == 129 and "local-period" in r.err, r)
    r = kymo(f"annotate --stdio -i {data} -M arm")
    check("a wrong style", r.code == 1 and "att or intel" in r.err, r)
    r = kymo(f"annotate --stdio -i {tmp}/nosuch.data")
    check("no such recording", r.code == 1 and "nosuch.data" in r.err, r)

    bare, bdata = f"{tmp}/bare", f"{tmp}/bare.data"
    bare_source = source if os.path.exists(source) else f"{tmp}/other/prog.c"
    build = ["cc", "-O2", "-s", f"-Wl,--build-id=0x{os.urandom(20).hex()}", "-o", bare, bare_source]  # or it is known by prog's names
    if run(build).code == 0 and kymo(f"record -q -N -e cpu-clock -c 250000 -o {bdata} {bare}").code == 0:
        start = re.search(r": 0*([0-9a-f]+) <hot>:", one.out)[1]
        r = kymo(f"annotate --stdio -i {bdata} -d bare")
        same("a stripped program: its hot function once, found by unwinding tables",
             [x for x in re.findall(r"<(0x[0-9a-f]+)>:", r.out) if x == f"0x{start}"], [f"0x{start}"])
        code = [re.findall(r": +([0-9a-f]+):", kymo(f"annotate --stdio --no-source -i {d} {o}").out)
                for d, o in ((data, "-s hot"), (bdata, "-d bare --percent-limit 5"))]
        same("all of its instructions", code[1], code[0])
        check("with all of its samples", sum(percents(kymo(f"annotate --stdio -i {bdata} -d bare --percent-type global-hits").out)) > 90, r)
        subprocess.run(["objcopy", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", bare], check=True)
        kymo(f"record -q -N -e cpu-clock -c 250000 -o {bdata} {bare}")
        r = kymo(f"annotate --stdio -i {bdata} -d bare")
        check("without tables: one line that says what is missing",
              r.err.count("unnamed code of bare belongs to no known function") == 1 and "not stripped" in r.err, r)
    else:
        skip("a stripped program", "it cannot be built or recorded")

    os.makedirs(f"{tmp}/fs{tmp}")
    os.rename(prog, f"{tmp}/fs{prog}")
    r = kymo(f"annotate --stdio -i {data} -s hot --symfs {tmp}/fs")
    check("--symfs finds the program", r.code == 0 and percents(r.out) == percents(one.out), r)
    r = kymo(f"annotate --stdio -i {data}")
    check("without the program there are no names", "left out" in r.err or r.code == 1, r)
    subprocess.run(["cc", "-O1", "-o", prog, f"{tmp}/other/prog.c" if os.path.exists(f"{tmp}/other/prog.c") else source], check=True)
    r = kymo(f"annotate --stdio -i {data} -s hot")
    check("another build of it is not used", r.code == 1 and not percents(r.out), r)

    if "[k]" in run(f"perf report --stdio -i {data} --sort symbol").out and not os.access("/proc/kcore", os.R_OK):
        r = kymo(f"annotate --stdio -i {data} --symfs {tmp}/fs")
        has("the kernel's code: what is missing", r.err, "vmlinux", "/proc/kcore", "-k VMLINUX", "left out")
    else:
        skip("the kernel's code", "nothing of the kernel was sampled, or it can be read")
end()
