/* SPDX-License-Identifier: MIT */
/* What a specification means, for who does not look into its attr. */
#include "event/attr.h"
#include "event/spec/spec.h"

void spec_only(struct event_spec *s, bool user, bool kernel)
{
	s->attr.exclude_kernel = s->attr.exclude_hv = user;
	s->attr.exclude_user = kernel;
	s->modified = true;
}

bool spec_samples_running(const struct spec_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct perf_event_attr *a = &list->spec[i].attr;

		if ((a->type != PERF_TYPE_HARDWARE && !role_is_clock(attr_role(a))) ||
		    a->exclude_user || a->exclude_kernel)
			return false;
	}
	return list->n > 0;
}

void spec_numbers(const struct event_spec *s, spec_number_fn *fn, void *ctx)
{
	const struct perf_event_attr *a = &s->attr;
	bool bp = s->kind == SPEC_BREAKPOINT;
	const struct {
		const char *name;
		uint64_t value;
		bool hex, always;
	} all[] = {
		{ "type", a->type, .always = true },
		{ "config", a->config, .hex = true, .always = true },
		{ bp ? "bp_addr" : "config1", bp ? a->bp_addr : a->config1, .hex = true },
		{ bp ? "bp_len" : "config2", bp ? a->bp_len : a->config2, .hex = !bp },
		{ bp ? "bp_type" : "config3", bp ? a->bp_type : s->config3, .hex = !bp },
		{ "exclude_user", a->exclude_user },
		{ "exclude_kernel", a->exclude_kernel },
		{ "exclude_hv", a->exclude_hv },
		{ "exclude_idle", a->exclude_idle },
		{ "exclude_host", a->exclude_host },
		{ "exclude_guest", a->exclude_guest },
		{ "precise_ip", a->precise_ip },
		{ "pinned", a->pinned },
		{ "exclusive", a->exclusive },
		{ "precise_max", s->precise_max },
		{ "sample_read", s->sample_read },
		{ "weak", s->weak },
		{ "bpf", s->bpf },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].value || all[i].always)
			fn(ctx, all[i].name, all[i].value, all[i].hex);
}
