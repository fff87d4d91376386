/* SPDX-License-Identifier: MIT */
#include "event/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "config.h"

/* The fields by themselves: what is left when nobody understands the print format. */
static void print_fields(const struct event_type *t, const void *raw, size_t size, struct strbuf *b)
{
	const char *sep = "";

	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];
		const char *s;
		const void *p;
		int64_t v;
		size_t n;

		if (f->is_common)
			continue;
		strbuf_printf(b, "%s%s=", sep, f->name);
		sep = " ";
		if (field_int(f, raw, size, &v)) {
			strbuf_printf(b,
				      f->is_pointer  ? "0x%" PRIx64
				      : f->is_signed ? "%" PRId64
						     : "%" PRIu64,
				      v);
		} else if (field_str(f, raw, size, &s, &n)) {
			strbuf_add(b, s, n);
		} else if (field_bytes(f, raw, size, &p, &n)) {
			for (size_t k = 0; k < n; k++)
				strbuf_printf(b, "%02x", ((const uint8_t *)p)[k]);
		}
	}
}

#if HAVE_LIBTRACEEVENT
#	include <event-parse.h>
#	include <trace-seq.h>

/*
 * libtraceevent trusts records: that every field lies in them, and that strings
 * end. So only those go to it for which this is so.
 */
static bool is_whole(const struct event_type *t, const void *raw, size_t size)
{
	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];
		const void *p;
		size_t n;

		if (!field_bytes(f, raw, size, &p, &n))
			return false;
		if (f->is_string && !memchr(p, 0, n))
			return false;
	}
	return true;
}

struct text {
	struct tep_handle *tep;
	struct trace_seq seq;
	text_resolve_fn *resolve;
	void *resolve_ctx;
};

static char *resolver(void *priv, unsigned long long *addr, char **module)
{
	struct text *t = priv;
	const char *mod = NULL, *name;
	uint64_t start = *addr;

	name = t->resolve ? t->resolve(t->resolve_ctx, *addr, &start, &mod) : NULL;
	*module = (char *)mod;
	if (name)
		*addr = start;
	return (char *)name;
}

void *text_new(const struct text_opts *o)
{
	struct text *t = mem_alloc(sizeof(*t));
	const union {
		uint16_t word;
		uint8_t first;
	} probe = { 1 };
	bool big = !probe.first;

	t->tep = tep_alloc();
	if (!t->tep) {
		free(t);
		return NULL;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	/* No plugins: they word events differently from the kernel, and are loaded code. */
	tep_set_flag(t->tep, TEP_NSEC_OUTPUT);
	tep_set_local_bigendian(t->tep, big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(t->tep, big != o->swapped ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	if (o->long_size)
		tep_set_long_size(t->tep, (int)o->long_size);
	if (o->page_size)
		tep_set_page_size(t->tep, (int)o->page_size);
	trace_seq_init(&t->seq);
	return t;
}

void text_free(void *tep)
{
	struct text *t = tep;

	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	tep_free(t->tep);
	free(t);
}

void text_header_page(void *tep, const char *text, size_t n, unsigned long_size)
{
	struct text *t = tep;
	AUTO_FREE char *copy = mem_strndup(text, n);

	if (t)
		tep_parse_header_page(t->tep, copy, strlen(copy), (int)long_size);
}

bool text_format(void *tep, const char *system, const char *text, size_t n)
{
	struct text *t = tep;
	AUTO_FREE char *copy = mem_strndup(text, n);

	return t && tep_parse_event(t->tep, copy, strlen(copy), system) == TEP_ERRNO__SUCCESS;
}

void text_printk(void *tep, const char *text)
{
	struct text *t = tep;

	if (t)
		tep_parse_printk_formats(t->tep, text);
}

void text_comms(void *tep, const char *text)
{
	struct text *t = tep;

	if (t)
		tep_parse_saved_cmdlines(t->tep, text);
}

void text_set_resolver(void *tep, text_resolve_fn *fn, void *ctx)
{
	struct text *t = tep;

	if (!t)
		return;
	t->resolve = fn;
	t->resolve_ctx = ctx;
	tep_set_function_resolver(t->tep, resolver, t);
}

void text_print(void *tep, const struct event_type *t, const void *raw, size_t size, uint32_t cpu,
		struct strbuf *b)
{
	struct text *x = tep;
	struct tep_record record = { .cpu = (int)cpu, .size = (int)size, .data = (void *)raw };

	if (!x || !t->n_fields || size < 2 || !is_whole(t, raw, size)) {
		print_fields(t, raw, size, b);
		return;
	}
	trace_seq_reset(&x->seq);
	tep_print_event(x->tep, &x->seq, &record, "%s", TEP_PRINT_INFO);
	strbuf_add(b, x->seq.buffer, x->seq.len);
}

#else

void *text_new(const struct text_opts *o)
{
	(void)o;
	return NULL;
}

void text_free(void *tep)
{
	(void)tep;
}

void text_header_page(void *tep, const char *text, size_t n, unsigned long_size)
{
	(void)tep;
	(void)text;
	(void)n;
	(void)long_size;
}

bool text_format(void *tep, const char *system, const char *text, size_t n)
{
	(void)tep;
	(void)system;
	(void)text;
	(void)n;
	return false;
}

void text_printk(void *tep, const char *text)
{
	(void)tep;
	(void)text;
}

void text_comms(void *tep, const char *text)
{
	(void)tep;
	(void)text;
}

void text_set_resolver(void *tep, text_resolve_fn *fn, void *ctx)
{
	(void)tep;
	(void)fn;
	(void)ctx;
}

void text_print(void *tep, const struct event_type *t, const void *raw, size_t size, uint32_t cpu,
		struct strbuf *b)
{
	(void)tep;
	(void)cpu;
	print_fields(t, raw, size, b);
}

#endif
