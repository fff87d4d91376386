/* SPDX-License-Identifier: MIT */
/* kymo probe, adding and showing definitions: a probe's places, names nobody has, all or none. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/probe/probe.h"
#include "kern/probe_events.h"
#include "kern/tracefs.h"

struct adding {
	const struct probe_opts *o;
	const struct probe_target *t;
	const char *root; /* of tracefs; NULL: nothing is written */
	struct probe_events have;
	struct arena arena;
	const char *last; /* "group:event" that was added */
	unsigned n;
	bool several; /* places of one probe */
};

/* A name nobody has: the one given, or with _1, _2 ... behind it where that is allowed. */
static int free_name(struct adding *a, struct probe_def *d, bool again, struct err *e)
{
	const char *base = d->event;

	if (!probe_events_has(&a->have, d->group, base))
		return 0;
	if (!again && !a->o->force) {
		err_set(e, EEXIST, "there is an event %s:%s already", d->group, base);
		return err_hint(e,
				"remove it (kymo probe -d %s:%s), give another name (NEW=...), or "
				"add it again with -f",
				d->group, base);
	}
	for (int i = 1; i < 1024; i++) {
		d->event = arena_printf(&a->arena, "%s_%d", base, i);
		if (!probe_events_has(&a->have, d->group, d->event))
			return 0;
	}
	return err_set(e, EEXIST, "too many events are called %s", base);
}

void probe_arg_names(const char *args, struct strbuf *out)
{
	unsigned n = 0;

	while (*args) {
		const char *s = args + strspn(args, " "), *end = s + strcspn(s, " ");

		if (end > s) {
			strbuf_puts(out, n++ ? " " : " with ");
			strbuf_add(out, s, strcspn(s, "=: "));
		}
		args = end;
	}
}

static void say_added(struct adding *a, const struct probe_text *p, const struct probe_def *d)
{
	AUTO_FREE char *name = mem_printf("%s:%s", d->group, d->event);
	AUTO_STRBUF with = { 0 };
	const char *point = strchr(p->text, '=') && p->event ? strchr(p->text, '=') + 1 : p->text;

	probe_arg_names(d->args, &with);
	if (!a->o->quiet)
		fprintf(stderr, "  %-20s (on %.*s%s%s%s)\n", name, (int)strcspn(point, " "), point,
			a->t->user ? " in " : "", a->t->user ? a->t->path : "", strbuf_str(&with));
	a->last = arena_strdup(&a->arena, name);
}

static int add_one(struct adding *a, const struct probe_text *p, struct probe_def *d, bool again,
		   struct err *e)
{
	AUTO_STRBUF line = { 0 };
	int err = free_name(a, d, again, e);

	if (err < 0)
		return err;
	probe_def_text(d, &line);
	if (a->o->verbose)
		fprintf(stderr, "Writing event: %s\n", strbuf_str(&line));
	if (!a->o->dry_run) {
		err = probe_events_add(a->root, a->t->user, strbuf_str(&line), e);
		if (err < 0)
			return err;
	}
	vec_push(&a->have.list, (struct probe_event){ .line = NULL,
						      .group = mem_strdup(d->group),
						      .event = mem_strdup(d->event),
						      .user = a->t->user });
	if (!a->n++ && !a->o->quiet)
		fprintf(stderr, "Added new event%s:\n", a->several ? "s" : "");
	say_added(a, p, d);
	return 0;
}

static void remove_added(struct adding *a, const struct probe_defs *defs, size_t n)
{
	struct err ignored;

	for (size_t i = 0; i < n && !a->o->dry_run; i++)
		probe_events_remove(a->root, a->t->user, defs->list.data[i].group,
				    defs->list.data[i].event, &ignored);
}

/* From debug info, notes and symbols, or from what was kept of them. */
static int places(struct adding *a, const struct probe_text *p, struct probe_defs *defs,
		  struct err *e)
{
	size_t found;
	int err;

	if (a->o->cache && !p->usdt && probe_cache_find(a->t, p, &a->arena, defs)) {
		if (a->o->verbose)
			command_note("%s: as it was kept in the build-id cache", p->text);
		return 0;
	}
	if (p->usdt)
		probe_cache_named(a->t, p, &a->arena, defs);
	found = defs->list.n;
	err = a->t->user || !p->usdt ? probe_define(a->t, p, &a->arena, defs, e)
				     : err_set(e, ENOENT, "%s is not kept", p->text);
	return err == -ENOENT && found ? 0 : err;
}

static int define(struct adding *a, const struct probe_text *p, struct probe_defs *defs,
		  struct err *e)
{
	int err = places(a, p, defs, e);

	if (err == 0 && defs->list.n > (size_t)a->o->max_probes) {
		err_set(e, E2BIG, "%s means %zu places", p->text, defs->list.n);
		err = err_hint(e, "say --max-probes %zu if you want them all", defs->list.n);
	}
	vec_each (&defs->notes, note)
		command_note("%s", *note);
	return err;
}

/* Are there others of its name among the places of its probe? */
static bool shares_name(const struct probe_defs *defs, size_t i)
{
	const struct probe_def *x = &defs->list.data[i];

	for (size_t k = 0; k < defs->list.n; k++)
		if (k != i && strcmp(defs->list.data[k].event, x->event) == 0 &&
		    strcmp(defs->list.data[k].group, x->group) == 0)
			return true;
	return false;
}

/* All places of a probe in one file, or none. */
static int add_here(struct adding *a, const struct probe_text *p, struct err *e)
{
	struct probe_defs defs = { 0 };
	struct kept_probes keep = { 0 };
	int err = define(a, p, &defs, e);
	bool *shared = mem_alloc((defs.list.n + 1) * sizeof(*shared));

	if (err == 0 && a->o->cache && !p->usdt)
		probe_kept_add(&keep, p, &defs);
	a->several = defs.list.n > 1;
	for (size_t i = 0; i < defs.list.n; i++) /* before any of them is given another name */
		shared[i] = shares_name(&defs, i);
	for (size_t i = 0; i < defs.list.n && err == 0; i++) {
		err = add_one(a, p, &defs.list.data[i], shared[i], e);
		if (err < 0)
			remove_added(a, &defs, i);
	}
	if (err == 0 && keep.list.n && !a->o->dry_run)
		err = probe_cache_keep(a->t, &keep.list.data[0], e);
	free(shared);
	kept_probes_free(&keep);
	probe_defs_free(&defs);
	return err;
}

/* "ftrace.event.kprobes.NAME.probes = 'PLACE ARGS', ...": all places are one event there. */
static void print_bootconfig(const struct probe_text *p, const struct probe_defs *defs)
{
	if (p->group)
		command_note("the group %s is left out: at boot all are in kprobes", p->group);
	printf("ftrace.event.kprobes.%s.probes =", defs->list.data[0].event);
	vec_each (&defs->list, d)
		printf("%s '%s%s%s'", d == defs->list.data ? "" : ",", d->place,
		       d->ret ? "%return" : "", d->args);
	putchar('\n');
}

static int show_here(struct adding *a, const struct probe_text *p, struct err *e)
{
	struct probe_defs defs = { 0 };
	int err = define(a, p, &defs, e);

	if (err == 0 && a->o->bootconfig && defs.list.n)
		print_bootconfig(p, &defs);
	else if (err == 0)
		vec_each (&defs.list, d) {
			AUTO_STRBUF line = { 0 };

			probe_def_text(d, &line);
			puts(strbuf_str(&line));
		}
	probe_defs_free(&defs);
	return err;
}

typedef int here_fn(struct adding *a, const struct probe_text *p, struct err *e);

/* "%NAME" without a file means all files of the build-id cache, and what is kept of the kernel. */
struct everywhere {
	struct adding *a;
	const struct probe_text *p;
	here_fn *fn;
	struct err *e;
	unsigned found;
};

static int in_target(struct everywhere *w, const struct probe_target *t)
{
	const struct probe_target *before = w->a->t;
	int err;

	w->a->t = t;
	err = w->fn(w->a, w->p, w->e);
	w->a->t = before;
	w->found += err == 0;
	return err == -ENOENT ? 0 : err;
}

static int in_file(void *ctx, const char *path)
{
	struct everywhere *w = ctx;
	struct probe_target_opts o = { .exec = path, .no_debuginfod = true };
	struct err ignored = { 0 };
	struct probe_target t;
	int err;

	if (probe_target_open(&o, &t, &ignored) < 0)
		return 0;
	err = in_target(w, &t);
	probe_target_close(&t);
	return err;
}

static int everywhere(struct adding *a, const struct probe_text *p, here_fn *fn, struct err *e)
{
	struct everywhere w = { .a = a, .p = p, .fn = fn, .e = e };
	int err = in_target(&w, a->t);

	if (err == 0)
		err = probe_cache_files(in_file, &w);
	if (err < 0 || w.found)
		return err;
	err_set(e, ENOENT, "no program of the build-id cache has a probe %s", p->text);
	return err_hint(
		e, "name the program with -x FILE, or keep it with kymo buildid-cache -a FILE; "
		   "kymo list sdt lists static probes, kymo probe -l --cache those that are kept");
}

static int each_target(struct adding *a, char *const *words, size_t n, here_fn *fn, struct err *e)
{
	struct probe_text p = { 0 };
	int err = probe_parse(&a->arena, words, n, &p, e);

	if (err == 0)
		err = p.usdt && !a->t->user ? everywhere(a, &p, fn, e) : fn(a, &p, e);
	probe_text_free(&p);
	return err;
}

/* Each is a definition of its own. */
static int one_by_one(struct adding *a, const char *const *text, size_t n, here_fn *fn,
		      struct err *e)
{
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i++) {
		char *word = (char *)text[i];

		err = each_target(a, &word, 1, fn, e);
	}
	return err;
}

int probe_add_all(const struct probe_opts *o, const struct vec_strs *define,
		  const struct vec_strs *add, int argc, char **argv, struct err *e)
{
	struct probe_target t;
	struct adding a = { .o = o, .t = &t };
	int err = probe_target_open(&o->target, &t, e);

	if (err < 0)
		return err;
	if ((add->n || argc) && t.foreign && !o->dry_run) {
		err_set(e, ESTALE, "%s is not the running kernel's (another build-id)",
			o->target.vmlinux);
		err = err_hint(e, "-D shows what that kernel would have to be told");
	} else if (add->n || argc) {
		a.root = tracefs_find(o->dry_run ? NULL : e);
		if (a.root)
			err = probe_events_read(a.root, &a.have, o->dry_run ? NULL : e);
		else if (!o->dry_run)
			err = -e->code;
		if (o->dry_run)
			err = 0;
	}
	if (err == 0)
		err = one_by_one(&a, define->data, define->n, show_here, e);
	if (err == 0)
		err = one_by_one(&a, add->data, add->n, add_here, e);
	/* several quoted definitions, or one whose words the shell took apart */
	if (err == 0 && argc > 1 && !strchr(argv[0], ' '))
		err = each_target(&a, argv, (size_t)argc, add_here, e);
	else if (err == 0)
		err = one_by_one(&a, (const char *const *)argv, (size_t)argc, add_here, e);
	if (err == 0 && a.last && !o->quiet)
		fprintf(stderr,
			"\nYou can now use it in all kymo's commands, such as:\n\n\tkymo record -e "
			"%s "
			"-a sleep 1\n\n",
			a.last);
	probe_events_free(&a.have);
	arena_free(&a.arena);
	probe_target_close(&t);
	return err;
}
