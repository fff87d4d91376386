/* SPDX-License-Identifier: MIT */
/* Functions that look at their arguments themselves: addresses, strings, aggregations ... */
#include "lang/check/check.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>

#define LHIST_MAX (INT64_MAX / 2)

const struct ltype *check_stack(struct checker *c, struct node *n)
{
	struct ltype *t = lt_new(c->t, n->func->gives, n->func->gives == LT_USTACK ? 16 : 8);

	const struct {
		const char *name;
		bool *flag;
	} words[] = { { "perf", &t->user_stack_perf },
		      { "raw", &t->raw_stack },
		      { "folded", &t->folded_stack },
		      { "annotated", &t->annotated_stack },
		      { "ftrace", &t->ftrace_stack },
		      { "bpftrace", NULL },
		      { "build_id", NULL } };

	t->n = c->p->config.stack_depth;
	for (size_t i = 0; i < n->n; i++) {
		struct node *a = n->list[i];

		if (a->kind == N_IDENT) {
			size_t w = 0;

			a->type = c->i64;
			while (w < ARRAY_SIZE(words) && strcmp(words[w].name, a->s) != 0)
				w++;
			if (w == ARRAY_SIZE(words))
				check_fail(c, a,
					   "a stack is printed as perf, raw, folded, ftrace or "
					   "bpftrace");
			else if (words[w].flag)
				*words[w].flag = true;
		} else {
			t->n = (uint32_t)check_constant(c, a, n->s, 0, 127);
		}
	}
	t->folded_stack |= t->annotated_stack;
	check_depth(c, t->n);
	return t;
}

const struct ltype *check_str(struct checker *c, struct node *n)
{
	uint32_t size = c->p->config.strlen;
	const struct ltype *t;
	int64_t v;

	if (n->list[0]->kind == N_PARAM && n->list[0]->v)
		check_param_text(c, n->list[0]);
	t = check_expr(c, n->list[0]);

	if (t->kind != LT_NONE && !lt_is_num(t) && t->kind != LT_STRING && t->kind != LT_ARRAY)
		check_fail(c, n->list[0], "str() reads from an address: a pointer or a number");
	if (n->n > 1) {
		check_number(c, n->list[1], "str()");
		if (check_const(n->list[1], &v) && v >= 0 && v + 1 < 4096)
			size = (uint32_t)v + 1;
		if (size > c->p->config.strlen && size > 200)
			size = c->p->config.strlen > 200 ? c->p->config.strlen : 200;
		if (check_const(n->list[1], &v) && v + 1 > size && c->final) {
			lang_warn(c->d, n->list[1]->pos, n->list[1]->len,
				  "str() reads at most %u bytes here", size - 1);
			lang_hint(c->d, "config = { max_strlen = %lld } allows more, up to 4096",
				  (long long)(v < 4095 ? v + 1 : 4096));
		}
	}
	if (t->kind == LT_STRING && n->n == 1)
		return t;
	return lt_string(c->t, size);
}

const struct ltype *check_buf(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n->list[0]);
	uint32_t size = c->p->config.strlen;
	int64_t v;

	if (t->kind == LT_ARRAY || t->kind == LT_STRING)
		size = t->size;
	else if (t->kind != LT_NONE && !lt_is_num(t))
		check_fail(c, n->list[0], "buf() reads from an address or an array");
	else if (n->n < 2)
		check_fail(c, n, "buf() wants a length");
	if (n->n > 1) {
		check_number(c, n->list[1], "buf()");
		if (check_const(n->list[1], &v)) {
			if (v < 0 || v > 4096)
				check_fail(c, n->list[1], "buf() reads from 0 to 4096 bytes");
			else
				size = (uint32_t)v;
		}
	}
	return lt_new(c->t, LT_BUF, 8 + (size > 4096 ? 4096 : size));
}

const struct ltype *check_ntop(struct checker *c, struct node *n)
{
	struct node *a = n->list[n->n - 1];
	const struct ltype *t = check_expr(c, a);

	if (n->n == 2)
		check_number(c, n->list[0], "ntop()");
	if (t->kind != LT_NONE && t->kind != LT_INT &&
	    !(t->kind == LT_ARRAY && (t->size == 4 || t->size == 16)) &&
	    !(t->kind == LT_STRING && (t->size == 4 || t->size == 16)) && t->kind != LT_INET)
		check_fail(c, a, "ntop() wants an address: a number, or an array of 4 or 16 bytes");
	return lt_new(c->t, LT_INET, 24);
}

const struct ltype *check_agg(struct checker *c, struct node *n)
{
	struct ltype *t;

	if (!c->agg_ok) {
		check_fail(c, n, "%s() must be assigned to a map", n->s);
		lang_hint(c->d, "@name = %s(%s);", n->s, n->n ? "..." : "");
		return c->none;
	}
	c->agg_ok = false;
	t = lt_new(c->t, n->func->gives, 16);
	for (size_t i = 0; i < n->n; i++)
		if (!(t->kind == LT_TSERIES && i == 3))
			check_number(c, n->list[i], n->s);
	if (n->n)
		t->is_signed = n->list[0]->type->kind == LT_INT && n->list[0]->type->is_signed;
	if (t->kind == LT_COUNT)
		t->size = 8;
	if (t->kind == LT_HIST) {
		t->step = n->n > 1 ? check_constant(c, n->list[1], "hist()", 0, 5) : 0;
		t->size = lt_hist_buckets((unsigned)t->step) * 8;
	}
	if (t->kind == LT_LHIST) {
		t->min = check_constant(c, n->list[1], "lhist()", 0, LHIST_MAX);
		t->max = check_constant(c, n->list[2], "lhist()", 0, LHIST_MAX);
		t->step = check_constant(c, n->list[3], "lhist()", 1, LHIST_MAX);
		if (t->max <= t->min) {
			check_fail(c, n, "lhist() ends (%lld) above where it begins (%lld)",
				   (long long)t->max, (long long)t->min);
			t->max = t->min + 1;
		} else if ((t->max - t->min) / t->step > 1000) {
			check_fail(c, n, "lhist() has at most 1000 buckets");
			t->max = t->min + t->step;
		}
		t->size = lt_lhist_buckets(t) * 8;
	}
	if (t->kind == LT_TSERIES) {
		static const char *const how[] = { "", "avg", "min", "max", "sum" };

		t->step = check_constant(c, n->list[1], "tseries()", 1, INT64_MAX);
		t->max = check_constant(c, n->list[2], "tseries()", 1, 1000);
		if (n->n > 3 && check_literal(c, n->list[3], "tseries()")) {
			for (int i = 1; i < 5; i++)
				if (strcmp(how[i], n->list[3]->s) == 0)
					t->agg = i;
			if (!t->agg)
				check_fail(c, n->list[3], "tseries() takes avg, min, max or sum");
		}
		t->size = (uint32_t)t->max * 24;
	}
	return t;
}

/* delete(@x, k), has_key(@x, k): the keys stand behind the map. */
const struct ltype *check_keys_of(struct checker *c, struct node *n)
{
	struct node *m = n->list[0];

	if (m->kind != N_MAP) {
		check_fail(c, m, "%s() wants a map", n->s);
		return c->boolean;
	}
	if (n->n > 1 && !m->n) {
		m->list = n->list + 1;
		m->n = n->n - 1;
	}
	check_map_keys(c, m);
	if (c->final && c->p->maps.data[m->map].value->kind == LT_NONE)
		check_fail(c, m, "nothing is ever stored in %s", m->s);
	return c->boolean;
}

const struct ltype *check_signal(struct checker *c, struct node *n)
{
	struct node *a = n->list[0];

	check_expr(c, a);
	if (lang_kinds[c->point->kind].flags & LANG_KIND_OWN)
		return check_fail(c, n, "signal() in %s would be sent to kymo itself",
				  lang_kind_name[c->point->kind]);
	if (a->kind == N_STR) {
		const char *s = str_starts(a->s, "SIG") ? a->s + 3 : a->s;

		for (int i = 1; i < NSIG; i++) {
			const char *name = sigabbrev_np(i);

			if (name && strcasecmp(name, s) == 0) {
				a->folded = true;
				a->v = i;
				return c->nothing;
			}
		}
		check_fail(c, a, "'%s' is no signal", a->s);
	} else if (a->folded && (a->v < 1 || a->v > 64)) {
		check_fail(c, a, "signals go from 1 to 64");
	}
	return c->nothing;
}

const struct ltype *check_getopt(struct checker *c, struct node *n)
{
	const char *text = NULL;
	size_t len;
	int64_t v;

	if (!check_literal(c, n->list[0], "getopt()"))
		return c->none;
	if (n->n > 1)
		check_expr(c, n->list[1]);
	if (n->n > 2)
		check_literal(c, n->list[2], "getopt()");
	len = strlen(n->list[0]->s);
	for (int i = 0; i < c->src->n_args; i++) {
		const char *a = c->src->args[i];

		if (str_starts(a, "--") && strncmp(a + 2, n->list[0]->s, len) == 0 &&
		    (a[len + 2] == '=' || !a[len + 2]))
			text = a[len + 2] ? a + len + 3 : "";
	}
	if (n->n < 2 || n->list[1]->type->is_bool) {
		n->v = text ? strcmp(text, "false") != 0 && strcmp(text, "0") != 0
			    : n->n > 1 && n->list[1]->v;
		n->folded = true;
		return c->boolean;
	}
	if (n->list[1]->type->kind == LT_STRING) {
		n->kind = N_STR;
		n->s = text ? text : n->list[1]->s;
		n->slen = strlen(n->s);
		return lt_string(c->t, (uint32_t)n->slen + 1);
	}
	n->folded = true;
	n->v = n->list[1]->v;
	if (text) {
		if (!str_i64(text, &v))
			return check_fail(c, n, "--%s wants a number, not '%s'", n->list[0]->s,
					  text);
		n->v = v;
	}
	return c->i64;
}

const struct ltype *check_pton(struct checker *c, struct node *n)
{
	uint8_t addr[16];

	if (!check_literal(c, n->list[0], "pton()"))
		return c->none;
	if (inet_pton(AF_INET, n->list[0]->s, addr) == 1)
		return lt_array(c->t, lt_int(c->t, 1, false), 4);
	if (inet_pton(AF_INET6, n->list[0]->s, addr) == 1)
		return lt_array(c->t, lt_int(c->t, 1, false), 16);
	return check_fail(c, n->list[0], "'%s' is no address", n->list[0]->s);
}

/* Names for addresses and the other way round, known when the program is compiled. */
const struct ltype *check_address(struct checker *c, struct node *n)
{
	uint64_t v = 0, size = 8;
	bool found;

	if (!check_literal(c, n->list[0], n->s))
		return c->none;
	if (n->id == F_PERCPU_KADDR && n->n > 1)
		check_number(c, n->list[1], "percpu_kaddr()");
	if (n->id == F_UADDR) {
		c->uses_point = true;
		found = c->env->uaddr && c->point->target &&
			c->env->uaddr(c->env->ctx, c->point->target, n->list[0]->s, &v, &size);
		if (found) {
			uint64_t here = 0, unused;

			/* Programs are loaded anywhere; the distance to the probe is the file's. */
			n->folded = c->point->kind != LP_UPROBE || !c->point->name ||
				    c->point->is_addr ||
				    !c->env->uaddr(c->env->ctx, c->point->target, c->point->name,
						   &here, &unused);
			n->v = (int64_t)(n->folded ? v : v - here - c->point->offset);
			return lt_ptr(
				c->t,
				lt_int(c->t,
				       size == 1 || size == 2 || size == 4 ? (unsigned)size : 8,
				       false),
				LS_USER);
		}
		return check_fail(c, n, "there is no symbol '%s' in %s", n->list[0]->s,
				  c->point->target ? c->point->target : "this kind of probe");
	}
	if (n->id == F_CGROUPID)
		found = c->env->cgroup && c->env->cgroup(c->env->ctx, n->list[0]->s, &v);
	else
		found = c->env->kaddr && c->env->kaddr(c->env->ctx, n->list[0]->s, &v);
	if (!found)
		return check_fail(c, n,
				  n->id == F_CGROUPID ? "there is no cgroup '%s'"
						      : "the kernel has no symbol '%s'",
				  n->list[0]->s);
	if (n->id == F_PERCPU_KADDR &&
	    !c->env->kaddr(c->env->ctx, "__per_cpu_offset", &(uint64_t){ 0 }))
		return check_fail(c, n, "this kernel does not tell where its CPUs' variables are");
	n->v = (int64_t)v;
	n->folded = n->id != F_PERCPU_KADDR;
	return c->u64;
}

/* in_map("/sys/fs/bpf/set", key): no name means any key. */
const struct ltype *check_in_map(struct checker *c, struct node *n)
{
	bool known = false;

	check_number(c, n->list[1], "in_map()");
	if (!check_literal(c, n->list[0], "in_map()"))
		return c->none;
	n->folded = !n->list[0]->s[0];
	n->v = 1;
	for (size_t i = 0; i < c->p->pinned.n && !known; i++)
		known = strcmp(c->p->pinned.data[i], n->list[0]->s) == 0;
	if (!n->folded && !known)
		vec_push(&c->p->pinned, n->list[0]->s);
	if (c->env->recorded && !n->folded)
		return check_fail(c, n, "a recording has no pinned maps");
	return c->boolean;
}

const struct ltype *check_nsecs(struct checker *c, struct node *n)
{
	static const char *const modes[] = { "monotonic", "boot", "tai", "sw_tai" };

	n->v = 1;
	for (size_t i = 0; n->n && i < ARRAY_SIZE(modes); i++)
		if (n->list[0]->kind == N_IDENT && strcmp(modes[i], n->list[0]->s) == 0) {
			n->v = (int64_t)i;
			n->list[0]->type = c->i64;
			return c->u64;
		}
	return n->n ? check_fail(c, n->list[0], "nsecs() takes monotonic, boot, tai or sw_tai")
		    : c->u64;
}

const struct ltype *check_strings(struct checker *c, struct node *n)
{
	for (size_t i = 0; i < 2; i++) {
		const struct ltype *t = check_expr(c, n->list[i]);

		if (t->kind != LT_NONE && t->kind != LT_STRING)
			check_fail(c, n->list[i], "%s() wants strings", n->s);
	}
	if (n->id == F_STRNCMP) {
		n->v = check_constant(c, n->list[2], "strncmp()", 0, 4096);
		return c->u64;
	}
	if (n->id == F_STRMATCH && !check_literal(c, n->list[1], "strmatch()"))
		return c->none;
	if (n->id == F_STRMATCH && n->list[1]->s[0] == '*' && !n->list[1]->s[1]) {
		n->folded = true; /* "*" fits any text */
		n->v = 1;
	}
	return n->id == F_STRCONTAINS || n->id == F_STRMATCH ? c->boolean : c->i64;
}

/* The kernel lets only some functions ask for the name of a path. */
const struct ltype *check_path(struct checker *c, struct node *n)
{
	static const char *const allowed[] = {
		"filp_close",
		"vfs_truncate",
		"vfs_fallocate",
		"vfs_getattr",
		"dentry_open",
		"security_file_permission",
		"security_inode_getattr",
		"security_file_open",
		"security_path_truncate",
	};
	const struct ltype *t = check_expr(c, n->list[0]);
	bool ok = c->point->kind == LP_ITER;

	if (c->point->kind == LP_FENTRY || c->point->kind == LP_FEXIT)
		for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
			ok |= c->point->name && strcmp(c->point->name, allowed[i]) == 0;
	if (!ok) {
		check_fail(c, n, "the kernel does not allow path() here");
		lang_hint(c->d,
			  "iter probes may, and fentry and fexit of filp_close, vfs_truncate, "
			  "vfs_fallocate, vfs_getattr, dentry_open, security_file_open");
	}
	if (t->kind == LT_PTR)
		t = t->elem;
	if (t->kind != LT_NONE &&
	    (t->kind != LT_RECORD || strcmp(t->rec->name, "struct path") != 0))
		check_fail(c, n->list[0], "path() wants a struct path, such as args.filp->f_path");
	if (n->n > 1)
		return lt_string(c->t, (uint32_t)check_constant(c, n->list[1], "path()", 1, 4096));
	return lt_string(c->t, c->p->config.strlen);
}

const struct ltype *check_skb(struct checker *c, struct node *n)
{
	const struct ltype *t;

	check_literal(c, n->list[0], "skboutput()");
	t = check_expr(c, n->list[1]);
	check_number(c, n->list[2], "skboutput()");
	check_number(c, n->list[3], "skboutput()");
	if (t->kind == LT_NONE)
		return c->i64;
	if (t->kind != LT_PTR || t->elem->kind != LT_RECORD ||
	    strcmp(t->elem->rec->name, "struct sk_buff") != 0) {
		check_fail(c, n->list[1], "skboutput() wants a struct sk_buff *");
		lang_hint(c->d, "rawtracepoint:netif_receive_skb { skboutput(\"a.pcap\", args.skb, "
				"1000, 0); }");
		return c->i64;
	}
	check_fill(c, t->elem);
	return c->i64;
}

const struct ltype *check_strftime(struct checker *c, struct node *n)
{
	struct ltype *t = lt_new(c->t, LT_TIMESTAMP, 8);

	t->format = n->list[0]->s;
	return t;
}

const struct ltype *check_clear(struct checker *c, struct node *n)
{
	check_whole_map(c, n->list[0], n->s);
	return c->nothing;
}

/* A number that has a name in one of the kernel's tables. */
const struct ltype *check_named_number(struct checker *c, struct node *n)
{
	struct ltype *t = lt_new(c->t, LT_NAME, 8);

	check_number(c, n->list[0], n->s);
	t->n = (uint32_t)n->func->how;
	return t;
}

/* kptr() and uptr(): the same pointer, into the kernel's or the process's memory. */
const struct ltype *check_pointer(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n->list[0]);

	if (t->kind == LT_NONE)
		return t;
	if (!lt_is_num(t))
		return check_fail(c, n, "%s() wants a pointer", n->s);
	return lt_ptr(c->t, t->kind == LT_PTR ? t->elem : lt_int(c->t, 1, false),
		      (enum lt_space)n->func->how);
}

const struct ltype *check_macaddr(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n->list[0]);

	if (t->kind != LT_NONE && !(t->kind == LT_ARRAY && t->size == 6) &&
	    !(t->kind == LT_STRING && t->size == 6))
		check_fail(c, n->list[0], "macaddr() wants an array of 6 bytes");
	return lt_new(c->t, LT_MAC, 8);
}

const struct ltype *check_bswap(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n->list[0]);

	if (t->kind != LT_NONE && t->kind != LT_INT)
		check_fail(c, n, "bswap() wants a number");
	return t->kind == LT_INT ? lt_int(c->t, t->size, false) : c->u64;
}

const struct ltype *check_override(struct checker *c, struct node *n)
{
	if (c->point->kind != LP_KPROBE)
		check_fail(c, n, "override() is possible in kprobes only");
	return c->nothing;
}

const struct ltype *check_len(struct checker *c, struct node *n)
{
	struct node *a = n->list[0];
	const struct ltype *t;

	n->v = 0;
	if (a->kind == N_MAP && !a->n) {
		const struct lang_map *m;

		check_whole_map(c, a, "len()");
		m = &c->p->maps.data[a->map];
		a->type = m->value;
		n->v = m->key != NULL; /* how many keys it has */
		if (n->v || m->value->kind == LT_NONE)
			return c->u64;
	}
	t = check_expr(c, a);
	if (t->kind != LT_NONE && t->kind != LT_STRING && t->kind != LT_ARRAY &&
	    t->kind != LT_TUPLE && !lt_is_stack(t) && t->kind != LT_BUF)
		check_fail(c, a, "len() wants a map, a string, an array or a stack");
	return c->u64;
}
