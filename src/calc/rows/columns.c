/* SPDX-License-Identifier: MIT */
#include "calc/rows/key.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "event/match.h"

struct making {
	const struct columns_opts *o;
	struct err *e;
};

static bool same_column(const struct column *a, const struct column *b)
{
	return a->key == b->key && a->field == b->field && (!a->field || a->type == b->type);
}

/* Keys are taken once; fields of tracepoints as often as they are named. */
static int list_add(struct making *m, struct columns *l, struct column c)
{
	for (unsigned i = 0; i < l->n && c.key != KEY_FIELD; i++)
		if (same_column(&l->col[i], &c))
			return 0;
	if (l->n == KEY_COLUMNS) {
		err_set(m->e, E2BIG, "more than %d columns", KEY_COLUMNS);
		return err_hint(m->e, "name the fields that matter: --sort EVENT.FIELD,...");
	}
	if (!c.title)
		c.title = key_infos[c.key].title;
	l->col[l->n++] = c;
	return 0;
}

static enum key find_key(const char *word)
{
	if (strcasecmp(word, "tid") == 0)
		return KEY_PID;
	for (enum key k = 0; k < KEYS; k++)
		if (strncasecmp(word, key_infos[k].name, strlen(word)) == 0)
			return k;
	return KEYS;
}

static int unknown(struct making *m, const char *word)
{
	struct str_nearest near = { .typed = word };
	const struct trace *t = m->o->trace;
	char list[256];

	for (enum key k = 0; k < KEY_FIELD; k++)
		str_nearest_add(&near, key_infos[k].name);
	for (size_t i = 0; t && i < t->n_types; i++)
		for (size_t k = 0; k < t->types[i].n_fields; k++)
			if (!t->types[i].fields[k].is_common)
				str_nearest_add(&near, t->types[i].fields[k].name);
	err_set(m->e, EINVAL, "there is no sort key '%s'", word);
	if (str_nearest_list(&near, list, sizeof(list)))
		return err_hint(m->e, "did you mean %s?", list);
	return err_hint(m->e,
			"keys are comm, pid, dso, symbol, cpu, srcline, ... and the fields of "
			"tracepoints; kymo report -h lists them");
}

static int fits_mode(struct making *m, enum key key)
{
	const char *name = key_infos[key].name;

	if (key_infos[key].kind == KEY_OF_BRANCH && m->o->mode != KEY_MODE_BRANCH) {
		err_set(m->e, EINVAL, "'%s' is a key of branches, and this is no report of them",
			name);
		return err_hint(m->e, "record with -b where the CPU has branch records");
	}
	if (key_infos[key].kind == KEY_OF_MEMORY && m->o->mode != KEY_MODE_MEMORY) {
		err_set(m->e, EINVAL, "'%s' is a key of memory accesses", name);
		return err_hint(m->e, "add --mem-mode; the recording needs addresses (record -d)");
	}
	return 0;
}

/* --- fields of tracepoints: FIELD, EVENT.FIELD, EVENT.*, trace_fields, each maybe with /raw --- */

/* "%2" is the second event; with a colon it is the whole name, else any part of it. */
static int key_find_type(struct making *m, const char *name, uint32_t *ret)
{
	const struct trace *t = m->o->trace;
	uint64_t number;
	size_t hits = 0;

	for (uint32_t i = 0; i < t->n_types; i++) {
		bool hit;

		if (name[0] == '%')
			hit = str_u64(name + 1, &number) && number == i + 1;
		else if (strchr(name, ':'))
			hit = strcmp(t->types[i].name, name) == 0;
		else
			hit = strstr(t->types[i].name, name) != NULL;
		if (hit && hits++ == 0)
			*ret = i;
	}
	if (hits > 1)
		return err_set(m->e, EINVAL, "'%s' is more than one event of the recording", name);
	return hits ? 0 : err_set(m->e, EINVAL, "the recording has no event '%s'", name);
}

static int add_field(struct making *m, struct columns *l, uint32_t type, const struct field *f,
		     bool raw, int level)
{
	struct column c = { .key = KEY_FIELD, .type = type, .field = f, .raw = raw };

	c.level = level;
	c.title = f->name;
	return list_add(m, l, c);
}

/* Those of one type that go by that name; "*" is all but the common ones. Returns how many. */
static int add_fields(struct making *m, struct columns *l, uint32_t type, const char *name,
		      bool raw, int level)
{
	const struct event_type *t = &m->o->trace->types[type];
	int n = 0;

	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];
		int r;

		if (strcmp(name, "*") == 0 ? f->is_common : strcmp(name, f->name) != 0)
			continue;
		r = add_field(m, l, type, f, raw, level);
		if (r < 0)
			return r;
		n++;
	}
	return n;
}

static int add_dynamic(struct making *m, struct columns *l, const char *word, int level)
{
	AUTO_FREE char *copy = mem_strdup(word);
	char *slash = strchr(copy, '/'), *dot = strchr(copy, '.');
	char *field = dot ? dot + 1 : copy;
	bool raw = m->o->raw_trace || slash;
	uint32_t type = 0;
	int n = 0, r;

	if (!m->o->trace || (slash && strcmp(slash, "/raw") != 0))
		return unknown(m, word);
	if (slash)
		*slash = '\0';
	if (dot) {
		*dot = '\0';
		r = key_find_type(m, copy, &type);
		if (r < 0)
			return r;
		n = add_fields(m, l, type, field, raw, level);
		if (n == 0)
			return err_set(m->e, EINVAL, "the event %s has no field '%s'",
				       m->o->trace->types[type].name, field);
		return n < 0 ? n : 0;
	}
	if (strcmp(field, "trace_fields") == 0)
		memcpy(field, "*", 2);
	for (uint32_t i = 0; i < m->o->trace->n_types; i++) {
		r = add_fields(m, l, i, field, raw, level);
		if (r < 0)
			return r;
		n += r;
	}
	if (n == 0 && strcmp(field, "*") == 0) {
		err_set(m->e, EINVAL, "no event of the recording has fields");
		return err_hint(m->e, "tracepoints have: record -e sched:sched_switch ...");
	}
	return n ? 0 : unknown(m, word);
}

static int add_word(struct making *m, struct columns *l, const char *word, int level)
{
	enum key key = find_key(word);
	int r;

	if (key == KEYS)
		return add_dynamic(m, l, word, level);
	/* POWER's own; perf leaves them out elsewhere */
	if (key == KEY_LOCAL_P_STAGE_CYC || key == KEY_P_STAGE_CYC)
		if (strcasecmp(word, key_infos[key].name) == 0)
			return 0;
	r = fits_mode(m, key);
	return r < 0 ? r : list_add(m, l, (struct column){ .key = key, .level = level });
}

/* Words of one {group} share a level of the hierarchy. */
static int parse_sort(struct making *m, struct columns *l, const char *text)
{
	int level = 0;
	bool group = false;

	for (;;) {
		size_t n = strcspn(text, "{}, ");
		AUTO_FREE char *word = mem_strndup(text, n);
		int r = n ? add_word(m, l, word, level) : 0;

		if (r < 0)
			return r;
		if (!text[n])
			return 0;
		if (!group)
			level++;
		if (text[n] == '{')
			group = true;
		else if (text[n] == '}')
			group = false;
		text += n + 1;
	}
}

static int parse_fields(struct making *m, struct columns *l, const char *text)
{
	while (*(text += strspn(text, ", "))) {
		size_t n = strcspn(text, ", ");
		AUTO_FREE char *word = mem_strndup(text, n);
		int r = add_word(m, l, word, 0);

		if (r < 0)
			return r;
		text += n;
	}
	return 0;
}

static bool is_strict(const char *order)
{
	return order && *order != '+';
}

/* Records of the function tracers are code that ran, as samples are. */
static bool is_call(const struct event_type *t)
{
	return match_tracepoint(t, "ftrace", "function") ||
	       match_tracepoint(t, "ftrace", "funcgraph_exit");
}

static const char *default_sort(const struct columns_opts *o)
{
	size_t n = o->trace ? o->trace->n_types : 0, points = 0, others = 0;
	const struct trace_own *own = o->trace ? o->trace->own : NULL;
	bool tracepoints;

	for (size_t i = 0; i < n; i++) {
		const struct event_type *t = &o->trace->types[i];

		if (t->class == TYPE_TRACEPOINT && !is_call(t))
			points++;
		else if (!type_is_dummy(t)) /* which only tells of tasks */
			others++;
	}
	tracepoints = points && !others;
	if (o->mode == KEY_MODE_DIFF)
		return own && !own->modules ? "symbol" : "dso,symbol";
	if (tracepoints)
		return o->raw_trace ? "trace_fields" : "trace";
	if (o->mode == KEY_MODE_BRANCH)
		return "comm,dso_from,symbol_from,symbol_to,cycles";
	if (o->mode == KEY_MODE_MEMORY)
		return "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,"
		       "local_ins_lat";
	if (!own)
		return "comm,dso,symbol";
	/* what texts do not say would be columns of nothing */
	return own->tasks     ? own->modules ? "comm,dso,symbol" : "comm,symbol"
	       : own->modules ? "dso,symbol"
			      : "symbol";
}

/* The text to parse: the user's, sums first where he named none. NULL: fields say it all. */
static char *sort_text(const struct columns_opts *o)
{
	AUTO_STRBUF b = { 0 };
	bool overhead, children;

	if (!o->sort && is_strict(o->fields))
		return NULL;
	if (!o->sort)
		strbuf_puts(&b, default_sort(o));
	else if (o->sort[0] == '+')
		strbuf_printf(&b, "%s,%s", default_sort(o), o->sort + 1);
	else
		strbuf_puts(&b, o->sort);
	/* beside symbols perf has a column for what branch records would tell */
	if (o->sort && strstr(o->sort, "symbol") &&
	    (o->mode == KEY_MODE_CODE || o->mode == KEY_MODE_MEMORY))
		strbuf_puts(&b, ",ipc_null");
	if (is_strict(o->fields) || o->mode == KEY_MODE_DIFF)
		return mem_strdup(strbuf_str(&b));
	overhead = !strstr(strbuf_str(&b), "overhead");
	children = o->children && !strstr(strbuf_str(&b), "overhead_children");
	return mem_printf("%s%s%s", children ? "overhead_children," : "",
			  overhead ? "overhead," : "", strbuf_str(&b));
}

static void add_sum(struct making *m, struct columns *l, enum key key, const char *title)
{
	list_add(m, l, (struct column){ .key = key, .title = title });
}

static void default_sums(struct making *m, struct columns *l)
{
	const struct columns_opts *o = m->o;

	if (o->children)
		add_sum(m, l, KEY_CHILDREN, NULL);
	add_sum(m, l, KEY_OVERHEAD, o->children ? "Self" : NULL);
	if (o->cpu_modes) {
		add_sum(m, l, KEY_OVERHEAD_SYS, NULL);
		add_sum(m, l, KEY_OVERHEAD_US, NULL);
	}
	if (o->samples)
		add_sum(m, l, KEY_SAMPLES, NULL);
	if (o->periods)
		add_sum(m, l, KEY_PERIOD, NULL);
}

#define WIDTH_MAX 1024

/* 0 or nothing: as wide as needed. */
static int set_widths(struct columns *c, const char *widths, struct err *e)
{
	const char *at = widths;

	for (unsigned i = 0; at; i++) {
		char *end;
		long width = strtol(at, &end, 10);

		if (width < 0 || width > WIDTH_MAX || (*end && *end != ',')) {
			err_set(e, EINVAL, "-w %s: a column is 0 to %d characters wide", widths,
				WIDTH_MAX);
			return err_hint(e, "-w 8,0,20: a number for each column, 0 for as wide as "
					   "it needs");
		}
		if (i < c->n)
			c->col[i].width = (int)width;
		at = *end ? end + 1 : NULL;
	}
	return 0;
}

static int find_in(const struct columns *c, const struct column *what)
{
	for (unsigned i = 0; i < c->n; i++)
		if (same_column(&c->col[i], what))
			return (int)i;
	return -1;
}

/* Output is fields, then the sort keys not among them; comparison is the other way round. */
static int key_join(struct making *m, struct columns *c, struct columns *sort,
		    struct columns *fields)
{
	unsigned n = 0;
	int r = 0;

	for (unsigned i = 0; i < sort->n && r == 0; i++) {
		int at = find_in(fields, &sort->col[i]);

		if (at < 0)
			r = list_add(m, fields, sort->col[i]);
		else if (!column_is_sum(&sort->col[i]))
			fields->col[at].level = sort->col[i].level;
	}
	if (r < 0)
		return r;
	memcpy(c->col, fields->col, sizeof(c->col));
	c->n = fields->n;
	for (unsigned i = 0; i < sort->n; i++) {
		uint8_t at = (uint8_t)find_in(c, &sort->col[i]);

		if (!memchr(c->sort, at, n))
			c->sort[n++] = at;
	}
	for (unsigned i = 0; i < c->n; i++)
		if (!memchr(c->sort, (int)i, n))
			c->sort[n++] = (uint8_t)i;
	for (unsigned i = 0; i < c->n; i++)
		c->col[i].value = column_is_sum(&c->col[i]) ? -1 : (int)c->n_values++;
	return 0;
}

/* perf's column of instructions per cycle comes with symbols; nobody can ask for it alone. */
static bool asks_for_ipc(const char *sort)
{
	for (size_t n; sort && *sort; sort += n + (sort[n] != 0)) {
		n = strcspn(sort, "{}, ");
		if (n >= 3 &&
		    (strncasecmp(sort, "ipc_null", n) == 0 || strncasecmp(sort, "ipc_lbr", n) == 0))
			return true;
	}
	return false;
}

int columns_make(struct columns *c, const struct columns_opts *o, struct err *e)
{
	struct making m = { .o = o, .e = e };
	AUTO_FREE char *text = sort_text(o);
	AUTO_FREE struct columns *sort = mem_alloc(sizeof(*sort));
	AUTO_FREE struct columns *fields = mem_alloc(sizeof(*fields));
	int r = 0;

	*c = (struct columns){ .by_default = !o->sort && !o->fields };
	c->symbol_first = !o->fields && o->sort && str_starts(o->sort, "sym");
	if ((o->sort && (!*o->sort || strcmp(o->sort, "+") == 0)) ||
	    (o->fields && (!*o->fields || strcmp(o->fields, "+") == 0)))
		return err_set(e, EINVAL, "no key to sort by was given");
	if (asks_for_ipc(o->sort)) {
		err_set(e, EINVAL, "--sort %s: instructions per cycle are no key", o->sort);
		return err_hint(e, "they stand beside symbols: --sort symbol");
	}
	if (text)
		r = parse_sort(&m, sort, text);
	if (r == 0 && o->parent)
		r = add_word(&m, sort, "parent", -1);
	if (r == 0 && !is_strict(o->fields) && o->mode != KEY_MODE_DIFF)
		default_sums(&m, fields);
	if (r == 0 && o->fields)
		r = parse_fields(&m, fields, o->fields + (o->fields[0] == '+'));
	if (r == 0)
		r = key_join(&m, c, sort, fields);
	for (unsigned i = 0; r == 0 && i < c->n; i++)
		if (c->col[i].key == KEY_TRACE)
			c->col[i].raw = o->raw_trace;
	return r < 0 ? r : set_widths(c, o->widths, e);
}

const struct column *columns_find(const struct columns *c, enum key key)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->col[i].key == key)
			return &c->col[i];
	return NULL;
}

bool columns_have_lines(const struct columns *c)
{
	return columns_have(c, KEY_SRCLINE) || columns_have(c, KEY_SRCFILE) ||
	       columns_have(c, KEY_SRCLINE_FROM) || columns_have(c, KEY_SRCLINE_TO);
}

bool columns_hide(struct columns *c, enum key key)
{
	bool any = false;

	for (unsigned i = 0; i < c->n; i++)
		if (c->col[i].key == key)
			c->col[i].hidden = any = true;
	return any;
}

void columns_show_some(struct columns *c)
{
	bool left = false;

	for (unsigned i = 0; i < c->n; i++)
		left = left || (!column_is_sum(&c->col[i]) && !c->col[i].hidden);
	for (unsigned i = 0; i < c->n && !left; i++)
		c->col[i].hidden = false;
}
