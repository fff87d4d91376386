/* SPDX-License-Identifier: MIT */
/*
 * Reading a half-typed line as the option parser would: which command it is,
 * which option still wants its value, where the command to be run begins.
 */
#include <string.h>

#include "base/str.h"
#include "cmd/front/complete.h"

static void line_word(const char *typed, const char *name, const char *help)
{
	complete_word(&(struct typed){ .prefix = "", .before = "", .part = typed }, name,
		      strlen(name), "", help ? help : "");
}

static void command_words(const struct command *const *list, const char *typed)
{
	for (; list && *list; list++)
		if ((*list)->group || list != commands)
			if ((*list)->name[0] != '-')
				line_word(typed, (*list)->name, (*list)->summary);
}

static void option_words(const struct command *c, const char *typed)
{
	char name[128];

	for (const struct opt *o = c->opts; o && o->kind != OPT_KIND_END; o++) {
		if (o->kind == OPT_KIND_HEAD || (o->flags & OPT_HIDDEN))
			continue;
		if (o->name)
			snprintf(name, sizeof(name), "--%s", o->name);
		else
			snprintf(name, sizeof(name), "-%c", o->letter);
		line_word(typed, name, o->help);
	}
	line_word(typed, "--help", "show help");
}

/* By its long name, n bytes of name, or by its letter (name NULL). */
static const struct opt *find_option(const struct opt *opts, const char *name, size_t n,
				     char letter)
{
	for (const struct opt *o = opts; o && o->kind != OPT_KIND_END; o++)
		if (name ? o->name && strlen(o->name) == n && strncmp(o->name, name, n) == 0
			 : o->kind != OPT_KIND_HEAD && o->letter == letter)
			return o;
	return NULL;
}

/*
 * The option in a word whose value is not in that word, or begins at *attached:
 * "--event", "-ae" and "--event=cs", "-aecs".
 */
static const struct opt *with_value(const struct command *c, const char *w, const char **attached)
{
	const struct opt *o;

	*attached = NULL;
	if (w[0] != '-' || !w[1])
		return NULL;
	if (w[1] == '-') {
		size_t n = strcspn(w + 2, "=");

		o = find_option(c->opts, w + 2, n, 0);
		if (w[2 + n])
			*attached = w + 2 + n + 1;
		return o && o->arg != OPT_ARG_NONE ? o : NULL;
	}
	for (const char *s = w + 1; *s; s++) {
		o = find_option(c->opts, NULL, 0, *s);
		if (!o)
			return NULL;
		if (o->arg != OPT_ARG_NONE) {
			*attached = s[1] ? s + 1 : NULL;
			return o;
		}
	}
	return NULL;
}

static bool wants_next(const struct opt *o)
{
	return o->arg == OPT_ARG_REQUIRED || o->arg == OPT_ARG_LAST || o->arg == OPT_ARG_CHOICE;
}

/* Everything behind the command's name: argv[0 .. argc-1], the last being typed. */
static void after_command(const struct command *c, int argc, char **argv)
{
	const char *typed = argv[argc - 1], *input = NULL, *attached;
	const struct opt *o;
	bool options = true;

	for (int i = 0; i + 1 < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
			continue;
		}
		if (!options || argv[i][0] != '-' || !argv[i][1]) {
			if (!(c->parse & OPT_STOP_AT_ARG))
				continue;
			puts("@files"); /* the arguments of the command that is run */
			return;
		}
		o = with_value(c, argv[i], &attached);
		if (o && o->name && strcmp(o->name, "input") == 0)
			input = attached ? attached : argv[i + 1];
		if (!o || attached || !wants_next(o))
			continue;
		if (++i + 1 == argc && (o->arg == OPT_ARG_REQUIRED || typed[0] != '-')) {
			complete_value(o, "", typed, input);
			return;
		}
	}
	if (options && typed[0] == '-') {
		o = with_value(c, typed, &attached);
		if (o && attached) {
			char prefix[128];

			snprintf(prefix, sizeof(prefix), "%.*s", (int)(attached - typed), typed);
			complete_value(o, prefix, attached, input);
		} else {
			option_words(c, typed);
		}
		return;
	}
	if (c->parse & OPT_STOP_AT_ARG)
		puts("@commands");
	else
		complete_value(&(struct opt){ .complete = c->complete }, "", typed, input);
}

void complete_line(int argc, char **argv)
{
	const struct command *const *list = commands;
	const struct command *c = NULL, *next;
	const char *typed = argc ? argv[argc - 1] : "";
	int i = 0;

	while (i + 1 < argc && argv[i][0] == '-' && !command_find(commands, argv[i]))
		i++; /* kymo --no-pager stat */
	for (; i + 1 < argc && list && (next = command_find(list, argv[i])); i++) {
		c = next;
		list = c == &cmd_help ? commands : c->subs;
	}
	if (!c && i + 1 < argc)
		return; /* no such command */
	if (!c || c == &cmd_help) {
		if (typed[0] == '-' && !c)
			puts("--color=\tcolours: auto, always or never\n--help\tshow the commands\n"
			     "--version\tshow the version");
		else
			command_words(list, typed);
		return;
	}
	if (i + 1 == argc && typed[0] != '-' && c->subs) {
		bool any = false;

		for (const struct command *const *s = c->subs; *s; s++)
			any = any || str_starts((*s)->name, typed);
		if (any) {
			command_words(c->subs, typed);
			return;
		}
	}
	after_command(c, argc - i, argv + i);
}
