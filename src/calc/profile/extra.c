/* SPDX-License-Identifier: MIT */
#include "calc/profile/extra.h"

#include <linux/perf_event.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "event/text.h"

/* Keys whose value is a word of the sample; the second word of two follows the first. */
static const uint8_t word_keys[] = {
	KEY_LOCAL_WEIGHT, KEY_WEIGHT,	    KEY_LOCAL_INS_LAT,	KEY_INS_LAT,	KEY_TRANSACTION,
	KEY_CGROUP,	  KEY_CGROUP_ID,    KEY_CODE_PAGE_SIZE, KEY_DSO_FROM,	KEY_SYM_FROM,
	KEY_ADDR_FROM,	  KEY_SRCLINE_FROM, KEY_DSO_TO,		KEY_SYM_TO,	KEY_ADDR_TO,
	KEY_SRCLINE_TO,	  KEY_MISPREDICT,   KEY_IN_TX,		KEY_ABORT,	KEY_CYCLES,
	KEY_SYM_DADDR,	  KEY_DSO_DADDR,    KEY_DCACHELINE,	KEY_LOCKED,	KEY_TLB,
	KEY_MEM,	  KEY_SNOOP,	    KEY_BLOCKED,	KEY_PHYS_DADDR, KEY_DATA_PAGE_SIZE,
};

void extra_plan(struct extra_plan *p, const struct columns *c, const struct trace *t)
{
	*p = (struct extra_plan){ .columns = c, .trace = t };
	p->n_words = 1; /* the first one is the type */
	for (size_t i = 0; i < ARRAY_SIZE(word_keys); i++) {
		if (!columns_have(c, word_keys[i]))
			continue;
		p->word[word_keys[i]] = (uint8_t)p->n_words;
		p->n_words += word_keys[i] == KEY_CGROUP_ID ? 2 : 1;
	}
	p->trace_text = columns_have(c, KEY_TRACE);
	p->any = p->n_words > 1 || p->trace_text || columns_have(c, KEY_FIELD);
	p->fields_from = mem_alloc((t->n_types + 1) * sizeof(*p->fields_from));
	for (size_t i = 0; i < t->n_types; i++)
		for (size_t k = 0; k < t->types[i].n_fields; k++) {
			const struct field *f = &t->types[i].fields[k];

			if (f->is_common && f->offset + f->size > p->fields_from[i])
				p->fields_from[i] = f->offset + f->size;
		}
}

void extra_plan_free(struct extra_plan *p)
{
	free(p->fields_from);
}

static uint64_t sample_word(const struct extra_plan *p, const struct event *ev, enum key key)
{
	const struct event_extra *x = ev->have & EVENT_HAVE_EXTRA ? ev->extra : NULL;
	bool parts = p->trace->types[ev->type].has & TYPE_HAS_WEIGHT_PARTS;

	if (!x)
		return key == KEY_SYM_DADDR || key == KEY_DSO_DADDR || key == KEY_DCACHELINE
			       ? ev->addr
			       : 0;
	switch (key) {
	case KEY_LOCAL_WEIGHT:
	case KEY_WEIGHT: return parts ? (uint32_t)x->weight : x->weight;
	case KEY_LOCAL_INS_LAT:
	case KEY_INS_LAT: return parts ? (uint16_t)(x->weight >> 32) : 0;
	case KEY_TRANSACTION: return x->transaction;
	case KEY_CGROUP: return x->cgroup;
	case KEY_CODE_PAGE_SIZE: return x->code_page_size;
	case KEY_PHYS_DADDR: return x->phys_addr;
	case KEY_DATA_PAGE_SIZE: return x->data_page_size;
	case KEY_LOCKED:
	case KEY_TLB:
	case KEY_MEM:
	case KEY_SNOOP:
	case KEY_BLOCKED: return x->data_src;
	default: return ev->addr;
	}
}

/* Only what the column shows, so that rows do not differ in what nobody sees. */
static uint64_t branch_word(const struct event_branch *b, enum key key)
{
	switch (key) {
	case KEY_DSO_FROM:
	case KEY_SYM_FROM:
	case KEY_ADDR_FROM:
	case KEY_SRCLINE_FROM: return b->from;
	case KEY_MISPREDICT: return b->flags & 3;
	case KEY_IN_TX: return b->flags >> 2 & 1;
	case KEY_ABORT: return b->flags >> 3 & 1;
	case KEY_CYCLES: return b->flags >> 4 & 0xffff;
	default: return b->to;
	}
}

/* Only the part of the word that the column shows. */
static uint64_t memory_word(enum key key, uint64_t word)
{
	union perf_mem_data_src d = { .val = word }, part = { .val = 0 };

	switch (key) {
	case KEY_LOCKED: part.mem_lock = d.mem_lock; break;
	case KEY_TLB: part.mem_dtlb = d.mem_dtlb; break;
	case KEY_MEM:
		part.mem_lvl = d.mem_lvl;
		part.mem_lvl_num = d.mem_lvl_num;
		part.mem_remote = d.mem_remote;
		part.mem_hops = d.mem_hops;
		break;
	case KEY_SNOOP:
		part.mem_snoop = d.mem_snoop;
		part.mem_snoopx = d.mem_snoopx;
		break;
	case KEY_BLOCKED: part.mem_blk = d.mem_blk; break;
	default: return word;
	}
	return part.val;
}

static void fill_words(const struct extra_plan *p, const struct event *ev,
		       const struct event_branch *branch, uint64_t *buf)
{
	for (size_t i = 0; i < ARRAY_SIZE(word_keys); i++) {
		enum key key = word_keys[i];
		uint64_t *to = &buf[p->word[key]];

		if (!p->word[key])
			continue;
		if (key == KEY_CGROUP_ID) {
			to[0] = to[1] = 0;
			if (p->namespace)
				p->namespace(p->ctx, ev->tid, ev->time, &to[0], &to[1]);
		} else if (key_infos[key].kind == KEY_OF_BRANCH) {
			*to = branch ? branch_word(branch, key) : 0;
		} else {
			*to = memory_word(key, sample_word(p, ev, key));
		}
	}
}

/* Length and bytes, the next one at a multiple of 8. NULL when it does not fit. */
static char *extra_put_bytes(char *at, const char *end, const void *bytes, size_t n)
{
	uint64_t len = n;
	size_t room = (n + 7) & ~7ul;

	if ((size_t)(end - at) < 8 + room)
		return NULL;
	memcpy(at, &len, 8);
	memset(at + 8 + (room ? room - 8 : 0), 0, room ? 8 : 0);
	memcpy(at + 8, bytes, n);
	return at + 8 + room;
}

size_t extra_fill(const struct extra_plan *p, const struct event *ev,
		  const struct event_branch *branch, uint64_t *buf)
{
	char *at = (char *)(buf + p->n_words), *end = (char *)(buf + PROFILE_EXTRA_WORDS), *next;
	bool raw = ev->have & EVENT_HAVE_RAW;

	buf[0] = ev->type;
	fill_words(p, ev, branch, buf);
	for (unsigned i = 0; i < p->columns->n; i++) {
		const struct column *c = &p->columns->col[i];
		const void *bytes = "";
		size_t n = 0;

		if (c->key != KEY_FIELD || c->type != ev->type)
			continue;
		if (!raw || !field_bytes(c->field, ev->raw, ev->raw_size, &bytes, &n))
			n = 0;
		next = extra_put_bytes(at, end, bytes, n);
		at = next ? next : at;
	}
	if (p->trace_text && raw && p->trace->types[ev->type].n_fields) {
		unsigned skip = p->fields_from[ev->type];

		if (skip < ev->raw_size) {
			next = extra_put_bytes(at, end, (const char *)ev->raw + skip,
					       ev->raw_size - skip);
			at = next ? next : at;
		}
	}
	return (size_t)(at - (char *)buf);
}
