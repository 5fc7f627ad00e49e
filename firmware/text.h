/* Text without a C library: composing lines and reading figures. Pure. */
#ifndef STRIA_FIRMWARE_TEXT_H
#define STRIA_FIRMWARE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Composes a text of at most bytes − 1 characters and terminates it; what does not fit is cut off. Knows %s,
 * %c,
 * %%, and %d, %u, %x with the lengths l and ll, a width and leading zeros (%016lx). Returns the text's
 * length. */
size_t stria_text_compose(char *out, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t stria_text_compose_list(char *out, size_t bytes, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

bool stria_text_equal(const char *a, const char *b);
size_t stria_text_length(const char *text);

/* The number at the start of text, decimal or with 0x hexadecimal; *end is where it ends. False when there is
 * none, or it does not fit 64 bits. */
bool stria_text_number(const char *text, const char **end, uint64_t *value);

/* A size such as 4096, 64KiB, 2MiB, 1GiB, and nothing behind it. False when it is none. */
bool stria_text_size(const char *text, uint64_t *bytes);

#endif
