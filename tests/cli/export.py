#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""export: profiles for other programs, decoded again and compared with what report and script say."""
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter

import wire
from tap import KYMO, WORK, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-export-")
BUSY, INLINED = (os.path.abspath(f"{WORK}/{x}") for x in ("busy", "inlined"))
FORMATS = "folded pprof speedscope firefox perfetto chrome callgrind json csv".split()
ALL = f"{DIR}/all.data"
INL = f"{DIR}/inl.data"

VALUE_TYPE = {1: ("type", "int"), 2: ("unit", "int")}
PPROF = {
    1: ("sample_type", [VALUE_TYPE]),
    2: ("sample", [{1: ("location", ["uint"]), 2: ("value", ["int"]),
                    3: ("label", [{1: ("key", "int"), 2: ("str", "int"), 3: ("num", "int"), 4: ("num_unit", "int")}])}]),
    3: ("mapping", [{1: ("id", "uint"), 2: ("start", "uint"), 3: ("limit", "uint"), 4: ("offset", "uint"), 5: ("file", "int"),
                     6: ("build_id", "int"), 7: ("has_functions", "uint"), 8: ("has_files", "uint"), 9: ("has_lines", "uint"),
                     10: ("has_inlines", "uint")}]),
    4: ("location", [{1: ("id", "uint"), 2: ("mapping", "uint"), 3: ("address", "uint"),
                      4: ("line", [{1: ("function", "uint"), 2: ("line", "int")}]), 5: ("is_folded", "uint")}]),
    5: ("function", [{1: ("id", "uint"), 2: ("name", "int"), 3: ("system_name", "int"), 4: ("file", "int"), 5: ("start_line", "int")}]),
    6: ("string", ["str"]),
    7: ("drop", "int"), 8: ("keep", "int"), 9: ("time", "int"), 10: ("duration", "int"), 11: ("period_type", VALUE_TYPE),
    12: ("period", "int"), 13: ("comment", ["int"]), 14: ("default_type", "int"),
}


def export(to, file=ALL, *args):
    """The bytes of an export, through a pipe."""
    r = subprocess.run([KYMO, "export", "--to", to, "-i", file, "-o", "-", *args], capture_output=True, stdin=subprocess.DEVNULL)
    if r.returncode:
        check(f"export --to {to} {' '.join(args)}", False, r.stderr.decode(errors="replace"))
    return r.stdout


def record():
    """Two events, threads and children, chains; and a program with inlined functions."""
    for ms in ("150", "600", "2400"):  # on a busy machine a thread may not get to run within a short time
        r = run(["perf", "record", "-q", "-B", "--no-bpf-event", "-F", "1999", "-g", "-e", "cpu-clock,page-faults", "-o", ALL, BUSY, ms, "threads=2"])
        seen = {tuple(x.split()) for x in kymo(f"script -i {ALL} -F tid,event -G").out.splitlines()}
        if r.code == 0 and sum("cpu-clock:" in x for x in seen) == 3:
            break
    if r.code:
        skip("export", "perf cannot record here: " + r.err.strip()[:80])
        end()
    kymo(["record", "-q", "-F", "999", "-g", "-o", INL, "--", INLINED])


def truth(file=ALL, *args):
    """By event: samples, their sum, and the sum of each function itself, as report counts them."""
    r = kymo(["report", "-i", file, "-j", "--no-children", "-g", "none", "-s", "sym", *args])
    out = {}
    for e in json.loads(r.out)["events"]:
        by = Counter()
        for row in e["rows"]:
            by[row["symbol"]] += row["period"]
        out[e["event"]] = (e["samples"], e["period"], by)
    return out


def named(name, by):
    """Functions that have names: each writer words the others as it must."""
    same(name, *({k: v for k, v in x.items() if v and not re.match(r"^(\[\.\] )?0x[0-9a-f]+$", k)} for x in by))


def pprof_of(data):
    p = wire.message(gzip.decompress(data), PPROF)
    p["functions"] = {f["id"]: p["string"][f.get("name", 0)] for f in p["function"]}
    p["locations"] = {x["id"]: x for x in p["location"]}
    p["mappings"] = {x["id"]: x for x in p["mapping"]}
    return p


def leaf(p, s):
    line = p["locations"][s["location"][0]]["line"]
    return p["functions"][line[0]["function"]] if line else hex(p["locations"][s["location"][0]]["address"])


def pprof():
    data = export("pprof", ALL, "--no-inline")
    check("pprof: gzip", data[:2] == b"\x1f\x8b")
    p = pprof_of(data)
    s = p["string"]
    same("pprof: the first string is empty", s[0], "")
    ids = [[x.get("id", 0) for x in p[k]] for k in ("mapping", "location", "function")]
    check("pprof: numbers are not 0 and differ", all(min(x) > 0 and len(set(x)) == len(x) for x in ids))
    check("pprof: what is referred to is there",
          all(i in p["locations"] for x in p["sample"] for i in x["location"]) and
          all(x.get("mapping", 0) in {0, *p["mappings"]} for x in p["location"]) and
          all(y["function"] in p["functions"] for x in p["location"] for y in x["line"]))
    types = [(s[t["type"]], s[t["unit"]]) for t in p["sample_type"]]
    same("pprof: types and units", types, [("cpu-clock_samples", "count"), ("cpu", "nanoseconds"),
                                           ("page-faults_samples", "count"), ("page-faults", "count")])
    check("pprof: as many values as types", all(len(x["value"]) == 4 for x in p["sample"]))
    want = truth()
    for i, event in enumerate(("cpu-clock", "page-faults")):
        sums = [sum(x["value"][2 * i + k] for x in p["sample"]) for k in (0, 1)]
        same(f"pprof: samples and sum of {event} are report's", sums, list(want[event][:2]))
        by = Counter()
        for x in p["sample"]:
            by[leaf(p, x)] += x["value"][2 * i + 1]
        named(f"pprof: functions of {event} are report's", (by, want[event][2]))
    labels = {s[y["key"]] for x in p["sample"] for y in x["label"]}
    same("pprof: labels", labels, {"thread", "pid", "tid"})
    check("pprof: addresses lie in their mappings", all(m["start"] <= x["address"] <= m["limit"] for x in p["location"]
                                                        for m in [p["mappings"].get(x.get("mapping"))] if m))
    same("pprof: the first mapping is the program", os.path.basename(s[p["mapping"][0]["file"]]), "busy")
    if shutil.which("go"):
        with open(f"{DIR}/go.pb.gz", "wb") as f:
            f.write(data)
        r = run(["go", "tool", "pprof", "-raw", f"{DIR}/go.pb.gz"])
        check("pprof: go tool pprof reads it", r.code == 0 and "Samples:" in r.out, r)
        r = run(["go", "tool", "pprof", "-top", "-sample_index=cpu-clock_samples", f"{DIR}/go.pb.gz"])
        has("pprof: and sums as report does", r.out, f"Total samples = {want['cpu-clock'][0]}")
    else:
        skip("pprof: go tool pprof reads it", "no go here")


def inlines():
    p = pprof_of(export("pprof", INL))
    ids = {f: b for b, f in (x.split(None, 1) for x in kymo(f"buildid-list -i {INL}").out.splitlines() if x[0] != " ")}
    mine = {p["string"][m["file"]]: p["string"][m.get("build_id", 0)] for m in p["mapping"]}
    check("pprof: build-ids are the recording's", mine.get(INLINED) and all(ids.get(f, "") == b for f, b in mine.items()), (ids, mine))
    stacks = [[p["functions"][y["function"]] for y in x["line"]] for x in p["location"]]
    chain = ["inner_inlined", "middle_inlined", "outer_function"]
    check("pprof: inlined functions are lines of one location", chain in stacks, stacks)
    lines = [x["line"] for x in p["location"] if [p["functions"][y["function"]] for y in x["line"]] == chain]
    files = {p["string"][f["file"]] for f in p["function"] if p["functions"][f["id"]] in chain}
    check("pprof: with file and line", lines and all(y["line"] > 0 for y in lines[0]) and
          all(f.endswith("inlined.c") for f in files), (lines[:1], files))
    f = json.loads(export("firefox", INL))
    t, s = f["threads"][0], f["shared"]["stringArray"]
    depth = {s[t["funcTable"]["name"][t["frameTable"]["func"][i]]]: t["frameTable"]["inlineDepth"][i]
             for i in range(t["frameTable"]["length"])}
    check("firefox: build-ids", any(re.fullmatch("[0-9A-F]{32}0", x["breakpadId"]) and x["codeId"] for x in f["libs"]))
    same("firefox: depth of inlining", [depth.get(x) for x in chain], [2, 1, 0])
    sp = json.loads(export("speedscope", INL))
    names = [x["name"] for x in sp["shared"]["frames"]]
    found = any([names[i] for i in x[-3:]] == chain[::-1] for q in sp["profiles"] for x in q["samples"])
    check("speedscope: inlined functions are frames", found, names)
    p = pprof_of(export("pprof", INL, "--no-inline"))
    check("--no-inline", all(len(x["line"]) <= 1 for x in p["location"]))


def speedscope():
    f = json.loads(export("speedscope", ALL, "--no-inline"))
    same("speedscope: schema", f["$schema"], "https://www.speedscope.app/file-format-schema.json")
    frames = f["shared"]["frames"]
    check("speedscope: frames", all(isinstance(x["name"], str) and set(x) <= {"name", "file", "line", "col"} for x in frames))
    check("speedscope: frames differ", len({(x["name"], x["file"]) for x in frames}) == len(frames))
    units = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}
    good = all(p["type"] == "sampled" and p["unit"] in units and len(p["samples"]) == len(p["weights"]) and
               p["endValue"] - p["startValue"] == sum(p["weights"]) and isinstance(p["name"], str) and
               all(0 <= i < len(frames) for x in p["samples"] for i in x) for p in f["profiles"])
    check("speedscope: profiles", good and f["profiles"])
    for event, (_, period, by) in truth().items():
        mine, own = 0, Counter()
        for p in f["profiles"]:
            if not p["name"].endswith(" " + event):
                continue
            mine += sum(p["weights"])
            for x, w in zip(p["samples"], p["weights"]):
                own[frames[x[-1]]["name"]] += w
        same(f"speedscope: the sum of {event} is report's", mine, period)
        named(f"speedscope: functions of {event} are report's", (own, by))
    threads = {tuple(p["name"].split()[1].split("/")) for p in f["profiles"]}
    check("speedscope: a profile a thread", len(threads) == 3, threads)
    if os.environ.get("KYMO_ORACLES") and shutil.which("npm"):
        published(f)


def published(f):
    """The schema as speedscope's own package has it (fetched only when asked for)."""
    r = run(["npm", "pack", "--silent", "speedscope"], cwd=DIR)
    name = r.out.split()[-1] if r.code == 0 and r.out.split() else None
    if not name:
        skip("speedscope: the published schema", "npm does not give it")
        return
    run(["tar", "xf", name], cwd=DIR)
    try:
        import jsonschema
    except ImportError:
        skip("speedscope: the published schema", "no python3-jsonschema")
        return
    with open(f"{DIR}/package/dist/release/file-format-schema.json") as s:
        errors = list(jsonschema.Draft7Validator(json.load(s)).iter_errors(f))
    check("speedscope: the published schema", not errors, errors[:2])


FIREFOX_COLUMNS = {
    "samples": {"stack", "time", "weight"}, "markers": {"data", "name", "startTime", "endTime", "phase", "category"},
    "stackTable": {"frame", "prefix"}, "resourceTable": {"lib", "name", "host", "type"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line", "column"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
}


# What the viewer's own types (src/types/profile.ts) say must be there.
NUMBER, TEXT, NONE = (int, float), str, type(None)
FIREFOX_FIELDS = {
    "profile": {"meta": dict, "libs": list, "shared": dict, "threads": list},
    "meta": {"interval": NUMBER, "startTime": NUMBER, "processType": int, "product": TEXT, "stackwalk": int, "version": int,
             "preprocessedProfileVersion": int, "markerSchema": list, "categories": list, "sampleUnits": dict, "symbolicated": bool},
    "lib": {"arch": TEXT, "name": TEXT, "path": TEXT, "debugName": TEXT, "debugPath": TEXT, "breakpadId": TEXT, "codeId": (TEXT, NONE)},
    "thread": {"processType": TEXT, "processStartupTime": NUMBER, "processShutdownTime": (*NUMBER, NONE), "registerTime": NUMBER,
               "unregisterTime": (*NUMBER, NONE), "pausedRanges": list, "name": TEXT, "isMainThread": bool, "pid": TEXT, "tid": (int, TEXT),
               "samples": dict, "markers": dict, "stackTable": dict, "frameTable": dict, "funcTable": dict, "resourceTable": dict, "nativeSymbols": dict},
    "schema": {"name": TEXT, "display": list, "fields": list},
    "field": {"key": TEXT, "format": TEXT},
}
FIREFOX_COLORS = set("transparent purple green orange yellow lightblue blue brown magenta red lightred darkgrey grey".split())
FIREFOX_FORMATS = set("url file-path sanitized-string string unique-string flow-id terminating-flow-id duration time seconds milliseconds microseconds "
                      "nanoseconds bytes percentage integer decimal hex pid tid list".split())
FIREFOX_PLACES = set("marker-chart marker-table timeline-overview timeline-memory timeline-ipc timeline-fileio stack-chart".split())


def firefox_types(f):
    bad = []

    def fits(kind, x):
        for key, want in FIREFOX_FIELDS[kind].items():
            if key not in x or not isinstance(x[key], want):
                bad.append(f"{kind}.{key}")

    fits("profile", f)
    fits("meta", f["meta"])
    for kind, found in (("lib", f["libs"]), ("thread", f["threads"]), ("schema", f["meta"]["markerSchema"])):
        for x in found:
            fits(kind, x)
    for s in f["meta"]["markerSchema"]:
        for x in s["fields"]:
            fits("field", x)
            if x["format"] not in FIREFOX_FORMATS:
                bad.append(f"format {x['format']}")
        if not set(s["display"]) <= FIREFOX_PLACES:
            bad.append(f"display {s['display']}")
    if not {c["color"] for c in f["meta"]["categories"]} <= FIREFOX_COLORS:
        bad.append("colours")
    return bad


def firefox_faults(f):
    """What is wrong with a processed profile, as far as its types and its tables can tell."""
    bad = firefox_types(f)
    strings, libs, cats = f["shared"]["stringArray"], f["libs"], f["meta"]["categories"]
    if not any(c["color"] == "grey" for c in cats) or not all(c["subcategories"][0] == "Other" for c in cats):
        bad.append("categories")
    schemas = {s["name"] for s in f["meta"]["markerSchema"]}

    def within(what, values, n, also=()):
        if not all(v in also or (isinstance(v, int) and 0 <= v < n) for v in values):
            bad.append(f"{what} refers to nothing")

    for t in f["threads"]:
        for table, columns in FIREFOX_COLUMNS.items():
            for c in columns:
                if len(t[table][c]) != t[table]["length"]:
                    bad.append(f"{table}.{c} has another length")
        if not isinstance(t["pid"], str) or not isinstance(t["tid"], int) or not isinstance(t["name"], str):
            bad.append("pid or tid")
        if t["samples"]["weightType"] not in ("samples", "tracing-ms", "bytes"):
            bad.append("weightType")
        st, fr, fu = t["stackTable"], t["frameTable"], t["funcTable"]
        within("samples.stack", t["samples"]["stack"], st["length"], (None,))
        within("stackTable.frame", st["frame"], fr["length"])
        if not all(p is None or 0 <= p < i for i, p in enumerate(st["prefix"])):
            bad.append("a prefix does not stand before its stack")
        within("frameTable.func", fr["func"], fu["length"])
        within("frameTable.category", fr["category"], len(cats))
        within("frameTable.nativeSymbol", fr["nativeSymbol"], t["nativeSymbols"]["length"], (None,))
        if not all(a == -1 or 0 <= a < 1 << 53 for a in fr["address"]):
            bad.append("an address")
        within("funcTable.name", fu["name"], len(strings))
        within("funcTable.fileName", fu["fileName"], len(strings), (None,))
        within("funcTable.resource", fu["resource"], t["resourceTable"]["length"], (-1,))
        within("resourceTable.lib", t["resourceTable"]["lib"], len(libs))
        within("resourceTable.name", t["resourceTable"]["name"], len(strings))
        within("nativeSymbols.libIndex", t["nativeSymbols"]["libIndex"], len(libs))
        within("nativeSymbols.name", t["nativeSymbols"]["name"], len(strings))
        within("markers.name", t["markers"]["name"], len(strings))
        within("markers.category", t["markers"]["category"], len(cats))
        if t["samples"]["time"] != sorted(t["samples"]["time"]) or t["markers"]["startTime"] != sorted(t["markers"]["startTime"]):
            bad.append("times are not in order")
        for d, e, ph in zip(t["markers"]["data"], t["markers"]["endTime"], t["markers"]["phase"]):
            if d["type"] not in schemas or (e is not None) != (ph == 1):
                bad.append(f"marker {d}")
            within("marker's stack", [d.get("cause", {}).get("stack")], st["length"], (None,))
    return sorted(set(bad))


def firefox():
    f = json.loads(export("firefox", ALL, "--no-inline"))
    same("firefox: tables fit together", firefox_faults(f), [])
    same("firefox: version", f["meta"]["preprocessedProfileVersion"], 57)
    want, s, events = truth(), f["shared"]["stringArray"], {}
    for tid, event in (x.split() for x in kymo(f"script -i {ALL} -F tid,event -G").out.splitlines()):
        events.setdefault(int(tid), set()).add(event.rstrip(":"))
    for event in want:
        # a task of which only one event was sampled bears its name alone
        threads = [t for t in f["threads"] if t["name"].endswith(f"({event})") or events[int(t["tid"])] == {event}]
        same(f"firefox: samples of {event}", sum(sum(t["samples"]["weight"]) for t in threads), want[event][0])
    cpu, faults = Counter(), Counter()
    for t in f["threads"]:
        for stack, w in zip(t["samples"]["stack"], t["samples"].get("threadCPUDelta", t["samples"]["weight"])):
            name = s[t["funcTable"]["name"][t["frameTable"]["func"][t["stackTable"]["frame"][stack]]]]
            (cpu if "threadCPUDelta" in t["samples"] else faults)[name] += w
    named("firefox: CPU time of functions is report's", (cpu, want["cpu-clock"][2]))
    check("firefox: one main thread a process", {t["isMainThread"] for t in f["threads"]} == {True, False})


def callgrind():
    text = export("callgrind", ALL, "--no-inline").decode()
    names, own, calls, functions = {}, Counter(), 0, {}
    fn = callee = None
    head, body = text.split("\n\n", 1)
    total = [int(x) for x in re.search(r"^summary: (.*)$", head, re.M).group(1).split()]
    same("callgrind: events", re.search(r"^events: (.*)$", head, re.M).group(1), "cpu_clock page_faults")
    for line in body.splitlines():
        m = re.match(r"^(ob|fl|fn|cob|cfi|cfn)=\((\d+)\)(?: (.*))?$", line)
        if m:
            kind = {"cob": "ob", "cfi": "fl", "cfn": "fn"}.get(m[1], m[1])
            if m[3] is not None:
                check(f"callgrind: {m[0]} is named once", False) if (kind, m[2]) in names else names.__setitem__((kind, m[2]), m[3])
            name = names[kind, m[2]]
            if m[1] == "fn":
                fn, functions[m[2]] = name, name
            elif m[1] == "cfn":
                callee = name
        elif line.startswith("calls="):
            calls += 1
        elif line:
            cost = [int(x) for x in line.split()]
            if len(cost) != 3:
                check("callgrind: a line and two costs", False, line)
                return
            if callee is None:
                own[fn] += cost[1]
            callee = None
    want = truth()
    same("callgrind: the summary is report's sums", total, [want["cpu-clock"][1], want["page-faults"][1]])
    named("callgrind: functions are report's", (own, want["cpu-clock"][2]))
    check("callgrind: calls", calls > 5, calls)
    if not shutil.which("callgrind_annotate"):
        skip("callgrind: callgrind_annotate reads it", "valgrind is not installed")
        return
    with open(f"{DIR}/x.callgrind", "w") as f:
        f.write(text)
    r = run(["callgrind_annotate", "--inclusive=yes", f"{DIR}/x.callgrind"])
    has("callgrind: callgrind_annotate reads it", r.out, f"{want['cpu-clock'][1]:,} (100.0%)", ":main [")


def rows():
    data = export("csv")
    check("csv: lines end in CR LF", data.endswith(b"\r\n") and data.count(b"\r\n") == data.count(b"\n"))
    table = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    script = [json.loads(x) for x in kymo(f"script -i {ALL} -j").out.splitlines()]
    same("csv: a row a sample", len(table), len(script))
    steady = lambda name: "" if name.startswith(("bpf_", "ftrace_trampoline")) else name  # noqa: E731: others load and unload such code meanwhile
    same("csv: as script has them", [(r["time"], r["event"], int(r["tid"]), steady(r["symbol"]), int(r["period"])) for r in table],
         [(f"{x['time'] // 10**9}.{x['time'] % 10**9:09}", x["event"], x["tid"], steady(x.get("sym", "")), x["period"]) for x in script])
    plain = list(csv.DictReader(io.StringIO(export("csv", ALL, "--no-inline").decode(), newline="")))
    check("csv: stacks end in their symbol", all(r["stack"].split(";")[-1] == r["symbol"] for r in plain if r["symbol"]))
    lines = [json.loads(x) for x in export("json").decode().splitlines()]
    samples = [x for x in lines if "event" in x]
    same("json: a line a sample", len(samples), len(script))
    same("json: what script says is there", [{k: v for k, v in x.items() if k in y} for x, y in zip(samples, script)], script)
    check("json: records that are no samples", {"MMAP2", "COMM", "FORK", "EXIT"} <= {x.get("record") for x in lines})
    same("folded: equal to collapse", export("folded").decode(), kymo(f"collapse -i {ALL}").out)
    same("folded: of another event", export("folded", ALL, "-e", "page-faults").decode(),
         kymo(f"collapse -i {ALL} --event-filter page-faults").out)


def again():
    """kymo reads what it wrote as pprof, and finds the same stacks."""
    with open(f"{DIR}/again.pb.gz", "wb") as f:
        f.write(export("pprof", ALL, "-e", "cpu-clock", "--no-inline"))
    folded = {line.split(";", 1)[-1] for line in export("folded", ALL, "-e", "cpu-clock").decode().splitlines()}
    mine = {line.split(";", 1)[-1] if line.startswith("busy;") else line for line in kymo(f"collapse {DIR}/again.pb.gz").out.splitlines()}
    same("pprof: read again, the same stacks", mine, folded)


def cut():
    """Recordings that end early, or are not what they say: a whole file, or a reason and none."""
    whole = open(ALL, "rb").read()
    for n in (8, 104, len(whole) // 3, len(whole) // 2, len(whole) - 9):
        for flip in (None, n // 2):
            data = bytearray(whole[:n])
            if flip:
                data[flip] ^= 0x40
            with open(f"{DIR}/cut.data", "wb") as f:
                f.write(data)
            for to in FORMATS:
                r = subprocess.run([KYMO, "export", "-q", "--to", to, "-i", f"{DIR}/cut.data", "-o", "-"], capture_output=True)
                good = r.returncode in (0, 1) and (r.returncode == 0 or b"kymo export: " in r.stderr)
                if r.returncode == 0 and to in ("speedscope", "firefox", "chrome"):
                    json.loads(r.stdout)
                if not good:
                    check(f"{to} of a recording cut at {n}, {flip}", False, r.stderr.decode(errors="replace"))
    check("recordings that are cut or damaged", True)


def copies():
    """Stacks that were copied are unwound twice, by chunks and in order, and must agree."""
    path = f"{DIR}/dwarf.data"
    run(["perf", "record", "-q", "-B", "--no-bpf-event", "-F", "499", "--call-graph", "dwarf", "-e", "cpu-clock", "-o", path, BUSY, "60"])
    table = list(csv.DictReader(io.StringIO(export("csv", path).decode(), newline="")))
    deep = [r for r in table if "main;work;branch" in r["stack"]]
    check("stack copies: chains in csv", len(deep) > len(table) / 2, table[:2])
    x = [json.loads(r) for r in export("json", path).decode().splitlines()]
    regs = [r for r in x if "user_regs" in r and "user_stack" in r]
    check("stack copies: registers and bytes in json", regs and "SP" in regs[0]["user_regs"] or "sp" in regs[0]["user_regs"])
    same("stack copies: samples", len(table), truth(path)["cpu-clock"][0])


EVIL = b'\xff\xfe"\\\n,;</s>\x1b\t'


def evil():
    """A process whose name is no text."""
    path = f"{DIR}/evil.data"
    code = ("import ctypes,time\nctypes.CDLL(None).prctl(15,%r,0,0,0)\nwhile time.process_time()<0.3: pass" % EVIL)
    run(["perf", "record", "-q", "-B", "--no-bpf-event", "-F", "499", "-g", "-e", "cpu-clock", "-o", path, "/usr/bin/python3", "-c", code])
    name = EVIL.replace(b"\n", b"\\n").decode(errors="replace")  # no name is two lines
    for to in FORMATS:
        data = export(to, path)
        if to in ("speedscope", "firefox", "chrome"):
            f = json.loads(data)
            check(f"{to}: names that are no text", name in json.dumps(f, ensure_ascii=False).replace("\\\\", "\\") or name in str(f) or
                  any(name in str(v) for v in walk(f)), data[:300])
        elif to == "json":
            check("json: names that are no text", any(x["comm"] == name for x in map(json.loads, data.decode().splitlines()) if "comm" in x))
        elif to == "csv":
            table = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
            check("csv: names that are no text", any(r["comm"] == name for r in table) and all(None not in r for r in table))
        elif to == "pprof":
            check("pprof: names that are no text", name in pprof_of(data)["string"])
        elif to in ("callgrind", "perfetto", "folded"):
            check(f"{to}: names that are no text", len(data) > 100)


def walk(x):
    if isinstance(x, dict):
        for v in x.values():
            yield from walk(v)
    elif isinstance(x, list):
        for v in x:
            yield from walk(v)
    else:
        yield x


def filters():
    table = list(csv.DictReader(io.StringIO(export("csv").decode(), newline="")))
    tids = Counter(r["tid"] for r in table)
    one = next(iter(tids))

    def count(*args):
        return export("csv", ALL, *args).count(b"\r\n") - 1

    same("--tid", count("--tid", one), tids[one])
    same("--comm of nobody", count("--comm", "nobody"), 0)
    same("-e", count("-e", "page-faults"), sum(r["event"] == "page-faults" for r in table))
    same("-e with a pattern", count("-e", "page*,cpu-clock"), len(table))
    same("-S", count("-S", "leaf"), sum(r["symbol"] == "leaf" for r in table))
    same("-d", count("-d", "busy"), sum(os.path.basename(r["dso"]) == "busy" for r in table))
    same("the ten tenths together are all", sum(count("--time", f"10%/{i}") for i in range(1, 11)), len(table))
    p = pprof_of(export("pprof", ALL, "-e", "cpu-clock"))
    same("-e: only its values", [p["string"][t["type"]] for t in p["sample_type"]], ["samples", "cpu"])
    same("--max-stack", max(len(s["location"]) for s in pprof_of(export("pprof", ALL, "--max-stack", "3"))["sample"]), 3)
    for to in FORMATS:
        data = export(to, ALL, "--pid", "1", "--time", ",1")
        if to in ("speedscope", "firefox", "chrome"):
            data = json.loads(data)
            if to == "firefox":
                same("firefox: nothing is good, too", firefox_faults(data), [])
        elif to == "pprof":
            same("pprof: nothing is good, too", pprof_of(data)["sample"], [])
    check("nothing at all: every format is whole", True)


def ways():
    """Names of files, pipes, refusals."""
    os.chdir(DIR)
    me = os.path.join(os.path.dirname(DIR), KYMO) if os.path.isabs(KYMO) else KYMO
    names = {}
    for to in FORMATS:
        r = kymo(["export", "--to", to, "-i", ALL])
        m = re.search(r"wrote (\S+): ", r.err)
        names[to] = m and m[1]
        check(f"{to}: says what it wrote", m and os.path.getsize(m[1]) > 20, r)
    same("default names", names, {"folded": "all.folded", "pprof": "all.pb.gz", "speedscope": "all.speedscope.json",
                                  "firefox": "all.firefox.json", "perfetto": "all.pftrace", "chrome": "all.trace.json",
                                  "callgrind": "all.callgrind", "json": "all.jsonl", "csv": "all.csv"})
    r = kymo(f"export -i {ALL} -o other.pb.gz")
    check("the name says the format", r.code == 0 and pprof_of(open("other.pb.gz", "rb").read())["sample"], r)
    has("no format", kymo(f"export -i {ALL}").err, "which format?", "--to takes")
    has("a name that says nothing", kymo(f"export -i {ALL} -o x").err, "does not say which format")
    r = kymo(f"export --to pporf -i {ALL}")
    check("a wrong format: exit 1", r.code == 1)
    has("a wrong format: the nearest", r.err, "no format 'pporf'", "pprof")
    has("no recording", kymo("export --to csv -i none.data").err, "cannot open none.data", "kymo record")
    has("no event of that name", kymo(f"export --to csv -i {ALL} -e cycles").err, "no event 'cycles'", "cpu-clock")
    has("a bad time", kymo(f"export --to csv -i {ALL} --time x").err, "time")
    r = kymo(f"export --to json -i {ALL} -o /dev/full")
    check("a full disk", r.code == 1 and "No space left" in r.err, r)
    r = kymo(f"export --to json -i {ALL} -o {DIR}/none/x.jsonl")
    check("no such folder", r.code == 1 and "cannot write" in r.err, r)
    with open(f"{DIR}/x.folded", "w", encoding="utf-8") as f:
        f.write("main;read 3\n")
    r = kymo(["export", "--to", "pprof", "-i", f"{DIR}/x.folded", "-o", f"{DIR}/folded.pb.gz"])
    check("folded text is a recording, too", r.code == 0 and "3 events" in r.err, r)
    r = run(f"{me} record -q -F 999 -g -o - -- {BUSY} 60 | {me} export --to pprof -o live.pb.gz", shell=True)
    check("a live pipe", r.code == 0 and pprof_of(open("live.pb.gz", "rb").read())["sample"], r)
    r = run(f"{me} export --to json -i {ALL} -o - | head -c 100 >/dev/null", shell=True)
    check("a reader that goes away is no fault", r.err == "", r)
    check("nothing is left behind", not [x for x in os.listdir(".") if re.search(r"\.\w{6}$", x) and "." in x[:-7] and
                                         x.rsplit(".", 1)[0] in names.values()])


KYMO = os.path.abspath(KYMO)
import tap  # noqa: E402

tap.KYMO = KYMO
record()
pprof()
inlines()
speedscope()
firefox()
callgrind()
rows()
again()
cut()
copies()
evil()
filters()
ways()
shutil.rmtree(DIR)
end()
