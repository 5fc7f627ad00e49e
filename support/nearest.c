#include "support/nearest.h"

#include <ctype.h>
#include <string.h>

/* Longer words are not compared: nobody mistypes one into another. */
#define WORD_MAX 48u

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance, letters compared without case. Rows are kept for two steps back,
 * which a swap of neighbours needs. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] = smaller(smaller(before[j] + 1, now[j - 1] + 1), before[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                now[j] = smaller(now[j], two_before[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

struct stria_nearest stria_nearest_to(const char *word)
{
    /* A third of the letters may be wrong, at least one. */
    size_t length = strlen(word), tolerated = length / 3 ? length / 3 : 1;
    return (struct stria_nearest){.word = word, .distance = tolerated + 1};
}

void stria_nearest_offer(struct stria_nearest *nearest, const char *candidate)
{
    const size_t length = strlen(nearest->word), candidate_length = strlen(candidate);
    if (length == 0 || length > WORD_MAX || candidate_length > WORD_MAX)
        return;
    size_t found = distance(nearest->word, length, candidate, candidate_length);
    if (found >= candidate_length || found >= nearest->distance)
        return;
    nearest->best = candidate;
    nearest->distance = found;
}
