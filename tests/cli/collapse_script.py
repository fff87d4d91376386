#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""perf script's text as an input of kymo collapse and kymo flame."""
import re

from files import Folder
from tap import KYMO, check, end, has, kymo, run, same

at = Folder("kymo-collapse-script-")
DATA = "tests/data/record-1.perf"

TEXT = """# captured on: today
#
Web Content  45/46 [001]  10.000100:    2000 cycles:P:
\tffffffff81000010 vfs_read+0x10 ([kernel.kallsyms])
\t          401136 third (inlined)
\t          401136 std::vector<int>::at(unsigned long)+0x16 (/usr/bin/web content (deleted))
\t            1139 [unknown] (/usr/lib/libx.so.1)
\t               0 [unknown] ([unknown])

sh    50 [000]  9.500000: sched:sched_switch: prev_comm=sh prev_pid=50 ==> next_comm=dd next_pid=51 next_prio=120
\tffffffff81000020 schedule+0x20 ([kernel.kallsyms])

Web Content  45/46 [001]  10.000200:    3000 cycles:P:
\tffffffff81000012 vfs_read+0x12 ([kernel.kallsyms])
\t          401137 std::vector<int>::at(unsigned long)+0x17 (/usr/bin/web content (deleted))
\t            1139 [unknown] (/usr/lib/libx.so.1)
\t               0 [unknown] ([unknown])

              dd    51 [000]  10.100000:    7 cycles:P:            1234 main+0x4 (/usr/bin/dd)
"""
text = at.write("out.perf", TEXT)

r = kymo(["collapse", "--event-filter", "cycles", text])
same("stacks, their weights and names", r.out,
     "Web_Content;[unknown];[libx.so.1];std::vector<int>::at;vfs_read 5000\ndd;main 7\n")
r = kymo(["collapse", text])
same("the event of the earliest sample is the default", r.out, "sh;schedule 1\n")
has("and it says so", r.err, "sched:sched_switch", "--event-filter")
r = kymo(["collapse", "--event-filter", "cycles", "--all", "--inline", "--tid", "--counts", "--no-tidy", text])
has("as a recording: all options", r.out, "Web Content-45/46;", "std::vector<int>::at(unsigned long);third_[i];vfs_read_[k] 1\n", "dd-?/51;main 1\n")
r = run(f"cat {text} | {KYMO} collapse --event-filter cycles --addrs", shell=True)
has("from a pipe that nobody named", r.out, "Web_Content;[unknown <0>];[libx.so.1 <1139>];")

# kymo's own text says what its recording does
want = kymo(["collapse", "-i", DATA]).out
same("kymo script | kymo collapse -i -", run(f"{KYMO} script -i {DATA} | {KYMO} collapse -i -", shell=True).out, want)
check("it had something to say", len(want.splitlines()) == 9, want)
same("and folded text is folded text still", run(f"{KYMO} collapse -i {DATA} | {KYMO} collapse", shell=True).out, want)


def titles(svg):
    return sorted(re.findall("<title>(.*)</title>", at.read(svg)))


with open(at.path("own.perf"), "w") as f:
    f.write(kymo(["script", "-i", DATA]).out)
r = kymo(["flame", at.path("own.perf"), "-o", at.path("b.html")])
check("a flame graph of it", r.code == 0 and "9 samples" in r.err, r)
r = kymo(["flame", "--event-filter", "cycles", text, "-o", at.path("c.svg")])
has("in the event's unit, with inlined functions", "\n".join(titles("c.svg")), "all (5,007 cycles, 100%)", "third (2,000 cycles,", "dd (7 cycles,")
r = kymo(["flame", text, "-o", at.path("d.html")])
check("and a page", r.code == 0 and "4 samples" in r.err, r)

# what is wrong, and where
r = kymo(["collapse", at.write("bad", TEXT + "\nthis is nothing\n")])
check("a line that is neither is named", r.code == 1 and f"bad:{TEXT.count(chr(10)) + 2}: neither a sample nor a frame" in r.err and "this is nothing" in r.err and r.out == "", r)
r = kymo(["collapse", at.write("large", "sh 1 1.0: 99999999999999999999 cycles:\n")])
check("so is a count that is too large", r.code == 1 and "large:1: the count is too large" in r.err, r)

end()
