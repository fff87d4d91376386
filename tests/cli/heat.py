#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""kymo heat: text, SVG and page from points; bad input."""
import os
import re
from xml.etree import ElementTree

import page
from files import Folder
from tap import KYMO, check, end, has, kymo, run, same

at = Folder("kymo-heat-")
tmp, path, write, read = at.root, at.path, at.write, at.read


def points(name):
    """[(time, value, label, count)] inside a page."""
    head, columns = page.unpack(path(name))
    t, out = 0, []
    for d, v, l, c, _ in zip(*columns):
        t += d
        out.append((t * head["step"], v, head["labels"][l - 1] if l else None, c))
    return head, out


# 100 points: 10 a second for 10 s; value 100 us, and each second one of 10 ms
text = "".join(f"{5 + i / 10:.1f} {10000 if i % 10 == 9 else 100} {'slow' if i % 10 == 9 else 'disk a'}\n" for i in range(100))
file = write("io.txt", text)

r = kymo(["heat", "--text", "-i", file, "--columns", "10", "--rows", "12"])
check("text for terminals", r.code == 0, r)
rows = [x for x in r.out.splitlines() if "|" in x]
same("ten columns", {len(x.split("|")[1]) for x in rows}, {10})
check("the crowd is dark, the slow ones are seen", any("@" * 10 in x for x in rows) and any(re.search(r"\|[.:\-=+*]{10}\|", x) for x in rows), r.out)
has("percentiles that occurred", r.out, "100 points", "p50 100 us", "p90 100 us", "p95 10.0 ms", "max 10.0 ms")
r = kymo(["heat", "--text", "-i", file])
check("in a pipe it is as wide as a terminal", 60 < max(map(len, r.out.splitlines())) <= 80, r.out)
has("a legend of all levels, from few to many", r.out, " .:-=+*#%@ 0 to ")
r = kymo(["heat", "--text", "-i", file, "--max", "5000"])
has("what is outside is counted", r.out, "0 below and 10 above the axis are not drawn")
r = kymo(["heat", "--text", "--linear", "-i", file, "--rows", "10", "--columns", "10"])
check("a linear scale", "8.00 ms" in r.out and "2.00 ms" in r.out, r.out)

r = kymo(["heat", "-i", file, "-o", path("a.svg"), "--title", "T <&>", "--columns", "10"])
root = ElementTree.parse(path("a.svg")).getroot()
titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
same("an SVG whose cells add up", sum(int(t.split(":")[0]) for t in titles), 100)
has("with its title and percentiles", read("a.svg"), "T &lt;&amp;&gt;", "p99 10.0 ms")
labels = [float(t.get("y")) for t in root.iter("{http://www.w3.org/2000/svg}text") if (t.text or "").startswith("p")]
check("percentiles that are near each other have labels one below the other, inside the picture",
      len(labels) == 6 and min(labels) > 50 and max(labels) < 560 and all(a - b >= 12.9 for a, b in zip(labels, labels[1:])), labels)
same("private", os.stat(path("a.svg")).st_mode & 0o777, 0o600)


def axis(name, *args, points):
    """Labels of the vertical axis with their heights, from below; and the key of the colours."""
    kymo(["heat", "-q", "-i", "-", "-o", path(name), *args], input="".join(f"{i} {v}\n" for i, v in enumerate(points)).encode())
    texts = list(ElementTree.parse(path(name)).getroot().iter("{http://www.w3.org/2000/svg}text"))
    marks = [(t.text, float(t.get("y"))) for t in texts if t.get("text-anchor") == "end" and float(t.get("x")) < 74]
    return marks, [t.text for t in texts if t.text.endswith(" in a cell")]


marks, key = axis("b.svg", "--unit", "ns", points=[10, 10, 30, 100000] + [1000] * 1200)
same("round numbers beside the rows", [m for m, _ in marks[:9]], ["10 ns", "20 ns", "50 ns", "100 ns", "200 ns", "500 ns", "1 us", "2 us", "5 us"])
ys = dict(marks)
check("each where it belongs on a logarithmic axis", abs((ys["10 ns"] - ys["20 ns"]) / (ys["10 ns"] - ys["100 ns"]) - 0.30103) < 0.002, ys)
check("the colours are explained", len(key) == 1 and key[0] != "1 in a cell", key)
same("a narrow range has round steps, too", [m for m, _ in axis("c.svg", points=[5, 6])[0]][:3], ["4.9 us", "5 us", "5.1 us"])
same("and a single value", ([m for m, _ in axis("d.svg", "--unit", "ns", points=[0])[0]], axis("d.svg", points=[0])[1]), (["1 ns"], ["1 in a cell"]))
same("a linear axis", [m for m, _ in axis("e.svg", "--linear", "--unit", "ms", points=[1, 10])[0]][:3], ["0", "1 ms", "2 ms"])

r = kymo(["heat", "-i", file, "-o", path("a.html")])
head, got = points("a.html")
check("a page", r.code == 0 and "100 points" in r.err, r)
same("with every point", len(got), 100)
same("exactly", got[9], (900_000_000, 10_000_000, "slow", 1))
same("and its unit", (head["unit"], head["what"], head["points"]), ("ns", "latency", 100))
has("it forbids the network", read("a.html"), "default-src 'none'")
kymo(["heat", "-i", write("bytes.txt", "1 4096\n2 8192\n"), "--unit", "bytes", "--what", "size", "--time-unit", "ms", "-o", path("b.html")])
head, got = points("b.html")
same("other units", (head["unit"], head["what"], got), ("bytes", "size", [(0, 4096, None, 1), (1_000_000, 8192, None, 1)]))
r = run(f"printf '1 2\\n' | {KYMO} heat -i - -o {path('c.html')}", shell=True)
check("from standard input", r.code == 0, r)

big = "".join(f"{i * 0.00001:.6f} {(i * 7919) % 100003 + 1} d{i % 5}\n" for i in range(200000))
r = kymo(["heat", "-i", write("big.txt", big), "-o", path("big.html"), "--max-size", "500K"])
head, got = points("big.html")
check("--max-size is kept by rounding, and that is said", os.path.getsize(path("big.html")) <= 500 * 1024 and "rounded" in r.err, (r.err, os.path.getsize(path("big.html"))))
same("no point gets lost", sum(p[3] for p in got), 200000)

nasty = write("nasty.txt", b"1 2 </script><img src=x>\n2 3 \x1b[31m\xff\n")
kymo(["heat", "-i", nasty, "-o", path("n.html")])
same("hostile labels are text", [p[2] for p in points("n.html")[1]], ["</script><img src=x>", "\\x1b[31m\\xff"])
kymo(["heat", "-i", write("empty", ""), "-o", path("e.html")])
same("no points: an honest empty page", points("e.html")[1], [])
has("and text", kymo(["heat", "--text", "-i", path("empty")]).out, "no points")

for name, bad, part in [("bad1", "1 2\nx\n", "bad1:2: no time and value"), ("bad2", "1 -2\n", "bad2:1: a time or a value is negative"), ("bad3", b"1\0 2\n", "bad3:1: a NUL byte"),
                        ("bad4", "1 1e300\n", "bad4:1: a time or a value is too large"), ("bad5", "1 2 " + "x" * 5000 + "\n", "bad5:1: the line is longer")]:
    r = kymo(["heat", "-i", write(name, bad), "-o", path("x.html")])
    check(f"refused: {part}", r.code == 1 and part in r.err, r)
check("and no file is left", not os.path.exists(path("x.html")))
for args, part in [(["heat"], "what should be drawn"), (["heat", file, file], "too many files"), (["heat", file, "-o", path("x.jpg")], ".html or .svg"),
                   (["heat", file, "--time-unit", "h"], "--time-unit is"), (["heat", file, "--min", "x", "-o", path("x.svg")], "--min wants"),
                   (["heat", file, "--min", "50", "--max", "10", "-o", path("x.svg")], "ends before it begins"), (["heat", file, "--width", "5"], "pixels wide")]:
    r = kymo(args)
    check(f"refused: {part}", r.code == 1 and part in r.err, r)

at.remove()
end()
