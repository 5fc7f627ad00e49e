/* The machine as its device tree tells it: memory, console, calendar, PCI Express root. */
#ifndef STRIA_FIRMWARE_MACHINE_H
#define STRIA_FIRMWARE_MACHINE_H

#include "firmware/device_tree.h"
#include "firmware/pci.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_FUNCTIONS_MAX 64u

struct stria_machine {
    struct stria_device_tree tree;
    uint64_t memory_start, memory_bytes;
    uint64_t console;          /* registers of a PL011; zero: none */
    uint64_t calendar;         /* registers of a PL031; zero: none */
    uint64_t wall_start_ns;    /* calendar time when the generic timer was zero */
    uint64_t ecam, ecam_bytes; /* configuration space; zero: no PCI Express root */
    struct stria_pci_root root;
    bool coherent;       /* devices see the processor's caches */
    const char *options; /* /chosen/bootargs; empty when there are none */
    const uint8_t *seed; /* /chosen/rng-seed */
    uint32_t seed_bytes; /* zero: none */
    struct stria_pci_function functions[STRIA_FUNCTIONS_MAX];
    uint32_t function_count; /* listed */
};

/* Reads the tree at this address and takes its console into use. On failure false, and the reason was said.
 */
bool stria_machine_read(struct stria_machine *machine, const void *tree);

/* Maps what the machine is made of and switches the MMU on. */
bool stria_machine_map(const struct stria_machine *machine);

/* Sets up everything behind the PCI Express root and lists it in functions. */
bool stria_machine_enumerate(struct stria_machine *machine);

/* Calendar time now (Unix, UTC); counts from 1970 on where the machine has no calendar. */
uint64_t stria_machine_wall_ns(const struct stria_machine *machine);

/* Bits that no other machine has, nor this one at another moment: from what the boot loader has drawn, the
 * calendar and the time. Not for secrets. */
uint64_t stria_machine_seed(const struct stria_machine *machine);

#endif
