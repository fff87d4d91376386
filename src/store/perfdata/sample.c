/* SPDX-License-Identifier: MIT */
/*
 * One sample's bytes to an event, without copying: chain, raw data, registers
 * and stack are pointed at where they lie. Only records of the other endian, and
 * those that do not start at a multiple of 8, are copied first.
 */
#include "store/perfdata/impl.h"

void decoder_free(struct decoder *d)
{
	free(d->scratch);
	map_free(&d->own.slot);
	vec_free(&d->own.value);
}

static uint64_t load64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

const struct layout *decoder_layout(struct decoder *d, const uint8_t *p, uint32_t type,
				    uint32_t size)
{
	const struct perfdata *pd = d->pd;
	uint64_t id;

	if (!pd->layouts.n)
		return NULL;
	if (pd->layouts.n == 1)
		return &pd->layouts.data[0];
	if (type == PERF_RECORD_SAMPLE) {
		if (!pd->sample_id)
			return &pd->layouts.data[0];
		if (size < pd->sample_id + 8u)
			return NULL;
		id = file_u64(pd, p + pd->sample_id);
	} else {
		if (!pd->tail_id || size < pd->tail_id + 8u)
			return &pd->layouts.data[0];
		id = file_u64(pd, p + size - pd->tail_id);
	}
	if (!d->last || id != d->last_id) {
		d->last = layout_of_id(pd, id);
		d->last_id = id;
	}
	return d->last;
}

const struct perfdata_event_header *decoder_record(struct decoder *d, const uint8_t *p)
{
	struct perfdata_event_header h = record_header(d->pd, p), *copy;

	if (!d->pd->swap && ((uintptr_t)p & 7) == 0)
		return (const struct perfdata_event_header *)p;
	if (!d->scratch)
		d->scratch = mem_alloc(MAX_RECORD);
	memcpy(d->scratch, p, h.size);
	copy = (struct perfdata_event_header *)d->scratch;
	*copy = h;
	if (!d->pd->swap)
		return copy;
	if (h.type == PERF_RECORD_SAMPLE) {
		swap_words(copy + 1, h.size - sizeof(h));
	} else {
		const struct layout *l = decoder_layout(d, p, h.type, h.size);
		size_t tail = h.type < 64 && l ? l->tail : 0;

		swap_record(copy, tail);
	}
	return copy;
}

/* What is left of a sample, in words. A take beyond the end marks it bad and gives zeros. */
struct words {
	const uint64_t *at, *end;
	bool bad, swapped;
};

static uint64_t perfdata_sample_word(struct words *w)
{
	if (w->at >= w->end) {
		w->bad = true;
		return 0;
	}
	return *w->at++;
}

static const uint64_t *words(struct words *w, uint64_t n)
{
	const uint64_t *here = w->at;

	if (n > (uint64_t)(w->end - w->at)) {
		w->bad = true;
		w->at = w->end;
		return here;
	}
	w->at += n;
	return here;
}

/* n bytes that are not to be swapped; their copy was, so turn them back. */
static const void *raw_bytes(struct words *w, uint64_t n)
{
	const uint64_t *p = words(w, n / 8 + (n % 8 != 0));

	if (w->swapped && !w->bad)
		swap_words((void *)p, (size_t)((const uint8_t *)w->at - (const uint8_t *)p));
	return p;
}

static void decode_read(struct words *w, const struct layout *l, struct event_extra *x)
{
	const uint64_t *start = w->at;
	uint64_t rf = l->read_format;
	unsigned each = 1 + !!(rf & PERF_FORMAT_ID) + !!(rf & PERF_FORMAT_LOST);
	unsigned times =
		!!(rf & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(rf & PERF_FORMAT_TOTAL_TIME_RUNNING);

	if (rf & PERF_FORMAT_GROUP) {
		uint64_t nr = perfdata_sample_word(w);

		if (nr > MAX_RECORD / 8)
			w->bad = true;
		else
			words(w, times + nr * each);
	} else {
		words(w, times + each);
	}
	x->read = start;
	x->read_size = (size_t)(w->at - start) * 8;
}

static void decode_branches(struct words *w, const struct layout *l, struct event_extra *x)
{
	uint64_t nr = perfdata_sample_word(w);

	x->branch_hw_index = (uint64_t)-1;
	if (l->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		x->branch_hw_index = perfdata_sample_word(w);
	if (nr > MAX_RECORD / sizeof(*x->branch)) {
		w->bad = true;
		return;
	}
	x->branch = (const struct event_branch *)words(w, nr * 3);
	x->branch_n = w->bad ? 0 : nr;
	if (w->swapped)
		for (uint64_t i = 0; i < x->branch_n; i++) {
			struct event_branch *b = (struct event_branch *)&x->branch[i];

			b->flags = swap_branch_flags(b->flags);
		}
	if (l->branch_type & PERFDATA_SAMPLE_BRANCH_COUNTERS)
		words(w, nr);
}

static const uint64_t *decode_regs(struct words *w, uint64_t mask, uint64_t *abi)
{
	*abi = perfdata_sample_word(w);
	return *abi ? words(w, (uint64_t)__builtin_popcountll(mask)) : NULL;
}

static void decode_stack(struct words *w, struct event_extra *x)
{
	uint64_t size = perfdata_sample_word(w);

	if (!size)
		return;
	if (size > MAX_RECORD) {
		w->bad = true;
		return;
	}
	x->stack = raw_bytes(w, size);
	x->stack_size = perfdata_sample_word(w);
	if (x->stack_size > size)
		x->stack_size = size;
}

static void decode_raw(struct words *w, struct event *ev)
{
	uint32_t size;
	const uint64_t *first = w->at;

	if (w->at >= w->end) {
		w->bad = true;
		return;
	}
	if (w->swapped) {
		/* The size stands in the first half of a word that is half data. */
		uint64_t original = bswap_64(*first);

		memcpy(&size, &original, 4);
		size = bswap_32(size);
	} else {
		memcpy(&size, first, 4);
	}
	raw_bytes(w, 4 + (uint64_t)size);
	if (w->bad)
		return;
	ev->raw = (const uint8_t *)first + 4;
	ev->raw_size = size;
	ev->have |= EVENT_HAVE_RAW;
}

/* All that the fixed part is followed by, in the kernel's order. */
static bool decode_variable(struct decoder *d, const struct layout *l, struct words *w)
{
	uint64_t st = l->sample_type;
	struct event *ev = &d->ev;
	struct event_extra *x = &d->extra;

	/* Most samples have nothing, or only a chain. */
	if (st & PERF_SAMPLE_READ) {
		memset(x, 0, sizeof(*x));
		decode_read(w, l, x);
	}
	if (st & PERF_SAMPLE_CALLCHAIN) {
		uint64_t nr = perfdata_sample_word(w);

		ev->chain = words(w, nr);
		ev->chain_n = w->bad ? 0 : (uint32_t)nr;
		ev->have |= EVENT_HAVE_CHAIN;
	}
	if (st & PERF_SAMPLE_RAW)
		decode_raw(w, ev);
	if (!(st &
	      ~(uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
			  PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)))
		return !w->bad;
	if (!(st & PERF_SAMPLE_READ))
		memset(x, 0, sizeof(*x));
	if (l->stream)
		x->stream_id = load64((const uint8_t *)ev->record + l->stream);
	if (st & PERF_SAMPLE_BRANCH_STACK)
		decode_branches(w, l, x);
	if (st & PERF_SAMPLE_REGS_USER) {
		x->regs_mask = l->regs_user;
		x->regs = decode_regs(w, l->regs_user, &x->regs_abi);
	}
	if (st & PERF_SAMPLE_STACK_USER)
		decode_stack(w, x);
	if (st & PERF_SAMPLE_WEIGHT_TYPE)
		x->weight = perfdata_sample_word(w);
	if (st & PERF_SAMPLE_DATA_SRC)
		x->data_src = perfdata_sample_word(w);
	if (st & PERF_SAMPLE_TRANSACTION)
		x->transaction = perfdata_sample_word(w);
	if (st & PERF_SAMPLE_REGS_INTR) {
		x->regs_intr_mask = l->regs_intr;
		x->regs_intr = decode_regs(w, l->regs_intr, &x->regs_intr_abi);
	}
	if (st & PERF_SAMPLE_PHYS_ADDR)
		x->phys_addr = perfdata_sample_word(w);
	if (st & PERF_SAMPLE_CGROUP)
		x->cgroup = perfdata_sample_word(w);
	if (st & PERF_SAMPLE_DATA_PAGE_SIZE)
		x->data_page_size = perfdata_sample_word(w);
	if (st & PERF_SAMPLE_CODE_PAGE_SIZE)
		x->code_page_size = perfdata_sample_word(w);
	if (st & PERF_SAMPLE_AUX) {
		x->aux_size = perfdata_sample_word(w);
		if (x->aux_size > MAX_RECORD)
			w->bad = true;
		else
			x->aux = raw_bytes(w, x->aux_size);
	}
	ev->extra = x;
	ev->have |= EVENT_HAVE_EXTRA;
	return !w->bad;
}

/* Two 32-bit numbers in a word; the copy of a swapped record has them the wrong way round. */
static void pair(const struct decoder *d, const uint8_t *p, uint32_t *a, uint32_t *b)
{
	memcpy(a, p + (d->pd->swap ? 4 : 0), 4);
	memcpy(b, p + (d->pd->swap ? 0 : 4), 4);
}

/*
 * Field by field: compilers clear a struct of this size with a string instruction, which takes
 * longer than all the rest of reading a sample.
 */
static void event_begin(struct event *ev, const struct layout *l, const uint8_t *p, uint16_t misc)
{
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	ev->kind = EVENT_SAMPLE;
	ev->type = l->type;
	ev->have = l->have;
	ev->mode = mode <= EVENT_MODE_GUEST_USER ? (enum event_mode)mode : EVENT_MODE_UNKNOWN;
	ev->time = l->time ? load64(p + l->time) : 0;
	ev->pid = ev->tid = -1;
	ev->cpu = UINT32_MAX;
	ev->weight = l->period;
	ev->ip = l->ip ? load64(p + l->ip) : 0;
	ev->addr = l->addr ? load64(p + l->addr) : 0;
	ev->id = l->id ? load64(p + l->id) : 0;
	ev->chain = NULL;
	ev->chain_n = 0;
	ev->raw_size = 0;
	ev->raw = NULL;
	ev->extra = NULL;
	ev->side = NULL;
	ev->record = p;
	ev->misc = misc;
	ev->position = 0;
}

_Static_assert(sizeof(struct event) == 136, "event_begin() sets every field");

/*
 * Most samples are a few words and a chain. What is the same for all of them was set by the first,
 * and nobody else writes to the event.
 */
static inline bool decode_plain(struct decoder *d, const struct layout *l, const uint8_t *p,
				struct perfdata_event_header h)
{
	const uint64_t *chain = (const uint64_t *)(p + l->fixed);
	unsigned mode = h.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	uint64_t room = (h.size - l->fixed) / 8u;
	struct event *ev = &d->ev;

	if (!room || *chain > room - 1)
		return false;
	ev->mode = mode <= EVENT_MODE_GUEST_USER ? (enum event_mode)mode : EVENT_MODE_UNKNOWN;
	ev->misc = h.misc;
	ev->record = p;
	ev->time = load64(p + l->time);
	ev->ip = load64(p + l->ip);
	memcpy(&ev->pid, p + l->tid, 4);
	memcpy(&ev->tid, p + l->tid + 4, 4);
	if (l->addr)
		ev->addr = load64(p + l->addr);
	if (l->id)
		ev->id = load64(p + l->id);
	if (l->cpu)
		memcpy(&ev->cpu, p + l->cpu, 4);
	if (l->period_at)
		ev->weight = load64(p + l->period_at);
	ev->chain = chain + 1;
	ev->chain_n = (uint32_t)*chain;
	return true;
}

bool sample_decode(struct decoder *d, const uint8_t *p, struct perfdata_event_header h)
{
	const struct layout *l = d->pd->layouts.n == 1
					 ? d->pd->layouts.data
					 : decoder_layout(d, p, PERF_RECORD_SAMPLE, h.size);
	struct event *ev = &d->ev;
	struct words w;
	uint32_t a, b;

	if (!l || h.size < l->fixed || (h.size & 7))
		return false;
	if (l == d->plain && !((uintptr_t)p & 7))
		return decode_plain(d, l, p, h);
	d->plain = NULL;
	if (d->pd->swap || ((uintptr_t)p & 7))
		p = (const uint8_t *)decoder_record(d, p);
	event_begin(ev, l, p, h.misc);
	if (l->tid) {
		pair(d, p + l->tid, &a, &b);
		ev->pid = (int32_t)a;
		ev->tid = (int32_t)b;
	}
	if (l->cpu) {
		pair(d, p + l->cpu, &a, &b);
		ev->cpu = a;
	}
	if (l->period_at)
		ev->weight = load64(p + l->period_at);
	if (!l->variable && !l->stream)
		return true;
	w = (struct words){ .at = (const uint64_t *)(p + l->fixed),
			    .end = (const uint64_t *)(p + h.size),
			    .swapped = d->pd->swap };
	if (!decode_variable(d, l, &w))
		return false;
	if (l->plain && !d->pd->swap)
		d->plain = l;
	return true;
}

static uint64_t *reading_of(struct readings *r, uint64_t id, bool per_task, int32_t tid)
{
	uint64_t key = per_task ? map_hash(id) ^ (uint64_t)(uint32_t)tid << 20 : id;
	uint64_t *slot = map_at(&r->slot, key);

	if (!*slot) {
		vec_push(&r->value, 0);
		*slot = r->value.n;
	}
	/* A chunk that starts in the middle knows slots of which it has no value yet. */
	while (r->value.n < *slot)
		vec_push(&r->value, 0);
	return &r->value.data[*slot - 1];
}

/*
 * Samples of counters that were read: each counter of the group that moved is an
 * event of its own type, with the difference as its weight.
 */
int sample_deliver(struct decoder *d, event_fn *fn, void *ctx)
{
	const struct layout *l = &d->pd->layouts.data[d->ev.type];
	uint64_t rf = l->read_format, nr = 1;
	unsigned each = 1 + !!(rf & PERF_FORMAT_ID) + !!(rf & PERF_FORMAT_LOST);
	const uint64_t *w = d->extra.read;
	int r = 0;

	if (!(l->sample_type & PERF_SAMPLE_READ))
		return fn ? fn(ctx, &d->ev) : 0;
	if (rf & PERF_FORMAT_GROUP)
		nr = *w++;
	else
		w++; /* the value stands before the times */
	w += !!(rf & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(rf & PERF_FORMAT_TOTAL_TIME_RUNNING);
	for (uint64_t i = 0; i < nr && r == 0; i++, w += each) {
		uint64_t value = rf & PERF_FORMAT_GROUP ? w[0] : ((uint64_t *)d->extra.read)[0];
		uint64_t id = d->ev.id, *before, more;
		const struct layout *of;

		if (rf & PERF_FORMAT_ID)
			id = w[rf & PERF_FORMAT_GROUP ? 1 : 0];
		of = layout_of_id(d->pd, id);
		if (!of)
			continue;
		before =
			reading_of(d->readings ? d->readings : &d->own, id, l->per_task, d->ev.tid);
		more = value - *before;
		*before = value;
		if (!more || !fn)
			continue;
		d->ev.id = id;
		d->ev.type = of->type;
		d->ev.weight = more;
		r = fn(ctx, &d->ev);
	}
	return r;
}
