/* SPDX-License-Identifier: MIT */
#include "cmd/share/analyse.h"

#include "cmd/share/input.h"
#include "view/ftrace/names.h"
#include "view/table/table.h"
#include "view/tui/tui.h"

/* Names of the recording's kernel, read when one is asked for. */
struct analyse_names {
	const struct trace *trace;
	struct ftrace_names *names;
};

static const char *analyse_name(void *ctx, uint64_t addr, uint64_t *start)
{
	struct analyse_names *n = ctx;
	const struct trace_info *info = &n->trace->info;
	const struct ftrace_name *name;

	if (!n->names) {
		AUTO_FREE char *text = NULL;
		size_t size = 0;

		if (!info->kallsyms && input_kallsyms(n->trace, &text, &size) < 0)
			text = NULL;
		n->names = info->kallsyms ? ftrace_names_new(info->kallsyms, info->kallsyms_size)
					  : ftrace_names_new(text, size);
	}
	name = ftrace_names_find(n->names, addr);
	if (name)
		*start = name->addr;
	return name ? name->name : NULL;
}

int analyse_source(const struct analyse *a, const struct analyse_args *args, struct source *s,
		   struct tables *ret, struct err *e)
{
	struct analyse_names names = { .trace = s->trace };
	struct analysis_env env = {
		.trace = s->trace, .args = a->args, .name = analyse_name, .ctx = &names
	};
	struct analysis_run *run = NULL;
	int r = analysis_begin(a->analysis, &env, &run, e);

	if (r == 0)
		r = s->read_ordered(s, false, analysis_add, run, e);
	if (r >= 0)
		r = analysis_tables(run, args->sort, ret, e);
	if (r == 0 && args->rows > 0)
		vec_each (ret, t)
			table_cut(*t, (size_t)args->rows);
	analysis_end(run);
	ftrace_names_free(names.names);
	return r;
}

int analyse_print(FILE *f, const struct analyse *a, const struct analyse_args *args,
		  struct tables *t, struct err *e)
{
	if (args->tui)
		return args->json || args->csv || args->separator
			       ? err_set(e, EINVAL,
					 "--tui shows tables, others print them: one of them")
			       : tui_tables(t, a->analysis->summary, e);
	if (args->json)
		table_json_all(f, t);
	else if (args->csv || args->separator)
		table_csv_all(f, t, args->separator ? args->separator : ",");
	else if (a->text)
		a->text(f, t);
	else
		table_text_all(f, t);
	return 0;
}

int analyse(const struct analyse *a, const struct analyse_args *args, int argc, char **argv,
	    struct err *e)
{
	struct tables tables = { 0 };
	struct source *s = NULL;
	int r;

	if (argc > 1 || (argc && args->input))
		return err_set(e, EINVAL, "what is '%s'? one file is read", argv[argc - 1]);
	r = input_open(argc ? argv[0] : args->input ? args->input : a->file, &s, e);
	if (r < 0)
		return r;
	r = analyse_source(a, args, s, &tables, e);
	if (r == 0) {
		r = analyse_print(stdout, a, args, &tables, e);
		input_warn(s);
	}
	tables_free(&tables);
	source_close(s);
	return r;
}
