/* SPDX-License-Identifier: MIT */
/* Samples the program could not finish, with a copy of their stack, unwound here once the tables
 * are there. */
#include "kern/cpu.h"
#include "live/walk/walker_priv.h"

#include <elf.h>
#include <string.h>

#define WAIT_NS 1000000000u    /* no sample waits longer for a table */
#define WAIT_MAP_NS 250000000u /* nor so long for the record of a mapping */
#define REST_NS 300000000u     /* between two times that tables' memory is given back */
#define COPIED_MAX 4096	       /* that wait at once */

/* What a process had mapped before it became another program. */
struct walker_image {
	struct walker_proc proc; /* only its maps */
	size_t refs;
};

struct walker_copied {
	struct walker_copied *next;
	struct walker_image *image; /* NULL: what it has mapped now */
	uint64_t since;		    /* when it came here */
	struct walk_sample s;
	uint64_t chain[WALK_DEPTH + WALK_KERNEL];
	struct walk_regs regs;
	uint8_t stack[];
};

static void walker_copy_append(struct walker *w, struct walker_copied *c)
{
	c->next = NULL;
	c->image = NULL;
	if (!w->copied_end)
		w->copied_end = &w->copied;
	*w->copied_end = c;
	w->copied_end = &c->next;
	w->n_copied++;
	w->stats.copies++;
	/* On a busy machine we may come late to it: what maps its code is still to be read then. */
	c->since = loop_now();
}

void walker_copy_add(struct walker *w, const struct walk_sample *s, size_t size)
{
	struct walker_copied *c = mem_grow(NULL, sizeof(*c) + s->copy);

	/* The record has the same layout from s on; size was checked against it. */
	memcpy(&c->s, s, size);
	walker_copy_append(w, c);
}

uint64_t walker_mark(const struct unwind_regs *r)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < (r->machine == EM_X86_64 ? 17 : 33); i++)
		h = walk_mix(h, r->r[i]);
	return h;
}

void walker_copy(struct walker *w, const struct walker_stack *s)
{
	size_t size = s->size < WALK_COPY ? s->size : WALK_COPY;
	struct walker_copied *c = mem_grow(NULL, sizeof(*c) + size);

	c->s = (struct walk_sample){ .time = s->time,
				     .pid = (uint32_t)s->pid,
				     .tid = (uint32_t)s->tid,
				     .event = WALK_HIT,
				     .end = UNWIND_PENDING,
				     .copy = (uint32_t)size };
	memcpy(c->regs.r, s->regs->r, sizeof(c->regs.r));
	memcpy(c->stack, s->data, size);
	walker_copy_append(w, c);
}

static void image_put(struct walker *w, struct walker_image *i)
{
	if (!i || --i->refs)
		return;
	vec_each (&i->proc.maps, m)
		walker_file_put(w, m->file);
	vec_free(&i->proc.maps);
	free(i);
}

void walker_copy_exec(struct walker *w, const struct walker_proc *p, uint64_t time)
{
	struct walker_image *image = NULL;

	for (struct walker_copied *c = w->copied; c; c = c->next) {
		if ((int32_t)c->s.pid != p->pid || c->s.time >= time || c->image)
			continue;
		if (!image) {
			image = mem_alloc(sizeof(*image));
			vec_each (&p->maps, m) {
				if (m->file != UINT32_MAX)
					w->files.data[m->file].refs++;
				vec_push(&image->proc.maps, *m);
			}
		}
		c->image = image;
		image->refs++;
	}
}

struct space {
	struct walker *w;
	const struct walker_proc *p;
	bool full; /* open files for full evaluation */
	VEC(struct ehframe *) cfi;
	bool pending;
};

static bool walker_copy_find(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	struct space *sp = ctx;
	const struct walker_mapping *m = sp->p ? walker_proc_at(sp->p, pc) : NULL;
	struct walker_file *f;

	if (!m)
		return false;
	*ret = (struct unwind_map){ .start = m->start, .end = m->end, .pgoff = m->pgoff };
	if (m->table == WALKER_TABLE_VDSO) {
		f = &sp->w->files.data[WALKER_FILE_VDSO];
		ret->table = f->rows;
		ret->cfi = f->state == WALKER_FILE_READY ? sp->w->vdso : NULL;
		sp->pending |= f->state == WALKER_FILE_PENDING || f->state == WALKER_FILE_BUSY;
	} else if (m->file != UINT32_MAX) {
		f = &sp->w->files.data[m->file];
		ret->table = f->rows;
		if (f->state == WALKER_FILE_PENDING || f->state == WALKER_FILE_BUSY) {
			f->hits += 4;
			sp->pending = true;
		}
		if (sp->full && f->rows) {
			struct ehframe *cfi = walker_file_cfi(f);

			if (cfi)
				vec_push(&sp->cfi, cfi);
			ret->cfi = cfi;
		}
	}
	return true;
}

static void unwind(struct walker *w, struct walker_copied *c, struct space *sp, uint64_t *chain,
		   struct unwind_result *r)
{
	struct unwind_regs regs = { 0 };
	struct unwind_cache cache = { 0 };
	struct unwind_input in = { .regs = &regs,
				   .stack = c->stack,
				   .stack_size = c->s.copy,
				   .find = walker_copy_find,
				   .ctx = sp };

	regs.machine = CPU_MACHINE;
	regs.known = CPU_MACHINE == EM_X86_64 ? 0x1ffff : 0x1ffffffffu;
	memcpy(regs.r, c->regs.r, sizeof(regs.r));
	sp->p = c->image ? &c->image->proc : walker_proc_find(w, (int32_t)c->s.pid);
	unwind_stack(&in, &cache, chain, w->o.depth, r);
}

/* true when it can be handed out. With the lock. */
static bool finish_one(struct walker *w, struct walker_copied *c, bool last)
{
	uint64_t chain[WALK_DEPTH];
	struct space sp = { .w = w };
	struct unwind_result r;

	unwind(w, c, &sp, chain, &r);
	if (!last &&
	    (sp.pending || (r.end == UNWIND_NO_MAP && loop_now() - c->since < WAIT_MAP_NS)))
		return false;
	if (r.end == UNWIND_NEEDS_FULL || r.end == UNWIND_NO_REGISTER) {
		sp.full = true;
		unwind(w, c, &sp, chain, &r);
		vec_each (&sp.cfi, f)
			ehframe_close(*f);
		vec_free(&sp.cfi);
	}
	/* What was walked in the kernel is kept unless this is more. */
	if (r.end == UNWIND_BOTTOM || r.n > c->s.n_user) {
		memmove(c->chain + r.n, c->chain + c->s.n_user, c->s.n_kernel * sizeof(*chain));
		memcpy(c->chain, chain, r.n * sizeof(*chain));
		c->s.n_user = r.n;
		c->s.end = r.end;
		c->s.unwind = r.flags;
	} else if (r.n == c->s.n_user && c->s.end == UNWIND_PENDING) {
		c->s.end = r.end; /* no farther, and now it is known why */
	}
	w->stats.copies_finished += r.end == UNWIND_BOTTOM;
	return true;
}

/* Nothing waits: tables are not looked at for a while. Where only a few stacks are copied. */
static void rest(struct walker *w)
{
	uint64_t now = loop_now();

	if (!w->o.function || w->copied || now - w->rested < REST_NS)
		return;
	w->rested = now;
	pthread_mutex_lock(&w->lock);
	vec_each (&w->files, f)
		if (f->rows)
			ehframe_table_rest(f->rows);
	pthread_mutex_unlock(&w->lock);
}

int walker_copy_finish(struct walker *w, bool all, walker_fn *fn, void *ctx)
{
	struct walker_copied **at = &w->copied, *c;
	uint64_t now = loop_now();
	int n = 0, err = 0;

	while ((c = *at) && !err) {
		struct walker_sample s;

		pthread_mutex_lock(&w->lock);
		if (!finish_one(w, c,
				all || now - c->since > WAIT_NS || w->n_copied > COPIED_MAX)) {
			pthread_mutex_unlock(&w->lock);
			at = &c->next;
			continue;
		}
		image_put(w, c->image);
		pthread_mutex_unlock(&w->lock);
		*at = c->next;
		w->n_copied--;
		walker_sample_from(w, &c->s, c->chain, &s);
		err = fn(ctx, &s);
		n++;
		free(c);
	}
	w->copied_end = &w->copied;
	while (*w->copied_end)
		w->copied_end = &(*w->copied_end)->next;
	if (n)
		rest(w);
	return err ? err : n;
}

void walker_copy_free(struct walker *w)
{
	struct walker_copied *c, *next;

	for (c = w->copied; c; c = next) {
		next = c->next;
		image_put(w, c->image);
		free(c);
	}
}
