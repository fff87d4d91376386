/* SPDX-License-Identifier: MIT */
/*
 * kymo archive: a recording with everything a report needs, in one file.
 *
 * What is needed is found out by doing it: all addresses are named, with lines, and
 * each file that was opened for it goes in. So a report elsewhere has the same.
 */
#define OPT_ARGS struct archive_args
#include "cmd/file/archive.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "base/file.h"
#include "base/filemap.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/tar_write.h"
#include "calc/profile/names.h"
#include "cmd/command.h"
#include "cmd/share/input.h"
#include "cmd/share/progress.h"
#include "config.h"
#include "live/about/sampled.h"
#include "store/perfdata/perfdata.h"
#include "sym/disasm/kcode.h"
#include "sym/find/archive.h"

#define LEVEL 3
#define MAX_SOURCE (8u << 20)

static const struct opt opts[] = {
	OPT_HEAD("Making one"),
	OPT_STR_C('i', "input", "FILE", input, "the recording (default: perf.data)", "@files"),
	OPT_STR_C('o', "output", "FILE", output,
		  "what to write (default: FILE.kymo; -: stdout; unpacking: the recording, "
		  "perf.data)",
		  "@files"),
	OPT_FLAG('a', "all", all, "all mapped files, not only those that samples fell into"),
	OPT_FLAG(0, "sources", sources,
		 "source files too, as far as debug info names them: below this folder, that of "
		 "the recording, /usr/src, /usr/include, /usr/lib, /usr/local"),
	OPT_STRS_C(0, "source-dir", "DIR", source_dirs,
		   "source files below DIR instead (may be given again)", "@dirs"),
	OPT_FLAG(0, "no-vmlinux", no_vmlinux, "not the kernel's code, where a vmlinux is at hand"),
	OPT_FLAG(0, "plain", plain, "a tar archive that is not packed"),
	OPT_STR_C(0, "symfs", "DIR", symfs, "look for files below DIR", "@dirs"),
	OPT_HEAD("Unpacking one"),
	OPT_FLAG(0, "unpack", unpack,
		 "put its files into the build-id cache, the recording into perf.data"),
	OPT_STR_C('d', "directory", "DIR", folder, "put everything into DIR instead", "@dirs"),
	OPT_STR_C(0, "buildid-dir", "DIR", buildid_dir, "the cache (default: ~/.debug)", "@dirs"),
	OPT_FLAG('q', "quiet", quiet, "no messages"),
	OPT_END,
};

struct making {
	const struct archive_args *a;
	struct tar_writer *w;
	struct source *source;
	struct symbols *symbols;
	pthread_mutex_t lock;  /* for all below */
	struct strtab done;    /* names of members */
	struct strtab folders; /* build-ids, and by their number: */
	VEC(const char *) folder;
	size_t n_files;
	struct err err;
	int result;
	struct archive_rights rights;
	struct arena texts; /* of what is to be shown: */
	VEC(const char *) missing, packed;
	VEC(const char *) refused; /* a file and why */
};

/* Once each; the first failure is kept. */
static void archive_put(struct making *m, const char *name, const void *data, size_t n)
{
	size_t before = m->done.n;

	strtab_add(&m->done, name);
	if (m->result < 0 || m->done.n == before)
		return;
	m->result = tar_write_file(m->w, name, data, n, 0, &m->err);
	vec_push(&m->packed, arena_strdup(&m->texts, name));
	m->n_files++;
}

static void put_by_path(struct making *m, const char *path, const void *data, size_t n)
{
	AUTO_STRBUF name = { 0 };

	if (archive_file(&name, path))
		archive_put(m, name.data, data, n);
}

/* A build-id has one folder, whatever paths its files have. */
static const char *folder_of(struct making *m, const struct build_id *id, const char *path)
{
	char text[BUILD_ID_TEXT];
	uint32_t at = strtab_add(&m->folders, build_id_text(id, text));

	if (at == m->folder.n) {
		AUTO_STRBUF target = { 0 };
		AUTO_STRBUF link = { 0 };

		strbuf_puts(&target, "../../");
		archive_folder(&target, path, id);
		vec_push(&m->folder, arena_strdup(&m->texts, target.data + strlen("../../")));
		archive_link(&link, id);
		if (m->result >= 0)
			m->result = tar_write_link(m->w, link.data, target.data, &m->err);
	}
	return m->folder.data[at];
}

/* A second way to a member: by the path, which leads there from the archive's top. */
static void link_path(struct making *m, const char *path, const char *member)
{
	AUTO_STRBUF name = { 0 };
	AUTO_STRBUF target = { 0 };
	size_t before = m->done.n;

	if (!archive_file(&name, path))
		return;
	strtab_add(&m->done, name.data);
	if (m->result < 0 || m->done.n == before)
		return;
	for (const char *p = strchr(name.data, '/'); p; p = strchr(p + 1, '/'))
		strbuf_puts(&target, "../");
	strbuf_puts(&target, member);
	m->result = tar_write_link(m->w, name.data, target.data, &m->err);
}

__attribute__((format(printf, 2, 3))) static void refuse(struct making *m, const char *fmt, ...)
{
	char text[PATH_MAX + 256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	vec_push(&m->refused, arena_strdup(&m->texts, text));
}

/* What a recorded build-id confirms is what was recorded; a path alone says nothing. */
static bool may_take(struct making *m, const struct find_taken *t)
{
	if (!t->by_path || archive_may_read(&m->rights, t->path))
		return true;
	refuse(m, "%s, which user %u may not read", t->path, m->rights.user.uid);
	return false;
}

static void put_taken(struct making *m, const struct find_taken *t)
{
	bool has_id = t->name && t->id && t->id->len >= 2;
	AUTO_FREE char *member =
		has_id ? mem_printf("%s/%s", folder_of(m, t->id, t->path), t->name) : NULL;

	if (!may_take(m, t))
		return;
	if (!has_id) {
		put_by_path(m, t->path, t->data, t->n);
		return;
	}
	archive_put(m, member, t->data, t->n);
	if (t->by_path)
		link_path(m, t->path, member);
}

/* A file was opened. */
static void taken(void *ctx, const struct find_taken *t)
{
	struct making *m = ctx;

	pthread_mutex_lock(&m->lock);
	put_taken(m, t);
	pthread_mutex_unlock(&m->lock);
}

/* fd is taken over. */
static int put_recording(struct making *m, int taken, const char *path, const char *name,
			 struct err *e)
{
	AUTO_CLOSE int fd = taken;
	struct stat st;
	void *p;
	int r;

	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	if (!st.st_size)
		return err_set(e, EINVAL, "%s is empty", path);
	p = filemap_open(fd, (size_t)st.st_size, path);
	if (!p)
		return err_set(e, errno, "cannot map %s: %s", path, strerror(errno));
	r = tar_write_file(m->w, name, p, (size_t)st.st_size, st.st_mtime, e);
	filemap_close(p, (size_t)st.st_size);
	return r;
}

/* perf record --threads makes a folder. */
static int put_recordings(struct making *m, const char *path, struct err *e)
{
	AUTO_CLOSE int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[32] = "data";
	int fd, r = 0;

	if (folder < 0) {
		fd = file_open_input(path, e);
		return fd < 0 ? fd : put_recording(m, fd, path, ARCHIVE_DATA, e);
	}
	for (unsigned i = 0; r == 0; i++) {
		AUTO_FREE char *member = mem_printf(ARCHIVE_DATA "/%s", name);

		fd = perfdata_open_part(folder, path, name, e);
		if (fd == -ENOENT)
			break;
		r = fd < 0 ? fd : put_recording(m, fd, path, member, e);
		snprintf(name, sizeof(name), "data.%u", i);
	}
	return r;
}

/* The files that data addresses and branches lie in; chains are named anyway. */
struct marking {
	const struct tasks *tasks;
	uint8_t *hit;
};

static void archive_mark(struct marking *m, const struct event *ev, uint64_t addr)
{
	uint32_t space = tasks_space_at(m->tasks, ev->pid, ev->time);
	const struct task_map *map = tasks_find(m->tasks, space, addr);

	if (map)
		m->hit[map->dso] = 1;
}

static int mark_event(void *ctx, const struct event *ev)
{
	if (ev->have & EVENT_HAVE_ADDR)
		archive_mark(ctx, ev, ev->addr);
	for (uint64_t i = 0; ev->extra && i < ev->extra->branch_n; i++) {
		archive_mark(ctx, ev, ev->extra->branch[i].from);
		archive_mark(ctx, ev, ev->extra->branch[i].to);
	}
	return 0;
}

static int find_marks(struct making *m, uint8_t *hit, struct err *e)
{
	struct source *s = m->source;
	struct marking marking = { s->trace->tasks, hit };
	bool any = false;

	for (size_t i = 0; i < s->trace->n_types; i++)
		any = any || (s->trace->types[i].has & (EVENT_HAVE_ADDR | TYPE_HAS_BRANCHES));
	for (size_t i = 0; any && i < s->n_chunks; i++)
		if (s->read_chunk(s, i, mark_event, &marking, e) < 0)
			return -e->code;
	return 0;
}

/* Open every file of the list, so that it and what belongs to it is taken. */
static void open_files(struct making *m, const uint8_t *hit)
{
	const struct tasks *t = m->source->trace->tasks;

	for (uint32_t d = 0; d < tasks_n_dsos(t); d++) {
		const struct task_dso *dso = tasks_get_dso(t, d);
		struct find_want want = { .path = tasks_dso_file(t, d) };
		uint32_t file;

		if ((!hit[d] && !m->a->all) || dso->kernel || str_starts(want.path, "//anon") ||
		    (want.path[0] != '/' && strcmp(want.path, "[vdso]") != 0))
			continue;
		want.id.len = dso->build_id_size;
		memcpy(want.id.data, dso->build_id, dso->build_id_size);
		file = symbols_dso(m->symbols, &want);
		if (!symbols_status(m->symbols, file).opened && hit[d] &&
		    !str_starts(want.path, "/tmp/perf-"))
			vec_push(&m->missing, arena_strdup(&m->texts, want.path));
	}
}

static void put_source(struct making *m, const char *path)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = file_read_fd(archive_open_source(&m->rights, path), MAX_SOURCE, &text, &len);

	if (r == 0)
		put_by_path(m, path, text, len);
	else if (r == -EXDEV && file_exists(path))
		refuse(m, "%s, which lies elsewhere (--source-dir DIR names its folder)", path);
	else if (r == -EACCES && m->rights.limited)
		refuse(m, "%s, which user %u may not read", path, m->rights.user.uid);
	else if (r == -EACCES)
		refuse(m, "%s, which only root may read (--source-dir DIR takes it)", path);
}

static void put_sources(struct making *m, const struct names *n)
{
	bool wanted = m->a->sources || m->a->source_dirs.n;
	struct strtab seen = { 0 };

	for (size_t i = 0; wanted && i < n->sites.n; i++) {
		const struct sym_result *s = n->sites.data[i].sym;

		for (uint32_t k = 0; s && k < s->nframes; k++) {
			const char *path = symbols_text(m->symbols, s->frames[k].file);
			size_t before = seen.n;

			strtab_add(&seen, path);
			if (seen.n > before && *path == '/')
				put_source(m, path);
		}
	}
	strtab_free(&seen);
}

/* A vmlinux of that build, where packages put it. */
static bool put_vmlinux(struct making *m, const struct build_id *id)
{
	const struct trace *t = m->source->trace;
	struct kcode_want want = { .symfs = m->a->symfs,
				   .release = t->info.os_release,
				   .id = *id,
				   .text = tasks_kernel_start(t->tasks) };
	struct kcode *k = NULL;
	struct elf *elf = NULL;
	bool found = false;

	if (m->a->no_vmlinux || !id->len || kcode_open(&want, &k, &(struct err){ 0 }) < 0)
		return false;
	if (elf_open_path(k->path, &elf, NULL) == 0 && build_id_match(&elf->build_id, id)) {
		put_taken(m, &(struct find_taken){ .path = "[kernel.vmlinux]",
						   .id = id,
						   .name = "elf",
						   .data = elf->data,
						   .n = elf->size });
		found = true;
	}
	elf_free(elf);
	kcode_close(k);
	return found;
}

/* kymo's recordings have the names of what was hit; others, and code to look at, need all. */
static void put_kernel(struct making *m)
{
	const struct trace *t = m->source->trace;
	AUTO_FREE char *text = NULL;
	bool named, code;
	struct build_id id = input_kernel_id(t, &named);
	size_t n = 0;

	if (!named)
		return;
	code = put_vmlinux(m, &id);
	if (t->info.kallsyms_size && !(code && input_same_boot(t)))
		return;
	if (input_kallsyms(t, &text, &n) < 0)
		return;
	if (id.len)
		put_taken(m, &(struct find_taken){ .path = "[kernel.kallsyms]",
						   .id = &id,
						   .name = "kallsyms",
						   .data = text,
						   .n = n });
	else
		put_by_path(m, "/proc/kallsyms", text, n);
}

/* Name all there is to name; what is opened on the way is taken. */
static int put_files(struct making *m, struct err *e)
{
	struct symbols_opts so = { .find = input_find(m->source, m->a->symfs) };
	struct profile_opts po = { .by = PROFILE_BY_CODE | PROFILE_BY_CHAIN };
	struct profile p = { 0 };
	struct names n = { 0 };
	struct sampled hits = { 0 };
	const char *note;
	int r = sampled_find(m->source, &hits, e);

	so.find.taken = taken;
	so.find.taken_ctx = m;
	m->symbols = symbols_new(&so);
	if (r == 0)
		r = find_marks(m, hits.dso, e);
	if (r == 0)
		r = profile_make(m->source, &po, &p, e);
	if (r == 0)
		r = input_kernel_symbols(m->source, &(struct input_kernel){ .symfs = m->a->symfs },
					 m->symbols, &note, e);
	if (r == 0)
		r = names_make(&p, m->symbols, &(struct names_opts){ .inlines = true }, &n, e);
	if (r == 0) {
		open_files(m, hits.dso);
		put_sources(m, &n);
		if (hits.kernel.n || m->a->all)
			put_kernel(m);
	}
	names_free(&n);
	profile_free(&p);
	symbols_free(m->symbols);
	sampled_free(&hits);
	if (r == 0 && m->result < 0) {
		*e = m->err;
		r = m->result;
	}
	return r;
}

static void archive_tell(const struct making *m, const char *output, int64_t size)
{
	char n[64];
	if (m->a->quiet)
		return;
	for (size_t i = 0; i < m->missing.n && i < 10; i++)
		command_note("%s was not found: its addresses will have no names",
			     m->missing.data[i]);
	if (m->missing.n > 10)
		command_note("and %zu files more", m->missing.n - 10);
	for (size_t i = 0; i < m->refused.n; i++)
		command_note("left out: %s", m->refused.data[i]);
	for (size_t i = 0; i < m->packed.n; i++)
		fprintf(stderr, "  %s\n", m->packed.data[i]);
	fprintf(stderr, "[ kymo archive: wrote %.3f MB %s: the recording and %s ]\n",
		(double)size / 1048576, strcmp(output, "-") == 0 ? "to the pipe" : output,
		str_count(m->n_files, "file", n, sizeof(n)));
}

static int archive_make(const struct archive_args *a, const char *input, struct err *e)
{
	AUTO_FREE char *output = a->output ? mem_strdup(a->output) : mem_printf("%s.kymo", input);
	struct making m = { .a = a, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct progress progress;
	int64_t size;
	int r;

	if (strcmp(input, "-") == 0)
		return err_set(e, EINVAL, "archive needs a file, not a pipe");
	if (command_spare_terminal(output, "an archive", e) < 0)
		return -e->code;
	r = input_open(input, &m.source, e);
	if (r < 0)
		return r;
	r = input_only_perfdata(m.source, "archive", e);
	if (r == 0 && m.source->trace->files)
		r = err_set(e, EEXIST, "%s is an archive already", input);
	if (r < 0) {
		source_close(m.source);
		return r;
	}
	if (!a->quiet)
		input_warn(m.source);
	input_unwind(&m.source, a->symfs);
	progress_begin(&progress, "collecting files", a->quiet);
	progress_at(&progress, 0, 0);
	r = archive_rights_init(&m.rights, input, &a->source_dirs, e);
	if (r == 0)
		r = tar_write_open(output, a->plain || !HAVE_ZSTD ? 0 : LEVEL, &m.w, e);
	if (r == 0)
		r = put_recordings(&m, input, e);
	if (r == 0)
		r = put_files(&m, e);
	progress_end(&progress);
	if (r < 0) {
		tar_write_abandon(m.w);
	} else {
		size = tar_write_finish(m.w, e);
		r = size < 0 ? (int)size : 0;
		if (r == 0)
			archive_tell(&m, output, size);
	}
	source_close(m.source);
	strtab_free(&m.done);
	strtab_free(&m.folders);
	vec_free(&m.folder);
	vec_free(&m.missing);
	vec_free(&m.packed);
	vec_free(&m.refused);
	arena_free(&m.texts);
	archive_rights_free(&m.rights);
	return r;
}

static int archive_run(void *args, int argc, char **argv, struct err *e)
{
	const struct archive_args *a = args;
	const char *file = argc ? argv[0] : a->input;

	if (argc > 1)
		return err_set(e, EINVAL, "one file at a time: what is '%s'?", argv[1]);
	if (a->unpack)
		return archive_unpack(a, file, e);
	return archive_make(a, file ? file : "perf.data", e);
}

static void archive_drop(void *args)
{
	struct archive_args *a = args;

	vec_free(&a->source_dirs);
}

const struct command cmd_archive = {
	.name = "archive",
	.group = "Profile",
	.summary = "pack a recording with all files a report needs",
	.usage = "[OPTIONS] [FILE]",
	.about = "Every command that reads a recording reads the archive as it is, with the same "
		 "result as on the machine it was recorded on. It is a tar archive in the layout "
		 "of perf's ~/.debug.",
	.examples = EXAMPLES({ "archive", "perf.data and all it needs into perf.data.kymo" },
			     { "report -i perf.data.kymo", "read it, on any machine" },
			     { "archive --unpack perf.data.kymo",
			       "put its files where perf and kymo look for them" }),
	.complete = "@files",
	.opts = opts,
	.args_size = sizeof(struct archive_args),
	.run = archive_run,
	.drop = archive_drop,
};
