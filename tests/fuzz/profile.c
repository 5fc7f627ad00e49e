/* Any text is a drive profile whose model can be run, and which is written and read back the same, or is
 * refused in sentences that name the file. */
#include "config/profile.h"

#include "tests/fuzz/text.h"

#include <stdlib.h>

#define FILE_NAME "folder-that-is-not/own.ini"

size_t fuzz_sound_input(uint8_t *out, struct stria_random *random)
{
    unsigned count = 0;
    while (stria_profile_texts[count].name)
        count++;
    const char *text = stria_profile_texts[stria_random_below(random, count)].text;
    const size_t bytes = strlen(text) < FUZZ_INPUT_BYTES_MAX ? strlen(text) : FUZZ_INPUT_BYTES_MAX;
    memcpy(out, text, bytes);
    return bytes;
}

/* Bytes and rates come back exactly, whatever units they were written in; so what is written again is the
 * same text. */
static char *written(const struct stria_profile *profile)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    FUZZ_CHECK(out != NULL);
    stria_profile_write(profile, NULL, out);
    FUZZ_CHECK(!ferror(out) && fclose(out) == 0);
    return text;
}

static void check_round_trip(const struct stria_profile *profile)
{
    static struct stria_profile again;
    struct stria_problems problems = {0};
    char *first = written(profile);
    FUZZ_CHECK(stria_profile_parse(FILE_NAME, first, strlen(first), &again, &problems) == STRIA_OK);
    char *second = written(&again);
    FUZZ_CHECK(strcmp(first, second) == 0);
    FUZZ_CHECK(again.parameters.capacity_bytes == profile->parameters.capacity_bytes);
    FUZZ_CHECK(again.parameters.link_bytes_per_s == profile->parameters.link_bytes_per_s);
    free(first);
    free(second);
}

/* Time goes on, and only on. */
static void check_model(const struct stria_model_parameters *parameters)
{
    static struct stria_model model;
    stria_model_init(&model, parameters, 1);
    const uint64_t share_bytes = parameters->capacity_bytes / 7 + 1;
    const uint64_t bytes = share_bytes < STRIA_TRANSFER_BYTES_MAX ? share_bytes : STRIA_TRANSFER_BYTES_MAX;
    uint64_t now_ns = 0;
    for (unsigned step = 0; step < 12; step++) {
        const enum stria_model_op op = step % 4 == 3 ? STRIA_MODEL_READ : STRIA_MODEL_WRITE;
        const uint64_t offset = bytes * (step % 7) < parameters->capacity_bytes ? bytes * (step % 7) : 0;
        const uint64_t end_ns = stria_model_submit(&model, now_ns, op, offset, bytes);
        FUZZ_CHECK(end_ns >= now_ns);
        now_ns = step % 2 ? end_ns : now_ns + 1;
        stria_model_advance(&model, now_ns);
        FUZZ_CHECK(stria_model_used_bytes(&model) <= parameters->capacity_bytes);
        FUZZ_CHECK(stria_model_heat_rate_per_mille(&model) <= 1000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct stria_profile profile;
    struct stria_problems problems = {0};
    /* Exactly as large, so that a sanitizer sees a read behind it. */
    char *text = malloc(bytes + (bytes == 0));
    FUZZ_CHECK(text != NULL);
    memcpy(text, data, bytes);
    const int code = stria_profile_parse(FILE_NAME, text, bytes, &profile, &problems);
    FUZZ_CHECK(code == STRIA_OK || code == STRIA_ERR_INVALID);
    fuzz_check_problems(&problems, code == STRIA_OK, FILE_NAME);
    if (code == STRIA_OK) {
        FUZZ_CHECK(stria_model_check(&profile.parameters, NULL, 0) == 0);
        check_round_trip(&profile);
        check_model(&profile.parameters);
    }
    stria_problems_clear(&problems);
    free(text);
    return 0;
}
