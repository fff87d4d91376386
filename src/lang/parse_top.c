/* SPDX-License-Identifier: MIT */
/* The outermost level of a program: definitions, config, macros, probes. */
#include <string.h>

#include "lang/parse.h"

static void skip_to(struct parser *p, int kind)
{
	unsigned open = 0;

	while (p->tok.kind != T_END && !(p->tok.kind == kind && open == 0)) {
		if (p->tok.kind == '{')
			open++;
		if (p->tok.kind == '}' && open && --open == 0 && kind == '}')
			break;
		parse_advance(p);
	}
	if (p->tok.kind == kind)
		parse_advance(p);
}

static int64_t const_value(const struct parser *p, const struct node *n, bool *ok)
{
	int64_t a, b;

	switch (n->kind) {
	case N_INT: return n->v;
	case N_IDENT:
		for (size_t i = p->ast->consts.n; i-- > 0;)
			if (strcmp(p->ast->consts.data[i].name, n->s) == 0)
				return p->ast->consts.data[i].value;
		break;
	case N_UN:
		a = const_value(p, n->a, ok);
		return n->op == '-'   ? (int64_t) - (uint64_t)a
		       : n->op == '~' ? ~a
		       : n->op == '!' ? !a
				      : (*ok = false);
	case N_BIN:
		a = const_value(p, n->a, ok);
		b = const_value(p, n->b, ok);
		switch (n->op) {
		case '+': return (int64_t)((uint64_t)a + (uint64_t)b);
		case '-': return (int64_t)((uint64_t)a - (uint64_t)b);
		case '*': return (int64_t)((uint64_t)a * (uint64_t)b);
		case '|': return a | b;
		case '&': return a & b;
		case T_SHL: return (int64_t)((uint64_t)a << (b & 63));
		case T_SHR: return a >> (b & 63);
		}
		break;
	default: break;
	}
	*ok = false;
	return 0;
}

static void parse_enum(struct parser *p)
{
	int64_t next = 0;

	while (p->tok.kind == T_IDENT && !p->failed) {
		const char *name = p->tok.s;

		parse_advance(p);
		if (parse_accept(p, '=')) {
			struct node *n = parse_expr(p);
			bool ok = true;

			next = const_value(p, n, &ok);
			if (!ok)
				lang_error(p->d, n->pos, n->len, "this is no constant");
		}
		vec_push(&p->ast->consts, (struct cconst){ name, next });
		next = (int64_t)((uint64_t)next + 1);
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, '}', "at the end of the enum");
}

static struct crecord_def *parse_record(struct parser *p, bool is_union, const char *name);

static void parse_members(struct parser *p, struct crecord_def *r)
{
	struct cfield_def f = { 0 };
	struct ctype *t;

	if (parse_is(p, "struct") || parse_is(p, "union")) {
		/* an inner definition: struct [name] { ... } [field]; */
		uint32_t save = p->lex.at;
		struct token tok = p->tok, prev = p->prev;
		bool is_union = parse_is(p, "union");
		const char *name = "";

		parse_advance(p);
		if (p->tok.kind == T_IDENT) {
			name = p->tok.s;
			parse_advance(p);
		}
		if (p->tok.kind == '{') {
			const char *full =
				*name ? arena_printf(p->arena, "%s %s",
						     is_union ? "union" : "struct", name)
				      : arena_printf(p->arena, "(anonymous %u)", p->tok.pos);

			if (++p->depth > PARSE_DEPTH) {
				parse_fail(p, "records are nested too deeply");
				return;
			}
			f.inner = parse_record(p, is_union, full);
			p->depth--;
			f.type.name = full;
			f.name = "";
			if (p->tok.kind == T_IDENT) {
				f.name = p->tok.s;
				parse_advance(p);
			}
			vec_push(&r->fields, f);
			parse_expect(p, ';', "behind the field");
			return;
		}
		p->lex.at = save;
		p->tok = tok;
		p->prev = prev;
	}
	t = parse_type(p);
	if (!t) {
		parse_fail(p, "the type of a field expected");
		return;
	}
	do {
		f = (struct cfield_def){ .type = *t };
		while (parse_accept(p, '*'))
			f.type.stars++;
		if (parse_accept(p, '(')) { /* a pointer to a function */
			parse_accept(p, '*');
			f.type.name = "void";
			f.type.stars = 1;
			f.name = p->tok.kind == T_IDENT ? p->tok.s : "";
			skip_to(p, ')');
			if (parse_accept(p, '('))
				skip_to(p, ')');
			vec_push(&r->fields, f);
			continue;
		}
		f.name = "";
		if (p->tok.kind == T_IDENT) {
			f.name = p->tok.s;
			parse_advance(p);
		} else if (p->tok.kind != ':') {
			parse_fail(p, "the name of a field expected");
			return;
		}
		while (parse_accept(p, '[')) {
			struct node *n;
			bool ok = true;
			int64_t v;

			if (parse_accept(p, ']')) {
				f.type.is_array = true;
				continue;
			}
			n = parse_expr(p);
			v = const_value(p, n, &ok);
			if (!ok || v < 0 || v > 1 << 20)
				lang_error(p->d, n->pos, n->len, "this is no size of an array");
			else
				f.type.array =
					f.type.is_array ? f.type.array * (uint32_t)v : (uint32_t)v;
			if (f.type.array > 1u << 20)
				f.type.array = 1;
			f.type.is_array = true;
			parse_expect(p, ']', NULL);
		}
		if (parse_accept(p, ':') && p->tok.kind == T_INT) {
			f.is_bits = true;
			f.bits = p->tok.v > 64 ? 64 : (uint32_t)p->tok.v;
			parse_advance(p);
		}
		vec_push(&r->fields, f);
	} while (parse_accept(p, ','));
	parse_expect(p, ';', "behind the field");
}

static struct crecord_def *parse_record(struct parser *p, bool is_union, const char *name)
{
	struct crecord_def *r = arena_alloc(p->arena, sizeof(*r));

	r->name = name;
	r->is_union = is_union;
	r->pos = p->tok.pos;
	parse_expect(p, '{', NULL);
	while (p->tok.kind != '}' && p->tok.kind != T_END && !p->failed)
		parse_members(p, r);
	parse_expect(p, '}', "at the end of the record");
	vec_push(&p->ast->records, r);
	return r;
}

/* struct x { ... }; enum { ... }; typedef lines are skipped. */
static void parse_definition(struct parser *p)
{
	bool is_enum = parse_is(p, "enum"), is_union = parse_is(p, "union");
	const char *name = "";
	uint32_t pos = p->tok.pos;

	parse_advance(p);
	if (p->tok.kind == T_IDENT) {
		name = p->tok.s;
		parse_advance(p);
	}
	if (is_enum) {
		if (parse_expect(p, '{', NULL))
			parse_enum(p);
	} else if (p->tok.kind == '{') {
		parse_record(p, is_union,
			     arena_printf(p->arena, "%s %s", is_union ? "union" : "struct", name))
			->pos = pos;
	}
	if (p->failed)
		skip_to(p, ';');
	else
		parse_accept(p, ';');
}

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

static void config_line(struct parser *p)
{
	struct token name = p->tok;
	struct str_nearest near = { .typed = name.s };
	char list[128];

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
	} else if (!str_starts(name.s, "stack_mode") && !str_starts(name.s, "cache_user") &&
		   !str_starts(name.s, "symbol_source") && !str_starts(name.s, "lazy_sym") &&
		   !str_starts(name.s, "print_maps") && !str_starts(name.s, "unstable") &&
		   !str_starts(name.s, "on_stack") && !str_starts(name.s, "str_trunc") &&
		   !str_starts(name.s, "use_blaze") && !str_starts(name.s, "show_debug") &&
		   !str_starts(name.s, "license") && !str_starts(name.s, "cpp_demangle")) {
		lang_error(p->d, name.pos, name.len, "there is no setting '%s'", name.s);
		if (str_nearest_list(&near, list, sizeof(list)))
			lang_hint(p->d, "did you mean %s?", list);
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
	p->loops++; /* it may stand in one */
	m.body = parse_block(p);
	p->loops--;
	m.n_params = params.n;
	m.param = arena_dup(p->arena, params.data, params.n * sizeof(*params.data));
	vec_free(&params);
	vec_push(&p->ast->macros, m);
}

static void parse_probe(struct parser *p)
{
	struct probe_block b = { .pos = p->tok.pos };
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
	}
	if (p->tok.kind != '{') {
		if (ok)
			parse_expect(p, '{', "behind the probe");
		p->failed = false;
		skip_to(p, '}');
	} else {
		p->failed = false;
		b.body = parse_block(p);
	}
	b.n_patterns = points.n;
	b.pattern = arena_dup(p->arena, points.data, points.n * sizeof(*points.data));
	vec_free(&points);
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
	parse_advance(&p);
	while (p.tok.kind != T_END) {
		uint32_t at = p.tok.pos;

		p.failed = false;
		if (parse_is(&p, "struct") || parse_is(&p, "union") || parse_is(&p, "enum"))
			parse_definition(&p);
		else if (parse_is(&p, "typedef"))
			skip_to(&p, ';');
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
	}
	if (!ret->blocks.n && !d->errors) {
		lang_error(d, 0, 0, "the program has no probe");
		lang_hint(d, "BEGIN { printf(\"hello\\n\"); exit(); }");
	}
	lex_free(&p.lex);
	if (!d->errors)
		macro_expand(ret, a, d);
	return d->errors ? -EINVAL : 0;
}
