/* SPDX-License-Identifier: MIT */
/*
 * Build-ids of what is mapped while a recording runs.
 *
 * The kernel would put them into its records itself (attr.build_id). But it builds one record for
 * all who listen, and never takes the mark of a build-id off again: who did not ask gets the mark
 * on a record with a file's number, and perf up to 6.1 aborts on that. So one recording would spoil
 * all others on the machine. Here the records come without, and the files are asked.
 *
 * A file is told from others of its path by its number and generation, a mapping that still exists
 * is asked first. What cannot be known for sure stays without a build-id: keep.h keeps such
 * programs by what is in them.
 */
#ifndef KYMO_LIVE_ABOUT_MAPPED_IDS_H
#define KYMO_LIVE_ABOUT_MAPPED_IDS_H

#include <linux/perf_event.h>

struct mapped_ids;
struct mapped_ids *mapped_ids_new(void);
void mapped_ids_free(struct mapped_ids *m); /* NULL is fine */

/*
 * Gives a mapping's record, which has no build-id yet, its file's. A ring_edit_fn. By any thread.
 */
void mapped_ids_give(void *ids, struct perf_event_header *h);

#endif
