#include "results/page_internal.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stretches of gaps beyond these are only counted; the documents have all. */
#define GAPS_SHOWN_MAX 25u

static void add_value(struct stria_text *out, enum stria_quantity quantity,
                      const struct stria_reading *reading)
{
    if (reading->known)
        stria_text_add_value(out, quantity, reading->value);
    else
        stria_text_add(out, "\u2013");
}

static void add_figure(struct stria_text *out, const char *class_name, const char *label, const char *note,
                       uint64_t bytes_per_s)
{
    stria_text_format(out, "<div class=\"%s\"><dt>%s</dt><dd><b>", class_name, label);
    stria_text_add_decimal(out, bytes_per_s, 1000000, bytes_per_s < 100000000 ? 1 : 0);
    stria_text_add(out, "</b> MB/s <small>");
    stria_text_add_decimal(out, bytes_per_s, 1 << 20, bytes_per_s < 100000000 ? 1 : 0);
    stria_text_format(out, " MiB/s%s%s</small></dd></div>\n", *note ? "<br>" : "", note);
}

static void add_lossless(struct stria_text *out, const struct stria_measurement *measurement)
{
    const struct stria_reading *lossless = &measurement->readings[STRIA_QUANTITY_LOSSLESS];
    char note[128] = "", size[STRIA_UNITS_TEXT_BYTES];
    if (!lossless->known)
        return;
    if (measurement->buffer_bytes.known)
        snprintf(note, sizeof(note), "with a buffer of %s",
                 stria_size_print(size, sizeof(size), measurement->buffer_bytes.value));
    add_figure(out, "figure",
               measurement->saturated || measurement->kind != STRIA_MEASUREMENT_RECORD
                   ? "lossless rate"
                   : "lossless rate, at least",
               note, lossless->value);
}

static void add_verdict(struct stria_text *out, const struct stria_measurement *measurement)
{
    const struct stria_reading *dropped = &measurement->readings[STRIA_QUANTITY_DROPPED];
    const bool bad = dropped->value > 0 || measurement->partial;
    if (!measurement->verdict)
        return;
    stria_text_format(out, "<p class=\"verdict %s\"><span>%s</span> ", bad ? "bad" : "good",
                      bad ? "\u25b2" : "\u2713");
    stria_text_add_html(out, measurement->verdict);
    if (dropped->value > 0) {
        stria_text_add(out, ": ");
        stria_text_add_value(out, STRIA_QUANTITY_DROPPED, dropped->value);
        stria_text_add(out, " dropped");
    }
    stria_text_add(out, "</p>\n");
}

void stria_page_headline(const struct stria_measurement *measurement, uint32_t index, struct stria_text *out)
{
    static const enum stria_quantity worst_first[] = {STRIA_QUANTITY_MINIMUM, STRIA_QUANTITY_SUSTAINED_1S,
                                                      STRIA_QUANTITY_SUSTAINED_10S,
                                                      STRIA_QUANTITY_SUSTAINED_60S};
    bool first = true;
    stria_text_format(
        out, "<article class=\"card\" data-result=\"%" PRIu32 "\">\n<h2><i class=\"swatch\"></i>", index);
    stria_text_add_html(out, measurement->label);
    stria_text_add(out, "</h2>\n<p class=\"title\">");
    stria_text_add_html(out, measurement->title);
    if (measurement->started) {
        stria_text_add(out, ", ");
        stria_text_add_html(out, measurement->started);
    }
    stria_text_add(out, "</p>\n");
    add_verdict(out, measurement);
    stria_text_add(out, "<dl class=\"figures\">\n");
    for (size_t i = 0; i < sizeof(worst_first) / sizeof(worst_first[0]); i++) {
        const struct stria_reading *reading = &measurement->readings[worst_first[i]];
        if (!reading->known || (i == 1 && reading->value == measurement->readings[worst_first[0]].value))
            continue;
        add_figure(out, first ? "figure main" : "figure", stria_quantity_infos[worst_first[i]].label,
                   worst_first[i] == STRIA_QUANTITY_SUSTAINED_1S ? "the slowest second" : "", reading->value);
        first = false;
    }
    add_lossless(out, measurement);
    if (measurement->readings[STRIA_QUANTITY_MEAN].known)
        add_figure(out, "figure average", "average", "hides the minimum",
                   measurement->readings[STRIA_QUANTITY_MEAN].value);
    stria_text_add(out, "</dl>\n</article>\n");
}

static bool any_known(const struct stria_measurement *measurements, uint32_t count, unsigned quantity)
{
    for (uint32_t i = 0; i < count; i++)
        if (measurements[i].readings[quantity].known)
            return true;
    return false;
}

/* The best of several that differ; none otherwise. */
static uint64_t best_of(const struct stria_measurement *measurements, uint32_t count, unsigned quantity,
                        bool *exists)
{
    const enum stria_better better = stria_quantity_infos[quantity].better;
    uint64_t least = UINT64_MAX, most = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct stria_reading *reading = &measurements[i].readings[quantity];
        if (!reading->known)
            continue;
        known++;
        least = reading->value < least ? reading->value : least;
        most = reading->value > most ? reading->value : most;
    }
    *exists = known > 1 && least != most && better != STRIA_BETTER_NEITHER;
    return better == STRIA_BETTER_HIGHER ? most : least;
}

void stria_page_figures(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    stria_text_add(out, "<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th></th>");
    for (uint32_t i = 0; i < count; i++) {
        stria_text_format(out, "<th data-result=\"%" PRIu32 "\"><i class=\"swatch\"></i>", i);
        stria_text_add_html(out, measurements[i].label);
        stria_text_add(out, "</th>");
    }
    stria_text_add(out, "</tr></thead><tbody>\n");
    for (unsigned quantity = 0; quantity < STRIA_QUANTITIES; quantity++) {
        bool exists;
        const uint64_t best = best_of(measurements, count, quantity, &exists);
        if (!any_known(measurements, count, quantity))
            continue;
        stria_text_format(out, "<tr><th>%s</th>", stria_quantity_infos[quantity].label);
        for (uint32_t i = 0; i < count; i++) {
            const struct stria_reading *reading = &measurements[i].readings[quantity];
            stria_text_add(out, exists && reading->known && reading->value == best ? "<td class=\"best\">"
                                                                                   : "<td>");
            add_value(out, (enum stria_quantity)quantity, reading);
            stria_text_add(out, "</td>");
        }
        stria_text_add(out, "</tr>\n");
    }
    stria_text_add(out, "</tbody></table></div>\n");
}

static void add_cell_text(struct stria_text *out, const char *text)
{
    stria_text_add(out, "<td>");
    stria_text_add_html(out, text ? text : "\u2013");
    stria_text_add(out, "</td>");
}

static void add_drives(const struct stria_measurement *measurement, struct stria_text *out)
{
    static const enum stria_quantity columns[] = {STRIA_QUANTITY_SUSTAINED_1S, STRIA_QUANTITY_SUSTAINED_10S,
                                                  STRIA_QUANTITY_LATENCY_P99,  STRIA_QUANTITY_LATENCY_MAX,
                                                  STRIA_QUANTITY_ERRORS,       STRIA_QUANTITY_STALLS,
                                                  STRIA_QUANTITY_BYTES,        STRIA_QUANTITY_MEAN};
    const size_t count = sizeof(columns) / sizeof(columns[0]);
    if (measurement->drive_count == 0)
        return;
    stria_text_add(
        out, "<h3>Drives</h3>\n<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th>drive</th>");
    for (size_t i = 0; i < count; i++)
        stria_text_format(out, "<th>%s</th>", stria_quantity_infos[columns[i]].label);
    stria_text_add(out, "<th class=\"words\">model, firmware, link, path</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        const struct stria_measured_drive *drive = &measurement->drives[i];
        const char *const words[] = {drive->model, drive->firmware, drive->link, drive->path};
        stria_text_format(out, "<tr><th data-drive=\"%" PRIu32 "\"><i class=\"swatch\"></i>", i);
        stria_text_add_html(out, drive->label);
        stria_text_add(out, drive->lost   ? " <em>lost</em></th>"
                            : drive->full ? " <em>full</em></th>"
                                          : "</th>");
        for (size_t column = 0; column < count; column++) {
            stria_text_add(out, "<td>");
            add_value(out, columns[column], &drive->readings[columns[column]]);
            stria_text_add(out, "</td>");
        }
        stria_text_add(out, "<td class=\"words\">");
        bool any = false;
        for (size_t word = 0; word < sizeof(words) / sizeof(words[0]); word++) {
            if (!words[word])
                continue;
            stria_text_add(out, any ? ", " : "");
            stria_text_add_html(out, words[word]);
            any = true;
        }
        stria_text_add(out, "</td></tr>\n");
    }
    stria_text_add(out, "</tbody></table></div>\n");
}

static void add_points(const struct stria_measurement *measurement, struct stria_text *out)
{
    if (measurement->point_count == 0)
        return;
    stria_text_add(
        out, "<h3>Points</h3>\n<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th>point</th><th>"
             "rating</th><th>mean</th><th>\u00b1 95 %</th><th>standard deviation</th><th>latency "
             "p99</th><th>repeats</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < measurement->point_count; i++) {
        const struct stria_point *point = &measurement->points[i];
        const struct stria_reading *const rates[] = {&point->rating, &point->mean, &point->interval_half,
                                                     &point->deviation};
        stria_text_add(out, "<tr><th>");
        stria_text_add_html(out, point->label);
        stria_text_add(out, point->reads ? ", read" : "");
        stria_text_add(out, "</th>");
        for (size_t rate = 0; rate < sizeof(rates) / sizeof(rates[0]); rate++) {
            stria_text_add(out, "<td>");
            add_value(out, STRIA_QUANTITY_MEAN, rates[rate]);
            stria_text_add(out, "</td>");
        }
        stria_text_add(out, "<td>");
        add_value(out, STRIA_QUANTITY_LATENCY_P99, &point->latency_p99);
        stria_text_format(out, "</td><td>%" PRIu32 "</td></tr>\n", point->repeats);
    }
    stria_text_add(out, "</tbody></table></div>\n");
}

static void add_gap(const struct stria_gap_stretch *stretch, struct stria_text *out)
{
    char time[STRIA_UNITS_TEXT_BYTES];
    stria_text_add(out, "<tr><td>");
    stria_text_add_value(out, STRIA_QUANTITY_BYTES, stretch->offset_bytes);
    stria_text_add(out, "</td><td>");
    if (stretch->timed)
        stria_text_add(out, stria_time_print_short(time, sizeof(time), stretch->from_ns));
    if (stretch->timed && stretch->until_ns > stretch->from_ns)
        stria_text_format(out, " to %s", stria_time_print_short(time, sizeof(time), stretch->until_ns));
    stria_text_add(out, "</td><td>");
    if (stretch->length_bytes)
        stria_text_add_value(out, STRIA_QUANTITY_BYTES, stretch->length_bytes);
    else
        stria_text_add(out, "\u2013");
    stria_text_format(out, "</td><td>%" PRIu32 "</td>", stretch->count);
    add_cell_text(out, stretch->cause);
    add_cell_text(out, stretch->drive);
    stria_text_add(out, "</tr>\n");
}

static void add_gaps(const struct stria_measurement *measurement, struct stria_text *out)
{
    if (measurement->gap_count == 0)
        return;
    struct stria_gap_stretch *stretches = calloc(measurement->gap_count, sizeof(*stretches));
    if (!stretches)
        abort();
    const uint32_t count = stria_gap_stretches(measurement, stretches);
    stria_text_add(
        out,
        "<h3>Gaps</h3>\n<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th>from offset</th><th>"
        "time</th><th>missing</th><th>gaps</th><th>cause</th><th>held up by</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < count && i < GAPS_SHOWN_MAX; i++)
        add_gap(&stretches[i], out);
    stria_text_add(out, "</tbody></table></div>\n");
    if (count > GAPS_SHOWN_MAX)
        stria_text_format(out, "<p>\u2026 and %" PRIu32 " stretches more.</p>\n", count - GAPS_SHOWN_MAX);
    free(stretches);
}

static void add_findings(const struct stria_measurement *measurement, struct stria_text *out)
{
    if (measurement->knee.known) {
        stria_text_add(out, "<p><b>Knee</b> after ");
        stria_text_add_value(out, STRIA_QUANTITY_BYTES, measurement->knee.offset_bytes);
        stria_text_add(out, ": from ");
        stria_text_add_value(out, STRIA_QUANTITY_MEAN, measurement->knee.before_bytes_per_s);
        stria_text_add(out, " to ");
        stria_text_add_value(out, STRIA_QUANTITY_MEAN, measurement->knee.after_bytes_per_s);
        stria_text_add(out, ".</p>\n");
    }
    if (measurement->steady.known)
        stria_text_format(out, "<p><b>Steady state</b> %s after %" PRIu64 " rounds.</p>\n",
                          measurement->steady.attained ? "attained" : "not attained",
                          measurement->steady.rounds);
    if (measurement->lossless_predicted.known) {
        stria_text_add(out, "<p><b>Lossless rate</b> measured ");
        add_value(out, STRIA_QUANTITY_LOSSLESS, &measurement->readings[STRIA_QUANTITY_LOSSLESS]);
        stria_text_add(out, ", predicted from the fill ");
        add_value(out, STRIA_QUANTITY_LOSSLESS, &measurement->lossless_predicted);
        stria_text_add(out, ".</p>\n");
    }
}

static void add_conditions(const struct stria_measurement *measurement, struct stria_text *out)
{
    stria_text_add(out, "<details><summary>Conditions</summary><table class=\"conditions\"><tbody>\n");
    for (unsigned i = 0; i < STRIA_CONDITIONS; i++) {
        if (!measurement->conditions[i])
            continue;
        stria_text_format(out, "<tr><th>%s</th>", stria_condition_name((enum stria_condition)i));
        add_cell_text(out, measurement->conditions[i]);
        stria_text_add(out, "</tr>\n");
    }
    stria_text_add(out, "<tr><th>read from</th>");
    add_cell_text(out, measurement->source);
    stria_text_add(out, "</tr>\n</tbody></table></details>\n");
}

void stria_page_tables(const struct stria_measurement *measurement, struct stria_text *out)
{
    add_findings(measurement, out);
    add_points(measurement, out);
    add_drives(measurement, out);
    add_gaps(measurement, out);
    add_conditions(measurement, out);
}
