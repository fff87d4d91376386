/* SPDX-License-Identifier: MIT */
/*
 * uwstep [-w] PROGRAM [ARGS]: single-step a program between two `int3` and
 * unwind its stack at every instruction. The truth is a shadow stack kept from
 * the calls, returns and signals that were seen to happen. With -w the walker in
 * the kernel does it too: a breakpoint at each instruction takes a sample there.
 *
 * Prints "steps N, wrong N, ..." and, for the first few wrong chains, both.
 * Exit code 0 when all were right, 1 when not, 2 when it could not be tried.
 * x86_64 only.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/vec.h"
#include "live/walk/walker.h"
#include "sym/unwind/unwind.h"

#if defined(__x86_64__)

struct mapping {
	struct unwind_map m;
	char path[256];
	struct ehframe *cfi;
	struct ehframe_table *table;
};

struct shadow {
	uint64_t ret, sp;
	bool signal; /* ret is an interrupted address */
};

static pid_t child;
static VEC(struct mapping) maps;
static VEC(struct shadow) shadow;
static VEC(uint64_t) below; /* the callers of where stepping started */
static struct unwind_cache cache;
static bool landing;	     /* an exception is about to reach its handler */
static uint64_t image[4096]; /* the vDSO, or any image that has no file */

static bool peek(uint64_t addr, void *buf, size_t n)
{
	struct iovec local = { buf, n }, remote = { (void *)addr, n };

	return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

static void open_table(struct mapping *m)
{
	struct err e = { 0 };
	char path[64];

	if (!strcmp(m->path, "[vdso]")) {
		size_t n = m->m.end - m->m.start;

		if (n > sizeof(image) || !peek(m->m.start, image, n) ||
		    ehframe_open_mem(image, n, 0, &m->cfi, &e) < 0)
			return;
	} else if (m->path[0] == '/') {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, child,
			 m->m.start, m->m.end);
		if (ehframe_open(path, &m->cfi, &e) < 0)
			return;
	}
	if (m->cfi && ehframe_build(m->cfi, &m->table, &e) == 0) {
		m->m.table = m->table;
		m->m.cfi = m->cfi;
	}
}

static void read_maps(void)
{
	char name[64], line[512];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", child);
	f = fopen(name, "r");
	for (size_t i = 0; i < maps.n; i++) {
		ehframe_table_free(maps.data[i].table);
		ehframe_close(maps.data[i].cfi);
	}
	maps.n = 0;
	unwind_cache_reset(&cache);
	while (f && fgets(line, sizeof(line), f)) {
		struct mapping m = { 0 };
		char perms[8] = "";

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255[^\n]",
			   &m.m.start, &m.m.end, perms, &m.m.pgoff, m.path) >= 4 &&
		    perms[2] == 'x') {
			open_table(&m);
			vec_push(&maps, m);
		}
	}
	if (f)
		fclose(f);
}

static bool find_map(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	(void)ctx;
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < maps.n; i++) {
			if (pc >= maps.data[i].m.start && pc < maps.data[i].m.end) {
				*ret = maps.data[i].m;
				return true;
			}
		}
		if (!again)
			read_maps();
	}
	return false;
}

static bool read_mem(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	return peek(addr, buf, n);
}

static void unwind_now(const struct user_regs_struct *u, uint64_t *chain, uint32_t max,
		       struct unwind_result *ret)
{
	static uint8_t stack[16384];
	struct unwind_regs regs = {
		.machine = EM_X86_64,
		.known = 0x1ffff,
		.r = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8, u->r9,
		       u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip },
	};
	struct unwind_input in = {
		.regs = &regs, .stack = stack, .find = find_map, .read = read_mem
	};

	in.stack_size = sizeof(stack) - u->rsp % 4096 % sizeof(stack);
	if (!peek(u->rsp, stack, in.stack_size))
		in.stack_size = 0;
	unwind_stack(&in, &cache, chain, max, ret);
}

/* ---- the walker in the kernel ---- */

static struct walker *walker;
static int breakpoint = -1;
static struct perf_event_attr breakpoint_attr = {
	.type = PERF_TYPE_BREAKPOINT,
	.size = sizeof(breakpoint_attr),
	.bp_type = HW_BREAKPOINT_X,
	.bp_len = sizeof(long),
	.sample_period = 1,
	.exclude_kernel = 1,
};
static struct {
	uint64_t chain[WALKER_DEPTH_MAX];
	uint32_t n, samples;
	enum unwind_end end;
} walked;

static int on_walked(void *ctx, const struct walker_sample *s)
{
	(void)ctx;
	/* A repeated instruction hits once a turn; the first is the one that was foreseen. */
	if (s->ip != breakpoint_attr.bp_addr || walked.samples++)
		return 0;
	memcpy(walked.chain, s->user, s->n_user * sizeof(uint64_t));
	walked.n = s->n_user;
	walked.end = s->end;
	return 0;
}

static bool walker_start(uint64_t pc)
{
	int32_t pid = child;
	struct walker_opts o = { .pids = &pid, .n_pids = 1 };
	struct err e = { 0 };

	breakpoint_attr.bp_addr = pc;
	breakpoint = (int)syscall(SYS_perf_event_open, &breakpoint_attr, child, -1, -1, 0);
	if (breakpoint < 0 || walker_open(&o, &walker, &e) < 0 ||
	    walker_attach(walker, breakpoint, 1, &e) < 0) {
		printf("# no walker: %s\n", e.code ? e.msg : strerror(errno));
		return false;
	}
	walker_settle(walker, 5000);
	return true;
}

static void walker_at(uint64_t pc)
{
	breakpoint_attr.bp_addr = pc;
	ioctl(breakpoint, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &breakpoint_attr);
	walked.samples = 0;
}

enum kind { PLAIN, CALL, RETURN, JUMP, SIGRETURN, BREAK };

static enum kind instruction(const struct user_regs_struct *u)
{
	uint8_t b[16] = { 0 }, *p = b;

	if (!peek(u->rip, b, sizeof(b)) && !peek(u->rip, b, 4))
		return PLAIN;
	while (*p == 0xf2 || *p == 0xf3 || *p == 0x3e || *p == 0x66 || (*p >= 0x40 && *p <= 0x4f))
		p++;
	if (*p == 0xe8 || (*p == 0xff && (p[1] >> 3 & 7) == 2))
		return CALL;
	if (*p == 0xc3 || *p == 0xc2)
		return RETURN;
	if (*p == 0xff && (p[1] >> 3 & 7) == 4)
		return JUMP;
	if (*p == 0x0f && p[1] == 0x05 && u->rax == 15)
		return SIGRETURN;
	return *p == 0xcc ? BREAK : PLAIN;
}

/* What the instruction before did to the stack of callers. */
static void follow(enum kind did, const struct user_regs_struct *old,
		   const struct user_regs_struct *now)
{
	uint64_t ret;

	if (did == CALL && now->rsp == old->rsp - 8 && peek(now->rsp, &ret, 8)) {
		vec_push(&shadow, (struct shadow){ ret, now->rsp, false });
	} else if (did == SIGRETURN) {
		while (shadow.n && !shadow.data[shadow.n - 1].signal)
			shadow.n--;
		if (shadow.n)
			shadow.n--;
	} else {
		/* Returned, or jumped out (longjmp, exceptions): frames that the stack pointer has
		 * left are gone. A function that only takes its return address into a register
		 * (vfork) leaves none. */
		bool left =
			did == RETURN || (did == JUMP && shadow.n &&
					  (landing || now->rip == shadow.data[shadow.n - 1].ret));

		landing = landing && did != JUMP;

		while (shadow.n && !shadow.data[shadow.n - 1].signal &&
		       now->rsp - shadow.data[shadow.n - 1].sp < 8u << 20 &&
		       now->rsp > shadow.data[shadow.n - 1].sp + (left ? 0 : 8)) {
			left = true;
			shadow.n--;
		}
	}
}

static void followed_signal(const struct user_regs_struct *old, const struct user_regs_struct *now)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t at[sizeof(code)];
	uint64_t ret;

	if (!peek(now->rsp, &ret, 8) || !peek(ret, at, sizeof(at)) || memcmp(at, code, sizeof(at)))
		return; /* no handler */
	vec_push(&shadow, (struct shadow){ old->rip, old->rsp, true });
	vec_push(&shadow, (struct shadow){ ret, now->rsp, false });
}

static const char *where(uint64_t pc)
{
	static char buf[4][320];
	static unsigned next;
	char *b = buf[next++ % 4];

	for (size_t i = 0; i < maps.n; i++) {
		if (pc >= maps.data[i].m.start && pc < maps.data[i].m.end) {
			const char *slash = strrchr(maps.data[i].path, '/');

			snprintf(b, sizeof(buf[0]), "%s+%#" PRIx64,
				 slash ? slash + 1 : maps.data[i].path,
				 pc - maps.data[i].m.start + maps.data[i].m.pgoff);
			return b;
		}
	}
	snprintf(b, sizeof(buf[0]), "%#" PRIx64, pc);
	return b;
}

static struct {
	uint64_t steps, wrong, full, fp, signal, deepest, not_bottom, jump, rewritten;
	uint64_t walked, walked_full, walked_lost, walked_wrong;
} count;

/*
 * In the middle of longjmp and of an exception's landing, the library already
 * describes the function that is jumped to: its callers must be those of some
 * frame below. known counts how many of the chain's innermost frames may be new.
 */
static bool chain_after_jump(const uint64_t *chain, const struct unwind_result *r, size_t known)
{
	size_t n;

	if (r->end != UNWIND_BOTTOM || r->n < below.n + known)
		return false;
	n = r->n - below.n - known; /* frames that the shadow must have too */
	if (n > shadow.n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (chain[known + i] != shadow.data[n - 1 - i].ret)
			return false;
	return true;
}

static bool sets_stack_pointer(uint64_t pc)
{
	uint8_t b[3];

	return peek(pc, b, 3) && (b[0] & 0xf8) == 0x48 && b[1] == 0x89 && (b[2] & 0xc7) == 0xc4;
}

static void check_chain(const struct user_regs_struct *now, uint64_t *chain,
			struct unwind_result *r)
{
	size_t want = 1 + shadow.n + below.n;
	uint64_t ret;
	bool same;

	unwind_now(now, chain, 4096, r);
	count.steps++;
	count.full += !!(r->flags & UNWIND_USED_FULL);
	count.fp += !!(r->flags & UNWIND_USED_FP);
	count.signal += !!(r->flags & UNWIND_SIGNAL);
	count.not_bottom += r->end != UNWIND_BOTTOM;
	if (r->n > count.deepest)
		count.deepest = r->n;
	same = r->n == want && chain[0] == now->rip && r->end == UNWIND_BOTTOM;
	for (size_t i = 0; i < shadow.n && 1 + i < r->n; i++) {
		const struct shadow *s = &shadow.data[shadow.n - 1 - i];

		if (chain[1 + i] == s->ret)
			continue;
		same = false;
		/* An exception's handler is reached by overwriting a return address. Until the jump
		 * there, nobody could tell the callers. */
		if (!s->signal && peek(s->sp, &ret, 8) && ret != s->ret)
			landing = true;
	}
	for (size_t i = 0; i < below.n && same; i++)
		same = chain[1 + shadow.n + i] == below.data[i];
	if (!same && (r->flags & UNWIND_USED_FULL
			      ? chain_after_jump(chain, r, 2)
			      : sets_stack_pointer(now->rip) && chain_after_jump(chain, r, 1))) {
		count.jump++;
		return;
	}
	if (landing && !same) {
		count.rewritten++;
		return;
	}
	if (same || count.wrong++ >= 5)
		return;
	printf("# wrong at %s: %s, flags %#x, %u frames, want %zu\n", where(now->rip),
	       unwind_end_name(r->end), r->flags, r->n, want);
	for (size_t i = 0; i < r->n || i < want; i++) {
		uint64_t w = i == 0	     ? now->rip
			     : i <= shadow.n ? shadow.data[shadow.n - i].ret
			     : i < want	     ? below.data[i - 1 - shadow.n]
					     : 0;

		printf("#   %2zu got %-40s want %s\n", i, i < r->n ? where(chain[i]) : "-",
		       i < want ? where(w) : "-");
	}
}

/* What the kernel walked when it ran the instruction that was checked a moment ago. */
static void check_walked(const uint64_t *chain, const struct unwind_result *r)
{
	struct err e;
	bool same;

	walker_poll(walker, 0, on_walked, NULL, &e);
	if (!walked.samples)
		return; /* a system call or fault got in between */
	if (r->flags & UNWIND_USED_FULL) {
		count.walked_full += walked.end == UNWIND_NEEDS_FULL;
		return;
	}
	count.walked++;
	/* Code that the dynamic linker calls while it resolves a symbol (an IFUNC's resolver) is in
	 * a file whose rules do not follow rbx. It says so, and a copy of the stack would cure it.
	 */
	if (walked.end == UNWIND_NO_REGISTER && r->end == UNWIND_BOTTOM) {
		count.walked_lost++;
		return;
	}
	same = walked.n == r->n && walked.end == r->end &&
	       !memcmp(walked.chain, chain, r->n * sizeof(uint64_t));
	if (same || count.walked_wrong++ >= 5)
		return;
	printf("# the kernel is wrong at %s: %s, %u frames, want %s, %u\n", where(chain[0]),
	       unwind_end_name(walked.end), walked.n, unwind_end_name(r->end), r->n);
	for (uint32_t i = 0; i < walked.n || i < r->n; i++)
		printf("#   %2u got %-40s want %s\n", i,
		       i < walked.n ? where(walked.chain[i]) : "-",
		       i < r->n ? where(chain[i]) : "-");
}

static bool wait_stop(int *status)
{
	return waitpid(child, status, __WALL) == child && WIFSTOPPED(*status);
}

/* Up to the first int3. */
static bool run_to_start(struct user_regs_struct *u)
{
	int status, sig = 0;
	uint8_t before;

	for (;;) {
		if (ptrace(PTRACE_CONT, child, 0, sig) < 0 || !wait_stop(&status))
			return false;
		ptrace(PTRACE_GETREGS, child, 0, u);
		if (WSTOPSIG(status) == SIGTRAP && peek(u->rip - 1, &before, 1) && before == 0xcc)
			return true;
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
}

static int step_through(bool with_walker)
{
	static uint64_t chain[4096];
	struct user_regs_struct now, old;
	struct unwind_result r;
	int status, sig = 0;

	if (!run_to_start(&now)) {
		printf("# the program ended before its first int3\n");
		return 2;
	}
	read_maps();
	unwind_now(&now, chain, 4096, &r);
	for (uint32_t i = 1; i < r.n; i++)
		vec_push(&below, chain[i]);
	if (r.end != UNWIND_BOTTOM)
		printf("# the start is not whole: %s at %s\n", unwind_end_name(r.end),
		       where(r.end_pc));
	if (with_walker && !walker_start(now.rip))
		return 2;
	for (;;) {
		enum kind kind = instruction(&now);

		check_chain(&now, chain, &r);
		if (walker)
			walker_at(now.rip);
		if (kind == BREAK)
			break;
		old = now;
		if (ptrace(PTRACE_SINGLESTEP, child, 0, sig) < 0 || !wait_stop(&status))
			break;
		ptrace(PTRACE_GETREGS, child, 0, &now);
		if (walker && !sig)
			check_walked(chain, &r);
		if (sig) {
			/* The stop is before the handler's first instruction. */
			followed_signal(&old, &now);
			sig = 0;
			continue;
		}
		if (WSTOPSIG(status) != SIGTRAP)
			sig = WSTOPSIG(status); /* nothing was run: deliver it with the next step */
		else
			follow(kind, &old, &now);
		if (WSTOPSIG(status) != SIGTRAP && now.rip != old.rip)
			follow(kind, &old, &now);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status, err, at = 1;
	bool with_walker = argc > 1 && !strcmp(argv[1], "-w");

	at += with_walker;
	if (argc <= at)
		return 2;
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[at], argv + at);
		_exit(127);
	}
	if (child < 0 || !wait_stop(&status))
		return 2;
	ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
	err = step_through(with_walker);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	printf("steps %" PRIu64 ", wrong %" PRIu64 ", full %" PRIu64 ", by frame pointer %" PRIu64
	       ", through signals %" PRIu64 ", in longjmp %" PRIu64 ", rewritten %" PRIu64
	       ", deepest %" PRIu64 "\n",
	       count.steps, count.wrong, count.full, count.fp, count.signal, count.jump,
	       count.rewritten, count.deepest);
	if (walker) {
		printf("in the kernel: steps %" PRIu64 ", wrong %" PRIu64
		       ", for the full evaluator %" PRIu64 ", rbx lost %" PRIu64 "\n",
		       count.walked, count.walked_wrong, count.walked_full, count.walked_lost);
		close(breakpoint);
		walker_close(walker);
		if (!count.walked)
			return 2;
		if (count.walked_lost * 20 > count.walked)
			return 1;
	}
	return err ? err : count.wrong || !count.steps || count.walked_wrong;
}
#else
int main(void)
{
	printf("only on x86_64\n");
	return 2;
}
#endif
