/* SPDX-License-Identifier: MIT */
/*
 * Any text as a program, compiled for the running kernel: what the compiler accepts, the
 * kernel's verifier must accept too, except for documented limits (loops without an end,
 * programs that are too long or need what this kernel has not). Programs are loaded,
 * never attached or run. Without the right to load programs nothing is tried.
 */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "kern/bpf.h"
#include "live/run/run.h"

static struct run_env env;

static bool may_load(void)
{
	static int state;

	if (!state) {
		struct err e = { 0 };
		int fd = geteuid() ? -1 : bpf_load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);

		state = fd >= 0 && run_env_open(&env, &e) == 0 ? 1 : -1;
		if (fd >= 0)
			close(fd);
	}
	return state > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	AUTO_FREE char *log = NULL;
	struct lang_source src = { .name = "fuzz", .text = text, .n = size, .unsafe = true };
	struct lang_config config = { .strlen = 64,
				      .map_keys = 16,
				      .stack_depth = 16,
				      .max_probes = 8,
				      .max_bpf_progs = 8,
				      .ring_pages = 1 };
	struct run_opts o = { .out_fd = -1, .quiet = true, .dry = true, .no_sideband = true };
	struct lang_diags d = { 0 };
	struct lang_program *p = NULL;
	struct run *r = NULL;
	struct err e = { 0 };

	if (!may_load() || size > 4096)
		return 0;
	memcpy(text, data, size);
	src.config = &config;
	if (lang_compile(&src, &env.env, 0, &p, &d) == 0) {
		if (run_open(p, &env, &o, &r, &log, &e) == 0)
			run_close(r);
		else if (strstr(e.hint, "fault of kymo"))
			fprintf(stderr, "%s\n%s\n", e.msg, log ? log : "");
		FUZZ_CHECK(!strstr(e.hint, "fault of kymo"));
		lang_program_free(p);
	}
	lang_diags_free(&d);
	return 0;
}
