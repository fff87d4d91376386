#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export: timelines. Lanes of CPUs, system calls, events with their fields; decoded again and compared with script's."""
import collections
import csv
import io
import json
import os
import shutil
import subprocess
import tempfile

import wire
from tap import KYMO, WORK, check, end, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-trace-")
FILE, RAW, SWITCH, SAMPLED = (f"{DIR}/{x}.data" for x in ("sched", "raw", "switch", "sampled"))
INLINED = os.path.abspath(f"{WORK}/inlined")  # ends after some CPU time, however long that takes
WORKLOAD = ["bash", "-c", f"for i in 1 2 3; do cat /etc/hostname /etc/passwd >/dev/null; sleep 0.01; done; {INLINED}"]
CPUS = 4194305

# The messages that kymo writes, by the published .proto files; other fields are refused.
NAME = {1: ("iid", "uint"), 2: ("name", "str")}
BYTES = {1: ("iid", "uint"), 2: ("str", "bytes")}
WAKEUP = {1: ("comm", "str"), 2: ("pid", "int"), 3: ("prio", "int"), 4: ("success", "int"), 5: ("target_cpu", "int")}
FTRACE = {
    1: ("timestamp", "uint"), 2: ("pid", "uint"),
    4: ("sched_switch", {1: ("prev_comm", "str"), 2: ("prev_pid", "int"), 3: ("prev_prio", "int"), 4: ("prev_state", "int"),
                         5: ("next_comm", "str"), 6: ("next_pid", "int"), 7: ("next_prio", "int")}),
    17: ("sched_wakeup", WAKEUP), 20: ("sched_waking", WAKEUP), 114: ("sched_wakeup_new", WAKEUP),
    238: ("sched_process_exit", {1: ("comm", "str"), 2: ("pid", "int"), 3: ("tgid", "int"), 4: ("prio", "int")}),
    239: ("sched_process_fork", {1: ("parent_comm", "str"), 2: ("parent_pid", "int"), 3: ("child_comm", "str"), 4: ("child_pid", "int")}),
    235: ("task_newtask", {1: ("pid", "int"), 2: ("comm", "str"), 3: ("clone_flags", "uint"), 4: ("oom_score_adj", "int")}),
    329: ("sys_enter", {1: ("id", "int"), 2: ("args", ["uint"])}), 330: ("sys_exit", {1: ("id", "int"), 2: ("ret", "int")}),
}
INTERNED = {
    1: ("categories", [NAME]), 2: ("event_names", [NAME]), 3: ("annotations", [NAME]), 5: ("functions", [BYTES]),
    6: ("frames", [{1: ("iid", "uint"), 2: ("function", "uint"), 3: ("mapping", "uint"), 4: ("rel_pc", "uint"),
                    5: ("source", "uint"), 6: ("line", "uint")}]),
    7: ("stacks", [{1: ("iid", "uint"), 2: ("frame", ["uint"])}]),
    16: ("build_ids", [BYTES]), 17: ("paths", [BYTES]), 18: ("sources", [BYTES]),
    19: ("mappings", [{1: ("iid", "uint"), 2: ("build_id", "uint"), 3: ("start_offset", "uint"), 4: ("start", "uint"), 5: ("end", "uint"),
                       6: ("load_bias", "uint"), 7: ("path", ["uint"]), 8: ("exact_offset", "uint")}]),
}
TIMEBASE = {1: ("period", "uint"), 2: ("frequency", "uint"), 3: ("tracepoint", {1: ("name", "str")}), 4: ("counter", "uint"),
            5: ("raw", {1: ("type", "uint"), 2: ("config", "uint")}), 10: ("name", "str")}
PACKET = {
    1: ("ftrace", {1: ("cpu", "uint"), 2: ("event", [FTRACE])}),
    2: ("tree", {1: ("processes", [{1: ("pid", "int"), 2: ("ppid", "int"), 3: ("cmdline", ["str"])}]),
                 2: ("threads", [{1: ("tid", "int"), 2: ("name", "str"), 3: ("tgid", "int")}])}),
    6: ("clocks", {1: ("clock", [{1: ("id", "uint"), 2: ("time", "uint")}]), 2: ("primary", "uint")}),
    8: ("timestamp", "uint"), 10: ("seq", "uint"),
    11: ("track_event", {3: ("category", ["uint"]), 9: ("type", "uint"), 10: ("name", "uint"), 11: ("track", "uint"), 56: ("stack", "uint"),
                         4: ("annotation", [{1: ("name", "uint"), 3: ("uint", "uint"), 4: ("int", "int"), 6: ("str", "str"), 7: ("pointer", "uint")}])}),
    12: ("interned", INTERNED), 13: ("flags", "uint"),
    45: ("system", {1: ("utsname", {1: ("sysname", "str"), 2: ("version", "str"), 3: ("release", "str"), 4: ("machine", "str")})}),
    59: ("defaults", {12: ("perf_sample", {1: ("timebase", TIMEBASE)})}),
    60: ("track", {1: ("uuid", "uint"), 4: ("thread", {1: ("pid", "int"), 2: ("tid", "int"), 5: ("name", "str")})}),
    66: ("sample", {1: ("cpu", "uint"), 2: ("pid", "uint"), 3: ("tid", "uint"), 4: ("stack", "uint"), 5: ("mode", "uint"), 6: ("count", "uint")}),
    87: ("first", "uint"),
}


def export(to, file=FILE, *args):
    r = subprocess.run([KYMO, "export", "--to", to, "-i", file, "-o", "-", *args], capture_output=True, stdin=subprocess.DEVNULL)
    if r.returncode:
        check(f"export --to {to} {' '.join(args)}", False, r.stderr.decode(errors="replace"))
    return r.stdout


def script(file=FILE, *args):
    return [json.loads(x) for x in kymo(["script", "-j", "-i", file, *args]).out.splitlines()]


def record():
    base = ["perf", "record", "-q", "-a", "-B", "--no-bpf-event", "-m", "4096"]
    r = run([*base, "-g", "-o", FILE, "-e", "cpu-clock,sched:sched_switch,sched:sched_wakeup,sched:sched_waking,sched:sched_process_fork,"
             "sched:sched_process_exit,syscalls:sys_enter_read,syscalls:sys_exit_read,syscalls:sys_enter_openat,syscalls:sys_exit_openat", *WORKLOAD])
    if r.code:
        skip("export of timelines", "perf cannot record here: " + r.err.strip()[:80])
        end()
    run([*base, "-F", "99", "-e", "sched:sched_switch", "-o", SAMPLED, "true"])
    run([*base, "-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit,task:task_newtask", "-o", RAW, "--", "cat", "/etc/hostname"])
    run([*base, "-e", "cpu-clock", "-F", "99", "--switch-events", "-o", SWITCH, *WORKLOAD])


class Perfetto:
    """A trace put together again: what each packet refers to is looked up as Perfetto does."""

    def __init__(self, data):
        self.ftrace, self.samples, self.events, self.faults, self.order = [], [], [], [], []
        self.names, self.tracks, self.defaults, self.clocks, self.system = {}, {}, {}, [], None
        state = {}
        for p in wire.message(data, {1: ("packet", [PACKET])})["packet"]:
            seq = p.get("seq", 0)
            if p.get("flags", 0) & 1:
                state[seq] = {k: {} for k, _ in INTERNED.values()}
                self.defaults[seq] = p.get("defaults", {})
            elif p.get("flags", 0) & 2 and seq not in state:
                self.faults.append(f"sequence {seq} needs a state that it has not")
            for kind, rows in p.get("interned", {}).items():
                for row in rows:
                    if not row["iid"] or state[seq][kind].setdefault(row["iid"], row) is not row:
                        self.faults.append(f"{kind} {row['iid']} is said twice, or 0")
            self.take(p, state.get(seq), seq)

    def take(self, p, state, seq):
        if "ftrace" in p:
            self.order.append([e["timestamp"] for e in p["ftrace"]["event"]])
            self.ftrace += [(p["ftrace"]["cpu"], e) for e in p["ftrace"]["event"]]
        if "sample" in p:
            s = p["sample"]
            stack = self.stack(state, s["stack"]) if "stack" in s else []
            self.samples.append((p["timestamp"], self.defaults[seq]["perf_sample"]["timebase"]["name"], s, stack))
        if "track_event" in p:
            e = p["track_event"]
            if e["track"] not in self.tracks:
                self.faults.append(f"no track {e['track']}")
            args = {state["annotations"][a["name"]]["name"]: next(v for k, v in a.items() if k != "name") for a in e["annotation"]}
            name = state["event_names"][e["name"]]["name"] if "name" in e else None
            stack = self.stack(state, e["stack"]) if "stack" in e else []
            self.events.append((p["timestamp"], e["type"], self.tracks[e["track"]]["tid"], name, args, stack))
        if "track" in p:
            self.tracks[p["track"]["uuid"]] = p["track"]["thread"]
        for t in p.get("tree", {}).get("threads", []):
            self.names[t["tid"]] = t.get("name")
        self.clocks += [p["clocks"]] if "clocks" in p else []
        self.system = p.get("system", self.system)

    def stack(self, state, iid):
        """Functions, root first."""
        out = []
        for f in state["stacks"][iid]["frame"]:
            frame = state["frames"][f]
            mapping = state["mappings"][frame["mapping"]]
            state["paths"][mapping["path"][0]], state["build_ids"][mapping["build_id"]]
            if "source" in frame:
                state["sources"][frame["source"]]
            out.append(state["functions"][frame["function"]]["str"].decode())
        return out


def perfetto():
    p = Perfetto(export("perfetto"))
    rows = script()
    same("perfetto: what packets refer to was said before", p.faults, [])
    check("perfetto: times rise within a bundle", all(x == sorted(x) for x in p.order))
    same("perfetto: the clock", [c["primary"] for c in p.clocks], [6])
    same("perfetto: the kernel's version", p.system["utsname"]["release"], os.uname().release)
    for event in ("sched_switch", "sched_wakeup", "sched_waking", "sched_process_fork", "sched_process_exit"):
        want = [(r["cpu"], r["time"], r["tid"], r["fields"]) for r in rows if r["event"] == f"sched:{event}"]
        got = [(cpu, e["timestamp"], e["pid"], e[event]) for cpu, e in p.ftrace if event in e]
        keys = [k for k in (got[0][3] if got else {}) if k in want[0][3]]

        # of a thread that ends perf has no number any more; the tracepoint has
        ended = {(cpu, t) for cpu, t, tid, _ in want if tid < 0}

        def part(x):
            return sorted((a, b, 0 if (a, b) in ended else c, *(str(d[k]) for k in keys)) for a, b, c, d in x)
        check(f"perfetto: {event} as recorded, on its CPU", len(keys) >= 2 and part(got) == part(want), (keys, part(got)[:2], part(want)[:2]))
    cpus = {r["cpu"] for r in rows if r["event"] == "sched:sched_switch"}
    same("perfetto: a lane for each CPU", {cpu for cpu, e in p.ftrace if "sched_switch" in e}, cpus)
    # script names what follows a call, so only those frames are compared that are surely alike
    own = ["main", "outer_function"]
    want = sorted((r["time"], r["tid"], len(r["chain"]), [f["sym"] for f in r["chain"][::-1] if f.get("sym") in own])
                  for r in rows if r["event"] == "cpu-clock" and r["comm"] == "inlined")
    plain = Perfetto(export("perfetto", FILE, "--no-inline", "--comm", "inlined"))
    stacks = sorted((t, s["tid"], len(stack), [x for x in stack if x in own]) for t, event, s, stack in plain.samples if event == "cpu-clock")
    check("perfetto: samples and their stacks are script's", len(want) > 5 and stacks == want, (stacks[:3], want[:3]))
    same("perfetto: all samples", sum(event == "cpu-clock" for _, event, _, _ in p.samples), sum(r["event"] == "cpu-clock" for r in rows))
    sums = collections.Counter()
    ok = True
    for t, event, s, _ in p.samples:
        ok &= s["count"] >= sums[event, s["cpu"]]
        sums[event, s["cpu"]] = s["count"]
    check("perfetto: counters only rise", ok)
    same("perfetto: to the sum", sum(v for (e, _), v in sums.items() if e == "cpu-clock"), sum(r["period"] for r in rows if r["event"] == "cpu-clock"))
    calls = [r for r in rows if r["event"].startswith("syscalls:sys_enter_")]
    begun = [e for e in p.events if e[1] == 1]
    same("perfetto: system calls begin as recorded", [(t, tid, name) for t, _, tid, name, _, _ in begun],
         [(r["time"], r["tid"], r["event"].split("sys_enter_")[1]) for r in calls])
    check("perfetto: with their fields", all(e[4]["fd"] == r["fields"]["fd"] for e, r in zip(begun, calls) if "fd" in r["fields"]))
    depth = collections.Counter()
    for _, kind, tid, *_ in p.events:
        depth[tid] += {1: 1, 2: -1}.get(kind, 0)
        if depth[tid] not in (0, 1):
            depth["bad"] += 1
    same("perfetto: slices of a thread are closed before the next", depth["bad"], 0)
    tids = {r["tid"] for r in rows if "tid" in r}
    check("perfetto: threads have names", sum(bool(p.names.get(t)) for t in tids) > len(tids) / 2, p.names)
    raw = Perfetto(export("perfetto", RAW))
    rows = script(RAW)
    got = sorted((e["timestamp"], e["sys_enter"]["id"], e["sys_enter"]["args"]) for _, e in raw.ftrace if "sys_enter" in e)
    want = sorted((r["time"], r["fields"]["id"], [x % 2**64 for x in r["fields"]["args"]]) for r in rows if r["event"] == "raw_syscalls:sys_enter")
    same("perfetto: raw system calls with their arguments", got, want)


def lanes(f):
    """The slices of each CPU, and that they do not overlap."""
    by = collections.defaultdict(list)
    for e in f["traceEvents"]:
        if e["ph"] == "X" and e["pid"] == CPUS:
            by[e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["args"]["tid"]))
    for cpu, slices in by.items():
        slices.sort()
        if any(a[1] > b[0] + 1 for a, b in zip(slices, slices[1:])):
            check(f"chrome: slices of CPU {cpu} do not overlap", False)
    return by


def run_times(rows):
    """How long each thread ran, by the switches themselves."""
    last, total = {}, collections.Counter()
    for r in rows:
        if r.get("event") != "sched:sched_switch":
            continue
        if r["cpu"] in last and last[r["cpu"]][0]:
            total[last[r["cpu"]][0]] += r["time"] - last[r["cpu"]][1]
        last[r["cpu"]] = (r["fields"]["next_pid"], r["time"])
    return total, last


def chrome():
    f = json.loads(export("chrome"))
    rows = script()
    total, last = run_times(rows)
    end_time = max(r["time"] for r in rows)
    for tid, since in last.values():
        if tid:
            total[tid] += end_time - since
    got = collections.Counter()
    for slices in lanes(f).values():
        for a, b, tid in slices:
            got[tid] += b - a
    far = {t: (got[t], total[t]) for t in {*got, *total} if abs(got[t] - total[t]) > 4 * len(rows)}
    check("chrome: threads ran as long as the switches say", not far, far)
    calls = [e for e in f["traceEvents"] if e["ph"] == "X" and e.get("cat") == "syscall"]
    enters = [r for r in rows if ":sys_enter_" in r["event"]]
    same("chrome: a slice for each system call", sorted((round(e["ts"] * 1000), e["tid"], e["name"]) for e in calls),
         sorted((r["time"], r["tid"], r["event"].split("sys_enter_")[1]) for r in enters))
    exits = {(r["tid"], r["time"]): r["fields"]["ret"] for r in rows if ":sys_exit_" in r["event"]}
    done = [e for e in calls if "ret" in e["args"]]
    near = {(t, x): v for (t, ns), v in exits.items() for x in (ns - 1, ns, ns + 1)}
    check("chrome: that ends when it did, with what it returned",
          done and all(near.get((e["tid"], round((e["ts"] + e["dur"]) * 1000))) == e["args"]["ret"] for e in done))
    by = collections.defaultdict(list)
    for e in calls:
        by[e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
    check("chrome: calls of a thread do not overlap", all(a[1] <= b[0] + 1 for x in by.values() for a, b in zip(sorted(x), sorted(x)[1:])))
    instants = collections.Counter(e["name"] for e in f["traceEvents"] if e["ph"] == "i")
    want = collections.Counter(r["event"] for r in rows if r["event"] in ("sched:sched_wakeup", "sched:sched_waking", "sched:sched_process_fork"))
    same("chrome: other events are instants", {k: instants[k] for k in want}, dict(want))
    frames = f["stackFrames"]
    check("chrome: frames have parents", all("parent" not in v or v["parent"] in frames for v in frames.values()))
    check("chrome: no frame is above itself", all(int(v.get("parent", -1)) < int(k) for k, v in frames.items()))
    same("chrome: samples", len(f["samples"]), sum(r["event"] == "cpu-clock" for r in rows))
    refs = [x["sf"] for x in [*f["samples"], *f["traceEvents"]] if "sf" in x]
    check("chrome: samples and events have stacks", refs and all(str(x) in frames for x in refs))
    r = kymo(["export", "--to", "chrome", "-i", SAMPLED, "-o", f"{DIR}/x.json"])
    check("events that were only sampled: it says so", "sched:sched_switch was sampled" in r.err and "-F" in r.err, r)
    # of some kernel threads the switch away from them is not recorded: what came before then ends nobody knows how
    tid = next(r["tid"] for r in rows if r["comm"] == "inlined")
    one = json.loads(export("chrome", FILE, "--tid", str(tid)))
    mine, want = ({(e["ts"], e["dur"]) for e in x["traceEvents"] if e["ph"] == "X" and e["pid"] == CPUS and e["args"]["tid"] == tid and
                   e["args"]["end_state"] != "unknown"} for x in (one, f))
    check("chrome: --tid keeps its slices", want and want <= mine, (want - mine))
    same("chrome: and nobody else's", {e["args"]["tid"] for e in one["traceEvents"] if e["ph"] == "X" and e["pid"] == CPUS}, {tid})
    lane = Perfetto(export("perfetto", FILE, "--tid", str(tid)))
    same("perfetto: nor does --tid", {e["sched_switch"][x] for _, e in lane.ftrace if "sched_switch" in e for x in ("prev_pid", "next_pid")}, {0, tid})


def markers():
    f = json.loads(export("firefox"))
    rows = script()
    s = f["shared"]["stringArray"]
    found = collections.Counter()
    lasting = 0
    for t in f["threads"]:
        m = t["markers"]
        for name, start, end_, data in zip(m["name"], m["startTime"], m["endTime"], m["data"]):
            found[data["type"]] += 1
            lasting += end_ is not None and "ret" in data and end_ >= start and s[name] in ("read", "openat")
    want = collections.Counter(r["event"] for r in rows if r["event"].startswith("sched:") or ":sys_enter_" in r["event"])
    same("firefox: a marker for each event", {k: found[k] for k in want}, dict(want))
    check("firefox: system calls last", lasting > 5, lasting)
    check("firefox: markers have causes", any("cause" in d for t in f["threads"] for d in t["markers"]["data"]))
    keys = {x["name"]: {y["key"] for y in x["fields"]} for x in f["meta"]["markerSchema"]}
    check("firefox: fields are those of the schema", all(set(d) - {"type", "cause"} <= keys[d["type"]]
                                                        for t in f["threads"] for d in t["markers"]["data"]))
    switch = next(d for t in f["threads"] for d in t["markers"]["data"] if d["type"] == "sched:sched_switch")
    check("firefox: their values", {"prev_comm", "next_pid", "prev_state"} <= set(switch) and isinstance(switch["next_pid"], int), switch)
    table = list(csv.DictReader(io.StringIO(export("csv").decode(), newline="")))
    texts = [r["text"] for r in table if r["event"] == "sched:sched_switch"]
    check("csv: texts of tracepoints", texts and all("prev_comm=" in x and "==>" in x for x in texts), texts[:2])


def switches():
    """Without sched_switch: the records of context switches."""
    rows = [json.loads(x) for x in kymo(["script", "-j", "-i", SWITCH, "--show-switch-events"]).out.splitlines()]
    outs = [r for r in rows if r.get("record", "").startswith("SWITCH") and r["out"] and "next_tid" in r]
    if not outs:
        skip("lanes from switch records", "this kernel writes none")
        return
    p = Perfetto(export("perfetto", SWITCH))
    got = sorted((e["timestamp"], cpu, e["sched_switch"]["prev_pid"], e["sched_switch"]["next_pid"]) for cpu, e in p.ftrace)
    # a thread that ends has no number any more; who comes without anybody leaving is a switch, too
    by = {(t, cpu): (a, b) for t, cpu, a, b in got}
    bad = [r for r in outs if by.get((r["time"], r["cpu"]), (r["tid"], None))[1] != r["next_tid"] or
           (r["tid"] >= 0 and by[r["time"], r["cpu"]][0] != r["tid"])]
    same("perfetto: lanes from switch records", bad, [])
    # each record is one, except of who comes where it is known to run: the one before it named both
    want, runs = [], {}
    for r in rows:
        if not r.get("record", "").startswith("SWITCH") or (not r["out"] and runs.get(r["cpu"], -1) == r["tid"]):
            continue
        runs[r["cpu"]] = r.get("next_tid", -1) if r["out"] else r["tid"]
        want.append((r["time"], r["cpu"], max(runs[r["cpu"]], 0)))
    same("perfetto: and no others", sorted((t, cpu, b) for t, cpu, _, b in got), sorted(want))
    check("perfetto: nor more than once", len({(t, cpu) for t, cpu, *_ in got}) == len(got))
    by = lanes(json.loads(export("chrome", SWITCH)))
    check("chrome: lanes from switch records", sum(map(len, by.values())) > len(outs) / 8, {k: len(v) for k, v in by.items()})


def tracedat():
    """The same from a trace.dat."""
    path = f"{DIR}/trace.dat"
    r = kymo(["ftrace", "record", "-q", "-e", "sched:sched_switch", "-e", "syscalls:sys_enter_read", "-e", "syscalls:sys_exit_read", "-o", path,
              "sh", "-c", "cat /etc/hostname >/dev/null; sleep 0.01"])
    if r.code:
        skip("exports of a trace.dat", "kymo ftrace record: " + r.err.strip()[:80])
        return
    rows = script(path)
    p = Perfetto(export("perfetto", path))
    same("trace.dat: what packets refer to was said before", p.faults, [])
    want = sorted((r["time"], r["cpu"], r["fields"]["prev_pid"], r["fields"]["next_pid"]) for r in rows if r["event"] == "sched:sched_switch")
    got = sorted((e["timestamp"], cpu, e["sched_switch"]["prev_pid"], e["sched_switch"]["next_pid"]) for cpu, e in p.ftrace if "sched_switch" in e)
    check("trace.dat: lanes of CPUs", want and got == want, (got[:2], want[:2]))
    f = json.loads(export("chrome", path))
    names = {e["name"] for e in f["traceEvents"] if e["ph"] == "X" and e["pid"] == CPUS}
    check("trace.dat: slices have names", {"sh", "cat"} & names, names)
    check("trace.dat: system calls last", any(e.get("cat") == "syscall" and e["name"] == "read" and "ret" in e["args"] for e in f["traceEvents"]))
    check("trace.dat: markers", any(t["markers"]["length"] for t in json.loads(export("firefox", path))["threads"]))


record()
perfetto()
chrome()
markers()
switches()
tracedat()
shutil.rmtree(DIR)
end()
