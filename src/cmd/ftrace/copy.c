/* SPDX-License-Identifier: MIT */
#include "cmd/ftrace/copy.h"

#include <string.h>

#include "base/mem.h"

static void add_formats(const struct tracedat *t, struct strbuf *ftrace, struct strbuf *formats)
{
	uint32_t n = 0, systems = 0;
	AUTO_STRBUF own = { 0 }, others = { 0 };

	for (size_t i = 0; i < t->n_formats; i++) {
		const struct tracedat_format *f = &t->formats[i];
		bool first = true;
		uint32_t count = 0;
		uint64_t size = f->size;

		if (strcmp(f->system, "ftrace") == 0) {
			strbuf_add(&own, (const char *)&size, 8);
			strbuf_add(&own, f->text, f->size);
			n++;
			continue;
		}
		for (size_t k = 0; k < i && first; k++)
			first = strcmp(t->formats[k].system, f->system) != 0;
		if (!first)
			continue;
		for (size_t k = i; k < t->n_formats; k++)
			count += strcmp(t->formats[k].system, f->system) == 0;
		strbuf_add(&others, f->system, strlen(f->system) + 1);
		strbuf_add(&others, (const char *)&count, 4);
		for (size_t k = i; k < t->n_formats; k++)
			if (strcmp(t->formats[k].system, f->system) == 0) {
				size = t->formats[k].size;
				strbuf_add(&others, (const char *)&size, 8);
				strbuf_add(&others, t->formats[k].text, t->formats[k].size);
			}
		systems++;
	}
	strbuf_add(ftrace, (const char *)&n, 4);
	strbuf_add(ftrace, strbuf_str(&own), own.n);
	strbuf_add(formats, (const char *)&systems, 4);
	strbuf_add(formats, strbuf_str(&others), others.n);
}

void ftrace_copy_head(const struct source *s, struct ftrace_copy *c)
{
	const struct tracedat *t = tracedat_of(s);
	const struct trace_info *info = &s->trace->info;
	struct tracedat_out *o = &c->o;

	*c = (struct ftrace_copy){ 0 };
	o->version = t->version;
	o->compression = t->version == 6 ? "none" : t->compression;
	o->page_size = t->page_size;
	o->n_cpus = t->n_cpus;
	o->uname = t->uname;
	o->tool = t->tool;
	o->trace_id = t->trace_id;
	c->clocks = mem_printf("[%s]\n", t->n_buffers && *t->buffers[0].clock ? t->buffers[0].clock
					 : *t->clock			      ? t->clock
									      : "local");
	if (t->has_date)
		c->date = mem_printf("0x%llx", (long long)t->time_offset / 1000);
	else if (t->time_offset)
		c->offset = mem_printf("%lld", (long long)t->time_offset);
	strbuf_add(&o->header, t->header, t->header_size);
	add_formats(t, &o->ftrace, &o->formats);
	strbuf_add(&o->kallsyms, info->kallsyms ? info->kallsyms : "", info->kallsyms_size);
	strbuf_add(&o->printk, t->printk ? t->printk : "", t->printk_size);
	strbuf_add(&o->cmdlines, t->cmdlines ? t->cmdlines : "", t->cmdlines_size);
	strbuf_add(&o->tgids, t->tgids ? t->tgids : "", t->tgids_size);
	o->clocks = c->clocks;
	o->date = c->date;
	o->offset = c->offset;
	o->tsc_mult = t->tsc_mult;
	o->tsc_shift = t->tsc_shift;
	o->maps = t->maps;
	o->n_maps = t->n_maps;
	o->hooks = t->hooks;
	o->n_hooks = t->n_hooks;
	c->buffers = mem_alloc((t->n_buffers + 1) * sizeof(*c->buffers));
	for (size_t i = 0; i < t->n_buffers; i++)
		c->n_cpus += t->buffers[i].n_cpus;
	c->cpus = mem_alloc((c->n_cpus + 1) * sizeof(*c->cpus));
	for (size_t i = 0, at = 0; i < t->n_buffers; i++) {
		const struct tracedat_buffer *b = &t->buffers[i];

		c->buffers[i] =
			(struct tracedat_out_buffer){ .name = b->name,
						      .clock = *b->clock ? b->clock : "local",
						      .page_size = b->page_size,
						      .cpus = &c->cpus[at],
						      .n_cpus = b->n_cpus };
		for (size_t k = 0; k < b->n_cpus; k++, at++)
			c->cpus[at] = (struct tracedat_out_cpu){ .cpu = b->cpus[k].cpu,
								 .fd = -1,
								 .older_fd = -1 };
	}
	o->buffers = c->buffers;
	o->n_buffers = t->n_buffers;
}

void ftrace_copy_free(struct ftrace_copy *c)
{
	tracedat_out_free(&c->o);
	free(c->clocks);
	free(c->date);
	free(c->offset);
	free(c->buffers);
	free(c->cpus);
	*c = (struct ftrace_copy){ 0 };
}
