/* SPDX-License-Identifier: MIT */
/* Values that take several lines: histograms, and time series. */
#include <inttypes.h>

#include "view/run/show.h"

#define BAR 52

static void show_hist_bound(uint64_t v, struct strbuf *b)
{
	static const char units[] = "\0KMGTPE";
	unsigned u = 0;

	/* bpftrace keeps three digits and more only where they are not whole */
	while (v >= 1024 && v % 1024 == 0 && units[u + 1]) {
		v /= 1024;
		u++;
	}
	strbuf_printf(b, "%llu", (unsigned long long)v);
	if (u)
		strbuf_putc(b, units[u]);
}

size_t show_hist_buckets(const struct ltype *t)
{
	return t->kind == LT_HIST ? lt_hist_buckets((unsigned)t->step) : lt_lhist_buckets(t);
}

void show_hist_bounds(const struct ltype *t, size_t i, int64_t *lo, uint64_t *hi)
{
	unsigned k = (unsigned)t->step;

	if (t->kind == LT_LHIST) {
		*lo = i ? t->min + (int64_t)(i - 1) * t->step : INT64_MIN;
		*hi = (uint64_t)(i ? *lo + t->step : t->min);
	} else if (i == 0) {
		*lo = INT64_MIN;
		*hi = 0;
	} else if (i <= (1u << k)) {
		*lo = (int64_t)i - 1;
		*hi = i;
	} else {
		size_t j = i - (1u << k) - 1;
		unsigned shift = (unsigned)(j >> k);
		uint64_t in = j & ((1u << k) - 1);

		*lo = (int64_t)(((1ull << k) + in) << shift);
		*hi = ((1ull << k) + in + 1) << shift;
	}
}

static void show_hist_label(const struct ltype *t, size_t i, struct strbuf *b)
{
	bool is_last = t->kind == LT_LHIST && i == lt_lhist_buckets(t) - 1;
	int64_t lo;
	uint64_t hi;

	show_hist_bounds(t, i, &lo, &hi);
	if (t->kind == LT_HIST && i && hi - (uint64_t)lo == 1) {
		strbuf_printf(b, "[%lld]", (long long)lo);
		return;
	}
	strbuf_puts(b, i ? "[" : "(..., ");
	if (i) {
		show_hist_bound((uint64_t)(is_last ? t->max : lo), b);
		strbuf_puts(b, is_last ? ", ..." : ", ");
	}
	if (!is_last)
		show_hist_bound(hi, b);
	strbuf_putc(b, ')');
}

static void show_hist_range(const struct ltype *t, const void *v, size_t *first, size_t *last,
			    uint64_t *max)
{
	size_t n = show_hist_buckets(t);

	*first = n;
	*last = 0;
	*max = 0;
	for (size_t i = 0; i < n; i++)
		if (show_word(v, i)) {
			*first = i < *first ? i : *first;
			*last = i;
			*max = show_word(v, i) > *max ? show_word(v, i) : *max;
		}
}

void show_hist_text(const struct ltype *t, const void *v, int64_t div, struct strbuf *b)
{
	size_t first, last;
	uint64_t max;

	show_hist_range(t, v, &first, &last, &max);
	for (size_t i = first; max && i <= last; i++) {
		AUTO_STRBUF name = { 0 };
		size_t bar = (size_t)((double)show_word(v, i) * BAR / (double)max);

		show_hist_label(t, i, &name);
		strbuf_printf(b, "%-16s%8llu |", strbuf_str(&name),
			      (unsigned long long)(show_word(v, i) / (uint64_t)div));
		for (size_t k = 0; k < BAR; k++)
			strbuf_putc(b, k < bar ? '@' : ' ');
		strbuf_puts(b, "|\n");
	}
	strbuf_putc(b, '\n');
}

void show_hist_json(const struct ltype *type, const void *v, int64_t div, struct strbuf *b)
{
	size_t first, last, n = type->kind == LT_LHIST ? lt_lhist_buckets(type) : 0;
	uint64_t max;

	show_hist_range(type, v, &first, &last, &max);
	strbuf_putc(b, '[');
	for (size_t i = first; max && i <= last; i++) {
		int64_t lo;
		uint64_t hi;

		strbuf_puts(b, i > first ? ", {" : "{");
		show_hist_bounds(type, i, &lo, &hi);
		if (i)
			strbuf_printf(b, "\"min\": %lld, ", (long long)lo);
		if (!n || i != n - 1)
			strbuf_printf(b, "\"max\": %lld, ", (long long)(hi - 1));
		strbuf_printf(b, "\"count\": %llu}",
			      (unsigned long long)(show_word(v, i) / (uint64_t)div));
	}
	strbuf_putc(b, ']');
}

void show_tseries(const struct lang_out *o, const struct ltype *type, const void *v,
		  struct strbuf *b)
{
	uint64_t newest = 0;
	bool first = true;

	for (int64_t i = 0; i < type->max; i++)
		if (show_word(v, (size_t)i * 3 + 1) && show_word(v, (size_t)i * 3) > newest)
			newest = show_word(v, (size_t)i * 3);
	strbuf_puts(b, o->json ? "[" : "\n");
	for (uint64_t e = newest >= (uint64_t)type->max ? newest - (uint64_t)type->max + 1 : 0;
	     e <= newest; e++) {
		size_t i = (size_t)(e % (uint64_t)type->max) * 3;
		bool have = show_word(v, i) == e && show_word(v, i + 1);
		int64_t x = have ? (int64_t)show_word(v, i + 2) : 0;

		if (have && type->agg == 1)
			x /= (int64_t)show_word(v, i + 1);
		if (o->json) {
			strbuf_printf(b, "%s{\"interval_start\": %" PRIu64 ", \"value\": %lld}",
				      first ? "" : ", ", e * (uint64_t)type->step, (long long)x);
		} else {
			uint64_t wall = o->h->wall ? o->h->wall(o->h->ctx, e * (uint64_t)type->step)
						   : e * (uint64_t)type->step;

			strbuf_printf(b, "%llu.%03llu %lld%s\n",
				      (unsigned long long)(wall / 1000000000),
				      (unsigned long long)(wall % 1000000000 / 1000000),
				      (long long)x, have ? "" : " (none)");
		}
		first = false;
	}
	strbuf_puts(b, o->json ? "]" : "\n");
}
