/* SPDX-License-Identifier: MIT */
/*
 * kymo buildid-cache: files kept for recordings. There are two such places: perf's ~/.debug,
 * which people fill and which grows for ever, and kymo's own, which keeps what would have
 * vanished after a recording, and within limits.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/share/accept.h"
#include "cmd/share/input.h"
#include "store/perfdata/perfdata.h"
#include "sym/find/cache.h"
#include "sym/find/debugdir.h"
#include "sym/find/debuginfod.h"
#include "sym/find/find.h"
#include "sym/find/keptprobes.h"

#define FETCH_MS 120000 /* for all debug info: nobody waits for a report here */

struct args {
	struct vec_strs add, remove, purge, update;
	const char *missing, *dir;
	int target;
	bool list, purge_all, force, servers;
	int verbose;
};

static opt_fn on_servers;

#define FILES(c, l, f, h)                                                                    \
	{                                                                                    \
		.kind = OPT_KIND_STRS, .arg = OPT_ARG_REQUIRED, .letter = (c), .name = (l),  \
		.meta = "FILE,...", .flags = OPT_NONEG, .field = OPT_FIELD_(f), .help = (h), \
		.complete = "@files"                                                         \
	}

static const struct opt opts[] = {
	FILES('a', "add", add, "keep these files"),
	FILES('r', "remove", remove, "forget these files, or build-ids"),
	FILES('p', "purge", purge, "forget all builds of these files"),
	OPT_FLAG('P', "purge-all", purge_all, "forget all files, and what was made of them"),
	FILES('u', "update", update, "keep these anew, in place of what is kept of their build"),
	OPT_FLAG('l', "list", list, "show what is kept"),
	OPT_STR_C('M', "missing", "FILE", missing, "which files of a recording are not kept",
		  "@files"),
	OPT_STR_C(0, "buildid-dir", "DIR", dir, "the folder (default: ~/.debug)", "@dirs"),
	OPT_FN_C(0, "debuginfod", "URLS", OPT_ARG_OPTIONAL, on_servers,
		 "with -a and -u, also their debug info, from these servers (default: "
		 "$DEBUGINFOD_URLS)",
		 NULL),
	OPT_INT(0, "target-ns", "PID", target, "see files as this process does"),
	OPT_FLAG('f', "force", force, "no questions (kymo asks none)"),
	OPT_COUNT('v', "verbose", verbose, "a line for each file"),
	OPT_REFUSED('k', "kcore", OPT_ARG_REQUIRED, "copies of a kernel's code are not kept",
		    "annotate reads /proc/kcore of the running kernel itself; kymo archive packs a "
		    "recording with what its report needs, and -k VMLINUX names another kernel's "
		    "file"),
	OPT_END,
};

static int on_servers(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	((struct args *)args)->servers = !unset;
	if (value && !unset)
		setenv("DEBUGINFOD_URLS", value, 1);
	return 0;
}

struct work {
	const struct args *a;
	int dir;   /* perf's */
	int cache; /* kymo's; below 0: none */
	int failed;
	struct debuginfod *servers; /* NULL: none */
};

static void done(const struct work *w, const char *what, const struct build_id *id,
		 const char *name, int r)
{
	char text[BUILD_ID_TEXT];

	if (w->a->verbose)
		command_note("%s %s %s: %s", what, build_id_text(id, text), name,
			     r < 0 ? "failed" : "ok");
}

static void complain(struct work *w, const struct err *e)
{
	command_note("%s%s%s", e->msg, e->hint[0] ? "; " : "", e->hint);
	w->failed++;
}

/* Its debug info beside it, where it has none of its own. */
static int add_debug(struct work *w, const char *shown, const struct build_id *id, struct err *e)
{
	struct elf *elf = NULL;
	int r, fd = w->servers ? debuginfod_fetch(w->servers, DEBUGINFOD_DEBUGINFO, id) : -ENOENT;

	if (fd == -ETIME)
		return err_set(e, ETIME, "debug info of %s: the servers did not answer in time",
			       shown);
	if (fd < 0) {
		err_set(e, ENOENT, "debug info of %s: no server has it", shown);
		return w->servers ? -ENOENT
				  : err_hint(e, "--debuginfod=URL, or export DEBUGINFOD_URLS");
	}
	r = elf_open_fd(fd, shown, &elf, e);
	if (r == 0 && !build_id_same(&elf->build_id, id))
		r = err_set(e, EINVAL, "debug info of %s: the server sent another build's", shown);
	if (r == 0)
		r = debugdir_add(w->dir, shown, id, "debug", elf->fd, false, e);
	if (r >= 0)
		done(w, "adding debug info of", id, shown, 0);
	if (elf)
		elf_free(elf);
	return r < 0 ? r : 0;
}

/* A file by its name, as here or as another process sees it. */
static int open_elf(const struct work *w, const char *path, struct elf **ret, struct err *e)
{
	struct find_want want = { .path = path, .pid = w->a->target };

	if (w->a->target > 0)
		return find_file(&(struct find_opts){ .no_debug_files = true }, &want, ret,
				 &(struct find_stats){ 0 }, e);
	return elf_open_path(path, ret, e);
}

/* Its static probes, for %NAME of kymo probe and perf probe; an empty list says there are none. */
static int add_probes(struct work *w, const char *shown, const struct elf *elf, struct err *e)
{
	struct kept_probes found = { 0 };
	int r;

	if (debugdir_has(w->dir, &elf->build_id, "probes"))
		return 0;
	kept_probes_scan(&found, elf, shown);
	r = kept_probes_write(w->dir, shown, &elf->build_id, &found, e);
	kept_probes_free(&found);
	return r;
}

static int add_one(struct work *w, const char *path, bool anew, struct err *e)
{
	AUTO_FREE char *real = w->a->target > 0 ? NULL : realpath(path, NULL);
	struct elf *elf = NULL;
	int r = open_elf(w, path, &elf, e);

	if (r < 0)
		return r;
	if (!elf->build_id.len) {
		elf_free(elf);
		err_set(e, EINVAL, "%s has no build-id: it cannot be told from other builds", path);
		return err_hint(e, "link it with -Wl,--build-id");
	}
	if (anew)
		debugdir_remove(w->dir, &elf->build_id, NULL);
	r = debugdir_add(w->dir, real ? real : path, &elf->build_id, "elf", elf->fd, true, e);
	done(w, anew ? "updating" : "adding", &elf->build_id, path, r);
	if (r >= 0)
		r = add_probes(w, real ? real : path, elf, e);
	if (r >= 0 && w->a->servers && !elf_section(elf, ".debug_info"))
		r = add_debug(w, real ? real : path, &elf->build_id, e);
	elf_free(elf);
	return r < 0 ? r : 0;
}

/* A build-id, or that of a file. */
static int buildid_cache_id_of(const struct work *w, const char *word, struct build_id *id,
			       struct err *e)
{
	struct elf *elf = NULL;
	int r;

	if (build_id_parse(word, id) && id->len >= 8)
		return 0;
	r = open_elf(w, word, &elf, e);
	if (r < 0)
		return r;
	*id = elf->build_id;
	elf_free(elf);
	return id->len ? 0 : err_set(e, EINVAL, "%s has no build-id", word);
}

static int buildid_cache_forget(struct work *w, const struct build_id *id, struct err *e)
{
	int mine = cache_remove(w->cache, id), r = debugdir_remove(w->dir, id, e);

	return mine == 0 ? 0 : r;
}

static int remove_one(struct work *w, const char *word, struct err *e)
{
	struct build_id id;
	int r = buildid_cache_id_of(w, word, &id, e);

	if (r == 0) {
		r = buildid_cache_forget(w, &id, e);
		done(w, "removing", &id, word, r);
	}
	return r;
}

struct all_kept {
	VEC(struct build_id) id;
	struct arena paths;
	VEC(const char *) path;
};

static int note_kept(void *ctx, const struct build_id *id, const char *path)
{
	struct all_kept *k = ctx;

	vec_push(&k->id, *id);
	vec_push(&k->path, arena_strdup(&k->paths, path));
	return 0;
}

/* Everything of both places, or of one path. Returns how many. */
static size_t purge(struct work *w, const char *path)
{
	AUTO_FREE char *real = path ? realpath(path, NULL) : NULL;
	const char *want = real ? real : path;
	struct all_kept all = { 0 };
	size_t n = 0;

	debugdir_each(w->dir, note_kept, &all);
	cache_each(w->cache, note_kept, &all);
	for (size_t i = 0; i < all.id.n; i++) {
		const struct build_id *id = &all.id.data[i];

		if (want && strcmp(all.path.data[i], want) != 0)
			continue;
		done(w, "removing", id, all.path.data[i], buildid_cache_forget(w, id, NULL));
		n++;
	}
	vec_free(&all.id);
	vec_free(&all.path);
	arena_free(&all.paths);
	return n;
}

static int print_kept(void *ctx, const struct build_id *id, const char *path)
{
	char text[BUILD_ID_TEXT];

	printf("%s %s%s\n", build_id_text(id, text), path, ctx ? (const char *)ctx : "");
	return 0;
}

static int print_missing(const struct work *w, const char *file, struct err *e)
{
	struct source *s = NULL;
	size_t n;
	const struct perfdata_build_id *b;
	struct recording_id of;
	int r = input_open(file, &s, e);

	if (r < 0)
		return r;
	r = input_only_perfdata(s, "--missing", e);
	if (r < 0) {
		source_close(s);
		return r;
	}
	b = perfdata_build_ids(s, &n);
	of = (struct recording_id){ s->trace->first_time, s->trace->last_time };
	for (size_t i = 0; i < n; i++) {
		struct build_id id = { .len = b[i].size };
		int fd;

		memcpy(id.data, b[i].id, b[i].size);
		fd = cache_copy(w->cache, &of, &id, b[i].path, NULL);
		if (fd >= 0)
			close(fd);
		else if (!debugdir_has(w->dir, &id, "elf") && !debugdir_has(w->dir, &id, "vdso") &&
			 !debugdir_has(w->dir, &id, "kallsyms"))
			print_kept(NULL, &id, b[i].path);
	}
	source_close(s);
	return 0;
}

/* What is done with each word of a list. */
struct todo {
	struct work *w;
	int (*fn)(struct work *w, const char *word, struct err *e);
};

static int do_word(void *ctx, const char *part, size_t n)
{
	const struct todo *t = ctx;
	AUTO_FREE char *word = mem_strndup(part, n);
	struct err e = { 0 };

	if (t->fn(t->w, word, &e) < 0)
		complain(t->w, &e);
	return 0;
}

static void each(struct work *w, const struct vec_strs *l,
		 int (*fn)(struct work *w, const char *word, struct err *e))
{
	vec_each (l, words)
		str_split(*words, ',', do_word, &(struct todo){ w, fn });
}

static int add_new(struct work *w, const char *word, struct err *e)
{
	return add_one(w, word, false, e);
}

static int add_anew(struct work *w, const char *word, struct err *e)
{
	return add_one(w, word, true, e);
}

static int purge_one(struct work *w, const char *word, struct err *e)
{
	return purge(w, word) ? 0 : err_set(e, ENOENT, "no build of %s is kept", word);
}

/* Tables to walk stacks by and answers about names are kept too, of files that are not. */
static void print_size(int cache)
{
	char size[32], limit[32];

	printf("# kymo's own folder: %s with tables and names, kept below %s\n",
	       str_bytes(cache_size(cache), size, sizeof(size)),
	       str_bytes(CACHE_LIMIT, limit, sizeof(limit)));
}

static int buildid_cache_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	struct work w = { .a = a, .cache = -1 };
	int r = 0;

	if (argc > 0)
		return err_set(e, EINVAL, "what is '%s'? files are added with -a FILE", argv[0]);
	if (!a->add.n && !a->remove.n && !a->purge.n && !a->update.n && !a->purge_all && !a->list &&
	    !a->missing) {
		err_set(e, EINVAL, "what shall be done?");
		return err_hint(e,
				"-l lists, -a FILE adds; kymo buildid-cache -h shows the options");
	}
	w.dir = debugdir_open(a->dir, true, e);
	if (w.dir < 0)
		return err_hint(e, "--buildid-dir DIR takes another folder");
	if (!a->dir)
		w.cache = cache_open(NULL, NULL);
	if (a->servers)
		w.servers = debuginfod_new(&(struct debuginfod_opts){ .ms = FETCH_MS });
	each(&w, &a->add, add_new);
	each(&w, &a->remove, remove_one);
	each(&w, &a->purge, purge_one);
	if (a->purge_all) {
		purge(&w, NULL);
		if (w.cache >= 0) /* what was made of them, and of files that are not kept */
			cache_trim(w.cache, 0, true);
	}
	each(&w, &a->update, add_anew);
	if (a->missing)
		r = print_missing(&w, a->missing, e);
	if (r == 0 && a->list) {
		debugdir_each(w.dir, print_kept, NULL);
		cache_each(w.cache, print_kept, a->verbose ? " (kept while recording)" : NULL);
		if (a->verbose && w.cache >= 0)
			print_size(w.cache);
	}
	debuginfod_free(w.servers);
	close(w.dir);
	if (w.cache >= 0)
		close(w.cache);
	return r < 0 ? r : w.failed ? 1 : 0;
}

static void buildid_cache_drop(void *args)
{
	struct args *a = args;

	vec_free(&a->add);
	vec_free(&a->remove);
	vec_free(&a->purge);
	vec_free(&a->update);
}

const struct command cmd_buildid_cache = {
	.name = "buildid-cache",
	.group = "Profile",
	.summary = "keep files by their build-id, for recordings made of them",
	.usage = "[OPTIONS]",
	.examples = EXAMPLES(
		{ "buildid-cache -a ./program", "keep this build, to read recordings of it later" },
		{ "buildid-cache -l", "what is kept" },
		{ "buildid-cache -M perf.data", "what a recording needs and is not kept" }),
	COMMAND_USUAL(buildid_cache),
	.drop = buildid_cache_drop,
};
