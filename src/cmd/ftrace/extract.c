/* SPDX-License-Identifier: MIT */
/* kymo ftrace extract, restore: what is in buffers, or in pages a recorder left, into a trace.dat.
 */
#define OPT_ARGS struct extract_args
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/copy.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/run.h"
#include "kern/undo.h"
#include "live/ftrace/about.h"
#include "live/ftrace/capture.h"
#include "store/tracedat/write.h"

#define MAX_SYMBOLS (256u << 20)

struct extract_args {
	struct ftrace_args t;
	struct vec_strs buffers, options;
	const char *tracer, *input, *tracing, *kallsyms;
	bool all, top, snapshot, create;
};

typedef struct extract_args args_t;

#define FILE_OPTS                                                                           \
	OPT_STR_C('o', "output", "FILE", t.output, "write to FILE (default: trace.dat)",    \
		  "@files"),                                                                \
		OPT_STR_C(0, "compression", "NAME", t.compression, "zstd, zlib, none, any", \
			  "zstd|zlib|none|any"),                                            \
		OPT_INT(0, "file-version", "6|7", t.version, "of trace.dat (default: 7)"),  \
		OPT_FLAG('q', "quiet", t.quiet, "say nothing but errors")

static const struct opt extract_opts[] = {
	FILE_OPTS,
	OPT_STRS('B', "buffer", "NAME", buffers, "this instance (several -B: each)"),
	OPT_FLAG('a', "all", all, "all instances, and the top one"),
	OPT_FLAG('t', "top", top, "the top instance, too"),
	OPT_FLAG('s', "snapshot", snapshot, "the snapshot instead of the buffer"),
	OPT_STR('p', "plugin", "TRACER", tracer, "as trace-cmd has it: the tracer that wrote it"),
	OPT_STRS('O', "option", "NAME", options,
		 "a trace option for the text of latency tracers; noNAME turns it off"),
	OPT_FLAG(0, "date", t.date, "show the time of day in reports"),
	OPT_ACCEPTED_OPTIONAL("verbose"),
	OPT_END,
};

/* Whose tracer is one of those that keep the worst case gives that, as text. */
static void add_buffer(args_t *a, struct ftrace *f, char *dir, const char *name)
{
	struct ftrace_buffer_opt *opt = arena_alloc(&a->t.arena, sizeof(*opt));
	struct ftrace_buffer b = { .dir = dir, .name = mem_strdup(name), .opt = opt };
	AUTO_FREE char *tracer = NULL;

	if (a->tracer)
		opt->tracer = a->tracer;
	else if (ftrace_get(dir, "current_tracer", &tracer, NULL, NULL) == 0)
		opt->tracer = arena_printf(&a->t.arena, "%.*s", (int)strcspn(tracer, "\n"), tracer);
	b.is_top = strcmp(dir, f->root) == 0;
	vec_push(&f->buffers, b);
}

static int find_buffers(args_t *a, struct ftrace *f, struct err *e)
{
	AUTO_FREE char *instances = mem_printf("%s/instances", f->root);
	struct file_names names = { 0 };

	if (a->top || a->all)
		add_buffer(a, f, mem_strdup(f->root), "");
	if (a->all && file_list(instances, &names) == 0)
		for (size_t i = 0; i < names.n; i++)
			add_buffer(a, f, mem_printf("%s/%s", instances, names.name[i]),
				   names.name[i]);
	file_names_free(&names);
	for (size_t i = 0; i < a->buffers.n; i++) {
		char *dir = ftrace_dir(f->root, a->buffers.data[i], e);

		if (!dir)
			return -ENOENT;
		add_buffer(a, f, dir, a->buffers.data[i]);
	}
	if (!f->buffers.n)
		add_buffer(a, f, ftrace_dir(f->root, NULL, e), "");
	return 0;
}

static int run_extract(void *args, int argc, char **argv, struct err *e)
{
	args_t *a = args;
	struct ftrace f = { .o = &a->t.o };
	struct ftrace_capture *c = NULL;
	int r;

	if (argc)
		return err_set(e, EINVAL, "what is '%s'? extract takes options only", argv[0]);
	f.root = ftrace_root(e);
	if (!f.root)
		return -ENOENT;
	if (!a->t.output)
		a->t.output = "trace.dat";
	r = undo_open(&f.undo, e);
	if (r >= 0)
		r = find_buffers(a, &f, e);
	vec_each (&a->options, name)
		vec_each (&f.buffers, b)
			if (r >= 0)
				r = ftrace_put_option(&f, b, *name, e);
	if (r >= 0 && !a->snapshot)
		r = ftrace_stop(&f, e);
	if (r >= 0) {
		struct ftrace_capture_opts co = { .output = a->t.output, .snapshot = a->snapshot };

		r = ftrace_capture_start(&f, &co, &c, e);
		if (r == -ENOENT && a->snapshot)
			err_hint(e, "this kernel takes no snapshots");
	}
	if (r >= 0) {
		ftrace_capture_stop(c);
		r = ftrace_save(&f, c, NULL, &a->t, e);
		ftrace_capture_free(c, false);
	}
	if (f.undo)
		undo_all(f.undo);
	vec_each (&f.buffers, b) {
		free(b->dir);
		free(b->name);
	}
	vec_free(&f.buffers);
	return r < 0 ? r : 0;
}

static void ftrace_extract_drop(void *args)
{
	args_t *a = args;

	ftrace_args_free(&a->t);
	vec_free(&a->buffers);
	vec_free(&a->options);
}

const struct command cmd_ftrace_extract = {
	.name = "extract",
	.group = "ftrace",
	.summary = "what start has traced, into a trace.dat",
	.usage = "[OPTIONS]",
	.about = "Stops the tracing and takes the events out of the buffers.",
	.opts = extract_opts,
	.args_size = sizeof(args_t),
	.run = run_extract,
	.drop = ftrace_extract_drop,
};

/* --- restore --- */

static const struct opt restore_opts[] = {
	FILE_OPTS,
	OPT_STR_C('i', "input", "FILE", input,
		  "names and formats from this trace.dat (or what -c made), not from this kernel",
		  "@files"),
	OPT_FLAG('c', "create", create,
		 "only names and formats of this kernel, for -i (default: trace-partial.dat)"),
	OPT_STR_C('t', "tracing", "DIR", tracing,
		  "with -c: of the kernel whose tracefs was copied to DIR", "@dirs"),
	OPT_STR_C('k', "kallsyms", "FILE", kallsyms,
		  "with -c: symbols from a copy of its /proc/kallsyms", "@files"),
	OPT_END,
};

static int open_pages(const char *path, struct tracedat_out_cpu *ret, struct err *e)
{
	const char *suffix = strstr(path, ".cpu");
	struct stat st;
	unsigned cpu;

	while (suffix && strstr(suffix + 1, ".cpu"))
		suffix = strstr(suffix + 1, ".cpu");
	if (!suffix || sscanf(suffix, ".cpu%u", &cpu) != 1) {
		err_set(e, EINVAL, "%s is no file of a CPU's pages", path);
		return err_hint(e, "a recording that was killed leaves FILE.cpu0, FILE.cpu1 ...");
	}
	*ret = (struct tracedat_out_cpu){ .cpu = cpu, .older_fd = -1 };
	ret->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ret->fd < 0 || fstat(ret->fd, &st) < 0)
		return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	ret->size = (uint64_t)st.st_size;
	return 0;
}

/* What a file has besides pages: of this kernel, or of another file. */
struct restored {
	struct ftrace_copy c; /* its o is what is written */
	struct source *from;
	char *clock, *clocks;
	uint32_t page_size;
};

static int read_symbols(const char *path, struct strbuf *ret, struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t n = 0;
	int r = file_read(path, MAX_SYMBOLS, &text, &n);

	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	strbuf_add(ret, text, n);
	return 0;
}

static int restore_head(const args_t *a, struct restored *x, struct err *e)
{
	struct ftrace f = { .o = (struct ftrace_opts *)&a->t.o };
	int r;

	if (a->input) {
		const struct tracedat *t;

		r = ftrace_input(a->input, &x->from, e);
		if (r < 0)
			return r;
		t = tracedat_of(x->from);
		ftrace_copy_head(x->from, &x->c);
		x->clock = mem_strdup(t->n_buffers && *t->buffers[0].clock ? t->buffers[0].clock
									   : "local");
		x->page_size = t->n_buffers && t->buffers[0].page_size ? t->buffers[0].page_size
								       : t->page_size;
		return 0;
	}
	f.root = a->tracing ? a->tracing : ftrace_root(e);
	if (!f.root)
		return -ENOENT;
	r = a->kallsyms ? read_symbols(a->kallsyms, &x->c.o.kallsyms, e) : 0;
	if (r >= 0)
		r = ftrace_about(&f, &x->c.o, e);
	if (r >= 0)
		r = ftrace_get(f.root, "trace_clock", &x->clocks, NULL, e);
	x->c.o.clocks = x->clocks;
	x->clock = ftrace_clock(f.root);
	x->page_size = ftrace_page_size(f.root);
	return r;
}

static void restored_free(struct restored *x)
{
	ftrace_copy_free(&x->c);
	source_close(x->from);
	free(x->clock);
	free(x->clocks);
}

static int run_restore(void *args, int argc, char **argv, struct err *e)
{
	args_t *a = args;
	struct restored x = { 0 };
	struct tracedat_out *o = &x.c.o;
	struct tracedat_out_buffer buffer = { .name = "" };
	VEC(struct tracedat_out_cpu) cpus = { 0 };
	int r;

	if (!argc != a->create) {
		err_set(e, EINVAL,
			argc ? "-c takes no files of pages" : "restore from which files?");
		return err_hint(e, argc ? "kymo ftrace restore -c, and -i trace-partial.dat later"
					: "kymo ftrace restore trace.dat.cpu*");
	}
	if ((a->tracing || a->kallsyms) && !a->create)
		return err_set(e, EINVAL, "-t and -k are for -c: files of pages go with -i FILE");
	if (!a->t.output)
		a->t.output = a->create ? "trace-partial.dat" : "trace.dat";
	r = restore_head(a, &x, e);
	if (r >= 0)
		r = ftrace_save_format(&a->t, &o->version, &o->compression, e);
	for (int i = 0; r >= 0 && i < argc; i++) {
		struct tracedat_out_cpu c = { 0 };

		r = open_pages(argv[i], &c, e);
		if (r >= 0) {
			c.size -= c.size % x.page_size; /* the last page may have been cut */
			vec_push(&cpus, c);
		}
	}
	if (r >= 0) {
		buffer.clock = x.clock;
		buffer.page_size = x.page_size;
		buffer.cpus = cpus.data;
		buffer.n_cpus = cpus.n;
		o->buffers = &buffer;
		o->n_buffers = 1;
		vec_each (&cpus, c)
			o->n_cpus = c->cpu >= o->n_cpus ? c->cpu + 1 : o->n_cpus;
		r = tracedat_write(a->t.output, o, e);
	}
	if (r >= 0 && !a->t.quiet && a->create)
		command_note("wrote %s: names and formats, no pages", a->t.output);
	else if (r >= 0 && !a->t.quiet)
		command_note("wrote %s with the pages of %zu CPUs", a->t.output, cpus.n);
	vec_each (&cpus, c)
		close(c->fd);
	vec_free(&cpus);
	restored_free(&x);
	return r < 0 ? r : 0;
}

const struct command cmd_ftrace_restore = {
	.name = "restore",
	.group = "ftrace",
	.summary = "make a trace.dat of what a killed recording left",
	.usage = "[OPTIONS] FILE.cpu0 [FILE.cpu1 ...]",
	.about = "On the machine, and in the boot, that it was recorded in: names and formats are "
		 "this kernel's, or those of a file (-i) that was written there.",
	.opts = restore_opts,
	.args_size = sizeof(args_t),
	.run = run_restore,
	.drop = ftrace_extract_drop,
};
