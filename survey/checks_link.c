#include "survey/checks.h"
#include "survey/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "16.0 GT/s x4". */
static const char *link_text(char out[48], int64_t mts, int64_t width)
{
    snprintf(out, 48, "%" PRId64 ".%" PRId64 " GT/s x%" PRId64, mts / 1000, mts % 1000 / 100, width);
    return out;
}

static int64_t lower(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t megabytes(int64_t bytes)
{
    return bytes / 1000000;
}

/* The port that the drive is plugged into; null if it is not known. */
static const struct stria_survey_link *port_of(const struct stria_survey_drive *drive)
{
    if (drive->transport != STRIA_SURVEY_NVME || drive->bridge_count < 2)
        return NULL;
    const struct stria_survey_link *port = &drive->bridges[drive->bridge_count - 2].link;
    return port->capable_mts.known && port->capable_width.known ? port : NULL;
}

static int64_t rate_of(int64_t mts, int64_t width)
{
    const struct stria_survey_figure speed = {true, mts}, lanes = {true, width};
    return stria_link_bytes_per_s(speed, lanes).value;
}

bool stria_check_link(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_link *link = &drive->link, *port = port_of(drive);
    if (!link->bytes_per_s.known || !link->capable_bytes_per_s.known)
        return false;
    const int64_t mts =
        port ? lower(link->capable_mts.value, port->capable_mts.value) : link->capable_mts.value;
    const int64_t width =
        port ? lower(link->capable_width.value, port->capable_width.value) : link->capable_width.value;
    if (link->mts.value >= mts && link->width.value >= width)
        return true;
    char now[48], could[48];
    const bool sata = drive->transport == STRIA_SURVEY_SATA;
    const int64_t best = sata ? link->capable_bytes_per_s.value : rate_of(mts, width);
    const unsigned cost = stria_cost_of(link->bytes_per_s.value, best);
    struct stria_finding *finding = stria_finding_add(
        findings, stria_severity_of(cost), cost, STRIA_COST_COMPUTED, drive->path,
        "the link runs at %s, %" PRId64 " MB/s at most, though both ends can do %s, %" PRId64 " MB/s",
        link_text(now, link->mts.value, link->width.value), megabytes(link->bytes_per_s.value),
        link_text(could, mts, width), megabytes(best));
    stria_finding_remedy(finding,
                         sata ? "replace the cable, and look for link errors in the kernel's log"
                              : "reseat the drive or its riser, clean the contacts, set the slot's speed to "
                                "automatic in the firmware, and look for AER messages in the kernel's log");
    return true;
}

bool stria_check_slot(const struct stria_patient *patient, uint32_t index, struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    const struct stria_survey_link *link = &drive->link, *port = port_of(drive);
    if (!port || !link->capable_bytes_per_s.known)
        return false;
    if (port->capable_mts.value >= link->capable_mts.value &&
        port->capable_width.value >= link->capable_width.value)
        return true;
    char slot[48], could[48];
    const int64_t best = rate_of(lower(port->capable_mts.value, link->capable_mts.value),
                                 lower(port->capable_width.value, link->capable_width.value));
    const unsigned cost = stria_cost_of(best, link->capable_bytes_per_s.value);
    struct stria_finding *finding = stria_finding_add(
        findings, stria_severity_of(cost), cost, STRIA_COST_COMPUTED, drive->path,
        "the drive is built for %s, its slot (%s) for %s: %" PRId64 " instead of %" PRId64 " MB/s",
        link_text(could, link->capable_mts.value, link->capable_width.value),
        drive->bridges[drive->bridge_count - 2].address,
        link_text(slot, port->capable_mts.value, port->capable_width.value), megabytes(best),
        megabytes(link->capable_bytes_per_s.value));
    stria_finding_remedy(finding, "move it to a faster or wider slot, if the machine has one");
    return true;
}

/* The drives behind one bridge, and what their links carry together. */
struct shared_port {
    const struct stria_survey_bridge *bridge;
    uint64_t drives; /* a bit for each */
    unsigned count;
    int64_t bytes_per_s;
    char paths[256];
};

static bool is_behind(const struct stria_survey_drive *drive, const char *address)
{
    for (uint32_t i = 0; i + 1 < drive->bridge_count; i++)
        if (strcmp(drive->bridges[i].address, address) == 0)
            return true;
    return false;
}

/* Two namespaces of one controller have but one link. */
static bool is_repeated(const struct stria_patient *patient, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(patient->drives[i]->controller, patient->drives[index]->controller) == 0)
            return true;
    return false;
}

static void add_behind(const struct stria_patient *patient, struct shared_port *port)
{
    for (uint32_t i = 0; i < patient->drive_count && i < 64; i++) {
        const struct stria_survey_drive *drive = patient->drives[i];
        if (!drive->controller[0] || !drive->link.bytes_per_s.known || is_repeated(patient, i) ||
            !is_behind(drive, port->bridge->address))
            continue;
        const size_t used = strlen(port->paths);
        snprintf(port->paths + used, sizeof(port->paths) - used, "%s%.200s", used ? ", " : "", drive->path);
        port->drives |= UINT64_C(1) << i;
        port->count++;
        port->bytes_per_s += drive->link.bytes_per_s.value;
    }
}

/* Of the bridges that the same drives share, the narrowest counts. */
static void find_narrowest(const struct stria_patient *patient, uint32_t index, struct shared_port *narrowest)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    narrowest->count = 0;
    for (uint32_t i = 0; i + 1 < drive->bridge_count; i++) {
        struct shared_port port = {.bridge = &drive->bridges[i]};
        if (!port.bridge->link.bytes_per_s.known)
            continue;
        add_behind(patient, &port);
        if (port.count < 2 || port.bridge->link.bytes_per_s.value >= port.bytes_per_s)
            continue;
        if (!narrowest->count ||
            stria_cost_of(port.bridge->link.bytes_per_s.value, port.bytes_per_s) >
                stria_cost_of(narrowest->bridge->link.bytes_per_s.value, narrowest->bytes_per_s))
            *narrowest = port;
    }
}

bool stria_check_port(const struct stria_patient *patient, struct stria_findings *findings)
{
    uint64_t told = 0;
    bool judged = false;
    for (uint32_t i = 0; i < patient->drive_count && i < 64; i++) {
        struct shared_port port;
        char now[48];
        judged |= patient->drive_count > 1 && patient->drives[i]->bridge_count > 1;
        if (told >> i & 1 || !patient->drives[i]->controller[0])
            continue;
        find_narrowest(patient, i, &port);
        if (!port.count)
            continue;
        told |= port.drives;
        const struct stria_survey_link *link = &port.bridge->link;
        const unsigned cost = stria_cost_of(link->bytes_per_s.value, port.bytes_per_s);
        struct stria_finding *finding = stria_finding_add(
            findings, stria_severity_of(cost), cost, STRIA_COST_COMPUTED, port.paths,
            "%u drives are behind one port, %s at %s: together %" PRId64 " MB/s instead of %" PRId64,
            port.count, port.bridge->address, link_text(now, link->mts.value, link->width.value),
            megabytes(link->bytes_per_s.value), megabytes(port.bytes_per_s));
        stria_finding_remedy(finding, "move some of them to slots that hang on the processor itself, or use "
                                      "fewer drives: more will not be faster there");
    }
    return judged;
}

static bool node_of(const struct stria_patient *patient, uint32_t index, unsigned *node)
{
    const struct stria_survey_figure figure = patient->drives[index]->numa_node;
    if (!figure.known || figure.value >= STRIA_SURVEY_NODES_MAX || !patient->host->node_known[figure.value])
        return false;
    *node = (unsigned)figure.value;
    return true;
}

static void tell_split(const struct stria_patient *patient, uint32_t first, uint32_t other,
                       struct stria_findings *findings)
{
    const struct stria_survey_drive *a = patient->drives[first], *b = patient->drives[other];
    char subject[256];
    snprintf(subject, sizeof(subject), "%.120s, %.120s", a->path, b->path);
    const uint32_t distance = patient->host->distances[a->numa_node.value][b->numa_node.value];
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_WARNING, 20, STRIA_COST_RULE, subject,
        "the drives are on different NUMA nodes, %" PRId64 " and %" PRId64 " (distance %" PRIu32
        "): whatever memory the buffer is in is far from some of them",
        a->numa_node.value, b->numa_node.value, distance);
    stria_finding_remedy(finding, "move them to slots of one socket");
}

static void tell_far(const struct stria_patient *patient, uint32_t index, unsigned node,
                     struct stria_findings *findings)
{
    const struct stria_cpus near =
        stria_cpus_common(&patient->host->allowed, &patient->host->node_cpus[node]);
    const unsigned here = stria_cpus_count(&near), all = stria_cpus_count(&patient->host->allowed);
    if (here == all)
        return;
    struct stria_finding *finding = stria_finding_add(
        findings, here ? STRIA_SEVERITY_NOTE : STRIA_SEVERITY_WARNING, here ? 5 : 20, STRIA_COST_RULE,
        patient->drives[index]->path,
        "the drive is on NUMA node %u (processors %s), and of the processors that this process may run on "
        "(%s), %u of %u are on other nodes",
        node, patient->drives[index]->local_cpus, patient->host->allowed_cpus, all - here, all);
    stria_finding_remedy(finding, "record with numactl --cpunodebind=%u --membind=%u, or pin it likewise",
                         node, node);
}

bool stria_check_numa(const struct stria_patient *patient, struct stria_findings *findings)
{
    unsigned first_node = 0, node;
    uint32_t first = patient->drive_count;
    if (!patient->host->nodes.known)
        return false;
    for (uint32_t i = 0; i < patient->drive_count; i++) {
        if (!node_of(patient, i, &node))
            continue;
        if (first == patient->drive_count) {
            first = i;
            first_node = node;
        } else if (node != first_node) {
            tell_split(patient, first, i, findings);
            return true;
        }
    }
    if (first == patient->drive_count)
        return false;
    if (patient->host->nodes.value > 1)
        tell_far(patient, first, first_node, findings);
    return true;
}

bool stria_check_interrupts(const struct stria_patient *patient, uint32_t index,
                            struct stria_findings *findings)
{
    const struct stria_survey_drive *drive = patient->drives[index];
    struct stria_survey_interrupts interrupts;
    stria_survey_read_interrupts(patient->root, drive, &interrupts);
    if (!interrupts.queues || !patient->host->cpus.known)
        return false;
    if (stria_cpus_count(&interrupts.cpus) > 1 || patient->host->cpus.value < 2)
        return true;
    struct stria_finding *finding = stria_finding_add(
        findings, STRIA_SEVERITY_WARNING, 20, STRIA_COST_RULE, drive->path,
        "the interrupts of its %u queue%s are all served by processor %u, one of %" PRId64, interrupts.queues,
        interrupts.queues == 1 ? "" : "s", stria_cpus_first(&interrupts.cpus), patient->host->cpus.value);
    stria_finding_remedy(
        finding, interrupts.queues == 1
                     ? "give the drive a queue for each processor: more interrupt vectors in the virtual "
                       "machine, or no nvme.* option on the kernel's command line that takes them away"
                     : "spread them: stop what moves them (irqbalance --banirq), or write to "
                       "/proc/irq/N/smp_affinity_list");
    return true;
}
