/* What onlookers and reports learn from a writer. */
#include "engine/writer_internal.h"

#include <string.h>

void stria_writer_progress(struct stria_writer *writer, struct stria_progress *progress)
{
    pthread_mutex_lock(&writer->lock);
    *progress = writer->progress;
    pthread_mutex_unlock(&writer->lock);
}

int stria_writer_drive_progress(struct stria_writer *writer, uint32_t drive,
                                struct stria_drive_progress *progress)
{
    if (drive >= writer->array->member_count)
        return STRIA_ERR_NOT_FOUND;
    pthread_mutex_lock(&writer->lock);
    *progress = writer->drives[drive];
    pthread_mutex_unlock(&writer->lock);
    return STRIA_OK;
}

const char *stria_writer_complaint(const struct stria_writer *writer)
{
    return writer->complaint;
}

void stria_writer_result(const struct stria_writer *writer, struct stria_result *result)
{
    struct stria_recorder_status status;
    stria_recorder_status(writer->recorder, &status);
    *result = (struct stria_result){
        .durable_bytes = writer->durable_bytes,
        .duration_ns = writer->ended_ns - writer->started_ns,
        .degraded = status.degraded,
        .full = status.full,
        .gap_count = writer->gaps.count,
        .gaps_unlisted_bytes = writer->gaps.unlisted_bytes,
    };
    result->info = (struct stria_recording_info){
        .id = writer->recording,
        .complete = writer->code == STRIA_OK,
        .raid0 = writer->array->policy == STRIA_POLICY_RAID0,
        .length_bytes = status.length_bytes,
        .bytes = status.stored_bytes,
        .dropped_bytes = status.dropped_bytes,
        .started_unix_ns = writer->started_unix_ns,
        .duration_ns = result->duration_ns,
        .base_row = status.base_row,
    };
    result->info.plain_raid0 = result->info.raid0 && !status.displaced && !status.off_rows;
    memcpy(result->info.name, writer->name, sizeof(result->info.name));
}

int stria_writer_gap(const struct stria_writer *writer, uint32_t index, struct stria_gap_info *info)
{
    if (index >= writer->gaps.count)
        return STRIA_ERR_NOT_FOUND;
    const struct stria_gap *gap = &writer->gaps.gaps[index];
    *info = (struct stria_gap_info){
        .offset_bytes = gap->offset_bytes,
        .length_bytes = gap->length_bytes,
        .time_ns = gap->time_ns > writer->started_ns ? gap->time_ns - writer->started_ns : 0,
        .cause = gap->cause,
        .drive = gap->drive == STRIA_GAP_DRIVE_NONE ? -1 : (int)gap->drive,
    };
    return STRIA_OK;
}

const struct stria_meter *stria_writer_meter(const struct stria_writer *writer)
{
    return writer->meter;
}
