/* SPDX-License-Identifier: MIT */
/* Levels of detail: how long, and which is the longest, of any run of slices in few steps. */
#include <stdlib.h>

#include "calc/slices/lanes.h"

static uint64_t length(const struct lane_row *r, size_t i)
{
	return r->slices.data[i].to - r->slices.data[i].from;
}

/* The longer one; of equal ones the first. */
static uint32_t longer(const struct lane_row *r, uint32_t a, uint32_t b)
{
	return length(r, b) > length(r, a) ? b : a;
}

void lane_row_sum(struct lane_row *r)
{
	size_t n = r->slices.n;
	uint64_t sum = 0;

	vec_fit(&r->slices);
	r->busy = mem_alloc((n / LANE_FAN + 1) * sizeof(*r->busy));
	for (size_t i = 0; i < n; i++) {
		if (i % LANE_FAN == 0)
			r->busy[i / LANE_FAN] = sum;
		sum += length(r, i);
	}
	if (n % LANE_FAN == 0)
		r->busy[n / LANE_FAN] = sum;
	for (n /= LANE_FAN; n && r->levels < LANE_LEVELS; n /= LANE_FAN) {
		const uint32_t *below = r->levels ? r->longest[r->levels - 1] : NULL;
		uint32_t *level = mem_alloc(n * sizeof(*level));

		for (size_t i = 0; i < n * LANE_FAN; i++) {
			uint32_t x = below ? below[i] : (uint32_t)i, *at = &level[i / LANE_FAN];

			*at = i % LANE_FAN ? longer(r, *at, x) : x;
		}
		r->longest[r->levels++] = level;
	}
}

void lane_row_free(struct lane_row *r)
{
	vec_free(&r->slices);
	free(r->busy);
	for (unsigned i = 0; i < r->levels; i++)
		free(r->longest[i]);
}

/* The longest of [i, end), by the largest blocks that lie in it. */
static uint32_t longest(const struct lane_row *r, size_t i, size_t end)
{
	uint32_t best = (uint32_t)i;

	while (i < end) {
		uint32_t x = (uint32_t)i;
		size_t step = 1;

		for (unsigned k = 0;
		     k < r->levels && i % (step * LANE_FAN) == 0 && i + step * LANE_FAN <= end;
		     k++) {
			step *= LANE_FAN;
			x = r->longest[k][i / step];
		}
		best = longer(r, best, x);
		i += step;
	}
	return best;
}

/* The time in all slices before i. */
static uint64_t busy_before(const struct lane_row *r, size_t i)
{
	uint64_t sum = r->busy[i / LANE_FAN];

	for (size_t k = i / LANE_FAN * LANE_FAN; k < i; k++)
		sum += length(r, k);
	return sum;
}

/* The first slice that begins at a time or later; reach: or that reaches behind it. */
static size_t first_at(const struct lane_row *r, size_t low, uint64_t time, bool reach)
{
	size_t high = r->slices.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct lane_slice *s = &r->slices.data[mid];

		if (s->from >= time || (reach && s->to > time))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Of slices [i, end), which all reach into [from, to). */
static struct lane_mark lane_mark(const struct lane_row *r, size_t i, size_t end, uint64_t from,
				  uint64_t to)
{
	uint64_t first = r->slices.data[i].from, last = r->slices.data[end - 1].to;
	uint64_t busy = busy_before(r, end) - busy_before(r, i);

	return (struct lane_mark){ .from = first > from ? first : from,
				   .to = last < to ? last : to,
				   .busy = busy - (first < from ? from - first : 0) -
					   (last > to ? last - to : 0),
				   .count = (uint32_t)(end - i),
				   .longest = longest(r, i, end) };
}

size_t lanes_marks(const struct lane_row *r, uint64_t from, uint64_t to, size_t most,
		   struct lane_mark *ret)
{
	size_t i = first_at(r, 0, from, true), end = first_at(r, i, to, false), n = 0;

	if (from >= to)
		return 0;
	if (end - i <= most) {
		for (; i < end; i++)
			ret[n++] = lane_mark(r, i, i + 1, from, to);
		return n;
	}
	for (size_t k = 0; k < most; k++) {
		uint64_t part = from + (uint64_t)((unsigned __int128)(to - from) * k / most);
		uint64_t next = from + (uint64_t)((unsigned __int128)(to - from) * (k + 1) / most);

		i = first_at(r, i, part, true);
		end = first_at(r, i, next, false);
		if (i < end)
			ret[n++] = lane_mark(r, i, end, part, next);
	}
	return n;
}
