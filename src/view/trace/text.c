/* SPDX-License-Identifier: MIT */
/* System calls and what happens between them, a line each. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "view/trace/names.h"
#include "view/trace/trace.h"

static const char *const colors[] = { "", "\033[2m", "\033[31m", "\033[33m", "\033[1m" };
enum color { PLAIN, DIM, RED, YELLOW, BOLD };

static void paint(const struct trace_lines *l, enum color c)
{
	if (l->color)
		out_puts(l->out, c == PLAIN ? "\033[0m" : colors[c]);
}

static void milliseconds(struct out *o, uint64_t ns, unsigned width)
{
	char text[32];

	/* rounded to microseconds, as the eye wants it */
	snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)((ns + 500) / 1000000),
		 (unsigned long long)((ns + 500) / 1000 % 1000));
	out_right(o, text, width);
}

static void trace_text_head(struct trace_lines *l, const struct trace_record *r, bool lasts)
{
	uint64_t ns = r->end - r->start;
	AUTO_STRBUF b = { 0 };

	paint(l, DIM);
	milliseconds(l->out, r->start > l->begin ? r->start - l->begin : 0, 10);
	paint(l, PLAIN);
	out_puts(l->out, " (");
	if (!lasts) {
		out_puts(l->out, "         ");
	} else if (r->flags & TRACE_NO_START) {
		out_puts(l->out, "     ? ms");
	} else {
		paint(l, ns >= 10000000 ? RED : ns >= 1000000 ? YELLOW : PLAIN);
		milliseconds(l->out, ns, 6);
		out_puts(l->out, " ms");
		paint(l, PLAIN);
	}
	out_puts(l->out, "): ");
	trace_escape(r->comm, strnlen(r->comm, sizeof(r->comm)), false, &b);
	out_add(l->out, strbuf_str(&b), b.n);
	out_putc(l->out, '/');
	out_u64(l->out, r->tid, 0);
	out_putc(l->out, ' ');
}

static void trace_text_stack(const struct trace_lines *l)
{
	for (size_t i = 0; i < l->n_frames; i++)
		out_printf(l->out, "%*s%s\n", 36, "", l->frames[i]);
}

void trace_text_call(struct trace_lines *l, const struct trace_record *r, const void *data)
{
	const struct syscall_sig *s = trace_words_sig(l->words, r);
	AUTO_STRBUF b = { 0 };
	unsigned n = trace_args(l->words, r);
	char buf[24];

	trace_text_head(l, r, true);
	paint(l, BOLD);
	out_puts(l->out, trace_call_name(l->words, r, buf));
	paint(l, PLAIN);
	out_putc(l->out, '(');
	for (unsigned i = 0; i < n; i++) {
		if (trace_hidden(l->words, r, i))
			continue;
		if (i)
			strbuf_puts(&b, ", ");
		if (l->names)
			strbuf_printf(&b, "%s: ", s->arg[i].name);
		else if (trace_named(l->words, r, i))
			strbuf_printf(&b, "%s=", s->arg[i].name);
		trace_arg(l->words, r, data, i, &b);
	}
	strbuf_puts(&b, ") = ");
	out_add(l->out, b.data, b.n);
	strbuf_reset(&b);
	trace_result(l->words, r, data, &b);
	if (trace_failed(r))
		paint(l, RED);
	out_add(l->out, b.data, b.n);
	if (trace_failed(r))
		paint(l, PLAIN);
	if (r->kind == TRACE_UNFINISHED)
		out_puts(l->out, " <unfinished ...>");
	else if (r->kind == TRACE_EXITED && !str_starts(trace_call_name(l->words, r, buf), "exit"))
		out_puts(l->out, " <ended in it>");
	if (r->abi)
		out_puts(l->out, " [32-bit]");
	out_putc(l->out, '\n');
	trace_text_stack(l);
}

void trace_text_event(struct trace_lines *l, const struct trace_record *r, const char *name,
		      const char *text)
{
	trace_text_head(l, r, false);
	paint(l, BOLD);
	out_puts(l->out, name);
	paint(l, PLAIN);
	out_printf(l->out, "(%s)\n", text);
	trace_text_stack(l);
}

bool trace_text_signal(struct trace_lines *l, const struct trace_record *r, const char *text)
{
	AUTO_STRBUF b = { 0 };
	unsigned long handler;
	int sig, code;

	if (sscanf(text, "sig=%d errno=%*d code=%d sa_handler=%lx", &sig, &code, &handler) != 3)
		return false;
	strbuf_puts(&b, "--- ");
	if (sig == SIGKILL) { /* what the kernel makes of any signal that ends a process */
		strbuf_puts(&b, "killed: SIGKILL, or another that nobody handles");
	} else {
		trace_names_signal(sig, &b);
		strbuf_puts(&b, " {si_code=");
		trace_names_enum(sig == SIGCHLD && code > 0 ? "cld" : "si_code", (uint32_t)code,
				 &b);
		strbuf_puts(&b, ", sa_handler=");
		if (handler)
			strbuf_printf(&b, "0x%lx}", handler);
		else
			strbuf_puts(&b, "SIG_DFL}");
	}
	strbuf_puts(&b, " ---\n");
	trace_text_head(l, r, false);
	out_add(l->out, b.data, b.n);
	trace_text_stack(l);
	return true;
}
