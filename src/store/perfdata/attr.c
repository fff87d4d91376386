/* SPDX-License-Identifier: MIT */
/*
 * Attrs: what each event type is, and from that where the fields of its samples
 * stand. Everything that does not change from sample to sample is worked out here.
 */
#include "event/attr.h"
#include "event/waker.h"
#include "store/perfdata/impl.h"

#define VARIABLE                                                                                 \
	(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT_TYPE |              \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |                \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX | PERF_SAMPLE_CGROUP |                          \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

static uint16_t perfdata_attr_take(uint32_t *at, uint64_t sample_type, uint64_t bit)
{
	uint16_t here = (uint16_t)*at;

	if (!(sample_type & bit))
		return 0;
	*at += 8;
	return here;
}

/* The same from the end of a record backwards. */
static uint16_t take_back(uint16_t *tail, uint64_t sample_type, uint64_t bit)
{
	return sample_type & bit ? *tail += 8 : 0;
}

static struct layout make_layout(const struct perf_event_attr *attr, uint32_t type)
{
	uint64_t st = attr->sample_type;
	struct layout l = { .sample_type = st,
			    .read_format = attr->read_format,
			    .branch_type = attr->branch_sample_type,
			    .regs_user = attr->sample_regs_user,
			    .regs_intr = attr->sample_regs_intr,
			    .period = attr->sample_period,
			    .type = type };
	uint32_t at = sizeof(struct perfdata_event_header);
	uint16_t ident;

	l.ident = perfdata_attr_take(&at, st, PERF_SAMPLE_IDENTIFIER);
	l.ip = perfdata_attr_take(&at, st, PERF_SAMPLE_IP);
	l.tid = perfdata_attr_take(&at, st, PERF_SAMPLE_TID);
	l.time = perfdata_attr_take(&at, st, PERF_SAMPLE_TIME);
	l.addr = perfdata_attr_take(&at, st, PERF_SAMPLE_ADDR);
	l.id = perfdata_attr_take(&at, st, PERF_SAMPLE_ID);
	l.stream = perfdata_attr_take(&at, st, PERF_SAMPLE_STREAM_ID);
	l.cpu = perfdata_attr_take(&at, st, PERF_SAMPLE_CPU);
	l.period_at = perfdata_attr_take(&at, st, PERF_SAMPLE_PERIOD);
	l.fixed = at;
	if (!l.id)
		l.id = l.ident;
	l.variable = st & VARIABLE;
	l.plain = (st & VARIABLE) == PERF_SAMPLE_CALLCHAIN && !l.stream && l.ip && l.tid && l.time;
	l.per_task = attr->inherit && (st & PERF_SAMPLE_TID);
	l.have = (l.time ? EVENT_HAVE_TIME : 0) | (l.tid ? EVENT_HAVE_TASK : 0) |
		 (l.cpu ? EVENT_HAVE_CPU : 0) | (l.ip ? EVENT_HAVE_IP : 0) |
		 (l.period_at ? EVENT_HAVE_PERIOD : 0) | (l.addr ? EVENT_HAVE_ADDR : 0) |
		 (l.id ? EVENT_HAVE_ID : 0);
	st = attr->sample_id_all ? st : 0;
	/* in the reverse of the order they are written */
	ident = take_back(&l.tail, st, PERF_SAMPLE_IDENTIFIER);
	l.tail_cpu = take_back(&l.tail, st, PERF_SAMPLE_CPU);
	take_back(&l.tail, st, PERF_SAMPLE_STREAM_ID);
	l.tail_id = take_back(&l.tail, st, PERF_SAMPLE_ID);
	l.tail_id = l.tail_id ? l.tail_id : ident;
	l.tail_time = take_back(&l.tail, st, PERF_SAMPLE_TIME);
	l.tail_tid = take_back(&l.tail, st, PERF_SAMPLE_TID);
	return l;
}

/*
 * With several types a sample's id must be found before its type is known. perf
 * sees to it that it stands at the same place in all; where it does not, only an
 * IDENTIFIER (always first, or last) can be trusted.
 */
void attr_layouts(struct perfdata *pd)
{
	const struct layout *first;
	bool ident = true, same_id = true, same_tail = true, tail_ident = true;

	pd->layouts.n = 0;
	pd->any_read = pd->mixed_time = pd->layouts_stale = false;
	vec_each (&pd->types, t)
		vec_push(&pd->layouts, make_layout(&t->attr, (uint32_t)(t - pd->types.data)));
	if (!pd->layouts.n)
		return;
	first = &pd->layouts.data[0];
	vec_each (&pd->layouts, l) {
		ident = ident && l->ident;
		same_id = same_id && l->id == first->id;
		tail_ident = tail_ident && (l->sample_type & PERF_SAMPLE_IDENTIFIER) && l->tail;
		same_tail = same_tail && l->tail_id == first->tail_id;
		pd->mixed_time = pd->mixed_time || l->time != first->time;
		pd->any_read = pd->any_read || (l->sample_type & PERF_SAMPLE_READ);
	}
	pd->sample_id = ident ? 8 : same_id ? first->id : 0;
	pd->tail_id = tail_ident ? 8 : same_tail ? first->tail_id : 0;
	if (!pd->sample_id)
		pd->mixed_time = false; /* all are read as the first type */
}

int attr_add(struct perfdata *pd, const uint8_t *attr, size_t size, const uint8_t *ids,
	     size_t n_ids, struct err *e)
{
	struct perfdata_type *t;

	if (pd->types.n >= MAX_ATTRS)
		return err_set(e, EINVAL, "the recording has more than %d events", MAX_ATTRS);
	t = vec_add(&pd->types);
	if (size > sizeof(t->attr))
		size = sizeof(t->attr);
	memcpy(&t->attr, attr, size);
	if (pd->swap)
		swap_attr(&t->attr);
	t->leader = (int)pd->types.n - 1;
	t->scale = 1;
	for (size_t i = 0; i < n_ids; i++) {
		uint64_t id = file_u64(pd, ids + i * 8);

		vec_push(&t->ids, id);
		if (id)
			*map_at(&pd->ids, id) = pd->types.n;
	}
	pd->layouts_stale = true;
	return 0;
}

/* --- the names that perf would make up where a recording does not say how events were called ---
 */

static const char *const hw[] = { "cycles",
				  "instructions",
				  "cache-references",
				  "cache-misses",
				  "branches",
				  "branch-misses",
				  "bus-cycles",
				  "stalled-cycles-frontend",
				  "stalled-cycles-backend",
				  "ref-cycles" };
static const char *const sw[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};
static const char *const cache[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node" };
static const char *const op[][3] = { { "loads", "load", "" },
				     { "stores", "store", "" },
				     { "prefetches", "prefetch", "" } };

/* "dTLB-load-misses", "LLC-loads". */
static const char *perfdata_name_cache_name(struct arena *a, uint64_t config)
{
	uint64_t c = config & 0xff, o = config >> 8 & 0xff, r = config >> 16 & 0xff;

	if (c >= ARRAY_SIZE(cache) || o >= ARRAY_SIZE(op) || r > 1)
		return "unknown-ext-hardware-cache-type";
	if (r == 0)
		return arena_printf(a, "%s-%s", cache[c], op[o][0]);
	return arena_printf(a, "%s-%s-misses", cache[c], op[o][1]);
}

static const char *breakpoint_name(struct arena *a, const struct perf_event_attr *attr)
{
	return arena_printf(a, "mem:0x%llx:%s%s%s", (unsigned long long)attr->bp_addr,
			    attr->bp_type & 1 ? "r" : "", attr->bp_type & 2 ? "w" : "",
			    attr->bp_type & 4 ? "x" : "");
}

/* ":u", ":kpp" and so on, where they were asked for. */
static const char *modifiers(struct arena *a, const struct perf_event_attr *attr)
{
	char text[16], *p = text;
	bool some = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;

	*p++ = ':';
	if (some) {
		if (!attr->exclude_kernel)
			*p++ = 'k';
		if (!attr->exclude_user)
			*p++ = 'u';
		if (!attr->exclude_hv)
			*p++ = 'h';
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		*p++ = 'p';
	if (attr->exclude_host || attr->exclude_guest) {
		if (attr->exclude_host)
			*p++ = 'G';
		else if (attr->exclude_guest && some)
			*p++ = 'H';
	}
	*p = '\0';
	return p == text + 1 ? "" : arena_strdup(a, text);
}

static const char *name_of_attr(struct perfdata *pd, const struct perf_event_attr *attr)
{
	struct arena *a = &pd->trace.arena;
	const char *name = NULL;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		name = attr->config < ARRAY_SIZE(hw) ? hw[attr->config] : "unknown-hardware";
		break;
	case PERF_TYPE_SOFTWARE:
		name = attr->config < ARRAY_SIZE(sw) ? sw[attr->config] : "unknown-software";
		break;
	case PERF_TYPE_TRACEPOINT:
		name = tracing_name(pd, attr->config);
		return name ? name : "unknown tracepoint";
	case PERF_TYPE_HW_CACHE: name = perfdata_name_cache_name(a, attr->config); break;
	case PERF_TYPE_RAW:
		name = arena_printf(a, "raw 0x%llx", (unsigned long long)attr->config);
		break;
	case PERF_TYPE_BREAKPOINT: name = breakpoint_name(a, attr); break;
	default: return arena_printf(a, "unknown attr type: %u", attr->type);
	}
	return arena_printf(a, "%s%s", name, modifiers(a, attr));
}

void attr_finish(struct perfdata *pd)
{
	struct trace *tr = &pd->trace;

	tr->n_types = pd->types.n;
	tr->types = arena_alloc(&tr->arena, (pd->types.n + 1) * sizeof(*tr->types));
	for (size_t i = 0; i < pd->types.n; i++) {
		struct perfdata_type *from = &pd->types.data[i];
		struct event_type *to = &tr->types[i];
		const char *colon;

		attr_type(&from->attr, to);
		to->leader = from->leader;
		to->group_name = from->group;
		to->ids = arena_dup(&tr->arena, from->ids.data, from->ids.n * sizeof(uint64_t));
		to->n_ids = from->ids.n;
		to->count_unit = from->unit && *from->unit ? from->unit : NULL;
		to->unit = from->unit && strcmp(from->unit, "ns") == 0 ? from->unit : NULL;
		to->name = from->name && *from->name ? from->name : name_of_attr(pd, &from->attr);
		if (!to->unit && to->role == ROLE_BPF_OUTPUT &&
		    strcmp(to->name, WAKER_EVENT) == 0) {
			to->unit = "ns"; /* off the CPU */
			to->spans = to->sums = true;
		}
		if (to->class == TYPE_TRACEPOINT && (colon = strchr(to->name, ':'))) {
			to->system =
				arena_strndup(&tr->arena, to->name, (size_t)(colon - to->name));
			to->event = arena_strndup(&tr->arena, colon + 1, strcspn(colon + 1, ":"));
		}
	}
}

void attr_settings(const struct source *s, size_t type, setting_fn *fn, void *ctx)
{
	const struct perfdata *pd = s->impl;

	if (type < pd->types.n)
		attr_each(&pd->types.data[type].attr, fn, ctx);
}
