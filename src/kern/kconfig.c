/* SPDX-License-Identifier: MIT */
#include "kern/kconfig.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "config.h"

#if HAVE_ZLIB
#	include <zlib.h>
#endif

#define CONFIG_LIMIT (4u << 20)

static int read_gz(const char *path, char **ret)
{
#if HAVE_ZLIB
	AUTO_FREE char *buf = NULL;
	size_t n = 0, cap = 512 << 10;
	gzFile f = gzopen(path, "re");
	int got;

	if (!f)
		return -ENOENT;
	buf = mem_alloc(cap);
	while ((got = gzread(f, buf + n, (unsigned)(cap - n - 1))) > 0) {
		n += (size_t)got;
		if (n + 1 == cap && cap < CONFIG_LIMIT)
			buf = mem_grow(buf, cap *= 2);
	}
	gzclose(f);
	if (got < 0)
		return -EIO;
	buf[n] = '\0';
	*ret = buf;
	buf = NULL;
	return 0;
#else
	return -ENOTSUP;
#endif
}

int kconfig_load(struct kconfig *k)
{
	static const char *const places[] = {
		"/boot/config-%s",
		"/usr/lib/modules/%s/config",
		"/lib/modules/%s/config",
		"/lib/modules/%s/build/.config",
	};
	struct utsname u;

	k->text = NULL;
	if (read_gz("/proc/config.gz", &k->text) == 0)
		return 0;
	if (uname(&u) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char path[512];
		int n = snprintf(path, sizeof(path), places[i], u.release);

		if (n < (int)sizeof(path) && file_read(path, CONFIG_LIMIT, &k->text, NULL) == 0)
			return 0;
	}
	return -ENOENT;
}

void kconfig_free(struct kconfig *k)
{
	free(k->text);
	k->text = NULL;
}

char kconfig_get(const struct kconfig *k, const char *name)
{
	size_t n = strlen(name);

	if (!k->text)
		return '?';
	for (const char *at = k->text; (at = strstr(at, "CONFIG_")); at++) {
		const char *value = at + 7 + n;

		if ((at != k->text && at[-1] != '\n') || strncmp(at + 7, name, n) != 0 ||
		    *value != '=')
			continue;
		return value[1] == 'm' ? 'm' : value[1] == 'n' ? 'n' : 'y';
	}
	return 'n';
}

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

char *modules_name(const char *path)
{
	const char *base = *path == '[' ? path + 1 : str_base_name(path);
	char *name = mem_strndup(base, strcspn(base, ".]"));

	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return name;
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
