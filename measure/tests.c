#include "measure/plan.h"

#include <stddef.h>

const struct stria_bench_test *const stria_bench_tests[] = {
    /* clang-format off */
    &stria_bench_test_size,
    &stria_bench_test_zone,
    &stria_bench_test_block,
    &stria_bench_test_fill,
    &stria_bench_test_steady,
    &stria_bench_test_paced,
    &stria_bench_test_accuracy,
    &stria_bench_test_read,
    NULL,
    /* clang-format on */
};

const struct stria_bench_about *stria_bench_abouts(void)
{
    static struct stria_bench_about abouts[sizeof(stria_bench_tests) / sizeof(stria_bench_tests[0])];
    for (size_t i = 0; stria_bench_tests[i]; i++)
        abouts[i] = stria_bench_tests[i]->about;
    return abouts;
}
