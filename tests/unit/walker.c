/* SPDX-License-Identifier: MIT */
/*
 * The stack walker on the running kernel: programs whose stacks are known
 * (tests/work/stacks.c) are sampled, and the chains must be those stacks.
 */
#include "tap.h"

#include <elf.h>
#include <libgen.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>

#include "../lib/session.h"
#include "base/str.h"
#include "config.h"
#include "live/walk/walker_priv.h"

struct range {
	char name[32];
	uint64_t start, end;
};

struct seen {
	char text[256];
	size_t n;
};

struct capture {
	VEC(struct range) ranges;
	VEC(struct seen) stacks; /* by text */
	size_t samples, bottom, flags_fp, flags_signal, kernel_mode, ids;
	size_t end[UNWIND_END_MAX];
	uint32_t deepest;
	struct walker_stats stats;
	bool go;
	int code;
};

static const char *work;
static uint64_t hz = 997;

static const char *name_of(const struct capture *c, uint64_t addr, uint64_t back)
{
	for (size_t i = c->ranges.n; i--;) /* the latest wins */
		if (addr - back >= c->ranges.data[i].start && addr - back < c->ranges.data[i].end)
			return c->ranges.data[i].name;
	return "?";
}

/* "burn spin recurse*11 run main ?*3": what is not known to the program is "?". */
static void stack_text(const struct capture *c, const struct walker_sample *s, char *buf,
		       size_t size)
{
	struct strbuf b = { 0 };
	const char *last = NULL;
	unsigned times = 0;

	for (uint32_t i = 0; i <= s->n_user; i++) {
		/* An interrupted address is not a return address, but no function here starts with
		 * the instruction after which it is interrupted, so one byte back does no harm. */
		const char *name = i < s->n_user ? name_of(c, s->user[i], i > 0) : NULL;

		if (last && name && !strcmp(last, name)) {
			times++;
			continue;
		}
		if (times > 1)
			strbuf_printf(&b, "*%u", times);
		if (name)
			strbuf_printf(&b, "%s%s", last ? " " : "", name);
		last = name;
		times = 1;
	}
	snprintf(buf, size, "%s", strbuf_str(&b));
	strbuf_free(&b);
}

static int on_sample(void *ctx, const struct walker_sample *s)
{
	struct capture *c = ctx;
	char text[256];

	if (!c->go || s->end == UNWIND_NONE)
		return 0;
	c->samples++;
	c->end[s->end]++;
	c->bottom += s->end == UNWIND_BOTTOM;
	c->flags_fp += !!(s->flags & UNWIND_USED_FP);
	c->flags_signal += !!(s->flags & UNWIND_SIGNAL);
	c->kernel_mode += !s->user_mode;
	c->ids += s->id == 7;
	if (s->n_user > c->deepest)
		c->deepest = s->n_user;
	stack_text(c, s, text, sizeof(text));
	vec_each (&c->stacks, k) {
		if (!strcmp(k->text, text)) {
			k->n++;
			return 0;
		}
	}
	{
		struct seen *n = vec_add(&c->stacks);

		snprintf(n->text, sizeof(n->text), "%s", text);
		n->n = 1;
	}
	return 0;
}

/* The program's own words: ranges, then "go". */
static void read_words(struct capture *c, int fd, char *buf, size_t *n)
{
	ssize_t got = read(fd, buf + *n, 8191 - *n);
	char *line = buf, *end;

	if (got <= 0)
		return;
	*n += (size_t)got;
	buf[*n] = '\0';
	while ((end = strchr(line, '\n'))) {
		struct range r;

		*end = '\0';
		if (sscanf(line, "range %31s %" SCNx64 " %" SCNx64, r.name, &r.start, &r.end) == 3)
			vec_push(&c->ranges, r);
		if (!strncmp(line, "go", 2))
			c->go = true;
		line = end + 1;
	}
	*n = strlen(line);
	memmove(buf, line, *n + 1);
}

static void turn(struct session *s, struct capture *c, int words, char *buf, size_t *n)
{
	struct pollfd fds[SESSION_CPUS + 2];

	for (int i = 0; i < s->n; i++)
		fds[i] = (struct pollfd){ .fd = s->ring[i].fd, .events = POLLIN };
	fds[s->n] = (struct pollfd){ .fd = walker_fd(s->w), .events = POLLIN };
	fds[s->n + 1] = (struct pollfd){ .fd = words, .events = POLLIN };
	poll(fds, (nfds_t)s->n + 2, 20);
	read_words(c, words, buf, n); /* before samples, whose names it tells */
	session_turn(s, 0, on_sample, c);
}

/* Run a program of tests/work under the walker. false when that cannot be done here. */
static bool capture(struct capture *c, const struct walker_opts *o, char **argv, struct err *e)
{
	struct session s = { 0 };
	struct walker *w = NULL;
	char path[4200], buf[8192];
	int go = -1, out[2], status = 0, saved;
	size_t n = 0;

	memset(c, 0, sizeof(*c));
	if (walker_open(o, &w, e) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/%s", work, argv[0]);
	argv[0] = path;
	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	saved = dup(1);
	fflush(stdout);
	dup2(out[1], 1);
	session_command(&s, argv, &go);
	dup2(saved, 1);
	close(saved);
	close(out[1]);
	if (session_open(&s, w, s.child, hz, PERF_COUNT_SW_CPU_CLOCK, e) < 0) {
		kill(s.child, SIGKILL);
		waitpid(s.child, &status, 0);
		session_close(&s);
		walker_close(w);
		return false;
	}
	walker_settle(w, 10000); /* the libraries every program has */
	session_go(&go);
	while (waitpid(s.child, &status, WNOHANG) != s.child)
		turn(&s, c, out[0], buf, &n);
	turn(&s, c, out[0], buf, &n);
	walker_settle(w, 3000);
	turn(&s, c, out[0], buf, &n);
	walker_stats(w, &c->stats);
	c->code = status;
	session_close(&s);
	walker_close(w);
	close(out[0]);
	return true;
}

static void capture_free(struct capture *c)
{
	vec_free(&c->ranges);
	vec_free(&c->stacks);
}

static size_t count(const struct capture *c, const char *pattern)
{
	size_t n = 0;

	vec_each (&c->stacks, k)
		n += str_glob(pattern, k->text) ? k->n : 0;
	return n;
}

static void show(const struct capture *c)
{
	size_t shown = 0;

	printf("# %zu samples, %zu whole, exit status %d\n", c->samples, c->bottom, c->code);
	for (int i = 0; i < UNWIND_END_MAX; i++)
		if (c->end[i])
			printf("# end %s: %zu\n", unwind_end_name((enum unwind_end)i), c->end[i]);
	vec_each (&c->stacks, k)
		if (shown++ < 12)
			printf("# %5zu %s\n", k->n, k->text);
}

struct expect {
	const char *mode, *n;
	const char *pattern;	   /* of the stacks that matter */
	unsigned percent;	   /* of all samples must be so */
	unsigned whole;		   /* percent that reach the bottom */
	enum unwind_end other_end; /* if not the bottom: how they end */
	const char *prog;	   /* NULL: stacks */
};

/*
 * Not all samples are in the function of interest: the program starts, prints
 * and ends as well, and on an emulated machine that takes its time. What must
 * not happen at all is a stack that is neither.
 */
static const struct expect cases[] = {
	{ "recurse", "10", "burn spin recurse?11 run main *", 70, 93, 0, NULL },
	{ "recurse", "200", "burn spin recurse?201 run main *", 70, 93, 0, NULL },
	{ "recurse", "600", "burn spin recurse?601 run main *", 70, 93, 0, NULL },
	{ "recurse", "1500", "burn spin recurse?1022", 70, 0, UNWIND_DEPTH, NULL },
	{ "thread", NULL, "burn spin thread_main *", 70, 93, 0, NULL },
	{ "signal", NULL, "burn spin handler *wait_here run main *", 70, 93, 0, NULL },
	{ "nested", NULL, "burn spin handler *outer_handler *wait_here run main *", 70, 93, 0,
	  NULL },
	{ "syscall", NULL, "*reader run main *", 70, 93, 0, NULL },
	{ "vdso", NULL, "*clock run main *", 70, 93, 0, NULL },
	{ "alloca", "5000", "burn spin large variable run main *", 70, 93, 0, NULL },
	{ "fork", NULL, "burn spin child run main *", 25, 95, 0, NULL },
	{ "fork", NULL, "burn spin run main *", 25, 95, 0, NULL },
	{ "vfork", NULL, "burn spin child run main *", 70, 95, 0, NULL },
	{ "exec", "10", "burn spin recurse?11 run main *", 70, 95, 0, NULL },
	{ "deleted", "10", "burn spin recurse?11 run main *", 60, 95, 0, NULL },
#if defined(__x86_64__)
	{ "jit", NULL, "burn spin ? jit_call run main *", 70, 95, 0, NULL },
	{ "jit-bare", NULL, "burn spin ?", 60, 0, UNWIND_NO_TABLE, NULL },
#else
	/* A frame record does not tell the stack pointer; it goes on if jit_call saves the frame
	 * pointer. Code without a record of its own leads to the one before: not to be told. */
	{ "jit", NULL, "burn spin ? jit_call*", 70, 0, 0, NULL },
#endif
	{ "maps", "5000", "burn spin recurse?11 run main *", 40, 90, 0, NULL },
	{ "coroutine", NULL, "burn spin co_main*", 70, 95, 0, NULL },
	{ NULL, NULL, "burn spin plug[12] main *", 60, 90, 0, "plugs" },
};

static bool exists(const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", work, name);
	return access(path, X_OK) == 0;
}

static void run_case(const struct expect *x)
{
	const char *prog = x->prog ? x->prog : "stacks";
	struct walker_opts o = { .copy_rate = 1000, .check_known = true };
	char *argv[] = { (char *)prog, (char *)x->mode, "400", (char *)x->n, NULL };
	char *argv_plugs[] = { (char *)prog, "150", NULL };
	const char *mode = x->mode ? x->mode : prog;
	struct capture c;
	struct err e = { 0 };
	int bad = tap_bad;
	size_t want;

	if (!exists(prog)) {
		SKIP("the program is not built here");
		return;
	}
	if (!capture(&c, &o, x->mode ? argv : argv_plugs, &e)) {
		CHECK_CASE(false, "%s: %.200s", mode, e.msg);
		return;
	}
	want = count(&c, x->pattern);
	CHECK_CASE(c.samples >= 20, "%s %s: samples came", mode, x->n ? x->n : "");
	CHECK_CASE(want * 100 >= c.samples * x->percent, "%s %s: %s", mode, x->n ? x->n : "",
		   x->pattern);
	if (x->other_end)
		CHECK_CASE(c.end[x->other_end] * 100 >= want * 95, "%s: ends with %s", mode,
			   unwind_end_name(x->other_end));
	else
		CHECK_CASE(c.bottom * 100 >= c.samples * x->whole, "%s: %u %% are whole", mode,
			   x->whole);
	if (x->mode && !strcmp(x->mode, "signal"))
		CHECK(c.flags_signal * 100 >= c.samples * 70);
	if (x->mode && !strcmp(x->mode, "syscall"))
		CHECK(c.kernel_mode * 2 >= c.samples);
	if (x->mode && !strncmp(x->mode, "jit", 3) && !x->other_end)
		CHECK(c.flags_fp * 100 >= c.samples * 70);
	CHECK_INT(c.ids, c.samples);
	CHECK_CASE(c.stats.known_wrong == 0, "%s: the same without memory", mode);
	if (tap_bad > bad)
		show(&c);
	capture_free(&c);
}

/* Depth and chains as asked for. */
static void options(void)
{
	struct walker_opts o = { .depth = 5, .no_kernel = true };
	char *argv[] = { "stacks", "recurse", "200", "50", NULL };
	struct capture c;
	struct err e;

	if (!capture(&c, &o, argv, &e))
		return;
	CHECK(c.deepest == 5);
	CHECK(count(&c, "burn spin recurse?3") * 100 >= c.samples * 70);
	CHECK(c.end[UNWIND_DEPTH] * 100 >= c.samples * 70);
	if (tap_bad)
		show(&c);
	capture_free(&c);
}

/* Samples as close as the kernel allows at the moment. */
static uint64_t often(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned rate = 0;

	if (f && fscanf(f, "%u", &rate) != 1)
		rate = 0;
	if (f)
		fclose(f);
	return rate > 20000 ? 9973 : rate > 2000 ? rate / 2 : 997;
}

/*
 * What is known of addresses that were met before changes nothing, however the frames change: each
 * stack was walked both ways.
 */
static void remembered(void)
{
	struct walker_opts o = { .copy_rate = 1000, .check_known = true };
	char *seed[] = { "1", "20", "300" };
	struct capture c;
	struct err e;

	if (!exists("shifts")) {
		SKIP("the program is not built here");
		return;
	}
	hz = often();
	for (size_t i = 0; i < ARRAY_SIZE(seed); i++) {
		char *argv[] = { "shifts", "400", seed[i], NULL };

		if (!capture(&c, &o, argv, &e)) {
			CHECK_CASE(false, "shifts %s: %.200s", seed[i], e.msg);
			continue;
		}
		CHECK_CASE(c.code == 0, "shifts %s ends well", seed[i]);
		CHECK_CASE(c.stats.known_checked >= 20, "%s: stacks were compared", seed[i]);
		CHECK_CASE(c.stats.known_frames > 0, "%s: some frames were known", seed[i]);
		CHECK_INT(c.stats.known_wrong, 0);
		capture_free(&c);
	}
	hz = 997;
}

/* The second time tables come from the cache, and give the same stacks. */
static void cached(void)
{
	char dir[] = "/tmp/kymo-walker-XXXXXX", cmd[64];
	struct walker_opts o = { .cache = true, .cache_dir = dir };
	struct capture c;
	struct err e;

	if (!mkdtemp(dir))
		return;
	for (int i = 0; i < 2; i++) {
		char *argv[] = { "stacks", "recurse", "200", "50", NULL };

		if (!capture(&c, &o, argv, &e))
			return;
		CHECK(c.stats.tables >= 2);
		CHECK_INT(c.stats.tables_cached > 0, i);
		CHECK(count(&c, "burn spin recurse?51 run main *") * 100 >= c.samples * 60);
		capture_free(&c);
	}
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
}

/* No room for tables: stacks end at once, and the statistics say why. */
static void limits(void)
{
	struct walker_opts o = { .table_bytes = 1, .maps = 16, .procs = 4 };
	char *argv[] = { "stacks", "recurse", "200", "50", NULL };
	struct capture c;
	struct err e;

	if (!capture(&c, &o, argv, &e))
		return;
	CHECK(c.stats.refused_tables > 0);
	CHECK_INT(c.stats.table_bytes, 0);
#if defined(__x86_64__) /* on aarch64, libraries have frame pointers */
	CHECK(c.bottom == 0);
#endif
	capture_free(&c);
}

static __attribute__((noinline)) void wait_one_way(void)
{
	usleep(2000);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void wait_another_way(void)
{
	usleep(2000);
	__asm__ volatile("" ::: "memory");
}

static void *wait_in_thread(void *ctx)
{
	(void)ctx;
	usleep(20000);
	return NULL;
}

/* No room for sums of time off the CPU, nor for threads: it is counted, and a target refused. */
static void off_limits(void)
{
	struct walker_opts o = { .off = { .on = true, .sums = 1, .threads = 1 } };
	struct walker_stats st = { 0 };
	struct err e = { 0 };
	struct walker *w;
	pthread_t thread;

	if (walker_open(&o, &w, &e) < 0) {
		SKIP("no time off the CPU here");
		return;
	}
	CHECK_INT(walker_off_target(w, (int32_t)gettid(), true, &e), 0);
	CHECK_INT(walker_off_target(w, 1, true, &e), -E2BIG);
	CHECK(strstr(e.msg, "up to 1 threads") != NULL);
	CHECK_INT(walker_off_start(w, &e), 0);
	walker_off_switch(w, true);
	for (int i = 0; i < 500 && !st.off_lost_sums; i++) {
		wait_one_way();
		wait_another_way();
		walker_stats(w, &st);
	}
	CHECK(st.off_lost_sums > 0);
	walker_close(w);

	o.off.all = true;
	o.off.sums = 0;
	if (walker_open(&o, &w, &e) < 0)
		return;
	CHECK_INT(walker_off_start(w, &e), 0);
	walker_off_switch(w, true);
	for (int i = 0; i < 100 && !st.off_lost_tasks; i++) {
		if (pthread_create(&thread, NULL, wait_in_thread, NULL) != 0)
			break;
		wait_one_way();
		pthread_join(thread, NULL);
		walker_stats(w, &st);
	}
	CHECK(st.off_lost_tasks > 0);
	walker_close(w);
}

#if HAVE_WALKER
/* Is a rule that its number says the same as when it is looked up? Whether there is such a number.
 */
static bool same_direct(struct ehframe_rule r)
{
	uint32_t d = walker_rule_direct(&r);
	struct ehframe_rule back;

	if (!d)
		return false;
	walk_direct_rule(d, &back);
	if (d < WALK_DIRECT || d > UINT16_MAX || memcmp(&back, &r, sizeof(r)) != 0)
		CHECK(!"a rule and its number differ");
	return true;
}

static void direct_rules(void)
{
	struct ehframe_rule r = { .ra = EHFRAME_RA_CFA };
	size_t n = 0;

	for (r.cfa = EHFRAME_CFA_NONE; r.cfa <= EHFRAME_CFA_DEREF_FP; r.cfa++)
		for (r.cfa_off = -16; r.cfa_off <= 8400; r.cfa_off += 4)
			for (r.ra_off = -66; r.ra_off < 8; r.ra_off++) {
				r.fp = EHFRAME_FP_SAME;
				r.fp_off = 0;
				n += same_direct(r);
				r.fp = EHFRAME_FP_CFA;
				for (int above = 0; above < 9; above++) {
					r.fp_off = (short)(r.ra_off - above);
					n += same_direct(r);
				}
			}
	/*
	 * By either register, 1,024 sizes of frames: the return address below the CFA and the frame
	 * pointer in one of eight places, or the lower of both where the register points to: of the
	 * 66 distances tried here one is the first way, too, and no number says a rule twice.
	 */
	CHECK_INT(n, 2 * (1024 * 8 + 65 * 8));
	/* What most frames of x86_64 and aarch64 have; and what looks like it. */
	CHECK(same_direct(
		(struct ehframe_rule){ .cfa = EHFRAME_CFA_SP, .cfa_off = 48, .ra_off = -1 }));
	CHECK(same_direct((struct ehframe_rule){ .cfa = EHFRAME_CFA_FP,
						 .cfa_off = 16,
						 .fp = EHFRAME_FP_CFA,
						 .fp_off = -2,
						 .ra_off = -1 }));
	CHECK(same_direct((struct ehframe_rule){ .cfa = EHFRAME_CFA_SP,
						 .cfa_off = 96,
						 .fp = EHFRAME_FP_CFA,
						 .fp_off = -12,
						 .ra_off = -11 }));
	CHECK(!same_direct((struct ehframe_rule){ .cfa = EHFRAME_CFA_SP,
						  .cfa_off = 48,
						  .ra = EHFRAME_RA_CFA | EHFRAME_RA_SIGNAL,
						  .ra_off = -1 }));
}
#endif

static int handed_out(void *ctx, const struct walker_sample *s)
{
	(void)s;
	++*(int *)ctx;
	return 0;
}

/* A stack that comes here late, on a busy machine, waits for what maps its code all the same. */
static void late(void)
{
	struct walker_opts o = { .copy_rate = 100 };
	struct unwind_regs regs = { .machine = EM_X86_64 };
	uint8_t stack[256] = { 0 };
	struct walker_stack s = {
		.pid = 1, .tid = 1, .time = 1, .regs = &regs, .data = stack, .size = sizeof(stack)
	};
	struct walker *w;
	struct err e;
	int n = 0;

	if (walker_open(&o, &w, &e) < 0)
		return;
	walker_copy(w, &s);
	CHECK_INT(walker_poll(w, 0, handed_out, &n, &e), 0);
	CHECK_INT(n, 0);
	CHECK(walker_waiting(w));
	walker_settle(w, 0);
	CHECK_INT(walker_poll(w, 0, handed_out, &n, &e), 1);
	CHECK(!walker_waiting(w));
	walker_close(w);
}

int main(int argc, char **argv)
{
	struct walker_opts o = { 0 };
	struct walker *w;
	struct err e = { 0 };
	char self[4096], dir[4160];
	const char *env = getenv("KYMO_WORK");
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	snprintf(dir, sizeof(dir), "%s/../work", dirname(self));
	work = env ? env : dir;
#if HAVE_WALKER
	if (argc < 2)
		direct_rules();
#endif
	if (walker_open(&o, &w, &e) < 0) {
		printf("# %s (%s)\n", e.msg, e.hint);
		SKIP("no stack walker here");
		return tap_end();
	}
	walker_close(w);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (argc < 2 || (cases[i].mode && !strcmp(argv[1], cases[i].mode)) ||
		    (cases[i].prog && !strcmp(argv[1], cases[i].prog)))
			run_case(&cases[i]);
	if (argc < 2 || !strcmp(argv[1], "shifts"))
		remembered();
	if (argc < 2) {
		options();
		late();
		cached();
		limits();
		off_limits();
	}
	return tap_end();
}
