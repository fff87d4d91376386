/* SPDX-License-Identifier: MIT */
#include "sym/find.h"

#include <limits.h>

#include "base/mem.h"
#include "base/str.h"

/* Open a candidate and compare build-ids. 0, or why it will not do. */
static int candidate(const char *path, const struct build_id *id, struct elf **ret,
		     struct find_stats *st)
{
	struct elf *e;
	int r = elf_open_path(path, &e, NULL);

	if (r < 0)
		return r;
	if (id->len && !build_id_match(&e->build_id, id)) {
		st->mismatched++;
		elf_free(e);
		return -ESTALE;
	}
	*ret = e;
	return 0;
}

int find_file(const struct find_opts *o, const struct find_want *w, struct elf **ret,
	      struct find_stats *st, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s%s", o->symfs ? o->symfs : "", w->path);
	size_t n = strlen(path);
	int r;

	if (str_ends(path, " (deleted)"))
		path[n - strlen(" (deleted)")] = 0;
	r = candidate(path, &w->id, ret, st);
	if (r == -ESTALE)
		return err_set(e, ESTALE, "%s is of another build", path);
	return r < 0 ? err_set(e, -r, "cannot open %s: %s", path, strerror(-r)) : 0;
}

int find_debug(const struct find_opts *o, const struct find_want *w, const struct elf *file,
	       struct elf **ret, struct find_stats *st, struct err *e)
{
	const struct build_id *id = file && file->build_id.len ? &file->build_id : &w->id;
	char text[BUILD_ID_TEXT], path[PATH_MAX];

	if (o->no_debug_files || id->len < 2)
		return err_set(e, ENOENT, "no debug file for %s", w->path);
	build_id_text(id, text);
	snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%.2s/%s.debug",
		 o->symfs ? o->symfs : "", text, text + 2);
	return candidate(path, id, ret, st) < 0
		       ? err_set(e, ENOENT, "no debug file for %s", w->path)
		       : 0;
}

int find_part(const struct find_opts *o, const struct elf *e, const struct dwarf_need *need,
	      struct elf **ret, struct find_stats *st)
{
	const char *slash = strrchr(e->path, '/'), *root = o->symfs ? o->symfs : "";
	int here = slash ? (int)(slash - e->path) : 1;
	AUTO_FREE char *path = NULL, *beside = NULL;
	const char *base;
	int r;

	if (need->name[0] == '/')
		path = mem_printf("%s%s", need->part == DWARF_DWP ? "" : root, need->name);
	else if (need->part == DWARF_DWO)
		path = mem_printf("%s%s/%s", root, need->dir, need->name);
	else
		path = mem_printf("%.*s/%s", here, slash ? e->path : ".", need->name);
	r = candidate(path, &need->id, ret, st);
	if (r == 0 || need->part == DWARF_DWP)
		return r;
	/* moved together with the file */
	base = strrchr(need->name, '/');
	beside = mem_printf("%.*s/%s", here, slash ? e->path : ".", base ? base + 1 : need->name);
	return candidate(beside, &need->id, ret, st);
}
