#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page's time order is in time, and so is the SVG when it is zoomed: tests/work/phases.c says when it did what."""
from browser import Browser, available
from files import Folder
from phases import record
from tap import check, end, has, kymo, same, skip

if available():
    skip("time order in a browser", available())
    end()
at = Folder("kymo-page-time-")
p = record(at.path("p.data"), "-e cpu-clock", ["threads"])
if not p:
    skip("time order in a browser", "the clock cannot be sampled here")
    end()


def boxes(b):
    return [(f["name"], f["from"], f["from"] + f["lasts"]) for f in b.js("return kymo.frames()") if f["from"] is not None]


kymo(["flame", "-i", at.path("p.data"), "-o", at.path("p.html")])
kymo(["flame", "--flamechart", "-i", at.path("p.data"), "-o", at.path("p.svg")])
with Browser(1280, 900) as b:
    b.open(at.path("p.html"))
    b.js("kymo.still(true)")
    b.keys("4")
    same("what ran stands when it ran, and a sleep is a gap", p.wrong(boxes(b), without=("in_pause",)), "")
    third = [f for f in b.js("return kymo.frames()") if f["name"] == "in_third"]
    over = [(f, g) for f in third for g in third if f is not g and f["y"] == g["y"] and f["x"] < g["x"] < f["x"] + f["w"] - 1]
    check("threads that run at once have rows of their own", third and not over, over)
    f = next(f for f in b.js("return kymo.frames()") if f["name"] == "in_second" and f["w"] > 3)
    b.move(f["x"] + f["w"] / 2, f["y"] + 8)
    has("the tip says when, and how long", b.text("#tip"), "From", "Lasts")
    b.click(f["x"] + f["w"] / 2, f["y"] + 8)
    g = next(x for x in b.js("return kymo.frames()") if x["name"] == "in_second" and abs(x["from"] - f["from"]) < 1e-9)
    check("and shows that time alone", g["w"] > 1200 and abs(g["lasts"] - f["lasts"]) < 1e-9, (f, g))
    b.keys("0")
    steps = b.js("return kymo.state().to") + 1
    b.open(at.path("p.html"), f"#view=chart&from={steps // 2}&to={steps - 1}")
    got = [x for x in boxes(b) if x[0] == "in_first"]
    check("a range of time begins where it begins", got and min(x[1] for x in got) > p.phases[2][1], got)
    b.open(at.path("p.svg"), ready=False)
    b.wait("return typeof frames !== 'undefined' && frames.length")
    b.js("zoom(frames.filter((f) => f.name === 'in_second').sort((a, b) => b.w - a.w)[0])")
    seconds = [float(x.split()[0]) for x in b.js("return [...document.querySelectorAll('#axis text')].map((t) => t.textContent)")]
    check("a zoomed SVG has the times of what is shown", seconds and p.phases[1][1] - 0.03 < seconds[0] and seconds[-1] < p.phases[1][2] + 0.03, (seconds, p.phases))
    same("nothing is wrong in the console", b.console(), [])

w = record(at.path("w.data"), "-e cpu-clock --off-cpu --off-cpu-thresh 1")
if w:
    kymo(["flame", "--wall", "-i", at.path("w.data"), "-o", at.path("w.html")])
    with Browser(1280, 900) as b:
        b.open(at.path("w.html"), "#view=chart")
        same("waits stand when they were, between what ran", w.wrong(boxes(b)), "")
    kymo(["record", "-q", "-e", "dummy", "--off-cpu", "-o", at.path("sum.data"), "--", "sh", "-c", "for i in 1 2 3 4; do sleep 0.01; done"])
    kymo(["flame", "--off-cpu", "-i", at.path("sum.data"), "-o", at.path("sum.html")])
    with Browser(1280, 900) as b:
        b.open(at.path("sum.html"), "#view=chart")
        said = b.js("return document.querySelector('[data-mode=chart]').title + document.getElementById('empty').textContent + document.getElementById('subtitle').textContent")
        has("of waits that were summed up the page says that they have no time", said, "summed up")
else:
    skip("waits in time order", "record --off-cpu does not work here")
at.remove()
end()
