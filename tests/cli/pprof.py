#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""pprof profiles as flame graphs: written here from the format's description, read by kymo; damaged ones."""
import gzip
import os
import random
import shutil
import tempfile

import page
from tap import SAN, WORK, check, end, has, kymo, same

tmp = tempfile.mkdtemp(prefix="kymo-pprof-")


def path(name):
    return os.path.join(tmp, name)


def write(name, data):
    with open(path(name), "wb") as f:
        f.write(data)
    return path(name)


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def number(field, v):
    return varint(field << 3) + varint(v) if v else b""


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def packed(field, values):
    return message(field, b"".join(map(varint, values)))


class Profile:
    """Just enough of profile.proto; frames are (function, file, line) or an address."""

    def __init__(self, types, default="", pack=True):
        self.strings, self.functions, self.locations, self.mappings = {"": 0}, {}, {}, {}
        self.out, self.pack = b"", pack
        for kind, unit in types:
            self.out += message(1, number(1, self.text(kind)) + number(2, self.text(unit)))
        self.default = self.text(default)

    def text(self, s):
        return self.strings.setdefault(s, len(self.strings))

    def function(self, name, file):
        return self.functions.setdefault((name, file), len(self.functions) + 11)

    def location(self, lines, mapping, address):
        """lines: innermost first, the function itself last."""
        m = self.mappings.setdefault(mapping, len(self.mappings) + 1) if mapping else 0
        key = (tuple((self.function(n, f), l) for n, f, l in lines), m, address)
        return self.locations.setdefault(key, len(self.locations) + 101)

    def sample(self, stack, values, **labels):
        """stack: outermost first, of (lines, mapping, address)."""
        ids = [self.location(*x) for x in reversed(stack)]
        body = packed(1, ids) + packed(2, values) if self.pack else b"".join(varint(1 << 3) + varint(i) for i in ids) + b"".join(varint(2 << 3) + varint(v) for v in values)
        for k, v in labels.items():
            body += message(3, number(1, self.text(k)) + (number(2, self.text(v)) if isinstance(v, str) else number(3, v)))
        self.out += message(2, body)

    def data(self):
        out = self.out
        for name, i in self.mappings.items():
            out += message(3, number(1, i) + number(2, 0x400000) + number(5, self.text(name)))
        for (lines, m, address), i in self.locations.items():
            out += message(4, number(1, i) + number(2, m) + number(3, address) + b"".join(message(4, number(1, f) + number(2, l)) for f, l in lines))
        for (name, file), i in self.functions.items():
            out += message(5, number(1, i) + number(2, self.text(name)) + number(4, self.text(file)))
        for s in self.strings:
            out += message(6, s.encode())
        return out + number(9, 1_700_000_000_000_000_000) + number(14, self.default)


def at(name, line=1, file="a.go", mapping="/bin/app", address=0):
    return [(name, file, line)], mapping, address


def folded(file, *more):
    return kymo(["collapse", "-i", file, *more])


def make(pack=True, default=""):
    p = Profile([("samples", "count"), ("cpu", "nanoseconds")], default, pack)
    p.sample([at("main.main"), at("main.work", 7)], [3, 30_000_000])
    p.sample([at("main.main"), at("main.work", 8)], [2, 20_000_000])
    p.sample([at("main.main"), ([("inner", "b.go", 3), ("middle", "b.go", 9), ("outer", "b.go", 20)], "/bin/app", 0)], [1, 10_000_000])
    p.sample([at("main.main"), ([], "/lib/libx.so", 0xbeef)], [4, 0])
    return p


want = "main.main;[libx.so] 4\nmain.main;main.work 5\nmain.main;outer;middle;inner 1\n"
plain = make().data()
r = folded(write("a.pb.gz", gzip.compress(plain)), "--event-filter", "samples")
same("gzipped: stacks, inlined functions, code without a name", r.out, want)
same("plain", folded(write("a.pb", plain), "--event-filter", "samples").out, want)
same("numbers one by one", folded(write("b.pb", make(pack=False).data()), "--event-filter", "samples").out, want)
r = folded(path("a.pb.gz"))
same("the last type is shown, as pprof does", r.out, "main.main;main.work 50000000\nmain.main;outer;middle;inner 10000000\n")
has("and it says so", r.err, "event cpu", "--event-filter")
same("or the profile's default", folded(write("c.pb", make(default="samples").data())).out, want)
same("marks of kinds", folded(path("a.pb.gz"), "--event-filter", "samples", "--all", "--addrs").out,
     "main.main;[libx.so <beef>] 4\nmain.main;main.work 5\nmain.main;outer;middle_[i];inner_[i] 1\n")
with open(path("a.pb.gz"), "rb") as f:
    r = kymo(["collapse", "-i", "-", "--event-filter", "samples"], stdin=f)
same("from standard input", r.out, want)

r = kymo(["flame", "-i", path("a.pb.gz"), "-o", path("a.html")])
head, columns = page.unpack(path("a.html"))
same("a page: its events and their units", (head["events"], head["units"]), (["cpu", "samples"], ["ns", "samples"]))
check("source lines are known", "b.go" in head["strings"])
r = kymo(["flame", "-i", path("a.pb.gz"), "-o", path("a.svg")])
with open(path("a.svg"), encoding="utf-8") as f:
    svg = f.read()
has("an SVG in ms", svg, "main.work (50 ms", "all (60 ms")

p = Profile([("off", "nanoseconds")])
p.sample([at("f")], [5], comm="db writer", pid=7, tid=8, cpu=1)
p.sample([at("f")], [6], thread="other", pid=7, tid=9)
same("labels are processes and threads", folded(write("d.pb", p.data()), "--tid").out, "db_writer-7/8;f 5\nother-7/9;f 6\n")
r = kymo(["flame", path("a.pb.gz"), path("c.pb"), "--event-filter", "samples", "-o", path("x.folded")])
with open(path("x.folded"), encoding="utf-8") as f:
    same("two are compared", f.read(), "".join(f"{x} {x.rsplit(' ', 1)[1]}\n" for x in want.splitlines()))
same("an empty one", folded(write("e.pb", Profile([("samples", "count")]).data())).code, 0)

# --- kymo's own, there and back ---
r = kymo(["record", "-q", "-g", "-F", "499", "-e", "cpu-clock", "-o", path("r.data"), "--", os.path.join(WORK, "calls"), "tree=200", "recurse=100"])
if r.code == 0 and kymo(["export", "--to", "pprof", "-i", path("r.data"), "-o", path("r.pb.gz")]).code == 0:
    there = kymo(["collapse", "--inline", "--no-tidy", "--tid", "-i", path("r.data")]).out
    back = kymo(["collapse", "--no-tidy", "--tid", "-i", path("r.pb.gz")]).out
    same("an exported recording has the same weight", sum(int(x.rsplit(" ", 1)[1]) for x in back.splitlines()), sum(int(x.rsplit(" ", 1)[1]) for x in there.splitlines()))
    named = [[x for x in t.splitlines() if "0x" not in x and "[" not in x] for t in (there, back)]
    check("and the same stacks", named[0] == named[1] and len(named[0]) > 3, "\n".join(sorted(set(named[0]) ^ set(named[1]))[:6]))

# --- damaged ---
zipped = gzip.compress(plain)
bad_sample = Profile([("samples", "count")])
bad_sample.sample([at("f")], [1])
bad_sample.out += message(2, packed(1, [999]) + packed(2, [1]))
two_values = Profile([("samples", "count")])
two_values.sample([at("f")], [1, 2])
negative = Profile([("samples", "count")])
negative.sample([at("f")], [-5])
lost = Profile([("samples", "count")])
lost.sample([at("f")], [1])
for what, data, part in (
        ("cut gzip", zipped[:len(zipped) // 2], "cut short"),
        ("gzip of something else", gzip.compress(b"main;f 1\n" * 10), "damaged"),
        ("a location that is not there", bad_sample.data(), "sample 2"),
        ("too many values", two_values.data(), "sample 1"),
        ("a function that is not there", lost.data() + message(4, number(1, 500) + message(4, number(1, 777))), "function is not there"),
        ("a mapping that is not there", lost.data() + message(4, number(1, 500) + number(2, 77)), "mapping is not there"),
        ("a string that is not there", lost.data() + message(5, number(1, 50) + number(2, 7777)), "name is not there")):
    r = folded(write("bad.pb", data))
    check(f"refused with a reason: {what}", r.code == 1 and part in r.err, r)
r = kymo(["flame", "-i", write("neg.pb", negative.data()), "-o", path("n.svg")])
check("negative values: a clear error", r.code == 1 and "negative" in r.err and not os.path.exists(path("n.svg")), r)

random.seed(5)
crashed = []
for i in range(30 if SAN else 150):
    data = bytearray(plain)
    for _ in range(random.randint(1, 6)):
        data[random.randrange(len(data))] = random.randrange(256)
    r = folded(write("fuzz.pb", bytes(data)))
    if r.code not in (0, 1):
        crashed.append((i, r))
check("random damage never crashes", not crashed, crashed[:2])

shutil.rmtree(tmp)
end()
