/* SPDX-License-Identifier: MIT */
/* The lines of a function or a file at which a probe can be. */
#include "sym/dwarf/die.h"

struct stmts {
	struct dwarf_search s;
	const char *path; /* of the file that is shown */
	uint32_t end;	  /* of a function: lines behind it are others'; 0: none */
	VEC(uint32_t) lines;
};

static void stmt_row(void *ctx, const struct line_row *row, bool stmt)
{
	struct stmts *st = ctx;
	const char *file;

	if (row->file == LINE_END || !stmt || (st->end && row->line >= st->end))
		return;
	file = dwarf_line_file(st->s.lines, row->file);
	if (!file || !dwarf_path_ends(file, st->path))
		return;
	if (st->s.f.die.u) {
		if (!die_has_pc(&st->s.f.die, row->addr))
			return;
		st->s.line = row->line;
		if (!dwarf_row_is_ours(&st->s, row->addr))
			return;
	}
	vec_push(&st->lines, row->line);
}

static int dwarf_stmt_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int tell_lines(struct stmts *st, uint32_t *last, dwarf_stmt_fn *fn, void *ctx)
{
	uint32_t before = 0;
	int err = 0;

	if (st->lines.n)
		qsort(st->lines.data, st->lines.n, sizeof(*st->lines.data), dwarf_stmt_by_number);
	vec_each (&st->lines, line) {
		if (err || *line == before)
			continue;
		before = *line;
		err = fn(ctx, st->path, *line);
	}
	*last = before;
	vec_free(&st->lines);
	return err;
}

/* What was inlined whole leaves no row of the line it was called from. */
static void called_lines(struct stmts *st)
{
	const struct dwarf_search *s = &st->s;

	for (uint32_t i = s->f.at + 1; i < s->f.fn->list.n; i++) {
		const struct function *g = &s->f.fn->list.data[i];
		const char *file;

		if (g->parent != s->f.at + 1)
			continue;
		file = dwarf_line_file(s->lines, g->call_file);
		if (file && strcmp(file, st->path) == 0)
			vec_push(&st->lines, g->call_line);
	}
}

/* C has no functions within functions: the next one's first line is behind this one's last. */
static uint32_t next_function(const struct stmts *st, uint32_t first)
{
	static const uint64_t c[] = { 0x01, 0x02, 0x0c, 0x1d, 0x2c }; /* C89, C, C99, C11, C17 */
	const struct dwarf_search *s = &st->s;
	uint32_t next = UINT32_MAX;
	uint64_t language = 0, line;
	struct function_of f;
	struct die root;
	bool is_c = false;

	if (die_in(s->f.u, s->f.u->die, &root))
		die_number(&root, DW_AT_language, &language);
	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		is_c |= language == c[i];
	for (uint32_t i = 0; i < s->f.fn->list.n && is_c; i++)
		if (dwarf_function_at(&s->f, i, &f) && die_number(&f.die, DW_AT_decl_line, &line) &&
		    line > first && line < next &&
		    dwarf_path_ends(die_file(&f.die, DW_AT_decl_file), st->path))
			next = (uint32_t)line;
	return next;
}

/* The first function of that name; the lines of all its instances. */
static void function_stmts(struct stmts *st, const char *function, const char *file,
			   uint32_t *first)
{
	struct dwarf_search *s = &st->s;
	uint64_t line;

	for (uint32_t i = 0; i < s->f.fn->list.n; i++) {
		const char *path;

		if (!dwarf_function_at(&s->f, i, &s->f) || !dwarf_function_fits(&s->f, function) ||
		    !die_number(&s->f.die, DW_AT_decl_line, &line))
			continue;
		path = die_file(&s->f.die, DW_AT_decl_file);
		if (!path || (file && !dwarf_path_ends(path, file)) ||
		    (st->path && strcmp(st->path, path) != 0) || (*first && *first != line))
			continue;
		st->path = s->file = path;
		*first = (uint32_t)line;
		vec_push(&st->lines, *first);
		st->end = next_function(st, *first);
		dwarf_rows(s->f.lines, stmt_row, st);
		called_lines(st);
	}
}

/* Every function of the file begins at the line it is declared at. */
static void declared_lines(struct stmts *st)
{
	struct dwarf_search *s = &st->s;
	struct function_of f;
	uint64_t line;

	for (uint32_t i = 0; i < s->f.fn->list.n; i++)
		if (dwarf_function_at(&s->f, i, &f) && die_number(&f.die, DW_AT_decl_line, &line) &&
		    dwarf_path_ends(die_file(&f.die, DW_AT_decl_file), st->path))
			vec_push(&st->lines, (uint32_t)line);
}

int dwarf_stmts(struct dwarf *d, const char *function, const char *file, const char **path,
		uint32_t *first, uint32_t *last, dwarf_stmt_fn *fn, void *ctx)
{
	struct stmts st = { .path = NULL };
	struct dwarf_names names;

	*first = 0;
	dwarf_names_open(d, function, &names);
	for (size_t i = 0; i < d->main->units.n; i++) {
		struct unit *u = d->main->units.data[i];

		if (function ? !dwarf_names_may_have(&names, u) : !dwarf_unit_has_file(u, file))
			continue;
		if (!dwarf_open_unit(u, &st.s.f))
			continue;
		st.s.lines = dwarf_lines(st.s.f.lines);
		if (!st.s.lines)
			continue;
		if (function) {
			function_stmts(&st, function, file, first);
			continue;
		}
		for (uint64_t k = 0; k <= st.s.lines->files.n && !st.path; k++) {
			const char *name = dwarf_line_file(st.s.lines, k);

			if (dwarf_path_ends(name, file))
				st.path = name;
		}
		if (st.path) {
			declared_lines(&st);
			dwarf_rows(st.s.f.lines, stmt_row, &st);
		}
	}
	dwarf_names_close(&names);
	*path = st.path;
	return tell_lines(&st, last, fn, ctx);
}
