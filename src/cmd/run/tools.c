/* SPDX-License-Identifier: MIT */
/*
 * Running a shipped program, and `kymo tools`: the single-purpose tools, what this kernel can run
 * of them and why not the rest. Most are programs of the tracing language; the function tools are
 * commands in C.
 */
#define OPT_ARGS struct args

#include "base/term.h"
#include "cmd/run/run.h"
#include "cmd/run/tool.h"
#include "event/syscall/syscall.h"
#include "kern/ability/try.h"
#include "kern/bpf.h"
#include "view/run/show.h"

/* --- running one --- */

/*
 * The program of a call. The user of a tool did not write it: of what is wrong the first error is
 * said, without its place. The caller frees *why and *hint, which may be NULL.
 */
static int tool_compile(const struct tool *t, struct run_env *env, const struct tool_call *c,
			struct lang_program **ret, char **why, char **hint)
{
	struct lang_source src = { .name = t->command->name,
				   .text = c->text,
				   .n = strlen(c->text),
				   .args = c->args.data,
				   .n_args = (int)c->args.n };
	const struct lang_diag *first = NULL;
	struct lang_diags d = { 0 };
	int r = lang_compile(&src, &env->env, 0, ret, &d);

	vec_each (&d.list, it)
		if (!it->warning && (!first || it->pos < first->pos))
			first = it;
	if (first) {
		*why = mem_strndup(first->text, strcspn(first->text, "\n"));
		*hint = first->hint ? mem_strndup(first->hint, strcspn(first->hint, "\n")) : NULL;
	}
	lang_diags_free(&d);
	return r;
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
	AUTO_FREE char *why = NULL, *hint = NULL;
	struct lang_program *p = NULL;
	int r = c->command ? workload_prepare(&o.child, c->command, e) : 0;

	if (r < 0)
		return r;
	if (c->command) /* the program gets the command's process as its argument */
		vec_push(&c->args, arena_printf(&c->arena, "--%s=%d", t->word[t->n_words - 1].name,
						(int)o.child.pid));
	r = tool_compile(t, env, c, &p, &why, &hint);
	if (r < 0) {
		if (c->command)
			workload_cancel(&o.child);
		err_set(e, EINVAL, "cannot run here: %s", why ? why : "");
		return err_hint(e, "%s%skymo tools lists what can", hint ? hint : "",
				hint ? "; " : "");
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

/* --- listing them --- */

struct args {
	const char *source, *example;
};

static const struct opt opts[] = {
	OPT_STR('s', "source", "NAME", source, "print the program of a tool, to be changed"),
	OPT_STR('e', "example", "NAME", example, "show a tool at work, with real output"),
	OPT_END,
};

/* One of either kind. */
struct entry {
	const struct command *command;
	const char *example;
	const struct tool *program; /* NULL: written in C */
};
struct entries {
	VEC(struct entry) list;
};

static int tools_by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return strcmp(x->command->name, y->command->name);
}

static struct entries all_entries(void)
{
	struct entries all = { 0 };

	for (size_t i = 0; i < n_tools; i++)
		vec_push(&all.list,
			 (struct entry){ tools[i].command, tools[i].example, &tools[i] });
	for (const struct tool_command *t = tool_commands; t->command; t++)
		vec_push(&all.list, (struct entry){ t->command, t->example, NULL });
	qsort(all.list.data, all.list.n, sizeof(*all.list.data), tools_by_name);
	return all;
}

static int tools_print_text(const struct entries *all, const char *name, bool example,
			    struct err *e)
{
	struct str_nearest near = { .typed = name };
	char list[200];

	vec_each (&all->list, x) {
		str_nearest_add(&near, x->command->name);
		if (strcmp(x->command->name, name) != 0)
			continue;
		if (!example && !x->program) {
			err_set(e, ENOENT, "%s is no program of the tracing language", name);
			return err_hint(e, "it is part of kymo itself; kymo %s -h says what it can",
					name);
		}
		fputs(example ? x->example : x->program->text, stdout);
		return 0;
	}
	err_set(e, ENOENT, "there is no tool %s", name);
	return err_hint(e,
			str_nearest_list(&near, list, sizeof(list)) ? "did you mean %s?"
								    : "kymo tools lists them",
			list);
}

/* --- what runs here --- */

/* What the commands in C need of the kernel; those that are not named need tracefs alone. */
enum need { NEEDS_TRACEFS, NEEDS_FUNCTIONS, NEEDS_GRAPH, NEEDS_KPROBES };
static const struct {
	const char *name;
	enum need need;
	const char *without; /* what of it works all the same */
} needs[] = {
	{ "funccount", NEEDS_FUNCTIONS, NULL },
	{ "functrace", NEEDS_FUNCTIONS, NULL },
	{ "funcgraph", NEEDS_GRAPH, NULL },
	{ "funcslower", NEEDS_GRAPH, NULL },
	{ "functime", NEEDS_KPROBES, "only those of programs (-x), softirqs, irqs and threads" },
	{ "kprobe", NEEDS_KPROBES, NULL },
};

/* Why the kernel does not give it, NULL when it does. */
static const char *tools_missing(const struct try_trace *t, enum need need)
{
	if (!t->path[0])
		return t->possible ? "tracefs is not mounted" : "this kernel has no tracefs";
	if (t->writable < 0)
		return "only root may use tracefs";
	switch (need) {
	case NEEDS_TRACEFS: return NULL;
	case NEEDS_FUNCTIONS:
		return t->function == -ENOENT ? "this kernel cannot trace functions"
		       : t->function < 0      ? "this kernel refuses to trace functions"
					      : NULL;
	case NEEDS_GRAPH: return t->graph ? NULL : "this kernel has no function_graph tracer";
	case NEEDS_KPROBES:
		return t->kprobe == -ENOENT ? "this kernel has no kprobes"
		       : t->kprobe < 0	    ? "this kernel refuses kprobes"
					    : NULL;
	}
	return NULL;
}

#define LEFT 17 /* columns before what a tool does */

static void print_entry(const struct command *c, const char *partly, const char *why)
{
	printf("%c %-14s %s\n", why && !partly ? '-' : ' ', c->name, c->summary);
	if (why) {
		const char *what = partly ? partly : "not here";
		unsigned width = term_width(stdout, 80);
		bool fits = LEFT + strlen(what) + strlen(": ") + strlen(why) <= width;
		AUTO_STRBUF text = { 0 };

		strbuf_printf(&text, fits ? "%s: %s" : "%s:\n%s", what, why);
		printf("%*s", LEFT, "");
		help_wrapped(stdout, strbuf_str(&text), LEFT, LEFT, width);
	}
}

static void list_command(const struct command *c, const struct try_trace *t)
{
	enum need need = NEEDS_TRACEFS;
	const char *without = NULL, *why;

	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		if (strcmp(needs[i].name, c->name) == 0) {
			need = needs[i].need;
			without = needs[i].without;
		}
	why = tools_missing(t, need);
	print_entry(c, tools_missing(t, NEEDS_TRACEFS) ? NULL : without, why);
}

/* Does it compile, with this word? Else why not, which the caller frees. */
static bool can_run(const struct tool *t, struct run_env *env, char *word, char **why)
{
	AUTO_FREE char *hint = NULL;
	struct tool_args none = { 0 };
	struct tool_call c;
	struct lang_program *p = NULL;
	struct err e = { 0 };
	bool ok;

	if (tool_call_make(t, &none, word != NULL, &word, &c, &e) < 0)
		return false;
	ok = tool_compile(t, env, &c, &p, why, &hint) == 0;
	lang_program_free(p);
	tool_call_free(&c);
	return ok;
}

/* Why nobody's program is taken, whatever it asks for; NULL: they are. */
static const char *tools_refused(void)
{
	int fd = bpf_load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);

	if (fd >= 0)
		close(fd);
	return fd == -EPERM || fd == -EACCES ? "this user may not load programs into the kernel"
	       : fd == -ENOSYS		     ? "this kernel has no BPF"
					     : NULL;
}

/* never: why no program runs, or NULL. */
static void list_program(const struct tool *t, struct run_env *env, const char *never)
{
	bool wants_function = t->n_words && t->word[0].kind == TOOL_FUNCTION;
	char kernel[] = "vfs_read", user[] = "libc:malloc";
	AUTO_FREE char *why = NULL, *other = NULL;
	bool ok = can_run(t, env, wants_function ? kernel : NULL, &why);

	print_entry(t->command,
		    !never && !ok && wants_function && can_run(t, env, user, &other)
			    ? "only those of programs (libc:malloc)"
			    : NULL,
		    ok	  ? never
		    : why ? why
			  : "");
}

static int list_tools(const struct entries *all, const char *pattern, struct err *e)
{
	struct run_env env;
	struct try_trace trace;
	const char *never = tools_refused();
	size_t n = 0;
	int r = run_env_open(&env, e);

	if (r < 0)
		return r;
	try_trace(&trace, false);
	vec_each (&all->list, x) {
		const struct command *c = x->command;

		if (pattern && !str_glob(pattern, c->name) && !str_icontains(c->summary, pattern) &&
		    !str_icontains(c->name, pattern))
			continue;
		if (x->program)
			list_program(x->program, &env, never);
		else
			list_command(c, &trace);
		n++;
	}
	run_env_close(&env);
	if (n)
		return 0;
	err_set(e, ENOENT, "no tool has '%s' in its name or summary", pattern);
	return err_hint(e, "kymo tools lists all; kymo run takes programs of your own");
}

static int tools_run(void *opaque, int argc, char **argv, struct err *e)
{
	const struct args *a = opaque;
	struct entries all = all_entries();
	int r;

	if (a->source || a->example)
		r = tools_print_text(&all, a->source ? a->source : a->example, !a->source, e);
	else
		r = list_tools(&all, argc ? argv[0] : NULL, e);
	vec_free(&all.list);
	return r;
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
		"Each is a command of its own: kymo execsnoop -h. Most are programs of the tracing "
		"language (kymo run), and can be taken as a start for others.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.run = tools_run,
};
