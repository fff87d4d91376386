/* SPDX-License-Identifier: MIT */
#include "view/report/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/term.h"

enum column_kind { BASELINE, COMPUTED, FORMULA, PERIOD };

static const struct {
	const char *name;
	int width;
} computed[] = {
	[DIFF_DELTA] = { "Delta", 7 },
	[DIFF_DELTA_ABS] = { "Delta Abs", 7 },
	[DIFF_RATIO] = { "Ratio", 14 },
	[DIFF_WEIGHTED] = { "Weighted diff", 14 },
};

struct number_column {
	enum column_kind kind;
	unsigned recording;
	char title[32];
	int width;
};

struct printing {
	FILE *f;
	const struct diff_style *s;
	const struct diff *d;
	VEC(struct number_column) numbers;
	int width[KEY_COLUMNS];
};

static void diff_text_add_number(struct printing *p, enum column_kind kind, unsigned recording)
{
	enum diff_compute c = p->d->opts.compute;
	struct number_column n = { .kind = kind, .recording = recording };
	const char *name = kind == BASELINE   ? "Baseline"
			   : kind == FORMULA  ? "Formula"
			   : kind == COMPUTED ? computed[c].name
			   : recording	      ? "Period"
					      : "Base period";
	int len;

	n.width = kind == COMPUTED  ? computed[c].width
		  : kind == FORMULA ? 70
		  : kind == PERIOD  ? 14
				    : 0;
	len = p->d->n > 2 ? snprintf(n.title, sizeof(n.title), "%s/%u", name, recording)
			  : snprintf(n.title, sizeof(n.title), "%s", name);
	n.width = len > n.width ? len : n.width;
	vec_push(&p->numbers, n);
}

/* --- numbers --- */

static void put_formula(const struct printing *p, const struct diff_row *r, unsigned n, char *buf,
			size_t size)
{
	const struct diff *d = p->d;

	switch (d->opts.compute) {
	case DIFF_RATIO:
		snprintf(buf, size, "%.0f / %.0f", (double)r->period[n], (double)r->period[0]);
		break;
	case DIFF_WEIGHTED:
		snprintf(buf, size, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")",
			 r->period[n], d->opts.weight[1], r->period[0], d->opts.weight[0]);
		break;
	default:
		snprintf(buf, size,
			 "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")",
			 r->period[n], hist_total(d->hist[n], d->opts.relative), r->period[0],
			 hist_total(d->hist[0], d->opts.relative));
	}
}

static void put_computed(const struct printing *p, const struct diff_row *r, unsigned n, int width,
			 char *buf, size_t size)
{
	const struct diff *d = p->d;
	bool sep = p->s->sep != NULL;

	switch (d->opts.compute) {
	case DIFF_RATIO:
		if (!r->has[0])
			snprintf(buf, size, "N/A");
		else if (!sep || diff_ratio(d, r, n) > 0)
			snprintf(buf, size, "%*.6f", sep ? 14 : width, diff_ratio(d, r, n));
		break;
	case DIFF_WEIGHTED:
		if (!r->has[0])
			snprintf(buf, size, "N/A");
		else if (!sep || diff_weighted(d, r, n))
			snprintf(buf, size, "%14" PRId64, diff_weighted(d, r, n));
		break;
	default: snprintf(buf, size, "%+*.2f%%", sep ? 4 : width - 1, diff_delta(d, r, n));
	}
}

static void diff_text_put_number(const struct printing *p, const struct diff_row *r,
				 const struct number_column *c)
{
	char buf[128] = " ";
	double share = c->kind == BASELINE && r->has[0] ? diff_share(p->d, r, 0) : 0;
	enum term_style color = term_heat(share);

	switch (c->kind) {
	case BASELINE:
		if (r->has[0])
			snprintf(buf, sizeof(buf), p->s->sep ? "%.2f" : "%.2f%%", share);
		break;
	case COMPUTED:
		if (r->has[c->recording])
			put_computed(p, r, c->recording, c->width, buf, sizeof(buf));
		break;
	case FORMULA:
		if (r->has[c->recording])
			put_formula(p, r, c->recording, buf, sizeof(buf));
		break;
	case PERIOD:
		if (c->recording ? r->has[c->recording] : true)
			snprintf(buf, sizeof(buf), "%" PRIu64, r->period[c->recording]);
	}
	/* a number that brings its own width, as perf's, stands on the left */
	if (p->s->sep || (c->kind == COMPUTED && p->d->opts.compute == DIFF_WEIGHTED &&
			  r->has[c->recording] && r->has[0])) {
		fprintf(p->f, "%-*s", c->width, buf);
		return;
	}
	if (color != TERM_RESET)
		fputs(term_style(p->f, color), p->f);
	fprintf(p->f, "%*s", c->width, buf);
	if (color != TERM_RESET)
		fputs(term_style(p->f, TERM_RESET), p->f);
}

/* --- cells --- */

static const char *cell(const struct printing *p, const struct diff_row *r, const struct column *c,
			char *buf, size_t size)
{
	const struct cells *cells = p->d->hist[r->from]->cells;
	const struct name_site *s = &cells->names->sites.data[r->site];
	char text[4096];

	if (c->key != KEY_SYM || !p->s->addresses)
		return cell_text(cells, c, r->at, 0, buf, size);
	snprintf(buf, size, "%-#18" PRIx64 " %c %s",
		 s->mode == EVENT_MODE_KERNEL ? s->addr : s->dso_addr, cell_origin(s),
		 cell_text(cells, c, r->at, 0, text, sizeof(text)));
	return buf;
}

static bool is_unnamed(const struct printing *p, const struct diff_row *r)
{
	const struct column *c = columns_find(p->d->columns, KEY_SYM);

	return c && r->text[c - p->d->columns->col] == STRTAB_NONE;
}

static void diff_text_measure(struct printing *p)
{
	const struct columns *cols = p->d->columns;
	char buf[4096];

	for (unsigned i = 0; i < cols->n; i++) {
		p->width[i] = (int)strlen(cols->col[i].title);
		for (size_t k = 0; k < p->d->rows.n; k++) {
			const struct diff_row *r = &p->d->rows.data[k];
			int n = (int)strlen(cell(p, r, &cols->col[i], buf, sizeof(buf)));

			if (cols->col[i].key == KEY_DSO && n < 16 && !p->s->sep && is_unnamed(p, r))
				n = 16;
			p->width[i] = n > p->width[i] ? n : p->width[i];
		}
	}
}

static void diff_text_put_row(const struct printing *p, const struct diff_row *r)
{
	const struct columns *cols = p->d->columns;
	const char *between = p->s->sep ? "" : "  ";
	char buf[4096];

	for (size_t i = 0; i < p->numbers.n; i++) {
		fputs(between, p->f);
		diff_text_put_number(p, r, &p->numbers.data[i]);
		between = p->s->sep ? p->s->sep : "  ";
	}
	for (unsigned i = 0; i < cols->n; i++) {
		const char *text;

		if (cols->col[i].hidden)
			continue;
		text = cell(p, r, &cols->col[i], buf, sizeof(buf));
		fprintf(p->f, "%s%-*s", between, i + 1 < cols->n ? p->width[i] : 0, text);
	}
	putc('\n', p->f);
}

static void put_heads(const struct printing *p)
{
	const struct columns *cols = p->d->columns;
	AUTO_FREE struct report_head *heads = mem_alloc((p->numbers.n + cols->n) * sizeof(*heads));
	size_t n = 0;

	vec_each (&p->numbers, c)
		heads[n++] = (struct report_head){ c->title, c->width, true };
	for (unsigned i = 0; i < cols->n; i++)
		if (!cols->col[i].hidden)
			heads[n++] = (struct report_head){ cols->col[i].title, p->width[i], false };
	report_put_heads(p->f, p->s->sep, heads, n);
}

static void choose_numbers(struct printing *p)
{
	for (unsigned n = 0; n < p->d->n; n++) {
		diff_text_add_number(p, n ? COMPUTED : BASELINE, n);
		if (p->s->formula && n)
			diff_text_add_number(p, FORMULA, n);
		if (p->s->period)
			diff_text_add_number(p, PERIOD, n);
	}
}

void diff_text(FILE *f, const struct diff_style *s, const struct diff *d)
{
	struct printing p = { .f = f, .s = s, .d = d };

	choose_numbers(&p);
	diff_text_measure(&p);
	if (s->list_files && !s->quiet) {
		fputs("# Data files:\n", f);
		for (unsigned i = 0; i < d->n; i++)
			fprintf(f, "#  [%u] %s %s\n", i, s->files[i], i ? "" : "(Baseline)");
		fputs("#\n", f);
	}
	if (!s->quiet)
		put_heads(&p);
	for (size_t i = 0; i < d->rows.n; i++)
		diff_text_put_row(&p, &d->rows.data[i]);
	vec_free(&p.numbers);
}

void diff_json(struct json *j, const struct diff_style *s, const struct diff *d)
{
	const struct columns *cols = d->columns;
	char buf[4096];

	json_array(j, "rows");
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct diff_row *r = &d->rows.data[i];

		json_object(j, NULL);
		for (unsigned k = 0; k < cols->n; k++) {
			const char *text = cell_text(d->hist[r->from]->cells, &cols->col[k], r->at,
						     0, buf, sizeof(buf));

			if (cols->col[k].key == KEY_SYM && text[0] == '[')
				text += 4;
			json_str(j, key_infos[cols->col[k].key].name, text + strspn(text, " "));
		}
		json_array(j, "recordings");
		for (unsigned n = 0; n < d->n; n++) {
			json_object(j, NULL);
			json_str(j, "file", s->files[n]);
			json_u64(j, "period", r->period[n]);
			json_double(j, "share", diff_share(d, r, n));
			if (n && r->has[n]) {
				json_double(j, "delta", diff_delta(d, r, n));
				if (r->has[0])
					json_double(j, "ratio", diff_ratio(d, r, n));
			}
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}
