/* SPDX-License-Identifier: MIT */
#include "live/ftrace/about.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "config.h"
#include "kern/tracefs.h"
#include "live/ftrace/capture.h"

#define LIMIT (256u << 20)

#define ADD(b, type, v) strbuf_add(b, (const char *)&(type){ v }, sizeof(type))

/* A file's content behind its size; false when it cannot be read. */
static bool ftrace_about_add_file(struct strbuf *b, const char *path)
{
	AUTO_FREE char *text = NULL;
	size_t n = 0;

	if (file_read(path, LIMIT, &text, &n) < 0)
		return false;
	ADD(b, uint64_t, n);
	strbuf_add(b, text, n);
	return true;
}

static void ftrace_about_add_text(struct strbuf *b, const char *path)
{
	AUTO_FREE char *text = NULL;
	size_t n = 0;

	if (file_read(path, LIMIT, &text, &n) == 0)
		strbuf_add(b, text, n);
}

/*
 * Names of tasks, "PID NAME" each. A task may call itself anything, with newlines in
 * it: what is left of such a name makes trace-cmd drop all others.
 */
static void add_cmdlines(struct strbuf *b, const char *path)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;

	if (file_read(path, LIMIT, &text, NULL) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t n = strspn(line, "0123456789");

		if (n && line[n] == ' ' && line[n + 1])
			strbuf_printf(b, "%s\n", line);
	}
}

static int ftrace_about_header(const char *root, struct strbuf *b, struct err *e)
{
	static const char *const names[] = { "header_page", "header_event" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_FREE char *path = mem_printf("%s/events/%s", root, names[i]);

		strbuf_add(b, names[i], strlen(names[i]) + 1);
		if (!ftrace_about_add_file(b, path))
			return err_set(e, EIO, "cannot read %s", path);
	}
	return 0;
}

static void ftrace_formats(const char *root, struct strbuf *b)
{
	struct file_names names = { 0 };
	struct strbuf all = { 0 };
	uint32_t n = 0;

	if (tracefs_events(root, "ftrace", &names, NULL) == 0)
		for (size_t i = 0; i < names.n; i++) {
			AUTO_FREE char *path =
				mem_printf("%s/events/ftrace/%s/format", root, names.name[i]);

			n += ftrace_about_add_file(&all, path);
		}
	file_names_free(&names);
	ADD(b, uint32_t, n);
	strbuf_add(b, strbuf_str(&all), all.n);
	strbuf_free(&all);
}

/* --- which events --- */

static int ftrace_about_add_name(void *ctx, const char *system, const char *event, struct err *e)
{
	AUTO_FREE char *name = mem_printf("%s:%s", system, event);

	if (strcmp(system, "ftrace") != 0)
		strtab_add(ctx, name);
	return 0;
}

/* Those that are on: of others too, in an instance that is not ours. */
static void add_enabled(const char *dir, struct strtab *names)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;

	if (ftrace_get(dir, "set_event", &text, NULL, NULL) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strchr(line, ':') && strncmp(line, "ftrace:", 7) != 0)
			strtab_add(names, line);
}

static int ftrace_about_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void event_formats(const struct ftrace *f, struct strbuf *b)
{
	struct strtab names = { 0 };
	struct strbuf all = { 0 };
	const char **sorted;
	uint32_t systems = 0;

	vec_each (&f->buffers, x) {
		add_enabled(x->dir, &names);
		for (size_t i = 0; i < x->opt->events.n; i++)
			ftrace_match_events(f->root, x->opt->events.data[i].name,
					    ftrace_about_add_name, &names, NULL);
	}
	if (!f->buffers.n || f->o->all_formats)
		ftrace_match_events(f->root, "all", ftrace_about_add_name, &names, NULL);
	sorted = mem_alloc((names.n + 1) * sizeof(*sorted));
	for (uint32_t i = 0; i < names.n; i++)
		sorted[i] = strtab_get(&names, i);
	qsort(sorted, names.n, sizeof(*sorted), ftrace_about_by_text);
	for (size_t i = 0; i < names.n;) {
		size_t n = strcspn(sorted[i], ":");
		struct strbuf formats = { 0 };
		const char *first = sorted[i];
		uint32_t count = 0;

		for (; i < names.n && strncmp(sorted[i], first, n + 1) == 0; i++) {
			AUTO_FREE char *path = mem_printf("%s/events/%.*s/%s/format", f->root,
							  (int)n, first, sorted[i] + n + 1);

			count += ftrace_about_add_file(&formats, path);
		}
		if (count) {
			strbuf_add(&all, first, n);
			strbuf_add(&all, "", 1);
			ADD(&all, uint32_t, count);
			strbuf_add(&all, formats.data, formats.n);
			systems++;
		}
		strbuf_free(&formats);
	}
	ADD(b, uint32_t, systems);
	strbuf_add(b, strbuf_str(&all), all.n);
	strbuf_free(&all);
	free(sorted);
	strtab_free(&names);
}

int ftrace_about(const struct ftrace *f, struct tracedat_out *o, struct err *e)
{
	AUTO_FREE char *printk = mem_printf("%s/printk_formats", f->root);
	AUTO_FREE char *cmdlines = mem_printf("%s/saved_cmdlines", f->root);
	AUTO_FREE char *tgids = mem_printf("%s/saved_tgids", f->root);
	struct utsname u;
	int r = ftrace_about_header(f->root, &o->header, e);

	if (r < 0)
		return r;
	ftrace_formats(f->root, &o->ftrace);
	event_formats(f, &o->formats);
	if (!o->kallsyms.n) /* else they are another kernel's */
		ftrace_about_add_text(&o->kallsyms, "/proc/kallsyms");
	ftrace_about_add_text(&o->printk, printk);
	add_cmdlines(&o->cmdlines, cmdlines);
	ftrace_about_add_text(&o->tgids, tgids);
	o->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	o->n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	o->tool = "kymo " KYMO_VERSION;
	o->uname = "";
	if (uname(&u) == 0) {
		static char text[sizeof(u)];

		snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release,
			 u.machine);
		o->uname = text;
	}
	if (getrandom(&o->trace_id, sizeof(o->trace_id), 0) < 0)
		o->trace_id = (uint64_t)time(NULL);
	return 0;
}

uint64_t ftrace_stat_number(const char *text, const char *name)
{
	AUTO_FREE char *key = mem_printf("\n%s: ", name);
	const char *p = strstr(text, key);

	if (p)
		return strtoull(p + strlen(key), NULL, 10);
	return strncmp(text, key + 1, strlen(key) - 1) == 0
		       ? strtoull(text + strlen(key) - 1, NULL, 10)
		       : 0;
}

uint64_t ftrace_stats(const char *dir, uint32_t cpu, struct strbuf *text)
{
	AUTO_FREE char *path = mem_printf("%s/per_cpu/cpu%u/stats", dir, cpu);
	AUTO_FREE char *stats = NULL;

	if (file_read(path, 1u << 16, &stats, NULL) < 0)
		return 0;
	if (text)
		strbuf_printf(text, "CPU: %u\n%s", cpu, stats);
	return ftrace_stat_number(stats, "overrun") + ftrace_stat_number(stats, "commit overrun") +
	       ftrace_stat_number(stats, "dropped events");
}

char *ftrace_clock(const char *dir)
{
	AUTO_FREE char *text = NULL;
	char *open, *close;

	if (ftrace_get(dir, "trace_clock", &text, NULL, NULL) < 0 || !(open = strchr(text, '[')) ||
	    !(close = strchr(open, ']')))
		return mem_strdup("local");
	return mem_strndup(open + 1, (size_t)(close - open) - 1);
}

/* A mark in an instance with the same clock, between two looks at the wall clock. */
char *ftrace_date(const struct ftrace *f, const char *clock)
{
	AUTO_FREE char *dir = mem_printf("%s/instances/kymo-%ld-date", f->root, (long)getpid());
	AUTO_FREE char *text = NULL;
	struct timespec before, after;
	struct undo *u = f->undo;
	unsigned long long sec, us;
	char *p, *ret = NULL;

	if (!u || undo_mkdir(u, dir, NULL) < 0)
		return NULL;
	if (ftrace_set(dir, "trace_clock", clock, NULL) == 0) {
		/* the first one makes everything warm */
		ftrace_set(dir, "trace_marker", "date", NULL);
		clock_gettime(CLOCK_REALTIME, &before);
		ftrace_set(dir, "trace_marker", "now", NULL);
		clock_gettime(CLOCK_REALTIME, &after);
		if (ftrace_get(dir, "trace", &text, NULL, NULL) == 0 &&
		    (p = strstr(text, ": tracing_mark_write: now"))) {
			*p = '\0';
			p = strrchr(text, ' ');
			if (p && sscanf(p, "%llu.%llu", &sec, &us) == 2) {
				uint64_t wall = ((uint64_t)before.tv_sec + (uint64_t)after.tv_sec) *
							500000 +
						(uint64_t)(before.tv_nsec + after.tv_nsec) / 2000;

				ret = mem_printf("0x%llx",
						 (unsigned long long)(wall - (sec * 1000000 + us)));
			}
		}
	}
	rmdir(dir);
	return ret;
}
