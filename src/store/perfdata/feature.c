/* SPDX-License-Identifier: MIT */
/*
 * Features: what a recording says about itself and its machine, each in a
 * section of its own after the data (or in a record, in pipe mode). All are
 * optional; one that makes no sense is left out, never an error.
 */

#include "store/perfdata/impl.h"
#include "store/perfdata/kallsyms.h"

uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v;

	if (c->end - c->p < 4) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->p, 4);
	c->p += 4;
	return c->swap ? bswap_32(v) : v;
}

uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v;

	if (c->end - c->p < 8) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->p, 8);
	c->p += 8;
	return c->swap ? bswap_64(v) : v;
}

const char *cursor_str(struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	const char *s = (const char *)c->p;

	if (c->bad || n > c->end - c->p || !memchr(s, 0, n)) {
		c->bad = true;
		return "";
	}
	c->p += n;
	return s;
}

const uint8_t *cursor_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	c->bad = c->bad || n > (uint64_t)(c->end - c->p);
	c->p += c->bad ? 0 : n;
	return c->bad ? NULL : p;
}

bool cursor_take(struct cursor *c, const char *shape, ...)
{
	uint64_t number;
	va_list ap;
	void *to;

	va_start(ap, shape);
	for (; *shape; shape++) {
		to = va_arg(ap, void *);
		if (*shape == 's') {
			*(const char **)to = cursor_str(c);
			continue;
		}
		number = *shape == '8' ? cursor_u64(c) : cursor_u32(c);
		if (to && *shape == '8')
			*(uint64_t *)to = number;
		else if (to)
			*(uint32_t *)to = (uint32_t)number;
	}
	va_end(ap);
	return !c->bad;
}

struct cursor feature_cursor(const struct perfdata *pd, unsigned feature)
{
	const struct section *s = &pd->feature[feature];

	return (struct cursor){ .p = s->data,
				.end = s->data ? s->data + s->size : NULL,
				.swap = pd->swap,
				.bad = !s->present };
}

/*
 * --- what kymo adds, all of it passed over by perf ---
 *
 * Features that stand before the data, so that a recording cut short has them, and the kernel
 * symbols that samples fell into. docs/perf-data.md describes both.
 */

/* of size 0: announced, but the recording never came to write it */
static void early_feature(struct perfdata *pd, uint64_t feature, uint64_t offset, uint64_t size)
{
	const struct perfdata_file *f = &pd->files.data[0];

	if (feature >= ARRAY_SIZE(pd->feature) || !size || offset > f->size ||
	    size > f->size - offset)
		return;
	pd->feature[feature] = (struct section){
		.data = f->data + offset, .size = (size_t)size, .position = offset, .present = true
	};
}

/* The first form: where each is stands in the table. */
static void early_1(struct perfdata *pd, struct cursor *c, uint64_t n)
{
	uint64_t feature, offset, size;

	for (; n && cursor_take(c, "888", &feature, &offset, &size); n--)
		early_feature(pd, feature, offset, size);
}

/* The second: their contents follow the table in its order. */
static void early_2(struct perfdata *pd, struct cursor *c, uint64_t n)
{
	struct cursor at = *c, in;
	uint64_t offset, there;
	uint32_t feature, size;

	cursor_bytes(&at, n * sizeof(struct perfdata_early));
	for (; n && cursor_take(c, "44", &feature, &size); n--) {
		in = at;
		if (!cursor_bytes(&at, ((uint64_t)size + 3) & ~(uint64_t)3))
			return;
		if (!(feature & PERFDATA_EARLY_LATER))
			early_feature(pd, feature, (uint64_t)(in.p - pd->files.data[0].data), size);
		else if (cursor_take(&in, "88", &offset, &there))
			early_feature(pd, feature & ~PERFDATA_EARLY_LATER, offset, there);
	}
}

static void kymo_early(struct perfdata *pd)
{
	const struct perfdata_file *f = &pd->files.data[0];
	uint64_t at = pd->header.attrs.offset + pd->header.attrs.size;
	struct cursor c = { .swap = pd->swap };
	uint64_t magic, n;

	if (pd->pipe || at < pd->header.attrs.size || at > f->size)
		return;
	c.p = f->data + at;
	c.end = f->data + f->size;
	if (!cursor_take(&c, "88", &magic, &n) || n > ARRAY_SIZE(pd->feature))
		return;
	if (magic == PERFDATA_EARLY_MAGIC)
		early_2(pd, &c, n);
	else if (magic == PERFDATA_EARLY_MAGIC_1)
		early_1(pd, &c, n);
}

static void kymo_kallsyms(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_KALLSYMS);
	AUTO_STRBUF text = { 0 };

	if (c.bad || c.p == c.end ||
	    perfdata_kallsyms_unpack(c.p, (size_t)(c.end - c.p), pd->swap, &text) < 0)
		return;
	pd->trace.info.kallsyms = arena_strndup(&pd->trace.arena, text.data, text.n);
	pd->trace.info.kallsyms_size = text.n;
}

static void kymo_stacks(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_STACKS);

	pd->trace.info.walked = cursor_u32(&c) == PERFDATA_STACKS_WALKED;
}

/* How the recording ended, where its recorder knew. */
static void kymo_ended(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_ENDED);
	struct trace_losses *l = &pd->trace.losses;
	uint64_t lost;
	uint32_t why;

	if (!cursor_take(&c, "448", &why, NULL, &lost))
		return;
	if (lost > l->lost_samples)
		l->lost_samples = lost;
	if (why) {
		l->cut = true;
		perfdata_note(pd, "the recording ended before it was to: %s", strerror((int)why));
	}
}

/* The table of sections stands right after the data, one entry for each bit that is set. */
void feature_sections(struct perfdata *pd)
{
	const struct perfdata_file *f = &pd->files.data[0];
	uint64_t at = pd->header.data.offset + pd->header.data.size;

	kymo_early(pd);
	if (pd->pipe || !pd->header.data.size || at < pd->header.data.size)
		return;
	for (unsigned bit = 0; bit < 256; bit++) {
		struct perfdata_section s;

		if (!(pd->header.features[bit / 64] >> bit % 64 & 1))
			continue;
		if (at > f->size || f->size - at < sizeof(s)) {
			pd->trace.losses.cut = true;
			if (at <= f->size) /* else data are missing, too, which is worse */
				perfdata_note(pd, "cut short: the features at its end are missing");
			return;
		}
		s = (struct perfdata_section){ file_u64(pd, f->data + at),
					       file_u64(pd, f->data + at + 8) };
		at += sizeof(s);
		if (s.offset > f->size || s.size > f->size - s.offset) {
			pd->trace.losses.cut = true;
			perfdata_note(pd, "cut short: feature %u lies outside the file", bit);
			continue;
		}
		pd->feature[bit] = (struct section){ .data = f->data + s.offset,
						     .size = (size_t)s.size,
						     .position = s.offset,
						     .present = true };
	}
}

void feature_build_id(struct perfdata *pd, const uint8_t *p, size_t size)
{
	struct perfdata_event_header h;
	struct perfdata_build_id b = { .size = 20 };

	/* header, pid, 24 bytes of build-id, path */
	if (size < sizeof(h) + 4 + 24 + 1)
		return;
	h = record_header(pd, p);
	b.pid = (int32_t)file_u32(pd, p + 8);
	memcpy(b.id, p + 12, 20);
	if (h.misc & PERFDATA_MISC_BUILD_ID_SIZE && p[32] <= 20)
		b.size = p[32];
	b.misc = h.misc;
	b.path = arena_strndup(&pd->trace.arena, (const char *)p + 36, size - 36);
	vec_push(&pd->build_ids, b);
}

void feature_build_ids(struct perfdata *pd)
{
	const struct section *s = &pd->feature[PERFDATA_BUILD_ID];
	const uint8_t *p = s->data, *end = s->present ? p + s->size : p;

	record_each (pd, p, h, end)
		feature_build_id(pd, p, h.size);
}

static const char *string_feature(struct perfdata *pd, unsigned feature)
{
	struct cursor c = feature_cursor(pd, feature);
	const char *s = cursor_str(&c);

	return c.bad ? NULL : arena_strdup(&pd->trace.arena, s);
}

static void parse_cmdline(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_CMDLINE);
	uint32_t n = cursor_u32(&c);
	const char **words;

	if (c.bad || n > (uint32_t)(c.end - c.p) / 4)
		return;
	words = arena_alloc(&pd->trace.arena, (n + 1) * sizeof(*words));
	for (uint32_t i = 0; i < n; i++)
		words[i] = arena_strdup(&pd->trace.arena, cursor_str(&c));
	if (!c.bad)
		pd->trace.info.cmdline = words;
}

static void skip_strings(struct cursor *c)
{
	for (uint32_t i = cursor_u32(c); i > 0 && !c->bad; i--)
		cursor_str(c);
}

struct node_cpus {
	struct perfdata *pd;
	int node;
};

static int put_in_node(void *ctx, unsigned cpu)
{
	const struct node_cpus *n = ctx;

	n->pd->cpus[cpu].node = n->node;
	return 0;
}

/*
 * After two lists of siblings stand a core and a socket for each CPU; newer
 * recordings go on with a list of dies and a die for each.
 */
static void parse_topology(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_CPU_TOPOLOGY);
	uint32_t cpus = pd->trace.info.cpus_available, node;
	const char *of;

	skip_strings(&c);
	skip_strings(&c);
	if (c.bad || cpus > (uint64_t)(c.end - c.p) / 8)
		return;
	pd->cpus = arena_alloc(&pd->trace.arena, (cpus + 1) * sizeof(*pd->cpus));
	for (uint32_t i = 0; i < cpus; i++) {
		pd->cpus[i].core = (int)cursor_u32(&c);
		pd->cpus[i].socket = (int)cursor_u32(&c);
	}
	pd->n_cpus = cpus;
	skip_strings(&c);
	for (uint32_t i = 0; i < cpus && !c.bad; i++)
		pd->cpus[i].die = (int)cursor_u32(&c);
	c = feature_cursor(pd, PERFDATA_NUMA_TOPOLOGY);
	for (uint32_t n = cursor_u32(&c); n && cursor_take(&c, "488s", &node, NULL, NULL, &of); n--)
		str_ranges(of, cpus, put_in_node, &(struct node_cpus){ pd, (int)node });
}

/* Names of the types, in the order of the attrs. */
static void parse_event_desc(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_EVENT_DESC);
	uint32_t n = cursor_u32(&c), attr_size = cursor_u32(&c), n_ids;
	const char *name;

	for (uint32_t i = 0; i < n && i < pd->types.n; i++) {
		if (!cursor_bytes(&c, attr_size) || !cursor_take(&c, "4s", &n_ids, &name) ||
		    !cursor_bytes(&c, n_ids * 8ull))
			return;
		if (!pd->types.data[i].name && *name)
			pd->types.data[i].name = arena_strdup(&pd->trace.arena, name);
	}
}

static void parse_group_desc(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_GROUP_DESC);
	uint32_t leader, members;
	const char *name;

	for (uint32_t n = cursor_u32(&c); n && cursor_take(&c, "s44", &name, &leader, &members);
	     n--) {
		if (leader >= pd->types.n || members > pd->types.n - leader)
			return;
		if (strcmp(name, "{anon_group}") != 0)
			pd->types.data[leader].group = arena_strdup(&pd->trace.arena, name);
		for (uint32_t k = 0; k < members; k++)
			pd->types.data[leader + k].leader = (int)leader;
	}
}

static void parse_clock(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_CLOCKID);
	struct trace_info *info = &pd->trace.info;
	uint64_t wall, clock;
	uint32_t version, id;

	cursor_take(&c, "8", &info->clock_res);
	vec_each (&pd->types, t)
		if (t->attr.use_clockid) {
			info->has_clock = true;
			info->clock_id = (unsigned)t->attr.clockid;
		}
	c = feature_cursor(pd, PERFDATA_CLOCK_DATA);
	if (cursor_take(&c, "4488", &version, &id, &wall, &clock) && version == 1) {
		info->has_clock = true;
		info->clock_id = id;
		info->wall_time = wall;
		info->wall_clock_time = clock;
	}
}

void feature_parse(struct perfdata *pd)
{
	struct trace_info *info = &pd->trace.info;
	struct cursor c;

	info->hostname = string_feature(pd, PERFDATA_HOSTNAME);
	info->os_release = string_feature(pd, PERFDATA_OSRELEASE);
	info->version = string_feature(pd, PERFDATA_VERSION);
	info->arch = string_feature(pd, PERFDATA_ARCH);
	info->cpu_desc = string_feature(pd, PERFDATA_CPUDESC);
	info->cpuid = string_feature(pd, PERFDATA_CPUID);
	c = feature_cursor(pd, PERFDATA_NRCPUS);
	cursor_take(&c, "44", &info->cpus_available, &info->cpus_online);
	c = feature_cursor(pd, PERFDATA_TOTAL_MEM);
	cursor_take(&c, "8", &info->total_mem);
	if (pd->feature[PERFDATA_TRACING_DATA].present)
		tracing_parse(pd, pd->feature[PERFDATA_TRACING_DATA].data,
			      pd->feature[PERFDATA_TRACING_DATA].size);
	parse_cmdline(pd);
	parse_topology(pd);
	parse_event_desc(pd);
	parse_group_desc(pd);
	parse_clock(pd);
	vec_each (&pd->build_ids, b)
		tasks_set_build_id(pd->trace.tasks, b->path, b->id, b->size,
				   record_in_kernel(b->misc));
	kymo_kallsyms(pd);
	kymo_stacks(pd);
	kymo_ended(pd);
}
