/* SPDX-License-Identifier: MIT */
/* `kymo doctor`: what this machine lets you see, and how to get the rest. */
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/front/doctor_process.h"
#include "kern/ability/ability.h"
#include "kern/proc.h"
#include "view/abilities.h"
#include "view/table/table.h"

struct args {
	bool json, csv, quiet;
	const char *pid;
	int verbose;
};

static const struct opt opts[] = {
	OPT_STR_C('p', "pid", "PID", pid,
		  "look at a process (by number or name): which of its files have unwinding "
		  "tables, symbols, debug info",
		  "@pids"),
	OPT_FLAG('j', "json", json, "print everything as JSON"),
	OPT_FLAG(0, "csv", csv, "print everything as CSV"),
	OPT_COUNT('v', "verbose", verbose,
		  "show the details too: each BPF program and map type, each setting"),
	OPT_FLAG('q', "quiet", quiet, "show only what a command on this machine would better"),
	OPT_END,
};

static int doctor_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	enum abilities_which which = a->quiet	  ? ABILITIES_FIXABLE
				     : a->verbose ? ABILITIES_ALL
						  : ABILITIES_USUAL;
	AUTO_FREE struct ability *list = mem_alloc(ABILITY_MAX * sizeof(*list));
	AUTO_FREE struct ability_facts *facts = mem_alloc(sizeof(*facts));
	struct tables tables = { 0 };
	size_t n;
	pid_t pid;
	int code = 0;

	/* Not 1, which says that something can be fixed. */
	if (argc) {
		err_set(e, EINVAL, "doctor takes no argument, but there is '%s'", argv[0]);
		command_error("doctor", e);
		return EXIT_USAGE;
	}
	if (a->pid && a->csv)
		return err_set(e, EINVAL, "a process (-p) is told as text or JSON (-j)");
	if (a->pid) {
		code = proc_one(a->pid, &pid, e);
		return code < 0 ? code : doctor_process(pid, a->json, e);
	}
	ability_facts_read(facts);
	n = ability_describe(facts, list);
	ability_facts_free(facts);
	abilities_table(&tables, list, n, which);
	if (a->json)
		table_json_rows(stdout, tables.data[0]);
	else if (a->csv)
		table_csv_all(stdout, &tables, ",");
	else
		abilities_text(stdout, list, n, which);
	tables_free(&tables);
	for (size_t i = 0; i < n; i++)
		if (ability_wants_fix(&list[i]))
			code = 1;
	return code;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.group = "Set up",
	.summary = "show what this machine lets you see, and how to get the rest",
	.usage = "[-j | --csv] [-v | -q] [-p PID]",
	.about = "Tries what the kernel grants to you, here and now: counters, tracepoints, "
		 "probes, tracers, BPF programs, symbols, limits. Each line has a state (ok, "
		 "limited, missing, off), what it means, and the command that would better it. "
		 "Trying is harmless and leaves nothing behind. Exits with 0 when no command on "
		 "this machine would give more, else with 1.",
	.examples = EXAMPLES(
		{ "doctor", "look at this machine" },
		{ "doctor -p 1234", "will a profile of this process have stacks and names?" },
		{ "doctor -q", "just the commands that would help" },
		{ "doctor -j | jq '.[] | select(.id == \"pmu\")'", "for scripts" }),
	COMMAND_USUAL(doctor),
};
