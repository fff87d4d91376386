/* SPDX-License-Identifier: MIT */
/* Reading for `kymo ftrace report`: buffers of files merged by time, filtered, printed. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "calc/read/ftrace_filter.h"
#include "cmd/command.h"
#include "cmd/ftrace/info.h"
#include "cmd/ftrace/report.h"
#include "cmd/share/input.h"
#include "event/match.h"
#include "event/text.h"
#include "kern/cpu.h"
#include "store/tracedat/tracedat.h"
#include "view/ftrace/spans_text.h"

enum { FLAG_HARDIRQ = 8, FLAG_SOFTIRQ = 16 };

struct file {
	struct source *s;
	const struct tracedat *t;
	struct ftrace_names *names;
	struct ftrace_text *text;
	struct ftrace_report_clock clock;
	VEC(struct ftrace_filter *) in, out;
};

/* One buffer of one file. */
struct handle {
	struct file *file;
	size_t buffer;
	const char *name; /* before its lines; NULL: blanks */
	struct tracedat_walk *walk;
	struct ftrace_record rec;
	bool have, done;
	/* By CPU, whose numbers are the file's word and may be anything. */
	struct map printed; /* a record was shown, so are stacks */
	struct map last;    /* its time */
};

struct report {
	struct ftrace_report_args *a;
	struct out *out;
	VEC(struct file *) files;
	VEC(struct handle) handles;
	struct cpus cpus;
	bool some_cpus;
	size_t name_width;
	bool tagged; /* lines say which buffer they are of */
	struct wakeups wakeups;
};

static bool wants_cpu(void *ctx, uint32_t cpu)
{
	const struct report *r = ctx;

	return cpus_has(&r->cpus, (int)cpu);
}

uint64_t ftrace_report_time(const struct ftrace_report_clock *c, uint64_t stamp)
{
	if (c->raw)
		return stamp;
	if (c->hz)
		stamp = (uint64_t)((unsigned __int128)stamp * 1000000000u / c->hz) +
			(uint64_t)c->t->time_offset;
	else
		stamp = tracedat_time(c->t, stamp);
	return stamp + (uint64_t)c->offset;
}

bool ftrace_report_in_ns(const struct ftrace_report_clock *c)
{
	return !c->raw && (c->hz || tracedat_in_ns(c->t));
}

static void ftrace_report_run_fill(const struct file *f, const struct tracedat_record *from,
				   struct ftrace_record *to)
{
	uint16_t id = 0;
	uint32_t type = UINT32_MAX;

	*to = (struct ftrace_record){ .r = from->r,
				      .time = ftrace_report_time(&f->clock, from->r.time),
				      .cpu = from->cpu };
	if (tracedat_head(f->t, &from->r, &id, &to->pid))
		type = tracedat_type(f->s, id);
	to->type = type == UINT32_MAX ? NULL : &f->s->trace->types[type];
}

static bool peek(void *ctx, struct ftrace_record *ret)
{
	const struct handle *h = ctx;
	struct tracedat_record rec;

	if (!tracedat_walk_peek(h->walk, &rec))
		return false;
	ftrace_report_run_fill(h->file, &rec, ret);
	return true;
}

static void ftrace_report_run_take(void *ctx)
{
	struct handle *h = ctx;
	struct tracedat_record rec;

	tracedat_walk_next(h->walk, &rec);
}

/* --- filters --- */

/* Any that holds is enough, be it to show a record or to hide it. */
static enum ftrace_match test(struct ftrace_filter **filters, size_t n, const struct handle *h)
{
	struct ftrace_subject s = { .type = h->rec.type,
				    .data = h->rec.r.data,
				    .size = h->rec.r.size,
				    .cpu = h->rec.cpu,
				    .time = h->rec.time };
	enum ftrace_match m = FTRACE_NONE;

	if (!n)
		return FTRACE_NONE;
	if (!s.type)
		return FTRACE_NOEXIST;
	s.comm = ftrace_text_comm_of(h->file->text, h->rec.pid);
	for (size_t i = 0; i < n && m != FTRACE_MATCH; i++)
		m = ftrace_filter_match(filters[i], &s);
	return m;
}

static bool is_stack(const struct handle *h)
{
	return h->rec.type && match_tracepoint(h->rec.type, "ftrace", "kernel_stack");
}

static uint64_t *printed(struct handle *h)
{
	return map_at(&h->printed, h->rec.cpu);
}

/* A stack goes with the records of its CPU, unless it is filtered out itself. */
static bool stack_wanted(struct handle *h)
{
	struct file *f = h->file;

	return is_stack(h) && *printed(h) && test(f->out.data, f->out.n, h) != FTRACE_MATCH;
}

static bool ftrace_report_run_wanted(const struct report *r, struct handle *h)
{
	struct file *f = h->file;
	uint8_t flags = h->rec.r.size > f->t->flags_at ? h->rec.r.data[f->t->flags_at] : 0;

	if ((r->a->no_irqs && flags & FLAG_HARDIRQ) || (r->a->no_softirqs && flags & FLAG_SOFTIRQ))
		return stack_wanted(h);
	switch (test(f->in.data, f->in.n, h)) {
	case FTRACE_NONE:
	case FTRACE_MATCH: return test(f->out.data, f->out.n, h) != FTRACE_MATCH;
	default: return stack_wanted(h);
	}
}

static bool next_of(const struct report *r, struct handle *h)
{
	struct tracedat_record rec;

	if (h->have || h->done)
		return h->have;
	while (tracedat_walk_next(h->walk, &rec)) {
		ftrace_report_run_fill(h->file, &rec, &h->rec);
		if (ftrace_report_run_wanted(r, h)) {
			h->have = true;
			*printed(h) = true;
			return true;
		}
	}
	h->done = true;
	return false;
}

/* --- files --- */

static const char *format_system(void *ctx, size_t i)
{
	return ((const struct file *)ctx)->t->formats[i].system;
}

static const char *format_event(void *ctx, size_t i)
{
	return ((const struct file *)ctx)->t->formats[i].name;
}

static const struct event_type *format_type(void *ctx, size_t i)
{
	const struct file *f = ctx;
	uint32_t type = tracedat_type(f->s, f->t->formats[i].id);

	return type == UINT32_MAX ? NULL : &f->s->trace->types[type];
}

/* typed: by somebody who may have mistaken a field */
static int add_filter(const struct report *rep, struct file *f, const char *text, bool negate,
		      bool typed, struct err *e)
{
	struct ftrace_events events = { f->t->n_formats, format_system, format_event, f,
					typed ? format_type : NULL };
	struct ftrace_filter *filter;
	int r = ftrace_filter_new(text, &events, &filter, e);

	if (r < 0)
		return r;
	if (rep->a->test_filters)
		ftrace_info_filter(f->s, filter, rep->out);
	if (negate)
		vec_push(&f->out, filter);
	else
		vec_push(&f->in, filter);
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
	int code = 0;

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

static int ftrace_report_run_make_text(const struct report *r, struct file *f, struct err *e)
{
	const struct ftrace_report_args *a = r->a;
	const struct tracedat *t = f->t;
	const struct trace *trace = f->s->trace;
	struct ftrace_text_opts o = { .latency = a->latency,
				      .nsec = a->nsec,
				      .raw = a->raw,
				      .diff = a->diff,
				      .plain = a->no_plugins,
				      .boundaries = a->boundaries };
	struct ftrace_heads h = { t->type_at,	 t->pid_at,    t->flags_at,
				  t->preempt_at, t->long_size, t->swap };
	bool userobj = false;
	int code = read_names(r, f, e);

	o.raw_time = !ftrace_report_in_ns(&f->clock);
	o.diff_nsec = !t->has_clock; /* a file of trace-cmd split: as trace-cmd does */
	vec_each (&a->plugin_opts, x)
		if (code == 0)
			code = plugin_option(&o, &userobj, *x, e);
	if (code < 0)
		return code;
	if (userobj && !t->n_maps) /* said once: all else is shown */
		command_note("what processes had mapped is not in the file (record --proc-map)");
	o.mapped = userobj && t->n_maps ? trace->tasks : NULL;
	f->text = ftrace_text_new(&o, &h, trace->tep, f->names);
	if (t->cmdlines)
		ftrace_text_comms(f->text, t->cmdlines, t->cmdlines_size);
	for (size_t i = 0; i < trace->n_types; i++) {
		ftrace_text_type(f->text, &trace->types[i]);
		vec_each (&a->raw_events, x)
			if (match_regex_either(*x, trace->types[i].system, trace->types[i].event))
				ftrace_text_raw(f->text, &trace->types[i]);
		vec_each (&a->plain_events, x)
			if (match_regex_either(*x, trace->types[i].system, trace->types[i].event))
				ftrace_text_plain(f->text, &trace->types[i]);
	}
	return 0;
}

static int ftrace_report_run_open_file(struct report *r, const struct ftrace_report_input *in,
				       struct err *e)
{
	struct file *f = mem_alloc(sizeof(*f));
	int code;

	vec_push(&r->files, f);
	code = tracedat_open(in->path, &f->s, e);
	if (code < 0)
		return code;
	f->t = tracedat_of(f->s);
	f->clock = (struct ftrace_report_clock){ .t = f->t,
						 .offset = in->time_offset,
						 .hz = in->hz ? in->hz : r->a->hz,
						 .raw = r->a->raw_time };
	if (r->a->no_date && f->t->has_date)
		f->clock.offset -= f->t->time_offset;
	code = ftrace_report_run_make_text(r, f, e);
	return code < 0 ? code : add_filters(r, f, e);
}

static void add_handle(struct report *r, struct file *f, size_t buffer, const char *name)
{
	struct handle *h = vec_add(&r->handles);
	const char *slash = name ? strrchr(name, '/') : NULL;

	h->file = f;
	h->buffer = buffer;
	h->name = slash ? slash + 1 : name;
	if (h->name && strlen(h->name) > r->name_width)
		r->name_width = strlen(h->name);
	h->walk = tracedat_walk_new(f->s, buffer, r->some_cpus ? wants_cpu : NULL, r);
}

static void put_tag(const struct report *r, const struct handle *h)
{
	if (!r->tagged)
		return;
	out_right(r->out, h->name ? h->name : "", r->name_width);
	out_puts(r->out, h->name ? ": " : "  ");
}

static void check_time(struct report *r, struct handle *h)
{
	uint64_t *last;

	if (!r->a->check)
		return;
	last = map_at(&h->last, h->rec.cpu);
	if (*last > h->rec.time && !r->a->quiet) {
		out_flush(r->out);
		command_note("time goes backwards on CPU %u: %" PRIu64 " to %" PRIu64, h->rec.cpu,
			     *last, h->rec.time);
	}
	*last = h->rec.time;
}

static void ftrace_report_run_print_all(struct report *r)
{
	for (;;) {
		struct handle *best = NULL;

		vec_each (&r->handles, h)
			if (next_of(r, h) &&
			    (!best || (int64_t)h->rec.time < (int64_t)best->rec.time))
				best = h;
		if (!best || r->out->error)
			return;
		check_time(r, best);
		put_tag(r, best);
		ftrace_text_line(best->file->text, &best->rec,
				 &(struct ftrace_next){ peek, ftrace_report_run_take, best },
				 r->out);
		if (r->a->wakeup)
			wakeups_record(&r->wakeups, &best->rec, r->out);
		out_putc(r->out, '\n');
		best->have = false;
	}
}

static void align(struct report *r)
{
	int64_t first = INT64_MAX;

	vec_each (&r->files, f) {
		int64_t t = (int64_t)ftrace_report_time(&(*f)->clock, (*f)->t->first_stamp);

		first = t < first ? t : first;
	}
	vec_each (&r->files, f)
		(*f)->clock.offset -= first;
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

	r->tagged = n_files > 1;
	for (size_t i = 0; i < n_files; i++)
		add_handle(r, r->files.data[i], 0, n_files > 1 ? r->a->inputs.data[i].path : NULL);
	if (r->a->align)
		align(r);
	for (size_t i = 0; i < n_files; i++) {
		struct file *f = r->files.data[i];

		put_tag(r, &r->handles.data[i]);
		out_printf(r->out, "cpus=%u\n", f->t->n_cpus);
		if (ftrace_report_run_print_text(r, f))
			return 0;
		if (only) {
			ftrace_info_only(f->s, r->a, r->out);
			continue;
		}
		if (r->a->wakeup)
			wakeups_init(&r->wakeups, f->s->trace);
		for (size_t k = 1; k < f->t->n_buffers; k++)
			add_handle(r, f, k, f->t->buffers[k].name);
		r->tagged = n_files > 1 || f->t->n_buffers > 1;
	}
	if (only)
		return 0;
	for (size_t i = 0; i < n_files && r->a->profile; i++) {
		int code = ftrace_report_run_profile(r, r->files.data[i]->s, e);

		if (code < 0)
			return code;
	}
	if (r->a->profile)
		return 0;
	ftrace_report_run_print_all(r);
	if (r->a->wakeup)
		wakeups_finish(&r->wakeups, r->out);
	return 0;
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
	vec_each (&r->handles, h) {
		tracedat_walk_free(h->walk);
		map_free(&h->printed);
		map_free(&h->last);
	}
	vec_each (&r->files, x) {
		struct file *f = *x;

		vec_each (&f->in, i)
			ftrace_filter_free(*i);
		vec_each (&f->out, o)
			ftrace_filter_free(*o);
		vec_free(&f->in);
		vec_free(&f->out);
		ftrace_text_free(f->text);
		ftrace_names_free(f->names);
		source_close(f->s);
		free(f);
	}
	vec_free(&r->handles);
	vec_free(&r->files);
	cpus_free(&r->cpus);
	wakeups_free(&r->wakeups);
}

int ftrace_report_run(struct ftrace_report_args *a, struct out *out, struct err *e)
{
	struct report r = { .a = a, .out = out };
	int code = 0;

	if (a->cpus) {
		code = cpus_parse_any(a->cpus, &r.cpus, e);
		r.some_cpus = true;
	}
	vec_each (&a->inputs, in)
		if (code >= 0)
			code = ftrace_report_run_open_file(&r, in, e);
	if (code >= 0 && a->test_filters && (a->filters.n || a->pids || a->comms))
		; /* was told as they were read */
	else if (code >= 0 && ftrace_info_other(r.files.data[0]->s, r.files.data[0]->names,
						&r.files.data[0]->clock, a, out))
		code = a->check_events ? ftrace_info_check(r.files.data[0]->s, e) : 0;
	else if (code >= 0)
		code = ftrace_report_run_show(&r, e);
	if (code >= 0) {
		out_flush(out);
		warn(&r);
	}
	close_all(&r);
	return code < 0 ? code : 0;
}
