/* SPDX-License-Identifier: MIT */
/*
 * Tasks and address spaces over time.
 *
 * A space's mappings stand in a tree that shares what it can with others (task_tree.c).
 *
 * Everything that changes over time is a history: (time, value) pairs in time
 * order, searched by halves. Nothing is ever taken back, so readers need no lock
 * once the side-band has been applied.
 */
#include "event/task.h"

#include <string.h>

#include "base/str.h"
#include "event/task_impl.h"

/* --- histories --- */

void task_history_set(struct arena *a, struct task_history *h, uint64_t time, uint32_t value)
{
	if (h->n && h->at[h->n - 1].value == value)
		return;
	/* The contract is time order; a late one counts from the newest time on. */
	if (h->n && h->at[h->n - 1].time > time)
		time = h->at[h->n - 1].time;
	if (h->n == h->cap) {
		struct task_moment *more;

		h->cap = h->cap ? h->cap * 2 : 2;
		more = arena_alloc(a, h->cap * sizeof(*more));
		if (h->n)
			memcpy(more, h->at, h->n * sizeof(*more));
		h->at = more;
	}
	h->at[h->n++] = (struct task_moment){ time, value };
}

/* The last moment at or before time; NULL when the first one is later. */
static const struct task_moment *history_at(const struct task_history *h, uint64_t time)
{
	uint32_t low = 0, high = h->n;

	if (h->n && h->at[h->n - 1].time <= time)
		return &h->at[h->n - 1];
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (h->at[mid].time <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &h->at[low - 1] : NULL;
}

/* --- spaces --- */

static uint32_t space_new(struct tasks *t, struct task_node *root, uint32_t before)
{
	struct task_space s = { .root = root, .token = ++t->tokens, .before = before };

	vec_push(&t->spaces, s);
	return (uint32_t)t->spaces.n - 1;
}

/* A second space with the same mappings; from now on neither changes the common nodes. */
static uint32_t space_copy(struct tasks *t, uint32_t space)
{
	t->spaces.data[space].token = ++t->tokens;
	return space_new(t, t->spaces.data[space].root, t->spaces.data[space].before);
}

static void space_map(struct tasks *t, uint32_t space, const struct task_map *map)
{
	struct task_space *s = &t->spaces.data[space];

	s->root = task_tree_replace(&t->nodes, s->root, map, s->token);
}

/* --- tasks --- */

static struct task *task_find(const struct tasks *t, int32_t tid)
{
	const uint64_t *at = map_find(&t->by_tid, (uint32_t)tid);

	return at ? &t->task.data[*at - 1] : NULL;
}

static size_t life_begin(struct tasks *t, const struct task_seen *s)
{
	vec_push(&t->lives, *s);
	return t->lives.n - 1;
}

/* The task of that tid, made when missing. The pointer holds until the next call. */
static struct task *task_get(struct tasks *t, uint64_t time, int32_t pid, int32_t tid)
{
	uint64_t *at = map_at(&t->by_tid, (uint32_t)tid);
	struct task *task;

	if (*at) {
		task = &t->task.data[*at - 1];
	} else {
		struct task_seen seen = { .pid = pid,
					  .tid = tid,
					  .ppid = -1,
					  .ptid = -1,
					  .comm = STRTAB_NONE,
					  .end = UINT64_MAX };

		task = vec_add(&t->task);
		*at = t->task.n;
		task->tid = tid;
		task->life = life_begin(t, &seen);
	}
	if (pid >= 0)
		task_history_set(&t->arena, &task->pid, time, (uint32_t)pid);
	return task;
}

static void task_leave(struct tasks *t, struct task *task)
{
	if (task->in_space)
		t->spaces.data[task->space.at[task->space.n - 1].value].users--;
	task->in_space = false;
}

static void task_enter(struct tasks *t, struct task *task, uint64_t time, uint32_t space)
{
	task_leave(t, task);
	task_history_set(&t->arena, &task->space, time, space);
	task->in_space = space != TASK_SPACE_NONE;
	if (task->in_space)
		t->spaces.data[space].users++;
}

static uint32_t task_space(const struct task *task)
{
	return task->space.n ? task->space.at[task->space.n - 1].value : TASK_SPACE_NONE;
}

struct tasks *tasks_new(void)
{
	struct tasks *t = mem_alloc(sizeof(*t));

	t->nodes.arena = &t->arena;
	task_history_set(&t->arena, &t->kernel, 0, space_new(t, NULL, TASK_SPACE_NONE));
	return t;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	arena_free(&t->arena);
	strtab_free(&t->strings);
	map_free(&t->by_tid);
	map_free(&t->by_dso);
	vec_free(&t->task);
	vec_free(&t->lives);
	vec_free(&t->spaces);
	vec_free(&t->dsos);
	free(t);
}

/* --- applying --- */

static void kernel_mmap(struct tasks *t, uint64_t time, const struct task_map *map)
{
	uint32_t space = t->kernel.at[t->kernel.n - 1].value;

	if (task_tree_conflict(t->spaces.data[space].root, map)) {
		space = space_copy(t, space);
		task_history_set(&t->arena, &t->kernel, time, space);
	}
	space_map(t, space, map);
}

/* A mapping of nothing, so that what comes to this place later is a change. */
void tasks_kernel_unmap(struct tasks *t, uint64_t time, uint64_t start, uint64_t end)
{
	const struct task_map hole = {
		.start = start, .end = end, .dso = TASK_DSO_NONE, .pid = -1
	};

	t->version++;
	if (start < end)
		kernel_mmap(t, time, &hole);
}

void tasks_mmap(struct tasks *t, uint64_t time, int32_t pid, int32_t tid,
		const struct task_map *map)
{
	struct task *task;
	uint32_t space;

	t->version++;
	if (map->start >= map->end)
		return;
	if (pid < 0) {
		kernel_mmap(t, time, map);
		return;
	}
	task = task_get(t, time, pid, pid);
	space = task_space(task);
	if (space == TASK_SPACE_NONE)
		task_enter(t, task, time, space = space_new(t, NULL, TASK_SPACE_NONE));
	else if (t->spaces.data[space].users > task->in_space ||
		 task_tree_conflict(t->spaces.data[space].root, map))
		task_enter(t, task, time, space = space_copy(t, space));
	space_map(t, space, map);
}

void tasks_share_space(struct tasks *t)
{
	t->version++;
	t->shared = true;
}

void tasks_comm(struct tasks *t, uint64_t time, int32_t pid, int32_t tid, const char *comm,
		bool exec)
{
	struct task *task = task_get(t, time, pid, tid);
	AUTO_FREE char *made = NULL;
	uint32_t name = strtab_add(&t->strings, str_one_line(comm, &made));
	uint32_t space;

	t->version++;
	task_history_set(&t->arena, &task->comm, time, name);
	t->lives.data[task->life].comm = name;
	if (!exec)
		return;
	task = task_get(t, time, pid, pid);
	space = task_space(task);
	if (space == TASK_SPACE_NONE || !t->spaces.data[space].root)
		return;
	task_enter(t, task, time, space_new(t, NULL, space));
}

void tasks_fork(struct tasks *t, uint64_t time, int32_t ppid, int32_t ptid, int32_t pid,
		int32_t tid, bool maps)
{
	struct task *parent = task_get(t, time, ppid, ptid), *task;
	struct task_seen seen = { .pid = pid,
				  .tid = tid,
				  .ppid = ppid,
				  .ptid = ptid,
				  .comm = STRTAB_NONE,
				  .start = time,
				  .end = UINT64_MAX };
	const struct task_moment *comm = history_at(&parent->comm, UINT64_MAX);
	bool known = task_find(t, tid) != NULL;
	uint32_t space = TASK_SPACE_NONE;

	t->version++;
	if (comm)
		seen.comm = comm->value;
	if (pid != ppid && maps) {
		parent = task_find(t, ppid);
		space = parent ? task_space(parent) : TASK_SPACE_NONE;
	}
	task = task_get(t, time, pid, tid);
	if (known && (task->comm.n || task->space.n))
		task->life = life_begin(t, &seen);
	else
		t->lives.data[task->life] = seen;
	if (seen.comm != STRTAB_NONE || task->comm.n)
		task_history_set(&t->arena, &task->comm, time, seen.comm);
	task_history_set(&t->arena, &task->parent, time, (uint32_t)ppid);
	if (pid == tid && pid != ppid && (space != TASK_SPACE_NONE || task->space.n))
		task_enter(t, task, time, space);
}

void tasks_exit(struct tasks *t, uint64_t time, int32_t pid, int32_t tid)
{
	struct task *task = task_get(t, time, pid, tid);

	t->version++;
	t->lives.data[task->life].end = time;
	/* It may still be sampled on its way out, so its space stays; but it maps nothing more. */
	if (pid == tid)
		task_leave(t, task);
}

/* --- dsos --- */

static uint64_t dso_key(const struct task_dso *d)
{
	uint64_t key[5] = { d->name, d->build_id_size, (uint64_t)d->maj << 32 | d->min, d->ino,
			    d->kernel | d->ksymbol << 1 };

	return map_hash_bytes(key, sizeof(key)) ^ map_hash_bytes(d->build_id, sizeof(d->build_id));
}

/* What recorders find in /proc has no generation; the kernel's own records have. */
static bool dso_same(const struct task_dso *a, const struct task_dso *b)
{
	return a->name == b->name && a->build_id_size == b->build_id_size && a->maj == b->maj &&
	       a->min == b->min && a->ino == b->ino &&
	       (!a->ino_generation || !b->ino_generation ||
		a->ino_generation == b->ino_generation) &&
	       a->kernel == b->kernel && a->ksymbol == b->ksymbol &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

uint32_t tasks_dso_like(struct tasks *t, const char *path, const struct task_dso *like)
{
	AUTO_FREE char *made = NULL;
	struct task_dso d = *like;
	uint64_t key, *at;

	d.name = strtab_add(&t->strings, str_one_line(path, &made));
	d.file = made ? strtab_add(&t->strings, path) : d.name;
	if (d.build_id_size > sizeof(d.build_id))
		d.build_id_size = sizeof(d.build_id);
	memset(d.build_id + d.build_id_size, 0, sizeof(d.build_id) - d.build_id_size);
	for (key = dso_key(&d); *(at = map_at(&t->by_dso, key)); key++)
		if (dso_same(&t->dsos.data[*at - 1], &d)) {
			if (d.ino_generation)
				t->dsos.data[*at - 1].ino_generation = d.ino_generation;
			return (uint32_t)*at - 1;
		}
	vec_push(&t->dsos, d);
	*at = t->dsos.n;
	return (uint32_t)t->dsos.n - 1;
}

uint32_t tasks_dso(struct tasks *t, const char *path, const uint8_t *build_id, size_t size,
		   bool kernel)
{
	struct task_dso d = { .kernel = kernel };

	if (build_id && size <= sizeof(d.build_id)) {
		memcpy(d.build_id, build_id, size);
		d.build_id_size = (uint8_t)size;
	}
	return tasks_dso_like(t, path, &d);
}

void tasks_set_build_id(struct tasks *t, const char *path, const uint8_t *build_id, size_t size,
			bool kernel)
{
	AUTO_FREE char *made = NULL;
	uint32_t name = strtab_find(&t->strings, str_one_line(path, &made));

	if (name == STRTAB_NONE || size > sizeof(t->dsos.data->build_id))
		return;
	vec_each (&t->dsos, d) {
		uint64_t key;

		if (d->name != name || d->kernel != kernel || d->build_id_size)
			continue;
		memcpy(d->build_id, build_id, size);
		d->build_id_size = (uint8_t)size;
		/* Found by its new key too, unless an equal one came with its build-id. */
		for (key = dso_key(d); *map_at(&t->by_dso, key); key++)
			;
		*map_at(&t->by_dso, key) = (uint64_t)(d - t->dsos.data) + 1;
	}
}

/* --- asking --- */

bool task_is_jitdump(const char *path)
{
	const char *base = str_base_name(path);
	int pid, end = 0;

	return str_starts(base, "jit-") && sscanf(base, "jit-%d.dump%n", &pid, &end) == 1 && end &&
	       !base[end];
}

bool task_is_anonymous(const char *path)
{
	static const char *const starts[] = { "//anon", "/dev/zero", "/anon_hugepage",
					      "[stack", "/SYSV",     "[heap]" };

	if (path[0] != '/' && path[0] != '[')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (path[1] == starts[i][1] && str_starts(path, starts[i]))
			return true;
	return false;
}

const struct strtab *tasks_strings(const struct tasks *t)
{
	return &t->strings;
}

uint32_t tasks_comm_at(const struct tasks *t, int32_t tid, uint64_t time)
{
	const struct task *task = task_find(t, tid);
	const struct task_moment *m = task ? history_at(&task->comm, time) : NULL;

	return m ? m->value : STRTAB_NONE;
}

uint32_t tasks_who(uint32_t comm, int32_t tid)
{
	return comm != STRTAB_NONE ? comm : TASK_NAMELESS | ((uint32_t)tid & ~TASK_NAMELESS);
}

const char *tasks_who_name(const struct tasks *t, uint32_t who, char buf[TASK_NAME])
{
	if (!(who & TASK_NAMELESS))
		return strtab_get(&t->strings, who);
	if (who == TASK_NAMELESS)
		return "swapper"; /* the idle task has number 0 on every CPU */
	snprintf(buf, TASK_NAME, ":%d", (int)(who << 1) >> 1);
	return buf;
}

const char *tasks_name_at(const struct tasks *t, int32_t tid, uint64_t time, char buf[TASK_NAME])
{
	return tasks_who_name(t, tasks_who(tasks_comm_at(t, tid, time), tid), buf);
}

const char *tasks_name_or(const struct tasks *t, int32_t tid, uint64_t time, const char *unknown)
{
	uint32_t comm = tasks_comm_at(t, tid, time);

	if (tid && comm == STRTAB_NONE)
		return unknown;
	return tasks_who_name(t, tasks_who(comm, tid), NULL);
}

uint32_t tasks_later_comm(const struct tasks *t, int32_t tid, uint64_t time)
{
	const struct task *task = task_find(t, tid);
	const struct task_moment *m, *next, *fork;

	if (!task || !task->comm.n)
		return STRTAB_NONE;
	m = history_at(&task->comm, time);
	next = m ? m + 1 : task->comm.at;
	if (next == task->comm.at + task->comm.n)
		return STRTAB_NONE;
	fork = history_at(&task->parent, next->time);
	return fork && fork->time > time ? STRTAB_NONE : next->value;
}

uint32_t tasks_version(const struct tasks *t)
{
	return t->version;
}

/* The value then, with the time it holds narrowed down; early: before the first one. */
static uint32_t history_view(const struct task_history *h, struct task_view *v, uint64_t time,
			     uint32_t early)
{
	const struct task_moment *m = history_at(h, time), *next = m ? m + 1 : h->at;

	if (m && m->time > v->from)
		v->from = m->time;
	if (next < h->at + h->n && next->time < v->until)
		v->until = next->time;
	return m ? m->value : early;
}

struct task_view tasks_view_at(const struct tasks *t, int32_t pid, int32_t tid, uint64_t time)
{
	const struct task *process = task_find(t, pid), *thread = task_find(t, tid);
	struct task_view v = { t->shared ? TASK_SPACE_KERNEL : TASK_SPACE_NONE, TASK_SPACE_KERNEL,
			       STRTAB_NONE, 0, UINT64_MAX };

	if (!t->shared && process && process->space.n)
		v.space = history_view(&process->space, &v, time, process->space.at[0].value);
	if (thread && thread->comm.n)
		v.comm = history_view(&thread->comm, &v, time, STRTAB_NONE);
	if (t->kernel.n)
		v.kernel = history_view(&t->kernel, &v, time, TASK_SPACE_KERNEL);
	return v;
}

uint32_t tasks_space_at(const struct tasks *t, int32_t pid, uint64_t time)
{
	const struct task *task = task_find(t, pid);
	const struct task_moment *m;

	if (t->shared)
		return TASK_SPACE_KERNEL;
	if (!task || !task->space.n)
		return TASK_SPACE_NONE;
	m = history_at(&task->space, time);
	return m ? m->value : task->space.at[0].value;
}

uint32_t tasks_kernel_at(const struct tasks *t, uint64_t time)
{
	const struct task_moment *m = history_at(&t->kernel, time);

	return m ? m->value : TASK_SPACE_KERNEL;
}

uint64_t tasks_kernel_start(const struct tasks *t)
{
	/* The image lies below modules and run-time code, and is the only one that is no module. */
	const struct task_node *n = t->spaces.data[TASK_SPACE_KERNEL].root;
	uint64_t start = 0;

	for (; n; n = n->left) {
		const struct task_dso *d = tasks_get_dso(t, n->map.dso);

		if (d && !d->ksymbol && tasks_dso_path(t, n->map.dso)[0] == '[')
			start = n->map.start;
	}
	return start;
}

int32_t tasks_pid_at(const struct tasks *t, int32_t tid, uint64_t time)
{
	const struct task *task = task_find(t, tid);
	const struct task_moment *m = task ? history_at(&task->pid, time) : NULL;

	return m ? (int32_t)m->value : -1;
}

const struct task_map *tasks_find_range(const struct tasks *t, uint32_t space, uint64_t addr,
					uint64_t *from, uint64_t *until)
{
	*from = 0;
	*until = UINT64_MAX; /* of which nothing is mapped at the last address */
	for (int i = 0; i < 2 && space < t->spaces.n; i++, space = t->spaces.data[space].before) {
		const struct task_map *m =
			task_tree_find(t->spaces.data[space].root, addr, from, until);

		if (m)
			return m->dso == TASK_DSO_NONE ? NULL : m;
	}
	return NULL;
}

const struct task_map *tasks_find(const struct tasks *t, uint32_t space, uint64_t addr)
{
	uint64_t from, until;

	return tasks_find_range(t, space, addr, &from, &until);
}

void tasks_each_map(const struct tasks *t, uint32_t space,
		    void (*fn)(void *ctx, const struct task_map *map), void *ctx)
{
	if (space < t->spaces.n)
		task_tree_each(t->spaces.data[space].root, fn, ctx);
}

size_t tasks_n_dsos(const struct tasks *t)
{
	return t->dsos.n;
}

const struct task_dso *tasks_get_dso(const struct tasks *t, uint32_t dso)
{
	return dso < t->dsos.n ? &t->dsos.data[dso] : NULL;
}

const char *tasks_dso_path(const struct tasks *t, uint32_t dso)
{
	return dso < t->dsos.n ? strtab_get(&t->strings, t->dsos.data[dso].name) : "";
}

const char *tasks_dso_file(const struct tasks *t, uint32_t dso)
{
	return dso < t->dsos.n ? strtab_get(&t->strings, t->dsos.data[dso].file) : "";
}

void tasks_each(const struct tasks *t, void (*fn)(void *ctx, const struct task_seen *s), void *ctx)
{
	for (size_t i = 0; i < t->lives.n; i++)
		fn(ctx, &t->lives.data[i]);
}
