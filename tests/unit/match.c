/* SPDX-License-Identifier: MIT */
/* Which events of a trace a text means. */
#include "event/match.h"
#include "tap.h"

static struct event_type types[] = {
	{ .name = "cycles:u" },
	{ .name = "page-faults/period=7/" },
	{ .name = "sched:sched_switch", .system = "sched", .event = "sched_switch" },
	{ .name = "sched:sched_wakeup", .system = "sched", .event = "sched_wakeup" },
	{ .name = "cycles" },
	{ .name = "kmalloc", .event = "kmalloc" },
	{ .name = "irq:sched_switch", .system = "irq", .event = "sched_switch" },
};

/* "0 4": which of them are meant. */
static const char *meant(const char *text)
{
	static char buf[64];
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (match_type(&types[i], text))
			n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%zu", n ? " " : "", i);
	return buf;
}

int main(void)
{
	struct trace t = { .types = types, .n_types = ARRAY_SIZE(types) };
	AUTO_STRBUF b = { 0 };
	regex_t re;

	CHECK_STR(meant("cycles"), "0 4");
	CHECK_STR(meant("cycles:u"), "0");
	CHECK_STR(meant("cycle"), "");
	CHECK_STR(meant("page-faults"), "1");
	CHECK_STR(meant("sched:sched_switch"), "2");
	CHECK_STR(meant("sched_switch"), "2 6");
	CHECK_STR(meant("sched:*"), "2 3");
	CHECK_STR(meant("sched"), "2 3");
	CHECK_STR(meant("sched_*"), "2 3 6");
	CHECK_STR(meant("*"), "0 1 2 3 4 5 6");
	CHECK_STR(meant("kmem:kmalloc"), "5");
	CHECK_STR(meant("kmem:kfree"), "");
	CHECK_STR(meant(""), "");

	CHECK_INT(match_find(&t, "cycles"), 4);
	CHECK_INT(match_find(&t, "sched_switch"), 2);
	CHECK_INT(match_find(&t, "irq:sched_switch"), 6);
	CHECK_INT(match_find(&t, "nothing"), MATCH_NONE);
	CHECK_INT(match_find_tracepoint(&t, "sched", "sched_wakeup"), 3);
	CHECK_INT(match_find_tracepoint(&t, "kmem", "kmalloc"), MATCH_NONE);
	CHECK(match_tracepoint(&types[2], "sched", "sched_switch"));
	CHECK(!match_tracepoint(&types[2], "irq", "sched_switch"));
	CHECK(!match_tracepoint(&types[0], "cycles", "u"));

	CHECK(match_name("sched_sw*", "sched:sched_switch"));
	CHECK(match_name("sched:sched_switch", "sched:sched_switch"));
	CHECK(!match_name("switch", "sched:sched_switch"));

	t.n_types = 2;
	match_list(&t, &b);
	CHECK_STR(strbuf_str(&b), "cycles:u, page-faults/period=7/");

	CHECK(match_regex_either("SCHED", "sched", "sched_switch"));
	CHECK(match_regex_either("sched_.*", "none", "sched_switch"));
	CHECK(!match_regex_either("sched_", "none", "sched_switch"));
	CHECK(!match_regex_either("[", "[", "["));
	CHECK(match_regex(&re, "irq.*/", 5));
	CHECK(match_regex_hits(&re, "irq_entry"));
	regfree(&re);
	return tap_end();
}
