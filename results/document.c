#include "results/document.h"

#include "results/measurement.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What json-c accepts of arrays in arrays; our documents have six. */
#define DEPTH_MAX 32

static int read_failed(const char *path, int error, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot read %s: %s", path,
                             strerror(error));
}

/* A pipe has no size to ask for. */
static int read_stream(FILE *file, const char *path, char **text, size_t *length,
                       struct stria_trouble *trouble)
{
    size_t room = 1u << 16;
    *text = malloc(room);
    *length = 0;
    while (*text) {
        *length += fread(*text + *length, 1, room - *length, file);
        if (*length < room)
            break;
        if (room >= STRIA_MEASUREMENT_BYTES_MAX)
            return stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                                     "%s is larger than the %u MiB that a result can have", path,
                                     STRIA_MEASUREMENT_BYTES_MAX >> 20);
        char *more = realloc(*text, room *= 2);
        if (!more)
            free(*text);
        *text = more;
    }
    if (!*text)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to read %s", path);
    return ferror(file) ? read_failed(path, errno, trouble) : STRIA_OK;
}

static int read_text(const char *path, char **text, size_t *length, struct stria_trouble *trouble)
{
    const bool standard_input = strcmp(path, "-") == 0;
    struct stat status;
    *text = NULL;
    FILE *file = standard_input ? stdin : fopen(path, "re");
    if (!file)
        return read_failed(path, errno, trouble);
    /* A device never ends, and a folder reads as an error that says nothing of folders. */
    int code = STRIA_OK;
    if (fstat(fileno(file), &status) != 0)
        code = read_failed(path, errno, trouble);
    else if (S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode))
        code = stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s is a %s: name a result document", path,
                                 S_ISDIR(status.st_mode) ? "folder" : "device");
    else
        code = read_stream(file, path, text, length, trouble);
    if (!standard_input)
        fclose(file);
    return code;
}

static size_t warnings_of_fio(const char *text, size_t length)
{
    size_t at = 0;
    while (length - at > 4 && memcmp(text + at, "fio:", 4) == 0) {
        const char *end = memchr(text + at, '\n', length - at);
        at = end ? (size_t)(end - text) + 1 : length;
    }
    return at;
}

static uint32_t line_of(const char *text, size_t offset)
{
    uint32_t line = 1;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

static int parse(const char *path, const char *text, size_t length, struct json_object **root,
                 struct stria_trouble *trouble)
{
    const size_t start = warnings_of_fio(text, length);
    const char *blank = " \t\r\n";
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
    if (!tokener)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to read %s", path);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS |
                                        JSON_TOKENER_VALIDATE_UTF8);
    *root = json_tokener_parse_ex(tokener, text + start, (int)(length - start));
    const enum json_tokener_error error = json_tokener_get_error(tokener);
    size_t end = start + json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    int code = STRIA_OK;
    if (start == length || error == json_tokener_continue)
        code = stria_trouble_set(
            trouble, STRIA_ERR_FORMAT,
            "%s ends in the middle of its JSON, after %zu bytes: it was not written whole", path, length);
    else if (error != json_tokener_success)
        code = stria_trouble_set(trouble, STRIA_ERR_FORMAT, "%s is not JSON: line %" PRIu32 ", %s", path,
                                 line_of(text, end), json_tokener_error_desc(error));
    while (code == STRIA_OK && end < length && strchr(blank, text[end]))
        end++;
    if (code == STRIA_OK && end < length)
        code = stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                                 "%s goes on behind its document, in line %" PRIu32
                                 ": give each document a file",
                                 path, line_of(text, end));
    if (code == STRIA_OK && !json_object_is_type(*root, json_type_object))
        code = stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                                 "%s holds no JSON object: it is not the result of a measurement", path);
    if (code != STRIA_OK) {
        json_object_put(*root);
        *root = NULL;
    }
    return code;
}

int stria_document_read(const char *path, struct stria_arena *arena, struct stria_document *document,
                        struct stria_trouble *trouble)
{
    char *text;
    size_t length = 0;
    *document = (struct stria_document){.file = path, .arena = arena, .trouble = trouble};
    document->code = read_text(path, &text, &length, trouble);
    if (document->code == STRIA_OK)
        document->code = parse(path, text, length, &document->root, trouble);
    free(text);
    return document->code;
}

struct stria_node stria_document_root(struct stria_document *document)
{
    return (struct stria_node){.document = document, .value = document->root};
}

void stria_node_fail(const struct stria_node *node, const char *format, ...)
{
    char what[256];
    va_list list;
    if (node->document->code != STRIA_OK)
        return;
    va_start(list, format);
    vsnprintf(what, sizeof(what), format, list);
    va_end(list);
    node->document->code =
        stria_trouble_set(node->document->trouble, STRIA_ERR_FORMAT, "%s: %s %s", node->document->file,
                          node->where[0] ? node->where : "the document", what);
}

static void set_where(struct stria_node *child, const struct stria_node *node, const char *key)
{
    snprintf(child->where, sizeof(child->where), "%.50s%s%.28s", node->where, node->where[0] ? "." : "", key);
}

struct stria_node stria_node_optional(const struct stria_node *node, const char *key)
{
    struct stria_node child = {.document = node->document};
    set_where(&child, node, key);
    if (node->document->code == STRIA_OK && json_object_is_type(node->value, json_type_object))
        json_object_object_get_ex(node->value, key, &child.value);
    return child;
}

static struct stria_node of_type(const struct stria_node *node, const char *key, enum json_type type,
                                 const char *what)
{
    struct stria_node child = stria_node_optional(node, key);
    if (!child.value)
        stria_node_fail(&child, "is missing: the file is damaged or of another program");
    else if (!json_object_is_type(child.value, type))
        stria_node_fail(&child, "is not %s: the file is damaged or of another program", what);
    if (node->document->code != STRIA_OK)
        child.value = NULL;
    return child;
}

struct stria_node stria_node_object(const struct stria_node *node, const char *key)
{
    return of_type(node, key, json_type_object, "an object");
}

struct stria_node stria_node_array(const struct stria_node *node, const char *key)
{
    return of_type(node, key, json_type_array, "an array");
}

uint32_t stria_node_count(const struct stria_node *node)
{
    return json_object_is_type(node->value, json_type_array) ? (uint32_t)json_object_array_length(node->value)
                                                             : 0;
}

struct stria_node stria_node_at(const struct stria_node *node, uint32_t index)
{
    struct stria_node child = {.document = node->document};
    snprintf(child.where, sizeof(child.where), "%.60s[%" PRIu32 "]", node->where, index);
    if (node->document->code == STRIA_OK)
        child.value = json_object_array_get_idx(node->value, index);
    return child;
}

struct stria_reading stria_node_value(const struct stria_node *node)
{
    struct stria_reading reading = {0};
    const double real =
        json_object_is_type(node->value, json_type_double) ? json_object_get_double(node->value) : 0;
    if (!node->value || node->document->code != STRIA_OK)
        return reading;
    if (json_object_is_type(node->value, json_type_int)) {
        if (json_object_get_int64(node->value) < 0)
            stria_node_fail(node, "is negative: a number of at least zero belongs there");
        reading = (struct stria_reading){true, json_object_get_uint64(node->value)};
    } else if (json_object_is_type(node->value, json_type_double) && isfinite(real) && real >= 0 &&
               real < 1.8e19) {
        reading = (struct stria_reading){true, (uint64_t)(real + 0.5)};
    } else {
        stria_node_fail(node, "is no number of at least zero: the file is damaged or of another program");
    }
    if (node->document->code != STRIA_OK)
        reading = (struct stria_reading){0};
    return reading;
}

struct stria_reading stria_node_degrees(const struct stria_node *node)
{
    struct stria_reading reading = {0};
    const double real = json_object_get_double(node->value);
    const bool number =
        json_object_is_type(node->value, json_type_double) || json_object_is_type(node->value, json_type_int);
    if (!node->value || node->document->code != STRIA_OK)
        return reading;
    if (!number || !isfinite(real) || real > 1000) {
        stria_node_fail(node, "is no temperature in degrees: the file is damaged or of another program");
        return reading;
    }
    return (struct stria_reading){true, real > 0 ? (uint64_t)(real * 1000 + 0.5) : 0};
}

struct stria_reading stria_node_reading(const struct stria_node *node, const char *key)
{
    const struct stria_node child = stria_node_optional(node, key);
    return stria_node_value(&child);
}

uint64_t stria_node_u64(const struct stria_node *node, const char *key)
{
    const struct stria_node child = stria_node_optional(node, key);
    if (!child.value)
        stria_node_fail(&child, "is missing: the file is damaged or of another program");
    return stria_node_value(&child).value;
}

const char *stria_node_text(const struct stria_node *node, const char *key)
{
    const struct stria_node child = stria_node_optional(node, key);
    if (!child.value)
        return NULL;
    if (!json_object_is_type(child.value, json_type_string)) {
        stria_node_fail(&child, "is not a text: the file is damaged or of another program");
        return NULL;
    }
    return stria_arena_text(node->document->arena, json_object_get_string(child.value));
}

const char *stria_node_needed_text(const struct stria_node *node, const char *key)
{
    const char *text = stria_node_text(node, key);
    const struct stria_node child = stria_node_optional(node, key);
    if (!text)
        stria_node_fail(&child, "is missing: the file is damaged or of another program");
    return text ? text : "";
}

bool stria_node_bool(const struct stria_node *node, const char *key)
{
    const struct stria_node child = stria_node_optional(node, key);
    if (child.value && !json_object_is_type(child.value, json_type_boolean))
        stria_node_fail(&child, "is neither true nor false: the file is damaged or of another program");
    return child.value && json_object_get_boolean(child.value);
}

double stria_node_real(const struct stria_node *node, const char *key)
{
    const struct stria_node child = stria_node_optional(node, key);
    const bool number =
        json_object_is_type(child.value, json_type_double) || json_object_is_type(child.value, json_type_int);
    const double real = number ? json_object_get_double(child.value) : 0;
    if (child.value && (!number || !isfinite(real) || real < 0)) {
        stria_node_fail(&child, "is no number of at least zero: the file is damaged or of another program");
        return 0;
    }
    return real;
}
