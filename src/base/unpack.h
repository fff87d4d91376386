/* SPDX-License-Identifier: MIT */
/*
 * Unpacking what says how large it is. Which sizes are believed, and what may be taken for them
 * (base/budget.h), is up to the caller. Streams of unknown size are unpacked where they are read
 * (base/tar.c, store/text/pprof.c, sym/elf/unpack.c, store/perfdata/unzip.c).
 */
#ifndef KYMO_BASE_UNPACK_H
#define KYMO_BASE_UNPACK_H

#include <stddef.h>

enum unpack_kind { UNPACK_ZLIB, UNPACK_ZSTD };

/* 0 when size bytes came out; -EBADMSG: others did; -ENOTSUP: kymo was built without that. */
int unpack_exactly(enum unpack_kind kind, const void *in, size_t n, void *out, size_t size);

#endif
