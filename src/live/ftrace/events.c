/* SPDX-License-Identifier: MIT */
/* Events by name or pattern: turning them on in an instance, with filters and triggers. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/filter.h"
#include "kern/tracefs.h"
#include "live/ftrace/ftrace.h"

typedef int match_fn(void *ctx, const char *system, const char *event, struct err *e);

static int each_event(const char *root, const char *system, const char *pattern, match_fn *fn,
		      void *ctx, int *n, struct err *e)
{
	struct file_names names = { 0 };
	int r = tracefs_events(root, system, &names, e);

	for (size_t i = 0; r >= 0 && i < names.n; i++)
		if (str_glob(pattern, names.name[i])) {
			r = fn(ctx, system, names.name[i], e);
			++*n;
		}
	file_names_free(&names);
	return r;
}

int ftrace_match_events(const char *root, const char *name, match_fn *fn, void *ctx, struct err *e)
{
	AUTO_FREE char *system = mem_strdup(strcmp(name, "all") == 0 ? "*" : name);
	struct file_names systems = { 0 };
	char *colon = strpbrk(system, ":/"), *event = NULL;
	int r = tracefs_subsystems(root, &systems, e), n = 0;

	if (colon) {
		*colon = '\0';
		event = colon + 1;
		if (!*event)
			event = "*";
	}
	for (size_t i = 0; r >= 0 && i < systems.n; i++)
		if (str_glob(system, systems.name[i]))
			r = each_event(root, systems.name[i], event ? event : "*", fn, ctx, &n, e);
	/* a name alone may be an event's as well */
	for (size_t i = 0; r >= 0 && !event && !n && i < systems.n; i++)
		r = each_event(root, systems.name[i], system, fn, ctx, &n, e);
	file_names_free(&systems);
	return r < 0 ? r : n;
}

struct setting {
	struct ftrace *f;
	const struct ftrace_buffer *b;
	const struct ftrace_event_opt *ev;
	int refused; /* of a pattern: those the kernel does not let be enabled */
	int done;
	int filtered, unfiltered; /* of several: those without the field are taken as they are */
	char *odd;		  /* the first of these, as SYSTEM/EVENT */
};

static int set_filter(struct setting *s, const char *system, const char *event, struct err *e)
{
	AUTO_FREE char *path = mem_printf("events/%s/%s/filter", system, event);
	struct arena a = { 0 };
	const char *quoted = filter_quote(&a, s->ev->filter);
	struct err why = { 0 };
	int r = ftrace_put(s->f, s->b, path, s->ev->filter, &why);

	if (r < 0 && filter_is_bad(-r))
		r = ftrace_put(s->f, s->b, path, quoted, &why);
	arena_free(&a);
	if (r < 0 && filter_is_bad(-r)) {
		s->unfiltered++;
		if (!s->odd)
			s->odd = mem_printf("%s/%s", system, event);
		return 0;
	}
	s->filtered += r >= 0;
	if (r < 0 && e)
		*e = why;
	return r;
}

static int set_trigger(const struct setting *s, const char *system, const char *event,
		       const char *trigger, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/events/%s/%s/trigger", s->b->dir, system, event);
	AUTO_FREE char *back = mem_printf("!%s", trigger), *log = NULL;
	int r;

	r = undo_append(s->f->undo, path, trigger, back, e);
	if (r == -EINVAL && strncmp(trigger, "hist", 4) == 0) {
		AUTO_FREE char *hist = mem_printf("%s/events/%s/%s/hist", s->b->dir, system, event);

		if (access(hist, F_OK) < 0) {
			err_set(e, ENOTSUP, "this kernel has no hist triggers");
			return err_hint(e,
					"it needs CONFIG_HIST_TRIGGERS; kymo run -e "
					"'tracepoint:%s:%s { @[args->FIELD] = count(); }' counts "
					"too",
					system, event);
		}
	}
	if (r == -EINVAL && ftrace_get(s->b->dir, "error_log", &log, NULL, NULL) == 0 && *log) {
		const char *last = log, *next;

		while ((next = strstr(last + 1, "\n[")))
			last = next;
		err_set(e, EINVAL, "the kernel refuses the trigger '%s' of %s:%s:\n%s", trigger,
			system, event, last + (*last == '\n'));
		return err_hint(e, "see the kernel's Documentation/trace/events.rst for triggers");
	}
	if (r == -EINVAL)
		err_hint(e, "triggers are traceon, traceoff, stacktrace, snapshot, enable_event:"
			    "SYSTEM:EVENT, disable_event:..., hist:keys=FIELD, where the kernel "
			    "has them; each takes :COUNT and if FILTER");
	return r;
}

static int set_triggers(const struct setting *s, const char *system, const char *event,
			struct err *e)
{
	int r = 0;

	for (const char *p = s->ev->trigger; r >= 0 && p && *p; p += *p == '\n') {
		size_t n = strcspn(p, "\n");
		AUTO_FREE char *one = mem_strndup(p, n);

		r = set_trigger(s, system, event, one, e);
		p += n;
	}
	return r;
}

/* As the kernel does it for the filter of a whole system. */
static int check_filtered(const struct setting *s, struct err *e)
{
	char *slash = s->odd ? strchr(s->odd, '/') : NULL;

	if (!slash)
		return 0;
	if (!s->filtered) {
		*slash = '\0';
		return filter_explain(s->f->root, s->odd, slash + 1, s->ev->filter, e);
	}
	if (!s->f->note[0])
		snprintf(s->f->note, sizeof(s->f->note),
			 "%d of %d events of '%s' cannot have this filter (%s is one): they are "
			 "traced without",
			 s->unfiltered, s->filtered + s->unfiltered, s->ev->name, slash + 1);
	return 0;
}

static int set_one(void *ctx, const char *system, const char *event, struct err *e)
{
	struct setting *s = ctx;
	AUTO_FREE char *path = mem_printf("events/%s/%s/enable", system, event);
	AUTO_FREE char *full = mem_printf("%s/%s", s->b->dir, path);
	bool plain = strpbrk(s->ev->name, ":/") && !str_has_glob(s->ev->name);
	int r = 0;

	if (access(full, F_OK) < 0)
		return 0; /* ftrace's own have no switch */
	if (s->ev->filter)
		r = set_filter(s, system, event, e);
	if (r >= 0 && s->ev->trigger)
		r = set_triggers(s, system, event, e);
	if (r >= 0) {
		r = ftrace_put(s->f, s->b, path, s->ev->off ? "0" : "1", e);
		/* some of many are refused (perf only, locked down): those that can be are traced
		 */
		if (r < 0 && !plain && !s->ev->filter && !s->ev->trigger) {
			s->refused++;
			return 0;
		}
	}
	s->done += r >= 0;
	return r;
}

int ftrace_event_set(struct ftrace *f, const struct ftrace_buffer *b,
		     const struct ftrace_event_opt *ev, struct err *e)
{
	struct setting s = { .f = f, .b = b, .ev = ev };
	bool all = strcmp(ev->name, "all") == 0 && !ev->filter && !ev->trigger;
	int r;

	/* all of an own instance at once: two thousand files take seconds */
	if (all && b->own)
		return ftrace_put(f, b, "events/enable", ev->off ? "0" : "1", e);
	r = ftrace_match_events(f->root, ev->name, set_one, &s, e);
	if (r >= 0 && check_filtered(&s, e) < 0)
		r = -EINVAL;
	free(s.odd);
	if (r < 0)
		return r;
	if (r == 0)
		return f->o->ignore_missing ? 0 : tracefs_no_event(f->root, ev->name, e);
	if (!s.done && s.refused) {
		err_set(e, EPERM, "the kernel refuses to enable '%s'", ev->name);
		return err_hint(e, "kymo doctor shows what this kernel grants");
	}
	if (s.refused && !f->note[0])
		snprintf(f->note, sizeof(f->note), "%d events of '%s' cannot be enabled here",
			 s.refused, ev->name);
	return 0;
}
