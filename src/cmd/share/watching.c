/* SPDX-License-Identifier: MIT */
#include "cmd/share/watching.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "live/loop.h"

#define NS 1000000000u

const char *watching_whom(const struct target_opts *t, char *buf, size_t size)
{
	if (t->pids)
		snprintf(buf, size, "process%s %s", strchr(t->pids, ',') ? "es" : "", t->pids);
	else if (t->tids)
		snprintf(buf, size, "thread%s %s", strchr(t->tids, ',') ? "s" : "", t->tids);
	else if (t->user)
		snprintf(buf, size, "user %s", t->user);
	else if (t->cpus)
		snprintf(buf, size, "CPU %s", t->cpus);
	else
		snprintf(buf, size, "the whole machine");
	return buf;
}

void watching_begin(struct watching *w, const struct watching_opts *o)
{
	*w = (struct watching){ .start = loop_now(), .limit_ns = o->limit_ns };
	snprintf(w->what, sizeof(w->what), "recording %s of %s", o->what,
		 o->of_command && o->command ? o->command : o->whom);
	if (o->command && o->of_command && isatty(STDOUT_FILENO))
		return;
	progress_begin(&w->line, w->what, o->quiet);
	if (!w->line.on)
		return;
	if (o->command) {
		fprintf(stderr, "%s%s%s%s; Ctrl-C ends it\n", w->what,
			o->of_command ? "" : " while ", o->of_command ? "" : o->command,
			o->of_command ? "" : " runs");
		progress_end(&w->line);
		return;
	}
	w->running = true;
	watching_at(w, 0, 0);
}

void watching_at(struct watching *w, uint64_t events, uint64_t bytes)
{
	char text[256], count[32] = "", size[32] = "", limit[32] = "", n[32];
	uint64_t seconds = (loop_now() - w->start) / NS;

	if (!w->running)
		return;
	if (w->limit_ns)
		snprintf(limit, sizeof(limit), " of %.3g", (double)w->limit_ns / NS);
	if (events)
		snprintf(count, sizeof(count), ", %s events", str_thousands(events, n, sizeof(n)));
	if (bytes)
		snprintf(size, sizeof(size), ", %s", str_bytes(bytes, n, sizeof(n)));
	snprintf(text, sizeof(text), "%s: %llu%s s%s%s; Ctrl-C ends it", w->what,
		 (unsigned long long)seconds, limit, count, size);
	progress_line(&w->line, text);
}

void watching_end(struct watching *w)
{
	progress_end(&w->line);
	w->running = false;
}
