/* SPDX-License-Identifier: MIT */
/*
 * System calls in words: arguments and results the way strace writes them.
 *
 * Records come from a BPF ring (event/trace_abi.h) or are made from a recording, which
 * has no memory of the programs; their sizes are checked, their contents can be anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"
#include "base/str.h"
#include "calc/time/syscalls.h"
#include "event/syscall/syscall.h"
#include "event/trace_abi.h"
#include "kern/btf_types.h"
#include "live/trace/tracer.h"

struct trace_words {
	const struct tracer_structs *structs; /* NULL: structs are addresses */
	const struct btf_types *types;
	bool verbose; /* all fields of structs, not only the telling ones */
	enum syscall_abi abi[TRACE_ABIS];
	struct syscall_sig *sig[TRACE_ABIS][SYSCALL_MAX]; /* filled when needed */
};
void trace_words_init(struct trace_words *w, const struct tracer_structs *structs);
void trace_words_free(struct trace_words *w);

/* What is known of r's call. */
const struct syscall_sig *trace_words_sig(struct trace_words *w, const struct trace_record *r);
/* Its name, or "syscall_999" in buf. */
const char *trace_call_name(const struct trace_words *w, const struct trace_record *r,
			    char buf[24]);

/* How many of its arguments mean something. */
unsigned trace_args(struct trace_words *w, const struct trace_record *r);
/* An argument that its place does not tell, since others are hidden. */
bool trace_named(struct trace_words *w, const struct trace_record *r, unsigned i);
/* This one is a part of the one before it. */
bool trace_hidden(struct trace_words *w, const struct trace_record *r, unsigned i);
void trace_arg(struct trace_words *w, const struct trace_record *r, const void *data, unsigned i,
	       struct strbuf *b);
/* "3</etc/passwd>", "-1 ENOENT (No such file or directory)". */
void trace_result(struct trace_words *w, const struct trace_record *r, const void *data,
		  struct strbuf *b);
bool trace_failed(const struct trace_record *r);

void trace_pointer(uint64_t v, struct strbuf *b); /* in hex, or NULL */
void trace_hex(uint64_t v, struct strbuf *b);	  /* in hex, or 0 */
/* view/trace/memory.c: an argument that leads to memory; false when it is none. */
bool trace_memory(struct trace_words *w, const struct trace_record *r, const void *data, unsigned i,
		  const struct syscall_arg *a, struct strbuf *b);
/* A piece of memory that was read; NULL when it was not. */
const struct trace_piece *trace_piece(const struct trace_record *r, const void *data, unsigned arg,
				      enum trace_take take, unsigned index);
/* As it was when the call began. */
const struct trace_piece *trace_piece_before(const struct trace_record *r, const void *data,
					     unsigned arg, enum trace_take take);
/* With its file; index: of a list of them, which one. */
void trace_descriptor(const struct trace_record *r, const void *data, unsigned arg, unsigned index,
		      int fd, struct strbuf *b);
/* view/trace/sets.c: signals, [INT CHLD]; numbers of bits, [0 2]. */
void trace_sigset(uint64_t set, struct strbuf *b);
void trace_bits(const uint8_t *bits, uint64_t n, struct strbuf *b);
/* Of select, what was asked for; and for its result, which of them are ready. */
void trace_fdset(const struct trace_record *r, const void *data, unsigned i,
		 const struct syscall_arg *a, struct strbuf *b);
void trace_fdsets(const struct trace_record *r, const void *data, const struct syscall_sig *s,
		  struct strbuf *b);
/* Number k of a list for poll, as the call left it. */
void trace_pollfd(const struct trace_record *r, const void *data, unsigned i, unsigned k,
		  const void *from, struct strbuf *b);
/* What could end a line, or move a terminal's cursor, as strace writes it. */
void trace_escape(const void *s, size_t n, bool quoted, struct strbuf *b);
/* With quotes, as strace escapes it. whole: how long it really is. */
void trace_string(const void *s, size_t n, uint64_t whole, struct strbuf *b);
/* view/trace/struct.c: a struct of the kernel's types; is32: pointers are short. */
void trace_struct(const struct trace_words *w, uint32_t type, const char *name, const void *data,
		  size_t n, struct strbuf *b);
/* view/trace/depends.c: what depends on another argument. */
void trace_sockaddr(const void *data, size_t n, struct strbuf *b);
void trace_fcntl(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b);
bool trace_fcntl_alone(uint64_t cmd); /* it takes no argument */
void trace_ioctl(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b);
void trace_prctl(const struct trace_record *r, const void *data, unsigned i, struct strbuf *b);
unsigned trace_prctl_args(uint64_t option); /* how many it takes */
/* False: it is nothing more than bytes. */
bool trace_sockopt(const struct trace_record *r, const void *from, size_t n, struct strbuf *b);
void trace_control(const void *data, size_t n, uint64_t whole, struct strbuf *b);

/* --- lines ------------------------------------------------------------------------------------ */

struct trace_lines {
	struct trace_words *words;
	struct out *out;
	uint64_t begin; /* times are shown from here on; 0: as they are */
	bool color;
	bool names; /* arguments with their names */
	/* who called, innermost first, for the next line */
	char *const *frames;
	size_t n_frames;
};
/* One line a call. */
void trace_text_call(struct trace_lines *l, const struct trace_record *r, const void *data);
void trace_json_call(struct trace_lines *l, const struct trace_record *r, const void *data);
/* Other events: name and text are the caller's. */
void trace_text_event(struct trace_lines *l, const struct trace_record *r, const char *name,
		      const char *text);
/* text: the kernel's about signal:signal_deliver. False when it is another. */
bool trace_text_signal(struct trace_lines *l, const struct trace_record *r, const char *text);
void trace_json_event(struct trace_lines *l, const struct trace_record *r, const char *name,
		      const char *text);

/* A table a task; what: "process", "thread" or "". */
void trace_sums_text(struct out *out, const struct syscalls *s, const struct trace_words *w);
void trace_sums_json(struct out *out, const struct syscalls *s, const struct trace_words *w);
