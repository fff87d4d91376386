# SPDX-License-Identifier: MIT
"""A folder of a test's own, and pictures made there from folded text.

    from files import Folder
    at = Folder("kymo-flame-")
    at.write("a.folded", "main;f 3\n")      # its path
    at.read("a.svg")
    at.flame("name", ["main 1\n", "main 2\n"], ".html", "--reverse")
    at.remove()
"""
import os
import shutil
import tempfile

from tap import kymo


class Folder:
    def __init__(self, prefix):
        self.root = tempfile.mkdtemp(prefix=prefix)

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def flame(self, name, text, suffix, *more):
        """The path of a picture of one folded text, or of a list of two."""
        texts = [text] if isinstance(text, (str, bytes)) else text
        files = [self.write(f"{name}{i}.folded", t) for i, t in enumerate(texts)]
        out = self.path(name + suffix)
        r = kymo(["flame", *files, "-o", out, "-q", *more])
        assert r.code == 0, r
        return out

    def remove(self):
        shutil.rmtree(self.root)
