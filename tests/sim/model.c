#include "tests/sim/model.h"

#include "core/assert.h"

#include <stdlib.h>

struct sim_recording *sim_model_begin(struct sim_model *model, uint64_t id, enum stria_policy policy)
{
    if (model->count == model->capacity) {
        model->capacity = model->capacity ? 2 * model->capacity : 8;
        model->recordings = realloc(model->recordings, model->capacity * sizeof(struct sim_recording));
        STRIA_ASSERT(model->recordings);
    }
    struct sim_recording *recording = &model->recordings[model->count++];
    *recording = (struct sim_recording){.id = id, .serial = model->count, .policy = policy};
    return recording;
}

struct sim_recording *sim_model_find(struct sim_model *model, uint64_t id)
{
    for (uint32_t index = model->count; index-- > 0;)
        if (model->recordings[index].id == id && !model->recordings[index].removed)
            return &model->recordings[index];
    return NULL;
}

void sim_recording_append(struct sim_recording *recording, struct sim_chunk chunk)
{
    if (recording->chunk_count == recording->chunk_capacity) {
        recording->chunk_capacity = recording->chunk_capacity ? 2 * recording->chunk_capacity : 64;
        recording->chunks = realloc(recording->chunks, recording->chunk_capacity * sizeof(struct sim_chunk));
        STRIA_ASSERT(recording->chunks);
    }
    recording->chunks[recording->chunk_count++] = chunk;
}

void sim_model_free(struct sim_model *model)
{
    for (uint32_t index = 0; index < model->count; index++)
        free(model->recordings[index].chunks);
    free(model->recordings);
    *model = (struct sim_model){0};
}
