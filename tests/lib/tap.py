# SPDX-License-Identifier: MIT
"""TAP for Python tests, and running kymo.

    from tap import kymo, check, same, skip, end
    r = kymo("stat -x, -e page-faults true")
    check("exits 0", r.code == 0, r.err)
    end()
"""
import os
import shlex
import subprocess
import sys

KYMO = os.environ.get("KYMO", "build/kymo")
WORK = os.environ.get("KYMO_WORK", "build/tests/work")
SAN = bool(os.environ.get("KYMO_SAN"))
_n = _bad = 0


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.text = out + err

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


def run(cmd, timeout=60, env=None, shell=False, **kw):
    """Run a command line (split as a shell would), and return its exit code and texts."""
    argv = cmd if shell or isinstance(cmd, list) else shlex.split(cmd)
    try:
        r = subprocess.run(argv, capture_output=True, timeout=timeout, shell=shell, env={**os.environ, **(env or {})}, **kw)
    except subprocess.TimeoutExpired as e:
        print(f"# time-out after {timeout} s: {argv}", flush=True)  # tests/run shows it, also where nothing failed
        return Result("time-out", (e.stdout or b"").decode(errors="replace"), (e.stderr or b"").decode(errors="replace"))
    return Result(r.returncode, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace"))


def kymo(args, **kw):
    return run([KYMO, *shlex.split(args)] if isinstance(args, str) else [KYMO, *args], **kw)


def check(name, ok, detail=""):
    global _n, _bad
    _n += 1
    name = name.replace("#", "no.").replace("\n", " ")
    print(f"{'ok' if ok else 'not ok'} {_n} - {name}")
    if not ok:
        _bad += 1
        for line in str(detail).splitlines()[:40]:
            print(f"# {line}")
    sys.stdout.flush()
    return bool(ok)


def same(name, got, want):
    return check(name, got == want, f"got:  {got!r}\nwant: {want!r}")


def has(name, text, *parts):
    return check(name, all(p in text for p in parts), f"missing {[p for p in parts if p not in text]} in:\n{text}")


def skip(name, why):
    global _n
    _n += 1
    print(f"ok {_n} - {name} # SKIP {why}")


def end():
    print(f"1..{_n}")
    sys.exit(1 if _bad else 0)
