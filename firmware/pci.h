/* Finding what is behind a PCI Express root: bus numbers, bridge windows and BARs are given out here, as no
 * BIOS has done it. Pure: configuration space is reached through two functions of the caller's. */
#ifndef STRIA_FIRMWARE_PCI_H
#define STRIA_FIRMWARE_PCI_H

#include <stdbool.h>
#include <stdint.h>

#define STRIA_PCI_BARS_MAX  6u
#define STRIA_PCI_DEPTH_MAX 8u /* bridges one behind the other */

#define STRIA_PCI_CLASS_NVME   0x010802u /* non-volatile memory controller, NVM Express */
#define STRIA_PCI_CLASS_BRIDGE 0x060400u

/* Configuration space, by the offset that ECAM gives it: bus << 20 | device << 15 | function << 12 |
 * register. A function that is not there reads as all ones. */
struct stria_pci_access {
    void *context;
    uint32_t (*read)(void *context, uint32_t offset);
    void (*write)(void *context, uint32_t offset, uint32_t value);
};

/* A root: what its node in the device tree says. */
struct stria_pci_root {
    struct stria_pci_access access;
    uint8_t bus_first, bus_last;
    uint64_t window_address; /* of memory below 4 GiB, as devices see it */
    uint64_t window_bytes;
    uint64_t window_offset; /* what the processor adds to reach it */
};

/* One function that was found. */
struct stria_pci_function {
    uint32_t offset; /* of its configuration space */
    uint16_t vendor, device;
    uint32_t class_code;                      /* class, subclass, interface: 24 bits */
    uint8_t depth;                            /* bridges above it */
    uint64_t bar_address[STRIA_PCI_BARS_MAX]; /* for the processor; zero: none, an I/O BAR, or the upper half
                                               of the one before */
    uint64_t bar_bytes[STRIA_PCI_BARS_MAX];
    bool placed;        /* every memory BAR has its address, and the function may use it */
    bool is_port;       /* a PCI Express root or downstream port: one device behind it */
    uint8_t link_lanes; /* of its PCI Express link now; zero: not told */
    uint8_t link_speed; /* 1: 2.5 GT/s, 2: 5, 3: 8, 4: 16, 5: 32; zero: not told */
};

/* Gives everything behind the root its numbers and addresses and lists the functions, bridges too, in the
 * order in which they are found. Returns how many there are; at most capacity are listed, the others are set
 * up all the same. *exhausted is set when bus numbers, depth or the window did not suffice for all. */
uint32_t stria_pci_enumerate(const struct stria_pci_root *root, struct stria_pci_function *functions,
                             uint32_t capacity, bool *exhausted);

/* Lets a placed function read and write memory itself, or forbids it. */
void stria_pci_set_master(const struct stria_pci_root *root, const struct stria_pci_function *function,
                          bool on);

#endif
