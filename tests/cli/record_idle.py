#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What happens while a CPU idles is recorded: whoever went to idle on a CPU came back from it."""
import collections
import os
import re
import shutil
import tempfile

from tap import KYMO, check, end, kymo, run, skip

KNOWN = "/run/kymo-idle"


def known():
    """A letter a CPU: s (perf sees it), l (lost), - (not known); None where it is not tried."""
    try:
        with open(KNOWN) as f, open("/proc/sys/kernel/random/boot_id") as b:
            boot, state = f.read().split()
            return state if boot == b.read().strip() else None
    except OSError:
        return None


def main():
    data = f"{TMP}/perf.data"
    vm = " hypervisor" in open("/proc/cpuinfo").read()
    for _ in range(5):  # a busy machine shows it only now and then
        if "-" not in (known() or "-"):
            break
        kymo("doctor")
    state = known() if vm else "s" * 4096
    r = kymo(["record", "-v", "-a", "-m", "4M", "-e", "sched:sched_switch,sched:sched_wakeup", "-o", data, "--",
              "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.02; done"])
    if not check("recorded", r.code == 0, r):
        return
    to, back, wrong, last = collections.Counter(), collections.Counter(), [], {}
    for line in kymo(["script", "-i", data, "-F", "comm,tid,cpu,time,event,trace", "--ns"]).out.splitlines():
        m = re.search(r"(\d+) \[(\d+)\] +(\d+)\.(\d+): +sched:sched_switch: .*prev_comm=(.*) prev_pid=(\d+) .*next_pid=(\d+)", line)
        if not m:
            continue
        tid, cpu, ns, comm, prev, after = int(m[1]), int(m[2]), int(m[3]) * 10**9 + int(m[4]), m[5], int(m[6]), int(m[7])
        to[cpu] += after == 0
        back[cpu] += prev == 0
        if prev == 0 and (tid or comm != f"swapper/{cpu}"):
            wrong.append(line)
        if prev == 0 and after == last.get(cpu, (None, 0))[0] and ns - last[cpu][1] < 3000:
            wrong.append(f"twice: {line}")
        last[cpu] = (after if prev == 0 else None, ns)
    check("what the idle task did is its own, with its fields, and once", not wrong, "\n".join(wrong[:5]))
    for cpu in sorted(to):
        if vm and (not state or cpu >= len(state) or state[cpu] != "l"):
            skip(f"CPU {cpu}: to idle and back", "what the kernel itself hands to perf is not kymo's, or it did not idle when that was tried")
        elif "lost" in r.err:
            skip(f"CPU {cpu}: to idle and back", "events were lost")
        else:
            check(f"CPU {cpu}: to idle and back", back[cpu] >= to[cpu] - 1, f"{to[cpu]} went to idle, {back[cpu]} came back\n{r.err}")
    if shutil.which("perf"):
        for _ in range(5):  # it crashes now and then
            p = run(["perf", "script", "-i", data, "-F", "cpu,event,trace"])
            if p.code == 0:
                break
        n = len(re.findall(r"sched_switch:.*prev_pid=0 ", p.out))
        check("perf reads as many", p.code != 0 or n == sum(back.values()), (n, back, p.err[:500]))
    before = known() or ""
    r = kymo(["record", "-a", "-e", "sched:sched_switch", "--filter", "prev_prio < 200", "-o", data, "--", "true"])
    told = "a filter holds for perf only" in r.err
    check("a filter: what it costs is told where it costs it", r.code == 0 and told >= ("l" in before) and told <= ("l" in (known() or "")), r)


TMP = tempfile.mkdtemp(prefix="kymo-idle-")
try:
    if os.geteuid() or not os.path.exists("/sys/kernel/tracing/events/sched/sched_switch/format"):
        skip("idle CPUs", "tracepoints are root's")
    else:
        main()
finally:
    shutil.rmtree(TMP, ignore_errors=True)
end()
