# SPDX-License-Identifier: MIT
"""When a tool that was started has attached, so that no test has to guess how long that takes.

    p = subprocess.Popen([KYMO, "stat", "-p", ...])
    at_work(p)      # has its events, and waits for what comes
    with busy_cpus(f"{WORK}/spin"):
        ...         # no CPU idles: of an idle one some kernels do not show all switches
"""
import os
import subprocess
import time

# poll, pause, nanosleep, wait4, select, rt_sigtimedwait, clock_nanosleep, epoll_wait, pselect6, ppoll, epoll_pwait, epoll_pwait2 of
# x86_64; those of aarch64
WAITING = {"x86_64": {7, 34, 35, 61, 23, 128, 230, 232, 270, 271, 281, 441},
           "aarch64": {22, 72, 73, 101, 115, 137, 260, 441}}[os.uname().machine]


def waits(pid):
    """Whether its first thread is in a call that waits."""
    try:
        with open(f"/proc/{pid}/syscall") as f:
            word = f.read().split()[0]
        return word.isdigit() and int(word) in WAITING
    except (OSError, IndexError):
        return False


def has_events(pid):
    """Whether it has perf events open."""
    try:
        return any("perf_event" in os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def until(what, seconds=60):
    """Waits until it is true; whether it came to be."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        if what():
            return True
        time.sleep(0.01)
    return False


def at_work(p, seconds=60):
    """Waits until a process (of subprocess) has its events and waits; false when it has ended, or that takes too long."""
    return until(lambda: p.poll() is not None or (has_events(p.pid) and waits(p.pid)), seconds) and p.poll() is None


class busy_cpus:
    """Each CPU has something to do that gives way to everything else."""

    def __init__(self, spin):
        self.spin = spin

    def __enter__(self):
        def there(cpu):
            os.sched_setaffinity(0, {cpu})
            os.nice(19)
        self.all = [subprocess.Popen([self.spin, "1000000000000"], preexec_fn=lambda c=c: there(c)) for c in os.sched_getaffinity(0)]

    def __exit__(self, *unused):
        for p in self.all:
            p.kill()
            p.wait()
