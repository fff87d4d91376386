/* SPDX-License-Identifier: MIT */
#include "view/abilities.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/term.h"

#define NAME_WIDTH 16
#define VALUE_WIDTH 16
#define TEXT_AT (11 + NAME_WIDTH) /* the column where values begin, without the mark */
#define MEANING_AT (TEXT_AT + VALUE_WIDTH)
#define WIDTH 100 /* in a pipe, where the lines should stay readable */
#define WIDTH_MOST 140
#define WIDTH_LEAST 72

static const struct {
	enum term_style style;
	const char *mark, *plain;
} looks[] = {
	[ABILITY_OK] = { TERM_GREEN, "\342\234\224", "+" },	  /* U+2714 */
	[ABILITY_LIMITED] = { TERM_YELLOW, "\342\226\262", "!" }, /* U+25B2 */
	[ABILITY_MISSING] = { TERM_RED, "\342\234\230", "x" },	  /* U+2718 */
	[ABILITY_OFF] = { TERM_DIM, "\342\227\213", "-" },	  /* U+25CB */
};

static bool abilities_wanted(const struct ability *a, enum abilities_which which)
{
	switch (which) {
	case ABILITIES_ALL: return true;
	case ABILITIES_FIXABLE:
		/* A sum already says what its details say. */
		return a->state != ABILITY_OK && a->fixable && !a->detail;
	default: return !a->detail;
	}
}

static bool is_utf8(void)
{
	const char *names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < 3; i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return str_icontains(v, "utf-8") || str_icontains(v, "utf8");
	}
	return false;
}

/* Words wrapped between two columns; returns the column after the last. */
static unsigned wrap(FILE *out, const char *text, unsigned col, unsigned left, unsigned width)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (!first && col + 1 + n > width) {
			fprintf(out, "\n%*s", (int)left, "");
			col = left;
		} else if (!first) {
			putc(' ', out);
			col++;
		}
		fwrite(text, 1, n, out);
		col += (unsigned)n;
		text += n;
		text += strspn(text, " ");
		first = false;
	}
	return col;
}

/* before: the line above it in the group, or NULL. */
static void abilities_one(FILE *out, const struct ability *a, const struct ability *before,
			  unsigned width, unsigned shift)
{
	unsigned value_at = TEXT_AT + shift, meaning_at = MEANING_AT + shift, col;
	bool long_value = strlen(a->value) > VALUE_WIDTH - 2;
	/* Fixes are never cut: they are there to be copied. */
	const char *label = a->fixable ? "fix: " : "needs: ", *fix = a->fix;
	bool again = before && strcmp(before->fix, fix) == 0;

	fprintf(out, "  %s", term_style(out, looks[a->state].style));
	if (shift)
		fprintf(out, "%s ", is_utf8() ? looks[a->state].mark : looks[a->state].plain);
	fprintf(out, "%-7s%s  %s%-*s%s", ability_state_name(a->state), term_style(out, TERM_RESET),
		term_style(out, TERM_BOLD), NAME_WIDTH, a->name, term_style(out, TERM_RESET));
	if (long_value) {
		col = wrap(out, a->value, value_at, value_at, width);
		if (col + 2 + strlen(a->meaning) > width) {
			fprintf(out, "\n%*s", (int)meaning_at, "");
			col = meaning_at;
		} else {
			fputs("  ", out);
			col += 2;
		}
		col = wrap(out, a->meaning, col, meaning_at, width);
	} else {
		fprintf(out, "%-*s", VALUE_WIDTH, a->value);
		col = wrap(out, a->meaning, meaning_at, meaning_at, width);
	}
	if (a->state != ABILITY_OK && a->fix[0]) {
		if (again && col + 2 + strlen(label) + strlen(fix) > width)
			fix = "the same";
		if (col + 2 + strlen(label) + strlen(fix) > width)
			fprintf(out, "\n%*s", (int)value_at, "");
		else
			fputs("  ", out);
		fprintf(out, "%s%s%s%s", term_style(out, a->fixable ? TERM_CYAN : TERM_DIM), label,
			fix, term_style(out, TERM_RESET));
	}
	putc('\n', out);
}

static void summary(FILE *out, const struct ability *list, size_t n)
{
	unsigned count[4] = { 0 }, fixes = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i].detail)
			continue;
		count[list[i].state]++;
		fixes += ability_wants_fix(&list[i]);
	}
	fprintf(out, "\n%s%u ok, %u limited, %u missing, %u off%s; ", term_style(out, TERM_BOLD),
		count[ABILITY_OK], count[ABILITY_LIMITED], count[ABILITY_MISSING],
		count[ABILITY_OFF], term_style(out, TERM_RESET));
	if (fixes)
		fprintf(out, "%u can be fixed by the commands shown\n", fixes);
	else
		fputs("nothing needs fixing\n", out);
}

void abilities_text(FILE *out, const struct ability *list, size_t n, enum abilities_which which)
{
	unsigned width = term_width(out, WIDTH), shift = term_color(out) ? 2 : 0;
	const struct ability *last = NULL;

	if (width > WIDTH_MOST)
		width = WIDTH_MOST;
	if (width < WIDTH_LEAST)
		width = WIDTH_LEAST;
	for (size_t i = 0; i < n; i++) {
		if (!abilities_wanted(&list[i], which))
			continue;
		if (last && last->group != list[i].group)
			last = NULL;
		if (!last)
			fprintf(out, "%s%s%s\n", term_style(out, TERM_YELLOW),
				ability_group_name(list[i].group), term_style(out, TERM_RESET));
		abilities_one(out, &list[i], last, width, shift);
		last = &list[i];
	}
	if (which != ABILITIES_FIXABLE)
		summary(out, list, n);
}

void abilities_table(struct tables *ret, const struct ability *list, size_t n,
		     enum abilities_which which)
{
	static const struct table_column columns[] = {
		{ "id", "ID", TABLE_TEXT },	      { "group", "GROUP", TABLE_TEXT },
		{ "state", "STATE", TABLE_TEXT },     { "value", "VALUE", TABLE_TEXT },
		{ "meaning", "MEANING", TABLE_TEXT }, { "fix", "FIX", TABLE_TEXT },
		{ "fixable", "FIXABLE", TABLE_BOOL },
	};
	struct table *t = table_new(ret, "abilities", columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < n; i++) {
		const struct ability *a = &list[i];

		if (which == ABILITIES_FIXABLE && (a->state == ABILITY_OK || !a->fixable))
			continue;
		table_row(t);
		table_text(t, a->id);
		table_text(t, ability_group_name(a->group));
		table_text(t, ability_state_name(a->state));
		table_text(t, a->value);
		table_text(t, a->meaning);
		table_text(t, a->fix[0] ? a->fix : NULL);
		table_u64(t, a->fixable);
	}
}
