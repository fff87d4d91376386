/* SPDX-License-Identifier: MIT */
/* How the tables of names are written down. For them alone: the names are short. */
#ifndef KYMO_VIEW_TRACE_NAMES_TABLE_H
#define KYMO_VIEW_TRACE_NAMES_TABLE_H

#include "base/mem.h"
#include "view/trace/names.h"

/* A bit or some, a value among those of a mask, and the name of none. */
#define B(x)                                     \
	{                                        \
#		x, (uint64_t)(x), (uint64_t)(x) \
	}
#define M(x, m)                                  \
	{                                        \
#		x, (uint64_t)(x), (uint64_t)(m) \
	}
#define Z(x)                      \
	{                         \
#		x, 0, UINT64_MAX \
	}
/* A value by itself. */
#define V(x)                                  \
	{                                     \
#		x, (uint64_t)(x), UINT64_MAX \
	}
/* All of them. */
#define SET(name, list)                      \
	{                                    \
		name, list, ARRAY_SIZE(list) \
	}

#endif
