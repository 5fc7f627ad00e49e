#include "config/profile_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Neighbours are one step while telling them apart explains less than this: a difference of 5 % over a
 * fiftieth of the drive. */
#define WORTH_A_STEP (0.05 * 0.05 / 50)

/* By so many chunks a count can be off for where in its bins a step begins and ends. */
#define GRAINS_OF_NOISE 1.5

struct piece {
    double bytes;
    double ns;
};

static double rate_of(struct piece piece)
{
    return piece.bytes / piece.ns;
}

static struct piece joined(struct piece a, struct piece b)
{
    return (struct piece){a.bytes + b.bytes, a.ns + b.ns};
}

/* Counting whole chunks in short bins makes rates jump that are steady: the largest size of which every bin
 * is a multiple, if it can be a chunk's. */
static double find_grain(const struct stria_fit_bin *bins, size_t count)
{
    uint64_t grain = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t rest = bins[i].bytes; rest > 0;) {
            const uint64_t remainder = grain % rest;
            grain = rest;
            rest = remainder;
        }
    return grain <= STRIA_CHUNK_BYTES_MAX ? (double)grain : 0;
}

/* How much is lost by giving both the same rate: the squared relative difference, by the share of bytes;
 * nothing if the grain explains it. */
static double loss(struct piece a, struct piece b, double total_bytes, double grain)
{
    const double mean = rate_of(joined(a, b));
    const double difference = (rate_of(a) - rate_of(b)) / mean;
    if (fabs(a.bytes - mean * a.ns) <= GRAINS_OF_NOISE * grain)
        return 0;
    return difference * difference * a.bytes * b.bytes / (a.bytes + b.bytes) / total_bytes;
}

/* Bins to pieces, each with bytes in it: time that the drive stood still belongs to what it wrote next, or
 * last. */
static size_t collect(const struct stria_fit_bin *bins, size_t count, struct piece *pieces)
{
    const size_t stride = count / STRIA_FIT_BINS_MAX + 1;
    struct piece pending = {0};
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        pending.bytes += (double)bins[i].bytes;
        pending.ns += (double)bins[i].duration_ns;
        if (pending.bytes > 0 && ((i + 1) % stride == 0 || i + 1 == count)) {
            pieces[made++] = pending;
            pending = (struct piece){0};
        }
    }
    if (made > 0)
        pieces[made - 1].ns += pending.ns;
    return made;
}

/* Joins the neighbours that lose least until there are few and each is worth its step. */
static size_t join(struct piece *pieces, size_t count, double total_bytes, double grain)
{
    while (count > 1) {
        size_t best = 0;
        double least = INFINITY;
        for (size_t i = 0; i + 1 < count; i++) {
            const double here = loss(pieces[i], pieces[i + 1], total_bytes, grain);
            if (here < least) {
                least = here;
                best = i;
            }
        }
        if (count <= STRIA_FIT_STEPS_MAX && least > WORTH_A_STEP)
            break;
        pieces[best] = joined(pieces[best], pieces[best + 1]);
        memmove(&pieces[best + 1], &pieces[best + 2], (count - best - 2) * sizeof(*pieces));
        count--;
    }
    return count;
}

static void make_profile(const struct piece *pieces, size_t count, const char *model, uint64_t capacity_bytes,
                         struct stria_profile *profile)
{
    struct stria_model_parameters *p = &profile->parameters;
    memset(profile, 0, sizeof(*profile));
    snprintf(profile->name, sizeof(profile->name), "%s", "fitted");
    snprintf(profile->model, sizeof(profile->model), "%s", model);
    p->capacity_bytes = capacity_bytes;
    p->law.kind = STRIA_WRITE_LAW_TABLE;
    p->law.step_count = (unsigned)count;
    double until_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        until_bytes += pieces[i].bytes;
        const double rate = fmin(fmax(round(rate_of(pieces[i]) * 1e9), 1), (double)STRIA_WRITE_RATE_MAX);
        p->law.steps[i] = (struct stria_rate_step){(uint64_t)until_bytes, (uint64_t)rate};
        if (p->law.steps[i].bytes_per_s > p->link_bytes_per_s)
            p->link_bytes_per_s = p->law.steps[i].bytes_per_s;
    }
    p->read_bytes_per_s = p->link_bytes_per_s;
}

int stria_profile_fit(const struct stria_fit_bin *bins, size_t count, const char *model,
                      uint64_t capacity_bytes, struct stria_profile *profile, struct stria_trouble *trouble)
{
    double total_bytes = 0;
    for (size_t i = 0; i < count; i++)
        total_bytes += (double)bins[i].bytes;
    if (total_bytes <= 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "nothing was written in this measurement");
    if (capacity_bytes > 0 && total_bytes > (double)capacity_bytes)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%.0f bytes were written, more than a drive of %llu bytes holds: give it its capacity",
            total_bytes, (unsigned long long)capacity_bytes);
    struct piece *pieces = malloc((STRIA_FIT_BINS_MAX + 1) * sizeof(*pieces));
    if (!pieces)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to fit a profile");
    const size_t steps = join(pieces, collect(bins, count, pieces), total_bytes, find_grain(bins, count));
    make_profile(pieces, steps, model, capacity_bytes ? capacity_bytes : (uint64_t)total_bytes, profile);
    free(pieces);
    if (stria_model_check(&profile->parameters, NULL, 0) > 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "this measurement is of no possible drive");
    return STRIA_OK;
}
