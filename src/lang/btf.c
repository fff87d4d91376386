/* SPDX-License-Identifier: MIT */
/* BTF of a program: its functions and source lines, which the verifier quotes when it refuses. */
#include <linux/btf.h>
#include <string.h>

#include "lang/lang.h"

struct maker {
	struct strbuf types, strings;
	uint32_t n;
};

static uint32_t lang_btf_text(struct maker *m, const char *s, size_t n)
{
	uint32_t at = (uint32_t)m->strings.n;

	strbuf_add(&m->strings, s, n);
	strbuf_putc(&m->strings, '\0');
	return at;
}

static uint32_t lang_btf_type(struct maker *m, uint32_t name, unsigned kind, unsigned vlen,
			      uint32_t size, const void *more, size_t n)
{
	struct btf_type t = { .name_off = name, .info = kind << 24 | vlen, .size = size };

	strbuf_add(&m->types, (const char *)&t, sizeof(t));
	if (n)
		strbuf_add(&m->types, more, n);
	return ++m->n;
}

static void btf_lines(const struct lang_program *p, const struct lang_code *c, struct maker *m,
		      struct lang_btf *ret)
{
	uint32_t file = lang_btf_text(m, p->source_name, strlen(p->source_name)), last_off = 0;
	unsigned last_line = 0;
	VEC(struct bpf_line_info) v = { 0 };

	for (size_t i = 0; i < c->n_lines; i++) {
		unsigned line, column;
		bool first = i == 0;

		for (size_t k = 0; k < c->n_funcs; k++)
			first |= c->func[k] == c->line[i].insn;
		lang_place(p->source, p->source_n, c->line[i].pos, &line, &column);
		if (line != last_line || !last_off) {
			size_t start = c->line[i].pos - (column - 1), n = 0;

			while (start + n < p->source_n && p->source[start + n] != '\n' && n < 200)
				n++;
			last_off = lang_btf_text(m, p->source + start, n);
		} else if (!first && v.n &&
			   BPF_LINE_INFO_LINE_COL(v.data[v.n - 1].line_col) == column) {
			continue;
		}
		last_line = line;
		vec_push(&v, (struct bpf_line_info){ .insn_off = c->line[i].insn,
						     .file_name_off = file,
						     .line_off = last_off,
						     .line_col = line << 10 | (column & 1023) });
	}
	/* Every function must begin with a line. */
	for (size_t k = 0; k < c->n_funcs; k++) {
		bool have = false;

		vec_each (&v, it)
			have |= it->insn_off == c->func[k];
		if (!have) {
			size_t at = 0;

			while (at < v.n && v.data[at].insn_off < c->func[k])
				at++;
			vec_push(&v, (struct bpf_line_info){ 0 });
			memmove(&v.data[at + 1], &v.data[at], (v.n - 1 - at) * sizeof(*v.data));
			v.data[at] = (struct bpf_line_info){ .insn_off = c->func[k],
							     .file_name_off = file,
							     .line_off = last_off,
							     .line_col = 1 << 10 };
		}
	}
	ret->line = v.data;
	ret->n_line = v.n;
}

static const struct lang_sub *sub_at(const struct lang_code *c, uint32_t at)
{
	for (size_t i = 0; i < c->n_subs; i++)
		if (c->sub[i].at == at)
			return &c->sub[i];
	return NULL;
}

/* A function with arguments of its own: numbers, and pointers to so many bytes. */
static uint32_t lang_btf_prototype(struct maker *m, const struct lang_sub *s, uint32_t i32,
				   uint32_t i64)
{
	struct btf_param params[LANG_SUB_ARGS] = { 0 };

	for (unsigned i = 0; i < s->n; i++) {
		uint32_t t = s->arg[i] <= 4 ? i32 : i64;

		if (s->arg[i] > 8) {
			t = lang_btf_type(m, lang_btf_text(m, "memory", 6), BTF_KIND_STRUCT, 0,
					  s->arg[i], NULL, 0);
			t = lang_btf_type(m, 0, BTF_KIND_PTR, 0, t, NULL, 0);
		}
		params[i] = (struct btf_param){ .name_off = lang_btf_text(m, "a", 1), .type = t };
	}
	return lang_btf_type(m, 0, BTF_KIND_FUNC_PROTO, s->n, i32, params,
			     s->n * sizeof(params[0]));
}

void lang_btf_make(const struct lang_program *p, const struct lang_code *c, struct lang_btf *ret)
{
	struct btf_param params[4] = { 0 };
	struct btf_header h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(h) };
	struct maker m = { 0 };
	uint32_t info = BTF_INT_SIGNED << 24 | 64, info32 = BTF_INT_SIGNED << 24 | 32, i32, i64;
	uint32_t proto, arg;
	struct strbuf out = { 0 };

	*ret = (struct lang_btf){ 0 };
	strbuf_putc(&m.strings, '\0');
	i64 = lang_btf_type(&m, lang_btf_text(&m, "long", 4), BTF_KIND_INT, 0, 8, &info,
			    sizeof(info));
	i32 = lang_btf_type(&m, lang_btf_text(&m, "int", 3), BTF_KIND_INT, 0, 4, &info32,
			    sizeof(info32));
	arg = lang_btf_text(&m, "a", 1);
	for (int i = 0; i < 4; i++)
		params[i] = (struct btf_param){ .name_off = arg, .type = i64 };
	ret->func = mem_alloc(c->n_funcs * sizeof(*ret->func));
	ret->n_func = c->n_funcs;
	for (size_t i = 0; i < c->n_funcs; i++) {
		AUTO_FREE char *name = mem_printf("%s%zu", i ? "loop_" : "probe_", i);
		const struct lang_sub *sub = sub_at(c, c->func[i]);
		unsigned n = i ? 4 : 1;

		if (sub && sub->global)
			proto = lang_btf_prototype(&m, sub, i32, i64);
		else
			proto = lang_btf_type(&m, 0, BTF_KIND_FUNC_PROTO, n, i64, params,
					      n * sizeof(params[0]));
		ret->func[i] = (struct bpf_func_info){
			.insn_off = c->func[i],
			.type_id = lang_btf_type(
				&m, lang_btf_text(&m, name, strlen(name)), BTF_KIND_FUNC,
				sub && sub->global ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC, proto, NULL,
				0)
		};
	}
	btf_lines(p, c, &m, ret);
	h.type_len = (uint32_t)m.types.n;
	h.str_off = h.type_len;
	h.str_len = (uint32_t)m.strings.n;
	strbuf_add(&out, (const char *)&h, sizeof(h));
	strbuf_add(&out, m.types.data, m.types.n);
	strbuf_add(&out, m.strings.data, m.strings.n);
	ret->data = out.data;
	ret->size = out.n;
	strbuf_free(&m.types);
	strbuf_free(&m.strings);
}

void lang_btf_free(struct lang_btf *b)
{
	free(b->data);
	free(b->func);
	free(b->line);
}
