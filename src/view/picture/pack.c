/* SPDX-License-Identifier: MIT */
#include "view/picture/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#if HAVE_ZLIB
#	include <zlib.h>
#endif

#include "base/mem.h"
#include "base/pool.h"
#include "view/markup.h"

void pack_varint(struct strbuf *b, uint64_t v)
{
	char text[10];
	size_t n = 0;

	if (v < 128 && b->cap > b->n + 1) { /* nearly always */
		b->data[b->n++] = (char)v;
		b->data[b->n] = '\0';
		return;
	}
	for (; v > 127; v >>= 7)
		text[n++] = (char)(v | 128);
	text[n++] = (char)v;
	strbuf_add(b, text, n);
}

void pack_text(struct json *j, const char *key, const char *s)
{
	AUTO_STRBUF b = { 0 };

	markup_clean(&b, s, strlen(s));
	json_str(j, key, strbuf_str(&b));
}

void pack_join(struct strbuf *out, const struct strbuf *column, size_t n,
	       void (*header)(void *ctx, struct json *j), void *ctx)
{
	struct out text = { .fd = -1 };
	struct json j = json_to_out(&text, JSON_SPACED);

	json_object(&j, NULL);
	header(ctx, &j);
	json_array(&j, "columns");
	for (size_t i = 0; i < n; i++)
		json_u64(&j, NULL, column[i].n);
	json_end(&j);
	json_end(&j);
	for (int i = 0; i < 4; i++)
		strbuf_putc(out, (char)(text.n >> (8 * i)));
	strbuf_add(out, text.data, text.n);
	out_free(&text);
	for (size_t i = 0; i < n; i++)
		strbuf_add(out, strbuf_str(&column[i]), column[i].n);
}

#if HAVE_ZLIB
#	define PART (256u << 10) /* bytes, whoever deflates them: the result must not tell */
#	define WINDOW (32u << 10)
#	define MUCH (4u << 20)

/* Parts that are deflated at once, each with what stands before it for a dictionary. */
struct deflated {
	const struct strbuf *raw;
	struct strbuf *part;
	size_t n;
};

static int deflate_part(void *ctx, size_t job, unsigned worker)
{
	struct deflated *d = ctx;
	unsigned char *in = (unsigned char *)d->raw->data + job * PART, out[16 << 10];
	bool last = job + 1 == d->n;
	z_stream z = { .next_in = in, .avail_in = last ? (uInt)(d->raw->n - job * PART) : PART };
	int r = Z_OK;

	/* of much, who waits for it would not see the last 3% of the bytes */
	if (deflateInit2(&z, d->raw->n > MUCH ? 4 : 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	if (job)
		deflateSetDictionary(&z, in - WINDOW, WINDOW);
	do {
		z.next_out = out;
		z.avail_out = sizeof(out);
		r = deflate(&z, last ? Z_FINISH : Z_SYNC_FLUSH);
		strbuf_add(&d->part[job], (char *)out, sizeof(out) - z.avail_out);
	} while (r == Z_OK && !z.avail_out);
	deflateEnd(&z);
	/* Z_BUF_ERROR: all had been said when the room was used up */
	return r == Z_STREAM_END || (!last && (r == Z_OK || r == Z_BUF_ERROR)) ? 0 : -ENOMEM;
}

static bool deflate_all(const struct strbuf *raw, struct strbuf *out)
{
	struct deflated d = { .raw = raw, .n = (raw->n + PART - 1) / PART };
	bool ok;

	d.n = d.n ? d.n : 1;
	d.part = mem_alloc(d.n * sizeof(*d.part));
	ok = pool_run(d.n, 0, deflate_part, &d) == 0;
	strbuf_add(out, "Kd", 2);
	for (size_t i = 0; i < d.n; i++) {
		strbuf_add(out, strbuf_str(&d.part[i]), d.part[i].n);
		strbuf_free(&d.part[i]);
	}
	free(d.part);
	return ok;
}
#endif

void pack_encode(const struct strbuf *raw, struct strbuf *out)
{
	strbuf_reset(out);
#if HAVE_ZLIB
	if (deflate_all(raw, out))
		return;
	strbuf_reset(out);
#endif
	strbuf_add(out, "Kr", 2);
	strbuf_add(out, strbuf_str(raw), raw->n);
}

size_t pack_base64_size(size_t n)
{
	return (n + 2) / 3 * 4;
}

void pack_base64(FILE *f, const struct strbuf *b)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const unsigned char *s = (const unsigned char *)strbuf_str(b);

	for (size_t i = 0; i < b->n; i += 3) {
		unsigned v = (unsigned)s[i] << 16 | (unsigned)(i + 1 < b->n ? s[i + 1] : 0) << 8 |
			     (i + 2 < b->n ? s[i + 2] : 0);

		putc_unlocked(digits[v >> 18], f);
		putc_unlocked(digits[v >> 12 & 63], f);
		putc_unlocked(i + 1 < b->n ? digits[v >> 6 & 63] : '=', f);
		putc_unlocked(i + 2 < b->n ? digits[v & 63] : '=', f);
	}
}
