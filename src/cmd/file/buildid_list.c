/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/pool.h"
#include "cmd/command.h"
#include "cmd/share/input.h"
#include "kern/kconfig.h"
#include "live/about/ksyms.h"
#include "store/perfdata/perfdata.h"
#include "sym/elf/elf.h"

struct args {
	const char *input;
	bool hits, kernel, maps, force;
	int verbose;
};

static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", input,
		  "read FILE, a recording or an ELF file (default: perf.data; -: stdin)", "@files"),
	OPT_FLAG('H', "with-hits", hits, "only files that samples fell into"),
	OPT_FLAG('k', "kernel", kernel, "the build-id of the running kernel"),
	OPT_FLAG('m', "kernel-maps", maps, "that and those of its modules, with where they are"),
	OPT_FLAG('f', "force", force, "read files of other users (kymo always does)"),
	OPT_COUNT('v', "verbose", verbose, "accepted as perf's"),
	OPT_END,
};

/* Which files samples fell into. */
struct marking {
	struct source *s;
	uint8_t *hit; /* by dso; by several threads */
};

static int mark_event(void *ctx, const struct event *ev)
{
	const struct marking *m = ctx;
	const struct tasks *tasks = m->s->trace->tasks;
	uint32_t space = ev->mode == EVENT_MODE_KERNEL ? tasks_kernel_at(tasks, ev->time)
			 : ev->mode == EVENT_MODE_USER ? tasks_space_at(tasks, ev->pid, ev->time)
						       : TASK_SPACE_NONE;
	/* like perf: where the sample was, not how it got there */
	const struct task_map *map = tasks_find(tasks, space, ev->ip);

	if (map)
		__atomic_store_n(&m->hit[map->dso], 1, __ATOMIC_RELAXED);
	return 0;
}

static int mark_chunk(void *ctx, size_t job, unsigned worker)
{
	struct marking *m = ctx;

	return m->s->read_chunk(m->s, job, mark_event, m, NULL);
}

/* Names of the files that were hit. */
static void find_hits(struct source *s, struct strtab *hit)
{
	size_t n = tasks_n_dsos(s->trace->tasks);
	AUTO_FREE uint8_t *marks = mem_alloc(n + 1);

	pool_run(s->n_chunks, pool_threads(), mark_chunk, &(struct marking){ s, marks });
	for (uint32_t d = 0; d < n; d++)
		if (marks[d])
			strtab_add(hit, tasks_dso_file(s->trace->tasks, d));
}

static void print_line(const uint8_t *id, size_t n, const char *path)
{
	AUTO_FREE char *made = NULL;

	for (size_t i = 0; i < 20; i++)
		if (i < n)
			printf("%02x", id[i]);
		else if (!n)
			fputs("  ", stdout);
	printf(" %s\n", str_one_line(path, &made));
}

static void buildid_list_list(struct source *s, bool hits)
{
	struct strtab hit = { 0 }, shown = { 0 };
	size_t n;
	const struct perfdata_build_id *b = perfdata_build_ids(s, &n);
	const struct tasks *tasks = s->trace->tasks;

	/* Without a list in the header, the files in use are what there is to show. */
	hits = hits || !n;
	if (hits)
		find_hits(s, &hit);
	for (size_t i = 0; i < n; i++) {
		if (hits && strtab_find(&hit, b[i].path) == STRTAB_NONE)
			continue;
		print_line(b[i].id, b[i].size, b[i].path);
		strtab_add(&shown, b[i].path);
	}
	for (uint32_t d = 0; hits && d < tasks_n_dsos(tasks); d++) {
		const struct task_dso *dso = tasks_get_dso(tasks, d);
		const char *path = tasks_dso_file(tasks, d);

		if (strtab_find(&hit, path) == STRTAB_NONE ||
		    strtab_find(&shown, path) != STRTAB_NONE)
			continue;
		print_line(dso->build_id, dso->build_id_size, path);
		strtab_add(&shown, path);
	}
	strtab_free(&hit);
	strtab_free(&shown);
}

static void put_map(const struct build_id *id, uint64_t start, uint64_t end, const char *name)
{
	char text[BUILD_ID_TEXT];

	printf("%s %16llx %16llx %s\n", build_id_text(id, text), (unsigned long long)start,
	       (unsigned long long)end, name);
}

/* /proc/modules: "name size refs deps state 0xaddress". */
static void put_modules(void)
{
	AUTO_FREE char *text = NULL;
	struct modules files;
	char *save = NULL;

	if (file_read("/proc/modules", 16u << 20, &text, NULL) < 0)
		return; /* this kernel has none */
	modules_open(&files);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct build_id id = { 0 };
		unsigned long long size, addr;
		AUTO_FREE char *path = NULL;
		char name[128];

		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3)
			continue;
		ksyms_module_build_id(name, &id);
		path = modules_path(&files, name);
		if (!path)
			path = mem_printf("[%s]", name);
		put_map(&id, addr, addr + size, path);
	}
	modules_close(&files);
}

static int kernel_maps(struct err *e)
{
	struct build_id id = { 0 };
	struct ksyms k;
	int r = ksyms_open(&k);

	if (r < 0) {
		err_set(e, -r, "where the kernel is cannot be read from /proc/kallsyms");
		return err_hint(e, "as root, or with kernel.kptr_restrict=0");
	}
	ksyms_build_id(&id);
	put_map(&id, k.stext ? k.stext : k.start, k.end, "[kernel.kallsyms]");
	ksyms_close(&k);
	put_modules();
	return 0;
}

static int buildid_list_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	struct source *s = NULL;
	struct elf *elf = NULL;
	char text[BUILD_ID_TEXT];
	struct build_id id;
	int r;

	if (argc > 0)
		return err_set(e, EINVAL, "what is '%s'? buildid-list takes options only", argv[0]);
	if (a->kernel) {
		if (!ksyms_build_id(&id))
			return err_set(e, ENOENT,
				       "the running kernel has no build-id in /sys/kernel/notes");
		puts(build_id_text(&id, text));
		return 0;
	}
	if (a->maps)
		return kernel_maps(e);
	if (a->input && strcmp(a->input, "-") != 0 && elf_open_path(a->input, &elf, NULL) == 0) {
		r = elf->build_id.len ? 0 : err_set(e, ENOENT, "%s has no build-id", a->input);
		if (r == 0)
			puts(build_id_text(&elf->build_id, text));
		elf_free(elf);
		return r;
	}
	r = input_open(a->input, &s, e);
	if (r < 0)
		return r;
	buildid_list_list(s, a->hits);
	input_warn(s);
	source_close(s);
	return 0;
}

const struct command cmd_buildid_list = {
	.name = "buildid-list",
	.group = "Profile",
	.summary = "list the build-ids of a recording",
	.usage = "[-i FILE] [OPTIONS]",
	.examples = EXAMPLES({ "buildid-list -H", "the files of perf.data that samples fell into" },
			     { "buildid-list -i /bin/ls", "the build-id of a program" }),
	COMMAND_USUAL(buildid_list),
};
