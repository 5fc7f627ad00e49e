#include "support/trouble.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(trouble, a_sentence_that_fits_is_whole)
{
    struct stria_trouble trouble;
    cr_expect(stria_trouble_set(&trouble, STRIA_ERR_IO, "%s is %u", "this", 1u) == STRIA_ERR_IO);
    cr_expect(trouble.code == STRIA_ERR_IO);
    cr_expect_str_eq(trouble.sentence, "this is 1");
    cr_expect(stria_trouble_set(NULL, STRIA_ERR_IO, "nobody listens") == STRIA_ERR_IO);
}

Test(trouble, of_a_sentence_that_is_too_long_both_ends_are_kept)
{
    for (size_t length = sizeof(((struct stria_trouble *)0)->sentence) - 40; length < 5000; length += 7) {
        char path[5000];
        struct stria_trouble trouble;
        memset(path, 'x', length);
        path[length] = '\0';
        stria_trouble_set(&trouble, STRIA_ERR_IO, "cannot open %s: it is on fire", path);
        cr_assert_eq(strncmp(trouble.sentence, "cannot open x", 13), 0);
        cr_assert_str_eq(trouble.sentence + strlen(trouble.sentence) - 16, "x: it is on fire");
        cr_assert_eq(strlen(trouble.sentence) + 1 <= sizeof(trouble.sentence), 1);
    }
}

Test(trouble, a_cut_splits_no_character)
{
    for (size_t shift = 0; shift < 4; shift++) {
        char path[4000] = "", *next = path;
        struct stria_trouble trouble;
        memset(next, 'a', shift);
        for (next += shift; next < path + sizeof(path) - 4; next += 3)
            memcpy(next, "\xe2\x82\xac", 4);
        stria_trouble_set(&trouble, STRIA_ERR_IO, "%s", path);
        for (const char *at = trouble.sentence + shift; *at; at += 3)
            cr_assert((unsigned char)at[0] == 0xe2 && ((unsigned char)at[1] & 0xc0) == 0x80 &&
                      ((unsigned char)at[2] & 0xc0) == 0x80);
    }
}

Test(trouble, limits_have_words_that_name_them)
{
    cr_expect(strstr(stria_errno_text(EMFILE), "ulimit -n"));
    cr_expect(strstr(stria_errno_text(EFBIG), "ulimit -f"));
    cr_expect(strstr(stria_errno_text(ENOMEM), "ulimit -v"));
    cr_expect_str_eq(stria_errno_text(EIO), strerror(EIO));
}

Test(trouble, a_path_that_cannot_be_is_invalid_and_not_the_systems_failure)
{
    cr_expect(stria_code_of_errno(ENAMETOOLONG) == STRIA_ERR_INVALID);
    cr_expect(stria_code_of_errno(ELOOP) == STRIA_ERR_INVALID);
    cr_expect(stria_code_of_errno(EISDIR) == STRIA_ERR_INVALID);
    cr_expect(stria_code_of_errno(ENOTDIR) == STRIA_ERR_NOT_FOUND);
    cr_expect(stria_code_of_errno(EMFILE) == STRIA_ERR_NO_MEMORY);
}
