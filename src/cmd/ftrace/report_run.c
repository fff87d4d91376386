/* SPDX-License-Identifier: MIT */
/* Reading for `kymo ftrace report`: the events of one or more files, chosen, as lines. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "calc/read/merge.h"
#include "calc/read/pick.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/report.h"
#include "event/match.h"
#include "view/ftrace/spans_text.h"

struct file {
	struct source *s;
	const struct tracedat *t;
	struct ftrace_names *names;
	struct ftrace_text *text;
	struct pick pick;
};

struct report {
	struct ftrace_report_args *a;
	struct out *out;
	VEC(struct file *) files;
	struct source *s; /* the file's, or all of them as one */
	size_t name_width;
	bool tagged; /* lines say which buffer they are of */
	struct ftrace_queue queue;
	struct map last; /* --ts-check: by part and CPU, the time of the last event */
	struct wakeups wakeups;
};

static struct file *file_of(const struct report *r, const struct event *ev)
{
	return r->files.data[r->s->trace->parts[ev->part].source];
}

/* --- filters --- */

static const char *comm_of(void *ctx, int32_t tid)
{
	return ftrace_text_comm_of(((const struct file *)ctx)->text, tid);
}

/* typed: by somebody who may have mistaken a field */
static int add_filter(const struct report *rep, struct file *f, const char *text, bool negate,
		      bool typed, struct err *e)
{
	AUTO_FREE struct ftrace_known *known = mem_alloc((f->t->n_formats + 1) * sizeof(*known));
	struct ftrace_filter *filter;
	int r;

	for (size_t i = 0; i < f->t->n_formats; i++) {
		const struct tracedat_format *x = &f->t->formats[i];
		uint32_t type = match_find_tracepoint(f->s->trace, x->system, x->name);

		known[i] = (struct ftrace_known){ x->system, x->name,
						  type == MATCH_NONE ? NULL
								     : &f->s->trace->types[type] };
	}
	r = ftrace_filter_new(text, known, f->t->n_formats, typed, &filter, e);
	if (r < 0)
		return r;
	if (rep->a->test_filters)
		ftrace_info_filter(f->s, filter, rep->out);
	if (negate)
		vec_push(&f->pick.out, filter);
	else
		vec_push(&f->pick.in, filter);
	return 0;
}

static int ftrace_report_run_add_pid(void *ctx, const char *part, size_t n)
{
	struct strbuf *b = ctx;

	strbuf_printf(b, "%s(common_pid==%.*s)||(pid==%.*s)||(next_pid==%.*s)",
		      b->n ? "||" : ".*:", (int)n, part, (int)n, part, (int)n, part);
	return 0;
}

/* The threads that had one of these names. */
static void add_comms(const struct tracedat *t, const char *comms, struct strbuf *b)
{
	const char *p = t->cmdlines, *end = p + t->cmdlines_size;

	while (p && p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *blank;
		size_t n;

		stop = stop ? stop : end;
		blank = memchr(p, ' ', (size_t)(stop - p));
		n = blank ? (size_t)(stop - blank) - 1 : 0;
		for (const char *c = comms; blank && *c;) {
			size_t len = strcspn(c, ",");

			if (len == n && memcmp(c, blank + 1, n) == 0)
				ftrace_report_run_add_pid(b, p, (size_t)(blank - p));
			c += len + (c[len] == ',');
		}
		p = stop + 1;
	}
}

static int add_filters(const struct report *r, struct file *f, struct err *e)
{
	AUTO_STRBUF pids = { 0 };
	int code = pick_make(&f->pick, &(struct pick_opts){ .cpus = r->a->cpus }, f->s->trace, e);

	f->pick.comm = comm_of;
	f->pick.ctx = f;
	f->pick.irqs_out =
		(r->a->no_irqs ? EVENT_IN_HARDIRQ : 0) | (r->a->no_softirqs ? EVENT_IN_SOFTIRQ : 0);
	vec_each (&r->a->filters, x)
		if (code == 0)
			code = add_filter(r, f, x->text, x->negate, true, e);
	if (r->a->comms)
		add_comms(f->t, r->a->comms, &pids);
	if (r->a->pids)
		str_split(r->a->pids, ',', ftrace_report_run_add_pid, &pids);
	if (r->a->comms && !pids.n && code == 0)
		return err_set(e, ENOENT, "the recording knows no command '%s'", r->a->comms);
	if (code == 0 && pids.n)
		code = add_filter(r, f, strbuf_str(&pids), false, false, e);
	return code;
}

/* NAME of "ftrace:NAME" or alone: not what is usual (indent is); "=0", "=false" turn it off. */
static int plugin_option(struct ftrace_text_opts *o, bool *userobj, const char *text, struct err *e)
{
	const char *colon = strchr(text, ':'), *name = colon ? colon + 1 : text;
	const char *value = strchr(name, '=');
	size_t n = value ? (size_t)(value - name) : strlen(name);
	bool on = !value || (strcmp(value, "=0") != 0 && strcmp(value, "=false") != 0);
	static const char *const names[] = { "tailprint", "depth",  "parent",
					     "offset",	  "indent", "sym-userobj" };
	bool *const fields[] = {
		&o->tail, &o->depth, &o->parent, &o->offset, &o->no_indent, userobj
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0) {
			*fields[i] = !value ? true : fields[i] == &o->no_indent ? !on : on;
			return 0;
		}
	err_set(e, EINVAL, "there is no option '%s'", text);
	return err_hint(e, "there are: fgraph:tailprint, fgraph:depth, ftrace:parent, "
			   "ftrace:indent, ftrace:offset, sym-userobj");
}

static int read_names(const struct report *r, struct file *f, struct err *e)
{
	const struct trace_info *info = &f->s->trace->info;
	AUTO_FREE char *text = NULL;
	size_t n = 0;
	int code;

	if (!r->a->kallsyms) {
		f->names =
			ftrace_names_new(info->kallsyms, info->kallsyms ? info->kallsyms_size : 0);
		return 0;
	}
	code = file_read(r->a->kallsyms, 512u << 20, &text, &n);
	if (code < 0)
		return err_set(e, -code, "cannot read %s: %s", r->a->kallsyms, strerror(-code));
	f->names = ftrace_names_new(text, n);
	return 0;
}

/* trace: with the types of all files. */
static int ftrace_report_run_make_text(const struct report *r, struct file *f,
				       const struct trace *trace, struct err *e)
{
	const struct ftrace_report_args *a = r->a;
	const struct tracedat *t = f->t;
	struct ftrace_text_opts o = { .tep = f->s->trace->tep,
				      .long_size = t->long_size,
				      .swap = t->swap,
				      .latency = a->latency,
				      .nsec = a->nsec,
				      .raw = a->raw,
				      .diff = a->diff,
				      .plain = a->no_plugins,
				      .boundaries = a->boundaries };
	bool userobj = false;
	int code = read_names(r, f, e);

	o.raw_time = !tracedat_in_ns(t);
	o.diff_nsec = !t->has_clock; /* a file of trace-cmd split: as trace-cmd does */
	vec_each (&a->plugin_opts, x)
		if (code == 0)
			code = plugin_option(&o, &userobj, *x, e);
	if (code < 0)
		return code;
	if (userobj && !t->n_maps) /* said once: all else is shown */
		command_note("what processes had mapped is not in the file (record --proc-map)");
	o.mapped = userobj && t->n_maps ? f->s->trace->tasks : NULL;
	f->text = ftrace_text_new(&o, trace, f->names);
	if (t->cmdlines)
		ftrace_text_comms(f->text, t->cmdlines, t->cmdlines_size);
	for (size_t i = 0; i < trace->n_types; i++) {
		const struct event_type *type = &trace->types[i];

		vec_each (&a->raw_events, x)
			if (match_regex_either(*x, type->system, type->event))
				ftrace_text_raw(f->text, i);
		vec_each (&a->plain_events, x)
			if (match_regex_either(*x, type->system, type->event))
				ftrace_text_plain(f->text, i);
	}
	return 0;
}

static int ftrace_report_run_open_file(struct report *r, const struct ftrace_report_input *in,
				       struct err *e)
{
	struct file *f = mem_alloc(sizeof(*f));
	int code;

	vec_push(&r->files, f);
	code = ftrace_input(in->path, &f->s, e);
	if (code < 0)
		return code;
	f->t = tracedat_of(f->s);
	tracedat_set_clock(f->s, &(struct tracedat_clock){ .offset = in->time_offset,
							   .hz = in->hz ? in->hz : r->a->hz,
							   .raw = r->a->raw_time,
							   .no_date = r->a->no_date });
	return 0;
}

static void align(struct report *r)
{
	int64_t first = INT64_MAX;

	vec_each (&r->files, f) {
		int64_t t = (int64_t)tracedat_time((*f)->t, (*f)->t->first_stamp);

		first = t < first ? t : first;
	}
	vec_each (&r->files, f)
		tracedat_set_clock((*f)->s, &(struct tracedat_clock){ .offset = -first });
}

/* All files as one. */
static int merge_files(struct report *r, struct err *e)
{
	size_t n = r->files.n;
	AUTO_FREE struct merge_input *in = mem_alloc(n * sizeof(*in));

	for (size_t i = 0; i < n; i++)
		in[i] = (struct merge_input){ r->files.data[i]->s, r->a->inputs.data[i].path };
	if (n == 1) {
		r->s = in[0].source;
		return 0;
	}
	return merge_new(in, n, &(struct merge_opts){ .as_is = true }, &r->s, e);
}

static int prepare(struct report *r, struct err *e)
{
	int code = 0;

	vec_each (&r->a->inputs, in)
		if (code >= 0)
			code = ftrace_report_run_open_file(r, in, e);
	if (code >= 0)
		code = merge_files(r, e);
	vec_each (&r->files, x) {
		struct file *f = *x;

		if (code >= 0)
			code = ftrace_report_run_make_text(r, f, r->s->trace, e);
		if (code >= 0)
			code = add_filters(r, f, e);
		if (code >= 0) /* whose types they are that it is asked about */
			f->pick.trace = r->s->trace;
	}
	return code;
}

/* --- lines --- */

static void put_tag(const struct report *r, const char *name)
{
	if (!r->tagged)
		return;
	out_right(r->out, name ? name : "", r->name_width);
	out_puts(r->out, name ? ": " : "  ");
}

/* Before its lines; NULL: blanks. Of files the last part of the path. */
static const char *part_name(const struct report *r, size_t part)
{
	const struct trace_part *p = &r->s->trace->parts[part];

	if (*p->name)
		return str_base_name(p->name);
	return r->files.n > 1 ? str_base_name(r->a->inputs.data[p->source].path) : NULL;
}

static void widen(struct report *r, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	r->name_width = n > r->name_width ? n : r->name_width;
}

static void check_time(struct report *r, const struct event *ev)
{
	uint64_t *last = map_at(&r->last, (uint64_t)ev->part << 32 | ev->cpu);

	if (*last > ev->time && !r->a->quiet) {
		out_flush(r->out);
		command_note("time goes backwards on CPU %u: %" PRIu64 " to %" PRIu64, ev->cpu,
			     *last, ev->time);
	}
	*last = ev->time;
}

static int print_line(void *ctx, const struct ftrace_line *l)
{
	struct report *r = ctx;

	if (r->a->check)
		check_time(r, l->ev);
	put_tag(r, r->tagged ? part_name(r, l->ev->part) : NULL);
	ftrace_text_line(l->text, l->ev, l->missed, l->end, r->out);
	if (r->a->wakeup)
		wakeups_event(&r->wakeups, l->ev, r->out);
	out_putc(r->out, '\n');
	return r->out->error != 0;
}

static int on_event(void *ctx, const struct event *ev)
{
	struct report *r = ctx;
	struct file *f = file_of(r, ev);

	if (!pick_cpu(&f->pick, ev))
		return 0;
	return ftrace_queue_add(&r->queue, f->text, ev,
				ev->kind == EVENT_LOST || pick_record(&f->pick, ev));
}

static int print_all(struct report *r, struct err *e)
{
	int code;

	r->queue.fn = print_line;
	r->queue.ctx = r;
	code = r->s->read_ordered(r->s, true, on_event, r, e);
	if (code == 0)
		ftrace_queue_flush(&r->queue);
	ftrace_queue_free(&r->queue);
	return code < 0 ? code : 0;
}

/* Latency tracers leave text instead of records. */
static bool ftrace_report_run_print_text(const struct report *r, const struct file *f)
{
	const struct tracedat_buffer *b = f->t->n_buffers ? &f->t->buffers[0] : NULL;

	if (!b || !b->text)
		return false;
	out_add(r->out, b->text, b->text_size);
	out_putc(r->out, '\n'); /* as trace-cmd does */
	return true;
}

static int ftrace_report_run_profile(const struct report *r, struct source *s, struct err *e)
{
	struct tables tables = { 0 };
	AUTO_FREE char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int code = ftrace_profile_tables(s, &r->a->p, &(struct analyse_args){ 0 }, &tables, e);

	if (code == 0)
		spans_text_profile_spans(f, &tables);
	fclose(f);
	out_add(r->out, text, n);
	tables_free(&tables);
	return code;
}

static int ftrace_report_run_show(struct report *r, struct err *e)
{
	size_t n_files = r->files.n;
	bool only = r->a->stat || r->a->uname || r->a->version;
	int code = 0;

	if (r->a->align)
		align(r);
	r->tagged = n_files > 1;
	for (size_t i = 0; i < n_files && r->tagged; i++)
		widen(r, str_base_name(r->a->inputs.data[i].path));
	for (size_t i = 0; i < n_files; i++) {
		struct file *f = r->files.data[i];

		put_tag(r, n_files > 1 ? str_base_name(r->a->inputs.data[i].path) : NULL);
		out_printf(r->out, "cpus=%u\n", f->t->n_cpus);
		if (ftrace_report_run_print_text(r, f))
			return 0;
		if (only) {
			ftrace_info_only(f->s, r->a, r->out);
			continue;
		}
		for (size_t k = 1; k < f->t->n_buffers; k++)
			widen(r, f->t->buffers[k].name);
		r->tagged = n_files > 1 || f->t->n_buffers > 1;
	}
	if (only)
		return 0;
	for (size_t i = 0; i < n_files && r->a->profile && code == 0; i++)
		code = ftrace_report_run_profile(r, r->files.data[i]->s, e);
	if (r->a->profile)
		return code;
	if (r->a->wakeup)
		wakeups_init(&r->wakeups, r->s->trace);
	code = print_all(r, e);
	if (r->a->wakeup)
		wakeups_finish(&r->wakeups, r->out);
	return code;
}

static void warn(const struct report *r)
{
	vec_each (&r->files, f)
		if (!r->a->quiet) {
			struct trace_losses *l = &(*f)->s->trace->losses;
			char n[64];

			if (l->note[0])
				command_note("%s", l->note);
			if (l->lost_events)
				command_note("%s lost while it was recorded",
					     str_were(l->lost_events, "event", n, sizeof(n)));
		}
}

static void close_all(struct report *r)
{
	vec_each (&r->files, x) {
		struct file *f = *x;

		pick_free(&f->pick);
		ftrace_text_free(f->text);
		ftrace_names_free(f->names);
		if (!r->s) /* else it is r->s, or part of it */
			source_close(f->s);
		free(f);
	}
	source_close(r->s);
	vec_free(&r->files);
	map_free(&r->last);
	wakeups_free(&r->wakeups);
}

int ftrace_report_run(struct ftrace_report_args *a, struct out *out, struct err *e)
{
	struct report r = { .a = a, .out = out };
	int code = prepare(&r, e);
	const struct file *first = r.files.data[0];

	if (code >= 0 && a->test_filters && (a->filters.n || a->pids || a->comms))
		; /* was told as they were read */
	else if (code >= 0 && ftrace_info_other(first->s, first->names, a, out))
		code = a->check_events ? ftrace_info_check(first->s, e) : 0;
	else if (code >= 0)
		code = ftrace_report_run_show(&r, e);
	if (code >= 0) {
		out_flush(out);
		warn(&r);
	}
	close_all(&r);
	return code < 0 ? code : 0;
}
