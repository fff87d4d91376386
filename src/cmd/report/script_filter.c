/* SPDX-License-Identifier: MIT */
#include "cmd/report/script_filter.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

/* Functions may be named by addresses, too: 0x4010a0. */
static void addresses(struct script_filter *f, uint64_t range)
{
	f->addr_range = range ? range : 1;
	for (uint32_t i = 0; i < f->pick.symbols.n; i++) {
		const char *name = strtab_get(&f->pick.symbols, i);
		uint64_t v;

		if (str_starts(name, "0x") && str_u64(name, &v))
			vec_push(&f->addrs, v);
	}
}

int script_filter_init(struct script_filter *f, const struct pick_opts *o, uint64_t addr_range,
		       const struct trace *t, struct err *e)
{
	int r;

	*f = (struct script_filter){ 0 };
	r = pick_make(&f->pick, o, t, e);
	if (r < 0)
		*f = (struct script_filter){ 0 };
	else
		addresses(f, addr_range);
	return r;
}

void script_filter_free(struct script_filter *f)
{
	pick_free(&f->pick);
	vec_free(&f->addrs);
}

static bool script_filter_listed(const struct strtab *t, const char *name)
{
	return name && strtab_find(t, name) != STRTAB_NONE;
}

static bool address_wanted(const struct script_filter *f, uint64_t ip)
{
	for (size_t i = 0; i < f->addrs.n; i++)
		if (ip - f->addrs.data[i] < f->addr_range)
			return true;
	return false;
}

static bool code_wanted(struct script_filter *f, struct script *s, const struct event *ev)
{
	const char *function, *dso, *base;
	uint64_t start;

	script_names(s, ev, &function, &dso, &start);
	if (f->pick.by_dso && dso) {
		base = strrchr(dso, '/');
		if (!script_filter_listed(&f->pick.dsos, dso) &&
		    !script_filter_listed(&f->pick.dsos, base ? base + 1 : NULL))
			return false;
	}
	if (f->pick.by_symbol && !script_filter_listed(&f->pick.symbols, function)) {
		char text[32];

		snprintf(text, sizeof(text), "0x%" PRIx64, start);
		return (function && script_filter_listed(&f->pick.symbols, text)) ||
		       address_wanted(f, ev->ip);
	}
	return true;
}

bool script_filter_wants(struct script_filter *f, struct script *s, const struct event *ev)
{
	/* Like perf: all but CPUs choose among samples only. */
	if (ev->kind != EVENT_SAMPLE)
		return ev->kind == EVENT_COUNTER ? pick_event(&f->pick, ev) == PROFILE_COUNT
						 : pick_cpu(&f->pick, ev);
	return pick_event(&f->pick, ev) == PROFILE_COUNT &&
	       (!(f->pick.by_symbol || f->pick.by_dso) || code_wanted(f, s, ev));
}
