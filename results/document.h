/* A JSON document on its way in: values are taken by key, and the first that is missing or not of its kind
 * makes the sentence, with the place where it stands. After that all that is taken is empty, so that a reader
 * asks once, at its end. */
#ifndef STRIA_RESULTS_DOCUMENT_H
#define STRIA_RESULTS_DOCUMENT_H

#include "results/arena.h"
#include "results/quantity.h"
#include "support/trouble.h"

#include <json-c/json.h>

struct stria_document {
    const char *file; /* for the sentence */
    struct json_object *root;
    struct stria_arena *arena; /* texts that are taken live here */
    struct stria_trouble *trouble;
    int code; /* STRIA_OK, or that of the first failure */
};

/* A value and where it stands. */
struct stria_node {
    struct stria_document *document;
    struct json_object *value; /* null where there is none */
    char where[80];            /* "drives[2].latency_ns"; empty for the root */
};

/* Reads and parses the file at path, which must hold one object. Lines before it that begin with "fio:" are
 * passed over: fio writes its warnings there. The root is to be given back by json_object_put(). */
int stria_document_read(const char *path, struct stria_arena *arena, struct stria_document *document,
                        struct stria_trouble *trouble);

struct stria_node stria_document_root(struct stria_document *document);

/* Of an object: its member; a node without a value where there is none, or null. */
struct stria_node stria_node_optional(const struct stria_node *node, const char *key);

/* The same, of this JSON type and not missing. */
struct stria_node stria_node_object(const struct stria_node *node, const char *key);
struct stria_node stria_node_array(const struct stria_node *node, const char *key);

/* Of an array: how many elements, and each; an element may be null. */
uint32_t stria_node_count(const struct stria_node *node);
struct stria_node stria_node_at(const struct stria_node *node, uint32_t index);

/* Members. A missing one, and null, is a reading that is not known, a null text, false, or a zero. */
struct stria_reading stria_node_reading(const struct stria_node *node, const char *key);
const char *stria_node_text(const struct stria_node *node, const char *key);
bool stria_node_bool(const struct stria_node *node, const char *key);
double stria_node_real(const struct stria_node *node, const char *key); /* finite, at least zero */

/* A member that must be there. */
uint64_t stria_node_u64(const struct stria_node *node, const char *key);
const char *stria_node_needed_text(const struct stria_node *node, const char *key);

/* The node itself as a whole number, unknown for null; degrees in thousandths, also from a fraction. Negative
 * temperatures count as zero. */
struct stria_reading stria_node_value(const struct stria_node *node);
struct stria_reading stria_node_degrees(const struct stria_node *node);

/* Makes the sentence "FILE: WHERE …", unless there is one already. */
void stria_node_fail(const struct stria_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
