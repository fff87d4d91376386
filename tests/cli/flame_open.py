#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""--open: a browser is started apart from kymo, as the user who sits before the screen; what goes wrong is said."""
import os
import pwd
import signal
import time

from files import Folder
from tap import check, end, has, kymo, same, skip

at = Folder("kymo-open-")
os.chmod(at.root, 0o755)
at.write("a.folded", "main;work 3\nmain;idle 1\n")
os.mkdir(at.path("bin"))
said = at.path("said")


def browser(rest=""):
    """xdg-open as this test needs it: says how it was called, whole or not at all."""
    path = at.write("bin/xdg-open", f'#!/bin/sh\n{{ echo "$#"; echo "$1"; /usr/bin/id -u; echo "$HOME"; echo "$$"; }} > {said}.part\n/bin/mv {said}.part {said}\n{rest}\n')
    os.chmod(path, 0o755)


def refused(output, **env):
    """kymo waits some time only for a failure: on a machine that is busy it may come later."""
    for _ in range(5):
        r, _ = opened(output, **env)
        if r.code:
            break
    return r


def opened(output, limit=60, **env):
    if os.path.exists(said):
        os.unlink(said)
    env = {"PATH": at.path("bin"), "SUDO_UID": "", **env}
    r = kymo(["flame", "-q", "-i", at.path("a.folded"), "-o", output, "--open"], env=env, cwd=at.root)
    for _ in range(limit * 10 if r.code == 0 else 0):
        if os.path.exists(said):
            break
        time.sleep(0.1)
    return r, at.read("said").splitlines() if os.path.exists(said) else []


browser()
r, how = opened("a.html")
check("a browser is started", r.code == 0 and len(how) == 5, (r, how))
same("with the whole path, and only that", how[:2], ["1", os.path.realpath(at.path("a.html"))])
same("as oneself", how[2], str(os.geteuid()))
r, how = opened("./-x.svg")
same("a name that looks like an option is none", how[:2], ["1", os.path.realpath(at.path("-x.svg"))])

# one that stays is not waited for
browser("exec /bin/sleep 600")
r, how = opened("b.html")
check("a browser that stays does not hold kymo", r.code == 0 and r.err == "", r)
alive = True
try:
    os.kill(int(how[4]), signal.SIGTERM)
except (ProcessLookupError, IndexError):
    alive = False
check("and lives on", alive, how)

browser("exit 3")
r = refused("c.html", DISPLAY="", WAYLAND_DISPLAY="")
check("one that fails", r.code != 0 and os.path.exists(at.path("c.html")), r)
has("it is said, and that the file is there", r.err, "c.html was written", "open c.html yourself")
os.unlink(at.path("bin/xdg-open"))
r = refused("d.html")
check("none at all", r.code != 0, r)
has("and what to install", r.err, "d.html was written", "xdg-utils")
r = kymo(["flame", "-i", at.path("a.folded"), "-o", "-", "--open"])
check("not for standard output", r.code != 0 and "needs a file" in r.err and not r.out, r)

# sudo kymo flame --open
if os.geteuid() == 0:
    browser()
    nobody = pwd.getpwnam("nobody")
    os.chmod(at.root, 0o777)
    r, how = opened("e.html", SUDO_UID=str(nobody.pw_uid), SUDO_GID=str(nobody.pw_gid))
    same("root by sudo: the browser is the user's", how[2:4], [str(nobody.pw_uid), nobody.pw_dir])
    st = os.stat(at.path("e.html"))
    same("and so is the file", (st.st_uid, st.st_mode & 0o777), (nobody.pw_uid, 0o600))
    for bad in ("0", "x", "99999999999", "-1"):
        r, how = opened("f.html", SUDO_UID=bad)
        same(f"SUDO_UID={bad} is nobody", (r.code, how[2:3]), (0, ["0"]))
else:
    skip("sudo", "this is not root")
at.remove()
end()
