#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo list: classes, patterns, forms of output, and what it says when something cannot be read."""
import json
import os
import pty
import subprocess

from tap import KYMO, check, end, has, kymo, run, same, skip

DATA = os.path.abspath(os.path.join(os.path.dirname(__file__), "../data"))
INTEL = {"SYSFS_PATH": f"{DATA}/sysfs-intel", "TRACEFS_PATH": f"{DATA}/tracefs", "PERF_BUILDID_DIR": "/nowhere"}
NOTHING = {"SYSFS_PATH": "/nowhere", "TRACEFS_PATH": f"{DATA}/tracefs", "PERF_BUILDID_DIR": "/nowhere"}
KINDS = {"hw": "Hardware event", "cache": "Hardware cache event", "pmu": "Kernel PMU event", "tool": "Tool event",
         "tracepoint": "Tracepoint event", "probe": "Probe event"}


def forms():
    for word, kind in KINDS.items():
        r = kymo(["list", word], env=INTEL)
        lines = [x for x in r.out.splitlines() if x.startswith("  ")]
        kinds = {x.rsplit("[", 1)[1].rstrip("]") for x in lines}
        want = {kind, "Probe event"} if word == "tracepoint" else {kind}
        same(f"list {word}: only its class", (r.code, kinds), (0, want))
    r = kymo("list", env=INTEL)
    order = [x.rsplit("[", 1)[1].rstrip("]") for x in r.out.splitlines()]
    same("the classes come in perf's order", list(dict.fromkeys(order)),
         ["Hardware event", "Software event", "Tool event", "Hardware cache event", "Kernel PMU event",
          "Raw hardware event descriptor", "Hardware breakpoint", "Tracepoint event", "Probe event"])
    has("names and aliases", r.out, "  cpu-cycles OR cycles                               [Hardware event]",
        "  mem-loads OR cpu/mem-loads/ ", "  power/energy-pkg/ ", "  intel_pt// ")
    r = kymo("list hw cache", env=INTEL)
    same("two classes", len(r.out.splitlines()), 10 + 32)
    r = kymo("list pmu energy", env=INTEL)
    same("a class and a word", [x.split()[0] for x in r.out.splitlines()],
         ["power/energy-cores/", "power/energy-pkg/", "power/energy-ram/"])
    same("a pattern", kymo("list 'sched:*'", env=INTEL).out.count("\n"), 4)
    same("a pattern for what follows the subsystem", kymo("list 'sched_sw*'", env=INTEL).out.count("\n"), 2)
    same("a pattern for a PMU's events", kymo("list 'cas_*read'", env=INTEL).out.count("\n"), 2)
    same("a word matches in either case", kymo("list SCHED_SWITCH", env=INTEL).out.split()[0], "sched:sched_switch")


def details():
    r = kymo("list -v sched_switch", env=INTEL)
    same("-v: a tracepoint's fields", [x.strip() for x in r.out.splitlines()[1:]], ["char comm[16]", "pid_t pid", "int prio"])
    has("--details: an event's terms and unit", kymo("list --details pmu energy-pkg", env=INTEL).out, "event=0x02", "Joules")
    has("-v: descriptions", kymo("list -v hw instructions", env=INTEL).out, "[instructions retired]", "type 0 config 1")
    has("-v raw: the PMUs' terms", kymo("list -v raw", env=INTEL).out, "msr/event/", "cpu/any,cmask,edge,event,")
    check("--no-desc: without descriptions", "[instructions retired]" not in kymo("list -v --no-desc hw instructions", env=INTEL).out)
    if "libpfm: [ on" in kymo("version --build-options").out:
        skl = {**INTEL, "LIBPFM_FORCE_PMU": "skl"}
        has("pfm: vendor's names, described", kymo("list pfm INST_RETIRED:ANY_P", env=skl).out,
            "  INST_RETIRED:ANY_P ", "[CPU event (libpfm4)]\n       [")
        has("a pattern finds them where there is a PMU", kymo("list 'INST_RETIRED:*'", env=skl).out, "INST_RETIRED:ANY_P")
    else:
        skip("pfm: vendor's names", "built without libpfm4")
    r = kymo("list -j", env=INTEL)
    all_ = json.loads(r.out)
    by = {x["EventName"]: x for x in reversed(all_)}
    same("-j: an alias", by["cpu-cycles"]["EventAlias"], "cycles")
    same("-j: an encoding", by["mem-loads"]["Encoding"], "event=0xcd,umask=0x1,ldlat=3")
    same("-j: scale and unit", by["power/energy-pkg/"]["ScaleUnit"], "2.32831e-10Joules")
    check("-j: no forms to fill in", "rNNN" not in by)
    same("-j -v: fields", json.loads(kymo("list -jv sched_switch", env=INTEL).out)[0]["Fields"],
         ["char comm[16]", "pid_t pid", "int prio"])
    same("-j without a match is still JSON", json.loads(kymo("list -j nosuchthing", env=INTEL).out), [])
    words = kymo("list --raw-dump", env=INTEL).out.split()
    check("--raw-dump: names alone", "cs" not in words and "context-switches" in words and "[Software" not in words)


def availability():
    r = kymo("list", env=NOTHING)
    check("without a PMU the first line says so", "hardware events cannot be counted here" in r.out.splitlines()[0], r.out[:200])
    check("and no other line does, in a pipe", "not available" not in r.out)
    check("nor when only tracepoints are asked for", "cannot be counted" not in kymo("list tracepoint", env=NOTHING).out)
    for words in ("hw", "cache", "hw cache"):
        lines = [x for x in kymo(f"list {words}", env=NOTHING).out.splitlines() if " [Hardware " in x]
        check(f"list {words} marks what this PMU lacks, in a pipe too", lines and all(x.endswith(" [not available here]") for x in lines), lines[:3])
    r = kymo("list -v hw", env=NOTHING)
    same("-v marks each", r.out.count("[not available here]"), 10)
    check("-j says it for each", all(x["Available"] is False for x in json.loads(kymo("list -j hw", env=NOTHING).out)))
    check("with a PMU there is no such line", "cannot be counted" not in kymo("list", env=INTEL).out)


def refusals():
    r = kymo("list nosuchthing", env=INTEL)
    check("no match", r.code == 1 and "no event matches 'nosuchthing'" in r.err and "hint:" in r.err, r)
    r = kymo("list metric", env=INTEL)
    check("metrics", r.code == 1 and "no metric tables" in r.err, r)
    r = kymo("list --nosuch")
    check("a wrong option", r.code == 129 and "--nosuch" in r.err, r)
    r = kymo("list --parse cs,cycels")
    check("--parse shows the spot", r.code == 1 and "\n  cs,cycels\n     ^~~~~~\n" in r.err and "cycles" in r.err, r)
    r = run(f"{KYMO} list >&-", shell=True)
    check("a closed stdout ends it", r.code != 0 and "cannot write" in r.err, r)
    r = run(f"{KYMO} list > /dev/full", shell=True)
    check("a full disk is told", r.code == 1 and "disk full" in r.err, r)
    r = run(f"{KYMO} list | head -1", shell=True)
    same("a reader that leaves", r.err, "")


def as_user(args, **kw):
    return run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", KYMO, *args.split()], **kw)


def users():
    if os.geteuid() != 0:
        skip("an ordinary user", "needs root to become one")
        return
    if as_user("version").code:
        skip("an ordinary user", "the program is not in a place that others may read")
        return
    if as_user("list sched:sched_switch").code == 0:
        skip("an ordinary user", "tracefs is open to all here")
        return
    r = as_user("list")
    check("unreadable tracefs: the rest is listed", r.code == 0 and "context-switches OR cs" in r.out and "sched:" not in r.out, r)
    has("what is missing, and the fix", r.err, "tracepoints are missing", "may not read", "sudo mount -o remount,mode=750,gid=65534")
    r = as_user("list --parse sched:sched_switch")
    check("an event of it", r.code == 1 and "may not read tracepoints" in r.err and "hint:" in r.err and "^~~~" in r.err, r)
    r = as_user("list --parse cs,faults:u")
    check("others are fine", r.code == 0 and "faults:u" in r.out, r)


def mounting():
    script = "umount -l /sys/kernel/tracing 2>/dev/null; umount -l /sys/kernel/debug 2>/dev/null; "
    if run(["unshare", "-m", "sh", "-c", script + "! grep -q ' tracefs ' /proc/mounts"]).code:
        skip("tracefs is mounted when it is not", "cannot unmount it in a mount namespace here")
        return
    r = run(["unshare", "-m", "sh", "-c", f"{script} {KYMO} list --parse sched:sched_switch && grep -c ' tracefs ' /proc/mounts"])
    check("tracefs is mounted when it is not", r.code == 0 and r.out.endswith("\n1\n"), r)
    user = f"setpriv --reuid=65534 --regid=65534 --clear-groups {KYMO} list --parse sched:sched_switch"
    r = run(["unshare", "-m", "sh", "-c", script + user])
    check("an ordinary user is told how", r.code == 1 and "tracefs is not mounted" in r.err and "sudo mount -t tracefs" in r.err, r)


def on_terminal():
    """Output as on a terminal: colours and marks."""
    leader, follower = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    p = subprocess.Popen([KYMO, "list", "hw"], stdout=follower, env={**env, **NOTHING, "TERM": "xterm"}, stdin=subprocess.DEVNULL)
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    p.wait()
    check("a terminal gets colours and marks", b"\x1b[" in text and b"[not available here]" in text, text[:300])
    check("a pipe gets neither", "\x1b[" not in kymo("list hw", env={**NOTHING, "NO_COLOR": ""}).out)


def complete(typed, env=INTEL):
    r = kymo(["completion", "--words", "--", "list", "--parse", typed], env=env)
    return [x.split("\t")[0] for x in r.out.splitlines()]


def completion():
    same("a hardware name", complete("branch-m"), ["branch-misses"])
    same("an alias", complete("cyc"), ["cycles", "cycles-ct", "cycles-t"])
    same("after a comma", complete("cs,instr"), ["cs,instructions"])
    same("after a brace", complete("{cs,fau"), ["{cs,faults"])
    same("one subsystem: its events", complete("sche"), [f"sched:{e}" for e in
                                                        ("sched_process_exec", "sched_swap_numa", "sched_switch", "sched_wakeup")])
    same("several subsystems: themselves", [x for x in complete("s") if x.endswith(":")], ["sched:", "syscalls:"])
    same("an event of a subsystem", complete("cs,sched:sched_sw"), ["cs,sched:sched_swap_numa", "cs,sched:sched_switch"])
    same("a PMU's events and terms", complete("cpu/mem"), ["cpu/mem-loads/", "cpu/mem-stores/"])
    same("the next term", complete("cpu/event=1,um"), ["cpu/event=1,umask="])
    same("a whole PMU event", complete("power/energy-p"), ["power/energy-pkg/"])
    same("after a finished PMU event", complete("cpu/mem-loads/,bra")[:1], ["cpu/mem-loads/,branch-instructions"])
    same("nothing", complete("nosuchthing"), [])
    check("each has a description", kymo("completion --words -- list --parse branch-m", env=INTEL).out.split("\t")[1].strip() != "")


forms()
details()
availability()
refusals()
users()
mounting()
on_terminal()
completion()
end()
