#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""kymo flame and kymo collapse: what is written, and what bad input is told."""
import html.parser
import os
import re
from xml.etree import ElementTree

import page as pages
from files import Folder
from shell import on_terminal
from tap import SAN, WORK, check, end, has, kymo, run, same, KYMO

at = Folder("kymo-flame-")
tmp, path, write, read = at.root, at.path, at.write, at.read


def profile(name):
    """The profile inside an HTML file, decoded here from the format's description."""
    head, columns = pages.unpack(path(name))
    # stacks again: the path of each node, and the entries' weights
    paths, stack = [()], []
    depth = 0
    for up, func in zip(columns[0], columns[1]):
        depth = depth + 1 - up
        stack[depth - 1:] = [head["strings"][head["funcs"]["name"][func - 1]] if func else "[pruned]"]
        paths.append(tuple(stack))
    entries, node = [], 0
    for i, (d, key, w) in enumerate(zip(columns[2], columns[3], columns[5])):
        node += d
        entries.append((paths[node], head["keys"][4 * key:4 * key + 4], w))
    return head, entries


def frames(svg):
    """[(title, x, y, width)] of an SVG flame graph."""
    ns = {"s": "http://www.w3.org/2000/svg"}
    root = ElementTree.parse(path(svg)).getroot()
    out = []
    for g in root.find("s:g[@id='frames']", ns):
        r = g.find("s:rect", ns)
        out.append((g.find("s:title", ns).text, float(r.get("x")), float(r.get("y")), float(r.get("width"))))
    return out


basic = write("basic.folded", "a;b;c 20\na;b 10\na;d 30\ne 58\n")

# --- the classic picture: the numbers of flamegraph.pl for 118 samples in 1180 pixels
r = kymo(["flame", "-i", basic, "-o", path("a.svg")])
check("an SVG is drawn", r.code == 0, r)
has("it says what was written", r.err, "wrote", "118 counts", "4 different stacks")
same("every rectangle is where flamegraph.pl puts it", frames("a.svg"), [
    ("all (118 samples, 100%)", 10.0, 85.0, 1180.0),
    ("a (60 samples, 50.85%)", 10.0, 69.0, 600.0),
    ("b (30 samples, 25.42%)", 10.0, 53.0, 300.0),
    ("c (20 samples, 16.95%)", 110.0, 37.0, 200.0),
    ("d (30 samples, 25.42%)", 310.0, 53.0, 300.0),
    ("e (58 samples, 49.15%)", 610.0, 69.0, 580.0)])
same("the file is private", os.stat(path("a.svg")).st_mode & 0o777, 0o600)

r = kymo(["flame", basic, "-o", path("b.svg"), "--title", "T <&>", "--subtitle", "Sub", "--width", "620", "--height", "20",
          "--minwidth", "15%", "--fonttype", "Times", "--fontsize", "10", "--countname", "bytes", "--nametype", "Frame:",
          "--colors", "mem", "--bgcolors", "#112233", "--hash", "--inverted", "--notes", "seen -- here", "--total", "236", "--factor", "2"])
text = read("b.svg")
check("all of flamegraph.pl's options are taken", r.code == 0, r)
has("and are in the picture", text, "T &lt;&amp;&gt;", ">Sub<", 'width="620"', "font-family:Times", "font-size:10px", "#112233",
    '"Frame:"', "seen - - here", "all (472 bytes, 100%)", "e (116 bytes, 24.58%)")
same("--minwidth in per cent leaves out what is less, --total and --factor count", [f[0].split()[0] for f in frames("b.svg")], ["all", "a", "e"])
r = kymo(["flame", basic, "-o", path("c.svg"), "--reverse", "--random", "--negate"])
same("--reverse merges by leaf", [f[0].split()[0] for f in frames("c.svg")], ["all", "b", "a", "c", "b", "a", "d", "a", "e"])
write("chart.folded", "a;b 1\na;c 1\na;b 1\nb 1\na 1\n")
kymo(["flame", path("chart.folded"), "-o", path("d.svg"), "--flamechart"])
same("--flamechart keeps the order and merges only neighbours", [f[0].split()[0] for f in frames("d.svg")], ["all", "a", "b", "c", "b", "b", "a"])
has("and is called so", read("d.svg"), "Flame Chart")
r = kymo(["flame", basic, "-o", path("e.svg"), "--total", "5"])
has("a --total below the sum is ignored, and said", r.err, "--total is less")
for option, value, part in [("--colors", "pink", "no palette 'pink'"), ("--bgcolors", "pink", "no background"), ("--width", "3", "--width 3"),
                            ("--minwidth", "x", "--minwidth wants"), ("--fontsize", "-1", "--fontsize wants"), ("--widths", "x", "--widths has no 'x'")]:
    r = kymo(["flame", basic, "-o", path("x.svg"), option, value])
    check(f"{option} {value} is refused", r.code != 0 and part in r.err, r)
check("and leaves no file", not os.path.exists(path("x.svg")))

# --- --cp keeps colours between pictures
run([KYMO, "flame", basic, "-o", "1.svg", "--cp", "-q"], cwd=tmp)
first = read("palette.map")
run([KYMO, "flame", basic, "-o", "2.svg", "--cp", "-q", "--colors", "blue"], cwd=tmp)
same("--cp takes colours from palette.map", re.findall(r"rgb\([^)]*\)", read("1.svg").split('id="frames"')[1]),
     re.findall(r"rgb\([^)]*\)", read("2.svg").split('id="frames"')[1]))
has("which has flamegraph.pl's form", first, "a->rgb(")
same("and does not change", read("palette.map"), first)

# --- comparisons
write("before.folded", "m;gone 10\nm;same 10\n")
write("after.folded", "m;new 5\nm;same 5\n")
r = kymo(["flame", path("before.folded"), path("after.folded"), "-o", path("diff.svg")])
got = {f[0].split()[0]: f for f in frames("diff.svg")}
check("a comparison shows what vanished and what is new", {"gone", "new", "same"} <= set(got), got)
same("with both sides in the words", got["gone"][0], "gone (10 to 0 samples, 50.00% to 0.00%; -50.00%)")
svg = read("diff.svg")
color = {m[1]: tuple(map(int, m[2].split(","))) for m in re.finditer(r"<title>(\w+) .*?rgb\(([\d,]+)\)", svg)}
check("gone is blue, new is red, same is neither", color["gone"][2] == 255 > color["gone"][0] and color["new"][0] == 255 > color["new"][2]
      and len(set(color["same"])) == 1, color)
kymo(["flame", path("before.folded"), path("before.folded"), "-o", path("zero.svg")])
check("a file against itself: no colour, no difference", set(re.findall(r"rgb\(([\d,]+)\)", read("zero.svg").split('id="frames"')[1])) == {"245,245,245"}
      and all("+0.00%" in f[0] for f in frames("zero.svg")), frames("zero.svg"))
write("three.folded", "m;gone 10 0\nm;same 10 5\nm;new 0 5\n")
kymo(["flame", path("three.folded"), "-o", path("three.svg")])
same("difffolded's three columns give the same picture", sorted(frames("three.svg")), sorted(frames("diff.svg")))
r = kymo(["flame", path("three.folded"), basic, "-o", path("x.svg")])
check("a comparison cannot be compared again", r.code != 0 and "comparison already" in r.err, r)
r = kymo(["flame", path("before.folded"), path("after.folded"), "-o", path("x.svg"), "--flamechart"])
check("--flamechart and a comparison exclude each other", r.code != 0 and "cannot compare" in r.err, r)

# --- the page
r = kymo(["flame", "-i", basic, "-o", path("a.html"), "--title", "</title><script>alert(1)</script>"])
head, entries = profile("a.html")
page = read("a.html")
same("the page holds exactly the stacks", sorted((";".join(p), w) for p, _, w in entries), [("a;b", 10), ("a;b;c", 20), ("a;d", 30), ("e", 58)])
has("it forbids the network", page, "Content-Security-Policy", "default-src 'none'")
check("the policy allows only its own script, by hash", re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+';", page) and "unsafe" not in page.split("</head>")[0])
check("nothing in it points anywhere", not re.search(r'(src|href)="(https?:)?//', page))
same("the title is text", head["title"], "</title><script>alert(1)</script>")
check("and cannot close its element", "<title>&lt;/title&gt;&lt;script&gt;" in page)
kymo(["flame", path("before.folded"), path("after.folded"), "-o", path("d.html")])
head, entries = profile("d.html")
check("a comparison has both sides", head["compare"] and {k[0] for _, k, _ in entries} == {0, 1}, head)
same("with their names", head["sides"], ["before.folded", "after.folded"])
r = kymo(["flame", "-i", basic, "-o", "-"])
check("-o - writes the page to standard output", r.code == 0 and r.out.startswith("<!DOCTYPE html>"), r.err)
r = kymo(["flame", "-q", "-o", "-", "--", "sh", "-c", "echo what the command prints"])
check("and what a command prints elsewhere", "what the command prints" not in r.out.splitlines() and "what the command prints" in r.err.splitlines(), r.out[:200])


def made(command):
    """Run it in a shell, in the folder: the result, and whether it made a flame.html, which is gone then."""
    done = run(command, shell=True, cwd=tmp)
    there = os.path.exists(path("flame.html"))
    if there:
        os.unlink(path("flame.html"))
    return done, there


text, code = on_terminal(["sh", "-c", f"cd {tmp} && {KYMO} flame {basic}"])
check("flame.html is the default on a terminal", code == 0 and os.path.exists(path("flame.html")) and "<svg" not in text, text)
r, page_too = made(f"{KYMO} flame {basic} >/dev/null")
check("and where output is thrown away", r.code == 0 and page_too, r)
r, page_too = made(f"{KYMO} flame --title=x {basic} >graph.svg")
check("a file for output: the SVG, as flamegraph.pl has it", r.code == 0 and r.err == "" and not page_too and
      [x[0] for x in frames("graph.svg")][:2] == ["all (118 samples, 100%)", "a (60 samples, 50.85%)"] and ">x<" in read("graph.svg"), r)
kymo(["flame", "--title=x", basic, "-o", path("named.svg")])
same("byte by byte what -o writes", read("graph.svg"), read("named.svg"))
r, page_too = made(f"cat {basic} | {KYMO} flame --title=x | cat")
check("also from and to a pipe", r.out == read("named.svg") and not page_too, r.err)
r, page_too = made(f"{KYMO} flame --format folded {basic} | cat")
check("in the form that --format says", r.out == "a;b 10\na;b;c 20\na;d 30\ne 58\n" and not page_too, r)
r, page_too = made(f"{KYMO} flame -o flame.html {basic} | cat")
check("-o is obeyed", r.out == "" and page_too, r)
r, page_too = made(f"{KYMO} flame -q -- echo what the command prints | cat")
check("a command's output is its own", r.out == "what the command prints\n" and page_too, r)
r, page_too = made(f"{KYMO} flame nothing-there >graph.svg")
check("a failure writes nothing there", r.code == 1 and read("graph.svg") == "", r)
r = kymo(["flame", "-i", basic, "-o", path("x.jpg")])
check("a name that says nothing is refused", r.code != 0 and ".html, .svg or .folded" in r.err, r)
kymo(["flame", "-i", basic, "-o", path("x.out"), "--format", "svg"])
check("unless --format says it", read("x.out").startswith("<?xml"))

# --- small files: what was pruned is said, and the sums stay
big = "".join(f"root;{'abcdefgh'[i % 8]};f{i % 977};g{i * 7919 % 99991};leaf{i} {1 + i % 3}\n" for i in range(40000))
write("big.folded", big)
total = sum(int(x.rsplit(" ", 1)[1]) for x in big.splitlines())
r = kymo(["flame", path("big.folded"), "-o", path("small.html"), "--max-size", "400K"])
head, entries = profile("small.html")
check("--max-size is kept", os.path.getsize(path("small.html")) <= 400 * 1024, os.path.getsize(path("small.html")))
check("what was left out is said", "left out" in r.err and head["pruned"]["stacks"] > 0, (r.err, head["pruned"]))
same("and still counted", sum(w for _, _, w in entries), total)
write("tails.folded", "".join(f"root;u{i};v{i};leaf{i % 50} 1\n" for i in range(40000)))
kymo(["flame", path("tails.folded"), "-o", path("tails.html"), "--max-size", "400K"])
head, entries = profile("tails.html")
self_ = {}
for p, _, w in entries:
    self_[p[-1]] = self_.get(p[-1], 0) + w
check("the innermost functions of pruned stacks are kept: self stays exact", head["pruned"]["stacks"] > 0
      and self_ == {f"leaf{i}": 800 for i in range(50)}, (head["pruned"], self_))
kymo(["flame", path("big.folded"), "-o", path("whole.html")])
same("without need nothing is pruned", profile("whole.html")[0]["pruned"]["stacks"], 0)

# --- folded text
r = kymo(["collapse", write("u.folded", "b;x 1\na;b 2\na 4\na-b;c 3\na;b 5\nk;s_[k] 1\n")])
same("collapse sums and sorts as stackcollapse does", r.out, "a 4\na-b;c 3\na;b 7\nb;x 1\nk;s_[k] 1\n")
r = run(f"printf 'a;b 1\\n' | {KYMO} collapse -i -", shell=True)
same("from standard input", r.out, "a;b 1\n")
r = kymo(["collapse", path("u.folded"), "-o", path("out.folded")])
same("into a file", read("out.folded"), "a 4\na-b;c 3\na;b 7\nb;x 1\nk;s_[k] 1\n")
r = kymo(["collapse", write("t.folded", "p;f(int);\"q\" 1\n"), "--tidy"])
same("--tidy shortens names", r.out, "p;f;q 1\n")
r = kymo(["flame", path("u.folded"), "-o", path("y.folded")])
same("flame -o x.folded writes the same", read("y.folded"), read("out.folded"))
r = kymo(["collapse", path("u.folded"), "--event-filter", "cycles"])
check("an event that is not there is refused with those that are", r.code != 0 and "there are samples" in r.err, r)
r = kymo(["collapse", basic, basic])
check("collapse takes one file", r.code != 0 and "one file" in r.err, r)

# --- bad input
r = kymo(["flame", "-i", write("bad1", "a;b 1\na;b\n"), "-o", path("bad.html")])
check("no count: the line and a hint", r.code == 1 and "bad1:2: no count behind the stack: 'a;b'" in r.err and "hint:" in r.err, r)
check("and no file", not os.path.exists(path("bad.html")) and not [f for f in os.listdir(tmp) if f.startswith("bad.html")])
r = kymo(["flame", "-i", write("bad2", "a 1\nb -5\n"), "-o", path("bad.svg")])
check("a negative count", r.code == 1 and "bad2:2: the count -5 is negative" in r.err, r)
r = kymo(["flame", "-i", write("bad3", b"a 1\n" + b"x;" * 50_000_000), "-o", path("bad.svg")], timeout=120)
check("a line of 100 MB", r.code == 1 and "bad3:2: the line is longer than 16 MiB" in r.err, r)
os.remove(path("bad3"))
r = kymo(["flame", "-i", write("bad4", b"a\0b 1\n"), "-o", path("bad.svg")])
check("a NUL byte", r.code == 1 and "bad4:1: a NUL byte" in r.err, r)
r = kymo(["flame", "-i", write("bad5", "a 99999999999999999999\n"), "-o", path("bad.svg")])
check("a count beyond reason", r.code == 1 and "bad5:1: the count is too large" in r.err, r)
r = kymo(["flame", "-i", path("missing"), "-o", path("bad.svg")])
check("a file that is not there", r.code == 1 and "cannot open" in r.err, r)
r = kymo(["flame", "-i", tmp, "-o", path("bad.svg")])
check("a directory", r.code == 1 and "is a directory" in r.err, r)
r = kymo(["flame", "-i", write("bad6", b"\x1f\x8b\x08\0"), "-o", path("bad.svg")])
check("a compressed file", r.code == 1 and "gzip" in r.err, r)
r = kymo(["flame", "-i", basic, "-o", "/nonexistent/x.svg"])
check("a place that cannot be written", r.code == 1 and "cannot write /nonexistent/x.svg" in r.err, r)
r = kymo(["flame", "-i", basic, "-o", "/dev/full", "--format", "svg"])
check("a full disk", r.code == 1 and "cannot write /dev/full" in r.err, r)
r = kymo(["flame", basic, basic, basic])
check("three files", r.code == 1 and "too many files" in r.err, r)
r = kymo(["flame", "-i", write("frac", "a 1.5\nb 2\n"), "-o", path("f.svg")])
check("fractions are rounded, and that is said", r.code == 0 and "rounded" in r.err, r)

nasty = b"</script><img src=x onerror=alert(1)>;\"'&<b>;\x1b[31mred;\xff\xfe\xc3(;\xe2\x80\xaeflip;javascript:alert(1) 7\n"
r = kymo(["flame", "-i", write("nasty", nasty), "-o", path("n.html")])
head, entries = profile("n.html")
check("hostile names are drawn", r.code == 0, r)
same("as text, with what cannot be shown escaped", list(entries[0][0]),
     ["</script><img src=x onerror=alert(1)>", "\"'&<b>", "\\x1b[31mred", "\\xff\\xfe\\xc3(", "\\xe2\\x80\\xaeflip", "javascript:alert(1)"])


class Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts = self.images = 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.images += tag == "img"


parser = Elements()
parser.feed(read("n.html"))
same("the page's elements are its own", (parser.scripts, parser.images), (2, 0))
kymo(["flame", "-i", path("nasty"), "-o", path("n.svg")])
check("the SVG is well-formed and its names are text", any("</script><img" in f[0] for f in frames("n.svg")))

r = kymo(["flame", "-i", write("empty", ""), "-o", path("empty.html")])
check("an empty profile is an honest empty page", r.code == 0 and profile("empty.html")[1] == [], r)
r = kymo(["flame", "-i", path("empty"), "-o", path("empty.svg")])
has("and picture", read("empty.svg"), "the profile is empty")
same("with no frames", frames("empty.svg"), [])
kymo(["record", "-q", "-g", "-e", "dummy", "-o", path("none.data"), "--", "true"])
r = kymo(["flame", "-i", path("none.data"), "-o", path("none.svg")])
check("so does a recording without samples", r.code == 0 and "0 samples" in r.err and "the profile is empty" in read("none.svg"), r)
with open(path("none.data"), "rb") as whole, open(path("cut.data"), "wb") as cut:
    cut.write(whole.read()[:-200])
r = kymo(["flame", "-i", path("cut.data"), "-o", path("cut.svg")])
has("one that was cut says so", r.err, "cut short", "0 samples")

# whoever records the whole machine has a dummy beside the event
kymo(["record", "-q", "-g", "-e", "cpu-clock,dummy", "-F", "999", "-o", path("clock.data"), "--", f"{WORK}/busy", "100"])
for words in (["collapse", "-i", path("clock.data"), "-o", path("x.folded")], ["export", "--to", "folded", "-i", path("clock.data"), "-o", path("x.folded")],
              ["flame", "-i", path("clock.data"), "-o", path("x.svg")]):
    r = kymo(words)
    check(f"{words[0]}: a dummy is no other event", r.code == 0 and "names another" not in r.err and os.path.getsize(words[-1]), r)
r = kymo(["collapse", "-i", path("clock.data"), "--event-filter", "cycles"])
check("nor one that is offered", r.code == 1 and "cpu-clock" in r.err and "dummy" not in r.err, r)
kymo(["record", "-q", "-g", "-e", "cpu-clock,page-faults", "-F", "999", "-o", path("clock.data"), "--", f"{WORK}/busy", "100"])
r = kymo(["collapse", "-i", path("clock.data"), "-o", path("x.folded")])
check("of two events it is said which one was written", r.code == 0 and "names another" in r.err, r)

if not SAN:
    # deep recursion does not recurse here
    write("deep", "r;" * 60000 + "leaf 1\n")
    r = kymo(["flame", "-i", path("deep"), "-o", path("deep.html")])
    check("60,000 frames deep", r.code == 0 and "1 different stack\n" in r.err, r)
    r = kymo(["flame", "-i", path("deep"), "-o", path("deep.svg")])
    same("all of them drawn", len(frames("deep.svg")), 60002)

at.remove()
end()
