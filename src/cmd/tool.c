/* SPDX-License-Identifier: MIT */
/* Running a shipped program, and `kymo tools`, which lists them. */
#include "cmd/tool.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/run.h"
#include "event/syscall.h"

static int compile(const struct tool *t, struct run_env *env, struct tool_call *c,
		   struct lang_program **ret, struct strbuf *why)
{
	struct lang_source src = { .name = t->command->name,
				   .text = c->text,
				   .n = strlen(c->text),
				   .args = c->args.data,
				   .n_args = (int)c->args.n };
	struct lang_diags d = { 0 };
	int r = lang_compile(&src, &env->env, 0, ret, &d);

	if (r < 0)
		lang_diags_text(&d, why);
	lang_diags_free(&d);
	return r;
}

static int run_tool(const struct tool *t, struct tool_call *c, struct run_env *env, int *code,
		    struct err *e)
{
	struct run_opts o = { .out_fd = STDOUT_FILENO,
			      .quiet = true,
			      .plain = true,
			      .json = c->json,
			      .command = c->command };
	struct lang_program *p = NULL;
	AUTO_STRBUF why = { 0 };
	int r = c->command ? workload_prepare(&o.child, c->command, e) : 0;

	if (r < 0)
		return r;
	if (c->command) /* the word of the usage is its process */
		vec_push(&c->args, arena_printf(&c->arena, "--%s=%d", t->word[t->n_words - 1].name,
						(int)o.child.pid));
	r = compile(t, env, c, &p, &why);
	if (r < 0) {
		if (c->command)
			workload_cancel(&o.child);
		fputs(strbuf_str(&why), stderr);
		err_set(e, EINVAL, "%s cannot run here", t->command->name);
		return err_hint(e, "kymo tools lists what can");
	}
	r = run_compiled(p, env, &o, &(struct run_manner){ 0 }, code, e);
	lang_program_free(p);
	return r;
}

static void list_calls(void)
{
	for (int i = 0; i < 1024; i++)
		if (syscall_name(syscall_native(), i))
			printf("%3d: %s\n", i, syscall_name(syscall_native(), i));
}

int tool_run(const struct tool *t, void *args, int argc, char **argv, struct err *e)
{
	struct tool_call c;
	struct run_env env;
	int code = 0, r = tool_call_make(t, args, argc, argv, &c, e);

	if (r < 0)
		return r;
	if (c.list_calls) {
		list_calls();
		tool_call_free(&c);
		return 0;
	}
	r = run_env_open(&env, e);
	if (r == 0) {
		r = run_tool(t, &c, &env, &code, e);
		run_env_close(&env);
	}
	tool_call_free(&c);
	return r < 0 ? r : code;
}

/* --- kymo tools --- */

struct args {
	const char *source, *example;
};

static const struct opt opts[] = {
	OPT_STR('s', "source", "NAME", source, "print the program of a tool, to be changed"),
	OPT_STR('e', "example", "NAME", example, "show a tool at work, with real output"),
	OPT_END,
};

static const struct tool *find(const char *name)
{
	for (size_t i = 0; i < n_tools; i++)
		if (strcmp(tools[i].command->name, name) == 0)
			return &tools[i];
	return NULL;
}

static int print_text(const char *name, bool example, struct err *e)
{
	const struct tool *t = find(name);
	struct str_nearest near = { .typed = name };
	char list[200];

	if (t) {
		fputs(example ? t->example : t->text, stdout);
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

/* Does it compile, with this word? Else why not. */
static bool can_run(const struct tool *t, struct run_env *env, char *word, struct strbuf *why)
{
	struct tool_args none = { 0 };
	struct tool_call c;
	struct lang_program *p = NULL;
	struct err e = { 0 };
	bool ok;

	if (tool_call_make(t, &none, word != NULL, &word, &c, &e) < 0)
		return false;
	strbuf_reset(why);
	ok = compile(t, env, &c, &p, why) == 0;
	lang_program_free(p);
	tool_call_free(&c);
	return ok;
}

static void list_tool(const struct tool *t, struct run_env *env)
{
	const struct command *c = t->command;
	bool wants_function = t->n_words && t->word[0].kind == TOOL_FUNCTION;
	char kernel[] = "vfs_read", user[] = "libc:malloc";
	AUTO_STRBUF why = { 0 };
	AUTO_STRBUF other = { 0 };
	AUTO_FREE char *text = NULL;

	if (can_run(t, env, wants_function ? kernel : NULL, &why)) {
		printf("  %-14s %s\n", c->name, c->summary);
		return;
	}
	text = reason(strbuf_str(&why));
	if (wants_function && can_run(t, env, user, &other))
		printf("  %-14s %s\n  %-14s only those of programs (libc:malloc): %s\n", c->name,
		       c->summary, "", text);
	else
		printf("- %-14s %s\n  %-14s not here: %s\n", c->name, c->summary, "", text);
}

static int list_tools(const char *pattern, struct err *e)
{
	struct run_env env;
	size_t n = 0;
	int r = run_env_open(&env, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n_tools; i++) {
		const struct command *c = tools[i].command;

		if (pattern && !str_glob(pattern, c->name) && !str_icontains(c->summary, pattern) &&
		    !str_icontains(c->name, pattern))
			continue;
		list_tool(&tools[i], &env);
		n++;
	}
	run_env_close(&env);
	if (n)
		return 0;
	err_set(e, ENOENT, "no tool has '%s' in its name or summary", pattern);
	return err_hint(e, "kymo tools lists all; kymo run takes programs of your own");
}

static int run(void *opaque, int argc, char **argv, struct err *e)
{
	const struct args *a = opaque;

	if (a->source || a->example)
		return print_text(a->source ? a->source : a->example, !a->source, e);
	return list_tools(argc ? argv[0] : NULL, e);
}

static const struct example examples[] = {
	{ "tools", "all of them, and which this kernel cannot run" },
	{ "tools tcp", "those about TCP" },
	{ "tools --example iosnoop", "what it shows, and what that means" },
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
