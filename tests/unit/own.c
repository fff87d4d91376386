/* SPDX-License-Identifier: MIT */
/* Sources with names instead of addresses: what counting and naming make of them, to the sample. */
#include <string.h>

#include "calc/profile/names.h"
#include "calc/profile/stacks.h"
#include "store/text/own.h"
#include "tap.h"

struct named {
	struct source *s;
	struct symbols *symbols;
	struct profile p;
	struct names n;
};

static struct named name(text_source_fn *read, const char *text)
{
	struct profile_opts o = { .by = PROFILE_BY_COMM | PROFILE_BY_TID | PROFILE_BY_CHAIN,
				  .by_file = true };
	struct named r = { 0 };
	struct err e = { 0 };

	CHECK_INT(read("f", text, strlen(text), &r.s, &e), 0);
	r.symbols = symbols_new(&(struct symbols_opts){
		.find.own = r.s->trace->own, .no_cache = true, .no_debuginfod = true });
	CHECK_INT(profile_make(r.s, &o, &r.p, &e), 0);
	CHECK_INT(names_make(&r.p, r.symbols,
			     &(struct names_opts){ .inlines = true, .by_file = true }, &r.n, &e),
		  0);
	return r;
}

static void named_free(struct named *r)
{
	names_free(&r->n);
	profile_free(&r->p);
	symbols_free(r->symbols);
	source_close(r->s);
}

/* The weight and samples of a function's own samples, whatever thread they are of. */
static void function_is(const struct named *r, const char *function, const char *dso,
			uint64_t weight, uint64_t count)
{
	uint64_t w = 0, n = 0;

	for (size_t i = 0; i < r->p.entries.n; i++) {
		const struct name_site *s = &r->n.sites.data[r->n.entry_site[i]];
		const char *is = names_function(&r->n, s->frame);

		if (!is || strcmp(is, function) != 0 || strcmp(names_dso(&r->n, s->dso), dso) != 0)
			continue;
		w += r->p.entries.data[i].weight;
		n += r->p.entries.data[i].count;
	}
	CHECK_CASE(w == weight && n == count, "%s of %s: %llu of %llu samples", function, dso,
		   (unsigned long long)w, (unsigned long long)n);
}

static void test_folded(void)
{
	struct named r = name(folded_source, "a;b 3\na;b;sys_[k] 4\na 5\na;b;in_[i] 6\n"
					     "a;b;sys_[k];kin_[i] 1\nc;[libz.so] 2\n 7\n");
	struct name_frame *f;

	CHECK_INT(r.s->trace->n_samples, 7);
	CHECK_INT(r.p.total[0].weight, 28);
	CHECK_INT(r.p.total[0].count, 28);
	function_is(&r, "a", "[unknown]", 5, 5);
	function_is(&r, "b", "[unknown]", 9, 9); /* with what was inlined into it */
	function_is(&r, "sys", "[kernel.kallsyms]", 5, 5);
	function_is(&r, "[libz.so]", "libz.so", 2, 2);
	vec_each (&r.n.frames, at) {
		f = at;
		if (f->name != SYMBOLS_NONE && strcmp(symbols_text(r.symbols, f->name), "in") == 0)
			CHECK(f->inlined);
	}
	CHECK(!r.s->trace->own->tasks && r.s->trace->own->modules);
	CHECK_INT(r.s->trace->last_time, 0);
	CHECK(!(r.s->trace->types[0].has & EVENT_HAVE_TIME));
	named_free(&r);
}

/* Files that are here by those names are not asked: nothing but the text's names is known. */
static void test_script(void)
{
	struct named r =
		name(script_text_source,
		     "sh 3/4 [001] 2.0: 50 cycles:\n\tffffffff81000000 read ([kernel.kallsyms])\n"
		     "\t1 main (/bin/sh)\n\n"
		     "dd 3/4 [001] 1.0: 7 cycles:\n\t2 main (/bin/sh)\n\n"
		     "dd 3/4 [001] 3.0: 9 cycles:\n\t2 main (/bin/dd)\n"
		     "\t1139 [unknown] (/bin/dd)\n\n");
	const struct strtab *t = tasks_strings(r.s->trace->tasks);

	function_is(&r, "read", "[kernel.kallsyms]", 50, 1);
	function_is(&r, "main", "sh", 7, 1);
	function_is(&r, "main", "dd", 9, 1);
	CHECK_INT(r.s->trace->first_time, 1000000000);
	CHECK_INT(r.s->trace->last_time, 3000000000);
	/* by time, not by line */
	CHECK_STR(strtab_get(t, tasks_comm_at(r.s->trace->tasks, 4, 1500000000)), "dd");
	CHECK_STR(strtab_get(t, tasks_comm_at(r.s->trace->tasks, 4, 2500000000)), "sh");
	CHECK_STR(strtab_get(t, tasks_comm_at(r.s->trace->tasks, 4, 3000000000)), "dd");
	CHECK_INT(r.s->trace->own->first_type, 0);
	named_free(&r);
}

struct seen {
	uint64_t time, n;
};

static int later(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;

	CHECK(ev->time >= s->time);
	s->time = ev->time;
	s->n++;
	return s->n == 2 ? 5 : 0;
}

static void test_order(void)
{
	static const char text[] = "a 1 3.0: e: \na 1 1.0: e: \na 1 2.0: e: \n";
	struct seen seen = { 0 };
	struct err e = { 0 };
	struct source *s;

	CHECK_INT(script_text_source("f", text, strlen(text), &s, &e), 0);
	CHECK_INT(s->read_ordered(s, false, later, &seen, &e), 5); /* who has enough stops it */
	CHECK_INT(seen.time, 2000000000);
	source_close(s);
}

/* One function at two lines is one, and has both lines. */
static void test_lines(void)
{
	struct own *o = own_new("test");
	uint32_t type = own_type(o, "n", 1), id[2];
	struct own_frame f = { .name = { "f", 1 }, .file = { "a.c", 3 }, .line = 1 };
	struct own_sample sample = {
		.type = type, .pid = -1, .tid = -1, .cpu = UINT32_MAX, .weight = 1, .count = 1
	};
	const struct trace_frame *at[2];
	struct source *s;

	id[0] = own_frame(o, &f);
	f.line = 2;
	id[1] = own_frame(o, &f);
	CHECK(id[0] != id[1]);
	CHECK_INT(own_frame(o, &f), id[1]);
	CHECK_INT(own_sample(o, id, 2, &sample), 0);
	CHECK_INT(own_sample(o, id, 0, &sample), 0);
	s = own_source(o);
	for (size_t i = 0; i < 2; i++)
		at[i] = trace_own_frame(s->trace->own, trace_own_addr(s->trace->own, i) - 1);
	CHECK_INT(at[0]->line + at[1]->line, 3);
	CHECK_INT(at[0]->function, at[1]->function);
	CHECK(!trace_own_frame(s->trace->own, 0));
	CHECK(!trace_own_frame(s->trace->own, TRACE_OWN_USER + 2 * TRACE_OWN_SIZE));
	CHECK(!trace_own_frame(s->trace->own, TRACE_OWN_KERNEL));
	source_close(s);
}

int main(void)
{
	test_folded();
	test_script();
	test_order();
	test_lines();
	return tap_end();
}
