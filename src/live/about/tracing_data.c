/* SPDX-License-Identifier: MIT */
#include "live/about/tracing_data.h"

#include <string.h>

#include "base/file.h"

static void tracing_data_u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, (const char *)&v, sizeof(v));
}

/* A file's content behind its size, in 4 or 8 bytes; nothing but a 0 when it cannot be read. */
static void file_part(struct strbuf *b, const char *tracefs, const char *name, size_t width)
{
	AUTO_FREE char *path = mem_printf("%s/%s", tracefs, name), *text = NULL;
	size_t n = 0;
	uint64_t size;

	if (file_read(path, 64u << 20, &text, &n) < 0)
		n = 0;
	size = n;
	strbuf_add(b, (const char *)&size, width);
	if (n)
		strbuf_add(b, text, n);
}

static bool same_system(const struct event_spec *a, const struct event_spec *b)
{
	return a->subsys && b->subsys && strcmp(a->subsys, b->subsys) == 0;
}

void tracing_data(const char *tracefs, const struct spec_list *specs, struct strbuf *b)
{
	static const char magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	AUTO_STRBUF systems = { 0 };
	uint32_t n_systems = 0;

	strbuf_add(b, magic, sizeof(magic));
	strbuf_add(b, "0.6", 4);
	strbuf_putc(b, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	strbuf_putc(b, sizeof(long));
	tracing_data_u32(b, (uint32_t)sysconf(_SC_PAGESIZE));
	strbuf_add(b, "header_page", 12);
	file_part(b, tracefs, "events/header_page", 8);
	strbuf_add(b, "header_event", 13);
	file_part(b, tracefs, "events/header_event", 8);
	tracing_data_u32(b, 0); /* ftrace's own events are not recorded through perf */
	for (size_t i = 0; i < specs->n; i++) {
		const struct event_spec *s = &specs->spec[i];
		AUTO_STRBUF formats = { 0 };
		uint32_t n = 0;
		bool first = s->subsys != NULL;

		for (size_t k = 0; k < i && first; k++)
			first = !same_system(s, &specs->spec[k]);
		for (size_t k = i; first && k < specs->n; k++)
			if (same_system(s, &specs->spec[k])) {
				AUTO_FREE char *path = mem_printf("events/%s/%s/format", s->subsys,
								  specs->spec[k].event);

				file_part(&formats, tracefs, path, 8);
				n++;
			}
		if (!n)
			continue;
		n_systems++;
		strbuf_add(&systems, s->subsys, strlen(s->subsys) + 1);
		tracing_data_u32(&systems, n);
		strbuf_add(&systems, strbuf_str(&formats), formats.n);
	}
	tracing_data_u32(b, n_systems);
	strbuf_add(b, strbuf_str(&systems), systems.n);
	tracing_data_u32(b, 0); /* kernel symbols are kept elsewhere */
	file_part(b, tracefs, "printk_formats", 4);
	file_part(b, tracefs, "saved_cmdlines", 8);
}
