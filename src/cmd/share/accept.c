/* SPDX-License-Identifier: MIT */
#include "cmd/share/accept.h"

#include <string.h>

#include "base/term.h"

int accept_nothing(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	return 0;
}

int accept_refused(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	if (unset)
		return 0;
	if (o->letter == 'D')
		err_set(e, EOPNOTSUPP, "-D: %s", o->help);
	else
		err_set(e, EOPNOTSUPP, "--%s: %s", o->name, o->help);
	return err_hint(e, "%s", o->meta);
}

int accept_color(const struct opt *o, const char *value, bool unset, void *p, struct err *e)
{
	if (!value || strcmp(value, "always") == 0)
		term_set_color(TERM_COLOR_ALWAYS);
	else if (strcmp(value, "never") == 0)
		term_set_color(TERM_COLOR_NEVER);
	else if (strcmp(value, "auto") == 0)
		term_set_color(TERM_COLOR_AUTO);
	else
		return err_set(e, EINVAL, "--stdio-color %s: always, never or auto", value);
	return 0;
}
