#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Debug files from a real debuginfod server on this machine, and from servers that hang or lie."""
import http.server
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from tap import check, end, kymo, same, skip

folder = tempfile.mkdtemp(prefix="kymo-debuginfod-")
os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
os.environ["HOME"] = folder
# a refusal is remembered by the library for ten minutes; here only for this run
caches = 0
ids = {}


def path(name):
    return os.path.join(folder, name)


def sh(cmd):
    subprocess.run(cmd, shell=True, cwd=folder, check=True, capture_output=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(url, *options):
    """With a client cache of its own each time. Returns the answer and the seconds it took."""
    global caches
    caches += 1
    env = {"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": path(f"client{caches}"), "no_proxy": "*"}
    start = time.monotonic()
    r = kymo(["addr2line", "-fs", "--no-cache", "-e", path("bare"), *options, address], env=env, timeout=60)
    return r.out.split(), time.monotonic() - start


class Server(http.server.BaseHTTPRequestHandler):
    def send(self, name):
        with open(name, "rb") as f:
            data = f.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


class Liar(Server):
    def do_GET(self):
        self.send(path("other"))


def real_server():
    port = free_port()
    server = subprocess.Popen(["debuginfod", "-F", "-p", str(port), "-d", ":memory:", path("served")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            time.sleep(0.1)
            try:
                urllib.request.urlopen(f"{url}/buildid/{build_id}/debuginfo", timeout=2).read(10)
                break
            except (urllib.error.URLError, OSError):
                pass
        else:
            return skip("a real server", "debuginfod does not serve the file here")
        same("found on the server", ask(url)[0], ["deep", "prog.c:1"])
        same("not asked when told so", ask(url, "--no-debuginfod")[0], ["??", "??:0"])
        cache(url)
        os.rename(path("bare"), path("bare.kept"))
        shutil.copy(path("other.bare"), path("bare"))
        got, seconds = ask(url)
        os.rename(path("bare.kept"), path("bare"))
        same("a file the server does not have", got, ["??", "??:0"])
        check("is no reason to wait", seconds < 40, f"{seconds:.1f} s")
    finally:
        server.terminate()
        server.wait()


def cache(url):
    """buildid-cache --debuginfod: the debug info is kept beside the file, and found there without any server."""
    env = {"DEBUGINFOD_URLS": "", "DEBUGINFOD_CACHE_PATH": path("client-c"), "no_proxy": "*", "PERF_BUILDID_DIR": path("debug")}
    r = kymo(["buildid-cache", f"--debuginfod={url}", "-v", "-a", path("bare")], env=env, timeout=60)
    check("buildid-cache --debuginfod fetches debug info", r.code == 0 and "debug info" in r.err, r)
    r = kymo(["addr2line", "-fs", "--no-cache", "-e", path("bare"), address], env=env)
    same("which is found without a server", r.out.split(), ["deep", "prog.c:1"])
    r = kymo(["buildid-cache", f"--debuginfod={url}", "-a", path("other.bare")], env=env, timeout=60)
    check("what no server has is told", r.code != 0 and "no server has it" in r.err, r)
    r = kymo(["buildid-cache", "--debuginfod", "-a", path("other.bare")], env=env, timeout=60)
    check("without servers: how to name one", r.code != 0 and "DEBUGINFOD_URLS" in r.err, r)
    shutil.rmtree(path("debug"))


def bad_servers():
    liar = http.server.HTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=liar.serve_forever, daemon=True).start()
    same("a server that sends another build is not believed", ask(f"http://127.0.0.1:{liar.server_port}")[0],
         ["??", "??:0"])
    liar.shutdown()
    with socket.socket() as hang:
        hang.bind(("127.0.0.1", 0))
        hang.listen(8)
        got, seconds = ask(f"http://127.0.0.1:{hang.getsockname()[1]}", "--debuginfod-time", "2")
        same("a server that never answers", got, ["??", "??:0"])
        check("is given up in time", seconds < 40, f"{seconds:.1f} s")  # libdebuginfod itself waits for 90
    got, seconds = ask(f"http://127.0.0.1:{free_port()}")
    check("no server at all", got == ["??", "??:0"] and seconds < 40, f"{got} {seconds:.1f} s")


class Slow(Server):
    """Has the debug files of two programs; another one's never comes. Notes who asks for what, and when."""
    log, barrier = [], threading.Barrier(2)

    def do_GET(self):
        what = self.path.split("/")
        Slow.log.append(what[2])
        if what[2] == ids["stuck"]:
            time.sleep(20)
            return
        name = next((n for n in ("hot", "warm") if ids[n] == what[2]), None)
        if not name or what[3] != "debuginfo":
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        # each answers only when the other one is asked for, too: one after the other would take for ever
        try:
            Slow.barrier.wait(15)
        except threading.BrokenBarrierError:
            Slow.log.append("alone")
        self.send(path(f"{name}.debug"))


SPIN = """#include <time.h>
#include <sys/times.h>
#include <unistd.h>
static __attribute__((noinline)) void NAME_far(volatile int *x) { for (int i = 0; i < 1000; i++) *x += i * 3; }
__attribute__((noinline)) void NAME_near(volatile int *x) { for (int i = 0; i < 1000; i++) *x ^= i; }
int main(void) { volatile int x = 0; struct tms t;
  do { NAME_far(&x); NAME_near(&x); times(&t); } while (t.tms_utime < 30); return 0; }
"""


def report():
    """A recording of three programs: two whose debug files come, one for which the server hangs."""
    for name in ("hot", "warm", "stuck"):
        with open(path(f"{name}.c"), "w") as f:
            f.write(SPIN.replace("NAME", name))
        sh(f"gcc -O1 -g {name}.c -o {name} -Wl,--build-id && objcopy --only-keep-debug {name} {name}.debug && strip {name}")
        ids[name] = subprocess.run(f"readelf -n {name} | awk '/Build ID/ {{print $3}}'", shell=True, cwd=folder,
                                   capture_output=True, text=True).stdout.strip()
    r = kymo(["record", "-q", "-F", "2000", "-o", path("r.data"), "--", "sh", "-c", "./hot; ./warm; ./stuck"], cwd=folder)
    if r.code:
        return skip("report", "cannot record here: " + r.err.strip())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}", "DEBUGINFOD_CACHE_PATH": path("client-r"), "no_proxy": "*"}
    words = ["report", "-i", path("r.data"), "--stdio", "-g", "none", "-s", "sym"]
    r = kymo([*words, "--debuginfod-time", "4"], env=env, timeout=60)
    check("report: what servers have is named", all(f"{n}_{w}" in r.out for n in ("hot", "warm") for w in ("far", "near")), r)
    check("what hangs is left unnamed", "stuck_far" not in r.out, r.out)
    check("files are fetched side by side", "alone" not in Slow.log, Slow.log)
    check("and it says what did not come", "debuginfod:" in r.err and "--no-debuginfod" in r.err, r.err)
    before = len(Slow.log)
    kymo([*words, "--no-debuginfod"], env={**env, "DEBUGINFOD_CACHE_PATH": path("client-n"), "XDG_CACHE_HOME": path("c2")})
    kymo(["--no-debuginfod", *words], env={**env, "DEBUGINFOD_CACHE_PATH": path("client-n"), "XDG_CACHE_HOME": path("c2")})
    same("--no-debuginfod asks nobody, as an option of report or of kymo", len(Slow.log), before)
    server.shutdown()
    liar = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=liar.serve_forever, daemon=True).start()
    r = kymo(words, timeout=60, env={"DEBUGINFOD_URLS": f"http://127.0.0.1:{liar.server_port}", "XDG_CACHE_HOME": path("c4"),
                                     "DEBUGINFOD_CACHE_PATH": path("client-l"), "no_proxy": "*"})
    check("files of another build are told of, and not used", "of another build" in r.err and "hot_far" not in r.out, r)
    liar.shutdown()
    # a server that answers nothing at all is left alone by the next run
    with socket.socket() as hang:
        hang.bind(("127.0.0.1", 0))
        hang.listen(8)
        env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{hang.getsockname()[1]}", "DEBUGINFOD_CACHE_PATH": path("client-h"),
               "XDG_CACHE_HOME": path("c3"), "no_proxy": "*"}
        first = kymo(["addr2line", "-fs", "--debuginfod-time", "1", "-e", path("bare"), address], env=env, timeout=60)
        hang.setblocking(False)
        asked = 0
        while True:
            try:
                hang.accept()[0].close()
                asked += 1
            except BlockingIOError:
                break
        check("a silent server is asked once", asked > 0 and first.out.split() == ["??", "??:0"], f"{asked} {first}")
        r = kymo(words, env=env, timeout=60)
        try:
            hang.accept()
            again = True
        except BlockingIOError:
            again = False
        check("and not again by the next run", not again)
        check("which says so", "did not answer lately" in r.err, r.err)


def main():
    global address, build_id
    from_lib = subprocess.run("ldconfig -p | grep -q libdebuginfod.so.1", shell=True).returncode == 0
    if not shutil.which("gcc") or not from_lib:
        skip("all", "needs gcc and libdebuginfod")
        end()
    with open(path("prog.c"), "w") as f:
        f.write("int deep(int x) { return x * 3; }\nint main(int c, char **v) { return deep(c); }\n")
    with open(path("other.c"), "w") as f:
        f.write("int main(void) { return 5; }\n")
    sh("gcc -O1 -g -fno-inline prog.c -o prog -Wl,--build-id && gcc -g other.c -o other -Wl,--build-id; "
       "cp other other.bare; strip other.bare; mkdir served; objcopy --only-keep-debug prog served/prog.debug; "
       "cp prog bare; strip bare")
    address = subprocess.run("nm prog | awk '$3 == \"deep\" {print $1}'", shell=True, cwd=folder, capture_output=True,
                             text=True).stdout.strip()
    build_id = subprocess.run("readelf -n prog | awk '/Build ID/ {print $3}'", shell=True, cwd=folder,
                              capture_output=True, text=True).stdout.strip()
    try:
        if shutil.which("debuginfod"):
            real_server()
        else:
            skip("a real server", "no debuginfod here")
        bad_servers()
        report()
    finally:
        shutil.rmtree(folder)
    end()


main()
