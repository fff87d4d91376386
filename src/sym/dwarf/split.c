/* SPDX-License-Identifier: MIT */
/*
 * Split DWARF: a skeleton in the main file, the entries in a .dwo file or in a
 * .dwp package of many, found by the unit's 64-bit id.
 */
#include "sym/dwarf/int.h"

enum {
	DW_SECT_INFO = 1,
	DW_SECT_ABBREV = 3,
	DW_SECT_LOCS = 5, /* .debug_loc, or .debug_loclists in version 5 */
	DW_SECT_STR_OFFSETS = 6,
	DW_SECT_RNGLISTS = 8, /* version 5 only */
};

/* Where a unit's parts start in the sections of a package. */
struct contribution {
	uint64_t info, abbrev, str_offsets, rnglists, locs;
};

/* The unit index: a hash table of ids, then rows of offsets, a column a section. */
static bool package_find(struct dwarf_file *f, uint64_t id, struct contribution *ret)
{
	struct bytes b = dwarf_bytes(f, SEC_CU_INDEX, 0), t;
	uint32_t version = bytes_u32(&b), columns = bytes_u32(&b), units = bytes_u32(&b),
		 slots = bytes_u32(&b), row = 0;
	const uint8_t *base = b.p;
	uint64_t mask = (uint64_t)slots - 1, at = id & mask, step = ((id >> 32) & mask) | 1;

	/* Version 5 is a 16-bit number and padding; the GNU form before it says 2. */
	if (b.bad || (version != 2 && (version & 0xffff) != 5 && version >> 16 != 5) || !slots ||
	    (slots & mask) || columns > 16)
		return false;
	for (uint32_t i = 0; i < slots && !row; i++, at = (at + step) & mask) {
		uint64_t sig;

		t = b;
		t.p = base;
		bytes_skip(&t, at * 8);
		sig = bytes_u64(&t);
		t.p = base;
		bytes_skip(&t, (uint64_t)slots * 8 + at * 4);
		row = bytes_u32(&t);
		if (t.bad || (!row && !sig))
			return false;
		if (sig != id)
			row = 0;
	}
	if (!row || row > units)
		return false;
	t = b;
	t.p = base;
	bytes_skip(&t, (uint64_t)slots * 12);
	for (uint32_t c = 0; c < columns; c++) {
		uint32_t id_of_column = bytes_u32(&t);
		struct bytes cell = b;
		uint64_t offset;

		cell.p = base;
		bytes_skip(&cell, (uint64_t)slots * 12 + ((uint64_t)row * columns + c) * 4);
		offset = bytes_u32(&cell);
		if (cell.bad || t.bad)
			return false;
		switch (id_of_column) {
		case DW_SECT_INFO: ret->info = offset; break;
		case DW_SECT_ABBREV: ret->abbrev = offset; break;
		case DW_SECT_LOCS: ret->locs = offset; break;
		case DW_SECT_STR_OFFSETS: ret->str_offsets = offset; break;
		case DW_SECT_RNGLISTS:
			if (version != 2)
				ret->rnglists = offset;
			break;
		default: break;
		}
	}
	return true;
}

/* Bases that a split unit does not spell out: its tables start behind their headers. */
static void adopt(struct unit *u, struct unit *skeleton, const struct contribution *c)
{
	unsigned wide = u->offset_size == 8;

	u->skeleton = skeleton;
	u->abbrev_offset += c->abbrev;
	u->str_base = c->str_offsets + (u->version >= 5 ? (wide ? 16 : 8) : 0);
	u->rng_base = c->rnglists + (wide ? 20 : 12);
	u->loc_base = c->locs + (u->version >= 5 ? (wide ? 20 : 12) : 0);
}

static struct unit *in_package(struct dwarf *d, struct unit *skeleton)
{
	struct contribution c = { 0 };
	struct unit *u;

	if (!d->dwp_tried) {
		AUTO_FREE char *name = mem_printf("%s.dwp", d->main->e->path);

		d->dwp_tried = true;
		d->dwp = dwarf_file_find(d, &(struct dwarf_need){ DWARF_DWP, .name = name });
	}
	if (!d->dwp || !package_find(d->dwp, skeleton->dwo_id, &c))
		return NULL;
	u = dwarf_file_unit(d->dwp, c.info);
	if (!u || u->offset != c.info || u->skeleton)
		return NULL;
	adopt(u, skeleton, &c);
	return u;
}

/* DWARF 4 keeps the id in an attribute, which only a prepared unit knows; take the only unit. */
static struct unit *in_dwo(struct dwarf *d, struct unit *skeleton)
{
	struct dwarf_need need = { .part = DWARF_DWO,
				   .name = skeleton->dwo_name,
				   .dir = skeleton->comp_dir ? skeleton->comp_dir : "" };
	const struct contribution none = { 0 };
	struct dwarf_file *f = dwarf_file_find(d, &need);

	if (!f)
		return NULL;
	vec_push(&d->dwos, f);
	vec_each (&f->units, u) {
		if ((*u)->version >= 5 && (*u)->dwo_id != skeleton->dwo_id)
			continue;
		adopt(*u, skeleton, &none);
		return *u;
	}
	return NULL;
}

const char *dwarf_missing(struct dwarf *d)
{
	struct dwarf_need need;

	if (!d->alt && elf_debugaltlink(d->main->e, &need.name, &need.id))
		return need.name;
	/* of split units the first tells: others lie where it lies */
	vec_each (&d->main->units, u)
		if (dwarf_unit_prepare(*u) && (*u)->dwo_name)
			return dwarf_split_unit(*u) ? NULL : (*u)->dwo_name;
	return NULL;
}

struct unit *dwarf_split_unit(struct unit *u)
{
	struct dwarf *d = u->f->d;
	struct unit *found = NULL;

	if (!dwarf_unit_prepare(u) || !u->dwo_name)
		return u;
	pthread_mutex_lock(&u->lock);
	if (!u->split_tried) {
		pthread_mutex_lock(&d->lock);
		found = in_package(d, u);
		if (!found)
			found = in_dwo(d, u);
		pthread_mutex_unlock(&d->lock);
		u->split = found;
		u->split_tried = true;
	}
	found = u->split;
	pthread_mutex_unlock(&u->lock);
	/* A stale .dwo of another build must not give wrong names. */
	if (found && dwarf_unit_prepare(found) && found->dwo_id != u->dwo_id)
		found = NULL;
	if (!found)
		atomic_store_explicit(&d->lacks, true, memory_order_relaxed);
	return found;
}
