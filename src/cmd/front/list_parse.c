/* SPDX-License-Identifier: MIT */
/* `kymo list --parse TEXT`: what a -e text means on this machine, in the kernel's terms. */
#include <inttypes.h>

#include "base/str.h"
#include "base/term.h"
#include "cmd/front/list.h"
#include "event/spec/spec.h"

static const char *kind_name(enum spec_kind kind)
{
	static const char *const names[] = {
		[SPEC_HARDWARE] = "hardware",
		[SPEC_CACHE] = "cache",
		[SPEC_SOFTWARE] = "software",
		[SPEC_TRACEPOINT] = "tracepoint",
		[SPEC_RAW] = "raw",
		[SPEC_PMU] = "pmu",
		[SPEC_BREAKPOINT] = "breakpoint",
		[SPEC_TOOL] = "tool",
	};

	return names[kind];
}

/* Where values go that are not the default: into an object, or behind each other as text. */
struct sink {
	struct json *json; /* NULL: text */
	struct strbuf text;
};

static void put_number(struct sink *s, const char *key, uint64_t v)
{
	if (s->json)
		json_u64(s->json, key, v);
	else
		strbuf_printf(&s->text, " %s=%" PRIu64, key, v);
}

/* Unless it is 0. */
static void put_some(struct sink *s, const char *key, uint64_t v)
{
	if (v)
		put_number(s, key, v);
}

static void put_word(struct sink *s, const char *key, const char *v)
{
	if (v && s->json)
		json_str(s->json, key, v);
	else if (v)
		strbuf_printf(&s->text, " %s=%s", key, v);
}

static void put_setting(void *ctx, const char *key, uint64_t v, bool hex)
{
	struct sink *s = ctx;

	if (hex && !s->json)
		strbuf_printf(&s->text, " %s=0x%" PRIx64, key, v);
	else
		put_number(s, key, v);
}

static void term_values(struct sink *s, const struct event_spec *e)
{
	if (e->terms & SPEC_TERM_PERIOD)
		put_number(s, "period", e->period);
	if (e->terms & SPEC_TERM_FREQ)
		put_number(s, "freq", e->freq);
	put_word(s, "call-graph", e->call_graph);
	put_some(s, "stack-size", e->stack_size);
	if (e->terms & SPEC_TERM_TIME)
		put_number(s, "time", e->time);
	if (e->terms & SPEC_TERM_INHERIT)
		put_number(s, "inherit", e->inherit);
	if (e->terms & SPEC_TERM_OVERWRITE)
		put_number(s, "overwrite", e->overwrite);
	if (e->terms & SPEC_TERM_MAX_STACK)
		put_number(s, "max-stack", e->max_stack);
	put_some(s, "nr", e->max_events);
	put_word(s, "branch_type", e->branch_type);
	put_some(s, "percore", e->percore);
	put_some(s, "aux-output", e->aux_output);
}

static void place_values(struct sink *s, const struct event_spec *e, int index)
{
	if (e->leader != index)
		put_number(s, "leader", (uint64_t)e->leader);
	if (e->members > 1)
		put_number(s, "members", (uint64_t)e->members);
	if (e->first != index)
		put_number(s, "sum_of", (uint64_t)e->first);
	put_word(s, "group_name", e->group_name);
	put_word(s, "pmu", e->pmu);
	put_word(s, "pmu_cpus", e->pmu_cpus);
	put_word(s, "on_cpus", e->on_cpus);
	put_word(s, "unit", e->unit);
	put_some(s, "snapshot", e->snapshot);
	put_some(s, "per_pkg", e->per_pkg);
}

static void show_text(const struct event_spec *e, int index)
{
	struct sink s = { 0 };

	spec_numbers(e, put_setting, &s);
	place_values(&s, e, index);
	if (e->scale != 1.0)
		strbuf_printf(&s.text, " scale=%g", e->scale);
	term_values(&s, e);
	printf("%s%s%s  [%s]\n   %s\n", term_style(stdout, TERM_BOLD), e->name,
	       term_style(stdout, TERM_RESET), kind_name(e->kind), strbuf_str(&s.text));
	strbuf_free(&s.text);
}

static void show_json(struct json *j, const struct event_spec *e, int index)
{
	struct sink s = { .json = j };

	json_object(j, NULL);
	json_str(j, "name", e->name);
	json_str(j, "text", e->text);
	json_str(j, "kind", kind_name(e->kind));
	spec_numbers(e, put_setting, &s);
	place_values(&s, e, index);
	if (e->scale != 1.0)
		json_double(j, "scale", e->scale);
	json_object(j, "terms");
	term_values(&s, e);
	json_end(j);
	json_end(j);
}

int list_parse(struct env *env, const char *text, bool json, struct err *e)
{
	struct spec_list specs = { 0 };
	struct json j = json_to(stdout, JSON_PRETTY);
	int r = spec_parse(&specs, text, &env->spec, e);
	if (r == 0 && json)
		json_array(&j, NULL);
	for (size_t i = 0; i < specs.n && r == 0; i++) {
		if (json)
			show_json(&j, &specs.spec[i], (int)i);
		else
			show_text(&specs.spec[i], (int)i);
	}
	if (r == 0 && json) {
		json_end(&j);
		putchar('\n');
	}
	spec_list_free(&specs);
	return r;
}
