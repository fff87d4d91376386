#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The SVG flame graph, opened alone and clicked: zoom, search, reset."""

from browser import CONTROL, Browser, available
from files import Folder
from tap import check, end, has, same, skip

if available():
    skip("the SVG flame graph", available())
    end()

at = Folder("kymo-svg-")
tmp = at.root


def draw(name, text, *more):
    return at.flame(name, text, ".svg", *more)


FRAMES = """return [...document.querySelectorAll("#frames > g")].filter((g) => !g.classList.contains("hide")).map((g) => {
    const r = g.querySelector("rect"), b = r.getBoundingClientRect();
    return { title: g.querySelector("title").textContent, x: b.x, y: b.y, w: b.width, h: b.height, fill: r.getAttribute("fill"), label: g.querySelector("text").textContent, faded: g.classList.contains("parent") };
})"""


def frames(b):
    return {f["title"].split(" (")[0]: f for f in b.js(FRAMES)}


def click(b, f):
    b.click(f["x"] + f["w"] / 2, f["y"] + f["h"] / 2)


text = "a;b;c 20\na;b 10\na;d 30\ne 58\n"
with Browser(1280, 400) as b:
    svg = draw("basic", text)
    b.open(svg, ready=False)
    same("all frames", sorted(frames(b)), ["a", "all", "b", "c", "d", "e"])
    f = frames(b)["b"]
    b.move(f["x"] + 20, f["y"] + 5)
    same("hovering tells about a frame", b.text("#details"), "Function: b (30 samples, 25.42%)")

    click(b, f)
    got = frames(b)
    same("a click zooms: it, its callers and its callees stay", sorted(got), ["a", "all", "b", "c"])
    same("from edge to edge", (round(got["b"]["w"]), round(got["c"]["w"])), (1180, round(1180 * 20 / 30)))
    check("callers are faded", got["a"]["faded"] and got["all"]["faded"] and not got["b"]["faded"])
    check("Reset Zoom appears", b.js("return getComputedStyle(document.getElementById('unzoom')).display") != "none")
    check("the view is in the address", "x=" in b.js("return location.search"))
    b.press("#unzoom")
    same("and resets", (len(frames(b)), round(frames(b)["b"]["w"])), (6, 300))

    b.press("#search")
    b.keys("^[bcd]$")
    same("search: matched per cent, nothing twice", b.text("#matched"), "Matched: 50.8%")
    same("matches are marked", [n for n, f in frames(b).items() if f["fill"] == "rgb(230,0,230)"], ["b", "c", "d"])
    b.keys("Enter")
    same("the field closes", b.js("return document.querySelectorAll('input').length"), 0)
    same("the button resets now", b.text("#search"), "Reset Search")
    b.press("#search")
    same("the search", (b.text("#matched").strip(), [n for n, f in frames(b).items() if f["fill"] == "rgb(230,0,230)"]), ("", []))
    b.keys("f", hold=CONTROL)
    b.keys("E")
    same("Ctrl-F searches, case counts", b.text("#matched"), "Matched: 0.0%")
    b.keys("Enter")
    b.press("#ignorecase")
    same("unless it is ignored", b.text("#matched"), "Matched: 49.2%")
    b.keys("Escape")
    same("Escape clears", b.text("#search"), "Search")
    b.keys("/", "[")
    has("half a regular expression is text", b.text("#matched"), "Matched: 0.0%")
    b.keys("Escape")

    b.open("file://" + svg + "?s=d", ready=False)
    same("the address brings a search back", b.text("#matched"), "Matched: 25.4%")
    b.open(draw("icicle", text, "--inverted"), ready=False)
    got = frames(b)
    check("inverted: the root is at the top", got["all"]["y"] < got["a"]["y"] < got["c"]["y"])
    click(b, got["b"])
    same("and zooms the same way", sorted(frames(b)), ["a", "all", "b", "c"])

    b.open(draw("diff", ["m;gone 10\nm;same 10\n", "m;new 5\nm;same 5\n"]), ready=False)
    got = frames(b)
    check("a comparison has its colours", got["gone"]["fill"].endswith("255)") and got["new"]["fill"].startswith("rgb(255") and got["same"]["fill"] == "rgb(245,245,245)", got)

    b.open(draw("nasty", b"</script><img src=x onerror=document.title=1>;]]>;\x1b\xff&quot 5\n"), ready=False)
    check("hostile names are text", "</script><img src=x onerror=document.title=1>" in frames(b), list(frames(b)))
    same("and never run", b.js("return document.querySelectorAll('img').length + document.querySelectorAll('script').length"), 1)
    b.open(draw("empty", ""), ready=False)
    has("an empty profile says so", b.js("return document.documentElement.textContent"), "the profile is empty")
    same("nothing is wrong on the console", b.console(), [])
    same("nothing asked the network", b.requests(), [])

at.remove()
end()
