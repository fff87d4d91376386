/* SPDX-License-Identifier: MIT */
#include "live/synth.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

/* A record being made: fixed fields, a padded string, the sample_id trailer. */
struct record {
	struct perf_event_header header;
	uint8_t body[8192];
	size_t n;
};

static void add(struct record *r, const void *data, size_t n)
{
	memcpy(r->body + r->n, data, n);
	r->n += n;
}

static void add_u32(struct record *r, uint32_t v)
{
	add(r, &v, sizeof(v));
}

static void add_u64(struct record *r, uint64_t v)
{
	add(r, &v, sizeof(v));
}

static void add_string(struct record *r, const char *s)
{
	size_t n = strnlen(s, 4095), padded = (n + 8) & ~(size_t)7;

	add(r, s, n);
	memset(r->body + r->n, 0, padded - n);
	r->n += padded - n;
}

size_t synth_id_size(uint64_t t)
{
	return 8 * (size_t)(!!(t & PERF_SAMPLE_TID) + !!(t & PERF_SAMPLE_TIME) +
			    !!(t & PERF_SAMPLE_ID) + !!(t & PERF_SAMPLE_STREAM_ID) +
			    !!(t & PERF_SAMPLE_CPU) + !!(t & PERF_SAMPLE_IDENTIFIER));
}

/* Everything 0 (the time above all) but who it is about and the event's id. */
static void add_id(struct record *r, const struct synth_opts *o, pid_t pid, pid_t tid)
{
	uint64_t t = o->sample_type;

	if (t & PERF_SAMPLE_TID) {
		add_u32(r, (uint32_t)pid);
		add_u32(r, (uint32_t)tid);
	}
	if (t & PERF_SAMPLE_TIME)
		add_u64(r, 0);
	if (t & PERF_SAMPLE_ID)
		add_u64(r, o->event_id);
	if (t & PERF_SAMPLE_STREAM_ID)
		add_u64(r, 0);
	if (t & PERF_SAMPLE_CPU)
		add_u64(r, 0);
	if (t & PERF_SAMPLE_IDENTIFIER)
		add_u64(r, o->event_id);
}

static int emit(struct record *r, const struct synth_opts *o, uint32_t type, uint16_t misc,
		pid_t pid, pid_t tid, synth_fn *fn, void *ctx, struct err *e)
{
	add_id(r, o, pid, tid);
	r->header = (struct perf_event_header){ type, misc, (uint16_t)(sizeof(r->header) + r->n) };
	return fn(ctx, r, sizeof(r->header) + r->n, e);
}

static int comm_record(const struct synth_opts *o, pid_t pid, pid_t tid, const char *name,
		       synth_fn *fn, void *ctx, struct err *e)
{
	struct record r = { .n = 0 };

	add_u32(&r, (uint32_t)pid);
	add_u32(&r, (uint32_t)tid);
	add_string(&r, name);
	return emit(&r, o, PERF_RECORD_COMM, 0, pid, tid, fn, ctx, e);
}

/* So that readers know which process a thread belongs to and whose child it is. */
static int fork_record(const struct synth_opts *o, pid_t ppid, pid_t pid, pid_t tid, synth_fn *fn,
		       void *ctx, struct err *e)
{
	struct record r = { .n = 0 };
	pid_t parent = pid == tid ? ppid : pid;

	add_u32(&r, (uint32_t)pid);
	add_u32(&r, (uint32_t)parent);
	add_u32(&r, (uint32_t)tid);
	add_u32(&r, (uint32_t)parent);
	add_u64(&r, 0);
	return emit(&r, o, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, pid, tid, fn, ctx, e);
}

struct mapping {
	uint64_t start, end, pgoff, ino;
	unsigned maj, min, prot, flags;
	const char *path;
};

/* "7f..-7f.. r-xp 00001000 fe:00 1234   /usr/lib/x.so" */
static bool parse_mapping(char *line, struct mapping *m)
{
	unsigned long long start, end, pgoff, ino;
	char prot[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, prot, &pgoff, &m->maj,
		   &m->min, &ino, &at) < 7 ||
	    !at)
		return false;
	m->start = start;
	m->end = end;
	m->pgoff = pgoff;
	m->ino = ino;
	m->prot = (prot[0] == 'r' ? PROT_READ : 0u) | (prot[1] == 'w' ? PROT_WRITE : 0u) |
		  (prot[2] == 'x' ? PROT_EXEC : 0u);
	m->flags = prot[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	m->path = line[at] ? line + at : "//anon";
	return true;
}

/* A file's build-id through the process's own view of it; remembered, since every process maps
 * libc. */
static bool file_build_id(pid_t pid, const struct mapping *m, struct build_id *ret)
{
	static struct {
		unsigned maj, min;
		uint64_t ino;
		struct build_id id;
	} seen[1024];
	size_t at = (m->ino * 31 + m->maj * 7 + m->min) % ARRAY_SIZE(seen);
	char path[128];
	struct elf *elf;

	if (m->path[0] != '/' || !m->ino || str_starts(m->path, "//"))
		return false;
	if (seen[at].ino != m->ino || seen[at].maj != m->maj || seen[at].min != m->min) {
		memset(&seen[at], 0, sizeof(seen[at]));
		seen[at].maj = m->maj;
		seen[at].min = m->min;
		seen[at].ino = m->ino;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
			 (unsigned long long)m->start, (unsigned long long)m->end);
		if (elf_open_path(path, &elf, NULL) == 0 ||
		    elf_open_path(m->path, &elf, NULL) == 0) {
			seen[at].id = elf->build_id;
			elf_free(elf);
		}
	}
	*ret = seen[at].id;
	return ret->len > 0 && ret->len <= 20;
}

static int mmap_record(const struct synth_opts *o, pid_t pid, const struct mapping *m, synth_fn *fn,
		       void *ctx, struct err *e)
{
	struct record r = { .n = 0 };
	struct build_id id;
	uint16_t misc = PERF_RECORD_MISC_USER;

	add_u32(&r, (uint32_t)pid);
	add_u32(&r, (uint32_t)pid);
	add_u64(&r, m->start);
	add_u64(&r, m->end - m->start);
	add_u64(&r, m->pgoff);
	if (file_build_id(pid, m, &id)) {
		uint8_t bytes[24] = { id.len };

		memcpy(bytes + 4, id.data, id.len);
		add(&r, bytes, sizeof(bytes));
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	} else {
		add_u32(&r, m->maj);
		add_u32(&r, m->min);
		add_u64(&r, m->ino);
		add_u64(&r, 0);
	}
	add_u32(&r, m->prot);
	add_u32(&r, m->flags);
	add_string(&r, m->path);
	if (!(m->prot & PROT_EXEC))
		misc |= PERF_RECORD_MISC_MMAP_DATA;
	return emit(&r, o, PERF_RECORD_MMAP2, misc, pid, pid, fn, ctx, e);
}

static int maps_of(const struct synth_opts *o, pid_t pid, synth_fn *fn, void *ctx, struct err *e)
{
	AUTO_FREE char *text = NULL;
	char path[64], *save = NULL;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (file_read(path, 64u << 20, &text, NULL) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct mapping m;

		if (!parse_mapping(line, &m) ||
		    (!(m.prot & PROT_EXEC) && !(o->data_maps && (m.prot & PROT_READ))))
			continue;
		if (strcmp(m.path, "[vsyscall]") == 0)
			continue; /* no code of the process: an address in the kernel's half */
		if (mmap_record(o, pid, &m, fn, ctx, e) < 0)
			return -e->code;
	}
	return 0;
}

/* Parent's number from /proc/PID/stat, behind the name, which may hold anything. */
static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	const char *p;
	int ppid = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_line(path, line, sizeof(line)) < 0 || !(p = strrchr(line, ')')))
		return 0;
	return sscanf(p, ") %*c %d", &ppid) == 1 ? ppid : 0;
}

int synth_process(const struct synth_opts *o, pid_t pid, synth_fn *fn, void *ctx, struct err *e)
{
	struct file_names threads;
	char path[96], name[64];
	pid_t ppid = parent_of(pid);
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (file_list(path, &threads) < 0)
		return 0;
	for (size_t i = 0; r >= 0 && i < threads.n; i++) {
		pid_t tid = atoi(threads.name[i]);

		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
		if (file_line(path, name, sizeof(name)) < 0)
			continue;
		r = fork_record(o, ppid, pid, tid, fn, ctx, e);
		if (r >= 0)
			r = comm_record(o, pid, tid, name, fn, ctx, e);
	}
	file_names_free(&threads);
	return r < 0 ? r : maps_of(o, pid, fn, ctx, e);
}

int synth_all(const struct synth_opts *o, synth_fn *fn, void *ctx, struct err *e)
{
	struct file_names names;
	int r = file_list("/proc", &names);

	if (r < 0)
		return err_set(e, -r, "cannot read /proc: %s", strerror(-r));
	for (size_t i = 0; r >= 0 && i < names.n; i++)
		if (isdigit((unsigned char)names.name[i][0]))
			r = synth_process(o, atoi(names.name[i]), fn, ctx, e);
	file_names_free(&names);
	return r;
}

static int kernel_record(const struct synth_opts *o, uint64_t start, uint64_t len, uint64_t pgoff,
			 const char *name, synth_fn *fn, void *ctx, struct err *e)
{
	struct record r = { .n = 0 };

	add_u32(&r, UINT32_MAX);
	add_u32(&r, 0);
	add_u64(&r, start);
	add_u64(&r, len);
	add_u64(&r, pgoff);
	add_string(&r, name);
	return emit(&r, o, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, -1, 0, fn, ctx, e);
}

/* The address of a symbol near the front of kallsyms; 0 when hidden or not there. */
static uint64_t kernel_symbol(const char *text, const char *name)
{
	char want[64];
	const char *p;

	snprintf(want, sizeof(want), " %s\n", name);
	p = strstr(text, want);
	if (!p)
		return 0;
	while (p > text && p[-1] != '\n')
		p--;
	return strtoull(p, NULL, 16);
}

/* /proc/modules: "name size refs deps state 0xaddress". The file's path is perf's to find by name.
 */
static int modules(const struct synth_opts *o, synth_fn *fn, void *ctx, struct err *e)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;
	int r = 0;

	if (file_read("/proc/modules", 16u << 20, &text, NULL) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line && r >= 0;
	     line = strtok_r(NULL, "\n", &save)) {
		unsigned long long size, addr;
		char name[128], shown[160];

		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr)
			continue;
		snprintf(shown, sizeof(shown), "[%s]", name);
		r = kernel_record(o, addr, size, 0, shown, fn, ctx, e);
	}
	return r;
}

int synth_kernel(const struct synth_opts *o, synth_fn *fn, void *ctx, struct err *e)
{
	AUTO_FREE char *text = NULL;
	uint64_t start, end, ref;
	int r;

	if (file_read("/proc/kallsyms", 256u << 20, &text, NULL) < 0)
		return 0;
	ref = kernel_symbol(text, "_text");
	start = kernel_symbol(text, "_stext");
	end = kernel_symbol(text, "_etext");
	if (!ref)
		ref = start;
	if (!ref || end <= ref)
		return 0;
	r = kernel_record(o, ref, end - ref, ref, "[kernel.kallsyms]_text", fn, ctx, e);
	return r < 0 ? r : modules(o, fn, ctx, e);
}

bool synth_kernel_build_id(struct build_id *ret)
{
	AUTO_FREE char *notes = NULL;
	size_t n;

	return file_read("/sys/kernel/notes", 1 << 20, &notes, &n) == 0 &&
	       elf_note_build_id((const uint8_t *)notes, n, false, ret);
}
