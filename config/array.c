#include "config/array.h"

#include "config/check.h"
#include "config/keys.h"
#include "support/nearest.h"
#include "support/trouble.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for a key, a path of full length and a comment. */
#define LINE_BYTES_MAX 8192

enum place { PLACE_NOWHERE, PLACE_ARRAY, PLACE_DRIVE, PLACE_IGNORED };

struct reader {
    const char *path;
    const char *next, *end; /* the text not yet read */
    unsigned line;          /* of what was read last, from 1 */
    enum place place;       /* the section that line is in */
    unsigned drives_seen;   /* also those beyond the limit */
    struct stria_array_config *config;
    struct stria_config_lines *lines;
    struct stria_problems *problems;
};

#define SAY(reader, format, ...)                                                                             \
    stria_problems_add((reader)->problems, "%s:%u: " format, (reader)->path, (reader)->line, ##__VA_ARGS__)

static void apply_initial(enum stria_key_section section, void *into)
{
    for (const struct stria_key *key = stria_keys; key->name; key++)
        if (key->section == section && key->initial)
            key->parse(key->initial, (char *)into + key->field);
}

static void enter_drive(struct reader *reader, const char *name)
{
    struct stria_array_config *config = reader->config;
    reader->place = PLACE_IGNORED;
    if (!stria_name_allowed(name)) {
        SAY(reader, "a drive cannot be called '%.64s': a drive's name is %s", name, stria_name_allowed_text);
        return;
    }
    for (unsigned i = 0; i < config->drive_count; i++) {
        if (strcmp(config->drives[i].name, name) == 0) {
            SAY(reader, "[drive.%s] stands here again, first in line %u: give each drive a name of its own",
                name, config->drives[i].line);
            return;
        }
    }
    if (++reader->drives_seen > STRIA_DRIVES_MAX)
        return;
    struct stria_drive_config *drive = &config->drives[config->drive_count++];
    *drive = (struct stria_drive_config){.line = reader->line};
    memcpy(drive->name, name, strlen(name) + 1);
    apply_initial(STRIA_KEY_DRIVE, drive);
    reader->place = PLACE_DRIVE;
}

static void enter_array(struct reader *reader)
{
    reader->place = reader->lines->array ? PLACE_IGNORED : PLACE_ARRAY;
    if (reader->lines->array)
        SAY(reader, "[array] stands here again, first in line %u: keep one", reader->lines->array);
    else
        reader->lines->array = reader->line;
}

static void refuse_section(struct reader *reader, const char *name)
{
    reader->place = PLACE_IGNORED;
    const char *dot = strchr(name, '.');
    char word[64];
    snprintf(word, sizeof(word), "%.*s", dot ? (int)(dot - name) : 63, name);
    struct stria_nearest nearest = stria_nearest_to(word);
    stria_nearest_offer(&nearest, "array");
    stria_nearest_offer(&nearest, "drive");
    if (nearest.best && strcmp(nearest.best, "drive") == 0)
        SAY(reader, "unknown section [%.64s]: did you mean [drive.NAME]?", name);
    else if (nearest.best)
        SAY(reader, "unknown section [%.64s]: did you mean [array]?", name);
    else
        SAY(reader, "unknown section [%.64s]: the sections are [array] and [drive.NAME]", name);
}

/* inih calls nobody for a section without keys and cuts long names, so sections are taken from the line. */
static void enter_section(struct reader *reader, char *header)
{
    char *close = strchr(header, ']');
    if (!close) {
        reader->place = PLACE_IGNORED;
        SAY(reader, "this section has no closing ']'");
        return;
    }
    const char *behind = close + 1 + strspn(close + 1, " \t\r\n");
    *close = '\0';
    char *name = header + 1 + strspn(header + 1, " \t");
    while (close > name && (close[-1] == ' ' || close[-1] == '\t'))
        *--close = '\0';
    if (*behind && !strchr(";#", *behind))
        SAY(reader, "there is text behind [%.64s]: put it on a line of its own", name);
    if (strcmp(name, "array") == 0)
        enter_array(reader);
    else if (strcmp(name, "drive") == 0 || strcmp(name, "drive.") == 0)
        enter_drive(reader, "");
    else if (strncmp(name, "drive.", 6) == 0)
        enter_drive(reader, name + 6);
    else
        refuse_section(reader, name);
}

/* inih's source of lines: it never sees a line that it would cut, nor a section. */
static char *read_line(char *line, int size, void *stream)
{
    struct reader *reader = stream;
    if (reader->next == reader->end)
        return NULL;
    const char *newline = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
    const size_t length = (size_t)((newline ? newline + 1 : reader->end) - reader->next);
    const char *start = reader->next;
    reader->next += length;
    reader->line++;
    if (length >= (size_t)size) {
        SAY(reader, "this line is %zu bytes long: at most %d are allowed", length, size - 1);
        return strcpy(line, "\n");
    }
    memcpy(line, start, length);
    line[length] = '\0';
    char *first = line + strspn(line, " \t\r");
    if (*first == '[') {
        enter_section(reader, first);
        return strcpy(line, "\n");
    }
    return line;
}

static void refuse_key(struct reader *reader, enum stria_key_section section, const char *name)
{
    static const char *const sections[] = {[STRIA_KEY_ARRAY] = "[array]", [STRIA_KEY_DRIVE] = "[drive.NAME]"};
    const enum stria_key_section other = section == STRIA_KEY_ARRAY ? STRIA_KEY_DRIVE : STRIA_KEY_ARRAY;
    if (stria_key_find(other, name)) {
        SAY(reader, "%s does not belong in %s: move it to %s", name, sections[section], sections[other]);
        return;
    }
    struct stria_nearest nearest = stria_nearest_to(name);
    for (const struct stria_key *key = stria_keys; key->name; key++)
        if (key->section == section)
            stria_nearest_offer(&nearest, key->name);
    if (nearest.best) {
        SAY(reader, "unknown key '%.64s' in %s: did you mean %s?", name, sections[section], nearest.best);
        return;
    }
    char known[256] = "";
    for (const struct stria_key *key = stria_keys; key->name; key++)
        if (key->section == section)
            snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", known[0] ? ", " : "",
                     key->name);
    SAY(reader, "unknown key '%.64s' in %s: the keys are %s", name, sections[section], known);
}

static bool has_control_character(const char *value)
{
    for (; *value; value++)
        if (((unsigned char)*value < 0x20 && *value != '\t') || *value == 0x7f)
            return true;
    return false;
}

static int take_value(void *user, const char *ignored, const char *name, const char *value)
{
    struct reader *reader = user;
    (void)ignored;
    if (reader->place == PLACE_IGNORED)
        return 1;
    if (!value) {
        SAY(reader, "'%.64s' has no '=': write a key, '=' and a value", name);
        return 1;
    }
    if (reader->place == PLACE_NOWHERE) {
        SAY(reader, "'%.64s' stands before any section: put it under [array] or [drive.NAME]", name);
        return 1;
    }
    const unsigned drive = reader->place == PLACE_DRIVE ? reader->config->drive_count - 1 : 0;
    const enum stria_key_section section = reader->place == PLACE_DRIVE ? STRIA_KEY_DRIVE : STRIA_KEY_ARRAY;
    const struct stria_key *key = stria_key_find(section, name);
    if (!key) {
        refuse_key(reader, section, name);
        return 1;
    }
    unsigned *line = section == STRIA_KEY_DRIVE ? &reader->lines->of_drive[drive][key - stria_keys]
                                                : &reader->lines->of_array[key - stria_keys];
    void *into = section == STRIA_KEY_DRIVE ? (void *)&reader->config->drives[drive] : (void *)reader->config;
    if (*line)
        SAY(reader, "%s is given twice, first in line %u: keep one", name, *line);
    else if (has_control_character(value))
        SAY(reader, "%s has a control character in its value: it takes %s", name, key->allowed);
    else if (!key->parse(value, (char *)into + key->field))
        SAY(reader, "%s cannot be '%.100s': it takes %s", name, value, key->allowed);
    *line = *line ? *line : reader->line;
    return 1;
}

/* What is no text at all gets one sentence instead of one for every line. */
static bool is_text(const char *path, const char *text, size_t bytes, struct stria_problems *problems)
{
    if (strspn(text, " \t\r\n") == bytes) {
        stria_problems_add(problems, "%s is empty: it needs a [drive.NAME] section for each drive", path);
        return false;
    }
    const char *zero = memchr(text, '\0', bytes);
    if (zero) {
        stria_problems_add(
            problems, "%s is not a text file (there is a zero at byte %zu): write array.ini as plain UTF-8",
            path, (size_t)(zero - text));
        return false;
    }
    return true;
}

static void set_inih_up(void)
{
    ini_use_stack = false;
    ini_allow_realloc = false;
    ini_initial_alloc = LINE_BYTES_MAX;
    ini_max_line = LINE_BYTES_MAX;
    ini_allow_multiline = false;
    ini_allow_no_value = true;
}

static int parse_text(struct reader *reader)
{
    set_inih_up();
    int parsed = ini_parse_stream(read_line, reader, take_value, reader);
    if (parsed == -2) {
        stria_problems_add(reader->problems, "not enough memory to read %s", reader->path);
        return STRIA_ERR_NO_MEMORY;
    }
    if (reader->drives_seen > STRIA_DRIVES_MAX)
        stria_problems_add(reader->problems, "%s has %u drives: an array has at most %u", reader->path,
                           reader->drives_seen, STRIA_DRIVES_MAX);
    return STRIA_OK;
}

/* text[bytes] is readable and zero. */
static int parse_terminated(const char *path, const char *text, size_t bytes,
                            struct stria_array_config *config, struct stria_problems *problems)
{
    if (!is_text(path, text, bytes, problems))
        return STRIA_ERR_INVALID;
    struct stria_config_lines *lines = calloc(1, sizeof(*lines));
    if (!lines)
        return STRIA_ERR_NO_MEMORY;
    const size_t bom = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const size_t problems_before = problems->count + problems->more;
    struct reader reader = {.path = path,
                            .next = text + bom,
                            .end = text + bytes,
                            .config = config,
                            .lines = lines,
                            .problems = problems};
    memset(config, 0, sizeof(*config));
    snprintf(config->file, sizeof(config->file), "%s", path);
    apply_initial(STRIA_KEY_ARRAY, config);
    int code = parse_text(&reader);
    if (code == STRIA_OK) {
        stria_config_check(config, lines, problems);
        code = problems->count + problems->more > problems_before ? STRIA_ERR_INVALID : STRIA_OK;
    }
    free(lines);
    return code;
}

int stria_array_config_parse(const char *path, const char *text, size_t bytes,
                             struct stria_array_config *config, struct stria_problems *problems)
{
    char *copy = malloc(bytes + 1);
    if (!copy) {
        stria_problems_add(problems, "not enough memory to read %s", path);
        return STRIA_ERR_NO_MEMORY;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    int code = parse_terminated(path, copy, bytes, config, problems);
    free(copy);
    return code;
}

static int cannot_read(const char *path, int error, struct stria_problems *problems)
{
    if (error == ENOENT)
        stria_problems_add(problems, "there is no %s: name the array's INI file", path);
    else if (error == EISDIR)
        stria_problems_add(problems, "%s is a folder: name the array's INI file in it", path);
    else
        stria_problems_add(problems, "cannot read %s: %s", path, strerror(error));
    return error == EISDIR ? STRIA_ERR_INVALID : stria_code_of_errno(error);
}

/* Fills text with at most size bytes; how many, or negative errno. */
static ssize_t read_up_to(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t bytes = 0;
    ssize_t got = 1;
    while (bytes < size && got != 0) {
        got = read(fd, text + bytes, size - bytes);
        if (got < 0 && errno != EINTR)
            break;
        bytes += got > 0 ? (size_t)got : 0;
    }
    const int error = errno;
    close(fd);
    return got < 0 ? -error : (ssize_t)bytes;
}

int stria_array_config_read(const char *path, struct stria_array_config *config,
                            struct stria_problems *problems)
{
    char *text = malloc(STRIA_CONFIG_FILE_BYTES_MAX + 1);
    if (!text)
        return cannot_read(path, ENOMEM, problems);
    int code;
    ssize_t bytes = read_up_to(path, text, STRIA_CONFIG_FILE_BYTES_MAX + 1);
    if (bytes < 0) {
        code = cannot_read(path, (int)-bytes, problems);
    } else if (bytes > (ssize_t)STRIA_CONFIG_FILE_BYTES_MAX) {
        stria_problems_add(problems, "%s is larger than 1 MiB: it is not an array's INI file", path);
        code = STRIA_ERR_INVALID;
    } else {
        text[bytes] = '\0';
        code = parse_terminated(path, text, (size_t)bytes, config, problems);
    }
    free(text);
    return code;
}
