/* SPDX-License-Identifier: MIT */
/*
 * The option tables, or the registry of analyses, as JSON: man pages and editors' completions are
 * made from it.
 */

#include "base/json.h"
#include "calc/analysis/analysis.h"
#include "cmd/command.h"
#include "view/table/table.h"

static void one_option(struct json *j, const struct opt *o)
{
	static const char *const args[] = { "none", "required", "optional", "last", "choice" };
	char letter[2] = { o->letter, '\0' };

	json_object(j, NULL);
	if (o->kind == OPT_KIND_HEAD) {
		json_str(j, "heading", o->help);
	} else {
		if (o->letter)
			json_str(j, "short", letter);
		if (o->name)
			json_str(j, "long", o->name);
		json_str(j, "arg", args[o->arg]);
		if (o->arg != OPT_ARG_NONE)
			json_str(j, "meta", o->meta ? o->meta : "VALUE");
		json_str(j, "help", o->help);
		if (o->complete)
			json_str(j, "complete", o->complete);
		json_bool(j, "negatable", opt_can_undo(o));
	}
	json_end(j);
}

static void one_command(struct json *j, const struct command *c)
{
	json_object(j, NULL);
	json_str(j, "name", c->name);
	json_str(j, "group", c->group);
	json_str(j, "summary", c->summary);
	json_str(j, "usage", c->usage ? c->usage : "");
	json_str(j, "about", c->about);
	json_array(j, "options");
	for (const struct opt *o = c->opts; o && o->kind != OPT_KIND_END; o++)
		if (!(o->flags & OPT_HIDDEN))
			one_option(j, o);
	json_end(j);
	json_array(j, "examples");
	for (const struct example *x = c->examples; x && x->line; x++) {
		json_object(j, NULL);
		json_str(j, "line", x->line);
		json_str(j, "what", x->what);
		json_end(j);
	}
	json_end(j);
	json_array(j, "subcommands");
	for (const struct command *const *s = c->subs; s && *s; s++)
		one_command(j, *s);
	json_end(j);
	json_end(j);
}

static int introspect_run(void *args, int argc, char **argv, struct err *e)
{
	struct json j = json_to(stdout, JSON_PRETTY);
	const struct command *one = argc ? command_find(commands, argv[0]) : NULL;

	if (argc && strcmp(argv[0], "analyses") == 0) {
		struct tables t = { 0 };

		analyses_table(&t);
		table_json_all(stdout, &t);
		tables_free(&t);
		return 0;
	}
	if (argc && !one)
		return err_set(e, EINVAL, "'%s' is not a kymo command", argv[0]);
	json_array(&j, NULL);
	for (const struct command *const *c = commands; *c; c++)
		if (!one || one == *c)
			one_command(&j, *c);
	json_end(&j);
	putchar('\n');
	return 0;
}

const struct command cmd_introspect = {
	.name = "--introspect",
	.summary = "print commands and options as JSON",
	.usage = "[COMMAND | analyses]",
	.run = introspect_run,
};
