#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report and diff against perf 6.1 over many kinds of recordings.

Comment lines and blanks at the ends of lines do not count; everything else must be equal: rows, their order, their
shares, the graphs below them. Where kymo differs on purpose, the difference is in KNOWN, with its reason.
"""
import concurrent.futures
import os
import re
import shlex
import shutil
import struct
import subprocess
import tempfile

import perfbranch
from tap import KYMO, WORK, check, end, run, skip

# What may differ, and why. Sorted.
KNOWN = [
    "--children is on for streams too; perf has it off, as it does not know yet that there are chains",
    "a call that is its function's last instruction is named by its function, by perf by the next one (_dl_start_user)",
    "a file's unnamed addresses are one row and one branch wherever the file was mapped; perf shows callers by the address in memory",
    "a function that debug info and symbols call differently is not inlined into itself (__libc_start_main_impl)",
    "branches with equal flags are one row; perf makes two of those that differ in other flags (-s in_tx,abort)",
    "code of the vDSO is named; perf has it only in the cache of build-ids",
    "columns of sums are of the samples that were asked for: perf shows or hides a row by its first sample (-S with --sort comm)",
    "commands that perf cuts to the longest last name of a thread (perf-ex) are shown whole",
    "data of cache lines is named by its symbol; perf 6.1 takes addresses of memory and of files from each other (-s dcacheline)",
    "instructions per cycle (IPC) are not made from branch records: perf 6.1 crashes where it would show them (-b -s symbol)",
    "kernel addresses nobody knows are marked as what they were sampled in; perf marks all unknown callers [k]",
    "lines of inlined code are of the file they stand in (dl-cacheinfo.h:321); perf shows its line in the other file",
    "order of rows and branches with equal sums: perf 6.1 goes by addresses in its own memory, which change from run to run",
    "PLT entries have the function's name; perf has none or a wrong one",
    "shares with --children and keys other than command, thread, CPU, file and symbol: perf counts a sample once a frame (1215%)",
    "source lines of callers are those of the call; perf shows those of the return address",
    "strings in tracepoint fields are shown whole; perf ends them at a blank",
    "tasks nobody saw, but as the parent of another one, are not listed (--tasks)",
    "the column 'Trace output' is the default for tracepoints also beside an event that only tells of tasks (dummy:HG)",
    "the kernel's size (-s dso_size) is that of its mapping in the recording; perf goes to the end of the last symbol it found",
]
assert KNOWN == sorted(KNOWN, key=str.lower)
BESIDE_DUMMY = ("sched_switch", "two tracepoints", "system calls")  # to which perf adds an event that tells of tasks

DIR = tempfile.mkdtemp(prefix="kymo-report-")
os.environ["HOME"] = DIR  # perf keeps copies of files there, and is not robust against what it finds
CALLS = os.path.abspath(f"{WORK}/calls")
# perf takes a second less to start, and does not crash over build-ids; what the loader does first is not recorded,
# as its functions are called differently: see KNOWN
FAST = "--no-bpf-event -B -D 60"
TIMED = "--no-bpf-event -N --timestamp-boundary -D 60"  # when the first and last sample were: not noted with -B


def path(name):
    return f"{DIR}/{name}.data"


def output(argv):
    """perf 6.1 crashes over what happens to lie on its stack: then try again with another one."""
    for i in range(6):
        env = {**os.environ, "PAD": "x" * i * 37}
        r = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=250, env=env)
        if r.returncode >= 0:
            break
    return r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace"), r.returncode


def lines(text):
    """Without comments, blanks at ends, and blank lines at the end."""
    out = [x.rstrip() for x in text.splitlines() if not x.startswith("#")]
    while out and not out[-1]:
        out.pop()
    return out


def level(line):
    """Differences that lie within a line, taken out of both."""
    line = re.sub(r"\b_dl_start_user\b", "_start", line)
    line = line.replace("[...] (inlined)", "[...]")  # perf looks at a symbol it never made
    line = re.sub(r"\S*@plt\b", "@plt", line)
    line = re.sub(r"perf-ex(ec)?\b *", "perf-exec ", line)
    line = re.sub(r"(\[unknown\] +)\[.\]", r"\1[?]", line)
    line = re.sub(r"(\[vdso\] +\[.\]) 0x[0-9a-f]+", r"\1 0x?", line)  # where nothing has a name perf counts from nowhere
    return re.sub(r"(?<=\S)  +", "  ", line)


def blocks(text):
    """Rows with the graphs below them; rows of unnamed addresses left out, and libc's calls of itself, whose
    names perf does not have: all are "@plt" there, in one row or in several."""
    out = []
    for line in text:
        line = level(line)
        if re.search(r"\(inlined\)|__libc_start_main", line):
            continue
        if re.match(r" {0,6}\d+\.\d\d%", line) or not out:
            out.append([])
        out[-1].append(line)
    return ["\n".join(b).rstrip() for b in out if not re.search(r"0x0{4}[0-9a-f]{12}|\[\?\] 0x|libc\.so\.6 +\[\.\] @plt", b[0])]


def shares(block):
    return tuple(re.findall(r"\d+\.\d\d%", block.split("\n")[0])[:1])


def branches(block):
    """A graph whose branches of equal weight stand in any order: its lines as a set."""
    first, *rest = block.split("\n")
    return first, sorted(re.sub(r"^[ |-]*(?=[\d.]+%--)|^[ |-]*", "", x) for x in rest)


def short_words(block):
    return re.sub(r"\S{8,}", lambda m: m[0][:7], block)


def same_rows(want, got):
    a, b = blocks(want), blocks(got)
    if a == b:
        return True
    if [shares(x) for x in a] != [shares(x) for x in b]:
        return False
    if sorted(map(branches, a)) == sorted(map(branches, b)):
        return True
    # commands of others on the machine, which perf may have cut
    return all(len(x) < 400 for x in a) and sorted(map(short_words, a)) == sorted(map(short_words, b))


def compare(name, want, got, err):
    want, got = lines(want), lines(got)
    if want == got:
        return check(name, bool(want), f"both printed nothing; {err}")
    if same_rows(want, got):
        return check(name, True)
    a, b = blocks(want), blocks(got)
    odd = [x for x in a if x not in b][:3], [x for x in b if x not in a][:3]
    return check(name, False, f"perf has {len(a)} rows, kymo {len(b)}; {err}\nonly perf:\n" + "\n".join(odd[0]) +
                 "\nonly kymo:\n" + "\n".join(odd[1]))


POOL = concurrent.futures.ThreadPoolExecutor(2)
jobs = []


def later(name, want, got):
    jobs.append((name, POOL.submit(output, want), POOL.submit(output, got)))


def settle():
    for name, want, got in jobs:
        text, err, _ = got.result()
        theirs, their_err, code = want.result()
        if code < 0:
            skip(name, f"perf: {their_err.strip().splitlines()[-1] if their_err.strip() else code}")
        else:
            compare(name, theirs, text, err + their_err)
    jobs.clear()


def unmark(path):
    """Linux forgets that a mapping's record was marked as one with a build-id for another recorder on the machine,
    and perf dies of what it takes for one."""
    b = bytearray(open(path, "rb").read())
    at, size = struct.unpack_from("<2Q", b, 40)
    end = at + size
    while at + 8 <= end:
        kind, misc, length = struct.unpack_from("<IHH", b, at)
        if kind == 10 and misc & 0x4000:
            struct.pack_into("<H", b, at + 4, misc & ~0x4000)
        at += max(length, 8)
    open(path, "wb").write(b)


def record(name, options, command):
    for i in range(6):
        r = run(["perf", "record", "-o", path(name), *shlex.split(options), "--", *shlex.split(command)], timeout=120,
                env={"PAD": "x" * i * 37})
        if r.code == 0 and "Captured" in r.err and run([KYMO, "script", "-F", "event", "--max-events", "1", "-i", path(name)]).out:
            if "--buildid-mmap" not in options:
                unmark(path(name))
            return True
    skip(f"{name}: record", f"perf: {r.err.strip().splitlines()[-1] if r.err.strip() else r.code}")
    return False


COMMON = ["", "--no-children", "--no-children -g none", "-s sym -g none"]

RECORDINGS = [  # name, options of perf record, command, options of report to try
    ("user", f"{TIMED} -e cpu-clock:u -F 4000 -g", f"{CALLS} tree=190 recurse=80", [
        "-g", "-G", "-g callee", "-g caller,0.5,2", "-g fractal", "-g fractal,5,callee", "-g fractal,1,3,caller,count",
        "-g flat", "-g flat,1,5", "-g folded", "-g folded,0.5,callee,count", "-g graph,2,caller,period", "-g none",
        "--no-children -g caller", "--no-children -g flat", "--no-children -g folded,0,callee,period", "--no-children -G",
        "--max-stack 3", "--max-stack 0", "--max-stack 2 --no-children", "--max-stack 2 -s comm,weight", "--percent-limit 3", "-s dso", "-s comm,dso", "-s pid", "-s dso,sym",
        "-s comm,dso,symbol", "-s +cpu", "-n", "--show-total-period", "-n --show-total-period -g none",
        "--show-cpu-utilization -g none", "-F overhead,sample,comm", "-F comm,sym,overhead -g none", "-F +period",
        "-F overhead_children,overhead,sym", "-t ,", "-t '|' -n --no-children", "-w 9,9,4,20,30 -g none", "-q",
        "--hierarchy", "--hierarchy -g none", "--hierarchy -s '{comm,dso},sym' -g none", "--hierarchy --percent-limit 20",
        "--hierarchy -s dso,sym -n", "-S burn --no-children", "-S burn,leaf_one --no-children --percentage relative",
        "-d calls --no-children", "-d calls,nothing -g none --no-children", "-c calls", "-c nobody,calls -g none",
        "--symbol-filter leaf -g none", "leaf -g none --no-children", "-U", "-s symbol_size -g none --no-children",
        "-s addr --no-children -g none", "-s srcline --no-children -g none -d calls", "-s srcfile --no-children -d calls", "-s time --no-children",
        "--time 10%-40%", "--time 20%/2", "--time 10%/1,10%/4 -g none", "-s parent -p work", "-s sym -p 'caller_[ab]'",
        "-p leaf --no-children -g none", "--no-demangle", "--kallsyms /proc/kallsyms -g none", "-s sym,dso -g none",
        "-s comm,time --time-quantum 10ms --no-children -g none", "--ns -s time --no-children -g none"]),
    ("kernel too", f"{FAST} -F 4000 -g", f"{CALLS} tree=170 recurse=50 faults=300", ["-s dso", "-g caller,3", "--hierarchy"]),
    ("threads", f"{TIMED} -e cpu-clock:u -F 3000 -g", f"{CALLS} tree=150 recurse=40 threads=3 names", [
        "-s comm", "-s pid", "-s comm,pid -g none", "-c worker-1", "-c worker-0,worker-2 --no-children", "-s comm,sym -g none -n"]),
    ("children", f"{TIMED} -e cpu-clock:u -F 3000 -g", f"{CALLS} tree=100 children=4", ["-s pid", "-s pid,sym -g none"]),
    ("no chains", f"{FAST} -F 4000", f"{CALLS} tree=150", ["-s cpu", "-s sym,pid", "-F sample,sym", "-s comm,overhead_children"]),
    ("with CPUs", f"{FAST} -F 4000 --sample-cpu", f"{CALLS} tree=150 threads=2", ["-s cpu", "-s cpu,sym", f"-C 0-{os.cpu_count() - 1}", "-s socket,cpu"]),
    ("the machine", f"{FAST} -F 1000 -a -e cpu-clock:k", f"{CALLS} tree=270 faults=500", ["-s cpu", "-s dso", "-s comm", "-s pid"]),
    ("two events", f"{FAST} -e cpu-clock:u,page-faults:u -g -c 20011", f"{CALLS} tree=130 faults=200", [
        "--group", "--group -n --no-children -g none", "--group --hierarchy -g none", "-s dso"]),
    ("group", f"{FAST} -e '{{cpu-clock:u,page-faults:u}}' -g -c 5003", f"{CALLS} tree=150 faults=200", [
        "--no-group", "--group-sort-idx 1", "-w 10 -n -g none", "--hierarchy -g none", "-n -s sym -g none", "-s dso"]),
    ("group, leader sampling", f"{FAST} -e '{{cpu-clock,task-clock}}:S'", f"{CALLS} tree=190", ["-n", "--no-group"]),
    ("three events", f"{FAST} -e cpu-clock:u -e task-clock:u -e page-faults:u -c 30011", f"{CALLS} tree=130 faults=100",
     ["--group", "--group -s dso"]),
    ("fixed period", f"{FAST} -e page-faults:u -c 1 -g", f"{CALLS} tree=90 faults=300", ["-s dso", "-g flat"]),
    ("addresses", f"{FAST} -e page-faults:u -c 1 -d", f"{CALLS} tree=90 faults=50", [
        "--mem-mode -s mem,sym", "--mem-mode -s locked,tlb,snoop", "-s addr"]),
    ("copied stacks", f"{FAST} -e cpu-clock:u -F 1000 --call-graph dwarf", f"{CALLS} tree=110 recurse=30", []),
    ("copied stacks, kernel too", f"{FAST} -F 2000 --call-graph dwarf,4096", f"{CALLS} tree=130 recurse=30 faults=400", [
        f"--no-inline --max-stack {o}" for o in ("1", "2", "4", "3 -g callee", "2 --no-children", "5 -G", "7 -g flat")]),
    ("weights", f"{FAST} -e cpu-clock:u -W", f"{CALLS} tree=150", ["-s weight", "-s local_weight,sym"]),
    ("sched_switch", f"{FAST} -e sched:sched_switch -a", f"{CALLS} tree=120 threads=3 names", [
        "-s comm,trace", "-s prev_state", "-s next_pid", "-s sched:sched_switch.prev_prio", "-s sched_switch.next_pid/raw",
        "-s comm,prev_state", "--hierarchy -s prev_state,next_prio", "-s common_pid", "-s trace", "--raw-trace -s trace"]),
    ("two tracepoints", f"{FAST} -e sched:sched_wakeup,sched:sched_process_exit -a", f"{CALLS} tree=90 children=3", [
        "-s prio", "-s %2.pid", "-s target_cpu,pid"]),
    ("system calls", f"{FAST} -e syscalls:sys_enter_write,raw_syscalls:sys_enter", f"{CALLS} tree=80 children=2", ["-s id", "-s fd"]),
    ("cgroups", f"{FAST} -e cpu-clock:u --all-cgroups", f"{CALLS} tree=130", ["-s cgroup", "-s cgroup,sym", "-s cgroup_id"]),
    ("namespaces", f"{FAST} -e cpu-clock --namespaces", f"{CALLS} tree=130 faults=50", [
        "-s cgroup_id", "-s overhead_us,overhead_sys", "-s comm,overhead_sys", "-s cgroup_id,comm --show-cpu-utilization"]),
    ("compressed", f"{FAST} -e cpu-clock:u -z -g", f"{CALLS} tree=150", ["-s dso"]),
    ("with threads' counters", f"{FAST} -e cpu-clock:u -s -T", f"{CALLS} tree=130 threads=2", ["-T"]),
    ("build-ids in the maps", f"{FAST} -e cpu-clock:u --buildid-mmap", f"{CALLS} tree=130", []),
    ("a command that is gone at once", "--no-bpf-event -B -e cpu-clock -c 10000", "/bin/true", []),
]
OTHERS = ["--stats", "--tasks", "--header-only"]

DIFFS = ["", "-c delta", "-c ratio", "-c wdiff:1,2", "-p", "-F", "-F -c wdiff:2,3 -p", "-o 0", "-s comm", "-s sym", "-s comm,dso,sym",
         "-t ,", "-t , -c ratio", "-d calls", "-S burn,leaf_one --percentage relative", "-q", "--time 0%-50%", "-s pid"]


def main():
    made = {}
    for name, options, command, more in RECORDINGS:
        if not record(name, options, command):
            continue
        made[name] = True
        # which functions were inlined is told differently (see KNOWN): some are only looked at without them
        plain = more and all("--no-inline" in o for o in more)
        for o in dict.fromkeys(more if plain else COMMON + more):
            if "-g" not in options and "call-graph" not in options and "-g" in shlex.split(o):
                continue
            tail = ["report", "-i", path(name), "--stdio", *shlex.split(o)]
            # which column is the default: see KNOWN
            sort = ["-s", "trace"] if name in BESIDE_DUMMY and not re.search(r"-(s|F)\b|--sort|--fields", o) else []
            idle = ["--idle"] if " -a" in options else []  # perf shows it, kymo when asked
            later(f"{name}: report {o}", ["perf", *tail, *sort], [KYMO, *tail, *idle])
        settle()
    for name in ("user", "threads", "group", "compressed", "sched_switch"):
        for o in OTHERS if name in made else []:
            if o == "--tasks" and name == "sched_switch":
                continue  # processes come and go on the whole machine; see KNOWN
            tail = ["report", "-i", path(name), o]
            want, got = output(["perf", *tail])[0], output([KYMO, *tail])[0]
            check(f"{name}: report {o}", want and want.strip() == got.strip(), f"perf:\n{want}\nkymo:\n{got}")
    comparing(made)
    branch_records()
    names_that_come_late()
    through_a_pipe(made)
    check("at least 20 recordings", len(made) >= 20, len(made))
    shutil.rmtree(DIR)


def comparing(made):
    if not all(x in made for x in ("user", "fixed period", "children")):
        skip("diff", "the recordings could not be made")
        return
    files = [path("user"), path("children"), path("threads")]
    for o in DIFFS:
        for n in (2, 3) if "threads" in made else (2,):
            tail = ["diff", *shlex.split(o), *files[:n]]
            later(f"diff of {n} files {o}", ["perf", *tail], [KYMO, *tail])
    tail = ["diff", "-o", "2", *files]
    later("diff ordered by the second", ["perf", *tail], [KYMO, *tail])
    settle()
    r = run([KYMO, "diff", "-s", "dso,sample", *files[:2]])
    check("diff by a sum is refused", r.code == 1 and "matched by a sum" in r.err and "hint" in r.err, r)
    for width in ("9,x", "-1", "2000"):
        w = run([KYMO, "report", "-i", path("user"), "--stdio", f"-w{width}"])
        check(f"report -w {width} is refused", w.code == 1 and "characters wide" in w.err and "hint" in w.err, w)


def summed(text):
    """Rows with the same words added up."""
    rows = {}
    for line in lines(text):
        m = re.match(r" *([\d.]+)% +(.*)", line)
        if m:
            words = re.sub(r" +", " ", m[2])
            rows[words] = rows.get(words, 0) + float(m[1])
    return rows


def branch_records():
    """This machine's CPU has none, so they are made; the report of them must be perf's all the same."""
    if not record("plain", "--no-bpf-event -B -e cpu-clock:u -F 2000", f"{CALLS} tree=130 recurse=30"):
        return
    perfbranch.add(path("plain"), path("branches"))
    for o in ("-b", "-b -s symbol_from,symbol_to", "-b -s dso_from,dso_to", "-b -s mispredict", "-b -s comm,cycles",
              "-b -s in_tx,abort", "--no-branch-stack"):
        tail = ["report", "-i", path("branches"), "--stdio", *shlex.split(o)]
        want, err, code = output(["perf", *tail])
        if code < 0:
            skip(f"branches: report {o}", f"perf crashed: {err.strip()}")
            continue
        got = output([KYMO, *tail])[0]
        a, b = summed(want), summed(got)
        check(f"branches: report {o}", a and a.keys() == b.keys() and all(abs(a[k] - b[k]) < 0.06 for k in a),
              f"perf: {a}\nkymo: {b}")


def hide_names(source, target, keep):
    """All but the last time that the thread called so in the end was given a name: others get the names."""
    b = bytearray(open(source, "rb").read())
    at, size = struct.unpack_from("<2Q", b, 40)
    end, found = at + size, []
    while at + 8 <= end:
        kind, _, length = struct.unpack_from("<IHH", b, at)
        if kind == 3:
            found.append((at, struct.unpack_from("<i", b, at + 12)[0], bytes(b[at + 16:at + length]).split(b"\0")[0].decode()))
        at += max(length, 8)
    last = [x for x in found if x[2] == keep][-1]
    for x in found:
        if x[1] == last[1] and x != last:
            struct.pack_into("<2i", b, x[0] + 8, 4000001, 4000001)
    open(target, "wb").write(b)


def names_that_come_late():
    """A report names a thread's first samples by what it is called later; script shows them as they come."""
    spin = f"sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; exec {CALLS} tree=90'"
    if not record("late", "--no-bpf-event -B -e cpu-clock:u -F 2000", spin):
        return
    hide_names(path("late"), path("later"), "calls")
    for o in ("-s comm -n", "-s comm,pid", "-s comm,dso,sym", "--hierarchy -s comm,dso"):
        tail = ["report", "-i", path("later"), "--stdio", *shlex.split(o)]
        later(f"names that come late: report {o}", ["perf", *tail], [KYMO, *tail])
    settle()
    tail = ["script", "-i", path("later"), "-F", "comm,tid"]
    want, got = (output([x, *tail])[0] for x in ("perf", KYMO))
    check("names that come late: script", want == got and re.search(r"^ *:\d", got), got[:300])


def through_a_pipe(made):
    if "user" not in made:
        return
    want = output([KYMO, "report", "-i", path("user"), "--stdio"])[0]
    r = subprocess.run(f"perf record {FAST} -e cpu-clock:u -F 2000 -g -o - {CALLS} tree=120 2>/dev/null | tee {DIR}/pipe.data | "
                       f"{KYMO} report -i - --stdio -g none", shell=True, capture_output=True, timeout=60)
    text = r.stdout.decode()
    check("a recording through a pipe", "burn" in text and "leaf_one" in text, text + r.stderr.decode())
    tail = ["report", "-i", f"{DIR}/pipe.data", "--stdio", "--no-children"]
    compare("the same from a file", output(["perf", *tail])[0], output([KYMO, *tail])[0], "")
    check("twice the same", want == output([KYMO, "report", "-i", path("user"), "--stdio"])[0])


try:
    main()
finally:
    shutil.rmtree(DIR, ignore_errors=True)
end()
