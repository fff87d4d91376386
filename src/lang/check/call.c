/* SPDX-License-Identifier: MIT */
/* Functions of the language: how many arguments, of which types, and what they give. */
#include <string.h>

#include "lang/check/func.h"

#define NO_MAX 64

static const struct {
	const char *name;
	enum func id;
	unsigned min, max;
	bool no_value;	/* a statement only */
	bool is_unsafe; /* wants --unsafe */
} funcs[] = {
	{ "assert", F_ASSERT, 1, 2, true, false },
	{ "avg", F_AVG, 1, 1, false, false },
	{ "bswap", F_BSWAP, 1, 1, false, false },
	{ "buf", F_BUF, 1, 2, false, false },
	{ "cap_name", F_CAP_NAME, 1, 1, false, false },
	{ "cat", F_CAT, 1, NO_MAX, true, false },
	{ "cgroup_path", F_CGROUP_PATH, 1, 2, false, false },
	{ "cgroupid", F_CGROUPID, 1, 1, false, false },
	{ "clear", F_CLEAR, 1, 1, true, false },
	{ "count", F_COUNT, 0, 0, false, false },
	{ "debugf", F_DEBUGF, 1, NO_MAX, true, true },
	{ "delete", F_DELETE, 1, NO_MAX, false, false },
	{ "disk_name", F_DISK_NAME, 1, 1, false, false },
	{ "errorf", F_ERRORF, 1, NO_MAX, true, false },
	{ "exit", F_EXIT, 0, 1, true, false },
	{ "file_number", F_FILE_NUMBER, 2, 3, false, false },
	{ "find", F_FIND, 2, 2, false, false },
	{ "getopt", F_GETOPT, 1, 3, false, false },
	{ "has_key", F_HAS_KEY, 2, NO_MAX, false, false },
	{ "hist", F_HIST, 1, 2, false, false },
	{ "histogram", F_HISTOGRAM, 2, 3, true, false },
	{ "in_map", F_IN_MAP, 2, 2, false, false },
	{ "join", F_JOIN, 1, 2, true, false },
	{ "kaddr", F_KADDR, 1, 1, false, false },
	{ "kptr", F_KPTR, 1, 1, false, false },
	{ "kstack", F_KSTACK, 0, 2, false, false },
	{ "ksym", F_KSYM, 1, 1, false, false },
	{ "len", F_LEN, 1, 1, false, false },
	{ "lhist", F_LHIST, 4, 4, false, false },
	{ "macaddr", F_MACADDR, 1, 1, false, false },
	{ "max", F_MAX, 1, 1, false, false },
	{ "min", F_MIN, 1, 1, false, false },
	{ "nsecs", F_NSECS, 0, 1, false, false },
	{ "ntop", F_NTOP, 1, 2, false, false },
	{ "offsetof", F_NONE, 2, 2, false, false },
	{ "override", F_OVERRIDE, 1, 1, true, true },
	{ "path", F_PATH, 1, 2, false, false },
	{ "percpu_kaddr", F_PERCPU_KADDR, 1, 2, false, false },
	{ "print", F_PRINT, 1, 3, true, false },
	{ "printf", F_PRINTF, 1, NO_MAX, true, false },
	{ "pton", F_PTON, 1, 1, false, false },
	{ "reg", F_REG, 1, 1, false, false },
	{ "signal", F_SIGNAL, 1, 1, true, true },
	{ "signal_name", F_SIGNAL_NAME, 1, 1, false, false },
	{ "sizeof", F_NONE, 1, 1, false, false },
	{ "skboutput", F_SKBOUTPUT, 4, 4, false, false },
	{ "stacks", F_STACKS, 1, 4, true, false },
	{ "stats", F_STATS, 1, 1, false, false },
	{ "str", F_STR, 1, 2, false, false },
	{ "strcontains", F_STRCONTAINS, 2, 2, false, false },
	{ "strerror", F_STRERROR, 1, 1, false, false },
	{ "strftime", F_STRFTIME, 2, 2, false, false },
	{ "strmatch", F_STRMATCH, 2, 2, false, false },
	{ "strncmp", F_STRNCMP, 3, 3, false, false },
	{ "strstr", F_STRSTR, 2, 2, false, false },
	{ "sum", F_SUM, 1, 1, false, false },
	{ "syscall_name", F_SYSCALL_NAME, 1, 1, false, false },
	{ "system", F_SYSTEM, 1, NO_MAX, true, true },
	{ "table", F_TABLE, 2, 4, true, false },
	{ "time", F_TIME, 0, 1, true, false },
	{ "tseries", F_TSERIES, 3, 4, false, false },
	{ "uaddr", F_UADDR, 1, 1, false, false },
	{ "uptr", F_UPTR, 1, 1, false, false },
	{ "ustack", F_USTACK, 0, 2, false, false },
	{ "usym", F_USYM, 1, 1, false, false },
	{ "zero", F_ZERO, 1, 1, true, false },
};

const char *func_name(size_t i)
{
	return i < ARRAY_SIZE(funcs) ? funcs[i].name : NULL;
}

bool check_number(struct checker *c, struct node *n, const char *what)
{
	const struct ltype *t = check_expr(c, n);

	if (t->kind == LT_NONE || lt_is_num(t))
		return true;
	check_fail(c, n, "%s wants a number here", what);
	return false;
}

/* What must be written out an option may choose: getopt("m", false) ? "ms" : "us". */
static void check_call_choose(struct node *n)
{
	int64_t v;

	while (n->kind == N_TERN && check_const(n->a, &v))
		*n = v ? *n->b : *n->c;
}

/* A text that must be written out. */
bool check_literal(struct checker *c, struct node *n, const char *what)
{
	check_expr(c, n);
	check_call_choose(n);
	if (n->kind == N_STR)
		return true;
	check_fail(c, n, "%s wants a text in quotes here", what);
	return false;
}

int64_t check_constant(struct checker *c, struct node *n, const char *what, int64_t min,
		       int64_t max)
{
	int64_t v = min;

	check_expr(c, n);
	check_call_choose(n);
	if (!check_const(n, &v)) {
		if (n->type->kind != LT_NONE || c->final)
			check_fail(c, n, "%s wants a constant here", what);
		return min;
	}
	if (v < min || v > max) {
		check_fail(c, n, "%s wants a number from %lld to %lld here", what, (long long)min,
			   (long long)max);
		return min;
	}
	return v;
}

bool check_whole_map(struct checker *c, struct node *n, const char *what)
{
	if (n->kind != N_MAP) {
		check_fail(c, n, "%s wants a map", what);
		return false;
	}
	n->map = check_map(c, n->s);
	if (c->final && c->p->maps.data[n->map].value->kind == LT_NONE)
		check_fail(c, n, "nothing is ever stored in %s", n->s);
	return true;
}

static const struct ltype *call(struct checker *c, struct node *n)
{
	const struct ltype *t;
	struct ltype *r;

	switch ((enum func)n->id) {
	case F_PRINTF:
	case F_ERRORF:
	case F_DEBUGF:
	case F_SYSTEM:
	case F_CAT: check_printf(c, n, 0); return c->nothing;
	case F_ASSERT:
		check_number(c, n->list[0], "assert()");
		if (n->n > 1)
			check_literal(c, n->list[1], "assert()");
		return c->nothing;
	case F_TIME:
		if (n->n)
			check_literal(c, n->list[0], "time()");
		return c->nothing;
	case F_STRFTIME:
		check_literal(c, n->list[0], "strftime()");
		check_number(c, n->list[1], "strftime()");
		r = lt_new(c->t, LT_TIMESTAMP, 8);
		r->format = n->list[0]->s;
		return r;
	case F_EXIT:
		if (n->n)
			check_number(c, n->list[0], "exit()");
		return c->nothing;
	case F_CLEAR:
	case F_ZERO: check_whole_map(c, n->list[0], n->s); return c->nothing;
	case F_DELETE:
	case F_HAS_KEY: check_keys_of(c, n); return c->boolean;
	case F_IN_MAP: return check_in_map(c, n);
	case F_PRINT: return check_print(c, n);
	case F_TABLE: return check_table(c, n);
	case F_HISTOGRAM: return check_histogram(c, n);
	case F_STACKS: return check_stacks(c, n);
	case F_STR: return check_str(c, n);
	case F_BUF: return check_buf(c, n);
	case F_NTOP: return check_ntop(c, n);
	case F_PTON: return check_pton(c, n);
	case F_KSYM: check_number(c, n->list[0], "ksym()"); return lt_new(c->t, LT_KSYM, 8);
	case F_USYM: check_number(c, n->list[0], "usym()"); return lt_new(c->t, LT_USYM, 16);
	case F_SYSCALL_NAME:
	case F_SIGNAL_NAME:
	case F_CAP_NAME:
	case F_DISK_NAME:
		check_number(c, n->list[0], n->s);
		r = lt_new(c->t, LT_NAME, 8);
		r->n = n->id == F_SIGNAL_NAME ? LANG_NAME_SIGNAL
		       : n->id == F_CAP_NAME  ? LANG_NAME_CAP
		       : n->id == F_DISK_NAME ? LANG_NAME_DISK
					      : LANG_NAME_SYSCALL;
		return r;
	case F_FILE_NUMBER: return check_file_number(c, n);
	case F_STRERROR:
		check_number(c, n->list[0], "strerror()");
		return lt_new(c->t, LT_STRERROR, 8);
	case F_CGROUP_PATH:
		check_number(c, n->list[0], "cgroup_path()");
		if (n->n > 1)
			check_literal(c, n->list[1], "cgroup_path()");
		return lt_new(c->t, LT_CGROUP_PATH, 8);
	case F_KADDR:
	case F_UADDR:
	case F_CGROUPID:
	case F_PERCPU_KADDR: return check_address(c, n);
	case F_KPTR:
	case F_UPTR:
		t = check_expr(c, n->list[0]);
		if (t->kind == LT_NONE)
			return t;
		if (!lt_is_num(t))
			return check_fail(c, n, "%s() wants a pointer", n->s);
		return lt_ptr(c->t, t->kind == LT_PTR ? t->elem : lt_int(c->t, 1, false),
			      n->id == F_KPTR ? LS_KERNEL : LS_USER);
	case F_KSTACK:
	case F_USTACK: return check_stack(c, n, n->id == F_USTACK);
	case F_NSECS: return check_nsecs(c, n);
	case F_REG: check_literal(c, n->list[0], "reg()"); return c->u64;
	case F_MACADDR:
		t = check_expr(c, n->list[0]);
		if (t->kind != LT_NONE && !(t->kind == LT_ARRAY && t->size == 6) &&
		    !(t->kind == LT_STRING && t->size == 6))
			check_fail(c, n->list[0], "macaddr() wants an array of 6 bytes");
		return lt_new(c->t, LT_MAC, 8);
	case F_BSWAP:
		t = check_expr(c, n->list[0]);
		if (t->kind != LT_NONE && t->kind != LT_INT)
			check_fail(c, n, "bswap() wants a number");
		return t->kind == LT_INT ? lt_int(c->t, t->size, false) : c->u64;
	case F_JOIN:
		check_number(c, n->list[0], "join()");
		if (n->n > 1)
			check_literal(c, n->list[1], "join()");
		return c->nothing;
	case F_SIGNAL: return check_signal(c, n);
	case F_OVERRIDE:
		check_number(c, n->list[0], "override()");
		if (c->point->kind != LP_KPROBE)
			check_fail(c, n, "override() is possible in kprobes only");
		return c->nothing;
	case F_PATH: return check_path(c, n);
	case F_STRNCMP:
	case F_STRCONTAINS:
	case F_STRMATCH:
	case F_FIND:
	case F_STRSTR: return check_strings(c, n);
	case F_LEN:
		n->v = 0;
		if (n->list[0]->kind == N_MAP && !n->list[0]->n) {
			const struct lang_map *m;

			check_whole_map(c, n->list[0], "len()");
			m = &c->p->maps.data[n->list[0]->map];
			n->list[0]->type = m->value;
			n->v = m->key != NULL; /* how many keys it has */
			if (n->v || m->value->kind == LT_NONE)
				return c->u64;
		}
		t = check_expr(c, n->list[0]);
		if (t->kind != LT_NONE && t->kind != LT_STRING && t->kind != LT_ARRAY &&
		    t->kind != LT_TUPLE && !lt_is_stack(t) && t->kind != LT_BUF)
			check_fail(c, n->list[0],
				   "len() wants a map, a string, an array or a stack");
		return c->u64;
	case F_GETOPT: return check_getopt(c, n);
	case F_SKBOUTPUT: return check_skb(c, n);
	case F_COUNT:
	case F_SUM:
	case F_MIN:
	case F_MAX:
	case F_AVG:
	case F_STATS:
	case F_HIST:
	case F_LHIST:
	case F_TSERIES: return check_agg(c, n);
	case F_NONE:
	case F_MACRO: break;
	}
	return c->none;
}

bool check_function_known(struct checker *c, const struct node *n)
{
	struct str_nearest near = { .typed = n->s };
	char list[128];

	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++) {
		if (strcmp(funcs[i].name, n->s) == 0)
			return true;
		str_nearest_add(&near, funcs[i].name);
	}
	lang_error(c->d, n->pos, (uint32_t)n->slen, "there is no function %s()", n->s);
	if (str_nearest_list(&near, list, sizeof(list)))
		lang_hint(c->d, "did you mean %s?", list);
	return false;
}

const struct ltype *check_call(struct checker *c, struct node *n)
{
	bool none = c->void_ok, agg = c->agg_ok;
	const struct ltype *t;

	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++) {
		if (strcmp(funcs[i].name, n->s) != 0)
			continue;
		n->id = funcs[i].id;
		if (n->n < funcs[i].min || n->n > funcs[i].max) {
			if (funcs[i].max == NO_MAX || funcs[i].min == funcs[i].max)
				return check_fail(c, n, "%s() wants %s%u argument%s, not %zu", n->s,
						  funcs[i].max == NO_MAX ? "at least " : "",
						  funcs[i].min, funcs[i].min == 1 ? "" : "s", n->n);
			return check_fail(c, n, "%s() wants %u to %u arguments, not %zu", n->s,
					  funcs[i].min, funcs[i].max, n->n);
		}
		if (funcs[i].is_unsafe && !c->src->unsafe) {
			check_fail(c, n,
				   n->id == F_DEBUGF ? "%s() writes where all of the kernel does"
						     : "%s() changes what is traced",
				   n->s);
			lang_hint(c->d, "allow it with --unsafe");
		}
		c->void_ok = false;
		c->agg_ok = agg && n->id >= F_COUNT;
		t = call(c, n);
		c->agg_ok = agg;
		c->void_ok = none;
		if (funcs[i].no_value && !none)
			check_fail(c, n, "%s() has no value", n->s);
		return t;
	}
	check_function_known(c, n);
	for (size_t i = 0; i < n->n; i++)
		check_expr(c, n->list[i]);
	return c->none;
}
