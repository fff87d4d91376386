/* SPDX-License-Identifier: MIT */
#include "live/probe/kept.h"

#include <inttypes.h>
#include <string.h>

#include "live/about/ksyms.h"

#define KERNEL "[kernel.kallsyms]"

bool probe_kept_id(const struct probe_target *t, struct build_id *ret)
{
	if (t->module || t->foreign)
		return false;
	if (!t->user)
		return ksyms_build_id(ret);
	*ret = t->elf->build_id;
	return ret->len;
}

const char *probe_kept_path(const struct probe_target *t)
{
	return t->user ? t->path : KERNEL;
}

/* "GROUP:EVENT=POINT ARGS" when it was given a name, else as it was given. */
static void probe_kept_spec(const struct probe_text *p, const struct probe_defs *defs,
			    struct strbuf *out)
{
	const char *point = p->event ? strchr(p->text, '=') : NULL;

	if (point && defs->list.n)
		strbuf_printf(out, "%s:%s=%s", defs->list.data[0].group, p->event, point + 1);
	else
		strbuf_puts(out, p->text);
}

void probe_kept_add(struct kept_probes *k, const struct probe_text *p,
		    const struct probe_defs *defs)
{
	AUTO_STRBUF spec = { 0 };
	struct kept_probe *kept;
	struct arena names = { 0 };
	unsigned i = 0;

	probe_kept_spec(p, defs, &spec);
	kept = kept_probes_add(k, strbuf_str(&spec), false);
	vec_each (&defs->list, d) {
		struct probe_def one = *d;
		AUTO_STRBUF line = { 0 };

		if (i++)
			one.event = arena_printf(&names, "%s_%u", d->event, i - 1);
		probe_def_text(&one, &line);
		vec_push(&kept->defs, mem_strdup(strbuf_str(&line)));
	}
	arena_free(&names);
}

/* The parts of "p:GROUP/EVENT PLACE[(SEMAPHORE)] ARGS". */
struct parts {
	bool ret;
	char *group, *event, *place;
	const char *args; /* with the blank before them, or "" */
};

static bool take_apart(const char *line, struct arena *a, struct parts *ret)
{
	const char *slash = strchr(line, '/'), *blank = strchr(line, ' ');

	if ((*line != 'p' && *line != 'r') || line[1] != ':' || !slash || !blank || slash > blank)
		return false;
	ret->ret = *line == 'r';
	ret->group = arena_strndup(a, line + 2, (size_t)(slash - line) - 2);
	ret->event = arena_strndup(a, slash + 1, (size_t)(blank - slash) - 1);
	blank++;
	ret->args = blank + strcspn(blank, " ");
	ret->place = arena_strndup(a, blank, (size_t)(ret->args - blank));
	return probe_is_name(ret->group) && probe_is_name(ret->event) && *ret->place;
}

/* The file may have another name now: of its place only the offset counts. */
static bool probe_kept_place_of(const struct parts *p, const struct probe_target *t,
				struct arena *a, struct probe_def *d)
{
	const char *colon = strrchr(p->place, ':'), *paren = strchr(p->place, '(');
	uint64_t offset;
	char *end;

	if (!t->user) {
		d->place = p->place;
		return *p->place != '/';
	}
	if (!colon || !str_starts(colon, ":0x"))
		return false;
	offset = strtoull(colon + 1, &end, 16);
	if (*end == '(')
		d->semaphore = strtoull(paren + 1, &end, 16);
	else if (*end)
		return false;
	d->place = arena_printf(a, "%s:0x%" PRIx64, t->path, offset);
	return true;
}

void probe_kept_define(const struct kept_probe *k, const struct probe_target *t, struct arena *a,
		       struct probe_defs *ret)
{
	vec_each (&k->defs, line) {
		struct probe_def d = { 0 };
		struct parts p;

		if (!take_apart(*line, a, &p) || !probe_kept_place_of(&p, t, a, &d))
			continue;
		d.group = p.group;
		d.event = p.event;
		d.ret = p.ret;
		d.args = arena_strdup(a, p.args);
		vec_push(&ret->list, d);
	}
}

bool probe_kept_named(const struct kept_probe *k, const char *group, const char *event)
{
	struct arena a = { 0 };
	struct parts p;
	bool named = false;

	if (k->defs.n && take_apart(k->defs.data[0], &a, &p))
		named = str_glob(event, p.event) && (!group || str_glob(group, p.group));
	arena_free(&a);
	return named;
}
