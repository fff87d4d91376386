/* SPDX-License-Identifier: MIT */
/* From addresses to units, and within a unit to its functions and inlined calls. */
#include "base/map.h"
#include "sym/dwarf/int.h"

struct collect {
	const struct dwarf *d;
	VEC(struct interval) list;
	uint32_t value;
	size_t budget; /* lists that are shared by many entries must not multiply without end */
};

static bool collect_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct collect *c = ctx;

	if (c->budget == 0)
		return false;
	c->budget--;
	/* What the linker threw away stands at 0 or at the end of the world. */
	if (lo < hi && lo && lo >= c->d->min_addr)
		vec_push(&c->list, (struct interval){ lo, hi, c->value });
	return true;
}

/* .debug_aranges: which units it speaks of is marked, the others must be asked themselves. */
static void read_aranges(struct dwarf *d, struct collect *c, bool *covered)
{
	struct dwarf_file *f = d->main;
	struct bytes b = dwarf_bytes(f, SEC_ARANGES, 0);
	struct map units = { 0 };

	for (size_t i = 0; i < f->units.n; i++)
		*map_at(&units, f->units.data[i]->offset) = i + 1;
	while (bytes_left(&b) > 12) {
		const uint8_t *start = b.p;
		uint8_t osize;
		uint64_t len = dwarf_length(&b, &osize), offset, *unit;
		struct bytes set = b;
		unsigned asize, seg;

		if (len > bytes_left(&b))
			break;
		set.end = set.p + len;
		bytes_skip(&b, len);
		bytes_u16(&set);
		offset = bytes_uint(&set, osize);
		asize = bytes_u8(&set);
		seg = bytes_u8(&set);
		unit = map_find(&units, offset);
		if (set.bad || seg || (asize != 4 && asize != 8) || !unit)
			continue;
		covered[*unit - 1] = true;
		c->value = (uint32_t)(f->units.n - (*unit - 1));
		/* Pairs are aligned to their own size from the start of the set. */
		bytes_skip(&set, -(uint64_t)(set.p - start) & (2 * asize - 1));
		while (bytes_left(&set) >= 2 * asize) {
			uint64_t lo = bytes_uint(&set, asize), n = bytes_uint(&set, asize);

			if (n)
				collect_range(c, lo, lo + n);
		}
	}
	map_free(&units);
}

/* Where units overlap the first one wins, as in other tools: values count down. */
void dwarf_map_units(struct dwarf *d)
{
	struct dwarf_file *f = d->main;
	struct collect c = { .d = d };
	struct abbrevs room = { 0 };
	AUTO_FREE bool *covered = mem_alloc(f->units.n * sizeof(*covered));

	c.budget = (1u << 16) + f->len[SEC_INFO] + f->len[SEC_ARANGES] + f->len[SEC_RANGES] +
		   f->len[SEC_RNGLISTS];
	if (f->sec[SEC_ARANGES])
		read_aranges(d, &c, covered);
	for (size_t i = 0; i < f->units.n; i++) {
		c.value = (uint32_t)(f->units.n - i);
		if (!covered[i])
			dwarf_unit_ranges(f->units.data[i], &room, collect_range, &c);
	}
	d->map = segments_flatten(c.list.data, c.list.n);
	/* back to 1 + index */
	for (size_t i = 0; i < d->map.n; i++)
		if (d->map.data[i].value)
			d->map.data[i].value = (uint32_t)f->units.n - d->map.data[i].value + 1;
	vec_free(&c.list);
	vec_free(&room.attrs);
}

struct walk {
	struct unit *u;
	struct bytes b;
	struct functions *out;
	struct collect c;
	/* By depth of nesting: 1 + the function that an entry there belongs to. */
	VEC(uint32_t) owner;
};

static bool is_type(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_array_type:
	case DW_TAG_class_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_structure_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_union_type: return true;
	default: return false;
	}
}

/* Types have no code; where the compiler says how far they reach, step over them. */
static bool skip_type(struct walk *w, const struct abbrev *a)
{
	const uint8_t *info = w->u->f->sec[SEC_INFO], *to = NULL;

	for (uint32_t i = 0; i < a->nattr && !w->b.bad; i++) {
		const struct attr_spec *spec = &w->u->abbrevs->attrs.data[a->first + i];

		if (spec->name == DW_AT_sibling && !to) {
			struct value v = dwarf_value(&w->b, w->u, spec);

			if (v.kind == VALUE_REF && v.f == w->u->f && v.v <= w->u->end)
				to = info + v.v;
		} else {
			dwarf_skip(&w->b, w->u, spec->form);
		}
	}
	/* Only forwards: a bad file must not make this a loop. */
	if (!a->children || !to || to < w->b.p)
		return false;
	w->b.p = to;
	return true;
}

static bool has_place(const struct walk *w, const struct value *entry)
{
	uint64_t addr;

	return dwarf_value_addr(w->u, entry, &addr) && addr && addr >= w->c.d->min_addr;
}

/* A function or an inlined call. Returns the owner of what is inside. */
static uint32_t dwarf_index_add_function(struct walk *w, const struct abbrev *a, uint64_t die,
					 uint32_t owner)
{
	struct function fn = { .die = die, .call_file = CALL_FILE_NONE };
	struct pc_attrs pc = { 0 };
	struct value entry = { 0 };
	size_t before = w->c.list.n;

	for (uint32_t i = 0; i < a->nattr && !w->b.bad; i++) {
		const struct attr_spec *spec = &w->u->abbrevs->attrs.data[a->first + i];

		switch (spec->name) {
		case DW_AT_low_pc: pc.low = dwarf_value(&w->b, w->u, spec); break;
		case DW_AT_high_pc: pc.high = dwarf_value(&w->b, w->u, spec); break;
		case DW_AT_entry_pc: entry = dwarf_value(&w->b, w->u, spec); break;
		case DW_AT_ranges: pc.ranges = dwarf_value(&w->b, w->u, spec); break;
		case DW_AT_call_file:
			fn.call_file = (uint32_t)dwarf_value(&w->b, w->u, spec).v;
			break;
		case DW_AT_call_line:
			fn.call_line = (uint32_t)dwarf_value(&w->b, w->u, spec).v;
			break;
		default: dwarf_skip(&w->b, w->u, spec->form);
		}
	}
	if (w->b.bad)
		return owner;
	w->c.value = (uint32_t)w->out->list.n + 1;
	dwarf_ranges(w->u, &pc, collect_range, &w->c);
	/* An inlined call may have no code left and still a place where it was; none is looked up
	 * there, but probes can be put there. */
	if (w->c.list.n == before &&
	    (a->tag == DW_TAG_subprogram || !owner || !has_place(w, &entry)))
		return a->tag == DW_TAG_subprogram ? 0 : owner;
	if (a->tag == DW_TAG_inlined_subroutine)
		fn.parent = owner;
	vec_push(&w->out->list, fn);
	return (uint32_t)w->out->list.n;
}

static void walk_unit(struct walk *w)
{
	const uint8_t *info = w->u->f->sec[SEC_INFO];
	uint32_t owner = 0;

	while (w->b.p < w->b.end && !w->b.bad) {
		uint64_t die = (uint64_t)(w->b.p - info);
		uint64_t code = bytes_uleb(&w->b);
		const struct abbrev *a;
		uint32_t inside = owner;

		if (!code) {
			if (!w->owner.n)
				return;
			owner = w->owner.data[--w->owner.n];
			continue;
		}
		a = dwarf_abbrev(w->u->abbrevs, code);
		if (!a)
			return;
		if (a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine) {
			inside = dwarf_index_add_function(w, a, die, owner);
		} else if (a->children && is_type(a->tag)) {
			if (skip_type(w, a))
				continue;
		} else {
			dwarf_skip_all(&w->b, w->u, a);
		}
		if (a->children) {
			vec_push(&w->owner, owner);
			owner = inside;
		}
	}
}

static struct functions *make_functions(struct unit *u)
{
	const struct dwarf_file *addrs = u->skeleton ? u->skeleton->f : u->f;
	struct walk w = { .u = u, .out = mem_alloc(sizeof(struct functions)), .c.d = u->f->d };

	w.b = dwarf_bytes(u->f, SEC_INFO, u->die);
	w.b.end = u->f->sec[SEC_INFO] + u->end;
	w.c.budget = (1u << 16) + (size_t)(u->end - u->offset) + addrs->len[SEC_RANGES] +
		     u->f->len[SEC_RNGLISTS];
	walk_unit(&w);
	w.out->map = segments_flatten(w.c.list.data, w.c.list.n);
	vec_free(&w.c.list);
	vec_free(&w.owner);
	return w.out;
}

struct functions *dwarf_functions(struct unit *u)
{
	struct functions *f = atomic_load_explicit(&u->functions, memory_order_acquire);

	if (f || !dwarf_unit_prepare(u))
		return f;
	pthread_mutex_lock(&u->lock);
	f = atomic_load(&u->functions);
	if (!f) {
		f = make_functions(u);
		atomic_store_explicit(&u->functions, f, memory_order_release);
	}
	pthread_mutex_unlock(&u->lock);
	return f;
}
