#include "results/export.h"
#include "results/started.h"

#include <inttypes.h>
#include <string.h>

struct place {
    const struct stria_measurement *measurement;
    const struct stria_round *round; /* null for the whole measurement */
    const char *drive;               /* null for all drives together */
    bool dated;
    uint64_t started_ns; /* of the measurement, since 1970 … */
    uint64_t start_ns;   /* … and of the round's first bin */
};

/* A tag ends at what is not escaped; it cannot hold a new line, nor end in a backslash, nor be empty. */
static void add_tag(struct stria_text *out, const char *name, const char *value)
{
    stria_text_format(out, ",%s=", name);
    for (const char *next = *value ? value : "-"; *next; next++) {
        if (*next == ',' || *next == '=' || *next == ' ')
            stria_text_add(out, "\\");
        stria_text_add_bytes(out, (unsigned char)*next < 0x20 || *next == '\\' ? "_" : next, 1);
    }
}

static void add_tags(struct stria_text *out, const char *name, const struct place *place)
{
    stria_text_add(out, name);
    add_tag(out, "result", place->measurement->label);
    add_tag(out, "kind", stria_measurement_kind_name(place->measurement->kind));
    if (place->round) {
        add_tag(out, "round", place->round->label);
        stria_text_format(out, ",repeat=%" PRIu32, place->round->repeat);
    }
    if (place->drive)
        add_tag(out, "drive", place->drive);
}

/* Its whole numbers are signed. */
static void add_field(struct stria_text *out, bool first, const char *key, uint64_t value)
{
    stria_text_format(out, "%c%s=%" PRIu64 "i", first ? ' ' : ',', key,
                      value <= INT64_MAX ? value : (uint64_t)INT64_MAX);
}

static void add_readings(struct stria_text *out, const struct place *place,
                         const struct stria_reading readings[STRIA_QUANTITIES])
{
    bool first = true;
    for (unsigned i = 0; i < STRIA_QUANTITIES; i++) {
        if (!readings[i].known)
            continue;
        if (first)
            add_tags(out, "stria", place);
        add_field(out, first, stria_quantity_infos[i].key, readings[i].value);
        first = false;
    }
    if (!first && place->dated)
        stria_text_format(out, " %" PRIu64, place->start_ns);
    if (!first)
        stria_text_add(out, "\n");
}

/* Bins without a date would all be at one time: they count from 1970. */
static void add_track(struct stria_text *out, const struct place *place, const struct stria_track *track)
{
    for (uint32_t bin = 0; bin < track->count; bin++) {
        if (track->values[bin] == STRIA_TRACK_UNKNOWN)
            continue;
        add_tags(out, "stria_bin", place);
        add_field(out, true, stria_track_key(track->kind), track->values[bin]);
        stria_text_format(out, " %" PRIu64 "\n", place->start_ns + (bin + 1) * track->interval_ns);
    }
}

static void add_round(struct stria_text *out, struct place *place)
{
    if (place->round->begin_ns.known)
        place->start_ns = place->started_ns + place->round->begin_ns.value;
    add_readings(out, place, place->round->readings);
    for (uint32_t i = 0; i < place->round->track_count; i++) {
        const int drive = place->round->tracks[i].drive;
        place->drive = drive >= 0 ? place->measurement->drives[drive].label : NULL;
        add_track(out, place, &place->round->tracks[i]);
    }
    place->drive = NULL;
    /* Where it is not told when rounds begin, they follow one another. */
    place->start_ns += place->round->readings[STRIA_QUANTITY_DURATION].value;
}

static void add_measurement(struct stria_text *out, const struct stria_measurement *measurement)
{
    struct place place = {.measurement = measurement};
    place.dated = stria_started_parse(measurement->started, &place.started_ns);
    place.start_ns = place.started_ns;
    add_readings(out, &place, measurement->readings);
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        place.drive = measurement->drives[i].label;
        add_readings(out, &place, measurement->drives[i].readings);
    }
    place.drive = NULL;
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        place.round = &measurement->rounds[i];
        add_round(out, &place);
    }
}

void stria_export_influx(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    for (uint32_t i = 0; i < count; i++)
        add_measurement(out, &measurements[i]);
}
