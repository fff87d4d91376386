/* SPDX-License-Identifier: MIT */
#include "store/tracedat/live.h"

#include <unistd.h>

#include "store/tracedat/impl.h"

#define PAGES_AT_ONCE 4096u /* of a CPU: more may come than can be taken */

/* One CPU: pages that were read and whose records are not all handed out. */
struct live_lane {
	int fd;
	VEC(uint8_t *) pages;
	size_t next; /* page to start */
	struct ringbuf rb;
	struct tracedat_record rec;
	bool have;
};

struct live {
	struct reader r; /* first: the source is its */
	struct live_lane *lanes;
	size_t n;
	uint32_t page;
	struct tracedat_pids pids;
	uint64_t newest; /* stamp of the newest record that has come */
};

static struct live *live_of(const struct source *s)
{
	return s->impl;
}

static bool tracedat_live_advance(struct live *l, struct live_lane *lane)
{
	while (!lane->have) {
		if (ringbuf_next(&lane->rb, &lane->rec.r)) {
			lane->have = true;
			break;
		}
		if (lane->next == lane->pages.n)
			return false;
		ringbuf_start(&lane->rb, lane->pages.data[lane->next++], l->page);
	}
	return true;
}

static struct live_lane *tracedat_live_earliest(struct live *l)
{
	struct live_lane *best = NULL;

	for (size_t i = 0; i < l->n; i++)
		if (tracedat_live_advance(l, &l->lanes[i]) &&
		    (!best || l->lanes[i].rec.r.time < best->rec.r.time))
			best = &l->lanes[i];
	return best;
}

static uint64_t newest_on(const struct live *l, const uint8_t *page, uint64_t so_far)
{
	struct ringbuf rb = { .layout = l->r.t.layout };
	struct ringbuf_record rec;

	ringbuf_start(&rb, page, l->page);
	while (ringbuf_next(&rb, &rec))
		so_far = rec.time > so_far ? rec.time : so_far;
	return so_far;
}

static void take_pages(struct live *l)
{
	for (size_t i = 0; i < l->n; i++)
		for (unsigned k = 0; k < PAGES_AT_ONCE; k++) {
			uint8_t *page = mem_alloc(l->page);

			if (read(l->lanes[i].fd, page, l->page) <= 0) {
				free(page);
				break;
			}
			l->newest = newest_on(l, page, l->newest);
			vec_push(&l->lanes[i].pages, page);
		}
}

/* Pages that are done with. */
static void drop_pages(struct live *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct live_lane *lane = &l->lanes[i];

		if (lane->next < lane->pages.n || lane->have || lane->rb.at < lane->rb.end)
			continue;
		vec_each (&lane->pages, page)
			free(*page);
		lane->pages.n = lane->next = 0;
	}
}

/* Every CPU was looked at after what was the newest then had come: nothing older follows. */
static int tracedat_live_poll(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct live *l = live_of(s);
	uint64_t until = all ? UINT64_MAX : l->newest;
	struct live_lane *lane;
	int answer = 0;

	drop_pages(l);
	take_pages(l);
	while (answer == 0 && (lane = tracedat_live_earliest(l)) && lane->rec.r.time <= until) {
		struct event ev;

		if (lane->rec.r.missed) {
			answer = tracedat_give_lost(&l->r, &lane->rec, fn, ctx);
			lane->rec.r.missed = 0;
		}
		if (answer)
			break;
		lane->have = false;
		tracedat_event(&l->r, &l->pids, &lane->rec, &ev);
		answer = fn(ctx, &ev);
	}
	return answer;
}

uint64_t tracedat_live_newest(const struct source *s)
{
	return live_of(s)->newest;
}

static void tracedat_live_close(struct source *s)
{
	struct live *l = live_of(s);

	for (size_t i = 0; i < l->n; i++) {
		vec_each (&l->lanes[i].pages, page)
			free(*page);
		vec_free(&l->lanes[i].pages);
		close(l->lanes[i].fd);
	}
	free(l->lanes);
	reader_close(s);
}

/* The source owns the text from here on. */
static struct cut take_text(struct reader *r, struct strbuf *text)
{
	const uint8_t *p = (uint8_t *)text->data;
	struct cut c = { .p = p, .end = p + text->n };

	if (p)
		vec_push(&r->blocks, (uint8_t *)text->data);
	*text = (struct strbuf){ 0 };
	return c;
}

int tracedat_live_open(struct tracedat_out *parts, const struct tracedat_live_cpu *cpus, size_t n,
		       uint32_t page_size, struct source **ret, struct err *e)
{
	struct live *l = mem_alloc(sizeof(*l));
	struct reader *r = &l->r;
	struct cut header, ftrace, formats, kallsyms, printk, names, groups;
	int code;

	reader_init(r, "what is traced now", tracedat_live_close);
	r->source.format = "tracefs";
	r->source.poll = tracedat_live_poll;
	r->source.read_chunk = NULL;
	r->source.read_ordered = NULL;
	r->t.long_size = sizeof(long);
	r->t.page_size = l->page = page_size;
	r->t.n_cpus = parts->n_cpus;
	if (parts->clocks)
		head_option(r, TRACEDAT_TRACECLOCK, (const uint8_t *)parts->clocks,
			    (uint32_t)strlen(parts->clocks));
	header = take_text(r, &parts->header);
	ftrace = take_text(r, &parts->ftrace);
	formats = take_text(r, &parts->formats);
	kallsyms = take_text(r, &parts->kallsyms);
	printk = take_text(r, &parts->printk);
	names = take_text(r, &parts->cmdlines);
	groups = take_text(r, &parts->tgids);
	head_pages(r, &header);
	head_ftrace(r, &ftrace);
	head_events(r, &formats);
	r->trace.info.kallsyms = (const char *)kallsyms.p;
	r->trace.info.kallsyms_size = (size_t)(kallsyms.end - kallsyms.p);
	r->t.printk = (const char *)printk.p;
	r->t.printk_size = (size_t)(printk.end - printk.p);
	r->t.cmdlines = (const char *)names.p;
	r->t.cmdlines_size = (size_t)(names.end - names.p);
	r->t.tgids = (const char *)groups.p;
	r->t.tgids_size = (size_t)(groups.end - groups.p);
	l->lanes = mem_alloc((n + 1) * sizeof(*l->lanes));
	for (; l->n < n; l->n++)
		l->lanes[l->n] = (struct live_lane){ .fd = cpus[l->n].fd,
						     .rec = { .cpu = cpus[l->n].cpu },
						     .rb = { .layout = r->t.layout } };
	code = reader_finish(r, e);
	if (code < 0) {
		tracedat_live_close(&r->source);
		return code;
	}
	*ret = &r->source;
	return 0;
}
