/* SPDX-License-Identifier: MIT */
/* kymo stat, and stat report: where the figures go. */
#include "cmd/stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/guard.h"
#include "base/output.h"

int stat_n_sums(const struct stat_args *a)
{
	return a->no_aggr + a->per_thread + a->per_core + a->per_die + a->per_socket + a->per_node;
}

enum stat_by stat_by(const struct stat_args *a)
{
	return a->no_aggr      ? STAT_CPU
	       : a->per_thread ? STAT_THREAD
	       : a->per_core   ? STAT_CORE
	       : a->per_die    ? STAT_DIE
	       : a->per_socket ? STAT_SOCKET
	       : a->per_node   ? STAT_NODE
			       : STAT_GLOBAL;
}

struct stat_style stat_style(const struct stat_args *a, enum stat_by by)
{
	struct stat_style s = a->style;

	s.form = a->json ? STAT_JSON : s.sep ? STAT_CSV : STAT_TEXT;
	s.by = by;
	return s;
}

static int stat_out_failed(const char *path, struct err *e)
{
	int code = errno ? errno : EIO;

	if (path && strcmp(path, "-") == 0)
		path = "standard output";
	err_cannot_write(e, code, path ? path : "the output");
	return code == EBADF ? err_hint(e, "it is closed; -o FILE writes to a file") : -code;
}

/* NULL: e says why. */
static FILE *stat_out_open_file(const char *path, bool append, struct err *e)
{
	int fd = output_growing(path, append ? O_APPEND : 0, 0666, e);
	FILE *f = fd < 0 ? NULL : fdopen(fd, append ? "a" : "w");

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

int stat_out_open(const struct stat_args *a, const char *path, FILE **ret, struct err *e)
{
	time_t now = time(NULL);
	char stamp[32];
	FILE *f = stderr;

	if (path && strcmp(path, "-") == 0)
		f = stdout;
	else if (path)
		f = stat_out_open_file(path, a->append, e);
	else if (a->log_fd >= 0)
		f = fdopen(a->log_fd, a->append ? "a" : "w");
	if (!f)
		return path ? -e->code : stat_out_failed("--log-fd", e);
	if (path && f != stdout && !a->json)
		fprintf(f, "# started on %s\n", ctime_r(&now, stamp));
	*ret = f;
	return 0;
}

int stat_out_flush(FILE *f, const char *path, struct err *e)
{
	return fflush(f) == 0 ? 0 : stat_out_failed(path, e);
}

int stat_out_close(FILE *f, const char *path, struct err *e)
{
	return f == stderr || f == stdout || fclose(f) == 0 ? 0 : stat_out_failed(path, e);
}

void stat_out_interval(FILE *f, const struct stat_style *s, bool clear, const struct stat_table *t,
		       double stamp_ns, unsigned *lines)
{
	if (clear && s->form == STAT_TEXT)
		guard_tell(f, "\033[H\033[2J\033[3J");
	if (clear || *lines % 25 == 0 || *lines > 25) {
		stat_print_interval_head(f, s, t);
		*lines = 0;
	}
	*lines += (unsigned)t->n;
	stat_print_rows(f, s, t, stamp_ns);
}
