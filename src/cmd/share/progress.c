/* SPDX-License-Identifier: MIT */
#include "cmd/share/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/term.h"

#define FIRST 500000000u /* ns before anything is shown */
#define EVERY 100000000u

static struct progress *shown; /* whose line is on the terminal */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *p, const char *what, bool quiet)
{
	p->what = what;
	p->on = !quiet && isatty(STDERR_FILENO);
	p->shown = false;
	p->start = now();
	atomic_store(&p->next, p->start + FIRST);
}

/* Is it time to show something? One thread does, the others go on. */
static bool is_time(struct progress *p)
{
	uint64_t t, next;

	if (!p->on)
		return false;
	t = now();
	next = atomic_load(&p->next);
	return t >= next && atomic_compare_exchange_strong(&p->next, &next, t + EVERY);
}

void progress_at(struct progress *p, size_t done, size_t all)
{
	if (!is_time(p))
		return;
	guard_tell(stderr, "\r");
	if (all)
		fprintf(stderr, "%s ... %3zu%%", p->what, done * 100 / all);
	else
		fprintf(stderr, "%s ...", p->what);
	guard_tell(stderr, "\033[K");
	p->shown = true;
	shown = p;
}

void progress_text(struct progress *p, const char *text)
{
	if (!is_time(p))
		return;
	guard_tell(stderr, "\r");
	fprintf(stderr, "%s ...", text);
	guard_tell(stderr, "\033[K");
	p->shown = true;
	shown = p;
}

void progress_line(struct progress *p, const char *text)
{
	unsigned width = term_width(stderr, 80);

	if (!p->on)
		return;
	guard_tell(stderr, "\r");
	fprintf(stderr, "%.*s", (int)(width > 1 ? width - 1 : 1), text);
	guard_tell(stderr, "\033[K");
	fflush(stderr);
	p->shown = true;
	shown = p;
}

void progress_clear(void)
{
	if (shown)
		guard_tell(stderr, "\r\033[K");
	shown = NULL;
}

void progress_end(struct progress *p)
{
	if (p->on && p->shown && shown == p)
		progress_clear();
	p->on = false;
}
