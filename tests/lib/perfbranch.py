# SPDX-License-Identifier: MIT
"""Give the samples of a perf.data file branch records, for machines whose CPU has none.

    perfbranch.add("in.data", "out.data")

The file must have one event and no chains, raw data or registers. Each sample gets branches that lead from the address of the sample
before to its own; the flags go through all combinations. Features (names, build-ids) are left out.
"""
import struct

BRANCH_STACK = 1 << 11


def add(path, out):
    b = open(path, "rb").read()
    magic, size, attr_size, attrs, attrs_size, data, data_size = struct.unpack_from("<7Q", b, 0)
    attr = bytearray(b[attrs:attrs + attr_size - 16])
    ids_at, ids_size = struct.unpack_from("<2Q", b, attrs + attr_size - 16)
    sample_type, = struct.unpack_from("<Q", attr, 24)
    struct.pack_into("<Q", attr, 24, sample_type | BRANCH_STACK)
    struct.pack_into("<Q", attr, 72, 1 << 3)  # branch_sample_type: any
    ip_at = 16 if sample_type & (1 << 16) else 8  # behind the identifier
    records, ips, n, at = [], [], 0, data
    while at + 8 <= data + data_size:
        kind, misc, length = struct.unpack_from("<IHH", b, at)
        body = b[at:at + length]
        if kind == 9:
            ip, = struct.unpack_from("<Q", body, ip_at)
            ips.append(ip)
            branches = [(ips[-k - 1], ips[-k], flags(n + k)) for k in (1, 2, 3) if k < len(ips)]
            body = bytearray(body) + struct.pack("<Q", len(branches)) + b"".join(struct.pack("<3Q", *x) for x in branches)
            struct.pack_into("<H", body, 6, len(body))
            n += 1
        records.append(bytes(body))
        at += length
    ids = b[ids_at:ids_at + ids_size]
    new_data = b"".join(records)
    head = 104
    attrs_at = head + len(ids)
    data_at = attrs_at + attr_size
    header = struct.pack("<9Q", magic, head, attr_size, attrs_at, attr_size, data_at, len(new_data), 0, 0) + bytes(32)
    with open(out, "wb") as f:
        f.write(header + ids + bytes(attr) + struct.pack("<2Q", head, len(ids)) + new_data)


def flags(n):
    mispredicted, in_tx, abort = n % 3 == 0, n % 5 == 0, n % 7 == 0
    return mispredicted | (not mispredicted) << 1 | in_tx << 2 | abort << 3 | (n % 4) << 4
