/* SPDX-License-Identifier: MIT */
/*
 * Shell completion from the option tables.
 *
 * The shell scripts are a few lines each: they call `kymo completion --words`
 * with the line typed so far, and every word comes from here. So completion
 * can never know other options than the parser does.
 */
#include <string.h>

#include "cmd/front/complete.h"

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

/* clang-format off */
static const char bash_script[] =
	"# bash completion for kymo: eval \"$(kymo completion bash)\"\n"
	"_kymo() {\n"
	"\tlocal IFS=$' \\t\\n' line=${COMP_LINE:0:COMP_POINT} cur words quote=\n"
	"\t# not COMP_WORDS: that is cut at ':' and '='\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && words+=(\"\")\n"
	"\tcur=${words[${#words[@]}-1]}\n"
	"\tif [[ $cur == [\\'\\\"]* ]]; then\n"
	"\t\tquote=${cur:0:1} cur=${cur:1}\n"
	"\t\twords[${#words[@]}-1]=$cur\n"
	"\tfi\n"
	"\tIFS=$'\\n'\n"
	"\tCOMPREPLY=($(\"${words[0]}\" completion --words -- \"${words[@]:1}\" 2>/dev/null | cut -f1))\n"
	"\tcase ${COMPREPLY[0]} in\n"
	"\t@files) [[ $cur == --*=* ]] && cur=${cur#*=}\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tCOMPREPLY=($(compgen -f -- \"$cur\")); return 0 ;;\n"
	"\t@commands) COMPREPLY=($(compgen -c -- \"$cur\")); return 0 ;;\n"
	"\tesac\n"
	"\t[[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *[:=/] ]] && compopt -o nospace 2>/dev/null\n"
	"\t# readline replaces only what follows the last break\n"
	"\tif [[ -z $quote && $cur == *[:=]* ]]; then\n"
	"\t\tline=${cur##*[:=]}\n"
	"\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"$line\"}\"}\")\n"
	"\tfi\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _kymo kymo\n";

static const char zsh_script[] =
	"#compdef kymo\n"
	"# zsh completion for kymo: kymo completion zsh > \"${fpath[1]}/_kymo\"\n"
	"_kymo() {\n"
	"\tlocal -a lines names open shown\n"
	"\tlines=(\"${(@f)$(${(Q)words[1]} completion --words -- \"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\" 2>/dev/null)}\")\n"
	"\tcase ${lines[1]} in\n"
	"\t@files) [[ $PREFIX == --*=* ]] && compset -P '*='\n"
	"\t\t_files; return ;;\n"
	"\t@commands) _command_names -e; return ;;\n"
	"\t'') return 1 ;;\n"
	"\tesac\n"
	"\t# a word that goes on (\"sched:\") gets no space\n"
	"\topen=(\"${(@M)lines:#*[:=\\/]$'\\t'*}\")\n"
	"\tlines=(\"${(@)lines:#*[:=\\/]$'\\t'*}\")\n"
	"\tnames=(\"${(@)lines%%$'\\t'*}\") shown=(\"${(@)lines//$'\\t'/  -- }\")\n"
	"\t[[ -n $names[1] ]] && compadd -l -d shown -a names\n"
	"\tnames=(\"${(@)open%%$'\\t'*}\") shown=(\"${(@)open//$'\\t'/  -- }\")\n"
	"\t[[ -n $names[1] ]] && compadd -S '' -l -d shown -a names\n"
	"\treturn 0\n"
	"}\n"
	"if [[ $funcstack[1] = _kymo ]]; then\n"
	"\t_kymo \"$@\"\n"
	"else\n"
	"\tcompdef _kymo kymo\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion for kymo: kymo completion fish > ~/.config/fish/completions/kymo.fish\n"
	"function __kymo_words\n"
	"\tset -l tokens (commandline -opc)\n"
	"\tset -l typed (commandline -ct)\n"
	"\tset -l lines ($tokens[1] completion --words -- $tokens[2..-1] (string replace -r '^[\\'\"]' '' -- \"$typed\") 2>/dev/null)\n"
	"\tswitch \"$lines[1]\"\n"
	"\t\tcase @files\n"
	"\t\t\t__fish_complete_path (string replace -r '^--[^=]*=' '' -- \"$typed\")\n"
	"\t\tcase @commands\n"
	"\t\t\t__fish_complete_command\n"
	"\t\tcase '*'\n"
	"\t\t\tstring join \\n -- $lines\n"
	"\tend\n"
	"end\n"
	"complete -c kymo -f -a '(__kymo_words)'\n";
/* clang-format on */

static int completion_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;

	if (a->words) {
		complete_line(argc, argv);
		return 0;
	}
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

const struct command cmd_completion = {
	.name = "completion",
	.group = "kymo itself",
	.summary = "print the completion script for a shell",
	.usage = "bash|zsh|fish",
	.complete = "bash|zsh|fish",
	.examples = EXAMPLES(
		{ "completion bash", "print it; eval \"$(kymo completion bash)\" switches it on" }),
	COMMAND_USUAL(completion),
};
