/* SPDX-License-Identifier: MIT */
/* What a session has in the kernel, in words: maps, programs, and where they are attached. */
#include <string.h>

#include "live/run/session.h"

static const char *map_type(const struct lang_map *m)
{
	if (m->by_task)
		return "with each thread";
	switch (m->type) {
	case BPF_MAP_TYPE_HASH: return "hash";
	case BPF_MAP_TYPE_ARRAY: return "array";
	case BPF_MAP_TYPE_PERCPU_HASH: return "hash, a part each CPU";
	case BPF_MAP_TYPE_PERCPU_ARRAY: return "array, a part each CPU";
	case BPF_MAP_TYPE_LRU_HASH: return "hash that forgets";
	case BPF_MAP_TYPE_RINGBUF: return "ring";
	default: return "map";
	}
}

static void run_about_maps(const struct run *r, struct strbuf *b)
{
	static const char *const own[LANG_MAP_FIXED] = { "(messages)", "(orders)", "(counters)",
							 "(scratch)",  "(stacks)", "(session)" };

	for (size_t i = 0; i < r->p->maps.n; i++) {
		const struct lang_map *m = &r->p->maps.data[i];

		if (r->map_fd[i] < 0)
			continue;
		strbuf_printf(b, "map %s: %s",
			      m->name		   ? m->name
			      : i < LANG_MAP_FIXED ? own[i]
						   : "(of a probe)",
			      map_type(m));
		if (m->type == BPF_MAP_TYPE_RINGBUF)
			strbuf_printf(b, " of %u bytes\n", m->entries);
		else if (m->by_task)
			strbuf_printf(b, ", values of %u bytes\n", m->value_size);
		else
			strbuf_printf(b, ", keys of %u and values of %u bytes, up to %u\n",
				      m->key_size, m->value_size, m->entries);
	}
}

/* The number behind a word of the verifier's statistics. */
static unsigned long run_about_number(const char *text, const char *word)
{
	const char *at = text ? strstr(text, word) : NULL;

	return at ? strtoul(at + strlen(word), NULL, 10) : 0;
}

static void run_about_program(const struct run *r, size_t i, struct strbuf *b)
{
	const struct lang_code *c = &r->p->codes.data[i];
	const char *words = r->prog_words ? r->prog_words[i] : NULL;
	int prog = r->handover[i].prog >= 0 ? r->handover[i].prog : r->prog_fd[i];
	struct bpf_about a = { 0 };
	unsigned long n, us = run_about_number(words, "verification time ");

	strbuf_printf(b, "program %s: %u instructions", run_point(r, c, 0)->text, c->n);
	if (c->n_points > 1)
		strbuf_printf(b, " for %zu probes", c->n_points);
	if (prog < 0 || !bpf_about(prog, &a)) {
		strbuf_putc(b, '\n');
		return;
	}
	n = words ? run_about_number(words, "processed ") : a.verified;
	if (n)
		strbuf_printf(b, ", the verifier went through %lu", n);
	if (us)
		strbuf_printf(b, " in %lu us", us);
	if (a.machine_bytes)
		strbuf_printf(b, ", %u bytes of machine code", a.machine_bytes);
	strbuf_printf(b, ", number %u\n", a.id);
	words = words ? strstr(words, "processed ") : NULL;
	if (words)
		strbuf_printf(b, "  verifier: %.*s\n", (int)strcspn(words, "\n"), words);
	if (r->handover[i].prog >= 0)
		strbuf_puts(b, "  a shorter one, which copies stacks, does its work until then\n");
}

static const char *run_about_how(const struct run *r, const struct lang_code *c,
				 const struct lang_point *pt)
{
	if (c->how == LH_SYSCALL)
		return "by the raw tracepoint of all system calls, and its number";
	if (run_is_multi(r, c))
		return "with others of its kind at once";
	switch (pt->kind) {
	case LP_TRACEPOINT: return c->how == LH_RAW ? "as a raw tracepoint" : "as an event";
	case LP_RAWTP: return "as a raw tracepoint";
	case LP_FENTRY:
	case LP_FEXIT: return "by a trampoline";
	case LP_BEGIN:
	case LP_END: return "run once";
	case LP_INTERVAL: return "run by a timer of kymo's";
	case LP_SELF: return "run when the signal comes";
	case LP_ITER: return "by an iterator";
	default: return "as an event";
	}
}

void run_about(const struct run *r, struct strbuf *b)
{
	run_about_maps(r, b);
	for (size_t i = 0; i < r->p->codes.n; i++) {
		const struct lang_code *c = &r->p->codes.data[i];

		run_about_program(r, i, b);
		for (size_t k = 0; k < c->n_points; k++) {
			const struct lang_point *pt = run_point(r, c, k);

			strbuf_printf(b, "  %s: %s\n", pt->text, run_about_how(r, c, pt));
		}
	}
	if (r->p->uses_ustack && r->sideband.why.code)
		strbuf_printf(b, "user stacks: by frame pointers: %s\n", r->sideband.why.msg);
	else if (r->p->uses_ustack)
		strbuf_puts(b, r->sideband.walked.walker ? "user stacks: by unwinding tables\n"
							 : "user stacks: by frame pointers\n");
}
