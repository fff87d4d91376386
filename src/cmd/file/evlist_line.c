/* SPDX-License-Identifier: MIT */
#include "cmd/file/evlist.h"

#include <inttypes.h>

void evlist_part(struct evlist_line *l)
{
	strbuf_putc(l->b, l->more ? ',' : ':');
	l->more = true;
}

void evlist_setting(void *ctx, const char *name, const char *value)
{
	evlist_part(ctx);
	strbuf_printf(((struct evlist_line *)ctx)->b, " %s: %s", name, value);
}

struct evlist_line evlist_begin(struct strbuf *b, const struct event_type *t, bool rate)
{
	struct evlist_line l = { .b = b };

	strbuf_puts(b, t->name);
	if (rate) {
		evlist_part(&l);
		strbuf_printf(b, " %s=%" PRIu64, t->by_rate ? "sample_freq" : "sample_period",
			      t->rate);
	}
	return l;
}
