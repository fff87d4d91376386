/* SPDX-License-Identifier: MIT */
/*
 * Events one by one as text, the way `perf script` shows them, or as JSON lines.
 *
 * Texts of addresses are made once and kept; nothing is looked up by name on
 * the way of an event.
 */
#pragma once

#include "base/out.h"
#include "event/trace.h"
#include "sym/names/sym.h"
#include "view/script/fields.h"

struct script_opts {
	struct script_fields fields;
	bool ns, reltime, deltatime, latency;
	bool chains;	    /* show call chains where there are any */
	unsigned max_stack; /* frames of a chain */
	bool inlines;	    /* inlined functions too, in chains made from copied stacks */
	bool inlines_all;   /* in all chains */
	bool unsorted;	    /* script_dump(): records in the file's order */
	bool json;
	bool everything; /* JSON with all that was recorded, and records of every kind */
	bool show_task, show_mmap, show_switch, show_lost, show_namespace, show_cgroup, show_bpf,
		show_text_poke;
	bool kernel_path; /* the path of the kernel's file instead of [kernel.kallsyms] */
	bool full_path;	  /* of source files */
	bool raw_names;
	const char *stop_at; /* a chain ends at these functions, by comma; NULL: none */
	/* The path of a control group by its id, NULL when not known. */
	const char *(*cgroup)(void *ctx, uint64_t id);
	void *ctx;
};

struct script;
struct script *script_new(struct trace *t, struct symbols *symbols, const struct script_opts *o,
			  struct out *out);
void script_free(struct script *s);
/* From now on into another one. */
void script_to(struct script *s, struct out *out);
/* Print one event of read_ordered(). */
void script_event(struct script *s, const struct event *ev);

/*
 * The same on several CPUs, in the same order: events are gathered, and each CPU
 * makes the text of a part of them. stable: what events point to holds until the end.
 */
struct script_team;
struct script_team *script_team_new(struct script *s, bool stable);
void script_team_event(struct script_team *t, const struct event *ev);
void script_team_free(struct script_team *t); /* prints what is left */

/*
 * A source's own dump of its records; samples are followed by the line script would print for
 * them. wants(ctx, ev): which samples are printed as well; may be NULL. -EOPNOTSUPP: the source has
 * no dump.
 */
int script_dump(struct script *s, struct source *src, const char *file,
		bool (*wants)(void *ctx, const struct event *ev), void *ctx, struct err *e);

/* For filters: function and file at the event's address, NULL when not known, and where the
 * function starts in memory. */
void script_names(struct script *s, const struct event *ev, const char **function, const char **dso,
		  uint64_t *start);
