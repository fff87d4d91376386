/* SPDX-License-Identifier: MIT */
/* `kymo doctor -p PID`: will a profile of this process have whole stacks and names? */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* 0 when nothing is missing that a command would mend, 1 otherwise, -errno when the process cannot
 * be looked at. */
int doctor_process(pid_t pid, bool json, struct err *e);
