/* SPDX-License-Identifier: MIT */
/*
 * Any text as a program: parsed, checked, compiled; what is accepted is run in user
 * space, and its listing and messages are made. Nothing may crash or read outside.
 */
#include "fuzz.h"

#include <string.h>

#include "lang/vm/vm.h"
#include "view/run/show.h"

static int match(void *ctx, const struct lang_point *p, lang_match_fn *fn, void *arg, struct err *e)
{
	(void)ctx;
	(void)e;
	if (p->kind == LP_TRACEPOINT) {
		if (!str_glob(p->name, "ev"))
			return 0;
		fn(arg, "sys", "ev");
	} else {
		fn(arg, p->target ? p->target : "t", p->name ? p->name : "n");
	}
	return 1;
}

static char *format(void *ctx, const char *system, const char *event)
{
	(void)ctx;
	(void)system;
	(void)event;
	return mem_strdup("name: ev\nID: 5\nformat:\n"
			  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			  "\tfield:int x;\toffset:24;\tsize:4;\tsigned:1;\n"
			  "\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
			  "\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
			  "\nprint fmt: \"\"\n");
}

static void replay(struct lang_program *p)
{
	static const uint64_t chain[] = { EVENT_CHAIN_KERNEL, 1, 2, EVENT_CHAIN_USER, 3, 4 };
	static const char record[80] =
		"\5\0\0\0\0\0\0\0comm\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0\120\0\4\0";
	struct lang_vm_event ev = { .time = 1000,
				    .pid = 5,
				    .tid = 6,
				    .cpu = 1,
				    .comm = "test",
				    .raw = record,
				    .raw_size = sizeof(record),
				    .chain = chain,
				    .chain_n = 6 };
	struct lang_host h = { 0 };
	struct lang_out o = { .p = p, .h = &h, .printer = &show_printer };
	struct lang_vm *vm;
	struct err e = { 0 };

	if (lang_vm_open(p, &o, NULL, 0, &vm, &e) < 0)
		return;
	lang_vm_host(vm, &h);
	for (size_t i = 0; i < p->codes.n; i++)
		lang_vm_run(vm, i, &ev);
	show_maps(&o);
	lang_vm_close(vm);
	lang_out_free(&o);
}

/* A header is what stands behind the last //@. */
static char *include(void *ctx, const char *from, const char *name, bool quoted, size_t *n,
		     char **path)
{
	const char *text = ctx, *at = NULL;

	(void)quoted;
	if (from)
		return NULL;
	for (const char *s = text; (s = strstr(s, "//@")); s++)
		at = s;
	if (!at || !*name)
		return NULL;
	*n = strlen(at);
	*path = mem_strdup(name);
	return mem_strdup(at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	struct lang_source src = { .name = "fuzz", .text = text, .n = size };
	struct lang_env env = { .ncpus = 1, .recorded = true, .match = match, .tp_format = format };
	struct lang_config config = { .strlen = 64,
				      .map_keys = 16,
				      .stack_depth = 127,
				      .max_probes = 8,
				      .max_bpf_progs = 8,
				      .ring_pages = 1 };
	struct lang_diags d = { 0 };
	struct lang_program *p;
	struct strbuf b = { 0 };

	if (size > 4096)
		return 0;
	memcpy(text, data, size);
	src.config = &config;
	src.unsafe = true;
	src.include = include;
	src.include_ctx = text;
	if (lang_compile(&src, &env, LANG_DUMP_AST | LANG_DUMP_IR, &p, &d) == 0) {
		vec_each (&p->codes, c) {
			struct lang_btf btf;

			lang_list_code(p, c, &b);
			lang_btf_make(p, c, &btf);
			lang_btf_free(&btf);
		}
		replay(p);
		lang_program_free(p);
	}
	lang_diags_text(&d, NULL, &b);
	lang_diags_free(&d);
	strbuf_free(&b);
	return 0;
}
