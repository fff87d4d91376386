/* SPDX-License-Identifier: MIT */
/* The summary of a trace: a table a process, as perf trace -s shows it, with errors by name. */
#include "view/trace/names.h"
#include "view/trace/trace.h"

static void errors(struct out *o, const struct syscalls_row *r)
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

static void row(struct out *o, const struct syscalls_row *r, const struct trace_words *w)
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
		errors(o, r);
		out_putc(o, '\n');
	}
	if (r->unfinished)
		out_printf(o, "   %-18s %8llu not returned, the longest for %.3f ms\n", name.data,
			   (unsigned long long)r->unfinished, (double)r->unfinished_ns / 1e6);
}

static void trace_sums_put_name(struct out *o, const struct syscalls_task *t)
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
			trace_sums_put_name(o, t);
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
			row(o, r, w);
	}
	out_putc(o, '\n');
}
