#include "core/summary.h"

#include "core/ratio.h"

/* Two-sided 95 % points of Student's t distribution. Between two rows the upper one holds: it is the wider.
 */
static const struct {
    uint32_t freedom;
    double t;
} student[] = {
    {1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},   {6, 2.447},  {7, 2.365},
    {8, 2.306},  {9, 2.262},  {10, 2.228}, {11, 2.201}, {12, 2.179},  {13, 2.160}, {14, 2.145},
    {15, 2.131}, {16, 2.120}, {17, 2.110}, {18, 2.101}, {19, 2.093},  {20, 2.086}, {21, 2.080},
    {22, 2.074}, {23, 2.069}, {24, 2.064}, {25, 2.060}, {26, 2.056},  {27, 2.052}, {28, 2.048},
    {29, 2.045}, {30, 2.042}, {40, 2.021}, {60, 2.000}, {120, 1.980},
};

static double student_t(uint32_t freedom)
{
    uint32_t row = 0;
    while (row + 1 < sizeof(student) / sizeof(student[0]) && student[row + 1].freedom <= freedom)
        row++;
    return student[row].t;
}

/* Newton's iteration from above falls until rounding stops it. The core has no libm. */
static double square_root(double square)
{
    if (square <= 0)
        return 0;
    double root = square > 1 ? square : 1;
    for (;;) {
        const double next = (root + square / root) / 2;
        if (next >= root)
            return root;
        root = next;
    }
}

/* A deviation is less than the range, and half an interval can be thirteen times as much: more than 64 bits
 * hold. */
static uint64_t nearest(double value)
{
    return value < 18446744073709551615.0 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

bool stria_summary_of(const uint64_t *values, uint32_t count, struct stria_summary *summary)
{
    if (count == 0)
        return false;
    *summary = (struct stria_summary){.count = count, .rating = values[0], .most = values[0]};
    stria_u128 sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
        if (values[i] < summary->rating)
            summary->rating = values[i];
        if (values[i] > summary->most)
            summary->most = values[i];
    }
    summary->mean = stria_ratio_divide(sum + count / 2, count);
    if (count == 1)
        return true;

    /* Distances from the least value keep large, nearly equal values exact. */
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += (double)(values[i] - summary->rating) / count;
    for (uint32_t i = 0; i < count; i++) {
        const double distance = (double)(values[i] - summary->rating) - mean;
        squares += distance * distance;
    }
    const double variance = squares / (count - 1);
    summary->has_spread = true;
    summary->deviation = nearest(square_root(variance));
    summary->interval_half = nearest(student_t(count - 1) * square_root(variance / count));
    return true;
}

/* Squared error of a summary's mean; without a spread of its own that of the other's values. */
static double error_of(const struct stria_summary *summary, const struct stria_summary *other)
{
    const double deviation = (double)(summary->has_spread ? summary->deviation : other->deviation);
    return deviation * deviation / summary->count;
}

/* Degrees of freedom after Welch and Satterthwaite, rounded down, which is the careful side. */
static uint32_t freedom_of(const struct stria_summary *one, const struct stria_summary *other)
{
    const double a = error_of(one, other), b = error_of(other, one);
    if (!one->has_spread || !other->has_spread)
        return (one->has_spread ? one->count : other->count) - 1;
    const double both = a * a / (one->count - 1) + b * b / (other->count - 1);
    return both > 0 ? (uint32_t)((a + b) * (a + b) / both) : one->count + other->count - 2;
}

bool stria_summary_apart(const struct stria_summary *one, const struct stria_summary *other)
{
    const double difference =
        one->mean > other->mean ? (double)(one->mean - other->mean) : (double)(other->mean - one->mean);
    if (!one->has_spread && !other->has_spread)
        return difference > 0;
    const double t = student_t(freedom_of(one, other));
    return difference * difference > t * t * (error_of(one, other) + error_of(other, one));
}
