# SPDX-License-Identifier: MIT
"""Stacks of a recording with their shares, as the tests of languages and of JITs look at them."""
from tap import kymo


def stacks(recording):
    """[(percent, [outermost function, ...])]"""
    found = []
    for line in kymo(f"report -i {recording} --stdio -g folded,0,caller --no-children -s comm").out.splitlines():
        words = line.split(" ", 1)
        if words[0].endswith("%") and len(words) == 2 and words[0][0].isdigit():
            found.append((float(words[0][:-1]), words[1].split(";")))
    return found


def share(found, *wanted):
    """% of stacks that have these names, in this order from the outermost on."""
    def has(stack):
        names = iter(stack)
        return all(any(w in n for n in names) for w in wanted)
    return sum(p for p, stack in found if has(stack))
