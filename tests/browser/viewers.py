#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports opened in the viewers they are for: speedscope as its own package has it (fetched only when asked for: KYMO_ORACLES=1)."""
import base64
import json
import os
import shutil

from browser import Browser, available
from files import Folder
from tap import WORK, check, end, has, kymo, run, same, skip

WHY = available() or ("" if os.environ.get("KYMO_ORACLES") else "KYMO_ORACLES is not set") or ("" if shutil.which("npm") else "npm is not installed")
if WHY:
    skip("exports in their viewers", WHY)
    end()

at = Folder("kymo-viewers-")
r = run(["npm", "pack", "--silent", "speedscope"], cwd=at.root)
if r.code or not r.out.split():
    skip("speedscope", "npm does not give it")
    at.remove()
    end()
run(["tar", "xf", r.out.split()[-1]], cwd=at.root)
kymo(["record", "-q", "-F", "999", "-e", "cpu-clock", "-g", "-o", at.path("a.data"), "--", os.path.join(os.path.abspath(WORK), "calls"), "random=500", "threads=2"])
r = kymo(["export", "--to", "speedscope", "-i", at.path("a.data"), "-o", at.path("a.json")])
text = at.read("a.json")
profiles = [p["name"] for p in json.loads(text)["profiles"]]
check("something to look at", len(profiles) >= 2, r)


def opened(b, name):
    """What is shown once it has been read; its own way to open a local file: a script that calls it."""
    with open(at.path(name), "rb") as f:
        data = base64.b64encode(f.read()).decode()
    script = at.write(f"package/dist/release/{name}.js", f'speedscope.loadFileFromBase64("{name}", "{data}")')
    b.open(at.path("package/dist/release/index.html"), "#localProfilePath=" + script, ready=False)
    b.wait("return document.body.innerText.includes('Sandwich')", 60)
    return b.js("return document.body.innerText")


with Browser(1280, 800) as b:
    shown = opened(b, "a.json")
    check("speedscope: the first of all profiles", any(p in shown for p in profiles) and f"/{len(profiles)})" in shown, (shown, profiles))
    for to, name in (("speedscope", "a.json"), ("folded", "a.folded"), ("pprof", "a.pb.gz"), ("chrome", "a.trace.json"), ("callgrind", "callgrind.out.a")):
        kymo(["export", "--to", to, "-i", at.path("a.data"), "-o", at.path(name)])
        opened(b, name)
        b.keys("3")  # a table of functions
        b.wait("return document.body.innerText.includes('random_')", 60)
        has(f"speedscope opens {to}", b.js("return document.body.innerText"), "Symbol Name", "random_")
        faults = [x["message"] for x in b.call("POST", "/se/log", {"type": "browser"}) if x["level"] == "SEVERE"]
        same("and has nothing to complain about", faults, [])
at.remove()
end()
