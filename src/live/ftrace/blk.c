/* SPDX-License-Identifier: MIT */
/*
 * The tracer "blk" traces only disks that are switched on for it, each by a file of its own
 * below /sys/block. They are switched on with the tracer, and off again as all else.
 */
#include "live/ftrace/ftrace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "kern/undo.h"

#define BLOCK "/sys/block"

/* An empty loop device, or one that is traced already, needs nothing. */
static bool wants(const char *name)
{
	AUTO_FREE char *size = mem_printf(BLOCK "/%s/size", name);
	AUTO_FREE char *enable = mem_printf(BLOCK "/%s/trace/enable", name);
	int64_t sectors = 0, on = 1;

	return file_i64(size, &sectors) == 0 && sectors > 0 && file_i64(enable, &on) == 0 && !on;
}

int ftrace_blk_devices(struct ftrace *f, struct err *e)
{
	struct file_names names = { 0 };
	int on = 0, r = file_list(BLOCK, &names);

	for (size_t i = 0; r >= 0 && i < names.n; i++) {
		AUTO_FREE char *path = mem_printf(BLOCK "/%s/trace/enable", names.name[i]);

		if (!wants(names.name[i]))
			continue;
		r = undo_write(f->undo, path, "1", e);
		if (r == -EBUSY)
			err_hint(e, "blktrace, or another kymo, traces this disk already");
		if (r < 0)
			break;
		on++;
		if (!f->note[0])
			snprintf(f->note, sizeof(f->note), "traces requests of %s", names.name[i]);
		else if (strlen(f->note) + strlen(names.name[i]) + 3 < sizeof(f->note))
			strcat(strcat(f->note, ", "), names.name[i]);
	}
	file_names_free(&names);
	if (r >= 0 && !on)
		snprintf(f->note, sizeof(f->note),
			 "no disk here can be switched on for blk: it traces nothing");
	return r < 0 ? r : 0;
}
