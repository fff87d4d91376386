/* SPDX-License-Identifier: MIT */
/*
 * Reading what a call's arguments lead to, step by step as its plan says.
 *
 * Programs at system calls may not wait for a page to be read in, so reading at
 * entry can fail where the call itself will not. What failed is read again at the
 * exit, when the kernel has touched it. For file names that is as good; a buffer
 * may have been changed by then.
 */
#pragma once

#include "trace_maps.h"

#define ROOM (TRACE_DATA - TRACE_STRING - sizeof(struct trace_piece))
#define RESULT 6
#define VECTORS 8  /* that are followed */
#define STRINGS 64 /* arguments of a program */

/* The compiler is not to take a number from elsewhere than where it was checked. */
#define FIXED(v) asm volatile("" : "+r"(v))

/* The place of the next piece's bytes; NULL when there is no room for a long one. */
static __always_inline void *next_piece(struct call *c)
{
	__u64 at = c->rec.n;

	FIXED(at);
	if (at > ROOM) {
		c->rec.flags |= TRACE_CUT;
		return NULL;
	}
	return c->data + at + sizeof(struct trace_piece);
}

static __always_inline void add_piece(struct call *c, __u8 arg, __u8 take, __u32 n, __u16 index,
				      bool exit)
{
	__u64 at = c->rec.n;
	struct trace_piece *p;

	FIXED(at);
	if (at > TRACE_DATA - sizeof(*p) || n > TRACE_PATH)
		return;
	p = (void *)(c->data + at);
	p->arg = arg;
	p->take = take;
	p->n = n;
	p->index = index;
	p->exit = exit;
	c->rec.n = (at + sizeof(*p) + n + 7) & ~7u;
}

static __always_inline bool read_string(struct call *c, __u8 arg, __u8 take, __u64 from,
					__u16 index, bool exit)
{
	void *to = next_piece(c);
	long n;

	if (!to)
		return true;
	n = bpf_probe_read_user_str(to, TRACE_STRING, (void *)from);
	if (n <= 0)
		return false;
	add_piece(c, arg, take, n, index, exit);
	return true;
}

/* As long as a path can be, where there is room for it. */
static __always_inline bool read_path(struct call *c, __u8 arg, __u64 from, bool exit)
{
	__u64 at = c->rec.n;
	long n;

	FIXED(at);
	if (at > TRACE_DATA - TRACE_PATH - sizeof(struct trace_piece))
		return read_string(c, arg, TRACE_TAKE_STRING, from, 0, exit);
	n = bpf_probe_read_user_str(c->data + at + sizeof(struct trace_piece), TRACE_PATH,
				    (void *)from);
	if (n <= 0)
		return false;
	add_piece(c, arg, TRACE_TAKE_STRING, n, 0, exit);
	return true;
}

static __always_inline bool read_bytes(struct call *c, __u8 arg, __u8 take, __u64 from, __u64 n,
				       __u16 index, bool exit)
{
	void *to = next_piece(c);

	if (!to)
		return true;
	FIXED(n);
	if (n > TRACE_STRING)
		n = TRACE_STRING;
	if (n && bpf_probe_read_user(to, n, (void *)from))
		return false;
	add_piece(c, arg, take, n, index, exit);
	return true;
}

/* --- the file behind a descriptor ------------------------------------------------------------- */

struct climb {
	struct call *c;
	struct dentry___k *dentry;
	struct mount___k *mount;
	__u64 at; /* in the data */
};

static long climb_step(__u32 i, struct climb *w)
{
	struct dentry___k *dentry = w->dentry, *parent;
	struct mount___k *mount = w->mount, *up;
	const unsigned char *name;
	__u64 at = w->at;
	long n;

	FIXED(at);
	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		up = BPF_CORE_READ(mount, mnt_parent);
		if (up == mount)
			return 1;
		w->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		w->mount = up;
		return 0;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (at > TRACE_DATA - 256)
		return 1;
	name = BPF_CORE_READ(dentry, d_name.name);
	n = bpf_probe_read_kernel_str(w->c->data + at, 256, name);
	if (n <= 0)
		return 1;
	at += n;
	FIXED(at);
	/* A file that is nowhere: an empty part tells. */
	if (parent == dentry && at < TRACE_DATA)
		w->c->data[at++] = '\0';
	w->at = at;
	w->dentry = parent;
	return parent == dentry;
}

static __always_inline void read_fd(struct call *c, struct task_struct___t *task, __u8 arg,
				    __s32 fd, __u16 index, bool exit)
{
	struct fdtable___k *table;
	struct file___k *file = NULL, **files;
	struct trace_file *head = next_piece(c);
	struct inode___k *inode;
	struct climb w = { .c = c };
	__u32 begin = c->rec.n + sizeof(struct trace_piece), n;

	if (fd < 0 || !head || begin > ROOM + sizeof(struct trace_piece))
		return;
	table = BPF_CORE_READ(task, files, fdt);
	if (!table || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return;
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	head->inode = BPF_CORE_READ(inode, i_ino);
	head->mode = BPF_CORE_READ(inode, i_mode);
	head->dev = BPF_CORE_READ(inode, i_rdev);
	w.dentry = BPF_CORE_READ(file, f_path.dentry);
	w.mount =
		(void *)BPF_CORE_READ(file, f_path.mnt) -
		__builtin_preserve_field_info(((struct mount___k *)0)->mnt, BPF_FIELD_BYTE_OFFSET);
	w.at = begin + sizeof(*head);
	if ((head->mode & 0170000) != 0140000 && (head->mode & 0170000) != 0010000 && w.dentry)
		bpf_loop(TRACE_PARTS, climb_step, &w, 0);
	n = w.at - begin;
	if (n > TRACE_PATH)
		n = TRACE_PATH;
	add_piece(c, arg, TRACE_TAKE_PATH_OF, n, index, exit);
}

/* --- lists ------------------------------------------------------------------------------------ */

struct list {
	struct call *c;
	__u64 from;
	__u64 left; /* bytes that may be read in all; of descriptors: from one to the next */
	__u8 arg;
	bool exit, is32, done, failed;
};

static long strings_step(__u32 i, struct list *l)
{
	__u64 p = 0;

	if (l->is32) {
		if (bpf_probe_read_user(&p, 4, (void *)(l->from + i * 4ull)))
			return 1;
	} else if (bpf_probe_read_user(&p, 8, (void *)(l->from + i * 8ull))) {
		return 1;
	}
	if (!p) {
		l->done = true;
		return 1;
	}
	return !read_string(l->c, l->arg, TRACE_TAKE_STRINGS, p, i, l->exit);
}

static __always_inline bool read_strings(struct call *c, __u8 arg, __u64 from, bool exit)
{
	struct list l = { .c = c, .from = from, .arg = arg, .exit = exit, .is32 = c->rec.abi };
	__u32 before = c->rec.n;

	bpf_loop(STRINGS, strings_step, &l, 0);
	if (!l.done && !(c->rec.flags & TRACE_CUT) && !exit) {
		c->rec.n = before; /* all of it again, at the exit */
		return false;
	}
	return true;
}

static long vectors_step(__u32 i, struct list *l)
{
	__u64 v[2] = { 0 };
	__u32 v32[2];

	if (l->is32) {
		if (bpf_probe_read_user(v32, sizeof(v32), (void *)(l->from + i * 8ull)))
			return 1;
		v[0] = v32[0];
		v[1] = v32[1];
	} else if (bpf_probe_read_user(v, sizeof(v), (void *)(l->from + i * 16ull))) {
		return 1;
	}
	if (v[1] > l->left)
		v[1] = l->left;
	l->left -= v[1];
	if (v[1] > options.limit)
		v[1] = options.limit;
	if (!read_bytes(l->c, l->arg, TRACE_TAKE_IOV_DATA, v[0], v[1], i, l->exit))
		l->failed = true;
	return 0;
}

static __always_inline bool read_vectors(struct call *c, __u8 arg, __u64 from, __u64 n, bool exit)
{
	struct list l = { .c = c, .from = from, .arg = arg, .exit = exit, .is32 = c->rec.abi };

	l.left = exit ? c->rec.ret : ~0ull;
	if (n > VECTORS)
		n = VECTORS;
	if (!read_bytes(c, arg, TRACE_TAKE_VECTORS, from, n * (l.is32 ? 8 : 16), 0, exit))
		return false;
	bpf_loop(n, vectors_step, &l, 0);
	return !l.failed; /* what is read again counts, being the last */
}

#define FILES 16 /* of a list that are named */

static long fds_step(__u32 i, struct list *l)
{
	__s32 fd;

	if (bpf_probe_read_user(&fd, sizeof(fd), (void *)(l->from + i * l->left)))
		return 1;
	read_fd(l->c, (void *)bpf_get_current_task_btf(), l->arg, fd, i, l->exit);
	return 0;
}

static __always_inline void read_fds(struct call *c, __u8 arg, __u64 from, __u64 n, __u32 size,
				     bool exit)
{
	struct list l = { .c = c, .from = from, .left = size, .arg = arg, .exit = exit };

	if (size == 4)
		n = 2;
	bpf_loop(n < FILES ? n : FILES, fds_step, &l, 0);
}

/* struct user_msghdr: name, its length, vectors, their number, control, its length, flags. */
static __always_inline bool read_message(struct call *c, __u8 arg, __u64 from, bool exit)
{
	__u64 m[7] = { 0 };
	__u32 m32[7];

	if (c->rec.abi) {
		if (bpf_probe_read_user(m32, sizeof(m32), (void *)from))
			return false;
#pragma unroll
		for (int i = 0; i < 7; i++)
			m[i] = m32[i];
	} else if (bpf_probe_read_user(m, sizeof(m), (void *)from)) {
		return false;
	}
	if (!read_bytes(c, arg, TRACE_TAKE_MESSAGE, from, c->rec.abi ? 28 : 56, 0, exit))
		return false;
	if (m[0] && (__u32)m[1])
		read_bytes(c, arg, TRACE_TAKE_POINTED, m[0], (__u32)m[1] & 0xff, 0, exit);
	if (m[4] && (__u32)m[5])
		read_bytes(c, arg, TRACE_TAKE_POINTED, m[4], (__u32)m[5] & 0x1ff, 1, exit);
	return read_vectors(c, arg, m[2], m[3], exit);
}

/* --- a step ----------------------------------------------------------------------------------- */

struct taking {
	struct call *c;
	struct trace_plan *plan;
	bool exit;
};

static __always_inline __u64 argument(struct call *c, __u32 i)
{
	return i < 6 ? c->rec.arg[i] : (__u64)c->rec.ret;
}

/* How many bytes a step reads, where that is a number; limited later. */
static __always_inline __u64 step_size(struct call *c, struct trace_step *s, bool exit)
{
	__u64 n = argument(c, s->ref);
	__u32 pointed = 0;

	switch (s->take) {
	case TRACE_TAKE_BUFFER:
		if (exit && (__s64)n > c->rec.ret)
			n = c->rec.ret;
		return n < options.limit ? n : options.limit;
	case TRACE_TAKE_MEMORY: return s->size;
	case TRACE_TAKE_ARRAY: return n > TRACE_STRING ? TRACE_STRING : n * s->size;
	case TRACE_TAKE_RESULTS:
		return c->rec.ret > TRACE_STRING ? TRACE_STRING : c->rec.ret * s->size;
	case TRACE_TAKE_POINTED:
		if (bpf_probe_read_user(&pointed, sizeof(pointed), (void *)n))
			return 0;
		return pointed & 0xff;
	case TRACE_TAKE_IOCTL: return n >> 16 & 0x3fff;
	}
	return 0;
}

static long take_step(__u32 i, struct taking *t)
{
	struct call *c = t->c;
	struct trace_step *s;
	bool ok, again = false;
	__u64 from, at;
	__u8 arg;

	if (i >= TRACE_STEPS)
		return 1;
	at = i;
	FIXED(at);
	s = &t->plan->step[at & (TRACE_STEPS - 1)]; /* also where it was put aside meanwhile */
	arg = s->arg;
	if (!t->exit) {
		if (!(s->when & TRACE_AT_ENTRY))
			return 0;
	} else {
		again = (s->when & TRACE_AT_ENTRY) && (c->rec.failed >> (i & 31) & 1);
		if (!again && (!(s->when & TRACE_AT_EXIT) ||
			       (c->rec.ret < 0 && !(s->when & TRACE_EVEN_FAILED))))
			return 0;
	}
	from = argument(c, arg);
	if (s->take == TRACE_TAKE_FD) {
		read_fd(c, (void *)bpf_get_current_task_btf(), arg, from, 0, t->exit);
		return 0;
	}
	if (!from)
		return 0;
	if (s->take == TRACE_TAKE_FDS) {
		read_fds(c, arg, from, argument(c, s->ref), s->size, t->exit);
		return 0;
	}
	if (s->take == TRACE_TAKE_STRING)
		ok = read_path(c, arg, from, t->exit);
	else if (s->take == TRACE_TAKE_STRINGS)
		ok = read_strings(c, arg, from, t->exit);
	else if (s->take == TRACE_TAKE_VECTORS)
		ok = read_vectors(c, arg, from, argument(c, s->ref), t->exit && !again);
	else if (s->take == TRACE_TAKE_MESSAGE)
		ok = read_message(c, arg, from, t->exit && !again);
	else
		ok = read_bytes(c, arg, s->take, from, step_size(c, s, t->exit && !again), 0,
				t->exit && !again);
	if (!ok && !t->exit)
		c->rec.failed |= 1u << (i & 31);
	return 0;
}

static __always_inline void take(struct call *c, struct trace_plan *plan, bool exit)
{
	struct taking t = { .c = c, .plan = plan, .exit = exit };

	if (plan->n)
		bpf_loop(plan->n, take_step, &t, 0);
}
