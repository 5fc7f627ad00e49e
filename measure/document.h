/* The result of a bench as one JSON document, stria.bench/1: docs/bench-result.md. */
#ifndef STRIA_MEASURE_DOCUMENT_H
#define STRIA_MEASURE_DOCUMENT_H

#include "measure/bench.h"

#include <json-c/json.h>

/* A new document, for json_object_put(). */
struct json_object *stria_bench_document(const struct stria_bench_result *result);

#endif
