/* SPDX-License-Identifier: MIT */
/* Headers of a program: where they are found. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/run/run.h"

#define HEADER_MAX (4u << 20)

static char *run_include_text_of(char *path, size_t *n, char **found)
{
	char *text = NULL;

	if (file_read_input(path, HEADER_MAX, &text, n) < 0) {
		free(path);
		return NULL;
	}
	*found = path;
	return text;
}

/*
 * Headers of the C library and others that are installed are not read: what they define may be
 * known by other names here than there. -I /usr/include reads them.
 */
static bool is_of_system(const char *name)
{
	static const char *const dirs[] = { "/usr/include", "/usr/local/include" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		AUTO_FREE char *path = mem_printf("%s/%s", dirs[i], name);

		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

char *run_include(void *ctx, const char *from, const char *name, bool quoted, size_t *n,
		  char **path)
{
	const struct run_includes *in = ctx;
	const char *file = from ? from : in->program, *slash = file ? strrchr(file, '/') : NULL;
	char *text = NULL;

	if (*name == '/')
		return run_include_text_of(mem_strdup(name), n, path);
	if (quoted)
		text = run_include_text_of(
			slash ? mem_printf("%.*s/%s", (int)(slash - file), file, name)
			      : mem_strdup(name),
			n, path);
	for (size_t i = 0; i < in->dirs.n && !text; i++)
		text = run_include_text_of(mem_printf("%s/%s", in->dirs.data[i], name), n, path);
	if (!text && !quoted && is_of_system(name)) {
		text = mem_strdup("");
		*n = 0;
	}
	return text;
}
