/* SPDX-License-Identifier: MIT */
/* Sets: of CPUs, of signals, and of descriptors that are waited for. */
#include <poll.h>
#include <string.h>

#include "base/mem.h"
#include "view/trace/names.h"
#include "view/trace/trace.h"

void trace_bits(const uint8_t *bits, uint64_t n, struct strbuf *b)
{
	bool any = false;

	strbuf_putc(b, '[');
	for (uint64_t k = 0; k < n; k++)
		if (bits[k / 8] >> k % 8 & 1) {
			strbuf_printf(b, any ? " %llu" : "%llu", (unsigned long long)k);
			any = true;
		}
	strbuf_putc(b, ']');
}

void trace_sigset(uint64_t set, struct strbuf *b)
{
	bool inverse = __builtin_popcountll(set) > 40, any = false;

	if (inverse) {
		set = ~set;
		strbuf_putc(b, '~');
	}
	strbuf_putc(b, '[');
	for (int i = 1; i <= 64; i++) {
		size_t at;

		if (!(set >> (i - 1) & 1))
			continue;
		if (any)
			strbuf_putc(b, ' ');
		any = true;
		at = b->n;
		trace_names_signal(i, b);
		if (str_starts(b->data + at, "SIG")) { /* strace leaves it out in sets */
			memmove(b->data + at, b->data + at + 3, b->n - at - 3 + 1);
			b->n -= 3;
		}
	}
	strbuf_putc(b, ']');
}

static uint64_t fdset_bits(const struct trace_record *r, const struct syscall_arg *a,
			   const struct trace_piece *p)
{
	uint64_t n = a->ref >= 0 ? r->arg[a->ref] : 0;

	return n < p->n * 8ull ? n : p->n * 8ull;
}

static bool any_bit(const uint8_t *bits, uint64_t n)
{
	for (uint64_t k = 0; k < n; k++)
		if (bits[k / 8] >> k % 8 & 1)
			return true;
	return false;
}

void trace_fdset(const struct trace_record *r, const void *data, unsigned i,
		 const struct syscall_arg *a, struct strbuf *b)
{
	const struct trace_piece *p = trace_piece_before(r, data, i, TRACE_TAKE_MEMORY);

	if (p)
		trace_bits((const uint8_t *)(p + 1), fdset_bits(r, a, p), b);
	else
		trace_pointer(r->arg[i], b);
}

void trace_fdsets(const struct trace_record *r, const void *data, const struct syscall_sig *s,
		  struct strbuf *b)
{
	static const char *const name[] = { "in", "out", "except" };
	bool any = false;

	for (unsigned i = 0, k = 0; i < s->n && r->ret > 0; i++) {
		const struct trace_piece *p;

		if (s->arg[i].type != SYSCALL_FDSET || k == ARRAY_SIZE(name))
			continue;
		p = trace_piece(r, data, i, TRACE_TAKE_MEMORY, 0);
		if (p && p->exit &&
		    any_bit((const uint8_t *)(p + 1), fdset_bits(r, &s->arg[i], p))) {
			strbuf_printf(b, "%s%s ", any ? ", " : " (", name[k]);
			trace_bits((const uint8_t *)(p + 1), fdset_bits(r, &s->arg[i], p), b);
			any = true;
		}
		k++;
	}
	if (any)
		strbuf_putc(b, ')');
}

/* As the call left it. */
void trace_pollfd(const struct trace_record *r, const void *data, unsigned i, unsigned k,
		  const void *from, struct strbuf *b)
{
	struct pollfd p;

	memcpy(&p, from, sizeof(p));
	strbuf_puts(b, "{fd=");
	trace_descriptor(r, data, i, k, p.fd, b);
	strbuf_puts(b, ", events=");
	trace_names_flags("poll", (uint16_t)p.events, b);
	strbuf_puts(b, ", revents=");
	trace_names_flags("poll", (uint16_t)p.revents, b);
	strbuf_putc(b, '}');
}
