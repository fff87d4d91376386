/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf.data: opened, read by chunks and in order, shown in every way. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/out.h"
#include "fuzz.h"
#include "store/perfdata/perfdata.h"
#include "store/perfdata/impl.h"
#include "store/stat/statdata.h"
#include "view/script/script.h"
#include "view/stat/stat.h"

static int take(void *ctx, const struct event *ev)
{
	uint64_t *sum = ctx;

	for (uint32_t i = 0; i < ev->chain_n; i++)
		*sum += ev->chain[i];
	for (uint32_t i = 0; i < ev->raw_size; i++)
		*sum += ((const uint8_t *)ev->raw)[i];
	return 0;
}

static int take_brief(void *ctx, const struct event_brief *b, size_t n)
{
	uint64_t *sum = ctx;

	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < b[i].chain_n; k++)
			*sum += b[i].chain[k];
	return 0;
}

static int print(void *ctx, const struct event *ev)
{
	script_event(ctx, ev);
	return 0;
}

static void show(struct source *s, struct symbols *symbols, struct out *out)
{
	struct script_opts o = { .chains = true,
				 .max_stack = 127,
				 .show_task = true,
				 .show_mmap = true,
				 .show_switch = true,
				 .show_lost = true,
				 .show_namespace = true,
				 .show_cgroup = true,
				 .show_bpf = true,
				 .show_text_poke = true };
	AUTO_STRBUF notes = { 0 };
	struct script *script;

	script_fields_init(&o.fields);
	if (script_fields_check(&o.fields, s->trace, true, &notes, NULL) < 0)
		return;
	for (int json = 0; json < 2; json++) {
		o.json = json;
		script = script_new(s->trace, symbols, &o, out);
		s->read_ordered(s, true, print, script, NULL);
		if (!json)
			script_dump(script, s, "x", NULL, NULL, NULL);
		script_free(script);
	}
}

static int on_round(void *ctx, struct statdata *d, uint64_t time_ns, bool final, struct err *e)
{
	struct stat_opts o = { .by = d->config.by == STAT_CORE ? STAT_CORE : STAT_CPU,
			       .wall_ns = (double)time_ns };
	struct stat_style style = { .form = STAT_TEXT, .by = o.by, .big_num = true };
	struct stat_table t;

	(void)e;
	if (final)
		statdata_totals(d);
	stat_summarise(&d->set, &o, &t);
	stat_print_rows(ctx, &style, &t, final ? -1 : (double)time_ns);
	stat_table_free(&t);
	return 0;
}

static void show_counts(struct source *s)
{
	static FILE *null;
	struct statdata *d = NULL;

	if (!null)
		null = fopen("/dev/null", "w");
	if (statdata_open(s, &d, NULL) == 0)
		statdata_each(d, on_round, null, NULL);
	statdata_close(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1, null = -1;
	AUTO_FREE char *path = NULL;
	AUTO_STRBUF header = { 0 };
	struct symbols *symbols;
	struct source *s = NULL;
	struct err e = { 0 };
	struct out out;
	uint64_t sum = 0;

	if (file < 0) {
		file = memfd_create("fuzz", 0);
		null = open("/dev/null", O_WRONLY);
	}
	FUZZ_CHECK(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
	FUZZ_CHECK(file_write_all(file, data, size) == 0);
	scan_part_bytes = 64; /* small files in parts, too */
	path = mem_printf("/proc/self/fd/%d", file);
	if (perfdata_open(path, &s, &e) < 0) {
		FUZZ_CHECK(e.code && e.msg[0]);
		return 0;
	}
	symbols = symbols_new(&(struct symbols_opts){
		.no_cache = true, .no_debuginfod = true, .find = { .symfs = "/nonexistent" } });
	out_init(&out, null);
	perfdata_header_text(s, true, &header);
	for (size_t i = 0; i < s->n_chunks; i++)
		s->read_chunk(s, i, take, &sum, NULL);
	for (size_t i = 0; i < s->n_chunks && s->read_brief; i++)
		s->read_brief(s, i, take_brief, &sum);
	show(s, symbols, &out);
	show_counts(s);
	out_free(&out);
	symbols_free(symbols);
	source_close(s);
	return 0;
}
