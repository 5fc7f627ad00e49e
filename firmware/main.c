/* A recorder without an operating system: reads what it is to do from the device tree, and does it. */
#include "firmware/main.h"

#include "core/code.h"
#include "firmware/console.h"
#include "firmware/machine.h"
#include "firmware/options.h"

static struct stria_machine machine;
static struct stria_firmware_options options;

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

static int list(void)
{
    uint32_t controllers = 0;
    for (uint32_t index = 0; index < machine.function_count; index++) {
        list_function(&machine.functions[index]);
        controllers += machine.functions[index].class_code == STRIA_PCI_CLASS_NVME;
    }
    stria_console_say("stria: %u NVMe controllers", controllers);
    return 0;
}

static int carry_out(enum stria_command_word command)
{
    switch (command) {
    case STRIA_COMMAND_LIST:
        return list();
    default:
        stria_console_say("stria: '%s' is not in this image", stria_command_word_text(command));
        return 2;
    }
}

int stria_firmware_main(const void *tree)
{
    char complaint[192];
    if (!stria_machine_read(&machine, tree))
        return 2;
    if (stria_firmware_options_read(&options, machine.options, complaint, sizeof(complaint)) != STRIA_OK) {
        stria_console_say("stria: %s", complaint);
        return 2;
    }
    if (options.mmu && !stria_machine_map(&machine))
        return 2;
    if (!stria_machine_enumerate(&machine))
        return 2;
    int status = 0;
    for (uint32_t index = 0; index < options.command_count && status == 0; index++)
        status = carry_out(options.commands[index]);
    return status;
}
