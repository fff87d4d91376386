/* SPDX-License-Identifier: MIT */
/* Inside the script view: what its files share. */
#pragma once

#include <pthread.h>

#include "base/json.h"
#include "base/vec.h"
#include "view/script/script.h"

/* A text that was made once: " main+0x12 (/bin/x)". */
struct site_text {
	uint64_t addr; /* as it is shown: an offset in the file for user code, the ip else */
	uint32_t dso, what;
	uint32_t text_n, inlined_n;
	const char *text;
	const char *inlined;	      /* whole lines of what was inlined there, innermost first */
	const struct sym_result *sym; /* NULL: nothing is mapped there */
};

/* And where it belongs. */
struct site {
	uint64_t ip;
	uint32_t space;
	uint32_t what; /* SCRIPT_SYM | ..., + 1 so that 0 is free */
	const struct task_map *map;
	struct site_text t;
};

/* Where a text is found by what it is of: what is asked for most lies here itself. */
struct site_line {
	uint64_t addr; /* in the file */
	uint32_t dso, what;
	const char *text; /* NULL: free */
	uint32_t n;
	uint32_t at; /* in texts */
};

/* Beside the fields of that sort: expand inlined functions. */
#define SITE_INLINED (1u << 31)
/* Their text is the whole line (or lines) of a frame. */
#define SITE_LINE (1u << 30)
/* The address is one that a call returns to: what was inlined is what made the call. */
#define SITE_CALLER (1u << 29)

/* Those that an address' text is made of. */
static inline uint32_t site_what(uint64_t show)
{
	return (uint32_t)(show & (SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SYMOFF | SCRIPT_SRCLINE));
}

#define SITE_SLOTS (1u << 14)

/* A stack goes to and fro between few mappings. */
struct site_near {
	const struct task_map *map; /* NULL: free */
	uint64_t start, end;	    /* where it is not covered by others */
	uint64_t bias;		    /* of addresses in the file */
	uint32_t space;
};
#define SITE_NEAR 4u

/* The stack that was printed last (view/script/stack.c). Of its user frames, outermost first: */
#define STACK_FRAMES 256u
struct script_stack {
	uint64_t ip[STACK_FRAMES];
	uint32_t bytes[STACK_FRAMES]; /* of text, from this frame to the outermost one */
	uint32_t n;
	uint32_t space, what;
	const struct out *out; /* where it stands, up to `end`, until that is emptied */
	uint32_t turn;
	size_t end;
	uint32_t length[STACK_FRAMES]; /* of texts that were made, in the order of the chain */
	uint32_t n_lengths;
};

struct script_type {
	uint64_t show;
	const char *name;
	uint32_t name_n;
	bool chains;	 /* its samples have a chain that is shown */
	bool plain_addr; /* its data address has no symbol */
	bool bpf_output;
};

struct script {
	struct trace *trace;
	struct symbols *symbols;
	struct script_opts o;
	struct out *out;
	struct script_type *types;
	uint32_t name_width;
	uint64_t start_time, last_time;
	struct map early; /* tid to name id + 1, while records without a time are shown */
	struct strbuf text;
	struct strtab stop_at;
	pthread_mutex_t
		*lock;	  /* held around names that were not asked for yet; NULL: nobody else */
	struct json json; /* layout and levels, of a line that is being written */

	/* names */
	struct arena arena;
	struct site *sites; /* direct mapped: a newer one takes the place of an older one */
	VEC(struct site_text) texts;
	struct site_line *lines; /* by hash */
	size_t cap_lines;
	struct site_near near[SITE_NEAR]; /* the mappings used last */
	uint32_t *dso_symbols;		  /* by dso of tasks: number in symbols */
	const char **dso_names;		  /* by dso: as it is shown */
	size_t n_dsos;
	const struct task_map *kernel_map;
	size_t data_src_width;
	uint32_t src_file, src_line; /* source line that was shown last */
	struct script_stack stack;
};

/* --- view/script/site.c --- */
void site_init(struct script *s);
void site_free(struct script *s);
/* The space addresses of a mode are looked up in. */
uint32_t site_space(const struct script *s, const struct event *ev, enum event_mode mode);
/* what: of SCRIPT_SYM, _SYMOFF, _DSO, _SRCLINE. Holds until the next call. */
const struct site *site_find(struct script *s, uint32_t space, uint64_t ip, uint32_t what);
/* "\tADDRESS TEXT\n", and the lines of what was inlined before it; NULL where nothing is mapped.
 * Holds until the next call. */
const struct site_line *site_line(struct script *s, uint32_t space, uint64_t ip, uint32_t what);
/* Both may be asked for soon as lines, the second first. */
void site_expect(const struct script *s, uint64_t later, uint64_t soon, uint32_t what);
/* The event is shown soon: what its texts are found by, or (near) the texts, are fetched. */
void site_expect_event(const struct script *s, const struct event *ev, uint32_t what, bool near);
/* A text that another one made, which lives as long. */
void site_learn(struct script *s, const struct site_text *t);
const char *site_dso_name(struct script *s, uint32_t dso);
/* The function, NULL when it has no name. */
const char *site_function(struct script *s, const struct site *x);
/* The address as it is shown: made-up ones (struct trace_own) are not. */
uint64_t site_shown(const struct script *s, uint64_t addr);

/* --- view/script/extra.c: the fields that few events have --- */
void extra_addr(struct script *s, const struct event *ev, uint64_t show);
void extra_data_src(struct script *s, uint64_t v);
void extra_regs(struct script *s, uint64_t abi, uint64_t mask, const uint64_t *regs);
void extra_branches(struct script *s, const struct event *ev, uint64_t show);
void extra_bpf_output(struct script *s, const struct event *ev);
void extra_page_size(struct script *s, uint64_t size);
void extra_srccode(struct script *s, const struct event *ev);
void extra_misc(struct script *s, const struct event *ev);
void extra_tod(struct script *s, uint64_t time);

/* --- view/script/side.c --- */
/* false when this kind is not to be shown. */
bool side_wanted(const struct script *s, const struct event *ev);
void side_print(struct script *s, const struct event *ev);
/* One that is not shown may name others. */
void side_note(struct script *s, const struct event *ev);

/* --- view/script/json.c --- */
void json_event(struct script *s, const struct event *ev);

/* --- script.c --- */
/* One that prints samples, and knows nothing of what tracepoints name. */
struct script *script_make(struct trace *t, struct symbols *symbols, const struct script_opts *o,
			   struct out *out);
void script_comm(struct script *s, const struct script_type *t, const char *name);
void script_start(struct script *s, const struct event *ev, const struct script_type *t,
		  uint64_t show);
/* What to ask of a user frame, of SITE_*; first: it is where the program itself was. */
uint32_t script_inlined(const struct script *s, const struct event *ev, bool first);
/* left addresses follow this one; inlined: what to ask of it, of SITE_*. false ends the chain. */
typedef bool chain_fn(struct script *s, const uint64_t *ip, uint32_t left, uint32_t space,
		      uint32_t inlined, void *ctx);
/* The first n of its chain. */
void script_chain(struct script *s, const struct event *ev, uint32_t n, chain_fn *fn, void *ctx);

/* --- view/script/stack.c --- */
void stack_print(struct script *s, const struct event *ev, uint64_t show);
