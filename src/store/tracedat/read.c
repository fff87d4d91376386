/* SPDX-License-Identifier: MIT */
/*
 * Records as events of the waist. The stacks that the kernel writes as records of
 * their own behind an event become that event's call chain. Of function_graph the
 * ends count: each has the functions around it as its chain, and weighs what it
 * took less what those that it called took.
 */
#include "base/map.h"
#include "store/tracedat/impl.h"

#define MAX_DEPTH 256u
#define MAX_FRAMES 512u

/* The functions a task is in, by depth; how long those called took. */
struct calls {
	uint64_t func[MAX_DEPTH], inside[MAX_DEPTH];
};

/* Processes of threads, which are the same for all of a recording. */
static int32_t pid_of(const struct reader *r, struct tracedat_pids *c, int32_t tid)
{
	size_t at = (uint32_t)tid % ARRAY_SIZE(c->tid);
	int32_t pid;

	if (c->pid[at] && c->tid[at] == tid)
		return c->pid[at];
	pid = tasks_pid_at(r->trace.tasks, tid, UINT64_MAX);
	c->tid[at] = tid;
	return c->pid[at] = pid < 0 ? tid : pid;
}

/* How much is handed out. */
enum amount {
	SUMS, /* of what weighs something: no beginnings of functions */
	SAMPLES,
	ALL, /* with what was lost, records of stacks and those without a format */
};

struct reading {
	const struct reader *r;
	struct tracedat_walk *walk;
	uint64_t chain[MAX_FRAMES + 4];
	VEC(struct tracedat_record) stacks; /* that the chain was made of */
	struct map tasks;		    /* tid to index in calls, + 1 */
	VEC(struct calls *) calls;
	event_fn *fn;
	void *ctx;
	enum amount amount;
	struct tracedat_pids pids;
};

static bool tracedat_read_number(const struct field *f, const struct ringbuf_record *rec,
				 uint64_t *ret)
{
	int64_t v;

	if (!f || !field_int(f, rec->data, rec->size, &v))
		return false;
	*ret = (uint64_t)v;
	return true;
}

static uint64_t tracedat_read_word(const struct reader *r, const uint8_t *p)
{
	uint64_t v64;
	uint32_t v32;

	if (r->t.long_size == 4) {
		memcpy(&v32, p, 4);
		return r->t.swap ? __builtin_bswap32(v32) : v32;
	}
	memcpy(&v64, p, 8);
	return r->t.swap ? __builtin_bswap64(v64) : v64;
}

/* Addresses of a stack record, from field caller on, or all eight of a user's. */
static uint32_t add_frames(struct reading *rd, const struct event_type *t,
			   const struct ringbuf_record *rec, uint32_t n)
{
	const struct field *f = type_field(t, "caller");
	uint32_t step = rd->r->t.long_size, at = f ? f->offset : rec->size;
	uint64_t none = step == 8 ? UINT64_MAX : UINT32_MAX;

	for (; at + step <= rec->size && n < MAX_FRAMES; at += step) {
		uint64_t v = tracedat_read_word(rd->r, rec->data + at);

		if (v == none || !v)
			break;
		rd->chain[n++] = v;
	}
	return n;
}

static struct calls *calls_of(struct reading *rd, int32_t tid, uint32_t cpu)
{
	/* the idle tasks of all CPUs are thread 0 */
	uint64_t *at = map_at(&rd->tasks, tid ? (uint32_t)tid : 1ull << 32 | cpu);

	if (!*at) {
		vec_push(&rd->calls, (struct calls *)mem_alloc(sizeof(struct calls)));
		*at = rd->calls.n;
	}
	return rd->calls.data[*at - 1];
}

static void enter(struct reading *rd, const struct ringbuf_record *rec, const struct event *ev)
{
	uint64_t func, depth;
	struct calls *c;

	if (!tracedat_read_number(rd->r->fields.entry_func, rec, &func) ||
	    !tracedat_read_number(rd->r->fields.entry_depth, rec, &depth) || depth >= MAX_DEPTH)
		return;
	c = calls_of(rd, ev->tid, ev->cpu);
	c->func[depth] = func;
	c->inside[depth] = 0;
}

static void tracedat_read_leave(struct reading *rd, const struct ringbuf_record *rec,
				struct event *ev)
{
	uint64_t func, depth, begin = 0, end = 0, took, self;
	struct calls *c;
	uint32_t n = 0;

	if (!tracedat_read_number(rd->r->fields.exit_func, rec, &func) ||
	    !tracedat_read_number(rd->r->fields.exit_depth, rec, &depth) || depth >= MAX_DEPTH)
		return;
	/* newer kernels say how long, older ones from when to when */
	if (!tracedat_read_number(rd->r->fields.calltime, rec, &begin) ||
	    !tracedat_read_number(rd->r->fields.rettime, rec, &end))
		return;
	took = end > begin ? end - begin : 0;
	c = calls_of(rd, ev->tid, ev->cpu);
	self = c->func[depth] == func && c->inside[depth] < took ? took - c->inside[depth] : 0;
	if (c->func[depth] != func) /* its beginning was not seen */
		self = took;
	if (depth)
		c->inside[depth - 1] += took;
	rd->chain[n++] = EVENT_CHAIN_KERNEL;
	rd->chain[n++] = func;
	/* views look for a caller just before the address it returns to */
	for (uint64_t d = depth; d-- > 0 && c->func[d];)
		rd->chain[n++] = c->func[d] + 1;
	c->func[depth] = 0;
	c->inside[depth] = 0;
	ev->weight = self;
	ev->ip = func;
	ev->chain = rd->chain;
	ev->chain_n = n;
	ev->have |= EVENT_HAVE_IP | EVENT_HAVE_CHAIN | EVENT_HAVE_PERIOD;
}

/* The stacks behind a record are its own when nothing else of the CPU came between. */
static void take_stacks(struct reading *rd, const struct tracedat_record *rec, struct event *ev)
{
	const struct reader *r = rd->r;
	const struct tracedat_record *next;
	uint32_t n = 0;

	rd->stacks.n = 0;
	while (n + 2 < MAX_FRAMES && (next = tracedat_walk_peek(rd->walk)) &&
	       next->cpu == rec->cpu && next->buffer == rec->buffer) {
		uint16_t id;
		int32_t tid;
		uint32_t type;

		if (!tracedat_head(&r->t, &next->r, &id, &tid) || tid != ev->tid)
			break;
		type = r->type_of[id];
		if (type == NO_TYPE || (type != r->kstack_type && type != r->ustack_type))
			break;
		rd->chain[n++] = type == r->kstack_type ? EVENT_CHAIN_KERNEL : EVENT_CHAIN_USER;
		n = add_frames(rd, &r->trace.types[type], &next->r, n);
		tracedat_walk_next(rd->walk, vec_add(&rd->stacks));
	}
	if (!n)
		return;
	ev->chain = rd->chain;
	ev->chain_n = n;
	ev->ip = n > 1 ? rd->chain[1] : 0;
	ev->have |= EVENT_HAVE_CHAIN | EVENT_HAVE_IP;
}

static void tracedat_read_function(struct reading *rd, const struct ringbuf_record *rec,
				   struct event *ev)
{
	uint64_t ip, parent;

	if (ev->chain_n || !tracedat_read_number(rd->r->fields.ip, rec, &ip) ||
	    !tracedat_read_number(rd->r->fields.parent, rec, &parent))
		return;
	rd->chain[0] = EVENT_CHAIN_KERNEL;
	rd->chain[1] = ip;
	rd->chain[2] = parent;
	ev->chain = rd->chain;
	ev->chain_n = 3;
	ev->ip = ip;
	ev->have |= EVENT_HAVE_CHAIN | EVENT_HAVE_IP;
}

void tracedat_event(const struct reader *r, struct tracedat_pids *pids,
		    const struct tracedat_record *rec, struct event *ev)
{
	const uint8_t *data = rec->r.data;
	uint16_t id;

	memset(ev, 0, sizeof(*ev)); /* faster than a struct that is copied */
	ev->kind = EVENT_OTHER;
	ev->type = EVENT_TYPE_NONE;
	ev->have = EVENT_HAVE_TIME | EVENT_HAVE_TASK | EVENT_HAVE_CPU | EVENT_HAVE_RAW |
		   (rec->r.first ? EVENT_STARTS_PAGE : 0);
	ev->mode = EVENT_MODE_KERNEL;
	ev->cpu = rec->cpu;
	ev->part = rec->buffer;
	ev->weight = 1;
	ev->time = tracedat_time(&r->t, rec->r.time);
	ev->raw = data;
	ev->raw_size = rec->r.size;
	if (rec->r.size > r->t.flags_at && rec->r.size > r->t.preempt_at) {
		ev->irq_state = data[r->t.flags_at];
		ev->preempt_count = data[r->t.preempt_at];
		ev->have |= EVENT_HAVE_STATE;
	}
	if (tracedat_head(&r->t, &rec->r, &id, &ev->tid) && r->type_of[id] != NO_TYPE) {
		ev->kind = EVENT_SAMPLE;
		ev->type = r->type_of[id];
	}
	ev->pid = pid_of(r, pids, ev->tid);
}

static int tracedat_read_give(struct reading *rd, const struct tracedat_record *rec)
{
	const struct reader *r = rd->r;
	struct event ev;
	int answer;

	tracedat_event(r, &rd->pids, rec, &ev);
	if (ev.kind != EVENT_SAMPLE)
		return rd->amount == ALL ? rd->fn(rd->ctx, &ev) : 0;
	rd->stacks.n = 0;
	if (ev.type == r->entry_type) {
		enter(rd, &rec->r, &ev);
		ev.weight = 0; /* what it takes is known at its end */
		if (rd->amount == SUMS)
			return 0;
	}
	if (ev.type == r->exit_type)
		tracedat_read_leave(rd, &rec->r, &ev);
	else if (r->kstack_type != NO_TYPE || r->ustack_type != NO_TYPE)
		take_stacks(rd, rec, &ev);
	if (ev.type == r->fn_type)
		tracedat_read_function(rd, &rec->r, &ev);
	answer = rd->fn(rd->ctx, &ev);
	for (size_t i = 0; i < rd->stacks.n && rd->amount == ALL && answer == 0; i++) {
		tracedat_event(r, &rd->pids, &rd->stacks.data[i], &ev);
		ev.kind = EVENT_OTHER;
		answer = rd->fn(rd->ctx, &ev);
	}
	return answer;
}

int tracedat_give_lost(const struct reader *r, const struct tracedat_record *rec, event_fn *fn,
		       void *ctx)
{
	struct event_side side = { .count = rec->r.missed > 0 ? (uint64_t)rec->r.missed : 0,
				   .by_pid = -1,
				   .by_tid = -1,
				   .other_pid = -1,
				   .other_tid = -1 };
	struct event ev = { .kind = EVENT_LOST,
			    .have = EVENT_HAVE_TIME | EVENT_HAVE_CPU,
			    .cpu = rec->cpu,
			    .part = rec->buffer,
			    .pid = -1,
			    .tid = -1,
			    .time = tracedat_time(&r->t, rec->r.time),
			    .side = &side };

	return fn(ctx, &ev);
}

static int tracedat_read(const struct reader *r, size_t buffer, uint32_t cpu, enum amount amount,
			 event_fn *fn, void *ctx)
{
	struct tracedat_walk *w = tracedat_walk_new(r, buffer, cpu);
	struct reading rd = { .r = r, .walk = w, .fn = fn, .ctx = ctx, .amount = amount };
	struct tracedat_record rec;
	int answer = 0;

	while (answer == 0 && tracedat_walk_next(w, &rec)) {
		if (rec.r.missed && amount == ALL)
			answer = tracedat_give_lost(r, &rec, fn, ctx);
		if (answer == 0)
			answer = tracedat_read_give(&rd, &rec);
	}
	vec_each (&rd.calls, c)
		free(*c);
	vec_free(&rd.calls);
	vec_free(&rd.stacks);
	map_free(&rd.tasks);
	tracedat_walk_free(w);
	return answer;
}

int tracedat_read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	const struct reader *r = reader_of(s);

	if (r->graph)
		return tracedat_read(r, chunk, UINT32_MAX, SUMS, fn, ctx);
	for (size_t i = 0; i < r->buffers.n; i++) {
		const struct tracedat_buffer *b = &r->buffers.data[i];

		if (chunk < b->n_cpus)
			return tracedat_read(r, i, b->cpus[chunk].cpu, SUMS, fn, ctx);
		chunk -= b->n_cpus;
	}
	return 0;
}

int tracedat_read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	return tracedat_read(reader_of(s), SIZE_MAX, UINT32_MAX, all ? ALL : SAMPLES, fn, ctx);
}
