/* SPDX-License-Identifier: MIT */
/* Tasks without their past: what is reached from the present, or asked for, is copied. */
#include <stddef.h>
#include <string.h>

#include "event/task_impl.h"

struct renewal {
	const struct tasks *from;
	struct tasks *to;
	struct tasks_moved moved;
	struct map nodes; /* those that spaces share are shared again: address to address */
};

size_t tasks_size(const struct tasks *t)
{
	return t->arena.used + t->strings.arena.used + t->strings.cap * sizeof(*t->strings.name) +
	       t->strings.index.cap * sizeof(*t->strings.index.slot) +
	       t->by_tid.cap * sizeof(*t->by_tid.slots) + t->by_dso.cap * sizeof(*t->by_dso.slots) +
	       t->task.cap * sizeof(*t->task.data) + t->lives.cap * sizeof(*t->lives.data) +
	       t->spaces.cap * sizeof(*t->spaces.data) + t->dsos.cap * sizeof(*t->dsos.data);
}

void tasks_want_none(const struct tasks *t, struct tasks_wanted *ret)
{
	*ret = (struct tasks_wanted){ .n_spaces = t->spaces.n, .n_names = t->strings.n };
	ret->space = mem_alloc(ret->n_spaces + 1);
	ret->name = mem_alloc(ret->n_names + 1);
}

void tasks_want(struct tasks_wanted *w, uint32_t space, uint32_t kernel, uint32_t name)
{
	if (space < w->n_spaces)
		w->space[space] = true;
	if (kernel < w->n_spaces)
		w->space[kernel] = true;
	if (name < w->n_names)
		w->name[name] = true;
}

static uint32_t move_name(struct renewal *r, uint32_t name)
{
	if (name >= r->from->strings.n)
		return name;
	if (r->moved.name[name] == STRTAB_NONE)
		r->moved.name[name] =
			strtab_add(&r->to->strings, strtab_get(&r->from->strings, name));
	return r->moved.name[name];
}

static uint32_t move_dso(struct renewal *r, uint32_t dso)
{
	if (dso >= r->from->dsos.n)
		return dso;
	return tasks_dso_like(r->to, tasks_dso_file(r->from, dso), &r->from->dsos.data[dso]);
}

static struct task_node *move_node(struct renewal *r, const struct task_node *n)
{
	struct task_node *copy;
	uint64_t *at;

	if (!n)
		return NULL;
	at = map_at(&r->nodes, (uintptr_t)n);
	if (*at)
		return (struct task_node *)(uintptr_t)*at; // NOLINT(performance-no-int-to-ptr)
	copy = arena_dup(&r->to->arena, n, sizeof(*n));
	*at = (uintptr_t)copy;
	copy->map.dso = move_dso(r, n->map.dso);
	copy->left = move_node(r, n->left);
	copy->right = move_node(r, n->right);
	return copy;
}

static uint32_t move_space_alone(struct renewal *r, uint32_t space)
{
	struct task_space s;

	if (space >= r->from->spaces.n)
		return space;
	if (r->moved.space[space] != TASK_SPACE_NONE)
		return r->moved.space[space];
	s = r->from->spaces.data[space];
	s.users = 0; /* they are counted as tasks come */
	s.before = TASK_SPACE_NONE;
	s.root = move_node(r, s.root);
	vec_push(&r->to->spaces, s);
	return r->moved.space[space] = (uint32_t)r->to->spaces.n - 1;
}

/* With what was there before exec, which is asked, too; what was before that is not. */
static uint32_t move_space(struct renewal *r, uint32_t space)
{
	uint32_t to = move_space_alone(r, space);

	if (space < r->from->spaces.n) {
		uint32_t before = move_space_alone(r, r->from->spaces.data[space].before);

		r->to->spaces.data[to].before = before;
	}
	return to;
}

/* What it is since then. */
static void move_history(struct renewal *r, const struct task_history *from, uint64_t since,
			 uint32_t (*move)(struct renewal *, uint32_t), struct task_history *to)
{
	uint32_t i = from->n;

	while (i > 1 && from->at[i - 1].time > since)
		i--;
	for (i -= i > 0; i < from->n; i++)
		task_history_set(&r->to->arena, to, from->at[i].time,
				 move ? move(r, from->at[i].value) : from->at[i].value);
}

static void move_task(struct renewal *r, const struct task *from, uint64_t since)
{
	struct tasks *to = r->to;
	struct task_seen life = r->from->lives.data[from->life];
	struct task t = { .tid = from->tid, .in_space = from->in_space, .life = to->lives.n };

	move_history(r, &from->comm, since, move_name, &t.comm);
	move_history(r, &from->pid, since, NULL, &t.pid);
	move_history(r, &from->space, since, move_space, &t.space);
	move_history(r, &from->parent, since, NULL, &t.parent);
	life.comm = move_name(r, life.comm);
	vec_push(&to->lives, life);
	if (t.in_space)
		to->spaces.data[t.space.at[t.space.n - 1].value].users++;
	vec_push(&to->task, t);
	*map_at(&to->by_tid, (uint32_t)t.tid) = to->task.n;
}

struct tasks *tasks_renew(const struct tasks *t, const struct tasks_wanted *w, uint64_t since,
			  struct tasks_moved *ret)
{
	struct renewal r = { .from = t, .to = mem_alloc(sizeof(*r.to)) };
	size_t spaces = t->spaces.n * sizeof(uint32_t), names = t->strings.n * sizeof(uint32_t);

	r.moved.n_spaces = t->spaces.n;
	r.moved.space = memset(mem_alloc(spaces + 1), 0xff, spaces); /* TASK_SPACE_NONE */
	r.moved.name = memset(mem_alloc(names + 1), 0xff, names);    /* STRTAB_NONE */
	r.to->nodes = (struct task_nodes){ &r.to->arena, t->nodes.random };
	r.to->tokens = t->tokens;
	r.to->version = t->version + 1;
	/* first, so that it has the number all know: the kernel as it is now */
	move_space(&r, t->kernel.at[t->kernel.n - 1].value);
	move_history(&r, &t->kernel, since, move_space, &r.to->kernel);
	for (uint32_t i = 0; i < w->n_spaces; i++)
		if (w->space[i])
			move_space(&r, i);
	for (uint32_t i = 0; i < w->n_names; i++)
		if (w->name[i])
			move_name(&r, i);
	for (size_t i = 0; i < t->task.n; i++)
		if (t->lives.data[t->task.data[i].life].end > since)
			move_task(&r, &t->task.data[i], since);
	map_free(&r.nodes);
	*ret = r.moved;
	return r.to;
}

/* --- several as one --- */

struct merging {
	struct renewal *part; /* one for each recording */
	const struct tasks_of *from;
	size_t n;
	struct tasks *to;
};

/* What was before the first one's clock began was at its beginning. */
static uint64_t merged_time(const struct tasks_of *of, uint64_t time)
{
	if (!time || time == UINT64_MAX)
		return time ? time : of->begin;
	if (of->shift < 0 && time <= -(uint64_t)of->shift)
		return 1;
	return time + (uint64_t)of->shift;
}

/* The task of that number in part i; NULL: it knows none. */
static const struct task *merged_task(const struct merging *m, size_t i, int32_t tid)
{
	const struct tasks *t = m->from[i].tasks;
	const uint64_t *at = map_find(&t->by_tid, (uint32_t)tid);

	return at ? &t->task.data[*at - 1] : NULL;
}

/* The histories at that place of a task, in the order of time; of equal times the later part's. */
static void merge_history(struct merging *m, int32_t tid, size_t place,
			  uint32_t (*move)(struct renewal *, uint32_t), struct task_history *to)
{
	AUTO_FREE uint32_t *done = mem_alloc(m->n * sizeof(*done));

	for (;;) {
		const struct task_moment *best = NULL;
		uint64_t best_time = 0;
		size_t of = 0;

		for (size_t i = 0; i < m->n; i++) {
			const struct task *t = merged_task(m, i, tid);
			const struct task_history *h =
				t ? (const struct task_history *)((const char *)t + place) : NULL;

			if (!h || done[i] == h->n)
				continue;
			if (best && merged_time(&m->from[i], h->at[done[i]].time) >= best_time)
				continue;
			best = &h->at[done[i]];
			best_time = merged_time(&m->from[i], best->time);
			of = i;
		}
		if (!best)
			return;
		done[of]++;
		task_history_set(&m->to->arena, to, best_time,
				 move ? move(&m->part[of], best->value) : best->value);
	}
}

static void merge_task(struct merging *m, size_t first, const struct task *task)
{
	struct task t = { .tid = task->tid };

	merge_history(m, t.tid, offsetof(struct task, comm), move_name, &t.comm);
	merge_history(m, t.tid, offsetof(struct task, pid), NULL, &t.pid);
	merge_history(m, t.tid, offsetof(struct task, space), move_space, &t.space);
	merge_history(m, t.tid, offsetof(struct task, parent), NULL, &t.parent);
	t.life = m->to->lives.n;
	for (size_t i = first; i < m->n; i++) {
		const struct task *one = merged_task(m, i, t.tid);
		struct task_seen s, *last = NULL;

		if (!one)
			continue;
		s = m->from[i].tasks->lives.data[one->life];
		s.comm = move_name(&m->part[i], s.comm);
		s.start = s.start ? merged_time(&m->from[i], s.start) : 0;
		s.end = merged_time(&m->from[i], s.end);
		if (m->to->lives.n > t.life)
			last = &m->to->lives.data[m->to->lives.n - 1];
		if (last && last->pid == s.pid && s.start <= last->end) {
			last->end = s.end > last->end ? s.end : last->end;
			last->comm = s.comm == STRTAB_NONE ? last->comm : s.comm;
		} else {
			vec_push(&m->to->lives, s);
		}
	}
	t.life = m->to->lives.n - 1;
	vec_push(&m->to->task, t);
	*map_at(&m->to->by_tid, (uint32_t)t.tid) = m->to->task.n;
}

struct tasks *tasks_merge(const struct tasks_of *from, size_t n)
{
	struct merging m = { .from = from, .n = n, .to = mem_alloc(sizeof(*m.to)) };
	size_t kernel = 0;

	m.part = mem_alloc(n * sizeof(*m.part));
	m.to->nodes = (struct task_nodes){ &m.to->arena, from[0].tasks->nodes.random };
	for (size_t i = 0; i < n; i++) {
		const struct tasks *t = from[i].tasks;
		struct renewal *r = &m.part[i];
		size_t spaces = t->spaces.n * sizeof(uint32_t);
		size_t names = t->strings.n * sizeof(uint32_t);

		*r = (struct renewal){ .from = t, .to = m.to };
		r->moved.n_spaces = t->spaces.n;
		r->moved.space = memset(mem_alloc(spaces + 1), 0xff, spaces);
		r->moved.name = memset(mem_alloc(names + 1), 0xff, names);
		m.to->tokens = t->tokens > m.to->tokens ? t->tokens : m.to->tokens;
		/* modules are known to the one with more files */
		if (t->dsos.n > from[kernel].tasks->dsos.n)
			kernel = i;
	}
	for (uint32_t i = 0; i < from[kernel].tasks->kernel.n; i++) {
		const struct task_moment *at = &from[kernel].tasks->kernel.at[i];

		task_history_set(&m.to->arena, &m.to->kernel,
				 at->time ? merged_time(&from[kernel], at->time) : 0,
				 move_space(&m.part[kernel], at->value));
	}
	for (size_t i = 0; i < n; i++)
		vec_each (&from[i].tasks->task, task)
			if (!map_find(&m.to->by_tid, (uint32_t)task->tid))
				merge_task(&m, i, task);
	for (size_t i = 0; i < n; i++) {
		map_free(&m.part[i].nodes);
		tasks_moved_free(&m.part[i].moved);
	}
	free(m.part);
	return m.to;
}

uint32_t tasks_moved_kernel(const struct tasks_moved *m, uint32_t space)
{
	return space < m->n_spaces ? m->space[space] : space;
}

uint32_t tasks_moved_space(const struct tasks_moved *m, uint32_t space)
{
	return space == TASK_SPACE_KERNEL ? space : tasks_moved_kernel(m, space);
}

void tasks_wanted_free(struct tasks_wanted *w)
{
	free(w->space);
	free(w->name);
}

void tasks_moved_free(struct tasks_moved *m)
{
	free(m->space);
	free(m->name);
}
