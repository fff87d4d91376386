/* SPDX-License-Identifier: MIT */
/* Attach points as text: "tracepoint:sched:sched_switch", "uprobe:/bin/bash:readline+4". */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "lang/parse/parse.h"

const char *const lang_kind_name[LP_N] = {
	[LP_BEGIN] = "BEGIN",
	[LP_END] = "END",
	[LP_KPROBE] = "kprobe",
	[LP_KRETPROBE] = "kretprobe",
	[LP_FENTRY] = "fentry",
	[LP_FEXIT] = "fexit",
	[LP_TRACEPOINT] = "tracepoint",
	[LP_RAWTP] = "rawtracepoint",
	[LP_UPROBE] = "uprobe",
	[LP_URETPROBE] = "uretprobe",
	[LP_USDT] = "usdt",
	[LP_PROFILE] = "profile",
	[LP_INTERVAL] = "interval",
	[LP_SOFTWARE] = "software",
	[LP_HARDWARE] = "hardware",
	[LP_WATCHPOINT] = "watchpoint",
	[LP_ITER] = "iter",
	[LP_SELF] = "self",
};

#define PERF BPF_PROG_TYPE_PERF_EVENT
#define KPROBE BPF_PROG_TYPE_KPROBE
#define TRACING BPF_PROG_TYPE_TRACING
#define RAW BPF_PROG_TYPE_RAW_TRACEPOINT
#define MATCHED LANG_KIND_MATCHED
#define COOKIE LANG_KIND_COOKIE
const struct lang_kind_about lang_kinds[LP_N] = {
	[LP_BEGIN] = { { "begin" }, RAW, .flags = LANG_KIND_OWN },
	[LP_END] = { { "end" }, RAW, .flags = LANG_KIND_OWN },
	[LP_KPROBE] = { { "k" }, KPROBE, .flags = MATCHED | COOKIE },
	[LP_KRETPROBE] = { { "kr" }, KPROBE, .flags = MATCHED | COOKIE },
	[LP_FENTRY] = { { "kfunc", "f" }, TRACING, BPF_TRACE_FENTRY, MATCHED | LANG_KIND_TYPED },
	[LP_FEXIT] = { { "kretfunc", "fr" }, TRACING, BPF_TRACE_FEXIT, MATCHED | LANG_KIND_TYPED },
	[LP_TRACEPOINT] = { { "t" }, BPF_PROG_TYPE_TRACEPOINT, .flags = MATCHED | COOKIE },
	[LP_RAWTP] = { { "rt" }, RAW, .flags = MATCHED },
	[LP_UPROBE] = { { "u" }, KPROBE, .flags = MATCHED | COOKIE | LANG_KIND_USER },
	[LP_URETPROBE] = { { "ur" }, KPROBE, .flags = MATCHED | COOKIE | LANG_KIND_USER },
	[LP_USDT] = { { "U" }, KPROBE, .flags = MATCHED | COOKIE | LANG_KIND_USER },
	[LP_PROFILE] = { { "p" }, PERF },
	[LP_INTERVAL] = { { "i" }, RAW, .flags = LANG_KIND_OWN },
	[LP_SOFTWARE] = { { "s" }, PERF, .flags = MATCHED },
	[LP_HARDWARE] = { { "h" }, PERF, .flags = MATCHED },
	[LP_WATCHPOINT] = { { "w", "asyncwatchpoint", "aw" }, PERF },
	[LP_ITER] = { { "it" }, TRACING, BPF_TRACE_ITER, MATCHED | LANG_KIND_TYPED },
	[LP_SELF] = { { NULL }, RAW, .flags = LANG_KIND_OWN },
};

/* Is it one of the kind's names? Names of more than a letter may be meant by others. */
static bool point_is_called(enum lang_kind kind, const char *name, struct str_nearest *near)
{
	const char *one = lang_kind_name[kind];

	for (size_t i = 0; one;
	     one = i < ARRAY_SIZE(lang_kinds->other) ? lang_kinds[kind].other[i++] : NULL) {
		if (strcmp(one, name) == 0)
			return true;
		if (one[1])
			str_nearest_add(near, one);
	}
	return false;
}

/* Parts between colons; quotes keep colons inside. At most max; the rest stays in the last. */
static size_t point_split(const char *text, struct arena *a, const char **part, size_t max)
{
	AUTO_STRBUF b = { 0 };
	bool quoted = false;
	size_t n = 0;

	for (const char *s = text;; s++) {
		if (*s == '"') {
			quoted = !quoted;
		} else if (!*s || (*s == ':' && !quoted && n + 1 < max)) {
			part[n++] = arena_strdup(a, strbuf_str(&b));
			strbuf_reset(&b);
			if (!*s)
				return n;
		} else {
			strbuf_putc(&b, *s);
		}
	}
}

/* name+0x10, or a bare address. */
static int point_function(const char *text, struct arena *a, struct lang_point *p, struct err *e)
{
	const char *plus = strrchr(text, '+');
	uint64_t v;

	p->name = text;
	if (plus && plus > text) {
		if (!str_u64(plus + 1, &p->offset))
			return err_set(e, EINVAL, "'%s' is no offset", plus + 1);
		p->name = arena_strndup(a, text, (size_t)(plus - text));
		p->has_offset = true;
	}
	if (isdigit((unsigned char)p->name[0]) && str_u64(p->name, &v)) {
		p->is_addr = true;
		p->offset += v;
	}
	return 0;
}

static const struct {
	const char *name;
	uint64_t ns; /* 0: so many a second */
} rate_units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { "hz", 0 }
};

static int point_rate(struct lang_point *p, const char *unit, const char *number, struct err *e)
{
	bool known = false;
	uint64_t ns;

	if (!number) { /* interval:5s */
		if (str_duration(unit, 1, &ns) && ns) {
			p->target = "ns";
			p->number = ns;
			return 0;
		}
		err_set(e, EINVAL, "%s wants a unit and a number", lang_kind_name[p->kind]);
		return err_hint(e, "%s:s:1, :ms:100, :us:500 or :hz:99", lang_kind_name[p->kind]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rate_units); i++)
		known |= strcmp(rate_units[i].name, unit) == 0;
	p->target = unit;
	if (!known || !str_u64(number, &p->number) || !p->number) {
		err_set(e, EINVAL, known ? "'%s' is no rate" : "'%s' is no unit of time",
			known ? number : unit);
		return err_hint(e, "s, ms, us or hz, and a number above 0");
	}
	return 0;
}

static int point_watch(struct lang_point *p, const char **part, size_t n, struct arena *a,
		       struct err *e)
{
	bool twice = false;

	if (n != 4 || point_function(part[1], a, p, e) < 0 || !str_u64(part[2], &p->number) ||
	    strspn(part[3], "rwx") != strlen(part[3]) || !part[3][0] || strlen(part[3]) > 3) {
		err_set(e, EINVAL, "watchpoint wants an address, a length and a mode");
		return err_hint(e, "watchpoint:0xADDRESS:8:rw");
	}
	if (p->number != 1 && p->number != 2 && p->number != 4 && p->number != 8)
		return err_set(e, EINVAL, "a watchpoint is 1, 2, 4 or 8 bytes long");
	if (!p->is_addr) {
		err_set(e, EINVAL, "'%s' is no address to watch", part[1]);
		return err_hint(
			e, "nm shows those of a program's variables: watchpoint:0xADDRESS:8:w");
	}
	for (size_t i = 0; part[3][i]; i++)
		twice |= strchr(part[3] + i + 1, part[3][i]) != NULL;
	if (twice || (strchr(part[3], 'x') && part[3][1])) {
		err_set(e, EINVAL, "'%s' is no mode of a watchpoint", part[3]);
		return err_hint(e, "r, w, rw, or x alone, for code that is run");
	}
	snprintf(p->mode, sizeof(p->mode), "%s", part[3]);
	return 0;
}

static int point_parts(struct lang_point *p, const char **part, size_t n, struct arena *a,
		       struct err *e)
{
	switch (p->kind) {
	case LP_BEGIN:
	case LP_END:
		if (n == 1)
			return 0;
		return err_set(e, EINVAL, "%s takes nothing behind it", part[0]);
	case LP_KPROBE:
	case LP_KRETPROBE:
	case LP_FENTRY:
	case LP_FEXIT:
		if (n == 3)
			p->target = part[1];
		if ((n == 2 || n == 3) && part[n - 1][0])
			return point_function(part[n - 1], a, p, e);
		break;
	case LP_TRACEPOINT:
		if (n == 3 && part[1][0] && part[2][0]) {
			p->target = part[1];
			p->name = part[2];
			return 0;
		}
		err_set(e, EINVAL, "tracepoint wants a subsystem and an event");
		return err_hint(
			e, "tracepoint:sched:sched_switch; kymo run -l 'tracepoint:*' lists them");
	case LP_RAWTP:
	case LP_ITER:
	case LP_SELF:
		if (n >= 2 && part[n - 1][0]) {
			if (n > 2)
				p->target = part[1];
			p->name = part[n - 1];
			return 0;
		}
		break;
	case LP_UPROBE:
	case LP_URETPROBE:
		if (n >= 3 && part[1][0] && part[2][0]) {
			const char *f = part[2];

			p->target = part[1];
			if (n >= 4 && strcmp(part[2], "cpp") == 0) {
				p->provider = "cpp";
				f = part[3];
			}
			return point_function(f, a, p, e);
		}
		err_set(e, EINVAL, "%s wants a file and a function", lang_kind_name[p->kind]);
		return err_hint(e, "%s:/bin/bash:readline", lang_kind_name[p->kind]);
	case LP_USDT:
		if (n == 2 || n == 3 || n == 4) {
			p->target = n == 2 ? "" : part[1];
			p->provider = n == 4 ? part[2] : "*";
			p->name = part[n - 1];
			if (p->name[0])
				return 0;
		}
		err_set(e, EINVAL, "usdt wants a file, a provider and a probe");
		return err_hint(e, "usdt:/path/to/program:provider:probe");
	case LP_PROFILE:
	case LP_INTERVAL:
		if (n == 2 || n == 3)
			return point_rate(p, part[1], n == 3 ? part[2] : NULL, e);
		return point_rate(p, "", NULL, e);
	case LP_SOFTWARE:
	case LP_HARDWARE:
		if ((n == 2 || n == 3) && part[1][0]) {
			p->name = part[1];
			if (n == 3 && part[2][0] && !str_u64(part[2], &p->number))
				return err_set(e, EINVAL, "'%s' is no number of events", part[2]);
			return 0;
		}
		break;
	case LP_WATCHPOINT: return point_watch(p, part, n, a, e);
	case LP_N: break;
	}
	return err_set(e, EINVAL, "%s wants a name behind the colon", part[0]);
}

bool lang_point_parse(const char *text, struct arena *a, struct lang_point *ret, struct err *e)
{
	const char *part[8];
	size_t n = point_split(text, a, part,
			       str_starts(text, "uprobe:") || str_starts(text, "uretprobe:") ||
					       str_starts(text, "u:") || str_starts(text, "ur:")
				       ? (strstr(text, ":cpp:") ? 4 : 3)
				       : ARRAY_SIZE(part));
	struct str_nearest near = { .typed = part[0] };
	char list[128];

	*ret = (struct lang_point){ .text = arena_strdup(a, text) };
	for (ret->kind = 0; ret->kind < LP_N; ret->kind++)
		if (point_is_called(ret->kind, part[0], &near))
			return point_parts(ret, part, n, a, e) == 0;
	if (n == 1 && (str_has_glob(part[0]) || !part[0][0])) {
		err_set(e, EINVAL, "'%s' names no kind of probe", text);
		return false;
	}
	err_set(e, EINVAL, "'%s' is no kind of probe", part[0]);
	if (str_nearest_list(&near, list, sizeof(list)))
		err_hint(e, "did you mean %s?", list);
	else
		err_hint(e, "tracepoint, rawtracepoint, kprobe, uprobe, usdt, profile, interval, "
			    "software, hardware ...");
	return false;
}

uint64_t lang_point_every(const struct lang_point *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(rate_units); i++)
		if (rate_units[i].ns && strcmp(p->target, rate_units[i].name) == 0)
			return p->number * rate_units[i].ns;
	return p->number < 1000000000 ? 1000000000 / p->number : 1; /* hz */
}

uint64_t lang_point_period(const struct lang_point *p)
{
	static const struct {
		const char *name;
		uint64_t period;
	} usual[] = { { "cpu-clock", 1000000 },	    { "cpu", 1000000 }, { "task-clock", 1000000 },
		      { "page-faults", 100 },	    { "faults", 100 },	{ "minor-faults", 100 },
		      { "context-switches", 1000 }, { "cs", 1000 } };

	if (p->number || p->kind != LP_SOFTWARE)
		return p->number ? p->number : 1000000;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (strcmp(p->name, usual[i].name) == 0)
			return usual[i].period;
	return 1;
}

bool lang_point_event(const struct lang_point *p, struct strbuf *b)
{
	switch (p->kind) {
	case LP_TRACEPOINT: strbuf_printf(b, "%s:%s", p->target, p->name); return true;
	case LP_PROFILE:
		if (strcmp(p->target, "hz") == 0)
			strbuf_printf(b, "cpu-clock/freq=%" PRIu64 "/", p->number);
		else
			strbuf_printf(b, "cpu-clock/period=%" PRIu64 "/", lang_point_every(p));
		return true;
	case LP_SOFTWARE:
	case LP_HARDWARE:
		strbuf_printf(b, "%s/period=%" PRIu64 "/", p->name, lang_point_period(p));
		return true;
	default: return false;
	}
}

/* In a program a point ends at a blank, ',', '{' or '/'; a '/' in the path of a file is its own. */
bool parse_point(struct parser *p, struct lang_point *ret)
{
	struct lexer *l = &p->lex;
	AUTO_STRBUF text = { 0 };
	uint32_t start = p->tok.pos;
	struct err e = { 0 };
	unsigned colons = 0;
	bool file, quoted = false;

	l->at = start;
	file = l->text[start] == 'u' || l->text[start] == 'U';
	for (; l->at < l->n; l->at++) {
		char c = l->text[l->at];

		if (c == '"')
			quoted = !quoted;
		else if (!quoted && (isspace((unsigned char)c) || c == ',' || c == '{'))
			break;
		else if (!quoted && c == '/' && !(file && colons == 1))
			break;
		colons += c == ':';
		if (c == '$' && !quoted && isdigit((unsigned char)l->text[l->at + 1])) {
			char *end;
			long i = strtol(l->text + l->at + 1, &end, 10);

			if (i < 1 || i > p->src->n_args) {
				lang_error(p->d, l->at, 2, "there is no argument $%ld", i);
				lang_hint(p->d, "give it behind the program");
				return false;
			}
			strbuf_puts(&text, p->src->args[i - 1]);
			l->at = (uint32_t)(end - l->text) - 1;
			continue;
		}
		strbuf_putc(&text, c);
	}
	p->prev = (struct token){ .pos = start, .len = l->at - start };
	p->tok = lex_next(l);
	if (!lang_point_parse(strbuf_str(&text), p->arena, ret, &e)) {
		lang_error(p->d, start, p->prev.len, "%s", e.msg);
		if (e.hint[0])
			lang_hint(p->d, "%s", e.hint);
		return false;
	}
	ret->pos = start;
	ret->len = p->prev.len;
	return true;
}
