/* SPDX-License-Identifier: MIT */
/*
 * The static probes (USDT) of the programs in the build-id cache, which is where perf looks for
 * them too. They come from the files' own notes, not from the lists perf puts beside some.
 */
#include <sys/stat.h>

#include "base/vec.h"
#include "cmd/front/list.h"
#include "sym/elf/usdt.h"
#include "sym/find/debugdir.h"

struct found {
	char *name; /* "sdt_libc:setjmp" */
	char *path;
	char id[BUILD_ID_TEXT];
};

struct search {
	const struct list *l;
	int dir;
	VEC(struct found) found;
	struct arena texts;
	const char *path; /* of the file that is being read */
	const struct build_id *id;
};

static int note_probe(void *ctx, const struct usdt_probe *p)
{
	struct search *s = ctx;
	AUTO_FREE char *name = mem_printf("sdt_%s:%s", p->provider, p->name);
	struct found f;

	/* one probe may be at many places of a file, and they follow each other */
	for (size_t i = s->found.n; i-- > 0 && strcmp(s->found.data[i].path, s->path) == 0;)
		if (strcmp(s->found.data[i].name, name) == 0)
			return 0;
	if (!list_matches_name(s->l, name))
		return 0;
	f = (struct found){ .name = arena_strdup(&s->texts, name),
			    .path = arena_strdup(&s->texts, s->path) };
	build_id_text(s->id, f.id);
	vec_push(&s->found, f);
	return 0;
}

/* perf leaves an empty list beside files that have none: one look instead of opening the file. */
static bool has_none(int dir, const struct build_id *id)
{
	char text[BUILD_ID_TEXT];
	AUTO_FREE char *path = NULL;
	struct stat st;

	build_id_text(id, text);
	path = mem_printf(".build-id/%.2s/%s/probes", text, text + 2);
	return fstatat(dir, path, &st, 0) == 0 && S_ISREG(st.st_mode) && !st.st_size;
}

static int note_file(void *ctx, const struct build_id *id, const char *path)
{
	struct search *s = ctx;
	struct err e = { 0 };
	struct elf *elf = NULL;
	int fd;

	if (has_none(s->dir, id))
		return 0;
	fd = debugdir_file(s->dir, id, "elf");
	if (fd < 0 || elf_open_fd(fd, path, &elf, &e) < 0)
		return 0;
	s->path = path;
	s->id = id;
	usdt_each(elf, note_probe, s);
	elf_free(elf);
	return 0;
}

static int list_sdt_by_name(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : strcmp(x->id, y->id);
}

/* A name that several files have is told with the file, as perf does. */
static void list_sdt_show(struct list *l, const struct search *s, size_t i)
{
	const struct found *f = &s->found.data[i];
	bool shared = (i && strcmp(f[-1].name, f->name) == 0) ||
		      (i + 1 < s->found.n && strcmp(f[1].name, f->name) == 0);
	AUTO_FREE char *file = mem_printf("@%s(%.12s)", f->path, f->id);
	AUTO_FREE char *about =
		mem_printf("kymo probe -x %s %%%s makes it a probe", f->path, f->name);

	list_show(l, &(struct list_entry){ .name = f->name,
					   .where = shared || l->style == LIST_JSON ? file : NULL,
					   .kind = "SDT event",
					   .about = about });
}

void list_sdt(struct list *l)
{
	struct err e = { 0 };
	struct search s = { .l = l, .dir = debugdir_open(NULL, false, &e) };

	if (s.dir < 0)
		return;
	debugdir_each(s.dir, note_file, &s);
	close(s.dir);
	if (s.found.n)
		qsort(s.found.data, s.found.n, sizeof(*s.found.data), list_sdt_by_name);
	for (size_t i = 0; i < s.found.n; i++)
		list_sdt_show(l, &s, i);
	vec_free(&s.found);
	arena_free(&s.texts);
}
