#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf works beside kymo: what kymo asks of the kernel changes nothing in the records that others get."""
import os
import shutil
import subprocess
import tempfile
import time

from tap import KYMO, WORK, check, end, kymo, run, same, skip

if not shutil.which("perf"):
    skip("all of it", "there is no perf")
    end()

DIR = tempfile.mkdtemp(prefix="kymo-beside-")
os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = DIR


def beside(args, tries=5):
    """How often perf record of a command succeeds while kymo runs with these arguments; what it said."""
    with subprocess.Popen([KYMO, *args], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        time.sleep(1)  # it tells nobody when it listens
        alive = p.poll() is None
        results = [run(["perf", "record", "-o", f"{DIR}/perf.data", "--", "true"], timeout=60) for _ in range(tries)]
        p.terminate()
        p.communicate()
    return alive, sum(r.code == 0 for r in results), "".join(r.err for r in results if r.code)


for args in (["record", "-q", "-a", "-o", f"{DIR}/a"], ["record", "-q", "-a", "-g", "-o", f"{DIR}/g"],
             ["record", "-q", "-a", "-e", "sched:sched_process_exec", "-o", f"{DIR}/t"], ["top", "--stdio", "-d", "1"]):
    alive, good, said = beside(args)
    check(f"perf record 5 times beside kymo {' '.join(args[:4])}", alive and good == 5, f"{alive} {good}: {said[-300:]}")

# the other way: records that bear somebody else's mark
with subprocess.Popen(["perf", "record", "--buildid-mmap", "-a", "-o", f"{DIR}/b", "--", "sleep", "60"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL) as other:
    time.sleep(1)
    for how in ("", "-g"):
        r = kymo(f"record -q {how} -o {DIR}/marked -- {WORK}/busy 50")
        maps = kymo(f"script -i {DIR}/marked --show-mmap-events").out
        wanted = run(["readelf", "-n", f"{WORK}/busy"]).out.split("Build ID: ")[1].split()[0]
        check(f"kymo record {how} beside perf record --buildid-mmap has the right build-ids",
              r.code == 0 and any(wanted in x and x.endswith("/busy") for x in maps.splitlines()), maps[:600] + r.err)
    other.terminate()

shutil.rmtree(DIR, ignore_errors=True)
end()
