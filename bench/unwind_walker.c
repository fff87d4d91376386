/* SPDX-License-Identifier: MIT */
/*
 * The stack walker on a real program: how many stacks reach the bottom, why the
 * others do not, and what a frame costs by the kernel's own run-time statistics.
 *
 *	bench-unwind_walker [-F HZ] [-c COPIES] [-C CACHE] [-a SECONDS] [-d DEPTH] [-UV] COMMAND...
 *
 * -U: no user stacks; -V: every stack also with nothing known from before, compared.
 */
#include <bpf/bpf.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "config.h"
#include "../tests/lib/session.h"

static uint64_t deepest, kernel_frames, user_mode, bytes;

static int on_sample(void *ctx, const struct walker_sample *s)
{
	(void)ctx;
	if (s->n_user > deepest)
		deepest = s->n_user;
	kernel_frames += s->n_kernel;
	user_mode += s->user_mode;
	bytes += 8 * (s->n_user + s->n_kernel) + 64;
	return 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(const struct walker *w, const struct session *s, double time)
{
	struct walker_stats st;
	uint64_t stacks = 0;

	walker_stats(w, &st);
	for (int i = 1; i < UNWIND_END_MAX; i++)
		stacks += st.end[i];
	printf("%" PRIu64 " samples in %.2f s, %" PRIu64 " lost, %" PRIu64
	       " with a user stack, %" PRIu64
	       " in user mode, %.1f user frames each, deepest %" PRIu64 ", %.1f bytes each\n",
	       st.samples, time, st.lost, stacks, user_mode,
	       (double)st.frames / (double)(stacks ? stacks : 1), deepest,
	       (double)bytes / (double)(st.samples ? st.samples : 1));
	for (int i = 1; i < UNWIND_END_MAX; i++)
		if (st.end[i])
			printf("  %-12s %8" PRIu64 "  %7.3f %%\n",
			       unwind_end_name((enum unwind_end)i), st.end[i],
			       100.0 * (double)st.end[i] / (double)stacks);
	printf("copies %" PRIu64 ", finished %" PRIu64 "; by frame pointer %" PRIu64
	       " frames, known from before %" PRIu64 "; %" PRIu64 " side-band records\n",
	       st.copies, st.copies_finished, st.fp_frames, st.known_frames, s->records);
	if (st.known_checked)
		printf("%" PRIu64 " stacks walked both ways, %" PRIu64 " different\n",
		       st.known_checked, st.known_wrong);
	printf("tables %" PRIu64 " (%" PRIu64 " from the cache, %" PRIu64 " failed, %" PRIu64
	       " refused), %" PRIu64 " rows, %" PRIu64 " rules, %.1f MB in %" PRIu64
	       " slabs, kernel memory %.1f MB\n",
	       st.tables, st.tables_cached, st.tables_failed, st.refused_tables, st.rows, st.rules,
	       (double)st.table_bytes / 1e6, st.slabs, (double)st.kernel_bytes / 1e6);
	printf("program: %u instructions verified, %" PRIu64
	       " runs, %.0f ns a run, %.0f ns a user frame\n",
	       st.verified_insns, st.run_count,
	       (double)st.run_ns / (double)(st.run_count ? st.run_count : 1),
	       (double)st.run_ns / (double)(st.frames ? st.frames : 1));
}

int main(int argc, char **argv)
{
	struct walker_opts o = { 0 };
	struct session s = { 0 };
	struct walker *w;
	struct err e = { 0 };
	int opt, stats, go = -1, status, all = 0;
	uint64_t freq = 997;
	double t0;

	while ((opt = getopt(argc, argv, "+F:c:C:a:d:UV")) > 0) {
		if (opt == 'F')
			freq = strtoull(optarg, NULL, 10);
		else if (opt == 'c')
			o.copy_rate = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'C')
			o.cache = true, o.cache_dir = optarg;
		else if (opt == 'a')
			all = atoi(optarg);
		else if (opt == 'd')
			o.depth = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'U')
			o.no_user = true;
		else if (opt == 'V')
			o.check_known = true;
		else
			return 2;
	}
	o.all = all > 0;
	t0 = seconds();
	if (walker_open(&o, &w, &e) < 0) {
		fprintf(stderr, "%s\n%s\n", e.msg, e.hint);
		return 1;
	}
	printf("opened in %.1f ms\n", (seconds() - t0) * 1e3);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (!all)
		session_command(&s, argv + optind, &go);
	if (session_open(&s, w, all ? -1 : s.child, freq, PERF_COUNT_SW_CPU_CLOCK, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	t0 = seconds();
	if (go >= 0)
		session_go(&go);
	for (;;) {
		struct pollfd fds[SESSION_CPUS + 1];

		for (int i = 0; i < s.n; i++)
			fds[i] = (struct pollfd){ .fd = s.ring[i].fd, .events = POLLIN };
		fds[s.n] = (struct pollfd){ .fd = walker_fd(w), .events = POLLIN };
		poll(fds, (nfds_t)s.n + 1, 50);
		session_turn(&s, 0, on_sample, NULL);
		if (all ? seconds() - t0 > all : waitpid(s.child, &status, WNOHANG) == s.child)
			break;
	}
	session_turn(&s, 0, on_sample, NULL);
	walker_settle(w, 2000);
	session_turn(&s, 0, on_sample, NULL);
	report(w, &s, seconds() - t0);
	session_close(&s);
	close(stats);
	walker_close(w);
	return 0;
}
