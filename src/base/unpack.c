/* SPDX-License-Identifier: MIT */
#include "base/unpack.h"

#include "base/mem.h"
#include "config.h"

#if HAVE_LIBDEFLATE
#	include <libdeflate.h>
#endif
#if HAVE_ZLIB
#	include <zlib.h>
#endif
#if HAVE_LZMA
#	include <lzma.h>
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
	return -ENOTSUP;
#endif
}

static int unpack_zstd(const void *in, size_t n, void *out, size_t size)
{
#if HAVE_ZSTD
	return ZSTD_decompress(out, size, in, n) == size ? 0 : -EBADMSG;
#else
	return -ENOTSUP;
#endif
}

int unpack_exactly(enum unpack_kind kind, const void *in, size_t n, void *out, size_t size)
{
	return kind == UNPACK_ZLIB ? unpack_zlib(in, n, out, size) : unpack_zstd(in, n, out, size);
}

#define FIRST_LEAST ((size_t)1 << 20) /* room for what comes out, at the beginning */
#define FIRST_MOST ((size_t)64 << 20)
#define STEP_MOST ((size_t)1 << 30) /* zlib counts in unsigned int */
#define XZ_MEMORY ((uint64_t)256 << 20)

enum step { STEP_MORE, STEP_END, STEP_BROKEN };

struct stream {
	void *state; /* the library's, made by the first step */
	const uint8_t *in;
	uint8_t *out;
	size_t left, room; /* bytes of in, and of out */
};

#if HAVE_ZSTD || HAVE_ZLIB || HAVE_LZMA
static enum step stream_moved(struct stream *s, size_t left, size_t room, enum step step)
{
	s->in += s->left - left;
	s->out += s->room - room;
	s->left = left;
	s->room = room;
	return step;
}
#endif

#if HAVE_ZSTD
static enum step stream_zstd(struct stream *s, bool close)
{
	ZSTD_inBuffer in = { s->in, s->left, 0 };
	ZSTD_outBuffer out = { s->out, s->room, 0 };
	size_t r;

	if (close)
		return (enum step)ZSTD_freeDStream(s->state);
	if (!s->state && !(s->state = ZSTD_createDStream()))
		return STEP_BROKEN;
	r = ZSTD_decompressStream(s->state, &out, &in);
	stream_moved(s, s->left - in.pos, s->room - out.pos, STEP_MORE);
	/* there may be more in the decoder when all input is in */
	if (!ZSTD_isError(r) && (s->left || (r && !s->room)))
		return STEP_MORE;
	return r ? STEP_BROKEN : STEP_END;
}
#else
#	define stream_zstd NULL
#endif

#if HAVE_ZLIB
static enum step stream_gzip(struct stream *s, bool close)
{
	size_t in = s->left < STEP_MOST ? s->left : STEP_MOST;
	size_t out = s->room < STEP_MOST ? s->room : STEP_MOST;
	z_stream *z = s->state;
	int r;

	if (close) {
		inflateEnd(z);
		free(z);
		return STEP_END;
	}
	if (!z) {
		s->state = z = mem_alloc(sizeof(*z));
		if (inflateInit2(z, 15 + 16) != Z_OK)
			return STEP_BROKEN;
	}
	z->next_in = (Bytef *)s->in;
	z->avail_in = (uInt)in;
	z->next_out = s->out;
	z->avail_out = (uInt)out;
	r = inflate(z, Z_NO_FLUSH);
	return stream_moved(s, s->left - (in - z->avail_in), s->room - (out - z->avail_out),
			    r == Z_OK		? STEP_MORE
			    : r == Z_STREAM_END ? STEP_END
						: STEP_BROKEN);
}
#else
#	define stream_gzip NULL
#endif

#if HAVE_LZMA
static enum step stream_xz(struct stream *s, bool close)
{
	lzma_stream *x = s->state;
	lzma_ret r;

	if (close) {
		lzma_end(x);
		free(x);
		return STEP_END;
	}
	if (!x) {
		s->state = x = mem_alloc(sizeof(*x)); /* zeros are LZMA_STREAM_INIT */
		if (lzma_stream_decoder(x, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
			return STEP_BROKEN;
	}
	x->next_in = s->in;
	x->avail_in = s->left;
	x->next_out = s->out;
	x->avail_out = s->room;
	r = lzma_code(x, LZMA_FINISH);
	return stream_moved(s, x->avail_in, x->avail_out,
			    r == LZMA_OK	   ? STEP_MORE
			    : r == LZMA_STREAM_END ? STEP_END
						   : STEP_BROKEN);
}
#else
#	define stream_xz NULL
#endif

int unpack_stream(enum unpack_kind kind, const void *in, size_t n, size_t limit, struct budget *b,
		  const char *what, uint8_t **ret, size_t *size, struct err *e)
{
	enum step (*const run)(struct stream * s, bool close) = kind == UNPACK_ZSTD   ? stream_zstd
								: kind == UNPACK_GZIP ? stream_gzip
										      : stream_xz;
	struct stream s = { .in = in, .left = n };
	size_t more = n < FIRST_LEAST / 4 ? FIRST_LEAST : n < FIRST_MOST / 4 ? n * 4 : FIRST_MOST;
	struct budget_watch watch = budget_watch();
	enum step step = STEP_MORE;
	int r = run ? 0 : -ENOTSUP;

	*ret = NULL;
	*size = 0;
	while (r == 0 && step == STEP_MORE) {
		if (!s.room) {
			more = more < limit - *size ? more : limit - *size;
			r = more ? budget_take(b, more, what, e) : -EFBIG;
			if (r == 0)
				r = budget_watch_look(&watch, what, e);
			if (r < 0)
				break;
			*ret = mem_grow(*ret, *size + more);
			s.out = *ret + *size;
			s.room = more;
			more += *size;
		}
		step = run(&s, false);
		*size = (size_t)(s.out - *ret);
	}
	budget_watch_end(&watch);
	if (s.state)
		run(&s, true);
	if (r == 0)
		return step == STEP_BROKEN;
	free(*ret);
	*ret = NULL;
	return r;
}
