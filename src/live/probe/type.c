/* SPDX-License-Identifier: MIT */
#include "live/probe/target.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

const char *probe_register(uint16_t machine, unsigned reg)
{
	static const char *const x86[] = { "ax", "dx", "cx",  "bx",  "si",  "di",  "bp",  "sp",
					   "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };
	static const char *const arm[] = { "x0",  "x1",	 "x2",	"x3",  "x4",  "x5",  "x6",  "x7",
					   "x8",  "x9",	 "x10", "x11", "x12", "x13", "x14", "x15",
					   "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					   "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp" };

	if (machine == EM_X86_64)
		return reg < ARRAY_SIZE(x86) ? x86[reg] : NULL;
	if (machine == EM_AARCH64)
		return reg < ARRAY_SIZE(arm) ? arm[reg] : NULL;
	return NULL;
}

struct probe_type_info {
	enum dwarf_class class;
	bool is_signed, is_char, is_reference;
	uint64_t size, count;
	struct probe_type to; /* of pointers and arrays */
};

struct walk {
	const struct btf_types *btf; /* NULL: types are debug info's */
	const struct probe_syntax *sx;
	const struct probe_arg *arg;
	struct err *e;
	struct dwarf_fetch at;
	struct probe_type type;
	struct dwarf_member bits; /* of the last field, when it is a bit field */
	struct strbuf shown;	  /* "sk->a.b" so far */
};

static struct probe_type_info dwarf_info(struct probe_type t)
{
	struct dwarf_type d = dwarf_type(t.die);

	return (struct probe_type_info){ .class = d.class,
					 .is_signed = d.is_signed,
					 .is_char = d.class == DWARF_CHAR,
					 .is_reference = d.is_reference,
					 .size = d.size,
					 .count = d.count,
					 .to.die = d.to };
}

static struct probe_type_info info_of(const struct walk *w, struct probe_type t)
{
	const struct btf_types *b = w->btf;
	uint32_t id = b ? btf_strip(b, t.btf) : 0;
	struct probe_type_info i;

	if (!b)
		return dwarf_info(t);
	i = (struct probe_type_info){ .size = btf_size(b, id),
				      .is_signed = btf_is_signed(b, id),
				      .is_char = btf_is_char(b, id),
				      .count = btf_elements(b, id),
				      .to.btf = btf_target(b, id) };
	switch (btf_kind(b, id)) {
	case BTF_KIND_INT: i.class = i.is_char ? DWARF_CHAR : DWARF_INT; break;
	case BTF_KIND_PTR: i.class = DWARF_POINTER; break;
	case BTF_KIND_ARRAY: i.class = DWARF_ARRAY; break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD: i.class = DWARF_STRUCT; break;
	case BTF_KIND_FLOAT: i.class = DWARF_FLOAT; break;
	case BTF_KIND_FUNC_PROTO: i.class = DWARF_FUNCTION; break;
	case BTF_KIND_UNKN: i.class = DWARF_VOID; break;
	default: i.class = DWARF_ENUM; break;
	}
	return i;
}

static bool member_of(const struct walk *w, const char *name, struct dwarf_member *ret,
		      struct probe_type *type)
{
	struct btf_found m;
	uint64_t unit;

	if (!w->btf) {
		if (!dwarf_member(w->type.die, name, ret))
			return false;
		*type = (struct probe_type){ .die = ret->type };
		return true;
	}
	if (!btf_find_member(w->btf, w->type.btf, name, &m))
		return false;
	*type = (struct probe_type){ .btf = m.type };
	*ret = (struct dwarf_member){ .offset = m.offset / 8 };
	if (!m.bits)
		return true;
	unit = btf_size(w->btf, m.type);
	if (!unit || unit > 8)
		return false;
	ret->offset = m.offset / (unit * 8) * unit;
	if (m.offset - ret->offset * 8 + m.bits > unit * 8)
		ret->offset = m.offset / 8;
	ret->bits = m.bits;
	ret->shift = (uint32_t)(m.offset - ret->offset * 8);
	ret->unit = (uint32_t)unit * 8;
	return true;
}

static int no_fetch(struct walk *w, const char *why)
{
	return err_set(w->e, ENOENT, "%s: %s", strbuf_str(&w->shown), why);
}

/* What the value points to is now in memory, off bytes further. */
static int probe_type_follow(struct walk *w, int64_t off)
{
	if (w->at.n == DWARF_DEREFS_MAX)
		return no_fetch(w, "too many steps through memory");
	w->at.off[w->at.n++] = off + w->at.add;
	w->at.add = 0;
	return 0;
}

static int probe_type_inside(struct walk *w, uint64_t off)
{
	if (w->at.n && !w->at.add)
		w->at.off[w->at.n - 1] += (int64_t)off;
	else if (off || w->at.base != DWARF_REG)
		return no_fetch(w, "it is kept in a register, of which only the start can be read");
	return 0;
}

static void near_name(void *ctx, const char *name)
{
	str_nearest_add(ctx, name);
}

static int no_member(struct walk *w, const char *name)
{
	struct str_nearest near = { .typed = name };
	char list[200];
	AUTO_STRBUF text = { 0 };

	if (w->btf) {
		btf_text(w->btf, w->type.btf, &text);
		btf_each_member(w->btf, w->type.btf, near_name, &near);
	} else {
		dwarf_type_text(w->type.die, &text);
		dwarf_members(w->type.die, near_name, &near);
	}
	err_set(w->e, ENOENT, "%s (%s) has no member %s", strbuf_str(&w->shown), strbuf_str(&text),
		name);
	if (str_nearest_list(&near, list, sizeof(list)))
		return err_hint(w->e, "did you mean %s?", list);
	return -ENOENT;
}

/* A reference is what it refers to, unless that is a struct, of which its address is shown. */
static int refer(struct walk *w, bool structs)
{
	struct probe_type_info t = info_of(w, w->type);

	if (!t.is_reference || (!structs && info_of(w, t.to).class == DWARF_STRUCT))
		return 0;
	w->type = t.to;
	return probe_type_follow(w, 0);
}

static int probe_type_element(struct walk *w, const struct probe_field *f)
{
	struct probe_type_info t = info_of(w, w->type), each;
	int err;

	if (t.class != DWARF_ARRAY && t.class != DWARF_POINTER)
		return no_fetch(w, "neither an array nor a pointer: [ ] cannot follow");
	each = info_of(w, t.to);
	if (!each.size || f->index > (1u << 30))
		return no_fetch(w, "its elements have no known size");
	if (t.class == DWARF_ARRAY && t.count && f->index >= t.count)
		return err_set(w->e, ENOENT, "%s has only %" PRIu64 " elements",
			       strbuf_str(&w->shown), t.count);
	err = t.class == DWARF_ARRAY ? probe_type_inside(w, f->index * each.size)
				     : probe_type_follow(w, (int64_t)(f->index * each.size));
	w->type = t.to;
	strbuf_printf(&w->shown, "[%" PRIu64 "]", f->index);
	return err;
}

static int field(struct walk *w, const struct probe_field *f)
{
	bool reference = info_of(w, w->type).is_reference;
	int err = refer(w, true);
	struct probe_type_info t = info_of(w, w->type);
	struct dwarf_member m;
	struct probe_type type;

	if (err < 0)
		return err;
	if (!f->name)
		return probe_type_element(w, f);
	if (w->bits.bits)
		return no_fetch(w, "a bit field has no members");
	if (t.class == DWARF_POINTER) {
		w->type = t.to;
		if (!f->pointer) {
			err_set(w->e, EINVAL, "%s is a pointer", strbuf_str(&w->shown));
			return err_hint(w->e, "write %s->%s", strbuf_str(&w->shown), f->name);
		}
	} else if (f->pointer && !reference) {
		err_set(w->e, EINVAL, "%s is no pointer", strbuf_str(&w->shown));
		return t.class == DWARF_STRUCT
			       ? err_hint(w->e, "write %s.%s", strbuf_str(&w->shown), f->name)
			       : -EINVAL;
	}
	if (info_of(w, w->type).class != DWARF_STRUCT || !member_of(w, f->name, &m, &type))
		return no_member(w, f->name);
	err = t.class == DWARF_POINTER ? probe_type_follow(w, (int64_t)m.offset)
				       : probe_type_inside(w, m.offset);
	w->type = type;
	w->bits = m;
	strbuf_printf(&w->shown, "%s%s", f->pointer ? "->" : ".", f->name);
	return err;
}

static bool probe_type_is_text(const char *type)
{
	return type && (strcmp(type, "string") == 0 || strcmp(type, "ustring") == 0);
}

static void probe_type_suffix(const struct probe_type_info *t, char buf[16])
{
	uint64_t size = t->size > 8 ? 8 : t->size;

	/* three bytes and the like are read as the next smaller number */
	while (size & (size - 1))
		size &= size - 1;
	buf[0] = '\0';
	if (size)
		snprintf(buf, 16, "%c%u", t->is_signed ? 's' : 'x', (unsigned)size * 8);
}

/* The type behind the fetch, which for texts is one step further through a pointer. */
static int suffix(struct walk *w, char buf[32])
{
	struct probe_type_info t = info_of(w, w->type), to;
	char each[16];

	buf[0] = '\0';
	if (w->arg->type && !probe_type_is_text(w->arg->type)) {
		snprintf(buf, 32, ":%s", w->arg->type);
		return 0;
	}
	if (w->bits.bits) {
		snprintf(buf, 32, ":b%u@%u/%u", w->bits.bits, w->bits.shift, w->bits.unit);
		return 0;
	}
	to = info_of(w, t.to);
	if (probe_type_is_text(w->arg->type)) {
		if (t.class != DWARF_POINTER && t.class != DWARF_ARRAY)
			return no_fetch(w, "only pointers and arrays of characters are texts");
		if (!to.is_char && to.class != DWARF_VOID && to.size != 1)
			return no_fetch(w, "it holds no characters");
		snprintf(buf, 32, ":%s", w->arg->type);
		return t.class == DWARF_POINTER ? probe_type_follow(w, 0) : 0;
	}
	if (t.class == DWARF_ARRAY && w->at.n && t.count) {
		probe_type_suffix(&to, each);
		if (to.is_char)
			snprintf(buf, 32, ":string");
		else if (*each && to.size <= 8)
			snprintf(buf, 32, ":%s[%u]", each, (unsigned)(t.count > 64 ? 64 : t.count));
		return 0;
	}
	probe_type_suffix(&t, each);
	if (*each)
		snprintf(buf, 32, ":%s", each);
	return 0;
}

static int base_text(struct walk *w, struct strbuf *out, unsigned *used)
{
	const char *reg;
	uint64_t addr = w->at.value;

	*used = 0;
	switch (w->at.base) {
	case DWARF_REG:
		if (w->at.reg == PROBE_REG_RETVAL) {
			strbuf_puts(out, "$retval");
			return 0;
		}
		reg = probe_register(w->sx->machine, w->at.reg);
		if (!reg)
			return no_fetch(w, "it is kept in a register that probes cannot read");
		strbuf_printf(out, "%%%s", reg);
		return 0;
	case DWARF_CONST: strbuf_printf(out, "\\%" PRIu64, w->at.value); return 0;
	case DWARF_ADDR:
		addr += (uint64_t)w->at.off[0];
		*used = 1;
		strbuf_putc(out, '@');
		if (w->sx->user) {
			strbuf_printf(out, "+0x%" PRIx64, addr - w->sx->slide);
			return 0;
		}
		if (probe_target_data(w->sx->target, addr, out))
			return 0;
		strbuf_printf(out, "0x%" PRIx64, addr);
		return 0;
	default: return no_fetch(w, "it is nowhere to be found");
	}
}

static int fetch_text(struct walk *w, struct strbuf *out)
{
	AUTO_STRBUF base = { 0 };
	unsigned used;
	int err = base_text(w, &base, &used);

	for (unsigned i = w->at.n; i-- > used;)
		strbuf_printf(out, "%s%s%" PRId64 "(", w->at.off[i] < 0 ? "-" : "+",
			      w->arg->user && i == w->at.n - 1 ? "u" : "",
			      w->at.off[i] < 0 ? -w->at.off[i] : w->at.off[i]);
	strbuf_puts(out, strbuf_str(&base));
	for (unsigned i = used; i < w->at.n; i++)
		strbuf_putc(out, ')');
	return err;
}

/* The name of an argument that was not given one: the variable's, and its type's when that was. */
static void name_text(const struct probe_arg *arg, const char *var, struct strbuf *out)
{
	strbuf_puts(out, arg->name ? arg->name : var);
	if (!arg->name && arg->type) {
		strbuf_putc(out, '_');
		for (const char *c = arg->type; *c; c++)
			strbuf_putc(out, strchr("@/[]", *c) ? '_' : *c);
	}
}

int probe_fetch(const struct btf_types *btf, const struct probe_syntax *sx,
		const struct probe_arg *arg, const char *var, const struct dwarf_fetch *at,
		struct probe_type type, struct strbuf *out, struct err *e)
{
	struct walk w = { .btf = btf, .sx = sx, .arg = arg, .e = e, .at = *at, .type = type };
	AUTO_STRBUF fetch = { 0 };
	char type_text[32];
	int err = 0;

	strbuf_puts(&w.shown, var);
	for (size_t i = 0; i < arg->fields.n && err == 0; i++)
		err = field(&w, &arg->fields.data[i]);
	if (err == 0)
		err = refer(&w, false);
	if (err == 0)
		err = suffix(&w, type_text);
	/* An address that is a value would have to be moved with the program. */
	if (err == 0 && (w.at.add || (w.at.base == DWARF_ADDR && !w.at.n)))
		err = no_fetch(&w, "it is computed here; only what it points to can be fetched");
	if (err == 0)
		err = fetch_text(&w, &fetch);
	if (err == 0) {
		strbuf_putc(out, ' ');
		/* $retval alone needs no name: the kernel calls it arg1, as it always did */
		if (arg->name || var[0] != '$') {
			name_text(arg, var, out);
			strbuf_putc(out, '=');
		}
		strbuf_printf(out, "%s%s", strbuf_str(&fetch), type_text);
	}
	strbuf_free(&w.shown);
	return err;
}
