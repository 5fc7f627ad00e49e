#include "config/keys.h"

#include "config/array.h"
#include "core/geometry.h"
#include "core/name.h"
#include "support/units.h"

#include <string.h>

const char stria_name_allowed_text[] = "1 to 63 letters, digits, dots, dashes and underscores, beginning "
                                       "with a letter, a digit or an underscore";

bool stria_name_allowed(const char *name)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    static const char other[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    const size_t length = strlen(name);
    return length >= 1 && length < STRIA_NAME_BYTES && strchr(first, name[0]) &&
           strspn(name, other) == length;
}

static bool copy_text(const char *value, char *field, size_t size)
{
    const size_t length = strlen(value);
    if (length >= size)
        return false;
    memcpy(field, value, length + 1);
    return true;
}

static bool parse_name(const char *value, void *field)
{
    return stria_name_allowed(value) && stria_name_set(field, value) == STRIA_OK;
}

static bool parse_path(const char *value, void *field)
{
    return value[0] && copy_text(value, field, STRIA_CONFIG_PATH_BYTES);
}

static bool parse_fault(const char *value, void *field)
{
    return value[0] && copy_text(value, field, STRIA_CONFIG_FAULT_BYTES);
}

static bool parse_policy(const char *value, void *field)
{
    static const enum stria_policy policies[] = {STRIA_POLICY_ADAPTIVE, STRIA_POLICY_RAID0};
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (strcmp(value, stria_policy_text(policies[i])) == 0) {
            *(enum stria_policy *)field = policies[i];
            return true;
        }
    }
    return false;
}

static bool parse_chunk(const char *value, void *field)
{
    uint64_t bytes;
    if (stria_size_parse(value, &bytes, NULL) != STRIA_OK || !stria_chunk_bytes_valid(bytes))
        return false;
    *(uint32_t *)field = (uint32_t)bytes;
    return true;
}

static bool parse_size(const char *value, void *field)
{
    uint64_t bytes;
    if (stria_size_parse(value, &bytes, NULL) != STRIA_OK || bytes == 0 || bytes > INT64_MAX)
        return false;
    *(uint64_t *)field = bytes;
    return true;
}

static bool parse_time_between(const char *value, void *field, uint64_t ns_min, uint64_t ns_max)
{
    uint64_t ns;
    if (stria_time_parse(value, &ns, NULL) != STRIA_OK || ns < ns_min || ns > ns_max)
        return false;
    *(uint64_t *)field = ns;
    return true;
}

static bool parse_commit_interval(const char *value, void *field)
{
    return parse_time_between(value, field, 1000000ull, 60000000000ull);
}

static bool parse_deadline(const char *value, void *field)
{
    return parse_time_between(value, field, 100000000ull, 600000000000ull);
}

static bool parse_count_between(const char *value, uint64_t *count, uint64_t least, uint64_t most)
{
    /* A size without a unit is a plain number. */
    uint64_t number;
    if (strspn(value, "0123456789") != strlen(value) || stria_size_parse(value, &number, NULL) != STRIA_OK ||
        number < least || number > most)
        return false;
    *count = number;
    return true;
}

static bool parse_yes_or_no(const char *value, void *field)
{
    const bool yes = strcmp(value, "yes") == 0;
    if (!yes && strcmp(value, "no") != 0)
        return false;
    *(bool *)field = yes;
    return true;
}

static bool parse_backend(const char *value, void *field)
{
    const bool passthrough = strcmp(value, "passthrough") == 0;
    if (!passthrough && strcmp(value, "auto") != 0)
        return false;
    *(bool *)field = passthrough;
    return true;
}

static bool parse_depth(const char *value, void *field)
{
    uint64_t depth;
    if (!parse_count_between(value, &depth, 1, STRIA_DEPTH_MAX))
        return false;
    *(uint32_t *)field = (uint32_t)depth;
    return true;
}

static bool parse_seed(const char *value, void *field)
{
    return parse_count_between(value, field, 0, UINT64_MAX);
}

static bool parse_scale_to(const char *value, void *field, double most)
{
    double scale;
    if (stria_ratio_parse(value, &scale, NULL) != STRIA_OK || scale <= 0 || scale > most)
        return false;
    *(double *)field = scale;
    return true;
}

static bool parse_capacity_scale(const char *value, void *field)
{
    return parse_scale_to(value, field, 1);
}

static bool parse_rate_scale(const char *value, void *field)
{
    return parse_scale_to(value, field, 100);
}

#define IN_ARRAY(name) offsetof(struct stria_array_config, name)
#define IN_DRIVE(name) offsetof(struct stria_drive_config, name)

const struct stria_key stria_keys[] = {
    {STRIA_KEY_ARRAY, "name", stria_name_allowed_text, "array", false,
     "What the array is called in reports and on its drives", parse_name, IN_ARRAY(name)},
    {STRIA_KEY_ARRAY, "policy", "adaptive or raid0", "adaptive", false,
     "Who takes the next chunk: the drive that can (adaptive), or each in turn as Linux md lays RAID0 out "
     "(raid0)",
     parse_policy, IN_ARRAY(policy)},
    {STRIA_KEY_ARRAY, "chunk", "a power of two from 64KiB to 16MiB", "1MiB", false,
     "The unit of striping; fixed when the array is made", parse_chunk, IN_ARRAY(chunk_bytes)},
    {STRIA_KEY_ARRAY, "buffer", "a size of at least 4 and at most 65536 chunks, such as 512MiB", "512MiB",
     false, "Memory that takes up what the drives cannot take at once; locked while recording", parse_size,
     IN_ARRAY(buffer_bytes)},
    {STRIA_KEY_ARRAY, "commit_interval", "a time from 1ms to 60s, such as 200ms", "200ms", false,
     "How often what was recorded is made durable; a power cut loses no more than about this much",
     parse_commit_interval, IN_ARRAY(commit_interval_ns)},
    {STRIA_KEY_ARRAY, "write_deadline", "a time from 100ms to 10min, such as 10s", "10s", false,
     "A drive that has not answered for this long while recording is given up, and its chunks go to the "
     "others",
     parse_deadline, IN_ARRAY(write_deadline_ns)},
    {STRIA_KEY_ARRAY, "read_deadline", "a time from 100ms to 10min, such as 10s", "10s", false,
     "A drive that has not answered for this long while nothing is recorded, but made, opened, read, "
     "verified "
     "or trimmed, is given up",
     parse_deadline, IN_ARRAY(read_deadline_ns)},
    {STRIA_KEY_ARRAY, "depth", "a whole number from 1 to 256", "8", false, "Writes in flight on each drive",
     parse_depth, IN_ARRAY(depth)},
    {STRIA_KEY_ARRAY, "discard", "yes or no", "no", false,
     "Whether everything that is free is trimmed before each recording, on drives that know TRIM; never "
     "during "
     "one",
     parse_yes_or_no, IN_ARRAY(discard)},
    {STRIA_KEY_DRIVE, "path", "a device or a file, in at most 4095 bytes", NULL, true,
     "The device, best by its name in /dev/disk/by-id, or a file; a relative path starts in this file's "
     "folder; a drive of another host is nvme-tcp://host:port/nqn",
     parse_path, IN_DRIVE(path)},
    {STRIA_KEY_DRIVE, "backend", "auto or passthrough", "auto", false,
     "How the drive is reached: as what its path is (auto), or an NVMe drive by commands of its own, past "
     "the "
     "kernel's block layer (passthrough)",
     parse_backend, IN_DRIVE(passthrough)},
    {STRIA_KEY_DRIVE, "size", "a size such as 8GiB, for a file only, at most 8388607TiB", NULL, false,
     "For a file: its size, which init creates and allocates in full", parse_size, IN_DRIVE(size_bytes)},
    {STRIA_KEY_DRIVE, "profile",
     "the name of a drive profile, such as samsung-980, or the path of one, ending in .ini", NULL, false,
     "Makes this a fake drive that behaves like that model", parse_path, IN_DRIVE(profile)},
    {STRIA_KEY_DRIVE, "capacity_scale", "a number more than 0 and at most 1, such as 0.001", "1", false,
     "For a fake drive: shrinks the sizes in its profile", parse_capacity_scale, IN_DRIVE(capacity_scale)},
    {STRIA_KEY_DRIVE, "rate_scale", "a number more than 0 and at most 100, such as 0.1", "1", false,
     "For a fake drive: scales the rates in its profile", parse_rate_scale, IN_DRIVE(rate_scale)},
    {STRIA_KEY_DRIVE, "fault", "a fault script of at most 1023 bytes", NULL, false,
     "For testing: faults to inject into this drive", parse_fault, IN_DRIVE(fault)},
    {STRIA_KEY_DRIVE, "fault_seed", "a whole number, at most 18446744073709551615", "0", false,
     "For testing: the seed of faults that come at random; 0 for none", parse_seed, IN_DRIVE(fault_seed)},
    {.name = NULL},
};

const struct stria_key *stria_key_find(enum stria_key_section section, const char *name)
{
    for (const struct stria_key *key = stria_keys; key->name; key++)
        if (key->section == section && strcmp(key->name, name) == 0)
            return key;
    return NULL;
}
