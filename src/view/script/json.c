/* SPDX-License-Identifier: MIT */
/*
 * One JSON object a line. Addresses are strings in hex, times are nanoseconds;
 * what an event does not have is left out.
 */

#include "event/regs.h"
#include "view/export/export.h"
#include "view/script/impl.h"

static void put_site(struct script *s, uint64_t ip, uint32_t space)
{
	const struct site *x = site_find(s, space, ip, SCRIPT_SYM);
	const char *name = site_function(s, x);

	if (!s->trace->own) /* it is made up */
		json_hex(&s->json, "ip", ip);
	if (!x->map)
		return;
	if (name) {
		json_str(&s->json, "sym", name);
		if (!s->trace->own)
			json_u64(&s->json, "off", x->t.addr - x->t.sym->start);
	}
	json_str(&s->json, "dso", site_dso_name(s, x->t.dso));
}

static bool script_json_put_frame(struct script *s, const uint64_t *ip, uint32_t left,
				  uint32_t space, uint32_t inlined, void *ctx)
{
	json_object(&s->json, NULL);
	put_site(s, *ip, space);
	json_end(&s->json);
	return true;
}

static void script_json_put_chain(struct script *s, const struct event *ev)
{
	json_array(&s->json, "chain");
	script_chain(s, ev, ev->chain_n, script_json_put_frame, NULL);
	json_end(&s->json);
}

static void script_json_put_head(struct script *s, const struct event *ev)
{
	char comm[TASK_NAME];

	if (ev->have & EVENT_HAVE_TASK) {
		json_str(&s->json, "comm", tasks_name_at(s->trace->tasks, ev->tid, ev->time, comm));
		json_i64(&s->json, "pid", ev->pid);
		json_i64(&s->json, "tid", ev->tid);
	}
	if (ev->have & EVENT_HAVE_CPU)
		json_u64(&s->json, "cpu", ev->cpu);
	if (ev->have & EVENT_HAVE_TIME)
		json_u64(&s->json, "time", ev->time);
}

static void put_mmap(struct script *s, const struct event_side *x)
{
	json_hex(&s->json, "start", x->start);
	json_hex(&s->json, "size", x->size);
	json_hex(&s->json, "pgoff", x->pgoff);
	if (s->o.everything) {
		json_u64(&s->json, "prot", x->prot);
		json_u64(&s->json, "flags", x->flags);
	}
	json_str(&s->json, "path", x->text);
}

static void script_json_put_counter(struct script *s, const struct event *ev)
{
	const struct event_type *t = &s->trace->types[ev->type];

	json_str(&s->json, "counter", t->name);
	json_double(&s->json, "value", ev->side->value);
	if (t->count_unit)
		json_str(&s->json, "unit", t->count_unit);
	json_u64(&s->json, "length", ev->side->length);
}

static void put_side(struct script *s, const struct event *ev)
{
	const struct event_side *x = ev->side;

	json_str(&s->json, "record", x && x->name ? x->name : "UNKNOWN");
	switch (x ? ev->kind : EVENT_OTHER) {
	case EVENT_MMAP: put_mmap(s, x); break;
	case EVENT_COMM:
		json_str(&s->json, "name", x->text);
		json_bool(&s->json, "exec", x->exec);
		break;
	case EVENT_FORK:
	case EVENT_EXIT:
		json_i64(&s->json, "ppid", x->other_pid);
		json_i64(&s->json, "ptid", x->other_tid);
		break;
	case EVENT_SWITCH:
		json_bool(&s->json, "out", x->out);
		json_bool(&s->json, "preempt", x->preempt);
		if (x->other_tid >= 0)
			json_i64(&s->json, x->out ? "next_tid" : "prev_tid", x->other_tid);
		break;
	case EVENT_LOST: json_u64(&s->json, "lost", x->count); break;
	default:
		if (s->o.everything && x && x->n_bytes)
			json_bytes(&s->json, "bytes", x->bytes, x->n_bytes);
	}
}

static void put_registers(struct script *s, const char *k, uint64_t abi, uint64_t mask,
			  const uint64_t *regs)
{
	char buf[16];

	if (!regs || !abi)
		return;
	json_object(&s->json, k);
	for (unsigned r = 0; r < 64; r++) {
		if (!(mask >> r & 1))
			continue;
		json_hex(&s->json, regs_name(s->trace->info.arch, r, buf, sizeof(buf)), *regs++);
	}
	json_end(&s->json);
}

static void put_branches(struct script *s, const struct event_extra *x)
{
	json_array(&s->json, "branches");
	for (uint64_t i = 0; i < x->branch_n; i++) {
		json_object(&s->json, NULL);
		json_hex(&s->json, "from", x->branch[i].from);
		json_hex(&s->json, "to", x->branch[i].to);
		json_hex(&s->json, "flags", x->branch[i].flags);
		json_end(&s->json);
	}
	json_end(&s->json);
}

static void put_cgroup(struct script *s, uint64_t id)
{
	const char *path = s->o.cgroup ? s->o.cgroup(s->o.ctx, id) : NULL;

	json_u64(&s->json, "cgroup_id", id);
	if (path)
		json_str(&s->json, "cgroup", path);
}

/* What few events carry: all that the sample was recorded with. */
static void put_extra(struct script *s, const struct event *ev, const struct event_extra *x)
{
	unsigned has = s->trace->types[ev->type].has;

	if (has & TYPE_HAS_WEIGHT)
		json_u64(&s->json, "weight", x->weight);
	if (has & TYPE_HAS_DATA_SRC)
		json_hex(&s->json, "data_src", x->data_src);
	if (has & TYPE_HAS_TRANSACTION)
		json_hex(&s->json, "transaction", x->transaction);
	if (has & TYPE_HAS_PHYS_ADDR)
		json_hex(&s->json, "phys_addr", x->phys_addr);
	if (has & TYPE_HAS_CGROUP)
		put_cgroup(s, x->cgroup);
	if (has & TYPE_HAS_DATA_PAGE)
		json_u64(&s->json, "data_page_size", x->data_page_size);
	if (has & TYPE_HAS_CODE_PAGE)
		json_u64(&s->json, "code_page_size", x->code_page_size);
	if (has & TYPE_HAS_STREAM_ID)
		json_u64(&s->json, "stream_id", x->stream_id);
	if (has & TYPE_HAS_BRANCHES)
		put_branches(s, x);
	put_registers(s, "user_regs", x->regs_abi, x->regs_mask, x->regs);
	put_registers(s, "intr_regs", x->regs_intr_abi, x->regs_intr_mask, x->regs_intr);
	if ((has & TYPE_HAS_STACK) && x->stack)
		json_bytes(&s->json, "user_stack", x->stack, x->stack_size);
	if ((has & TYPE_HAS_AUX) && x->aux)
		json_bytes(&s->json, "aux", x->aux, x->aux_size);
	if ((has & TYPE_HAS_READ) && x->read)
		json_bytes(&s->json, "read", x->read, x->read_size);
}

static void script_json_put_sample(struct script *s, const struct event *ev)
{
	static const char *const modes[] = { "",	   "kernel",	   "user",
					     "hypervisor", "guest_kernel", "guest_user" };
	const struct event_type *t = &s->trace->types[ev->type];

	json_str(&s->json, "event", t->name);
	json_u64(&s->json, "period", ev->weight);
	if (s->o.everything && ev->mode)
		json_str(&s->json, "mode", modes[ev->mode]);
	if (ev->have & EVENT_HAVE_IP)
		put_site(s, ev->ip, site_space(s, ev, ev->mode));
	if (ev->have & EVENT_HAVE_ADDR)
		json_hex(&s->json, "addr", ev->addr);
	if (s->o.everything && (ev->have & EVENT_HAVE_ID))
		json_u64(&s->json, "id", ev->id);
	if ((ev->have & EVENT_HAVE_CHAIN) && s->o.chains)
		script_json_put_chain(s, ev);
	if (s->o.everything && (ev->have & EVENT_HAVE_EXTRA))
		put_extra(s, ev, ev->extra);
	if (!(ev->have & EVENT_HAVE_RAW))
		return;
	if (t->n_fields) {
		export_fields(&s->json, "fields", t, ev, true);
	} else if (s->o.everything) {
		json_bytes(&s->json, "raw", ev->raw, ev->raw_size);
	}
}

void json_event(struct script *s, const struct event *ev)
{
	s->json.to = s->out; /* which is another one for each part of the recording */
	json_object(&s->json, NULL);
	script_json_put_head(s, ev);
	if (ev->kind == EVENT_SAMPLE)
		script_json_put_sample(s, ev);
	else if (ev->kind == EVENT_COUNTER)
		script_json_put_counter(s, ev);
	else
		put_side(s, ev);
	json_end(&s->json);
	out_putc(s->out, '\n');
}
