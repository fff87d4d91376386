/* SPDX-License-Identifier: MIT */
#include "event/span.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* "123.456" into nanoseconds; an empty text is 0. */
static bool parse_seconds(const char *s, size_t n, uint64_t *ret)
{
	uint64_t sec = 0, ns = 0, unit = 100000000;
	size_t i = 0;

	for (; i < n && isdigit((unsigned char)s[i]); i++) {
		if (sec > UINT64_MAX / 20000000000u)
			return false;
		sec = sec * 10 + (uint64_t)(s[i] - '0');
	}
	if (i < n && s[i] == '.')
		for (i++; i < n && isdigit((unsigned char)s[i]); i++, unit /= 10)
			ns += (uint64_t)(s[i] - '0') * unit;
	*ret = sec * 1000000000 + ns;
	return i == n;
}

/* Shares next to each other do not touch, but the last one ends with the recording. */
static struct span span_share(const struct trace *t, double from, double to)
{
	uint64_t all = t->last_time - t->first_time;
	struct span r = { t->first_time + (uint64_t)llround(from * (double)all),
			  t->first_time + (uint64_t)llround(to * (double)all) };

	if (r.end > r.start && r.end != t->last_time)
		r.end--;
	return r;
}

/* "10%", "10%/2" or "10%-20%". */
static bool parse_share(const char *s, const struct trace *t, struct span *ret)
{
	char *end;
	const char *second;
	double a = strtod(s, &end), b;
	unsigned long nth;

	if (end == s || *end != '%' || !(a >= 0) || a > 100)
		return false;
	second = end + 2;
	switch (end[1]) {
	case '\0': *ret = span_share(t, 0, a / 100); return a > 0;
	case '/':
		nth = strtoul(second, &end, 10);
		if (end == second || *end || nth < 1 || !(a > 0) || a * (double)nth > 100.0001)
			return false;
		*ret = span_share(t, a / 100 * (double)(nth - 1), a / 100 * (double)nth);
		return true;
	case '-':
		b = strtod(second, &end);
		if (end == second || strcmp(end, "%") != 0 || !(b >= a) || b > 100)
			return false;
		*ret = span_share(t, a / 100, b / 100);
		return true;
	default: return false;
	}
}

static bool parse_times(const char *s, struct span *ret)
{
	const char *comma = strchr(s, ',');

	return comma && parse_seconds(s, (size_t)(comma - s), &ret->start) &&
	       parse_seconds(comma + 1, strlen(comma + 1), &ret->end) &&
	       (!ret->end || ret->end >= ret->start);
}

int spans_parse(struct spans *s, const char *text, const struct trace *t, struct err *e)
{
	AUTO_FREE char *copy = mem_strdup(text);
	bool shares = strchr(text, '%') != NULL;
	const char *between = shares ? ", " : " "; /* seconds have a comma of their own */
	char *save = NULL;

	*s = (struct spans){ 0 };
	if (shares && !t->last_time)
		return err_set(e, EINVAL, "the samples have no times to take a share of");
	for (char *part = strtok_r(copy, between, &save); part;
	     part = strtok_r(NULL, between, &save)) {
		struct span one;

		if (shares ? !parse_share(part, t, &one) : !parse_times(part, &one)) {
			spans_free(s);
			break;
		}
		vec_push(s, one);
	}
	if (s->n)
		return 0;
	err_set(e, EINVAL, "--time %s makes no sense", text);
	return err_hint(
		e, "START,STOP in seconds (either may be left out), 10%%, 10%%/2 or 10%%-20%%");
}

void spans_free(struct spans *s)
{
	vec_free(s);
}

bool spans_hold(const struct spans *s, uint64_t time)
{
	if (!s->n || !time)
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (time >= s->data[i].start && (!s->data[i].end || time <= s->data[i].end))
			return true;
	return false;
}
