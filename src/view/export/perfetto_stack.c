/* SPDX-License-Identifier: MIT */
/* Stacks by number: frames, mappings and names are said once in a sequence, before they are used.
 */
#include <string.h>

#include "view/export/perfetto.h"

/* Of InternedData. */
enum {
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_SOURCE = 18,
	INTERNED_MAPPING = 19,
};
enum { STRING_IID = 1, STRING_STR };
enum {
	MAPPING_IID = 1,
	MAPPING_BUILD_ID,
	MAPPING_START_OFFSET,
	MAPPING_START,
	MAPPING_END,
	MAPPING_PATH = 7,
	MAPPING_EXACT_OFFSET,
};
enum { FRAME_IID = 1, FRAME_FUNCTION, FRAME_MAPPING, FRAME_PC, FRAME_SOURCE, FRAME_LINE };
enum { STACK_IID = 1, STACK_FRAME };

bool perfetto_is_new(struct perfetto_seq *s, unsigned kind, uint64_t number)
{
	uint64_t *at = map_at(&s->said, (uint64_t)kind << 56 | number);
	bool is_new = !*at;

	*at = 1;
	return is_new;
}

uint64_t perfetto_string(struct perfetto *p, struct perfetto_seq *s, unsigned kind, unsigned field,
			 const char *text)
{
	uint64_t iid = (uint64_t)strtab_add(&p->strings, text) + 1;

	if (perfetto_is_new(s, kind, iid)) {
		size_t m = pb_begin(&p->b, field);

		pb_uint(&p->b, STRING_IID, iid);
		pb_str(&p->b, STRING_STR, text);
		pb_end(&p->b, m);
	}
	return iid;
}

/* The same mapping in several processes is one; those without any share number 1. */
static uint64_t mapping_number(struct perfetto *p, uint32_t site)
{
	const struct task_map *m = p->x->names->sites.data[site].map;
	uint64_t key =
		m ? map_hash(m->start) ^ map_hash(m->end * 3) ^ map_hash(m->pgoff * 5 + m->dso) : 0;
	uint64_t *at = map_at(&p->mapping_index, key);

	if (!*at) {
		vec_push(&p->mapping_site, site);
		*at = p->mapping_site.n;
	}
	return *at;
}

static uint64_t say_mapping(struct perfetto *p, struct perfetto_seq *s, uint32_t site)
{
	const struct name_site *at = &p->x->names->sites.data[site];
	uint64_t iid = mapping_number(p, site), path, build_id;
	char hex[41];
	size_t m;

	if (!perfetto_is_new(s, SAID_MAPPING, iid))
		return iid;
	/* parts of a path are joined with slashes before them */
	path = perfetto_string(p, s, SAID_PATH, INTERNED_PATH,
			       names_path(p->x->names, at->dso) +
				       (names_path(p->x->names, at->dso)[0] == '/'));
	build_id = perfetto_string(p, s, SAID_BUILD_ID, INTERNED_BUILD_ID,
				   export_build_id(p->x, at->map, hex));
	m = pb_begin(&p->b, INTERNED_MAPPING);
	pb_uint(&p->b, MAPPING_IID, iid);
	pb_uint(&p->b, MAPPING_BUILD_ID, build_id);
	if (at->map) {
		pb_uint(&p->b, MAPPING_EXACT_OFFSET, at->map->pgoff);
		pb_uint(&p->b, MAPPING_START_OFFSET, 0);
		pb_uint(&p->b, MAPPING_START, at->map->start);
		pb_uint(&p->b, MAPPING_END, at->map->end);
	}
	pb_uint(&p->b, MAPPING_PATH, path);
	pb_end(&p->b, m);
	return iid;
}

static uint64_t pc_of(const struct name_site *s)
{
	if (!s->map)
		return s->addr - s->caller;
	if (s->mode == EVENT_MODE_KERNEL)
		return s->addr - s->caller - s->map->start;
	if (s->sym && s->sym->vaddr != UINT64_MAX)
		return s->sym->vaddr;
	return s->addr - s->caller - s->map->start + s->map->pgoff;
}

static void say_frame(struct perfetto *p, struct perfetto_seq *s, uint32_t site)
{
	const struct name_site *at = &p->x->names->sites.data[site];
	uint64_t iid = (uint64_t)site + 1, function, mapping, source = 0;
	const char *file;
	uint32_t line = 0;
	char buf[32];
	size_t m;

	if (!perfetto_is_new(s, SAID_FRAME, iid))
		return;
	function = perfetto_string(p, s, SAID_FUNCTION, INTERNED_FUNCTION,
				   export_function(p->x, site, buf));
	mapping = say_mapping(p, s, site);
	if (names_line(p->x->names, at, &file, &line))
		source = perfetto_string(p, s, SAID_SOURCE, INTERNED_SOURCE, file);
	m = pb_begin(&p->b, INTERNED_FRAME);
	pb_uint(&p->b, FRAME_IID, iid);
	pb_uint(&p->b, FRAME_FUNCTION, function);
	pb_uint(&p->b, FRAME_MAPPING, mapping);
	pb_uint(&p->b, FRAME_PC, pc_of(at));
	if (source) {
		pb_uint(&p->b, FRAME_SOURCE, source);
		pb_uint(&p->b, FRAME_LINE, line);
	}
	pb_end(&p->b, m);
}

uint64_t perfetto_stack(struct perfetto *p, struct perfetto_seq *s, uint32_t entry)
{
	uint32_t chain = p->x->profile->entries.data[entry].chain, n, buf[EXPORT_INLINES];
	uint64_t iid = chain == PROFILE_NO_CHAIN
			       ? p->x->profile->chains.n + 1 + p->x->names->entry_site[entry]
			       : (uint64_t)chain + 1;
	const uint32_t *sites;
	size_t m;

	n = export_stack(p->x, entry, &sites, buf);
	if (!n)
		return 0;
	if (!perfetto_is_new(s, SAID_STACK, iid))
		return iid;
	for (uint32_t i = 0; i < n; i++)
		say_frame(p, s, sites[i]);
	m = pb_begin(&p->b, INTERNED_STACK);
	pb_uint(&p->b, STACK_IID, iid);
	while (n-- > 0) /* outermost first */
		pb_uint(&p->b, STACK_FRAME, (uint64_t)sites[n] + 1);
	pb_end(&p->b, m);
	return iid;
}
