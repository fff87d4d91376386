/* SPDX-License-Identifier: MIT */
#include "base/unpack.h"

#include <errno.h>
#include <stdbool.h>

#include "config.h"

#if HAVE_LIBDEFLATE
#	include <libdeflate.h>
#elif HAVE_ZLIB
#	include <zlib.h>
#endif
#if HAVE_ZSTD
#	include <zstd.h>
#endif

static int unpack_zlib(const void *in, size_t n, void *out, size_t size)
{
#if HAVE_LIBDEFLATE
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good;

	if (!d)
		return -ENOMEM;
	good = libdeflate_zlib_decompress(d, in, n, out, size, NULL) == LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(d);
	return good ? 0 : -EBADMSG;
#elif HAVE_ZLIB
	uLongf got = size;

	return uncompress(out, &got, in, n) == Z_OK && got == size ? 0 : -EBADMSG;
#else
	(void)in, (void)n, (void)out, (void)size;
	return -ENOTSUP;
#endif
}

static int unpack_zstd(const void *in, size_t n, void *out, size_t size)
{
#if HAVE_ZSTD
	return ZSTD_decompress(out, size, in, n) == size ? 0 : -EBADMSG;
#else
	(void)in, (void)n, (void)out, (void)size;
	return -ENOTSUP;
#endif
}

int unpack_exactly(enum unpack_kind kind, const void *in, size_t n, void *out, size_t size)
{
	return kind == UNPACK_ZLIB ? unpack_zlib(in, n, out, size) : unpack_zstd(in, n, out, size);
}
