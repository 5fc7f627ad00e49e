/* Small files that the kernel writes for people, in /sys and /proc: of this machine, or of a recorded copy of
 * them below another folder. root is "" for the machine, or that folder; paths begin with a slash and are
 * written as for printf. Missing files, odd contents and paths too long are told as not found. */
#ifndef STRIA_SUPPORT_TREE_H
#define STRIA_SUPPORT_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first line, without surrounding blanks, as much of it as out takes; false if there is none or it is
 * empty. */
bool stria_tree_line(const char *root, char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A first line that is one whole number: decimal, or hexadecimal behind 0x. */
bool stria_tree_number(const char *root, int64_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A text that is one whole number, as above, surrounded by blanks or not. */
bool stria_tree_parse(const char *text, int64_t *value);

/* The first bytes of a file; false if it has fewer. */
bool stria_tree_bytes(const char *root, void *out, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* True if there is something of this name. */
bool stria_tree_exists(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The path without symbolic links, as seen from root; false if it leads nowhere or out of root. */
bool stria_tree_resolve(const char *root, char out[PATH_MAX], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Calls visit for each name in a folder, in the order of their numbers, those that begin with a dot left
 * out, until it returns false. */
void stria_tree_each(const char *root, const char *folder, bool (*visit)(const char *name, void *user),
                     void *user);

/* Calls visit for each line of a file, without its newline, until it returns false. The line is visit's to
 * change. */
void stria_tree_lines(const char *root, const char *path, bool (*visit)(char *line, void *user), void *user);

#endif
