/* SPDX-License-Identifier: MIT */
#include "sym/find/find.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>

#include "base/file.h"
#include "base/mem.h"
#include "config.h"
#include "sym/find/archive.h"
#include "sym/find/cache.h"
#include "sym/find/debugdir.h"

#if HAVE_ZLIB
#	include <zlib.h>
#endif

#define DELETED " (deleted)"

struct search {
	const struct find_opts *o;
	const struct build_id *id;
	uint64_t ino;	     /* 0: not asked for */
	const uint32_t *crc; /* of .gnu_debuglink; NULL: not asked for */
	struct find_stats *st;
	const char *name;     /* what it is called in an archive: "elf", "debug"; NULL: its path */
	const char *path;     /* that the recording has; NULL: where it was found */
	const struct elf *of; /* whose debug file, or part of it, this is; NULL: nobody's */
	bool stale;	      /* something was there, but of another build */
	struct err why;	      /* the last path could not be opened */
	struct elf **ret;
};

static uint32_t crc_of(const struct elf *e)
{
#if HAVE_ZLIB
	uint32_t crc = 0;

	for (size_t at = 0; at < e->size;) {
		size_t n = e->size - at > (1u << 30) ? 1u << 30 : e->size - at;

		crc = (uint32_t)crc32(crc, e->data + at, (unsigned)n);
		at += n;
	}
	return crc;
#else
	uint32_t table[256], crc = ~0u;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t v = i;

		for (int k = 0; k < 8; k++)
			v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
		table[i] = v;
	}
	for (size_t i = 0; i < e->size; i++)
		crc = table[(crc ^ e->data[i]) & 255] ^ crc >> 8;
	return ~crc;
#endif
}

/*
 * --- who can have written a file: what goes by its build-id is believed only where root or the
 * user who runs kymo has put it ---
 */

/* It belongs to root or to us, and nobody else can write to it. */
static bool trust_stat(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & S_IWOTH) &&
	       /* a group of one's own, as users have them, is nobody else */
	       (!(st->st_mode & S_IWGRP) || st->st_gid == 0 || st->st_gid == getegid());
}

static bool trust_fd(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && trust_stat(&st);
}

/* The same of each folder that leads to a path, as far as they are there. */
static bool trust_path(const char *path)
{
	AUTO_FREE char *copy = mem_strdup(path);
	struct stat st;

	for (char *slash = strchr(copy + 1, '/'); *copy == '/' && slash;
	     slash = strchr(slash + 1, '/')) {
		bool good;

		*slash = 0;
		if (lstat(copy, &st) < 0)
			return true; /* whoever made it could write to the folders before it */
		good = S_ISLNK(st.st_mode) ? st.st_uid == 0 : trust_stat(&st);
		if (!good)
			return false;
		*slash = '/';
	}
	return *copy == '/';
}

/* A file that another one names: of the same owner, root's or ours. */
static bool trust_beside(int fd, uid_t owner)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !(st.st_mode & S_IWOTH) &&
	       (st.st_uid == 0 || st.st_uid == geteuid() || st.st_uid == owner);
}

/* --- candidates --- */

/* A copy of a file without a build-id goes by the one that was made for it
 * (live/about/keep.c). */
static void give_id(const struct search *s, struct elf *e)
{
	if (!e->build_id.len)
		e->build_id = *s->id;
}

/* A candidate is taken when nothing speaks against it. */
static bool take_elf(struct search *s, struct elf *e)
{
	if ((s->id->len && !build_id_match(&e->build_id, s->id)) ||
	    (s->crc && crc_of(e) != *s->crc)) {
		s->st->mismatched++;
		s->stale = true;
		elf_free(e);
		return false;
	}
	if (s->o->taken)
		s->o->taken(s->o->taken_ctx,
			    &(struct find_taken){ .path = s->path ? s->path : e->path,
						  .id = &e->build_id,
						  .name = s->name,
						  .by_path = !s->id->len,
						  .data = e->data,
						  .n = e->size });
	*s->ret = e;
	return true;
}

/* fd is taken over; below 0 it is a failure. */
static bool find_take(struct search *s, int fd, const char *name)
{
	struct stat st;
	struct elf *e;

	/* where one was built, or lies, others may have put something of the same name since */
	if (fd >= 0 && s->of && !trust_beside(fd, s->of->owner)) {
		close(fd);
		return false;
	}
	if (fd >= 0 && s->ino && (fstat(fd, &st) < 0 || st.st_ino != s->ino)) {
		s->st->mismatched++;
		s->stale = true;
		close(fd);
		return false;
	}
	return fd >= 0 && elf_open_fd(fd, name, &e, NULL) == 0 && take_elf(s, e);
}

/* Of the archive's file: what it says of a build-id is good for itself. */
static struct cache_key archived_key(const struct tar *archive, const struct build_id *id)
{
	struct cache_key whole = { 0 };
	struct stat st;

	if (id->len && tar_stat(archive, &st))
		whole = cache_key_file(&st);
	return cache_key_within(&whole, id);
}

/* From the recording's archive, whose bytes live longer than any search: by id, or by its path. */
static bool take_archived(struct search *s, const char *name, const char *path)
{
	size_t n = 0;
	const void *p = name ? archive_by_id(s->o->archive, s->id, name, &n)
			     : archive_by_path(s->o->archive, path, &n);
	struct elf *e;

	if (!p || elf_open_memory(p, n, path, &e, NULL) < 0)
		return false;
	if (name) {
		give_id(s, e);
		e->key = archived_key(s->o->archive, &e->build_id);
	}
	return take_elf(s, e);
}

__attribute__((format(printf, 2, 3))) static bool take_path(struct search *s, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n <= 0 || (size_t)n >= sizeof(path))
		return false;
	if (take_archived(s, NULL, path))
		return true;
	/* elsewhere a path means nothing by itself */
	return (!s->o->archive || s->id->len || s->crc) &&
	       find_take(s, file_open_input(path, &s->why), path);
}

/* The path without " (deleted)" behind it. */
static char *clean_path(const char *path)
{
	char *p = mem_strdup(path);

	if (str_ends(p, DELETED))
		p[strlen(p) - strlen(DELETED)] = 0;
	return p;
}

/*
 * The mapping itself. Without a build-id the link must still lead to that
 * path: the process may have gone, and another have its number and addresses.
 */
static bool take_mapping(struct search *s, const struct find_want *w, const char *path)
{
	char link[128], target[PATH_MAX];
	ssize_t n;

	if (w->pid <= 0 || !w->map_end)
		return false;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)w->pid,
		 w->map_start, w->map_end);
	if (!s->id->len) {
		AUTO_FREE char *clean = NULL;

		n = readlink(link, target, sizeof(target) - 1);
		if (n < 0)
			return false;
		target[n] = 0;
		clean = clean_path(target);
		if (strcmp(clean, path) != 0)
			return false;
	}
	return find_take(s, file_open_input(link, NULL), path);
}

/* A thread's root still works when the first thread of the process has ended. */
static bool take_in_root(struct search *s, pid_t pid, const char *path)
{
	char folder[64];
	struct dirent *t;
	bool found = false;
	DIR *tasks;

	if (pid <= 0 || path[0] != '/')
		return false;
	snprintf(folder, sizeof(folder), "/proc/%d/root", (int)pid);
	if (find_take(s, file_open_below(folder, path), path))
		return true;
	snprintf(folder, sizeof(folder), "/proc/%d/task", (int)pid);
	tasks = opendir(folder);
	for (int n = 0; tasks && !found && n < 8 && (t = readdir(tasks)); n++) {
		char of_task[sizeof(folder) + NAME_MAX + 8];

		snprintf(of_task, sizeof(of_task), "%s/%s/root", folder, t->d_name);
		found = t->d_name[0] != '.' && find_take(s, file_open_below(of_task, path), path);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* Names that no file system has: [vdso], //anon, /memfd:x, /SYSV0000, anon_inode:x, /dev/zero */
static bool is_file_path(const char *path)
{
	return path[0] && path[0] != '[' && !str_starts(path, "//anon") &&
	       !str_starts(path, "/memfd:") && !str_starts(path, "/SYSV") &&
	       !str_starts(path, "anon_inode:") && !str_starts(path, "/dev/");
}

/* The copy that was kept of it. */
static bool take_copy(struct search *s)
{
	struct cache_key key;
	int fd = s->id->len ? cache_copy(s->o->cache, &s->o->recording, s->id, s->path, &key)
			    : -ENOENT;
	struct elf *e;

	if (fd < 0 || elf_open_fd(fd, s->path, &e, NULL) < 0)
		return false;
	give_id(s, e);
	e->key = key;
	return take_elf(s, e);
}

/* Did an archive bring it that came with this recording? */
static bool came_with(int mark, const struct recording_id *r)
{
	struct recording_id one;

	while (read(mark, &one, sizeof(one)) == sizeof(one))
		if (r->last && one.first == r->first && one.last == r->last)
			return true;
	return false;
}

/*
 * perf record puts there what it has seen, by build-id and whoever's it was; the folder's path says
 * where it was. That must be the recorded one, or one that only root and we can write to. What
 * an archive brought belongs to its recordings, or else to itself: not to files that are here.
 */
static bool may_use(const struct search *s, int dir, const char *path, bool *unpacked)
{
	AUTO_STRBUF origin = { 0 };
	AUTO_CLOSE int mark = debugdir_file(dir, s->id, DEBUGDIR_MARK);

	*unpacked = mark >= 0;
	if (!trust_fd(dir) || !debugdir_origin(dir, s->id, &origin))
		return false;
	if (mark >= 0 && came_with(mark, &s->o->recording))
		return true;
	if (mark >= 0 && s->of && !s->of->unpacked)
		return false;
	return strcmp(origin.data, path) == 0 || (mark < 0 && trust_path(origin.data));
}

/* fd, or it is closed: another user can write to it. */
static int find_trusted(int fd)
{
	if (fd < 0 || trust_fd(fd))
		return fd;
	close(fd);
	return -EPERM;
}

static bool take_perf_cache(struct search *s, const char *name, const char *path)
{
	AUTO_CLOSE int dir = s->id->len >= 2 ? debugdir_open(NULL, false, NULL) : -1;
	bool unpacked, found;

	if (dir < 0 || !may_use(s, dir, path, &unpacked))
		return false;
	found = find_take(s, find_trusted(debugdir_file(dir, s->id, name)), path);
	if (found)
		(*s->ret)->unpacked = unpacked;
	return found;
}

static bool take_served(struct search *s, enum debuginfod_kind kind, const char *name)
{
	/* the folder where the library keeps them may be another user's */
	int fd = s->o->debuginfod && s->id->len
			 ? find_trusted(debuginfod_fetch(s->o->debuginfod, kind, s->id))
			 : -ENOENT;

	if (fd < 0 || find_take(s, fd, name))
		return fd >= 0;
	debuginfod_wrong(s->o->debuginfod, kind, s->id);
	return false;
}

int find_file(const struct find_opts *o, const struct find_want *w, struct elf **ret,
	      struct find_stats *st, struct err *e)
{
	struct search s = {
		.o = o, .id = &w->id, .st = st, .ret = ret, .name = "elf", .ino = w->ino
	};
	AUTO_FREE char *path = clean_path(w->path);
	struct err why;

	s.path = path;
	if (take_archived(&s, "elf", path) || take_archived(&s, NULL, path) || take_copy(&s))
		return 0;
	if (!o->symfs && !o->archive &&
	    (take_mapping(&s, w, path) || (is_file_path(path) && take_in_root(&s, w->pid, path))))
		return 0;
	if (is_file_path(path) && take_path(&s, "%s%s", o->symfs ? o->symfs : "", path))
		return 0;
	why = s.why;
	if (take_perf_cache(&s, "elf", path) || take_served(&s, DEBUGINFOD_EXECUTABLE, path))
		return 0;
	if (s.stale) {
		err_set(e, ESTALE, "%s is of another build than the one recorded", path);
		return err_hint(e, "keep binaries with kymo buildid-cache --add, or use --symfs");
	}
	if (why.code && why.code != ENOENT)
		return err_set(e, why.code, "%s", why.msg);
	return err_set(e, ENOENT,
		       is_file_path(path) && !why.code ? "%s is not an ELF file" : "cannot find %s",
		       path);
}

struct cache_key find_key(const struct find_opts *o, const struct find_want *w)
{
	AUTO_FREE char *path = clean_path(w->path), *at = NULL;
	struct cache_key key;
	struct stat st;
	int fd;

	if (o->archive) /* what is not in it is found another way */
		return archived_key(o->archive, &w->id);
	fd = w->id.len ? cache_copy(o->cache, &o->recording, &w->id, path, &key) : -1;
	if (fd >= 0) {
		close(fd);
		return key;
	}
	if (w->pid > 0 || !is_file_path(path))
		return (struct cache_key){ 0 };
	at = mem_printf("%s%s", o->symfs ? o->symfs : "", path);
	return stat(at, &st) == 0 && S_ISREG(st.st_mode) && (!w->ino || w->ino == st.st_ino)
		       ? cache_key_file(&st)
		       : (struct cache_key){ 0 };
}

/* Where distributions put debug files. */
static bool take_by_id(struct search *s)
{
	char text[BUILD_ID_TEXT];

	build_id_text(s->id, text);
	return s->id->len >= 2 && take_path(s, "%s/usr/lib/debug/.build-id/%.2s/%s.debug",
					    s->o->symfs ? s->o->symfs : "", text, text + 2);
}

/* .gnu_debuglink: a name without folder, looked for where gdb does. */
static bool take_link(struct search *s, const struct elf *file)
{
	const char *root = s->o->symfs ? s->o->symfs : "", *name, *slash, *full = file->path;
	AUTO_FREE char *real = realpath(file->path, NULL);
	uint32_t crc;
	bool found;
	int n;

	if (!elf_debuglink(file, &name, &crc) || strchr(name, '/'))
		return false;
	if (real)
		full = real;
	slash = strrchr(full, '/');
	n = slash ? (int)(slash - full) : 0;
	s->crc = &crc;
	found = (slash && (take_path(s, "%.*s/%s", n, full, name) ||
			   take_path(s, "%.*s/.debug/%s", n, full, name))) ||
		take_path(s, "%s/usr/lib/debug%.*s/%s", root, n, full, name);
	s->crc = NULL;
	return found;
}

static bool has_everything(const struct elf *file)
{
	return elf_section(file, ".symtab") &&
	       (elf_section(file, ".debug_info") || elf_section(file, ".zdebug_info"));
}

int find_debug(const struct find_opts *o, const struct find_want *w, const struct elf *file,
	       struct elf **ret, struct find_stats *st, struct err *e)
{
	const struct build_id *id = file && file->build_id.len ? &file->build_id : &w->id;
	struct search s = { .o = o, .id = id, .st = st, .ret = ret, .name = "debug", .of = file };

	if (o->no_debug_files || (file && has_everything(file)))
		return err_set(e, ENOENT, "no debug file for %s", w->path);
	if (take_archived(&s, "debug", w->path))
		return 0;
	if (take_by_id(&s))
		return 0;
	if ((file && take_link(&s, file)) || take_perf_cache(&s, "debug", w->path))
		return 0;
	if (take_served(&s, DEBUGINFOD_DEBUGINFO, w->path))
		return 0;
	return err_set(e, ENOENT, "no debug file for %s", w->path);
}

bool find_ahead(const struct find_opts *o, const struct find_want *w, uint64_t heat)
{
	struct find_opts here = *o;
	struct elf *file = NULL, *debug = NULL;
	struct find_stats st = { 0 };
	bool wanted = false;

	here.debuginfod = NULL;
	if (!o->debuginfod || !is_file_path(w->path ? w->path : ""))
		return false;
	if (find_file(&here, w, &file, &st, NULL) < 0 && w->id.len) {
		debuginfod_want(o->debuginfod, DEBUGINFOD_EXECUTABLE, &w->id, heat);
		wanted = true;
	}
	if (!o->no_debug_files && !(file && has_everything(file)) &&
	    find_debug(&here, w, file, &debug, &st, NULL) < 0) {
		const struct build_id *id = file && file->build_id.len ? &file->build_id : &w->id;

		if (id->len)
			debuginfod_want(o->debuginfod, DEBUGINFOD_DEBUGINFO, id, heat);
		wanted = wanted || id->len;
	}
	elf_free(debug);
	elf_free(file);
	return wanted;
}

/* In the folder of a file. */
static bool take_beside(struct search *s, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return take_path(s, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, name);
}

/* A dwz file: relative to the file that names it, in the folder for them, or by its build-id. */
static bool take_alt(struct search *s, const struct elf *e, const char *name)
{
	const char *root = s->o->symfs ? s->o->symfs : "", *base = str_base_name(name);
	AUTO_FREE char *real = realpath(e->path, NULL);
	const char *from = real ? real : e->path;

	return (name[0] == '/' ? take_path(s, "%s%s", root, name) : take_beside(s, from, name)) ||
	       take_beside(s, from, base) || take_path(s, "%s/usr/lib/debug/.dwz/%s", root, base) ||
	       take_by_id(s) || take_served(s, DEBUGINFOD_DEBUGINFO, name);
}

int find_part(const struct find_opts *o, const struct elf *e, const struct dwarf_need *need,
	      struct elf **ret, struct find_stats *st)
{
	struct search s = { .o = o, .id = &need->id, .st = st, .ret = ret, .of = e };
	const char *root = o->symfs ? o->symfs : "";
	bool found = false;

	switch (need->part) {
	case DWARF_ALT:
		s.name = "debug"; /* it has a build-id of its own */
		found = take_archived(&s, "debug", need->name) || take_alt(&s, e, need->name);
		break;
	case DWARF_DWP: found = take_path(&s, "%s", need->name); break;
	case DWARF_DWO:
		/* where it was compiled, or moved together with the file */
		found = (need->name[0] == '/'
				 ? take_path(&s, "%s%s", root, need->name)
				 : take_path(&s, "%s%s/%s", root, need->dir, need->name)) ||
			take_beside(&s, e->path, str_base_name(need->name));
		break;
	}
	return found ? 0 : -ENOENT;
}
