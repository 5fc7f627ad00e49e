#include "measure/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void read_cpu(char *out, size_t size)
{
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "re");
    while (in && fgets(line, sizeof(line), in)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        snprintf(out, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (in)
        fclose(in);
}

static void read_governor(char *out, size_t size)
{
    char line[64];
    FILE *in = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
    if (!in)
        return;
    if (fgets(line, sizeof(line), in))
        snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
    fclose(in);
}

void stria_host_describe(struct stria_host *host)
{
    struct utsname name;
    memset(host, 0, sizeof(*host));
    if (uname(&name) == 0)
        snprintf(host->kernel, sizeof(host->kernel), "%s", name.release);
    read_cpu(host->cpu, sizeof(host->cpu));
    read_governor(host->governor, sizeof(host->governor));
    const long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES),
               page = sysconf(_SC_PAGESIZE);
    host->cores = cores > 0 ? (uint32_t)cores : 0;
    host->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}
