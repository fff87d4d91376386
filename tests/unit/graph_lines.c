/* SPDX-License-Identifier: MIT */
/* Lines of function_graph that belong to no function asked for are left out, all others are kept.
 */
#include "view/report/graph_lines.h"

#include "tap.h"

/* What is left of text, in pieces of every size. */
static void leaves(const char *what, const char *wanted, unsigned bars, const char *text,
		   const char *left)
{
	for (size_t piece = 1; piece < 100; piece = piece * 3 + 1) {
		struct graph_lines *g = graph_lines_new(wanted, bars);
		struct strbuf out = { 0 };

		for (size_t at = 0, n = strlen(text); at < n; at += piece)
			graph_lines_feed(g, text + at, n - at < piece ? n - at : piece, &out);
		CHECK_CASE(strcmp(strbuf_str(&out), left) == 0, "%s, in pieces of %zu", what,
			   piece);
		strbuf_free(&out);
		graph_lines_free(g);
	}
}

#define READ                                       \
	" 1)               |  vfs_read() {\n"      \
	" 1)   1.283 us    |    __get_ioprio();\n" \
	" 1)               |    pipe_read() {\n"   \
	" 1)               |      vfs_read() {\n"  \
	" 1)   0.882 us    |        cond();\n"     \
	" 1)   2.686 us    |      }\n"             \
	" 1) @ 255372.2 us |    }\n"               \
	" 1) @ 255413.3 us |  }\n"
#define STRAY                                           \
	" 1)               |  finish_task.isra.0() {\n" \
	" 1)   3.137 us    |    _raw_spin_unlock();\n"  \
	" 1) + 31.249 us   |  }\n"
#define RULE " ------------------------------------------\n"

int main(void)
{
	leaves("a function", "vfs_read\n", 1, READ, READ);
	leaves("what an earlier run left", "vfs_read\n", 1, STRAY READ, READ);
	leaves("between", "vfs_read\n", 1, READ STRAY READ, READ READ);
	leaves("ends without a beginning", "vfs_read\n", 1,
	       " 1)   3.137 us    |      } /* schedule */\n"
	       " 1) $ 20000000 us |  } /* vfs_read */\n" READ,
	       READ);
	leaves("a call without calls", "vfs_read\nvfs_write [ext4]\n", 1,
	       " 0)   1.000 us    |  vfs_write [ext4]();\n 0)   1.000 us    |  vfs_open();\n",
	       " 0)   1.000 us    |  vfs_write [ext4]();\n");
	leaves("a name with a line in front", "__arm64_sys_read\n", 1,
	       " 0)   1.6 us    |  __other();\n 0)   1.6 us    |  __arm64_sys_read();\n",
	       " 0)   1.6 us    |  __arm64_sys_read();\n");
	leaves("parameters", "vfs_read\n", 1,
	       " 0)               |  vfs_read(file=0x1, pos=2) {\n 0)   1.0 us |  } /* ret=3 */\n",
	       " 0)               |  vfs_read(file=0x1, pos=2) {\n 0)   1.0 us |  } /* ret=3 */\n");
	leaves("each CPU by itself", "vfs_read\n", 1,
	       " 1)               |  vfs_read() {\n"
	       " 0)               |  other() {\n"
	       " 1)   1.0 us      |    inner();\n"
	       " 0)   1.0 us      |    inner();\n"
	       " 0)   1.0 us      |  }\n"
	       " 1)   1.0 us      |  }\n",
	       " 1)               |  vfs_read() {\n"
	       " 1)   1.0 us      |    inner();\n"
	       " 1)   1.0 us      |  }\n");
	leaves("each task by itself, on whichever CPU", "vfs_read\n", 1,
	       RULE " 0)    sh-9    =>     dd-12    \n" RULE "\n"
		    " 0)               |  vfs_read() {\n" RULE
		    " 0)    dd-12    =>     cat-13   \n" RULE "\n"
		    " 0)   1.0 us      |  other();\n" RULE " 1)    sh-9    =>     dd-12   \n" RULE
		    "\n"
		    " 1)   1.0 us      |    inner();\n"
		    " 1)   1.0 us      |  }\n",
	       RULE " 0)    sh-9    =>     dd-12    \n" RULE "\n"
		    " 0)               |  vfs_read() {\n" RULE
		    " 1)    sh-9    =>     dd-12   \n" RULE "\n"
		    " 1)   1.0 us      |    inner();\n"
		    " 1)   1.0 us      |  }\n");
	leaves("times, names, no durations", "vfs_read\n", 2,
	       "   46.014507 |   1)     dd-670     | other() {\n"
	       "   46.014508 |   1)     dd-670     | }\n"
	       "   46.014509 |   1)     dd-670     | vfs_read() {\n"
	       "   46.014522 |   1)     dd-670     |   verify();\n"
	       "   46.014590 |   1)     dd-670     | }\n",
	       "   46.014509 |   1)     dd-670     | vfs_read() {\n"
	       "   46.014522 |   1)     dd-670     |   verify();\n"
	       "   46.014590 |   1)     dd-670     | }\n");
	leaves("no columns at all", "vfs_read\n", 0, " 1) other();\n 1) vfs_read();\n",
	       " 1) vfs_read();\n");
	leaves("headings and comments", "vfs_read\n", 1,
	       "# tracer: function_graph\n#\n 0)               |  /* a mark */\n" STRAY,
	       "# tracer: function_graph\n#\n 0)               |  /* a mark */\n");
	leaves("behind a loss all is shown", "vfs_read\n", 1,
	       STRAY "CPU:1 [LOST 12 EVENTS]\n" STRAY, "CPU:1 [LOST 12 EVENTS]\n" STRAY);
	leaves("no list", "#### all functions enabled ####\n", 1, STRAY, STRAY);
	leaves("an empty list", "", 1, STRAY, STRAY);
	return tap_end();
}
