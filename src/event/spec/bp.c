/* SPDX-License-Identifier: MIT */
/*
 * Hardware breakpoints: mem:ADDR[/LEN][:rwx][:MODS], where ADDR is a number or
 * a kernel symbol, with +OFFSET when wanted.
 */
#include "event/spec/int.h"

#include <linux/hw_breakpoint.h>
#include <string.h>

static const char usage[] = "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u";

static int bad(struct spec_parser *p, struct slice at, const char *what)
{
	spec_bad(p, at, EINVAL, "%s", what);
	spec_bad_hint(p, "%s", usage);
	return -EINVAL;
}

static int address(struct spec_parser *p, struct slice s, uint64_t *addr)
{
	struct slice name, plus;
	struct err e = { 0 };
	uint64_t offset = 0;
	int r;

	if (!s.n)
		return bad(p, s, "there is no address");
	if (slice_u64(s, addr))
		return 0;
	if (s.s[0] >= '0' && s.s[0] <= '9')
		return bad(p, s, "that is no address");
	if (slice_cut(s, '+', &name, &plus) && !slice_u64(plus, &offset))
		return bad(p, plus, "after '+' comes a number");
	if (!p->env->symbol)
		return bad(p, name, "symbols are not known here");
	r = p->env->symbol(p->env->ctx, slice_dup(p, name), addr, &e);
	if (r < 0) {
		spec_bad(p, name, -r, "%s", e.msg);
		spec_bad_hint(p, "%s", e.hint);
		return r;
	}
	*addr += offset;
	return 0;
}

/* Letters of rwx, each once; 0 when it is something else. */
static int access_type(struct slice s, uint32_t *type)
{
	static const char letters[] = "rwx";
	static const uint32_t bits[] = { HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_X };

	*type = 0;
	for (size_t i = 0; i < s.n; i++) {
		const char *at = strchr(letters, s.s[i]);

		if (!at)
			return 0;
		if (*type & bits[at - letters])
			return -EINVAL;
		*type |= bits[at - letters];
	}
	return s.n > 0;
}

int spec_breakpoint(struct spec_parser *p, const struct spec_item *item, struct slice *mods)
{
	struct slice all = { item->head.s + 4, item->head.n - 4 }, where, rest, addr_text, len_text;
	uint64_t addr, len = 0;
	uint32_t type = HW_BREAKPOINT_RW, got;
	struct event_spec *s;
	bool colon = slice_cut(all, ':', &where, &rest);
	int r;

	if (slice_cut(where, '/', &addr_text, &len_text) &&
	    (!slice_u64(len_text, &len) || len < 1 || len > 8))
		return bad(p, len_text, "the length is 1 to 8 bytes");
	*mods = rest;
	if (colon && rest.n) {
		struct slice access, after;

		slice_cut(rest, ':', &access, &after);
		r = access_type(access, &got);
		if (r < 0)
			return bad(p, access, "a letter of rwx is there twice");
		if (r > 0) {
			type = got;
			*mods = after;
		}
	}
	r = address(p, addr_text, &addr);
	if (r < 0)
		return r;
	s = spec_add(p, SPEC_BREAKPOINT, PERF_TYPE_BREAKPOINT, 0, item);
	s->attr.bp_type = type;
	s->attr.bp_addr = addr;
	s->attr.bp_len = len			   ? len
			 : type == HW_BREAKPOINT_X ? SPEC_BP_EXEC_LEN
						   : HW_BREAKPOINT_LEN_4;
	return 1;
}
