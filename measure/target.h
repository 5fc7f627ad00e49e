/* A drive that is measured by itself, without an array: what it is, whether it may be written, and what of it
 * is used. */
#ifndef STRIA_MEASURE_TARGET_H
#define STRIA_MEASURE_TARGET_H

#include "backends/backend.h"
#include "backends/guard.h"
#include "config/array.h"
#include "measure/health.h"

#include <stdatomic.h>

struct stria_target_request {
    bool writes;                     /* what is on it will be lost */
    uint64_t bytes;                  /* of it that will be used; zero: all of it */
    uint64_t file_bytes;             /* size of a file that is made; zero: it is not made */
    uint32_t depth;                  /* requests in flight, at most */
    const char *engine;              /* the backend's name; null: whichever serves the path */
    const struct stria_guard *guard; /* what may be erased */
};

/* What the drive is connected by, as negotiated and as it could be. */
struct stria_target_link {
    double gts, capable_gts;                /* giga-transfers per second of each lane; zero: not known */
    struct stria_told width, capable_width; /* lanes */
};

struct stria_survey_drive; /* survey/drive.h */

struct stria_target {
    struct stria_drive_config config;
    struct stria_drive *drive;
    int hold;        /* keeps others out while the drive is written; −1: none */
    char engine[16]; /* the backend's name */
    bool made;       /* a file of the bench's own: it has no name any more, and is gone when it is closed */
    bool device;
    uint64_t
        begin_bytes; /* what is used of the drive begins here, behind what others look for at its start */
    uint64_t bytes;  /* and is so long; a multiple of the drive's block */
    char file_system[32];                     /* on which the file lies; empty for a device and for memory */
    char model[80], serial[64], firmware[32]; /* empty: not known */
    struct stria_told lba_bytes;
    uint64_t size_bytes; /* of the whole drive or file */
    double price;        /* of one, from its profile; zero: not known */
    struct stria_target_link link;
    struct stria_told link_bytes_per_s; /* what the link carries; not known: nothing can be too fast */
    char warning[256];                  /* what should be known about figures of this drive; empty: nothing */
    struct stria_health before, after;
    struct stria_survey_drive *survey; /* of a real drive; null: there is nothing to survey */
    bool hot;                          /* it was throttled when last looked at; the drive's thread alone */
    _Atomic bool has_heat;             /* a fake drive whose model knows of heat was looked at */
    _Atomic uint64_t throttle_count;   /* of a fake drive, which is looked at by the drive's own thread … */
    _Atomic int64_t temperature_mc;    /* … in thousandths of °C */
};

/* Looks at the drive and changes nothing: all that stria_target_open() would refuse before it does something.
 */
int stria_target_admit(const struct stria_drive_config *config, const struct stria_target_request *request,
                       struct stria_trouble *trouble);

/* Refuses a loop device that writes into the page cache of its file first: memory would be measured. One that
 * only carries a fake drive may be so. */
int stria_target_refuse_cache(const struct stria_drive_config *config, struct stria_trouble *trouble);

/* Looks at the drive, refuses what must not be written or would not be measured (a file that is there and is
 * not to be erased, one with holes, memory and caches in disguise), makes the file where there is none, takes
 * signatures off a device that may be erased, and opens it. config is copied. On failure there is nothing to
 * close. */
int stria_target_open(const struct stria_drive_config *config, const struct stria_target_request *request,
                      struct stria_target *target, struct stria_trouble *trouble);

/* The part of a drive that would be used. */
struct stria_target_extent {
    uint64_t begin_bytes, bytes;
    uint32_t block_bytes;
};

/* Looks at a device, or a file, which may not be there and would have file_bytes then; opens nothing for
 * writing. */
int stria_target_measure(const char *path, uint64_t file_bytes, struct stria_target_extent *extent,
                         struct stria_trouble *trouble);

/* What is known of a drive that is not opened, because an array has it. */
void stria_target_describe(const struct stria_drive_config *config, struct stria_target *target);

/* Whether the drive knows TRIM; if not, the reason. */
bool stria_target_knows_trim(const struct stria_target *target, char *reason, size_t size);

/* As stria_target_health(), with all that does not change from one second to the next. By one thread, while
 * nobody else asks. */
void stria_target_condition(struct stria_target *target, struct stria_health *health);

void stria_target_close(struct stria_target *target);

/* Gives up what is on the used part of the drive. False with the reason where that cannot be done. While
 * nothing is in flight. */
bool stria_target_trim(struct stria_target *target, char *reason, size_t size);

/* What the drive says of itself now. Any thread. */
void stria_target_health(struct stria_target *target, struct stria_health *health);

/* Keeps what stria_target_health() tells of a fake drive up to date; by the thread that uses the drive. */
void stria_target_look(struct stria_target *target);

#endif
