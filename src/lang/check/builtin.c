/* SPDX-License-Identifier: MIT */
/* Builtins, and arguments of probes. */
#include <string.h>

#include "lang/check/check.h"

static const struct {
	const char *name;
	enum builtin id;
	int helper;
} builtins[] = {
	{ "args", B_ARGS, 0 },
	{ "cgroup", B_HELPER, BPF_FUNC_get_current_cgroup_id },
	{ "comm", B_COMM, 0 },
	{ "cpid", B_CPID, 0 },
	{ "cpu", B_HELPER, BPF_FUNC_get_smp_processor_id },
	{ "ctx", B_CTX, 0 },
	{ "curtask", B_CURTASK, 0 },
	{ "elapsed", B_ELAPSED, 0 },
	{ "func", B_FUNC, 0 },
	{ "gid", B_HELPER_HIGH, BPF_FUNC_get_current_uid_gid },
	{ "kstack", B_KSTACK, 0 },
	{ "nsecs", B_HELPER, BPF_FUNC_ktime_get_boot_ns },
	{ "numaid", B_HELPER, BPF_FUNC_get_numa_node_id },
	{ "pid", B_PID, 0 },
	{ "probe", B_PROBE, 0 },
	{ "rand", B_HELPER_LOW, BPF_FUNC_get_prandom_u32 },
	{ "retval", B_RETVAL, 0 },
	{ "tid", B_TID, 0 },
	{ "uid", B_HELPER_LOW, BPF_FUNC_get_current_uid_gid },
	{ "username", B_USERNAME, 0 },
	{ "ustack", B_USTACK, 0 },
	{ "jiffies", B_HELPER, BPF_FUNC_jiffies64 },
	{ "ncpus", B_NCPUS, 0 },
	{ "usermode", B_USERMODE, 0 },
	{ "probetype", B_PROBETYPE, 0 },
};

static const struct ltype *format_type(struct checker *c, const struct field *f,
				       enum lt_space space)
{
	if (f->kind == FIELD_STRING)
		return lt_string(c->t, f->size);
	if (f->kind == FIELD_ARRAY && f->elem_size)
		return lt_array(c->t, lt_int(c->t, f->elem_size, f->is_signed),
				f->size / f->elem_size);
	if (f->size == 8 && strchr(f->type, '*')) {
		size_t n = strcspn(f->type, "*");
		AUTO_FREE char *base = mem_strndup(f->type, n);
		char *s = str_starts(base, "const ") ? base + 6 : base;
		const struct ltype *t;

		for (n = strlen(s); n && s[n - 1] == ' '; n--)
			s[n - 1] = '\0';
		t = check_named_type(c, s);
		t = t ? t : c->nothing;
		/* "const char *const *": an outer pointer leads to where the call's data is */
		for (const char *star = strchr(strchr(f->type, '*') + 1, '*'); star;
		     star = strchr(star + 1, '*'))
			t = lt_ptr(c->t, t, space);
		return lt_ptr(c->t, t, t->kind == LT_PTR ? space : LS_BPF);
	}
	if (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) {
		if (strcmp(f->type, "bool") == 0)
			return c->boolean;
		return lt_int(c->t, f->size, f->is_signed);
	}
	return lt_array(c->t, lt_int(c->t, 1, false), f->size);
}

/* Fields beyond this are of a damaged format. */
#define RECORD_MAX 32000u

static struct lrecord *record_of(struct checker *c, const struct lang_point *p,
				 const struct event_type *type)
{
	struct lrecord *r = lt_record_new(
		c->t, arena_printf(&c->p->arena, "struct _tracepoint_%s_%s", p->target, p->name),
		false);

	r->filled = true;
	r->field = arena_alloc(&c->p->arena, type->n_fields * sizeof(*r->field) + 1);
	for (size_t i = 0; i < type->n_fields; i++) {
		const struct field *f = &type->fields[i];
		struct lfield *to = &r->field[r->n];

		if ((f->is_common && !c->env->recorded) || f->offset > RECORD_MAX ||
		    f->size > RECORD_MAX)
			continue;
		to->name = f->name;
		to->offset = f->offset;
		to->data_loc = f->kind == FIELD_DATA_LOC || f->kind == FIELD_REL_LOC;
		to->rel_loc = f->kind == FIELD_REL_LOC;
		to->type = to->data_loc
				   ? lt_int(c->t, 4, false)
				   : format_type(c, f,
						 strcmp(p->target, "syscalls") == 0 ? LS_USER
										    : LS_KERNEL);
		if (f->offset + f->size > r->size)
			r->size = f->offset + f->size;
		r->n++;
	}
	return r;
}

/* A tracepoint's record, from its format. */
static struct lrecord *format_record(struct checker *c, const struct lang_point *p)
{
	const struct event_type *known =
		c->env->tp_type ? c->env->tp_type(c->env->ctx, p->target, p->name) : NULL;
	AUTO_FREE char *text = !known && c->env->tp_format
				       ? c->env->tp_format(c->env->ctx, p->target, p->name)
				       : NULL;
	struct event_type type = { 0 };
	struct err e = { 0 };

	if (known)
		return record_of(c, p, known);
	if (!text || type_parse_format(&type, &c->p->arena, text, strlen(text), &e) < 0)
		return NULL;
	return record_of(c, p, &type);
}

const struct lrecord *check_args(struct checker *c)
{
	if (c->args_asked)
		return c->args;
	c->args_asked = true;
	c->uses_point = true;
	if (c->point->kind == LP_TRACEPOINT) {
		AUTO_FREE char *name =
			mem_printf("struct _tracepoint_%s_%s", c->point->target, c->point->name);

		c->args = lt_record_find(c->t, name);
		if (!c->args)
			c->args = format_record(c, c->point);
	} else if (c->env->args) {
		c->args = c->env->args(c->env->ctx, c->t, c->point);
	}
	return c->args;
}

static const struct ltype *args_type(struct checker *c, struct node *n)
{
	const struct lrecord *r = check_args(c);

	switch (c->point->kind) {
	case LP_TRACEPOINT:
	case LP_FENTRY:
	case LP_FEXIT:
	case LP_RAWTP: break;
	case LP_UPROBE:
		if (r)
			break;
		check_fail(c, n, "the arguments of %s are not known", c->point->text);
		lang_hint(c->d, "debug info (-g, or a debug package) names them, at a function's "
				"start; arg0, arg1 ... are the registers");
		return c->none;
	case LP_KPROBE:
		check_fail(c, n, "a kprobe has no args");
		lang_hint(c->d, "use arg0, arg1 ..., or fentry:%s",
			  c->point->name ? c->point->name : "FUNCTION");
		return c->none;
	default: return check_fail(c, n, "%s has no args", lang_kind_name[c->point->kind]);
	}
	if (!r)
		return check_fail(c, n, "the arguments of %s are not known", c->point->text);
	if (!c->args_field) /* a copy of all */
		return lt_record(c->t, (struct lrecord *)r);
	return lt_ptr(c->t, lt_record(c->t, (struct lrecord *)r), LS_CTX);
}

static const struct ltype *retval_type(struct checker *c, struct node *n)
{
	const struct lrecord *r;
	uint32_t off;

	if (c->point->kind == LP_KRETPROBE || c->point->kind == LP_URETPROBE)
		return c->i64;
	if (c->point->kind != LP_FEXIT)
		return check_fail(c, n, "only kretprobe, uretprobe and fexit have a retval");
	r = check_args(c);
	n->field = r ? lt_field(r, "$retval", &off) : NULL;
	if (!n->field)
		return check_fail(c, n, "%s returns nothing", c->point->name);
	n->offset = off;
	return n->field->type->kind == LT_PTR ? lt_ptr(c->t, n->field->type->elem, LS_TRUSTED)
					      : n->field->type;
}

static const struct ltype *arg_type(struct checker *c, struct node *n)
{
	c->uses_point |= c->point->kind == LP_USDT;
	switch (c->point->kind) {
	case LP_KPROBE:
	case LP_UPROBE:
	case LP_RAWTP:
	case LP_FENTRY:
	case LP_FEXIT: break;
	case LP_USDT: {
		struct lang_usdt_arg a[16];
		int k = c->env->usdt_args
				? c->env->usdt_args(c->env->ctx, c->point, a, ARRAY_SIZE(a))
				: 0;

		if (n->v >= k) {
			check_fail(c, n, "%s has %d arguments", c->point->text, k < 0 ? 0 : k);
			return c->none;
		}
		return lt_int(c->t, 8, a[n->v].size < 0);
	}
	case LP_TRACEPOINT:
		check_fail(c, n, "a tracepoint's arguments have names");
		lang_hint(c->d, "args->NAME; kymo run -lv '%s' shows them", c->point->text);
		return c->none;
	default: return check_fail(c, n, "%s has no arguments", lang_kind_name[c->point->kind]);
	}
	return c->u64;
}

static const struct ltype *func_type(struct checker *c, const struct node *n)
{
	switch (c->point->kind) {
	case LP_UPROBE:
	case LP_URETPROBE:
		/* At a return the function's address is not known: the probe has its name. */
		if (!c->func_by_name)
			return lt_new(c->t, LT_USYM, 16);
		__attribute__((fallthrough));
	case LP_FENTRY:
	case LP_FEXIT:
		c->uses_point = c->point_typed = true;
		return lt_string(c->t, (uint32_t)strlen(c->point->name) + 1);
	case LP_USDT: return lt_new(c->t, LT_USYM, 16);
	case LP_KPROBE:
	case LP_KRETPROBE:
	case LP_PROFILE: return lt_new(c->t, LT_KSYM, 8);
	default: return check_fail(c, n, "%s has no func", lang_kind_name[c->point->kind]);
	}
}

static const struct ltype *builtin_type(struct checker *c, struct node *n)
{
	struct ltype *t;
	const struct ltype *task;

	switch ((enum builtin)n->id) {
	case B_ARGS: return args_type(c, n);
	case B_ARG:
	case B_SARG: return arg_type(c, n);
	case B_COMM: return lt_string(c->t, 16);
	case B_CPID:
		if (!c->env->pid)
			return check_fail(c, n, "cpid is the process of -c, and there is none");
		n->v = c->env->pid;
		n->folded = true;
		return c->u64;
	case B_NCPUS:
		n->v = c->env->ncpus;
		n->folded = true;
		return c->u64;
	case B_CTX:
		if (c->point->kind == LP_ITER && c->env->type) {
			AUTO_FREE char *name = mem_printf("struct bpf_iter__%s", c->point->name);

			task = c->env->type(c->env->ctx, c->t, name);
			if (task)
				return lt_ptr(c->t, task, LS_TRUSTED);
		}
		return lt_ptr(c->t, c->nothing, LS_CTX);
	case B_CURTASK:
		task = c->env->type ? c->env->type(c->env->ctx, c->t, "struct task_struct") : NULL;
		return task ? lt_ptr(c->t, task, LS_KERNEL) : c->u64;
	case B_FUNC: return func_type(c, n);
	case B_RETVAL: return retval_type(c, n);
	case B_USTACK:
	case B_KSTACK:
		t = lt_new(c->t, n->id == B_USTACK ? LT_USTACK : LT_KSTACK,
			   n->id == B_USTACK ? 16 : 8);
		t->n = c->p->config.stack_depth;
		check_depth(c, t->n);
		return t;
	case B_PROBE: c->asks_probe = true; return lt_new(c->t, LT_PROBE, 8);
	case B_PROBETYPE: /* all points of a kind have the same value, so they may share code */
		return lt_string(c->t, 16);
	case B_USERNAME: return lt_new(c->t, LT_USERNAME, 8);
	case B_USERMODE:
		if (c->point->kind != LP_PROFILE && c->point->kind != LP_SOFTWARE &&
		    c->point->kind != LP_HARDWARE)
			return check_fail(c, n,
					  "usermode is for profile, software and hardware probes");
		return c->boolean;
	default: return c->u64;
	}
}

/* What a name stands for, written onto it: a builtin (its id) or a number (folded). */
static bool find_name(struct checker *c, struct node *n)
{
	uint64_t v;

	n->id = B_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (strcmp(builtins[i].name, n->s) == 0) {
			n->id = (int)builtins[i].id;
			n->v = builtins[i].helper;
		}
	if (str_starts(n->s, "arg") && str_u64(n->s + 3, &v) && v < 100) {
		n->id = B_ARG;
		n->v = (int64_t)v;
	} else if (str_starts(n->s, "sarg") && str_u64(n->s + 4, &v) && v < 100) {
		n->id = B_SARG;
		n->v = (int64_t)v;
	}
	if (n->id != B_NONE)
		return true;
	for (size_t i = c->ast->consts.n; i-- > 0 && !n->folded;)
		if (strcmp(c->ast->consts.data[i].name, n->s) == 0) {
			n->folded = true;
			n->v = c->ast->consts.data[i].value;
			n->extra = check_enum_of(c, i);
		}
	if (!n->folded && c->env->enumerator) {
		n->extra = c->env->enumerator(c->env->ctx, c->t, n->s, &n->v);
		n->folded = n->extra != NULL;
	}
	if (!n->folded)
		n->folded = check_constant_name(n->s, &n->v);
	return n->folded;
}

static void hint_name(struct checker *c, const struct node *n)
{
	struct str_nearest near = { .typed = n->s };

	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		str_nearest_add(&near, builtins[i].name);
	if (!lang_hint_near(c->d, &near))
		check_no_types(c);
}

static bool is_truth(const struct node *n)
{
	return strcmp(n->s, "true") == 0 || strcmp(n->s, "false") == 0;
}

const struct ltype *check_ident(struct checker *c, struct node *n)
{
	if (is_truth(n)) {
		n->folded = true;
		n->v = n->s[0] == 't';
		return c->boolean;
	}
	if (find_name(c, n)) {
		struct ltype *t;

		if (n->id != B_NONE || !n->extra)
			return n->id != B_NONE ? builtin_type(c, n) : c->i64;
		t = arena_dup(&c->p->arena, n->extra, sizeof(*t));
		t->size = 8; /* as numbers that are written out: with a sign */
		t->is_signed = true;
		return t;
	}
	check_fail(c, n, "'%s' is not known", n->s);
	hint_name(c, n);
	return c->none;
}

void check_names_only(struct checker *c, struct node *n)
{
	if (!n)
		return;
	if (n->kind == N_IDENT && !is_truth(n) && !find_name(c, n)) {
		lang_error(c->d, n->pos, n->len, "'%s' is not known", n->s);
		hint_name(c, n);
	}
	if (n->kind == N_CALL)
		check_function_known(c, n);
	for (size_t i = 0; i < node_parts(n); i++)
		/* A plain word may be one that only the function knows: nsecs(boot). */
		if (n->kind != N_CALL || i < 3 || node_part(n, i)->kind != N_IDENT)
			check_names_only(c, node_part(n, i));
}
