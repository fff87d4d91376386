/* SPDX-License-Identifier: MIT */
/* kymo stat record: the file that counts go to. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/stat/stat.h"
#include "kern/tracefs.h"
#include "live/about/about.h"
#include "store/stat/statdata.h"

struct stat_file {
	struct perfdata_writer *w;
	struct arena arena;
	/* the events that are kept, with the counts of the set that was given at opening */
	struct count_set set;
	struct perfdata_event *events;
	bool pipe;
};

/* Of the default events those that cannot be counted here are not in the file. */
static void stat_record_choose(struct stat_file *f, const struct count_set *set,
			       bool only_supported)
{
	f->set.event = arena_alloc(&f->arena, (set->n + 1) * sizeof(*f->set.event));
	for (size_t i = 0; i < set->n; i++) {
		struct count_event *ev = &f->set.event[f->set.n];

		if (only_supported && !set->event[i].supported)
			continue;
		*ev = set->event[i];
		if (only_supported) /* none of these is in a group */
			ev->leader = ev->first = (int)f->set.n;
		f->set.n++;
	}
	f->events = statdata_types(&f->set, &f->arena);
}

static bool any_tracepoint(const struct count_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->event[i].kind == SPEC_TRACEPOINT)
			return true;
	return false;
}

/*
 * What a reader may want to know. perf cannot read a file of tracepoints without
 * their formats (nor its own, therefore), and no stream with them.
 */
static int stat_record_describe(struct stat_file *f, const struct stat_plan *p, struct err *e)
{
	struct about about = { .events = f->events,
			       .n_events = f->set.n,
			       .cmdline = command_line() };
	const char *tracefs;
	AUTO_STRBUF b = { 0 };

	if (!f->pipe && any_tracepoint(&f->set) && (tracefs = tracefs_find(e))) {
		tracing_data(tracefs, &p->args->events, &b);
		perfdata_write_early(f->w, PERFDATA_TRACING_DATA, b.data, b.n);
	}
	for (unsigned i = PERFDATA_HOSTNAME; i < PERFDATA_FEATURE_END; i++)
		if (about_feature(&about, i, &b))
			perfdata_write_early(f->w, i, b.data, b.n);
	return 0;
}

int stat_file_open(const struct stat_plan *p, const struct count_set *set, stat_name_fn *name,
		   void *ctx, struct stat_file **ret, struct err *e)
{
	const char *path = p->args->output ? p->args->output : "perf.data";
	struct stat_file *f = mem_alloc(sizeof(*f));
	struct statdata_config config = { .by = p->by,
					  .interval_ms = (uint64_t)p->args->interval_ms,
					  .no_scale = p->args->no_scale };
	int r;

	f->pipe = strcmp(path, "-") == 0;
	stat_record_choose(f, set, p->args->default_events);
	/* a reader of the recording who has gone is told, one of the messages is not needed */
	signal(SIGPIPE, SIG_IGN);
	if (!f->pipe)
		perfdata_keep_old(path);
	r = perfdata_write_open(&(struct perfdata_write_opts){ .path = path, .pipe = f->pipe },
				&f->w, e);
	if (r == 0) {
		for (size_t i = 0; i < f->set.n; i++)
			perfdata_write_event(f->w, &f->events[i]);
		r = stat_record_describe(f, p, e);
	}
	if (r == 0)
		r = perfdata_write_start(f->w, e);
	if (r == 0)
		r = statdata_write_begin(f->w, &f->set, f->events, &config, name, ctx, e);
	if (r < 0)
		stat_file_close(f, true, NULL);
	else
		*ret = f;
	return r;
}

int stat_file_round(struct stat_file *f, uint64_t time_ns, bool final, struct err *e)
{
	return statdata_write_round(f->w, &f->set, f->events, time_ns, final, e);
}

int stat_file_usage(struct stat_file *f, double user_s, double sys_s, struct err *e)
{
	return statdata_write_usage(f->w, &f->set, f->events, (uint64_t)(user_s * 1e9),
				    (uint64_t)(sys_s * 1e9), e);
}

int stat_file_close(struct stat_file *f, bool failed, struct err *e)
{
	int r = 0;

	if (!f)
		return 0;
	if (f->w && failed)
		perfdata_write_abandon(f->w);
	else if (f->w && !f->pipe)
		r = perfdata_write_feature(f->w, PERFDATA_STAT_FEATURE, NULL, 0, e);
	if (f->w && !failed && r == 0)
		r = perfdata_write_finish(f->w, e);
	arena_free(&f->arena);
	free(f);
	return r;
}
