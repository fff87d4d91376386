/* SPDX-License-Identifier: MIT */
#include "cmd/share/open.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "store/perfdata/perfdata.h"
#include "store/tracedat/tracedat.h"
#include "sym/find/archive.h"
#include "sym/jit/jitdump.h"
#include "sym/names/sym.h"

typedef int open_fn(const char *path, struct source **ret, struct err *e);

/* How files begin. Those without a reader are known to be told apart from rubbish. */
static const struct {
	const char *magic;
	size_t n;
	open_fn *open;
	const char *what;
} formats[] = {
	{ "PERFILE2", 8, perfdata_open, "a perf.data recording" },
	{ "2ELIFREP", 8, perfdata_open, "a perf.data recording" },
	{ "\x17\x08\x44tracing", 10, tracedat_open, "a trace.dat recording" },
	{ "\x75\xd1\x1d\x57", 4, NULL, "metadata of a CTF trace" },
	{ "\x57\x1d\xd1\x75", 4, NULL, "metadata of a CTF trace" },
	{ "\xc1\x1f\xfc\xc1", 4, NULL, "a stream of a CTF trace" },
	{ "\x1f\x8b", 2, NULL, "compressed with gzip" },
	{ "\xfd\x37zXZ", 5, NULL, "compressed with xz" },
	{ "\x7f\x45LF", 4, NULL, "a program" },
	{ "SQLite format 3", 15, NULL, "a SQLite database" },
	{ "<?xml", 5, NULL, "an XML file" },
	{ "{", 1, NULL, "a JSON file" },
};

static int no_file(const char *path, int code, struct err *e)
{
	err_set(e, code, "cannot open %s: %s", path, strerror(code));
	if (code == ENOENT)
		return err_hint(e, "kymo record makes one; or name another FILE");
	return code == EACCES ? err_hint(e, "it belongs to another user; try sudo") : -code;
}

static int open_refuse(const char *path, const char *what, struct err *e)
{
	if (what)
		err_set(e, EOPNOTSUPP, "%s is %s, which this command cannot read", path, what);
	else
		err_set(e, EOPNOTSUPP, "%s is no recording that kymo knows", path);
	return err_hint(e, "it reads recordings of kymo record and perf record");
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

static int open_archive(const char *path, struct source **ret, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;
	struct source *s = NULL;
	struct tar *t;

	if (fd < 0)
		return no_file(path, errno, e);
	r = tar_open_fd(fd, path, &t, e);
	if (r < 0)
		return r;
	r = open_recording(t, path, &s, e);
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

static int open_by_content(const char *path, int fd, struct source **ret, struct err *e)
{
	char start[512];
	ssize_t n = pread(fd, start, sizeof(start), 0);

	if (n < 0)
		return no_file(path, errno, e);
	if (n == 0)
		return err_set(e, ENODATA, "%s is empty", path);
	if (tar_looks_like(start, (size_t)n))
		return open_archive(path, ret, e);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if ((size_t)n < formats[i].n || memcmp(start, formats[i].magic, formats[i].n) != 0)
			continue;
		return formats[i].open ? formats[i].open(path, ret, e)
				       : open_refuse(path, formats[i].what, e);
	}
	return open_refuse(path, NULL, e);
}

bool source_looks_like(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char start[512];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return true; /* the reader says what is wrong with one that is none */
	n = S_ISREG(st.st_mode) ? pread(fd, start, sizeof(start), 0) : 0;
	if (n > 0 && tar_looks_like(start, (size_t)n))
		return true;
	for (size_t i = 0; n > 0 && i < ARRAY_SIZE(formats); i++)
		if (formats[i].open && (size_t)n >= formats[i].n &&
		    memcmp(start, formats[i].magic, formats[i].n) == 0)
			return true;
	return false;
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
			all[n++] =
				(struct trace_code){ .time = j.arch_time ? 0 : j.code[i].time,
						     .start = j.code[i].start,
						     .end = j.code[i].end,
						     .pgoff = SYMBOLS_JIT_ADDR(j.code[i].number) };
	jitdump_free(&j);
	if (n)
		qsort(all, n, sizeof(*all), open_by_time);
	*ret = all;
	return n;
}

int source_open(const char *path, struct source **ret, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	perfdata_set_code(read_code);
	if (strcmp(path, "-") == 0)
		return perfdata_open(path, ret, e);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return no_file(path, errno, e);
	/* perf record --threads makes a folder with files of known names */
	if (S_ISDIR(st.st_mode) && faccessat(fd, "data", F_OK, 0) < 0) {
		err_set(e, EISDIR, "%s is a directory, and holds no recording", path);
		return err_hint(e, "a recording in a directory has a file 'data' in it");
	}
	/* a pipe cannot be looked at beforehand */
	if (!S_ISREG(st.st_mode))
		return perfdata_open(path, ret, e);
	return open_by_content(path, fd, ret, e);
}
