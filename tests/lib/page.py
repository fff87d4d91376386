# SPDX-License-Identifier: MIT
"""The data inside kymo's pages, decoded here from the format's description (src/view/picture/pack.h).

    head, columns = page.unpack("flame.html")
"""
import base64
import json
import re
import struct
import zlib


def unpack(path):
    """The header, and the columns as lists of numbers."""
    with open(path, encoding="utf-8") as f:
        data = base64.b64decode(re.search(r'id="profile">([A-Za-z0-9+/=]*)</script>', f.read())[1])
    assert data[:1] == b"K"
    raw = zlib.decompress(data[2:], -15) if data[1:2] == b"d" else data[2:]
    n = struct.unpack("<I", raw[:4])[0]
    head, at, columns = json.loads(raw[4:4 + n]), 4 + n, []
    for size in head["columns"]:
        column, v, shift = [], 0, 0
        for b in raw[at:at + size]:
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                column.append(v)
                v = shift = 0
        columns.append(column)
        at += size
    assert at == len(raw)
    return head, columns
