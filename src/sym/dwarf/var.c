/* SPDX-License-Identifier: MIT */
/*
 * Variables at an address: which there are, and where each is kept.
 *
 * Only places that a probe can fetch from are understood: a register, memory at
 * a register or address through some steps of reading, a constant. Everything
 * else (values made of pieces, or computed) says so.
 */
#include "sym/dwarf/die.h"
#include "sym/dwarf/op.h"
#include "sym/unwind/ehframe.h"

struct here {
	uint64_t addr, entry;
	const struct ehframe *cfi;
	struct die function; /* whose frame base counts */
	struct unit *u;
};

static const char optimised[] = "its value is not kept here (optimised out)";
static const char computed[] = "its place is computed in a way a probe cannot follow";

/* Add to the place that is being worked out, which is not read yet. */
static void dwarf_var_add(struct dwarf_fetch *f, int64_t *pending, int64_t n)
{
	if (f->base == DWARF_CONST && !f->n)
		f->value += (uint64_t)n;
	else
		*pending += n;
}

/* The canonical frame address as register and offset, from unwinding tables. */
static const char *frame_address(const struct here *h, struct dwarf_fetch *f, int64_t *pending)
{
	int64_t off;

	if (!h->cfi)
		return "its frame is not described (no .eh_frame)";
	if (!ehframe_cfa(h->cfi, h->addr, &f->reg, &off))
		return "its frame is not described at this address";
	f->base = DWARF_REG;
	*pending += off;
	return NULL;
}

static const char *frame_base(const struct here *h, struct dwarf_fetch *f, int64_t *pending)
{
	struct value v;
	struct bytes b;
	uint8_t op;

	if (!h->function.u)
		return computed;
	v = die_attr_deep(&h->function, DW_AT_frame_base);
	if (v.kind != VALUE_BLOCK || !v.v)
		return "its frame is not described";
	b = (struct bytes){ (const uint8_t *)v.s, (const uint8_t *)v.s + v.v, h->u->f->e->swap,
			    false };
	op = bytes_u8(&b);
	if (op == OP_call_frame_cfa)
		return frame_address(h, f, pending);
	f->base = DWARF_REG;
	if (op >= OP_reg0 && op <= OP_reg31) {
		f->reg = op - OP_reg0;
		return NULL;
	}
	if (op >= OP_breg0 && op <= OP_breg31) {
		f->reg = op - OP_breg0;
		*pending += bytes_sleb(&b);
		return NULL;
	}
	return computed;
}

/* What a register held when the function began: at its very beginning, that register. */
static const char *entry_value(const struct here *h, struct bytes *b, struct dwarf_fetch *f)
{
	uint64_t len = bytes_uleb(b);
	struct bytes inner = *b;
	uint8_t op;

	if (len > bytes_left(b))
		return computed;
	inner.end = inner.p + len;
	bytes_skip(b, len);
	op = bytes_u8(&inner);
	if (h->addr != h->entry)
		return "only its value at the function's entry is known: probe there";
	if (op < OP_reg0 || op > OP_reg31)
		return computed;
	f->base = DWARF_REG;
	f->reg = op - OP_reg0;
	return NULL;
}

static const char *implicit(struct bytes *b, struct dwarf_fetch *f)
{
	uint64_t len = bytes_uleb(b);

	if (len != 1 && len != 2 && len != 4 && len != 8)
		return computed;
	*f = (struct dwarf_fetch){ .base = DWARF_CONST, .value = bytes_uint(b, (unsigned)len) };
	return NULL;
}

/* One instruction. *in_place: f is the value itself, not its address. */
static const char *step(const struct here *h, struct bytes *b, struct dwarf_fetch *f,
			int64_t *pending, bool *in_place)
{
	uint8_t op = bytes_u8(b);
	uint64_t v;

	if (op == OP_deref) {
		if (f->base == DWARF_NOWHERE || f->n == DWARF_DEREFS_MAX)
			return computed;
		f->off[f->n++] = *pending;
		*pending = 0;
		return NULL;
	}
	if (op == OP_plus_uconst) {
		dwarf_var_add(f, pending, (int64_t)bytes_uleb(b));
		return NULL;
	}
	if (op == OP_stack_value) {
		*in_place = true;
		return NULL;
	}
	/* A constant that is added: the only arithmetic that offsets can say. */
	if (f->base != DWARF_NOWHERE && dwarf_op_constant(b, op, &v)) {
		if (bytes_u8(b) != OP_plus)
			return computed;
		dwarf_var_add(f, pending, (int64_t)v);
		return NULL;
	}
	if (f->base != DWARF_NOWHERE)
		return computed;
	if (dwarf_op_constant(b, op, &v)) {
		*f = (struct dwarf_fetch){ .base = DWARF_CONST, .value = v };
		return NULL;
	}
	if ((op >= OP_reg0 && op <= OP_reg31) || op == OP_regx) {
		f->base = DWARF_REG;
		f->reg = op == OP_regx ? (unsigned)bytes_uleb(b) : (unsigned)op - OP_reg0;
		*in_place = true;
		return NULL;
	}
	if ((op >= OP_breg0 && op <= OP_breg31) || op == OP_bregx) {
		f->base = DWARF_REG;
		f->reg = op == OP_bregx ? (unsigned)bytes_uleb(b) : (unsigned)op - OP_breg0;
		*pending += bytes_sleb(b);
		return NULL;
	}
	switch (op) {
	case OP_fbreg: *pending += bytes_sleb(b); return frame_base(h, f, pending);
	case OP_call_frame_cfa: return frame_address(h, f, pending);
	case OP_addr:
		*f = (struct dwarf_fetch){ .base = DWARF_ADDR,
					   .value = bytes_uint(b, h->u->addr_size) };
		return NULL;
	case OP_addrx:
		f->base = DWARF_ADDR;
		return dwarf_addrx(h->u, bytes_uleb(b), &f->value) ? NULL : computed;
	case OP_implicit_value: *in_place = true; return implicit(b, f);
	case OP_entry_value:
	case OP_GNU_entry_value: return entry_value(h, b, f);
	default: return computed;
	}
}

static const char *expression(const struct here *h, struct bytes b, struct dwarf_fetch *f)
{
	int64_t pending = 0;
	bool in_place = false;

	*f = (struct dwarf_fetch){ 0 };
	if (b.p >= b.end)
		return optimised;
	while (b.p < b.end) {
		const char *why = in_place ? computed : step(h, &b, f, &pending, &in_place);

		if (why)
			return why;
	}
	if (b.bad || f->base == DWARF_NOWHERE)
		return computed;
	if (in_place) {
		f->add = pending;
		return NULL;
	}
	if (f->base == DWARF_CONST) { /* an address that is a number */
		f->base = DWARF_ADDR;
	} else if (f->n == DWARF_DEREFS_MAX) {
		return computed;
	}
	f->off[f->n++] = pending;
	return NULL;
}

static bool is_list(const struct value *v)
{
	/* DWARF 2 and 3 write the offset of a list as a plain number. */
	return v->kind == VALUE_SEC || v->kind == VALUE_LOCX || v->kind == VALUE_INT;
}

/* What a location list says of an address. */
static const char *listed_place(const struct here *h, const struct die *var, const struct value *v,
				struct dwarf_fetch *f)
{
	struct bytes expr, found = { 0 };
	struct dwarf_list l;
	uint64_t lo, hi;

	dwarf_list_open(&l, var->u, v, true);
	while (dwarf_list_next(&l, &lo, &hi, &expr)) {
		if (h->addr < lo || h->addr >= hi)
			continue;
		found = expr;
		break;
	}
	return expression(h, found, f);
}

static const char *dwarf_var_place_of(const struct here *h, const struct die *var,
				      struct dwarf_fetch *f)
{
	struct value v = die_attr_deep(var, DW_AT_location), c;

	*f = (struct dwarf_fetch){ 0 };
	if (v.kind == VALUE_BLOCK) {
		struct bytes b = { (const uint8_t *)v.s, (const uint8_t *)v.s + v.v,
				   var->u->f->e->swap, false };

		return expression(h, b, f);
	}
	if (is_list(&v))
		return listed_place(h, var, &v, f);
	c = die_attr_deep(var, DW_AT_const_value);
	if (c.kind != VALUE_INT)
		return optimised;
	*f = (struct dwarf_fetch){ .base = DWARF_CONST, .value = c.v };
	return NULL;
}

struct walk {
	struct here here;
	dwarf_var_fn *fn;
	void *ctx;
	bool globals, own;
};

static int dwarf_var_tell(struct walk *w, const struct die *d)
{
	struct dwarf_var v = { .own = w->own,
			       .name = die_name(d),
			       .die = die_handle(d),
			       .global = w->globals,
			       .param = d->a->tag == DW_TAG_formal_parameter };
	struct die type;

	if (!v.name)
		return 0;
	if (die_ref_deep(d, DW_AT_type, &type))
		v.type = die_handle(&type);
	w->here.u = d->u;
	v.why = dwarf_var_place_of(&w->here, d, &v.fetch);
	v.declared = w->globals && v.why && die_attr(d, DW_AT_declaration).kind != VALUE_NONE;
	return w->fn(w->ctx, &v);
}

/* Variables of a scope, then those of the scopes inside that hold the address. */
static int scope(struct walk *w, const struct die *d, uint16_t inner, unsigned depth)
{
	struct die c;
	int err = 0;

	if (depth > DIE_DEPTH_MAX)
		return 0;
	for (bool more = die_child(d, &c); more && !err; more = die_sibling(&c, &c))
		if (c.a->tag == DW_TAG_variable || c.a->tag == DW_TAG_formal_parameter)
			err = dwarf_var_tell(w, &c);
	for (bool more = die_child(d, &c); more && !err; more = die_sibling(&c, &c))
		if (c.a->tag == inner && die_has_pc(&c, w->here.addr))
			err = scope(w, &c, inner, depth + 1);
	return err;
}

/* What is inlined at the address, anywhere below d. */
static int inlined_scopes(struct walk *w, const struct die *d, unsigned depth)
{
	struct die c;
	int err = 0;

	if (depth > DIE_DEPTH_MAX)
		return 0;
	for (bool more = die_child(d, &c); more && !err; more = die_sibling(&c, &c)) {
		bool inlined = c.a->tag == DW_TAG_inlined_subroutine;

		if ((!inlined && c.a->tag != DW_TAG_lexical_block) || !die_has_pc(&c, w->here.addr))
			continue;
		if (inlined)
			err = scope(w, &c, DW_TAG_lexical_block, depth + 1);
		if (!err)
			err = inlined_scopes(w, &c, depth + 1);
	}
	return err;
}

static int unit_variables(struct walk *w, const struct die *d, unsigned depth)
{
	struct die c;
	int err = 0;

	for (bool more = die_child(d, &c); more && !err; more = die_sibling(&c, &c)) {
		if (c.a->tag == DW_TAG_variable)
			err = dwarf_var_tell(w, &c);
		else if (c.a->tag == DW_TAG_namespace && depth < 8)
			err = unit_variables(w, &c, depth + 1);
	}
	return err;
}

/* The function that an inlined instance is compiled into has the frame. */
static void find_function(struct here *h)
{
	struct functions *fn = dwarf_functions(h->u);
	uint32_t at = fn ? dwarf_outermost(fn, segments_find(&fn->map, h->addr)) : 0;

	if (!at || !die_in(h->u, fn->list.data[at - 1].die, &h->function))
		h->function = (struct die){ 0 };
	h->entry = h->addr;
	if (h->function.u)
		die_entry(&h->function, &h->entry);
}

int dwarf_vars(struct dwarf *d, const struct dwarf_point *p, const struct ehframe *cfi,
	       bool globals, dwarf_var_fn *fn, void *ctx)
{
	struct walk w = { .here = { .addr = p->addr, .cfi = cfi, .u = p->scope.u },
			  .fn = fn,
			  .ctx = ctx };
	struct die die;
	int err;

	if (!die_open(p->scope, &die))
		return 0;
	find_function(&w.here);
	w.own = true;
	err = scope(&w, &die, DW_TAG_lexical_block, 0);
	w.own = false;
	if (!err)
		err = inlined_scopes(&w, &die, 0);
	if (!err && p->inlined && w.here.function.u)
		err = scope(&w, &w.here.function, DW_TAG_lexical_block, 0);
	if (err || !globals || !die_in(p->scope.u, p->scope.u->die, &die))
		return err;
	w.globals = true;
	return unit_variables(&w, &die, 0);
}

void dwarf_var_spans(const struct dwarf_point *p, const struct dwarf_var *v, dwarf_span_fn *fn,
		     void *ctx)
{
	struct dwarf_list l;
	struct bytes expr;
	uint64_t lo, hi;
	struct die d;
	struct value loc;

	if (!die_open(v->die, &d))
		return;
	loc = die_attr_deep(&d, DW_AT_location);
	if (!is_list(&loc))
		return;
	dwarf_list_open(&l, d.u, &loc, true);
	while (dwarf_list_next(&l, &lo, &hi, &expr))
		fn(ctx, lo, hi);
}

struct dwarf_die dwarf_returns(const struct dwarf_point *p)
{
	struct die d, type;

	return die_open(p->scope, &d) && die_ref_deep(&d, DW_AT_type, &type)
		       ? die_handle(&type)
		       : (struct dwarf_die){ 0 };
}
