/* SPDX-License-Identifier: MIT */
#include "live/ftrace/functions.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "live/ftrace/ftrace.h"

/* "schedule:traceoff:3" does something when the function is called. */
static bool is_trigger(const char *name)
{
	return strchr(name, ':') && !strstr(name, ":mod:");
}

static int put_list(struct ftrace *f, const struct ftrace_buffer *b, const char *file,
		    const ftrace_names_list *names, const char *module, struct err *e)
{
	AUTO_STRBUF all = { 0 };

	vec_each (names, name)
		if (!is_trigger(*name))
			strbuf_printf(&all, "%s%s%s\n", *name, module ? ":mod:" : "",
				      module ? module : "");
	if (!names->n && module)
		strbuf_printf(&all, "*:mod:%s\n", module);
	return all.n ? ftrace_put(f, b, file, all.data, e) : 0;
}

/* A whole name among lines of "name" or "name [module]". */
static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p += n)
		if ((p == list || p[-1] == '\n') && (p[n] == '\n' || p[n] == ' ' || !p[n]))
			return true;
	return false;
}

/* sys_write: as the kernel calls it on this machine; NULL when it has no such function. */
static const char *system_call(struct ftrace *f, const char *list, const char *name)
{
	static const char *const prefixes[] = { "__x64_", "__arm64_", "__se_", "k" };

	if (!str_starts(name, "sys_"))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		const char *full = arena_printf(&f->names, "%s%s", prefixes[i], name);

		if (is_listed(list, full))
			return full;
	}
	return NULL;
}

static int ftrace_functions_no_function(const char *list, const char *name, struct err *e)
{
	AUTO_FREE char *copy = mem_strdup(list);
	struct str_nearest near = { .typed = name };
	char text[200], *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		l[strcspn(l, " \t")] = '\0';
		str_nearest_add(&near, l);
	}
	err_set(e, ENOENT,
		str_has_glob(name) ? "no function that can be traced matches '%s'"
				   : "there is no function '%s' that can be traced",
		name);
	if (str_nearest_list(&near, text, sizeof(text)))
		return err_hint(e, "did you mean %s?", text);
	return err_hint(e, "kymo ftrace list -f lists them");
}

static bool any_matches(const char *list, const char *pattern)
{
	while (*list) {
		size_t n = strcspn(list, " \t\n");
		AUTO_FREE char *name = mem_strndup(list, n);

		if (str_glob(pattern, name))
			return true;
		list = strchrnul(list, '\n');
		list += *list == '\n';
	}
	return false;
}

/* The kernel only says that something is wrong. 1: names were put right, try again. */
static int find_wrong(struct ftrace *f, ftrace_names_list *names, struct err *e)
{
	AUTO_FREE char *list = NULL;
	int better = 0;

	if (ftrace_get(f->root, "available_filter_functions", &list, NULL, NULL) < 0)
		return 0;
	vec_each (names, name) {
		bool glob = str_has_glob(*name);
		const char *call = glob ? NULL : system_call(f, list, *name);

		if (is_trigger(*name) || strstr(*name, ":mod:") ||
		    (glob ? any_matches(list, *name) : is_listed(list, *name)))
			continue;
		if (!call)
			return ftrace_functions_no_function(list, *name, e);
		snprintf(f->note, sizeof(f->note), "%s is %s in this kernel", *name, call);
		*name = call;
		better = 1;
	}
	return better;
}

int ftrace_no_function(const char *root, const char *name, struct err *e)
{
	AUTO_FREE char *list = NULL;

	if (ftrace_get(root, "available_filter_functions", &list, NULL, NULL) < 0)
		return err_set(e, ENOENT, "there is no function '%s' that can be traced", name);
	return ftrace_functions_no_function(list, name, e);
}

/* Its functions are traced from the moment it is there. */
static void note_module(struct ftrace *f, const char *module)
{
	AUTO_FREE char *path = mem_printf("/sys/module/%s", module);

	for (char *c = path + strlen("/sys/module/"); *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (access(path, F_OK) < 0)
		snprintf(f->note, sizeof(f->note),
			 "no module %.64s is loaded now; its functions are traced once it is",
			 module);
}

int ftrace_put_functions(struct ftrace *f, const struct ftrace_buffer *b, const char *file,
			 ftrace_names_list *names, const char *module, struct err *e)
{
	int r = put_list(f, b, file, names, module, e);

	if (module && r >= 0)
		note_module(f, module);
	if (r == -EINVAL) {
		int better = find_wrong(f, names, e);

		if (better < 0)
			return better;
		if (better) {
			err_clear(e);
			r = put_list(f, b, file, names, module, e);
		}
	}
	return r;
}

/* The kernel takes triggers of functions that it has not, and forgets them. Before anything is set:
 * a tracer without a filter is a lot of work in vain. */
int ftrace_check_commands(const struct ftrace *f, const struct ftrace_buffer *b, struct err *e)
{
	AUTO_FREE char *all = NULL;

	vec_each (&b->opt->functions, name) {
		AUTO_FREE char *func = mem_strndup(*name, strcspn(*name, ":"));

		if (!is_trigger(*name) || str_has_glob(func))
			continue;
		if (!all && ftrace_get(f->root, "available_filter_functions", &all, NULL, NULL) < 0)
			return 0;
		if (is_listed(all, func))
			continue;
		err_set(e, ENOENT, "%s: there is no function %s to be traced", *name, func);
		return err_hint(e, "kymo ftrace list -f lists them");
	}
	return 0;
}

/* The kernel turns the top instance off when it writes it to its log. */
static int keep_on(struct ftrace *f, const char *trigger, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/tracing_on", f->root);
	AUTO_FREE char *now = NULL;
	const char *what = strchr(trigger, ':') + 1;

	if (strncmp(what, "dump", 4) != 0 && strncmp(what, "cpudump", 7) != 0)
		return 0;
	if (ftrace_get(f->root, "tracing_on", &now, NULL, NULL) < 0)
		return 0;
	now[strcspn(now, "\n")] = '\0';
	return undo_write(f->undo, path, now, e);
}

/* When the buffer is written to, not before: they count what they meet, our own doing as well. */
int ftrace_put_commands(struct ftrace *f, const struct ftrace_buffer *b, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/set_ftrace_filter", b->dir);
	int r = 0;

	vec_each (&b->opt->functions, name)
		if (r >= 0 && is_trigger(*name)) {
			AUTO_FREE char *back = mem_printf("!%s", *name);

			r = keep_on(f, *name, e);
			if (r >= 0)
				r = undo_append(f->undo, path, *name, back, e);
		}
	return r;
}
