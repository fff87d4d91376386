/* SPDX-License-Identifier: MIT */
#include "kern/modules.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/mem.h"

#define DEP_MAX (64u << 20)

void modules_open(struct modules *m)
{
	AUTO_FREE char *path = NULL;
	struct utsname uts = { 0 };

	uname(&uts);
	*m = (struct modules){ .folder = mem_printf("/lib/modules/%s", uts.release) };
	path = mem_printf("%s/modules.dep", m->folder);
	if (file_read(path, DEP_MAX, &m->dep, NULL) < 0)
		m->dep = NULL;
}

void modules_close(struct modules *m)
{
	free(m->folder);
	free(m->dep);
}

/* Names have _ where files may have -. */
static bool is_module(const char *base, size_t n, const char *name)
{
	size_t len = strlen(name);

	if (n < len + 3 || strncmp(base + len, ".ko", 3) != 0)
		return false;
	for (size_t i = 0; i < len; i++)
		if (base[i] != name[i] && !(base[i] == '-' && name[i] == '_'))
			return false;
	return true;
}

/* "kernel/fs/ext4/ext4.ko: ..." */
char *modules_path(const struct modules *m, const char *name)
{
	for (const char *p = m->dep; p && *p; p = strchr(p, '\n')) {
		const char *base = p, *end;

		p += *p == '\n';
		end = strchr(p, ':');
		if (!end)
			break;
		for (const char *q = base = p; q < end; q++)
			base = *q == '/' ? q + 1 : base;
		if (is_module(base, (size_t)(end - base), name))
			return mem_printf("%s/%.*s", m->folder, (int)(end - p), p);
	}
	return NULL;
}
