/* SPDX-License-Identifier: MIT */
#include "sym/disasm/srctext.h"

#include <limits.h>

#include "base/file.h"
#include "sym/find/archive.h"

#define SIZE_LIMIT (64u << 20)

static const char *strip_folders(const char *path, unsigned n)
{
	for (; n && *path; n--) {
		const char *next = strchr(path + 1, '/');

		if (!next)
			break;
		path = next;
	}
	return path;
}

static void split_lines(struct srctext_file *f, size_t len)
{
	uint32_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += f->text[i] == '\n';
	f->start = mem_grow(NULL, ((size_t)n + 1) * sizeof(*f->start));
	f->start[0] = 0;
	n = 1;
	for (size_t i = 0; i < len; i++)
		if (f->text[i] == '\n')
			f->start[n++] = (uint32_t)i + 1;
	/* the last line may lack its end */
	f->n_lines = f->start[n - 1] < len ? n : n - 1;
	f->start[n] = (uint32_t)len + 1;
}

static int read_archived(const struct srctext *s, const char *name, struct srctext_file *f,
			 size_t *len)
{
	const void *p = archive_by_path(s->opts.archive, name, len);

	if (!p || *len > SIZE_LIMIT)
		return -ENOENT;
	f->text = mem_alloc(*len + 1);
	memcpy(f->text, p, *len);
	return 0;
}

static void srctext_load(const struct srctext *s, const char *name, struct srctext_file *f)
{
	char path[PATH_MAX];
	size_t len = 0;
	int r = read_archived(s, name, f, &len);

	snprintf(path, sizeof(path), "%s", name);

	/* Relative names count only where any part of them may be missing. */
	if (r < 0 && s->opts.prefix && (*name == '/' || s->opts.any_depth)) {
		const char *rest = strip_folders(name, s->opts.strip), *less;

		for (;; rest = less) {
			snprintf(path, sizeof(path), "%s%s%s", s->opts.prefix,
				 *rest == '/' ? "" : "/", rest);
			r = file_read_input(path, SIZE_LIMIT, &f->text, &len);
			less = strip_folders(rest, 1);
			if (r == 0 || !s->opts.any_depth || less == rest)
				break;
		}
	}
	if (r < 0 && s->opts.symfs) {
		snprintf(path, sizeof(path), "%s/%s", s->opts.symfs, name);
		r = file_read_input(path, SIZE_LIMIT, &f->text, &len);
	}
	if (r < 0 && !s->opts.archive) {
		snprintf(path, sizeof(path), "%s", name);
		r = file_read_input(path, SIZE_LIMIT, &f->text, &len);
	}
	if (r == 0) {
		f->path = mem_strdup(path);
		split_lines(f, len);
	}
}

static struct srctext_file *srctext_file_of(struct srctext *s, const char *name)
{
	uint32_t id = strtab_add(&s->names, name);

	if (id == s->files.n)
		srctext_load(s, name, vec_add(&s->files));
	return &s->files.data[id];
}

const char *srctext_line(struct srctext *s, const char *file, uint32_t line, size_t *n)
{
	const struct srctext_file *f = srctext_file_of(s, file);
	size_t end;

	if (!f->text || !line || line > f->n_lines)
		return NULL;
	end = f->start[line] - 1;
	if (end > f->start[line - 1] && f->text[end - 1] == '\r')
		end--;
	*n = end - f->start[line - 1];
	return f->text + f->start[line - 1];
}

const char *srctext_path(struct srctext *s, const char *file)
{
	return srctext_file_of(s, file)->path;
}

void srctext_free(struct srctext *s)
{
	vec_each (&s->files, f) {
		free(f->path);
		free(f->text);
		free(f->start);
	}
	vec_free(&s->files);
	strtab_free(&s->names);
}
