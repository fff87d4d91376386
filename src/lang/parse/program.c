/* SPDX-License-Identifier: MIT */
/* The outermost level of a program: definitions, config, macros, probes. */
#include <string.h>

#include "lang/parse/parse.h"

static const struct {
	const char *name, *env;
	size_t field;
	uint32_t min, max;
} tunables[] = {
	{ "max_strlen", "STRLEN", offsetof(struct lang_config, strlen), 1, 4096 },
	{ "max_map_keys", "MAP_KEYS_MAX", offsetof(struct lang_config, map_keys), 1, 1u << 24 },
	{ "max_probes", "MAX_PROBES", offsetof(struct lang_config, max_probes), 1, 1u << 20 },
	{ "max_bpf_progs", "MAX_BPF_PROGS", offsetof(struct lang_config, max_bpf_progs), 1,
	  1u << 20 },
	{ "log_size", "LOG_SIZE", offsetof(struct lang_config, log_size), 4096, 1u << 28 },
	{ "perf_rb_pages", "PERF_RB_PAGES", offsetof(struct lang_config, ring_pages), 1, 1u << 16 },
};

void lang_config_default(struct lang_config *c)
{
	*c = (struct lang_config){ .strlen = 64,
				   .map_keys = 4096,
				   .stack_depth = 127,
				   .max_probes = 512,
				   .max_bpf_progs = 512,
				   .log_size = 1000000,
				   .ring_pages = 64 };
	for (size_t i = 0; i < ARRAY_SIZE(tunables); i++) {
		char name[64];
		const char *v;
		uint64_t n;

		snprintf(name, sizeof(name), "BPFTRACE_%s", tunables[i].env);
		v = getenv(name);
		if (v && str_u64(v, &n) && n >= tunables[i].min && n <= tunables[i].max)
			memcpy((char *)c + tunables[i].field, &(uint32_t){ (uint32_t)n }, 4);
	}
}

/* What bpftrace has, and means nothing here. */
static bool config_is_ignored(const char *name)
{
	static const char *const starts[] = { "stack_mode", "cache_user", "symbol_source",
					      "lazy_sym",   "print_maps", "unstable",
					      "on_stack",   "str_trunc",  "use_blaze",
					      "show_debug", "license",	  "cpp_demangle" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (str_starts(name, starts[i]))
			return true;
	return false;
}

static void config_line(struct parser *p)
{
	struct token name = p->tok;
	struct str_nearest near = { .typed = name.s };

	parse_advance(p);
	if (!parse_expect(p, '=', "in the config block"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tunables); i++) {
		AUTO_FREE char *old = mem_printf("BPFTRACE_%s", tunables[i].env);

		str_nearest_add(&near, tunables[i].name);
		if (strcmp(name.s, tunables[i].name) != 0 && strcmp(name.s, old) != 0)
			continue;
		if (p->tok.kind != T_INT || p->tok.v < tunables[i].min ||
		    p->tok.v > tunables[i].max)
			parse_fail(p, "%s is a number from %u to %u", name.s, tunables[i].min,
				   tunables[i].max);
		else
			memcpy((char *)p->config + tunables[i].field,
			       &(uint32_t){ (uint32_t)p->tok.v }, 4);
		parse_advance(p);
		return;
	}
	if (strcmp(name.s, "missing_probes") == 0) {
		p->config->missing_ignored =
			p->tok.kind == T_IDENT && (parse_is(p, "ignore") || parse_is(p, "warn"));
		if (p->tok.kind == T_STR)
			p->config->missing_ignored = strcmp(p->tok.s, "error") != 0;
	} else if (!config_is_ignored(name.s)) {
		lang_error(p->d, name.pos, name.len, "there is no setting '%s'", name.s);
		lang_hint_near(p->d, &near);
	}
	parse_advance(p);
}

static void parse_config(struct parser *p)
{
	parse_advance(p);
	parse_expect(p, '=', "behind config");
	if (!parse_expect(p, '{', NULL))
		return;
	while (p->tok.kind == T_IDENT && !p->failed) {
		config_line(p);
		while (parse_accept(p, ';') || parse_accept(p, ','))
			;
	}
	parse_expect(p, '}', "at the end of config");
}

static void parse_macro(struct parser *p)
{
	struct macro m = { 0 };
	VEC(struct node *) params = { 0 };

	parse_advance(p);
	m.name = p->tok.s;
	if (!parse_expect(p, T_IDENT, "behind macro") || !parse_expect(p, '(', NULL))
		return;
	while (p->tok.kind == T_VAR || p->tok.kind == T_MAP || p->tok.kind == T_IDENT) {
		struct node *n = parse_node(p,
					    p->tok.kind == T_VAR   ? N_VAR
					    : p->tok.kind == T_MAP ? N_MAP
								   : N_IDENT,
					    p->tok.pos);

		n->s = p->tok.s;
		vec_push(&params, n);
		parse_advance(p);
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, ')', NULL);
	m.body = parse_rounds(p); /* it may stand in a loop */
	m.n_params = params.n;
	m.param = arena_dup(p->arena, params.data, params.n * sizeof(*params.data));
	vec_free(&params);
	vec_push(&p->ast->macros, m);
}

static void parse_probe(struct parser *p)
{
	struct probe_block b = { .pos = p->tok.pos };
	unsigned errors = p->d->errors;
	VEC(struct lang_point) points = { 0 };
	bool ok = true;

	do {
		struct lang_point pt;

		if (p->tok.kind != T_IDENT) {
			parse_fail(p, "a probe expected, such as tracepoint:sched:sched_switch");
			ok = false;
			break;
		}
		if (parse_point(p, &pt))
			vec_push(&points, pt);
		else
			ok = false;
	} while (parse_accept(p, ','));
	b.len = p->prev.pos + p->prev.len - b.pos;
	if (p->tok.kind == '/') {
		p->in_predicate = true;
		parse_advance(p);
		b.pred = parse_expr(p);
		p->in_predicate = false;
		parse_expect(p, '/', "at the end of the predicate");
		if (p->d->errors > errors)
			b.pred = NULL;
	}
	if (p->tok.kind != '{') {
		if (ok)
			parse_expect(p, '{', "behind the probe");
		p->failed = false;
		parse_skip_to(p, '}');
	} else {
		p->failed = false;
		b.body = parse_block(p);
	}
	b.n_patterns = points.n;
	b.pattern = arena_dup(p->arena, points.data, points.n * sizeof(*points.data));
	vec_free(&points);
	b.holed = p->d->errors > errors;
	if (b.body)
		vec_push(&p->ast->blocks, b);
}

int parse_program(const struct lang_source *src, struct lang_config *config, struct arena *a,
		  struct ast *ret, struct lang_diags *d)
{
	struct parser p = { .arena = a, .d = d, .ast = ret, .config = config, .src = src };

	lex_init(&p.lex, src->text, (uint32_t)src->n, a, d);
	p.lex.has = ret->has;
	p.lex.has_ctx = ret->has_ctx;
	parse_headers(&p);
	parse_advance(&p);
	ret->undefined = d->errors > 0;
	while (p.tok.kind != T_END) {
		uint32_t at = p.tok.pos;
		size_t blocks = ret->blocks.n;
		unsigned errors = d->errors;

		p.failed = false;
		if (parse_is(&p, "struct") || parse_is(&p, "union") || parse_is(&p, "enum"))
			parse_definition(&p);
		else if (parse_is(&p, "typedef"))
			parse_typedef(&p);
		else if (parse_is(&p, "config"))
			parse_config(&p);
		else if (parse_is(&p, "macro"))
			parse_macro(&p);
		else if (parse_accept(&p, ';'))
			continue;
		else
			parse_probe(&p);
		if (p.tok.pos == at && p.tok.kind != T_END)
			parse_advance(&p);
		if (ret->blocks.n == blocks) /* a definition, or what is nothing */
			ret->undefined |= d->errors > errors;
	}
	ret->undefined |= p.lex.undefined;
	if (!ret->blocks.n && !d->errors) {
		lang_error(d, 0, 0, "the program has no probe");
		lang_hint(d, "BEGIN { printf(\"hello\\n\"); exit(); }");
	}
	lex_free(&p.lex);
	if (!ret->undefined) {
		unsigned errors = d->errors;

		macro_expand(ret, a, d);
		ret->undefined = d->errors > errors; /* a use that stands for nothing */
	}
	return d->errors ? -EINVAL : 0;
}
