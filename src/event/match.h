/* SPDX-License-Identifier: MIT */
/*
 * Which events a text means: what -e of reports, --event, --pair, --field, --switch-on, trace -e
 * and the events of analyses say of an event's name. What the kernel counts for a text is
 * event/spec/'s work; here the events are there already.
 */
#pragma once

#include <regex.h>
#include <string.h>

#include "base/str.h"
#include "event/trace.h"

#define MATCH_NONE UINT32_MAX

/* Exactly that tracepoint? */
static inline bool match_tracepoint(const struct event_type *t, const char *system,
				    const char *event)
{
	return t->system && strcmp(t->event, event) == 0 && strcmp(t->system, system) == 0;
}

/* A name or pattern, of "SYSTEM:EVENT" or of what follows the system. */
bool match_name(const char *pattern, const char *name);

/* The same of a type, also of the begin of its name: "cycles" is "cycles:u" and "cycles/period=7/",
 * "sched" is all of sched. Where only the event is known, the system is not looked at. */
bool match_type(const struct event_type *t, const char *text);

/* The first type of a trace; the one of exactly that name before others. */
uint32_t match_find(const struct trace *t, const char *text);
uint32_t match_find_tracepoint(const struct trace *t, const char *system, const char *event);

/* "cycles:u, sched:sched_switch": what there is instead. */
void match_list(const struct trace *t, struct strbuf *b);

/* trace-cmd's patterns: regular expressions of whole names, in any case of letters. False: it is
 * none, and there is nothing to free. */
bool match_regex(regex_t *re, const char *text, size_t n);
bool match_regex_hits(const regex_t *re, const char *name);
/* Is it one of the system's or of the event's name? */
bool match_regex_either(const char *text, const char *system, const char *event);
