# SPDX-License-Identifier: MIT
"""A QEMU guest: its command line, its life and death, its output.

Emulation only, also where KVM would work: the same machine everywhere, and
counts that repeat. The result stream crosses a virtio port (lab/guest/init
writes it), the console is kept apart in a file.
"""

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

LAB = Path(__file__).resolve().parent

MACHINES = {
    "x86_64": ("ttyS0", "qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2"),
    # -icount gives the guest a PMU, and one that counts the same each time.
    "aarch64": ("ttyAMA0", "qemu-system-aarch64 -M virt,gic-version=3 -cpu max,pauth-impdef=on"
                           " -smp 1 -icount shift=1"),
}
ARCHES = list(MACHINES)

END = re.compile(rb"@exit (\d+)\n\Z")
PART_OF_END = re.compile(rb"@(e(x(i(t( (\d{1,3}\n?)?)?)?)?)?)?\Z")


class LabError(Exception):
    """Something the user should know, in one line."""


class Stopped(Exception):
    """stop() was called."""


_running = set()
_lock = threading.Lock()
_stopping = False


def _start(cmd, **kw):
    """Start a process that stop() can end, with all its children."""
    with _lock:
        if _stopping:
            raise Stopped
        try:
            proc = subprocess.Popen(cmd, start_new_session=True, **kw)
        except FileNotFoundError as e:
            raise LabError(f"{e.filename} is missing: run lab/setup") from None
        _running.add(proc)
        return proc


def _end(proc):
    """Wait for a process and forget it."""
    status = proc.wait()
    with _lock:
        _running.discard(proc)
        if _stopping:
            raise Stopped
    return status


def _kill(proc):
    if proc.poll() is not None:
        return
    try:
        os.killpg(proc.pid, signal.SIGTERM)
        proc.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(proc.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop():
    """End whatever runs and let nothing start any more."""
    global _stopping
    with _lock:
        _stopping = True
        running = list(_running)
    for proc in running:
        _kill(proc)


def step(cmd, **kw):
    """Run one of the lab's scripts; it has said what is wrong if it fails."""
    cmd = [str(c) for c in cmd]
    proc = _start(cmd, stdin=subprocess.DEVNULL, stdout=sys.stderr, **kw)
    try:
        status = _end(proc)
    except BaseException:
        _kill(proc)
        raise
    if status:
        raise LabError(f"{Path(cmd[0]).name} did not succeed")


class Guest:
    """One guest for one job. Use with `with`: leaving it removes its files."""

    def __init__(self, arch, args):
        self.arch, self.args = arch, args
        self.exit = None        # what the job ended with; None: it did not end
        self.seconds = 0.0      # how long the guest ran
        self.timed_out = False

    def __enter__(self):
        self.dir = Path(tempfile.mkdtemp(prefix=f"kymo-lab-{self.arch}-"))
        (self.dir / "job").mkdir()
        return self

    def __exit__(self, *_):
        if self.args.keep:
            print(f"lab/run: {self.arch}: everything is in {self.dir}", file=sys.stderr)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def job(self, kind, **files):
        for name, text in {"kind": kind + "\n", **files}.items():
            (self.dir / "job" / name).write_text(text)

    def pack(self):
        env = {**os.environ, "TMPDIR": str(self.dir)}
        step([LAB / "initramfs", self.arch, self.dir / "initramfs", self.dir / "job"], env=env)
        with open(self.dir / "disk", "wb") as disk:
            disk.truncate(64 << 20)
        env["PATH"] = env.get("PATH", "") + ":/usr/sbin:/sbin"
        step(["mke2fs", "-q", "-F", "-t", "ext4", self.dir / "disk"], env=env)

    def command(self, serial, port):
        console, machine = MACHINES[self.arch]
        quiet = "loglevel=7" if self.args.verbose else "quiet"
        return [
            # The guest must not outlive us, however we end.
            "setpriv", "--pdeathsig", "KILL", *machine.split(),
            "-m", "512", "-nodefaults", "-display", "none", "-no-reboot", "-serial", serial,
            "-kernel", str(LAB.parent / f"build-lab-{self.arch}" / "boot" / "vmlinuz"),
            "-initrd", str(self.dir / "initramfs"),
            "-append", f"console={console} panic=-1 oops=panic {quiet}",
            "-drive", f"if=none,id=disk,format=raw,cache=unsafe,file={self.dir}/disk",
            "-device", "virtio-blk-pci,drive=disk",
            "-device", "virtio-serial-pci",
            "-chardev", port, "-device", "virtserialport,chardev=port,name=lab",
        ]

    def interact(self):
        """Give the terminal to the guest's console."""
        cmd = self.command("mon:stdio", "null,id=port")
        return subprocess.call(cmd)

    def output(self):
        """Run the guest; yield the bytes of its result stream as they come."""
        fifo = self.dir / "port"
        os.mkfifo(fifo)
        fd = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        cmd = self.command("stdio", f"file,id=port,path={fifo}")
        if self.args.verbose or self.args.keep:
            print(f"lab/run: {shlex.join(cmd)}", file=sys.stderr)
        with open(self.dir / "console", "wb") as log:
            out = sys.stderr if self.args.verbose else log
            proc = _start(cmd, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        begin = time.monotonic()
        tail = b""
        try:
            while True:
                left = begin + self.args.timeout - time.monotonic()
                if left <= 0:
                    self.timed_out = True
                    break
                # Until the guest's QEMU has opened the fifo there is no end of file.
                if not select.select([fd], [], [], min(left, 0.5))[0]:
                    if proc.poll() is not None:
                        break
                    continue
                data = os.read(fd, 1 << 16)
                if not data:
                    if proc.poll() is not None:
                        break
                    time.sleep(0.02)
                    continue
                # Hold back what could be the end mark, or the beginning of it.
                tail += data
                m = PART_OF_END.search(tail, max(0, len(tail) - 16))
                hold = m.start() if m else len(tail)
                if hold:
                    yield tail[:hold]
                    tail = tail[hold:]
            if m := END.match(tail):
                self.exit = int(m[1])
                tail = tail[:m.start()]
            if tail:
                yield tail
        finally:
            os.close(fd)
            _kill(proc)
            self.seconds = time.monotonic() - begin
        _end(proc)

    def copy_output(self, to):
        for data in self.output():
            to.write(data)
            to.flush()
        if self.exit is None:
            raise LabError("\n".join([self.failure(), *self.console_tail()]))
        return self.exit

    def failure(self):
        """Why there was no proper end."""
        if self.timed_out:
            return f"the {self.arch} guest was stopped after {self.args.timeout:g} s (--timeout)"
        if any("Kernel panic" in line for line in self.console_tail(200)):
            return f"the kernel of the {self.arch} guest panicked"
        return f"the {self.arch} guest ended before its job did"

    def console_tail(self, lines=40):
        text = (self.dir / "console").read_text(errors="replace").replace("\r", "")
        return text.splitlines()[-lines:]
