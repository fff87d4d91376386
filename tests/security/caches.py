#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: kernel
"""A file of another user carries the build-id of root's: its names and tables stay with that file, whatever root keeps.

The hostile file is a copy of the honest one with other names and no unwinding information, so that a stack or a name that
comes from the wrong file shows."""
import io
import os
import re
import shutil
import tarfile

from files import Folder
from tap import check, end, kymo, run, same, skip

NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
ID = "5ec0de00112233445566778899aabbccddeeff00"
LINK = f".build-id/{ID[:2]}/{ID[2:]}"
SOURCE = """
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void honest_leaf(void) { for (int i = 0; i < 20000; i++) sink += i * sink; }
__attribute__((noinline)) void honest_middle(void) { volatile char room[300]; room[0] = 1; honest_leaf(); sink += room[0]; }
__attribute__((noinline)) void honest_outer(void) { volatile char room[700]; room[0] = 1; honest_middle(); sink += room[0]; }
int main(void) { for (clock_t end = clock() + CLOCKS_PER_SEC * 4 / 10; clock() < end;) honest_outer(); return 0; }
"""
at = Folder("kymo-caches-")
os.chmod(at.root, 0o755)
if os.getuid() or run(f"{NOBODY} true").code:
    skip("all", "needs root, and a second user")
    end()
at.write("a.c", SOURCE + "".join(f"void other_{i}(void) {{}}\n" for i in range(2100)))  # enough for names to be worth keeping
if run(f"gcc -g -O1 -fomit-frame-pointer -Wl,--build-id=0x{ID} -o {at.path('a')} {at.path('a.c')}").code:
    skip("all", "needs gcc")
    end()
HONEST = open(at.path("a"), "rb").read()


def hostile():
    """The same code and build-id, other names, and an .eh_frame that ends at once."""
    where = re.search(r"\.eh_frame\s+PROGBITS\s+\S+\s+(\S+)\s+(\S+)", run(f"readelf -SW {at.path('a')}").out)
    start, size = int(where[1], 16), int(where[2], 16)
    return (HONEST[:start] + bytes(size) + HONEST[start + size:]).replace(b"honest_", b"wicked_")


WICKED = hostile()


def put(name, data, user=0):
    path = at.path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    at.write(name, data)
    os.chmod(path, 0o755)
    os.chown(path, user, user)
    os.chown(os.path.dirname(path), user, user)
    return path


def fresh(name):
    """A home and a cache of their own."""
    home = at.path(name)
    os.makedirs(home)
    return {"HOME": home, "XDG_CACHE_HOME": home + "/cache", "DEBUGINFOD_URLS": "", "LC_ALL": "C"}


def record(env, name, command):
    data = at.path(name)
    r = kymo(["record", "-q", "-g", "-F", "999", "-o", data, "--", *command.split()], env=env)
    assert r.code == 0, r
    return data


def names(env, data):
    """How often each of the functions stands in the stacks of a recording."""
    text = kymo(f"script -F comm,ip,sym -i {data}", env=env).out
    return {w: len(re.findall(rf"\b{w}\b", text)) for w in ("honest_leaf", "honest_outer", "wicked_leaf", "main")}


def is_honest(what, env, data):
    for turn in "first", "second":
        n = names(env, data)
        check(f"{what}: names are those of the file, {turn} time", n["honest_leaf"] > 50 and not n["wicked_leaf"], n)
    check(f"{what}: stacks are whole", n["honest_outer"] > 0.9 * n["honest_leaf"] and n["main"] > 0.9 * n["honest_leaf"], n)


# --- names and tables that were kept of another user's program ---
good, bad = put("root/prog", HONEST), put("theirs/prog", WICKED, 65534)
env = fresh("names")
theirs = record(env, "theirs.data", f"{NOBODY} {bad}")
for _ in range(2):
    n = names(env, theirs)
check("the hostile program's own names are shown for itself", n["wicked_leaf"] > 50 and not n["honest_leaf"], n)
mine = record(env, "mine.data", good)
is_honest("after another user's program", env, mine)
n = names(env, theirs)
check("and the other way round", n["wicked_leaf"] > 50 and not n["honest_leaf"], n)

# --- both in one recording, the hostile one first ---
both = record(fresh("both"), "both.data", f"sh -c {NOBODY.replace(' ', '${IFS}')}${{IFS}}{bad}${{IFS}};exec${{IFS}}{good}")
text = kymo(f"script -F comm,ip,sym,dso -i {both}", env=env).out
leaf = len(re.findall(rf"honest_leaf \({re.escape(good)}\)", text))
outer = len(re.findall(rf"honest_outer \({re.escape(good)}\)", text))
check("both in one recording: the honest one's stacks are whole", leaf > 50 and outer > 0.9 * leaf, (leaf, outer, text[:500]))

# --- copies of programs of one path and build-id, in two mount namespaces ---
spot = put("spot/prog", b"")
env = fresh("copies")


def in_namespace(name, program):
    return record(env, name, f"unshare -m sh -c mount${{IFS}}--bind${{IFS}}{program}${{IFS}}{spot}&&exec${{IFS}}{spot}")


theirs, mine = in_namespace("ns1.data", bad), in_namespace("ns2.data", good)
is_honest("a container's copy after another's", env, mine)
n = names(env, theirs)
check("each recording has its own copy", n["wicked_leaf"] > 50 and not n["honest_leaf"], n)

# --- a program in /tmp that is gone, and another user's in its place ---
env = fresh("gone")
prog = put("shared/prog", HONEST)
data = record(env, "gone.data", prog)
os.unlink(prog)
put("shared/prog", WICKED, 65534)
is_honest("a file that another user has put in its place", env, data)

# --- an archive from elsewhere, into root's ~/.debug ---
shutil.copy(good, at.path("bare"))
run(f"strip {at.path('bare')}")
BARE = open(at.path("bare"), "rb").read()


def archive(name, path, files):
    with tarfile.open(at.path(name), "w") as t:
        link = tarfile.TarInfo(LINK)
        link.type, link.linkname = tarfile.SYMTYPE, f"../..{path}/{ID}"
        t.addfile(link)
        for f, data in files.items():
            info = tarfile.TarInfo(f"{path[1:]}/{ID}/{f}")
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return at.path(name)


env = fresh("archive")
stripped = put("lib/prog", BARE)
hostile_tar = archive("hostile.tar", stripped, {"elf": WICKED, "debug": WICKED})
r = kymo(f"archive --unpack {hostile_tar}", env=env)
same("an archive is unpacked", r.code, 0)
n = names(env, record(env, "lib.data", stripped))
check("its debug file is not for a file that is here", not n["wicked_leaf"] and n["main"] == 0, n)
os.rename(stripped, stripped + ".away")
shutil.rmtree(f"{env['HOME']}/cache")
n = names(env, at.path("lib.data"))
check("what is nowhere else comes from there", n["wicked_leaf"] > 50, n)
os.rename(stripped + ".away", stripped)

env = fresh("own")
kymo(f"buildid-cache -a {good}", env=env)
link = os.readlink(f"{env['HOME']}/.debug/{LINK}")
r = kymo(f"archive --unpack {archive('link.tar', '/wicked', {'elf': WICKED})}", env=env)
same("a link that is there stays", (r.code, os.readlink(f"{env['HOME']}/.debug/{LINK}")), (0, link))
kymo(f"archive --unpack {archive('beside.tar', good, {'debug': WICKED})}", env=env)
check("nothing is put beside root's own", not os.path.exists(f"{env['HOME']}/.debug/{link[6:]}/debug"))

# --- what perf puts into ~/.debug of any program it has seen ---
for what, origin, owner in (("whoever's it was", "/tmp/theirs/prog", 0), ("of another user's home", stripped, 65534)):
    env = fresh("perf" + str(owner))
    folder = f"{env['HOME']}/.debug{origin}/{ID}"
    os.makedirs(folder)
    os.makedirs(os.path.dirname(f"{env['HOME']}/.debug/{LINK}"))
    os.symlink(f"../..{origin}/{ID}", f"{env['HOME']}/.debug/{LINK}")
    for f in "elf", "debug":
        with open(f"{folder}/{f}", "wb") as out:
            out.write(WICKED)
    run(f"chown -R {owner} {env['HOME']}/.debug")
    data = record(env, f"perf{owner}.data", stripped)
    n = names(env, data)
    check(f"perf's cache, {what}: no names for a file that is here", not n["wicked_leaf"], n)
    os.rename(stripped, stripped + ".away")
    shutil.rmtree(f"{env['HOME']}/cache")
    n = names(env, data)
    check(f"perf's cache, {what}: nor for one that is not", not n["wicked_leaf"], n)
    os.rename(stripped + ".away", stripped)

# --- a debug file that another user has put beside it ---
env = fresh("beside")
put("open/prog.debug", WICKED, 65534)
put("open/prog", HONEST)
run(f"objcopy --strip-all --add-gnu-debuglink={at.path('open/prog.debug')} {at.path('open/prog')}")
n = names(env, record(env, "open.data", at.path("open/prog")))
check("another user's debug file is none", not n["wicked_leaf"], n)
at.remove()
end()
