/* SPDX-License-Identifier: MIT */
/*
 * One JSON object a line. Addresses are strings in hex, times are nanoseconds;
 * what an event does not have is left out.
 */
#include <string.h>

#include "base/json.h"
#include "event/regs.h"
#include "store/perfdata/abi.h"
#include "store/perfdata/records.h"
#include "view/export/export.h"
#include "view/script/impl.h"

/* ", " where something stands before, and the key. */
static void key(struct script *s, const char *k)
{
	if (s->json_any)
		out_add(s->out, ", ", 2);
	s->json_any = true;
	out_putc(s->out, '"');
	out_puts(s->out, k);
	out_add(s->out, "\": ", 3);
}

static void script_json_begin(struct script *s, char c)
{
	out_putc(s->out, c);
	s->json_any = false;
}

static void script_json_finish(struct script *s, char c)
{
	out_putc(s->out, c);
	s->json_any = true;
}

static void put_str(struct script *s, const char *k, const char *v)
{
	key(s, k);
	json_quote(s->out, v ? v : "", v ? strlen(v) : 0);
}

static void put_u64(struct script *s, const char *k, uint64_t v)
{
	key(s, k);
	out_u64(s->out, v, 0);
}

static void put_i64(struct script *s, const char *k, int64_t v)
{
	key(s, k);
	out_i64(s->out, v, 0);
}

static void put_bool(struct script *s, const char *k, bool v)
{
	key(s, k);
	out_puts(s->out, v ? "true" : "false");
}

static void script_json_put_hex(struct script *s, const char *k, uint64_t v)
{
	key(s, k);
	out_add(s->out, "\"0x", 3);
	out_hex(s->out, v, 0);
	out_putc(s->out, '"');
}

static void script_json_put_bytes(struct script *s, const char *k, const void *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = data;

	key(s, k);
	out_putc(s->out, '"');
	for (size_t i = 0; i < n; i++) {
		char *to = out_room(s->out, 2);

		to[0] = digits[p[i] >> 4];
		to[1] = digits[p[i] & 15];
		s->out->n += 2;
	}
	out_putc(s->out, '"');
}

static void put_site(struct script *s, uint64_t ip, uint32_t space)
{
	const struct site *x = site_find(s, space, ip, SCRIPT_SYM);
	const char *name = site_function(s, x);

	script_json_put_hex(s, "ip", ip);
	if (!x->map)
		return;
	if (name) {
		put_str(s, "sym", name);
		put_u64(s, "off", x->addr - x->sym->start);
	}
	put_str(s, "dso", site_dso_name(s, x->dso));
}

static bool script_json_put_frame(struct script *s, const uint64_t *ip, uint32_t left,
				  uint32_t space, uint32_t inlined, void *ctx)
{
	(void)left;
	(void)inlined;
	(void)ctx;
	if (s->json_any)
		out_add(s->out, ", ", 2);
	script_json_begin(s, '{');
	put_site(s, *ip, space);
	script_json_finish(s, '}');
	return true;
}

static void script_json_put_chain(struct script *s, const struct event *ev)
{
	key(s, "chain");
	script_json_begin(s, '[');
	script_chain(s, ev, ev->chain_n, script_json_put_frame, NULL);
	script_json_finish(s, ']');
}

static void script_json_put_head(struct script *s, const struct event *ev)
{
	char comm[TASK_NAME];

	if (ev->have & EVENT_HAVE_TASK) {
		put_str(s, "comm", tasks_name_at(s->trace->tasks, ev->tid, ev->time, comm));
		put_i64(s, "pid", ev->pid);
		put_i64(s, "tid", ev->tid);
	}
	if (ev->have & EVENT_HAVE_CPU)
		put_u64(s, "cpu", ev->cpu);
	if (ev->have & EVENT_HAVE_TIME)
		put_u64(s, "time", ev->time);
}

static void put_mmap(struct script *s, const struct event_side *x)
{
	script_json_put_hex(s, "start", x->start);
	script_json_put_hex(s, "size", x->size);
	script_json_put_hex(s, "pgoff", x->pgoff);
	if (s->o.everything) {
		put_u64(s, "prot", x->prot);
		put_u64(s, "flags", x->flags);
	}
	put_str(s, "path", x->text);
}

static void put_side(struct script *s, const struct event *ev)
{
	const struct perfdata_event_header *h = ev->record;
	const struct event_side *x = ev->side;
	const char *name = h ? records_name(h->type) : NULL;

	put_str(s, "record", name ? name : "UNKNOWN");
	switch (x ? ev->kind : EVENT_OTHER) {
	case EVENT_MMAP: put_mmap(s, x); break;
	case EVENT_COMM:
		put_str(s, "name", x->text);
		put_bool(s, "exec", x->exec);
		break;
	case EVENT_FORK:
	case EVENT_EXIT:
		put_i64(s, "ppid", x->other_pid);
		put_i64(s, "ptid", x->other_tid);
		break;
	case EVENT_SWITCH:
		put_bool(s, "out", x->out);
		put_bool(s, "preempt", x->preempt);
		if (x->other_tid >= 0)
			put_i64(s, x->out ? "next_tid" : "prev_tid", x->other_tid);
		break;
	case EVENT_LOST: put_u64(s, "lost", x->count); break;
	default:
		if (s->o.everything && h && h->size > sizeof(*h))
			script_json_put_bytes(s, "bytes", h + 1, h->size - sizeof(*h));
	}
}

static void put_registers(struct script *s, const char *k, uint64_t abi, uint64_t mask,
			  const uint64_t *regs)
{
	char buf[16];

	if (!regs || !abi)
		return;
	key(s, k);
	script_json_begin(s, '{');
	for (unsigned r = 0; r < 64; r++) {
		if (!(mask >> r & 1))
			continue;
		script_json_put_hex(s, regs_name(s->trace->info.arch, r, buf, sizeof(buf)),
				    *regs++);
	}
	script_json_finish(s, '}');
}

static void put_branches(struct script *s, const struct event_extra *x)
{
	key(s, "branches");
	script_json_begin(s, '[');
	for (uint64_t i = 0; i < x->branch_n; i++) {
		if (i)
			out_add(s->out, ", ", 2);
		script_json_begin(s, '{');
		script_json_put_hex(s, "from", x->branch[i].from);
		script_json_put_hex(s, "to", x->branch[i].to);
		script_json_put_hex(s, "flags", x->branch[i].flags);
		script_json_finish(s, '}');
	}
	script_json_finish(s, ']');
}

static void put_cgroup(struct script *s, uint64_t id)
{
	const char *path = s->o.cgroup ? s->o.cgroup(s->o.ctx, id) : NULL;

	put_u64(s, "cgroup_id", id);
	if (path)
		put_str(s, "cgroup", path);
}

/* What few events carry: all that the sample was recorded with. */
static void put_extra(struct script *s, const struct event *ev, const struct event_extra *x)
{
	unsigned has = s->trace->types[ev->type].has;

	if (has & TYPE_HAS_WEIGHT)
		put_u64(s, "weight", x->weight);
	if (has & TYPE_HAS_DATA_SRC)
		script_json_put_hex(s, "data_src", x->data_src);
	if (has & TYPE_HAS_TRANSACTION)
		script_json_put_hex(s, "transaction", x->transaction);
	if (has & TYPE_HAS_PHYS_ADDR)
		script_json_put_hex(s, "phys_addr", x->phys_addr);
	if (has & TYPE_HAS_CGROUP)
		put_cgroup(s, x->cgroup);
	if (has & TYPE_HAS_DATA_PAGE)
		put_u64(s, "data_page_size", x->data_page_size);
	if (has & TYPE_HAS_CODE_PAGE)
		put_u64(s, "code_page_size", x->code_page_size);
	if (has & TYPE_HAS_STREAM_ID)
		put_u64(s, "stream_id", x->stream_id);
	if (has & TYPE_HAS_BRANCHES)
		put_branches(s, x);
	put_registers(s, "user_regs", x->regs_abi, x->regs_mask, x->regs);
	put_registers(s, "intr_regs", x->regs_intr_abi, x->regs_intr_mask, x->regs_intr);
	if ((has & TYPE_HAS_STACK) && x->stack)
		script_json_put_bytes(s, "user_stack", x->stack, x->stack_size);
	if ((has & TYPE_HAS_AUX) && x->aux)
		script_json_put_bytes(s, "aux", x->aux, x->aux_size);
	if ((has & TYPE_HAS_READ) && x->read)
		script_json_put_bytes(s, "read", x->read, x->read_size);
}

static void script_json_put_sample(struct script *s, const struct event *ev)
{
	static const char *const modes[] = { "",	   "kernel",	   "user",
					     "hypervisor", "guest_kernel", "guest_user" };
	const struct event_type *t = &s->trace->types[ev->type];

	put_str(s, "event", t->name);
	put_u64(s, "period", ev->weight);
	if (s->o.everything && ev->mode)
		put_str(s, "mode", modes[ev->mode]);
	if (ev->have & EVENT_HAVE_IP)
		put_site(s, ev->ip, site_space(s, ev, ev->mode));
	if (ev->have & EVENT_HAVE_ADDR)
		script_json_put_hex(s, "addr", ev->addr);
	if (s->o.everything && (ev->have & EVENT_HAVE_ID))
		put_u64(s, "id", ev->id);
	if ((ev->have & EVENT_HAVE_CHAIN) && s->o.chains)
		script_json_put_chain(s, ev);
	if (s->o.everything && (ev->have & EVENT_HAVE_EXTRA))
		put_extra(s, ev, ev->extra);
	if (!(ev->have & EVENT_HAVE_RAW))
		return;
	if (t->n_fields) {
		key(s, "fields");
		export_fields(s->out, t, ev, true);
	} else if (s->o.everything) {
		script_json_put_bytes(s, "raw", ev->raw, ev->raw_size);
	}
}

void json_event(struct script *s, const struct event *ev)
{
	script_json_begin(s, '{');
	script_json_put_head(s, ev);
	if (ev->kind == EVENT_SAMPLE)
		script_json_put_sample(s, ev);
	else
		put_side(s, ev);
	out_add(s->out, "}\n", 2);
}
