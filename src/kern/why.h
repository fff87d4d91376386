/* SPDX-License-Identifier: MIT */
#ifndef KYMO_KERN_WHY_H
#define KYMO_KERN_WHY_H
#include "event/spec.h"
int why_open_failed(const struct event_spec *s, int code, pid_t pid, int cpu, struct err *e);
#endif
