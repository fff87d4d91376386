/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over its corpus, without libFuzzer: the corpus is also a
 * test of every build. FUZZ_CORPUS is the folder.
 */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "fuzz.h"
#include "../unit/tap.h"

int main(void)
{
	struct file_names files = { 0 };

	if (file_list(FUZZ_CORPUS, &files) < 0 || !files.n)
		CHECK_CASE(false, "there is a corpus: %s", FUZZ_CORPUS);
	for (size_t i = 0; i < files.n; i++) {
		AUTO_FREE char *path = mem_printf("%s/%s", FUZZ_CORPUS, files.name[i]);
		AUTO_FREE char *data = NULL;
		size_t n = 0;
		bool ok = file_read(path, 64u << 20, &data, &n) == 0;

		if (ok)
			LLVMFuzzerTestOneInput((const uint8_t *)data, n);
		CHECK_CASE(ok, "%s", files.name[i]);
		fflush(stdout);
	}
	file_names_free(&files);
	return tap_end();
}
