/* A figure for a paper: one panel for each measurement, its drives on top of one another so that the upper
 * edge is the array, the input as a dashed line, gaps as bands. */
#include "core/ratio.h"
#include "results/export.h"
#include "results/page_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define WIDTH        860u
#define LEFT         70u
#define RIGHT        20u
#define TOP          40u
#define PLOT_HEIGHT  200u
#define LEGEND_LINE  20u
#define LEGEND_EACH  195u
#define PANEL_MARGIN 34u
#define POINTS_MAX   400u

/* Told apart by people who see fewer colours too (after Okabe and Ito), as on the page. */
static const char *const hues[] = {"#0072b2", "#d55e00", "#009e73", "#b0558f",
                                   "#b07a00", "#2f9fd8", "#6b4fa0", "#7a7f00"};
#define HUES (sizeof(hues) / sizeof(hues[0]))

struct panel {
    const struct stria_measurement *measurement;
    const struct stria_round *round;
    uint64_t interval_ns;
    uint32_t bins, merged; /* whole bins of the tracks, and how many make a point */
    uint32_t points;
    uint64_t peak; /* the axis ends here, bytes per second */
    uint64_t span_ns;
    uint32_t top;   /* of the plot */
    uint64_t *base; /* what the drives below have taken, in each point; points of them */
};

static uint32_t legend_lines(const struct stria_measurement *measurement)
{
    const uint32_t each = (WIDTH - LEFT - RIGHT) / LEGEND_EACH;
    return (measurement->drive_count + 1 + each - 1) / each;
}

static uint32_t panel_height(const struct stria_measurement *measurement)
{
    return TOP + PLOT_HEIGHT + PANEL_MARGIN + LEGEND_LINE * legend_lines(measurement);
}

static bool is_slower(const struct stria_round *one, const struct stria_round *other)
{
    const struct stria_reading *minimum = &one->readings[STRIA_QUANTITY_MINIMUM];
    const struct stria_reading *least = &other->readings[STRIA_QUANTITY_MINIMUM];
    return minimum->known && (!least->known || minimum->value < least->value);
}

/* The slowest round that has tracks; one too short to have a minimum only where there is no other. */
static const struct stria_round *round_of(const struct stria_measurement *measurement)
{
    const struct stria_round *slowest = NULL;
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        const struct stria_round *round = &measurement->rounds[i];
        if (stria_round_bins(round, NULL, NULL) > 1 && (!slowest || is_slower(round, slowest)))
            slowest = round;
    }
    return slowest;
}

/* The rate of a track in a point. */
static uint64_t rate_at(const struct panel *panel, const struct stria_track *track, uint32_t point)
{
    uint64_t bytes = 0;
    uint32_t count = 0;
    for (uint32_t bin = point * panel->merged; bin < panel->bins && count < panel->merged; bin++, count++)
        if (bin < track->count && track->values[bin] != STRIA_TRACK_UNKNOWN)
            bytes += track->values[bin];
    return count ? stria_ratio_bytes_per_s(bytes, count * panel->interval_ns) : 0;
}

/* 1, 2 or 5 times a power of ten, so that a handful of them reach up to value. */
static uint64_t step_for(uint64_t value)
{
    uint64_t step = 1;
    while (step < value / 50)
        step *= 10;
    return value / step <= 6    ? step
           : value / step <= 12 ? 2 * step
           : value / step <= 30 ? 5 * step
                                : 10 * step;
}

static void add_number(struct stria_text *out, double value)
{
    stria_text_add_decimal(out, value > 0 ? (uint64_t)(value * 10 + 0.5) : 0, 10, 1);
}

static double x_of(const struct panel *panel, uint64_t ns)
{
    const double part = (double)(ns < panel->span_ns ? ns : panel->span_ns) / (double)panel->span_ns;
    return LEFT + (WIDTH - LEFT - RIGHT) * part;
}

static double y_of(const struct panel *panel, uint64_t bytes_per_s)
{
    const double part = (double)(bytes_per_s < panel->peak ? bytes_per_s : panel->peak) / (double)panel->peak;
    return panel->top + PLOT_HEIGHT * (1 - part);
}

/* The middle of a point in time. */
static double x_of_point(const struct panel *panel, uint32_t point)
{
    return x_of(panel, (2 * (uint64_t)point + 1) * panel->merged * panel->interval_ns / 2);
}

static void add_point(struct stria_text *out, double x, double y)
{
    add_number(out, x);
    stria_text_add(out, ",");
    add_number(out, y);
    stria_text_add(out, " ");
}

static bool prepare(const struct stria_measurement *measurement, uint32_t top, struct panel *panel)
{
    bool partial = false;
    uint64_t highest = 1;
    *panel = (struct panel){.measurement = measurement, .round = round_of(measurement), .top = top};
    if (!panel->round)
        return false;
    panel->bins = stria_round_bins(panel->round, &panel->interval_ns, &partial) - partial;
    panel->merged = (panel->bins + POINTS_MAX - 1) / POINTS_MAX;
    /* Half a second at least: single bins of a tenth are noise to the eye. */
    if (panel->merged * panel->interval_ns < STRIA_SECOND_NS / 2 && panel->interval_ns < STRIA_SECOND_NS / 2)
        panel->merged = (uint32_t)(STRIA_SECOND_NS / 2 / panel->interval_ns);
    panel->points = panel->bins / panel->merged;
    panel->span_ns = panel->bins * panel->interval_ns;
    panel->base = calloc(panel->points + 1, sizeof(*panel->base));
    if (!panel->base)
        abort();
    for (uint32_t point = 0; point < panel->points; point++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < panel->round->track_count; i++) {
            const struct stria_track *track = &panel->round->tracks[i];
            const uint64_t rate = track->kind <= STRIA_TRACK_STORED ? rate_at(panel, track, point) : 0;
            sum += track->kind == STRIA_TRACK_STORED ? rate : 0;
            highest = rate > highest ? rate : highest;
        }
        highest = sum > highest ? sum : highest;
    }
    const uint64_t step = step_for(highest);
    panel->peak = (highest + step - 1) / step * step;
    return panel->points > 0;
}

static void add_axes(const struct panel *panel, struct stria_text *out)
{
    const uint64_t step = step_for(panel->peak), time_step = step_for(panel->span_ns);
    for (uint64_t level = 0; level <= panel->peak; level += step) {
        stria_text_format(out, "<line x1=\"%u\" x2=\"%u\" y1=\"", LEFT, WIDTH - RIGHT);
        add_number(out, y_of(panel, level));
        stria_text_add(out, "\" y2=\"");
        add_number(out, y_of(panel, level));
        stria_text_format(out, "\" stroke=\"#ddd\"/>\n<text x=\"%u\" y=\"", LEFT - 8);
        add_number(out, y_of(panel, level) + 4);
        stria_text_add(out, "\" text-anchor=\"end\">");
        stria_text_add_decimal(out, level, 1000000, 3);
        stria_text_add(out, "</text>\n");
    }
    for (uint64_t at = 0; at <= panel->span_ns; at += time_step) {
        stria_text_add(out, "<text x=\"");
        add_number(out, x_of(panel, at));
        stria_text_format(out, "\" y=\"%u\" text-anchor=\"middle\">", panel->top + PLOT_HEIGHT + 17);
        stria_text_add_decimal(out, at, STRIA_SECOND_NS, 3);
        stria_text_add(out, " s</text>\n");
    }
    const uint32_t middle = panel->top + PLOT_HEIGHT / 2;
    stria_text_format(
        out, "<text x=\"18\" y=\"%u\" text-anchor=\"middle\" transform=\"rotate(-90 18 %u)\">MB/s</text>\n",
        middle, middle);
}

static void add_area(struct panel *panel, const struct stria_track *track, struct stria_text *out)
{
    const char *hue = hues[(uint32_t)track->drive % HUES];
    struct stria_text below = {0};
    stria_text_add(out, "<polygon points=\"");
    for (uint32_t point = panel->points; point-- > 0;)
        add_point(&below, x_of_point(panel, point), y_of(panel, panel->base[point]));
    for (uint32_t point = 0; point < panel->points; point++) {
        panel->base[point] += rate_at(panel, track, point);
        add_point(out, x_of_point(panel, point), y_of(panel, panel->base[point]));
    }
    stria_text_add(out, below.bytes);
    stria_text_format(out, "\" fill=\"%s\" fill-opacity=\"0.6\" stroke=\"%s\" stroke-width=\"0.8\"/>\n", hue,
                      hue);
    stria_text_clear(&below);
}

static void add_input(const struct panel *panel, const struct stria_track *track, struct stria_text *out)
{
    stria_text_add(out, "<polyline points=\"");
    for (uint32_t point = 0; point < panel->points; point++)
        add_point(out, x_of_point(panel, point), y_of(panel, rate_at(panel, track, point)));
    stria_text_add(out, "\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.6\" stroke-dasharray=\"6 3\"/>\n");
}

static void add_gaps(const struct panel *panel, struct stria_text *out)
{
    const struct stria_measurement *measurement = panel->measurement;
    struct stria_gap_stretch *stretches = calloc((size_t)measurement->gap_count + 1, sizeof(*stretches));
    if (!stretches)
        abort();
    const uint32_t count = stria_gap_stretches(measurement, stretches);
    for (uint32_t i = 0; i < count; i++) {
        const double from = x_of(panel, stretches[i].from_ns), until = x_of(panel, stretches[i].until_ns);
        if (!stretches[i].timed)
            continue;
        stria_text_add(out, "<rect x=\"");
        add_number(out, from);
        stria_text_format(out, "\" y=\"%u\" height=\"%u\" width=\"", panel->top, PLOT_HEIGHT);
        add_number(out, until - from > 2 ? until - from : 2);
        stria_text_add(out, "\" fill=\"#d55e00\" fill-opacity=\"0.18\"><title>gap: ");
        stria_text_add_html(out, stretches[i].cause);
        stria_text_add(out, stretches[i].drive ? ", " : "");
        stria_text_add_html(out, stretches[i].drive ? stretches[i].drive : "");
        stria_text_add(out, "</title></rect>\n");
    }
    free(stretches);
}

static void add_legend(const struct panel *panel, struct stria_text *out)
{
    const struct stria_measurement *measurement = panel->measurement;
    const uint32_t each = (WIDTH - LEFT - RIGHT) / LEGEND_EACH;
    for (uint32_t i = 0; i <= measurement->drive_count; i++) {
        const uint32_t x = LEFT + i % each * LEGEND_EACH;
        const uint32_t y = panel->top + PLOT_HEIGHT + PANEL_MARGIN + i / each * LEGEND_LINE;
        const bool input = i == measurement->drive_count;
        if (input && !stria_round_track(panel->round, STRIA_TRACK_INPUT, STRIA_TRACK_ARRAY))
            break;
        if (input)
            stria_text_format(
                out,
                "<line x1=\"%u\" x2=\"%u\" y1=\"%u\" y2=\"%u\" stroke=\"#222\" stroke-width=\"1.6\" "
                "stroke-dasharray=\"6 3\"/>\n",
                x, x + 22, y - 4, y - 4);
        else
            stria_text_format(
                out,
                "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\" fill-opacity=\"0.6\"/>\n", x,
                y - 10, hues[i % HUES]);
        stria_text_format(out, "<text x=\"%u\" y=\"%u\">", x + (input ? 28 : 18), y);
        stria_text_add_html(out, input ? "input" : measurement->drives[i].label);
        stria_text_add(out, "</text>\n");
    }
}

static void add_title(const struct stria_measurement *measurement, uint32_t top, struct stria_text *out)
{
    const uint64_t dropped = measurement->readings[STRIA_QUANTITY_DROPPED].value;
    stria_text_format(out, "<text x=\"%u\" y=\"%u\" font-weight=\"bold\">", LEFT, top + TOP - 14);
    stria_text_add_html(out, measurement->label);
    stria_text_add(out, ": ");
    stria_text_add_html(out, measurement->title);
    if (dropped > 0) {
        stria_text_add(out, ", ");
        stria_text_add_value(out, STRIA_QUANTITY_DROPPED, dropped);
        stria_text_add(out, " dropped");
    }
    stria_text_add(out, "</text>\n");
}

static void add_panel(const struct stria_measurement *measurement, uint32_t top, struct stria_text *out)
{
    struct panel panel;
    add_title(measurement, top, out);
    if (!prepare(measurement, top + TOP, &panel)) {
        stria_text_format(out, "<text x=\"%u\" y=\"%u\">it tells no rates over time</text>\n", LEFT,
                          top + TOP + 20);
        free(panel.base);
        return;
    }
    add_axes(&panel, out);
    for (uint32_t i = 0; i < panel.round->track_count; i++)
        if (panel.round->tracks[i].kind == STRIA_TRACK_STORED)
            add_area(&panel, &panel.round->tracks[i], out);
    add_gaps(&panel, out);
    const struct stria_track *input = stria_round_track(panel.round, STRIA_TRACK_INPUT, STRIA_TRACK_ARRAY);
    if (input)
        add_input(&panel, input, out);
    add_legend(&panel, out);
    free(panel.base);
}

void stria_export_svg(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    uint32_t height = 0, top = 0;
    for (uint32_t i = 0; i < count; i++)
        height += panel_height(&measurements[i]);
    stria_text_format(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %" PRIu32 "\" font-family=\"sans-serif\" "
        "font-size=\"12\" fill=\"#222\">\n<rect width=\"%u\" height=\"%" PRIu32 "\" fill=\"#fff\"/>\n",
        WIDTH, height, WIDTH, height);
    for (uint32_t i = 0; i < count; i++) {
        add_panel(&measurements[i], top, out);
        top += panel_height(&measurements[i]);
    }
    stria_text_add(out, "</svg>\n");
}
