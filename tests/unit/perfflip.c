/* SPDX-License-Identifier: MIT */
/*
 * perfflip FILE [STEP [FIRST]]: read a perf.data again and again, each time with
 * one byte changed: every byte (or FIRST-th) of the first 4 KiB, every STEP-th (97th)
 * after that, and cut at two hundred places. Exits 0 when every reading ended in an
 * orderly way within seconds; else says at which byte it did not.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/out.h"
#include "calc/read/unwound.h"
#include "store/perfdata/perfdata.h"
#include "view/report/report.h"
#include "view/script/script.h"

struct progress {
	volatile size_t at;
	volatile unsigned tried, opened;
	volatile uint64_t samples;
	FILE *nowhere;
};

static int count(void *ctx, const struct event *ev)
{
	struct progress *p = ctx;

	p->samples += ev->kind == EVENT_SAMPLE;
	/* Touch what the event points at. */
	for (uint32_t i = 0; i < ev->chain_n; i++)
		p->samples += ev->chain[i] == 1;
	return 0;
}

static int print(void *ctx, const struct event *ev)
{
	script_event(ctx, ev);
	return 0;
}

/* The report in its default form, of every event. */
static void report(struct source *s, struct symbols *symbols, FILE *nowhere)
{
	struct columns_opts co = { .trace = s->trace, .sort = "comm,dso,symbol", .children = true };
	struct profile_opts po = { .by = PROFILE_BY_CHAIN, .threads = 2 };
	struct report_style style = { 0 };
	struct columns columns;
	struct profile p;
	struct names n;
	struct cells c;

	if (columns_make(&columns, &co, NULL) < 0)
		return;
	po.by |= cells_needs(&columns);
	if (profile_make(s, &po, &p, NULL) < 0)
		return;
	if (names_make(&p, symbols, &(struct names_opts){ 0 }, &n, NULL) == 0) {
		cells_make(&c, &n, &(struct cells_opts){ .columns = &columns, .caller = true });
		for (uint32_t i = 0; i < s->trace->n_types && i < 4; i++) {
			struct hist_opts ho = {
				.type = i, .children = true, .caller = true, .use_chains = true
			};
			struct graph_opts go = { .min_percent = 0.5 };
			struct report_end end;
			struct graphs g;
			struct hist h;

			hist_make(&h, &c, &ho, NULL, 0);
			graphs_make(&h, &go, &g);
			report_text(nowhere, &style, &h, &g);
			graphs_free(&g);
			hist_free(&h);
			end = report_end_of(&n);
			report_text_end(nowhere, &end);
		}
		cells_free(&c);
		names_free(&n);
	}
	profile_free(&p);
}

/* All that can be done with a recording, the output thrown away. */
static void use(struct source *s, struct symbols *symbols, struct progress *p)
{
	struct script_opts o = { .chains = true,
				 .max_stack = 127,
				 .show_task = true,
				 .show_mmap = true,
				 .show_switch = true,
				 .show_lost = true,
				 .show_namespace = true,
				 .show_cgroup = true,
				 .show_bpf = true,
				 .show_text_poke = true };
	struct strbuf text = { 0 };
	struct script *script;
	struct out out;

	out_init(&out, open("/dev/null", O_WRONLY));
	script_fields_init(&o.fields);
	perfdata_header_text(s, true, &text);
	for (size_t i = 0; i < s->n_chunks; i++)
		s->read_chunk(s, i, count, p, NULL);
	report(s, symbols, p->nowhere);
	if (script_fields_check(&o.fields, s->trace, true, &text, NULL) == 0) {
		script = script_new(s->trace, symbols, &o, &out);
		s->read_ordered(s, true, print, script, NULL);
		script_dump(script, s, "x", NULL, NULL, NULL);
		script_free(script);
		o.json = true;
		script = script_new(s->trace, symbols, &o, &out);
		s->read_ordered(s, true, print, script, NULL);
		script_free(script);
	}
	strbuf_free(&text);
	close(out.fd);
	out_free(&out);
}

static void try(const char *path, struct symbols *symbols, struct progress *p, size_t at)
{
	/* of CPU time, as others may need the machine too; and at last of any */
	const struct itimerval limit = { .it_value = { .tv_sec = 4 } };
	const struct itimerval last = { .it_value = { .tv_sec = 100 } };
	struct source *s = NULL;
	struct err e = { 0 };

	p->at = at;
	setitimer(ITIMER_PROF, &limit, NULL);
	setitimer(ITIMER_REAL, &last, NULL);
	if (perfdata_open(path, &s, &e) == 0) {
		if (unwound_needed(s))
			s = unwound_new(s, &(struct find_opts){ 0 }, 0);
		use(s, symbols, p);
		source_close(s);
		p->opened++;
	} else if (!e.msg[0] || !e.code) {
		abort(); /* refused without a word */
	}
	p->tried++;
}

static void run(int fd, const uint8_t *data, size_t n, size_t step, size_t first,
		struct progress *p)
{
	AUTO_FREE char *path = mem_printf("/proc/self/fd/%d", fd);
	AUTO_FCLOSE FILE *nowhere = fopen("/dev/null", "w");
	struct symbols *symbols = symbols_new(NULL);

	p->nowhere = nowhere;
	for (size_t i = 0; i < n; i += i < 4096 ? first : step) {
		uint8_t changed = i % 3 == 0   ? data[i] ^ 0xff
				  : i % 3 == 1 ? data[i] ^ (uint8_t)(1 << i % 8)
					       : (uint8_t)(i * 7);

		if (pwrite(fd, &changed, 1, (off_t)i) != 1)
			abort();
		try(path, symbols, p, i);
		if (pwrite(fd, &data[i], 1, (off_t)i) != 1)
			abort();
	}
	for (size_t i = n; i > 0; i = i > n / 200 + 1 ? i - n / 200 - 1 : 0) {
		if (ftruncate(fd, (off_t)i) < 0)
			abort();
		try(path, symbols, p, i);
	}
	symbols_free(symbols);
}

int main(int argc, char **argv)
{
	AUTO_FREE char *data = NULL;
	size_t n = 0, step = argc > 2 ? (size_t)atoi(argv[2]) : 97;
	size_t first = argc > 3 ? (size_t)atoi(argv[3]) : 1;
	int fd = memfd_create("flip", 0), status;
	struct progress *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (argc < 2 || file_read(argv[1], 64u << 20, &data, &n) < 0 ||
	    file_write_all(fd, data, n) < 0 || p == MAP_FAILED || !step || !first) {
		fprintf(stderr, "usage: perfflip FILE [STEP [FIRST]]\n");
		return 2;
	}
	child = fork();
	if (child == 0) {
		run(fd, (const uint8_t *)data, n, step, first, p);
		exit(0);
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("%s at byte %zu\n",
		       WIFSIGNALED(status) &&
				       (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF)
			       ? "no end"
			       : "crash",
		       p->at);
		return 1;
	}
	printf("%u readings, %u opened, %llu samples\n", p->tried, p->opened,
	       (unsigned long long)p->samples);
	return p->opened && p->opened < p->tried ? 0 : 1;
}
