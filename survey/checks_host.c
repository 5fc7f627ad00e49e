#include "survey/checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* As long as a fast drive's own latency: waking up from it is seen in every completion. */
#define SLEEP_US 50

static const char machine[] = "this machine";

static int64_t mebibytes(uint64_t bytes)
{
    return (int64_t)(bytes >> 20);
}

bool stria_check_governor(const struct stria_patient *patient, struct stria_findings *findings)
{
    const struct stria_survey_host *host = patient->host;
    if (!host->slow_cpus.known)
        return false;
    if (!host->slow_cpus.value)
        return true;
    /* These drivers choose the frequency themselves; their powersave is a mild one. */
    const bool own =
        strncmp(host->driver, "intel_pstate", 12) == 0 || strcmp(host->driver, "amd-pstate-epp") == 0;
    const bool slowest = strcmp(host->governor, "powersave") == 0 && !own;
    struct stria_finding *finding = stria_finding_add(
        findings, slowest ? STRIA_SEVERITY_SERIOUS : STRIA_SEVERITY_NOTE, slowest ? 40 : 5, STRIA_COST_RULE,
        machine, "the frequency governor of %" PRId64 " processors is %s (driver %s)%s",
        host->slow_cpus.value, host->governor, host->driver[0] ? host->driver : "unknown",
        slowest ? ", which keeps them at their lowest frequency"
                : ", which raises their frequency only after a while");
    stria_finding_remedy(finding, "cpupower frequency-set --governor performance");
    return true;
}

bool stria_check_idle_states(const struct stria_patient *patient, struct stria_findings *findings)
{
    const struct stria_survey_host *host = patient->host;
    if (!host->idle_latency_us.known)
        return false;
    if (host->idle_latency_us.value < SLEEP_US)
        return true;
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_NOTE, 5, STRIA_COST_RULE, machine,
        "idle processors fall into state %s, and need %" PRId64 " µs to wake up from it",
        host->idle_name[0] ? host->idle_name : "without a name", host->idle_latency_us.value);
    stria_finding_remedy(finding, "cpupower idle-set --disable-by-latency %d", SLEEP_US);
    return true;
}

/* The buffer is locked once; and pinned by each drive's ring, which is counted each time. */
bool stria_check_memlock(const struct stria_patient *patient, struct stria_findings *findings)
{
    const struct stria_survey_host *host = patient->host;
    if (!host->memlock_bytes.known)
        return false;
    const uint64_t limit = (uint64_t)host->memlock_bytes.value;
    const uint64_t pinned = patient->buffer_bytes * (patient->drive_count ? patient->drive_count : 1);
    if (stria_survey_capable(host, STRIA_SURVEY_CAP_IPC_LOCK) || limit >= pinned)
        return true;
    const bool swappable = limit < patient->buffer_bytes;
    struct stria_finding *finding =
        stria_finding_add(findings, swappable ? STRIA_SEVERITY_WARNING : STRIA_SEVERITY_NOTE,
                          swappable ? 20 : 10, STRIA_COST_RULE, machine,
                          "%" PRId64 " MiB may be locked in memory (RLIMIT_MEMLOCK); the buffer has %" PRId64
                          " MiB, and %" PRId64 " MiB are counted when each drive's ring pins it%s",
                          mebibytes(limit), mebibytes(patient->buffer_bytes), mebibytes(pinned),
                          swappable ? ": it can be swapped out, and every write pins its pages anew" : "");
    stria_finding_remedy(finding,
                         "raise it: ulimit -l, memlock in /etc/security/limits.conf, LimitMEMLOCK= of a "
                         "service, or CAP_IPC_LOCK");
    return true;
}

bool stria_check_kernel(const struct stria_patient *patient, struct stria_findings *findings)
{
    const struct stria_survey_host *host = patient->host;
    if (!host->kernel_version.known)
        return false;
    if (host->kernel_version.value >= 6001)
        return true;
    const bool too_old = host->kernel_version.value < 5011;
    struct stria_finding *finding = stria_finding_add(
        findings, too_old ? STRIA_SEVERITY_SERIOUS : STRIA_SEVERITY_WARNING, too_old ? 100 : 5,
        too_old ? STRIA_COST_COMPUTED : STRIA_COST_RULE, machine, "Linux %s %s", host->kernel,
        too_old ? "has too little of io_uring: files and devices cannot be opened as drives"
        : host->kernel_version.value < 5019
            ? "interrupts the threads that write for every completion"
            : "wakes the threads that write for completions that they did not ask for");
    stria_finding_remedy(finding, "use Linux 6.1, the one of Debian 12, or newer");
    return true;
}

bool stria_check_io_uring(const struct stria_patient *patient, struct stria_findings *findings)
{
    const struct stria_survey_host *host = patient->host;
    if (!host->io_uring_disabled.known)
        return false;
    const int64_t disabled = host->io_uring_disabled.value;
    if (!disabled || (disabled == 1 && stria_survey_capable(host, STRIA_SURVEY_CAP_SYS_ADMIN)))
        return true;
    struct stria_finding *finding =
        stria_finding_add(findings, STRIA_SEVERITY_SERIOUS, 100, STRIA_COST_COMPUTED, machine,
                          "io_uring is forbidden to %s (kernel.io_uring_disabled is %" PRId64 ")",
                          disabled == 1 ? "processes without privileges" : "everybody", disabled);
    stria_finding_remedy(finding,
                         disabled == 1
                             ? "sysctl kernel.io_uring_disabled=0, or join the group in kernel.io_uring_group"
                             : "sysctl kernel.io_uring_disabled=0");
    return true;
}

static uint64_t huge_bytes(const struct stria_survey_host *host)
{
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)host->huge_page_bytes.value, (uint64_t)host->huge_pages_free.value,
                               &bytes))
        return UINT64_MAX;
    return bytes;
}

bool stria_check_memory(const struct stria_patient *patient, struct stria_findings *findings)
{
    const struct stria_survey_host *host = patient->host;
    if (!host->memory_available_bytes.known)
        return false;
    /* Huge pages that are set aside are not available, and all that the buffer needs. */
    if (huge_bytes(host) >= patient->buffer_bytes ||
        (uint64_t)host->memory_available_bytes.value >= patient->buffer_bytes)
        return true;
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_SERIOUS, 100, STRIA_COST_COMPUTED, machine,
        "the buffer has %" PRId64 " MiB, of this machine's %" PRId64 " MiB memory %" PRId64 " MiB are free",
        mebibytes(patient->buffer_bytes), mebibytes((uint64_t)host->memory_bytes.value),
        mebibytes((uint64_t)host->memory_available_bytes.value));
    stria_finding_remedy(finding, "end what takes the memory, or give [array] a smaller buffer");
    return true;
}

bool stria_check_huge_pages(const struct stria_patient *patient, struct stria_findings *findings)
{
    const struct stria_survey_host *host = patient->host;
    if (!host->huge_page_bytes.known || !host->huge_pages_free.known)
        return false;
    if (huge_bytes(host) >= patient->buffer_bytes)
        return true;
    const bool never = strcmp(host->transparent_huge_pages, "never") == 0;
    const uint64_t page = host->huge_page_bytes.value > 0 ? (uint64_t)host->huge_page_bytes.value : 1;
    struct stria_finding *finding = stria_finding_add(
        findings, never ? STRIA_SEVERITY_WARNING : STRIA_SEVERITY_NOTE, never ? 10 : 2, STRIA_COST_RULE,
        machine, "%" PRId64 " huge pages are free, and the buffer of %" PRId64 " MiB needs %" PRIu64 "%s",
        host->huge_pages_free.value, mebibytes(patient->buffer_bytes),
        (patient->buffer_bytes + page - 1) / page,
        never ? "; transparent ones are off" : "; transparent ones stand in where memory is not fragmented");
    stria_finding_remedy(finding, "sysctl vm.nr_hugepages=%" PRIu64 " soon after boot",
                         (patient->buffer_bytes + page - 1) / page);
    return true;
}
