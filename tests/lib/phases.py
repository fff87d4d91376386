# SPDX-License-Identifier: MIT
"""tests/work/phases.c recorded, and what a picture must show of it.

    p = record(path("p.data"), "-e cpu-clock")
    p.wrong(boxes)                # boxes: [(name, from, to)] in seconds; "" when all is where it was
"""
import os
import re
import shutil

from tap import WORK, kymo

NEAR = 0.02  # seconds
MS = 300


class Phases:
    """phases: [(name, from, to)] in seconds after the first one's beginning."""

    def __init__(self, phases):
        self.phases = phases

    def wrong(self, boxes, without=()):
        """Which phase is not where it was, or has something else in it; boxes may be in pieces."""
        start = min((f for n, f, _ in boxes if n == "in_first"), default=0)
        names = {n for n, _, _ in self.phases}
        boxes = [(n, f - start, t - start) for n, f, t in boxes if n in names]
        for name, first, last in self.phases:
            inside = [(n, f, t) for n, f, t in boxes if first - NEAR < (f + t) / 2 < last + NEAR]
            own = [(f, t) for n, f, t in inside if n == name]
            strange = [x for x in inside if x[0] != name and min(x[2], last) - max(x[1], first) > NEAR]
            if strange:
                return f"in {name} {first:.3f}-{last:.3f}: {strange}"
            if name in without:
                if any(t - f > NEAR for f, t in own):
                    return f"{name} should be a gap: {own}"
            elif not own or abs(min(own)[0] - first) > NEAR or abs(max(t for _, t in own) - last) > NEAR:
                return f"{name} was {first:.3f}-{last:.3f}: {own}"
        return ""


def record(path, options, more=()):
    """Run it alone on its CPU where that is allowed; None when nothing could be recorded."""
    first = ["chrt", "-f", "50"] if os.geteuid() == 0 and shutil.which("chrt") else []
    rate = [] if "sched_switch" in options else ["-F", "999"]  # of switches every one is needed
    command = ["record", "-g", *rate, *options.split(), "-o", path, "--", *first, os.path.abspath(f"{WORK}/phases"), str(MS), *more]
    for _ in range(3):
        r = kymo(command, timeout=120)
        if "whose end this kernel did not tell" not in r.err:
            break  # else it is left out, and not in the picture
    found = [(n, int(a), int(b)) for n, a, b in re.findall(r"^(in_\w+) (\d+) (\d+)$", r.out, re.M)]
    if r.code or len(found) != 4:
        return None
    zero = found[0][1]
    return Phases([(n, (a - zero) / 1e9, (b - zero) / 1e9) for n, a, b in found])
