#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Words that a perf user's hands know: config, kallsyms, data convert, version; beside perf where it is here."""
import json
import os
import re
import shutil
import tempfile

from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-words-")


def kallsyms():
    r = kymo("kallsyms schedule vfs_read")
    if "hidden" in r.err:
        skip("kallsyms", r.err.strip())
        return
    at = re.findall(r"^(\S+): \[kernel\] \[kernel.kallsyms\] 0x([0-9a-f]+)-0x", r.out, re.M)
    want = dict(x.split()[2::-2] for x in open("/proc/kallsyms") if x.split()[2] in ("schedule", "vfs_read") and len(x.split()) == 3)
    same("kallsyms: the addresses of /proc/kallsyms", {n: int(a, 16) for n, a in at}, {n: int(a, 16) for n, a in want.items()})
    has("an address", kymo(f"kallsyms 0x{int(want['vfs_read'], 16) + 5:x}").out, "vfs_read: [kernel]")
    many = kymo("kallsyms 'vfs_re*'").out.splitlines()
    check("a pattern", len(many) > 2 and all(x.startswith("vfs_re") for x in many), many)
    r = kymo("kallsyms nosuchsymbol schedule")
    check("what is not there is told, the rest is shown", r.code == 1 and "nosuchsymbol: not found" in r.out and "schedule: " in r.out, r)
    if shutil.which("perf"):
        same("as perf kallsyms", kymo("kallsyms schedule vfs_read").out, run("perf kallsyms schedule vfs_read").out)


def data_convert():
    data, out = f"{DIR}/perf.data", f"{DIR}/out.json"
    kymo(["record", "-q", "-e", "page-faults", "-c", "1", "-o", data, "--", f"{WORK}/known", "getppid=1"])
    r = kymo(["data", "convert", "-i", data, "--to-json", out])
    got = [json.loads(x) for x in open(out)] if r.code == 0 else []
    check("data convert --to-json", got and got == [json.loads(x) for x in kymo(["export", "--to", "json", "-q", "-i", data, "-o", "-"]).out.splitlines()], r)
    r = kymo(["data", "convert", "-i", data, "--to-json", out])
    check("a file that is there stays, unless --force", r.code == 1 and "--force" in r.err and
          kymo(["data", "convert", "-f", "-i", data, "--to-json", out]).code == 0, r)
    r = kymo(["data", "convert", "-i", data, "--to-ctf", f"{DIR}/ctf"])
    check("--to-ctf: not yet, and what does it", r.code == 1 and "no CTF yet" in r.err and "perf data convert" in r.err, r)


def version():
    r = kymo("version --build-options")
    check("version, --build-options", r.code == 0 and r.out.startswith("kymo version ") and "libbpf" in r.out, r)


def config():
    path = f"{DIR}/perfconfig"
    env = {"PERF_CONFIG": path}
    data = f"{DIR}/config.data"
    kymo(["record", "-q", "-e", "page-faults", "-c", "1", "-o", data, "--", "sh", "-c", f"{WORK}/known getppid=1; ls / >/dev/null"])
    plain = kymo(["report", "--stdio", "-i", data]).out
    r = kymo("config report.sort_order=comm report.percent-limit=20 stat.big-num=false", env=env)
    same("config KEY=VALUE writes perf's form", open(path).read() if r.code == 0 else r,
         "# this file is auto-generated.\n[report]\n\tsort_order = comm\n\tpercent-limit = 20\n[stat]\n\tbig-num = false\n")
    same("config -l", kymo("config -l", env=env).out, "report.sort_order=comm\nreport.percent-limit=20\nstat.big-num=false\n")
    if shutil.which("perf"):
        same("as perf config -l", kymo("config -l", env=env).out, run("perf config -l", env=env).out)
    same("report honours it", kymo(["report", "--stdio", "-i", data], env=env).out,
         kymo(["report", "--stdio", "-i", data, "--sort", "comm", "--percent-limit", "20"]).out)
    check("which is not the same as without", plain != kymo(["report", "--stdio", "-i", data], env=env).out, plain)
    same("the command line has the last word", kymo(["report", "--stdio", "-i", data, "--sort", "dso", "--percent-limit", "0"], env=env).out,
         kymo(["report", "--stdio", "-i", data, "--sort", "dso", "--percent-limit", "0"]).out)
    kymo("config record.call-graph=dwarf", env=env)
    kymo(["record", "-q", "-g", "-e", "cpu-clock:u", "-o", f"{DIR}/g.data", "--", "true"], env=env)
    check("record.call-graph: how -g finds callers", "STACK_USER" in kymo(["evlist", "-v", "-i", f"{DIR}/g.data"]).out,
          kymo(["evlist", "-v", "-i", f"{DIR}/g.data"]).out)
    for word, want in (("nosuch.key=1", "does not honour"), ("report.children=maybe", "true or false"), ("report.percent-limit=x", "no percentage")):
        r = kymo(["config", word], env=env)
        check(f"config {word}: refused, nothing is written", r.code == 1 and want in r.err and word not in kymo("config -l", env=env).out, r)
    open(path, "a").write("[report]\n\tqueue-size = 1 # of perf\n\tpercent-limit = many\n")
    r = kymo("config -l", env=env)
    check("a key that kymo does not honour is told", "report.queue-size=1\n" in r.out and "does not honour report.queue-size" in r.err, r)
    r = kymo(["report", "--stdio", "-i", data], env=env)
    check("a value that makes no sense is told, and the report is made", r.code == 0 and "percent-limit = many" in r.err and "Overhead" in r.out, r)
    if os.getuid() == 0:
        os.chown(path, 65534, 65534)
        r = kymo(["report", "--stdio", "-i", data], env=env)
        check("another user's file is not read", r.out == plain and "not read" in r.err, r)
    known = kymo("config --known").out
    check("--known: keys, and the options they stand for", "report.children" in known and "(kymo report --children)" in known, known)


def test():
    r = kymo("test", timeout=120)
    rows = re.findall(r"^ *(\d+): (.*?) *: (Ok|FAILED! \(.+\))$", r.out, re.M)
    check("test: each thing works, or has its reason", len(rows) == 10 and len(rows) == len(r.out.splitlines()), r)
    check("and the exit code says so", r.code == any(x[2] != "Ok" for x in rows), r)
    if os.getuid() == 0 and not SAN:
        check("root has counting, recording and names", not [x for x in rows if x[1] in ("counting", "recording", "symbols", "stacks") and x[2] != "Ok"], r)
    if shutil.which("strip") and not SAN:
        bare = f"{DIR}/bare"
        run(["strip", "-o", bare, KYMO])
        r = run([bare, "test"], timeout=120)
        check("a program without symbols is told", r.code == 1 and re.search(r": symbols +: FAILED! \(.*stripped", r.out), r)


kallsyms()
test()
config()
data_convert()
version()
shutil.rmtree(DIR, ignore_errors=True)
end()
