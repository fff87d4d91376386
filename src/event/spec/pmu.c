/* SPDX-License-Identifier: MIT */
/*
 * The terms of an event of a PMU, as numbers: PMU/TERMS/ into config words. Which
 * PMUs a name stands for is in event/spec/pmus.c.
 *
 * A term the user wrote beats the same term of a named event, wherever it
 * stands: cpu/mem-loads,ldlat=30/ is 30. (perf mixes the two values' bits.)
 */
#include "event/spec/int.h"

#include <ctype.h>
#include <string.h>

struct code {
	uint64_t word[4]; /* config, config1 ... */
	struct env_event event;
	const struct spec_name *legacy; /* cpu/cycles/ */
	uint64_t cache;
	bool is_cache;
};

bool spec_bits_parse(const char *format, struct spec_bits *ret)
{
	struct spec_bits b = { 0 };
	const char *s = format + strlen("config");

	if (!str_starts(format, "config"))
		return false;
	if (*s >= '1' && *s <= '3')
		b.word = (unsigned)(*s++ - '0');
	do {
		char *end;
		unsigned long lo, hi;

		s++; /* ':' at first, ',' later */
		if (s[-1] != ':' && s[-1] != ',')
			return false;
		if (!isdigit((unsigned char)*s))
			return false;
		lo = hi = strtoul(s, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return false;
			hi = strtoul(end + 1, &end, 10);
		}
		if (hi < lo || hi > 63)
			return false;
		b.mask |= (hi - lo == 63 ? ~0ull : (1ull << (hi - lo + 1)) - 1) << lo;
		s = end;
	} while (*s == ',');
	if (*s && *s != '\n')
		return false;
	*ret = b;
	return true;
}

uint64_t spec_bits_max(const struct spec_bits *bits)
{
	int n = __builtin_popcountll(bits->mask);

	return n == 64 ? ~0ull : (1ull << n) - 1;
}

bool spec_bits_put(const struct spec_bits *bits, uint64_t v, uint64_t *word)
{
	if (v > spec_bits_max(bits))
		return false;
	*word &= ~bits->mask;
	for (uint64_t left = bits->mask; left; left &= left - 1) {
		if (v & 1)
			*word |= left & -left;
		v >>= 1;
	}
	return true;
}

static const char *format_of(struct spec_parser *p, const struct env_pmu *pmu, struct slice term)
{
	return p->env->pmu_format ? p->env->pmu_format(p->env->ctx, pmu, slice_dup(p, term)) : NULL;
}

bool spec_pmu_has(struct spec_parser *p, const struct env_pmu *pmu, struct slice name,
		  struct env_event *ret)
{
	*ret = (struct env_event){ .scale = 1.0 };
	return p->env->pmu_event && p->env->pmu_event(p->env->ctx, pmu, slice_dup(p, name), ret);
}

static const struct spec_term *user_term(const struct spec_terms *terms, struct slice key)
{
	for (size_t i = 0; i < terms->n; i++)
		if (terms->t[i].key.n == key.n && memcmp(terms->t[i].key.s, key.s, key.n) == 0)
			return &terms->t[i];
	return NULL;
}

/* Put a value where the PMU's format says. at: what to show when it does not fit. */
static int spec_pmu_put(struct spec_parser *p, const struct env_pmu *pmu, const char *format,
			struct slice key, uint64_t v, struct slice at, struct code *c)
{
	struct spec_bits bits;

	if (!spec_bits_parse(format, &bits))
		return spec_bad(p, at, EINVAL, "kymo cannot read the format of %s/%.*s/: '%.40s'",
				pmu->name, (int)key.n, key.s, format);
	if (!spec_bits_put(&bits, v, &c->word[bits.word])) {
		spec_bad(p, at, ERANGE, "%.*s is too large: its greatest value is %llu (0x%llx)",
			 (int)key.n, key.s, (unsigned long long)spec_bits_max(&bits),
			 (unsigned long long)spec_bits_max(&bits));
		return spec_bad_hint(p, "its bits are %s", format);
	}
	return 0;
}

static unsigned config_word(struct slice key)
{
	return key.n == 7 ? (unsigned)(key.s[6] - '0') : 0;
}

/* A known term that is one of config, config1, config2, config3. */
static bool is_config(struct slice key)
{
	return slice_is(key, "config") || slice_is(key, "config1") || slice_is(key, "config2") ||
	       slice_is(key, "config3");
}

/* The terms of a named event ("event=0xcd,umask=0x1,ldlat=3"). They come from the kernel. */
static int event_terms(struct spec_parser *p, const struct env_pmu *pmu,
		       const struct spec_terms *user, struct slice at, struct code *c)
{
	char *copy = arena_strdup(&p->list->arena, c->event.terms ? c->event.terms : "");
	struct slice left = { copy, strlen(copy) }, one, key, value;

	while (slice_cut(left, ',', &one, &left), one.n) {
		bool has_value = slice_cut(one, '=', &key, &value);
		const struct spec_term *given = user_term(user, key);
		uint64_t v = 1;
		const char *format;

		if (has_value && !slice_u64(value, &v)) {
			/* core=? : the user has to say which */
			if (!given || !given->is_number) {
				spec_bad(p, at, EINVAL, "%.*s needs a value for %.*s", (int)at.n,
					 at.s, (int)key.n, key.s);
				return spec_bad_hint(p, "write %s/%.*s,%.*s=0/", pmu->name,
						     (int)at.n, at.s, (int)key.n, key.s);
			}
			continue;
		}
		if (is_config(key)) {
			c->word[config_word(key)] = v;
			continue;
		}
		format = format_of(p, pmu, key);
		if (!format)
			return spec_bad(p, at, EINVAL,
					"%s has no term '%.*s', which this event uses", pmu->name,
					(int)key.n, key.s);
		if (spec_pmu_put(p, pmu, format, key, v, at, c) < 0)
			return -ERANGE;
	}
	return 0;
}

static int unknown_term(struct spec_parser *p, const struct env_pmu *pmu, const struct spec_term *t)
{
	struct str_nearest near = { .typed = slice_dup(p, t->key) };
	struct env_names names = { 0 };
	AUTO_STRBUF all = { 0 };

	if (p->env->pmu_formats)
		names = p->env->pmu_formats(p->env->ctx, pmu);
	for (size_t i = 0; i < names.n; i++) {
		str_nearest_add(&near, names.name[i]);
		if (all.n < 200)
			strbuf_printf(&all, "%s%s", all.n ? ", " : "", names.name[i]);
	}
	names.n = 0;
	if (p->env->pmu_events && !t->has_value)
		names = p->env->pmu_events(p->env->ctx, pmu);
	for (size_t i = 0; i < names.n; i++)
		str_nearest_add(&near, names.name[i]);
	spec_terms_near(&near);
	spec_bad(p, t->all, EINVAL,
		 t->has_value ? "%s has no term '%s'" : "%s has no event and no term '%s'",
		 pmu->name, near.typed);
	return spec_bad_near(
		p, &near,
		all.n ? arena_printf(&p->list->arena, "its terms: %s", strbuf_str(&all))
		      : arena_printf(&p->list->arena, "'kymo list %s' shows its events",
				     pmu->name));
}

/* A name that every core PMU has: cycles, LLC-loads. */
static bool legacy_name(const struct env_pmu *pmu, const struct spec_term *t, struct code *c)
{
	const struct spec_name *n;
	size_t at;

	if (!pmu->core || t->has_value || c->event.terms)
		return false;
	n = spec_name_find(t->key.s, t->key.n);
	if (n && n->kind == SPEC_HARDWARE) {
		c->legacy = n;
		return true;
	}
	c->is_cache = spec_cache_parse(t->key.s, t->key.n, &c->cache, &at) == 1;
	return c->is_cache;
}

static int second_event(struct spec_parser *p, const struct spec_term *a, const struct spec_term *b)
{
	spec_bad(p, b->all, EINVAL, "two events in one: '%.*s' and '%.*s'", (int)a->key.n, a->key.s,
		 (int)b->key.n, b->key.s);
	return spec_bad_hint(p, "write PMU/%.*s/,PMU/%.*s/", (int)a->key.n, a->key.s, (int)b->key.n,
			     b->key.s);
}

static int fixed_meaning(struct spec_parser *p, const struct spec_term *a,
			 const struct spec_term *b)
{
	spec_bad(p, b->all, EINVAL, "%.*s has a fixed meaning: it takes no %.*s", (int)a->key.n,
		 a->key.s, (int)b->key.n, b->key.s);
	return spec_bad_hint(p,
			     "the CPU's manual has its event and umask numbers, which take terms");
}

/* Whole words first, then the named event, then single fields: each beats what was before. */
static int encode(struct spec_parser *p, const struct env_pmu *pmu, const struct spec_terms *terms,
		  struct code *c)
{
	const struct spec_term *named = NULL;
	struct env_event found;
	uint64_t v;

	*c = (struct code){ .event.scale = 1.0 };
	for (size_t i = 0; i < terms->n; i++) {
		const struct spec_term *t = &terms->t[i];

		if (is_config(t->key) && t->is_number)
			c->word[config_word(t->key)] = t->number;
		if (spec_term_known(t) || format_of(p, pmu, t->key))
			continue;
		if (!t->has_value && slice_raw(t->key, &v)) {
			c->word[0] = v;
			continue;
		}
		if (!t->has_value && spec_pmu_has(p, pmu, t->key, &found)) {
			if (named)
				return second_event(p, named, t);
			named = t;
			c->event = found;
			continue;
		}
		if (!named && !c->legacy && !c->is_cache && legacy_name(pmu, t, c)) {
			named = t;
			continue;
		}
		return unknown_term(p, pmu, t);
	}
	if (named && !c->legacy && !c->is_cache && event_terms(p, pmu, terms, named->all, c) < 0)
		return -EINVAL;
	for (size_t i = 0; i < terms->n; i++) {
		const struct spec_term *t = &terms->t[i];
		const char *format = spec_term_known(t) ? NULL : format_of(p, pmu, t->key);

		if (!format)
			continue;
		if (named && (c->legacy || c->is_cache))
			return fixed_meaning(p, named, t);
		if (t->has_value && !t->is_number) {
			spec_bad(p, t->value, EINVAL, "%.*s wants a number", (int)t->key.n,
				 t->key.s);
			return spec_bad_hint(p, "as in %.*s=0x3c or %.*s=60", (int)t->key.n,
					     t->key.s, (int)t->key.n, t->key.s);
		}
		if (spec_pmu_put(p, pmu, format, t->key, t->has_value ? t->number : 1,
				 t->has_value ? t->value : t->key, c) < 0)
			return -ERANGE;
	}
	return 0;
}

static struct event_spec *spec_spec_pmu_add(struct spec_parser *p, const struct spec_item *item,
					    const struct env_pmu *pmu, const struct code *c)
{
	struct event_spec *s;
	uint64_t extended = spec_pmu_is_hybrid(pmu) ? (uint64_t)pmu->type << 32 : 0;

	if (c->legacy)
		s = spec_add(p, SPEC_HARDWARE, PERF_TYPE_HARDWARE, c->legacy->config | extended,
			     item);
	else if (c->is_cache)
		s = spec_add(p, SPEC_CACHE, PERF_TYPE_HW_CACHE, c->cache | extended, item);
	else
		s = spec_add(p, SPEC_PMU, pmu->type, c->word[0], item);
	s->attr.config1 = c->word[1];
	s->attr.config2 = c->word[2];
	s->config3 = c->word[3];
	s->pmu = arena_strdup(&p->list->arena, pmu->name);
	s->pmu_cpus = pmu->cpumask ? arena_strdup(&p->list->arena, pmu->cpumask) : NULL;
	s->on_cpus = pmu->cpus ? arena_strdup(&p->list->arena, pmu->cpus) : NULL;
	s->unit = c->event.unit ? arena_strdup(&p->list->arena, c->event.unit) : NULL;
	s->scale = c->event.scale;
	s->snapshot = c->event.snapshot;
	s->per_pkg = c->event.per_pkg;
	return s;
}

int spec_pmu_add(struct spec_parser *p, const struct spec_item *item, const struct spec_pmus *set,
		 const struct spec_terms *terms)
{
	size_t from = p->list->n;
	unsigned before = p->nbad;
	struct spec_spot first_bad = { 0 };
	struct code c;
	int r = 0;

	for (size_t i = 0; i < set->n; i++) {
		int failed = encode(p, set->pmu[i], terms, &c);

		if (failed < 0) {
			if (!r && before < SPEC_SPOTS)
				first_bad = p->bad[before];
			r = r ? r : failed;
			p->nbad = before;
			continue;
		}
		spec_spec_pmu_add(p, item, set->pmu[i], &c)->first = (int)from;
	}
	if (p->list->n > from)
		return 2;
	if (r < 0) {
		p->nbad = before + 1;
		if (before < SPEC_SPOTS)
			p->bad[before] = first_bad;
	}
	return r;
}
