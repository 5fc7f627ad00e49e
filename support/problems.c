#define _GNU_SOURCE

#include "support/problems.h"

#include "support/plain.h"

#include <stdarg.h>
#include <stdlib.h>

void stria_problems_add(struct stria_problems *problems, const char *format, ...)
{
    if (problems->count == STRIA_PROBLEMS_MAX) {
        problems->more++;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *sentence;
    int length = vasprintf(&sentence, format, arguments);
    va_end(arguments);
    if (length < 0)
        problems->more++;
    else
        problems->sentences[problems->count++] = stria_plain(sentence);
}

void stria_problems_print(const struct stria_problems *problems, const char *prefix, FILE *out)
{
    for (size_t i = 0; i < problems->count; i++)
        fprintf(out, "%s%s\n", prefix, problems->sentences[i]);
    if (problems->more)
        fprintf(out, "%s… and %zu more\n", prefix, problems->more);
}

void stria_problems_clear(struct stria_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        free(problems->sentences[i]);
    *problems = (struct stria_problems){0};
}
