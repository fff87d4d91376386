# SPDX-License-Identifier: MIT
"""Programs that come and go: each a file of its own, with a build-id of its own.

    with Churn(folder) as c:      # run one after the other, by a process of its own
        ...
        c.done()                  # how many so far
"""
import os
import pathlib
import re
import subprocess
import sys
import time

# what the process does: a program is written, run, and taken away some time later, as packages and builds do
SCRIPT = """
import os, sys, pathlib, shutil
source, folder, turns, keep = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
data = bytearray(pathlib.Path(source).read_bytes())
at = data.index(b"\\x04\\0\\0\\0\\x14\\0\\0\\0\\x03\\0\\0\\0GNU\\0") + 16  # the build-id's note
n = 0
while True:
    path = folder / f"program{n:07}"
    data[at:at + 8] = (n + 1).to_bytes(8, "big")
    path.write_bytes(data)
    path.chmod(0o755)
    os.waitpid(os.posix_spawn(path, [path.name, turns], {}), 0)
    n += 1
    if n > keep:
        (folder / f"program{n - 1 - keep:07}").unlink()
    (folder / "new").write_text(str(n))
    (folder / "new").replace(folder / "done")
"""


class Churn:
    def __init__(self, program, folder, turns=2000000, keep=1000):
        self.folder = pathlib.Path(folder)
        self.p = subprocess.Popen([sys.executable, "-c", SCRIPT, program, folder, str(turns), str(keep)])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.p.kill()
        self.p.wait()

    def done(self):
        try:
            return int((self.folder / "done").read_text() or 0)
        except OSError:
            return 0


def used(pid):
    """Memory of its own in KiB, and descriptors."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1]), len(os.listdir(f"/proc/{pid}/fd"))


def watch(pid, churn, until, every=0.5):
    """Until so many programs have run or so many seconds are over: (programs, KiB, descriptors) again and again."""
    programs, seconds = until
    end, seen = time.monotonic() + seconds, []
    while time.monotonic() < end and churn.done() < programs:
        seen.append((churn.done(), *used(pid)))
        time.sleep(every)
    return seen
