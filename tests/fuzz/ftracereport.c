/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace.dat, through the code of `kymo ftrace report` itself: its options (the
 * input's last byte says which), its own state by CPU, filters, wake-ups, the profile, and what
 * else it tells of a file.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/ftrace/report.h"
#include "fuzz.h"

static void choose(struct ftrace_report_args *a, unsigned how)
{
	switch (how % 12) {
	case 0: break;
	case 1: a->latency = a->nsec = a->wakeup = a->diff = a->boundaries = true; break;
	case 2: a->raw = a->raw_time = true; break;
	case 3: a->no_plugins = a->align = a->no_irqs = true; break;
	case 4: a->profile = true; break;
	case 5: a->profile = a->p.by_comm = a->p.global_irqs = true; break;
	case 6: a->stat = true; break;
	case 7: a->list_cpus = a->first = a->last = true; break;
	case 8: a->formats = true; break;
	case 9: a->functions = true; break;
	case 10:
		vec_push(&a->filters, (struct ftrace_report_filter){
					      ".*:common_pid > 0 && COMM =~ \"a\"", how & 64 });
		a->check = true;
		break;
	case 11:
		a->cpus = mem_strdup("0-3,65536");
		a->comms = mem_strdup("sleep,<idle>");
		a->check = a->wakeup = a->no_softirqs = true;
		vec_push(&a->plugin_opts, "fgraph:tailprint");
		vec_push(&a->plugin_opts, "ftrace:parent");
		vec_push(&a->plugin_opts, "ftrace:offset");
		break;
	}
}

static void report(const char *path, unsigned how, int null)
{
	struct ftrace_report_args a = { .quiet = true };
	struct err e = { 0 };
	struct out out;

	choose(&a, how);
	vec_push(&a.inputs, (struct ftrace_report_input){ .path = path });
	out_init(&out, null);
	if (ftrace_report_run(&a, &out, &e) < 0)
		FUZZ_CHECK(e.code && e.msg[0]);
	out_free(&out);
	vec_free(&a.inputs);
	vec_free(&a.filters);
	vec_free(&a.plugin_opts);
	free(a.cpus);
	free(a.comms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1, null = -1;
	AUTO_FREE char *path = NULL;

	if (file < 0) {
		file = memfd_create("fuzz", 0);
		null = open("/dev/null", O_WRONLY);
	}
	FUZZ_CHECK(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
	FUZZ_CHECK(file_write_all(file, data, size) == 0);
	path = mem_printf("/proc/self/fd/%d", file);
	report(path, 0, null);
	report(path, size ? data[size - 1] : 0, null);
	report(path, 4, null);
	return 0;
}
