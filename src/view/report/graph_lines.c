/* SPDX-License-Identifier: MIT */
#include "view/report/graph_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct task {
	bool inside;   /* of a function that is wanted */
	size_t indent; /* of that function's line */
};

struct cpu {
	unsigned number;
	uint32_t task;	      /* + 1; 0: the first, whose name was not told */
	struct task first;    /* the state of that one */
	struct strbuf change; /* the lines "a-1 => b-2", until something of b is shown */
};

struct graph_lines {
	struct strtab wanted, names; /* of functions; of tasks */
	unsigned bars;
	bool all;
	VEC(struct cpu) cpus;
	VEC(struct task) tasks; /* by id of name */
	struct strbuf partial, change;
	bool in_change;
};

struct graph_lines *graph_lines_new(const char *wanted, unsigned bars)
{
	struct graph_lines *g = mem_alloc(sizeof(*g));

	*g = (struct graph_lines){ .bars = bars };
	while (*wanted) {
		size_t n = strcspn(wanted, " \t\n");

		if (*wanted == '#') /* "#### all functions enabled ####" */
			g->all = true;
		strtab_addn(&g->wanted, wanted, n);
		wanted = strchrnul(wanted, '\n');
		wanted += *wanted == '\n';
	}
	g->all |= g->wanted.n == 0;
	return g;
}

void graph_lines_all(struct graph_lines *g)
{
	g->all = true;
}

void graph_lines_free(struct graph_lines *g)
{
	if (!g)
		return;
	vec_each (&g->cpus, c)
		strbuf_free(&c->change);
	strtab_free(&g->wanted);
	strtab_free(&g->names);
	strbuf_free(&g->partial);
	strbuf_free(&g->change);
	vec_free(&g->cpus);
	vec_free(&g->tasks);
	free(g);
}

/* The CPU of " 0) ..." or "  12.345 |   0) ...", and what follows it; NULL: none. */
static struct cpu *cpu_of(struct graph_lines *g, const char *line, const char **rest)
{
	const char *close = strchr(line, ')'), *digits = close;
	unsigned number;

	while (digits && digits > line && isdigit((unsigned char)digits[-1]))
		digits--;
	if (!close || digits == close)
		return NULL;
	number = (unsigned)strtoul(digits, NULL, 10);
	*rest = close + 1;
	vec_each (&g->cpus, c)
		if (c->number == number)
			return c;
	vec_push(&g->cpus, (struct cpu){ .number = number });
	return &g->cpus.data[g->cpus.n - 1];
}

/* "cat-123    =>     dd-124": from now on the CPU's lines are dd's. */
static void change_task(struct graph_lines *g, struct cpu *c, const char *to)
{
	uint32_t id;

	to += strspn(to, "=> ");
	id = strtab_addn(&g->names, to, strcspn(to, " \n"));
	while (g->tasks.n <= id)
		vec_push(&g->tasks, (struct task){ 0 });
	c->task = id + 1;
}

/* A function's line, its end, or something between; true when it is to be shown. */
static bool call_line(struct graph_lines *g, struct task *t, const char *body)
{
	size_t indent = strspn(body, " ");
	const char *call = body + indent;
	AUTO_FREE char *name = NULL;

	if (!isalnum((unsigned char)*call) && *call != '_') {
		bool shown = t->inside || *call == '/';

		if (t->inside && *call == '}' && indent <= t->indent)
			t->inside = false;
		return shown;
	}
	if (t->inside)
		return true;
	name = mem_strndup(call, strcspn(call, "( \n"));
	if (strtab_find(&g->wanted, name) == STRTAB_NONE)
		return false;
	t->indent = indent;
	t->inside = strstr(call, " {") != NULL;
	return true;
}

static bool is_rule(const char *line)
{
	return str_starts(line, " -----");
}

static void line_to(struct graph_lines *g, const char *line, struct strbuf *out)
{
	const char *rest, *arrow = NULL;
	struct cpu *c;

	if (strstr(line, "LOST ")) /* "CPU:0 [LOST 12 EVENTS]" */
		g->all = true;
	if (g->all || *line == '#' || !(is_rule(line) || g->in_change || strchr(line, ')'))) {
		strbuf_puts(out, line);
		return;
	}
	if (is_rule(line) || g->in_change) {
		if (!g->in_change)
			strbuf_reset(&g->change);
		strbuf_puts(&g->change, line);
		g->in_change = *line != '\n';
		arrow = strstr(line, "=>");
		c = arrow ? cpu_of(g, line, &rest) : NULL;
		if (c)
			change_task(g, c, arrow);
		if (g->in_change)
			return;
		c = cpu_of(g, strbuf_str(&g->change), &rest);
		if (c) {
			strbuf_reset(&c->change);
			strbuf_puts(&c->change, strbuf_str(&g->change));
		}
		return;
	}
	c = cpu_of(g, line, &rest);
	if (!c) {
		strbuf_puts(out, line);
		return;
	}
	/* a time stands before the CPU, with a bar of its own */
	for (unsigned i = memchr(line, '|', (size_t)(rest - line)) ? 1 : 0; i < g->bars; i++)
		rest = strchr(rest, '|') ? strchr(rest, '|') + 1 : rest;
	if (!call_line(g, c->task ? &g->tasks.data[c->task - 1] : &c->first, rest))
		return;
	strbuf_puts(out, strbuf_str(&c->change));
	strbuf_reset(&c->change);
	strbuf_puts(out, line);
}

void graph_lines_feed(struct graph_lines *g, const char *text, size_t n, struct strbuf *out)
{
	while (n) {
		const char *end = memchr(text, '\n', n);
		size_t len = end ? (size_t)(end - text) + 1 : n;

		strbuf_add(&g->partial, text, len);
		text += len;
		n -= len;
		if (end) {
			line_to(g, strbuf_str(&g->partial), out);
			strbuf_reset(&g->partial);
		}
	}
}
