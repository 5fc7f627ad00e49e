#include "firmware/device_tree.h"

#include "core/code.h"
#include "firmware/text.h"

#include <string.h>

#define MAGIC        0xd00dfeedu
#define VERSION_LAST 17u /* versions from 16 on can be read by whoever reads 17 */
#define VERSION_MIN  16u

#define BEGIN_NODE 1u
#define END_NODE   2u
#define PROPERTY   3u
#define NOP        4u

#define CELL_BYTES 4u

static uint32_t load(const uint8_t *in)
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

uint32_t stria_device_tree_total_bytes(const uint8_t header[STRIA_DEVICE_TREE_HEADER_BYTES])
{
    return load(header) == MAGIC ? load(header + 4) : 0;
}

int stria_device_tree_open(struct stria_device_tree *tree, const void *bytes, size_t bytes_count)
{
    const uint8_t *in = bytes;
    if (bytes_count < STRIA_DEVICE_TREE_HEADER_BYTES)
        return STRIA_ERR_FORMAT;
    const uint32_t total = stria_device_tree_total_bytes(in);
    if (total < STRIA_DEVICE_TREE_HEADER_BYTES || total > bytes_count || load(in + 20) < VERSION_MIN ||
        load(in + 24) > VERSION_LAST)
        return STRIA_ERR_FORMAT;
    const uint32_t structure = load(in + 8), strings = load(in + 12);
    const uint32_t strings_bytes = load(in + 32), structure_bytes = load(in + 36);
    if (structure > total || structure_bytes > total - structure || structure % CELL_BYTES != 0 ||
        strings > total || strings_bytes > total - strings)
        return STRIA_ERR_FORMAT;
    *tree = (struct stria_device_tree){.structure = in + structure,
                                       .structure_bytes = structure_bytes,
                                       .strings = in + strings,
                                       .strings_bytes = strings_bytes,
                                       .total_bytes = total};
    return STRIA_OK;
}

/* One item of the structure block. */
struct token {
    uint32_t kind;
    uint32_t next;    /* offset of the token behind it */
    const char *name; /* BEGIN_NODE, PROPERTY: terminated */
    const uint8_t *value;
    uint32_t bytes; /* PROPERTY: of value */
};

static const char *terminated(const uint8_t *start, uint32_t bytes_max)
{
    for (uint32_t length = 0; length < bytes_max; length++)
        if (start[length] == '\0')
            return (const char *)start;
    return NULL;
}

static uint32_t padded(uint32_t bytes)
{
    return (bytes + CELL_BYTES - 1) & ~(CELL_BYTES - 1);
}

/* False at the end of the block, and where what is there makes no sense. */
static bool read_token(const struct stria_device_tree *tree, uint32_t offset, struct token *token)
{
    uint32_t left = offset <= tree->structure_bytes ? tree->structure_bytes - offset : 0;
    const uint8_t *in = tree->structure + offset;
    if (left < CELL_BYTES)
        return false;
    *token = (struct token){.kind = load(in), .next = offset + CELL_BYTES};
    left -= CELL_BYTES;
    if (token->kind == END_NODE || token->kind == NOP)
        return true;
    if (token->kind == BEGIN_NODE) {
        token->name = terminated(in + CELL_BYTES, left);
        if (!token->name)
            return false;
        token->next += padded((uint32_t)stria_text_length(token->name) + 1);
        return true;
    }
    if (token->kind != PROPERTY || left < 2 * CELL_BYTES)
        return false;
    token->bytes = load(in + CELL_BYTES);
    const uint32_t name = load(in + 2 * CELL_BYTES);
    token->value = in + 3 * CELL_BYTES;
    if (token->bytes > left - 2 * CELL_BYTES || name >= tree->strings_bytes)
        return false;
    token->name = terminated(tree->strings + name, tree->strings_bytes - name);
    token->next += 2 * CELL_BYTES + padded(token->bytes);
    return token->name != NULL;
}

static void note_cells(struct stria_device_walk *walk, const struct token *token)
{
    if (walk->depth == 0 || token->bytes != CELL_BYTES)
        return;
    const uint32_t cells = load(token->value);
    const uint8_t kept = cells < UINT8_MAX ? (uint8_t)cells : UINT8_MAX;
    if (stria_text_equal(token->name, "#address-cells"))
        walk->address_cells[walk->depth] = kept;
    else if (stria_text_equal(token->name, "#size-cells"))
        walk->size_cells[walk->depth] = kept;
}

bool stria_device_walk_next(const struct stria_device_tree *tree, struct stria_device_walk *walk,
                            struct stria_device_node *node)
{
    struct token token;
    while (read_token(tree, walk->offset, &token)) {
        walk->offset = token.next;
        if (token.kind == PROPERTY)
            note_cells(walk, &token);
        if (token.kind == END_NODE) {
            if (walk->depth == 0)
                return false;
            walk->depth--;
        }
        if (token.kind != BEGIN_NODE)
            continue;
        if (walk->depth == STRIA_DEVICE_TREE_DEPTH_MAX)
            return false;
        *node = (struct stria_device_node){.name = token.name,
                                           .offset = token.next,
                                           .depth = walk->depth,
                                           .address_cells = walk->address_cells[walk->depth],
                                           .size_cells = walk->size_cells[walk->depth]};
        walk->depth++;
        /* What the specification has a bus without these properties mean. */
        walk->address_cells[walk->depth] = 2;
        walk->size_cells[walk->depth] = 1;
        return true;
    }
    return false;
}

const uint8_t *stria_device_property(const struct stria_device_tree *tree,
                                     const struct stria_device_node *node, const char *name, uint32_t *bytes)
{
    struct token token;
    for (uint32_t offset = node->offset; read_token(tree, offset, &token); offset = token.next) {
        if (token.kind == BEGIN_NODE || token.kind == END_NODE)
            return NULL;
        if (token.kind != PROPERTY || !stria_text_equal(token.name, name))
            continue;
        *bytes = token.bytes;
        return token.value;
    }
    return NULL;
}

const char *stria_device_text(const struct stria_device_tree *tree, const struct stria_device_node *node,
                              const char *name)
{
    uint32_t bytes;
    const uint8_t *value = stria_device_property(tree, node, name, &bytes);
    return value ? terminated(value, bytes) : NULL;
}

bool stria_device_compatible(const struct stria_device_tree *tree, const struct stria_device_node *node,
                             const char *compatible)
{
    uint32_t bytes;
    const uint8_t *value = stria_device_property(tree, node, "compatible", &bytes);
    while (value && bytes > 0) {
        const char *text = terminated(value, bytes);
        if (!text)
            return false;
        if (stria_text_equal(text, compatible))
            return true;
        const uint32_t used = (uint32_t)stria_text_length(text) + 1;
        value += used;
        bytes -= used;
    }
    return false;
}

static bool disabled(const struct stria_device_tree *tree, const struct stria_device_node *node)
{
    const char *status = stria_device_text(tree, node, "status");
    return status && !stria_text_equal(status, "okay") && !stria_text_equal(status, "ok");
}

bool stria_device_find(const struct stria_device_tree *tree, const char *compatible,
                       struct stria_device_node *node)
{
    struct stria_device_walk walk = {0};
    while (stria_device_walk_next(tree, &walk, node))
        if (stria_device_compatible(tree, node, compatible) && !disabled(tree, node))
            return true;
    return false;
}

static bool is_named(const struct stria_device_node *node, const char *name)
{
    const size_t length = stria_text_length(name);
    return stria_text_length(node->name) >= length && memcmp(node->name, name, length) == 0 &&
           (node->name[length] == '\0' || node->name[length] == '@');
}

bool stria_device_find_named(const struct stria_device_tree *tree, const char *name,
                             struct stria_device_node *node)
{
    struct stria_device_walk walk = {0};
    while (stria_device_walk_next(tree, &walk, node))
        if (node->depth == 1 && is_named(node, name))
            return true;
    return false;
}

uint64_t stria_device_cells(const uint8_t *value, uint32_t cells)
{
    return cells == 1 ? load(value) : (uint64_t)load(value) << 32 | load(value + CELL_BYTES);
}

bool stria_device_reg(const struct stria_device_tree *tree, const struct stria_device_node *node,
                      uint32_t index, uint64_t *address, uint64_t *bytes)
{
    uint32_t length;
    const uint8_t *value = stria_device_property(tree, node, "reg", &length);
    if (!value || node->address_cells < 1 || node->address_cells > 2 || node->size_cells < 1 ||
        node->size_cells > 2)
        return false;
    const uint32_t entry = (node->address_cells + node->size_cells) * CELL_BYTES;
    if (index >= length / entry)
        return false;
    value += index * entry;
    *address = stria_device_cells(value, node->address_cells);
    *bytes = stria_device_cells(value + node->address_cells * CELL_BYTES, node->size_cells);
    return true;
}
