/* Latencies as all documents have them. */
#ifndef STRIA_SUPPORT_JSON_LATENCY_H
#define STRIA_SUPPORT_JSON_LATENCY_H

#include "core/histogram.h"
#include "support/json.h"

/* Adds "latency_ns": p50, p90, p99, p999 and max, null where too little was seen. */
void stria_json_add_latency(struct json_object *object, const struct stria_histogram *latency);

/* Appends [low_ns, count] for each bucket that is not empty, rising; low_ns is the bucket's least value. */
void stria_json_append_histogram(struct json_object *array, const struct stria_histogram *latency);

#endif
