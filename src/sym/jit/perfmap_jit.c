/* SPDX-License-Identifier: MIT */
/*
 * A jitdump as a perf map, for who watches a process that runs on: times do not matter then, the
 * code that came last is the one that is there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "event/task.h"
#include "sym/jit/jitdump.h"
#include "sym/jit/perfmap.h"

#define MAPS_MAX (64u << 20)

/* The first file of a jitdump's name in a text like /proc/PID/maps; the range it is mapped at. */
static char *find_mapped(char *maps, uint64_t *start, uint64_t *end)
{
	char *rest = NULL;

	for (char *line = strtok_r(maps, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *path = strchr(line, '/');

		if (path && task_is_jitdump(path) &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, start, end) == 2)
			return path;
	}
	return NULL;
}

static int open_dump(pid_t pid, struct err *e)
{
	AUTO_FREE char *maps = NULL;
	uint64_t start, end;
	char at[64], *path;

	snprintf(at, sizeof(at), "/proc/%d/maps", (int)pid);
	if (file_read(at, MAPS_MAX, &maps, NULL) < 0 || !(path = find_mapped(maps, &start, &end)))
		return err_set(e, ENOENT, "process %d has no jitdump", (int)pid);
	return jitdump_open_mapped(pid, path, start, end, e);
}

static int perfmap_jit_by_time(const void *a, const void *b)
{
	const struct jitdump_code *x = *(const struct jitdump_code *const *)a,
				  *y = *(const struct jitdump_code *const *)b;

	return x->time < y->time ? -1 : x->time > y->time;
}

int perfmap_from_jitdump(struct perfmap *m, pid_t pid, struct err *e)
{
	struct jitdump j = { 0 };
	const struct jitdump_code **code;
	struct strbuf text = { 0 };
	int fd = open_dump(pid, e), r;

	if (fd < 0)
		return fd;
	r = jitdump_open_fd(&j, fd, "its jitdump", e);
	if (r < 0)
		return r;
	code = mem_alloc((j.ncode + 1) * sizeof(*code));
	for (size_t i = 0; i < j.ncode; i++)
		code[i] = &j.code[i];
	qsort(code, j.ncode, sizeof(*code), perfmap_jit_by_time);
	for (size_t i = 0; i < j.ncode; i++)
		strbuf_printf(&text, "%" PRIx64 " %" PRIx64 " %s\n", code[i]->start,
			      code[i]->end - code[i]->start, code[i]->name);
	free(code);
	jitdump_free(&j);
	strbuf_putc(&text, 0); /* as file_read() ends a text */
	perfmap_parse(m, text.data, text.n - 1);
	return 0;
}
