/* Any text is an array.ini whose every field keeps its bounds, or is refused in sentences that name the file.
 */
#include "backends/fault_script.h"
#include "config/array.h"
#include "config/keys.h"
#include "core/bits.h"
#include "tests/fuzz/text.h"

#include <stdlib.h>

#define FILE_NAME "folder-that-is-not/array.ini"

/* What such a file is made of. */
static const char *const lines[] = {
    "[array]\n",
    "name = rig\n",
    "policy = raid0\n",
    "policy = adaptive\n",
    "chunk = 1MiB\n",
    "chunk=64KiB ; the least\n",
    "buffer = 512MiB\n",
    "commit_interval = 200ms\n",
    "write_deadline = 5s\n",
    "read_deadline = 5s\n",
    "discard = yes\n",
    "depth = 32\n",
    "[drive.left]\n",
    "[drive.right]\n",
    "[drive.d2]\n",
    "path = drive0.img\n",
    "path = memory:1GiB\n",
    "path = /dev/disk/by-id/nvme-a\n",
    "size = 8GiB\n",
    "profile = samsung-980\n",
    "profile = own.ini\n",
    "capacity_scale = 0.001\n",
    "rate_scale = 0.1\n",
    "fault = write#120:eio; after=2s:gone\n",
    "fault_seed = 7\n",
    "# a comment\n",
    "\n",
    "\xef\xbb\xbf",
    "chunck = 1MiB\n",
    "[drives.left]\n",
};

size_t fuzz_sound_input(uint8_t *out, struct stria_random *random)
{
    static const char sound[] =
        "[array]\nname = rig\nchunk = 1MiB\nbuffer = 64MiB\n[drive.left]\npath = a.img\n"
        "size = 1GiB\n[drive.right]\npath = b.img\nprofile = samsung-980\n";
    size_t bytes = 0;
    if (stria_random_below(random, 3) > 0) {
        memcpy(out, sound, sizeof(sound) - 1);
        bytes = sizeof(sound) - 1;
    }
    for (uint64_t more = stria_random_below(random, 25); more > 0; more--) {
        const char *line = lines[stria_random_below(random, sizeof(lines) / sizeof(lines[0]))];
        memcpy(out + bytes, line, strlen(line));
        bytes += strlen(line);
    }
    return bytes;
}

static void check_drive(const struct stria_array_config *config, uint32_t index)
{
    const struct stria_drive_config *drive = &config->drives[index];
    FUZZ_CHECK(stria_name_allowed(drive->name) && drive->line > 0);
    for (uint32_t other = 0; other < index; other++)
        FUZZ_CHECK(strcmp(config->drives[other].name, drive->name) != 0);
    FUZZ_CHECK(drive->path[0] && memchr(drive->path, 0, sizeof(drive->path)));
    FUZZ_CHECK(memchr(drive->profile, 0, sizeof(drive->profile)));
    FUZZ_CHECK(memchr(drive->fault, 0, sizeof(drive->fault)));
    FUZZ_CHECK(drive->size_bytes <= INT64_MAX);
    FUZZ_CHECK(drive->capacity_scale > 0 && drive->capacity_scale <= 1);
    FUZZ_CHECK(drive->rate_scale > 0 && drive->rate_scale <= 100);
    struct fault_script script;
    struct stria_trouble trouble;
    if (drive->fault[0] && fault_script_parse(drive->fault, &script, &trouble) == STRIA_OK)
        FUZZ_CHECK(script.rule_count > 0 && script.rule_count <= STRIA_FAULT_RULES_MAX);
}

static void check_config(const struct stria_array_config *config)
{
    FUZZ_CHECK(config->policy == STRIA_POLICY_RAID0 || config->policy == STRIA_POLICY_ADAPTIVE);
    FUZZ_CHECK(stria_name_allowed(config->name));
    FUZZ_CHECK(stria_is_power_of_two(config->chunk_bytes) && config->chunk_bytes >= STRIA_CHUNK_BYTES_MIN &&
               config->chunk_bytes <= STRIA_CHUNK_BYTES_MAX);
    FUZZ_CHECK(config->buffer_bytes >= (uint64_t)STRIA_SLOTS_MIN * config->chunk_bytes &&
               config->buffer_bytes <= (uint64_t)STRIA_SLOTS_MAX * config->chunk_bytes);
    FUZZ_CHECK(config->commit_interval_ns >= 1000000 && config->commit_interval_ns <= 60000000000);
    FUZZ_CHECK(config->write_deadline_ns >= 100000000 && config->write_deadline_ns <= 600000000000);
    FUZZ_CHECK(config->read_deadline_ns >= 100000000 && config->read_deadline_ns <= 600000000000);
    FUZZ_CHECK(config->depth >= 1 && config->depth <= STRIA_DEPTH_MAX);
    FUZZ_CHECK(config->drive_count >= 1 && config->drive_count <= STRIA_DRIVES_MAX);
    for (uint32_t index = 0; index < config->drive_count; index++)
        check_drive(config, index);
}

/* No profile is looked for outside of this program, nor devices opened: what the input names is not ours. */
static void keep_inside(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '/')
            text[i] = '_';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct stria_array_config config;
    struct stria_problems problems = {0};
    /* Exactly as large, so that a sanitizer sees a read behind it. */
    char *text = malloc(bytes + (bytes == 0));
    FUZZ_CHECK(text != NULL);
    memcpy(text, data, bytes);
    keep_inside(text, bytes);
    const int code = stria_array_config_parse(FILE_NAME, text, bytes, &config, &problems);
    FUZZ_CHECK(code == STRIA_OK || code == STRIA_ERR_INVALID);
    fuzz_check_problems(&problems, code == STRIA_OK, FILE_NAME);
    if (code == STRIA_OK)
        check_config(&config);
    stria_problems_clear(&problems);
    free(text);
    return 0;
}
