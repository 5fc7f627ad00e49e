#include "core/catalogue_unite.h"

#include "core/assert.h"
#include "core/catalogue_cell.h"
#include "core/digest.h"
#include "core/sort.h"

#include <string.h>

/* One entry of one source, for sorting: what belongs to one recording lies together then, in the order in
 * which it counts, and what says the same side by side. */
struct mention {
    uint64_t recording;
    uint64_t wall_ns;
    uint64_t content; /* digest of what the entry says, wherever it lies */
    uint32_t kind;
    uint32_t source;
    uint32_t index;
};

/* Of several ENDED the last counts: the youngest. */
static bool before(const void *a, const void *b)
{
    const struct mention *left = a, *right = b;
    if (left->recording != right->recording)
        return left->recording < right->recording;
    if (left->kind != right->kind)
        return left->kind < right->kind;
    if (left->wall_ns != right->wall_ns)
        return left->wall_ns < right->wall_ns;
    return left->content < right->content;
}

uint32_t stria_catalogue_cells_used(const struct stria_catalogue *sources, uint32_t source_count)
{
    uint32_t cells = 0;
    for (uint32_t i = 0; i < source_count; i++)
        if (sources[i].image)
            cells += sources[i].count - 1;
    return cells;
}

size_t stria_catalogue_unite_scratch_bytes(const struct stria_catalogue *sources, uint32_t source_count)
{
    return stria_catalogue_cells_used(sources, source_count) * sizeof(struct mention);
}

static size_t list_mentions(const struct stria_catalogue_union *of, struct mention *mentions)
{
    size_t count = 0;
    for (uint32_t i = 0; i < of->source_count; i++) {
        const struct stria_catalogue *source = &of->sources[i];
        for (uint32_t index = 1; source->image && index < source->count; index++) {
            struct stria_catalogue_entry entry;
            if (!stria_catalogue_cell_whole(source, index, &entry))
                continue;
            uint8_t plain[STRIA_CATALOGUE_ENTRY_BYTES];
            stria_catalogue_cell_move(plain, stria_catalogue_cell_at(source, index), 0, 0);
            mentions[count++] = (struct mention){.recording = entry.recording,
                                                 .wall_ns = entry.wall_ns,
                                                 .content = stria_digest_seeded(0, plain, sizeof(plain)),
                                                 .kind = (uint32_t)entry.kind,
                                                 .source = i,
                                                 .index = index};
        }
    }
    stria_sort(mentions, count, sizeof(*mentions), before);
    return count;
}

static void append(const struct stria_catalogue_union *of, const struct mention *mention,
                   struct stria_catalogue *target)
{
    const int index = stria_catalogue_append_cell(
        target, stria_catalogue_cell_at(&of->sources[mention->source], mention->index));
    STRIA_ASSERT(index > 0);
}

/* Keeps a removal, the earliest, as long as somebody may hold the recording without knowing better. */
static void unite_removed(const struct stria_catalogue_union *of, const struct mention *mentions,
                          size_t count, bool needed, struct stria_catalogue *target)
{
    uint32_t living = 0, removed = 0;
    const struct mention *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const bool removal = mentions[i].kind == STRIA_CATALOGUE_REMOVED;
        *(removal ? &removed : &living) |= UINT32_C(1) << mentions[i].source;
        if (removal && !first)
            first = &mentions[i];
    }
    if (first && (needed || (living & ~removed) != 0))
        append(of, first, target);
}

static bool any_removal(const struct mention *mentions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mentions[i].kind == STRIA_CATALOGUE_REMOVED)
            return true;
    return false;
}

/* All that is said of one recording. */
static void unite_recording(const struct stria_catalogue_union *of, const struct mention *mentions,
                            size_t count, bool highest, struct stria_catalogue *target)
{
    if (of->remove != 0 && mentions[0].recording == of->remove) {
        const struct stria_catalogue_entry removed = {
            .kind = STRIA_CATALOGUE_REMOVED, .recording = of->remove, .wall_ns = of->wall_ns};
        const int index = stria_catalogue_append(target, &removed);
        STRIA_ASSERT(index > 0);
        return;
    }
    if (any_removal(mentions, count)) {
        unite_removed(of, mentions, count, of->drive_absent || highest, target);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (i == 0 || before(&mentions[i - 1], &mentions[i]))
            append(of, &mentions[i], target);
}

void stria_catalogue_unite(const struct stria_catalogue_union *of, void *scratch,
                           struct stria_catalogue *target)
{
    struct mention *const mentions = scratch;
    stria_catalogue_begin(target, &of->head, of->wall_ns);
    const size_t count = list_mentions(of, mentions);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && mentions[end].recording == mentions[first].recording;)
            end++;
        /* Where next_recording does not tell it, the highest id must not be forgotten: it would be used
         * again. */
        const bool highest = end == count && mentions[first].recording >= of->head.next_recording;
        unite_recording(of, mentions + first, end - first, highest, target);
    }
}
