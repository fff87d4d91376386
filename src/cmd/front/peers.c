/* SPDX-License-Identifier: MIT */
/*
 * Words that a perf user's hands know and kymo has no command for: what to type instead.
 *
 * It is asked only after no command was found, so a line may stay here when
 * the command comes. Each names something that works today.
 */
#include <string.h>

#include "base/mem.h"
#include "cmd/command.h"

static const struct {
	const char *word, *instead;
} perf_words[] = {
	{ "bench", "kymo stat -r 10 COMMAND measures any program" },
	{ "c2c", "kymo record -d -e EVENT keeps data addresses, kymo script -F addr shows them" },
	{ "daemon", "kymo record --control fifo:PATH --switch-output runs in the background" },
	{ "iostat", "kymo stat -e 'block:*' -a counts disk requests" },
	{ "kmem", "kymo stat -e 'kmem:*' COMMAND counts the kernel's allocations" },
	{ "kvm", "kymo stat -e 'kvm:*' -a counts what a host does for its guests" },
	{ "kwork", "kymo stat -e 'irq:*' -e 'workqueue:*' -a counts interrupts and work items" },
	{ "lock", "kymo record -e 'lock:*' -ag records who waits for locks" },
	{ "mem", "kymo record -d -e EVENT keeps data addresses, kymo script -F addr shows them" },
	{ "sched", "kymo record -e 'sched:*' -a records it, kymo script shows it" },
	{ "timechart", "kymo record -e 'sched:*' -a records it, kymo script shows it" },
};

const char *peer_instead(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(perf_words); i++)
		if (strcmp(perf_words[i].word, word) == 0)
			return perf_words[i].instead;
	return NULL;
}
