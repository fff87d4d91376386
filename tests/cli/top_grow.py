#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo top while programs come and go, each a file of its own: descriptors do not grow with them.

`make soak` does the same for longer, and looks at memory."""
import os
import signal
import subprocess
import tempfile

import churn
from tap import KYMO, SAN, WORK, check, end

with tempfile.TemporaryDirectory(prefix="kymo-grow-") as folder:
    os.makedirs(f"{folder}/programs")
    top = subprocess.Popen([KYMO, "top", "--stdio", "-g", "-d", "1"], stdout=subprocess.DEVNULL,
                           env={**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"})
    try:
        with churn.Churn(f"{WORK}/spin", f"{folder}/programs", turns=1000000) as c:
            seen = churn.watch(top.pid, c, (4000, 30))
            print(f"# {c.done()} programs; at the beginning and the end: {seen[len(seen) // 4]}, {seen[-1]}", flush=True)
    finally:
        top.send_signal(signal.SIGINT)
        code = top.wait(timeout=60)
    check("enough programs to tell", seen[-1][0] - seen[len(seen) // 4][0] > 300, seen)
    early = [x for x in seen if x[0] > 50][:4]
    late = seen[-len(seen) // 4:]
    check("descriptors do not grow", max(x[2] for x in late) <= max(x[2] for x in early) + 40, seen)
    if not SAN:  # which keeps what is freed
        # A ceiling and no more: in so short a time a top that keeps everything stays below it, too (what it keeps open
        # gives it away above). That memory does not grow is what make soak looks at.
        kept, most = min(x[1] for x in late), max(x[1] for x in late)
        check("memory stays below a ceiling", kept < 80 << 10 and most < 160 << 10, seen)
    check("and it ends well", code == 0, code)
end()
