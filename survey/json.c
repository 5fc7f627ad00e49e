#include "survey/json.h"

#include "support/json.h"

#include <stdlib.h>

void stria_survey_add(struct json_object *object, const char *key, struct stria_survey_figure figure)
{
    if (figure.known && figure.value >= 0) {
        stria_json_add_u64(object, key, (uint64_t)figure.value);
        return;
    }
    struct json_object *value = figure.known ? json_object_new_int64(figure.value) : NULL;
    if ((figure.known && !value) || json_object_object_add(object, key, value) != 0)
        abort();
}

void stria_survey_add_flag(struct json_object *object, const char *key, struct stria_survey_figure figure)
{
    if (figure.known)
        stria_json_add_bool(object, key, figure.value != 0);
    else
        stria_survey_add(object, key, figure);
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
    stria_json_add_text(object, key, text[0] ? text : NULL);
}

/* In gigatransfers, as people name a link's speed. */
static void add_speed(struct json_object *object, const char *key, struct stria_survey_figure mts)
{
    if (mts.known)
        stria_json_add_real(object, key, (double)mts.value / 1000);
    else
        stria_survey_add(object, key, mts);
}

static void add_link(struct json_object *object, const struct stria_survey_link *link)
{
    add_speed(object, "gts", link->mts);
    stria_survey_add(object, "width", link->width);
    add_speed(object, "capable_gts", link->capable_mts);
    stria_survey_add(object, "capable_width", link->capable_width);
    stria_survey_add(object, "bytes_per_s", link->bytes_per_s);
    stria_survey_add(object, "capable_bytes_per_s", link->capable_bytes_per_s);
}

static void add_bridges(struct json_object *array, const struct stria_survey_drive *drive)
{
    for (uint32_t i = 0; i < drive->bridge_count; i++) {
        struct json_object *bridge = stria_json_append_object(array);
        add_text(bridge, "address", drive->bridges[i].address);
        add_link(bridge, &drive->bridges[i].link);
    }
}

static void add_formats(struct json_object *array, const struct stria_survey_drive *drive)
{
    for (uint32_t i = 0; i < drive->format_count; i++) {
        const struct stria_survey_format *format = &drive->formats[i];
        if (!format->lba_bytes)
            continue;
        struct json_object *object = stria_json_append_object(array);
        stria_json_add_u64(object, "index", i);
        stria_json_add_u64(object, "lba_bytes", format->lba_bytes);
        stria_json_add_u64(object, "metadata_bytes", format->metadata_bytes);
        stria_json_add_u64(object, "rank", format->rank);
        stria_json_add_bool(object, "used", i == drive->format_used);
    }
}

static void add_health(struct json_object *object, const struct stria_survey_drive *drive)
{
    stria_survey_add(object, "temperature_c", drive->now.temperature_c);
    stria_survey_add(object, "warning_c", drive->warning_c);
    stria_survey_add(object, "critical_c", drive->critical_c);
    stria_survey_add(object, "critical_warning", drive->now.critical_warning);
    stria_survey_add(object, "warning_minutes", drive->now.warning_minutes);
    stria_survey_add(object, "critical_minutes", drive->now.critical_minutes);
    stria_survey_add(object, "throttle_count", drive->now.throttle_count);
    stria_survey_add(object, "throttle_s", drive->now.throttle_s);
    stria_survey_add(object, "percentage_used", drive->percentage_used);
    stria_survey_add(object, "spare_percent", drive->spare_percent);
    stria_survey_add(object, "spare_threshold_percent", drive->spare_threshold_percent);
    stria_survey_add(object, "media_errors", drive->media_errors);
    stria_survey_add(object, "power_on_hours", drive->power_on_hours);
    stria_survey_add(object, "written_bytes", drive->written_bytes);
}

static void add_queue(struct json_object *object, const struct stria_survey_drive *drive)
{
    stria_survey_add_flag(object, "volatile_cache", drive->volatile_cache);
    stria_survey_add_flag(object, "volatile_cache_present", drive->volatile_cache_present);
    stria_survey_add_flag(object, "read_only", drive->read_only);
    stria_survey_add_flag(object, "rotational", drive->rotational);
    add_text(object, "scheduler", drive->scheduler);
    stria_survey_add(object, "nr_requests", drive->nr_requests);
    stria_survey_add(object, "physical_bytes", drive->physical_bytes);
    stria_survey_add(object, "optimal_bytes", drive->optimal_bytes);
    stria_survey_add_flag(object, "discard", drive->discard);
    stria_survey_add(object, "partition_offset_bytes", drive->partition_offset_bytes);
}

static void add_users(struct json_object *object, const struct stria_survey_drive *drive)
{
    struct json_object *users = stria_json_add_array(object, "users");
    for (uint32_t i = 0; i < drive->user_count; i++) {
        struct json_object *user = stria_json_append_object(users);
        stria_json_add_text(user, "use", stria_survey_use_text(drive->users[i].use));
        stria_json_add_text(user, "what", drive->users[i].what);
        add_text(user, "part", drive->users[i].part);
    }
    stria_json_add_u64(object, "users_more", drive->users_more);
    if (!drive->member) {
        stria_json_add_text(object, "array", NULL);
        return;
    }
    struct json_object *array = stria_json_add_object(object, "array");
    stria_json_add_uuid(array, "uuid", drive->super.array_uuid);
    stria_json_add_text(array, "name", drive->super.array_name);
    stria_json_add_text(array, "drive_name", drive->super.drive_name);
    stria_json_add_u64(array, "drive_index", drive->super.drive_index);
    stria_json_add_u64(array, "drive_count", drive->super.drive_count);
}

void stria_survey_add_drive(struct json_object *object, const struct stria_survey_drive *drive)
{
    const struct stria_survey_format *best = stria_survey_best_format(drive);
    const bool better = best && best != &drive->formats[drive->format_used];
    stria_json_add_text(object, "path", drive->path);
    stria_json_add_text(object, "transport", stria_survey_transport_text(drive->transport));
    stria_json_add_bool(object, "exists", drive->exists);
    add_text(object, "node", drive->node);
    add_text(object, "disk", drive->disk);
    add_text(object, "controller", drive->controller);
    add_text(object, "backing", drive->backing);
    add_text(object, "model", drive->model);
    add_text(object, "serial", drive->serial);
    add_text(object, "firmware", drive->firmware);
    stria_survey_add(object, "size_bytes", drive->size_bytes);
    stria_survey_add(object, "lba_bytes", drive->lba_bytes);
    stria_json_add_figure(object, "better_lba_bytes", better, better ? best->lba_bytes : 0);
    add_formats(stria_json_add_array(object, "formats"), drive);
    add_link(stria_json_add_object(object, "link"), &drive->link);
    add_bridges(stria_json_add_array(object, "bridges"), drive);
    stria_survey_add(object, "numa_node", drive->numa_node);
    add_text(object, "local_cpus", drive->local_cpus);
    add_health(object, drive);
    add_queue(object, drive);
    struct json_object *system = stria_json_add_object(object, "file_system");
    add_text(system, "type", drive->file_system.type);
    add_text(system, "place", drive->file_system.place);
    stria_survey_add(system, "bytes", drive->file_system.bytes);
    stria_survey_add(system, "free_bytes", drive->file_system.free_bytes);
    stria_survey_add(object, "allocated_bytes", drive->allocated_bytes);
    add_users(object, drive);
}

void stria_survey_add_host(struct json_object *object, const struct stria_survey_host *host)
{
    add_text(object, "kernel", host->kernel);
    stria_survey_add(object, "io_uring_disabled", host->io_uring_disabled);
    stria_survey_add(object, "cpus", host->cpus);
    add_text(object, "allowed_cpus", host->allowed_cpus);
    stria_survey_add(object, "nodes", host->nodes);
    add_text(object, "governor", host->governor);
    stria_survey_add(object, "memory_bytes", host->memory_bytes);
    stria_survey_add(object, "memory_available_bytes", host->memory_available_bytes);
    stria_survey_add(object, "huge_page_bytes", host->huge_page_bytes);
    stria_survey_add(object, "huge_pages_free", host->huge_pages_free);
    add_text(object, "transparent_huge_pages", host->transparent_huge_pages);
    stria_survey_add(object, "memlock_bytes", host->memlock_bytes);
}
