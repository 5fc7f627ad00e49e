#include "tools/live.h"

#include "support/clock.h"
#include "support/plain.h"
#include "support/units.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_INTERVAL_NS 200000000ull
#define LINE_INTERVAL_NS  5000000000ull

#define BAR_WIDTH_MAX 30u
#define COLUMNS_MAX   200u

/* What a bar of full length means: the fastest drive. */
static uint64_t fastest(const struct stria_moment *moment)
{
    uint64_t most = 1;
    for (uint32_t i = 0; i < moment->progress.drive_count; i++)
        if (moment->drives[i].bytes_per_s > most)
            most = moment->drives[i].bytes_per_s;
    return most;
}

static char *draw_bar(char out[BAR_WIDTH_MAX + 1], unsigned width, uint64_t value, uint64_t most)
{
    const unsigned filled = most ? (unsigned)((unsigned __int128)value * width / most) : 0;
    for (unsigned i = 0; i < width; i++)
        out[i] = i < filled ? '#' : '.';
    out[width] = '\0';
    return out;
}

static unsigned per_cent(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)((unsigned __int128)part * 100 / whole) : 0;
}

/* Lines that are too long would wrap, and the block would climb over what stands above it. */
static void print_cut(FILE *out, const char *text, unsigned columns)
{
    const char *line = stria_shown(text);
    size_t bytes = 0;
    for (unsigned column = 0; line[bytes]; bytes++) {
        const bool first_of_character = ((unsigned char)line[bytes] & 0xc0) != 0x80;
        if (first_of_character && column++ == columns)
            break;
    }
    fprintf(out, "%.*s\n", (int)bytes, line);
}

static const char *drive_state(const struct stria_drive_progress *drive)
{
    return drive->lost ? "given up" : drive->full ? "full" : "";
}

static void print_drive(const struct stria_moment *moment, uint32_t index, unsigned columns, FILE *out)
{
    const struct stria_drive_progress *drive = &moment->drives[index];
    const unsigned width = columns > 110 ? BAR_WIDTH_MAX : 12;
    char bar[BAR_WIDTH_MAX + 1], rate[STRIA_UNITS_TEXT_BYTES], line[512];
    snprintf(line, sizeof(line), "  %-12.12s [%s] %-30s queue %3" PRIu32 "+%-3" PRIu32 " %s",
             moment->drive_names[index], draw_bar(bar, width, drive->bytes_per_s, fastest(moment)),
             stria_rate_print_both(rate, sizeof(rate), drive->bytes_per_s), drive->in_flight, drive->waiting,
             drive_state(drive));
    print_cut(out, line, columns);
}

unsigned stria_live_print_block(const struct stria_moment *moment, unsigned columns, FILE *out)
{
    const struct stria_progress *now = &moment->progress;
    char elapsed[STRIA_UNITS_TEXT_BYTES], first[STRIA_UNITS_TEXT_BYTES], second[STRIA_UNITS_TEXT_BYTES];
    char bar[BAR_WIDTH_MAX + 1], line[512];
    unsigned lines = 2;
    snprintf(line, sizeof(line), "%s  in %s  stored %s",
             stria_time_print_short(elapsed, sizeof(elapsed), now->elapsed_ns),
             stria_rate_print_both(first, sizeof(first), now->input_bytes_per_s),
             stria_size_print_both(second, sizeof(second), now->stored_bytes));
    print_cut(out, line, columns);
    for (uint32_t i = 0; i < now->drive_count; i++, lines++)
        print_drive(moment, i, columns, out);
    snprintf(line, sizeof(line), "  %-12s [%s] %u %%, at most %u %%  dropped %s", "buffer",
             draw_bar(bar, 12, now->buffer_used_bytes, now->buffer_bytes),
             per_cent(now->buffer_used_bytes, now->buffer_bytes),
             per_cent(now->buffer_high_water_bytes, now->buffer_bytes),
             stria_size_print_both(first, sizeof(first), now->dropped_bytes));
    print_cut(out, line, columns);
    if (now->warning[0]) {
        snprintf(line, sizeof(line), "  warning: %s", now->warning);
        print_cut(out, line, columns);
        lines++;
    }
    return lines;
}

void stria_live_print_line(const struct stria_moment *moment, FILE *out)
{
    const struct stria_progress *now = &moment->progress;
    char elapsed[STRIA_UNITS_TEXT_BYTES], rate[STRIA_UNITS_TEXT_BYTES], dropped[STRIA_UNITS_TEXT_BYTES];
    fprintf(out, "%s: in %s, buffer %u %%, dropped %s, drives MB/s",
            stria_time_print_short(elapsed, sizeof(elapsed), now->elapsed_ns),
            stria_rate_print_both(rate, sizeof(rate), now->input_bytes_per_s),
            per_cent(now->buffer_used_bytes, now->buffer_bytes),
            stria_size_print_both(dropped, sizeof(dropped), now->dropped_bytes));
    for (uint32_t i = 0; i < now->drive_count; i++)
        fprintf(out, " %s %" PRIu64 "%s%s", moment->drive_names[i], moment->drives[i].bytes_per_s / 1000000,
                moment->drives[i].lost || moment->drives[i].full ? " " : "", drive_state(&moment->drives[i]));
    fprintf(out, "%s%s\n", now->warning[0] ? ", warning: " : "", stria_shown(now->warning));
}

struct stria_live {
    struct stria_writer *writer;
    struct stria_moment moment;
    char names[STRIA_DRIVES_MAX][STRIA_NAME_BYTES];
    bool terminal;
    bool warned;          /* a line told of a warning already */
    uint64_t line_due_ns; /* elsewhere than on a terminal */
    unsigned lines_above; /* of the block drawn last */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over; /* under lock */
};

static void take_moment(struct stria_live *live)
{
    stria_writer_progress(live->writer, &live->moment.progress);
    if (live->moment.progress.drive_count > STRIA_DRIVES_MAX)
        live->moment.progress.drive_count = STRIA_DRIVES_MAX;
    for (uint32_t i = 0; i < live->moment.progress.drive_count; i++)
        stria_writer_drive_progress(live->writer, i, &live->moment.drives[i]);
}

static unsigned terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
}

/* Written in one go, so that it never flickers; a terminal that has gone away is no reason to stop. */
static void show(struct stria_live *live)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return;
    take_moment(live);
    if (!live->terminal) {
        stria_live_print_line(&live->moment, out);
    } else {
        if (live->lines_above)
            fprintf(out, "\033[%uA\033[J", live->lines_above);
        live->lines_above = stria_live_print_block(&live->moment, terminal_columns(), out);
    }
    fclose(out);
    (void)!write(STDERR_FILENO, text, bytes);
    free(text);
}

/* Waits under lock until the interval is over; false when the show is. */
static bool wait_interval(struct stria_live *live, uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / STRIA_NS_PER_S),
                                   .tv_nsec = (long)(until_ns % STRIA_NS_PER_S)};
    int error = 0;
    while (!live->over && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&live->ended, &live->lock, &until);
    return !live->over;
}

/* Every few seconds, and at once when there is something to warn of for the first time. */
static bool line_is_due(struct stria_live *live, uint64_t now_ns)
{
    struct stria_progress progress;
    stria_writer_progress(live->writer, &progress);
    const bool warns = progress.warning[0] && !live->warned, due = now_ns >= live->line_due_ns;
    live->warned |= warns;
    if (due)
        live->line_due_ns += LINE_INTERVAL_NS;
    return warns || due;
}

static void *run(void *user)
{
    struct stria_live *live = user;
    uint64_t due_ns = stria_clock_ns();
    live->line_due_ns = due_ns + LINE_INTERVAL_NS;
    pthread_mutex_lock(&live->lock);
    while (wait_interval(live, due_ns += BLOCK_INTERVAL_NS)) {
        pthread_mutex_unlock(&live->lock);
        if (live->terminal || line_is_due(live, due_ns))
            show(live);
        pthread_mutex_lock(&live->lock);
    }
    pthread_mutex_unlock(&live->lock);
    return NULL;
}

static void name_drives(struct stria_live *live, const struct stria_array *array)
{
    for (uint32_t i = 0; i < STRIA_DRIVES_MAX; i++) {
        struct stria_drive_info info;
        if (stria_array_drive(array, i, &info) == STRIA_OK)
            memcpy(live->names[i], info.name, sizeof(live->names[i]));
        live->moment.drive_names[i] = live->names[i];
    }
}

struct stria_live *stria_live_start(struct stria_writer *writer, const struct stria_array *array)
{
    struct stria_live *live = calloc(1, sizeof(*live));
    if (!live)
        return NULL;
    const char *kind = getenv("TERM");
    live->writer = writer;
    live->terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
    name_drives(live, array);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&live->thread, NULL, run, live) == 0)
        return live;
    free(live);
    return NULL;
}

void stria_live_stop(struct stria_live *live)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->lock);
    live->over = true;
    pthread_cond_signal(&live->ended);
    pthread_mutex_unlock(&live->lock);
    pthread_join(live->thread, NULL);
    if (live->terminal)
        show(live);
    pthread_cond_destroy(&live->ended);
    pthread_mutex_destroy(&live->lock);
    free(live);
}
