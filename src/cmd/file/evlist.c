/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/file/evlist.h"
#include "cmd/share/input.h"

struct args {
	const char *input;
	bool verbose, group, freq, fields, force;
};

static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: perf.data; -: stdin)",
		  "@files"),
	OPT_FLAG('v', "verbose", verbose, "how each event was set up"),
	OPT_FLAG('g', "group", group, "which events were counted together"),
	OPT_FLAG('F', "freq", freq, "how often each was sampled"),
	OPT_FLAG(0, "trace-fields", fields, "the fields of tracepoints"),
	OPT_FLAG('f', "force", force, "read files of other users (kymo always does)"),
	OPT_END,
};

static void evlist_part(struct evlist_line *l)
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

static void put_fields(struct evlist_line *l, const struct event_type *t)
{
	const char *before = " trace_fields: ";

	if (t->class != TYPE_TRACEPOINT || !t->n_fields) {
		evlist_part(l);
		strbuf_puts(l->b, t->class != TYPE_TRACEPOINT ? " (not a tracepoint)"
							      : " (no trace field)");
		return;
	}
	for (size_t i = 0; i < t->n_fields; i++) {
		if (t->fields[i].is_common)
			continue;
		evlist_part(l);
		strbuf_printf(l->b, "%s%s", before, t->fields[i].name);
		before = "";
	}
}

static void put_type(struct strbuf *b, const struct args *a, const struct source *s, size_t i)
{
	const struct event_type *t = &s->trace->types[i];
	struct evlist_line l = evlist_begin(b, t, a->freq && !a->verbose);

	if (a->verbose && s->settings)
		s->settings(s, i, evlist_setting, &l);
	if (a->fields)
		put_fields(&l, t);
	strbuf_putc(b, '\n');
}

/* "{cycles,instructions}" from its leader at i. */
static void put_group(struct strbuf *b, const struct trace *t, size_t i)
{
	size_t end = i + 1;

	while (end < t->n_types && t->types[end].leader == (int)i)
		end++;
	if (end == i + 1) {
		strbuf_printf(b, "%s\n", t->types[i].name);
		return;
	}
	strbuf_printf(b, "%s{", t->types[i].group_name ? t->types[i].group_name : "");
	for (size_t k = i; k < end; k++)
		strbuf_printf(b, "%s%s", k > i ? "," : "", t->types[k].name);
	strbuf_puts(b, "}\n");
}

static int evlist_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	bool tracepoints = false;
	AUTO_STRBUF b = { 0 };
	struct source *s = NULL;
	int r;

	if (argc > 0)
		return err_set(e, EINVAL, "what is '%s'? evlist takes options only", argv[0]);
	if (a->group && (a->verbose || a->freq || a->fields))
		return err_set(e, EINVAL, "--group goes with no other option");
	r = input_open(a->input, &s, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->trace->n_types; i++) {
		const struct event_type *t = &s->trace->types[i];

		tracepoints = tracepoints || t->class == TYPE_TRACEPOINT;
		if (!a->group)
			put_type(&b, a, s, i);
		else if (t->leader == (int)i)
			put_group(&b, s->trace, i);
	}
	fputs(strbuf_str(&b), stdout);
	if (tracepoints && !a->fields)
		puts("# Tip: use 'kymo evlist --trace-fields' to show fields for tracepoint "
		     "events");
	input_warn(s);
	source_close(s);
	return 0;
}

const struct command cmd_evlist = {
	.name = "evlist",
	.group = "Profile",
	.summary = "list the events of a recording",
	.usage = "[-i FILE] [OPTIONS]",
	.examples = EXAMPLES({ "evlist -v", "the events of perf.data with all their settings" }),
	COMMAND_USUAL(evlist),
};
