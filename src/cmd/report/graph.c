/* SPDX-License-Identifier: MIT */
/* What -g takes: words in any order, of which the beginning is enough, and up to two numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/report/report.h"

enum kind { MODE, ORDER, KEY, VALUE, NONE, BRANCH };

static const struct {
	const char *name;
	enum kind kind;
	int value;
} words[] = {
	{ "none", NONE, 0 },
	{ "graph", MODE, GRAPH_ABSOLUTE },
	{ "flat", MODE, GRAPH_FLAT },
	{ "fractal", MODE, GRAPH_FRACTAL },
	{ "folded", MODE, GRAPH_FOLDED },
	{ "caller", ORDER, true },
	{ "callee", ORDER, false },
	{ "function", KEY, GRAPH_BY_FUNCTION },
	{ "address", KEY, GRAPH_BY_ADDRESS },
	{ "srcline", KEY, GRAPH_BY_LINE },
	{ "branch", BRANCH, 0 },
	{ "percent", VALUE, GRAPH_PERCENT },
	{ "period", VALUE, GRAPH_PERIOD },
	{ "count", VALUE, GRAPH_COUNT },
};

static bool take_word(struct report_graph *g, const char *word)
{
	struct graph_opts *o = &g->opts;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strncmp(words[i].name, word, strlen(word)) != 0)
			continue;
		switch (words[i].kind) {
		case MODE: o->mode = words[i].value; break;
		case KEY: o->key = words[i].value; break;
		case VALUE: o->value = words[i].value; break;
		case ORDER:
			g->caller = words[i].value;
			g->order_given = true;
			break;
		case NONE: g->no_graph = true; break;
		case BRANCH: g->branch_history = true; break;
		}
		return true;
	}
	return false;
}

int report_parse_graph(struct report_graph *g, const char *text, struct err *e)
{
	AUTO_FREE char *copy = mem_strdup(text);
	char *save = NULL;
	unsigned numbers = 0;

	g->no_graph = false;
	for (char *word = strtok_r(copy, ",", &save); word && !g->no_graph;
	     word = strtok_r(NULL, ",", &save)) {
		char *end;
		double v;

		if (take_word(g, word))
			continue;
		v = strtod(word, &end);
		if (end == word || *end || !(v >= 0) || numbers == 2) {
			err_set(e, EINVAL, "-g %s: what is '%s'?", text, word);
			return err_hint(e, "-g graph|fractal|flat|folded|none, least percent, most "
					   "branches, caller|callee, function|address|srcline, "
					   "percent|period|count");
		}
		if (numbers++ == 0)
			g->opts.min_percent = v;
		else
			g->opts.limit = (unsigned)v;
	}
	return 0;
}
