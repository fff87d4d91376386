#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What root's kymo writes belongs to who called sudo, and nobody who swaps names meanwhile gets, changes or loses another file."""
import os
import pwd
import signal
import subprocess

from files import Folder
from tap import KYMO, SAN, WORK, check, end, has, kymo, same, skip
from trap import Trap

if os.geteuid() != 0:
    skip("all", "needs root, to be called by sudo")
    end()
USER = pwd.getpwnam("nobody")
OTHER = 12345  # a third one
SUDO = {"SUDO_UID": str(USER.pw_uid), "SUDO_GID": str(USER.pw_gid), "SUDO_USER": "nobody"}
at = Folder("kymo-owned-")
os.chmod(at.root, 0o755)
os.mkdir(at.path("home"))
os.chown(at.path("home"), USER.pw_uid, USER.pw_gid)
env = {"HOME": at.path("cache"), "XDG_CACHE_HOME": at.path("cache"), **SUDO}
FOLDED = at.write("a.folded", "main;work 3\nmain;idle 1\n")
os.mkdir(at.path("bin"))
os.chmod(at.write("bin/xdg-open", "#!/bin/sh\nexit 0\n"), 0o755)


def home(name):
    return at.path("home/" + name)


def owner(path):
    st = os.lstat(path)
    return st.st_uid, st.st_gid


def user_link(target, name, uid=USER.pw_uid):
    os.symlink(target, home(name))
    os.lchown(home(name), uid, uid)


# --- everything that is written ---
MADE = [
    ("record -q -o OUT true", "perf.data"), ("stat -o OUT true", "stat.txt"), ("stat record -o OUT true", "stat.data"),
    ("inject -b -i perf.data -o OUT", "inject.data"), ("archive -q -i perf.data -o OUT", "a.kymo"),
    (f"flame -q -i {FOLDED} -o OUT", "f.html"), (f"flame -q -i {FOLDED} -o OUT", "f.svg"), ("collapse -i perf.data -o OUT", "c.folded"),
    ("export --to json -i perf.data -o OUT", "e.json"), ("export --to pprof -i perf.data -o OUT", "e.pb.gz"),
    ("heat -q -i perf.data -o OUT", "h.html"), ("trace -o OUT true", "trace.txt"), ("run -q -o OUT -e 'BEGIN { exit(); }'", "run.txt"),
    ("ftrace record -q -e sched:sched_process_exit -o OUT true", "trace.dat"), ("ftrace convert -i trace.dat -o OUT", "other.dat"),
    ("script -i perf.data --per-event-dump", None), ("archive --unpack -i a.kymo -q --buildid-dir bids -o OUT", "back.data"),
]
for words, name in MADE if not SAN else MADE[:6]:
    before = set(os.listdir(at.path("home")))
    r = kymo(words.replace("OUT", name or ""), env=env, cwd=at.path("home"), timeout=120)
    made = [name] if name else sorted(set(os.listdir(at.path("home"))) - before)
    there = made and all(os.path.exists(home(x)) for x in made)
    check(f"{words}: written", r.code == 0 and there, r)
    if there:
        same(f"{words}: the user's", {owner(home(x)) for x in made}, {(USER.pw_uid, USER.pw_gid)})
same("no other name is left", [x for x in os.listdir(at.path("home")) if x.endswith((".new", ".old")) or ".cpu0" in x], [])
kymo(f"flame -q -i {FOLDED} -o {at.path('plain.svg')}", env=env)
same("in a folder of root's, too", owner(at.path("plain.svg")), (USER.pw_uid, USER.pw_gid))
for bad in ("0", "x", "-1", "99999999999"):
    kymo(f"flame -q -i {FOLDED} -o {at.path('nobody.svg')}", env={**env, "SUDO_UID": bad})
    same(f"SUDO_UID={bad} is nobody", owner(at.path("nobody.svg")), (0, 0))

# --- names that are there already ---
victim = at.write("victim", "root's own\n")
os.chmod(victim, 0o600)


def unharmed(what):
    st = os.stat(victim)
    same(f"{what}: the other file is as it was", (at.read("victim"), st.st_uid, st.st_mode & 0o777, st.st_nlink), ("root's own\n", 0, 0o600, 1))


WAYS = [("stat -o OUT true", "growing"), (f"flame -q -i {FOLDED} -o OUT", "whole"), ("inject -b -i perf.data -o OUT", "a recording"),
        ("trace -o OUT true", "a trace"), ("archive -q -i perf.data -o OUT", "an archive")]
for words, what in WAYS:
    for uid, whose in ((USER.pw_uid, "the user's"), (OTHER, "another one's")):
        user_link(victim, "out.txt", uid)
        r = kymo(words.replace("OUT", "out.txt"), env=env, cwd=at.path("home"))
        check(f"{what}: {whose} link to a file of root's is refused", r.code == 1 and f"is a link that user {uid} made" in r.err, r)
        unharmed(what)
        os.unlink(home("out.txt"))
    os.link(victim, home("out.txt"))
    r = kymo(words.replace("OUT", "out.txt"), env=env, cwd=at.path("home"))
    check(f"{what}: a second name of root's file is taken over, not the file", r.code == 0 and os.stat(home("out.txt")).st_ino != os.stat(victim).st_ino, r)
    unharmed(what)
    os.unlink(home("out.txt"))
    user_link(home("target"), "out.txt")
    r = kymo(words.replace("OUT", "out.txt"), env=env, cwd=at.path("home"))
    check(f"{what}: the user's link to what is the user's is followed", r.code == 0 and os.path.islink(home("out.txt")) and os.path.getsize(home("target")) > 0, r)
    same(f"{what}: and that is the user's", owner(home("target")), (USER.pw_uid, USER.pw_gid))
    os.unlink(home("out.txt"))
    os.unlink(home("target"))
    trap = Trap(home("out.txt"))
    os.chown(home("out.txt"), OTHER, OTHER)
    r = kymo(words.replace("OUT", "out.txt"), env=env, cwd=at.path("home"), timeout=20)
    check(f"{what}: nothing goes to another one's pipe", r.code == 1 and "is a pipe that user" in r.err and not trap.sprung(), r)
    trap.remove()
with open(home("kept.txt"), "w", encoding="ascii") as f:
    f.write("before\n")
os.chown(home("kept.txt"), OTHER, OTHER)
kymo("stat --append -o kept.txt true", env=env, cwd=at.path("home"))
same("a file that was there keeps its owner", owner(home("kept.txt")), (OTHER, OTHER))
has("and what it had", at.read("home/kept.txt"), "before\n", "elapsed")

# --- a link to a folder of root's ---
os.mkdir(at.path("etc"))
user_link(at.path("etc"), "there")
kymo(f"flame -q -i {FOLDED} -o {home('there/x.svg')}", env=env)
same("where only a link of the user's leads, the file stays root's", owner(at.path("etc/x.svg")), (0, 0))

# --- standard output by its name ---
os.symlink("/proc/self/fd/1", at.path("stdout"))
with open(at.path("caught.svg"), "wb") as f:
    subprocess.run([KYMO, "flame", "-q", "-i", FOLDED, "--format", "svg", "-o", at.path("stdout")], stdout=f, env={**os.environ, **env}, check=False)
check("a link to standard output stays one", os.path.islink(at.path("stdout")) and "<svg" in at.read("caught.svg"))

# --- the race: whoever calls sudo swaps the page for a link to a file of root's ---
page = home("race.html")
racer = os.fork()
if racer == 0:
    os.setgid(USER.pw_gid)
    os.setuid(USER.pw_uid)
    while True:
        try:
            os.symlink(victim, home("swap"))
            os.rename(home("swap"), page)
            while os.path.islink(page):  # until the page takes its place
                pass
        except OSError:
            pass
lost = 0
for _ in range(5 if SAN else 20):
    if os.path.lexists(page):
        try:
            os.unlink(page)
        except FileNotFoundError:
            pass
    kymo(f"flame -q -i {FOLDED} -o {page} --open", env={**env, "PATH": f"{at.path('bin')}:{os.environ['PATH']}"})
    lost += os.stat(victim).st_uid != 0
os.kill(racer, signal.SIGKILL)
os.waitpid(racer, 0)
same("20 races with --open: root's file stays root's", lost, 0)
unharmed("the race")
at.remove()
end()
