/* SPDX-License-Identifier: MIT */
#include "live/about/synth.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "kern/cgroup.h"
#include "kern/kconfig.h"

/* A record being made of fields, padded strings and the trailer. */
struct synth_record {
	struct perf_event_header header;
	uint8_t body[8192];
	size_t n; /* bytes of the body */
};

static void synth_add(struct synth_record *r, const void *data, size_t n)
{
	memcpy(r->body + r->n, data, n);
	r->n += n;
}

static void synth_u32(struct synth_record *r, uint32_t v)
{
	synth_add(r, &v, sizeof(v));
}

static void synth_u64(struct synth_record *r, uint64_t v)
{
	synth_add(r, &v, sizeof(v));
}

static void synth_string(struct synth_record *r, const char *text)
{
	size_t n = strnlen(text, 4095), padded = (n + 8) & ~(size_t)7;

	synth_add(r, text, n);
	memset(r->body + r->n, 0, padded - n);
	r->n += padded - n;
}

/* Everything 0 (the time above all) but who it is about and the event's id. */
static void add_id(struct synth_record *r, const struct synth *s, pid_t pid, pid_t tid)
{
	uint64_t t = s->sample_type;

	if (t & PERF_SAMPLE_TID) {
		synth_u32(r, (uint32_t)pid);
		synth_u32(r, (uint32_t)tid);
	}
	if (t & PERF_SAMPLE_TIME)
		synth_u64(r, 0);
	if (t & PERF_SAMPLE_ID)
		synth_u64(r, s->event_id);
	if (t & PERF_SAMPLE_STREAM_ID)
		synth_u64(r, 0);
	if (t & PERF_SAMPLE_CPU)
		synth_u64(r, 0);
	if (t & PERF_SAMPLE_IDENTIFIER)
		synth_u64(r, s->event_id);
}

static int synth_emit(const struct synth *s, struct synth_record *r, uint32_t type, uint16_t misc,
		      pid_t pid, pid_t tid, struct err *e)
{
	add_id(r, s, pid, tid);
	r->header = (struct perf_event_header){ type, misc, (uint16_t)(sizeof(r->header) + r->n) };
	return s->fn(s->ctx, r, sizeof(r->header) + r->n, e);
}

static int comm_record(const struct synth *s, pid_t pid, pid_t tid, const char *name, struct err *e)
{
	struct synth_record r;

	r.n = 0;
	synth_u32(&r, (uint32_t)pid);
	synth_u32(&r, (uint32_t)tid);
	synth_string(&r, name);
	return synth_emit(s, &r, PERF_RECORD_COMM, 0, pid, tid, e);
}

/* So that readers know which process a thread belongs to and whose child it is. */
static int fork_record(const struct synth *s, pid_t ppid, pid_t pid, pid_t tid, struct err *e)
{
	struct synth_record r;
	pid_t parent = pid == tid ? ppid : pid;

	r.n = 0;
	synth_u32(&r, (uint32_t)pid);
	synth_u32(&r, (uint32_t)parent);
	synth_u32(&r, (uint32_t)tid);
	synth_u32(&r, (uint32_t)parent);
	synth_u64(&r, 0);
	return synth_emit(s, &r, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, pid, tid, e);
}

static int namespaces_record(const struct synth *s, pid_t pid, pid_t tid, struct err *e)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	struct synth_record r;

	r.n = 0;
	synth_u32(&r, (uint32_t)pid);
	synth_u32(&r, (uint32_t)tid);
	synth_u64(&r, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[96];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/ns/%s", pid, tid, names[i]);
		if (stat(path, &st) < 0)
			memset(&st, 0, sizeof(st));
		synth_u64(&r, st.st_dev);
		synth_u64(&r, st.st_ino);
	}
	return synth_emit(s, &r, PERF_RECORD_NAMESPACES, 0, pid, tid, e);
}

/* A file's build-id, as the process sees it; remembered, since every process maps libc. */
static bool file_build_id(pid_t pid, const struct proc_map *m, struct build_id *ret)
{
	static struct {
		unsigned maj, min;
		uint64_t ino;
		struct build_id id;
	} seen[1024];
	size_t at = (m->ino * 31 + m->maj * 7 + m->min) % ARRAY_SIZE(seen);
	char path[PROC_MAP_FILE];
	int fd;

	if (m->path[0] != '/' || !m->ino || str_starts(m->path, "//"))
		return false;
	if (seen[at].ino != m->ino || seen[at].maj != m->maj || seen[at].min != m->min) {
		memset(&seen[at], 0, sizeof(seen[at]));
		seen[at].maj = m->maj;
		seen[at].min = m->min;
		seen[at].ino = m->ino;
		proc_map_file(path, pid, m->start, m->end);
		fd = file_open_input(path, NULL);
		fd = fd >= 0 ? fd : file_open_input(m->path, NULL);
		if (fd >= 0) {
			elf_fd_build_id(fd, &seen[at].id);
			close(fd);
		}
	}
	*ret = seen[at].id;
	return ret->len > 0 && ret->len <= 20;
}

static int mmap_record(const struct synth *s, pid_t pid, const struct proc_map *m, struct err *e)
{
	uint16_t misc = PERF_RECORD_MISC_USER;
	bool code = m->perms[2] == 'x';
	struct synth_record r;
	struct build_id id;

	r.n = 0;
	synth_u32(&r, (uint32_t)pid);
	synth_u32(&r, (uint32_t)pid);
	synth_u64(&r, m->start);
	synth_u64(&r, m->end - m->start);
	synth_u64(&r, m->pgoff);
	if (file_build_id(pid, m, &id)) {
		uint8_t bytes[24] = { id.len };

		memcpy(bytes + 4, id.data, id.len);
		synth_add(&r, bytes, sizeof(bytes));
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	} else {
		synth_u32(&r, m->maj);
		synth_u32(&r, m->min);
		synth_u64(&r, m->ino);
		synth_u64(&r, 0);
	}
	synth_u32(&r, (m->perms[0] == 'r' ? PROT_READ : 0u) |
			      (m->perms[1] == 'w' ? PROT_WRITE : 0u) | (code ? PROT_EXEC : 0u));
	synth_u32(&r, m->perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	synth_string(&r, *m->path ? m->path : "//anon");
	if (!code)
		misc |= PERF_RECORD_MISC_MMAP_DATA;
	return synth_emit(s, &r, PERF_RECORD_MMAP2, misc, pid, pid, e);
}

static int maps_of(const struct synth *s, pid_t pid, struct err *e)
{
	AUTO_FREE char *text = NULL;
	struct proc_map m;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (file_read(path, 64u << 20, &text, NULL) < 0)
		return 0;
	for (char *at = text; proc_map_next(&at, &m);)
		/* [vsyscall] is no code of the process: an address in the kernel's half */
		if ((m.perms[2] == 'x' || (s->data_maps && m.perms[0] == 'r')) &&
		    strcmp(m.path, "[vsyscall]") != 0 && mmap_record(s, pid, &m, e) < 0)
			return -e->code;
	return 0;
}

/* A number of /proc/PID/status: "Tgid", "PPid"; 0 when the task has gone. */
static void ids_of(pid_t tid, pid_t *tgid, pid_t *ppid)
{
	AUTO_FREE char *text = NULL;
	char path[64];
	const char *p;

	*tgid = *ppid = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (file_read(path, 1 << 16, &text, NULL) < 0)
		return;
	/* the name in the first line has its newlines escaped */
	p = strstr(text, "\nTgid:");
	*tgid = p ? atoi(p + 6) : 0;
	p = strstr(text, "\nPPid:");
	*ppid = p ? atoi(p + 6) : 0;
}

static int thread_records(const struct synth *s, pid_t ppid, pid_t pid, pid_t tid, struct err *e)
{
	char path[96], name[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	if (file_line(path, name, sizeof(name)) < 0)
		return 0;
	r = fork_record(s, ppid, pid, tid, e);
	if (r >= 0 && s->namespaces)
		r = namespaces_record(s, pid, tid, e);
	return r < 0 ? r : comm_record(s, pid, tid, name, e);
}

int synth_process(const struct synth *s, pid_t pid, struct err *e)
{
	struct file_names threads;
	pid_t tgid, ppid;
	char path[96];
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (!s->no_tasks && file_list(path, &threads) == 0) {
		ids_of(pid, &tgid, &ppid);
		for (size_t i = 0; r >= 0 && i < threads.n; i++)
			r = thread_records(s, ppid, pid, atoi(threads.name[i]), e);
		file_names_free(&threads);
	}
	return r < 0 || s->no_maps ? r : maps_of(s, pid, e);
}

int synth_threads(const struct synth *s, const struct thread_list *threads, struct err *e)
{
	struct map seen = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < threads->n; i++) {
		pid_t pid, ppid;

		ids_of(threads->tid[i], &pid, &ppid);
		if (!pid || map_find(&seen, (uint64_t)pid))
			continue;
		*map_at(&seen, (uint64_t)pid) = 1;
		r = synth_process(s, pid, e);
	}
	map_free(&seen);
	return r;
}

int synth_all(const struct synth *s, struct err *e)
{
	struct thread_list pids;
	int r = proc_pids(&pids, e);

	for (size_t i = 0; r >= 0 && i < pids.n; i++)
		r = synth_process(s, pids.tid[i], e);
	thread_list_free(&pids);
	return r;
}

/* The kernel's side of synth: its own place, its modules', cgroups. */

static int kernel_record(const struct synth *s, uint64_t start, uint64_t len, uint64_t pgoff,
			 const char *name, struct err *e)
{
	struct synth_record r;

	r.n = 0;
	synth_u32(&r, UINT32_MAX);
	synth_u32(&r, 0);
	synth_u64(&r, start);
	synth_u64(&r, len);
	synth_u64(&r, pgoff);
	synth_string(&r, name);
	return synth_emit(s, &r, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, -1, 0, e);
}

/* /proc/modules: "name size refs deps state 0xaddress". */
static int modules(const struct synth *s, struct err *e)
{
	AUTO_FREE char *text = NULL;
	struct modules files;
	char *save = NULL;
	int r = 0;

	if (file_read("/proc/modules", 16u << 20, &text, NULL) < 0)
		return 0;
	modules_open(&files);
	for (char *line = strtok_r(text, "\n", &save); line && r >= 0;
	     line = strtok_r(NULL, "\n", &save)) {
		AUTO_FREE char *path = NULL;
		unsigned long long size, addr;
		char name[128];

		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr)
			continue;
		path = modules_path(&files, name);
		if (!path)
			path = mem_printf("[%s]", name);
		r = kernel_record(s, addr, size, 0, path, e);
	}
	modules_close(&files);
	return r;
}

int synth_kernel(const struct synth *s, const struct ksyms *k, struct err *e)
{
	int r;

	if (!k->start)
		return 0;
	r = kernel_record(s, k->start, k->end - k->start, k->start, "[kernel.kallsyms]_text", e);
	return r < 0 ? r : modules(s, e);
}

static int cgroup_record(const struct synth *s, const char *root, const char *path, struct err *e)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} handle = { .h.handle_bytes = sizeof(uint64_t) };
	AUTO_FREE char *full = mem_printf("%s%s", root, path);
	struct synth_record r;
	uint64_t id;
	int mount;

	if (strlen(path) >= PATH_MAX || name_to_handle_at(AT_FDCWD, full, &handle.h, &mount, 0) < 0)
		return 0;
	memcpy(&id, handle.h.f_handle, sizeof(id));
	r.n = 0;
	synth_u64(&r, id);
	synth_string(&r, *path ? path : "/");
	return synth_emit(s, &r, PERF_RECORD_CGROUP, 0, 0, 0, e);
}

static int cgroups_below(const struct synth *s, const char *root, const char *path, unsigned depth,
			 struct err *e)
{
	AUTO_FREE char *full = mem_printf("%s%s", root, path);
	int r = cgroup_record(s, root, path, e);
	const struct dirent *d;
	DIR *dir;

	if (r < 0 || depth > 32 || !(dir = opendir(full)))
		return r;
	while (r >= 0 && (d = readdir(dir))) {
		AUTO_FREE char *child = NULL;

		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		child = mem_printf("%s/%s", path, d->d_name);
		r = cgroups_below(s, root, child, depth + 1, e);
	}
	closedir(dir);
	return r;
}

int synth_cgroups(const struct synth *s, struct err *e)
{
	const char *root = cgroup_root();

	return root ? cgroups_below(s, root, "", 0, e) : 0;
}

int synth_lost(const struct synth *s, uint64_t lost, struct err *e)
{
	struct synth_record r;

	r.n = 0;
	synth_u64(&r, lost);
	return synth_emit(s, &r, PERF_RECORD_LOST_SAMPLES, 0, 0, 0, e);
}
