/* SPDX-License-Identifier: MIT */
/* User stacks as files and offsets, as the kernel's option sym-userobj words them. */
#include <inttypes.h>
#include <string.h>

#include "event/task.h"
#include "view/ftrace/text_impl.h"

static uint64_t ftrace_text_user_word(const struct ftrace_text *t, const uint8_t *p)
{
	uint64_t v64;
	uint32_t v32;

	if (t->heads.long_size == 4) {
		memcpy(&v32, p, 4);
		return t->heads.swap ? __builtin_bswap32(v32) : v32;
	}
	memcpy(&v64, p, 8);
	return t->heads.swap ? __builtin_bswap64(v64) : v64;
}

bool ftrace_put_user_stack(struct ftrace_text *t, const struct ftrace_record *rec,
			   const struct ftrace_next *next)
{
	const struct tasks *tasks = t->opts.mapped;
	const struct field *f = t->now->field[0];
	int32_t pid = tasks ? tasks_pid_at(tasks, rec->pid, 0) : -1;
	uint32_t space, at;

	(void)next;
	if (!tasks || !f)
		return true;
	space = tasks_space_at(tasks, pid < 0 ? rec->pid : pid, 0);
	strbuf_puts(&t->b, "<user stack trace>\n");
	for (at = f->offset; at + t->heads.long_size <= rec->r.size; at += t->heads.long_size) {
		uint64_t v = ftrace_text_user_word(t, rec->r.data + at);
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
