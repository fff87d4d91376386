#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A flame graph of a million frames: everything works, and the times it took are told (not judged)."""
import os
import re
import shutil
import subprocess
import tempfile

from browser import Browser, available
from tap import check, end, same, skip

if available():
    skip("a flame graph of a million frames", available())
    end()

tmp = tempfile.mkdtemp(prefix="kymo-million-")
fixture = os.path.join(os.path.dirname(os.environ.get("KYMO_WORK", "build/tests/work")), "browser/flame-fixture")


def make(name, *more):
    out = os.path.join(tmp, name)
    said = subprocess.run([fixture, "million", out, *more], check=True, stdout=subprocess.PIPE, text=True).stdout
    return out, [int(x) for x in re.findall(r"\d+", said)]


# from the key or click to the second painted frame after it
PAINTED = """const done = arguments[arguments.length - 1], act = arguments[0], t = performance.now();
(new Function(act))();
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - t)));"""

with Browser(1920, 1080) as b:
    out, (nodes, size, samples, _) = make("million.html")
    b.open(out)
    same("a million frames", b.js("return kymo.nodes()[0]"), nodes + 1)
    whole = b.js("return kymo.frames()[0].total")
    same("with all samples", whole, samples)
    times = b.js("return kymo.times")
    print(f"# file {size} bytes; first picture {times['painted']:.0f} ms after the page was asked for (decoding {times['decode']:.0f} ms)")

    zoom, search = [], []
    deep = [f for f in b.js("return kymo.frames()") if f["depth"] in (1, 3, 5)]
    for f in deep[:3] + deep[-3:]:
        before = b.js("return location.hash")
        zoom.append(b.js_async(PAINTED, f"""const s = document.getElementById("stage"), e = {{ clientX: {f['x'] + f['w'] / 2}, clientY: {f['y'] + 5}, bubbles: true }};
            s.dispatchEvent(new MouseEvent("click", e))"""))
        if b.js("return location.hash") == before:
            check(f"a click on {f['name']} zooms", False)
        zoom.append(b.js_async(PAINTED, "document.dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true }))"))
    same("zoom out shows all again", b.js("return kymo.frames()[0].total"), whole)
    for q in ("e", "engine", "visit_7", "/_1\\d*$/", "nothing at all"):
        search.append(b.js_async(PAINTED, f"""const q = document.getElementById("query"); q.value = {q!r}; q.dispatchEvent(new Event("input"))"""))
    same("a search for what is not there", b.js("return [kymo.found().a, kymo.found().frames]"), [0, 0])
    print(f"# zoom, to the second frame painted after it: {', '.join(f'{x:.0f}' for x in zoom)} ms")
    print(f"# search, the same: {', '.join(f'{x:.0f}' for x in search)} ms")
    b.js("const q = document.getElementById('query'); q.value = 'engine'; q.dispatchEvent(new Event('input'))")
    found = b.js("return kymo.found().a")
    check("a search counts what is covered", 0 < found <= whole, found)
    b.keys("Escape")
    for key, name in (("2", "bottom-up"), ("3", "sandwich"), ("4", "order of the file"), ("1", "top-down"), ("r", "recursion collapsed"), ("r", "and not"), ("o", "by size"), ("t", "the table")):
        ms = b.js_async(PAINTED, f"document.dispatchEvent(new KeyboardEvent('keydown', {{ key: {key!r}, bubbles: true }}))")
        print(f"# {name}: {ms:.0f} ms, {b.js('return kymo.nodes()')} frames")
        if key in "24r1o":
            same(f"{name}: nothing is lost", b.js("return kymo.frames()[0].total"), whole)
    b.keys("2")
    inner = [f for f in b.js("return kymo.frames()") if f["depth"] == 2][0]
    b.click(inner["x"] + inner["w"] / 2, inner["y"] + 5)
    b.js_async("setTimeout(arguments[0], 200)")
    check("a zoom into a reversed view opens what was too small before", max(f["depth"] for f in b.js("return kymo.frames()")) > 4)
    same("nothing is wrong on the console", b.console(), [])

    # the same profile in a small file
    out, (nodes, size, _, pruned) = make("pruned.html", "1000000", "1000000")
    b.open(out)
    check("a pruned file is smaller and says so", size <= 1000000 and pruned > 0 and "pruned" in b.text("#about"), (size, pruned))
    same("with the same sum", b.js("return kymo.frames()[0].total"), whole)
    b.press("#about")
    check("in words", "were pruned" in b.text("#dialog"), b.text("#dialog"))

shutil.rmtree(tmp)
end()
