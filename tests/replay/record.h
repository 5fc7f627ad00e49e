/* A life of an array on files: what was recorded, and what the recorder said when. */
#ifndef STRIA_TESTS_REPLAY_RECORD_H
#define STRIA_TESTS_REPLAY_RECORD_H

#include "engine/array.h"

#include <stdbool.h>

#define REPLAY_DRIVES     3u
#define REPLAY_RECORDINGS 4u

/* Marks on the tape; the value says which recording, or how many bytes of it. */
enum { MARK_MADE, MARK_BEGUN, MARK_DURABLE, MARK_ENDED, MARK_REMOVED };

extern const char *const replay_names[REPLAY_RECORDINGS];
extern const uint64_t replay_bytes[REPLAY_RECORDINGS];

/* Ends the program with a sentence on standard error unless it holds. */
void replay_must(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The stream of a recording at an offset. */
void replay_fill(uint8_t *out, uint32_t recording, uint64_t offset, uint64_t bytes);

/* An array of files drive0.img … in a folder; each has room of so many bytes. */
void replay_configure(struct stria_array_config *config, const char *folder, enum stria_policy policy,
                      uint64_t drive_bytes);

/* Records one of them from its first byte to its last; taped or not. */
void replay_record(struct stria_array *array, uint32_t recording);

/* All of the life, on fresh files: some recordings, one of them removed, its room used again. */
void replay_live(const struct stria_array_config *config);

#endif
