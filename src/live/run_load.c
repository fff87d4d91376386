/* SPDX-License-Identifier: MIT */
/* Maps and programs into the kernel; what the verifier says, on the source line it means. */
#include <string.h>
#include <unistd.h>

#include "live/run_int.h"

#define SMALL_RING (64u << 10) /* for what is seldom said */

#define WORDS 4096 /* bytes of the verifier's about a program it takes */

static bool used(const struct lang_program *p, int map)
{
	vec_each (&p->codes, c)
		for (uint32_t i = 0; i < c->n; i++)
			if (c->insn[i].code == (BPF_LD | BPF_DW | BPF_IMM)) {
				if (c->insn[i].src_reg == BPF_PSEUDO_MAP_FD &&
				    c->insn[i].imm == map)
					return true;
				i++;
			}
	return false;
}

static int pinned_map(const char *path, struct err *e)
{
	uint32_t key = 0;
	int fd = bpf_map_pinned(path, &key);

	if (fd >= 0 && key == 8)
		return fd;
	if (fd >= 0) {
		close(fd);
		err_set(e, EINVAL, "the keys of %s have %u bytes, not 8", path, key);
	} else {
		err_set(e, -fd, "cannot open the pinned map %s: %s", path, strerror(-fd));
	}
	err_hint(e,
		 "bpftool map create %s type hash key 8 value 8 entries 1024 name set makes "
		 "one",
		 path);
	return fd < 0 ? fd : -EINVAL;
}

static int load_maps(struct run *r, struct err *e)
{
	struct lang_program *p = r->p;

	for (size_t i = 0; i < p->maps.n; i++) {
		struct lang_map *m = &p->maps.data[i];

		if (i == LANG_MAP_RING && !p->prints && m->entries > SMALL_RING)
			m->entries = SMALL_RING; /* all of it counts as memory of this process */
		if (i < LANG_MAP_FIXED && !used(p, (int)i))
			continue;
		if (m->pinned) {
			r->map_fd[i] = pinned_map(m->pinned, e);
			if (r->map_fd[i] < 0)
				return r->map_fd[i];
			continue;
		}
		r->map_fd[i] = m->by_task ? run_task_map()
					  : bpf_map_new(&(struct bpf_map_kind){
						    .type = m->type,
						    .key = m->key_size,
						    .value = lang_map_value(m, r->host.ncpus),
						    .entries = m->entries,
						    .flags = m->flags });
		if (r->map_fd[i] < 0) {
			int code = -r->map_fd[i];

			err_set(e, code, "cannot make the map %s: %s",
				m->name ? m->name : "of the session", strerror(code));
			if (code == EPERM)
				err_hint(e, "tracing needs root, or CAP_BPF and CAP_PERFMON");
			else if (code == ENOMEM || code == E2BIG)
				err_hint(e, "fewer keys may fit: BPFTRACE_MAP_KEYS_MAX=1000");
			return -code;
		}
	}
	vec_each (&p->inits, it)
		bpf_map_set(r->map_fd[it->map], &it->key, &it->value);
	return 0;
}

/* The last instruction the verifier looked at, from its log. */
static uint32_t last_insn(const char *log)
{
	uint32_t at = 0;

	for (const char *s = log; s; s = strchr(s, '\n'), s = s ? s + 1 : NULL) {
		char *end;
		unsigned long v = strtoul(s, &end, 10);

		if (end > s && end[0] == ':' && end[1] == ' ' && end[2] == '(')
			at = (uint32_t)v;
	}
	return at;
}

/* Its last word: the line before the statistics. */
static void last_line(const char *log, char *buf, size_t size)
{
	const char *best = "";
	size_t n = 0;

	for (const char *s = log; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : NULL)
		if (!str_starts(s, "processed ") && !str_starts(s, "verification time") &&
		    !str_starts(s, "stack depth") && *s != '\n') {
			best = s;
			n = strcspn(s, "\n");
		}
	snprintf(buf, size, "%.*s", (int)n, best);
}

static bool has_loop(const struct lang_code *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint8_t class = BPF_CLASS(c->insn[i].code);

		if ((class == BPF_JMP || class == BPF_JMP32) && c->insn[i].off < 0)
			return true;
	}
	return false;
}

static int refused(struct run *r, const struct lang_code *c, int code, char *log, struct err *e)
{
	unsigned line, column;
	char words[256] = "";
	const char *helper;

	if (code == EPERM && !log[0] && c->type == BPF_PROG_TYPE_TRACING) {
		err_set(e, EPERM, "this kernel does not allow %s",
			r->p->points.data[c->point[0]].text);
		return err_hint(e, "a tracepoint or rawtracepoint of the same event may do: kymo "
				   "run -l 'tracepoint:*'");
	}
	if (code == EPERM && !log[0]) {
		err_set(e, EPERM, "the kernel does not let this user load BPF programs");
		return err_hint(
			e,
			"run it as root, or with CAP_BPF and CAP_PERFMON; kymo doctor says more");
	}
	/* jumps that become too far when it adds instructions of its own are no memory, too */
	if ((code == ENOMEM && !strstr(log, "16-bit range")) ||
	    code == EAGAIN) { /* nothing that it found in the program */
		err_set(e, code, "the kernel could not check the program: %s",
			code == ENOMEM ? "it has no memory left for that"
				       : "signals interrupted it again and again");
		return err_hint(e, code == ENOMEM ? "free -m shows what is left, and a cgroup may "
						    "have a limit; a shorter program needs less"
						  : "try it again");
	}
	lang_place(r->p->source, r->p->source_n, lang_code_pos(c, last_insn(log)), &line, &column);
	last_line(log, words, sizeof(words));
	/* EFAULT: more branches than it can remember */
	if (code == E2BIG || code == EFAULT || strstr(log, "16-bit range") ||
	    strstr(log, "too large") || strstr(log, "too complex") ||
	    strstr(log, "infinite loop") || strstr(log, "back-edge")) {
		if (!has_loop(c)) {
			err_set(e, code, "%s:%u:%u: the program is too long for the kernel (%s)",
				r->p->source_name, line, column, words);
			return err_hint(e, "several probes may share the work, or a loop: for ($i "
					   ": 0..100)");
		}
		err_set(e, code,
			"%s:%u:%u: this loop has no end the kernel can prove, or the program is "
			"too long (%s)",
			r->p->source_name, line, column, words);
		return err_hint(
			e, "bound the loop by a constant: while ($i < 100) { ...; $i++ }, "
			   "or for ($i : 0..100); what searches a text wants a smaller max_strlen");
	}
	if ((helper = strstr(log, "unknown func bpf_")) ||
	    (helper = strstr(log, "cannot use helper bpf_"))) {
		helper = strstr(helper, "bpf_");
		err_set(e, ENOTSUP, "%s:%u:%u: this kernel has no %.*s() for such a probe",
			r->p->source_name, line, column, (int)strcspn(helper, "#\n "), helper);
		return err_hint(e,
				"what this line asks for needs another kernel, or one built with "
				"more (CONFIG_BPF_KPROBE_OVERRIDE for override())");
	}
	err_set(e, code, "%s:%u:%u: the kernel refuses this program: %s", r->p->source_name, line,
		column, words[0] ? words : strerror(code));
	return err_hint(e, "this is a fault of kymo's compiler; -v shows the verifier's log");
}

static uint32_t btf_id(struct run *r, const struct lang_code *c)
{
	const struct lang_point *pt = &r->p->points.data[c->point[0]];
	const struct btf_types *b;

	if (c->type != BPF_PROG_TYPE_TRACING || !(b = run_env_btf(r->env)))
		return 0;
	if (pt->kind == LP_ITER) {
		AUTO_FREE char *name = mem_printf("bpf_iter_%s", pt->name);

		return btf_by_name(b, BTF_KIND_FUNC, name);
	}
	return btf_by_name(b, BTF_KIND_FUNC, pt->name);
}

static bool is_walk(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_CALL &&
	       i->imm == LANG_CALL_WALK;
}

static void add_func(struct lang_code *c, size_t at)
{
	size_t i = c->n_funcs;

	for (size_t k = 0; k < c->n_funcs; k++)
		if (c->func[k] == at)
			return;
	for (; i && c->func[i - 1] > at; i--)
		c->func[i] = c->func[i - 1];
	c->func[i] = (uint32_t)at;
	c->n_funcs++;
}

/* Where its functions begin: whatever is called, or handed to a helper. */
static void add_funcs(struct lang_code *c, const struct walker_function *f, size_t from)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct bpf_insn *in = &f->insn[i];
		bool wide = in->code == (BPF_LD | BPF_DW | BPF_IMM);

		if ((in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL) ||
		    (wide && in->src_reg == BPF_PSEUDO_FUNC))
			add_func(c, from + i + 1 + (size_t)(int64_t)in->imm);
		i += wide;
	}
	add_func(c, from + f->entry);
}

/* How they are called; those that are verified by themselves save the kernel a lot of work. */
static void add_subs(struct run *r, struct lang_code *c, const struct walker_function *f,
		     size_t from)
{
	struct lang_sub *s = arena_alloc(&r->p->arena, (f->n_subs + 1) * sizeof(*s));

	_Static_assert(LANG_SUB_ARGS == WALKER_ARGS_MAX, "the same functions");
	for (size_t i = 0; i < f->n_subs; i++) {
		s[i] = (struct lang_sub){ .at = (uint32_t)from + f->sub[i].at,
					  .global = f->sub[i].global,
					  .n = f->sub[i].n };
		memcpy(s[i].arg, f->sub[i].arg, sizeof(s[i].arg));
	}
	c->sub = s;
	c->n_subs = f->n_subs;
}

/*
 * The program as it is loaded: with the walker's code behind it, or without. Memory of
 * *ret is the program's arena.
 */
static void with_walker(struct run *r, const struct lang_code *c, bool walk, struct lang_code *ret)
{
	struct walker_function f = { 0 };
	bool calls = false;

	*ret = *c;
	for (uint32_t i = 0; i < c->n; i++)
		calls |= is_walk(&c->insn[i]);
	if (!calls)
		return;
	if (walk)
		walk = r->side.walked.walker && walker_function(r->side.walked.walker, &f);
	ret->n = c->n + (uint32_t)f.n;
	ret->insn = arena_alloc(&r->p->arena, ret->n * sizeof(*ret->insn));
	memcpy(ret->insn, c->insn, c->n * sizeof(*ret->insn));
	if (walk) {
		memcpy(ret->insn + c->n, f.insn, f.n * sizeof(*ret->insn));
		ret->func = arena_alloc(&r->p->arena, (c->n_funcs + f.n) * sizeof(*ret->func));
		memcpy(ret->func, c->func, c->n_funcs * sizeof(*ret->func));
		add_funcs(ret, &f, c->n);
		add_subs(r, ret, &f, c->n);
	}
	for (uint32_t i = 0; i < c->n; i++)
		if (is_walk(&c->insn[i])) {
			if (walk)
				ret->insn[i].imm = (int32_t)(c->n + f.entry - i - 1);
			else
				ret->insn[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV };
		}
}

/*
 * A link to many uprobes cannot be switched off, and takes long to close: its program first looks
 * whether it still is to do anything.
 */
static struct bpf_insn *with_stop(struct run *r, struct lang_code *c, struct bpf_insn *insn)
{
	struct bpf_insn first[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_PSEUDO_MAP_VALUE },
		{ 0 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_2 },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	uint32_t n = ARRAY_SIZE(first),
		 *func = arena_alloc(&r->p->arena, c->n_funcs * sizeof(*func));
	struct lang_line *line = arena_alloc(&r->p->arena, (c->n_lines + 1) * sizeof(*line));
	struct lang_sub *sub = arena_alloc(&r->p->arena, (c->n_subs + 1) * sizeof(*sub));
	struct bpf_insn *all;

	if (r->stopped < 0)
		r->stopped = bpf_map_new(&(struct bpf_map_kind){
			.type = BPF_MAP_TYPE_ARRAY, .key = 4, .value = 8, .entries = 1 });
	if (r->stopped < 0)
		return insn;
	first[0].imm = r->stopped;
	all = mem_alloc((n + c->n) * sizeof(*all));
	memcpy(all, first, sizeof(first));
	memcpy(all + n, insn, c->n * sizeof(*all));
	free(insn);
	for (size_t i = 0; i < c->n_funcs; i++)
		func[i] = c->func[i] ? c->func[i] + n : 0;
	for (size_t i = 0; i < c->n_lines; i++) {
		line[i] = c->line[i];
		line[i].insn += line[i].insn ? n : 0;
	}
	for (size_t i = 0; i < c->n_subs; i++) {
		sub[i] = c->sub[i];
		sub[i].at += n;
	}
	c->func = func;
	c->line = line;
	c->sub = sub;
	c->n += n;
	return all;
}

static int load_code(struct run *r, size_t i, bool walk, char **log, struct err *e)
{
	const struct lang_code *own = &r->p->codes.data[i];
	struct bpf_program prog = { .type = own->type, .attach = own->attach, .name = own->name };
	struct lang_code whole, *c = &whole;
	struct lang_btf btf = { 0 };
	struct bpf_insn *insn;
	int fd, btf_fd = 0;

	if (run_is_multi(r, own))
		prog.attach = BPF_UPROBE_MULTI;
	with_walker(r, own, walk, c);
	insn = mem_dup(c->insn, c->n * sizeof(*insn));
	for (uint32_t k = 0; k < own->n; k++)
		if (insn[k].code == (BPF_LD | BPF_DW | BPF_IMM)) {
			if (insn[k].src_reg == BPF_PSEUDO_MAP_FD)
				insn[k].imm = r->map_fd[insn[k].imm];
			k++;
		}
	if (run_is_multi(r, own))
		insn = with_stop(r, c, insn);
	prog.insns = insn;
	prog.n = c->n;
	prog.btf_id = btf_id(r, c);
	if (c->n_funcs > 1) { /* callbacks must be described */
		lang_btf_make(r->p, c, &btf);
		btf_fd = bpf_btf_new(btf.data, (uint32_t)btf.size);
	}
	prog.btf_fd = btf_fd > 0 ? btf_fd : 0;
	prog.func = btf.func;
	prog.n_func = (uint32_t)btf.n_func;
	prog.line = btf.line;
	prog.n_line = (uint32_t)btf.n_line;
	if (r->prog_words) {
		free(r->prog_words[i]);
		prog.log_level = BPF_LOG_STATS;
		prog.log_size = WORDS;
		prog.log = r->prog_words[i] = mem_alloc(prog.log_size);
	}
	fd = bpf_load(&prog);
	if (fd < 0) { /* again, with its words, and the lines they are about */
		int first = fd;

		prog.log_level = 0;
		prog.log_size = 4u << 20;
		prog.log = mem_alloc(prog.log_size);
		if (btf_fd <= 0) {
			lang_btf_make(r->p, c, &btf);
			btf_fd = bpf_btf_new(btf.data, (uint32_t)btf.size);
			prog.btf_fd = btf_fd > 0 ? btf_fd : 0;
			prog.func = btf.func;
			prog.n_func = (uint32_t)btf.n_func;
			prog.line = btf.line;
			prog.n_line = (uint32_t)btf.n_line;
		}
		fd = bpf_load(&prog);
		fd = fd == -ENOSPC ? first : fd; /* that was the room for the words */
		if (fd < 0) {
			refused(r, c, -fd, prog.log, e);
			*log = prog.log;
		} else {
			free(prog.log);
		}
	}
	if (btf_fd > 0)
		close(btf_fd);
	lang_btf_free(&btf);
	free(insn);
	r->prog_fd[i] = fd;
	return fd < 0 ? fd : 0;
}

/* What is too large with the walker in it does with frame pointers. */
static int load_one(struct run *r, size_t i, char **log, struct err *e)
{
	AUTO_FREE char *words = NULL;
	struct err why = { 0 };

	if (r->side.walked.walker && load_code(r, i, true, &words, &why) == 0)
		return 0;
	if (why.code && !r->side.why.code)
		r->side.why = why;
	if (why.code)
		walker_kept_drop(r->side.walked.walker);
	return load_code(r, i, false, log, e);
}

int run_load(struct run *r, char **log, struct err *e)
{
	int k = load_maps(r, e);
	bool walker;

	if (k == 0) {
		run_warm_begin(r);
		run_side_code(r);
	}
	walker = r->side.walked.walker;
	for (size_t i = 0; i < r->p->codes.n && k == 0; i++)
		k = load_one(r, i, log, e);
	if (k == 0)
		k = run_side_wait(r, e);
	run_warm_end(r);
	if (!walker || r->side.walked.walker)
		return k;
	for (size_t i = 0; i < r->p->codes.n && k == 0; i++) { /* it was not to be: without it */
		close(r->prog_fd[i]);
		k = load_one(r, i, log, e);
	}
	return k;
}
