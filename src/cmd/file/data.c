/* SPDX-License-Identifier: MIT */
/* kymo data convert: perf data's words for `kymo export`, which does the work. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/share/accept.h"

struct args {
	const char *input, *json, *ctf;
	bool force, all, ignored;
};

static int refuse_ctf(const struct args *a, struct err *e)
{
	err_set(e, EOPNOTSUPP, "there is no CTF yet (--to-ctf %s)", a->ctf);
	return err_hint(e, "kymo export --to perfetto is for timelines, --to-json and kymo script "
			   "for programs; perf data convert --to-ctf reads the same file");
}

static int run_convert(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	const char *const set[][2] = { { "to", "json" },
				       { "input", a->input ? a->input : "perf.data" },
				       { "output", a->json } };
	AUTO_FREE void *export = mem_alloc(cmd_export.args_size);
	int r = 0;

	if (argc)
		return err_set(e, EINVAL, "what is '%s'? the recording is -i FILE", argv[0]);
	if (a->ctf)
		return refuse_ctf(a, e);
	if (!a->json) {
		err_set(e, EINVAL, "convert to what?");
		return err_hint(e, "--to-json FILE; kymo export -h has other formats");
	}
	if (!a->force && file_exists(a->json)) {
		err_set(e, EEXIST, "%s is there already", a->json);
		return err_hint(e, "--force writes over it");
	}
	for (size_t i = 0; i < ARRAY_SIZE(set) && r == 0; i++)
		r = opt_set_named(cmd_export.opts, set[i][0], set[i][1], false, export, e);
	return r < 0 ? r : cmd_export.run(export, 0, NULL, e);
}

static const struct opt convert_opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: perf.data)", "@files"),
	OPT_STR_C(0, "to-json", "FILE", json, "write FILE, as kymo export --to json", "@files"),
	OPT_STR_C(0, "to-ctf", "DIR", ctf, "not yet: kymo export has other formats", "@dirs"),
	OPT_FLAG('f', "force", force, "write over a file that is there"),
	OPT_FLAG(0, "all", all, "all events (they always are)"),
	OPT_FLAG('v', "verbose", ignored, "perf has it; nothing more is said"),
	OPT_END,
};

static const struct command cmd_data_convert = {
	.name = "convert",
	.summary = "write a recording in another format",
	.usage = "[-i FILE] --to-json FILE",
	.about = "perf data's words. kymo export has pprof, Perfetto, Firefox Profiler and others, "
		 "and says which events. The objects are kymo export's, not those of perf.",
	.examples =
		EXAMPLES({ "data convert --to-json out.json", "perf.data for a program of yours" }),
	.opts = convert_opts,
	.args_size = sizeof(struct args),
	.run = run_convert,
};

static const struct command *const subs[] = { &cmd_data_convert, NULL };

static int data_run(void *args, int argc, char **argv, struct err *e)
{
	if (argc) {
		err_set(e, EINVAL, "data has no verb '%s'", argv[0]);
		return err_hint(e, "kymo data convert");
	}
	help_command(stdout, &cmd_data, "data");
	return 0;
}

const struct command cmd_data = {
	.name = "data",
	.group = "Look",
	.summary = "convert a recording, in perf's words (see export)",
	.usage = "convert [OPTIONS]",
	.examples =
		EXAMPLES({ "data convert --to-json out.json", "perf.data for a program of yours" }),
	.parse = OPT_STOP_AT_ARG,
	.subs = subs,
	.run = data_run,
};
