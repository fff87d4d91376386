/* SPDX-License-Identifier: MIT */
/* In place of the terminal interface, where it was built without ncurses. */
#include "view/tui/tui.h"

int tui_usable(struct err *e)
{
	err_set(e, ENOTSUP, "this kymo was built without ncurses, so it has no terminal interface");
	return err_hint(e, "use --stdio; or install libncurses-dev and build again");
}

int tui_report(const struct tui_model *m, struct err *e)
{
	return tui_usable(e);
}

int tui_top(const struct tui_model *m, struct err *e)
{
	return tui_usable(e);
}

int tui_annotate(const struct tui_model *m, tui_choose_fn *choose, struct err *e)
{
	return tui_usable(e);
}

int tui_tables(struct tables *t, const char *title, struct err *e)
{
	return tui_usable(e);
}
