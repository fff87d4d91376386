/* SPDX-License-Identifier: MIT */
/* Where functions and lines begin: the places a probe can be put. */
#include "sym/dwarf/die.h"
#include "sym/names/demangle.h"

bool dwarf_path_ends(const char *path, const char *end)
{
	size_t n, m = strlen(end);

	if (!path)
		return false;
	n = strlen(path);
	while (m >= 2 && end[0] == '.' && end[1] == '/') {
		end += 2;
		m -= 2;
	}
	return n >= m && strcmp(path + n - m, end) == 0 &&
	       (n == m || m == 0 || end[0] == '/' || path[n - m - 1] == '/');
}

static bool name_fits(const char *name, const char *want)
{
	if (!name)
		return false;
	return strcmp(name, want) == 0 || (str_has_glob(want) && str_glob(want, name));
}

/* Linkage names are looked at only where they differ: C++ and Rust. */
bool dwarf_function_fits(const struct function_of *f, const char *want)
{
	struct value v;

	if (name_fits(f->name, want))
		return true;
	v = die_attr_deep(&f->die, DW_AT_linkage_name);
	return v.kind == VALUE_STR &&
	       (name_fits(v.s, want) || (demangle_is_written(want) && demangle_fits(v.s, want)));
}

static void fill_point(const struct function_of *f, uint64_t addr, struct dwarf_point *p)
{
	uint32_t outer = dwarf_outermost(f->fn, f->at + 1) - 1;
	uint64_t line = 0;
	struct die d;

	die_number(&f->die, DW_AT_decl_line, &line);
	*p = (struct dwarf_point){ .addr = addr,
				   .scope = die_handle(&f->die),
				   .function = f->name,
				   .symbol = f->name,
				   .entry = addr,
				   .file = die_file(&f->die, DW_AT_decl_file),
				   .line = (uint32_t)line,
				   .inlined = f->fn->list.data[f->at].parent != 0 };
	if (!die_in(f->u, f->fn->list.data[outer].die, &d))
		return;
	die_entry(&d, &p->entry);
	p->symbol = dwarf_function_name(f->u, d.off);
}

static int dwarf_point_tell(struct dwarf_search *s, const struct function_of *f, uint64_t addr)
{
	struct dwarf_point p;

	if (s->err)
		return s->err;
	fill_point(f, addr, &p);
	s->err = s->fn(s->ctx, &p);
	return s->err;
}

/*
 * Was it compiled without optimisation? GCC names its options. Others' code keeps parameters in
 * the frame for good then, which is no list of places but one, from the frame's base.
 */
static bool unoptimised(const struct function_of *f)
{
	const uint8_t op_fbreg = 0x91;
	struct die root, c;
	struct value v = { 0 };

	if (die_in(f->u, f->u->die, &root))
		v = die_attr(&root, DW_AT_producer);
	if (v.kind == VALUE_STR && strstr(v.s, "GNU")) {
		for (const char *o = strstr(v.s, " -O"); o; o = strstr(o + 1, " -O"))
			if (o[3] != '0')
				return false;
		return true;
	}
	for (bool more = die_child(&f->die, &c); more; more = die_sibling(&c, &c)) {
		if (c.a->tag != DW_TAG_formal_parameter)
			continue;
		v = die_attr(&c, DW_AT_location);
		return v.kind == VALUE_BLOCK && v.v && (uint8_t)*v.s == op_fbreg;
	}
	return false;
}

struct prologue {
	uint64_t entry, found;
};

/* The second line of a function begins where its frame is made. */
static void prologue_row(void *ctx, const struct line_row *row, bool stmt)
{
	struct prologue *p = ctx;

	if (row->file == LINE_END || !stmt || row->addr <= p->entry || row->addr >= p->found)
		return;
	p->found = row->addr;
}

static uint64_t after_prologue(const struct function_of *f, uint64_t entry)
{
	struct prologue p = { .entry = entry, .found = UINT64_MAX };

	if (!unoptimised(f))
		return entry;
	dwarf_rows(f->lines, prologue_row, &p);
	return die_has_pc(&f->die, p.found) ? p.found : entry;
}

/* Rows that belong to what was inlined count only where it was called from that very line. */
bool dwarf_row_is_ours(const struct dwarf_search *s, uint64_t addr)
{
	const struct function_of *f = &s->f;
	uint32_t in = segments_find(&f->fn->map, addr);

	while (in) {
		const struct function *g = &f->fn->list.data[in - 1];

		if (in - 1 == f->at)
			return true;
		if (g->call_line != s->line ||
		    !dwarf_path_ends(dwarf_line_file(s->lines, g->call_file), s->file))
			return false;
		in = g->parent;
	}
	return false;
}

static bool told(struct dwarf_search *s, uint64_t addr)
{
	vec_each (&s->found, a)
		if (*a == addr)
			return true;
	vec_push(&s->found, addr);
	return false;
}

static bool line_fits(struct dwarf_search *s, const struct line_row *row)
{
	const char *file;

	if (!s->w->wanted && row->line != s->line)
		return false;
	file = dwarf_line_file(s->lines, row->file);
	if (!file || (s->file && !dwarf_path_ends(file, s->file)))
		return false;
	return !s->w->wanted || s->w->wanted(s->w->ctx, file, row->line);
}

static void function_row(void *ctx, const struct line_row *row, bool stmt)
{
	struct dwarf_search *s = ctx;

	if (s->err || row->file == LINE_END || !stmt || !line_fits(s, row) ||
	    !die_has_pc(&s->f.die, row->addr))
		return;
	if (s->w->wanted)
		s->line = row->line;
	if (!s->anywhere && !dwarf_row_is_ours(s, row->addr))
		return;
	if (!told(s, row->addr))
		dwarf_point_tell(s, &s->f, row->addr);
}

static bool is_within(const struct functions *fn, uint32_t inner, uint32_t outer)
{
	while (inner != outer && fn->list.data[inner].parent)
		inner = fn->list.data[inner].parent - 1;
	return inner == outer;
}

static bool called_from(const struct dwarf_search *s, const struct function *g)
{
	const char *file;

	if (!g->call_line || (!s->w->wanted && g->call_line != s->line))
		return false;
	file = dwarf_line_file(s->lines, g->call_file);
	return dwarf_path_ends(file, s->file) &&
	       (!s->w->wanted || s->w->wanted(s->w->ctx, file, g->call_line));
}

/* Where what was called from this line and inlined begins. */
static void called_here(struct dwarf_search *s)
{
	for (uint32_t i = 0; i < s->f.fn->list.n && !s->err; i++) {
		const struct function *g = &s->f.fn->list.data[i];
		struct die d;
		uint64_t entry;

		if (!is_within(s->f.fn, i, s->f.at) || !called_from(s, g) ||
		    !die_in(s->f.u, g->die, &d) || !die_entry(&d, &entry) ||
		    !die_has_pc(&s->f.die, entry) || told(s, entry))
			continue;
		dwarf_point_tell(s, &s->f, entry);
	}
}

static int function_lines(struct dwarf_search *s)
{
	uint64_t first = 0;

	if (!die_number(&s->f.die, DW_AT_decl_line, &first))
		return 0;
	s->file = die_file(&s->f.die, DW_AT_decl_file);
	s->line = (uint32_t)first + s->w->line;
	s->lines = dwarf_lines(s->f.lines);
	s->found.n = 0;
	if (!s->file || !s->lines)
		return 0;
	dwarf_rows(s->f.lines, function_row, s);
	called_here(s);
	/* Code of a line may be moved into what is inlined before or behind it, and only there. */
	if (!s->found.n && !s->w->wanted) {
		s->anywhere = true;
		dwarf_rows(s->f.lines, function_row, s);
		s->anywhere = false;
	}
	return s->err;
}

/* Calls of which no code is left are sometimes said to begin in another function. */
static bool within_outer(const struct function_of *f, uint64_t addr)
{
	uint32_t outer = dwarf_outermost(f->fn, f->at + 1) - 1;
	struct die d;

	if (outer == f->at)
		return true;
	return die_in(f->u, f->fn->list.data[outer].die, &d) && die_has_pc(&d, addr);
}

/*
 * The compiler may split a function, and inline the rest where it was cut off: that is no call of
 * its own. It is said to be called from the line the function is declared at.
 */
static bool is_rest(const struct function_of *f)
{
	const struct function *g = &f->fn->list.data[f->at];
	struct lines *lines;
	const char *at, *file;
	uint64_t line;

	if (!g->parent || !die_number(&f->die, DW_AT_decl_line, &line) || line != g->call_line ||
	    !(lines = dwarf_lines(f->lines)))
		return false;
	at = dwarf_line_file(lines, g->call_file);
	file = die_file(&f->die, DW_AT_decl_file);
	return at && file && strcmp(at, file) == 0;
}

static int try_function(struct dwarf_search *s)
{
	uint64_t entry;

	if (!dwarf_function_fits(&s->f, s->w->function))
		return 0;
	if (s->w->file && !dwarf_path_ends(die_file(&s->f.die, DW_AT_decl_file), s->w->file))
		return 0;
	if (s->w->no_inlines && s->f.fn->list.data[s->f.at].parent)
		return 0;
	if (s->w->has_line || s->w->wanted)
		return function_lines(s);
	if (!die_entry(&s->f.die, &entry) || !entry || !within_outer(&s->f, entry) ||
	    is_rest(&s->f))
		return 0;
	if (s->w->after_prologue && !s->f.fn->list.data[s->f.at].parent)
		entry = after_prologue(&s->f, entry);
	return dwarf_point_tell(s, &s->f, entry);
}

bool dwarf_function_at(const struct function_of *of, uint32_t at, struct function_of *ret)
{
	*ret = *of;
	ret->at = at;
	if (!die_in(of->u, of->fn->list.data[at].die, &ret->die))
		return false;
	ret->name = die_name(&ret->die);
	return true;
}

/* A line of a file: the row's function is whatever lies there. */
static void file_row(void *ctx, const struct line_row *row, bool stmt)
{
	struct dwarf_search *s = ctx;
	struct function_of f;
	uint32_t in;

	if (s->err || row->file == LINE_END || !stmt || !line_fits(s, row))
		return;
	/* The name is that of the function it was compiled into, as perf has it. */
	in = dwarf_outermost(s->f.fn, segments_find(&s->f.fn->map, row->addr));
	if (in && dwarf_function_at(&s->f, in - 1, &f) && !told(s, row->addr))
		dwarf_point_tell(s, &f, row->addr);
}

/* The line a function is declared at is where it begins, whether it has code of its own or not. */
static void declared_here(struct dwarf_search *s)
{
	for (uint32_t i = 0; i < s->f.fn->list.n && !s->err; i++) {
		struct function_of f;
		uint64_t line, entry;

		if (s->f.fn->list.data[i].parent || !dwarf_function_at(&s->f, i, &f) ||
		    !die_number(&f.die, DW_AT_decl_line, &line) || line != s->line ||
		    !dwarf_path_ends(die_file(&f.die, DW_AT_decl_file), s->file) ||
		    !die_entry(&f.die, &entry) || told(s, entry))
			continue;
		dwarf_point_tell(s, &f, entry);
	}
}

static int unit_points(struct dwarf_search *s)
{
	if (s->w->function) {
		for (uint32_t i = 0; i < s->f.fn->list.n && !s->err; i++)
			if (dwarf_function_at(&s->f, i, &s->f))
				try_function(s);
		return s->err;
	}
	s->file = s->w->file;
	s->line = s->w->line;
	s->lines = dwarf_lines(s->f.lines);
	s->found.n = 0;
	if (!s->w->wanted)
		declared_here(s);
	if (s->lines)
		dwarf_rows(s->f.lines, file_row, s);
	return s->err;
}

bool dwarf_open_unit(struct unit *u, struct function_of *f)
{
	*f = (struct function_of){ .lines = u };
	if (!dwarf_unit_prepare(u))
		return false;
	f->u = dwarf_split_unit(u);
	f->fn = f->u ? dwarf_functions(f->u) : NULL;
	return f->fn != NULL;
}

int dwarf_points(struct dwarf *d, const struct dwarf_where *w, dwarf_point_fn *fn, void *ctx)
{
	struct dwarf_search s = { .d = d, .w = w, .fn = fn, .ctx = ctx };
	struct dwarf_names names;

	dwarf_names_open(d, w->function, &names);
	for (size_t i = 0; i < d->main->units.n && !s.err; i++) {
		struct unit *u = d->main->units.data[i];

		if ((w->function ? dwarf_names_may_have(&names, u)
				 : dwarf_unit_has_file(u, w->file)) &&
		    dwarf_open_unit(u, &s.f))
			unit_points(&s);
	}
	dwarf_names_close(&names);
	vec_free(&s.found);
	return s.err;
}

bool dwarf_point_at(struct dwarf *d, uint64_t addr, struct dwarf_point *ret)
{
	uint32_t unit = segments_find(&d->map, addr), in;
	struct function_of f, at;

	if (!unit || !dwarf_open_unit(d->main->units.data[unit - 1], &f))
		return false;
	in = dwarf_outermost(f.fn, segments_find(&f.fn->map, addr));
	if (!in || !dwarf_function_at(&f, in - 1, &at))
		return false;
	fill_point(&at, addr, ret);
	return true;
}

int dwarf_function_names(struct dwarf *d, dwarf_name_fn *fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < d->main->units.n && !err; i++) {
		struct function_of f, at;

		if (!dwarf_open_unit(d->main->units.data[i], &f))
			continue;
		for (uint32_t k = 0; k < f.fn->list.n && !err; k++)
			if (dwarf_function_at(&f, k, &at) && at.name) {
				struct value v = die_attr_deep(&at.die, DW_AT_linkage_name);

				err = fn(ctx, at.name, v.kind == VALUE_STR ? v.s : NULL);
			}
	}
	return err;
}
