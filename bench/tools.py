#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""iosnoop beside a device that does tens of thousands of I/Os a second: is every one shown?"""
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

from lib import BUILD, KYMO, RUNS, Bench

b = Bench("tools")
COUNT = 200000
# What the kernel tells, counted in the kernel by a program of its own: it does not tell of quite all that a loop device does.
ENDS = "tracepoint:block:block_rq_complete /args.dev == %d/ { @ = count(); }"
with tempfile.TemporaryDirectory(dir="/dev/shm") as shm, tempfile.TemporaryDirectory() as dir:
    with open(f"{shm}/disk", "wb") as f:
        f.truncate(256 << 20)
    dev = subprocess.run(["losetup", "-f", "--show", f"{shm}/disk"], capture_output=True, text=True, check=True).stdout.strip()
    with open(f"/sys/class/block/{os.path.basename(dev)}/dev") as f:
        major, minor = map(int, f.read().split(":"))
    number = major << 20 | minor
    try:
        alone, beside, missing, silent, cpu = [], [], [], [], []
        for _ in range(max(3, RUNS // 2)):
            alone.append(float(subprocess.run([BUILD / "bench/bench-iorate", dev, str(COUNT)], capture_output=True, text=True, check=True).stdout))
            with open(f"{dir}/out", "w") as out, open(f"{dir}/err", "w") as err:
                p = subprocess.Popen([KYMO, "iosnoop", "-d", dev], stdout=out, stderr=err)
                q = subprocess.Popen([KYMO, "run", "-q", "-e", ENDS % number], stdout=subprocess.PIPE, text=True)
                for pid in (p.pid, q.pid):
                    while open(f"/proc/{pid}/syscall").read().split()[0] not in ("22", "73", "232", "271", "281"):
                        time.sleep(0.05)  # not attached yet
                beside.append(float(subprocess.run([BUILD / "bench/bench-iorate", dev, str(COUNT)], capture_output=True, text=True, check=True).stdout))
                p.send_signal(signal.SIGINT)
                q.send_signal(signal.SIGINT)
                used = os.wait4(p.pid, 0)[2]
            with open(f"{dir}/out") as f:
                shown = sum(" 4096 " in x for x in f)
            told = int(re.search(r"@: (\d+)", q.communicate()[0])[1])
            missing.append(told - shown)
            silent.append(COUNT - told)
            with open(f"{dir}/err") as f:
                print(f.read(), end="")
            cpu.append((used.ru_utime + used.ru_stime) / COUNT * 1e6)
        print("missing:", *missing, " of no end the kernel told:", *silent)
        print(f"{statistics.median(alone):.0f} reads a second alone, {statistics.median(beside):.0f} ({min(beside):.0f} to {max(beside):.0f}) beside iosnoop")
        b.add(f"iosnoop at {statistics.median(beside):.0f} reads a second: missing of {COUNT}", "", {"kymo": float(max(missing)), "limit": 0.5}, goal=1)
        b.add("iosnoop, CPU an I/O", "us", {"kymo": statistics.median(cpu)})
        b.add("time an I/O: at least 50,000 a second beside iosnoop", "us", {"kymo": 1e6 / statistics.median(beside), "limit": 20.0}, goal=1)
    finally:
        subprocess.run(["losetup", "-d", dev], check=False)
b.end()
