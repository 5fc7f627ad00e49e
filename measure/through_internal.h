/* Between the parts of measure/through.h. */
#ifndef STRIA_MEASURE_THROUGH_INTERNAL_H
#define STRIA_MEASURE_THROUGH_INTERNAL_H

#include "measure/through.h"

/* Begins a recording in place of the one that is there; null with a sentence. */
struct stria_writer *stria_through_begin(struct stria_through *through, struct stria_trouble *trouble);

#endif
