/* SPDX-License-Identifier: MIT */
/*
 * The processed format of the Firefox Profiler, version 57 (it reads older ones
 * for good): threads with tables of their own, strings shared by all. Samples
 * become samples, tracepoints markers with their fields, system calls markers
 * that last. Times are milliseconds since the first sample.
 *
 * A thread has one list of samples, so a second event makes it stand twice.
 */
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/str.h"
#include "config.h"
#include "view/export/firefox.h"

#define FORMAT_VERSION 57
#define GECKO_VERSION 30

uint32_t firefox_string(struct firefox *f, const char *s)
{
	return strtab_add(&f->strings, s);
}

void firefox_time(struct firefox *f, const char *key, uint64_t time)
{
	uint64_t first = f->x->source->trace->first_time;

	export_ms(&f->j, key, time > first ? time - first : 0);
}

/* --- which rows belong together --- */

static bool same_thread(const struct firefox_row *a, const struct firefox_row *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->type == b->type;
}

static int export_firefox_by_thread(const void *x, const void *y)
{
	const struct firefox_row *a = x, *b = y;
	int d = SORT_BY(a->pid, b->pid);

	d = d ? d : SORT_BY(a->tid, b->tid);
	d = d ? d : SORT_BY(a->type, b->type);
	d = d ? d : SORT_BY(a->time, b->time);
	return d ? d : SORT_BY(a->entry, b->entry);
}

/* Where there is nothing else, tracepoints are samples, too. */
static void collect_samples(struct firefox *f)
{
	const struct trace *t = f->x->source->trace;
	const struct profile *p = f->x->profile;
	bool only_tracepoints = true;

	for (size_t i = 0; i < t->n_types; i++)
		if (p->total[i].count && !t->types[i].n_fields)
			only_tracepoints = false;
	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *en = &p->entries.data[i];

		if (!t->types[en->type].n_fields || only_tracepoints)
			vec_push(&f->samples, (struct firefox_row){ .pid = en->pid,
								    .tid = en->tid,
								    .type = en->type,
								    .entry = (uint32_t)i,
								    .time = en->time });
	}
	if (f->samples.n)
		qsort(f->samples.data, f->samples.n, sizeof(*f->samples.data),
		      export_firefox_by_thread);
}

/* --- about the whole --- */

static void put_pair(struct firefox *f, const char *key, const char *value)
{
	json_line(&f->j);
	json_str(&f->j, key, value);
}

static void put_start(struct firefox *f)
{
	const struct trace *t = f->x->source->trace;
	uint64_t ns = t->info.captured * 1000000000;

	if (t->info.wall_time && t->first_time)
		ns = t->info.wall_time + (t->first_time - t->info.wall_clock_time);
	json_line(&f->j);
	export_ms(&f->j, "startTime", ns);
}

static uint64_t interval_ns(const struct trace *t)
{
	for (size_t i = 0; i < t->n_types; i++) {
		const struct event_type *type = &t->types[i];

		if (type->rate && type->by_rate)
			return 1000000000 / type->rate;
		if (type->rate && export_is_time(type))
			return type->rate;
	}
	return 1000000;
}

static void put_category(struct json *j, const char *name, const char *color)
{
	json_object(j, NULL);
	json_str(j, "name", name);
	json_str(j, "color", color);
	json_array(j, "subcategories");
	json_str(j, NULL, "Other");
	json_end(j);
	json_end(j);
}

static void put_meta(struct firefox *f)
{
	const struct trace *t = f->x->source->trace;
	const struct trace_info *i = &t->info;
	struct json *j = &f->j;
	AUTO_STRBUF line = { 0 };

	json_object(j, "meta");
	export_ms(j, "interval", interval_ns(t));
	put_start(f);
	json_line(j);
	json_u64(j, "preprocessedProfileVersion", FORMAT_VERSION);
	json_u64(j, "version", GECKO_VERSION);
	json_u64(j, "processType", 0);
	json_u64(j, "stackwalk", 1);
	json_bool(j, "debug", false);
	json_bool(j, "symbolicated", true);
	json_line(j);
	json_bool(j, "usesOnlyOneStackType", true);
	json_bool(j, "sourceCodeIsNotOnSearchfox", true);
	json_line(j);
	json_object(j, "sampleUnits");
	json_str(j, "time", "ms");
	json_str(j, "eventDelay", "ms");
	json_str(j, "threadCPUDelta", "ns");
	json_end(j);
	json_line(j);
	json_array(j, "categories");
	put_category(j, "Other", "grey");
	put_category(j, "User", "yellow");
	put_category(j, "Kernel", "orange");
	put_category(j, "JIT", "green");
	json_end(j);
	put_pair(f, "product", f->x->input);
	put_pair(f, "importedFrom", "kymo " KYMO_VERSION);
	put_pair(f, "platform", "X11");
	put_pair(f, "toolkit", "");
	if (i->os_release)
		strbuf_printf(&line, "Linux %s %s", i->os_release, i->arch ? i->arch : "");
	if (line.n)
		put_pair(f, "oscpu", strbuf_str(&line));
	if (i->cpu_desc)
		put_pair(f, "CPUName", i->cpu_desc);
	strbuf_reset(&line);
	for (const char *const *w = i->cmdline; w && *w; w++)
		strbuf_printf(&line, "%s%s", line.n ? " " : "", *w);
	if (line.n)
		put_pair(f, "arguments", strbuf_str(&line));
	if (i->cpus_online) {
		json_line(j);
		json_u64(j, "logicalCPUs", i->cpus_online);
	}
	if (i->total_mem) {
		json_line(j);
		json_u64(j, "mainMemory", i->total_mem * 1024);
	}
	json_line(j);
	json_array(j, "markerSchema");
	firefox_schemas(f);
	json_end(j);
	json_end(j);
}

/* A build-id as Breakpad writes it: 16 bytes as a GUID, and an age of 0. */
static void put_breakpad(struct json *j, const struct task_dso *d)
{
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char text[2 * sizeof(order) + 2] = "";

	for (unsigned i = 0; d->build_id_size && i < sizeof(order); i++)
		snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02X0", d->build_id[order[i]]);
	json_str(j, "breakpadId", text);
}

static void put_libs(struct firefox *f)
{
	const struct names *n = f->x->names;
	const struct tasks *tasks = f->x->source->trace->tasks;
	const char *arch = f->x->source->trace->info.arch;
	struct json *j = &f->j;

	json_line(j);
	json_array(j, "libs");
	for (uint32_t i = 0; i < n->dsos.n; i++) {
		const struct task_dso *d = tasks_get_dso(tasks, n->dsos.data[i].order);
		const char *const names[] = { "name", "debugName" };
		const char *const paths[] = { "path", "debugPath" };

		json_line(j);
		json_object(j, NULL);
		json_str(j, "arch", arch ? arch : "");
		for (unsigned k = 0; k < 2; k++) {
			json_str(j, names[k], n->dsos.data[i].name);
			json_str(j, paths[k], n->dsos.data[i].path);
		}
		put_breakpad(j, d);
		if (d->build_id_size)
			json_bytes(j, "codeId", d->build_id, d->build_id_size);
		else
			json_null(j, "codeId");
		json_end(j);
	}
	json_end(j);
	json_line(j);
	json_array(j, "pages");
	json_end(j);
}

static void put_strings(struct firefox *f)
{
	json_line(&f->j);
	json_object(&f->j, "shared");
	json_array(&f->j, "stringArray");
	for (uint32_t i = 0; i < f->strings.n; i++) {
		json_line(&f->j);
		json_str(&f->j, NULL, strtab_get(&f->strings, i));
	}
	json_end(&f->j);
	json_end(&f->j);
}

/* --- one thread --- */

static void export_firefox_put_about(struct firefox *f, const struct firefox_row *r, bool many)
{
	const struct tasks *tasks = f->x->source->trace->tasks;
	struct json *j = &f->j;
	char comm[TASK_NAME], leader[TASK_NAME], name[128], number[16];

	snprintf(name, sizeof(name), many ? "%s (%s)" : "%s",
		 tasks_name_at(tasks, r->tid, UINT64_MAX, comm),
		 f->x->source->trace->types[r->type].name);
	json_line(j);
	json_object(j, NULL);
	json_str(j, "processType", "default");
	json_u64(j, "processStartupTime", 0);
	json_null(j, "processShutdownTime");
	json_u64(j, "registerTime", 0);
	json_null(j, "unregisterTime");
	json_array(j, "pausedRanges");
	json_end(j);
	json_bool(j, "showMarkersInTimeline", true);
	json_line(j);
	json_str(j, "name", name);
	json_str(j, "processName", tasks_name_at(tasks, r->pid, UINT64_MAX, leader));
	json_bool(j, "isMainThread", r->pid == r->tid);
	snprintf(number, sizeof(number), "%d", r->pid);
	json_str(j, "pid", number);
	json_i64(j, "tid", r->tid);
}

static void export_firefox_put_stack(struct firefox *f, const struct firefox_row *r)
{
	uint32_t node = firefox_stack(f, r->entry);

	if (node == EXPORT_ROOT)
		json_null(&f->j, NULL);
	else
		json_u64(&f->j, NULL, node);
}

static void put_samples(struct firefox *f, const struct firefox_row *rows, size_t n)
{
	const struct event_type *t = n ? &f->x->source->trace->types[rows[0].type] : NULL;
	const struct profile_entry *entries = f->x->profile->entries.data;
	bool off_cpu = t && t->unit && export_is_time(t);
	struct json *j = &f->j;

	json_line(j);
	json_object(j, "samples");
	json_u64(j, "length", n);
	json_str(j, "weightType", off_cpu ? "tracing-ms" : "samples");
	FIREFOX_COLUMN(j, "stack", rows, n, export_firefox_put_stack(f, r));
	FIREFOX_COLUMN(j, "time", rows, n, firefox_time(f, NULL, r->time));
	if (off_cpu)
		FIREFOX_COLUMN(j, "weight", rows, n, export_ms(j, NULL, entries[r->entry].weight));
	else
		FIREFOX_COLUMN(j, "weight", rows, n, json_u64(j, NULL, entries[r->entry].count));
	if (t && export_is_time(t) && !off_cpu)
		FIREFOX_COLUMN(j, "threadCPUDelta", rows, n,
			       json_u64(j, NULL, entries[r->entry].weight));
	json_end(j);
	for (size_t i = 0; i < n; i++)
		f->x->written += entries[rows[i].entry].count;
}

static void put_thread(struct firefox *f, const struct firefox_row *about, bool many,
		       const struct firefox_row *rows, size_t n, const struct firefox_row *markers,
		       size_t n_markers)
{
	export_firefox_put_about(f, about, many);
	firefox_tables_begin(f);
	put_samples(f, rows, n);
	firefox_markers(f, markers, n_markers);
	firefox_tables_end(f);
	json_end(&f->j);
}

static bool same_task(const struct firefox_row *a, const struct firefox_row *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

/* Both lists are sorted by thread: the samples of an event, with the first of them the markers. */
static void put_threads(struct firefox *f)
{
	const struct firefox_row *s = f->samples.data, *m = f->markers.data;
	size_t ns = f->samples.n, nm = f->markers.n, i = 0, k = 0;

	while ((i < ns || k < nm) && !f->x->out->error) {
		size_t i_end = i, k_end = k;
		bool sampled =
			k == nm || (i < ns && (s[i].pid < m[k].pid ||
					       (s[i].pid == m[k].pid && s[i].tid <= m[k].tid)));
		const struct firefox_row *first = sampled ? &s[i] : &m[k];
		bool many;

		while (sampled && i_end < ns && same_thread(&s[i_end], first))
			i_end++;
		while (k_end < nm && same_task(&m[k_end], first))
			k_end++;
		many = sampled && ((i_end < ns && same_task(&s[i_end], first)) ||
				   (i > 0 && same_task(&s[i - 1], first)));
		put_thread(f, first, many, ns ? s + i : NULL, i_end - i, nm ? m + k : NULL,
			   k_end - k);
		i = i_end;
		k = k_end;
		if (f->x->progress)
			f->x->progress(f->x->ctx, i + k, ns + nm);
	}
}

int export_firefox(struct export_job *x, struct err *e)
{
	struct firefox f = { .x = x, .j = json_to_out(x->out, JSON_TIGHT) };
	int r;

	collect_samples(&f);
	r = firefox_collect_markers(&f, e);
	if (r == 0) {
		json_object(&f.j, NULL);
		put_meta(&f);
		put_libs(&f);
		json_line(&f.j);
		json_array(&f.j, "threads");
		put_threads(&f);
		json_end(&f.j);
		put_strings(&f);
		json_end(&f.j);
		out_putc(x->out, '\n');
	}
	firefox_free(&f);
	return r;
}
