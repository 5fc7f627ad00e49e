#include "tests/sim/media.h"

#include "core/assert.h"
#include "tests/sim/draw.h"
#include "tests/sim/hash.h"

#include <stdlib.h>
#include <string.h>

#define TEAR_PIECES 5u

/* Bytes start to end of an extent are those of a chunk from byte from on. */
struct run {
    uint32_t start, end;
    uint64_t id;
    uint64_t from;
};

struct extent {
    struct run *runs; /* in order, not overlapping; what lies between was never written */
    uint32_t count, capacity;
};

/* A write in the cache. */
struct cached {
    struct cached *next;
    uint64_t number;
    uint64_t offset, length;
    struct sim_payload payload;
};

struct sim_media {
    struct stria_geometry geometry;
    const struct sim_ring *ring;
    uint8_t *bytes;      /* metadata before the data area, or the whole drive when filled */
    uint8_t *super;      /* the copy behind the data area */
    uint64_t data_bytes; /* of the data area */
    struct extent *extents;
    struct cached *first, **last;
    uint64_t next_number;
    uint32_t pending;
};

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    STRIA_ASSERT(memory);
    return memory;
}

static uint64_t word(uint64_t id, uint64_t index)
{
    return sim_draw(id, SIM_TOPIC_PAYLOAD, index, 0);
}

static void generate(uint8_t *out, uint64_t id, uint32_t length_bytes)
{
    for (uint32_t at = 0; at < length_bytes; at += 8) {
        uint64_t value = word(id, at / 8);
        memcpy(out + at, &value, length_bytes - at < 8 ? length_bytes - at : 8);
    }
}

void sim_ring_fill(const struct sim_ring *ring, uint32_t slot, uint64_t id, uint32_t length_bytes,
                   uint32_t padded_bytes)
{
    uint8_t *data = ring->base + (size_t)slot * ring->chunk_bytes;
    if (!ring->filled) {
        memcpy(data, &id, sizeof(id));
        return;
    }
    generate(data, id, length_bytes);
    memset(data + length_bytes, 0, padded_bytes - length_bytes);
}

static uint64_t modelled_digest(uint64_t id, uint64_t length_bytes, uint64_t digest_seed)
{
    return sim_mix(sim_mix(id + digest_seed * 3) ^ length_bytes);
}

uint64_t sim_chunk_digest(bool filled, uint64_t id, uint64_t length_bytes, uint64_t digest_seed)
{
    if (!filled)
        return modelled_digest(id, length_bytes, digest_seed);
    uint8_t *bytes = allocate(1, length_bytes);
    generate(bytes, id, (uint32_t)length_bytes);
    uint64_t digest = sim_hash(digest_seed, bytes, length_bytes);
    free(bytes);
    return digest;
}

static bool in_ring(const struct sim_ring *ring, const void *data)
{
    const uint8_t *at = data;
    return at >= ring->base && at < ring->base + ring->bytes;
}

static void identify(const struct sim_ring *ring, const void *data, uint64_t *id, uint64_t *from)
{
    size_t offset = (size_t)((const uint8_t *)data - ring->base);
    *from = offset % ring->chunk_bytes;
    memcpy(id, ring->base + offset - *from, sizeof(*id));
}

uint64_t sim_ring_digest(const struct sim_ring *ring, const void *data, uint64_t bytes, uint64_t digest_seed)
{
    if (ring->filled)
        return sim_hash(digest_seed, data, bytes);
    uint64_t id, from;
    identify(ring, data, &id, &from);
    return modelled_digest(id, bytes, digest_seed);
}

struct sim_media *sim_media_new(const struct stria_geometry *geometry, const struct sim_ring *ring)
{
    struct sim_media *media = allocate(1, sizeof(*media));
    media->geometry = *geometry;
    media->ring = ring;
    media->data_bytes = geometry->extent_count * geometry->chunk_bytes;
    media->bytes = allocate(1, geometry->data_offset + (ring->filled ? media->data_bytes : 0));
    media->super = allocate(1, STRIA_PAGE_BYTES);
    if (!ring->filled)
        media->extents = allocate(geometry->extent_count, sizeof(struct extent));
    media->last = &media->first;
    media->next_number = 1;
    return media;
}

static void uncache(struct sim_media *media)
{
    struct cached *cached = media->first;
    media->first = cached->next;
    if (!media->first)
        media->last = &media->first;
    media->pending--;
    sim_payload_drop(&cached->payload);
    free(cached);
}

void sim_media_free(struct sim_media *media)
{
    while (media->first)
        uncache(media);
    if (media->extents)
        for (uint64_t position = 0; position < media->geometry.extent_count; position++)
            free(media->extents[position].runs);
    free(media->extents);
    free(media->bytes);
    free(media->super);
    free(media);
}

struct sim_payload sim_media_capture(const struct sim_media *media, const void *data, uint64_t length)
{
    struct sim_payload payload = {0};
    if (!media->ring->filled && in_ring(media->ring, data)) {
        identify(media->ring, data, &payload.id, &payload.from);
        return payload;
    }
    payload.bytes = malloc(length);
    STRIA_ASSERT(payload.bytes);
    memcpy(payload.bytes, data, length);
    return payload;
}

void sim_payload_drop(struct sim_payload *payload)
{
    free(payload->bytes);
    payload->bytes = NULL;
}

uint8_t *sim_media_bytes(struct sim_media *media, uint64_t offset)
{
    const struct stria_geometry *geometry = &media->geometry;
    if (offset >= geometry->super_offset[1])
        return media->super + (offset - geometry->super_offset[1]);
    STRIA_ASSERT(offset < geometry->data_offset || media->ring->filled);
    return media->bytes + offset;
}

static void add_run(struct extent *extent, struct run run)
{
    if (extent->count == extent->capacity) {
        extent->capacity = extent->capacity ? 2 * extent->capacity : 1;
        extent->runs = realloc(extent->runs, extent->capacity * sizeof(struct run));
        STRIA_ASSERT(extent->runs);
    }
    extent->runs[extent->count++] = run;
}

/* Lays a run over what is there. */
static void overlay(struct extent *extent, struct run new)
{
    if (extent->count == 1 && new.start <= extent->runs[0].start &&new.end >= extent->runs[0].end) {
        extent->runs[0] = new;
        return;
    }
    struct extent old = *extent;
    *extent = (struct extent){0};
    bool placed = false;
    for (uint32_t index = 0; index < old.count; index++) {
        struct run run = old.runs[index];
        if (run.start < new.start)
            add_run(extent, (struct run){.start = run.start,
                                         .end = run.end < new.start ? run.end : new.start,
                                         .id = run.id,
                                         .from = run.from});
        if (!placed && run.end > new.start) {
            add_run(extent, new);
            placed = true;
        }
        if (run.end > new.end) {
            uint32_t start = run.start > new.end ? run.start : new.end;
            add_run(extent, (struct run){.start = start,
                                         .end = run.end,
                                         .id = run.id,
                                         .from = run.from + (start - run.start)});
        }
    }
    if (!placed)
        add_run(extent, new);
    free(old.runs);
}

/* Makes a part of a write durable. */
static void land(struct sim_media *media, const struct cached *cached, uint64_t start, uint64_t end)
{
    uint64_t offset = cached->offset + start;
    if (cached->payload.bytes) {
        memcpy(sim_media_bytes(media, offset), cached->payload.bytes + start, end - start);
        return;
    }
    uint64_t at = offset - media->geometry.data_offset;
    uint32_t chunk = media->geometry.chunk_bytes;
    STRIA_ASSERT(offset >= media->geometry.data_offset && at / chunk < media->geometry.extent_count);
    overlay(&media->extents[at / chunk], (struct run){.start = (uint32_t)(at % chunk),
                                                      .end = (uint32_t)(at % chunk + (end - start)),
                                                      .id = cached->payload.id,
                                                      .from = cached->payload.from + start});
}

/* Some pieces arrive and others do not; the limits lie between blocks. */
static void land_torn(struct sim_media *media, const struct cached *cached, uint64_t draw)
{
    uint64_t block = STRIA_BLOCK_BYTES_MIN;
    uint64_t blocks = cached->length / block;
    uint64_t start = 0;
    for (uint32_t piece = 0; piece < TEAR_PIECES && start < blocks; piece++) {
        uint64_t value = sim_draw(draw, SIM_TOPIC_TEAR, piece, 0);
        uint64_t end = piece == TEAR_PIECES - 1 ? blocks : start + 1 + (value >> 8) % (blocks - start);
        if (value & 1)
            land(media, cached, start * block, end * block);
        start = end;
    }
}

static struct cached *append(struct sim_media *media, uint64_t offset, uint64_t length,
                             struct sim_payload *payload)
{
    struct cached *cached = malloc(sizeof(*cached));
    STRIA_ASSERT(cached);
    *cached = (struct cached){
        .number = media->next_number++, .offset = offset, .length = length, .payload = *payload};
    *payload = (struct sim_payload){0};
    *media->last = cached;
    media->last = &cached->next;
    media->pending++;
    return cached;
}

void sim_media_write(struct sim_media *media, uint64_t offset, uint64_t length, struct sim_payload *payload)
{
    append(media, offset, length, payload);
}

void sim_media_write_torn(struct sim_media *media, uint64_t offset, uint64_t length,
                          struct sim_payload *payload, uint64_t draw)
{
    struct cached torn = {.offset = offset, .length = length, .payload = *payload};
    land_torn(media, &torn, draw);
    sim_payload_drop(payload);
}

uint64_t sim_media_barrier(const struct sim_media *media)
{
    return media->next_number;
}

void sim_media_flush(struct sim_media *media, uint64_t barrier)
{
    while (media->first && media->first->number < barrier) {
        land(media, media->first, 0, media->first->length);
        uncache(media);
    }
}

void sim_media_cut(struct sim_media *media, enum sim_cut cut, uint64_t seed)
{
    while (media->first) {
        struct cached *cached = media->first;
        uint64_t draw = sim_draw(seed, SIM_TOPIC_CUT, cached->number, 0);
        enum sim_cut fate = cut == SIM_CUT_MIXED ? (enum sim_cut)(1 + (draw >> 8) % 3) : cut;
        if (fate == SIM_CUT_KEEP)
            land(media, cached, 0, cached->length);
        else if (fate == SIM_CUT_TEAR)
            land_torn(media, cached, draw);
        uncache(media);
    }
}

uint32_t sim_media_pending(const struct sim_media *media)
{
    return media->pending;
}

/* The identity of the first bytes of an extent; false if they are not one chunk's, from its start. */
static bool whole(const struct extent *extent, uint64_t length_bytes, uint64_t *id)
{
    if (extent->count == 0)
        return false;
    uint64_t end = 0;
    *id = extent->runs[0].id;
    for (uint32_t index = 0; index < extent->count && end < length_bytes; index++) {
        const struct run *run = &extent->runs[index];
        if (run->start != end || run->id != *id || run->from != run->start)
            return false;
        end = run->end;
    }
    return end >= length_bytes;
}

static const uint8_t *extent_bytes(const struct sim_media *media, uint64_t position)
{
    return media->bytes + stria_geometry_extent_offset(&media->geometry, position);
}

bool sim_media_holds(const struct sim_media *media, uint64_t position, uint64_t id, uint64_t length_bytes)
{
    uint64_t found;
    if (!media->ring->filled)
        return whole(&media->extents[position], length_bytes, &found) && found == id;
    const uint8_t *bytes = extent_bytes(media, position);
    for (uint64_t at = 0; at < length_bytes; at += 8) {
        uint64_t value = word(id, at / 8);
        if (memcmp(bytes + at, &value, length_bytes - at < 8 ? length_bytes - at : 8) != 0)
            return false;
    }
    return true;
}

uint64_t sim_media_digest(const struct sim_media *media, uint64_t position, uint64_t length_bytes,
                          uint64_t digest_seed)
{
    if (media->ring->filled)
        return sim_hash(digest_seed, extent_bytes(media, position), length_bytes);
    uint64_t id;
    const struct extent *extent = &media->extents[position];
    if (whole(extent, length_bytes, &id))
        return modelled_digest(id, length_bytes, digest_seed);
    return sim_hash(digest_seed, extent->runs, extent->count * sizeof(struct run));
}

void sim_media_rot(struct sim_media *media, uint64_t position, uint64_t draw)
{
    if (media->ring->filled) {
        uint64_t offset = stria_geometry_extent_offset(&media->geometry, position);
        media->bytes[offset + draw % media->geometry.chunk_bytes] ^= (uint8_t)(1u << (draw >> 40) % 8);
        return;
    }
    uint32_t block = (uint32_t)(draw % (media->geometry.chunk_bytes / STRIA_BLOCK_BYTES_MIN));
    overlay(&media->extents[position], (struct run){.start = block * STRIA_BLOCK_BYTES_MIN,
                                                    .end = (block + 1) * STRIA_BLOCK_BYTES_MIN,
                                                    .id = draw});
}
