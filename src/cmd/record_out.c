/* SPDX-License-Identifier: MIT */
/* kymo record: the file. Side-band at its start, build-ids and features at its end. */
#include "cmd/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "live/hits.h"
#include "live/synth.h"
#include "live/tracing_data.h"
#include "store/perfdata.h"

int record_out_bytes(void *ctx, const void *data, size_t n, struct err *e)
{
	struct record_out *o = ctx;

	return perfdata_write_bytes(o->w, data, n, e);
}

/* One after the other in front of the file's data: who runs and what is mapped. */
static int synthesise(struct record_out *o, struct err *e)
{
	const struct capture_event *ev = capture_tracking(o->capture);
	struct synth_opts s = { 0 };
	const struct target *t = o->capture->target;
	int r;

	if (!ev)
		return 0;
	s.sample_type = ev->attr.sample_type;
	s.id_size = synth_id_size(s.sample_type);
	s.event_id = ev->id[0];
	s.data_maps = o->a->capture.data_addr;
	r = synth_kernel(&s, record_out_bytes, o, e);
	if (r < 0 || (t->command && o->files == 0))
		return r; /* a command's own mappings come from the kernel */
	if (t->system_wide || t->command)
		return synth_all(&s, record_out_bytes, o, e);
	for (size_t i = 0; r >= 0 && i < t->threads.n; i++)
		r = synth_process(&s, t->threads.tid[i], record_out_bytes, o, e);
	return r;
}

/* In stream form the formats come first, behind a record that says how long they are. */
static int stream_formats(struct record_out *o, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	uint32_t size;
	int r;

	if (!o->pipe || !o->tracefs)
		return 0;
	r = tracing_data(o->tracefs, &o->a->events, &b, e);
	size = (uint32_t)((b.n + 7) & ~(size_t)7);
	if (r == 0)
		r = perfdata_write_record(o->w, PERFDATA_HEADER_TRACING_DATA, 0, &size,
					  sizeof(size), e);
	return r == 0 ? perfdata_write_outside(o->w, strbuf_str(&b), b.n, e) : r;
}

static void describe(const struct record_out *o, struct about *about)
{
	*about = (struct about){
		.capture = o->capture,
		.cmdline = o->a->cmdline,
		.zstd_level = o->a->zstd_level,
		.zstd_ratio = o->w ? perfdata_write_ratio(o->w) : 1,
		.has_clock = o->a->capture.has_clock,
		.clock_id = o->a->capture.clock_id,
		.wall_ns = o->wall_ns,
		.clock_ns = o->clock_ns,
	};
}

static int put_features(struct record_out *o, const struct about *about, enum perfdata_feature from,
			enum perfdata_feature to, struct err *e)
{
	AUTO_STRBUF b = { 0 };

	for (enum perfdata_feature f = from; f < to; f++)
		if (about_feature(about, f, &b) &&
		    perfdata_write_feature(o->w, f, strbuf_str(&b), b.n, e) < 0)
			return -e->code;
	return 0;
}

/* The last recording stays as FILE.old, as with perf. */
static void keep_old(const char *path)
{
	AUTO_FREE char *old = mem_printf("%s.old", path);
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size)
		rename(path, old);
}

int record_out_open(struct record_out *o, struct err *e)
{
	const char *path = o->a->output ? o->a->output : "perf.data";
	struct perfdata_write_opts wo = { .path = path,
					  .pipe = o->pipe,
					  .zstd_level = o->a->zstd_level };
	struct about about;
	int r;

	if (!o->pipe) {
		if (!o->files)
			keep_old(path);
		free(o->path);
		o->path = mem_strdup(path);
	}
	r = perfdata_write_open(&wo, &o->w, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < o->capture->n; i++) {
		const struct capture_event *ev = &o->capture->event[i];

		perfdata_write_attr(o->w, &ev->attr, ev->spec->name, ev->id, ev->n_fds);
	}
	r = perfdata_write_start(o->w, e);
	describe(o, &about);
	if (r == 0 && o->pipe)
		r = put_features(o, &about, PERFDATA_HOSTNAME, PERFDATA_FEATURE_END, e);
	if (r == 0)
		r = stream_formats(o, e);
	if (r == 0)
		r = synthesise(o, e);
	if (r >= 0)
		r = perfdata_write_record(o->w, PERFDATA_FINISHED_INIT, 0, NULL, 0, e);
	return r < 0 ? r : perfdata_write_flush(o->w, e);
}

int record_out_round(struct record_out *o, struct err *e)
{
	int r = perfdata_write_record(o->w, PERFDATA_FINISHED_ROUND, 0, NULL, 0, e);

	return r == 0 ? perfdata_write_flush(o->w, e) : r;
}

struct ids {
	struct strbuf *b;
};

static void add_build_id(void *ctx, const struct task_dso *d, const char *path)
{
	struct ids *ids = ctx;

	if (d->build_id_size)
		about_build_id(ids->b, d->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
			       -1, d->build_id, d->build_id_size, path);
}

/* Look through what was recorded: which files samples fell into, how many there are, from when to
 * when. */
static int look_back(struct record_out *o, struct about *about, struct strbuf *ids, struct err *e)
{
	struct source *s = NULL;
	struct build_id kernel;
	struct hits_result hits = { 0 };
	struct ids ctx = { ids };
	int r = perfdata_open(o->path, &s, e);

	if (r < 0)
		return r;
	o->samples += s->trace->n_samples;
	about->first_time = s->trace->first_time;
	about->last_time = s->trace->last_time;
	if (!o->a->no_buildid) {
		if (synth_kernel_build_id(&kernel))
			tasks_set_build_id(s->trace->tasks, "[kernel.kallsyms]", kernel.data,
					   kernel.len, true);
		r = hits_find(s, o->a->buildid_all, add_build_id, &ctx, &hits, e);
		if (r == 0 && hits.kernel && kernel.len)
			about_build_id(ids, PERF_RECORD_MISC_KERNEL, -1, kernel.data, kernel.len,
				       "[kernel.kallsyms]");
	}
	source_close(s);
	return r;
}

static int finish_file(struct record_out *o, struct err *e)
{
	AUTO_STRBUF ids = { 0 };
	AUTO_STRBUF formats = { 0 };
	struct about about;
	int r = perfdata_write_end_data(o->w, e);

	describe(o, &about);
	if (r == 0)
		r = look_back(o, &about, &ids, e);
	if (r == 0 && o->tracefs) {
		r = tracing_data(o->tracefs, &o->a->events, &formats, e);
		if (r == 0)
			r = perfdata_write_feature(o->w, PERFDATA_TRACING_DATA,
						   strbuf_str(&formats), formats.n, e);
	}
	if (r == 0 && ids.n)
		r = perfdata_write_feature(o->w, PERFDATA_BUILD_ID, strbuf_str(&ids), ids.n, e);
	if (r == 0)
		r = put_features(o, &about, PERFDATA_HOSTNAME, PERFDATA_FEATURE_END, e);
	return r;
}

int record_out_close(struct record_out *o, struct err *e)
{
	int r = o->pipe ? 0 : finish_file(o, e);

	o->bytes += perfdata_write_size(o->w);
	if (r < 0)
		perfdata_write_close(o->w);
	else
		r = perfdata_write_finish(o->w, e);
	o->w = NULL;
	o->files++;
	return r;
}

/* perf's form: FILE.2026111505301234 */
static char *stamped(const char *path)
{
	struct timespec t;
	struct tm tm;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &t);
	localtime_r(&t.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	return mem_printf("%s.%s%02ld", path, text, t.tv_nsec / 10000000);
}

int record_out_next(struct record_out *o, struct err *e)
{
	AUTO_FREE char *name = stamped(o->path);
	int r = record_out_close(o, e);

	if (r < 0)
		return r;
	if (rename(o->path, name) < 0)
		return err_set(e, errno, "cannot rename '%s' to '%s': %s", o->path, name,
			       strerror(errno));
	if (!o->a->quiet)
		command_note("wrote %s", name);
	if (o->a->switch_max_files > 0) {
		size_t slot = (size_t)(o->files - 1) % (size_t)o->a->switch_max_files;

		if (!o->kept)
			o->kept = mem_alloc((size_t)o->a->switch_max_files * sizeof(*o->kept));
		if (o->kept[slot])
			unlink(o->kept[slot]);
		free(o->kept[slot]);
		o->kept[slot] = mem_strdup(name);
	}
	return record_out_open(o, e);
}

uint64_t record_out_size(const struct record_out *o)
{
	return o->w ? perfdata_write_size(o->w) : 0;
}
