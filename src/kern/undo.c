/* SPDX-License-Identifier: MIT */
/*
 * The journal is a file PID.STARTTIME of records: a letter, the path's and the
 * text's length, then both. A record that is not whole was never followed by its
 * change. Only files of root with mode 0600 are believed.
 */
#include "kern/undo.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"

#define PLACE "/run/kymo"
#define MAX_JOURNAL (64u << 20)
#define BUSY_TRIES 50 /* of 20 ms, for an instance that someone still reads */

enum { KIND_WRITE = 'W', KIND_APPEND = 'A', KIND_MKDIR = 'D' };

struct step {
	char kind;
	char *path, *text;
};

typedef VEC(struct step) steps_t;

struct undo {
	int fd;
	char *journal;
	steps_t steps;
};

/* --- writing to the kernel --- */

/* No value: an instance could not be made. */
static int undo_refused(const char *path, const char *value, int code, struct err *e)
{
	const char *name = str_base_name(path);
	const char *root = strstr(path, "/tracing/"); /* where it is mounted ends there */
	size_t n = value ? strcspn(value, "\n") : 0;

	if (value)
		err_set(e, code, "cannot write '%.*s' to %s: %s", (int)(n > 200 ? 200 : n), value,
			path, strerror(code));
	else
		err_set(e, code, "cannot make %s: %s", path, strerror(code));
	if (code == EROFS)
		return err_hint(e, "tracefs is mounted read-only: sudo mount -o remount,rw %.*s",
				(int)(root ? root + strlen("/tracing") - path : name - path), path);
	if (code == EACCES)
		return err_hint(e, "run it with sudo");
	if (code == EPERM)
		return err_hint(e, geteuid() == 0
					   ? "this kernel is locked down or refuses it; kymo "
					     "doctor shows what it grants"
					   : "run it with sudo");
	if (code == ENOENT)
		return err_hint(
			e, "this kernel was built without it; kymo doctor shows what there is");
	if (code == EINVAL && strstr(name, "_filter"))
		return err_hint(e, "the kernel knows no such function; kymo ftrace list -f PATTERN "
				   "lists those that can be traced");
	return -code;
}

int undo_put(const char *path, const char *value, bool append, struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
	size_t n = strlen(value), at = 0;

	if (fd < 0)
		return undo_refused(path, value, errno, e);
	do {
		ssize_t done = write(fd, value + at, n - at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return undo_refused(path, value, errno, e);
		if (!done)
			break;
		at += (size_t)done;
	} while (at < n);
	return 0;
}

/* --- the journal --- */

/* Field 22 of /proc/PID/stat: when the process began; 0 when there is none. */
static uint64_t start_time(long pid)
{
	char path[64];
	AUTO_FREE char *text = NULL;
	char *p;
	uint64_t v = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (file_read(path, 1u << 16, &text, NULL) < 0 || !(p = strrchr(text, ')')))
		return 0;
	for (int i = 2; i < 22 && p; i++)
		p = strchr(p + 1, ' ');
	if (p)
		v = strtoull(p, NULL, 10);
	return v;
}

static int make_place(struct err *e)
{
	struct stat st;

	if (mkdir(PLACE, 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "cannot make %s: %s", PLACE, strerror(errno));
	if (lstat(PLACE, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != 0 || st.st_mode & 022)
		return err_set(e, EPERM, "%s is no directory of root's", PLACE);
	return 0;
}

static int open_journal(const char *name, int how, struct undo **ret, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", PLACE, name);
	struct undo *u;
	int r, fd;

	if (geteuid() != 0) {
		err_set(e, EPERM, "tracing with ftrace is for root");
		return err_hint(e, "run it with sudo");
	}
	undo_recover();
	r = make_place(e);
	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | how, 0600);
	if (fd < 0)
		return err_set(e, errno, "cannot write %s: %s", path, strerror(errno));
	u = mem_alloc(sizeof(*u));
	u->fd = fd;
	u->journal = mem_strdup(path);
	*ret = u;
	return 0;
}

/* A process whose number is not to be seen (of another namespace) is known by its lock. */
static void undo_hold(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	fcntl(fd, F_OFD_SETLK, &l);
}

static bool is_held(int fd)
{
	struct flock l = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

int undo_open(struct undo **ret, struct err *e)
{
	char name[64];
	int r;

	snprintf(name, sizeof(name), "%ld.%llu", (long)getpid(),
		 (unsigned long long)start_time(getpid()));
	r = open_journal(name, O_TRUNC, ret, e);
	if (r >= 0)
		undo_hold((*ret)->fd);
	return r;
}

int undo_open_named(const char *name, struct undo **ret, struct err *e)
{
	return open_journal(name, O_APPEND, ret, e);
}

static void put_record(struct strbuf *b, const struct step *s)
{
	strbuf_printf(b, "%c %zu %zu\n%s%s\n", s->kind, strlen(s->path), strlen(s->text), s->path,
		      s->text);
}

static void drop_last(struct undo *u)
{
	struct step *s = &u->steps.data[--u->steps.n];

	free(s->path);
	free(s->text);
}

static int undo_note(struct undo *u, char kind, const char *path, const char *text, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	struct step s = { kind, mem_strdup(path), mem_strdup(text) };
	int r;

	vec_push(&u->steps, s);
	put_record(&b, &s);
	r = file_write_all(u->fd, b.data, b.n);
	if (r == 0)
		return 0;
	drop_last(u);
	return err_set(e, -r, "cannot write %s: %s", u->journal, strerror(-r));
}

static bool is_filter(const char *path)
{
	return str_ends(path, "_ftrace_filter") || str_ends(path, "_ftrace_notrace") ||
	       str_ends(path, "set_graph_function") || str_ends(path, "set_graph_notrace");
}

/* What a file shows is not always what it takes. */
static char *as_written(const char *path, char *shown)
{
	char *open = strchr(shown, '['), *close = open ? strchr(open, ']') : NULL;
	AUTO_STRBUF b = { 0 };

	if (str_ends(path, "trace_clock") && close) {
		*close = '\0';
		return mem_strdup(open + 1);
	}
	if (strncmp(shown, "no pid", 6) == 0)
		return mem_strdup("");
	if (!is_filter(path))
		return mem_strdup(shown);
	/* Names of functions: without "#### all functions enabled ####", modules, and triggers. */
	for (char *line = strtok(shown, "\n"); line; line = strtok(NULL, "\n"))
		if (*line != '#' && !strchr(line, ':'))
			strbuf_printf(&b, "%.*s\n", (int)strcspn(line, " "), line);
	return mem_strdup(strbuf_str(&b));
}

int undo_write_back(struct undo *u, const char *path, const char *value, const char *back,
		    struct err *e)
{
	int r = undo_note(u, KIND_WRITE, path, back, e);

	return r < 0 ? r : undo_put(path, value, false, e);
}

int undo_write(struct undo *u, const char *path, const char *value, struct err *e)
{
	AUTO_FREE char *shown = NULL, *back = NULL;
	int r = file_read(path, MAX_JOURNAL, &shown, NULL);

	if (r < 0)
		return undo_refused(path, value, -r, e);
	back = as_written(path, shown);
	return undo_write_back(u, path, value, back, e);
}

int undo_append(struct undo *u, const char *path, const char *line, const char *back, struct err *e)
{
	int r = undo_note(u, KIND_APPEND, path, back, e);

	return r < 0 ? r : undo_put(path, line, true, e);
}

int undo_later(struct undo *u, const char *path, const char *back, struct err *e)
{
	return undo_note(u, KIND_APPEND, path, back, e);
}

int undo_mkdir(struct undo *u, const char *path, struct err *e)
{
	int r;

	if (access(path, F_OK) == 0)
		return err_set(e, EEXIST, "%s is there already", path);
	r = undo_note(u, KIND_MKDIR, path, "", e);
	if (r < 0)
		return r;
	if (mkdir(path, 0750) == 0)
		return 0;
	r = errno;
	drop_last(u);			   /* it is not ours */
	undo_note(u, 'X', path, "", NULL); /* the journal's last word on it */
	if (r == ENOENT) {
		err_set(e, r, "this kernel has no instances of its trace buffer");
		return err_hint(e, "kymo doctor shows what this kernel grants");
	}
	return undo_refused(path, NULL, r, e);
}

/* --- taking back --- */

static bool take_back(const struct step *s)
{
	switch (s->kind) {
	case KIND_WRITE:
		/* a filter is emptied by opening it; an empty text is written nowhere else */
		return undo_put(s->path, s->text, false, NULL) == 0 || access(s->path, F_OK) < 0;
	case KIND_APPEND:
		/* what is gone already is no failure */
		undo_put(s->path, s->text, true, NULL);
		return true;
	case KIND_MKDIR:
		for (int i = 0; i < BUSY_TRIES; i++) {
			if (rmdir(s->path) == 0 || errno == ENOENT)
				return true;
			if (errno != EBUSY)
				return false;
			usleep(20000);
		}
		return false;
	default: return true;
	}
}

/* Another process had made the directory meanwhile: it is not ours. */
static bool disowned(const steps_t *steps, const struct step *dir)
{
	for (const struct step *s = dir + 1; s < steps->data + steps->n; s++)
		if (s->kind == 'X' && strcmp(s->path, dir->path) == 0)
			return true;
	return false;
}

/* Instances go first: probes cannot be removed while one has them enabled. */
static int take_all_back(const steps_t *steps)
{
	int bad = 0;

	for (int others = 0; others < 2; others++)
		for (size_t i = steps->n; i-- > 0;) {
			const struct step *s = &steps->data[i];

			if ((s->kind != KIND_MKDIR) == others && (others || !disowned(steps, s)) &&
			    !take_back(s))
				bad++;
		}
	return bad;
}

static void free_steps(steps_t *steps)
{
	vec_each (steps, s) {
		free(s->path);
		free(s->text);
	}
	vec_free(steps);
}

void undo_leave(struct undo *u)
{
	if (!u)
		return;
	close(u->fd);
	free_steps(&u->steps);
	free(u->journal);
	free(u);
}

void undo_forget(struct undo *u)
{
	if (u)
		unlink(u->journal);
	undo_leave(u);
}

int undo_all(struct undo *u)
{
	int bad = u ? take_all_back(&u->steps) : 0;

	undo_forget(u);
	return bad;
}

static steps_t undo_parse(const char *text, size_t n)
{
	steps_t steps = { 0 };
	size_t at = 0;

	while (at < n) {
		size_t path_n, text_n;
		char kind;
		int head = 0;
		struct step s;

		if (sscanf(text + at, "%c %zu %zu%n", &kind, &path_n, &text_n, &head) != 3 ||
		    !head || path_n > n || text_n > n ||
		    at + (size_t)head + 1 + path_n + text_n + 1 > n)
			break;
		at += (size_t)head + 1;
		s = (struct step){ kind, mem_strndup(text + at, path_n),
				   mem_strndup(text + at + path_n, text_n) };
		vec_push(&steps, s);
		at += path_n + text_n + 1;
	}
	return steps;
}

/* Only a file that nobody but root could write. */
static int open_trusted(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	/* two that start at once: one does it, the other waits until it is done */
	if (fd >= 0 && (flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
			st.st_uid != 0 || st.st_mode & 077 || st.st_nlink == 0)) {
		close(fd);
		return -EPERM;
	}
	return fd < 0 ? -errno : fd;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

/* What was taken back and is still named, because the disk is full, is only taken back again. */
static void keep_steps(int dir, const char *name, const steps_t *steps)
{
	AUTO_FREE char *fresh = mem_printf(".%s", name);
	AUTO_STRBUF b = { 0 };
	AUTO_CLOSE int fd = -1;

	vec_each (steps, s)
		put_record(&b, s);
	if (!b.n) {
		unlinkat(dir, name, 0);
		return;
	}
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && file_write_all(fd, b.data, b.n) == 0)
		renameat(dir, fresh, dir, name);
}

int undo_named_below(const char *name, const char *below)
{
	AUTO_CLOSE int dir = open(PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int fd = dir < 0 ? -1 : open_trusted(dir, name);
	steps_t steps, inside = { 0 }, rest = { 0 };
	AUTO_FREE char *text = NULL;
	size_t n = 0;
	int bad;

	if (fd < 0 || file_readat(dir, name, MAX_JOURNAL, &text, &n) < 0)
		return 0;
	steps = undo_parse(text, n);
	vec_each (&steps, s)
		if (is_below(s->path, below))
			vec_push(&inside, *s);
		else
			vec_push(&rest, *s);
	bad = take_all_back(&inside);
	keep_steps(dir, name, &rest);
	free(inside.data);
	free(rest.data);
	free_steps(&steps);
	return bad;
}

int undo_named(const char *name)
{
	return undo_named_below(name, "");
}

/* Not mounted, nothing is found and all seems gone; it is not. */
static bool is_mounted(const char *journal)
{
	const char *path = strchr(journal, '\n'), *end = path ? strstr(path, "/tracing/") : NULL;
	AUTO_FREE char *file = NULL;

	if (!end || memchr(path + 1, '\n', (size_t)(end - path - 1)))
		return true;
	file = mem_printf("%.*s/tracing/tracing_on", (int)(end - path - 1), path + 1);
	return access(file, F_OK) == 0;
}

static void recover_one(int dir, const char *name)
{
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *text = NULL;
	unsigned long long began;
	steps_t steps;
	size_t n = 0;
	long pid;

	/* formats of a stream, on their way from a file to memory when it was killed */
	if (sscanf(name, "formats-%ld", &pid) == 1 && kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
		unlinkat(dir, name, 0);
		return;
	}
	if (sscanf(name, "%ld.%llu", &pid, &began) != 2 || start_time(pid) == began)
		return;
	fd = open_trusted(dir, name);
	if (fd < 0 || is_held(fd))
		return;
	if (file_readat(dir, name, MAX_JOURNAL, &text, &n) < 0 || !is_mounted(text))
		return;
	steps = undo_parse(text, n);
	take_all_back(&steps);
	free_steps(&steps);
	unlinkat(dir, name, 0);
}

void undo_recover(void)
{
	struct dirent *entry;
	struct stat st;
	DIR *d;

	if (geteuid() != 0 || !(d = opendir(PLACE)))
		return;
	if (fstat(dirfd(d), &st) == 0 && st.st_uid == 0 && !(st.st_mode & 022))
		while ((entry = readdir(d)))
			if (entry->d_name[0] != '.')
				recover_one(dirfd(d), entry->d_name);
	closedir(d);
}
