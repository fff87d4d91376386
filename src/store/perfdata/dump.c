/* SPDX-License-Identifier: MIT */
/*
 * Every record with its bytes and its fields, as perf's -D words it; what else is to be said
 * of a sample, follows.
 *
 * The order is perf's: its own records when they are read, the kernel's by time
 * once a round of reading says that nothing earlier can come. Or all as they are read.
 */
#include <ctype.h>
#include <inttypes.h>

#include "base/out.h"
#include "base/sort.h"
#include "event/memory.h"
#include "event/regs.h"
#include "store/perfdata/impl.h"
#include "store/perfdata/records.h"

struct waiting {
	uint64_t time;
	struct perfdata_view view;
};

struct dump {
	const struct source_dump *o;
	struct perfdata *pd;
	struct out *out;
	struct perfdata_walk *walk;
	uint64_t all_sample_type; /* of all types together */
	bool id_all;
	VEC(struct waiting) queue, tmp;
	uint64_t max_time, next_flush;
};

static const struct perf_event_attr *dump_attr(const struct dump *d, const struct event *ev)
{
	return &d->pd->types.data[ev->type].attr;
}

/* --- bytes --- */

static void dump_put_bytes(struct dump *d, const uint8_t *p, size_t n)
{
	for (size_t at = 0; at < n; at += 16) {
		out_printf(d->out, ".  %04zx: ", at);
		for (size_t i = at; i < at + 16; i++)
			if (i < n)
				out_printf(d->out, " %02x", p[i]);
			else
				out_pad(d->out, 3);
		out_pad(d->out, 2);
		for (size_t i = at; i < at + 16; i++)
			out_putc(d->out, i >= n ? ' ' : isprint(p[i]) ? (char)p[i] : '.');
		out_putc(d->out, '\n');
	}
	out_putc(d->out, '\n');
}

static void put_raw(struct dump *d, const struct perfdata_view *v)
{
	out_printf(d->out, "\n%#" PRIx64 "@%s%s%s [%#x]: event: %u\n.\n", v->position, d->o->file,
		   v->file ? "/" : "", v->file ? v->file : "", v->header.size, v->header.type);
	out_printf(d->out, ". ... raw event: size %u bytes\n", v->header.size);
	/* perf shows the header as this machine reads it, too */
	dump_put_bytes(d, (const uint8_t *)perfdata_walk_record(d->walk, v), v->header.size);
}

static void put_where(struct dump *d, const struct perfdata_view *v, const struct event *ev)
{
	uint64_t st = ev ? dump_attr(d, ev)->sample_type : d->all_sample_type;

	if (ev && ev->kind != EVENT_SAMPLE && !d->id_all)
		out_puts(d->out, "-1 -1 ");
	else {
		if (st & PERF_SAMPLE_CPU)
			out_printf(d->out, "%u ", ev && ev->cpu != UINT32_MAX ? ev->cpu : 0);
		if (st & PERF_SAMPLE_TIME)
			out_printf(d->out, "%" PRIu64 " ", ev ? ev->time : 0);
	}
	out_printf(d->out, "%#" PRIx64 " [%#x]: ", v->position, v->header.size);
}

/* --- samples --- */

static void put_regs(struct dump *d, const char *which, uint64_t mask, uint64_t abi,
		     const uint64_t *regs)
{
	char buf[16];

	out_printf(d->out, "... %s regs: mask 0x%" PRIx64 " ABI %s\n", which, mask,
		   abi == EVENT_REGS_64	  ? "64-bit"
		   : abi == EVENT_REGS_32 ? "32-bit"
					  : "none");
	for (unsigned r = 0; regs && r < 64; r++)
		if (mask >> r & 1)
			out_printf(d->out, ".... %-5s 0x%016" PRIx64 "\n",
				   regs_name(d->pd->trace.info.arch, r, buf, sizeof(buf)), *regs++);
}

static void put_branches(struct dump *d, const struct event_extra *x)
{
	out_printf(d->out, "... branch stack: nr:%" PRIu64 "\n", x->branch_n);
	for (uint64_t i = 0; i < x->branch_n; i++) {
		const struct event_branch *b = &x->branch[i];

		out_printf(d->out,
			   "..... %2" PRIu64 ": %016" PRIx64 " -> %016" PRIx64
			   " %u cycles %s%s%s%s %x\n",
			   i, b->from, b->to, (unsigned)(b->flags >> 4 & 0xffff),
			   b->flags & 1 ? "M" : " ", b->flags & 2 ? "P" : " ",
			   b->flags & 8 ? "A" : " ", b->flags & 4 ? "T" : " ",
			   (unsigned)(b->flags >> 33));
	}
}

static void put_read(struct dump *d, const struct event_extra *x, uint64_t rf)
{
	const uint64_t *w = x->read, *end = w + x->read_size / 8;
	bool group = rf & PERF_FORMAT_GROUP;
	uint64_t n = 1, value = 0;

	out_puts(d->out, "... sample_read:\n");
	if (w >= end)
		return;
	if (group)
		n = *w++;
	else
		value = *w++;
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out_printf(d->out, "...... time enabled %016" PRIx64 "\n", *w++);
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out_printf(d->out, "...... time running %016" PRIx64 "\n", *w++);
	if (group)
		out_printf(d->out, ".... group nr %" PRIu64 "\n", n);
	for (uint64_t i = 0; i < n && w < end; i++) {
		uint64_t id;

		if (group)
			value = *w++;
		id = rf & PERF_FORMAT_ID ? *w++ : 0;
		out_printf(d->out, "..... id %016" PRIx64 ", value %016" PRIx64, id, value);
		if (rf & PERF_FORMAT_LOST)
			out_printf(d->out, ", lost %" PRIu64, *w++);
		out_putc(d->out, '\n');
	}
}

static void put_extra(struct dump *d, const struct event *ev, const struct perf_event_attr *attr)
{
	const struct event_extra *x = ev->extra;
	uint64_t st = attr->sample_type;
	struct out *o = d->out;
	char size[32];

	if (st & PERF_SAMPLE_BRANCH_STACK)
		put_branches(d, x);
	if (st & PERF_SAMPLE_REGS_USER)
		put_regs(d, "user", x->regs_mask, x->regs_abi, x->regs);
	if (st & PERF_SAMPLE_REGS_INTR)
		put_regs(d, "intr", x->regs_intr_mask, x->regs_intr_abi, x->regs_intr);
	if ((st & PERF_SAMPLE_STACK_USER) && x->stack)
		out_printf(o, "... ustack: size %" PRIu64 ", offset 0x%x\n", x->stack_size,
			   (unsigned)((const char *)x->stack - (const char *)ev->record));
	if (st & PERF_SAMPLE_WEIGHT_STRUCT)
		out_printf(o, "... weight: %" PRIu64 ",0x%x,0x%x\n", x->weight & UINT32_MAX,
			   (unsigned)(x->weight >> 32 & 0xffff), (unsigned)(x->weight >> 48));
	else if (st & PERF_SAMPLE_WEIGHT)
		out_printf(o, "... weight: %" PRIu64 "\n", x->weight);
	if (st & PERF_SAMPLE_DATA_SRC)
		out_printf(o, " . data_src: 0x%" PRIx64 "\n", x->data_src);
	if (st & PERF_SAMPLE_PHYS_ADDR)
		out_printf(o, " .. phys_addr: 0x%" PRIx64 "\n", x->phys_addr);
	if (st & PERF_SAMPLE_DATA_PAGE_SIZE)
		out_printf(o, " .. data page size: %s\n",
			   memory_page_size(x->data_page_size, size, sizeof(size)));
	if (st & PERF_SAMPLE_CODE_PAGE_SIZE)
		out_printf(o, " .. code page size: %s\n",
			   memory_page_size(x->code_page_size, size, sizeof(size)));
	if (st & PERF_SAMPLE_TRANSACTION)
		out_printf(o, "... transaction: %" PRIx64 "\n", x->transaction);
	if (st & PERF_SAMPLE_READ)
		put_read(d, x, attr->read_format);
}

static int dump_put_sample(struct dump *d, const struct perfdata_view *v)
{
	const struct event *ev = perfdata_walk_event(d->walk, v);
	const struct perf_event_attr *attr;

	if (!ev) {
		out_printf(d->out, "%#" PRIx64 " [%#x]: PERF_RECORD_SAMPLE: damaged\n", v->position,
			   v->header.size);
		return 0;
	}
	attr = dump_attr(d, ev);
	put_where(d, v, ev);
	out_printf(d->out,
		   "PERF_RECORD_SAMPLE(IP, 0x%x): %d/%d: %#" PRIx64 " period: %" PRIu64
		   " addr: %#" PRIx64 "\n",
		   v->header.misc, ev->pid, ev->tid, ev->ip, ev->weight, ev->addr);
	if (ev->have & EVENT_HAVE_CHAIN) {
		out_printf(d->out, "... FP chain: nr:%u\n", ev->chain_n);
		for (uint32_t i = 0; i < ev->chain_n; i++)
			out_printf(d->out, "..... %2u: %016" PRIx64 "\n", i, ev->chain[i]);
	}
	if (ev->extra)
		put_extra(d, ev, attr);
	if (d->o->sample)
		return perfdata_walk_deliver(d->walk, d->o->sample, d->o->ctx);
	return d->out->error ? 1 : 0;
}

/* Counter values of a task that ended (record -s): the values follow pid and tid. */
static void put_read_record(struct dump *d, const struct perfdata_event_header *h,
			    const struct event *ev)
{
	const struct rec_task *r = (const void *)h;
	const uint64_t *w = (const uint64_t *)(r + 1);
	uint64_t rf = dump_attr(d, ev)->read_format;
	unsigned n = 1 + !!(rf & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		     !!(rf & PERF_FORMAT_TOTAL_TIME_RUNNING) + !!(rf & PERF_FORMAT_ID) +
		     !!(rf & PERF_FORMAT_LOST);

	out_puts(d->out, "PERF_RECORD_READ");
	if (h->size < sizeof(*r) + n * 8 || (rf & PERF_FORMAT_GROUP)) {
		out_putc(d->out, '\n');
		return;
	}
	out_printf(d->out, ": %d %d %s %" PRIu64 "\n", (int)r->pid, (int)r->tid,
		   d->pd->trace.types[ev->type].name, *w++);
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out_printf(d->out, "... time enabled : %" PRIu64 "\n", *w++);
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out_printf(d->out, "... time running : %" PRIu64 "\n", *w++);
	if (rf & PERF_FORMAT_ID)
		out_printf(d->out, "... id           : %" PRIu64 "\n", *w++);
	if (rf & PERF_FORMAT_LOST)
		out_printf(d->out, "... lost         : %" PRIu64 "\n", *w++);
	out_puts(d->out, ": unhandled!\n");
}

static int put_record(struct dump *d, const struct perfdata_view *v)
{
	AUTO_STRBUF b = { 0 };
	const struct event *ev = NULL;

	put_raw(d, v);
	if (v->header.type == PERF_RECORD_SAMPLE)
		return dump_put_sample(d, v);
	if (v->header.type < 64)
		ev = perfdata_walk_event(d->walk, v);
	put_where(d, v, ev);
	if (v->header.type == PERF_RECORD_READ && ev) {
		put_read_record(d, perfdata_walk_record(d->walk, v), ev);
		return d->out->error ? 1 : 0;
	}
	records_text(perfdata_walk_record(d->walk, v), &b);
	/* as perf words it: rounds are what sorts */
	if (d->o->unsorted && v->header.type == PERFDATA_FINISHED_ROUND && b.n &&
	    b.data[b.n - 1] == '\n') {
		b.n--;
		strbuf_puts(&b, ": unhandled!\n");
	}
	out_add(d->out, strbuf_str(&b), b.n);
	return d->out->error ? 1 : 0;
}

/* --- order --- */

SORT_STABLE(sort_queue, struct waiting, time)

static int dump_flush(struct dump *d, uint64_t limit)
{
	size_t i = 0;
	int r = 0;

	if (!d->queue.n)
		return 0;
	vec_reserve(&d->tmp, d->queue.n);
	sort_queue(d->queue.data, d->tmp.data, d->queue.n);
	for (; i < d->queue.n && d->queue.data[i].time <= limit && r == 0; i++)
		r = put_record(d, &d->queue.data[i].view);
	memmove(d->queue.data, d->queue.data + i, (d->queue.n - i) * sizeof(*d->queue.data));
	d->queue.n -= i;
	return r;
}

static int dump_take(void *ctx, const struct perfdata_view *v)
{
	struct dump *d = ctx;
	uint64_t time = perfdata_walk_time(d->walk, v);
	int r;

	if (v->header.type < 64 && time && !d->o->unsorted) {
		vec_push(&d->queue, (struct waiting){ time, *v });
		if (time > d->max_time)
			d->max_time = time;
		return 0;
	}
	/* What was packed in them follows one by one. */
	if (v->header.type == PERFDATA_COMPRESSED || v->header.type == PERFDATA_COMPRESSED2)
		return 0;
	r = put_record(d, v);
	if (r == 0 && v->header.type == PERFDATA_FINISHED_ROUND) {
		r = dump_flush(d, d->next_flush);
		d->next_flush = d->max_time;
	}
	return r;
}

int perfdata_dump(struct source *s, const struct source_dump *o)
{
	struct dump d = { .o = o, .pd = s->impl, .out = o->out, .walk = perfdata_walk_new(s) };
	int r;

	vec_each (&d.pd->types, t) {
		d.all_sample_type |= t->attr.sample_type;
		d.id_all = d.id_all || t->attr.sample_id_all;
	}
	r = perfdata_walk_each(d.walk, dump_take, &d);
	if (r == 0)
		r = dump_flush(&d, UINT64_MAX);
	vec_free(&d.queue);
	vec_free(&d.tmp);
	perfdata_walk_free(d.walk);
	return r < 0 ? r : 0;
}

struct stored {
	struct perfdata_walk *walk;
	bool all;
	event_fn *fn;
	void *ctx;
};

static int dump_read_record(void *ctx, const struct perfdata_view *v)
{
	struct stored *s = ctx;

	if (v->header.type == PERFDATA_FINISHED_ROUND)
		return s->fn(s->ctx, &(struct event){ .kind = EVENT_ROUND });
	if (v->header.type >= PERFDATA_HEADER_ATTR ||
	    (!s->all && v->header.type != PERF_RECORD_SAMPLE) || !perfdata_walk_event(s->walk, v))
		return 0;
	return perfdata_walk_deliver(s->walk, s->fn, s->ctx);
}

int perfdata_read_stored(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct stored stored = { .walk = perfdata_walk_new(s), .all = all, .fn = fn, .ctx = ctx };
	int r = perfdata_walk_each(stored.walk, dump_read_record, &stored);

	perfdata_walk_free(stored.walk);
	return r;
}
