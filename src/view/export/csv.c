/* SPDX-License-Identifier: MIT */
/*
 * A row a sample, as RFC 4180 has it: commas, lines that end in CR LF, quotes
 * around what needs them. The stack is root first with semicolons between.
 */
#include <string.h>

#include "base/str.h"
#include "event/text.h"
#include "view/export/export.h"

static const char head[] = "time,event,comm,pid,tid,cpu,period,ip,symbol,offset,dso,file,line,"
			   "stack,text\r\n";

struct csv {
	struct export_job *x;
	struct strbuf b, cell;
};

static void export_csv_put_cell(struct csv *c, const char *s, size_t n)
{
	strbuf_reset(&c->cell);
	strbuf_csv(&c->cell, s, n, ",");
	out_add(c->x->out, strbuf_str(&c->cell), c->cell.n);
}

static void export_csv_put_text(struct csv *c, const char *s)
{
	export_csv_put_cell(c, s, strlen(s));
}

static void export_csv_put_head(struct csv *c, const struct event *ev,
				const struct profile_entry *en)
{
	struct out *o = c->x->out;
	char comm[32];

	if (ev->have & EVENT_HAVE_TIME) {
		out_u64(o, ev->time / 1000000000, 0);
		out_putc(o, '.');
		out_zeros(o, ev->time % 1000000000, 9);
	}
	out_putc(o, ',');
	export_csv_put_text(c, c->x->source->trace->types[ev->type].name);
	out_putc(o, ',');
	export_csv_put_text(c, tasks_who_name(c->x->source->trace->tasks, en->comm, comm));
	out_putc(o, ',');
	out_i64(o, ev->pid, 0);
	out_putc(o, ',');
	out_i64(o, ev->tid, 0);
	out_putc(o, ',');
	if ((ev->have & EVENT_HAVE_CPU) && ev->cpu != UINT32_MAX)
		out_u64(o, ev->cpu, 0);
	out_putc(o, ',');
	out_u64(o, ev->weight, 0);
}

static void put_code(struct csv *c, uint32_t entry, const struct event *ev)
{
	const struct names *n = c->x->names;
	const struct name_site *s = &n->sites.data[n->entry_site[entry]];
	const char *name = names_function(n, s->frame), *file = "";
	struct out *o = c->x->out;
	uint32_t line = 0;

	if (!(ev->have & EVENT_HAVE_IP)) {
		out_puts(o, ",,,,,,");
		return;
	}
	out_puts(o, ",0x");
	out_hex(o, ev->ip, 0);
	out_putc(o, ',');
	export_csv_put_text(c, name ? name : "");
	out_putc(o, ',');
	if (name)
		out_u64(o, s->dso_addr - n->frames.data[s->frame].addr, 0);
	out_putc(o, ',');
	export_csv_put_text(c, s->dso == NAMES_NONE ? "" : names_path(n, s->dso));
	out_putc(o, ',');
	names_line(n, s, &file, &line);
	export_csv_put_text(c, file);
	out_putc(o, ',');
	if (line)
		out_u64(o, line, 0);
}

static void export_csv_put_stack(struct csv *c, uint32_t entry)
{
	uint32_t buf[EXPORT_INLINES], n;
	const uint32_t *sites;
	char hex[32];

	strbuf_reset(&c->b);
	n = export_stack(c->x, entry, &sites, buf);
	for (uint32_t i = n; i-- > 0;) {
		const char *name = export_function(c->x, sites[i], hex);

		for (size_t n_plain; *name; name += n_plain) {
			n_plain = strcspn(name, ";");
			strbuf_add(&c->b, n_plain ? name : ":", n_plain ? n_plain : 1);
			n_plain += !n_plain;
		}
		if (i)
			strbuf_putc(&c->b, ';');
	}
	export_csv_put_cell(c, strbuf_str(&c->b), c->b.n);
}

static int export_csv_put_row(void *ctx, const struct event *ev)
{
	struct csv *c = ctx;
	const struct trace *t = c->x->source->trace;
	uint32_t entry = export_entry(c->x, ev);

	if (entry == UINT32_MAX)
		return 0;
	export_csv_put_head(c, ev, &c->x->profile->entries.data[entry]);
	put_code(c, entry, ev);
	out_putc(c->x->out, ',');
	export_csv_put_stack(c, entry);
	out_putc(c->x->out, ',');
	if (export_has_fields(&t->types[ev->type], ev)) {
		strbuf_reset(&c->b);
		text_print(t->tep, &t->types[ev->type], ev->raw, ev->raw_size, &c->b);
		export_csv_put_cell(c, strbuf_str(&c->b), c->b.n);
	}
	out_add(c->x->out, "\r\n", 2);
	c->x->written++;
	return 0;
}

int export_csv(struct export_job *x, struct err *e)
{
	struct csv c = { .x = x };
	int r;

	out_puts(x->out, head);
	r = export_events(x, false, export_csv_put_row, &c, e);
	strbuf_free(&c.b);
	strbuf_free(&c.cell);
	return r;
}
