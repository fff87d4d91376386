/* SPDX-License-Identifier: MIT */
/*
 * Headers: of what they say, definitions of types, enums and constants are taken; functions,
 * variables and macros with arguments are left out, and so is what is not understood. Who uses a
 * name that was left out is told that it is not known.
 *
 * Types of the kernel come from its own description of itself: a header that is not found is
 * not missed, unless it stands in quotes and is no header of the kernel or of the C library.
 */
#include <string.h>

#include "lang/parse/parse.h"

#define DEPTH_MAX 16
#define FILES_MAX 512

/* To the end of a declaration, or of a function. */
static void skip_declaration(struct parser *p)
{
	unsigned open = 0;

	if (parse_accept_word(p, "extern") && p->tok.kind == T_STR) { /* extern "C" { */
		parse_advance(p);
		if (parse_accept(p, '{'))
			return;
	}
	for (; p->tok.kind != T_END; parse_advance(p)) {
		open += p->tok.kind == '{' || p->tok.kind == '(';
		if (p->tok.kind == ';' && !open)
			break;
		if ((p->tok.kind != '}' && p->tok.kind != ')') || (open && --open))
			continue;
		if (p->tok.kind == '}') {
			parse_advance(p);
			if (p->tok.kind != ',' && p->tok.kind != '=' && p->tok.kind != ';')
				return;
			if (p->tok.kind == ';')
				break;
		}
	}
	parse_accept(p, ';');
}

static void header_declaration(struct parser *p)
{
	parse_tag(p);
	if (p->failed || p->tok.kind != ';')
		skip_declaration(p);
	else
		parse_advance(p);
}

/* Definitions that were not understood are as if they were not there. */
static void header_definitions(struct parser *p)
{
	while (p->tok.kind != T_END) {
		size_t records = p->ast->records.n, typedefs = p->ast->typedefs.n;

		lang_diags_free(p->d); /* the same may be wrong in several of them */
		*p->d = (struct lang_diags){ 0 };
		p->failed = false;
		if (parse_is(p, "typedef"))
			parse_typedef(p);
		else if (parse_is(p, "struct") || parse_is(p, "union") || parse_is(p, "enum"))
			header_declaration(p);
		else
			skip_declaration(p);
		for (size_t i = records; i < p->ast->records.n && p->d->errors; i++)
			p->ast->records.data[i]->why =
				arena_strdup(p->arena, p->d->list.data[0].text);
		if (p->d->errors)
			p->ast->typedefs.n = typedefs;
	}
}

/* Whose contents come from the kernel's types, or are known. */
static bool is_system(const char *name)
{
	static const char *const dirs[] = {
		"linux/",   "asm/",    "asm-generic/", "uapi/", "net/",	   "sys/",  "bits/",
		"netinet/", "arpa/",   "std",	       "acpi/", "crypto/", "drm/",  "generated/",
		"kvm/",	    "misc/",   "mtd/",	       "ras/",	"rdma/",   "scsi/", "soc/",
		"sound/",   "target/", "trace/",       "vdso/", "video/",  "xen/",
	};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (str_starts(name, dirs[i]))
			return true;
	return false;
}

static void header_include(void *ctx, const char *name, bool quoted, uint32_t pos, uint32_t len)
{
	struct parser *p = ctx;
	const struct lang_source *src = p->src;
	struct lang_diags d = { 0 };
	struct parser q = { .arena = p->arena,
			    .d = &d,
			    .ast = p->ast,
			    .config = p->config,
			    .src = src,
			    .headers = p->headers + 1 };
	AUTO_FREE char *text = NULL;
	char *path = NULL;
	size_t n = 0;

	if (!src->include)
		return;
	if (q.headers <= DEPTH_MAX && p->ast->n_headers++ < FILES_MAX)
		text = src->include(src->include_ctx, p->header, name, quoted, &n, &path);
	if (!text && !p->lex.pinned && !is_system(name)) {
		lang_error(p->d, pos, len, "there is no header '%s'", name);
		lang_hint(p->d, "-I DIR names the directory it is in");
	}
	if (!text) {
		free(path);
		return;
	}
	q.header = path;
	lex_init(&q.lex, text, (uint32_t)n, p->arena, &d);
	q.lex.pinned = true;
	q.lex.pin = p->lex.pinned ? p->lex.pin : pos;
	q.lex.pin_len = p->lex.pinned ? p->lex.pin_len : len;
	q.lex.include = header_include;
	q.lex.include_ctx = &q;
	/* What is defined is defined for all. */
	memcpy(&q.lex.defines, &p->lex.defines, sizeof(q.lex.defines));
	q.lex.by_name = p->lex.by_name;
	parse_advance(&q);
	header_definitions(&q);
	memcpy(&p->lex.defines, &q.lex.defines, sizeof(q.lex.defines));
	p->lex.by_name = q.lex.by_name;
	memset(&q.lex.defines, 0, sizeof(q.lex.defines));
	q.lex.by_name = (struct map){ 0 };
	lex_free(&q.lex);
	lang_diags_free(&d);
	free(path);
}

void parse_headers(struct parser *p)
{
	p->lex.include = header_include;
	p->lex.include_ctx = p;
	for (size_t i = 0; i < p->src->n_headers; i++)
		header_include(p, p->src->headers[i], true, 0, 0);
}
