/* SPDX-License-Identifier: MIT */
/* The sections of one file with DWARF, its unit headers, and its abbreviation tables. */
#include "base/sort.h"
#include "sym/dwarf/int.h"

#define SECTION_MAX ((size_t)8 << 30)
#define UNITS_MAX (1u << 22)
#define ATTRS_MAX 1024 /* of one entry; real ones have about 20 */

static const char *const names[SEC_N] = {
	[SEC_INFO] = "info",	     [SEC_ABBREV] = "abbrev",	  [SEC_STR] = "str",
	[SEC_LINE] = "line",	     [SEC_LINE_STR] = "line_str", [SEC_STR_OFFSETS] = "str_offsets",
	[SEC_ADDR] = "addr",	     [SEC_RANGES] = "ranges",	  [SEC_RNGLISTS] = "rnglists",
	[SEC_ARANGES] = "aranges",   [SEC_CU_INDEX] = "cu_index", [SEC_LOC] = "loc",
	[SEC_LOCLISTS] = "loclists",
};

static void load_section(struct dwarf_file *f, enum section s)
{
	const struct elf_section *sec;
	char name[48];

	snprintf(name, sizeof(name), ".debug_%s%s", names[s],
		 f->dwo && s != SEC_CU_INDEX ? ".dwo" : "");
	sec = elf_section(f->e, name);
	if (!sec) {
		snprintf(name, sizeof(name), ".zdebug_%s", names[s]);
		sec = f->dwo ? NULL : elf_section(f->e, name);
	}
	if (!sec || elf_unpack_section(f->e, sec, SECTION_MAX, &f->sec[s], &f->len[s],
				       &f->unpacked[s]) < 0) {
		f->sec[s] = NULL;
		f->len[s] = 0;
	}
}

/* Large, and not everybody needs them: lines and their texts, and where variables lie. */
static bool is_late(enum section s)
{
	return s == SEC_LINE || s == SEC_LINE_STR || s == SEC_LOC || s == SEC_LOCLISTS;
}

/* Once: whoever may come here while others read. */
static void load_late(struct dwarf_file *f, enum section s)
{
	if (atomic_load_explicit(&f->late[s], memory_order_acquire))
		return;
	pthread_mutex_lock(&f->late_lock);
	if (!atomic_load(&f->late[s]))
		load_section(f, s);
	atomic_store_explicit(&f->late[s], true, memory_order_release);
	pthread_mutex_unlock(&f->late_lock);
}

struct bytes dwarf_bytes(struct dwarf_file *f, enum section s, uint64_t offset)
{
	struct bytes b = { .swap = f->e->swap };

	if (is_late(s))
		load_late(f, s);
	if (f->sec[s] && offset <= f->len[s]) {
		b.p = f->sec[s] + offset;
		b.end = f->sec[s] + f->len[s];
	} else {
		b.bad = true;
	}
	return b;
}

const char *dwarf_string(struct dwarf_file *f, enum section s, uint64_t offset)
{
	struct bytes b = dwarf_bytes(f, s, offset);

	return bytes_str(&b);
}

/* One unit's header; b stands behind it afterwards. False: not a unit we read. */
static bool unit_header(struct bytes *b, struct unit *u)
{
	u->version = bytes_u16(b);
	if (u->version < 2 || u->version > 5)
		return false;
	if (u->version >= 5) {
		u->type = bytes_u8(b);
		u->addr_size = bytes_u8(b);
		u->abbrev_offset = bytes_uint(b, u->offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->dwo_id = bytes_u64(b);
	} else {
		u->type = DW_UT_compile;
		u->abbrev_offset = bytes_uint(b, u->offset_size);
		u->addr_size = bytes_u8(b);
	}
	if (u->type == DW_UT_type || u->type == DW_UT_split_type)
		return false;
	return !b->bad && (u->addr_size == 4 || u->addr_size == 8);
}

static void scan_units(struct dwarf_file *f)
{
	const uint8_t *start = f->sec[SEC_INFO];
	struct bytes b = dwarf_bytes(f, SEC_INFO, 0);

	while (bytes_left(&b) > 11 && f->units.n < UNITS_MAX) {
		struct unit u = { .f = f, .offset = (uint64_t)(b.p - start) }, *kept;
		uint64_t len = dwarf_length(&b, &u.offset_size);
		struct bytes body = b;

		if (u.offset_size == 4 && len >= 0xfffffff0)
			return;
		/* A unit cut by the end of the file is used as far as it goes. */
		if (len > bytes_left(&b))
			len = bytes_left(&b);
		body.end = body.p + len;
		bytes_skip(&b, len);
		if (!unit_header(&body, &u))
			continue;
		u.die = (uint64_t)(body.p - start);
		u.end = (uint64_t)(body.end - start);
		kept = mem_dup(&u, sizeof(u));
		pthread_mutex_init(&kept->lock, NULL);
		vec_push(&f->units, kept);
	}
}

struct dwarf_file *dwarf_file_open(struct dwarf *d, const struct elf *e, bool dwo)
{
	struct dwarf_file *f = mem_alloc(sizeof(*f));

	f->d = d;
	f->e = e;
	f->dwo = dwo;
	pthread_mutex_init(&f->late_lock, NULL);
	for (int s = 0; s < SEC_N; s++)
		if (!is_late((enum section)s))
			load_section(f, (enum section)s);
	f->abbrev_budget = f->len[SEC_ABBREV] * 8 + (1u << 20);
	if (f->sec[SEC_INFO] && f->sec[SEC_ABBREV])
		scan_units(f);
	return f;
}

struct dwarf_file *dwarf_file_find(struct dwarf *d, const struct dwarf_need *need)
{
	struct dwarf_file *f;
	struct elf *e;

	if (!d->find || d->find(d->ctx, need, &e) < 0)
		return NULL;
	f = dwarf_file_open(d, e, need->part != DWARF_ALT);
	f->own = e;
	return f;
}

static void free_unit(struct unit *u)
{
	struct functions *fn = atomic_load(&u->functions);

	if (fn) {
		vec_free(&fn->list);
		free(fn->map.data);
		free(fn);
	}
	dwarf_lines_free(atomic_load(&u->lines));
	pthread_mutex_destroy(&u->lock);
	free(u);
}

void dwarf_file_close(struct dwarf_file *f)
{
	if (!f)
		return;
	vec_each (&f->units, u)
		free_unit(*u);
	vec_each (&f->abbrevs, a) {
		vec_free(&(*a)->list);
		vec_free(&(*a)->attrs);
		free(*a);
	}
	vec_free(&f->units);
	vec_free(&f->abbrevs);
	for (int s = 0; s < SEC_N; s++)
		free(f->unpacked[s]);
	elf_free(f->own);
	pthread_mutex_destroy(&f->late_lock);
	free(f);
}

struct unit *dwarf_file_unit(struct dwarf_file *f, uint64_t offset)
{
	size_t n = SORT_FIND(f->units.n, i, f->units.data[i]->offset <= offset);

	return n && offset < f->units.data[n - 1]->end ? f->units.data[n - 1] : NULL;
}

/* One abbreviation; its attributes are added to room. False at the end of the table. */
static bool parse_abbrev(struct bytes *b, const struct unit *u, struct abbrev *a,
			 struct abbrevs *room)
{
	int64_t fixed = 0;

	*a = (struct abbrev){ .code = bytes_uleb(b), .first = (uint32_t)room->attrs.n };
	if (!a->code || b->bad)
		return false;
	a->tag = (uint16_t)bytes_uleb(b);
	a->children = bytes_u8(b);
	for (;;) {
		uint64_t name = bytes_uleb(b), form = bytes_uleb(b);
		int64_t implicit = form == DW_FORM_implicit_const ? bytes_sleb(b) : 0;
		int size;

		if (b->bad || a->nattr > ATTRS_MAX)
			return false;
		if (!name && !form)
			break;
		size = dwarf_form_size(form, u);
		fixed = fixed < 0 || size < 0 ? -1 : fixed + size;
		a->nattr++;
		vec_push(&room->attrs,
			 (struct attr_spec){ (uint16_t)(name > 0xffff ? 0 : name),
					     (uint16_t)(form > 0xffff ? 0 : form), implicit });
	}
	a->fixed = (int32_t)fixed;
	return true;
}

/* Bytes parsed are charged: a bad file could make every unit parse the whole section. */
static bool charge(struct dwarf_file *f, size_t n)
{
	if (n > f->abbrev_budget) {
		f->abbrev_budget = 0;
		return false;
	}
	f->abbrev_budget -= n;
	return true;
}

static int by_code(const void *a, const void *b)
{
	const struct abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

struct abbrevs *dwarf_abbrevs(struct dwarf_file *f, const struct unit *u)
{
	struct bytes b = dwarf_bytes(f, SEC_ABBREV, u->abbrev_offset);
	const uint8_t *start = b.p;
	struct abbrevs *t;
	struct abbrev a;

	/* Units mostly come with a table each, the newest being asked for again (LTO, dwz). */
	for (size_t i = f->abbrevs.n; i-- > 0 && i + 64 > f->abbrevs.n;) {
		t = f->abbrevs.data[i];
		if (t->offset == u->abbrev_offset && t->addr_size == u->addr_size &&
		    t->offset_size == u->offset_size && t->version == u->version)
			return t;
	}
	t = mem_alloc(sizeof(*t));
	t->offset = u->abbrev_offset;
	t->addr_size = u->addr_size;
	t->offset_size = u->offset_size;
	t->version = u->version;
	t->dense = true;
	while (parse_abbrev(&b, u, &a, t)) {
		t->dense &= a.code == t->list.n + 1;
		vec_push(&t->list, a);
	}
	vec_fit(&t->list);
	vec_fit(&t->attrs);
	if (!t->dense && t->list.n)
		qsort(t->list.data, t->list.n, sizeof(*t->list.data), by_code);
	vec_push(&f->abbrevs, t);
	return charge(f, start ? (size_t)(b.p - start) : 0) ? t : NULL;
}

const struct abbrev *dwarf_abbrev(const struct abbrevs *a, uint64_t code)
{
	if (a->dense)
		return code - 1 < a->list.n ? &a->list.data[code - 1] : NULL;
	return a->list.n ? bsearch(&(struct abbrev){ .code = code }, a->list.data, a->list.n,
				   sizeof(*a->list.data), by_code)
			 : NULL;
}

bool dwarf_root_abbrev(struct dwarf_file *f, const struct unit *u, uint64_t code,
		       struct abbrev *ret, struct abbrevs *room)
{
	struct bytes b = dwarf_bytes(f, SEC_ABBREV, u->abbrev_offset);
	const uint8_t *start = b.p;
	bool found = false;

	/* Units that share a table (LTO, dwz) are better off with all of it. */
	if (f->any_root && f->last_root == u->abbrev_offset) {
		const struct abbrevs *t = dwarf_abbrevs(f, u);
		const struct abbrev *a = t ? dwarf_abbrev(t, code) : NULL;

		if (!a)
			return false;
		*ret = *a;
		ret->first = 0;
		room->attrs.n = 0;
		for (uint32_t i = 0; i < a->nattr; i++)
			vec_push(&room->attrs, t->attrs.data[a->first + i]);
		return true;
	}
	f->any_root = true;
	f->last_root = u->abbrev_offset;
	while (!found) {
		room->attrs.n = 0;
		if (!parse_abbrev(&b, u, ret, room))
			break;
		found = ret->code == code;
	}
	return charge(f, start ? (size_t)(b.p - start) : 0) && found;
}
