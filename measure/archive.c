#include "measure/archive.h"

#include "support/file.h"
#include "support/json.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA     "stria.bench/1"
#define DRIVES_MAX 512u
#define NAMES_MAX  1000u /* results of one second, test and drive */

int stria_archive_prepare(const char *folder, struct stria_trouble *trouble)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "--archive %s cannot be made: %s", folder,
                                 strerror(errno));
    struct stat status;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "--archive %s is no folder: name one", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "--archive %s cannot be written: %s", folder,
                                 strerror(errno));
    return STRIA_OK;
}

static const char *text_of(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    if (!json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, json_type_string))
        return "";
    return json_object_get_string(value);
}

/* The serial number, or else the last part of the path. */
static const char *name_of_drive(struct json_object *drive)
{
    const char *serial = text_of(drive, "serial"), *path = text_of(drive, "path");
    const char *slash = strrchr(path, '/');
    return serial[0] ? serial : slash && slash[1] ? slash + 1 : path;
}

static struct json_object *drive_at(struct json_object *document, size_t index)
{
    struct json_object *drives = NULL;
    if (!json_object_object_get_ex(document, "drives", &drives) ||
        !json_object_is_type(drives, json_type_array) || index >= json_object_array_length(drives))
        return NULL;
    return json_object_array_get_idx(drives, index);
}

/* "20261130T120000Z-size-S4EWNX0R123456": sorts by time, and is safe as a file name. */
static void make_stem(struct json_object *document, char *out, size_t size)
{
    char raw[STRIA_ARCHIVE_NAME_BYTES - 16];
    struct json_object *drive = drive_at(document, 0);
    size_t used = 0;
    snprintf(raw, sizeof(raw), "%s-%.16s-%.64s", text_of(document, "started"), text_of(document, "test"),
             drive ? name_of_drive(drive) : "");
    for (const char *c = raw; *c && used + 1 < size; c++) {
        const bool of_time = c - raw < 20;
        if (of_time && (*c == ':' || (*c == '-' && c - raw < 10)))
            continue;
        out[used++] = isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '_';
    }
    out[used] = '\0';
}

int stria_archive_add(const char *folder, struct json_object *document, char name[STRIA_ARCHIVE_NAME_BYTES],
                      struct stria_trouble *trouble)
{
    char stem[STRIA_ARCHIVE_NAME_BYTES - 16], path[PATH_MAX];
    make_stem(document, stem, sizeof(stem));
    for (unsigned i = 1; i <= NAMES_MAX; i++) {
        if (i == 1)
            snprintf(name, STRIA_ARCHIVE_NAME_BYTES, "%s.json", stem);
        else
            snprintf(name, STRIA_ARCHIVE_NAME_BYTES, "%s-%u.json", stem, i);
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        /* The name is taken before it is written, so that two benches never share one. */
        const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            break;
        close(fd);
        const int code = stria_json_write(document, path, trouble);
        if (code != STRIA_OK)
            unlink(path);
        return code;
    }
    return stria_trouble_set(trouble, stria_code_of_errno(errno), "cannot add to --archive %s: %s", folder,
                             strerror(errno));
}

static void list_drives(struct json_object *document, char *out, size_t size)
{
    struct json_object *drive;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; (drive = drive_at(document, i)) != NULL && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "", name_of_drive(drive));
}

static void visit_file(const char *folder, const char *name,
                       void (*visit)(const struct stria_archive_entry *entry, void *user), void *user)
{
    char path[PATH_MAX], drives[DRIVES_MAX];
    struct stria_archive_entry entry = {.name = name, .started = "", .test = "", .drives = ""};
    struct json_object *rating = NULL, *partial = NULL;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    struct json_object *document = json_object_from_file(path);
    if (!document || !json_object_is_type(document, json_type_object)) {
        entry.complaint = "not a whole JSON document";
    } else if (strcmp(text_of(document, "schema"), SCHEMA) != 0) {
        entry.complaint = "no result of a bench";
    } else {
        list_drives(document, drives, sizeof(drives));
        entry.drives = drives;
        entry.started = text_of(document, "started");
        entry.test = text_of(document, "test");
        json_object_object_get_ex(document, "partial", &partial);
        entry.partial = json_object_get_boolean(partial);
        json_object_object_get_ex(document, "rating_bytes_per_s", &rating);
        entry.rated = json_object_is_type(rating, json_type_int);
        entry.rating_bytes_per_s = entry.rated ? json_object_get_uint64(rating) : 0;
    }
    visit(&entry, user);
    json_object_put(document);
}

static int is_document(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* Not as alphasort does it, which goes by the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int stria_archive_each(const char *folder, void (*visit)(const struct stria_archive_entry *entry, void *user),
                       void *user, struct stria_trouble *trouble)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_document, by_name);
    if (count < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno), "--archive %s cannot be read: %s",
                                 folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        visit_file(folder, entries[i]->d_name, visit, user);
        free(entries[i]);
    }
    free(entries);
    return STRIA_OK;
}
