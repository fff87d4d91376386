/* SPDX-License-Identifier: MIT */
/*
 * The table builder: every FDE's instructions are run once, in the order of
 * addresses, following only what a rule can hold: the CFA, the frame pointer
 * and the return address. One row per change.
 */
#include "sym/unwind/ehframe_cfi.h"

#include <elf.h>
#include <sys/mman.h>

#include "base/map.h"

#define STATE_DEPTH 32 /* of remember_state; compilers need 1 or 2 */

/* A CIE and the state its own instructions lead to. */
struct cie {
	struct cfi_cie c;
	struct ehframe_state initial;
	bool ok;
};
#define CIE_SLOTS 64

/* ---- rules and rows ---- */

/*
 * A rule as three words. Not as one of 8 bytes and one of 4: cfa_off was mostly
 * written a moment ago, and a wider load would wait for that store to retire.
 */
struct words {
	uint32_t w[3];
};

static struct words rule_words(const struct ehframe_rule *r)
{
	struct words x;

	_Static_assert(sizeof(x) == sizeof(*r), "a rule is three words");
	memcpy(&x.w[0], (const char *)r, 4);
	memcpy(&x.w[1], (const char *)r + 4, 4);
	memcpy(&x.w[2], (const char *)r + 8, 4);
	return x;
}

static uint32_t rule_hash(struct words x)
{
	uint64_t a = x.w[0] * (uint64_t)0x9e3779b97f4a7c15u + x.w[2];

	return (uint32_t)((((uint64_t)x.w[1] << 13 ^ a) * 0xd6e8feb86659fd93u) >> 32);
}

static bool rule_same(struct words a, struct words b)
{
	return a.w[0] == b.w[0] && a.w[1] == b.w[1] && a.w[2] == b.w[2];
}

static void slots_double(struct ehframe_builder *b)
{
	free(b->slots);
	b->cap_slots = b->cap_slots ? b->cap_slots * 2 : 512;
	b->slots = mem_alloc(b->cap_slots * sizeof(*b->slots));
	for (uint32_t i = 0; i < b->n_rules; i++) {
		uint32_t at = rule_hash(rule_words(&b->rules[i])) & (b->cap_slots - 1);

		while (b->slots[at])
			at = (at + 1) & (b->cap_slots - 1);
		b->slots[at] = (uint16_t)(i + 1);
	}
}

uint32_t ehframe_rule_id(struct ehframe_builder *b, const struct ehframe_rule *r)
{
	struct words w = rule_words(r);
	uint32_t at;

	if ((b->n_rules + 1) * 2 > b->cap_slots)
		slots_double(b);
	at = rule_hash(w) & (b->cap_slots - 1);
	for (; b->slots[at]; at = (at + 1) & (b->cap_slots - 1))
		if (rule_same(rule_words(&b->rules[b->slots[at] - 1]), w))
			return b->slots[at] - 1u;
	if (b->n_rules == EHFRAME_RULES_MAX - 1)
		return EHFRAME_RULE_FULL;
	if (b->n_rules == b->cap_rules) {
		b->cap_rules = b->cap_rules ? b->cap_rules * 2 : 256;
		b->rules = mem_grow(b->rules, b->cap_rules * sizeof(*b->rules));
	}
	b->rules[b->n_rules] = *r;
	b->slots[at] = (uint16_t)(b->n_rules + 1);
	return b->n_rules++;
}

void ehframe_emit_flush(struct ehframe_builder *b)
{
	uint64_t c = (b->next_off - b->base) >> EHFRAME_CHUNK_SHIFT;

	if (c >= b->n_chunks)
		return;
	if (b->n_rows == b->cap_rows) {
		b->cap_rows *= 2;
		b->rows = mem_grow(b->rows, (size_t)b->cap_rows * sizeof(*b->rows));
	}
	while (b->chunk < c)
		b->index[++b->chunk] = b->n_rows;
	b->rows[b->n_rows++] = EHFRAME_ROW(b->next_off, b->next_rule);
	b->last_rule = b->next_rule;
	b->n_full += b->next_rule == EHFRAME_RULE_FULL;
}

static uint32_t state_rule(struct ehframe_builder *b, const struct ehframe_state *s)
{
	struct ehframe_rule r;

	if (s->lost & EHFRAME_RA_UNDEF)
		return EHFRAME_RULE_BOTTOM;
	if (s->lost & ~EHFRAME_LOST_BX)
		return EHFRAME_RULE_FULL;
	if (s->rule.cfa == EHFRAME_CFA_REG && s->rule.extra == EHFRAME_X86_BX &&
	    b->f->machine == EM_X86_64)
		b->wants_bx = true;
	if (b->with_bx && !s->lost && s->rule.ra == EHFRAME_RA_CFA && s->rule.ra_off == -1) {
		r = s->rule;
		r.ra = EHFRAME_RA_BX;
		r.ra_off = s->bx;
		return ehframe_rule_id(b, &r);
	}
	return ehframe_rule_id(b, &s->rule);
}

struct run {
	const struct cfi_cie *cie;
	const struct ehframe_state *initial; /* NULL while a CIE's own instructions are run */
	uint64_t loc, limit;		     /* offsets; nothing is emitted at or after limit */
	uint64_t delta;			     /* virtual address - offset */
};

/* false when the instructions make no sense. */
static bool ehframe_run(struct ehframe_builder *b, struct run *r, struct ehframe_state *s,
			const uint8_t *insns, const uint8_t *insns_end)
{
	const struct ehframe_regs *m = ehframe_machine_regs(b->f->machine);
	struct bytes rd = { .p = insns, .end = insns_end };
	struct ehframe_state stack[STATE_DEPTH];
	unsigned depth = 0;
	struct cfi_op op;
	uint64_t to;

	if ((uint64_t)(insns_end - insns) > b->work_left)
		return false;
	b->work_left -= (uint64_t)(insns_end - insns);
	while (cfi_next(&rd, r->cie, &op)) {
		switch (op.kind) {
		case CFI_NOP: break;
		case CFI_ADVANCE:
		case CFI_SET_LOC:
			to = op.kind == CFI_ADVANCE ? r->loc + (uint64_t)op.value
						    : (uint64_t)op.value - r->delta;
			if (to < r->loc || !r->initial)
				return false;
			if (to == r->loc)
				break;
			ehframe_emit(b, r->loc, state_rule(b, s));
			r->loc = to;
			if (to >= r->limit)
				return true;
			break;
		case CFI_RESTORE:
			if (!r->initial)
				return false;
			ehframe_state_restore(s, r->initial, m, op.reg);
			break;
		case CFI_REMEMBER:
			if (depth == STATE_DEPTH)
				return false;
			stack[depth++] = *s;
			break;
		case CFI_RESTORE_STATE:
			if (!depth)
				return false;
			*s = stack[--depth];
			break;
		case CFI_DEF_CFA_OFF:
			s->cfa_off = (int)op.value;
			if (op.value < INT32_MIN || op.value > INT32_MAX)
				s->lost |= EHFRAME_LOST_CFA;
			else if (s->rule.cfa >= EHFRAME_CFA_SP && s->rule.cfa <= EHFRAME_CFA_REG)
				s->rule.cfa_off = s->cfa_off;
			break;
		default: ehframe_state_apply(s, m, &op);
		}
	}
	if (rd.bad)
		return false;
	if (r->initial)
		ehframe_emit(b, r->loc, state_rule(b, s));
	return true;
}

/* ---- FDEs in order ---- */

static struct cie *cie_get(struct ehframe_builder *b, struct cie *cache,
			   const struct cfi_section *section, uint64_t pos)
{
	struct cie *c = &cache[map_hash(pos + section->debug) & (CIE_SLOTS - 1)];
	const struct ehframe_regs *m = ehframe_machine_regs(b->f->machine);
	struct run r = { .cie = &c->c };

	if (c->c.pos == pos && c->c.section == section)
		return c;
	c->ok = cfi_cie_at(section, pos, &c->c);
	c->c.pos = pos;
	c->c.section = section;
	/* Nothing is known before the CIE says it, but on aarch64 that the link register is the ra.
	 */
	c->initial = (struct ehframe_state){ .lost = EHFRAME_LOST_CFA | EHFRAME_LOST_RA };
	if (b->f->machine == EM_AARCH64) {
		c->initial.rule.ra = EHFRAME_RA_REG;
		c->initial.rule.ra_off = EHFRAME_ARM64_LR;
		c->initial.lost = EHFRAME_LOST_CFA;
	}
	if (c->c.signal)
		c->initial.rule.ra |= EHFRAME_RA_SIGNAL;
	c->ok = c->ok && ehframe_run(b, &r, &c->initial, c->c.insns, c->c.insns_end);
	if (c->ok && c->c.ra_reg != m->ra)
		c->initial.lost |= EHFRAME_LOST_RA;
	return c;
}

/* One FDE, up to where the next one starts. false when it starts before the last one ended. */
static bool build_fde(struct ehframe_builder *b, struct cie *cache, const struct cfi_place *at,
		      uint64_t next, uint64_t *done)
{
	const struct cfi_section *section = cfi_place_section(b->f, at);
	const struct ehframe_seg *seg = NULL;
	struct cfi_entry en;
	struct cfi_fde fde;
	struct ehframe_state s;
	struct cie *c;
	struct run r;
	uint32_t special;

	if (!cfi_entry_at(section, at->pos, &en) || en.is_end || en.is_cie) {
		b->n_bad++;
		return true;
	}
	c = cie_get(b, cache, section, en.cie_pos);
	if (!c->ok || !cfi_fde_parse(&en, &c->c, &fde)) {
		b->n_bad++;
		return true;
	}
	for (unsigned i = 0; i < b->f->n_segs && !seg; i++)
		if (fde.start - b->f->seg[i].vaddr < b->f->seg[i].size)
			seg = &b->f->seg[i];
	if (!seg || fde.end == fde.start) /* of code the linker threw away */
		return true;
	b->n_fdes++;
	r = (struct run){ .cie = &c->c, .initial = &c->initial, .delta = seg->vaddr - seg->off };
	r.loc = fde.start - r.delta;
	if (r.loc < *done)
		return false;
	if (fde.end > next)
		fde.end = next;
	r.limit = fde.end - r.delta;
	if (r.limit > seg->off + seg->size)
		r.limit = seg->off + seg->size;
	if (r.limit <= r.loc)
		return true;
	if (r.loc > *done)
		ehframe_code_gap(b, *done, r.loc);
	s = c->initial;
	if (b->f->go.data && ehframe_go_special(b, r.loc, r.limit, &special)) {
		if (r.loc > *done && b->rules[special].ra & EHFRAME_RA_SIGNAL)
			ehframe_emit(b, r.loc - 1, special); /* "returned" to, without a call */
		ehframe_emit(b, r.loc, special);
	} else if (!ehframe_run(b, &r, &s, fde.insns, fde.insns_end)) {
		b->n_bad++;
		ehframe_emit(b, r.loc, EHFRAME_RULE_NONE);
	}
	ehframe_emit(b, r.limit, EHFRAME_RULE_NONE);
	*done = r.limit;
	return true;
}

/* -EAGAIN when the search table proves not to be in order. */
static int build_fdes(struct ehframe_builder *b, const struct cfi_place *places, size_t n)
{
	const struct ehframe_seg *last = &b->f->seg[b->f->n_segs - 1];
	struct cfi_search search = cfi_search_table(b->f);
	AUTO_FREE struct cie *cache = mem_alloc(CIE_SLOTS * sizeof(*cache));
	struct cfi_place at, next;
	uint64_t done = b->base;

	for (size_t i = 0; i < CIE_SLOTS; i++)
		cache[i].c.pos = UINT64_MAX;
	if (!places)
		n = search.n;
	if (n)
		next = places ? places[0] : cfi_search_get(b->f, &search, 0);
	for (size_t i = 0; i < n; i++) {
		at = next;
		next.start = UINT64_MAX;
		if (i + 1 < n)
			next = places ? places[i + 1] : cfi_search_get(b->f, &search, i + 1);
		if ((next.start < at.start || !build_fde(b, cache, &at, next.start, &done)) &&
		    !places)
			return -EAGAIN;
	}
	if (last->off + last->size > done)
		ehframe_code_gap(b, done, last->off + last->size);
	return 0;
}

static void builder_reset(struct ehframe_builder *b)
{
	static const struct ehframe_rule fixed[EHFRAME_RULES_FIXED] = {
		[EHFRAME_RULE_NONE] = { .cfa = EHFRAME_CFA_NONE },
		[EHFRAME_RULE_FULL] = { .cfa = EHFRAME_CFA_FULL },
		[EHFRAME_RULE_BOTTOM] = { .cfa = EHFRAME_CFA_BOTTOM },
	};

	b->n_rows = b->n_rules = b->chunk = 0;
	b->n_fdes = b->n_bad = b->n_full = 0;
	b->next_off = b->base;
	b->next_rule = EHFRAME_RULE_NONE;
	b->last_rule = UINT32_MAX;
	b->index[0] = 0;
	/* A well-formed section is run about once; four times is room for shared CIEs. */
	b->work_left = ((uint64_t)b->f->frame.size + b->f->debug.size) * 4 + 4096;
	b->text_left = (uint64_t)64 << 20;
	if (b->slots)
		memset(b->slots, 0, b->cap_slots * sizeof(*b->slots));
	for (unsigned i = 0; i < EHFRAME_RULES_FIXED; i++)
		ehframe_rule_id(b, &fixed[i]);
}

/* Chunks at the ends that hold nothing are left out (a segment may start with read-only data). */
static void ehframe_trim(struct ehframe_builder *b)
{
	uint32_t skip = 0, keep = b->chunk + 1;

	while (skip + 1 < b->n_chunks && b->index[skip + 1] == 1)
		skip++;
	/* One more is kept where a row starts with the chunk: there the first row has no room. */
	if (skip && b->n_rows > 1 &&
	    b->rows[1] >> 16 == ((b->base + ((uint64_t)skip << EHFRAME_CHUNK_SHIFT)) & 0xffff))
		skip--;
	if (b->rows[0] == EHFRAME_ROW(b->base, EHFRAME_RULE_NONE) && skip && b->n_rows > 1) {
		b->base += (uint64_t)skip << EHFRAME_CHUNK_SHIFT;
		memmove(b->index, b->index + skip, (b->n_chunks - skip + 1) * sizeof(*b->index));
		b->n_chunks -= skip;
		keep -= skip;
		b->index[0] = 0;
		b->rows[0] = EHFRAME_ROW(b->base, EHFRAME_RULE_NONE);
	}
	if (b->last_rule == EHFRAME_RULE_NONE && keep < b->n_chunks)
		b->n_chunks = keep;
}

/* The rows are complete: close the index and hand everything to a table. */
static struct ehframe_table *ehframe_finish(struct ehframe_builder *b)
{
	struct ehframe_table *t = mem_alloc(sizeof(*t));

	if (b->next_rule != b->last_rule)
		ehframe_emit_flush(b);
	for (uint32_t c = b->chunk; c < b->n_chunks;)
		b->index[++c] = b->n_rows;
	ehframe_trim(b);
	*t = (struct ehframe_table){
		.machine = b->f->machine,
		.base = b->base,
		.n_chunks = b->n_chunks,
		.n_rows = b->n_rows,
		.n_rules = b->n_rules,
		.index = mem_grow(b->index, ((size_t)b->n_chunks + 1) * sizeof(*b->index)),
		.rows = mem_grow(b->rows, (size_t)b->n_rows * sizeof(*b->rows)),
		.rules = b->rules,
		.n_fdes = b->n_fdes,
		.n_bad = b->n_bad,
		.n_full = b->n_full,
	};
	free(b->slots);
	return t;
}

static void build_rows(struct ehframe_builder *b)
{
	AUTO_FREE struct cfi_place *places = NULL;
	size_t n;

	builder_reset(b);
	if (build_fdes(b, b->f->places, b->f->n_places) != -EAGAIN)
		return;
	/* By address, one each: only segments in another order than their file offsets could still
	 * disagree, and those rows are then left out. */
	n = cfi_scan(b->f, &places);
	builder_reset(b);
	build_fdes(b, places, n);
}

int ehframe_build(const struct ehframe *f, struct ehframe_table **ret, struct err *e)
{
	const struct ehframe_seg *first = &f->seg[0], *last = &f->seg[f->n_segs - 1];
	struct ehframe_builder b = { .f = f };
	uint64_t span;

	b.base = first->off & ~(uint64_t)(EHFRAME_CHUNK - 1);
	span = last->off + last->size - b.base;
	if (span > UINT32_MAX)
		return err_set(e, EFBIG, "its code spans %llu MiB, more than 4096",
			       (unsigned long long)span >> 20);
	b.n_chunks = (uint32_t)((span + EHFRAME_CHUNK - 1) >> EHFRAME_CHUNK_SHIFT);
	b.index = mem_grow(NULL, ((size_t)b.n_chunks + 1) * sizeof(*b.index));
	b.cap_rows = (uint32_t)((f->frame.size + f->debug.size) / 8 + 64);
	b.rows = mem_grow(NULL, (size_t)b.cap_rows * sizeof(*b.rows));
	build_rows(&b);
	if (b.wants_bx) {
		b.with_bx = true;
		build_rows(&b);
	}
	*ret = ehframe_finish(&b);
	if ((*ret)->n_rows == 1) {
		ehframe_table_free(*ret);
		*ret = NULL;
		return err_set(e, ENODATA, "it has no unwinding information");
	}
	return 0;
}

/* ---- tables ---- */

size_t ehframe_row_at(const struct ehframe_table *t, uint64_t off, uint64_t *start, uint64_t *end)
{
	uint64_t c = (off - t->base) >> EHFRAME_CHUNK_SHIFT;
	uint32_t lo, hi;

	if (off < t->base || c >= t->n_chunks)
		return SIZE_MAX;
	lo = t->index[c];
	hi = t->index[c + 1];
	while (lo < hi && t->rows[lo] <= EHFRAME_ROW(off, 0xffff))
		lo++;
	/* Offsets of rows: the chunk is the one whose part of the index they are in. */
	*end = t->base + (uint64_t)t->n_chunks * EHFRAME_CHUNK;
	for (uint64_t d = c; d < t->n_chunks; d++) {
		if (t->index[d + 1] > lo) {
			*end = ((t->base + d * EHFRAME_CHUNK) & ~(uint64_t)0xffff) +
			       (t->rows[lo] >> 16);
			break;
		}
	}
	lo--;
	while (t->index[c] > lo)
		c--;
	*start = ((t->base + c * EHFRAME_CHUNK) & ~(uint64_t)0xffff) + (t->rows[lo] >> 16);
	return lo;
}

void ehframe_table_rest(struct ehframe_table *t)
{
	if (t->mapped)
		madvise(t->owned, t->owned_size, MADV_DONTNEED);
}

void ehframe_table_free(struct ehframe_table *t)
{
	if (!t)
		return;
	if (t->mapped) {
		munmap(t->owned, t->owned_size);
	} else {
		free((void *)t->index);
		free((void *)t->rows);
		free((void *)t->rules);
	}
	free(t);
}
