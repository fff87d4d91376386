/* SPDX-License-Identifier: MIT */
/* kymo flame -- COMMAND: record into a file of its own, with call chains. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/flame.h"

static bool has_chains(const struct flame_words *w)
{
	for (int i = 0; i < w->n; i++)
		if (strcmp(w->word[i], "--call-graph") == 0)
			return true;
	return false;
}

int flame_record(const struct flame_words *options, char **command, char **path, struct err *e)
{
	const char *dir = getenv("TMPDIR");
	AUTO_FREE char *file = mem_printf("%s/kymo-flame-XXXXXX", dir && *dir ? dir : "/tmp");
	AUTO_FREE char **argv = NULL;
	int n = 0, words = 0, fd = mkstemp(file), code;

	if (fd < 0)
		return err_set(e, errno, "cannot make a file for the recording: %s",
			       strerror(errno));
	close(fd);
	while (command && command[words])
		words++;
	argv = mem_alloc((size_t)(options->n + words + 8) * sizeof(*argv));
	argv[n++] = (char *)"record";
	argv[n++] = (char *)"-o";
	argv[n++] = file;
	if (!has_chains(options))
		argv[n++] = (char *)"-g";
	for (int i = 0; i < options->n; i++)
		argv[n++] = options->word[i];
	argv[n++] = (char *)"--";
	for (int i = 0; i < words; i++)
		argv[n++] = command[i];
	code = command_run(&cmd_record, "record", n, argv);
	if (code && access(file, R_OK) == 0 && code < 126) /* the command's own business */
		code = 0;
	if (code) {
		unlink(file);
		return err_set(e, ECANCELED, "nothing was recorded, so there is nothing to draw");
	}
	*path = file;
	file = NULL;
	return 0;
}
