#include "support/clock.h"
#include "survey/checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Slower writing than this is what any system does at times. */
#define STIR_BYTES_PER_S 1000000

static int64_t gigabytes_tenths(int64_t bytes)
{
    return bytes / 100000000;
}

static int full_percent(int64_t free_bytes, int64_t bytes)
{
    return bytes > 0 ? (int)(100 - (double)free_bytes * 100 / (double)bytes) : 100;
}

bool stria_check_present(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_trouble *trouble = patient->troubles ? &patient->troubles[index] : NULL;
    if (!trouble || trouble->code == STRIA_OK)
        return true;
    struct stria_finding *finding =
        stria_finding_add(findings, STRIA_SEVERITY_SERIOUS, 100, STRIA_COST_COMPUTED,
                          patient->drives[index]->path, "%.500s", trouble->sentence);
    stria_finding_remedy(finding, "see that sentence");
    return true;
}

struct system_kind {
    const char *prefix; /* of the type */
    enum stria_severity severity;
    unsigned cost_percent;
    const char *why, *remedy;
};

static const struct system_kind *kind_of(const char *type)
{
    static const char far[] = "which adds a network or another process to every write";
    static const char copies[] = "which writes every block to a new place and keeps sums of its own";
    static const char near_[] = "put the file on a local ext4 or xfs, or use a whole drive";
    static const char cow[] = "use a whole drive, ext4 or xfs, or a folder with chattr +C";
    static const struct system_kind kinds[] = {
        {"tmpfs", STRIA_SEVERITY_WARNING, 0, "which is memory: nothing survives a power cut", near_},
        {"ramfs", STRIA_SEVERITY_WARNING, 0, "which is memory: nothing survives a power cut", near_},
        {"nfs", STRIA_SEVERITY_SERIOUS, 50, far, near_},
        {"cifs", STRIA_SEVERITY_SERIOUS, 50, far, near_},
        {"smb", STRIA_SEVERITY_SERIOUS, 50, far, near_},
        {"9p", STRIA_SEVERITY_SERIOUS, 50, far, near_},
        {"virtiofs", STRIA_SEVERITY_SERIOUS, 50, far, near_},
        {"fuse", STRIA_SEVERITY_SERIOUS, 50, far, near_},
        {"overlay", STRIA_SEVERITY_WARNING, 20, "which lies over another one", near_},
        {"btrfs", STRIA_SEVERITY_WARNING, 30, copies, cow},
        {"zfs", STRIA_SEVERITY_WARNING, 30, copies, "use a whole drive, ext4 or xfs"},
        {"bcachefs", STRIA_SEVERITY_WARNING, 30, copies, "use a whole drive, ext4 or xfs"},
        {"", STRIA_SEVERITY_NOTE, 5, "which takes its share of every write",
         "use a whole drive where every bit "
         "of rate counts"},
    };
    const struct system_kind *kind = kinds;
    while (strncmp(type, kind->prefix, strlen(kind->prefix)) != 0)
        kind++;
    return kind;
}

bool stria_check_file_system(const struct stria_patient *patient, uint32_t index,
                             struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_file_system *system = &drive->file_system;
    if (drive->transport != STRIA_SURVEY_FILE || !system->type[0])
        return false;
    const struct system_kind *kind = kind_of(system->type);
    char fullness[48] = "";
    if (system->bytes.known)
        snprintf(fullness, sizeof(fullness), ", %d %% full",
                 full_percent(system->free_bytes.value, system->bytes.value));
    struct stria_finding *finding = stria_finding_add(
        findings, kind->severity, kind->cost_percent, STRIA_COST_RULE, drive->path,
        "the drive is a file on %s at %s%s, %s", system->type, system->place, fullness, kind->why);
    stria_finding_remedy(finding, "%s", kind->remedy);
    return true;
}

bool stria_check_room(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_file_system *system = &drive->file_system;
    if (drive->transport != STRIA_SURVEY_FILE || !system->bytes.known)
        return false;
    const int64_t wanted =
        !drive->exists && patient->wanted_bytes ? (int64_t)patient->wanted_bytes[index] : 0;
    const int64_t missing = wanted - system->free_bytes.value;
    if (missing > 0) {
        const int64_t tenths = gigabytes_tenths(missing) + 1;
        struct stria_finding *finding =
            stria_finding_add(findings, STRIA_SEVERITY_SERIOUS, 100, STRIA_COST_COMPUTED, drive->path,
                              "the file does not fit: %" PRId64 ".%" PRId64 " GB are missing on %s at %s",
                              tenths / 10, tenths % 10, system->type, system->place);
        stria_finding_remedy(finding, "make room there, or give the drive a smaller size in array.ini");
        return true;
    }
    const int full = full_percent(system->free_bytes.value - wanted, system->bytes.value);
    /* An allocated file suffers from a full neighbourhood only as far as the drive beneath does. */
    if (full < 90 || strcmp(system->type, "tmpfs") == 0)
        return true;
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_WARNING, 20, STRIA_COST_RULE, drive->path,
        "%s at %s %s %d %% full: its extents are scattered, and the drive beneath has little "
        "left to write to quickly",
        system->type, system->place, wanted ? "will be" : "is", full);
    stria_finding_remedy(finding, "free some of it, then fstrim %s", system->place);
    return true;
}

bool stria_check_sparse(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->allocated_bytes.known || !drive->size_bytes.known)
        return false;
    if (drive->allocated_bytes.value >= drive->size_bytes.value)
        return true;
    const double share = (double)drive->allocated_bytes.value * 100 / (double)drive->size_bytes.value;
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_WARNING, 30, STRIA_COST_RULE, drive->path,
        "%d %% of the file is allocated: the first write to the rest waits for the file system, "
        "one at a time, and may find no room",
        (int)share);
    stria_finding_remedy(finding,
                         "let stria init allocate it: remove the file, or run fallocate -l %" PRId64 " %s",
                         drive->size_bytes.value, drive->path);
    return true;
}

static void print_use(char *out, size_t size, const struct stria_survey_user *user)
{
    static const char *const words[] = {
        [STRIA_SURVEY_MOUNT] = "mounted on ",
        [STRIA_SURVEY_SWAP] = "swap as ",
        [STRIA_SURVEY_HOLDER] = "part of ",
        [STRIA_SURVEY_ARRAY] = "a drive of array ",
    };
    snprintf(out, size, "%s%s%s%.200s", user->part, user->part[0] ? " is " : "", words[user->use],
             user->what);
}

bool stria_check_in_use(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->exists || drive->transport == STRIA_SURVEY_STAND_IN)
        return false;
    char uses[400] = "";
    unsigned count = 0;
    for (uint32_t i = 0; i < drive->user_count; i++) {
        char use[300];
        const size_t used = strlen(uses);
        if (drive->users[i].use == STRIA_SURVEY_ARRAY || ++count > 4)
            continue;
        print_use(use, sizeof(use), &drive->users[i]);
        snprintf(uses + used, sizeof(uses) - used, "%s%s", used ? ", " : "", use);
    }
    if (!count)
        return true;
    struct stria_finding *finding =
        stria_finding_add(findings, STRIA_SEVERITY_SERIOUS, 100, STRIA_COST_COMPUTED, drive->path,
                          "in use, so that init refuses it and record cannot have it: %s%s", uses,
                          count > 4 ? " and more" : "");
    stria_finding_remedy(finding,
                         "end that use (umount, swapoff, losetup -d, mdadm --stop), or take another drive");
    return true;
}

bool stria_check_same_disk(const struct stria_patient *patient, struct stria_findings *findings)
{
    bool judged = false;
    for (uint32_t i = 0; i < patient->drive_count; i++) {
        const char *disk = patient->drives[i]->disk;
        char paths[256] = "";
        unsigned count = 0;
        bool first = true;
        for (uint32_t j = 0; disk[0] && j < patient->drive_count; j++) {
            const size_t used = strlen(paths);
            if (strcmp(patient->drives[j]->disk, disk) != 0)
                continue;
            first &= j >= i;
            count++;
            snprintf(paths + used, sizeof(paths) - used, "%s%.100s", used ? ", " : "",
                     patient->drives[j]->path);
        }
        judged |= disk[0] && patient->drive_count > 1;
        if (count < 2 || !first)
            continue;
        struct stria_finding *finding = stria_finding_add(
            findings, STRIA_SEVERITY_SERIOUS, 100 - 100 / count, STRIA_COST_COMPUTED, paths,
            "%u drives of the array are on one disk, %s%s%s: together they are as fast as it is alone", count,
            disk, patient->drives[i]->model[0] ? ", a " : "", patient->drives[i]->model);
        stria_finding_remedy(finding, "give each drive of the array a disk of its own");
    }
    return judged;
}

static void list_writers(const struct stria_writers *writers, uint32_t drive, char *out, size_t size)
{
    for (uint32_t i = 0; i < writers->process_count; i++) {
        const struct stria_writer_process *process = &writers->processes[i];
        const size_t used = strlen(out);
        if (process->drive == drive && process->before.known && process->after.known &&
            process->after.value > process->before.value)
            snprintf(out + used, size - used, "%s%s (process %d, %s)", used ? ", " : "", process->name,
                     process->pid, process->file);
    }
}

bool stria_check_writers(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_writers *writers = patient->writers;
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!writers || !writers->disk_before[index].known || !writers->disk_after[index].known ||
        !writers->interval_ns)
        return false;
    const int64_t written = writers->disk_after[index].value - writers->disk_before[index].value;
    const double bytes_per_s = (double)written * (double)STRIA_NS_PER_S / (double)writers->interval_ns;
    if (bytes_per_s < STIR_BYTES_PER_S)
        return true;
    char who[300] = "";
    list_writers(writers, index, who, sizeof(who));
    const int64_t link = drive->link.bytes_per_s.value;
    const unsigned cost = link > 0 ? stria_cost_of(link - (int64_t)bytes_per_s, link) : 20;
    struct stria_finding *finding =
        stria_finding_add(findings, cost >= 25 ? STRIA_SEVERITY_SERIOUS : STRIA_SEVERITY_WARNING, cost,
                          link > 0 ? STRIA_COST_COMPUTED : STRIA_COST_RULE, drive->path,
                          "somebody writes %.1f MB/s to %s now: %s", bytes_per_s / 1e6, drive->disk,
                          who[0] ? who : "no process was seen to have it open");
    stria_finding_remedy(finding, "end that before a recording, or give it another drive");
    return true;
}
