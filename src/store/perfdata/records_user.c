/* SPDX-License-Identifier: MIT */
/* The records that perf itself writes, as text. */
#include "store/perfdata/records.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

struct rec_id_index {
	struct perfdata_event_header h;
	uint64_t n;
	struct {
		uint64_t id, idx, cpu, tid;
	} of[];
};
struct rec_update {
	struct perfdata_event_header h;
	uint64_t what, id;
	char data[];
};
struct rec_threads {
	struct perfdata_event_header h;
	uint64_t n;
	struct {
		uint64_t pid;
		char comm[16];
	} of[];
};
struct rec_cpus {
	struct perfdata_event_header h;
	uint16_t kind;
	union {
		struct {
			uint16_t n, cpu[];
		} list;
		struct {
			uint16_t n, long_size;
			uint8_t bits[];
		} mask;
		struct {
			uint8_t any, pad;
			uint16_t first, last;
		} range;
	};
};
struct rec_words {
	struct perfdata_event_header h;
	uint64_t word[];
};
struct rec_auxtrace {
	struct perfdata_event_header h;
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu;
};

static void text_id_index(const struct rec_id_index *r, struct strbuf *b)
{
	uint64_t room = (r->h.size - sizeof(*r)) / sizeof(r->of[0]);

	strbuf_printf(b, " nr: %" PRIu64 "\n", r->n);
	for (uint64_t i = 0; i < r->n && i < room; i++)
		strbuf_printf(b,
			      " ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64
			      "  tid: %" PRId64 "\n",
			      r->of[i].id, r->of[i].idx, (int64_t)r->of[i].cpu,
			      (int64_t)r->of[i].tid);
}

static void perfdata_records_user_put_cpus(struct strbuf *b, const uint8_t *bits, size_t n)
{
	const char *sep = "";

	for (size_t i = 0; i < n; i++) {
		size_t end = i;

		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		while (end + 1 < n && (bits[(end + 1) / 8] >> (end + 1) % 8 & 1))
			end++;
		strbuf_printf(b, end > i ? "%s%zu-%zu" : "%s%zu", sep, i, end);
		sep = ",";
		i = end;
	}
}

static void text_cpu_map(const struct rec_cpus *r, struct strbuf *b)
{
	size_t room = r->h.size - offsetof(struct rec_cpus, list.cpu);

	strbuf_puts(b, ": ");
	if (r->kind == 0) {
		for (size_t i = 0; i < r->list.n && i < room / 2; i++)
			strbuf_printf(b, "%s%u", i ? "," : "", r->list.cpu[i]);
	} else if (r->kind == 1 && room >= 2) {
		size_t bytes = (size_t)r->mask.n * r->mask.long_size;

		perfdata_records_user_put_cpus(b, r->mask.bits,
					       (bytes < room - 2 ? bytes : room - 2) * 8);
	} else if (r->kind == 2 && room >= 4) {
		strbuf_printf(b, r->range.last > r->range.first ? "%u-%u" : "%u", r->range.first,
			      r->range.last);
	}
	strbuf_putc(b, '\n');
}

static void text_threads(const struct rec_threads *r, struct strbuf *b)
{
	uint64_t room = (r->h.size - sizeof(*r)) / sizeof(r->of[0]);

	strbuf_printf(b, " nr: %d thread%s: ", (int)r->n, r->n > 1 ? "s" : "");
	for (uint64_t i = 0; i < r->n && i < room; i++)
		strbuf_printf(b, "%s%d", i ? ", " : "", (int)r->of[i].pid);
	strbuf_putc(b, '\n');
}

static void text_update(const struct rec_update *r, struct strbuf *b)
{
	size_t room = r->h.size - sizeof(*r);
	double scale = 0;

	strbuf_printf(b, "\n... id:    %" PRIu64 "\n", r->id);
	if (r->what == PERFDATA_UPDATE_SCALE && room >= 8) {
		memcpy(&scale, r->data, 8);
		strbuf_printf(b, "... scale: %f\n", scale);
	} else if (r->what == PERFDATA_UPDATE_UNIT || r->what == PERFDATA_UPDATE_NAME) {
		strbuf_printf(b, "... %s  %.*s\n",
			      r->what == PERFDATA_UPDATE_UNIT ? "unit:" : "name:",
			      (int)strnlen(r->data, room), r->data);
	}
}

static void text_time_conv(const struct rec_words *r, struct strbuf *b)
{
	static const char *const names[] = { "Shift      ", "Muliplier  ", "Zero       ",
					     "Cycles     ", "Mask       " };
	size_t n = (r->h.size - sizeof(*r)) / 8;

	strbuf_putc(b, '\n');
	for (size_t i = 0; i < n && i < ARRAY_SIZE(names); i++)
		strbuf_printf(b, i == 4 ? "... Time %s%#" PRIx64 "\n" : "... Time %s%" PRIu64 "\n",
			      names[i], r->word[i]);
}

bool records_user_text(const struct perfdata_event_header *h, struct strbuf *b)
{
	const void *r = h;
	const struct rec_auxtrace *aux = r;

	switch (h->type) {
	case PERFDATA_ID_INDEX:
		if (h->size < sizeof(struct rec_id_index))
			return false;
		text_id_index(r, b);
		return true;
	case PERFDATA_EVENT_UPDATE:
		if (h->size < sizeof(struct rec_update))
			return false;
		text_update(r, b);
		return true;
	case PERFDATA_THREAD_MAP:
		if (h->size < sizeof(struct rec_threads))
			return false;
		text_threads(r, b);
		return true;
	case PERFDATA_CPU_MAP:
		if (h->size < offsetof(struct rec_cpus, list.cpu))
			return false;
		text_cpu_map(r, b);
		return true;
	case PERFDATA_TIME_CONV: text_time_conv(r, b); return true;
	case PERFDATA_FINISHED_INIT: strbuf_puts(b, ": unhandled!\n"); return true;
	case PERFDATA_AUXTRACE:
		if (h->size < sizeof(*aux))
			return false;
		strbuf_printf(b,
			      " size: %#" PRIx64 "  offset: %#" PRIx64 "  ref: %#" PRIx64
			      "  idx: %u  tid: %d  cpu: %d\n",
			      aux->size, aux->offset, aux->reference, aux->idx, (int)aux->tid,
			      (int)aux->cpu);
		return true;
	default: return false;
	}
}
