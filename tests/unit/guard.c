/* SPDX-License-Identifier: MIT */
#include "base/guard.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static void becomes(const char *text, const char *want)
{
	char *got = guard_text(text, strlen(text));

	CHECK_STR(got, want);
	free(got);
}

int main(void)
{
	char *got;

	becomes("", "");
	becomes("plain, with\ttabs\nand lines\n", "plain, with\ttabs\nand lines\n");
	becomes("\033[31mred\033[0m \033[48;5;52m \033[0m",
		"\033[31mred\033[0m \033[48;5;52m \033[0m");
	/* titles, clearing, questions, hidden text, half and endless sequences */
	becomes("a\033]0;title\007b", "a\\033]0;title\\007b");
	becomes("\033[2J\033[6n\033c", "\\033[2J\\033[6n\\033c");
	becomes("\033[8mhidden", "\\033[8mhidden");
	becomes("\033[48;5;1;8m", "\\033[48;5;1;8m");
	becomes("\033", "\\033");
	becomes("x\033[3", "x\\033[3");
	becomes("\033[00000000000000000000000000031m", "\\033[00000000000000000000000000031m");
	becomes("over\rwritten\b\177", "over\\015written\\010\\177");
	/* bytes that are no UTF-8, C1 controls in both forms, and text turned round */
	becomes("h\303\244user \342\202\254 \360\237\224\245",
		"h\303\244user \342\202\254 \360\237\224\245");
	becomes("\2335n \302\2335n", "\\2335n \\302\\2335n");
	becomes("\303", "\\303");
	becomes("\303(", "\\303(");
	becomes("\342\202", "\\342\\202");
	becomes("\300\233", "\\300\\233");
	becomes("a\342\200\256b\342\201\246", "a\\342\\200\\256b\\342\\201\\246");
	got = guard_text("a\0b", 3);
	CHECK_STR(got, "a\\000b");
	free(got);
	return tap_end();
}
