/* SPDX-License-Identifier: MIT */
/* The stages in order: parse, expand patterns, settle types, lay out maps, generate. */
#include <string.h>

#include "lang/compile.h"

#define PASSES 12
#define SYSCALLS_MAX 512
#define CACHE_LINE 64u
#define PARTS_MAX (2u << 20) /* bytes of a hash that is made at once */

static void check_all(struct compiler *k, bool final)
{
	size_t last_block = SIZE_MAX;
	bool depends = true;

	k->c.final = final;
	k->d->quiet = !final;
	vec_each (&k->units, u) {
		struct probe_block *b = &k->ast.blocks.data[u->block];
		const struct lang_point *pt = &k->p->points.data[u->point];

		/* More points of a block whose code is the same for them: once is enough. */
		if (u->block == last_block && !depends &&
		    pt->kind == k->p->points.data[u->point - 1].kind)
			continue;
		k->c.gen++;
		check_block(&k->c, b, pt);
		last_block = u->block;
		depends = k->c.uses_point && (k->c.args_asked || k->c.point_typed);
	}
	k->d->quiet = false;
}

static void fixed_maps(struct compiler *k)
{
	static const struct {
		enum bpf_map_type type;
		uint32_t key, value, entries, flags;
	} fixed[LANG_MAP_FIXED] = {
		[LANG_MAP_RING] = { BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0 },
		[LANG_MAP_CONTROL] = { BPF_MAP_TYPE_RINGBUF, 0, 0, 65536, 0 },
		[LANG_MAP_COUNTERS] = { BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 0, 0 },
		[LANG_MAP_SCRATCH] = { BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 0, 0 },
		[LANG_MAP_STACKS] = { BPF_MAP_TYPE_HASH, 8, 0, 65536, BPF_F_NO_PREALLOC },
		[LANG_MAP_INFO] = { BPF_MAP_TYPE_ARRAY, 4, 8, LANG_INFO_N, 0 },
	};

	for (size_t i = 0; i < LANG_MAP_FIXED; i++)
		vec_push(&k->p->maps, (struct lang_map){ .type = fixed[i].type,
							 .key_size = fixed[i].key,
							 .value_size = fixed[i].value,
							 .entries = fixed[i].entries,
							 .flags = fixed[i].flags,
							 .per_cpu = fixed[i].type ==
								    BPF_MAP_TYPE_PERCPU_ARRAY });
}

uint32_t lang_map_value(const struct lang_map *m, unsigned ncpus)
{
	return m->parts ? m->value_size * ncpus : m->value_size;
}

uint32_t lang_map_read(const struct lang_map *m, unsigned ncpus)
{
	return ((m->value_size + 7) & ~7u) * (m->per_cpu ? ncpus : 1);
}

/*
 * The kernel takes milliseconds to make its own per-CPU hash, key by key. With few CPUs the
 * same is a plain hash whose values have a part for each, on lines of the cache of its own.
 */
static void into_parts(const struct compiler *k, struct lang_map *m)
{
	uint32_t part = (m->value_size + CACHE_LINE - 1) & ~(CACHE_LINE - 1);

	if (k->env->recorded || !k->env->ncpus ||
	    (uint64_t)part * k->env->ncpus * m->entries > PARTS_MAX)
		return;
	m->type = BPF_MAP_TYPE_HASH;
	m->value_size = part;
	m->parts = true;
}

static void too_large(struct compiler *k, size_t map)
{
	const struct lang_map *m = &k->p->maps.data[map];
	const struct node *n = NULL;

	vec_each (&k->ast.blocks, b) {
		n = n ? n : node_find_map(b->pred, (int)map);
		n = n ? n : node_find_map(b->body, (int)map);
	}
	lang_error(k->d, n ? n->pos : 0, n ? n->len : 0, "the keys of %s are too large (%u bytes)",
		   m->name, m->key_size);
	lang_hint(k->d, "the kernel takes keys of up to 512 bytes: str(x, 400) cuts a text");
}

static void lay_out_maps(struct compiler *k)
{
	struct lang_program *p = k->p;

	p->n_counters = LANG_COUNT_MAPS;
	for (size_t i = LANG_MAP_FIXED; i < p->maps.n; i++) {
		struct lang_map *m = &p->maps.data[i];

		m->is_agg = lt_is_agg(m->value);
		m->per_cpu = m->is_agg;
		m->value_size = m->is_agg ? m->value->size : lt_stored(m->value);
		m->present_word = !m->key && !m->is_agg;
		m->full_counter = p->n_counters++;
		if (m->key) {
			m->type = m->is_agg ? BPF_MAP_TYPE_PERCPU_HASH : BPF_MAP_TYPE_HASH;
			m->key_size = m->key->size;
			m->entries = p->config.map_keys;
		} else {
			m->type = m->is_agg ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY;
			m->key_size = 4;
			m->entries = 1;
			m->value_size += m->present_word ? 8 : 0;
		}
		if (m->key_size > 512)
			too_large(k, i);
		if (m->key && m->is_agg)
			into_parts(k, m);
		/* Large values for many keys and CPUs: entries are allocated when they are used. */
		if (m->key && !m->parts && (uint64_t)m->value_size * m->entries > 1u << 20)
			m->flags = BPF_F_NO_PREALLOC;
	}
	p->maps.data[LANG_MAP_STACKS].value_size = 8 + p->stack_depth * 8;
}

static enum lang_how how_of(struct compiler *k, const struct lang_point *pt)
{
	if (pt->kind != LP_TRACEPOINT || k->env->recorded)
		return LH_NORMAL;
	if (strcmp(pt->target, "syscalls") == 0 && k->env->syscall) {
		const char *name = str_starts(pt->name, "sys_enter_")  ? pt->name + 10
				   : str_starts(pt->name, "sys_exit_") ? pt->name + 9
								       : NULL;

		if (name && k->env->syscall(k->env->ctx, name) >= 0)
			return LH_SYSCALL;
	}
	if (!k->env->raw || !k->env->raw(k->env->ctx, pt->target, pt->name))
		return LH_NORMAL;
	if (!k->c.args_asked || strcmp(pt->target, "raw_syscalls") == 0)
		return LH_RAW;
	return LH_NORMAL;
}

/* raw_syscalls' args[$i] with an $i known only later needs the real record; all of args, too. */
static bool wants_record(const struct node *n)
{
	if (!n)
		return false;
	if (n->kind == N_IDENT && n->id == B_ARGS && n->type && n->type->kind == LT_RECORD)
		return true;
	if (n->kind == N_FIELD && n->a->kind == N_IDENT && n->a->id == B_ARGS && n->type &&
	    n->type->kind == LT_ARRAY)
		return true;
	if (n->kind == N_INDEX && n->a->kind == N_FIELD && n->a->a->kind == N_IDENT &&
	    n->a->a->id == B_ARGS)
		return !n->b->folded;
	for (size_t i = 0; i < node_parts(n); i++)
		if (wants_record(node_part(n, i)))
			return true;
	return false;
}

static void attach_to(struct compiler *k, struct lang_code *c, uint32_t point)
{
	size_t n = c->n_points;

	if ((n & (n - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
		uint32_t *list = arena_alloc(&k->p->arena, (n ? n * 2 : 1) * sizeof(*list));

		if (n)
			memcpy(list, c->point, n * sizeof(*list));
		c->point = list;
	}
	c->point[c->n_points++] = point;
}

static const struct lang_point *unit_point(const struct compiler *k, size_t unit)
{
	return &k->p->points.data[k->units.data[unit].point];
}

static bool is_exit(const struct lang_point *p)
{
	return str_starts(p->name, "sys_exit_");
}

/* All system calls of a block that share code: one program, which looks the number up. */
static size_t syscall_group(struct compiler *k, size_t first, int *map)
{
	const struct lang_point *a = unit_point(k, first);
	size_t n = 1;

	*map = -1;
	if (k->c.args_asked)
		return 1;
	while (first + n < k->units.n &&
	       k->units.data[first + n].block == k->units.data[first].block) {
		const struct lang_point *b = unit_point(k, first + n);

		if (how_of(k, b) != LH_SYSCALL || is_exit(a) != is_exit(b))
			break;
		n++;
	}
	if (n == 1)
		return 1;
	*map = (int)k->p->maps.n;
	vec_push(&k->p->maps, (struct lang_map){ .type = BPF_MAP_TYPE_ARRAY,
						 .key_size = 4,
						 .value_size = 8,
						 .entries = SYSCALLS_MAX,
						 .value = k->c.u64 });
	for (size_t i = 0; i < n; i++) {
		uint32_t point = k->units.data[first + i].point;
		const struct lang_point *b = &k->p->points.data[point];
		int nr = k->env->syscall(k->env->ctx, b->name + (is_exit(b) ? 9 : 10));

		if (nr >= 0 && nr < SYSCALLS_MAX)
			vec_push(&k->p->inits, (struct lang_init){ *map, (uint32_t)nr, b->id + 1 });
	}
	return n;
}

/* How many points of a block from this one on can run the same code. */
static size_t same_code(struct compiler *k, size_t first, enum lang_how how)
{
	const struct lang_point *a = unit_point(k, first);
	size_t n = 1;

	if (k->c.uses_point || how == LH_SYSCALL || (lang_kinds[a->kind].flags & LANG_KIND_TYPED))
		return 1;
	while (first + n < k->units.n &&
	       k->units.data[first + n].block == k->units.data[first].block) {
		const struct lang_point *b = unit_point(k, first + n);

		if (b->kind != a->kind || how_of(k, b) != how)
			break;
		n++;
		if (a->kind == LP_BEGIN || a->kind == LP_END)
			break;
	}
	return n;
}

/* Can the kernel tell a program which of its points was hit? Raw tracepoints could be asked, too,
 * but one program for many of them misses what comes while it is at work. */
static bool can_ask(const struct compiler *k, const struct lang_point *pt, enum lang_how how)
{
	return k->env->has_cookie && how == LH_NORMAL &&
	       (lang_kinds[pt->kind].flags & LANG_KIND_COOKIE);
}

static void compile_generate(struct compiler *k)
{
	size_t step;

	for (size_t i = 0; i < k->units.n && !k->d->errors; i += step) {
		struct probe_block *b = &k->ast.blocks.data[k->units.data[i].block];
		const struct lang_point *pt = unit_point(k, i);
		struct lang_code c = { .filter_map = -1 };
		struct err e = { 0 };

		step = 1;
		k->c.gen++;
		check_block(&k->c, b, pt);
		if (k->c.changed) { /* a string's type grew: check once more until types settle */
			k->c.changed = false;
			check_block(&k->c, b, pt);
		}
		if (decide_never(b)) /* costs nothing when an option leaves it out */
			continue;
		c.how = how_of(k, pt);
		if (c.how != LH_NORMAL && k->c.args_asked &&
		    (wants_record(b->body) || wants_record(b->pred)))
			c.how = LH_NORMAL;
		if (c.how == LH_SYSCALL)
			step = syscall_group(k, i, &c.filter_map);
		else if (!k->c.asks_probe || can_ask(k, pt, c.how))
			step = same_code(k, i, c.how);
		c.cookie = k->c.asks_probe && step > 1 && c.how != LH_SYSCALL;
		c.type = c.how == LH_NORMAL ? lang_kinds[pt->kind].type
					    : BPF_PROG_TYPE_RAW_TRACEPOINT;
		c.attach = lang_kinds[pt->kind].attach;
		if (gen_program(&k->c, b, pt, c.how, c.filter_map, k->dump, &c, &e) < 0)
			lang_error(k->d, b->pos, b->len, "%s", e.msg);
		for (size_t j = 0; j < step; j++)
			attach_to(k, &c, k->units.data[i + j].point);
		c.name = arena_printf(&k->p->arena, "kymo_%s", lang_kind_name[pt->kind]);
		vec_push(&k->p->codes, c);
	}
}

static void size_maps(struct compiler *k)
{
	struct lang_program *p = k->p;
	uint32_t ring = 4096;

	while (ring < p->config.ring_pages * 4096u * (k->env->ncpus ? k->env->ncpus : 1) &&
	       ring < 1u << 26)
		ring *= 2;
	p->maps.data[LANG_MAP_RING].entries = ring;
	p->maps.data[LANG_MAP_COUNTERS].entries = p->n_counters;
	p->maps.data[LANG_MAP_SCRATCH].entries = p->codes.n ? (uint32_t)p->codes.n : 1;
}

/* Types of maps depend on each other. */
static void compile_settle(struct compiler *k)
{
	for (int i = 0; i < PASSES; i++) {
		k->c.changed = false;
		check_all(k, false);
		if (!k->c.changed)
			break;
	}
}

/* Mistakes in one place do not hide those in others, as long as all names are known. */
static void check_program(struct compiler *k)
{
	unsigned before = k->d->errors;
	bool undefined;

	if (k->ast.undefined)
		return;
	check_records(&k->c);
	undefined = k->d->errors > before;
	expand_all(k);
	k->c.partial = k->d->errors > 0;
	if (!k->units.n || undefined)
		return;
	compile_settle(k);
	vec_each (&k->p->maps, m)
		k->c.guess |= m->value && m->value->kind == LT_NONE;
	if (k->c.guess)
		compile_settle(k);
	check_all(k, true);
}

int lang_compile(const struct lang_source *s, const struct lang_env *env, unsigned dump,
		 struct lang_program **ret, struct lang_diags *d)
{
	struct lang_program *p = mem_alloc(sizeof(*p));
	struct compiler k = { .p = p, .env = env, .d = d, .dump = dump };
	char *source;

	d->source = s->text;
	d->name = s->name;
	d->n = s->n;
	p->types.arena = &p->arena;
	source = arena_alloc(&p->arena, s->n + 1); /* with any zeros inside */
	memcpy(source, s->text, s->n);
	p->source = source;
	p->source_n = s->n;
	p->source_name = arena_strdup(&p->arena, s->name ? s->name : "program");
	if (s->config)
		p->config = *s->config;
	else
		lang_config_default(&p->config);
	check_init(&k.c, p, env, &k.ast, s, d);
	k.ast.has = decide_has;
	k.ast.has_ctx = &k.c;
	fixed_maps(&k);
	if (s->n > 1u << 20)
		lang_error(d, 0, 0, "the program is larger than 1 MiB");
	if (!d->errors) {
		parse_program(s, &p->config, &p->arena, &k.ast, d);
		if ((dump & LANG_DUMP_AST) && !d->errors)
			ast_dump(&k.ast, &p->dump);
		check_program(&k);
		if (!d->errors) {
			lay_out_maps(&k);
			vec_each (&p->pinned, path)
				vec_push(&p->maps, (struct lang_map){ .pinned = *path,
								      .type = BPF_MAP_TYPE_HASH,
								      .key_size = 8,
								      .value_size = 8,
								      .entries = 1,
								      .value = k.c.u64 });
			gen_task_maps(p, &k.ast, env);
		}
		if (!d->errors) {
			k.d->quiet = false;
			k.c.changed = false;
			compile_generate(&k);
			size_maps(&k);
		}
	}
	vec_each (&k.ast.records, it)
		vec_free(&(*it)->fields);
	vec_free(&k.ast.blocks);
	vec_free(&k.ast.records);
	vec_free(&k.ast.typedefs);
	vec_free(&k.ast.enums);
	vec_free(&k.ast.consts);
	vec_free(&k.ast.macros);
	vec_free(&k.units);
	vec_free(&k.missing);
	map_free(&k.texts);
	check_free(&k.c);
	if (d->errors) {
		lang_program_free(p);
		return -EINVAL;
	}
	*ret = p;
	return 0;
}

void lang_program_free(struct lang_program *p)
{
	if (!p)
		return;
	vec_free(&p->maps);
	vec_free(&p->pinned);
	vec_free(&p->points);
	vec_free(&p->codes);
	vec_free(&p->actions);
	vec_free(&p->inits);
	vec_free(&p->fallible);
	vec_free(&p->types.records);
	strbuf_free(&p->dump);
	arena_free(&p->arena);
	free(p);
}
