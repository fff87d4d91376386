/* SPDX-License-Identifier: MIT */
/* How one entry of `kymo list` looks: as perf's lines, as bare words, as JSON. */

#include "base/file.h"
#include "base/str.h"
#include "cmd/front/list.h"
#include "event/match.h"

#define COLUMN 50
#define FORMAT_LIMIT (1u << 20)

/* A pattern matches the whole name, what follows its subsystem, or the event of a PMU. */
static bool matches(const char *pattern, const char *name)
{
	const char *part;

	if (!name)
		return false;
	if (!str_has_glob(pattern))
		return str_icontains(name, pattern);
	if (match_name(pattern, name))
		return true;
	part = strchr(name, '/');
	if (part) {
		AUTO_FREE char *event = mem_strndup(part + 1, strcspn(part + 1, "/"));

		return str_glob(pattern, event);
	}
	return false;
}

bool list_matches_name(const struct list *l, const char *name)
{
	for (int i = 0; i < l->n_patterns; i++)
		if (matches(l->patterns[i], name))
			return true;
	return l->n_patterns == 0;
}

bool list_matches(const struct list *l, const struct list_entry *entry)
{
	return list_matches_name(l, entry->name) ||
	       (entry->alias && list_matches_name(l, entry->alias));
}

/*
 * Calls fn for each field of a format file ("\tfield:char prev_comm[16];\toffset:8; ...")
 * that is the event's own.
 */
static void each_field(const char *path, void (*fn)(void *ctx, const char *field), void *ctx)
{
	AUTO_FREE char *text = NULL;

	if (file_read(path, FORMAT_LIMIT, &text, NULL) < 0)
		return;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *field = strstr(line, "field:");
		char *end = field ? strchr(field, ';') : NULL;

		if (!end)
			continue;
		field += 6;
		*end = '\0';
		if (!strstr(field, " common_"))
			fn(ctx, field);
	}
}

static void text_field(void *ctx, const char *field)
{
	const struct list *l = ctx;

	printf("       %s%s%s\n", l->dim, field, l->reset);
}

static void json_field(void *ctx, const char *field)
{
	json_str(ctx, NULL, field);
}

static void show_text(struct list *l, const struct list_entry *entry)
{
	AUTO_STRBUF name = { 0 };
	const char *dim = l->dim, *reset = l->reset;

	strbuf_puts(&name, entry->name);
	if (entry->alias)
		strbuf_printf(&name, " OR %s", entry->alias);
	if (entry->where)
		strbuf_puts(&name, entry->where);
	printf("  %s%s%s%*s [%s]", entry->missing ? dim : l->bold, strbuf_str(&name), reset,
	       name.n < COLUMN ? (int)(COLUMN - name.n) : 0, "", entry->kind);
	if (l->marks && entry->missing)
		printf(" %s[not available here]%s", l->yellow, reset);
	putchar('\n');
	if (entry->about && l->abouts && (l->details || entry->cryptic))
		printf("       [%s]\n", entry->about);
	if (!l->details)
		return;
	if (entry->encoding)
		printf("       %s%s%s\n", dim, entry->encoding, reset);
	if (entry->unit)
		printf("       %sin %s, counts times %g%s\n", dim, entry->unit, entry->scale,
		       reset);
	if (entry->format)
		each_field(entry->format, text_field, l);
}

static void optional(struct json *j, const char *key, const char *value)
{
	if (value)
		json_str(j, key, value);
}

/* The keys are those of newer perfs' `list -j`; Available, Fields and Where are kymo's. */
static void show_json(struct list *l, const struct list_entry *entry)
{
	struct json *j = &l->json;
	char scale[64];

	json_object(j, NULL);
	optional(j, "Unit", entry->pmu);
	json_str(j, "EventName", entry->name);
	optional(j, "EventAlias", entry->alias);
	optional(j, "Where", entry->where ? entry->where + 1 : NULL);
	json_str(j, "EventType", entry->kind);
	optional(j, "BriefDescription", l->abouts ? entry->about : NULL);
	optional(j, "Encoding", entry->encoding);
	if (entry->unit || entry->scale > 0) {
		snprintf(scale, sizeof(scale), "%g%s", entry->scale > 0 ? entry->scale : 1.0,
			 entry->unit ? entry->unit : "");
		json_str(j, "ScaleUnit", scale);
	}
	if (entry->missing)
		json_bool(j, "Available", false);
	if (entry->format && l->details) {
		json_array(j, "Fields");
		each_field(entry->format, json_field, j);
		json_end(j);
	}
	json_end(j);
}

void list_show(struct list *l, const struct list_entry *entry)
{
	if (!list_matches(l, entry))
		return;
	if (entry->is_pattern && l->style != LIST_TEXT)
		return;
	l->shown++;
	switch (l->style) {
	case LIST_TEXT: show_text(l, entry); break;
	case LIST_WORDS: printf("%s ", entry->name); break;
	case LIST_JSON: show_json(l, entry); break;
	}
}
