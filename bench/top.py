#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What top itself costs: at 999 Hz on all CPUs, all of them busy, as text and on a terminal."""
import os
import pty
import signal
import statistics
import subprocess
import sys
import time

from lib import BUILD, KYMO, Bench, have, interleave

SECONDS = 6
RUNS = 3
b = Bench("top")


def cost(argv, terminal):
    """CPU time of a run, in percent of one CPU."""
    master, slave = pty.openpty()
    p = subprocess.Popen(argv, stdin=slave, stdout=slave if terminal else subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         env={**os.environ, "TERM": "xterm-256color"}, start_new_session=True)
    os.close(slave)
    os.set_blocking(master, False)
    start = time.monotonic()
    while time.monotonic() < start + SECONDS:
        time.sleep(0.1)
        try:
            while os.read(master, 1 << 16):
                pass
        except OSError:
            pass
    os.kill(p.pid, signal.SIGINT)  # not through p, which might reap it
    os.set_blocking(master, True)
    while True:  # what it says at last must go somewhere
        done, status, usage = os.wait4(p.pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
        if time.monotonic() > start + SECONDS + 20:
            p.kill()
    p.returncode = os.waitstatus_to_exitcode(status)
    os.close(master)
    if p.returncode > 0 or time.monotonic() - start < SECONDS:
        sys.exit(f"{' '.join(argv)} ended with {p.returncode}")
    return 100 * (usage.ru_utime + usage.ru_stime) / (time.monotonic() - start)


load = [subprocess.Popen([str(BUILD / "tests/work/calls"), f"random={1000 * 3600}"]) for _ in range(os.cpu_count())]
try:
    for what, options, terminal in (("text", ["--stdio", "-d", "2"], False), ("text, -g", ["--stdio", "-d", "2", "-g"], False),
                                    ("terminal", [], True)):
        who = {n: [argv, "top", "-F", "999", *options] for n, argv in (("kymo", KYMO), ("perf", "perf")) if have(argv)}
        runs = interleave({n: (lambda argv=argv: cost(argv, terminal)) for n, argv in who.items()}, RUNS, warm=False)
        b.add(f"{what}: share of one CPU at 999 Hz, all busy (aim: 5)", "%", {n: statistics.median(v) for n, v in runs.items()}, digits=2)
finally:
    for p in load:
        p.kill()
        p.wait()
b.end()
