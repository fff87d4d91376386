#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""buildid-cache and inject beside perf's: the same folder, the same lists, the same samples."""
import os
import shutil
import tempfile

from tap import KYMO, WORK, check, end, kymo, run, same, skip

if not shutil.which("perf"):
    skip("all", "needs perf")
    end()
TMP = tempfile.mkdtemp(prefix="kymo-buildid-")
OURS, THEIRS = f"{TMP}/ours", f"{TMP}/theirs"
FILES = [f"{TMP}/one", f"{TMP}/two"]
for f, program in zip(FILES, ("/bin/ls", "/bin/cat")):
    shutil.copy(program, f)


def ours(args):
    return kymo(f"buildid-cache --buildid-dir {OURS} {args}")


def theirs(args):
    return run(f"perf --buildid-dir {THEIRS} buildid-cache {args}")


def tree(folder):
    """Files and links of a cache, but for perf's list of probes and empty folders."""
    found = []
    for d, dirs, files in os.walk(folder):
        for name in files + [x for x in dirs if os.path.islink(os.path.join(d, x))]:
            p = os.path.join(d, name)
            if name != "probes":
                found.append((os.path.relpath(p, folder), os.readlink(p) if os.path.islink(p) else os.path.getsize(p)))
    return sorted(found)


for step in (f"-a {FILES[0]},/bin/true", f"-a {FILES[1]}", f"-a {FILES[1]}", f"-r {FILES[0]}", f"-u {FILES[1]}", f"-a {FILES[0]}", f"-p {FILES[1]}"):
    a, b = ours(step), theirs(step)
    check(f"{step.replace(TMP, '')}: done", a.code == 0, a)
    same(f"{step.replace(TMP, '')}: the same folder", tree(OURS), tree(THEIRS))
    same(f"{step.replace(TMP, '')}: the same list", ours("-l").out, theirs("-l").out)
same("perf lists ours", run(f"perf --buildid-dir {OURS} buildid-cache -l").out, ours("-l").out)
same("we list perf's", kymo(f"buildid-cache --buildid-dir {THEIRS} -l").out, theirs("-l").out)

# a new build under the old name: both are kept, --purge takes both
shutil.copy("/bin/cp", FILES[0])
ours(f"-a {FILES[0]}")
same("two builds of one path", ours("-l").out.count(FILES[0]), 2)
ours(f"-p {FILES[0]}")
same("purged, both", ours("-l").out.count(FILES[0]), 0)
ours("-P")
same("purge-all leaves nothing", tree(OURS), [])
r = ours("-a /etc/passwd")
check("what is no ELF file is refused", r.code == 1 and "not an ELF file" in r.err, r)
r = ours(f"-r {FILES[1]}")
check("what is not there cannot be removed", r.code == 1 and "not in the build-id cache" in r.err, r)

# --- which files of a recording are missing ---
data = f"{TMP}/data"
env = {"HOME": TMP, "XDG_CACHE_HOME": f"{TMP}/cache"}
made = run(f"perf --buildid-dir {TMP}/none record -q -N -o {data} {WORK}/busy 200", env=env)
listed = [x for x in run(f"perf buildid-list -i {data}").out.splitlines() if len(x.split()) == 2]
if made.code or not listed:
    skip("inject, --missing", "perf did not record build-ids here")
    shutil.rmtree(TMP)
    end()
same("all are missing in an empty cache", sorted(ours(f"-M {data}").out.splitlines()), sorted(listed))
program = next(x.split()[1] for x in listed if x.endswith("busy"))
ours(f"-a {program}")
same("and one less when it was added", sorted(ours(f"-M {data}").out.splitlines()), sorted(x for x in listed if not x.endswith("busy")))

# --- inject -b ---
bare, a, b = f"{TMP}/bare", f"{TMP}/a", f"{TMP}/b"
run(f"perf record -q -B -N -o {bare} {WORK}/busy 200", env=env)
run(f"perf inject -b -i {bare} -o {b}", env=env)
r = kymo(f"inject -b -i {bare} -o {a}", env=env)
check("inject -b", r.code == 0 and os.path.getsize(a) > os.path.getsize(bare), r)


def ids(file):
    return {x for x in run(f"perf buildid-list -i {file}").out.splitlines() if len(x.split()) == 2}


def user(lines):
    return {x for x in lines if "[" not in x}


check("perf reads the build-ids that perf's inject finds", user(ids(a)) and user(ids(a)) >= {x for x in user(ids(b)) if "busy" in x or "ld-linux" in x}, (ids(a), ids(b)))
same("and so do we", {x for x in kymo(f"buildid-list -i {a}").out.splitlines()}, ids(a))
pair = f"{'0123456789' * 4} {os.path.abspath(WORK)}/busy"
run(["perf", "inject", "-b", f"--known-build-ids={pair}", "-i", bare, "-o", f"{TMP}/known"], env=env)
r = kymo(["inject", "--known-build-ids", f"{'ab' * 20} /no/such,{pair}", "-i", bare, "-o", f"{TMP}/known2"], env=env)
check("--known-build-ids: the file has the one that was given", r.code == 0 and pair in ids(f"{TMP}/known2"), (r, ids(f"{TMP}/known2")))
check("as perf's", {x for x in ids(f"{TMP}/known") if "busy" in x} <= {pair}, ids(f"{TMP}/known"))
same("others as they are", user(ids(f"{TMP}/known2")) - {pair}, {x for x in user(ids(a)) if "busy" not in x})
with open(f"{TMP}/list", "w") as f:
    f.write(f"\n{pair}\n")
kymo(f"inject -b --known-build-ids file://{TMP}/list -i {bare} -o {TMP}/known3", env=env)
same("file://: from a list", ids(f"{TMP}/known3"), ids(f"{TMP}/known2"))
for o, part in (("nothex /bin/x", "no build-id and path"), ("abcd", "no build-id and path"), ("file:///no/such", "cannot read /no/such")):
    r = kymo(["inject", "--known-build-ids", o, "-i", bare, "-o", f"{TMP}/no"], env=env)
    check(f"--known-build-ids {o}: a clear error", r.code == 1 and part in r.err and not os.path.exists(f"{TMP}/no"), r)
want = run(f"perf script -i {bare}", env=env).out
check("there are samples", want.count("\n") > 50)
same("the same samples", run(f"perf script -i {a}", env=env).out, want)
same("the same header", [x for x in run(f"perf report --header-only -i {a}").out.splitlines() if "missing" not in x and "captured" not in x],
     [x for x in run(f"perf report --header-only -i {bare}").out.splitlines() if "missing" not in x and "captured" not in x])
same("in a pipe, for perf", run(f"{KYMO} inject -b -i {bare} | perf script -i -", shell=True, env=env).out, want)
same("from a pipe into a pipe", run(f"cat {bare} | {KYMO} inject -b | perf script -i -", shell=True, env=env).out, want)
kymo(f"record -q -B -o {TMP}/own -- {WORK}/busy 200", env=env)
kymo(f"inject -b -i {TMP}/own -o {TMP}/own2", env=env)
same("of kymo's recordings too: samples", kymo(f"script -i {TMP}/own2", env=env).out, kymo(f"script -i {TMP}/own", env=env).out)
check("and build-ids", "busy" in run(f"perf buildid-list -i {TMP}/own2").out)
kymo(f"record -q -z -B -o {TMP}/z -- {WORK}/busy 200", env=env)
kymo(f"inject -b -i {TMP}/z -o {TMP}/z2", env=env)
same("of compressed ones", kymo(f"script -i {TMP}/z2", env=env).out, kymo(f"script -i {TMP}/z", env=env).out)
same("unpacked into a pipe", run(f"{KYMO} inject -b -i {TMP}/z | perf script -i -", shell=True, env=env).out.count("\n"),
     run(f"perf script -i {TMP}/z", env=env).out.count("\n"))
same("again: the same file", (kymo(f"inject -b -i {a} -o {TMP}/twice", env=env).code, ids(f"{TMP}/twice")), (0, ids(a)))
shutil.copy(f"{WORK}/busy", f"{TMP}/later")
run(f"perf record -q -B -N -o {TMP}/old {TMP}/later 100", env=env)
os.utime(f"{TMP}/later", (2e9, 2e9))
r = kymo(f"inject -b -i {TMP}/old -o {TMP}/old2", env=env)
check("a program that was changed since is left out, and told", "changed after" in r.err and "later" not in kymo(f"buildid-list -i {TMP}/old2").out, r)
r = kymo(f"inject -j -i {bare} -o {TMP}/jit", env=env)
check("-j: the recording as it is, and a word", r.code == 0 and "nothing is merged" in r.err and kymo(f"script -i {TMP}/jit", env=env).out.count("\n") ==
      kymo(f"script -i {bare}", env=env).out.count("\n") > 0, r)

# --- inject -s ---
slept, events = f"{TMP}/slept", "sched:sched_stat_runtime,sched:sched_switch,sched:sched_process_exit"
if run(f"perf record -q -g -e {events} -o {slept} -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; {WORK}/known getppid=1; done'").code == 0:
    for _ in range(5):  # perf crashes now and then
        r = run(f"perf inject -s -i {slept} -o {b}")
        if r.code == 0:
            break
    fields = "-F comm,tid,cpu,time,event,period,ip --ns"
    got = kymo(f"inject -s -v -i {slept} -o {a}")
    mine = kymo(f"script -i {a} {fields}").out
    check("inject -s: times of sleeping with the stacks of those who slept", got.code == 0 and "sleeps" in got.err and
          mine.count("sched:sched_switch") > 8 and "stat_runtime" not in mine, (got, mine[:300]))
    if r.code == 0:
        same("as perf's", mine, kymo(f"script -i {b} {fields}").out)
    else:
        skip("as perf's", "perf inject -s crashed")
    same("with build-ids, in a pipe", run(f"{KYMO} inject -s -b -i {slept} | {KYMO} script -i - {fields}", shell=True).out, mine)
    r = kymo(f"inject -s -i {bare} -o {TMP}/none")
    check("of a recording without them: a clear word, and no file", r.code == 1 and "sched:sched_switch" in r.err and not os.path.exists(f"{TMP}/none"), r)
else:
    skip("inject -s", "no sched_stat tracepoints")

r = kymo(f"inject -b -i {a} -o {a}")
check("the same file in and out is refused", r.code == 1 and "same file" in r.err, r)
r = kymo("buildid-cache -l", env={"HOME": "/dev/null"})
check("where there can be no cache, how to name another", r.code == 1 and "--buildid-dir" in r.err, r)
shutil.rmtree(TMP)
end()
