/* Nothing precious is overwritten: the one check before a drive is made part of an array, or a bench
 * destroys what is on it. */
#ifndef STRIA_BACKENDS_GUARD_H
#define STRIA_BACKENDS_GUARD_H

#include "support/trouble.h"

#include <stdbool.h>

/* The drives that the user allows to be erased: a serial number or world-wide name for a device, a path for
 * a file or for a device that has neither (a loop device). */
struct stria_guard {
    const char *const *erase;
    unsigned erase_count;
    bool *erase_used; /* erase_count flags, set for names that a drive answered to; may be null */
};

/* May this drive be overwritten? STRIA_OK for an unused, empty device; for a file that is not there, is
 * empty or holds only zeros; for memory; and for what guard allows to be erased, *erase then being true.
 * Otherwise STRIA_ERR_REFUSED with a sentence that names why and the remedy, or another code when the drive
 * cannot be looked at. A drive in use (mounted, swap, held) and the running system's root device are refused
 * whatever guard says. What is behind "passthrough:" is guarded as without; any other prefix that no backend
 * claims is STRIA_ERR_UNSUPPORTED. Changes nothing. */
int stria_guard_check(const char *path, const struct stria_guard *guard, bool *erase,
                      struct stria_trouble *trouble);

/* The bytes of a drive on which whoever has it open shares a lock of its open file description; nothing is
 * read or written there for it. */
#define STRIA_GUARD_LOCK_BYTES 1

/* The same, and keeps everybody else out from before the content is looked at, readers too: so what was
 * looked at is what will be overwritten. Who opens the drive through the hold says so
 * (stria_drive_options.held). *hold is the hold, to be closed; −1 where there is nothing at path yet, for
 * memory, and for a drive that whoever opens it has alone anyway. STRIA_ERR_BUSY when somebody uses it. A
 * drive of another host is held only between stria_fabrics_keep() and stria_fabrics_let_go(). */
int stria_guard_take(const char *path, const struct stria_guard *guard, int *hold, bool *erase,
                     struct stria_trouble *trouble);

/* Makes a hold of a file that was just made (stria_allocate_make). */
int stria_guard_take_new(int fd, const char *path, struct stria_trouble *trouble);

/* Takes every signature off the drive at path, which hold is a hold of, and has the kernel forget its
 * partitions: where it does not, STRIA_ERR_BUSY, and nothing is wiped. Only where stria_guard_take() said
 * that it has to be erased. */
int stria_guard_erase(const char *path, int hold, struct stria_trouble *trouble);

#endif
