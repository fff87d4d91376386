/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing what probes are written in: perf probe's grammar (a word a line), the ranges of -L, the
 * kernel's own definitions of the tools kprobe and uprobe, and what is kept in the build-id cache.
 */
#include <string.h>

#include "event/probe.h"
#include "fuzz.h"
#include "kern/probe_events.h"
#include "live/probe/kept.h"

static void check_text(const struct probe_text *p)
{
	FUZZ_CHECK(p->text && p->text[0]);
	FUZZ_CHECK(!p->event || p->event[0]);
	FUZZ_CHECK(p->function || p->file || p->has_address);
	FUZZ_CHECK(!p->ret || ((p->function || p->has_address) && !p->has_line && !p->pattern));
	vec_each (&p->args, a) {
		FUZZ_CHECK(a->text && a->text[0] && a->what);
		FUZZ_CHECK(a->at < strlen(p->text));
		FUZZ_CHECK(!a->name || probe_is_name(a->name));
		FUZZ_CHECK(!a->raw || !a->fields.n);
	}
}

static void parse_words(char *text)
{
	VEC(char *) words = { 0 };
	struct probe_text p = { 0 };
	struct arena arena = { 0 };
	struct err e = { 0 };
	char *save = NULL;

	for (char *w = strtok_r(text, "\n", &save); w; w = strtok_r(NULL, "\n", &save))
		vec_push(&words, w);
	if (words.n && probe_parse(&arena, words.data, words.n, &p, &e) == 0)
		check_text(&p);
	else if (words.n)
		FUZZ_CHECK(e.code > 0 && e.msg[0]);
	probe_text_free(&p);
	arena_free(&arena);
	vec_free(&words);
}

/* Whatever stands there, a probe of a program is put into that program. */
static void parse_kept(const char *text)
{
	struct kept_probes kept = { 0 };
	struct probe_target program = { .user = true, .path = (char *)"/bin/app" };
	struct probe_target kernel = { 0 };
	struct probe_defs defs = { 0 };
	struct arena arena = { 0 };

	kept_probes_parse(&kept, text);
	vec_each (&kept.list, k) {
		FUZZ_CHECK(k->spec[0]);
		probe_kept_named(k, "a*", "b");
		probe_kept_define(k, &kernel, &arena, &defs);
		vec_each (&defs.list, d)
			FUZZ_CHECK(d->place[0] && d->place[0] != '/');
		defs.list.n = 0;
		probe_kept_define(k, &program, &arena, &defs);
		vec_each (&defs.list, d) {
			FUZZ_CHECK(strncmp(d->place, "/bin/app:0x", 11) == 0);
			FUZZ_CHECK(probe_is_name(d->group) && probe_is_name(d->event));
			FUZZ_CHECK(!d->args[0] || d->args[0] == ' ');
		}
		defs.list.n = 0;
	}
	probe_defs_free(&defs);
	kept_probes_free(&kept);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_strndup((const char *)data, size);
	struct probe_lines lines = { 0 };
	struct raw_probe raw = { 0 };
	struct arena arena = { 0 };
	struct err e = { 0 };

	if (probe_lines_parse(&arena, text, &lines, &e) == 0)
		FUZZ_CHECK((lines.function || lines.file) && lines.from <= lines.to);
	else
		FUZZ_CHECK(e.code > 0 && e.msg[0]);
	err_clear(&e);
	if (raw_probe_parse(text, "kymo_1", &raw, &e) == 0)
		FUZZ_CHECK(raw.group[0] && raw.name[0] && raw.definition[0]);
	else
		FUZZ_CHECK(e.code > 0 && e.msg[0]);
	raw_probe_free(&raw);
	arena_free(&arena);
	parse_kept(text);
	parse_words(text);
	free(text);
	return 0;
}
