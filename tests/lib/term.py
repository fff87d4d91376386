# SPDX-License-Identifier: MIT
"""A terminal to test in: a program in tmux, keys to it, its screen as lines.

    with Term("kymo report", 80, 24) as t:
        t.keys("j", "Enter")
        t.until("Annotate")
        t.lines()
"""
import os
import re
import shutil
import subprocess
import tempfile
import time

have = bool(shutil.which("tmux"))
SLOW = 2 if os.environ.get("KYMO_SAN") else 1
_n = 0


class Term:
    bars = False  # rows without the bars that wide screens have at their right edge

    def __init__(self, command, width=80, height=24, env=None, cwd=None):
        global _n
        _n += 1
        self.socket = f"kymo-test-{os.getpid()}-{_n}"
        self.folder = tempfile.mkdtemp(prefix="kymo-term-")
        env = {"LC_ALL": "C.UTF-8", "TERM": "screen-256color", **(env or {})}
        unset = "".join(f" -u {k}" for k, v in env.items() if v is None) + ("" if "NO_COLOR" in env else " -u NO_COLOR")
        sets = " ".join(f"{k}={v}" for k, v in env.items() if v is not None)
        # Ctrl-C goes to the shell too, which shall go on
        script = (f"trap : INT QUIT; stty -a >{self.folder}/before; echo BEFORE; env{unset} {sets} {command}; code=$?; "
                  f"stty -a >{self.folder}/after; echo EXIT $code; sleep 1000")
        # the server must not outlive the test, also when that is killed
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "-s", "t",
                  *(["-c", cwd] if cwd else []), script)
        self.tmux("set", "-g", "status", "off")
        self.tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def tmux(self, *args):
        r = subprocess.run(["tmux", "-L", self.socket, *args], capture_output=True, timeout=30)
        return r.stdout.decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.tmux("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

    def keys(self, *keys):
        """tmux's names (Enter, PageUp, C-c); "=text" is typed as it is."""
        for k in keys:
            if k.startswith("="):
                self.tmux("send-keys", "-t", "t", "-l", "--", k[1:])
            else:
                self.tmux("send-keys", "-t", "t", "--", k)

    def lines(self, colors=False):
        text = self.tmux("capture-pane", "-p", *(["-e"] if colors else []), "-t", "t")
        lines = [line.rstrip() for line in text.splitlines()]
        return lines if self.bars else [re.sub("  +[█▏▎▍▌▋▊▉]+$", "", line) for line in lines]

    def text(self):
        return "\n".join(self.lines())

    def until(self, what, seconds=30, gone=False):
        """Waits until a text (or what a function of the lines says) is there, on a screen that is drawn to its end; whether it came."""
        test = what if callable(what) else lambda lines: what in "\n".join(lines)
        end = time.monotonic() + seconds * SLOW
        last, times = None, 0
        while time.monotonic() < end:
            now = self.lines()
            if bool(test(now)) != gone:
                times += 1
                if now == last or times == 10:  # one that always changes is never drawn to its end
                    return True
            else:
                times = 0
                time.sleep(0.03)
            last = now
        return False

    def settle(self):
        """Waits until the screen no longer changes."""
        last = None
        for _ in range(200):
            now = self.text()
            if now == last:
                return now
            last = now
            time.sleep(0.06)
        return last

    def resize(self, width, height):
        self.tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def pid(self, name):
        """The program's own process below the shell."""
        shell = self.tmux("display-message", "-p", "-t", "t", "#{pane_pid}").strip()
        for _ in range(100):
            r = subprocess.run(["pgrep", "-P", shell, "-x", name], capture_output=True, text=True)
            if r.stdout.strip():
                return int(r.stdout.split()[0])
            time.sleep(0.05)
        return None

    def mouse(self, button, y, x):
        """A press and its release, as terminals say them; lines and columns from 0."""
        self.keys(f"=\033[<{button};{x + 1};{y + 1}M", f"=\033[<{button};{x + 1};{y + 1}m")

    def wants_mouse(self):
        return self.tmux("display-message", "-p", "-t", "t", "#{mouse_standard_flag}").strip() == "1"

    def in_alternate(self):
        return self.tmux("display-message", "-p", "-t", "t", "#{alternate_on}").strip() == "1"

    def cursor_visible(self):
        return self.tmux("display-message", "-p", "-t", "t", "#{cursor_flag}").strip() == "1"

    def exit_code(self, seconds=30):
        """Waits for the program's end; its exit code as text, None when it does not come."""
        if not self.until("EXIT ", seconds):
            return None
        return re.search(r"EXIT (\d+)", self.text())[1]

    def tty_restored(self):
        with open(f"{self.folder}/before") as a, open(f"{self.folder}/after") as b:
            return a.read() == b.read()
