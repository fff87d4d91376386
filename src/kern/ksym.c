/* SPDX-License-Identifier: MIT */
#include "kern/ksym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

int ksym_find(const char *path, const char *name, uint64_t *addr, struct err *e)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	struct str_nearest near = { .typed = name };
	struct arena names = { 0 };
	size_t cap = 0, want = strlen(name);
	char list[300];
	bool any = false;
	int r = -ENOENT;

	if (!f)
		return err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	while (getline(&line, &cap, f) > 0) {
		/* "ffffffff81000000 T _text\t[module]" */
		char *end;
		uint64_t at = strtoull(line, &end, 16);
		char *sym = end[0] == ' ' && end[1] && end[2] == ' ' ? end + 3 : NULL;

		if (!sym)
			continue;
		sym[strcspn(sym, "\t\n ")] = '\0';
		any |= at != 0;
		if (strncmp(sym, name, want) == 0 && !sym[want]) {
			*addr = at;
			r = 0;
			break;
		}
		if (str_distance(sym, name, 2) <= 2)
			str_nearest_add(&near, arena_strdup(&names, sym));
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
