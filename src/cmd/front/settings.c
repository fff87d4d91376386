/* SPDX-License-Identifier: MIT */
/* Reading perfconfig files, and giving commands what they say. */
#include "cmd/front/settings.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"

#define CONFIG_MAX (1u << 20)

const struct config_key config_keys[] = {
	{ "report.children", "report", "children", true, false,
	  "also count what functions called" },
	{ "report.percent-limit", "report", "percent-limit", false, false,
	  "leave out rows below it" },
	{ "report.sort_order", "report", "sort", false, false, "what rows are made of" },
	{ "report.group", "report", "group", true, false, "events of a group side by side" },
	{ "top.children", "top", "children", true, false, "also count what functions called" },
	{ "record.call-graph", "record", "call-graph-default", false, false,
	  "how -g finds callers: auto, fp, dwarf, lbr" },
	{ "call-graph.record-mode", "record", "call-graph-default", false, false, "the same" },
	{ "annotate.disassembler_style", "annotate", "disassembler-style", false, false,
	  "att or intel" },
	{ "annotate.hide_src_code", "annotate", "source", true, true, "instructions alone" },
	{ "annotate.jump_arrows", "annotate", "arrows", true, false, "arrows for jumps" },
	{ "annotate.show_nr_samples", "annotate", "show-nr-samples", true, false,
	  "samples in place of percentages" },
	{ "annotate.show_total_period", "annotate", "show-total-period", true, false,
	  "periods in place of percentages" },
	{ "stat.big-num", "stat", "big-num", true, false, "group the digits of large numbers" },
	{ "trace.show_arg_names", "trace", "names", true, false, "arguments with their names" },
	{ "buildid.dir", NULL, "", false, false, "where files are kept by build-id (~/.debug)" },
	{ NULL, NULL, NULL, false, false, NULL },
};

const struct config_key *config_known(const char *key)
{
	for (const struct config_key *k = config_keys; k->key; k++)
		if (strcmp(k->key, key) == 0)
			return k;
	return NULL;
}

static char *trimmed(char *s)
{
	char *end;

	s += strspn(s, " \t\r");
	end = s + strlen(s);
	while (end > s && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return s;
}

/* "value" in quotes, and without what follows a # or ; outside of them. */
static char *value_of(char *s)
{
	char *to = s, *from = s;
	bool quoted = false;

	for (; *from; from++) {
		if (*from == '"')
			quoted = !quoted;
		else if (!quoted && (*from == '#' || *from == ';'))
			break;
		else
			*to++ = *from;
	}
	*to = '\0';
	return trimmed(s);
}

static void settings_parse(struct config *c, const char *path, char *text)
{
	const char *section = "";
	unsigned n = 0;

	for (char *line, *rest = text; (line = strsep(&rest, "\n"));) {
		char *s = trimmed(line), *equals = strchr(s, '='), *end;

		n++;
		if (!*s || *s == '#' || *s == ';')
			continue;
		if (*s == '[' && (end = strchr(s, ']'))) {
			*end = '\0';
			section = arena_strdup(&c->texts, trimmed(s + 1));
			continue;
		}
		if (!*section) {
			snprintf(c->note, sizeof(c->note),
				 "%s:%u: a setting before the first [section]", path, n);
			continue;
		}
		if (equals)
			*equals = '\0';
		vec_push(&c->lines,
			 (struct config_line){
				 .key = arena_printf(&c->texts, "%s.%s", section, trimmed(s)),
				 .value = arena_strdup(&c->texts,
						       equals ? value_of(equals + 1) : "true"),
				 .path = path });
	}
}

/* Anybody's file could make root write anywhere: only our own, and root's. */
static void read_file(struct config *c, const char *path)
{
	int fd = path ? file_open_input(path, NULL) : -ENOENT;
	AUTO_FREE char *text = NULL;
	struct stat st;

	if (fd < 0)
		return;
	/* whose it is, is asked of what is read: the name may lead elsewhere the next moment */
	if (fstat(fd, &st) < 0 || (st.st_uid && st.st_uid != geteuid())) {
		snprintf(c->note, sizeof(c->note), "%s is not yours nor root's: not read", path);
		close(fd);
		return;
	}
	if (file_read_fd(fd, CONFIG_MAX, &text, NULL) == 0)
		settings_parse(c, path, text);
}

void config_read(struct config *c, unsigned which)
{
	const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");

	*c = (struct config){ 0 };
	if (only && *only) {
		c->user = only;
	} else {
		c->system = "/etc/perfconfig";
		c->user = home ? arena_printf(&c->texts, "%s/.perfconfig", home) : NULL;
	}
	if (which & CONFIG_SYSTEM)
		read_file(c, c->system);
	if (which & CONFIG_USER)
		read_file(c, c->user);
}

void config_free(struct config *c)
{
	vec_free(&c->lines);
	arena_free(&c->texts);
}

const char *config_get(const struct config *c, const char *key)
{
	for (size_t i = c->lines.n; i > 0; i--)
		if (strcasecmp(c->lines.data[i - 1].key, key) == 0)
			return c->lines.data[i - 1].value;
	return NULL;
}

static bool is_true(const char *value)
{
	return strcmp(value, "true") == 0 || strcmp(value, "yes") == 0 ||
	       strcmp(value, "on") == 0 || strcmp(value, "1") == 0;
}

static void settings_give(const struct config_key *k, const struct config_line *l,
			  const struct command *c, void *args)
{
	static struct arena words; /* options keep pointers into them, as into the command line's */
	bool on = is_true(l->value) != k->inverted;
	AUTO_FREE char *word = k->flag ? mem_printf("--%s%s", on ? "" : "no-", k->option)
				       : mem_printf("--%s=%s", k->option, l->value);
	char *argv[] = { arena_strdup(&words, c->name), arena_strdup(&words, word), NULL };
	struct err e = { 0 };

	if (opt_parse(c->opts, c->parse, 2, argv, args, &e) < 0)
		command_note("%s: %s = %s: %s", l->path, l->key, l->value, e.msg);
}

void config_apply(const struct command *c, void *args)
{
	struct config config;

	config_read(&config, CONFIG_SYSTEM | CONFIG_USER);
	vec_each (&config.lines, l) {
		const struct config_key *k = config_known(l->key);

		if (k && !*k->option)
			setenv("PERF_BUILDID_DIR", l->value, 0);
		else if (k && strcmp(k->command, c->name) == 0 && c->group)
			settings_give(k, l, c, args);
	}
	if (config.note[0])
		command_note("%s", config.note);
	config_free(&config);
}
