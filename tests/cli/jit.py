#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of code that real runtimes compile on the fly, through /tmp/perf-PID.map and jitdump files."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from stacks import share, stacks
from tap import KYMO, check, end, has, kymo, run, same, skip

JS = """
function hotInner(x) { let s = 0; for (let i = 0; i < 2000; i++) s += Math.sqrt(x * i); return s; }
function hotOuter(n) { let t = 0; for (let i = 0; i < n; i++) t += hotInner(i); return t; }
let z = 0;
const end = Date.now() + 60000;
while (Date.now() < end) z += hotOuter(100);
console.log(z);
"""
JAVA = """
public class Hot {
    static double hotInner(int x) { double s = 0; for (int i = 0; i < 2000; i++) s += Math.sqrt(x * i); return s; }
    static double hotOuter(int n) { double t = 0; for (int i = 0; i < n; i++) t += hotInner(i); return t; }
    public static void main(String[] a) {
        double z = 0;
        long end = System.currentTimeMillis() + 60000;
        while (System.currentTimeMillis() < end) z += hotOuter(100);
        System.out.println(z);
    }
}
"""
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="kymo-jit-cache-")
folder = tempfile.mkdtemp(prefix="kymo-jit-")


def lines_of(pid, part):
    """The lines of a process's map that name part, last first."""
    try:
        with open(f"/tmp/perf-{pid}.map", errors="replace") as f:
            return [x.rstrip("\n").split(" ", 2) for x in f if part in x][::-1]
    except FileNotFoundError:
        return []


def ask(pid, addr):
    return kymo(f"addr2line --no-cache -f --pid {pid} {addr:x}").out.split("\n")[0]


def check_map(what, pid, part, frames, make_map=None):
    """frames: what doctor says of stacks through its code, which depends on frame pointers."""
    found = []
    for _ in range(100):
        time.sleep(0.1)
        if make_map:
            make_map()
        found = lines_of(pid, part)
        if found:
            break
    if not found:
        return skip(what, "the runtime wrote no map")
    start, size, name = found[0]
    start, size = int(start, 16), int(size, 16)
    same(f"{what}: start of a function", ask(pid, start), name)
    same(f"{what}: last byte of a function", ask(pid, start + size - 1), name)
    jit = [x for x in json.loads(kymo(f"doctor -p {pid} -j").out)["files"] if x["path"].startswith("[memory")]
    check(f"{what}: doctor -p knows of its map, and whether stacks go through", [(x["jit_map"], x["stacks"]) for x in jit] == [(True, frames)], jit)
    began = os.stat(f"/proc/{pid}").st_mtime
    os.utime(f"/tmp/perf-{pid}.map", (began - 60, began - 60))
    same(f"{what}: a map from before the process began is not read", ask(pid, start), "??")
    os.utime(f"/tmp/perf-{pid}.map")
    same(f"{what}: it is its own again", ask(pid, start), name)
    if os.geteuid() == 0:
        os.chown(f"/tmp/perf-{pid}.map", 12345, 12345)
        same(f"{what}: a map of another user is not read", ask(pid, start), "??")
        os.chown(f"/tmp/perf-{pid}.map", 0, 0)
        os.rename(f"/tmp/perf-{pid}.map", f"/tmp/perf-{pid}.map.kept")
        os.symlink(f"/tmp/perf-{pid}.map.kept", f"/tmp/perf-{pid}.map")
        same(f"{what}: nor one behind a link", ask(pid, start), "??")
        os.remove(f"/tmp/perf-{pid}.map")
        os.remove(f"/tmp/perf-{pid}.map.kept")


def check_advice(pid):
    """A running Java that has frame pointers is not told to be run with them."""
    said = []
    for _ in range(100):
        said = [x["fix"] for x in json.loads(kymo(f"doctor -p {pid} -j").out)["files"] if x["path"].startswith("[memory")]
        if said:
            break
        time.sleep(0.1)
    check("Java with frame pointers: doctor -p advises only what is missing",
          said and "DumpPerfMapAtExit" in said[0] and "PreserveFramePointer" not in said[0], said)


def with_process(argv, test):
    p = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        test(p.pid)
        check(f"{argv[0]} ran to the end of the test", p.poll() is None)
    finally:
        p.send_signal(signal.SIGKILL)
        p.wait()
        if os.path.lexists(f"/tmp/perf-{p.pid}.map"):
            os.remove(f"/tmp/perf-{p.pid}.map")


def record(what, argv, options=()):
    """Record a runtime to its end. The report by stacks, outermost first, as [(share, [functions])], and the recording."""
    out = os.path.join(folder, "r.data")
    r = kymo(["record", "-F", "997", "-g", "-k", "mono", "-o", out, *options, "--", *argv], cwd=folder, timeout=120)
    if r.code:
        skip(what, "cannot be recorded here: " + r.err.strip()[-200:])
        return None
    return stacks(out), out, r


def pictures(data):
    """What is said about pictures of a recording."""
    return [kymo(["flame", "-i", data, "-o", os.path.join(folder, f"x.{kind}")]).err for kind in ("svg", "html")] + [kymo(["collapse", data]).err]


def node_recorded():
    with open(os.path.join(folder, "short.js"), "w") as f:
        f.write(JS.replace("60000", "1200"))
    got = record("Node.js, recorded", ["node", "--perf-basic-prof", "short.js"])
    if got:
        found, out, r = got
        check("Node.js --perf-basic-prof: functions have names", share(found, "*hotOuter") > 20, found[:5])
        check("and callers, up to where the program began", share(found, "_start", "JSEntry", "hotOuter") > 20, found[:5])
        check("pictures need no advice then", not any("--perf-basic-prof" in x for x in pictures(out)), pictures(out))
    got = record("Node.js, jitdump", ["node", "--perf-prof", "short.js"], ["-N"])  # without a copy
    dumps = [x for x in os.listdir(folder) if x.startswith("jit-") and x.endswith(".dump")]
    if not got or not dumps:
        return skip("Node.js --perf-prof", "it wrote no jitdump")
    found, out, r = got
    dump = os.path.join(folder, dumps[0])
    check("Node.js --perf-prof: names from the jitdump", share(found, "*hotOuter") > 20, found[:5])
    check("whole stacks, too", share(found, "_start", "JSEntry", "hotOuter") > 20, found[:5])
    sites = kymo(f"script -i {out} -F ip,sym,dso").out
    check("script knows them", "hotOuter" in sites, sites[:2000])
    with open(dump, "rb") as f:
        data = f.read()
    for part in (0.97, 0.5, 0.01):
        with open(dump, "r+b") as f:
            f.truncate(int(len(data) * part))
        r = kymo(f"report -i {out} --stdio -g none")
        check(f"a jitdump cut to {part:.0%} gives what it has", r.code == 0 and "node" in r.out, r)
    with open(dump, "wb") as f:
        f.write(data[:40] + os.urandom(len(data) - 40))
    r = kymo(f"report -i {out} --stdio -g none")
    check("one full of nonsense too", r.code == 0, r)
    os.remove(dump)
    check("without it there are no names, and none that are wrong", share(stacks(out), "hotOuter") == 0)
    has("and it is said how to have them", kymo(f"report -i {out} --stdio -g none").out, "run Node.js with --perf-basic-prof")
    for what, said in zip(("an SVG", "a page", "folded text"), pictures(out)):
        has(f"{what} says so, too", said, "code that a runtime compiled: run Node.js with --perf-basic-prof")


def node_that_is_gone():
    """What a runtime wrote into a /tmp of its own is kept, though both ended with the recording; so is another user's."""
    container = ["unshare", "-mpf", "--mount-proc", "sh", "-c", 'mount -t tmpfs none /tmp && cd /tmp && exec "$@"', "sh"]
    lines = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    home = tempfile.mkdtemp(prefix="kymo-jit-", dir="/var/tmp")  # a place that the container sees
    os.chmod(home, 0o755)
    script = shutil.copy(os.path.join(folder, "short.js"), home)
    try:
        if os.geteuid() or subprocess.run([*container, *lines, "true"], capture_output=True).returncode:
            return skip("what runtimes of containers wrote", "unshare or setpriv do not work here")
        for what, argv in (("a container's map", [*container, "node", "--perf-basic-prof", script]),
                           ("a container's jitdump", [*container, "node", "--perf-prof", script]),
                           ("another user's map", [*lines, "node", "--perf-basic-prof", script])):
            got = record(what, argv)
            if not got:
                continue
            found, out, r = got
            check(f"{what} is kept, and names what ran", share(found, "_start", "JSEntry", "*hotOuter") > 20, found[:5])
            kept = re.search(r"^(\w{40}) (/tmp/(?:perf-\d+\.map|jit-\d+\.dump))$", kymo(f"buildid-list -i {out}").out, re.M)
            check("the recording says which copy is meant", kept and kept[0] in kymo("buildid-cache -l").out, kept)
            kymo(["archive", "-o", out + ".tar", out])
            check("an archive takes it along", share(stacks(out + ".tar"), "*hotOuter") > 20, r)
            os.remove(out + ".tar")
            if kept and not what.startswith("another"):
                kymo(["buildid-cache", "-r", kept[1]])
                same("without it there is no name", share(stacks(out), "hotOuter"), 0)
            elif kept:
                os.remove(kept[2])
        # two containers, each with a /tmp/jit-1.dump
        both = ["sh", "-c", '"$@" & "$@" & wait', "sh", *container, "node", "--perf-prof", script]
        got = record("two of one name", both)
        check("files that only their containers tell apart are not mixed up",
              got and "jit-1.dump" not in kymo(f"buildid-list -i {got[1]}").out and share(got[0], "hotOuter") == 0, got)
    finally:
        shutil.rmtree(home)


def node_of_a_user():
    """What an ordinary user's runtime wrote is the user's own, and named."""
    if os.geteuid() or not shutil.which("setpriv"):
        return skip("an ordinary user's jitdump", "needs root and setpriv")
    home = tempfile.mkdtemp(prefix="kymo-jit-user-")
    try:
        own = shutil.copy(KYMO, home)
        shutil.copy(os.path.join(folder, "short.js"), home)
        os.chown(home, 65534, 65534)
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", own]
        here = {"cwd": home, "env": {"HOME": home, "XDG_CACHE_HOME": ""}}
        r = run([*user, "record", "-e", "cpu-clock:u", "-F", "997", "-k", "mono", "-o", "u.data", "--", "node", "--perf-prof", "short.js"], **here)
        if r.code:
            return skip("an ordinary user's jitdump", "cannot record here: " + r.err.strip()[-200:])
        out = run([*user, "report", "-i", "u.data", "--stdio", "-s", "sym"], **here).out
        check("an ordinary user's jitdump has the names", "hotOuter" in out, out)
    finally:
        shutil.rmtree(home)


LATE = """
function hotInner(x) { let s = 0; for (let i = 0; i < 2000; i++) s += Math.sqrt(x * i); return s; }
function hotOuter(n) { let t = 0; for (let i = 0; i < n; i++) t += hotInner(i); return t; }
let z = 0;
for (let i = 0; i < 200; i++) z += hotOuter(100);
for (let k = 0; k < 200; k++) {  // so much code comes after it that it is written to the dump
    const f = new Function("a", "let s = 0; for (let i = 0; i < 5000; i++) s = (s * " + (k + 3) + " + a + i) | 0; return s");
    for (let i = 0; i < 30; i++) z += f(i);
}
const end = Date.now() + 60000;
while (Date.now() < end) z += hotOuter(100);
"""


def node_that_lives():
    """The jitdump of a process that goes on: top reads it, and what is written to it later is not missed."""
    with open(f"{folder}/late.js", "w") as f:
        f.write(LATE)

    def watched(pid):
        for _ in range(20):  # until all is compiled and written, and has been for as long as a look takes
            r = kymo(f"top --stdio --iterations 2 -d 1 -F 999 -p {pid}", timeout=60)
            found = re.search(r"^ +[4-9]\d\.\d+%  .*\*hot(Outer|Inner)", r.out, re.M)
            if found:
                break
        check("top: names from the jitdump of a process that runs", found, r)

    def whole():
        return kymo("report -i lives.data --stdio --no-children -g none -s sym", cwd=folder, timeout=60).out
    with_process(["node", "--perf-prof", "late.js"], watched)
    # here it is what was compiled last, which Node.js writes when it ends
    with open(f"{folder}/brief.js", "w") as f:
        # it says when both functions are compiled and hot, which a busy machine may take long for
        f.write(JS.replace("const end", 'z += hotOuter(100) + hotOuter(100); require("fs").writeSync(1, "hot\\n");\nconst end').replace("60000", "6000"))
    for dump in pathlib.Path(folder).glob("jit-*.dump"):
        dump.unlink()
    p = subprocess.Popen(["node", "--perf-prof", "brief.js"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    p.stdout.readline()
    kymo(f"record -q -F 999 -g -o lives.data -p {p.pid} -- sleep 1", cwd=folder, timeout=60)
    early = "hotOuter" in whole()  # on a busy machine more may have been compiled, and written, by then: it is kept
    p.communicate(timeout=60)
    check("record -p: what was written after the recording is read", re.search(r"^ +[4-9]\d\.\d+%  .*\*hot(Outer|Inner)", whole(), re.M), whole())
    for dump in pathlib.Path(folder).glob("jit-*.dump"):
        with open(dump, "r+b") as f:
            f.seek(24)
            f.write(b"\1\2\3")  # as if another process's: its time
    if early:
        skip("another dump of that name is not taken for it", "the recording has all names of its own")
    else:
        check("another dump of that name is not taken for it", "hotOuter" not in whole(), whole())


def java_recorded():
    with open(os.path.join(folder, "Hot.java"), "w") as f:
        f.write(JAVA.replace("60000", "1500"))
    if subprocess.run(["javac", "Hot.java"], cwd=folder, capture_output=True).returncode:
        return skip("Java, recorded", "no javac")
    words = ["java", "-Xshare:auto", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
             "-XX:CompileCommand=dontinline,Hot.hot*", "Hot"]
    maps = set(os.listdir("/tmp"))
    for fp in (True, False):
        got = record("Java, recorded", [words[0], *(["-XX:+PreserveFramePointer"] if fp else []), *words[1:]])
        if not got or not share(got[0], "Hot.hotInner"):
            skip(f"Java, frame pointers {fp}", "it wrote no map at its end")
            continue
        found = got[0]
        check(f"Java, frame pointers {fp}: functions have names", share(found, "Hot.hotInner") > 20, found[:5])
        if fp:
            check("and callers, up to where the thread began", share(found, "start_thread", "Hot.hotInner") > 20, found[:5])
        else:
            # a stack that cannot be followed ends there: no caller is made up
            bad = [st for p, st in found if "hotInner" in st[-1] and len(st) > 1 and
                   not any(x in st[-2] for x in ("hotOuter", "Interpreter", "StubRoutines", "hotInner"))]
            check("and no callers that are none", not bad, bad[:5])
            out = kymo(f"report -i {got[1]} --stdio -g none").out
            early = re.search(r"ending early: \d+ \(([\d.]+)%\)", out)
            if not early or float(early[1]) < 5:  # a busy machine left it no time to compile what loses them
                skip("what is said of stacks that end early", "few do")
                continue
            has("and it is said how to have them", out, "run Java with -XX:+PreserveFramePointer")
            for what, said in zip(("an SVG", "a page", "folded text"), pictures(got[1])):
                has(f"{what} says so, too", said, "end early, most in code that a runtime compiled: run Java with -XX:+PreserveFramePointer")
    for name in set(os.listdir("/tmp")) - maps:
        if name.startswith("perf-") and name.endswith(".map"):
            os.remove(f"/tmp/{name}")


def main():
    try:
        with open(os.path.join(folder, "hot.js"), "w") as f:
            f.write(JS)
        with open(os.path.join(folder, "Hot.java"), "w") as f:
            f.write(JAVA)
        if shutil.which("node"):
            with_process(["node", "--perf-basic-prof", "hot.js"], lambda pid: check_map("Node.js", pid, "*hotOuter", "yes"))  # ~ is bytecode
            node_recorded()
            node_of_a_user()
            node_that_is_gone()
            node_that_lives()
        else:
            skip("Node.js", "no node here")
        if shutil.which("java") and shutil.which("jcmd"):
            with_process(["java", "Hot.java"], lambda pid: check_map(
                "Java", pid, "hotOuter", "no", lambda: subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], capture_output=True)))
            with_process(["java", "-XX:+PreserveFramePointer", "Hot.java"], check_advice)
            java_recorded()
        else:
            skip("Java", "no java and jcmd here")
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(os.environ["XDG_CACHE_HOME"])
    end()


main()
