/* SPDX-License-Identifier: MIT */
/*
 * Recordings as one: the exact order of their events, equal times as the sources come, parts that
 * are read in any order, tasks of both, and clocks that differ. And functions that end at once, as
 * lines of ftrace report.
 */
#include <stdlib.h>
#include <time.h>

#include "base/str.h"
#include "calc/read/merge.h"
#include "calc/read/merge_kallsyms.h"
#include "tap.h"
#include "view/ftrace/text.h"

#define MANY 2000

struct made {
	struct source source;
	struct trace trace;
	struct event_type types[2];
	struct trace_part parts[2];
	const uint64_t *times;
	size_t n;
	unsigned closed;
};

static int made_read(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	const struct made *m = s->impl;
	int r = 0;

	(void)chunk;
	(void)e;
	for (size_t i = 0; i < m->n && r == 0; i++) {
		/* none of it holds until the next one */
		uint64_t raw = m->times[i], chain[1] = { raw };
		struct event_side side = { .text = "text" };
		struct event_extra extra = { .weight = raw, .regs = chain, .regs_mask = 1 };
		struct event ev = { .kind = EVENT_SAMPLE,
				    .type = 1,
				    .part = m->trace.n_parts ? i % 2 : 0,
				    .time = m->times[i],
				    .tid = 7,
				    .pid = 7,
				    .raw = &raw,
				    .raw_size = sizeof(raw),
				    .chain = chain,
				    .chain_n = 1,
				    .side = &side,
				    .extra = &extra };

		r = fn(ctx, &ev);
		raw = chain[0] = 0;
	}
	return r < 0 ? r : r > 0;
}

static int made_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	(void)all;
	return made_read(s, 0, fn, ctx, e);
}

static void made_close(struct source *s)
{
	struct made *m = s->impl;

	m->closed++;
	tasks_free(m->trace.tasks);
	arena_free(&m->trace.arena);
}

static void make(struct made *m, const char *type, const uint64_t *times, size_t n)
{
	*m = (struct made){ .times = times, .n = n };
	m->types[0] = (struct event_type){ .name = "alike", .has = EVENT_HAVE_TIME };
	m->types[1] = (struct event_type){ .name = type, .has = EVENT_HAVE_TIME };
	m->trace.types = m->types;
	m->trace.n_types = 2;
	m->trace.n_samples = n;
	m->trace.tasks = tasks_new();
	m->trace.first_time = n ? times[0] : 0;
	m->trace.last_time = n ? times[n - 1] : 0;
	m->source = (struct source){ .trace = &m->trace,
				     .impl = m,
				     .n_chunks = 1,
				     .read_chunk = made_read,
				     .read_ordered = made_ordered,
				     .close = made_close };
}

struct seen {
	struct strbuf text;
	uint64_t n, last, wrong, stop_at;
};

static int see(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;
	uint64_t raw;

	memcpy(&raw, ev->raw, sizeof(raw));
	s->wrong += ev->time < s->last || raw != ev->chain[0] || raw != ev->extra->weight ||
		    raw != ev->extra->regs[0] || strcmp(ev->side->text, "text") != 0;
	s->last = ev->time;
	if (s->text.n < 200)
		strbuf_printf(&s->text, " %llu:%u.%u", (unsigned long long)ev->time, ev->type,
			      ev->part);
	return ++s->n == s->stop_at ? 5 : 0;
}

static struct source *merged(struct made *m, size_t n, struct err *e)
{
	static const char *const names[] = { "one", "two", "three" };
	struct merge_input in[3];
	struct source *s = NULL;

	for (size_t i = 0; i < n; i++)
		in[i] = (struct merge_input){ &m[i].source, names[i] };
	merge_new(in, n, &(struct merge_opts){ 0 }, &s, e);
	return s;
}

static void in_order(void)
{
	static const uint64_t a[] = { 10, 20, 20, 40 }, b[] = { 20, 30, 40, 50 };
	struct made m[3];
	struct seen s = { 0 };
	struct err e = { 0 };
	struct source *all;

	make(&m[0], "first", a, 4);
	make(&m[1], "alike", NULL, 0);
	make(&m[2], "third", b, 4);
	m[2].trace.parts = m[2].parts;
	m[2].trace.n_parts = 2;
	all = merged(m, 3, &e);
	CHECK(all != NULL);
	CHECK_INT(all->trace->n_types, 3);
	CHECK_STR(all->trace->types[2].name, "third");
	CHECK_INT(all->trace->n_parts, 4);
	CHECK_INT(all->trace->parts[3].source, 2);
	CHECK_INT(all->trace->n_samples, 8);
	CHECK_INT(all->trace->first_time, 10);
	CHECK_INT(all->trace->last_time, 50);
	CHECK_INT(all->n_chunks, 3);
	CHECK_INT(all->read_ordered(all, true, see, &s, &e), 0);
	CHECK_STR(strbuf_str(&s.text), " 10:1.0 20:1.0 20:1.0 20:2.2 30:2.3 40:1.0 40:2.2 50:2.3");
	CHECK_INT(s.wrong, 0);
	strbuf_reset(&s.text);
	s.last = 0;
	CHECK_INT(all->read_chunk(all, 2, see, &s, &e), 0);
	CHECK_STR(strbuf_str(&s.text), " 20:2.2 30:2.3 40:2.2 50:2.3");
	CHECK_INT(all->read_chunk(all, 1, see, &s, &e), 0);
	CHECK_INT(s.n, 12);
	/* whoever has enough is answered so */
	s = (struct seen){ .text = s.text, .stop_at = 3 };
	CHECK_INT(all->read_ordered(all, false, see, &s, &e), 5);
	CHECK_INT(s.n, 3);
	source_close(all);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(m[i].closed, 1);
	strbuf_free(&s.text);
}

static void many(void)
{
	static uint64_t times[3][MANY];
	struct made m[3];
	struct seen s = { 0 };
	struct err e = { 0 };
	struct source *all;

	srand(5);
	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < MANY; i++)
			times[k][i] = (i ? times[k][i - 1] : 1) + (uint64_t)(rand() % 3);
		make(&m[k], "event", times[k], k == 1 ? MANY / 7 : MANY);
	}
	all = merged(m, 3, &e);
	CHECK_INT(all->trace->n_types, 2);
	CHECK_INT(all->read_ordered(all, true, see, &s, &e), 0);
	CHECK_INT(s.n, 2 * MANY + MANY / 7);
	CHECK_INT(s.wrong, 0);
	s = (struct seen){ .text = s.text, .stop_at = MANY };
	CHECK_INT(all->read_ordered(all, true, see, &s, &e), 5);
	source_close(all);
	strbuf_free(&s.text);
}

static void clocks(void)
{
	static const uint64_t a[] = { 1000 }, b[] = { 5000 };
	struct made m[2];
	struct seen s = { 0 };
	struct err e = { 0 };
	struct source *all;

	make(&m[0], "x", a, 1);
	make(&m[1], "x", b, 1);
	m[1].trace.info.clock = "mono";
	CHECK(!merged(m, 2, &e));
	CHECK_STR(e.msg,
		  "the times of one are of the clock perf, those of two of mono, and they do "
		  "not say how far these are apart");
	m[0].trace.info.clock = "global"; /* the same as perf's, but another one still */
	CHECK(!merged(m, 2, &e));
	/* the time of the day at one moment of each */
	m[0].trace.info.wall_time = 1700000000000000000;
	m[0].trace.info.wall_clock_time = 400;
	m[1].trace.info.wall_time = 1700000000000000000;
	m[1].trace.info.wall_clock_time = 4500;
	tasks_comm(m[0].trace.tasks, 0, 7, 7, "older", false);
	tasks_comm(m[1].trace.tasks, 4000, 7, 7, "newer", false);
	tasks_fork(m[1].trace.tasks, 4200, 7, 7, 8, 8, true);
	all = merged(m, 2, &e);
	CHECK(all != NULL);
	CHECK_INT(all->read_ordered(all, true, see, &s, &e), 0);
	CHECK_STR(strbuf_str(&s.text), " 900:1.1 1000:1.0");
	CHECK_STR(tasks_name_or(all->trace->tasks, 7, 100, "none"), "newer");
	CHECK_STR(tasks_name_or(all->trace->tasks, 7, 1000, "none"), "older");
	CHECK_STR(tasks_name_or(all->trace->tasks, 8, 1000, "none"), "newer");
	CHECK_INT(tasks_pid_at(all->trace->tasks, 8, 1000), 8);
	source_close(all);
	strbuf_free(&s.text);
}

static void refused(void)
{
	static const uint64_t a[] = { 1 };
	struct made m[2];
	struct err e = { 0 };

	make(&m[0], "x", a, 1);
	make(&m[1], "x", a, 1);
	m[0].trace.info.hostname = "here";
	m[1].trace.info.hostname = "there";
	CHECK(!merged(m, 2, &e));
	CHECK_STR(e.msg, "one is of the machine here, and two of there");
	m[1].trace.own = &(struct trace_own){ 0 };
	CHECK(!merged(m, 2, &e));
	CHECK_STR(e.msg, "two has no events that others could be put among");
	made_close(&m[0].source);
	made_close(&m[1].source);
}

/* --- lines that wait --- */

static const char format_of_graph[] =
	"name: %s\nID: %d\nformat:\n"
	"\tfield:unsigned long func;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long depth;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long calltime;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long rettime;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

static int shown(void *ctx, const struct ftrace_line *l)
{
	strbuf_printf(ctx, " %llu%s", (unsigned long long)l->ev->time, l->end ? "+" : "");
	if (l->missed)
		strbuf_printf(ctx, "(%d)", (int)l->missed);
	return 0;
}

static void lines(void)
{
	enum { ENTRY, EXIT };
	static const struct {
		int kind; /* -1: lost */
		uint32_t part;
		uint64_t func;
	} in[] = { { ENTRY, 0, 1 }, { EXIT, 0, 1 },  /* at once */
		   { ENTRY, 0, 2 }, { ENTRY, 0, 3 }, /* calls another one */
		   { EXIT, 1, 3 },  { EXIT, 0, 3 },  /* of another part, between */
		   { EXIT, 0, 2 },  { -1, 0, 0 },    { ENTRY, 0, 4 } };
	struct event_type types[2] = { { 0 } };
	struct trace t = { .types = types, .n_types = 2 };
	struct strbuf text = { 0 };
	struct ftrace_queue q = { .fn = shown, .ctx = &text };
	struct ftrace_text *ft;
	struct err e = { 0 };

	for (int i = 0; i < 2; i++) {
		AUTO_FREE char *f = mem_printf(format_of_graph,
					       i ? "funcgraph_exit" : "funcgraph_entry", i + 1);

		types[i].system = "ftrace";
		CHECK_INT(type_parse_format(&types[i], &t.arena, f, strlen(f), &e), 0);
	}
	ft = ftrace_text_new(&(struct ftrace_text_opts){ .long_size = 8 }, &t, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		uint64_t raw[4] = { in[i].func };
		struct event_side side = { .count = 3 };
		struct event ev = { .kind = in[i].kind < 0 ? EVENT_LOST : EVENT_SAMPLE,
				    .type = (uint32_t)(in[i].kind > 0),
				    .part = in[i].part,
				    .time = i,
				    .raw = raw,
				    .raw_size = sizeof(raw),
				    .side = in[i].kind < 0 ? &side : NULL };

		CHECK_INT(ftrace_queue_add(&q, ft, &ev, true), 0);
	}
	CHECK_STR(strbuf_str(&text), " 0+ 2 3+ 4 6");
	CHECK_INT(ftrace_queue_flush(&q), 0);
	CHECK_STR(strbuf_str(&text), " 0+ 2 3+ 4 6 8(3)");
	ftrace_queue_free(&q);
	ftrace_text_free(ft);
	arena_free(&t.arena);
	strbuf_free(&text);
}

/* Each recording keeps the symbols it needs: '-' where a function ends. */
static void kernel_names(void)
{
	static const char *const kept[] = {
		"1000 T f\n1010 - -\n3000 T h\n3000 t h_too\n3020 - -\nno line\n5000 t m\t[mod]\n",
		"1010 T g\n1040 - -\n3000 T another\n3020 t i", NULL
	};
	struct trace t = { 0 }, from[ARRAY_SIZE(kept)] = { 0 };
	const struct trace *all[ARRAY_SIZE(kept)];

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		from[i].info.kallsyms = kept[i];
		from[i].info.kallsyms_size = kept[i] ? strlen(kept[i]) : 0;
		all[i] = &from[i];
	}
	merge_kallsyms(&t, all, ARRAY_SIZE(all));
	CHECK_STR(t.info.kallsyms, "1000 T f\n1010 T g\n1040 - -\n3000 T h\n3000 t h_too\n"
				   "3020 t i\n5000 t m\t[mod]\n");
	CHECK_INT(t.info.kallsyms_size, strlen(t.info.kallsyms));
	merge_kallsyms(&t, &all[2], 1);
	CHECK(!t.info.kallsyms && !t.info.kallsyms_size);
	arena_free(&t.arena);
}

int main(void)
{
	kernel_names();
	in_order();
	many();
	clocks();
	refused();
	lines();
	return tap_end();
}
