#include "config/array.h"

#include "config/check.h"
#include "config/ini.h"
#include "config/keys.h"
#include "support/nearest.h"
#include "support/trouble.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum place { PLACE_NOWHERE, PLACE_ARRAY, PLACE_DRIVE, PLACE_IGNORED };

struct reader {
    const char *path;
    unsigned line;        /* of what was read last, from 1 */
    enum place place;     /* the section that line is in */
    unsigned drives_seen; /* also those beyond the limit */
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

static void take_section(void *user, unsigned line, const char *name)
{
    struct reader *reader = user;
    reader->line = line;
    if (strcmp(name, "array") == 0)
        enter_array(reader);
    else if (strcmp(name, "drive") == 0 || strcmp(name, "drive.") == 0)
        enter_drive(reader, "");
    else if (strncmp(name, "drive.", 6) == 0)
        enter_drive(reader, name + 6);
    else
        refuse_section(reader, name);
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

static void store_value(struct reader *reader, enum stria_key_section section, const char *name,
                        const char *value)
{
    const struct stria_key *key = stria_key_find(section, name);
    if (!key) {
        refuse_key(reader, section, name);
        return;
    }
    const unsigned drive = section == STRIA_KEY_DRIVE ? reader->config->drive_count - 1 : 0;
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
}

static void take_value(void *user, unsigned line, const char *name, const char *value)
{
    struct reader *reader = user;
    reader->line = line;
    if (reader->place == PLACE_IGNORED)
        return;
    if (!value)
        SAY(reader, "'%.64s' has no '=': write a key, '=' and a value", name);
    else if (reader->place == PLACE_NOWHERE)
        SAY(reader, "'%.64s' stands before any section: put it under [array] or [drive.NAME]", name);
    else
        store_value(reader, reader->place == PLACE_DRIVE ? STRIA_KEY_DRIVE : STRIA_KEY_ARRAY, name, value);
}

static bool is_blank(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): so many bytes were read */
        if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
            return false;
    return true;
}

static int parse_text(struct reader *reader, const char *text, size_t bytes)
{
    const struct stria_ini_handler handler = {.section = take_section, .value = take_value, .user = reader};
    int code = stria_ini_parse(reader->path, text, bytes, &handler, reader->problems);
    if (reader->drives_seen > STRIA_DRIVES_MAX)
        stria_problems_add(reader->problems, "%s has %u drives: an array has at most %u", reader->path,
                           reader->drives_seen, STRIA_DRIVES_MAX);
    return code;
}

static size_t count_problems(const struct stria_problems *problems)
{
    return problems->count + problems->more;
}

static bool says(const struct stria_config_lines *lines, const char *array_key)
{
    return lines->of_array[stria_key_find(STRIA_KEY_ARRAY, array_key) - stria_keys] > 0;
}

int stria_array_config_parse(const char *path, const char *text, size_t bytes,
                             struct stria_array_config *config, struct stria_problems *problems)
{
    if (is_blank(text, bytes)) {
        stria_problems_add(problems, "%s is empty: it needs a [drive.NAME] section for each drive", path);
        return STRIA_ERR_INVALID;
    }
    struct stria_config_lines *lines = calloc(1, sizeof(*lines));
    if (!lines) {
        stria_problems_add(problems, "not enough memory to read %s", path);
        return STRIA_ERR_NO_MEMORY;
    }
    const size_t problems_before = count_problems(problems);
    struct reader reader = {.path = path, .config = config, .lines = lines, .problems = problems};
    memset(config, 0, sizeof(*config));
    snprintf(config->file, sizeof(config->file), "%s", path);
    apply_initial(STRIA_KEY_ARRAY, config);
    int code = parse_text(&reader, text, bytes);
    config->name_initial = !says(lines, "name");
    config->chunk_initial = !says(lines, "chunk");
    /* What is no text has been told already; there is nothing to check. */
    if (code != STRIA_ERR_NO_MEMORY && !memchr(text, '\0', bytes)) {
        stria_config_check(config, lines, problems);
        code = count_problems(problems) > problems_before ? STRIA_ERR_INVALID : STRIA_OK;
    }
    free(lines);
    return code;
}

static int cannot_read(const char *path, int error, struct stria_problems *problems)
{
    if (error == ENOENT)
        stria_problems_add(problems, "there is no %s: name the array's INI file", path);
    else if (error == ESPIPE)
        stria_problems_add(problems, "%s is no file: name the array's INI file", path);
    else if (error == EISDIR)
        stria_problems_add(problems, "%s is a folder: name the array's INI file in it", path);
    else
        stria_problems_add(problems, "cannot read %s: %s", path, stria_errno_text(error));
    return error == ESPIPE ? STRIA_ERR_INVALID : stria_code_of_errno(error);
}

/* Fills text with at most size bytes; how many, or negative errno. */
static ssize_t read_up_to(const char *path, char *text, size_t size)
{
    struct stat status;
    /* Opening a FIFO would wait for its other end. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) &&
        !S_ISCHR(status.st_mode))
        return -ESPIPE;
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
        code = stria_array_config_parse(path, text, (size_t)bytes, config, problems);
    }
    free(text);
    return code;
}
