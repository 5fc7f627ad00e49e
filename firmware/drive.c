#include "firmware/drive.h"

#include "core/code.h"
#include "firmware/arena.h"
#include "firmware/console.h"
#include "firmware/processor.h"
#include "firmware/text.h"
#include "nvme/mmio.h"

#include <string.h>

#define DONE_BATCH 64u
#define AGAINS_MAX 1000u

static uint32_t read_register(void *context, uint32_t offset)
{
    const struct stria_bare_drive *drive = context;
    return stria_nvme_mmio_read32((const volatile void *)drive->registers, offset);
}

static void write_register(void *context, uint32_t offset, uint32_t value)
{
    const struct stria_bare_drive *drive = context;
    stria_nvme_mmio_write32((volatile void *)drive->registers, offset, value);
}

/* Memory is where the processor sees it, all in one piece. */
static int bus_address(void *context, const void *memory, uint64_t *address, uint64_t *run_bytes)
{
    const struct stria_bare_drive *drive = context;
    *address = (uint64_t)(uintptr_t)memory;
    if (*address >= drive->memory_end)
        return STRIA_ERR_INVALID;
    *run_bytes = drive->memory_end - *address;
    return STRIA_OK;
}

static void write_barrier(void *context)
{
    (void)context;
    stria_barrier_write();
}

static void read_barrier(void *context)
{
    (void)context;
    stria_barrier_read();
}

static void cache_clean(void *context, const void *memory, uint64_t bytes)
{
    (void)context;
    stria_cache_clean(memory, bytes);
}

static void cache_invalidate(void *context, void *memory, uint64_t bytes)
{
    (void)context;
    stria_cache_invalidate(memory, bytes);
}

static uint64_t time_ns(void *context)
{
    (void)context;
    return stria_clock_ns();
}

static int submit(struct stria_drive *base, const struct stria_io *io)
{
    static const enum stria_nvme_op ops[] = {[STRIA_IO_READ] = STRIA_NVME_READ,
                                             [STRIA_IO_WRITE] = STRIA_NVME_WRITE,
                                             [STRIA_IO_FLUSH] = STRIA_NVME_FLUSH,
                                             [STRIA_IO_TRIM] = STRIA_NVME_TRIM};
    struct stria_bare_drive *drive = (struct stria_bare_drive *)base;
    const struct stria_nvme_request request = {
        .op = ops[io->op], .offset = io->offset, .bytes = io->length, .data = io->data, .tag = io->tag};
    return stria_nvme_drive_submit(&drive->nvme, &request);
}

static int poll(struct stria_drive *base, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct stria_bare_drive *drive = (struct stria_bare_drive *)base;
    struct stria_nvme_done ended[DONE_BATCH];
    (void)wait_ns;
    const int count = stria_nvme_drive_poll(&drive->nvme, ended, max < DONE_BATCH ? max : DONE_BATCH);
    for (int index = 0; index < count; index++)
        done[index] = (struct stria_done){
            .tag = ended[index].tag, .code = ended[index].code, .bytes = ended[index].bytes};
    return count;
}

/* Opened and closed by functions of its own, it needs no more of the table than a pump does. */
static const struct stria_backend backend = {.name = "bare", .submit = submit, .poll = poll};

static void set_platform(struct stria_bare_drive *drive, bool maintain)
{
    drive->platform = (struct stria_nvme_platform){
        .context = drive,
        .read32 = read_register,
        .write32 = write_register,
        .bus_address = bus_address,
        .write_barrier = write_barrier,
        .read_barrier = read_barrier,
        .cache_clean = maintain ? cache_clean : NULL,
        .cache_invalidate = maintain ? cache_invalidate : NULL,
        .time_ns = time_ns,
    };
}

/* Begins to start a controller; null when it cannot even begin, and the reason was said. */
static struct stria_bare_drive *begin(struct stria_machine *machine,
                                      const struct stria_pci_function *function,
                                      const struct stria_bare_drives_options *options)
{
    struct stria_bare_drive *drive = stria_arena_take(sizeof(*drive), 64, "a drive");
    if (!drive)
        return NULL;
    const uint32_t place = function->offset >> 12;
    stria_text_compose(drive->base.traits.path, sizeof(drive->base.traits.path), "%02x:%02x.%x", place >> 8,
                       place >> 3 & 0x1f, place & 7);
    drive->base.backend = &backend;
    drive->registers = function->bar_address[0];
    drive->registers_bytes = function->bar_bytes[0];
    drive->memory_end = machine->memory_start + machine->memory_bytes;
    set_platform(drive, options->maintain);
    if (!function->placed || drive->registers_bytes == 0) {
        stria_console_say("stria: %s got no address for its registers", drive->base.traits.path);
        return NULL;
    }
    stria_pci_set_master(&machine->root, function, true);
    /* The recorder gives a drive up after its deadline; to be aborted and reset must not come before that. */
    struct stria_nvme_config config = {.depth = options->depth, .command_ns = 2 * options->deadline_ns};
    uint32_t align_bytes = STRIA_PAGE_BYTES;
    int code = stria_nvme_dma_bytes(&drive->platform, config.depth, &config.dma_bytes, &align_bytes);
    if (code != STRIA_OK) {
        stria_console_say("stria: %s cannot be used: %s", drive->base.traits.path, stria_code_text(code));
        return NULL;
    }
    config.dma = stria_arena_take(config.dma_bytes, align_bytes, "a drive's queues");
    if (!config.dma)
        return NULL;
    stria_nvme_drive_start(&drive->nvme, &drive->platform, &config);
    return drive;
}

static bool settle(struct stria_bare_drive *drive, const struct stria_bare_drives_options *options)
{
    const int code = stria_nvme_drive_settle(&drive->nvme);
    const struct stria_nvme_controller *controller = &drive->nvme.controller;
    struct stria_traits *traits = &drive->base.traits;
    if (code != STRIA_OK) {
        stria_console_say("stria: %s %s (status 0x%x)", traits->path,
                          stria_nvme_trouble_text(controller->trouble), controller->status);
        return false;
    }
    traits->drive_bytes = drive->nvme.drive_bytes;
    traits->block_bytes = drive->nvme.block_bytes;
    traits->memory_align_bytes =
        options->maintain ? (uint32_t)stria_cache_line_bytes() : STRIA_NVME_DATA_ALIGN;
    traits->transfer_bytes_max = STRIA_NVME_REQUEST_BYTES;
    traits->depth_max = STRIA_NVME_REQUESTS_MAX;
    traits->volatile_cache = controller->identity.volatile_cache;
    traits->trims = controller->identity.deallocates;
    traits->block_device = true;
    memcpy(traits->serial, controller->identity.serial, sizeof(controller->identity.serial));
    return true;
}

bool stria_bare_drives_start(struct stria_bare_drives *drives, struct stria_machine *machine,
                             const struct stria_bare_drives_options *options)
{
    const uint32_t most = options->wanted ? options->wanted : STRIA_BARE_DRIVES_MAX;
    struct stria_bare_drive *begun[STRIA_BARE_DRIVES_MAX];
    uint32_t begun_count = 0;
    for (uint32_t index = 0; index < machine->function_count && begun_count < STRIA_BARE_DRIVES_MAX;
         index++) {
        if (machine->functions[index].class_code != STRIA_PCI_CLASS_NVME || begun_count == most)
            continue;
        begun[begun_count] = begin(machine, &machine->functions[index], options);
        begun_count += begun[begun_count] != NULL;
    }
    *drives = (struct stria_bare_drives){0};
    for (uint32_t index = 0; index < begun_count; index++)
        if (settle(begun[index], options))
            drives->list[drives->count++] = begun[index];
    if (drives->count > 0 && drives->count >= options->wanted)
        return true;
    stria_console_say("stria: %u drives can be used, %u are wanted", drives->count,
                      options->wanted ? options->wanted : 1);
    return false;
}

bool stria_bare_drives_stop(struct stria_bare_drives *drives)
{
    bool all = true;
    for (uint32_t index = 0; index < drives->count; index++)
        stria_nvme_drive_stop(&drives->list[index]->nvme);
    for (uint32_t index = 0; index < drives->count; index++) {
        const struct stria_bare_drive *drive = drives->list[index];
        if (stria_nvme_drive_settle(&drives->list[index]->nvme) == STRIA_OK)
            continue;
        stria_console_say("stria: %s %s", drive->base.traits.path,
                          stria_nvme_trouble_text(drive->nvme.controller.trouble));
        all = false;
    }
    return all;
}

/* A job under way: cut into what a drive takes at once. */
struct run {
    struct stria_bare_job *job;
    uint64_t done_bytes, piece_bytes, submitted_ns;
    uint32_t agains;
    bool in_flight, over;
};

static void finish(struct run *run, int code)
{
    run->job->code = code;
    run->over = true;
}

static void submit_piece(struct run *run)
{
    const struct stria_bare_job *job = run->job;
    const uint64_t left = job->length_bytes - run->done_bytes;
    run->piece_bytes = left < STRIA_NVME_REQUEST_BYTES ? left : STRIA_NVME_REQUEST_BYTES;
    const struct stria_io io = {.op = job->op,
                                .offset = job->offset + run->done_bytes,
                                .length = run->piece_bytes,
                                .data = job->data ? (uint8_t *)job->data + run->done_bytes : NULL};
    const int code = submit(&job->drive->base, &io);
    run->in_flight = code == STRIA_OK;
    run->submitted_ns = stria_clock_ns();
    if (code != STRIA_OK)
        finish(run, code);
}

static void take_piece(struct run *run, const struct stria_done *done)
{
    run->in_flight = false;
    if (done->code == STRIA_ERR_AGAIN && run->agains++ < AGAINS_MAX)
        return;
    run->done_bytes += done->code == STRIA_OK ? run->piece_bytes : 0;
    if (done->code != STRIA_OK || run->done_bytes == run->job->length_bytes)
        finish(run, done->code);
}

static void step(struct run *run, uint64_t deadline_ns)
{
    struct stria_done done;
    if (!run->in_flight)
        submit_piece(run);
    if (run->over)
        return;
    const int count = poll(&run->job->drive->base, &done, 1, 0);
    if (count < 0)
        finish(run, count);
    else if (count > 0)
        take_piece(run, &done);
    else if (stria_clock_ns() - run->submitted_ns > deadline_ns)
        finish(run, STRIA_ERR_TIMEOUT);
}

void stria_bare_jobs_run(struct stria_bare_job *jobs, uint32_t count, uint64_t deadline_ns)
{
    struct run runs[STRIA_DRIVES_MAX];
    uint32_t left = 0;
    for (uint32_t index = 0; index < count; index++) {
        runs[index] = (struct run){.job = &jobs[index], .over = !jobs[index].drive};
        left += !runs[index].over;
    }
    while (left > 0) {
        for (uint32_t index = 0; index < count; index++) {
            if (runs[index].over)
                continue;
            step(&runs[index], deadline_ns);
            left -= runs[index].over;
        }
    }
}
