/* What the image is to do, as the boot loader or "qemu -append" says it: words separated by blanks, either a
 * command or KEY=VALUE. Commands are carried out in their order; values hold for all of them. Pure. */
#ifndef STRIA_FIRMWARE_OPTIONS_H
#define STRIA_FIRMWARE_OPTIONS_H

#include "core/limits.h"
#include "core/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIA_COMMANDS_MAX 8u

enum stria_command_word {
    STRIA_COMMAND_LIST,   /* what is behind the PCI Express root, and each drive */
    STRIA_COMMAND_INIT,   /* make an array of the drives */
    STRIA_COMMAND_RECORD, /* a sensor made up, recorded */
    STRIA_COMMAND_VERIFY, /* every recording, or the one named */
    STRIA_COMMAND_ZONES,  /* each drive alone: the same amount in places all over its data */
    STRIA_COMMAND_SIZES,  /* each drive alone: a row of amounts */
    STRIA_COMMAND_RATIO   /* the recorder against a bare write loop */
};

struct stria_firmware_options {
    enum stria_command_word commands[STRIA_COMMANDS_MAX];
    uint32_t command_count;
    bool mmu;             /* mmu=on (default) or off */
    bool maintain;        /* cache=maintain: clean and invalidate also where devices see the caches */
    uint64_t drives;      /* drives=N: of those found, in the order of the bus; zero: all, up to the most */
    uint64_t chunk_bytes; /* chunk=SIZE, for init */
    uint64_t
        policy; /* policy=raid0 or adaptive; an enum stria_policy. Zero: the array's, adaptive for init */
    char name[STRIA_NAME_BYTES];  /* name=TEXT of the recording; empty: made from the calendar */
    char array[STRIA_NAME_BYTES]; /* array=TEXT, for init */
    uint64_t
        rate_bytes_per_s;  /* rate=SIZE: of the sensor; zero: as fast as there is room, and nothing is lost */
    uint64_t bytes;        /* size=SIZE: of the recording, and of one repeat of a test */
    uint64_t seed;         /* seed=N: of the sensor */
    uint64_t buffer_bytes; /* buffer=SIZE: of the ring in memory */
    uint64_t depth;        /* depth=N: requests in flight on each drive */
    uint64_t commit_ms;    /* commit=N: between two commits of a drive */
    uint64_t deadline_ms;  /* deadline=N: a drive that leaves a request unanswered for so long is given up */
    uint64_t zones;        /* zones=N */
    uint64_t repeats;      /* repeats=N: of the tests */
};

/* Reads a text. On failure STRIA_ERR_INVALID, and complaint is the sentence that names the word. */
int stria_firmware_options_read(struct stria_firmware_options *options, const char *text, char *complaint,
                                size_t complaint_bytes);

#endif
