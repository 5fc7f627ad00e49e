#include "core/catalogue_cell.h"

#include "core/bits.h"
#include "core/digest.h"
#include "core/name.h"

#include <string.h>

enum {
    AT_MAGIC = 0,
    AT_KIND = 4,
    AT_RECORDING = 8,
    AT_WALL = 16,
    AT_ORDINAL = 24,
    AT_BODY = 32,
    AT_CHECK = 120,
    AT_END = 128,

    AT_HEAD_EPOCH = AT_BODY,
    AT_HEAD_NEXT_RECORDING = AT_BODY + 8,
    AT_HEAD_FORMAT = AT_BODY + 16,
    AT_HEAD_ENTRIES_MAX = AT_BODY + 20,

    AT_BEGUN_NAME = AT_BODY,
    AT_BEGUN_POLICY = AT_BODY + 64,
    AT_BEGUN_CHUNK = AT_BODY + 68,
    AT_BEGUN_BASE_ROW = AT_BODY + 72,

    AT_ENDED_LENGTH = AT_BODY,
    AT_ENDED_STORED = AT_BODY + 8,
    AT_ENDED_DROPPED = AT_BODY + 16,
    AT_ENDED_SEQUENCES = AT_BODY + 24,
    AT_ENDED_DURATION = AT_BODY + 32,
    AT_ENDED_FLAGS = AT_BODY + 40,
    AT_ENDED_GAP_CAUSE = AT_BODY + 44,
    AT_ENDED_GAP_DRIVE = AT_BODY + 45,

    AT_LOST_CAUSE = AT_BODY,
    AT_LOST_DRIVE = AT_BODY + 4,
    AT_LOST_BASE = AT_BODY + 8,
    AT_LOST_BITMAP = AT_BODY + 16,

    AT_REACHED_BYTES = AT_BODY,
    AT_REACHED_SEQUENCE = AT_BODY + 8
};
_Static_assert(AT_END == STRIA_CATALOGUE_ENTRY_BYTES, "the format fixes 128 bytes");
_Static_assert(STRIA_BLOCK_BYTES_MIN % AT_END == 0, "no entry may cross a block of any drive");
_Static_assert(AT_BEGUN_BASE_ROW + 8 <= AT_CHECK, "BEGUN must fit");
_Static_assert(AT_LOST_BITMAP + STRIA_LOST_SEQUENCES / 8 <= AT_CHECK, "LOST must fit");

#define MAGIC UINT32_C(0x31414353) /* "SCA1" */

uint64_t stria_catalogue_cell_seed(const uint8_t array_uuid[STRIA_UUID_BYTES], uint64_t epoch)
{
    uint8_t bytes[STRIA_UUID_BYTES + 8];
    memcpy(bytes, array_uuid, STRIA_UUID_BYTES);
    stria_store_u64(bytes + STRIA_UUID_BYTES, epoch);
    return stria_digest_seeded(0, bytes, sizeof(bytes));
}

static void seal(uint8_t *cell, uint64_t seed, uint64_t ordinal)
{
    stria_store_u64(cell + AT_ORDINAL, ordinal);
    stria_store_u64(cell + AT_CHECK, stria_digest_seeded(seed, cell, AT_CHECK));
}

static void head_store(uint8_t *out, const struct stria_catalogue_head *head)
{
    stria_store_u64(out + AT_HEAD_EPOCH, head->epoch);
    stria_store_u64(out + AT_HEAD_NEXT_RECORDING, head->next_recording);
    stria_store_u32(out + AT_HEAD_FORMAT, head->format);
    stria_store_u32(out + AT_HEAD_ENTRIES_MAX, head->entries_max);
}

static void begun_store(uint8_t *out, const struct stria_catalogue_begun *begun)
{
    memcpy(out + AT_BEGUN_NAME, begun->name, STRIA_NAME_BYTES);
    stria_store_u32(out + AT_BEGUN_POLICY, begun->policy);
    stria_store_u32(out + AT_BEGUN_CHUNK, begun->chunk_bytes);
    stria_store_u64(out + AT_BEGUN_BASE_ROW, begun->base_row);
}

static void ended_store(uint8_t *out, const struct stria_catalogue_ended *ended)
{
    stria_store_u64(out + AT_ENDED_LENGTH, ended->length_bytes);
    stria_store_u64(out + AT_ENDED_STORED, ended->stored_bytes);
    stria_store_u64(out + AT_ENDED_DROPPED, ended->dropped_bytes);
    stria_store_u64(out + AT_ENDED_SEQUENCES, ended->sequence_count);
    stria_store_u64(out + AT_ENDED_DURATION, ended->duration_ns);
    stria_store_u32(out + AT_ENDED_FLAGS, ended->flags);
    out[AT_ENDED_GAP_CAUSE] = ended->gap_cause;
    out[AT_ENDED_GAP_DRIVE] = ended->gap_drive;
}

static void lost_store(uint8_t *out, const struct stria_catalogue_lost *lost)
{
    stria_store_u32(out + AT_LOST_CAUSE, lost->cause);
    stria_store_u32(out + AT_LOST_DRIVE, lost->drive);
    stria_store_u64(out + AT_LOST_BASE, lost->base_sequence);
    memcpy(out + AT_LOST_BITMAP, lost->bitmap, sizeof(lost->bitmap));
}

void stria_catalogue_cell_encode(uint8_t out[STRIA_CATALOGUE_ENTRY_BYTES],
                                 const struct stria_catalogue_entry *entry, uint64_t seed)
{
    memset(out, 0, STRIA_CATALOGUE_ENTRY_BYTES);
    stria_store_u32(out + AT_MAGIC, MAGIC);
    stria_store_u32(out + AT_KIND, entry->kind);
    stria_store_u64(out + AT_RECORDING, entry->recording);
    stria_store_u64(out + AT_WALL, entry->wall_ns);
    switch (entry->kind) {
    case STRIA_CATALOGUE_HEAD:
        head_store(out, &entry->head);
        break;
    case STRIA_CATALOGUE_BEGUN:
        begun_store(out, &entry->begun);
        break;
    case STRIA_CATALOGUE_ENDED:
        ended_store(out, &entry->ended);
        break;
    case STRIA_CATALOGUE_LOST:
        lost_store(out, &entry->lost);
        break;
    case STRIA_CATALOGUE_REACHED:
        stria_store_u64(out + AT_REACHED_BYTES, entry->reached.watermark_bytes);
        stria_store_u64(out + AT_REACHED_SEQUENCE, entry->reached.watermark_sequence);
        break;
    case STRIA_CATALOGUE_REMOVED:
        break;
    }
    seal(out, seed, entry->ordinal);
}

static bool head_load(const uint8_t *in, struct stria_catalogue_entry *entry)
{
    entry->head = (struct stria_catalogue_head){
        .epoch = stria_load_u64(in + AT_HEAD_EPOCH),
        .next_recording = stria_load_u64(in + AT_HEAD_NEXT_RECORDING),
        .format = stria_load_u32(in + AT_HEAD_FORMAT),
        .entries_max = stria_load_u32(in + AT_HEAD_ENTRIES_MAX),
    };
    return entry->ordinal == 0 && entry->recording == 0 && entry->head.epoch != 0 &&
           entry->head.next_recording != 0;
}

static bool begun_load(const uint8_t *in, struct stria_catalogue_entry *entry)
{
    entry->begun = (struct stria_catalogue_begun){
        .policy = stria_load_u32(in + AT_BEGUN_POLICY),
        .chunk_bytes = stria_load_u32(in + AT_BEGUN_CHUNK),
        .base_row = stria_load_u64(in + AT_BEGUN_BASE_ROW),
    };
    memcpy(entry->begun.name, in + AT_BEGUN_NAME, STRIA_NAME_BYTES);
    return stria_name_valid(entry->begun.name) && stria_chunk_bytes_valid(entry->begun.chunk_bytes);
}

static bool ended_load(const uint8_t *in, struct stria_catalogue_entry *entry)
{
    entry->ended = (struct stria_catalogue_ended){
        .length_bytes = stria_load_u64(in + AT_ENDED_LENGTH),
        .stored_bytes = stria_load_u64(in + AT_ENDED_STORED),
        .dropped_bytes = stria_load_u64(in + AT_ENDED_DROPPED),
        .sequence_count = stria_load_u64(in + AT_ENDED_SEQUENCES),
        .duration_ns = stria_load_u64(in + AT_ENDED_DURATION),
        .flags = stria_load_u32(in + AT_ENDED_FLAGS),
        .gap_cause = in[AT_ENDED_GAP_CAUSE],
        .gap_drive = in[AT_ENDED_GAP_DRIVE],
    };
    const struct stria_catalogue_ended *ended = &entry->ended;
    return ended->length_bytes <= INT64_MAX && ended->stored_bytes <= ended->length_bytes &&
           ended->dropped_bytes <= ended->length_bytes - ended->stored_bytes;
}

static bool lost_load(const uint8_t *in, struct stria_catalogue_entry *entry)
{
    entry->lost = (struct stria_catalogue_lost){
        .cause = stria_load_u32(in + AT_LOST_CAUSE),
        .drive = stria_load_u32(in + AT_LOST_DRIVE),
        .base_sequence = stria_load_u64(in + AT_LOST_BASE),
    };
    memcpy(entry->lost.bitmap, in + AT_LOST_BITMAP, sizeof(entry->lost.bitmap));
    return entry->lost.base_sequence % STRIA_LOST_SEQUENCES == 0;
}

static bool reached_load(const uint8_t *in, struct stria_catalogue_entry *entry)
{
    entry->reached = (struct stria_catalogue_reached){
        .watermark_bytes = stria_load_u64(in + AT_REACHED_BYTES),
        .watermark_sequence = stria_load_u64(in + AT_REACHED_SEQUENCE),
    };
    return entry->reached.watermark_bytes <= INT64_MAX;
}

static enum stria_catalogue_cell_verdict body_load(const uint8_t *in, struct stria_catalogue_entry *entry)
{
    bool sound;
    switch ((uint32_t)entry->kind) {
    case STRIA_CATALOGUE_HEAD:
        sound = head_load(in, entry);
        return sound ? STRIA_CATALOGUE_CELL_VALID : STRIA_CATALOGUE_CELL_DAMAGED;
    case STRIA_CATALOGUE_BEGUN:
        sound = begun_load(in, entry);
        break;
    case STRIA_CATALOGUE_ENDED:
        sound = ended_load(in, entry);
        break;
    case STRIA_CATALOGUE_LOST:
        sound = lost_load(in, entry);
        break;
    case STRIA_CATALOGUE_REACHED:
        sound = reached_load(in, entry);
        break;
    case STRIA_CATALOGUE_REMOVED:
        sound = true;
        break;
    default:
        return STRIA_CATALOGUE_CELL_STRANGE;
    }
    /* An id must leave room for a next one. */
    sound = sound && entry->recording != 0 && entry->recording != UINT64_MAX;
    return sound ? STRIA_CATALOGUE_CELL_VALID : STRIA_CATALOGUE_CELL_DAMAGED;
}

enum stria_catalogue_cell_verdict stria_catalogue_cell_decode(const uint8_t in[STRIA_CATALOGUE_ENTRY_BYTES],
                                                              struct stria_catalogue_entry *entry,
                                                              uint64_t seed, uint64_t ordinal)
{
    if (stria_load_u32(in + AT_MAGIC) != MAGIC)
        return stria_all_zero(in, AT_END) ? STRIA_CATALOGUE_CELL_EMPTY : STRIA_CATALOGUE_CELL_DAMAGED;
    if (stria_load_u64(in + AT_CHECK) != stria_digest_seeded(seed, in, AT_CHECK) ||
        stria_load_u64(in + AT_ORDINAL) != ordinal)
        return STRIA_CATALOGUE_CELL_DAMAGED;
    struct stria_catalogue_entry found = {
        .kind = (enum stria_catalogue_kind)stria_load_u32(in + AT_KIND),
        .recording = stria_load_u64(in + AT_RECORDING),
        .wall_ns = stria_load_u64(in + AT_WALL),
        .ordinal = ordinal,
    };
    const enum stria_catalogue_cell_verdict verdict = body_load(in, &found);
    if (verdict != STRIA_CATALOGUE_CELL_DAMAGED)
        *entry = found;
    return verdict;
}

bool stria_catalogue_cell_decode_head(const uint8_t in[STRIA_CATALOGUE_ENTRY_BYTES],
                                      struct stria_catalogue_entry *entry,
                                      const uint8_t array_uuid[STRIA_UUID_BYTES])
{
    const uint64_t seed = stria_catalogue_cell_seed(array_uuid, stria_load_u64(in + AT_HEAD_EPOCH));
    return stria_catalogue_cell_decode(in, entry, seed, 0) == STRIA_CATALOGUE_CELL_VALID &&
           entry->kind == STRIA_CATALOGUE_HEAD;
}

void stria_catalogue_cell_move(uint8_t out[STRIA_CATALOGUE_ENTRY_BYTES],
                               const uint8_t in[STRIA_CATALOGUE_ENTRY_BYTES], uint64_t seed, uint64_t ordinal)
{
    memcpy(out, in, STRIA_CATALOGUE_ENTRY_BYTES);
    seal(out, seed, ordinal);
}

bool stria_catalogue_cell_same(const uint8_t a[STRIA_CATALOGUE_ENTRY_BYTES],
                               const uint8_t b[STRIA_CATALOGUE_ENTRY_BYTES])
{
    return memcmp(a, b, AT_ORDINAL) == 0 && memcmp(a + AT_BODY, b + AT_BODY, AT_CHECK - AT_BODY) == 0;
}
