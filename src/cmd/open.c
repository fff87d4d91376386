/* SPDX-License-Identifier: MIT */
#include "cmd/open.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/perfdata.h"
#include "store/tracedat.h"

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
	{ "\x28\xb5\x2f\xfd", 4, NULL, "compressed with zstd" },
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
		return err_hint(e, "kymo record makes one; -i FILE names another");
	return code == EACCES ? err_hint(e, "it belongs to another user; try sudo") : -code;
}

static int refuse(const char *path, const char *what, struct err *e)
{
	err_set(e, EOPNOTSUPP, "%s is %s, which this command cannot read", path, what);
	return err_hint(e, "it reads recordings of kymo record and perf record");
}

static int open_by_content(const char *path, int fd, struct source **ret, struct err *e)
{
	char start[64];
	ssize_t n = pread(fd, start, sizeof(start), 0);

	if (n < 0)
		return no_file(path, errno, e);
	if (n == 0)
		return err_set(e, ENODATA, "%s is empty", path);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if ((size_t)n < formats[i].n || memcmp(start, formats[i].magic, formats[i].n) != 0)
			continue;
		return formats[i].open ? formats[i].open(path, ret, e)
				       : refuse(path, formats[i].what, e);
	}
	return refuse(path, "no recording that kymo knows", e);
}

int source_open(const char *path, struct source **ret, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

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
