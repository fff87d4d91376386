# SPDX-License-Identifier: MIT
"""Reading protocol buffers by a table of their fields, to check what kymo wrote.

A table is {number: (name, kind)}; kind is "int" (64 bits, signed), "uint", "double", "str", "bytes", a table, or a list with
one of these for what is repeated (packed numbers, too). A field that the table does not have is an error.
"""
import struct


class Bad(Exception):
    pass


def varint(data, at):
    shift = value = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Bad("a number is cut or too long")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, wire type, value) one after the other."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            if at + 8 > len(data):
                raise Bad(f"field {number} is cut")
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
        elif wire == 2:
            n, at = varint(data, at)
            if at + n > len(data):
                raise Bad(f"field {number} is longer than the message")
            value, at = data[at:at + n], at + n
        else:
            raise Bad(f"field {number} has wire type {wire}")
        if number == 0:
            raise Bad("field 0")
        yield number, wire, value


def convert(kind, wire, value, name):
    if isinstance(kind, dict):
        return message(value, kind)
    if (kind in ("int", "uint")) != (wire == 0) or (kind == "double") != (wire == 1):
        raise Bad(f"{name} has wire type {wire}")
    if kind == "int":
        return value - (1 << 64) if value >> 63 else value
    return value.decode() if kind == "str" else value


def message(data, table):
    """A dict of the fields that are there; repeated ones are lists."""
    out = {name: [] for name, kind in table.values() if isinstance(kind, list)}
    for number, wire, value in fields(data):
        if number not in table:
            raise Bad(f"field {number} is not known among {sorted(n for n, _ in table.values())}")
        name, kind = table[number]
        if not isinstance(kind, list):
            if name in out:
                raise Bad(f"{name} stands twice")
            out[name] = convert(kind, wire, value, name)
        elif kind[0] in ("int", "uint") and wire == 2:
            at = 0
            while at < len(value):
                v, at = varint(value, at)
                out[name].append(convert(kind[0], 0, v, name))
        else:
            out[name].append(convert(kind[0], wire, value, name))
    return out
