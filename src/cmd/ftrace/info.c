/* SPDX-License-Identifier: MIT */
#include "cmd/ftrace/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "event/match.h"
#include "event/printfmt/printfmt.h"

static int by_system(const void *a, const void *b)
{
	const struct tracedat_format *const *x = a, *const *y = b;
	int c = strcmp((*x)->system, (*y)->system);

	c = c ? c : strcmp((*x)->name, (*y)->name);
	return c ? c : (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

/* The kernel numbers the events of a system from the last to the first. */
static int by_id(const void *a, const void *b)
{
	const struct tracedat_format *const *x = a, *const *y = b;

	return (*x)->id > (*y)->id ? -1 : (*x)->id < (*y)->id;
}

/* To be freed. */
static const struct tracedat_format **sorted(const struct tracedat *t,
					     int (*compare)(const void *, const void *))
{
	const struct tracedat_format **f = mem_alloc((t->n_formats + 1) * sizeof(*f));

	for (size_t i = 0; i < t->n_formats; i++)
		f[i] = &t->formats[i];
	qsort(f, t->n_formats, sizeof(*f), compare);
	return f;
}

static void list_events(const struct tracedat *t, struct out *out)
{
	const struct tracedat_format **f = sorted(t, by_system);

	for (size_t i = 0; i < t->n_formats; i++)
		out_printf(out, "%s:%s\n", f[i]->system, f[i]->name);
	free(f);
}

void ftrace_info_filter(const struct source *s, const struct ftrace_filter *filter, struct out *out)
{
	const struct tracedat *t = tracedat_of(s);
	const struct tracedat_format **f = sorted(t, by_id);
	struct arena arena = { 0 };

	for (size_t i = 0; i < t->n_formats; i++) {
		/* also those of which there are no records */
		struct event_type type = { .system = f[i]->system, .event = f[i]->name };
		AUTO_STRBUF b = { 0 };

		if (type_parse_format(&type, &arena, f[i]->text, f[i]->size, NULL) >= 0 &&
		    ftrace_filter_text(filter, &type, &b))
			out_printf(out, " '%s: %s'\n", f[i]->name, strbuf_str(&b));
	}
	arena_free(&arena);
	free(f);
}

static void list_formats(const struct tracedat *t, const char *pattern, struct out *out)
{
	for (size_t i = 0; i < t->n_formats; i++) {
		const struct tracedat_format *f = &t->formats[i];

		if (pattern && !match_regex_either(pattern, f->system, f->name))
			continue;
		out_printf(out, "system: %s\n", f->system);
		out_add(out, f->text, f->size);
		out_putc(out, '\n');
	}
}

static void list_functions(const struct ftrace_names *names, struct out *out)
{
	size_t n;
	const struct ftrace_name *all = ftrace_names_all(names, &n);

	for (size_t i = 0; i < n; i++) {
		out_printf(out, "%016" PRIx64 " %s", all[i].addr, all[i].name);
		if (all[i].module)
			out_printf(out, " [%s]", all[i].module);
		out_putc(out, '\n');
	}
}

struct printk {
	uint64_t addr;
	const char *text;
	size_t n;
};

static int by_addr(const void *a, const void *b)
{
	const struct printk *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void list_printk(const struct tracedat *t, struct out *out)
{
	const char *p = t->printk, *end = p ? p + t->printk_size : p;
	VEC(struct printk) all = { 0 };

	while (p && p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p)), *quote, *last;
		char *after;
		struct printk one = { 0 };

		stop = stop ? stop : end;
		quote = memchr(p, '"', (size_t)(stop - p));
		last = quote ? memrchr(quote + 1, '"', (size_t)(stop - quote - 1)) : NULL;
		if (last) {
			one.addr = strtoull(p, &after, 0);
			one.text = quote + 1;
			one.n = (size_t)(last - quote) - 1;
			if (one.n >= 2 && memcmp(last - 2, "\\n", 2) == 0)
				one.n -= 2;
			vec_push(&all, one);
		}
		p = stop + 1;
	}
	if (all.n)
		qsort(all.data, all.n, sizeof(*all.data), by_addr);
	vec_each (&all, x)
		out_printf(out, "%016" PRIx64 " %.*s\n", x->addr, (int)x->n, x->text);
	vec_free(&all);
}

static const char *endian(bool swapped)
{
	return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != swapped ? "big" : "little";
}

/* By CPU of the first buffer the time of its first event, and above these of its last. */
static int take_ends(void *ctx, const struct event *ev)
{
	struct map *ends = ctx;

	if (ev->part || ev->kind == EVENT_LOST)
		return 0;
	if (!map_find(ends, ev->cpu))
		*map_at(ends, ev->cpu) = ev->time;
	*map_at(ends, 1ull << 32 | ev->cpu) = ev->time;
	return 0;
}

/* The CPUs with records, and the first and last time of each. */
static void list_cpus(struct source *s, const struct ftrace_report_args *a, struct out *out)
{
	const struct tracedat *t = tracedat_of(s);
	bool raw = !tracedat_in_ns(t);
	struct map ends = { 0 };

	if (a->first || a->last)
		s->read_ordered(s, true, take_ends, &ends, NULL);
	out_printf(out, "List of CPUs in %s with data:\n", a->inputs.data[0].path);
	for (size_t i = 0; t->n_buffers && i < t->buffers[0].n_cpus; i++) {
		const struct tracedat_cpu *c = &t->buffers[0].cpus[i];

		if (!c->records)
			continue;
		out_printf(out, "  %u", c->cpu);
		if (a->first) {
			out_puts(out, "\tFirst event:");
			ftrace_text_time(*map_at(&ends, c->cpu), raw, a->nsec, out);
		}
		if (a->last) {
			out_puts(out, "\tLast event:");
			ftrace_text_time(*map_at(&ends, 1ull << 32 | c->cpu), raw, a->nsec, out);
		}
		out_putc(out, '\n');
	}
	map_free(&ends);
}

bool ftrace_info_other(struct source *s, const struct ftrace_names *names,
		       const struct ftrace_report_args *a, struct out *out)
{
	const struct tracedat *t = tracedat_of(s);

	if (a->page_size)
		out_printf(out, "file page size is %u, and host page size is %d\n", t->page_size,
			   getpagesize());
	else if (a->endian)
		out_printf(out, "file is %s endian and host is %s endian\n", endian(t->swap),
			   endian(false));
	else if (a->formats || a->print_event)
		list_formats(t, a->print_event, out);
	else if (a->check_events)
		return true;
	else if (a->functions)
		list_functions(names, out);
	else if (a->printk)
		list_printk(t, out);
	else if (a->events)
		list_events(t, out);
	else if (a->first || a->last || a->list_cpus)
		list_cpus(s, a, out);
	else
		return false;
	return true;
}

static void put_pages(struct out *out, uint32_t cpu, uint64_t offset, uint64_t size)
{
	out_printf(out,
		   "CPU%u data recorded at offset=0x%" PRIx64 "\n    %" PRIu64 " bytes in size\n",
		   cpu, offset, size);
}

static void put_stats(const struct tracedat *t, struct out *out)
{
	uint64_t at = t->page_size;
	uint32_t next = 0;

	out_printf(out,
		   "\nKernel buffer statistics:\n"
		   "  Note: \"entries\" are the entries left in the kernel ring buffer and are "
		   "not\n        recorded in the trace data. They should all be zero.\n\n%s\n",
		   *t->stats ? t->stats : " No stats in this file");
	for (size_t i = 0; t->n_buffers && i < t->buffers[0].n_cpus; i++) {
		const struct tracedat_cpu *c = &t->buffers[0].cpus[i];
		bool packed = strcmp(t->compression, "none") != 0;

		for (; next < c->cpu && next < 65536;
		     next++) /* those without events need not be in the file */
			put_pages(out, next, 0, 0);
		/* of compressed pages, where they would be if they stood in a row */
		put_pages(out, c->cpu, packed && c->size ? at : c->offset, c->size);
		at += c->size;
		if (c->cpu >= next && c->cpu != UINT32_MAX) /* never back: each is told once */
			next = c->cpu + 1;
	}
}

void ftrace_info_only(const struct source *s, const struct ftrace_report_args *a, struct out *out)
{
	const struct tracedat *t = tracedat_of(s);

	if (a->version)
		out_printf(out, "%s\n", *t->tool ? t->tool : " version was not stored");
	else if (a->uname)
		out_printf(out, "%s\n%s\n", *t->uname ? t->uname : " uname was not stored",
			   *t->tool ? t->tool : " version was not stored");
	else
		put_stats(t, out);
}

int ftrace_info_check(struct source *s, struct err *e)
{
	const struct tracedat *t = tracedat_of(s);
	struct arena arena = { 0 };
	AUTO_FREE char *first = NULL;
	size_t bad = 0;

	for (size_t i = 0; i < t->n_formats; i++) {
		struct event_type type = { .system = t->formats[i].system };
		const struct printfmt *print = NULL;
		struct err why = { 0 };

		if (type_parse_format(&type, &arena, t->formats[i].text, t->formats[i].size,
				      &why) == 0 &&
		    (strcmp(type.system, "ftrace") == 0 ||
		     printfmt_compile(&type, &arena, t->long_size, &print, &why) == 0))
			continue;
		bad++;
		if (!first)
			first = mem_printf("%s:%s: %s", t->formats[i].system, t->formats[i].name,
					   why.msg);
	}
	arena_free(&arena);
	if (bad)
		return err_set(e, EINVAL, "%zu formats are not understood; the first: %s", bad,
			       first);
	return 0;
}

/* --- wake-up latencies --- */

struct wakeup_type {
	enum { WAKE_NOT, WAKE_UP, WAKE_SWITCH } what;
	const struct field *pid, *success, *prio; /* of who is woken; of who runs next */
};

void wakeups_init(struct wakeups *w, const struct trace *t)
{
	w->types = mem_alloc((t->n_types + 1) * sizeof(*w->types));
	w->all.min = w->rt.min = UINT64_MAX;
	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *x = &t->types[i];

		if (match_tracepoint(x, "sched", "sched_wakeup") ||
		    match_tracepoint(x, "sched", "sched_wakeup_new"))
			w->types[i] = (struct wakeup_type){ .what = WAKE_UP,
							    .pid = type_field(x, "pid"),
							    .success = type_field(x, "success") };
		else if (match_tracepoint(x, "sched", "sched_switch"))
			w->types[i] = (struct wakeup_type){ .what = WAKE_SWITCH,
							    .pid = type_field(x, "next_pid"),
							    .prio = type_field(x, "next_prio") };
	}
}

static bool ftrace_info_value(const struct field *f, const struct event *ev, int64_t *v)
{
	return f && field_int(f, ev->raw, ev->raw_size, v);
}

static void add_up(struct wakeup_sum *s, uint64_t took, uint64_t at)
{
	s->total += took;
	s->n++;
	if (took > s->max) {
		s->max = took;
		s->max_at = at;
	}
	if (took < s->min) {
		s->min = took;
		s->min_at = at;
	}
}

void wakeups_event(struct wakeups *w, const struct event *ev, struct out *out)
{
	const struct wakeup_type *t = ev->type == EVENT_TYPE_NONE ? NULL : &w->types[ev->type];
	int64_t pid, prio, ok = 1;
	uint64_t *start, took;

	if (!t || t->what == WAKE_NOT || !ftrace_info_value(t->pid, ev, &pid))
		return;
	if (t->what == WAKE_UP) {
		ftrace_info_value(t->success, ev, &ok);
		if (ok)
			*map_at(&w->start, (uint32_t)pid) = ev->time;
		return;
	}
	if (!ftrace_info_value(t->prio, ev, &prio) ||
	    !(start = map_find(&w->start, (uint32_t)pid)) || !*start)
		return;
	took = ev->time - *start;
	*start = 0;
	add_up(&w->all, took, ev->time);
	if (prio <= 99)
		add_up(&w->rt, took, ev->time);
	out_printf(out, " Latency: %" PRIu64 ".%03" PRIu64 " usecs", took / 1000, took % 1000);
}

static void ftrace_info_put_sum(const struct wakeup_sum *s, struct out *out)
{
	uint64_t mean = s->total / s->n;

	out_printf(out, "\nAverage wakeup latency: %" PRIu64 ".%03" PRIu64 " usecs\n", mean / 1000,
		   mean % 1000);
	out_printf(out,
		   "Maximum Latency: %" PRIu64 ".%03" PRIu64 " usecs at timestamp: %" PRIu64
		   ".%06" PRIu64 "\n",
		   s->max / 1000, s->max % 1000, s->max_at / 1000000000,
		   (s->max_at + 500) % 1000000000 / 1000);
	out_printf(out,
		   "Minimum Latency: %" PRIu64 ".%03" PRIu64 " usecs at timestamp: %" PRIu64
		   ".%06" PRIu64 "\n\n",
		   s->min / 1000, s->min % 1000, s->min_at / 1000000000,
		   (s->min_at + 500) % 1000000000 / 1000);
}

void wakeups_finish(struct wakeups *w, struct out *out)
{
	if (!w->all.n)
		return;
	ftrace_info_put_sum(&w->all, out);
	if (w->rt.n) {
		out_puts(out, "RT task timings:\n");
		ftrace_info_put_sum(&w->rt, out);
	}
}

void wakeups_free(struct wakeups *w)
{
	map_free(&w->start);
	free(w->types);
}
