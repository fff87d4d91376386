#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""The -e grammar against perf's: the same names and the same perf_event_attr.

perf prints what it opens with -vv. Both are pointed at the same captured sysfs trees (perf and kymo
honour SYSFS_PATH), so that PMUs this machine does not have are compared too.
"""
import json
import os
import re
import shutil

from tap import check, end, kymo, run, same, skip

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data")
TREES = {t: os.path.join(DATA, "sysfs-" + t) for t in ("intel", "hybrid", "arm")}

# What differs on purpose, and why. "name": only the name; "attr": kymo's numbers; "accept": perf refuses it.
KNOWN = {
    "intel": {
        "clockticks": ("name", "perf adds up memory controllers and caches; kymo keeps families of PMUs apart"),
        "cpu/cycles/": ("accept", "newer perfs take it too"),
        "cpu/event=1,event=2/": ("attr", "perf mixes the bits of both values (3); in kymo the last one counts"),
        "cpu/ldlat=30,mem-loads/": ("attr", "perf mixes the bits of 30 and the event's own 3"),
        "cpu/mem-loads,ldlat=30/": ("attr", "perf mixes the bits of 30 and the event's own 3"),
        "cpu/mem-loads,ldlat=30/ppu": ("attr", "perf mixes the bits of 30 and the event's own 3"),
        "intel_pt//": ("attr", "perf adds intel_pt's defaults, which recording it needs"),
        "mem-loads/ldlat=50/": ("attr", "perf mixes the bits of 50 and the event's own 3"),
        "uncore_imc*/clockticks/": ("accept", "a pattern for PMUs"),
        "uncore_imc/event=4,umask=3,name=rd/": ("accept", "perf takes 'rd' for a raw number"),
    },
    "hybrid": {
        "cpu_core/L1-dcache-loads/k": ("accept", "perf tries to open it while it parses, and has no such CPU here"),
        "cpu_core/LLC-loads/": ("accept", "perf tries to open it while it parses, and has no such CPU here"),
        "cpu_core/cycles/u": ("name", "perf loses the modifier"),
        "cycles/name=x/": ("name", ""),
        "cycles/period=5/": ("name", "perf shows cpu_core/period=5/, without the event"),
        "cycles:u": ("name", "perf shows cpu_core/cycles:u/, which is no -e text"),
        "r3c:u": ("name", "perf shows cpu_core/r3c:u/, which is no -e text"),
    },
    "arm": {
        "arm_spe_0/inv_event_filter=1/": ("accept", "perf 6.1 has no config3"),
    },
    "live": {
        " cycles": ("name", "perf keeps the blank"),
        "cs:u ": ("name", "perf keeps the blank"),
        "cycles , cs": ("name", "perf keeps the blanks"),
        "cs//:u": ("accept", "means what it says"),
        "cs/period=1/:u": ("accept", "means what it says"),
        "{ cs , faults }": ("name", "perf keeps the blanks"),
        "L1-d": ("accept", "upper and lower case are the same in the cache matrix"),
        "llc-loads": ("accept", "upper and lower case are the same in the cache matrix"),
        "mem:0x1000/1:rw": ("name", "perf shows mem:0x1000"),
        "mem:0x1000/8:w:pp": ("name", "perf shows mem:0x1000"),
        "mem:0x1000/8:w:u": ("name", "perf shows mem:0x1000"),
        "mem:4096/2": ("name", "perf shows mem:4096"),
        "s*:sched_switch": ("accept", "perf wants a match in every subsystem that matches"),
        "*:*sched_switch": ("accept", "perf wants a match in every subsystem that matches"),
        "sched:sched_[sw]witch": ("accept", "kymo knows all of a shell's patterns"),
        "sched:sched_switch/name=x/": ("accept", "perf allows no name for tracepoints"),
        "sched:sched_switch//:u": ("accept", "means what it says"),
        "duration_time/name=x/": ("accept", "perf allows no terms for tool events"),
        "branches-load": ("accept", "branches is one of the names of the branch cache"),
    },
}

HARDWARE = ["cycles", "cpu-cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-instructions",
            "branch-misses", "bus-cycles", "ref-cycles", "stalled-cycles-frontend", "idle-cycles-frontend",
            "stalled-cycles-backend", "idle-cycles-backend"]
SOFTWARE = ["cpu-clock", "task-clock", "page-faults", "faults", "minor-faults", "major-faults", "context-switches", "cs",
            "cpu-migrations", "migrations", "alignment-faults", "emulation-faults", "dummy", "bpf-output",
            "cgroup-switches", "duration_time", "user_time", "system_time"]
CACHES = [f"{c}{o}{r}" for c in ("L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node")
          for o in ("-load", "-store", "-prefetch") for r in ("", "s" if o != "-prefetch" else "es", "-misses")]
CACHE_WORDS = ["L1-dcache", "L1-d", "l1d", "L1-data", "l1-d-loads", "L1-icache", "l1i-prefetches", "L1-instruction-ops",
               "L1-dcache-misses", "L1-dcache-loads-misses", "L1-dcache-load-refs", "L1-dcache-refs-load", "L2-stores",
               "L1-dcache-misses-load", "LLC", "llc-loads", "Data-TLB-speculative-read", "d-tlb-stores", "dTLB-write-miss",
               "i-tlb-access", "Instruction-TLB-read", "branch", "bpu-loads", "btb", "bpc-load-miss", "branch-miss",
               "branches-load", "node", "node-speculative-load", "L1-dcache-Reference", "L1-dcache -load", "LLC:u",
               "LLC-load-misses:ppk", "L1-dcache-load-misses//u", "L1-dcache-load-misses-x", "L1-dcache-load-store-load"]
MODIFIERS = ["u", "k", "h", "uk", "ku", "kh", "uh", "ukh", "G", "H", "GH", "uG", "Gu", "kG", "uH", "p", "pp", "ppp", "pppp",
             "P", "uP", "pG", "Gp", "ppu", "S", "D", "uD", "I", "Ip", "uI", "W", "e", "b", "ukhGHpppPSDIWeb", "", "uu", "x",
             "u u", "kk", "ux"]
LIVE = [" cycles", "cycles , cs", "cs:u ", "cs: u", "cycles,,cs", ",cs", "cs,", "", " ", "cs::", "cs/", "cs//", "cs//u",
        "cs//:u", "cs/period=1/:u", "{cs,faults}", "{cs,faults}:u", "{cs:k,faults}:u", "{cs:u,faults:k}:S", "g{cs,faults}",
        "{cs,faults}:SD", "{cs}:e", "{cs,{faults}}", "cs}", "{}", "{cs,faults:D}", "{cs:D,faults}", "{cs:e,faults}:D",
        "{cs:p,faults}:pp", "{cs:G,faults}:H", "{cs:u,faults}:G", "{cs,faults}:G", "{ cs , faults }", "{cs,faults} :u",
        "{cs,faults}u", "{cs},{faults}", "{cs,faults}}", "{cs,}", "{,cs}", "{cs,,faults}", "a b{cs}",
        "1:3", "1:0x3:u", "0:0", "3:0x10002", "99:1", "1:", "1", ":1", "2:1", "r1", "r1:u", "r13C", "r", "rg",
        "r1234567890abcdef", "r1234567890abcdef1", "r 1", "sched:sched_switch", "sched:sched_switch:u",
        "sched:sched_switch//u", "sched:sched_switch//:u", "sched:sched_switch:", "sched:sched_switch:x", "sched:sched_sw*:u",
        "sched:sched_sw*", "sch?d:sched_switch", "sched:*foo", "s*:sched_switch", "*:*sched_switch", "sched:sched_[sw]witch",
        "sched:nosuch", "nosuch:x", "nosuch", "sched :sched_switch", "sched: sched_switch", "{sched:sched_sw*}:S",
        "sched:sched_switch,cs", "sched:sched_switch/name=x/", "sched:sched_switch/nosuch/", "sched:*", "irq:*",
        "mem:0x1000", "mem:0x1000:u", "mem:0x1000:rw", "mem:0x1000:wr", "mem:0x1000:x", "mem:0x1000:k", "mem:0x1000:r:uk",
        "mem:0x1000/8:w:u", "mem:0x1000/1:rw", "mem:0x1000/8:w:pp", "mem:4096/2", "mem:0", "mem:0x1000:rwx", "mem:0x1000:rr",
        "mem:0x1000::u", "mem:0xZ", "mem:", "mem:0x1000/", "mem: 0x1000", "Cycles", "CYCLES", "cycle",
        "cs/name=foo/", "cs/name=foo/u", "cs/foo=1/", "cs/foo/", "cs/config=2/", "cs/config1=1/", "r1/config1=1/",
        "r1/name=x/", "L1-dcache-loads/name=x/", "1:3/name=foo/", "cs/name=/", "software/config=1/", "msr/tsc/", "msr/tsc/u",
        "msr/event=0,name=foo/", "tsc", "tsc:u", "duration_time:u", "{duration_time,cs}", "duration_time/name=x/",
        "nosuch/event=1/", "nosuch//"]
INTEL = ["cpu/event=0x3c,umask=0x1,name=foo/", "cpu/event=0x3c,any/", "cpu/mem-loads/", "cpu/mem-loads,ldlat=30/",
         "cpu/mem-loads,ldlat=30/ppu", "cpu/ldlat=30,mem-loads/", "mem-loads/ldlat=50/", "cpu/r13c/", "cpu/config=0x13c/",
         "cpu/config=0x13c,config1=7,config2=8/u", "cpu/event=60/", "cpu/event=0x1ff/", "cpu/event=3c/", "cpu/event=/",
         "cpu/event/", "cpu/evnt=1/", "cpu/umask=0x100/", "cpu/event=1,event=2/", "cpu/name=foo/",
         "cpu/event=1,name='a:b,c'/", "cpu/event=1,name=a-b/", "cpu/event=1,name=a.b/", "cpu/mem-loads/mem/", "cpu/MEM-LOADS/",
         "cpu/Event=1/", "MEM-LOADS", "cpu/instructions/", "instructions", "cpu-cycles", "cpu/cpu-cycles/", "cpu/cycles/",
         "topdown-total-slots", "topdown-nosuch", "tx-abort", "tx-start:u", "slots", "uncore_imc_0/cas_count_read/",
         "uncore_imc/cas_count_read/", "imc/clockticks/", "uncore_imc/event=4,umask=3,name=rd/", "uncore_imc*/clockticks/",
         "uncore_im/clockticks/", "uncore_cbox_0/filter_state=0x1f/", "uncore_cbox_0/filter_state=0x20/", "intel_pt//",
         "intel_pt", "msr", "cpu", "power/energy-pkg/", "power/energy-pkg/u", "energy-pkg", "i915_0000/rc6-residency/",
         "i915/rc6-residency/", "cpu/any=0,event=1/", "cpu/event=0x3c", "cpu/event=0x3c,/", "cpu/,event=0x3c/",
         "cpu/event = 0x3c/", "cpu/ event=0x3c /", "cpu/event=0x3c/ u", "{cpu/event=0x3c/,instructions}:S", "cpu/event=-1/",
         "cpu/cycles-ct/", "cycles-ct", "cycles-t:p", "cpu/event=0x3c/uk", "cpu/event=0x3c/x", "cpu /event=1/",
         "cpu/frontend=0xffffff/", "cpu/offcore_rsp=0xffffffffffffffff/", "cpu/offcore_rsp=0x1ffffffffffffffff/", "cpu/inv=2/",
         "cpu/event=1,percore/", "cpu/mem-loads,mem-stores/", "cpu/event=0x3c,umask=0xZ/", "cpu//", "cpu//u", "cas_count_read",
         "clockticks", "c3-residency", "mem-loads:p", "mem-stores", "kprobe//", "kprobe/retprobe/", "tsc/name=x/",
         "cstate_core/c6-residency/", "msr/smi,name=foo/"]
HYBRID = ["cycles", "cycles:u", "cpu-cycles", "instructions", "r3c", "r3c:u", "cpu_core/cycles/", "cpu_core/cycles/u",
          "cpu_atom/instructions/", "cpu_core/cpu-cycles/", "cpu_core/r3c/", "cpu_core/LLC-loads/",
          "cpu_core/L1-dcache-loads/k", "cpu_core/event=0x3c,umask=1/", "cpu/event=0x3c/", "cs", "cycles/period=5/",
          "cycles/name=x/", "topdown-bad-spec", "slots", "mem-loads", "mem-loads-aux"]
ARM = ["cycles", "armv8_pmuv3_0/cpu_cycles/", "armv8_pmuv3/cpu_cycles/", "cpu_cycles", "r11", "armv8_pmuv3_0/event=0x11,long=1/",
       "arm_spe_0/ts_enable=1,event_filter=2,min_latency=5/", "arm_spe_0/inv_event_filter=1/", "inst_retired:u"]
# Terms that only recording has: name in kymo's --parse, and what perf calls it in the attr.
RECORD = {
    "cs/period=5/": {"{ sample_period, sample_freq }": "5"},
    "cs/period=0x10/": {"{ sample_period, sample_freq }": "16"},
    "cs/freq=5/": {"{ sample_period, sample_freq }": "5", "freq": "1"},
    "cs/period=5,freq=6/": {"{ sample_period, sample_freq }": "6", "freq": "1"},
    "cs/call-graph=dwarf,stack-size=100/": {"sample_stack_user": "104"},
    "cs/max-stack=10,call-graph=fp/": {"sample_max_stack": "10"},
    "cs/overwrite/": {"write_backward": "1"},
    "cs/no-overwrite/": {},
    "cs/aux-output/": {"aux_output": "1"},
    "sched:sched_switch/max-stack=3,overwrite/u": {"sample_max_stack": "3", "write_backward": "1"},
}
RECORD_KEYS = {"period": "{ sample_period, sample_freq }", "freq": "{ sample_period, sample_freq }",
               "stack-size": "sample_stack_user", "max-stack": "sample_max_stack", "overwrite": "write_backward",
               "aux-output": "aux_output"}

KEYS = ["type", "config", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle", "exclude_host", "exclude_guest",
        "precise_ip", "pinned", "exclusive", "config1", "config2", "bp_type"]


def blocks(text):
    """The perf_event_attr blocks, without perf's second tries."""
    found, cur, again = [], None, False
    for line in text.splitlines():
        if line.startswith("perf_event_attr:"):
            cur = {}
        elif line.startswith("-----") and cur is not None:
            if not again:
                found.append(cur)
            cur, again = None, False
        elif cur is not None:
            m = re.match(r"  (.*?)\s{2,}(\S.*)$", line)
            if m:
                cur[m[1].strip()] = m[2]
        elif line.startswith(("switching off", "decreasing", "Warning: precise")):
            again = True
    return found


def number(s):
    return int(s, 16) if s.startswith("0x") else int(s)


def perf_attr(b):
    out = {k: number(b[k]) for k in KEYS if k in b}
    out["config1"] = number(b.get("{ bp_addr, config1 }", "0"))
    out["config2"] = number(b.get("{ bp_len, config2 }", "0"))
    return {k: v for k, v in out.items() if v}


def kymo_attr(s):
    out = {k: s[k] for k in KEYS if k in s}
    out["config1"] = s.get("bp_addr", s.get("config1", 0))
    out["config2"] = s.get("bp_len", s.get("config2", 0))
    return {k: v for k, v in out.items() if v}


def compare(tree, text):
    env = {"SYSFS_PATH": TREES[tree]} if tree in TREES else {}
    what, why = KNOWN[tree].get(text, ("", ""))
    label = f"{tree}: {text!r}" + (f" (differs on purpose: {why})" if what else "")
    p = run(["perf", "stat", "-vv", "-x", "|", "-e", text, "true"], env=env)
    k = kymo(["list", "--parse", text, "-j"], env=env)
    attrs = blocks(p.text)
    refused = "event syntax error" in p.text or not attrs
    if refused and not what:
        # perf takes a few texts that it then fails to open without a word about syntax
        check(f"{label}: refused by both", k.code == 1 and "^" in k.err, f"kymo: {k}\nperf: {p.err[-300:]}")
        return
    if refused:
        check(f"{label}: only kymo takes it", what == "accept" and k.code == 0, f"{k}\n{p.err[-300:]}")
        return
    if k.code:
        check(label, False, f"perf takes it: {p.err[-300:]}\n{k}")
        return
    specs = json.loads(k.out)
    got = sorted((kymo_attr(s) for s in specs), key=str)
    want = sorted((perf_attr(b) for b in attrs), key=str)
    stopped = "Error:" in p.text  # perf gives up at the first event that cannot be opened
    if what == "attr":
        check(f"{label}: numbers differ", got != want, f"both say {got}")
    elif stopped and len(want) < len(got):
        check(label, all(w in got for w in want), f"perf: {want}\nkymo: {got}")
    elif len(want) < len(got) and len({s.get('sum_of', i) for i, s in enumerate(specs)}) == 1:
        check(label, all(w in got for w in want), f"perf: {want}\nkymo: {got}")
    else:
        same(label, got, want)
    lines = [x.split("|") for x in p.err.splitlines() if x.count("|") >= 4]
    names = [x[2] for x in lines]
    if not names:
        return
    mine = [s["name"] for i, s in enumerate(specs) if s.get("sum_of", i) == i]
    if what == "name":
        check(f"{label}: names differ", mine != names, f"both say {mine}")
    else:
        same(f"{label}: name", sorted(mine), sorted(names))


def compare_record(text, want):
    p = run(["perf", "record", "-vv", "-o", "/dev/null", "-e", text, "true"])
    attr = next(iter(blocks(p.text)), {})
    k = kymo(["list", "--parse", text, "-j"])
    terms = json.loads(k.out)[0]["terms"] if k.code == 0 else {}
    mine = {RECORD_KEYS[t]: str(v) for t, v in terms.items() if t in RECORD_KEYS and v}
    if "freq" in terms:
        mine["freq"] = "1"
    same(f"record: {text}: perf", {key: attr.get(key) for key in want}, want)
    same(f"record: {text}: kymo", mine, want)


def order():
    """Patterns: the same set as perf's, sorted."""
    p = run(["perf", "stat", "-x", "|", "-e", "sched:*", "true"])
    k = json.loads(kymo(["list", "--parse", "sched:*", "-j"]).out)
    names = [s["name"] for s in k]
    same("sched:* has every name perf finds", set(names), {x.split("|")[2] for x in p.err.splitlines() if "|" in x})
    same("sched:* is sorted", names, sorted(names))


def main():
    if not shutil.which("perf"):
        skip("the grammar against perf's", "perf is not installed")
        end()
    for text in HARDWARE + SOFTWARE + CACHES + CACHE_WORDS + [f"cs:{m}" for m in MODIFIERS] + LIVE:
        compare("live", text)
    for tree, texts in (("intel", INTEL), ("hybrid", HYBRID), ("arm", ARM)):
        for text in texts:
            compare(tree, text)
    for text, want in RECORD.items():
        compare_record(text, want)
    order()
    for tree, known in KNOWN.items():
        texts = {"live": LIVE + CACHE_WORDS, "intel": INTEL, "hybrid": HYBRID, "arm": ARM}[tree]
        check(f"{tree}: every known difference is tested", set(known) <= set(texts), set(known) - set(texts))
    end()


main()
