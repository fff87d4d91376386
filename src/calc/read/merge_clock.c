/* SPDX-License-Identifier: MIT */
/* By which clocks recordings were made, and how far these are apart. */
#include "calc/read/merge_clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The same moment, told by recordings of one boot, may differ by so much. */
#define SAME_BOOT_NS 10000000000

/* A clock's name; clocks of the same name tell the same time, in one boot. */
static const char *clock_name(const struct trace *t)
{
	/* of one kernel, which perf calls its own: without an unstable TSC they are the same */
	static const char *const local[] = { "", "local", "global", "perf" };
	static const struct {
		unsigned id;
		const char *name;
	} ids[] = { { CLOCK_MONOTONIC, "mono" },
		    { CLOCK_MONOTONIC_RAW, "mono_raw" },
		    { CLOCK_BOOTTIME, "boot" },
		    { CLOCK_TAI, "tai" },
		    { CLOCK_REALTIME, "date" } };

	for (size_t i = 0; t->info.clock && i < ARRAY_SIZE(local); i++)
		if (strcmp(t->info.clock, local[i]) == 0)
			return "perf";
	if (t->info.clock)
		return t->info.clock;
	for (size_t i = 0; t->info.has_clock && i < ARRAY_SIZE(ids); i++)
		if (t->info.clock_id == ids[i].id)
			return ids[i].name;
	return t->info.has_clock ? "other" : "perf";
}

/* The time of the day at the clock's 0; false when the recording does not tell. */
static bool wall_at_zero(const struct trace *t, int64_t *ret)
{
	*ret = (int64_t)(t->info.wall_time - t->info.wall_clock_time);
	if (strcmp(clock_name(t), "date") == 0)
		*ret = 0;
	else if (!t->info.wall_time)
		return false;
	return true;
}

static bool has_times(const struct trace *t)
{
	for (size_t i = 0; i < t->n_types; i++)
		if (t->types[i].has & EVENT_HAVE_TIME)
			return true;
	return false;
}

int merge_clocks(const struct merge_input *in, size_t n, int64_t *shift, struct err *e)
{
	const struct trace *first = in[0].source->trace;
	int64_t from, to;
	bool known = wall_at_zero(first, &to);

	for (size_t i = 1; i < n; i++) {
		const struct trace *t = in[i].source->trace;
		bool same = strcmp(clock_name(first), clock_name(t)) == 0;
		bool both = wall_at_zero(t, &from) && known;

		if (!has_times(t) || !has_times(first))
			continue;
		if (both && (!same || llabs(from - to) > SAME_BOOT_NS))
			shift[i] = from - to;
		else if (!same) {
			err_set(e, EOPNOTSUPP,
				"the times of %s are of the clock %s, those of %s of %s, and they "
				"do "
				"not say how far these are apart",
				in[0].name, clock_name(first), in[i].name, clock_name(t));
			return err_hint(e, "record both by one clock: kymo record -k mono, kymo "
					   "ftrace record -C mono");
		}
	}
	return 0;
}
