/* SPDX-License-Identifier: MIT */
#include "sym/jit/perfmap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/task.h"
#include "sym/jit/jitdump.h"

#define TEXT_MAX ((size_t)2 << 30)
#define SYMS (1u << 18) /* counted at a time */
#define MAPS_MAX (64u << 20)
#define CLOCK_GRAIN 2 /* seconds: two clocks are compared, and one of them in ticks */

static bool parse_hex(char **p, uint64_t *ret)
{
	char *s = *p;
	uint64_t v = 0;
	int n = 0, digit;

	if (s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	for (; n < 17 && (digit = str_hex_digit(*s)) >= 0; n++, s++)
		v = v << 4 | (unsigned)digit;
	*p = s;
	*ret = v;
	return n > 0 && n <= 16;
}

/* end is the newline, which may be written over. */
static bool perfmap_parse_line(char *p, char *end, struct perfmap_sym *s)
{
	uint64_t size;

	if (!parse_hex(&p, &s->start) || *p++ != ' ')
		return false;
	while (*p == ' ')
		p++;
	if (!parse_hex(&p, &size) || *p++ != ' ')
		return false;
	while (*p == ' ')
		p++;
	if (end > p && end[-1] == '\r')
		end--;
	/* A name with a NUL in it ends there; an empty one is none. */
	if (p >= end || !*p || !size || size > UINT64_MAX - s->start)
		return false;
	*end = 0;
	s->name = p;
	s->end = s->start + size;
	return true;
}

/* What is known of so many symbols. */
static bool has_room(struct perfmap *m, const char *path, size_t n)
{
	return !n || n % SYMS ||
	       budget_take(&m->budget,
			   SYMS * (sizeof(struct perfmap_sym) + 3 * sizeof(struct interval)), path,
			   NULL) == 0;
}

static void jit_perfmap_parse(struct perfmap *m, const struct budget *b, const char *path,
			      char *text, size_t len)
{
	char *p = text, *last = text + len;
	VEC(struct perfmap_sym) all = { 0 };
	VEC(struct interval) ranges = { 0 };

	*m = (struct perfmap){ .text = text, .budget = { .size = b->size, .taken = b->taken } };
	*last = '\n';
	while (p < last && has_room(m, path, all.n)) {
		char *end = rawmemchr(p, '\n');
		struct perfmap_sym s;

		if (end != p && perfmap_parse_line(p, end, &s)) {
			vec_push(&all, s);
			vec_push(&ranges, (struct interval){ s.start, s.end, (uint32_t)all.n });
		} else if (end != p) {
			m->bad_lines++;
		}
		p = end + 1;
	}
	m->sym = all.data;
	m->n = all.n;
	m->map = segments_flatten(ranges.data, ranges.n);
	vec_free(&ranges);
}

void perfmap_parse(struct perfmap *m, char *text, size_t len)
{
	jit_perfmap_parse(m, &(struct budget){ .size = len }, "a map", text, len);
}

int perfmap_trust(int fd, const char *path, uid_t uid, struct err *e)
{
	struct stat st;
	int r = 0;

	if (fstat(fd, &st) < 0)
		r = err_set(e, errno, "cannot stat %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		r = err_set(e, EPERM, "%s is not a plain file", path);
	else if (st.st_uid != uid && st.st_uid != 0)
		r = (err_set(e, EPERM, "%s belongs to user %u, not to user %u or root", path,
			     st.st_uid, uid),
		     err_hint(e, "when you trust it: chown root %s", path));
	else if ((uint64_t)st.st_size > TEXT_MAX)
		r = err_set(e, EFBIG, "%s is too large", path);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static int open_trusted(int dir, const char *path, uid_t uid, struct err *e)
{
	int fd = file_openat_input(dir, path, O_NOFOLLOW, 0, e);

	if (fd == -ELOOP)
		return err_set(e, EPERM, "%s is a link", path);
	return fd < 0 ? fd : perfmap_trust(fd, path, uid, e);
}

int perfmap_open(const char *path, uid_t uid, struct err *e)
{
	return open_trusted(AT_FDCWD, path, uid == PERFMAP_OWNER_UNKNOWN ? geteuid() : uid, e);
}

/* The number a process has in its innermost pid namespace, and its effective user. */
static bool process_facts(pid_t pid, pid_t *inner, uid_t *uid)
{
	AUTO_FREE char *text = NULL;
	char path[64], *p;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read(path, 1u << 20, &text, NULL) < 0)
		return false;
	*inner = pid;
	p = strstr(text, "\nNSpid:");
	for (p = p ? p + 7 : NULL; p && *p && *p != '\n';) {
		int v, n;

		if (sscanf(p, "%d%n", &v, &n) != 1)
			break;
		*inner = v;
		p += n;
	}
	p = strstr(text, "\nUid:");
	return p && sscanf(p + 5, "%*u %u", uid) == 1;
}

/* When a process began, by the clock that files have; 0: nobody knows. */
static int64_t began(pid_t pid)
{
	AUTO_FREE char *text = NULL;
	struct timespec now, up;
	unsigned long long ticks;
	char path[64], *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, 1u << 16, &text, NULL) < 0 || !(p = strrchr(text, ')')) ||
	    sscanf(p,
		   ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		   "%*d %llu",
		   &ticks) != 1 ||
	    clock_gettime(CLOCK_REALTIME, &now) < 0 || clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return 0;
	return now.tv_sec - up.tv_sec + (int64_t)(ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
}

int perfmap_place(pid_t pid, struct perfmap_place *ret)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	struct perfmap_place p;
	char path[64];
	AUTO_CLOSE int root = -1;

	if (!process_facts(pid, &p.inner, &p.uid))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	p.tmp = (int)syscall(SYS_openat2, root, "/tmp", &how, sizeof(how));
	if (p.tmp < 0)
		return -errno;
	p.began = began(pid);
	*ret = p;
	return 0;
}

/* Numbers of processes come again, in containers soon: an old map is another one's. */
static int not_older(int fd, const char *path, const struct perfmap_place *p, struct err *e)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_mtim.tv_sec + CLOCK_GRAIN >= p->began)
		return fd;
	close(fd);
	err_set(e, ESTALE, "%s is older than the process", path);
	return err_hint(e, "when it is the right one nevertheless: touch %s", path);
}

int perfmap_open_at(const struct perfmap_place *p, struct err *e)
{
	char name[32];

	snprintf(name, sizeof(name), "perf-%d.map", (int)p->inner);
	return not_older(open_trusted(p->tmp, name, p->uid, e), name, p, e);
}

int perfmap_read(struct perfmap *m, int fd, const char *path, struct err *e)
{
	struct budget b = { 0 };
	char proc[64], *text;
	struct stat st = { 0 };
	size_t len;
	int r;

	/* a file of holes is as large as it likes, and no text */
	fstat(fd, &st);
	b.size = budget_size(&st);
	if (budget_take(&b, (uint64_t)st.st_size, path, NULL) < 0) {
		close(fd);
		return err_set(e, EFBIG, "%s is too large", path);
	}

	/* by its descriptor: the path may lead elsewhere by now */
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	r = file_read(proc, TEXT_MAX, &text, &len);
	close(fd);
	if (r < 0) {
		budget_give(&b, b.taken);
		return err_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	}
	jit_perfmap_parse(m, &b, path, text, len);
	return 0;
}

int perfmap_load(struct perfmap *m, const char *path, pid_t pid, uid_t owner, struct err *e)
{
	struct perfmap_place place = { .uid = owner };
	char here[64];
	int fd;

	if (path) {
		fd = perfmap_open(path, owner, e);
		return fd < 0 ? fd : perfmap_read(m, fd, path, e);
	}
	snprintf(here, sizeof(here), "/tmp/perf-%d.map", (int)pid);
	if (perfmap_place(pid, &place) == 0) {
		fd = perfmap_open_at(&place, e);
		close(place.tmp);
		if (fd >= 0)
			return perfmap_read(m, fd, here, e);
	}
	fd = not_older(perfmap_open(here, place.uid, e), here, &place, e);
	return fd < 0 ? fd : perfmap_read(m, fd, here, e);
}

void perfmap_free(struct perfmap *m)
{
	free(m->sym);
	free(m->map.data);
	free(m->text);
	budget_give(&m->budget, m->budget.taken);
	*m = (struct perfmap){ 0 };
}

const struct perfmap_sym *perfmap_find(const struct perfmap *m, uint64_t addr)
{
	uint32_t at = segments_find(&m->map, addr);

	return at ? &m->sym[at - 1] : NULL;
}

/*
 * --- a jitdump as a map, for who watches a process that runs on: times do not matter then, the
 * code that came last is the one that is there ---
 */

/* The first file of a jitdump's name in a text like /proc/PID/maps; the range it is mapped at. */
static char *find_mapped(char *maps, uint64_t *start, uint64_t *end)
{
	char *rest = NULL;

	for (char *line = strtok_r(maps, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *path = strchr(line, '/');

		if (path && task_is_jitdump(path) &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, start, end) == 2)
			return path;
	}
	return NULL;
}

static int open_dump(pid_t pid, struct err *e)
{
	AUTO_FREE char *maps = NULL;
	uint64_t start, end;
	char at[64], *path;

	snprintf(at, sizeof(at), "/proc/%d/maps", (int)pid);
	if (file_read(at, MAPS_MAX, &maps, NULL) < 0 || !(path = find_mapped(maps, &start, &end)))
		return err_set(e, ENOENT, "process %d has no jitdump", (int)pid);
	return jitdump_open_mapped(pid, path, start, end, e);
}

static int perfmap_jit_by_time(const void *a, const void *b)
{
	const struct jitdump_code *x = *(const struct jitdump_code *const *)a,
				  *y = *(const struct jitdump_code *const *)b;

	return x->time < y->time ? -1 : x->time > y->time;
}

int perfmap_from_jitdump(struct perfmap *m, pid_t pid, struct err *e)
{
	struct jitdump j = { 0 };
	const struct jitdump_code **code;
	struct strbuf text = { 0 };
	int fd = open_dump(pid, e), r;

	if (fd < 0)
		return fd;
	r = jitdump_open_fd(&j, fd, "its jitdump", e);
	if (r < 0)
		return r;
	code = mem_alloc((j.ncode + 1) * sizeof(*code));
	for (size_t i = 0; i < j.ncode; i++)
		code[i] = &j.code[i];
	qsort(code, j.ncode, sizeof(*code), perfmap_jit_by_time);
	for (size_t i = 0; i < j.ncode; i++)
		strbuf_printf(&text, "%" PRIx64 " %" PRIx64 " %s\n", code[i]->start,
			      code[i]->end - code[i]->start, code[i]->name);
	free(code);
	jitdump_free(&j);
	strbuf_putc(&text, 0); /* as file_read() ends a text */
	perfmap_parse(m, text.data, text.n - 1);
	return 0;
}
