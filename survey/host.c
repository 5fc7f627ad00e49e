#include "survey/host.h"

#include "support/tree.h"
#include "survey/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU  "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"

static void read_kernel(const char *root, struct stria_survey_host *host)
{
    unsigned major, minor;
    int64_t disabled;
    if (stria_tree_line(root, host->kernel, sizeof(host->kernel), "/proc/sys/kernel/osrelease") &&
        isdigit((unsigned char)host->kernel[0]) && sscanf(host->kernel, "%4u.%3u", &major, &minor) == 2)
        host->kernel_version = stria_figure_of((int64_t)major * 1000 + minor);
    if (stria_tree_number(root, &disabled, "/proc/sys/kernel/io_uring_disabled"))
        host->io_uring_disabled = stria_figure_of(disabled);
}

static const char *behind(const char *line, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(line, key, length) == 0 ? line + length + strspn(line + length, " \t") : NULL;
}

static bool take_status(char *line, void *user)
{
    struct stria_survey_host *host = user;
    const char *value = behind(line, "Cpus_allowed_list:");
    if (value) {
        stria_cpus_parse(value, &host->allowed);
        snprintf(host->allowed_cpus, sizeof(host->allowed_cpus), "%.*s", (int)sizeof(host->allowed_cpus) - 1,
                 value);
    }
    value = behind(line, "CapEff:");
    if (value && isxdigit((unsigned char)value[0]))
        host->capabilities = stria_figure_of((int64_t)(strtoull(value, NULL, 16) & INT64_MAX));
    return true;
}

static bool take_limit(char *line, void *user)
{
    struct stria_survey_host *host = user;
    const char *value = behind(line, "Max locked memory");
    if (!value)
        return true;
    if (strncmp(value, "unlimited", 9) == 0)
        host->memlock_bytes = stria_figure_of(INT64_MAX);
    else if (isdigit((unsigned char)value[0]))
        host->memlock_bytes = stria_figure_of(strtoll(value, NULL, 10));
    return false;
}

/* "MemTotal:       65793744 kB"; pages are counted without a unit. */
static bool take_memory(char *line, void *user)
{
    struct stria_survey_host *host = user;
    const struct {
        const char *key;
        struct stria_survey_figure *figure;
        int64_t unit;
    } lines[] = {
        {"MemTotal:", &host->memory_bytes, 1024},
        {"MemAvailable:", &host->memory_available_bytes, 1024},
        {"Hugepagesize:", &host->huge_page_bytes, 1024},
        {"HugePages_Free:", &host->huge_pages_free, 1},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *value = behind(line, lines[i].key);
        if (!value || !isdigit((unsigned char)value[0]))
            continue;
        const long long number = strtoll(value, NULL, 10);
        if (number <= INT64_MAX / lines[i].unit)
            *lines[i].figure = stria_figure_of(number * lines[i].unit);
    }
    return true;
}

static void read_memory(const char *root, struct stria_survey_host *host)
{
    char text[128];
    stria_tree_lines(root, "/proc/meminfo", take_memory, host);
    stria_tree_lines(root, "/proc/self/limits", take_limit, host);
    if (!stria_tree_line(root, text, sizeof(text), "/sys/kernel/mm/transparent_hugepage/enabled"))
        return;
    const char *begin = strchr(text, '[');
    if (begin)
        snprintf(host->transparent_huge_pages, sizeof(host->transparent_huge_pages), "%.*s",
                 (int)strcspn(begin + 1, "]"), begin + 1);
}

struct node_visit {
    const char *root;
    struct stria_survey_host *host;
};

static bool take_node(const char *name, void *user)
{
    const struct node_visit *visit = user;
    char text[1024];
    unsigned node;
    int used = 0;
    if (sscanf(name, "node%4u%n", &node, &used) != 1 || name[used] || node >= STRIA_SURVEY_NODES_MAX ||
        !stria_tree_line(visit->root, text, sizeof(text), NODE "/node%u/cpulist", node) ||
        !stria_cpus_parse(text, &visit->host->node_cpus[node]))
        return true;
    visit->host->node_known[node] = true;
    visit->host->nodes = stria_figure_of(visit->host->nodes.value + 1);
    return true;
}

/* A row of distances has one for each node that is online, in their order. */
static void read_distances(const char *root, struct stria_survey_host *host)
{
    char text[1024];
    struct stria_cpus online;
    if (!stria_tree_line(root, text, sizeof(text), NODE "/online") || !stria_cpus_parse(text, &online))
        return;
    for (unsigned from = 0; from < STRIA_SURVEY_NODES_MAX; from++) {
        if (!stria_tree_line(root, text, sizeof(text), NODE "/node%u/distance", from))
            continue;
        char *rest = text;
        for (unsigned to = 0; to < STRIA_SURVEY_NODES_MAX; to++)
            if (stria_cpus_has(&online, to) && *rest)
                host->distances[from][to] = (uint32_t)strtoul(rest, &rest, 10);
    }
}

static void read_cpus(const char *root, struct stria_survey_host *host)
{
    char text[1024];
    struct node_visit visit = {root, host};
    if (stria_tree_line(root, text, sizeof(text), CPU "/online") && stria_cpus_parse(text, &host->online))
        host->cpus = stria_figure_of(stria_cpus_count(&host->online));
    stria_tree_lines(root, "/proc/self/status", take_status, host);
    if (stria_cpus_count(&host->allowed) && host->cpus.known)
        host->allowed = stria_cpus_common(&host->allowed, &host->online);
    else
        host->allowed = host->online;
    stria_tree_each(root, NODE, take_node, &visit);
    read_distances(root, host);
}

static void read_governors(const char *root, struct stria_survey_host *host)
{
    char governor[STRIA_SURVEY_NODE_BYTES];
    for (unsigned cpu = 0; cpu < STRIA_CPUS_MAX; cpu++) {
        if (!stria_cpus_has(&host->allowed, cpu) ||
            !stria_tree_line(root, governor, sizeof(governor), CPU "/cpu%u/cpufreq/scaling_governor", cpu))
            continue;
        const bool slow = strcmp(governor, "performance") != 0;
        if (host->governor[0] == '\0' || (slow && host->slow_cpus.value == 0)) {
            snprintf(host->governor, sizeof(host->governor), "%s", governor);
            stria_tree_line(root, host->driver, sizeof(host->driver), CPU "/cpu%u/cpufreq/scaling_driver",
                            cpu);
        }
        host->slow_cpus = stria_figure_of(host->slow_cpus.value + slow);
    }
}

struct idle_visit {
    const char *root;
    unsigned cpu;
    struct stria_survey_host *host;
};

static bool take_idle_state(const char *name, void *user)
{
    const struct idle_visit *visit = user;
    struct stria_survey_host *host = visit->host;
    int64_t latency, disabled;
    if (strncmp(name, "state", 5) != 0 ||
        !stria_tree_number(visit->root, &latency, CPU "/cpu%u/cpuidle/%s/latency", visit->cpu, name) ||
        (stria_tree_number(visit->root, &disabled, CPU "/cpu%u/cpuidle/%s/disable", visit->cpu, name) &&
         disabled))
        return true;
    if (host->idle_latency_us.known && latency <= host->idle_latency_us.value)
        return true;
    host->idle_latency_us = stria_figure_of(latency);
    stria_tree_line(visit->root, host->idle_name, sizeof(host->idle_name), CPU "/cpu%u/cpuidle/%s/name",
                    visit->cpu, name);
    return true;
}

/* All processors of a machine have the same states, more or less: the first allowed one stands for them. */
static void read_idle_states(const char *root, struct stria_survey_host *host)
{
    char folder[128];
    struct idle_visit visit = {root, stria_cpus_first(&host->allowed), host};
    if (visit.cpu == STRIA_CPUS_MAX)
        return;
    snprintf(folder, sizeof(folder), CPU "/cpu%u/cpuidle", visit.cpu);
    stria_tree_each(root, folder, take_idle_state, &visit);
}

void stria_survey_read_host(const char *root, struct stria_survey_host *host)
{
    memset(host, 0, sizeof(*host));
    read_kernel(root, host);
    read_cpus(root, host);
    read_memory(root, host);
    read_governors(root, host);
    read_idle_states(root, host);
}

bool stria_survey_capable(const struct stria_survey_host *host, unsigned capability)
{
    return host->capabilities.known && host->capabilities.value >> capability & 1;
}

struct interrupt_search {
    const char *root;
    char queue[STRIA_SURVEY_NODE_BYTES + 2]; /* "nvme0q" */
    struct stria_survey_interrupts *interrupts;
};

/* " 71:   0  412345  IR-PCI-MSI 2359297-edge  nvme0q1"; queue 0 is for administration. */
static bool take_interrupt(char *line, void *user)
{
    const struct interrupt_search *search = user;
    const char *queue = strstr(line, search->queue);
    char *end;
    char list[1024];
    struct stria_cpus cpus;
    const unsigned long number = strtoul(line, &end, 10);
    if (!queue || *end != ':' || (queue > line && isalnum((unsigned char)queue[-1])) ||
        strtoul(queue + strlen(search->queue), NULL, 10) == 0)
        return true;
    if ((!stria_tree_line(search->root, list, sizeof(list), "/proc/irq/%lu/effective_affinity_list",
                          number) &&
         !stria_tree_line(search->root, list, sizeof(list), "/proc/irq/%lu/smp_affinity_list", number)) ||
        !stria_cpus_parse(list, &cpus))
        return true;
    search->interrupts->queues++;
    stria_cpus_add(&search->interrupts->cpus, &cpus);
    return true;
}

void stria_survey_read_interrupts(const char *root, const struct stria_survey_drive *drive,
                                  struct stria_survey_interrupts *interrupts)
{
    struct interrupt_search search = {.root = root, .interrupts = interrupts};
    memset(interrupts, 0, sizeof(*interrupts));
    if (!drive->controller[0])
        return;
    snprintf(search.queue, sizeof(search.queue), "%sq", drive->controller);
    stria_tree_lines(root, "/proc/interrupts", take_interrupt, &search);
}
