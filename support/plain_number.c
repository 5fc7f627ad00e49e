#include "support/plain_number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* The calling thread has the C locale until leave_c(). */
static locale_t enter_c(locale_t *before)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *before = c ? uselocale(c) : (locale_t)0;
    return c;
}

static void leave_c(locale_t c, locale_t before)
{
    if (!c)
        return;
    uselocale(before);
    freelocale(c);
}

bool stria_plain_number_parse(const char *text, double *number)
{
    char *end;
    locale_t before;
    const locale_t c = enter_c(&before);
    const double value = strtod(text, &end);
    leave_c(c, before);
    if (end == text || *end)
        return false;
    *number = value;
    return true;
}

void stria_plain_number_print(char *out, size_t size, int digits, double number)
{
    locale_t before;
    const locale_t c = enter_c(&before);
    snprintf(out, size, "%.*f", digits, number);
    leave_c(c, before);
}
