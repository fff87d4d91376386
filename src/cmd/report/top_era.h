/* SPDX-License-Identifier: MIT */
/*
 * What a live view knows of tasks and names, so that it can run for days.
 *
 * Programs come and go, and what is known of them grows. When it has become much, an era ends:
 * tasks and symbols are made anew, with what is counted now. Tables that are still looked at keep
 * the era they were made in.
 */
#ifndef KYMO_CMD_REPORT_TOP_ERA_H
#define KYMO_CMD_REPORT_TOP_ERA_H

#include "calc/profile/profile.h"
#include "live/capture/monitor.h"
#include "sym/names/sym.h"

struct top_era {
	struct trace trace; /* a copy: its tasks are those of this era */
	struct symbols *symbols;
	struct symbols_use begun; /* after the first table */
	bool has_begun, ended;
	unsigned users;
};

struct top_eras {
	struct monitor *monitor;
	struct profile_builder *counted;
	/* NULL when it fails. */
	struct symbols *(*new_symbols)(void *ctx, struct err *e);
	void *ctx;
	struct top_era *now;
};

int top_eras_begin(struct top_eras *t, struct err *e);
/* The one that tables are made in; each is put back. */
struct top_era *top_era_take(struct top_eras *t);
void top_era_put(struct top_era *e);
/* A table was made: does another era begin? What was counted has its new numbers then. */
void top_eras_turn(struct top_eras *t);
/* After all tables. */
void top_eras_end(struct top_eras *t);

#endif
