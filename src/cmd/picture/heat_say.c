/* SPDX-License-Identifier: MIT */
/* kymo heat: what is not in the picture, and why one is empty. */
#include <string.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/picture/heat.h"

/* Without whom, all are measured where a time is given or where tasks do it for each other. */
static const char *wider(const struct heat_args *a)
{
	if (a->input)
		return "see what was recorded: kymo script";
	return a->duration || a->record.o.target.all_cpus || heat_crosses_tasks(a)
		       ? "all of the machine was measured: a longer -d may show some"
		       : "-a measures the whole machine, a longer -d more of it";
}

static void put_events(struct strbuf *b, const char *const *name, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(b, "%s%s", i ? " or " : "", name[i]);
}

/* "none of A"; "3 of A" */
static void put_seen(struct strbuf *b, uint64_t seen, const char *const *name, unsigned n)
{
	char text[32];

	strbuf_printf(b, "%s of ", seen ? str_thousands(seen, text, sizeof(text)) : "none");
	put_events(b, name, n);
}

/* What is the likely cause, and what to try. */
static const char *advice(const struct heat_args *a, const struct slices_counts *c)
{
	const struct target_opts *to = &a->record.o.target;
	bool some = to->pids || to->tids || to->user || to->cpus;

	if (c->begins && c->ends)
		return "are these the right fields? 'by BEGIN=END' is for those with two names";
	if (a->kind == HEAT_BLOCK && a->insert && c->ends)
		return "these disks have no scheduler that queues: without -Q it is from issue";
	if (a->input && (c->begins || c->ends))
		return "both must be recorded: kymo record -e A,B -a";
	if (some)
		return "perhaps others did it: without -p, -t, -u and -C, all are measured";
	if (a->kind == HEAT_BLOCK)
		return "what is read from memory reaches no disk, and writes reach it later: sync, "
		       "or a longer -d, may show some";
	return wider(a);
}

static void say_none(const struct heat_args *a, const struct slice_rule *s,
		     const struct slices_counts *c, struct heat_points *p)
{
	AUTO_STRBUF b = { 0 };

	put_seen(&b, c->begins, s->begin, s->n_begin);
	strbuf_puts(&b, " and ");
	put_seen(&b, c->ends, s->end, s->n_end);
	if (c->begins && c->ends) {
		strbuf_puts(&b, ", but none that agree in ");
		for (unsigned i = 0; i < s->n_keys; i++) {
			strbuf_printf(&b, "%s%s", i ? ", " : "", s->key[i].begin);
			if (strcmp(s->key[i].begin, s->key[i].end) != 0)
				strbuf_printf(&b, "=%s", s->key[i].end);
		}
	}
	p->why = mem_printf("there were %s", strbuf_str(&b));
	command_note("nothing to draw: %s", p->why);
	command_note("%s", advice(a, c));
}

void heat_say_pairs(const struct heat_args *a, const struct slice_rule *s,
		    const struct slices_counts *c, struct heat_points *p)
{
	bool from_issue = a->kind == HEAT_BLOCK && !a->insert; /* none is missing then */
	AUTO_STRBUF b = { 0 };
	char n[32];

	if (!p->points.n) {
		say_none(a, s, c, p);
		return;
	}
	if (c->lone_ends)
		strbuf_printf(&b, "%s ended that were not seen to begin",
			      str_thousands(c->lone_ends, n, sizeof(n)));
	if (c->open)
		strbuf_printf(&b, "%s%s had not ended", b.n ? ", " : "",
			      str_thousands(c->open, n, sizeof(n)));
	if (c->again && s->again != SLICE_KEEPS && !from_issue)
		strbuf_printf(&b, "%s%s began again before they ended", b.n ? ", " : "",
			      str_thousands(c->again, n, sizeof(n)));
	if (b.n && !a->quiet)
		command_note("not drawn: %s", strbuf_str(&b));
	if (c->again && from_issue && !a->quiet)
		command_note("%s were issued again before they ended, as to a device that has no "
			     "room; drawn from the last issue",
			     str_thousands(c->again, n, sizeof(n)));
}

void heat_say_no_values(const struct heat_args *a, const char *event, const char *field,
			uint64_t seen, struct heat_points *p)
{
	p->why = seen ? mem_printf("of %llu events %s none is of whom was asked for, with a value "
				   "of %s",
				   (unsigned long long)seen, event, field)
		      : mem_printf("there were no events %s", event);
	command_note("nothing to draw: %s", p->why);
	if (!seen)
		command_note("%s", wider(a));
}
