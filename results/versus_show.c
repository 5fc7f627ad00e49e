/* One against the other, for people and as a document. */
#include "results/versus.h"
#include "support/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *key, *label;
    enum stria_quantity like; /* whose unit it has; STRIA_QUANTITIES for money */
    uint64_t divisor;         /* of money */
    unsigned decimals;
} infos[STRIA_VERSUS_FIGURES] = {
    [STRIA_VERSUS_SUSTAINED_1S] = {"sustained_1s_bytes_per_s", "sustained(1 s)", STRIA_QUANTITY_MEAN, 1, 0},
    [STRIA_VERSUS_SUSTAINED_60S] = {"sustained_60s_bytes_per_s", "sustained(60 s)", STRIA_QUANTITY_MEAN, 1,
                                    0},
    [STRIA_VERSUS_LOSSLESS] = {"lossless_bytes_per_s", "lossless rate", STRIA_QUANTITY_MEAN, 1, 0},
    [STRIA_VERSUS_CAPACITY] = {"capacity_bytes", "capacity at the rate", STRIA_QUANTITY_BYTES, 1, 0},
    [STRIA_VERSUS_MEAN] = {"mean_bytes_per_s", "average", STRIA_QUANTITY_MEAN, 1, 0},
    [STRIA_VERSUS_PRICE] = {"price", "price", STRIA_QUANTITIES, 100, 2},
    [STRIA_VERSUS_PRICE_PER_RATE] = {"price_per_mb_per_s", "price per MB/s", STRIA_QUANTITIES, 10000, 4},
};

static void add_value(struct stria_text *out, const struct stria_versus *versus, unsigned side,
                      unsigned figure)
{
    const struct stria_reading *reading = &versus->figures[side][figure];
    struct stria_text one = {0};
    const bool rate = infos[figure].like == STRIA_QUANTITY_MEAN;
    if (!reading->known)
        stria_text_add(&one, "-");
    else if (infos[figure].like == STRIA_QUANTITIES)
        stria_text_add_decimal(&one, reading->value, infos[figure].divisor, infos[figure].decimals);
    else
        stria_text_add_value(&one, infos[figure].like, reading->value);
    const bool taken = figure == STRIA_VERSUS_CAPACITY;
    if (reading->known && ((taken && versus->endless[side]) || ((rate || taken) && versus->held_back[side])))
        stria_text_add(&one, " or more");
    stria_text_format(out, "%-22s", one.bytes);
    stria_text_clear(&one);
}

void stria_versus_print(const struct stria_measurement *const sides[2], const struct stria_versus *versus,
                        struct stria_text *out)
{
    unsigned won[2] = {0};
    stria_text_format(out, "A: %s, %s\nB: %s, %s\n\n", sides[0]->label, sides[0]->title, sides[1]->label,
                      sides[1]->title);
    stria_text_format(out, "%-24s%-22s%-22s%s\n", "", "A", "B", "better");
    for (unsigned i = 0; i < STRIA_VERSUS_FIGURES; i++) {
        if (!versus->figures[0][i].known && !versus->figures[1][i].known)
            continue;
        stria_text_format(out, "%-24s", infos[i].label);
        add_value(out, versus, 0, i);
        add_value(out, versus, 1, i);
        stria_text_add(out, versus->winner[i] < 0 ? "-\n" : versus->winner[i] == 0 ? "A\n" : "B\n");
        if (versus->winner[i] >= 0)
            won[versus->winner[i]]++;
    }
    stria_text_add(out, "\nlossless with a buffer of ");
    stria_text_add_value(out, STRIA_QUANTITY_BYTES, versus->buffer_bytes);
    if (versus->bytes > 0) {
        stria_text_add(out, "; rates over the first ");
        stria_text_add_value(out, STRIA_QUANTITY_BYTES, versus->bytes);
        stria_text_add(out, ", which both wrote");
    }
    if (versus->rate_bytes_per_s > 0) {
        stria_text_add(out, "; capacity at ");
        stria_text_add_value(out, STRIA_QUANTITY_MEAN, versus->rate_bytes_per_s);
    }
    stria_text_format(out, "\nA wins on %u, B on %u\n", won[0], won[1]);
}

static void add_figure(struct json_object *object, const struct stria_versus *versus, unsigned side,
                       unsigned figure)
{
    const struct stria_reading *reading = &versus->figures[side][figure];
    if (infos[figure].like != STRIA_QUANTITIES)
        stria_json_add_figure(object, infos[figure].key, reading->known, reading->value);
    else
        stria_json_add_real(object, infos[figure].key,
                            reading->known ? (double)reading->value / (double)infos[figure].divisor : NAN);
}

struct json_object *stria_versus_document(const struct stria_measurement *const sides[2],
                                          const struct stria_versus *versus)
{
    static const char *const names[] = {"a", "b"};
    struct json_object *document = json_object_new_object();
    if (!document)
        abort();
    stria_json_add_text(document, "schema", "stria.compare/1");
    struct json_object *all = stria_json_add_object(document, "versus");
    stria_json_add_u64(all, "buffer_bytes", versus->buffer_bytes);
    stria_json_add_figure(all, "rate_bytes_per_s", versus->rate_bytes_per_s > 0, versus->rate_bytes_per_s);
    stria_json_add_figure(all, "bytes", versus->bytes > 0, versus->bytes);
    for (unsigned side = 0; side < 2; side++) {
        struct json_object *object = stria_json_add_object(all, names[side]);
        stria_json_add_text(object, "source", sides[side]->source);
        stria_json_add_text(object, "title", sides[side]->title);
        for (unsigned figure = 0; figure < STRIA_VERSUS_FIGURES; figure++)
            add_figure(object, versus, side, figure);
        stria_json_add_bool(object, "capacity_is_at_least", versus->endless[side]);
        stria_json_add_bool(object, "rates_are_at_least", versus->held_back[side]);
    }
    struct json_object *winners = stria_json_add_object(all, "winners");
    for (unsigned figure = 0; figure < STRIA_VERSUS_FIGURES; figure++)
        stria_json_add_text(winners, infos[figure].key,
                            versus->winner[figure] < 0 ? NULL : names[versus->winner[figure]]);
    return document;
}
