/* SPDX-License-Identifier: MIT */
#include "cmd/command.h"
#include "base/mem.h"
#include "base/term.h"
#include "config.h"

struct args {
	bool options;
};

static const struct opt opts[] = {
	OPT_FLAG(0, "build-options", options,
		 "list the libraries this kymo was built with, and what each is for"),
	OPT_END,
};

static const struct {
	const char *name;
	int have;
	const char *what;
} features[] = { BUILD_FEATURES };

static int version_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;

	printf("kymo version %s\n", KYMO_VERSION);
	if (!a->options)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		printf("%15s: [ %s%s%s ]  %s\n", features[i].name,
		       term_style(stdout, features[i].have ? TERM_GREEN : TERM_RED),
		       features[i].have ? "on " : "OFF", term_style(stdout, TERM_RESET),
		       features[i].what);
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.group = "kymo itself",
	.summary = "show the version and what it was built with",
	.usage = "[--build-options]",
	.examples = EXAMPLES({ "version --build-options", "what this build can do" }),
	COMMAND_USUAL(version),
};
