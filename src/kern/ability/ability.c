/* SPDX-License-Identifier: MIT */
#include "kern/ability/ability.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kern/ability/line.h"
#include "kern/ability/try_idle.h"

#define IDLE_MS 10

static const char *const states[] = { "ok", "limited", "missing", "off" };

static const struct {
	const char *name;
	const struct ability_line *lines;
} groups[ABILITY_GROUPS] = {
	[ABILITY_MACHINE] = { "Machine", ability_machine },
	[ABILITY_COUNTING] = { "Counting", ability_counting },
	[ABILITY_TRACING] = { "Tracing", ability_tracing },
	[ABILITY_BPF] = { "BPF", ability_bpf },
	[ABILITY_NAMES] = { "Names and files", ability_names },
	[ABILITY_LIMITS] = { "Limits", ability_limits },
};

const char *ability_state_name(enum ability_state s)
{
	return states[s];
}

const char *ability_group_name(enum ability_group g)
{
	return groups[g].name;
}

bool ability_wants_fix(const struct ability *a)
{
	return a->fixable && (a->state == ABILITY_LIMITED || a->state == ABILITY_MISSING);
}

static void read_idle(struct ability_facts *f)
{
	struct cpus all = { 0 }, lost = { 0 };
	size_t n = 0;

	if (f->perf.all == 0 && cpus_online(&all, NULL) == 0)
		f->idle_unknown = try_idle_lost(&all, IDLE_MS, &lost) > 0;
	for (size_t i = 0; i < lost.n && n + 8 < sizeof(f->idle); i++)
		n += (size_t)snprintf(f->idle + n, sizeof(f->idle) - n, "%s%d", i ? "," : "",
				      lost.cpu[i]);
	cpus_free(&all);
	cpus_free(&lost);
}

void ability_facts_read(struct ability_facts *f)
{
	*f = (struct ability_facts){ 0 };
	priv_read(&f->priv);
	virt_read(&f->virt);
	f->lockdown = lockdown_read();
	kconfig_load(&f->config);
	try_perf(&f->perf);
	try_trace(&f->trace, priv_perfmon(&f->priv));
	try_bpf(&f->bpf, &f->config);
	read_idle(f);
	ability_host_read(&f->host);
}

void ability_facts_free(struct ability_facts *f)
{
	kconfig_free(&f->config);
}

static void ability_ability_describe(const struct ability_facts *f, const struct ability_line *l,
				     enum ability_group g, struct ability *a)
{
	*a = (struct ability){
		.line = l, .id = l->id, .name = l->name, .group = g, .detail = l->detail
	};
	if (l->setting && *(const int64_t *)((const char *)f + l->setting) == TRY_ABSENT)
		ability_not_built(f, a, "PERF_EVENTS");
	else if (!l->tracefs || ability_tracefs(f, a, l->tracefs))
		l->say(f, a);
}

size_t ability_describe(const struct ability_facts *f, struct ability *out)
{
	size_t n = 0;

	for (int g = 0; g < ABILITY_GROUPS; g++)
		for (const struct ability_line *l = groups[g].lines; l->id && n < ABILITY_MAX; l++)
			ability_ability_describe(f, l, (enum ability_group)g, &out[n++]);
	return n;
}

bool ability_describe_one(const struct ability_facts *f, const char *id, struct ability *ret)
{
	for (int g = 0; g < ABILITY_GROUPS; g++)
		for (const struct ability_line *l = groups[g].lines; l->id; l++)
			if (strcmp(l->id, id) == 0) {
				ability_ability_describe(f, l, (enum ability_group)g, ret);
				return true;
			}
	return false;
}

#define FORMAT(buf)                                   \
	do {                                          \
		va_list ap;                           \
		va_start(ap, fmt);                    \
		vsnprintf(buf, sizeof(buf), fmt, ap); \
		va_end(ap);                           \
	} while (0)

void ability_set(struct ability *a, enum ability_state s, const char *value, const char *fmt, ...)
{
	a->state = s;
	if (value)
		ability_value(a, "%s", value);
	FORMAT(a->meaning);
}

void ability_value(struct ability *a, const char *fmt, ...)
{
	FORMAT(a->value);
}

void ability_fix(struct ability *a, const char *fmt, ...)
{
	a->fixable = true;
	FORMAT(a->fix);
}

void ability_needs(struct ability *a, const char *fmt, ...)
{
	a->fixable = false;
	FORMAT(a->fix);
}

void ability_fix_root(const struct ability_facts *f, struct ability *a, const char *fmt, ...)
{
	char command[sizeof(a->fix) - sizeof("sudo ")];

	FORMAT(command);
	if (f->priv.own_userns)
		ability_needs(a, "outside the user namespace: %s", command);
	else if (f->priv.euid == 0 && f->virt.container[0] && !priv_has(&f->priv, CAP_SYS_ADMIN))
		ability_needs(a, "on the host, outside the container: %s", command);
	else if (f->priv.euid == 0)
		ability_fix(a, "%s", command);
	else if (f->priv.no_new)
		ability_needs(a, "a process that may become root (no_new_privs is set): %s",
			      command);
	else
		ability_fix(a, "sudo %s", command);
}

void ability_needs_root(const struct ability_facts *f, struct ability *a)
{
	if (f->virt.container[0] && f->priv.euid == 0)
		ability_needs(a, "a container started with --privileged, or kymo on the host");
	else if (f->priv.own_userns)
		ability_needs(a, "kymo outside the user namespace");
	else if (f->priv.euid == 0)
		ability_needs(a, "the capabilities that this root was started without");
	else if (f->priv.no_new)
		ability_needs(a, "a process that may become root (no_new_privs is set)");
	else
		ability_fix(a, "sudo kymo ...");
}

void ability_not_built(const struct ability_facts *f, struct ability *a, const char *config)
{
	ability_missing(a, a->value[0] ? NULL : "none", "not in this kernel");
	/* A kernel that says to have it lacks it for another reason: do not send people there. */
	if (kconfig_get(&f->config, config) != 'y')
		ability_needs(a, "CONFIG_%s", config);
}

void ability_refused(const struct ability_facts *f, struct ability *a, int err)
{
	ability_value(a, "refused");
	if (f->lockdown == LOCKDOWN_CONFIDENTIALITY) {
		ability_missing(a, NULL, "kernel lockdown forbids it");
		ability_needs(a, "a boot without lockdown=confidentiality");
	} else if (f->priv.filtered && (err == -EPERM || err == -ENOSYS)) {
		ability_missing(a, NULL, "a seccomp filter or the kernel refuses it: %s",
				strerror(-err));
		ability_needs(a, "a container or service without that filter");
	} else {
		ability_missing(a, NULL, "the kernel refuses it: %s", strerror(-err));
	}
}
