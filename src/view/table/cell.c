/* SPDX-License-Identifier: MIT */
/* One value of a table as people read it. */
#include <inttypes.h>
#include <string.h>

#include "view/markup.h"
#include "view/table/table.h"

/* 1500000 is 1.50 ms: three digits that count, whatever the size. */
static void put_scaled(double v, const char *const *units, size_t n, double step,
		       struct strbuf *ret)
{
	size_t i = 0;

	for (; v >= step && i + 1 < n; i++)
		v /= step;
	strbuf_printf(ret, "%.*f %s", !i || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, units[i]);
}

static void put_duration(const struct table_column *c, uint64_t ns, struct strbuf *ret)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	if (c->unit)
		strbuf_printf(ret, "%.*f", c->decimals, (double)ns / c->unit);
	else
		put_scaled((double)ns, units, ARRAY_SIZE(units), 1000, ret);
}

static void table_cell_put_bytes(const struct table_column *c, uint64_t n, struct strbuf *ret)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };

	if (c->unit == 1)
		strbuf_printf(ret, "%" PRIu64, n);
	else if (c->unit)
		strbuf_printf(ret, "%.*f", c->decimals, (double)n / c->unit);
	else
		put_scaled((double)n, units, ARRAY_SIZE(units), 1024, ret);
}

void table_cell_text(const struct table_column *c, const struct table_cell *v, struct strbuf *ret)
{
	if (!v->known) {
		strbuf_putc(ret, '-');
		return;
	}
	switch (c->kind) {
	case TABLE_TEXT: markup_clean(ret, v->text, strlen(v->text)); break;
	case TABLE_COUNT: strbuf_printf(ret, "%" PRIu64, v->u); break;
	case TABLE_NUMBER: strbuf_printf(ret, "%" PRId64, v->i); break;
	case TABLE_REAL: strbuf_printf(ret, "%.*f", c->decimals, v->f); break;
	case TABLE_TIME:
		strbuf_printf(ret, "%" PRIu64 ".%06" PRIu64, v->u / 1000000000,
			      v->u / 1000 % 1000000);
		break;
	case TABLE_DURATION: put_duration(c, v->u, ret); break;
	case TABLE_BYTES: table_cell_put_bytes(c, v->u, ret); break;
	case TABLE_SHARE:
		strbuf_printf(ret, "%.*f%%", c->decimals ? c->decimals : 2, 100 * v->f);
		break;
	case TABLE_ADDRESS: strbuf_printf(ret, "0x%" PRIx64, v->u); break;
	case TABLE_BOOL: strbuf_puts(ret, v->u ? "yes" : "no"); break;
	case TABLE_STACK:
	case TABLE_STACKS:
	case TABLE_HIST: break;
	}
}
