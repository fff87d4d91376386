/* SPDX-License-Identifier: MIT */
/*
 * Unpacking into memory. -ENOTSUP: kymo was built without that. perf.data's compressed records,
 * which are read while they are unpacked, have a reader of their own (store/perfdata/unzip.c).
 */
#pragma once

#include <stddef.h>

#include "base/budget.h"

enum unpack_kind { UNPACK_ZLIB, UNPACK_ZSTD, UNPACK_GZIP, UNPACK_XZ };

/*
 * What says how large it is, of the first two kinds: 0 when size bytes came out, -EBADMSG when
 * others did. Which sizes are believed, and what may be taken for them, is up to the caller.
 */
int unpack_exactly(enum unpack_kind kind, const void *in, size_t n, void *out, size_t size);

/*
 * A stream of unknown size, of the last three kinds. Memory is taken from the budget as data comes
 * out: -EFBIG and -ETIME, with e filled as budget_take() does, or when there is more than limit.
 * 1: it is damaged or cut, and this is what came before. *ret, else NULL, is the caller's to free.
 */
int unpack_stream(enum unpack_kind kind, const void *in, size_t n, size_t limit, struct budget *b,
		  const char *what, uint8_t **ret, size_t *size, struct err *e);
