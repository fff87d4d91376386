#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""What `make check` picks: the files that git says were changed, and the tests that are near to them."""
import os
import pathlib
import subprocess
import tempfile

import changed as picks
from tap import check, end, same

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = [*sorted((ROOT / "tests/cli").glob("*.py")), *sorted((ROOT / "tests/diff").glob("*.py")),
         *(ROOT / f"build/tests/unit/unit-{p.stem}" for p in sorted((ROOT / "tests/unit").glob("*.c"))),
         *(ROOT / f"build/tests/fuzz/unit-fuzz-{p.stem}" for p in sorted((ROOT / "tests/fuzz").glob("*.c")))]


def near(*names):
    return [f"{t.parent.name}/{t.name}" for _, t in picks.ranked(ROOT, TESTS, list(names))]


def repository():
    """Committed on a branch, changed since, and new: all three; on main the last commit."""
    with tempfile.TemporaryDirectory() as d:
        def git(*args):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *args], cwd=d, check=True, capture_output=True,
                           env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"})

        def commit(name):
            pathlib.Path(d, name).write_text(name)
            git("add", name)
            git("commit", "-m", name)

        git("init", "-b", "main")
        for name in ("first", "second", "third"):
            commit(name)
        same("on main: since the commit before", picks.files(d), ["third"])
        git("checkout", "-b", "work")
        commit("fourth")
        commit("fifth")
        pathlib.Path(d, "first").write_text("other")
        pathlib.Path(d, "new").write_text("new")
        same("on a branch: since it left main, and what is not committed", picks.files(d), ["fifth", "first", "fourth", "new"])


def tests_of():
    same("a part of a command: its tests", near("src/cmd/stat/out.c"), ["cli/stat.py", "diff/stat.py"])
    got = near("src/store/tracedat/tracedat.c")
    check("a reader: its own test first, then the commands that read with it",
          got[:1] == ["fuzz/unit-fuzz-tracedat"] and "cli/ftrace.py" in got and "cli/heat.py" not in got[:4], got)
    check("a part of a module: who uses the module", "diff/report.py" in near("src/calc/rows/hist_order.c"), near("src/calc/rows/hist_order.c"))
    same("a test itself", near("tests/cli/pprof.py"), ["cli/pprof.py"])
    check("what tests share: each that uses it", {"cli/front.py", "cli/terminal.py"} <= {*near("tests/lib/shell.py")}, near("tests/lib/shell.py"))
    same("a seed: its target", near("tests/fuzz/corpus/tar/empty"), ["fuzz/unit-fuzz-tar"])
    check("a page: flame graphs", "cli/flame_page.py" in near("web/flame.js"), near("web/flame.js"))
    same("what no test knows: none", near("LICENSE"), [])


repository()
tests_of()
end()
