/* SPDX-License-Identifier: MIT */
#include "sym/find/archive.h"

#include "base/mem.h"

/* A link that leads up to the archive's top and down from there, once. */
static const struct tar_member *archive_follow(struct tar *a, const struct tar_member *m)
{
	const char *target = m->link;

	for (const char *p = strchr(m->name, '/'); p; p = strchr(p + 1, '/')) {
		if (!str_starts(target, "../"))
			return NULL;
		target += 3;
	}
	return tar_find(a, target);
}

static const void *bytes_of(struct tar *a, const char *name, size_t *n)
{
	const struct tar_member *m = tar_find(a, name);
	const void *p;

	if (m && m->kind == TAR_LINK)
		m = archive_follow(a, m);
	p = m && m->kind == TAR_FILE ? tar_data(a, m, NULL) : NULL;

	if (p)
		*n = (size_t)m->size;
	return p;
}

void archive_link(struct strbuf *b, const struct build_id *id)
{
	char text[BUILD_ID_TEXT];

	build_id_text(id, text);
	strbuf_printf(b, ".build-id/%.2s/%s", text, text + 2);
}

/* Links of this layout lead two folders up and then down; others are not followed. */
static const void *by_exact_id(struct tar *a, const struct build_id *id, const char *name,
			       size_t *n)
{
	AUTO_STRBUF b = { 0 };
	const struct tar_member *m;

	archive_link(&b, id);
	m = tar_find(a, b.data);
	if (!m || m->kind != TAR_LINK || !str_starts(m->link, "../../"))
		return NULL;
	strbuf_reset(&b);
	strbuf_printf(&b, "%s/%s", m->link + 6, name);
	return bytes_of(a, b.data, n);
}

const void *archive_by_id(struct tar *a, const struct build_id *id, const char *name, size_t *n)
{
	struct build_id other = *id;
	const void *p;

	if (!a || id->len < 2)
		return NULL;
	p = by_exact_id(a, id, name, n);
	/* perf fills short ones up with zeros: the file goes by one or the other */
	while (!p && other.len > 8 && !other.data[other.len - 1]) {
		other.len--;
		p = by_exact_id(a, &other, name, n);
	}
	for (other = *id; !p && other.len < 20;) {
		other.data[other.len++] = 0;
		p = other.len == 20 ? by_exact_id(a, &other, name, n) : NULL;
	}
	return p;
}

static bool is_safe(const char *path)
{
	const char *p = path;

	for (; *p; p++)
		if (*p == '\n')
			return false;
	for (p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return false;
	return *path && strlen(path) < 3900;
}

bool archive_file(struct strbuf *b, const char *path)
{
	if (!is_safe(path))
		return false;
	strbuf_reset(b);
	strbuf_puts(b, ARCHIVE_FILES);
	while (*path) {
		size_t n = strcspn(path, "/");

		/* as the reader cleans names */
		if (n && !(n == 1 && *path == '.')) {
			strbuf_putc(b, '/');
			strbuf_add(b, path, n);
		}
		path += n + (path[n] == '/');
	}
	return b->n > strlen(ARCHIVE_FILES);
}

const void *archive_by_path(struct tar *a, const char *path, size_t *n)
{
	AUTO_STRBUF b = { 0 };

	return a && archive_file(&b, path) ? bytes_of(a, b.data, n) : NULL;
}

void archive_folder(struct strbuf *b, const char *path, const struct build_id *id)
{
	const size_t skip = strlen(ARCHIVE_FILES) + 1;
	AUTO_STRBUF clean = { 0 };
	char text[BUILD_ID_TEXT];

	/* the folder's name is for people; files are found through the link */
	if (archive_file(&clean, path))
		strbuf_puts(b, clean.data + skip);
	else
		strbuf_puts(b, "file");
	strbuf_printf(b, "/%s", build_id_text(id, text));
}
