/* Text from elsewhere, made fit to be shown. */
#ifndef STRIA_SUPPORT_PLAIN_H
#define STRIA_SUPPORT_PLAIN_H

#include <stddef.h>

/* The length of the valid UTF-8 character at text, or zero (RFC 3629: no overlong forms, no surrogates). */
size_t stria_plain_character(const char *text);

/* Puts a question mark in the place of every byte of a control character, ASCII's and those that UTF-8 adds,
 * and of every byte that is not UTF-8, so that a terminal only shows what it is sent. Returns text. */
char *stria_plain(char *text);

/* The same of a text that stays as it is: itself where nothing in it needs it, else a copy, cut to
 * STRIA_PLAIN_SHOWN_BYTES, that lasts until the thread has asked for as many more as STRIA_PLAIN_SHOWN_MAX.
 * Of what is null, an empty text. */
#define STRIA_PLAIN_SHOWN_BYTES 4096u
#define STRIA_PLAIN_SHOWN_MAX   8u
const char *stria_shown(const char *text);

#endif
