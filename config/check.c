#include "config/check.h"

#include "config/keys.h"
#include "config/profile.h"
#include "support/fabrics_url.h"
#include "support/units.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static unsigned line_of_key(const unsigned lines[STRIA_KEYS_MAX], enum stria_key_section section,
                            const char *name)
{
    return lines[stria_key_find(section, name) - stria_keys];
}

static void check_required(const struct stria_array_config *config, unsigned drive,
                           const struct stria_config_lines *lines, struct stria_problems *problems)
{
    for (const struct stria_key *key = stria_keys; key->name; key++)
        if (key->section == STRIA_KEY_DRIVE && key->required && !lines->of_drive[drive][key - stria_keys])
            stria_problems_add(problems, "%s:%u: [drive.%s] has no %s: give it %s", config->file,
                               config->drives[drive].line, config->drives[drive].name, key->name,
                               key->allowed);
}

static void check_buffer(const struct stria_array_config *config, const struct stria_config_lines *lines,
                         struct stria_problems *problems)
{
    const uint64_t least = (uint64_t)STRIA_SLOTS_MIN * config->chunk_bytes;
    const uint64_t most = (uint64_t)STRIA_SLOTS_MAX * config->chunk_bytes;
    if (config->buffer_bytes >= least && config->buffer_bytes <= most)
        return;
    unsigned line = line_of_key(lines->of_array, STRIA_KEY_ARRAY, "buffer");
    if (!line)
        line = line_of_key(lines->of_array, STRIA_KEY_ARRAY, "chunk");
    char buffer[STRIA_UNITS_TEXT_BYTES], chunk[STRIA_UNITS_TEXT_BYTES], limit[STRIA_UNITS_TEXT_BYTES];
    const bool small = config->buffer_bytes < least;
    stria_problems_add(problems, "%s:%u: buffer is %s, %s than %u chunks of %s: make it at %s %s",
                       config->file, line, stria_size_print(buffer, sizeof(buffer), config->buffer_bytes),
                       small ? "less" : "more", small ? STRIA_SLOTS_MIN : STRIA_SLOTS_MAX,
                       stria_size_print(chunk, sizeof(chunk), config->chunk_bytes), small ? "least" : "most",
                       stria_size_print(limit, sizeof(limit), small ? least : most));
}

static void check_needs_profile(const struct stria_array_config *config, unsigned drive,
                                const struct stria_config_lines *lines, struct stria_problems *problems)
{
    static const char *const fake_only[] = {"capacity_scale", "rate_scale"};
    if (line_of_key(lines->of_drive[drive], STRIA_KEY_DRIVE, "profile"))
        return;
    for (unsigned i = 0; i < sizeof(fake_only) / sizeof(fake_only[0]); i++) {
        const unsigned line = line_of_key(lines->of_drive[drive], STRIA_KEY_DRIVE, fake_only[i]);
        if (line)
            stria_problems_add(problems,
                               "%s:%u: %s is for fake drives: add a profile to [drive.%s] or leave it out",
                               config->file, line, fake_only[i], config->drives[drive].name);
    }
}

static void check_size_is_for_file(const struct stria_array_config *config, unsigned drive,
                                   const struct stria_config_lines *lines, struct stria_problems *problems)
{
    const struct stria_drive_config *it = &config->drives[drive];
    const unsigned line = line_of_key(lines->of_drive[drive], STRIA_KEY_DRIVE, "size");
    struct stat status;
    const bool device = stat(it->path, &status) == 0 && S_ISBLK(status.st_mode);
    if (line && (device || stria_path_is_prefixed(it->path)))
        stria_problems_add(problems, "%s:%u: size is for files, and %s is %s: leave it out", config->file,
                           line, it->path, device ? "a device" : "not a file");
}

/* A relative path starts where array.ini is, wherever the command was called. */
static void make_path_whole(const struct stria_array_config *config, const char *key, unsigned line,
                            char path[STRIA_CONFIG_PATH_BYTES], struct stria_problems *problems)
{
    const char *slash = strrchr(config->file, '/');
    if (!path[0] || path[0] == '/' || stria_path_is_prefixed(path) || !slash)
        return;
    const size_t folder = (size_t)(slash + 1 - config->file), length = strlen(path);
    if (folder + length >= STRIA_CONFIG_PATH_BYTES) {
        stria_problems_add(problems,
                           "%s:%u: %s is longer than %u bytes with the folder of this file before it",
                           config->file, line, key, STRIA_CONFIG_PATH_BYTES - 1);
        return;
    }
    memmove(path + folder, path, length + 1);
    memcpy(path, config->file, folder);
}

/* Finds the profile and scales it, as whoever opens the drive will, and hands its problems on. */
static void check_profile(struct stria_array_config *config, unsigned drive,
                          const struct stria_config_lines *lines, struct stria_problems *problems)
{
    struct stria_drive_config *it = &config->drives[drive];
    const unsigned line = line_of_key(lines->of_drive[drive], STRIA_KEY_DRIVE, "profile");
    if (!it->profile[0])
        return;
    if (strchr(it->profile, '/') ||
        (strlen(it->profile) > 4 && strcmp(it->profile + strlen(it->profile) - 4, ".ini") == 0))
        make_path_whole(config, "profile", line, it->profile, problems);
    struct stria_problems found = {0};
    struct stria_profile profile;
    struct stria_trouble trouble;
    if (stria_profile_find(it->profile, &profile, &found) == STRIA_OK &&
        stria_profile_scale(&profile, it->capacity_scale, it->rate_scale, &trouble) != STRIA_OK)
        stria_problems_add(&found, "%s", trouble.sentence);
    for (size_t i = 0; i < found.count; i++)
        stria_problems_add(problems, "%s:%u: %s", config->file, line, found.sentences[i]);
    stria_problems_clear(&found);
}

/* What a path leads to, by whatever name. A file that is not there yet is known by its folder and its name.
 */
struct identity {
    enum { IDENTITY_NONE, IDENTITY_FILE, IDENTITY_DEVICE, IDENTITY_FUTURE } kind;
    uint64_t numbers[2];
    char name[NAME_MAX + 1];
};

static struct identity identify(const char *path)
{
    struct identity identity = {.kind = IDENTITY_NONE};
    struct stat status;
    if (stria_path_is_prefixed(path) || !path[0])
        return identity;
    if (stat(path, &status) == 0) {
        const bool device = S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode);
        identity.kind = device ? IDENTITY_DEVICE : IDENTITY_FILE;
        identity.numbers[0] = device ? status.st_rdev : status.st_dev;
        identity.numbers[1] = device ? 0 : status.st_ino;
        return identity;
    }
    const char *slash = strrchr(path, '/');
    char folder[STRIA_CONFIG_PATH_BYTES];
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
    if (stat(folder, &status) != 0)
        return identity;
    identity.kind = IDENTITY_FUTURE;
    identity.numbers[0] = status.st_dev;
    identity.numbers[1] = status.st_ino;
    snprintf(identity.name, sizeof(identity.name), "%s", slash ? slash + 1 : path);
    return identity;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
    return a->kind != IDENTITY_NONE && a->kind == b->kind && a->numbers[0] == b->numbers[0] &&
           a->numbers[1] == b->numbers[1] && strcmp(a->name, b->name) == 0;
}

/* "memory:1GiB" and "null:1GiB" are another drive each time they are named. */
static bool is_made_anew(const char *path)
{
    return strncmp(path, "memory:", 7) == 0 || strncmp(path, "null:", 5) == 0;
}

static void check_distinct(const struct stria_array_config *config, const struct stria_config_lines *lines,
                           struct stria_problems *problems)
{
    struct identity identities[STRIA_DRIVES_MAX];
    for (unsigned i = 0; i < config->drive_count; i++) {
        const struct stria_drive_config *it = &config->drives[i];
        identities[i] = identify(it->path);
        for (unsigned j = 0; j < i; j++) {
            const struct stria_drive_config *other = &config->drives[j];
            const bool same_text =
                it->path[0] && strcmp(it->path, other->path) == 0 && !is_made_anew(it->path);
            if (!same_text && !is_same(&identities[i], &identities[j]))
                continue;
            stria_problems_add(
                problems, "%s:%u: [drive.%s] and [drive.%s] are the same drive (%s%s%s): name each once",
                config->file, line_of_key(lines->of_drive[i], STRIA_KEY_DRIVE, "path"), other->name, it->name,
                other->path, same_text ? "" : " = ", same_text ? "" : it->path);
            break;
        }
    }
}

void stria_drive_config_plain(struct stria_drive_config *drive)
{
    unsigned controller, space;
    int end = 0;
    const char *plain = stria_path_plain(drive->path);
    if (plain != drive->path) {
        memmove(drive->path, plain, strlen(plain) + 1);
        drive->passthrough = true;
    }
    if (sscanf(drive->path, "/dev/ng%un%u%n", &controller, &space, &end) != 2 || drive->path[end])
        return;
    snprintf(drive->path, sizeof(drive->path), "/dev/nvme%un%u", controller, space);
    drive->passthrough = true;
}

static void check_url(const struct stria_array_config *config, unsigned drive,
                      const struct stria_config_lines *lines, struct stria_problems *problems)
{
    const char *path = config->drives[drive].path;
    struct stria_fabrics_url url;
    struct stria_trouble trouble;
    if (stria_fabrics_url_is(path) && stria_fabrics_url_parse(path, &url, &trouble) != STRIA_OK)
        stria_problems_add(problems, "%s:%u: %s", config->file,
                           line_of_key(lines->of_drive[drive], STRIA_KEY_DRIVE, "path"), trouble.sentence);
}

void stria_config_check(struct stria_array_config *config, const struct stria_config_lines *lines,
                        struct stria_problems *problems)
{
    if (config->drive_count == 0)
        stria_problems_add(problems, "%s names no drive: add a [drive.NAME] section with a path for each",
                           config->file);
    check_buffer(config, lines, problems);
    for (unsigned i = 0; i < config->drive_count; i++) {
        check_required(config, i, lines, problems);
        stria_drive_config_plain(&config->drives[i]);
        make_path_whole(config, "path", line_of_key(lines->of_drive[i], STRIA_KEY_DRIVE, "path"),
                        config->drives[i].path, problems);
        check_url(config, i, lines, problems);
        check_size_is_for_file(config, i, lines, problems);
        check_needs_profile(config, i, lines, problems);
        check_profile(config, i, lines, problems);
    }
    check_distinct(config, lines, problems);
}
