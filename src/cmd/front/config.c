/* SPDX-License-Identifier: MIT */
/* kymo config: what is set in perf's configuration files, and setting it. */
#include "cmd/front/settings.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"

struct args {
	bool list, known, user, system;
};

static void config_list(const struct config *c)
{
	vec_each (&c->lines, l) {
		printf("%s=%s\n", l->key, l->value);
		if (!config_known(l->key))
			command_note("%s: kymo does not honour %s (--known lists what it does)",
				     l->path, l->key);
	}
}

static void list_known(void)
{
	for (const struct config_key *k = config_keys; k->key; k++) {
		printf("%-30s %s", k->key, k->about);
		if (strstr(k->option, "-default"))
			printf(" (kymo %s -g)", k->command);
		else if (*k->option)
			printf(" (kymo %s --%s%s)", k->command, k->inverted ? "no-" : "",
			       k->option);
		putchar('\n');
	}
}

/* The file anew, with its settings in sections; of what was set twice the last. */
static int write_file(const char *path, const struct config *c, const char *key, const char *value,
		      struct err *e)
{
	AUTO_STRBUF out = { 0 };
	struct config all = { 0 };
	int r;

	for (size_t i = 0; i < c->lines.n; i++)
		if (strcmp(c->lines.data[i].key, key) != 0)
			vec_push(&all.lines, c->lines.data[i]);
	vec_push(&all.lines, (struct config_line){ key, value, path });
	strbuf_puts(&out, "# this file is auto-generated.\n");
	for (size_t i = 0; i < all.lines.n; i++) {
		size_t n = strcspn(all.lines.data[i].key, ".");
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen |= strncmp(all.lines.data[k].key, all.lines.data[i].key, n + 1) == 0;
		if (seen)
			continue;
		strbuf_printf(&out, "[%.*s]\n", (int)n, all.lines.data[i].key);
		for (size_t k = i; k < all.lines.n; k++)
			if (strncmp(all.lines.data[k].key, all.lines.data[i].key, n + 1) == 0)
				strbuf_printf(&out, "\t%s = %s\n", all.lines.data[k].key + n + 1,
					      all.lines.data[k].value);
	}
	vec_free(&all.lines);
	r = file_replace(path, out.data, out.n, 0644);
	return r < 0 ? err_cannot_write(e, -r, path) : 0;
}

/* Is it one that the command would take? Tried on its own table, on args that are thrown away. */
static int check_value(const struct config_key *k, const char *value, struct err *e)
{
	const struct command *c = *k->option ? command_find(commands, k->command) : NULL;
	AUTO_FREE void *args = c ? mem_alloc(c->args_size) : NULL;
	AUTO_FREE char *word = mem_printf("--%s=%s", k->option, value);
	char *argv[] = { "config", word, NULL };
	int r;

	if (!c)
		return 0;
	if (k->flag) {
		static const char *const words[] = { "true", "false", "yes", "no",
						     "on",   "off",   "1",   "0" };

		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (strcmp(value, words[i]) == 0)
				return 0;
		return err_set(e, EINVAL, "%s is true or false, not '%s'", k->key, value);
	}
	if (c->defaults)
		memcpy(args, c->defaults, c->args_size);
	r = opt_parse(c->opts, c->parse, 2, argv, args, e);
	if (c->drop)
		c->drop(args);
	return r < 0 ? r : 0;
}

static int config_set(const struct args *a, const char *word, const char *equals, struct err *e)
{
	AUTO_FREE char *key = mem_strndup(word, (size_t)(equals - word));
	const struct config_key *k = config_known(key);
	struct config c;
	int r = 0;

	if (!strchr(key, '.'))
		return err_set(e, EINVAL, "'%s' is no SECTION.KEY", key);
	if (!k) {
		err_set(e, ENOENT, "kymo does not honour '%s'", key);
		return err_hint(e, "kymo config --known lists what it does");
	}
	r = check_value(k, equals + 1, e);
	if (r < 0)
		return r;
	config_read(&c, a->system ? CONFIG_SYSTEM : CONFIG_USER);
	r = !(a->system ? c.system : c.user)
		    ? err_set(e, ENOENT, "there is no home folder for the file")
		    : write_file(a->system ? c.system : c.user, &c, key, equals + 1, e);
	config_free(&c);
	return r;
}

static int config_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	struct config c;
	int r = 0;

	if (a->known) {
		list_known();
		return 0;
	}
	config_read(&c, a->user	    ? CONFIG_USER
			: a->system ? CONFIG_SYSTEM
				    : CONFIG_USER | CONFIG_SYSTEM);
	if (c.note[0])
		command_note("%s", c.note);
	if (!argc)
		config_list(&c);
	for (int i = 0; r == 0 && i < argc; i++) {
		const char *equals = strchr(argv[i], '='), *value;

		if (equals)
			r = config_set(a, argv[i], equals, e);
		else if ((value = config_get(&c, argv[i])))
			printf("%s=%s\n", argv[i], value);
		else if (!config_known(argv[i]))
			command_note("kymo does not honour '%s' (--known lists what it does)",
				     argv[i]);
	}
	config_free(&c);
	return r;
}

static const struct opt opts[] = {
	OPT_FLAG('l', "list", list, "what is set (so without arguments, too)"),
	OPT_FLAG(0, "known", known, "every key that kymo honours, and what it means"),
	OPT_FLAG(0, "user", user, "only ~/.perfconfig"),
	OPT_FLAG(0, "system", system, "only /etc/perfconfig"),
	OPT_END,
};

const struct command cmd_config = {
	.name = "config",
	.group = "Set up",
	.summary = "show and change settings, in perf's configuration files",
	.usage = "[OPTIONS] [SECTION.KEY[=VALUE] ...]",
	.about = "Settings are options that are said beforehand; those of a command line have the "
		 "last word. ~/.perfconfig and /etc/perfconfig are read, or only the file that "
		 "PERF_CONFIG names.",
	.examples = EXAMPLES(
		{ "config -l", "what is set" },
		{ "config report.children=false", "kymo report --no-children, from now on" },
		{ "config --known", "what can be set" }),
	COMMAND_USUAL(config),
};
