# SPDX-License-Identifier: MIT
"""A cgroup of a test's own, where perf's events can be counted by it."""
import os


def make(name):
    """Its folder, to be removed; OSError where none can be made."""
    mounts = [x.split() for x in open("/proc/mounts")]
    v1 = [m[1] for m in mounts if m[2] == "cgroup" and "perf_event" in m[3].split(",")]
    v2 = [m[1] for m in mounts if m[2] == "cgroup2"]
    if not v1 + v2:
        raise FileNotFoundError("no hierarchy of cgroups is mounted")
    path = f"{(v1 + v2)[0]}/{name}-{os.getpid()}"
    os.mkdir(path)
    return path
