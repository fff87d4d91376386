/* SPDX-License-Identifier: MIT */
/*
 * Build-ids of what is mapped while a recording runs.
 *
 * The kernel would put them into its records (attr.build_id), but makes one record for all who
 * listen and never takes the mark of a build-id off again: who did not ask gets it on a record with
 * a file's number, and perf up to 6.1 aborts on that. So records come without, and the files are
 * asked: the mapping first, if it still exists, and by number and generation. What is not known for
 * sure stays without (keep.h).
 */
#pragma once

#include <linux/perf_event.h>

struct mapped_ids;
struct mapped_ids *mapped_ids_new(void);
void mapped_ids_free(struct mapped_ids *m); /* NULL is fine */

/*
 * Gives a mapping's record, which has no build-id yet, its file's. By any thread.
 */
void mapped_ids_give(struct mapped_ids *m, struct perf_event_header *h);
