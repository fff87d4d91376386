#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Hostile recordings and debug info name files that an archive must not carry away: others' secrets, links out of folders."""
import os
import pwd
import shutil
import tarfile

from files import Folder
from tap import check, end, has, kymo, run, same, skip

if os.geteuid() != 0:
    skip("all", "needs root, which may read everything")
    end()
USER = pwd.getpwnam("nobody")
at = Folder("kymo-carry-")
os.chmod(at.root, 0o755)
env = {"HOME": at.path("cache"), "XDG_CACHE_HOME": at.path("cache"), "DEBUGINFOD_URLS": "", "SUDO_UID": "", "SUDO_GID": ""}
SECRET = "root:$6$very$secret:0:0\n" * 3
for folder in ("rec", "src", "rec/closed"):
    os.mkdir(at.path(folder))
os.chmod(at.path("rec/closed"), 0o700)
FILES = {"rec/open.c": 0o644, "rec/secret.c": 0o600, "rec/closed/inside.c": 0o644, "src/elsewhere.c": 0o644}
for name, mode in FILES.items():
    os.chmod(at.write(name, SECRET), mode)
os.symlink(at.path("src/elsewhere.c"), at.path("rec/link.c"))
os.symlink("/etc", at.path("rec/etc"))
NAMED = [*[at.path(x) for x in FILES], at.path("rec/link.c"), "/etc/shadow", at.path("rec/etc/shadow"), at.path("rec/../src/elsewhere.c")]
# each function says that it stands in another file
body = "".join(f'# 1 "{p}"\n__attribute__((noinline)) unsigned f{i}(unsigned n) {{ unsigned x = n; for (unsigned i = 0; i < n; i++) x = x * 3 + i + {i}; return x; }}\n'
               for i, p in enumerate(NAMED))
at.write("hot.c", body + "int main(void) { volatile unsigned s = 0; for (int i = 0; i < 60; i++) { " +
         " ".join(f"s += f{i}(900000 + i);" for i in range(len(NAMED))) + " } return 0; }\n")
if run(f"gcc -g -O1 -o {at.path('hot')} {at.path('hot.c')}").code:
    skip("all", "needs gcc")
    end()
run(f"gcc -g -O1 -Wl,--build-id=none -o {at.path('closed')} {at.path('hot.c')}")
os.chmod(at.path("closed"), 0o700)
DATA = at.path("rec/perf.data")
r = kymo(f"record -q -F 4000 -o {DATA} -- {at.path('hot')}", env=env)
seen = kymo(f"script -F ip,sym -i {DATA}", env=env).out
check("all functions were hit", r.code == 0 and all(f"f{i}" in seen for i in range(len(NAMED))), (r, sorted(set(seen.split()))))


def packed(options, data=DATA, **more):
    """Which of the sources went in, by the end of their names, and what was said."""
    out = at.path("out.kymo")
    if os.path.exists(out):
        os.unlink(out)
    r = kymo(f"archive -i {data} --plain -o {out} {options}", env={**env, **more}, cwd="/")
    if r.code:
        return None, r
    with tarfile.open(out) as t:
        names = t.getnames()
    return sorted(x.removeprefix("kymo/files" + at.root + "/").removeprefix("kymo/files/") for x in names if x.startswith("kymo/files/") and x.endswith(("c", "shadow"))), r


got, r = packed("")
same("no sources unless they are asked for", got, [])
got, r = packed("--sources")
same("root's own: sources that all may read, below the recording's folder", got, ["rec/closed/inside.c", "rec/open.c"])
has("what is packed is shown", r.err, f"kymo/files{at.root}/rec/open.c", "elf\n")
has("and what is not, with the reason", r.err, "left out: /etc/shadow, which lies elsewhere", f"{at.path('rec/secret.c')}, which only root may read")
got, r = packed(f"--source-dir {at.path('src')}")
same("given roots: only those", got, ["src/elsewhere.c"])
got, r = packed(f"--source-dir {at.path('rec')}")
check("a file that was given by its folder is packed, links out of it are not", got and "rec/secret.c" in got and "rec/link.c" not in got and "rec/etc/shadow" not in got, (got, r))
os.chown(DATA, USER.pw_uid, USER.pw_gid)
for options in ("--sources", f"--source-dir {at.path('rec')}"):
    got, r = packed(options)
    same(f"{options}: another one's recording: only what that user may read", got, ["rec/open.c"])
    has("and it is said", r.err, f"{at.path('rec/secret.c')}, which user {USER.pw_uid} may not read")
got, r = packed("--source-dir /")
check("/etc/shadow is not that user's, though all is given", got is not None and not [x for x in got if "shadow" in x], (got, r))
os.chown(DATA, 0, 0)
got, r = packed("--sources", SUDO_UID=str(USER.pw_uid), SUDO_GID=str(USER.pw_gid))
same("root's recording under sudo: what the user may read", got, ["rec/open.c"])

# --- a program that the user may not read, and that no build-id proves ---
data = at.path("rec/closed.data")
kymo(f"record -q -F 2000 --no-buildid-cache -o {data} -- {at.path('closed')}", env=env)
os.chown(data, USER.pw_uid, USER.pw_gid)
out = at.path("closed.kymo")
r = kymo(f"archive -i {data} --plain -o {out}", env=env)
with tarfile.open(out) as t:
    check("a program that the recorded user may not read is left out", not [x for x in t.getnames() if x.endswith("/closed")], t.getnames())
has("and that is said", r.err, f"left out: {at.path('closed')}, which user {USER.pw_uid} may not read")

# --- a folder with links ---
os.mkdir(at.path("folder"))
shutil.copy(DATA, at.path("folder/data"))
for target in ("/etc/shadow", at.path("rec/secret.c")):
    os.symlink(target, at.path("folder/data.0"))
    r = kymo(f"archive -i {at.path('folder')} -o {at.path('folder.kymo')}", env=env)
    check(f"data.0 -> {target} is refused", r.code == 1 and "it is a link" in r.err and not os.path.exists(at.path("folder.kymo")), r)
    os.unlink(at.path("folder/data.0"))
os.rename(at.path("folder/data"), at.path("data"))
os.symlink(at.path("data"), at.path("folder/data"))
r = kymo(f"archive -i {at.path('folder')} -o {at.path('folder.kymo')}", env=env)
check("and data itself", r.code == 1 and "it is a link" in r.err, r)
at.remove()
end()
