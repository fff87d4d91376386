/* SPDX-License-Identifier: MIT */
#include "cmd/share/progress.h"

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

/* In place of the line that is there. */
static void show(struct progress *p, const char *text)
{
	guard_tell(stderr, "\r");
	fputs(text, stderr);
	guard_tell(stderr, "\033[K");
	p->shown = true;
	shown = p;
}

/* Is it time to show something? One thread does, the others go on. */
static bool is_time(struct progress *p)
{
	uint64_t t = p->on ? now() : 0, next = atomic_load(&p->next);

	return p->on && t >= next && atomic_compare_exchange_strong(&p->next, &next, t + EVERY);
}

void progress_at(struct progress *p, size_t done, size_t all)
{
	char text[128];

	if (!is_time(p))
		return;
	snprintf(text, sizeof(text), all ? "%s ... %3zu%%" : "%s ...", p->what,
		 all ? done * 100 / all : 0);
	show(p, text);
}

void progress_text(struct progress *p, const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "%s ...", text);
	if (is_time(p))
		show(p, line);
}

void progress_line(struct progress *p, const char *text)
{
	unsigned width = term_width(stderr, 80);
	char line[512];

	if (!p->on)
		return;
	snprintf(line, sizeof(line), "%.*s", (int)(width > 1 ? width - 1 : 1), text);
	show(p, line);
	fflush(stderr);
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
