/* SPDX-License-Identifier: MIT */
/* What a recording holds besides samples to sum. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/out.h"
#include "base/str.h"
#include "cmd/report/report.h"
#include "cmd/share/input.h"
#include "store/perfdata/perfdata.h"
#include "store/perfdata/records.h"

static int only_perfdata(const struct load *l, const char *option, struct err *e)
{
	if (strcmp(l->source->format, "perf.data") == 0)
		return 0;
	return err_set(e, EOPNOTSUPP, "%s is for perf.data; this is %s", option, l->source->format);
}

/* --- --stats --- */

struct stats {
	uint64_t all, by_kind[256];
};

static int count_record(void *ctx, const struct perfdata_view *v)
{
	struct stats *s = ctx;

	s->all++;
	if (v->header.type < ARRAY_SIZE(s->by_kind))
		s->by_kind[v->header.type]++;
	return 0;
}

int report_stats(struct load *l, const struct report_args *a, struct err *e)
{
	const struct trace *t = l->source->trace;
	struct stats s = { 0 };
	struct perfdata_walk *w;
	int r = only_perfdata(l, "--stats", e);

	if (r < 0)
		return r;
	w = perfdata_walk_new(l->source);
	r = perfdata_walk_each(w, count_record, &s);
	perfdata_walk_free(w);
	if (r == 0)
		r = load_count(l, &(struct profile_opts){ 0 }, e);
	if (r < 0)
		return r;
	printf("\nAggregated stats:\n%16s events: %10" PRIu64 "\n", "TOTAL", s.all);
	for (uint32_t i = 1; i < ARRAY_SIZE(s.by_kind); i++)
		if (records_name(i) && (s.by_kind[i] || !a->skip_empty))
			printf("%16s events: %10" PRIu64 "  (%4.1f%%)\n", records_name(i),
			       s.by_kind[i], profile_percent(s.by_kind[i], s.all));
	for (size_t i = 0; i < t->n_types; i++) {
		if (!l->profile.total[i].all_count && a->skip_empty)
			continue;
		printf("%s stats:\n", t->types[i].name);
		if (l->profile.total[i].all_count)
			printf("%16s events: %10" PRIu64 "\n", "SAMPLE",
			       l->profile.total[i].all_count);
	}
	return 0;
}

/* --- --tasks, --mmaps --- */

struct node {
	struct task_seen seen;
	uint32_t child, last, next; /* index + 1 */
	bool listed;
};

struct task_tree {
	const struct load *l;
	VEC(struct node) nodes;
	struct map by_tid; /* index + 1 */
	uint32_t first, last;
	bool maps;
};

/* A number that was used again is shown as the last one that had it. */
static void add_task(void *ctx, const struct task_seen *s)
{
	struct task_tree *t = ctx;
	uint64_t *at;

	/* of some only their end was seen */
	if (s->tid && s->comm == STRTAB_NONE && s->ptid < 0)
		return;
	at = map_at(&t->by_tid, (uint32_t)s->tid);
	if (*at) {
		t->nodes.data[*at - 1].seen = *s;
		return;
	}
	vec_push(&t->nodes, (struct node){ .seen = *s });
	*at = t->nodes.n;
}

static void report_other_append(struct task_tree *t, uint32_t *first, uint32_t *last, uint32_t node)
{
	if (*last)
		t->nodes.data[*last - 1].next = node;
	else
		*first = node;
	*last = node;
}

/* Hang a task from the one that forked it, and that from its own, up to one that is listed. */
static void list_task(struct task_tree *t, uint32_t node)
{
	while (!t->nodes.data[node - 1].listed) {
		struct node *n = &t->nodes.data[node - 1];
		const uint64_t *up =
			n->seen.ptid < 0 ? NULL : map_find(&t->by_tid, (uint32_t)n->seen.ptid);

		n->listed = true;
		if (!up || *up == node) {
			report_other_append(t, &t->first, &t->last, node);
			return;
		}
		report_other_append(t, &t->nodes.data[*up - 1].child, &t->nodes.data[*up - 1].last,
				    node);
		node = (uint32_t)*up;
	}
}

struct map_line {
	const struct load *l;
	int indent;
};

static void print_map(void *ctx, const struct task_map *m)
{
	const struct map_line *line = ctx;
	const struct tasks *tasks = line->l->source->trace->tasks;

	printf("%*s  %" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " %s\n", line->indent,
	       "", m->start, m->end, m->prot & PROT_READ ? 'r' : '-',
	       m->prot & PROT_WRITE ? 'w' : '-', m->prot & PROT_EXEC ? 'x' : '-',
	       m->flags & MAP_SHARED ? 's' : 'p', m->pgoff == m->start ? 0 : m->pgoff,
	       tasks_get_dso(tasks, m->dso)->ino, tasks_dso_path(tasks, m->dso));
}

static void print_tasks(const struct task_tree *t, uint32_t node, int level)
{
	const struct trace *trace = t->l->source->trace;

	for (; node; node = t->nodes.data[node - 1].next) {
		const struct node *n = &t->nodes.data[node - 1];
		struct map_line line = { .l = t->l };
		char name[TASK_NAME];

		line.indent = printf("  %8d %8d %8d |%*s", n->seen.pid, n->seen.tid, n->seen.ptid,
				     level, "");
		printf("%s\n", tasks_name_at(trace->tasks, n->seen.tid, UINT64_MAX, name));
		if (t->maps)
			tasks_each_map(trace->tasks,
				       tasks_space_at(trace->tasks, n->seen.pid, UINT64_MAX),
				       print_map, &line);
		print_tasks(t, n->child, level + 1);
	}
}

static int report_other_by_number(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	uint32_t bx = (uint32_t)x->seen.tid % 256, by = (uint32_t)y->seen.tid % 256;

	/* perf keeps threads in 256 lists */
	if (bx != by)
		return bx < by ? -1 : 1;
	return x->seen.tid < y->seen.tid ? -1 : x->seen.tid > y->seen.tid;
}

int report_tasks(struct load *l, const struct report_args *a, struct err *e)
{
	struct task_tree t = { .l = l, .maps = a->mmaps };

	add_task(&t, &(struct task_seen){ .ppid = -1, .ptid = -1 }); /* the idle task */
	tasks_each(l->source->trace->tasks, add_task, &t);
	t.nodes.data[0].seen.pid = 0;
	t.nodes.data[0].seen.ptid = -1;
	qsort(t.nodes.data, t.nodes.n, sizeof(*t.nodes.data), report_other_by_number);
	for (uint32_t i = 0; i < t.nodes.n; i++)
		*map_at(&t.by_tid, (uint32_t)t.nodes.data[i].seen.tid) = i + 1ull;
	for (uint32_t i = 1; i <= t.nodes.n; i++)
		list_task(&t, i);
	printf("# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	print_tasks(&t, t.first, 0);
	vec_free(&t.nodes);
	map_free(&t.by_tid);
	return 0;
}

/* --- -T: counters that were read when threads ended --- */

struct counter_row {
	uint32_t pid, tid;
	uint64_t *value; /* by type */
};
struct counters {
	struct load *l;
	struct perfdata_walk *walk;
	VEC(struct counter_row) rows;
	bool *seen; /* by type */
	struct arena arena;
};

static int add_counter(void *ctx, const struct perfdata_view *v)
{
	struct counters *c = ctx;
	const struct perfdata_event_header *h;
	const struct event *ev;
	struct counter_row *row = NULL;
	uint32_t ids[2];
	uint64_t value;

	if (v->header.type != PERF_RECORD_READ || v->header.size < sizeof(*h) + 16)
		return 0;
	h = perfdata_walk_record(c->walk, v);
	memcpy(ids, h + 1, sizeof(ids));
	memcpy(&value, (const char *)(h + 1) + 8, sizeof(value));
	ev = perfdata_walk_event(c->walk, v);
	if (!ev || ev->type >= c->l->source->trace->n_types)
		return 0;
	vec_each (&c->rows, r)
		if (r->pid == ids[0] && r->tid == ids[1])
			row = r;
	if (!row) {
		row = vec_add(&c->rows);
		row->pid = ids[0];
		row->tid = ids[1];
		row->value =
			arena_alloc(&c->arena, c->l->source->trace->n_types * sizeof(*row->value));
	}
	row->value[ev->type] += value;
	c->seen[ev->type] = true;
	return 0;
}

static int width_of(uint64_t v)
{
	return snprintf(NULL, 0, "%" PRIu64, v);
}

static void print_columns(FILE *f, struct counters *c)
{
	const struct trace *t = c->l->source->trace;
	int pid = 3, tid = 3;
	AUTO_FREE int *width = mem_alloc((t->n_types + 1) * sizeof(*width));

	for (size_t k = 0; k < t->n_types; k++)
		width[k] = (int)strlen(t->types[k].name);
	vec_each (&c->rows, r) {
		pid = width_of(r->pid) > pid ? width_of(r->pid) : pid;
		tid = width_of(r->tid) > tid ? width_of(r->tid) : tid;
		for (size_t k = 0; k < t->n_types; k++)
			if (width_of(r->value[k]) > width[k])
				width[k] = width_of(r->value[k]);
	}
	fprintf(f, "# %*s  %*s", pid, "PID", tid, "TID");
	for (size_t k = 0; k < t->n_types; k++)
		if (c->seen[k])
			fprintf(f, "  %*s", width[k], t->types[k].name);
	putc('\n', f);
	vec_each (&c->rows, r) {
		fprintf(f, "  %*u  %*u", pid, r->pid, tid, r->tid);
		for (size_t k = 0; k < t->n_types; k++)
			if (c->seen[k])
				fprintf(f, "  %*" PRIu64, width[k], r->value[k]);
		putc('\n', f);
	}
}

static void print_lines(FILE *f, struct counters *c)
{
	const struct trace *t = c->l->source->trace;

	fprintf(f, "# PID TID Name Raw Count\n");
	vec_each (&c->rows, r)
		for (size_t k = 0; k < t->n_types; k++)
			if (c->seen[k])
				fprintf(f, "%u %u %s %zx %" PRIu64 "\n", r->pid, r->tid,
					t->types[k].name, k, r->value[k]);
}

int report_counters(FILE *f, struct load *l, const struct report_args *a, struct err *e)
{
	struct counters c = { .l = l };
	int r = only_perfdata(l, "-T", e);

	if (r < 0)
		return r;
	c.seen = mem_alloc(l->source->trace->n_types + 1);
	c.walk = perfdata_walk_new(l->source);
	r = perfdata_walk_each(c.walk, add_counter, &c);
	if (r == 0 && !c.rows.n && f == stdout)
		command_note("the recording has no counters by thread (record -s makes them)");
	else if (r == 0 && c.rows.n && a->raw_counters)
		print_lines(f, &c);
	else if (r == 0 && c.rows.n)
		print_columns(f, &c);
	perfdata_walk_free(c.walk);
	vec_free(&c.rows);
	free(c.seen);
	arena_free(&c.arena);
	return r;
}

/* --- -D --- */

int report_dump(struct load *l, const struct report_args *a, struct err *e)
{
	struct out out;
	struct source_dump d = { .out = &out, .file = input_path(a->load.input) };
	int r = only_perfdata(l, "-D", e);

	if (r < 0)
		return r;
	out_init(&out, STDOUT_FILENO);
	r = l->source->dump(l->source, &d);
	out_flush(&out);
	if (r >= 0 && out.error && out.error != EPIPE)
		r = err_set(e, out.error, "cannot write the output: %s", strerror(out.error));
	out_free(&out);
	return r < 0 ? r : report_stats(l, a, e);
}
