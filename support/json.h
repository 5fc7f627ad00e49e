/* JSON as Stria writes it: stable keys, null for a figure that does not exist, 64-bit integers whole, no
 * NaN, valid UTF-8 whatever a path or a name holds, one document written whole. Over json-c. */
#ifndef STRIA_SUPPORT_JSON_H
#define STRIA_SUPPORT_JSON_H

#include "support/trouble.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each adds key to object, which must not have it yet. */
void stria_json_add_u64(struct json_object *object, const char *key, uint64_t value);
void stria_json_add_bool(struct json_object *object, const char *key, bool value);
/* A figure that may not exist: null unless known. */
void stria_json_add_figure(struct json_object *object, const char *key, bool known, uint64_t value);
/* null for a value that is not finite. */
void stria_json_add_real(struct json_object *object, const char *key, double value);
/* null for a null text; bytes that are not UTF-8 become U+FFFD. */
void stria_json_add_text(struct json_object *object, const char *key, const char *text);
void stria_json_add_null(struct json_object *object, const char *key);
/* 32 lower-case hexadecimal digits in the 8-4-4-4-12 form. */
void stria_json_add_uuid(struct json_object *object, const char *key, const uint8_t uuid[16]);
/* New objects and arrays, owned by their parent. */
struct json_object *stria_json_add_object(struct json_object *object, const char *key);
struct json_object *stria_json_add_array(struct json_object *object, const char *key);
struct json_object *stria_json_append_object(struct json_object *array);
struct json_object *stria_json_append_array(struct json_object *array);
void stria_json_append_u64(struct json_object *array, uint64_t value);
void stria_json_append_text(struct json_object *array, const char *text);
void stria_json_append_null(struct json_object *array);

/* Writes the document and a final newline to path, whole or not at all: into a temporary file beside it,
 * synced and renamed over it. "-" and a path that is no regular file (a FIFO, /dev/stdout) get it written
 * directly, in one go. The sentence of a failure names path. */
int stria_json_write(struct json_object *document, const char *path, struct stria_trouble *trouble);

#endif
