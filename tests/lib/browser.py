# SPDX-License-Identifier: MIT
"""Headless Chromium for tests, driven through chromedriver's WebDriver protocol.

    from browser import Browser, available
    with Browser(1280, 800) as b:
        b.open("/tmp/flame.html")
        b.click(100, 200)
        b.keys("/", "malloc")
        b.js("return document.title")
        b.screenshot("/tmp/a.png")
"""
import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Backspace": "\ue003", "Tab": "\ue004", "Left": "\ue012", "Up": "\ue013",
        "Right": "\ue014", "Down": "\ue015", "Home": "\ue011", "End": "\ue010", "PageUp": "\ue00e", "PageDown": "\ue00f", "Delete": "\ue017"}
SHIFT, CONTROL = "\ue008", "\ue009"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars=false", "--force-color-profile=srgb",
         "--disable-dev-shm-usage", "--proxy-server=127.0.0.1:9"]


def available():
    """Why the tests cannot run here; "" when they can."""
    for name in ("chromium", "chromedriver"):
        if not shutil.which(name):
            return f"{name} is not installed (scripts/deps browser)"
    return ""


class Browser:
    def __init__(self, width=1280, height=800, dark=False, downloads=None):
        self.size, self.dark, self.downloads = (width, height), dark, downloads

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="kymo-browser-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       stdin=subprocess.DEVNULL, text=True, start_new_session=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.base = f"http://127.0.0.1:{line.split('port')[-1].strip(' .' + chr(10))}"
                break
        flags = [*FLAGS, f"--user-data-dir={self.home}", f"--window-size={self.size[0]},{self.size[1]}"]
        if self.dark:
            flags.append("--force-dark-mode")
        options = {"args": flags, "binary": shutil.which("chromium"), "perfLoggingPrefs": {"enableNetwork": True}}
        caps = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = ""
        for attempt in range(3):  # on a busy machine the browser may not answer its driver in time
            try:
                self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": caps}})["sessionId"]
                break
            except RuntimeError:
                if attempt == 2:
                    raise
        self.cdp("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1, mobile=False)
        self.prefer("dark" if self.dark else "light")
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        except Exception:  # the browser may be gone already
            pass
        # the whole session of this driver, which this object started: driver and browser
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, path, body=None, timeout=120):
        data = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
        r = urllib.request.Request(self.base + self.session + path, data=data, method=method, headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(r, timeout=timeout) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"].split("\n")[0]) from None

    def cdp(self, cmd, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": cmd, "params": params})

    def prefer(self, scheme):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path, fragment="", ready=True):
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": path if "://" in path else "file://" + os.path.abspath(path) + fragment})
        if ready:
            self.wait("return document.documentElement.dataset.ready")

    def wait(self, script, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            v = self.js(script)
            if v:
                return v
            time.sleep(0.02)
        raise RuntimeError(f"never true: {script}")

    def js(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def js_async(self, script, *args):
        """script gets its callback as the last argument."""
        return self.call("POST", "/execute/async", {"script": script, "args": list(args)})

    def actions(self, kind, steps, **more):
        self.call("POST", "/actions", {"actions": [{"type": kind, "id": kind, "actions": steps, **more}]})

    def move(self, x, y):
        self.actions("pointer", [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}], parameters={"pointerType": "mouse"})

    def click(self, x, y, button=0, times=1):
        press = [{"type": "pointerDown", "button": button}, {"type": "pointerUp", "button": button}]
        self.actions("pointer", [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}, *press * times],
                     parameters={"pointerType": "mouse"})

    def drag(self, x0, y0, x1, y1):
        self.actions("pointer", [{"type": "pointerMove", "x": int(x0), "y": int(y0), "duration": 0}, {"type": "pointerDown", "button": 0},
                                 {"type": "pointerMove", "x": int(x1), "y": int(y1), "duration": 50}, {"type": "pointerUp", "button": 0}],
                     parameters={"pointerType": "mouse"})

    def keys(self, *words, hold=""):
        """Named keys ("Enter"), single characters, or text that is typed."""
        steps = [{"type": "keyDown", "value": hold}] if hold else []
        for word in words:
            for c in [KEYS[word]] if word in KEYS else word:
                steps += [{"type": "keyDown", "value": c}, {"type": "keyUp", "value": c}]
        steps += [{"type": "keyUp", "value": hold}] if hold else []
        self.actions("key", steps)

    def element(self, css):
        return list(self.call("POST", "/element", {"using": "css selector", "value": css}).values())[0]

    def press(self, css):
        self.call("POST", f"/element/{self.element(css)}/click")

    def text(self, css):
        return self.js("const e = document.querySelector(arguments[0]); return e ? e.textContent : null", css)

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("GET", "/screenshot")))

    def console(self):
        return [x for x in self.call("POST", "/se/log", {"type": "browser"}) if x["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses that were asked for since the last call, apart from files and the page's own blobs."""
        urls = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            m = json.loads(entry["message"])["message"]
            if m["method"] == "Network.requestWillBeSent":
                urls.append(m["params"]["request"]["url"])
        return [u for u in urls if not u.startswith(("file:", "blob:", "data:", "about:", "chrome:"))]
