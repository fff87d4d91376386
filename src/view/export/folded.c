/* SPDX-License-Identifier: MIT */
/* Folded stacks of one event, as stackcollapse-perf.pl writes them. */
#include "calc/profile/stacks.h"
#include "view/export/export.h"
#include "view/picture/folded.h"

static ssize_t to_out(void *cookie, const char *data, size_t n)
{
	out_add(cookie, data, n);
	return (ssize_t)n;
}

int export_folded(struct export_job *x, struct err *e)
{
	FILE *f = fopencookie(x->out, "w", (cookie_io_functions_t){ .write = to_out });
	struct folded_opts o = { .tidy = true };
	struct stacks s = { 0 };
	int r;

	if (!f)
		return err_set(e, ENOMEM, "cannot write");
	profile_stacks(x->names, false, false, &s);
	o.type = profile_first_type(x->profile); /* different events have no sum */
	r = folded_write(f, &s, NULL, &o, e);
	fclose(f);
	if (x->source->trace->n_types) {
		x->written = x->profile->total[o.type].count;
		x->only = x->source->trace->types[o.type].name;
	}
	stacks_free(&s);
	return r;
}
