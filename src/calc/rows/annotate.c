/* SPDX-License-Identifier: MIT */
#include "calc/rows/annotate.h"

#include <string.h>

#include "sym/disasm/kcode.h"
#include "sym/unwind/ehframe.h"

#define SIZE_LIMIT (16u << 20) /* of one function; more is a broken symbol */

/* What is known of the function, in two sorts of addresses: as symbols are asked for, and as the
 * file's own. */
struct place {
	uint32_t dso;	     /* of symbols */
	uint64_t start, end; /* as symbols are asked for */
	uint64_t vaddr;	     /* of start */
	bool unnamed;	     /* only its bounds are known */
	uint16_t machine;
	bool big_endian;
	const uint8_t *bytes;
	size_t n;
};

static const struct name_site *site_in(const struct names *n, uint32_t frame)
{
	for (size_t i = 0; i < n->sites.n; i++)
		if (n->sites.data[i].frame == frame && n->sites.data[i].sym)
			return &n->sites.data[i];
	return NULL;
}

/* A stripped file has no symbols, but its unwinding tables tell functions apart. */
static int find_unnamed(const struct names *n, const struct name_frame *f,
			const struct name_site *s, struct place *p, struct err *e)
{
	const struct elf *elf =
		s && s->mode == EVENT_MODE_USER ? symbols_elf(n->symbols, p->dso) : NULL;
	struct ehframe *frames = NULL;
	uint64_t start, end;
	bool found = elf && ehframe_open_mem(elf->data, elf->size, 0, &frames, e) == 0 &&
		     ehframe_function(frames, s->sym->vaddr, &start, &end);

	ehframe_close(frames);
	if (!found) {
		err_set(e, ENOENT, "unnamed code of %s belongs to no known function",
			names_dso(n, f->dso));
		return err_hint(e, "a file with symbols (not stripped, or its debug file) is "
				   "needed to know where its functions begin");
	}
	p->vaddr = start;
	p->start = s->dso_addr - s->caller - (s->sym->vaddr - start);
	p->end = p->start + (end - start);
	return 0;
}

static int find_place(const struct names *n, uint32_t frame, struct place *p, struct err *e)
{
	const struct name_frame *f = &n->frames.data[frame];
	const struct name_site *s = site_in(n, frame);
	int r = 0;

	p->unnamed = f->name == SYMBOLS_NONE;
	if (s)
		p->dso = names_file(n, s->dso, s->mode);
	if (p->unnamed) {
		r = find_unnamed(n, f, s, p, e);
	} else if (!s) {
		r = err_set(e, ENOENT, "no sample in that function");
	} else {
		p->start = s->sym->start;
		p->end = s->sym->end;
		p->vaddr = s->sym->vaddr - (s->dso_addr - s->caller - p->start);
	}
	if (r == 0 && (p->end <= p->start || p->end - p->start > SIZE_LIMIT))
		return err_set(e, EINVAL, "the size of %s makes no sense: %llu bytes",
			       p->unnamed ? "a function" : symbols_text(n->symbols, f->name),
			       (unsigned long long)(p->end - p->start));
	return r;
}

/* The function that an inlined one was compiled into, at one of its places; itself for others. */
static uint32_t outer_frame(const struct names *n, uint32_t frame, uint64_t start)
{
	const struct name_frame *f = &n->frames.data[frame];

	for (uint32_t i = 0; f->inlined && i < n->frames.n; i++) {
		const struct name_frame *o = &n->frames.data[i];

		if (!o->inlined && o->name != SYMBOLS_NONE && o->addr == start &&
		    o->dso == f->dso && o->mode == f->mode)
			return i;
	}
	return frame;
}

/* A debug file has the addresses, but where code should be it has nothing. */
static bool only_debug(const struct elf *elf, uint64_t vaddr)
{
	for (size_t i = 1; i < elf->nsection; i++) {
		const struct elf_section *s = &elf->section[i];

		if ((s->flags & SHF_EXECINSTR) && vaddr - s->addr < s->size)
			return s->type == SHT_NOBITS;
	}
	return false;
}

static int user_code(const struct names *n, uint32_t frame, struct place *p, const char **file,
		     struct err *e)
{
	const char *dso = names_dso(n, n->frames.data[frame].dso);
	const struct elf *elf = symbols_elf(n->symbols, p->dso);

	if (!elf) {
		struct symbols_status st = symbols_status(n->symbols, p->dso);

		err_set(e, ENOENT, "the code of %s is not here: %s", dso,
			st.why && *st.why ? st.why : "it was made at run time");
		return err_hint(e, "--symfs DIR looks for files below DIR");
	}
	p->bytes = elf_bytes(elf, p->vaddr, &p->n);
	if (!p->n || only_debug(elf, p->vaddr)) {
		err_set(e, ENOENT, "only the debug file of %s was found, which has no code", dso);
		return err_hint(e, "put the program itself below a folder and give --symfs DIR");
	}
	p->machine = elf->machine;
	p->big_endian = elf->data[EI_DATA] == ELFDATA2MSB;
	*file = elf->path;
	return 0;
}

static int kernel_code(const struct names *n, const struct annotate_opts *o, struct place *p,
		       struct annotate *a, struct err *e)
{
	const struct trace *t = n->profile->trace;
	const struct task_map *map = tasks_find(t->tasks, TASK_SPACE_KERNEL, p->start);
	struct kcode_want want = { .vmlinux = o->vmlinux,
				   .symfs = o->symfs,
				   .archive = t->files,
				   .release = t->info.os_release,
				   .text = tasks_kernel_start(t->tasks) };
	struct kcode *k = NULL;
	int r;

	for (uint32_t i = 0; i < tasks_n_dsos(t->tasks); i++) {
		const struct task_dso *d = tasks_get_dso(t->tasks, i);

		if (!d->kernel || strcmp(tasks_dso_path(t->tasks, i), "[kernel.kallsyms]") != 0)
			continue;
		memcpy(want.id.data, d->build_id, d->build_id_size);
		want.id.len = d->build_id_size;
		want.module = map && map->dso != i;
		break;
	}
	r = kcode_open(&want, &k, e);
	if (r < 0)
		return r;
	a->copy = mem_alloc(p->end - p->start);
	r = kcode_read(k, p->start, a->copy, p->end - p->start, e);
	p->bytes = a->copy;
	p->n = r > 0 ? (size_t)r : 0;
	p->vaddr = p->start - k->slide;
	p->machine = k->machine;
	a->file = arena_strdup(&a->arena, k->path);
	kcode_close(k);
	return r < 0 ? r : 0;
}

static struct annotate_event *event_of(const struct annotate *a, uint32_t type)
{
	for (unsigned i = 0; i < a->n_more; i++)
		if (a->more[i].type == type)
			return &a->more[i];
	return NULL;
}

static void count_more(struct annotate_event *m, const struct profile_entry *e, int32_t insn)
{
	m->count += e->count;
	m->weight += e->weight;
	if (insn < 0)
		return;
	m->hits[insn].count += e->count;
	m->hits[insn].weight += e->weight;
}

/* The instruction an address of the file lies in; -1: none. */
static int32_t annotate_find(const struct annotate *a, uint64_t addr)
{
	size_t lo = 0, hi = a->insns.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct disasm_insn *in = &a->insns.data[mid].code;

		if (addr < in->addr)
			hi = mid;
		else if (addr - in->addr >= in->size)
			lo = mid + 1;
		else
			return (int32_t)mid;
	}
	return -1;
}

/* Those that the event leads. */
static void annotate_add_events(struct annotate *a, const uint32_t *leader)
{
	const struct profile *p = a->names->profile;

	a->more = arena_alloc(&a->arena, (p->trace->n_types + 1) * sizeof(*a->more));
	for (uint32_t i = 0; i < p->trace->n_types; i++)
		if (i != a->type && leader[i] == a->type)
			a->more[a->n_more++] = (struct annotate_event){
				.type = i,
				.all_count = p->total[i].count,
				.all_weight = p->total[i].weight,
				.hits = arena_alloc(&a->arena,
						    (a->insns.n + 1) * sizeof(struct annotate_hits))
			};
}

static bool is_inside(const struct place *p, const struct name_site *s)
{
	if (!s->sym)
		return false;
	if (p->unnamed)
		return s->sym->name == SYMBOLS_NONE && s->dso_addr >= p->start &&
		       s->dso_addr < p->end;
	return s->sym->name != SYMBOLS_NONE && s->sym->start == p->start;
}

static void annotate_count_samples(struct annotate *a, const struct place *p)
{
	const struct names *n = a->names;
	const struct name_frame *f = &n->frames.data[a->frame];
	const struct profile *prof = n->profile;

	for (size_t i = 0; i < prof->entries.n; i++) {
		const struct profile_entry *e = &prof->entries.data[i];
		const struct name_site *s = &n->sites.data[n->entry_site[i]];
		int32_t at;

		/* by place, not by frame: code that was inlined belongs to the function too */
		if ((e->type != a->type && !event_of(a, e->type)) || !is_inside(p, s) ||
		    s->dso != f->dso || s->mode != f->mode)
			continue;
		at = annotate_find(a, p->vaddr + (s->dso_addr - p->start));
		if (e->type != a->type) {
			count_more(event_of(a, e->type), e, a->insns.data ? at : -1);
			continue;
		}
		a->count += e->count;
		a->weight += e->weight;
		if (at < 0 || !a->insns.data)
			continue;
		a->insns.data[at].count += e->count;
		a->insns.data[at].weight += e->weight;
	}
}

/* Lines of all instructions, and names of all they call. */
static void ask_symbols(struct annotate *a, const struct place *p, bool lines)
{
	size_t n = a->insns.n, calls = 0;
	AUTO_FREE struct sym_query *q = mem_alloc((n + 1) * sizeof(*q));
	AUTO_FREE uint32_t *of = mem_alloc((n + 1) * sizeof(*of));

	if (lines) {
		for (size_t i = 0; i < n; i++)
			q[i] = (struct sym_query){ .dso = p->dso,
						   .addr = p->start + (a->insns.data[i].code.addr -
								       p->vaddr) };
		symbols_resolve_many(a->names->symbols, q, n, SYMBOLS_NAMES | SYMBOLS_LINES);
		for (size_t i = 0; i < n; i++) {
			const struct sym_result *s = a->insns.data[i].sym = q[i].result;

			a->has_lines =
				a->has_lines || (s->nframes && s->frames[0].file != SYMBOLS_NONE);
		}
	}
	for (size_t i = 0; i < n; i++) {
		const struct annotate_insn *in = &a->insns.data[i];

		if (!in->code.has_target)
			continue;
		q[calls] = (struct sym_query){ .dso = p->dso,
					       .addr = p->start + (in->code.target - p->vaddr) };
		of[calls++] = (uint32_t)i;
	}
	symbols_resolve_many(a->names->symbols, q, calls, SYMBOLS_NAMES);
	for (size_t i = 0; i < calls; i++) {
		const struct sym_result *s = q[i].result;

		if (!s || s->name == SYMBOLS_NONE)
			continue;
		a->insns.data[of[i]].target_name = symbols_text(a->names->symbols, s->name);
		a->insns.data[of[i]].target_offset = q[i].addr - s->start;
	}
}

static int disassemble(struct annotate *a, const struct place *p, bool intel, struct err *e)
{
	struct disasm_code code = { .machine = p->machine,
				    .big_endian = p->big_endian,
				    .addr = p->vaddr,
				    .bytes = p->bytes,
				    .n = p->n,
				    .intel = intel };
	disasm_list list = { 0 };
	int r;

	if (code.n > p->end - p->start)
		code.n = p->end - p->start;
	r = disasm(&code, &a->arena, &list, e);
	vec_reserve(&a->insns, list.n + 1);
	for (size_t i = 0; i < list.n; i++)
		vec_push(&a->insns, (struct annotate_insn){ .code = list.data[i], .target = -1 });
	vec_free(&list);
	for (size_t i = 0; i < a->insns.n; i++) {
		struct annotate_insn *in = &a->insns.data[i];

		if (in->code.has_target &&
		    (in->code.flow == DISASM_JUMP || in->code.flow == DISASM_BRANCH))
			in->target = annotate_find(a, in->code.target);
	}
	return r;
}

int annotate_make(const struct names *n, uint32_t frame, const struct annotate_opts *o,
		  struct annotate *ret, struct err *e)
{
	const struct profile_total *total = &n->profile->total[o->type];
	struct annotate a = { .names = n,
			      .frame = frame,
			      .type = o->type,
			      .all_count = total->count,
			      .all_weight = total->weight };
	struct place p = { 0 };
	int r = find_place(n, frame, &p, e);

	if (r == 0)
		a.frame = frame = outer_frame(n, frame, p.start);
	if (r == 0)
		r = n->frames.data[frame].mode == EVENT_MODE_KERNEL
			    ? kernel_code(n, o, &p, &a, e)
			    : user_code(n, frame, &p, &a.file, e);
	if (r == 0)
		r = disassemble(&a, &p, o->intel, e);
	if (r < 0) {
		annotate_free(&a);
		return r;
	}
	a.start = p.vaddr;
	a.end = p.vaddr + (p.end - p.start);
	a.function = p.unnamed ? arena_printf(&a.arena, "%#llx", (unsigned long long)a.start)
			       : names_function(n, frame);
	if (o->leader)
		annotate_add_events(&a, o->leader);
	annotate_count_samples(&a, &p);
	ask_symbols(&a, &p, !o->no_lines);
	*ret = a;
	return 0;
}

void annotate_free(struct annotate *a)
{
	vec_free(&a->insns);
	free(a->copy);
	arena_free(&a->arena);
}

static double percent_of(enum annotate_percent kind, struct annotate_hits part,
			 struct annotate_hits local, struct annotate_hits all)
{
	bool hits = kind == ANNOTATE_LOCAL_HITS || kind == ANNOTATE_GLOBAL_HITS;
	bool global = kind == ANNOTATE_GLOBAL_PERIOD || kind == ANNOTATE_GLOBAL_HITS;
	struct annotate_hits of = global ? all : local;
	uint64_t whole = hits ? of.count : of.weight;

	return profile_percent(hits ? part.count : part.weight, whole);
}

double annotate_percent_more(const struct annotate *a, unsigned event, size_t insn,
			     enum annotate_percent kind)
{
	const struct annotate_event *m = &a->more[event];

	return percent_of(kind, m->hits[insn], (struct annotate_hits){ m->count, m->weight },
			  (struct annotate_hits){ m->all_count, m->all_weight });
}

double annotate_percent(const struct annotate *a, const struct annotate_insn *i,
			enum annotate_percent kind)
{
	return percent_of(kind, (struct annotate_hits){ i->count, i->weight },
			  (struct annotate_hits){ a->count, a->weight },
			  (struct annotate_hits){ a->all_count, a->all_weight });
}

const char *annotate_args(const struct annotate *a, const struct annotate_insn *i, char *buf,
			  size_t size)
{
	const struct disasm_insn *c = &i->code;
	/* what is merely named stands behind the operands as a remark */
	const char *mark = c->flow == DISASM_NEXT ? "        # " : "";

	if (!c->has_target)
		snprintf(buf, size, "%s", c->args);
	else if (!i->target_name)
		snprintf(buf, size, "%s%s%llx", c->args, mark, (unsigned long long)c->target);
	else if (!i->target_offset)
		snprintf(buf, size, "%s%s%llx <%s>", c->args, mark, (unsigned long long)c->target,
			 i->target_name);
	else
		snprintf(buf, size, "%s%s%llx <%s+%#llx>", c->args, mark,
			 (unsigned long long)c->target, i->target_name,
			 (unsigned long long)i->target_offset);
	return buf;
}
