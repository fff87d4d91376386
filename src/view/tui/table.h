/* SPDX-License-Identifier: MIT */
/* Any tables in the terminal interface: sort, search, filter, scroll, and a page for each row. */
#ifndef KYMO_VIEW_TUI_TABLE_H
#define KYMO_VIEW_TUI_TABLE_H

#include "base/err.h"
#include "calc/table/table.h"

/*
 * Until the user leaves. title: what the tables are of. Rows are sorted in t itself, and no longer
 * by heading. -ENOTSUP without ncurses, or another error where there is no terminal for it.
 */
int tui_tables(struct tables *t, const char *title, struct err *e);

#endif
