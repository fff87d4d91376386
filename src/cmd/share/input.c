/* SPDX-License-Identifier: MIT */
#include "cmd/share/input.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/pool.h"
#include "base/str.h"
#include "calc/read/offcpu.h"
#include "calc/read/unwound.h"
#include "cmd/command.h"
#include "cmd/share/open.h"
#include "event/match.h"
#include "event/waker.h"
#include "live/about/ksyms.h"
#include "sym/elf/symtab.h"
#include "sym/find/archive.h"
#include "sym/find/cache.h"

#define MAX_KALLSYMS (1u << 30)

const char *input_path(const char *path)
{
	struct stat st;

	if (path && *path)
		return path;
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
		return "-";
	return "perf.data";
}

int input_open(const char *path, struct source **ret, struct err *e)
{
	struct source *s;
	int r = source_open(input_path(path), &s, e);

	if (r < 0)
		return r;
	if (s->trace->own && !s->trace->n_samples) {
		source_close(s);
		return err_set(e, ENODATA, "%s is empty", source_name(input_path(path)));
	}
	*ret = s;
	return 0;
}

int input_only_perfdata(const struct source *s, const char *what, struct err *e)
{
	if (strcmp(s->format, "perf.data") == 0)
		return 0;
	return err_set(e, EOPNOTSUPP, "this is a %s recording; %s works on perf.data only",
		       s->format, what);
}

const char *input_symfs(const char *folder)
{
	char *real = folder ? realpath(folder, NULL) : NULL;
	bool root = real && strcmp(real, "/") == 0;

	free(real);
	return root ? NULL : folder;
}

struct find_opts input_find(const struct source *s, const char *symfs)
{
	return (struct find_opts){ .symfs = symfs,
				   .archive = s->trace->files,
				   .own = s->trace->own,
				   .recording = { s->trace->first_time, s->trace->last_time } };
}

void input_unwind(struct source **s, const char *symfs)
{
	struct find_opts o = input_find(*s, symfs);

	if (unwound_needed(*s))
		*s = unwound_new(*s, &o, 0);
}

/* Waits are made of switches: all of them. */
static void say_thinned(const struct trace *t)
{
	const struct event_type *thin = NULL;

	for (size_t i = 0; i < t->n_types; i++) {
		if (waker_is_event(t->types[i].name))
			return;
		if (match_tracepoint(&t->types[i], "sched", "sched_switch") &&
		    type_is_thinned(&t->types[i]))
			thin = &t->types[i];
	}
	if (thin)
		command_note("%s was sampled: waits are missing or too long; record it without -F "
			     "and -c",
			     thin->name);
}

int input_off_cpu(struct source **s, bool wakers, struct err *e)
{
	say_thinned((*s)->trace);
	return offcpu_new(*s, wakers ? OFFCPU_WAKERS : OFFCPU_WAITS, s, e);
}

int input_wall(struct source **s, struct err *e)
{
	say_thinned((*s)->trace);
	return offcpu_new(*s, OFFCPU_BESIDE, s, e);
}

struct build_id input_kernel_id(const struct trace *t, bool *named)
{
	struct build_id id = { 0 };

	*named = false;
	for (uint32_t i = 0; i < tasks_n_dsos(t->tasks) && !*named; i++) {
		const struct task_dso *d = tasks_get_dso(t->tasks, i);

		*named = d->kernel && strcmp(tasks_dso_path(t->tasks, i), "[kernel.kallsyms]") == 0;
		if (*named) {
			id.len = d->build_id_size;
			memcpy(id.data, d->build_id, id.len);
		}
	}
	return id;
}

bool input_is_running_kernel(const struct trace *t)
{
	struct build_id of, id = { 0 };
	struct utsname u;
	bool named;

	of = input_kernel_id(t, &named);
	if (of.len == 20 && ksyms_build_id(&id))
		return build_id_same(&of, &id);
	if (t->info.os_release && uname(&u) == 0)
		return strcmp(t->info.os_release, u.release) == 0 &&
		       (!t->info.arch || strcmp(t->info.arch, u.machine) == 0);
	return true;
}

/* From a file, or what runs now (path NULL). */
static int load_list(const char *path, struct symbols *symbols, struct err *e)
{
	struct kallsyms list;
	int r = path ? kallsyms_load(&list, path, e) : ksyms_list(&list, e);

	if (r == 0)
		symbols_kernel_list(symbols, &list);
	return r;
}

/* perf keeps the symbols of kernels it recorded below ~/.debug. NULL: there can be none. */
static char *perf_cache_path(const struct trace *t)
{
	const char *home = getenv("HOME");
	char text[BUILD_ID_TEXT];
	bool named;
	struct build_id id = input_kernel_id(t, &named);

	return id.len && home ? mem_printf("%s/.debug/[kernel.kallsyms]/%s/kallsyms", home,
					   build_id_text(&id, text))
			      : NULL;
}

int input_kallsyms(const struct trace *t, char **ret, size_t *n)
{
	AUTO_FREE char *path = perf_cache_path(t);

	if (input_is_running_kernel(t) && file_read("/proc/kallsyms", MAX_KALLSYMS, ret, n) == 0) {
		if (*n > 16 && strncmp(*ret, "0000000000000000", 16) != 0)
			return 0;
		free(*ret);
	}
	return path && file_read_input(path, MAX_KALLSYMS, ret, n) == 0 ? 0 : -ENOENT;
}

/* All of a kernel's symbols that came with the recording. */
static int load_archived(const struct trace *t, struct symbols *symbols)
{
	bool named;
	struct build_id id = input_kernel_id(t, &named);
	size_t n = 0;
	const void *p = named ? archive_by_id(t->files, &id, "kallsyms", &n) : NULL;
	char *text;

	if (!p)
		p = archive_by_path(t->files, "/proc/kallsyms", &n);
	if (!p)
		return -ENOENT;
	text = mem_alloc(n + 1);
	memcpy(text, p, n);
	return symbols_kernel_text(symbols, text, n, NULL);
}

/* The kernel may have been moved at boot: by how much shows in where _text was. */
static uint64_t vmlinux_slide(const struct trace *t, const char *path)
{
	static const char *const anchors[] = { "_text", "_stext" };
	struct elf *file = NULL;
	struct symtab tab = { 0 };
	uint64_t recorded = tasks_kernel_start(t->tasks), slide = 0;
	bool named;

	input_kernel_id(t, &named);
	if (!named || !recorded || elf_open_path(path, &file, NULL) < 0)
		return 0;
	if (symtab_load(&tab, file, NULL, NULL) == 0) {
		for (size_t i = 0; i < tab.n && !slide; i++)
			for (size_t k = 0; k < ARRAY_SIZE(anchors); k++)
				if (strcmp(tab.sym[i].name, anchors[k]) == 0)
					slide = recorded - tab.sym[i].start;
		symtab_free(&tab);
	}
	elf_free(file);
	return slide;
}

/* The running kernel's, if the first one that was saved has its address still. */
static int same_boot_text(const struct trace *t, char **ret, size_t *n)
{
	size_t line = t->info.kallsyms ? strcspn(t->info.kallsyms, "\n") : 0;
	int r;

	if (!line || !input_is_running_kernel(t))
		return -ESTALE;
	r = file_read("/proc/kallsyms", MAX_KALLSYMS, ret, n);
	if (r < 0)
		return r;
	if (memmem(*ret, *n, t->info.kallsyms, line))
		return 0;
	free(*ret);
	return -ESTALE;
}

bool input_same_boot(const struct trace *t)
{
	char *text = NULL;
	size_t n = 0;
	bool same = same_boot_text(t, &text, &n) == 0;

	if (same)
		free(text);
	return same;
}

static int load_same_boot(const struct trace *t, struct symbols *symbols)
{
	char *text = NULL;
	size_t n = 0;
	int r = same_boot_text(t, &text, &n);

	return r < 0 ? r : symbols_kernel_text(symbols, text, n, NULL);
}

int input_kernel_symbols(const struct source *s, const struct input_kernel *o,
			 struct symbols *symbols, const char **note, struct err *e)
{
	const struct trace *t = s->trace;
	AUTO_FREE char *kept = NULL;

	*note = NULL;
	if (s->trace->own)
		return 0;
	if (o->vmlinux)
		return symbols_kernel_file(symbols, o->vmlinux, vmlinux_slide(t, o->vmlinux), e);
	if (o->kallsyms)
		return load_list(o->kallsyms, symbols, e);
	if (o->all && t->files && load_archived(t, symbols) == 0)
		return 0;
	if (o->all && !o->symfs && !t->files && load_same_boot(t, symbols) == 0)
		return 0;
	if (t->info.kallsyms_size &&
	    symbols_kernel_text(symbols, mem_strndup(t->info.kallsyms, t->info.kallsyms_size),
				strnlen(t->info.kallsyms, t->info.kallsyms_size), NULL) == 0)
		return 0;
	if (load_archived(t, symbols) == 0)
		return 0;
	if (!o->symfs && !t->files && input_is_running_kernel(t)) {
		if (load_list(NULL, symbols, NULL) == 0)
			return 0;
		*note = "kernel addresses have no names: /proc/kallsyms cannot be read "
			"(sysctl kernel.kptr_restrict=0)";
	} else if (!t->files) { /* an archive has them if they were needed */
		*note = "kernel addresses have no names: the recording is of another kernel "
			"(--kallsyms FILE or --vmlinux FILE gives its symbols)";
	}
	kept = perf_cache_path(t);
	if (kept && load_list(kept, symbols, NULL) == 0)
		*note = NULL;
	return 0;
}

struct later {
	const struct source *source;
	struct input_kernel opts;
	struct symbols *symbols;
	const char **note;
	/* The running kernel's, which it takes a while to write: */
	pthread_t reader;
	bool reading;
	int r;
	struct kallsyms list;
};

static void *read_ahead(void *ctx)
{
	struct later *l = ctx;

	l->r = ksyms_list(&l->list, NULL);
	return NULL;
}

/* What was read meanwhile, if so. */
static int wait_for_list(struct later *l)
{
	if (!l->reading)
		return -ENOENT;
	pthread_join(l->reader, NULL);
	l->reading = false;
	return l->r;
}

static void load_later(void *ctx)
{
	struct later *l = ctx;

	if (wait_for_list(l) == 0)
		symbols_kernel_list(l->symbols, &l->list);
	else
		input_kernel_symbols(l->source, &l->opts, l->symbols, l->note, NULL);
}

static void end_later(void *ctx)
{
	struct later *l = ctx;

	wait_for_list(l);
	kallsyms_free(&l->list);
	free(l);
}

/* Do samples of the kernel's code come, whose names are not known from the last time? */
static bool worth_reading(const struct trace *t, const struct symbols *symbols)
{
	bool kernel = false;

	for (size_t i = 0; i < t->n_types; i++)
		kernel |= !(t->types[i].excludes & EXCLUDES_KERNEL);
	return kernel && !symbols_kernel_kept(symbols) && t->n_samples > 0 && pool_threads() > 1;
}

int input_kernel_later(const struct source *s, const struct input_kernel *o,
		       struct symbols *symbols, const char **note, struct err *e)
{
	struct later *l;
	struct build_id id;

	*note = NULL;
	if (s->trace->own)
		return 0;
	if (o->vmlinux || o->kallsyms) /* what is wrong with them is said at once */
		return input_kernel_symbols(s, o, symbols, note, e);
	l = mem_alloc(sizeof(*l));
	*l = (struct later){ .source = s, .opts = *o, .symbols = symbols, .note = note };
	symbols_kernel_later(symbols, load_later, end_later, l);
	/* those of the running kernel, which is what it will come to */
	if (!o->symfs && !s->trace->files && !s->trace->info.kallsyms_size &&
	    input_is_running_kernel(s->trace) && ksyms_state(&id)) {
		symbols_kernel_id(symbols, &id);
		l->reading = worth_reading(s->trace, symbols) &&
			     pthread_create(&l->reader, NULL, read_ahead, l) == 0;
	}
	return 0;
}

void input_warn(const struct source *s)
{
	struct trace_losses *l = &s->trace->losses;

	if (l->told)
		return;
	l->told = true;
	if (l->note[0])
		command_note("%s", l->note);
	if (l->lost_events >= l->lost_samples && l->lost_events)
		command_note("the recorder lost %" PRIu64 " events in %" PRIu64
			     " places; record with a larger buffer (-m) or a lower rate (-F)",
			     l->lost_events, l->lost_records);
	else if (l->lost_samples)
		command_note("the recorder lost %" PRIu64
			     " events; record with a larger buffer (-m) or a lower rate (-F)",
			     l->lost_samples);
	if (l->bad_records)
		command_note("%" PRIu64 " records make no sense and were left out", l->bad_records);
	if (l->unknown_records)
		command_note("%" PRIu64 " records are of kinds this kymo does not know",
			     l->unknown_records);
}
