/* SPDX-License-Identifier: MIT */
#include "view/flame_html.h"

#include <string.h>

#include "config.h"
#if HAVE_ZLIB
#	include <zlib.h>
#endif

#include "view/flame_pack.h"
#include "view/markup.h"
#include "view/web.h"

/* More frames than this in all stacks together: leave single samples out from the start. */
#define MANY_FRAMES 8000000u
#define MAX_NODES 2000000u /* what a browser shows with ease */

/* "K", the codec, and the coded bytes. Without zlib they go in as they are. */
static void encode(const struct strbuf *raw, struct strbuf *out)
{
	strbuf_reset(out);
#if HAVE_ZLIB
	z_stream z = { .next_in = (unsigned char *)raw->data, .avail_in = (uInt)raw->n };
	static unsigned char part[1 << 16];
	int r = Z_OK;

	if (raw->n < UINT32_MAX &&
	    deflateInit2(&z, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK) {
		strbuf_add(out, "Kd", 2);
		while (r == Z_OK) {
			z.next_out = part;
			z.avail_out = sizeof(part);
			r = deflate(&z, Z_FINISH);
			strbuf_add(out, (char *)part, sizeof(part) - z.avail_out);
		}
		deflateEnd(&z);
		if (r == Z_STREAM_END)
			return;
		strbuf_reset(out);
	}
#endif
	strbuf_add(out, "Kr", 2);
	strbuf_add(out, raw->data, raw->n);
}

static void put_base64(FILE *f, const unsigned char *s, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned v = (unsigned)s[i] << 16 | (unsigned)(i + 1 < n ? s[i + 1] : 0) << 8 |
			     (i + 2 < n ? s[i + 2] : 0);

		putc_unlocked(digits[v >> 18], f);
		putc_unlocked(digits[v >> 12 & 63], f);
		putc_unlocked(i + 1 < n ? digits[v >> 6 & 63] : '=', f);
		putc_unlocked(i + 2 < n ? digits[v & 63] : '=', f);
	}
}

/* Less detail: what is least missed first. False when there is nothing left to drop. */
static bool reduce(struct flame_detail *d, const struct flame_packed *p)
{
	if (p->time_steps && d->steps > 256) {
		d->steps = 256;
	} else if (d->cpus && p->cpus > 1) {
		d->cpus = false;
	} else if (p->time_steps && d->steps > 64 && p->entries > 2 * p->nodes) {
		d->steps = 64;
	} else {
		double more = d->min_share * 1.5;

		if (p->nodes < 100)
			return false;
		d->min_share = p->median_share > more ? p->median_share : more;
	}
	return true;
}

/* Pack with as much detail as fits into room bytes of base64. */
static int pack_to_fit(const struct stacks *s, const struct stacks *after,
		       const struct flame_html_opts *o, size_t room, struct strbuf *ret,
		       struct flame_detail *d, struct flame_packed *p, struct err *e)
{
	AUTO_STRBUF raw = { 0 };

	*d = (struct flame_detail){
		.max_nodes = MAX_NODES, .steps = FLAME_STEPS, .cpus = true, .threads = true
	};
	if (s->frame_ids.n + (after ? after->frame_ids.n : 0) > MANY_FRAMES)
		d->min_share = 1.5e-6;
	for (;;) {
		int r = flame_pack(s, after, o, d, &raw, p, e);

		if (r < 0)
			return r;
		if (p->too_many) {
			d->min_share = d->min_share > 0 ? d->min_share * 2 : 1e-6;
			continue;
		}
		encode(&raw, ret);
		if ((ret->n + 2) / 3 * 4 <= room || !reduce(d, p))
			return 0;
		strbuf_reset(&raw);
	}
}

static size_t page_size(void)
{
	return web_flame_0_n + web_flame_1_n + web_flame_2_n;
}

int flame_html_write(FILE *f, const struct stacks *s, const struct stacks *after,
		     const struct flame_html_opts *o, struct flame_html_info *ret, struct err *e)
{
	size_t room = o->max_bytes > page_size() + 1024 ? o->max_bytes - page_size() - 1024 : 1024;
	AUTO_STRBUF data = { 0 };
	struct flame_detail d;
	struct flame_packed p;
	int r = pack_to_fit(s, after, o, room, &data, &d, &p, e);

	if (r < 0)
		return r;
	fwrite(web_flame_0, 1, web_flame_0_n, f);
	markup_text(f, o->title);
	fwrite(web_flame_1, 1, web_flame_1_n, f);
	put_base64(f, (const unsigned char *)strbuf_str(&data), data.n);
	fwrite(web_flame_2, 1, web_flame_2_n, f);
	*ret = (struct flame_html_info){
		.nodes = p.nodes,
		.stacks = s->stacks.n,
		.bytes = page_size() + strlen(o->title) + (data.n + 2) / 3 * 4,
		.pruned_stacks = p.pruned_stacks,
		.pruned_share = p.pruned_share,
		.min_share = d.min_share,
		.time_steps = p.time_steps,
		.cpus_dropped = !d.cpus,
		.uncompressed = !HAVE_ZLIB,
	};
	return 0;
}
