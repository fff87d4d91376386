/* SPDX-License-Identifier: MIT */
/* kymo record: options that need a look at their value. */
#include "cmd/record/record.h"

#include <string.h>
#include <time.h>

#include "base/map.h"
#include "cmd/share/event_opts.h"
#include "event/attr.h"
#include "kern/cpu.h"
#include "live/capture/attr.h"

/* Which word of a list these n bytes are; n_words: none of them. */
static size_t opts_word(const char *const *words, size_t n_words, const char *text, size_t n)
{
	size_t i = 0;

	while (i < n_words && (strlen(words[i]) != n || strncasecmp(words[i], text, n) != 0))
		i++;
	return i;
}
#define OPTS_WORD(words, text, n) opts_word(words, ARRAY_SIZE(words), text, n)

int record_on_event(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	return spec_parse(&((struct record_args *)args)->o.events, value, events_env(), e);
}

int record_on_trigger(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;

	a->o.timestamp_file = a->o.switch_signal = true;
	return spec_parse(&a->o.triggers, value, events_env(), e);
}

int record_on_filter(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	return events_filter(&((struct record_args *)args)->o.events, value, e);
}

/* The kernel's limit moves, so it is looked at later, when it is known what shall happen then. */
int record_on_freq(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t v;

	if (strcmp(value, "max") == 0)
		v = capture_max_freq();
	else if (!str_u64(value, &v) || !v)
		return err_set(e, EINVAL, "-F wants samples a second or max, not '%s'", value);
	a->o.capture.freq = v;
	a->o.capture.freq_given = true;
	return 0;
}

int record_on_chain(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const char *const names[] = { "auto", "fp", "dwarf", "lbr", "no" };
	static const enum capture_chain chains[] = { CAPTURE_AUTO, CAPTURE_FP, CAPTURE_DWARF,
						     CAPTURE_LBR, CAPTURE_NO_CHAIN };
	struct record_args *a = args;
	size_t n = value ? strcspn(value, ",") : 0, i;
	uint64_t size;

	if (unset || !value) {
		a->o.capture.chain = unset ? CAPTURE_NO_CHAIN : CAPTURE_AUTO;
		return 0;
	}
	i = OPTS_WORD(names, value, n);
	if (i == ARRAY_SIZE(names)) {
		err_set(e, EINVAL, "--call-graph does not know '%s'", value);
		return err_hint(e, "auto, fp, dwarf[,SIZE] or lbr");
	}
	a->o.capture.chain = chains[i];
	if (!value[n] || chains[i] != CAPTURE_DWARF)
		return 0;
	if (!str_u64(value + n + 1, &size) || size < 8 || size > 65528) {
		err_set(e, EINVAL, "a stack copy has 8 to 65528 bytes, not '%s'", value + n + 1);
		return err_hint(e, "--call-graph dwarf,16384");
	}
	a->o.capture.stack_size = (uint32_t)size;
	return 0;
}

int record_on_g(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	return record_on_chain(o, ((struct record_args *)args)->chain_default, unset, args, e);
}

int record_on_mmap(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	size_t n = strcspn(value, ","); /* what follows is for AUX areas */
	char text[64];
	uint64_t size;

	snprintf(text, sizeof(text), "%.*s", (int)n, value);
	/* a bare number is pages, as with perf */
	if ((value[n] && !str_size(value + n + 1, 1, &size)) ||
	    !str_size(text, (uint64_t)sysconf(_SC_PAGESIZE), &size) || !size || size > 1ull << 32) {
		err_set(e, EINVAL, "-m wants pages or a size, not '%s'", value);
		return err_hint(e, "-m 1024 (pages), -m 16M");
	}
	a->o.capture.ring_size = size;
	return 0;
}

int record_on_clock(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const char *const names[] = { "monotonic", "mono",     "monotonic_raw",
					     "raw",	  "realtime", "real",
					     "boottime",  "boot",     "tai" };
	static const int ids[] = { CLOCK_MONOTONIC,	CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
				   CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,	 CLOCK_REALTIME,
				   CLOCK_BOOTTIME,	CLOCK_BOOTTIME,	 CLOCK_TAI };
	struct record_args *a = args;
	uint64_t number;
	size_t i;

	a->o.capture.has_clock = !unset;
	if (unset)
		return 0;
	if (str_u64(value, &number) && number < 16) {
		a->o.capture.clock_id = (int)number;
		return 0;
	}
	if (strncasecmp(value, "CLOCK_", 6) == 0)
		value += strlen("CLOCK_");
	i = OPTS_WORD(names, value, strlen(value));
	if (i < ARRAY_SIZE(names)) {
		a->o.capture.clock_id = ids[i];
		return 0;
	}
	err_set(e, EINVAL, "no clock '%s'", value);
	return err_hint(e, "monotonic, monotonic_raw, realtime, boottime or tai");
}

int record_on_zstd(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t level = 3; /* a sixth smaller than by 1, in much the same time */

	if (value && (!str_u64(value, &level) || level > 22))
		return err_set(e, EINVAL, "-z wants a level of 0 (none) to 22, not '%s'", value);
	a->o.zstd_level = unset ? 0 : (int)level;
	return 0;
}

/* perf's words (cpu, core, package, masks) say which CPUs share a thread: kymo finds its own way.
 */
int record_on_switch(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;

	a->o.timestamp_file = !unset;
	a->o.switch_signal = !unset;
	if (unset || !value || strcmp(value, "signal") == 0)
		return 0;
	if (strpbrk(value, "smhd") && str_duration(value, 1000000000, &a->o.switch_ns) &&
	    a->o.switch_ns)
		return 0;
	if (str_size(value, 1, &a->o.switch_bytes) && a->o.switch_bytes)
		return 0;
	err_set(e, EINVAL, "--switch-output does not understand '%s'", value);
	return err_hint(e, "signal, a size (100M) or a time (30s)");
}

int record_on_max_size(const struct opt *o, const char *value, bool unset, void *args,
		       struct err *e)
{
	struct record_args *a = args;

	if (!str_size(value, 1, &a->o.max_size) || !a->o.max_size)
		return err_set(e, EINVAL, "--max-size wants a size (100M), not '%s'", value);
	return 0;
}

int record_on_branch(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;

	return attr_branches(value ? value : "any", &a->o.capture.branch_type, e);
}

int record_on_period(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	((struct record_args *)args)->o.capture.period_field = unset ? -1 : 1;
	return 0;
}

int record_on_exclude(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	((struct record_args *)args)->o.exclude_perf = unset ? -1 : 1;
	return 0;
}

#if defined(__x86_64__)
static const char *const registers[] = { "AX", "BX",	"CX",  "DX",  "SI",  "DI",  "BP",  "SP",
					 "IP", "FLAGS", "CS",  "SS",  "DS",  "ES",  "FS",  "GS",
					 "R8", "R9",	"R10", "R11", "R12", "R13", "R14", "R15" };
#elif defined(__aarch64__)
static const char *const registers[] = { "x0",	"x1",  "x2",  "x3",  "x4",  "x5",  "x6",
					 "x7",	"x8",  "x9",  "x10", "x11", "x12", "x13",
					 "x14", "x15", "x16", "x17", "x18", "x19", "x20",
					 "x21", "x22", "x23", "x24", "x25", "x26", "x27",
					 "x28", "x29", "lr",  "sp",  "pc" };
#else
static const char *const registers[] = { "" };
#endif

/* -I, -Iax,bx and -I? (which lists them); --user-regs likewise. */
int record_on_regs(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t *mask = o->letter == 'I' ? &a->o.capture.intr_regs : &a->o.capture.user_regs;
	AUTO_STRBUF all = { 0 };

	*mask = unset || value ? 0 : REGS_ALL;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		if (REGS_ALL >> i & 1)
			strbuf_printf(&all, " %s", registers[i]);
	if (value && strcmp(value, "?") == 0) {
		a->regs_list = arena_strdup(&a->o.events.arena, strbuf_str(&all));
		return 0;
	}
	while (value && *value) {
		size_t n = strcspn(value, ","), i = OPTS_WORD(registers, value, n);

		if (i == ARRAY_SIZE(registers) || !(REGS_ALL >> i & 1)) {
			err_set(e, EINVAL, "no register '%.*s'", (int)n, value);
			return err_hint(e, "there are%s", strbuf_str(&all));
		}
		*mask |= 1ull << i;
		value += n;
		value += *value == ',';
	}
	return 0;
}

/* "100", "-1" (off until told), "10-20,30-40" */
int record_on_delay(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t last = 0;
	int64_t ms;

	a->o.n_spans = 0;
	if (str_i64(value, &ms) && ms >= -1) {
		if (ms > 0) {
			a->o.span[0].from = (uint64_t)ms;
			a->o.span[0].to = 0;
			a->o.n_spans = 1;
		}
		a->o.delayed = ms != 0;
		return 0;
	}
	while (*value) {
		unsigned long long from, to;
		int n = 0;

		if (sscanf(value, "%llu-%llu%n", &from, &to, &n) != 2 || from < last ||
		    to <= from || (value[n] && value[n] != ',') ||
		    a->o.n_spans == RECORD_MAX_SPANS) {
			err_set(e, EINVAL, "-D does not understand '%s'", value);
			return err_hint(e, "-D 100, -D -1, or rising times: -D 100-200,300-400");
		}
		a->o.span[a->o.n_spans].from = from;
		a->o.span[a->o.n_spans++].to = last = to;
		value += n + (value[n] == ',');
	}
	a->o.delayed = a->o.n_spans > 0;
	return 0;
}

int record_on_synth(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	static const char *const words[] = { "no", "task", "mmap", "cgroup", "all" };
	bool on[ARRAY_SIZE(words)] = { 0 };

	while (*value) {
		size_t n = strcspn(value, ","), i = OPTS_WORD(words, value, n);

		if (i == ARRAY_SIZE(words)) {
			err_set(e, EINVAL, "--synth does not know '%.*s'", (int)n, value);
			return err_hint(e, "no, all, task, mmap or cgroup");
		}
		on[i] = true;
		value += n;
		value += *value == ',';
	}
	a->o.synth.none = a->o.synth.none || on[0];
	a->o.synth.no_tasks = !on[1] && !on[4];
	a->o.synth.no_maps = !on[2] && !on[4];
	a->o.synth.no_cgroups = !on[3] && !on[4];
	return 0;
}

/* --- --threads: perf says which CPUs share a thread, here it counts how many there are --- */

#define MAX_THREADS 256

/* "0,2-4/2-4:1/1": CPUs, and those that their thread runs on; a thread for each pair. */
static bool count_pairs(const char *text, uint64_t *ret)
{
	AUTO_FREE char *copy = mem_strdup(text);
	char *save = NULL;

	*ret = 0;
	for (char *pair = strtok_r(copy, ":", &save); pair; pair = strtok_r(NULL, ":", &save)) {
		char *runs_on = strchr(pair, '/');
		struct cpus of = { 0 }, on = { 0 };
		bool ok = runs_on != NULL;

		if (ok)
			*runs_on++ = '\0';
		ok = ok && cpus_parse_any(pair, &of, NULL) == 0 &&
		     cpus_parse_any(runs_on, &on, NULL) == 0;
		cpus_free(&of);
		cpus_free(&on);
		if (!ok)
			return false;
		++*ret;
	}
	return *ret > 0;
}

/* How many of these the CPUs that are online belong to. */
static bool count_places(const char *what, uint64_t *ret)
{
	static const char *const words[] = { "cpu", "core", "package", "numa" };
	struct map seen = { 0 };
	struct cpus cpus;
	size_t kind = OPTS_WORD(words, what, strlen(what));

	if (kind == ARRAY_SIZE(words) || cpus_online(&cpus, NULL) < 0)
		return false;
	*ret = 0;
	for (size_t i = 0; i < cpus.n; i++) {
		struct cpu_place at = cpu_place(cpus.cpu[i]);
		uint64_t key = kind == 0   ? (uint64_t)cpus.cpu[i]
			       : kind == 1 ? (uint64_t)(uint32_t)at.socket << 32 | (uint32_t)at.core
			       : kind == 2 ? (uint32_t)at.socket
					   : (uint32_t)at.node;
		uint64_t *slot = map_at(&seen, key);

		*ret += !*slot;
		*slot = 1;
	}
	map_free(&seen);
	cpus_free(&cpus);
	return true;
}

int record_on_threads(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct record_args *a = args;
	uint64_t n = 0;

	if (unset || !value) {
		a->o.threads = unset;
		return 0;
	}
	if (!str_u64(value, &n) && !count_places(value, &n) && !count_pairs(value, &n)) {
		err_set(e, EINVAL, "--threads does not understand '%s'", value);
		return err_hint(e, "a number, cpu, core, package, numa, or CPUS/CPUS:...");
	}
	if (n < 1 || n > MAX_THREADS)
		return err_set(e, EINVAL, "--threads wants 1 to %d, not '%s'", MAX_THREADS, value);
	a->o.threads = (int)n;
	return 0;
}
