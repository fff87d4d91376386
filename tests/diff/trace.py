#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo trace and strace of the same program: the same calls in the same order, with the same words and results."""
import collections
import os
import platform
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tap import KYMO, WORK, check, end, run, same, skip

if not shutil.which("strace") or os.getuid() != 0:
    skip("strace's output", "needs strace and root")
    end()
DIR = tempfile.mkdtemp(prefix="kymo-strace-")
OUT = f"{DIR}/out"
PROGRAM = os.path.abspath(f"{WORK}/syscalls")
if run(["strace", "-o", OUT, "true"]).code != 0:
    skip("strace's output", "strace does not work here")
    end()
# What both see differently each time, or word differently: known, each with its reason.
#   addresses, inode numbers, process numbers; the folder behind AT_FDCWD is shown by strace -y only
#   poll and ppoll: strace shows what came back behind the result; epoll's data in two ways
#   clone's arguments: strace gives them other names; execve: how many variables the environment has
#   limits are multiplied out here; sigaction's fields come in the kernel's order; rt_sigreturn's mask and how many entries
#   getdents64 read are not shown
UNALIKE = {"ppoll", "poll", "epoll_ctl", "epoll_pwait", "clone", "clone3", "getrandom", "rseq", "rt_sigaction",
           "rt_sigreturn", "getdents64"}


def plain(text):
    text = re.sub(r"AT_FDCWD<[^>]*>", "AT_FDCWD", text)
    text = re.sub(r"0x[0-9a-f]{6,}( /\* \d+ vars \*/)?", "ADDR", text)
    text = re.sub(r"(\d+)\*1024", lambda m: str(int(m[1]) * 1024), text)
    text = re.sub(r"\[\d+\]>", "[N]>", text)
    text = re.sub(r"(F_DUPFD.*= \d+)<.*>", r"\1", text)
    text = re.sub(r" /\* \d{4}-[^*]*\*/|(?<=/memfd:some>)\(deleted\)", "", text)  # a time in words; a file that never had a name
    return re.sub(r"\)\s+= ", ") = ", text)


def strace(command):
    """[(process, text)] in order of ends; a call that was interrupted in the listing is put together again."""
    r = run(["strace", "-f", "-y", "-s", "64", "-o", OUT, *command])
    found, open_calls = [], {}
    for line in open(OUT, errors="replace"):
        m = re.match(r"(\d+)\s+(.*)", line)
        pid, text = m[1], m[2]
        if text.endswith("<unfinished ...>"):
            open_calls[pid] = text[: -len("<unfinished ...>")].rstrip(" ")
            continue
        m = re.match(r"<\.\.\. (\w+) resumed>(.*)", text)
        if m:
            before = open_calls.pop(pid, m[1] + "(")
            text = before + (" " if before.endswith(",") else "") + m[2].lstrip(" ")
        if re.match(r"\w+\(", text):
            found.append((pid, plain(text)))
    return found, r.code


def ours(command):
    r = run([KYMO, "trace", "--string-limit", "64", "-o", OUT, *command])
    found = []
    for line in open(OUT, errors="replace"):
        m = re.match(r"\s*[\d.]+ \(\s*[\d.]+ ms\): .*?/(\d+) (.*)", line)
        found.append((m[1], plain(m[2].removesuffix(" [32-bit]"))))
    return found, r.code


def by_process(calls):
    """Numbers of processes replaced by the order in which they came."""
    pids, lists = {}, collections.defaultdict(list)
    for pid, text in calls:
        pids.setdefault(pid, f"P{len(pids)}")
    for pid, text in calls:
        for number, name in pids.items():
            text = re.sub(rf"\b{number}\b", name, text)
        lists[pids[pid]].append(text)
    return lists


def name(text):
    return text.split("(")[0]


COMMANDS = {
    "known calls": [PROGRAM, DIR],
    "arguments that depend on others": [os.path.abspath(f"{WORK}/callargs"), DIR],
    "ls": ["ls", "-l", "/etc/apt"],
    "one that becomes another": ["env", "-i", "sh", "-c", "cd /; : </etc/passwd; exit 3"],
}
if platform.machine() == "x86_64":
    COMMANDS["calls by the 32-bit way in"] = [PROGRAM, DIR, "32"]
for what, command in COMMANDS.items():
    for attempt in range(3):  # which of two processes is first is chance
        (a, code_a), (b, code_b) = ours(command), strace(command)
        left, right = by_process(a), by_process(b)
        if left.keys() == right.keys() and all([name(t) for t in left[p]] == [name(t) for t in right[p]] for p in left):
            break
    same(f"{what}: the exit code", code_a, code_b)
    same(f"{what}: as many processes", len(left), len(right))
    for p in left:
        same(f"{what}: the same calls in {p}", [name(t) for t in left[p]], [name(t) for t in right.get(p, [])])
    bad = [f"{x}\n   {y}" for p in left for x, y in zip(left[p], right.get(p, []))
           if x != y and name(x) == name(y) and name(x) not in UNALIKE and not (name(x) in ("getppid", "getpid", "gettid", "brk"))]
    check(f"{what}: the same words for each", not bad, "\n".join(bad))
shutil.rmtree(DIR, ignore_errors=True)
end()
