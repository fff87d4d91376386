#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Every command that a message, a help text, a man page, README or docs/ tells to type exists, with the options it is told with."""
import json
import pathlib
import re

from tap import check, end, kymo, same

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What kymo does or is in a sentence of C; anything else behind "kymo " is a command.
PROSE = set("""always asks built can cannot checks come command decodes does has hides honours is itself knows leaves look needs on outside reads
 records samples sets the was watches""".split())
STRING = r'"(?:[^"\\\n]|\\.)*"'


def tables(commands, above=()):
    for c in commands:
        yield (*above, c["name"]), c
        yield from tables(c["subcommands"], (*above, c["name"]))


COMMANDS = dict(tables(json.loads(kymo("--introspect").out)))
FIRST = {name[0] for name in COMMANDS}


def literals(path):
    """The texts of a C file, those that stand in a row as one; and the examples' lines, which say no "kymo"."""
    code = re.sub(r"/\*.*?\*/|^#include[^\n]*$", " ", path.read_text(), flags=re.S | re.M)
    for row in re.findall(rf"{STRING}(?:\s*(?:PRI\w+\s*)?{STRING})*", code):
        text = "".join(x[1:-1] for x in re.findall(STRING, row))
        yield re.sub(r"\\n|\\t", "\n", text).replace('\\"', '"')


def told(text):
    """What stands behind each "kymo " of a text, up to the end of the line or sentence."""
    for m in re.finditer(r"(?<![\w/.-])kymo ([a-z][^\n`*|]*)", text):
        yield m[1]


def option_of(c, word):
    """The option that a word is, or None."""
    for o in (o for o in c["options"] if "heading" not in o):
        if word in (f"-{o.get('short')}", f"--{o.get('long')}") or (o["negatable"] and word == f"--no-{o.get('long')}"):
            return o
    return {"arg": "none"} if word in ("-h", "--help", "--") else None


def options_wrong(c, words):
    """Words that look like options and are none of this command's."""
    takes_command = re.search(r"COMMAND|CMD", c["usage"] or "")
    i = 0
    while i < len(words):
        word, i = words[i].lstrip("[("), i + 1
        last = re.search(r"[;:,.)\]'\"]+$", word)
        word = word.rstrip(";:,.)]'\"")
        if word == "--":
            return
        if not word.startswith("-") or word == "-" or not re.fullmatch(r"--?[A-Za-z][\w-]*(=.*)?|-[A-Za-z].*", word):
            if takes_command and word != "-":
                return
        elif word.startswith("--"):
            o = option_of(c, word.split("=")[0])
            if not o:
                yield word
            i += bool(o) and o["arg"] == "required" and "=" not in word
        else:
            for k, letter in enumerate(word[1:]):
                o = option_of(c, f"-{letter}")
                if not o:
                    yield word
                    break
                if o["arg"] != "none":
                    i += o["arg"] == "required" and k == len(word) - 2
                    break
        if last or (i < len(words) and words[i] in ("and", "or", "shows", "says", "to")):
            return


def wrong(line, prose=True):
    words = line.split()
    first = re.sub(r"[;:,.)\]'\"%]+$", "", words[0])
    if first not in FIRST:
        return None if prose and first in PROSE else f"no command '{first}'"
    name = (first,)
    rest = words[1:] if first == words[0] else []
    while rest and (*name, rest[0].rstrip(";:,.)'\"")) in COMMANDS:
        name = (*name, rest[0].rstrip(";:,.)'\""))
        rest = rest[1:]
    if rest and COMMANDS[name]["subcommands"] and re.fullmatch(r"[a-z]{3,}", rest[0]) and name == ("ftrace",):
        return f"no command 'ftrace {rest[0]}'"
    bad = [*options_wrong(COMMANDS[name], rest)]
    return f"kymo {' '.join(name)} has no {bad[0]}" if bad else None


def look(what, texts, prose=True):
    bad, n = [], 0
    for where, text in texts:
        for line in told(text):
            n += 1
            why = wrong(line, prose)
            if why:
                bad.append(f"{where}: kymo {line[:80]}: {why}")
    check(f"{what}: each command and option exists", n and not bad, "\n".join(bad) or "none is told at all")
    print(f"# {what}: {n} looked at")


def examples():
    return [(" ".join(name), f"kymo {x['line']}") for name, c in COMMANDS.items() for x in c["examples"]]


same("a command that is none is seen", wrong("mem record"), "no command 'mem'")
same("an option that is none is seen", wrong("record --nothing-such true"), "kymo record has no --nothing-such")
same("also in a sentence", wrong("stat -Z, or not"), "kymo stat has no -Z")
same("what belongs to the program is not kymo's", wrong("stat -e cycles -- ls --nothing"), None)
look("messages", [(str(p.relative_to(ROOT)), t) for p in sorted((ROOT / "src").rglob("*.c")) for t in literals(p)])
look("examples", examples(), prose=False)
look("man pages", [(p.name, m) for p in sorted((ROOT / "man").glob("*.scd")) for m in re.findall(r"\*(kymo [^*]+)\*", p.read_text())], prose=False)
look("README and docs", [(p.name, m) for p in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
                         for m in re.findall(r"`([^`\n]*)`|^    (.*)$", p.read_text(), re.M) for m in m if m], prose=False)
end()
