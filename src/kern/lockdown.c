/* SPDX-License-Identifier: MIT */
#include "kern/lockdown.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "kern/mounts.h"

static const char *const names[] = {
	[LOCKDOWN_UNKNOWN] = "unknown",
	[LOCKDOWN_NONE] = "none",
	[LOCKDOWN_INTEGRITY] = "integrity",
	[LOCKDOWN_CONFIDENTIALITY] = "confidentiality",
};

const char *lockdown_name(enum lockdown l)
{
	return names[l];
}

enum lockdown lockdown_parse(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	for (size_t i = LOCKDOWN_NONE; close && i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == (size_t)(close - open - 1) &&
		    strncmp(names[i], open + 1, (size_t)(close - open - 1)) == 0)
			return (enum lockdown)i;
	return LOCKDOWN_UNKNOWN;
}

enum lockdown lockdown_read(void)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int dir = -1;
	char path[4096];
	int r;

	if (mounts_find("securityfs", NULL, path, sizeof(path)) == 0) {
		AUTO_FREE char *file = mem_printf("%s/lockdown", path);

		r = file_read(file, 4096, &text, NULL);
	} else {
		dir = mounts_private("securityfs");
		/* ENODEV: the kernel was built without securityfs, and so without lockdown. */
		if (dir == -ENODEV)
			return LOCKDOWN_NONE;
		if (dir < 0)
			return LOCKDOWN_UNKNOWN;
		r = file_readat(dir, "lockdown", 4096, &text, NULL);
	}
	if (r == -ENOENT)
		return LOCKDOWN_NONE;
	return r < 0 ? LOCKDOWN_UNKNOWN : lockdown_parse(text);
}
