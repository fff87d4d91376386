/* SPDX-License-Identifier: MIT */
/* Counts written to a perf.data and read again, and records that make no sense. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "store/perfdata/perfdata.h"
#include "store/stat/statdata.h"
#include "tap.h"

#define PLACES 4

static struct count_place places[PLACES] = { { 0, 70 }, { 0, 71 }, { 1, 70 }, { 1, 71 } };
static struct count_place anywhere[1] = { { -1, 70 } };
static struct count counts[3][PLACES];

static struct count_event events[] = {
	{ .name = "task-clock",
	  .scale = 1,
	  .kind = SPEC_SOFTWARE,
	  .role = ROLE_TASK_CLOCK,
	  .spec = &(struct event_spec){ .attr = { .type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_TASK_CLOCK } },
	  .supported = true,
	  .place = places,
	  .count = counts[0],
	  .n_places = PLACES },
	{ .name = "joules",
	  .unit = "J",
	  .scale = 0.25,
	  .cgroup = "a/b",
	  .kind = SPEC_PMU,
	  .spec = &(struct event_spec){ .attr = { .type = 40, .config = 2 } },
	  .supported = true,
	  .first = 1,
	  .leader = 1,
	  .place = places,
	  .count = counts[1],
	  .n_places = PLACES },
	{ .name = "duration_time",
	  .scale = 1,
	  .kind = SPEC_TOOL,
	  .tool = SPEC_TOOL_DURATION,
	  .spec = &(struct event_spec){ 0 },
	  .supported = true,
	  .first = 2,
	  .leader = 2,
	  .place = anywhere,
	  .count = counts[2],
	  .n_places = 1 },
	{ .name = "cycles",
	  .scale = 1,
	  .spec = &(struct event_spec){ .attr = { .type = PERF_TYPE_HARDWARE } },
	  .first = 3,
	  .leader = 3,
	  .place = places,
	  .count = counts[2],
	  .n_places = PLACES },
};
static const struct count_set set = { .event = events, .n = ARRAY_SIZE(events) };

static const char *name_of(void *ctx, pid_t tid)
{
	(void)ctx;
	return tid == 70 ? "seventy" : "a name of more than sixteen bytes";
}

/* What is counted grows: n times its place. */
static void count_to(uint64_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		for (uint64_t k = 0; k < PLACES; k++)
			counts[i][k] = (struct count){ n * (k + 1) * (i + 1), n * 1000, n * 900 };
}

static int write_file(const char *path, bool pipe, struct arena *a, bool damaged, struct err *e)
{
	struct perfdata_write_opts wo = { .path = path, .pipe = pipe };
	struct statdata_config config = { .by = STAT_CORE, .interval_ms = 100 };
	struct perfdata_event *types = statdata_types(&set, a);
	struct perfdata_writer *w;
	int r = perfdata_write_open(&wo, &w, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < set.n; i++)
		perfdata_write_event(w, &types[i]);
	r = perfdata_write_start(w, e);
	if (r == 0)
		r = statdata_write_begin(w, &set, types, &config, name_of, NULL, e);
	if (r == 0 && damaged) {
		struct statdata_count bad[] = { { .id = 9999 }, { .id = 1, .thread = 77 } };
		uint64_t many = UINT64_MAX;

		perfdata_write_record(w, PERFDATA_STAT, 0, &bad[0], sizeof(bad[0]), e);
		perfdata_write_record(w, PERFDATA_STAT, 0, &bad[1], sizeof(bad[1]), e);
		perfdata_write_record(w, PERFDATA_STAT, 0, &bad[1], 16, e);
		perfdata_write_record(w, PERFDATA_STAT_ROUND, 0, NULL, 0, e);
		perfdata_write_record(w, PERFDATA_STAT_CONFIG, 0, &many, sizeof(many), e);
		perfdata_write_record(w, PERFDATA_THREAD_MAP, 0, &many, sizeof(many), e);
		perfdata_write_record(w, PERFDATA_THREAD_MAP, 0, NULL, 0, e);
	}
	for (uint64_t n = 1; r == 0 && n <= 3; n++) {
		count_to(n * n);
		if (n == 3)
			r = statdata_write_usage(w, &set, types, 5000000, 7000000, e);
		if (r == 0)
			r = statdata_write_round(w, &set, types, n * 100, n == 3, e);
	}
	return r == 0 ? perfdata_write_finish(w, e) : r;
}

struct seen {
	unsigned rounds, finals;
	uint64_t value[3], last_time, total;
	size_t n_places[4];
	bool supported[4];
};

static int on_round(void *ctx, struct statdata *d, uint64_t time_ns, bool final, struct err *e)
{
	struct seen *s = ctx;

	(void)e;
	if (s->rounds < 3)
		s->value[s->rounds] = d->set.event[1].count[3].value;
	s->rounds++;
	s->finals += final;
	s->last_time = time_ns;
	for (size_t i = 0; i < 4; i++) {
		s->n_places[i] = d->set.event[i].n_places;
		s->supported[i] = d->set.event[i].supported;
	}
	statdata_totals(d);
	s->total = d->set.event[1].count[3].value;
	return 0;
}

struct told {
	unsigned n;
	uint64_t last, length;
	double joules; /* of place 4, the second time */
	bool ok;
};

static int on_event(void *ctx, const struct event *ev)
{
	struct told *t = ctx;

	t->ok = t->ok && ev->kind == EVENT_COUNTER && ev->time >= t->last && ev->type < 3;
	t->n++;
	t->last = ev->time;
	t->length += ev->type == 0 && ev->cpu == 0 && ev->tid == 70 ? ev->side->length : 0;
	if (ev->type == 1 && ev->cpu == 1 && ev->tid == 71 && ev->time == 100)
		t->joules = ev->side->value;
	return 0;
}

/* A stream has the names in records; the file here has no features. */
static void read_back(const char *path, const char *what, bool pipe, unsigned bad)
{
	struct source *s = NULL;
	struct statdata *d = NULL;
	struct seen seen = { 0 };
	struct told told = { .ok = true };
	struct err e = { 0 };
	const struct count_event *ev;

	if (perfdata_open(path, &s, &e) < 0 || statdata_open(s, &d, &e) < 0) {
		CHECK_CASE(false, "%s: %.100s", what, e.msg);
		source_close(s);
		return;
	}
	CHECK_CASE(s->trace->losses.bad_records == bad, "damaged records are counted");
	CHECK_CASE(statdata_each(d, on_round, &seen, &e) == 0, "read");
	CHECK_CASE(seen.rounds == 3 && seen.finals == 1 && seen.last_time == 300, "three rounds");
	/* 1, 4, 9 times place 4 of event 2 */
	CHECK_CASE(seen.value[0] == 8 && seen.value[1] == 24 && seen.value[2] == 40,
		   "each since the one before");
	CHECK_CASE(seen.total == 72, "and all since the start");
	CHECK_CASE(seen.n_places[0] == 4 && seen.n_places[2] == 1, "the places");
	CHECK_CASE(seen.supported[0] && !seen.supported[3],
		   "what could not be counted is told apart");
	CHECK_CASE(d->config.by == STAT_CORE && d->config.interval_ms == 100 &&
			   !d->config.no_scale,
		   "the configuration");
	CHECK_CASE(d->user_s == 0.005 && d->sys_s == 0.007, "the command's times");
	CHECK_STR(statdata_thread(d, 70), "seventy");
	CHECK_STR(statdata_thread(d, 71), "a name of more ");
	CHECK_STR(statdata_thread(d, 72), "");
	ev = d->set.event;
	CHECK_CASE(ev[1].scale == 0.25 && ev[0].kind == SPEC_SOFTWARE &&
			   ev[2].kind == (pipe ? SPEC_TOOL : SPEC_SOFTWARE),
		   "scale and kinds");
	CHECK_STR(ev[1].unit, "J");
	CHECK_STR(ev[1].cgroup, "a/b");
	CHECK_STR(ev[1].name, pipe ? "joules" : "unknown attr type: 40");
	CHECK_CASE(ev[1].place[2].cpu == 1 && ev[1].place[2].tid == 70,
		   "CPU and thread of a place");
	statdata_close(d);
	CHECK_CASE(s->trace->types[0].has & TYPE_HAS_VALUES, "types of values, not of samples");
	CHECK_INT(s->read_ordered(s, true, on_event, &told, &e), 0);
	CHECK_CASE(told.ok && told.n == 27 && told.last == 200 && told.length == 299,
		   "as events in the order of time: %u until %llu", told.n,
		   (unsigned long long)told.last);
	/* 24 more, a quarter Joule each, counted nine tenths of the time */
	CHECK_CASE(fabs(told.joules - 24 * 0.25 / 0.9) < 1e-9, "scaled: %g", told.joules);
	source_close(s);
}

int main(void)
{
	char path[] = "/tmp/kymo-statdata-XXXXXX";
	int fd = mkstemp(path);
	struct arena a = { 0 };
	struct source *s = NULL;
	struct statdata *d = NULL;
	struct err e = { 0 };

	CHECK_CASE(fd >= 0 && write_file(path, true, &a, false, &e) == 0, "a stream: %.100s",
		   e.msg);
	read_back(path, "a stream", true, 0);
	CHECK_CASE(write_file(path, false, &a, true, &e) == 0, "a file with damage: %.100s", e.msg);
	read_back(path, "a file with damage", false, 2);
	/* cut anywhere, it is read up to there or refused */
	for (off_t n = 2000; n > 0; n -= 7) {
		if (truncate(path, n) < 0)
			break;
		s = NULL;
		d = NULL;
		if (perfdata_open(path, &s, &e) == 0 && statdata_open(s, &d, &e) == 0)
			statdata_each(d, NULL, NULL, &e);
		statdata_close(d);
		source_close(s);
	}
	CHECK_CASE(true, "cut at every place");
	unlink(path);
	close(fd);
	arena_free(&a);
	return tap_end();
}
