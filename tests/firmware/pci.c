#include "firmware/pci.h"

#include <criterion/criterion.h>
#include <string.h>

/* A tree of functions that decode configuration space as the specification has it. */
#define FUNCTIONS_MAX 24
#define NOBODY        (-1)

struct bar {
    uint64_t bytes; /* zero: none */
    bool wide, io;
};

struct function {
    int parent; /* the bridge above, or NOBODY: on the root bus */
    uint32_t device, number;
    uint32_t class_code;
    bool bridge, multiple, port;
    struct bar bars[6];
    uint32_t registers[64];
};

static struct function functions[FUNCTIONS_MAX];
static int function_count;
static unsigned asked_beyond_port;

static uint8_t bus_of(int parent)
{
    return parent == NOBODY ? 0 : (uint8_t)(functions[parent].registers[6] >> 8);
}

/* Whether a bridge, and all above it, pass a bus number on. */
static bool passes(int bridge, uint8_t bus)
{
    for (; bridge != NOBODY; bridge = functions[bridge].parent) {
        const uint32_t buses = functions[bridge].registers[6];
        if (bus < (uint8_t)(buses >> 8) || bus > (uint8_t)(buses >> 16))
            return false;
    }
    return true;
}

static struct function *at(uint32_t offset)
{
    const uint8_t bus = (uint8_t)(offset >> 20);
    for (int index = 0; index < function_count; index++) {
        struct function *function = &functions[index];
        if (bus_of(function->parent) != bus || (function->parent != NOBODY && bus == 0) ||
            !passes(function->parent, bus))
            continue;
        if (function->parent != NOBODY && functions[function->parent].port && (offset >> 15 & 31) > 0)
            asked_beyond_port++;
        if (function->device == (offset >> 15 & 31) && function->number == (offset >> 12 & 7))
            return function;
    }
    return NULL;
}

static uint32_t read(void *context, uint32_t offset)
{
    (void)context;
    const struct function *function = at(offset);
    return function ? function->registers[offset >> 2 & 63] : UINT32_MAX;
}

static void write_bar(struct function *function, uint32_t bar, uint32_t value)
{
    const struct bar *it = &function->bars[bar];
    uint32_t *stored = &function->registers[4 + bar];
    if (bar > 0 && function->bars[bar - 1].wide)
        *stored = value & (uint32_t)(~(function->bars[bar - 1].bytes - 1) >> 32);
    else if (it->io)
        *stored = (value & ~(uint32_t)(it->bytes - 1)) | 1;
    else if (it->bytes)
        *stored = (value & ~(uint32_t)(it->bytes - 1)) | (it->wide ? 4 : 0);
}

static void write(void *context, uint32_t offset, uint32_t value)
{
    (void)context;
    struct function *function = at(offset);
    const uint32_t number = offset >> 2 & 63;
    if (!function || number == 0 || number == 2)
        return;
    if (number >= 4 && number < (function->bridge ? 6u : 10u))
        write_bar(function, number - 4, value);
    else if (number == 1)
        function->registers[1] = (function->registers[1] & 0xffff0000) | (value & 0xffff);
    else
        function->registers[number] = value;
}

static struct stria_pci_root root = {.access = {NULL, read, write},
                                     .bus_last = 15,
                                     .window_address = 0x10000000,
                                     .window_bytes = 0x01000000,
                                     .window_offset = 0x400000000};

static int add(int parent, uint32_t device, uint32_t class_code)
{
    struct function *function = &functions[function_count];
    *function = (struct function){.parent = parent, .device = device, .class_code = class_code};
    function->bridge = class_code == STRIA_PCI_CLASS_BRIDGE;
    function->registers[0] = 0x00101b36;
    function->registers[2] = class_code << 8;
    function->registers[3] = function->bridge ? 1u << 16 : 0;
    return function_count++;
}

static int add_drive(int parent, uint32_t device)
{
    int index = add(parent, device, STRIA_PCI_CLASS_NVME);
    functions[index].bars[0] = (struct bar){.bytes = 16384, .wide = true};
    write_bar(&functions[index], 0, 0);
    return index;
}

static void make_port(int index)
{
    functions[index].port = true;
    functions[index].registers[1] |= 1u << 20;
    functions[index].registers[13] = 0x40;
    functions[index].registers[16] = 0x10u | 4u << 20;
    functions[index].registers[20] = (3u | 4u << 4) << 16;
}

static struct stria_pci_function found[FUNCTIONS_MAX];

static uint32_t enumerate(bool *exhausted)
{
    return stria_pci_enumerate(&root, found, FUNCTIONS_MAX, exhausted);
}

static uint64_t window_start(int bridge)
{
    return (uint64_t)(functions[bridge].registers[8] & 0xfff0) << 16;
}

static uint64_t window_end(int bridge)
{
    return ((uint64_t)(functions[bridge].registers[8] >> 16 & 0xfff0) << 16) + 0x100000;
}

static uint64_t address_of(int index)
{
    return (functions[index].registers[4] & ~15u) | (uint64_t)functions[index].registers[5] << 32;
}

Test(pci, gives_every_bar_an_aligned_place_of_its_own)
{
    int a = add_drive(NOBODY, 1), b = add_drive(NOBODY, 2), c = add(NOBODY, 3, 0x020000);
    functions[c].bars[0] = (struct bar){.bytes = 32, .io = true};
    functions[c].bars[1] = (struct bar){.bytes = 1 << 20};
    functions[c].bars[2] = (struct bar){.bytes = 4096, .wide = true};
    for (unsigned bar = 0; bar < 4; bar++)
        write_bar(&functions[c], bar, 0);
    bool exhausted;
    cr_assert_eq(enumerate(&exhausted), 3);
    cr_assert(!exhausted);
    cr_assert_eq(address_of(a), 0x10000000);
    cr_assert_eq(address_of(b), 0x10004000);
    cr_assert_eq(found[0].bar_address[0], 0x410000000, "as the processor sees it");
    cr_assert_eq(found[0].bar_bytes[0], 16384);
    cr_assert_eq(found[2].bar_bytes[0], 0, "I/O is left alone");
    cr_assert_eq(functions[c].registers[5] & ~15u, 0x10100000, "aligned to its size");
    cr_assert_eq(found[2].bar_bytes[1], 1 << 20);
    cr_assert_eq(found[2].bar_bytes[2], 4096);
    cr_assert_eq(functions[a].registers[1] & 7, 2, "memory is on, mastering not yet");
}

Test(pci, masters_only_what_it_is_told_to)
{
    int a = add_drive(NOBODY, 1);
    functions[a].registers[1] |= 0xf9000000;
    bool exhausted;
    enumerate(&exhausted);
    stria_pci_set_master(&root, &found[0], true);
    cr_assert_eq(functions[a].registers[1] & 7, 6);
    stria_pci_set_master(&root, &found[0], false);
    cr_assert_eq(functions[a].registers[1] & 7, 2);
}

Test(pci, gives_bridges_numbers_and_windows_around_what_is_behind_them)
{
    int port0 = add(NOBODY, 1, STRIA_PCI_CLASS_BRIDGE), port1 = add(NOBODY, 2, STRIA_PCI_CLASS_BRIDGE);
    int empty = add(NOBODY, 3, STRIA_PCI_CLASS_BRIDGE);
    make_port(port0);
    make_port(port1);
    make_port(empty);
    int a = add_drive(port0, 0);
    int up = add(port1, 0, STRIA_PCI_CLASS_BRIDGE);
    int down0 = add(up, 0, STRIA_PCI_CLASS_BRIDGE), down1 = add(up, 5, STRIA_PCI_CLASS_BRIDGE);
    make_port(down0);
    make_port(down1);
    int b = add_drive(down0, 0), c = add_drive(down1, 0);
    bool exhausted;
    cr_assert_eq(enumerate(&exhausted), 9);
    cr_assert(!exhausted);
    cr_assert_eq(asked_beyond_port, 0, "a link has one device");
    const int above[][2] = {{a, port0}, {b, down0}, {b, up}, {b, port1}, {c, down1}, {c, up}, {c, port1}};
    for (size_t index = 0; index < sizeof(above) / sizeof(above[0]); index++) {
        const uint64_t address = address_of(above[index][0]);
        cr_assert_geq(address, window_start(above[index][1]));
        cr_assert_leq(address + 16384, window_end(above[index][1]));
    }
    cr_assert_leq(window_end(port0), window_start(port1));
    cr_assert_leq(window_end(down0), window_start(down1));
    cr_assert_gt(window_start(empty), window_end(empty), "nothing is forwarded to nobody");
    cr_assert_eq(functions[port1].registers[6] & 0xffffff, 0x050200);
    cr_assert_eq(functions[down1].registers[6] & 0xffffff, 0x050503);
    cr_assert_eq(functions[port1].registers[1] & 6, 6, "bridges forward both ways");
    cr_assert_eq(found[0].link_speed, 3);
    cr_assert_eq(found[0].link_lanes, 4);
    cr_assert_eq(found[1].depth, 1);
}

Test(pci, looks_at_further_functions_only_where_there_may_be_some)
{
    int a = add_drive(NOBODY, 1), b = add_drive(NOBODY, 1), ghost = add_drive(NOBODY, 2);
    functions[b].number = 3;
    functions[ghost].number = 1;
    functions[a].registers[3] |= 1u << 23;
    bool exhausted;
    cr_assert_eq(enumerate(&exhausted), 2, "a function 1 without a function 0 is not there");
}

Test(pci, says_when_the_window_is_too_small)
{
    for (uint32_t device = 1; device < 6; device++) {
        int index = add(NOBODY, device, 0x020000);
        functions[index].bars[0] = (struct bar){.bytes = 4 << 20};
        write_bar(&functions[index], 0, 0);
    }
    bool exhausted;
    cr_assert_eq(enumerate(&exhausted), 5);
    cr_assert(exhausted);
    cr_assert(found[3].placed);
    cr_assert(!found[4].placed);
    cr_assert_eq(functions[4].registers[1] & 2, 0, "what has no place must not answer");
}

Test(pci, runs_out_of_bus_numbers_in_order)
{
    root.bus_last = 2;
    int above = NOBODY;
    for (unsigned depth = 0; depth < 5; depth++)
        above = add(above, 0, STRIA_PCI_CLASS_BRIDGE);
    bool exhausted;
    cr_assert_eq(enumerate(&exhausted), 3);
    cr_assert(exhausted);
}

Test(pci, a_chain_of_bridges_ends)
{
    root.bus_last = 255;
    int above = NOBODY;
    for (unsigned depth = 0; depth < 20; depth++)
        above = add(above, 0, STRIA_PCI_CLASS_BRIDGE);
    bool exhausted;
    cr_assert_eq(enumerate(&exhausted), STRIA_PCI_DEPTH_MAX);
    cr_assert(exhausted);
}

Test(pci, a_list_of_capabilities_that_bites_its_tail_ends)
{
    int a = add_drive(NOBODY, 1);
    functions[a].registers[1] |= 1u << 20;
    functions[a].registers[13] = 0x40;
    functions[a].registers[16] = 0x4005;
    bool exhausted;
    cr_assert_eq(enumerate(&exhausted), 1);
    cr_assert_eq(found[0].link_lanes, 0);
}

Test(pci, lists_no_more_than_there_is_room_for_but_sets_up_all)
{
    int a = add_drive(NOBODY, 1), b = add_drive(NOBODY, 2);
    struct stria_pci_function one[1];
    bool exhausted;
    cr_assert_eq(stria_pci_enumerate(&root, one, 1, &exhausted), 2);
    cr_assert_neq(address_of(a), 0);
    cr_assert_neq(address_of(b), 0);
}
