# SPDX-License-Identifier: MIT
"""TAP out of what the guests say (see lab/guest/suite)."""

import re
import sys
import threading
import time

CHECK = re.compile(r"(ok|not ok) - (.*?)(?: # SKIP ?(.*))?$")


class Report:
    """Numbers and counts the checks of all guests; threads may share it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0

    def check(self, ok, name, skip=None):
        with self.lock:
            if skip is not None:
                self.skipped += 1
            elif ok:
                self.passed += 1
            else:
                self.failed += 1
            number = self.passed + self.failed + self.skipped
            reason = "" if skip is None else f" # SKIP {skip}"
            print(f"{'ok' if ok else 'not ok'} {number} - {name}{reason}", flush=True)

    def remark(self, arch, text):
        with self.lock:
            print(f"# {arch}: {text}", flush=True)

    def broken(self, arch, text):
        lines = text.splitlines()
        self.check(False, f"{arch}: {lines[0]}")
        for line in lines[1:]:
            self.remark(arch, line)

    def read(self, arch, guest):
        """Run the guest's suite and report it."""
        suite = _Suite(self, arch, guest.args.verbose)
        rest = b""
        for data in guest.output():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                suite.line(line.decode(errors="replace"))
        if rest:
            suite.line(rest.decode(errors="replace"))
        if guest.exit != 0:
            where = f" in {suite.file}" if suite.file else ""
            self.broken(arch, "\n".join([guest.failure() + where, *guest.console_tail()]))
        self.remark(arch, f"the guest ran for {guest.seconds:.1f} s, "
                          f"of it {suite.boot:.1f} s to the first test")

    def finish(self):
        with self.lock:
            print(f"1..{self.passed + self.failed + self.skipped}")
            print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
            return 1 if self.failed or not self.passed else 0


class _Suite:
    """The state of one guest's output."""

    def __init__(self, report, arch, verbose):
        self.report, self.arch, self.verbose = report, arch, verbose
        self.file = None        # the test file that runs now
        self.begin = time.monotonic()
        self.boot = 0.0

    def line(self, line):
        line = line.rstrip("\r")
        word, _, rest = line.partition(" ")
        if word == "@begin":
            self.boot = self.boot or time.monotonic() - self.begin
            self.file, self.checks, self.complete = rest.removesuffix(".sh"), 0, False
            self.started = time.monotonic()
        elif word == "@complete":
            self.complete = True
        elif word == "@end":
            self.end(rest.split()[-1])
        elif m := CHECK.match(line):
            self.checks += 1
            self.report.check(m[1] == "ok", f"{self.arch} {self.file}: {m[2]}", m[3])
        elif line not in ("", "#", "# "):
            self.report.remark(self.arch, line.removeprefix("# "))

    def end(self, status):
        name = f"{self.arch} {self.file}"
        seconds = time.monotonic() - self.started
        if not self.complete:
            why = "its time was up" if status == "137" else f"status {status}"
            self.report.check(False, f"{name}: ended early ({why}, after {seconds:.0f} s)")
        elif not self.checks:
            self.report.check(False, f"{name}: has no check in it")
        elif self.verbose or seconds > 10:
            self.report.remark(self.arch, f"{self.file} took {seconds:.1f} s")
        self.file = None
