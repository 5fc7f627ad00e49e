/* What the tools need of arrays beyond the public interface. */
#ifndef STRIA_ENGINE_ARRAY_H
#define STRIA_ENGINE_ARRAY_H

#include "config/array.h"
#include "stria.h"

/* As stria_array_open, for a configuration that was read before; it is copied. */
int stria_array_open_config(const struct stria_array_config *config, bool writable,
                            struct stria_array **array, struct stria_trouble *trouble);

const struct stria_array_config *stria_array_config(const struct stria_array *array);

#endif
