/* SPDX-License-Identifier: MIT */
#include "view/picture/flame_html.h"

#include <string.h>

#include "config.h"
#include "view/markup.h"
#include "view/picture/flame_pack.h"
#include "view/picture/pack.h"
#include "view/picture/web.h"

/* More frames than this in all stacks together: leave single samples out from the start. */
#define MANY_FRAMES 8000000u
#define MAX_NODES 2000000u /* what a browser shows with ease */

/* How much of the room is aimed at, as bytes are not quite in proportion to nodes. */
#define AIM 0.85

/* Less detail: what is least missed first. over: how much too large it is. False when there is
 * nothing left to drop. */
static bool reduce(struct flame_detail *d, const struct flame_packed *p, bool seconds, double over)
{
	/* where seconds are what it is about, frames are left out first */
	bool times = p->time_steps && !(seconds && d->min_share < 1e-3);

	if (times && d->steps > 256) {
		d->steps = 256;
		if (over > 1.5) /* that alone will not do */
			d->cpus = d->cpus && p->cpus < 2;
	} else if (d->cpus && p->cpus > 1) {
		d->cpus = false;
	} else if (times && d->steps > 64 && p->entries > 2 * p->nodes) {
		d->steps = 64;
	} else {
		double more = d->min_share * 1.5, keep = AIM * FLAME_SHARES / over;
		double enough = p->leaves_share[keep < 1 ? 1 : (int)keep];

		if (p->nodes < 100)
			return false;
		if (d->leaves && d->min_share > 1e-4) {
			d->leaves = false;
			return true;
		}
		d->min_share = enough > more ? enough : more;
	}
	return true;
}

/* Pack with as much detail as fits into room bytes of base64. */
static int pack_to_fit(const struct stacks *s, const struct stacks *after,
		       const struct flame_html_opts *o, size_t room, struct strbuf *ret,
		       struct flame_detail *d, struct flame_packed *p, struct err *e)
{
	AUTO_STRBUF raw = { 0 };

	*d = (struct flame_detail){ .max_nodes = MAX_NODES,
				    .steps = FLAME_STEPS,
				    .cpus = true,
				    .threads = true,
				    .leaves = true };
	if (s->frame_ids.n + (after ? after->frame_ids.n : 0) > MANY_FRAMES)
		d->min_share = 1.5e-6;
	for (;;) {
		int r = flame_pack(s, after, o, d, &raw, p, e);

		if (r < 0)
			return r;
		if (p->too_many) {
			d->min_share = d->min_share > 0 ? d->min_share * 2 : 1e-6;
			d->leaves = d->leaves && d->min_share < 1e-3;
			continue;
		}
		pack_encode(&raw, ret);
		if (pack_base64_size(ret->n) <= room ||
		    !reduce(d, p, o->seconds, (double)pack_base64_size(ret->n) / (double)room))
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
	pack_base64(f, &data);
	fwrite(web_flame_2, 1, web_flame_2_n, f);
	*ret = (struct flame_html_info){
		.nodes = p.nodes,
		.stacks = s->stacks.n,
		.bytes = page_size() + strlen(o->title) + pack_base64_size(data.n),
		.pruned_stacks = p.pruned_stacks,
		.pruned_share = p.pruned_share,
		.min_share = d.min_share,
		.time_steps = p.time_steps,
		.time_step = p.time_step,
		.cpus_dropped = !d.cpus,
		.uncompressed = !HAVE_ZLIB,
	};
	return 0;
}
