#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build-ids of what was mapped: kymo reads them itself, since asking the kernel spoils the records of others."""
import os
import re
import shutil
import subprocess
import tempfile

from tap import check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-ids-", dir="/var/tmp")
os.environ["XDG_CACHE_HOME"] = DIR + "/cache"
os.chdir(DIR)

if not shutil.which("cc"):
    skip("all of it", "there is no compiler")
    end()


def build(name, turns, more=""):
    """A program with a build-id of its own; the id."""
    with open("x.c", "w") as f:
        f.write(f"int turn(void) {{ volatile long i = 0; while (i < {turns}) i++; return 0; }} int main(void) {{ return turn(); }}\n")
    r = run(f"cc -O1 {more} -Wl,--build-id=sha1 -o {name} x.c")
    assert r.code == 0, r.err
    return ident(name)


def ident(name):
    found = re.search(r"Build ID: (\w+)", run(f"readelf -n {name}").out)
    return found[1] if found else None


def seen(data, name):
    """Build-ids of the mappings of that file, in order; None for one without."""
    lines = kymo(f"script -i {data} --show-mmap-events").out.splitlines()
    return [x.split("<")[1].split(">")[0] if "<" in x else None for x in lines if "PERF_RECORD_MMAP2" in x and x.endswith("/" + name)]


first, second, none = build("one", 3000000), build("two", 2000000), build("plain", 1000000, "-Wl,--build-id=none")
for how in ("", "-g", "-a", "-a -g", "--buildid-mmap", "-d"):
    r = kymo(f"record -q {how} -o a -- sh -c './one; ./two; ./plain; ./one'")
    same(f"record {how}: who has an id, and which", ([set(seen("a", n)) for n in ("one", "two", "plain")], r.code),
         ([{first}, {second}, {none}], 0))

# What vanishes: a process that was gone when its mapping was seen has its file still; two files of one path follow each other
shutil.copy("one", "replaced")
r = kymo(["record", "-q", "-a", "-g", "-o", "b", "--", "sh", "-c", "./replaced; sleep 0.6; cp two new; mv new replaced; ./replaced; sleep 0.6; rm replaced"])
same("a program that was replaced: each run has its own id", seen("b", "replaced"), [first, second])
report = kymo("report -i b --stdio -s dso,sym --comm replaced").out
check("... and its function after the file was removed", re.search(r"replaced\s+\[\.\] turn", report), report[:500])

# the same file, written to anew: its number stays, what is in it does not
shutil.copy("one", "over")
r = kymo(["record", "-q", "-a", "-o", "c", "--", "sh", "-c", "./over; sleep 0.7; cat two > over; ./over; sleep 0.7"])
same("a program that was written over", seen("c", "over"), [first, second])

# a stream has them as well
r = run("$KYMO record -q -o - -- ./one > s.data", shell=True, env={"KYMO": os.path.join(os.getcwd(), os.environ.get("KYMO", "build/kymo"))})
same("through a pipe", (seen("s.data", "one"), r.code), ([first], 0))

# what the kernel was asked for, and what readers are told
r = kymo("record -vv -o d -- ./one")
check("the kernel is not asked", not re.search(r"^\s+build_id\s+1", r.err, re.M), r.err)
r = kymo("record -vv --buildid-mmap -o d -- ./one")
check("with --buildid-mmap it is", re.search(r"^\s+build_id\s+1", r.err, re.M), r.err)

# several threads empty the rings
r = kymo("record -q -a --threads=2 -o e -- ./two")
same("--threads", (seen("e", "two"), r.code), ([second], 0))

os.chdir("/")
shutil.rmtree(DIR, ignore_errors=True)
end()
