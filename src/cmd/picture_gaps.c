/* SPDX-License-Identifier: MIT */
/*
 * A picture of addresses helps nobody, nor one of stacks without their callers; what would, is
 * known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "calc/names.h"
#include "calc/stacks_gaps.h"
#include "cmd/command.h"
#include "cmd/picture.h"
#include "view/report.h"

static bool has_stacks(const struct trace *t)
{
	bool chains = false;

	for (size_t i = 0; i < t->n_types; i++)
		chains |= t->types[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	return chains;
}

/* Is it enough of the samples to be told? */
static bool is_much(uint64_t n, const struct stacks_gaps *g)
{
	return n && n * REPORT_WORTH >= g->samples;
}

static void say_early(const struct trace *t, const struct stacks_gaps *g)
{
	struct report_lost l = { .early = g->early,
				 .in_jit = g->early_in_jit,
				 .in_file = g->early_in_file,
				 .file = g->early_file ? str_base_name(g->early_file) : NULL,
				 .java = g->java };
	char where[256];

	report_where_lost(&l, t, where, sizeof(where));
	command_note("%.0f%% of the stacks end early%s%s",
		     100.0 * (double)g->early / (double)g->samples, where[0] ? ", most " : "",
		     where);
}

void picture_say_gaps(const struct trace *t, const struct stacks *s)
{
	AUTO_FREE uint32_t *max = mem_alloc((t->n_types + 1) * sizeof(*max));
	struct stacks_gaps g;

	for (uint32_t i = 0; i < t->n_types; i++)
		max[i] = names_max_stack(t, i);
	g = stacks_gaps(s, max);

	if (!g.samples)
		return;
	if (!has_stacks(t))
		command_note("the recording has no stacks, only where its samples were: kymo "
			     "record -g has them, or kymo ftrace record -T");
	else if (is_much(g.early, &g))
		say_early(t, &g);
	if (is_much(g.cut, &g))
		command_note("%.0f%% of the stacks are cut: %s",
			     100.0 * (double)g.cut / (double)g.samples, report_deeper(t));
	if (is_much(g.with_jit, &g))
		command_note("%.0f%% of the samples have code in their stacks that a runtime "
			     "compiled and nobody named: " REPORT_NAME_JIT,
			     100.0 * (double)g.with_jit / (double)g.samples);
	if (is_much(g.unnamed, &g))
		command_note("%.0f%% of the samples are in code without a name, most in %s: "
			     "install its debug symbols%s",
			     100.0 * (double)g.unnamed / (double)g.samples,
			     str_base_name(g.unnamed_file),
			     getenv("DEBUGINFOD_URLS") ? "" : ", or set DEBUGINFOD_URLS");
}
