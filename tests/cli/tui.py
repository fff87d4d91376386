#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The terminal interface in a real terminal (tmux): every key, every view, sizes, and that the terminal is
left as it was found, also by signals."""
import fcntl
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time

from tap import KYMO, SAN, WORK, check, end, has, run, same, skip
import shell
import term
from term import Term

HOT = os.path.abspath(f"{WORK}/hotcode")
K = os.path.abspath(KYMO)


def where(t):
    """The cursor's number and how many lines there are, from the corner."""
    m = re.search(r"([\d,]+)/([\d,]+)$", t.lines()[-2])
    return tuple(int(x.replace(",", "")) for x in m.groups()) if m else None


def at(t, n):
    return t.until(lambda lines: (re.search(r"([\d,]+)/[\d,]+$", lines[-2] if len(lines) > 1 else "") or [0, ""])[1] == str(n))


def rows(t):
    """Percentages and the rest of the rows on the screen."""
    out = []
    for line in t.lines()[2:-2]:
        m = re.match(r"([+\- ]) +([\d.]+)% +([\d.]+)%  (.*)", line)
        if m:
            out.append((m[1], float(m[2]), float(m[3]), m[4]))
    return out


def report(data, options="", **kw):
    t = Term(f"{K} report -i {data} {options}", **kw)
    t.until("q quit")
    return t


def looks(name, t, width, height):
    lines = t.lines()
    check(f"{name}: {height} lines of at most {width} columns", len(lines) == height and all(len(x) <= width for x in lines),
          "\n".join(lines))


def moving(data):
    with report(data) as t:
        looks("report", t, 80, 24)
        lines = t.lines()
        has("the title names the event", lines[0], "Samples: ", "of event 'cpu-clock'")
        has("columns have headings", lines[1], "Children", "Self", "Command", "Symbol")
        has("hints", lines[-1], "Enter open", "m menu", "? help", "q quit")
        n = where(t)[1]
        check("there are more rows than fit", n > 20, n)
        check("the status line names function and file", re.match(r" \S+  /\S+", t.lines()[-2]), t.lines()[-2])
        for keys, to in ((["j"], 2), (["Down"], 3), (["k"], 2), (["Up"], 1), (["Up"], 1), (["PageDown"], 20), (["PageUp"], 1),
                         (["Space"], 20), (["End"], n), (["Home"], 1), (["G"], n), (["j"], n), (["g"], 1)):
            t.keys(*keys)
            check(f"{' '.join(keys)} leads to {to}", at(t, to), f"{where(t)}\n{t.text()}")
        shares = [r[1] for r in rows(t)]
        check("heaviest first", shares and shares == sorted(shares, reverse=True), shares)


def opening(data):
    with report(data) as t:
        t.keys("/", "=] main", "Enter")
        check("/ goes to main", t.until(lambda x: " main  /" in x[-2] or "'] main'" in x[-2]), t.text())
        before = where(t)
        t.keys("e")
        check("e opens the call graph", t.until("% outer"), t.text())
        check("with more lines", where(t)[1] > before[1], where(t))
        t.keys("e")
        check("e closes it", t.until(lambda _: where(t) == before), t.text())
        t.keys("+")
        check("+ opens too", t.until("% outer"), t.text())
        t.keys("Left")
        check("Left closes", t.until(lambda _: where(t) == before), t.text())
        t.keys("Right")
        check("Right opens", t.until("% outer"), t.text())
        t.keys("j", "j", "Right")
        check("Right opens a branch", t.until("% collatz"), t.text())
        t.keys("Left")
        check("Left closes the branch", t.until("% collatz", gone=True), t.text())
        for _ in range(4):
            t.keys("Left")
            t.settle()
        check("and goes out", t.until(lambda _: where(t) == before), t.text())
        t.keys("E")
        check("E opens all", t.until(lambda _: where(t) and where(t)[1] > before[1] + 10), t.text())
        t.keys("C")
        check("C closes all", t.until(lambda _: where(t) and where(t)[1] == before[1]), t.text())
        t.keys("Enter")
        check("Enter opens the call graph", t.until("% outer"), t.text())
        t.keys("Enter")
        check("and closes it", t.until(lambda _: where(t) == before), t.text())
        t.keys("m")
        check("m opens the menu", t.until("Annotate main"), t.text())
        has("with what can be done", t.text(), "Zoom into thread hotcode", "Zoom into file hotcode", "Callers and callees of main",
            "three panes", "By image", "By symbol")
        t.keys("Escape")
        check("Esc closes the menu", t.until("Annotate main", gone=True), t.text())
        t.keys("m", "e")
        check("a letter of the menu works", t.until("% outer"), t.text())
    with report(data, "-g graph,60") as t:
        t.keys("/", "=] collatz", "Enter")
        t.until("'] collatz'")
        before = where(t)[1]
        t.keys("e")
        check("what is lighter than branches must be opens all the same",
              t.until(lambda x: where(t)[1] > before and any(re.match(r" +[-+ ] +[\d.]+% \w", y) for y in x)), t.text())


def choosing(data):
    with report(data) as t:
        all_rows = where(t)[1]
        t.keys("/", "=COLLATZ", "Enter")
        check("/ searches without regard to case", t.until(lambda x: x[-2].startswith(" 'COLLATZ'")), t.text())
        first = where(t)[0]
        t.keys("n")
        check("n goes on", t.until(lambda x: "only here" in x[-2]) or where(t)[0] != first, t.text())
        t.keys("/", "=mixer", "Enter", "N")
        t.settle()
        has("N goes back", t.lines()[-2], "'mixer'")
        t.keys("/", "=nosuchthing", "Enter")
        check("what is not there is told", t.until("'nosuchthing' is not there"), t.text())
        t.keys("\\", "=mixer", "Enter")
        check("\\ filters", t.until(lambda x: "with 'mixer'" in x[0]), t.text())
        check("only rows with it stay", rows(t) and all("mixer" in r[3] for r in rows(t)), t.text())
        t.keys("Escape")
        check("Esc takes the filter back", t.until(lambda _: where(t)[1] == all_rows), t.text())
        t.keys("\\", "=nosuchthing", "Enter")
        check("an empty list says how to get out", t.until("No row is left"), t.text())
        t.keys("Escape")
        t.until(lambda _: where(t) and where(t)[1] == all_rows)
        t.keys("L", "=5", "Enter")
        check("L hides light rows", t.until(lambda x: "from 5%" in x[0]) and all(r[1] >= 5 for r in rows(t)), t.text())
        t.keys("L", "=much", "Enter")
        check("a wrong percentage is told", t.until("is no percentage"), t.text())
        t.keys("L", "=0", "Enter")
        t.until(lambda _: where(t)[1] == all_rows)
        t.keys(">")
        check("> sorts by the next column", t.until(lambda x: "Self▼" in x[1]), t.lines()[1])
        shares = [r[2] for r in rows(t)]
        check("by Self", shares == sorted(shares, reverse=True), shares)
        t.keys(">")
        t.until(lambda x: "Command▲" in x[1])
        names = [r[3].split()[0] for r in rows(t)]
        check("by Command", names == sorted(names), names)
        t.keys("<", "<")
        check("< sorts back", t.until(lambda x: "Children▼" in x[1]), t.lines()[1])
        t.keys("#")
        check("# shows numbers of samples", t.until(lambda x: "Samples" in x[1]), t.lines()[1])
        t.keys("#")


def zooming(data):
    with report(data) as t:
        t.keys("\\", "=worker", "Enter")
        t.until(lambda x: "with 'worker'" in x[0])
        t.keys("t")
        check("t zooms into the thread", t.until(lambda x: "Command: worker" in x[0]), t.text())
        t.keys("\\", "C-u", "Enter")
        t.settle()
        check("only its rows", rows(t) and all(r[3].startswith("worker") for r in rows(t)), t.text())
        before = [r[2] for r in rows(t)]
        t.keys("F")
        check("F: shares of these", t.until(lambda x: "% = 100%)" in x[0]) and max(r[2] for r in rows(t)) > max(before), t.text())
        t.keys("F")
        check("F again: of everything", t.until(lambda x: "% = 100%)" not in x[0]) and [r[2] for r in rows(t)] == before, t.text())
        t.keys("t")
        check("t zooms out", t.until(lambda x: "Command:" not in x[0]), t.text())
        t.keys("/", "=collatz", "Enter", "d")
        check("d zooms into the file", t.until(lambda x: ": hotcode" in x[0]), t.text())
        check("only its rows", rows(t) and all(r[3].split()[1] == "hotcode" for r in rows(t)), t.text())
        t.keys("End")
        at(t, where(t)[1])
        t.settle()
        last = t.lines()[-2].split()[:2]
        t.keys("Left")
        check("Left zooms out", t.until(lambda x: ": hotcode" not in x[0]), t.text())
        check("with the cursor on its row", t.until(lambda x: x[-2].split()[:2] == last) and where(t)[0] > 1, (last, t.text()))
        t.tmux("resize-window", "-t", "t", "-x", "40", "-y", "24")
        check("of a path that does not fit below its end is shown", t.until(lambda x: re.search(r"  ….*hotcode +\d", x[-2])), t.text())
        t.tmux("resize-window", "-t", "t", "-x", "80", "-y", "24")
        t.keys("1")
        check("by image", t.until(lambda x: "Symbol" not in x[1] and "Overhead" in x[1]), t.text())
        check("a row a file", sum("[kernel.kallsyms]" in x for x in t.lines()) <= 1 and "hotcode" in t.text(), t.text())
        t.keys("t")
        check("what cannot be zoomed by is told", t.until("S changes what they are summed by"), t.text())
        t.keys("m", "2")
        check("by symbol", t.until(lambda x: "Symbol" in x[1] and "Overhead" in x[1]), t.text())
        check("one row for the three threads' mixer", sum("] mixer" in x for x in t.lines()) == 1, t.text())
        t.keys("S", "=comm", "Enter")
        check("S sums by other keys", t.until(lambda x: "Symbol" not in x[1] and "Command" in x[1]), t.text())
        t.keys("S", "=nosuchkey", "Enter")
        check("a wrong key is told", t.until("nosuchkey"), t.text())
        t.keys("Enter")
        t.settle()
        t.keys("m", "0")
        check("as it was", t.until(lambda x: "Children" in x[1]), t.text())
        t.keys("Tab")
        check("Tab shows the next event", t.until(lambda x: "'task-clock'" in x[0] and "event 2/2" in x[0]), t.text())
        t.keys("BTab")
        check("Shift-Tab the one before", t.until(lambda x: "'cpu-clock'" in x[0]), t.text())


def pages(data, folder):
    with report(data, cwd=folder) as t:
        t.keys("i")
        check("i shows what the recording says", t.until(lambda x: data in x[0]) and "arch" in t.text(), t.text())
        t.keys("q")
        t.until("q quit")
        for key in ("?", "h", "F1"):
            t.keys(key)
            check(f"{key} shows the keys", t.until("zoom into the row's thread"), t.text())
            t.keys("q")
            check("q leads back", t.until("q quit"), t.text())
        t.keys("?", "/", "=print what", "Enter")
        check("one can search in the help", t.until(lambda x: any("print what is listed" in y for y in x)), t.text())
        t.keys("q")
        t.until("q quit")
        t.keys("P", "Enter")
        check("P prints to a file", t.until("kymo.report.0"), t.text())
        listed = [r[1:] for r in rows(t)]
        with open(f"{folder}/kymo.report.0") as f:
            text = f.read()
        got = [(float(a), float(b)) for a, b in re.findall(r"^ +([\d.]+)% +([\d.]+)%  ", text, re.M)]
        same("with the same rows", got[:len(listed)], [r[:2] for r in listed])
        same("for the user's eyes only", os.stat(f"{folder}/kymo.report.0").st_mode & 0o777, 0o600)
        t.keys("P", "=kymo.report.0", "Enter")
        check("never over a file that is there", t.until("cannot write kymo.report.0"), t.text())


def annotating(data, folder):
    with report(data, cwd=folder) as t:
        t.keys("/", "=collatz", "Enter", "a")
        check("a annotates", t.until("H hottest"), t.text())
        looks("annotate", t, 80, 24)
        has("the title names the function", t.lines()[0], "collatz", "hotcode", "samples")
        text = t.text()
        check("instructions with shares", re.search(r"\d+\.\d+ │ +[0-9a-f]+:.* \w+ ", text), text)
        check("jumps have arrows", re.search("[┌└].*>", text), text)
        hottest = where(t)[0]
        t.keys("Home", "H")
        check("H leads to the hottest", at(t, hottest), t.text())
        t.keys("Tab")
        check("Tab to the next", t.until(lambda x: "no. 2 of" in x[-2]), t.text())
        t.keys("BTab")
        check("Shift-Tab back", t.until(lambda x: "no. 1 of" in x[-2]) and where(t)[0] == hottest, t.text())
        t.keys("/", "=j", "Enter")
        t.settle()
        t.keys("t")
        check("t shows samples", t.until(lambda x: "Samples" in x[1]), t.text())
        t.keys("t", "t", "p")
        check("p shows global percentages", t.until(lambda x: "global period" in x[1]), t.text())
        t.keys("o")
        check("o shows bytes", t.until(lambda x: any(re.search(r": .*( [0-9a-f]{2}){2,}  ", y) for y in x)), t.text())
        t.keys("o", "J")
        check("J hides the arrows", t.until(lambda x: not any("┌" in y for y in x)), t.text())
        t.keys("]")
        check("] leads to the next function", t.until(lambda x: "collatz" not in x[0]), t.text())
        t.keys("[")
        check("[ back", t.until(lambda x: "collatz" in x[0]), t.text())
        t.keys("P", "Enter")
        check("P prints it", t.until("written to kymo.annotate.0"), t.text())
        check("as --stdio would", "Source code & Disassembly" in open(f"{folder}/kymo.annotate.0").read())
        t.keys("?")
        check("? shows its keys", t.until("to the hottest instruction"), t.text())
        t.keys("q")
        t.until("H hottest")
        t.keys("q")
        check("q leads back", t.until("q quit"), t.text())
        if not os.access("/proc/kcore", os.R_OK):
            t.keys("\\", "=[k]", "Enter")
            t.until(lambda x: "[k]" in x[0])
            t.keys("Home", "a")
            check("what is missing for the kernel's code is told", t.until("VMLINUX"), t.text())
            t.keys("Enter")
            check("and one is back", t.until("VMLINUX", gone=True), t.text())
        t.keys("Q")
        same("Q quits", t.exit_code(), "0")


def following(data):
    """annotate by itself: calls and jumps are followed."""
    with Term(f"{K} annotate -i {data} -s outer") as t:
        if not t.until("H hottest", 4):
            # outer has hardly any samples of its own; then its callers' view has no code
            check("the command says why", t.exit_code() == "1" and "outer" in t.text(), t.text())
    with Term(f"{K} annotate -i {data}") as t:
        check("kymo annotate opens the hottest function", t.until("H hottest") and "mixer" in t.lines()[0], t.text())
        t.keys("Home", "/", "=jne", "Enter")
        t.settle()
        before = where(t)
        t.keys("Enter")
        check("Enter follows a jump", t.until(lambda _: where(t)[0] < before[0]), t.text())
        t.keys("Home", "Enter")
        check("other lines lead nowhere", t.until("no jump"), t.text())
        t.keys("q")
        same("q ends it", t.exit_code(), "0")
    with Term(f"{K} annotate -i {data} -s nosuch") as t:
        same("a function that is not there is an error", t.exit_code(), "1")
        has("told on the screen as it was", t.text(), "BEFORE", "no samples in a function called 'nosuch'")


def three_panes(data):
    with report(data) as t:
        t.keys("/", "=outer", "Enter", "s")
        check("s shows three panes", t.until("Descendants") and t.until("Callers"), t.text())
        check("and which file's function it is", re.match(r" \S+  /\S+", t.lines()[-2]), t.text())
        looks("panes", t, 80, 24)
        has("its caller", t.text(), "main")
        check("its descendants", re.search(r"│.*% outer", t.text()), t.text())
        t.keys("Tab", "Tab", "j")
        t.settle()
        t.keys("e", "e", "C")
        t.settle()
        t.keys("E")
        check("E opens the descendants", t.until(lambda x: any("│" in y and "% collatz" in y.split("│")[1] for y in x)), t.text())
        t.keys("Tab", "/", "=collatz", "Enter")
        check("the right side follows the cursor", t.until(lambda x: any("│" in y and "outer" in y.split("│")[1] for y in x[2:8])), t.text())
        t.keys("Tab", "Enter")
        check("Enter on a caller makes it the function", t.until(lambda x: x[-2].split()[:1] == ["outer"]), t.text())
        t.keys("<")
        check("< sorts by self", t.until(lambda x: "Self▼" in x[1]), t.text())
        t.keys("\\", "=mix", "Enter")
        check("\\ filters functions", t.until(lambda x: "mix" in x[0]), t.text())
        t.keys("a")
        check("a annotates from here", t.until("H hottest"), t.text())
        t.keys("q", "c")
        check("c shows callers and callees", t.until("Callers and callees of mixer"), t.text())
        t.keys("q")
        t.until("Descendants")
        t.keys("?")
        check("? shows its keys", t.until("to the functions"), t.text())
        t.keys("q", "Escape", "Escape", "Escape")
        check("Esc leads back", t.until("q quit"), t.text())
        t.keys("/", "=outer", "Enter", "c")
        check("c shows the function in the middle", t.until("Callers and callees of outer"), t.text())
        check("which file's it is, too", re.match(rf" outer  {HOT}", t.lines()[-2]) or t.lines()[-2].endswith("…"), t.text())
        lines = t.lines()[2:-2]
        order = [next((i for i, x in enumerate(lines) if name in x), 99) for name in ("main", "outer", "collatz")]
        check("callers above, callees below", order == sorted(order) and order[2] < 99, "\n".join(lines))
        t.keys("j", "Enter")
        check("Enter makes another the middle", t.until(lambda x: "outer" not in x[0]), t.text())
        t.keys("Left")
        check("Left leads back to it", t.until("Callers and callees of outer"), t.text())
        t.keys("q", "q")
        same("q ends it", t.exit_code(), "0")


def sizes(data):
    with report(data) as t:
        t.keys("j", "j", "e")
        t.settle()
        for w, h in ((120, 40), (60, 15), (30, 8), (12, 4), (200, 60), (80, 24)):
            t.resize(w, h)
            t.until(lambda x: len(x) == h)
            t.settle()
            looks(f"resized to {w}x{h}", t, w, h)
        check("still there", t.until("q quit"), t.text())
        for key in ("a", "s", "c", "?", "m", "/"):
            t.keys(key)
            t.settle()
            for w, h in ((25, 6), (80, 24)):
                t.resize(w, h)
                t.until(lambda x: len(x) == h)
                t.settle()
            looks(f"view {key} after resizing", t, 80, 24)
            t.keys("Escape" if key in ("m", "/") else "q")
            check(f"back from {key}", t.until("q quit"), t.text())


def small_for_a_moment(data):
    """A terminal that is smaller while kymo is busy loses what was shown; its size is the same when kymo looks."""
    with report(data) as t:
        t.keys("m")
        t.settle()
        pid = t.pid("kymo")
        os.kill(pid, signal.SIGSTOP)
        for w, h in ((25, 6), (80, 24)):
            t.resize(w, h)
            t.until(lambda x: len(x) == h)
        os.kill(pid, signal.SIGCONT)
        check("all is drawn anew", t.until("q quit") and t.until("Least percentage") and t.until("of event 'cpu-clock'"), t.text())
        t.keys("Escape")
        check("and below the menu", t.until("Least percentage", gone=True) and t.until("q quit"), t.text())


RESIZE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

ssize_t write(int fd, const void *p, size_t n)
{
	static ssize_t (*next)(int, const void *, size_t);
	struct winsize s = { 24, 80, 0, 0 };
	ssize_t r;

	if (!next)
		next = dlsym(RTLD_NEXT, "write");
	r = next(fd, p, n);
	if (unlink(getenv("RESIZE_NOW")) == 0)
		ioctl(fd, TIOCSWINSZ, &s);
	return r;
}
"""


def resized_while_drawing(data, folder):
    """A new size that comes while nothing is read must be seen before the next key."""
    if SAN or not shutil.which("gcc"):
        skip("a new size while it draws", "no gcc, or the sanitizer wants to be the first library")
        return
    library, now = f"{folder}/resize.so", f"{folder}/now"
    with open(f"{folder}/resize.c", "w") as f:
        f.write(RESIZE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, f"{folder}/resize.c", "-ldl"], check=True)
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 25, 0, 0))
        os.environ.update(LD_PRELOAD=library, RESIZE_NOW=now, TERM="screen-256color", LC_ALL="C.UTF-8")
        os.execv(K, [K, "report", "-i", data])
    small = shell.read(fd, 1, 30)
    open(now, "w").close()
    os.write(fd, b"j")  # draws, and while it does that the terminal gets larger
    out, end_at = "", time.monotonic() + 30
    while " quit " not in out and time.monotonic() < end_at:
        out += shell.read(fd, 0.2, 1)
    check("a new size that comes while it draws is drawn", " quit " not in small and " quit " in out and not os.path.exists(now), repr(out[-500:]))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)


def leaving(data):
    with report(data) as t:
        check("it has the screen for itself", t.in_alternate())
        t.keys("q")
        same("q ends with 0", t.exit_code(), "0")
        check("the screen is as it was", not t.in_alternate() and t.lines()[0] == "BEFORE", t.text())
        check("the terminal is as it was", t.tty_restored() and t.cursor_visible() and not t.wants_mouse())
    for name, where_to in (("INT", []), ("TERM", ["a"]), ("QUIT", ["m"]), ("SEGV", ["s"]), ("ABRT", ["?"]), ("HUP", [])):
        with report(data) as t:
            t.keys(*where_to)
            t.settle()
            pid = t.pid("kymo")
            if not check(f"SIG{name}: it runs", pid):
                continue
            os.kill(pid, getattr(signal, f"SIG{name}"))
            code = t.exit_code()
            same(f"SIG{name} ends it by that signal", code, str(128 + getattr(signal, f"SIG{name}")))
            check(f"SIG{name} leaves the mouse as it was", not t.wants_mouse())
            check(f"SIG{name} leaves the screen as it was", not t.in_alternate() and t.lines()[0] == "BEFORE", t.text())
            check(f"SIG{name} leaves the terminal as it was", t.tty_restored() and t.cursor_visible())
    with report(data) as t:
        t.keys("C-c")
        same("Ctrl-C ends it", t.exit_code(), "130")
        check("and leaves the terminal as it was", t.tty_restored() and not t.in_alternate())


def looks_of_terminals(data):
    with report(data) as t:
        colored = "\n".join(t.lines(colors=True))
        check("hot shares are red", re.search("\x1b\\[[0-9;]*31[0-9;]*m[^\x1b]*[0-9]", colored), colored)
    with report(data, env={"NO_COLOR": "1"}) as t:
        check("NO_COLOR: none", not re.search("\x1b\\[[0-9;]*3[0-7][0-9;]*m", "\n".join(t.lines(colors=True))))
    with report(data, env={"LC_ALL": "C"}) as t:
        t.keys("m")
        t.until("Annotate")
        check("ASCII where nothing else can be shown", t.text().isascii(), t.text())
        t.keys("Escape", "/", "=collatz", "Enter", "a")
        t.until("H hottest")
        check("arrows too", t.text().isascii() and ">" in t.text(), t.text())
    with report(data, env={"TERM": "vt100"}) as t:
        check("a terminal without colours", t.until("q quit"), t.text())
    with Term(f"{K} report -i {data}", env={"TERM": "dumb"}) as t:
        check("TERM=dumb: text", t.exit_code() == "0" and not t.in_alternate(), t.text())
    r = run([K, "report", "-i", data])
    check("a pipe: text", r.code == 0 and r.out.startswith("#") and "\x1b" not in r.out, r)
    with Term(f"{K} report --stdio -g none -i {data}", height=200) as t:
        check("--stdio: text", t.exit_code() == "0" and "# Samples" in t.text(), t.text())
    with Term(f"cat {data} | {K} report -i -") as t:
        check("the recording may come through stdin", t.until("q quit"), t.text())
        t.keys("j")
        check("keys then come from the terminal", at(t, 2), t.text())


def unnamed(folder):
    """Names are shown as they are, but can do nothing to the terminal."""
    evil = f"{folder}/e\x1b]0;owned\x07\u202egnp"
    shutil.copy(HOT, evil)
    data = f"{folder}/evil.data"
    r = run([K, "record", "-q", "-e", "cpu-clock", "-c", "1000000", "-o", data, "--", evil, "500"])
    if r.code:
        skip("a file name with escapes", "cannot be recorded")
        return
    with report(data) as t:
        raw = "\n".join(t.lines())
        check("escapes in names are no escapes", "\x1b" not in raw and "owned" in raw, raw)
        same("the terminal has no new title", "owned" in t.tmux("display-message", "-p", "-t", "t", "#{pane_title}"), False)


def inlined(folder):
    """Functions that were inlined stand in call graphs; their code is that of the function around them."""
    data = f"{folder}/dwarf.data"
    r = run([K, "record", "-q", "--call-graph", "dwarf,4096", "-e", "cpu-clock", "-c", "1000000", "-o", data, "--", HOT, "1500"])
    if not check("a recording with copies of stacks", r.code == 0, r):
        return
    with report(data) as t:
        t.keys("/", "=] mixer", "Enter", "e")
        t.until("% clone3")
        t.keys("E", "/", "=(inlined)", "Enter")
        if not check("inlined functions are shown", t.until(lambda x: "step (inlined)" in x[-2] or "'(inlined)'" in x[-2]), t.text()):
            return
        t.keys("a")
        check("annotated within their function", t.until(lambda x: x[0].startswith(" mixer ")), t.text())
        t.keys("/", "=inlined at", "Enter")  # it may begin above the hottest line, with which the view opens
        check("where they were inlined is said", t.until(lambda x: any("step() inlined at" in y for y in x)), t.text())


def slow(folder):
    """What takes long is shown: a debuginfod server that never answers."""
    prog, data = f"{folder}/gone", f"{folder}/gone.data"
    shutil.copy(HOT, prog)
    subprocess.run(["strip", prog], check=True)
    r = run([K, "record", "-q", "-e", "cpu-clock", "-c", "1000000", "-o", data, "--", prog, "500"], env={"DEBUGINFOD_URLS": ""})
    if not check("a recording of a stripped program", r.code == 0, r):
        return
    server = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{server.getsockname()[1]}"
    home = f"{folder}/home"
    os.makedirs(home, exist_ok=True)
    with Term(f"{K} report -i {data}", env={"DEBUGINFOD_URLS": url, "HOME": home, "XDG_CACHE_HOME": home}) as t:
        if t.until("Ctrl-C quits", 5):
            has("a box says what takes long", t.text(), "finding names")
            first = t.text()
            check("and that it goes on", t.until(lambda x: "\n".join(x) != first), t.text())
            t.keys("C-c")
            same("Ctrl-C ends it", t.exit_code(), "130")
            check("with the terminal as it was", not t.in_alternate() and t.tty_restored())
        else:
            skip("waiting for a server", "it was not asked")
    server.close()


def live():
    load = subprocess.Popen([HOT, "1000000"])
    try:
        with Term(f"{K} top -g -d 1 -e cpu-clock -F 500 -p {load.pid}") as t:
            if not t.until("samples/s"):
                skip("kymo top", f"does not run here: {t.text()[:200]}")
                return
            check("top shows what runs", t.until("] collatz") and t.until("] mixer"), t.text())
            has("hints of a live view", t.lines()[-1], "f freeze", "z zero")
            first = t.lines()[0]
            check("it goes on", t.until(lambda x: x[0] != first and "samples/s" in x[0]), t.text())
            t.keys("/", "=collatz", "Enter")
            t.settle()
            t.keys("e")
            check("rows open", t.until(lambda x: any(re.search(r"[-+] +[\d.]+% \w", y) for y in x[2:-2])), t.text())
            for _ in range(2):
                shown = t.lines()[0]
                t.until(lambda x: x[0] != shown and "samples/s" in x[0])
            check("the cursor stays on its row", t.until(lambda x: "collatz" in x[-2], 5), t.text())
            check("and open", t.until(lambda x: any(re.search(r"^ +[-+ ] +[\d.]+% \w", y) for y in x[2:-2]), 5), t.text())
            check("a line shows how busy it was", t.until(lambda x: re.match(r" busy, [\d.]+ min [▁-█]{2,} [\d,]+ samples/s, at most [\d,]+$", x[1]), 20),
                  t.text())
            t.keys("f")
            check("f freezes", t.until(lambda x: x[0].endswith("frozen")), t.text())
            frozen = t.text()
            time.sleep(1.5)
            same("frozen means frozen", t.text(), frozen)
            t.keys("S", "=comm", "Enter")
            check("S: other keys of what was counted already", t.until(lambda x: "Command" in x[2] and "Symbol" not in x[2]), t.text())
            t.keys("m", "0")
            t.until(lambda x: "Symbol" in x[2])
            t.keys("f")
            check("f goes on", t.until(lambda x: not x[0].endswith("frozen")), t.text())
            t.keys("z")
            check("z starts anew", t.until("samples/s"), t.text())
            t.until("] collatz")
            t.keys("/", "=collatz", "Enter")
            t.settle()
            t.keys("a")
            check("annotate works live", t.until("H hottest"), t.text())
            t.keys("q", "s")
            check("panes too", t.until("Descendants"), t.text())
            time.sleep(1.2)
            t.keys("q")
            check("and back", t.until("f freeze"), t.text())
            t.keys("q")
            same("q ends it", t.exit_code(), "0")
            check("with the terminal as it was", t.tty_restored() and not t.in_alternate())
    finally:
        load.kill()
        load.wait()


if not term.have:
    skip("all", "needs tmux")
    end()
with tempfile.TemporaryDirectory() as tmp:
    data = f"{tmp}/perf.data"
    r = run([K, "record", "-q", "--call-graph", "fp", "-c", "500000", "-e", "cpu-clock", "-e", "task-clock", "-o", data, "--", HOT, "3000"])
    if not check("a recording", r.code == 0 and os.path.exists(data), r):
        end()
    moving(data)
    opening(data)
    choosing(data)
    zooming(data)
    pages(data, tmp)
    annotating(data, tmp)
    following(data)
    three_panes(data)
    sizes(data)
    small_for_a_moment(data)
    resized_while_drawing(data, tmp)
    leaving(data)
    looks_of_terminals(data)
    unnamed(tmp)
    inlined(tmp)
    slow(tmp)
    live()
end()
