/* A reader of flattened device trees (Devicetree Specification, chapter 5). Pure; takes hostile bytes.
 * Addresses of a node are those that its parent's bus has: where a bus between it and the root translates
 * them ("ranges" that are not empty), the caller has to. */
#ifndef STRIA_FIRMWARE_DEVICE_TREE_H
#define STRIA_FIRMWARE_DEVICE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIA_DEVICE_TREE_DEPTH_MAX 16u

struct stria_device_tree {
    const uint8_t *structure; /* the structure block, within the caller's bytes */
    uint32_t structure_bytes;
    const uint8_t *strings;
    uint32_t strings_bytes;
    uint32_t total_bytes; /* of the whole tree */
};

/* Bytes from which stria_device_tree_total_bytes() tells a tree's size. */
#define STRIA_DEVICE_TREE_HEADER_BYTES 40u

/* Size of the tree that begins with this header; zero: it is none. For a caller that knows an address only.
 */
uint32_t stria_device_tree_total_bytes(const uint8_t header[STRIA_DEVICE_TREE_HEADER_BYTES]);

/* STRIA_OK, or STRIA_ERR_FORMAT where these bytes are no tree. They stay the caller's and in place. */
int stria_device_tree_open(struct stria_device_tree *tree, const void *bytes, size_t bytes_count);

/* One node, found by a walk. */
struct stria_device_node {
    const char *name;       /* with its unit address; the root's is empty */
    uint32_t offset;        /* of its properties in the structure block */
    uint32_t depth;         /* 0 for the root */
    uint32_t address_cells; /* of the parent: how "reg" is to be read */
    uint32_t size_cells;
};

/* A walk over all nodes, parents first. Begin with all zero. */
struct stria_device_walk {
    uint32_t offset;
    uint32_t depth; /* nodes that are open */
    uint8_t address_cells[STRIA_DEVICE_TREE_DEPTH_MAX + 1];
    uint8_t size_cells[STRIA_DEVICE_TREE_DEPTH_MAX + 1];
};

/* The next node; false at the end, or where the tree is damaged or too deep. */
bool stria_device_walk_next(const struct stria_device_tree *tree, struct stria_device_walk *walk,
                            struct stria_device_node *node);

/* The value of a node's own property, null when it has none. */
const uint8_t *stria_device_property(const struct stria_device_tree *tree,
                                     const struct stria_device_node *node, const char *name, uint32_t *bytes);

/* A property that is a terminated text; null when it is none. */
const char *stria_device_text(const struct stria_device_tree *tree, const struct stria_device_node *node,
                              const char *name);

/* Whether this is among the texts of "compatible". */
bool stria_device_compatible(const struct stria_device_tree *tree, const struct stria_device_node *node,
                             const char *compatible);

/* The first node that is compatible and not disabled; false when there is none. */
bool stria_device_find(const struct stria_device_tree *tree, const char *compatible,
                       struct stria_device_node *node);

/* The first node of this name (unit address apart) right below the root. */
bool stria_device_find_named(const struct stria_device_tree *tree, const char *name,
                             struct stria_device_node *node);

/* A number of one or two cells within a property's value; the caller knows that they are there. */
uint64_t stria_device_cells(const uint8_t *value, uint32_t cells);

/* Address and size number index of "reg". False when there is none, or more cells than 64 bits have. */
bool stria_device_reg(const struct stria_device_tree *tree, const struct stria_device_node *node,
                      uint32_t index, uint64_t *address, uint64_t *bytes);

#endif
