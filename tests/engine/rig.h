/* Arrays to test the engine on: drives in memory or in files, streams whose every byte is known. */
#ifndef STRIA_TESTS_ENGINE_RIG_H
#define STRIA_TESTS_ENGINE_RIG_H

#include "engine/array.h"
#include "engine/create.h"
#include "engine/verify.h"
#include "stria.h"

#define KIB (1ull << 10)
#define MIB (1ull << 20)

struct rig {
    struct stria_array_config config;
    char folder[128];          /* of file drives; empty: memory */
    struct stria_array *array; /* null while it is closed */
};

/* An array of drives in memory, made and closed. Sizes in bytes, ended by 0. Chunks of 64 KiB, a buffer of 16
 * of them. */
struct rig *rig_make(enum stria_policy policy, const uint64_t *sizes);

/* The same on files in a folder of its own. */
struct rig *rig_make_files(enum stria_policy policy, const uint64_t *sizes);

/* What it takes to run rig_make's last step on a changed configuration. */
void rig_create(struct rig *rig);

/* Opens, if it is not open in that way already; fails the test if it cannot. */
struct stria_array *rig_open(struct rig *rig, bool writable);
void rig_close(struct rig *rig);
void rig_free(struct rig *rig);

/* The bytes of a stream from an offset on. Every stream number gives another stream. */
void rig_fill(void *out, uint64_t offset, uint64_t bytes, uint64_t stream);

/* Records a whole stream; fails the test when it does not end well. */
void rig_record(struct rig *rig, const char *name, uint64_t bytes, uint64_t stream);

/* Begins a recording of that name on the array, opened for writing. */
struct stria_writer *rig_begin(struct rig *rig, const char *name);

/* Acquires, fills and commits one piece of the stream, at most a chunk. */
void rig_put(struct stria_writer *writer, uint64_t offset, uint64_t bytes, uint64_t stream);

/* Ends and frees. */
struct stria_result rig_end(struct stria_writer *writer);

/* Reads a whole recording from the array as it is opened, in pieces of any size; every range that reads as
 * STRIA_READ_OK has the stream's bytes and every other one is zero. Counts the bytes by verdict. */
void rig_read(struct rig *rig, const char *name, uint64_t stream, uint64_t counts[4]);

/* Expects every byte to be there. */
void rig_expect_whole(struct rig *rig, const char *name, uint64_t bytes, uint64_t stream);

#define RIG_FINDINGS_MAX 1024u

struct rig_findings {
    uint32_t count;
    struct stria_verify_finding list[RIG_FINDINGS_MAX];
    char others[RIG_FINDINGS_MAX][64]; /* to which list[].other points */
};

/* Verifies one recording, or all when name is null; their counts are added up. */
struct stria_verifier_counts rig_verify(struct rig *rig, const char *name, struct rig_findings *findings);

/* Reads and writes a drive of the closed array behind its back. Offset and length are multiples of 512. */
void rig_peek(struct rig *rig, uint32_t drive, uint64_t offset, uint64_t bytes, void *data);
void rig_poke(struct rig *rig, uint32_t drive, uint64_t offset, uint64_t bytes, const void *data);

/* Flips one bit of a drive. */
void rig_flip(struct rig *rig, uint32_t drive, uint64_t offset);

/* A random number below limit; the same ones in each run. */
uint64_t rig_random(uint64_t limit);

#endif
