#include "survey/checks.h"

#include <inttypes.h>
#include <string.h>

/* What every SSD of today writes at least, whatever it says. */
#define PAGE_BYTES 4096

bool stria_check_format(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_format *best = stria_survey_best_format(drive);
    if (!best)
        return false;
    const struct stria_survey_format *used = &drive->formats[drive->format_used];
    if (best == used || used->lba_bytes >= PAGE_BYTES)
        return true;
    struct stria_finding *finding =
        stria_finding_add(findings, STRIA_SEVERITY_WARNING, 5, STRIA_COST_RULE, drive->path,
                          "the drive is formatted in blocks of %" PRIu32 " bytes, and offers %" PRIu32,
                          used->lba_bytes, best->lba_bytes);
    stria_finding_remedy(finding,
                         "before stria init, and after saving what is on it, for this erases the drive: nvme "
                         "format --lbaf=%u /dev/%s",
                         (unsigned)(best - drive->formats), drive->disk);
    return true;
}

bool stria_check_cache(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const bool sata = strncmp(drive->disk, "sd", 2) == 0;
    if (!drive->volatile_cache.known || (!sata && !drive->volatile_cache_present.known))
        return false;
    if (drive->volatile_cache.value || (!sata && !drive->volatile_cache_present.value))
        return true;
    struct stria_finding *finding =
        stria_finding_add(findings, STRIA_SEVERITY_WARNING, 30, STRIA_COST_RULE, drive->path,
                          "the drive's write cache is off: every write waits for the medium");
    if (sata)
        stria_finding_remedy(finding, "hdparm -W1 /dev/%s: Stria flushes what it calls durable", drive->disk);
    else
        stria_finding_remedy(
            finding, "nvme set-feature /dev/%s --feature-id=6 --value=1: Stria flushes what it calls durable",
            drive->controller);
    return true;
}

bool stria_check_scheduler(const struct stria_patient *patient, uint32_t index,
                           struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->scheduler[0])
        return false;
    const bool heavy = strcmp(drive->scheduler, "bfq") == 0;
    const bool useless = drive->controller[0] && strcmp(drive->scheduler, "none") != 0;
    if (!heavy && !useless)
        return true;
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_WARNING, heavy ? 20 : 10, STRIA_COST_RULE, drive->path,
        "the I/O scheduler of %s is %s, which sorts what needs no sorting", drive->disk, drive->scheduler);
    stria_finding_remedy(finding, "echo %s > /sys/block/%s/queue/scheduler, and a udev rule to keep it",
                         drive->controller[0] ? "none" : "mq-deadline", drive->disk);
    return true;
}

bool stria_check_requests(const struct stria_patient *patient, uint32_t index,
                          struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->nr_requests.known)
        return false;
    if (drive->nr_requests.value >= (int64_t)patient->depth)
        return true;
    const unsigned cost = stria_cost_of(drive->nr_requests.value, patient->depth);
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_WARNING, cost < 20 ? cost : 20, STRIA_COST_RULE, drive->path,
        "the kernel lets %" PRId64 " requests wait for %s, fewer than the %" PRIu32
        " that the array has in flight, and more block the one who writes",
        drive->nr_requests.value, drive->disk, patient->depth);
    stria_finding_remedy(finding,
                         "echo %" PRIu32 " > /sys/block/%s/queue/nr_requests, or a lower depth in array.ini",
                         patient->depth, drive->disk);
    return true;
}

bool stria_check_rotational(const struct stria_patient *patient, uint32_t index,
                            struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    /* Virtual disks say that they turn because nobody told them otherwise. */
    if (!drive->rotational.known || (strncmp(drive->disk, "sd", 2) != 0 && !drive->controller[0]))
        return false;
    if (!drive->rotational.value)
        return true;
    struct stria_finding *finding = stria_finding_add(findings, STRIA_SEVERITY_SERIOUS, 90, STRIA_COST_RULE,
                                                      drive->path, "%s is a disk that turns", drive->disk);
    stria_finding_remedy(finding,
                         "use an SSD: the array is as slow as its slowest drive under raid0, and gains "
                         "next to nothing from this one under adaptive");
    return true;
}

bool stria_check_alignment(const struct stria_patient *patient, uint32_t index,
                           struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->partition_offset_bytes.known)
        return false;
    const int64_t offset = drive->partition_offset_bytes.value;
    int64_t need = PAGE_BYTES;
    if (drive->physical_bytes.value > need)
        need = drive->physical_bytes.value;
    const bool misplaced = offset % need != 0;
    if (!misplaced && (drive->optimal_bytes.value <= need || offset % drive->optimal_bytes.value == 0))
        return true;
    need = misplaced ? need : drive->optimal_bytes.value;
    struct stria_finding *finding =
        stria_finding_add(findings, misplaced ? STRIA_SEVERITY_WARNING : STRIA_SEVERITY_NOTE,
                          misplaced ? 30 : 5, STRIA_COST_RULE, drive->path,
                          "the partition begins at byte %" PRId64 ", which is no multiple of %" PRId64
                          ": aligned writes become unaligned ones on the drive",
                          offset, need);
    stria_finding_remedy(finding, "use the whole drive, or make the partition anew at 1 MiB");
    return true;
}

bool stria_check_discard(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->discard.known || drive->transport == STRIA_SURVEY_FILE)
        return false;
    if (drive->discard.value)
        return true;
    const bool real = drive->transport == STRIA_SURVEY_NVME || drive->transport == STRIA_SURVEY_SATA ||
                      drive->transport == STRIA_SURVEY_SCSI;
    struct stria_finding *finding =
        stria_finding_add(findings, real ? STRIA_SEVERITY_WARNING : STRIA_SEVERITY_NOTE, real ? 30 : 5,
                          STRIA_COST_RULE, drive->path,
                          "TRIM does not reach the drive, so it keeps moving data that nobody needs, and "
                          "gets slower with every "
                          "recording");
    stria_finding_remedy(finding, real ? "connect it without the bridge or controller that swallows TRIM, or "
                                         "leave a fifth of it unused"
                                       : "let the layer beneath pass discards on");
    return true;
}
