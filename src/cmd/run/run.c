/* SPDX-License-Identifier: MIT */
/* kymo run: programs of the tracing language (bpftrace's), live. */
#include <wordexp.h>

#include "base/file.h"
#include "base/output.h"
#include "cmd/command.h"
#include "cmd/run/run.h"
#include "cmd/share/event_opts.h"
#include "kern/proc.h"
#include "live/run/run.h"
#include "view/run/show.h"

struct args {
	struct run_includes includes;
	struct vec_strs headers;
	const char *program, *format, *output, *command, *buffer, *input, *record, *each;
	const char *whom, *duration;
	pid_t pid;
	bool version, list, quiet, unsafe, info, dry, no_warnings, self, ignored;
	int verbose, debug, checks;
};

static const struct opt opts[] = {
	OPT_HEAD("What"),
	OPT_STR('e', NULL, "PROGRAM", program,
		"run this text (else the first word names a file, '-' standard input)"),
	OPT_FLAG('l', NULL, list,
		 "list the probes that fit a pattern; with -v also their arguments"),
	OPT_STR('c', NULL, "COMMAND", command, "run a command, and end with it"),
	OPT_STR_C('p', NULL, "PID", whom,
		  "probes in programs: only in this process (by number or name); end with it",
		  "@pids"),
	OPT_DURATION(0, duration, "end after so long"),
	OPT_STR_C('i', "input", "FILE", input,
		  "run it over the events of a recording (-: standard input)", "@files"),
	OPT_STR_C(0, "record", "FILE", record,
		  "also record the events that the probes see, for kymo run -i and the others",
		  "@files"),
	OPT_HEAD("Output"),
	OPT_STR_C('f', NULL, "FORMAT", format, "text or json", "text|json"),
	OPT_STR_C('o', NULL, "FILE", output, "write to FILE", "@files"),
	OPT_FLAG('q', NULL, quiet, "do not say what is attached"),
	OPT_COUNT('v', "verbose", verbose,
		  "tell what is loaded and how it is attached, and the verifier's log when it "
		  "refuses"),
	OPT_COUNT('d', NULL, debug,
		  "show the tree and the intermediate code, and the BPF instructions, and do not "
		  "run"),
	OPT_STR_C(
		'B', NULL, "MODE", buffer,
		"when output is written: with each line, when there is much, or after each message "
		"(default: several times a second)",
		"line|full|none"),
	OPT_HEAD("Behaviour"),
	OPT_FLAG(0, "unsafe", unsafe, "allow system(), signal() and override()"),
	OPT_FLAG(0, "self", self,
		 "also see what kymo itself calls and asks of the kernel, which else is left out"),
	OPT_FLAG(0, "dry-run", dry, "compile and load, but do not attach"),
	OPT_FLAG(0, "info", info, "show what this kernel can do for programs"),
	OPT_FLAG('V', "version", version, "show the version"),
	OPT_FLAG(0, "no-warnings", no_warnings, "say nothing about what is only doubtful"),
	OPT_STRS_C('I', NULL, "DIR", includes.dirs,
		   "look there for headers of programs (the kernel's types need none)", "@dirs"),
	OPT_STRS_C(0, "include", "FILE", headers,
		   "a header whose types, enums and constants the program may use", "@files"),
	OPT_COUNT('k', NULL, checks,
		  "tell at the end which reads failed, and how often; -kk: also keys that were not "
		  "there"),
	OPT_FLAG(0, "usdt-file-activation", ignored,
		 "bpftrace has it; the kernel counts users of USDT probes"),
	/* for tests: each line of a file is a program, which is loaded and forgotten */
	{ .kind = OPT_KIND_STR,
	  .arg = OPT_ARG_REQUIRED,
	  .name = "each",
	  .meta = "FILE",
	  .field = OPT_FIELD_(each),
	  .help = "",
	  .flags = OPT_HIDDEN | OPT_NONEG },
	OPT_END,
};

/* Are there escape sequences in the program's text? Then only values it prints are made safe. */
static bool has_escapes(const char *text)
{
	static const char *const ways[] = { "\033", "\\033", "\\x1b", "\\x1B", "\\e[" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (strstr(text, ways[i]))
			return true;
	return false;
}

static int read_program(const struct args *a, int *argc, char ***argv, char **text, size_t *n,
			const char **name, struct err *e)
{
	int r;

	if (a->program) {
		*text = mem_strdup(a->program);
		*n = strlen(*text);
		*name = "program";
		return 0;
	}
	if (!*argc) {
		err_set(e, EINVAL, "which program?");
		return err_hint(e, "kymo run -e 'BEGIN { printf(\"hello\\n\"); exit(); }', or kymo "
				   "run FILE.bt");
	}
	*name = **argv;
	r = file_read(strcmp(*name, "-") == 0 ? "/dev/stdin" : *name, 1u << 20, text, n);
	++*argv;
	--*argc;
	if (r < 0) {
		err_set(e, -r, "cannot read the program %s: %s", *name, strerror(-r));
		if (r == -ENOENT)
			err_hint(e, "a program on the command line goes behind -e");
		return r;
	}
	return 0;
}

static void show_debug(const struct lang_program *p)
{
	AUTO_STRBUF b = { 0 };

	fputs(strbuf_str(&p->dump), stdout);
	vec_each (&p->codes, c) {
		printf("\n%s", p->points.data[c->point[0]].text);
		if (c->n_points > 1)
			printf(" and %zu more", c->n_points - 1);
		printf(": %u instructions\n", c->n);
		strbuf_reset(&b);
		lang_list_code(p, c, &b);
		fputs(strbuf_str(&b), stdout);
	}
}

static int run_cmd_compile(void *ctx, const struct lang_env *env, const struct lang_source *src,
			   struct lang_program **ret, struct err *e)
{
	const struct args *a = ctx;
	struct lang_diags d = { 0 };
	AUTO_STRBUF text = { 0 };
	int r = lang_compile(src, env, a->debug ? LANG_DUMP_AST | LANG_DUMP_IR : 0, ret, &d);

	if (d.errors || (d.list.n && !a->no_warnings)) {
		lang_diags_text(&d, stderr, &text);
		fflush(stdout);
		fputs(strbuf_str(&text), stderr);
	}
	if (r < 0)
		err_set(e, EINVAL, "the program has %u error%s", d.errors,
			d.errors == 1 ? "" : "s");
	lang_diags_free(&d);
	if (r == 0 && a->debug)
		show_debug(*ret);
	return r;
}

void run_say_notes(const struct strbuf *notes)
{
	for (const char *s = strbuf_str(notes), *end; (end = strchr(s, '\n')); s = end + 1)
		command_note("%.*s", (int)(end - s), s);
}

int run_compiled(struct lang_program *p, struct run_env *env, const struct run_opts *o,
		 const struct run_manner *m, int *code, struct err *e)
{
	AUTO_FREE char *log = NULL;
	struct run *run;
	struct run_record record = { 0 };
	AUTO_STRBUF notes = { 0 };
	int r = run_open(p, env, o, &run, &log, e);

	if (r < 0) {
		if (log && m->verbose)
			fprintf(stderr, "%s\n", log);
		return r;
	}
	if (o->verbose) {
		AUTO_STRBUF about = { 0 };

		run_about(run, &about);
		fputs(strbuf_str(&about), stderr);
	}
	if (m->record && !o->dry)
		r = run_record_start(&record, p, m->record, m->quiet, e);
	if (r == 0)
		r = run_go(run, code, e);
	if (r == 0)
		r = run_record_stop(&record, e);
	else
		run_record_stop(&record, &(struct err){ 0 });
	run_notes(run, &notes);
	run_say_notes(&notes);
	run_close(run);
	return r;
}

static int load_each(struct args *a, struct run_env *env, struct err *e)
{
	AUTO_FREE char *text = NULL;
	unsigned n = 0, bad = 0;
	int r = file_read(a->each, 1u << 20, &text, NULL);

	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", a->each, strerror(-r));
	a->quiet = true;
	for (char *line = text, *next; line && *line; line = next) {
		struct lang_source src = { .name = "line", .text = line, .unsafe = true };
		struct run_opts o = { .out_fd = STDOUT_FILENO, .quiet = true, .dry = true };
		struct lang_program *p = NULL;
		int code = 0;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		src.n = strlen(line);
		r = run_cmd_compile(a, &env->env, &src, &p, e);
		if (r == 0)
			r = run_compiled(p, env, &o, &(struct run_manner){ .quiet = true }, &code,
					 e);
		if (r < 0)
			printf("%s\n%s\n", line, e->msg);
		lang_program_free(p);
		bad += r < 0;
		n++;
	}
	printf("%u programs, %u bad\n", n, bad);
	err_clear(e);
	return bad ? 1 : 0;
}

/* Errors that need nothing opened. */
static int check_args(const struct args *a, struct err *e)
{
	if (a->record && a->input)
		return err_set(e, EINVAL,
			       "--record is for what happens now, -i for what was recorded");
	if (a->pid && a->command) {
		err_set(e, EINVAL, "-p and -c cannot both say whose end is the program's");
		return err_hint(e, "start the command first, and give its number with -p");
	}
	if (a->format && strcmp(a->format, "json") != 0 && strcmp(a->format, "text") != 0)
		return err_set(e, EINVAL, "-f is text or json, not '%s'", a->format);
	if (a->buffer && strcmp(a->buffer, "line") != 0 && strcmp(a->buffer, "full") != 0 &&
	    strcmp(a->buffer, "none") != 0)
		return err_set(e, EINVAL, "-B is line, full or none, not '%s'", a->buffer);
	return 0;
}

static int set_opts(struct args *a, struct run_opts *o, struct err *e)
{
	*o = (struct run_opts){ .out_fd = STDOUT_FILENO,
				.printer = &show_printer,
				.verbose = a->verbose,
				.quiet = a->quiet,
				.dry = a->dry,
				.self = a->self,
				.json = a->format && strcmp(a->format, "json") == 0 };
	if (a->whom && proc_one(a->whom, &a->pid, e) < 0)
		return -e->code;
	if (duration_ns(a->duration, &o->limit_ns, e) < 0)
		return -e->code;
	o->pid = a->pid;
	if (a->buffer)
		o->buffer = *a->buffer == 'l'	? RUN_BUFFER_LINE
			    : *a->buffer == 'f' ? RUN_BUFFER_FULL
						: RUN_BUFFER_NONE;
	return 0;
}

/* -c: started, but waiting, unless nothing will run it; and whose number cpid is. */
static int prepare_command(const struct args *a, struct run_opts *o, struct run_env *env,
			   wordexp_t *words, struct err *e)
{
	int r = 0;

	if (a->command && (wordexp(a->command, words, WRDE_NOCMD) != 0 || !words->we_wordc))
		return err_set(e, EINVAL, "-c '%s' is no command", a->command);
	o->command = a->command ? words->we_wordv : NULL;
	if (o->command && !a->input && !a->dry && !a->debug)
		r = workload_prepare(&o->child, o->command, e);
	env->env.pid = a->pid ? a->pid : o->child.pid;
	if (o->command && !env->env.pid)
		env->env.pid = getpid(); /* nothing is started, but the program may use cpid */
	return r;
}

static int run_live(struct args *a, struct run_env *env, struct run_opts *o,
		    const struct lang_source *src, int *code, struct err *e)
{
	const struct run_manner how = { .verbose = a->verbose,
					.quiet = a->quiet,
					.record = a->record };
	struct lang_program *p = NULL;
	int r;

	env->env.check_helpers = a->checks;
	r = run_cmd_compile(a, &env->env, src, &p, e);
	if (r == 0 && !a->debug)
		r = run_compiled(p, env, o, &how, code, e);
	else
		workload_cancel(&o->child);
	if (!p)
		run_walker_cancel(o->walker);
	lang_program_free(p);
	return r;
}

/* What its text asks for, now or over a recording. */
static int run_text(struct args *a, struct run_env *env, struct run_opts *o, int argc, char **argv,
		    int *code, struct err *e)
{
	struct lang_source src = { .unsafe = a->unsafe,
				   .include = run_include,
				   .include_ctx = &a->includes,
				   .headers = a->headers.data,
				   .n_headers = a->headers.n };
	struct run_input_opts input = {
		.json = o->json, .only_compile = a->debug, .compile = run_cmd_compile, .ctx = a
	};
	AUTO_FREE char *text = NULL;
	wordexp_t words = { 0 };
	int r = read_program(a, &argc, &argv, &text, &src.n, &src.name, e);

	a->includes.program =
		a->program || (src.name && strcmp(src.name, "-") == 0) ? NULL : src.name;
	src.text = text;
	src.args = argv;
	src.n_args = argc;
	if (r == 0)
		r = prepare_command(a, o, env, &words, e);
	if (r == 0 && a->output) {
		o->out_fd = output_growing(a->output, 0, 0600, e);
		r = o->out_fd < 0 ? o->out_fd : 0;
	}
	o->guard = r == 0 && isatty(o->out_fd) && has_escapes(text);
	input.guard = o->guard;
	input.out_fd = o->out_fd;
	if (r == 0)
		r = a->input ? run_input(a->input, &src, &input, code, e)
			     : run_live(a, env, o, &src, code, e);
	else
		run_walker_cancel(o->walker);
	if (a->output && o->out_fd > STDERR_FILENO)
		close(o->out_fd);
	if (a->command)
		wordfree(&words);
	return r;
}

static int run_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	bool asks = a->info || a->each || a->list;
	AUTO_STRBUF info = { 0 };
	struct run_opts o;
	struct run_env env;
	int r, code = 0;

	r = set_opts(a, &o, e);
	if (r == 0 && a->version)
		return command_run(&cmd_version, "version", 1, (char *[]){ "version", NULL });
	if (r == 0)
		r = check_args(a, e);
	if (r < 0)
		return r;
	/* Begun early, in a thread: opening the walker takes as long as compiling and loading. */
	if (a->program && strstr(a->program, "ustack") && !a->input && !a->debug && !asks)
		o.walker = run_walker_begin(a->pid);
	r = run_env_open(&env, e);
	if (r < 0)
		run_walker_cancel(o.walker);
	else if (!asks)
		r = run_text(a, &env, &o, argc, argv, &code, e);
	else if (a->info)
		run_info(&env, &info);
	else
		r = a->each ? load_each(a, &env, e)
			    : run_list(&env, argc ? argv[0] : "*", a->verbose, e);
	fputs(strbuf_str(&info), stdout);
	run_env_close(&env);
	vec_free(&a->includes.dirs);
	vec_free(&a->headers);
	return r < 0 ? r : code;
}

static const struct example examples[] = {
	{ "run -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }'",
	  "system calls by process" },
	{ "run -e 'tracepoint:syscalls:sys_enter_openat { printf(\"%s %s\\n\", comm, "
	  "str(args.filename)); }'",
	  "files as they are opened" },
	{ "run -e 'tracepoint:syscalls:sys_exit_read /args.ret > 0/ { @bytes = hist(args.ret); }'",
	  "sizes of reads" },
	{ "run -lv 'tracepoint:sched:*'", "probes and their arguments" },
	{ NULL, NULL },
};

const struct command cmd_run = {
	.name = "run",
	.group = "Trace",
	.summary = "run a tracing program (bpftrace's language)",
	.usage = "[OPTIONS] (-e PROGRAM | FILE) [ARGS]",
	.about = "The program is compiled to BPF at once, without a compiler at hand, and "
		 "attached; its maps are "
		 "printed when it ends (Ctrl-C, exit(), or the end of -c or -p). docs/lang.md "
		 "describes the language.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.run = run_run,
};
