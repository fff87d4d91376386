/* SPDX-License-Identifier: MIT */
/* From the patterns of a program's blocks to the points that there are here. */
#include <string.h>

#include "lang/compile.h"

static const char *point_text(struct compiler *k, const struct lang_point *p)
{
	struct arena *a = &k->p->arena;
	const char *kind = lang_kind_name[p->kind];
	AUTO_STRBUF off = { 0 };

	if (p->has_offset)
		strbuf_printf(&off, "+%llu", (unsigned long long)p->offset);
	switch (p->kind) {
	case LP_TRACEPOINT: return arena_printf(a, "%s:%s:%s", kind, p->target, p->name);
	case LP_USDT: return arena_printf(a, "%s:%s:%s:%s", kind, p->target, p->provider, p->name);
	case LP_UPROBE:
	case LP_URETPROBE:
		return arena_printf(a, "%s:%s:%s%s", kind, p->target, p->name, strbuf_str(&off));
	case LP_KPROBE:
	case LP_KRETPROBE: return arena_printf(a, "%s:%s%s", kind, p->name, strbuf_str(&off));
	case LP_FENTRY:
	case LP_FEXIT:
	case LP_RAWTP: return arena_printf(a, "%s:%s", kind, p->name);
	case LP_BEGIN:
	case LP_END: return kind;
	default: return p->text;
	}
}

static uint32_t point_id(struct compiler *k, const char *text)
{
	uint64_t *at = map_at(&k->texts, map_hash_bytes(text, strlen(text)));

	if (!*at || strcmp(k->p->points.data[*at - 1].text, text) != 0)
		*at = k->p->points.n + 1;
	return (uint32_t)*at - 1;
}

static int expand_add_point(void *arg, const char *target, const char *name)
{
	struct compiler *k = arg;
	struct lang_point p = *k->pattern;

	p.one_of_many =
		(p.name && strpbrk(p.name, "*?[")) || (p.target && strpbrk(p.target, "*?["));
	if (target && p.kind == LP_USDT) {
		const char *colon = strrchr(target, ':');

		p.target = colon ? arena_strndup(&k->p->arena, target, (size_t)(colon - target))
				 : arena_strdup(&k->p->arena, target);
		if (colon)
			p.provider = arena_strdup(&k->p->arena, colon + 1);
	} else if (target) {
		p.target = arena_strdup(&k->p->arena, target);
	}
	if (name)
		p.name = arena_strdup(&k->p->arena, name);
	if (p.kind == LP_USDT) { /* the same again: other places, other arguments */
		p.number = 0;
		vec_each (&k->units, u) {
			const struct lang_point *q = &k->p->points.data[u->point];

			p.number += u->block == k->block && q->kind == LP_USDT &&
				    strcmp(q->target, p.target) == 0 &&
				    strcmp(q->provider, p.provider) == 0 &&
				    strcmp(q->name, p.name) == 0;
		}
	}
	p.text = point_text(k, &p);
	k->found++;
	if (k->p->points.n >= k->p->config.max_probes)
		return 0;
	p.id = point_id(k, p.text);
	vec_push(&k->p->points, p);
	vec_push(&k->units, (struct unit){ k->block, (uint32_t)k->p->points.n - 1 });
	return 0;
}

static bool to_be_matched(const struct lang_point *p)
{
	/* No function stands for an address in the kernel; a file's are looked up. */
	return (lang_kinds[p->kind].flags & LANG_KIND_MATCHED) &&
	       (!p->is_addr || p->kind == LP_UPROBE || p->kind == LP_URETPROBE);
}

static void expand_expand(struct compiler *k, size_t block, const struct lang_point *pattern)
{
	struct err e = { 0 };
	char instead[256] = "";
	const char *why;
	int r = 0;

	k->c.func_by_name |= pattern->kind == LP_URETPROBE;
	k->pattern = pattern;
	k->block = block;
	k->found = 0;
	why = k->env->refused ? k->env->refused(k->env->ctx, pattern, instead, sizeof(instead))
			      : NULL;
	if (why) {
		lang_error(k->d, pattern->pos, pattern->len, "%s", why);
		if (instead[0])
			lang_hint(k->d, "%s", instead);
		return;
	}
	if (to_be_matched(pattern) && k->env->match)
		r = k->env->match(k->env->ctx, pattern, expand_add_point, k, &e);
	else
		expand_add_point(k, NULL, NULL);
	if (r < 0 || !k->found) {
		struct missing m = { pattern, arena_strdup(&k->p->arena, e.msg),
				     arena_strdup(&k->p->arena, e.hint) };

		if (r >= 0)
			m.text = arena_printf(&k->p->arena, "nothing matches %s", pattern->text);
		vec_push(&k->missing, m);
	} else if (k->p->points.n >= k->p->config.max_probes && k->found > 1) {
		lang_error(k->d, pattern->pos, pattern->len,
			   "%zu probes match, more than max_probes (%u)", k->found,
			   k->p->config.max_probes);
		lang_hint(k->d, "a narrower pattern, or BPFTRACE_MAX_PROBES=%zu", k->found + 100);
	}
}

/* Where several stand for one, as names differ between kernels and libraries, one is enough. */
static void tell_missing(struct compiler *k, bool others)
{
	vec_each (&k->missing, m) {
		if (others || k->p->config.missing_ignored)
			lang_warn(k->d, m->pattern->pos, m->pattern->len, "%s", m->text);
		else
			lang_error(k->d, m->pattern->pos, m->pattern->len, "%s", m->text);
		if (m->hint[0])
			lang_hint(k->d, "%s", m->hint);
	}
	k->missing.n = 0;
}

void expand_all(struct compiler *k)
{
	for (size_t i = 0; i < k->ast.blocks.n; i++) {
		struct probe_block *b = &k->ast.blocks.data[i];
		size_t before = k->p->points.n;

		for (size_t j = 0; j < b->n_patterns; j++)
			expand_expand(k, i, &b->pattern[j]);
		tell_missing(k, k->p->points.n > before);
		if (k->p->points.n == before) {
			check_names_only(&k->c, b->pred);
			check_names_only(&k->c, b->body);
		}
	}
}
