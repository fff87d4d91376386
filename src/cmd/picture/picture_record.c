/* SPDX-License-Identifier: MIT */
/*
 * Before a picture: kymo record into a file that goes when the picture is drawn; and what a
 * recording lacks: a picture of addresses helps nobody, nor one of stacks without their callers.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/picture/picture.h"
#include "view/report/report.h"

int picture_on_record(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct picture_head *a = args;

	a->recording = true;
	a->chains_said |= strcmp(o->name, "call-graph") == 0;
	return record_args_set(&a->record, o->name, value, unset, e);
}

void picture_drop(void *args)
{
	record_args_drop(&((struct picture_head *)args)->record);
}

int picture_on_max_size(const struct opt *o, const char *value, bool unset, void *args,
			struct err *e)
{
	struct picture_head *a = args;

	if (unset)
		a->max_size = UINT64_MAX;
	else if (!str_size(value, 1, &a->max_size) || a->max_size < 1 << 18)
		return err_set(e, EINVAL, "--max-size wants a size of at least 256K, not '%s'",
			       value);
	return 0;
}

int picture_arguments(struct picture_given *g, int most, int argc, char **argv, bool recording,
		      const char *usage, struct err *e)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			g->command = argv[i + 1] ? &argv[i + 1] : NULL;
			break;
		}
		if (g->n == most) {
			err_set(e, EINVAL, "too many files: '%s'", argv[i]);
			return err_hint(e, "%s",
					most == 2 ? "one is drawn, two are compared" : usage);
		}
		g->file[g->n++] = argv[i];
	}
	if (g->n && (g->command || recording)) {
		err_set(e, EINVAL, "either a file is drawn, or something is recorded, not both");
		return err_hint(e, "%s", usage);
	}
	return 0;
}

struct picture_aside picture_aside_begin(const char *output)
{
	struct picture_aside a = { .fd = output && strcmp(output, "-") == 0 ? dup(STDOUT_FILENO)
									    : -1 };

	if (a.fd >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return a;
}

void picture_aside_end(struct picture_aside a)
{
	if (a.fd < 0)
		return;
	dup2(a.fd, STDOUT_FILENO);
	close(a.fd);
}

int picture_record(struct record_args *a, bool chains, char **command, const char *output,
		   struct picture_recorded *ret, struct err *e)
{
	AUTO_FREE char *file = NULL;
	struct picture_aside aside;
	struct temp folder = { 0 };
	struct stat st;
	int exit_code = 0, code = temp_make(&folder, e);

	if (code < 0)
		return code;
	file = mem_printf("%s/perf.data", folder.path);
	record_args_begin(a);
	if (chains)
		code = record_on_g(NULL, NULL, false, a, e);
	a->no_summary = true;
	a->o.output = file;
	aside = picture_aside_begin(output);
	if (code == 0)
		code = record_run(a, command, &exit_code, e);
	picture_aside_end(aside);
	a->o.output = NULL;
	if (code < 0 && (stat(file, &st) < 0 || !st.st_size)) {
		temp_remove(&folder);
		return code;
	}
	if (code < 0) /* what there is can be drawn */
		command_error("record", e);
	*ret = (struct picture_recorded){ .path = file, .folder = folder };
	file = NULL;
	return 0;
}

void picture_recorded_free(struct picture_recorded *r)
{
	free(r->path);
	temp_remove(&r->folder);
	*r = (struct picture_recorded){ 0 };
}

/* --- what it lacks, and what would help; how much it is, is as in a report --- */

static bool has_stacks(const struct trace *t)
{
	bool chains = false;

	for (size_t i = 0; i < t->n_types; i++)
		chains |= (t->types[i].has & EVENT_HAVE_CHAIN) != 0;
	return chains;
}

/* Is it enough to be told? */
static bool is_much(uint64_t n, uint64_t of)
{
	return n && n * REPORT_WORTH >= of;
}

void picture_say_gaps(const struct trace *t, const struct names *n)
{
	struct report_end e = report_end_of(n);
	char share[16];

	if (!e.samples)
		return;
	if (!has_stacks(t))
		command_note("the recording has no stacks, only where its samples were: kymo "
			     "record -g has them, or kymo ftrace record -T");
	else if (is_much(e.abrupt_stacks, e.stacks))
		command_note("%s of the stacks end early%s%s",
			     str_percent((double)e.abrupt_stacks, (double)e.stacks, share,
					 sizeof(share)),
			     e.where_early[0] ? ", most " : "", e.where_early);
	if (is_much(e.full_stacks, e.stacks))
		command_note(
			"%s of the stacks are cut: %s",
			str_percent((double)e.full_stacks, (double)e.stacks, share, sizeof(share)),
			report_deeper(t));
	if (is_much(e.unresolved, e.samples))
		command_note(
			"%s of the samples are in code without a name%s%s",
			str_percent((double)e.unresolved, (double)e.samples, share, sizeof(share)),
			e.where_unnamed[0] ? ", most " : "", e.where_unnamed);
}
