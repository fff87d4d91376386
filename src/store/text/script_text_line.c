/* SPDX-License-Identifier: MIT */
#include "store/text/script_text.h"

#include <string.h>

/* Where in a line we are. */
struct at {
	const char *s;
	size_t i, n;
};

static void skip_blanks(struct at *a)
{
	while (a->i < a->n && text_is_space(a->s[a->i]))
		a->i++;
}

/* The length of the word here. */
static size_t script_text_line_word(const struct at *a)
{
	size_t i = a->i;

	while (i < a->n && !text_is_space(a->s[i]))
		i++;
	return i - a->i;
}

static struct text_part rest_of(const struct at *a)
{
	return (struct text_part){ .s = a->s + a->i, .n = a->n - a->i };
}

/* Digits here as a number: 1, 0 when there are none, or -ERANGE above INT64_MAX. */
static int digits(struct at *a, uint64_t *ret)
{
	size_t from = a->i;
	uint64_t v = 0;

	for (; a->i < a->n && text_is_digit(a->s[a->i]); a->i++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(a->s[a->i] - '0'), &v) || v > INT64_MAX)
			return -ERANGE;
	*ret = v;
	return a->i > from;
}

static bool id(struct at *a, int32_t *ret)
{
	bool minus = a->i < a->n && a->s[a->i] == '-';
	uint64_t v;

	a->i += minus;
	if (digits(a, &v) != 1 || v > INT32_MAX)
		return false;
	*ret = minus ? -1 : (int32_t)v;
	return true;
}

static bool at_gap(const struct at *a)
{
	return a->i == a->n || text_is_space(a->s[a->i]);
}

/* "12" is a thread, "11/12" a process and its thread; then "[001]". */
static bool ids(struct at *a, struct script_sample *r)
{
	struct at cpu;
	uint64_t v;

	r->pid = -1;
	r->cpu = UINT32_MAX;
	if (!id(a, &r->tid))
		return false;
	if (a->i < a->n && a->s[a->i] == '/') {
		a->i++;
		r->pid = r->tid;
		if (!id(a, &r->tid))
			return false;
	}
	if (!at_gap(a))
		return false;
	skip_blanks(a);
	cpu = *a;
	if (cpu.i == cpu.n || cpu.s[cpu.i++] != '[' || digits(&cpu, &v) != 1 || cpu.i == cpu.n ||
	    cpu.s[cpu.i++] != ']' || !at_gap(&cpu))
		return true;
	r->cpu = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
	*a = cpu;
	skip_blanks(a);
	return true;
}

/* "6849.620063:" in ns; a time that is too large is none. */
static bool script_text_line_time_of(struct at *a, struct script_sample *r)
{
	struct at t = *a;
	uint64_t seconds, ns = 0;
	size_t from;

	if (digits(&t, &seconds) != 1 || t.i == t.n || t.s[t.i++] != '.')
		return false;
	for (from = t.i; t.i < t.n && text_is_digit(t.s[t.i]); t.i++)
		if (t.i - from < 9)
			ns = ns * 10 + (uint64_t)(t.s[t.i] - '0');
	if (t.i == from || t.i == t.n || t.s[t.i] != ':')
		return false;
	for (size_t k = t.i - from; k < 9; k++)
		ns *= 10;
	t.i++;
	if (!at_gap(&t) || __builtin_mul_overflow(seconds, 1000000000u, &seconds) ||
	    __builtin_add_overflow(seconds, ns, &r->time))
		return false;
	r->timed = true;
	*a = t;
	skip_blanks(a);
	return true;
}

/* A system before the colon, not only modifiers behind it: "sched:sched_switch", "cycles:P". */
static bool is_tracepoint(const struct text_part *event)
{
	const char *colon = memchr(event->s, ':', event->n);

	if (!colon || memchr(event->s, '/', event->n))
		return false;
	for (colon++; colon < event->s + event->n; colon++)
		if (!strchr("ukhGHIpPSDWeb", *colon))
			return true;
	return false;
}

static bool script_text_line_event(struct at *a, struct script_sample *r)
{
	size_t n = script_text_line_word(a);

	if (n < 2 || a->s[a->i + n - 1] != ':')
		return false;
	r->event = (struct text_part){ .s = a->s + a->i, .n = n - 1 };
	r->tracepoint = is_tracepoint(&r->event);
	a->i += n;
	skip_blanks(a);
	return true;
}

static bool script_text_line_hex(struct at *a, uint64_t *ret)
{
	size_t from = a->i;

	*ret = 0;
	for (; a->i < a->n; a->i++) {
		char c = a->s[a->i];
		unsigned d = text_is_digit(c)	    ? (unsigned)(c - '0')
			     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
						    : 16u;

		if (d == 16)
			break;
		*ret = *ret << 4 | d;
	}
	return a->i > from && a->i - from <= 16 && at_gap(a);
}

/* "2004008 cpu-clock:", either of which may be missing. */
static int what(struct at *a, struct script_sample *r)
{
	struct at p = *a, next;
	uint64_t v;
	int k = digits(&p, &v);

	if (k == 1 && at_gap(&p)) {
		skip_blanks(&p);
		next = p;
		/* without an event it could be an address: another one behind it tells */
		if (script_text_line_event(&p, r) || p.i == p.n ||
		    script_text_line_hex(&next, &(uint64_t){ 0 })) {
			r->period = v;
			r->counted = true;
			*a = p;
			return 0;
		}
	}
	if (k == -ERANGE) {
		while (p.i < p.n && text_is_digit(p.s[p.i]))
			p.i++;
		skip_blanks(&p);
		return script_text_line_event(&p, r) ? -ERANGE : 0;
	}
	script_text_line_event(a, r);
	return 0;
}

/* All behind the process' name. 1 when it fits. */
static int tail(struct at a, bool timed, struct script_sample *r, struct text_part *rest)
{
	int k;

	if (!ids(&a, r) || script_text_line_time_of(&a, r) != timed)
		return 0;
	k = what(&a, r);
	if (k < 0)
		return k;
	*rest = rest_of(&a);
	return timed || r->event.s || !rest->n;
}

static int script_text_line_header(const char *s, size_t n, bool timed, struct script_sample *ret,
				   struct text_part *rest)
{
	struct at a = { .s = s, .n = n };
	size_t from, to;
	int k = 0;

	skip_blanks(&a);
	from = a.i;
	a.i += script_text_line_word(&a);
	for (to = a.i; k == 0 && a.i < n; to = a.i) {
		struct script_sample r = { .line = ret->line };

		skip_blanks(&a);
		k = tail(a, timed, &r, rest);
		if (k == 1) {
			*ret = r;
			ret->comm = (struct text_part){ .s = s + from, .n = to - from };
		}
		a.i += script_text_line_word(&a);
	}
	return k;
}

int script_text_header(const char *s, size_t n, struct script_sample *ret, struct text_part *rest)
{
	int k = script_text_line_header(s, n, true, ret, rest);

	return k ? k : script_text_line_header(s, n, false, ret, rest);
}

/* Where the parenthesis at the end was opened; files may have some, too: "(/a (deleted))". */
static size_t file_start(const struct at *a)
{
	size_t depth = 0, last = 0;

	for (size_t i = a->n; i-- > a->i;) {
		depth += a->s[i] == ')';
		if (a->s[i] != '(')
			continue;
		if (!last && i && text_is_space(a->s[i - 1]))
			last = i;
		if (--depth == 0)
			return text_is_space(a->s[i - 1]) ? i : last;
	}
	return last;
}

static size_t without_offset(const char *s, size_t n)
{
	size_t i = n;

	while (i && ((s[i - 1] >= 'a' && s[i - 1] <= 'f') || text_is_digit(s[i - 1])))
		i--;
	return i < n && i >= 3 && memcmp(s + i - 3, "+0x", 3) == 0 ? i - 3 : n;
}

bool script_text_frame(const char *s, size_t n, struct script_frame *ret)
{
	struct at a = { .s = s, .n = n };
	struct script_frame f = { 0 };
	size_t open;

	skip_blanks(&a);
	if (!script_text_line_hex(&a, &f.addr))
		return false;
	skip_blanks(&a);
	open = a.i < n && s[n - 1] == ')' ? file_start(&a) : 0;
	if (open) {
		f.file = (struct text_part){ .s = s + open + 1, .n = n - open - 2 };
		for (n = open; n > a.i && text_is_space(s[n - 1]);)
			n--;
	}
	f.inlined = text_part_is(f.file, "inlined");
	if (f.inlined || text_part_is(f.file, "[unknown]") || !f.file.n)
		f.file = (struct text_part){ 0 };
	f.name = (struct text_part){ .s = s + a.i, .n = without_offset(s + a.i, n - a.i) };
	if (!f.name.n || text_part_is(f.name, "[unknown]"))
		f.name = (struct text_part){ 0 };
	*ret = f;
	return true;
}

bool script_text_is_position(const char *s, size_t n)
{
	size_t i = n;

	while (i && text_is_digit(s[i - 1]))
		i--;
	return n && text_is_space(s[0]) && i < n && i > 1 && s[i - 1] == ':' &&
	       !text_is_space(s[i - 2]);
}
