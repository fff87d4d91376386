/* SPDX-License-Identifier: MIT */
/*
 * The same BPF programs in user space, over recorded events.
 *
 * A program compiled with env.recorded (and ncpus 1) is run instruction by
 * instruction; helpers answer from the event. Memory that only the kernel had at
 * the time (user strings, kernel structures) reads as nothing.
 */
#pragma once

#include "event/event.h"
#include "lang/out.h"

struct lang_vm;

struct lang_vm_event {
	uint64_t time;
	int32_t pid, tid;
	uint32_t cpu;
	const char *comm;
	const void *raw; /* a tracepoint's record; NULL: none */
	size_t raw_size;
	const uint64_t *chain; /* as in struct event */
	uint32_t chain_n;
};

/*
 * o->h gets its maps and stacks from here (lang_vm_host); user is for its other functions. A run
 * ends after max_steps instructions; 0: after 20 million.
 */
int lang_vm_open(struct lang_program *p, struct lang_out *o, void *user, uint64_t max_steps,
		 struct lang_vm **ret, struct err *e);
void lang_vm_close(struct lang_vm *vm);
/* The host's ctx is the machine. */
void lang_vm_host(struct lang_vm *vm, struct lang_host *h);
void *lang_vm_user(const struct lang_vm *vm);

/* Run one of the program's codes; -ELOOP when it does not end. */
int lang_vm_run(struct lang_vm *vm, size_t code, const struct lang_vm_event *ev);
/* No message is lost here; updates of full maps may be refused. Index as in the counters map. */
uint64_t lang_vm_counter(const struct lang_vm *vm, uint32_t which);
void lang_vm_start(struct lang_vm *vm, uint64_t time);
