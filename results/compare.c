#include "results/compare.h"

#include "core/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_MAX 256u

/* Amounts this much apart are not the same measurement: a tenth. */
#define AMOUNT_PARTS 10u

/* These tell about the surroundings. All others make two measurements not comparable. */
static bool only_noted(enum stria_condition condition)
{
    return condition == STRIA_CONDITION_CPU || condition == STRIA_CONDITION_GOVERNOR ||
           condition == STRIA_CONDITION_VERSION;
}

/* What a verdict on the whole rests on. A highest latency, or a stall, is one event among millions. */
static bool counts(enum stria_quantity quantity)
{
    return stria_quantity_infos[quantity].unit == STRIA_UNIT_BYTES_PER_S ||
           quantity == STRIA_QUANTITY_LATENCY_P99 || quantity == STRIA_QUANTITY_DROPPED ||
           quantity == STRIA_QUANTITY_ERRORS;
}

const char *stria_despite_name(unsigned index)
{
    if (index < STRIA_CONDITIONS)
        return stria_condition_name((enum stria_condition)index);
    return index == STRIA_DESPITE_AMOUNT ? "amount" : "partial";
}

unsigned stria_despite_find(const char *name)
{
    unsigned index = 0;
    while (index < STRIA_DESPITES && strcmp(stria_despite_name(index), name) != 0)
        index++;
    return index;
}

const char *stria_change_name(enum stria_change change)
{
    static const char *const names[] = {"same", "better", "worse", "not comparable"};
    return names[change];
}

struct work {
    const struct stria_measurement *base, *fresh;
    const struct stria_compare_options *options;
    struct stria_comparison *comparison;
};

static void differ(const struct work *work, unsigned despite, bool noted, const char *sentence)
{
    struct stria_comparison *comparison = work->comparison;
    if (noted || work->options->despite[despite])
        comparison->notes[comparison->note_count++] = sentence;
    else
        comparison->reasons[comparison->reason_count++] = sentence;
}

static void compare_conditions(const struct work *work)
{
    struct stria_arena *arena = &work->comparison->arena;
    for (unsigned i = 0; i < STRIA_CONDITIONS; i++) {
        const char *base = work->base->conditions[i], *fresh = work->fresh->conditions[i];
        const char *name = stria_despite_name(i);
        if (base && fresh && strcmp(base, fresh) != 0)
            differ(work, i, only_noted((enum stria_condition)i),
                   stria_arena_format(arena, "%s differs: %s against %s", name, base, fresh));
        else if (!base != !fresh)
            differ(work, i, true,
                   stria_arena_format(arena, "%s is not told by %s", name,
                                      base ? work->fresh->label : work->base->label));
    }
}

static bool far_apart(struct stria_reading one, struct stria_reading other)
{
    const uint64_t apart = one.value > other.value ? one.value - other.value : other.value - one.value;
    const uint64_t most = one.value > other.value ? one.value : other.value;
    return one.known && other.known && apart > most / AMOUNT_PARTS;
}

/* Of a recording either the length or the time is given beforehand, and the other is an outcome: both have to
 * differ. The points of a bench say for themselves how much they are. */
static void compare_amounts(const struct work *work)
{
    const struct stria_reading *base = work->base->readings, *fresh = work->fresh->readings;
    const bool same_length = !far_apart(work->base->length_bytes, work->fresh->length_bytes);
    const bool same_time = !far_apart(base[STRIA_QUANTITY_DURATION], fresh[STRIA_QUANTITY_DURATION]);
    struct stria_text text = {0};
    if (work->base->point_count > 0 || same_length || same_time)
        return;
    stria_text_add(&text, "amount differs: ");
    stria_text_add_value(&text, STRIA_QUANTITY_BYTES, work->base->length_bytes.value);
    stria_text_add(&text, " against ");
    stria_text_add_value(&text, STRIA_QUANTITY_BYTES, work->fresh->length_bytes.value);
    differ(work, STRIA_DESPITE_AMOUNT, false, stria_arena_text(&work->comparison->arena, text.bytes));
    stria_text_clear(&text);
}

static void compare_states(const struct work *work)
{
    const struct stria_measurement *const both[] = {work->base, work->fresh};
    for (unsigned i = 0; i < 2; i++) {
        if (both[i]->partial)
            differ(
                work, STRIA_DESPITE_PARTIAL, false,
                stria_arena_format(&work->comparison->arena, "partial: %s was interrupted", both[i]->label));
        if (!both[i]->saturated)
            differ(work, STRIA_DESPITE_AMOUNT, true,
                   stria_arena_format(
                       &work->comparison->arena,
                       "the drives of %s waited for their input: its rates are at least what they can",
                       both[i]->label));
    }
}

/* Values of the repeats at a point; of the whole there is one. */
static uint32_t samples(const struct stria_measurement *measurement, const struct stria_point *point,
                        enum stria_quantity quantity, uint64_t values[REPEATS_MAX])
{
    uint32_t count = 0;
    if (!point) {
        values[0] = measurement->readings[quantity].value;
        return measurement->readings[quantity].known;
    }
    for (uint32_t i = 0; i < measurement->round_count && count < REPEATS_MAX; i++)
        if (measurement->rounds[i].counts && measurement->rounds[i].reads == point->reads &&
            strcmp(measurement->rounds[i].label, point->label) == 0 &&
            measurement->rounds[i].readings[quantity].known)
            values[count++] = measurement->rounds[i].readings[quantity].value;
    return count;
}

static uint64_t figure_of(const struct stria_summary *summary, enum stria_quantity quantity)
{
    if (quantity == STRIA_QUANTITY_MEAN)
        return summary->mean;
    return stria_quantity_infos[quantity].better == STRIA_BETTER_HIGHER ? summary->rating : summary->most;
}

static void judge(const struct work *work, const struct stria_summary *base,
                  const struct stria_summary *fresh, struct stria_compared *figure)
{
    const bool higher = figure->fresh > figure->base;
    const bool wanted = stria_quantity_infos[figure->quantity].better == STRIA_BETTER_HIGHER;
    const double tolerance = work->options->tolerance;
    figure->ratio_known = figure->base > 0;
    if (figure->ratio_known)
        figure->ratio = ((double)figure->fresh - (double)figure->base) / (double)figure->base;
    if (figure->fresh == figure->base) {
        figure->why = "equal";
    } else if (figure->ratio_known && figure->ratio <= tolerance && figure->ratio >= -tolerance) {
        figure->why = "within the tolerance";
    } else if (!stria_summary_apart(base, fresh)) {
        figure->why = "within the spread of the repeats";
    } else {
        figure->change = higher == wanted ? STRIA_CHANGE_BETTER : STRIA_CHANGE_WORSE;
        figure->why = base->has_spread || fresh->has_spread ? "beyond the spread of the repeats"
                                                            : "beyond the tolerance, single runs";
    }
}

static const char *name_of(const struct work *work, const struct stria_point *point)
{
    return point->reads ? stria_arena_format(&work->comparison->arena, "%s, read", point->label)
                        : point->label;
}

static void compare_figure(const struct work *work, const struct stria_point *point,
                           enum stria_quantity quantity)
{
    uint64_t base_values[REPEATS_MAX], fresh_values[REPEATS_MAX];
    struct stria_summary base, fresh;
    const uint32_t base_count = samples(work->base, point, quantity, base_values);
    const uint32_t fresh_count = samples(work->fresh, point, quantity, fresh_values);
    if (stria_quantity_infos[quantity].better == STRIA_BETTER_NEITHER ||
        !stria_summary_of(base_values, base_count, &base) ||
        !stria_summary_of(fresh_values, fresh_count, &fresh))
        return;
    struct stria_compared *figure = &work->comparison->figures[work->comparison->figure_count++];
    *figure = (struct stria_compared){.point = point ? name_of(work, point) : NULL,
                                      .quantity = quantity,
                                      .counts = counts(quantity),
                                      .base = figure_of(&base, quantity),
                                      .fresh = figure_of(&fresh, quantity),
                                      .base_count = base_count,
                                      .fresh_count = fresh_count};
    judge(work, &base, &fresh, figure);
}

static void compare_figures(const struct work *work)
{
    struct stria_comparison *comparison = work->comparison;
    /* fio knows of jobs only: beside one, a bench is compared as a whole. */
    const uint32_t points = work->fresh->point_count ? work->base->point_count : 0;
    comparison->figures = stria_arena_take(
        &comparison->arena, (size_t)(points ? points : 1) * STRIA_QUANTITIES, sizeof(*comparison->figures));
    for (unsigned quantity = 0; quantity < STRIA_QUANTITIES && points == 0; quantity++)
        compare_figure(work, NULL, (enum stria_quantity)quantity);
    for (uint32_t i = 0; i < points; i++)
        for (unsigned quantity = 0; quantity < STRIA_QUANTITIES; quantity++)
            compare_figure(work, &work->base->points[i], (enum stria_quantity)quantity);
}

static enum stria_change change_of_whole(const struct stria_comparison *comparison)
{
    bool better = false;
    if (comparison->reason_count > 0)
        return STRIA_CHANGE_NOT_COMPARABLE;
    for (uint32_t i = 0; i < comparison->figure_count; i++) {
        if (comparison->figures[i].counts && comparison->figures[i].change == STRIA_CHANGE_WORSE)
            return STRIA_CHANGE_WORSE;
        better |= comparison->figures[i].counts && comparison->figures[i].change == STRIA_CHANGE_BETTER;
    }
    return better ? STRIA_CHANGE_BETTER : STRIA_CHANGE_SAME;
}

void stria_compare(const struct stria_measurement *base, const struct stria_measurement *fresh,
                   const struct stria_compare_options *options, struct stria_comparison *comparison)
{
    *comparison = (struct stria_comparison){0};
    const struct work work = {base, fresh, options, comparison};
    /* A condition each, and of either side whether it is partial and saturated, and that nothing is in
     * common. */
    const size_t room = STRIA_DESPITES + 8;
    comparison->reasons = stria_arena_take(&comparison->arena, room, sizeof(*comparison->reasons));
    comparison->notes = stria_arena_take(&comparison->arena, room, sizeof(*comparison->notes));
    compare_conditions(&work);
    compare_amounts(&work);
    compare_states(&work);
    compare_figures(&work);
    if (comparison->figure_count == 0)
        comparison->reasons[comparison->reason_count++] = "they have no figure in common";
    comparison->change = change_of_whole(comparison);
}

void stria_comparison_clear(struct stria_comparison *comparison)
{
    stria_arena_clear(&comparison->arena);
    *comparison = (struct stria_comparison){0};
}
