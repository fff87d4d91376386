#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The interactive flame graph in a real browser: every feature, with numbers worked out by hand."""
import time

from browser import CONTROL, Browser, available
from files import Folder
from tap import check, end, has, same, skip

if available():
    skip("the interactive flame graph", available())
    end()

at = Folder("kymo-page-")
tmp = at.root


def page(name, text, *more):
    return at.flame(name, text, ".html", *more)


basic = page("basic", """java;main;parse;read_[k] 10
java;main;parse 5
java;main;eval;alloc 20
java;main;eval;gc;alloc 15
java;main;eval;eval;eval;alloc 10
bash;main;exec_[k] 25
bash;main;exec_[k];alloc 15
""")  # 100 in all


def frames(b, **where):
    return [f for f in b.js("return kymo.frames()") if all(f[k] == v for k, v in where.items())]


def frame(b, name, **where):
    found = frames(b, name=name, **where)
    assert found, f"no frame {name} {where} among {[f['name'] for f in frames(b)]}"
    return found[0]


def click(b, f, **more):
    b.click(f["x"] + f["w"] / 2, f["y"] + f["h"] / 2, **more)
    settle(b)


def contrast(ink, fill):
    """As WCAG has it, of a text's colour and what it stands on."""
    def light(color):
        parts = (x / 255 for x in color)
        r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((light(ink), light([int(x) for x in fill[4:-1].split(",")])))
    return (high + 0.05) / (low + 0.05)


def settle(b):
    """Until two frames are painted and nothing slides any more."""
    b.js_async("const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1))), 130)")


def saved(b, ending):
    """The file that was saved last, once it is one with that ending."""
    for _ in range(100):
        f = b.js_async("const d = arguments[0]; kymo.saved().then(d)")
        if f and f["name"].endswith("." + ending):
            return f
        time.sleep(0.1)
    raise RuntimeError(f"no .{ending} was saved")


with Browser(1280, 800) as b:
    # --- first sight
    b.open(basic)
    same("the profile is shown", b.js("return document.documentElement.dataset.ready"), "1")
    same("nothing is wrong on the console", b.console(), [])
    all_ = frame(b, "all")
    same("the root is the whole", (all_["total"], round(all_["w"])), (100, 1264))
    same("widths are shares", round(frame(b, "java")["w"] / all_["w"], 6), 0.6)
    check("flame: the root is at the bottom", all_["y"] > frame(b, "java")["y"])
    same("neighbours stand in order of their names", [f["name"] for f in sorted(frames(b, depth=1), key=lambda f: f["x"])], ["bash", "java"])
    has("the title and the sum", b.text(".heading"), "basic0.folded", "100 counts")

    # --- hover
    f = frame(b, "eval", depth=3)
    b.move(f["x"] + 30, f["y"] + 8)
    has("hovering tells name, total, self and per cent", b.text("#tip"), "eval", "45 counts", "45.00%", "0 counts")
    has("and so does the footer", b.text("#hovered"), "eval", "45.00%")
    b.move(200, 200)
    check("and stops", b.js("return document.getElementById('tip').hidden"))

    # --- the line below the picture
    LEGEND = "const l = document.querySelector('#legend'), r = l.getBoundingClientRect(); return [...l.children].filter((e) => e.getBoundingClientRect().top < r.bottom).length"
    deep = page("deep", "java;" + ";".join(f"a_function_with_a_name_that_is_long_{i}" for i in range(60)) + "_[k] 5\njava;b_[j] 1\njava;c_[i] 1\n")
    b.cdp("Emulation.setDeviceMetricsOverride", width=900, height=800, deviceScaleFactor=1, mobile=False)
    b.open(deep)
    shown = b.js(LEGEND)
    f = frames(b, depth=4)[0]
    b.move(f["x"] + 30, f["y"] + 8)
    same("the legend stays when something is pointed at", (b.js(LEGEND), shown >= 3), (shown, True))
    same("a picture that is higher than the window leaves the line its height", b.js("return document.querySelector('footer').offsetHeight"), 32)
    b.keys("i")
    settle(b)
    f = frames(b, depth=4)[0]
    b.click(f["x"] + 30, f["y"] + 8, button=2)
    settle(b)
    check("the menu of a frame stands alone", b.js("return document.getElementById('tip').hidden && !document.getElementById('menu').hidden"))
    has("the line tells of the chosen frame", b.text("#hovered"), f["name"])
    b.keys("Escape", "2")
    same("but not of one that another view does not show", b.text("#hovered"), "")
    b.cdp("Emulation.setDeviceMetricsOverride", width=480, height=400, deviceScaleFactor=1, mobile=False)
    b.open(deep)
    f = frames(b, depth=4)[0]
    b.move(f["x"] + 30, f["y"] + 8)
    check("in a small window its name is seen from the beginning", b.js("const s = document.querySelector('#hovered strong').getBoundingClientRect(), h = document.getElementById('hovered').getBoundingClientRect(); return s.left >= h.left && s.width > 60"))
    b.cdp("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    b.open(basic)

    # --- zoom, breadcrumbs
    click(b, frame(b, "eval", depth=3))
    same("a click zooms", round(frame(b, "eval", depth=3)["w"]), 1264)
    same("callers fill the width, neighbours are gone", (round(frame(b, "java")["w"]), frames(b, name="bash"), frames(b, name="parse")), (1264, [], []))
    same("a callee is its share of the zoomed", round(frame(b, "gc")["w"] / 1264, 3), round(15 / 45, 3))
    same("breadcrumbs say where", b.js("return [...document.querySelectorAll('#crumbs button')].map((e) => e.textContent)"), ["all", "java", "main", "eval"])
    b.press("#crumbs button:nth-of-type(2)")
    settle(b)
    same("and lead back", (round(frame(b, "java")["w"]), round(frame(b, "main")["w"]), frames(b, name="bash")), (1264, 1264, []))
    check("the view is in the address", "zoom=" in b.js("return location.hash"))
    b.js("history.back()")
    settle(b)
    same("the browser's Back undoes it", round(frame(b, "eval", depth=3)["w"]), 1264)
    here = b.js("return location.hash")
    b.open(basic, here)
    same("the address brings the view back", round(frame(b, "eval", depth=3)["w"]), 1264)
    b.keys("0")
    settle(b)
    same("0 zooms out", round(frame(b, "java")["w"] / 1264, 3), 0.6)

    # --- search: per cent without counting twice
    b.keys("/", "eval")
    same("a search in nested frames counts once", b.js("return [kymo.found().a, kymo.found().share]"), [45, 0.45])
    has("and is shown", b.text("#found"), "45.00%")
    hit, other = frame(b, "eval", depth=3)["fill"], frame(b, "parse")["fill"]
    check("matches stand out", hit == "rgb(168,85,247)" and other != hit, (hit, other))
    b.keys("Enter", "n")
    same("n goes to the next of the outermost frames", (b.js("return kymo.found().frames"), b.js("return kymo.chosen()")), (1, "eval"))
    b.keys("Escape")
    same("Escape clears it", b.js("return kymo.state().query"), "")
    b.keys("/", "alloc")
    same("over several places", b.js("return [kymo.found().a, kymo.found().frames]"), [60, 4])
    b.keys("Enter")
    same("the widest first", b.text("#found b") + b.text("#found span"), "60.00%1/4 frames")
    b.keys("n", "n")
    has("n counts on", b.text("#found"), "3/4")
    b.keys("N")
    has("N back", b.text("#found"), "2/4")
    b.keys("/", "Parse|^gc$")
    same("what no name has is tried as a regular expression", (b.js("return kymo.found().a"), b.js("return document.getElementById('query').getAttribute('aria-invalid')")), (30, "false"))
    b.keys("Enter", "/", "eval(")
    same("or found nowhere", (b.js("return kymo.found().a"), b.js("return document.getElementById('query').getAttribute('aria-invalid')")), (0, "false"))
    b.keys("Enter", "/", "/^(read|gc)$/")
    same("a regular expression", b.js("return kymo.found().a"), 25)
    b.js("const q = document.getElementById('query'); q.value = '/(/'; q.dispatchEvent(new Event('input'))")
    has("a bad one is said", b.text("#found"), "not a regular expression")
    same("and marked", b.js("return document.getElementById('query').getAttribute('aria-invalid')"), "true")
    b.keys("Escape")
    b.js("const q = document.getElementById('query'); q.value = 'main'; q.dispatchEvent(new Event('input'))")
    click(b, frame(b, "java"))
    same("the share stays that of the whole when zoomed", b.js("return kymo.found().share"), 1)
    b.keys("Escape", "0")

    # --- icicle, order
    b.keys("i")
    check("i turns it: the root is at the top", frame(b, "all")["y"] < frame(b, "java")["y"])
    b.keys("i", "o")
    same("o orders by size", [f["name"] for f in sorted(frames(b, depth=1), key=lambda f: f["x"])], ["java", "bash"])
    b.keys("o")

    # --- reverse
    b.keys("2")
    same("bottom-up merges by leaf", {f["name"]: f["total"] for f in frames(b, depth=1)}, {"alloc": 60, "exec": 25, "read": 10, "parse": 5})
    same("callers stand on their callees", {f["name"]: f["total"] for f in frames(b, depth=2) if f["x"] < frame(b, "exec", depth=1)["x"]}, {"eval": 30, "exec": 15, "gc": 15})
    click(b, frame(b, "gc", depth=2))
    same("zoom works there", (round(frame(b, "gc", depth=2)["w"]), round(frame(b, "eval", depth=3)["w"])), (1264, 1264))
    b.keys("/", "java")
    same("the search is the same", b.js("return kymo.found().a"), 60)
    b.keys("Escape", "1")

    # --- sandwich
    click(b, frame(b, "eval", depth=3))
    b.keys("s")
    settle(b)
    same("sandwich of a recursive function counts it once", [(f["pane"], f["total"]) for f in frames(b, name="eval", depth=0)], [("callers", 45), ("callees", 45)])
    same("callers above", {f["name"]: f["total"] for f in frames(b, pane="callers")}, {"eval": 45, "main": 45, "java": 45})
    same("callees below", sorted((f["name"], f["total"]) for f in frames(b, pane="callees", depth=1)), [("alloc", 20), ("eval", 10), ("gc", 15)])
    check("in that order", frame(b, "main", pane="callers")["y"] < frame(b, "eval", pane="callers")["y"] == frame(b, "eval", pane="callees", depth=0)["y"] < frame(b, "gc")["y"])
    b.open(basic, b.js("return location.hash"))
    same("a link keeps it", [f["total"] for f in frames(b, name="eval", depth=0)], [45, 45])
    b.keys("1", "0")
    settle(b)

    # --- changes to stacks
    b.keys("r")
    same("collapse recursion", sorted((f["depth"], f["total"]) for f in frames(b, name="eval")), [(3, 45)])
    same("its callees come together", sorted(f["total"] for f in frames(b, name="alloc")), [15, 15, 30])
    b.keys("r")
    click(b, frame(b, "gc"))
    b.keys("h")
    same("hide leaves out samples through it", (frames(b, name="gc"), frame(b, "all")["total"], frame(b, "eval", depth=3)["total"]), ([], 85, 30))
    has("a chip says so", b.text("#chips"), "hidden", "gc")
    b.press("#chips .chip")
    same("and undoes it", frame(b, "all")["total"], 100)
    click(b, frame(b, "gc"))
    b.keys("m")
    same("merge gives its weight to its caller", (frames(b, name="gc"), frame(b, "all")["total"], max(f["total"] for f in frames(b, name="alloc"))), ([], 100, 35))
    b.keys("z")
    same("z takes it back", frame(b, "gc")["total"], 15)
    click(b, frame(b, "eval", depth=3))
    b.keys("c")
    same("collapse keeps callees inside", (frame(b, "eval", depth=3)["self"], frames(b, name="gc")), (45, []))
    b.keys("z")
    click(b, frame(b, "eval", depth=3))
    b.keys("f")
    same("focus: only it and what it calls", (frame(b, "all")["total"], [f["name"] for f in frames(b, depth=1)]), (45, ["eval"]))
    b.open(basic, b.js("return location.hash"))
    same("a link keeps that, too", frame(b, "all")["total"], 45)
    b.keys("z")

    # --- the menu of a frame
    click(b, frame(b, "gc"), button=2)
    check("a right click opens a menu", b.js("return !document.getElementById('menu').hidden"))
    has("with all that can be done", b.text("#menu"), "Zoom", "sandwich", "Focus", "Hide", "Merge", "Collapse", "Copy name")
    b.keys("Down", "Down", "Down", "Enter")
    same("which the arrow keys choose", b.js("return kymo.state().ops.map((o) => o[0])"), ["hide"])
    b.keys("z")

    # --- the table
    b.keys("t")
    check("no number of the table is cut", b.js("return [...document.querySelectorAll('#side td.num')].every(x => x.scrollWidth <= x.clientWidth) && document.querySelectorAll('#side td.num').length > 1"))
    rows = b.js("return [...document.querySelectorAll('#side tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.replace(/\\s+/g, ' ')))")
    same("the table has self and total of each function", {r[0]: (r[1].split()[0], r[2].split()[0]) for r in rows},
         {"alloc": ("60", "60"), "exec": ("25", "40"), "read": ("10", "10"), "parse": ("5", "15"), "bash": ("0", "40"), "eval": ("0", "45"),
          "gc": ("0", "15"), "java": ("0", "60"), "main": ("0", "100")})
    same("largest self first", rows[0][0], "alloc")
    same("a real table with headings", b.js("return [...document.querySelectorAll('#side th')].map((h) => [h.scope, h.getAttribute('aria-sort')])"),
         [["col", "none"], ["col", "descending"], ["col", "none"]])
    b.press("#side th:nth-child(3) button")
    same("sorted by total on a click", b.js("return [...document.querySelectorAll('#side tbody tr')].slice(0, 2).map((r) => r.cells[0].innerText.trim())"), ["main", "alloc"])
    b.press("#side th:nth-child(3) button")
    same("and the other way round", b.js("return document.querySelector('#side tbody tr').cells[2].innerText.split(/\\s/)[0]"), "10")
    b.press("#side th:nth-child(1) button")
    same("by name", b.js("return document.querySelector('#side tbody tr').cells[0].innerText.trim()"), "alloc")
    b.js("document.querySelector('#side tbody tr').focus()")
    b.keys("Down", "Down")
    same("rows are reached with the arrow keys", b.js("return document.activeElement.cells[0].innerText.trim()"), "eval")
    b.keys("Enter")
    same("Enter finds the function", b.js("return [kymo.state().query, kymo.found().a]"), ["/^eval$/", 45])
    b.keys("Escape")
    b.js("document.querySelector('#side tbody tr').focus()")
    b.keys("s")
    same("s makes a sandwich of it", b.js("return kymo.state().mode"), "sandwich")
    b.keys("1")
    click(b, frame(b, "java"))
    has("zoomed, the table is of the zoomed frame", b.text("#side caption"), "in java")
    b.keys("0", "t")

    # --- the keyboard alone
    b.open(basic)
    b.keys("Down", "Up", "Up")
    same("arrows walk: root, its widest callee, on", b.js("return kymo.chosen()"), "main")
    b.keys("Left")
    same("sideways to the neighbour", (b.js("return kymo.chosen()"), b.text("#hovered strong")), ("main", "main"))
    b.keys("Down")
    same("down to the caller", b.js("return kymo.chosen()"), "bash")
    has("the choice is told to screen readers", b.text("#said"), "bash", "40.00%")
    b.keys("Enter")
    settle(b)
    same("Enter zooms", round(frame(b, "bash")["w"]), 1264)
    b.keys("Up", "u")
    settle(b)
    same("u zooms out one frame", round(frame(b, "bash")["w"] / 1264, 3), 0.4)
    b.keys("?")
    check("? shows the keys", b.js("return document.getElementById('dialog').open") and "sandwich" in b.text("#dialog"))
    b.keys("Escape")
    check("Escape closes them", not b.js("return document.getElementById('dialog').open"))
    b.keys(".")
    check(". opens the frame's menu", b.js("return !document.getElementById('menu').hidden"))
    b.keys("Escape", "v")
    check("v the display settings", "Colour" in b.text("#popover"))
    b.keys("Tab", "Enter")
    check("which Tab and Enter change", b.js("return kymo.state().icicle"))
    b.keys("Escape", "i", "x")
    check("x the filters", "folded stacks carry none" in b.text("#popover"))
    b.keys("Escape", "e")
    check("e the exports", "SVG" in b.text("#menu"))
    b.keys("Escape")
    b.keys("f", hold=CONTROL)
    same("Ctrl-F searches", b.js("return document.activeElement.id"), "query")
    b.keys("Escape")
    seen = set()
    for _ in range(40):
        b.keys("Tab")
        seen.add(b.js("const e = document.activeElement; return e.id || e.textContent.trim()"))
    check("Tab reaches every control", {"query", "display", "filter", "tabled", "export", "theme", "help", "stage", "about", "Top-down", "all"} <= seen, seen)
    same("every control has a name", b.js("""return [...document.querySelectorAll("button, input, [tabindex='0']")].filter((e) => e.offsetParent &&
        !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))"""), [])

    # --- colours, themes
    b.open(basic)
    kind = frame(b, "main", depth=2)["fill"]
    b.keys("k", "k")
    check("colour by name differs from colour by kind", frame(b, "main", depth=2)["fill"] != kind)
    b.keys("k")
    same("and back", frame(b, "main", depth=2)["fill"], kind)
    same("kernel frames have another colour", len({kind, frame(b, "exec")["fill"]}), 2)
    b.keys("b")
    check("the colour-blind safe palette differs", frame(b, "main", depth=2)["fill"] != kind)
    b.keys("b")
    same("light by the system's wish", b.js("return document.documentElement.dataset.theme"), "light")
    light = b.js("return getComputedStyle(document.body).backgroundColor")
    b.prefer("dark")
    b.wait("return document.documentElement.dataset.theme === 'dark'")
    check("dark by the system's wish", b.js("return getComputedStyle(document.body).backgroundColor") != light and frame(b, "main", depth=2)["fill"] != kind)
    b.keys("d")
    same("d switches", b.js("return [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]"), ["light", light])
    b.prefer("light")

    # --- exports
    b.open(basic)
    click(b, frame(b, "java"))
    b.keys("e", "Enter")
    svg = saved(b, "svg")
    check("the view as SVG", svg["name"] == "basic0.svg" and "<svg" in svg["text"] and ">main<" in svg["text"] and "bash" not in svg["text"], svg["name"])
    b.keys("e", "Down", "Enter")
    png = saved(b, "png")
    check("as PNG", png["name"] == "basic0.png" and png["size"] > 5000, png and png["name"])
    b.keys("e", "Down", "Down", "Enter")
    folded = saved(b, "folded")
    same("as folded stacks", sorted(folded["text"].split("\n"))[1:3], ["bash;main;exec 25", "bash;main;exec;alloc 15"])
    b.keys("e", "Down", "Down", "Down", "Enter")
    csv = saved(b, "csv")
    has("the table as CSV", csv["text"], "function,self,total,module,file,line", '"main",0,60')

    # --- comparisons
    diff = page("diff", ["m;gone 10\nm;same 10\nm;less 20\n", "m;new 5\nm;same 5\nm;less 5\nm;more 5\n"])
    b.open(diff)
    names = {f["name"] for f in frames(b)}
    check("delta: what vanished is shown, and what is new", {"gone", "new", "same", "less"} <= names, names)
    color = {f["name"]: tuple(int(x) for x in f["fill"][4:-1].split(",")) for f in frames(b)}
    check("gone and less are blue", color["gone"][2] > color["gone"][0] + 80 and color["less"][2] > color["less"][0], color)
    check("new is red, more red than nothing", color["new"][0] > color["new"][2] + 80, color)
    same("what kept its share has no hue", max(color["same"]) - min(color["same"]) < 6, True)
    same("widths are the mean of both", round(frame(b, "gone")["w"] / 1264, 3), 0.125)
    has("both sums are told", b.text(".heading"), "40 counts → 20 counts")
    for dark in (False, True):
        ink = (247, 246, 244) if dark else (26, 24, 22)
        for safe in (False, True):
            b.open(diff, f"#theme={'dark' if dark else 'light'}&safe={int(safe)}")
            worst = min(contrast(ink, frame(b, name)["fill"]) for name in ("gone", "new", "same", "less", "more"))
            check(f"names can be read on every colour, {dark=} {safe=}", worst >= 4.3, worst)
    b.open(diff)
    b.keys("6")
    same("before: only what was", ({f["name"] for f in frames(b, depth=2)}, round(frame(b, "gone")["w"] / 1264, 3)), ({"gone", "same", "less"}, 0.25))
    b.keys("7")
    same("after: only what is", ({f["name"] for f in frames(b, depth=2)}, round(frame(b, "new")["w"] / 1264, 3)), ({"new", "same", "less", "more"}, 0.25))
    f = frame(b, "new")
    b.move(f["x"] + 10, f["y"] + 5)
    has("the tip has before, after and change", b.text("#tip"), "Before", "0 counts", "After", "5 counts", "new", "+25.00%")
    b.keys("5", "t")
    has("the table has them, too", b.text("#side"), "Before", "After", "Change", "−25.00%")
    b.open(page("same", ["a;b 3\na;c 4\nd 5\n"] * 2))
    check("a profile against itself: no hue anywhere", all(len(set(f["fill"][4:-1].split(","))) <= 2 and "236" in f["fill"] for f in frames(b)), [f["fill"] for f in frames(b)])

    # --- hostile names
    nasty = page("nasty", b"</script><img src=x onerror=document.title='owned'>;<b>bold</b>;\"'&\x1b\xff 5\nconstructor;__proto__ 2\n")
    b.open(nasty)
    b.keys("t")
    f = frame(b, "<b>bold</b>")
    b.move(f["x"] + 40, f["y"] + 5)
    has("are text in the tip", b.text("#tip"), "<b>bold</b>")
    b.keys("/", "img")
    has("in the table", b.text("#side"), "</script><img src=x onerror")
    check("and never run", "owned" not in b.js("return document.title") and b.js("return document.images.length") == 0)
    same("names like __proto__ are names", frame(b, "__proto__")["total"], 2)
    b.open(basic, "#view=up&zoom=zz,1&ops=h99,x1,f&threads=9&q=%3Cscript%3E&of=-4&event=77&color=%22")
    same("a hostile address does no harm", (b.js("return kymo.state().mode"), b.js("return kymo.state().ops")), ("up", []))

    # --- nothing else
    b.open(page("empty", ""))
    has("an empty profile says so", b.text("#empty"), "empty: it has no stacks")
    same("nothing was wrong on the console", b.console(), [])
    same("nothing asked the network", b.requests(), [])
    same("and nothing could: its policy forbids it", b.js_async("""const done = arguments[0];
        addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective), { once: true });
        fetch("http://127.0.0.1:9/").catch(() => {}); setTimeout(() => done("allowed"), 2000)"""), "connect-src")
    same("no script can be put in", b.js("""const s = document.createElement("script"); s.textContent = "window.put = 1"; document.body.append(s); return window.put || 0"""), 0)

    # --- without DecompressionStream
    b.cdp("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream; delete Uint8Array.fromBase64;")
    b.open(page("many", "".join(f"a;b{i % 91};c{i * 7 % 1013} {i + 1}\n" for i in range(3000))))
    same("an old browser unpacks it by itself", (b.js("return typeof DecompressionStream"), frame(b, "all")["total"]), ("undefined", 3000 * 3001 // 2))

with Browser(560, 900) as b:
    b.open(basic)
    same("a narrow window: no control is cut off", b.js("return document.documentElement.scrollWidth <= innerWidth"), True)

at.remove()
end()
