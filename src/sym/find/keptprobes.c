/* SPDX-License-Identifier: MIT */
#include "sym/find/keptprobes.h"

#include <inttypes.h>

#include "base/file.h"
#include "sym/elf/usdt.h"
#include "sym/find/debugdir.h"

#define NAME "probes"
#define MAX_BYTES (16u << 20)

static void keptprobes_drop(struct kept_probe *p)
{
	vec_each (&p->defs, d)
		free(*d);
	vec_free(&p->defs);
	free(p->spec);
}

void kept_probes_free(struct kept_probes *k)
{
	vec_each (&k->list, p)
		keptprobes_drop(p);
	vec_free(&k->list);
}

void kept_probes_remove(struct kept_probes *k, size_t i)
{
	keptprobes_drop(&k->list.data[i]);
	memmove(&k->list.data[i], &k->list.data[i + 1],
		(k->list.n - i - 1) * sizeof(*k->list.data));
	k->list.n--;
}

struct kept_probe *kept_probes_add(struct kept_probes *k, const char *spec, bool is_static)
{
	struct kept_probe *p;

	for (size_t i = 0; i < k->list.n; i++)
		if (strcmp(k->list.data[i].spec, spec) == 0) {
			kept_probes_remove(k, i);
			break;
		}
	p = vec_add(&k->list);
	p->spec = mem_strdup(spec);
	p->is_static = is_static;
	return p;
}

static int keptprobes_add_line(void *ctx, const char *line, size_t n)
{
	struct kept_probes *k = ctx;

	if (n > 1 && (*line == '#' || *line == '%')) {
		AUTO_FREE char *spec = mem_strndup(line + 1, n - 1);

		kept_probes_add(k, spec, *line == '%');
	} else if (n > 2 && k->list.n) {
		vec_push(&k->list.data[k->list.n - 1].defs, mem_strndup(line, n));
	}
	return 0;
}

void kept_probes_parse(struct kept_probes *k, const char *text)
{
	str_split(text, '\n', keptprobes_add_line, k);
}

int kept_probes_read(int dir, const struct build_id *id, struct kept_probes *ret)
{
	AUTO_CLOSE int fd = debugdir_file(dir, id, NAME);
	AUTO_FREE char *text = NULL;
	char self[64];
	int r;

	*ret = (struct kept_probes){ 0 };
	if (fd < 0)
		return fd;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	r = file_read(self, MAX_BYTES, &text, NULL);
	if (r < 0)
		return r;
	kept_probes_parse(ret, text);
	return 0;
}

int kept_probes_write(int dir, const char *path, const struct build_id *id,
		      const struct kept_probes *k, struct err *e)
{
	AUTO_STRBUF text = { 0 };

	vec_each (&k->list, p) {
		strbuf_printf(&text, "%c%s\n", p->is_static ? '%' : '#', p->spec);
		vec_each (&p->defs, d)
			strbuf_printf(&text, "%s\n", *d);
	}
	return debugdir_store(dir, path, id, NAME, text.data, text.n, e);
}

struct scan {
	struct kept_probes *k;
	const struct elf *elf;
	const char *path;
};

/* One that is at several places is several definitions. */
static struct kept_probe *of_name(struct kept_probes *k, const char *spec)
{
	vec_each (&k->list, p)
		if (p->is_static && strcmp(p->spec, spec) == 0)
			return p;
	return kept_probes_add(k, spec, true);
}

static int add_static(void *ctx, const struct usdt_probe *p)
{
	struct scan *s = ctx;
	AUTO_FREE char *spec = mem_printf("sdt_%s:%s=%s", p->provider, p->name, p->name);
	AUTO_STRBUF def = { 0 };
	struct kept_probe *kept;
	uint64_t at, semaphore;

	if (!elf_offset(s->elf, p->pc, &at))
		return 0;
	strbuf_printf(&def, "p:sdt_%s/%s %s:0x%" PRIx64, p->provider, p->name, s->path, at);
	if (p->semaphore && elf_offset(s->elf, p->semaphore, &semaphore))
		strbuf_printf(&def, "(0x%" PRIx64 ")", semaphore);
	usdt_args_text(p, s->elf->machine, &def);
	kept = of_name(s->k, spec);
	vec_push(&kept->defs, mem_strdup(strbuf_str(&def)));
	return 0;
}

void kept_probes_scan(struct kept_probes *k, const struct elf *elf, const char *path)
{
	usdt_each(elf, add_static, &(struct scan){ k, elf, path });
}
