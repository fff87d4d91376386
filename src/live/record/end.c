/* SPDX-License-Identifier: MIT */
/*
 * A recording gets what only hindsight knows: which files and kernel functions were hit. A thread
 * does it, while the recording goes on in the next file.
 */
#include "live/record/record.h"

#include <string.h>

#include "base/file.h"
#include "kern/kconfig.h"
#include "live/about/about.h"
#include "live/about/sampled.h"
#include "store/perfdata/inject.h"
#include "store/perfdata/kallsyms.h"
#include "store/perfdata/perfdata.h"

struct record_end {
	pthread_t thread;
	const struct record_opts *opts;
	const struct ksyms *ksyms;
	struct keep *keep;
	struct perfdata_writer *w;
	char *path;
	struct about about;
	uint64_t bytes, samples;
	struct err err;
	int result;
	bool stamped;
};

static void add_build_ids(const struct record_end *end, const struct source *s,
			  const struct sampled *hits, struct strbuf *ret)
{
	const struct tasks *t = s->trace->tasks;
	bool all = end->opts->buildid_all;
	struct build_id id;

	if ((hits->kernel.n || all) && ksyms_build_id(&id))
		perfdata_build_id_entry(ret, PERF_RECORD_MISC_KERNEL, -1, id.data, id.len,
					"[kernel.kallsyms]");
	for (uint32_t d = 0; d < tasks_n_dsos(t); d++) {
		const struct task_dso *dso = tasks_get_dso(t, d);
		const char *path = tasks_dso_path(t, d);

		if ((!hits->dso[d] && !all) || dso->ksymbol)
			continue;
		if (!dso->kernel && dso->build_id_size) {
			perfdata_build_id_entry(ret, PERF_RECORD_MISC_USER, -1, dso->build_id,
						dso->build_id_size, path);
		} else if (dso->kernel && strcmp(path, "[kernel.kallsyms]") != 0) {
			AUTO_FREE char *name = modules_name(path);

			if (ksyms_module_build_id(name, &id))
				perfdata_build_id_entry(ret, PERF_RECORD_MISC_KERNEL, -1, id.data,
							id.len, path);
		}
	}
}

/* The names of the kernel's functions that were hit. */
static void add_kallsyms(const struct record_end *end, struct sampled *hits, struct strbuf *ret)
{
	AUTO_STRBUF text = { 0 };

	if (!hits->kernel.n || !end->ksyms->text)
		return;
	ksyms_lines(end->ksyms, hits->kernel.data, hits->kernel.n, &text);
	if (text.n)
		perfdata_kallsyms_pack(text.data, text.n, ret);
}

/* Look through what was recorded: what samples fell into, how many there are, from when to when. */
static int look_back(struct record_end *end, struct strbuf *ids, struct strbuf *kallsyms,
		     struct err *e)
{
	struct source *s = NULL;
	struct sampled hits = { 0 };
	AUTO_FREE char *own = mem_printf("/proc/self/fd/%d", perfdata_write_fd(end->w));
	int r = perfdata_open(file_exists(own) ? own : end->path, &s, e);

	if (r < 0)
		return r;
	end->samples = s->trace->n_samples;
	end->about.first_time = s->trace->first_time;
	end->about.last_time = s->trace->last_time;
	r = sampled_find(s, &hits, e);
	if (r == 0) {
		if (end->keep)
			keep_save(
				end->keep,
				&(struct recording_id){ s->trace->first_time, s->trace->last_time },
				s->trace->tasks, hits.dso);
		add_build_ids(end, s, &hits, ids);
		add_kallsyms(end, &hits, kallsyms);
	}
	sampled_free(&hits);
	source_close(s);
	return r;
}

static int record_end_put(struct record_end *end, unsigned feature, const struct strbuf *b,
			  struct err *e)
{
	return b->n ? perfdata_write_feature(end->w, feature, b->data, b->n, e) : 0;
}

static int record_end_complete(struct record_end *end, struct err *e)
{
	AUTO_STRBUF ids = { 0 };
	AUTO_STRBUF kallsyms = { 0 };
	AUTO_STRBUF b = { 0 };
	struct err ignored = { 0 };
	int r = perfdata_write_end_data(end->w, e);

	/* a file that cannot be looked through is still complete without these */
	if (r == 0 && !end->opts->no_buildid)
		look_back(end, &ids, &kallsyms, &ignored);
	if (r == 0)
		r = record_end_put(end, PERFDATA_BUILD_ID, &ids, e);
	if (r == 0 && about_feature(&end->about, PERFDATA_SAMPLE_TIME, &b))
		r = record_end_put(end, PERFDATA_SAMPLE_TIME, &b, e);
	end->about.zstd_ratio = perfdata_write_ratio(end->w);
	if (r == 0 && about_feature(&end->about, PERFDATA_COMPRESSED_INFO, &b))
		r = record_end_put(end, PERFDATA_COMPRESSED_INFO, &b, e);
	if (r == 0)
		r = record_end_put(end, PERFDATA_KALLSYMS, &kallsyms, e);
	return r;
}

static void *end_thread(void *arg)
{
	struct record_end *end = arg;

	end->result = record_end_complete(end, &end->err);
	end->bytes = perfdata_write_size(end->w);
	if (end->result == 0)
		end->result = perfdata_write_finish(end->w, &end->err);
	else
		perfdata_write_abandon(end->w);
	return NULL;
}

int record_end_start(struct record_out *o, const char *name, struct err *e)
{
	struct record_end *end;

	if (name && rename(o->path, name) < 0)
		return err_set(e, errno, "cannot rename '%s' to '%s': %s", o->path, name,
			       strerror(errno));
	end = mem_alloc(sizeof(*end));
	end->opts = o->opts;
	end->ksyms = &o->ksyms;
	end->keep = o->keep;
	end->w = o->w;
	end->path = mem_strdup(name ? name : o->path);
	end->stamped = name != NULL;
	end->about.zstd_level = o->opts->zstd_level;
	o->w = NULL;
	o->end = end;
	if (pthread_create(&end->thread, NULL, end_thread, end) != 0) {
		end_thread(end);
		end->thread = 0;
	}
	return 0;
}

/* With --switch-max-files the oldest makes room. */
static void keep_newest(struct record_out *o, const char *name)
{
	size_t most = (size_t)o->opts->switch_max_files, slot;

	if (o->opts->switch_max_files <= 0)
		return;
	if (!o->kept)
		o->kept = mem_alloc(most * sizeof(*o->kept));
	slot = o->n_kept++ % most;
	if (o->kept[slot])
		unlink(o->kept[slot]);
	free(o->kept[slot]);
	o->kept[slot] = mem_strdup(name);
}

int record_end_wait(struct record_out *o, struct err *e)
{
	struct record_end *end = o->end;
	int r;

	if (!end)
		return 0;
	if (end->thread)
		pthread_join(end->thread, NULL);
	r = end->result;
	if (r < 0)
		*e = end->err;
	o->bytes += end->bytes;
	o->samples += end->samples;
	free(o->last);
	o->last = end->path;
	if (r == 0 && end->stamped)
		keep_newest(o, end->path);
	free(end);
	o->end = NULL;
	return r;
}
