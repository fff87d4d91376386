#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts of a recording (stat record) as events: in script, and as tracks of exports."""
import json
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict

import wire
from tap import KYMO, check, end, has, kymo, same

DIR = tempfile.mkdtemp(prefix="kymo-counters-")
FILE, WIDE, ONCE = (f"{DIR}/{x}.data" for x in ("interval", "wide", "once"))
WORK = "import time\nfor i in range(3):\n x = [bytearray(4096) for k in range(9000)]\n time.sleep(0.06)"
PACKET = {
    2: ("tree", "bytes"), 6: ("clocks", "bytes"), 8: ("timestamp", "uint"), 10: ("seq", "uint"), 13: ("flags", "uint"), 45: ("system", "bytes"),
    87: ("first", "uint"),
    11: ("event", {9: ("type", "uint"), 11: ("track", "uint"), 44: ("value", "double")}),
    60: ("track", {1: ("uuid", "uint"), 2: ("name", "str"), 8: ("counter", {6: ("unit", "str")})}),
}


def record(path, *args):
    r = kymo(["stat", "record", "-o", path, "-e", "task-clock,page-faults", *args, "--", "python3", "-c", WORK])
    check(f"stat record {' '.join(args)}", r.code == 0, r)


def reported(path):
    """[(end of the interval, event, CPU, value)] of stat report."""
    out = []
    for line in kymo(["stat", "report", "-x,", "--no-scale", "-i", path]).err.splitlines():
        f = line.split(",")
        if len(f) > 4 and f[1].replace(".", "").isdigit():
            out.append((float(f[0]), f[3], float(f[1])))
    return out


def counters(path, *args):
    return [json.loads(x) for x in kymo(["script", "-j", "-i", path, *args]).out.splitlines()]


def export(to, path):
    return subprocess.run([KYMO, "export", "-q", "--to", to, "-i", path, "-o", "-"], capture_output=True, check=False).stdout


record(FILE, "-I", "40")
record(WIDE, "-I", "40", "-a", "-A")
record(ONCE)

rows = counters(FILE)
want = [x for x in reported(FILE) if x[2]]
got = [(x["time"] + x["length"], x["counter"], x["value"]) for x in rows if x["value"]]
check("each interval's counts are stat report's", len(want) > 3 and len(want) <= len(got) and
      all(any(abs(t - g[0] / 1e9) < 1e-6 and e == g[1] and abs(v - g[2]) < 0.006 for g in got) for t, e, v in want), (want[:4], got[:4]))
times = defaultdict(list)
for x in rows:
    times[x["counter"]].append((x["time"], x["length"]))
check("an interval begins where the one before ends", all(a[0] + a[1] == b[0] for t in times.values() for a, b in zip(t, t[1:])), times)
same("units", {x["counter"]: x.get("unit") for x in rows}, {"task-clock": "msec", "page-faults": None})
text = kymo(["script", "-i", FILE])
same("script: a line for each", (text.code, len(text.out.splitlines())), (0, len(rows)))
has("script: value, unit, name and how long", text.out, " msec task-clock over 0.0", " page-faults over 0.0")
same("script --max-events", len(kymo(["script", "-i", FILE, "--max-events", "2"]).out.splitlines()), 2)
half = rows[len(rows) // 2]["time"] / 1e9
same("script --time", len(kymo(["script", "-i", FILE, "--time", f"{half:.9f},"]).out.splitlines()), sum(x["time"] / 1e9 >= half - 1e-9 for x in rows))

wide = counters(WIDE)
same("CPU by CPU", {x["cpu"] for x in wide}, set(range(os.cpu_count())))
same("script -C", len(kymo(["script", "-i", WIDE, "-C", "0"]).out.splitlines()), sum(x["cpu"] == 0 for x in wide))
once = counters(ONCE)
same("without intervals: one sum", sorted(x["counter"] for x in once), ["page-faults", "task-clock"])
check("from the start", all(x["time"] == 1 and x["length"] > 0.18e9 for x in once), once)

for path, of in ((FILE, rows), (WIDE, wide)):
    drawn = [e for e in json.loads(export("chrome", path))["traceEvents"] if e["ph"] == "C"]
    same("chrome: every value", [(round(e["ts"] * 1000), next(iter(e["args"].values()))) for e in drawn], [(x["time"], x["value"]) for x in of])
    names, values = {}, []
    for p in wire.message(export("perfetto", path), {1: ("packet", [PACKET])})["packet"]:
        if "track" in p:
            names[p["track"]["uuid"]] = (p["track"]["name"].split()[0], p["track"]["counter"].get("unit"))
        if "event" in p:
            values.append((p["timestamp"], p["event"]["type"], *names[p["event"]["track"]], p["event"]["value"]))
    same("perfetto: every value on the track of its name", [(t, k, n, u, float(f"{v:.10g}")) for t, k, n, u, v in values],
         [(x["time"], 4, x["counter"], x.get("unit"), float(x["value"])) for x in of])
    same("perfetto: a track for each event and place", len(names), len({(x["counter"], x.get("cpu")) for x in of}))

r = kymo(["stat", "report", "-i", FILE])
check("stat report reads it as before", r.code == 0 and "task-clock" in r.err + r.out, r)
r = kymo(["script", "-D", "-i", FILE])
check("script -D shows its records", r.code == 0 and "PERF_RECORD_STAT_ROUND" in r.out, r)
shutil.rmtree(DIR)
end()
