#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""The front door: help, suggestions, man pages, completion, symlinks, installation, colours, broken outputs, README."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from shell import Shell, on_terminal
from tap import KYMO, SAN, WORK, check, end, has, kymo, run, same, skip

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.dirname(KYMO)
COMMANDS = [c for c in json.loads(kymo("--introspect").out) if c["group"]]
NAMES = [c["name"] for c in COMMANDS]


def options(c):
    return [o for o in c["options"] if "heading" not in o]


def everything(commands, above=""):
    """Each command and subcommand with its full name."""
    for c in commands:
        yield f"{above}{c['name']}", c
        yield from everything(c["subcommands"], f"{above}{c['name']} ")


def overview():
    shown = kymo("help")
    for args in ([], ["--help"], ["-h"]):
        r = kymo(args)
        check(f"kymo {' '.join(args)}: the overview, exit 0", r.code == 0 and r.out == shown.out and r.err == "", r)
    missing = [n for n in NAMES if not re.search(rf"(^| ){re.escape(n)}( |$)", shown.out, re.M)]
    check("every command is in it", not missing, missing)
    headings = re.findall(r"^(\S.*):$", shown.out, re.M)
    same("each group once", len(headings), len(set(headings)))
    has("with examples", shown.out, "Examples:", "  kymo stat ls")
    check("it fits a screen", len(shown.out.splitlines()) <= 75 and max(map(len, shown.out.splitlines())) <= 100, shown.out)


def undone():
    """--no-NAME is understood or refused, never called without the value that is judged."""
    if SAN:
        skip("each option's --no- form", "once is enough")
        return
    odd = []
    for name, c in everything(COMMANDS):
        for o in (o for o in options(c) if "long" in o):
            code = kymo([*name.split(), f"--no-{o['long']}", "-h"]).code
            if code != 0 and (o["negatable"] or code != 129):  # one without may still be another's beginning
                odd.append((name, o["long"], code))
    check("each option's --no- form", not odd, odd)


def help_of_each():
    for name, c in [*everything(COMMANDS)][::4 if SAN else 1]:
        r = kymo(["help", *name.split()])
        same(f"help {name}: exit 0, as {name} -h and --help", [(x.code, x.out, x.err) for x in (kymo([*name.split(), "-h"]),
             kymo([*name.split(), "--help"]))], [(0, r.out, "")] * 2)
        check(f"{name}: has a summary and examples", r.out.startswith(f"kymo {name} - ") and f"\nusage: kymo {name}" in r.out
              and (" " in name or "\nExamples:\n  kymo " in r.out), r.out)
        check(f"{name}: what an example is for stands in one column, or below", all(re.search(rf"  kymo {re.escape(x['line'])}(\n {{8}}| {{2,}}){re.escape(x['what'])}$", r.out, re.M)
              for x in c["examples"]) and all(len(x) <= 96 for x in r.out.partition("\nExamples:\n")[2].splitlines() if re.search("  kymo .*  ", x)), r.out)
        missing = [o for o in options(c) if "long" in o and not re.search(rf"^  (-., |    )--{re.escape(o['long'])}\b", r.out, re.M)
                   or "long" not in o and not re.search(rf"^  -{re.escape(o['short'])}\b", r.out, re.M)]
        check(f"{name}: every option is shown", not missing, missing)
        bare = [o for o in options(c) if len(o["help"]) < 3 or re.search(r"[^.]\.$", o["help"])]
        check(f"{name}: and explained in a phrase", not bare, bare)
        keys = [k for o in options(c) for k in (o.get("short"), o.get("long")) if k]
        same(f"{name}: none twice", sorted(keys), sorted(set(keys)))
        broken = [x["line"] for i, x in enumerate(c["examples"]) if not x["what"] or i == 0 and x["line"].split()[0] != name.split()[0]]
        check(f"{name}: examples begin with this command's", not broken, broken)


def swapped(word):
    """A typing slip: two neighbours that differ, exchanged."""
    i = next((i for i in range(len(word) // 2, len(word) - 1) if word[i] != word[i + 1]), None)
    return word[:i] + word[i + 1] + word[i] + word[i + 2:] if i else word + word[-1]


def suggestions():
    for name in NAMES:
        r = kymo([swapped(name)])
        check(f"{swapped(name)}: suggests {name}", r.code == 129 and r.out == "" and "did you mean" in r.err and name in r.err, r)
    wrong = []
    for name, c in everything(COMMANDS):
        for o in options(c)[::6 if SAN else 1]:  # they all go the same way
            if len(o.get("long", "")) > 4:
                slip = swapped(o["long"])
                r = kymo([*name.split(), f"--{slip}"])
                if not (r.code == 129 and f"unknown option --{slip}" in r.err and o["long"] in r.err.split("hint:")[-1]):
                    wrong.append((name, slip, r.code, r.err))
    check("a slip in any long option suggests it", not wrong, wrong[:5])
    r = kymo("qqqqqqq")
    check("nothing near: where to look", r.code == 129 and "'kymo help'" in r.err, r)
    r = kymo("help stta")
    check("help of a slip", r.code != 0 and "did you mean stat" in r.err, r)
    r = kymo("--colr=never stat true")
    check("a slip before the command", r.code == 129 and "did you mean --color" in r.err, r)
    r = kymo("--color=pink help")
    check("a wrong value before the command", r.code == 129 and "auto, always or never" in r.err, r)
    r = kymo("stat -")
    check("a lone dash is a command's name", "unknown option" not in r.err, r)


def man_pages():
    folder = os.path.join(BUILD, "man")
    if SAN or not shutil.which("scdoc") or not shutil.which("man"):
        skip("man pages", "once is enough" if SAN else "scdoc or man is not installed")
        return
    for name, c in [("kymo", None), *((f"kymo-{c['name']}", c) for c in COMMANDS)]:
        page = f"{folder}/{name}.1"
        r = run(["man", "--warnings", "-E", "UTF-8", "-P", "cat", "-l", page], env={"MANWIDTH": "120", "LC_ALL": "C.UTF-8"})
        text = re.sub(r".\x08|\x1b\[[\d;]*m", "", r.out)
        check(f"{name}(1): can be shown without a warning", r.code == 0 and not r.err, r.err or r)
        has(f"{name}(1): has its sections", text, "NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO")
        if not c:
            missing = [n for n in NAMES if f"kymo-{n}(1)" not in text]
            check("kymo(1): names every command's page", not missing, missing)
            continue
        head, _, rest = text.partition("\nOPTIONS")
        missing = [o for x in [c, *c["subcommands"]] for o in options(x)
                   if not re.search(rf"--{re.escape(o['long'])}\b" if "long" in o else rf"^ +-{re.escape(o['short'])}\b", rest, re.M)]
        check(f"{name}(1): OPTIONS has every option", bool(rest) and not missing, missing)
        check(f"{name}(1): EXAMPLES has every example", all(re.sub(r"\s+", "", x["line"]) in re.sub(r"\s+", "", rest)
                                                           for x in c["examples"]) and "\nEXAMPLES" in text, text[-2000:])


def page_of_all():
    path = f"{BUILD}/man/kymo.1"
    if not os.path.exists(path):
        skip("kymo(1): each heading once", "no scdoc")
        return
    headings = re.findall(r"^\.S[HS] (.*)$", open(path).read(), re.M)
    same("kymo(1): each heading once", sorted(headings), sorted(set(headings)))


def words(*typed):
    return [x.split("\t")[0] for x in kymo(["completion", "--words", "--", *typed]).out.splitlines()]


def completion_words():
    same("commands", words(""), NAMES)
    same("a command", words("versi"), ["version"])
    same("a command for help", words("help", "versi"), ["version"])
    same("a word that is none", words("nosuch", ""), [])
    wrong = []
    for name, c in everything(COMMANDS):
        if name == "help":
            continue
        want = {f"--{o['long']}" if "long" in o else f"-{o['short']}" for o in options(c)} | {"--help"}
        if set(words(*name.split(), "-")) != want:
            wrong.append((name, want ^ set(words(*name.split(), "-"))))
    check("the options of every command, all and no others", not wrong, wrong)
    same("an event", words("stat", "-e", "context-sw"), ["context-switches"])
    same("after a comma", words("stat", "-e", "cs,minor-f"), ["cs,minor-faults"])
    same("--event=", words("stat", "--event=minor-f"), ["--event=minor-faults"])
    same("in a cluster", words("stat", "-aeminor-f"), ["-aeminor-faults"])
    same("the next option after a value", words("stat", "-e", "cs", "--interval-co"), ["--interval-count"])
    same("the command to run", words("stat", "-e", "cs", ""), ["@commands"])
    same("the same after --", words("stat", "-a", "--", "l"), ["@commands"])
    same("its arguments are files", words("stat", "ls", "-"), ["@files"])
    same("files", words("report", "-i", "x"), ["@files"])
    check("processes", str(os.getpid()) in words("stat", "-p", str(os.getpid())[:-1]), words("stat", "-p", ""))
    check("CPUs, users", "0" in words("stat", "-C", "") and "root" in words("stat", "-u", "ro"))
    same("an event for list", words("list", "context-sw"), ["context-switches"])
    same("shells", words("completion", ""), ["bash", "zsh", "fish"])
    same("keys of a report, in a list", words("report", "--sort", "comm,srcl"), ["comm,srcline", "comm,srcline_from", "comm,srcline_to"])
    same("keys that are added", words("diff", "-s", "+pare"), ["+parent"])
    same("system calls of trace", words("trace", "-e", "read,opena"), ["read,openat", "read,openat2"])
    same("without some", words("trace", "-e", "!futex_wak"), ["!futex_wake"])
    same("groups of them", words("trace", "-e", "%netw"), ["%network"])
    same("other events of trace", words("trace", "-e", "sched:sched_switc"), words("stat", "-e", "sched:sched_switc"))
    same("system calls of heat", words("heat", "--syscall", "pwritev"), ["pwritev", "pwritev2"])
    with tempfile.TemporaryDirectory() as d:
        r = run([os.path.abspath(KYMO), "record", "-q", "-e", "cpu-clock:u", "-c", "500000", "--", os.path.abspath(f"{WORK}/hotcode"), "100"], cwd=d)
        got = [x.split("\t")[0] for x in run([os.path.abspath(KYMO), "completion", "--words", "--", "annotate", "coll"], cwd=d).out.splitlines()]
        check("functions of annotate", got == ["collatz"] or r.code, (got, r))
    same("fields of script", words("script", "-F", "comm,symo"), ["comm,symoff"])
    same("fields that are left out", words("script", "-F", "-tim"), ["-time"])
    same("kinds of graphs", words("report", "-g", "f"), ["fractal", "flat", "folded", "function"])
    same("kinds of stacks", words("top", "--call-graph", ""), words("record", "--call-graph", ""))


def shells(folder):
    """Real shells, typed into: the program must be found as kymo."""
    os.symlink(KYMO, f"{folder}/kymo")
    path = f"{folder}:{os.environ['PATH']}"
    tries = [("kymo versi", "kymo version "), ("kymo stat --interval-co", "kymo stat --interval-count "),
             ("kymo stat -e context-sw", "kymo stat -e context-switches "),
             ("kymo stat -e cs,minor-f", "kymo stat -e cs,minor-faults "),
             ("kymo stat --event=minor-f", "kymo stat --event=minor-faults "),
             ("kymo stat -e 'minor-f", "kymo stat -e 'minor-faults' "),
             ("kymo report -i /etc/passw", "kymo report -i /etc/passwd"),
             ("kymo stat -o /etc/hostnam", "kymo stat -o /etc/hostname "),
             ("kymo stat setpri", "kymo stat setpriv ")]
    if kymo("list sched:sched_switch").out:
        tries += [("kymo stat -e sched:sched_swi", "kymo stat -e sched:sched_switch "),
                  ("kymo record -e cs,sched:sched_swi", "kymo record -e cs,sched:sched_switch "),
                  ("kymo stat -e 'sched:sched_swi", "kymo stat -e 'sched:sched_switch' ")]
    starts = {
        "bash": (["bash", "--norc", "-i"], 'bind "set bell-style none"; eval "$(kymo completion bash)"'),
        "zsh": (["zsh", "-f", "-i"], "unsetopt beep; autoload -Uz compinit; compinit -u -D; source <(kymo completion zsh)"),
    }
    for name, (argv, setup) in starts.items():
        if not shutil.which(name):
            skip(f"{name}: completion", "not installed")
            continue
        sh = Shell(argv, setup, path)
        for typed, want in tries:
            out = sh.tab(typed, want)
            check(f"{name}: {typed}<Tab>", out.endswith(want) or want in out, repr(out))
        sh.close()
    if not shutil.which("fish"):
        skip("fish: completion", "not installed")
        return
    for typed, want in tries:
        if "'" in typed or "setpri" in typed:
            continue
        r = run(["fish", "--no-config", "-c", f'kymo completion fish | source; complete -C"{typed}"'], env={"PATH": path, "HOME": folder})
        got = {x.split("\t")[0] for x in r.out.splitlines()}
        check(f"fish: {typed}<Tab>", want.split()[-1] in got, r)


def symlinks(folder):
    perf = f"{folder}/perf"
    os.symlink(KYMO, perf)
    here = {"cwd": folder}
    r = run([perf, "stat", "-x,", "-e", "page-faults", "true"], **here)
    check("perf stat", r.code == 0 and ",page-faults," in r.err, r)
    r = run([perf, "list", "sw"], **here)
    check("perf list", r.code == 0 and "context-switches OR cs" in r.out, r)
    r = run([perf, "--no-pager", "record", "-q", "-e", "cpu-clock", "-o", "out.data", "true"], **here)
    check("perf record", r.code == 0 and os.path.exists(f"{folder}/out.data"), r)
    r = run([perf, "report", "--stdio", "-i", "out.data"], **here)
    check("perf report", r.code == 0 and "cpu-clock" in r.out, r)
    has("perf script", run([perf, "script", "-i", "out.data"], **here).text, "")
    has("perf --version", run([perf, "--version"]).out, "kymo version ")
    same("perf alone is kymo's help", run([perf]).out, kymo("help").out)
    ours = set(NAMES)
    theirs = "annotate archive bench buildid-cache buildid-list c2c config daemon data diff evlist ftrace inject iostat kallsyms " \
             "kmem kvm kwork list lock mem probe record report sched script stat test timechart top trace version".split()
    real = run(["perf", "--list-cmds"])
    theirs = sorted(set(theirs + (real.out.split() if real.code == 0 else [])))
    for word in [w for w in theirs if w not in ours and w != "help"]:
        r = run([perf, word])
        hint = r.err.partition("hint: ")[2]
        check(f"perf {word}: what kymo has instead", r.code == 129 and re.match(r"(kymo|make|/proc)\b", hint.lstrip()), r)
        named = set(re.findall(r"\bkymo ([a-z][\w-]*)", hint)) - {"has", "finds", "reads"}
        check(f"perf {word}: and that exists", named <= ours, named - ours)
    doctor = f"{folder}/doctor"
    os.symlink(KYMO, doctor)
    same("a symlink named after a command is that command", run([doctor, "-h"]).out, kymo("doctor -h").out)
    os.symlink(KYMO, f"{folder}/kymo-devel")
    same("any other name is kymo", run([f"{folder}/kymo-devel", "help"]).out, kymo("help").out)


def installation(folder):
    if SAN or not shutil.which("meson") or not os.path.exists(f"{BUILD}/build.ninja"):
        skip("make install", "not for this build")
        return
    told = json.loads(run(["meson", "introspect", "--buildoptions", BUILD]).out)
    prefix = {o["name"]: o["value"] for o in told}["prefix"]
    make = ["make", "-s", "-C", ROOT, f"BUILD={BUILD}", f"PREFIX={prefix}"]

    def files(dest):
        return sorted(os.path.join(d, f).removeprefix(dest + prefix + "/") for d, _, fs in os.walk(dest) for f in fs)

    dest = f"{folder}/dest"
    want = ["bin/kymo", "share/bash-completion/completions/kymo", "share/fish/vendor_completions.d/kymo.fish",
            "share/zsh/site-functions/_kymo"]
    if shutil.which("scdoc"):
        want += ["share/man/man1/kymo.1", *(f"share/man/man1/kymo-{n}.1" for n in NAMES)]
    tools = [n.removesuffix(".bt") for n in os.listdir(f"{ROOT}/tools") if n.endswith(".bt")]
    want += [f"bin/{n}" for n in [*tools, "funccount", "functrace", "funcgraph", "funcslower", "functime", "kprobe", "uprobe", "tpoint",
                                  "reset-ftrace"]]
    if shutil.which("scdoc"):
        want += [f"share/man/man1/{n}.1" for n in tools if n != "opensnoop"]
    os.makedirs(f"{dest}{prefix}/bin")
    os.symlink("/bin/true", f"{dest}{prefix}/bin/opensnoop")
    r = run([*make, "install", f"DESTDIR={dest}"], timeout=120)
    got = files(dest)
    check("a program that has a tool's name stays", os.readlink(f"{dest}{prefix}/bin/opensnoop") == "/bin/true"
          and "opensnoop is another program" in r.out, r)
    os.unlink(f"{dest}{prefix}/bin/opensnoop")
    check("make install: the program, its pages, completions and tools", r.code == 0 and set(want) <= set(got), (r, sorted(set(want) - set(got))))
    check("and nothing unexpected", not [f for f in got if f not in want and not f.startswith(("share/man/man1/", "share/doc/kymo/tools/"))], got)
    check("no perf unless asked for", "bin/perf" not in got, got)
    same("a tool by its own name", run([f"{dest}{prefix}/bin/execsnoop", "-h"]).out, kymo("execsnoop -h").out)
    check("a page by a tool's own name", not shutil.which("scdoc") or os.readlink(f"{dest}{prefix}/share/man/man1/execsnoop.1") == "kymo-execsnoop.1")
    same("what is installed runs", run([f"{dest}{prefix}/bin/kymo", "version"]).out, kymo("version").out)
    same("and is kymo's own completion", open(f"{dest}{prefix}/share/bash-completion/completions/kymo").read(), kymo("completion bash").out)
    r = run([*make, "install", f"DESTDIR={dest}", "PERF_LINK=1", "LINKS=trace-cmd bpftrace"], timeout=120)
    check("PERF_LINK=1: perf is kymo", os.path.islink(f"{dest}{prefix}/bin/perf")
          and run([f"{dest}{prefix}/bin/perf", "version"]).out == kymo("version").out, r)
    r = run([f"{dest}{prefix}/bin/trace-cmd", "-h"])
    same("LINKS=trace-cmd: is kymo ftrace", r.out.splitlines()[3:], kymo("ftrace -h").out.splitlines()[3:])
    os.symlink("somethingelse", f"{dest}{prefix}/bin/other")
    r = run([*make, "uninstall", f"DESTDIR={dest}"], timeout=120)
    same("make uninstall leaves nothing of it", files(dest), ["bin/other"])
    r = run([*make[:-1], "PREFIX=here", "install", f"DESTDIR={dest}"], timeout=120)
    check("a relative PREFIX is refused", r.code != 0 and "absolute" in r.err, r)


def colours():
    escape = "\x1b["
    auto = {"NO_COLOR": None}

    def pipe(*args, **env):
        e = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        return subprocess.run([KYMO, *args], capture_output=True, env={**e, "TERM": "xterm", **env})

    for args in (["help"], ["stat", "-h"], ["version", "--build-options"], ["list", "hw"], ["doctor"]):
        what = " ".join(args)
        check(f"{what}: colours on a terminal", escape in on_terminal([KYMO, *args], auto)[0])
        check(f"{what}: none in a pipe", b"\x1b" not in pipe(*args).stdout)
        check(f"{what}: --color=always, in a pipe too", b"\x1b[" in pipe("--color=always", *args).stdout)
        check(f"{what}: none with --color=never", escape not in on_terminal([KYMO, "--color=never", *args], auto)[0])
        check(f"{what}: none with NO_COLOR", escape not in on_terminal([KYMO, *args], {"NO_COLOR": "1"})[0])
        check(f"{what}: none on a dumb terminal", escape not in on_terminal([KYMO, *args], {**auto, "TERM": "dumb"})[0])
    check("an empty NO_COLOR is none", escape in on_terminal([KYMO, "help"], {"NO_COLOR": ""})[0])
    check("--no-color", escape not in on_terminal([KYMO, "--no-color", "help"], auto)[0])
    check("an error has colours on a terminal", escape in on_terminal([KYMO, "nosuch"], auto)[0])
    check("and none in a pipe", b"\x1b" not in pipe("nosuch").stderr)


def outputs():
    """Standard output that is closed, full, or read by one who leaves."""
    for args in ("help", "version --build-options", "stat -h", "list", "--introspect", "completion bash", "doctor -j"):
        r = run(f"{KYMO} {args} >/dev/full", shell=True)
        check(f"{args} >/dev/full is told", r.code == 1 and "No space left" in r.err and "hint:" in r.err, r)
        r = run(f"{KYMO} {args} >&-", shell=True)
        check(f"{args} with a closed stdout is told", r.code == 1 and "cannot write" in r.err, r)
        r = run(f"{KYMO} {args} | head -c1", shell=True)
        check(f"{args} | head: quiet", r.err == "", r)
    r = run(f"{KYMO} nosuch 2>&-", shell=True)
    check("a closed stderr is no crash", r.code == 129, r)
    r = run(f"{KYMO} stat -e cs true 2>/dev/full", shell=True)
    check("stat 2>/dev/full is no crash", isinstance(r.code, int) and r.code < 126, r)


def readme(folder):
    """Every command of README's tour works as it is written."""
    if SAN:
        skip("README", "once is enough")
        return
    text = open(f"{ROOT}/README.md").read()
    lines = [x.strip() for x in re.findall(r"^    (.*)$", text, re.M)]
    tour = [x for x in lines if "build/kymo" in x]
    check("README has a tour", len(tour) >= 5, lines)
    os.symlink(BUILD, f"{folder}/build")
    with open(f"{folder}/FILE", "w") as f:
        f.write("something to work on\n" * 10000)
    for line in tour:
        if "kymo top" in line:
            line = "timeout -s INT --preserve-status 3 " + line
        r = run(["bash", "-c", line], cwd=folder, timeout=60)
        check(f"README: {line.split('#')[0].strip()}", r.code == 0 or ("doctor" in line and r.code == 1), r)
    targets = set(re.findall(r"^([a-z]+):", open(f"{ROOT}/Makefile").read(), re.M))
    named = set(re.findall(r"\bmake ([a-z]+)\b", text))
    check("README: every make target exists", named <= targets, named - targets)
    unknown = set(re.findall(r"\bkymo ([a-z][\w-]+)", "\n".join(re.findall(r"`([^`]*)`", text) + lines))) - set(NAMES) - {"CMD"}
    check("README: every command exists", not unknown, unknown)


overview()
undone()
help_of_each()
suggestions()
man_pages()
page_of_all()
completion_words()
with tempfile.TemporaryDirectory() as d:
    for name, step in {"shells": shells, "links": symlinks, "install": installation, "readme": readme}.items():
        os.mkdir(f"{d}/{name}")
        step(f"{d}/{name}")
colours()
outputs()
end()
