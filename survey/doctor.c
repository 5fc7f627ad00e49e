#include "survey/doctor.h"

#include "support/plain.h"
#include "survey/checks.h"

#include <stdarg.h>
#include <stdio.h>

const struct stria_check stria_checks[] = {
    /* clang-format off */
    {"present", "the drive is there", stria_check_present, NULL},
    {"link", "the PCIe or SATA link runs as fast and wide as both its ends can", stria_check_link, NULL},
    {"slot", "the slot is built for what the drive is built for", stria_check_slot, NULL},
    {"port", "no bridge is narrower than the drives behind it together", NULL, stria_check_port},
    {"same-disk", "no two drives of the array are the same disk", NULL, stria_check_same_disk},
    {"temperature", "the drive is below the temperature at which it slows down", stria_check_heat, NULL},
    {"throttled", "the drive has not been too hot before", stria_check_throttled, NULL},
    {"wear", "rated endurance and spare are left", stria_check_wear, NULL},
    {"critical-warning", "the drive warns of nothing", stria_check_warning, NULL},
    {"media-errors", "the drive has lost no data", stria_check_errors, NULL},
    {"read-only", "the drive can be written", stria_check_read_only, NULL},
    {"format", "blocks of 4096 bytes are in use where the drive offers them", stria_check_format, NULL},
    {"volatile-cache", "a write cache that is there is on", stria_check_cache, NULL},
    {"scheduler", "the I/O scheduler stays out of the way", stria_check_scheduler, NULL},
    {"requests", "the kernel's queue is as deep as the array's", stria_check_requests, NULL},
    {"rotational", "the drive is not a disk that turns", stria_check_rotational, NULL},
    {"alignment", "a partition begins where blocks begin", stria_check_alignment, NULL},
    {"discard", "the drive can be told what is free", stria_check_discard, NULL},
    {"numa", "drives, memory and processors are on one node", NULL, stria_check_numa},
    {"interrupts", "several processors serve a drive's interrupts", stria_check_interrupts, NULL},
    {"file-system", "a file lies on a file system that writes direct", stria_check_file_system, NULL},
    {"room", "there is room for the file", stria_check_room, NULL},
    {"allocated", "all of a file is allocated", stria_check_sparse, NULL},
    {"in-use", "nobody else has the drive", stria_check_in_use, NULL},
    {"writers", "nobody writes to the drive now", stria_check_writers, NULL},
    {"governor", "processors run at full speed", NULL, stria_check_governor},
    {"idle-states", "processors wake up in no time", NULL, stria_check_idle_states},
    {"memlock", "the buffer may be locked in memory", NULL, stria_check_memlock},
    {"kernel", "the kernel has what is used of io_uring", NULL, stria_check_kernel},
    {"io-uring", "io_uring is allowed", NULL, stria_check_io_uring},
    {"memory", "the buffer fits into free memory", NULL, stria_check_memory},
    {"huge-pages", "the buffer fits into huge pages", NULL, stria_check_huge_pages},
    {NULL, NULL, NULL, NULL},
    /* clang-format on */
};

_Static_assert(sizeof(stria_checks) / sizeof(stria_checks[0]) <= STRIA_CHECKS_MAX, "room for every check");

struct stria_finding *stria_finding_add(struct stria_findings *findings, enum stria_severity severity,
                                        unsigned cost_percent, enum stria_cost_basis basis,
                                        const char *subject, const char *evidence, ...)
{
    if (findings->count == STRIA_FINDINGS_MAX) {
        findings->more++;
        return NULL;
    }
    struct stria_finding *finding = &findings->list[findings->count++];
    *finding = (struct stria_finding){
        .severity = severity, .cost_percent = cost_percent > 100 ? 100 : cost_percent, .basis = basis};
    snprintf(finding->subject, sizeof(finding->subject), "%.*s", (int)sizeof(finding->subject) - 1, subject);
    va_list arguments;
    va_start(arguments, evidence);
    vsnprintf(finding->evidence, sizeof(finding->evidence), evidence, arguments);
    va_end(arguments);
    stria_plain(finding->subject);
    stria_plain(finding->evidence);
    return finding;
}

void stria_finding_remedy(struct stria_finding *finding, const char *format, ...)
{
    if (!finding)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->remedy, sizeof(finding->remedy), format, arguments);
    stria_plain(finding->remedy);
    va_end(arguments);
}

unsigned stria_cost_of(int64_t now, int64_t could)
{
    if (could <= 0 || now >= could)
        return 0;
    const double lost = (double)could - (double)(now < 0 ? 0 : now);
    return (unsigned)(lost * 100 / (double)could + 0.5);
}

enum stria_severity stria_severity_of(unsigned cost_percent)
{
    return cost_percent >= 25  ? STRIA_SEVERITY_SERIOUS
           : cost_percent >= 5 ? STRIA_SEVERITY_WARNING
                               : STRIA_SEVERITY_NOTE;
}

static bool run_check(const struct stria_check *check, const struct stria_patient *patient,
                      struct stria_findings *findings)
{
    bool judged = false;
    const uint32_t first = findings->count;
    if (check->of_all)
        judged = check->of_all(patient, findings);
    for (uint32_t drive = 0; check->of_drive && drive < patient->drive_count; drive++)
        judged |= check->of_drive(patient, drive, findings);
    for (uint32_t i = first; i < findings->count; i++)
        findings->list[i].check = check->name;
    return judged;
}

static int compare(const struct stria_finding *a, const struct stria_finding *b)
{
    if (a->cost_percent != b->cost_percent)
        return a->cost_percent < b->cost_percent ? 1 : -1;
    return (int)b->severity - (int)a->severity;
}

/* Equal ones stay in the order of the table. */
static void sort(struct stria_findings *findings)
{
    for (uint32_t i = 1; i < findings->count; i++) {
        const struct stria_finding moved = findings->list[i];
        uint32_t place = i;
        for (; place > 0 && compare(&findings->list[place - 1], &moved) > 0; place--)
            findings->list[place] = findings->list[place - 1];
        findings->list[place] = moved;
    }
}

void stria_doctor_examine(const struct stria_patient *patient, struct stria_findings *findings,
                          bool judged[STRIA_CHECKS_MAX])
{
    findings->count = findings->more = 0;
    for (unsigned i = 0; stria_checks[i].name; i++)
        judged[i] = run_check(&stria_checks[i], patient, findings);
    sort(findings);
}

enum stria_severity stria_doctor_worst(const struct stria_findings *findings)
{
    enum stria_severity worst = STRIA_SEVERITY_NOTE;
    for (uint32_t i = 0; i < findings->count; i++)
        worst = findings->list[i].severity > worst ? findings->list[i].severity : worst;
    return worst;
}

const char *stria_severity_text(enum stria_severity severity)
{
    static const char *const texts[] = {[STRIA_SEVERITY_NOTE] = "note",
                                        [STRIA_SEVERITY_WARNING] = "warning",
                                        [STRIA_SEVERITY_SERIOUS] = "serious"};
    return texts[severity];
}
