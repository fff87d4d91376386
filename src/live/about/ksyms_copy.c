/* SPDX-License-Identifier: MIT */
/*
 * perf record's copy of kallsyms below ~/.debug is read a hundred times as fast as the kernel
 * writes its own. It is taken only where it is proven to be what the kernel would write now.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "live/about/ksyms.h"
#include "sym/find/debugdir.h"

#define TEXT_MAX (256 << 20)
#define HEAD_MIN 32 /* bytes that must be the same */

/* "nf_nat 57344 2 xt_nat, Live 0xffffffffc0a00000": does one of them lie around addr? */
static bool loaded_there(const char *modules, const char *name, size_t n, uint64_t addr)
{
	for (const char *line = modules; line && *line;
	     line = strchr(line, '\n'), line += line != NULL) {
		const char *at = strstr(line, " 0x");
		uint64_t size, start;

		if (strncmp(line, name, n) != 0 || line[n] != ' ' || !at)
			continue;
		size = strtoull(line + n, NULL, 10);
		start = strtoull(at, NULL, 16);
		return start && addr >= start && addr - start < size;
	}
	return false;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* The lines of one module in a row: is one of them where it is loaded now? Moves to the next. */
static bool same_module(const char **line, const char *end, const char *modules)
{
	struct symline first = { 0 }, l = { 0 };
	const char *next = *line;
	bool found = false;

	while (symline_next(&l, &next, end) && l.module) {
		if (!first.module)
			first = l;
		if (l.module_n != first.module_n || memcmp(l.module, first.module, l.module_n) != 0)
			break;
		found = found || loaded_there(modules, l.module, l.module_n, l.addr);
		*line = next;
	}
	return found;
}

bool ksyms_same(const char *text, size_t n, const char *head, size_t head_n, const char *modules)
{
	const char *line, *end = text + n;
	struct symline l = { 0 };
	size_t seen = 0;

	/* its own part: the same build at the same place has the same */
	if (head_n < HEAD_MIN || n < head_n || memcmp(text, head, head_n) != 0 ||
	    symline_addr(text, end) == 0)
		return false;
	/* modules stand behind it, each one's in a row; BPF programs come last */
	line = memchr(text, '[', n);
	while (line && line > text && line[-1] != '\n')
		line--;
	while (line && line < end) {
		if (!symline_parse(&l, line, strchrnul(line, '\n')) || !l.module)
			return false;
		if (str_starts(l.module, "bpf]") || str_starts(l.module, "__builtin__"))
			break;
		if (!same_module(&line, end, modules))
			return false;
		seen++;
	}
	return seen == count_lines(modules);
}

int ksyms_from_perf(const struct build_id *id, char **ret, size_t *n)
{
	AUTO_CLOSE int dir = debugdir_open(NULL, false, NULL);
	AUTO_CLOSE int copy = dir < 0 ? -1 : debugdir_file(dir, id, "kallsyms");
	AUTO_CLOSE int now = copy < 0 ? -1 : open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL, *modules = NULL;
	char head[4096];
	ssize_t got = now < 0 ? -1 : read(now, head, sizeof(head));
	struct stat st;

	/* nobody else's */
	if (got <= 0 || fstat(copy, &st) < 0 || (st.st_uid && st.st_uid != geteuid()) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_size < got || st.st_size > TEXT_MAX)
		return -ENOENT;
	*n = (size_t)st.st_size;
	text = mem_table(*n + 1, false);
	if (pread(copy, text, *n, 0) != (ssize_t)*n)
		return -ENOENT;
	text[*n] = '\0';
	if (file_read("/proc/modules", 16 << 20, &modules, NULL) < 0)
		modules = mem_strdup("");
	if (!ksyms_same(text, *n, head, (size_t)got, modules))
		return -ESTALE;
	*ret = text;
	text = NULL;
	return 0;
}
