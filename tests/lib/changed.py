# SPDX-License-Identifier: MIT
"""Which tests a change is about, as far as file names and #include lines tell.

A test that was changed comes first, then those nearest to a changed source: one step from a source to who includes
its header, and one from a command to the tests that bear its name. What the build makes of other files (pages, BPF
programs, tools) is in RULES.
"""
import collections
import pathlib
import re
import subprocess

# A changed file's beginning, and the tests (beginnings of their names) that look at it.
RULES = [
    ("README.md", "front"), ("man/", "front"), ("docs/", "front"), ("scripts/install", "front"),
    ("scripts/lint", "front"), ("tools/", "tools"), ("scripts/tools", "tools"),
    ("web/heat", "heat"), ("web/", "flame"), ("bpf/trace", "trace"), ("bpf/time", "tools"),
    ("bpf/", "walker record offcpu unwind"), ("tests/work/", "record stat trace unwind"),
    ("tests/data/trace.dat", "trace ftrace"), ("tests/data/lang", "lang"), ("tests/data/", "spec env list script"),
    ("tests/fuzz/fuzz.h", "fuzz"), ("tests/fuzz/replay.c", "fuzz"), ("tests/fuzz/meson.build", "fuzz"),
]
FAR = 4  # steps; farther away nearly everything is


def git(root, *args):
    r = subprocess.run(["git", *args], cwd=root, capture_output=True, text=True)
    return r.stdout.split("\n")[:-1] if r.returncode == 0 else []


def since(root):
    """The commit that this work began at: where it left main, or the one before where it is main."""
    head = git(root, "rev-parse", "HEAD")
    for main in ("origin/main", "main", "origin/master", "master"):
        base = git(root, "merge-base", "HEAD", main)
        if base and base != head:
            return base[0]
    return (git(root, "rev-parse", "HEAD~1") or head or [""])[0]


def files(root):
    """Names of what differs from then: committed, not yet committed, and new files that git does not know."""
    base = since(root)
    names = git(root, "diff", "--name-only", base) if base else []
    return sorted({*names, *git(root, "ls-files", "--others", "--exclude-standard")})


def header_of(name, known):
    """The headers that declare what a .c file has: its own, of the longest beginning (hist_order.c: hist.h), or its room's."""
    folder, stem = name.rsplit("/", 1)[0], pathlib.Path(name).stem
    while stem:
        found = [h for h in (f"{folder}/{stem}.h", f"{folder}/{stem}_impl.h") if h in known]
        if found:
            return found
        stem = stem.rpartition("_")[0]
    return [h for h in (f"{folder}/{pathlib.Path(folder).name}.h", f"{folder}/impl.h") if h in known]


def includers(root):
    """For each file, who is one step farther: those that include it, and for a .c file its header."""
    sources = [p for d in ("src", "tests/unit", "tests/fuzz") for p in (root / d).rglob("*.[ch]")]
    known = {str(p.relative_to(root)) for p in sources}
    steps = collections.defaultdict(set)
    for p in sources:
        name = str(p.relative_to(root))
        for header in re.findall(r'^#include "([^"]+)"', p.read_text(errors="replace"), re.M):
            here = f"{name.rsplit('/', 1)[0]}/{header}"
            steps[here if here in known else f"src/{header}"].add(name)
        if p.suffix == ".c":
            steps[name].update(header_of(name, known))
    return steps


def distances(root, changed):
    steps, far = includers(root), {name: 0 for name in changed}
    queue = collections.deque(changed)
    while queue:
        name = queue.popleft()
        for other in steps.get(name, ()):
            if other not in far:
                far[other] = far[name] + 1
                queue.append(other)
    return far


def first_word(stem):
    return re.split(r"[_-]", stem)[0]


def command_word(root, name):
    """The command that a source below src/cmd is a part of: its room's, where it includes the room's header."""
    path = pathlib.Path(name)
    room = path.parent.name
    part = path.stem == room or f'"cmd/{room}/{room}.h"' in (root / name).read_text(errors="replace")
    return room if part else first_word(path.stem)


def distance(root, test, far, changed):
    """How far a test program (tests/cli/x.py, or build/.../unit-x) is from what changed; None: not known."""
    stem = test.stem.removeprefix("unit-")
    if test.suffix == ".py":
        own = str(test.relative_to(root))
        lib = {f"tests/lib/{w}.py" for w in re.findall(r"^(?:from|import) (\w+)", test.read_text(), re.M)}
        near = [far[f] + 1 for f in far if f.startswith("src/cmd/") and (root / f).exists() and first_word(stem) == command_word(root, f)]
        near += [1 for f in changed if f in lib]
    else:
        own = f"tests/fuzz/{stem.removeprefix('fuzz-')}.c" if stem.startswith("fuzz-") else f"tests/unit/{stem}.c"
        near = [1 for f in changed if stem.startswith("fuzz-") and f.startswith(f"tests/fuzz/corpus/{stem[5:]}/")]
    near += [far[own]] if own in far else []
    for f in changed:
        words = next((words for start, words in RULES if f.startswith(start)), "").split()
        near += [1 for w in words if stem.startswith(w)]
    return min(near, default=None)


def ranked(root, tests, changed):
    """Those of the tests that are near to what changed, the nearest first: (distance, test)."""
    far = distances(root, changed)
    found = [(distance(root, t, far, changed), t) for t in tests]
    return sorted(((d, t) for d, t in found if d is not None and d <= FAR), key=lambda x: (x[0], x[1].name))
