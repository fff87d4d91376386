/* SPDX-License-Identifier: MIT */
/* kymo funccount: how often kernel functions are called, counted in the kernel. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/ftrace/run.h"
#include "cmd/probe/functool.h"

#define MAX_PROBES 2000

struct args {
	struct functool ft; /* for -d; its tracing is not used */
	const char *interval;
	int top;
	bool stamps;
};

struct row {
	const char *name;
	uint64_t n, before; /* before: what was counted in earlier intervals */
};

struct counting {
	struct args *a;
	struct ftrace f;
	struct ftrace_opts o;
	VEC(struct row) rows;
	struct strtab names; /* by which the profiler's rows are found */
	bool profiler;
	uint64_t missed;
	const char *how;
};

/* Functions that match, each once, without their modules. */
static int find_functions(struct counting *c, const char *pattern, struct err *e)
{
	AUTO_FREE char *text = NULL;
	struct str_nearest near = { .typed = pattern };
	char *save = NULL, list[256];
	int r = ftrace_get(c->f.root, "available_filter_functions", &text, NULL, e);

	if (r < 0) {
		err_set(e, ENOENT, "this kernel cannot trace functions");
		return functool_hint(e, -ENOENT);
	}
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t before = c->names.n;
		uint32_t id;

		line[strcspn(line, " \t")] = '\0';
		if (!str_glob(pattern, line)) {
			str_nearest_add(&near, line);
			continue;
		}
		id = strtab_add(&c->names, line);
		if (c->names.n > before)
			vec_push(&c->rows, (struct row){ .name = strtab_get(&c->names, id) });
	}
	if (!c->rows.n) {
		err_set(e, ENOENT, "no kernel function matches '%s'", pattern);
		r = str_nearest_list(&near, list, sizeof(list))
			    ? err_hint(e, "did you mean %s?", list)
			    : err_hint(e, "kymo ftrace list -f lists those that can be traced");
	}
	return r;
}

/* --- the kernel's function profiler --- */

static int start_profiler(struct counting *c, const char *pattern, struct err *e)
{
	AUTO_FREE char *filter = mem_printf("%s/set_ftrace_filter", c->f.root);
	AUTO_FREE char *on = mem_printf("%s/function_profile_enabled", c->f.root);
	int r = undo_write(c->f.undo, filter, pattern, e);

	c->profiler = true;
	c->how = "the kernel's function profiler";
	if (r >= 0)
		r = undo_write_back(c->f.undo, on, "0", "0", e);
	return r < 0 ? r : undo_put(on, "1", false, e);
}

static void read_profiler(struct counting *c)
{
	AUTO_FREE char *dir = mem_printf("%s/trace_stat", c->f.root);
	struct file_names names = { 0 };

	vec_each (&c->rows, r)
		r->n = 0;
	if (file_list(dir, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *path = mem_printf("%s/%s", dir, names.name[i]), *text = NULL;
		char *save = NULL;

		if (!str_starts(names.name[i], "function") ||
		    file_read(path, 64u << 20, &text, NULL) < 0)
			continue;
		for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
			char name[256];
			unsigned long long n;
			uint32_t id;

			if (sscanf(l, " %255s %llu", name, &n) == 2 &&
			    (id = strtab_find(&c->names, name)) != STRTAB_NONE)
				c->rows.data[id].n += n;
		}
	}
	file_names_free(&names);
}

/* --- a kprobe for each --- */

static int start_probes(struct counting *c, struct err *e)
{
	AUTO_FREE char *group = mem_printf("kymo_%ld", (long)getpid());
	struct ftrace_buffer *b = &c->f.buffers.data[0];
	size_t kept = 0, refused = 0;
	bool hist = false;
	int r = 0;

	if (c->rows.n > MAX_PROBES) {
		err_set(e, E2BIG,
			"%zu functions match, and this kernel counts them by a probe each",
			c->rows.n);
		return err_hint(e, "name fewer than %d", MAX_PROBES);
	}
	for (size_t i = 0; i < c->rows.n; i++) {
		AUTO_FREE char *text = mem_printf("p:f%zu %s", kept, c->rows.data[i].name);
		AUTO_FREE char *trigger = NULL, *hist_file = NULL;
		struct raw_probe p = { 0 };
		struct err why = { 0 };

		r = raw_probe_parse(text, group, &p, e);
		if (r >= 0)
			r = raw_probe_add(c->f.root, false, &p, c->f.undo, &why);
		if (r == -ENOENT && !access(c->f.root, F_OK) && strstr(why.msg, "no kprobes")) {
			*e = why;
			raw_probe_free(&p);
			return functool_hint(e, r);
		}
		if (r >= 0) {
			trigger = mem_printf("%s/events/%s/%s/trigger", b->dir, group, p.name);
			hist_file = mem_printf("%s/events/%s/%s/hist", b->dir, group, p.name);
			hist = access(hist_file, F_OK) == 0;
			/* a trigger counts without writing to the buffer */
			if (!hist || undo_put(trigger, "hist:keys=__probe_ip", true, NULL) < 0) {
				AUTO_FREE char *enable =
					mem_printf("%s/events/%s/%s/enable", b->dir, group, p.name);

				hist = false;
				r = undo_put(enable, "1", false, &why);
			}
		}
		raw_probe_free(&p);
		if (r < 0) { /* some functions cannot be probed */
			if (!refused++ && e)
				*e = why;
			continue;
		}
		c->rows.data[kept++] = c->rows.data[i];
	}
	c->rows.n = kept;
	if (!kept)
		return e && e->code ? -e->code : -EINVAL;
	err_clear(e);
	if (refused)
		command_note("%zu functions cannot be probed and are not counted", refused);
	c->how = hist ? "kprobes with hist triggers" : "kprobes";
	return 0;
}

static void read_probes(struct counting *c)
{
	AUTO_FREE char *path = mem_printf("%s/kprobe_profile", c->f.root);
	AUTO_FREE char *text = NULL;
	char *save = NULL;

	c->missed = 0;
	if (file_read(path, 64u << 20, &text, NULL) < 0)
		return;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		unsigned long long n, missed;
		size_t i;
		char slash[2];

		if (sscanf(l, " f%zu%1[ ] %llu %llu", &i, slash, &n, &missed) != 4 ||
		    i >= c->rows.n)
			continue;
		c->rows.data[i].n = n;
		c->missed += missed;
	}
}

/* --- the table --- */

static int funccount_by_count(const void *a, const void *b)
{
	const struct row *const *x = a, *const *y = b;
	uint64_t m = (*x)->n - (*x)->before, n = (*y)->n - (*y)->before;

	return m < n ? -1 : m > n ? 1 : strcmp((*x)->name, (*y)->name);
}

static void read_counts(struct counting *c)
{
	if (c->profiler)
		read_profiler(c);
	else
		read_probes(c);
}

/* What came while probes were put in one by one, much of it our own doing, does not count. */
static void funccount_begin(struct counting *c)
{
	read_counts(c);
	vec_each (&c->rows, r)
		r->before = r->n;
}

static void print_table(struct counting *c)
{
	struct row **sorted = mem_alloc((c->rows.n + 1) * sizeof(*sorted));
	size_t n = 0, first;

	read_counts(c);
	vec_each (&c->rows, r)
		if (r->n > r->before)
			sorted[n++] = r;
	qsort(sorted, n, sizeof(*sorted), funccount_by_count);
	first = c->a->top > 0 && n > (size_t)c->a->top ? n - (size_t)c->a->top : 0;
	if (c->a->stamps) {
		char text[32];
		time_t now = time(NULL);
		struct tm tm;

		strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&now, &tm));
		puts(text);
	}
	printf("%-40s %12s\n", "FUNC", "COUNT");
	for (size_t i = first; i < n; i++)
		printf("%-40s %12" PRIu64 "\n", sorted[i]->name, sorted[i]->n - sorted[i]->before);
	fflush(stdout);
	vec_each (&c->rows, r)
		r->before = r->n;
	free(sorted);
}

static int funccount_tick(void *ctx)
{
	print_table(ctx);
	putchar('\n');
	return 0;
}

static int funccount_count(struct counting *c, const char *pattern, char **argv,
			   struct ftrace_wait *w, struct err *e)
{
	char n[64];
	AUTO_FREE char *profile = NULL;
	int r;

	vec_add(&c->o.buffers);
	r = ftrace_open(&c->f, &c->o, e);
	if (r >= 0)
		r = find_functions(c, pattern, e);
	if (r < 0)
		return r;
	profile = mem_printf("%s/function_profile_enabled", c->f.root);
	r = access(profile, F_OK) == 0 ? start_profiler(c, pattern, e) : start_probes(c, e);
	if (r < 0)
		return r;
	fprintf(stderr, "Counting \"%s\" (%zu functions, %s)...%s\n", pattern, c->rows.n, c->how,
		w->limit_ns || argv ? "" : " Ctrl-C to end.");
	funccount_begin(c);
	r = ftrace_wait_run(w, argv ? argv[0] : NULL, e);
	if (r >= 0) {
		print_table(c);
		if (c->missed)
			command_note("%s missed: the probes were busy",
				     str_were(c->missed, "hit", n, sizeof(n)));
	}
	return r;
}

static int funccount_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct counting c = { .a = a };
	struct ftrace_wait w = { 0 };
	char **command = argc > 1 ? argv + 1 : NULL;
	int r;

	if (argc < 1) {
		err_set(e, EINVAL, "which functions?");
		return err_hint(e, "for instance: kymo funccount 'bio_*'");
	}
	r = duration_ns(a->ft.seconds, &w.limit_ns, e);
	if (r >= 0 && a->interval &&
	    (!str_duration(a->interval, 1000000000u, &w.tick_ns) || !w.tick_ns))
		r = err_set(e, EINVAL, "-i wants seconds, not '%s'", a->interval);
	w.tick = funccount_tick;
	w.ctx = &c;
	if (r >= 0)
		r = ftrace_wait_open(&w, command, e);
	if (r >= 0)
		r = funccount_count(&c, argv[0], command, &w, e);
	ftrace_wait_close(&w);
	ftrace_run_close(&c.f);
	vec_free(&c.rows);
	vec_free(&c.o.buffers);
	strtab_free(&c.names);
	return r < 0 ? r : w.exit_code;
}

static const struct opt funccount_opts[] = {
	OPT_STR('i', "interval", "SECONDS", interval, "a table each so many seconds"),
	OPT_DURATION('d', ft.seconds, "count so long"),
	OPT_INT('t', "top", "N", top, "only the N most called"),
	OPT_FLAG('T', "timestamps", stamps, "the time above each table"),
	OPT_END,
};

const struct command cmd_funccount = {
	FUNCTOOL_COMMAND(funccount),
	.summary = "how often kernel functions are called",
	.usage = "[OPTIONS] PATTERN [COMMAND [ARGS]]",
	.about = "Counts in the kernel: with its function profiler where it has one, else with a "
		 "kprobe for each function. Calls by all processes count.",
	.examples =
		EXAMPLES({ "funccount 'vfs_*'", "until Ctrl-C" },
			 { "funccount -i 1 -t 5 'ext4_*'", "the five most called, each second" },
			 { "funccount -d 10 'bio_*'", "for ten seconds" },
			 { "funccount do_sys_openat2 ls", "while a command runs" }),
	.parse = OPT_STOP_AT_ARG,
};
