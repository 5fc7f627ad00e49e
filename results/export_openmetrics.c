#include "results/export.h"
#include "results/started.h"

#include <inttypes.h>
#include <string.h>

/* Base units, as OpenMetrics wants them. */
static const struct {
    const char *unit;
    uint64_t divisor;
    unsigned decimals;
} base_units[] = {
    [STRIA_UNIT_BYTES] = {"bytes", 1, 0},
    [STRIA_UNIT_BYTES_PER_S] = {"bytes_per_second", 1, 0},
    [STRIA_UNIT_NS] = {"seconds", 1000000000, 9},
    [STRIA_UNIT_MILLI_C] = {"celsius", 1000, 3},
    [STRIA_UNIT_COUNT] = {NULL, 1, 0},
};

/* stria_latency_p99_seconds for latency_p99_ns. */
static void add_name(struct stria_text *out, enum stria_quantity quantity)
{
    static const char *const own_units[] = {"_bytes_per_s", "_bytes", "_ns", "_mc"};
    const char *key = stria_quantity_infos[quantity].key;
    const char *unit = base_units[stria_quantity_infos[quantity].unit].unit;
    size_t stem = strlen(key);
    for (size_t i = 0; i < sizeof(own_units) / sizeof(own_units[0]); i++) {
        const size_t ending = strlen(own_units[i]);
        if (stem > ending && strcmp(key + stem - ending, own_units[i]) == 0) {
            stem -= ending;
            break;
        }
    }
    stria_text_add(out, "stria_");
    if (quantity == STRIA_QUANTITY_BYTES)
        stria_text_add(out, "stored");
    else
        stria_text_add_bytes(out, key, stem);
    if (unit)
        stria_text_format(out, "_%s", unit);
}

static void add_label(struct stria_text *out, const char *name, const char *value)
{
    stria_text_format(out, "%s=\"", name);
    for (const char *next = value; *next; next++) {
        if (*next == '\n')
            stria_text_add(out, "\\n");
        else if (*next == '"' || *next == '\\')
            stria_text_format(out, "\\%c", *next);
        else
            stria_text_add_bytes(out, next, 1);
    }
    stria_text_add(out, "\"");
}

static void add_labels(struct stria_text *out, const struct stria_measurement *measurement, const char *drive)
{
    stria_text_add(out, "{");
    add_label(out, "result", measurement->label);
    stria_text_add(out, ",");
    add_label(out, "kind", stria_measurement_kind_name(measurement->kind));
    if (drive) {
        stria_text_add(out, ",");
        add_label(out, "drive", drive);
    }
    stria_text_add(out, "} ");
}

static void add_sample(struct stria_text *out, enum stria_quantity quantity,
                       const struct stria_measurement *measurement, const char *drive,
                       const struct stria_reading *reading)
{
    const enum stria_unit unit = stria_quantity_infos[quantity].unit;
    if (!reading->known)
        return;
    add_name(out, quantity);
    add_labels(out, measurement, drive);
    stria_text_add_decimal(out, reading->value, base_units[unit].divisor, base_units[unit].decimals);
    stria_text_add(out, "\n");
}

static bool any_known(const struct stria_measurement *measurements, uint32_t count,
                      enum stria_quantity quantity)
{
    for (uint32_t i = 0; i < count; i++) {
        if (measurements[i].readings[quantity].known)
            return true;
        for (uint32_t drive = 0; drive < measurements[i].drive_count; drive++)
            if (measurements[i].drives[drive].readings[quantity].known)
                return true;
    }
    return false;
}

static void begin_family(struct stria_text *out, enum stria_quantity quantity)
{
    const char *unit = base_units[stria_quantity_infos[quantity].unit].unit;
    stria_text_add(out, "# TYPE ");
    add_name(out, quantity);
    stria_text_add(out, " gauge\n");
    if (unit) {
        stria_text_add(out, "# UNIT ");
        add_name(out, quantity);
        stria_text_format(out, " %s\n", unit);
    }
    stria_text_add(out, "# HELP ");
    add_name(out, quantity);
    stria_text_format(out, " %s\n", stria_quantity_infos[quantity].label);
}

static void add_starts(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    uint64_t ns;
    bool begun = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!stria_started_parse(measurements[i].started, &ns))
            continue;
        if (!begun)
            stria_text_add(out, "# TYPE stria_started_seconds gauge\n# UNIT stria_started_seconds seconds\n"
                                "# HELP stria_started_seconds when it was begun, since 1970\n");
        begun = true;
        stria_text_add(out, "stria_started_seconds");
        add_labels(out, &measurements[i], NULL);
        stria_text_add_decimal(out, ns, 1000000000, 9);
        stria_text_add(out, "\n");
    }
}

void stria_export_openmetrics(const struct stria_measurement *measurements, uint32_t count,
                              struct stria_text *out)
{
    for (unsigned i = 0; i < STRIA_QUANTITIES; i++) {
        const enum stria_quantity quantity = (enum stria_quantity)i;
        if (!any_known(measurements, count, quantity))
            continue;
        begin_family(out, quantity);
        for (uint32_t each = 0; each < count; each++) {
            const struct stria_measurement *measurement = &measurements[each];
            add_sample(out, quantity, measurement, NULL, &measurement->readings[quantity]);
            for (uint32_t drive = 0; drive < measurement->drive_count; drive++)
                add_sample(out, quantity, measurement, measurement->drives[drive].label,
                           &measurement->drives[drive].readings[quantity]);
        }
    }
    add_starts(measurements, count, out);
    stria_text_add(out, "# EOF\n");
}
