#include "firmware/pci.h"

#include "core/bits.h"

/* PCI Local Bus 3.0, chapter 6; PCI-to-PCI Bridge 1.2, chapter 3; PCI Express Base, chapter 7. */
#define REGISTER_ID         0x00u
#define REGISTER_COMMAND    0x04u
#define REGISTER_CLASS      0x08u
#define REGISTER_HEADER     0x0cu
#define REGISTER_BAR        0x10u
#define REGISTER_BUSES      0x18u
#define REGISTER_IO         0x1cu
#define REGISTER_MEMORY     0x20u
#define REGISTER_PREFETCH   0x24u
#define REGISTER_CAPABILITY 0x34u

#define COMMAND_MEMORY  (1u << 1)
#define COMMAND_MASTER  (1u << 2)
#define COMMAND_NO_INTX (1u << 10)
#define COMMAND_BITS    0xffffu /* above is the status, whose bits are cleared by writing ones */
#define STATUS_LIST     (1u << 20)

#define HEADER_TYPE_BRIDGE 1u
#define HEADER_MULTIPLE    (1u << 23)

#define BAR_IO         1u
#define BAR_WIDE       4u
#define BAR_WIDTH_MASK 6u
#define BAR_FLAGS      0xfu

#define CAPABILITY_EXPRESS 0x10u
#define EXPRESS_LINK       0x10u /* link control, and link status in the upper half */
#define EXPRESS_PORT_ROOT  4u    /* of the port types in bits 20 to 23 of the capability's head */
#define EXPRESS_PORT_DOWN  6u
#define CAPABILITIES_MAX   48u

#define BRIDGE_UNIT ((uint64_t)1 << 20)

#define DEVICES   32u
#define FUNCTIONS 8u

struct scan {
    const struct stria_pci_root *root;
    struct stria_pci_function *functions;
    uint32_t capacity, count;
    uint8_t bus_next;
    bool buses_left;
    uint64_t cursor; /* next free address of the window, as devices see it */
    bool exhausted;
};

static uint32_t get(const struct scan *scan, uint32_t offset)
{
    return scan->root->access.read(scan->root->access.context, offset);
}

static void set(const struct scan *scan, uint32_t offset, uint32_t value)
{
    scan->root->access.write(scan->root->access.context, offset, value);
}

static void set_command(const struct stria_pci_root *root, uint32_t function, uint32_t bits, bool on)
{
    const struct stria_pci_access *access = &root->access;
    uint32_t command = access->read(access->context, function + REGISTER_COMMAND) & COMMAND_BITS;
    command = on ? command | bits : command & ~bits;
    access->write(access->context, function + REGISTER_COMMAND, command);
}

/* An aligned piece of the window; zero when there is none left. */
static uint64_t take(struct scan *scan, uint64_t bytes)
{
    const uint64_t end = scan->root->window_address + scan->root->window_bytes;
    const uint64_t start = stria_align_up(scan->cursor, bytes);
    if (start < scan->cursor || start > end || bytes > end - start) {
        scan->exhausted = true;
        return 0;
    }
    scan->cursor = start + bytes;
    return start;
}

/* How many bytes a memory BAR asks for; zero when it is not there. Its function does not decode meanwhile. */
static uint64_t size_bar(const struct scan *scan, uint32_t offset, bool wide)
{
    set(scan, offset, UINT32_MAX);
    uint64_t mask = get(scan, offset) & ~BAR_FLAGS;
    if (mask == 0 && !wide)
        return 0;
    if (wide) {
        set(scan, offset + 4, UINT32_MAX);
        mask |= (uint64_t)get(scan, offset + 4) << 32;
    } else {
        mask |= (uint64_t)UINT32_MAX << 32;
    }
    return mask == 0 ? 0 : ~mask + 1;
}

/* False when a memory BAR got no address. */
static bool place_bars(struct scan *scan, struct stria_pci_function *function, uint32_t bar_count)
{
    bool placed = true;
    for (uint32_t bar = 0; bar < bar_count; bar++) {
        const uint32_t offset = function->offset + REGISTER_BAR + 4 * bar;
        const uint32_t flags = get(scan, offset);
        const bool wide = (flags & (BAR_IO | BAR_WIDTH_MASK)) == BAR_WIDE && bar + 1 < bar_count;
        if (flags & BAR_IO)
            continue;
        const uint64_t bytes = size_bar(scan, offset, wide);
        const uint64_t address = bytes > 0 && stria_is_power_of_two(bytes) ? take(scan, bytes) : 0;
        set(scan, offset, (uint32_t)address);
        if (wide)
            set(scan, offset + 4, (uint32_t)(address >> 32));
        if (address != 0) {
            function->bar_address[bar] = address + scan->root->window_offset;
            function->bar_bytes[bar] = bytes;
        }
        placed &= address != 0 || bytes == 0;
        bar += wide;
    }
    return placed;
}

static void read_express(const struct scan *scan, struct stria_pci_function *function)
{
    if (!(get(scan, function->offset + REGISTER_COMMAND) & STATUS_LIST))
        return;
    uint32_t at = get(scan, function->offset + REGISTER_CAPABILITY) & 0xfcu;
    /* A list that bites its tail must end too. */
    for (uint32_t seen = 0; at != 0 && seen < CAPABILITIES_MAX; seen++) {
        const uint32_t head = get(scan, function->offset + at);
        if ((head & 0xff) == CAPABILITY_EXPRESS && at + EXPRESS_LINK < 0x100) {
            const uint32_t status = get(scan, function->offset + at + EXPRESS_LINK) >> 16;
            function->link_speed = status & 0xf;
            function->link_lanes = status >> 4 & 0x3f;
            function->is_port =
                (head >> 20 & 0xf) == EXPRESS_PORT_ROOT || (head >> 20 & 0xf) == EXPRESS_PORT_DOWN;
            return;
        }
        at = head >> 8 & 0xfcu;
    }
}

static struct stria_pci_function *list(struct scan *scan, const struct stria_pci_function *function)
{
    struct stria_pci_function *listed = scan->count < scan->capacity ? &scan->functions[scan->count] : NULL;
    scan->count++;
    if (listed)
        *listed = *function;
    return listed;
}

static void scan_bus(struct scan *scan, uint8_t bus, uint8_t depth, uint32_t devices);

static uint32_t window_of(uint64_t start, uint64_t end)
{
    return (uint32_t)(start >> 16 & 0xfff0) | ((uint32_t)((end - 1) >> 16 & 0xfff0) << 16);
}

/* A bridge whose base lies above its limit forwards nothing. */
#define WINDOW_NONE 0x0000fff0u

static void scan_bridge(struct scan *scan, const struct stria_pci_function *bridge, uint8_t bus)
{
    if (!scan->buses_left || bridge->depth + 1u >= STRIA_PCI_DEPTH_MAX) {
        scan->exhausted = true;
        return;
    }
    const uint8_t secondary = scan->bus_next;
    scan->buses_left = secondary < scan->root->bus_last;
    scan->bus_next += scan->buses_left;
    /* Until it is known what is behind it, the bridge passes all numbers on. */
    set(scan, bridge->offset + REGISTER_BUSES,
        bus | (uint32_t)secondary << 8 | (uint32_t)scan->root->bus_last << 16);
    const uint64_t before = scan->cursor;
    const uint64_t start = stria_align_up(before, BRIDGE_UNIT);
    scan->cursor = start;
    /* A link has one device at its other end; to ask for others is an error on some roots. */
    scan_bus(scan, secondary, (uint8_t)(bridge->depth + 1), bridge->is_port ? 1 : DEVICES);
    const bool used = scan->cursor > start;
    scan->cursor = used ? stria_align_up(scan->cursor, BRIDGE_UNIT) : before;
    const uint8_t subordinate = scan->buses_left ? (uint8_t)(scan->bus_next - 1) : scan->root->bus_last;
    set(scan, bridge->offset + REGISTER_BUSES, bus | (uint32_t)secondary << 8 | (uint32_t)subordinate << 16);
    set(scan, bridge->offset + REGISTER_MEMORY, used ? window_of(start, scan->cursor) : WINDOW_NONE);
    set(scan, bridge->offset + REGISTER_PREFETCH, WINDOW_NONE);
    set(scan, bridge->offset + REGISTER_IO, 0x00f0);
    set_command(scan->root, bridge->offset, COMMAND_MEMORY | COMMAND_MASTER, true);
}

/* True if the device has further functions. */
static bool scan_function(struct scan *scan, uint32_t offset, uint8_t bus, uint8_t depth)
{
    const uint32_t id = get(scan, offset + REGISTER_ID);
    if ((id & 0xffff) == 0xffff)
        return false;
    const uint32_t header = get(scan, offset + REGISTER_HEADER);
    const bool is_bridge = (header >> 16 & 0x7f) == HEADER_TYPE_BRIDGE;
    struct stria_pci_function function = {.offset = offset,
                                          .vendor = (uint16_t)id,
                                          .device = (uint16_t)(id >> 16),
                                          .class_code = get(scan, offset + REGISTER_CLASS) >> 8,
                                          .depth = depth};
    set_command(scan->root, offset, COMMAND_MEMORY | COMMAND_MASTER, false);
    set_command(scan->root, offset, COMMAND_NO_INTX, true);
    function.placed = place_bars(scan, &function, is_bridge ? 2 : STRIA_PCI_BARS_MAX);
    read_express(scan, &function);
    if (function.placed)
        set_command(scan->root, offset, COMMAND_MEMORY, true);
    list(scan, &function);
    if (is_bridge)
        scan_bridge(scan, &function, bus);
    return header & HEADER_MULTIPLE;
}

static void scan_bus(struct scan *scan, uint8_t bus, uint8_t depth, uint32_t devices)
{
    for (uint32_t device = 0; device < devices; device++) {
        const uint32_t offset = (uint32_t)(bus - scan->root->bus_first) << 20 | device << 15;
        const bool more = scan_function(scan, offset, bus, depth);
        for (uint32_t function = 1; more && function < FUNCTIONS; function++)
            scan_function(scan, offset | function << 12, bus, depth);
    }
}

uint32_t stria_pci_enumerate(const struct stria_pci_root *root, struct stria_pci_function *functions,
                             uint32_t capacity, bool *exhausted)
{
    /* An address of zero stands for none. */
    struct scan scan = {.root = root,
                        .functions = functions,
                        .capacity = capacity,
                        .bus_next = (uint8_t)(root->bus_first + 1),
                        .buses_left = root->bus_last > root->bus_first,
                        .cursor = root->window_address > 0 ? root->window_address : BRIDGE_UNIT};
    scan_bus(&scan, root->bus_first, 0, DEVICES);
    *exhausted = scan.exhausted;
    return scan.count;
}

void stria_pci_set_master(const struct stria_pci_root *root, const struct stria_pci_function *function,
                          bool on)
{
    set_command(root, function->offset, COMMAND_MASTER, on);
}
