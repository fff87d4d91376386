/* SPDX-License-Identifier: MIT */
/* Line programs: run once into rows sorted by address. */
#include "base/sort.h"
#include "base/str.h"
#include "sym/dwarf/int.h"

enum {
	LNS_extended = 0,
	LNS_copy,
	LNS_advance_pc,
	LNS_advance_line,
	LNS_set_file,
	LNS_set_column,
	LNS_negate_stmt,
	LNS_set_basic_block,
	LNS_const_add_pc,
	LNS_fixed_advance_pc,
	LNS_set_prologue_end,
	LNS_set_epilogue_begin,
	LNS_set_isa,

	LNE_end_sequence = 1,
	LNE_set_address = 2,
	LNE_define_file = 3,

	LNCT_path = 1,
	LNCT_directory_index = 2,
};

#define FORMATS_MAX 32

struct program {
	struct lines *l;
	struct unit *u;	  /* whose strings and byte order it uses */
	struct unit like; /* the unit with the sizes of the line table's own header */
	struct bytes b;
	uint8_t min_inst, max_ops, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[256];

	uint64_t addr, file, line;
	unsigned op;
	bool stmt, first_stmt;
	dwarf_row_fn *raw; /* told every row as it comes; NULL: rows are kept */
	void *ctx;
	size_t start; /* of the current sequence, in rows */
	bool ordered;
	VEC(struct line_row) rows;
	VEC(struct sort_key) sequences; /* start address, and row */
};

/* DWARF 5: entries described by a format. Directories when files is false. */
static bool entry_list(struct program *p, bool files)
{
	struct attr_spec format[FORMATS_MAX] = { 0 };
	uint64_t type[FORMATS_MAX], count;
	unsigned n = bytes_u8(&p->b);

	for (unsigned i = 0; i < n; i++) {
		uint64_t t = bytes_uleb(&p->b), form = bytes_uleb(&p->b);

		if (i < FORMATS_MAX) {
			type[i] = t;
			format[i].form = (uint16_t)(form > 0xffff ? 0 : form);
		}
	}
	count = bytes_uleb(&p->b);
	if (p->b.bad || n > FORMATS_MAX || (n == 0 && count) || count > bytes_left(&p->b))
		return count == 0 && !p->b.bad;
	for (uint64_t i = 0; i < count && !p->b.bad; i++) {
		struct line_file f = { .name = "" };

		for (unsigned k = 0; k < n; k++) {
			struct value v = dwarf_value(&p->b, &p->like, &format[k]);

			if (type[k] == LNCT_path && v.kind == VALUE_STR)
				f.name = v.s;
			else if (type[k] == LNCT_directory_index)
				f.dir = v.v;
		}
		if (files)
			vec_push(&p->l->files, f);
		else
			vec_push(&p->l->dirs, f.name);
	}
	return !p->b.bad;
}

static bool old_tables(struct program *p)
{
	const char *name;

	while (*(name = bytes_str(&p->b)))
		vec_push(&p->l->dirs, name);
	while (!p->b.bad && *(name = bytes_str(&p->b))) {
		struct line_file f = { .name = name, .dir = bytes_uleb(&p->b) };

		bytes_uleb(&p->b);
		bytes_uleb(&p->b);
		vec_push(&p->l->files, f);
	}
	return !p->b.bad;
}

/* False when the table cannot be used. b then stands at the first instruction. */
static bool dwarf_line_read_header(struct program *p)
{
	uint64_t len, header;
	const uint8_t *code;

	p->like = (struct unit){ .f = p->u->f,
				 .addr_size = p->u->addr_size,
				 .str_base = p->u->str_base };
	len = dwarf_length(&p->b, &p->like.offset_size);
	if (len < bytes_left(&p->b))
		p->b.end = p->b.p + len;
	p->like.version = bytes_u16(&p->b);
	if (p->b.bad || p->like.version < 2 || p->like.version > 5)
		return false;
	p->l->version = p->like.version;
	if (p->like.version >= 5) {
		p->like.addr_size = bytes_u8(&p->b);
		bytes_u8(&p->b);
	}
	header = bytes_uint(&p->b, p->like.offset_size);
	if (header > bytes_left(&p->b))
		return false;
	code = p->b.p + header;
	p->min_inst = bytes_u8(&p->b);
	p->max_ops = p->like.version >= 4 ? bytes_u8(&p->b) : 1;
	p->first_stmt = bytes_u8(&p->b);
	p->line_base = (int8_t)bytes_u8(&p->b);
	p->line_range = bytes_u8(&p->b);
	p->opcode_base = bytes_u8(&p->b);
	for (unsigned i = 1; i < p->opcode_base; i++)
		p->lengths[i] = bytes_u8(&p->b);
	if (p->b.bad || !p->line_range || !p->opcode_base)
		return false;
	if (!p->max_ops)
		p->max_ops = 1;
	if (!(p->like.version >= 5 ? entry_list(p, false) && entry_list(p, true) : old_tables(p)))
		return false;
	p->b.p = code;
	return true;
}

static void advance(struct program *p, uint64_t operations)
{
	if (p->max_ops == 1) {
		p->addr += operations * p->min_inst;
		return;
	}
	p->addr += (p->op + operations) / p->max_ops * p->min_inst;
	p->op = (unsigned)((p->op + operations) % p->max_ops);
}

/* Of rows at one address the last counts; rows that say what the one before says are left out. */
static void add_row(struct program *p, bool end)
{
	struct line_row row = { p->addr, (uint32_t)p->line,
				end ? LINE_END : (uint32_t)(p->file < LINE_END ? p->file : 0) };

	if (p->raw) {
		p->raw(p->ctx, &row, p->stmt);
		return;
	}
	if (p->rows.n > p->start) {
		struct line_row *last = &p->rows.data[p->rows.n - 1];

		p->ordered &= last->addr <= row.addr;
		if (last->addr == row.addr && !end) {
			*last = row;
			return;
		}
		if (last->file == row.file && last->line == row.line)
			return;
	}
	vec_push(&p->rows, row);
}

static void reset(struct program *p)
{
	p->addr = p->op = 0;
	p->file = p->line = 1;
	p->stmt = p->first_stmt;
	p->start = p->rows.n;
	p->ordered = true;
}

static void end_sequence(struct program *p)
{
	const struct dwarf *d = p->u->f->d;
	size_t n = p->rows.n - p->start;
	struct line_row *rows = n ? p->rows.data + p->start : NULL;

	/* Dropped: empty ones, and functions the linker threw away. */
	if (n < 2 || !rows[0].addr || rows[0].addr < d->min_addr || !p->ordered)
		p->rows.n = p->start;
	else
		vec_push(&p->sequences, (struct sort_key){ rows[0].addr, (uint32_t)p->start });
	reset(p);
}

static void extended(struct program *p)
{
	uint64_t len = bytes_uleb(&p->b);
	struct bytes arg = p->b;

	if (p->b.bad || !len || len > bytes_left(&p->b)) {
		bytes_fail(&p->b);
		return;
	}
	arg.end = arg.p + len;
	bytes_skip(&p->b, len);
	switch (bytes_u8(&arg)) {
	case LNE_end_sequence:
		add_row(p, true);
		end_sequence(p);
		break;
	case LNE_set_address:
		p->addr = bytes_uint(&arg, len - 1 == 4 ? 4 : 8);
		p->op = 0;
		break;
	case LNE_define_file: {
		struct line_file f = { .name = bytes_str(&arg), .dir = bytes_uleb(&arg) };

		vec_push(&p->l->files, f);
		break;
	}
	default: break;
	}
}

static void standard(struct program *p, uint8_t op)
{
	switch (op) {
	case LNS_extended: extended(p); break;
	case LNS_copy: add_row(p, false); break;
	case LNS_advance_pc: advance(p, bytes_uleb(&p->b)); break;
	case LNS_advance_line: p->line = (uint32_t)(p->line + (uint64_t)bytes_sleb(&p->b)); break;
	case LNS_set_file: p->file = bytes_uleb(&p->b); break;
	case LNS_set_column:
	case LNS_set_isa: bytes_uleb(&p->b); break;
	case LNS_const_add_pc: advance(p, (255u - p->opcode_base) / p->line_range); break;
	case LNS_fixed_advance_pc:
		p->addr += bytes_u16(&p->b);
		p->op = 0;
		break;
	case LNS_negate_stmt: p->stmt = !p->stmt; break;
	case LNS_set_basic_block:
	case LNS_set_prologue_end:
	case LNS_set_epilogue_begin: break;
	default:
		for (unsigned i = 0; i < p->lengths[op]; i++)
			bytes_uleb(&p->b);
	}
}

static void dwarf_line_run(struct program *p)
{
	reset(p);
	while (p->b.p < p->b.end && !p->b.bad) {
		uint8_t op = bytes_u8(&p->b);

		if (op < p->opcode_base) {
			standard(p, op);
			continue;
		}
		op = (uint8_t)(op - p->opcode_base);
		advance(p, op / p->line_range);
		p->line = (uint32_t)(p->line +
				     (uint64_t)(int64_t)(p->line_base + op % p->line_range));
		add_row(p, false);
	}
	/* A sequence that does not end is no use: nobody knows how far its last row reaches. */
	p->rows.n = p->start;
}

/* Sequences come in the order of the file's sections; rows are wanted in that of addresses. */
static void order_rows(struct program *p)
{
	struct line_row *sorted;
	size_t n = 0;

	p->l->n = p->rows.n;
	p->l->rows = p->rows.data;
	if (p->sequences.n < 2)
		return;
	sort_keys(p->sequences.data, p->sequences.n);
	sorted = mem_grow(NULL, p->rows.n * sizeof(*sorted));
	vec_each (&p->sequences, s)
		for (size_t i = s->index; i < p->rows.n; i++) {
			/* a sequence inside of another: keep the order of addresses */
			if (n && p->rows.data[i].addr < sorted[n - 1].addr)
				break;
			sorted[n++] = p->rows.data[i];
			if (p->rows.data[i].file == LINE_END)
				break;
		}
	free(p->rows.data);
	p->l->rows = sorted;
	p->l->n = n;
}

/* The unit's program with its header read into l; NULL: it has none. *good: it can be run. */
static struct program *program_open(struct unit *u, struct lines *l, bool *good)
{
	struct program *p;

	*good = false;
	if (!dwarf_unit_prepare(u) || !u->has_stmt_list)
		return NULL;
	p = mem_alloc(sizeof(*p));
	p->u = u;
	p->l = l;
	p->b = dwarf_bytes(u->f, SEC_LINE, u->stmt_list);
	*good = dwarf_line_read_header(p);
	return p;
}

/* Of one that only the caller's stack has the lines of. */
static void program_close(struct program *p)
{
	vec_free(&p->l->files);
	vec_free(&p->l->dirs);
	free(p);
}

static struct lines *make_lines(struct unit *u)
{
	struct lines *l = mem_alloc(sizeof(*l));
	bool good;
	struct program *p = program_open(u, l, &good);

	l->comp_dir = u->comp_dir;
	if (!p)
		return l;
	if (good)
		dwarf_line_run(p);
	order_rows(p);
	vec_free(&p->sequences);
	free(p);
	return l;
}

void dwarf_rows(struct unit *u, dwarf_row_fn *fn, void *ctx)
{
	struct lines scratch = { 0 };
	bool good;
	struct program *p = program_open(u, &scratch, &good);

	if (!p)
		return;
	p->raw = fn;
	p->ctx = ctx;
	if (good)
		dwarf_line_run(p);
	vec_free(&p->sequences);
	program_close(p);
}

bool dwarf_unit_has_file(struct unit *u, const char *path)
{
	struct lines scratch = { 0 };
	bool found = !path, good;
	struct program *p = path ? program_open(u, &scratch, &good) : NULL;

	if (!p)
		return found;
	path = str_base_name(path);
	for (size_t i = 0; i < scratch.files.n && !found; i++)
		found = strcmp(str_base_name(scratch.files.data[i].name), path) == 0;
	program_close(p);
	return found;
}

struct lines *dwarf_lines(struct unit *u)
{
	struct lines *l = atomic_load_explicit(&u->lines, memory_order_acquire);

	if (l || !dwarf_unit_prepare(u))
		return l;
	pthread_mutex_lock(&u->lock);
	l = atomic_load(&u->lines);
	if (!l) {
		l = make_lines(u);
		atomic_store_explicit(&u->lines, l, memory_order_release);
	}
	pthread_mutex_unlock(&u->lock);
	return l;
}

void dwarf_lines_free(struct lines *l)
{
	if (!l)
		return;
	vec_each (&l->files, f)
		free(atomic_load(&f->path));
	vec_free(&l->files);
	vec_free(&l->dirs);
	free(l->rows);
	free(l);
}

const struct line_row *dwarf_line_at(const struct lines *l, uint64_t addr)
{
	size_t n = SORT_FIND(l->n, i, l->rows[i].addr <= addr);

	return n && l->rows[n - 1].file != LINE_END ? &l->rows[n - 1] : NULL;
}

static char *join_path(const struct lines *l, const struct line_file *f)
{
	const char *base = l->comp_dir ? l->comp_dir : "", *dir = "";
	uint64_t at = f->dir;

	if (l->version >= 5) {
		if (l->dirs.n && l->dirs.data[0][0] == '/')
			base = l->dirs.data[0];
		at++;
		dir = at > 1 && at - 1 < l->dirs.n ? l->dirs.data[at - 1] : "";
	} else if (at && at <= l->dirs.n) {
		dir = l->dirs.data[at - 1];
	}
	if (f->name[0] == '/')
		return mem_strdup(f->name);
	if (dir[0] == '/')
		return mem_printf("%s/%s", dir, f->name);
	return mem_printf("%s%s%s%s%s", base, *base ? "/" : "", dir, *dir ? "/" : "", f->name);
}

const char *dwarf_line_file(struct lines *l, uint64_t file)
{
	struct line_file *f;
	char *path, *none = NULL;

	if (l->version < 5)
		file--;
	if (file >= l->files.n)
		return NULL;
	f = &l->files.data[file];
	path = atomic_load_explicit(&f->path, memory_order_acquire);
	if (path)
		return path;
	path = join_path(l, f);
	/* Two threads may make it at the same time; the first one's stays. */
	if (!atomic_compare_exchange_strong(&f->path, &none, path)) {
		free(path);
		path = none;
	}
	return path;
}
