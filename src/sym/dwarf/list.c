/* SPDX-License-Identifier: MIT */
/*
 * Lists of address ranges, and of locations, which are the same with an expression behind each
 * range. Before version 5 they are pairs of addresses, from then on entries with a code.
 */
#include "sym/dwarf/int.h"

/* Codes of location lists; range lists have no DEFAULT, and what follows it is one less. */
enum {
	END,
	BASEX,
	STARTX_ENDX,
	STARTX_LEN,
	OFFSET_PAIR,
	DEFAULT,
	BASE,
	START_END,
	START_LEN,
	VIEW
};

static struct bytes coded(const struct dwarf_list *l, uint64_t offset)
{
	return dwarf_bytes(l->u->f, l->locations ? SEC_LOCLISTS : SEC_RNGLISTS, offset);
}

void dwarf_list_open(struct dwarf_list *l, struct unit *u, const struct value *v, bool locations)
{
	const struct unit *owner = u->skeleton ? u->skeleton : u;
	uint64_t list_base = locations ? u->loc_base : u->rng_base, offset = v->v;

	*l = (struct dwarf_list){ .u = u, .locations = locations, .base = owner->low_pc };
	if (u->version < 5 && locations) {
		l->b = dwarf_bytes(u->f, SEC_LOC, offset + (u->skeleton ? list_base : 0));
	} else if (u->version < 5) {
		/* they stay with the program when the rest is split off */
		l->b = dwarf_bytes(owner->f, SEC_RANGES,
				   offset + (u->skeleton ? owner->gnu_ranges_base : 0));
	} else if (v->kind == VALUE_RNGX || v->kind == VALUE_LOCX) {
		l->b = coded(l, list_base);
		if (offset > UINT32_MAX)
			bytes_fail(&l->b);
		bytes_skip(&l->b, offset * u->offset_size);
		offset = bytes_uint(&l->b, u->offset_size);
		if (!l->b.bad)
			l->b = coded(l, list_base + offset);
	} else {
		l->b = coded(l, offset);
	}
}

static bool next_pair(struct dwarf_list *l, uint64_t *lo, uint64_t *hi)
{
	unsigned size = l->u->addr_size;
	uint64_t max = size == 4 ? UINT32_MAX : UINT64_MAX;

	for (;;) {
		*lo = bytes_uint(&l->b, size);
		*hi = bytes_uint(&l->b, size);
		if (l->b.bad || (!*lo && !*hi))
			return false;
		if (*lo != max)
			break;
		l->base = *hi;
	}
	*lo += l->base;
	*hi += l->base;
	return true;
}

static bool next_coded(struct dwarf_list *l, uint64_t *lo, uint64_t *hi)
{
	struct bytes *b = &l->b;
	unsigned size = l->u->addr_size;

	while (!b->bad) {
		unsigned code = bytes_u8(b);

		if (!l->locations && code >= DEFAULT)
			code++;
		switch (code) {
		case BASEX:
			if (!dwarf_addrx(l->u, bytes_uleb(b), &l->base))
				return false;
			continue;
		case BASE: l->base = bytes_uint(b, size); continue;
		case VIEW:
			if (!l->locations)
				return false;
			bytes_uleb(b);
			bytes_uleb(b);
			continue;
		case STARTX_ENDX:
			return dwarf_addrx(l->u, bytes_uleb(b), lo) &&
			       dwarf_addrx(l->u, bytes_uleb(b), hi) && !b->bad;
		case STARTX_LEN:
			if (!dwarf_addrx(l->u, bytes_uleb(b), lo))
				return false;
			*hi = *lo + bytes_uleb(b);
			return !b->bad;
		case OFFSET_PAIR:
			*lo = l->base + bytes_uleb(b);
			*hi = l->base + bytes_uleb(b);
			return !b->bad;
		case DEFAULT:
			*lo = 0;
			*hi = UINT64_MAX;
			return !b->bad;
		case START_END:
			*lo = bytes_uint(b, size);
			*hi = bytes_uint(b, size);
			return !b->bad;
		case START_LEN:
			*lo = bytes_uint(b, size);
			*hi = *lo + bytes_uleb(b);
			return !b->bad;
		case END:
		default: return false;
		}
	}
	return false;
}

bool dwarf_list_next(struct dwarf_list *l, uint64_t *lo, uint64_t *hi, struct bytes *expr)
{
	bool old = l->u->version < 5;
	uint64_t len;

	if (!(old ? next_pair(l, lo, hi) : next_coded(l, lo, hi)))
		return false;
	if (!l->locations)
		return true;
	len = old ? bytes_u16(&l->b) : bytes_uleb(&l->b);
	*expr = l->b;
	bytes_skip(&l->b, len);
	expr->end = l->b.p;
	return !l->b.bad;
}
