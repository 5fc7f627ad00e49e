#include "support/json.h"

#include "support/file.h"
#include "support/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* json-c returns null only when memory runs out; a report with keys missing would be worse than none. */
static struct json_object *made(struct json_object *value)
{
    if (!value)
        stria_memory_missing();
    return value;
}

static void add(struct json_object *object, const char *key, struct json_object *value)
{
    if (json_object_object_add(object, key, value) != 0)
        stria_memory_missing();
}

static void append(struct json_object *array, struct json_object *value)
{
    if (json_object_array_add(array, value) != 0)
        stria_memory_missing();
}

void stria_json_add_u64(struct json_object *object, const char *key, uint64_t value)
{
    add(object, key, made(json_object_new_uint64(value)));
}

void stria_json_add_bool(struct json_object *object, const char *key, bool value)
{
    add(object, key, made(json_object_new_boolean(value)));
}

void stria_json_add_figure(struct json_object *object, const char *key, bool known, uint64_t value)
{
    add(object, key, known ? made(json_object_new_uint64(value)) : NULL);
}

void stria_json_add_real(struct json_object *object, const char *key, double value)
{
    add(object, key, isfinite(value) ? made(json_object_new_double(value)) : NULL);
}

static char *utf8_copy(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const size_t longest = sizeof(replacement) - 1;
    char *copy = malloc(strlen(text) * longest + 1), *end = copy;
    if (!copy)
        stria_memory_missing();
    while (*text) {
        size_t length = stria_plain_character(text);
        memcpy(end, length ? text : replacement, length ? length : longest);
        end += length ? length : longest;
        text += length ? length : 1;
    }
    *end = '\0';
    return copy;
}

static struct json_object *new_text(const char *text)
{
    char *copy = utf8_copy(text);
    struct json_object *value = made(json_object_new_string(copy));
    free(copy);
    return value;
}

void stria_json_add_text(struct json_object *object, const char *key, const char *text)
{
    add(object, key, text ? new_text(text) : NULL);
}

void stria_json_add_null(struct json_object *object, const char *key)
{
    add(object, key, NULL);
}

void stria_json_add_uuid(struct json_object *object, const char *key, const uint8_t uuid[16])
{
    static const char digits[] = "0123456789abcdef";
    char text[37], *end = text;
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *end++ = '-';
        *end++ = digits[uuid[i] >> 4];
        *end++ = digits[uuid[i] & 15];
    }
    *end = '\0';
    stria_json_add_text(object, key, text);
}

struct json_object *stria_json_add_object(struct json_object *object, const char *key)
{
    struct json_object *child = made(json_object_new_object());
    add(object, key, child);
    return child;
}

struct json_object *stria_json_add_array(struct json_object *object, const char *key)
{
    struct json_object *child = made(json_object_new_array());
    add(object, key, child);
    return child;
}

struct json_object *stria_json_append_object(struct json_object *array)
{
    struct json_object *child = made(json_object_new_object());
    append(array, child);
    return child;
}

struct json_object *stria_json_append_array(struct json_object *array)
{
    struct json_object *child = made(json_object_new_array());
    append(array, child);
    return child;
}

void stria_json_append_u64(struct json_object *array, uint64_t value)
{
    append(array, made(json_object_new_uint64(value)));
}

void stria_json_append_text(struct json_object *array, const char *text)
{
    append(array, new_text(text));
}

void stria_json_append_null(struct json_object *array)
{
    append(array, NULL);
}

/* Arrays of numbers stay on one line each: a series of thousands of bins is not for reading. */
static char *document_text(struct json_object *document, size_t *length)
{
    const int style = JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    const char *text = json_object_to_json_string_length(document, style, length);
    char *copy = text ? malloc(*length + 1) : NULL;
    if (!copy)
        stria_memory_missing();
    memcpy(copy, text, *length);
    copy[(*length)++] = '\n';
    return copy;
}

int stria_json_write(struct json_object *document, const char *path, struct stria_trouble *trouble)
{
    size_t length;
    char *text = document_text(document, &length);
    int code = stria_file_write_whole(path, text, length, trouble);
    free(text);
    return code;
}
