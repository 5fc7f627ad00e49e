/* The inside of the recorder, shared by its source files and by nobody else. */
#ifndef STRIA_CORE_RECORDER_INTERNAL_H
#define STRIA_CORE_RECORDER_INTERNAL_H

#include "core/recorder.h"
#include "core/rows.h"
#include "core/slots.h"
#include "core/space.h"
#include "core/tag.h"
#include "core/watch.h"
#include "core/window.h"

#define STRIA_ERRORS_IN_ROW_MAX 8u
#define STRIA_META_ATTEMPTS_MAX 4u
#define STRIA_SHORTS_MAX        64u
#define STRIA_AGAIN_PAUSE_NS    1000000u

enum cycle_phase {
    CYCLE_IDLE,
    CYCLE_FLUSH_DATA, /* payload of the cycle's chunks becomes durable */
    CYCLE_LEDGER,     /* their ledger pages are written */
    CYCLE_CATALOGUE,  /* catalogue pages that this drive has not got yet */
    CYCLE_CHECKPOINT,
    CYCLE_FLUSH_META, /* all of that becomes durable */
    CYCLE_DONE
};

/* One drive's commit cycle. At most one metadata request of a drive is in flight. */
struct cycle {
    enum cycle_phase phase;
    bool in_flight;
    bool retry; /* the request is to be sent again at retry_ns */
    uint16_t turn;
    uint32_t attempts;
    uint64_t retry_ns;
    uint64_t since_ns; /* when the request went out first, as watched time */
    uint64_t started_ns;
    uint64_t sealed_before;      /* chunks sealed before the last cycle began */
    struct stria_action request; /* what is in flight, for a retry */
    uint64_t ledger_next;        /* positions below are written in this cycle */
    uint32_t catalogue_target;   /* entries that will be durable when the cycle ends … */
    uint32_t catalogue_next;     /* … of which those below are written */
    uint32_t catalogue_durable;
    uint64_t checkpoint_bytes;         /* watermark in the checkpoint that is being written … */
    uint64_t checkpoint_durable_bytes; /* … and in the last one that was flushed */
};

/* A lost chunk that no entry of the catalogue names, and that is not told yet. */
struct unnamed {
    uint8_t cause; /* enum stria_gap_cause; zero: the chunk is none of these */
    uint8_t drive;
};

struct drive {
    struct stria_recorder_drive config;
    struct stria_space space;
    enum stria_drive_state state;
    int code;
    bool give_up_told;
    struct stria_slot_list ready;   /* RAID0: chunks whose own place is here */
    struct stria_slot_list writing; /* oldest submission first */
    uint64_t taken;
    uint64_t left_at_start;
    bool top_exhausted; /* RAID0: no extent left for chunks from elsewhere */
    uint32_t paused;    /* slots in writing that wait to be sent again at pause_until_ns */
    uint64_t pause_until_ns;
    uint32_t errors_in_row;
    uint64_t stored_extents; /* in state STORED */
    uint64_t stored_bytes, lost_bytes, errors, retries;
    struct cycle cycle;
};

struct stria_recorder {
    struct stria_recorder_config config;
    enum stria_recorder_state state;
    uint64_t now_ns;
    uint64_t begun_ns;
    uint32_t drive_count;
    struct drive *drives;
    struct stria_slot *slots;
    struct stria_slot_list ready; /* chunks for whichever drive can */
    struct stria_watch watch;
    struct stria_window window;
    uint64_t length_bytes, stored_bytes, dropped_bytes, on_the_way_bytes;
    uint64_t watermark_told;
    struct stria_gap gap; /* open: grows until the next chunk is sealed; length zero: none */
    uint8_t seal_gap_cause, seal_gap_drive; /* for the ledger entry of the next chunk */
    bool full, full_told, displaced, off_rows, degraded;
    bool tail_seen; /* a short chunk was committed: none may follow */

    struct stria_rows rows;            /* of the drives that are there at the beginning */
    uint64_t base_row, row, row_index; /* RAID0: row is the position of row number row_index, if below … */
    uint64_t row_end; /* … the end of the rows: of the array, then of those before base_row */

    struct stria_catalogue_entry lost; /* being collected; valid when lost_open */
    bool lost_open;
    uint32_t lost_told;      /* gaps of LOST entries below are reported … */
    uint32_t lost_told_bit;  /* … and of this one up to this bit */
    uint32_t lost_settled;   /* LOST entries below are durable on every live drive */
    struct unnamed *unnamed; /* by sequence modulo the window's capacity */
    uint64_t unnamed_count;
    uint64_t unnamed_next; /* none of them has a sequence below */
    bool unnamed_ever;     /* there was one: the watermark waits for the checkpoints */
    uint32_t begun_target; /* catalogue entries that make the recording begun, or ended */
    bool end_wanted;

    struct stria_actions *actions; /* of the step under way */
};

/* recorder.c */
bool stria_recorder_room(struct stria_recorder *recorder, uint32_t actions);
struct stria_action *stria_recorder_emit(struct stria_recorder *recorder, enum stria_action_kind kind);
bool stria_recorder_any_live(const struct stria_recorder *recorder);

/* recorder_data.c: sealing, placement, completions of payload */
void stria_recorder_commit(struct stria_recorder *recorder, const struct stria_event *event);
void stria_recorder_skip(struct stria_recorder *recorder, uint64_t length_bytes, enum stria_gap_cause cause,
                         uint32_t drive);
bool stria_recorder_queue_has_room(const struct stria_recorder *recorder, const struct drive *drive);
void stria_recorder_place_all(struct stria_recorder *recorder);
void stria_recorder_data_done(struct stria_recorder *recorder, const struct stria_event *event);
void stria_recorder_requeue(struct stria_recorder *recorder, uint32_t slot, uint32_t avoid);
void stria_recorder_close_gap(struct stria_recorder *recorder);
void stria_recorder_rows_begin(struct stria_recorder *recorder);

/* recorder_cycle.c: commit cycles, begin and end */
void stria_recorder_cycles(struct stria_recorder *recorder);
void stria_recorder_meta_done(struct stria_recorder *recorder, const struct stria_event *event);
bool stria_recorder_cycles_idle(const struct stria_recorder *recorder);
uint32_t stria_recorder_catalogue_durable(const struct stria_recorder *recorder);
bool stria_recorder_checkpoint_lags(const struct stria_recorder *recorder, const struct drive *drive);

/* recorder_loss.c: drives given up, chunks lost */
void stria_recorder_give_up(struct stria_recorder *recorder, uint32_t drive, int code);
void stria_recorder_expire(struct stria_recorder *recorder);
void stria_recorder_lose(struct stria_recorder *recorder, uint64_t sequence, uint64_t length_bytes,
                         enum stria_gap_cause cause, uint32_t drive);
void stria_recorder_lose_flush(struct stria_recorder *recorder);
void stria_recorder_lose_ready(struct stria_recorder *recorder);
void stria_recorder_tell_losses(struct stria_recorder *recorder);
bool stria_recorder_losses_told(const struct stria_recorder *recorder);
void stria_recorder_settle_losses(struct stria_recorder *recorder);
uint64_t stria_recorder_watermark_bytes(const struct stria_recorder *recorder);

#endif
