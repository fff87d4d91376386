#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# lane: any
"""Programs of other languages: names as their authors wrote them, and stacks from the first function on, whatever
the compiler does about frame pointers. Each is skipped where its compiler is missing."""
import os
import shutil
import subprocess
import tempfile

from stacks import share, stacks
from tap import check, end, kymo, skip

folder = tempfile.mkdtemp(prefix="kymo-languages-")
# Go compiles its own library once, and keeps it where it always does
os.environ.setdefault("GOCACHE", os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "go-build"))
os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")

RUST = """
use std::hint::black_box;
mod shapes {
    pub trait Area { fn area(&self, n: u64) -> f64; }
    pub struct Square(pub f64);
    impl Area for Square {
        #[inline(never)]
        fn area(&self, n: u64) -> f64 { let mut s = self.0; for i in 0..n { s = (s * 1.0000001 + i as f64).sqrt(); } s }
    }
}
#[inline(never)]
fn total<T: shapes::Area>(t: &T, n: u64) -> f64 { let mut x = 0.0; for _ in 0..64 { x += black_box(t.area(n)); } x }
fn main() {
    let f = |n: u64| total(&shapes::Square(2.0), n) + 1.0;
    let mut x = 0.0;
    for i in 0..ROUNDS { x += black_box(&f)(2000 + (i & 1)); }
    println!("{}", x);
}
"""
GO = """
package main

import "fmt"

type Square struct{ side float64 }

//go:noinline
func (s *Square) Area(n int) float64 {
	x := s.side
	for i := 0; i < n; i++ {
		x = x*0.999 + float64(i)
	}
	return x
}

//go:noinline
func total(s *Square, n int) float64 {
	t := 0.0
	for i := 0; i < 64; i++ {
		t += s.Area(n)
	}
	return t
}

func main() {
	t := 0.0
	for i := 0; i < ROUNDS; i++ {
		t += total(&Square{2}, 2000)
	}
	fmt.Println(t)
}
"""
GARBAGE = """
package main

import "fmt"

type node struct{ left, right *node }

//go:noinline
func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func main() {
	n := 0
	for i := 0; i < ROUNDS/5; i++ {
		if tree(13).left != nil {
			n++
		}
	}
	fmt.Println(n)
}
"""
CXX = """
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>
namespace shapes {
template <class T> struct Square {
	T side;
	__attribute__((noinline)) T area(long n) const { T s = side; for (long i = 0; i < n; i++) s = std::sqrt(s * T(1.0001) + T(i)); return s; }
};
}
template <class F> __attribute__((noinline)) double total(F f, long n) { double x = 0; for (int i = 0; i < 64; i++) x += f(n); __asm__ volatile("" ::: "memory"); return x; }
int main() {
	shapes::Square<double> s{2};
	double x = 0;
	for (long i = 0; i < ROUNDS; i++) x += total([&](long n) { return s.area(n); }, 2000);
	std::printf("%g\\n", x);
}
"""


GO_ENV = {"GO111MODULE": "off", "GOFLAGS": "", "CGO_ENABLED": "0"}


def recorded(argv):
    """Stacks of a recorded program, outermost function first, with their shares; None when it cannot be recorded."""
    out = os.path.join(folder, "r.data")
    r = kymo(["record", "-F", "997", "-g", "-o", out, "--", *argv], timeout=120)
    if r.code:
        return None
    return stacks(out)


def through_runtime(what):
    """Go's runtime works on another stack: from there the walk comes back to the goroutine that asked for it."""
    found = stacks(os.path.join(folder, "r.data"))
    starts = ("runtime.goexit", "runtime.mstart", "runtime.rt0_go", "runtime.mcall", "_rt0", "runtime.systemstack")
    began = sum(p for p, s in found if s and s[0].startswith(starts))
    asked = sum(p for p, s in found if any(f.startswith("runtime.systemstack") for f in s))
    lost = sum(p for p, s in found if s and (s[0].startswith("runtime.systemstack") or "unknown" in s[0]))
    every = sum(p for p, s in found)
    text = "\n".join(f"{p} {';'.join(s)}" for p, s in sorted(found, reverse=True)[:12])
    check(f"{what}: stacks begin where Go's do", began > 0.9 * every, f"{began} of {every} %\n{text}")
    check(f"{what}: and go on from the runtime's stack", asked > 0 and lost < 0.3 * asked, f"{lost} of {asked} %\n{text}")


def language(what, compiler, source, name, build, wanted, env=None, also=None, least=80):
    if not shutil.which(compiler):
        return skip(what, f"no {compiler}")
    with open(os.path.join(folder, name), "w") as f:
        f.write(source.replace("ROUNDS", "3000"))
    b = subprocess.run(build, cwd=folder, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if b.returncode:
        return skip(what, "cannot be built here: " + b.stderr.strip()[-200:])
    found = recorded([os.path.join(folder, "prog")])
    if found is None:
        return skip(what, "cannot record here")
    check(f"{what}: functions by their names, callers up to the start", share(found, *wanted) > least,
          f"{wanted}: {share(found, *wanted)} %\n" + "\n".join(f"{p} {';'.join(s)}" for p, s in found[:8]))
    if also:
        also(what)
    os.remove(os.path.join(folder, "prog"))


try:
    for cc in ("g++", "clang++"):
        language(f"C++, {cc}", cc, CXX, "p.cc", [cc, "-O2", "-fomit-frame-pointer", "-o", "prog", "p.cc"],
                 ("_start", "main", "total<main::", "shapes::Square<double>::area"))
    for mangling in ("legacy", "v0"):
        language(f"Rust, {mangling} names", "rustc", RUST, "p.rs",
                 ["rustc", "-O", "-C", f"symbol-mangling-version={mangling}", "-Z", "unstable-options", "-o", "prog", "p.rs"],
                 ("_start", "p::main", "p::total", "p::shapes::Area>::area"), env={"RUSTC_BOOTSTRAP": "1"})
    language("Go", "go", GO, "p.go", ["go", "build", "-o", "prog", "p.go"], ("runtime.main", "main.main", "main.total", "main.(*Square).Area"),
             env=GO_ENV)
    # without debug info Go's own tables tell; frame pointers alone miss the innermost function's caller
    language("Go, -w", "go", GO, "p.go", ["go", "build", "-ldflags=-w", "-o", "prog", "p.go"],
             ("runtime.main", "main.main", "main.total", "main.(*Square).Area"), env=GO_ENV)
    # and name what has no symbol table at all
    language("Go, -s", "go", GO, "p.go", ["go", "build", "-ldflags=-s -w", "-o", "prog", "p.go"],
             ("runtime.main", "main.main", "main.total", "main.(*Square).Area"), env=GO_ENV)
    for flags in ("", "-s -w"):
        language(f"Go, collecting garbage{' ' + flags if flags else ''}", "go", GARBAGE, "p.go",
                 ["go", "build", f"-ldflags={flags}", "-o", "prog", "p.go"], ("main.main", "main.tree"), env=GO_ENV, least=20, also=through_runtime)
finally:
    shutil.rmtree(folder)
end()
