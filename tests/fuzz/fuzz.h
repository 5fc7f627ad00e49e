/* What a fuzz target is: libFuzzer's entry point, and a way to make inputs worth mutating. Built with
 * tests/fuzz/driver.c it runs a given number of rounds from a seed; with libFuzzer (STRIA_FUZZ) for ever. */
#ifndef STRIA_TESTS_FUZZ_FUZZ_H
#define STRIA_TESTS_FUZZ_FUZZ_H

#include "core/random.h"

#include <stddef.h>
#include <stdint.h>

#define FUZZ_INPUT_BYTES_MAX ((size_t)32 << 10)

/* Takes any bytes. Stops the program when a promise is broken. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Fills an input that the target finds sound, or nearly so; returns its size, at most FUZZ_INPUT_BYTES_MAX.
 */
size_t fuzz_sound_input(uint8_t *out, struct stria_random *random);

/* Stops the program, in every build, unless the condition holds. */
#define FUZZ_CHECK(condition)                                                                                \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            __builtin_trap();                                                                                \
    } while (0)

#endif
