/* SPDX-License-Identifier: MIT */
/*
 * How fast unwinding tables are built, and how large they are.
 *
 *	bench-unwind_tables [-v] PATH...	files, or folders gone through
 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/map.h"
#include "sym/unwind/ehframe.h"

static struct {
	size_t files, failed, fdes, rows, rules, bad, full, bytes, text;
	double open, build;
	bool verbose;
	struct map distinct;
} total;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	struct ehframe_table *t;
	struct ehframe *f;
	double t0, t1, t2;
	struct err e = { 0 };

	(void)ftw;
	if (flag != FTW_F || !S_ISREG(st->st_mode) || st->st_size < 64)
		return 0;
	t0 = now();
	if (ehframe_open(path, &f, &e) < 0) {
		if (total.verbose && e.code != ENOEXEC)
			printf("%s\n", e.msg);
		return 0;
	}
	t1 = now();
	if (ehframe_build(f, &t, &e) < 0) {
		total.failed++;
		if (total.verbose)
			printf("%s: %s\n", path, e.msg);
		ehframe_close(f);
		return 0;
	}
	t2 = now();
	total.files++;
	total.open += t1 - t0;
	total.build += t2 - t1;
	total.fdes += t->n_fdes;
	total.rows += t->n_rows;
	total.bad += t->n_bad;
	total.full += t->n_full;
	total.bytes += sizeof(*t) + ((size_t)t->n_chunks + 1 + t->n_rows) * 4 +
		       t->n_rules * sizeof(*t->rules);
	total.text += (size_t)t->n_chunks * EHFRAME_CHUNK;
	for (uint32_t i = 0; i < t->n_rules; i++)
		map_at(&total.distinct, map_hash_bytes(&t->rules[i], sizeof(t->rules[i])));
	if (total.verbose)
		printf("%-60s text %8.2f MB  FDEs %7u  rows %8u  rules %5u  bad %u  full %u  open "
		       "%.2f ms  "
		       "build %.2f ms  %.1f ns a row\n",
		       path, t->n_chunks * (double)EHFRAME_CHUNK / 1e6, t->n_fdes, t->n_rows,
		       t->n_rules, t->n_bad, t->n_full, (t1 - t0) * 1e3, (t2 - t1) * 1e3,
		       (t2 - t1) * 1e9 / t->n_rows);
	ehframe_table_free(t);
	ehframe_close(f);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			total.verbose = true;
		else
			nftw(argv[i], one, 32, FTW_PHYS);
	}
	printf("%zu files, %zu without tables, %.1f MB of code, %zu FDEs (%zu bad), %zu rows (%zu "
	       "for the full "
	       "evaluator), %zu distinct rules, tables %.1f MB (%.1f bytes a row)\n",
	       total.files, total.failed, (double)total.text / 1e6, total.fdes, total.bad,
	       total.rows, total.full, total.distinct.n, (double)total.bytes / 1e6,
	       (double)total.bytes / (double)(total.rows ? total.rows : 1));
	printf("open %.3f s, build %.3f s: %.1f ns a row, %.1f M rows/s\n", total.open, total.build,
	       total.build * 1e9 / (double)(total.rows ? total.rows : 1),
	       (double)total.rows / total.build / 1e6);
	map_free(&total.distinct);
	return 0;
}
