/* Damages to the small array, one for each 8 bytes of an input.
 *
 * Damage that drives do (bits flipped, ranges blanked, overwritten with noise, copied from elsewhere, or as
 * they were long before) cannot carry a right check. Damage that only an enemy does is forged: a field with
 * any value, and the check set right. A digest is never forged. */
#ifndef STRIA_TESTS_FUZZ_IMAGE_DAMAGE_H
#define STRIA_TESTS_FUZZ_IMAGE_DAMAGE_H

#include "tests/fuzz/image_make.h"

#define IMAGE_DAMAGE_BYTES 8u

struct image_damaged {
    uint8_t *drives[IMAGE_DRIVES]; /* as they are now */
    bool touched[IMAGE_DRIVES];
    bool absent[IMAGE_DRIVES];
    bool identity; /* a superblock was written over, on any of them */
    bool forged;   /* something was, anywhere */
};

/* Begins with the sound array each time. Valid until the next call. */
const struct image_damaged *image_damage(const uint8_t *data, size_t bytes);

#endif
