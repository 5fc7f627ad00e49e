#include "measure/fio.h"

#include "measure/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* For a shell: quoted where it is more than a plain word. */
static void print_word(const char *word, FILE *out)
{
    const char *plain = "/._-+=,@%";
    bool quoted = !word[0];
    for (const char *c = word; *c; c++)
        quoted |= !isalnum((unsigned char)*c) && !strchr(plain, *c);
    if (!quoted) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = word; *c; c++)
        fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, out);
    fputc('\'', out);
}

/* fio takes a colon for the end of a file's name. */
static void print_path(const char *path, FILE *out)
{
    char escaped[2 * STRIA_CONFIG_PATH_BYTES];
    size_t used = 0;
    for (; *path && used + 2 < sizeof(escaped); path++) {
        if (*path == ':')
            escaped[used++] = '\\';
        escaped[used++] = *path;
    }
    escaped[used] = '\0';
    print_word(escaped, out);
}

static void print_command(const struct stria_bench_options *options, const struct stria_round_plan *plan,
                          uint64_t begin_bytes, FILE *out)
{
    fprintf(out,
            "fio --ioengine=io_uring --direct=1 --rw=%s --bs=%" PRIu64 " --iodepth=%" PRIu32
            " --offset=%" PRIu64 " --size=%" PRIu64,
            plan->write ? "write" : "read", plan->block_bytes, plan->depth, begin_bytes + plan->offset_bytes,
            plan->size_bytes);
    if (plan->write)
        fprintf(out, " --end_fsync=1 --randseed=%" PRIu64, plan->seed);
    if (plan->runtime_ns)
        fprintf(out, " --time_based --runtime=%" PRIu64 "ms", (plan->runtime_ns + 999999) / 1000000);
    else if (plan->bytes_max > plan->size_bytes)
        fprintf(out, " --io_size=%" PRIu64, plan->bytes_max);
    if (options->warm_up_ns && plan->runtime_ns)
        fprintf(out, " --ramp_time=%" PRIu64 "ms", options->warm_up_ns / 1000000);
    fprintf(out, " --group_reporting --output-format=json");
    for (uint32_t i = 0; i < options->drive_count; i++) {
        fprintf(out, " --name=drive%" PRIu32 " --filename=", i);
        print_path(options->drives[i].path, out);
    }
    fputc('\n', out);
}

int stria_bench_like_fio(const struct stria_bench_options *options, FILE *out, struct stria_trouble *trouble)
{
    struct stria_bench_result result = {.options = options};
    struct stria_bench bench = {.options = options, .result = &result, .trouble = trouble};
    bench.test = stria_bench_test_find(options->test, trouble);
    if (!bench.test)
        return trouble->code;
    for (uint32_t i = 0; i < options->drive_count; i++)
        if (options->array || options->drives[i].profile[0] || options->drives[i].passthrough ||
            stria_path_is_prefixed(options->drives[i].path))
            return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED,
                                     "--like-fio: fio knows neither arrays nor fake drives nor memory: name "
                                     "devices or files");
    if (strcmp(options->test, "accuracy") == 0)
        return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED,
                                 "--like-fio: fio does not tell apart what accuracy tells apart; see its own "
                                 "--verify");
    const int code = stria_bench_plan_unopened(&bench);
    fprintf(out, "# before each: TRIM where the drive knows it, and rest\n");
    for (uint32_t i = 0; code == STRIA_OK && i < bench.plan_count && bench.plans[i].repeat == 0; i++)
        print_command(options, &bench.plans[i], bench.begin_bytes, out);
    stria_bench_plans_free(&bench);
    return code;
}
