#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ftrace and the function tools: exact counts of a program that knows them, bad input, and nothing left behind.

What needs kprobes or the function tracer is tested in the lab (lab/tests/ftrace.sh).
"""
import os
import random
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time

from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip

TRACEFS = "/sys/kernel/tracing"
HERE = os.path.dirname(os.path.abspath(__file__))
DIR = tempfile.mkdtemp(prefix="kymo-ftrace-")
os.chmod(DIR, 0o755)
# under a name of its own: others may run the same program meanwhile
NAME = f"kn{os.getpid()}"
KNOWN = shutil.copy(f"{WORK}/known", f"{DIR}/{NAME}")
KILLS = int(os.environ.get("KYMO_KILLS", "6" if SAN else "12"))  # a soak run sets 100


def text(path):
    try:
        return open(f"{TRACEFS}/{path}", errors="replace").read()
    except OSError as e:
        return str(e)


def left():
    """What a kymo of this test could have left: its instances, probes and journals."""
    mine = [n for n in os.listdir(f"{TRACEFS}/instances") if n.startswith("kymo")]
    probes = [l for l in text("uprobe_events").splitlines() if ":kymo_" in l]
    # other files there are no journals: what kymo found out of this boot's kernel
    journals = [n for n in os.listdir("/run/kymo") if re.match(r"\d|kymo", n)] if os.path.isdir("/run/kymo") else []

    def alive(name):
        m = re.search(r"(\d+)", name)
        return m and os.path.exists(f"/proc/{m[1]}")
    return [x for x in mine + journals if not alive(x)] + [p for p in probes if not alive(p.split(":kymo_")[1].split("/")[0])]


def top():
    """The top instance's settings."""
    files = ["current_tracer", "tracing_on", "trace_clock", "buffer_size_kb", "tracing_cpumask", "trace_options"]
    return [text(f) for f in files]


def wait_for(what, limit=60):
    stop = time.time() + limit
    while time.time() < stop:
        if what():
            return True
        time.sleep(0.05)
    return False


if os.geteuid() != 0 or not os.path.exists(f"{TRACEFS}/current_tracer"):
    kymo("ftrace list -t")  # mounts tracefs when it can
if os.geteuid() != 0 or not os.path.exists(f"{TRACEFS}/instances"):
    skip("all of it", "not root, or no tracefs")
    end()

before = top()
os.chdir(DIR)

# --- a live recording is left alone by who cannot see its process ---
if shutil.which("unshare"):
    p = subprocess.Popen([KYMO, "ftrace", "record", "-q", "-o", "u.dat", "-e", "signal", "sleep", "1000"])
    alive = f"{TRACEFS}/instances/kymo-{p.pid}"
    wait_for(lambda: os.path.exists(f"{alive}/events/signal/enable") and text(f"{alive}/events/signal/enable".removeprefix(TRACEFS + "/")).startswith("1"))
    r = run(["unshare", "--pid", "--fork", "--mount-proc", KYMO, "ftrace", "record", "-q", "-o", "v.dat", "-e", "signal", "true"])
    check("its instance is there after a recording in another namespace of processes", os.path.exists(alive), r)
    p.send_signal(signal.SIGINT)
    same("and it ends well", p.wait(120), 0)

# --- exact counts ---
for options in ["", "--file-version 6", "--compression none", "-B mine"]:
    r = kymo(f"ftrace record -q -o t.dat {options} -e syscalls:sys_enter_getppid -F -- {KNOWN} getppid=1234")
    check(f"record {options} exits 0", r.code == 0, r)
    out = kymo("ftrace report -i t.dat").out
    same(f"record -F {options} sees every call", out.count("sys_enter_getppid:"), 1234)
same("an instance of our own is gone", os.path.exists(f"{TRACEFS}/instances/mine"), False)


def own(options):
    """A trace of all system calls while a program runs: those of the recorder's own threads, and the program's."""
    p = subprocess.Popen([KYMO, "ftrace", "record", "-q", "-o", "o.dat", *options.split(), "-e", "raw_syscalls:sys_enter", "--",
                          "sh", "-c", f"while ! [ -e go ]; do sleep 0.1; done; {KNOWN} getppid=1234; true"])
    tids = set()
    wait_for(lambda: tids.update(os.listdir(f"/proc/{p.pid}/task")) or len(tids) > 1)
    open("go", "w").close()
    p.wait(120)
    os.unlink("go")
    out = kymo("ftrace report o.dat").out
    return [l for l in out.splitlines() if (m := re.match(r" *kymo-(\d+) ", l)) and m[1] in tids], re.findall(rf"^ *{NAME}-.*NR (?:110|173) ", out, re.M)


# kymo's own threads: not in the file, and everybody else's events all are; --no-filter keeps them
for options in ("--file-version 6", "--compression none", ""):
    ours, theirs = own(options)
    same(f"own threads are left out {options}", ours, [])
    same(f"nothing else is {options}", len(theirs), 1234)
check("--no-filter shows them", own("--no-filter")[0])
r = kymo(f"ftrace record -q -o t.dat -e syscalls:sys_enter_getppid -F -c -- {KNOWN} getppid=100 children=3")
same("-c follows children", kymo("ftrace report -i t.dat").out.count("sys_enter_getppid:"), 300)
r = kymo(f"ftrace stream -e syscalls:sys_enter_getppid -F -- {KNOWN} getppid=55")
same("stream shows every call", r.out.count("sys_enter_getppid:"), 55)
same("hist counts by task", len(re.findall(r"\b100  sys_enter_getppid  \(\d+\) ", kymo("ftrace hist t.dat").out)), 3)
has("hist -P counts all", kymo("ftrace hist -P t.dat").out, "100.00%        300  sys_enter_getppid\n")
r = kymo(f"ftrace profile -S -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid -F -- {KNOWN} getppid=77")
check("profile times every call", re.search(r"task: \S+-\d+\n  Event: sys_enter_getppid \(77\) Total: \d+ Avg: ", r.out), r)
kymo(f"ftrace record -q -o p.dat -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid -e sched:sched_switch -F -- {KNOWN} getppid=33")
HOOK = "sys_exit_getppid,common_pid/sys_enter_getppid,common_pid"
r = kymo(f"ftrace report --profile -H {HOOK} -i p.dat")
check("report --profile pairs what -H hooks together", "sys_enter_getppid (33) Total:" in r.out and "sys_exit_getppid (32) Total:" in r.out, r)
r = kymo(f"ftrace report --profile --by-comm -G -H {HOOK},g -i p.dat")
check("globally as well", "global:\n  Event: sys_exit_getppid (32) Total:" in r.out, r)
# names and formats by themselves, pages by themselves
kymo("ftrace restore -q -c -o head.dat")
r = kymo("ftrace report -i head.dat")
check("restore -c: a file without pages", r.code == 0 and r.out.startswith("cpus="), r)
p = subprocess.Popen([KYMO, "ftrace", "record", "-q", "-o", "k9.dat", "-e", "syscalls:sys_enter_getppid"])
for _ in range(100):
    wait_for(lambda: os.path.exists("k9.dat.cpu0"))
    run([KNOWN, "getppid=20000"])
    if any(os.path.getsize(x) for x in os.listdir(".") if x.startswith("k9.dat.cpu")):
        break
p.kill()
p.wait()
pages = sorted(x for x in os.listdir(".") if x.startswith("k9.dat.cpu"))
codes = [kymo(["ftrace", "restore", "-q", *how, *pages]).code for how in (["-o", "k1.dat"], ["-i", "head.dat", "-o", "k2.dat"])]
n = [kymo(f"ftrace report -i {x}").out.count("sys_enter_getppid:") for x in ("k1.dat", "k2.dat")]
check("restore of what a killed recording left: by this kernel, and by a file", codes == [0, 0] and n[0] == n[1] > 100, (codes, n, pages))
r = kymo("ftrace restore -i head.dat")
check("restore from nothing", r.code == 1 and "which files" in r.err, r)
threads = "import threading as t, time; x = [t.Thread(target=time.sleep, args=[.02]) for _ in 'abc']; [y.start() for y in x]"
r = kymo(["ftrace", "record", "-q", "-O", "record-tgid", "-e", "sched:sched_switch", "-F", "-c", "-o", "tg.dat", "python3", "-c", threads])
pairs = set(re.findall(r"(\d+)/(\d+)", kymo("script -i tg.dat -F pid,tid --comms python3").out))
check("record-tgid: threads are of their process",
      r.code == 0 and any(len({t for q, t in pairs if q == p != t}) >= 2 for p, _ in pairs), (r, pairs))
r = kymo("script -i t.dat")
same("script reads trace.dat", r.out.count("syscalls:sys_enter_getppid"), 300)
r = kymo("report -i t.dat --stdio -s comm")
has("report reads trace.dat", r.out, NAME, "syscalls:sys_enter_getppid")
# files of trace-cmd, whose events have no stacks and no addresses, too
with tarfile.open(f"{HERE}/../data/trace.dat/trace-cmd-3.1.tar.xz") as tar:
    tar.extractall(".")
for name, n, event in [("sched7", 67, "sched:sched_stat_runtime"), ("kprobe", 14, "k:op"), ("inst6", 37, "sched:sched_stat_runtime"), ("graph", 63, "ftrace:funcgraph_exit")]:
    r = kymo(f"flame -i {name}.dat --event-filter {event} -o v.svg", timeout=120)
    check(f"{name}: flame", r.code == 0 and f"{n} samples" in r.err, r)
    same(f"{name}: script, report, export, run", [kymo(x, timeout=120).code for x in (
        f"script -i {name}.dat", f"report --stdio -i {name}.dat", f"export -q --to json -i {name}.dat -o v.json",
        ["run", "-q", "-i", f"{name}.dat", "-e", "tracepoint:*:* { @ = count(); }"])], [0, 0, 0, 0])
r = kymo(["heat", "-i", "sched7.dat", "--pair", "sched_wakeup,sched_switch by pid=next_pid", "-o", "v.svg"])
has("heat of a trace.dat", r.err, "26 points")
same("a bare word is a text where one is compared", kymo("ftrace report -i sched7.dat -F sched_switch:next_comm==sh").out,
     kymo(["ftrace", "report", "-i", "sched7.dat", "-F", 'sched_switch:next_comm=="sh"']).out)
whole = kymo("ftrace report -i sched7.dat").out
for name, cmd in [("a pipe, named -", "cat sched7.dat | {} ftrace report -"), ("a pipe", "cat sched7.dat | {} ftrace report"), ("standard input", "{} ftrace report < sched7.dat")]:
    same(f"report reads {name}", run(["sh", "-c", cmd.format(KYMO)]).out, whole)
same("split reads a pipe", run(["sh", "-c", f"cat sched7.dat | {KYMO} ftrace split -i - -e 10 -o part"]).code, 0)
same("of which a part can be read", kymo("ftrace report -i part.1").out.splitlines()[1:], whole.splitlines()[1:11])
r = kymo("ftrace report -i /etc/passwd")
check("report refuses what is no trace.dat", r.code == 1 and "/etc/passwd" in r.err, r)
r = kymo("ftrace report -i sched7.dat --ts-offset -5106285000 --ts-diff -i sched6.dat")
same("times before the start of a file that was moved back", re.findall(r"\] +(-?\d+\.\d+): (\(\S+\))? +sched_[sm]", r.out)[:3],
     [("-0.000385", ""), ("-0.000005", "(+380)"), ("0.000212", "(+217)")])
kymo(f"ftrace record -q -a --ts-offset 5000000000000 -e syscalls:sys_enter_getppid -o off.dat -F {KNOWN} getppid=9")
kymo("ftrace convert -q --file-version 6 -i off.dat -o off6.dat")
with_it = re.findall(r"\] +(\d+)\.", kymo("ftrace report off.dat").out)
same("record --ts-offset is in the file, and in what is made of it", kymo("ftrace report off.dat").out, kymo("ftrace report off6.dat").out)
stamp = int(re.search(r"\] *(\d+): ", kymo("ftrace report --raw-ts off.dat").out)[1])
check("5000 s later", int(with_it[0]) == (stamp + 5000000000000 + 500) // 1000000000, (with_it, stamp))
check("record -a: formats of all events", kymo("ftrace report -E -i off.dat").out.count("\n") > 100)
r = kymo("ftrace split -i t.dat -e 100 -r")
same("split makes three files", r.err.count("with 100 events"), 3)
parts = sum(kymo(f"ftrace report -i t.dat.{i}").out.count("sys_enter_getppid:") for i in (1, 2, 3))
same("with all events in them", parts, 300)
r = kymo("ftrace split -i t.dat -o each -e 10 -c")
n = kymo("ftrace report -i each.1").out.count("sys_enter_getppid:")
check("split -c takes so many of each CPU", 10 <= n <= 10 * (os.cpu_count() or 1), r)
r = kymo(f"ftrace record -q -m 16 -o m.dat -e syscalls -F -- {KNOWN} getppid=20000", timeout=120)
out = kymo("ftrace report -i m.dat").out
check("-m keeps the newest events only", 0 < out.count("sys_enter_getppid:") < 20000 and "sys_enter_exit_group" in out, out[-500:])

# --- what trace-cmd's users are used to ---
r = kymo(f"ftrace record -q --tsc2nsec -e syscalls:sys_enter_getppid -F -o tsc.dat -- {KNOWN} getppid=4")
if "does not say how fast" in r.err:
    has("--tsc2nsec: what to do where cycles are no clock", r.err, "hint: ", "-C mono")
else:
    before, after = (float(re.search(r"\] +([0-9.]+): ", kymo(f"ftrace report -i {f}").out)[1]) for f in ("t.dat", "tsc.dat"))
    check("--tsc2nsec: seconds of the kernel's clock", before < after < before + 3600, (before, after))
same("--tsc2nsec is for one clock", kymo("ftrace record -q --tsc2nsec -C mono -e sched -o no.dat true").code, 1)
r = kymo(["ftrace", "record", "-q", "-o", "u.dat", "--user", "nobody", "-F", "-e", "syscalls:sys_enter_getppid", "--", "sh", "-c", f"id -u; {KNOWN} getppid=3"])
same("--user: who runs it", (r.code, r.out.split()[:1]), (0, ["65534"]))
r = kymo(f"ftrace record -q -o f.dat -e syscalls:sys_enter_getppid -e sched -f prev_pid>0 -f next_pid>0 -F -- {KNOWN} getppid=5")
for bad, why in (("(prev_pid == 1", "Too many '('"), ("prev_pid == 1)", "Too few '('"), ("$prev_pid == 1", "does not take this filter")):
    bad = kymo(["ftrace", "record", "-q", "-o", "bad.dat", "-e", "sched:sched_switch", "-f", bad, "true"])
    check(f"a filter that is wrong: {why}", bad.code == 1 and why in bad.err and "permitted" not in bad.err, bad)
check("a filter for those events of a system that have the fields", r.code == 0, r)
r = kymo(f"ftrace record -o f.dat -e sched -f prev_pid>0 {KNOWN} getppid=1")
has("the others are named", r.err, "events of 'sched' cannot have this filter", "traced without")
r = kymo(f"ftrace record -q -o f.dat -e sched:sched_switch -f next_pid==0 -f next_pid!=0 {KNOWN} switches=9")
same("several filters: all must hold", kymo("ftrace report -i f.dat").out.count("sched_switch:"), 0)
r = kymo(f"ftrace record -q -o f.dat -e syscalls:sys_enter_getppid -R stacktrace:1 -R enable_event:sched:sched_process_exit:1 -F -- {KNOWN} getppid=9")
out = kymo("ftrace report -i f.dat").out
same("several triggers", [out.count(f"{x}:") for x in ("kernel_stack", "sys_enter_getppid", "sched_process_exit")], [1, 9, 1])
r = kymo(f"ftrace record -q -o f.dat -B first -e syscalls:sys_enter_getppid -B second -e sched:sched_process_exit -F -- {KNOWN} getppid=6")
out = kymo("ftrace report -i f.dat").out
same("the first instance has its name, too", (len(re.findall(r"^ *first: .*sys_enter_getppid:", out, re.M)), len(re.findall(r"^ *second: ", out, re.M))), (6, 1))
has("and what the kernel counted in each", kymo("ftrace report -i f.dat --stat").out, "Buffer: first", "Buffer: second")
check("report -L -V5 --verbose=none", kymo("ftrace report -L -V5 --verbose=none -i f.dat").code == 0)
has("list -C marks the clock", kymo("ftrace list -C").out, "[")
has("list -F", kymo("ftrace list -F sched:sched_switch").out, "system: sched\nname: sched_switch\n")

# --- mem and hist read any recording ---
r = kymo(f"record -q -e kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free -o kmem.data -- {KNOWN} getppid=3")
if r.code:
    skip("ftrace mem of a perf.data", r.err.strip())
else:
    mem = kymo("ftrace mem kmem.data")
    rows = re.findall(rf"^{NAME} +\d+ +(\d+) ", mem.out, re.M)
    times = len(re.findall(r" kmem:(?:kmalloc|kmem_cache_alloc): ", kymo("script -i kmem.data").out))
    check("ftrace mem reads a perf.data: every allocation is counted", mem.code == 0 and times and sum(map(int, rows)) == times, (times, mem))
    has("ftrace hist, too", kymo("ftrace hist -P kmem.data").out, "kmem_cache_alloc")
    kymo(f"record -q -e page-faults -o faults.data -- {KNOWN} getppid=3")
    has("a recording without allocations is told", kymo("ftrace mem faults.data").err, "needs kmem:kmalloc")

# --- perf ftrace's words ---
same("ftrace trace: a tracer, a command, its exit code", kymo("ftrace trace -t nop -m 64K -C 0 -- sh -c 'exit 3'").code, 3)
r = kymo("ftrace trace --graph-opts depth=2,thresh=9 true")
check("what the tracers cannot is told with what can", r.code == 1 and "thresh=9" in r.err and "kymo funcslower" in r.err, r)
if "function" in kymo("ftrace list -t").out.split():
    r = kymo("ftrace trace -T vfs_read cat /etc/hostname")
    check("-T FUNC: its calls, or why not", "vfs_read" in (r.out if r.code == 0 else r.err), r)
    if r.code == 0:
        check("only the command's", set(re.findall(r"^ *(\S+)-\d+ ", r.out, re.M)) <= {"cat", "kymo"}, r)

# --- what tracefs says of itself ---
for option, file in (("readme", "README"), ("dyn_ftrace_total_info",) * 2, ("saved_cmdlines",) * 2, ("enabled_functions",) * 2, ("kprobe_profile",) * 2):
    r = kymo(f"ftrace show -f --{option}")
    try:
        with open(f"{TRACEFS}/{file}") as f:
            want = f.readline()
    except OSError as e:
        check(f"show --{option}: why not", r.code == 1 and e.strerror in r.err and file in r.err, r)
        continue
    check(f"show --{option}", r.code == 0 and r.out.startswith(f"{TRACEFS}/{file}\n") and (option == "saved_cmdlines" or want in r.out), r.out[:300])

# --- blk: its disks are switched on, and off again ---
disks = [d for d in os.listdir("/sys/block") if os.path.exists(f"/sys/block/{d}/trace/enable") and int(open(f"/sys/block/{d}/size").read())]
if "blk" not in kymo("ftrace list -t").out.split() or not disks:
    skip("record -p blk", "no such tracer, or no disk")
else:
    r = kymo(["ftrace", "record", "-p", "blk", "-o", "blk.dat", "sh", "-c", f"cat /sys/block/{disks[0]}/trace/enable; dd if=/dev/zero of=blk.out bs=64k count=4 oflag=sync 2>/dev/null; sync"])
    if r.code and "busy" in r.err.lower():
        skip("record -p blk", r.err.strip())
    else:
        check("record -p blk switches the disks on", r.code == 0 and r.out == "1\n" and disks[0] in r.err, r)
        same("and off", open(f"/sys/block/{disks[0]}/trace/enable").read(), "0\n")
        if os.stat(".").st_dev >> 8:
            has("requests are in it", kymo("ftrace report -i blk.dat").out, "blktrace:")

# --- start ... reset ---
# each read of the trace is in the trace
kymo("ftrace start -q -e syscalls:sys_enter_read -e syscalls:sys_exit_read")
r = kymo("ftrace show", timeout=120)
check("show comes to an end though it is traced itself", r.code == 0 and "sys_read(" in r.out, r.err)
same("and holds nothing up", kymo("ftrace show --tracing_on").out, "1\n")
has("nor leaves the option", kymo("ftrace stat -o -B kymo").out, "nopause-on-trace")
kymo("ftrace reset")
kymo("ftrace start -q -B kymo-one -e sched:sched_process_exec")
same("reset -B of what start made", kymo("ftrace reset -d -B kymo-one").code, 0)
same("it is gone", os.path.exists(f"{TRACEFS}/instances/kymo-one"), False)
r = kymo("ftrace start -e sched:sched_process_exec -B kymo-one -e sched:sched_switch")
has("start names each instance", r.err, f"{TRACEFS}/instances/kymo and {TRACEFS}/instances/kymo-one; ")
kymo("ftrace reset -B kymo-one")
same("reset of one of two", os.path.exists(f"{TRACEFS}/instances/kymo-one"), False)
has("leaves the other at work", kymo("ftrace stat -B kymo").out, "sched:sched_process_exec")
kymo("ftrace reset")
same("and the last reset leaves nothing", left(), [])
for version in 6, 7:  # trace-cmd 3.1 takes what is in memory there when the option is empty
    kymo(f"ftrace record -q -e syscalls:sys_enter_getppid --file-version {version} -o clock.dat {KNOWN} getppid=1")
    has(f"version {version}: the clocks are among the options", kymo("ftrace dump --options -i clock.dat").out, "[Option TRACECLOCK, ", "local")
check("reset -B of what is not there", kymo("ftrace reset -B kymo-one").code == 1)
r = kymo("ftrace start -q -e sched:sched_process_exec")
check("start", r.code == 0, r)
run(["true"])
kymo("ftrace mark a mark of ours")
kymo("ftrace stop")
has("show shows it", kymo("ftrace show").out, "sched_process_exec", "a mark of ours")
has("stat tells", kymo("ftrace stat -B kymo").out, "sched:sched_process_exec")
r = kymo("ftrace extract -q -o e.dat")
has("extract", kymo("ftrace report -i e.dat").out, "sched_process_exec", "a mark of ours")
kymo("ftrace reset")
same("reset leaves nothing", left(), [])

# --- tools ---
p = subprocess.Popen([KYMO, "tpoint", "syscalls:sys_enter_getppid"], stdout=open("tp", "w"), stderr=open("tp.err", "w"))
wait_for(lambda: "Tracing" in open("tp.err").read())
run([KNOWN, "getppid=17"])
SEEN = rf"{NAME}-\d+ .*sys_getppid\("  # shells make that call, too
wait_for(lambda: len(re.findall(SEEN, open("tp").read())) >= 17)
p.send_signal(signal.SIGINT)
same("tpoint ends with Ctrl-C", p.wait(60), 0)
same("and showed every call", len(re.findall(SEEN, open("tp").read())), 17)
for args in ("tpoint sched:sched_switch", "ftrace stream -e sched:sched_switch", "tpoint -d 0.5 sched:sched_switch"):
    p = subprocess.Popen([KYMO, *args.split()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    p.stdout.close()
    check(f"{args}: nobody reads it any more", p.wait(120) in (0, 141) and not os.path.exists(f"{TRACEFS}/instances/kymo-{p.pid}"), p.returncode)
has("tpoint -v shows a format", kymo("tpoint -v sched:sched_switch").out, "field:pid_t next_pid")
has("uprobe -l lists functions", kymo(f"uprobe -l {KNOWN} mai").out, "main")
has("uprobe without a name: the function's", kymo(["uprobe", "-v", f"r:{KNOWN}:main got=$retval"]).out, "name: main\n", "field:u64 got")
p = subprocess.Popen([KYMO, "uprobe", "-s", f"p:{KNOWN}:main"], stdout=open("up", "w"), stderr=open("up.err", "w"))
wait_for(lambda: "Tracing" in open("up.err").read() or p.poll() is not None)
run([KNOWN, "getppid=1"])
wait_for(lambda: "main: (" in open("up").read() or p.poll() is not None)
p.send_signal(signal.SIGINT)
p.wait(60)
has("uprobe -s shows the program's stack", open("up").read(), "main: (", "<user stack trace>")
r = kymo(f"functime -x {KNOWN} main {KNOWN} getppid=1")
if "refuse" in r.err or "no uprobes" in r.err:
    skip("functime -x", "no uprobes here")
else:
    has("functime -x times a user function", r.out, "1 calls")
    if shutil.which("gcc"):
        with open("plain.c", "w") as f:
            f.write("__attribute__((noinline)) int twice(int n) { return 2 * n; }\n"
                    "int main(void) { int s = 0; for (int i = 1; i < 6; i++) s += twice(i * 100); return s != 3000; }\n")
        run(["gcc", "-O0", "-g", "-o", "plain", "plain.c"])
        r = kymo("functime -x ./plain twice ./plain")
        same("code without optimisation: arguments as they were given", sorted(re.findall(r"\(twice\) n=(\d+)", r.out)),
             ["100", "200", "300", "400", "500"])
# a kernel that does not show every switch from the idle task leaves only halves of turns now and then
for _ in range(5):
    r = kymo(f"functime threads {KNOWN} switches=50")
    if re.search(rf"^{NAME} +\d+ ", r.out, re.M):
        break
check("functime threads times turns on CPUs", re.search(r"turns on a CPU, ", r.out) and re.search(rf"^{NAME} +\d+ ", r.out, re.M), r)
same("tools leave nothing", left(), [])

# --- options of trace-cmd's verbs ---
HOOK = "sys_enter_getppid,common_pid/sys_exit_getppid,common_pid"
kymo(["ftrace", "record", "-q", "-o", "h.dat", "-H", HOOK, KNOWN, "getppid=5"])
r = kymo("ftrace report --profile -i h.dat")
check("record -H: both events are traced, and report --profile knows", re.search(rf"task: {NAME}-\d+\n(?:  .*\n)*?  Event: sys_enter_getppid \(5\)", r.out), r)
same("the same as report --profile -H", kymo(["ftrace", "report", "--profile", "-H", HOOK, "-i", "h.dat"]).out, r.out)
kymo("ftrace convert -q -i h.dat -o h6.dat --file-version 6")
same("convert keeps hooks", kymo("ftrace report --profile -i h6.dat").out, r.out)
r = kymo(["ftrace", "profile", "--stderr", "-d", "-F", "sh", "-c", "echo said"])
check("profile --stderr leaves the command's output alone", r.code == 0 and r.out == "said\n" and "task: " in r.err, r)
same("stream takes record's options", kymo(["ftrace", "stream", "-q", "-d", "-m", "100", "-s", "1000", "--verbose=3", "-e", "syscalls:sys_enter_getppid", "-F", KNOWN,
                                             "getppid=3"]).out.count("sys_enter_getppid"), 3)
kymo("ftrace start -q -B kymo-opt -e syscalls:sys_enter_getppid")
run([KNOWN, "getppid=2"])
was = text("instances/kymo-opt/options/irq-info")
r = kymo(f"ftrace extract -q -B kymo-opt --date -O {'noirq-info' if was == '1' + chr(10) else 'irq-info'} -o date.dat")
is_now = text("instances/kymo-opt/options/irq-info")
bad = kymo("ftrace extract -q -B kymo-opt -O nosuch -o date2.dat")
kymo("ftrace reset")
stamps = [float(x) for x in re.findall(r"\] +([0-9.]+): sys_enter_getppid", kymo("ftrace report -i date.dat").out)]
check("extract --date: the time of day", r.code == 0 and len(stamps) >= 2 and all(abs(x - time.time()) < 120 for x in stamps), (r, stamps))
same("extract -O puts the option back", is_now, was)
check("extract -O of what is none", bad.code == 1 and "no trace option 'nosuch'" in bad.err, bad)
os.makedirs("copied/events")
for f in "events/header_page", "events/header_event", "printk_formats", "saved_cmdlines", "trace_clock":
    open(f"copied/{f}", "w").write(text(f))
for f in "ftrace/function", "task/task_newtask":
    os.makedirs(f"copied/events/{f}")
    open(f"copied/events/{f}/format", "w").write(text(f"events/{f}/format"))
open("copied/kallsyms", "w").write("ffffffff81000000 T of_another_kernel\n")
r = kymo("ftrace restore -q -c -t copied -k copied/kallsyms -o partial.dat")
check("restore -c -t -k: of another kernel", r.code == 0, r)
has("its formats and symbols", kymo("ftrace dump --systems --kallsyms partial.dat").out, "[Events format, 1 systems]\n\t\ttask 1 [system, events]", "T of_another_kernel\n")
run(["rm", "-r", "copied"])

# --- bad input ---
for args, code, words in [
        ("ftrace record -e no_such_event true", 1, ["there is no event", "hint:"]),
        ("ftrace record -e sched_swich true", 1, ["did you mean sched_switch"]),
        ("ftrace record -p no_such_tracer true", 1, ["has no tracer", "hint:"]),
        ("ftrace record -A guest -e sched true", 129, ["no remote recording", "hint:"]),
        ("ftrace record -N host:1 -t -e sched true", 129, ["no remote recording", "hint:"]),
        ("ftrace record --proxy x -e sched true", 129, ["--proxy: kymo has no remote recording"]),
        ("ftrace record -H nonsense true", 129, ["hooks no two events together", "hint:"]),
        ("ftrace restore -k x t.dat.cpu0", 1, ["-t and -k are for -c"]),
        ("ftrace restore -c -k /no/such/file", 1, ["cannot read /no/such/file"]),
        ("ftrace restore -c -t /no/such/dir", 1, ["/no/such/dir"]),
        ("ftrace dump t.dat t.dat", 1, ["one file is read"]),
        ("ftrace convert -i t.dat", 1, ["where shall it go?", "hint:"]),
        ("ftrace record true", 1, ["what shall be traced?", "hint:"]),
        ("ftrace record -f x==1 -e sched true", 129, ["belongs behind the -e"]),
        ("ftrace record -e sched -l vfs_read true", 1, ["nothing traces functions", "-p function"]),
        ("ftrace record -e sched:sched_switch -f nofield==1 true", 1, ["nofield==1", "^"]),
        ("ftrace record -e sched -O nosuchoption true", 1, ["no trace option", "list -o"]),
        ("ftrace record -e sched -C nosuchclock true", 1, ["nosuchclock", "list -C"]),
        ("ftrace record -e sched -- /no/such/command", 1, ["cannot run"]),
        ("ftrace record -e sched -o /no/such/dir/t.dat true", 1, ["cannot write", "-o FILE"]),
        ("ftrace record -e sched --compression lzo true", 1, ["cannot compress with 'lzo'"]),
        ("ftrace report -i none.dat", 1, ["none.dat", "hint:"]),
        ("ftrace report -i t.dat -F nosuchevent", 1, ["knows no event", "-E"]),
        ("ftrace report -i t.dat -F 'sys_enter_getppid:('", 1, ["^"]),
        ("ftrace report -i sched7.dat -F sched:sched_switch", 1, ["has such a field", "      ^", "SYSTEM/EVENT"]),
        ("ftrace report -i sched7.dat -F sched_switch:prev_state==S", 1, ["has such a field", "^", "hint:"]),
        ("ftrace record -p irqsoff true", 1, ["has no tracer", "CONFIG_IRQSOFF_TRACER"]),
        ("ftrace record -e sched --user no_such_user true", 1, ["there is no user"]),
        ("ftrace report -i t.dat --profile -H nonsense", 1, ["hooks no two events together", "hint:"]),
        ("ftrace report -i t.dat --profile -H sys_enter_getppid,nofield/sys_enter_getppid,common_pid", 1, ["no field", "hint:"]),
        ("ftrace nosuchverb", 1, ["no verb", "hint:"]),
        ("tpoint sched:no_such", 1, ["there is no event", "hint:"]),
        (["uprobe", f"p:{KNOWN}:main argc=%si", "agrc > 1"], 1, ["Field not found", "^", "did you mean argc? -v shows the fields"]),
        (["uprobe", f"r:{KNOWN}:main $retval", "$retval > 1"], 1, ["does not take this filter", "ret=$retval"]),
        ("uprobe p:no_such_program:main", 1, ["no program or library", "hint:"]),
        ("kprobe 'p:/x vfs_read'", 1, ["cannot be called ''"]), ("kprobe 'p:a-b vfs_read'", 1, ["cannot be called 'a-b'"]),
        ("ftrace record -e sched -P 2147483647 -o x.dat true", 1, ["no thread 2147483647"]),
        ("ftrace record -e sched:sched_switch -R bogus -o x.dat true", 1, ["bogus", "triggers are"]),
        ("ftrace record -e sched --ts-offset 1h true", 1, ["--ts-offset wants a number"]),
        ("ftrace record -e sched -M zz true", 1, ["tracing_cpumask", "a mask in hex"]),
        ("ftrace report -i t.dat -F sys_enter_g*", 1, ["knows no event", "'sys_enter_g.*'"]),
        ("probe -F -m no_such_module", 1, ["no module no_such_module is loaded", "modprobe"]),
        (f"uprobe p:{KNOWN}:0x1", 1, ["there is no code at 0x1"]),
        (f"uprobe p:{KNOWN}:no_such_function", 1, ["has no function", "hint:"]),
        ("kprobe nonsense", 1, ["a probe begins with", "hint:"]),
        ("functime", 1, ["which function?", "hint:"]),
]:
    r = kymo(args)
    check(f"refused: {args}", r.code == code and all(w in r.err for w in words), r)
# a view of tracefs of our own that is read-only; the other one stays as it is
for args in ["ftrace record -q -e sched true", f"probe -x {KNOWN} main", "ftrace mark x"]:
    r = run(["unshare", "-m", "--propagation", "private", "sh", "-c", f"mount --bind {TRACEFS} {TRACEFS} && mount -o bind,remount,ro {TRACEFS} || exit 77; "
             f"exec {KYMO} {args}"])
    if r.code == 77:
        skip(f"read-only tracefs: {args}", "no mount namespaces here")
    else:
        check(f"read-only tracefs: {args}", r.code == 1 and "read-only" in r.err and f"remount,rw {TRACEFS}\n" in r.err, r)
same("refusals leave nothing", left(), [])

# --- files that were cut or damaged ---
kymo(f"ftrace record -q -o six.dat --file-version 6 -e sched -- {KNOWN} switches=20")
kymo(f"ftrace record -q -o seven.dat -e sched -- {KNOWN} switches=20")
random.seed(6)
for name in ["six.dat", "seven.dat"]:
    whole = open(name, "rb").read()
    bad = []
    for i in range(8 if SAN else 25):
        data = bytearray(whole[:random.randrange(len(whole))] if i % 2 else whole)
        if i % 2 == 0:
            for _ in range(20):
                data[random.randrange(len(data))] = random.randrange(256)
        open("cut.dat", "wb").write(data)
        for cmd in ["ftrace report -i cut.dat", "script -i cut.dat"]:
            r = kymo(cmd)
            if r.code not in (0, 1) or (r.code == 1 and "kymo" not in r.err):
                bad.append((i, len(data), r.code, r.err[-300:]))
    same(f"{name}: cut and damaged files end well", bad, [])
open("cut.dat", "wb").write(open("six.dat", "rb").read()[:-4096])
r = kymo("ftrace report -i cut.dat")
check("what is missing is told", r.code == 0 and "cut" in r.err and "sched" in r.out, r.err)

# --- kill -9 at random moments, then any command ---
commands = ["ftrace record -q -e sched -o k.dat", "ftrace record -q -B kymo-test -e irq -e timer -o k.dat",
            "ftrace stream -e sched:sched_switch", f"uprobe p:{KNOWN}:main", "tpoint sched:sched_switch"]
for i in range(KILLS):
    p = subprocess.Popen([KYMO, *commands[i % len(commands)].split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 0.3))
    p.kill()
    p.wait()
    kymo("version")
    if not check(f"kill {i + 1}: nothing is left", wait_for(lambda: left() == [] and not os.path.exists(f"{TRACEFS}/instances/kymo-test"), 10), left()):
        break
same("the top instance is as it was", top(), before)

os.chdir("/")
shutil.rmtree(DIR)
end()
