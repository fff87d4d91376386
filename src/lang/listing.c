/* SPDX-License-Identifier: MIT */
/* Trees and instructions as text, for -d. */
#include <string.h>

#include "lang/ast.h"
#include "lang/gen/ir.h"

uint32_t lang_code_pos(const struct lang_code *c, uint32_t insn)
{
	uint32_t pos = 0;

	for (size_t i = 0; i < c->n_lines && c->line[i].insn <= insn; i++)
		pos = c->line[i].pos;
	return pos;
}

static const char *const alu_ops[16] = { "+=",	"-=",  "*=", "/=", "|=", "&=",	 "<<=",
					 ">>=", "neg", "%=", "^=", "=",	 "s>>=", "end" };
static const char *const jmp_ops[16] = { "goto", "==",	 ">", ">=", "&",  "!=",	 "s>",	    "s>=",
					 "call", "exit", "<", "<=", "s<", "s<=", "may_goto" };
static const char *const sizes[4] = { "u32", "u16", "u8", "u64" };

const char *list_helper_name(int helper)
{
#define NAME(x) [BPF_FUNC_##x] = #x
	static const char *const names[] = { __BPF_FUNC_MAPPER(NAME) };
#undef NAME

	if (helper == LANG_CALL_WALK)
		return "the stack walker";
	/* cppcheck-suppress arrayIndexOutOfBoundsCond ; it does not see the kernel's list */
	return helper > 0 && (size_t)helper < ARRAY_SIZE(names) ? names[helper] : NULL;
}

void list_helper(struct strbuf *b, int helper)
{
	const char *name = list_helper_name(helper);

	if (name)
		strbuf_puts(b, name);
	else
		strbuf_printf(b, "%d", helper);
}

static const char *map_name(const struct lang_program *p, int map)
{
	static const char *const own[LANG_MAP_FIXED] = {
		[LANG_MAP_RING] = "(ring)",	    [LANG_MAP_CONTROL] = "(control ring)",
		[LANG_MAP_COUNTERS] = "(counters)", [LANG_MAP_SCRATCH] = "(scratch)",
		[LANG_MAP_STACKS] = "(stacks)",	    [LANG_MAP_INFO] = "(info)",
	};

	if (map >= 0 && map < LANG_MAP_FIXED)
		return own[map];
	return (size_t)map < p->maps.n && p->maps.data[map].name ? p->maps.data[map].name : "(own)";
}

static void list_insn(const struct lang_program *p, const struct bpf_insn *i, uint32_t at,
		      struct strbuf *b)
{
	unsigned op = i->code >> 4, class = i->code & 7;

	strbuf_printf(b, "%5u: ", at);
	switch (class) {
	case BPF_LD: {
		uint64_t v = (uint32_t)i->imm | (uint64_t)(uint32_t)i[1].imm << 32;

		if (i->src_reg == BPF_PSEUDO_MAP_FD)
			strbuf_printf(b, "r%u = map %s", i->dst_reg, map_name(p, i->imm));
		else if (i->src_reg == BPF_PSEUDO_FUNC)
			strbuf_printf(b, "r%u = function at %d", i->dst_reg, (int)at + i->imm + 1);
		else
			strbuf_printf(b, "r%u = %#llx", i->dst_reg, (unsigned long long)v);
		break;
	}
	case BPF_LDX:
		strbuf_printf(b, "r%u = *(%s *)(r%u %+d)", i->dst_reg, sizes[(i->code >> 3) & 3],
			      i->src_reg, i->off);
		break;
	case BPF_ST:
		strbuf_printf(b, "*(%s *)(r%u %+d) = %d", sizes[(i->code >> 3) & 3], i->dst_reg,
			      i->off, i->imm);
		break;
	case BPF_STX:
		strbuf_printf(b, "%s*(%s *)(r%u %+d) %s r%u",
			      (i->code & 0xe0) == 0xc0 ? "lock " : "", sizes[(i->code >> 3) & 3],
			      i->dst_reg, i->off, (i->code & 0xe0) == 0xc0 ? "+=" : "=",
			      i->src_reg);
		break;
	case BPF_ALU:
	case BPF_ALU64:
		if (op == BPF_NEG >> 4)
			strbuf_printf(b, "r%u = -r%u", i->dst_reg, i->dst_reg);
		else if (op == BPF_END >> 4)
			strbuf_printf(b, "r%u = be%d r%u", i->dst_reg, i->imm, i->dst_reg);
		else if (i->code & BPF_X)
			strbuf_printf(b, "r%u %s r%u", i->dst_reg, alu_ops[op], i->src_reg);
		else
			strbuf_printf(b, "r%u %s %d", i->dst_reg, alu_ops[op], i->imm);
		break;
	default:
		if (op == 0 || op == 14)
			strbuf_printf(b, "%s %d", jmp_ops[op], (int)at + i->off + 1);
		else if (op == BPF_CALL >> 4) {
			strbuf_puts(b, "call ");
			list_helper(b, i->src_reg == BPF_PSEUDO_CALL ? LANG_CALL_WALK : i->imm);
		} else if (op == BPF_EXIT >> 4)
			strbuf_puts(b, "exit");
		else if (i->code & BPF_X)
			strbuf_printf(b, "if r%u %s r%u goto %d", i->dst_reg, jmp_ops[op],
				      i->src_reg, (int)at + i->off + 1);
		else
			strbuf_printf(b, "if r%u %s %d goto %d", i->dst_reg, jmp_ops[op], i->imm,
				      (int)at + i->off + 1);
	}
	strbuf_putc(b, '\n');
}

void lang_list_code(const struct lang_program *p, const struct lang_code *c, struct strbuf *b)
{
	size_t l = 0;
	unsigned last = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		unsigned line, column;

		for (size_t k = 1; k < c->n_funcs; k++)
			if (c->func[k] == i)
				strbuf_puts(b, "loop:\n");
		while (l < c->n_lines && c->line[l].insn <= i) {
			lang_place(p->source, p->source_n, c->line[l].pos, &line, &column);
			if (line * 4096 + column != last) {
				uint32_t pos = c->line[l].pos;
				size_t n = 0;

				while (pos + n < p->source_n && n < 60 &&
				       !strchr("\n;{", p->source[pos + n]))
					n++;
				strbuf_printf(b, "; %u:%u %.*s\n", line, column, (int)n,
					      p->source + pos);
			}
			last = line * 4096 + column;
			l++;
		}
		list_insn(p, &c->insn[i], i, b);
		if (c->insn[i].code == (BPF_LD | BPF_DW | BPF_IMM))
			i++;
	}
}

/* How a node is written: a, b and c are its parts, s its text, o its operator, v its number. */
static const char *const forms[] = {
	[N_INT] = "v",	   [N_PARAM] = "$v",	   [N_STR] = "\"s\"",	    [N_VAR] = "s",
	[N_IDENT] = "s",   [N_BIN] = "(a o b)",	   [N_ASSIGN] = "(a o= b)", [N_UN] = "oa",
	[N_INCDEC] = "oa", [N_TERN] = "a ? b : c", [N_FIELD] = "a.s",	    [N_INDEX] = "a[b]",
};

static void ast_expr_text(const struct node *n, struct strbuf *b);

static void list_text(const struct node *n, struct strbuf *b)
{
	strbuf_puts(b, n->s ? n->s : "");
	if (n->kind == N_MAP && !n->n)
		return;
	strbuf_putc(b, n->kind == N_MAP ? '[' : '(');
	for (size_t i = 0; i < n->n; i++) {
		strbuf_puts(b, i ? ", " : "");
		ast_expr_text(n->list[i], b);
	}
	strbuf_putc(b, n->kind == N_MAP ? ']' : ')');
}

static void ast_expr_text(const struct node *n, struct strbuf *b)
{
	const char *form = n->kind < ARRAY_SIZE(forms) ? forms[n->kind] : NULL;
	char buf[16];

	if (n->kind == N_MAP || n->kind == N_CALL || n->kind == N_TUPLE)
		list_text(n, b);
	else if (n->kind == N_CAST)
		strbuf_printf(b, "(%s%.*s)", n->ctype->name, (int)n->ctype->stars, "********");
	else if (!form)
		strbuf_puts(b, "...");
	if (n->kind == N_CAST)
		form = "a";
	for (; form && *form; form++)
		switch (*form) {
		case 'a':
		case 'b':
		case 'c': ast_expr_text(node_part(n, (size_t)(*form - 'a')), b); break;
		case 's': strbuf_puts(b, n->s); break;
		case 'v': strbuf_printf(b, "%lld", (long long)n->v); break;
		case 'o': strbuf_puts(b, lex_name(n->op, buf, sizeof(buf))); break;
		case '.': strbuf_puts(b, n->arrow ? "->" : "."); break;
		case '=': strbuf_puts(b, n->op == '=' ? "" : "="); break;
		default: strbuf_putc(b, *form);
		}
}

static void dump_stmt(const struct node *n, unsigned depth, struct strbuf *b)
{
	static const char *const names[] = { [N_EXPR] = "expr",	    [N_IF] = "if",
					     [N_WHILE] = "while",   [N_UNROLL] = "unroll",
					     [N_FOR_MAP] = "for",   [N_FOR_RANGE] = "for",
					     [N_BREAK] = "break",   [N_CONTINUE] = "continue",
					     [N_RETURN] = "return", [N_LET] = "let",
					     [N_BLOCK] = "block",   [N_ASSIGN] = "set" };

	strbuf_printf(b, "%*s%s ", (int)depth * 2, "",
		      n->kind < ARRAY_SIZE(names) && names[n->kind] ? names[n->kind] : "?");
	if (n->kind == N_ASSIGN || n->a)
		ast_expr_text(n->kind == N_ASSIGN ? n : n->a, b);
	if ((n->kind == N_FOR_MAP || n->kind == N_FOR_RANGE || n->kind == N_LET) && n->b) {
		strbuf_puts(b, " : ");
		ast_expr_text(n->b, b);
	}
	strbuf_putc(b, '\n');
	for (size_t i = 1; i < 3; i++)
		if ((n->kind == N_IF || n->kind == N_WHILE || n->kind == N_UNROLL) &&
		    node_part(n, i))
			dump_stmt(node_part(n, i), depth + 1, b);
	if (n->kind == N_BLOCK || n->kind == N_FOR_MAP || n->kind == N_FOR_RANGE)
		for (size_t i = 0; i < n->n; i++)
			dump_stmt(n->list[i], depth + 1, b);
}

void ast_dump(const struct ast *t, struct strbuf *b)
{
	vec_each (&t->blocks, it) {
		for (size_t i = 0; i < it->n_patterns; i++)
			strbuf_printf(b, "%s%s", i ? ", " : "", it->pattern[i].text);
		if (it->pred) {
			strbuf_puts(b, " /");
			ast_expr_text(it->pred, b);
			strbuf_putc(b, '/');
		}
		strbuf_putc(b, '\n');
		dump_stmt(it->body, 1, b);
	}
}
