/* SPDX-License-Identifier: MIT */
/* A program as it is loaded. What is changed of it is memory of the arena. */
#ifndef KYMO_LIVE_RUN_LOADED_CODE_H
#define KYMO_LIVE_RUN_LOADED_CODE_H

#include "lang/lang.h"
#include "live/walk/walker.h"

struct arena;

/* Does it want user stacks? */
bool run_code_walks(const struct lang_code *c);
/* With the walker's code behind it, or NULL: with frame pointers in its place. */
void run_code_walker(struct arena *a, const struct walker_function *f, struct lang_code *c);
/*
 * It first looks into a map of one struct run_state whether it still is to do anything. (Links to
 * many uprobes cannot be switched off, and take long to close; nothing that is stopped at once may
 * feed what is being shown.) own: the process whose doings it leaves out and counts; 0: nobody's.
 */
void run_code_state(struct arena *a, int map, uint32_t own, struct lang_code *c);
/* Another program runs in its place, once it is in that map. */
void run_code_give_way(struct arena *a, int map, struct lang_code *c);

#endif
