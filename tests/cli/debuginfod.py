#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
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


class Liar(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(path("other"), "rb") as f:
            data = f.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


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
        os.rename(path("bare"), path("bare.kept"))
        shutil.copy(path("other.bare"), path("bare"))
        got, seconds = ask(url)
        os.rename(path("bare.kept"), path("bare"))
        same("a file the server does not have", got, ["??", "??:0"])
        check("is no reason to wait", seconds < 5, f"{seconds:.1f} s")
    finally:
        server.terminate()
        server.wait()


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
        check("is given up in time", seconds < 8, f"{seconds:.1f} s")
    got, seconds = ask(f"http://127.0.0.1:{free_port()}")
    check("no server at all", got == ["??", "??:0"] and seconds < 5, f"{got} {seconds:.1f} s")


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
    finally:
        shutil.rmtree(folder)
    end()


main()
