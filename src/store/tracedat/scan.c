/* SPDX-License-Identifier: MIT */
/*
 * The first walk over all pages: which events occur and how often, from when to
 * when, how many were lost. Types are made only of events that occur: a file has
 * the formats of all that its kernel knows.
 */
#include "base/pool.h"
#include "event/match.h"
#include "event/text.h"
#include "store/tracedat/impl.h"

#define IDS 65536u

struct job {
	const struct tracedat_buffer *buffer;
	struct tracedat_cpu *cpu;
	uint32_t *count; /* by format number */
	uint64_t first, last, lost, bad, lost_times;
};

struct jobs {
	struct reader *r;
	VEC(struct job) list;
};

bool tracedat_head(const struct tracedat *t, const struct ringbuf_record *rec, uint16_t *id,
		   int32_t *pid)
{
	uint16_t type;
	uint32_t task;

	if (rec->size < t->type_at + 2 || rec->size < t->pid_at + 4)
		return false;
	memcpy(&type, rec->data + t->type_at, 2);
	memcpy(&task, rec->data + t->pid_at, 4);
	*id = t->swap ? __builtin_bswap16(type) : type;
	*pid = (int32_t)(t->swap ? __builtin_bswap32(task) : task);
	return true;
}

static int walk_cpu(void *ctx, size_t i, unsigned worker)
{
	struct jobs *jobs = ctx;
	struct job *j = &jobs->list.data[i];
	struct ringbuf rb = { .layout = jobs->r->t.layout };
	uint32_t page = j->buffer->page_size;
	const uint8_t *done = j->cpu->data;

	j->count = mem_alloc(IDS * sizeof(*j->count));
	for (uint64_t at = 0; at < j->cpu->size; at += page) {
		uint64_t left = j->cpu->size - at;
		struct ringbuf_record rec;

		reader_done(jobs->r, &done, j->cpu->data + at);
		ringbuf_start(&rb, j->cpu->data + at, left < page ? (size_t)left : page);
		while (ringbuf_next(&rb, &rec)) {
			uint16_t id;
			int32_t pid;

			if (rec.missed) {
				j->lost += rec.missed > 0 ? (uint64_t)rec.missed : 0;
				j->lost_times++;
			}
			if (!tracedat_head(&jobs->r->t, &rec, &id, &pid)) {
				j->bad++;
				continue;
			}
			j->count[id]++;
			if (!j->cpu->records++)
				j->first = rec.time;
			j->last = rec.time;
		}
		j->bad += rb.bad;
	}
	return 0;
}

static uint32_t offset_of(const struct event_type *t, const char *name, uint32_t size,
			  uint32_t usual)
{
	const struct field *f = type_field(t, name);

	return f && f->size == size && f->offset < 256 ? f->offset : usual;
}

/* All records begin alike: any format says how. */
static void find_common(struct reader *r)
{
	struct event_type t = { 0 };

	vec_each (&r->formats, f)
		if (type_parse_format(&t, &r->trace.arena, f->text, f->size, NULL) == 0)
			break;
	r->t.type_at = offset_of(&t, "common_type", 2, 0);
	r->t.flags_at = offset_of(&t, "common_flags", 1, 2);
	r->t.preempt_at = offset_of(&t, "common_preempt_count", 1, 3);
	r->t.pid_at = offset_of(&t, "common_pid", 4, 4);
}

/* Jiffies are printed as they are: how long one is the file does not say. A journal's name is its
 * device's number. */
const char *tracedat_print_fmt(struct arena *a, const char *fmt)
{
	static const char *const calls[] = { "jiffies_to_msecs(", "jbd2_dev_to_name(" };
	char *copy = NULL, *at;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		size_t n = strlen(calls[i]);

		while ((at = strstr(copy ? copy : fmt, calls[i]))) {
			if (!copy) {
				copy = arena_strdup(a, fmt);
				continue;
			}
			memset(at, ' ', n - 1);
			*at = '+'; /* a call's result, not the field itself: raw shows differ */
		}
	}
	return copy ? copy : fmt;
}

static void add_type(struct reader *r, const struct tracedat_format *f)
{
	struct arena *a = &r->trace.arena;
	struct event_type *t = &r->trace.types[r->trace.n_types];

	*t = (struct event_type){ .system = f->system, .event = f->name };
	if (type_parse_format(t, a, f->text, f->size, NULL) < 0)
		tracedat_note(r, "the format of %s:%s makes no sense", f->system, f->name);
	else
		t->print_fmt = tracedat_print_fmt(a, t->print_fmt);
	t->name = arena_printf(a, "%s:%s", f->system, f->name);
	t->format_id = f->id;
	t->leader = (int)r->trace.n_types;
	t->class = TYPE_TRACEPOINT;
	t->code = f->id;
	t->has = EVENT_HAVE_TIME | EVENT_HAVE_TASK | EVENT_HAVE_CPU | EVENT_HAVE_RAW |
		 EVENT_HAVE_PERIOD;
	t->rate = 1;
	for (size_t k = 0; k < t->n_fields; k++)
		t->fields[k].swapped = r->t.swap;
	text_prepare(r->trace.tep, t, a);
	r->type_of[f->id] = (uint32_t)r->trace.n_types++;
}

/*
 * The tracer blk writes records that no format describes. Their number follows that of user
 * stacks, in all kernels so far. The text is device, action, kind, sector + sectors [error].
 */
static void add_blk(struct reader *r, const struct jobs *jobs)
{
	static const char text[] = "name: blktrace\nID: 0\nformat:\n"
				   "\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;\n"
				   "\tfield:unsigned int bytes;\toffset:24;\tsize:4;\tsigned:0;\n"
				   "\tfield:unsigned int action;\toffset:28;\tsize:4;\tsigned:0;\n"
				   "\tfield:int pid;\toffset:32;\tsize:4;\tsigned:1;\n"
				   "\tfield:unsigned int device;\toffset:36;\tsize:4;\tsigned:0;\n"
				   "\tfield:int cpu;\toffset:40;\tsize:4;\tsigned:0;\n"
				   "\tfield:short error;\toffset:44;\tsize:2;\tsigned:1;\n"
				   "\tfield:short pdu_len;\toffset:46;\tsize:2;\tsigned:0;\n"
				   "\tfield:char data;\toffset:48;\tsize:1;\tsigned:0;\n"
				   "\nprint fmt: \"%u,%u %s %s%s%s%s%s%s %llu + %u [%d]\", "
				   "REC->device >> 20, REC->device & 0xfffff, "
				   "__print_symbolic(REC->action & 0xffff, {1, \"Q\"}, "
				   "{2, \"M\"}, {3, \"F\"}, {4, \"G\"}, {5, \"S\"}, {6, \"R\"}, "
				   "{7, \"D\"}, {8, \"C\"}, {9, \"P\"}, {10, \"U\"}, {11, \"UT\"}, "
				   "{12, \"I\"}, {13, \"X\"}, {14, \"B\"}, {15, \"A\"}), "
				   "REC->action & 0x40000 ? \"F\" : \"\", "
				   "REC->action & 0x20000000 ? \"D\" : REC->action & 0x20000 ? "
				   "\"W\" : REC->bytes ? \"R\" : \"N\", "
				   "REC->action & 0x80000000 ? \"F\" : \"\", "
				   "REC->action & 0x8000000 ? \"A\" : \"\", "
				   "REC->action & 0x80000 ? \"S\" : \"\", "
				   "REC->action & 0x10000000 ? \"M\" : \"\", "
				   "REC->sector, REC->bytes >> 9, REC->error\n";
	struct tracedat_format f = {
		.system = "ftrace", .name = "blktrace", .text = text, .size = sizeof(text) - 1
	};
	uint64_t n = 0;

	vec_each (&r->formats, x)
		if (strcmp(x->name, "user_stack") == 0 && strcmp(x->system, "ftrace") == 0)
			f.id = x->id + 1;
	vec_each (&r->formats, x)
		if (x->id == f.id)
			return;
	vec_each (&jobs->list, j)
		n += f.id && f.id < IDS ? j->count[f.id] : 0;
	if (n)
		add_type(r, &f);
}

static const struct field *field_of(const struct reader *r, uint32_t type, const char *name)
{
	return type == NO_TYPE ? NULL : type_field(&r->trace.types[type], name);
}

static void find_fields(struct reader *r)
{
	r->fields.ip = field_of(r, r->fn_type, "ip");
	r->fields.parent = field_of(r, r->fn_type, "parent_ip");
	r->fields.entry_func = field_of(r, r->entry_type, "func");
	r->fields.entry_depth = field_of(r, r->entry_type, "depth");
	r->fields.exit_func = field_of(r, r->exit_type, "func");
	r->fields.exit_depth = field_of(r, r->exit_type, "depth");
	r->fields.calltime = field_of(r, r->exit_type, "calltime");
	r->fields.rettime = field_of(r, r->exit_type, "rettime");
}

static void make_types(struct reader *r, const struct jobs *jobs)
{
	bool stacks;

	r->trace.types = arena_alloc(&r->trace.arena, (r->formats.n + 2) * sizeof(*r->trace.types));
	r->type_of = mem_grow(NULL, IDS * sizeof(*r->type_of));
	memset(r->type_of, 0xff, IDS * sizeof(*r->type_of));
	/* the ends of functions first: they have the times, and views begin with the first type */
	for (int pass = 0; pass < 2; pass++) {
		vec_each (&r->formats, f) {
			uint64_t n = 0;

			if ((strcmp(f->name, "funcgraph_exit") == 0) != (pass == 0))
				continue;
			vec_each (&jobs->list, j)
				n += j->count[f->id];
			/* what is live has no pages yet: any event may come */
			if ((n || !jobs->list.n) && r->type_of[f->id] == NO_TYPE)
				add_type(r, f);
		}
	}
	add_blk(r, jobs);
	r->fn_type = match_find_tracepoint(&r->trace, "ftrace", "function");
	r->entry_type = match_find_tracepoint(&r->trace, "ftrace", "funcgraph_entry");
	r->exit_type = match_find_tracepoint(&r->trace, "ftrace", "funcgraph_exit");
	r->kstack_type = match_find_tracepoint(&r->trace, "ftrace", "kernel_stack");
	r->ustack_type = match_find_tracepoint(&r->trace, "ftrace", "user_stack");
	r->graph = r->exit_type != NO_TYPE;
	if (r->graph) {
		r->trace.types[r->exit_type].unit = "ns";
		r->trace.types[r->exit_type].spans = true;
	}
	find_fields(r);
	stacks = r->kstack_type != NO_TYPE || r->ustack_type != NO_TYPE;
	for (size_t i = 0; i < r->trace.n_types; i++)
		if (stacks || i == r->exit_type || i == r->fn_type)
			r->trace.types[i].has |= EVENT_HAVE_CHAIN | EVENT_HAVE_IP;
}

uint64_t tracedat_time(const struct tracedat *t, uint64_t stamp)
{
	if (t->raw_time)
		return stamp;
	if (t->hz)
		stamp = (uint64_t)((unsigned __int128)stamp * 1000000000u / t->hz);
	else if (t->tsc_mult)
		stamp = (uint64_t)(((unsigned __int128)stamp * t->tsc_mult) >> t->tsc_shift);
	return stamp + (uint64_t)t->time_offset;
}

void tracedat_set_clock(struct source *s, const struct tracedat_clock *c)
{
	struct tracedat *t = &reader_of(s)->t;

	if (c->no_date && t->has_date)
		t->time_offset = 0;
	t->time_offset += c->offset;
	t->hz = c->hz ? c->hz : t->hz;
	t->raw_time = t->raw_time || c->raw;
}

bool tracedat_in_ns(const struct tracedat *t)
{
	/* boot is in nanoseconds as well, but trace-cmd shows it as it is */
	static const char *const known[] = { "", "local", "global", "uptime", "perf", "tai" };
	const char *clock = t->n_buffers && *t->buffers[0].clock ? t->buffers[0].clock : t->clock;

	if (t->raw_time || t->hz)
		return !t->raw_time;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(clock, known[i]) == 0)
			return true;
	return strncmp(clock, "mono", 4) == 0 || t->tsc_mult != 0;
}

static void add_up(struct reader *r, struct jobs *jobs)
{
	struct trace *t = &r->trace;
	uint64_t unknown = 0;
	bool any = false;

	vec_each (&jobs->list, j) {
		uint64_t first = tracedat_time(&r->t, j->first),
			 last = tracedat_time(&r->t, j->last);

		t->losses.lost_events += j->lost;
		t->losses.lost_records += j->lost_times;
		t->losses.bad_records += j->bad;
		for (uint32_t id = 0; id < IDS; id++)
			if (j->count[id]) {
				if (r->type_of[id] == NO_TYPE)
					unknown += j->count[id];
				else
					t->n_samples += j->count[id];
			}
		if (!j->cpu->records)
			continue;
		if (!any || first < t->first_time)
			t->first_time = first;
		if (!any || last > t->last_time)
			t->last_time = last;
		if (!any || j->first < r->t.first_stamp)
			r->t.first_stamp = j->first;
		any = true;
	}
	t->losses.unknown_records = unknown;
	if (t->losses.bad_records)
		tracedat_note(r, "some pages are damaged");
	if (unknown)
		tracedat_note(r, "some records have no format");
}

int scan_pages(struct reader *r, struct err *e)
{
	struct jobs jobs = { .r = r };
	struct trace_part *parts;
	unsigned n_cpus = 0;

	find_common(r);
	parts = arena_alloc(&r->trace.arena, (r->buffers.n + 1) * sizeof(*parts));
	vec_each (&r->buffers, b) {
		parts[r->trace.n_parts++].name = b->name;
		for (size_t i = 0; i < b->n_cpus; i++) {
			if (b->cpus[i].cpu >= n_cpus && b->cpus[i].cpu != UINT32_MAX)
				n_cpus = b->cpus[i].cpu + 1;
			if (b->cpus[i].size && b->cpus[i].data)
				vec_push(&jobs.list,
					 (struct job){ .buffer = b, .cpu = &b->cpus[i] });
		}
	}
	r->trace.parts = parts;
	r->trace.info.clock = r->t.has_date				  ? "date"
			      : r->t.tsc_mult				  ? "tsc"
			      : r->buffers.n && *r->buffers.data[0].clock ? r->buffers.data[0].clock
									  : r->t.clock;
	pool_run(jobs.list.n, 0, walk_cpu, &jobs);
	make_types(r, &jobs);
	add_up(r, &jobs);
	vec_each (&jobs.list, j)
		free(j->count);
	vec_free(&jobs.list);
	if (!r->t.n_cpus)
		r->t.n_cpus = n_cpus;
	r->trace.info.cpus_available = r->trace.info.cpus_online = r->t.n_cpus;
	r->trace.info.version = *r->t.tool ? r->t.tool : NULL;
	/* a graph follows tasks from CPU to CPU */
	r->source.n_chunks = r->graph ? r->buffers.n : 0;
	for (size_t i = 0; !r->graph && i < r->buffers.n; i++)
		r->source.n_chunks += r->buffers.data[i].n_cpus;
	return 0;
}
