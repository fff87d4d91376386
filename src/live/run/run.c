/* SPDX-License-Identifier: MIT */
#include "live/run/run.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "live/run/session.h"

#define POLL_MS 30 /* how long a message may wait unannounced */

static uint64_t run_session_wall(void *ctx, uint64_t boot_ns)
{
	return boot_ns + ((struct run *)ctx)->boot_offset;
}

/* A hash read bucket by bucket; false when the kernel cannot, and nothing was handed out. */
static bool map_at_once(struct run *r, int map, lang_entry_fn *fn, void *arg)
{
	const struct lang_map *m = &r->p->maps.data[map];
	size_t value = m->per_cpu ? lang_map_read(m, r->host.ncpus) : m->value_size;
	uint32_t place[2] = { 0 }, room = m->entries < 256 ? m->entries + 16 : 256;
	AUTO_FREE uint8_t *keys = NULL, *values = NULL;
	bool first = true, any = false;
	int k = 0;

	while (k == 0 || k == -ENOSPC) {
		uint32_t n = k == -ENOSPC ? room *= 2 : room;

		if (!keys || k == -ENOSPC) {
			keys = mem_grow(keys, (size_t)n * m->key_size + 8);
			values = mem_grow(values, n * value + 8);
		}
		k = bpf_map_batch(r->map_fd[map], first, place, keys, values, &n);
		if ((k < 0 && k != -ENOENT && k != -ENOSPC) || room > 1u << 24)
			return any;
		if (k == -ENOSPC)
			continue;
		first = false;
		for (uint32_t i = 0; i < n; i++)
			fn(arg, keys + (size_t)i * m->key_size, values + i * value);
		any |= n > 0;
	}
	return true;
}

static int map_each(void *ctx, int map, lang_entry_fn *fn, void *arg)
{
	struct run *r = ctx;
	const struct lang_map *m = &r->p->maps.data[map];
	AUTO_FREE uint8_t *key = mem_alloc(m->key_size + 8), *next = mem_alloc(m->key_size + 8);
	AUTO_FREE uint8_t *value = mem_alloc(lang_map_read(m, r->host.ncpus) + 8);
	size_t limit = m->entries * 2ull + 16; /* keys that come and go meanwhile */
	int k;

	if (m->by_task) {
		run_task_each(r, map, fn, arg);
		return 0;
	}
	if (m->key && map_at_once(r, map, fn, arg))
		return 0;
	k = bpf_map_next(r->map_fd[map], NULL, next);
	while (k == 0 && limit--) {
		memcpy(key, next, m->key_size);
		if (bpf_map_get(r->map_fd[map], key, value) == 0)
			fn(arg, key, value);
		k = bpf_map_next(r->map_fd[map], key, next);
	}
	return 0;
}

struct keys {
	const struct lang_map *m;
	VEC(uint8_t) data;
};

static int add_key(void *arg, const void *key, const void *value)
{
	struct keys *k = arg;

	vec_reserve(&k->data, k->data.n + k->m->key_size);
	memcpy(k->data.data + k->data.n, key, k->m->key_size);
	k->data.n += k->m->key_size;
	return 0;
}

static void run_session_reset(struct run *r, int map, bool remove)
{
	struct keys keys = { .m = &r->p->maps.data[map] };
	AUTO_FREE uint8_t *zero = mem_alloc(lang_map_read(keys.m, r->host.ncpus) + 8);

	map_each(r, map, add_key, &keys);
	if (!remove && keys.m->present_word)
		zero[0] = 1; /* the word that says the value is set */
	for (size_t i = 0; i < keys.data.n; i += keys.m->key_size) {
		const uint8_t *key = keys.data.data + i;

		if (remove && keys.m->key)
			bpf_map_drop(r->map_fd[map], key);
		else
			bpf_map_set(r->map_fd[map], key, zero);
	}
	vec_free(&keys.data);
}

static void map_clear(void *ctx, int map)
{
	struct run *r = ctx;

	if (r->p->maps.data[map].by_task)
		run_task_clear(r, map);
	else
		run_session_reset(r, map, true);
}

static void map_zero(void *ctx, int map)
{
	run_session_reset(ctx, map, false);
}

static int open_ring(struct run *r, int map, struct bpf_ring *ring, struct err *e)
{
	int k = r->map_fd[map] < 0
			? 0
			: bpf_ring_open(ring, r->map_fd[map], r->p->maps.data[map].entries);

	return k < 0 ? err_set(e, -k, "cannot map the ring for messages: %s", strerror(-k)) : 0;
}

/* -p: from the start, or its end could be missed. */
static int watch_process(struct run *r, struct err *e)
{
	int k;

	r->pid_fd = (int)syscall(434 /* pidfd_open */, r->o.pid, 0);
	if (r->pid_fd < 0) {
		err_set(e, errno,
			errno == ESRCH ? "there is no process %d" : "cannot follow process %d",
			r->o.pid);
		return err_hint(e, "-p wants the number of a process, not of a thread");
	}
	k = loop_watch(&r->loop, RUN_ID_PID, r->pid_fd, e);
	return k < 0 ? k : 0;
}

int run_open(struct lang_program *p, struct run_env *env, const struct run_opts *o,
	     struct run **ret, char **log, struct err *e)
{
	struct run *r = mem_alloc(sizeof(*r));
	uint64_t real = loop_clock(CLOCK_REALTIME);
	int k;

	r->p = p;
	r->env = env;
	r->o = *o;
	r->child = o->child;
	r->since = loop_now();
	r->boot_offset = real - loop_clock(CLOCK_BOOTTIME);
	r->map_fd = mem_alloc((p->maps.n + 1) * sizeof(int));
	r->prog_fd = mem_alloc((p->codes.n + 1) * sizeof(int));
	if (o->verbose)
		r->prog_words = mem_alloc((p->codes.n + 1) * sizeof(char *));
	memset(r->map_fd, -1, (p->maps.n + 1) * sizeof(int));
	memset(r->prog_fd, -1, (p->codes.n + 1) * sizeof(int));
	r->handover = mem_alloc((p->codes.n + 1) * sizeof(*r->handover));
	memset(r->handover, -1, (p->codes.n + 1) * sizeof(*r->handover));
	r->host = (struct lang_host){ .ctx = r,
				      .ncpus = env->env.ncpus,
				      .map_each = map_each,
				      .map_clear = map_clear,
				      .map_zero = map_zero,
				      .read = run_out_read,
				      .run = run_out_shell,
				      .wall = run_session_wall,
				      .packet = run_pcap_packet };
	run_names_host(r);
	r->out = (struct lang_out){ .p = p,
				    .h = &r->host,
				    .printer = o->printer,
				    .json = o->json,
				    .escape = o->escape,
				    .guard = o->guard };
	r->pid_fd = r->state = -1;
	k = loop_open(&r->loop, e);
	r->has_loop = k == 0;
	r->patience.end_fd = r->loop.end_fd;
	if (k == 0 && o->pid)
		k = watch_process(r, e);
	if (k == 0)
		k = run_sideband_open(r, e);
	if (k == 0)
		k = run_load(r, log, e);
	if (k == 0)
		k = open_ring(r, LANG_MAP_RING, &r->ring, e);
	if (k == 0)
		k = open_ring(r, LANG_MAP_CONTROL, &r->control, e);
	if (k < 0) {
		run_close(r);
		return k;
	}
	run_env_drop_types(env);
	*ret = r;
	return 0;
}

/* Runs all programs of a kind; true when there were any. */
static bool run_all(struct run *r, enum lang_kind kind)
{
	bool any = false;

	vec_each (&r->p->codes, c)
		for (size_t k = 0; run_point(r, c, 0)->kind == kind && k < c->n_points; k++) {
			bpf_run(r->prog_fd[c - r->p->codes.data]);
			any = true;
		}
	return any;
}

static int start_timers(struct run *r, struct err *e)
{
	if (r->o.limit_ns && loop_timer(&r->loop, RUN_ID_LIMIT, r->o.limit_ns, 0, e) < 0)
		return -e->code;
	vec_each (&r->p->codes, c)
		for (size_t k = 0; run_point(r, c, 0)->kind == LP_INTERVAL && k < c->n_points;
		     k++) {
			uint64_t ns = lang_point_every(run_point(r, c, k));
			int fd = loop_timer(&r->loop, RUN_ID_TIMER + (int)r->timers.n, ns, ns, e);

			if (fd < 0)
				return fd;
			vec_push(&r->timers, (uint32_t)(c - r->p->codes.data));
		}
	return 0;
}

static int attach_all(struct run *r, struct err *e)
{
	uint32_t key = LANG_INFO_START;
	uint64_t now = loop_clock(CLOCK_BOOTTIME);
	int k = 0;

	if (r->map_fd[LANG_MAP_INFO] >= 0)
		bpf_map_set(r->map_fd[LANG_MAP_INFO], &key, &now);
	if (run_all(r, LP_BEGIN))
		run_out_drain(r);
	if (!r->out.exit)
		k = run_attach(r, e);
	if (k == 0 && r->n_refused && r->n_refused == r->n_probes) {
		*e = r->refused;
		k = -e->code;
	}
	if (k == 0 && !r->out.exit)
		k = start_timers(r, e);
	if (k == 0 && r->map_fd[LANG_MAP_RING] >= 0)
		k = loop_watch_news(&r->loop, RUN_ID_RING, r->map_fd[LANG_MAP_RING], e);
	if (k >= 0 && r->map_fd[LANG_MAP_CONTROL] >= 0)
		k = loop_watch_news(&r->loop, RUN_ID_RING, r->map_fd[LANG_MAP_CONTROL], e);
	return k < 0 ? k : 0;
}

static void run_session_iterate(struct run *r)
{
	char buf[4096];

	vec_each (&r->iters, fd)
		while (read(*fd, buf, sizeof(buf)) > 0)
			run_out_drain(r);
}

static bool self_signal(struct run *r, int signal)
{
	bool any = false;

	vec_each (&r->p->codes, c) {
		const struct lang_point *pt = run_point(r, c, 0);
		const char *name = sigabbrev_np(signal);

		if (pt->kind == LP_SELF && name &&
		    (strcmp(pt->name, name) == 0 ||
		     (str_starts(pt->name, "SIG") && strcmp(pt->name + 3, name) == 0))) {
			bpf_run(r->prog_fd[c - r->p->codes.data]);
			any = true;
		}
	}
	return any;
}

/* True when it is over. */
static bool run_on_event(struct run *r, const struct loop_event *ev, int *code)
{
	int status;

	switch (ev->kind) {
	case LOOP_SIGNAL:
		if (ev->id == SIGCHLD) {
			if (!r->child.pid ||
			    waitpid(r->child.pid, &status, WNOHANG) != r->child.pid)
				return false;
			*code = workload_exit_code(status);
			r->child.pid = 0;
			return true;
		}
		if (self_signal(r, ev->id))
			return false;
		r->told = ev->id == SIGINT || ev->id == SIGTERM || ev->id == SIGHUP;
		return r->told;
	case LOOP_TIMER:
		if (ev->id == RUN_ID_LIMIT)
			return true;
		if ((size_t)(ev->id - RUN_ID_TIMER) < r->timers.n)
			bpf_run(r->prog_fd[r->timers.data[ev->id - RUN_ID_TIMER]]);
		return false;
	case LOOP_FD: return ev->id == RUN_ID_PID;
	}
	return false;
}

static int run_wait_for_end(struct run *r, int *code, struct err *e)
{
	bool over = r->out.exit;
	int k = 0;

	while (!over && k >= 0 && !r->write_error) {
		struct loop_event ev;

		k = loop_wait(&r->loop, r->p->uses_ring ? POLL_MS : -1, &ev, e);
		if (k > 0)
			over = run_on_event(r, &ev, code);
		if (!r->told) /* after a signal the probes are stopped first */
			run_out_drain(r);
		over |= r->out.exit;
	}
	return k < 0 ? k : 0;
}

int run_go(struct run *r, int *code, struct err *e)
{
	int k;

	r->n_probes = 0;
	vec_each (&r->p->codes, c)
		r->n_probes += (uint32_t)c->n_points;
	if (!r->o.quiet) {
		if (r->o.json)
			strbuf_printf(
				&r->out.text,
				"{\"type\": \"attached_probes\", \"data\": {\"probes\": %u}}\n",
				r->n_probes);
		else
			strbuf_printf(&r->out.text, "Attaching %u probe%s...\n", r->n_probes,
				      r->n_probes == 1 ? "" : "s");
		run_out_flush(r);
	}
	if (r->o.dry)
		return 0;
	k = attach_all(r, e);
	if (k == 0 && r->o.attached)
		r->o.attached(r->o.ctx);
	r->started = k == 0 && r->child.pid;
	if (r->started)
		k = workload_start(&r->child, r->o.command[0], code, e);
	if (k == 0) {
		run_session_iterate(r);
		if (!r->iters.n || r->attached.links.n > r->iters.n || r->attached.events.n ||
		    r->many.n || r->timers.n)
			k = run_wait_for_end(r, code, e);
	}
	if (k == 0) {
		run_stop(r); /* maps that END clears are not shown */
		run_handover_end(r);
		run_out_rest(r);
		run_sideband_settle(r);
		r->ignore = false;
		r->out.exit = false; /* messages of END are shown even after exit() */
		r->out.ending = true;
		run_all(r, LP_END);
		run_out_drain(r);
		if (!r->o.json && !r->o.plain)
			strbuf_puts(&r->out.text, "\n\n");
		r->out.printer->maps(&r->out);
		run_out_flush(r);
		if (r->out.exit_code)
			*code = r->out.exit_code;
	}
	run_detach(r);
	if (k == 0 && r->write_error && r->write_error != EPIPE)
		return err_set(e, r->write_error, "cannot write the output: %s",
			       strerror(r->write_error));
	return k;
}

static uint64_t own_events(const struct run *r)
{
	struct run_state state = { 0 };
	uint32_t key = 0;

	if (r->state < 0 || bpf_map_get(r->state, &key, &state) < 0)
		return 0;
	return state.own;
}

/* Reading the maps causes some events of kymo's own, so a few are not worth a note. */
static bool watches_itself(const struct run *r, uint64_t own)
{
	uint64_t seconds = 1 + (loop_now() - r->since) / 1000000000;

	return own > seconds * (1000 / POLL_MS) * 10 && own > r->out.messages / 4;
}

static uint64_t run_session_counter(const struct run *r, uint32_t which)
{
	uint64_t sum = 0, parts[1024] = { 0 };

	if (r->map_fd[LANG_MAP_COUNTERS] < 0 || r->host.ncpus > ARRAY_SIZE(parts) ||
	    bpf_map_get(r->map_fd[LANG_MAP_COUNTERS], &which, parts) < 0)
		return 0;
	for (unsigned i = 0; i < r->host.ncpus; i++)
		sum += parts[i];
	return sum;
}

#define PLURAL(n) ((n) == 1 ? "" : "s")
#define WERE(n) ((n) == 1 ? " was" : "s were")

/* What programs count, in words that "N message" and the like begin. */
static void run_session_counts(const struct run *r, struct strbuf *b)
{
	static const struct {
		uint32_t which;
		const char *what, *words;
	} counts[] = {
		{ LANG_COUNT_CONTROL_LOST, "order", "lost (print, clear, exit ...)" },
		{ LANG_COUNT_STACKS, "stack", "not kept: there are too many different ones" },
	};
	uint64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if ((n = run_session_counter(r, counts[i].which)))
			strbuf_printf(b, "%" PRIu64 " %s%s %s\n", n, counts[i].what, WERE(n),
				      counts[i].words);
	n = run_session_counter(r, LANG_COUNT_LOOPS);
	if (n)
		strbuf_printf(
			b, "a loop was ended by the kernel %" PRIu64 " time%s: it took too long\n",
			n, PLURAL(n));
}

void run_notes(const struct run *r, struct strbuf *b)
{
	uint64_t n = run_session_counter(r, LANG_COUNT_LOST);

	if (r->n_refused)
		strbuf_printf(b, "%u of %u probes were left out: %s%s\n", r->n_refused, r->n_probes,
			      r->refused.msg, r->n_refused > 1 ? ", ..." : "");
	if (n)
		strbuf_printf(b,
			      "%" PRIu64 " message%s lost, the ring was full: "
			      "BPFTRACE_PERF_RB_PAGES=%u makes it larger\n",
			      n, WERE(n), r->p->config.ring_pages * 4);
	if (r->unshown)
		strbuf_printf(b,
			      "%" PRIu64
			      " message%s not shown: they had come when the end did, and "
			      "would have taken longer than %d ms\n",
			      r->unshown, WERE(r->unshown), LOOP_REST_MS);
	n = own_events(r);
	/* tools do not say it */
	if ((watches_itself(r, n) && !r->o.plain) || (n && r->o.verbose))
		strbuf_printf(b,
			      "%" PRIu64 " event%s of kymo itself %s left out; --self shows them, "
			      "too\n",
			      n, PLURAL(n), n == 1 ? "was" : "were");
	n = 0;
	for (size_t i = 0; i < r->p->codes.n; i++)
		n += r->prog_fd[i] >= 0 ? bpf_missed(r->prog_fd[i]) : 0;
	if (n)
		strbuf_printf(b,
			      "%" PRIu64 " event%s missed, while the same probe was at work on "
			      "another one on the same CPU\n",
			      n, WERE(n));
	run_session_counts(r, b);
	vec_each (&r->p->fallible, f) {
		unsigned line, column;

		n = run_session_counter(r, f->counter);
		lang_place(r->p->source, r->p->source_n, f->pos, &line, &column);
		if (n)
			strbuf_printf(b, "%s:%u:%u: %s failed %" PRIu64 " time%s\n",
				      r->p->source_name, line, column, f->helper, n, PLURAL(n));
	}
	run_pcap_notes(r, b);
	if (r->p->uses_ustack && r->sideband.why.code)
		strbuf_printf(b, "user stacks are by frame pointers: %s\n", r->sideband.why.msg);
	for (size_t i = LANG_MAP_FIXED; i < r->p->maps.n; i++) {
		const struct lang_map *m = &r->p->maps.data[i];

		n = m->name ? run_session_counter(r, m->full_counter) : 0;
		if (n)
			strbuf_printf(b,
				      "%s is full (%u keys): %" PRIu64 " updates were refused; "
				      "BPFTRACE_MAP_KEYS_MAX=%u allows more\n",
				      m->name, m->entries, n, m->entries * 4);
	}
}

static void run_close_fds(const int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

void run_close(struct run *r)
{
	if (!r)
		return;
	run_handover_end(r);
	run_detach(r);
	if (r->started)
		workload_end(&r->child, &(int){ 0 });
	else
		workload_cancel(&r->child);
	run_sideband_close(r);
	run_pcap_close(r);
	bpf_ring_close(&r->ring);
	bpf_ring_close(&r->control);
	run_handover_close(r);
	run_close_fds(r->prog_fd, r->p->codes.n);
	run_close_fds(r->map_fd, r->p->maps.n);
	run_close_fds(&r->pid_fd, 1);
	run_close_fds(&r->state, 1);
	if (r->has_loop)
		loop_close(&r->loop);
	run_names_free(&r->names);
	lang_out_free(&r->out);
	vec_free(&r->many);
	vec_free(&r->iters);
	vec_free(&r->timers);
	for (size_t i = 0; r->prog_words && i < r->p->codes.n; i++)
		free(r->prog_words[i]);
	free(r->prog_words);
	free(r->map_fd);
	free(r->prog_fd);
	free(r->handover);
	free(r);
}
