#include "support/clock.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/bench.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_INTERVAL_NS 5000000000ull
#define BAR_WIDTH        20u
#define COLUMNS_MAX      200u

static const char *phase_text(enum stria_bench_phase phase)
{
    switch (phase) {
    case STRIA_BENCH_TRIM:
        return "TRIM";
    case STRIA_BENCH_REST:
        return "rest";
    case STRIA_BENCH_WARM_UP:
        return "warm-up";
    default:
        return "";
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void print_head(const struct stria_bench_moment *moment, char *out, size_t size)
{
    char elapsed[STRIA_UNITS_TEXT_BYTES], left[STRIA_UNITS_TEXT_BYTES], of[16] = "";
    const struct stria_round_plan *plan = moment->plan;
    if (moment->round_count)
        snprintf(of, sizeof(of), " of %" PRIu32, moment->round_count);
    int used = snprintf(out, size, "%s  %s: %s, round %" PRIu32 "%s",
                        stria_time_print_short(elapsed, sizeof(elapsed), moment->elapsed_ns), moment->test,
                        plan ? plan->point : "", moment->round + 1, of);
    if (moment->phase != STRIA_BENCH_ROUND)
        used += snprintf(out + used, size - (size_t)used, ", %s", phase_text(moment->phase));
    if (moment->left_ns.known)
        snprintf(out + used, size - (size_t)used, "  left about %s",
                 stria_time_print_short(left, sizeof(left), moment->left_ns.value));
}

static void print_temperature(char *out, size_t size, const struct stria_told *temperature)
{
    out[0] = '\0';
    if (temperature->known)
        snprintf(out, size, "%" PRIu64 " °C", temperature->value);
}

static void print_cut(FILE *out, const char *text, unsigned columns)
{
    const char *line = stria_shown(text);
    size_t bytes = 0;
    for (unsigned column = 0; line[bytes]; bytes++)
        if (((unsigned char)line[bytes] & 0xc0) != 0x80 && column++ == columns)
            break;
    fprintf(out, "%.*s\n", (int)bytes, line);
}

static uint64_t fastest(const struct stria_bench_moment *moment)
{
    uint64_t most = 1;
    for (uint32_t i = 0; i < moment->target_count; i++)
        if (moment->crew->bytes_per_s[i] > most)
            most = moment->crew->bytes_per_s[i];
    return most;
}

static void print_drive(const struct stria_bench_moment *moment, uint32_t index, unsigned columns, FILE *out)
{
    const struct stria_crew_moment *crew = moment->crew;
    char bar[BAR_WIDTH + 1], rate[STRIA_UNITS_TEXT_BYTES], temperature[32], line[512];
    const unsigned filled =
        (unsigned)((unsigned __int128)crew->bytes_per_s[index] * BAR_WIDTH / fastest(moment));
    for (unsigned i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    print_temperature(temperature, sizeof(temperature), &crew->temperature_c[index]);
    snprintf(line, sizeof(line), "  %-16.48s [%s] %-30s %s", base_name(moment->targets[index].config.path),
             bar, stria_rate_print_both(rate, sizeof(rate), crew->bytes_per_s[index]), temperature);
    print_cut(out, line, columns);
}

unsigned bench_live_print_block(const struct stria_bench_moment *moment, unsigned columns, FILE *out)
{
    char line[512];
    unsigned lines = 1;
    print_head(moment, line, sizeof(line));
    print_cut(out, line, columns);
    for (uint32_t i = 0; moment->crew && i < moment->target_count; i++, lines++)
        print_drive(moment, i, columns, out);
    return lines;
}

void bench_live_print_line(const struct stria_bench_moment *moment, FILE *out)
{
    char head[512], rate[STRIA_UNITS_TEXT_BYTES];
    print_head(moment, head, sizeof(head));
    if (moment->crew && moment->crew->bytes)
        fprintf(out, "%s  %s\n", head,
                stria_rate_print_both(rate, sizeof(rate), moment->crew->total_bytes_per_s));
    else
        fprintf(out, "%s\n", head);
}

void bench_live_start(struct bench_live *live, FILE *out)
{
    *live = (struct bench_live){.out = out, .terminal = isatty(fileno(out)) == 1};
}

static void take_back(struct bench_live *live)
{
    if (live->lines)
        fprintf(live->out, "\033[%uA\033[J", live->lines);
    live->lines = 0;
}

void bench_live_say(struct bench_live *live, const char *sentence)
{
    take_back(live);
    fprintf(live->out, "stria bench: %s\n", sentence);
}

void bench_live_show(struct bench_live *live, const struct stria_bench_moment *moment)
{
    struct winsize window = {0};
    const uint64_t now_ns = stria_clock_ns();
    if (live->terminal) {
        const bool known = ioctl(fileno(live->out), TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
        take_back(live);
        live->lines = bench_live_print_block(moment,
                                             known && window.ws_col < COLUMNS_MAX ? window.ws_col
                                             : known                              ? COLUMNS_MAX
                                                                                  : 80,
                                             live->out);
    } else if (now_ns - live->shown_ns >= LINE_INTERVAL_NS ||
               (moment->phase == STRIA_BENCH_ROUND && live->round != moment->round + 1)) {
        bench_live_print_line(moment, live->out);
        live->shown_ns = now_ns;
        if (moment->phase == STRIA_BENCH_ROUND)
            live->round = moment->round + 1;
    }
    fflush(live->out);
}
