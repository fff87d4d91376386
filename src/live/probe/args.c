/* SPDX-License-Identifier: MIT */
#include "live/probe/define.h"

#include <elf.h>
#include <string.h>

struct build {
	const struct probe_target *t;
	const struct probe_text *p;
	const struct dwarf_point *point;
	const char *symbol;
	bool at_entry;
	struct arena *arena;
	struct probe_defs *defs;
	struct strbuf *out;
	struct err *e;
	const struct probe_arg *arg; /* the one being built */
};

/* The probe's text with a caret under the argument, in front of what is wrong with it. */
static int at_arg(struct build *b, int err)
{
	char why[sizeof(b->e->msg)], hint[sizeof(b->e->hint)];

	memcpy(why, b->e->msg, sizeof(why));
	memcpy(hint, b->e->hint, sizeof(hint));
	err_set(b->e, -err, "%.500s\n  %s\n  %*s^", why, b->p->text, (int)b->arg->at, "");
	return *hint ? err_hint(b->e, "%s", hint) : err;
}

static int no_such(struct build *b, const struct str_nearest *near, const char *where)
{
	char list[200];

	err_set(b->e, ENOENT, "there is no variable %s %s", b->arg->what, where);
	if (str_nearest_list(near, list, sizeof(list)))
		err_hint(b->e, "did you mean %s?", list);
	return -ENOENT;
}

/* --- debug info --- */

struct look {
	struct build *b;
	const char *name; /* NULL: all */
	bool params, found;
	struct dwarf_var var;
	struct str_nearest near;
};

static int add_var(struct build *b, const struct probe_arg *arg, const struct dwarf_var *v)
{
	if (v->why)
		return err_set(b->e, ENOENT, "%s: %s", v->name, v->why);
	return probe_fetch(NULL, &b->t->syntax, arg, v->name, &v->fetch,
			   (struct probe_type){ .die = v->type }, b->out, b->e);
}

/* The function's own of that name before others', the innermost of them, and one that is kept. */
static int look_var(void *ctx, const struct dwarf_var *v)
{
	struct look *l = ctx;

	str_nearest_add(&l->near, v->name);
	if (strcmp(v->name, l->name) != 0)
		return 0;
	if (!l->found || (!v->why && (l->var.why || v->own)))
		l->var = *v;
	else if (l->var.why && v->declared)
		l->var = *v;
	l->found = true;
	return 0;
}

static int all_vars(void *ctx, const struct dwarf_var *v)
{
	struct look *l = ctx;
	const struct probe_arg plain = { .what = v->name };

	if (v->why || !v->own || (l->params && !v->param))
		return 0;
	/* One that cannot be fetched after all is left out; it was not asked for by name. */
	if (add_var(l->b, &plain, v) == 0)
		l->found = true;
	return 0;
}

static int by_dwarf(struct build *b)
{
	struct look l = { .b = b, .name = b->arg->what, .near.typed = b->arg->what };

	dwarf_vars(b->t->dwarf, b->point, b->t->cfi, true, look_var, &l);
	if (!l.found)
		return no_such(b, &l.near, "here");
	probe_target_resolve(b->t, &l.var);
	return add_var(b, b->arg, &l.var);
}

static int all_by_dwarf(struct build *b, bool params)
{
	struct look l = { .b = b, .params = params };

	dwarf_vars(b->t->dwarf, b->point, b->t->cfi, false, all_vars, &l);
	if (!l.found)
		vec_push(&b->defs->notes, arena_printf(b->arena, "no %s can be fetched at %s",
						       params ? "parameter" : "variable",
						       b->symbol ? b->symbol : b->t->path));
	return 0;
}

/* --- BTF and the calling convention --- */

/* Where the next parameter of this size is when a function begins. */
struct convention {
	uint16_t machine;
	unsigned regs, stack;
};

static struct dwarf_fetch next_param(struct convention *c, uint64_t size, bool is_struct)
{
	static const unsigned x86[] = { 5, 4, 1, 2, 8, 9 }; /* di si dx cx r8 r9 */
	bool arm = c->machine == EM_AARCH64;
	unsigned n = arm ? 8 : ARRAY_SIZE(x86), want = (unsigned)((size + 7) / 8);
	struct dwarf_fetch f = { .base = DWARF_REG };

	if (is_struct &&
	    size > 16) { /* a copy in memory: its address on ARM, itself on the stack */
		if (!arm)
			goto stack;
		want = 1;
	}
	if (c->regs + want > n) {
		if (arm)
			c->regs = n;
		goto stack;
	}
	f.reg = arm ? c->regs : x86[c->regs];
	c->regs += want ? want : 1;
	if (is_struct && size > 8) /* in two registers, or behind one */
		f.base = DWARF_NOWHERE;
	return f;
stack:
	f.reg = arm ? 31 : 7;
	f.off[f.n++] = (int64_t)c->stack + (arm ? 0 : 8); /* behind the return address on x86 */
	c->stack += want ? want * 8 : 8;
	return f;
}

static uint32_t btf_function(const struct build *b)
{
	const struct btf_types *types = probe_target_btf(b->t);

	return types && b->symbol ? btf_by_name(types, BTF_KIND_FUNC, b->symbol) : 0;
}

static int no_btf(struct build *b)
{
	if (b->t->user) {
		err_set(b->e, ENOENT, "%s has no debug info%s, so its variables are not known",
			b->t->path, b->t->dwarf ? " for this place" : "");
		return err_hint(b->e,
				"compile it with -g, install its -dbgsym package, set "
				"DEBUGINFOD_URLS, or name a register: %s=%%%s",
				b->arg->what, probe_register(b->t->syntax.machine, 5));
	}
	if (!b->at_entry) {
		err_set(b->e, ENOENT,
			"without debug info parameters are known only where a "
			"function begins");
		return err_hint(b->e, "give the kernel's debug file with -k VMLINUX, or leave the "
				      "offset out");
	}
	err_set(b->e, ENOENT, "the kernel's types (BTF) do not have %s",
		b->symbol ? b->symbol : "this function");
	return err_hint(b->e, "name registers (%%di, %%si ...) or $arg1, $arg2 ... instead");
}

/* One parameter by name, or (NULL) all. */
static int by_btf(struct build *b, const char *name)
{
	const struct btf_types *bt = probe_target_btf(b->t);
	uint32_t func = b->at_entry && !b->t->user ? btf_function(b) : 0;
	struct convention c = { .machine = b->t->syntax.machine };
	struct str_nearest near = { .typed = name };
	const struct btf_param *params;
	unsigned n;
	bool any = false;

	if (!func)
		return no_btf(b);
	params = btf_params(bt, func, &n);
	for (unsigned i = 0; i < n; i++) {
		const char *its = btf_str(bt, params[i].name_off);
		const struct probe_arg plain = { .what = its };
		struct probe_type type = { .btf = params[i].type };
		unsigned kind = btf_kind(bt, btf_strip(bt, type.btf));
		struct dwarf_fetch at =
			next_param(&c, btf_size(bt, type.btf),
				   kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION);

		if (!*its)
			continue;
		if (name)
			str_nearest_add(&near, its);
		if (name && strcmp(its, name) != 0)
			continue;
		if (name)
			return probe_fetch(bt, &b->t->syntax, b->arg, its, &at, type, b->out, b->e);
		any |= probe_fetch(bt, &b->t->syntax, &plain, its, &at, type, b->out, b->e) == 0;
	}
	if (name)
		return no_such(b, &near, "among the parameters");
	return any ? 0 : err_set(b->e, ENOENT, "%s has no parameters", b->symbol);
}

/* --- what a function gives back --- */

static int return_value(struct build *b)
{
	struct dwarf_fetch at = { .base = DWARF_REG, .reg = PROBE_REG_RETVAL };
	const struct btf_types *bt = NULL;
	struct probe_type type = { 0 };
	uint32_t func;

	if (b->point) {
		type.die = dwarf_returns(b->point);
	} else if (!b->t->user && (func = btf_function(b))) {
		bt = probe_target_btf(b->t);
		type.btf = btf_returns(bt, func);
	}
	if (!type.die.u && !type.btf) {
		if (!b->arg->fields.n)
			return -ENODATA; /* the kernel shows it as a number */
		return err_set(b->e, ENOENT, "what %s gives back is not known",
			       b->symbol ? b->symbol : "the function");
	}
	return probe_fetch(bt, &b->t->syntax, b->arg, "$retval", &at, type, b->out, b->e);
}

/* The kernel knows $argN of its own functions only. */
static int user_args(struct build *b, const char *text)
{
	for (const char *at; (at = strstr(text, "$arg")); text = at) {
		struct convention c = { .machine = b->t->syntax.machine };
		struct dwarf_fetch f = { 0 };
		unsigned long n = 0;

		strbuf_add(b->out, text, (size_t)(at - text));
		for (at += strlen("$arg"); *at >= '0' && *at <= '9' && n < 100; at++)
			n = n * 10 + (unsigned long)(*at - '0');
		if (!n || n > 64)
			return err_set(b->e, EINVAL, "parameters are $arg1, $arg2 ...");
		if (b->p->ret || !b->at_entry) {
			err_set(b->e, EINVAL, "$arg%lu is known only where a function begins", n);
			return err_hint(b->e, b->p->ret ? "probe its entry for parameters, or "
							  "take $retval here"
							: "leave the offset or line out, or take "
							  "the variable by its name");
		}
		for (unsigned long i = 0; i < n; i++)
			f = next_param(&c, 8, false);
		if (!probe_register(c.machine, f.reg))
			return err_set(b->e, ENOTSUP, "$arg%lu is not known on this machine", n);
		if (f.n)
			strbuf_printf(b->out, "+%lld(%%%s)", (long long)f.off[0],
				      probe_register(c.machine, f.reg));
		else
			strbuf_printf(b->out, "%%%s", probe_register(c.machine, f.reg));
	}
	strbuf_puts(b->out, text);
	return 0;
}

static int as_it_is(struct build *b)
{
	const struct probe_arg *arg = b->arg;
	int err = 0;

	strbuf_puts(b->out, " ");
	if (arg->name)
		strbuf_printf(b->out, "%s=", arg->name);
	if (b->t->user)
		err = user_args(b, arg->what);
	else
		strbuf_puts(b->out, arg->what);
	if (arg->type)
		strbuf_printf(b->out, ":%s", arg->type);
	return err;
}

static int probe_args_one(struct build *b)
{
	const struct probe_arg *arg = b->arg;
	int err;

	if (strcmp(arg->what, "$vars") == 0 || strcmp(arg->what, "$params") == 0) {
		bool params = arg->what[1] == 'p';

		if (b->p->ret)
			return err_set(b->e, EINVAL,
				       "when a function returns its variables are gone");
		return b->point ? all_by_dwarf(b, params) : by_btf(b, NULL);
	}
	if (strcmp(arg->what, "$retval") == 0 && (!arg->type || arg->fields.n)) {
		if (!b->p->ret) {
			err_set(b->e, EINVAL, "$retval is there only when a function returns");
			return err_hint(b->e, "write %s%%return", b->symbol ? b->symbol : "FUNC");
		}
		err = return_value(b);
		if (err != -ENODATA)
			return err;
	}
	if (arg->raw)
		return as_it_is(b);
	if (b->p->ret) {
		err_set(b->e, EINVAL, "when a function returns its variables are gone: %s",
			arg->what);
		return err_hint(b->e, "probe its entry for parameters, or take $retval here");
	}
	return b->point ? by_dwarf(b) : by_btf(b, arg->what);
}

/* Whether " NAME=" stands in the first n bytes. */
static bool has_name(const struct strbuf *out, size_t n, const char *name, size_t len)
{
	for (size_t i = 0; i + len + 2 <= n; i++)
		if (out->data[i] == ' ' && out->data[i + len + 1] == '=' &&
		    memcmp(out->data + i + 1, name, len) == 0)
			return true;
	return false;
}

/* The kernel takes a name once: the second n->id is id_1. from: where what was added starts. */
static void own_names(struct strbuf *out, size_t from)
{
	AUTO_FREE char *added = mem_strdup(from < out->n ? out->data + from : "");
	char *save = NULL;

	if (from >= out->n)
		return;
	out->data[out->n = from] = '\0';
	for (char *arg = strtok_r(added, " ", &save); arg; arg = strtok_r(NULL, " ", &save)) {
		size_t len = strcspn(arg, "="), n = out->n;

		strbuf_putc(out, ' ');
		if (!arg[len] || !has_name(out, n, arg, len)) {
			strbuf_puts(out, arg);
			continue;
		}
		for (int i = 1;; i++) {
			AUTO_FREE char *name = mem_printf("%.*s_%d", (int)len, arg, i);

			if (has_name(out, n, name, strlen(name)))
				continue;
			strbuf_printf(out, "%s%s", name, arg + len);
			break;
		}
	}
}

int probe_args(const struct probe_target *t, const struct probe_text *p,
	       const struct dwarf_point *point, const char *symbol, bool at_entry, struct arena *a,
	       struct probe_defs *notes, struct strbuf *out, struct err *e)
{
	struct build b = { t, p, point, symbol, at_entry, a, notes, out, e, NULL };

	vec_each (&p->args, arg) {
		size_t from = out->n;
		int err;

		b.arg = arg;
		err = probe_args_one(&b);
		if (err < 0)
			return at_arg(&b, err);
		own_names(out, from);
	}
	return 0;
}
