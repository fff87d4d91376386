#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tracing tools beside a workload that knows what each must show."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from tap import KYMO, check, end, has, kymo, run, same, skip

DIR = tempfile.mkdtemp(prefix="kymo-tools-")
ME = f"tool{os.getpid() % 100000}"  # the name of the workload's process, as the kernel has it


def beside(args, code, seconds=20):
    """Run a tool, then the workload (Python, named ME) when it says it is attached; end with Ctrl-C. Its output."""
    out = open(f"{DIR}/out", "w+")
    tool = subprocess.Popen([KYMO, *args], stdout=out, stderr=subprocess.STDOUT)
    # attached when its programs are there: ask the kernel, do not guess by time
    until = time.time() + seconds
    while time.time() < until and tool.poll() is None:
        if any("bpf" in os.readlink(f"/proc/{tool.pid}/fd/{f}") and "link" in os.readlink(f"/proc/{tool.pid}/fd/{f}") or
               "perf_event" in os.readlink(f"/proc/{tool.pid}/fd/{f}") for f in os.listdir(f"/proc/{tool.pid}/fd")
               if os.path.lexists(f"/proc/{tool.pid}/fd/{f}")):
            break
        time.sleep(0.05)
    time.sleep(0.5)
    w = subprocess.run([sys.executable, "-c", f"open('/proc/self/comm','w').write('{ME}')\n" + code], capture_output=True, timeout=60)
    time.sleep(0.5)
    if tool.poll() is None:
        tool.send_signal(signal.SIGINT)
    try:
        tool.wait(20)
    except subprocess.TimeoutExpired:
        tool.kill()
        check(f"{args[0]}: ends after Ctrl-C", False)
    out.seek(0)
    text = out.read()
    if w.returncode:
        text += f"\nthe workload failed: {w.stderr.decode()}"
    return text


def rows(text, word):
    return [x for x in text.splitlines() if word in x]


if os.geteuid() != 0:
    skip("all", "needs root")
    end()

r = kymo("tools")
check("tools: all are listed, none fails to compile for a reason of its own", r.code == 0 and
      not [x for x in r.out.splitlines() if "not here" in x and "kprobes" not in x], r.out)
names = re.findall(r"^[- ] (\w+)  ", r.out, re.M)
check("tools: the classics are there", {"execsnoop", "opensnoop", "killsnoop", "iosnoop", "iolatency", "bitesize", "syscount", "tcpretrans",
                                        "tcplife", "biolatency", "runqlat", "offcputime", "profile"} <= set(names), names)
for name in names:
    r = kymo(f"{name} -h")
    check(f"{name} -h", r.code == 0 and name in r.out and "xamples" in r.out, r)
    r = kymo(f"tools --source {name}")
    check(f"{name}: its source", r.code == 0 and r.out.startswith("// SPDX"), r)
r = kymo("tools --source exesnoop")
check("a tool that is not there: what is near", r.code == 1 and "execsnoop" in r.err, r)
r = kymo("opensnoop -p x")
check("a value that makes no sense", r.code == 1 and "number" in r.err, r)
r = kymo("execsnoop a b c")
check("too many words: usage", r.code == 1 and "usage" in r.err, r)

out = beside(["execsnoop"], "import subprocess\nfor i in range(3): subprocess.run(['/bin/echo', 'one two', str(i)])")
same("execsnoop: every program and its arguments", sorted(x.split(None, 4)[4].strip() for x in rows(out, "one two")),
     [f"/bin/echo one two {i}" for i in range(3)])
out = beside(["opensnoop", "-n", ME], f"for i in range(5): open('{DIR}/f%d' % i, 'w')\ntry: open('{DIR}/missing')\nexcept OSError: pass")
same("opensnoop: every file", [f"{DIR}/f{i}" for i in range(5) if rows(out, f"{DIR}/f{i}")], [f"{DIR}/f{i}" for i in range(5)])
check("opensnoop: and the one that is not there, with its error", any(x.split()[-2] == "2" for x in rows(out, "missing")), out)
out = beside(["opensnoop", "-x", "-n", ME], f"open('{DIR}/f1')\ntry: open('{DIR}/missing')\nexcept OSError: pass")
check("opensnoop -x: only that", rows(out, "missing") and not rows(out, f"{DIR}/f1"), out)
out = beside(["killsnoop", "-n", ME], "import os\nfor s in (0, 18): os.kill(os.getpid(), s)\ntry: os.kill(4194000, 9)\nexcept OSError: pass")
same("killsnoop: signals and their results", [(x.split()[2], x.split()[4]) for x in rows(out, ME)], [("0", "0"), ("18", "0"), ("9", "-3")])
out = beside(["signals", "-l"], "import os\nfor i in range(4): os.kill(os.getpid(), 18)")
check("signals: all four", len([x for x in rows(out, ME) if x.split()[3] == "18"]) == 4, out)
out = beside(["syscount", "-c", "-n", ME], "import os\nfor i in range(100): os.getppid()")
same("syscount -c: a hundred getppid", [x.split()[-1] for x in rows(out, "sys_enter_getppid]")], ["100"])
out = beside(["syscount", "-n", ME], "import os\nfor i in range(1000): os.getppid()")
check("syscount: of the process", any(int(x.split()[-1]) >= 1000 for x in rows(out, f"[{ME}]")), out)
out = beside(["statsnoop"], f"import os\nfor i in range(3): os.stat('{DIR}')\ntry: os.stat('{DIR}/not')\nexcept OSError: pass")
check("statsnoop: every look", len([x for x in rows(out, f" {DIR}") if ME in x and not x.endswith("/not")]) == 3 and rows(out, f"{DIR}/not"), out)
out = beside(["syncsnoop"], f"import os\nfd = os.open('{DIR}/f1', 1)\nos.fsync(fd); os.fdatasync(fd)")
same("syncsnoop: both calls", [x.split("_")[-1] for x in rows(out, ME)], ["fsync", "fdatasync"])
PORT = socket.socket()
PORT.bind(("127.0.0.1", 0))
PORT.listen()
port = PORT.getsockname()[1]
connect = f"import socket\nfor i in range(3):\n  c = socket.create_connection(('127.0.0.1', {port})); c.close()"
out = beside(["tcpconnect", "-P", str(port)], connect)
same("tcpconnect: three", len(rows(out, str(port))), 3)
out = beside(["tcpaccept", "-P", str(port)], connect)
same("tcpaccept: three", len(rows(out, str(port))), 3)
out = beside(["tcplife"], f"import socket\nl = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen()\n"
             "c = socket.create_connection(l.getsockname()); a, _ = l.accept(); c.close(); a.close()")
check("tcplife: both ends", len(rows(out, ME)) == 2, out)
out = beside(["gethostlatency"], "import socket\nsocket.getaddrinfo('localhost', 80)")
check("gethostlatency: the name", rows(out, ME) and any("localhost" in x for x in rows(out, ME)), out)
out = beside(["threadsnoop"], "import threading\nfor i in range(3):\n  t = threading.Thread(target=lambda: None); t.start(); t.join()")
same("threadsnoop: three threads", len(rows(out, ME)), 3)
r = kymo("pidpersec 2")
check("pidpersec 2: two lines, and the end", len(re.findall(r"^\d\d:\d\d:\d\d +\d+$", r.out, re.M)) == 2, r)
for tool, word in (("runqlat", "@wait:"), ("cpudist", "@time:"), ("softirqs", "@usecs["), ("runqlen", "@runqlen:"), ("profile", "@[")):
    out = beside([tool], "import time\ne = time.time() + 1\nwhile time.time() < e: pass")
    check(f"{tool}: shows something", word in out, out[-500:])
out = beside(["offcputime", "-K"], "import time\ntime.sleep(0.3)")
check("offcputime: who slept, and that only", rows(out, ME) and "@since" not in out, out[-500:])
disk = f"import os, mmap\nfd = os.open('{DIR}/d', os.O_CREAT | os.O_WRONLY | os.O_DIRECT)\nb = mmap.mmap(-1, 65536)\nfor i in range(8): os.write(fd, b)"
try:
    os.close(os.open(f"{DIR}/d", os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    direct = os.stat(DIR).st_dev >> 8 > 0
except OSError:
    direct = False
if not direct:
    skip("disk tools", f"{DIR} is on no disk")
else:
    out = beside(["iosnoop", "-n", ME], disk)
    # the file system may write some blocks of its own
    check("iosnoop: eight writes of 64 KiB", [x.split()[-2] for x in rows(out, ME)].count("65536") == 8, out)
    out = beside(["bitesize"], disk)
    check("bitesize: their sizes", re.search(rf"@bytes\[{ME}\]: *\n\[64K, 128K\) +8 ", out), out[:800])
    for tool in ("biolatency", "iolatency"):
        out = beside([tool], disk)
        check(f"{tool}: at least those", sum(int(x) for x in re.findall(r"^\[.*?[\])] +(\d+) \|", out, re.M)) >= 8, out)
shutil.rmtree(DIR)
end()
