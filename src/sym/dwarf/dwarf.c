/* SPDX-License-Identifier: MIT */
#include "sym/dwarf/dwarf.h"

#include "sym/dwarf/int.h"

static uint64_t lowest_code(const struct elf *e)
{
	uint64_t low = UINT64_MAX;

	for (size_t i = 0; i < e->nsegment; i++)
		if (elf_executed(&e->segment[i]) && e->segment[i].vaddr < low)
			low = e->segment[i].vaddr;
	return low == UINT64_MAX ? 0 : low;
}

static void open_alt(struct dwarf *d)
{
	struct dwarf_need need = { .part = DWARF_ALT };

	if (!elf_debugaltlink(d->main->e, &need.name, &need.id))
		return;
	d->alt = dwarf_file_find(d, &need);
	if (!d->alt)
		atomic_store(&d->lacks, true);
}

int dwarf_open(const struct elf *e, dwarf_find_fn *find, void *ctx, struct dwarf **ret,
	       struct err *err)
{
	struct dwarf *d;

	if (!elf_section(e, ".debug_info") && !elf_section(e, ".zdebug_info"))
		return err_set(err, ENOENT, "%s has no debug info", e->path);
	d = mem_alloc(sizeof(*d));
	d->find = find;
	d->ctx = ctx;
	d->min_addr = lowest_code(e);
	pthread_mutex_init(&d->lock, NULL);
	d->main = dwarf_file_open(d, e, false);
	if (!d->main->units.n) {
		dwarf_close(d);
		return err_set(err, ENOENT, "%s has no debug info that can be read", e->path);
	}
	open_alt(d);
	dwarf_map_units(d);
	*ret = d;
	return 0;
}

bool dwarf_lacks(const struct dwarf *d)
{
	return atomic_load(&d->lacks);
}

void dwarf_close(struct dwarf *d)
{
	if (!d)
		return;
	vec_each (&d->dwos, f)
		dwarf_file_close(*f);
	vec_free(&d->dwos);
	dwarf_file_close(d->dwp);
	dwarf_file_close(d->alt);
	dwarf_file_close(d->main);
	free(d->map.data);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static const char *function_name(struct unit *u, struct function *f)
{
	const char *name = atomic_load_explicit(&f->name, memory_order_relaxed);

	if (!name) {
		name = dwarf_function_name(u, f->die);
		atomic_store_explicit(&f->name, name ? name : "", memory_order_relaxed);
	}
	return name && *name ? name : NULL;
}

unsigned dwarf_lookup(struct dwarf *d, uint64_t vaddr, bool with_lines, struct dwarf_frame *frames,
		      unsigned max)
{
	uint32_t at = segments_find(&d->map, vaddr), fn = 0;
	struct dwarf_frame here = { 0 };
	struct unit *u, *body;
	struct functions *functions;
	struct lines *lines;
	const struct line_row *row;
	unsigned n = 0;

	if (!at || !max)
		return 0;
	u = d->main->units.data[at - 1];
	lines = with_lines ? dwarf_lines(u) : NULL;
	row = lines ? dwarf_line_at(lines, vaddr) : NULL;
	if (row) {
		here.file = dwarf_line_file(lines, row->file);
		here.line = row->line;
	}
	body = dwarf_split_unit(u);
	functions = body ? dwarf_functions(body) : NULL;
	if (functions)
		fn = segments_find(&functions->map, vaddr);
	/* Parents stand before their children, so this ends. */
	while (fn && n < max) {
		struct function *f = &functions->list.data[fn - 1];

		here.name = function_name(body, f);
		frames[n++] = here;
		here.file = lines ? dwarf_line_file(lines, f->call_file) : NULL;
		here.line = with_lines ? f->call_line : 0;
		fn = f->parent;
	}
	if (n == 0 && row)
		frames[n++] = here;
	return n;
}

void dwarf_span(struct dwarf *d, uint64_t vaddr, uint64_t *lo, uint64_t *hi)
{
	uint32_t at = segments_span(&d->map, vaddr, lo, hi);
	struct unit *body = at ? dwarf_split_unit(d->main->units.data[at - 1]) : NULL;
	struct functions *functions = body ? dwarf_functions(body) : NULL;

	if (functions)
		segments_span(&functions->map, vaddr, lo, hi);
}
