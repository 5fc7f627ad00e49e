/* TARGET [--seed S] [--first ROUND] [--rounds N] [FILE|FOLDER]...: feeds a fuzz target with the files, and
 * those in the folders, then with sound inputs, mutated. The same seed and round give the same input. Without
 * --rounds, there are none where there are files. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t input[FUZZ_INPUT_BYTES_MAX];
static char replay[4200];

static void tell(int number)
{
    ssize_t written = write(STDERR_FILENO, replay, strlen(replay));
    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

static void change_byte(struct stria_random *random, size_t bytes)
{
    static const uint64_t telling[] = {0, 1, 0x7f, 0x80, 0xff};
    const size_t at = stria_random_below(random, bytes);
    switch (stria_random_below(random, 3)) {
    case 0:
        input[at] ^= (uint8_t)(1u << stria_random_below(random, 8));
        break;
    case 1:
        input[at] = (uint8_t)stria_random_next(random);
        break;
    default:
        memset(input + at, (int)telling[stria_random_below(random, 5)],
               stria_random_between(random, 1, bytes - at < 16 ? bytes - at : 16));
    }
}

static void copy_range(struct stria_random *random, size_t bytes)
{
    const size_t from = stria_random_below(random, bytes), to = stria_random_below(random, bytes);
    const size_t most = bytes - (from > to ? from : to);
    memmove(input + to, input + from, stria_random_between(random, 1, most < 128 ? most : 128));
}

static size_t make_input(uint64_t seed, uint64_t round)
{
    struct stria_random random;
    stria_random_seed(&random, seed * 1000003 + round);
    size_t bytes = fuzz_sound_input(input, &random);
    for (uint64_t changes = stria_random_below(&random, 30); changes > 0 && bytes > 0; changes--) {
        const uint64_t kind = stria_random_below(&random, 20);
        if (kind == 0)
            bytes = stria_random_below(&random, bytes + 1);
        else if (kind < 4)
            copy_range(&random, bytes);
        else
            change_byte(&random, bytes);
    }
    return bytes;
}

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        return false;
    }
    const size_t bytes = fread(input, 1, sizeof(input), file);
    fclose(file);
    snprintf(replay, sizeof(replay), "broken by %s\n", path);
    LLVMFuzzerTestOneInput(input, bytes);
    return true;
}

static bool run_path(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return run_file(path);
    unsigned count = 0;
    bool good = true;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char inside[4096];
        snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        good = run_file(inside) && good;
        count++;
    }
    closedir(folder);
    printf("%u inputs of %s\n", count, path);
    return good && count > 0;
}

static void run_rounds(const char *program, uint64_t seed, uint64_t first, uint64_t rounds)
{
    for (uint64_t round = first; round < first + rounds; round++) {
        snprintf(replay, sizeof(replay), "replay: %s --seed %llu --first %llu --rounds 1\n", program,
                 (unsigned long long)seed, (unsigned long long)round);
        LLVMFuzzerTestOneInput(input, make_input(seed, round));
    }
    printf("%llu rounds of seed %llu\n", (unsigned long long)rounds, (unsigned long long)seed);
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], tell);
    uint64_t seed = 1, first = 0, rounds = UINT64_MAX;
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        uint64_t *value = strcmp(argv[at], "--seed") == 0    ? &seed
                          : strcmp(argv[at], "--first") == 0 ? &first
                                                             : &rounds;
        *value = strtoull(argv[at + 1], NULL, 10);
    }
    if (rounds == UINT64_MAX)
        rounds = at < argc ? 0 : 1000;
    bool good = true;
    for (; at < argc; at++)
        good = run_path(argv[at]) && good;
    run_rounds(argv[0], seed, first, rounds);
    return good ? 0 : 2;
}
