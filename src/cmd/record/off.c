/* SPDX-License-Identifier: MIT */
/* kymo record --off-cpu: the event, the end, and what is said of it. */
#include "cmd/record/record.h"
#include "live/about/synth.h"

#define ROOM_MAX (1u << 22) /* of it the kernel's tables take half a gigabyte */

int record_off_prepare(struct record_args *a, struct err *e)
{
	struct capture_off *off = &a->capture.off;

	off->on = off->on || off->wakers;
	if (!off->on)
		return 0;
	off->direct_ns = a->off_thresh_ms * 1000000u;
	if (a->off_thresh_ms > UINT64_MAX / 1000000u)
		return err_set(e, EINVAL, "--off-cpu-thresh %llu is too long",
			       (unsigned long long)a->off_thresh_ms);
	if (a->off_room > ROOM_MAX) {
		err_set(e, EINVAL, "--off-cpu-room %llu is too much",
			(unsigned long long)a->off_room);
		return err_hint(e, "up to %u", ROOM_MAX);
	}
	off->sums = (uint32_t)a->off_room;
	if (walked_fits_off(&a->capture, e) < 0)
		return -e->code;
	offcpu_add_event(&a->events);
	return 0;
}

void record_off_flush(struct recording *r)
{
	if (r->walked.off.walker)
		offcpu_flush(&r->walked.off);
}

/* Who woke others may be nobody that is recorded: say what they have mapped. */
int record_off_wakers(struct recording *r, struct err *e)
{
	const struct capture_event *ev = capture_tracking(&r->capture);
	const struct offcpu *off = &r->walked.off;
	struct synth s = { .fn = record_out_bytes, .ctx = &r->out };

	if (!ev || !ev->n_ids || r->target.system_wide)
		return 0;
	capture_synth(ev, &s);
	vec_each (&off->waker_list, pid)
		if (*pid > 0 && !walker_off_is_target(off->walker, *pid) &&
		    synth_process(&s, *pid, e) < 0)
			return -e->code;
	return 0;
}

void record_off_tell(const struct recording *r)
{
	const struct offcpu *off = &r->walked.off;
	struct walker_stats s;
	char a[64], b[32];

	if (!off->walker)
		return;
	walker_stats(off->walker, &s);
	if (!r->a->quiet)
		command_note("off the CPU: %.3f s in %s", (double)off->ns / 1e9,
			     str_count(off->stacks.n, "different stack", a, sizeof(a)));
	if (off->stackless)
		command_note("%s samples of time off the CPU have no stack: the walker's ring was "
			     "full",
			     str_thousands(off->stackless, a, sizeof(a)));
	if (s.off_lost_sums || s.off_lost_tasks)
		command_note("time off the CPU is not complete: there was no room for %s waits and "
			     "%s threads (--off-cpu-room N gives more)",
			     str_thousands(s.off_lost_sums, a, sizeof(a)),
			     str_thousands(s.off_lost_tasks, b, sizeof(b)));
	if (s.off_lost_ends)
		command_note(
			"%s whose end this kernel did not tell: left out of the time off the CPU",
			str_count(s.off_lost_ends, "wait", a, sizeof(a)));
}
