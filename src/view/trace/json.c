/* SPDX-License-Identifier: MIT */
/* The same as JSON, an object a line. */
#include <string.h>

#include "base/json.h"
#include "view/trace/names.h"
#include "view/trace/trace.h"

static struct json trace_json_head(struct trace_lines *l, const struct trace_record *r,
				   const char *kind)
{
	struct json j = json_to_out(l->out, JSON_SPACED);

	json_object(&j, NULL);
	json_str(&j, "type", kind);
	json_u64(&j, "time", r->start > l->begin ? r->start - l->begin : 0);
	json_u64(&j, "pid", r->pid);
	json_u64(&j, "tid", r->tid);
	json_strn(&j, "comm", r->comm, strnlen(r->comm, sizeof(r->comm)));
	return j;
}

static void trace_json_end(const struct trace_lines *l, struct json *j)
{
	if (l->n_frames) {
		json_array(j, "stack");
		for (size_t i = 0; i < l->n_frames; i++)
			json_str(j, NULL, l->frames[i]);
		json_end(j);
	}
	json_end(j);
	out_putc(l->out, '\n');
}

void trace_json_call(struct trace_lines *l, const struct trace_record *r, const void *data)
{
	const struct syscall_sig *s = trace_words_sig(l->words, r);
	struct json j = trace_json_head(l, r, "call");
	unsigned n = trace_args(l->words, r);
	AUTO_STRBUF b = { 0 };
	const char *error;
	char buf[24];

	if (!(r->flags & TRACE_NO_START))
		json_u64(&j, "duration", r->end - r->start);
	json_str(&j, "call", trace_call_name(l->words, r, buf));
	json_i64(&j, "number", r->nr);
	json_str(&j, "abi", syscall_abi_name(l->words->abi[r->abi]));
	json_object(&j, "args");
	for (unsigned i = 0; i < n; i++) {
		if (trace_hidden(l->words, r, i))
			continue;
		strbuf_reset(&b);
		trace_arg(l->words, r, data, i, &b);
		json_strn(&j, s->arg[i].name, strbuf_str(&b), b.n);
	}
	json_end(&j);
	if (r->kind == TRACE_CALL) {
		json_i64(&j, "ret", r->ret);
		error = trace_failed(r) ? trace_names_error((int)-r->ret) : NULL;
		if (error)
			json_str(&j, "error", error);
	} else {
		json_bool(&j, r->kind == TRACE_EXITED ? "exited" : "unfinished", true);
	}
	if (r->flags & TRACE_CUT)
		json_bool(&j, "cut", true);
	trace_json_end(l, &j);
}

void trace_json_event(struct trace_lines *l, const struct trace_record *r, const char *name,
		      const char *text)
{
	struct json j = trace_json_head(l, r, "event");

	json_str(&j, "event", name);
	json_str(&j, "text", text);
	trace_json_end(l, &j);
}

static void sum_json(struct json *j, const struct syscalls_row *r, const struct trace_words *w)
{
	struct trace_record rec = { .nr = r->nr, .abi = r->abi };
	char buf[24];

	json_object(j, NULL);
	json_str(j, "call", trace_call_name(w, &rec, buf));
	json_u64(j, "calls", r->sum.calls);
	json_u64(j, "errors", r->sum.errors);
	json_u64(j, "total", r->sum.ns);
	json_u64(j, "min", r->sum.min);
	json_u64(j, "max", r->sum.max);
	out_printf(json_raw(j, "stddev"), "%.4f", syscalls_deviation(&r->sum));
	if (r->abi)
		json_str(j, "abi", syscall_abi_name(w->abi[r->abi]));
	if (r->unfinished) {
		json_u64(j, "unfinished", r->unfinished);
		json_u64(j, "unfinished_longest", r->unfinished_ns);
	}
	json_object(j, "by_error");
	vec_each (&r->errors, e) {
		const char *name = trace_names_error((int)e->error);

		snprintf(buf, sizeof(buf), "%llu", (unsigned long long)e->error);
		json_u64(j, name ? name : buf, e->count);
	}
	json_end(j);
	json_end(j);
}

void trace_sums_json(struct out *o, const struct syscalls *s, const struct trace_words *w)
{
	struct json j = json_to_out(o, JSON_SPACED);

	vec_each (&s->tasks, t) {
		json_object(&j, NULL);
		json_str(&j, "type", "summary");
		json_u64(&j, "id", t->id);
		json_str(&j, "comm", t->comm);
		json_u64(&j, "calls", t->calls);
		json_u64(&j, "errors", t->errors);
		json_u64(&j, "total", t->ns);
		json_array(&j, "rows");
		vec_each (&t->rows, r)
			sum_json(&j, r, w);
		json_end(&j);
		json_end(&j);
		out_putc(o, '\n');
	}
}
