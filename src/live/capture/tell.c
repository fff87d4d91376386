/* SPDX-License-Identifier: MIT */
/* The events of a capture, told to who writes them, reads them, or wants to know how they were set
 * up. */
#include "base/mem.h"
#include "event/attr.h"
#include "live/about/synth.h"
#include "live/capture/capture.h"
#include "store/perfdata/write.h"

void capture_synth(const struct capture_event *ev, struct synth *s)
{
	s->sample_type = ev->attr.sample_type;
	s->event_id = ev->id[0];
}

struct perfdata_event *capture_events(const struct capture *c)
{
	struct perfdata_event *events = mem_alloc((c->n + 1) * sizeof(*events));

	for (size_t i = 0; i < c->n; i++) {
		const struct capture_event *ev = &c->event[i];

		events[i] = (struct perfdata_event){
			.name = ev->spec->name,
			.attr = ev->attr,
			.ids = ev->id,
			.n_ids = ev->n_ids,
			.leader = ev->spec->leader,
			.group_name = ev->spec->group_name,
		};
	}
	return events;
}

struct event_type capture_type(const struct capture_event *ev)
{
	struct event_type t = { .name = ev->spec->name };

	attr_type(&ev->attr, &t);
	return t;
}

void capture_settings(const struct capture *c, const struct capture_event *ev, setting_fn *fn,
		      void *ctx)
{
	struct perf_event_attr attr = ev->attr;

	attr.build_id = attr.build_id && !c->ids; /* as the kernel was asked */
	attr_each(&attr, fn, ctx);
}
