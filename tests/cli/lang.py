#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tracing language: programs that must print what stands beside them, live and over a recording,
and programs that must be refused with the right words. Every accepted one passes the kernel's verifier."""
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import shell
from tap import KYMO, check, end, kymo, run, same, skip

DATA = pathlib.Path(__file__).resolve().parent.parent / "data/lang"
SRC = pathlib.Path(__file__).resolve().parent.parent.parent / "src/lang"


def blocks(name):
    """Cases of a data file: lists of lines."""
    out, cur = [], []
    for line in [*(DATA / name).read_text().split("\n"), ""]:
        if line.startswith("# "):
            continue
        if line:
            cur.append(line)
        elif cur:
            out.append(cur)
            cur = []
    return out


def unescape(s):
    return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), s)


def program(text):
    """Newlines outside of strings, '/' of a division, exit() at the end of the first BEGIN."""
    if text.startswith("#") or text.startswith("//"):
        text = re.sub(r"\\n(?=#|BEGIN|/\*|one|$)", "\n", text)
    text = text.replace("\\/", "/")
    if "exit(" in text:
        return text
    # the first BEGIN's closing brace
    start = re.search(r"BEGIN[^{]*\{", text)
    depth, i, quoted = 0, start.end() - 1, False
    while True:
        c = text[i]
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "{}":
            depth += 1 if c == "{" else -1
            if depth == 0:
                break
        i += 1
    return text[:i] + " exit(); " + text[i:]


def normal(text):
    """Without blank lines: where they stand is the job of the comparison with bpftrace."""
    return "\n".join(line for line in text.split("\n") if line)


if run("id -u").out.strip() != "0":
    skip("the language", "loading programs needs root")
    end()
probe = kymo(["run", "-q", "-e", 'BEGIN { exit(); }'])
if probe.code != 0:
    skip("the language", f"this kernel refuses BPF programs: {probe.err.strip()}")
    end()

tmp = tempfile.TemporaryDirectory()
tiny = os.path.join(tmp.name, "tiny.data")
recorded = kymo(["record", "-q", "-o", tiny, "-e", "task-clock", "true"]).code == 0

n = 0
for case in blocks("good.txt"):
    text, args, want = case[0], case[1], unescape(case[2]) if len(case) > 2 else ""
    prog = program(text)
    argv = [] if args == "-" else args.split()
    r = kymo(["run", "-q", "-e", prog, *argv])
    if want.startswith("exit "):
        check(text, r.code == int(want[5:]), r)
        continue
    check(text, r.code == 0 and normal(r.out) == normal(want), f"want:\n{normal(want)}\n{r}")
    if recorded and not re.search(r"pid|nsecs|cpu|elapsed", text):
        again = kymo(["run", "-q", "-i", tiny, "-e", prog, *argv])
        check(f"over a recording: {text}", normal(again.out) == normal(want), again)
    n += 1
check("there were many", n > 100, n)

for case in blocks("bad.txt"):
    text, want = case[0], case[1]
    r = kymo(["run", "-e", text])
    check(f"refused: {text}", r.code == 1 and want in r.err and "fault of kymo" not in r.err, r)

# Every program in the reference, as it stands there: in the text, and the blocks that are whole programs.
docs = (pathlib.Path(__file__).resolve().parent.parent.parent / "docs/lang.md").read_text()
examples = [p for p in re.findall(r"`([^`]+)`", docs) if re.match(r"[a-zA-Z:/_0-9.]+ (/[^/]+/ )?\{.*\}$", p) and "./app" not in p]
examples += [b for b in re.findall(r"\n\n((?:    .*\n)+)", docs) if re.search(r"^    (tracepoint|BEGIN)", b, re.M)]
check("docs/lang.md has examples", len(examples) > 60, examples)
rows = re.findall(r"(?m)^\| (`.+) \|$", docs[docs.index("## Builtins"):docs.index("## Maps")])
same("docs/lang.md: an example for each builtin and function", [r for r in rows if not re.search(r" \| `[^|]*`[^|]*$", r)], [])
known = [*re.findall(r'\{ (?:\.name = )?"(\w+)", ', (SRC / "functions.c").read_text()), *re.findall(r'\{ "(\w+)", B_', (SRC / "check/builtin.c").read_text())]
same("docs/lang.md: all of them", [x for x in known if not re.search(rf"\b{x}\b", "\n".join(rows) + docs[docs.index("## Maps"):docs.index("## Types")])], [])
check("and they are many", len(known) > 80, known)
for text in examples:
    prog = text.replace("{ ... }", "{ }")
    if "print(@)" in prog:
        prog += " BEGIN { @ = 1; }"
    r = kymo(["run", "--dry-run", *(["-c", "true"] if "cpid" in prog else []), "-e", prog])
    elsewhere = re.search(r"this kernel (has no|does not allow)|there is no file|has no USDT", r.err)  # not for every machine
    check(f"docs/lang.md: {text[:60]}", r.code == 0 or elsewhere, r)
r = kymo(["run", "-q", "-e", 'BEGIN { time("%S.%f\\n"); printf("%s\\n", strftime("%S.%f", nsecs)); exit(); }'])
check("%f is microseconds in time() and strftime()", re.match(r"\d\d\.\d{6}\n\d\d\.\d{6}\n", r.out), r)

# Several mistakes in one run, each with its place.
r = kymo(["run", "-e", "BEGIN {\n  @a = foo;\n  bar();\n  $x = 1; $x = \"s\";\n}"])
check("several errors in one run", all(f"program:{p}: error" in r.err for p in ("2:8", "3:3", "4:11")), r)
# On a terminal a line is cut to its width around the place, and the caret is below it.
for columns in (80, 120):
    out, code = shell.on_terminal([KYMO, "run", "--dry-run", "-e", "BEGIN { foo(); " + "@aaa = 1; " * 12 + "@m[bar1] = 2; " + "@b = 2; " * 12 + "baz(); }"],
                                  {"NO_COLOR": "1"}, size=(24, columns))
    lines = [line.rstrip("\r") for line in out.split("\n")]
    same(f"a long line on {columns} columns: three places", code, 1)
    shown = [(lines[i - 1][line.index("^"):][:len(line.strip())], len(lines[i - 1])) for i, line in enumerate(lines) if re.fullmatch(r" *\^~*", line)]
    same("... with the carets below them", [name for name, _ in shown], ["foo", "bar1", "baz"])
    check("... and as wide as can be", all(columns - 6 <= n <= columns for _, n in shown), out)
out, _ = shell.on_terminal([KYMO, "run", "--dry-run", "-e", "BEGIN { foo(); }"], {"NO_COLOR": None})
check("errors are red there", "\x1b[31merror: " in out and "\x1b[31m^~~" in out, out)

# Words that #define makes of each other without an end.
with open(f"{tmp.name}/endless.bt", "wb") as f:
    f.write(b"#define N 5 \x80 N N N\nBEGIN { print(N); exit(); }")
r = kymo(["run", f"{tmp.name}/endless.bt"], timeout=20)
check("#define: a byte without meaning in it", r.code == 1 and "no meaning here (0x80)" in r.err, r)
r = kymo(["run", "-e", "".join(f"#define A{i} A{i + 1} A{i + 1}\n" for i in range(40)) + "BEGIN { print(A0); exit(); }"], timeout=20)
check("#define: more words than can be read", r.code == 1 and "what #define makes of this program is too long" in r.err, r)
for text, want in (
        # a mistake of grammar does not hide others, in the same block, in others, and in the probes' names ...
        ('BEGIN { $x = ; printf("%d", foo); bar(); } END { baz(); $t = curtask; $t->comn; }',
         [(14, "an expression expected"), (29, "'foo' is not known"), (35, "no function bar()"), (50, "no function baz()"), (71, "no field 'comn'")]),
        ('tracepoint:nosuch:thing { @a = count(); } BEGIN { foo(); @b = 1; @b = "x"; }', [(1, "nothing matches"), (51, "no function foo()"), (66, "@b holds")]),
        ('BEGIN { while (1 { @++; } } interval:s:1 { bar(); }', [(18, "')' expected"), (44, "no function bar()")]),
        # ... nor does it make any: what it left out may be what another place needs
        ('BEGIN { @a[pid] = count( ; $x = ; let $y = (; @s = 1; } END { print(@a, 5); clear(@a); $k = @a[1]; print($k); }',
         [(26, "an expression expected"), (33, "an expression expected"), (45, "an expression expected")]),
        ('BEGIN { $x = (; printf("%s %d", $x, $x); for ($kv : @m) { print($kv.0); } $x.1; @n[$x] = 1; } END { @m[3] = "a"; print(@n["a"]); }', [(15, "an expression expected")]),
        ('tracepoint:nosuch:thing /commm == "x" || true/ { @a[AF_INET, nsecs(boot), kstack(perf, 3)] = coutn(); }',
         [(1, "nothing matches"), (26, "'commm' is not known"), (94, "no function coutn()")]),
        ('tracepoint:nosuch:thing { @a[1] = (1, "a"); } END { print(@a[1].1); for ($kv : @a) { print($kv.1.0); } if (@a[1].0 == 3) { print(1); } }', [(1, "nothing matches")]),
        ('macro m($x) { $x + ; } BEGIN { m(3); }', [(20, "an expression expected")]),
        ('macro a() { b() } macro b() { a() } BEGIN { a(); }', [(31, "uses itself")]),
        ('macro a(x) { x } BEGIN { a(1, 2); }', [(26, "wants 1 argument")]),
        ('struct a { int x } BEGIN { print(sizeof(struct a)); }', [(18, "';' expected")]),
        ('#define\nBEGIN { print(X); }', [(8, "without a name")]),
        ('BEGIN { print("abc); } END { exit(); }', [(15, "this string has no end")]),
        ('BEGIN { print("abc);\nexit(); } END { exit(); }', [(15, "this string has no end")]),
        ('BEGIN { exit(); /* } END { exit(); }', [(17, "this comment has no end")])):
    r = kymo(["run", "-e", text.replace("\\n", "\n")])
    told = [(int(c), t) for c, t in re.findall(r"^program:1:(\d+): error: (.*)$", r.err, re.M)]
    check(f"these mistakes, and no others: {text[:50]}", r.code == 1 and len(told) == len(want) and
          all(c == wc and w in t for (c, t), (wc, w) in zip(told, want)), r)

# Arithmetic against Python's, with C's rules for division.
rng = random.Random(7)


def wrap(v):
    v &= (1 << 64) - 1
    return v - (1 << 64) if v >> 63 else v


def expression(depth):
    """A text over the variables $a..$d and its value as a function of them."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.5:
            v = rng.choice([0, 1, 2, 3, 7, 10, 255, 4096, 65535, 1 << 31, (1 << 40) + 5])
            return str(v), lambda e: v
        k = rng.choice("abcd")
        return f"${k}", lambda e: e[k]
    op = rng.choice(["+", "-", "*", "&", "|", "^", "/", "%", "<", ">", "==", "!=", "<=", ">=", "?"])
    (ta, fa), (tb, fb) = expression(depth - 1), expression(depth - 1)
    if op == "?":
        tc, fc = expression(depth - 1)
        return f"({ta} ? {tb} : {tc})", lambda e: fb(e) if fa(e) else fc(e)
    if op in "/%":
        return f"({ta} {op} (1 + ({tb} & 15)))", lambda e: divide(op, fa(e), 1 + (fb(e) & 15))
    f = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "&": lambda x, y: x & y,
         "|": lambda x, y: x | y, "^": lambda x, y: x ^ y, "<": lambda x, y: int(x < y), ">": lambda x, y: int(x > y),
         "==": lambda x, y: int(x == y), "!=": lambda x, y: int(x != y), "<=": lambda x, y: int(x <= y),
         ">=": lambda x, y: int(x >= y)}[op]
    return f"({ta} {op} {tb})", lambda e: wrap(f(fa(e), fb(e)))


def divide(op, a, b):
    q = abs(a) // abs(b)
    q = -q if (a < 0) != (b < 0) else q
    return wrap(q if op == "/" else a - q * b)


wrong = []
for _ in range(12):
    env = {k: rng.choice([0, 1, -1, 5, -7, 1000, -(1 << 33), (1 << 62)]) for k in "abcd"}
    cases = [expression(3) for _ in range(12)]
    body = "".join(f"${k} = (int64){v}; " for k, v in env.items())
    body += " ".join(f'printf("%lld\\n", (int64){t});' for t, _ in cases)
    r = kymo(["run", "-q", "-e", f"BEGIN {{ {body} exit(); }}"])
    got = r.out.split("\n")
    if r.code:
        wrong.append(str(r)[:500])
    for i, (t, f) in enumerate(cases):
        if not r.code and got[i] != str(f(env)):
            wrong.append(f"{t} with {env}: {got[i]}, not {f(env)}")
check("arithmetic as C has it", not wrong, "\n".join(wrong[:20]))

# The command's own ways.
r = kymo(["run", "-lv", "tracepoint:sched:sched_wakeup"])
check("-lv lists a tracepoint and its fields", r.out.startswith("tracepoint:sched:sched_wakeup\n") and "pid_t pid" in r.out, r)
for what in ("tracepoint:nosuch:*", "nosuchname", "uprobe:/nosuch:x"):
    r = kymo(["run", "-l", what])
    check(f"-l {what}: what is missing, and what to do", r.code == 1 and ("nothing matches" in r.err or "no file" in r.err) and "hint:" in r.err, r)
r = kymo(["run", "-l", "tracepoint:*"])
every = r.out.split("\n")
check("-l 'tracepoint:*' lists all", r.code == 0 and "tracepoint:sched:sched_switch" in every and "tracepoint:raw_syscalls:sys_enter" in every, r.err)
r = kymo(["run", "-l", "t:*sched_switch"])
check("-l with any subsystem", r.out == "tracepoint:sched:sched_switch\n", r)
r = kymo(["run", "-l"])
check("-l alone lists tracepoints, counters and iterators", all(x in r.out.split("\n") for x in ("tracepoint:sched:sched_switch", "software:cpu-clock:", "iter:task")) and
      "__safe" not in r.out, r.err)
r = kymo(["run", "--info"])
check("--info: probes, helpers, maps, features, each tried", r.code == 0 and all(re.search(f"^{x}$", r.out, re.M) for x in (
    "Kernel", "Probes", "Helpers", "Maps", "Features", r"  rawtracepoint +yes", r"  loop +yes  for over ranges.*", r"  hash +yes",
    r"  instructions verified +1000000", r"  kprobe, kretprobe +(yes|no: .*)")), r)
if os.geteuid() == 0 and shutil.which("setpriv"):
    with tempfile.TemporaryDirectory() as folder:  # where others can reach it
        os.chmod(folder, 0o755)
        shutil.copy(KYMO, f"{folder}/kymo")
        r = run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", f"{folder}/kymo", "run", "-l", "*_switch"])
    check("-l says what this user may not see", r.code == 1 and "may not see the kernel's tracepoints" in r.err, r)
r = kymo(["run", "-lv", "enum pid_type"])
check("-lv enum: its values", r.out.startswith("enum pid_type {\n    PIDTYPE_PID = 0,\n    PIDTYPE_TGID = 1,\n"), r)
r = kymo(["run", "-l", "tracepoint:sched:nothing*"])
check("-l says when nothing matches", r.code == 1 and "nothing matches" in r.err, r)
r = kymo(["run", "-d", "-e", "BEGIN { @x = 1 + 2; }"])
check("-d shows tree and instructions", r.code == 0 and "BEGIN" in r.out and "exit" in r.out and "@x" in r.out, r)
r = kymo(["run", "-d", "-e", 'tracepoint:sched:sched_switch { @[pid] = count(); printf("%d", cpu); }'])
check("-d: functions of the kernel and maps by name", not re.search(r"call \d", r.out) and
      all(re.search(x, r.out) for x in (r"%\d+ = call get_current_pid_tgid\n", r": call get_current_pid_tgid\n", r": call ringbuf_reserve\n", r" = map @\n", r" = map \(ring\)\n")), r)
r = kymo(["run", "--dry-run", "-e", "tracepoint:sched:sched_switch { @ = count(); }"])
check("--dry-run loads and ends", r.code == 0, r)
r = kymo(["run", "-f", "json", "-e", 'BEGIN { @x["a\\"b"] = 1; printf("hi\\n"); exit(); }'])
check("-f json", '{"type": "printf", "data": "hi\\n"}' in r.out and '{"type": "map", "data": {"@x": {"a\\"b": 1}}}' in r.out, r)
out = os.path.join(tmp.name, "out.txt")
r = kymo(["run", "-q", "-o", out, "-e", 'BEGIN { printf("to a file\\n"); exit(); }'])
check("-o writes to a file", r.code == 0 and r.out == "" and "to a file" in open(out).read(), r)
r = kymo(["run", "-q", "-c", "sh -c 'exit 3'", "-e", "tracepoint:sched:sched_process_exec { @ = count(); }"])
check("-c ends with the command, and as it", r.code == 3 and "@: " in r.out, r)
r = run([KYMO, "run", "/nonexistent.bt"])
check("a missing file is told", r.code == 1 and "cannot read the program" in r.err, r)
with open(os.path.join(tmp.name, "p.bt"), "w") as f:
    f.write("#!/usr/bin/env kymo run\nBEGIN { printf(\"%d %s\\n\", $1, str($2)); exit(); }\n")
r = kymo(["run", "-q", f.name, "5", "x"])
check("a program in a file with arguments", r.out.startswith("5 x\n"), r)
r = kymo(["run", f.name, "5", "-q", "x"])
check("options may stand behind the file, as bpftrace has it", r.out.startswith("5 x\n"), r)
r = kymo(["run", "-q", f.name, "--", "-5", "-q"])
check("words behind -- are the program's", r.out.startswith("-5 -q\n"), r)
r = kymo(["run", "-q", f.name, "--no-such-option"])
check("an option that is none is not taken for a word", r.code != 0 and "no-such-option" in r.err and not r.out, r)
r = kymo(["run", "-q", "-e", 'config = { max_map_keys = 2; } BEGIN { @x[1] = 1; @x[2] = 2; @x[3] = 3; exit(); }'])
check("a full map is told", "@x is full (2 keys): 1 updates were refused" in r.err, r)
cpus = sorted(os.sched_getaffinity(0))
walk = f"import os\nfor c in {cpus}:\n os.sched_setaffinity(0, [c])\n for i in range(1000): os.getppid()"
r = run([KYMO, "run", "-q", "-c", f"{sys.executable} -c '{walk}'", "-e", """tracepoint:syscalls:sys_enter_getppid /pid == cpid/ {
    @n[comm] = count(); @s[1] = sum(2); @a[1] = avg(cpu * 2); @low[1] = min(cpu); @high[1] = max(cpu); @h[pid] = lhist(cpu, 0, 512, 1); @t[1] = stats(cpu); }
    END { for ($kv : @n) { printf("n %d\\n", $kv.1); } printf("%d %d %d %d\\n", (int64)@s[1], (int64)@a[1], (int64)@low[1], (int64)@high[1]);
    clear(@n); clear(@s); clear(@a); clear(@low); clear(@high); }"""])
n = len(cpus) * 1000
check("what all CPUs add to a key is in it", r.out.startswith(f"n {n}\n{2 * n} {sum(cpus) * 2 // len(cpus)} {cpus[0]} {cpus[-1]}\n") and
      f"count {n}, average {sum(cpus) // len(cpus)}, total {sum(cpus) * 1000}" in r.out and
      all(re.search(rf"^\[{c}, {c + 1}\) +1000 ", r.out, re.M) for c in cpus), r)
r = kymo(["run", "-q", "-e", "BEGIN { $n = (int64)100000000; for ($i : 0..$n) { @++; } exit(); }"])
check("a loop that is too long is ended, and that is told", r.code == 0 and "@: 8388608" in r.out and "a loop was ended" in r.err, r)
r = kymo(["run", "-q", "-c", "true", "-e", "tracepoint:sched:nothing_like_it, tracepoint:sched:sched_process_exit { @ = count(); }"])
check("one of several probes may be missing, with a warning", r.code == 0 and "@: " in r.out and "warning: nothing matches" in r.err, r)
r = kymo(["run", "-q", "-e", "BEGIN { $s = str(0, 100000); exit(); }"])
check("a text that is too long is cut, and that is told", r.code == 0 and "str() reads at most 63 bytes" in r.err, r)
r = kymo(["run", "-q", "-e", "BEGIN { while (1) { $i++; } }"])
check("a variable without a value in a loop", r.code == 1, r)
r = kymo(["run", "-q", "-k", "-e", 'BEGIN { $x = *(uint64 *)uptr(16); printf("%d %s\\n", $x, str(8)); exit(); }'])
check("-k: reads that failed, and where", r.code == 0 and "program:1:30: probe_read_user failed 1 time\n" in r.err and "_str failed 1 time\n" in r.err, r)
r = kymo(["run", "-q", "-kk", "-e", "BEGIN { if (@z[3] == 0) { @z[2] = 1; } exit(); }"])
check("-kk: keys that were not there", r.code == 0 and "map_lookup_elem failed 1 time\n" in r.err, r)
r = kymo(["run", "-q", "-e", 'BEGIN { $a = (enum pid_type)1; printf("%s %d\\n", $a, $a); print((enum pid_type)2); print((enum pid_type)77); exit(); }'])
same("an enum by its name", r.out.split("\n")[:3], ["PIDTYPE_TGID 1", "PIDTYPE_PGID", "77"])
writes = {}
for mode in ("none", "line", "full"):
    seen = os.path.join(tmp.name, mode)
    r = kymo(["trace", "-e", "write", "-o", seen, KYMO, "run", "-q", "-B", mode, "-e",
              'BEGIN { printf("a"); @++; printf("b\\n"); @++; printf("c\\n"); } interval:ms:100 { @++; printf("d\\n"); if (@ == 5) { exit(); } } END { clear(@); }'])
    writes[mode] = [m[1] for m in re.finditer(r' write\(1\S*, "(\w.*?)",', open(seen, errors="replace").read())] if r.code == 0 and os.path.exists(seen) else []
if not writes["none"]:
    skip("-B: when text is written", "no system calls can be traced here")
else:
    same("-B none: each message", writes["none"], ["a", "b\\n", "c\\n", "d\\n", "d\\n", "d\\n"])
    same("-B line: each line", writes["line"], ["ab\\n", "c\\n", "d\\n", "d\\n", "d\\n"])
    check("-B full: all at the end", len(writes["full"]) == 1 and writes["full"][0].startswith("ab\\nc\\nd\\nd\\nd"), writes["full"])
r = kymo(["run", "-B", "some", "-e", "BEGIN { }"])
check("-B: nothing else", r.code == 1 and "line, full or none" in r.err, r)

# headers: types as the C compiler lays them out, enums, constants
HEADER = r"""
#ifndef H_H
#define H_H /* a comment
   that goes on */
#include "other.h"
#define MAGIC 0x42
#define NAMELEN (8 * 2)
#define TWICE(x) ((x) * 2)
#define GREETING "hello"
typedef unsigned int my_id_t, *my_ids_t;
typedef struct point { int x, y; } point_t;
enum color { RED, GREEN = 5, BLUE };
struct later;
struct thing {
    const my_id_t id; char name[NAMELEN]; struct point at; point_t *next; struct later *l;
    unsigned char flags : 3, rest : 5; unsigned wide : 9; long : 0; short s;
    union { long l; struct { char c[3]; } in[2]; } u; enum color c; int (*callback)(int, char **);
    unsigned long long big __attribute__((aligned(16)));
    char end[];
} __attribute__((packed));
struct loose { char c; unsigned a : 2; struct { short s; struct { char d; } e; }; long double *p; int m[2][3]; };
struct later { point_t p[2]; my_ids_t ids; size_t n; };
struct odd { nobody_knows_t x; };
extern int foo(struct thing *t);
static inline int bar(int a) { return a + 1; }
#if defined(OTHER) && OTHER >= 7 && !defined(NOTHING)
#define CHOSEN 1
#else
#define CHOSEN 2
#endif
#endif
"""
inc = pathlib.Path(tmp.name) / "inc"
inc.mkdir()
(inc / "h.h").write_text(HEADER)
(inc / "other.h").write_text('#define OTHER 7\n#include "h.h"\n')
SIZES = ["sizeof(struct thing)", "sizeof(struct loose)", "sizeof(struct later)", "sizeof(point_t)", "sizeof(my_ids_t)", "MAGIC", "NAMELEN", "BLUE", "CHOSEN",
         *(f"offsetof(struct thing, {x})" for x in "at next l s u c callback big end".split()), *(f"offsetof(struct loose, {x})" for x in "s e p m".split())]
(inc / "c.c").write_text("#include <stddef.h>\n#include <stdio.h>\ntypedef int nobody_knows_t;\n#include \"h.h\"\nint main(void) {" +
                         "".join(f'printf("%d\\n", (int)({x}));' for x in SIZES) + "}")
cc = run(["cc", "-w", "-o", str(inc / "c"), str(inc / "c.c")])
if cc.code != 0:
    skip("a header as the compiler has it", "no C compiler")
else:
    want = run([str(inc / "c")]).out.split()
    r = kymo(["run", "-q", "-I", str(inc), "--include", "h.h", "-e", "BEGIN { " + "".join(f'printf("%d\\n", {x});' for x in SIZES) + " exit(); }"])
    same("-I, --include: a header as the compiler has it", dict(zip(SIZES, r.out.split())), dict(zip(SIZES, want)))
(inc / "p.bt").write_text('#include "h.h"\nBEGIN { $t = (struct thing *)0; printf("%s %d\\n", GREETING, $t->l->p[1].y); exit(); }')
r = kymo(["run", "-q", str(inc / "p.bt")])
same("#include: beside the program", r.out.split("\n")[0], "hello 0")
for args, words in ((["-e", '#include "h.h"\nBEGIN { exit(); }'], ["there is no header 'h.h'", "-I DIR"]),
                    (["-e", "#include <lol/no.h>\nBEGIN { exit(); }"], ["there is no header 'lol/no.h'", "-I DIR"]),
                    (["--include", "h.h", "-e", "BEGIN { exit(); }"], ["there is no header 'h.h'"]),
                    (["-I", str(inc), "--include", "h.h", "-e", "BEGIN { print(sizeof(struct odd)); }"], ["no type 'struct odd'", "nobody_knows_t"]),
                    (["-I", str(inc), "--include", "h.h", "-e", "BEGIN { print(TWICE(2)); }"], ["TWICE"])):
    r = kymo(["run", *args])
    check(f"a header that does not do: {words[0]}", r.code == 1 and all(w in r.err for w in words), r)
r = kymo(["run", "-q", "--include", "linux/sched.h", "-e", "#include <linux/fs.h>\nBEGIN { print(5); exit(); }"])
same("headers of the kernel need not be there", r.out.split("\n")[0], "5")
end()
