/* SPDX-License-Identifier: MIT */
#include "cmd/file/evlist.h"

#include <inttypes.h>

#include "event/attr.h"

void evlist_part(struct evlist_line *l)
{
	strbuf_putc(l->b, l->more ? ',' : ':');
	l->more = true;
}

static void evlist_line_put_attr(void *ctx, const char *name, const char *value)
{
	evlist_part(ctx);
	strbuf_printf(((struct evlist_line *)ctx)->b, " %s: %s", name, value);
}

struct evlist_line evlist_begin(struct strbuf *b, const char *name,
				const struct perf_event_attr *attr, enum evlist_how how)
{
	struct evlist_line l = { .b = b };

	strbuf_puts(b, name);
	if (how == EVLIST_VERBOSE) {
		attr_each(attr, evlist_line_put_attr, &l);
	} else if (how == EVLIST_FREQ) {
		evlist_part(&l);
		strbuf_printf(b, " %s=%" PRIu64, attr->freq ? "sample_freq" : "sample_period",
			      (uint64_t)attr->sample_freq);
	}
	return l;
}
