#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sudo that leaves HOME as it was: root's kymo keeps nothing in the user's home, and follows no link from there."""
import os
import pwd

from files import Folder
from tap import WORK, check, end, kymo, same, skip

if os.geteuid() != 0:
    skip("all", "needs root, to be called by sudo")
    end()
USER = pwd.getpwnam("nobody")
at = Folder("kymo-homes-")
os.chmod(at.root, 0o755)
os.mkdir(at.path("etc"))
at.write("etc/passwd", "root's own\n")
SUDO = {"SUDO_UID": str(USER.pw_uid), "SUDO_GID": str(USER.pw_gid)}
PROGRAM = at.path("busy")  # below /tmp: such a program is kept
with open(f"{WORK}/busy", "rb") as f:
    os.chmod(at.write("busy", f.read()), 0o755)


def user_folder(path):
    os.makedirs(path)
    os.chown(path, USER.pw_uid, USER.pw_gid)
    return path


def below(path):
    return sorted(os.path.relpath(os.path.join(d, x), path) for d, ds, fs in os.walk(path) for x in ds + fs)


for what, env in (("HOME", {"HOME": user_folder(at.path("home")), "XDG_CACHE_HOME": ""}),
                  ("XDG_CACHE_HOME", {"HOME": "/", "XDG_CACHE_HOME": at.path("xdg/new/cache")})):
    if what != "HOME":
        user_folder(at.path("xdg"))
    r = kymo(f"record -q -g -F 2000 -o {at.path('perf.data')} -- {PROGRAM} 200", env={**env, **SUDO})
    check(f"{what}: recorded", r.code == 0, r)
    r = kymo(f"report --stdio -i {at.path('perf.data')}", env={**env, **SUDO})
    check(f"{what}: reported", r.code == 0 and "busy" in r.out, r)
    same(f"{what}: nothing of root's is in the user's folder", below(at.path("home" if what == "HOME" else "xdg")), [])
user_folder(at.path("home2"))
os.symlink(at.path("etc"), user_folder(at.path("home2/.cache")) + "/kymo")
env = {"HOME": at.path("home2"), "XDG_CACHE_HOME": "", **SUDO}
for words in (f"record -q -g -F 2000 -o {at.path('perf.data')} -- {PROGRAM} 200", f"report --stdio -i {at.path('perf.data')}"):
    r = kymo(words, env=env)
    check(f"a link in the user's cache: {words.split()[0]}", r.code == 0, r)
same("leads nowhere", below(at.path("etc")), ["passwd"])
at.remove()
end()
