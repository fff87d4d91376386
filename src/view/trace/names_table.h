/* SPDX-License-Identifier: MIT */
/* How the tables of names are written down. For them alone: the names are short. */
#pragma once

#include "view/trace/names.h"

#define NAMED(text, value, mask)                          \
	{                                                 \
		text, (uint64_t)(value), (uint64_t)(mask) \
	}
/* A bit or some, a value among those of a mask, a value by itself, and the name of none. */
#define B(x) NAMED(#x, x, x)
#define M(x, mask) NAMED(#x, x, mask)
#define V(x) NAMED(#x, x, UINT64_MAX)
#define Z(x) NAMED(#x, 0, UINT64_MAX)
/* Those that headers may lack. */
#define NB(x, value) NAMED(#x, value, value)
#define NM(x, value, mask) NAMED(#x, value, mask)
#define N(x, value) NAMED(#x, value, UINT64_MAX)
#define SET(name, ...)                                 \
	{                                              \
		name, (const struct trace_name[])      \
		{                                      \
			__VA_ARGS__, NAMED(NULL, 0, 0) \
		}                                      \
	}
