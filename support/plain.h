/* Text from elsewhere, made fit to be shown. */
#ifndef STRIA_SUPPORT_PLAIN_H
#define STRIA_SUPPORT_PLAIN_H

/* Puts a question mark in the place of every byte of a control character, ASCII's and those that UTF-8 adds,
 * so that a terminal only shows what it is sent. Returns text. */
char *stria_plain(char *text);

#endif
