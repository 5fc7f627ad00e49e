#include "backends/uring_cmd.h"
#include "support/tree.h"
#include "survey/parts.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KELVIN_OF_ZERO_C 273

/* A text of fixed length, padded with blanks. */
static void take_text(char *out, size_t size, const char *text, size_t length)
{
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\0'))
        length--;
    for (; length && text[0] == ' '; length--)
        text++;
    snprintf(out, size, "%.*s", (int)length, text);
    for (char *letter = out; *letter; letter++)
        if ((unsigned char)*letter < ' ')
            *letter = '?';
}

/* Counters of 128 bits; those beyond 63 are as large as can be. */
static struct stria_survey_figure take_wide(const uint8_t bytes[16])
{
    uint64_t low = 0;
    bool beyond = bytes[7] >> 7;
    for (int i = 7; i >= 0; i--)
        low = low << 8 | bytes[i];
    for (int i = 8; i < 16; i++)
        beyond |= bytes[i] != 0;
    return stria_figure_of(beyond ? INT64_MAX : (int64_t)low);
}

static struct stria_survey_figure take_celsius(unsigned kelvin)
{
    return kelvin ? stria_figure_of((int64_t)kelvin - KELVIN_OF_ZERO_C) : (struct stria_survey_figure){0};
}

static void take_controller(const struct nvme_id_ctrl *id, struct stria_survey_drive *drive)
{
    take_text(drive->model, sizeof(drive->model), id->mn, sizeof(id->mn));
    take_text(drive->serial, sizeof(drive->serial), id->sn, sizeof(id->sn));
    take_text(drive->firmware, sizeof(drive->firmware), id->fr, sizeof(id->fr));
    drive->warning_c = take_celsius(le16toh(id->wctemp));
    drive->critical_c = take_celsius(le16toh(id->cctemp));
    drive->volatile_cache_present = stria_figure_of(id->vwc & 1);
}

static void take_formats(const struct nvme_id_ns *id, struct stria_survey_drive *drive)
{
    const uint32_t count = id->nlbaf + 1u;
    const uint32_t used = stria_passthrough_format(id->flbas, id->nlbaf);
    if (count > STRIA_SURVEY_FORMATS_MAX || used >= count)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct nvme_lbaf *format = &id->lbaf[i];
        /* No size, or none that there can be: a format that is not available. */
        const bool real = format->ds >= 9 && format->ds <= 24;
        drive->formats[i] = (struct stria_survey_format){
            .lba_bytes = real ? 1u << format->ds : 0,
            .metadata_bytes = le16toh(format->ms),
            .rank = format->rp & 3,
        };
    }
    drive->format_count = count;
    drive->format_used = used;
}

static void take_heat(const struct nvme_smart_log *log, struct stria_survey_sample *sample)
{
    sample->temperature_c = take_celsius((unsigned)log->temperature[0] | (unsigned)log->temperature[1] << 8);
    sample->critical_warning = stria_figure_of(log->critical_warning);
    sample->warning_minutes = stria_figure_of(le32toh(log->warning_temp_time));
    sample->critical_minutes = stria_figure_of(le32toh(log->critical_comp_time));
    sample->throttle_count =
        stria_figure_of((int64_t)le32toh(log->thm_temp1_trans_count) + le32toh(log->thm_temp2_trans_count));
    sample->throttle_s =
        stria_figure_of((int64_t)le32toh(log->thm_temp1_total_time) + le32toh(log->thm_temp2_total_time));
}

static void take_health(const struct nvme_smart_log *log, struct stria_survey_drive *drive)
{
    drive->percentage_used = stria_figure_of(log->percent_used);
    drive->spare_percent = stria_figure_of(log->avail_spare);
    drive->spare_threshold_percent = stria_figure_of(log->spare_thresh);
    drive->media_errors = take_wide(log->media_errors);
    drive->power_on_hours = take_wide(log->power_on_hours);
    /* Data units are thousands of 512 bytes. */
    drive->written_bytes = take_wide(log->data_units_written);
    if (__builtin_mul_overflow(drive->written_bytes.value, 512000, &drive->written_bytes.value))
        drive->written_bytes.value = INT64_MAX;
}

/* What the kernel tells everybody. */
static void read_kernel_word(const char *root, struct stria_survey_drive *drive)
{
    static const struct {
        const char *attribute;
        size_t field;
    } texts[] = {{"model", offsetof(struct stria_survey_drive, model)},
                 {"serial", offsetof(struct stria_survey_drive, serial)},
                 {"firmware_rev", offsetof(struct stria_survey_drive, firmware)}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        stria_tree_line(root, (char *)drive + texts[i].field, STRIA_SURVEY_TEXT_BYTES,
                        "/sys/class/nvme/%s/%s", drive->controller, texts[i].attribute);
}

void stria_parts_nvme(const char *root, struct stria_survey_drive *drive)
{
    union {
        struct nvme_id_ctrl controller;
        struct nvme_id_ns name_space;
        struct nvme_smart_log log;
    } *answer = malloc(sizeof(*answer));
    bool on;
    read_kernel_word(root, drive);
    if (!answer)
        return;
    if (stria_answers_controller(root, drive->controller, &answer->controller))
        take_controller(&answer->controller, drive);
    if (stria_answers_namespace(root, drive->disk, &answer->name_space))
        take_formats(&answer->name_space, drive);
    if (stria_answers_smart(root, drive->controller, &answer->log)) {
        take_health(&answer->log, drive);
        if (answer->log.critical_warning & NVME_SMART_CRIT_MEDIA)
            drive->read_only = stria_figure_of(1);
    }
    if (drive->volatile_cache_present.known && !drive->volatile_cache_present.value)
        drive->volatile_cache = stria_figure_of(0);
    else if (stria_answers_volatile_cache(root, drive->controller, &on))
        drive->volatile_cache = stria_figure_of(on);
    free(answer);
}

struct sensor_search {
    const char *root, *folder;
    struct stria_survey_figure *temperature_c;
};

static bool read_sensor(const char *name, void *user)
{
    struct sensor_search *search = user;
    int64_t thousandths;
    if (strncmp(name, "hwmon", 5) != 0 ||
        !stria_tree_number(search->root, &thousandths, "%s/%s/temp1_input", search->folder, name))
        return true;
    *search->temperature_c = stria_figure_of((thousandths + (thousandths < 0 ? -500 : 500)) / 1000);
    return false;
}

/* The kernel's own sensor, which needs no rights; in which of these folders depends on its version. */
static void read_sensors(const char *root, const char *disk, const char *controller,
                         struct stria_survey_figure *temperature_c)
{
    char folders[4][PATH_MAX];
    snprintf(folders[0], PATH_MAX, "/sys/class/nvme/%s", controller);
    snprintf(folders[1], PATH_MAX, "/sys/class/nvme/%s/device/hwmon", controller);
    snprintf(folders[2], PATH_MAX, "/sys/class/block/%s/device/hwmon", disk);
    snprintf(folders[3], PATH_MAX, "/sys/class/block/%s/device", disk);
    for (unsigned i = controller[0] ? 0 : 2; i < 4 && !temperature_c->known; i++) {
        struct sensor_search search = {root, folders[i], temperature_c};
        stria_tree_each(root, folders[i], read_sensor, &search);
    }
}

void stria_parts_heat(const char *root, const char *disk, const char *controller,
                      struct stria_survey_sample *sample)
{
    struct nvme_smart_log log;
    memset(sample, 0, sizeof(*sample));
    if (controller[0] && stria_answers_smart(root, controller, &log))
        take_heat(&log, sample);
    else if (disk[0])
        read_sensors(root, disk, controller, &sample->temperature_c);
}
