/* SPDX-License-Identifier: MIT */
/* kymo record: what the options mean together, and a recording from its begin to its end. */
#include "cmd/record/record.h"

#include <signal.h>
#include <string.h>

#include "cmd/share/event_opts.h"
#include "live/capture/attr.h"
#include "live/capture/offcpu.h"

struct teller {
	const struct record_args *a;
	struct watching watching;
};

static void on_note(void *ctx, bool urgent, const char *text)
{
	const struct teller *t = ctx;

	if (urgent || !t->a->quiet)
		command_note("%s", text);
}

static void on_tick(void *ctx, const struct recording *r)
{
	struct teller *t = ctx;

	watching_at(&t->watching, r->out.counted, r->out.w ? perfdata_write_size(r->out.w) : 0);
}

static void begin_watching(struct teller *t, struct recording *r)
{
	const struct record_opts *o = &t->a->o;
	size_t n = r->capture.n - r->capture.dummy;
	char whom[64], what[64];

	if (n == 1)
		snprintf(what, sizeof(what), "%s", r->capture.event[0].spec->name);
	else
		snprintf(what, sizeof(what), "%zu events", n);
	watching_whom(&o->target, whom, sizeof(whom));
	watching_begin(&t->watching,
		       &(struct watching_opts){ .what = what,
						.whom = whom,
						.command = r->argv ? r->argv[0] : NULL,
						.of_command = r->target.command,
						.quiet = t->a->quiet,
						.limit_ns = o->limit_ns });
	r->out.counting = t->watching.running;
}

static int check_freq(struct record_args *a, struct err *e)
{
	uint64_t max = capture_max_freq();

	if (a->o.capture.freq <= max)
		return 0;
	if (a->strict_freq) {
		err_set(e, EINVAL, "-F %llu is more than this kernel allows now (%llu)",
			(unsigned long long)a->o.capture.freq, (unsigned long long)max);
		return err_hint(e, "-F max, or sysctl kernel.perf_event_max_sample_rate=%llu",
				(unsigned long long)a->o.capture.freq);
	}
	if (a->o.capture.freq_given && !a->quiet)
		command_note("this kernel allows %llu samples a second now, not %llu (sysctl "
			     "kernel.perf_event_max_sample_rate)",
			     (unsigned long long)max, (unsigned long long)a->o.capture.freq);
	a->o.capture.freq = max;
	return 0;
}

static int choose_cgroups(struct record_args *a, struct err *e)
{
	if (!a->cgroups)
		return 0;
	if (!a->o.target.all_cpus && !a->o.target.cpus) {
		err_set(e, EINVAL, "cgroups are recorded on the whole machine");
		return err_hint(e, "add -a");
	}
	a->o.capture.cgroups = cgroups_by_event(&a->o.events, a->cgroups);
	return 0;
}

#define ROOM_MAX (1u << 22) /* of it the kernel's tables take half a gigabyte */

static int prepare_off(struct record_args *a, struct err *e)
{
	struct walker_off *off = &a->o.capture.off;

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
	if (walked_fits_off(&a->o.capture, e) < 0)
		return -e->code;
	offcpu_add_event(&a->o.events);
	return 0;
}

static int record_prepare(struct record_args *a, bool command, struct err *e)
{
	const struct target_opts *t = &a->o.target;

	if (!a->o.events.n && spec_parse(&a->o.events, "cycles:P", events_env(), e) < 0)
		return -e->code;
	for (size_t i = 0; a->group && i < a->o.events.n; i++) {
		a->o.events.spec[i].leader = 0;
		a->o.events.spec[i].members = i ? 1 : (int)a->o.events.n;
	}
	if (prepare_off(a, e) < 0)
		return -e->code;
	if (!command && !t->pids && !t->tids && !t->cpus && !t->user)
		a->o.target.all_cpus = true;
	if (a->o.capture.per_thread && (t->all_cpus || t->cpus)) {
		err_set(e, EINVAL, "--per-thread goes with a command, -p or -t");
		return err_hint(e, "leave out -a and -C");
	}
	if ((int)a->o.capture.max_stack < 0 || a->o.switch_max_files < 0)
		return err_set(e, EINVAL, "--%s cannot be negative",
			       a->o.switch_max_files < 0 ? "switch-max-files" : "max-stack");
	if (a->o.realtime < 0 || a->o.realtime > 99)
		return err_set(e, EINVAL, "-r wants a priority of 1 to 99, not %d", a->o.realtime);
	if (a->o.capture.all_user && a->o.capture.all_kernel)
		return err_set(e, EINVAL, "--all-user and --all-kernel leave nothing together");
	if (a->o.output && strcmp(a->o.output, "-") == 0 && a->o.timestamp_file)
		return err_set(e, EINVAL, "a pipe is one file: --switch-output needs another -o");
	if (a->o.output && command_spare_terminal(a->o.output, "a recording", e) < 0)
		return -e->code;
	/* of single threads, as with perf */
	a->o.no_inherit = a->o.no_inherit || t->tids;
	if (duration_ns(a->duration, &a->o.limit_ns, e) < 0 || check_freq(a, e) < 0)
		return -e->code;
	return choose_cgroups(a, e);
}

/* Whatever went wrong, the file is made whole. */
static int end_recording(const struct record_args *a, struct recording *r, int code, struct err *e)
{
	struct err later = { 0 };
	int stopped = record_stop(r, code < 0, &later), closed;

	if (r->out.w)
		record_say_end(a, r);
	closed = record_close(r, code < 0 || stopped < 0, &later);
	if (code == 0 && (stopped < 0 || closed < 0)) {
		*e = later;
		return stopped < 0 ? stopped : closed;
	}
	if (code == 0)
		record_say_result(a, r);
	return code;
}

int record_run(struct record_args *a, char **command, int *exit_code, struct err *e)
{
	struct teller t = { .a = a };
	struct recording r;
	int code;

	/* a reader of the recording who has gone is told, one of the messages is not needed */
	signal(SIGPIPE, SIG_IGN);
	code = record_prepare(a, command != NULL, e);
	if (code < 0 || a->dry_run)
		return code;
	a->o.cmdline = command_line();
	code = record_open(&r, &a->o, command,
			   &(struct record_listen){ on_note, on_tick, record_say_events, &t }, e);
	record_say_opened(a, &r);
	if (code == 0) {
		begin_watching(&t, &r);
		code = record_start(&r, e);
	}
	if (code == 0)
		code = record_loop(&r, e);
	watching_end(&t.watching);
	if (command && !a->quiet)
		command_note_killed(command[0], r.child.signal);
	code = end_recording(a, &r, code, e);
	*exit_code = r.exit_code;
	record_free(&r);
	return code;
}
