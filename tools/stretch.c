#include "tools/stretch.h"

#include "support/plain.h"
#include "support/units.h"

#include <inttypes.h>
#include <string.h>

static bool has_place(const struct stria_stretch *stretch)
{
    return stretch->cause == STRIA_GAP_NONE && stretch->verdict != STRIA_VERDICT_MISSING;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool stria_stretch_join(struct stria_stretch *stretch, const struct stria_stretch *next)
{
    if (stretch->offset + stretch->bytes != next->offset || stretch->cause != next->cause ||
        stretch->verdict != next->verdict || stretch->drive != next->drive ||
        !same_text(stretch->reason, next->reason) || !same_text(stretch->other, next->other) ||
        (stretch->other && stretch->other_offset + stretch->bytes != next->other_offset))
        return false;
    stretch->scattered |= next->scattered || (has_place(stretch) &&
                                              stretch->drive_offset + stretch->bytes != next->drive_offset);
    stretch->bytes += next->bytes;
    return true;
}

static void print_fault(const struct stria_stretch *stretch, const struct stria_drive_info *drive, FILE *out)
{
    fprintf(out, "%s", stria_verdict_text(stretch->verdict));
    if (drive)
        fprintf(out, ", on drive %s (%s)", stria_shown(drive->name), stria_shown(drive->path));
    else if (stretch->verdict == STRIA_VERDICT_MISSING)
        fprintf(out, ", their drive not being there or having lost them");
    if (drive && has_place(stretch))
        fprintf(out, "%s at offset %" PRIu64, stretch->scattered ? ", first" : "", stretch->drive_offset);
    if (stretch->reason)
        fprintf(out, ": %s", stretch->reason);
    if (stretch->other)
        fprintf(out, ": what belongs to %s at stream offset %" PRIu64 " lies there",
                stria_shown(stretch->other), stretch->other_offset);
}

void stria_stretch_print(const struct stria_stretch *stretch, const struct stria_array *array, FILE *out)
{
    struct stria_drive_info info;
    char size[STRIA_UNITS_TEXT_BYTES];
    const bool named =
        stretch->drive >= 0 && stria_array_drive(array, (uint32_t)stretch->drive, &info) == STRIA_OK;
    fprintf(out, "at stream offset %" PRIu64 ": %s ", stretch->offset,
            stria_size_print_both(size, sizeof(size), stretch->bytes));
    if (stretch->cause == STRIA_GAP_NONE)
        print_fault(stretch, named ? &info : NULL, out);
    else
        fprintf(out, "never stored, cause %s%s%s", stria_gap_cause_text(stretch->cause),
                named ? ", drive " : "", named ? stria_shown(info.name) : "");
}
