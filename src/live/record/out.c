/* SPDX-License-Identifier: MIT */
/* A recording's file. What is known goes in front of it, side-band at its start. */
#include "live/record/record.h"

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "live/about/about.h"
#include "live/about/synth.h"
#include "store/perfdata/inject.h"

#define DRAIN_NS 10000000u /* how long rings may wait while tasks are looked up */

/* Who reads a file sorts this much at a time; who reads a stream waits for a round's end. */
#define ROUND_BYTES (64u << 10)

/* There may be many tasks: the rings are emptied now and then. No round ends here, so readers
 * see these records before any sample. */
static int record_out_synth(void *ctx, const void *data, size_t n, struct err *e)
{
	struct record_out *o = ctx;
	uint64_t now = loop_now();

	if (now - o->synth_drained > DRAIN_NS) {
		o->synth_drained = now;
		if (record_out_drain(o, e) < 0)
			return -e->code;
	}
	if (o->looking_up) {
		strbuf_add(&o->next, data, n);
		return 0;
	}
	return record_out_bytes(o, data, n, e);
}

/* Who runs and what is mapped. */
static int synthesise(struct record_out *o, struct err *e)
{
	const struct capture_event *ev = capture_tracking(o->capture);
	const struct target *t = o->capture->target;
	struct synth s = {
		.no_tasks = o->opts->synth.no_tasks,
		.no_maps = o->opts->synth.no_maps,
		.data_maps = capture_data_maps(&o->opts->capture),
		.namespaces = o->opts->capture.namespaces,
		.fn = record_out_synth,
		.ctx = o,
	};
	int r;

	if (o->next.n) {
		r = record_out_bytes(o, o->next.data, o->next.n, e);
		strbuf_reset(&o->next);
		return r;
	}
	if (!ev || !ev->n_ids || o->opts->synth.none)
		return 0;
	capture_synth(ev, &s);
	o->synth_drained = loop_now();
	r = synth_kernel(&s, &o->ksyms, e);
	if (r >= 0 && o->opts->capture.cgroup && !o->opts->synth.no_cgroups)
		r = synth_cgroups(&s, e);
	if (r < 0 || (s.no_tasks && s.no_maps))
		return r;
	if (t->command && o->files == 1 && !o->opts->tail_synth && !o->looking_up)
		return 0; /* a command's own mappings come from the kernel */
	return t->system_wide || t->command ? synth_all(&s, e) : synth_threads(&s, &t->threads, e);
}

static void record_out_describe(struct record_out *o, const struct perfdata_event *events)
{
	struct about about = {
		.events = events,
		.n_events = o->capture->n,
		.cmdline = o->opts->cmdline,
		.has_clock = o->opts->capture.has_clock,
		.clock_id = o->opts->capture.clock_id,
		.wall_ns = o->wall_ns,
		.clock_ns = o->clock_ns,
		.zstd_level = o->pipe ? o->opts->zstd_level : 0,
		.zstd_ratio = 1,
	};

	if (o->described)
		return;
	o->described = true;
	if (o->tracefs)
		tracing_data(o->tracefs, &o->opts->events, &o->early[PERFDATA_TRACING_DATA]);
	for (unsigned f = PERFDATA_HOSTNAME; f < PERFDATA_FEATURE_END; f++)
		if (!about_feature(&about, f, &o->early[f]))
			strbuf_reset(&o->early[f]);
}

/* A stream has the kernel's build-id in front, where a file has it behind. */
static int stream_build_id(struct record_out *o, struct err *e)
{
	const size_t head = sizeof(struct perfdata_event_header);
	AUTO_STRBUF b = { 0 };
	struct build_id id;

	if (!o->pipe || o->opts->no_buildid || !ksyms_build_id(&id))
		return 0;
	perfdata_build_id_entry(&b, PERF_RECORD_MISC_KERNEL, -1, id.data, id.len,
				"[kernel.kallsyms]");
	return perfdata_write_record(o->w, PERFDATA_HEADER_BUILD_ID, PERF_RECORD_MISC_KERNEL,
				     b.data + head, b.n - head, e);
}

static int start_file(struct record_out *o, const char *path, struct err *e)
{
	struct perfdata_write_opts wo = { .path = path,
					  .pipe = o->pipe,
					  .zstd_level = o->opts->zstd_level };
	const uint32_t walked = PERFDATA_STACKS_WALKED;
	const struct perfdata_ended running = { 0 };
	AUTO_FREE struct perfdata_event *events = NULL;
	int r = perfdata_write_open(&wo, &o->w, e);

	if (r < 0)
		return r;
	events = capture_events(o->capture);
	for (size_t i = 0; i < o->capture->n; i++)
		perfdata_write_event(o->w, &events[i]);
	record_out_describe(o, events);
	for (unsigned f = 0; f < PERFDATA_FEATURE_END; f++)
		if (o->early[f].n)
			perfdata_write_early(o->w, f, o->early[f].data, o->early[f].n);
	perfdata_write_early(o->w, PERFDATA_KALLSYMS, NULL, 0);
	if (o->walked && !o->pipe)
		perfdata_write_early(o->w, PERFDATA_STACKS, &walked, sizeof(walked));
	if (!o->pipe)
		perfdata_write_early(o->w, PERFDATA_ENDED, &running, sizeof(running));
	r = perfdata_write_start(o->w, e);
	return r == 0 ? stream_build_id(o, e) : r;
}

int record_out_open(struct record_out *o, struct err *e)
{
	const char *path = o->opts->output ? o->opts->output : "perf.data";
	int r;

	if (!o->files && ksyms_open(&o->ksyms) == 0 && o->walked && o->walked->off.walker)
		offcpu_kernel(&o->walked->off, &o->ksyms);
	if (!o->files && !o->pipe && !o->opts->no_cache && !o->opts->no_buildid)
		o->keep = keep_new();
	if (!o->files && !o->pipe && !o->walked && !o->opts->zstd_level)
		o->threads = o->opts->threads ? (unsigned)o->opts->threads
					      : record_drain_threads(o->capture->n_rings);
	if (!o->pipe) {
		if (!o->files)
			perfdata_keep_old(path);
		free(o->path);
		o->path = mem_strdup(path);
	}
	o->files++;
	r = start_file(o, path, e);
	if (!o->w)
		return r;
	if (r == 0 && !o->opts->tail_synth)
		r = synthesise(o, e);
	if (r >= 0)
		r = perfdata_write_record(o->w, PERFDATA_FINISHED_INIT, 0, NULL, 0, e);
	o->start = o->rounded = perfdata_write_size(o->w);
	return r < 0 ? r : perfdata_write_flush(o->w, e);
}

int record_out_round(struct record_out *o, struct err *e)
{
	uint64_t at = perfdata_write_size(o->w);
	int r = 0;

	/* a round promises that nothing older than the one before it comes later */
	if ((o->pipe || at - o->rounded >= ROUND_BYTES) &&
	    (!o->walked || (!o->walked->off.walker && !walker_waiting(o->walked->walker)))) {
		r = perfdata_write_record(o->w, PERFDATA_FINISHED_ROUND, 0, NULL, 0, e);
		o->rounded = at;
	}
	return r == 0 ? perfdata_write_flush(o->w, e) : r;
}

/* perf's form: FILE.2026111505301234; later ones of the same instant count on. */
static char *stamped(const char *path)
{
	struct timespec t;
	struct tm tm;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &t);
	localtime_r(&t.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	for (long part = t.tv_nsec / 10000000;; part++) {
		char *name = mem_printf("%s.%s%02ld", path, text, part);

		if (!file_exists(name))
			return name;
		free(name);
	}
}

/* Samples that are lost on their way from the walker, and what comes while a CPU idles. */
static uint64_t lost_by_us(const struct record_out *o)
{
	struct walker_stats s = { 0 };

	if (o->walked && o->walked->samples && !o->walked->hits.on)
		walked_stats(o->walked, &s);
	return s.lost + idle_missed(o->idle);
}

/* One event's, as perf tells it. Ours are the first event's. */
static int tell_lost(struct record_out *o, const struct capture_event *ev, uint64_t lost,
		     struct err *e)
{
	struct synth s = { .fn = record_out_bytes, .ctx = o };

	capture_synth(ev, &s);
	return synth_lost(&s, lost, e);
}

/* What is missing since the file before: a record for each event, or only the sum where nothing
 * can be written. A flight recorder forgets, which is no loss. */
static int put_losses(struct record_out *o, bool failed, struct err *e)
{
	uint64_t all = 0;
	int r = 0;

	if (o->opts->capture.overwrite)
		return 0;
	if (!o->told)
		o->told = mem_alloc(o->capture->n * sizeof(*o->told));
	capture_losses(o->capture);
	for (size_t i = 0; i < o->capture->n && r >= 0; i++) {
		const struct capture_event *ev = &o->capture->event[i];
		uint64_t lost = ev->lost + (i == 0 ? lost_by_us(o) : 0) - o->told[i];

		if (lost && ev->n_ids && !failed)
			r = tell_lost(o, ev, lost, e);
		o->told[i] += lost;
		all += lost;
	}
	perfdata_write_lost(o->w, all);
	return r;
}

static int end_file(struct record_out *o, bool stamp, struct err *e)
{
	AUTO_FREE char *name = stamp ? stamped(o->path) : NULL;
	int r = o->opts->tail_synth ? synthesise(o, e) : 0;

	if (r >= 0)
		r = put_losses(o, false, e);
	if (r >= 0)
		r = record_end_wait(o, e); /* of the file before */
	if (r == 0)
		r = record_end_start(o, name, e);
	if (r == 0 && name && o->wrote)
		o->wrote(o->ctx, name);
	return r < 0 ? r : 0;
}

static int close_pipe(struct record_out *o, bool failed, struct err *e)
{
	int r = 0;

	if (!failed)
		put_losses(o, false, e);
	o->bytes = perfdata_write_size(o->w);
	if (failed)
		perfdata_write_close(o->w);
	else
		r = perfdata_write_finish(o->w, e);
	o->w = NULL;
	return r;
}

int record_out_close(struct record_out *o, bool failed, struct err *e)
{
	struct err later = { 0 };
	int r = 0, ended;

	if (o->pipe)
		return o->w ? close_pipe(o, failed, e) : 0;
	if (!failed && o->w)
		r = end_file(o, o->opts->timestamp_file, e);
	if (o->w) {
		put_losses(o, true, NULL);
		o->bytes += perfdata_write_size(o->w);
		perfdata_write_abandon(o->w);
		o->w = NULL;
	}
	ended = record_end_wait(o, &later);
	if (r == 0 && ended < 0)
		*e = later;
	return r < 0 ? r : ended;
}

/* A flight recorder's samples wait in their rings: only what tells of tasks is taken here. */
static int look_ahead(struct record_out *o, struct err *e)
{
	int r;

	o->gathering = o->looking_up = true;
	r = synthesise(o, e);
	o->looking_up = false;
	if (r >= 0)
		r = record_out_drain(o, e) < 0 || record_out_round(o, e) < 0 ? -e->code : 0;
	o->gathering = false;
	return r;
}

int record_out_next(struct record_out *o, struct err *e)
{
	int r;

	if (o->pipe)
		return 0;
	strbuf_reset(&o->next);
	r = o->opts->tail_synth ? 0 : look_ahead(o, e);
	if (r >= 0)
		r = end_file(o, true, e);
	return r < 0 ? r : record_out_open(o, e);
}

int record_out_restart(struct record_out *o, struct err *e)
{
	if (o->pipe)
		return 0;
	perfdata_write_close(o->w);
	o->w = NULL;
	return record_out_open(o, e);
}

uint64_t record_out_size(const struct record_out *o)
{
	return o->w ? perfdata_write_size(o->w) - o->start : 0;
}

void record_out_free(struct record_out *o)
{
	for (unsigned f = 0; f < PERFDATA_FEATURE_END; f++)
		strbuf_free(&o->early[f]);
	for (int i = 0; o->kept && i < o->opts->switch_max_files; i++)
		free(o->kept[i]);
	ksyms_close(&o->ksyms);
	keep_free(o->keep);
	ring_records_free(&o->pieces);
	for (size_t i = 0; o->ring_pieces && i < o->capture->n_rings; i++)
		ring_records_free(&o->ring_pieces[i]);
	free(o->ring_pieces);
	strbuf_free(&o->next);
	free(o->kept);
	free(o->told);
	free(o->path);
	free(o->last);
}
