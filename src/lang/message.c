/* SPDX-License-Identifier: MIT */
/* What messages ask for: text, maps, commands. */
#include <string.h>
#include <time.h>

#include "lang/show/int.h"

#define JOIN_ARGS 16
#define JOIN_SIZE 256

static void json_open(struct lang_out *o, const char *type)
{
	strbuf_printf(&o->text, "{\"type\": \"%s\", \"data\": ", type);
}

static void one_number(const char *spec, size_t n, char conv, uint64_t v, struct strbuf *b)
{
	char f[48];
	size_t k = 0;

	for (size_t i = 0; i < n && k < sizeof(f) - 4; i++)
		if (!strchr("hlzjt", spec[i]))
			f[k++] = spec[i];
	if (conv == 'c' || conv == 'p') {
		f[k++] = conv == 'p' ? 'p' : 'c';
		f[k] = '\0';
		if (conv == 'p' && !v)
			strbuf_puts(b, "0x0");
		else if (conv == 'p')
			strbuf_printf(
				b, f,
				(void *)(uintptr_t)
					v); /* NOLINT: checked by the compiler of the language */
		else
			strbuf_printf(b, f, (int)v);
		return;
	}
	f[k++] = 'l';
	f[k++] = 'l';
	f[k++] = conv == 'i' ? 'd' : conv;
	f[k] = '\0';
	strbuf_printf(b, f, (unsigned long long)v);
}

static void one_text(const char *spec, size_t n, const char *s, struct strbuf *b)
{
	char f[48];

	if (n + 2 > sizeof(f))
		n = 1;
	memcpy(f, spec, n);
	f[n] = 's';
	f[n + 1] = '\0';
	strbuf_printf(b, f, s);
}

/* %rh: 0a fe; %rx: \x0a\xfe. */
static void hex_bytes(const struct ltype *t, const char *data, bool escaped, struct strbuf *b)
{
	const char *p = t->kind == LT_BUF ? data + 8 : data;
	uint64_t n, max = lt_stored(t) - (t->kind == LT_BUF ? 8 : 0);

	if (t->kind == LT_BUF)
		memcpy(&n, data, 8);
	else
		n = strnlen(p, max);
	for (uint64_t i = 0; i < n && i < max; i++)
		strbuf_printf(b, escaped ? "\\x%02x" : i ? " %02x" : "%02x", (uint8_t)p[i]);
}

/* What most conversions are: %d, %-16s, %06d. False when there is more to it. */
struct simple {
	bool left, zero;
	size_t width;
};

static bool is_simple(const char *spec, size_t n, struct simple *f)
{
	size_t i = 1;

	*f = (struct simple){ 0 };
	for (; i < n && (spec[i] == '-' || spec[i] == '0'); i++) {
		f->left |= spec[i] == '-';
		f->zero |= spec[i] == '0';
	}
	for (; i < n && spec[i] >= '0' && spec[i] <= '9' && f->width < 4096; i++)
		f->width = f->width * 10 + (size_t)(spec[i] - '0');
	for (; i < n && spec[i] == 'l'; i++)
		;
	f->zero &= !f->left;
	return i == n;
}

static void simple_number(const struct simple *f, char conv, uint64_t v, struct strbuf *b)
{
	char text[24], *end = text + sizeof(text), *s = end;
	bool minus = conv != 'u' && conv != 'x' && (int64_t)v < 0;
	unsigned base = conv == 'x' ? 16 : 10;
	size_t n;

	v = minus ? 0 - v : v;
	do
		*--s = "0123456789abcdef"[v % base];
	while (v /= base);
	n = (size_t)(end - s) + minus;
	if (!f->left && !f->zero && n < f->width)
		strbuf_fill(b, ' ', f->width - n);
	if (minus)
		strbuf_putc(b, '-');
	if (f->zero && n < f->width)
		strbuf_fill(b, '0', f->width - n);
	strbuf_add(b, s, (size_t)(end - s));
	if (f->left && n < f->width)
		strbuf_fill(b, ' ', f->width - n);
}

/* %hd is of 16 bits, %hhd of 8; all else of 64. */
static uint64_t message_cut(const char *spec, size_t n, char conv, uint64_t v)
{
	const char *h = memchr(spec, 'h', n);
	bool is_signed = conv == 'd' || conv == 'i', byte = h && h + 1 < spec + n && h[1] == 'h';

	if (!h)
		return v;
	if (is_signed)
		return byte ? (uint64_t)(int8_t)v : (uint64_t)(int16_t)v;
	return byte ? (uint8_t)v : (uint16_t)v;
}

/* What was added from some place on, in a field. */
static void simple_text(const struct simple *f, size_t from, struct strbuf *b)
{
	size_t n = b->n - from, pad = n < f->width ? f->width - n : 0;

	if (!pad)
		return;
	strbuf_fill(b, ' ', pad);
	if (f->left)
		return;
	memmove(b->data + from + pad, b->data + from, n);
	memset(b->data + from, ' ', pad);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void format(const struct lang_out *o, const struct lang_action *a, const char *data,
		   struct strbuf *b)
{
	size_t arg = 0;

	for (const char *s = a->format; *s; s++) {
		const char *start = s;
		struct simple plain;
		size_t n;
		char conv;

		if (*s != '%') {
			n = strcspn(s, "%");
			strbuf_add(b, s, n);
			s += n - 1;
			continue;
		}
		if (s[1] == '%') {
			strbuf_putc(b, '%');
			s++;
			continue;
		}
		s++;
		s += strspn(s, "-+ #0123456789.hlzjt");
		conv = *s;
		n = (size_t)(s - start);
		if (!conv)
			return;
		if (arg >= a->n_args)
			continue;
		if (strchr("diuxXocp", conv) && lt_is_word(a->arg[arg].type)) {
			uint64_t v;

			memcpy(&v, data + a->arg[arg].offset, 8);
			v = message_cut(start, n, conv, v);
			if (strchr("diux", conv) && is_simple(start, n, &plain))
				simple_number(&plain, conv, v, b);
			else
				one_number(start, n, conv, v, b);
		} else if (conv == 's' && is_simple(start, n, &plain)) {
			size_t from = b->n;

			lang_show_value(o, a->arg[arg].type, data + a->arg[arg].offset, false, b);
			simple_text(&plain, from, b);
		} else {
			AUTO_STRBUF text = { 0 };
			char spec[48];
			size_t k = 0;

			if (conv == 'r' && (s[1] == 'x' || s[1] == 'h'))
				hex_bytes(a->arg[arg].type, data + a->arg[arg].offset, *++s == 'x',
					  &text);
			else
				lang_show_value(o, a->arg[arg].type, data + a->arg[arg].offset,
						false, &text);
			for (size_t i = 0; i < n && k < sizeof(spec) - 1; i++)
				if (!strchr("hlzjt", start[i]))
					spec[k++] = start[i];
			one_text(spec, k, strbuf_str(&text), b);
		}
		arg++;
	}
}
#pragma GCC diagnostic pop

static void message_say(struct lang_out *o, const char *type, const struct strbuf *text)
{
	if (!o->json) {
		strbuf_add(&o->text, strbuf_str(text), text->n);
		return;
	}
	json_open(o, type);
	lang_json_text(&o->text, strbuf_str(text), text->n);
	strbuf_puts(&o->text, "}\n");
}

static void print_value(struct lang_out *o, const struct lang_action *a, const char *data)
{
	AUTO_STRBUF text = { 0 };

	if (o->json) {
		json_open(o, "value");
		lang_show_json(o, a->arg[0].type, data + a->arg[0].offset, &o->text);
		strbuf_puts(&o->text, "}\n");
		return;
	}
	if (a->map_key_text) {
		strbuf_printf(&o->text, "%s", a->map_key_text);
		for (size_t i = 1; i < a->n_args; i++) {
			strbuf_puts(&o->text, i > 1 ? ", " : "[");
			lang_show_value(o, a->arg[i].type, data + a->arg[i].offset, true, &o->text);
		}
		strbuf_puts(&o->text, a->n_args > 1 ? "]: " : ": ");
	}
	lang_show_value(o, a->arg[0].type, data + a->arg[0].offset, false, &text);
	strbuf_add(&o->text, strbuf_str(&text), text.n);
	strbuf_putc(&o->text, '\n');
}

static void print_time(struct lang_out *o, const char *fmt)
{
	struct strbuf b = { 0 };
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	show_wall(o->h->now ? o->h->now(o->h->ctx)
			    : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec,
		  fmt, &b);
	message_say(o, "time", &b);
	strbuf_free(&b);
}

static void message_join(struct lang_out *o, const struct lang_action *a, const char *data)
{
	AUTO_STRBUF b = { 0 };
	size_t from;

	for (int i = 0; i < JOIN_ARGS; i++) {
		const char *s = data + 8 + i * JOIN_SIZE;

		if (!*s)
			break;
		strbuf_puts(&b, i ? a->format : "");
		from = b.n;
		strbuf_add(&b, s, strnlen(s, JOIN_SIZE));
		show_made_safe(o, false, from, &b);
	}
	strbuf_putc(&b, '\n');
	message_say(o, "join", &b);
}

static void print_file(struct lang_out *o, const char *path)
{
	struct strbuf b = { 0 };
	int r = o->h->read ? o->h->read(o->h->ctx, path, &b) : -ENOSYS;

	if (r < 0) {
		strbuf_printf(&o->errors, "cannot read %s: %s\n", path, strerror(-r));
	} else {
		show_made_safe(o, true, 0, &b);
		message_say(o, "cat", &b);
	}
	strbuf_free(&b);
}

/* Time and length, then the bytes. */
static void packet(struct lang_out *o, const struct lang_action *a, const char *data)
{
	uint64_t head[2];

	memcpy(head, data + 8, sizeof(head));
	if (o->h->packet && head[1] <= a->size - 8 - sizeof(head))
		o->h->packet(o->h->ctx, a->format, head[0], data + 8 + sizeof(head), head[1]);
}

static void set_zeroed(struct lang_out *o, int map, bool yes)
{
	if (!o->zeroed && yes)
		o->zeroed = mem_alloc(o->p->maps.n * sizeof(*o->zeroed));
	if (o->zeroed)
		o->zeroed[map] = yes;
}

void lang_message(struct lang_out *o, const void *data, size_t n)
{
	const struct lang_action *a;
	AUTO_STRBUF text = { 0 };
	uint64_t v = 0;
	uint32_t id;

	o->messages++;
	if (n < 8) {
		o->bad++;
		return;
	}
	memcpy(&id, data, 4);
	if (id >= o->p->actions.n || n < o->p->actions.data[id].size) {
		o->bad++;
		return;
	}
	a = &o->p->actions.data[id];
	if (a->n_args && n >= 16)
		memcpy(&v, (const char *)data + 8, 8);
	switch (a->kind) {
	case LA_PRINTF:
		o->whole = strcmp(a->format, "%s") == 0;
		format(o, a, data, &text);
		o->whole = false;
		message_say(o, "printf", &text);
		break;
	case LA_ERRORF:
	case LA_DEBUGF: format(o, a, data, &o->errors); break;
	case LA_PRINT: print_value(o, a, data); break;
	case LA_PRINT_MAP: lang_show_map(o, a->map, a->top, a->div); break;
	case LA_TABLE: lang_show_table(o, a->map, a->format, a->top, a->div); break;
	case LA_HISTOGRAM: lang_show_histogram(o, a->map, a->format, a->section); break;
	case LA_STACKS: lang_show_stacks(o, a->map, a->how); break;
	case LA_CLEAR:
		o->h->map_clear(o->h->ctx, a->map);
		set_zeroed(o, a->map, false);
		if (o->ending)
			vec_push(&o->gone, a->map);
		break;
	case LA_ZERO:
		o->h->map_zero(o->h->ctx, a->map);
		set_zeroed(o, a->map, true);
		break;
	case LA_EXIT:
		o->exit = true;
		o->exit_code = (int)(v & 255);
		break;
	case LA_TIME: print_time(o, a->format); break;
	case LA_JOIN: message_join(o, a, data); break;
	case LA_CAT:
		format(o, a, data, &text);
		print_file(o, strbuf_str(&text));
		break;
	case LA_SYSTEM:
		format(o, a, data, &text);
		if (o->h->run) {
			struct strbuf b = { 0 };

			o->h->run(o->h->ctx, strbuf_str(&text), &b);
			show_made_safe(o, true, 0, &b);
			message_say(o, "syscall", &b);
			strbuf_free(&b);
		}
		break;
	case LA_NEW_PROCESS:
		if (o->h->new_process)
			o->h->new_process(o->h->ctx, (int32_t)v);
		break;
	case LA_SKBOUTPUT: packet(o, a, data); break;
	case LA_HELPER_ERROR: break;
	}
}
