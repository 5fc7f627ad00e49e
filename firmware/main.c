/* A recorder without an operating system: reads what it is to do from the device tree, and does it. */
#include "firmware/main.h"

#include "core/code.h"
#include "core/ratio.h"
#include "core/sort.h"
#include "firmware/arena.h"
#include "firmware/array.h"
#include "firmware/console.h"
#include "firmware/machine.h"
#include "firmware/measure.h"
#include "firmware/options.h"
#include "firmware/record.h"
#include "firmware/verify.h"

#define RATIO_ROUNDS_MAX 16u

enum status {
    STATUS_OK = 0,
    STATUS_NOT_WHOLE = 1, /* the data: a gap, corruption, a drive that was lost */
    STATUS_USAGE = 2,     /* options, or a machine on which the image cannot run */
    STATUS_SYSTEM = 3     /* a drive failed */
};

static struct stria_machine machine;
static struct stria_firmware_options options;
static struct stria_bare_drives drives;
static struct stria_bare_array array;

static void list_function(const struct stria_pci_function *function)
{
    const uint32_t place = function->offset >> 12;
    stria_console_say("pci %02x:%02x.%x %04x:%04x class %06x%s", place >> 8, place >> 3 & 0x1f, place & 7,
                      function->vendor, function->device, function->class_code,
                      function->class_code == STRIA_PCI_CLASS_NVME ? " nvme" : "");
    for (uint32_t bar = 0; bar < STRIA_PCI_BARS_MAX; bar++)
        if (function->bar_bytes[bar])
            stria_console_say("  bar %u at 0x%lx, %lu bytes", bar, (unsigned long)function->bar_address[bar],
                              (unsigned long)function->bar_bytes[bar]);
    if (function->link_lanes)
        stria_console_say("  link of generation %u, %u lanes", function->link_speed, function->link_lanes);
}

static enum status list(void)
{
    uint32_t controllers = 0;
    for (uint32_t index = 0; index < machine.function_count; index++) {
        list_function(&machine.functions[index]);
        controllers += machine.functions[index].class_code == STRIA_PCI_CLASS_NVME;
    }
    stria_console_say("stria: %u NVMe controllers", controllers);
    for (uint32_t index = 0; index < drives.count; index++) {
        const struct stria_nvme_controller *controller = &drives.list[index]->nvme.controller;
        const struct stria_traits *traits = &drives.list[index]->base.traits;
        stria_console_say(
            "drive %u: %s, %s, serial %s, %lu MiB in blocks of %u, commands of %lu KiB, %u in flight", index,
            traits->path, controller->identity.model, traits->serial,
            (unsigned long)(traits->drive_bytes >> 20), traits->block_bytes,
            (unsigned long)(controller->transfer_bytes_max >> 10), controller->depth);
    }
    return STATUS_OK;
}

static enum status status_of(int code)
{
    switch (code) {
    case STRIA_OK:
        return STATUS_OK;
    case STRIA_ERR_INVALID:
    case STRIA_ERR_EXISTS:
    case STRIA_ERR_NOT_FOUND:
    case STRIA_ERR_FORMAT:
    case STRIA_ERR_NO_MEMORY:
    case STRIA_ERR_NO_SPACE:
        return STATUS_USAGE;
    default:
        return STATUS_SYSTEM;
    }
}

static enum status record(void)
{
    struct stria_bare_outcome outcome = {.whole = false};
    const int code = stria_bare_record(&array, &options, false, &outcome);
    return code == STRIA_OK && !outcome.whole ? STATUS_NOT_WHOLE : status_of(code);
}

static enum status verify(void)
{
    bool whole = false;
    const int code = stria_bare_verify(&array, &options, &whole);
    return code == STRIA_OK && !whole ? STATUS_NOT_WHOLE : status_of(code);
}

/* With the array as it is on the drives now, in memory that is taken back afterwards. */
static enum status with_array(enum status (*work)(void))
{
    const size_t before = stria_arena_used_bytes();
    const int code = stria_bare_array_open(&array, &drives, &machine, &options);
    const enum status status = code == STRIA_OK ? work() : status_of(code);
    stria_arena_return(before);
    return status;
}

static enum status init(void)
{
    const size_t before = stria_arena_used_bytes();
    const int code = stria_bare_array_create(&drives, &machine, &options);
    stria_arena_return(before);
    return status_of(code);
}

static enum status zones(void)
{
    return status_of(stria_bare_measure_zones(&array, &options));
}

static enum status sizes(void)
{
    return status_of(stria_bare_measure_sizes(&array, &options));
}

static uint64_t measured_bytes_per_s;

static enum status record_still(void)
{
    struct stria_firmware_options saturated = options;
    struct stria_bare_outcome outcome = {.whole = false};
    saturated.rate_bytes_per_s = 0;
    saturated.name[0] = '\0';
    const int code = stria_bare_record(&array, &saturated, true, &outcome);
    if (code == STRIA_OK && outcome.duration_ns > 0)
        measured_bytes_per_s = stria_ratio_bytes_per_s(outcome.stored_bytes, outcome.duration_ns);
    return code == STRIA_OK && !outcome.whole ? STATUS_NOT_WHOLE : status_of(code);
}

static enum status write_barely(void)
{
    return status_of(stria_bare_measure_loop(&array, &options, &measured_bytes_per_s));
}

static bool is_lower(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* In turns, so that whatever else the machine is busy with falls on both. */
static enum status ratio(void)
{
    uint64_t recorded[RATIO_ROUNDS_MAX], written[RATIO_ROUNDS_MAX];
    const uint32_t rounds = (uint32_t)options.repeats;
    for (uint32_t round = 0; round < rounds; round++) {
        enum status status = with_array(record_still);
        recorded[round] = measured_bytes_per_s;
        if (status == STATUS_OK)
            status = with_array(write_barely);
        written[round] = measured_bytes_per_s;
        if (status != STATUS_OK)
            return status;
        stria_console_say("ratio: round %u: recorder %lu KiB/s, bare loop %lu KiB/s", round,
                          (unsigned long)(recorded[round] >> 10), (unsigned long)(written[round] >> 10));
    }
    stria_sort(recorded, rounds, sizeof(recorded[0]), is_lower);
    stria_sort(written, rounds, sizeof(written[0]), is_lower);
    const uint64_t thousandths =
        written[rounds / 2] ? stria_ratio_scale(recorded[rounds / 2], 1000, written[rounds / 2]) : 0;
    stria_console_say("ratio: %lu.%03lu of the bare loop, by the medians",
                      (unsigned long)(thousandths / 1000), (unsigned long)(thousandths % 1000));
    return STATUS_OK;
}

static enum status carry_out(enum stria_command_word command)
{
    switch (command) {
    case STRIA_COMMAND_LIST:
        return list();
    case STRIA_COMMAND_INIT:
        return init();
    case STRIA_COMMAND_RECORD:
        return with_array(record);
    case STRIA_COMMAND_VERIFY:
        return with_array(verify);
    case STRIA_COMMAND_ZONES:
        return with_array(zones);
    case STRIA_COMMAND_SIZES:
        return with_array(sizes);
    case STRIA_COMMAND_RATIO:
        return ratio();
    }
    return STATUS_USAGE;
}

static bool lists_only(void)
{
    for (uint32_t index = 0; index < options.command_count; index++)
        if (options.commands[index] != STRIA_COMMAND_LIST)
            return false;
    return true;
}

/* The worst that a command came to; what follows a wrong one is not carried out. */
static enum status carry_out_all(void)
{
    enum status worst = STATUS_OK;
    for (uint32_t index = 0; index < options.command_count && worst < STATUS_USAGE; index++) {
        const enum status status = carry_out(options.commands[index]);
        if (status > worst)
            worst = status;
    }
    return worst;
}

int stria_firmware_main(const void *tree)
{
    char complaint[192];
    if (!stria_machine_read(&machine, tree))
        return STATUS_USAGE;
    if (stria_firmware_options_read(&options, machine.options, complaint, sizeof(complaint)) != STRIA_OK) {
        stria_console_say("stria: %s", complaint);
        return STATUS_USAGE;
    }
    if (options.mmu && !stria_machine_map(&machine))
        return STATUS_USAGE;
    if (!stria_machine_enumerate(&machine))
        return STATUS_USAGE;
    const struct stria_bare_drives_options wanted = {.wanted = (uint32_t)options.drives,
                                                     .depth = (uint32_t)options.depth + 1,
                                                     .deadline_ns = options.deadline_ms * 1000000,
                                                     .maintain = options.maintain || !machine.coherent};
    if (!stria_bare_drives_start(&drives, &machine, &wanted) && !lists_only())
        return STATUS_SYSTEM;
    enum status status = carry_out_all();
    if (!stria_bare_drives_stop(&drives) && status == STATUS_OK)
        status = STATUS_SYSTEM;
    return (int)status;
}
