#include "core/ratio.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/simulate_answer.h"

#include <inttypes.h>
#include <stdio.h>

#define ROWS        24u
#define BAR_COLUMNS 40u

static void print_title(const struct simulate_job *job, const struct simulate_answer *answer)
{
    char drives[1024], text[STRIA_UNITS_TEXT_BYTES];
    simulate_print_drives(answer->array->profiles, answer->array->drive_count, drives, sizeof(drives));
    printf("%s, %s, buffer of %s\n", stria_shown(drives), stria_policy_text(job->config.policy),
           stria_size_print_both(text, sizeof(text), job->config.buffer_bytes));
}

static void print_loss(const struct simulate_answer *answer)
{
    const struct stria_gap *gap = &answer->paced.first_loss;
    char when[STRIA_UNITS_TEXT_BYTES], where[STRIA_UNITS_TEXT_BYTES], what[STRIA_UNITS_TEXT_BYTES];
    printf("NOT LOSSLESS: %s of the stream are lost.\n",
           stria_size_print_both(what, sizeof(what), answer->paced.dropped_bytes));
    printf("The first loss comes after %s, at %s: ", stria_time_print_short(when, sizeof(when), gap->time_ns),
           stria_size_print_both(where, sizeof(where), gap->offset_bytes));
    if (gap->cause == STRIA_GAP_FULL)
        printf("the array is full.\n");
    else if (gap->cause == STRIA_GAP_BUFFER && gap->drive < answer->array->drive_count)
        printf("the buffer is full, and drive %" PRIu32 " (%s) holds most back.\n", gap->drive,
               stria_shown(answer->array->profiles[gap->drive]->name));
    else if (gap->cause == STRIA_GAP_DRIVE)
        printf("a drive has not answered for too long and is given up.\n");
    else
        printf("the buffer is full.\n");
}

static void print_verdict(const struct simulate_answer *answer)
{
    const struct stria_simulation *paced = &answer->paced;
    char rate[STRIA_UNITS_TEXT_BYTES], size[STRIA_UNITS_TEXT_BYTES], time[STRIA_UNITS_TEXT_BYTES];
    uint64_t link = 0;
    for (uint32_t i = 0; i < answer->array->drive_count; i++)
        link += answer->array->profiles[i]->parameters.link_bytes_per_s;
    printf("a sensor of %s", stria_rate_print_both(rate, sizeof(rate), answer->rate_bytes_per_s));
    printf(" for %s, which is %s\n\n", stria_time_print_short(time, sizeof(time), paced->source_ns),
           stria_size_print_both(size, sizeof(size), paced->stream_bytes));
    if (paced->lossless)
        printf("LOSSLESS: every byte is stored.\n");
    else
        print_loss(answer);
    if (answer->rate_bytes_per_s > link)
        printf("The links of the drives carry no more than %s.\n",
               stria_rate_print_both(rate, sizeof(rate), link));
    if (!answer->limit_known)
        return;
    printf("At this rate the array is %s after %s, at %s.\n", answer->limit_full ? "full" : "too slow",
           stria_time_print_short(time, sizeof(time), answer->limit_ns),
           stria_size_print_both(size, sizeof(size), answer->limit_bytes));
}

static void print_rates(const struct simulate_job *job, const struct simulate_answer *answer)
{
    uint64_t buffers[SIMULATE_BUFFERS_MAX];
    char text[STRIA_UNITS_TEXT_BYTES], label[STRIA_UNITS_TEXT_BYTES + 16];
    const uint32_t count = simulate_buffers(job, buffers);
    printf("\nwhat these drives can, for a recording of this size\n");
    printf("  %-24s%s\n", "mean",
           stria_rate_print_both(
               text, sizeof(text),
               answer->curve_ns > 0 ? stria_ratio_bytes_per_s(answer->curve_bytes, answer->curve_ns) : 0));
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        struct stria_sustained_figure figure;
        snprintf(label, sizeof(label), "sustained(%" PRIu32 " s)", stria_sustained_windows_s[window]);
        if (stria_sustained_of_curve(&answer->curve, stria_sustained_windows_s[window] * STRIA_SECOND_NS,
                                     &figure))
            printf("  %-24s%s\n", label, stria_rate_print_both(text, sizeof(text), figure.bytes_per_s));
    }
    printf("\nlossless rate by buffer\n");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes_per_s;
        const bool known =
            stria_simulation_lossless(&answer->free_run, answer->recorded_bytes, buffers[i], &bytes_per_s);
        printf("%c %-24s%s\n", buffers[i] == job->config.buffer_bytes ? '*' : ' ',
               stria_size_print(label, sizeof(label), buffers[i]),
               known ? stria_rate_print_both(text, sizeof(text), bytes_per_s)
               : answer->recorded_bytes > 0 && answer->recorded_bytes <= buffers[i]
                   ? "any: the whole recording fits into it"
                   : "too short to tell");
    }
}

static void print_drives(const struct simulate_answer *answer, const struct stria_simulation *run)
{
    printf("\n  %-5s %-24s %10s %10s %12s %9s\n", "drive", "profile", "GB", "mean MB/s", "longest wait",
           "°C");
    for (uint32_t i = 0; i < run->drive_count; i++) {
        const struct stria_simulated_drive *drive = &run->drives[i];
        const struct stria_meter_drive *meter = &run->meter->drives[i];
        const bool heats = answer->array->profiles[i]->parameters.heat.time_constant_ns > 0;
        char wait[STRIA_UNITS_TEXT_BYTES], heat[16] = "-";
        uint64_t mean = 0;
        if (heats)
            snprintf(heat, sizeof(heat), "%.1f", (double)drive->temperature_mc / 1000);
        stria_flow_mean_bytes_per_s(&meter->stored, &mean);
        printf("  %-5" PRIu32 " %-24.24s %10.1f %10.1f %12s %8s%s\n", i,
               stria_shown(answer->array->profiles[i]->name), (double)drive->status.stored_bytes / 1e9,
               (double)mean / 1e6, stria_time_print_short(wait, sizeof(wait), meter->latency.max), heat,
               drive->status.state == STRIA_DRIVE_LOST   ? "  given up"
               : drive->status.state == STRIA_DRIVE_FULL ? "  full"
                                                         : "");
    }
}

/* Bytes of a series between two times, those of cut bins in proportion. */
static double bytes_between(const struct stria_series *series, double from_ns, double to_ns)
{
    const double width = (double)series->interval_ns;
    double bytes = 0;
    for (uint32_t i = (uint32_t)(from_ns / width); i < series->count && i * width < to_ns; i++) {
        const double begin = i * width > from_ns ? i * width : from_ns;
        const double end = (i + 1) * width < to_ns ? (i + 1) * width : to_ns;
        bytes += (double)series->bins[i] * (end - begin) / width;
    }
    return bytes;
}

static double fill_between(const struct stria_peaks *peaks, double from_ns, double to_ns)
{
    const double width = (double)peaks->interval_ns;
    uint64_t highest = 0;
    for (uint32_t i = (uint32_t)(from_ns / width); i < peaks->count && i * width < to_ns; i++)
        highest = peaks->bins[i] > highest ? peaks->bins[i] : highest;
    return (double)highest;
}

/* The array's rate over the time, with the sensor's and the highest fill of the buffer. */
static void print_plot(const struct simulate_job *job, const struct stria_simulation *run, bool paced)
{
    const struct stria_meter *meter = run->meter;
    const double row_ns = (double)run->source_ns / ROWS;
    double rates[ROWS], fastest = 1;
    for (unsigned i = 0; i < ROWS; i++) {
        rates[i] = bytes_between(&meter->stored.series, i * row_ns, (i + 1) * row_ns) / row_ns * 1e9;
        fastest = rates[i] > fastest ? rates[i] : fastest;
    }
    printf("\n  %-10s %10s %10s %8s  %s\n", "until", "input MB/s", "array MB/s", "buffer",
           paced ? "with this sensor" : "as fast as the drives go");
    for (unsigned i = 0; i < ROWS && row_ns > 0; i++) {
        const double input = bytes_between(&meter->input.series, i * row_ns, (i + 1) * row_ns) / row_ns * 1e9;
        const double fill = fill_between(&run->buffer, i * row_ns, (i + 1) * row_ns);
        char until[STRIA_UNITS_TEXT_BYTES];
        printf("  %-10s %10.1f %10.1f %6.1f %%  ",
               stria_time_print_short(until, sizeof(until), (uint64_t)((i + 1) * row_ns)), input / 1e6,
               rates[i] / 1e6, fill / (double)job->config.buffer_bytes * 100);
        for (unsigned column = 0; column < (unsigned)(rates[i] / fastest * BAR_COLUMNS + 0.5); column++)
            fputs("█", stdout);
        putchar('\n');
    }
}

void simulate_print_answer(const struct simulate_job *job, const struct simulate_answer *answer)
{
    const bool paced = answer->rate_bytes_per_s > 0;
    const struct stria_simulation *run = paced ? &answer->paced : &answer->free_run;
    char used[STRIA_UNITS_TEXT_BYTES];
    print_title(job, answer);
    if (paced) {
        print_verdict(answer);
        printf("The buffer holds at most %s.\n",
               stria_size_print_both(used, sizeof(used), run->meter->buffer_high_water_bytes));
    }
    print_rates(job, answer);
    print_drives(answer, run);
    print_plot(job, run, paced);
}
