/* SPDX-License-Identifier: MIT */
#include "view/ftrace/spans_text.h"

#include <inttypes.h>
#include <string.h>

#include "calc/analysis/task_spans.h"
#include "view/table/table.h"

static uint64_t spans_text_u64(const struct table *t, size_t row, size_t column)
{
	return table_at(t, row, column)->u;
}

static void spans_text_time(FILE *f, uint64_t t)
{
	fprintf(f, "(ts:%" PRIu64 ".%06" PRIu64 ")", t / 1000000000, t / 1000 % 1000000);
}

static void spans_text_stacks(FILE *f, const struct table_cell *v)
{
	if (v->known)
		table_text_stacks(f, v->stacks);
}

static void spans_text_row(FILE *f, const struct table *t, size_t row)
{
	fprintf(f, "  Event: %s (%" PRIu64 ")", table_at(t, row, SPAN_EVENT)->text,
		spans_text_u64(t, row, SPAN_COUNT));
	if (table_at(t, row, SPAN_TOTAL)->known) {
		fprintf(f, " Total: %" PRIu64 " Avg: %" PRIu64 " Max: %" PRIu64,
			spans_text_u64(t, row, SPAN_TOTAL), spans_text_u64(t, row, SPAN_AVG),
			spans_text_u64(t, row, SPAN_MAX));
		spans_text_time(f, spans_text_u64(t, row, SPAN_MAX_AT));
		fprintf(f, " Min: %" PRIu64, spans_text_u64(t, row, SPAN_MIN));
		spans_text_time(f, spans_text_u64(t, row, SPAN_MIN_AT));
	}
	putc('\n', f);
	spans_text_stacks(f, table_at(t, row, SPAN_STACKS));
}

static bool spans_text_same_task(const struct table *t, size_t a, size_t b)
{
	const struct table_cell *p = table_at(t, a, SPAN_COMM), *q = table_at(t, b, SPAN_COMM);
	const struct table_cell *x = table_at(t, a, SPAN_TID), *y = table_at(t, b, SPAN_TID);

	return p->known == q->known && (!p->known || strcmp(p->text, q->text) == 0) &&
	       x->known == y->known && (!x->known || x->i == y->i);
}

static void spans_text_head(FILE *f, const struct table *t, size_t row)
{
	const struct table_cell *comm = table_at(t, row, SPAN_COMM);
	const struct table_cell *tid = table_at(t, row, SPAN_TID);

	if (!comm->known)
		fputs("\nglobal:\n", f);
	else if (!tid->known)
		fprintf(f, "\ntask: %s\n", comm->text);
	else
		fprintf(f, "\ntask: %s-%" PRId64 "\n", comm->text, tid->i);
}

void spans_text_profile_spans(FILE *f, const struct tables *tables)
{
	const struct table *t = tables->data[PROFILE_SPANS];

	for (size_t row = 0; row < t->n_rows; row++) {
		if (!row || !spans_text_same_task(t, row - 1, row))
			spans_text_head(f, t, row);
		spans_text_row(f, t, row);
	}
}

void spans_text_profile(FILE *f, const struct tables *tables)
{
	table_text_all(f, &(struct tables){ .data = &tables->data[PROFILE_TASKS], .n = 1 });
	spans_text_profile_spans(f, tables);
}

void spans_text_hist(FILE *f, const struct tables *tables)
{
	const struct table *t = tables->data[0];

	for (size_t row = 0; row < t->n_rows; row++) {
		uint64_t n = spans_text_u64(t, row, HIST_COUNT);

		fprintf(f, "%6.2f%% %10" PRIu64 "  %s",
			100.0 * (double)n / (double)t->sum[HIST_COUNT].u, n,
			table_at(t, row, HIST_EVENT)->text);
		if (t->n_columns > HIST_COMM)
			fprintf(f, "  (%" PRId64 ") %s", table_at(t, row, HIST_TID)->i,
				table_at(t, row, HIST_COMM)->text);
		putc('\n', f);
		spans_text_stacks(f, table_at(t, row, HIST_STACKS));
	}
}
