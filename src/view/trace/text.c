/* SPDX-License-Identifier: MIT */
/* System calls and what happens between them, a line each, and their sums. */
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

/* --- sums: a table a process, as perf trace -s shows it, with errors by name --- */

static void put_errors(struct out *o, const struct syscalls_row *r)
{
	vec_each (&r->errors, e) {
		const char *name = trace_names_error((int)e->error);

		out_puts(o, e == r->errors.data ? "  " : ", ");
		if (name)
			out_puts(o, name);
		else
			out_u64(o, e->error, 0);
		out_printf(o, " %llu", (unsigned long long)e->count);
	}
}

static void put_row(struct out *o, const struct syscalls_row *r, const struct trace_words *w)
{
	struct trace_record rec = { .nr = r->nr, .abi = r->abi };
	double n = r->sum.calls ? (double)r->sum.calls : 1;
	AUTO_STRBUF name = { 0 };
	char buf[24];

	strbuf_printf(&name, "%s%s", trace_call_name(w, &rec, buf), r->abi ? " (32)" : "");
	if (r->sum.calls) {
		out_printf(o, "   %-18s %8llu %7llu %12.3f %9.3f %9.3f %9.3f %8.2f%%", name.data,
			   (unsigned long long)r->sum.calls, (unsigned long long)r->sum.errors,
			   (double)r->sum.ns / 1e6, (double)r->sum.min / 1e6,
			   (double)r->sum.ns / n / 1e6, (double)r->sum.max / 1e6,
			   syscalls_deviation(&r->sum));
		put_errors(o, r);
		out_putc(o, '\n');
	}
	if (r->unfinished)
		out_printf(o, "   %-18s %8llu not returned, the longest for %.3f ms\n", name.data,
			   (unsigned long long)r->unfinished, (double)r->unfinished_ns / 1e6);
}

static void put_task(struct out *o, const struct syscalls_task *t)
{
	AUTO_STRBUF name = { 0 };

	trace_escape(t->comm, strlen(t->comm), false, &name);
	out_printf(o, "\n %s (%u)", name.n ? name.data : "?", t->id);
}

void trace_sums_text(struct out *o, const struct syscalls *s, const struct trace_words *w)
{
	out_puts(o, "\n Summary of system calls:\n");
	vec_each (&s->tasks, t) {
		if (!t->rows.n)
			continue;
		if (t->id)
			put_task(o, t);
		else
			out_puts(o, "\n all");
		out_printf(o, ", %llu call%s, %.1f%%, %.3f ms\n\n", (unsigned long long)t->calls,
			   t->calls == 1 ? "" : "s",
			   s->calls ? 100.0 * (double)t->calls / (double)s->calls : 0,
			   (double)t->ns / 1e6);
		out_printf(o, "   %-18s %8s %7s %12s %9s %9s %9s %9s  %s\n", "syscall", "calls",
			   "errors", "total", "min", "avg", "max", "stddev", "by error");
		out_printf(o, "   %-18s %8s %7s %12s %9s %9s %9s %9s\n", "", "", "", "(msec)",
			   "(msec)", "(msec)", "(msec)", "(%)");
		out_puts(o, "   ------------------ -------- ------- ------------ --------- "
			    "--------- --------- ---------\n");
		vec_each (&t->rows, r)
			put_row(o, r, w);
	}
	out_putc(o, '\n');
}
