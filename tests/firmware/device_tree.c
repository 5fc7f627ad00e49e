#include "firmware/device_tree.h"

#include "core/code.h"
#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A tree being made: structure and strings, put together by finish(). */
static uint8_t structure[4096], strings[1024], blob[8192];
static uint32_t structure_bytes, strings_bytes, blob_bytes;

static void put(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)(value >> 24);
    out[1] = (uint8_t)(value >> 16);
    out[2] = (uint8_t)(value >> 8);
    out[3] = (uint8_t)value;
}

static void cell(uint32_t value)
{
    put(structure + structure_bytes, value);
    structure_bytes += 4;
}

static void bytes(const void *data, uint32_t count)
{
    memcpy(structure + structure_bytes, data, count);
    structure_bytes += (count + 3) & ~3u;
}

static void begin(const char *name)
{
    cell(1);
    bytes(name, (uint32_t)strlen(name) + 1);
}

static void end(void)
{
    cell(2);
}

static void property(const char *name, const void *value, uint32_t count)
{
    cell(3);
    cell(count);
    cell(strings_bytes);
    memcpy(strings + strings_bytes, name, strlen(name) + 1);
    strings_bytes += (uint32_t)strlen(name) + 1;
    bytes(value, count);
}

static void cells(const char *name, uint32_t count, const uint32_t *values)
{
    uint8_t value[64];
    for (uint32_t index = 0; index < count; index++)
        put(value + 4 * index, values[index]);
    property(name, value, 4 * count);
}

#define CELLS(name, ...)                                                                                     \
    cells(name, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})

static void finish(void)
{
    cell(9);
    const uint32_t at = 56;
    memset(blob, 0, sizeof(blob));
    memcpy(blob + at, structure, structure_bytes);
    memcpy(blob + at + structure_bytes, strings, strings_bytes);
    blob_bytes = at + structure_bytes + strings_bytes;
    const uint32_t header[] = {0xd00dfeed, blob_bytes, at, at + structure_bytes, 40,
                               17,         16,         0,  strings_bytes,        structure_bytes};
    for (unsigned index = 0; index < 10; index++)
        put(blob + 4 * index, header[index]);
}

static void make(void)
{
    structure_bytes = strings_bytes = 0;
    begin("");
    CELLS("#address-cells", 2);
    CELLS("#size-cells", 2);
    begin("memory@40000000");
    property("device_type", "memory", 7);
    CELLS("reg", 0, 0x40000000, 0x1, 0x20000000, 0x8, 0, 0, 0x1000);
    end();
    begin("soc");
    CELLS("#address-cells", 1);
    CELLS("#size-cells", 1);
    begin("serial@9000");
    property("compatible", "vendor,uart\0arm,pl011", 22);
    property("status", "disabled", 9);
    CELLS("reg", 0x9000, 0x100);
    end();
    begin("serial@a000");
    property("compatible", "vendor,uart\0arm,pl011", 22);
    CELLS("reg", 0xa000, 0x100);
    end();
    begin("empty");
    end();
    end();
    begin("chosen");
    property("bootargs", "record", 7);
    property("rng-seed", "12345678", 8);
    end();
    end();
    finish();
}

static struct stria_device_tree opened(void)
{
    struct stria_device_tree tree;
    make();
    cr_assert_eq(stria_device_tree_open(&tree, blob, blob_bytes), STRIA_OK);
    cr_assert_eq(stria_device_tree_total_bytes(blob), blob_bytes);
    return tree;
}

Test(device_tree, reads_addresses_by_the_cells_of_the_parent)
{
    struct stria_device_tree tree = opened();
    struct stria_device_node node;
    uint64_t address, size;
    cr_assert(stria_device_find_named(&tree, "memory", &node));
    cr_assert(stria_device_reg(&tree, &node, 0, &address, &size));
    cr_assert_eq(address, 0x40000000);
    cr_assert_eq(size, 0x120000000);
    cr_assert(stria_device_reg(&tree, &node, 1, &address, &size));
    cr_assert_eq(address, 0x800000000);
    cr_assert(!stria_device_reg(&tree, &node, 2, &address, &size));
    cr_assert(stria_device_find(&tree, "arm,pl011", &node));
    cr_assert(stria_device_reg(&tree, &node, 0, &address, &size));
    cr_assert_eq(address, 0xa000, "the first one is disabled");
    cr_assert_eq(size, 0x100);
}

Test(device_tree, finds_names_below_the_root_alone)
{
    struct stria_device_tree tree = opened();
    struct stria_device_node node;
    cr_assert(stria_device_find_named(&tree, "chosen", &node));
    cr_assert_str_eq(stria_device_text(&tree, &node, "bootargs"), "record");
    cr_assert_null(stria_device_text(&tree, &node, "rng-seed"), "no zero ends it");
    uint32_t count;
    cr_assert_not_null(stria_device_property(&tree, &node, "rng-seed", &count));
    cr_assert_eq(count, 8);
    cr_assert(!stria_device_find_named(&tree, "serial", &node));
    cr_assert(!stria_device_find_named(&tree, "mem", &node));
}

Test(device_tree, walks_every_node_once)
{
    struct stria_device_tree tree = opened();
    struct stria_device_walk walk = {0};
    struct stria_device_node node;
    const char *const wanted[] = {"",      "memory@40000000", "soc", "serial@9000", "serial@a000",
                                  "empty", "chosen"};
    const uint32_t depths[] = {0, 1, 1, 2, 2, 2, 1};
    for (size_t index = 0; index < sizeof(wanted) / sizeof(wanted[0]); index++) {
        cr_assert(stria_device_walk_next(&tree, &walk, &node));
        cr_assert_str_eq(node.name, wanted[index]);
        cr_assert_eq(node.depth, depths[index]);
    }
    cr_assert(!stria_device_walk_next(&tree, &walk, &node));
}

Test(device_tree, a_property_is_not_taken_from_a_child)
{
    struct stria_device_tree tree = opened();
    struct stria_device_walk walk = {0};
    struct stria_device_node node;
    uint32_t count;
    for (unsigned index = 0; index < 3; index++)
        stria_device_walk_next(&tree, &walk, &node);
    cr_assert_str_eq(node.name, "soc");
    cr_assert_null(stria_device_property(&tree, &node, "compatible", &count));
}

Test(device_tree, refuses_what_is_no_tree)
{
    struct stria_device_tree tree;
    make();
    for (uint32_t cut = 0; cut < blob_bytes; cut++)
        cr_assert_eq(stria_device_tree_open(&tree, blob, cut), STRIA_ERR_FORMAT, "%u", cut);
    blob[0] ^= 1;
    cr_assert_eq(stria_device_tree_open(&tree, blob, blob_bytes), STRIA_ERR_FORMAT);
    cr_assert_eq(stria_device_tree_total_bytes(blob), 0);
    make();
    put(blob + 24, 18);
    cr_assert_eq(stria_device_tree_open(&tree, blob, blob_bytes), STRIA_ERR_FORMAT, "a later format");
}

static void use_all(const struct stria_device_tree *tree)
{
    struct stria_device_walk walk = {0};
    struct stria_device_node node;
    uint64_t address, size;
    uint32_t count;
    for (unsigned nodes = 0; stria_device_walk_next(tree, &walk, &node); nodes++) {
        cr_assert(nodes <= tree->structure_bytes / 4, "it ends");
        const uint8_t *value = stria_device_property(tree, &node, "reg", &count);
        cr_assert(!value || value + count <= tree->structure + tree->structure_bytes);
        stria_device_reg(tree, &node, 1, &address, &size);
        stria_device_compatible(tree, &node, "arm,pl011");
        stria_device_text(tree, &node, "bootargs");
    }
    stria_device_find(tree, "arm,pl011", &node);
    stria_device_find_named(tree, "chosen", &node);
}

/* In memory of its own of just that size, so that a sanitizer sees a read beyond it. */
Test(device_tree, hostile_bytes_are_read_within_their_bounds)
{
    struct stria_random random;
    stria_random_seed(&random, 1);
    for (unsigned round = 0; round < 20000; round++) {
        make();
        uint8_t *copy = malloc(blob_bytes);
        memcpy(copy, blob, blob_bytes);
        for (uint64_t count = stria_random_between(&random, 1, 6); count > 0; count--)
            copy[stria_random_below(&random, blob_bytes)] = (uint8_t)stria_random_next(&random);
        struct stria_device_tree tree;
        if (stria_device_tree_open(&tree, copy, blob_bytes) == STRIA_OK)
            use_all(&tree);
        free(copy);
    }
}

Test(device_tree, a_tree_that_is_too_deep_ends_the_walk)
{
    structure_bytes = strings_bytes = 0;
    for (unsigned depth = 0; depth < 40; depth++)
        begin("n");
    finish();
    struct stria_device_tree tree;
    struct stria_device_walk walk = {0};
    struct stria_device_node node;
    unsigned nodes = 0;
    cr_assert_eq(stria_device_tree_open(&tree, blob, blob_bytes), STRIA_OK);
    while (stria_device_walk_next(&tree, &walk, &node))
        nodes++;
    cr_assert_eq(nodes, STRIA_DEVICE_TREE_DEPTH_MAX);
}
