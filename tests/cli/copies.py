#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -g and top -g where BPF is refused: the kernel copies stacks, and they are unwound while recording, so that an
ordinary user has whole stacks in a small file."""
import os
import re
import shutil
import tempfile

from tap import KYMO, WORK, check, end, has, run, same, skip

PARANOID = "/proc/sys/kernel/perf_event_paranoid"
USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]


def stacks(kymo, data):
    """Of each sample its functions, innermost first, recursion once."""
    out = []
    for text in run([kymo, "script", "-i", data, "--max-stack", "1000", "-F", "comm,ip,sym"]).out.split("\n\n"):
        names = [x.split(None, 1)[1] for x in text.split("\n")[1:] if len(x.split(None, 1)) > 1]
        if names:
            out.append([x for i, x in enumerate(names) if not i or names[i - 1] != x])
    return out


def as_user(folder):
    kymo, work = shutil.copy(KYMO, f"{folder}/kymo"), shutil.copy(f"{WORK}/stacks", f"{folder}/stacks")
    data = f"{folder}/u.data"
    here = {"cwd": folder, "env": {"HOME": folder, "XDG_CACHE_HOME": ""}}

    def record(*args):
        return run([*USER, kymo, "record", "-F", "499", "-o", data, *args], **here)

    r = record("-g", "--", work, "recurse", "400", "30")
    check("an ordinary user records", r.code == 0, r)
    has("how stacks are had is told, and why", r.err, "stacks are copied and unwound while recording: ")
    share = re.search(r"stacks unwound: ([\d.]+)% reached the bottom", r.err)
    check("nearly all reach the bottom", share and float(share[1]) >= 95, r.err)
    want = ["burn", "spin", "recurse", "run", "main"]
    got = stacks(kymo, data)
    check("they are the right ones", got and sum(x[:5] == want and x[-1] == "_start" for x in got) * 100 >= len(got) * 90, str(got[:2]))
    attr = run([kymo, "evlist", "-v", "-i", data]).out
    check("the file has chains and no copies", "CALLCHAIN" in attr and "STACK_USER" not in attr and "sample_stack_user" not in attr, attr)
    size, n = os.path.getsize(data), len(got)
    check("and is small", size < n * 2000 + 50000, f"{size} bytes for {n} samples")
    if shutil.which("perf"):
        for _ in range(3):  # it crashes at random
            r = run(["perf", "script", "-i", data, "-F", "ip,sym", "-f"])
            if r.code == 0:
                break
        same("perf shows as many recursions", r.out.count(" recurse"), run([kymo, "script", "-i", data, "-F", "ip,sym"]).out.count(" recurse"))
    record("-g", "--", work, "thread", "200")
    got = stacks(kymo, data)
    check("threads", got and sum(x[:3] == ["burn", "spin", "thread_main"] for x in got) * 100 >= len(got) * 90, str(got[:2]))
    record("-g", "--", work, "fork", "200")
    got = stacks(kymo, data)
    check("children", got and sum(x[-1] == "_start" for x in got) * 100 >= len(got) * 90, str(got[:2]))
    r = record("--call-graph", "dwarf", "--", work, "recurse", "100", "5")
    has("--call-graph dwarf still keeps the copies", run([kymo, "evlist", "-v", "-i", data]).out, "STACK_USER")


if os.geteuid() or not shutil.which("setpriv"):
    skip("as an ordinary user", "needs root and setpriv")
else:
    level = open(PARANOID).read().strip()
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        try:
            with open(PARANOID, "w") as f:
                f.write("2")
            as_user(d)
        finally:
            with open(PARANOID, "w") as f:
                f.write(level)
end()
