/* SPDX-License-Identifier: MIT */
#include "cmd/share/event_opts.h"

#include <string.h>

#include "base/str.h"
#include "kern/env.h"

const struct spec_env *events_env(void)
{
	static struct env env;
	static bool made;

	if (!made)
		env_init(&env, NULL);
	made = true;
	return &env.spec;
}

int events_filter(struct spec_list *list, const char *filter, struct err *e)
{
	struct event_spec *last = list->n ? &list->spec[list->n - 1] : NULL;
	const char *text = last ? last->text : NULL;

	if (!last || last->kind != SPEC_TRACEPOINT) {
		err_set(e, EINVAL, "--filter must follow a tracepoint");
		return err_hint(e, "-e block:block_rq_complete --filter 'nr_sector > 200'");
	}
	/* a pattern made several events of one text: the filter is for all of them */
	filter = arena_strdup(&list->arena, filter);
	for (size_t i = list->n; i-- > 0 && list->spec[i].text == text;)
		list->spec[i].filter = filter;
	last->filter = filter;
	return 0;
}

const char *const *cgroups_by_event(struct spec_list *list, const char *text)
{
	const char **by_event = arena_alloc(&list->arena, (list->n + 1) * sizeof(*by_event));
	bool single = !strchr(text, ',');

	for (size_t i = 0; i < list->n; i++) {
		size_t n = strcspn(text, ",");

		by_event[i] = n ? arena_strndup(&list->arena, text, n) : NULL;
		if (!single)
			text += n + (text[n] == ',');
	}
	return by_event;
}

int duration_ns(const char *text, uint64_t *ns, struct err *e)
{
	*ns = 0;
	if (text && (!str_duration(text, 1000000000u, ns) || !*ns)) {
		err_set(e, EINVAL, "--duration wants seconds, not '%s'", text);
		return err_hint(e, "such as 10, 0.5, 500ms or 2m");
	}
	return 0;
}
