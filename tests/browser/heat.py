#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The interactive heat map in a real browser."""
import os
import shutil
import tempfile
import time

from browser import SHIFT, Browser, available
from tap import check, end, has, kymo, same, skip

if available():
    skip("the interactive heat map", available())
    end()

tmp = tempfile.mkdtemp(prefix="kymo-heat-page-")


def page(name, text, *more):
    src, out = os.path.join(tmp, name + ".txt"), os.path.join(tmp, name + ".html")
    with open(src, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    r = kymo(["heat", "-i", src, "-o", out, "-q", *more])
    assert r.code == 0, r
    return out


# 1000 points in 10 s: 100 us on "fast", each tenth 10 ms on "slow"; 20 of 1 s in the middle second
text = "".join(f"{i / 100:.2f} {10000 if i % 10 == 9 else 100} {'slow' if i % 10 == 9 else 'fast'}\n" for i in range(1000))
text += "".join(f"5.{i:02d} 1000000 worst\n" for i in range(20))

with Browser(1280, 800) as b:
    out = page("io", text)
    b.open(out)
    g = b.js("return kymo.grid()")
    same("every point is in a cell", (g["n"], sum(g["count"])), (1020, 1020))
    s = b.js("return kymo.sums()")
    same("percentiles are right", [s["percentiles"][i] for i in (0, 1, 3, 4)], [100_000, 10_000_000, 1_000_000_000, 1_000_000_000])
    has("the heading tells how many, and how long", b.text(".heading"), "1,020 points", "9.99 s")

    column = max(range(g["columns"]), key=lambda c: g["count"][c * g["rows"] + g["rows"] - 1])
    row = max(r for r in range(g["rows"]) if any(g["count"][c * g["rows"] + r] for c in range(g["columns"])))
    cell = b.js("return kymo.cell(arguments[0], arguments[1])", column, row)
    full = [c for c in range(g["columns"]) if g["count"][c * g["rows"] + row]]
    at = b.js("return kymo.cell(arguments[0], arguments[1])", full[0], row)
    b.move(at["x"], at["y"])
    has("hovering tells what a cell holds", b.text("#tip"), "point", "1 s", "at 5")

    # select the worst ones: from the first to the last of their cells
    z = b.js("return kymo.cell(arguments[0], arguments[1])", full[-1], row)
    b.drag(at["x"], at["y"], z["x"], z["y"])
    same("selecting an area finds its events", b.js("return kymo.selected()"), 20)
    has("and lists them", b.text("#side"), "20 events in the selection", "worst", "1.00 s")
    same("one row each", b.js("return document.querySelectorAll('#side table.events tbody tr').length"), 20)
    has("with their own percentiles beside all", b.text("#side .sums"), "Shown", "Selected", "1,020", "20")
    b.press("#side table.events th button")
    same("sorted by time on a click", b.js("return document.querySelector('#side table.events tbody td').textContent"), "5.000000 s")

    b.keys("z")
    same("z zooms to it", b.js("return kymo.grid().n"), 20)
    here = b.js("return location.hash")
    b.open(out, here)
    same("a link keeps it", b.js("return kymo.grid().n"), 20)
    b.keys("0")
    same("0 shows all", b.js("return kymo.grid().n"), 1020)

    b.keys("/", "slow")
    same("only labels with a text", b.js("return kymo.grid().n"), 100)
    b.keys("Escape")
    same("and all again", b.js("return kymo.grid().n"), 1020)
    b.keys("/", "/^(fast|worst)$/", "Enter")
    same("a regular expression", b.js("return kymo.grid().n"), 920)
    b.keys("Escape")

    b.keys("l")
    g = b.js("return kymo.grid()")
    step = {round(y - x) for x, y in zip(g["edges"], g["edges"][1:])}
    same("l makes rows equal, and loses nothing", (len(step), g["n"]), (1, 1020))
    b.keys("l", "c")
    same("c changes the colours", b.js("return kymo.state().shade"), "linear")
    b.keys("Escape", "Escape")

    b.keys("Right", "Up")
    check("arrow keys walk the cells and tell about them", "points" in b.text("#said"), b.text("#said"))
    b.keys("Left", "Left", "Left", "Down", "Down", hold=SHIFT)
    sel = b.js("return kymo.state().sel")
    check("Shift selects an area", sel and sel["t1"] > sel["t0"], sel)
    b.keys("Enter", "Escape")
    same("Escape clears it", b.js("return kymo.state().sel"), None)
    b.keys("?")
    check("? shows the keys", "select an area" in b.text("#dialog"))
    b.keys("Escape", "d")
    same("d is dark", b.js("return document.documentElement.dataset.theme"), "dark")
    b.keys("e", "Down", "Enter")
    for _ in range(50):
        saved = b.js_async("kymo.saved().then(arguments[0])")
        if saved:
            break
        time.sleep(0.1)
    check("events as CSV", saved and saved["name"] == "io.csv" and saved["text"].count("\n") == 1021, saved and saved["name"])

    # a span whose columns, added up, end before it does: the last point is still in the last one
    def drag_all():
        g = b.js("return kymo.grid()")
        at, z = (b.js("return kymo.cell(arguments[0], arguments[1])", *c) for c in ((0, 0), (g["columns"] - 1, g["rows"] - 1)))
        b.drag(at["x"], at["y"], z["x"], z["y"])
        return b.js("return kymo.selected()")

    b.open(out)
    b.keys("t")
    columns = b.js("return kymo.grid().columns")
    span = next(ns for ns in range(1_000_000, 2_000_000) if columns * (ns / columns) < ns)
    b.open(page("edge", "".join(f"{t:.9f} 100\n" for t in (0, 0.0001, span / 1e9))))
    b.keys("t")
    same("an area to the end has the last point", (drag_all(), b.js("return kymo.grid().columns")), (3, columns))
    b.open(b.js("return location.href"))
    same("and so has a link to it", b.js("return kymo.selected()"), 3)

    trace = os.path.join(tmp, "calls.data")
    r = kymo(["record", "-q", "-o", trace, "-e", "syscalls:sys_enter_write,syscalls:sys_exit_write", "--", "sh", "-c", "for i in 1 2 3 4 5; do echo $i; done"])
    if r.code == 0:
        out = os.path.join(tmp, "calls.html")
        kymo(["heat", "--syscall", "write", "-i", trace, "-o", out, "-q"])
        b.open(out)
        b.keys("t")
        same("all calls of a recording are selected", drag_all(), 5)
        has("the list says who made each, and what it returned", b.text("#side table.events"), "sh", "CPU", "returned 2")
    else:
        skip("events of a recording", "tracepoints cannot be recorded here")

    b.open(page("nasty", b"1 2 </script><img src=x onerror=document.title=1>\n2 3 <b>\n"))
    b.keys("t")
    has("hostile labels are text", b.text("#side"), "</script><img src=x")
    same("and never run", b.js("return document.images.length"), 0)
    b.open(page("empty", ""))
    has("no points: it says so", b.text("#empty"), "empty: it has no points")
    b.open(page("one", "5 100\n"))
    same("a single point", b.js("return kymo.grid().n"), 1)
    same("nothing is wrong on the console", b.console(), [])
    same("nothing asked the network", b.requests(), [])

shutil.rmtree(tmp)
end()
