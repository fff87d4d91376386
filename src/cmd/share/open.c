/* SPDX-License-Identifier: MIT */
#include "cmd/share/open.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <string.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/filemap.h"
#include "base/temp.h"
#include "base/vec.h"
#include "calc/read/merge.h"
#include "store/perfdata/perfdata.h"
#include "store/text/pprof.h"
#include "store/text/script_text.h"
#include "store/text/own.h"
#include "store/tracedat/tracedat.h"
#include "sym/find/archive.h"
#include "sym/jit/jitdump.h"
#include "sym/names/sym.h"

#define SPOOL ((size_t)1 << 18)
#define READS                                                                                     \
	"it reads recordings of kymo, perf and trace-cmd, archives of them, perf script's text, " \
	"pprof profiles and folded stacks: lines such as 'main;parse;read 42'"
#define START_LEAST 8 /* bytes that tell perf.data */

/* A file that was opened, and how it begins. */
struct opened {
	const char *path, *name; /* name: what messages call it */
	int fd;
	char start[512];
	size_t n;
};

typedef int open_fn(struct opened *o, struct source **ret, struct err *e);

static open_fn open_perfdata, open_tracedat, open_profile;

/* How files begin. Those without a reader are known to be told apart from rubbish. */
static const struct format {
	const char *magic;
	size_t n;
	open_fn *open;
	const char *what;
} formats[] = {
	{ "PERFILE2", 8, open_perfdata, "a perf.data recording" },
	{ "2ELIFREP", 8, open_perfdata, "a perf.data recording" },
	{ "\x17\x08\x44tracing", 10, open_tracedat, "a trace.dat recording" },
	{ "\x1f\x8b", 2, open_profile, "compressed with gzip" },
	{ "\x75\xd1\x1d\x57", 4, NULL, "metadata of a CTF trace" },
	{ "\x57\x1d\xd1\x75", 4, NULL, "metadata of a CTF trace" },
	{ "\xc1\x1f\xfc\xc1", 4, NULL, "a stream of a CTF trace" },
	{ "\xfd\x37zXZ", 5, NULL, "compressed with xz" },
	{ "\x7f\x45LF", 4, NULL, "a program" },
	{ "SQLite format 3", 15, NULL, "a SQLite database" },
	{ "<?xml", 5, NULL, "an XML file" },
	{ "<svg", 4, NULL, "an SVG picture" },
	{ "<!DOCTYPE html", 14, NULL, "a web page" },
	{ "{\"", 2, NULL, "a JSON file" },
	{ "{\n", 2, NULL, "a JSON file" },
};

static int no_file(const char *path, int code, struct err *e)
{
	err_set(e, code, "cannot open %s: %s", path, strerror(code));
	if (code == ENOENT)
		return err_hint(e, "kymo record makes one; or name another FILE");
	return code == EACCES ? err_hint(e, "it belongs to another user; try sudo") : -code;
}

static int open_refuse(const char *name, const char *what, struct err *e)
{
	err_set(e, EOPNOTSUPP, "%s is %s, which kymo cannot read", name, what);
	return err_hint(e, READS);
}

/* The recording in an archive: one file, or a folder of them as perf record --threads makes. */
static int open_recording(struct tar *t, const char *path, struct source **ret, struct err *e)
{
	const struct tar_member *m = tar_find(t, ARCHIVE_DATA), *first = m;
	VEC(struct perfdata_part) parts = { 0 };
	const void *p = NULL;
	int r = 0;

	if (!m || m->kind != TAR_FILE)
		m = first = tar_find(t, ARCHIVE_DATA "/data");
	if (!m) {
		err_set(e, ENODATA, "%s is an archive without a recording", path);
		return err_hint(e, "kymo archive --unpack %s puts its files into the cache", path);
	}
	for (unsigned i = 0; m && r == 0; i++) {
		AUTO_FREE char *next = mem_printf(ARCHIVE_DATA "/data.%u", i);
		const char *slash = strrchr(m->name, '/');

		p = tar_data(t, m, e);
		r = p ? 0 : -EBADMSG;
		vec_push(&parts,
			 (struct perfdata_part){ p, (size_t)m->size, slash ? slash + 1 : NULL });
		m = slash ? tar_find(t, next) : NULL;
	}
	if (r == 0)
		r = perfdata_open_parts(parts.data, parts.n, path, (uint64_t)first->mtime, t, ret,
					e);
	vec_free(&parts);
	return r;
}

static int open_archive(struct opened *o, struct source **ret, struct err *e)
{
	struct source *s = NULL;
	struct tar *t;
	int r = tar_open_fd(o->fd, o->name, &t, e);

	o->fd = -1; /* it was taken over */
	if (r < 0)
		return r;
	r = open_recording(t, o->name, &s, e);
	if (r < 0) {
		tar_close(t);
		return r;
	}
	if (tar_was_cut(t) && !s->trace->losses.note[0])
		snprintf(s->trace->losses.note, sizeof(s->trace->losses.note),
			 "the archive was cut short: files are missing from it");
	*ret = s;
	return 0;
}

static int open_perfdata(struct opened *o, struct source **ret, struct err *e)
{
	int fd = o->fd;

	o->fd = -1;
	return perfdata_open_fd(fd, o->path, ret, e);
}

static int open_tracedat(struct opened *o, struct source **ret, struct err *e)
{
	return tracedat_open_fd(o->fd, o->name, ret, e);
}

/* --- files as they are --- */

const char *source_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static int open_map(int fd, const char *name, struct source_file *f, struct err *e)
{
	struct stat st;
	void *p;

	*f = (struct source_file){ .data = "" };
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot read %s: %s", name, strerror(errno));
	if (st.st_size == 0)
		return 0;
	p = filemap_open(fd, (size_t)st.st_size, name);
	if (!p)
		return err_set(e, errno, "cannot read %s: %s", name, strerror(errno));
	*f = (struct source_file){ .data = p, .n = (size_t)st.st_size };
	return 0;
}

void source_file_close(struct source_file *f)
{
	if (f->n)
		filemap_close(f->data, f->n);
}

/* Everything that is nothing else is taken for folded text, whose reader says what is wrong. */
static int open_profile(struct opened *o, struct source **ret, struct err *e)
{
	struct source_file f;
	text_source_fn *read = folded_source;
	int r = open_map(o->fd, o->name, &f, e);

	if (r < 0)
		return r;
	if (pprof_looks(f.data, f.n))
		read = pprof_source;
	else if (script_text_looks(f.data, f.n))
		read = script_text_source;
	r = read(o->name, f.data, f.n, ret, e);
	source_file_close(&f);
	return r;
}

/* --- pipes --- */

/* Its row of formats; NULL: none. */
static const struct format *format_of(const struct opened *o)
{
	for (const struct format *f = formats; f < formats + ARRAY_SIZE(formats); f++)
		if (o->n >= f->n && memcmp(o->start, f->magic, f->n) == 0)
			return f;
	return NULL;
}

static bool starts_with_perfdata(const struct opened *o)
{
	const struct format *f = format_of(o);

	return f && f->open == open_perfdata;
}

/* What came through a pipe, for who opens it again. */
static struct {
	char *path;
	int fd;
} spooled;

/* At least so many bytes unless it ends before; -1: it cannot be read. */
static ssize_t read_least(int fd, char *buf, size_t size, size_t least)
{
	size_t n = 0;
	ssize_t got;

	while (n < least) {
		got = read(fd, buf + n, size - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? got : (ssize_t)n;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

/*
 * What a pipe has, in a file without a name that takes its place; perf.data in memory. Else not
 * without bounds: it may have no end.
 */
static int open_spool(struct opened *o, struct err *e)
{
	struct budget b = { .kind = BUDGET_DISK, .size = BUDGET_ANY };
	AUTO_FREE char *part = mem_alloc(SPOOL);
	ssize_t n = read_least(o->fd, part, SPOOL, START_LEAST);
	AUTO_CLOSE int to = -1;
	bool in_memory;
	int r;

	o->n = n > 0 ? (size_t)n : 0;
	o->n = o->n < sizeof(o->start) ? o->n : sizeof(o->start);
	memcpy(o->start, part, o->n);
	if (n > 0 && !part[0]) {
		err_set(e, EINVAL,
			"%s is nothing that kymo reads: it starts with a 0, and does not begin "
			"with PERFILE2",
			o->name);
		return err_hint(e, READS);
	}
	to = starts_with_perfdata(o) ? memfd_create("kymo", MFD_CLOEXEC) : -1;
	in_memory = to >= 0;
	if (!in_memory)
		to = temp_file(e);
	r = to < 0 ? to : 0;
	for (; r == 0 && n > 0; n = r == 0 ? read_least(o->fd, part, SPOOL, 1) : 0) {
		r = in_memory ? 0 : budget_take(&b, (uint64_t)n, o->name, e);
		if (r == 0 && file_write_all(to, part, (size_t)n) < 0)
			r = err_set(e, errno, "cannot keep %s in a temporary file: %s", o->name,
				    strerror(errno));
	}
	if (r == 0 && n < 0)
		r = err_set(e, errno, "cannot read %s: %s", o->name, strerror(errno));
	if (r < 0)
		return r;
	if (spooled.path)
		close(spooled.fd);
	free(spooled.path);
	spooled.path = mem_strdup(o->path);
	spooled.fd = fcntl(to, F_DUPFD_CLOEXEC, 3);
	close(o->fd);
	o->fd = to;
	to = -1;
	return 0;
}

/* Opened; what is no file is one now, and so is perf.data in the middle of one. */
static int open_start(const char *path, struct opened *o, struct err *e)
{
	bool again = spooled.path && strcmp(path, spooled.path) == 0;
	struct stat st;
	off_t at = 0;
	ssize_t n;
	int r;

	*o = (struct opened){ .path = path, .name = source_name(path) };
	o->fd = again			 ? fcntl(spooled.fd, F_DUPFD_CLOEXEC, 3)
		: strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					 : open(path, O_RDONLY | O_CLOEXEC);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return no_file(o->name, errno, e);
	if (S_ISDIR(st.st_mode))
		return 0;
	if (S_ISREG(st.st_mode) && !again && (at = lseek(o->fd, 0, SEEK_CUR)) > 0) {
		n = pread(o->fd, o->start, sizeof(o->start), at);
		o->n = n > 0 ? (size_t)n : 0;
	}
	if (!S_ISREG(st.st_mode) || (at > 0 && starts_with_perfdata(o))) {
		r = open_spool(o, e);
		if (r < 0)
			return r;
	}
	n = pread(o->fd, o->start, sizeof(o->start), 0);
	if (n < 0)
		return no_file(o->name, errno, e);
	o->n = (size_t)n;
	return 0;
}

static void open_end(struct opened *o)
{
	if (o->fd >= 0)
		close(o->fd);
}

int source_file_open(const char *path, struct source_file *f, struct err *e)
{
	struct opened o;
	int r = open_start(path, &o, e);

	if (r == 0)
		r = open_map(o.fd, o.name, f, e);
	open_end(&o);
	return r;
}

/* --- which it is --- */

static int open_by_content(struct opened *o, struct source **ret, struct err *e)
{
	const struct format *f = format_of(o);

	if (tar_looks_like(o->start, o->n))
		return open_archive(o, ret, e);
	if (!f)
		return open_profile(o, ret, e);
	return f->open ? f->open(o, ret, e) : open_refuse(o->name, f->what, e);
}

bool source_is_recording(const char *path)
{
	const struct format *f;
	struct opened o;
	struct stat st;
	bool is = false;

	if (open_start(path, &o, NULL) == 0) {
		f = format_of(&o);
		/* of a folder its reader says what is wrong with it */
		is = (f && (f->open == open_perfdata || f->open == open_tracedat)) ||
		     tar_looks_like(o.start, o.n) || (fstat(o.fd, &st) == 0 && S_ISDIR(st.st_mode));
	}
	open_end(&o);
	return is;
}

static int open_by_time(const void *a, const void *b)
{
	const struct trace_code *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->pgoff < y->pgoff ? -1 : x->pgoff > y->pgoff;
}

/* What a runtime wrote of the code it compiled; as symbols number it (symbols_jitdump). */
static size_t read_code(struct tar *files, const char *path, const uint8_t *id, size_t id_size,
			struct trace_code **ret)
{
	struct jitdump j = { 0 };
	struct build_id kept = { .len = (uint8_t)id_size };
	struct trace_code *all;
	size_t n = 0, size = 0;
	const void *p = archive_by_path(files, path, &size);

	if (id_size)
		memcpy(kept.data, id, id_size);
	if (files ? !p || jitdump_parse(&j, p, size, NULL) < 0
		  : jitdump_open(&j, path, &kept, (uid_t)-1, NULL) < 0)
		return 0;
	all = mem_alloc((j.ncode + 1) * sizeof(*all));
	for (size_t i = 0; i < j.ncode; i++)
		if (j.code[i].end > j.code[i].start &&
		    j.code[i].end - j.code[i].start <= UINT32_MAX)
			all[n++] = (struct trace_code){ .time = j.arch_time ? 0 : j.code[i].time,
							.start = j.code[i].start,
							.end = j.code[i].end,
							.pgoff = SYMBOLS_JIT_ADDR(i) };
	jitdump_free(&j);
	if (n)
		qsort(all, n, sizeof(*all), open_by_time);
	*ret = all;
	return n;
}

int source_open(const char *path, struct source **ret, struct err *e)
{
	struct opened o;
	struct stat st;
	int r = open_start(path, &o, e);

	perfdata_set_code(read_code);
	if (r == 0 && fstat(o.fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		/* perf record --threads makes a folder with files of known names */
		if (faccessat(o.fd, "data", F_OK, 0) == 0) {
			r = perfdata_open(path, ret, e);
		} else {
			err_set(e, EISDIR, "%s is a directory, and holds no recording", path);
			r = err_hint(e, "a recording in a directory has a file 'data' in it");
		}
	} else if (r == 0) {
		r = open_by_content(&o, ret, e);
	}
	open_end(&o);
	return r;
}

int source_open_all(const char *const *paths, size_t n, struct source **ret, struct err *e)
{
	AUTO_FREE struct merge_input *in = mem_alloc((n + 1) * sizeof(*in));
	size_t opened = 0;
	int r = 0;

	if (n == 1)
		return source_open(paths[0], ret, e);
	for (; opened < n && r == 0; opened += r == 0) {
		in[opened].name = source_name(paths[opened]);
		r = source_open(paths[opened], &in[opened].source, e);
	}
	if (r == 0)
		r = merge_new(in, n, &(struct merge_opts){ 0 }, ret, e);
	for (size_t i = 0; r < 0 && i < opened; i++)
		source_close(in[i].source);
	return r;
}
