/* By what a request of the recorder is known in its completion: kind, drive, turn and slot. */
#ifndef STRIA_CORE_TAG_H
#define STRIA_CORE_TAG_H

#include <stdint.h>

enum tag_kind { TAG_DATA = 1, TAG_META = 2 };

static inline uint64_t stria_tag(enum tag_kind kind, uint32_t drive, uint16_t turn, uint32_t slot)
{
    return (uint64_t)kind << 56 | (uint64_t)drive << 48 | (uint64_t)turn << 32 | slot;
}

static inline uint32_t stria_tag_kind(uint64_t tag)
{
    return (uint32_t)(tag >> 56);
}

static inline uint32_t stria_tag_drive(uint64_t tag)
{
    return tag >> 48 & 0xff;
}

static inline uint16_t stria_tag_turn(uint64_t tag)
{
    return (uint16_t)(tag >> 32);
}

static inline uint32_t stria_tag_slot(uint64_t tag)
{
    return (uint32_t)tag;
}

#endif
