/* SPDX-License-Identifier: MIT */
/*
 * Every format of the running kernel, on made-up records: what we print is what
 * libtraceevent prints. printfmt-all -v shows the differences.
 */
#include <glob.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/map.h"
#include "config.h"
#include "event/printfmt/printfmt.h"
#include "tap.h"

#if HAVE_LIBTRACEEVENT
#	include <event-parse.h>
#	include <trace-seq.h>

static uint64_t seed = 1;

static uint64_t any(void)
{
	return map_hash(++seed);
}

/* A record whose dynamic fields point to texts and numbers at its end. */
static size_t make_record(const struct event_type *t, uint8_t *raw, size_t room)
{
	static const char *const texts[] = { "", "a", "some text", "/dev/null", "x y" };
	size_t at = 0;

	memset(raw, 0, room);
	for (size_t i = 0; i < t->n_fields; i++)
		if (t->fields[i].offset + t->fields[i].size > at)
			at = t->fields[i].offset + t->fields[i].size;
	if (at + 1024 > room)
		return 0;
	at = (at + 3) & ~3ul;
	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];

		if (f->kind == FIELD_DATA_LOC || f->kind == FIELD_REL_LOC) {
			size_t n = f->is_string ? 0 : any() % 5 * f->elem_size;
			uint32_t from =
				(uint32_t)at - (f->kind == FIELD_REL_LOC ? f->offset + 4 : 0);
			uint32_t loc;

			if (f->is_string) {
				const char *s = texts[any() % 5];

				n = strlen(s) + 1;
				memcpy(raw + at, s, n);
			} else {
				for (size_t k = 0; k < n; k++)
					raw[at + k] = (uint8_t)any();
			}
			loc = from | (uint32_t)n << 16;
			memcpy(raw + f->offset, &loc, 4);
			at = (at + n + 3) & ~3ul;
		} else if (f->kind == FIELD_STRING) {
			snprintf((char *)raw + f->offset, f->size, "%s", texts[any() % 5]);
		} else if (f->kind == FIELD_INT) {
			uint64_t v = any() % 4 == 0   ? any()
				     : any() % 4 == 0 ? -any() % 9
						      : any() % 70;

			/* lengths of arrays must fit */
			if (strstr(t->print_fmt, "__print_hex") || strstr(t->print_fmt, ".*s"))
				v = any() % 4;

			memcpy(raw + f->offset, &v, f->size);
		} else {
			for (size_t k = 0; k < f->size; k++)
				raw[f->offset + k] = (uint8_t)any();
		}
	}
	memcpy(raw, &t->format_id, 2);
	return at;
}

static const char *function(void *ctx, uint64_t addr, uint64_t *start, const char **module)
{
	(void)ctx;
	*module = NULL;
	*start = addr & ~0xfull;
	return addr % 3 ? "function" : NULL;
}

static char *tep_function(void *ctx, unsigned long long *addr, char **module)
{
	uint64_t start = 0;
	const char *m, *name = function(ctx, *addr, &start, &m);

	*module = NULL;
	if (name)
		*addr = start;
	return (char *)name;
}

/* Where libtraceevent 1.7 is wrong. Sorted by reason. */
static bool known(const struct event_type *t, const char *tep)
{
	static const struct {
		const char *part, *reason;
	} wrong[] = {
		{ "({ ", "statements in expressions" },
		{ "%*pbl", "lists of bits" },
		{ "%c", "it has no %c, and shifts the arguments after it" },
		{ "& (0x00040000 | ", "a & (b | c) is taken as (a & b) | c" },
		{ "- REC->nr_data + 1", "a - b + c is taken as a - (b + c)" },
		{ "!REC->tdp_enabled ?", "the ! is applied to the whole choice" },
		{ "__get_dynamic_array(pei_buf)", "it reads beyond the field" },
		{ "fragmenting=%d", "a < (b ? c : d) is taken apart" },
		{ "={%", "elements of a probe's array are taken as 0" },
		{ "__get_dynamic_array(buf)", "it reads beyond the field" },
	};

	if (strstr(tep, "[FAILED TO PARSE]"))
		return true;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (strstr(t->print_fmt, wrong[i].part))
			return true;
	/* negative numbers of one or two bytes come out positive */
	for (size_t i = 0; i < t->n_fields; i++)
		if (t->fields[i].kind == FIELD_INT && t->fields[i].is_signed &&
		    t->fields[i].size < 4)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1;
	glob_t g = { 0 };
	static uint8_t raw[65536];
	unsigned formats = 0, compiled = 0, records = 0, same = 0, better = 0, shown = 0;
	struct tep_handle *tep = tep_alloc();
	struct trace_seq seq;

	(void)argv;
	trace_seq_init(&seq);
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, 8);
	tep_set_function_resolver(tep, tep_function, NULL);
	glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct arena a = { 0 };
		struct event_type t = { 0 };
		struct err e = { 0 };
		const struct printfmt *f = NULL;
		struct printfmt_env env = { .resolve = function };
		AUTO_FREE char *text = NULL, *system = mem_strdup(g.gl_pathv[i] + 27);
		size_t n = 0;

		system[strcspn(system, "/")] = '\0';
		if (file_read(g.gl_pathv[i], 1 << 20, &text, &n) < 0 ||
		    strcmp(system, "ftrace") == 0)
			continue;
		formats++;
		if (type_parse_format(&t, &a, text, n, &e) < 0) {
			printf("# %s: %s\n", g.gl_pathv[i], e.msg);
			continue;
		}
		tep_parse_event(tep, text, n, system);
		if (printfmt_compile(&t, &a, 8, &f, &e) == 0)
			compiled++;
		else if (verbose)
			printf("# %s\n", e.msg);
		for (int k = 0; k < 12; k++) {
			struct strbuf b = { 0 };
			struct tep_record rec = { .data = raw };
			bool equal;

			rec.size = (int)make_record(&t, raw, sizeof(raw));
			if (!rec.size)
				continue;
			if (f) {
				printfmt_run(f, &env, raw, (size_t)rec.size, &b);
			} else {
				strbuf_puts(&b, "[FAILED TO PARSE]");
				printfmt_fields(&t, raw, (size_t)rec.size, &b);
			}
			trace_seq_reset(&seq);
			tep_print_event(tep, &seq, &rec, "%s", TEP_PRINT_INFO);
			trace_seq_terminate(&seq);
			equal = strcmp(seq.buffer, strbuf_str(&b)) == 0;
			records++;
			same += equal;
			if (!equal && known(&t, seq.buffer)) {
				better++;
			} else if (!equal && shown++ < (verbose ? 400 : 10)) {
				printf("# %s\n# tep:  %s\n# ours: %s\n", t.event, seq.buffer,
				       strbuf_str(&b));
				if (verbose)
					printf("# %.900s\n", t.print_fmt);
				strbuf_free(&b);
				break;
			}
			strbuf_free(&b);
		}
		arena_free(&a);
	}
	if (!formats) {
		SKIP("no tracefs here");
		return tap_end();
	}
	CHECK_CASE(compiled + 12 >= formats, "%u of %u formats are understood", compiled, formats);
	CHECK_CASE(same + better == records,
		   "%u of %u records print as with libtraceevent, which is wrong on %u", same,
		   records, better);
	globfree(&g);
	trace_seq_destroy(&seq);
	tep_free(tep);
	return tap_end();
}
#else
int main(void)
{
	SKIP("built without libtraceevent");
	return tap_end();
}
#endif
