#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo doctor against this machine: what it says of each ability is compared with a direct try.

Nothing is assumed about the kernel; on one that has everything and on one that refuses most
things the same comparisons hold.
"""
import csv
import ctypes
import errno
import glob
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import shell
from tap import KYMO, WORK, check, end, has, kymo, run, same, skip

libc = ctypes.CDLL(None, use_errno=True)
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
SYS = {"x86_64": (298, 321), "aarch64": (241, 280)}.get(os.uname().machine)
ROOT = os.geteuid() == 0
STATES = {"ok", "limited", "missing", "off"}


def read(path, default=""):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return default


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def append(path, text):
    """One line into a file of tracefs; 0 or the errno."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
        return 0
    except OSError as e:
        return e.errno


def perf_try(kind, config, user_only):
    """perf_event_open of this thread, disabled: 0 or the errno."""
    attr = struct.pack("IIQQQQQ", kind, 112, config, 0, 0, 0, 1 | (1 << 5 if user_only else 0) | (1 << 6 if user_only else 0))
    attr = ctypes.create_string_buffer(attr.ljust(112, b"\0"), 112)
    fd = libc.syscall(SYS[0], attr, 0, -1, -1, 8)
    if fd < 0:
        return ctypes.get_errno()
    os.close(fd)
    return 0


def bpf_try(cmd, fields):
    attr = ctypes.create_string_buffer(fields.ljust(128, b"\0"), 128)
    fd = libc.syscall(SYS[1], cmd, attr, 128)
    if fd < 0:
        return ctypes.get_errno()
    os.close(fd)
    return 0


def prog_try(kind):
    """Load "return 0" as a program of this type: 0 or the errno."""
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0), 16)
    licence = ctypes.create_string_buffer(b"GPL")
    return bpf_try(5, struct.pack("IIQQ", kind, 2, ctypes.addressof(code), ctypes.addressof(licence)))


def map_try(kind, key, value, entries):
    return bpf_try(0, struct.pack("IIII", kind, key, value, entries))


def tracefs():
    for line in read("/proc/self/mounts").splitlines():
        if line.split()[2] == "tracefs":
            return line.split()[1]
    return None


def doctor_json(prefix=(), binary=KYMO, **kw):
    r = run([*prefix, binary, "doctor", "-j"], **kw)
    try:
        return r, {a["id"]: a for a in json.loads(r.out)}
    except (ValueError, KeyError, TypeError) as e:
        return r, {"error": str(e)}


def state(name, a, want, detail=""):
    check(f"{name}: {want}", a.get("state") == want, f"{a}\n{detail}")


def shape():
    """The same truth in all forms, aligned, and the exit code that goes with it."""
    r, a = doctor_json()
    as_csv = list(csv.DictReader(io.StringIO(kymo("doctor --csv").out)))
    check("--csv has the same, a line each", [(x["id"], x["state"], x["fixable"] == "true") for x in as_csv] == [(x["id"], x["state"], x["fixable"]) for x in json.loads(kymo("doctor -j").out)], as_csv)
    check("-j is a JSON array of abilities", "error" not in a and len(a) > 50, r.text[:300])
    keys = {"id", "group", "state", "value", "meaning", "fix", "fixable"}
    check("each has its seven fields", all(set(x) == keys for x in a.values()), a)
    check("states are ok, limited, missing or off", {x["state"] for x in a.values()} <= STATES, a)
    check("what can be fixed says how", all(x["fix"] for x in a.values() if x["fixable"]), a)
    check("nothing that is ok asks for a fix", not any(x["state"] == "ok" and x["fixable"] for x in a.values()), a)
    ids = json.loads(r.out)
    check("ids are unique", len(ids) == len(a), ids)
    want = int(any(x["fixable"] and x["state"] in ("limited", "missing") for x in a.values()))
    same("the exit code says whether something can be fixed", r.code, want)

    text = kymo("doctor")
    same("the exit code is the same for text", text.code, want)
    same("nothing on stderr", text.err, "")
    lines = text.out.splitlines()
    check("a screen: 24 to 60 lines", 24 <= len(lines) <= 60, f"{len(lines)} lines\n{text.out}")
    long = [x for x in lines if len(x) > 100 and "fix:" not in x and "needs:" not in x]
    check("no line over 100 columns but commands", not long, "\n".join(long))
    check("no escapes and no marks in a pipe", "\033" not in text.out and text.out.isascii(), text.out)
    groups = [x for x in lines if x and not x.startswith(" ")][:-1]
    same("the groups", groups, ["Machine", "Counting", "Tracing", "BPF", "Names and files", "Limits"])
    rows = [re.match(r"  (ok|limited|missing|off) +\S", x) for x in lines if re.match(r"  \S", x)]
    check("each row begins with its state", all(rows) and len(rows) > 20, text.out)
    counts = [sum(1 for m in rows if m and m[1] == s) for s in ("ok", "limited", "missing", "off")]
    has("the last line counts them", lines[-1], "{} ok, {} limited, {} missing, {} off".format(*counts))

    verbose = kymo("doctor -v")
    shown = re.findall(r"^  (ok|limited|missing|off) ", verbose.out, re.M)
    same("-v shows all that -j has, in the same states", shown, [x["state"] for x in ids])
    quiet = kymo("doctor -q")
    same("-q exits the same", quiet.code, want)
    bad = [x for x in quiet.out.splitlines() if re.match(r"  ok ", x)]
    check("-q shows nothing that is ok", not bad, quiet.out)
    if any(x["fixable"] for x in a.values()):
        check("-q shows a fix for each row", quiet.out.count("fix:") == len(re.findall(r"^  \S", quiet.out, re.M)), quiet.out)
    r = kymo("doctor extra")
    check("an argument is refused, with a code of its own", r.code == 129 and "extra" in r.err, r)
    r = kymo("doctor --jsn")
    check("a mistyped option is refused", r.code == 129 and "--json" in r.err, r)


def terminal():
    """On a terminal: colours, and marks the locale can show."""
    for locale, mark in (("C.UTF-8", "\u2714"), ("C", "+ ok")):
        text, _ = shell.on_terminal([KYMO, "doctor"], {"LC_ALL": locale, "NO_COLOR": None}, timeout=600)
        check(f"marks and colours on a terminal in {locale}", mark in text and "\033[32m" in text, text[:400])


def machine(a):
    same("the kernel", a["kernel"]["value"], os.uname().release)
    has("the architecture", a["kernel"]["meaning"], os.uname().machine)
    if os.uname().machine == "x86_64":
        vm = " hypervisor" in read("/proc/cpuinfo")
        same("VM or bare metal, as cpuinfo says", a["virt"]["value"] != "bare metal", vm)
    if shutil.which("systemd-detect-virt"):
        r = run("systemd-detect-virt --vm")
        same("VM or bare metal, as systemd says", a["virt"]["value"] == "bare metal", r.out.strip() == "none")
    clock = read("/sys/devices/system/clocksource/clocksource0/current_clocksource").strip()
    same("the clock", a["clocksource"]["value"], clock or "unknown")
    lock = re.search(r"\[(\w+)\]", read("/sys/kernel/security/lockdown"))
    if lock:
        same("lockdown", a["lockdown"]["value"], lock[1])
    elif ROOT:
        check("root knows of lockdown without securityfs", a["lockdown"]["value"] != "unknown", a["lockdown"])


def counting(a):
    if not SYS:
        skip("counting", "system call numbers of this processor are not known here")
        return
    cycles, user = perf_try(0, 0, False), perf_try(0, 0, True)
    if 0 in (cycles, user):
        state("CPU counters work", a["pmu"], "ok")
    elif user == errno.ENOENT:
        state("there are no CPU counters", a["pmu"], "missing")
        check("and no command gives them", a["pmu"]["fixable"] is False and a["pmu"]["fix"], a["pmu"])
        if a["virt"]["value"] != "bare metal":
            has("the reason is the VM", a["pmu"]["meaning"], "VM")
    else:
        state(f"CPU counters are refused (errno {user})", a["pmu"], "missing")
    pmus = sorted(os.listdir("/sys/bus/event_source/devices"))
    same("the PMUs of sysfs", a["pmus"]["value"].split(), pmus)
    for name, path in (("perf_event_paranoid", PARANOID), ("kptr_restrict", "/proc/sys/kernel/kptr_restrict"),
                       ("max_stack", "/proc/sys/kernel/perf_event_max_stack")):
        same(f"{name} as it is set", a[name]["value"].split()[0], read(path).strip())
    rate = read("/proc/sys/kernel/perf_event_max_sample_rate").strip()
    same("the sample rate as it is set", a["sample_rate"]["value"].replace(",", "").split()[0], rate)


def tracing(a):
    top = tracefs()
    if not top:
        check("tracefs is not mounted: how to", "mount -t tracefs" in (a["tracefs"]["fix"] or ""), a["tracefs"])
        return
    state("tracefs", a["tracefs"], "ok")
    events = sum(1 for _ in read(f"{top}/available_events").splitlines())
    told = int(a["tracepoints"]["value"].replace(",", "").split()[0])
    check("the number of tracepoints", abs(told - events) < 50 and told > 0, f"{told} against {events}")
    here = {"hist": f"{top}/events/sched/sched_switch/hist", "snapshot": f"{top}/snapshot"}
    for name, path in here.items():
        state(name, a[name], "ok" if os.path.exists(path) else "missing")
    tracers = read(f"{top}/available_tracers").split()
    same("the tracers on offer", a["tracers"]["value"].split(), tracers)
    try:
        with open(f"{top}/available_filter_functions") as f:
            functions = bool(f.readline())
    except OSError:
        functions = False
    on = read("/proc/sys/kernel/ftrace_enabled", "1").strip() == "1"
    state("the function tracer", a["function"], "ok" if "function" in tracers and functions and on else "missing")
    graph = "function_graph" in tracers and functions
    state("the function graph tracer", a["function_graph"], "ok" if graph else "missing")
    mine = f"kymotest_{os.getpid()}"
    for name, file, where in (("kprobes", "kprobe_events", "vfs_read"), ("uprobes", "uprobe_events", "/bin/true:0x1000")):
        r = append(f"{top}/{file}", f"p:{mine}/x {where}\n")
        if r == 0:
            append(f"{top}/{file}", f"-:{mine}/x\n")
        state(name, a[name], "ok" if r == 0 else "missing", f"errno {r}")
        if r == errno.ENOENT:
            check(f"{name}: not in this kernel, so no fix", not a[name]["fixable"], a[name])


def bpf(a):
    if not SYS:
        skip("bpf", "system call numbers of this processor are not known here")
        return
    for name, kind in (("bpf_tracepoint", 5), ("bpf_raw_tracepoint", 17), ("bpf_perf_event", 7)):
        r = prog_try(kind)
        state(name, a[name], "missing" if r else "ok", f"errno {r}")
    kprobe = prog_try(2) == 0
    state("bpf_kprobe", a["bpf_kprobe"], "ok" if kprobe and a["kprobes"]["state"] == "ok" else "missing")
    state("bpf_uprobe", a["bpf_uprobe"], "ok" if kprobe and a["uprobes"]["state"] == "ok" else "missing")
    page = os.sysconf("SC_PAGESIZE")
    for name, shape_ in (("hash", (1, 4, 8, 1)), ("percpu_hash", (5, 4, 8, 1)), ("ringbuf", (27, 0, 0, page)),
                         ("stack_trace", (7, 4, 8, 1))):
        r = map_try(*shape_)
        state(f"map {name}", a[f"bpf_map_{name}"], "missing" if r else "ok", f"errno {r}")
    state("BTF", a["btf"], "ok" if os.path.exists("/sys/kernel/btf/vmlinux") else "missing")
    modules = len(os.listdir("/sys/kernel/btf")) - 1 if os.path.isdir("/sys/kernel/btf") else 0
    same("modules with BTF", int(a["btf_modules"]["value"]), modules)
    programs = [a[f"bpf_{x}"]["state"] for x in ("kprobe", "uprobe", "tracepoint", "raw_tracepoint", "tp_btf", "fentry", "perf_event")]
    want = "ok" if set(programs) == {"ok"} else "limited" if "ok" in programs else "missing"
    state("the sum of the program types", a["bpf_programs"], want)
    if shutil.which("bpftrace") and a["bpf_programs"]["state"] != "missing":
        told = run("bpftrace --info", timeout=120).text
        for name, word in (("bpf_kprobe", "kprobe"), ("bpf_tracepoint", "tracepoint"), ("bpf_perf_event", "perf_event")):
            m = re.search(rf"^\s*{word}: (yes|no)", told, re.M)
            if m and m[1] == "no":
                state(f"{name}, of which bpftrace says no", a[name], "missing")


def files(a):
    shown = any(int(x.split()[0], 16) for x in read("/proc/kallsyms").splitlines()[:200])
    state("kernel names", a["kallsyms"], "ok" if shown else "missing")
    with tempfile.TemporaryDirectory() as d:
        _, b = doctor_json(env={"XDG_CACHE_HOME": d, "DEBUGINFOD_URLS": "https://example.org/ https://example.com/"}, cwd=d)
        has("the cache directory follows XDG_CACHE_HOME", b["cache"]["meaning"], d)
        has("recordings go to the current directory", b["disk"]["meaning"], d)
        if b["debuginfod"]["value"] != "not built in":
            state("debuginfod when its servers are set", b["debuginfod"], "ok")
            has("the server is named", b["debuginfod"]["meaning"], "https://example.org/")
        else:
            skip("debuginfod", "built without it")
    _, b = doctor_json(env={"DEBUGINFOD_URLS": ""})
    state("debuginfod is an extra", b["debuginfod"], "off")
    free = os.statvfs(".").f_bavail * os.statvfs(".").f_frsize
    if free > 2 << 30:
        state("disk space", a["disk"], "ok")


def as_nobody():
    """An ordinary user, with each level of perf_event_paranoid."""
    if not ROOT or not shutil.which("setpriv"):
        skip("as an ordinary user", "needs root and setpriv")
        return
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    old, old_kptr = read(PARANOID), read("/proc/sys/kernel/kptr_restrict")
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        binary = shutil.copy(KYMO, f"{d}/kymo")
        os.chmod(binary, 0o755)
        here = {"cwd": d, "env": {"HOME": "/nonexistent", "XDG_CACHE_HOME": ""}}
        try:
            write(PARANOID, "2")
            write("/proc/sys/kernel/kptr_restrict", "0")
            r, a = doctor_json(prefix, binary, **here)
            check("works for an ordinary user", "error" not in a and r.err == "", r)
            same("exits 1: there is something to fix", r.code, 1)
            state("paranoid 2", a["perf_event_paranoid"], "limited")
            has("and what to do", a["perf_event_paranoid"]["fix"], "sudo sysctl kernel.perf_event_paranoid=1")
            state("kernel names are hidden", a["kallsyms"], "missing")
            state("the cache cannot be written", a["cache"], "limited")
            state("nor recordings here", a["disk"], "limited")
            state("BPF is for root", a["bpf_programs"], "missing")
            check("and sudo gives it", a["bpf_programs"]["fixable"] and "sudo" in a["bpf_programs"]["fix"], a["bpf_programs"])
            if SYS:
                if perf_try(0, 0, True) == 0:
                    state("CPU counters in user space", a["pmu"], "ok")
                else:
                    state("CPU counters are still missing", a["pmu"], "missing")
            if tracefs() and not os.stat(tracefs()).st_mode & 0o005:
                state("tracefs is for root", a["tracefs"], "missing")
            if not os.path.isdir("/sys/bus/event_source/devices/kprobe"):
                check("sudo is not promised to help where the kernel has no kprobes", not a["kprobes"]["fixable"], a["kprobes"])
            else:
                check("sudo gives kprobes", a["kprobes"]["fixable"], a["kprobes"])
            text = run([*prefix, binary, "doctor"], **here)
            check("the text names the fixes", "fix: sudo sysctl kernel.perf_event_paranoid=1" in text.out, text.out)
            bare = [x for x in a.values() if x["state"] in ("limited", "missing") and x["fixable"]
                    and not re.match(r"sudo |export |cd ", x["fix"])]
            check("a user is told to use sudo", not bare, bare)

            write(PARANOID, "1")
            _, a = doctor_json(prefix, binary, **here)
            has("paranoid 1 is seen", a["perf_event_paranoid"]["value"], "1")
            has("and what it lacks", a["perf_event_paranoid"]["fix"], "paranoid=-1")
            state("kernel names are shown", a["kallsyms"], "ok")
            write("/proc/sys/kernel/kptr_restrict", "1")
            _, a = doctor_json(prefix, binary, **here)
            has("kptr_restrict hides them again", a["kallsyms"]["fix"] or "", "kernel.kptr_restrict=0")
            write(PARANOID, "-1")
            _, a = doctor_json(prefix, binary, **here)
            state("paranoid -1", a["perf_event_paranoid"], "ok")
            same("ring buffers without limit", a["ring_buffer"]["value"], "no limit")
        finally:
            write(PARANOID, old)
            write("/proc/sys/kernel/kptr_restrict", old_kptr)
    same("paranoid is what it was", read(PARANOID), old)


def capabilities():
    """Root without its capabilities, as in a container, is no root."""
    if not ROOT or not shutil.which("setpriv"):
        skip("root without capabilities", "needs root and setpriv")
        return
    r, a = doctor_json(["setpriv", "--bounding-set=-all", "--inh-caps=-all"])
    check("root without capabilities is told so", a.get("privileges", {}).get("state") == "limited", r.text[:500])
    has("by name", a["privileges"]["meaning"], "CAP_SYS_ADMIN")
    check("BPF is refused to it, and sudo is not the answer",
          a["bpf_programs"]["state"] == "missing" and not a["bpf_programs"]["fixable"], a["bpf_programs"])
    r, a = doctor_json(["setpriv", "--reuid=65534", "--clear-groups", "--no-new-privs"])
    check("no_new_privs: sudo would not help", not a["bpf_maps"]["fixable"], a.get("bpf_maps"))
    r, a = doctor_json(["unshare", "--user", "--map-root-user"])
    if "privileges" in a:
        check("root of a user namespace is told so", a["privileges"]["state"] == "limited", a["privileges"])
        state("its namespace is seen", a["userns"], "limited")
    else:
        skip("root of a user namespace", "unshare --user does not work here")
    r, a = doctor_json(["unshare", "--pid", "--fork", "--mount-proc"])
    if "container" in a:
        state("a PID namespace of its own is seen", a["container"], "limited")
    else:
        skip("a PID namespace of its own", "unshare --pid does not work here")


def unmounted():
    """Without tracefs and with nothing in /proc to go by: answers all the same."""
    top = tracefs()
    if not ROOT or not top:
        skip("without tracefs", "needs root and a tracefs to hide")
        return
    hide = "for m in $(awk '$3 == \"tracefs\" || $3 == \"debugfs\" {print $2}' /proc/self/mounts | tac); do umount $m; done; "
    r, a = doctor_json(["unshare", "--mount", "sh", "-c", hide + 'exec "$@"', "sh"])
    if "tracefs" not in a:
        skip("without tracefs", "unshare --mount does not work here")
        return
    state("tracefs is not mounted", a["tracefs"], "missing")
    check("the fix mounts it", a["tracefs"]["fixable"] and a["tracefs"]["fix"].startswith("mount -t tracefs"), a["tracefs"])
    same("exits 1", r.code, 1)
    r, a = doctor_json(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh"])
    check("without /sys it still answers", "kernel" in a, r.text[:300])


def leaves_nothing():
    top = tracefs()
    if not ROOT or not top:
        skip("what is left in tracefs", "needs root and tracefs")
        return

    def ours():
        return [x for x in read(f"{top}/dynamic_events").splitlines() if "kymo_doctor_" in x] + glob.glob(f"{top}/instances/kymo_doctor*")

    settings = [f"{top}/current_tracer", "/proc/sys/kernel/ftrace_enabled", f"{top}/tracing_on"]
    before = [read(x) for x in settings]
    for i in range(12):
        p = subprocess.Popen([KYMO, "doctor"], stdout=subprocess.DEVNULL)
        time.sleep(0.002 * i)
        p.send_signal(signal.SIGINT if i % 2 else signal.SIGTERM)
        p.wait()
    same("a doctor that is interrupted leaves nothing in tracefs", ours(), [])
    kymo("doctor")
    same("nor does one that ends", ours(), [])
    same("no tracer was touched", [read(x) for x in settings], before)

    if not os.path.exists(f"{top}/uprobe_events"):
        skip("what a killed one left", "no uprobes")
        return
    gone = subprocess.Popen(["true"])
    gone.wait()
    for pid in (gone.pid, os.getpid()):
        append(f"{top}/uprobe_events", f"p:kymo_doctor_{pid}/try_p /bin/true:0x1000\n")
    try:
        kymo("doctor")
        left = " ".join(ours())
        check("what a killed one left is removed", f"kymo_doctor_{gone.pid}/" not in left, left)
        check("what one that lives uses is not", f"kymo_doctor_{os.getpid()}/" in left, left)
    finally:
        append(f"{top}/uprobe_events", f"-:kymo_doctor_{os.getpid()}/try_p\n")
        append(f"{top}/uprobe_events", f"-:kymo_doctor_{gone.pid}/try_p\n")


def output():
    r = run(f"{KYMO} doctor >/dev/full", shell=True)
    check("a full disk is said", r.code == 1 and "No space left" in r.err, r)
    r = run(f"{KYMO} doctor | head -1", shell=True)
    check("a closed pipe is quiet", r.err == "", r)
    r = run(f"{KYMO} doctor -j >&-", shell=True)
    check("a closed stdout is no crash", isinstance(r.code, int) and 0 <= r.code < 128, r)


shape()
terminal()
_, abilities = doctor_json()
if "error" in abilities:
    check("doctor -j can be read", False, abilities)
    end()
machine(abilities)
counting(abilities)
if ROOT:
    tracing(abilities)
    bpf(abilities)
files(abilities)
as_nobody()
capabilities()
unmounted()
leaves_nothing()
output()

# --- a process ------------------------------------------------------------------------------------------------------
with tempfile.TemporaryDirectory() as d:
    src = f"{d}/p.c"
    open(src, "w").write("#include <stdio.h>\n#include <unistd.h>\nint main(void) { putchar(10); fflush(stdout); pause(); return 0; }\n")
    for name, flags, want in [("full", "-g", (True, True, True)), ("stripped", "-s", (True, False, False)),
                              ("untabled", "-g -fno-asynchronous-unwind-tables -fno-unwind-tables", (None, True, True)),
                              ("split", "-g -gsplit-dwarf", (True, True, True)), ("mini", "", (True, True, False))]:
        exe = f"{d}/{name}"
        subprocess.run(["gcc", *flags.split(), "-o", exe, src], check=True)
        if name == "split":
            for x in glob.glob(f"{d}/*.dwo"):
                os.remove(x)
        if name == "mini":
            run(f"objcopy --only-keep-debug {exe} {d}/m && xz -f {d}/m && strip {exe} && "
                f"objcopy --add-section .gnu_debugdata={d}/m.xz {exe}", shell=True)
        p = subprocess.Popen([exe], stdout=subprocess.PIPE)
        p.stdout.read(1)
        if name == "full":
            os.unlink(exe)
        r = kymo(f"doctor -p {p.pid} -j")
        files = {os.path.basename(x["path"]): x for x in json.loads(r.out)["files"]}
        got = files.get(name, {})
        check(f"-p: a {name} program is seen for what it is",
              all(w is None or got.get(k) == w for k, w in zip(("tables", "symbols", "debug_info"), want)), r)
        check(f"-p: {name}: libc and the vDSO are there too", "libc.so.6" in files and "[vdso]" in files, r)
        if name == "full":
            check("-p: a deleted file is read through the process", got.get("deleted") is True, r)
        if name == "stripped":
            check("-p: stripped: says what to do", r.code == 1 and got.get("fix"), r)
        if name == "split":
            check("-p: a .dwo that is missing is named, and what to do", r.code == 1 and ".dwo is missing" in got.get("note", "") and
                  f"dwp -e {exe}" in got.get("fix", ""), r)
        p.kill()
        p.wait()
    # a report of such a program says it as well, and only where it is so
    open(f"{d}/busy.c", "w").write("static inline __attribute__((always_inline)) long inner(long n) { volatile long x = 0; while (n--) x += n; return x; }\n"
                                   "int main(void) { return inner(300000000) == 7; }\n")
    subprocess.run(["gcc", "-O2", "-g", "-gsplit-dwarf", "-c", "-o", "busy.o", "busy.c"], cwd=d, check=True)
    subprocess.run(["gcc", "-o", "busy", "busy.o"], cwd=d, check=True)
    r = kymo(f"record -g -F 499 -o {d}/busy.data -- {d}/busy")
    if r.code == 0:
        for here in (True, False, True):
            if not here:
                os.rename(f"{d}/busy.dwo", f"{d}/away")
            elif os.path.exists(f"{d}/away"):
                os.rename(f"{d}/away", f"{d}/busy.dwo")
            with tempfile.TemporaryDirectory() as cache:
                r = kymo(f"report -i {d}/busy.data --stdio --inline", env={"XDG_CACHE_HOME": cache})
            check(f"report: inlined functions, or why not (.dwo {here})", ("inner (inlined)" in r.out) == here and
                  ("functions that were inlined in busy are not shown: busy.dwo is missing" in r.out) == (not here), r)
    else:
        skip("report: inlined functions, or why not", r.err)
    # nothing of such a program has a name, yet its stacks are whole where they begin at its entry
    built = run(f"gcc -O2 -static -s -o {d}/nameless {d}/busy.c", shell=True)
    r = kymo(f"record -g -F 499 -o {d}/nameless.data -- {d}/nameless") if built.code == 0 else built
    if r.code == 0 and "100.0% reached the bottom" in r.err:
        got = json.loads(kymo(f"report -i {d}/nameless.data --json -g none").out)
        check("report: stacks of a stripped static program do not end early", got["stacks"] > 20 and got["stacks_ending_early"] * 20 < got["stacks"] and
              got["without_name"] * 2 > got["stacks"], {k: v for k, v in got.items() if isinstance(v, (int, str))})
    else:
        skip("report: stacks of a stripped static program do not end early", r.err.strip()[-200:])
    # the start-up files bring a table along, the program's own functions have none: with frame pointers, and without
    for name, stacks, words in (("untabled", "no", "of its code has no unwinding information: stacks end there"),
                                ("framed", "yes", "stacks by frame pointers")):
        p = subprocess.Popen([f"{WORK}/{name}", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdout.readline()
        r = kymo(f"doctor -p {p.pid} -j")
        x = next((x for x in json.loads(r.out)["files"] if x["path"].endswith("/" + name)), {})
        check(f"-p: functions without a table ({name})", x.get("stacks") == stacks and words in x.get("note", ""), r)
        check(f"-p: {name}: what to do about it", ("-fasynchronous-unwind-tables" in x.get("fix", "")) == (stacks == "no"), r)
        p.communicate()
        if ROOT:
            r = kymo(f"record -g -F 999 -o {d}/u.data -- {WORK}/{name} 400")
            why = re.search(r"stacks are not whole: (no unwinding information|its unwinding table was not ready yet) \(", r.err)
            check(f"record -g says why stacks are not whole, and only then ({name})", r.code == 0 and "reached the bottom" in r.err and
                  (why if stacks == "no" else not why or why[1] != "no unwinding information"), r)
    # code without a file: with nothing, a perf map, a jitdump
    jit = f"""import mmap, os, struct, sys
m = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_EXEC)
path = f"{d}/jit-{{os.getpid()}}.dump"
if sys.argv[1] == "dump":
    with open(path, "wb") as f:
        f.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, os.getpid(), 1, 0))
        f.write(struct.pack("<IIQIIQQQQ", 0, 56 + 4 + 16, 2, os.getpid(), os.getpid(), 4096, 4096, 16, 1) + b"jit\\0" + b"\\x90" * 16)
        f.write(b"\\0" * 4096)
    dump = mmap.mmap(os.open(path, os.O_RDWR), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
if sys.argv[1] == "map":
    open(f"/tmp/perf-{{os.getpid()}}.map", "w").write("1000 10 jit\\n")
print(flush=True)
sys.stdin.readline()
if sys.argv[1] == "map":
    os.remove(f"/tmp/perf-{{os.getpid()}}.map")
"""
    for kind, named, words in (("none", False, ""), ("map", True, "perf map"), ("dump", True, "jitdump")):
        p = subprocess.Popen([sys.executable, "-c", jit, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdout.readline()
        r = kymo(f"doctor -p {p.pid} -j")
        x = next((x for x in json.loads(r.out)["files"] if x["path"].startswith("[memory")), {})
        check(f"-p: code without a file, told of by {kind}", x.get("jit_map") == named and words in x.get("note", "") and
              bool(x.get("fix")) != named and x.get("stacks") == "maybe", r)
        p.communicate(b"\n")
if ROOT:  # refused, and by what
    p = subprocess.Popen(["setpriv", "--reuid=2", "--clear-groups", "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE)
    p.stdout.read(1)
    lesser = "setpriv --bounding-set -sys_ptrace,-sys_admin,-perfmon --inh-caps -all"
    r = run(f"{lesser} {KYMO} doctor -p {p.pid}", shell=True)
    check("-p: root without CAP_SYS_PTRACE is told what is missing", r.code == 1 and "no CAP_SYS_PTRACE" in r.err and
          "as root" not in r.err and "SYS_PTRACE" in r.err.split("hint:")[-1], r)
    r = run(f"setpriv --reuid=65534 --clear-groups {KYMO} doctor -p {p.pid}", shell=True)
    check("-p: another user is told to be root", r.code == 1 and "hint: run it as root" in r.err, r)
    p.kill()
    p.wait()
r = kymo("doctor -p 2147483647")
check("-p: no such process", r.code == 1 and "hint:" in r.err, r)
end()
