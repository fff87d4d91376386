/* SPDX-License-Identifier: MIT */
/* kymo kallsyms: where symbols of the running kernel are, and what is at an address. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "cmd/command.h"
#include "sym/names/kallsyms.h"

struct args {
	const char *file;
	bool ignored;
};

/* perf's line: the name, what it is of, and from where to where. */
static void kallsyms_show(const struct kallsyms *k, uint64_t addr, const char *name)
{
	struct kallsyms_sym s;
	const char *module = "";
	uint64_t end = addr;

	if (kallsyms_find(k, addr, &s)) {
		module = s.module;
		end = s.end;
	}
	printf("%s: %s%s%s %s%s%s 0x%" PRIx64 "-0x%" PRIx64 " (0x%" PRIx64 "-0x%" PRIx64 ")\n",
	       name, *module ? "[" : "", *module ? module : "[kernel]", *module ? "]" : "",
	       *module ? "[" : "", *module ? module : "[kernel.kallsyms]", *module ? "]" : "", addr,
	       end, addr, end);
}

/* A name, a pattern with *, or an address. How many there were. */
static unsigned kallsyms_look(const struct kallsyms *k, const char *word)
{
	bool pattern = str_has_glob(word);
	struct kallsyms_sym s;
	unsigned found = 0;
	uint64_t addr;

	if (strncmp(word, "0x", 2) == 0 && str_u64(word, &addr)) {
		if (!kallsyms_find(k, addr, &s))
			return 0;
		kallsyms_show(k, s.start, s.name);
		return 1;
	}
	for (size_t i = 0; i < k->list.n; i++) {
		const char *name = &k->names.data[k->list.data[i].name];

		if (pattern ? !str_glob(word, name) : strcmp(word, name) != 0)
			continue;
		kallsyms_show(k, k->list.data[i].addr, name);
		found++;
	}
	return found;
}

static int kallsyms_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	struct kallsyms k = { 0 };
	unsigned missing = 0;
	int r;

	if (!argc) {
		err_set(e, EINVAL, "which symbol?");
		return err_hint(e, "kymo kallsyms schedule, 'vfs_*', or an address (0x...)");
	}
	r = kallsyms_load(&k, a->file ? a->file : "/proc/kallsyms", e);
	if (r < 0)
		return r;
	for (int i = 0; i < argc; i++)
		if (!kallsyms_look(&k, argv[i])) {
			printf("%s: not found\n", argv[i]);
			missing++;
		}
	kallsyms_free(&k);
	return missing ? 1 : 0;
}

static const struct opt opts[] = {
	OPT_STR_C(0, "kallsyms", "FILE", file, "read FILE, a copy of another kernel's", "@files"),
	OPT_FLAG('v', "verbose", ignored, "perf has it; all is said anyway"),
	OPT_END,
};

const struct command cmd_kallsyms = {
	.name = "kallsyms",
	.group = "Look",
	.summary = "find symbols of the running kernel, and what is at an address",
	.usage = "[OPTIONS] SYMBOL|PATTERN|ADDRESS ...",
	.examples = EXAMPLES({ "kallsyms schedule", "where it is, and of which module" },
			     { "kallsyms 'tcp_v4_*'", "all of these" },
			     { "kallsyms 0xffffffff81000100", "what is there" }),
	COMMAND_USUAL(kallsyms),
};
