/* SPDX-License-Identifier: MIT */
#include "base/tar.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	volatile unsigned sum = 0;
	struct err e = { 0 };
	struct tar *t;

	tar_looks_like(data, size);
	if (tar_open_memory(data, size, "x", &t, &e) < 0) {
		FUZZ_CHECK(e.code && e.msg[0]);
		return 0;
	}
	for (size_t i = 0; i < tar_count(t); i++) {
		const struct tar_member *m = tar_at(t, i);
		const uint8_t *p;

		/* no name leads out, each is found, and bytes are where they are said to be */
		FUZZ_CHECK(m->name[0] && m->name[0] != '/' && !strstr(m->name, "/../"));
		FUZZ_CHECK(strncmp(m->name, "../", 3) != 0);
		FUZZ_CHECK(tar_find(t, m->name) && (m->kind == TAR_LINK) == (m->link != NULL));
		p = m->kind == TAR_FILE ? tar_data(t, m, &e) : NULL;
		if (p && m->size)
			sum += p[0] + p[m->size - 1];
	}
	(void)sum;
	tar_close(t);
	return 0;
}
