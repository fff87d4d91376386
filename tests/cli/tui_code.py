#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options about code in the terminal interface: report, top and annotate begin as they say."""
import os
import re
import shutil
import subprocess
import tempfile

from tap import KYMO, WORK, check, end, has, kymo, run, skip
import term
from term import Term

HOT = os.path.abspath(f"{WORK}/hotcode")
K = os.path.abspath(KYMO)
INTEL = os.uname().machine == "x86_64"


def shown(name, t):
    """What all three are asked for: intel's style, bytes, no source."""
    text = t.text()
    check(f"{name}: --no-source", not any(re.search(r"\bsteps \+=|for \(int", x) for x in t.lines()), text)
    check(f"{name}: --asm-raw", re.search(r"[0-9a-f]+: .*( [0-9a-f]{2}){2,}  ", text), text)
    check(f"{name}: -M intel", not INTEL or ("%e" not in text and re.search(r"\b(and|shr) +e\w\w,", text)), text)


if not term.have:
    skip("all", "needs tmux")
    end()
OPTIONS = "--no-source --asm-raw" + (" -M intel" if INTEL else "")
with tempfile.TemporaryDirectory() as tmp:
    data = f"{tmp}/perf.data"
    r = run([K, "record", "-q", "-c", "500000", "-e", "cpu-clock", "-o", data, "--", HOT, "1500"])
    if not check("a recording", r.code == 0, r):
        end()
    with Term(f"{K} report -i {data} {OPTIONS} --percent-type global-period") as t:
        t.until("q quit")
        t.keys("/", "=] collatz", "Enter", "a")
        check("report: a annotates", t.until("H hottest"), t.text())
        shown("report", t)
        has("report: --percent-type", t.lines()[1], "global period")
    with Term(f"{K} annotate -i {data} {OPTIONS} -n --no-arrows collatz") as t:
        check("annotate: the code", t.until("H hottest"), t.text())
        shown("annotate", t)
        has("annotate: -n", t.lines()[1], "Samples")
        check("annotate: --no-arrows", not re.search("[┌└]", t.text()), t.text())
    gone = shutil.copy(f"{WORK}/spin", f"{tmp}/gone")
    two = f"{tmp}/two.data"
    r = run(["sh", "-c", f"{K} record -q -B -N -c 500000 -e cpu-clock:u -o {two} -- sh -c 'timeout 1 {gone} 90000000000; {HOT} 300'; rm {gone}"],
            env={"XDG_CACHE_HOME": f"{tmp}/cache", "HOME": tmp})
    order = re.findall(r"^ +[\d.]+% +(\S+)", kymo(f"report --stdio -i {two} --sort dso").out, re.M)
    if order[:1] != ["gone"]:
        skip("annotate: the next function where the first has no code", f"the hottest is {order[:2]}")
    else:
        with Term(f"{K} annotate -i {two}", env={"XDG_CACHE_HOME": f"{tmp}/cache", "HOME": tmp}) as t:
            check("annotate: the next function where the first has no code", t.until("H hottest") and "  hotcode " in t.lines()[0], t.text())
    load = subprocess.Popen([HOT, "1000000"])
    try:
        with Term(f"{K} top -d 1 -e cpu-clock -F 500 -p {load.pid} {OPTIONS}") as t:
            check("top: rows", t.until("] collatz"), t.text())
            t.keys("/", "=] collatz", "Enter", "a")
            check("top: a annotates", t.until("H hottest"), t.text())
            shown("top", t)
    finally:
        load.kill()
        load.wait()
    for command in f"report -i {data}", "top", f"annotate -i {data}":
        r = kymo(f"{command} -M arm", timeout=60)
        check(f"{command.split()[0]} -M arm: a clear error", r.code != 0 and "att or intel" in r.err, r)
    r = kymo(f"report -i {data} --percent-type half")
    check("report --percent-type half: a clear error", r.code != 0 and "local-period" in r.err, r)
end()
