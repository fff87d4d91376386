/* SPDX-License-Identifier: MIT */
/* The columns of numbers: what a row weighs, and the table's other sums beside it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/tui/report.h"

#define LEAST_WIDTH 8
#define MOST_WIDTH 14 /* of a title */

static void add_behind(const struct tui_view *v, int behind, unsigned *ret, unsigned *n)
{
	for (unsigned i = 0; i < v->t.n_sums; i++)
		if ((int)v->t.sum[i].behind == behind)
			ret[(*n)++] = TUI_SORT_SUM + i;
}

unsigned tui_sums_shown(const struct tui_view *v, unsigned *ret)
{
	unsigned n = 0;

	if (v->t.children) {
		ret[n++] = TUI_SORT_TOTAL;
		add_behind(v, TUI_SUM_TOTAL, ret, &n);
	}
	ret[n++] = TUI_SORT_SELF;
	add_behind(v, TUI_SUM_SELF, ret, &n);
	if (v->samples) {
		ret[n++] = TUI_SORT_COUNT;
		add_behind(v, TUI_SUM_COUNT, ret, &n);
	}
	add_behind(v, TUI_SUM_LAST, ret, &n);
	return n;
}

const char *tui_sums_title(const struct tui_view *v, unsigned sum)
{
	switch (sum) {
	case TUI_SORT_TOTAL: return "Children";
	case TUI_SORT_SELF: return v->t.children ? "Self" : "Overhead";
	case TUI_SORT_COUNT: return "Samples";
	default: return v->t.sum[sum - TUI_SORT_SUM].title;
	}
}

int tui_sums_width(const struct tui_view *v, unsigned sum)
{
	int n = (int)strlen(tui_sums_title(v, sum));

	if (sum >= TUI_SORT_SUM && !v->t.sum[sum - TUI_SORT_SUM].total) { /* as long as they get */
		int digits = snprintf(NULL, 0, "%" PRIu64, v->shown_sum[sum - TUI_SORT_SUM]);

		return digits > n && digits > LEAST_WIDTH ? digits
		       : n > LEAST_WIDTH		  ? n
							  : LEAST_WIDTH;
	}
	return n < LEAST_WIDTH ? LEAST_WIDTH : n < MOST_WIDTH ? n : MOST_WIDTH;
}

uint64_t tui_sums_value(const struct tui_view *v, uint32_t row, unsigned sum)
{
	switch (sum) {
	case TUI_SORT_TOTAL: return v->row[row].total;
	case TUI_SORT_SELF: return v->row[row].self;
	case TUI_SORT_COUNT: return v->row[row].count;
	default: return v->sums[(size_t)row * v->t.n_sums + sum - TUI_SORT_SUM];
	}
}

/* Is it shown as a share? Then of what. */
static bool is_share(const struct tui_view *v, unsigned sum, uint64_t *of)
{
	const struct tui_sum *s = sum < TUI_SORT_SUM ? NULL : &v->t.sum[sum - TUI_SORT_SUM];
	uint64_t left = s && s->base >= 0 ? v->shown_sum[s->base] : v->shown_most;

	if (sum == TUI_SORT_COUNT || (s && !s->total))
		return false;
	*of = v->relative && left ? left : s ? s->total : v->t.total;
	return true;
}

void tui_sums_draw(const struct tui_view *v, struct tui_line *l, uint32_t row)
{
	unsigned sum[TUI_SORT_TEXT], n = tui_sums_shown(v, sum);

	for (unsigned i = 0; i < n; i++) {
		uint64_t value = tui_sums_value(v, row, sum[i]), of;
		int width = tui_sums_width(v, sum[i]);

		if (is_share(v, sum[i], &of))
			tui_printf(l, tui_heat(profile_percent(value, of)), "%*.2f%%  ", width - 1,
				   profile_percent(value, of));
		else
			tui_printf(l, TUI_PLAIN, "%*" PRIu64 "  ", width, value);
	}
}

void tui_sums_print(const struct tui_view *v, FILE *f, uint32_t row)
{
	unsigned sum[TUI_SORT_TEXT], n = tui_sums_shown(v, sum);

	for (unsigned i = 0; i < n; i++) {
		uint64_t value = tui_sums_value(v, row, sum[i]), of;
		int width = tui_sums_width(v, sum[i]);

		if (is_share(v, sum[i], &of))
			fprintf(f, "  %*.2f%%", width - 1, profile_percent(value, of));
		else
			fprintf(f, "  %*" PRIu64, width + 1, value);
	}
}
