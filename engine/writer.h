/* What the report needs of a writer beyond the public interface. */
#ifndef STRIA_ENGINE_WRITER_H
#define STRIA_ENGINE_WRITER_H

#include "core/meter.h"
#include "stria.h"

/* The measurements of a recording that has ended (stria_writer_end); the writer's. */
const struct stria_meter *stria_writer_meter(const struct stria_writer *writer);

#endif
