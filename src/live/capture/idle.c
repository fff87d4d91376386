/* SPDX-License-Identifier: MIT */
#include "live/capture/idle.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "kern/ability/try_idle.h"
#include "kern/bpf_insn.h"
#include "kern/tracefs.h"
#include "live/capture/sample.h"

#define TRY_MS 4
#define RING_BYTES (4u << 20)
#define DYNAMIC 1024u /* bytes of strings and arrays that are taken */
#define CHAIN 127u
#define MAX_RAW 4096u
#define MAX_FORMAT (1u << 20)
/* What a record made here can hold. */
#define FIELDS (SAMPLE_HEAD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

struct idle_event {
	struct event_type type; /* its fields */
	uint64_t sample_type, id, format_id;
	uint32_t size; /* of the record without what its fields point to */
	uint32_t raw;  /* bytes that are sent */
	uint32_t chain;
	int prog;
};

/* What the program sends: this, the record, the stack. */
struct sent {
	uint64_t time;
	uint32_t cpu, event;
	int64_t chain; /* bytes of the stack, or why there is none */
};

/* Of the map of CPUs. */
struct cpu_state {
	uint32_t on, unused;
	uint64_t lost;
};

/* --- whether ---------------------------------------------------------------------------------- */

/* Idle tasks make no system calls. */
static bool idle_wanted(const struct event_spec *s)
{
	return s->kind == SPEC_TRACEPOINT && s->subsys && strcmp(s->subsys, "syscalls") != 0 &&
	       strcmp(s->subsys, "raw_syscalls") != 0;
}

bool idle_choose(struct idle_hits *i, const struct spec_list *specs, const struct target *t,
		 struct capture_opts *o)
{
	size_t n = 0;

	*i = (struct idle_hits){ .cpus_map = -1, .ring_map = -1 };
	for (size_t k = 0; k < specs->n; k++)
		if (idle_wanted(&specs->spec[k])) {
			n += !specs->spec[k].filter;
			i->filtered += specs->spec[k].filter != NULL;
		}
	if (!(n + i->filtered) || !t->system_wide || !t->cpus.n || t->cpus.cpu[0] < 0 ||
	    o->overwrite || o->no_samples || o->cgroups || o->all_user || geteuid() != 0 ||
	    (o->has_clock && o->clock_id != CLOCK_MONOTONIC))
		return false;
	try_idle_lost(&t->cpus, TRY_MS, &i->lost);
	if (!i->lost.n || !n)
		return false;
	o->has_clock = true;
	o->clock_id = CLOCK_MONOTONIC;
	return true;
}

/* --- the program ------------------------------------------------------------------------------ */

/* In the idle task of a CPU that is on: time, CPU, event, record and stack into the ring. Always
 * 1, so that perf has what it can. */
static int idle_load(const struct idle_hits *i, const struct idle_event *ev, uint32_t index,
		     struct err *e)
{
	enum { OUT = 41, FULL = OUT + 2 }; /* where the jumps go */
	const int32_t at = (int32_t)sizeof(struct sent);
	const struct bpf_insn insns[] = {
		INSN_MOV(6, 1),
		INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_JMP32 | BPF_JNE | BPF_K, 0, 0, OUT - 3, 0),
		INSN_CALL(BPF_FUNC_get_smp_processor_id),
		INSN_MOV(7, 0),
		INSN_STORE(BPF_W, 10, -4, 7),
		INSN_MAP(1, BPF_PSEUDO_MAP_FD, i->cpus_map),
		INSN_MOV(2, 10),
		INSN_ADD_K(2, -4),
		INSN_CALL(BPF_FUNC_map_lookup_elem),
		INSN_JUMP_IF(0, BPF_JEQ, 0, OUT - 12),
		INSN_MOV(9, 0),
		INSN_LOAD(BPF_W, 1, 9, 0),
		INSN_JUMP_IF(1, BPF_JEQ, 0, OUT - 15),
		INSN_MAP(1, BPF_PSEUDO_MAP_FD, i->ring_map),
		INSN_MOV_K(2, sizeof(struct sent) + ev->raw + ev->chain),
		INSN_MOV_K(3, 0),
		INSN_CALL(BPF_FUNC_ringbuf_reserve),
		INSN_JUMP_IF(0, BPF_JEQ, 0, FULL - 21),
		INSN_MOV(8, 0),
		INSN_CALL(BPF_FUNC_ktime_get_ns),
		INSN_STORE(BPF_DW, 8, offsetof(struct sent, time), 0),
		INSN_STORE(BPF_W, 8, offsetof(struct sent, cpu), 7),
		INSN_STORE_K(BPF_W, 8, offsetof(struct sent, event), index),
		INSN_MOV(1, 8),
		INSN_ADD_K(1, at),
		INSN_MOV_K(2, ev->raw),
		INSN_MOV(3, 6),
		INSN_CALL(BPF_FUNC_probe_read_kernel),
		INSN_MOV(1, 6),
		INSN_MOV(2, 8),
		INSN_ADD_K(2, at + (int32_t)ev->raw),
		INSN_MOV_K(3, ev->chain),
		INSN_MOV_K(4, 0),
		INSN_CALL(BPF_FUNC_get_stack),
		INSN_STORE(BPF_DW, 8, offsetof(struct sent, chain), 0),
		INSN_MOV(1, 8),
		INSN_MOV_K(2, BPF_RB_NO_WAKEUP),
		INSN_CALL(BPF_FUNC_ringbuf_submit),
		INSN_MOV_K(0, 1), /* OUT */
		INSN_EXIT,
		INSN_MOV_K(1, 1), /* FULL */
		INSN_COUNT(9, offsetof(struct cpu_state, lost), 1),
		INSN_MOV_K(0, 1),
		INSN_EXIT,
	};
	static char log[4096];
	int fd = bpf_load(&(struct bpf_program){ .type = BPF_PROG_TYPE_TRACEPOINT,
						 .insns = insns,
						 .n = ARRAY_SIZE(insns),
						 .log = log,
						 .log_size = sizeof(log),
						 .name = "kymo_idle" });

	return fd < 0 ? err_set(e, -fd, "a BPF program cannot be loaded: %s", strerror(-fd)) : fd;
}

/* --- attaching -------------------------------------------------------------------------------- */

static int idle_measure(struct idle_hits *i, struct idle_event *ev, const char *root,
			const struct event_spec *s, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/events/%s/%s/format", root, s->subsys, s->event);
	AUTO_FREE char *text = NULL;
	bool dynamic = false;
	size_t n;
	int r = file_read(path, MAX_FORMAT, &text, &n);

	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	r = type_parse_format(&ev->type, &i->arena, text, n, e);
	if (r < 0)
		return r;
	for (size_t k = 0; k < ev->type.n_fields; k++) {
		const struct field *f = &ev->type.fields[k];

		dynamic |= f->kind == FIELD_DATA_LOC || f->kind == FIELD_REL_LOC;
		if (f->offset + f->size > ev->size)
			ev->size = f->offset + f->size;
	}
	ev->raw = (ev->size + (dynamic ? DYNAMIC : 0) + 7) / 8 * 8;
	return ev->size < 8 || ev->raw > MAX_RAW
		       ? err_set(e, E2BIG, "records of %s are too large", s->name)
		       : 0;
}

static int attach_one(struct idle_hits *i, const struct capture_event *c, const char *root,
		      struct err *e)
{
	struct idle_event *ev = &i->event[i->n];
	bool chain = c->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	int r;

	*ev = (struct idle_event){ .sample_type = c->attr.sample_type,
				   .id = c->id[0],
				   .format_id = c->attr.config,
				   .chain = 8 * (chain ? CHAIN : 1),
				   .prog = -1 };
	r = idle_measure(i, ev, root, c->spec, e);
	if (r < 0)
		return r;
	ev->prog = idle_load(i, ev, (uint32_t)i->n, e);
	if (ev->prog < 0)
		return ev->prog;
	i->n++;
	/* a tracepoint's programs run on all CPUs, whichever of its events they were given to */
	for (size_t k = 0; k < c->n_fds; k++)
		if (c->fd[k] >= 0)
			return ioctl(c->fd[k], PERF_EVENT_IOC_SET_BPF, ev->prog) < 0
				       ? err_set(e, errno, "a BPF program cannot be attached: %s",
						 strerror(errno))
				       : 0;
	return 0;
}

static int idle_make_maps(struct idle_hits *i, struct err *e)
{
	uint32_t n = (uint32_t)i->lost.cpu[i->lost.n - 1] + 1;
	int r = 0;

	i->cpus_map = bpf_map_new(&(struct bpf_map_kind){ .type = BPF_MAP_TYPE_ARRAY,
							  .key = 4,
							  .value = sizeof(struct cpu_state),
							  .entries = n });
	if (i->cpus_map >= 0)
		i->ring_map = bpf_map_new(&(struct bpf_map_kind){ .type = BPF_MAP_TYPE_RINGBUF,
								  .entries = RING_BYTES });
	r = i->cpus_map < 0 ? i->cpus_map : i->ring_map;
	if (r >= 0)
		r = bpf_ring_open(&i->ring, i->ring_map, RING_BYTES);
	return r < 0 ? err_set(e, -r, "BPF maps cannot be made: %s", strerror(-r)) : 0;
}

int idle_attach(struct idle_hits *i, const struct capture *c, struct err *e)
{
	const char *root = tracefs_find(e);
	int r = root ? idle_make_maps(i, e) : -e->code;

	i->event = mem_alloc(c->n * sizeof(*i->event));
	i->record = mem_alloc(UINT16_MAX + 1);
	for (size_t k = 0; r == 0 && k < c->n; k++) {
		const struct capture_event *ev = &c->event[k];

		if (!idle_wanted(ev->spec) || ev->spec->filter || !ev->n_ids || ev->attr.freq ||
		    ev->attr.sample_period != 1)
			continue;
		if (ev->attr.sample_type & ~(uint64_t)FIELDS)
			r = err_set(e, EOPNOTSUPP, "%s has fields that BPF does not know",
				    ev->spec->name);
		else
			r = attach_one(i, ev, root, e);
	}
	return r;
}

void idle_switch(struct idle_hits *i, bool on)
{
	for (size_t k = 0; i->cpus_map >= 0 && k < i->lost.n; k++) {
		uint32_t cpu = (uint32_t)i->lost.cpu[k];
		struct cpu_state s = { 0 };

		bpf_map_get(i->cpus_map, &cpu, &s);
		s.on = on;
		bpf_map_set(i->cpus_map, &cpu, &s);
	}
}

/* --- samples ---------------------------------------------------------------------------------- */

struct out {
	struct idle_hits *i;
	ring_fn *fn;
	void *ctx;
	struct err *e;
	int64_t bytes;
	int r;
};

/* Where what the fields point to ends. */
static uint32_t idle_end_of(const struct idle_event *ev, const uint8_t *raw)
{
	uint32_t end = ev->size;

	for (size_t k = 0; k < ev->type.n_fields; k++) {
		const struct field *f = &ev->type.fields[k];
		uint32_t v, to;

		if (f->kind != FIELD_DATA_LOC && f->kind != FIELD_REL_LOC)
			continue;
		memcpy(&v, raw + f->offset, sizeof(v));
		to = (v & 0xffff) + (v >> 16) +
		     (f->kind == FIELD_REL_LOC ? f->offset + f->size : 0);
		if (to > end)
			end = to;
	}
	return end < ev->raw ? end : ev->raw;
}

/* As perf has it: the fields all records begin with are the idle task's, and 8 bytes are full. */
static uint8_t *put_raw(uint8_t *p, const struct idle_event *ev, const uint8_t *raw)
{
	uint32_t n = idle_end_of(ev, raw), size = (n + 4 + 7) / 8 * 8 - 4;
	uint16_t type = (uint16_t)ev->format_id;

	memset(p, 0, 4 + size);
	memcpy(p, &size, sizeof(size));
	memcpy(p + 4, &type, sizeof(type));
	memcpy(p + 4 + 8, raw + 8, n - 8);
	return p + 4 + size;
}

static int on_sent(void *ctx, const void *data, uint32_t n)
{
	struct out *o = ctx;
	const struct sent *s = data;
	const struct idle_event *ev;
	struct sample_head h = { .time = s->time, .cpu = s->cpu, .period = 1 };
	const uint8_t *raw = (const uint8_t *)(s + 1);
	const uint64_t *chain;
	uint8_t *p;
	size_t frames, size;

	if (n < sizeof(*s) || s->event >= o->i->n)
		return 0;
	ev = &o->i->event[s->event];
	if (n < sizeof(*s) + ev->raw + ev->chain)
		return 0;
	frames = s->chain > 0 && s->chain <= ev->chain ? (size_t)s->chain / 8 : 0;
	chain = (const uint64_t *)(raw + ev->raw);
	h.id = ev->id;
	h.ip = frames ? *chain : 0;
	p = sample_begin(o->i->record, ev->sample_type, &h);
	if (ev->sample_type & PERF_SAMPLE_CALLCHAIN)
		p = sample_chain(p, chain, frames, NULL, 0);
	if (ev->sample_type & PERF_SAMPLE_RAW)
		p = put_raw(p, ev, raw);
	size = sample_end(o->i->record, p, PERF_RECORD_MISC_KERNEL);
	o->bytes += (int64_t)size;
	o->i->added++;
	o->r = o->fn(o->ctx, o->i->record, size, o->e);
	return o->r < 0;
}

int64_t idle_drain(struct idle_hits *i, ring_fn *fn, void *ctx, struct err *e)
{
	struct out o = { .i = i, .fn = fn, .ctx = ctx, .e = e };

	if (i->ring.consumer)
		bpf_ring_drain(&i->ring, on_sent, &o);
	return o.r < 0 ? o.r : o.bytes;
}

uint64_t idle_missed(const struct idle_hits *i)
{
	uint64_t n = 0;

	for (size_t k = 0; i->cpus_map >= 0 && k < i->lost.n; k++) {
		uint32_t cpu = (uint32_t)i->lost.cpu[k];
		struct cpu_state s = { 0 };

		if (bpf_map_get(i->cpus_map, &cpu, &s) == 0)
			n += s.lost;
	}
	for (size_t k = 0; k < i->n; k++)
		n += bpf_missed(i->event[k].prog);
	return n;
}

void idle_close(struct idle_hits *i)
{
	for (size_t k = 0; k < i->n; k++)
		if (i->event[k].prog >= 0)
			close(i->event[k].prog);
	bpf_ring_close(&i->ring);
	if (i->cpus_map > 0)
		close(i->cpus_map);
	if (i->ring_map > 0)
		close(i->ring_map);
	cpus_free(&i->lost);
	free(i->event);
	free(i->record);
	arena_free(&i->arena);
	*i = (struct idle_hits){ .cpus_map = -1, .ring_map = -1 };
}
