#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of programs in containers, which have other files at the same paths and are gone when somebody asks; with and
without build-ids."""
import os
import shutil
import subprocess
import tempfile

from stacks import share, stacks
from tap import check, end, kymo, same, skip

SOURCE = """
#include <stdlib.h>
#include <time.h>
static volatile double x = 1;
__attribute__((noinline)) static void leaf_WHO(int n) { for (int i = 0; i < n; i++) x = x * 1.0000001 + STEP; }
__attribute__((noinline)) static void middle_WHO(int n) { leaf_WHO(n); leaf_WHO(n + 1); __asm__ volatile(""); }
int main(int argc, char **argv)
{
	for (clock_t end = clock() + atoi(argv[argc - 1]) * (CLOCKS_PER_SEC / 1000); clock() < end;)
		middle_WHO(20000);
	return 0;
}
"""
folder = tempfile.mkdtemp(prefix="kymo-namespaces-")
os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
os.makedirs(f"{folder}/app")
os.makedirs(f"{folder}/root")
PROG = f"{folder}/app/prog"
# another root, with another program at the same path, that is gone with its process
CONTAINER = f"""exec unshare -mpf --mount-proc sh -ec 'mount -t tmpfs none {folder}/root; mkdir -p {folder}/root/$0;
cp {folder}/inside {folder}/root/$0/prog; exec chroot {folder}/root $0/prog 400' $0"""


def build(who, step, out, *options):
    with open(f"{folder}/{who}.c", "w") as f:
        f.write(SOURCE.replace("WHO", who).replace("STEP", step))
    r = subprocess.run(["cc", "-O2", "-fomit-frame-pointer", *options, "-o", out, f"{folder}/{who}.c"], capture_output=True)
    return r.returncode == 0


def recorded(script, *args):
    out = f"{folder}/r.data"
    r = kymo(["record", "-F", "997", "-g", "-o", out, "--", "sh", "-ec", script, *args])
    check("records", r.code == 0, r)
    return stacks(out), out


def whole(found, who):
    return share(found, "_start", "main", f"middle_{who}", f"leaf_{who}")


def names(what):
    found, out = recorded(CONTAINER, "/only/there")
    check(f"{what}: a container's program has its names", whole(found, "inside") > 50, found[:5])
    kymo(["archive", "-o", f"{folder}/r.tar", out])
    check(f"{what}: in an archive, too", whole(stacks(f"{folder}/r.tar"), "inside") > 50, found[:5])
    found, out = recorded(CONTAINER, f"{folder}/app")
    check(f"{what}: and not those of what has its path here", whole(found, "inside") > 50 and not share(found, "outside"), found[:5])
    shutil.copy(f"{folder}/inside", f"{folder}/gone")
    found, out = recorded(f"{folder}/gone 400 & sleep 0.1; rm {folder}/gone; wait")
    check(f"{what}: one that was deleted meanwhile has its names", whole(found, "inside") > 50, found[:5])
    found, out = recorded(f"{PROG} 300")
    check(f"{what}: one that is there has them from its own file", whole(found, "outside") > 50, found[:5])
    same(f"{what}: which goes by the build-id it has", PROG in kymo(f"buildid-list -i {out}").out, what.startswith("with "))
    return recorded(f"sh -c \"$1\" \"$0\" & {PROG} 400; wait", f"{folder}/app", CONTAINER)


if os.geteuid() or subprocess.run(["unshare", "-mpf", "--mount-proc", "true"], capture_output=True).returncode:
    skip("programs of containers", "unshare does not work here")
elif not build("inside", "3", f"{folder}/inside", "-static", "-Wl,--build-id=sha1"):
    skip("programs of containers", "no compiler, or no static libc")
else:
    build("outside", "5", PROG, "-Wl,--build-id=sha1")
    found, out = names("with build-ids")
    check("both at once: each its own", whole(found, "inside") > 15 and whole(found, "outside") > 15, found[:5])
    build("inside", "3", f"{folder}/inside", "-static", "-Wl,--build-id=none")
    build("outside", "5", PROG, "-Wl,--build-id=none")
    found, out = names("without build-ids")
    check("both at once: the one that is here has its names, the other none of these",
          15 < whole(found, "outside") < 85 and not share(found, "inside"), found[:5])
shutil.rmtree(folder)
end()
