/* SPDX-License-Identifier: MIT */
/*
 * kymo test: does this installation work on this machine?
 *
 * kymo watches itself do a known thing and looks for just that: so many calls, these functions
 * in this order. doctor says what the kernel grants; this says what comes of it.
 */
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/term.h"
#include "cmd/command.h"

#define CALLS 100 /* of getppid */
#define OUTPUT_MAX (4u << 20)

struct args {
	int work;
	bool verbose;
};

/* --- what is watched --- */

static __attribute__((noinline)) unsigned kymo_test_inner(unsigned x)
{
	for (unsigned i = 0; i < 20000; i++) {
		x = x * 1664525u + 1013904223u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static __attribute__((noinline)) unsigned kymo_test_middle(unsigned x)
{
	return kymo_test_inner(x) + 1; /* + 1: no jump in place of the call */
}

static __attribute__((noinline)) unsigned kymo_test_outer(unsigned x)
{
	return kymo_test_middle(x) + 1;
}

static int test_work(int ms)
{
	struct timespec begin, now;
	unsigned x = 1;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	do {
		x = kymo_test_outer(x);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
	return x == 0 ? 2 : 0; /* so that it is computed */
}

/* --- what is looked for --- */

static bool counted(const char *out)
{
	return atoi(out) > 0 && strstr(out, "page-faults");
}

static bool all_calls(const char *out)
{
	return atoi(out) == CALLS;
}

static bool test_named(const char *out)
{
	return strstr(out, "kymo_test_inner") != NULL;
}

/* A stack that goes all the way, frame by frame. */
static bool walked(const char *out)
{
	static const char *const frames[] = { "kymo_test_inner", "kymo_test_middle",
					      "kymo_test_outer", "main" };

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		out = strstr(out, frames[i]);
		if (!out)
			return false;
	}
	return true;
}

static bool traced(const char *out)
{
	const char *row = strstr(out, "getppid");

	return row && atoi(row + strlen("getppid")) == CALLS;
}

static bool any(const char *out)
{
	return *out != '\0';
}

/* %1$s: kymo, %2$s: a folder of ours. Standard error goes to FOLDER/err. */
static const struct step {
	const char *name, *line;
	bool (*good)(const char *out);
	const char *what; /* is wrong when it is not */
} steps[] = {
	{ "counting", "%1$s stat --log-fd 1 -x, -e page-faults -- %1$s test --work 20", counted,
	  "nothing was counted" },
	{ "tracepoints",
	  "%1$s stat --log-fd 1 -x, -e syscalls:sys_enter_getppid -- %1$s test --work 1", all_calls,
	  "not every call was counted" },
	{ "recording",
	  "%1$s record -q -g -F 999 -e cpu-clock:u -o %2$s/p.data -- %1$s test --work 300 && %1$s "
	  "script -i %2$s/p.data -F comm,time",
	  any, "there are no samples" },
	{ "symbols", "%1$s report --stdio -q --no-children -g none --sort symbol -i %2$s/p.data",
	  test_named, "kymo's own function has no name: was the program stripped?" },
	{ "stacks", "%1$s script -i %2$s/p.data -F ip,sym", walked,
	  "no stack goes from the function to main" },
	{ "kernel symbols", "%1$s kallsyms schedule", any, "schedule is not found" },
	{ "system calls by BPF", "%1$s trace -s -e getppid -o - -- %1$s test --work 1", traced,
	  "not every call was seen" },
	{ "tracing programs", "%1$s run -q -e 'BEGIN { printf(\"ready\\n\"); exit(); }'", any,
	  "the program printed nothing" },
	{ "ftrace",
	  "%1$s ftrace record -q -e sched:sched_process_exec -o %2$s/t.dat true && %1$s ftrace "
	  "report -i %2$s/t.dat | grep sched_process_exec",
	  any, "the event is not in the trace" },
	{ "pictures", "%1$s flame -q -i %2$s/p.data -o %2$s/f.svg && cat %2$s/f.svg", test_named,
	  "the function is not in the flame graph" },
};

/* The first line of what it said. */
static char *reason(const char *folder)
{
	AUTO_FREE char *path = mem_printf("%s/err", folder);
	char *text = NULL;

	if (file_read(path, OUTPUT_MAX, &text, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int run_step(const struct step *s, const char *self, const char *folder, char **ret)
{
	AUTO_FREE char *line = mem_printf(s->line, self, folder);
	AUTO_FREE char *all = mem_printf("{ %s; } 2>%s/err", line, folder);
	AUTO_STRBUF out = { 0 };
	FILE *f = popen(all, "re");
	char buf[4096];
	size_t n;
	int status;

	if (!f)
		return -1;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		if (out.n < OUTPUT_MAX)
			strbuf_add(&out, buf, n);
	status = pclose(f);
	*ret = mem_strdup(strbuf_str(&out));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#pragma GCC diagnostic pop

static bool test_one(size_t i, const char *self, const char *folder)
{
	const struct step *s = &steps[i];
	AUTO_FREE char *out = NULL, *why = NULL;
	int code = run_step(s, self, folder, &out);
	bool good = code == 0 && s->good(out);

	printf("%3zu: %-24s: %s%s%s", i + 1, s->name,
	       term_style(stdout, good ? TERM_GREEN : TERM_RED), good ? "Ok" : "FAILED!",
	       term_style(stdout, TERM_RESET));
	if (!good) {
		why = code ? reason(folder) : NULL;
		printf(" (%s)", why && *why ? why : s->what);
	}
	putchar('\n');
	fflush(stdout);
	return good;
}

static int test_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	char self[4096], folder[] = "/tmp/kymo-test-XXXXXX";
	AUTO_FREE char *clean = NULL;
	unsigned bad = 0;
	ssize_t n;

	if (a->work)
		return test_work(a->work);
	if (argc)
		return err_set(e, EINVAL, "what is '%s'? all is tested", argv[0]);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	if (n <= 0 || strpbrk(self, " '\"$`\\"))
		return err_set(e, EINVAL, "kymo's own path cannot be run from a shell");
	if (!mkdtemp(folder))
		return err_cannot_write(e, errno, "/tmp");
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		bad += !test_one(i, self, folder);
	clean = mem_printf("rm -rf %s", folder);
	if (system(clean) != 0)
		command_note("%s is left", folder);
	if (bad)
		command_note("%u of %zu do not work here; kymo doctor says what the kernel grants",
			     bad, ARRAY_SIZE(steps));
	return bad ? 1 : 0;
}

static const struct opt opts[] = {
	OPT_FLAG('v', "verbose", verbose, "perf has it; reasons are always shown"),
	{ .kind = OPT_KIND_INT,
	  .name = "work",
	  .arg = OPT_ARG_REQUIRED,
	  .flags = OPT_HIDDEN,
	  .field = offsetof(struct args, work),
	  .help = "be what is watched, for so many milliseconds" },
	OPT_END,
};

const struct command cmd_test = {
	.name = "test",
	.group = "Set up",
	.summary = "try counting, recording, stacks, BPF and ftrace on this machine",
	.usage = "",
	.about = "kymo watches itself do a known thing and looks for just that. It takes some "
		 "seconds; kymo doctor says more of what does not work.",
	.examples = EXAMPLES({ "test", "does recording, naming, unwinding, tracing work here?" }),
	COMMAND_USUAL(test),
};
