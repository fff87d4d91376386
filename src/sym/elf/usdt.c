/* SPDX-License-Identifier: MIT */
#include "sym/elf/usdt.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/mem.h"

#define NOTE_STAPSDT 3

static uint64_t align4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

int usdt_each(const struct elf *e, int (*fn)(void *ctx, const struct usdt_probe *p), void *ctx)
{
	const struct elf_section *notes = elf_section(e, ".note.stapsdt"),
				 *base = elf_section(e, ".stapsdt.base");
	unsigned word = e->is64 ? 8 : 4;
	struct bytes b = { .swap = e->swap };
	size_t len;
	int err = 0;

	b.p = notes ? elf_section_data(e, notes, &len) : NULL;
	if (!b.p)
		return 0;
	b.end = b.p + len;
	while (bytes_left(&b) >= 12 && !err) {
		uint32_t namesz = bytes_u32(&b), descsz = bytes_u32(&b), type = bytes_u32(&b);
		const uint8_t *name = b.p;
		struct bytes d = b;
		struct usdt_probe p;
		uint64_t linked;

		bytes_skip(&b, align4(namesz));
		d.p = b.p;
		bytes_skip(&b, align4(descsz));
		if (b.bad)
			break;
		d.end = d.p + descsz;
		if (type != NOTE_STAPSDT || namesz != 8 || memcmp(name, "stapsdt", 8) != 0)
			continue;
		p.pc = bytes_uint(&d, word);
		linked = bytes_uint(&d, word);
		p.semaphore = bytes_uint(&d, word);
		p.provider = bytes_str(&d);
		p.name = bytes_str(&d);
		p.args = bytes_str(&d);
		if (d.bad)
			continue;
		/* prelink moves the program, not the notes; this section tells by how much */
		if (base && linked) {
			p.pc += base->addr - linked;
			if (p.semaphore)
				p.semaphore += base->addr - linked;
		}
		err = fn(ctx, &p);
	}
	return err;
}

/* "%eax", "%r10d", "%dil" ... as the kernel calls them; its width is known from the argument. */
static bool x86_register(const char *s, size_t n, char out[8])
{
	static const char *const two[] = { "ax", "bx", "cx", "dx", "si", "di", "bp", "sp" };
	char name[8] = "";

	if (n == 0 || n >= sizeof(name))
		return false;
	memcpy(name, s, n);
	if (name[0] == 'r' && isdigit((unsigned char)name[1])) {
		if (strchr("dwb", name[n - 1]))
			name[n - 1] = '\0';
		memcpy(out, name, 8);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(two); i++) {
		const char *t = two[i];

		/* rax eax ax, al; rsi esi si, sil */
		if (strcmp(name, t) == 0 ||
		    ((name[0] == 'r' || name[0] == 'e') && !strcmp(name + 1, t)) ||
		    (t[1] == 'x' && n == 2 && name[0] == t[0] && name[1] == 'l') ||
		    (t[1] != 'x' && n == 3 && strncmp(name, t, 2) == 0 && name[2] == 'l')) {
			snprintf(out, 8, "%s", t);
			return true;
		}
	}
	return false;
}

static bool x86_memory(const char *s, const char *end, struct usdt_arg *a)
{
	const char *open = memchr(s, '(', (size_t)(end - s)), *p, *stop;
	char *num_end;

	if (!open || end[-1] != ')')
		return false;
	a->kind = USDT_MEM;
	a->scale = 1;
	p = s;
	if (isalpha((unsigned char)*p) || *p == '_') { /* symbol[+off](%rip) */
		size_t n = 0;

		while (p < open && *p != '+' && *p != '-')
			n += n + 1 < sizeof(a->symbol) ? (a->symbol[n] = *p, 1) : 0, p++;
		a->symbol[n] = '\0';
	}
	if (p < open) {
		a->off = strtoll(p, &num_end, 0);
		if (num_end != open)
			return false;
	}
	p = open + 1;
	stop = p + strcspn(p, ",)");
	if (*p == '%') {
		if (stop - p == 4 && strncmp(p, "%rip", 4) == 0)
			return a->symbol[0] != '\0';
		if (!x86_register(p + 1, (size_t)(stop - p - 1), a->reg))
			return false;
	}
	if (*stop != ',')
		return a->reg[0] != '\0';
	p = stop + 1;
	stop = p + strcspn(p, ",)");
	if (*p != '%' || !x86_register(p + 1, (size_t)(stop - p - 1), a->index))
		return false;
	if (*stop == ',')
		a->scale = (int)strtol(stop + 1, NULL, 10);
	return true;
}

static bool x86_arg(const char *s, const char *end, struct usdt_arg *a)
{
	char *num_end;

	if (*s == '%') {
		a->kind = USDT_REG;
		return x86_register(s + 1, (size_t)(end - s - 1), a->reg);
	}
	if (*s == '$') {
		a->kind = USDT_CONST;
		a->off = strtoll(s + 1, &num_end, 0);
		return num_end == end;
	}
	return x86_memory(s, end, a);
}

static bool arm_register(const char *s, size_t n, char out[8])
{
	if (n < 2 || n > 3 || (strchr("xw", *s) == NULL && strncmp(s, "sp", 2) != 0))
		return false;
	memcpy(out, s, n);
	out[n] = '\0';
	if (out[0] == 'w')
		out[0] = 'x';
	return true;
}

static bool arm_arg(const char *s, const char *end, struct usdt_arg *a)
{
	char *num_end;

	if (*s == '[') {
		const char *stop = s + 1 + strcspn(s + 1, ",]");

		a->kind = USDT_MEM;
		a->scale = 1;
		if (!arm_register(s + 1, (size_t)(stop - s - 1), a->reg))
			return false;
		if (*stop == ',')
			a->off = strtoll(stop + 1, NULL, 0);
		return end[-1] == ']';
	}
	if (isdigit((unsigned char)*s) || *s == '-') {
		a->kind = USDT_CONST;
		a->off = strtoll(s, &num_end, 0);
		return num_end == end;
	}
	a->kind = USDT_REG;
	return arm_register(s, (size_t)(end - s), a->reg);
}

int usdt_arg_next(const char **text, uint16_t machine, struct usdt_arg *ret)
{
	const char *s = *text + strspn(*text, " "), *end;
	char *at;
	bool bracket = false, ok;

	if (!*s)
		return 0;
	/* "4@[sp, 12]" has a blank inside */
	for (end = s; *end && (*end != ' ' || bracket); end++)
		bracket = *end == '[' || (bracket && *end != ']');
	*text = end;
	*ret = (struct usdt_arg){ 0 };
	ret->size = (int)strtol(s, &at, 10);
	if (*at != '@') /* old forms have no size */
		ret->size = 8;
	else
		s = at + 1;
	if (s >= end || abs(ret->size) > 8 || ret->size == 0)
		return -EINVAL;
	ok = machine == EM_AARCH64 ? arm_arg(s, end, ret) : x86_arg(s, end, ret);
	return ok ? 1 : -EINVAL;
}

void usdt_args_text(const struct usdt_probe *p, uint16_t machine, struct strbuf *out)
{
	const char *text = p->args;
	struct usdt_arg a;
	int r;

	for (unsigned n = 1; (r = usdt_arg_next(&text, machine, &a)); n++) {
		if (r < 0 || a.index[0] || a.symbol[0])
			continue;
		strbuf_printf(out, " arg%u=", n);
		if (a.kind == USDT_CONST)
			strbuf_printf(out, "\\%" PRId64, a.off);
		else if (a.kind == USDT_REG)
			strbuf_printf(out, "%%%s", a.reg);
		else
			strbuf_printf(out, "%+" PRId64 "(%%%s)", a.off, a.reg);
		strbuf_printf(out, ":%c%d", a.size < 0 ? 's' : 'u', abs(a.size) * 8);
	}
}
