/* SPDX-License-Identifier: MIT */
/* User stacks as files and offsets, as the kernel's option sym-userobj words them. */
#include <inttypes.h>
#include <string.h>

#include "event/task.h"
#include "view/ftrace/text_impl.h"

bool ftrace_put_user_stack(struct ftrace_text *t, const struct event *ev)
{
	const struct tasks *tasks = t->opts.mapped;
	const struct field *f = t->now->field[0];
	int32_t pid = tasks ? tasks_pid_at(tasks, ev->tid, 0) : -1;
	uint32_t space, at;

	if (!tasks || !f)
		return true;
	space = tasks_space_at(tasks, pid < 0 ? ev->tid : pid, 0);
	strbuf_puts(&t->b, "<user stack trace>\n");
	for (at = f->offset; at + t->opts.long_size <= ev->raw_size; at += t->opts.long_size) {
		uint64_t v = ftrace_text_word(t, ev, at);
		const struct task_map *m = v ? tasks_find(tasks, space, v) : NULL;

		if (!v)
			break;
		if (m)
			strbuf_printf(&t->b, "=> %s[+0x%" PRIx64 "] (%" PRIx64 ")\n",
				      tasks_dso_path(tasks, m->dso), v - m->start, v);
		else
			strbuf_printf(&t->b, "=> %" PRIx64 "\n", v);
	}
	return false;
}
