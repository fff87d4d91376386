/* SPDX-License-Identifier: MIT */
#include "cmd/ftrace/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "live/ftrace/about.h"
#include "store/tracedat/abi.h"
#include "store/tracedat/write.h"

int ftrace_save_format(const struct ftrace_args *a, int *version, const char **compression,
		       struct err *e)
{
	*version = a->version ? a->version : 7;
	*compression = a->compression ? a->compression : *version == 6 ? "none" : "any";
	if (strcmp(*compression, "any") == 0)
		*compression = *version == 6 ? "none" : tracedat_best_packing();
	if (*version != 6 && *version != 7)
		return err_set(e, EINVAL, "--file-version is 6 or 7, not %d", *version);
	return 0;
}

struct parts {
	struct tracedat_out_buffer *buffers;
	struct tracedat_out_cpu *cpus;
	struct strbuf *stats;
	size_t n_stats;
	struct strbuf *texts;
	char **clocks;
	size_t n;
	size_t before; /* 1: the top instance, which a file begins with, took no part */
	struct tracedat_out_cpu *none; /* its CPUs then */
	const char *larger;	       /* the option that avoids loss */
};

static void fill_buffer(struct parts *p, const struct ftrace *f, struct ftrace_capture *c, size_t i,
			size_t *at, uint64_t *lost)
{
	size_t n;
	const struct ftrace_captured *done = ftrace_captured(c, &n);
	const struct ftrace_buffer *b = &f->buffers.data[i];
	struct tracedat_out_buffer *o = &p->buffers[i + p->before];

	p->clocks[i] = ftrace_clock(b->dir);
	*o = (struct tracedat_out_buffer){ .name = i || p->before ? b->name : "",
					   .clock = p->clocks[i],
					   .page_size = ftrace_page_size(b->dir),
					   .cpus = &p->cpus[*at],
					   .stats = &p->stats[*at] };
	if (b->own_inside)
		o->without = ftrace_capture_tids(c, &o->n_without);
	for (size_t k = 0; k < n; k++) {
		uint64_t one;
		char told[64];

		if (done[k].buffer != i)
			continue;
		p->cpus[*at] = (struct tracedat_out_cpu){ .cpu = done[k].cpu,
							  .fd = done[k].fd,
							  .size = done[k].size,
							  .older_fd = done[k].older_fd,
							  .older_size = done[k].older_size };
		one = ftrace_stats(b->dir, done[k].cpu, &p->stats[*at]);
		if (one)
			command_note("CPU %u%s%s: %s lost; %s makes its buffer larger", done[k].cpu,
				     *b->name ? " of " : "", b->name,
				     str_were(one, "event", told, sizeof(told)),
				     p->larger ? p->larger : "-b KB");
		if (done[k].error) {
			command_note("CPU %u: recording stopped too soon: %s", done[k].cpu,
				     strerror(done[k].error));
			strbuf_printf(&p->stats[*at], TRACEDAT_STOPPED "%s\n",
				      strerror(done[k].error));
		}
		*lost += one;
		o->n_cpus++;
		++*at;
	}
	if (ftrace_is_latency(b->opt->tracer)) {
		AUTO_FREE char *text = NULL;
		size_t len = 0;

		if (ftrace_get(b->dir, "trace", &text, &len, NULL) == 0) {
			strbuf_add(&p->texts[i], text, len);
			o->text = &p->texts[i];
		}
	}
}

static void ftrace_save_tell(const char *path, const struct ftrace_args *a, uint64_t lost)
{
	struct stat st;
	char size[32];

	if (a->quiet || stat(path, &st) < 0)
		return;
	command_note("wrote %s (%s%s); kymo ftrace report shows it", path,
		     str_bytes((uint64_t)st.st_size, size, sizeof(size)),
		     lost ? "" : ", nothing was lost");
}

static void parts_free(struct parts *p)
{
	for (size_t i = 0; i < p->n_stats; i++)
		strbuf_free(&p->stats[i]);
	for (size_t i = 0; i < p->n; i++) {
		strbuf_free(&p->texts[i]);
		free(p->clocks[i]);
	}
	free(p->stats);
	free(p->texts);
	free(p->clocks);
	free(p->cpus);
	free(p->none);
	free(p->buffers);
}

/* The first one in a file has no name: one that was named (-B) comes behind an empty one. */
static void fill_buffers(struct parts *p, const struct ftrace *f, struct ftrace_capture *c,
			 uint64_t *lost)
{
	const struct ftrace_buffer *first = &f->buffers.data[0];
	size_t at = 0;

	p->before = *first->name && !ftrace_is_latency(first->opt->tracer);
	for (size_t i = 0; i < p->n; i++)
		fill_buffer(p, f, c, i, &at, lost);
	if (!p->before)
		return;
	p->buffers[0] = p->buffers[1];
	p->buffers[0].name = "";
	p->buffers[0].stats = NULL;
	p->buffers[0].cpus = p->none = mem_alloc((p->n_stats + 1) * sizeof(*p->none));
	for (size_t i = 0; i < p->buffers[0].n_cpus; i++)
		p->none[i] = (struct tracedat_out_cpu){ .cpu = p->buffers[1].cpus[i].cpu,
							.fd = -1,
							.older_fd = -1 };
}

/* Where no pages were taken that would tell. */
static uint32_t count_cpus(const char *dir)
{
	uint32_t *cpus = NULL, most = 0;
	size_t n = 0;

	if (ftrace_cpus(dir, &cpus, &n, NULL) >= 0 && n)
		most = cpus[n - 1] + 1;
	free(cpus);
	return most;
}

/* --tsc2nsec: from the counter's zero to that of the kernel's clock, and --ts-offset. */
static long long cycles_zero(const struct ftrace_args *a)
{
	int64_t more = 0;

	if (a->offset)
		str_i64(a->offset, &more);
	return (long long)a->tsc.zero + more;
}

int ftrace_save(struct ftrace *f, struct ftrace_capture *c, struct ftrace_maps *maps,
		const struct ftrace_args *a, struct err *e)
{
	struct tracedat_out o = { 0 };
	struct ftrace_captured *done = NULL;
	AUTO_FREE char *date = NULL, *clocks = NULL, *from_zero = NULL;
	struct parts p = { 0 };
	uint64_t lost = 0;
	size_t n = 0;
	int r = ftrace_save_format(a, &o.version, &o.compression, e);

	if (r >= 0)
		r = ftrace_about(f, &o, e);
	if (r >= 0)
		r = ftrace_get(f->buffers.data[0].dir, "trace_clock", &clocks, NULL, e);
	if (r >= 0) {
		done = ftrace_captured(c, &n);
		p.n = f->buffers.n;
		p.n_stats = n;
		p.buffers = mem_alloc((p.n + 1) * sizeof(*p.buffers));
		p.cpus = mem_alloc((n + 1) * sizeof(*p.cpus));
		p.stats = mem_alloc((n + 1) * sizeof(*p.stats));
		p.texts = mem_alloc((p.n + 1) * sizeof(*p.texts));
		p.clocks = mem_alloc((p.n + 1) * sizeof(*p.clocks));
		p.larger = a->size_option;
		fill_buffers(&p, f, c, &lost);
		for (size_t i = 0; i < n; i++)
			o.n_cpus = done[i].cpu >= o.n_cpus ? done[i].cpu + 1 : o.n_cpus;
		if (!o.n_cpus)
			o.n_cpus = count_cpus(f->buffers.data[0].dir);
		o.clocks = clocks;
		o.buffers = p.buffers;
		o.n_buffers = p.n + p.before;
		if (a->date)
			o.date = date = ftrace_date(f, p.clocks[0]);
		o.offset = a->offset;
		o.hooks = a->hooks.data;
		o.n_hooks = a->hooks.n;
		if (maps)
			o.maps = ftrace_maps_texts(maps, &o.n_maps);
		if (a->tsc_to_ns) {
			o.tsc_mult = a->tsc.mult;
			o.tsc_shift = a->tsc.shift;
			o.offset = from_zero = mem_printf("%lld", cycles_zero(a));
		}
		r = tracedat_write(a->output, &o, e);
	}
	if (r >= 0)
		ftrace_save_tell(a->output, a, lost);
	tracedat_out_free(&o);
	parts_free(&p);
	return r < 0 ? r : 0;
}
