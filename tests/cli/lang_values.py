#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values of programs as the language shows them: records, arrays of char, enums, all arguments at once; and the order in which blocks
at one place run."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import WORK, check, end, kymo, run, same, skip

if run("id -u").out.strip() != "0" or kymo(["run", "-q", "-e", "BEGIN { exit(); }"]).code:
    skip("values", "this user or kernel may not load BPF programs")
    end()
if not os.path.exists("/sys/bus/event_source/devices/uprobe/type"):
    skip("values", "this kernel has no uprobes")
    end()

R = os.path.abspath(f"{WORK}/records")  # see tests/work/records.c
S = os.path.abspath(f"{WORK}/static")
TYPES = ("enum colour { RED = 3, BLUE }; struct inner { int b; char c; }; struct full { int a; unsigned bits:3; int signed_bits:2; struct inner in; "
         "char five[5], eight[8], sixteen[16]; char short_one[8]; enum colour colour; bool yes; int list[2]; struct inner many[2]; "
         "union { int whole; short half; }; void *none; };")
TAKE = f"uprobe:{R}:take"


def lines(prog, *more, command=R):
    r = kymo(["run", "-q", *more, "-c", command, "-e", prog])
    return [x for x in r.out.split("\n") if x], r


def prints(name, prog, want, *more):
    got, r = lines(prog, *more)
    check(name, got == want, f"want: {want}\n{r}")


RECORD = ("{ .a = -1, .bits = 5, .signed_bits = -1, .in = { .b = 7, .c = 120 }, .five = abcde, .eight = 12345678, .sixteen = ABCDEFGHIJKLMNOP, "
          ".short_one = ab, .colour = %s, .yes = true, .list = [1,-2], .many = [{ .b = 1, .c = 2 },{ .b = 3, .c = 4 }], .whole = 9, .half = 9, .none = 0x0 }")
prints("a record of the program's own, with all kinds of fields", TYPES + TAKE + " { print(*(struct full *)arg0); }", [RECORD % "BLUE"])
prints("... and one of the debug info, with the records in it", TAKE + " { print(*args.f); @ = *args.f; printf(\"%s\\n\", args.f->in); }",
       [RECORD % "4", "{ .b = 7, .c = 120 }", "@: " + RECORD % "4"])
prints("an array of char without a NUL is whole",
       TAKE + ' { printf("%s %s %s %s|\\n", args.f->five, args.f->eight, args.f->sixteen, args.f->short_one); @[args.f->five, args.f->eight] = args.f->sixteen; }',
       ["abcde 12345678 ABCDEFGHIJKLMNOP ab|", "@[abcde, 12345678]: ABCDEFGHIJKLMNOP"])
prints("... its size is what it was, and its length",
       TAKE + " { print((sizeof(args.f->five), sizeof(args.f->sixteen), len(args.f->five), len(args.f->sixteen), len(args.f->short_one))); }", ["(5, 16, 5, 16, 2)"])
prints("... and it is compared whole",
       TAKE + ' { $f = args.f; print(($f->five == "abcde", $f->five == "abcd", $f->five == "abcdef", $f->eight == "12345678", $f->eight == "1234567", '
       '$f->eight == "123456789", $f->sixteen == "ABCDEFGHIJKLMNOP", $f->sixteen != "ABCDEFGHIJKLMNOPQ")); '
       'print((strncmp($f->eight, "12345678", 9), strncmp($f->eight, "123456789", 9) != 0, strcontains($f->eight, "78"), strcontains($f->eight, "89"), '
       '$f->eight == $f->short_one, $f->five == str($f->five))); }',
       ["(1, 0, 0, 1, 0, 0, 1, 1)", "(0, 1, true, false, 0, 1)"])
prints("a text of 8 letters and a longer one that begins so", TYPES + TAKE +
       ' { $f = (struct full *)arg0; $long = $f->sixteen; $long = "123456789"; print(($f->eight == $long, $long == $f->eight)); $long = "12345678"; print($f->eight == $long); }',
       ["(0, 0)", "1"])
prints("%s of a char * is the text", TAKE + ' { printf("%s %-7s|%s\\n", args.s, args.s, str(args.s)); }', ["hello hello  |hello"])
prints("a number's address still is a number", TAKE + ' { printf("%d\\n", args.s == arg1); }', ["1"])
prints("all arguments at once: in maps, variables, tuples",
       TAKE + " { @ = args; print(@.n); print(@.f->in.b); $x = args; print($x.k); print((args, 5).0.n); @m[1] = args; print(@m[1].k); clear(@); clear(@m); }", ["-7", "7", "200", "-7", "200"])
got, r = lines(TAKE + " { print(args); }")
check("... and printed", len(got) == 1 and got[0].startswith("{ .f = 0x") and got[0].endswith(", .k = 200, .n = -7 }"), r)
got, r = lines("tracepoint:sched:sched_process_exit /comm == \"records\"/ { @ = args; print((@.comm, @.pid == args.pid)); clear(@); } "
               "tracepoint:syscalls:sys_enter_exit_group /comm == \"records\"/ { print(args); }")
same("... of tracepoints, and of system calls", got, ["{ .__syscall_nr = %d, .error_code = 0 }" % {"x86_64": 231, "aarch64": 94}[os.uname().machine], "(records, 1)"])

# JSON has objects and lists where a program has records and arrays
OBJECT = {"a": -1, "bits": 5, "signed_bits": -1, "in": {"b": 7, "c": 120}, "five": "abcde", "eight": "12345678", "sixteen": "ABCDEFGHIJKLMNOP", "short_one": "ab",
          "colour": "BLUE", "yes": True, "list": [1, -2], "many": [{"b": 1, "c": 2}, {"b": 3, "c": 4}], "whole": 9, "half": 9, "none": "0x0"}
got, r = lines(TYPES + TAKE + ' { $f = (struct full *)arg0; print(*$f); print((1, $f->in, $f->list)); print($f->colour); printf("%s\\n", $f->in); '
               "@ = *$f; @k[$f->in] = $f->many; @e[RED] = BLUE; }", "-f", "json")
data = [json.loads(x) for x in got]
same("JSON: a record", [x["data"] for x in data if x["type"] == "value"], [OBJECT, [1, {"b": 7, "c": 120}, [1, -2]], "BLUE"])
same("JSON: in maps", [x["data"] for x in data if x["type"] == "map"],
     [{"@": OBJECT}, {"@e": {"RED": "BLUE"}}, {"@k": {"{ .b = 7, .c = 120 }": OBJECT["many"]}}])
same("JSON: what is printed by %s is text", [x["data"] for x in data if x["type"] == "printf"], ["{ .b = 7, .c = 120 }\n"])

prints("constants of static probes: with a sign or without", f"usdt:{R}:records:edge {{ print((arg0, arg1, arg2, arg3, arg4, arg5)); }}",
       ["(4294967295, 255, -1, 18446744073709551615, -1, 65535)"])

# Blocks at one place run as they are written, whatever the kernel does with programs there.
nm = run(["nm", S]).out
watched = next((x.split()[0] for x in nm.split("\n") if x.endswith(" watched")), None)
PLACES = {"uprobe": f"uprobe:{S}:twice", "several uprobes": f"uprobe:{S}:twi*, uprobe:{S}:mai?", "uretprobe": f"uretprobe:{S}:twice", "usdt": f"usdt:{S}:work:hit",
          "tracepoint": "tracepoint:sched:sched_process_exit /args.pid == pid/", "raw tracepoint": "rawtracepoint:sched_process_exit",
          "tracepoint without fields": "tracepoint:sched:sched_process_exit", "system call": "tracepoint:syscalls:sys_enter_exit_group",
          "software event": "software:page-faults:1", "interval": "interval:ms:20", "BEGIN": "BEGIN", "END": "END",
          "watchpoint": f"watchpoint:0x{watched}:8:w"}
for name, place in PLACES.items():
    pred = "" if name in ("interval", "BEGIN", "END") else '/comm == "static"/'
    probe, _, own = place.partition(" /")
    if own:
        pred = '/comm == "static" && ' + own
    prog = " ".join(f"{probe} {pred} {{ @n++; @[@n] = {k}; }}" for k in (1, 2, 3))
    show = f'END {{ for ($kv : @) {{ @o[$kv.0 % 3] = count(); if (($kv.0 - 1) % 3 + 1 != $kv.1) {{ @wrong++; }} }} printf("%d wrong of %d\\n", @wrong, @n); clear(@); clear(@o); clear(@n); clear(@wrong); }}'
    r = kymo(["run", "-q", "-c", "sleep 0.2" if name == "interval" else f"{S} 3", "-e", prog + " " + show])
    said = [x for x in r.out.split("\n") if " wrong of " in x]
    if r.code and "cannot attach" in r.err:
        skip(f"blocks in their order: {name}", r.err.strip())
        continue
    check(f"blocks in their order: {name}", said and said[0].startswith("0 wrong of ") and not said[0].endswith(" of 0"), r)
end()
