# SPDX-License-Identifier: MIT
"""Shells on a terminal of their own: what they show after a Tab, and what programs print there."""
import os
import pty
import select
import signal
import termios
import time


def on_terminal(argv, env=None, timeout=20, raw=False, size=None):
    """What a program prints when its output is a terminal (raw: its bytes), and its exit code."""
    pid, fd = pty.fork()
    if pid == 0:
        for name, value in {"TERM": "xterm", **(env or {})}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if size:
            termios.tcsetwinsize(0, size)
        os.execvp(argv[0], argv)
    out = read_bytes(fd, timeout, timeout)
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    return out if raw else out.decode(errors="replace"), os.waitstatus_to_exitcode(status)


def read_bytes(fd, quiet, limit):
    """What comes, until nothing has come for `quiet` seconds, the end, or `limit` seconds."""
    out, end = b"", time.monotonic() + limit
    while time.monotonic() < end:
        ready, _, _ = select.select([fd], [], [], quiet)
        if not ready:
            break
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    return out


def read(fd, quiet, limit):
    return read_bytes(fd, quiet, limit).decode(errors="replace")


class Shell:
    """An interactive shell, ready to be typed into."""

    def __init__(self, argv, setup, path):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", PS1="$ ", INPUTRC="/dev/null", ZDOTDIR="/nonexistent", PATH=path)
            os.execvp(argv[0], argv)
        os.write(self.fd, f"{setup}; echo rea''dy\n".encode())
        self.wait_for("ready\r\n")

    def wait_for(self, text, limit=30):
        out, end = "", time.monotonic() + limit
        while text not in out and time.monotonic() < end:
            out += read(self.fd, 0.1, 1)
        return out

    def tab(self, line, want):
        """The line as it looks after a Tab; waits until it ends with `want`, or 10 s."""
        read(self.fd, 0.1, 1)
        os.write(self.fd, line.encode() + b"\t")
        out = self.wait_for(want, 10)
        os.write(self.fd, b"\x15")  # Ctrl-U: an empty line for the next
        return out

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
