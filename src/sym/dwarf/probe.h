/* SPDX-License-Identifier: MIT */
/*
 * What a probe asks of debug info: where functions and lines begin, which
 * variables live there and where they are kept, and what their types say.
 *
 * One thread at a time. The texts live as long as the dwarf.
 */
#pragma once

#include "base/str.h"
#include "sym/dwarf/dwarf.h"

struct unit;
struct ehframe;

/* An entry of the debug info: a type, a variable, a function. u NULL: none. */
struct dwarf_die {
	struct unit *u;
	uint64_t off;
};

/* --- points (sym/dwarf/point.c) --- */

struct dwarf_point {
	uint64_t addr;
	struct dwarf_die scope; /* the function, or the inlined instance of it */
	const char *function;	/* its name in the source */
	const char *symbol;	/* of the function it was compiled into */
	uint64_t entry;		/* where that one begins */
	const char *file;	/* where function is declared; NULL, 0: not known */
	uint32_t line;
	bool inlined;
};
/* A non-zero answer ends it and is handed on. */
typedef int dwarf_point_fn(void *ctx, const struct dwarf_point *p);

/* Whether a line of a source file is looked for: fnmatch of its text, by the caller. */
typedef bool dwarf_line_fn(void *ctx, const char *file, uint32_t line);

struct dwarf_where {
	const char *function; /* a name or pattern; NULL: any */
	const char *file;     /* its path or the end of it; NULL: any */
	uint32_t line;	      /* of the file; of a function: from its first line */
	bool has_line;
	bool no_inlines;       /* only functions with code of their own */
	bool after_prologue;   /* where parameters are in place, in code that was not optimised */
	dwarf_line_fn *wanted; /* instead of line; may be NULL */
	void *ctx;
};
/* Every place that fits. 0 when there was none or all were told. */
int dwarf_points(struct dwarf *d, const struct dwarf_where *w, dwarf_point_fn *fn, void *ctx);
/* The function at an address; false when none is known. */
bool dwarf_point_at(struct dwarf *d, uint64_t addr, struct dwarf_point *ret);

/* Lines at which a probe can be, in order of file and line, each once. */
typedef int dwarf_stmt_fn(void *ctx, const char *file, uint32_t line);
/* Of one function (by name) with its first line, or of a file; *first is 0 for a file. */
int dwarf_stmts(struct dwarf *d, const char *function, const char *file, const char **path,
		uint32_t *first, uint32_t *last, dwarf_stmt_fn *fn, void *ctx);
/* symbol: as the linker has it, where that is another (C++, Rust); NULL: the same. */
typedef int dwarf_name_fn(void *ctx, const char *name, const char *symbol);
/* Names of all functions that have code, inlined ones too; each may come more than once. */
int dwarf_function_names(struct dwarf *d, dwarf_name_fn *fn, void *ctx);

/* --- variables (sym/dwarf/var.c) --- */

/*
 * How a value is fetched: a register, an address or a constant, and from there
 * through memory: off[0] is added to the base and read, off[1] to that, and so on.
 */
#define DWARF_DEREFS_MAX 16
struct dwarf_fetch {
	enum { DWARF_NOWHERE, DWARF_REG, DWARF_ADDR, DWARF_CONST } base;
	unsigned reg;	/* DWARF's number */
	uint64_t value; /* an address, or the constant */
	int64_t off[DWARF_DEREFS_MAX];
	unsigned n;
	int64_t add; /* to what was fetched; a pointer so made can be followed, but not be shown */
};

struct dwarf_var {
	const char *name;
	struct dwarf_die die, type;
	bool param, global;
	bool declared; /* a global of another unit: only the symbol table knows where it is */
	bool own; /* of the point's function itself, not of what is inlined there or around it */
	struct dwarf_fetch fetch;
	const char *why; /* it cannot be fetched; NULL when it can */
};
/*
 * cfi (may be NULL) says where frames are. First the function's own, outer blocks before inner
 * ones; then those of what is inlined at the point, then those of what it is inlined into, then
 * globals when asked for.
 */
typedef int dwarf_var_fn(void *ctx, const struct dwarf_var *v);
int dwarf_vars(struct dwarf *d, const struct dwarf_point *p, const struct ehframe *cfi,
	       bool globals, dwarf_var_fn *fn, void *ctx);
/* The ranges of addresses in which its place is known. */
typedef void dwarf_span_fn(void *ctx, uint64_t lo, uint64_t hi);
void dwarf_var_spans(const struct dwarf_point *p, const struct dwarf_var *v, dwarf_span_fn *fn,
		     void *ctx);

/* What the function gives back; u NULL: nothing. */
struct dwarf_die dwarf_returns(const struct dwarf_point *p);

/* --- types (sym/dwarf/type.c) --- */

enum dwarf_class {
	DWARF_VOID,
	DWARF_INT,
	DWARF_CHAR,
	DWARF_BOOL,
	DWARF_FLOAT,
	DWARF_POINTER,
	DWARF_ARRAY,
	DWARF_STRUCT, /* union and class too */
	DWARF_ENUM,
	DWARF_FUNCTION,
};
struct dwarf_type {
	enum dwarf_class class;
	bool is_signed;
	bool is_reference;    /* DWARF_POINTER: what it points to is meant */
	uint64_t size;	      /* in bytes; 0: not known */
	uint64_t count;	      /* DWARF_ARRAY: elements, 0: not known */
	struct dwarf_die die; /* typedefs and qualifiers taken off */
	struct dwarf_die to;  /* what a pointer points to, what an array holds */
};
struct dwarf_type dwarf_type(struct dwarf_die type);
/* As in C: "struct node*", "unsigned int". */
void dwarf_type_text(struct dwarf_die type, struct strbuf *out);

struct dwarf_member {
	uint64_t offset;	    /* in bytes */
	uint32_t bits, shift, unit; /* a bit field of this width, this far from the low end of
				       unit bits at offset; bits 0: none */
	struct dwarf_die type;
};
/* A member by name, also of unnamed structs and unions inside. */
bool dwarf_member(struct dwarf_die type, const char *name, struct dwarf_member *ret);
/* Every member's name, for what was probably meant. */
void dwarf_members(struct dwarf_die type, void (*fn)(void *ctx, const char *name), void *ctx);
