/* SPDX-License-Identifier: MIT */
#include "cmd/share/accept.h"

#include <string.h>

#include "base/term.h"

int accept_nothing(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	return 0;
}

int accept_no_trace(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	err_set(e, EOPNOTSUPP, "--%s: hardware traces (Intel PT, CoreSight) are not decoded",
		o->name);
	return err_hint(e, "samples of the same recording are shown without it");
}

int accept_no_guest(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	err_set(e, EOPNOTSUPP, "--%s: guests are not looked into from their host", o->name);
	return err_hint(e, "record inside the guest");
}

int accept_no_cycles(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	err_set(e, EOPNOTSUPP, "--%s: cycles of branch records are not summed", o->name);
	return err_hint(e, "report -b sums the branches themselves");
}

int accept_no_script(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	err_set(e, EOPNOTSUPP, "--%s: perf's scripts (Perl, Python) and filters (C) are not run",
		o->name);
	return err_hint(e, "kymo run -i FILE runs a program of the tracing language over a "
			   "recording, kymo script -j gives its events to any other; kymo tools "
			   "lists programs that are ready");
}

int accept_no_dump(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	err_set(e, EOPNOTSUPP, "-D: records are not dumped here");
	return err_hint(e, "kymo script -D -i FILE shows every record with its bytes");
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
