#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The columns of the flame graph's table in a real browser: widths, their edges, and names that do not fit."""
from browser import SHIFT, Browser, available
from files import Folder
from tap import check, end, has, same, skip

if available():
    skip("the columns of the flame graph's table", available())
    end()

at = Folder("kymo-table-")
LONG = "std::_Hashtable<std::basic_string<char, std::char_traits<char> >, std::pair<int, long>, std::_Select1st>::"
SHORT_ARGS = [LONG + f"method_{i}(int)" for i in range(4)]
LONG_ARGS = LONG + "insert_range(" + "std::vector<int, std::allocator<int> > const&, " * 4 + "unsigned long) const"
OPERATOR = LONG + "operator<< <char, std::char_traits<char> >(std::basic_ostream<char>&, char const*)"
WIDE = "名前空間::" * 30 + "関数\U0001f525(終)"
NAMES = [*SHORT_ARGS, LONG_ARGS, OPERATOR, WIDE, "x" * 400 + "_end"]
page = at.flame("long", "".join(f"main;{n} {10 ** (i + 2)}\n" for i, n in enumerate(NAMES)), ".html")
few = at.flame("few", "main;a 1\nmain;b 2\n", ".html")
diff = at.flame("diff", ["m;gone 10\n" + f"m;{LONG_ARGS} 5\n", "m;new 10\n" + f"m;{LONG_ARGS} 7\n"], ".html")

WIDTHS = "return [...document.querySelectorAll('#side th')].map((h) => h.offsetWidth)"
VALUES = "return [...document.querySelectorAll('#side .edge')].map((e) => Number(e.getAttribute('aria-valuenow')))"
FITS = "const s = document.getElementById('side'); return s.scrollWidth <= s.clientWidth"
NUMBERS = "return [...document.querySelectorAll('#side td.num')].every((x) => x.scrollWidth <= x.clientWidth)"
# by name: what can be seen of it, whether its last letter is inside its cell, and what a copy of it would be
SEEN = """return Object.fromEntries([...document.querySelectorAll("#side .fn")].map((cell) => {
    const box = cell.getBoundingClientRect(), span = cell.lastElementChild, range = document.createRange(), marked = getSelection();
    const last = span.lastChild, seen = [...span.childNodes].map((n) => n.nodeType === 3 ? n.data : "…").join("");
    range.setStart(last, last.length - 1), range.setEnd(last, last.length);
    const letter = range.getBoundingClientRect();
    range.selectNodeContents(cell), marked.removeAllRanges(), marked.addRange(range);
    const copied = marked.toString();
    marked.removeAllRanges();
    return [cell.title, { seen, inside: letter.width > 0 && letter.left >= box.left && letter.right <= box.right - 8, copied }];
}))"""


def edge(b, i):
    return b.js("const r = document.querySelectorAll('#side .edge')[arguments[0]].getBoundingClientRect(); return [r.right - 4, r.top + r.height / 2]", i)


def drag(b, i, by):
    x, y = edge(b, i)
    b.drag(x, y, x + by, y)


def names_end_inside(b, where):
    seen = b.js(SEEN)
    same(f"the end of every name is inside its cell, {where}", [n for n, s in seen.items() if not s["inside"]], [])
    same(f"every name is copied whole, {where}", [s["copied"] for s in seen.values()], list(seen))
    return seen


for width, dark in ((800, False), (1280, True), (2560, False)):
    with Browser(width, 700, dark=dark) as b:
        where = f"{width} pixels, {'dark' if dark else 'light'}"
        b.open(page, "#table=1")
        check(f"no scroll bar sideways, {where}", b.js(FITS))
        check(f"no number is cut, {where}", b.js(NUMBERS))
        seen = names_end_inside(b, where)
        check(f"names are cut, {where}", sum("…" in s["seen"] for s in seen.values()) >= 6, seen)
        has(f"a method's name and the end of its arguments, {where}", seen[LONG_ARGS]["seen"], "…insert_", "onst")
        same(f"functions that differ at their end differ, {where}", len({seen[n]["seen"] for n in SHORT_ARGS}), 4)
        same(f"all of the last part where it fits, {where}", [seen[n]["seen"][-13:] for n in SHORT_ARGS], [f"method_{i}(int)" for i in range(4)])
        check(f"an edge can be seen, {where}", b.js("""const e = document.querySelector('#side .edge');
            return getComputedStyle(e, '::before').backgroundColor !== getComputedStyle(document.querySelector('#side th')).backgroundColor"""))
        name, self_, total = b.js(WIDTHS)
        b.open(few, "#table=1")
        thin = b.js(WIDTHS)
        check(f"numbers take what they need, the name the rest, {where}", thin[1] < self_ - 20 and thin[0] > name + 40 and sum(thin) == name + self_ + total, (thin, name))
        same(f"nothing is wrong on the console, {where}", b.console(), [])

with Browser(1280, 800) as b:
    # --- the pointer
    b.open(page, "#table=1")
    was = b.js(WIDTHS)
    drag(b, 1, 60)
    now = b.js(WIDTHS)
    same("an edge that is dragged makes its column wider, the name gives way", (now[1] - was[1], now[2] - was[2], now[0] - was[0]), (60, 0, -60))
    same("it did not sort", b.js("return [kymo.state().order, kymo.state().desc, kymo.state().query]"), ["self", True, ""])
    names_end_inside(b, "dragged")
    b.press("#side th:nth-child(1) button")
    same("sorting keeps the width", b.js(WIDTHS), now)
    b.keys("t", "t")
    same("and so does closing the table", b.js(WIDTHS), now)
    b.click(*edge(b, 1), times=2)
    same("a double click fits to what it holds", b.js(WIDTHS), was)
    b.click(*edge(b, 0), times=2)
    seen = b.js(SEEN)
    same("and names are whole then", [s["seen"] for s in seen.values()], list(seen))
    check("with a scroll bar, as asked for", not b.js(FITS))
    b.js("document.querySelectorAll('#side .edge')[0].focus()")
    b.keys("Enter")
    same("a second time gives the room back", (b.js(WIDTHS), b.js(FITS)), (was, True))
    drag(b, 0, -80)
    same("a narrow name", (b.js(WIDTHS)[0] - was[0], b.js(FITS)), (-80, True))
    names_end_inside(b, "narrow")

    # --- the keyboard, and what a screen reader is told
    b.open(page, "#table=1")
    same("every edge is a separator with a name and a value", b.js("""return [...document.querySelectorAll('#side .edge')].map((e) => [e.getAttribute('role'),
        e.tabIndex, e.getAttribute('aria-orientation'), e.getAttribute('aria-label'), Number(e.getAttribute('aria-valuemin')) > 0])"""),
         [["separator", 0, "vertical", f"Width of the column {n}", True] for n in ("Function", "Self", "Total")])
    same("a heading's name is its word", b.js("return [...document.querySelectorAll('#side th')].map((h) => h.getAttribute('aria-label'))"), ["Function", "Self", "Total"])
    same("the value is the width", b.js(VALUES), b.js(WIDTHS))
    b.js("document.querySelectorAll('#side .edge')[2].focus()")
    b.keys("Right", "Right", "Left", "Right")
    same("arrow keys move it", (b.js(WIDTHS)[2] - was[2], b.js(VALUES)), (32, b.js(WIDTHS)))
    b.keys("Left", hold=SHIFT)
    same("by a pixel with Shift", b.js(WIDTHS)[2] - was[2], 31)
    b.keys("Home")
    same("as narrow as can be", b.js(WIDTHS)[2], 40)
    b.keys("End")
    same("as wide as it needs", b.js(WIDTHS)[2], was[2])
    b.keys("Right", "Delete", "Down")
    same("and back to the page's choice; no frame was chosen meanwhile", (b.js(WIDTHS), b.js("return kymo.chosen()")), (was, None))
    b.js("document.querySelector('#side tbody tr').focus()")
    b.keys("Down")
    same("the row that the keyboard reached shows its name whole", b.js("""const r = document.activeElement, c = r.querySelector('.cut');
        return [getComputedStyle(c).fontSize, r.offsetHeight > 2 * r.previousSibling.offsetHeight, r.cells[0].scrollWidth <= r.cells[0].clientWidth]"""), ["12.5px", True, True])
    divider = "const d = document.getElementById('divider'); return Number(d.getAttribute('aria-valuenow'))"
    wide = b.js(divider)
    b.js("document.getElementById('divider').focus()")
    b.keys(*["Left"] * 4)
    b.wait(f"{divider.replace('return', 'return ' + str(wide) + ' + 96 ===')}")
    now = b.js(WIDTHS)
    same("a wider table gives its room to the names", (now[0] - was[0], now[1:]), (96, was[1:]))
    b.keys(*["Right"] * 30)
    b.wait("return document.getElementById('side').offsetWidth === 260")
    b.js_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    same("the narrowest has no scroll bar either; per cents give way", (b.js(FITS), b.js("return document.querySelector('#side td.num small').offsetWidth")), (True, 0))
    names_end_inside(b, "narrowest")

    # --- marking a name with the pointer is no click
    b.open(page, "#table=1")
    x, y = b.js("const r = document.querySelector('#side .fn span').getBoundingClientRect(); return [r.left, r.top + r.height / 2]")
    b.drag(x + 2, y, x + 90, y)
    same("a marked name is not searched", (b.js("return kymo.state().query"), b.js("return getSelection().toString().length > 3")), ("", True))
    b.click(x + 20, y)
    check("a click is", b.js("return kymo.state().query") != "")

    # --- comparisons, and a zoomed frame with a long name
    b.open(diff, "#table=1")
    same("a comparison: no scroll bar, whole numbers", (b.js(FITS), b.js(NUMBERS), len(b.js(WIDTHS))), (True, True, 4))
    names_end_inside(b, "comparison")
    b.open(page, "#table=1")
    b.js("kymo.zoom(arguments[0])", LONG_ARGS)
    b.wait("return document.querySelector('#side caption').textContent.includes('insert_range')")
    check("nor with a long name above it", b.js(FITS))
    same("nothing asked the network", b.requests(), [])

at.remove()
end()
