/* SPDX-License-Identifier: MIT */
/* The same as JSON, an object a line. */
#include <string.h>

#include "base/json.h"
#include "view/trace/names.h"
#include "view/trace/trace.h"

static void quoted(struct out *o, const char *key, const char *s, size_t n)
{
	out_printf(o, "\"%s\": ", key);
	json_quote(o, s, n);
}

static void trace_json_head(struct trace_lines *l, const struct trace_record *r, const char *kind)
{
	out_printf(l->out, "{\"type\": \"%s\", \"time\": %llu, \"pid\": %u, \"tid\": %u, ", kind,
		   (unsigned long long)(r->start > l->begin ? r->start - l->begin : 0), r->pid,
		   r->tid);
	quoted(l->out, "comm", r->comm, strnlen(r->comm, sizeof(r->comm)));
}

static void trace_json_stack(const struct trace_lines *l)
{
	for (size_t i = 0; i < l->n_frames; i++) {
		out_puts(l->out, i ? ", " : ", \"stack\": [");
		json_quote(l->out, l->frames[i], strlen(l->frames[i]));
	}
	if (l->n_frames)
		out_putc(l->out, ']');
}

void trace_json_call(struct trace_lines *l, const struct trace_record *r, const void *data)
{
	const struct syscall_sig *s = trace_words_sig(l->words, r);
	unsigned n = trace_args(l->words, r);
	AUTO_STRBUF b = { 0 };
	const char *error;
	char buf[24];

	trace_json_head(l, r, "call");
	if (!(r->flags & TRACE_NO_START))
		out_printf(l->out, ", \"duration\": %llu", (unsigned long long)(r->end - r->start));
	out_printf(l->out, ", \"call\": \"%s\", \"number\": %d, \"abi\": \"%s\", \"args\": {",
		   trace_call_name(l->words, r, buf), r->nr,
		   syscall_abi_name(l->words->abi[r->abi]));
	for (unsigned i = 0; i < n; i++) {
		if (trace_hidden(l->words, r, i))
			continue;
		strbuf_reset(&b);
		trace_arg(l->words, r, data, i, &b);
		if (i)
			out_puts(l->out, ", ");
		quoted(l->out, s->arg[i].name, strbuf_str(&b), b.n);
	}
	out_puts(l->out, "}");
	if (r->kind == TRACE_CALL) {
		out_printf(l->out, ", \"ret\": %lld", (long long)r->ret);
		error = trace_failed(r) ? trace_names_error((int)-r->ret) : NULL;
		if (error)
			out_printf(l->out, ", \"error\": \"%s\"", error);
	} else {
		out_printf(l->out, ", \"%s\": true",
			   r->kind == TRACE_EXITED ? "exited" : "unfinished");
	}
	if (r->flags & TRACE_CUT)
		out_puts(l->out, ", \"cut\": true");
	trace_json_stack(l);
	out_puts(l->out, "}\n");
}

void trace_json_event(struct trace_lines *l, const struct trace_record *r, const char *name,
		      const char *text)
{
	trace_json_head(l, r, "event");
	out_puts(l->out, ", ");
	quoted(l->out, "event", name, strlen(name));
	out_puts(l->out, ", ");
	quoted(l->out, "text", text, strlen(text));
	trace_json_stack(l);
	out_puts(l->out, "}\n");
}

static void sum_json(struct out *o, const struct syscalls_row *r, const struct trace_words *w)
{
	struct trace_record rec = { .nr = r->nr, .abi = r->abi };
	char buf[24];
	bool any = false;

	out_printf(o,
		   "{\"call\": \"%s\", \"calls\": %llu, \"errors\": %llu, \"total\": %llu, "
		   "\"min\": %llu, \"max\": %llu, \"stddev\": %.4f",
		   trace_call_name(w, &rec, buf), (unsigned long long)r->sum.calls,
		   (unsigned long long)r->sum.errors, (unsigned long long)r->sum.ns,
		   (unsigned long long)r->sum.min, (unsigned long long)r->sum.max,
		   syscalls_deviation(&r->sum));
	if (r->abi)
		out_printf(o, ", \"abi\": \"%s\"", syscall_abi_name(w->abi[r->abi]));
	if (r->unfinished)
		out_printf(o, ", \"unfinished\": %llu, \"unfinished_longest\": %llu",
			   (unsigned long long)r->unfinished, (unsigned long long)r->unfinished_ns);
	out_puts(o, ", \"by_error\": {");
	vec_each (&r->errors, e) {
		const char *name = trace_names_error((int)e->error);

		out_puts(o, any ? ", \"" : "\"");
		if (name)
			out_puts(o, name);
		else
			out_u64(o, e->error, 0);
		out_printf(o, "\": %llu", (unsigned long long)e->count);
		any = true;
	}
	out_puts(o, "}}");
}

void trace_sums_json(struct out *o, const struct syscalls *s, const struct trace_words *w)
{
	vec_each (&s->tasks, t) {
		out_printf(o, "{\"type\": \"summary\", \"id\": %u, ", t->id);
		quoted(o, "comm", t->comm, strlen(t->comm));
		out_printf(o, ", \"calls\": %llu, \"errors\": %llu, \"total\": %llu, \"rows\": [",
			   (unsigned long long)t->calls, (unsigned long long)t->errors,
			   (unsigned long long)t->ns);
		vec_each (&t->rows, r) {
			if (r != t->rows.data)
				out_puts(o, ", ");
			sum_json(o, r, w);
		}
		out_puts(o, "]}\n");
	}
}
