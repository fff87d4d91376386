# SPDX-License-Identifier: MIT
"""A file that tells whether somebody opened it, as a device would: a pipe with a writer that waits for a reader.

    from trap import Trap
    trap = Trap(at.path("watchdog"))
    ...                                # kymo reads something that names this path
    check("it was not opened", not trap.sprung())
    trap.remove()
"""
import os
import signal
import time


class Trap:
    def __init__(self, path):
        self.path, self.gone = path, False
        os.mkfifo(path)
        os.chmod(path, 0o666)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.open(path, os.O_WRONLY)  # returns when anybody opens it to read, however briefly
            finally:
                os._exit(7)
        for _ in range(500):  # until it waits
            with open(f"/proc/{self.pid}/syscall", encoding="ascii") as f:
                if f.read().split()[0] not in ("running", "-1"):
                    break
            time.sleep(0.01)

    def sprung(self):
        time.sleep(0.05)
        if not self.gone:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.gone = pid != 0 and os.WIFEXITED(status)
        return self.gone

    def remove(self):
        if not self.sprung():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.unlink(self.path)
