/* SPDX-License-Identifier: MIT */
/*
 * The types of the tracing language.
 *
 * Integers are computed in 64 bits whatever their size. Everything larger is
 * memory; for records and arrays `space` says how it may be read. Types live in
 * the program's arena and are shared by pointer.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"

enum lt_kind {
	LT_NONE, /* not known yet */
	LT_VOID,
	LT_INT,
	LT_STRING,
	LT_PTR,
	LT_RECORD,
	LT_ARRAY,
	LT_TUPLE,
	/* values that are named when they are printed */
	LT_KSYM,
	LT_USYM,
	LT_KSTACK,
	LT_USTACK,
	LT_INET,
	LT_MAC,
	LT_BUF,
	LT_USERNAME,
	LT_PROBE,
	LT_TIMESTAMP,
	LT_STRERROR,
	LT_CGROUP_PATH,
	LT_NAME, /* n: enum lang_names */
	/* what only a map can hold */
	LT_COUNT,
	LT_SUM,
	LT_MIN,
	LT_MAX,
	LT_AVG,
	LT_STATS,
	LT_HIST,
	LT_LHIST,
	LT_TSERIES,
};

/* Tables that a number is looked up in when it is printed. */
enum lang_names {
	LANG_NAME_SYSCALL,
	LANG_NAME_SIGNAL,
	LANG_NAME_CAP,
	LANG_NAME_DISK,
	LANG_NAME_FILE
};

/* Where memory lies, which decides how it is read. */
enum lt_space {
	LS_KERNEL,  /* bpf_probe_read_kernel */
	LS_USER,    /* bpf_probe_read_user */
	LS_ANY,	    /* bpf_probe_read: the address tells */
	LS_BPF,	    /* the program's own: stack, scratch, map values */
	LS_CTX,	    /* the probe's context */
	LS_TRUSTED, /* a kernel pointer the verifier knows the type of */
};

struct lrecord;

struct lenumerator {
	int64_t value;
	const char *name;
};

struct ltype {
	enum lt_kind kind;
	uint32_t size; /* bytes as stored; of LT_BUF: 8 for its length, then the bytes */
	bool is_signed;
	bool is_bool;
	bool user_stack_perf, raw_stack, folded_stack, annotated_stack, ftrace_stack;
	enum lt_space space; /* of LT_PTR: of what it points to; of records and arrays: their own */
	const struct ltype *elem; /* LT_PTR, LT_ARRAY */
	uint32_t n;	     /* LT_ARRAY: elements; LT_TUPLE: items; stacks: depth; enums: values */
	struct lrecord *rec; /* LT_RECORD */
	const struct ltype **item; /* LT_TUPLE */
	const uint32_t *offset;	   /* LT_TUPLE: of each item */
	int64_t min, max, step;	   /* LT_LHIST; LT_HIST: step is the bits of resolution; LT_TSERIES:
				      interval, intervals */
	int agg;		   /* LT_TSERIES: enum of the aggregation, 0 none */
	const char *format;	   /* LT_TIMESTAMP: of strftime */
	const char *enum_name;	   /* LT_INT of an enum; NULL */
	const struct lenumerator *enumerator; /* its values, n of them */
};

struct lfield {
	const char *name; /* "" for an anonymous member */
	const struct ltype *type;
	uint32_t offset;
	uint8_t bit_offset, bit_size; /* bit_size 0: no bit-field */
	bool data_loc;		      /* a tracepoint's __data_loc: offset and size of the data */
	bool rel_loc;
};

struct lrecord {
	const char *name;
	bool is_union;
	bool filled; /* fields are there; else the environment is asked */
	bool opaque; /* only its name is known: it can be pointed to */
	uint32_t id; /* the environment's number of it */
	uint32_t size;
	uint32_t align; /* 0: as its fields want it */
	struct lfield *field;
	size_t n;
};

/* Makes types in an arena; equal pointers are not promised for equal types. */
struct ltypes {
	struct arena *arena;
	VEC(struct lrecord *) records;
};

struct ltype *lt_new(struct ltypes *t, enum lt_kind kind, uint32_t size);
const struct ltype *lt_int(struct ltypes *t, unsigned size, bool is_signed);
const struct ltype *lt_bool(struct ltypes *t);
const struct ltype *lt_string(struct ltypes *t, uint32_t size);
const struct ltype *lt_ptr(struct ltypes *t, const struct ltype *to, enum lt_space space);
const struct ltype *lt_array(struct ltypes *t, const struct ltype *elem, uint32_t n);
const struct ltype *lt_record(struct ltypes *t, struct lrecord *r);
/* Items are laid out at multiples of 8. */
const struct ltype *lt_tuple(struct ltypes *t, const struct ltype **item, uint32_t n);
/* The same type, read in another way. */
const struct ltype *lt_in(struct ltypes *t, const struct ltype *type, enum lt_space space);

/* How far one more is, of a pointer. */
uint32_t lt_step(const struct ltype *pointer);
/* Of two enums: is it one? They have values of one name; what is of two has none. */
bool lt_same_enum(const struct ltype *a, const struct ltype *b);

struct lrecord *lt_record_new(struct ltypes *t, const char *name, bool is_union);
struct lrecord *lt_record_find(const struct ltypes *t, const char *name);
/* Also looks into anonymous members; *offset is from the record's start. NULL: there is none. */
const struct lfield *lt_field(const struct lrecord *r, const char *name, uint32_t *offset);

bool lt_is_agg(const struct ltype *t);
bool lt_is_num(const struct ltype *t); /* integer or pointer */
/* Values that are one 64-bit word: kept in a register. */
bool lt_is_word(const struct ltype *t);
bool lt_is_stack(const struct ltype *t);
/* The bytes it takes as a key, a value of a map, or an argument: a multiple of 8. */
uint32_t lt_stored(const struct ltype *t);
/* Fits as key or value: same kind, and sizes that can be made equal. */
bool lt_fits(const struct ltype *to, const struct ltype *from);
/* As messages show it. */
void lt_text(const struct ltype *t, struct strbuf *b);

/* Buckets of a log2 histogram with `bits` bits of resolution inside a power of two. */
uint32_t lt_hist_buckets(unsigned bits);
uint32_t lt_lhist_buckets(const struct ltype *t);
