/* SPDX-License-Identifier: MIT */
/* kymo inject: a recording with what it lacks added to it. */
#include <linux/perf_event.h>
#include <string.h>

#include "base/file.h"
#include "cmd/command.h"
#include "cmd/share/accept.h"
#include "cmd/share/input.h"
#include "live/about/ksyms.h"
#include "live/about/sampled.h"
#include "store/perfdata/inject.h"
#include "sym/find/find.h"

#define KNOWN_MAX (64u << 20) /* bytes of a list */

struct args {
	const char *input, *output, *known;
	bool build_ids, all, jit, force, sched_stat;
	int verbose;
};

static const struct opt opts[] = {
	OPT_FLAG('b', "build-ids", build_ids, "the build-ids of files that samples fell into"),
	OPT_FLAG(0, "buildid-all", all, "those of all files"),
	OPT_STR(0, "known-build-ids", "ID PATH,...", known,
		"take these for the files at these paths; file://FILE has a pair a line, as "
		"buildid-list prints them"),
	OPT_FLAG('s', "sched-stat", sched_stat,
		 "merge sched:sched_stat_* into the sched:sched_switch before it: where and how "
		 "long tasks slept"),
	OPT_FLAG('j', "jit", jit,
		 "accepted: kymo reads jitdump files itself, whenever it reads the recording"),
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: standard input)", "@files"),
	OPT_STR_C('o', "output", "FILE", output, "write FILE (default: standard output)", "@files"),
	OPT_FLAG('f', "force", force, "read files of other users (kymo always does)"),
	OPT_COUNT('v', "verbose", verbose, "a line for each file"),
	OPT_ACCEPTED(0, "ignore-vmlinux"),
	OPT_ACCEPTED_ARG('k', "vmlinux"),
	OPT_ACCEPTED_ARG(0, "kallsyms"),
	OPT_OF_TRACES("itrace"),
	OPT_OF_TRACES("strip"),
	OPT_OF_TRACES("vm-time-correlation"),
	OPT_OF_GUESTS("guest-data", OPT_ARG_REQUIRED),
	OPT_OF_GUESTS("guestmount", OPT_ARG_REQUIRED),
	OPT_END,
};

/* --known-build-ids: what is at a path, whatever the recording or this machine says. */
struct known {
	struct build_id id;
	char *path;
};
struct known_list {
	VEC(struct known) v;
	struct arena paths;
	struct err *e;
};

static int add_known(void *ctx, const char *pair, size_t n)
{
	struct known_list *l = ctx;
	AUTO_FREE char *text = mem_strndup(pair, n);
	char *id = text + strspn(text, " \t"), *path = id + strcspn(id, " \t");
	struct known k = { 0 };

	if (!*id)
		return 0;
	if (*path)
		*path++ = 0;
	path += strspn(path, " \t");
	if (!build_id_parse(id, &k.id) || !*path) {
		err_set(l->e, EINVAL, "--known-build-ids: '%s %s' is no build-id and path", id,
			path);
		return err_hint(l->e, "as 'kymo buildid-list' prints them, with commas between");
	}
	k.path = arena_strdup(&l->paths, path);
	vec_push(&l->v, k);
	return 0;
}

static int read_known(const char *text, struct known_list *ret, struct err *e)
{
	AUTO_FREE char *file = NULL;
	size_t n;
	int r;

	ret->e = e;
	if (!str_starts(text, "file://"))
		return str_split(text, ',', add_known, ret);
	text += strlen("file://");
	r = file_read(text, KNOWN_MAX, &file, &n);
	if (r < 0)
		return err_set(e, -r, "--known-build-ids: cannot read %s: %s", text, strerror(-r));
	return str_split(file, '\n', add_known, ret);
}

struct listing {
	const struct args *a;
	struct known_list known;
	struct source *s;
	struct strbuf *out;
	size_t n, missing;
};

static void inject_add(struct listing *l, bool kernel, const uint8_t *id, size_t n,
		       const char *path)
{
	char text[BUILD_ID_TEXT];
	struct build_id shown = { .len = (uint8_t)n };

	perfdata_build_id_entry(l->out, kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
				-1, id, n, path);
	l->n++;
	memcpy(shown.data, id, n);
	if (l->a->verbose)
		command_note("%s %s", build_id_text(&shown, text), path);
}

/* What is at that path now, unless it is newer than the recording. */
static bool id_of_file(const struct listing *l, const char *path, struct build_id *id)
{
	uint64_t captured = l->s->trace->info.captured;
	struct find_opts o = input_find(l->s, NULL);
	struct find_stats stats = { 0 };
	struct elf *elf = NULL;
	struct stat st;

	o.no_debug_files = true;
	if (find_file(&o, &(struct find_want){ .path = path }, &elf, &stats, NULL) < 0)
		return false;
	*id = elf->build_id;
	if (elf->fd >= 0 && captured && fstat(elf->fd, &st) == 0 &&
	    (uint64_t)st.st_mtime > captured) {
		command_note("%s was changed after the recording: its build-id is left out", path);
		id->len = 0;
	}
	elf_free(elf);
	return id->len;
}

/* That of this boot, which every process has. */
static bool id_of_vdso(const struct listing *l, struct build_id *id)
{
	struct symbols *s;
	const struct elf *elf;

	if (!input_is_running_kernel(l->s->trace))
		return false;
	s = symbols_new(&(struct symbols_opts){ .no_cache = true, .no_debuginfod = true });
	elf = symbols_elf(s, symbols_dso(s, &(struct find_want){ .path = "[vdso]" }));
	if (elf)
		*id = elf->build_id;
	symbols_free(s);
	return id->len;
}

static void add_dso(struct listing *l, uint32_t d)
{
	const struct tasks *t = l->s->trace->tasks;
	const struct task_dso *dso = tasks_get_dso(t, d);
	const char *path = tasks_dso_path(t, d);
	struct build_id id = { 0 };

	if (dso->ksymbol || str_starts(path, "//anon"))
		return;
	vec_each (&l->known.v, k)
		if (strcmp(k->path, path) == 0) {
			inject_add(l, dso->kernel, k->id.data, k->id.len, path);
			return;
		}
	if (dso->build_id_size)
		inject_add(l, dso->kernel, dso->build_id, dso->build_id_size, path);
	else if (dso->kernel && input_is_running_kernel(l->s->trace) &&
		 strcmp(path, "[kernel.kallsyms]") == 0 && ksyms_build_id(&id))
		inject_add(l, true, id.data, id.len, path);
	else if (!dso->kernel &&
		 (strcmp(path, "[vdso]") == 0 ? id_of_vdso(l, &id)
					      : path[0] == '/' && id_of_file(l, path, &id)))
		inject_add(l, false, id.data, id.len, path);
	else if (!dso->kernel && path[0] == '/')
		l->missing++;
}

static int make_list(struct listing *l, struct err *e)
{
	struct sampled hits = { 0 };
	int r = sampled_find(l->s, &hits, e);

	for (uint32_t d = 0; r == 0 && d < tasks_n_dsos(l->s->trace->tasks); d++)
		if (hits.dso[d] || l->a->all)
			add_dso(l, d);
	sampled_free(&hits);
	return r;
}

static int inject_merge(struct listing *l, const char *output, struct err *e)
{
	struct perfdata_merged m;
	bool ids = l->a->build_ids || l->a->all || l->a->known;
	int r = perfdata_merge(l->s, ids ? l->out : NULL, output, &m, e);

	if (r == 0 && l->a->verbose)
		command_note("%llu sleeps, %llu of tasks that were not seen to leave",
			     (unsigned long long)m.merged, (unsigned long long)m.alone);
	return r;
}

static int inject_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	const char *input = a->input ? a->input : "-", *output = a->output ? a->output : "-";
	AUTO_STRBUF list = { 0 };
	struct listing l = { .a = a, .out = &list };
	struct stat from, to;
	int r;

	if (argc > 0)
		return err_set(e, EINVAL, "what is '%s'? inject takes options only", argv[0]);
	if (!a->build_ids && !a->all && !a->known && !a->jit && !a->sched_stat) {
		err_set(e, EINVAL, "what shall be added?");
		return err_hint(e, "-b adds build-ids, -s merges times of sleeping");
	}
	if (a->jit)
		command_note("code of JIT compilers is read from its jitdump files by each "
			     "command: nothing is merged");
	if (command_spare_terminal(output, "a recording", e) < 0)
		return -e->code;
	if (stat(input, &from) == 0 && stat(output, &to) == 0 && from.st_ino == to.st_ino &&
	    from.st_dev == to.st_dev)
		return err_set(e, EINVAL, "input and output are the same file");
	r = input_open(input, &l.s, e);
	if (r < 0)
		return r;
	r = input_only_perfdata(l.s, "inject", e);
	if (r == 0 && l.s->trace->files)
		r = err_set(e, EOPNOTSUPP, "%s is an archive, which has all files in it", input);
	if (r == 0 && a->known)
		r = read_known(a->known, &l.known, e);
	if (r == 0 && (a->build_ids || a->all || a->known || !a->sched_stat))
		r = make_list(&l, e);
	if (r == 0)
		r = a->sched_stat ? inject_merge(&l, output, e)
				  : perfdata_inject(l.s, &list, output, e);
	if (r == 0)
		input_warn(l.s);
	if (r == 0 && l.missing && a->verbose)
		command_note("%zu files were not found or have no build-id", l.missing);
	vec_free(&l.known.v);
	arena_free(&l.known.paths);
	source_close(l.s);
	return r;
}

const struct command cmd_inject = {
	.name = "inject",
	.group = "Profile",
	.summary = "add build-ids to a recording, or merge times of sleeping",
	.usage = "-b|-s [-i FILE] [-o FILE]",
	.examples = EXAMPLES({ "inject -b -i perf.data -o with-ids.data",
			       "add the build-ids of files on this machine" },
			     { "inject -s -i perf.data -o slept.data",
			       "sched_stat times with the stacks of sched_switch" },
			     { "inject --known-build-ids file://ids -i perf.data -o with-ids.data",
			       "files of another machine, listed there by kymo buildid-list" },
			     { "record -o - -B -a -- sleep 1 | kymo inject -b | kymo report -i -",
			       "in a pipe" }),
	COMMAND_USUAL(inject),
};
