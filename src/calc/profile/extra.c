/* SPDX-License-Identifier: MIT */
#include "calc/profile/extra.h"

#include <string.h>

#include "event/text.h"

void extra_plan(struct extra_plan *p, const struct columns *c, const struct trace *t)
{
	*p = (struct extra_plan){ .columns = c, .trace = t };
	p->n_words = 1; /* the first one is the type */
	for (unsigned i = 0; i < c->n; i++) {
		enum key key = c->col[i].key;

		if (!key_infos[key].word.of || p->word[key])
			continue;
		p->word[key] = (uint8_t)p->n_words;
		p->n_words += key_infos[key].word.of == KEY_WORD_NAMESPACE ? 2 : 1;
	}
	p->trace_text = columns_have(c, KEY_TRACE);
	p->any = p->n_words > 1 || p->trace_text || columns_have(c, KEY_FIELD);
	p->fields_from = mem_alloc((t->n_types + 1) * sizeof(*p->fields_from));
	for (size_t i = 0; i < t->n_types; i++)
		for (size_t k = 0; k < t->types[i].n_fields; k++) {
			const struct field *f = &t->types[i].fields[k];

			if (f->is_common && f->offset + f->size > p->fields_from[i])
				p->fields_from[i] = f->offset + f->size;
		}
}

void extra_plan_free(struct extra_plan *p)
{
	free(p->fields_from);
}

static uint64_t extra_read(const struct extra_plan *p, const struct key_word *w,
			   const struct event *ev, const struct event_branch *branch)
{
	const void *from = w->of == KEY_WORD_BRANCH	 ? branch
			   : ev->have & EVENT_HAVE_EXTRA ? (const void *)ev->extra
							 : NULL;
	uint64_t v;

	if (w->of == KEY_WORD_ADDR)
		return ev->addr;
	if (!from)
		return 0;
	v = *(const uint64_t *)((const char *)from + w->at);
	if (w->of == KEY_WORD_WEIGHT && !(p->trace->types[ev->type].has & TYPE_HAS_WEIGHT_PARTS))
		return w->shift ? 0 : v; /* all of it is the first part */
	return v >> w->shift & w->mask;
}

static void fill_words(const struct extra_plan *p, const struct event *ev,
		       const struct event_branch *branch, uint64_t *buf)
{
	for (unsigned i = 0; i < p->columns->n; i++) {
		enum key key = p->columns->col[i].key;
		const struct key_word *w = &key_infos[key].word;
		uint64_t *to = &buf[p->word[key]];

		if (!w->of)
			continue;
		if (w->of != KEY_WORD_NAMESPACE) {
			*to = extra_read(p, w, ev, branch);
			continue;
		}
		to[0] = to[1] = 0;
		if (p->namespace)
			p->namespace(p->ctx, ev->tid, ev->time, &to[0], &to[1]);
	}
}

/* Length and bytes, the next one at a multiple of 8. NULL when it does not fit. */
static char *extra_put_bytes(char *at, const char *end, const void *bytes, size_t n)
{
	uint64_t len = n;
	size_t room = (n + 7) & ~7ul;

	if ((size_t)(end - at) < 8 + room)
		return NULL;
	memcpy(at, &len, 8);
	memset(at + 8 + (room ? room - 8 : 0), 0, room ? 8 : 0);
	memcpy(at + 8, bytes, n);
	return at + 8 + room;
}

size_t extra_fill(const struct extra_plan *p, const struct event *ev,
		  const struct event_branch *branch, uint64_t *buf)
{
	char *at = (char *)(buf + p->n_words), *end = (char *)(buf + PROFILE_EXTRA_WORDS), *next;
	bool raw = ev->have & EVENT_HAVE_RAW;

	buf[0] = ev->type;
	fill_words(p, ev, branch, buf);
	for (unsigned i = 0; i < p->columns->n; i++) {
		const struct column *c = &p->columns->col[i];
		const void *bytes = "";
		size_t n = 0;

		if (c->key != KEY_FIELD || c->type != ev->type)
			continue;
		if (!raw || !field_bytes(c->field, ev->raw, ev->raw_size, &bytes, &n))
			n = 0;
		next = extra_put_bytes(at, end, bytes, n);
		at = next ? next : at;
	}
	if (p->trace_text && raw && p->trace->types[ev->type].n_fields) {
		unsigned skip = p->fields_from[ev->type];

		if (skip < ev->raw_size) {
			next = extra_put_bytes(at, end, (const char *)ev->raw + skip,
					       ev->raw_size - skip);
			at = next ? next : at;
		}
	}
	return (size_t)(at - (char *)buf);
}
