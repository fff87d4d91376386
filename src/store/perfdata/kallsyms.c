/* SPDX-License-Identifier: MIT */
/*
 * Functions become columns: where each begins behind the end of the one before and how long it
 * is, then types, then names. zstd packs the numbers and the names apart, the names with those
 * that most kernels are sampled in as a dictionary. What cannot be said so stays a text.
 */
#include "store/perfdata/kallsyms.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/pb.h"
#include "base/unpack.h"
#include "config.h"
#include "event/symline.h"
#include "store/perfdata/abi.h"
#include "store/perfdata/kallsyms_names.h"
#if HAVE_ZSTD
#	include <zstd.h>
#endif

#define MAX_TEXT (64u << 20)
#define MAX_COLUMNS (16u << 20)
#define ADDR_DIGITS 16
#define END_LINE " - -\n"
#define ALIGN 16u    /* of most functions */
#define OPEN_ENDED 1 /* for a length: the end is not known */
#define KERNEL_HALF (1ull << 63)
#define ZSTD_LEVEL \
	7 /* 0.2 ms for 300 functions; 9 saves 2 % and takes 1.5 ms for few, 19 saves 6 % */

struct columns {
	struct pb numbers, names; /* the types stand behind the numbers */
};

/* Few bits for multiples of ALIGN; OPEN_ENDED is none of these. */
static uint64_t perfdata_kallsyms_fold(uint64_t v)
{
	return v % ALIGN ? v << 1 | 1 : v / ALIGN << 1;
}

static uint64_t unfold(uint64_t v)
{
	return v & 1 ? v >> 1 : (v >> 1) * ALIGN;
}

/* A line as the kernel writes it. Where the next begins, or NULL. */
static const char *take_line(const char *p, const char *end, struct symline *l)
{
	const char *stop = memchr(p, '\n', (size_t)(end - p));
	bool exact = stop && symline_parse(l, p, stop) && l->name == p + ADDR_DIGITS + 3;

	for (size_t i = 0; exact && i < ADDR_DIGITS; i++)
		exact = p[i] < 'A' || p[i] > 'F';
	return exact ? stop + 1 : NULL;
}

/* false: these lines are not of the form. */
static bool to_columns(const char *text, size_t n, struct columns *ret)
{
	const char *end = text + n;
	/* of the last function, and where the one before ended */
	uint64_t start = 0, before = KERNEL_HALF;
	AUTO_STRBUF types = { 0 };
	bool open = false;
	struct pb numbers = { 0 };
	struct symline l = { 0 };

	for (const char *p = text; p && p < end;) {
		p = take_line(p, end, &l);
		if (!p || l.addr < (open ? start : before) || (!open && l.type == SYMLINE_END)) {
			pb_free(&numbers);
			return false;
		}
		if (open) {
			pb_varint(&numbers, perfdata_kallsyms_fold(l.addr - start));
			before = l.addr;
			open = false;
		}
		if (l.type == SYMLINE_END)
			continue;
		pb_varint(&numbers, perfdata_kallsyms_fold(l.addr - before));
		start = l.addr;
		open = true;
		strbuf_putc(&types, l.type);
		pb_raw(&ret->names, l.name, (size_t)(p - 1 - l.name));
		pb_raw(&ret->names, " ", 1);
	}
	if (open)
		pb_varint(&numbers, OPEN_ENDED);
	pb_varint(&ret->numbers, types.n);
	pb_raw(&ret->numbers, numbers.data, numbers.n);
	pb_raw(&ret->numbers, types.data, types.n);
	pb_free(&numbers);
	return true;
}

struct bytes {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t take_number(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && b->p < b->end; shift += 7) {
		uint8_t byte = *b->p++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

static void put_addr(struct strbuf *b, uint64_t addr)
{
	strbuf_printf(b, "%016llx", (unsigned long long)addr);
}

/* The types of n functions, which stand behind their numbers. */
static const uint8_t *find_types(struct bytes b, uint64_t n)
{
	for (uint64_t i = 0; i < 2 * n && !b.bad; i++)
		take_number(&b);
	return b.bad || (uint64_t)(b.end - b.p) < n ? NULL : b.p;
}

static int from_columns(const uint8_t *data, size_t n, struct strbuf *ret)
{
	struct bytes b = { .p = data, .end = data + n };
	uint64_t functions = take_number(&b), before = KERNEL_HALF;
	const uint8_t *types, *name;

	if (b.bad || functions > n || !(types = find_types(b, functions)))
		return -EINVAL;
	name = types + functions;
	for (uint64_t i = 0; i < functions; i++) {
		uint64_t start = before + unfold(take_number(&b)), length = take_number(&b);
		uint64_t end = length == OPEN_ENDED ? start : start + unfold(length);
		const uint8_t *stop = memchr(name, ' ', (size_t)(data + n - name));

		if (!stop || start < before || end < start || ret->n > MAX_TEXT ||
		    (length == OPEN_ENDED && i + 1 < functions))
			return -EINVAL;
		/* the end of the one before, unless this one is */
		if (i && start != before) {
			put_addr(ret, before);
			strbuf_puts(ret, END_LINE);
		}
		put_addr(ret, start);
		strbuf_printf(ret, " %c ", types[i]);
		strbuf_add(ret, (const char *)name, (size_t)(stop - name));
		strbuf_putc(ret, '\n');
		if (i + 1 == functions && length != OPEN_ENDED) {
			put_addr(ret, end);
			strbuf_puts(ret, END_LINE);
		}
		before = end;
		name = stop + 1;
	}
	return 0;
}

static void perfdata_kallsyms_put_head(struct strbuf *b, uint32_t packing, size_t size)
{
	struct perfdata_kallsyms head = { packing, (uint32_t)size };

	strbuf_add(b, (const char *)&head, sizeof(head));
}

/* The forms before: a text, as it is or packed. */
static void perfdata_kallsyms_put_text(const char *text, size_t n, struct strbuf *ret)
{
	uint64_t size = n;

	perfdata_kallsyms_put_head(ret, PERFDATA_KALLSYMS_TEXT, 0);
	strbuf_add(ret, (const char *)&size, sizeof(size));
	strbuf_add(ret, text, n);
}

#if HAVE_ZSTD
static bool perfdata_kallsyms_put_frame(ZSTD_CCtx *z, const struct pb *b, bool names,
					struct strbuf *ret)
{
	size_t most = ZSTD_compressBound(b->n), n;
	AUTO_FREE char *packed = mem_alloc(most);

	/* numbers are read with it, too, but have nothing to find there */
	n = ZSTD_compress_usingDict(z, packed, most, b->data, b->n,
				    names ? perfdata_kallsyms_names : NULL,
				    names ? sizeof(perfdata_kallsyms_names) - 1 : 0, ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return false;
	strbuf_add(ret, packed, n);
	return true;
}

static bool perfdata_kallsyms_put_packed(const struct columns *c, struct strbuf *ret)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t was = ret->n;
	bool ok;

	perfdata_kallsyms_put_head(ret, PERFDATA_KALLSYMS_PACKED_COLUMNS,
				   c->numbers.n + c->names.n);
	ok = z && perfdata_kallsyms_put_frame(z, &c->numbers, false, ret) &&
	     perfdata_kallsyms_put_frame(z, &c->names, true, ret);
	ZSTD_freeCCtx(z);
	if (!ok)
		ret->n = was;
	return ok;
}
#endif

static void put_columns(const struct columns *c, struct strbuf *ret)
{
#if HAVE_ZSTD
	if (perfdata_kallsyms_put_packed(c, ret))
		return;
#endif
	perfdata_kallsyms_put_head(ret, PERFDATA_KALLSYMS_COLUMNS, c->numbers.n + c->names.n);
	strbuf_add(ret, (const char *)c->numbers.data, c->numbers.n);
	strbuf_add(ret, (const char *)c->names.data, c->names.n);
}

void perfdata_kallsyms_pack(const char *text, size_t n, struct strbuf *ret)
{
	struct columns c = { 0 };
	AUTO_STRBUF back = { 0 };
	size_t was = ret->n;
	bool ok = to_columns(text, n, &c) && c.numbers.n + c.names.n <= MAX_COLUMNS;

	if (ok) {
		put_columns(&c, ret);
		/* whatever a kernel calls its functions, it is this text that must come back */
		ok = perfdata_kallsyms_unpack((const uint8_t *)ret->data + was, ret->n - was, false,
					      &back) == 0 &&
		     back.n == n && memcmp(back.data, text, n) == 0;
	}
	if (!ok) {
		ret->n = was;
		perfdata_kallsyms_put_text(text, n, ret);
	}
	pb_free(&c.numbers);
	pb_free(&c.names);
}

/* The first forms have 64 bits of size behind the head. */
static int unpack_text(uint32_t packing, const uint8_t *data, size_t n, bool swap,
		       struct strbuf *ret)
{
	uint64_t size;

	if (n < sizeof(size))
		return -EINVAL;
	memcpy(&size, data, sizeof(size));
	size = swap ? bswap_64(size) : size;
	data += sizeof(size);
	n -= sizeof(size);
	if (!size || size > MAX_TEXT)
		return -EINVAL;
	if (packing == PERFDATA_KALLSYMS_TEXT && size == n) {
		strbuf_add(ret, (const char *)data, n);
		return 0;
	}
	if (packing == PERFDATA_KALLSYMS_PACKED_TEXT) {
		int r;

		strbuf_fill(ret, 0, size);
		r = unpack_exactly(UNPACK_ZSTD, data, n, ret->data, size);
		return r == -EBADMSG ? -EINVAL : r;
	}
	return -EINVAL;
}

static int unpack_columns(const uint8_t *data, size_t n, size_t size, struct strbuf *ret)
{
#if HAVE_ZSTD
	AUTO_FREE uint8_t *columns = NULL;
	ZSTD_DCtx *z;
	size_t got;

	if (!size || size > MAX_COLUMNS)
		return -EINVAL;
	columns = mem_alloc(size);
	z = ZSTD_createDCtx();
	got = z ? ZSTD_decompress_usingDict(z, columns, size, data, n, perfdata_kallsyms_names,
					    sizeof(perfdata_kallsyms_names) - 1)
		: 0;
	ZSTD_freeDCtx(z);
	return got == size ? from_columns(columns, size, ret) : -EINVAL;
#else
	return -ENOTSUP;
#endif
}

int perfdata_kallsyms_unpack(const uint8_t *data, size_t n, bool swap, struct strbuf *ret)
{
	struct perfdata_kallsyms head;

	if (n < sizeof(head))
		return -EINVAL;
	memcpy(&head, data, sizeof(head));
	if (swap)
		head = (struct perfdata_kallsyms){ bswap_32(head.packing), bswap_32(head.size) };
	data += sizeof(head);
	n -= sizeof(head);
	switch (head.packing) {
	case PERFDATA_KALLSYMS_TEXT:
	case PERFDATA_KALLSYMS_PACKED_TEXT: return unpack_text(head.packing, data, n, swap, ret);
	case PERFDATA_KALLSYMS_COLUMNS:
		return head.size == n ? from_columns(data, n, ret) : -EINVAL;
	case PERFDATA_KALLSYMS_PACKED_COLUMNS: return unpack_columns(data, n, head.size, ret);
	default: return -ENOTSUP;
	}
}
