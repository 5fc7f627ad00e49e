/* Everything that is wrong with an input, at once: a list of sentences. */
#ifndef STRIA_SUPPORT_PROBLEMS_H
#define STRIA_SUPPORT_PROBLEMS_H

#include <stddef.h>
#include <stdio.h>

/* Nobody reads more; the rest are only counted. */
#define STRIA_PROBLEMS_MAX 50u

/* All zero is an empty list. */
struct stria_problems {
    char *sentences[STRIA_PROBLEMS_MAX]; /* each owned by the list, without a newline */
    size_t count;                        /* of sentences */
    size_t more;                         /* further problems that found no room */
};

/* Control characters in what it quotes become question marks. */
void stria_problems_add(struct stria_problems *problems, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One sentence a line, each behind prefix. */
void stria_problems_print(const struct stria_problems *problems, const char *prefix, FILE *out);

/* Frees the sentences and leaves an empty list. */
void stria_problems_clear(struct stria_problems *problems);

#endif
