/* SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <stdlib.h>

#include "cmd/command.h"
#include "cmd/report/top.h"
#include "cmd/share/input.h"

static struct symbols *new_symbols(const struct top *t, struct err *e)
{
	struct input_kernel ko = { .kallsyms = t->a->kallsyms, .vmlinux = t->a->vmlinux };
	struct symbols *s;
	struct kallsyms list;
	const char *note;

	/* a screen that is drawn anew each second cannot wait for servers */
	s = symbols_new(&(struct symbols_opts){ .no_debuginfod = true, .find.living = true });
	if (ko.kallsyms || ko.vmlinux) {
		if (input_kernel_symbols(t->m.source, &ko, s, &note, e) < 0) {
			symbols_free(s);
			return NULL;
		}
	} else if (kallsyms_load(&list, "/proc/kallsyms", NULL) == 0) {
		symbols_kernel_list(s, &list);
	}
	return s;
}

static struct top_era *top_era_begin(const struct trace *trace, struct symbols *symbols)
{
	struct top_era *e = mem_alloc(sizeof(*e));

	e->trace = *trace;
	e->symbols = symbols;
	e->users = 1;
	return e;
}

int top_era_first(struct top *t, struct err *e)
{
	struct symbols *symbols = new_symbols(t, e);

	if (!symbols)
		return -e->code;
	t->era = top_era_begin(t->m.source->trace, symbols);
	return 0;
}

void top_era_put(struct top_era *e)
{
	if (!e || --e->users)
		return;
	symbols_free(e->symbols);
	if (e->ended) /* else they are the trace's own */
		tasks_free(e->trace.tasks);
	free(e);
	malloc_trim(0);
}

void top_era_turn(struct top *t)
{
	struct top_era *old = t->era;
	struct tasks_wanted wanted;
	struct tasks_moved moved;
	struct symbols *symbols;

	profile_builder_fade(t->counted, t->a->zero ? 0 : 0.875);
	if (!old->has_begun) {
		old->has_begun = true;
		old->begun = symbols_use(old->symbols);
	}
	if (!monitor_grown(&t->m) && !symbols_grown(old->symbols, old->begun))
		return;
	symbols = new_symbols(t, NULL);
	if (!symbols)
		return; /* names are worth more than memory */
	tasks_want_none(old->trace.tasks, &wanted);
	profile_builder_wants(t->counted, &wanted);
	monitor_renew(&t->m, &wanted, &moved);
	profile_builder_move(t->counted, &moved);
	tasks_wanted_free(&wanted);
	tasks_moved_free(&moved);
	t->era = top_era_begin(t->m.source->trace, symbols);
	old->ended = true;
	top_era_put(old);
}

/* --- snapshots --- */

static bool is_callee_root(void *ctx, const char *function)
{
	return regexec(&((const struct top *)ctx)->callees, function, 0, NULL, 0) == 0;
}

/* Who asks for something special has them as they are. */
bool top_leaves_idle_out(const struct top_args *a)
{
	return !a->idle && !a->pick.comms && !a->pick.dsos && !a->pick.symbols && !a->symbol &&
	       !command_is_perf();
}

int top_snapshot_take(struct top *t, struct top_snapshot **ret, struct err *e)
{
	struct names_opts no = { .lines = columns_have_lines(&t->columns) ||
					  t->a->graph.opts.key != GRAPH_BY_FUNCTION,
				 .ignore_callees = t->has_callees ? is_callee_root : NULL,
				 .ctx = t };
	struct top_snapshot *s = mem_alloc(sizeof(*s));
	struct symbols *symbols = t->era->symbols;
	int r;

	s->users = 1;
	s->era = t->era;
	s->era->users++;
	s->era->trace.losses = t->m.source->trace->losses;
	profile_copy(profile_builder_look(t->counted), &s->era->trace, &s->profile);
	r = names_make(&s->profile, symbols, &no, &s->names, e);
	if (r == 0 && symbols_refresh(symbols)) { /* code that was compiled meanwhile */
		names_free(&s->names);
		r = names_make(&s->profile, symbols, &no, &s->names, e);
	}
	if (r < 0) {
		profile_free(&s->profile);
		top_era_put(s->era);
		free(s);
		return r;
	}
	if (top_leaves_idle_out(t->a))
		idle_leave_out(&s->profile, &s->names, &s->idle);
	s->sites = pick_sites(&t->pick, &s->names);
	*ret = s;
	return 0;
}

void top_snapshot_put(void *snapshot)
{
	struct top_snapshot *s = snapshot;

	if (!s || --s->users)
		return;
	free(s->sites);
	names_free(&s->names);
	profile_free(&s->profile);
	top_era_put(s->era);
	free(s);
}
