#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of code that real runtimes compile on the fly, through /tmp/perf-PID.map."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

from tap import check, end, kymo, same, skip

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


def check_map(what, pid, part, make_map=None):
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
    if os.geteuid() == 0:
        os.chown(f"/tmp/perf-{pid}.map", 12345, 12345)
        same(f"{what}: a map of another user is not read", ask(pid, start), "??")
        os.chown(f"/tmp/perf-{pid}.map", 0, 0)
        os.rename(f"/tmp/perf-{pid}.map", f"/tmp/perf-{pid}.map.kept")
        os.symlink(f"/tmp/perf-{pid}.map.kept", f"/tmp/perf-{pid}.map")
        same(f"{what}: nor one behind a link", ask(pid, start), "??")
        os.remove(f"/tmp/perf-{pid}.map")
        os.remove(f"/tmp/perf-{pid}.map.kept")


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


def main():
    try:
        with open(os.path.join(folder, "hot.js"), "w") as f:
            f.write(JS)
        with open(os.path.join(folder, "Hot.java"), "w") as f:
            f.write(JAVA)
        if shutil.which("node"):
            with_process(["node", "--perf-basic-prof", "hot.js"], lambda pid: check_map("Node.js", pid, "*hotOuter"))  # ~ is bytecode
        else:
            skip("Node.js", "no node here")
        if shutil.which("java") and shutil.which("jcmd"):
            with_process(["java", "Hot.java"], lambda pid: check_map(
                "Java", pid, "hotOuter", lambda: subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], capture_output=True)))
        else:
            skip("Java", "no java and jcmd here")
    finally:
        shutil.rmtree(folder)
    end()


main()
