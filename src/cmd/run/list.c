/* SPDX-License-Identifier: MIT */
/* kymo run -l: probes by pattern. */
#include "cmd/run/run.h"

#include <string.h>

#include "cmd/command.h"
#include "lang/parse/parse.h"

struct listing {
	struct run_env *env;
	const struct lang_point *p;
	bool verbose;
	struct arena arena;
	struct ltypes types;
	size_t n;
	char *last;
};

static void show_format(struct listing *l, const char *system, const char *event)
{
	AUTO_FREE char *text = l->env->env.tp_format(l->env, system, event);
	struct event_type t = { 0 };
	struct err e = { 0 };

	if (!text || type_parse_format(&t, &l->arena, text, strlen(text), &e) < 0)
		return;
	for (size_t i = 0; i < t.n_fields; i++) {
		const struct field *f = &t.fields[i];
		const char *bracket = strchr(f->type, '[');

		if (f->is_common)
			continue;
		if (bracket && f->kind != FIELD_DATA_LOC && f->kind != FIELD_REL_LOC)
			printf("    %.*s %s%s\n", (int)(bracket - f->type), f->type, f->name,
			       bracket);
		else
			printf("    %s %s\n", f->type, f->name);
	}
}

static void show_args(struct listing *l, const struct lang_point *p)
{
	const struct lrecord *r = l->env->env.args(l->env, &l->types, p);

	for (size_t i = 0; r && i < r->n; i++) {
		AUTO_STRBUF b = { 0 };

		lt_text(r->field[i].type, &b);
		printf("    %s %s\n", strbuf_str(&b),
		       r->field[i].name[0] == '$' ? "retval" : r->field[i].name);
	}
}

static int run_list_one(void *arg, const char *target, const char *name)
{
	AUTO_FREE char *file = NULL, *made = NULL;
	struct listing *l = arg;
	struct lang_point p = *l->p;

	l->n++;
	if (p.kind == LP_USDT) { /* a probe that stands at several places is listed once */
		AUTO_FREE char *now = mem_printf("%s:%s", target, name);

		if (l->last && strcmp(l->last, now) == 0)
			return 0;
		free(l->last);
		l->last = mem_strdup(now);
	}
	printf("%s:", lang_kind_name[p.kind]);
	if (target && (p.kind == LP_TRACEPOINT || (lang_kinds[p.kind].flags & LANG_KIND_USER)))
		printf("%s:", str_one_line(target, &file));
	printf("%s%s\n", str_one_line(name, &made),
	       (p.kind == LP_SOFTWARE || p.kind == LP_HARDWARE) ? ":" : "");
	if (!l->verbose)
		return 0;
	p.name = name;
	p.text = name;
	if (target)
		p.target = target;
	if (p.kind == LP_TRACEPOINT)
		show_format(l, target, name);
	else if (p.kind == LP_FENTRY || p.kind == LP_FEXIT || p.kind == LP_RAWTP ||
		 p.kind == LP_UPROBE)
		show_args(l, &p);
	return 0;
}

/* "struct task_struct": its fields and where they are; "enum x": its values. */
static int show_type(struct listing *l, const char *name, struct err *e)
{
	const struct ltype *t = run_type(l->env, &l->types, name);

	if (!t && !run_env_btf(l->env))
		return err_set(e, ENOENT, "%s", RUN_NO_TYPES);
	if (!t || (t->kind != LT_RECORD && !t->enum_name))
		return err_set(e, ENOENT, "the kernel has no '%s'", name);
	if (t->enum_name) {
		printf("%s {\n", name);
		for (uint32_t i = 0; i < t->n; i++)
			printf("    %s = %lld,\n", t->enumerator[i].name,
			       (long long)t->enumerator[i].value);
		printf("};\n");
		return 0;
	}
	if (!t->rec->filled)
		run_fill(l->env, &l->types, t->rec);
	printf("%s { /* %u bytes */\n", name, t->rec->size);
	for (size_t i = 0; i < t->rec->n; i++) {
		AUTO_STRBUF b = { 0 };

		lt_text(t->rec->field[i].type, &b);
		printf("    %s %s; /* %u */\n", strbuf_str(&b), t->rec->field[i].name,
		       t->rec->field[i].offset);
	}
	printf("};\n");
	return 0;
}

static int run_list_nothing(const char *pattern, struct err *e)
{
	char hint[sizeof(e->hint)];

	memcpy(hint, e->hint, sizeof(hint));
	err_set(e, ENOENT, "nothing matches %s", pattern);
	if (hint[0])
		return err_hint(e, "%s", hint);
	return err_hint(e, "kymo run -l 'tracepoint:*' lists tracepoints; part of a name goes "
			   "between stars: '*switch*'");
}

/* "tracepoint:*switch" for "tracepoint:*:*switch". */
static char *every_subsystem(const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	size_t n = (size_t)(colon - pattern);

	if (strchr(colon + 1, ':') ||
	    !((n == 1 && *pattern == 't') || (n == 10 && str_starts(pattern, "tracepoint"))))
		return mem_strdup(pattern);
	return mem_printf("tracepoint:*:%s", colon + 1);
}

/* A bare pattern: what it fits among all that this kernel has and allows. */
static int list_all(struct listing *l, struct lang_point *p, const char *pattern, struct err *e)
{
	static const char *const all[] = { "tracepoint:*:%s", "kprobe:%s", "software:%s",
					   "hardware:%s", "iter:%s" };
	struct run_env *env = l->env;
	struct err first = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		char text[256], why[256] = "";

		snprintf(text, sizeof(text), all[i], pattern);
		err_clear(e);
		if (!lang_point_parse(text, &l->arena, p, e) ||
		    (p->kind == LP_KPROBE && env->env.refused(env, p, why, sizeof(why))))
			continue;
		if (env->env.match(env, p, run_list_one, l, e) < 0 && !first.code &&
		    (e->code == EACCES || e->code == EPERM))
			first = *e;
	}
	err_clear(e);
	if (l->n && first.code)
		command_note("%s", first.msg);
	if (l->n || !first.code)
		return l->n ? 0 : run_list_nothing(pattern, e);
	*e = first;
	return -e->code;
}

int run_list(struct run_env *env, const char *pattern, bool verbose, struct err *e)
{
	struct listing l = { .env = env, .verbose = verbose };
	AUTO_FREE char *whole = NULL;
	struct lang_point p;
	int r = 0;

	l.types.arena = &l.arena;
	l.p = &p;
	if (str_starts(pattern, "struct ") || str_starts(pattern, "union ") ||
	    str_starts(pattern, "enum ")) {
		r = show_type(&l, pattern, e);
	} else if (!strchr(pattern, ':')) {
		r = list_all(&l, &p, pattern, e);
	} else if (!lang_point_parse(pattern, &l.arena, &p, e) &&
		   !lang_point_parse(whole = every_subsystem(pattern), &l.arena, &p, e)) {
		r = -EINVAL;
	} else {
		r = env->env.match(env, &p, run_list_one, &l, e);
		if (!l.n && (r >= 0 || (r == -ENOENT && p.kind == LP_TRACEPOINT)))
			r = run_list_nothing(pattern, e);
		r = r < 0 ? r : 0;
	}
	free(l.last);
	vec_free(&l.types.records);
	arena_free(&l.arena);
	return r;
}
