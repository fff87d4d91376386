/* SPDX-License-Identifier: MIT */
#include "sym/kallsyms.h"

#include <string.h>

#include "base/file.h"

/* A kernel has about 10 MB of it; debug kernels with everything built in several times that. */
#define TEXT_MAX (512u << 20)
#define LINE_LIKELY 40 /* bytes: an address, a type, and a name */

/* perf's choice: code, weak symbols, initialised and other data. */
static bool type_wanted(char type)
{
	switch (type | 0x20) {
	case 't':
	case 'w':
	case 'd':
	case 'b': return true;
	default: return false;
	}
}

static const uint8_t digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

struct line {
	uint64_t addr;
	char type;
	char *name;
	char *module; /* NULL: none */
	size_t module_len;
};

/* "ffffffff81000000 T _text" or "ffffffffc0000000 t init\t[module]"; end is the newline. */
static bool parse_line(char *p, char *end, struct line *l)
{
	char *start = p, *stop = end;

	l->addr = 0;
	for (; digits[(uint8_t)*p]; p++)
		l->addr = l->addr << 4 | (digits[(uint8_t)*p] - 1u);
	if (p == start || p - start > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p + 3;
	l->module = NULL;
	if (stop[-1] == '\r')
		stop--;
	if (stop[-1] == ']') {
		char *open = memrchr(l->name, '[', (size_t)(stop - l->name));

		if (open && open > l->name && (open[-1] == '\t' || open[-1] == ' ')) {
			l->module = open + 1;
			l->module_len = (size_t)(stop - 1 - l->module);
			stop = open;
		}
	}
	while (stop > l->name && (stop[-1] == ' ' || stop[-1] == '\t'))
		stop--;
	if (stop == l->name)
		return false;
	*stop = 0;
	return true;
}

/* Neighbours are mostly of one module: ask the table only where it changes. */
static uint16_t module_id(struct kallsyms *k, const struct line *l, uint16_t last)
{
	const char *name = strtab_get(&k->modules, last);
	uint32_t id;

	if (!l->module)
		return 0;
	if (strncmp(name, l->module, l->module_len) == 0 && !name[l->module_len])
		return last;
	id = strtab_addn(&k->modules, l->module, l->module_len);
	return id < UINT16_MAX ? (uint16_t)id : 0;
}

/* Names move up to *to, over what stood before them: half of the text is not names. */
static void add_line(struct kallsyms *k, const struct line *l, uint16_t *module, char **to)
{
	bool upper = l->type >= 'A' && l->type <= 'Z';
	char lower = (char)(l->type | 0x20), *name;

	if (!type_wanted(l->type) || l->name[0] == '$')
		return;
	*module = module_id(k, l, *module);
	name = *to;
	*to = name + strlen(l->name) + 1;
	memmove(name, l->name, (size_t)(*to - name));
	symtab_add(&k->tab, (struct symtab_sym){
				    .start = l->addr,
				    .end = l->addr,
				    .name = name,
				    .module = *module,
				    .bind = lower == 'w' ? STB_WEAK
					    : upper	 ? STB_GLOBAL
							 : STB_LOCAL,
				    .type = lower == 't' || lower == 'w' ? STT_FUNC : STT_OBJECT,
			    });
}

int kallsyms_parse(struct kallsyms *k, char *text, size_t len, struct err *e)
{
	char *p = text, *last = text + len, *to = text;
	uint64_t seen = 0;
	uint16_t module = 0;

	*k = (struct kallsyms){ .text = text };
	strtab_add(&k->modules, "");
	symtab_reserve(&k->tab, len / LINE_LIKELY);
	*last = '\n';
	while (p < last) {
		char *end = rawmemchr(p, '\n');
		struct line l;

		if (end == p)
			;
		else if (!parse_line(p, end, &l))
			k->bad_lines++;
		else {
			seen |= l.addr;
			add_line(k, &l, &module, &to);
		}
		p = end + 1;
	}
	if (k->tab.n && !seen) {
		kallsyms_free(k);
		k->hidden = true;
		err_set(e, EPERM, "the kernel hides the addresses of its symbols (kptr_restrict)");
		return err_hint(e, "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=-1, "
				   "or run as root");
	}
	if (!k->tab.n) {
		kallsyms_free(k);
		return err_set(e, ENOENT, "no kernel symbols in that text");
	}
	mem_drop(to, (size_t)(last - to));
	symtab_finish(&k->tab);
	symtab_fit(&k->tab);
	return 0;
}

int kallsyms_load(struct kallsyms *k, const char *path, struct err *e)
{
	char *text;
	size_t len;
	int r = file_read(path, TEXT_MAX, &text, &len);

	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	return kallsyms_parse(k, text, len, e);
}

void kallsyms_free(struct kallsyms *k)
{
	symtab_free(&k->tab);
	strtab_free(&k->modules);
	free(k->text);
	*k = (struct kallsyms){ 0 };
}

const struct symtab_sym *kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **module)
{
	const struct symtab_sym *s = symtab_find(&k->tab, addr);

	*module = s ? strtab_get(&k->modules, s->module) : "";
	return s;
}
