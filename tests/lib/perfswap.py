# SPDX-License-Identifier: MIT
"""Turn a perf.data file into what a machine of the other endian would have written.

Only files with one or more attrs, kernel records, samples without raw data, and the features listed
below; others are left out of the result.
"""
import struct

STRINGS = {3, 4, 5, 6, 8, 9}  # hostname ... cpuid
KEPT = STRINGS | {2, 7, 10, 11, 12, 17, 21}
SHAPES = {  # as in perf_event.h: sizes of integers, s: text to the trailer, *: the last one again
    1: "44888s", 2: "88", 3: "44s", 4: "44448", 5: "888", 6: "888", 7: "44448", 10: "44888448844s", 11: "888",
    12: "44", 13: "8", 14: "", 15: "44", 16: "4488*", 17: "8422s", 18: "224s", 19: "8s", 64: None, 68: "",
    69: "8*", 73: "88s", 74: None, 75: "8*", 76: "844888", 77: "88", 78: "88s", 79: "888888", 82: "",
}
IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCH, UREGS, USTACK, WEIGHT, SRC, IDENT, TRANS, \
    IREGS, PHYS, AUX, CGROUP, DPAGE, CPAGE, WSTRUCT = (1 << i for i in range(25))


def rev(b):
    return bytes(reversed(b))


def words(b, size=8):
    return b"".join(rev(b[i:i + size]) for i in range(0, len(b), size))


def shaped(body, shape):
    out, p, size = b"", 0, 0
    for c in shape:
        if c == "s":
            break
        if c == "*":
            while p + size <= len(body):
                out += rev(body[p:p + size])
                p += size
            break
        size = int(c)
        out += rev(body[p:p + size])
        p += size
    return out + body[p:]


def swap_attr(a):
    """Flags are bitfields: they count from the other end, precise_ip being two bits wide."""
    out = shaped(a[:40], "44888" "8")
    flags = struct.unpack("<Q", a[40:48])[0]
    big, at = 0, 63
    i = 0
    while i < 64:
        width = 2 if i == 15 else 1
        value = flags >> i & ((1 << width) - 1)
        big |= value << (at - width + 1)
        at -= width
        i += width
    out += struct.pack(">Q", big)
    return out + shaped(a[48:], "44888" "844" "842244" "8888")


def tail_shape(attr):
    """Sizes of the trailer's parts, from its start."""
    st = struct.unpack("<Q", attr[24:32])[0]
    if not struct.unpack("<Q", attr[40:48])[0] >> 18 & 1:
        return ""
    shape = ""
    for bit, part in ((TID, "44"), (TIME, "8"), (ID, "8"), (STREAM, "8"), (CPU, "44"), (IDENT, "8")):
        shape += part if st & bit else ""
    return shape


def swap_sample(body, attr):
    st, rf = struct.unpack("<QQ", attr[24:40])
    regs_user, = struct.unpack("<Q", attr[80:88]) if len(attr) >= 88 else (0,)
    regs_intr, = struct.unpack("<Q", attr[96:104]) if len(attr) >= 104 else (0,)
    out, p = b"", 0

    def take(shape):
        nonlocal out, p
        n = sum(int(c) for c in shape)
        out += shaped(body[p:p + n], shape)
        p += n

    def peek():
        return struct.unpack("<Q", body[p:p + 8])[0]

    for bit, shape in ((IDENT, "8"), (IP, "8"), (TID, "44"), (TIME, "8"), (ADDR, "8"), (ID, "8"), (STREAM, "8"),
                       (CPU, "44"), (PERIOD, "8")):
        if st & bit:
            take(shape)
    if st & READ:
        nr = peek() if rf & 8 else 1
        each = 1 + bool(rf & 4) + bool(rf & 16)
        take("8" * (bool(rf & 8) + bool(rf & 1) + bool(rf & 2) + nr * each))
    if st & CHAIN:
        take("8" * (1 + peek()))
    assert not st & (RAW | BRANCH | AUX)
    if st & UREGS:
        take("8" * (1 + (bin(regs_user).count("1") if peek() else 0)))
    if st & USTACK:
        n = peek()
        take("8")
        if n:
            out += body[p:p + n]
            p += n
            take("8")
    for bit in (WEIGHT | WSTRUCT, SRC, TRANS):
        if st & bit:
            take("8")
    if st & IREGS:
        take("8" * (1 + (bin(regs_intr).count("1") if peek() else 0)))
    for bit in (PHYS, CGROUP, DPAGE, CPAGE):
        if st & bit:
            take("8")
    return out + words(body[p:])


def swap_string(b, p):
    n, = struct.unpack_from("<I", b, p)
    return struct.pack(">I", n) + b[p + 4:p + 4 + n], p + 4 + n


def swap_feature(bit, b):
    if bit in STRINGS:
        return swap_string(b, 0)[0]
    if bit == 7:
        return words(b, 4)
    if bit in (10, 21):
        return words(b)
    if bit == 11 or bit == 17:
        n, = struct.unpack_from("<I", b)
        out, p = struct.pack(">I", n), 4
        for _ in range(n):
            text, p = swap_string(b, p)
            out += text
            if bit == 17:
                out += words(b[p:p + 8], 4)
                p += 8
        return out
    if bit == 2:
        out, p = b"", 0
        while p < len(b):
            kind, misc, size = struct.unpack_from("<IHH", b, p)
            out += struct.pack(">IHH", kind, misc, size) + rev(b[p + 8:p + 12]) + b[p + 12:p + size]
            p += size
        return out
    n, size = struct.unpack_from("<II", b)
    out, p = struct.pack(">II", n, size), 8
    for _ in range(n):
        out += swap_attr(b[p:p + size])
        p += size
        ids, = struct.unpack_from("<I", b, p)
        text, q = swap_string(b, p + 4)
        out += struct.pack(">I", ids) + text + words(b[q:q + ids * 8])
        p = q + ids * 8
    return out


def swap_file(source, target):
    d = open(source, "rb").read()
    h = list(struct.unpack_from("<13Q", d))
    attr_size, attrs_at, attrs_n, data_at, data_n = h[2], h[3], h[4], h[5], h[6]
    out = bytearray(d[:data_at])
    attrs = []
    ids = {}
    for p in range(attrs_at, attrs_at + attrs_n, attr_size):
        attr = d[p:p + attr_size - 16]
        ids_at, ids_n = struct.unpack_from("<QQ", d, p + attr_size - 16)
        out[p:p + attr_size] = swap_attr(attr) + struct.pack(">QQ", ids_at, ids_n)
        out[ids_at:ids_at + ids_n] = words(d[ids_at:ids_at + ids_n])
        for i in struct.unpack_from(f"<{ids_n // 8}Q", d, ids_at):
            ids[i] = attr
        attrs.append(attr)

    def of_sample(body):
        st = struct.unpack("<Q", attrs[0][24:32])[0]
        if len(attrs) == 1:
            return attrs[0]
        if st & IDENT:
            at = 0
        else:
            at = 8 * sum(bool(st & bit) for bit in (IP, TID, TIME, ADDR))
        return ids.get(struct.unpack_from("<Q", body, at)[0], attrs[0])

    p = data_at
    while p < data_at + data_n:
        kind, misc, size = struct.unpack_from("<IHH", d, p)
        body = d[p + 8:p + size]
        shape = SHAPES.get(kind)
        if kind == 9:
            body = swap_sample(body, of_sample(body))
        elif kind == 10 and misc & 1 << 14:
            tail = tail_shape(attrs[0])
            n = sum(int(c) for c in tail)
            mid = body[:len(body) - n]
            body = shaped(mid[:32], "44888") + mid[32:56] + shaped(mid[56:64], "44") + mid[64:] + \
                shaped(body[len(body) - n:], tail)
        elif shape is not None:
            tail = tail_shape(attrs[0]) if kind < 64 else ""
            n = sum(int(c) for c in tail)
            body = shaped(body[:len(body) - n], shape) + shaped(body[len(body) - n:], tail)
        if kind in SHAPES and shape is None:  # not needed to read the file: an empty round instead
            kind, body = 82, body
        out += struct.pack(">IHH", kind, misc, size) + body
        p += size
    bits = [b for b in range(64) if h[9] >> b & 1]
    table, blob = b"", b""
    kept = [b for b in bits if b in KEPT]
    at = data_at + data_n + 16 * len(kept)
    for b in kept:
        off, n = struct.unpack_from("<QQ", d, data_at + data_n + 16 * bits.index(b))
        text = swap_feature(b, d[off:off + n]) if n else b""
        table += struct.pack(">QQ", at + len(blob), len(text))
        blob += text
    h[9] = sum(1 << b for b in kept)
    out[:104] = struct.pack(">13Q", *h)
    out[:8] = rev(d[:8])
    open(target, "wb").write(bytes(out) + table + blob)
