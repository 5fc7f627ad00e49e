#include "measure/profile.h"

#include "config/profile_fit.h"
#include "core/ratio.h"
#include "support/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int stria_bench_profile_check(const struct stria_bench_options *options, struct stria_trouble *trouble)
{
    if (strcmp(options->test, "fill") == 0 && !options->array && options->drive_count == 1)
        return STRIA_OK;
    return stria_trouble_set(
        trouble, STRIA_ERR_INVALID,
        "--save-profile is made of one drive that is filled: run test fill on one drive");
}

static const struct stria_round *slowest(const struct stria_bench_result *result)
{
    const struct stria_round *found = NULL;
    for (uint32_t i = 0; i < result->round_count; i++) {
        const struct stria_round *round = &result->rounds[i];
        if (!round->partial && !round->above_link && round->figures.mean.known &&
            (!found || round->figures.mean.value < found->figures.mean.value))
            found = round;
    }
    return found;
}

/* A bin cut short by the end, of a block or two, would look like a rate of its own: it goes with the one
 * before it. So does time before the first byte, with the first bin at the rate of the next. */
static struct stria_fit_bin *bins_of(const struct stria_round *round, size_t *count)
{
    const struct stria_series *series = &round->drives[0];
    struct stria_fit_bin *bins = calloc(series->count + 1, sizeof(*bins));
    *count = 0;
    for (uint32_t i = 0; bins && i < series->count; i++) {
        const uint64_t begin_ns = i * series->interval_ns, end_ns = begin_ns + series->interval_ns;
        const uint64_t until_ns = end_ns < round->duration_ns ? end_ns : round->duration_ns;
        if (until_ns <= begin_ns)
            continue;
        if (until_ns < end_ns && *count) {
            bins[*count - 1].bytes += series->bins[i];
            bins[*count - 1].duration_ns += until_ns - begin_ns;
        } else {
            bins[(*count)++] = (struct stria_fit_bin){series->bins[i], until_ns - begin_ns};
        }
    }
    if (bins && *count > 1 && bins[0].bytes < bins[1].bytes)
        bins[0].duration_ns = stria_ratio_scale(bins[1].duration_ns, bins[0].bytes, bins[1].bytes) + 1;
    return bins;
}

static int write_profile(const struct stria_bench_result *result, const struct stria_profile *profile,
                         const char *path, struct stria_trouble *trouble)
{
    char *text = NULL, note[512];
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to write a profile");
    snprintf(note, sizeof(note),
             "Fitted to a bench of %.256s: the write table is measured, as the whole means of its steps.\n"
             "Not measured: reads (taken as fast as the fastest step), rest, heat and stalls.",
             result->targets[0].config.path);
    stria_profile_write(profile, note, out);
    fclose(out);
    const int code = stria_file_write_whole(path, text, bytes, trouble);
    free(text);
    return code;
}

int stria_bench_save_profile(const struct stria_bench_result *result, const char *path,
                             struct stria_trouble *trouble)
{
    struct stria_profile profile;
    struct stria_trouble reason = {0};
    const struct stria_round *round = slowest(result);
    size_t count;
    if (!round)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "no repeat filled the drive to its end: %s was not written", path);
    const struct stria_target *target = &result->targets[0];
    struct stria_fit_bin *bins = bins_of(round, &count);
    if (!bins)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to fit a profile");
    int code = stria_profile_fit(bins, count, target->model[0] ? target->model : target->config.path,
                                 target->size_bytes, &profile, &reason);
    free(bins);
    if (code != STRIA_OK)
        return stria_trouble_set(trouble, code, "cannot make %s: %s", path, reason.sentence);
    return write_profile(result, &profile, path, trouble);
}
