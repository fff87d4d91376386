/* SPDX-License-Identifier: MIT */
#include "view/gzip.h"

#include "base/mem.h"
#include "config.h"

#if HAVE_ZLIB
#	include <zlib.h>
#endif

#define PART (64u << 10) /* bytes compressed at a time */

struct gzip {
	struct out *out;
	int error;
#if HAVE_ZLIB
	z_stream z;
#endif
};

struct gzip *gzip_new(struct out *out)
{
	struct gzip *g = mem_alloc(sizeof(*g));

	g->out = out;
#if HAVE_ZLIB
	/* 16: with gzip's header rather than zlib's */
	if (deflateInit2(&g->z, Z_BEST_SPEED + 2, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		g->error = -ENOMEM;
#endif
	return g;
}

#if HAVE_ZLIB
static void compress_part(struct gzip *g, const void *data, size_t n, int flush)
{
	g->z.next_in = (Bytef *)(uintptr_t)data;
	g->z.avail_in = (uInt)n;
	do {
		g->z.next_out = (Bytef *)out_room(g->out, PART);
		g->z.avail_out = PART;
		if (deflate(&g->z, flush) == Z_STREAM_ERROR)
			g->error = -EIO;
		g->out->n += PART - g->z.avail_out;
	} while (!g->z.avail_out && !g->error);
}
#endif

void gzip_add(struct gzip *g, const void *data, size_t n)
{
#if HAVE_ZLIB
	const char *p = data;

	while (n && !g->error) {
		size_t part = n < PART ? n : PART;

		compress_part(g, p, part, Z_NO_FLUSH);
		p += part;
		n -= part;
	}
#else
	out_add(g->out, data, n);
#endif
}

int gzip_end(struct gzip *g)
{
	int r;

#if HAVE_ZLIB
	if (!g->error)
		compress_part(g, NULL, 0, Z_FINISH);
	deflateEnd(&g->z);
#endif
	r = g->error;
	free(g);
	return r;
}
