#include "results/export.h"

#include <inttypes.h>

/* What stands at the beginning of a line. */
struct place {
    const char *result;
    const struct stria_round *round; /* null for the whole measurement */
    const char *drive;               /* null for all drives together */
};

static void begin_line(struct stria_text *out, const struct place *place)
{
    stria_text_add_csv(out, place->result);
    stria_text_add(out, ",");
    stria_text_add_csv(out, place->round ? place->round->label : "");
    if (place->round)
        stria_text_format(out, ",%" PRIu32 ",", place->round->repeat);
    else
        stria_text_add(out, ",,");
    stria_text_add_csv(out, place->drive ? place->drive : "");
}

static void add_readings(struct stria_text *out, const struct place *place,
                         const struct stria_reading readings[STRIA_QUANTITIES])
{
    for (unsigned i = 0; i < STRIA_QUANTITIES; i++) {
        if (!readings[i].known)
            continue;
        begin_line(out, place);
        stria_text_format(out, ",,,%s,%" PRIu64 "\r\n", stria_quantity_infos[i].key, readings[i].value);
    }
}

static void add_track(struct stria_text *out, const struct place *place, const struct stria_track *track)
{
    for (uint32_t bin = 0; bin < track->count; bin++) {
        if (track->values[bin] == STRIA_TRACK_UNKNOWN)
            continue;
        begin_line(out, place);
        stria_text_format(out, ",%" PRIu32 ",", bin);
        stria_text_add_decimal(out, (bin + 1) * track->interval_ns, 1000000000, 9);
        stria_text_format(out, ",%s,%" PRIu64 "\r\n", stria_track_key(track->kind), track->values[bin]);
    }
}

static void add_measurement(const struct stria_measurement *measurement, struct stria_text *out)
{
    struct place place = {.result = measurement->label};
    add_readings(out, &place, measurement->readings);
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        place.drive = measurement->drives[i].label;
        add_readings(out, &place, measurement->drives[i].readings);
    }
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        place = (struct place){.result = measurement->label, .round = &measurement->rounds[i]};
        add_readings(out, &place, measurement->rounds[i].readings);
        for (uint32_t track = 0; track < place.round->track_count; track++) {
            const int drive = place.round->tracks[track].drive;
            place.drive = drive >= 0 ? measurement->drives[drive].label : NULL;
            add_track(out, &place, &place.round->tracks[track]);
        }
    }
}

void stria_export_csv(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    stria_text_add(out, "result,round,repeat,drive,bin,time_s,quantity,value\r\n");
    for (uint32_t i = 0; i < count; i++)
        add_measurement(&measurements[i], out);
}
