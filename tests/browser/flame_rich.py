#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters by event, thread, CPU and time; modules and source lines; the order of time.

The profile is made by fixture.c: each 10 ms for 10 s one sample of five stacks,
with weights 1 to 5, on threads 100, 101, 102 (server) and 77 (shop java) in turn.
"""
import os
import shutil
import subprocess
import tempfile

from browser import Browser, available
from tap import check, end, has, kymo, same, skip

if available():
    skip("filters of the interactive flame graph", available())
    end()

tmp = tempfile.mkdtemp(prefix="kymo-rich-")
out = os.path.join(tmp, "rich.html")
fixture = os.path.join(os.path.dirname(os.environ.get("KYMO_WORK", "build/tests/work")), "browser/flame-fixture")
subprocess.run([fixture, "rich", out], check=True, stdout=subprocess.DEVNULL)
ALL = 1000 * (1 + 2 + 3 + 4 + 5)


def frames(b, **where):
    return [f for f in b.js("return kymo.frames()") if all(f[k] == v for k, v in where.items())]


def total(b):
    return frames(b, name="all")[0]["total"]


def tick(b, text):
    """Click the box whose label begins with text."""
    b.js("""const l = [...document.querySelectorAll(".tick")].find((e) => e.textContent.startsWith(arguments[0])); l.querySelector("input").click()""", text)


with Browser(1400, 900) as b:
    b.open(out)
    same("the first event is shown", (b.js("return kymo.state().event"), total(b)), (0, ALL))
    same("threads are the lowest frames", sorted(f["name"] for f in frames(b, depth=1)), ["server-100/100", "server-100/101", "server-100/102", "shop java-77/77"])
    same("each with its part", {f["total"] for f in frames(b, depth=1)}, {ALL / 4})
    check("code without a name is one frame a module", frames(b, name="[libc.so.6]"))

    f = frames(b, name="Parser::parse")[0]
    b.move(f["x"] + 10, f["y"] + 8)
    has("the tip tells file, line and module", b.text("#tip"), "parse.cc:120", "/usr/sbin/server")
    f = frames(b, name="ksys_read")[0]
    b.move(f["x"] + 10, f["y"] + 8)
    has("and the kind", b.text("#tip"), "kernel", "[kernel.kallsyms]")

    # event
    b.keys("x")
    has("the filters list what there is", b.text("#popover"), "cycles", "page-faults", "server 100", "shop java 77", "CPU 0", "CPU 1", "from")
    same("CPUs stand in order", b.js("return [...document.querySelectorAll('#popover .tick-name')].map((e) => e.textContent).filter((t) => t.startsWith('CPU'))"), ["CPU 0", "CPU 1"])
    of = b.js("return kymo.tallies().all")
    has("the heading names the event", b.text(".heading"), "of cycles")
    tick(b, "page-faults")
    same("another event", total(b), 100)
    has("and so does the heading", b.text(".heading"), "100", "of page-faults")
    same("shares are of that event", b.js("return kymo.tallies().all"), 100)
    b.js("history.back()")
    b.wait("return kymo.state().event === 0")
    has("Back brings the heading back", b.text(".heading"), "of cycles")
    same("and the shares", b.js("return kymo.tallies().all"), of)

    # threads and processes
    tick(b, "shop java 77")
    same("without a process", (total(b), [f["name"] for f in frames(b, depth=1) if "java" in f["name"]]), (ALL * 3 / 4, []))
    tick(b, "shop java 77")
    same("and with it again", (total(b), b.js("return kymo.state().threads")), (ALL, None))
    tick(b, "server 101")
    same("without a thread", total(b), ALL * 3 / 4)
    b.press("#popover .link")
    same("all of them", total(b), ALL)

    # CPUs: even turns are CPU 0
    tick(b, "CPU 1")
    same("only CPU 0", total(b), ALL / 2)
    same("the button counts filters", b.text("#filters-on"), "1")
    has("a chip shows it", b.text("#chips"), "CPUs", "1 of 2")
    b.press("#chips .chip")
    same("and removes it", total(b), ALL)

    # time: by fields, by dragging, by keys
    b.keys("x")
    b.js("const i = document.querySelectorAll('#popover input[type=number]'); i[0].value = 2.5; i[0].dispatchEvent(new Event('change'))")
    first = b.js("return kymo.state().from")
    check("from 2.5 s on", abs(total(b) / ALL - 0.75) < 0.01 and first > 0, total(b))
    b.keys("Escape")
    b.press("#chips .chip")
    box = b.js("const r = document.querySelector('#timeline canvas').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    b.drag(box[0] + box[2] * 0.25, box[1] + 20, box[0] + box[2] * 0.5, box[1] + 20)
    check("dragging over the strip keeps a quarter", abs(total(b) / ALL - 0.25) < 0.02, total(b))
    here = b.js("return location.hash")
    b.open(out, here)
    check("a link keeps the range", abs(total(b) / ALL - 0.25) < 0.02, here)
    b.click(box[0] + box[2] * 0.8, box[1] + 20)
    same("a click on it shows all again", total(b), ALL)
    b.js("document.querySelector('#timeline canvas').focus()")
    b.keys("Right", "Right")
    check("the keyboard moves its beginning", b.js("return kymo.state().from") > 0 and total(b) < ALL)
    b.keys("Escape")
    same("Escape takes it back", total(b), ALL)
    same("it is a slider with words", b.js("return document.querySelector('#timeline canvas').getAttribute('aria-valuetext')"), "0 ns to 9.99 s")

    # the offset within each second as a heat map; a drag from cell to cell keeps the time between
    b.keys("g")
    check("g shows each second as a column", b.js("return kymo.state().seconds && document.getElementById('timeline').clientHeight > 150"))
    box = b.js("const r = document.querySelector('#timeline canvas').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    column = (box[2] - 56 - 8) / 10
    b.drag(box[0] + 56 + column * 2.5, box[1] + 3 + box[3] - 22, box[0] + 56 + column * 4.5, box[1] + 5 + (box[3] - 23) / 2)
    check("from the beginning of the third second to the middle of the fifth", abs(total(b) / ALL - 0.25) < 0.01, (total(b), b.js("return kymo.state()")))
    b.keys("g")
    b.press("#chips .chip")
    same("all again", total(b), ALL)

    # order of time: the first ten milliseconds stand first
    b.keys("4")
    same("time order", b.js("return kymo.state().mode"), "chart")
    same("with the same sum", total(b), ALL)
    lanes = [f for f in frames(b) if f["name"].startswith(("server-", "shop java-"))]
    same("threads by themselves", sorted((f["name"], f["total"]) for f in lanes),
         [(name, ALL / 4) for name in ("server-100/100", "server-100/101", "server-100/102", "shop java-77/77")])
    same("at the same time, so each in a lane of its own", len({f["depth"] for f in lanes}), 4)
    check("neighbours only: many more frames", b.js("return kymo.nodes()[0]") > 5000, b.js("return kymo.nodes()"))
    b.keys("1")

    # colour by module
    b.keys("k")
    by = {f["name"]: f["fill"] for f in frames(b)}
    check("modules tell colours", by["memcpy"] != by["Loop::run"], by)
    has("the legend names them", b.text("#legend"), "server", "libc.so.6")
    b.keys("t")
    has("the table has a column of modules", b.text("#side thead"), "Module")
    b.press("#about")
    has("what the file holds is told", b.text("#dialog"), "52 in the tree", "steps of")
    data, wall = (os.path.join(os.path.dirname(out), x) for x in ("off.data", "wall.html"))
    r = kymo(["record", "-q", "-g", "-e", "cpu-clock", "--off-cpu", "-o", data, "--", "sh", "-c", "sleep 0.2; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"])
    if r.code == 0:
        kymo(["flame", "--wall", "-q", "-i", data, "-o", wall])
        b.open(wall)
        off = [f for f in frames(b) if f["name"].startswith("schedule")]
        check("time off the CPU is blue", off and all(int(c[2]) > int(c[0]) + 30 for c in (f["fill"][4:-1].split(",") for f in off)), off[:2])
        both = total(b)
        b.keys("x")
        has("a switch shows the one, the other, or both", b.text("#popover"), "offcpu-time", "cpu-clock", "all together")
        parts = []
        for i in (0, 1):
            b.js("location.hash = '#event=' + arguments[0]", i)
            b.wait(f"return kymo.state().event === {i}")
            parts.append(total(b))
        same("which add up", sum(parts), both)
    else:
        skip("time off the CPU", "record --off-cpu does not work here")
    # many events with long names
    many = os.path.join(os.path.dirname(out), "many.html")
    names = ["sched:sched_switch", "sched:sched_stat_runtime", "sched:sched_process_exec", "syscalls:sys_enter_exit_group"]
    r = kymo(["flame", "-q", "-e", ",".join(names), "-c", "1", "-o", many, "--", "sh", "-c", "sleep 0.01; /bin/true"])
    if r.code == 0:
        b.cdp("Emulation.setDeviceMetricsOverride", width=600, height=480, deviceScaleFactor=1, mobile=False)
        b.open(many)
        b.keys("x")
        widths = b.js("const box = document.querySelector('#popover').getBoundingClientRect(); return [...document.querySelectorAll('#popover input[name=event]')].map((e) => e.parentElement.getBoundingClientRect()).filter((r) => r.left >= box.left && r.right <= box.right).length")
        check("each of many events can be reached", widths >= 2 and widths == b.js("return document.querySelectorAll('#popover input[name=event]').length"), widths)
        b.keys("Down")
        same("with arrow keys, too", b.js("return [kymo.state().event, document.activeElement.name, document.activeElement.checked]"), [1, "event", True])
    else:
        skip("many events", r.err)
    # the strip of time takes room when the picture has scrolled to its end already
    b.cdp("Emulation.setDeviceMetricsOverride", width=1400, height=250, deviceScaleFactor=1, mobile=False)
    b.open(out)
    LOW = "const s = document.getElementById('stage'); return s.scrollHeight > s.clientHeight + 20 && s.scrollTop + s.clientHeight >= s.scrollHeight - 1"
    check("the lowest row is in sight at first", b.wait(LOW))
    b.cdp("Emulation.setDeviceMetricsOverride", width=1400, height=225, deviceScaleFactor=1, mobile=False)
    check("and stays so in a smaller window", b.wait(LOW))
    same("nothing is wrong on the console", b.console(), [])

shutil.rmtree(tmp)
end()
