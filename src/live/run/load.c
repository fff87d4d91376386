/* SPDX-License-Identifier: MIT */
/* Maps and programs into the kernel; what the verifier says, on the source line it means. */
#include <string.h>

#include "live/ourselves.h"
#include "live/run/session.h"

#define SMALL_RING (64u << 10) /* the size of the ring for rare messages */

#define WORDS 4096 /* bytes of the verifier's log for a program it accepts */

static bool run_load_used(const struct lang_program *p, int map)
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
			m->entries = SMALL_RING; /* older kernels count all BPF memory against this
						    process's limit */
		if (i < LANG_MAP_FIXED && !run_load_used(p, (int)i))
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

/* The verifier's reason: the line before the statistics. */
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

static int run_load_refused(struct run *r, const struct lang_code *c, int code, char *log,
			    struct err *e)
{
	unsigned line, column;
	char words[256] = "";
	const char *helper;

	if (code == EPERM && !log[0] && c->type == BPF_PROG_TYPE_TRACING) {
		err_set(e, EPERM, "this kernel does not allow %s", run_point(r, c, 0)->text);
		return err_hint(e, "a tracepoint or rawtracepoint of the same event may do: kymo "
				   "run -l 'tracepoint:*'");
	}
	if (code == EPERM && !log[0]) {
		err_set(e, EPERM, "the kernel does not let this user load BPF programs");
		return err_hint(
			e,
			"run it as root, or with CAP_BPF and CAP_PERFMON; kymo doctor says more");
	}
	/* a jump that became too long because the verifier inserted instructions is ENOMEM, too */
	if ((code == ENOMEM && !strstr(log, "16-bit range")) ||
	    code == EAGAIN) { /* the log has no complaint about the program itself */
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
	const struct lang_point *pt = run_point(r, c, 0);
	const struct btf_types *b;

	if (c->type != BPF_PROG_TYPE_TRACING || !(b = run_env_btf(r->env)))
		return 0;
	if (pt->kind == LP_ITER) {
		AUTO_FREE char *name = mem_printf("bpf_iter_%s", pt->name);

		return btf_by_name(b, BTF_KIND_FUNC, name);
	}
	return btf_by_name(b, BTF_KIND_FUNC, pt->name);
}

/* Is it run by events? The other kinds are run by kymo itself. */
static bool is_probe(const struct run *r, const struct lang_code *c)
{
	switch (run_point(r, c, 0)->kind) {
	case LP_BEGIN:
	case LP_END:
	case LP_INTERVAL:
	case LP_SELF:
	case LP_ITER: return false;
	default: return true;
	}
}

/* Does kymo do there what a process does by itself: call a function, ask the kernel, touch
 * memory? Other things only happen to come while kymo runs, and are about others. */
static bool feeds_back(const struct lang_point *pt)
{
	switch (pt->kind) {
	case LP_UPROBE:
	case LP_URETPROBE:
	case LP_USDT: return true;
	case LP_TRACEPOINT:
		return ourselves_feed(pt->target) || strcmp(pt->target, "exceptions") == 0;
	case LP_RAWTP:
		return strcmp(pt->name, "sys_enter") == 0 || strcmp(pt->name, "sys_exit") == 0;
	case LP_SOFTWARE: return strstr(pt->name, "fault") != NULL;
	default: return false;
	}
}

static bool leaves_out(const struct run *r, const struct lang_code *c)
{
	for (size_t i = 0; i < c->n_points; i++)
		if (!feeds_back(run_point(r, c, i)))
			return false;
	return true;
}

/* How a program gets user stacks. */
enum stacks { PLAIN, WHOLE, EARLY };

/* The instructions as they are loaded: numbers of maps are replaced by descriptors. */
static void run_load_complete(struct run *r, struct arena *a, size_t i, enum stacks stacks,
			      struct lang_code *c)
{
	const struct lang_code *own = &r->p->codes.data[i];
	struct walker_function f;

	*c = *own;
	if (run_code_walks(own))
		run_code_walker(a,
				stacks != PLAIN && walker_function(r->sideband.walked.walker,
								   stacks == EARLY ? WALKER_EARLY
										   : WALKER_WHOLE,
								   &f)
					? &f
					: NULL,
				c);
	else
		c->insn = arena_dup(a, own->insn, own->n * sizeof(*own->insn));
	for (uint32_t k = 0; k < own->n; k++)
		if (c->insn[k].code == (BPF_LD | BPF_DW | BPF_IMM)) {
			if (c->insn[k].src_reg == BPF_PSEUDO_MAP_FD)
				c->insn[k].imm = r->map_fd[c->insn[k].imm];
			k++;
		}
	if (stacks == EARLY)
		run_code_give_way(a, r->handover[i].map, c);
	if (r->state >= 0 && is_probe(r, own))
		run_code_state(a, r->state, leaves_out(r, own) ? r->own : 0, c);
}

static void run_load_describe(struct run *r, const struct lang_code *c, struct lang_btf *btf,
			      struct bpf_program *prog)
{
	int fd;

	lang_btf_make(r->p, c, btf);
	fd = bpf_btf_new(btf->data, (uint32_t)btf->size);
	prog->btf_fd = fd > 0 ? fd : 0;
	prog->func = btf->func;
	prog->n_func = (uint32_t)btf->n_func;
	prog->line = btf->line;
	prog->n_line = (uint32_t)btf->n_line;
}

/* The program's descriptor, or -errno; log (caller frees; NULL: nobody asks) and e say why. */
static int load_code(struct run *r, size_t i, enum stacks stacks, char **log, struct err *e)
{
	const struct lang_code *own = &r->p->codes.data[i];
	struct bpf_program prog = { .type = own->type, .attach = own->attach, .name = own->name };
	struct lang_btf btf = { 0 };
	struct arena a = { 0 };
	struct lang_code c;
	int fd;

	if (run_is_multi(r, own))
		prog.attach = BPF_UPROBE_MULTI;
	run_load_complete(r, &a, i, stacks, &c);
	prog.insns = c.insn;
	prog.n = c.n;
	prog.btf_id = btf_id(r, &c);
	if (c.n_funcs > 1) /* callbacks must be described */
		run_load_describe(r, &c, &btf, &prog);
	if (r->prog_words && stacks != EARLY) {
		free(r->prog_words[i]);
		prog.log_level = BPF_LOG_STATS;
		prog.log_size = WORDS;
		prog.log = r->prog_words[i] = mem_alloc(prog.log_size);
	}
	fd = bpf_load(&prog);
	if (fd < 0 && log) { /* again, with the verifier's log and line information */
		int first = fd;

		prog.log_level = 0;
		prog.log_size = 4u << 20;
		prog.log = mem_alloc(prog.log_size);
		if (!prog.btf_fd) {
			lang_btf_free(&btf);
			run_load_describe(r, &c, &btf, &prog);
		}
		fd = bpf_load(&prog);
		fd = fd == -ENOSPC ? first : fd; /* the log did not fit into the buffer */
		if (fd < 0) {
			run_load_refused(r, &c, -fd, prog.log, e);
			*log = prog.log;
		} else {
			free(prog.log);
		}
	}
	if (prog.btf_fd)
		close(prog.btf_fd);
	lang_btf_free(&btf);
	arena_free(&a);
	return fd;
}

int run_load_with_walker(struct run *r, size_t i, char **log, struct err *e)
{
	AUTO_FREE char *words = NULL;
	struct err why = { 0 };

	if (r->sideband.walked.walker && run_code_walks(&r->p->codes.data[i])) {
		int fd = load_code(r, i, WHOLE, &words, &why);

		if (fd >= 0)
			return fd;
		if (!r->sideband.why.code)
			r->sideband.why = why;
		walker_kept_drop(r->sideband.walked.walker);
	}
	return load_code(r, i, PLAIN, log, e);
}

/* The kernel lets programs of these kinds tail-call another one. */
static bool may_give_way(const struct lang_code *c)
{
	return !c->sleepable &&
	       (c->type == BPF_PROG_TYPE_PERF_EVENT || c->type == BPF_PROG_TYPE_KPROBE ||
		c->type == BPF_PROG_TYPE_TRACEPOINT || c->type == BPF_PROG_TYPE_RAW_TRACEPOINT);
}

/*
 * The kernel takes milliseconds to check a program with the walker in it. So first comes one that
 * only copies stacks; it gives way to the other (live/run/walker.c).
 */
static int load_early(struct run *r, size_t i)
{
	const struct lang_code *c = &r->p->codes.data[i];
	struct run_handover *w = &r->handover[i];
	int fd;

	if (!r->sideband.walked.walker || !run_code_walks(c) || !may_give_way(c))
		return -ENOTSUP;
	w->map = bpf_map_new(&(struct bpf_map_kind){
		.type = BPF_MAP_TYPE_PROG_ARRAY, .key = 4, .value = 4, .entries = 1 });
	if (w->map < 0)
		return w->map;
	fd = load_code(r, i, EARLY, NULL, NULL);
	if (fd < 0) {
		close(w->map);
		w->map = -1;
	}
	return fd;
}

static int load_all(struct run *r, char **log, struct err *e)
{
	for (size_t i = 0; i < r->p->codes.n; i++) {
		r->prog_fd[i] = load_early(r, i);
		if (r->prog_fd[i] < 0)
			r->prog_fd[i] = run_load_with_walker(r, i, log, e);
		if (r->prog_fd[i] < 0)
			return r->prog_fd[i];
	}
	return 0;
}

int run_load(struct run *r, char **log, struct err *e)
{
	int k = load_maps(r, e);
	bool walker;

	r->state = bpf_map_new(&(struct bpf_map_kind){ .type = BPF_MAP_TYPE_ARRAY,
						       .key = 4,
						       .value = sizeof(struct run_state),
						       .entries = 1 });
	r->own = r->o.self ? 0 : (uint32_t)ourselves_pid();
	if (k == 0) {
		run_prefill_begin(r);
		run_sideband_code(r);
	}
	walker = r->sideband.walked.walker;
	if (k == 0)
		k = load_all(r, log, e);
	if (k == 0)
		k = run_sideband_wait(r, e);
	run_prefill_end(r);
	if (k == 0 && walker && !r->sideband.walked.walker) { /* the walker could not be opened: the
								 program is loaded without it */
		run_handover_close(r);
		for (size_t i = 0; i < r->p->codes.n; i++)
			close(r->prog_fd[i]);
		k = load_all(r, log, e);
	}
	if (k == 0)
		run_handover_begin(r);
	return k;
}
