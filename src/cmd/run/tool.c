/* SPDX-License-Identifier: MIT */
/* Running a shipped program. */
#include "cmd/run/tool.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/run/run.h"
#include "event/syscall/syscall.h"
#include "view/run/show.h"

int tool_compile(const struct tool *t, struct run_env *env, const struct tool_call *c,
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
		lang_diags_text(&d, NULL, why);
	lang_diags_free(&d);
	return r;
}

char *tool_reason(const char *diags, char **hint)
{
	const char *at = strstr(diags, "error: "), *more;

	at = at ? at + strlen("error: ") : diags;
	more = strstr(at, "\nhint: ");
	if (hint && more) {
		more += strlen("\nhint: ");
		*hint = mem_strndup(more, strcspn(more, "\n"));
	}
	return mem_strndup(at, strcspn(at, "\n"));
}

/* The user of a tool did not write its program: the first error, without its place, is said. */
static int say_why(const struct strbuf *diags, struct err *e)
{
	AUTO_FREE char *hint = NULL;
	AUTO_FREE char *why = tool_reason(strbuf_str(diags), &hint);

	err_set(e, EINVAL, "cannot run here: %s", why);
	return err_hint(e, "%s%skymo tools lists what can", hint ? hint : "", hint ? "; " : "");
}

static int run_tool(const struct tool *t, struct tool_call *c, struct run_env *env, int *code,
		    struct err *e)
{
	struct run_opts o = { .out_fd = STDOUT_FILENO,
			      .printer = &show_printer,
			      .quiet = true,
			      .plain = true,
			      .escape = !c->json,
			      .json = c->json,
			      .self = c->self,
			      .limit_ns = c->limit_ns,
			      .command = c->command };
	struct lang_program *p = NULL;
	AUTO_STRBUF why = { 0 };
	int r = c->command ? workload_prepare(&o.child, c->command, e) : 0;

	if (r < 0)
		return r;
	if (c->command) /* the program gets the command's process as its argument */
		vec_push(&c->args, arena_printf(&c->arena, "--%s=%d", t->word[t->n_words - 1].name,
						(int)o.child.pid));
	r = tool_compile(t, env, c, &p, &why);
	if (r < 0) {
		if (c->command)
			workload_cancel(&o.child);
		return say_why(&why, e);
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
	if (c.source || c.show)
		fputs(c.text, stdout);
	if (c.source) {
		tool_call_free(&c);
		return 0;
	}
	fflush(stdout);
	r = run_env_open(&env, e);
	if (r == 0) {
		r = run_tool(t, &c, &env, &code, e);
		run_env_close(&env);
	}
	tool_call_free(&c);
	return r < 0 ? r : code;
}
