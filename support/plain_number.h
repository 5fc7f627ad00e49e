/* Numbers with a fraction in files, which have a decimal point whatever the locale is of the program that
 * this is part of. */
#ifndef STRIA_SUPPORT_PLAIN_NUMBER_H
#define STRIA_SUPPORT_PLAIN_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* A number as strtod() takes it in the C locale, and nothing behind it; else false. */
bool stria_plain_number_parse(const char *text, double *number);

/* As snprintf() with "%.*f" in the C locale. */
void stria_plain_number_print(char *out, size_t size, int digits, double number);

#endif
