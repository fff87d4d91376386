/* SPDX-License-Identifier: MIT */
#include "live/trace/points.h"

#include <string.h>

#include "base/file.h"
#include "event/text.h"
#include "kern/tracefs.h"

#define MOST 512 /* events at once */

static int trace_trace_points_add(struct trace_points *p, const char *root, const char *name,
				  struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/events/%s/format", root, name), *text = NULL;
	struct event_type *t;
	size_t n = 0;
	int r;

	*strchr(path + strlen(root) + strlen("/events/"), ':') = '/';
	r = file_read(path, 1u << 20, &text, &n);
	if (r < 0)
		return tracefs_failed(root, -r, e);
	t = vec_add(&p->types);
	t->name = arena_strdup(&p->arena, name);
	r = type_parse_format(t, &p->arena, text, n, e);
	if (r < 0) {
		p->types.n--;
		return r;
	}
	text_prepare(p->text, t, &p->arena);
	*map_at(&p->by_id, t->format_id) = p->types.n;
	return 0;
}

int trace_points_add(struct trace_points *p, const char *pattern, struct err *e)
{
	const char *root = tracefs_find(e), *colon = strchr(pattern, ':');
	struct file_names all = { 0 };
	AUTO_FREE char *subsys = NULL;
	size_t before = p->types.n;
	int r;

	if (!root || !colon)
		return root ? err_set(e, EINVAL, "'%s' names no event", pattern) : -e->code;
	if (!p->text)
		p->text = text_new(&(struct text_opts){ 0 });
	subsys = mem_strndup(pattern, (size_t)(colon - pattern));
	r = tracefs_all(root, str_has_glob(subsys) ? NULL : subsys, &all, e);
	for (size_t i = 0; i < all.n && r >= 0; i++)
		if (str_glob(pattern, all.name[i]))
			r = p->types.n < MOST ? trace_trace_points_add(p, root, all.name[i], e)
					      : err_set(e, E2BIG, "'%s' are more than %d events",
							pattern, MOST);
	file_names_free(&all);
	if (r == -ENOENT || r == -ENOTDIR || (r >= 0 && p->types.n == before))
		return tracefs_no_event(root, pattern, e);
	return r < 0 ? r : 0;
}

uint32_t trace_points_size(const struct event_type *t)
{
	uint32_t size = 0;
	bool more = false;

	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];

		if (f->offset + f->size > size)
			size = f->offset + f->size;
		more |= f->kind == FIELD_DATA_LOC || f->kind == FIELD_REL_LOC;
	}
	if (more)
		size += 512;
	return size < TRACE_RAW ? size : TRACE_RAW;
}

const char *trace_points_text(const struct trace_points *p, const struct trace_record *r,
			      const void *raw, struct strbuf *b)
{
	const uint64_t *at = map_find(&p->by_id, (uint32_t)r->nr);

	if (!at || !*at)
		return "?";
	text_print(p->text, &p->types.data[*at - 1], raw, r->n, b);
	return p->types.data[*at - 1].name;
}

void trace_points_free(struct trace_points *p)
{
	vec_free(&p->types);
	map_free(&p->by_id);
	text_free(p->text);
	arena_free(&p->arena);
}
