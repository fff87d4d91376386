/* SPDX-License-Identifier: MIT */
/*
 * Shell completion from the option tables.
 *
 * The shell scripts are a few lines each: they call `kymo completion --words`
 * with the line typed so far, and every word comes from here. So completion
 * can never know other options than the parser does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cmd/command.h"

struct args {
	bool words;
};

static const struct opt opts[] = {
	{ .kind = OPT_KIND_FLAG,
	  .name = "words",
	  .flags = OPT_HIDDEN | OPT_NONEG,
	  .field = offsetof(struct args, words),
	  .help = "print the words that may follow" },
	OPT_END,
};

static const char bash_script[] =
	"# bash completion for kymo: eval \"$(kymo completion bash)\"\n"
	"_kymo() {\n"
	"	local IFS=$'\\n' cur words cword\n"
	"	if declare -F _get_comp_words_by_ref >/dev/null; then\n"
	"		_get_comp_words_by_ref -n :=, cur words cword\n"
	"	else\n"
	"		cur=${COMP_WORDS[COMP_CWORD]} words=(\"${COMP_WORDS[@]}\") "
	"cword=$COMP_CWORD\n"
	"	fi\n"
	"	COMPREPLY=($(\"${words[0]}\" completion --words -- \"${words[@]:1:cword}\" "
	"2>/dev/null | cut -f1))\n"
	"	[ \"${COMPREPLY[0]}\" = @files ] && COMPREPLY=($(compgen -f -- \"$cur\"))\n"
	"	[ \"${COMPREPLY[0]}\" = @commands ] && COMPREPLY=($(compgen -c -- \"$cur\"))\n"
	"	declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "
	"\"$cur\"\n"
	"	return 0\n"
	"}\n"
	"complete -o default -F _kymo kymo\n";

static const char zsh_script[] =
	"#compdef kymo\n"
	"# zsh completion for kymo: kymo completion zsh > \"${fpath[1]}/_kymo\"\n"
	"_kymo() {\n"
	"	local -a lines names\n"
	"	lines=(\"${(@f)$(${words[1]} completion --words -- \"${(@)words[2,CURRENT]}\" "
	"2>/dev/null)}\")\n"
	"	case ${lines[1]} in\n"
	"	@files) _files; return ;;\n"
	"	@commands) _command_names -e; return ;;\n"
	"	esac\n"
	"	names=(\"${(@)lines%%$'\\t'*}\")\n"
	"	lines=(\"${(@)lines//$'\\t'/  -- }\")\n"
	"	compadd -l -d lines -a names\n"
	"}\n"
	"_kymo \"$@\"\n";

static const char fish_script[] =
	"# fish completion for kymo: kymo completion fish > ~/.config/fish/completions/kymo.fish\n"
	"function __kymo_words\n"
	"	set -l tokens (commandline -opc) (commandline -ct)\n"
	"	set -l lines (kymo completion --words -- $tokens[2..-1] 2>/dev/null)\n"
	"	switch \"$lines[1]\"\n"
	"		case @files\n"
	"			__fish_complete_path (commandline -ct)\n"
	"		case @commands\n"
	"			__fish_complete_command\n"
	"		case '*'\n"
	"			string join \\n -- $lines\n"
	"	end\n"
	"end\n"
	"complete -c kymo -f -a '(__kymo_words)'\n";

static void word(const char *prefix, const char *name, const char *help)
{
	if (str_starts(name, prefix))
		printf("%s\t%s\n", name, help ? help : "");
}

static void option_words(const struct command *c, const char *prefix)
{
	char name[128];

	for (const struct opt *o = c->opts; o && o->kind != OPT_KIND_END; o++) {
		if (o->kind == OPT_KIND_HEAD || (o->flags & OPT_HIDDEN))
			continue;
		if (o->name) {
			snprintf(name, sizeof(name), "--%s", o->name);
			word(prefix, name, o->help);
		} else if (o->letter) {
			snprintf(name, sizeof(name), "-%c", o->letter);
			word(prefix, name, o->help);
		}
	}
	word(prefix, "--help", "show help");
}

/* The option that the word before the cursor is, when it still wants its value. */
static const struct opt *wants_value(const struct command *c, const char *before)
{
	for (const struct opt *o = c->opts; o && o->kind != OPT_KIND_END; o++) {
		if (o->arg != OPT_ARG_REQUIRED && o->arg != OPT_ARG_LAST)
			continue;
		if (before[0] == '-' && before[1] == '-' && o->name &&
		    strcmp(before + 2, o->name) == 0)
			return o;
		/* the last letter of a cluster: -ae */
		if (before[0] == '-' && before[1] && before[1] != '-' &&
		    o->letter == before[strlen(before) - 1])
			return o;
	}
	return NULL;
}

/* "a|b|c" that begin with what is typed; a list may be typed with commas. */
static void choice_words(const char *choices, const char *typed)
{
	const char *comma = strrchr(typed, ',');
	const char *part = comma ? comma + 1 : typed;

	while (*choices) {
		size_t n = strcspn(choices, "|");

		if (strncmp(choices, part, strlen(part)) == 0 || n == 0)
			printf("%.*s%.*s\t\n", (int)(part - typed), typed, (int)n, choices);
		choices += n;
		choices += *choices == '|';
	}
}

static void value_words(const struct opt *o, const char *typed)
{
	if (!o->complete || strcmp(o->complete, "@files") == 0 || strcmp(o->complete, "@dirs") == 0)
		puts("@files");
	else if (strcmp(o->complete, "@events") == 0)
		completion_events(typed);
	else if (o->complete[0] != '@')
		choice_words(o->complete, typed);
}

static int words(int argc, char **argv)
{
	const struct command *c = NULL;
	const struct command *const *list = commands;
	const char *last = argc ? argv[argc - 1] : "";
	int i;

	for (i = 0; i + 1 < argc && list; i++) {
		const struct command *next =
			argv[i][0] == '-' && !c ? NULL : command_find(list, argv[i]);

		if (!next && !c && argv[i][0] == '-')
			continue;
		if (!next)
			break;
		c = next;
		list = c->subs;
		if (strcmp(c->name, "help") == 0)
			list = commands;
	}
	if (c && argc >= 2) {
		const struct opt *o = wants_value(c, argv[argc - 2]);

		if (o) {
			value_words(o, last);
			return 0;
		}
	}
	if (!c || strcmp(c->name, "help") == 0) {
		for (list = commands; *list; list++)
			if ((*list)->group)
				word(last, (*list)->name, (*list)->summary);
		return 0;
	}
	for (; i + 1 < argc; i++)
		if ((c->parse & OPT_STOP_AT_ARG) && strcmp(argv[i], "--") == 0) {
			puts("@commands");
			return 0;
		}
	if (last[0] == '-') {
		option_words(c, last);
		return 0;
	}
	for (const struct command *const *s = c->subs; s && *s; s++)
		word(last, (*s)->name, (*s)->summary);
	if (!c->subs || !*last)
		puts(c->parse & OPT_STOP_AT_ARG ? "@commands" : "@files");
	return 0;
}

static int run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;

	if (a->words)
		return words(argc, argv);
	if (argc == 1 && strcmp(argv[0], "bash") == 0)
		fputs(bash_script, stdout);
	else if (argc == 1 && strcmp(argv[0], "zsh") == 0)
		fputs(zsh_script, stdout);
	else if (argc == 1 && strcmp(argv[0], "fish") == 0)
		fputs(fish_script, stdout);
	else {
		err_set(e, EINVAL, "which shell? bash, zsh or fish");
		return err_hint(e, "eval \"$(kymo completion bash)\"");
	}
	return 0;
}

static const struct example examples[] = {
	{ "completion bash", "print it; eval \"$(kymo completion bash)\" switches it on" },
	{ NULL, NULL },
};

const struct command cmd_completion = {
	.name = "completion",
	.group = "kymo itself",
	.summary = "print the completion script for a shell",
	.usage = "bash|zsh|fish",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.run = run,
};
