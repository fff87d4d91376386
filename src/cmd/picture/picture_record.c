/* SPDX-License-Identifier: MIT */
/* Before a picture: kymo record into a file that goes when the picture is drawn. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/picture/picture.h"

int picture_on_record(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	AUTO_FREE char *name =
		o->letter ? mem_printf("-%c", o->letter) : mem_printf("--%s", o->name);

	(void)unset;
	return picture_words_add(args, name, value, e);
}

int picture_on_duration(const struct opt *o, const char *value, bool unset, void *args,
			struct err *e)
{
	(void)o;
	(void)unset;
	return picture_words_add(args, "--duration", value, e);
}

int picture_on_max_size(const struct opt *o, const char *value, bool unset, void *args,
			struct err *e)
{
	struct picture_head *a = args;

	(void)o;
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

int picture_words_add(struct picture_words *w, const char *option, const char *value, struct err *e)
{
	if (w->n + 2 > (int)ARRAY_SIZE(w->word))
		return err_set(e, E2BIG, "too many options");
	w->word[w->n++] = mem_strdup(option);
	if (value)
		w->word[w->n++] = mem_strdup(value);
	return 0;
}

void picture_words_drop(void *args)
{
	struct picture_words *w = args;

	for (int i = 0; i < w->n; i++)
		free(w->word[i]);
	w->n = 0;
}

bool picture_words_have(const struct picture_words *w, const char *option)
{
	for (int i = 0; i < w->n; i++)
		if (strcmp(w->word[i], option) == 0)
			return true;
	return false;
}

const char *picture_words_value(const struct picture_words *w, const char *option)
{
	const char *value = NULL;

	for (int i = 0; i + 1 < w->n; i++)
		if (strcmp(w->word[i], option) == 0)
			value = w->word[i + 1];
	return value;
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

int picture_record(const struct picture_words *options, bool chains, char **command,
		   const char *output, struct picture_recorded *ret, struct err *e)
{
	AUTO_FREE char *file = NULL;
	AUTO_FREE char **argv = NULL;
	struct picture_aside aside;
	struct temp folder = { 0 };
	struct stat st;
	int n = 0, words = 0, code = temp_make(&folder, e);

	if (code < 0)
		return code;
	file = mem_printf("%s/perf.data", folder.path);
	while (command && command[words])
		words++;
	argv = mem_alloc((size_t)(options->n + words + 8) * sizeof(*argv));
	argv[n++] = (char *)"record";
	argv[n++] = (char *)"--no-summary";
	argv[n++] = (char *)"-o";
	argv[n++] = file;
	if (chains && !picture_words_have(options, "--call-graph"))
		argv[n++] = (char *)"-g";
	for (int i = 0; i < options->n; i++)
		argv[n++] = options->word[i];
	argv[n++] = (char *)"--";
	for (int i = 0; i < words; i++)
		argv[n++] = command[i];
	aside = picture_aside_begin(output);
	code = command_run(&cmd_record, "record", n, argv);
	picture_aside_end(aside);
	if (code && code < 126 && stat(file, &st) == 0 && st.st_size > 0)
		code = 0; /* the command's own business */
	if (code) {
		temp_remove(&folder);
		return err_set(e, ECANCELED, "nothing was recorded, so there is nothing to draw");
	}
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
