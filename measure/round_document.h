/* One round of a bench in its document. */
#ifndef STRIA_MEASURE_ROUND_DOCUMENT_H
#define STRIA_MEASURE_ROUND_DOCUMENT_H

#include "measure/round.h"

#include <json-c/json.h>

/* Adds all keys to an empty object. */
void stria_round_document(struct json_object *object, const struct stria_round *round);

#endif
