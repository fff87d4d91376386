#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: kernel
"""Small inputs that unpack to, or claim, more than a machine has: cut or refused with one line, within a budget."""
import gzip
import http.server
import os
import re
import shutil
import subprocess
import tarfile
import threading
import zlib

from files import Folder
from tap import KYMO, SAN, WORK, check, end, kymo, run, skip

MB = 1 << 20
at = Folder("kymo-bombs-")
ENV = {"HOME": at.root, "XDG_CACHE_HOME": at.path("cache"), "DEBUGINFOD_URLS": "", "LC_ALL": "C"}


def measured(args, env=None):
    """Exit code, stderr and the most memory it had, in MB."""
    with open(at.path("err"), "wb") as err, open(os.devnull, "wb") as null:
        p = subprocess.Popen([KYMO, *args.split()], stdout=null, stderr=err, stdin=null, env={**os.environ, **ENV, **(env or {})})
        _, status, usage = os.wait4(p.pid, 0)
    return os.waitstatus_to_exitcode(status), at.read("err"), usage.ru_maxrss // 1024


def bounded(what, args, most, text="would take more than", code=None, env=None):
    got, err, rss = measured(args, env)
    check(f"{what}: {text}", text in err and (code is None or got == code), (got, err))
    check(f"{what}: in one line, and what allows more", sum("KYMO_MAX_" in x for x in err.splitlines()) == 1 and "Traceback" not in err, err)
    check(f"{what}: below {most} MB of memory", rss < most or SAN, f"{rss} MB")


def du(path):
    return sum(os.lstat(os.path.join(d, f)).st_blocks * 512 for d, _, files in os.walk(path) for f in files)


# --- an archive of members that are nearly all zeros: 2 GB in 1 MB ---
if shutil.which("zstd"):
    with open(at.path("bomb.kymo"), "wb") as out:
        for i in range(8):
            info = tarfile.TarInfo(f"member/{i}")
            info.size = 256 * MB
            with open(at.path("member"), "wb") as f:
                f.write(info.tobuf())
                for _ in range(2048):  # less of it would be too good to be true
                    f.write(os.urandom(64))
                    f.seek((128 << 10) - 64, os.SEEK_CUR)
                f.truncate(512 + info.size)
            out.write(subprocess.run(["zstd", "-q", "-1", "-c", at.path("member")], stdout=subprocess.PIPE, check=True).stdout)
    os.unlink(at.path("member"))
    bounded("an archive of zeros", f"archive --unpack -d {at.path('out')} {at.path('bomb.kymo')}", 700, code=1)
    check("and little of the disk", du(at.root) < 700 * MB, du(at.root) // MB)
else:
    skip("archives", "needs zstd")
with gzip.open(at.path("nest.tar.gz"), "wb", 1) as z:
    info = tarfile.TarInfo("one")
    info.size = 1024 * MB
    z.write(info.tobuf())
    for _ in range(1024):
        z.write(bytes(MB))
bounded("a gzip of zeros", f"archive --unpack -d {at.path('out2')} {at.path('nest.tar.gz')}", 300, code=1)

# --- a profile, packed ---
with gzip.open(at.path("bomb.pb.gz"), "wb", 1) as z:
    for _ in range(1024):
        z.write(bytes(MB))
bounded("a profile of zeros", f"flame {at.path('bomb.pb.gz')} -o {at.path('x.svg')}", 900, code=1)

# --- debug info that unpacks to 1 GB ---
at.write("a.c", "int work(int n) { return n * 3; }\nint main(void) { return work(3); }\n")
if run(f"gcc -g -O0 -o {at.path('a')} {at.path('a.c')}").code == 0:
    packer = zlib.compressobj(9)
    blob = b"".join([packer.compress(bytes(MB)) for _ in range(1024)] + [packer.flush()])
    section = at.write("section", b"ZLIB" + (1024 * MB).to_bytes(8, "big") + blob)
    words = " ".join(f"--remove-section .debug_{s} --add-section .zdebug_{s}={section}" for s in ("str",))
    r = run(f"objcopy {words} {at.path('a')} {at.path('b')}")
    bounded("debug info of zeros", f"addr2line -e {at.path('b')} -f -i 0x1139", 800)
else:
    skip("debug info", "needs gcc")

# --- a perf map of holes ---
r = kymo(f"record -q -F 2000 -o {at.path('jit.data')} -- {WORK}/busy 300 jit", env=ENV)
pid = re.search(r"/tmp/perf-(\d+)\.map", kymo(f"report --stdio --sort dso,sym -v -i {at.path('jit.data')}", env=ENV).text + kymo(
    f"script -F dso,ip -i {at.path('jit.data')}", env=ENV).out)
pid = pid or re.search(r"tid (\d+)", kymo(f"report --stdio --sort dso -i {at.path('jit.data')}", env=ENV).out)
if pid:
    holes = f"/tmp/perf-{pid[1]}.map"
    with open(holes, "wb") as f:
        f.truncate(2047 * MB)
    bounded("a perf map of holes", f"report --stdio -i {at.path('jit.data')}", 300)
    os.unlink(holes)
else:
    check("JIT code was sampled", False)
before = du(at.path("cache"))
got, err, rss = measured(f"record -q -F 2000 -o {at.path('map.data')} -- sh -c truncate${{IFS}}-s${{IFS}}2000M${{IFS}}/tmp/perf-$$.map;exec${{IFS}}{os.path.abspath(WORK)}/busy${{IFS}}300${{IFS}}jit")
check("one at the end of a recording: little memory", got == 0 and (rss < 300 or SAN), (got, err, rss))
check("and no copy of it", du(at.path("cache")) - before < 64 * MB, du(at.path("cache")) // MB)
for f in os.listdir("/tmp"):
    if re.fullmatch(r"perf-\d+\.map", f) and os.lstat(f"/tmp/{f}").st_size == 2000 * MB and os.lstat(f"/tmp/{f}").st_uid == os.getuid():
        os.unlink(f"/tmp/{f}")
# a real one of 60 MB is read
if pid:
    start = 0x7f0000000000
    with open(holes, "w", encoding="ascii") as f:
        for i in range(1_000_000):
            f.write(f"{start + i * 64:x} 40 Lorg/example/package/ClassName;::methodNumber{i:08}\n")
    got, err, rss = measured(f"report --stdio -i {at.path('jit.data')}")
    check("a real map of many symbols is read", got == 0 and "KYMO_MAX" not in err, (err, rss))
    os.unlink(holes)


# --- a server that sends junk without end ---
class Junk(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(MB))
        except OSError:
            pass

    def log_message(self, *_):
        pass


if run("ldconfig -p").out.find("libdebuginfod.so.1") < 0:
    skip("debuginfod", "needs libdebuginfod")
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Junk)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run(f"strip -o {at.path('bare')} {at.path('a')}")
    bounded("a server's junk", f"addr2line -e {at.path('bare')} -f 0x1139", 300, env={
        "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}", "DEBUGINFOD_CACHE_PATH": at.path("client"), "KYMO_MAX_DISK": "64M", "no_proxy": "*"})
    check("and none of it stays", du(at.path("client")) < 8 * MB, du(at.path("client")) // MB)
    server.shutdown()
at.remove()
end()
