/* What the targets that read a person's text have in common. */
#ifndef STRIA_TESTS_FUZZ_TEXT_H
#define STRIA_TESTS_FUZZ_TEXT_H

#include "support/problems.h"
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

/* A list of problems as a person may be shown it: one sentence each, which names the file, and nothing in it
 * that would make a terminal do something. Empty exactly when the text was found good. */
static inline void fuzz_check_problems(const struct stria_problems *problems, bool good, const char *file)
{
    FUZZ_CHECK((problems->count + problems->more == 0) == good);
    FUZZ_CHECK(problems->count <= STRIA_PROBLEMS_MAX);
    FUZZ_CHECK(problems->more == 0 || problems->count == STRIA_PROBLEMS_MAX);
    for (size_t i = 0; i < problems->count; i++) {
        FUZZ_CHECK(strncmp(problems->sentences[i], file, strlen(file)) == 0);
        for (const unsigned char *c = (const unsigned char *)problems->sentences[i]; *c; c++)
            FUZZ_CHECK(*c >= 0x20 && *c != 0x7f);
    }
}

#endif
