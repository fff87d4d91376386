/* SPDX-License-Identifier: MIT */
#include "kern/ksym.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "event/symline.h"

int ksym_find(const char *path, const char *name, uint64_t *addr, struct err *e)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	struct str_nearest near = { .typed = name };
	struct arena names = { 0 };
	struct symline l = { 0 };
	size_t cap = 0, want = strlen(name);
	ssize_t n;
	char list[300];
	bool any = false;
	int r = -ENOENT;

	if (!f)
		return err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	while ((n = getline(&line, &cap, f)) > 0) {
		if (!symline_parse(&l, line, line + n - (line[n - 1] == '\n')))
			continue;
		any |= l.addr != 0;
		if (l.name_n == want && memcmp(l.name, name, want) == 0) {
			*addr = l.addr;
			r = 0;
			break;
		}
		line[l.name + l.name_n - line] = '\0';
		if (str_distance(l.name, name, 2) <= 2)
			str_nearest_add(&near, arena_strdup(&names, l.name));
	}
	if (r == 0 && *addr == 0 && !any) {
		err_set(e, EPERM, "the kernel hides its addresses from this user");
		r = err_hint(e, "run it with sudo, or: sudo sysctl kernel.kptr_restrict=0");
	} else if (r < 0) {
		err_set(e, ENOENT, "there is no kernel symbol '%s'", name);
		if (str_nearest_list(&near, list, sizeof(list)))
			err_hint(e, "did you mean %s?", list);
		else
			err_hint(e, "'grep %s %s' searches; a user address is given as a number",
				 name, path);
	}
	arena_free(&names);
	return r;
}
