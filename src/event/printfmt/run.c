/* SPDX-License-Identifier: MIT */
/* Print formats, run on a record. Nothing outside the record is read. */
#include <inttypes.h>
#include <string.h>

#include "event/printfmt/impl.h"

struct run {
	const struct printfmt *f;
	const struct printfmt_env *env;
	const uint8_t *raw;
	size_t size;
	struct strbuf *b;
};

struct bytes {
	const uint8_t *p;
	size_t n;
};

bool printfmt_operate(unsigned op, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (op) {
	case '*': *ret = a * b; return true;
	case '/': *ret = b ? a / b : 0; return b != 0;
	case '%': *ret = b ? a % b : 0; return b != 0;
	case '+': *ret = a + b; return true;
	case '-': *ret = a - b; return true;
	case OP2('<', '<'): *ret = a << (b & 63); return true;
	case OP2('>', '>'): *ret = a >> (b & 63); return true;
	case '<': *ret = a < b; return true;
	case '>': *ret = a > b; return true;
	case OP2('<', '='): *ret = a <= b; return true;
	case OP2('>', '='): *ret = a >= b; return true;
	case OP2('=', '='): *ret = a == b; return true;
	case OP2('!', '='): *ret = a != b; return true;
	case '&': *ret = a & b; return true;
	case '^': *ret = a ^ b; return true;
	case '|': *ret = a | b; return true;
	case OP2('&', '&'): *ret = a && b; return true;
	case OP2('|', '|'): *ret = a || b; return true;
	default: return false;
	}
}

/* 0 when there are no numbers of that size. */
static uint64_t read_number(const uint8_t *p, size_t size, bool swapped)
{
	uint64_t v;

	return field_number(p, size, swapped, &v) ? v : 0;
}

/* The kernel's stacks say they are of eight, and have fewer or more: what is there counts. */
bool printfmt_bytes(const struct field *f, const void *raw, size_t size, const void **ret,
		    size_t *n)
{
	if (f->kind != FIELD_ARRAY || f->offset >= size || f->size <= size - f->offset)
		return field_bytes(f, raw, size, ret, n);
	*ret = (const uint8_t *)raw + f->offset;
	*n = size - f->offset;
	return true;
}

static struct bytes field_data(const struct run *r, const struct field *f)
{
	const void *p;
	size_t n;

	if (!printfmt_bytes(f, r->raw, r->size, &p, &n))
		return (struct bytes){ 0 };
	return (struct bytes){ p, n };
}

static uint64_t printfmt_run_number(const struct run *r, const struct node *n);

/* Where an expression that stands for memory points to. */
static struct bytes printfmt_run_memory(const struct run *r, const struct node *n)
{
	switch (n->kind) {
	case NODE_FIELD:
	case NODE_DYNAMIC:
	case NODE_STRING:
	case NODE_CPUMASK:
	case NODE_BITMASK: return field_data(r, n->field);
	case NODE_CAST: return printfmt_run_memory(r, n->a);
	case NODE_UNARY:
		return n->op == '&' || n->op == '*' ? printfmt_run_memory(r, n->a)
						    : (struct bytes){ 0 };
	case NODE_CHOICE: return printfmt_run_memory(r, printfmt_run_number(r, n->a) ? n->b : n->c);
	default: return (struct bytes){ 0 };
	}
}

static const struct field *printfmt_run_field_of(const struct node *n)
{
	while (n && (n->kind == NODE_CAST || n->kind == NODE_UNARY))
		n = n->a;
	return n ? n->field : NULL;
}

/* a[b]: an element of an array, its size from the cast or the field. */
static uint64_t printfmt_run_element(const struct run *r, const struct node *n)
{
	struct bytes m = printfmt_run_memory(r, n->a);
	const struct field *f = printfmt_run_field_of(n->a);
	uint64_t i = printfmt_run_number(r, n->b), size = f ? f->elem_size : 1;

	if (n->a->kind == NODE_CAST && n->a->is_pointer)
		size = n->a->value;
	if (!size || size > 8 || i >= m.n / size)
		return 0;
	return read_number(m.p + i * size, size, f && f->swapped);
}

static uint64_t cast(const struct node *n, uint64_t v)
{
	if (n->is_pointer || n->value >= 8)
		return v;
	return v & ((1ull << n->value * 8) - 1);
}

static uint64_t printfmt_run_number(const struct run *r, const struct node *n)
{
	uint64_t v = 0;
	struct bytes m;

	switch (n->kind) {
	case NODE_NUMBER: return n->value;
	case NODE_FIELD:
		m = field_data(r, n->field);
		if (n->field->kind == FIELD_INT && m.p)
			return read_number(m.p, m.n, n->field->swapped);
		return 0;
	case NODE_LENGTH: return field_data(r, n->field).n;
	case NODE_CAST: return cast(n, printfmt_run_number(r, n->a));
	case NODE_INDEX: return printfmt_run_element(r, n);
	case NODE_UNARY:
		if (n->op == '*') {
			m = printfmt_run_memory(r, n->a);
			v = n->a->kind == NODE_CAST ? n->a->value : 1;
			return m.n >= v ? read_number(m.p, v, false) : 0;
		}
		v = printfmt_run_number(r, n->a);
		return n->op == '!' ? !v : n->op == '~' ? ~v : n->op == '-' ? -v : v;
	case NODE_BINARY:
		printfmt_operate(n->op, printfmt_run_number(r, n->a), printfmt_run_number(r, n->b),
				 &v);
		return v;
	case NODE_CHOICE: return printfmt_run_number(r, printfmt_run_number(r, n->a) ? n->b : n->c);
	case NODE_DYNAMIC:
		/* its address: only whether there is anything can be told */
		m = field_data(r, n->field);
		return m.n ? (uint64_t)(m.p - r->raw) : 0;
	default: return 0;
	}
}

/* --- text --- */

static void put_0x(struct run *r, uint64_t v)
{
	strbuf_add(r->b, "0x", 2);
	strbuf_hex(r->b, v);
}

/* Nothing follows it: a line's end that a text has at its own end is the event's. */
static bool is_last(const struct printfmt *f, const struct piece *p)
{
	const struct piece *end = f->pieces + f->n;

	return p + 1 == end || (p + 2 == end && !p[1].text_n && !p[1].conversion);
}

static void printfmt_run_put_string(struct run *r, const struct piece *p, uint64_t width,
				    const char *s, size_t n)
{
	AUTO_FREE char *copy = NULL;
	char spec[40];
	const char *end;

	n = strnlen(s, n);
	end = memchr(s, '\n', n);
	if (__builtin_expect(end && (end < s + n - 1 || !is_last(r->f, p)), 0)) {
		AUTO_FREE char *whole = mem_strndup(s, n), *made = NULL;

		printfmt_run_put_string(r, p, width, str_one_line(whole, &made), SIZE_MAX);
		return;
	}
	if (p->plain) {
		strbuf_add(r->b, s, n);
		return;
	}
	/* The precision bounds what is read: the text may lack its NUL. */
	snprintf(spec, sizeof(spec), "%ss", p->spec);
	copy = mem_strndup(s, n);
	if (width > INT32_MAX && strchr(p->spec, '.'))
		width = 0;
	if (p->width)
		strbuf_printf(r->b, spec, (int)width, copy);
	else
		strbuf_printf(r->b, spec, copy);
}

static void put_flags(struct run *r, const struct piece *p, uint64_t width, const struct node *n)
{
	uint64_t v = printfmt_run_number(r, n->a);
	bool any = false;

	for (size_t i = 0; i < n->n_choices; i++) {
		uint64_t f = n->choices[i].value;

		if (!v && (int64_t)f < 0) {
			printfmt_run_put_string(r, p, width, n->choices[i].text, SIZE_MAX);
			break;
		}
		if ((int64_t)f > 0 && (v & f) == f) {
			if (any && n->text)
				strbuf_puts(r->b, n->text);
			printfmt_run_put_string(r, p, width, n->choices[i].text, SIZE_MAX);
			any = true;
			v &= ~f;
		}
	}
	if (v) {
		if (any && n->text)
			strbuf_puts(r->b, n->text);
		put_0x(r, v);
	}
}

static void put_symbolic(struct run *r, const struct piece *p, uint64_t width, const struct node *n)
{
	uint64_t v = printfmt_run_number(r, n->a);

	for (size_t i = 0; i < n->n_choices; i++)
		if (n->choices[i].value == v) {
			printfmt_run_put_string(r, p, width, n->choices[i].text, SIZE_MAX);
			return;
		}
	put_0x(r, v);
}

static void printfmt_run_put_hex(struct run *r, const struct node *n)
{
	struct bytes m = printfmt_run_memory(r, n->a);
	uint64_t len = printfmt_run_number(r, n->b);

	for (uint64_t i = 0; i < len && i < m.n; i++)
		strbuf_printf(r->b, i && n->kind == NODE_HEX ? " %02x" : "%02x", m.p[i]);
}

static void printfmt_run_put_array(struct run *r, const struct node *n)
{
	struct bytes m = printfmt_run_memory(r, n->a);
	uint64_t count = printfmt_run_number(r, n->b), size = printfmt_run_number(r, n->c);
	const struct field *f = printfmt_run_field_of(n->a);

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return;
	for (uint64_t i = 0; i < count && i < m.n / size; i++)
		strbuf_printf(r->b, i ? " %" PRIu64 : "%" PRIu64,
			      read_number(m.p + i * size, size, f && f->swapped));
}

/* "0-3,7": the numbers of the bits that are set, up to a limit. */
static void printfmt_run_put_bits(struct run *r, struct strbuf *b, struct bytes m, bool swapped,
				  uint64_t limit)
{
	bool any = false;
	size_t word = swapped ? r->f->long_size : 1, bits = m.n / word * word * 8;

	if (bits > limit)
		bits = limit;
	/* Longs of the other endian have their bytes the other way round. */
	for (size_t i = 0, from = SIZE_MAX; i <= bits; i++) {
		size_t at = i / 8 / word * word + (word - 1 - i / 8 % word);
		bool set = i < bits && (m.p[at] >> i % 8 & 1);

		if (set && from == SIZE_MAX)
			from = i;
		if (set || from == SIZE_MAX)
			continue;
		strbuf_printf(b, i - 1 > from ? "%s%zu-%zu" : "%s%zu", any ? "," : "", from, i - 1);
		any = true;
		from = SIZE_MAX;
	}
}

static void put_cpumask(struct run *r, const struct piece *p, uint64_t width, const struct node *n)
{
	AUTO_STRBUF b = { 0 };

	printfmt_run_put_bits(r, &b, field_data(r, n->field), n->field->swapped, UINT64_MAX);
	printfmt_run_put_string(r, p, width, strbuf_str(&b), b.n);
}

/* 32-bit words, the highest first, with commas between. */
static void put_bitmask(struct run *r, const struct piece *p, uint64_t width, const struct node *n)
{
	struct bytes m = field_data(r, n->field);
	AUTO_STRBUF b = { 0 };
	size_t words = m.n / 4;
	bool any = false;

	for (size_t i = words; i-- > 0;) {
		uint32_t v = (uint32_t)read_number(m.p + i * 4, 4, n->field->swapped);

		if (!any && !v && i)
			continue;
		strbuf_printf(&b, any ? ",%08x" : "%x", v);
		any = true;
	}
	printfmt_run_put_string(r, p, width, strbuf_str(&b), b.n);
}

static void printfmt_run_put_text(struct run *r, const struct piece *p, uint64_t width,
				  const struct node *n)
{
	struct bytes m;
	const char *s;

	switch (n->kind) {
	case NODE_TEXT: printfmt_run_put_string(r, p, width, n->text, SIZE_MAX); break;
	case NODE_FIELD:
		m = field_data(r, n->field);
		if (n->field->kind == FIELD_INT && n->field->size == r->f->long_size) {
			/* a pointer to a text the kernel keeps */
			uint64_t addr = printfmt_run_number(r, n);

			s = r->env->string ? r->env->string(r->env->string_ctx, addr) : NULL;
			if (s)
				strbuf_puts(r->b, s);
			else
				strbuf_printf(r->b, "%" PRIx64, addr);
			break;
		}
		printfmt_run_put_string(r, p, width, m.p ? (const char *)m.p : "", m.n);
		break;
	case NODE_STRING:
	case NODE_DYNAMIC:
		m = field_data(r, n->field);
		printfmt_run_put_string(r, p, width, m.p ? (const char *)m.p : "", m.n);
		break;
	case NODE_CAST: printfmt_run_put_text(r, p, width, n->a); break;
	case NODE_CHOICE:
		printfmt_run_put_text(r, p, width, printfmt_run_number(r, n->a) ? n->b : n->c);
		break;
	case NODE_FLAGS: put_flags(r, p, width, n); break;
	case NODE_SYMBOLIC: put_symbolic(r, p, width, n); break;
	case NODE_HEX:
	case NODE_HEX_STR: printfmt_run_put_hex(r, n); break;
	case NODE_ARRAY: printfmt_run_put_array(r, n); break;
	case NODE_BITMASK: put_bitmask(r, p, width, n); break;
	case NODE_CPUMASK: put_cpumask(r, p, width, n); break;
	default: break;
	}
}

/* --- numbers --- */

static void printfmt_run_put_number(struct run *r, const struct piece *p, uint64_t width,
				    uint64_t v)
{
	static const char *const lengths[] = { "hh", "h", "", "l", "ll" };
	int length = p->conversion == 'p' ? 1 : p->length;
	char spec[48];

	/* Where it is as long as a long, it is as long as a long long. */
	snprintf(spec, sizeof(spec), "%s%s%c", p->spec,
		 p->conversion == 'p' ? "" : lengths[p->length + 2], p->conversion);
	if (p->width && length > 0)
		strbuf_printf(r->b, spec, (int)width, (long)v);
	else if (p->width)
		strbuf_printf(r->b, spec, (int)width, (int)v);
	else if (length > 0)
		strbuf_printf(r->b, spec, (long)v);
	else
		strbuf_printf(r->b, spec, (int)v);
}

/* "%08" and the like: how wide, filled with zeros; 0 for no width, -1 for anything else. */
static int zero_width(const struct piece *p)
{
	const char *s = p->spec;
	int width = 0;

	if (p->plain)
		return 0;
	if (p->width || s[0] != '%' || s[1] != '0')
		return -1;
	for (s += 2; *s >= '0' && *s <= '9' && width < 20; s++)
		width = width * 10 + (*s - '0');
	return *s || width > 20 ? -1 : width;
}

/* The plain ones, and those filled with zeros, make up nearly all: without printf. */
static bool put_plain(struct run *r, const struct piece *p, uint64_t v)
{
	char buf[32], *end = buf + sizeof(buf), *s = end;
	unsigned base = p->conversion == 'x' ? 16 : 10;
	int width = zero_width(p);
	bool minus = false;

	if (width < 0 || (p->conversion != 'd' && p->conversion != 'u' && p->conversion != 'x'))
		return false;
	if (p->length < 1)
		v = p->length == 0 ? (uint32_t)v : p->length == -1 ? (uint16_t)v : (uint8_t)v;
	if (p->conversion == 'x' && !width) {
		strbuf_hex(r->b, v);
		return true;
	}
	if (p->conversion == 'd') {
		int64_t i = p->length == -2   ? (int8_t)v
			    : p->length == -1 ? (int16_t)v
			    : p->length == 0  ? (int32_t)v
					      : (int64_t)v;

		minus = i < 0;
		v = minus ? -(uint64_t)i : (uint64_t)i;
	}
	do
		*--s = "0123456789abcdef"[v % base];
	while (v /= base);
	while (end - s + minus < width)
		*--s = '0';
	if (minus)
		*--s = '-';
	strbuf_add(r->b, s, (size_t)(end - s));
	return true;
}

/* --- pointers --- */

static void put_pointer(struct run *r, const struct piece *p, uint64_t width)
{
	struct bytes m;
	uint64_t v, start = 0;
	const char *name, *module = NULL;

	switch (p->extension) {
	case 'M':
	case 'm':
	case 'I':
	case 'i':
	case 'U':
		m = printfmt_run_memory(r, p->arg);
		printfmt_address(p, m.p, m.n, r->b);
		return;
	case 'b':
		if (p->sub[0] != 'l')
			break;
		m = printfmt_run_memory(r, p->arg);
		printfmt_run_put_bits(r, r->b, m,
				      printfmt_run_field_of(p->arg) &&
					      printfmt_run_field_of(p->arg)->swapped,
				      width);
		return;
	case 'S':
	case 'F':
	case 's':
	case 'f':
		v = printfmt_run_number(r, p->arg);
		name = r->env->resolve ? r->env->resolve(r->env->ctx, v, &start, &module) : NULL;
		if (!name)
			break;
		strbuf_puts(r->b, name);
		if (p->extension == 'S' || p->extension == 'F') {
			strbuf_putc(r->b, '+');
			put_0x(r, v - start);
		}
		return;
	default: break;
	}
	v = printfmt_run_number(r, p->arg);
	if (p->extension || (p->plain && v))
		put_0x(r, v);
	else
		printfmt_run_put_number(r, p, width, v);
}

/* A negative short or char, shown as %d, is negative; libtraceevent shows 65533 for -3. */
static uint64_t small_signed(const struct node *n, uint64_t v)
{
	if (n->kind != NODE_FIELD || n->field->kind != FIELD_INT || !n->field->is_signed)
		return v;
	return n->field->size == 1   ? (uint64_t)(int8_t)v
	       : n->field->size == 2 ? (uint64_t)(int16_t)v
				     : v;
}

static void put_piece(struct run *r, const struct piece *p)
{
	uint64_t width = p->width ? printfmt_run_number(r, p->width) : 0, v;

	switch (p->conversion) {
	case 0: break;
	case 's': printfmt_run_put_text(r, p, width, p->arg); break;
	case 'p': put_pointer(r, p, width); break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'c':
		v = printfmt_run_number(r, p->arg);
		if (p->conversion == 'd' || p->conversion == 'i')
			v = small_signed(p->arg, v);
		if (!put_plain(r, p, v))
			printfmt_run_put_number(r, p, width, v);
		break;
	default: strbuf_printf(r->b, ">%c<", p->conversion); break;
	}
}

void printfmt_run(const struct printfmt *f, const struct printfmt_env *env, const void *raw,
		  size_t size, struct strbuf *b)
{
	struct run r = { .f = f, .env = env, .raw = raw, .size = size, .b = b };

	for (size_t i = 0; i < f->n; i++) {
		strbuf_add(b, f->pieces[i].text, f->pieces[i].text_n);
		put_piece(&r, &f->pieces[i]);
	}
}

void printfmt_piece(const struct printfmt *f, const struct piece *p, const struct printfmt_env *env,
		    const void *raw, size_t size, struct strbuf *b)
{
	struct run r = { .f = f, .env = env, .raw = raw, .size = size, .b = b };

	put_piece(&r, p);
}
