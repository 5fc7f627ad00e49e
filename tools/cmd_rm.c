#include "tools/commands.h"
#include "tools/ending.h"
#include "tools/opening.h"
#include "tools/status.h"

struct rm_options {
    char none;
};

static const struct stria_option options[] = {
    {.name = NULL},
};

static int run(const void *given, char **operands, int operand_count)
{
    int status;
    struct stria_trouble trouble = {0};
    (void)given;
    (void)operand_count;
    /* A recording is removed or it is not: by one entry of the catalogue. */
    if (!stria_ending_at_once_with("rm", operands[0], &status))
        return status;
    struct stria_array *array = stria_opening_open("rm", operands[0], true, &status);
    if (!array)
        return status;
    if (stria_ending_asked("rm", &status)) {
        stria_array_close(array);
        return status;
    }
    const uint32_t present = stria_opening_present(array);
    status = stria_array_remove(array, operands[1], &trouble) == STRIA_OK ? STRIA_STATUS_OK
                                                                          : stria_status_fail("rm", &trouble);
    if (stria_opening_tell_lost("rm", array, present) && status == STRIA_STATUS_OK)
        status = STRIA_STATUS_NOT_WHOLE;
    stria_array_close(array);
    return status;
}

const struct stria_command stria_command_rm = {
    .name = "rm",
    .summary = "removes a recording and frees its space",
    .operands = "ARRAY.ini NAME",
    .operands_min = 2,
    .operands_max = 2,
    .description = "Removes one recording; no other is touched. Its space is used again by later ones, and "
                   "trimmed where\n"
                   "the drive does that. The exit status is 1 when a drive was lost meanwhile.",
    .options = options,
    .options_bytes = sizeof(struct rm_options),
    .run = run,
};
