/* SPDX-License-Identifier: MIT */
/* Putting instances to rest. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/tracefs.h"
#include "live/ftrace/ftrace.h"

char *ftrace_dir(const char *root, const char *name, struct err *e)
{
	char *dir = mem_printf("%s/instances/%s", root, name ? name : FTRACE_KEPT);

	if (name && (strchr(name, '/') || *name == '.' || !*name)) {
		err_set(e, EINVAL, "'%s' is no name for an instance", name);
		free(dir);
		return NULL;
	}
	if (access(dir, F_OK) == 0)
		return dir;
	free(dir);
	if (!name)
		return mem_strdup(root);
	err_set(e, ENOENT, "there is no instance '%s'", name);
	err_hint(e, "kymo ftrace list -B lists them");
	return NULL;
}

int ftrace_reset_kept(const char *root)
{
	AUTO_FREE char *dir = mem_printf("%s/instances/%s", root, FTRACE_KEPT);
	int bad = undo_named(FTRACE_KEPT);

	/* one without its journal (another boot's /run) */
	if (access(dir, F_OK) == 0)
		bad += rmdir(dir) < 0;
	return bad;
}

int ftrace_reset_kept_in(const char *dir)
{
	return undo_named_below(FTRACE_KEPT, dir);
}

int ftrace_reset_put(const char *dir, const char *name, const char *value, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", dir, name);

	return access(path, F_OK) < 0 ? 0 : undo_put(path, value, false, e);
}

/* "traceoff:unlimited" is removed by "!traceoff"; hist triggers by their whole text. */
static void remove_triggers(const char *path)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;

	if (file_read(path, 1u << 20, &text, NULL) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *state = strstr(line, " [active]"), *unlimited = strstr(line, ":unlimited");
		AUTO_FREE char *back = NULL;

		if (*line == '#' || !*line)
			continue;
		if (!state)
			state = strstr(line, " [paused]");
		if (state)
			*state = '\0';
		if (unlimited)
			memmove(unlimited, unlimited + 10, strlen(unlimited + 10) + 1);
		back = mem_printf("!%s", line);
		undo_put(path, back, true, NULL);
	}
}

static int reset_event(void *ctx, const char *system, const char *event, struct err *e)
{
	AUTO_FREE char *trigger =
		mem_printf("%s/events/%s/%s/trigger", (const char *)ctx, system, event);

	if (access(trigger, F_OK) == 0)
		remove_triggers(trigger);
	return 0;
}

/* local, unless the kernel itself took global because the clocks of its CPUs differ. */
static void reset_clock(const char *dir)
{
	AUTO_FREE char *now = NULL;

	if (ftrace_get(dir, "trace_clock", &now, NULL, NULL) >= 0 && !strstr(now, "[global]"))
		ftrace_reset_put(dir, "trace_clock", "local", NULL);
}

int ftrace_reset_dir(const char *dir, struct err *e)
{
	static const struct {
		const char *name, *value;
	} settings[] = {
		{ "set_ftrace_filter", "" },
		{ "set_ftrace_notrace", "" },
		{ "set_graph_function", "" },
		{ "set_graph_notrace", "" },
		{ "set_ftrace_pid", "" },
		{ "set_ftrace_notrace_pid", "" },
		{ "set_event_pid", "" },
		{ "set_event_notrace_pid", "" },
		{ "max_graph_depth", "0" },
		{ "tracing_thresh", "0" },
		{ "trace", "" },
	};
	AUTO_FREE char *filter = mem_printf("%s/set_ftrace_filter", dir);
	int r = ftrace_reset_put(dir, "current_tracer", "nop", e);

	if (r >= 0)
		r = ftrace_reset_put(dir, "events/enable", "0", e);
	remove_triggers(filter); /* commands: "schedule:traceoff:unlimited" */
	ftrace_match_events(dir, "all", reset_event, (void *)dir, NULL);
	/* a system's own filter takes all of its events */
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		ftrace_reset_put(dir, settings[i].name, settings[i].value, NULL);
	reset_clock(dir);
	if (r >= 0) {
		AUTO_FREE char *events = mem_printf("%s/events", dir);
		struct file_names systems = { 0 };

		if (file_list(events, &systems) == 0)
			for (size_t i = 0; i < systems.n; i++) {
				AUTO_FREE char *of =
					mem_printf("events/%s/filter", systems.name[i]);

				ftrace_reset_put(dir, of, "0", NULL);
			}
		file_names_free(&systems);
		r = ftrace_reset_put(dir, "tracing_on", "1", e);
	}
	return r;
}
