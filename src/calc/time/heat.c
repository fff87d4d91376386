/* SPDX-License-Identifier: MIT */
#include "calc/time/heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

#define MAX_COLUMNS 65536u
#define MAX_ROWS 4096u

void heat_points_free(struct heat_points *p)
{
	strtab_free(&p->strings);
	strtab_free(&p->details);
	vec_free(&p->points);
	free(p->why);
}

/* The values in order: extremes, mean and percentiles. */
static void sum_up(const struct heat_points *p, struct heat *h)
{
	size_t n = p->points.n;
	AUTO_FREE struct sort_key *keys = mem_alloc(n * sizeof(*keys));
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		keys[i] = (struct sort_key){ .key = p->points.data[i].value, .index = (uint32_t)i };
		sum += (double)p->points.data[i].value;
	}
	sort_keys(keys, n);
	h->total = n;
	h->min = keys[0].key;
	h->max = keys[n - 1].key;
	h->mean = sum / (double)n;
	for (int i = 0; i < HEAT_PERCENTS; i++) {
		double rank = ceil((double)n * heat_percents[i] / 100);
		size_t at = rank < 1 ? 0 : (size_t)rank - 1;

		h->percentile[i] = keys[at < n ? at : n - 1].key;
	}
}

/*
 * Edges that grow by the same factor, as many a decade as fit, and such that
 * every power of ten is one: the axis then has round numbers.
 */
static void log_edges(struct heat *h, uint64_t min, uint64_t max, uint32_t rows)
{
	static const int steps[] = { 1, 2, 4, 5, 8, 10, 16, 20, 32, 40, 64 };
	double lo = log10(min ? (double)min : 1), hi = log10(max ? (double)max : 1);
	int k = 1, from, to;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if ((hi - lo) * steps[i] + 2 <= rows)
			k = steps[i];
	from = (int)floor(lo * k + 1e-9);
	to = (int)floor(hi * k + 1e-9) + 1;
	h->rows = (uint32_t)(to - from);
	h->edge = mem_alloc((h->rows + 1) * sizeof(*h->edge));
	/* i / k is exact for powers of ten, and so is pow() then */
	for (int i = from; i <= to; i++)
		h->edge[i - from] = pow(10, (double)i / k);
}

/* Round steps: 1, 2 or 5 times a power of ten. */
static void linear_edges(struct heat *h, uint64_t min, uint64_t max, uint32_t rows)
{
	double span = (double)(max - min) + 1, step = span / rows, ten, first;
	static const double round_[] = { 1, 2, 5, 10 };

	ten = pow(10, floor(log10(step)));
	for (size_t i = 0; i < ARRAY_SIZE(round_); i++)
		if (round_[i] * ten >= step) {
			step = round_[i] * ten;
			break;
		}
	if (step < 1)
		step = 1;
	first = floor((double)min / step) * step;
	h->rows = (uint32_t)floor(((double)max - first) / step) + 1;
	h->edge = mem_alloc((h->rows + 1) * sizeof(*h->edge));
	for (uint32_t i = 0; i <= h->rows; i++)
		h->edge[i] = first + i * step;
}

uint32_t heat_row(const struct heat *h, uint64_t value)
{
	double v = (double)value;
	uint32_t lo = 0, hi = h->rows;

	if (!h->rows || v > h->edge[h->rows] || (v < h->edge[0] && value > 0))
		return h->rows;
	while (lo + 1 < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (v >= h->edge[mid])
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int heat_make(const struct heat_points *p, const struct heat_opts *o, struct heat *ret,
	      struct err *e)
{
	struct heat h = { 0 };
	uint64_t first = UINT64_MAX, last = 0, min, max;

	if (!o->columns || o->columns > MAX_COLUMNS || !o->rows || o->rows > MAX_ROWS)
		return err_set(e, EINVAL, "a heat map has 1 to %u columns and 1 to %u rows",
			       MAX_COLUMNS, MAX_ROWS);
	if (o->min && o->max && o->min >= o->max)
		return err_set(e, EINVAL, "the value axis ends before it begins");
	if (!p->points.n) {
		*ret = h;
		return 0;
	}
	vec_each (&p->points, q) {
		first = q->time < first ? q->time : first;
		last = q->time > last ? q->time : last;
	}
	sum_up(p, &h);
	max = o->max ? o->max : h.max;
	min = o->min ? o->min : o->linear ? 0 : h.min;
	if (min > max)
		min = max;
	if (o->linear)
		linear_edges(&h, min, max, o->rows);
	else
		log_edges(&h, min, max, o->rows);
	h.first = first;
	h.step = (last - first) / o->columns + 1;
	if (h.step < o->step)
		h.step = o->step;
	h.columns = (uint32_t)((last - first) / h.step) + 1;
	h.count = mem_alloc((size_t)h.columns * h.rows * sizeof(*h.count));
	vec_each (&p->points, q) {
		uint32_t row = q->value < o->min ? h.rows : heat_row(&h, q->value), *cell;

		if (row == h.rows || (o->max && q->value > o->max)) {
			*(q->value < min ? &h.low : &h.high) += 1;
			continue;
		}
		cell = &h.count[(q->time - first) / h.step * h.rows + row];
		h.most = ++*cell > h.most ? *cell : h.most;
	}
	*ret = h;
	return 0;
}

void heat_free(struct heat *h)
{
	free(h->edge);
	free(h->count);
}
