/* SPDX-License-Identifier: MIT */
/*
 * Mangled names to what the programmer wrote: C++, Rust (legacy and v0), OCaml.
 *
 * Results equal perf's (which shows no parameters unless verbose) and, with
 * DEMANGLE_PARAMS, c++filt's. Anything else is not touched. Names come from
 * files: length, recursion and output are bounded, and what goes over is shown
 * as it is. All functions may be called from any thread.
 */
#pragma once

#include "base/str.h"

#define DEMANGLE_PARAMS 1u /* with parameters, return types and [clone .cold] */

/* Append the readable form to b. False, with b as before, when name is not mangled. */
bool demangle(const char *name, unsigned flags, struct strbuf *b);

/* The readable form in memory the caller frees, or NULL when name is not mangled. */
char *demangle_dup(const char *name, unsigned flags);

/*
 * Whether a programmer calls it that: ns::Foo::run, Foo::run, run<int>, with parameters
 * ns::over(int), or a pattern of the whole. False when name is not mangled.
 */
bool demangle_fits(const char *name, const char *want);
/* Whether want is such a name, and not one that a symbol can have. */
bool demangle_is_written(const char *want);

/* Quick: whether it looks mangled, so that demangle() is worth calling. */
bool demangle_likely(const char *name);
