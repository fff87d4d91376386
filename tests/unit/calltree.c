/* SPDX-License-Identifier: MIT */
/* Stacks into trees: merging, order, reverse, recursion, charts, comparisons, pruning. */
#include <stdlib.h>

#include "base/str.h"
#include "calc/stacks/calltree.h"
#include "tap.h"
#include "unfold.h"

static const struct calltree_opts plain = { .type = CALLTREE_ALL_TYPES };

/* The tree as text: "name:total/self@start" with parentheses around children. */
static void show(const struct calltree *t, uint32_t i, bool two, struct strbuf *b)
{
	const struct calltree_node *n = &t->nodes.data[i];
	bool any = false;

	strbuf_printf(b, "%s:%lld", calltree_name(t, n->func), (long long)n->total[0]);
	if (two)
		strbuf_printf(b, ",%lld", (long long)n->total[1]);
	else if (n->self[0])
		strbuf_printf(b, "/%lld", (long long)n->self[0]);
	if (n->start[0] && !two)
		strbuf_printf(b, "@%lld", (long long)n->start[0]);
	for (uint32_t c = i + 1; c < n->end; c = t->nodes.data[c].end) {
		strbuf_puts(b, any ? " " : "(");
		any = true;
		show(t, c, two, b);
	}
	if (any)
		strbuf_putc(b, ')');
}

static void tree_is(const char *text, const struct calltree_opts *o, const char *want)
{
	struct stacks side[2] = { 0 };
	struct folded_info info;
	struct calltree t = { 0 };
	struct err e = { 0 };
	AUTO_STRBUF b = { 0 };

	CHECK_INT(unfold_text("f", text, strlen(text), side, &info, &e), 0);
	CHECK_INT(calltree_make(&side[0], info.two ? &side[1] : NULL, o, &t, &e), 0);
	show(&t, 0, info.two, &b);
	CHECK_STR(strbuf_str(&b), want);
	/* sums: every node is its own and its children's weight; parents stand before */
	for (uint32_t i = 0; i < t.nodes.n && o->min_share == 0; i++) {
		int64_t sum = t.nodes.data[i].self[0];

		for (uint32_t c = i + 1; c < t.nodes.data[i].end; c = t.nodes.data[c].end)
			sum += t.nodes.data[c].total[0];
		if (sum != t.nodes.data[i].total[0] || (i && t.nodes.data[i].parent >= i)) {
			CHECK_CASE(false, "sums of node %u in %s", i, want);
			break;
		}
	}
	calltree_free(&t);
	stacks_free(&side[0]);
	stacks_free(&side[1]);
}

static void test_merge(void)
{
	tree_is("a;b 1\na;c 2\na;b;d 3\n", &plain, "all:6(a:6(b:4/1(d:3/3@1) c:2/2@4))");
	tree_is("a 1\na 2\n", &plain, "all:3(a:3/3)");
	tree_is("", &plain, "all:0");
	tree_is(" 4\na 1\n", &plain, "all:5/4(a:1/1@4)");
	tree_is("a;b 0\nc 2\n", &plain, "all:2(c:2/2)");
	/* the order of the folded lines: a name ends in a semicolon */
	tree_is("a;x 1\na-b;y 1\na1;z 1\naz;q 1\n", &plain,
		"all:4(a-b:1(y:1/1) a1:1@1(z:1/1@1) a:1@2(x:1/1@2) az:1@3(q:1/1@3))");
	/* kinds tell functions apart */
	tree_is("f 1\nf_[k] 2\n", &plain, "all:3(f:1/1 f:2/2@1)");
}

static void test_options(void)
{
	struct calltree_opts o = plain;

	o.sort = CALLTREE_BY_SIZE;
	tree_is("a 1\nb 5\nc 3\n", &o, "all:9(b:5/5 c:3/3@5 a:1/1@8)");
	o = plain;
	o.reverse = true;
	tree_is("a;b;c 1\nx;c 2\n", &o, "all:3(c:3(b:1(a:1/1) x:2/2@1))");
	o = plain;
	o.collapse_recursion = true;
	tree_is("a;b;b;b;c 1\na;b;c 2\na;b;c;b 4\n", &o, "all:7(a:7(b:7(c:7/3(b:4/4@3))))");
	o.reverse = true;
	tree_is("a;b;b 1\n", &o, "all:1(b:1(a:1/1))");
	o = plain;
	o.sort = CALLTREE_BY_TIME;
	tree_is("a;b 1\na;c 2\na;b 3\nb 1\na 1\na;b 1\n", &o,
		"all:9(a:6(b:1/1 c:2/2@1 b:3/3@3) b:1/1@6 a:2/1@7(b:1/1@8))");
}

/* Stacks with times: period ns a sample; [1] of each pair is the thread. */
static void chart_is(const char *text, const uint64_t (*when)[2], bool spans, const char *want,
		     uint32_t rows)
{
	struct calltree_opts o = plain;
	struct stacks side[2] = { 0 };
	struct folded_info info;
	struct calltree t = { 0 };
	struct err e = { 0 };
	AUTO_STRBUF b = { 0 };

	o.sort = CALLTREE_BY_TIME;
	CHECK_INT(unfold_text("f", text, strlen(text), side, &info, &e), 0);
	for (uint32_t i = 0; i < side[0].entries.n; i++) {
		side[0].entries.data[i].time = when[i][0];
		side[0].entries.data[i].pid = 11;
		side[0].entries.data[i].tid = (int32_t)when[i][1];
		side[0].entries.data[i].count = 1;
	}
	vec_push(&side[0].clocks, (struct stack_clock){ .period = 1000, .spans = spans });
	CHECK_INT(calltree_make(&side[0], NULL, &o, &t, &e), 0);
	show(&t, 0, false, &b);
	CHECK_STR(strbuf_str(&b), want);
	CHECK_INT((long)t.depth, rows);
	calltree_free(&t);
	stacks_free(&side[0]);
	stacks_free(&side[1]);
}

static void test_chart_in_time(void)
{
	/* two threads that take turns: each stands by itself, and what they share is two frames */
	chart_is("a;b 1\na;c 2\na;b 3\na;c 4\na;d 5\n",
		 (const uint64_t[][2]){
			 { 1000, 11 }, { 1500, 12 }, { 2000, 11 }, { 2500, 12 }, { 9000, 11 } },
		 false,
		 "all:9000(a:2000(b:2000/2000) a:1000@8000(d:1000/1000@8000) "
		 "a:2000@500(c:2000/2000@500))",
		 4);
	/* a sample that was missed is no gap; one that comes when another thread has ended has its
	 * rows */
	chart_is("a 1\na 1\na 1\nb 1\n",
		 (const uint64_t[][2]){ { 1000, 11 }, { 2000, 11 }, { 4500, 11 }, { 9000, 12 } },
		 false, "all:9000(a:4500/4500 b:1000/1000@8000)", 1);
	/* waits last up to their times */
	chart_is("a 500\nb 700\n", (const uint64_t[][2]){ { 2000, 11 }, { 4000, 11 } }, true,
		 "all:2500(a:500/500 b:700/700@1800)", 1);
	/* what has no time is left out */
	chart_is("a 500\nb 700\n", (const uint64_t[][2]){ { 0, 11 }, { 4000, 11 } }, true,
		 "all:700(b:700/700)", 1);
}

static void test_prune(void)
{
	struct calltree_opts o = plain;

	o.min_share = 0.1;
	/* what is too small leaves its place empty */
	tree_is("a;m 95\na;b;x 1\na;z 4\n", &o, "all:100(a:100(m:95/95@1))");
	o.keep_pruned = true;
	tree_is("a;m 95\na;b;x 1\na;z 4\n", &o, "all:100(a:100(m:95/95 [pruned]:5/5@95))");
	/* with the innermost functions: self is exact, and what ends at once is no mystery */
	o.keep_leaves = true;
	tree_is("a;m 93\na;b;x 1\na;z 4\na;c;d;x 1\na;c;d;y 1\n", &o,
		"all:100(a:100(m:93/93 z:4/4@93 [pruned]:3@97(x:2/2@97 y:1/1@99)))");
}

static void test_compare(void)
{
	static const char text[] = "a;b 10 0\na;c 0 6\na 10 6\n";
	struct stacks before[2] = { 0 }, after[2] = { 0 };
	struct folded_info info;
	struct calltree t = { 0 };
	struct err e = { 0 };
	bool zero = true;
	static const char same[] = "a;b 3\na;c 4\nd 5\n";

	tree_is(text, &plain, "all:20,12(a:20,12(b:10,0 c:0,6))");
	/* a file against itself: not the least difference anywhere */
	unfold_text("f", same, strlen(same), before, &info, &e);
	unfold_text("f", same, strlen(same), after, &info, &e);
	CHECK_INT(calltree_make(&before[0], &after[0], &plain, &t, &e), 0);
	vec_each (&t.nodes, n)
		zero = zero && n->total[0] == n->total[1] && n->self[0] == n->self[1] &&
		       n->start[0] == n->start[1];
	CHECK(zero);
	CHECK_INT(t.nodes.n, 5);
	calltree_free(&t);
	stacks_free(&before[0]);
	stacks_free(&after[0]);
}

static uint32_t frame(struct stacks *s, const char *name, const char *module, const char *file,
		      uint32_t line)
{
	struct frame f = { .name = strtab_add(&s->strings, name),
			   .module = strtab_add(&s->strings, module),
			   .file = strtab_add(&s->strings, file),
			   .line = line };

	return stacks_frame(s, &f);
}

/* Functions are matched by module's file name and name; lines only survive where they agree. */
static void test_functions(void)
{
	struct stacks a = { 0 }, b = { 0 };
	struct calltree_opts o = plain;
	struct calltree t = { 0 };
	struct err e = { 0 };
	uint32_t ids[2];
	struct stack_entry en = { .weight = 1, .pid = 5, .tid = 6 };

	ids[0] = frame(&a, "f", "/old/lib.so", "f.c", 10);
	ids[1] = frame(&a, "f", "/old/lib.so", "f.c", 12);
	en.stack = stacks_stack(&a, ids, 2);
	en.comm = strtab_add(&a.strings, "prog");
	stacks_add(&a, &en);
	ids[0] = frame(&b, "f", "/new/lib.so", "f.c", 10);
	en.stack = stacks_stack(&b, ids, 1);
	en.comm = strtab_add(&b.strings, "prog");
	stacks_add(&b, &en);
	CHECK_INT(a.frames.n, 2);
	CHECK(stacks_frame(&a, &a.frames.data[1]) == 1);
	o.label = CALLTREE_LABEL_TID;
	CHECK_INT(calltree_make(&a, &b, &o, &t, &e), 0);
	CHECK_INT(t.nodes.n, 4);
	CHECK_STR(calltree_name(&t, t.nodes.data[1].func), "prog-5/6");
	CHECK_INT(t.nodes.data[2].total[0], 1);
	CHECK_INT(t.nodes.data[2].total[1], 1);
	CHECK_INT(t.funcs.data[t.nodes.data[2].func].line, 0);
	CHECK_STR(strtab_get(&t.strings, t.funcs.data[t.nodes.data[2].func].file), "f.c");
	CHECK(t.funcs.data[t.nodes.data[2].func].path == STRTAB_NONE);
	CHECK_STR(strtab_get(&t.strings, t.funcs.data[t.nodes.data[2].func].module), "lib.so");
	calltree_free(&t);
	a.entries.data[0].weight = -1;
	CHECK_INT(calltree_make(&a, NULL, &o, &t, &e), -EINVAL);
	a.entries.data[0].weight = INT64_MAX / 2;
	CHECK_INT(calltree_make(&a, NULL, &o, &t, &e), -ERANGE);
	stacks_free(&a);
	stacks_free(&b);
}

static void test_entry_nodes(void)
{
	static const char text[] = "a;b 1\nc 2\na;b 3\na;d;e 1\n";
	struct calltree_opts o = plain;
	struct stacks side[2] = { 0 };
	struct folded_info info;
	struct calltree t = { 0 };
	struct err e = { 0 };

	o.want_nodes = true;
	unfold_text("f", text, strlen(text), side, &info, &e);
	CHECK_INT(calltree_make(&side[0], NULL, &o, &t, &e), 0);
	CHECK_INT(t.entry_node[0].n, 4);
	CHECK_STR(calltree_name(&t, t.nodes.data[t.entry_node[0].data[0]].func), "b");
	CHECK_STR(calltree_name(&t, t.nodes.data[t.entry_node[0].data[1]].func), "c");
	CHECK_INT(t.entry_node[0].data[2], t.entry_node[0].data[0]);
	CHECK_STR(calltree_name(&t, t.nodes.data[t.entry_node[0].data[3]].func), "e");
	calltree_free(&t);
	/* pruned stacks end at the node that stands for them */
	o.min_share = 0.2;
	o.keep_pruned = true;
	CHECK_INT(calltree_make(&side[0], NULL, &o, &t, &e), 0);
	CHECK_INT(t.nodes.data[t.entry_node[0].data[3]].func, CALLTREE_PRUNED);
	CHECK_INT(t.pruned_stacks, 1);
	CHECK_INT(t.pruned_weight[0], 1);
	calltree_free(&t);
	stacks_free(&side[0]);
}

int main(void)
{
	test_merge();
	test_options();
	test_chart_in_time();
	test_prune();
	test_compare();
	test_functions();
	test_entry_nodes();
	return tap_end();
}
