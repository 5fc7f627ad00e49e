/* marked_record ARRAY.ini INPUT MARKS NAME...: records the file INPUT under each name, one after the other,
 * and whenever more has become durable, writes that to the block device MARKS: what the recorder had promised
 * by then. A mark is one block: four words, the number of the name from 0, the durable bytes, 1 if the
 * recording has ended, a magic. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stria.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 4096
#define MARK_MAGIC  0x6b72616d61697274ull

struct marks {
    int fd;
    uint64_t *block;
};

static void mark(const struct marks *marks, uint64_t number, uint64_t durable_bytes, bool ended)
{
    marks->block[0] = number;
    marks->block[1] = durable_bytes;
    marks->block[2] = ended;
    marks->block[3] = MARK_MAGIC;
    if (pwrite(marks->fd, marks->block, BLOCK_BYTES, 0) != BLOCK_BYTES) {
        perror("marked_record: cannot write a mark");
        exit(3);
    }
}

/* The pace lets many commits fall into one recording. */
static void wait_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = 3000000};
    nanosleep(&moment, NULL);
}

static uint64_t mark_progress(struct stria_writer *writer, const struct marks *marks, uint64_t number,
                              uint64_t known_bytes)
{
    struct stria_progress progress;
    stria_writer_progress(writer, &progress);
    if (progress.durable_bytes > known_bytes)
        mark(marks, number, progress.durable_bytes, false);
    return progress.durable_bytes;
}

static int feed(struct stria_writer *writer, FILE *input, size_t chunk_bytes, const struct marks *marks,
                uint64_t number)
{
    uint64_t durable_bytes = 0;
    size_t bytes = chunk_bytes;
    while (bytes == chunk_bytes) {
        void *buffer;
        int code = stria_writer_acquire(writer, UINT64_MAX, &buffer);
        if (code != STRIA_OK)
            return code;
        bytes = fread(buffer, 1, chunk_bytes, input);
        if (bytes > 0)
            stria_writer_commit(writer, buffer, bytes);
        durable_bytes = mark_progress(writer, marks, number, durable_bytes);
        wait_a_moment();
    }
    int code = stria_writer_end(writer);
    struct stria_result result;
    stria_writer_result(writer, &result);
    if (code == STRIA_OK && result.durable_bytes == result.info.length_bytes)
        mark(marks, number, result.durable_bytes, true);
    return code;
}

static int record(struct stria_array *array, const char *path, const char *name, const struct marks *marks,
                  uint64_t number, struct stria_trouble *trouble)
{
    struct stria_array_info info;
    stria_array_describe(array, &info);
    FILE *input = fopen(path, "re");
    if (!input) {
        perror(path);
        return STRIA_ERR_SYSTEM;
    }
    const struct stria_writer_options options = {.name = name};
    struct stria_writer *writer;
    int code = stria_writer_begin(array, &options, &writer, trouble);
    if (code == STRIA_OK) {
        mark(marks, number, 0, false);
        code = feed(writer, input, info.chunk_bytes, marks, number);
        stria_writer_free(writer);
    }
    fclose(input);
    return code;
}

int main(int argc, char **argv)
{
    struct stria_trouble trouble = {0};
    struct stria_array *array = NULL;
    struct marks marks = {.fd = -1};
    void *block = NULL;
    if (argc < 5 || posix_memalign(&block, BLOCK_BYTES, BLOCK_BYTES) != 0 ||
        (marks.fd = open(argv[3], O_WRONLY | O_DIRECT | O_CLOEXEC)) < 0) {
        fprintf(stderr, "usage: marked_record ARRAY.ini INPUT MARKS NAME...\n");
        return 2;
    }
    memset(block, 0, BLOCK_BYTES);
    marks.block = block;
    int code = stria_array_open(argv[1], true, &array, &trouble);
    for (int i = 4; i < argc && code == STRIA_OK; i++)
        code = record(array, argv[2], argv[i], &marks, (uint64_t)(i - 4), &trouble);
    if (code != STRIA_OK)
        fprintf(stderr, "marked_record: %s %s\n", stria_code_text(code), trouble.sentence);
    stria_array_close(array);
    close(marks.fd);
    free(block);
    return code == STRIA_OK ? 0 : 3;
}
