/* Lets libFuzzer begin with what a target finds sound, instead of guessing at it. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define SOUND_ONE_IN 256u

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t bytes_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t bytes_max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t bytes_max, unsigned seed)
{
    static uint8_t sound[FUZZ_INPUT_BYTES_MAX];
    struct stria_random random;
    stria_random_seed(&random, seed);
    if (bytes >= 2 && stria_random_below(&random, SOUND_ONE_IN) > 0)
        return LLVMFuzzerMutate(data, bytes, bytes_max);
    const size_t made = fuzz_sound_input(sound, &random);
    const size_t kept = made < bytes_max ? made : bytes_max;
    memcpy(data, sound, kept);
    return kept;
}
