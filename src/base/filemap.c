/* SPDX-License-Identifier: MIT */
#include "base/filemap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

#define NAME_MAX_SHOWN 255

/*
 * What is mapped. Links are made once and never taken away, only used again, so that a handler can
 * walk them at any moment; start is set last and cleared first.
 */
struct link {
	struct link *next;
	atomic_uintptr_t start;
	uintptr_t end;
	char name[NAME_MAX_SHOWN + 1];
};

static _Atomic(struct link *) links;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct link *link_of(uintptr_t at)
{
	for (const struct link *l = links; l; l = l->next) {
		uintptr_t start = l->start;

		if (start && at >= start && at < l->end)
			return l;
	}
	return NULL;
}

static void filemap_say(const char *text)
{
	ssize_t n = write(STDERR_FILENO, text, strlen(text));

	(void)n;
}

/* Only what a handler may call. A SIGBUS of another kind does what it always did. */
static void on_bus(int sig, siginfo_t *info, void *context)
{
	const struct link *l = link_of((uintptr_t)info->si_addr);

	mem_last_words();
	if (!l) {
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	filemap_say("kymo: ");
	filemap_say(l->name);
	filemap_say(" became shorter, or could not be read, while it was being read\n"
		    "hint: wait until nobody writes to it any more, or read a copy of it\n");
	_exit(1);
}

void filemap_start(void)
{
	struct sigaction sa = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, NULL);
}

/* A terminal must not be driven by a name, and nobody guards what a handler writes. */
static void set_name(struct link *l, const char *name)
{
	size_t n = strlen(name), from = n > NAME_MAX_SHOWN ? n - NAME_MAX_SHOWN : 0;

	for (n = 0; name[from + n]; n++)
		l->name[n] = (unsigned char)name[from + n] < ' ' || name[from + n] == 127
				     ? '?'
				     : name[from + n];
	l->name[n] = '\0';
}

static void filemap_remember(const void *p, size_t size, const char *name)
{
	struct link *l;

	pthread_mutex_lock(&lock);
	for (l = links; l && l->start; l = l->next)
		;
	if (!l) {
		l = mem_alloc(sizeof(*l));
		l->next = links;
		links = l;
	}
	set_name(l, name);
	l->end = (uintptr_t)p + size;
	l->start = (uintptr_t)p;
	pthread_mutex_unlock(&lock);
}

void *filemap_open(int fd, size_t size, const char *name)
{
	/* In private mappings of a program's file the kernel puts the breakpoints of everybody's
	 * uprobes, also in those that nobody executes. Some file systems know no others. */
	void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	filemap_remember(p, size, name);
	return p;
}

void filemap_close(const void *p, size_t size)
{
	if (!p)
		return;
	pthread_mutex_lock(&lock);
	for (struct link *l = links; l; l = l->next)
		if (l->start == (uintptr_t)p) {
			l->start = 0;
			break;
		}
	pthread_mutex_unlock(&lock);
	munmap((void *)p, size);
}
