/* SPDX-License-Identifier: MIT */
#include "kern/ability/try_idle.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "kern/perf.h"
#include "kern/proc.h"
#include "kern/virt.h"

#define KNOWN "/run/kymo-idle" /* what was found since the machine was started */
#define TICK_NS 100000u
#define ENOUGH 10 /* ticks without a sample */
#define ENOUGH_TRIES 2
#define STATES_MAX 16
#define MAX_INTERRUPTS (4u << 20)
#define DATA_PAGES 8u

struct one {
	int fd;
	void *ring;
	int64_t idle_us; /* that it had idled before */
	uint64_t samples, idle;
};

static size_t ring_bytes(void)
{
	return (1 + DATA_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Microseconds that it idled; -1 where the kernel does not tell. */
static int64_t idle_us(int cpu)
{
	int64_t sum = -1, v;

	for (int i = 0; i < STATES_MAX; i++) {
		AUTO_FREE char *path =
			mem_printf("/sys/devices/system/cpu/cpu%d/cpuidle/state%d/time", cpu, i);

		if (file_i64(path, &v) < 0)
			break;
		sum = (sum < 0 ? 0 : sum) + v;
	}
	return sum;
}

/* Timer interrupts of each CPU: the line "LOC: n n ..." of x86. False where there is none. */
static bool read_ticks(const struct cpus *cpus, uint64_t *ret)
{
	AUTO_FREE char *text = NULL;
	char *p, *end;

	memset(ret, 0, cpus->n * sizeof(*ret));
	if (file_read("/proc/interrupts", MAX_INTERRUPTS, &text, NULL) < 0 ||
	    !(p = strstr(text, "LOC:")))
		return false;
	p += strlen("LOC:");
	/* columns are the CPUs that are online */
	for (size_t i = 0, column = 0; *p && *p != '\n' && i < cpus->n; column++) {
		unsigned long long v = strtoull(p, &end, 10);

		if (end == p)
			return false;
		p = end;
		if (cpus->cpu[i] == (int)column)
			ret[i++] = v;
	}
	return true;
}

static void open_one(struct one *o, int cpu)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .sample_period = TICK_NS,
				     .sample_type = PERF_SAMPLE_TID,
				     .disabled = 1 };

	o->ring = MAP_FAILED;
	o->fd = perf_open(&a, -1, cpu, -1, 0);
	if (o->fd >= 0)
		o->ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);
}

static void try_idle_look(struct one *o)
{
	const struct perf_event_mmap_page *page = o->ring;
	size_t size = ring_bytes() - (size_t)sysconf(_SC_PAGESIZE);
	const char *data = (const char *)o->ring + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	for (uint64_t at = 0; at + sizeof(struct perf_event_header) <= head && at < size;) {
		const struct perf_event_header *h = (const void *)(data + at);
		const uint32_t *tid = (const uint32_t *)(h + 1) + 1;

		if (h->size < 16 || at + h->size > head)
			break;
		if (h->type == PERF_RECORD_SAMPLE) {
			o->samples++;
			o->idle += *tid == 0;
		}
		at += h->size;
	}
}

static bool online_from_0(void)
{
	struct cpus all = { 0 };
	bool ok = cpus_online(&all, NULL) == 0 && all.n && (size_t)all.cpu[all.n - 1] == all.n - 1;

	cpus_free(&all);
	return ok; /* else columns are not numbers of CPUs */
}

/* A CPU that idled half of the time has many ticks in it: most have samples, or hardly any.
 * Other tasks may be kept from perf, too, which is their affair. */
static enum try_idle judge(const struct one *o, int cpu, unsigned ms, uint64_t ticks)
{
	int64_t us = o->idle_us < 0 ? -1 : idle_us(cpu) - o->idle_us;
	uint64_t due = us > 0 ? (uint64_t)us * 1000 / TICK_NS : 0;

	if (us < (int64_t)ms * 500)
		return TRY_IDLE_UNKNOWN;
	if (o->idle * 2 >= due)
		return TRY_IDLE_SEEN;
	/* others' timers tick, too: of a CPU that was busy we have our samples */
	if (o->idle * 10 <= due && o->samples * TICK_NS * 2 < ms * 1000000ull &&
	    ticks >= o->samples + ENOUGH)
		return TRY_IDLE_LOST;
	return TRY_IDLE_UNKNOWN;
}

void try_idle(const struct cpus *cpus, unsigned ms, enum try_idle *ret)
{
	AUTO_FREE struct one *one = mem_alloc(cpus->n * sizeof(*one));
	AUTO_FREE uint64_t *before = mem_alloc(cpus->n * sizeof(*before));
	AUTO_FREE uint64_t *after = mem_alloc(cpus->n * sizeof(*after));
	bool known = online_from_0();

	memset(ret, 0, cpus->n * sizeof(*ret));
	for (size_t i = 0; i < cpus->n; i++)
		open_one(&one[i], cpus->cpu[i]);
	known = known && read_ticks(cpus, before);
	for (size_t i = 0; known && i < cpus->n; i++)
		if (one[i].ring != MAP_FAILED) {
			one[i].idle_us = idle_us(cpus->cpu[i]);
			ioctl(one[i].fd, PERF_EVENT_IOC_ENABLE, 0);
		}
	if (known)
		nanosleep(&(struct timespec){ .tv_nsec = (long)ms * 1000000 }, NULL);
	for (size_t i = 0; known && i < cpus->n; i++)
		if (one[i].ring != MAP_FAILED)
			ioctl(one[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	known = known && read_ticks(cpus, after);
	for (size_t i = 0; i < cpus->n; i++) {
		if (one[i].ring != MAP_FAILED) {
			try_idle_look(&one[i]);
			munmap(one[i].ring, ring_bytes());
			if (known)
				ret[i] = judge(&one[i], cpus->cpu[i], ms, after[i] - before[i]);
		}
		if (one[i].fd >= 0)
			close(one[i].fd);
	}
}

/* A letter a CPU, after the id of this boot: seen, lost, or not known. */
static void read_known(char *state, size_t n)
{
	AUTO_FREE char *text = NULL;
	char boot[64];
	size_t b, len = 0;

	if (!proc_boot_id(boot, sizeof(boot)) || file_read(KNOWN, CPU_MAX + 128, &text, &len) < 0)
		return;
	b = strlen(boot);
	if (len < b + 1 || memcmp(text, boot, b) != 0 || text[b] != ' ')
		return;
	for (size_t i = 0;
	     i < n && (text[b + 1 + i] == 's' || text[b + 1 + i] == 'l' || text[b + 1 + i] == '-');
	     i++)
		state[i] = text[b + 1 + i];
}

static void write_known(const char *state)
{
	AUTO_FREE char *text = NULL;
	char boot[64];

	if (geteuid() != 0 || !proc_boot_id(boot, sizeof(boot)))
		return;
	text = mem_printf("%s %s\n", boot, state);
	file_replace(KNOWN, text, strlen(text), 0644);
}

/* Once seen it stays so; that it is lost must show twice: a host that gives its time to others
 * looks the same for a moment. True while one more try can tell. */
static bool try_again(const struct cpus *cpus, unsigned ms, char *state, unsigned *lost)
{
	AUTO_FREE enum try_idle *now = mem_alloc(cpus->n * sizeof(*now));
	bool more = false;

	try_idle(cpus, ms, now);
	for (size_t i = 0; i < cpus->n; i++) {
		char *s = &state[cpus->cpu[i]];

		lost[i] = now[i] == TRY_IDLE_LOST ? lost[i] + 1 : 0;
		if (now[i] == TRY_IDLE_SEEN)
			*s = 's';
		else if (*s == '-' && lost[i] == ENOUGH_TRIES)
			*s = 'l';
		more |= *s == '-' && lost[i];
	}
	return more;
}

size_t try_idle_lost(const struct cpus *cpus, unsigned ms, struct cpus *ret)
{
	AUTO_FREE unsigned *lost = mem_alloc(cpus->n * sizeof(*lost));
	size_t all = (size_t)cpus->cpu[cpus->n - 1] + 1, unknown = 0;
	AUTO_FREE char *state = mem_alloc(all + 1), *old = NULL;
	struct virt v;

	*ret = (struct cpus){ 0 };
	virt_read(&v);
	if (!v.vm)
		return 0;
	memset(state, '-', all);
	read_known(state, all);
	old = mem_strdup(state);
	for (size_t i = 0; i < cpus->n; i++)
		unknown += state[cpus->cpu[i]] == '-';
	for (int i = 0; unknown && i < ENOUGH_TRIES && try_again(cpus, ms, state, lost); i++)
		;
	ret->cpu = mem_alloc(cpus->n * sizeof(int));
	unknown = 0;
	for (size_t i = 0; i < cpus->n; i++) {
		unknown += state[cpus->cpu[i]] == '-';
		if (state[cpus->cpu[i]] == 'l')
			ret->cpu[ret->n++] = cpus->cpu[i];
	}
	if (strcmp(state, old) != 0)
		write_known(state);
	return unknown;
}
