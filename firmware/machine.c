#include "firmware/machine.h"

#include "core/code.h"
#include "core/digest.h"
#include "firmware/console.h"
#include "firmware/layout.h"
#include "firmware/mmu.h"
#include "firmware/processor.h"

#define NS_PER_S UINT64_C(1000000000)

/* "ranges" of a PCI bus (IEEE 1275, PCI Bus Binding): three cells of the child's address, of which the first
 * has the space, then the parent's address, then two cells of size. */
#define CELL_BYTES          4u
#define PCI_CHILD_CELLS     3u
#define PCI_SIZE_CELLS      2u
#define PCI_SPACE(flags)    ((flags) >> 24 & 3)
#define PCI_SPACE_MEMORY_32 2u

static bool read_memory(struct stria_machine *machine)
{
    struct stria_device_node node;
    if (!stria_device_find_named(&machine->tree, "memory", &node) ||
        !stria_device_reg(&machine->tree, &node, 0, &machine->memory_start, &machine->memory_bytes)) {
        stria_console_say("stria: the device tree names no memory");
        return false;
    }
    const uint64_t end = (uint64_t)(uintptr_t)stria_arena_end;
    if ((uint64_t)(uintptr_t)stria_code_start < machine->memory_start ||
        end - machine->memory_start > machine->memory_bytes) {
        stria_console_say(
            "stria: the image wants memory up to 0x%lx, but there are only %lu MiB from 0x%lx on: "
            "give the machine more, or build with a smaller STRIA_FIRMWARE_ARENA_MIB",
            (unsigned long)end, (unsigned long)(machine->memory_bytes >> 20),
            (unsigned long)machine->memory_start);
        return false;
    }
    return true;
}

static uint64_t registers_of(const struct stria_device_tree *tree, const char *compatible)
{
    struct stria_device_node node;
    uint64_t address = 0, bytes;
    if (!stria_device_find(tree, compatible, &node) || !stria_device_reg(tree, &node, 0, &address, &bytes))
        return 0;
    return address;
}

static void read_chosen(struct stria_machine *machine)
{
    struct stria_device_node node;
    machine->options = "";
    if (!stria_device_find_named(&machine->tree, "chosen", &node))
        return;
    const char *options = stria_device_text(&machine->tree, &node, "bootargs");
    if (options)
        machine->options = options;
    machine->seed = stria_device_property(&machine->tree, &node, "rng-seed", &machine->seed_bytes);
}

/* The largest window of memory below 4 GiB: what NVMe controllers behind bridges must lie in. */
static void read_windows(struct stria_machine *machine, const struct stria_device_node *node)
{
    uint32_t bytes;
    const uint8_t *ranges = stria_device_property(&machine->tree, node, "ranges", &bytes);
    const uint32_t entry_cells = PCI_CHILD_CELLS + node->address_cells + PCI_SIZE_CELLS;
    if (!ranges || node->address_cells < 1 || node->address_cells > 2)
        return;
    for (; bytes >= entry_cells * CELL_BYTES;
         bytes -= entry_cells * CELL_BYTES, ranges += entry_cells * CELL_BYTES) {
        const uint64_t flags = stria_device_cells(ranges, 1);
        const uint64_t child = stria_device_cells(ranges + CELL_BYTES, 2);
        const uint8_t *behind = ranges + PCI_CHILD_CELLS * CELL_BYTES;
        const uint64_t parent = stria_device_cells(behind, node->address_cells);
        const uint64_t size = stria_device_cells(behind + node->address_cells * CELL_BYTES, 2);
        if (PCI_SPACE(flags) != PCI_SPACE_MEMORY_32 || size <= machine->root.window_bytes ||
            child + size > (uint64_t)1 << 32)
            continue;
        machine->root.window_address = child;
        machine->root.window_bytes = size;
        machine->root.window_offset = parent - child;
    }
}

static uint32_t read_configuration(void *context, uint32_t offset)
{
    const struct stria_machine *machine = context;
    return offset < machine->ecam_bytes ? stria_read_u32(machine->ecam + offset) : UINT32_MAX;
}

static void write_configuration(void *context, uint32_t offset, uint32_t value)
{
    const struct stria_machine *machine = context;
    if (offset < machine->ecam_bytes)
        stria_write_u32(machine->ecam + offset, value);
}

static void read_root(struct stria_machine *machine)
{
    struct stria_device_node node;
    uint32_t bytes;
    if (!stria_device_find(&machine->tree, "pci-host-ecam-generic", &node) ||
        !stria_device_reg(&machine->tree, &node, 0, &machine->ecam, &machine->ecam_bytes))
        return;
    machine->root.access = (struct stria_pci_access){
        .context = machine, .read = read_configuration, .write = write_configuration};
    machine->root.bus_last = (uint8_t)((machine->ecam_bytes >> 20) - 1);
    const uint8_t *buses = stria_device_property(&machine->tree, &node, "bus-range", &bytes);
    if (buses && bytes == 2 * CELL_BYTES) {
        machine->root.bus_first = (uint8_t)stria_device_cells(buses, 1);
        machine->root.bus_last = (uint8_t)stria_device_cells(buses + CELL_BYTES, 1);
    }
    machine->coherent = stria_device_property(&machine->tree, &node, "dma-coherent", &bytes) != NULL;
    read_windows(machine, &node);
}

bool stria_machine_read(struct stria_machine *machine, const void *tree)
{
    *machine = (struct stria_machine){0};
    const uint32_t bytes = stria_device_tree_total_bytes(tree);
    if (bytes == 0 || stria_device_tree_open(&machine->tree, tree, bytes) != STRIA_OK) {
        stria_console_say("stria: no device tree at 0x%lx", (unsigned long)(uintptr_t)tree);
        return false;
    }
    machine->console = registers_of(&machine->tree, "arm,pl011");
    stria_console_use(machine->console);
    machine->calendar = registers_of(&machine->tree, "arm,pl031");
    if (machine->calendar)
        machine->wall_start_ns = stria_read_u32(machine->calendar) * NS_PER_S - stria_clock_ns();
    read_chosen(machine);
    read_root(machine);
    return read_memory(machine);
}

static int map_all(const struct stria_machine *machine)
{
    const uint64_t code = (uint64_t)(uintptr_t)stria_code_start;
    int code_of = stria_mmu_map(machine->memory_start, machine->memory_bytes, STRIA_MMU_MEMORY);
    if (code_of == STRIA_OK)
        code_of = stria_mmu_map(code, (uint64_t)(uintptr_t)stria_code_end - code, STRIA_MMU_CODE);
    if (code_of == STRIA_OK && machine->console)
        code_of = stria_mmu_map(machine->console, 1, STRIA_MMU_DEVICE);
    if (code_of == STRIA_OK && machine->calendar)
        code_of = stria_mmu_map(machine->calendar, 1, STRIA_MMU_DEVICE);
    if (code_of == STRIA_OK && machine->ecam)
        code_of = stria_mmu_map(machine->ecam, machine->ecam_bytes, STRIA_MMU_DEVICE);
    if (code_of == STRIA_OK && machine->root.window_bytes)
        code_of = stria_mmu_map(machine->root.window_address + machine->root.window_offset,
                                machine->root.window_bytes, STRIA_MMU_DEVICE);
    return code_of;
}

bool stria_machine_map(const struct stria_machine *machine)
{
    int code = map_all(machine);
    if (code != STRIA_OK) {
        stria_console_say("stria: the memory map has no room for this machine: %s", stria_code_text(code));
        return false;
    }
    stria_mmu_enable();
    return true;
}

bool stria_machine_enumerate(struct stria_machine *machine)
{
    bool exhausted = false;
    if (!machine->ecam || !machine->root.window_bytes) {
        stria_console_say(
            "stria: the device tree has no PCI Express root with a window of memory below 4 GiB");
        return false;
    }
    uint32_t count = stria_pci_enumerate(&machine->root, machine->functions, STRIA_FUNCTIONS_MAX, &exhausted);
    machine->function_count = count < STRIA_FUNCTIONS_MAX ? count : STRIA_FUNCTIONS_MAX;
    if (exhausted)
        stria_console_say(
            "stria: the root's bus numbers or its window of %lu MiB do not suffice for all that is "
            "behind it",
            (unsigned long)(machine->root.window_bytes >> 20));
    return true;
}

uint64_t stria_machine_wall_ns(const struct stria_machine *machine)
{
    return machine->wall_start_ns + stria_clock_ns();
}

uint64_t stria_machine_seed(const struct stria_machine *machine)
{
    const uint64_t now[2] = {stria_clock_ns(), stria_machine_wall_ns(machine)};
    return stria_digest_seeded(stria_digest_seeded(0, machine->seed, machine->seed_bytes), now, sizeof(now));
}
