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

/* One place that knows what of a spec is shown: fn gets every value that is not its default. */
struct sink {
	void (*number)(struct sink *s, const char *key, uint64_t v, bool hex);
	void (*word)(struct sink *s, const char *key, const char *v);
	struct json *json;
	struct strbuf text;
};

static void list_parse_number(struct sink *s, const char *key, uint64_t v)
{
	if (v)
		s->number(s, key, v, false);
}

static void list_parse_word(struct sink *s, const char *key, const char *v)
{
	if (v)
		s->word(s, key, v);
}

static void list_parse_setting(void *ctx, const char *key, uint64_t v, bool hex)
{
	((struct sink *)ctx)->number(ctx, key, v, hex);
}

static void term_values(struct sink *s, const struct event_spec *e)
{
	if (e->terms & SPEC_TERM_PERIOD)
		s->number(s, "period", e->period, false);
	if (e->terms & SPEC_TERM_FREQ)
		s->number(s, "freq", e->freq, false);
	list_parse_word(s, "call-graph", e->call_graph);
	list_parse_number(s, "stack-size", e->stack_size);
	if (e->terms & SPEC_TERM_TIME)
		s->number(s, "time", e->time, false);
	if (e->terms & SPEC_TERM_INHERIT)
		s->number(s, "inherit", e->inherit, false);
	if (e->terms & SPEC_TERM_OVERWRITE)
		s->number(s, "overwrite", e->overwrite, false);
	if (e->terms & SPEC_TERM_MAX_STACK)
		s->number(s, "max-stack", e->max_stack, false);
	list_parse_number(s, "nr", e->max_events);
	list_parse_word(s, "branch_type", e->branch_type);
	list_parse_number(s, "percore", e->percore);
	list_parse_number(s, "aux-output", e->aux_output);
}

static void text_number(struct sink *s, const char *key, uint64_t v, bool as_hex)
{
	strbuf_printf(&s->text, as_hex ? " %s=0x%" PRIx64 : " %s=%" PRIu64, key, v);
}

static void text_word(struct sink *s, const char *key, const char *v)
{
	strbuf_printf(&s->text, " %s=%s", key, v);
}

static void json_number(struct sink *s, const char *key, uint64_t v, bool as_hex)
{
	json_u64(s->json, key, v);
}

static void json_word(struct sink *s, const char *key, const char *v)
{
	json_str(s->json, key, v);
}

static void place_values(struct sink *s, const struct event_spec *e, int index)
{
	if (e->leader != index)
		s->number(s, "leader", (uint64_t)e->leader, false);
	if (e->members > 1)
		s->number(s, "members", (uint64_t)e->members, false);
	if (e->first != index)
		s->number(s, "sum_of", (uint64_t)e->first, false);
	list_parse_word(s, "group_name", e->group_name);
	list_parse_word(s, "pmu", e->pmu);
	list_parse_word(s, "pmu_cpus", e->pmu_cpus);
	list_parse_word(s, "on_cpus", e->on_cpus);
	list_parse_word(s, "unit", e->unit);
	list_parse_number(s, "snapshot", e->snapshot);
	list_parse_number(s, "per_pkg", e->per_pkg);
}

static void show_text(const struct event_spec *e, int index)
{
	struct sink s = { .number = text_number, .word = text_word };

	spec_numbers(e, list_parse_setting, &s);
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
	struct sink s = { .number = json_number, .word = json_word, .json = j };

	json_object(j, NULL);
	json_str(j, "name", e->name);
	json_str(j, "text", e->text);
	json_str(j, "kind", kind_name(e->kind));
	spec_numbers(e, list_parse_setting, &s);
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
