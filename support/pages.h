/* Memory that drives read into and write from. */
#ifndef STRIA_SUPPORT_PAGES_H
#define STRIA_SUPPORT_PAGES_H

#include <stddef.h>

#define STRIA_HUGE_PAGE_BYTES ((size_t)2 << 20) /* of x86-64, and of arm64 with pages of 4 KiB */

/* Zeroed memory of at least bytes, which is not zero; null when there is none. From half a huge page on it is
 * made of whole huge pages, wherever the system gives some: a transfer of up to 2 MiB then consists of one or
 * two pieces. In small pages a transfer of 1 MiB has up to 256, more than most devices take in one command:
 * the kernel has to split it, and io_uring hands what has to be split to a worker thread instead of
 * submitting it at once.
 */
void *stria_pages_map(size_t bytes);

/* base and bytes as they were mapped; null does nothing. */
void stria_pages_unmap(void *base, size_t bytes);

#endif
