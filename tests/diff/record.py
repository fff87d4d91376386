#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What kymo records is read by perf 6.1 without complaint, and both show the same samples of it."""
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from tap import KYMO, WORK, check, end, kymo, run, same, skip

if not shutil.which("perf"):
    skip("all of it", "there is no perf")
    end()

DIR = tempfile.mkdtemp(prefix="kymo-record-")
os.environ["XDG_CACHE_HOME"] = DIR + "/cache"
BUSY, KNOWN, SHARES = f"{WORK}/busy 100", f"{WORK}/known", f"{WORK}/shares"
PP = "syscalls:sys_enter_getppid"

# What perf says on stderr although all is well: pattern, why.
HARMLESS = [
    (r"^# started on|^\s*$", "not a complaint"),
    (r"addr2line|cmd__addr2line", "perf asks addr2line for inlined functions, which may be slow"),
    (r"To see symbols|kernel\.kptr_restrict|kptr_restrict", "about the machine"),
    (r"^Reading (raw|event)", "progress"),
    (r"^Error:$|no-samples.data data has no samples!", "and that is so"),
]
# Lines of script that differ: what perf prints, what kymo prints, why.
DIFFER = [
    (r"\s(\[unknown\]|[\w.*]*@plt\+0x[0-9a-f]+) \(", r"\s[\w.*:<>~ ]+(@plt)?\+0x[0-9a-f]+ \(",
     "perf 6.1 has no names, or wrong ones, for PLT entries and some libraries without a symbol table"),
    (r"\s_init\+0x[0-9a-f]+ \(", r"\s[\w.*]+@plt\+0x[0-9a-f]+ \(", "perf 6.1 lets _init reach over the PLT of some programs"),
]


def path(name):
    return f"{DIR}/{name}.data"


def complaints(text):
    return [x for x in text.splitlines() if not any(re.search(p, x) for p, _ in HARMLESS)]


def perf(args, name, **kw):
    return run(["perf", *shlex.split(args), "-i", path(name)], timeout=120, **kw)


def alike(a, b):
    return a == b or any(re.search(p, a) and re.search(k, b) for p, k, _ in DIFFER)


def samples(tool, name, fields):
    r = run([tool, "script", "-i", path(name), "-F", fields], timeout=120)
    # of streams perf prints more than it was asked for: chains
    return r, sorted(" ".join(x.split()) for x in r.out.splitlines() if x.strip() and not x.startswith("\t"))


def rows(text):
    """Rows of report: percentages, samples and the names as far as perf's column is wide."""
    return [" ".join(x.split())[:20] for x in text.splitlines() if re.match(r"\s+[\d.]+%", x)]


# name, options, command, {fields: of script to compare; exact: whole script output must be equal}
LIST = [
    ("plain", "-F 2000", BUSY, {"exact": True}),
    ("fp", "-F 2000 --call-graph fp", f"{SHARES} 300000000", {"exact": True}),
    ("walked", "-F 2000 -g", f"{SHARES} 300000000", {"exact": True}),
    ("dwarf", "-F 500 --call-graph dwarf,4096", f"{SHARES} 300000000", {"unwound": "main"}),
    ("all-cpus", "-F 500 -a", "sleep 0.7", {}),
    ("all-cpus-walked", "-F 500 -a -g", "sleep 0.7", {}),
    ("period", "-e cpu-clock -c 1000000", BUSY, {"exact": True}),
    ("user", "-e cpu-clock:u -F 2000", BUSY, {"exact": True}),
    ("all-user", "--all-user -F 2000", BUSY, {"exact": True}),
    ("tracepoint", f"-e {PP}", f"{KNOWN} getppid=500 threads=2", {"exact": True}),
    ("tracepoints", f"-e sched:sched_switch,{PP},sched:sched_process_exit -a -g", f"{KNOWN} getppid=100 switches=20", {}),
    ("filter", "-e syscalls:sys_enter_umask --filter 'mask == 18'", f"{KNOWN} umask=20", {"exact": True}),
    ("several", f"-e cpu-clock,page-faults,context-switches,{PP}", f"{KNOWN} getppid=50 faults=500 switches=20", {"exact": True}),
    ("group", "-e '{cpu-clock,page-faults}' -F 1000", f"{KNOWN} faults=5000", {"exact": True}),
    ("read", "-e '{cpu-clock,page-faults}:S' -F 1000", f"{KNOWN} faults=20000", {"exact": True}),
    ("data", "-d -F 1000", BUSY, {"exact": True}),
    ("weight", "-W -F 1000", BUSY, {"exact": True}),
    ("raw", "-R -F 1000", BUSY, {"exact": True}),
    ("stat", "-s -F 1000", BUSY, {"exact": True}),
    ("fields", "-P -T --sample-cpu --sample-identifier -F 1000", BUSY, {"exact": True}),
    ("registers", "-I -F 1000", BUSY, {"fields": "comm,tid,time,event,ip,iregs"}),
    ("user-registers", "--user-regs=ax,ip,sp -F 1000", BUSY, {"fields": "comm,tid,time,event,ip,uregs"}),
    ("switches", "--switch-events -F 500", f"sh -c '{KNOWN} switches=50; {BUSY}'", {"exact": True}),
    ("namespaces", "--namespaces -F 500", BUSY, {"exact": True}),
    ("cgroups", "--all-cgroups -a -F 200", "sleep 0.5", {}),
    ("clock", "-k monotonic_raw -F 1000", BUSY, {"exact": True}),
    ("zstd", f"-z -F 2000 -e cpu-clock,{PP}", f"{KNOWN} getppid=5000 faults=5000", {"exact": True}),
    ("pages", "-d --phys-data --data-page-size --code-page-size -F 1000", BUSY, {"exact": True}),
    ("overwrite", "--overwrite -F 1000", BUSY, {"exact": True}),
    ("delay", "-D 30 -F 1000", f"{SHARES} 300000000", {"exact": True}),
    ("ranges", "-D 10-60,80-120 -F 1000", f"{SHARES} 300000000", {"exact": True}),
    ("no-samples", "-n", BUSY, {"empty": True}),
    ("no-inherit", "--no-inherit -F 1000", BUSY, {"exact": True}),
    ("per-thread", "--per-thread -F 1000", BUSY, {"exact": True}),
    ("cpu", "-C 0 -F 500", "sleep 0.5", {}),
    ("terms", "-e cpu-clock/period=1000000,name=mine/,cpu-clock/freq=500,call-graph=fp/", f"{SHARES} 200000000", {"fields": "comm,tid,time,event"}),
    # perf knows the names of tasks only when they come before their samples
    ("tail", "--tail-synthesize -F 500 -a", "sleep 0.5", {"fields": "tid,time,event", "report": None}),
    ("buildid-all", "--buildid-all -F 1000", BUSY, {"exact": True}),
    ("no-buildid", "-B -F 1000", BUSY, {"exact": True}),
    ("no-bpf", "--no-bpf-event -F 1000", BUSY, {"exact": True}),
    ("kernel", "-e cpu-clock:k -F 2000", f"{KNOWN} faults=50000", {"exact": True}),
    ("children", "-F 2000 -g", f"sh -c '{BUSY}; {SHARES} 100000000'", {}),
]


def make(name, options, command):
    return run(f"{KYMO} record -q -o {path(name)} {options} -- {command} >/dev/null", shell=True, timeout=120)


def perf_fails(name):
    """perf 6.1's report writes a flag over its own table of a stream's event numbers, so it dies of 1 number in 256."""
    codes = [perf(x, name).code for x in ("report --stdio -g none", "script")]
    return any(isinstance(c, int) and c < 0 for c in codes)


def record(name, how, says, again):
    """Record, once more with other numbers if perf dies of these."""
    for _ in range(3):
        r = again()
        if r.code or not os.path.exists(path(name)) or not perf_fails(name):
            break
    if check(f"{name}: kymo record {says}", r.code == 0 and os.path.exists(path(name)), r):
        made.append((name, how))


made = []
for name, options, command, how in LIST:
    record(name, how, options, lambda: make(name, options, command))

# --- as a stream, in several files, of a running process ---
for name, options in [("stream", "-F 1000"), ("stream-zstd", "-z -F 1000"), ("stream-tracepoint", f"-e {PP}"), ("stream-walked", "-F 1000 -g")]:
    record(name, {"exact": True, "stream": True}, f"-o - {options}", lambda: run(
        f"{KYMO} record -q -o - {options} -- {KNOWN} getppid=300 faults=30000 > {path(name)}", shell=True, timeout=60))
p = subprocess.Popen([f"{WORK}/spin", "100000000000"])
run(f"{KYMO} record -q -o {DIR}/parts --switch-output=300ms -F 500 -p {p.pid} -- sleep 1", shell=True)
run(f"{KYMO} record -q -o {path('pid')} -F 500 -p {p.pid} -- sleep 0.3", shell=True)
run(f"{KYMO} record -q -o {path('tid')} -F 500 -g -t {p.pid} -- sleep 0.3", shell=True)
p.kill()
p.wait()
parts = sorted(x for x in os.listdir(DIR) if x.startswith("parts."))
check("--switch-output: several files", len(parts) >= 3, parts)
for i, part in enumerate(parts[:3]):
    os.rename(f"{DIR}/{part}", path(f"part{i}"))
    made.append((f"part{i}", {"exact": True}))
made += [("pid", {"exact": True}), ("tid", {"exact": True})]

for name, how in made:
    stream = how.get("stream")
    # report, script, evlist, buildid-list: no complaint
    for command in ("report --stdio -g none", "script", "evlist -v", "buildid-list", "buildid-list --with-hits"):
        if stream and command.startswith("buildid-list"):
            continue
        r = run(f"perf {command} -i - < {path(name)}", shell=True, timeout=60) if stream else perf(command, name)
        check(f"{name}: perf {command}", r.code == 0 and not complaints(r.err), (r.code, r.err[:600]))
    # the same samples
    fields = how.get("fields", "comm,tid,time,event")
    (p_r, want), (k_r, got) = samples("perf", name, fields), samples(KYMO, name, fields)
    if how.get("empty"):
        same(f"{name}: no samples", (want, got), ([], []))
        continue
    check(f"{name}: both show the same {len(got)} samples", want and want == got,
          f"perf's: exit code {p_r.code}, {len(want)} lines, {p_r.err[:300]}; kymo's: {k_r.code}, {len(got)}, {k_r.err[:300]}\n"
          + "\n".join([f"perf alone: {x}" for x in sorted(set(want) - set(got))[:8]] + [f"kymo alone: {x}" for x in sorted(set(got) - set(want))[:8]]))
    if how.get("unwound"):  # inlined functions are told apart otherwise, so only that all frames are there
        depths = [[len([y for y in x.splitlines() if how["unwound"] in y]) for x in r.out.split("\n\n")]
                  for r in (perf("script --no-inline -F ip,sym", name), kymo(f"script --no-inline -F ip,sym -i {path(name)}"))]
        check(f"{name}: perf unwinds as far as we do", sum(depths[1]) > 20 and depths[0] == depths[1], depths)
    if how.get("exact"):
        want, got = perf("script", name).out.splitlines(), kymo(f"script -i {path(name)}").out.splitlines()
        bad = [(a, b) for a, b in zip(want, got) if not alike(a, b)]
        check(f"{name}: script is the same", len(want) == len(got) and not bad,
              f"{len(want)} and {len(got)} lines\n" + "\n".join(f"perf: {a}\nkymo: {b}" for a, b in bad[:5]))
    by = how.get("report", "comm")
    if by:
        theirs = perf(f"report --stdio -g none --no-children -s {by} -n --no-group", name)
        want = rows(theirs.out)
        # what perf shows of the idle loop is left out unless asked for
        got = rows(kymo(f"report --idle -i {path(name)} --stdio -g none --no-children -s {by} -n --no-group").out)
        wide = max((len(x.split(" ", 2)[-1]) for x in want), default=0)  # perf's column is as wide as the names it had seen at first
        cut = [" ".join([*x.split(" ", 2)[:-1], x.split(" ", 2)[-1][:wide]]) for x in got]
        check(f"{name}: report by {by}", sorted(cut) == sorted(want), f"got:  {sorted(cut)}\nwant: {sorted(want)}\nperf: {theirs.code} {theirs.err[:300]}")
    if stream:
        continue  # perf's other commands do not read all of a stream
    want = perf("evlist", name).out
    got = kymo(f"evlist -i {path(name)}").out
    same(f"{name}: the same events", [x for x in got.splitlines() if not x.startswith("#")],
         [x for x in want.splitlines() if not x.startswith("#")])
    # perf sometimes lists the copy of the vDSO that it took
    same(f"{name}: the same build-ids", sorted(kymo(f"buildid-list -i {path(name)}").out.splitlines()),
         sorted(re.sub(r"/tmp/perf-vdso\.so-\w+", "[vdso]", perf("buildid-list", name).out).splitlines()))

# --- size ---
def beside_samples(name):
    """Bytes of a file that are not samples: how many of these come is the machine's mood."""
    with open(path(name), "rb") as f:
        data = f.read()
    at, size = struct.unpack_from("<QQ", data, 40)
    samples, end_of_data = 0, at + size
    while at < end_of_data:
        kind, _, n = struct.unpack_from("<IHH", data, at)
        samples += n * (kind == 9)
        at += n
    return len(data) - samples


for opts, theirs in [("", ""), ("--call-graph fp", "-g")]:
    kymo(f"record -q -F 2000 {opts} -o {path('small')} -- {WORK}/busy 500 threads=2")
    theirs_run = f"perf record -q --no-bpf-event -F 2000 {theirs} -o {path('small-perf')} -- {WORK}/busy 500 threads=2"
    if not any(run(theirs_run).code == 0 for _ in range(4)):  # it crashes over build-ids of some machines' files, now and then
        skip(f"no larger than perf's: {opts or 'plain'}", "perf record failed")
        continue
    sizes = [beside_samples(n) for n in ("small", "small-perf")]
    check(f"no larger than perf's, with the kernel's names in it: {opts or 'plain'}", sizes[0] <= sizes[1], sizes)
# of the machine perf reads the same out of both
MACHINE = r"# (sibling|CPU \d|node\d.*cpu list|pmu map|  L\d|cpu|hostname|os rel|arch|nrcpus|total mem)"
said = [[" ".join(sorted(x.replace(",", " ").split())) for x in perf("report --header-only -I", n).out.splitlines() if re.match(MACHINE, x)]
        for n in ("small", "small-perf")]
if said[1]:
    same("the machine, as perf reads it from kymo's file", said[0], said[1])
else:
    skip("the machine, as perf reads it from kymo's file", "perf record failed")
check("and that is much", len(said[0]) > 12 and any("Core" in x for x in said[0]), said[0])

# --- diff and annotate, headers ---
r = run(f"perf diff {path('plain')} {path('user')}", shell=True)
check("perf diff", r.code == 0 and "%" in r.out and not complaints(r.err), r)
r = perf("annotate --stdio -s fifty", "fp")
check("perf annotate", r.code == 0 and re.search(r"jne|dec|sub", r.out), r.err or r.out[:300])
r = perf("report --header-only", "several")
for part in ("hostname", "os release", "arch", "nrcpus online", "cpudesc", "total memory", "cmdline", "event : name = cpu-clock",
             "CPU_TOPOLOGY", "CACHE", "time of first sample", "sample duration", "pmu mappings"):
    check(f"perf's header: {part}", part in r.out, r.out)
r = perf("report --header-only", "clock")
check("perf's header: clocks", "clockid" in r.out and "reference time" in r.out, r.out)
r = perf("report -T --stdio", "stat")
check("-s: counts of threads", r.code == 0 and re.search(r"#\s*PID\s+TID", r.out), (r.code, r.out[-500:], r.err))
r = run(f"perf inject -b -i {path('plain')} -o {path('injected')} && perf script -i {path('injected')} | wc -l", shell=True)
check("perf inject rewrites it", r.code == 0 and int(r.out.split()[-1]) > 10, r)
r = run(f"perf report --stdio -i {path('plain')} --sort sym --kallsyms /dev/null", shell=True)
check("features perf does not know are passed over", r.code == 0, r)

shutil.rmtree(DIR)
end()
