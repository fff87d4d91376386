/* SPDX-License-Identifier: MIT */
#include "view/script/fields.h"

#include <string.h>

#include "base/mem.h"

static const struct {
	const char *name;
	uint64_t field;
	const char *what;
} fields[] = {
	{ "comm", SCRIPT_COMM, "name of the command" },
	{ "tid", SCRIPT_TID, "thread" },
	{ "pid", SCRIPT_PID, "process" },
	{ "time", SCRIPT_TIME, "time stamp, in seconds" },
	{ "cpu", SCRIPT_CPU, "CPU it happened on" },
	{ "event", SCRIPT_EVENT, "name of the event" },
	{ "trace", SCRIPT_TRACE, "a tracepoint's own fields" },
	{ "ip", SCRIPT_IP, "where the program was; with -g, how it got there" },
	{ "sym", SCRIPT_SYM, "function at that address" },
	{ "dso", SCRIPT_DSO, "file that has the function" },
	{ "addr", SCRIPT_ADDR, "data address (record -d)" },
	{ "symoff", SCRIPT_SYMOFF, "offset in the function" },
	{ "srcline", SCRIPT_SRCLINE, "source file and line" },
	{ "period", SCRIPT_PERIOD, "what the sample counts for" },
	{ "iregs", SCRIPT_IREGS, "registers (record -I)" },
	{ "uregs", SCRIPT_UREGS, "registers of user space (record --user-regs)" },
	{ "brstack", SCRIPT_BRSTACK, "last branches (record -b)" },
	{ "brstacksym", SCRIPT_BRSTACKSYM, "last branches by name" },
	{ "brstackoff", SCRIPT_BRSTACKOFF, "last branches as offsets in files" },
	{ "flags", SCRIPT_FLAGS, "flags of hardware traces" },
	{ "data_src", SCRIPT_DATA_SRC, "where the data came from (record -d)" },
	{ "weight", SCRIPT_WEIGHT, "cost in cycles (record -W)" },
	{ "bpf-output", SCRIPT_BPF_OUTPUT, "bytes a BPF program gave" },
	{ "phys_addr", SCRIPT_PHYS_ADDR, "physical address (record --phys-data)" },
	{ "metric", SCRIPT_METRIC, "figures of a group of counters" },
	{ "misc", SCRIPT_MISC, "K, U, H, G, g: kernel, user, hypervisor, guest; M, E, S, p" },
	{ "srccode", SCRIPT_SRCCODE, "the source line itself" },
	{ "tod", SCRIPT_TOD, "time of day (record -k CLOCK)" },
	{ "data_page_size", SCRIPT_DATA_PAGE_SIZE, "page size of the data address" },
	{ "code_page_size", SCRIPT_CODE_PAGE_SIZE, "page size of the code address" },
	{ "ins_lat", SCRIPT_INS_LAT, "latency of the instruction (record -W)" },
	{ "retire_lat", SCRIPT_RETIRE_LAT, "latency of its retirement (record -W)" },
	{ "cgroup", SCRIPT_CGROUP, "control group (record --all-cgroups)" },
};

/* perf has these too; they need a decoder of hardware traces or of instructions. */
static const char *const unsupported[] = {
	"brstackinsn", "brstackinsnlen", "callindent", "insn", "insnlen", "synth",
	"ipc",	       "machine_pid",	 "vcpu",
};

static const char *const class_names[TYPE_CLASSES] = { "hw",  "sw",    "trace", "cache",
						       "raw", "break", "synth", "other" };

#define PLAIN                                                                             \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT | SCRIPT_IP | \
	 SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | SCRIPT_PERIOD)

/* Fields that make no sense for a class. */
static uint64_t invalid_for(int class)
{
	if (class == TYPE_TRACEPOINT)
		return 0;
	return SCRIPT_TRACE | (class == TYPE_SOFTWARE ? 0 : SCRIPT_BPF_OUTPUT);
}

void script_fields_init(struct script_fields *f)
{
	memset(f, 0, sizeof(*f));
	for (int i = 0; i < TYPE_CLASSES; i++)
		f->of[i].show = PLAIN;
	f->of[TYPE_SOFTWARE].show |= SCRIPT_BPF_OUTPUT;
	f->of[TYPE_TRACEPOINT].show =
		SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT | SCRIPT_TRACE;
	f->of[TYPE_RAW].show |= SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT | SCRIPT_PHYS_ADDR |
				SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE | SCRIPT_INS_LAT;
	f->of[TYPE_SYNTH].show = PLAIN & ~SCRIPT_PERIOD;
}

void script_fields_help(struct strbuf *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		strbuf_printf(b, "%-15s %s\n", fields[i].name, fields[i].what);
	strbuf_puts(b, "\n-F LIST shows these only; -F +NAME and -F -NAME change the default.\n"
		       "-F hw:LIST (sw, trace, raw, break) is for events of that kind.\n");
}

static int script_fields_find_field(const char *name, uint64_t *ret, struct err *e)
{
	struct str_nearest near = { .typed = name };
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(name, fields[i].name) == 0) {
			*ret = fields[i].field;
			return 0;
		}
		str_nearest_add(&near, fields[i].name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unsupported); i++)
		if (strcmp(name, unsupported[i]) == 0)
			return err_set(e, ENOTSUP,
				       "field '%s' is not supported: kymo decodes no "
				       "hardware traces",
				       name);
	err_set(e, EINVAL, "no such field: '%s'", name);
	if (str_nearest_list(&near, text, sizeof(text)))
		return err_hint(e, "did you mean %s? -F help lists all", text);
	return err_hint(e, "-F help lists all");
}

static void change(struct script_fields *f, int class, uint64_t field, char how)
{
	if (how == '-') {
		f->of[class].show &= ~field;
		f->of[class].asked &= ~field;
		f->of[class].refused |= field;
	} else {
		f->of[class].show |= field;
		f->of[class].asked |= field;
		f->of[class].refused &= ~field;
	}
	f->of[class].set = true;
}

static int parse_one(struct script_fields *f, int only, char how, const char *name,
		     struct strbuf *notes, struct err *e)
{
	uint64_t field = 0;
	int r = script_fields_find_field(name, &field, e);

	if (r < 0)
		return r;
	for (int c = 0; c < TYPE_CLASSES; c++) {
		if (only >= 0 && c != only)
			continue;
		if (!(invalid_for(c) & field)) {
			change(f, c, field, how);
			continue;
		}
		if (only >= 0)
			return err_set(e, EINVAL, "'%s' makes no sense for %s events", name,
				       class_names[c]);
		if (notes)
			strbuf_printf(notes, "'%s' makes no sense for %s events, left out\n", name,
				      class_names[c]);
	}
	return 0;
}

/* +NAME and -NAME change the default; a '-' inside a name does not. */
static bool has_signs(const char *list)
{
	while (list) {
		if (*list == '+' || *list == '-')
			return true;
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	return false;
}

int script_fields_parse(struct script_fields *f, const char *arg, struct strbuf *notes,
			struct err *e)
{
	AUTO_FREE char *text = mem_strdup(arg);
	char *list = text, *colon = strchr(text, ':'), *save = NULL;
	int only = -1, r = 0;
	char how = 0;

	if (colon) {
		*colon = '\0';
		list = colon + 1;
		for (int c = 0; c < TYPE_CLASSES; c++)
			if (strcmp(text, class_names[c]) == 0)
				only = c;
		if (only < 0)
			return err_set(e, EINVAL,
				       "no such kind of events: '%s' (hw, sw, trace, "
				       "cache, raw, break)",
				       text);
	} else if (!*list) {
		return err_set(e, EINVAL, "-F needs a field");
	}
	if (!has_signs(list)) {
		for (int c = 0; c < TYPE_CLASSES; c++)
			if (only < 0 || c == only) {
				f->of[c].show = 0;
				f->of[c].set = true;
				f->of[c].by_name = only >= 0;
			}
	}
	for (char *name = strtok_r(list, ",", &save); name && r >= 0;
	     name = strtok_r(NULL, ",", &save)) {
		char sign = *name == '+' || *name == '-' ? *name++ : 0;

		if (how && (how == 's') != (sign == 0))
			return err_set(e, EINVAL, "-F cannot mix +NAME or -NAME with plain names");
		how = sign ? sign : 's';
		r = parse_one(f, only, how, name, notes, e);
	}
	return r;
}

/* What a field needs in the samples. */
static const struct {
	uint64_t field;
	unsigned has;
	const char *how;
} needs[] = {
	{ SCRIPT_IP, EVENT_HAVE_IP, "IP" },
	{ SCRIPT_ADDR, EVENT_HAVE_ADDR, "ADDR" },
	{ SCRIPT_DATA_SRC, TYPE_HAS_DATA_SRC, "DATA_SRC" },
	{ SCRIPT_WEIGHT, TYPE_HAS_WEIGHT, "WEIGHT" },
	{ SCRIPT_TID | SCRIPT_PID, EVENT_HAVE_TASK, "TID" },
	{ SCRIPT_TIME, EVENT_HAVE_TIME, "TIME" },
	{ SCRIPT_CPU, EVENT_HAVE_CPU, "CPU" },
	{ SCRIPT_IREGS, TYPE_HAS_INTR_REGS, "IREGS" },
	{ SCRIPT_UREGS, TYPE_HAS_USER_REGS, "UREGS" },
	{ SCRIPT_PHYS_ADDR, TYPE_HAS_PHYS_ADDR, "PHYS_ADDR" },
	{ SCRIPT_DATA_PAGE_SIZE, TYPE_HAS_DATA_PAGE, "DATA_PAGE_SIZE" },
	{ SCRIPT_CODE_PAGE_SIZE, TYPE_HAS_CODE_PAGE, "CODE_PAGE_SIZE" },
	{ SCRIPT_INS_LAT, TYPE_HAS_WEIGHT_PARTS, "WEIGHT_STRUCT" },
	{ SCRIPT_RETIRE_LAT, TYPE_HAS_WEIGHT_PARTS, "WEIGHT_STRUCT" },
	{ SCRIPT_CGROUP, TYPE_HAS_CGROUP, "CGROUP" },
};

static int check_type(struct script_fields *f, const struct event_type *t, struct strbuf *notes,
		      struct err *e)
{
	enum type_class c = t->class;

	if (type_is_dummy(t) || (t->has & TYPE_HAS_VALUES))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		if (!(f->of[c].show & needs[i].field) || (t->has & needs[i].has))
			continue;
		if (f->of[c].asked & needs[i].field) {
			const char *name = "";

			for (size_t k = 0; k < ARRAY_SIZE(fields); k++)
				if (fields[k].field & needs[i].field & f->of[c].asked)
					name = fields[k].name;
			strbuf_printf(notes,
				      "the samples of '%s' have no %s: field '%s' left out\n",
				      t->name, needs[i].how, name);
		}
		f->of[c].show &= ~needs[i].field;
	}
	if ((f->of[c].show & (SCRIPT_SYM | SCRIPT_DSO)) &&
	    !(t->has & (EVENT_HAVE_IP | EVENT_HAVE_ADDR)))
		return err_set(e, EINVAL,
			       "the samples of '%s' have no address, so there is no symbol to show",
			       t->name);
	if ((f->of[c].show & SCRIPT_SYMOFF) && !(f->of[c].show & SCRIPT_SYM))
		return err_set(e, EINVAL, "symoff needs the field sym as well");
	if ((f->of[c].show & (SCRIPT_SRCLINE | SCRIPT_SRCCODE)) && !(f->of[c].show & SCRIPT_IP))
		return err_set(e, EINVAL, "source lines need the field ip as well");
	return 0;
}

int script_fields_check(struct script_fields *f, const struct trace *t, bool chains,
			struct strbuf *notes, struct err *e)
{
	bool tod = false;

	for (int c = 0; c < TYPE_CLASSES; c++) {
		const struct event_type *first = NULL;

		for (size_t i = 0; i < t->n_types && !first; i++)
			if ((int)t->types[i].class == c)
				first = &t->types[i];
		if (!first && f->of[c].set && f->of[c].by_name && c != TYPE_SYNTH)
			strbuf_printf(notes, "the recording has no %s events: -F %s: left out\n",
				      class_names[c], class_names[c]);
		if (!first)
			continue;
		if (f->of[c].show) {
			int r = check_type(f, first, notes, e);

			if (r < 0)
				return r;
		}
		tod = tod || (f->of[c].show & SCRIPT_TOD);
	}
	for (int c = 0; c < TYPE_CLASSES && t->own; c++) /* names have no addresses */
		f->of[c].show &= ~(uint64_t)SCRIPT_SYMOFF;
	/* A tracepoint's symbols are shown when there are call chains. */
	for (size_t i = 0; i < t->n_types && chains && !f->of[TYPE_TRACEPOINT].set; i++)
		if (t->types[i].class == TYPE_TRACEPOINT && (t->types[i].has & EVENT_HAVE_CHAIN))
			f->of[TYPE_TRACEPOINT].show |=
				SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO;
	if (tod && !t->info.wall_time) {
		err_set(e, EINVAL, "the recording does not say what time of day it was");
		return err_hint(e, "record with -k CLOCK_MONOTONIC");
	}
	return 0;
}
