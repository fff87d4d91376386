/* SPDX-License-Identifier: MIT */
/*
 * A picture of addresses helps nobody, nor one of stacks without their callers; what would, is
 * known, and how much it is as in a report.
 */
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/picture/picture.h"
#include "view/report/report.h"

static bool has_stacks(const struct trace *t)
{
	bool chains = false;

	for (size_t i = 0; i < t->n_types; i++)
		chains |= (t->types[i].has & EVENT_HAVE_CHAIN) != 0;
	return chains;
}

/* Is it enough to be told? */
static bool is_much(uint64_t n, uint64_t of)
{
	return n && n * REPORT_WORTH >= of;
}

void picture_say_gaps(const struct trace *t, const struct names *n)
{
	struct report_end e = report_end_of(n);
	char share[16];

	if (!e.samples)
		return;
	if (!has_stacks(t))
		command_note("the recording has no stacks, only where its samples were: kymo "
			     "record -g has them, or kymo ftrace record -T");
	else if (is_much(e.abrupt_stacks, e.stacks))
		command_note("%s of the stacks end early%s%s",
			     str_percent((double)e.abrupt_stacks, (double)e.stacks, share,
					 sizeof(share)),
			     e.where_early[0] ? ", most " : "", e.where_early);
	if (is_much(e.full_stacks, e.stacks))
		command_note(
			"%s of the stacks are cut: %s",
			str_percent((double)e.full_stacks, (double)e.stacks, share, sizeof(share)),
			report_deeper(t));
	if (is_much(e.unresolved, e.samples))
		command_note(
			"%s of the samples are in code without a name%s%s",
			str_percent((double)e.unresolved, (double)e.samples, share, sizeof(share)),
			e.where_unnamed[0] ? ", most " : "", e.where_unnamed);
}
