/* A comparison for people and as a document. */
#include "results/compare.h"
#include "support/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Signs that need no colour. */
static const char *mark_of(enum stria_change change)
{
    return change == STRIA_CHANGE_BETTER ? "+" : change == STRIA_CHANGE_WORSE ? "!" : " ";
}

static void add_padded(struct stria_text *out, const char *text, size_t width)
{
    size_t shown = 0;
    for (const char *next = text; *next; next++)
        shown += (*next & 0xc0) != 0x80;
    stria_text_add(out, text);
    for (; shown < width; shown++)
        stria_text_add(out, " ");
}

static void add_value(struct stria_text *out, enum stria_quantity quantity, uint64_t value, size_t width)
{
    struct stria_text one = {0};
    stria_text_add_value(&one, quantity, value);
    add_padded(out, one.bytes, width);
    stria_text_clear(&one);
}

/* "+12.3 %"; without a base to divide by there is none. */
static void add_ratio(struct stria_text *out, const struct stria_compared *figure, size_t width)
{
    struct stria_text one = {0};
    if (figure->ratio_known) {
        const double size = figure->ratio < 0 ? -figure->ratio : figure->ratio;
        stria_text_add(&one, figure->ratio < 0 ? "-" : "+");
        stria_text_add_decimal(&one, size < 1e9 ? (uint64_t)(size * 1000 + 0.5) : UINT32_MAX, 10, 1);
        stria_text_add(&one, " %");
    }
    add_padded(out, one.bytes ? one.bytes : "", width);
    stria_text_clear(&one);
}

static void add_figure(struct stria_text *out, const struct stria_compared *figure)
{
    stria_text_format(out, "%s ", mark_of(figure->change));
    add_padded(out, stria_quantity_infos[figure->quantity].label, 18);
    add_value(out, figure->quantity, figure->base, 14);
    add_value(out, figure->quantity, figure->fresh, 14);
    add_ratio(out, figure, 11);
    stria_text_format(out, "%s%s: %s", figure->counts ? "" : "(", stria_change_name(figure->change),
                      figure->why);
    if (figure->base_count > 1 || figure->fresh_count > 1)
        stria_text_format(out, ", n = %" PRIu32 " and %" PRIu32, figure->base_count, figure->fresh_count);
    stria_text_add(out, figure->counts ? "\n" : ")\n");
}

void stria_comparison_print(const struct stria_measurement *base, const struct stria_measurement *fresh,
                            const struct stria_comparison *comparison, struct stria_text *out)
{
    const char *point = NULL;
    stria_text_format(out, "base: %s, %s\nnew:  %s, %s\n\n", base->label, base->title, fresh->label,
                      fresh->title);
    for (uint32_t i = 0; i < comparison->figure_count; i++) {
        const struct stria_compared *figure = &comparison->figures[i];
        if (figure->point && (!point || strcmp(point, figure->point) != 0))
            stria_text_format(out, "%s%s\n", i ? "\n" : "", figure->point);
        if (i == 0 || (figure->point && (!point || strcmp(point, figure->point) != 0)))
            stria_text_add(out, "  figure            base          new           change\n");
        point = figure->point;
        add_figure(out, figure);
    }
    stria_text_format(out, "\n%s\n", stria_change_name(comparison->change));
    for (uint32_t i = 0; i < comparison->reason_count; i++)
        stria_text_format(out, "  because %s\n", comparison->reasons[i]);
    for (uint32_t i = 0; i < comparison->note_count; i++)
        stria_text_format(out, "  note: %s\n", comparison->notes[i]);
}

static void add_side(struct json_object *document, const char *key,
                     const struct stria_measurement *measurement)
{
    struct json_object *object = stria_json_add_object(document, key);
    stria_json_add_text(object, "source", measurement->source);
    stria_json_add_text(object, "label", measurement->label);
    stria_json_add_text(object, "kind", stria_measurement_kind_name(measurement->kind));
    stria_json_add_text(object, "title", measurement->title);
    stria_json_add_text(object, "started", measurement->started);
}

static void add_texts(struct json_object *document, const char *key, const char *const *texts, uint32_t count)
{
    struct json_object *list = stria_json_add_array(document, key);
    for (uint32_t i = 0; i < count; i++)
        json_object_array_add(list, json_object_new_string(texts[i]));
}

struct json_object *stria_comparison_document(const struct stria_measurement *base,
                                              const struct stria_measurement *fresh,
                                              const struct stria_compare_options *options,
                                              const struct stria_comparison *comparison)
{
    struct json_object *document = json_object_new_object();
    if (!document)
        abort();
    stria_json_add_text(document, "schema", "stria.compare/1");
    add_side(document, "base", base);
    add_side(document, "new", fresh);
    stria_json_add_text(document, "verdict", stria_change_name(comparison->change));
    add_texts(document, "reasons", comparison->reasons, comparison->reason_count);
    add_texts(document, "notes", comparison->notes, comparison->note_count);
    stria_json_add_real(document, "tolerance_ratio", options->tolerance);
    struct json_object *list = stria_json_add_array(document, "figures");
    for (uint32_t i = 0; i < comparison->figure_count; i++) {
        const struct stria_compared *figure = &comparison->figures[i];
        struct json_object *object = stria_json_append_object(list);
        stria_json_add_text(object, "point", figure->point);
        stria_json_add_text(object, "figure", stria_quantity_infos[figure->quantity].key);
        stria_json_add_u64(object, "base", figure->base);
        stria_json_add_u64(object, "new", figure->fresh);
        stria_json_add_u64(object, "base_repeats", figure->base_count);
        stria_json_add_u64(object, "new_repeats", figure->fresh_count);
        stria_json_add_real(object, "change_ratio", figure->ratio_known ? figure->ratio : NAN);
        stria_json_add_text(object, "verdict", stria_change_name(figure->change));
        stria_json_add_bool(object, "counts", figure->counts);
        stria_json_add_text(object, "why", figure->why);
    }
    stria_json_add_text(document, "versus", NULL);
    return document;
}
