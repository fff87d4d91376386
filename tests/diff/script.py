#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""script, evlist and buildid-list against perf 6.1, byte for byte, over many kinds of recordings.

Where kymo differs on purpose, the difference is in KNOWN, with its reason.
"""
import concurrent.futures
import difflib
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import perfswap
from tap import KYMO, WORK, check, end, run, skip

# Pairs of lines that may differ: what perf prints, what kymo prints, why. Sorted by reason.
KNOWN = [
    (r" flags=D\|P\|I$", r" flags=[MDPI|]*$", "perf 6.1 takes a & (b | c) in a print format as (a & b) | c"),
    (r"=(655[0-3]\d|6[0-4]\d{3}|5\d{4}|4\d{4}|3[3-9]\d{3}|2[0-4]\d|25[0-5]|1[3-9]\d)\b", r"=-\d+\b",
     "libtraceevent shows negative fields of one or two bytes as positive"),
    (r"\s(\[unknown\]|\S*@plt(\+0x[0-9a-f]+)?)(?= \(|$)", r"\s\S+@plt(\+0x[0-9a-f]+)?(?= \(|$)",
     "perf 6.1 has no names, or wrong ones, for PLT entries of many files"),
    (r"\S+ \(inlined\)$", r"\S+ \(/\S+\)$", "perf 6.1 calls a function inlined whose DWARF name is not its symbol's"),
    (r"\(/\S+\)$", r"\(inlined\)$", "perf 6.1 does not call inlined what was inlined into a function of its own name"),
    (r"\[unknown\] \(\[unknown\]\)$", r"bpf_prog_\w+(\+0x[0-9a-f]+)? \(bpf_prog_\w+\)$",
     "perf 6.1 does not name BPF programs of the other endian's files; others on the machine may run some"),
    (r" \S+ \(/tmp/kymo-[\w-]+/\S+\)$", r" \S+ \(/tmp/kymo-[\w-]+/\S+\)$",
     "programs of other tests, which -a sees, vanish between two readings"),
    (r"^unknown tracepoint:", r"^[a-z_]+:[a-z_]+:", "perf 6.1 does not look for the names in a pipe's formats"),
    (r"/tmp/perf-vdso\.so-\w+$", r"\[vdso\]$", "perf names the copy of the vDSO that it takes when a sample fell there"),
    (r"^# Tip: use 'perf evlist", r"^# Tip: use 'kymo evlist", "the tip names the program"),
]
CRASHED = "perf crashed, six times"
DIR = tempfile.mkdtemp(prefix="kymo-script-")
BUSY = os.path.abspath(f"{WORK}/busy")
KEEP = "-N"  # nothing into the build-id cache
FAST = f"{KEEP} --no-bpf-event"  # perf takes a second less to start


def perf(args, **kw):
    """perf record crashes in one of seven runs here ("stack smashing detected") and leaves half a file."""
    for _ in range(8):
        r = run(["perf", *shlex.split(args)], timeout=60, **kw)
        if r.code >= 0 and r.code < 128:
            break
    return r


def bytes_of(argv, stdin=None):
    for i in range(6):  # perf 6.1 crashes over what happens to lie on its stack: then try again with another one
        env = {**os.environ, "PAD": "x" * i * 37}
        with open(stdin or os.devnull, "rb") as f:
            r = subprocess.run(argv, stdin=f, capture_output=True, timeout=120, env=env)
        if r.returncode >= 0 or argv[0] != "perf":
            break
    err = r.stderr.decode(errors="replace")
    return r.stdout.decode(errors="replace"), CRASHED if r.returncode < 0 and argv[0] == "perf" else err


def is_known(a, b):
    return any(re.search(p, a) and re.search(k, b) and re.sub(p, "", a) == re.sub(k, "", b) for p, k, _ in KNOWN)


def time_of(line):
    m = re.search(r"\s(\d+\.\d{6,9}): ", line)
    return float(m[1]) if m else None


def only_order(want, got):
    """The same lines, and perf shows some late: one whose round had been flushed already."""
    times = [t for t in map(time_of, want) if t is not None]
    ours = [t for t in map(time_of, got) if t is not None]
    return sorted(want) == sorted(got) and times != sorted(times) and ours == sorted(ours)


def only_ties(want, got):
    """The same lines, and only events of one and the same nanosecond on two CPUs are swapped."""
    times = [[m[1] for m in map(re.compile(r"^-?\d+ (\d+) 0x[0-9a-f]+ \[").match, lines) if m] for lines in (want, got)]
    return sorted(want) == sorted(got) and times[0] != [] and times[0] == times[1]


def whole(text):
    """Where a copy of a stack ended, perf 6.1 shows one frame more, whose address is what it failed to read, less 1."""
    return re.sub(r"^\t *ffffffffffffffff \[unknown\] \(\[unknown\]\)\n", "", text, flags=re.M)


def as_it_stands(text):
    """In the order of the file, perf meets samples before their task's name and mappings, which kymo knows: what is left without."""
    return re.sub(r"^ *\S+ +(?=\d+ +\d+\.\d+: )|(?<=  )([0-9a-f]{6,}) .*$", r"\1", text, flags=re.M)


def compare(name, want, got):
    want = whole(want)
    if "--dump-unsorted" in name:  # what names it has of tasks and code depends on what it has met so far, too
        want, got = ("".join(re.findall(r"^(?:0x|\.|-?\d+ ).*\n", x, flags=re.M)) for x in (want, got))
    if "--show-round-events" in name:
        want, got = as_it_stands(want), as_it_stands(got)
    if want == got:
        return check(name, want != "" or "--time" in name, "both printed nothing")
    want, got = want.splitlines(), got.splitlines()
    if len(want) == len(got):
        bad = [(a, b) for a, b in zip(want, got) if a != b and not is_known(a, b)]
        if not bad or only_order(want, got) or only_ties(want, got):
            return check(name, True)
        return check(name, False, f"{len(bad)} of {len(want)} lines differ\n" +
                     "\n".join(f"perf: {a}\nkymo: {b}" for a, b in bad[:5]))
    diff = [x for x in difflib.unified_diff(want[:3000], got[:3000], "perf", "kymo", lineterm="", n=1)]
    return check(name, False, f"{len(want)} lines of perf, {len(got)} of kymo\n" + "\n".join(diff[:20]))


POOL = concurrent.futures.ThreadPoolExecutor(3)
jobs = []


def later(name, want, got, stdin=None):
    """Run both commands while the next recording is made; settle() compares."""
    jobs.append((name, POOL.submit(bytes_of, want, stdin), POOL.submit(bytes_of, got, stdin)))


def without_programs(text):
    """perf takes BPF programs of a recording apart in its header; kymo only counts them up. Among files perf lists some only."""
    return re.sub(r"^(# (bpf_prog_info|\tsub_prog) .*| +bpf_prog_\w+)\n", "", text, flags=re.M)


def both(name, command, path, options="", stdin=False):
    tail = [*command.split(), "-i", "-" if stdin else path, *shlex.split(options)]
    later(f"{name}: {command} {options}{' < file' if stdin else ''}", ["perf", *tail], [KYMO, *tail],
          path if stdin else None)


def settle():
    for name, want, got in jobs:
        text, err = got.result()
        theirs, perf_err = want.result()
        if perf_err == CRASHED:
            skip(name, CRASHED)
            continue
        if not compare(name, without_programs(theirs), without_programs(text)):
            print(f"# perf says: {perf_err[:500]}\n# kymo says: {err[:500]}".replace("\n", "\n# "))
    jobs.clear()


RECORDINGS = [  # name, options of perf record, command, further options of script to try
    ("plain", f"{FAST} -F 2000", f"{BUSY} 60", ["--ns", "--reltime", "--deltatime", "-F +misc", "-L", "--header",
                                                          "--dump-unsorted-raw-trace"]),
    ("call chains", f"{FAST} -g -F 2000", f"{BUSY} 60",
     ["-G", "--max-stack 3", "-F comm,tid,pid,time,event,ip,sym,dso", "-F ip,sym,symoff", "-F -dso,-time",
      "--time 10%-20%", "--time 10%/2", "--time 10%/1,10%/3", "--stop-bt main", "-D"]),
    ("call chains by fp", f"{FAST} --call-graph fp -F 2000", f"{BUSY} 40 threads=2", ["--show-task-events"]),
    ("call chains by dwarf", f"{FAST} --call-graph dwarf -F 1000", f"{BUSY} 60", ["--no-inline", "-G"]),
    ("many events", f"{FAST} -e cpu-clock,page-faults,context-switches,task-clock:u", f"{BUSY} 60",
     ["-F sw:comm,ip,sym", "-F hw:comm -F sw:comm,ip,sym -F trace:trace", "-D"]),
    ("group, leader sampling", f"{FAST} -e '{{cpu-clock,page-faults,context-switches}}:S' -a", f"{BUSY} 60", ["-D"]),
    ("group", f"{FAST} -e '{{cpu-clock,task-clock}}'", f"{BUSY} 60", []),
    ("frequency and period", f"{FAST} -e cpu-clock/freq=5000/ -e page-faults/period=7/", f"{BUSY} 60", []),
    ("period 1", f"{FAST} -c 1 -e page-faults", f"{BUSY} 30", []),
    ("sched:*", f"{FAST} -e 'sched:*' -a", f"{BUSY} 40 children=3", ["-F +pid", "-F trace:comm,trace", "-D"]),
    ("sched_switch with chains", f"{FAST} -g -e sched:sched_switch -a", f"{BUSY} 40 children=3", ["-G"]),
    ("raw_syscalls", f"{FAST} -e 'raw_syscalls:*'", "ls /", []),
    ("syscalls:*", f"{FAST} -e 'syscalls:sys_enter_*'", "ls /", []),
    ("kmem and block", f"{FAST} -R -e 'kmem:*,block:*,irq:*,timer:*'", "ls /", []),
    ("compressed", f"{KEEP} -z -a -g", f"{BUSY} 80 threads=1", ["-D"]),
    ("data addresses", f"{FAST} -d -c 1 -e page-faults", f"{BUSY} 20",
     ["-F +addr", "-F +data_src", "--show-mmap-events"]),
    ("weights", f"{FAST} -W -d -e cpu-clock,page-faults", f"{BUSY} 40", ["-F +weight,+ins_lat", "-D"]),
    ("physical addresses", f"{FAST} -d --phys-data -c 1 -e page-faults", f"{BUSY} 20", ["-F +phys_addr"]),
    ("page sizes", f"{FAST} -d --data-page-size --code-page-size -c 1 -e page-faults", f"{BUSY} 20",
     ["-F +data_page_size,+code_page_size"]),
    ("per thread counts", f"{FAST} -s -T", f"{BUSY} 40 threads=2", ["-D"]),
    ("registers", f"{FAST} -I -g", f"{BUSY} 20", ["-F +iregs", "-D"]),
    ("user registers", f"{FAST} --user-regs=ip,sp,bp,ax", f"{BUSY} 20", ["-F +uregs"]),
    ("all CPUs", f"{FAST} -a -F 500", f"{BUSY} 50 children=4 exec", ["-C 0", "-F +cpu"]),
    ("one CPU", f"{FAST} -C 0", f"{BUSY} 50", []),
    ("switch events", f"{FAST} --switch-events -a", f"{BUSY} 40", ["--show-switch-events", "--show-task-events"]),
    ("switch events of a task", f"{FAST} --switch-events", f"{BUSY} 40 threads=2", ["--show-switch-events", "--show-round-events"]),
    ("clock", f"{FAST} -k mono", f"{BUSY} 30", ["-F +tod", "-F +tod --ns", "--header"]),
    ("size limit", f"{FAST} -F 10000 -g --max-size=200K", f"{BUSY} 200", []),
    ("no inheritance", f"{FAST} --no-inherit", f"{BUSY} 40 children=2", []),
    ("namespaces", f"{FAST} --namespaces", f"{BUSY} 30 children=2", ["--show-namespace-events"]),
    ("namespaces of all", f"{FAST} --namespaces -a -e cpu-clock:k", f"{BUSY} 30 children=2", ["--show-namespace-events"]),
    ("control groups", f"{FAST} --all-cgroups -a", f"{BUSY} 30", ["--show-cgroup-events"]),
    ("build-ids in mappings", f"{FAST} --buildid-mmap -g", f"{BUSY} 30", ["--show-mmap-events"]),
    ("directory", f"{FAST} --threads -a", f"{BUSY} 60 threads=1", ["-D"]),
    ("gates", f"{FAST} -e cpu-clock/period=20000/,syscalls:sys_enter_read,syscalls:sys_exit_read",
     "dd if=/dev/zero of=/dev/null bs=4M count=20 status=none",
     ["--switch-on syscalls:sys_enter_read", "--switch-on syscalls:sys_enter_read --switch-off syscalls:sys_exit_read",
      "--switch-on syscalls:sys_enter_read --switch-off syscalls:sys_exit_read --show-on-off-events"]),
    ("breakpoint", f"{FAST} -e mem:0x1000:rw -e cpu-clock", f"{BUSY} 30", []),
    ("forks", f"{FAST} -g -F 5000", f"{BUSY} 60 children=6", ["--show-task-events --show-mmap-events"]),
    ("execs", f"{FAST} -g -F 10000", f"{BUSY} 60 children=12 exec", ["--show-task-events --show-mmap-events"]),
    ("shell", f"{FAST} -g -F 10000", "sh -c 'for i in 1 2 3 4 5 6 7 8 9; do /bin/true; ls / >/dev/null; done'", []),
    ("code without a file", f"{FAST} -F 5000", f"{BUSY} 20 jit", ["--show-mmap-events"]),
    ("flight recorder", f"{FAST} --overwrite -a", f"{BUSY} 30", []),
    ("BPF programs seen", f"{KEEP} -a -e cpu-clock", f"{BUSY} 30", ["--show-bpf-events"]),
    ("branches", f"{FAST} -j any", "true", []),
]


def record(i, name, options, command):
    path = f"{DIR}/{i}.data"
    for more in ("", "-B", "-B"):  # perf record itself fails now and then while it collects build-ids
        r = perf(f"record -q -o {path} {options} {more} -- {command}", cwd=DIR)
        if r.code == 0:
            break
    if r.code or not os.path.exists(path) or (os.path.isfile(path) and os.path.getsize(path) < 200):
        skip(f"{name}: record", f"perf refused: {(r.err.strip().splitlines() or ['no reason given'])[0][:80]}")
        return None
    return path


SPIN = "i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done"
COPIES = [  # name, options of perf record, command, what script is asked for
    ("copied stacks of dash", "--call-graph dwarf", ["dash", "-c", SPIN], ["", "--no-inline"]),
    ("large copies of perl", "--call-graph dwarf,65528",
     ["perl", "-e", "for my $i (1..30000) { $h{$i%97} .= 'x' if $i =~ /7/ }"], ["", "--no-inline", "--max-stack 4"]),
    ("copied stacks after exec", "--call-graph dwarf", ["sh", "-c", f"dash -c '{SPIN}'; exec dash -c '{SPIN}'"], ["--no-inline"]),
]


def samples(text):
    out = []
    for line in text.splitlines():
        if line.startswith("\t"):
            out[-1][1].append(line)
        elif line:
            out.append((line, []))
    return out


def innermost(sample):
    """Of the program, not of the kernel."""
    return next((x for x in sample[1] if not x.startswith("\tffffffff")), None)


def copied_stacks():
    """perf 6.1 keeps the mappings from before an exec, and takes the lowest one of a file for where it is: in what both
    programs have mapped it then finds no unwinding rules, guesses by frame pointers, and stops or shows frames in data.
    So only where each sample begins is compared then; what follows must be code, down to where programs start."""
    for name, options, command, asked in COPIES:
        path = f"{DIR}/{name.replace(' ', '-')}.data"
        perf(f"record -q {FAST} -B -e cpu-clock -F 999 {options} -o {path} -- {shlex.join(command)}")
        for o in asked:
            if "exec" not in name:
                both(name, "script", path, o)
                continue
            texts = [bytes_of([tool, "script", "-i", path, *o.split()]) for tool in ("perf", KYMO)]
            if texts[0][1] == CRASHED:
                skip(name, CRASHED)
                continue
            want, got = (samples(whole(x[0])) for x in texts)
            heads = [[x[0] for x in both_] for both_ in (want, got)]
            check(f"{name}: script {o}: the same samples", want and heads[0] == heads[1], f"{len(want)} {len(got)}")
            bad = [(w, g) for w, g in zip(want, got) if innermost(w) not in (None, innermost(g))]  # None: within execve()
            check(f"{name}: script {o}: each begins as perf's", not bad, bad[:1])
            bad = [g for g in got for x in g[1] if re.search(r"\((\[stack\]|\[heap\]|//anon|\[unknown\])\)$", x)]
            check(f"{name}: script {o}: and goes on in code", not bad, bad[:1])
            bottom = [g for g in got if any("__libc_start_main" in x for x in g[1])]
            check(f"{name}: script {o}: most of them to the bottom", len(bottom) * 2 > len(got), got[:2])


def number(name):
    return next(i for i, r in enumerate(RECORDINGS) if r[0] == name)


def made_with_options():
    for i, (name, options, command, more) in enumerate(RECORDINGS):
        path = record(i, name, options, command)
        if not path:
            continue
        both(name, "script", path)
        for o in more:
            both(name, "script", path, o)
        for o in ("evlist", "evlist -v"):
            both(name, o, path)
        both(name, "buildid-list", path)
    rounds = f"{DIR}/{number('switch events of a task')}.data"
    if os.path.exists(rounds):
        texts = [sorted(bytes_of([KYMO, "script", *o, "-i", rounds])[0].splitlines()) for o in ([], ["--show-round-events"])]
        check("names are the same in the order of the file", texts[0] == [x for x in texts[1] if x != "PERF_RECORD_FINISHED_ROUND"],
              "\n".join(difflib.unified_diff(*texts, lineterm="", n=0)))
    for name, command in (("many events", "evlist -F"), ("group", "evlist -g"), ("sched:*", "evlist --trace-fields"),
                          ("group, leader sampling", "evlist -g"), ("all CPUs", "buildid-list -H")):
        both(name, command, f"{DIR}/{number(name)}.data")
    for i in map(number, ("plain", "group, leader sampling", "compressed", "clock", "directory")):
        later(f"{RECORDINGS[i][0]}: the whole header", ["perf", "report", "--header-only", "-I", "-i", f"{DIR}/{i}.data"],
              [KYMO, "script", "--header-only", "-I", "-i", f"{DIR}/{i}.data"])


def pipes():
    # perf reads a saved stream only from stdin with all its features, so that is what is compared
    for name, options in (("pipe", "-g"), ("pipe of tracepoints", "-e sched:sched_switch,raw_syscalls:sys_enter"),
                          ("pipe of a group", "-e '{cpu-clock,page-faults}:S'")):
        path = f"{DIR}/{name.replace(' ', '-')}.data"
        subprocess.run(f"perf record -q {FAST} {options} -a -o - -- {BUSY} 50 >{path} 2>/dev/null", shell=True)
        both(name, "script", path)
        both(name, "script", path, stdin=True)
        both(name, "evlist -v", path)


def attached():
    child = subprocess.Popen([BUSY, "30000"])
    perf(f"record -q -B {FAST} -p {child.pid} -o {DIR}/pid.data -g -- sleep 0.3")
    perf(f"record -q -B {FAST} -t {child.pid} -o {DIR}/tid.data -- sleep 0.3")
    child.kill()
    child.wait()
    both("a running process", "script", f"{DIR}/pid.data")
    both("a running process", "script", f"{DIR}/pid.data", f"--pid {child.pid}")
    both("a running thread", "script", f"{DIR}/tid.data")


def tail_synthesis():
    """Tasks that ran before are described at the end of the file: perf knows them too late, kymo does not."""
    perf(f"record -q -B {FAST} --tail-synthesize -a -o {DIR}/tail.data -- {BUSY} 30")
    nameless = [sum(x.strip().startswith(":") for x in bytes_of([*tool, "script", "-F", "comm", "-i", f"{DIR}/tail.data"])[0]
                    .splitlines()) for tool in (["perf"], [KYMO])]
    check("tail synthesis: more tasks have names than with perf", nameless[1] <= nameless[0], nameless)


def rotated():
    for ms in (400, 800, 1600, 3200):  # on a busy machine it has fewer samples in that time
        perf(f"record -q -B {FAST} -g -F 10000 --switch-output=100K -o {DIR}/rot.data -- {BUSY} {ms}")
        parts = sorted((f for f in os.listdir(DIR) if f.startswith("rot.data.")), key=lambda f: -os.path.getsize(f"{DIR}/{f}"))
        if len(parts) > 1:
            break
    check("--switch-output made several files", len(parts) > 1, parts)
    for f in [f for f in parts if count_samples(f"{DIR}/{f}")][:2]:
        both("part of a rotated recording", "script", f"{DIR}/{f}")


def count_samples(path):
    """Whole sample records from where the data begins to the end of the file."""
    d = open(path, "rb").read()
    p, n = struct.unpack_from("<Q", d, 40)[0], 0
    while p + 8 <= len(d):
        kind, _, size = struct.unpack_from("<IHH", d, p)
        if size < 8 or p + size > len(d):
            break
        n += kind == 9
        p += size
    return n


def killed():
    """kill -9 leaves a file without a size and without features."""
    p = subprocess.Popen(["perf", "record", "-q", *FAST.split(), "-g", "-F", "5000", "-o", f"{DIR}/kill.data", BUSY, "9000"],
                         start_new_session=True)
    for _ in range(90):  # until something was written
        time.sleep(0.1)
        if os.path.exists(f"{DIR}/kill.data") and os.path.getsize(f"{DIR}/kill.data") > 100000:
            break
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    r = run([KYMO, "script", "-i", f"{DIR}/kill.data"])
    check("killed recorder: kymo says so and exits 0", r.code == 0 and "killed" in r.err, r.err)
    samples = count_samples(f"{DIR}/kill.data")
    check(f"killed recorder: all {samples} samples are shown",
          samples > 0 and len(re.findall(r"^busy ", r.out, re.M)) == samples, r.out[:300])


def swapped():
    for i in map(number, ("plain", "call chains", "call chains by dwarf", "many events", "group, leader sampling",
                          "data addresses", "weights", "registers", "switch events", "build-ids in mappings", "forks")):
        name, source, target = RECORDINGS[i][0], f"{DIR}/{i}.data", f"{DIR}/{i}-swapped.data"
        perfswap.swap_file(source, target)
        for command in (["script"], ["evlist", "-v"]):
            later(f"{name}, other endian: {command[0]} as of the original", [KYMO, *command, "-i", source],
                  [KYMO, *command, "-i", target])
        # perf does not unwind these stacks, and takes the mappings' protection bits as they stand
        if "dwarf" not in name and "-a" not in RECORDINGS[i][1].split():
            both(f"{name}, other endian", "script", target)


def flipped():
    """Every byte of the first 4 KiB changed, and every 97th after: an orderly answer each time."""
    tool = os.path.join(os.path.dirname(KYMO), "tests/unit/perfflip")
    for options in ("-g -F 1000 --switch-events -e cpu-clock,page-faults", "-e sched:sched_switch",
                    "-z -g -F 5000", "-e '{cpu-clock,page-faults}:S' -d -W --user-regs=ip,sp"):
        perf(f"record -q -B {FAST} -o {DIR}/small.data {options} -- true")
        r = run([tool, f"{DIR}/small.data", "197"], timeout=120)
        check(f"bytes changed: {options}", r.code == 0, r.text[-2000:])
    subprocess.run(f"perf record -q {FAST} -o - -- true >{DIR}/small.data 2>/dev/null", shell=True)
    r = run([tool, f"{DIR}/small.data", "197"], timeout=120)
    check("bytes changed: pipe", r.code == 0, r.text[-2000:])


if not shutil.which("perf"):
    skip("script against perf", "perf is not installed")
    end()
try:
    made_with_options()
    copied_stacks()
    pipes()
    attached()
    tail_synthesis()
    rotated()
    killed()
    swapped()
    settle()
    flipped()
finally:
    shutil.rmtree(DIR, ignore_errors=True)
end()
