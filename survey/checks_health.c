#include "survey/checks.h"

#include <inttypes.h>
#include <libnvme.h>
#include <string.h>

/* A drive that is so near its threshold when idle passes it under load. */
#define NEAR_C 8

bool stria_check_heat(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_figure now = drive->now.temperature_c, limit = drive->warning_c;
    if (!now.known || !limit.known)
        return false;
    if (now.value < limit.value - NEAR_C)
        return true;
    const bool over = now.value >= limit.value;
    struct stria_finding *finding = stria_finding_add(
        findings, over ? STRIA_SEVERITY_SERIOUS : STRIA_SEVERITY_WARNING, over ? 50 : 30, STRIA_COST_RULE,
        drive->path, "the drive has %" PRId64 " °C%s, and %s at %" PRId64 " °C", now.value,
        over ? "" : " already", over ? "slows itself down" : "will slow itself down", limit.value);
    stria_finding_remedy(finding, "give it a heat sink and moving air, and keep it away from its neighbours");
    return true;
}

bool stria_check_throttled(const struct stria_patient *patient, uint32_t index,
                           struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_sample *now = &drive->now;
    if (!now->throttle_count.known)
        return false;
    if (!now->throttle_count.value && !now->warning_minutes.value && !now->critical_minutes.value)
        return true;
    const bool badly = now->critical_minutes.value > 0;
    struct stria_finding *finding =
        stria_finding_add(findings, badly ? STRIA_SEVERITY_WARNING : STRIA_SEVERITY_NOTE, badly ? 30 : 10,
                          STRIA_COST_RULE, drive->path,
                          "the drive has slowed itself down %" PRId64 " times for %" PRId64
                          " s, and was %" PRId64 " min above its warning and %" PRId64
                          " min above its critical temperature, in %" PRId64 " hours of its life",
                          now->throttle_count.value, now->throttle_s.value, now->warning_minutes.value,
                          now->critical_minutes.value, drive->power_on_hours.value);
    stria_finding_remedy(finding,
                         "cool it better if that was here: watch it with stria bench, which draws the "
                         "temperature beside the rate");
    return true;
}

bool stria_check_wear(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_figure used = drive->percentage_used, spare = drive->spare_percent;
    if (!used.known || !spare.known)
        return false;
    const bool spent = spare.value < drive->spare_threshold_percent.value;
    if (used.value < 90 && !spent)
        return true;
    const bool over = used.value >= 100 || spent;
    struct stria_finding *finding =
        stria_finding_add(findings, over ? STRIA_SEVERITY_SERIOUS : STRIA_SEVERITY_WARNING, over ? 30 : 10,
                          STRIA_COST_RULE, drive->path,
                          "%" PRId64 " %% of the rated endurance is used, and %" PRId64
                          " %% of the spare is left (the drive wants %" PRId64 " %% at least)",
                          used.value, spare.value, drive->spare_threshold_percent.value);
    stria_finding_remedy(finding, "replace it before a recording that matters");
    return true;
}

bool stria_check_warning(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    static const struct {
        int bit;
        const char *meaning;
    } bits[] = {
        {NVME_SMART_CRIT_SPARE, "the spare is below its threshold"},
        {NVME_SMART_CRIT_TEMPERATURE, "the temperature is beyond a threshold"},
        {NVME_SMART_CRIT_DEGRADED, "reliability is degraded by errors"},
        {NVME_SMART_CRIT_MEDIA, "the media are read-only"},
        {NVME_SMART_CRIT_VOLATILE_MEMORY, "the backup of its memory has failed"},
        {NVME_SMART_CRIT_PMR_RO, "its persistent memory is read-only"},
    };
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_figure warning = drive->now.critical_warning;
    if (!warning.known)
        return false;
    if (!warning.value)
        return true;
    char meanings[256] = "";
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        const size_t used = strlen(meanings);
        if (warning.value & bits[i].bit)
            snprintf(meanings + used, sizeof(meanings) - used, "%s%s", used ? ", " : "", bits[i].meaning);
    }
    struct stria_finding *finding =
        stria_finding_add(findings, STRIA_SEVERITY_SERIOUS, 50, STRIA_COST_RULE, drive->path,
                          "the drive warns (0x%02" PRIx64 "): %s", (uint64_t)warning.value,
                          meanings[0] ? meanings : "of something that its maker alone knows");
    stria_finding_remedy(finding, "save what is on it, and replace it unless it is only too hot");
    return true;
}

bool stria_check_errors(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->media_errors.known)
        return false;
    if (!drive->media_errors.value)
        return true;
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_WARNING, 0, STRIA_COST_RULE, drive->path,
        "the drive counts %" PRId64 " errors in which data were lost", drive->media_errors.value);
    stria_finding_remedy(finding,
                         "see whether the count grows (stria bench accuracy reads back all it wrote), "
                         "and replace the drive if it does");
    return true;
}

bool stria_check_read_only(const struct stria_patient *patient, uint32_t index,
                           struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    if (!drive->read_only.known)
        return false;
    if (!drive->read_only.value)
        return true;
    const bool worn = drive->now.critical_warning.value & NVME_SMART_CRIT_MEDIA;
    struct stria_finding *finding =
        stria_finding_add(findings, STRIA_SEVERITY_SERIOUS, 100, STRIA_COST_COMPUTED, drive->path, "%s",
                          worn ? "the drive has made itself read-only" : "the device is read-only");
    stria_finding_remedy(finding, worn ? "save what is on it, and replace it"
                                       : "lift the write protection: a switch, blockdev --setrw, or the "
                                         "namespace's own");
    return true;
}
