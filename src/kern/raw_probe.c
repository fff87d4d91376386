/* SPDX-License-Identifier: MIT */
#include "kern/raw_probe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/probe_events.h"

/* A name of letters, digits and '_' out of whatever the probe is on. */
static char *make_name(const char *what, size_t n, bool at_return)
{
	AUTO_STRBUF b = { 0 };
	const char *slash = memrchr(what, '/', n);

	/* of a file and an offset: both */
	if (slash) {
		n -= (size_t)(slash + 1 - what);
		what = slash + 1;
	}
	strbuf_putc(&b, at_return ? 'r' : 'p');
	strbuf_putc(&b, '_');
	for (size_t i = 0; i < n && i < 50; i++)
		strbuf_putc(&b, isalnum((unsigned char)what[i]) ? what[i] : '_');
	return mem_strdup(strbuf_str(&b));
}

/* "name=%di", "$retval", "+0(%si):string": no place to probe. */
static bool is_argument(const char *word)
{
	return strchr("%@+-$\\", *word) || memchr(word, '=', strcspn(word, " \t"));
}

/* Not "vfs_read+4", "func.isra.0". */
static bool plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

static bool is_name(const char *s)
{
	return *s && !isdigit((unsigned char)*s) && plain(s, strlen(s));
}

/* What the kernel would take otherwise than it is meant. */
static int check_names(const struct raw_probe *p, const char *text, struct err *e)
{
	const char *bad = !is_name(p->group) ? p->group : !is_name(p->name) ? p->name : NULL;

	if (strchr(text, '\n'))
		return err_set(e, EINVAL, "a probe is one line");
	return bad ? err_set(e, EINVAL, "a probe cannot be called '%s' (letters, digits and '_')",
			     bad)
		   : 0;
}

int raw_probe_parse(const char *text, const char *group, struct raw_probe *ret, struct err *e)
{
	const char *p = text, *name = NULL, *slash = NULL, *where;
	struct raw_probe out = { 0 };
	size_t kind_n, name_n = 0;

	while (isspace((unsigned char)*p))
		p++;
	if (*p != 'p' && *p != 'r') {
		err_set(e, EINVAL, "a probe begins with 'p' (entry) or 'r' (return), not '%s'",
			text);
		return err_hint(e,
				"for instance: 'p:myopen do_sys_openat2 filename=+0(%%si):string'");
	}
	kind_n = strcspn(p, ": \t");
	if (p[kind_n] == ':') {
		name = p + kind_n + 1;
		name_n = strcspn(name, " \t");
		slash = memchr(name, '/', name_n);
		where = name + name_n;
	} else {
		where = p + kind_n;
	}
	while (isspace((unsigned char)*where))
		where++;
	/* "p:vfs_read count=%dx" is short for "p:vfs_read vfs_read count=%dx" */
	if ((!*where || is_argument(where)) && name_n && !slash)
		where = name;
	if (!*where)
		return err_set(e, EINVAL, "the probe '%s' does not say where", text);
	out.group = slash ? mem_strndup(name, (size_t)(slash - name)) : mem_strdup(group);
	if (slash)
		out.name = mem_strndup(slash + 1, name_n - (size_t)(slash + 1 - name));
	else if (name_n && (where != name || plain(name, name_n)))
		out.name = mem_strndup(name, name_n);
	else
		out.name = make_name(where, strcspn(where, " \t"), *p == 'r');
	out.definition = mem_printf("%.*s:%s/%s %s", (int)kind_n, p, out.group, out.name, where);
	if (check_names(&out, text, e) < 0) {
		raw_probe_free(&out);
		return -EINVAL;
	}
	*ret = out;
	return 0;
}

void raw_probe_free(struct raw_probe *p)
{
	free(p->group);
	free(p->name);
	free(p->definition);
	*p = (struct raw_probe){ 0 };
}

int raw_probe_add(const char *tracefs, bool user, const struct raw_probe *p, struct undo *u,
		  struct err *e)
{
	AUTO_FREE char *path =
		mem_printf("%s/%s", tracefs, user ? "uprobe_events" : "kprobe_events");
	AUTO_FREE char *dir = mem_printf("%s/events/%s/%s", tracefs, p->group, p->name);
	AUTO_FREE char *back = mem_printf("-:%s/%s\n", p->group, p->name);
	int r;

	if (access(path, F_OK) < 0) {
		err_set(e, ENOENT, "this kernel has no %s", user ? "uprobes" : "kprobes");
		return err_hint(
			e, user ? "it needs CONFIG_UPROBE_EVENTS"
				: "it needs CONFIG_KPROBE_EVENTS; tracepoints do without: kymo "
				  "tpoint -l lists them");
	}
	if (access(dir, F_OK) == 0) {
		err_set(e, EEXIST, "there is a probe %s:%s already", p->group, p->name);
		return err_hint(e, "give it another name: 'p:NAME ...'");
	}
	r = undo_later(u, path, back, e);
	if (r >= 0)
		r = probe_events_add(tracefs, user, p->definition, e);
	return r;
}
