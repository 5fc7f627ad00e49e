#define _GNU_SOURCE

#include "tests/survey/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES     2048u
#define EACH_LINES_MAX 200u
#define EACH_WORDS_MAX 64u

struct manifest {
    const char *trees, *folder;
    char name[PATH_MAX];
    unsigned line;
    char under[PATH_MAX];
};

static int complain(const struct manifest *manifest, const char *what)
{
    fprintf(stderr, "%s:%u: %s: %s\n", manifest->name, manifest->line, what, strerror(errno));
    return 1;
}

/* The path below the folder, its parents made. */
static bool place(const struct manifest *manifest, const char *path, char out[PATH_MAX])
{
    const bool rooted = path[0] == '/';
    if (snprintf(out, PATH_MAX, "%s%s%s%s", manifest->folder, rooted ? "" : manifest->under,
                 rooted ? "" : "/", path) >= PATH_MAX)
        return false;
    for (char *slash = strchr(out + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(out, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static int put_line(const char *path, const char *text, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file)
        return -1;
    const bool written = fprintf(file, "%s\n", text) > 0;
    return fclose(file) == 0 && written ? 0 : -1;
}

/* A file of this size: zeros, or what was there. */
static int put_bytes(const char *path, const char *rest)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    const int code = fd < 0 ? -1 : ftruncate(fd, strtol(rest, NULL, 0));
    return fd >= 0 && close(fd) == 0 ? code : -1;
}

static int put_at(const char *path, const void *data, size_t bytes, unsigned offset)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && pwrite(fd, data, bytes, offset) == (ssize_t)bytes;
    return fd >= 0 && close(fd) == 0 && written ? 0 : -1;
}

static int put_text(const char *path, const char *rest)
{
    unsigned offset, length;
    char text[256], padded[256];
    if (sscanf(rest, "%u %u %255[^\n]", &offset, &length, text) != 3 || length >= sizeof(padded))
        return -1;
    snprintf(padded, sizeof(padded), "%-*s", (int)length, text);
    return put_at(path, padded, length, offset);
}

static int put_number(const char *path, const char *rest)
{
    unsigned offset, length;
    long long value;
    unsigned char bytes[8];
    if (sscanf(rest, "%u %u %lli", &offset, &length, &value) != 3 || length > sizeof(bytes))
        return -1;
    for (unsigned i = 0; i < length; i++)
        bytes[i] = (unsigned char)((unsigned long long)value >> (8 * i));
    return put_at(path, bytes, length, offset);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static int put_link(const char *path, const char *target)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return symlink(target, path);
}

static int apply(struct manifest *manifest, char *line)
{
    char path[PATH_MAX];
    char *command = strsep(&line, " ");
    char *name = line ? strsep(&line, " ") : NULL;
    char *rest = line ? line : command + strlen(command);
    if (!name)
        return complain(manifest, "what is this about?");
    if (strcmp(command, "base") == 0)
        return tree_make(manifest->trees, name, manifest->folder);
    if (strcmp(command, "under") == 0)
        return snprintf(manifest->under, sizeof(manifest->under), "%s", name) < 0;
    if (!place(manifest, name, path))
        return complain(manifest, name);
    int code = -1;
    errno = EINVAL;
    if (strcmp(command, "file") == 0)
        code = put_line(path, rest, "w");
    else if (strcmp(command, "more") == 0)
        code = put_line(path, rest, "a");
    else if (strcmp(command, "link") == 0)
        code = put_link(path, rest);
    else if (strcmp(command, "bytes") == 0)
        code = put_bytes(path, rest);
    else if (strcmp(command, "text") == 0)
        code = put_text(path, rest);
    else if (strcmp(command, "number") == 0)
        code = put_number(path, rest);
    else if (strcmp(command, "drop") == 0)
        code = nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return code == 0 ? 0 : complain(manifest, name);
}

static bool replace(const char *line, const char *mark, const char *word, char out[LINE_BYTES])
{
    size_t used = 0;
    while (*line) {
        const bool marked = strncmp(line, mark, strlen(mark)) == 0;
        const int got = marked ? snprintf(out + used, LINE_BYTES - used, "%s", word)
                               : snprintf(out + used, LINE_BYTES - used, "%c", *line);
        if (got < 0 || used + (size_t)got >= LINE_BYTES)
            return false;
        used += (size_t)got;
        line += marked ? strlen(mark) : 1;
    }
    out[used] = '\0';
    return true;
}

static bool next_line(struct manifest *manifest, FILE *file, char line[LINE_BYTES])
{
    while (fgets(line, LINE_BYTES, file)) {
        manifest->line++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] && line[0] != '#')
            return true;
    }
    return false;
}

static int apply_each(struct manifest *manifest, FILE *file, char *words)
{
    char *lines[EACH_LINES_MAX], line[LINE_BYTES], *rest = NULL;
    unsigned count = 0;
    int code = 0;
    while (next_line(manifest, file, line) && strcmp(line, "end") != 0 && count < EACH_LINES_MAX)
        lines[count++] = strdup(line);
    char *mark = strtok_r(words, " ", &rest);
    for (const char *word; code == 0 && (word = strtok_r(NULL, " ", &rest));)
        for (unsigned i = 0; i < count && code == 0; i++)
            code = replace(lines[i], mark, word, line) ? apply(manifest, line)
                                                       : complain(manifest, "too long a line");
    while (count)
        free(lines[--count]);
    return code;
}

int tree_make(const char *trees_folder, const char *name, const char *folder)
{
    struct manifest manifest = {.trees = trees_folder, .folder = folder};
    char line[LINE_BYTES], words[LINE_BYTES];
    snprintf(manifest.name, sizeof(manifest.name), "%s/%s.tree", trees_folder, name);
    FILE *file = fopen(manifest.name, "re");
    if (!file)
        return complain(&manifest, "cannot be opened");
    int code = 0;
    while (code == 0 && next_line(&manifest, file, line)) {
        if (strncmp(line, "each ", 5) == 0) {
            snprintf(words, sizeof(words), "%s", line + 5);
            code = apply_each(&manifest, file, words);
        } else {
            code = apply(&manifest, line);
        }
    }
    fclose(file);
    return code;
}

int tree_change(const char *folder, char *line)
{
    struct manifest manifest = {.trees = ".", .folder = folder, .name = "change"};
    return apply(&manifest, line);
}
