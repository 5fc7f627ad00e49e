#include "config/ini.h"

#include "core/code.h"

#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    const char *path;
    const char *next, *end; /* the text not yet read */
    unsigned line;          /* of what was read last, from 1 */
    bool failed, no_memory;
    const struct stria_ini_handler *handler;
    struct stria_problems *problems;
};

static void enter_section(struct lines *lines, char *header)
{
    char *close = strchr(header, ']');
    if (!close) {
        stria_problems_add(lines->problems, "%s:%u: this section has no closing ']'", lines->path,
                           lines->line);
        lines->failed = true;
        return;
    }
    const char *behind = close + 1 + strspn(close + 1, " \t\r\n");
    *close = '\0';
    char *name = header + 1 + strspn(header + 1, " \t");
    while (close > name && (close[-1] == ' ' || close[-1] == '\t'))
        *--close = '\0';
    if (*behind && !strchr(";#", *behind)) {
        stria_problems_add(lines->problems,
                           "%s:%u: there is text behind [%.64s]: put it on a line of its own", lines->path,
                           lines->line, name);
        lines->failed = true;
    }
    lines->handler->section(lines->handler->user, lines->line, name);
}

static char *empty(char *line)
{
    line[0] = '\0';
    return line;
}

/* inih's source of lines. Sections are taken out here: inih calls nobody for one without keys and cuts long
 * names. */
static char *read_line(char *line, int size, void *stream)
{
    struct lines *lines = stream;
    if (lines->next == lines->end)
        return NULL;
    const char *newline = memchr(lines->next, '\n', (size_t)(lines->end - lines->next));
    const size_t length = (size_t)((newline ? newline + 1 : lines->end) - lines->next);
    const char *start = lines->next;
    lines->next += length;
    lines->line++;
    if (length >= (size_t)size) {
        stria_problems_add(lines->problems, "%s:%u: this line is %zu bytes long: at most %d are allowed",
                           lines->path, lines->line, length, size - 1);
        lines->failed = true;
        return empty(line);
    }
    memcpy(line, start, length);
    line[length] = '\0';
    char *first = line + strspn(line, " \t\r");
    if (*first != '[')
        return line;
    enter_section(lines, first);
    return empty(line);
}

/* Ends a value where a comment begins that inih has no sense for: it knows only the semicolon, and that only
 * behind a blank. */
static void cut_comment(char *value)
{
    char *end = value[0] == ';' ? value : NULL;
    for (char *hash = strchr(value, '#'); hash && !end; hash = strchr(hash + 1, '#'))
        if (hash == value || hash[-1] == ' ' || hash[-1] == '\t')
            end = hash;
    if (!end)
        return;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
}

static int take_value(void *user, const char *section, const char *key, const char *value)
{
    (void)section;
    struct lines *lines = user;
    char *cut = value ? strdup(value) : NULL;
    if (value && !cut) {
        lines->no_memory = true;
        return 0;
    }
    if (cut)
        cut_comment(cut);
    lines->handler->value(lines->handler->user, lines->line, key, cut);
    free(cut);
    return 1;
}

int stria_ini_parse(const char *path, const char *text, size_t bytes, const struct stria_ini_handler *handler,
                    struct stria_problems *problems)
{
    const char *zero = memchr(text, '\0', bytes);
    if (zero) {
        stria_problems_add(problems, "%s is not a text file: there is a zero at byte %zu", path,
                           (size_t)(zero - text));
        return STRIA_ERR_INVALID;
    }
    const size_t bom = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct lines lines = {path, text + bom, text + bytes, 0, false, false, handler, problems};
    ini_use_stack = false;
    ini_allow_realloc = false;
    ini_initial_alloc = STRIA_INI_LINE_BYTES;
    ini_max_line = STRIA_INI_LINE_BYTES;
    ini_allow_multiline = false;
    ini_allow_no_value = true;
    if (ini_parse_stream(read_line, &lines, take_value, &lines) == -2 || lines.no_memory) {
        stria_problems_add(problems, "not enough memory to read %s", path);
        return STRIA_ERR_NO_MEMORY;
    }
    return lines.failed ? STRIA_ERR_INVALID : STRIA_OK;
}
