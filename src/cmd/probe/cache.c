/* SPDX-License-Identifier: MIT */
/*
 * kymo probe --cache: definitions that are kept beside files in the build-id cache, as perf
 * keeps them. They serve again without debug info, under their names as %NAME.
 */
#include <string.h>

#include "cmd/command.h"
#include "cmd/probe/probe.h"
#include "sym/find/debugdir.h"

/* --- listing and removing --- */

struct walk {
	const struct probe_opts *o; /* of removing; NULL: they are listed */
	const char *pattern;	    /* NULL: all */
	int dir;
	unsigned n;
	struct err *e;
};

/* By its name, or all of its text as perf compares it. */
static bool probe_cache_wanted(const struct kept_probe *k, const char *pattern)
{
	const char *colon = pattern ? strchr(pattern, ':') : NULL;
	AUTO_FREE char *group = colon ? mem_strndup(pattern, (size_t)(colon - pattern)) : NULL;

	return !pattern || probe_filter(pattern, k->spec) ||
	       probe_kept_named(k, group, colon ? colon + 1 : pattern);
}

/* Lists what is wanted of a file, or with options removes it. */
static int walk_file(void *ctx, const struct build_id *id, const char *path)
{
	struct walk *w = ctx;
	struct kept_probes kept;
	char text[BUILD_ID_TEXT];
	unsigned before = w->n;
	int r = 0;

	if (kept_probes_read(w->dir, id, &kept) < 0)
		return 0;
	for (size_t i = 0; i < kept.list.n;) {
		const struct kept_probe *k = &kept.list.data[i];

		if (!probe_cache_wanted(k, w->pattern)) {
			i++;
			continue;
		}
		if (!w->o && w->n == before)
			printf("%s (%s):\n", path, build_id_text(id, text));
		if (!w->o)
			puts(k->spec);
		else if (!w->o->quiet)
			fprintf(stderr, "Removed cached event: %s\n", k->spec);
		if (w->o)
			kept_probes_remove(&kept, i);
		else
			i++;
		w->n++;
	}
	if (w->o && w->n > before && !w->o->dry_run)
		r = kept_probes_write(w->dir, path, id, &kept, w->e);
	kept_probes_free(&kept);
	return r;
}

int probe_cache_list(const char *filter, struct err *e)
{
	struct walk w = { .pattern = filter, .dir = debugdir_open(NULL, false, NULL), .e = e };

	if (w.dir < 0) /* nobody has kept anything yet */
		return 0;
	debugdir_each(w.dir, walk_file, &w);
	close(w.dir);
	return 0;
}

int probe_cache_remove(const struct probe_opts *o, const char *pattern, struct err *e)
{
	struct walk w = {
		.o = o, .pattern = pattern, .dir = debugdir_open(NULL, false, e), .e = e
	};
	int r;

	if (w.dir < 0)
		return w.dir;
	r = debugdir_each(w.dir, walk_file, &w);
	close(w.dir);
	if (r < 0 || w.n)
		return r;
	err_set(e, ENOENT, "no kept probe is called %s", pattern);
	return err_hint(e, "kymo probe -l --cache lists them");
}

/* --- keeping and finding --- */

/* The file itself is kept, too, with its static probes: else nobody would know whose they are. */
static int keep_file(int dir, const struct probe_target *t, const struct build_id *id,
		     struct kept_probes *kept, struct err *e)
{
	int r;

	if (!t->user || debugdir_has(dir, id, "probes"))
		return 0;
	r = debugdir_add(dir, t->path, id, "elf", t->elf->fd, true, e);
	if (r >= 0)
		kept_probes_scan(kept, t->elf, t->path);
	return r < 0 ? r : 0;
}

int probe_cache_keep(const struct probe_target *t, const struct kept_probe *p, struct err *e)
{
	struct kept_probes kept = { 0 };
	struct kept_probe *mine;
	struct build_id id;
	AUTO_CLOSE int dir = -1;
	int r;

	if (!probe_kept_id(t, &id))
		return err_set(e, EINVAL, "%s cannot be kept: %s", p->spec,
			       t->user ? "its file has no build-id" : "only the kernel's own can");
	dir = debugdir_open(NULL, true, e);
	if (dir < 0)
		return dir;
	kept_probes_read(dir, &id, &kept);
	r = keep_file(dir, t, &id, &kept, e);
	if (r == 0) {
		mine = kept_probes_add(&kept, p->spec, false);
		vec_each (&p->defs, d)
			vec_push(&mine->defs, mem_strdup(*d));
		r = kept_probes_write(dir, probe_kept_path(t), &id, &kept, e);
	}
	kept_probes_free(&kept);
	return r;
}

static bool read_of(const struct probe_target *t, struct kept_probes *ret)
{
	struct err none = { 0 };
	struct build_id id;
	AUTO_CLOSE int dir = probe_kept_id(t, &id) ? debugdir_open(NULL, false, &none) : -1;

	return dir >= 0 && kept_probes_read(dir, &id, ret) == 0;
}

/* "hot=parse:14" was kept as "probe_app:hot=parse:14". */
static bool same_text(const struct kept_probe *k, const struct probe_text *p)
{
	const char *spec = k->spec, *colon = strchr(spec, ':');

	return strcmp(spec, p->text) == 0 ||
	       (p->event && !p->group && colon && strcmp(colon + 1, p->text) == 0);
}

bool probe_cache_find(const struct probe_target *t, const struct probe_text *p, struct arena *a,
		      struct probe_defs *ret)
{
	struct kept_probes kept;

	if (!read_of(t, &kept))
		return false;
	vec_each (&kept.list, k)
		if (!k->is_static && same_text(k, p)) {
			probe_kept_define(k, t, a, ret);
			break;
		}
	kept_probes_free(&kept);
	return ret->list.n;
}

void probe_cache_named(const struct probe_target *t, const struct probe_text *p, struct arena *a,
		       struct probe_defs *ret)
{
	struct kept_probes kept;

	if (p->args.n || !read_of(t, &kept))
		return;
	/* static ones are read from the file itself, which knows them better */
	vec_each (&kept.list, k)
		if (!k->is_static && probe_kept_named(k, p->file, p->function))
			probe_kept_define(k, t, a, ret);
	vec_each (&ret->list, d) {
		d->event = p->event ? p->event : d->event;
		d->group = p->group ? p->group : d->group;
	}
	kept_probes_free(&kept);
}

/* --- files --- */

struct files {
	probe_cache_fn *fn;
	void *ctx;
};

/* One that was replaced since is another file. */
static int same_file(void *ctx, const struct build_id *id, const char *path)
{
	struct files *f = ctx;
	struct err none = { 0 };
	struct elf *elf = NULL;
	bool same;

	if (*path != '/' || elf_open_path(path, &elf, &none) < 0)
		return 0;
	same = build_id_same(&elf->build_id, id);
	elf_free(elf);
	return same ? f->fn(f->ctx, path) : 0;
}

int probe_cache_files(probe_cache_fn *fn, void *ctx)
{
	struct err none = { 0 };
	AUTO_CLOSE int dir = debugdir_open(NULL, false, &none);

	return dir < 0 ? 0 : debugdir_each(dir, same_file, &(struct files){ fn, ctx });
}
