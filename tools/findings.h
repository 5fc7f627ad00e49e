/* What a verification found, kept until its end: then told in the order of the streams, joined for people and
 * whole in a document. */
#ifndef STRIA_TOOLS_FINDINGS_H
#define STRIA_TOOLS_FINDINGS_H

#include "engine/verify.h"

#include <json-c/json.h>

struct stria_findings {
    struct stria_verify_finding *list; /* freed by stria_findings_clear() */
    size_t count, capacity;
    uint64_t unlisted; /* those for which there was no memory */
};

void stria_findings_add(struct stria_findings *findings, const struct stria_verify_finding *finding);
void stria_findings_clear(struct stria_findings *findings);

/* Sorts them. Before the next two. */
void stria_findings_sort(struct stria_findings *findings);

/* At most STRIA_STRETCH_LINES_MAX lines on standard output, and one that counts the rest. */
void stria_findings_print(const struct stria_findings *findings, const struct stria_array *array);

/* Writes document, an object, to standard output with two arrays more: "gaps" and "findings". One entry at a
 * time, as there may be millions. */
int stria_findings_write(const struct stria_findings *findings, const struct stria_findings *gaps,
                         const struct stria_array *array, struct json_object *document,
                         struct stria_trouble *trouble);

#endif
