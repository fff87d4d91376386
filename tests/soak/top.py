#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make soak: live views for half an hour (MINUTES=...) while thousands of programs come and go.

What they need must reach a height and stay there: the highest of the last third is compared with that of the third
before, for memory and for descriptors."""
import os
import signal
import subprocess
import tempfile
import time

import churn
import term
from tap import KYMO, WORK, check, end, skip

MINUTES = float(os.environ.get("MINUTES", "30"))


def level(name, seen):
    third = len(seen) // 3
    before, last = seen[third:2 * third], seen[2 * third:]
    print(f"# {name}: {seen[-1][0]} programs; KiB and descriptors at most: "
          f"{[max(x[i] for x in before) for i in (1, 2)]}, then {[max(x[i] for x in last) for i in (1, 2)]}", flush=True)
    check(f"{name}: memory does not grow any more", max(x[1] for x in last) < 1.2 * max(x[1] for x in before) + 8192, seen[::20])
    check(f"{name}: descriptors do not, either", max(x[2] for x in last) <= max(x[2] for x in before) + 10, seen[::20])


with tempfile.TemporaryDirectory(prefix="kymo-soak-") as folder:
    os.makedirs(f"{folder}/programs")
    env = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
    kymo = os.path.abspath(KYMO)
    views = {f"kymo {a}": subprocess.Popen([kymo, *a.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
             for a in ("top --stdio", "top --stdio -g -s comm,pid,sym", "trace -a -e execve --call-graph dwarf")}
    if not term.have:
        skip("kymo top on a terminal", "no tmux")
    with churn.Churn(f"{WORK}/spin", f"{folder}/programs", turns=1000000) as c:
        shown = term.Term(f"XDG_CACHE_HOME={folder}/cache {kymo} top -g", 120, 40) if term.have else None
        pids = {name: p.pid for name, p in views.items()}
        if shown:
            pids["kymo top -g on a terminal"] = shown.pid("kymo")
        seen = {name: [] for name in pids}
        stop = time.monotonic() + MINUTES * 60
        while time.monotonic() < stop:
            for name, pid in pids.items():
                seen[name].append((c.done(), *churn.used(pid)))
            time.sleep(1)
        if shown:
            shown.keys("q")
            check("on a terminal it ends well", shown.exit_code() == "0", shown.text())
            shown.__exit__()
    for name, p in views.items():
        p.send_signal(signal.SIGINT)
        check(f"{name}: ends well", p.wait(timeout=60) == 0, p.returncode)
    for name, s in seen.items():
        level(name, s)
end()
