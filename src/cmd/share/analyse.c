/* SPDX-License-Identifier: MIT */
#include "cmd/share/analyse.h"

#include "cmd/share/input.h"
#include "view/table/table.h"

static int read_events(const struct analysis *a, const struct analyse_args *args, struct source *s,
		       struct tables *ret, struct err *e)
{
	struct analysis_run *run = NULL;
	int r = analysis_begin(a, s->trace, args, &run, e);

	if (r == 0)
		r = s->read_ordered(s, false, analysis_add, run, e);
	if (r == 0)
		r = analysis_tables(run, args->sort, ret, e);
	analysis_end(run);
	return r;
}

static void print_tables(const struct tables *t, const struct analyse_args *args)
{
	if (args->json)
		table_json_all(stdout, t);
	else if (args->csv || args->separator)
		table_csv_all(stdout, t, args->separator ? args->separator : ",");
	else
		table_text_all(stdout, t);
}

int analyse(const struct analysis *a, const struct analyse_args *args, const char *file, int argc,
	    char **argv, struct err *e)
{
	struct tables tables = { 0 };
	struct source *s = NULL;
	int r;

	if (argc > 1 || (argc && args->input))
		return err_set(e, EINVAL, "what is '%s'? one file is read", argv[argc - 1]);
	r = input_open(argc ? argv[0] : args->input ? args->input : file, &s, e);
	if (r < 0)
		return r;
	r = read_events(a, args, s, &tables, e);
	if (r == 0) {
		if (args->rows > 0)
			vec_each (&tables, t)
				table_cut(*t, (size_t)args->rows);
		print_tables(&tables, args);
		input_warn(s);
	}
	tables_free(&tables);
	source_close(s);
	return r;
}
