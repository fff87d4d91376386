/* SPDX-License-Identifier: MIT */
/* -e texts that are wrong: the column of the first caret, what is said, and the hint. */
#include "event/spec/spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kern/env.h"
#include "tap.h"

static const char modifiers[] =
	"u user, k kernel, h hypervisor, G guest, H host, p pp ppp P precise, "
	"S read the group, D pinned, I not idle, W weak group, e exclusive, "
	"b BPF";

struct bad {
	const char *text;
	int column;
	const char *msg, *hint;
};

#define TEN "cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,"
#define NET ",cs,cs,cs,cs,cs,cs,cs,cs,cs,cs"

static const struct bad plain[] = {
	{ "", 0, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ " ", 1, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ ",", 0, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "cs,", 3, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ ",cs", 0, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "cs,,faults", 3, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "cs,faults,", 10, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "{", 0, "the '{' is not closed", "a group is {a,b}" },
	{ "}", 0, "there is no '{' for this '}'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "{}", 1, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "{cs", 0, "the '{' is not closed", "a group is {a,b}" },
	{ "{cs,faults", 0, "the '{' is not closed", "a group is {a,b}" },
	{ "cs}", 2, "there is no '{' for this '}'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "{cs}}", 4, "there is no '{' for this '}'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "{cs,}", 4, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "{,cs}", 1, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "{cs,,faults}", 4, "an event is missing here",
	  "events are separated by single commas: cycles,instructions" },
	{ "{cs,{faults}}", 4, "a group cannot hold a group",
	  "write the groups one after the other: {a,b},{c,d}" },
	{ "{a{cs}}", 2, "a group cannot hold a group",
	  "write the groups one after the other: {a,b},{c,d}" },
	{ "{cs}{faults}", 4, "after a group comes ':', ',' or the end",
	  "modifiers of a group: {a,b}:u" },
	{ "{cs,faults}u", 11, "after a group comes ':', ',' or the end",
	  "modifiers of a group: {a,b}:u" },
	{ "{cs}:z", 5, "'z' is not a modifier", modifiers },
	{ "{cs:pp,faults}:pp", 15, "'p' more than three times",
	  "ppp asks for no skid at all; P for the best there is" },
	{ "a b{cs}", 3, "a ',' is missing before the '{'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "cs:u{faults}", 4, "a ',' is missing before the '{'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "cs//{faults}", 4, "a ',' is missing before the '{'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "cs:x", 3, "'x' is not a modifier", modifiers },
	{ "cs:ux", 4, "'x' is not a modifier", modifiers },
	{ "cs:uu", 4, "modifier 'u' is there twice", "once is enough; only p may be repeated" },
	{ "cs:pppp", 3, "'p' more than three times",
	  "ppp asks for no skid at all; P for the best there is" },
	{ "cs:u:k", 4, "':' is not a modifier", modifiers },
	{ "cs::", 3, "':' is not a modifier", modifiers },
	{ "cs:U", 3, "'U' is not a modifier", modifiers },
	{ ":u", 0, "there is no event name before the ':'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ ":", 0, "there is no event name before the ':'",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "cs/", 2, "the '/' is not closed",
	  "terms stand between two slashes: cpu/event=0x3c,umask=1/" },
	{ "cs/period=1", 2, "the '/' is not closed",
	  "terms stand between two slashes: cpu/event=0x3c,umask=1/" },
	{ "cs/period/", 3, "period wants a number", "as in period=100000" },
	{ "cs/period=x/", 10, "period wants a number", "as in period=100000" },
	{ "cs/period=1,/", 12, "a term is missing here",
	  "terms are KEY=VALUE or KEY, with commas between them" },
	{ "cs/,period=1/", 3, "a term is missing here",
	  "terms are KEY=VALUE or KEY, with commas between them" },
	{ "cs/=1/", 3, "a term is missing here",
	  "terms are KEY=VALUE or KEY, with commas between them" },
	{ "cs/period=/", 3, "the term has no value",
	  "terms are KEY=VALUE or KEY, with commas between them" },
	{ "cs/perod=1/", 3, "unknown term 'perod'", "did you mean period?" },
	{ "cs/foo/", 3, "unknown term 'foo'",
	  "terms: config, name, period, freq, call-graph, stack-size, max-stack, time, inherit, "
	  "overwrite, nr, branch_type, percore, aux-output" },
	{ "cs/event=1/", 3, "unknown term 'event'",
	  "terms: config, name, period, freq, call-graph, stack-size, max-stack, time, inherit, "
	  "overwrite, nr, branch_type, percore, aux-output" },
	{ "cs/freq=0/", 8, "freq cannot be 0", "as in freq=99" },
	{ "cs/nr=0/", 6, "nr cannot be 0", "as in nr=100" },
	{ "cs/time=2/", 8, "time is 0 or 1", "as in time=0" },
	{ "cs/call-graph=foo/", 14, "call-graph knows no 'foo'",
	  "one of fp, dwarf, lbr, no, auto" },
	{ "cs/call-graph/", 3, "call-graph wants a value", "as in call-graph=fp" },
	{ "cs/branch_type=foo/", 15, "branch_type knows no 'foo'",
	  "one of any, any_call, any_ret, ind_call, call, ind_jmp, cond, abort_tx, in_tx, no_tx, "
	  "u, k, hv, stack, save_type, priv" },
	{ "cs/branch_type=any|foo/", 19, "branch_type knows no 'foo'",
	  "one of any, any_call, any_ret, ind_call, call, ind_jmp, cond, abort_tx, in_tx, no_tx, "
	  "u, k, hv, stack, save_type, priv" },
	{ "cs/stack-size=0/", 14, "a stack copy has 8 to 65528 bytes", "as in stack-size=16384" },
	{ "cs/stack-size=65529/", 14, "a stack copy has 8 to 65528 bytes",
	  "as in stack-size=16384" },
	{ "cs/max-stack=65536/", 13, "a stack has at most 65535 frames", "as in max-stack=64" },
	{ "cs/period=9223372036854775808/", 10, "that period is too long", "as in period=100000" },
	{ "cs/name=''/", 3, "name wants a value", "as in name=loads" },
	{ "cs/name/", 3, "name wants a value", "as in name=loads" },
	{ "cs/@foo/", 3, "kymo sets no driver terms (@...)",
	  "they choose the sink of a CoreSight trace unit" },
	{ "cs:u/period=1/", 3, "modifiers come after the terms", "write EVENT/TERMS/u" },
	{ "cycels", 0, "unknown event 'cycels'", "did you mean cycles?" },
	{ "Cycles", 0, "unknown event 'Cycles'", "did you mean cycles?" },
	{ "CYCLES", 0, "unknown event 'CYCLES'", "did you mean cycles?" },
	{ "cycle", 0, "unknown event 'cycle'", "did you mean cycles?" },
	{ "instruction", 0, "unknown event 'instruction'", "did you mean instructions?" },
	{ "branchs", 0, "unknown event 'branchs'", "did you mean branches?" },
	{ "page-fault", 0, "unknown event 'page-fault'", "did you mean page-faults?" },
	{ "nosuchthing", 0, "unknown event 'nosuchthing'",
	  "'kymo list' shows the events of this machine" },
	{ "context_switches", 0, "unknown event 'context_switches'",
	  "did you mean context-switches?" },
	{ "L1-dcache-laods", 10, "'laods' does not fit into the cache event 'L1-dcache-laods'",
	  "did you mean L1-dcache-loads, L1-icache-loads or L1-dcache-stores?" },
	{ "iTLB-stores", 5, "'stores' does not fit into the cache event 'iTLB-stores'",
	  "did you mean dTLB-stores or LLC-stores?" },
	{ "L1-icache-stores", 10, "'stores' does not fit into the cache event 'L1-icache-stores'",
	  "did you mean L1-dcache-stores, L1-icache-loads or L1-dcache-loads?" },
	{ "L1-dcache-load-misses-x", 22,
	  "'x' does not fit into the cache event 'L1-dcache-load-misses-x'",
	  "did you mean L1-dcache-load-misses, L1-icache-load-misses or L1-dcache-store-misses?" },
	{ "branch-stores", 7, "'stores' does not fit into the cache event 'branch-stores'",
	  "did you mean branch-loads?" },
	{ "LLC-load-store", 9, "'store' does not fit into the cache event 'LLC-load-store'",
	  "CACHE-load|store|prefetch[es][-misses], without stores for L1-icache, and only loads "
	  "for iTLB and branch" },
	{ "r", 0, "unknown event 'r'", "'kymo list' shows the events of this machine" },
	{ "rg", 0, "unknown event 'rg'", "'kymo list' shows the events of this machine" },
	{ "r12345678901234567", 0, "unknown event 'r12345678901234567'",
	  "'kymo list' shows the events of this machine" },
	{ "1", 0, "unknown event '1'", "'kymo list' shows the events of this machine" },
	{ "1:", 2, "TYPE:CONFIG wants a number after the ':'", "as in 1:3 (software event 3)" },
	{ "1:x", 2, "TYPE:CONFIG wants a number after the ':'", "as in 1:3 (software event 3)" },
	{ "4294967296:0", 0, "there is no event type that large",
	  "as in cycles:u,{instructions,branches}:S,sched:*" },
	{ "-1:0", 0, "unknown event '-1:0': there is no subsystem '-1'",
	  "'kymo list' shows the events of this machine" },
	{ "sched:sched_swich", 6, "sched has no tracepoint 'sched_swich'",
	  "did you mean sched:sched_switch?" },
	{ "sched:nosuch", 6, "sched has no tracepoint 'nosuch'",
	  "'kymo list \"sched:*\"' shows its tracepoints" },
	{ "sched:*nosuch", 6, "no tracepoint of sched matches '*nosuch'",
	  "'kymo list \"sched:*\"' shows its tracepoints" },
	{ "shed:sched_switch", 0, "unknown event 'shed:sched_switch': there is no subsystem 'shed'",
	  "did you mean sched:sched_switch?" },
	{ "nosuch:nosuch", 0, "unknown event 'nosuch:nosuch': there is no subsystem 'nosuch'",
	  "'kymo list' shows the events of this machine" },
	{ "nosuch:*", 0, "no tracepoint matches 'nosuch:*'", "'kymo list tracepoint' shows them" },
	{ "*:nosuch", 0, "no tracepoint matches '*:nosuch'", "'kymo list tracepoint' shows them" },
	{ "sched:", 6, "there is no event name after 'sched:'",
	  "'kymo list \"sched:*\"' shows its tracepoints" },
	{ "sched:sched_switch:x", 19, "'x' is not a modifier", modifiers },
	{ "sched:sched_switch/nosuch/", 19, "unknown term 'nosuch'",
	  "terms: config, name, period, freq, call-graph, stack-size, max-stack, time, inherit, "
	  "overwrite, nr, branch_type, percore, aux-output" },
	{ "sched:sched_switch/config=1/", 19, "this event has no config",
	  "raw numbers are for hardware: cpu/config=0x13c/" },
	{ "sched:sched_*/name=x/", 14, "4 events cannot share one name",
	  "leave the name out, or write one event instead of a pattern" },
	{ "sched_switch", 0, "unknown event 'sched_switch'", "did you mean sched:sched_switch?" },
	{ "openat", 0, "unknown event 'openat'", "did you mean syscalls:sys_enter_openat?" },
	{ "sched_*", 0, "unknown event 'sched_*'",
	  "a pattern needs its subsystem: 'sched:sched_*'" },
	{ "sched/sched_switch/", 0, "neither a PMU nor an event: 'sched'",
	  "'kymo list pmu' shows the PMUs of this machine" },
	{ "..:..", 0, "unknown event '..:..': there is no subsystem '..'",
	  "'kymo list' shows the events of this machine" },
	{ "sched:..", 6, "sched has no tracepoint '..'",
	  "'kymo list \"sched:*\"' shows its tracepoints" },
	{ "sched:.", 6, "sched has no tracepoint '.'",
	  "'kymo list \"sched:*\"' shows its tracepoints" },
	{ "ftrace:kernel_stack", 7, "ftrace:kernel_stack can be traced, but not counted or sampled",
	  "the kernel gives it no id: only the ftrace buffer has it" },
	{ "sched:enable", 6, "sched has no tracepoint 'enable'",
	  "'kymo list \"sched:*\"' shows its tracepoints" },
	{ "mem:", 4, "there is no address",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:0xZ", 4, "that is no address",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:12x", 4, "that is no address",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:0x1000/", 11, "the length is 1 to 8 bytes",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:0x1000/0", 11, "the length is 1 to 8 bytes",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:0x1000/9", 11, "the length is 1 to 8 bytes",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:0x1000/x", 11, "the length is 1 to 8 bytes",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:0x1000:rr", 11, "a letter of rwx is there twice",
	  "mem:ADDR[/LEN][:rwx][:MODIFIERS], as in mem:0x7ffe1000/8:w:u" },
	{ "mem:0x1000:q", 11, "'q' is not a modifier", modifiers },
	{ "mem:0x1000::u", 11, "':' is not a modifier", modifiers },
	{ "mem:0x1000:w:z", 13, "'z' is not a modifier", modifiers },
	{ "mem:nosuchsym", 4, "there is no kernel symbol 'nosuchsym'",
	  "'grep nosuchsym tests/data/kallsyms' searches; a user address is given as a number" },
	{ "nosuch/event=1/", 0, "neither a PMU nor an event: 'nosuch'",
	  "'kymo list pmu' shows the PMUs of this machine" },
	{ "nosuch//", 0, "neither a PMU nor an event: 'nosuch'",
	  "'kymo list pmu' shows the PMUs of this machine" },
	{ "cycels,instrctions", 0, "unknown event 'cycels'; unknown event 'instrctions'",
	  "for cycels: did you mean cycles? for instrctions: did you mean instructions?" },
	{ "cs,foo,faults,bar", 3, "unknown event 'foo'; unknown event 'bar'",
	  "'kymo list' shows the events of this machine" },
	{ "a1,b2,c3,d4,e5,f6", 0,
	  "unknown event 'a1'; unknown event 'b2'; unknown event 'c3'; unknown event 'd4'; and 2 "
	  "more",
	  "'kymo list' shows the events of this machine; for c3: did you mean cs?" },
	{ TEN TEN TEN TEN "nosuch" NET NET NET NET, 35, "unknown event 'nosuch'",
	  "'kymo list' shows the events of this machine" },
};

static const struct bad intel[] = {
	{ "cpu/evnt=1/", 4, "cpu has no term 'evnt'", "did you mean event?" },
	{ "cpu/event=0x1ff/", 10, "event is too large: its greatest value is 255 (0xff)",
	  "its bits are config:0-7" },
	{ "cpu/event=3c/", 10, "event wants a number", "as in event=0x3c or event=60" },
	{ "cpu/event=-1/", 10, "event wants a number", "as in event=0x3c or event=60" },
	{ "cpu/umask=256/", 10, "umask is too large: its greatest value is 255 (0xff)",
	  "its bits are config:8-15" },
	{ "cpu/inv=2/", 8, "inv is too large: its greatest value is 1 (0x1)",
	  "its bits are config:23" },
	{ "cpu/Event=1/", 4, "cpu has no term 'Event'", "did you mean event?" },
	{ "cpu/mem-load/", 4, "cpu has no event and no term 'mem-load'",
	  "did you mean mem-loads?" },
	{ "cpu/mem-loads,mem-stores/", 14, "two events in one: 'mem-loads' and 'mem-stores'",
	  "write PMU/mem-loads/,PMU/mem-stores/" },
	{ "cpu/cycles,umask=1/", 11, "cycles has a fixed meaning: it takes no umask",
	  "the CPU's manual has its event and umask numbers, which take terms" },
	{ "cpu/cs/", 4, "cpu has no event and no term 'cs'",
	  "its terms: any, cmask, edge, event, frontend, in_tx, in_tx_cp, inv, ldlat, offcore_rsp, "
	  "pc, umask" },
	{ "cpu/event=0x3c", 3, "the '/' is not closed",
	  "terms stand between two slashes: cpu/event=0x3c,umask=1/" },
	{ "cpu/event=0x3c/x", 15, "'x' is not a modifier", modifiers },
	{ "cpu/offcore_rsp=0x10000000000000000/", 16, "offcore_rsp wants a number",
	  "as in offcore_rsp=0x3c or offcore_rsp=60" },
	{ "cpu/event=0x3c,umask=x/", 21, "umask wants a number", "as in umask=0x3c or umask=60" },
	{ "cpu", 0, "unknown event 'cpu'",
	  "it is a PMU: write cpu/EVENT/ ('kymo list cpu' shows its events)" },
	{ "msr", 0, "unknown event 'msr'",
	  "it is a PMU: write msr/EVENT/ ('kymo list msr' shows its events)" },
	{ "intel_pt", 0, "unknown event 'intel_pt'",
	  "it is a PMU: write intel_pt/EVENT/ ('kymo list intel_pt' shows its events)" },
	{ "cpus/event=1/", 0, "neither a PMU nor an event: 'cpus'", "did you mean cpu?" },
	{ "uncore_im/clockticks/", 0, "neither a PMU nor an event: 'uncore_im'",
	  "did you mean uncore_imc_0 or uncore_imc_1?" },
	{ "uncore_imc/clocktick/", 11, "uncore_imc_0 has no event and no term 'clocktick'",
	  "did you mean clockticks?" },
	{ "uncore_imc_2/clockticks/", 0, "neither a PMU nor an event: 'uncore_imc_2'",
	  "did you mean uncore_imc_0 or uncore_imc_1?" },
	{ "uncore_cbox_0/filter_state=0x20/", 27,
	  "filter_state is too large: its greatest value is 31 (0x1f)",
	  "its bits are config1:17-20,30" },
	{ "mem-load", 0, "unknown event 'mem-load'", "did you mean mem-loads?" },
	{ "tx-strt", 0, "unknown event 'tx-strt'", "did you mean tx-start?" },
	{ "msr/tcs/", 4, "msr has no event and no term 'tcs'", "did you mean tsc?" },
	{ "mrs/tsc/", 0, "neither a PMU nor an event: 'mrs'", "did you mean msr?" },
	{ "topdown-nosuch", 0, "unknown event 'topdown-nosuch'",
	  "'kymo list' shows the events of this machine" },
	{ "cpu/period=x/", 11, "period wants a number", "as in period=100000" },
	{ "../cpu/event=1/", 0, "neither a PMU nor an event: '..'",
	  "PMUs here: breakpoint, cpu, cstate_core, i915_0000, intel_pt, kprobe, msr, power, "
	  "software, tracepoint, uncore_cbox_0, uncore_cbox_1, uncore_imc_0, uncore_imc_1, "
	  "uprobe" },
	{ "cpu/../type/", 4, "cpu has no event and no term '..'",
	  "its terms: any, cmask, edge, event, frontend, in_tx, in_tx_cp, inv, ldlat, offcore_rsp, "
	  "pc, umask" },
};

static const struct bad hybrid[] = {
	{ "cycles/foo=1/", 7, "unknown term 'foo'",
	  "terms: config, name, period, freq, call-graph, stack-size, max-stack, time, inherit, "
	  "overwrite, nr, branch_type, percore, aux-output" },
	{ "cpu/event=0x3c/", 0, "there is no PMU 'cpu' here",
	  "PMUs here: breakpoint, cpu_atom, cpu_core, kprobe, msr, software, tracepoint, uprobe" },
	{ "cpu_cor/cycles/", 0, "neither a PMU nor an event: 'cpu_cor'", "did you mean cpu_core?" },
	{ "cycles:x", 7, "'x' is not a modifier", modifiers },
};

/* The message is "WHAT\n  TEXT\n  ^~~~": split it. */
static void check_one(const struct bad *b, const struct err *e, int r)
{
	const char *text = strchr(e->msg, '\n'), *marks = text ? strchr(text + 1, '\n') : NULL;
	const char *caret = marks ? strchr(marks + 1, '^') : NULL;
	AUTO_FREE char *what = mem_strndup(e->msg, text ? (size_t)(text - e->msg) : strlen(e->msg));

	if (r >= 0 || !caret || r != -e->code) {
		CHECK_CASE(false, "'%s' is refused with a caret", b->text);
		printf("# r %d code %d: %s\n", r, e->code, e->msg);
		return;
	}
	tap_str(what, b->msg, b->text, __FILE__, __LINE__);
	tap_int(caret - (marks + 1) - 2, b->column, b->text, __FILE__, __LINE__);
	tap_str(e->hint, b->hint, b->text, __FILE__, __LINE__);
}

static void check_all(const char *tree, const struct bad *b, size_t n)
{
	AUTO_FREE char *sysfs = mem_printf("tests/data/%s", tree);
	struct env_roots roots = { .sysfs = sysfs,
				   .tracefs = "tests/data/tracefs",
				   .kallsyms = "tests/data/kallsyms" };
	struct spec_list list = { 0 };
	struct env env;

	env_init(&env, &roots);
	for (; n; n--, b++) {
		struct err e = { 0 };

		check_one(b, &e, spec_parse(&list, b->text, &env.spec, &e));
		if (list.n)
			CHECK_CASE(false, "'%s' leaves nothing behind", b->text);
	}
	spec_list_free(&list);
	env_free(&env);
}

/* The whole message as it is shown. */
static void check_looks(void)
{
	struct env_roots roots = { .sysfs = "/nowhere", .tracefs = "tests/data/tracefs" };
	struct spec_list list = { 0 };
	struct err e = { 0 };
	struct env env;

	env_init(&env, &roots);
	spec_parse(&list, "cs,cycels:u,faults", &env.spec, &e);
	CHECK_STR(e.msg, "unknown event 'cycels'\n  cs,cycels:u,faults\n     ^~~~~~");
	CHECK_STR(e.hint, "did you mean cycles?");
	spec_parse(&list, "cycels,cs:z,instrctions", &env.spec, &e);
	CHECK_STR(e.msg,
		  "unknown event 'cycels'; 'z' is not a modifier; unknown event 'instrctions'\n"
		  "  cycels,cs:z,instrctions\n"
		  "  ^~~~~~    ^ ^~~~~~~~~~~");
	spec_parse(&list, "cs\t,\xc3\xa4\xc3\xa4,cs:x", &env.spec, &e);
	CHECK_STR(e.msg, "unknown event '\xc3\xa4\xc3\xa4'; 'x' is not a modifier\n"
			 "  cs ,\xc3\xa4\xc3\xa4,cs:x\n"
			 "      ^~    ^");
	spec_parse(&list, TEN TEN TEN TEN "nosuch" NET NET NET NET, &env.spec, &e);
	CHECK_STR(e.msg,
		  "unknown event 'nosuch'\n"
		  "  ...s,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,nosuch,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,"
		  "cs,cs,cs,cs,cs,cs,cs,...\n"
		  "                                     ^~~~~~");
	spec_list_free(&list);
	env_free(&env);
}

/* A tracefs this user may not read, and none at all. */
static int refuse(void *ctx, const char *subsys, const char *event, uint64_t *id, struct err *e)
{
	(void)ctx;
	(void)subsys;
	(void)event;
	(void)id;
	err_set(e, EACCES, "this user may not read tracepoints");
	return err_hint(e, "use sudo");
}

static int refuse_list(void *ctx, const char *subsys, struct env_names *ret, struct err *e)
{
	(void)ret;
	return refuse(ctx, subsys, NULL, NULL, e);
}

static void check_refusals(void)
{
	struct spec_env env = { .tracepoint = refuse, .tracepoints = refuse_list };
	struct spec_list list = { 0 };
	struct err e = { 0 };

	CHECK_INT(spec_parse(&list, "cs,sched:sched_switch", &env, &e), -EACCES);
	CHECK_STR(e.msg, "this user may not read tracepoints\n  cs,sched:sched_switch\n"
			 "     ^~~~~~~~~~~~~~~~~~");
	CHECK_STR(e.hint, "use sudo");
	CHECK_INT(spec_parse(&list, "sched:*", &env, &e), -EACCES);
	CHECK_INT(spec_parse(&list, "*:*", &env, &e), -EACCES);
	CHECK_INT(spec_parse(&list, "cs,faults:u", &env, &e), 0);
	CHECK_INT(spec_parse(&list, "sched_switch", &env, &e), -ENOENT);
	spec_list_free(&list);
}

int main(void)
{
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	check_all("nothing", plain, ARRAY_SIZE(plain));
	check_all("sysfs-intel", intel, ARRAY_SIZE(intel));
	check_all("sysfs-hybrid", hybrid, ARRAY_SIZE(hybrid));
	check_looks();
	check_refusals();
	return tap_end();
}
