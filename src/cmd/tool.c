/* SPDX-License-Identifier: MIT */
/* Running a shipped program, and `kymo tools`, which lists them. */
#include "cmd/tool.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/term.h"
#include "base/vec.h"
#include "live/run.h"

struct words {
	struct arena arena;
	VEC(char *) list;
};

static int collect(const struct tool *t, const struct tool_args *a, int argc, char **argv,
		   struct words *w, struct err *e)
{
	size_t max = 0;

	while (max < ARRAY_SIZE(t->words) && t->words[max])
		max++;
	if ((size_t)argc > max) {
		err_set(e, EINVAL, "%s takes no word '%s'", t->command->name, argv[max]);
		return err_hint(e, "usage: kymo %s %s", t->command->name, t->command->usage);
	}
	/* $1 and so on, in the names of probes; and by name, as options are */
	for (int i = 0; i < argc; i++)
		vec_push(&w->list, argv[i]);
	for (unsigned i = 0; i < t->n_options; i++) {
		if (t->option[i].value && a->value[i])
			vec_push(&w->list, arena_printf(&w->arena, "--%s=%s", t->option[i].name,
							a->value[i]));
		else if (a->flag[i])
			vec_push(&w->list, arena_printf(&w->arena, "--%s", t->option[i].name));
	}
	for (int i = 0; i < argc; i++)
		vec_push(&w->list, arena_printf(&w->arena, "--%s=%s", t->words[i], argv[i]));
	return 0;
}

static int compile(const struct tool *t, struct run_env *env, struct words *w,
		   struct lang_program **ret, struct strbuf *why)
{
	struct lang_source src = { .name = t->command->name,
				   .text = t->text,
				   .n = strlen(t->text),
				   .args = w->list.data,
				   .n_args = (int)w->list.n };
	struct lang_diags d = { 0 };
	int r = lang_compile(&src, &env->env, 0, ret, &d);

	if (r < 0)
		lang_diags_text(&d, why);
	lang_diags_free(&d);
	return r;
}

static int run_compiled(struct lang_program *p, struct run_env *env, struct err *e)
{
	struct run_opts o = { .out_fd = STDOUT_FILENO, .quiet = true };
	AUTO_FREE char *log = NULL;
	AUTO_STRBUF notes = { 0 };
	struct run *run;
	int code = 0, r = run_open(p, env, &o, &run, &log, e);

	if (r < 0)
		return r;
	r = run_go(run, &code, e);
	run_notes(run, &notes);
	for (char *s = notes.data, *end; s && (end = strchr(s, '\n')); s = end + 1)
		command_note("%.*s", (int)(end - s), s);
	run_close(run);
	return r < 0 ? r : code;
}

int tool_run(const struct tool *t, void *args, int argc, char **argv, struct err *e)
{
	struct words w = { 0 };
	struct lang_program *p = NULL;
	AUTO_STRBUF why = { 0 };
	struct run_env env;
	int r = collect(t, args, argc, argv, &w, e);

	if (r == 0)
		r = run_env_open(&env, e);
	if (r == 0) {
		r = compile(t, &env, &w, &p, &why);
		if (r < 0) {
			fputs(strbuf_str(&why), stderr);
			err_set(e, EINVAL, "%s cannot run here", t->command->name);
			err_hint(e, "kymo tools lists what can");
		} else {
			r = run_compiled(p, &env, e);
		}
		lang_program_free(p);
		run_env_close(&env);
	}
	vec_free(&w.list);
	arena_free(&w.arena);
	return r;
}

/* --- kymo tools --- */

struct args {
	const char *source;
	bool json;
};

static const struct opt opts[] = {
	OPT_STR('s', "source", "NAME", source, "print the program of a tool, to be changed"),
	OPT_END,
};

static const struct tool *find(const char *name)
{
	for (size_t i = 0; i < n_tools; i++)
		if (strcmp(tools[i].command->name, name) == 0)
			return &tools[i];
	return NULL;
}

static int print_source(const char *name, struct err *e)
{
	const struct tool *t = find(name);
	struct str_nearest near = { .typed = name };
	char list[200];

	if (t) {
		fputs(t->text, stdout);
		return 0;
	}
	for (size_t i = 0; i < n_tools; i++)
		str_nearest_add(&near, tools[i].command->name);
	err_set(e, ENOENT, "there is no tool %s", name);
	return err_hint(e,
			str_nearest_list(&near, list, sizeof(list)) ? "did you mean %s?"
								    : "kymo tools lists them",
			list);
}

/* The first error, without where it is. */
static char *reason(const char *text)
{
	const char *at = strstr(text, "error: ");

	at = at ? at + strlen("error: ") : text;
	return mem_strndup(at, strcspn(at, "\n"));
}

static int list_tools(const char *pattern, struct err *e)
{
	struct run_env env;
	int r = run_env_open(&env, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n_tools; i++) {
		const struct command *c = tools[i].command;
		struct words none = { 0 }; /* or a function, for those that want one */
		struct lang_program *p = NULL;
		AUTO_STRBUF why = { 0 };

		if (pattern && !str_glob(pattern, c->name) && !str_icontains(c->summary, pattern) &&
		    !str_icontains(c->name, pattern))
			continue;
		if (tools[i].words[0] && strcmp(tools[i].words[0], "function") == 0)
			vec_push(&none.list, "vfs_read");
		if (compile(&tools[i], &env, &none, &p, &why) < 0) {
			AUTO_FREE char *text = reason(strbuf_str(&why));

			printf("- %-14s %s\n  %-14s not here: %s\n", c->name, c->summary, "", text);
		} else {
			printf("  %-14s %s\n", c->name, c->summary);
		}
		lang_program_free(p);
		vec_free(&none.list);
	}
	run_env_close(&env);
	return 0;
}

static int run(void *opaque, int argc, char **argv, struct err *e)
{
	const struct args *a = opaque;

	return a->source ? print_source(a->source, e) : list_tools(argc ? argv[0] : NULL, e);
}

static const struct example examples[] = {
	{ "tools", "all of them, and which this kernel cannot run" },
	{ "tools tcp", "those about TCP" },
	{ "tools --source execsnoop >mine.bt", "take one as a start for your own" },
	{ NULL, NULL },
};

const struct command cmd_tools = {
	.name = "tools",
	.group = "Trace",
	.summary = "list the ready-made tracing tools",
	.usage = "[PATTERN]",
	.about =
		"Each is a command of its own: kymo execsnoop -h. They are programs of the tracing "
		"language (kymo run), and can be taken as a start for others.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.run = run,
};
