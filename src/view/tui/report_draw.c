/* SPDX-License-Identifier: MIT */
/* The report view on the screen, and what it shows as text in a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "view/tui/report.h"

/* perf shortens large numbers of samples: 12K of event. */
static void samples_short(uint64_t n, char *buf, size_t size)
{
	const char *units = " KMGT";

	while (n >= 1000 && units[1]) {
		n /= 1000;
		units++;
	}
	snprintf(buf, size, "%" PRIu64 "%.1s", n, *units == ' ' ? "" : units);
}

static const char *events_name(const struct tui_view *v)
{
	return v->t.events ? v->t.events : v->m->trace->types[v->t.type].name;
}

/* What the rows are of, and which of them are left; what fits of the rest. */
static void tui_report_draw_title(const struct tui_view *v)
{
	const struct trace *trace = v->m->trace;
	char n[32], weight[32], right[64] = "";
	AUTO_STRBUF b = { 0 };
	AUTO_STRBUF total = { 0 };
	unsigned events, which = 0;
	const char *live = v->m->live_title ? v->m->live_title(v->m->ctx) : NULL;

	events = tui_rows_events(v, &which);
	if (events > 1)
		snprintf(right, sizeof(right), "event %u/%u", which + 1, events);
	if (v->frozen)
		snprintf(right, sizeof(right), "frozen");
	if (live) {
		strbuf_puts(&b, live);
	} else {
		samples_short(v->t.count, n, sizeof(n));
		strbuf_printf(&b, "Samples: %s of event%s '%s'", n, v->t.events ? "s" : "",
			      events_name(v));
		strbuf_printf(&total, ", Event count (approx.): %s",
			      str_thousands(v->t.events_total, weight, sizeof(weight)));
	}
	if (!live && trace_lost(&trace->losses))
		strbuf_printf(&b, ", %s lost",
			      str_thousands(trace_lost(&trace->losses), weight, sizeof(weight)));
	for (size_t i = 0; i < v->zooms.n; i++)
		strbuf_printf(&b, ", %s: %s", v->t.column[v->zooms.data[i].column],
			      v->zooms.data[i].text);
	if (v->filter[0])
		strbuf_printf(&b, ", with '%s'", v->filter);
	if (v->percent_limit > 0)
		strbuf_printf(&b, ", from %g%%", v->percent_limit);
	if (v->zooms.n || v->filter[0] || v->percent_limit > 0)
		strbuf_printf(&b, " (%.2f%%%s)", profile_percent(v->shown_self, v->t.total),
			      v->relative ? " = 100%" : "");
	if (tui_columns(b.data) + (int)total.n + tui_columns(right) + 4 <= tui_width())
		strbuf_puts(&b, strbuf_str(&total));
	tui_title(b.data, right[0] ? right : NULL);
}

/* What the columns of numbers take. */
static int sums_width(const struct tui_view *v)
{
	unsigned sum[TUI_SORT_TEXT], n = tui_sums_shown(v, sum);
	int width = 0;

	for (unsigned i = 0; i < n; i++)
		width += tui_sums_width(v, sum[i]) + 2;
	return width;
}

#define HISTORY_HEIGHT 12 /* of a screen that can spare a line for it */
#define HISTORY_WORDS 56
#define BAR_GAP 2
#define NAMED_WIDTH 48 /* what the last column has before there are bars */
#define BAR_LEAST 8
#define BAR_MOST 40
#define LEAST_WIDTH 10 /* of a column of text that must give way to the last one */
#define LAST_WIDTH 30  /* what the last one should have */

/* The columns of text as wide as their texts, or what the screen leaves them. */
static void fit_columns(const struct tui_view *v, int *width)
{
	unsigned n = v->t.n_columns;
	int left = tui_width() - 2 - sums_width(v);

	for (unsigned c = 0; c < n; c++) {
		width[c] = v->width[c];
		left -= c + 1 < n ? width[c] + 2 : (width[c] < LAST_WIDTH ? width[c] : LAST_WIDTH);
	}
	while (left < 0 && n > 1) {
		unsigned widest = 0;

		for (unsigned c = 1; c + 1 < n; c++)
			if (width[c] > width[widest])
				widest = c;
		if (width[widest] <= LEAST_WIDTH)
			break;
		width[widest]--;
		left++;
	}
}

/* The mark of the column that is sorted by stands in the gap behind it. */
static void head_cell(struct tui_line *l, const struct tui_view *v, const char *text, unsigned sort,
		      int width)
{
	const char *mark = v->sort_by != sort	   ? " "
			   : sort >= TUI_SORT_TEXT ? (tui_unicode() ? "▲" : "^")
			   : tui_unicode()	   ? "▼"
						   : "v";

	if (sort < TUI_SORT_TEXT) /* numbers stand at the right */
		tui_printf(l, TUI_HEAD, "%*.*s", width, width, text);
	else
		tui_cell(l, TUI_HEAD, text, width);
	tui_put(l, TUI_HEAD, mark);
	tui_put(l, TUI_HEAD, " ");
}

int tui_report_head(const struct tui_view *v)
{
	return v->m->live_level && tui_height() >= HISTORY_HEIGHT ? 2 : 1;
}

int tui_report_head_at(const struct tui_view *v, int x)
{
	unsigned sum[TUI_SORT_TEXT], n = tui_sums_shown(v, sum);
	int width[TUI_COLUMNS], at = v->t.tree ? 0 : 2;

	fit_columns(v, width);
	x += v->base.skip;
	for (unsigned i = 0; i < n; i++, at += 2) {
		at += tui_sums_width(v, sum[i]);
		if (x < at + 2)
			return (int)sum[i];
	}
	for (unsigned c = 0; c < v->t.n_columns; c++, at += 2) {
		at += width[c];
		if (x < at + 2 || c + 1 == v->t.n_columns)
			return (int)(TUI_SORT_TEXT + c);
	}
	return -1;
}

static void heads(const struct tui_view *v, const int *width)
{
	struct tui_line l = tui_line(tui_report_head(v), false);
	unsigned sum[TUI_SORT_TEXT], n = tui_sums_shown(v, sum);

	l.skip = v->base.skip;
	if (!v->t.tree)
		tui_put(&l, TUI_HEAD, "  ");
	for (unsigned i = 0; i < n; i++)
		head_cell(&l, v, tui_sums_title(v, sum[i]), sum[i], tui_sums_width(v, sum[i]));
	for (unsigned c = 0; c < v->t.n_columns; c++)
		head_cell(&l, v, v->t.column[c], TUI_SORT_TEXT + c, width[c]);
	tui_fill(&l, TUI_HEAD);
}

/* Whether it is open: before a row of a list, and before the text of one in a tree. */
static void tui_report_draw_mark(const struct tui_view *v, struct tui_line *l, uint32_t row)
{
	tui_put(l, TUI_BOLD, !tui_rows_opens(v, row) ? "  " : v->open[row] ? "- " : "+ ");
}

/* What texts leave of a wide screen is for bars, at its right edge; very long names are cut for
 * them. */
static int bar_width(const struct tui_view *v, const int *width)
{
	int left = tui_width() - 2 - sums_width(v) - BAR_GAP - 1;

	for (unsigned c = 0; c < v->t.n_columns; c++)
		left -= c + 1 < v->t.n_columns	 ? width[c] + 2
			: width[c] < NAMED_WIDTH ? width[c]
						 : NAMED_WIDTH;
	return v->base.skip || left < BAR_LEAST ? 0 : left < BAR_MOST ? left : BAR_MOST;
}

static void row_line(const struct tui_view *v, struct tui_line *l, uint32_t row, const int *width)
{
	char buf[1024], cut[1024];
	int bars = bar_width(v, width);

	if (!v->t.tree)
		tui_report_draw_mark(v, l, row);
	tui_sums_draw(v, l, row);
	if (v->t.tree) {
		tui_printf(l, TUI_PLAIN, "%*s", tui_rows_indent(v, row) - TUI_INDENT, "");
		tui_report_draw_mark(v, l, row);
	}
	for (unsigned c = 0; c < v->t.n_columns; c++) {
		const char *text = tui_rows_cell(v, row, c, buf, sizeof(buf));

		/* the last one goes on to the screen's edge, and beyond when scrolled */
		if (c + 1 < v->t.n_columns)
			text = tui_cut(text, width[c], cut, sizeof(cut));
		else if (bars)
			text = tui_cut(text, tui_width() - bars - BAR_GAP - 1 - l->x, cut,
				       sizeof(cut));
		tui_put_found(l, TUI_PLAIN, text, &v->base.search);
		if (c + 1 < v->t.n_columns)
			tui_printf(l, TUI_PLAIN, "%*s", width[c] - tui_columns(text) + 2, "");
	}
}

static void tui_report_draw_bar(struct tui_line *l, enum tui_style style, double share, int width)
{
	static const char *const part[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int eighths = (int)(share * width * 8 + 0.5);

	l->x = tui_width() - width - 1;
	for (int i = 0; i < eighths / 8; i++)
		tui_put(l, style, tui_unicode() ? "█" : "#");
	if (tui_unicode())
		tui_put(l, style, part[eighths % 8]);
}

/* How busy it was, refresh by refresh: the newest at the right. */
static void history(const struct tui_view *v)
{
	static const char *const high[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
	struct tui_line l = tui_line(1, false);
	unsigned n = v->n_history < TUI_HISTORY ? v->n_history : TUI_HISTORY;
	unsigned room = tui_width() > HISTORY_WORDS ? (unsigned)(tui_width() - HISTORY_WORDS) : 0;
	double most = 0;
	char now[32], top[32];

	if (n > room)
		n = room;
	for (unsigned i = v->n_history - n; i < v->n_history; i++)
		if (v->history[i % TUI_HISTORY] > most)
			most = v->history[i % TUI_HISTORY];
	if (!n)
		return;
	tui_printf(&l, TUI_DIM, " busy, %.1f min ", (double)n * v->m->refresh_ms / 60000);
	for (unsigned i = v->n_history - n; i < v->n_history; i++) {
		double share = most > 0 ? v->history[i % TUI_HISTORY] / most : 0;
		int step = share >= 1 ? 7 : (int)(share * 8);

		tui_put(&l, tui_heat(100 * share / 10), (tui_unicode() ? high : plain)[step]);
	}
	tui_printf(&l, TUI_DIM, " %s samples/s, at most %s",
		   str_thousands((uint64_t)v->history[(v->n_history - 1) % TUI_HISTORY], now,
				 sizeof(now)),
		   str_thousands((uint64_t)most, top, sizeof(top)));
}

struct drawing {
	const struct tui_view *v;
	int width[TUI_COLUMNS];
};

static void tui_report_line(void *ctx, struct tui_line *l, size_t at)
{
	const struct drawing *d = ctx;
	const struct tui_view *v = d->v;
	const struct tui_report_line *line = &v->lines.data[at];
	int bars = bar_width(v, d->width);
	uint64_t weight;

	l->skip = v->base.skip;
	if (!line->is_row) {
		tui_printf(l, TUI_PLAIN, "%*s",
			   v->t.tree ? sums_width(v) + tui_rows_indent(v, line->row) : 4, "");
		tui_tree_draw(l, &v->tree[line->row], v->t.names, &line->tree, v->t.total,
			      &v->base.search);
		return;
	}
	row_line(v, l, line->row, d->width);
	tui_fill(l, TUI_PLAIN);
	if (!bars || !v->heaviest)
		return;
	weight = tui_rows_weight(v, line->row);
	tui_report_draw_bar(l, tui_heat(tui_rows_percent(v, weight)),
			    (double)weight / (double)v->heaviest, bars);
}

/* What the cursor is on, in full: names may be cut above. */
static void tui_report_draw_status(const struct tui_view *v)
{
	struct tui_line l = tui_base_status(&v->base, &v->list);
	uint32_t frame = tui_rows_frame(v);

	if (!v->base.note[0] && frame != CALLS_NONE)
		tui_tree_put_place(&l, v->t.names, frame);
}

void tui_report_draw(void *view)
{
	struct tui_view *v = view;
	static const char *const recorded[] = { "Enter", "open",   "m", "menu",	  "a",	 "annotate",
						"s",	 "panes",  "/", "search", "t d", "zoom",
						"?",	 "help",   "q", "quit",	  "< >", "sort",
						"\\",	 "filter", "L", "limit",  "Tab", "event",
						"P",	 "print",  NULL };
	static const char *const tree[] = { "Enter", "open",	 "E C", "all",	  "m",	 "menu",
					    "a",     "annotate", "/",	"search", "t d", "zoom",
					    "?",     "help",	 "q",	"quit",	  "< >", "sort",
					    "\\",    "filter",	 "L",	"limit",  "Tab", "event",
					    "P",     "print",	 NULL };
	static const char *const live[] = { "Enter", "open", "f", "freeze",   "z", "zero",
					    "m",     "menu", "a", "annotate", "/", "search",
					    "?",     "help", "q", "quit",     NULL };

	struct drawing d = { .v = v };

	tui_clear();
	v->list.height = tui_height() - 3 - tui_report_head(v);
	tui_list_fit(&v->list);
	tui_report_draw_title(v);
	if (tui_report_head(v) > 1)
		history(v);
	fit_columns(v, d.width);
	heads(v, d.width);
	tui_list_draw(&v->list, tui_line(tui_report_head(v) + 1, false), v->list.height, true,
		      tui_report_line, &d);
	if (!v->lines.n) {
		struct tui_line l = tui_line(tui_report_head(v) + 2, false);

		tui_put(&l, TUI_BOLD,
			v->t.n_rows	   ? "  No row is left: Esc takes back the last filter."
			: v->m->refresh_ms ? "  No samples yet."
					   : "  No samples.");
	}
	tui_report_draw_status(v);
	tui_hints(v->m->refresh_ms ? live : v->t.tree ? tree : recorded);
}

static void print_row(FILE *f, const struct tui_view *v, uint32_t row)
{
	char buf[1024];

	tui_sums_print(v, f, row);
	for (unsigned c = 0; c < v->t.n_columns; c++) {
		const char *text = tui_rows_cell(v, row, c, buf, sizeof(buf));

		fprintf(f, "  %*s%s%*s", v->row[row].depth * TUI_INDENT, "", text,
			c + 1 < v->t.n_columns ? v->width[c] - tui_columns(text) : 0, "");
	}
	putc('\n', f);
}

void tui_report_print(const struct tui_view *v, FILE *f)
{
	unsigned sum[TUI_SORT_TEXT], n = tui_sums_shown(v, sum);
	AUTO_FREE char *end = v->m->ending ? v->m->ending(v->m->ctx) : NULL;
	char buf[2048];

	fprintf(f,
		"# Samples: %" PRIu64 " of event%s '%s'\n# Event count (approx.): %" PRIu64
		"\n#\n#",
		v->t.count, v->t.events ? "s" : "", events_name(v), v->t.events_total);
	for (unsigned i = 0; i < n; i++) {
		bool number = sum[i] == TUI_SORT_COUNT ||
			      (sum[i] >= TUI_SORT_SUM && !v->t.sum[sum[i] - TUI_SORT_SUM].total);

		fprintf(f, "%s%*s", i ? "  " : " ", tui_sums_width(v, sum[i]) + number,
			tui_sums_title(v, sum[i]));
	}
	for (unsigned c = 0; c < v->t.n_columns; c++)
		fprintf(f, "  %-*s", c + 1 < v->t.n_columns ? v->width[c] : 0, v->t.column[c]);
	fputs("\n#\n", f);
	for (size_t i = 0; i < v->lines.n; i++) {
		const struct tui_report_line *l = &v->lines.data[i];

		if (l->is_row)
			print_row(f, v, l->row);
		else
			fprintf(f, "            %*s%s\n", v->row[l->row].depth * TUI_INDENT, "",
				tui_tree_text(&v->tree[l->row], v->t.names, &l->tree, v->t.total,
					      buf, sizeof(buf)));
	}
	for (const char *line = end; line && *line; line += strcspn(line, "\n") + 1)
		fprintf(f, "%s# %.*s\n", line == end ? "#\n" : "", (int)strcspn(line, "\n"), line);
}
