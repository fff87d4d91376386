/* SPDX-License-Identifier: MIT */
#include "store/text/script_text.h"

#include <string.h>

#include "base/vec.h"
#include "store/text/folded.h"

#define HINT                                                                                     \
	"perf script writes 'comm PID [CPU] TIME: COUNT EVENT:', and below it ' ADDRESS SYMBOL " \
	"(FILE)' a frame"

struct reader {
	const char *name;
	uint64_t line;
	bool open; /* a sample whose stack may go on */
	struct script_sample sample;
	VEC(struct script_frame) frames;
	script_text_fn *fn;
	void *ctx;
	struct err *e;
};

static int script_text_refuse(struct reader *r, int code, const char *why)
{
	text_refuse(r->e, code, r->name, r->line, "%s", why);
	return err_hint(r->e, HINT);
}

static int end_sample(struct reader *r)
{
	if (!r->open)
		return 0;
	r->open = false;
	r->sample.frame = r->frames.data;
	r->sample.n = r->frames.n;
	return r->fn(r->ctx, &r->sample, r->e);
}

/* News of processes, maps and losses, which perf script shows among samples when it is asked to. */
static bool is_other_record(const struct script_sample *s)
{
	return s->event.n > 12 && memcmp(s->event.s, "PERF_RECORD_", 12) == 0;
}

/* 1 when the line begins a sample, 0 when it does not. */
static int begin_sample(struct reader *r, const char *s, size_t n)
{
	struct script_sample new = { .line = r->line };
	struct text_part rest = { 0 };
	struct script_frame f;
	bool one = false;
	int k = script_text_header(s, n, &new, &rest);

	if (k == -ERANGE)
		return script_text_refuse(r, ERANGE, "the count is too large");
	if (k == 1 && rest.n && !new.tracepoint) /* what a tracepoint says is no code */
		one = script_text_frame(rest.s, rest.n, &f);
	/* behind an event may be anything, such as what a BPF program wrote */
	if (k != 1 || (rest.n && !new.event.s && !one))
		return 0;
	k = end_sample(r);
	if (k != 0 || is_other_record(&new))
		return k ? k : 1;
	r->frames.n = 0;
	r->sample = new;
	r->open = true;
	if (!one)
		return 1;
	vec_push(&r->frames, f);
	k = end_sample(r);
	return k ? k : 1;
}

static int script_text_add_frame(struct reader *r, const struct script_frame *f)
{
	if (r->frames.n == FOLDED_MAX_DEPTH)
		return script_text_refuse(r, E2BIG, "the stack has too many frames");
	vec_push(&r->frames, *f);
	return 0;
}

static int script_text_one_line(struct reader *r, const char *s, size_t n)
{
	char buf[TEXT_LINE_EXCERPT];
	struct script_frame f;
	int k;

	if (memchr(s, '\0', n))
		return script_text_refuse(r, EINVAL, "a NUL byte: this is no text");
	/* frames begin with a tab; where it became blanks, a process may be called "dd" */
	if (r->open && s[0] == '\t' && script_text_frame(s, n, &f))
		return script_text_add_frame(r, &f);
	k = begin_sample(r, s, n);
	if (k != 0)
		return k == 1 ? 0 : k;
	if (s[0] == '#' || (r->open && script_text_is_position(s, n)))
		return 0;
	if (r->open && text_is_space(s[0]) && script_text_frame(s, n, &f))
		return script_text_add_frame(r, &f);
	text_refuse(r->e, EINVAL, r->name, r->line, "neither a sample nor a frame of one: '%s'",
		    text_line_excerpt(s, n, buf));
	return err_hint(r->e, HINT);
}

int script_text_read(const char *name, const char *data, size_t n, script_text_fn *fn, void *ctx,
		     struct err *e)
{
	struct reader r = { .name = name, .fn = fn, .ctx = ctx, .e = e };
	const char *end = data + n, *s;
	size_t len;
	int k = 0;

	while (k == 0 && text_line_next(&data, end, &s, &len)) {
		r.line++;
		if (len > FOLDED_MAX_LINE)
			k = script_text_refuse(&r, E2BIG, "the line is too long");
		else
			k = len ? script_text_one_line(&r, s, len) : end_sample(&r);
	}
	if (k == 0)
		k = end_sample(&r);
	vec_free(&r.frames);
	return k;
}

bool script_text_looks(const char *data, size_t n)
{
	const char *end = data + n, *s;
	struct script_sample sample = { 0 };
	struct text_part rest = { 0 };
	struct script_frame f;
	size_t len;
	int k;

	do {
		if (!text_line_next(&data, end, &s, &len) || len > FOLDED_MAX_LINE)
			return false;
	} while (!len || s[0] == '#');
	k = script_text_header(s, len, &sample, &rest);
	if (k != 1)
		return k == -ERANGE; /* it is one, which the reader refuses */
	if (sample.timed && (sample.event.s || !rest.n))
		return true;
	if (rest.n) /* its only frame is there, or this is something else */
		return script_text_frame(rest.s, rest.n, &f) && f.file.s;
	return text_line_next(&data, end, &s, &len) && len && text_is_space(s[0]) &&
	       script_text_frame(s, len, &f);
}
