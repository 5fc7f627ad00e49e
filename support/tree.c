#define _GNU_SOURCE

#include "support/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool put_path(char out[PATH_MAX], const char *root, const char *format, va_list arguments)
{
    const int prefix = snprintf(out, PATH_MAX, "%s", root);
    if (prefix < 0 || prefix >= PATH_MAX)
        return false;
    const int rest = vsnprintf(out + prefix, PATH_MAX - (size_t)prefix, format, arguments);
    return rest >= 0 && rest < PATH_MAX - prefix;
}

/* How many bytes there were, up to size; −1 if it cannot be read. */
static ssize_t read_some(const char *path, void *out, size_t size)
{
    /* What is no regular file must not make us wait. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    size_t used = 0;
    ssize_t got = 1;
    while (got > 0 && used < size) {
        got = read(fd, (char *)out + used, size - used);
        if (got > 0)
            used += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    close(fd);
    return got < 0 ? -1 : (ssize_t)used;
}

static void trim(char *text)
{
    const size_t blanks = strspn(text, " \t");
    memmove(text, text + blanks, strlen(text + blanks) + 1);
    for (size_t length = strlen(text); length && strchr(" \t\r", text[length - 1]);)
        text[--length] = '\0';
}

static bool read_line(const char *path, char *out, size_t size)
{
    const ssize_t got = read_some(path, out, size - 1);
    out[got > 0 ? got : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    trim(out);
    return out[0] != '\0';
}

bool stria_tree_line(const char *root, char *out, size_t size, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    const bool fits = put_path(path, root, format, arguments);
    va_end(arguments);
    if (fits)
        return read_line(path, out, size);
    out[0] = '\0';
    return false;
}

bool stria_tree_parse(const char *text, int64_t *value)
{
    const char *digits = text + strspn(text, " \t");
    const size_t sign = digits[0] == '-' ? 1 : 0;
    if (!isdigit((unsigned char)digits[sign]))
        return false;
    const bool hexadecimal = digits[sign] == '0' && (digits[sign + 1] | 32) == 'x';
    char *end;
    errno = 0;
    const long long number = strtoll(digits, &end, hexadecimal ? 16 : 10);
    if (errno || end[strspn(end, " \t\r\n")] != '\0')
        return false;
    *value = number;
    return true;
}

bool stria_tree_number(const char *root, int64_t *value, const char *format, ...)
{
    char path[PATH_MAX], text[64];
    va_list arguments;
    va_start(arguments, format);
    const bool fits = put_path(path, root, format, arguments);
    va_end(arguments);
    return fits && read_line(path, text, sizeof(text)) && stria_tree_parse(text, value);
}

bool stria_tree_bytes(const char *root, void *out, size_t bytes, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    const bool fits = put_path(path, root, format, arguments);
    va_end(arguments);
    return fits && read_some(path, out, bytes) == (ssize_t)bytes;
}

bool stria_tree_exists(const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    const bool fits = put_path(path, root, format, arguments);
    va_end(arguments);
    return fits && access(path, F_OK) == 0;
}

bool stria_tree_resolve(const char *root, char out[PATH_MAX], const char *format, ...)
{
    char path[PATH_MAX], whole[PATH_MAX], top[PATH_MAX] = "";
    va_list arguments;
    va_start(arguments, format);
    const bool fits = put_path(path, root, format, arguments);
    va_end(arguments);
    if (!fits || !realpath(path, whole) || (root[0] && !realpath(root, top)))
        return false;
    const size_t prefix = strlen(top);
    if (strncmp(whole, top, prefix) != 0 || whole[prefix] != '/')
        return false;
    memmove(out, whole + prefix, strlen(whole + prefix) + 1);
    return true;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void stria_tree_each(const char *root, const char *folder, bool (*visit)(const char *name, void *user),
                     void *user)
{
    char path[PATH_MAX];
    struct dirent **entries;
    if (snprintf(path, sizeof(path), "%s%s", root, folder) >= (int)sizeof(path))
        return;
    const int count = scandir(path, &entries, is_shown, versionsort);
    bool more = true;
    for (int i = 0; i < count; i++) {
        more = more && visit(entries[i]->d_name, user);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

void stria_tree_lines(const char *root, const char *path, bool (*visit)(char *line, void *user), void *user)
{
    char whole[PATH_MAX];
    if (snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
        return;
    FILE *file = fopen(whole, "re");
    if (!file)
        return;
    char *line = NULL;
    size_t size = 0;
    bool more = true;
    while (more && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        more = visit(line, user);
    }
    free(line);
    fclose(file);
}
